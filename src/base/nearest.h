/* SPDX-License-Identifier: Apache-2.0 */
/* nearest.h - which name was probably meant. */
#ifndef SL_NEAREST_H
#define SL_NEAREST_H

#include "sleuth/basics.h"

/* What sl__edit_distance() returns for words that are too long to compare. */
enum { SL__EDITS_MANY = 99 };

/*
 * How many letters must be added, removed, changed or swapped with their
 * neighbour to turn the first n_a bytes of 'a' into the first n_b of 'b'
 * (Damerau 1964).  Case does not count.
 */
unsigned sl__edit_distance(const char *a, size_t n_a, const char *b,
			   size_t n_b);

#endif
