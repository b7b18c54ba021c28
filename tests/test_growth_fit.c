/* SPDX-License-Identifier: Apache-2.0 */
/* test_growth_fit.c - laws, knees and sweet spots of points that are known. */
#include "harness.h"

#include "analysis/growth_fit.h"
#include "base/rng.h"

enum { N_PLACES = 7, N_VISITS = 3, N = N_PLACES * N_VISITS };

/* offset + scale x^k at 1, 2, 4, ..., each visited three times with relative
 * errors of that size. */
static void
observe(double *x, double *y, const double law[3], double error)
{
	struct sl__rng rng;

	sl__rng_init(&rng, 7);
	for (size_t i = 0; i < N; i++) {
		x[i] = (double)(1u << i / N_VISITS);
		y[i] = (law[0] + law[1] * pow(x[i], law[2])) *
		       exp(error * sl__rng_normal(&rng));
	}
}

static struct sl_estimate
about(double value, double half_width)
{
	return (struct sl_estimate){.value = value,
				    .lo = value * (1 - half_width),
				    .hi = value * (1 + half_width),
				    .n = 3,
				    .method = SL_METHOD_STUDENT};
}

static void
test_power_is_recovered(void **state)
{
	static const double exponents[] = {-1, 0.5, 1, 2};
	double x[N], y[N];

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		const double law[3] = {0, 5, exponents[i]};
		struct sl_sweep_exponent e = {0};

		observe(x, y, law, 0.01);
		sl__growth_fit_power_law(&e, x, y, N, 1);
		assert_null(e.absent);
		assert_near(e.exponent.value, exponents[i], 0.02);
		assert_true(e.exponent.lo <= exponents[i]);
		assert_true(e.exponent.hi >= exponents[i]);
		assert_true(e.exponent.hi - e.exponent.lo < 0.1);
		assert_close(e.scale, 5.0, 0.05);
		assert_true(e.deviation < 0.05);
		assert_int_equal(e.tail.n, 0);
	}
}

static void
test_fixed_cost_is_found(void **state)
{
	const double law[3] = {100, 10, 1};
	struct sl_sweep_exponent e = {0};
	double x[N], y[N];

	(void)state;
	observe(x, y, law, 0.005);
	sl__growth_fit_power_law(&e, x, y, N, 1);
	assert_close(e.offset, 100.0, 0.1);
	assert_near(e.exponent.value, 1, 0.1);
	assert_true(e.exponent.lo <= 1 && e.exponent.hi >= 1);
	/* 100 is more than a tenth of 100 + 640. */
	assert_int_equal(e.tail_from, 0);
}

static void
test_tail_begins_where_it_should(void **state)
{
	const double law[3] = {40, 16, 1};
	struct sl_sweep_exponent e = {0};
	double x[N], y[N];

	(void)state;
	observe(x, y, law, 0.002);
	sl__growth_fit_power_law(&e, x, y, N, 1);
	/* 40 of 40 + 16 x is a tenth from 22.5 on: at 32. */
	assert_int_equal(e.tail_from, 32);
	assert_int_equal(e.tail.n, 2 * N_VISITS);
	assert_true(e.tail.value > 0.9 && e.tail.value < 1);
}

/* A fixed cost that noise could explain is not claimed. */
static void
test_fixed_cost_is_not_invented(void **state)
{
	const double law[3] = {0, 10, 1};
	double x[N], y[N];
	struct sl_sweep_exponent e = {0};

	(void)state;
	observe(x, y, law, 0.05);
	sl__growth_fit_power_law(&e, x, y, N, 1);
	assert_near(e.offset, 0, 0);
	assert_true(e.exponent.lo <= 1 && e.exponent.hi >= 1);
}

/* Nor one that the caller knows not to be there. */
static void
test_fixed_cost_is_not_allowed(void **state)
{
	const double law[3] = {100, 10, 1};
	struct sl_sweep_exponent e = {0};
	double x[N], y[N];

	(void)state;
	observe(x, y, law, 0.005);
	sl__growth_fit_power_law(&e, x, y, N, 0);
	assert_near(e.offset, 0, 0);
	assert_true(e.exponent.value < 0.7);
	assert_int_equal(e.tail.n, 0);
}

static void
test_too_few_places(void **state)
{
	const double x[] = {8, 8, 8}, y[] = {1, 2, 3};
	struct sl_sweep_exponent e = {0};

	(void)state;
	sl__growth_fit_power_law(&e, x, y, 3, 1);
	assert_non_null(e.absent);
	assert_int_equal(e.exponent.n, 0);
	assert_true(isnan(e.exponent.value));
}

