/* SPDX-License-Identifier: Apache-2.0 */
/* output_check.c - an output against its reference. */
#include "experiment/output_check.h"
#include "base/dtype.h"
#include "base/status.h"

#include <math.h>
#include <string.h>

#include "base/banned.h"

const char *
sl_check_rule_text(enum sl_check_rule rule)
{
	switch (rule) {
	case SL_CHECK_LARGEST:
		return "largest difference / largest |reference|";
	case SL_CHECK_EXACT:
		return "elements that differ";
	case SL_CHECK_STEPS:
		return "largest difference in steps";
	case SL_CHECK_RMS:
		return "RMS of differences / RMS of reference";
	case SL_CHECK_NONE:
	default:
		return "not compared";
	}
}

/* Operators that compute with rounded numbers.  One that only restores them,
 * such as DequantizeLinear of weights, rounds nothing that a run computes. */
static int
is_quantized(const struct sl_graph *graph)
{
	static const enum sl__op_id ops[] = {
		SL__OP_ONNX_ConvInteger,
		SL__OP_ONNX_DynamicQuantizeLinear,
		SL__OP_ONNX_MatMulInteger,
		SL__OP_ONNX_QLinearConv,
		SL__OP_ONNX_QLinearMatMul,
		SL__OP_ONNX_QuantizeLinear,
		SL__OP_MS_DynamicQuantizeMatMul,
		SL__OP_MS_MatMulInteger16,
		SL__OP_MS_MatMulIntegerToFloat,
		SL__OP_MS_QAttention,
		SL__OP_MS_QGemm,
		SL__OP_MS_QLinearAdd,
		SL__OP_MS_QLinearAveragePool,
		SL__OP_MS_QLinearConcat,
		SL__OP_MS_QLinearConv,
		SL__OP_MS_QLinearGlobalAveragePool,
		SL__OP_MS_QLinearLeakyRelu,
		SL__OP_MS_QLinearMul,
		SL__OP_MS_QLinearSigmoid,
		SL__OP_MS_QLinearSoftmax,
		SL__OP_MS_QuantizeLinear,
	};

	for (size_t i = 0; i < graph->n_nodes; i++) {
		const struct sl__node *node = &graph->nodes[i];

		/* Rows may be rounded to 8 bits, by blocks of any size. */
		if (sl__is_op(node, SL__OP_MS_MatMulNBits) &&
		    sl__attribute_int(node, "accuracy_level", 0) == 4)
			return 1;
		for (size_t k = 0; k < sizeof(ops) / sizeof(*ops); k++) {
			if (sl__is_op(node, ops[k]))
				return 1;
		}
	}
	return 0;
}

static int
is_half(enum sl_dtype dtype)
{
	return dtype == SL_DTYPE_F16 || dtype == SL_DTYPE_BF16;
}

static int
stores_halves(const struct sl_graph *graph)
{
	for (size_t i = 0; i < graph->n_values; i++) {
		const struct sl__value *v = &graph->values[i];

		if ((v->tensor && is_half(v->tensor->dtype)) ||
		    is_half(v->declared.dtype))
			return 1;
	}
	return 0;
}

/* The node that makes the value, seen through views; NULL: none does. */
static const struct sl__node *
maker_of(const struct sl_graph *graph, uint32_t value)
{
	/* No graph has more views in a row than nodes. */
	for (size_t n = 0; n <= graph->n_nodes; n++) {
		uint32_t producer = graph->values[value].producer;
		const struct sl__node *node;

		if (producer == SL__NONE)
			return NULL;
		node = &graph->nodes[producer];
		if (!node->op || node->op->cost != sl__cost_view ||
		    !node->n_inputs || node->inputs[0] == SL__NONE)
			return node;
		value = node->inputs[0];
	}
	return NULL;
}

/* The scale of the DequantizeLinear that makes the value; 0 where it is made
 * otherwise. */
