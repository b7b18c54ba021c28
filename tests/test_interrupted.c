/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_interrupted.c - whatever makes iterations ends in the midst of one when
 * it is interrupted: with what it measured before, or with SL_E_INTERRUPTED
 * where that is nothing.  The caller's flag reaches the plan in each case, and
 * nothing leaks.
 */
#include "graph_text.h"
#include "interrupting.h"

struct fixture {
	struct graph_text *g;
	struct interrupting i;
	struct interrupting_later later;
	struct sl_plan_options plan; /* without a flag of its own */
	struct sl_error err;
};

static void
start(struct fixture *f, const char *text, int at)
{
	memset(f, 0, sizeof(*f));
	f->g = graph_text_with(text, NULL);
	interrupting_init(&f->i, at);
	f->plan = interrupting_plan(&f->i);
	f->plan.interrupt = NULL;
	f->later.what = &f->i;
}

static void
finish(struct fixture *f)
{
	assert_int_equal(f->i.counted.n_out, 0);
	graph_text_free(f->g);
}

static struct sl_profile_options
profile_options(struct fixture *f)
{
	struct sl_profile_options how = {.struct_size = sizeof(how),
					 .plan = &f->plan,
					 .flags = SL_PROFILE_BRIEF,
					 .interrupt = &f->i.flag,
					 .allocator = &f->i.allocator};

	return how;
}

static enum sl_status
try_run(struct fixture *f)
{
	struct sl_run_options how = {.struct_size = sizeof(how),
				     .plan = &f->plan};
	struct sl_run *run;
	enum sl_status rc;

	f->plan.interrupt = &f->i.flag;
	rc = sl_run(&run, f->g->graph, &how, &f->err);
	sl_run_free(run);
	return rc;
}

static enum sl_status
try_profile(struct fixture *f)
{
	struct sl_profile_options how = profile_options(f);
	struct sl_profile *profile;
	enum sl_status rc =
		sl_profile_forward(&profile, f->g->graph, &how, &f->err);

	sl_profile_free(profile);
	return rc;
}

static enum sl_status
try_overhead(struct fixture *f)
{
	struct sl_profile_options how = profile_options(f);
	struct sl_overhead_study *study;
	enum sl_status rc =
		sl_study_overhead(&study, f->g->graph, &how, &f->err);

	sl_overhead_study_free(study);
	return rc;
}

static enum sl_status
try_comparison(struct fixture *f)
{
	const struct sl_model_arm sides[] = {
		{.graph = f->g->graph, .plan = &f->plan},
		{.graph = f->g->graph, .plan = &f->plan}};
	struct sl_model_comparison_options how = {.struct_size = sizeof(how),
						  .interrupt = &f->i.flag,
						  .allocator = &f->i.allocator};
	struct sl_model_comparison *comparison;
	enum sl_status rc =
		sl_compare_models(&comparison, sides, 2, &how, &f->err);

	sl_model_comparison_free(comparison);
	return rc;
}

static enum sl_status
try_sweep(struct fixture *f)
{
	static const int64_t one[] = {1};
	const struct sl_sweep_model model = {.name = "loop",
					     .graph = f->g->graph};
	struct sl_sweep_options how = {.struct_size = sizeof(how),
				       .axis = SL_AXIS_THREADS,
				       .values = one,
				       .n_values = 1,
				       .plan = &f->plan,
				       .flags = SL_PROFILE_NO_CEILINGS,
				       .interrupt = &f->i.flag,
				       .allocator = &f->i.allocator};
	struct sl_sweep *sweep;
	enum sl_status rc = sl_sweep(&sweep, &model, 1, &how, &f->err);

	sl_sweep_free(sweep);
	return rc;
}

static enum sl_status
try_memory(struct fixture *f)
{
	struct sl_memory_use *use;
	enum sl_status rc;

	f->plan.interrupt = &f->i.flag;
	rc = sl_measure_memory(&use, f->g->graph, &f->plan, &f->err);
	sl_memory_use_free(use);
	return rc;
}

static enum sl_status
try_latency(struct fixture *f)
{
	struct sl_measurement *m = NULL;
	struct sl_plan *plan;
	enum sl_status rc;

	f->plan.interrupt = &f->i.flag;
	rc = sl_plan_new(&plan, f->g->graph, &f->plan, &f->err);
	if (!rc)
		rc = sl_plan_fill_inputs(plan, 1, &f->err);
	if (!rc)
		rc = sl_measure_latency(&m, plan, NULL, &f->err);
	sl_measurement_free(m);
	sl_plan_free(plan);
	return rc;
}

/* From planning into the first iteration. */
static void
an_endless_pass_ends_whoever_makes_it(void **state)
{
	static enum sl_status (*const tries[])(struct fixture *) = {
		try_run,   try_profile, try_overhead, try_comparison,
		try_sweep, try_memory,  try_latency,
	};

	(void)state;
	for (size_t t = 0; t < sizeof(tries) / sizeof(tries[0]); t++) {
		for (int at = 1; at < 3000; at = 3 * at + 1) {
			struct fixture f;

			start(&f, endless_text, at);
			assert_int_equal(tries[t](&f), SL_E_INTERRUPTED);
			assert_non_null(strstr(f.err.text, "interrupted"));
			finish(&f);
		}
	}
}