static void
test_two_places(void **state)
{
	const double x[] = {1, 1, 1, 2, 2, 2}, y[] = {8, 8.1, 7.9, 4, 4, 4.1};
	struct sl_sweep_exponent e = {0};

	(void)state;
	sl__growth_fit_power_law(&e, x, y, 6, 1);
	assert_near(e.exponent.value, -1, 0.05);
	assert_true(e.exponent.lo < -0.95 && e.exponent.hi > -1.05);
	assert_near(e.offset, 0, 0);
}

static void
test_pool_spans_visits(void **state)
{
	const struct sl_estimate visits[] = {about(100, 0.01), about(110, 0.01),
					     about(121, 0.01)};
	struct sl_estimate e = sl__visits_pool_estimates(visits, 3);
	/* Logs 0.0953 apart: sd 0.0953, t(2) 4.3027 over the root of 3. */
	double reach = 4.302653 * log(1.1) / sqrt(3);

	(void)state;
	assert_near(e.value, 110, 1e-9);
	assert_close(e.lo, 110 * exp(-reach), 1e-6);
	assert_close(e.hi, 110 * exp(reach), 1e-6);
	assert_int_equal(e.n, 3);
}

/* Visits that agree by chance are no surer than each of them allows. */
static void
test_pool_keeps_own_error(void **state)
{
	const struct sl_estimate visits[] = {about(100, 0.05), about(100, 0.05),
					     about(100, 0.05)};
	struct sl_estimate e = sl__visits_pool_estimates(visits, 3);

	(void)state;
	assert_near(e.value, 100, 1e-9);
	assert_true(e.hi > 102.5 && e.hi < 103.5);
	assert_true(e.lo < 97.5 && e.lo > 96.5);
}

static void
test_pool_of_few(void **state)
{
	struct sl_estimate visits[] = {about(100, 0.02), about(120, 0.02)};
	struct sl_estimate e = sl__visits_pool_estimates(visits, 2);

	(void)state;
	assert_near(e.lo, 98, 1e-9);
	assert_near(e.hi, 122.4, 1e-9);
	visits[1].needs_n = 6;
	e = sl__visits_pool_estimates(visits, 2);
	assert_true(isnan(e.lo) && isnan(e.hi));
	e = sl__visits_pool_estimates(visits, 0);
	assert_int_equal(e.n, 0);
	assert_true(isnan(e.value));
}

/* Visits that have no interval are not sure for that. */
static void
test_pool_of_unbounded(void **state)
{
	struct sl_estimate visits[] = {about(100, 0.05), about(100, 0.05),
				       about(100, 0.05)};
	struct sl_estimate all = sl__visits_pool_estimates(visits, 3), e;

	(void)state;
	visits[1].lo = visits[1].hi = (double)NAN;
	visits[1].needs_n = 6;
	e = sl__visits_pool_estimates(visits, 3);
	assert_near(e.lo, all.lo, 1e-9);
	assert_near(e.hi, all.hi, 1e-9);
	for (size_t i = 0; i < 3; i++) {
		visits[i].value = 100 * pow(1.1, (double)i);
		visits[i].lo = visits[i].hi = (double)NAN;
		visits[i].needs_n = 6;
	}
	e = sl__visits_pool_estimates(visits, 3);
	assert_close(e.hi, 110 * exp(4.302653 * log(1.1) / sqrt(3)), 1e-6);
	assert_int_equal(e.needs_n, 0);
}

/* More than can be pooled are left out of the mean and of n alike. */
static void
test_pool_of_many(void **state)
{
	struct sl_estimate visits[70];
	struct sl_estimate e;

	(void)state;
	for (size_t i = 0; i < 70; i++)
		visits[i] = about(100, 0.01);
	e = sl__visits_pool_estimates(visits, 70);
	assert_int_equal(e.n, 64);
	assert_close(e.lo * e.hi, 1e4, 1e-3);
}

static const double sizes[] = {1, 2, 4, 8, 16};

static void
test_knee_at_a_known_place(void **state)
{
	struct sl_estimate rates[] = {about(100, 0.01), about(180, 0.01),
				      about(300, 0.01), about(310, 0.01),
				      about(312, 0.01)};
	struct sl_sweep_knee knee;

	(void)state;
	sl__growth_knee(&knee, sizes, rates, 5);
	assert_int_equal(knee.at, 4);
	assert_true(knee.is_proved);
	assert_near(knee.gain.value, 310.0 / 300 - 1, 1e-12);
	assert_near(knee.gain.hi, 310 * 1.01 / (300 * 0.99) - 1, 1e-12);
}

static void
test_knee_is_not_proved_when_noisy(void **state)
{
	struct sl_estimate rates[] = {about(100, 0.2), about(180, 0.2),
				      about(300, 0.2), about(310, 0.2),
				      about(312, 0.2)};
	struct sl_sweep_knee knee;

	(void)state;
	sl__growth_knee(&knee, sizes, rates, 5);
	assert_int_equal(knee.at, 4);
	assert_false(knee.is_proved);
	rates[4].lo = rates[4].hi = (double)NAN;
	sl__growth_knee(&knee, sizes, rates, 5);
	assert_false(knee.is_proved);
}

