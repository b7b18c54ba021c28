/* SPDX-License-Identifier: Apache-2.0 */
/* tensor_patterns.h - what a tensor's numbers look like, from as few as will
 * do. */
#ifndef SL_TENSOR_PATTERNS_H
#define SL_TENSOR_PATTERNS_H

#include "graph/tensor.h"

/*
 * All of these let go of the pages they touched.  They say no where the
 * numbers cannot be had.
 */

/* Whether the last two dimensions are square and what lies above the diagonal
 * is one value and the rest another, as far as four rows tell: the mask of
 * causal attention. */
int sl__looks_triangular(const struct sl__tensor *tensor);

/* Whether a table of two or more columns and rows holds just two values, or
 * one in a square, as far as three rows tell: a mask of some kind. */
int sl__looks_like_mask(const struct sl__tensor *tensor);

/* Whether row n holds sines and cosines of n times some frequencies, the
 * first of which is 1: a table of positions, computed and not learned. */
int sl__looks_like_sinusoids(const struct sl__tensor *tensor);

/* A number that equal tensors share, and that the transpose of a matrix
 * shares with it. */
uint64_t sl__tensor_content_hash(const struct sl__tensor *tensor);

enum sl__tensor_match {
	SL__TENSOR_MATCH_NONE = 0,
	SL__TENSOR_MATCH_EQUAL,
	SL__TENSOR_MATCH_TRANSPOSED, /* both of rank 2 */
	SL__TENSOR_MATCH_ONE_VALUE   /* equal, but every element is the same */
};

/* Compares all the numbers, a piece at a time. */
enum sl__tensor_match sl__tensor_compare(const struct sl__tensor *a,
					 const struct sl__tensor *b);

#endif