/* Rounds go on until they are interrupted. */
enum { ENDLESSLY = 1 << 30 };

static void
a_profile_keeps_the_rounds_before(void **state)
{
	(void)state;
	for (int k = 1; k < 60; k += 4) {
		struct sl_profile_options how;
		struct sl_profile *p;
		struct fixture f;
		size_t n, n_all;

		start(&f, five_times_text, 0);
		how = profile_options(&f);
		how.n_runs = ENDLESSLY;
		how.progress = interrupt_later;
		how.progress_ctx = &f.later;
		f.later.n_more = k;
		if (sl_profile_forward(&p, f.g->graph, &how, &f.err))
			fail_msg("%s", f.err.text);
		assert_int_equal(p->stopped_by, SL_STOP_INTERRUPT);
		/* How many rounds the progress lets pass is the clock's, and
		 * which of them were disturbed the machine's: these are left
		 * out, as are recorded iterations of the round that was cut. */
		n = (p->latency.n + p->latency.n_warmup) * p->calls_per_sample;
		n_all = p->ledger.n_iterations + p->ledger.n_left_out;
		assert_true(n >= 3 * p->calls_per_sample);
		assert_int_equal(p->n_timed, n);
		assert_in_range(p->ledger.n_iterations, 1, n);
		assert_in_range(n_all, n, n + p->calls_per_sample);
		sl_profile_free(p);
		finish(&f);
	}
}

static void
a_study_of_overhead_keeps_the_rounds_before(void **state)
{
	struct sl_profile_options how;
	struct sl_overhead_study *study;
	struct fixture f;

	(void)state;
	for (int k = 0; k < 10; k++) {
		start(&f, five_times_text, 5000 + 7 * k);
		how = profile_options(&f);
		how.n_runs = ENDLESSLY;
		if (sl_study_overhead(&study, f.g->graph, &how, &f.err))
			fail_msg("%s", f.err.text);
		assert_int_equal(study->stopped_by, SL_STOP_INTERRUPT);
		assert_true(study->n_rounds > 0);
		assert_true(study->bare_ns.value > 0);
		sl_overhead_study_free(study);
		finish(&f);
	}
}

static void
a_comparison_keeps_the_rounds_before(void **state)
{
	(void)state;
	for (int k = 1; k < 200; k += 20) {
		struct sl_model_arm sides[2];
		struct sl_model_comparison_options how = {
			.struct_size = sizeof(how),
			.time_s = 600,
			.min_rounds = ENDLESSLY};
		struct sl_model_comparison *comparison;
		struct fixture f;

		start(&f, five_times_text, 0);
		sides[0] = sides[1] = (struct sl_model_arm){.graph = f.g->graph,
							    .plan = &f.plan};
		how.progress = interrupt_later;
		how.progress_ctx = &f.later;
		how.interrupt = &f.i.flag;
		how.allocator = &f.i.allocator;
		f.later.n_more = k;
		if (sl_compare_models(&comparison, sides, 2, &how, &f.err))
			fail_msg("%s", f.err.text);
		assert_int_equal(comparison->stopped_by, SL_STOP_INTERRUPT);
		assert_true(comparison->sides[0].wall_ns.value > 0);
		sl_model_comparison_free(comparison);
		finish(&f);
	}
}

/* For 'progress': at the third round of the second of two visits. */
static void
interrupt_second_visit(const struct sl_progress *now, void *ctx)
{
	if (now->share >= 0.5)
		interrupt_later(now, ctx);
}

/* The second visit is interrupted; the first one's point stands. */
static void
a_sweep_keeps_the_visits_before(void **state)
{
	static const int64_t one[] = {1};
	struct sl_sweep_options how = {.struct_size = sizeof(how),
				       .axis = SL_AXIS_THREADS,
				       .values = one,
				       .n_values = 1,
				       .n_visits = 2,
				       .n_runs = 40,
				       .flags = SL_PROFILE_NO_CEILINGS,
				       .progress = interrupt_second_visit};

	(void)state;
	for (int k = 1; k < 60; k += 20) {
		struct sl_sweep_model model = {.name = "loop"};
		struct sl_sweep *sweep;
		struct fixture f;

		start(&f, five_times_text, 0);
		f.later.n_more = k;
		model.graph = f.g->graph;
		how.plan = &f.plan;
		how.progress_ctx = &f.later;
		how.interrupt = &f.i.flag;
		how.allocator = &f.i.allocator;
		if (sl_sweep(&sweep, &model, 1, &how, &f.err))
			fail_msg("%s", f.err.text);
		assert_int_equal(sweep->stopped_by, SL_STOP_INTERRUPT);
		assert_int_equal(sweep->series[0].n_measured, 1);
		assert_null(sweep->series[0].points[0].absent);
		sl_sweep_free(sweep);
		finish(&f);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_endless_pass_ends_whoever_makes_it),
		cmocka_unit_test(a_profile_keeps_the_rounds_before),
		cmocka_unit_test(a_study_of_overhead_keeps_the_rounds_before),
		cmocka_unit_test(a_comparison_keeps_the_rounds_before),
		cmocka_unit_test(a_sweep_keeps_the_visits_before),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
