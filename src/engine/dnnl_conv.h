/* SPDX-License-Identifier: Apache-2.0 */
/* dnnl_conv.h - a convolution on its way to a primitive. */
#ifndef SL_DNNL_CONV_H
#define SL_DNNL_CONV_H

#include "engine/conv.h"
#include "engine/dnnl_layout.h"
#include "engine/dnnl_primitive_desc.h"
#include "engine/dnnl_post_op.h"

/* How it is done. */
struct sl__conv_choice {
	dnnl_primitive_desc_t pd;      /* NULL: oneDNN has nothing for it, or */
	sl__kernel_plan_function *own; /* this kernel takes it */
	enum sl_dtype dtype;           /* that it computes in */
	int n_within; /* post-operations of the primitive; others are steps of
			 their own */
	int sum;      /* the one of them that sums; -1: none */
	struct sl__choice_evidence *evidence; /* NULL: by rule */
};

/* Weights of that type as oneDNN counts their dimensions: in any order, and as
 * the model has them. */
int sl__conv_weights_any_md(const_dnnl_memory_desc_t *out,
			    const struct sl__planner *pl,
			    const struct sl__conv *conv, enum sl_dtype dtype);
int sl__conv_weights_model_md(const_dnnl_memory_desc_t *out,
			      const struct sl__planner *pl,
			      const struct sl__conv *conv, enum sl_dtype dtype);

/* A second operand as a destination of that description meets it: in its
 * layout where both have the same sizes, else row-major. */
int sl__conv_post_op_operand_md(const_dnnl_memory_desc_t *out,
				const struct sl__planner *pl,
				const struct sl__conv *conv, int post_op,
				const_dnnl_memory_desc_t dst);

/* Before the nodes in front of it are planned: the post-operation that sums is
 * the first addition of what nobody needs after the node at place 'at'. */
void sl__conv_assume_sum(struct sl__conv *conv, const struct sl__planner *pl,
			 size_t at);

/* The attribute of the convolution with its first post-operations; NULL where
 * oneDNN does not take them. */
dnnl_primitive_attr_t sl__conv_attr(struct sl__planner *pl,
				    const struct sl__conv *conv,
				    const_dnnl_memory_desc_t dst, int n_within);

/* Chooses: by rule, as remembered, or by measuring. */
void sl__conv_choose(struct sl__conv_choice *out, struct sl__planner *pl,
		     const struct sl__conv *conv);

/* Writes 'value' as md says: row-major where the bytes lie so anyway. */
const struct sl__layout *sl__layout_for_output(struct sl__planner *pl,
					       uint32_t value,
					       const_dnnl_memory_desc_t md);

/* A value as an argument that md describes; and as the result of a primitive,
 * in a new buffer. */
struct sl__dnnl_arg sl__dnnl_input_arg(struct sl__planner *pl, int arg,
				       uint32_t value,
				       const_dnnl_memory_desc_t md);
struct sl__dnnl_arg sl__dnnl_output_arg(struct sl__planner *pl,
					const_dnnl_primitive_desc_t pd,
					uint32_t value);

#endif
