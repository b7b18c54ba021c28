/* SPDX-License-Identifier: Apache-2.0 */
/* quantized.c - what kernels of quantized operators ask of their nodes. */
#include "engine/quantized.h"
#include "base/status.h"

#include <math.h>

#include "base/banned.h"

int
sl__is_8bit_integer(enum sl_dtype dtype)
{
	return dtype == SL_DTYPE_U8 || dtype == SL_DTYPE_I8;
}

/* A constant of 1 or n elements. */
static const struct sl__tensor *
constant_of(struct sl__planner *pl, uint32_t value, size_t n)
{
	const struct sl__tensor *t = sl__plan_constant_tensor(pl, value);

	return t && (t->n_elements == 1 || t->n_elements == n) ? t : NULL;
}

int
sl__channel_scales_read(float *out, struct sl__planner *pl, uint32_t value,
			size_t n)
{
	const struct sl__tensor *t = constant_of(pl, value, n);
	double x;

	if (!t || t->dtype != SL_DTYPE_F32)
		return 0;
	for (size_t i = 0; i < n; i++) {
		if (!sl__tensor_doubles(t, t->n_elements == 1 ? 0 : i, 1, &x) ||
		    !isfinite(x))
			return 0;
		out[i] = (float)x;
	}
	return 1;
}

int
sl__zero_points_read(int32_t *out, struct sl__planner *pl, uint32_t value,
		     size_t n)
{
	const struct sl__tensor *t = constant_of(pl, value, n);
	int64_t x = 0;

	if (value != SL__NONE && (!t || !sl__is_8bit_integer(t->dtype)))
		return 0;
	for (size_t i = 0; i < n; i++) {
		if (t &&
		    !sl__tensor_integers(t, t->n_elements == 1 ? 0 : i, 1, &x))
			return 0;
		out[i] = (int32_t)x - (t && t->dtype == SL_DTYPE_U8 ? 128 : 0);
	}
	return 1;
}

int
sl__quantization_params_read(struct sl__quantization_params *out,
			     struct sl__planner *pl, uint32_t scale,
			     uint32_t zero)
{
	const struct sl__tensor *t = sl__plan_constant_tensor(pl, zero);

	if (!sl__channel_scales_read(&out->by, pl, scale, 1) ||
	    !(out->by > 0) || !sl__zero_points_read(&out->at, pl, zero, 1))
		return 0;
	if (t && t->dtype == SL_DTYPE_U8)
		out->at += 128;
	return 1;
}

const int8_t *
sl__int8_weights(struct sl__planner *pl, uint32_t value, int8_t **copy)
{
	const struct sl__tensor *t = sl__plan_constant_tensor(pl, value);
	const struct sl_allocator *allocator = &pl->program->arena.allocator;

	*copy = NULL;
	if (t->dtype == SL_DTYPE_I8)
		return (const int8_t *)t->bytes;
	*copy = sl__allocator_alloc(allocator, (size_t)t->n_elements);
	if (!*copy && !pl->rc)
		pl->rc = sl__fail_nomem(pl->err);
	for (uint64_t i = 0; *copy && i < t->n_elements; i++)
		(*copy)[i] = (int8_t)(t->bytes[i] - 128);
	return *copy;
}

void
sl__int8_row_sums(const int8_t *w, size_t n, size_t length, int32_t *sums)
{
	for (size_t i = 0; i < n; i++) {
		sums[i] = 0;
		for (size_t k = 0; k < length; k++)
			sums[i] += w[i * length + k];
	}
}

const struct sl__layout *
sl__plan_find_unpadded_layout(const struct sl__planner *pl, uint32_t value)
{
	const struct sl__layout *layout = sl__plan_value_layout(pl, value);
	const struct sl__type *type = sl__plan_value_type(pl, value);

	return layout && sl__layout_dtype(layout) == type->dtype &&
			       sl__layout_bytes(layout) ==
				       sl__plan_value_bytes(pl, value)
		       ? layout
		       : NULL;
}
