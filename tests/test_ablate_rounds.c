/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_ablate_rounds.c - rounds of passes with and without steps, by a script:
 * what a step takes is what leaving it out is worth, to the nanosecond, and
 * what ends the rounds.
 */
#include "planned_graph.h"
#include "scripted_plan.h"
#include "experiment/ablate.h"

enum { STEPS = 4, READING_NS = 100, PASS_NS = 10000000 };

static const char chain[] = "in x f32 8,16\n"
			    "const w f32 16,16 = random\n"
			    "a = MatMul x w\n"
			    "b = Softmax a axis=1\n"
			    "c = MatMul b w\n"
			    "d = Softmax c axis=0\n"
			    "out d\n";
static const size_t steps[STEPS] = {0, 1, 2, 3};

/* A tenth, two, three and four tenths of an iteration of 10 ms. */
struct scene {
	struct planned p;
	struct scripted_instruments script;
	struct scripted_plan plan;
	struct sl__arena arena;
	struct sl__ablate_options how;
	struct sl__ablation targets[STEPS];
	size_t n_targets, n_told;
};

static void
tell(const struct sl_progress *now, void *ctx)
{
	struct scene *s = ctx;

	assert_string_equal(now->what, "leaving operations out");
	assert_int_equal(now->n_done, s->n_told);
	s->n_told++;
}

static void
start(struct scene *s, size_t n_rounds)
{
	static const int64_t matrix[] = {8, 16};

	memset(s, 0, sizeof(*s));
	planned_start(&s->p, chain, 1, SL_PLAN_NO_FUSION);
	planned_fill(&s->p, "x", 2, matrix, 1);
	assert_int_equal(sl_plan_run(s->p.plan, NULL), SL_OK);
	script_instruments(&s->script, READING_NS);
	script_plan(&s->plan, s->p.plan, &s->script.time, 0);
	assert_int_equal(s->plan.n, STEPS);
	sl__arena_init(&s->arena, NULL);
	for (size_t i = 0; i < STEPS; i++) {
		s->plan.ns[i] = PASS_NS * (double)(i + 1) / 10;
		s->targets[i].steps = &steps[i];
		s->targets[i].n_steps = 1;
		s->targets[i].share = (double)(i + 1) / 10;
	}
	s->n_targets = STEPS;
	s->how = (struct sl__ablate_options){
		.time_s = 60,
		.iteration_ns = PASS_NS,
		.reading_ns = READING_NS,
		.seed = 1,
		.n_rounds = n_rounds,
		.control = scripted_control(&s->script, tell, s)};
}

static void
finish(struct scene *s)
{
	drop_script(&s->plan);
	sl__arena_release(&s->arena);
	planned_finish(&s->p);
}

static void
ablate(struct scene *s)
{
	struct sl_error err;

	if (sl__ablate(s->targets, s->n_targets, s->p.plan, &s->how, &s->arena,
		       &err))
		fail_msg("%s", err.text);
}

static void
a_step_is_worth_what_it_takes(void **state)
{
	struct scene s;

	(void)state;
	start(&s, 9);
	ablate(&s);
	for (size_t i = 0; i < STEPS; i++) {
		const struct sl__ablation *t = &s.targets[i];
		double limit = 1 / (1 - t->share);

		assert_null(t->absent);
		assert_near(t->full_ns, PASS_NS, 1e-6);
		assert_near(t->ablated_ns, PASS_NS - s.plan.ns[i], 1e-6);
		assert_near(t->limit.value, limit, 1e-9);
		assert_near(t->limit.lo, limit, 1e-9);
		assert_near(t->limit.hi, limit, 1e-9);
		assert_int_equal(t->limit.n, 9);
		assert_near(t->recorded_share.value, t->share, 1e-9);
		assert_near(t->recorded_more.value, 0, 1e-9);
		assert_int_equal(t->recorded_share.n, 9);
	}
	assert_int_equal(s.n_told, 10);
	finish(&s);
}

/* Finding and storing what steps write takes 20 ms.  A round is a full
 * iteration, a recorded one and one without each target, each of them twice:
 * 100 ms for all of them, 58 ms for the first alone. */
