/* SPDX-License-Identifier: Apache-2.0 */
/* test_sweep_narrative.c - sentences about sweeps that are made up. */
#include "harness.h"

#include "report/sweep_narrative.h"
#include "result/sweep_laws.h"

enum { POINTS = 8 };

struct made {
	struct sl_sweep sweep;
	struct sl_sweep_series series[2];
	struct sl_sweep_point points[2][POINTS];
	struct sl_sweep_exponent laws[2];
};

static struct sl_estimate
about(double value)
{
	return (struct sl_estimate){.value = value,
				    .lo = 0.99 * value,
				    .hi = 1.01 * value,
				    .n = 3,
				    .method = SL_METHOD_STUDENT};
}

/* A point that takes as many ms as its size. */
static struct sl_sweep_point
point_of(int64_t value, double rate)
{
	return (struct sl_sweep_point){.value = value,
				       .n_visits = 3,
				       .latency_ns = about(1e6 * (double)value),
				       .rate_per_s = about(rate)};
}

static void
set_absent(struct sl_sweep_point *p)
{
	p->absent = "no memory";
	p->latency_ns = p->rate_per_s = (struct sl_estimate){
		.value = (double)NAN, .lo = (double)NAN, .hi = (double)NAN};
}

static void
make(struct made *m, enum sl_axis axis)
{
	memset(m, 0, sizeof(*m));
	m->sweep = (struct sl_sweep){
		.axis = axis, .series = m->series, .n_series = 2};
	m->laws[0] = (struct sl_sweep_exponent){.absent = "not looked at"};
	m->laws[1] = m->laws[0];
	for (size_t s = 0; s < 2; s++) {
		for (size_t i = 0; i < POINTS; i++)
			m->points[s][i] = point_of((int64_t)1 << i,
						   100 * (double)(s + 1));
		m->series[s] = (struct sl_sweep_series){
			.name = s ? "b" : "a",
			.points = m->points[s],
			.n_points = POINTS,
			.n_measured = POINTS,
			.exponents = m->laws,
			.n_exponents = 2,
			.knee = {.absent = "not looked for"},
			.best = {.absent = "none"}};
	}
}

static int
says(struct sl__narrative *told, const char *text)
{
	int is_said = 0;

	assert_false(told->has_failed);
	for (size_t i = 0; i < told->n; i++)
		is_said |= strstr(told->list[i], text) != NULL;
	sl__narrative_release(told);
	return is_said;
}

static int
tells(struct made *m, const char *text)
{
	struct sl__narrative told;

	sl__narrative_init(&told, NULL);
	sl__sweep_narrate(&told, &m->sweep, &m->series[0]);
	return says(&told, text);
}

static int
tells_all(struct made *m, const char *text)
{
	struct sl__narrative told;

	sl__narrative_init(&told, NULL);
	sl__sweep_narrate_all(&told, &m->sweep);
	return says(&told, text);
}

/* 2 to 64 of 1 to 128. */
static void
make_shorter(struct made *m, enum sl_axis axis)
{
	make(m, axis);
	set_absent(&m->points[0][0]);
	set_absent(&m->points[0][POINTS - 1]);
	m->series[0].n_measured = POINTS - 2;
}

static void
test_shares_are_of_measured_points(void **state)
{
	struct made m;

	(void)state;
	make_shorter(&m, SL_AXIS_SEQ);
	m.laws[1] = (struct sl_sweep_exponent){.figure = SL_SWEEP_KIND,
					       .type = "Conv",
					       .share_first = 0.25,
					       .share_last = 0.75,
					       .exponent = about(2),
					       .formula = (double)NAN};
	assert_true(tells(&m, "25.0 % of the operations' time at seq 2, 75.0 % "
			      "at 64."));
	assert_false(tells(&m, "at 128."));
}

/* A fixed 8 ms of 8 + n. */
static void
test_fixed_cost_is_of_measured_points(void **state)
{
	struct made m;

	(void)state;
	make_shorter(&m, SL_AXIS_BATCH);
	m.laws[0] = (struct sl_sweep_exponent){.exponent = about(1),
					       .offset = 8e6,
					       .scale = 1e6,
					       .formula = (double)NAN};
	m.laws[0].exponent.value = 1;
	assert_true(tells(
		&m, "80 % of the fitted time at batch 2 and 11 % at 64."));
	m.laws[0].tail = about(1);
	m.laws[0].tail_from = 32;
	assert_true(tells(&m, "80 % of the fitted time at batch 2."));
}

