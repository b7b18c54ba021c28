/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_decode_loop.c - visits to the iterations of a decoding loop, by a
 * script: how many there are, in what order, what ends them and which are made
 * again.
 *
 * A reading of the clock takes 2 ms and nothing else takes time, so that every
 * visit takes as long as any other.
 */
#include "scripted.h"
#include "tiny_decoder.h"
#include "experiment/decode_loop.h"

enum { READING_NS = 2000000, PROMPT = 5, TOKENS = 4, LOOPS = 2 };

struct scene {
	struct sl_graph *graphs[LOOPS];
	struct sl__decode_loop loops[LOOPS];
	size_t n_loops;
	struct scripted_instruments script;
	struct sl__arena arena;
	struct sl__decode_loop_options how;
	struct sl__decode_loop_outcome out;
	size_t n_told, n_visits; /* as they were told */
	size_t interrupt_at;     /* when so many visits are told; 0: never */
	double share;
};

static void
tell(const struct sl_progress *now, void *ctx)
{
	struct scene *s = ctx;

	assert_string_equal(now->what, "decoding");
	assert_true(now->share >= 0 && now->share <= 1);
	assert_true(now->n_done >= s->n_visits);
	s->n_visits = now->n_done;
	s->share = now->share;
	s->n_told++;
	if (s->interrupt_at && now->n_done >= s->interrupt_at)
		s->script.time.interrupted = 1;
}

static void
open_scene(struct scene *s, size_t n_rounds)
{
	static const enum tiny_kind kinds[LOOPS] = {TINY_PLAIN, TINY_STEP};

	memset(s, 0, sizeof(*s));
	sl__arena_init(&s->arena, NULL);
	script_instruments(&s->script, READING_NS);
	s->n_loops = 1;
	for (int i = 0; i < LOOPS; i++) {
		s->graphs[i] = tiny_decoder(kinds[i]);
		assert_int_equal(sl__decoder_open(&s->loops[i].decoder,
						  s->graphs[i], 0, 1, &s->arena,
						  NULL),
				 SL_OK);
	}
	s->how = (struct sl__decode_loop_options){
		.plan = {.struct_size = sizeof(s->how.plan),
			 .n_threads = 1,
			 .algorithms = SL_ALGORITHMS_FIXED,
			 .flags = SL_PLAN_NO_CACHE},
		.prompt = PROMPT,
		.n_tokens = TOKENS,
		.time_s = 60,
		.n_rounds = n_rounds,
		.n_positions = TOKENS,
		.seed = 1,
		.control = scripted_control(&s->script, tell, s)};
}

static void
close_scene(struct scene *s)
{
	for (int i = 0; i < LOOPS; i++) {
		sl__decoder_close(&s->loops[i].decoder);
		sl_graph_free(s->graphs[i]);
	}
	sl__arena_release(&s->arena);
}

static void
measure(struct scene *s)
{
	struct sl_error err;

	if (sl__decode_loops_measure(s->loops, s->n_loops, &s->how, &s->arena,
				     &s->out, &err))
		fail_msg("%s", err.text);
}

/* All visits that stand. */
static size_t
n_kept(const struct scene *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n_loops; i++) {
		const struct sl__decode_timings *raw = &s->loops[i].raw;

		for (size_t k = 0; k < raw->n_points; k++)
			n += raw->points[k].n_visits;
	}
	return n;
}

/* What a visit takes in scripted time. */
static double
visit_s(void)
{
	struct scene s;
	double took_s;

	open_scene(&s, 1);
	measure(&s);
	took_s = (double)s.script.time.now_ns / 1e9 / TOKENS;
	close_scene(&s);
	return took_s;
}

static void
fixed_rounds_visit_everything(void **state)
{
	struct scene s;

	(void)state;
	open_scene(&s, 3);
	s.n_loops = LOOPS;
	measure(&s);
	assert_int_equal(s.out.stopped_by, SL_STOP_RUNS);
	assert_int_equal(s.out.n_rounds, 3);
	/* Four passes without a cache; with one, three over the prompt. */
	assert_int_equal(s.loops[0].raw.n_points, 4);
	assert_int_equal(s.loops[1].raw.n_points, 6);
	for (size_t i = 0; i < LOOPS; i++) {
		for (size_t k = 0; k < s.loops[i].raw.n_points; k++) {
			const struct sl__loop_point *p =
				&s.loops[i].raw.points[k];

			assert_int_equal(p->n_visits, 3);
			/* A sample is one iteration of 2 ms, and 32 are less than
			 * 150 ms. */
			assert_int_equal(p->n_iterations, 3 * 32);
			assert_near(p->visits[2].value, READING_NS, 0);
			assert_near(p->plan_ns, READING_NS, 0);
		}
	}
	assert_int_equal(s.n_visits, 30);
	assert_near(s.share, 1, 1e-12);
	close_scene(&s);
}

/* Samples of 40 ms: four are more than 150 ms, six are the fewest. */
static void
a_visit_has_samples_enough(void **state)
{
	struct scene s;

	(void)state;
	open_scene(&s, 1);
	s.script.time.reading_ns = 40000000;
	measure(&s);
	for (size_t k = 0; k < s.loops[0].raw.n_points; k++)
		assert_int_equal(s.loops[0].raw.points[k].n_iterations, 6);
	close_scene(&s);
	/* And of less than a millisecond several iterations make one. */
	open_scene(&s, 1);
	s.script.time.reading_ns = 400000;
	measure(&s);
	for (size_t k = 0; k < s.loops[0].raw.n_points; k++)
		assert_int_equal(s.loops[0].raw.points[k].n_iterations, 3 * 32);
	close_scene(&s);
}

