/* SPDX-License-Identifier: Apache-2.0 */
/* few_bits.h - rows times a matrix of 4 or 8 bits. */
#ifndef SL_FEW_BITS_H
#define SL_FEW_BITS_H

#include <stdint.h>

enum {
	SL__FEW_BITS_BLOCK = 32, /* elements of a row that share a scale */
	SL__FEW_BITS_LANES = 16,
	SL__FEW_BITS_STEP = 64, /* bytes of weights, a vector of them */
	SL__FEW_BITS_ROWS = 4   /* that share a reading of the weights */
};

struct sl__few_bits;

/* Two columns of the result, which may be the same, for rows from 'row' on. */
struct sl__few_bits_task {
	const struct sl__few_bits *g;
	const unsigned char *w[2];
	const float *scales[2];
	int64_t row;
	float *sums[2]; /* of the rows */
};
typedef void sl__few_bits_function(const struct sl__few_bits_task *t);

/*
 * y = a b + bias: the caller sets sizes, is_4_bits, zeros and bias, calls
 * sl__few_bits_init(), and sets what stands at the end before each run.
 */
struct sl__few_bits {
	int64_t n_rows, k, n;
	int is_4_bits;
	const unsigned char *zeros; /* of each block; NULL: the usual one */
	const float *bias;          /* NULL: none */

	int64_t n_blocks;              /* of the weights */
	int64_t row_bytes;             /* of the weights, a column's */
	int64_t n_steps, n_full_steps; /* vectors of weights of a column */
	uint64_t last_bytes; /* the one after the full ones has these bytes, */
	unsigned char scales[2]; /* and scales: of full steps, of that one */
	int64_t ratio;           /* blocks of rows in one of the weights */
	int shift;               /* of which it is the power of two */
	int32_t which[SL__FEW_BITS_LANES]; /* scale of each lane, among those
					      of a step */
	int zero;          /* the usual one: half of the codes are below it */
	int64_t zeros_row; /* bytes of a column's */
	sl__few_bits_function *tasks[SL__FEW_BITS_ROWS]; /* NULL: plain C */
	void (*plain)(const struct sl__few_bits_task *t, int m);

	const float *a, *scales_of_blocks;
	const unsigned char *b;
	float *y;
	float *rows;        /* sl__few_bits_row_elements() for each row, and, */
	signed char *codes; /* where there are tasks, as many of these */
	int32_t *first;     /* and a quarter of these */
};

/* 'block': elements of a column that share a scale, a power of two that is not
 * below SL__FEW_BITS_BLOCK. */
void sl__few_bits_init(struct sl__few_bits *g, int64_t block,
		       int rows_are_rounded);
int64_t sl__few_bits_row_elements(const struct sl__few_bits *g);
void sl__few_bits_run(struct sl__few_bits *g, int n_threads);

#endif
