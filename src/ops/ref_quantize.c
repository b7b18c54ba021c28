/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ref_quantize.c - real numbers to small integers and floats, and back.
 *
 * One scale serves the whole tensor, or one each place along an axis, or one
 * each block along it.  Quotients are rounded to the type of the scale before
 * they are rounded to an integer, which decides ties as runtimes do.
 */
#include "ops/ref_quantize.h"
#include "base/dtype.h"
#include "base/status.h"

#include <math.h>

#include "base/banned.h"

int64_t
sl__ref_saturated(enum sl_dtype dtype, double rounded, int64_t zero)
{
	int is_signed = sl__dtype_is_signed(dtype);
	int n_bits = (int)sl_dtype_bits(dtype) - is_signed;
	double high = ldexp(1, n_bits < 62 ? n_bits : 62) - 1;
	double low = is_signed ? -high - 1 : 0;
	double value = isnan(rounded) ? (double)zero : rounded + (double)zero;

	return (int64_t)(value < low ? low : value > high ? high : value);
}

int64_t
sl__ref_quantized(enum sl_dtype dtype, double x, double scale, int64_t zero)
{
	double quotient = (double)(float)(x / scale);

	return sl__ref_saturated(dtype, nearbyint(quotient), zero);
}

enum sl_status
sl__ref_check_small(const struct sl__eval *ev, size_t i, struct sl_error *err)
{
	enum sl_dtype dtype = sl__ref_dtype(ev, i);

	if (!sl__ref_in(ev, i) ||
	    (sl__ref_is_whole(dtype) && sl_dtype_bits(dtype) <= 16))
		return SL_OK;
	return sl__fail(err, SL_E_DATA,
			"input %zu is %s, not integers of 8 or 16 bits", i,
			sl_dtype_text(dtype));
}

enum sl_status
sl__ref_scale(struct sl__eval *ev, struct sl__ref_scale *out, size_t i,
	      struct sl_error *err)
{
	const double *scales;
	const int64_t *zeros;
	enum sl_status rc = sl__ref_scales(ev, &scales, i, 1, err);

	if (!rc)
		rc = sl__ref_per_channel(ev, &zeros, i + 1, 1, err);
	if (rc)
		return rc;
	out->scale = scales[0];
	out->zero = zeros[0];
	return SL_OK;
}

/* Whether input i has one element for each of n, or one for all. */
static enum sl_status
check_number(const struct sl__eval *ev, size_t i, size_t n,
	     struct sl_error *err)
{
	const struct sl__tensor *t = sl__ref_tensor(ev, i);

	if (t && (t->n_elements == 1 || t->n_elements == n))
		return SL_OK;
	return sl__fail(err, SL_E_DATA,
			"input %zu has %llu elements, where 1 or %zu are "
			"meant",
			i, t ? (unsigned long long)t->n_elements : 0, n);
}

enum sl_status
sl__ref_scales(struct sl__eval *ev, const double **values, size_t i, size_t n,
	       struct sl_error *err)
{
	const double *given;
	double *all;
	enum sl_status rc = check_number(ev, i, n, err);

	if (rc)
		return rc;
	given = sl__ref_doubles(ev, i, err);
	if (!given)
		return sl__ref_failure(ev);
	*values = given;
	if (sl__ref_tensor(ev, i)->n_elements == n)
		return SL_OK;
	all = sl__ref_new(ev, n, sizeof(*all));
	if (!all)
		return sl__fail_nomem(err);
	for (size_t k = 0; k < n; k++)
		all[k] = given[0];
	*values = all;
	return SL_OK;
}

enum sl_status
sl__ref_per_channel(struct sl__eval *ev, const int64_t **values, size_t i,
		    size_t n, struct sl_error *err)
{
	const int64_t *given = NULL;
	int64_t *all;
	enum sl_status rc;

	if (sl__ref_in(ev, i)) {
		rc = check_number(ev, i, n, err);
		if (rc)
			return rc;
		given = sl__ref_integers(ev, i, err);
		if (!given)
			return sl__ref_failure(ev);
	}
	all = sl__ref_new(ev, n, sizeof(*all));
	if (!all)
		return sl__fail_nomem(err);
	for (size_t k = 0; given && k < n; k++)
		all[k] = given[sl__ref_tensor(ev, i)->n_elements == n ? k : 0];
	*values = all;
	return SL_OK;
}

