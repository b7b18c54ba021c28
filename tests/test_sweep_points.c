/* SPDX-License-Identifier: Apache-2.0 */
/* test_sweep_points.c - visits that are made up, and what they come to. */
#include "harness.h"

#include "analysis/sweep_measurements.h"

enum { VISITS = 4 };

/* One point. */
struct made {
	struct sl_sweep_point point;
	struct sl_estimate medians[VISITS];
	double disturbance[VISITS], joules[VISITS];
	size_t iterations[VISITS];
	double needs, executed, compute, bounds, tokens;
	struct sl__sweep_measurements work;
	struct sl_sweep_series series;
};

static void
make(struct made *m)
{
	memset(m, 0, sizeof(*m));
	m->point.value = 2;
	m->point.energy_absent = "too few iterations";
	m->compute = m->bounds = (double)NAN;
	m->work = (struct sl__sweep_measurements){.points = &m->point,
						  .n_points = 1,
						  .n_visits = VISITS,
						  .medians = m->medians,
						  .disturbance = m->disturbance,
						  .iterations = m->iterations,
						  .joules = m->joules,
						  .needs = &m->needs,
						  .executed = &m->executed,
						  .compute = &m->compute,
						  .bounds = &m->bounds,
						  .tokens = &m->tokens,
						  .batch = 1};
}

static const struct sl_inspection model = {.name = "made"};

/* Two operations that take 70 and 30 % on either side of the ridge. */
static struct sl_operation operations[] = {
	{.type = "Conv",
	 .roof = SL_LEVEL_COMPUTE,
	 .share = 0.7,
	 .executed_flops = 4000,
	 .n_calls = 1},
	{.type = "Add",
	 .roof = SL_LEVEL_DRAM,
	 .share = 0.3,
	 .executed_flops = 1000,
	 .n_calls = 1},
};

/* A visit with this median that others disturbed so much; its times add up. */
static struct sl_profile
visit_of(double ns, double disturbance, size_t n_iterations)
{
	struct sl_profile p = {
		.model = &model,
		.batch = 2,
		.n_timed = n_iterations,
		.operations = operations,
		.n_operations = 2,
		.ledger = {.is_closed = 1},
		.noise = {.neighbour_share = {disturbance, NULL}},
	};

	p.latency.median = (struct sl_estimate){.value = ns,
						.lo = 0.99 * ns,
						.hi = 1.01 * ns,
						.n = n_iterations};
	return p;
}

/* The f32 peak is 1 FLOP/ns; arithmetic alone takes 'share' of the median. */
static struct sl_profile
with_ceilings(struct sl_profile p, double share)
{
	p.ceilings.flops_per_s = (struct sl_estimate){
		.value = 1e9, .lo = 1e9, .hi = 1e9, .n = 3};
	p.rates.compute_efficiency = share;
	p.rates.bound_ns = 0.9 * p.latency.median.value;
	return p;
}

static void
settle(struct made *m)
{
	sl__sweep_summarize_points(&m->series, &m->work, SL_AXIS_BATCH);
}

/* 5000 operations in 2000 ns at an f32 peak of 1 a ns, in a type whose peak
 * is higher: 80 %, not 250. */
static void
test_efficiency_of_another_type(void **state)
{
	struct made m;
	struct sl_profile p = with_ceilings(visit_of(2000, 0, 10), 0.8);

	(void)state;
	make(&m);
	assert_true(sl__sweep_enter(&m.work, 0, 0, &p, (double)NAN));
	sl__sweep_fill_point(&m.work, 0, &p);
	for (size_t k = 1; k < 3; k++) {
		p = visit_of(2500, 0, 10);
		assert_true(sl__sweep_enter(&m.work, 0, k, &p, (double)NAN));
	}
	settle(&m);
	assert_near(m.point.latency_ns.value, 2500, 1e-9);
	/* Two samples an iteration; what is longest makes the lowest rate. */
	assert_close(m.point.rate_per_s.value, 2 / 2500e-9, 1e-12);
	assert_close(m.point.rate_per_s.lo, 2e9 / m.point.latency_ns.hi, 1e-12);
	assert_close(m.point.rate_per_s.hi, 2e9 / m.point.latency_ns.lo, 1e-12);
	assert_true(m.point.rate_per_s.lo < m.point.rate_per_s.value &&
		    m.point.rate_per_s.value < m.point.rate_per_s.hi);
	assert_near(m.point.compute_efficiency, 1600.0 / 2500, 1e-12);
	assert_near(m.point.roof_share, 1800.0 / 2500, 1e-12);
}

