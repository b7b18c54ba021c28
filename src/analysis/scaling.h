/* SPDX-License-Identifier: Apache-2.0 */
/* scaling.h - how a model's figures grow with batch, sequence and past. */
#ifndef SL_SCALING_H
#define SL_SCALING_H

#include "analysis/static_analysis.h"

/*
 * The model under the same sizes but one, at several sizes of that one, and
 * the polynomial through the points.  'sizes' are those that 'survey' was
 * made with; what it bound is kept, whoever said so.
 */
enum sl_status
sl__static_cost_polynomials(const struct sl_growth **out, size_t *n,
			    const struct sl__static_analysis *survey,
			    const struct sl__shapes_options *options,
			    struct sl__arena *arena,
			    struct sl_error *err) SL_CHECKED;

/*
 * Fills coefficients and exponents from the values at four sizes first,
 * first + step, ... , exactly where they are whole numbers below 2^53.
 */
void sl__polynomial_interpolate(struct sl_growth *row, const double values[4],
				int64_t first, int64_t step);

#endif