/*
 * Which scale belongs to an element: the tensor is seen as [outer][axis]
 * [inner], the scales as 1, as [axis], or as [outer][n_blocks][inner].
 */
struct grid {
	size_t n_axis, n_inner;
	size_t block, n_blocks; /* 0: not in blocks */
	size_t n_scales;
	const double *scales;
	const int64_t *zeros;
};

static size_t
scale_at(const struct grid *g, size_t i)
{
	size_t place = i / g->n_inner % g->n_axis;
	size_t outer = i / g->n_inner / g->n_axis;

	if (g->block)
		return (outer * g->n_blocks + place / g->block) * g->n_inner +
		       i % g->n_inner;
	return g->n_scales == 1 ? 0 : place;
}

static enum sl_status
check_blocks(const struct grid *g, const struct sl__tensor *x,
	     const struct sl__tensor *scale, int axis, struct sl_error *err)
{
	size_t rank = x->rank;

	for (size_t d = 0; scale->rank == rank && d < rank; d++) {
		int64_t want = d == (size_t)axis
				       ? (int64_t)((g->n_axis + g->block - 1) /
						   g->block)
				       : x->dims[d];

		if (scale->dims[d] != want)
			rank = 0;
	}
	if (rank && scale->rank == rank)
		return SL_OK;
	return sl__fail(err, SL_E_DATA,
			"its scales are not those of blocks of %zu along axis "
			"%d",
			g->block, axis);
}

/* The sizes of the grid, from input 0, its scales and the attributes. */
static enum sl_status
measure(struct sl__eval *ev, struct grid *g, struct sl_error *err)
{
	const struct sl__tensor *x = sl__ref_tensor(ev, 0);
	const struct sl__tensor *scale = sl__ref_tensor(ev, 1);
	int64_t block = sl__int(ev->node, "block_size", 0);
	int axis;

	if (!x || !scale)
		return sl__fail(err, SL_E_DATA, "it takes tensors");
	*g = (struct grid){1, 1, 0, 0, (size_t)scale->n_elements, NULL, NULL};
	if (scale->n_elements == 1 && block <= 0)
		return SL_OK;
	axis = sl__axis(sl__int(ev->node, "axis", 1), (int)x->rank);
	if (axis < 0)
		return sl__fail(err, SL_E_DATA,
				"its axis is not one of %zu dimensions",
				x->rank);
	g->n_axis = (size_t)x->dims[axis];
	for (size_t d = (size_t)axis + 1; d < x->rank; d++)
		g->n_inner *= (size_t)x->dims[d];
	if (block > 0 && scale->rank == x->rank && scale->rank > 0) {
		g->block = (size_t)block;
		g->n_blocks = (size_t)scale->dims[axis];
		return check_blocks(g, x, scale, axis, err);
	}
	if (scale->rank != 1 || g->n_scales != g->n_axis)
		return sl__fail(err, SL_E_DATA,
				"%zu scales for %zu places along axis %d",
				g->n_scales, g->n_axis, axis);
	return SL_OK;
}

static enum sl_status
read_grid(struct sl__eval *ev, struct grid *g, struct sl_error *err)
{
	enum sl_status rc = measure(ev, g, err);

	if (!rc)
		rc = sl__ref_scales(ev, &g->scales, 1, g->n_scales, err);
	if (!rc)
		rc = sl__ref_per_channel(ev, &g->zeros, 2, g->n_scales, err);
	return rc;
}

/* The type in which quotients are rounded. */
static enum sl_dtype
precision_of(const struct sl__eval *ev)
{
	int64_t named = sl__int(ev->node, "precision", 0);

	return named > 0 && named < SL_N_DTYPES &&
			       sl__dtype_family((enum sl_dtype)named) ==
				       SL__DTYPE_FLOAT
		       ? (enum sl_dtype)named
		       : sl__ref_dtype(ev, 1);
}

static enum sl_status
quantize_whole(struct sl__eval *ev, const struct grid *g, const double *x,
	       struct sl_error *err)
{
	const struct sl__tensor *out = &sl__ref_result(ev, 0)->tensor;
	enum sl_dtype precision = precision_of(ev);
	int64_t *y = sl__ref_new(ev, (size_t)out->n_elements, sizeof(*y));

