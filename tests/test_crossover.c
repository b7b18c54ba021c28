/* SPDX-License-Identifier: Apache-2.0 */
/* test_crossover.c - classes and crossovers of points that are made up. */
#include "harness.h"

#include "analysis/crossover.h"

#include <string.h>

enum { MOST = 8 };

struct made {
	struct sl_micro_point points[MOST];
	struct sl_micro_crossover crossovers[SL__MICRO_CROSSOVERS_MAX];
	struct sl_micro_series series;
};

/* A point that takes 'ns' where its roof allows bound_ns. */
static struct sl_micro_point
point_of(double ns, double bound_ns, enum sl_level roof)
{
	return (struct sl_micro_point){
		.value = 1,
		.median_ns = {.value = ns,
			      .lo = 0.99 * ns,
			      .hi = 1.01 * ns,
			      .n = 10},
		.fastest_ns = 0.9 * ns,
		.n_iterations = 100,
		.n_bytes = 1000,
		.flops = 1000,
		.bytes_per_s = 1000 / ns * 1e9,
		.flops_per_s = 1000 / ns * 1e9,
		.level = roof == SL_LEVEL_COMPUTE ? SL_LEVEL_L2 : roof,
		.roof = roof,
		.bound_ns = bound_ns,
		.level_ns = (double)NAN,
	};
}

static struct sl_micro_point
classified(double ns, double bound_ns, enum sl_level roof)
{
	struct sl_micro_point p = point_of(ns, bound_ns, roof);

	sl__micro_classify(&p, 100);
	return p;
}

/* A series of these shares of a roof, all of 10 us; 0: not measured. */
static void
make(struct made *m, const double *shares, const enum sl_level *roofs, size_t n)
{
	memset(m, 0, sizeof(*m));
	for (size_t i = 0; i < n; i++) {
		m->points[i] = classified(1e4, 1e4 * shares[i], roofs[i]);
		m->points[i].value = (int64_t)1 << i;
		if (shares[i] == 0)
			m->points[i].absent = "not measured";
	}
	m->series = (struct sl_micro_series){.name = "made",
					     .axis = SL_MICRO_AXIS_N,
					     .points = m->points,
					     .n_points = n};
	sl__micro_crossovers(&m->series, m->crossovers);
}

static void
test_roofs(void **state)
{
	struct sl_micro_point p = classified(1e4, 8e3, SL_LEVEL_COMPUTE);

	(void)state;
	assert_int_equal(p.micro_class, SL_MICRO_COMPUTE);
	assert_int_equal(p.roof, SL_LEVEL_COMPUTE);
	assert_near(p.roof_share, 0.8, 1e-12);
	assert_near(p.roof_share_lo, 0.8 / 1.01, 1e-12);
	assert_near(p.roof_share_hi, 0.8 / 0.99, 1e-12);
	assert_true(p.is_sure);
	p = classified(1e4, 8e3, SL_LEVEL_DRAM);
	assert_int_equal(p.micro_class, SL_MICRO_MEMORY);
	assert_int_equal(p.roof, SL_LEVEL_DRAM);
	p = classified(1e4, 6e3, SL_LEVEL_L3);
	assert_int_equal(p.micro_class, SL_MICRO_BELOW);
	assert_true(p.is_sure);
}

/* Three empty steps of 100 ns are overhead, unless a roof is reached. */
static void
test_overhead(void **state)
{
	struct sl_micro_point p = point_of(290, 60, SL_LEVEL_L1);

	(void)state;
	sl__micro_classify(&p, 100);
	assert_int_equal(p.micro_class, SL_MICRO_OVERHEAD);
	assert_int_equal(classified(310, 60, SL_LEVEL_L1).micro_class,
			 SL_MICRO_BELOW);
	assert_int_equal(classified(290, 280, SL_LEVEL_L1).micro_class,
			 SL_MICRO_MEMORY);
	p = point_of(290, 60, SL_LEVEL_L1);
	sl__micro_classify(&p, (double)NAN);
	assert_int_equal(p.micro_class, SL_MICRO_BELOW);
}