static void
test_no_knee_up_to_what_was_measured(void **state)
{
	struct made m;

	(void)state;
	make_shorter(&m, SL_AXIS_BATCH);
	m.series[0].knee =
		(struct sl_sweep_knee){.is_proved = 1, .gain = about(0.5)};
	assert_true(tells(&m, "No knee up to batch 64:"));
}

static void
test_nothing_measured(void **state)
{
	struct made m;

	(void)state;
	make(&m, SL_AXIS_THREADS);
	for (size_t i = 0; i < POINTS; i++)
		set_absent(&m.points[0][i]);
	m.series[0].n_measured = 0;
	m.series[0].knee.absent = NULL;
	assert_false(tells(&m, "knee"));
	assert_false(tells(&m, "× as fast"));
}

static void
test_ratios(void **state)
{
	struct made m;
	struct sl_sweep_point *p;

	(void)state;
	make(&m, SL_AXIS_THREADS);
	p = &m.points[0][POINTS - 1];
	p->latency_ns = about(0.5e6);
	assert_true(tells(&m, "128 threads are 2.00 [1.96, 2.04] × as fast as "
			      "1: a parallel efficiency of 2 %."));
	p->latency_ns.lo = p->latency_ns.hi = (double)NAN;
	p->latency_ns.needs_n = 6;
	assert_true(tells(&m, "128 threads are 2.00 (no interval) × as fast as "
			      "1: a parallel efficiency of 2 %."));
	assert_false(tells(&m, "nan"));
	assert_true(tells_all(&m, "b does 2.00 [1.96, 2.04] × as many "
				  "samples/s as a."));
	m.points[1][0].rate_per_s.lo = m.points[1][0].rate_per_s.hi =
		(double)NAN;
	assert_true(tells_all(&m,
			      "At 1 thread, b does 2.00 (no interval) "
			      "× as many samples/s as a (not significant)."));
	assert_false(tells_all(&m, "nan"));
}

/* 'n' of the 24 visits, those to the first points first. */
static void
disturb(struct made *m, size_t n)
{
	for (size_t i = 0; i < POINTS; i++) {
		m->points[0][i].n_disturbed = n < 3 ? n : 3;
		n -= m->points[0][i].n_disturbed;
	}
}

static void
test_no_causes_where_most_is_disturbed(void **state)
{
	struct made m;

	(void)state;
	make(&m, SL_AXIS_BATCH);
	m.laws[0] = (struct sl_sweep_exponent){.exponent = about(3.41),
					       .formula = 1};
	m.series[0].knee = (struct sl_sweep_knee){.at = 4, .gain = about(0.05)};
	disturb(&m, 12);
	assert_true(tells(&m, "each operation costs more at larger sizes"));
	assert_true(tells(&m, "Background load disturbed 12 of 24 visits"));
	assert_true(tells(&m, "It disturbed every visit to 4 sizes: the growth "
			      "laws leave them out."));
	disturb(&m, 13);
	assert_true(tells(
		&m, "Background load disturbed 13 of 24 visits, so the growth "
		    "is not reliable. Repeat on an idle machine."));
	assert_false(tells(&m, "costs more"));
	assert_false(tells(&m, "exponent"));
	assert_false(tells(&m, "Knee"));
	assert_false(tells(&m, "intervals are wider"));
	/* The other model was not disturbed: 13 of 48. */
	assert_false(tells_all(&m, "not significant"));
	for (size_t i = 0; i < POINTS; i++)
		m.points[1][i].n_disturbed = 2;
	assert_true(tells_all(&m, "samples/s as a (not significant)."));
}

/* Overlap is no proof of equality, and is not said to be one. */
static void
test_best_and_what_may_be_as_good(void **state)
{
	struct made m;

	(void)state;
	make(&m, SL_AXIS_BATCH);
	m.series[0].best = (struct sl_sweep_best){.point = 2, .at = 4};
	for (size_t i = 0; i < POINTS; i++)
		m.points[0][i].rate_per_s = about(i == 2 ? 1000 : 10);
	assert_false(tells(&m, "distinguishable"));
	m.points[0][3].rate_per_s.hi = 2000;
	m.points[0][5].rate_per_s.hi = 991;
	assert_true(tells(
		&m, "Best: batch 4 with 1.00 ksamples/s, 4 ms per iteration; "
		    "not distinguishable from it (intervals overlap): batch 8, "
		    "32."));
}

