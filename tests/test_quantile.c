/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_quantile.c - quantiles are NumPy's, ranks are SciPy's
 * (oracles/quantile.py), too few samples are refused with the right number,
 * and intervals cover at their exact rate, at least 95 %, for independent
 * heavy-tailed, skewed and bimodal samples and for samples with ties.
 */
#include "harness.h"
#include "stats/quantile.h"
#include "base/rng.h"
#include "stats/special.h"
#include "stats/summary.h"

#define N_ROWS(table) (sizeof(table) / sizeof((table)[0]))

static const double X[] = {1.5, 2, 2, 3.25, 5, 8, 13, 40};

/* q, the q-quantile of X */
static const double QUANTILES[][2] = {
	{0, 1.5},    {0.1, 1.85},   {0.25, 2}, {0.5, 4.125},
	{0.9, 21.1}, {0.99, 38.11}, {1, 40},
};

/* Ranks of 0: refused. */
static const struct {
	size_t n;
	double q, alpha;
	size_t l, h;
} RANKS[] = {
	{5, 0.5, 0.05, 0, 0},           {6, 0.5, 0.05, 1, 6},
	{20, 0.5, 0.05, 6, 15},         {100, 0.5, 0.05, 40, 61},
	{100, 0.9, 0.05, 84, 96},       {100, 0.25, 0.1, 18, 33},
	{500, 0.99, 0.05, 490, 500},    {367, 0.99, 0.05, 0, 0},
	{368, 0.99, 0.05, 360, 368},    {1000, 0.001, 0.5, 0, 0},
	{4000, 0.5, 0.001, 1896, 2105},
};

/* The last two rows are ln(alpha / 2) / ln q, rounded up by hand. */
static const struct {
	double q, alpha;
	size_t n;
} NEEDS_N[] = {
	{0.5, 0.05, 6},   {0.9, 0.05, 36},     {0.95, 0.05, 72},
	{0.1, 0.05, 36},  {0.99, 0.05, 368},   {0.5, 0.01, 8},
	{0.5, 0.0625, 5}, {0.999, 0.05, 3688}, {0.001, 0.05, 3688},
};

static void
quantiles_are_those_of_numpy(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_ROWS(QUANTILES); i++)
		assert_close(sl__quantile_sorted(X, 8, QUANTILES[i][0]),
			     QUANTILES[i][1], 1e-14);
	assert_near(sl__quantile_sorted(X, 1, 0.3), 1.5, 0);
}

static void
ranks_are_those_of_scipy(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_ROWS(RANKS); i++) {
		size_t l, h;
		int found = sl__quantile_ranks(RANKS[i].n, RANKS[i].q,
					       RANKS[i].alpha, &l, &h);

		assert_int_equal(found, RANKS[i].l != 0);
		if (found) {
			assert_int_equal(l, RANKS[i].l);
			assert_int_equal(h, RANKS[i].h);
		}
	}
}

static void
needed_samples_are_the_fewest(void **state)
{
	size_t l, h;

	(void)state;
	for (size_t i = 0; i < N_ROWS(NEEDS_N); i++)
		assert_int_equal(
			sl__quantile_needs_n(NEEDS_N[i].q, NEEDS_N[i].alpha),
			NEEDS_N[i].n);
	for (double q = 0.015625; q < 1; q += 0.015625) {
		size_t n = sl__quantile_needs_n(q, 0.05);

		assert_true(sl__quantile_ranks(n, q, 0.05, &l, &h));
		assert_false(sl__quantile_ranks(n - 1, q, 0.05, &l, &h));
	}
}

/* For large n the ranks are n q -+ 1.96 sqrt(n q (1 - q)), within one. */
static void
ranks_of_ten_million_are_normal(void **state)
{
	double half = 1.9599639845 * sqrt(1e7 * 0.99 * 0.01);
	size_t l, h;

	(void)state;
	assert_true(sl__quantile_ranks(10000000, 0.99, 0.05, &l, &h));
	assert_near((double)l, 9900000 - half, 1.5);
	assert_near((double)h, 9900000 + half, 1.5);
}

