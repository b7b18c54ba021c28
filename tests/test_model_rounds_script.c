/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_model_rounds_script.c - rounds of models by a script: what decides and
 * ends them, what an interrupt leaves, which rounds do not count.
 */
#include "scripted_plan.h"
#include "base/status.h"
#include "experiment/model_rounds.h"
#include "graph_text.h"

enum { READING_NS = 100, STEPS = 3, WARMUP = 7 };

static const char chain[] = "opset 13\n"
			    "in x f32 8,8\n"
			    "a = Sigmoid x\n"
			    "b = Softmax a\n"
			    "y = Relu b\n"
			    "out y\n";

struct scene {
	struct graph_text *g;
	struct scripted_instruments script;
	struct scripted_plan steps[2];
	struct sl__model_arm sides[2];
	struct sl__arena arena;
	struct sl__model_rounds_options how;
	struct sl__model_rounds out;
	size_t n_told;
	double renew_ns; /* what making plans anew takes */
	size_t n_renewals;
	size_t rounds_at[16]; /* that counted when they were made anew */
};

static void
tell(const struct sl_progress *now, void *ctx)
{
	struct scene *s = ctx;

	assert_string_equal(now->what, "comparing");
	assert_int_equal(now->n_done, s->out.n_counted);
	s->n_told++;
}

/* Steps of 1 ms: an iteration is a slot, and 20 ms of warm-up are seven. */
static void
start(struct scene *s)
{
	struct sl_plan_options how = {.struct_size = sizeof(how),
				      .n_threads = 1,
				      .algorithms = SL_ALGORITHMS_FIXED,
				      .flags = SL_PLAN_NO_FUSION |
					       SL_PLAN_NO_CACHE};
	struct sl_error err;

	memset(s, 0, sizeof(*s));
	s->g = graph_text_with(chain, NULL);
	sl__arena_init(&s->arena, NULL);
	script_instruments(&s->script, READING_NS);
	for (int i = 0; i < 2; i++) {
		struct sl__model_arm *side = &s->sides[i];

		if (sl_plan_new(&side->plan, s->g->graph, &how, &err) ||
		    sl_plan_fill_inputs(side->plan, 1, &err))
			fail_msg("%s", err.text);
		side->n_samples = 1;
		side->side.plan = side->plan;
		side->side.graph = s->g->graph;
		script_plan(&s->steps[i], side->plan, &s->script.time, 1e6);
		s->steps[i].is_idle = 1;
		assert_int_equal(s->steps[i].n, STEPS);
	}
	s->how = (struct sl__model_rounds_options){
		.time_s = 1,
		.margin = 0.01,
		.alpha = 0.05,
		.min_rounds = 50,
		.seed = 1,
		.control = scripted_control(&s->script, tell, s)};
}

static void
finish(struct scene *s)
{
	for (int i = 0; i < 2; i++) {
		drop_script(&s->steps[i]);
		sl_plan_free(s->sides[i].plan);
	}
	sl__arena_release(&s->arena);
	graph_text_free(s->g);
}

static const struct sl__model_rounds *
test(struct scene *s)
{
	struct sl_error err;

	if (sl__model_rounds(&s->out, s->sides, 2, &s->how, &s->arena, &err))
		fail_msg("%s", err.text);
	return &s->out;
}

/* Iterations of both after the warm-up. */
static size_t
n_iterations(const struct scene *s)
{
	return (s->steps[0].n_all + s->steps[1].n_all) / STEPS - 2 * WARMUP;
}

/* Every step takes 10 % longer: seven wins of seven by all three figures, and
 * nothing varies, so that the ratio is known at once.  A second holds 161
 * rounds: 24 groups of six, each of which is one figure. */
static void
a_verdict_ends_it(void **state)
{
	const struct sl__model_rounds *d;
	struct sl_estimate ratio;
	struct scene s;

	(void)state;
	start(&s);
	for (size_t i = 0; i < STEPS; i++)
		s.steps[1].ns[i] = 1.1e6;
	d = test(&s);
	assert_int_equal(d->stopped_by, SL_STOP_VERDICT);
	assert_int_equal(d->n_grouped, 6);
	assert_int_equal(d->n_counted, 7 * 6);
	assert_int_equal(d->tests[1].ensemble.verdict, SL_VERDICT_SLOWER);
	assert_int_equal(n_iterations(&s), 2 * 7 * 6);
	assert_int_equal(s.n_told, 7 * 6 + 1);
	ratio = sl__ensemble_ratio(&d->tests[1].ensemble,
				   SL_COMPARISON_BASIS_WALL, d->scratch);
	assert_near(ratio.value, 1.1, 1e-9);
	/* Readings are taken off: of an iteration, and of each step. */
	assert_near(d->arms[0].last.wall_ns, 3e6, 1e-6);
	assert_near(d->arms[1].last.wall_ns, 3.3e6, 1e-6);
	assert_near(d->arms[1].last.step_ns[1], 1.1e6, 1e-6);
	/* CPU time is scripted time, with all its readings. */
	assert_near(d->arms[0].last.cpu_ns, 3e6 + (STEPS + 3) * READING_NS,
		    READING_NS);
	finish(&s);
}