static void
test_a_loss_is_no_gain(void **state)
{
	struct made m;

	(void)state;
	make(&m, SL_AXIS_BATCH);
	m.series[0].knee = (struct sl_sweep_knee){
		.at = 4,
		.is_proved = 1,
		.gain = {.value = -0.4, .lo = -0.5, .hi = -0.3, .n = 3}};
	assert_true(tells(&m, "Knee at batch 4: a doubling from there lowers "
			      "samples/s by 40 % [30, 50]."));
	m.series[0].knee.gain.hi = 0.05;
	assert_true(tells(
		&m, "a doubling from there changes samples/s by -40 % [-50, "
		    "5]."));
	m.series[0].knee.gain = about(0.05);
	assert_true(tells(&m, "a doubling from there raises samples/s by 5 % "
			      "[5, 5], below the 10 % threshold."));
}

static void
test_rest_is_counted_apart(void **state)
{
	struct made m;

	(void)state;
	make(&m, SL_AXIS_BATCH);
	for (size_t i = 0; i < 5; i++)
		m.points[0][i].note = "it failed";
	for (size_t i = 5; i < POINTS; i++)
		set_absent(&m.points[0][i]);
	assert_true(tells(&m, "batch 4 was measured less often: it failed."));
	assert_false(tells(&m, "batch 8 "));
	assert_true(tells(&m, "And 3 more points were not measured."));
	assert_true(tells(&m, "And 2 more points were measured less often."));
	m.points[0][6].absent = m.points[0][7].absent = NULL;
	assert_true(tells(&m, "And 1 more point was not measured."));
	m.points[0][5].absent = NULL;
	assert_false(tells(&m, "not measured"));
}

/* What a law is of, as tables and documents name it. */
static void
test_laws_have_names(void **state)
{
	struct sl_sweep_exponent law = {.figure = SL_SWEEP_TIME};

	(void)state;
	assert_string_equal(sl__sweep_law_quantity_text(&law), "time");
	law.figure = SL_SWEEP_MEMORY;
	assert_string_equal(sl__sweep_law_quantity_text(&law), "memory");
	law.figure = SL_SWEEP_FLOPS;
	assert_string_equal(sl__sweep_law_quantity_text(&law), "flops");
	law.figure = SL_SWEEP_KIND;
	law.kind = SL_SWEEP_KIND_ATTENTION;
	assert_string_equal(sl__sweep_law_quantity_text(&law),
			    "attention matmuls");
	law.kind = SL_SWEEP_KIND_OTHERS;
	assert_string_equal(sl__sweep_law_quantity_text(&law), "others");
	law.kind = SL_SWEEP_KIND_TYPE;
	law.type = "MatMul";
	assert_string_equal(sl__sweep_law_quantity_text(&law), "MatMul");
}

/* Two points are spoken of where there are several models, none for one. */
static void
test_models_together(void **state)
{
	struct sl__narrative told;
	struct made m;

	(void)state;
	make(&m, SL_AXIS_BATCH);
	sl__narrative_init(&told, NULL);
	sl__sweep_narrate_all(&told, &m.sweep);
	assert_int_equal(told.n, 2);
	sl__narrative_release(&told);
	m.sweep.n_series = 1;
	sl__narrative_init(&told, NULL);
	sl__sweep_narrate_all(&told, &m.sweep);
	assert_int_equal(told.n, 0);
	sl__narrative_release(&told);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shares_are_of_measured_points),
		cmocka_unit_test(test_fixed_cost_is_of_measured_points),
		cmocka_unit_test(test_no_knee_up_to_what_was_measured),
		cmocka_unit_test(test_nothing_measured),
		cmocka_unit_test(test_ratios),
		cmocka_unit_test(test_no_causes_where_most_is_disturbed),
		cmocka_unit_test(test_best_and_what_may_be_as_good),
		cmocka_unit_test(test_a_loss_is_no_gain),
		cmocka_unit_test(test_rest_is_counted_apart),
		cmocka_unit_test(test_laws_have_names),
		cmocka_unit_test(test_models_together),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
