/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_timed_iterations.c - iterations, bare and recorded: counts, time
 * accounting, rows, fixed memory.
 */
#include "iterations_scene.h"
#include "base/status.h"

static void
fixed_numbers_are_exact(void **state)
{
	const struct sl__timed_iterations *p;
	struct taken t;
	double iteration_ns;

	(void)state;
	open_model(&t, 20);
	t.how.n_warmup = 3;
	t.how.n_slowest = 5;
	p = take(&t);
	iteration_ns = STEP_NS * (double)p->n_steps;
	assert_int_equal(p->calls_per_sample, 1);
	assert_int_equal(p->n_rounds, 23);
	assert_int_equal(p->n_recorded, 20);
	assert_int_equal(p->n_left_out, 0);
	assert_int_equal(p->stopped_by, SL_STOP_RUNS);
	assert_int_equal(p->bare.n_seen, 23);
	assert_int_equal(p->cpu.n_seen, 23);
	assert_int_equal(p->extra.more.n_seen, 20);
	assert_int_equal(p->n_steps, sl_plan_n_steps(t.plan));
	assert_near(p->reading_ns, READING_NS, 0);
	assert_near(p->first_ns, iteration_ns, 0);
	assert_near(p->bare.min, iteration_ns, 0);
	assert_near(p->bare.max, iteration_ns, 0);
	assert_near(p->extra.more.min, READING_NS * (double)(p->n_steps + 1),
		    1e-6);
	assert_near(p->wall_ns, 20 * (iteration_ns + p->extra.more.max), 1e-3);
	assert_near(p->gaps_ns, 0, 1e-3);
	for (size_t s = 0; s < p->n_steps; s++) {
		assert_int_equal(p->n_calls[s], 20);
		assert_near(p->step_ns[s], 20.0 * STEP_NS, 1e-3);
	}
	check_kept(p, &p->kept.first);
	check_kept(p, &p->kept.median);
	assert_int_equal(p->kept.first.nth, 0);
	assert_true(p->kept.first.begin == p->origin);
	assert_int_equal(t.n_told, 24);
	for (size_t i = 0; i < t.n_told; i++) {
		assert_string_equal(t.told[i].what, "timing iterations");
		assert_int_equal(t.told[i].n_done, i);
		assert_near(t.told[i].share, (double)i / 23, 1e-12);
		if (i)
			assert_near(t.told[i].median_ns, iteration_ns, 0);
	}
	close_model(&t);
}

static void
the_slowest_are_kept(void **state)
{
	const struct sl__timed_iterations *p;
	struct taken t;

	(void)state;
	open_model(&t, 40);
	t.steps.noise = 0.5;
	t.how.n_slowest = 5;
	p = take(&t);
	assert_int_equal(p->kept.n_slow, 5);
	for (size_t i = 0; i < p->kept.n_slow; i++) {
		check_kept(p, &p->kept.slow[i]);
		assert_true(i == 0 || ticks_of(&p->kept.slow[i]) <=
					      ticks_of(&p->kept.slow[i - 1]));
		for (size_t k = 0; k < i; k++)
			assert_true(p->kept.slow[k].nth != p->kept.slow[i].nth);
	}
	assert_true(ticks_of(&p->kept.median) < ticks_of(&p->kept.slow[0]));
	assert_true(ticks_of(&p->kept.first) <= ticks_of(&p->kept.slow[0]));
	close_model(&t);
}

/* A row for each iteration: its sums, least and largest are those of the table.
 */
static void
rows_add_up(void **state)
{
	const struct sl__timed_iterations *p;
	struct taken t;
	double steps = 0;

	(void)state;
	open_model(&t, 40);
	t.steps.noise = 0.5;
	p = take(&t);
	assert_int_equal(p->n_rows, 40);
	assert_int_equal(p->row_stride, 1);
	for (size_t s = 0; s < p->n_steps; s++) {
		double sum = 0, least = (double)INFINITY, most = 0;

		for (size_t r = 0; r < p->n_rows; r++) {
			double ns = (double)p->rows[r * p->n_steps + s];

			sum += ns;
			least = fmin(least, ns);
			most = fmax(most, ns);
		}
		/* Rows are f32. */
		assert_close(sum, p->step_ns[s], 1e-6);
		assert_close(least, p->step_min_ns[s], 1e-6);
		assert_close(most, p->step_max_ns[s], 1e-6);
		steps += p->step_ns[s];
	}
	/* An iteration has one reading taken off, each of its parts one too. */
	assert_near(p->wall_ns - steps - p->gaps_ns,
		    40 * (double)(p->n_steps + 1) * READING_NS, 1);
	close_model(&t);
}

