/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_diagnose_rounds.c - rounds of experiments on steps, by a script: what
 * is timed, what ends the rounds, what an interrupt leaves.
 */
#include "scripted_plan.h"
#include "experiment/diagnose.h"
#include "graph_text.h"

enum { READING_NS = 100, STEPS = 3 };

static const char chain[] = "opset 13\n"
			    "in x f32 64,64\n"
			    "a = Sigmoid x\n"
			    "b = Softmax a\n"
			    "y = Relu b\n"
			    "out y\n";
static const size_t hot[] = {2, 0}; /* may be run again just so */

struct scene {
	struct graph_text *g;
	struct sl_plan_options plan;
	struct sl__subject_model subject;
	struct scripted_instruments script;
	struct scripted_plan steps;
	struct sl__arena arena;
	struct sl__diagnose_options how;
	struct sl__step_responses out;
	size_t n_told, interrupt_when_told;
};

static void
tell(const struct sl_progress *now, void *ctx)
{
	struct scene *s = ctx;

	assert_string_equal(now->what, "experiments");
	assert_int_equal(now->n_done, s->n_told);
	if (++s->n_told == s->interrupt_when_told)
		s->script.time.interrupted = 1;
}

/*
 * Steps of 1 ms on one thread, so that the plan is its own on a single one.  A
 * round has an iteration in which two steps run twice and one that runs all
 * alone: 8 ms, and 2 ms more in the first, where it is tried whether they may.
 */
static void
start(struct scene *s, double time_s)
{
	struct sl__subject_model_options how = {.plan = &s->plan, .seed = 1};
	struct sl_error err;

	memset(s, 0, sizeof(*s));
	s->plan = (struct sl_plan_options){.struct_size = sizeof(s->plan),
					   .n_threads = 1,
					   .algorithms = SL_ALGORITHMS_FIXED,
					   .flags = SL_PLAN_NO_FUSION |
						    SL_PLAN_NO_CACHE};
	s->g = graph_text_with(chain, NULL);
	sl__arena_init(&s->arena, NULL);
	if (sl__subject_model_open(&s->subject, s->g->graph, &how, &err))
		fail_msg("%s", err.text);
	script_instruments(&s->script, READING_NS);
	script_plan(&s->steps, s->subject.plan, &s->script.time, 1e6);
	assert_int_equal(s->steps.n, STEPS);
	s->how = (struct sl__diagnose_options){
		.steps = hot,
		.n_steps = 2,
		.cache_bytes =
			1, /* no iteration finds what the last one left */
		.time_s = time_s,
		.seed = 1,
		.control = scripted_control(&s->script, tell, s)};
}

static void
finish(struct scene *s)
{
	drop_script(&s->steps);
	sl__subject_model_close(&s->subject);
	sl__arena_release(&s->arena);
	graph_text_free(s->g);
}

static void
diagnose(struct scene *s)
{
	struct sl_error err;

	if (sl__diagnose(&s->out, &s->subject, &s->how, &s->arena, &err))
		fail_msg("%s", err.text);
}

static void
steps_take_what_they_take(void **state)
{
	static const enum sl_condition timed[] = {
		SL_CONDITION_IN_PLACE, SL_CONDITION_WARM, SL_CONDITION_ALONE};
	struct scene s;

	(void)state;
	start(&s, 0.1);
	s.steps.ns[0] = 2e6;
	diagnose(&s);
	assert_int_equal(s.out.n, 2);
	assert_false(s.out.is_interrupted);
	for (size_t i = 0; i < 2; i++) {
		const struct sl_response *r = &s.out.responses[i];

		assert_int_equal(r->step, hot[i]);
		for (size_t k = 0; k < 3; k++) {
			const struct sl_timed *t = &r->at[timed[k]];

			assert_near(t->ns, s.steps.ns[hot[i]], 0);
			assert_near(t->spread, 0, 0);
			assert_int_equal(t->n, s.out.n_rounds);
		}
	}
	assert_int_equal(s.n_told, s.out.n_rounds + 1);
	finish(&s);
}