static void
estimates_stand_or_are_refused(void **state)
{
	struct sl_estimate e = sl__quantile_estimate(X, 8, 0.5, 0.05);

	(void)state;
	assert_near(e.value, 4.125, 0);
	assert_near(e.lo, 1.5, 0);
	assert_near(e.hi, 40, 0);
	assert_int_equal(e.n, 8);
	assert_int_equal(e.needs_n, 0);
	assert_int_equal(e.method, SL_METHOD_ORDER);
	e = sl__quantile_estimate(X, 8, 0.99, 0.05);
	assert_close(e.value, 38.11, 1e-14);
	assert_true(isnan(e.lo));
	assert_true(isnan(e.hi));
	assert_int_equal(e.needs_n, 368);
	e = sl__quantile_estimate(X, 0, 0.5, 0.05);
	assert_true(isnan(e.value));
	assert_int_equal(e.needs_n, 6);
}

/* A way of drawing samples, and the quantile they are drawn around. */
struct source {
	const char *name;
	double (*draw)(struct sl__rng *rng);
	double (*quantile)(double q);
};

/* Pareto with exponent 1.1: a mean, but no variance. */
static double
pareto_draw(struct sl__rng *rng)
{
	return exp(sl__rng_exponential(rng) / 1.1);
}

static double
pareto_quantile(double q)
{
	return pow(1 - q, -1 / 1.1);
}

static double
lognormal_draw(struct sl__rng *rng)
{
	return exp(2 * sl__rng_normal(rng));
}

static double
lognormal_quantile(double q)
{
	return exp(2 * sl__normal_quantile(q));
}

/* Cauchy: not even a mean. */
static double
cauchy_draw(struct sl__rng *rng)
{
	return sl__rng_normal(rng) / sl__rng_normal(rng);
}

static double
cauchy_quantile(double q)
{
	return tan(3.14159265358979323846 * (q - 0.5));
}

/* Seven in ten take 1 to 1.1, the others 3 and an exponential more. */
static double
bimodal_draw(struct sl__rng *rng)
{
	if (sl__rng_uniform(rng) < 0.7)
		return 1 + 0.1 * sl__rng_uniform(rng);
	return 3 + sl__rng_exponential(rng);
}

static double
bimodal_quantile(double q)
{
	return q < 0.7 ? 1 + 0.1 * q / 0.7 : 3 - log((1 - q) / 0.3);
}

/* The number of intervals, of n_trials, that contain the true quantile. */
static double
covered_share(const struct source *source, size_t n, double q, double alpha,
	      size_t n_trials)
{
	double x[1000], truth = source->quantile(q);
	struct sl__rng rng;
	size_t n_covered = 0;

	assert_true(n <= 1000);
	sl__rng_init(&rng, 3);
	for (size_t trial = 0; trial < n_trials; trial++) {
		struct sl_estimate e;

		for (size_t i = 0; i < n; i++)
			x[i] = source->draw(&rng);
		sl__sort(x, n);
		e = sl__quantile_estimate(x, n, q, alpha);
		n_covered += e.lo <= truth && truth <= e.hi;
	}
	return (double)n_covered / (double)n_trials;
}

static void
intervals_cover_at_their_exact_rate(void **state)
{
	static const struct source SOURCES[] = {
		{"Pareto", pareto_draw, pareto_quantile},
		{"lognormal", lognormal_draw, lognormal_quantile},
		{"Cauchy", cauchy_draw, cauchy_quantile},
		{"bimodal", bimodal_draw, bimodal_quantile},
	};
	static const struct {
		size_t n;
		double q;
	} CASES[] = {{10, 0.5},  {50, 0.5},  {50, 0.9},
		     {200, 0.5}, {200, 0.1}, {400, 0.99}};
	const size_t n_trials = 4000;

	(void)state;
	for (size_t k = 0; k < N_ROWS(SOURCES) * N_ROWS(CASES); k++) {
		const struct source *source = &SOURCES[k / N_ROWS(CASES)];
		size_t n = CASES[k % N_ROWS(CASES)].n, l, h;
		double q = CASES[k % N_ROWS(CASES)].q;
		double share = covered_share(source, n, q, 0.05, n_trials);
		double exact;

		assert_true(sl__quantile_ranks(n, q, 0.05, &l, &h));
		exact = sl__binomial_cdf((double)h - 1, n, q) -
			sl__binomial_cdf((double)l - 1, n, q);
		print_message("%s, n %zu, q %g: %.4f covered, exactly %.4f\n",
			      source->name, n, q, share, exact);
		assert_true(exact >= 0.95);
		/* Four standard errors: one in 16 000. */
		assert_near(share, exact,
			    4 * sqrt(exact * (1 - exact) / (double)n_trials));
	}
}