/* Rows thin out as samples do. */
static void
rows_are_thinned(void **state)
{
	enum { STEPS_MOST = 16 };
	static float rows[200 * STEPS_MOST];
	const struct sl__timed_iterations *p;
	struct taken t;

	(void)state;
	open_model(&t, 200);
	t.steps.noise = 0.5;
	p = take(&t);
	assert_int_equal(p->row_stride, 1);
	assert_true(p->n_steps <= STEPS_MOST);
	memcpy(rows, p->rows, 200 * p->n_steps * sizeof(*rows));
	close_model(&t);
	open_model(&t, 700);
	t.steps.noise = 0.5;
	p = take(&t);
	assert_int_equal(n_taken(p), 700);
	/* Every fourth is left, and is that iteration. */
	assert_int_equal(p->row_stride, 4);
	for (size_t r = 0; r < 200 / 4; r++)
		assert_memory_equal(p->rows + r * p->n_steps,
				    rows + 4 * r * p->n_steps,
				    p->n_steps * sizeof(*rows));
	assert_true(p->n_rows <= SL__ITERATIONS_ROWS &&
		    p->n_rows >= SL__ITERATIONS_ROWS / 2);
	assert_int_equal(p->n_rows,
			 (n_taken(p) + p->row_stride - 1) / p->row_stride);
	assert_int_equal(p->kept.n_slow, 0);
	close_model(&t);
}

/* As many bytes are asked for, however many iterations there are. */
static void
memory_does_not_grow(void **state)
{
	static const size_t runs[] = {1000, 100000};
	uint64_t n_bytes[2];
	size_t n_requests[2];
	struct taken t;

	(void)state;
	open_model(&t, 0);
	t.how.n_slowest = 3;
	for (int i = 0; i < 2; i++) {
		struct adding before = t.adding;

		t.how.n_runs = runs[i];
		take(&t);
		assert_int_equal(t.iterations.n_rounds, runs[i]);
		n_bytes[i] = t.adding.n_bytes - before.n_bytes;
		n_requests[i] = t.adding.n_requests - before.n_requests;
		sl__arena_release(&t.arena);
	}
	assert_true(n_bytes[0] > 0);
	assert_int_equal(n_bytes[0], n_bytes[1]);
	assert_int_equal(n_requests[0], n_requests[1]);
	/* Samples of the longer run were thinned on the way. */
	assert_int_equal(t.iterations.bare.stride, 2);
	assert_int_equal(t.iterations.bare.n_seen, 100000);
	assert_int_equal(t.iterations.bare.n, 50000);
	close_model(&t);
}

enum { FEED_NS = 3 * STEP_NS };

/* Every other time twice as long: what varies is none of recording's cost. */
static enum sl_status
feed_slowly(void *ctx, struct sl_error *err)
{
	struct taken *t = ctx;
	size_t nth = t->steps.n_all / t->steps.n;

	(void)err;
	t->script.time.now_ns += nth % 2 ? FEED_NS : 2 * FEED_NS;
	return SL_OK;
}

/* What feeds iterations is a step behind those of the plan, part of bare and
 * of recorded ones. */
