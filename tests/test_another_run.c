/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_another_run.c - against ranks counted by hand and SciPy, and in simulated
 * runs on a machine that changes more slowly than repetitions come: the interval
 * of one run holds the median over all runs.
 */
#include "stats/another_run.h"
#include "harness.h"
#include "base/rng.h"
#include "stats/summary.h"

enum { RUNS = 2000, N_MOST = 120 };

/* Figures from 1 to n, the largest first. */
static struct sl_estimate
of_whole_numbers(size_t n)
{
	double x[N_MOST];

	for (size_t i = 0; i < n; i++)
		x[i] = (double)(n - i);
	return sl__another_run_estimate(x, n);
}

/* A further figure is as likely in each of the n + 1 gaps. */
static void
ranks_leave_a_fortieth_on_each_side(void **state)
{
	static const struct {
		size_t n;
		double lo, hi;
	} cases[] = {{39, 1, 39}, {78, 1, 78}, {79, 2, 78}, {120, 3, 118}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct sl_estimate e = of_whole_numbers(cases[i].n);

		assert_near(e.lo, cases[i].lo, 0);
		assert_near(e.hi, cases[i].hi, 0);
		assert_near(e.value, (double)(cases[i].n + 1) / 2, 0);
		assert_int_equal(e.n, cases[i].n);
		assert_int_equal(e.needs_n, 0);
		assert_int_equal(e.method, SL_METHOD_ORDER);
	}
}

/* median exp(-+ t std(ln x) sqrt(1 + 1 / n)), by SciPy */
static void
few_figures_have_students_interval(void **state)
{
	double x[] = {1.3, 1.1, 1.25, 1.2, 1.6, 1.15, 1.22};
	struct sl_estimate e = sl__another_run_estimate(x, 7);

	(void)state;
	assert_near(e.value, 1.22, 0);
	assert_near(e.lo, 0.8887205849262566, 1e-12);
	assert_near(e.hi, 1.6747671036825404, 1e-12);
	assert_int_equal(e.method, SL_METHOD_STUDENT);
}

static void
too_few_have_none(void **state)
{
	struct sl_estimate e = of_whole_numbers(5);

	(void)state;
	assert_near(e.value, 3, 0);
	assert_true(isnan(e.lo) && isnan(e.hi));
	assert_int_equal(e.needs_n, 6);
	assert_int_equal(of_whole_numbers(6).needs_n, 0);
}

/* The same in each repetition: no width, and no end of the world. */
static void
equal_figures_are_no_trouble(void **state)
{
	double x[] = {2, 2, 2, 2, 2, 2};
	struct sl_estimate e = sl__another_run_estimate(x, 6);

	(void)state;
	assert_near(e.lo, 2, 1e-12);
	assert_near(e.hi, 2, 1e-12);
}

/*
 * A machine: it stays in a state for so many repetitions in the mean, then
 * another is drawn.  A state makes everything exp(state) times as long.
 */
struct machine {
	const char *name;
	double two_states; /* the second, taken by 'share'; 0: normal ones */
	double share, spread, noise;
};

static double
draw_state(const struct machine *m, struct sl__rng *rng)
{
	if (m->two_states > 0)
		return sl__rng_uniform(rng) < m->share ? m->two_states : 0;
	return m->spread * sl__rng_normal(rng);
}

static double
next_figure(const struct machine *m, double length, double *state,
	    struct sl__rng *rng)
{
	if (sl__rng_uniform(rng) < 1 / length)
		*state = draw_state(m, rng);
	return exp(*state + m->noise * sl__rng_normal(rng));
}

static double
share_covered(const struct machine *m, size_t n, double length)
{
	static double all[RUNS * N_MOST], scratch[RUNS * N_MOST];
	struct sl__rng rng;
	size_t n_covered = 0, n_all = RUNS * n;
	double state, median;

	sl__rng_init(&rng, 19);
	state = draw_state(m, &rng);
	for (size_t i = 0; i < n_all; i++)
		scratch[i] = all[i] = next_figure(m, length, &state, &rng);
	median = sl__median_in_place(scratch, n_all);
	for (size_t r = 0; r < RUNS; r++) {
		struct sl_estimate e = sl__another_run_estimate(all + r * n, n);

		n_covered += e.lo <= median && median <= e.hi;
	}
	return (double)n_covered / RUNS;
}

static void
one_run_holds_the_median_of_all(void **state)
{
	static const struct machine machines[] = {
		{"a clock of many speeds", 0, 0, 0.02, 0.005},
		{"a clock of two speeds", 0.05, 0.5, 0, 0.005},
		{"CPUs that are rarely near each other", 0.8, 0.15, 0, 0.01},
		{"nothing but noise", 0, 0, 0, 0.02},
	};
	static const size_t sizes[] = {40, 120};

	(void)state;
	for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++) {
		for (size_t k = 0; k < 2; k++) {
			size_t n = sizes[k];
			double tenth =
				share_covered(&machines[i], n, (double)n / 10);
			double sixth =
				share_covered(&machines[i], n, (double)n / 6);

			print_message("%s, %zu repetitions: %.1f %% covered "
				      "where a state lasts a tenth of a run, "
				      "%.1f %% a sixth\n",
				      machines[i].name, n, 100 * tenth,
				      100 * sixth);
			assert_true(tenth >= 0.97);
			assert_true(sixth >= 0.93);
		}
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ranks_leave_a_fortieth_on_each_side),
		cmocka_unit_test(few_figures_have_students_interval),
		cmocka_unit_test(too_few_have_none),
		cmocka_unit_test(equal_figures_are_no_trouble),
		cmocka_unit_test(one_run_holds_the_median_of_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
