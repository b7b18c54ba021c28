/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_tensor_patterns.c - tensors are told to be equal, transposed, different,
 * masks or waves, by few numbers where few will do and by all where they must.
 */
#include "harness.h"
#include "cost/tensor_patterns.h"

enum {
	ROWS = 1300,
	COLUMNS = 70
}; /* more than one tile, more than one piece */

static void
make(struct sl__tensor *t, const int64_t *dims, const float *numbers)
{
	memset(t, 0, sizeof(*t));
	t->dtype = SL_DTYPE_F32;
	t->rank = 2;
	t->dims = dims;
	t->bytes = (const unsigned char *)numbers;
	assert_true(sl__tensor_compute_size(t));
}

static void
test_compare(void **state)
{
	static float a[ROWS * COLUMNS], b[ROWS * COLUMNS], c[COLUMNS * ROWS];
	const int64_t tall[] = {ROWS, COLUMNS}, wide[] = {COLUMNS, ROWS};
	struct sl__tensor s, t, u;

	(void)state;
	for (int r = 0; r < ROWS; r++) {
		for (int k = 0; k < COLUMNS; k++) {
			a[r * COLUMNS + k] = (float)((r * 31 + k * 17) % 1009);
			b[r * COLUMNS + k] = a[r * COLUMNS + k];
			c[k * ROWS + r] = a[r * COLUMNS + k];
		}
	}
	make(&s, tall, a);
	make(&t, tall, b);
	make(&u, wide, c);
	assert_int_equal(sl__tensor_compare(&s, &t), SL__TENSOR_MATCH_EQUAL);
	assert_int_equal(sl__tensor_compare(&s, &u),
			 SL__TENSOR_MATCH_TRANSPOSED);
	assert_int_equal(sl__tensor_compare(&u, &s),
			 SL__TENSOR_MATCH_TRANSPOSED);
	assert_true(sl__tensor_content_hash(&s) == sl__tensor_content_hash(&t));
	assert_true(sl__tensor_content_hash(&s) == sl__tensor_content_hash(&u));
	/* The last number differs: only a comparison of all finds it. */
	b[ROWS * COLUMNS - 1]++;
	c[ROWS * COLUMNS - 1]++;
	assert_int_equal(sl__tensor_compare(&s, &t), SL__TENSOR_MATCH_NONE);
	assert_int_equal(sl__tensor_compare(&s, &u), SL__TENSOR_MATCH_NONE);
	/* Another type of number of the same size is another tensor. */
	b[ROWS * COLUMNS - 1]--;
	t.dtype = SL_DTYPE_I32;
	assert_int_equal(sl__tensor_compare(&s, &t), SL__TENSOR_MATCH_NONE);
}

static void
test_one_value(void **state)
{
	static float ones[ROWS * COLUMNS], more[ROWS * COLUMNS];
	const int64_t tall[] = {ROWS, COLUMNS}, wide[] = {COLUMNS, ROWS};
	struct sl__tensor s, t, u;

	(void)state;
	for (int i = 0; i < ROWS * COLUMNS; i++)
		ones[i] = more[i] = 1;
	make(&s, tall, ones);
	make(&t, tall, more);
	make(&u, wide, more);
	assert_int_equal(sl__tensor_compare(&s, &t),
			 SL__TENSOR_MATCH_ONE_VALUE);
	assert_int_equal(sl__tensor_compare(&s, &u),
			 SL__TENSOR_MATCH_ONE_VALUE);
}

static void
test_generated(void **state)
{
	const int64_t dims[] = {8, 8};
	const struct sl__tensor_generator g = {
		.kind = SL__TENSOR_GENERATOR_NORMAL, .seed = 7, .scale = 1};
	const struct sl__tensor_generator other = {
		.kind = SL__TENSOR_GENERATOR_NORMAL, .seed = 8, .scale = 1};
	const struct sl__tensor_generator ones = {
		.kind = SL__TENSOR_GENERATOR_CONSTANT, .seed = 7, .mean = 1};
	struct sl__tensor s, t;

	(void)state;
	make(&s, dims, NULL);
	make(&t, dims, NULL);
	s.generator = t.generator = &g;
	assert_int_equal(sl__tensor_compare(&s, &t), SL__TENSOR_MATCH_EQUAL);
	t.generator = &other;
	assert_int_equal(sl__tensor_compare(&s, &t), SL__TENSOR_MATCH_NONE);
	assert_true(sl__tensor_content_hash(&s) != sl__tensor_content_hash(&t));
	s.generator = t.generator = &ones;
	assert_int_equal(sl__tensor_compare(&s, &t),
			 SL__TENSOR_MATCH_ONE_VALUE);
}

static void
test_masks(void **state)
{
	static float mask[64 * 64];
	const int64_t dims[] = {64, 64}, flat[] = {32, 128};
	struct sl__tensor t;

	(void)state;
	for (int r = 0; r < 64; r++) {
		for (int k = 0; k < 64; k++)
			mask[r * 64 + k] = k <= r ? 0 : -1e4f;
	}
	make(&t, dims, mask);
	assert_true(sl__looks_triangular(&t));
	assert_true(sl__looks_like_mask(&t));
	mask[32 * 64] = 3; /* in a row that is looked at */
	assert_false(sl__looks_triangular(&t));
	assert_false(sl__looks_like_mask(&t));
	memset(mask, 0, sizeof(mask));
	assert_false(sl__looks_triangular(&t));
	assert_true(sl__looks_like_mask(&t)); /* one value, in a square */
	make(&t, flat, mask);
	assert_false(sl__looks_like_mask(&t));
}

static void
test_waves(void **state)
{
	static float table[16 * 8];
	const int64_t dims[] = {16, 8};
	struct sl__tensor t;

	(void)state;
	for (int n = 0; n < 16; n++) {
		for (int k = 0; k < 8; k++)
			table[n * 8 + k] = (float)cos(n * pow(10000, -k / 8.0));
	}
	make(&t, dims, table);
	assert_true(sl__looks_like_sinusoids(&t));
	for (int n = 0; n < 16; n++) {
		for (int k = 0; k < 8; k++)
			table[n * 8 + k] =
				(float)(k % 2 ? cos(n * pow(10000, -k / 8.0))
					      : sin(n * pow(10000, -k / 8.0)));
	}
	assert_true(sl__looks_like_sinusoids(&t));
	table[3] = 0.25f;
	assert_false(sl__looks_like_sinusoids(&t));
}

/* Of a row that is longer than what is looked at, the first part decides. */
static void
test_wide_waves(void **state)
{
	static float table[2 * 2560];
	const int64_t dims[] = {2, 2560};
	struct sl__tensor t;

	(void)state;
	for (int n = 0; n < 2; n++) {
		for (int k = 0; k < 2560; k++)
			table[n * 2560 + k] =
				(float)sin(n * pow(10000, -k / 2560.0));
	}
	make(&t, dims, table);
	assert_true(sl__looks_like_sinusoids(&t));
	table[7] = 0.25f;
	assert_false(sl__looks_like_sinusoids(&t));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_compare),
		cmocka_unit_test(test_one_value),
		cmocka_unit_test(test_generated),
		cmocka_unit_test(test_masks),
		cmocka_unit_test(test_waves),
		cmocka_unit_test(test_wide_waves),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
