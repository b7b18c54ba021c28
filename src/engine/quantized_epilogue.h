/* SPDX-License-Identifier: Apache-2.0 */
/* quantized_epilogue.h - from sums of products of bytes to results. */
#ifndef SL_QUANTIZED_EPILOGUE_H
#define SL_QUANTIZED_EPILOGUE_H

#include "engine/quantized.h"

enum sl__quantized_output_kind {
	SL__QUANTIZED_SUMS,  /* int32 */
	SL__QUANTIZED_REALS, /* f32: times the scales, plus a bias */
	SL__QUANTIZED_CODES  /* to the result's scale and zero point */
};

/* What a step of these works on; some may be missing. */
enum sl__quantized_operand_id {
	SL__QUANTIZED_OPERAND_SUMS,
	SL__QUANTIZED_OPERAND_Y,
	SL__QUANTIZED_OPERAND_A, /* bytes, for the sums of its rows */
	SL__QUANTIZED_OPERAND_B, /* int8, for the sums of its columns */
	SL__QUANTIZED_OPERAND_A_SCALE,
	SL__QUANTIZED_OPERAND_A_ZERO,
	SL__QUANTIZED_OPERAND_B_SCALE,
	SL__QUANTIZED_OPERAND_B_ZERO,
	SL__QUANTIZED_OPERAND_Y_SCALE,
	SL__QUANTIZED_OPERAND_Y_ZERO,
	SL__QUANTIZED_OPERAND_BIAS,
	SL__N_QUANTIZED_OPERANDS
};

/* Where a part is among the step's operands (-1: missing), how many numbers
 * it has and of which type. */
struct sl__quantized_operand {
	int at;
	int64_t n;
	enum sl_dtype dtype;
};

/*
 * Makes (a - a_zero) (b - b_zero) of the sums of a b, and then what 'kind'
 * says.  Scales and zero points are read when the step runs.  b is int8; from
 * that of uint8 128 is taken off, and from its zero points too.  Sums of no
 * more than SL__QUANTIZED_MAX_K products of 255 * 255 fit into int32.
 */
enum { SL__QUANTIZED_MAX_K = 1 << 15 };
struct sl__quantized_epilogue {
	enum sl__quantized_output_kind kind;
	struct sl__quantized_operand parts[SL__N_QUANTIZED_OPERANDS];
	int64_t n_batches, n_rows, n_columns, k; /* rows of one batch */
	int64_t n_b_batches;                     /* 1 or n_batches */
	int64_t a_row, a_k, b_k, b_n;            /* strides */
	float alpha;
	int is_centred;            /* all zero points of b are known to be 0 */
	int has_b_sums;            /* they are known */
	int32_t *b_sums, *offsets; /* per column of all of b */
	int32_t *zeros;            /* per column */
	float *factors, *biases;   /* per column */
	struct sl__quantization_params to; /* the result's */
	unsigned char *const *addresses;   /* of the run under way */
};

/* Storage for what is found per column; 0: a failure. */
int sl__quantized_alloc_columns(struct sl__quantized_epilogue *epilogue,
				struct sl__planner *pl);

/* Sums of the columns of b. */
void sl__quantized_sum_columns(struct sl__quantized_epilogue *epilogue,
			       const int8_t *b);

/* The step's run function; its state is a struct sl__quantized_epilogue. */
enum sl_status sl__quantized_epilogue_run(struct sl__step *step,
					  struct sl_error *err);

#endif
