/* SPDX-License-Identifier: Apache-2.0 */
/* output_check.h - an output against its reference. */
#ifndef SL_OUTPUT_CHECK_H
#define SL_OUTPUT_CHECK_H

#include "engine/plan.h"

/*
 * How far apart two outputs may be:
 *
 *	integers, booleans, strings    not at all
 *	graphs with quantized nodes    3 steps where the output comes from a
 *	                               DequantizeLinear, and the same top-1;
 *	                               else RMS error 2 % of the reference's
 *	models that store f16 or bf16  5e-3 of the largest |reference|
 *	all others                     1e-4 of the largest |reference|
 *
 * A tolerance above 0 takes the place of the figure (in the rule's unit); what
 * must be equal must be so whatever the tolerance.  A reference that is 0
 * everywhere has no size to measure by: then the limit is an absolute one, so
 * that a difference of 1e-30 is none.
 */
struct sl__output_tolerance {
	enum sl_check_rule rule;
	double limit;
	double step;      /* of STEPS: the output's scale */
	int64_t n_copies; /* of the reference, along the batch; 0 as 1 */
};

/* What there is to know of a model for that, found once. */
struct sl__model_precision {
	const struct sl_graph *graph;
	int is_quantized, stores_halves;
};
struct sl__model_precision sl__model_precision(const struct sl_graph *graph);
struct sl__output_tolerance
sl__output_tolerance_choose(const struct sl__model_precision *model,
			    uint32_t output, double tolerance);

/*
 * Compares; fills rule, error, limit, largest_error, worst, is_ok and why of
 * 'out'.  Sequences and optionals are compared item by item and judged by the
 * worst.  Sizes must be the same, or, where there are copies, so many times
 * the reference's: the batch may lie in any dimension, and in several.  'why'
 * lives in the arena.
 */
enum sl_status sl__output_compare(struct sl_run_output *out,
				  const struct sl__output_tolerance *how,
				  const struct sl__runtime_value *got,
				  const struct sl__runtime_value *want,
				  struct sl__arena *arena,
				  struct sl_error *err) SL_CHECKED;

#endif
