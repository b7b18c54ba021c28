/* SPDX-License-Identifier: Apache-2.0 */
/* comparing.h - an output against its reference. */
#ifndef SL_COMPARING_H
#define SL_COMPARING_H

#include "plan.h"

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
 * A tolerance above 0 takes the place of the figure (in the rule's unit).
 */
struct sl__comparing {
	enum sl_check_rule rule;
	double limit;
	double step; /* of STEPS: the output's scale */
};
struct sl__comparing sl__comparing_of(const struct sl_graph *graph,
				      uint32_t output, double tolerance);

/*
 * Compares; fills rule, error, limit, largest_error, worst, is_ok and why of
 * 'out'.  'got' may be a multiple of 'want' along any dimension: it is then
 * compared with copies of it.  'why' lives in the arena.
 */
enum sl_status sl__compare_output(struct sl_run_output *out,
				  const struct sl__comparing *how,
				  const struct sl__tensor *got,
				  const struct sl__tensor *want,
				  struct sl__arena *arena,
				  struct sl_error *err) SL_CHECKED;

#endif