static void
time_ends_it(void **state)
{
	static const struct {
		double time_s;
		size_t n_rounds;
	} rows[] = {
		{0.050, 6},             /* 10 + 5 * 8 ms */
		{0.049, 6},             /* the round under way is ended */
		{0.042, 5}, {0.015, 3}, /* three, in less than twice the time */
		{0.013, 2}, /* a third would end at 27 ms, on average */
		{1e-9, 2},  /* two in any case */
		{60, 31},   /* no room for more */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct scene s;

		start(&s, rows[i].time_s);
		diagnose(&s);
		assert_int_equal(s.out.n_rounds, rows[i].n_rounds);
		finish(&s);
	}
}

static void
an_interrupt_leaves_what_was_measured(void **state)
{
	struct scene s;

	(void)state;
	/* Before the first iteration. */
	start(&s, 1);
	s.interrupt_when_told = 1;
	diagnose(&s);
	assert_true(s.out.is_interrupted);
	assert_int_equal(s.steps.n_all, 0);
	assert_int_equal(s.out.n_rounds, 0);
	assert_string_equal(s.out.responses[0].at[SL_CONDITION_WARM].absent,
			    "interrupted");
	finish(&s);
	/* Between rounds. */
	start(&s, 1);
	s.interrupt_when_told = 3;
	diagnose(&s);
	assert_true(s.out.is_interrupted);
	assert_int_equal(s.out.n_rounds, 2);
	assert_int_equal(s.steps.n_all, 10 + 8);
	finish(&s);
	/* In the first iteration of the second round: it ends, and is counted. */
	for (uint64_t seed = 1; seed < 5; seed++) {
		size_t n_in_place, n_alone;

		start(&s, 1);
		s.how.seed = seed;
		s.steps.interrupt_at = 10 + 1;
		diagnose(&s);
		assert_true(s.out.is_interrupted);
		assert_int_equal(s.out.n_rounds, 2);
		n_in_place = s.out.responses[0].at[SL_CONDITION_IN_PLACE].n;
		n_alone = s.out.responses[0].at[SL_CONDITION_ALONE].n;
		assert_int_equal(n_in_place + n_alone, 3);
		assert_int_equal(s.steps.n_all, 10 + (n_in_place == 2 ? 5 : 3));
		finish(&s);
	}
}

/* The lower quartile of six rounds does not feel one that was hit, nor does
 * the median. */
static void
a_disturbed_round_moves_nothing(void **state)
{
	struct scene s;

	(void)state;
	start(&s, 1);
	s.steps.slow_at = 10 + 2 * 8 + 3;
	diagnose(&s);
	assert_in_range(s.out.n_rounds, 6, 31);
	for (size_t i = 0; i < 2; i++) {
		for (int c = 0; c < SL_N_CONDITIONS; c++) {
			const struct sl_timed *t = &s.out.responses[i].at[c];

			assert_true(t->absent || t->ns == 1e6);
			assert_true(t->absent || t->spread == 0);
		}
	}
	finish(&s);
}

/* Others took a fifth of the machine while rounds ran. */
static void
what_others_took_is_told(void **state)
{
	struct scene s;

	(void)state;
	start(&s, 0.015);
	s.script.stolen = 1u << 1;
	diagnose(&s);
	assert_near(s.out.noise.steal_share.value, 0.2, 1e-12);
	finish(&s);
}

static void
a_failing_step_ends_it(void **state)
{
	struct sl_error err;
	struct scene s;

	(void)state;
	start(&s, 0.015);
	s.steps.fail_at = 10 + 4;
	assert_int_equal(
		sl__diagnose(&s.out, &s.subject, &s.how, &s.arena, &err),
		SL_E_DATA);
	assert_non_null(strstr(err.text, "broken"));
	finish(&s);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(steps_take_what_they_take),
		cmocka_unit_test(time_ends_it),
		cmocka_unit_test(an_interrupt_leaves_what_was_measured),
		cmocka_unit_test(a_disturbed_round_moves_nothing),
		cmocka_unit_test(what_others_took_is_told),
		cmocka_unit_test(a_failing_step_ends_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
