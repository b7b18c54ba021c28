/* SPDX-License-Identifier: Apache-2.0 */
/* prune.h - models with fewer channels, heads or weights. */
#ifndef SL_PRUNE_H
#define SL_PRUNE_H

#include "transform/prune_units.h"

enum sl__prune_kind {
	SL__PRUNE_CHANNELS = 0, /* of convolutions and linear layers */
	SL__PRUNE_HEADS         /* of attention */
};

struct sl__prune_options {
	enum sl__prune_kind kind;
	double share;            /* of the channels of each layer, 0 to 1 */
	const char *const *keep; /* layers that stay as they are */
	size_t n_keep;
};

struct sl__pruned {
	struct sl_graph *graph; /* refers to the numbers of the old one */
	size_t n_layers;        /* whose weights are smaller */
	size_t n_units;         /* channels or heads that there were, without
				   those that are outputs of the model */
	size_t n_removed;
	size_t n_held;    /* of n_units: by nodes that are not followed */
	uint32_t held_by; /* the first such node; SL__NONE */
};

/*
 * Removes the channels of the least norm: the Euclidean norm of the weights
 * that make a channel, times what a BatchNormalization behind them scales it
 * by, over the mean of its layer; summed over the layers that make it (Li et
 * al. 2017, Liu et al. 2017).  Layers lose the same share, and keep at least
 * one channel.  Inputs and outputs of the model keep their sizes.  SL_E_DATA
 * where nothing can be removed, with the node that is in the way.
 */
enum sl_status sl__prune(struct sl__pruned *out, const struct sl_graph *graph,
			 const struct sl__prune_options *how,
			 struct sl_error *err) SL_CHECKED;

/* prune_weights.c: sets the smallest weights of each convolution and linear
 * layer to zero; 'kind' does not matter.  Units are weights. */
enum sl_status sl__prune_weights(struct sl__pruned *out,
				 const struct sl_graph *graph,
				 const struct sl__prune_options *how,
				 struct sl_error *err) SL_CHECKED;

/* Marks the nodes of the layers to keep; is_kept[] has a place for each. */
enum sl_status sl__prune_find_kept(const struct sl_graph *graph,
				   const struct sl__prune_options *how,
				   unsigned char *is_kept,
				   struct sl__arena *scratch,
				   struct sl_error *err) SL_CHECKED;

/* Whether the second input of a node is what it multiplies with: Conv,
 * ConvTranspose, Gemm, MatMul. */
static inline int
sl__has_weights(const struct sl__node *n)
{
	return n->op && (sl__is_op(n, SL__OP_ONNX_Conv) ||
			 sl__is_op(n, SL__OP_ONNX_ConvTranspose) ||
			 sl__is_op(n, SL__OP_ONNX_Gemm) ||
			 sl__is_op(n, SL__OP_ONNX_MatMul));
}

/* prune_build.c: the graph without the groups whose roots are marked, and in
 * how many layers that is less.  'arena' is for storage that goes. */
enum sl_status sl__prune_build(struct sl_graph **out, size_t *n_layers,
			       const struct sl__units *u,
			       const unsigned char *is_removed,
			       struct sl__arena *arena,
			       struct sl_error *err) SL_CHECKED;

#endif