static void
test_no_knee_yet(void **state)
{
	const struct sl_estimate rates[] = {about(100, 0.01), about(101, 0.01),
					    about(190, 0.01), about(300, 0.01),
					    about(500, 0.01)};
	struct sl_sweep_knee knee;

	(void)state;
	sl__growth_knee(&knee, sizes, rates, 5);
	assert_int_equal(knee.at, 0);
	assert_true(knee.is_proved);
	assert_near(knee.gain.value, 5.0 / 3 - 1, 1e-12);
}

static void
test_knee_at_once(void **state)
{
	const struct sl_estimate rates[] = {about(100, 0.01), about(99, 0.01),
					    about(97, 0.01)};
	struct sl_sweep_knee knee;

	(void)state;
	sl__growth_knee(&knee, sizes, rates, 3);
	assert_int_equal(knee.at, 1);
	assert_true(knee.is_proved);
	sl__growth_knee(&knee, sizes, rates, 1);
	assert_non_null(knee.absent);
}

/* From 4 to 16 are two doublings: 1.21 is 10 % for each. */
static void
test_gain_is_per_doubling(void **state)
{
	const struct sl_estimate a = about(100, 0), b = about(121, 0);

	(void)state;
	assert_near(sl__growth_gain_per_doubling(&a, &b, 4).value, 0.1, 1e-12);
}

static void
test_best_within_limits(void **state)
{
	struct sl_sweep_point points[4] = {{0}};
	struct sl_sweep_best best;

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		points[i].value = 1 << i;
		points[i].memory_bytes = 100u << i;
		points[i].latency_ns = about(1e6 * (double)(i + 1), 0.1);
		points[i].rate_per_s = about(100 + 50 * (double)i, 0.01);
	}
	sl__sweep_best_point(&best, points, 4, 0, 0);
	assert_int_equal(best.at, 8);
	assert_int_equal(best.as_good, 8);
	sl__sweep_best_point(&best, points, 4, 400, 0);
	assert_int_equal(best.at, 4);
	assert_int_equal(best.n_over_memory, 1);
	/* 3 ms are within 3.1, their upper bound of 3.3 is not. */
	sl__sweep_best_point(&best, points, 4, 0, 3.1e-3);
	assert_int_equal(best.at, 2);
	assert_int_equal(best.n_over_latency, 2);
	sl__sweep_best_point(&best, points, 4, 0, 1e-4);
	assert_non_null(best.absent);
	assert_true(best.point == SIZE_MAX);
	/* Memory that is not known is within no limit. */
	points[0].memory_bytes = 0;
	sl__sweep_best_point(&best, points, 4, 150, 0);
	assert_non_null(best.absent);
	points[3].absent = "too large";
	points[1].rate_per_s = about(199, 0.02);
	sl__sweep_best_point(&best, points, 4, 0, 0);
	assert_int_equal(best.at, 4);
	assert_int_equal(best.as_good, 2);
	/* Half of all visits may be disturbed. */
	for (size_t i = 0; i < 3; i++)
		points[i].n_visits = 4;
	points[0].n_disturbed = 4;
	points[1].n_disturbed = 2;
	sl__sweep_best_point(&best, points, 4, 0, 0);
	assert_null(best.absent);
	assert_int_equal(best.at, 4);
	points[2].n_disturbed = 1;
	sl__sweep_best_point(&best, points, 4, 0, 0);
	assert_non_null(best.absent);
	assert_true(best.point == SIZE_MAX);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_power_is_recovered),
		cmocka_unit_test(test_fixed_cost_is_found),
		cmocka_unit_test(test_tail_begins_where_it_should),
		cmocka_unit_test(test_fixed_cost_is_not_invented),
		cmocka_unit_test(test_fixed_cost_is_not_allowed),
		cmocka_unit_test(test_too_few_places),
		cmocka_unit_test(test_two_places),
		cmocka_unit_test(test_pool_spans_visits),
		cmocka_unit_test(test_pool_keeps_own_error),
		cmocka_unit_test(test_pool_of_few),
		cmocka_unit_test(test_pool_of_unbounded),
		cmocka_unit_test(test_pool_of_many),
		cmocka_unit_test(test_knee_at_a_known_place),
		cmocka_unit_test(test_knee_is_not_proved_when_noisy),
		cmocka_unit_test(test_no_knee_yet),
		cmocka_unit_test(test_knee_at_once),
		cmocka_unit_test(test_gain_is_per_doubling),
		cmocka_unit_test(test_best_within_limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
