/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_distribution.c - the figures of one column of times are NumPy's and
 * SciPy's (oracles/distribution.py); warm-up is left out and counted; each
 * interval comes from the method that its samples allow, and the ones for
 * dependent samples cover in simulation.
 */
#include "autocorrelated.h"
#include "harness.h"
#include "stats/bootstrap.h"
#include "counting.h"
#include "stats/distribution.h"
#include "stats/quantile.h"
#include "stats/summary.h"

enum { N = 500, N_HUGE = 100000 };

/* The series of the oracle: exponential above 100. */
static void
fill_exponential(double *x, size_t n)
{
	uint64_t state = 1;

	for (size_t i = 0; i < n; i++) {
		for (int k = 0; k < 3; k++)
			state = (state * 1103515245 + 12345) % (1u << 31);
		x[i] = 100 - 20 * log1p(-(double)state / 2147483648.0);
	}
}

/* Of x[0..n-1], warm-up fixed at 'n_warmup' or, below 0, detected. */
static struct sl_latency
distribution_of(const double *x, size_t n, int n_warmup)
{
	struct sl__distribution_options how = {.alpha = .05,
					       .samples_per_slot = 1};
	struct sl_latency out = {.first_ns = 77};
	struct sl__arena arena;
	struct sl__rng rng;

	sl__rng_init(&rng, 9);
	how.rng = &rng;
	if (n_warmup >= 0) {
		how.warmup_is_fixed = 1;
		how.n_warmup = (size_t)n_warmup;
	}
	sl__arena_init(&arena, NULL);
	assert_int_equal(
		sl__distribution_summarize(&out, x, n, &how, &arena, NULL),
		SL_OK);
	sl__arena_release(&arena);
	assert_near(out.first_ns, 77, 0);
	return out;
}

static void
check(const struct sl_estimate *e, enum sl_method method, double value,
      double lo, double hi)
{
	assert_int_equal(e->method, method);
	assert_int_equal(e->needs_n, 0);
	assert_close(e->value, value, 1e-10);
	assert_close(e->lo, lo, 1e-10);
	assert_close(e->hi, hi, 1e-10);
}

static void
independent_samples_give_the_figures_of_scipy(void **state)
{
	struct sl_latency d;
	double x[N];

	(void)state;
	fill_exponential(x, N);
	d = distribution_of(x, N, 0);
	assert_int_equal(d.n, N);
	assert_close(d.min_ns, 100.022013927, 1e-10);
	assert_close(d.max_ns, 232.39561533, 1e-10);
	assert_close(d.std_ns, 20.6230383162, 1e-10);
	assert_close(d.mad_ns, 9.37529883372, 1e-10);
	assert_close(d.skewness, 2.19335224712, 1e-10);
	check(&d.median, SL_METHOD_ORDER, 113.998221687, 112.112802542,
	      115.715714872);
	check(&d.p90, SL_METHOD_ORDER, 143.444637387, 138.281665243,
	      152.109787251);
	check(&d.p95, SL_METHOD_ORDER, 161.447690645, 153.908207266,
	      176.504061273);
	check(&d.p99, SL_METHOD_ORDER, 197.842540289, 186.919030989,
	      232.39561533);
	/* Two bootstraps agree to their Monte Carlo error. */
	assert_int_equal(d.mean.method, SL_METHOD_BCA);
	assert_close(d.mean.value, 120.169702718, 1e-10);
	assert_near(d.mean.lo, 118.469, 0.25);
	assert_near(d.mean.hi, 122.116, 0.25);
	assert_int_equal(d.n_outliers_low, 0);
	assert_int_equal(d.n_outliers_high, 13);
	assert_near(d.autocorrelation, -0.00104126086167, 1e-9);
}

static void
warm_up_is_left_out_and_counted(void **state)
{
	struct sl_latency d;
	double x[N + 40];

	(void)state;
	fill_exponential(x, N + 40);
	for (size_t i = 0; i < 40; i++)
		x[i] *= 4;
	d = distribution_of(x, N + 40, -1);
	assert_int_equal(d.warmup, SL_WARMUP_WARMING);
	assert_in_range(d.n_warmup, 38, 42);
	assert_int_equal(d.n + d.n_warmup, N + 40);
	assert_true(d.max_ns < 400);
	d = distribution_of(x, N + 40, 100);
	assert_int_equal(d.warmup, SL_WARMUP_WARMING);
	assert_int_equal(d.n_warmup, 100);
	assert_int_equal(d.n, N - 60);
	fill_exponential(x, N);
	d = distribution_of(x, N, -1);
	assert_int_equal(d.warmup, SL_WARMUP_FLAT);
	assert_int_equal(d.n, N);
}

