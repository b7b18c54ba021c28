/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_step_counters.c - counters read around steps of a plan, with scripted
 * ones: sums over threads and means over calls come out exactly, and where
 * nothing is counted nothing runs.
 */
#include "scripted_counters.h"
#include "scripted_plan.h"
#include "experiment/step_counters.h"
#include "graph_text.h"
#include "plan_input.h"

#include <signal.h>

static const char chain[] = "opset 13\n"
			    "in x f32 64,64\n"
			    "a = Sigmoid x\n"
			    "b = Softmax a\n"
			    "y = Relu b\n"
			    "out y\n";

enum { THREADS = 2 };
static const size_t hot[] = {2, 0}; /* as given, not as they run */

struct fixture {
	struct graph_text *g;
	struct sl_plan_options plan;
	struct sl__subject_model subject;
	struct sl__arena arena;
	struct scripted_counters script;
	struct scripted_instruments with;
	struct scripted_plan iterations;
	struct sl__counter_backend source;
	struct sl__step_counters_options how;
	struct sl__plan_counter_values counted;
};

static void
start(struct fixture *f)
{
	struct sl__subject_model_options how = {.plan = &f->plan, .seed = 1};
	struct sl_error err;

	memset(f, 0, sizeof(*f));
	f->plan = (struct sl_plan_options){.struct_size = sizeof(f->plan),
					   .n_threads = THREADS,
					   .algorithms = SL_ALGORITHMS_FIXED,
					   .flags = SL_PLAN_NO_FUSION |
						    SL_PLAN_NO_CACHE};
	f->g = graph_text_with(chain, NULL);
	sl__arena_init(&f->arena, NULL);
	if (sl__subject_model_open(&f->subject, f->g->graph, &how, &err))
		fail_msg("%s", err.text);
	f->source = script_counters(&f->script);
	/* Iterations of 3 ms. */
	script_instruments(&f->with, 1);
	script_plan(&f->iterations, f->subject.plan, &f->with.time, 1e6);
	f->how = (struct sl__step_counters_options){
		.steps = hot,
		.n_steps = 2,
		.n_iterations = 2,
		.time_s = 60,
		.source = &f->source,
		.control = scripted_control(&f->with, NULL, NULL)};
}

static void
count(struct fixture *f)
{
	struct sl_error err;

	if (sl__step_counters_measure(&f->counted, &f->subject, &f->how,
				      &f->arena, &err))
		fail_msg("%s", err.text);
	assert_int_equal(f->script.n_open, 0);
}

static void
finish(struct fixture *f)
{
	drop_script(&f->iterations);
	sl__subject_model_close(&f->subject);
	sl__arena_release(&f->arena);
	graph_text_free(f->g);
}

/* A stretch counts 1000 on each thread. */
static void
counts_are_sums_over_threads(void **state)
{
	struct fixture f;

	(void)state;
	start(&f);
	f.script.step[SL_EVENT_CYCLES] = 7000;
	count(&f);
	assert_int_equal(f.counted.n_iterations, 2);
	assert_int_equal(f.counted.n, 2);
	assert_null(f.counted.absent);
	for (size_t i = 0; i < 2; i++) {
		const struct sl_operation_counts *c = &f.counted.counts[i];

		assert_int_equal(c->n_calls, 2);
		assert_near(c->of[SL_EVENT_CYCLES], THREADS * 7000, 1e-6);
		assert_near(c->of[SL_EVENT_L3_MISSES], THREADS * 1000, 1e-6);
	}
	assert_string_equal(f.counted.uses[SL_EVENT_CYCLES].counter, "cycles");
	assert_near(f.counted.uses[SL_EVENT_CYCLES].running_share, 1, 0);
	finish(&f);
}

