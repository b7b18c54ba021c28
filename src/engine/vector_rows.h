/* SPDX-License-Identifier: Apache-2.0 */
/* vector_rows.h - a row of f32 reduced to one number. */
#ifndef SL_VECTOR_ROWS_H
#define SL_VECTOR_ROWS_H

#include "engine/vector.h"

enum { SL__LANES = 32 };

/*
 * float name(x, n, knob): 'joined' of a and b over all elements, where b is
 * 'element' of x and knob, and a is 'start' at first.  As many lanes are
 * joined side by side as several vectors hold, and their results at the end:
 * an order that compilers may not choose by themselves.
 */
#define SL__ROW(name, start, element, joined)                         \
	SL__INLINE float name(const float *xs, int64_t n, float knob) \
	{                                                             \
		float lanes[SL__LANES], a, b, x;                      \
		int64_t i = 0;                                        \
                                                                      \
		(void)knob;                                           \
		for (int l = 0; l < SL__LANES; l++)                   \
			lanes[l] = (start);                           \
		for (; i + SL__LANES <= n; i += SL__LANES) {          \
			for (int l = 0; l < SL__LANES; l++) {         \
				x = xs[i + l];                        \
				a = lanes[l];                         \
				b = (element);                        \
				lanes[l] = (joined);                  \
			}                                             \
		}                                                     \
		for (int l = 0; i + l < n; l++) {                     \
			x = xs[i + l];                                \
			a = lanes[l];                                 \
			b = (element);                                \
			lanes[l] = (joined);                          \
		}                                                     \
		for (int half = SL__LANES / 2; half; half /= 2) {     \
			for (int l = 0; l < half; l++) {              \
				a = lanes[l];                         \
				b = lanes[l + half];                  \
				lanes[l] = (joined);                  \
			}                                             \
		}                                                     \
		return lanes[0];                                      \
	}

#endif