static void
nothing_but_warm_up_is_an_error(void **state)
{
	struct sl__distribution_options how = {.05, 1, 3, 1, NULL};
	const double x[] = {1, 2, 3};
	struct sl_latency out;
	struct sl__arena arena;
	struct sl_error err;

	(void)state;
	sl__arena_init(&arena, NULL);
	assert_int_equal(
		sl__distribution_summarize(&out, x, 3, &how, &arena, &err),
		SL_E_USAGE);
	assert_string_equal(err.text, "all 3 samples are warm-up");
	sl__arena_release(&arena);
}

static void
small_samples_are_refused_what_they_cannot_say(void **state)
{
	struct sl_latency d;
	double x[N];

	(void)state;
	fill_exponential(x, N);
	d = distribution_of(x, 1, -1);
	assert_int_equal(d.n, 1);
	assert_int_equal(d.warmup, SL_WARMUP_UNKNOWN);
	assert_near(d.median.value, x[0], 0);
	assert_near(d.mean.value, x[0], 0);
	assert_int_equal(d.median.needs_n, 6);
	assert_int_equal(d.mean.needs_n, 2);
	assert_true(isnan(d.std_ns) && isnan(d.median.lo));
	assert_true(isnan(d.minimum_detectable));
	d = distribution_of(x, 10, 0);
	assert_int_equal(d.median.needs_n, 0);
	assert_int_equal(d.mean.method, SL_METHOD_STUDENT);
	assert_int_equal(d.p90.needs_n, 36);
	assert_int_equal(d.p95.needs_n, 72);
	assert_int_equal(d.p99.needs_n, 368);
	assert_true(isnan(d.p99.lo) && isnan(d.p99.hi));
}

/* The q-quantile by sorting, to hold the counting of ranks against. */
static double
quantile_by_sorting(double *x, size_t n, void *ctx)
{
	sl__sort(x, n);
	return sl__quantile_sorted(x, n, *(double *)ctx);
}

static void
ranks_resample_as_values_do(void **state)
{
	double x[N], sorted[N], resample[N], replicates[1000];
	double quantiles[] = {.5, .9, .95, .99}, block;
	struct sl__bootstrap_options how = {.05, 1000, NULL, resample,
					    replicates};
	const struct sl_estimate *found[4];
	struct sl_latency d;
	struct sl__rng rng;

	(void)state;
	sl__rng_init(&rng, 1);
	fill_autocorrelated(x, N, 100, .6, &rng);
	d = distribution_of(x, N, 0);
	assert_int_equal(d.n_outliers_low + d.n_outliers_high, 0);
	memcpy(sorted, x, sizeof(x));
	sl__sort(sorted, N);
	found[0] = &d.median;
	found[1] = &d.p90;
	found[2] = &d.p95;
	found[3] = &d.p99;
	sl__rng_init(&rng, 9);
	how.rng = &rng;
	block = sl__block_length(x, N);
	assert_near(
		sl__block_bootstrap(x, N, sl__statistic_mean, NULL, block, &how)
			.lo,
		d.mean.lo, 1e-9);
	for (size_t i = 0; i < 4; i++) {
		struct sl_estimate e =
			sl__quantile_estimate(sorted, N, quantiles[i], .05);
		struct sl_estimate b = sl__block_bootstrap(
			x, N, quantile_by_sorting, &quantiles[i], block, &how);

		check(found[i], SL_METHOD_BLOCK, e.value, fmin(e.lo, b.lo),
		      fmax(e.hi, b.hi));
	}
}

static int
covers(const struct sl_estimate *e, double truth)
{
	return e->lo <= truth && e->hi >= truth;
}

/* Counts intervals that cover in 200 series of AR(1). */
static void
check_coverage(size_t n, double rho, enum sl_method method)
{
	size_t n_median = 0, n_mean = 0, n_p90 = 0;
	static double x[20000];
	struct sl__rng rng;

	sl__rng_init(&rng, n);
	for (int run = 0; run < 200; run++) {
		struct sl_latency d;

		fill_autocorrelated(x, n, 100, rho, &rng);
		d = distribution_of(x, n, 0);
		assert_int_equal(d.median.method, method);
		assert_int_equal(d.mean.method, method);
		n_median += (size_t)covers(&d.median, 100);
		n_mean += (size_t)covers(&d.mean, 100);
		n_p90 += (size_t)covers(&d.p90, 100 + 1.2815515655446004);
	}
	print_message("AR(1) %g, n %zu, %s: of 200 the median is covered in "
		      "%zu, the mean in %zu, the p90 in %zu\n",
		      rho, n, sl_method_text(method), n_median, n_mean, n_p90);
	assert_true(n_median >= 180 && n_mean >= 180 && n_p90 >= 180);
}

static void
dependent_samples_get_intervals_that_cover(void **state)
{
	(void)state;
	check_coverage(500, .5, SL_METHOD_BLOCK);
	check_coverage(20000, .8, SL_METHOD_BATCH);
}

