/* SPDX-License-Identifier: Apache-2.0 */
/* node_steps.h - what many kernels ask of a node, and the usual steps. */
#ifndef SL_NODE_STEPS_H
#define SL_NODE_STEPS_H

#include "engine/planner.h"

/* The type of input i or output k, which the node has. */
const struct sl__type *sl__plan_node_input_type(const struct sl__planner *pl,
						const struct sl__node *node,
						size_t i);
const struct sl__type *sl__plan_node_output_type(const struct sl__planner *pl,
						 const struct sl__node *node,
						 size_t k);

/* Whether the model hands a value out. */
int sl__plan_is_model_output(const struct sl__planner *pl, uint32_t value);

/*
 * A list that is an attribute, where the node has one of that name (NULL: it
 * never has), else input i.  Returns 0 where it is known only when the model
 * runs; *n is 0 and *values NULL where it is left out.
 */
int sl__plan_node_integer_list(const struct sl__planner *pl,
			       const struct sl__node *node, size_t i,
			       const char *attribute, const int64_t **values,
			       size_t *n);

/* Product of sizes first .. end - 1. */
int64_t sl__sizes_product(const struct sl__type *type, int first, int end);

/* The layout of a value that lies there as bf16, row-major; NULL: it does
 * not. */
const struct sl__layout *sl__plan_find_bf16_layout(const struct sl__planner *pl,
						   uint32_t value);

/* Operands of the usual step: the first n inputs, then output 0, all in their
 * own layouts. */
void sl__plan_node_operands(struct sl__planner *pl, const struct sl__node *node,
			    uint32_t n, uint32_t *operands);

/* Like sl__plan_output_in_place() the first of n operands in its own layout,
 * unless another of them lies there too. */
uint32_t sl__plan_output_over_first(struct sl__planner *pl, uint32_t value,
				    const uint32_t *operands, uint32_t n);

/* Like sl__plan_add_step(), of a kernel whose work threads share: 'part' gets
 * the state, which may hold step->at.  It has as many threads as moving its
 * operands is worth; the caller may set another number. */
struct sl__step *sl__plan_add_parallel_step(struct sl__planner *pl,
					    const uint32_t *operands,
					    uint32_t n, const char *kernel,
					    sl__parallel_function *part,
					    void *state);

/* A step that gets something ready for another of the same node, to which the
 * node's nominal work belongs. */
struct sl__step *sl__plan_add_per_run_prep_step(struct sl__planner *pl,
						const uint32_t *operands,
						uint32_t n, const char *kernel,
						sl__run_function *run,
						void *state);

#endif
