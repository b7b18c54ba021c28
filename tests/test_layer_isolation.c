/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_layer_isolation.c - a layer within its model and alone, by a script:
 * which runs count, and what ends the rounds.
 */
#include "planned_graph.h"
#include "scripted_plan.h"
#include "experiment/layer_isolation.h"

enum { READING_NS = 100, WHOLE_STEPS = 3 };

static const char model[] = "in x f32 8,16\n"
			    "a = Sigmoid x\n"
			    "b = Softmax a axis=1\n"
			    "y = Relu b\n"
			    "out y\n";
static const char layer[] = "in a f32 8,16\n"
			    "b = Softmax a axis=1\n"
			    "out b\n";
/* Steps 1 and 2 are the layer. */
static const unsigned char is_layer[WHOLE_STEPS] = {0, 1, 1};

struct scene {
	struct planned whole, alone;
	struct scripted_instruments script;
	struct scripted_plan whole_steps, alone_steps;
	struct sl__arena arena;
	struct sl__layer_isolation_options what;
	struct sl__layer_isolation_times out;
};

/* Steps of 1, 2 and 3 ms in the model; the layer alone takes 4 ms. */
static void
start(struct scene *s, size_t n_rounds)
{
	static const int64_t matrix[] = {8, 16};

	memset(s, 0, sizeof(*s));
	planned_start(&s->whole, model, 1, SL_PLAN_NO_FUSION);
	planned_start(&s->alone, layer, 1, SL_PLAN_NO_FUSION);
	planned_fill(&s->whole, "x", 2, matrix, 1);
	planned_fill(&s->alone, "a", 2, matrix, 1);
	script_instruments(&s->script, READING_NS);
	script_plan(&s->whole_steps, s->whole.plan, &s->script.time, 0);
	script_plan(&s->alone_steps, s->alone.plan, &s->script.time, 4e6);
	assert_int_equal(s->whole_steps.n, WHOLE_STEPS);
	assert_int_equal(s->alone_steps.n, 1);
	for (size_t i = 0; i < WHOLE_STEPS; i++)
		s->whole_steps.ns[i] = 1e6 * (double)(i + 1);
	sl__arena_init(&s->arena, NULL);
	s->what = (struct sl__layer_isolation_options){
		.whole = s->whole.plan,
		.alone = s->alone.plan,
		.is_layer = is_layer,
		.time_s = 60,
		.n_rounds = n_rounds,
		.seed = 1,
		.control = scripted_control(&s->script, NULL, NULL)};
}

static void
finish(struct scene *s)
{
	drop_script(&s->whole_steps);
	drop_script(&s->alone_steps);
	sl__arena_release(&s->arena);
	planned_finish(&s->whole);
	planned_finish(&s->alone);
}

static void
isolate(struct scene *s)
{
	struct sl_error err;

	if (sl__layer_isolation_measure(&s->out, &s->what, &s->arena, &err))
		fail_msg("%s", err.text);
}

static void
the_layers_steps_count(void **state)
{
	struct scene s;

	(void)state;
	start(&s, 7);
	isolate(&s);
	assert_int_equal(s.out.n, 7);
	/* A step has one reading in it. */
	for (size_t i = 0; i < 7; i++) {
		assert_near(s.out.context_ns[i], 5e6 + 2 * READING_NS, 0);
		assert_near(s.out.alone_ns[i], 4e6 + READING_NS, 0);
	}
	/* Two rounds of warm-up; alone it runs twice. */
	assert_int_equal(s.whole_steps.n_runs[0], 2 + 7);
	assert_int_equal(s.alone_steps.n_runs[0], 2 * (2 + 7));
	finish(&s);
}

/* A disturbance is in the row of its round, on the side that it hit. */
static void
a_disturbed_round_is_one_row(void **state)
{
	struct scene s;

	(void)state;
	start(&s, 7);
	s.whole_steps.slow_at = (2 + 3) * WHOLE_STEPS + 2;
	s.alone_steps.slow_at = 2 * (2 + 5) + 2;
	isolate(&s);
	assert_int_equal(s.out.n, 7);
	for (size_t i = 0; i < 7; i++) {
		assert_near(s.out.context_ns[i],
			    5e6 + 2 * READING_NS + (i == 3 ? SLOW_NS : 0), 0);
		assert_near(s.out.alone_ns[i],
			    4e6 + READING_NS + (i == 5 ? SLOW_NS : 0), 0);
	}
	finish(&s);
	/* The first of the two iterations alone does not count. */
	start(&s, 7);
	s.alone_steps.slow_at = 2 * (2 + 5) + 1;
	isolate(&s);
	assert_near(s.out.alone_ns[5], 4e6 + READING_NS, 0);
	finish(&s);
}

/* A round takes 14 ms, the warm-up two of them. */
static void
time_ends_it(void **state)
{
	struct scene s;

	(void)state;
	start(&s, 0);
	s.what.time_s = 0.15;
	isolate(&s);
	assert_int_equal(s.out.n, 9);
	finish(&s);
	/* Five in any case. */
	start(&s, 0);
	s.what.time_s = 1e-9;
	isolate(&s);
	assert_int_equal(s.out.n, 5);
	finish(&s);
	/* No more than there is room for. */
	start(&s, 5000);
	isolate(&s);
	assert_int_equal(s.out.n, 4096);
	finish(&s);
}

/* A round has 5 steps. */
static void
an_interrupt_in_each_phase(void **state)
{
	struct sl_error err;
	struct scene s;

	(void)state;
	start(&s, 100);
	s.whole_steps.interrupt_at = WHOLE_STEPS + 1; /* the second warm-up */
	assert_int_equal(
		sl__layer_isolation_measure(&s.out, &s.what, &s.arena, &err),
		SL_E_INTERRUPTED);
	assert_string_equal(err.text, "interrupted before the layer was timed");
	assert_int_equal(s.whole_steps.n_all, 2 * WHOLE_STEPS);
	finish(&s);
	/* The fourth that counts: whether it comes to its end depends on who
	 * came first. */
	for (uint64_t seed = 1; seed < 5; seed++) {
		start(&s, 100);
		s.what.seed = seed;
		s.whole_steps.interrupt_at = (2 + 3) * WHOLE_STEPS + 1;
		isolate(&s);
		assert_int_equal(s.whole_steps.n_all, (2 + 4) * WHOLE_STEPS);
		assert_int_equal(s.out.n, s.alone_steps.n_all / 2 - 2);
		assert_in_range(s.out.n, 3, 4);
		finish(&s);
	}
}

static void
a_failing_step_ends_it(void **state)
{
	struct sl_error err;
	struct scene s;

	(void)state;
	for (size_t at = 1; at < 12; at += 5) {
		start(&s, 9);
		s.alone_steps.fail_at = at;
		assert_int_equal(sl__layer_isolation_measure(&s.out, &s.what,
							     &s.arena, &err),
				 SL_E_DATA);
		assert_non_null(strstr(err.text, "broken"));
		finish(&s);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_layers_steps_count),
		cmocka_unit_test(a_disturbed_round_is_one_row),
		cmocka_unit_test(time_ends_it),
		cmocka_unit_test(an_interrupt_in_each_phase),
		cmocka_unit_test(a_failing_step_ends_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