static double
step_of(const struct sl_graph *graph, uint32_t value)
{
	const struct sl__node *node = maker_of(graph, value);
	const struct sl__tensor *scale;
	double step;

	if (!node ||
	    (!sl__is_op(node, SL__OP_ONNX_DequantizeLinear) &&
	     !sl__is_op(node, SL__OP_MS_DequantizeLinear)) ||
	    node->n_inputs < 2 || node->inputs[1] == SL__NONE)
		return 0;
	scale = graph->values[node->inputs[1]].tensor;
	if (!scale || scale->n_elements != 1 ||
	    !sl__tensor_doubles(scale, 0, 1, &step))
		return 0;
	return fabs(step);
}

struct sl__model_precision
sl__model_precision(const struct sl_graph *graph)
{
	struct sl__model_precision model = {graph, is_quantized(graph),
					    stores_halves(graph)};

	return model;
}

struct sl__output_tolerance
sl__output_tolerance_choose(const struct sl__model_precision *model,
			    uint32_t output, double tolerance)
{
	struct sl__output_tolerance how = {SL_CHECK_LARGEST, 1e-4, 0, 1};

	if (model->is_quantized) {
		how.step = step_of(model->graph, output);
		how.rule = how.step > 0 ? SL_CHECK_STEPS : SL_CHECK_RMS;
		how.limit = how.step > 0 ? 3 : .02;
	} else if (model->stores_halves) {
		how.limit = 5e-3;
	}
	if (tolerance > 0)
		how.limit = tolerance;
	return how;
}

/* Walks 'got' and, in step with it, 'want' repeated as often as it takes. */
struct pair_walk {
	const struct sl__tensor *got, *want;
	int64_t at[SL__RANK_MOST], want_strides[SL__RANK_MOST];
	uint64_t i;
};

static uint64_t
want_index(const struct pair_walk *w)
{
	int64_t index = 0;

	for (size_t d = 0; d < w->got->rank; d++)
		index += w->at[d] % w->want->dims[d] * w->want_strides[d];
	return (uint64_t)index;
}

static int
step_on(struct pair_walk *w)
{
	w->i++;
	return sl__strided_position_next(w->at, w->got->rank, w->got->dims,
					 NULL, NULL, 0);
}

static int
is_repeated(int64_t got, int64_t want, int64_t n_copies)
{
	return got == want || (n_copies > 1 && want > 0 && got % want == 0 &&
			       got / want == n_copies);
}

/* Says in *why that sizes or types cannot be compared; NULL when they can. */
static enum sl_status
find_mismatch(const char **why, const struct sl__output_tolerance *how,
	      const struct sl__tensor *got, const struct sl__tensor *want,
	      struct sl__arena *arena, struct sl_error *err)
{
	size_t d = 0;

	*why = NULL;
	if (got->dtype != want->dtype) {
		*why = sl__arena_format(arena, "is %s, the reference %s",
					sl_dtype_text(got->dtype),
					sl_dtype_text(want->dtype));
	} else if (got->rank != want->rank || got->rank > SL__RANK_MOST) {
		*why = sl__arena_format(arena,
					"has %zu dimensions, the reference %zu",
					got->rank, want->rank);
	} else {
		while (d < got->rank &&
		       is_repeated(got->dims[d], want->dims[d], how->n_copies))
			d++;
		if (d == got->rank)
			return SL_OK;
		*why = sl__arena_format(
			arena, "dimension %zu is %lld, in the reference %lld",
			d, (long long)got->dims[d], (long long)want->dims[d]);
	}
	return *why ? SL_OK : sl__fail_nomem(err);
}

struct sums {
	double largest, top; /* of differences, of |reference| */
	double difference_squared, reference_squared;
	uint64_t n, worst, n_different;
};

/* Elements that differ where their difference is no number. */
static void
note_different(struct sums *s, uint64_t i)
{
	if (!s->n_different++)
		s->worst = i;
}

