/* SPDX-License-Identifier: Apache-2.0 */
/* confined.h - a model run in a process of its own, with so much memory. */
#ifndef SL_CONFINED_H
#define SL_CONFINED_H

#include "transform/training.h"
#include "sleuth/running.h"

struct sl__confined_options {
	const struct sl_graph *graph;
	const struct sl_plan_options *plan;          /* NULL: defaults */
	const struct sl__training_options *training; /* a training step; NULL:
							inference */
	double memory_bytes; /* for all that the plan makes and uses; infinite:
				no limit */
	int is_run;          /* else it is only planned */
	int is_dry;          /* planned without making weights: not run */
};

/* How it ended. */
struct sl__confined_outcome {
	enum sl_status status; /* SL_OK, or why it did not run; SL_E_NOMEM also
				  where SIGKILL, SIGABRT or SIGBUS ended the
				  process, or SIGSEGV and not so with twice
				  the memory; SL_E_MEASURE where another signal
				  did, or it ended without a word */
	int by_signal;         /* that ended the process; 0: none */
	char text[sizeof(((struct sl_error *)0)->text)]; /* "": it ran */
	double used_bytes; /* of the memory, at the end; NaN: it did not run */
	double weights_bytes, block_bytes; /* of these, the plan's: weights made
					      or used in place; activations,
					      with gradients */
	double optimizer_bytes;            /* and what the optimizer keeps */
	int is_stepwise; /* values have sizes that a run finds: they are in
			    none of these */
};

/*
 * Forks a process that starts threads and oneDNN, then limits its private
 * memory (RLIMIT_DATA) to what it has by then and 'memory_bytes', then plans
 * the model and, where asked, runs it, or one training step, on numbers that are
 * made up.  A dry plan
 * takes the same memory and writes to none of it, so that the machine need not
 * have as much.  Weights that are used where a file has them count as well.
 * The process dies with its parent, and with whatever interrupts it or its
 * parent: SIGINT and SIGTERM are held back until it has ended, and reach the
 * caller's handlers then; SL_E_INTERRUPTED.  No plan must have been made in the
 * calling process before: threads do not survive a fork.  SL_E_MEASURE where
 * the process cannot be made or dies before it is limited.
 */
enum sl_status sl__confined_run(struct sl__confined_outcome *out,
				const struct sl__confined_options *options,
				struct sl_error *err) SL_CHECKED;

/* Why no dry plan of so much memory can be made in a process of its own from
 * here; NULL: it can. */
const char *sl__confined_obstacle(double memory_bytes);

#endif
