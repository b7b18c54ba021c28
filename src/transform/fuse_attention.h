/* SPDX-License-Identifier: Apache-2.0 */
/* fuse_attention.h - attention while it is being recognised. */
#ifndef SL_FUSE_ATTENTION_H
#define SL_FUSE_ATTENTION_H

#include "transform/matched_nodes.h"
#include "transform/strided_view.h"

enum { SL__CHAIN_MOST = 12, SL__MASKS_MOST = 2 };

/*
 * Nodes that only move elements or multiply all by one number, from a value
 * backwards: nodes[i] makes values[i] from values[i + 1].
 */
struct sl__operand_chain {
	uint32_t values[SL__CHAIN_MOST + 1], nodes[SL__CHAIN_MOST];
	double factors[SL__CHAIN_MOST];
	int n;
};

/*
 * Queries, keys or values: elements [batch][heads][rows][width] of 'value',
 * the last two exchanged where is_turned is set.  flat and plain are values
 * that hold the same elements as [batch][rows][heads][width] and as
 * [batch][heads][rows][width] do, 'any' one that holds them with the
 * dimensions in another order, whatever their sizes are called; with the
 * factors between them and here.  SL__NONE where there is none.
 */
struct sl__attention_operand {
	uint32_t value;
	int is_turned;
	int has_factors; /* it may be multiplied by numbers on the way */
	int64_t heads, rows, width;
	uint32_t flat, plain, any;
	double flat_factor, plain_factor, any_factor;
	int order[4];           /* of the dimensions in 'any' */
	uint32_t past, present; /* values; SL__NONE */
	int is_past_turned;
	int64_t past_rows;
	struct sl__matched_nodes
		matched; /* what leads here, whichever is taken */
};

/* What is added to the scores, or which of them are replaced by 'fill'. */
struct sl__attention_mask {
	uint32_t value;
	int is_choice;       /* 'value' says which */
	int is_kept_where_1; /* of a choice: what stays as it is */
	double fill;
};

struct sl__attention_match {
	struct sl__matched_nodes matched;
	uint32_t softmax, mixing;
	uint32_t weights; /* value: what the second product has on its left */
	int rank;         /* of queries, keys and scores */
	int64_t batch, heads, queries, keys;
	double scale, softcap; /* 0: none */
	struct sl__attention_mask masks[SL__MASKS_MOST];
	int n_masks;
	int is_guarded; /* NaN in the weights is replaced by 0 */
	struct sl__attention_operand q, k, v;
};

enum sl__attention_operand_flags {
	SL__ATTENTION_OPERAND_REPEATED = 1, /* heads that are copies of fewer */
	SL__ATTENTION_OPERAND_PAST = 2 /* earlier rows before the new ones */
};

/* Fills what follows from the fields before 'flat'; 0 where nothing fits. */
int sl__attention_operand_trace(struct sl__attention_operand *o,
				struct sl__rewrite *rw, int64_t batch,
				unsigned parts);

/* The sizes of heads that a stack of matrices is made of: *batch and *heads
 * where the value has been made of four dimensions; 0 where it has not. */
int sl__operand_batch_heads(const struct sl__rewrite *rw, uint32_t value,
			    int64_t *batch, int64_t *heads);

/* Whether all masks can be said to one Attention node. */
int sl__attention_masks_fit(const struct sl__attention_match *a);

/* The mask of the node, SL__NONE: none, and whether it is causal. */
uint32_t sl__attention_masks_merge(struct sl__attention_match *a,
				   int *is_causal);

/* A Reshape to 'out', or to a new value where that is SL__NONE.  It covers
 * nothing.  Returns the result. */
uint32_t sl__rewrite_add_reshape(struct sl__rewrite *rw, uint32_t from,
				 int rank, const int64_t *dims, uint32_t out);

#endif
