/* SPDX-License-Identifier: Apache-2.0 */
/* planted_case.h - a model whose bottleneck is known, and how big it is. */
#ifndef SL_PLANTED_CASE_H
#define SL_PLANTED_CASE_H

#include "sleuth.h"

/* What a case is about. */
enum asks {
	ASKS_BOUND = 0, /* what most of the time is bound by */
	ASKS_TOP,       /* which operation takes longest */
	ASKS_PEAK       /* which operation needs most memory */
};

/* What a size is a multiple of. */
enum unit {
	UNIT_ONE = 0, /* the number itself */
	UNIT_L2,      /* bytes of that cache, of all threads of the case; as
			 found on the machine */
	UNIT_L3
};

struct planted {
	const char *name;
	enum asks asks;
	enum sl_bound bound;        /* the right answer */
	enum sl_bottleneck verdict; /* INCONCLUSIVE: nobody knows */
	unsigned flags;             /* enum sl_plan_flags */
	int n_threads;              /* 0: all */
	enum sl_dtype dtype;        /* of the plan; NONE: the model's */
	void (*build)(struct sl_builder *b, int64_t size, int n_threads);
	double size;
	enum unit unit;
};

/* The suite, and models on which nothing was tuned, in two files each; and such
 * whose steps are brief. */
extern const struct planted suite[], suite_operators[], held_out[],
	held_out_later[], held_out_brief[];
extern const size_t n_suite, n_suite_operators, n_held_out, n_held_out_later,
	n_held_out_brief;

/* Answers, of the operation and of the model; flags of the plan. */
#define COMPUTE   SL_BOUND_COMPUTE, SL_BOTTLENECK_COMPUTE
#define WORK      SL_BOUND_INSTRUCTIONS, SL_BOTTLENECK_COMPUTE
#define LATENCY   SL_BOUND_LATENCY, SL_BOTTLENECK_COMPUTE
#define REFERENCE SL_BOUND_REFERENCE, SL_BOTTLENECK_COMPUTE
#define L2        SL_BOUND_L2, SL_BOTTLENECK_MEMORY
#define L3        SL_BOUND_L3, SL_BOTTLENECK_MEMORY
#define DRAM      SL_BOUND_DRAM, SL_BOTTLENECK_MEMORY
#define LAYOUT    SL_BOUND_LAYOUT, SL_BOTTLENECK_MEMORY
#define OVERHEAD  SL_BOUND_OVERHEAD, SL_BOTTLENECK_OVERHEAD
#define IMBALANCE SL_BOUND_IMBALANCE, SL_BOTTLENECK_IMBALANCE
#define APART     SL_PLAN_NO_FUSION
#define DIRECT    SL_PLAN_NO_WINOGRAD
#define PLAIN     SL_PLAN_REFERENCE
#define BF16      SL_DTYPE_BF16

/* The rows are the batch: so many unless it is doubled. */
static inline int
matrix(struct sl_builder *b, const char *name, int64_t rows, int64_t columns)
{
	return sl_builder_input(
		b, name, SL_DTYPE_F32, 2,
		(int64_t[]){sl_builder_symbol(b, "batch", rows), columns});
}

static inline int
image(struct sl_builder *b, int64_t channels, int64_t height, int64_t width)
{
	return sl_builder_input(b, "x", SL_DTYPE_F32, 4,
				(int64_t[]){sl_builder_symbol(b, "batch", 1),
					    channels, height, width});
}

static inline int
one(struct sl_builder *b, const char *name, float value)
{
	return sl_builder_floats(b, name, 0, NULL, &value);
}

/* Through int8 and back, as quantized models have it. */
static inline int
quantized(struct sl_builder *b, int x, int scale)
{
	int zero = sl_builder_integers(b, "zero", 0, NULL, (int64_t[]){0});
	int operands[3] = {x, scale, 0};

	sl_builder_int(b, "to", 3); /* int8 */
	operands[2] = sl_builder_op(b, "Cast", 1, &zero);
	operands[0] = sl_builder_op(b, "QuantizeLinear", 3, operands);
	return sl_builder_op(b, "DequantizeLinear", 3, operands);
}

#endif
