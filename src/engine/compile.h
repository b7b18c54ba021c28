/* SPDX-License-Identifier: Apache-2.0 */
/* compile.h - from a graph and sizes to a program. */
#ifndef SL_COMPILE_H
#define SL_COMPILE_H

#include "engine/program.h"

/* Flags of a plan, beside those of the user (enum sl_plan_flags).  APART: its
 * weights are its own, wherever others of the same graph have theirs.  DRY: it
 * takes the addresses that it would take at the fullest moment, its weights
 * are not made, and it cannot be run: what it needs is known in a moment, on
 * any machine.  NO_DNNL: own kernels take the place of oneDNN's.  TRAINS: the
 * graph is a training step (transform/training.h), whose updates write states
 * over themselves as soon as they can. */
enum {
	SL__PLAN_TRAINS = 1 << 26,
	SL__PLAN_NO_DNNL = 1 << 27,
	SL__PLAN_DRY = 1 << 28,
	SL__PLAN_OWN_WEIGHTS = 1 << 29
};

/* Which output of a training step the loss is. */
enum { SL__TRAINING_LOSS = 1 };

/* Optimizes the graph, lowers it, places its buffers and binds its steps.
 * 'options' has its defaults filled in; 'sizes' may be NULL. */
enum sl_status sl__compile(struct sl__program **out,
			   const struct sl_graph *graph,
			   const struct sl_plan_options *options,
			   const struct sl_sizes *sizes,
			   struct sl_error *err) SL_CHECKED;

/* Gives the buffers of a lowered program their places and binds its steps. */
enum sl_status sl__program_settle(struct sl__program *p,
				  struct sl_error *err) SL_CHECKED;

#endif
