/* SPDX-License-Identifier: Apache-2.0 */
/* test_timed_passes.c - passes, bare and recorded: counts, sums, fixed memory. */
#include "harness.h"
#include "experiment/timed_passes.h"

/* An allocator that adds up what is asked of it. */
struct adding {
	uint64_t n_bytes;
	size_t n_requests;
};

static void *
adding_alloc(size_t n_bytes, void *ctx)
{
	struct adding *a = ctx;

	a->n_bytes += n_bytes;
	a->n_requests++;
	return malloc(n_bytes);
}

static void
adding_release(void *block, void *ctx)
{
	(void)ctx;
	free(block);
}

/* A model ready to run, and passes of it. */
struct taken {
	struct adding adding;
	struct sl_allocator allocator;
	struct sl_graph *graph;
	struct sl_plan *plan;
	struct sl__arena arena;
	struct sl__passes passes;
};

static void
open_model(struct taken *t, const char *name)
{
	struct sl_plan_options how = {.struct_size = sizeof(how),
				      .n_threads = 1,
				      .algorithms = SL_ALGORITHMS_FIXED,
				      .flags = SL_PLAN_NO_CACHE,
				      .allocator = &t->allocator};
	struct sl_error err;

	memset(t, 0, sizeof(*t));
	t->allocator =
		(struct sl_allocator){adding_alloc, adding_release, &t->adding};
	if (sl_graph_open(&t->graph, name, NULL, &err) ||
	    sl_plan_new(&t->plan, t->graph, &how, &err) ||
	    sl_plan_fill_inputs(t->plan, 1, &err))
		fail_msg("%s", err.text);
	sl__arena_init(&t->arena, &t->allocator);
}

static void
close_model(struct taken *t)
{
	sl__arena_release(&t->arena);
	sl_plan_free(t->plan);
	sl_graph_free(t->graph);
}

static void
take(struct taken *t, struct sl__passes_options *how)
{
	struct sl_error err;

	if (how->time_s <= 0)
		how->time_s = 60;
	how->precision = 0.01;
	how->seed = 3;
	if (sl__passes_take(&t->passes, t->plan, how, &t->arena, &err))
		fail_msg("%s", err.text);
}

static uint64_t
ticks_of(const struct sl__kept_pass *kept)
{
	return kept->end - kept->begin;
}

/* Some of them may have been disturbed. */
static size_t
n_taken(const struct sl__passes *p)
{
	return p->n_recorded + p->n_left_out;
}

/* All marks lie within the pass, in order, and name every step once. */
static void
check_kept(const struct sl__passes *p, const struct sl__kept_pass *kept)
{
	uint64_t before = kept->begin;

	assert_int_equal(kept->tape.n_marks, p->n_steps + 1);
	assert_true(kept->nth < n_taken(p));
	assert_true(kept->begin >= p->origin);
	for (size_t i = 0; i <= p->n_steps; i++) {
		const struct sl__tape_mark *m = &kept->tape.marks[i];

		assert_int_equal(m->step, i < p->n_steps ? i : SL__NONE);
		assert_true(m->ticks >= before);
		before = m->ticks;
	}
	assert_true(kept->end >= before);
}

/* Enough work, 8 MB of weights, that every pass is a sample of its own. */
#define SLOW_MODEL "mlp:1024-1024-1024-10"

static void
fixed_numbers_are_exact(void **state)
{
	struct sl__passes_options how = {
		.n_warmup = 3, .n_runs = 20, .n_slowest = 5};
	const struct sl__passes *p;
	struct taken t;

	(void)state;
	open_model(&t, SLOW_MODEL);
	take(&t, &how);
	p = &t.passes;
	assert_int_equal(p->calls_per_sample, 1);
	assert_int_equal(p->n_rounds, 23);
	assert_int_equal(n_taken(p), 20);
	assert_true(p->n_recorded >= 10);
	assert_int_equal(p->stopped_by, SL_STOP_RUNS);
	assert_int_equal(p->bare.n_seen, 23);
	assert_int_equal(p->cpu.n_seen, 23);
	assert_int_equal(p->extra.more.n_seen, 20);
	assert_int_equal(p->n_steps, sl_plan_n_steps(t.plan));
	for (size_t s = 0; s < p->n_steps; s++)
		assert_int_equal(p->n_calls[s], p->n_recorded);
	assert_true(p->first_ns > 0);
	assert_int_equal(p->kept.n_slow, 5);
	for (size_t i = 0; i < p->kept.n_slow; i++) {
		check_kept(p, &p->kept.slow[i]);
		assert_true(i == 0 || ticks_of(&p->kept.slow[i]) <=
					      ticks_of(&p->kept.slow[i - 1]));
		for (size_t k = 0; k < i; k++)
			assert_true(p->kept.slow[k].nth != p->kept.slow[i].nth);
	}
	check_kept(p, &p->kept.first);
	check_kept(p, &p->kept.median);
	assert_int_equal(p->kept.first.nth, 0);
	assert_true(p->kept.first.begin == p->origin);
	assert_true(ticks_of(&p->kept.median) <= ticks_of(&p->kept.slow[0]));
	assert_true(ticks_of(&p->kept.first) <= ticks_of(&p->kept.slow[0]));
	close_model(&t);
}

