/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Proves that equal expressions of sizes are one, however many there are and
 * in whichever order their operands come; that what is simplified is worth the
 * same; and that the want of memory is told.
 */
#include "counting.h"
#include "size_table.h"

static void
numbers_are_computed(void **state)
{
	struct table t = table_of(plain_names, NULL);
	struct sl__shapes *s = t.shapes;

	(void)state;
	assert_true(sl__size_mul(s, 6, 7) == 42);
	assert_true(sl__size_div(s, -7, 2) == -4); /* floor */
	assert_true(sl__size_mul(s, INT64_MAX, 2) == -1);
	assert_true(sl__size_add(s, INT64_MAX, 1) == -1);
	/* What would lie where the symbols are is beyond all numbers too. */
	assert_true(sl__size_sub(s, SL__SYMBOL_END, 1) == -1);
	assert_true(sl__size_mul(s, SL__SYMBOL_END, 2) == -1);
	assert_true(sl__size_div(s, 1, 0) == -1);
	assert_true(s->sizes.n == N_SYMBOLS);
	table_free(&t);
}

static void
equal_expressions_are_one(void **state)
{
	struct table t = table_of(plain_names, NULL);
	struct sl__shapes *s = t.shapes;
	int64_t product = sl__size_mul(s, t.of[N], t.of[S]);
	int64_t sum = sl__size_add(s, t.of[N], 3);

	(void)state;
	assert_true(sl__is_symbol(product));
	assert_true(sl__size_mul(s, t.of[S], t.of[N]) == product);
	assert_true(sl__size_add(s, 3, t.of[N]) == sum);
	assert_false(sl__size_sub(s, t.of[N], t.of[S]) ==
		     sl__size_sub(s, t.of[S], t.of[N]));
	assert_false(sl__size_div(s, t.of[N], t.of[S]) ==
		     sl__size_div(s, t.of[S], t.of[N]));
	assert_true(sl__size_sub(s, product, product) == 0);
	assert_true(sl__size_div(s, product, product) == 1);
	assert_true(sl__size_mul(s, t.of[N], 1) == t.of[N]);
	assert_true(sl__size_mul(s, t.of[N], 0) == 0);
	assert_true(sl__size_add(s, 0, t.of[S]) == t.of[S]);
	assert_true(sl__size_sub(s, t.of[S], 0) == t.of[S]);
	assert_true(sl__size_div(s, t.of[S], 1) == t.of[S]);
	for (int64_t i = 2; i < 5000; i++)
		(void)sl__size_mul(s, t.of[H], i);
	for (int64_t i = 2; i < 5000; i++)
		(void)sl__size_mul(s, i, t.of[H]);
	assert_true(sl__size_mul(s, t.of[S], t.of[N]) == product);
	/* n*s, n+3, two differences, two quotients and 4998 products */
	assert_int_equal(s->sizes.n, N_SYMBOLS + 6 + 4998);
	table_free(&t);
}

