/* SPDX-License-Identifier: Apache-2.0 */
/* running_sum.h - running sums and products along lines. */
#ifndef SL_RUNNING_SUM_H
#define SL_RUNNING_SUM_H

#include "sleuth/basics.h"

#include <stdint.h>

enum { SL__RUNNING_SUM_COLUMNS = 64 };

struct sl__running_sum {
	int64_t outer, size, inner; /* around the axis */
	int64_t n_blocks;           /* of so many columns each slice has */
	int is_product, is_exclusive, is_reverse;
	const void *x;
	void *y;
};

/* Blocks first to end - 1 of outer x n_blocks. */
typedef void sl__running_sum_function(const struct sl__running_sum *r,
				      int64_t first, int64_t end);

/* That of elements of a type; NULL: there is none. */
sl__running_sum_function *sl__running_sum_for(enum sl_dtype dtype);

#endif
