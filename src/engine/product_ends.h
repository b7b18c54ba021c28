/* SPDX-License-Identifier: Apache-2.0 */
/* product_ends.h - what follows a product, on its elements while near. */
#ifndef SL_PRODUCT_ENDS_H
#define SL_PRODUCT_ENDS_H

#include "engine/product.h"

/* The ends of a product as a step runs them; where their operands are among
 * those of the step. */
struct sl__ends {
	const struct sl__product *p;
	void (*change)(const struct sl__post *post, const float *operand,
		       int64_t n, float *x);
	uint32_t at[SL__ENDS_MOST];
	int is_bf16[SL__ENDS_MOST]; /* operands, else f32 */
};

/*
 * Reads the operands: adds them to operands[], which holds n already and has
 * room for SL__ENDS_MOST more; returns how many it holds then.  'p' lives as long as the program.
 */
uint32_t sl__ends_read(struct sl__ends *out, struct sl__planner *pl,
		       const struct sl__product *p, uint32_t *operands,
		       uint32_t n);

/* Changes elements first .. first + n - 1 of a row of the result, rows of all
 * stacks counted through, which are in x.  'at' are the step's addresses. */
void sl__ends_apply(const struct sl__ends *e, unsigned char *const *at,
		    int64_t row, int64_t first, int64_t n, float *x);

/* All ends of a product as a step, on its result, f32, in 'buffer'. */
void sl__product_ends_step(struct sl__planner *pl, const struct sl__product *p,
			   uint32_t buffer);

#endif
