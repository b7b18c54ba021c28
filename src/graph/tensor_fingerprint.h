/* SPDX-License-Identifier: Apache-2.0 */
/* tensor_fingerprint.h - which numbers a tensor holds, in two words. */
#ifndef SL_TENSOR_FINGERPRINT_H
#define SL_TENSOR_FINGERPRINT_H

#include "graph/graph.h"
#include "sleuth/models.h"

/* Tensors of one identity hold the same bytes. */
struct sl__tensor_fingerprint {
	uint64_t words[2];
};

/*
 * A tensor of the model itself is known by its address, which nothing else
 * has as long as the model lives.  Others, which come and go with plans, are
 * known by a digest of what they hold or are made from: by 128 bits, so that
 * two that differ are never taken for one in practice.  Returns 0 for what has
 * none: strings, sparse and absent numbers.
 */
int sl__tensor_fingerprint_of(struct sl__tensor_fingerprint *out,
			      const struct sl__tensor *tensor,
			      const struct sl_graph *model);

static inline int
sl__tensor_fingerprint_equal(const struct sl__tensor_fingerprint *a,
			     const struct sl__tensor_fingerprint *b)
{
	return a->words[0] == b->words[0] && a->words[1] == b->words[1];
}

#endif
