/* SPDX-License-Identifier: Apache-2.0 */
/* gemm_epilogue.h - what follows a matmul, on its elements while near. */
#ifndef SL_GEMM_EPILOGUE_H
#define SL_GEMM_EPILOGUE_H

#include "engine/gemm.h"

/* The epilogue of a matmul as a step runs it; where its operands are among
 * those of the step. */
struct sl__epilogue {
	const struct sl__gemm *p;
	void (*change)(const struct sl__post_op *post_op, const float *operand,
		       int64_t n, float *x);
	uint32_t at[SL__EPILOGUE_MAX];
	int is_bf16[SL__EPILOGUE_MAX]; /* operands, else f32 */
};

/*
 * Reads the operands: adds them to operands[], which holds n already and has
 * room for SL__EPILOGUE_MAX more; returns how many it holds then.  'p' lives as
 * long as the program.
 */
uint32_t sl__epilogue_add_operands(struct sl__epilogue *out,
				   struct sl__planner *pl,
				   const struct sl__gemm *p, uint32_t *operands,
				   uint32_t n);

/* Changes elements first .. first + n - 1 of a row of the result, rows of all
 * stacks counted through, which are in x.  'at' are the step's addresses. */
void sl__epilogue_apply(const struct sl__epilogue *e, unsigned char *const *at,
			int64_t row, int64_t first, int64_t n, float *x);

/* The whole epilogue of a matmul as a step, on its result, f32, in 'buffer'. */
void sl__plan_gemm_epilogue(struct sl__planner *pl, const struct sl__gemm *p,
			    uint32_t buffer);

#endif