static void
add_pair(struct sums *s, double a, double b, uint64_t i)
{
	double error = isnan(a) && isnan(b) ? 0 : fabs(a - b);

	if (isinf(a) && isinf(b) && (a > 0) == (b > 0))
		error = 0;
	if (isnan(error))
		error = (double)INFINITY;
	if (error > 0)
		s->n_different++;
	if (error > s->largest) {
		s->largest = error;
		s->worst = i;
	}
	if (!isfinite(b))
		return;
	if (fabs(b) > s->top)
		s->top = fabs(b);
	s->difference_squared += error * error;
	s->reference_squared += b * b;
}

/* Whether whole numbers differ that are the same as doubles. */
static int
differ_beyond_doubles(const struct sl__tensor *got, uint64_t i,
		      const struct sl__tensor *want, uint64_t k)
{
	int64_t a, b;

	return sl_dtype_bits(got->dtype) == 64 &&
	       sl__ref_dtype_is_integer(got->dtype) &&
	       sl__tensor_integer_bits(got, i, 1, &a) &&
	       sl__tensor_integer_bits(want, k, 1, &b) && a != b;
}

static int
compare_elements(struct sums *s, const struct sl__tensor *got,
		 const struct sl__tensor *want)
{
	struct pair_walk w = {.got = got, .want = want};
	double a, b;

	memset(s, 0, sizeof(*s));
	s->n = got->n_elements;
	if (got->n_elements == 0)
		return 1;
	(void)sl__row_major_strides(w.want_strides, want->rank, want->dims);
	do {
		uint64_t k = want_index(&w);

		if (got->dtype == SL_DTYPE_STRING) {
			if (strcmp(got->strings[w.i], want->strings[k]) != 0)
				note_different(s, w.i);
			continue;
		}
		if (!sl__tensor_doubles(got, w.i, 1, &a) ||
		    !sl__tensor_doubles(want, k, 1, &b))
			return 0;
		add_pair(s, a, b, w.i);
		if (a == b && differ_beyond_doubles(got, w.i, want, k))
			note_different(s, w.i);
	} while (step_on(&w));
	return 1;
}

/* Whether the largest element of every row is a largest of the reference's
 * row: of several that are alike in the reference, any will do. */
static int
has_same_top(const struct sl__tensor *got, const struct sl__tensor *want)
{
	uint64_t width = got->rank ? (uint64_t)got->dims[got->rank - 1] : 1;
	struct pair_walk w = {.got = got, .want = want};
	double a, b, top = 0, wanted_top = 0, wanted_there = 0;

	if (got->n_elements == 0)
		return 1;
	(void)sl__row_major_strides(w.want_strides, want->rank, want->dims);
	do {
		int is_first = w.i % width == 0;

		(void)sl__tensor_doubles(got, w.i, 1, &a);
		(void)sl__tensor_doubles(want, want_index(&w), 1, &b);
		if (is_first || a > top) {
			top = a;
			wanted_there = b;
		}
		if (is_first || b > wanted_top)
			wanted_top = b;
		if (w.i % width == width - 1 && wanted_there < wanted_top)
			return 0;
	} while (step_on(&w));
	return 1;
}

/*
 * The largest difference in steps.  Both numbers are whole numbers of steps,
 * each rounded to f32 once, which moves it by 2^-24 of itself at most: what is
 * that near to a whole number of steps is that number.
 */
static double
in_steps(const struct sums *s, double step)
{
	double n = s->largest / step;
	double slack = ldexp(2 * s->top + s->largest, -24) / step;

	return fabs(n - nearbyint(n)) <= slack ? nearbyint(n) : n;
}

static double
root_mean_square(const struct sums *s)
{
	if (s->difference_squared == 0)
		return 0;
	return sqrt(s->difference_squared / (s->reference_squared > 0
						     ? s->reference_squared
						     : (double)s->n));
}