static void
test_repeats(void **state)
{
	struct made m;
	struct sl_profile p;

	(void)state;
	make(&m);
	for (size_t k = 0; k < 3; k++) {
		p = with_ceilings(visit_of(1000, 0.5, 10), 0.5);
		assert_true(sl__sweep_enter(&m.work, 0, k, &p, (double)NAN));
		if (!k)
			sl__sweep_fill_point(&m.work, 0, &p);
	}
	/* The first is made again and replaced, facts and all. */
	p = with_ceilings(visit_of(800, 0.1, 7), 0.9);
	assert_true(sl__sweep_enter(&m.work, 0, 0, &p, (double)NAN));
	sl__sweep_fill_point(&m.work, 0, &p);
	/* The second is no quieter the next time. */
	p = visit_of(100, 0.5, 1000);
	assert_false(sl__sweep_enter(&m.work, 0, 1, &p, (double)NAN));
	settle(&m);
	assert_int_equal(m.point.n_visits, 3);
	assert_int_equal(m.point.n_repeated, 2);
	assert_int_equal(m.point.n_disturbed, 2);
	assert_int_equal(m.point.n_iterations, 7 + 10 + 10);
	assert_near(m.point.latency_ns.value, 1000, 1e-9);
	assert_near(m.point.compute_efficiency, 720.0 / 1000, 1e-12);
	assert_near(m.point.roof_share, 720.0 / 1000, 1e-12);
}

/* Ceilings that a repeat has not got are not those of what it replaced. */
static void
test_facts_are_replaced(void **state)
{
	struct made m;
	struct sl_profile p = with_ceilings(visit_of(1000, 0.5, 10), 0.5);

	(void)state;
	make(&m);
	sl__sweep_fill_point(&m.work, 0, &p);
	assert_int_equal(m.point.verdict, SL_BOTTLENECK_COMPUTE);
	p = visit_of(1000, 0, 10);
	sl__sweep_fill_point(&m.work, 0, &p);
	assert_true(isnan(m.compute) && isnan(m.bounds));
	assert_int_equal(m.point.verdict, SL_BOTTLENECK_INCONCLUSIVE);
	assert_string_equal(m.point.verdict_absent, "no ceiling was measured");
}

static void
enter_joules(struct made *m, const double *joules, size_t n)
{
	struct sl_profile p = visit_of(1000, 0.5, 10);

	make(m);
	for (size_t k = 0; k < n; k++)
		assert_true(sl__sweep_enter(&m->work, 0, k, &p, joules[k]));
}

static void
test_energy(void **state)
{
	const double joules[] = {(double)NAN, 2, 2.2, 2.42};
	struct made m;
	struct sl_profile quiet = visit_of(1000, 0, 10);

	(void)state;
	/* A visit without a reading weighs nothing. */
	enter_joules(&m, joules, 4);
	settle(&m);
	assert_null(m.point.energy_absent);
	assert_int_equal(m.point.energy_j.n, 3);
	assert_near(m.point.energy_j.value, 2.2, 1e-12);
	assert_close(m.point.energy_j.hi,
		     2.2 * exp(4.302653 * log(1.1) / sqrt(3)), 1e-6);
	/* One is no interval. */
	enter_joules(&m, joules, 2);
	settle(&m);
	assert_int_equal(m.point.energy_j.n, 1);
	assert_near(m.point.energy_j.value, 2, 1e-12);
	assert_true(isnan(m.point.energy_j.lo));
	assert_int_equal(m.point.energy_j.needs_n, 3);
	/* A repeat takes the place of what it replaces. */
	enter_joules(&m, joules, 2);
	assert_true(sl__sweep_enter(&m.work, 0, 1, &quiet, 1));
	settle(&m);
	assert_int_equal(m.point.energy_j.n, 1);
	assert_near(m.point.energy_j.value, 1, 1e-12);
	enter_joules(&m, joules, 1);
	settle(&m);
	assert_int_equal(m.point.energy_j.n, 0);
	assert_string_equal(m.point.energy_absent, "too few iterations");
}

static const struct sl_sweep_point *
side_of(struct made *m, const struct sl_profile *p)
{
	make(m);
	sl__sweep_fill_point(&m->work, 0, p);
	return &m->point;
}

static void
test_side(void **state)
{
	struct sl_profile p = with_ceilings(visit_of(1000, 0, 10), 0.5);
	struct sl_operation ops[2] = {operations[0], operations[1]};
	const struct sl_sweep_point *point;
	struct made m;

	(void)state;
	point = side_of(&m, &p);
	assert_int_equal(point->verdict, SL_BOTTLENECK_COMPUTE);
	assert_null(point->verdict_absent);
	p.operations = ops;
	ops[0].share = 0.3;
	ops[1].share = 0.7;
	assert_int_equal(side_of(&m, &p)->verdict, SL_BOTTLENECK_MEMORY);
	ops[0].share = ops[1].share = 0.5;
	assert_int_equal(side_of(&m, &p)->verdict, SL_BOTTLENECK_MIXED);
	ops[0].share = ops[1].share = 0.2;
	point = side_of(&m, &p);
	assert_int_equal(point->verdict, SL_BOTTLENECK_INCONCLUSIVE);
	assert_non_null(strstr(point->verdict_absent, "less than 60 %"));
	/* Where the time went is open when the times do not add up. */
	p.operations = operations;
	p.ledger.is_closed = 0;
	point = side_of(&m, &p);
	assert_int_equal(point->verdict, SL_BOTTLENECK_INCONCLUSIVE);
	assert_non_null(strstr(point->verdict_absent, "add up"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_efficiency_of_another_type),
		cmocka_unit_test(test_repeats),
		cmocka_unit_test(test_facts_are_replaced),
		cmocka_unit_test(test_energy),
		cmocka_unit_test(test_side),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
