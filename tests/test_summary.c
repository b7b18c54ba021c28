/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_summary.c - moments are NumPy's and SciPy's (oracles/summary.py), also
 * for a small spread on a large mean; sorting and selecting agree with all
 * permutations, with qsort() and on inputs that make quicksort quadratic.
 */
#include "harness.h"
#include "stats/summary.h"
#include "base/rng.h"

static const double TIMES[] = {12.5, 11.0, 14.25, 11.0, 98.0,
			       13.5, 12.0, 12.75, 11.5, 19.0};

enum { MANY = 20000 };

static int
compare_doubles(const void *a, const void *b)
{
	double x, y;

	memcpy(&x, a, sizeof(x));
	memcpy(&y, b, sizeof(y));
	return (x > y) - (x < y);
}

static void
summary_is_that_of_scipy(void **state)
{
	struct sl__summary s;
	double scratch[10];

	(void)state;
	sl__summary_of(&s, TIMES, 10, scratch);
	assert_int_equal(s.n, 10);
	assert_close(s.mean, 21.55, 1e-14);
	assert_close(s.std, 26.96365867030824, 1e-14);
	assert_near(s.min, 11, 0);
	assert_near(s.max, 98, 0);
	assert_near(s.median, 12.625, 0);
	assert_near(s.mad, 1.375, 0);
	assert_close(s.skewness, 3.1190043082848176, 1e-13);
	for (size_t i = 1; i < 10; i++)
		assert_true(scratch[i - 1] <= scratch[i]);

	sl__summary_of(&s, TIMES, 9, scratch);
	assert_close(s.mean, 21.833333333333332, 1e-14);
	assert_close(s.std, 28.583485179382865, 1e-14);
	assert_near(s.median, 12.5, 0);
	assert_near(s.mad, 1, 0);
	assert_close(s.skewness, 2.9915386938236503, 1e-13);
}

static void
what_cannot_be_had_is_nan(void **state)
{
	static const double SAME[] = {3, 3, 3, 3};
	struct sl__summary s;
	double scratch[4];

	(void)state;
	sl__summary_of(&s, TIMES, 1, scratch);
	assert_near(s.mean, 12.5, 0);
	assert_near(s.median, 12.5, 0);
	assert_near(s.mad, 0, 0);
	assert_true(isnan(s.std));
	assert_true(isnan(s.skewness));
	sl__summary_of(&s, TIMES, 2, scratch);
	assert_true(s.std > 0);
	assert_true(isnan(s.skewness));
	sl__summary_of(&s, SAME, 4, scratch);
	assert_near(s.std, 0, 0);
	assert_true(isnan(s.skewness));
	assert_true(isnan(sl__mean(TIMES, 0)));
}

/* 1e9 + {1..5} has the spread of 1..5. */
static void
small_spread_on_a_large_mean_keeps_its_digits(void **state)
{
	double x[5], scratch[5];
	struct sl__summary s;

	(void)state;
	for (size_t i = 0; i < 5; i++)
		x[i] = 1e9 + (double)(i + 1);
	sl__summary_of(&s, x, 5, scratch);
	assert_close(s.std, sqrt(2.5), 1e-14);
	assert_near(s.mean, 1e9 + 3, 0);
	assert_near(s.skewness, 0, 1e-14);
}

/* The MAD by its definition, on samples with and without ties. */
static void
mad_is_the_median_deviation(void **state)
{
	struct sl__rng rng;
	double x[40], scratch[40];
	struct sl__summary s;

	(void)state;
	sl__rng_init(&rng, 1);
	for (size_t n = 1; n <= 40; n++) {
		for (int k = 0; k < 20; k++) {
			for (size_t i = 0; i < n; i++)
				x[i] = (double)sl__rng_below(&rng, 1 + n / 2);
			sl__summary_of(&s, x, n, scratch);
			for (size_t i = 0; i < n; i++)
				x[i] = fabs(x[i] - s.median);
			assert_near(s.mad, sl__median_in_place(x, n), 0);
		}
	}
}