static void
judge(struct sl_run_output *out, const struct sl__output_tolerance *how,
      enum sl_dtype dtype, const struct sums *s)
{
	out->rule = how->rule;
	out->limit = how->limit;
	out->largest_error = dtype == SL_DTYPE_STRING ? (double)NAN
						      : s->largest;
	out->worst = s->worst;
	if (sl__dtype_family(dtype) != SL__DTYPE_FLOAT) {
		out->rule = SL_CHECK_EXACT;
		out->limit = 0;
		out->error = (double)s->n_different;
	} else if (isinf(s->largest)) {
		/* Only one of two is a number, or finite. */
		out->error = s->largest;
	} else if (how->rule == SL_CHECK_STEPS) {
		out->error = in_steps(s, how->step);
	} else if (how->rule == SL_CHECK_RMS) {
		out->error = root_mean_square(s);
	} else {
		out->error = s->largest / (s->top > 0 ? s->top : 1);
	}
	out->is_ok = out->error <= out->limit;
}

static void
give_up(struct sl_run_output *out, const char *why)
{
	out->rule = SL_CHECK_NONE;
	out->error = out->limit = out->largest_error = (double)NAN;
	out->worst = 0;
	out->is_ok = 0;
	out->why = why;
}

static enum sl_status
compare_tensors(struct sl_run_output *out,
		const struct sl__output_tolerance *how,
		const struct sl__tensor *got, const struct sl__tensor *want,
		struct sl__arena *arena, struct sl_error *err)
{
	const char *why;
	struct sums s;
	enum sl_status rc = find_mismatch(&why, how, got, want, arena, err);

	if (rc)
		return rc;
	if (!why && !compare_elements(&s, got, want))
		why = "its type cannot be compared";
	if (why) {
		give_up(out, why);
		return SL_OK;
	}
	judge(out, how, got->dtype, &s);
	if (out->is_ok && out->rule == SL_CHECK_STEPS &&
	    !has_same_top(got, want)) {
		out->is_ok = 0;
		out->why = "another element is the largest";
	}
	return SL_OK;
}

/* Whether an item says more against the output than what was found before. */
static int
is_worse(const struct sl_run_output *item, const struct sl_run_output *before)
{
	if (item->is_ok != before->is_ok)
		return before->is_ok;
	return !(item->error <= before->error) && !isnan(before->error);
}

static enum sl_status
compare_items(struct sl_run_output *out, const struct sl__output_tolerance *how,
	      const struct sl__runtime_value *got,
	      const struct sl__runtime_value *want, struct sl__arena *arena,
	      struct sl_error *err)
{
	out->rule = how->rule;
	out->limit = how->limit;
	out->error = out->largest_error = 0;
	out->worst = 0;
	out->is_ok = 1;
	for (size_t i = 0; i < want->n_items; i++) {
		struct sl_run_output item = *out;
		enum sl_status rc;

		rc = sl__output_compare(&item, how, &got->items[i],
					&want->items[i], arena, err);
		if (!rc && item.why) {
			item.why = sl__arena_format(arena, "item %zu: %s", i,
						    item.why);
			rc = item.why ? SL_OK : sl__fail_nomem(err);
		}
		if (rc)
			return rc;
		if (i == 0 || is_worse(&item, out))
			*out = item;
	}
	return SL_OK;
}

enum sl_status
sl__output_compare(struct sl_run_output *out,
		   const struct sl__output_tolerance *how,
		   const struct sl__runtime_value *got,
		   const struct sl__runtime_value *want,
		   struct sl__arena *arena, struct sl_error *err)
{
	const char *why;

	out->why = NULL;
	if (got->kind != want->kind) {
		give_up(out, "is of another kind than the reference");
		return SL_OK;
	}
	if (got->kind == SL__TYPE_TENSOR)
		return compare_tensors(out, how, &got->tensor, &want->tensor,
				       arena, err);
	if (got->n_items == want->n_items)
		return compare_items(out, how, got, want, arena, err);
	why = sl__arena_format(arena, "has %zu items, the reference %zu",
			       got->n_items, want->n_items);
	give_up(out, why);
	return why ? SL_OK : sl__fail_nomem(err);
}