static void
turns_show_and_scale(void **state)
{
	struct fixture f;

	(void)state;
	start(&f);
	f.script.running_ns = f.script.enabled_ns / 4;
	f.script.starved[SL_EVENT_STALLS] = 1;
	count(&f);
	assert_near(f.counted.uses[SL_EVENT_CYCLES].running_share, 0.25, 1e-12);
	assert_near(f.counted.counts[0].of[SL_EVENT_CYCLES], THREADS * 4000,
		    1e-6);
	assert_non_null(strstr(f.counted.uses[SL_EVENT_STALLS].absent, "turn"));
	assert_null(f.counted.uses[SL_EVENT_STALLS].counter);
	assert_true(isnan(f.counted.counts[0].of[SL_EVENT_STALLS]));
	finish(&f);
}

static void
a_refused_event_leaves_the_others(void **state)
{
	struct fixture f;

	(void)state;
	start(&f);
	f.script.open_errors[SL_EVENT_INSTRUCTIONS] = EBUSY;
	count(&f);
	assert_string_equal(f.counted.uses[SL_EVENT_INSTRUCTIONS].absent,
			    "another program holds the counters");
	assert_true(isnan(f.counted.uses[SL_EVENT_INSTRUCTIONS].running_share));
	assert_true(isnan(f.counted.counts[1].of[SL_EVENT_INSTRUCTIONS]));
	assert_near(f.counted.counts[1].of[SL_EVENT_CYCLES], THREADS * 1000,
		    1e-6);
	finish(&f);
}

static void
without_counters_nothing_runs(void **state)
{
	struct fixture f;

	(void)state;
	start(&f);
	for (int e = 0; e < SL_N_EVENTS; e++)
		f.script.open_errors[e] = ENOENT;
	count(&f);
	assert_int_equal(f.counted.n, 0);
	assert_int_equal(f.counted.n_iterations, 0);
	assert_int_equal(f.script.n_reads, 0);
	assert_non_null(strstr(f.counted.absent, "virtual machine"));
	for (int e = 0; e < SL_N_EVENTS; e++) {
		assert_non_null(f.counted.uses[e].absent);
		assert_true(isnan(f.counted.uses[e].running_share));
	}
	finish(&f);
}

/* Whichever reading it is, of whichever thread. */
static void
a_read_that_fails_ends_it(void **state)
{
	static const size_t nth[] = {1, 8, 20};

	(void)state;
	for (size_t i = 0; i < sizeof(nth) / sizeof(*nth); i++) {
		struct sl_error err;
		struct fixture f;

		start(&f);
		f.script.fail_read_at = nth[i];
		assert_int_equal(sl__step_counters_measure(&f.counted,
							   &f.subject, &f.how,
							   &f.arena, &err),
				 SL_E_MEASURE);
		assert_non_null(strstr(err.text, "cannot be read"));
		assert_int_equal(f.script.n_open, 0);
		finish(&f);
	}
}

/* Iterations of 3 ms, the first of which warms up where two fit into the time;
 * none begins that would not end in it, but the first. */
static void
time_ends_it(void **state)
{
	static const struct {
		double time_s, iteration_ns;
		size_t n_iterations, n_runs;
	} rows[] = {
		{60, 3e6, 10, 11},   /* as many as are wanted */
		{0.0152, 3e6, 4, 5}, /* as many as fit */
		{0.0148, 3e6, 3, 4}, /* and no more */
		{0.0055, 3e6, 1, 1}, /* no time to warm up */
		{60, 1e12, 1, 1},    /* one in any case */
		{0, 3e6, 10, 11},    /* 0.3 s where nothing is said */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct fixture f;

		start(&f);
		f.how.n_iterations = 10;
		f.how.time_s = rows[i].time_s;
		f.how.iteration_ns = rows[i].iteration_ns;
		count(&f);
		assert_int_equal(f.counted.n_iterations, rows[i].n_iterations);
		assert_int_equal(f.counted.counts[0].n_calls,
				 rows[i].n_iterations);
		assert_int_equal(f.iterations.n_runs[0], rows[i].n_runs);
		finish(&f);
	}
}

