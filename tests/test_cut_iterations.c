/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_cut_iterations.c - experiments on a plan that an interrupt stops in the
 * midst of an iteration: no step runs after it, the round that was cut short
 * does not count, and those before it do.
 */
#include "graph_text.h"
#include "experiment/ablate.h"
#include "experiment/diagnose.h"
#include "experiment/layer_isolation.h"
#include "experiment/subject.h"
#include "experiment/timed_iterations.h"

enum { N_STEPS = 4 };

static const char chain[] = "opset 13\n"
			    "in x f32 8,16\n"
			    "a = Sigmoid x\n"
			    "b = Softmax a axis=1\n"
			    "c = Sigmoid b\n"
			    "y = Softmax c axis=0\n"
			    "out y\n";

static volatile sig_atomic_t flag;
static sl__run_function *originals[N_STEPS];
static const struct sl__step *first_step;
static size_t n_run, stop_at; /* steps */

struct fixture {
	struct graph_text *g;
	struct sl_plan_options plan;
	struct sl__subject_model subject;
	struct sl__arena arena;
	struct sl_error err;
};

static enum sl_status
count_step(struct sl__step *step, struct sl_error *err)
{
	if (++n_run == stop_at)
		flag = 1;
	return originals[step - first_step](step, err);
}

/* Step number 'at' of all that run from now on sets the flag. */
static void
start(struct fixture *f, size_t at)
{
	struct sl__subject_model_options how = {
		.plan = &f->plan, .seed = 1, .interrupt = &flag};
	struct sl__program *p;

	memset(f, 0, sizeof(*f));
	f->plan = (struct sl_plan_options){.struct_size = sizeof(f->plan),
					   .n_threads = 1,
					   .algorithms = SL_ALGORITHMS_FIXED,
					   .flags = SL_PLAN_NO_FUSION |
						    SL_PLAN_NO_CACHE};
	flag = 0;
	n_run = 0;
	stop_at = at;
	f->g = graph_text_with(chain, NULL);
	sl__arena_init(&f->arena, NULL);
	if (sl__subject_model_open(&f->subject, f->g->graph, &how, &f->err))
		fail_msg("%s", f->err.text);
	p = f->subject.plan->current;
	assert_int_equal(p->n_steps, N_STEPS);
	first_step = p->steps;
	for (size_t i = 0; i < N_STEPS; i++) {
		originals[i] = p->steps[i].run;
		p->steps[i].run = count_step;
	}
}

static void
finish(struct fixture *f)
{
	sl__subject_model_close(&f->subject);
	sl__arena_release(&f->arena);
	graph_text_free(f->g);
}

/* Two iterations come first, then rounds of a bare and a recorded one. */
static void
timed_passes(void **state)
{
	struct sl__timed_iterations_options how = {.time_s = 600,
						   .precision = 0.01,
						   .n_runs = 1000000,
						   .seed = 1,
						   .control.interrupt = &flag};
	struct sl__timed_iterations iterations;
	struct fixture f;

	(void)state;
	for (size_t at = 1; at < 2 * N_STEPS; at++) {
		start(&f, at);
		assert_int_equal(sl__timed_iterations_run(&iterations,
							  f.subject.plan, &how,
							  &f.arena, &f.err),
				 SL_E_INTERRUPTED);
		assert_int_equal(n_run, at);
		finish(&f);
	}
	for (size_t at = 100001; at < 100001 + 2 * N_STEPS; at++) {
		start(&f, at);
		if (sl__timed_iterations_run(&iterations, f.subject.plan, &how,
					     &f.arena, &f.err))
			fail_msg("%s", f.err.text);
		/* But for the step that is the last of its iteration. */
		assert_true(n_run == at || (at % N_STEPS == 0));
		assert_int_equal(iterations.stopped_by, SL_STOP_INTERRUPT);
		assert_true(iterations.n_rounds > 0);
		assert_int_equal(iterations.bare.n_seen, iterations.n_rounds);
		/* Whole iterations of the round that was cut short are told. */
		assert_in_range(iterations.n_recorded + iterations.n_left_out,
				iterations.n_rounds *
					iterations.calls_per_sample,
				(iterations.n_rounds + 1) *
					iterations.calls_per_sample);
		finish(&f);
	}
}

/* Two iterations find and store what steps write; a round is a whole iteration,
 * one whose steps are timed, and one without any step. */
static void
ablation(void **state)
{
	static const size_t steps[] = {0, 1, 2, 3};
	const struct sl__ablate_options how = {.time_s = 60,
					       .iteration_ns = 1e9,
					       .reading_ns = 10,
					       .seed = 1,
					       .n_rounds = 9,
					       .control.interrupt = &flag};
	struct fixture f;

	(void)state;
	for (size_t at = 1; at <= 8 * N_STEPS + 1; at++) {
		struct sl__ablation target = {.steps = steps,
					      .n_steps = N_STEPS};
		size_t n_rounds =
			at <= 2 * N_STEPS ? 0 : (at - 1) / (2 * N_STEPS) - 1;

		start(&f, at);
		if (sl__ablate(&target, 1, f.subject.plan, &how, &f.arena,
			       &f.err))
			fail_msg("%s", f.err.text);
		assert_int_equal(n_run, at);
		if (target.absent) {
			assert_non_null(strstr(target.absent, "interrupted"));
			assert_true(n_rounds == 0);
		} else {
			/* The last step of an iteration is not cut short. */
			assert_true(target.limit.n == n_rounds ||
				    (at % (2 * N_STEPS) == 0 &&
				     target.limit.n == n_rounds + 1));
		}
		finish(&f);
	}
}

/* Each step of an iteration is timed by itself, so none of them is lost. */
static void
diagnosis(void **state)
{
	static const size_t steps[] = {0};
	const struct sl__diagnose_options how = {.steps = steps,
						 .n_steps = 1,
						 .time_s = 600,
						 .seed = 1,
						 .control.interrupt = &flag};
	struct fixture f;

	(void)state;
	for (size_t at = 1; at < 60; at += 3) {
		struct sl__step_responses out;

		start(&f, at);
		if (sl__diagnose(&out, &f.subject, &how, &f.arena, &f.err))
			fail_msg("%s", f.err.text);
		/* A step may run a second time at once. */
		assert_true(n_run >= at && n_run <= at + N_STEPS);
		assert_true(out.is_interrupted);
		assert_int_equal(out.n, 1);
		finish(&f);
	}
}

/* Two rounds warm up.  The plan stands for both: three iterations a round. */
static void
isolation(void **state)
{
	static const unsigned char is_layer[N_STEPS] = {1, 1, 0, 0};
	enum { PER_ROUND = 3 * N_STEPS };
	struct fixture f;

	(void)state;
	for (size_t at = 1; at < 5 * PER_ROUND; at += 5) {
		struct sl__layer_isolation_options what = {.is_layer = is_layer,
							   .time_s = 600,
							   .n_rounds = 9,
							   .seed = 1,
							   .control.interrupt =
								   &flag};
		struct sl__layer_isolation_times out;
		enum sl_status rc;

		start(&f, at);
		what.whole = what.alone = f.subject.plan;
		rc = sl__layer_isolation_measure(&out, &what, &f.arena, &f.err);
		if (at < 3 * PER_ROUND)
			assert_int_equal(rc, SL_E_INTERRUPTED);
		else
			assert_int_equal(out.n, at / PER_ROUND - 2);
		assert_int_equal(n_run, at);
		finish(&f);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(timed_passes),
		cmocka_unit_test(ablation),
		cmocka_unit_test(diagnosis),
		cmocka_unit_test(isolation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
