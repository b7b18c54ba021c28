/* SPDX-License-Identifier: Apache-2.0 */
/* tiled_step.c - steps whose threads take one tile after the other. */
#include "engine/tiled_step.h"
#include "base/status.h"
#include "compute/gemm_blocked.h"
#include "engine/constants.h"

#include <assert.h>
#include <stdatomic.h>
#include <string.h>

#include "base/banned.h"

enum { OPERANDS_MOST = 40, HOW_MOST = 512 };

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

/* How a constant was packed, for others that want the same. */
struct packed_how {
	void (*pack)(const void *how, const float *from, int64_t index,
		     float *to);
	int64_t n;
	_Alignas(16) unsigned char how[HOW_MOST];
};

static int
pack_now(struct sl__planner *pl, const void *how, const void *from, void *to)
{
	const struct packed_how *h = how;

	(void)pl;
	for (int64_t i = 0; i < h->n; i++)
		h->pack(h->how, from, i, to);
	return 1;
}

void
sl__plan_panels(struct sl__planner *pl, struct sl__tiled_work *work,
		uint32_t value, uint32_t *operands, uint32_t *n)
{
	struct sl__panels *panels = &work->panels;
	struct packed_how how;
	const struct sl__packing packing = {pack_now, NULL, &how, sizeof(how),
					    panels->n_bytes};

	assert(panels->n_how <= HOW_MOST);
	memset(&how, 0, sizeof(how));
	how.pack = panels->pack;
	how.n = panels->n;
	memcpy(how.how, panels->how, panels->n_how);
	if (pl->graph->values[value].tensor) {
		operands[work->packed_at] =
			sl__plan_constant_packed_by(pl, value, &packing);
		panels->n = 0;
		return;
	}
	work->given_at = *n;
	operands[(*n)++] = sl__plan_input_buffer(pl, value, NULL);
	operands[work->packed_at] = sl__plan_workspace(pl, panels->n_bytes);
}

static int64_t
next_of(struct tiled *t)
{
	return atomic_fetch_add_explicit(&t->next, 1, memory_order_relaxed);
}

static void
run_part(int rank, int n, void *ctx)
{
	struct tiled *t = ctx;
	const struct sl__tiled_work *w = &t->work;
	void *scratch =
		w->scratch_bytes
			? t->at[t->scratch] + (uint64_t)rank * w->scratch_bytes
			: NULL;
	int64_t tile;

	(void)n;
	while ((tile = next_of(t)) < w->n_tiles)
		w->run(w->state, t->at, tile, scratch);
}

static void
pack_part(int rank, int n, void *ctx)
{
	struct tiled *t = ctx;
	const struct sl__tiled_work *w = &t->work;
	const void *from = t->at[w->given_at];
	void *to = t->at[w->packed_at];
	int64_t i;

	(void)rank;
	(void)n;
	while ((i = next_of(t)) < w->panels.n)
		w->panels.pack(w->panels.how, from, i, to);
}

static enum sl_status
run(struct sl__step *step, struct sl_error *err)
{
	struct tiled *t = step->state;

	(void)err;
	atomic_store_explicit(&t->next, 0, memory_order_relaxed);
	if (t->work.panels.n) {
		sl__parallel_run(step->n_threads, pack_part, t);
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
