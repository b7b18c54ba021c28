/* SPDX-License-Identifier: Apache-2.0 */
/* strided_copy.h - elements copied from one order into another. */
#ifndef SL_STRIDED_COPY_H
#define SL_STRIDED_COPY_H

#include "compute/iteration_space.h"

#include <stddef.h>

/* For every position of 'space', whose operand 0 is the target and 1 the
 * source, an element of n_bytes, 1, 2, 4 or 8, is copied. */
struct sl__strided_copy {
	const struct sl__iteration_space *space; /* ordered */
	size_t n_bytes;
	unsigned char *to;
	const unsigned char *from;
};

/* Joins and orders the loops of a copy, once. */
void sl__strided_copy_order(struct sl__iteration_space *space);
void sl__strided_copy(const struct sl__strided_copy *copy, int n_threads);

#endif