/* A ratio that varies takes the least number of rounds. */
static void
a_verdict_takes_rounds(void **state)
{
	const struct sl__model_rounds *d;
	struct scene s;

	(void)state;
	start(&s);
	s.steps[0].noise = s.steps[1].noise = 0.2;
	for (size_t i = 0; i < STEPS; i++)
		s.steps[1].ns[i] = 2e6;
	d = test(&s);
	assert_int_equal(d->stopped_by, SL_STOP_VERDICT);
	assert_int_equal(d->n_counted, 50);
	finish(&s);
}

/* Rounds of 6 ms and some readings, which the time cuts short: with 100 ms
 * sixteen are whole and the first slot of another begins at 96 ms; with
 * 98 ms both of that do. */
static void
time_ends_it(void **state)
{
	static const double times_s[] = {0.0985, 0.1001};
	const struct sl__model_rounds *d;
	struct scene s;

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		start(&s);
		s.how.alpha = 1e-300; /* nothing is ever decided */
		s.how.time_s = times_s[i];
		d = test(&s);
		assert_int_equal(d->stopped_by, SL_STOP_TIME);
		assert_int_equal(d->n_counted, 16 + i);
		assert_int_equal(n_iterations(&s), 2 * 16 + 1 + i);
		assert_near(d->elapsed_s, times_s[i], 0.004);
		finish(&s);
	}
	/* The first round is played to its end. */
	start(&s);
	s.how.time_s = 1e-9;
	d = test(&s);
	assert_int_equal(d->stopped_by, SL_STOP_TIME);
	assert_int_equal(d->n_counted, 1);
	finish(&s);
}

static void
disturbed_rounds_do_not_count(void **state)
{
	const struct sl__model_rounds *d;
	struct scene s;

	(void)state;
	start(&s);
	s.how.alpha = 1e-300;
	s.how.time_s = 0.2;
	/* Rounds 3 and 8, by one slot each. */
	s.script.disturbed = 1u << 6 | 1u << 17;
	d = test(&s);
	assert_int_equal(d->n_disturbed, 2);
	assert_int_equal(d->n_left_out, 2);
	assert_int_equal(d->n_counted + 2, d->n_taken);
	assert_int_equal(d->noise.n_disturbed, 2);
	assert_int_equal(d->n_rows, d->n_counted);
	assert_int_equal(d->tests[1].ensemble.members[0].n, d->n_counted);
	finish(&s);
}

static void
an_interrupt_in_each_phase(void **state)
{
	const struct sl__model_rounds *d;
	struct sl_error err;
	struct scene s;

	(void)state;
	/* In the warm-up of the second. */
	start(&s);
	s.steps[1].interrupt_at = 5;
	assert_int_equal(
		sl__model_rounds(&s.out, s.sides, 2, &s.how, &s.arena, &err),
		SL_E_INTERRUPTED);
	assert_string_equal(err.text, "interrupted before the first round");
	assert_int_equal(s.steps[1].n_all, 2 * STEPS);
	finish(&s);
	/* In the fourth round, and in the first: whether these are whole
	 * depends on who was first. */
	for (uint64_t seed = 1; seed < 5; seed++) {
		enum sl_status rc;

		start(&s);
		s.how.seed = seed;
		s.steps[1].interrupt_at = WARMUP * STEPS + 1;
		rc = sl__model_rounds(&s.out, s.sides, 2, &s.how, &s.arena,
				      &err);
		assert_int_equal(rc, n_iterations(&s) == 2 ? SL_OK
							   : SL_E_INTERRUPTED);
		finish(&s);
		start(&s);
		s.how.seed = seed;
		s.how.alpha = 1e-300;
		s.steps[1].interrupt_at = (WARMUP + 3) * STEPS + 1;
		d = test(&s);
		assert_int_equal(d->stopped_by, SL_STOP_INTERRUPT);
		assert_int_equal(d->n_counted, n_iterations(&s) / 2);
		assert_in_range(d->n_counted, 3, 4);
		finish(&s);
	}
}