/* A row for each pass: its sums, least and largest are those of the table. */
static void
rows_add_up(void **state)
{
	struct sl__passes_options how = {.n_runs = 40, .n_slowest = 1};
	const struct sl__passes *p;
	struct taken t;
	double steps = 0, slack;

	(void)state;
	open_model(&t, SLOW_MODEL);
	take(&t, &how);
	p = &t.passes;
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
		/* Rows are f32, and those of passes left out are there. */
		if (p->n_left_out)
			assert_true(sum >= p->step_ns[s] * (1 - 1e-6));
		else
			assert_close(sum, p->step_ns[s], 1e-6);
		assert_close(least, p->step_min_ns[s], 1e-6);
		assert_close(most, p->step_max_ns[s], 1e-6);
		steps += p->step_ns[s];
	}
	/* Of each pass one reading was taken off, of its parts one each: no
	 * part takes less than nothing. */
	slack = p->wall_ns - steps - p->gaps_ns;
	assert_true(slack >= -1e-6 * p->wall_ns);
	assert_true(slack <= 40 * (double)(p->n_steps + 1) * p->reading_ns +
				     1e-6 * p->wall_ns);
	close_model(&t);
}

/* Rows thin out as samples do. */
static void
rows_are_thinned(void **state)
{
	struct sl__passes_options how = {.n_runs = 700};
	const struct sl__passes *p;
	struct taken t;

	(void)state;
	open_model(&t, "mlp:1024-1024-10");
	take(&t, &how);
	p = &t.passes;
	assert_true(n_taken(p) >= 700);
	assert_true(p->n_rows <= SL__PASSES_ROWS &&
		    p->n_rows >= SL__PASSES_ROWS / 2);
	assert_int_equal(p->n_rows,
			 (n_taken(p) + p->row_stride - 1) / p->row_stride);
	assert_int_equal(p->kept.n_slow, 0);
	close_model(&t);
}

static void
interrupt_at_three(const struct sl_progress *now, void *ctx)
{
	volatile sig_atomic_t *flag = ctx;

	*flag = now->n_done >= 3;
}

static void
interrupts(void **state)
{
	volatile sig_atomic_t flag = 1;
	struct sl__passes_options how = {.time_s = 60,
					 .precision = 0.01,
					 .n_runs = 1000000,
					 .n_slowest = 2,
					 .seed = 1,
					 .interrupt = &flag};
	struct taken t;
	struct sl_error err;

	(void)state;
	open_model(&t, SLOW_MODEL);
	assert_int_equal(
		sl__passes_take(&t.passes, t.plan, &how, &t.arena, &err),
		SL_E_INTERRUPTED);
	flag = 0;
	how.progress = interrupt_at_three;
	how.progress_ctx = (void *)(uintptr_t)&flag;
	assert_int_equal(
		sl__passes_take(&t.passes, t.plan, &how, &t.arena, &err),
		SL_OK);
	assert_int_equal(t.passes.stopped_by, SL_STOP_INTERRUPT);
	assert_int_equal(t.passes.n_rounds, 3);
	assert_int_equal(n_taken(&t.passes), 3);
	/* Before any pass that counts. */
	how.n_warmup = 10;
	flag = 0;
	assert_int_equal(
		sl__passes_take(&t.passes, t.plan, &how, &t.arena, &err),
		SL_E_INTERRUPTED);
	close_model(&t);
}

/* Time ends it too, after two rounds at least. */
static void
time_ends(void **state)
{
	struct sl__passes_options how = {.time_s = 1e-9, .n_slowest = 1};
	struct taken t;

	(void)state;
	open_model(&t, SLOW_MODEL);
	take(&t, &how);
	assert_int_equal(t.passes.stopped_by, SL_STOP_TIME);
	assert_int_equal(t.passes.n_rounds, 2);
	close_model(&t);
}

/* As many bytes are asked for, however many passes there are. */
static void
memory_does_not_grow(void **state)
{
	static const size_t runs[] = {1000, 100000};
	uint64_t n_bytes[2];
	size_t n_requests[2];
	struct taken t;

	(void)state;
	open_model(&t, "mlp:256-512-256-10");
	for (int i = 0; i < 2; i++) {
		struct sl__passes_options how = {
			.time_s = 1e6, .n_runs = runs[i], .n_slowest = 3};
		struct adding before = t.adding;

		take(&t, &how);
		assert_int_equal(t.passes.n_rounds, runs[i]);
		n_bytes[i] = t.adding.n_bytes - before.n_bytes;
		n_requests[i] = t.adding.n_requests - before.n_requests;
		sl__arena_release(&t.arena);
	}
	assert_true(n_bytes[0] > 0);
	assert_int_equal(n_bytes[0], n_bytes[1]);
	assert_int_equal(n_requests[0], n_requests[1]);
	/* Samples of the longer run were thinned on the way. */
	assert_int_equal(t.passes.bare.stride, 2);
	assert_int_equal(t.passes.bare.n_seen, 100000);
	assert_int_equal(t.passes.bare.n, 50000);
	close_model(&t);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fixed_numbers_are_exact),
		cmocka_unit_test(rows_add_up),
		cmocka_unit_test(rows_are_thinned),
		cmocka_unit_test(interrupts),
		cmocka_unit_test(time_ends),
		cmocka_unit_test(memory_does_not_grow),
	};

	return cmocka_run_group_tests_name("passes", tests, NULL, NULL);
}
