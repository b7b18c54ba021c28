/* SPDX-License-Identifier: Apache-2.0 */
/* node_steps.h - what many kernels ask of a node, and the usual steps. */
#ifndef SL_NODE_STEPS_H
#define SL_NODE_STEPS_H

#include "engine/planner.h"

/* Whether the model hands a value out. */
int sl__plan_is_output(const struct sl__planner *pl, uint32_t value);

/*
 * A list that is an attribute, where the node has one of that name (NULL: it
 * never has), else input i.  Returns 0 where it is known only when the model
 * runs; *n is 0 and *values NULL where it is left out.
 */
int sl__plan_integers(const struct sl__planner *pl, const struct sl__node *node,
		      size_t i, const char *attribute, const int64_t **values,
		      size_t *n);

/* The form of a value that lies there as bf16, row-major; NULL: it does
 * not. */
const struct sl__form *sl__plan_short_form(const struct sl__planner *pl,
					   uint32_t value);

/* A step from input 0 to output 0, both in their own forms. */
enum sl_status sl__plan_plain_step(struct sl__planner *pl,
				   const struct sl__node *node,
				   struct sl__step **out,
				   struct sl_error *err) SL_CHECKED;

/* A step that gets something ready for another of the same node, to which the
 * node's nominal work belongs. */
enum sl_status sl__plan_side_step(struct sl__planner *pl,
				  const uint32_t *operands, uint32_t n,
				  struct sl__step **out,
				  struct sl_error *err) SL_CHECKED;

#endif