/* An interval on both sides of a limit allows two verdicts. */
static void
test_unsure(void **state)
{
	struct sl_micro_point p = classified(1e4, 7.02e3, SL_LEVEL_L2);

	(void)state;
	assert_int_equal(p.micro_class, SL_MICRO_MEMORY);
	assert_false(p.is_sure);
	p = point_of(1e4, 9e3, SL_LEVEL_L2);
	p.median_ns.lo = p.median_ns.hi = (double)NAN;
	sl__micro_classify(&p, 100);
	assert_int_equal(p.micro_class, SL_MICRO_MEMORY);
	assert_true(isnan(p.roof_share_lo));
	assert_false(p.is_sure);
}

static void
test_unknown(void **state)
{
	struct sl_micro_point p = point_of(1e4, (double)NAN, SL_LEVEL_L2);

	(void)state;
	sl__micro_classify(&p, 100);
	assert_int_equal(p.micro_class, SL_MICRO_UNKNOWN);
	assert_true(isnan(p.roof_share));
	p = point_of(1e4, 5e3, SL_LEVEL_L2);
	p.roof = SL_LEVEL_NONE;
	sl__micro_classify(&p, 100);
	assert_int_equal(p.micro_class, SL_MICRO_UNKNOWN);
}

/* What others did may hide a roof that single calls reach. */
static void
test_disturbed(void **state)
{
	struct sl_micro_point p = point_of(1e4, 2e3, SL_LEVEL_L2);

	(void)state;
	p.fastest_ns = 2.5e3;
	p.disturbance = 0.5;
	sl__micro_classify(&p, 100);
	assert_int_equal(p.micro_class, SL_MICRO_UNKNOWN);
	assert_near(p.roof_share, 0.2, 1e-12);
	p.fastest_ns = 9e3;
	sl__micro_classify(&p, 100);
	assert_int_equal(p.micro_class, SL_MICRO_BELOW);
	/* Of few calls all may have been disturbed. */
	p.n_iterations = 3;
	sl__micro_classify(&p, 100);
	assert_int_equal(p.micro_class, SL_MICRO_UNKNOWN);
	p.bound_ns = 8e3;
	sl__micro_classify(&p, 100);
	assert_int_equal(p.micro_class, SL_MICRO_MEMORY);
	p.bound_ns = 2e3;
	p.n_iterations = 100;
	p.fastest_ns = 2.5e3;
	p.disturbance = 0.01;
	sl__micro_classify(&p, 100);
	assert_int_equal(p.micro_class, SL_MICRO_BELOW);
}

/* Faster than DRAM because L3 serves a part: DRAM is what bounds it still. */
static void
test_served_in_part(void **state)
{
	struct sl_micro_point p = point_of(1e4, 3e3, SL_LEVEL_L3);

	(void)state;
	p.level = SL_LEVEL_DRAM;
	p.level_ns = 1.1e4;
	sl__micro_classify(&p, 100);
	assert_int_equal(p.micro_class, SL_MICRO_MEMORY);
	assert_int_equal(p.roof, SL_LEVEL_DRAM);
	assert_near(p.roof_share, 1, 1e-12);
	p = point_of(1e4, 9e3, SL_LEVEL_COMPUTE);
	p.level = SL_LEVEL_DRAM;
	p.level_ns = 1.1e4;
	sl__micro_classify(&p, 100);
	assert_int_equal(p.micro_class, SL_MICRO_COMPUTE);
	assert_int_equal(p.roof, SL_LEVEL_COMPUTE);
}

static size_t
count(const struct made *m, enum sl_micro_crossover_kind what)
{
	size_t n = 0;

	for (size_t i = 0; i < m->series.n_crossovers; i++)
		n += m->crossovers[i].what == what;
	return n;
}

