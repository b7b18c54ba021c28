/* SPDX-License-Identifier: Apache-2.0 */
/* reduce.h - reductions along some axes, f32. */
#ifndef SL_REDUCE_H
#define SL_REDUCE_H

#include "compute/iteration_space.h"

enum sl__reduction_kind {
	SL__REDUCTION_SUM = 0,
	SL__REDUCTION_SUM_ABS,
	SL__REDUCTION_SUM_SQUARE,
	SL__REDUCTION_PRODUCT,
	SL__REDUCTION_MOST,
	SL__REDUCTION_LEAST
};
enum sl__joining {
	SL__JOIN_SUM = 0,
	SL__JOIN_PRODUCT,
	SL__JOIN_MOST,
	SL__JOIN_LEAST
};
enum sl__reduce_after {
	SL__REDUCE_NOTHING = 0,
	SL__REDUCE_ROOT,
	SL__REDUCE_LOGARITHM,
	SL__REDUCE_MEAN
};

/* row: a row into one number; band: a row joined into others. */
typedef void sl__row_function(const float *x, int64_t n, float *y);
struct sl__reduction {
	sl__row_function *row, *band;
	enum sl__joining joining;
};
struct sl__reduction sl__reduction_for(enum sl__reduction_kind kind);

struct sl__reduce {
	struct sl__reduction how;
	enum sl__reduce_after after;
	int64_t n_joined;                  /* into each element of the result */
	struct sl__iteration_space kept;   /* result, input */
	struct sl__iteration_space inside; /* input, over what is reduced */
	int64_t inner; /* innermost loop where that is kept, else 0 */
};

/* Pieces first to end - 1 of so many. */
int64_t sl__reduce_n_pieces(const struct sl__reduce *r);
void sl__reduce(const struct sl__reduce *r, const float *x, float *y,
		int64_t first, int64_t end);

/* [outer][length][inner]: a place along 'length' for each of the others. */
struct sl__places {
	int64_t outer, length, inner;
	int is_least, is_last; /* of equals */
	sl__row_function *row; /* that finds the extreme */
};

/* That in the line that begins at x. */
int64_t sl__places_find(const struct sl__places *p, const float *x);

#endif