static void
time_ends_it(void **state)
{
	struct scene s;

	(void)state;
	start(&s, 0);
	s.how.time_s = 1;
	ablate(&s);
	assert_int_equal(s.targets[STEPS - 1].limit.n, 10);
	finish(&s);
	start(&s, 0);
	s.n_targets = 1;
	s.how.time_s = 0.45;
	s.how.iteration_ns = 1e6;
	ablate(&s);
	assert_null(s.targets[0].absent);
	assert_int_equal(s.targets[0].limit.n, 8);
	finish(&s);
	/* An iteration takes longer than was thought.  Six rounds do not fit into the
	 * time, but into twice the time. */
	start(&s, 0);
	s.n_targets = 1;
	s.how.time_s = 0.25;
	s.how.iteration_ns = 1e6;
	ablate(&s);
	assert_int_equal(s.targets[0].limit.n, 6);
	finish(&s);
	/* Nor into that, where there is no time to record any. */
	start(&s, 0);
	s.n_targets = 1;
	s.how.time_s = 0.05;
	s.how.iteration_ns = 1e6;
	ablate(&s);
	assert_int_equal(s.targets[0].limit.n, 3);
	assert_int_equal(s.targets[0].recorded_share.n, 0);
	finish(&s);
	/* Not one. */
	start(&s, 0);
	s.n_targets = 1;
	s.how.time_s = 0.005;
	s.how.iteration_ns = 1e5;
	ablate(&s);
	assert_string_equal(s.targets[0].absent,
			    "no time was left for an iteration without it");
	finish(&s);
}

/* No more than there is room for. */
static void
room_ends_it(void **state)
{
	struct scene s;

	(void)state;
	start(&s, 2 * SL__ABLATE_ROUNDS_MOST);
	s.n_targets = 1;
	s.how.iteration_ns = 1e9;
	s.how.control.progress = NULL;
	ablate(&s);
	assert_int_equal(s.targets[0].limit.n, SL__ABLATE_ROUNDS_MOST);
	finish(&s);
}

/* A tenth of the rounds moves no median. */
static void
a_disturbed_round_moves_nothing(void **state)
{
	struct sl__ablation calm[STEPS];
	struct scene s;

	(void)state;
	start(&s, 10);
	ablate(&s);
	memcpy(calm, s.targets, sizeof(calm));
	finish(&s);
	start(&s, 10);
	s.plan.slow_at = 2 * STEPS + 4 * 40 + 5;
	ablate(&s);
	assert_true(s.plan.n_all > s.plan.slow_at);
	for (size_t i = 0; i < STEPS; i++) {
		assert_int_equal(s.targets[i].limit.n, 10);
		assert_near(s.targets[i].full_ns, calm[i].full_ns, 0);
		assert_near(s.targets[i].ablated_ns, calm[i].ablated_ns, 0);
		assert_near(s.targets[i].limit.value, calm[i].limit.value, 0);
	}
	finish(&s);
}

/* After four rounds of 2 * 6 iterations, in the first iteration of the fifth:
 * it does not count. */
static void
an_interrupt_cuts_a_round_short(void **state)
{
	struct scene s;

	(void)state;
	start(&s, 1000);
	/* Two iterations find and store; of a round's 48 steps 8 are left out. */
	s.plan.interrupt_at = 2 * STEPS + 4 * 40 + 1;
	ablate(&s);
	for (size_t i = 0; i < STEPS; i++) {
		assert_null(s.targets[i].absent);
		assert_int_equal(s.targets[i].limit.n, 4);
	}
	assert_in_range(s.plan.n_all, 2 * STEPS + 4 * 40 + 3,
			2 * STEPS + 4 * 40 + 2 * STEPS);
	assert_int_equal(s.n_told, 5);
	finish(&s);
	/* While it is found what steps write, while that is stored and in the
	 * first round nothing is known. */
	for (size_t phase = 0; phase < 3; phase++) {
		start(&s, 1000);
		s.plan.interrupt_at = phase * STEPS + 1;
		ablate(&s);
		for (size_t i = 0; i < STEPS; i++)
			assert_string_equal(
				s.targets[i].absent,
				"interrupted before an iteration without it");
		if (phase < 2)
			assert_int_equal(s.plan.n_all, (phase + 1) * STEPS);
		finish(&s);
	}
}

static void
a_failing_step_ends_it(void **state)
{
	struct sl_error err;
	struct scene s;

	(void)state;
	start(&s, 9);
	s.plan.fail_at = 2 * STEPS + 50;
	assert_int_equal(sl__ablate(s.targets, s.n_targets, s.p.plan, &s.how,
				    &s.arena, &err),
			 SL_E_DATA);
	assert_non_null(strstr(err.text, "broken"));
	finish(&s);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_step_is_worth_what_it_takes),
		cmocka_unit_test(time_ends_it),
		cmocka_unit_test(room_ends_it),
		cmocka_unit_test(a_disturbed_round_moves_nothing),
		cmocka_unit_test(an_interrupt_cuts_a_round_short),
		cmocka_unit_test(a_failing_step_ends_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