static void
test_turns(void **state)
{
	static const double shares[] = {0.3, 0.4, 0.9, 0.95, 0.9};
	static const enum sl_level roofs[] = {SL_LEVEL_L2, SL_LEVEL_L2,
					      SL_LEVEL_L2, SL_LEVEL_DRAM,
					      SL_LEVEL_COMPUTE};
	struct made m;

	(void)state;
	make(&m, shares, roofs, 5);
	assert_int_equal(m.series.n_measured, 5);
	assert_int_equal(m.series.reached, 2);
	assert_int_equal(m.series.largest, 4);
	assert_int_equal(count(&m, SL_MICRO_CROSSOVER_CLASS), 3);
	assert_int_equal(m.crossovers[0].before, 1);
	assert_int_equal(m.crossovers[0].at, 2);
	assert_true(m.crossovers[0].is_sure);
	assert_int_equal(count(&m, SL_MICRO_CROSSOVER_ROOF), 1);
	assert_int_equal(m.crossovers[3].what, SL_MICRO_CROSSOVER_ROOF);
	assert_int_equal(m.points[m.crossovers[3].at].roof, SL_LEVEL_COMPUTE);
	assert_int_equal(m.crossovers[3].at, 4);
	/* L2, L2, L2, DRAM, L2. */
	assert_int_equal(count(&m, SL_MICRO_CROSSOVER_LEVEL), 2);
	assert_near(m.crossovers[4].rate_ratio, 1, 1e-12);
	assert_false(m.crossovers[4].is_sure);
}

/* One size that differs from both neighbours is an exception, no crossover. */
static void
test_exception(void **state)
{
	static const double shares[] = {0.9, 0.9, 0.3, 0.9, 0.9};
	static const enum sl_level roofs[] = {SL_LEVEL_L2, SL_LEVEL_L2,
					      SL_LEVEL_L2, SL_LEVEL_L2,
					      SL_LEVEL_L2};
	struct made m;

	(void)state;
	make(&m, shares, roofs, 5);
	assert_int_equal(m.series.n_crossovers, 0);
	assert_int_equal(m.points[2].micro_class, SL_MICRO_BELOW);
	assert_int_equal(sl__micro_smoothed_verdict_source(&m.series, 2), 1);
	assert_int_equal(sl__micro_smoothed_verdict_source(&m.series, 3), 3);
	assert_true(sl__micro_same_smoothed_verdict(&m.series, 2, 3));
	/* It is not above 80 % for good before the exception. */
	assert_int_equal(m.series.reached, 3);
}

static void
test_gaps(void **state)
{
	static const double shares[] = {0, 0.9, 0, 0.3, 0.3, 0};
	static const enum sl_level roofs[] = {SL_LEVEL_L2, SL_LEVEL_L2,
					      SL_LEVEL_L2, SL_LEVEL_L2,
					      SL_LEVEL_L2, SL_LEVEL_L2};
	static const double none[] = {0, 0};
	struct made m;

	(void)state;
	make(&m, shares, roofs, 6);
	assert_int_equal(m.series.n_measured, 3);
	assert_int_equal(m.series.largest, 4);
	assert_int_equal(m.series.reached, SIZE_MAX);
	assert_int_equal(m.series.n_crossovers, 1);
	assert_int_equal(m.crossovers[0].before, 1);
	assert_int_equal(m.crossovers[0].at, 3);
	make(&m, none, roofs, 2);
	assert_int_equal(m.series.n_measured, 0);
	assert_int_equal(m.series.largest, SIZE_MAX);
	assert_int_equal(m.series.n_crossovers, 0);
	make(&m, none, roofs, 0);
	assert_int_equal(m.series.n_crossovers, 0);
}

static void
test_far_ratio(void **state)
{
	static const double shares[] = {0.3, 0.3, 0.2};
	static const enum sl_level roofs[] = {SL_LEVEL_L2, SL_LEVEL_L2,
					      SL_LEVEL_DRAM};
	struct made m;

	(void)state;
	make(&m, shares, roofs, 3);
	assert_near(sl__micro_large_to_small_bandwidth_ratio(&m.series), 1,
		    1e-12);
	m.points[2].bytes_per_s /= 2;
	assert_near(sl__micro_large_to_small_bandwidth_ratio(&m.series), 0.5,
		    1e-12);
	/* Overhead is no rate to compare with. */
	m.points[0].micro_class = m.points[1].micro_class = SL_MICRO_OVERHEAD;
	assert_true(isnan(sl__micro_large_to_small_bandwidth_ratio(&m.series)));
}

