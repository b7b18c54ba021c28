/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_weights.c - statistics of weights against closed forms: ramps, dead
 * channels, numbers that are none, and generated weights of a known
 * distribution.
 */
#include "harness.h"
#include "analysis/layers.h"
#include "inspected.h"

static void
make(struct sl__tensor *t, enum sl_dtype dtype, size_t rank,
     const int64_t *dims, const void *bytes)
{
	memset(t, 0, sizeof(*t));
	t->dtype = dtype;
	t->rank = rank;
	t->dims = dims;
	t->bytes = bytes;
	assert_true(sl__tensor_compute_size(t));
}

/* 0 .. n - 1: mean (n - 1) / 2, variance (n^2 - 1) / 12. */
static void
test_ramp(void **state)
{
	enum { N = 100000 }; /* many pieces */
	static float ramp[N];
	const int64_t dims[] = {100, 1000};
	struct sl_weight_row row = {0};
	struct sl__tensor t;
	uint64_t sum = 0;

	(void)state;
	for (int i = 0; i < N; i++)
		ramp[i] = (float)i;
	make(&t, SL_DTYPE_F32, 2, dims, ramp);
	sl__weight_row_compute(&row, &t);
	assert_null(row.absent);
	assert_int_equal(row.n_elements, N);
	assert_close(row.mean, (N - 1) / 2.0, 1e-13);
	assert_close(row.std, sqrt(((double)N * N - 1) / 12), 1e-13);
	assert_near(row.min, 0, 0);
	assert_near(row.max, N - 1, 0);
	assert_near(row.zero_share, 1.0 / N, 1e-15);
	/* |w| < 99.999: 0 .. 99 */
	assert_near(row.small_share, 100.0 / N, 1e-15);
	assert_int_equal(row.n_channels, 100);
	assert_int_equal(row.n_dead_channels, 0);
	for (int b = 0; b < 32; b++) {
		assert_true(row.histogram[b] == N / 32 ||
			    row.histogram[b] == N / 32 + 1);
		sum += row.histogram[b];
	}
	assert_int_equal(sum, N);
}

static void
test_dead_and_odd(void **state)
{
	const float numbers[] = {0, 0,     0, 1,   -1,       0,
				 0, -0.0f, 0, NAN, INFINITY, 5};
	const int64_t dims[] = {4, 3};
	struct sl_weight_row row = {0};
	struct sl__tensor t;

	(void)state;
	make(&t, SL_DTYPE_F32, 2, dims, numbers);
	sl__weight_row_compute(&row, &t);
	assert_int_equal(row.n_dead_channels, 2);
	assert_int_equal(row.n_odd, 2);
	assert_near(row.mean, 0.5, 1e-15); /* 5 over ten finite ones */
	assert_near(row.min, -1, 0);
	assert_near(row.max, 5, 0);
	assert_near(row.zero_share, 7.0 / 12, 1e-15);
}

/* Integers, single numbers, all the same, and nothing. */
static void
test_corners(void **state)
{
	const signed char bytes[] = {-128, 127, 0, 1};
	const float same[] = {3, 3, 3};
	const int64_t four[] = {4}, three[] = {3}, none[] = {0, 7};
	struct sl_weight_row row = {0};
	struct sl__tensor t;

	(void)state;
	make(&t, SL_DTYPE_I8, 1, four, bytes);
	sl__weight_row_compute(&row, &t);
	assert_near(row.min, -128, 0);
	assert_near(row.max, 127, 0);
	assert_near(row.mean, 0, 0);

	memset(&row, 0, sizeof(row));
	make(&t, SL_DTYPE_F32, 1, three, same);
	sl__weight_row_compute(&row, &t);
	assert_near(row.std, 0, 0);
	assert_int_equal(row.histogram[0], 3);

	memset(&row, 0, sizeof(row));
	make(&t, SL_DTYPE_F32, 2, none, same);
	sl__weight_row_compute(&row, &t);
	assert_non_null(row.absent);
	assert_true(isnan(row.mean));

	memset(&row, 0, sizeof(row));
	make(&t, SL_DTYPE_F32, 1, three, NULL);
	t.absent = "weights.bin is not there";
	sl__weight_row_compute(&row, &t);
	assert_string_equal(row.absent, "weights.bin is not there");
}

/* Of n normal numbers the mean is within 5 deviations / sqrt(n), and the
 * deviation within 5 / sqrt(2 n) of itself.  512 products keep the variance
 * of their input at 1 / 512 each, and at twice that behind a ReLU, which
 * halves the mean square; biases are drawn with a deviation of 0.02. */
static void
test_generated(void **state)
{
	static const struct sl_inspect_options how = {.brief = 1, .weights = 1};
	const double deviations[] = {sqrt(1.0 / 512), 0.02, sqrt(2.0 / 512),
				     0.02};
	struct sl_inspection *seen = inspect_with("mlp:512-512-10", 0, 0, &how);

	(void)state;
	assert_int_equal(seen->n_weights, 4);
	for (size_t i = 0; i < seen->n_weights; i++) {
		const struct sl_weight_row *w = &seen->weights[i];
		double n = (double)w->n_elements;

		assert_null(w->absent);
		assert_close(w->std, deviations[i], 5 / sqrt(2 * n));
		assert_near(w->mean, 0, 5 * deviations[i] / sqrt(n));
		assert_int_equal(w->n_dead_channels, 0);
	}
	sl_inspection_free(seen);
	seen = inspect("mlp:512-512-10", 0);
	assert_int_equal(seen->n_weights, 0);
	sl_inspection_free(seen);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ramp),
		cmocka_unit_test(test_dead_and_odd),
		cmocka_unit_test(test_corners),
		cmocka_unit_test(test_generated),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
