/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Proves that texts of sizes are made and never read: that names decide
 * nothing, whatever a model calls its dimensions; that a text which serves as
 * a name stands for one size; and that hostile arithmetic grows neither deep
 * expressions nor long texts.
 */
#include "size_table.h"

/* A model may call its dimensions what our texts look like. */
static void
names_are_just_names(void **state)
{
	struct table t =
		table_of((const char *const[]){"a", "b", "(a*b)"}, NULL);
	struct sl__shapes *s = t.shapes;
	int64_t a = t.of[N], b = t.of[S], c = t.of[H];
	int64_t ab = sl__size_mul(s, a, b);

	(void)state;
	assert_false(ab == c);
	assert_false(sl__size_div_cancelling(s, &c, 1, &a, 1) == b);
	assert_true(sl__size_div_cancelling(s, &ab, 1, &a, 1) == b);
	assert_string_equal(size_text(s, c), "(a*b)");
	assert_string_equal(size_text(s, ab), "(a*b)");
	assert_string_equal(size_text(s, sl__size_mul(s, c, ab)),
			    "('(a*b)'*(a*b))");
	table_free(&t);
	t = table_of((const char *const[]){"(b+c)", "b", "c"}, NULL);
	a = t.of[N];
	assert_false(sl__size_sub_cancelling(t.shapes, a, t.of[S]) == t.of[H]);
	table_free(&t);
	t = table_of((const char *const[]){"x-1", "batch size", "it's 2n"},
		     NULL);
	s = t.shapes;
	assert_string_equal(size_text(s, sl__size_add(s, t.of[N], t.of[S])),
			    "('x-1'+'batch size')");
	assert_string_equal(size_text(s, sl__size_mul(s, t.of[H], 2)),
			    "('it''s 2n'*2)");
	table_free(&t);
	t = table_of((const char *const[]){"12", "", "?"}, NULL);
	s = t.shapes;
	assert_string_equal(size_text(s, sl__size_add(s, t.of[N], 12)),
			    "('12'+12)");
	assert_string_equal(size_text(s, sl__size_add(s, t.of[S], t.of[H])),
			    "(''+'?')");
	assert_false(sl__size_is_unknown(s, t.of[H]));
	table_free(&t);
}

static void
check_label(const struct sl__shapes *s, int64_t size, const char *expected)
{
	struct sl_buf text = {0};
	int is_told = sl__size_print_unique_name(&text, s, size);

	assert_int_equal(sl__buf_status(&text, NULL), SL_OK);
	assert_int_equal(is_told, expected != NULL);
	if (expected)
		assert_string_equal(text.data, expected);
	else
		assert_int_equal(text.n_bytes, 0);
	sl_buf_release(&text);
}

/* A label stands for one size of the model: that, or there is none. */
static void
labels_tell_one_size(void **state)
{
	struct table t =
		table_of((const char *const[]){"a", "b", "(a*b)"}, NULL);
	struct sl__shapes *s = t.shapes;
	int64_t huge = t.of[N], unnamed;

	(void)state;
	check_label(s, t.of[H], "(a*b)");
	check_label(s, sl__size_mul(s, t.of[N], t.of[S]), NULL);
	check_label(s, sl__size_add(s, t.of[N], t.of[S]), "(a+b)");
	check_label(s, sl__size_new_unknown(s), NULL);
	check_label(s, sl__size_new_named(s, "hidden"), NULL);
	check_label(s, sl__size_add(s, sl__size_new_named(s, "hidden"), 1),
		    NULL);
	check_label(s, 7, "7");
	for (int64_t i = 0; i < 40; i++)
		huge = sl__size_add(s, huge, 1000000000 + i);
	assert_false(sl__size_is_unknown(s, huge));
	check_label(s, huge, NULL);
	table_free(&t);
	/* The first dimension of x has no name, and b is called "x.0". */
	t = table_of((const char *const[]){"a", "x.0", "c"}, NULL);
	assert_int_equal(
		sl__graph_intern_unnamed_symbol(t.graph, &unnamed, "x.0", NULL),
		SL_OK);
	assert_false(unnamed == t.of[S]);
	sl__shapes_free(t.shapes);
	assert_int_equal(sl__shapes_new_empty(&t.shapes, t.graph, NULL, NULL),
			 0);
	check_label(t.shapes, t.of[S], "x.0");
	check_label(t.shapes, unnamed, NULL);
	check_label(t.shapes, sl__size_add(t.shapes, unnamed, 1), NULL);
	table_free(&t);
}

/* Doubling makes a tree of 2^n leaves, counting one of n levels. */
static void
hostile_expressions_end(void **state)
{
	struct table t = table_of(plain_names, NULL);
	struct sl__shapes *s = t.shapes;
	int64_t twice = t.of[N], next = t.of[S], power = t.of[H];

	(void)state;
	for (int i = 0; i < 10000; i++) {
		twice = sl__size_add(s, twice, twice);
		next = sl__size_add(s, next, 1);
		power = sl__size_mul(s, power, power);
		assert_true(strlen(size_text(s, twice)) < 1024);
		assert_true(strlen(size_text(s, next)) < 1024);
		(void)sl__size_div_cancelling(s, &power, 1, &t.of[H], 1);
	}
	for (size_t i = 0; i < s->sizes.n; i++)
		assert_in_range(s->sizes.sizes[i].n_leaves, 1,
				SL__SIZE_LEAVES_MOST);
	/* Three sizes a round, and one for each factor of the quotient. */
	assert_true(s->sizes.n < 10000 * (3 + SL__SIZE_LEAVES_MOST));
	table_free(&t);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_just_names),
		cmocka_unit_test(labels_tell_one_size),
		cmocka_unit_test(hostile_expressions_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
