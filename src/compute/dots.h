/* SPDX-License-Identifier: Apache-2.0 */
/* dots.h - few rows times many others, which are read once. */
#ifndef SL_DOTS_H
#define SL_DOTS_H

#include <stdint.h>

enum {
	SL__DOTS_ROWS_MOST = 4,
	SL__DOTS_CHUNK = 64, /* columns whose results are kept near, */
	SL__DOTS_HALF = SL__DOTS_CHUNK / 2 /* half of them from each stretch */
};

/* Rows of a, f32, times n rows of each stretch of b: y[i * SL__DOTS_CHUNK + j],
 * and SL__DOTS_HALF further on for the second. */
struct sl__dots {
	const float *a;
	int64_t a_row;
	const unsigned char *b[2]; /* f32 or bf16 */
	int64_t b_row;
	int64_t k, n;
	float *y;
};

typedef void sl__dots_function(const struct sl__dots *d);
typedef void sl__plain_dots_function(const struct sl__dots *d, int m,
				     int is_bf16);

/* For m rows, on this machine; NULL: the plain one is best. */
sl__dots_function *sl__dots_for(int m, int is_bf16);
sl__plain_dots_function *sl__plain_dots_for(void);

#endif