/* Before everything and in the warm-up it is the reason for nothing; after a
 * iteration what was counted stands. */
static void
an_interrupt_is_a_reason(void **state)
{
	struct fixture f;

	(void)state;
	for (size_t at = 0; at < 2; at++) {
		start(&f);
		f.with.time.interrupted = !at;
		f.iterations.interrupt_at = at;
		count(&f);
		assert_int_equal(f.counted.n, 0);
		assert_int_equal(f.iterations.n_runs[0], at);
		assert_string_equal(f.counted.absent, "interrupted");
		assert_string_equal(f.counted.uses[SL_EVENT_CYCLES].absent,
				    "interrupted");
		finish(&f);
	}
	start(&f);
	f.how.n_iterations = 10;
	f.iterations.interrupt_at = 3 * 3; /* the second that counts */
	count(&f);
	assert_null(f.counted.absent);
	assert_int_equal(f.counted.n_iterations, 2);
	assert_int_equal(f.counted.counts[0].n_calls, 2);
	assert_near(f.counted.counts[0].of[SL_EVENT_CYCLES], THREADS * 1000,
		    1e-6);
	finish(&f);
}

static sl__run_function *original;
static volatile sig_atomic_t is_told;
static int calls_left;

static enum sl_status
run_and_tell(struct sl__step *step, struct sl_error *err)
{
	is_told |= --calls_left == 0;
	return original(step, err);
}

/* Calls count as far as they came, passes when they are whole. */
static void
an_interrupt_cuts_a_pass_short(void **state)
{
	struct sl__program *p;
	struct fixture f;

	(void)state;
	for (int n = 1; n <= 3; n++) {
		start(&f);
		p = f.subject.plan->current;
		p->interrupt = f.how.control.interrupt = &is_told;
		original = p->steps[0].run;
		p->steps[0].run = run_and_tell;
		is_told = 0;
		calls_left = n; /* the first one warms up */
		count(&f);
		assert_int_equal(calls_left, 0);
		assert_int_equal(f.counted.n_iterations, n < 3 ? 0 : 1);
		if (n < 3) {
			assert_string_equal(f.counted.absent, "interrupted");
		} else {
			assert_int_equal(f.counted.counts[0].n_calls, 1);
			assert_int_equal(f.counted.counts[1].n_calls, 2);
		}
		finish(&f);
	}
}

/* The kernel's own readings, of an event that every kernel counts. */
static struct sl__counter_backend kernel;

static int
open_task_clock(const struct sl__counter_code *code, void *ctx)
{
	/* PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK */
	static const struct sl__counter_code clock = {"task-clock", 1, 1, 0, 0};

	(void)code;
	return kernel.open(&clock, ctx);
}

static void
the_threads_of_the_plan_are_counted(void **state)
{
	struct fixture f;

	(void)state;
	start(&f);
	sl__counter_backend_kernel(&kernel);
	f.source = kernel;
	f.source.open = open_task_clock;
	count(&f);
	if (f.counted.absent) { /* a sandbox */
		finish(&f);
		skip();
	}
	assert_true(f.counted.counts[0].of[SL_EVENT_CYCLES] > 0);
	assert_true(f.counted.uses[SL_EVENT_CYCLES].running_share <= 1);
	finish(&f);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts_are_sums_over_threads),
		cmocka_unit_test(turns_show_and_scale),
		cmocka_unit_test(a_refused_event_leaves_the_others),
		cmocka_unit_test(without_counters_nothing_runs),
		cmocka_unit_test(a_read_that_fails_ends_it),
		cmocka_unit_test(time_ends_it),
		cmocka_unit_test(an_interrupt_is_a_reason),
		cmocka_unit_test(an_interrupt_cuts_a_pass_short),
		cmocka_unit_test(the_threads_of_the_plan_are_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
