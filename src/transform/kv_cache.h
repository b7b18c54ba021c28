/* SPDX-License-Identifier: Apache-2.0 */
/* kv_cache.h - decoders that keep the keys and values of earlier tokens. */
#ifndef SL_KV_CACHE_H
#define SL_KV_CACHE_H

#include "transform/prune_units.h"

/*
 * Gives a decoder that reads a whole text a cache: inputs past_key_N and
 * past_value_N, N counting attentions from 0, and outputs present_key_N and
 * present_value_N, which have those of the new tokens behind the old ones.  A
 * mask of tokens that the model is given is one of all tokens then.
 *
 * Attention is two matrix products with a Softmax between them, whose scores
 * have as many rows as columns, and that a name says how many.  It is not
 * checked whether tokens see later ones, which a cache would change.
 * SL_E_DATA where there is none, or where something that depends on the length
 * of the text cannot be followed.
 */
enum sl_status sl__kv_cache(struct sl_graph **out, size_t *n_layers,
			    const struct sl_graph *graph,
			    struct sl_error *err) SL_CHECKED;

#endif
