/* SPDX-License-Identifier: Apache-2.0 */
/* tiled_step.c - steps whose threads take one tile after the other. */
#include "engine/tiled_step.h"
#include "base/status.h"
#include "engine/gemm_blocked.h"

#include <stdatomic.h>
#include <string.h>

#include "base/banned.h"

enum { OPERANDS_MOST = 40 };

struct tiled {
	struct sl__tiled_work work;
	atomic_int_fast64_t next; /* tile that nobody has taken yet */
	unsigned char **at;
	uint32_t scratch; /* its number among the operands */
};

int
sl__threads_for_flops(const struct sl__planner *pl, double n_flops)
{
	/* 20 microseconds, below which others are not worth waking, at 50
	 * GFLOP/s. */
	const double worth = 1e6;
	double most = n_flops / worth;

	return most < pl->program->n_threads
		       ? sl__threads_at_most(pl->program->n_threads,
					     (int64_t)most)
		       : pl->program->n_threads;
}

static void
take_tiles(struct tiled *t, int rank, sl__tile_function *run, int64_t n_tiles)
{
	const struct sl__tiled_work *w = &t->work;
	void *scratch =
		w->scratch_bytes
			? t->at[t->scratch] + (uint64_t)rank * w->scratch_bytes
			: NULL;
	int64_t tile;

	while ((tile = atomic_fetch_add_explicit(
			&t->next, 1, memory_order_relaxed)) < n_tiles)
		run(w->state, t->at, tile, scratch);
}

static void
run_part(int rank, int n, void *ctx)
{
	struct tiled *t = ctx;

	(void)n;
	take_tiles(t, rank, t->work.run, t->work.n_tiles);
}

static void
prepare_part(int rank, int n, void *ctx)
{
	struct tiled *t = ctx;

	(void)n;
	take_tiles(t, rank, t->work.prepare, t->work.n_prepare);
}

static enum sl_status
run(struct sl__step *step, struct sl_error *err)
{
	struct tiled *t = step->state;

	(void)err;
	atomic_store_explicit(&t->next, 0, memory_order_relaxed);
	if (t->work.prepare) {
		sl__parallel_run(step->n_threads, prepare_part, t);
		atomic_store_explicit(&t->next, 0, memory_order_relaxed);
	}
	sl__parallel_run(step->n_threads, run_part, t);
	return SL_OK;
}

struct sl__step *
sl__plan_add_tiled_step(struct sl__planner *pl, const uint32_t *operands,
			uint32_t n, const struct sl__tiled_work *work)
{
	struct tiled *t = sl__plan_alloc_state(pl, sizeof(*t));
	uint32_t all[OPERANDS_MOST];
	const char *name = sl__arena_format(&pl->program->arena, "%s:%s",
					    work->kernel,
					    sl__gemm_blocked_isa());
	int n_threads = sl__threads_at_most(work->n_threads, work->n_tiles);
	struct sl__step *step;

	if (!name)
		sl__planner_keep_status(pl, sl__fail_nomem(pl->err));
	if (n >= OPERANDS_MOST)
		sl__planner_fail_internal(pl, "too many operands");
	if (pl->rc)
		return &pl->spare;
	t->work = *work;
	t->work.scratch_bytes = (work->scratch_bytes + 63) & ~UINT64_C(63);
	t->scratch = n;
	memcpy(all, operands, n * sizeof(*all));
	if (work->scratch_bytes)
		all[n++] = sl__plan_workspace(
			pl, (uint64_t)n_threads * t->work.scratch_bytes);
	step = sl__plan_add_step(pl, all, n, name, run, t);
	step->n_threads = n_threads;
	step->n_scratch = work->scratch_bytes != 0;
	t->at = step->at;
	return step;
}
