/* SPDX-License-Identifier: Apache-2.0 */
/*
 * op_generate.c - tensors from nothing: constants, ranges, random numbers.
 *
 * ConstantOfShape and Range are what exporters build masks and positions
 * from, so small ones are followed.
 */
#include "base/dtype.h"
#include "graph/op_rules.h"
#include "ops/cost.h"
#include "ops/moving.h"

#include <math.h>
#include <string.h>

#include "base/banned.h"

/* The type of number that the attribute names. */
static enum sl_dtype
dtype_of(struct sl__call *call, enum sl_dtype otherwise)
{
	int64_t dtype = sl__int(call->node, "dtype", (int64_t)otherwise);

	return dtype > 0 && dtype < SL_N_DTYPES ? (enum sl_dtype)dtype
						: SL_DTYPE_NONE;
}

static const struct sl__tensor *
fill_of(struct sl__call *call)
{
	const struct sl__attribute *a = sl__attribute(call->node, "value");

	return a && a->kind == SL__ATTRIBUTE_TENSOR ? a->tensor : NULL;
}

enum sl_status
sl__infer_constant_of_shape(struct sl__call *call)
{
	struct sl__list want = sl__list_of(call, 0, NULL);
	const struct sl__tensor *fill = fill_of(call);
	enum sl_dtype dtype = fill ? fill->dtype : SL_DTYPE_F32;

	if (!want.values || want.n > SL__RANK_MOST)
		return sl__out_rank(call, 0, dtype, want.n,
				    "the shape it asks for depends on data");
	return sl__out(call, 0, dtype, (int)want.n, want.values);
}

enum sl_status
sl__fold_constant_of_shape(struct sl__call *call)
{
	const struct sl__type *out = sl__out_type_of(call, 0);
	const struct sl__tensor *fill = fill_of(call);
	static const double zero = 0;
	struct sl__known one = {SL_DTYPE_F32, 1, NULL, &zero};
	const struct sl__known *known = &one;
	int64_t *words;
	uint64_t n;

	if (!out || !sl__type_elements(out, &n) || n > SL__KNOWN_MOST ||
	    (fill && fill->n_elements != 1))
		return SL_OK;
	if (fill)
		known = sl__shapes_read(call->shapes, fill);
	words = known ? sl__new_sizes(call, (size_t)n) : NULL;
	if (!words)
		return call->failure;
	for (uint64_t i = 0; i < n; i++)
		memcpy(&words[i],
		       known->ints ? (const void *)known->ints : known->floats,
		       sizeof(*words));
	return sl__out_known(call, 0, known->ints ? words : NULL,
			     known->ints ? NULL : (const void *)words,
			     (size_t)n);
}

/* The three inputs as numbers of one family. */
struct range {
	int is_integer;
	int64_t i[3]; /* start, limit, delta */
	double f[3];
};

/* Returns 0 where they are not all known. */
static int
range_of(struct sl__call *call, struct range *range)
{
	for (size_t k = 0; k < 3; k++) {
		const struct sl__known *known = sl__in_known(call, k);

		if (!known || known->n != 1)
			return 0;
		if (k && range->is_integer != (known->ints != NULL))
			return 0;
		range->is_integer = known->ints != NULL;
		if (known->ints)
			range->i[k] = known->ints[0];
		else
			range->f[k] = known->floats[0];
	}
	return 1;
}

/* max(0, ceil((limit - start) / delta)). */
static int64_t
range_elements(struct sl__shapes *shapes, const struct range *r)
{
	int64_t whole;
	double n;

	if (!r->is_integer) {
		n = ceil((r->f[1] - r->f[0]) / r->f[2]);
		/* Not a number, or beyond what a tensor can hold. */
		if (!(n < 9e15))
			return sl__size_unknown(shapes);
		return n > 0 ? (int64_t)n : 0;
	}
	if (sl__is_symbol(r->i[2]) || r->i[2] == 0)
		return sl__size_unknown(shapes);
	if (sl__is_symbol(r->i[0]) || sl__is_symbol(r->i[1])) {
		if (r->i[2] != 1)
			return sl__size_unknown(shapes);
		return sl__size_difference(shapes, r->i[1], r->i[0]);
	}
	if (__builtin_sub_overflow(r->i[1], r->i[0], &whole))
		return sl__size_unknown(shapes);
	whole = whole / r->i[2] +
		(whole % r->i[2] != 0 && (whole < 0) == (r->i[2] < 0));
	return whole > 0 ? whole : 0;
}

enum sl_status
sl__infer_range(struct sl__call *call)
{
	struct range range = {0};
	int64_t n = range_of(call, &range)
			    ? range_elements(call->shapes, &range)
			    : sl__size_unknown(call->shapes);

	return sl__out(call, 0, sl__in_dtype(call, 0), 1, &n);
}

/* EyeLike, RandomNormalLike, RandomUniformLike, Bernoulli. */
enum sl_status
sl__infer_like(struct sl__call *call)
{
	return sl__out_like(call, 0, 0, dtype_of(call, sl__in_dtype(call, 0)));
}

/* Only the shape of the input matters. */
void
sl__cost_like(struct sl__call *call, struct sl_cost *cost)
{
	(void)call;
	cost->work = SL_WORK_MOVEMENT;
	cost->weight_bytes = cost->read_bytes = 0;
}

enum sl_status
sl__infer_random(struct sl__call *call)
{
	struct sl__list want = sl__list_of(call, 0, "shape");

	if (!want.values || want.n > SL__RANK_MOST)
		return sl__refuse(call, "no shape is given");
	return sl__out(call, 0, dtype_of(call, SL_DTYPE_F32), (int)want.n,
		       want.values);
}

/* What every generator does to an element; its own steps are not counted. */
void
sl__cost_random(struct sl__call *call, struct sl_cost *cost)
{
	int is_normal = sl__is_op(call->node, SL__OP_ONNX_RandomNormal) ||
			sl__is_op(call->node, SL__OP_ONNX_RandomNormalLike);

	cost->weight_bytes = cost->read_bytes = 0;
	sl__count(cost, cost->out_elements,
		  SL__PER(.fma = 1, .exp = (uint64_t)is_normal));
	sl__cost_estimate(cost, "scaling and shaping of random numbers, not "
				"drawing them");
}

/* One comparison with a random number for each element. */
void
sl__cost_bernoulli(struct sl__call *call, struct sl_cost *cost)
{
	(void)call;
	cost->cmp = cost->out_elements;
	sl__cost_estimate(cost, "comparisons with random numbers, not drawing "
				"them");
}

enum sl_status
sl__infer_multinomial(struct sl__call *call)
{
	int64_t n_samples = sl__int(call->node, "sample_size", 1);
	int64_t dims[2] = {sl__in_rank(call, 0) == 2
				   ? sl__in(call, 0)->dims[0]
				   : sl__size_unknown(call->shapes),
			   n_samples < 0 ? -1 : n_samples};

	return sl__out(call, 0, dtype_of(call, SL_DTYPE_I32), 2, dims);
}

/* Weights from logarithms, summed up; each sample looks for its place. */
void
sl__cost_multinomial(struct sl__call *call, struct sl_cost *cost)
{
	cost->exp = cost->add = cost->in_elements;
	cost->cmp = sl__times(cost->out_elements, sl__in_dim(call, 0, -1));
	sl__cost_estimate(cost, "at most one comparison with each class for a "
				"sample");
}
