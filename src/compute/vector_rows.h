/* SPDX-License-Identifier: Apache-2.0 */
/* vector_rows.h - rows of f32 reduced to one number. */
#ifndef SL_VECTOR_ROWS_H
#define SL_VECTOR_ROWS_H

#include "compute/vector.h"

enum { SL__LANES = 32 };

/* The upper half of the first 2 n lanes joined to the lower.  'n' is a literal,
 * so that no loop is left of it. */
#define SL__HALVE(n, joined)            \
	for (int l = 0; l < (n); l++) { \
		a = lanes[l];           \
		b = lanes[l + (n)];     \
		lanes[l] = (joined);    \
	}

/*
 * The body of a function that returns 'joined' of a and b over k in 0 .. n - 1,
 * where b is 'element' of x = xs[k] and of k, and a is 'start' at first.  As
 * many lanes are joined side by side as several vectors hold, and their results
 * at the end: an order that compilers may not choose by themselves.
 */
#define SL__ROW_BODY(xs, n, start, element, joined)            \
	{                                                      \
		float lanes[SL__LANES], a, b, x;               \
		int64_t i = 0, k;                              \
                                                               \
		for (int l = 0; l < SL__LANES; l++)            \
			lanes[l] = (start);                    \
		for (; i + SL__LANES <= (n); i += SL__LANES) { \
			for (int l = 0; l < SL__LANES; l++) {  \
				k = i + l;                     \
				x = (xs)[k];                   \
				a = lanes[l];                  \
				b = (element);                 \
				lanes[l] = (joined);           \
			}                                      \
		}                                              \
		for (k = i; k < (n); k++) {                    \
			x = (xs)[k];                           \
			a = lanes[k - i];                      \
			b = (element);                         \
			lanes[k - i] = (joined);               \
		}                                              \
		SL__HALVE(16, joined)                          \
		SL__HALVE(8, joined)                           \
		SL__HALVE(4, joined)                           \
		SL__HALVE(2, joined)                           \
		SL__HALVE(1, joined)                           \
		return lanes[0];                               \
	}

/* float name(xs, n, knob): the same, 'element' of x and knob. */
#define SL__ROW(name, start, element, joined)                         \
	SL__INLINE float name(const float *xs, int64_t n, float knob) \
	{                                                             \
		(void)knob;                                           \
		SL__ROW_BODY(xs, n, start, element, joined)           \
	}

/* The sum of xs[k] ys[k]. */
SL__INLINE float
sl__dot(const float *xs, const float *ys, int64_t n)
	SL__ROW_BODY(xs, n, 0, x *ys[k], a + b)

#endif