static void
quotients_cancel(void **state)
{
	struct table t = table_of(plain_names, NULL);
	int64_t n = t.of[N], s = t.of[S], ns = sl__size_mul(t.shapes, n, s);
	const struct {
		int64_t a[3], b[3], expected;
	} cases[] = {
		{{6, 4, 1}, {8, 1, 1}, 3},      {{6, 1, 1}, {4, 1, 1}, -1},
		{{6, 1, 1}, {0, 1, 1}, -1},     {{n, 12, s}, {s, n, 4}, 3},
		{{n, 12, s}, {n, 12, 1}, s},    {{ns, 768, 1}, {n, 768, 1}, s},
		{{n, s, 768}, {ns, 1, 1}, 768}, {{n, 1, 1}, {n, 0, 1}, -1},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_true(sl__size_div_cancelling(t.shapes, cases[i].a, 3,
						    cases[i].b,
						    3) == cases[i].expected);
	assert_string_equal(
		size_text(t.shapes,
			  sl__size_div_cancelling(t.shapes, (int64_t[]){n, 6},
						  2, (int64_t[]){4}, 1)),
		"((3*n)/2)");
	table_free(&t);
}

static void
differences_cancel(void **state)
{
	struct table t = table_of(plain_names, NULL);
	int64_t n = t.of[N], s = t.of[S];
	int64_t sum = sl__size_add(t.shapes, n, s);
	int64_t next = sl__size_add(t.shapes, n, 1);

	(void)state;
	assert_int_equal(sl__size_sub_cancelling(t.shapes, 7, 3), 4);
	assert_int_equal(sl__size_sub_cancelling(t.shapes, n, n), 0);
	assert_true(sl__size_sub_cancelling(t.shapes, sum, n) == s);
	assert_true(sl__size_sub_cancelling(t.shapes, sum, s) == n);
	assert_int_equal(sl__size_sub_cancelling(t.shapes, next, n), 1);
	assert_string_equal(
		size_text(t.shapes,
			  sl__size_sub_cancelling(t.shapes, sum, t.of[H])),
		"((n+s)-h)");
	table_free(&t);
}

/* Two sizes of which nothing is known are two, and each is itself. */
static void
unknown_sizes_are_themselves(void **state)
{
	struct table t = table_of(plain_names, NULL);
	struct sl__shapes *s = t.shapes;
	int64_t a = sl__size_new_unknown(s), b = sl__size_new_unknown(s);
	int64_t c = sl__size_new_named(s, "hidden"),
		d = sl__size_new_named(s, "hidden");
	int64_t two_a = sl__size_mul(s, a, 2);

	(void)state;
	assert_false(two_a == sl__size_mul(s, b, 2));
	assert_true(two_a == sl__size_mul(s, a, 2));
	assert_false(sl__size_div_cancelling(s, &a, 1, &b, 1) == 1);
	assert_false(sl__size_div_cancelling(s, &two_a, 1, &b, 1) == 2);
	assert_true(sl__size_div_cancelling(s, &two_a, 1, &a, 1) == 2);
	assert_false(sl__size_sub_cancelling(s, sl__size_add(s, a, 1), b) == 1);
	assert_false(sl__size_mul(s, c, 2) == sl__size_mul(s, d, 2));
	assert_true(sl__size_is_unknown(s, a));
	assert_false(sl__size_is_unknown(s, c));
	assert_false(sl__size_is_unknown(s, two_a));
	assert_string_equal(size_text(s, two_a), "(?*2)");
	assert_string_equal(size_text(s, sl__size_add(s, c, a)), "(hidden+?)");
	table_free(&t);
}

static void
signs_follow_from_operands(void **state)
{
	struct table t = table_of((const char *const[]){"a-b", "?", "h"}, NULL);
	struct sl__shapes *s = t.shapes;
	int64_t n = t.of[N], u = sl__size_new_unknown(s);

	(void)state;
	assert_true(sl__size_is_nonnegative(s, n));
	assert_true(sl__size_is_nonnegative(s, t.of[S]));
	assert_true(sl__size_is_nonnegative(s, sl__size_add(s, n, t.of[S])));
	assert_true(sl__size_is_nonnegative(s, sl__size_div(s, n, 2)));
	assert_true(sl__size_is_nonnegative(s, sl__size_new_named(s, "width")));
	assert_false(sl__size_is_nonnegative(s, sl__size_sub(s, n, 1)));
	assert_false(sl__size_is_nonnegative(s, sl__size_mul(s, n, -1)));
	assert_false(sl__size_is_nonnegative(s, sl__size_mul(s, n, u)));
	assert_false(sl__size_is_nonnegative(s, -1));
	assert_true(sl__size_is_nonnegative(s, 0));
	table_free(&t);
}

/* Some size made of those before it, and what it is worth for three sets of
 * sizes, computed beside it. */
struct known_size {
	int64_t size, worth[3];
};

static int64_t
floor_div(int64_t a, int64_t b)
{
	return (int64_t)floor((double)a / (double)b);
}

static void
combine_known(struct sl__shapes *s, struct known_size *to,
	      const struct known_size *a, const struct known_size *b, int op)
{
	to->size = op == 0   ? sl__size_add(s, a->size, b->size)
		   : op == 1 ? sl__size_sub_cancelling(s, a->size, b->size)
		   : op == 2 ? sl__size_mul(s, a->size, b->size)
			     : sl__size_div(s, a->size, b->size);
	for (int k = 0; k < 3; k++)
		to->worth[k] = op == 0   ? a->worth[k] + b->worth[k]
			       : op == 1 ? a->worth[k] - b->worth[k]
			       : op == 2 ? a->worth[k] * b->worth[k]
					 : floor_div(a->worth[k], b->worth[k]);
}

static int
is_small(const struct known_size *k)
{
	for (int i = 0; i < 3; i++) {
		if (k->worth[i] == 0 || llabs(k->worth[i]) > 1000000)
			return 0;
	}
	return 1;
}

/* Whatever arithmetic makes of sizes, it is worth what the numbers are. */
static void
simplified_sizes_are_worth_the_same(void **state)
{
	static const int64_t values[3][N_SYMBOLS] = {
		{2, 3, 5}, {7, 64, 1}, {128, 11, 30}};
	struct known_size pool[64] = {0};
	uint64_t random = 1;

	(void)state;
	for (int round = 0; round < 200; round++) {
		struct table t = table_of(plain_names, NULL);
		int n = 0;

		for (; n < N_SYMBOLS; n++) {
			pool[n].size = t.of[n];
			for (int k = 0; k < 3; k++)
				pool[n].worth[k] = values[k][n];
		}
		for (int64_t i = 1; i <= 4; i++)
			pool[n++] = (struct known_size){i, {i, i, i}};
		for (int tries = 0; tries < 200 && n < 64; tries++) {
			int pick[3];

			for (int i = 0; i < 3; i++) {
				random = random * 6364136223846793005u +
					 1442695040888963407u;
				pick[i] = (int)(random >> 33);
			}
			combine_known(t.shapes, &pool[n], &pool[pick[0] % n],
				      &pool[pick[1] % n], pick[2] % 4);
			if (sl__size_is_unknown(t.shapes, pool[n].size) ||
			    !is_small(&pool[n]))
				continue;
			for (int k = 0; k < 3; k++)
				assert_true(size_value(t.shapes, pool[n].size,
						       values[k]) ==
					    pool[n].worth[k]);
			n++;
		}
		assert_true(n > 20);
		table_free(&t);
	}
}

static void
want_of_memory_is_told(void **state)
{
	(void)state;
	for (int fail_at = 1;; fail_at++) {
		struct counting c = {0};
		struct sl_allocator allocator = counting_allocator(&c);
		struct table t = table_of(plain_names, &allocator);
		int64_t size = t.of[N];
		int has_failed;

		c.fail_at = c.n_requests + fail_at;
		for (int64_t i = 2; i < 3000 && size != -1; i++)
			size = sl__size_mul(t.shapes, t.of[S], i);
		has_failed = c.n_requests >= c.fail_at;
		assert_int_equal(size == -1, has_failed);
		assert_int_equal(t.shapes->is_short, has_failed);
		table_free(&t);
		assert_int_equal(c.n_out, 0);
		if (!has_failed) {
			assert_true(fail_at > 3);
			break;
		}
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_are_computed),
		cmocka_unit_test(equal_expressions_are_one),
		cmocka_unit_test(quotients_cancel),
		cmocka_unit_test(differences_cancel),
		cmocka_unit_test(unknown_sizes_are_themselves),
		cmocka_unit_test(signs_follow_from_operands),
		cmocka_unit_test(simplified_sizes_are_worth_the_same),
		cmocka_unit_test(want_of_memory_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
