/* SPDX-License-Identifier: Apache-2.0 */
/* dnnl_own_trial.h - one node on an own kernel, as a program to be timed. */
#ifndef SL_DNNL_OWN_TRIAL_H
#define SL_DNNL_OWN_TRIAL_H

#include "engine/planner.h"

/*
 * Invariants: the graph, its shapes and its constants are those of the planner
 * that the trial was begun for.  Packed weights are not made: the memory that
 * they would take holds small numbers, as do all activations.  Layouts for a
 * trial are made by its own planner.
 */
struct sl__own_trial {
	struct sl_plan_options options;
	struct sl__planner planner;
};

enum sl_status sl__own_trial_begin(struct sl__own_trial *out,
				   const struct sl__planner *pl,
				   struct sl_error *err) SL_CHECKED;

/* An input of the node, in the layout in which its maker leaves it; 'is_last':
 * nobody needs it after the node. */
void sl__own_trial_add_input(struct sl__own_trial *t, uint32_t value,
			     const struct sl__layout *layout, int is_last);

/* Plans the node, whose first output must end in that layout.  0: not for this
 * kernel, or a failure that the planner notes. */
int sl__own_trial_finish(struct sl__own_trial *t, const struct sl__node *node,
			 sl__kernel_plan_function *make,
			 const struct sl__layout *layout);

/* Also where begin() failed, or after zeroing. */
void sl__own_trial_release(struct sl__own_trial *t);

#endif
