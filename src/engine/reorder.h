/* SPDX-License-Identifier: Apache-2.0 */
/* reorder.h - steps that bring a value from one layout into another. */
#ifndef SL_REORDER_H
#define SL_REORDER_H

#include "engine/node_steps.h"
#include "engine/strided_layout.h"

/* A step that brings a value from one layout, in a buffer, into another: an own
 * one where it is a transpose of f32, oneDNN's otherwise (dnnl_step.c). */
void sl__plan_reorder(struct sl__planner *pl, uint32_t value,
		      const struct sl__value_version *from,
		      const struct sl__value_version *to);

/* From one layout to another of the same sizes: strides in elements, types as
 * enum sl_dtype.  All of it is set, so that bytes can be compared. */
struct sl__reordering {
	int64_t rank; /* at least 1 */
	int64_t dims[SL__SPACE_RANK_MAX];
	int64_t from[SL__SPACE_RANK_MAX], to[SL__SPACE_RANK_MAX];
	int64_t from_dtype, to_dtype;
};

/* Own kernels: at once, and as a step of operands {from, to}. */
void sl__reorder_now(const struct sl__reordering *r, const void *from,
		     void *to);
void sl__plan_native_reorder(struct sl__planner *pl, uint32_t value,
			     const struct sl__reordering *r,
			     const uint32_t *operands);

/* Names a step that reorders; its work is the node's, for whose sake it is
 * done. */
void sl__plan_mark_reorder(struct sl__planner *pl, struct sl__step *step,
			   uint32_t value);

#endif
