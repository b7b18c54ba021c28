/* SPDX-License-Identifier: Apache-2.0 */
/* touching.h - what a step reads and writes, found by running it. */
#ifndef SL_TOUCHING_H
#define SL_TOUCHING_H

#include "engine/tape.h"

/* A stretch of the program's block that a step names. */
struct sl__touch {
	unsigned char *start;
	uint64_t n_bytes;
	uint32_t buffer;  /* by which it is named, the first where several do */
	uint32_t n_named; /* how many operands are this very stretch */
	int is_known;     /* set by the caller before sl__touching_ask(): what
			     lies there was written before */
	int is_input;     /* of the model, likewise: never written */
	int is_doubtful;  /* likewise: it may be room that happens to lie where
			     a tensor was */
	int is_written;
	int is_read; /* what lay there before mattered; where neither this nor
			is_written is set, the step has no use for it */
};

/*
 * Nothing is taken from the planner but where operands lie and how large they
 * are.  A stretch is written when its bytes change, or when, filled with the
 * opposite of all bits, it does not keep that.  What is written is read too
 * when the opposite before the step makes another result, or when two
 * operands are the same stretch: one is read and one is written.  What is not
 * written counts as read; where that is doubtful, only when its opposite makes
 * another result, or when the step writes nothing at all: a jump.
 *
 * Invariants: of one program; one step at a time: run, ask, settle.
 */
struct sl__touching {
	struct sl__program *program;
	struct sl__touch *list; /* of the step under way, largest first */
	size_t n;
	unsigned char *before, *after, *again; /* copies, one after another */
	size_t step;
	int jumps; /* of the real run */
};

/* Room for the largest step, from 'arena'. */
enum sl_status sl__touching_init(struct sl__touching *t,
				 struct sl__program *program,
				 struct sl__arena *arena,
				 struct sl_error *err) SL_CHECKED;

/* Runs the step; afterwards list[] says what it names and what changed. */
enum sl_status sl__touching_run(struct sl__touching *t, size_t step,
				struct sl_error *err) SL_CHECKED;

/* Runs it some more to fill is_written and is_read of what is_known. */
void sl__touching_ask(struct sl__touching *t);

/* Leaves all as the real run did. */
void sl__touching_settle(struct sl__touching *t);

#endif
