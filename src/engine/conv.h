/* SPDX-License-Identifier: Apache-2.0 */
/* conv.h - a convolution as its kernels see it. */
#ifndef SL_CONV_H
#define SL_CONV_H

#include "compute/image_window.h"
#include "engine/planner.h"
#include "ops/post_op.h"

/* What a node convolves. */
struct sl__conv {
	const struct sl__node *node;
	uint32_t x, w, b, y; /* values; b may be SL__NONE */
	enum sl_dtype dtype; /* to compute in */
	int rank;            /* of x and y */
	int64_t n_groups;
	int is_transposed;
	struct sl__image_window window;
	struct sl__post_op post_ops[SL__POST_OPS_MAX];
	int n_post_ops;
	int sum; /* the post-operation that adds to what lies in the
		    destination; -1: none */
};

/* 0: not for these kernels (types, sizes, an epilogue that is none). */
int sl__conv_read(struct sl__conv *out, struct sl__planner *pl,
		  const struct sl__node *node);

/* The window alone, of a conv whose node, values and rank are set; 0: too
 * large. */
int sl__conv_read_window(struct sl__conv *conv, const struct sl__planner *pl);

/* Whether the operand of a post-operation has the result's type and sizes. */
int sl__conv_operand_is_same_size(const struct sl__planner *pl,
				  const struct sl__conv *conv, int post_op);

#endif