static void
a_failing_step_ends_it(void **state)
{
	static const size_t at[] = {1, WARMUP * STEPS + 2};
	struct sl_error err;
	struct scene s;

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		start(&s);
		s.steps[1].fail_at = at[i];
		assert_int_equal(sl__model_rounds(&s.out, s.sides, 2, &s.how,
						  &s.arena, &err),
				 SL_E_DATA);
		assert_non_null(strstr(err.text, "broken"));
		finish(&s);
	}
}

static enum sl_status
renew(struct sl__model_arm *sides, size_t n, size_t *n_renewed, void *ctx,
      struct sl_error *err)
{
	struct scene *s = ctx;

	(void)sides;
	(void)err;
	s->rounds_at[s->n_renewals++] = s->out.n_counted;
	s->script.time.now_ns += (uint64_t)s->renew_ns;
	*n_renewed = n;
	return SL_OK;
}

/* Making plans anew takes two fifths of the time at most: of 2 s, 0.8 s, where
 * each time takes 100 ms and two iterations of each that warm them up. */
static void
renewing_keeps_to_its_share(void **state)
{
	const struct sl__model_rounds *d;
	struct scene s;

	(void)state;
	start(&s);
	s.how.alpha = 1e-300;
	s.how.time_s = 2;
	s.how.min_rounds = 12;
	s.how.renew = renew;
	s.how.renew_ctx = &s;
	s.renew_ns = s.how.renew_ns = 100e6;
	d = test(&s);
	assert_int_equal(d->is_placed, 1);
	assert_int_equal(s.n_renewals, 7);
	assert_int_equal(d->n_placements, 8);
	/* 2 s less 7 * 112 ms hold 202 rounds. */
	assert_in_range(d->n_counted, 200, 203);
	/* Placements have whole groups, and as many rounds as each other, but
	 * for the last. */
	for (size_t i = 0; i < s.n_renewals; i++) {
		size_t before = i ? s.rounds_at[i - 1] : 0;

		assert_int_equal(s.rounds_at[i] % d->n_grouped, 0);
		assert_in_range(s.rounds_at[i] - before, 21, 35);
	}
	finish(&s);
}

/* Rounds of 6 ms, of which 24 groups of 15 are wanted. */
static void
time_may_be_longer_for_long_models(void **state)
{
	static const struct {
		double most_s, took_s;
	} rows[] = {{0, 0.1}, {10, 2.16}, {1, 1}};
	const struct sl__model_rounds *d;
	struct scene s;

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		start(&s);
		s.how.alpha = 1e-300;
		s.how.time_s = 0.1;
		s.how.most_time_s = rows[i].most_s;
		d = test(&s);
		assert_int_equal(d->stopped_by, SL_STOP_TIME);
		assert_near(d->elapsed_s, rows[i].took_s, 0.02);
		finish(&s);
	}
}

static void
rounds_make_groups_where_iterations_are_long(void **state)
{
	(void)state;
	assert_int_equal(sl__rounds_grouped(5, 2e6, 1), 15);
	assert_int_equal(sl__rounds_grouped(5, 20e6, 1), 10);
	assert_int_equal(sl__rounds_grouped(5, 200e6, 1), 1);
	assert_int_equal(sl__rounds_grouped(5, 2e6, 3), 1);
}

/* Rounds that are left over are the last group. */
static void
groups_hold_all_rounds(void **state)
{
	const struct sl__model_rounds *d;
	struct scene s;

	(void)state;
	start(&s);
	s.how.alpha = 1e-300;
	d = test(&s);
	assert_true(d->n_grouped > 1);
	assert_true(d->n_counted % d->n_grouped != 0);
	assert_int_equal(d->tests[1].ensemble.members[0].n,
			 d->n_counted / d->n_grouped + 1);
	finish(&s);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_verdict_ends_it),
		cmocka_unit_test(a_verdict_takes_rounds),
		cmocka_unit_test(time_ends_it),
		cmocka_unit_test(disturbed_rounds_do_not_count),
		cmocka_unit_test(an_interrupt_in_each_phase),
		cmocka_unit_test(a_failing_step_ends_it),
		cmocka_unit_test(renewing_keeps_to_its_share),
		cmocka_unit_test(time_may_be_longer_for_long_models),
		cmocka_unit_test(rounds_make_groups_where_iterations_are_long),
		cmocka_unit_test(groups_hold_all_rounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
