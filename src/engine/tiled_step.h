/* SPDX-License-Identifier: Apache-2.0 */
/* tiled_step.h - steps whose threads take one tile after the other. */
#ifndef SL_TILED_STEP_H
#define SL_TILED_STEP_H

#include "engine/planner.h"

/* Does one of the tiles; 'scratch' is the thread's own, aligned to 64. */
typedef void sl__tile_function(const void *state, unsigned char *const *at,
			       int64_t tile, void *scratch);

/* A matrix that is packed panel by panel (gemm_blocked.h): pack() writes panel
 * 'index' of n; 'how', of which no byte is undefined, says what it is. */
struct sl__panels {
	void (*pack)(const void *how, const float *from, int64_t index,
		     float *to);
	const void *how; /* as long as the program */
	size_t n_how;
	int64_t n;
	uint64_t n_bytes; /* of all */
};

/*
 * Tiles are taken in order by whichever thread is free, so that one that
 * shares its core with a neighbour takes fewer.  No result may depend on who
 * did what.
 */
struct sl__tiled_work {
	sl__tile_function *run;
	const void *state; /* the kernel's own, as long as the program */
	int64_t n_tiles;
	uint64_t scratch_bytes; /* of a thread */
	int n_threads;
	const char *kernel; /* its name; that of the instruction set follows */
	/* Packed before the tiles in each run; n is 0: nothing is. */
	struct sl__panels panels;
	uint32_t given_at, packed_at; /* among the operands */
};

/* A value as operands[work->packed_at] in work->panels: packed now where it is
 * constant, else in each run; then it is operand *n as given, too. */
void sl__plan_panels(struct sl__planner *pl, struct sl__tiled_work *work,
		     uint32_t value, uint32_t *operands, uint32_t *n);

/* Threads that some work is worth. */
int sl__threads_for_flops(const struct sl__planner *pl, double n_flops);

/* Like sl__plan_add_step(): 'at' are the addresses of these operands.  The
 * scratch becomes a workspace of the step. */
struct sl__step *sl__plan_add_tiled_step(struct sl__planner *pl,
					 const uint32_t *operands, uint32_t n,
					 const struct sl__tiled_work *work);

#endif
