/* SPDX-License-Identifier: Apache-2.0 */
/* stand_in_outputs.h - what steps of a plan write, kept to stand in for them. */
#ifndef SL_STAND_IN_OUTPUTS_H
#define SL_STAND_IN_OUTPUTS_H

#include "base/arena.h"
#include "engine/observer.h"

/* A stretch of memory that a step writes. */
struct sl__stored_range {
	unsigned char *at, *image; /* where it lies; the copy, or NULL */
	uint64_t n_bytes;
};

struct sl__stored_step_outputs {
	int is_wanted;
	int has_run;        /* in the iteration that looked at it */
	int n_threads;      /* that took part in it; 0: not known */
	const char *absent; /* why nothing can stand in for it; NULL */
	struct sl__stored_range *parts;
	size_t n_parts;
	uint64_t n_bytes; /* of all parts */
};

/* Invariants: steps[] is by step of the plan's current program. */
struct sl__stand_in_outputs {
	struct sl_plan *plan;
	struct sl__arena *arena;
	struct sl__stored_step_outputs *steps; /* [n_steps] */
	size_t n_steps;
	unsigned char *before; /* scratch of find: operands before a step */
	int is_swapped; /* each thread puts back what another would have */
};

/* All storage is from 'arena'; the plan's inputs are set. */
enum sl_status sl__stand_in_outputs_open(struct sl__stand_in_outputs *out,
					 struct sl_plan *plan,
					 struct sl__arena *arena,
					 struct sl_error *err) SL_CHECKED;

/*
 * Runs the model once and finds what the wanted steps write: operands that no
 * earlier step names, and those whose contents the step changed.  An operand
 * that came out as it went in needs no copy, whoever wrote it.  Branches and
 * steps of the evaluator have no such operands: 'absent' says so, as it does
 * of steps for whose operands there is no memory.
 */
enum sl_status sl__stand_in_outputs_find(struct sl__stand_in_outputs *stored,
					 struct sl_error *err) SL_CHECKED;

/* Runs the model once more and copies what the wanted steps write, but for
 * those that are absent or did not run; a step for whose copy there is no
 * memory becomes absent. */
enum sl_status sl__stand_in_outputs_copy(struct sl__stand_in_outputs *stored,
					 struct sl_error *err) SL_CHECKED;

/* Puts back what a step wrote, on as many threads as took part in it, each of
 * which then has a share of it in its caches, as after the step itself: equal
 * ones in their order, or as far from that as can be (is_swapped).  Where the
 * number of threads is not known, large parts on all of the plan's. */
void sl__stand_in_outputs_restore(const struct sl__stand_in_outputs *stored,
				  size_t step);

/*
 * Reads what a step would have read, on as many threads, so that caches lose to
 * it what they lose to the step; returns how many bytes.  What computes reads
 * all of its operands; what moves is taken to read those that are no larger
 * than all that it writes.
 */
uint64_t
sl__stand_in_outputs_read_operands(const struct sl__stand_in_outputs *stored,
				   size_t step);

#endif
