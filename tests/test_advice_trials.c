/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_advice_trials.c - proves that what is worth a trial is tried, that a
 * trial stands beside the bound, that what did not gain is left out and said, that
 * what gained unforeseen is advised, and that plans are tried in rounds.
 */
#include "advised.h"
#include "experiment/try_plans.h"

#include <string.h>

static const struct sl_trial one_thread = {
	.action = SL_TRIAL_THREADS, .value = 1, .from = 1, .to = 2};
static const struct sl_trial fixed = {.action = SL_TRIAL_ALGORITHMS};

/* Another run lies 0.05 further up and down. */
static void
tried(struct advised *m, struct sl_trial trial, double lo, double hi)
{
	double value = (lo + hi) / 2;

	m->trials[m->n_trials++] = (struct sl__plan_trial){
		.trial = trial,
		.gain = {.value = value, .lo = lo, .hi = hi, .n = 9},
		.again = {.value = value,
			  .lo = lo - 0.05,
			  .hi = hi + 0.05,
			  .n = 9}};
}

static void
what_is_tried(void **state)
{
	struct advised m;

	(void)state;
	advised_start(&m);
	advised_add(&m, "s", "Softmax", 900);
	assert_int_equal(sl__advice_trials(m.trials, &m.p, 2), 1);
	assert_int_equal(m.trials[0].trial.action, SL_TRIAL_THREADS);
	assert_int_equal(m.trials[0].trial.value, 1);
	/* More CPUs than threads, and convolutions whose algorithms were
	 * measured. */
	advised_add(&m, "c", "Conv", 900);
	assert_int_equal(sl__advice_trials(m.trials, &m.p, 4), 3);
	assert_int_equal(m.trials[0].trial.value, 4);
	assert_int_equal(m.trials[2].trial.action, SL_TRIAL_ALGORITHMS);
	m.p.n_threads = 1;
	assert_int_equal(sl__advice_trials(m.trials, &m.p, 1), 1);
	advised_finish(&m);
}

static void
gained(void **state)
{
	const struct sl_advice *a;
	struct advised m;

	(void)state;
	advised_start(&m);
	advised_add(&m, "r", "Reorder", 300);
	advised_add(&m, "c", "Conv", 600);
	tried(&m, fixed, 1.10, 1.14);
	tried(&m, one_thread, 1.30, 1.50);
	advised_advise(&m);
	/* The bound from the share is 1 / 0.7. */
	a = advised_must_find(&m, "layout change", 1 / 0.7);
	assert_string_equal(advised_expected(&m, a),
			    "1.12 × [1.05, 1.19] when tried, at most 1.43 ×");
	/* Nobody had proposed it. */
	a = advised_must_find(&m, "one thread", 1.55);
	assert_string_equal(advised_expected(&m, a),
			    "1.40 × [1.25, 1.55] when tried");
	assert_ptr_equal(a, &m.p.advice[0]);
	assert_string_equal(advised_fact(&m, &a->basis),
			    "in 9 rounds of random order it was 1.4 [1.3, 1.5] "
			    "times as fast");
	assert_int_equal(m.p.n_remarks, 0);
	advised_finish(&m);
}

/* Whoever follows it makes a plan of his own: what the trial gained is no bound
 * of that, unless it is more than the bound. */