static void
feeding_is_a_step(void **state)
{
	const struct sl__timed_iterations *p;
	const struct sl__timestamp *m;
	double steps_ns, fed;
	struct taken t;
	size_t last;

	(void)state;
	open_model(&t, 20);
	t.how.feed = feed_slowly;
	t.how.feed_ctx = &t;
	p = take(&t);
	last = sl_plan_n_steps(t.plan);
	steps_ns = STEP_NS * (double)last;
	assert_int_equal(p->n_steps, last + 1);
	assert_int_equal(p->n_calls[last], 20);
	fed = p->step_ns[last];
	assert_true(fed >= 20.0 * FEED_NS && fed <= 40.0 * FEED_NS);
	assert_near(p->step_min_ns[last], FEED_NS, 1e-3);
	assert_near(p->step_max_ns[last], 2 * FEED_NS, 1e-3);
	for (size_t s = 0; s < last; s++)
		assert_near(p->step_ns[s], 20.0 * STEP_NS, 1e-3);
	assert_near(p->bare.min, steps_ns + FEED_NS, 2 * READING_NS);
	assert_near(p->bare.max, steps_ns + 2 * FEED_NS, 2 * READING_NS);
	/* Recording costs a reading for each mark, as without feeding. */
	assert_near(p->extra.more.min, READING_NS * (double)(last + 1), 200);
	assert_near(p->extra.more.max, READING_NS * (double)(last + 1), 200);
	/* A kept iteration begins with it, and the first step follows. */
	m = p->kept.first.events.stamps;
	assert_int_equal(m[0].step, last);
	assert_int_equal(m[1].step, 0);
	assert_true(m[0].ticks >= p->kept.first.begin);
	close_model(&t);
}

static enum sl_status
feed_nothing(void *ctx, struct sl_error *err)
{
	(void)ctx;
	return sl__fail(err, SL_E_DATA, "no more of it");
}

static void
failing_feed_ends_it(void **state)
{
	struct sl_error err;
	struct taken t;

	(void)state;
	open_model(&t, 20);
	t.how.feed = feed_nothing;
	assert_int_equal(sl__timed_iterations_run(&t.iterations, t.plan, &t.how,
						  &t.arena, &err),
			 SL_E_DATA);
	assert_string_equal(err.text, "no more of it");
	close_model(&t);
}

/* Most iterations of a run are bare, one in a few recorded; both are those of
 * the script. */
static void
watched_steps_add_up(void **state)
{
	const struct sl__timed_iterations *p;
	struct sl__step_watch *watch;
	struct taken t;
	size_t last, n_recorded = 0;

	(void)state;
	open_model(&t, 1);
	last = sl_plan_n_steps(t.plan);
	assert_false(sl__step_watch_new(&watch, t.plan, 5000,
					t.how.control.with.clock, &t.arena,
					NULL));
	for (size_t i = 0; i < 100; i++) {
		struct sl__event_buffer *events;

		sl__step_watch_begin(watch);
		t.script.time.now_ns += FEED_NS;
		sl__step_watch_fed(watch);
		events = sl__step_watch_events(watch);
		n_recorded += events != NULL;
		assert_false(events ? sl__plan_record(t.plan, events, NULL)
				    : sl_plan_run(t.plan, NULL));
		sl__step_watch_end(watch);
	}
	p = sl__step_watch_finish(watch);
	/* One in 5000 / 2048 + 2. */
	assert_int_equal(n_recorded, 25);
	assert_int_equal(p->n_recorded, 25);
	assert_int_equal(p->bare.n_seen, 75);
	assert_int_equal(p->n_steps, last + 1);
	assert_near(p->step_ns[last], 25.0 * FEED_NS, 25 * READING_NS);
	for (size_t s = 0; s < last; s++)
		assert_near(p->step_ns[s], 25.0 * STEP_NS, 1e-3);
	assert_near(p->bare.min, STEP_NS * (double)last + FEED_NS,
		    2 * READING_NS);
	assert_near(p->extra.more.min, READING_NS * (double)(last + 1), 200);
	close_model(&t);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fixed_numbers_are_exact),
		cmocka_unit_test(the_slowest_are_kept),
		cmocka_unit_test(rows_add_up),
		cmocka_unit_test(rows_are_thinned),
		cmocka_unit_test(memory_does_not_grow),
		cmocka_unit_test(feeding_is_a_step),
		cmocka_unit_test(failing_feed_ends_it),
		cmocka_unit_test(watched_steps_add_up),
	};

	return cmocka_run_group_tests_name("iterations", tests, NULL, NULL);
}