	if (!y)
		return sl__fail_nomem(err);
	for (size_t i = 0; i < out->n_elements; i++) {
		size_t at = scale_at(g, i);
		double q = sl__ref_rounded(precision, x[i] / g->scales[at]);

		y[i] = sl__ref_saturated(out->dtype, nearbyint(q),
					 g->zeros[at]);
	}
	sl__ref_store_integers(ev, 0, y);
	return SL_OK;
}

static enum sl_status
quantize_small(struct sl__eval *ev, const struct grid *g, const double *x,
	       struct sl_error *err)
{
	const struct sl__tensor *out = &sl__ref_result(ev, 0)->tensor;
	enum sl_dtype precision = precision_of(ev);
	double *y = sl__ref_new(ev, (size_t)out->n_elements, sizeof(*y));

	if (!y)
		return sl__fail_nomem(err);
	for (size_t i = 0; i < out->n_elements; i++)
		y[i] = sl__ref_rounded(precision,
				       x[i] / g->scales[scale_at(g, i)]);
	sl__ref_store_cast(ev, 0, y);
	return SL_OK;
}

/* To integers of at most 16 bits, or to small floats, whose zero point is
 * always 0. */
enum sl_status
sl__ref_quantize(struct sl__eval *ev, struct sl_error *err)
{
	const struct sl__datum *out = sl__ref_result(ev, 0);
	const double *x;
	struct grid g;
	enum sl_status rc;

	if (!out || out->kind != SL__TYPE_TENSOR)
		return sl__fail(err, SL_E_ABSENT,
				"the type to quantize to is not known");
	rc = read_grid(ev, &g, err);
	if (rc)
		return rc;
	x = sl__ref_doubles(ev, 0, err);
	if (!x)
		return sl__ref_failure(ev);
	if (sl__ref_is_whole(out->tensor.dtype))
		return quantize_whole(ev, &g, x, err);
	return quantize_small(ev, &g, x, err);
}

enum sl_status
sl__ref_dequantize(struct sl__eval *ev, struct sl_error *err)
{
	const struct sl__datum *out = sl__ref_result(ev, 0);
	const double *x;
	double *y;
	struct grid g;
	enum sl_status rc;

	if (!out || out->kind != SL__TYPE_TENSOR)
		return sl__fail(err, SL_E_ABSENT,
				"the type of its result is not known");
	rc = read_grid(ev, &g, err);
	if (rc)
		return rc;
	x = sl__ref_doubles(ev, 0, err);
	y = sl__ref_new(ev, (size_t)out->tensor.n_elements, sizeof(*y));
	if (!x || !y)
		return x ? sl__fail_nomem(err) : sl__ref_failure(ev);
	for (size_t i = 0; i < out->tensor.n_elements; i++) {
		size_t at = scale_at(&g, i);

		y[i] = (x[i] - (double)g.zeros[at]) * g.scales[at];
	}
	sl__ref_store_doubles(ev, 0, y);
	return SL_OK;
}

/* The scale spreads what lies between the least and the largest element, and
 * 0, over 0 to 255. */
struct sl__ref_scale
sl__ref_spread(const double *x, size_t n)
{
	struct sl__ref_scale s = {1, 0};
	double least = 0, most = 0;

	for (size_t i = 0; i < n; i++) {
		least = x[i] < least ? x[i] : least;
		most = x[i] > most ? x[i] : most;
	}
	if (most > least)
		s.scale = (double)((float)(most - least) / 255.0F);
	s.zero = sl__ref_quantized(SL_DTYPE_U8, -least, s.scale, 0);
	return s;
}

enum sl_status
sl__ref_dynamic_quantize(struct sl__eval *ev, struct sl_error *err)
{
	const struct sl__tensor *in = sl__ref_tensor(ev, 0);
	const double *x = sl__ref_doubles(ev, 0, err);
	struct sl__ref_scale s;
	int64_t *y;

	if (!x)
		return sl__ref_failure(ev);
	y = sl__ref_new(ev, (size_t)in->n_elements, sizeof(*y));
	if (!y)
		return sl__fail_nomem(err);
	s = sl__ref_spread(x, (size_t)in->n_elements);
	for (size_t i = 0; i < in->n_elements; i++)
		y[i] = sl__ref_quantized(SL_DTYPE_U8, x[i], s.scale, s.zero);
	sl__ref_store_integers(ev, 0, y);
	sl__ref_store_doubles(ev, 1, &s.scale);
	sl__ref_store_integers(ev, 2, &s.zero);
	return SL_OK;
}