static void
bound_stays_above_a_trial(void **state)
{
	static const struct sl_trial bf16 = {.action = SL_TRIAL_DTYPE,
					     .dtype = SL_DTYPE_BF16};
	const struct sl_estimate peak = {
		.value = 3e11, .lo = 3e11, .hi = 3e11, .n = 36};
	const struct sl_advice *a;
	struct advised m;

	(void)state;
	advised_start(&m);
	m.p.dtype = SL_DTYPE_F32;
	/* 30,000 FLOPs of 600 ns take 100, and 400 stay. */
	advised_add(&m, "c", "Conv", 600)->executed_flops = 30000;
	advised_add(&m, "s", "Softmax", 300);
	m.p.ceilings.n_peaks = 1;
	m.p.ceilings.peaks[0] = (struct sl_ceiling_peak){.dtype = SL_DTYPE_BF16,
							 .flops_per_s = peak};
	tried(&m, bf16, 1.2, 1.3);
	advised_advise(&m);
	a = advised_must_find(&m, "in bf16", 1000.0 / (400 + 100));
	assert_near(a->measured.hi, 1.35, 1e-12);
	/* More than the bound was seen. */
	m.trials[0].again.hi = 2.1;
	advised_advise(&m);
	advised_must_find(&m, "in bf16", 2.1);
	advised_finish(&m);
}

static void
in_vain(void **state)
{
	struct advised m;

	(void)state;
	advised_start(&m);
	advised_add(&m, "r", "Reorder", 300);
	advised_add(&m, "c", "Conv", 600);
	tried(&m, fixed, 0.90, 1.30); /* 1.10, and perhaps a loss */
	tried(&m, one_thread, 0.60, 0.70);
	advised_advise(&m);
	for (size_t i = 0; i < m.p.n_advice; i++)
		assert_int_not_equal(m.p.advice[i].trial.action,
				     SL_TRIAL_ALGORITHMS);
	assert_int_equal(m.p.n_remarks, 1);
	assert_string_equal(advised_fact(&m, &m.p.remarks[0]),
			    "one thread, fixed algorithms: tried, not faster");
	/* One that was not tried says nothing. */
	m.n_trials = 1;
	m.trials[0].gain.n = 0;
	m.p.n_remarks = 0;
	advised_advise(&m);
	advised_must_find(&m, "layout change", 1 / 0.7);
	assert_int_equal(m.p.n_remarks, 0);
	advised_finish(&m);
}

/* On a real plan: a gain with an interval, and no time for the last one. */
static void
plans(void **state)
{
	struct sl__subject_model_options what = {0};
	struct sl_plan_options plan = {.struct_size = sizeof(plan),
				       .n_threads = 2,
				       .flags = SL_PLAN_NO_CACHE};
	struct sl__try_plans_options how = {
		.time_s = 60, .iteration_ns = 1e5, .seed = 1};
	struct sl__plan_trial trials[2] = {{.trial = one_thread},
					   {.trial = fixed}};
	struct sl__subject_model subject = {0};
	struct sl__arena arena;
	struct sl_graph *graph;
	struct sl_error err;

	(void)state;
	what.plan = &plan;
	sl__arena_init(&arena, NULL);
	assert_int_equal(sl_graph_open(&graph, "lenet5", NULL, &err), SL_OK);
	assert_int_equal(sl__subject_model_open(&subject, graph, &what, &err),
			 SL_OK);
	assert_int_equal(sl__try_plans(trials, 2, &subject, &how, &arena, &err),
			 SL_OK);
	for (size_t i = 0; i < 2; i++) {
		assert_null(trials[i].absent);
		assert_true(trials[i].gain.n >= 6);
		assert_true(trials[i].gain.lo > 0);
		assert_true(trials[i].gain.lo <= trials[i].gain.hi);
		assert_true(trials[i].again.lo <= trials[i].gain.value);
		assert_true(trials[i].again.hi >= trials[i].gain.value);
	}
	memset(&trials[0].gain, 0, sizeof(trials[0].gain));
	how.time_s = 1e-9;
	assert_int_equal(sl__try_plans(trials, 1, &subject, &how, &arena, &err),
			 SL_OK);
	assert_string_equal(trials[0].absent, "no time was left");
	assert_int_equal(trials[0].gain.n, 0);
	sl__subject_model_close(&subject);
	sl_graph_free(graph);
	sl__arena_release(&arena);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_tried),
		cmocka_unit_test(gained),
		cmocka_unit_test(bound_stays_above_a_trial),
		cmocka_unit_test(in_vain),
		cmocka_unit_test(plans),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
