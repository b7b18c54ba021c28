/* SPDX-License-Identifier: Apache-2.0 */
/* stored_steps.h - what steps of a plan write, kept to stand in for them. */
#ifndef SL_STORED_STEPS_H
#define SL_STORED_STEPS_H

#include "engine/tape.h"

/* A stretch of memory that a step writes. */
struct sl__stored_part {
	unsigned char *at, *image; /* where it lies; the copy, or NULL */
	uint64_t n_bytes;
};

struct sl__stored_step {
	int is_wanted;
	int has_run;        /* in the pass that looked at it */
	const char *absent; /* why nothing can stand in for it; NULL */
	struct sl__stored_part *parts;
	size_t n_parts;
	uint64_t n_bytes; /* of all parts */
};

/* Invariants: steps[] is by step of the plan's current program. */
struct sl__stored {
	struct sl_plan *plan;
	struct sl__arena *arena;
	struct sl__stored_step *steps; /* [n_steps] */
	size_t n_steps;
	unsigned char *before; /* scratch of find: operands before a step */
};

/* All storage is from 'arena'; the plan's inputs are set. */
enum sl_status sl__stored_open(struct sl__stored *out, struct sl_plan *plan,
			       struct sl__arena *arena,
			       struct sl_error *err) SL_CHECKED;

/*
 * Runs the model once and finds what the wanted steps write: operands that no
 * earlier step names, and those whose contents the step changed.  An operand
 * that came out as it went in needs no copy, whoever wrote it.  Branches and
 * steps of the evaluator have no such operands: 'absent' says so, as it does
 * of steps for whose operands there is no memory.
 */
enum sl_status sl__stored_find(struct sl__stored *stored,
			       struct sl_error *err) SL_CHECKED;

/* Runs the model once more and copies what the wanted steps write, but for
 * those that are absent or did not run; a step for whose copy there is no
 * memory becomes absent. */
enum sl_status sl__stored_fill(struct sl__stored *stored,
			       struct sl_error *err) SL_CHECKED;

/* Puts back what a step wrote; large parts on the plan's threads, each of
 * which then has a share of it in its caches, as after the step itself. */
void sl__stored_put(const struct sl__stored *stored, size_t step);

#endif
