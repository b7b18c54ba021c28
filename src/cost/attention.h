/* SPDX-License-Identifier: Apache-2.0 */
/* attention.h - finding attention in a graph, whole or in pieces. */
#ifndef SL_ATTENTION_H
#define SL_ATTENTION_H

#include "cost/cost_analysis_inputs.h"

/*
 * softmax(Q K') V.  Whole, it is one operator; in pieces, a product of two
 * activations, what scales and masks it, a Softmax, and a second product.
 */
struct sl__attention {
	uint32_t scores, mixing;    /* the two products; the same node when
				    whole */
	int is_causal;              /* a token sees only those before it */
	uint64_t n_queries, n_keys; /* tokens */
	/* Of keys and values together before heads are repeated, for all
	 * tokens and the whole batch; 0: not known. */
	uint64_t kv_elements;
	enum sl_dtype dtype; /* of keys and values */
};

struct sl__attentions {
	struct sl__attention *rows;
	size_t n;
	/* Per node: MACs that are products of attention (all of a product's,
	 * the part of an operator that projects too), and how many of them
	 * causal masking makes needless, of one call. */
	uint64_t *product_macs, *masked_macs;
	unsigned char *is_causal; /* per node */
};

enum sl_status
sl__attentions_find(struct sl__attentions *out,
		    const struct sl__cost_analysis_inputs *forward,
		    struct sl__arena *arena, struct sl_error *err) SL_CHECKED;

/*
 * What a decoder keeps of each token: from states that grow (inputs and the
 * outputs that renew them), else from causal self-attention.  Bytes are per
 * sample.  'absent' says why there is nothing to keep.
 */
struct sl__kv {
	double bytes_per_token;
	double elements_per_token;
	double bytes; /* whole batch, at the sizes of the shapes */
	size_t n_attentions;
	const char *absent;
};

void sl__kv_of(struct sl__kv *out, const struct sl__shapes *shapes,
	       const struct sl__attentions *attentions, int64_t batch);

#endif
