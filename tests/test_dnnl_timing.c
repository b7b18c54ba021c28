/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_dnnl_timing.c - how many runs a trial has and what is made of them, by
 * a script: each reading of the clock takes as long as it says and the
 * primitive no time, so that a run takes one reading and all around it two.
 */
#include "harness.h"
#include "scripted.h"
#include "base/arena.h"
#include "engine/dnnl_primitive_desc.h"
#include "engine/dnnl_timing.h"

enum { MS = 1000000 };

struct scene {
	struct sl__arena arena;
	struct sl__dnnl_context *dnnl;
	dnnl_primitive_desc_t pd;
	struct scripted_instruments script;
	struct sl__dnnl_timer timer;
	uint64_t elapsed_ns[2];
};

static const_dnnl_memory_desc_t
describe(struct scene *s, int64_t rows, int64_t columns)
{
	const int64_t dims[] = {rows, columns};
	const_dnnl_memory_desc_t md;

	assert_true(sl__dnnl_row_major_md(&md, s->dnnl, SL_DTYPE_F32, 2, dims));
	return md;
}

/* A matrix of n x n times a row. */
static void
open_scene(struct scene *s, int64_t n, uint64_t reading_ns)
{
	struct sl__program program = {0};
	struct sl__planner pl = {.program = &program};
	struct sl__dnnl_matmul matmul = {0};

	memset(s, 0, sizeof(*s));
	sl__arena_init(&s->arena, NULL);
	assert_int_equal(sl__dnnl_context_new(&s->dnnl, &s->arena, NULL),
			 SL_OK);
	program.dnnl = s->dnnl;
	matmul.src = matmul.dst = describe(s, 1, n);
	matmul.weights = describe(s, n, n);
	s->pd = sl__dnnl_matmul_pd(&pl, &matmul, NULL);
	assert_non_null(s->pd);
	script_instruments(&s->script, reading_ns);
	s->timer = (struct sl__dnnl_timer){.dnnl = s->dnnl,
					   .with = s->script.with};
	s->elapsed_ns[0] = s->elapsed_ns[1] = UINT64_MAX;
}

static void
close_scene(struct scene *s)
{
	sl__dnnl_timer_release(&s->timer);
	dnnl_primitive_desc_destroy(s->pd);
	sl__dnnl_context_free(s->dnnl);
	sl__arena_release(&s->arena);
}

/* Who waited for a CPU is read before each run and after it. */
static size_t
runs_of(struct scene *s, uint64_t best_ns)
{
	const struct sl__dnnl_trial trial = {.pd = s->pd};
	struct sl_error err;

	if (sl__dnnl_time_primitive(s->elapsed_ns, &s->timer, &trial, best_ns,
				    &err))
		fail_msg("%s", err.text);
	return s->script.n_reads / 2;
}

static void
runs_go_on_until_they_suffice(void **state)
{
	static const struct {
		uint64_t reading_ns, disturbed, best_ns;
		size_t n_runs;
	} rows[] = {
		/* The first does not count; four of 1 ms, three of 2. */
		{MS, 0, UINT64_MAX, 1 + 4},
		{2 * MS, 0, UINT64_MAX, 1 + 3},
		/* Disturbed ones are made up for, */
		{MS, 7 << 1, UINT64_MAX, 1 + 3 + 4},
		{MS, 1, UINT64_MAX, 1 + 4},
		/* until all together have taken 40 ms, or there are 21; a
		 * second one in any case. */
		{MS, ~0ull, UINT64_MAX, 20},
		{MS / 2, ~0ull, UINT64_MAX, 21},
		{100 * MS, 0, UINT64_MAX, 2},
		/* Twice as slow as the best is lost after four, and after one
		 * where that is 10 ms. */
		{MS, 0, MS * 2 / 5, 4},
		{MS, 0, MS / 2, 1 + 4},
		{12 * MS, 0, MS, 1},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct scene s;

		open_scene(&s, 8, rows[i].reading_ns);
		s.script.disturbed = rows[i].disturbed;
		assert_int_equal(runs_of(&s, rows[i].best_ns), rows[i].n_runs);
		assert_int_equal(s.elapsed_ns[0], rows[i].reading_ns);
		assert_null(s.timer.sweep);
		close_scene(&s);
	}
}

enum { N = 512, N_BYTES = N * N * 4 };

static size_t n_flushed;

static int
flush(const void *bytes, size_t n_bytes)
{
	assert_non_null(bytes);
	assert_int_equal(n_bytes, N_BYTES);
	n_flushed++;
	return 1;
}

static int
cannot_flush(const void *bytes, size_t n_bytes)
{
	(void)bytes;
	(void)n_bytes;
	return 0;
}

/* Weights of a megabyte are pushed out of the caches once, to see whether that
 * can be done, and before each run. */
static void
large_weights_are_cold(void **state)
{
	struct scene s;

	(void)state;
	open_scene(&s, N, MS);
	s.timer.flush = flush;
	n_flushed = 0;
	assert_int_equal(runs_of(&s, UINT64_MAX), 1 + 4);
	assert_int_equal(n_flushed, 1 + 1 + 4);
	assert_null(s.timer.sweep);
	close_scene(&s);
}

/* Small ones stay. */
static void
small_weights_are_warm(void **state)
{
	struct scene s;

	(void)state;
	open_scene(&s, 8, MS);
	s.timer.flush = flush;
	n_flushed = 0;
	(void)runs_of(&s, UINT64_MAX);
	assert_int_equal(n_flushed, 0);
	close_scene(&s);
}

/* Where no line can be flushed something else is read, which is found once. */
static void
other_bytes_push_weights_out(void **state)
{
	unsigned char *sweep;
	struct scene s;

	(void)state;
	open_scene(&s, N, MS);
	s.timer.flush = cannot_flush;
	assert_int_equal(runs_of(&s, UINT64_MAX), 1 + 4);
	assert_true(s.timer.was_asked);
	assert_non_null(s.timer.sweep);
	sweep = s.timer.sweep;
	(void)runs_of(&s, UINT64_MAX);
	assert_ptr_equal(s.timer.sweep, sweep);
	close_scene(&s);
}

/* Five runs each, by turns; what was faster before stays. */
static void
two_take_turns(void **state)
{
	struct sl__dnnl_trial trials[2] = {{.n_more = 0}};
	struct sl_error err;
	struct scene s;

	(void)state;
	open_scene(&s, 8, MS);
	trials[0].pd = trials[1].pd = s.pd;
	s.elapsed_ns[1] = 5;
	assert_int_equal(
		sl__dnnl_time_interleaved(s.elapsed_ns, &s.timer, trials, &err),
		SL_OK);
	assert_int_equal(s.script.n_reads / 2, 2 * 5);
	assert_int_equal(s.elapsed_ns[0], MS);
	assert_int_equal(s.elapsed_ns[1], 5);
	close_scene(&s);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(runs_go_on_until_they_suffice),
		cmocka_unit_test(large_weights_are_cold),
		cmocka_unit_test(small_weights_are_warm),
		cmocka_unit_test(other_bytes_push_weights_out),
		cmocka_unit_test(two_take_turns),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