/* A clock that ticks coarsely: times of 1, 2, 3, ... with P = 2^-k. */
static double
coarse_draw(struct sl__rng *rng)
{
	return 1 + floor(sl__rng_exponential(rng) / log(2));
}

static double
coarse_quantile(double q)
{
	return ceil(-log(1 - q) / log(2));
}

static void
ties_only_widen_the_coverage(void **state)
{
	static const struct source COARSE = {"coarse", coarse_draw,
					     coarse_quantile};
	double limit = 0.95 - 4 * sqrt(0.95 * 0.05 / 4000);

	(void)state;
	assert_true(covered_share(&COARSE, 50, 0.45, 0.05, 4000) > limit);
	assert_true(covered_share(&COARSE, 50, 0.8, 0.05, 4000) > limit);
	assert_true(covered_share(&COARSE, 200, 0.9, 0.05, 4000) > limit);
}

/* A drift that outlasts few rounds, on top of noise: neighbours are alike. */
static double
series_covered_share(double memory, size_t n, size_t n_trials,
		     double *independent)
{
	double x[720], scratch[720];
	struct sl__rng rng;
	size_t n_covered = 0, n_naive = 0;

	assert_true(n <= 720);
	sl__rng_init(&rng, 7);
	for (size_t trial = 0; trial < n_trials; trial++) {
		double state = sl__rng_normal(&rng);
		struct sl_estimate e;

		for (size_t i = 0; i < n; i++) {
			state = memory * state + sqrt(1 - memory * memory) *
							 sl__rng_normal(&rng);
			x[i] = state;
		}
		e = sl__series_median(x, n, scratch);
		n_covered += e.lo <= 0 && e.hi >= 0;
		e = sl__median_estimate(x, n);
		n_naive += e.lo <= 0 && e.hi >= 0;
	}
	*independent = (double)n_naive / (double)n_trials;
	return (double)n_covered / (double)n_trials;
}

static void
series_of_alike_neighbours_are_covered(void **state)
{
	double few[] = {3, 1, 2, 5, 4, 6}, scratch[6], naive, covered;
	struct sl_estimate e = sl__series_median(few, 6, scratch);

	(void)state;
	assert_near(e.value, 3.5, 0);
	assert_near(e.lo, 1, 0);
	assert_near(e.hi, 6, 0);
	assert_near(few[0], 3, 0); /* left in their order */
	covered = series_covered_share(0, 240, 4000, &naive);
	print_message("independent: %.4f covered, %.4f\n", covered, naive);
	assert_true(covered > 0.94 && covered < 0.965);
	covered = series_covered_share(0, SL__SERIES_LEAST, 4000, &naive);
	print_message("few: %.4f covered, %.4f\n", covered, naive);
	assert_true(covered > 0.94 && covered < 0.965);
	covered = series_covered_share(0.3, SL__SERIES_LEAST, 4000, &naive);
	print_message("few that are alike: %.4f covered, %.4f as if they were "
		      "not\n",
		      covered, naive);
	assert_true(covered > 0.92 && covered < 0.96);
	assert_true(naive < 0.91);
	covered = series_covered_share(0.8, 720, 4000, &naive);
	print_message("alike over 5 rounds: %.4f covered, %.4f as if they "
		      "were not\n",
		      covered, naive);
	assert_true(covered > 0.92 && covered < 0.96);
	assert_true(naive < 0.7);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(quantiles_are_those_of_numpy),
		cmocka_unit_test(ranks_are_those_of_scipy),
		cmocka_unit_test(needed_samples_are_the_fewest),
		cmocka_unit_test(ranks_of_ten_million_are_normal),
		cmocka_unit_test(estimates_stand_or_are_refused),
		cmocka_unit_test(intervals_cover_at_their_exact_rate),
		cmocka_unit_test(ties_only_widen_the_coverage),
		cmocka_unit_test(series_of_alike_neighbours_are_covered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
