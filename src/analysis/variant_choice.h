/* SPDX-License-Identifier: Apache-2.0 */
/* variant_choice.h - which variant of a model is worth having. */
#ifndef SL_VARIANT_CHOICE_H
#define SL_VARIANT_CHOICE_H

#include "sleuth/comparing.h"
#include "sleuth/optimizing.h"

/*
 * Marks in is_on[] the points that no other dominates: is at most as large in
 * all of n_dims coordinates and smaller in one.  costs is [n][n_dims]; equal
 * points are all on the front.
 */
void sl__pareto_front(unsigned char *is_on, const double *costs, size_t n,
		      size_t n_dims);

/*
 * The speedup that less work explains: of operations, at the peaks of both, or
 * of bytes, whichever is more, and half as much again, since peaks are
 * measured and layers have shapes that suit one type better than another.
 */
double sl__most_speedup(double flops_ratio, double peak_ratio,
			double bytes_ratio);

/*
 * The verdict that stands beside a ratio of wall times: a difference that only
 * CPU time or layers prove is undecided there, whose interval may hold 1.
 */
enum sl_verdict sl__verdict_on_time(const struct sl_arm_comparison *pair);

/*
 * Fills is_pareto, is_within and is_accurate of all variants, and says in 'o',
 * whose limits, objective and accuracy_drop are set, which is recommended and
 * which came closest.  rows are o->variants.
 */
void sl__variants_judge(struct sl_optimization *o,
			struct sl_variant_result *rows);

#endif
