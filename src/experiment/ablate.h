/* SPDX-License-Identifier: Apache-2.0 */
/* ablate.h - how fast a model is without some of its steps. */
#ifndef SL_ABLATE_H
#define SL_ABLATE_H

#include "engine/observer.h"
#include "result/ablation.h"
#include "timing/runner.h"

/* A stretch of memory that a step writes. */
struct sl__stored_range {
	unsigned char *at, *image; /* where it lies; the copy, or NULL */
	uint64_t n_bytes;
};

struct sl__stored_step_outputs {
	int is_wanted;
	int has_run;        /* in the iteration that looked at it */
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

/* Puts back what a step wrote; large parts on the plan's threads, each of
 * which then has a share of it in its caches, as after the step itself. */
void sl__stand_in_outputs_restore(const struct sl__stand_in_outputs *stored,
				  size_t step);

/*
 * Reads what a step would have read, so that caches lose to it what they lose
 * to the step; returns how many bytes.  Only products are known to read all of
 * their operands: for other steps nothing is read.
 */
uint64_t
sl__stand_in_outputs_read_operands(const struct sl__stand_in_outputs *stored,
				   size_t step);

enum {
	SL__ABLATE_ROUNDS = 9,     /* the fewest whose 95 % interval leaves out
				      the smallest and the largest */
	SL__ABLATE_ROUNDS_FEW = 6, /* the fewest that have an interval: for the
				      first target */
	SL__ABLATE_ROUNDS_MOST = 1024
};

struct sl__ablate_options {
	double time_s;        /* for all targets together; above 0 */
	double iteration_ns;  /* a full iteration, about; above 0 */
	double reading_ns;    /* what a reading of ticks costs */
	uint64_t store_bytes; /* most that outputs may take; 0: 2^30 */
	uint64_t seed;        /* of the order of iterations */
	size_t n_rounds;      /* a fixed number; 0: by time */
	struct sl__runner_hooks control; /* its clock is in place of ticks */
};

/*
 * Measures how fast the model would be if the named steps took no time: they
 * do not run; while the clock stands, what they would have read is read, and
 * what they would have written put back from a copy.  Full and ablated iterations of all targets take turns in a
 * seeded order, one of each in a round; targets[] is the order of importance,
 * and where time is short the last ones are left out.  Without memory for the
 * copies, or when interrupted before the first round, targets are absent; a
 * round that an interrupt cuts short does not count.  Reasons are from
 * 'arena'.  The plan's inputs are set; afterwards a run gives what it gave
 * before.
 */
enum sl_status sl__ablate(struct sl__ablation *targets, size_t n,
			  struct sl_plan *plan,
			  const struct sl__ablate_options *how,
			  struct sl__arena *arena,
			  struct sl_error *err) SL_CHECKED;

#endif