/* Four points; ten visits fit, and half of another. */
static void
time_ends_later_rounds(void **state)
{
	struct scene s;

	(void)state;
	open_scene(&s, 0);
	s.how.time_s = 10.5 * visit_s();
	measure(&s);
	assert_int_equal(s.out.stopped_by, SL_STOP_TIME);
	assert_int_equal(n_kept(&s), 10);
	assert_int_equal(s.out.n_rounds, 3);
	for (size_t k = 0; k < 4; k++)
		assert_in_range(s.loops[0].raw.points[k].n_visits, 2, 3);
	close_scene(&s);
	/* The first round is made whatever the time. */
	open_scene(&s, 0);
	s.how.time_s = 1e-9;
	measure(&s);
	assert_int_equal(s.out.stopped_by, SL_STOP_TIME);
	assert_int_equal(n_kept(&s), 4);
	assert_int_equal(s.out.n_rounds, 1);
	close_scene(&s);
	/* And there are no more than twelve. */
	open_scene(&s, 0);
	s.how.time_s = 1000 * visit_s();
	measure(&s);
	assert_int_equal(s.out.stopped_by, SL_STOP_RUNS);
	assert_int_equal(n_kept(&s), 4 * SL__LOOP_ROUNDS_MOST);
	assert_int_equal(s.out.n_rounds, SL__LOOP_ROUNDS_MOST);
	close_scene(&s);
}

/* Where positions go by the time: what is left of it for each loop, in visits
 * that take as long as the first. */
static void
positions_follow_from_the_time(void **state)
{
	struct scene s;

	(void)state;
	open_scene(&s, 0);
	s.how.n_tokens = 200;
	s.how.n_positions = 0;
	s.how.time_s = 20 * visit_s();
	measure(&s);
	assert_in_range(s.loops[0].raw.n_points, 18, 22);
	close_scene(&s);
	open_scene(&s, 0);
	s.how.n_tokens = 200;
	s.how.n_positions = 0;
	s.how.time_s = visit_s();
	measure(&s);
	assert_int_equal(s.loops[0].raw.n_points, 4);
	close_scene(&s);
}

/* A visit reads the machine's times when it begins and when it ends, after the
 * one reading at the start of all. */
static uint64_t
stolen_visit(size_t nth)
{
	return 1ull << (2 * nth + 2);
}

static void
disturbed_visits_are_made_again(void **state)
{
	struct scene s;

	(void)state;
	open_scene(&s, 0);
	s.how.time_s = 10.5 * visit_s();
	s.script.stolen = stolen_visit(0) | stolen_visit(5);
	measure(&s);
	assert_int_equal(n_kept(&s), 10);
	assert_int_equal(s.n_visits, 12);
	for (size_t k = 0; k < 4; k++) {
		const struct sl__loop_point *p = &s.loops[0].raw.points[k];

		for (size_t i = 0; i < p->n_visits; i++)
			assert_near(p->disturbance[i], 0, 1e-12);
	}
	close_scene(&s);
	/* No longer than half the time more, and once each. */
	open_scene(&s, 0);
	s.how.time_s = 10.5 * visit_s();
	s.script.stolen = ~0ull;
	measure(&s);
	assert_int_equal(n_kept(&s), 10);
	assert_in_range(s.n_visits, 15, 16);
	close_scene(&s);
	/* None where rounds are fixed. */
	open_scene(&s, 3);
	s.script.stolen = ~0ull;
	measure(&s);
	assert_int_equal(s.n_visits, 12);
	assert_near(s.loops[0].raw.points[1].disturbance[1], 0.2, 1e-12);
	close_scene(&s);
}

static void
an_interrupt_in_each_phase(void **state)
{
	static const struct {
		size_t at, n_kept, n_rounds;
	} rows[] = {
		{1, 1, 0},   /* the first visit of all */
		{3, 3, 1},   /* the first round */
		{6, 6, 2},   /* the second */
		{11, 10, 3}, /* those that are made again */
	};
	struct sl_error err;
	struct scene s;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		open_scene(&s, 0);
		s.how.time_s = 10.5 * visit_s();
		s.script.stolen = ~0ull;
		s.interrupt_at = rows[i].at;
		measure(&s);
		assert_int_equal(s.out.stopped_by, SL_STOP_INTERRUPT);
		assert_int_equal(s.n_visits, rows[i].at);
		assert_int_equal(n_kept(&s), rows[i].n_kept);
		assert_int_equal(s.out.n_rounds, rows[i].n_rounds);
		close_scene(&s);
	}
	/* Before each loop has its first iteration nothing is known. */
	open_scene(&s, 0);
	s.n_loops = LOOPS;
	s.interrupt_at = 1;
	assert_int_equal(sl__decode_loops_measure(s.loops, s.n_loops, &s.how,
						  &s.arena, &s.out, &err),
			 SL_E_INTERRUPTED);
	assert_string_equal(err.text,
			    "interrupted before the first pass of each loop");
	close_scene(&s);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fixed_rounds_visit_everything),
		cmocka_unit_test(a_visit_has_samples_enough),
		cmocka_unit_test(time_ends_later_rounds),
		cmocka_unit_test(positions_follow_from_the_time),
		cmocka_unit_test(disturbed_visits_are_made_again),
		cmocka_unit_test(an_interrupt_in_each_phase),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
