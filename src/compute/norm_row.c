/* SPDX-License-Identifier: Apache-2.0 */
/*
 * norm_row.c - rows normalized.
 *
 * The variance is the mean of the squared distances from the mean, in a second
 * pass over a row that is in the cache by then.
 */
#include "compute/norm_row.h"
#include "compute/vector_rows.h"

#include <math.h>

#include "base/banned.h"

SL__ROW(row_sum, 0, x, a + b)
SL__ROW(row_squares, 0, (x - knob) * (x - knob), a + b)

/* Fills mean and factor, which is 1 / sqrt(variance + epsilon). */
SL__INLINE void
measure_body(struct sl__norm_row *r, int is_centred, float epsilon)
{
	float n = (float)r->n;

	r->mean = is_centred ? row_sum(r->x, r->n, 0) / n : 0;
	r->factor = 1 / sqrtf(row_squares(r->x, r->n, r->mean) / n + epsilon);
}
SL__VECTOR_TARGETS(measure, measure_body,
		   (struct sl__norm_row * r, int is_centred, float epsilon),
		   (r, is_centred, epsilon))

SL__INLINE void
scale_body(const struct sl__norm_row *r)
{
	const float *x = r->x, *scale = r->scale, *bias = r->bias;
	float mean = r->mean, factor = r->factor, *y = r->y;

	if (scale && bias) {
		SL__EACH_ALONE
		for (int64_t i = 0; i < r->n; i++)
			y[i] = (x[i] - mean) * factor * scale[i] + bias[i];
	} else if (scale) {
		SL__EACH_ALONE
		for (int64_t i = 0; i < r->n; i++)
			y[i] = (x[i] - mean) * factor * scale[i];
	} else {
		SL__EACH_ALONE
		for (int64_t i = 0; i < r->n; i++)
			y[i] = (x[i] - mean) * factor;
	}
}
SL__VECTOR_TARGETS(scale, scale_body, (const struct sl__norm_row *r), (r))

/* y = (x - mean) * factor + offset, over a span. */
SL__INLINE void
shift_body(const struct sl__norm_row *r)
{
	const float *x = r->x;
	float mean = r->mean, factor = r->factor, offset = r->offset;
	float *y = r->y;

	SL__EACH_ALONE
	for (int64_t i = 0; i < r->n; i++)
		y[i] = (x[i] - mean) * factor + offset;
}
SL__VECTOR_TARGETS(shift, shift_body, (const struct sl__norm_row *r), (r))

/* y += x. */
SL__INLINE void
add_body(const struct sl__norm_row *r)
{
	const float *x = r->x;
	float *y = r->y;

	SL__EACH_ALONE
	for (int64_t i = 0; i < r->n; i++)
		y[i] += x[i];
}
SL__VECTOR_TARGETS(add, add_body, (const struct sl__norm_row *r), (r))

struct sl__norm
sl__norm_for(void)
{
	return (struct sl__norm){measure_for(), scale_for(), shift_for(),
				 add_for()};
}