/* A spike in a hundred, each a thousand deviations high, hides nothing. */
static void
spikes_do_not_hide_dependence(void **state)
{
	struct sl_latency d;
	struct sl__rng rng;
	double x[N];

	(void)state;
	sl__rng_init(&rng, 4);
	fill_autocorrelated(x, N, 100, .5, &rng);
	for (size_t i = 50; i < N; i += 100)
		x[i] += 1000;
	d = distribution_of(x, N, 0);
	assert_int_equal(d.n_outliers_high, 5);
	assert_near(d.autocorrelation, .5, .12);
	assert_int_equal(d.median.method, SL_METHOD_BLOCK);
}

static void
many_samples_are_fine(void **state)
{
	static double x[N_HUGE];
	struct sl_latency d;

	(void)state;
	fill_exponential(x, N_HUGE);
	d = distribution_of(x, N_HUGE, -1);
	assert_int_equal(d.warmup, SL_WARMUP_FLAT);
	assert_int_equal(d.n, N_HUGE);
	assert_true(covers(&d.median, 100 + 20 * log(2)));
	assert_true(covers(&d.p99, 100 + 20 * log(100)));
	assert_int_equal(d.mean.method, SL_METHOD_STUDENT);
	for (size_t i = 0; i < N_HUGE; i++)
		x[i] = 5;
	d = distribution_of(x, N_HUGE, -1);
	assert_near(d.median.lo, 5, 0);
	assert_near(d.p99.hi, 5, 0);
	assert_near(d.minimum_detectable, 0, 0);
}

static void
the_detectable_change_is_the_textbook_one(void **state)
{
	/* Standard error 1 on 100: 2.8016 * sqrt 2 %. */
	struct sl_estimate e = {.value = 100,
				.lo = 100 - 1.959963984540054,
				.hi = 100 + 1.959963984540054};

	(void)state;
	assert_close(sl__minimum_detectable(&e), 0.0396206, 1e-5);
}

static void
check_failed_allocations(const double *x, size_t n)
{
	for (int fail_at = 1;; fail_at++) {
		struct counting c = {0, 0, fail_at};
		struct sl_allocator allocator = counting_allocator(&c);
		struct sl__distribution_options how = {.05, 1, 0, 0, NULL};
		struct sl_latency out;
		struct sl__arena arena;
		struct sl__rng rng;
		enum sl_status rc;

		sl__rng_init(&rng, 1);
		how.rng = &rng;
		sl__arena_init(&arena, &allocator);
		rc = sl__distribution_summarize(&out, x, n, &how, &arena, NULL);
		sl__arena_release(&arena);
		assert_int_equal(c.n_out, 0);
		if (c.n_requests < fail_at) {
			assert_int_equal(rc, SL_OK);
			break;
		}
		assert_int_equal(rc, SL_E_NOMEM);
	}
}

/* Blocks hold several columns: with another length of these, another column is
 * the first of a block, and fails alone. */
static void
every_failed_allocation_is_reported(void **state)
{
	double x[N];

	(void)state;
	fill_exponential(x, N);
	for (size_t n = 40; n <= N; n += 5)
		check_failed_allocations(x, n);
}

static void
methods_and_classes_have_names(void **state)
{
	(void)state;
	for (int i = SL_METHOD_NONE; i <= SL_METHOD_BATCH; i++) {
		for (int k = SL_METHOD_NONE; k < i; k++)
			assert_string_not_equal(
				sl_method_text((enum sl_method)i),
				sl_method_text((enum sl_method)k));
	}
	assert_string_equal(sl_warmup_text(SL_WARMUP_UNKNOWN), "unknown");
	assert_string_equal(sl_warmup_text(SL_WARMUP_FLAT), "flat");
	assert_string_equal(sl_warmup_text(SL_WARMUP_WARMING), "warming");
	assert_string_equal(sl_warmup_text(SL_WARMUP_SLOWING), "slowing");
	assert_string_equal(sl_warmup_text(SL_WARMUP_NONE), "none");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(independent_samples_give_the_figures_of_scipy),
		cmocka_unit_test(warm_up_is_left_out_and_counted),
		cmocka_unit_test(nothing_but_warm_up_is_an_error),
		cmocka_unit_test(
			small_samples_are_refused_what_they_cannot_say),
		cmocka_unit_test(ranks_resample_as_values_do),
		cmocka_unit_test(dependent_samples_get_intervals_that_cover),
		cmocka_unit_test(spikes_do_not_hide_dependence),
		cmocka_unit_test(many_samples_are_fine),
		cmocka_unit_test(the_detectable_change_is_the_textbook_one),
		cmocka_unit_test(every_failed_allocation_is_reported),
		cmocka_unit_test(methods_and_classes_have_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