/* All 7! orders of seven values, two of them equal. */
static void
every_order_of_seven_is_sorted(void **state)
{
	static const double SORTED[] = {1, 2, 3, 3, 5, 6, 7};
	size_t counter[7] = {0};
	double order[7], x[7];
	size_t n_orders = 1;

	(void)state;
	memcpy(order, SORTED, sizeof(order));
	/* Heap's algorithm, without recursion. */
	for (size_t i = 0; i < 7;) {
		memcpy(x, order, sizeof(x));
		sl__sort(x, 7);
		assert_memory_equal(x, SORTED, sizeof(x));
		if (counter[i] < i) {
			size_t other = i % 2 ? counter[i] : 0;
			double t = order[other];

			order[other] = order[i];
			order[i] = t;
			counter[i]++;
			n_orders++;
			i = 0;
		} else {
			counter[i++] = 0;
		}
	}
	assert_int_equal(n_orders, 5040);
}

/*
 * Inputs by name: random, few values, ascending, descending, up and down,
 * all equal, and Musser's (1997) sequence, on which the median of three cuts
 * off two elements at a time.
 */
enum { N_SHAPES = 7 };

static double
shaped(int shape, size_t i, size_t n, struct sl__rng *rng)
{
	switch (shape) {
	case 0:
		return sl__rng_normal(rng);
	case 1:
		return (double)sl__rng_below(rng, 5);
	case 2:
		return (double)i;
	case 3:
		return (double)(n - i);
	case 4:
		return (double)(i < n / 2 ? i : n - i);
	case 5:
		return 7;
	default:
		if (i >= n / 2)
			return (double)(2 * (i - n / 2 + 1));
		return (double)(i % 2 ? n / 2 + i : i + 1);
	}
}

static void
every_shape_is_sorted_and_selected(void **state)
{
	static double original[MANY], expected[MANY], x[MANY];
	static const size_t SIZES[] = {0, 1, 2, 16, 17, 100, 1001, MANY};
	struct sl__rng rng;

	(void)state;
	sl__rng_init(&rng, 2);
	for (size_t s = 0; s < 8 * N_SHAPES; s++) {
		size_t n = SIZES[s / N_SHAPES];
		size_t k = n / 2;

		for (size_t i = 0; i < n; i++)
			original[i] = shaped((int)(s % N_SHAPES), i, n, &rng);
		memcpy(expected, original, sizeof(x));
		qsort(expected, n, sizeof(*expected), compare_doubles);
		memcpy(x, original, sizeof(x));
		sl__sort(x, n);
		assert_memory_equal(x, expected, n * sizeof(*x));
		for (; k < n; k += n / 5 + 1) {
			memcpy(x, original, sizeof(x));
			assert_near(sl__select_kth_smallest(x, n, k),
				    expected[k], 0);
			for (size_t i = 0; i < n; i++)
				assert_true(i < k ? x[i] <= x[k]
						  : x[i] >= x[k]);
		}
		if (n > 0)
			assert_near(sl__median_select(x, n),
				    sl__median_sorted(expected, n), 0);
	}
}

static void
autocorrelation_is_that_of_numpy(void **state)
{
	static const double SAME[] = {3, 3, 3, 3};

	(void)state;
	assert_near(sl__autocorrelation(TIMES, 10, 0), 1, 1e-15);
	assert_close(sl__autocorrelation(TIMES, 10, 1), -0.13715871839348345,
		     1e-13);
	assert_close(sl__autocorrelation(TIMES, 10, 2), -0.12785958262969274,
		     1e-13);
	assert_close(sl__autocorrelation(TIMES, 10, 9), 0.00352686315113818,
		     1e-13);
	assert_near(sl__autocorrelation(TIMES, 10, 10), 0, 0);
	assert_near(sl__autocorrelation(SAME, 4, 1), 0, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(summary_is_that_of_scipy),
		cmocka_unit_test(what_cannot_be_had_is_nan),
		cmocka_unit_test(small_spread_on_a_large_mean_keeps_its_digits),
		cmocka_unit_test(mad_is_the_median_deviation),
		cmocka_unit_test(every_order_of_seven_is_sorted),
		cmocka_unit_test(every_shape_is_sorted_and_selected),
		cmocka_unit_test(autocorrelation_is_that_of_numpy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
