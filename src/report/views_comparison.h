/* SPDX-License-Identifier: Apache-2.0 */
/* views_comparison.h - the views of what runs against a baseline. */
#ifndef SL_VIEWS_COMPARISON_H
#define SL_VIEWS_COMPARISON_H

#include "report/views.h"
#include "sleuth/measuring.h"

/* Ratios to the baseline of n comparisons, 'stride' bytes apart. */
void sl__views_ratios(struct sl__views *v, const struct sl_comparison *first,
		      size_t n, size_t stride);

/* Of a struct sl_model_comparison and of a struct sl_bench. */
void sl__model_comparison_views(struct sl__views *v, const void *result);
void sl__bench_views(struct sl__views *v, const void *result);

#endif