/* What to optimise follows from the class at the largest size and, below both
 * roofs, from what nearer memory changes. */
static void
test_focus(void **state)
{
	static const double high[] = {0.9}, low[] = {0.3}, far[] = {0.3, 0.2};
	static const enum sl_level memory[] = {SL_LEVEL_L2, SL_LEVEL_DRAM};
	static const enum sl_level compute[] = {SL_LEVEL_COMPUTE};
	struct made m;

	(void)state;
	make(&m, high, compute, 1);
	assert_int_equal(sl__micro_optimization_focus(&m.series),
			 SL_MICRO_FOCUS_PRECISION);
	make(&m, high, memory, 1);
	assert_int_equal(sl__micro_optimization_focus(&m.series),
			 SL_MICRO_FOCUS_BYTES);
	make(&m, low, memory, 1);
	assert_int_equal(sl__micro_optimization_focus(&m.series),
			 SL_MICRO_FOCUS_KERNEL);
	make(&m, low, compute, 1);
	assert_int_equal(sl__micro_optimization_focus(&m.series),
			 SL_MICRO_FOCUS_KERNEL);
	m.points[0].micro_class = SL_MICRO_OVERHEAD;
	assert_int_equal(sl__micro_optimization_focus(&m.series),
			 SL_MICRO_FOCUS_CALLS);
	m.points[0].micro_class = SL_MICRO_UNKNOWN;
	assert_int_equal(sl__micro_optimization_focus(&m.series),
			 SL_MICRO_FOCUS_NONE);
	make(&m, far, memory, 2);
	assert_int_equal(sl__micro_optimization_focus(&m.series),
			 SL_MICRO_FOCUS_INSTRUCTIONS);
	m.points[1].bytes_per_s *= 0.8;
	assert_int_equal(sl__micro_optimization_focus(&m.series),
			 SL_MICRO_FOCUS_BOTH);
	make(&m, far, memory, 0);
	assert_int_equal(sl__micro_optimization_focus(&m.series),
			 SL_MICRO_FOCUS_NONE);
}

static void
test_extremes(void **state)
{
	static const double shares[] = {0.9, 0.2, 0.5, 0.99};
	static const enum sl_level roofs[] = {SL_LEVEL_L2};
	struct made m[4];
	struct sl_micro_series series[4];
	struct sl_microbench all = {.series = series, .n_series = 4};

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		make(&m[i], &shares[i], roofs, 1);
		series[i] = m[i].series;
	}
	m[3].points[0].micro_class = SL_MICRO_UNKNOWN;
	sl__micro_find_best_and_worst(&all);
	assert_int_equal(all.most_efficient, 0);
	assert_int_equal(all.least_efficient, 1);
	all.n_series = 1;
	sl__micro_find_best_and_worst(&all);
	assert_int_equal(all.most_efficient, SIZE_MAX);
	assert_int_equal(all.least_efficient, SIZE_MAX);
}

static void
test_words(void **state)
{
	(void)state;
	assert_string_equal(sl_micro_class_text(SL_MICRO_COMPUTE), "compute");
	assert_string_equal(sl_micro_class_text((enum sl_micro_class)99),
			    "unknown");
	assert_string_equal(
		sl_micro_crossover_kind_text(SL_MICRO_CROSSOVER_LEVEL),
		"level");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_roofs),
		cmocka_unit_test(test_overhead),
		cmocka_unit_test(test_unsure),
		cmocka_unit_test(test_unknown),
		cmocka_unit_test(test_disturbed),
		cmocka_unit_test(test_served_in_part),
		cmocka_unit_test(test_turns),
		cmocka_unit_test(test_exception),
		cmocka_unit_test(test_gaps),
		cmocka_unit_test(test_far_ratio),
		cmocka_unit_test(test_focus),
		cmocka_unit_test(test_extremes),
		cmocka_unit_test(test_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
