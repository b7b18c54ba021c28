/* SPDX-License-Identifier: Apache-2.0 */
/*
 * post_op_pairs.h - every pair of operations after convolutions and products.
 *
 * Sums of 18 products and functions of them are off by some roundings of f32,
 * 6e-8 each; slopes are below 2 and the largest element is above 1/4: 1e-5 of
 * it is enough.  With bf16, operands and results are off by 2^-9 of
 * themselves, and clips leave 3/4 of sums up to 10: a tenth of that.  Where
 * parameters are mistaken, results are off by a quarter and more.
 */
#ifndef SL_TEST_POST_OP_PAIRS_H
#define SL_TEST_POST_OP_PAIRS_H

#include "engine/dnnl_post_op.h"
#include "matmul_case.h"

/* What operations follow: its text up to their operands, and from there on,
 * and the operand of each that takes one. */
struct post_op_carrier {
	const char *text, *rest, *operand;
};

static const struct post_op_carrier post_op_carriers[] = {
	{"sleuth.Conv 1 (f32[1,2,6,5], f32[10,2,3,3], f32[10]",
	 " pads=[1,1,1,1]", "f32[1,10,6,5]"},
	{"sleuth.Conv 1 (f32[1,18,6,5], f32[16,18,1,1], f32[16]", "",
	 "f32[16,1,1]"},
	{"sleuth.Conv 1 (f32[1,10,6,5], f32[10,1,3,3], f32[10]",
	 " group=10 pads=[1,1,1,1]", "f32[1,10,6,5]"},
	{"sleuth.Conv 1 (f32[1,32,6,5], f32[32,1,3,3], f32[32]",
	 " group=32 pads=[1,1,1,1]", "f32[32,1,1]"},
	{"sleuth.MatMul 1 (f32[9,18], f32[18,19], f32[19]", "", "f32[9,19]"},
	{"sleuth.MatMul 1 (f32[2,9,18], f32[18,33], f32[33]", "", "f32[33]"},
};

static inline int
is_post_op_join(enum sl__post_op_kind kind)
{
	return kind == SL__POST_OP_ADD || kind == SL__POST_OP_MUL;
}

static inline void
check_pair(const struct post_op_carrier *e, const enum sl__post_op_kind *kinds,
	   float more, enum sl_dtype dtype)
{
	char line[256], words[64];
	const char *first = is_post_op_join(kinds[0]) ? e->operand : NULL;
	const char *second = is_post_op_join(kinds[1]) ? e->operand : NULL;
	struct matmul_case c = {.text = line, .post_ops = words, .more = more};

	snprintf(words, sizeof(words), "%s %s", sl__post_op_name(kinds[0]),
		 sl__post_op_name(kinds[1]));
	snprintf(line, sizeof(line), "%s%s%s%s%s)%s", e->text,
		 first ? ", " : "", first ? first : "", second ? ", " : "",
		 second ? second : "", e->rest);
	c.constants = 6;
	c.alpha = .25F;
	c.beta = .75F;
	c.dtype = dtype;
	c.share = dtype == SL_DTYPE_BF16 ? .1 : 0;
	check_product(&c);
}

static inline void
check_pairs_of(const struct post_op_carrier *e, enum sl_dtype dtype)
{
	for (int i = 0; i < SL__N_POST_OPS; i++) {
		for (int k = 0; k < SL__N_POST_OPS; k++) {
			enum sl__post_op_kind kinds[2] = {
				(enum sl__post_op_kind)i,
				(enum sl__post_op_kind)k};

			check_pair(e, kinds, .25F, dtype);
			if (i == k)
				check_pair(e, kinds, 0, dtype);
		}
	}
}

static inline void
check_post_op_pairs(enum sl_dtype dtype)
{
	size_t n = sizeof(post_op_carriers) / sizeof(post_op_carriers[0]);

	for (size_t i = 0; i < n; i++)
		check_pairs_of(&post_op_carriers[i], dtype);
}

#endif
