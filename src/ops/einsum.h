/* SPDX-License-Identifier: Apache-2.0 */
/* einsum.h - the equation of an Einsum, read. */
#ifndef SL_EINSUM_H
#define SL_EINSUM_H

#include <stddef.h>

/* Labels: 0 .. SL__EINSUM_DOTS - 1 are the dimensions of "...", counted from
 * the last; letters follow. */
enum {
	SL__EINSUM_LETTERS = 52,
	SL__EINSUM_DOTS = 32, /* dimensions that "..." may stand for */
	SL__EINSUM_LABELS = SL__EINSUM_LETTERS + SL__EINSUM_DOTS,
	SL__EINSUM_OPERANDS = 16
};

/* One term of the equation as labels, one for each dimension. */
struct sl__einsum_term {
	int labels[SL__EINSUM_LABELS];
	size_t n;
	int has_dots;
};

/*
 * The terms of n operands of these ranks, then that of the result; 0 where the
 * equation is malformed or does not fit them, or n is beyond
 * SL__EINSUM_OPERANDS.  Sizes are not looked at.
 */
int sl__einsum_read(const char *equation, size_t n, const int *ranks,
		    struct sl__einsum_term *terms);

#endif
