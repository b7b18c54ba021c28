/* SPDX-License-Identifier: Apache-2.0 */
/* low_rank.h - linear layers as two smaller ones. */
#ifndef SL_LOW_RANK_H
#define SL_LOW_RANK_H

#include "transform/prune.h"

struct sl__low_rank {
	struct sl_graph *graph; /* refers to the numbers of the old one */
	size_t n_layers;        /* that are two now */
	double kept;            /* of the weights' sum of squares, 0 to 1 */
};

/*
 * Makes each linear layer, k inputs and n outputs, two layers by way of r
 * values, with share less multiply-adds: r (k + n) = (1 - share) k n, rounded
 * down.  Layers whose r would be 0, and weights that something else uses too,
 * stay.  SL_E_DATA where none is left.
 */
enum sl_status sl__low_rank(struct sl__low_rank *out,
			    const struct sl_graph *graph,
			    const struct sl__prune_options *how, uint64_t seed,
			    struct sl_error *err) SL_CHECKED;

/* Matrices by rows: w [m][n], about left [m][r] times right [r][n]. */
struct sl__factors {
	size_t m, n, r;
	const double *w;
	double *left, *right;
};

/*
 * Fills left and right, from a seed; left has orthonormal columns.  Of all
 * factors of r, the error is that of the truncated singular value
 * decomposition but for a share that vanishes with the gap behind singular
 * value r.  0: out of memory, which is from 'arena'.
 */
int sl__factorize(const struct sl__factors *f, uint64_t seed,
		  struct sl__arena *arena);

#endif
