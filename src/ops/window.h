/* SPDX-License-Identifier: Apache-2.0 */
/* window.h - windows that slide over an image: convolutions and pools. */
#ifndef SL_WINDOW_H
#define SL_WINDOW_H

#include "graph/infer.h"

enum { SL__WINDOW_MOST = 8 }; /* dimensions of an image */

enum sl__padding {
	SL__PADDING_GIVEN = 0, /* pads */
	SL__PADDING_SAME,      /* one position per stride */
	SL__PADDING_VALID      /* none */
};

/*
 * Invariants: 1 <= n <= SL__WINDOW_MOST; kernel, strides and dilations are
 * from 1, pads from 0, all at most 2^30.  A kernel whose weight is not known
 * is a symbol.
 */
struct sl__window {
	int n;
	enum sl__padding padding;
	int is_odd_after; /* of an odd number of pads that are shared out, the
			     odd one goes after the image: SAME_UPPER */
	int is_ceil;
	int may_stick_out; /* the first window may: pools of runtimes round
			      towards zero there, to 1 position or none */
	int64_t kernel[SL__WINDOW_MOST];
	int64_t strides[SL__WINDOW_MOST], dilations[SL__WINDOW_MOST];
	int64_t pads_before[SL__WINDOW_MOST], pads_after[SL__WINDOW_MOST];
};

/*
 * Reads kernel_shape, strides, dilations, pads, auto_pad and ceil_mode of a
 * node for images of n dimensions.  'weight' is the kernel as a weight has
 * it, or NULL; a kernel_shape that says otherwise is refused, and a symbol in
 * it is taken from kernel_shape.
 */
enum sl_status sl__window_read(struct sl__window *out,
			       struct sl__rule_context *call, int n,
			       const int64_t *weight);

/* The same for a kernel. */
struct sl__kernel_call;
enum sl_status sl__window_read_for_kernel(struct sl__window *out,
					  struct sl__kernel_call *ev, int n,
					  const int64_t *weight);

/* The same for what has the node alone. */
enum sl_status sl__window_read_from_node(struct sl__window *out,
					 const struct sl__node *node, int n,
					 const int64_t *weight,
					 struct sl_error *err) SL_CHECKED;

/* Elements from the first tap along dimension d to the last. */
int64_t sl__window_extent(const struct sl__window *w, int d);

/* Shares out 'total' pads (below 0: none) before and after dimension d. */
void sl__window_split_pads(struct sl__window *w, int d, int64_t total);

/* Fills in the pads that SAME stands for, where the window takes out[d]
 * positions along in[d] elements. */
void sl__window_fill_same_pads(struct sl__window *w, const int64_t *in,
			       const int64_t *out);

/* Product of the kernel's sizes. */
uint64_t sl__window_taps(const struct sl__window *w);

/*
 * How many positions the window takes along dimension d of 'in' elements:
 * every stride-th one whose window lies in the padded input; with ceil_mode
 * also one that sticks out at the end, if it starts before the padding there.
 * A window that does not fit is refused.
 */
int64_t sl__window_output_size(struct sl__rule_context *call,
			       const struct sl__window *w, int d, int64_t in);

#endif
