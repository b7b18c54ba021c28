/* SPDX-License-Identifier: Apache-2.0 */
/*
 * op_elementwise_fold.c - what element-wise operators hold, where that is
 * known.
 *
 * One walk over the output's elements serves them all: inputs are broadcast
 * by strides of 0, and an operator is a rule for one element (element.h).
 * This follows the arithmetic that exporters do on shapes, so tensors are
 * small and few; those above SL__KNOWN_MOST elements are left alone before
 * anything is read.
 */
#include "base/dtype.h"
#include "base/status.h"
#include "graph/op_rules.h"
#include "ops/element.h"

#include <math.h>

#include "base/banned.h"

enum {
	INPUTS_MOST = 8, /* shape arithmetic has two or three */
	RANK_MOST = 8    /* and hardly more than one dimension */
};

/* One element from those of the inputs, n of them. */
typedef enum sl__follows element_rule(const struct sl__call *call,
				      const struct sl__element *in, size_t n,
				      struct sl__element *out);

static enum sl__follows
chain(const struct sl__call *call, const struct sl__element *in, size_t n,
      sl__element_function *step, struct sl__element *out)
{
	enum sl__follows follows = SL__FOLLOWS;

	*out = in[0];
	for (size_t i = 1; follows == SL__FOLLOWS && i < n; i++) {
		struct sl__element so_far = *out;

		if (in[i].kind != so_far.kind)
			return SL__FOLLOWS_NOT;
		follows = step(call->shapes, &so_far, &in[i], out);
	}
	return follows;
}

static enum sl__follows
add(const struct sl__call *call, const struct sl__element *in, size_t n,
    struct sl__element *out)
{
	return chain(call, in, n, sl__element_add, out);
}

static enum sl__follows
subtract(const struct sl__call *call, const struct sl__element *in, size_t n,
	 struct sl__element *out)
{
	return chain(call, in, n, sl__element_sub, out);
}

static enum sl__follows
multiply(const struct sl__call *call, const struct sl__element *in, size_t n,
	 struct sl__element *out)
{
	return chain(call, in, n, sl__element_mul, out);
}

static enum sl__follows
divide(const struct sl__call *call, const struct sl__element *in, size_t n,
       struct sl__element *out)
{
	return chain(call, in, n, sl__element_div, out);
}

static enum sl__follows
greatest(const struct sl__call *call, const struct sl__element *in, size_t n,
	 struct sl__element *out)
{
	return chain(call, in, n, sl__element_max, out);
}

static enum sl__follows
smallest(const struct sl__call *call, const struct sl__element *in, size_t n,
	 struct sl__element *out)
{
	return chain(call, in, n, sl__element_min, out);
}

/* The sign is the divisor's, or with fmod the dividend's. */
static enum sl__follows
modulo(const struct sl__call *call, const struct sl__element *in, size_t n,
       struct sl__element *out)
{
	int is_fmod = sl__int(call->node, "fmod", 0) != 0;
	int64_t a = in[0].whole, b = in[1].whole;

	(void)n;
	if (in[0].kind != in[1].kind)
		return SL__FOLLOWS_NOT;
	if (in[0].kind == SL__ELEMENT_REAL) {
		*out = sl__element_real(fmod(in[0].real, in[1].real));
		return is_fmod ? SL__FOLLOWS : SL__FOLLOWS_NOT;
	}
	if (sl__is_symbol(a) || sl__is_symbol(b))
		return sl__element_some(call->shapes, out);
	if (b == 0)
		return SL__FOLLOWS_NOT;
	a %= b;
	if (!is_fmod && a != 0 && (a < 0) != (b < 0))
		a += b;
	*out = sl__element_whole(a);
	return SL__FOLLOWS;
}

static double
real_of(const struct sl__element *e)
{
	return e->kind == SL__ELEMENT_REAL ? e->real : (double)e->whole;
}

/* The exponent may be of another type of number than the base. */
static enum sl__follows
power(const struct sl__call *call, const struct sl__element *in, size_t n,
      struct sl__element *out)
{
	enum sl__follows follows = SL__FOLLOWS;
	int64_t exponent = in[1].whole;

	(void)n;
	for (int i = 0; i < 2; i++) {
		if (in[i].kind == SL__ELEMENT_WHOLE &&
		    sl__is_symbol(in[i].whole))
			return in[0].kind == SL__ELEMENT_WHOLE
				       ? sl__element_some(call->shapes, out)
				       : SL__FOLLOWS_NOT;
	}
	if (in[0].kind == SL__ELEMENT_REAL || in[1].kind == SL__ELEMENT_REAL) {
		*out = sl__element_real(pow(real_of(&in[0]), real_of(&in[1])));
		return SL__FOLLOWS;
	}
	/* Beyond 63 only 0, 1 and -1 have a power that fits. */
	if (exponent < 0 || exponent > 63)
		return SL__FOLLOWS_NOT;
	*out = sl__element_whole(1);
	while (follows == SL__FOLLOWS && exponent-- > 0) {
		struct sl__element so_far = *out;

		follows = sl__element_mul(call->shapes, &so_far, &in[0], out);
	}
	return follows;
}

static struct sl__element
zero_like(const struct sl__element *e)
{
	return e->kind == SL__ELEMENT_REAL ? sl__element_real(0)
					   : sl__element_whole(0);
}

static enum sl__follows
negate(const struct sl__call *call, const struct sl__element *in, size_t n,
       struct sl__element *out)
{
	struct sl__element zero = zero_like(in);

	(void)n;
	return sl__element_sub(call->shapes, &zero, in, out);
}

static enum sl__follows
rectify(const struct sl__call *call, const struct sl__element *in, size_t n,
	struct sl__element *out)
{
	struct sl__element zero = zero_like(in);

	(void)n;
	return sl__element_max(call->shapes, in, &zero, out);
}

static enum sl__follows
magnitude(const struct sl__call *call, const struct sl__element *in, size_t n,
	  struct sl__element *out)
{
	struct sl__element zero = zero_like(in);
	int is_below = sl__element_is_less(call->shapes, in, &zero);

	(void)n;
	if (is_below < 0)
		return sl__element_some(call->shapes, out);
	*out = *in;
	if (in->kind == SL__ELEMENT_REAL)
		out->real = fabs(in->real);
	else if (is_below)
		out->whole = -in->whole;
	return SL__FOLLOWS;
}

static enum sl__follows
sign(const struct sl__call *call, const struct sl__element *in, size_t n,
     struct sl__element *out)
{
	struct sl__element zero = zero_like(in);
	int is_below = sl__element_is_less(call->shapes, in, &zero);
	int is_above = sl__element_is_less(call->shapes, &zero, in);

	(void)n;
	if (in->kind == SL__ELEMENT_REAL && isnan(in->real))
		return SL__FOLLOWS_NOT;
	if (is_below < 0 || is_above < 0)
		return sl__element_some(call->shapes, out);
	*out = zero;
	out->whole = is_above - is_below;
	out->real = is_above - is_below;
	return SL__FOLLOWS;
}

static enum sl__follows
apply(const struct sl__element *in, double function(double),
      struct sl__element *out)
{
	if (in->kind != SL__ELEMENT_REAL)
		return SL__FOLLOWS_NOT;
	*out = sl__element_real(function(in->real));
	return SL__FOLLOWS;
}

static double
reciprocal_of(double x)
{
	return 1 / x;
}

#define RULE_OF(name, function)                                              \
	static enum sl__follows name(const struct sl__call *call,            \
				     const struct sl__element *in, size_t n, \
				     struct sl__element *out)                \
	{                                                                    \
		(void)call;                                                  \
		(void)n;                                                     \
		return apply(in, function, out);                             \
	}
RULE_OF(square_root, sqrt)
RULE_OF(round_down, floor)
RULE_OF(round_up, ceil)
RULE_OF(round_even, rint)
RULE_OF(exponential, exp)
RULE_OF(logarithm, log)
RULE_OF(reciprocal, reciprocal_of)
#undef RULE_OF

/* Bounds are attributes before version 11; a bound left out is none. */
static enum sl__follows
clip(const struct sl__call *call, const struct sl__element *in, size_t n,
     struct sl__element *out)
{
	struct sl__element low = {0}, high = {0}, raised = in[0];
	enum sl__follows follows = SL__FOLLOWS;

	if (sl__attribute(call->node, "min"))
		low = sl__element_real(sl__float(call->node, "min", 0));
	if (sl__attribute(call->node, "max"))
		high = sl__element_real(sl__float(call->node, "max", 0));
	if (n > 1)
		low = in[1];
	if (n > 2)
		high = in[2];
	if ((low.kind && low.kind != in->kind) ||
	    (high.kind && high.kind != in->kind))
		return SL__FOLLOWS_NOT;
	if (low.kind)
		follows = sl__element_max(call->shapes, in, &low, &raised);
	*out = raised;
	if (follows == SL__FOLLOWS && high.kind)
		follows = sl__element_min(call->shapes, &raised, &high, out);
	return follows;
}

static enum sl__follows
take_truth(int truth, struct sl__element *out)
{
	*out = sl__element_whole(truth != 0);
	return truth < 0 ? SL__FOLLOWS_NOT : SL__FOLLOWS;
}

static int
are_alike(const struct sl__element *in)
{
	return in[0].kind == in[1].kind;
}

static enum sl__follows
equal(const struct sl__call *call, const struct sl__element *in, size_t n,
      struct sl__element *out)
{
	(void)n;
	return take_truth(are_alike(in) ? sl__element_is_equal(call->shapes,
							       &in[0], &in[1])
					: -1,
			  out);
}

static enum sl__follows
less(const struct sl__call *call, const struct sl__element *in, size_t n,
     struct sl__element *out)
{
	(void)n;
	return take_truth(are_alike(in) ? sl__element_is_less(call->shapes,
							      &in[0], &in[1])
					: -1,
			  out);
}

static enum sl__follows
greater(const struct sl__call *call, const struct sl__element *in, size_t n,
	struct sl__element *out)
{
	struct sl__element swapped[2] = {in[1], in[0]};

	return less(call, swapped, n, out);
}

static int
is_nan(const struct sl__element *e)
{
	return e->kind == SL__ELEMENT_REAL && isnan(e->real);
}

/* a <= b is not b < a, but for NaN. */
static enum sl__follows
less_or_equal(const struct sl__call *call, const struct sl__element *in,
	      size_t n, struct sl__element *out)
{
	enum sl__follows follows = greater(call, in, n, out);

	out->whole = !out->whole && !is_nan(&in[0]) && !is_nan(&in[1]);
	return follows;
}

static enum sl__follows
greater_or_equal(const struct sl__call *call, const struct sl__element *in,
		 size_t n, struct sl__element *out)
{
	struct sl__element swapped[2] = {in[1], in[0]};

	return less_or_equal(call, swapped, n, out);
}

static int
all_booleans(const struct sl__element *in, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (in[i].kind != SL__ELEMENT_WHOLE ||
		    sl__is_symbol(in[i].whole))
			return 0;
	}
	return 1;
}

static enum sl__follows
negation(const struct sl__call *call, const struct sl__element *in, size_t n,
	 struct sl__element *out)
{
	(void)call;
	return take_truth(all_booleans(in, n) ? !in[0].whole : -1, out);
}

static enum sl__follows
both(const struct sl__call *call, const struct sl__element *in, size_t n,
     struct sl__element *out)
{
	(void)call;
	return take_truth(all_booleans(in, n) ? in[0].whole && in[1].whole : -1,
			  out);
}

static enum sl__follows
either(const struct sl__call *call, const struct sl__element *in, size_t n,
       struct sl__element *out)
{
	(void)call;
	return take_truth(all_booleans(in, n) ? in[0].whole || in[1].whole : -1,
			  out);
}

static enum sl__follows
one_of(const struct sl__call *call, const struct sl__element *in, size_t n,
       struct sl__element *out)
{
	(void)call;
	return take_truth(
		all_booleans(in, n) ? !in[0].whole != !in[1].whole : -1, out);
}

static enum sl__follows
choose(const struct sl__call *call, const struct sl__element *in, size_t n,
       struct sl__element *out)
{
	(void)call;
	(void)n;
	*out = in[0].whole ? in[1] : in[2];
	return all_booleans(in, 1) ? SL__FOLLOWS : SL__FOLLOWS_NOT;
}

/* The driver converts to the type of the output. */
static enum sl__follows
same(const struct sl__call *call, const struct sl__element *in, size_t n,
     struct sl__element *out)
{
	(void)call;
	(void)n;
	*out = in[0];
	return SL__FOLLOWS;
}

static element_rule *const rules[SL__N_OPS] = {
	[SL__OP_ONNX_Abs] = magnitude,
	[SL__OP_ONNX_Add] = add,
	[SL__OP_ONNX_And] = both,
	[SL__OP_ONNX_Cast] = same,
	[SL__OP_ONNX_CastLike] = same,
	[SL__OP_ONNX_Ceil] = round_up,
	[SL__OP_ONNX_Clip] = clip,
	[SL__OP_ONNX_Div] = divide,
	[SL__OP_ONNX_Equal] = equal,
	[SL__OP_ONNX_Exp] = exponential,
	[SL__OP_ONNX_Floor] = round_down,
	[SL__OP_ONNX_Greater] = greater,
	[SL__OP_ONNX_GreaterOrEqual] = greater_or_equal,
	[SL__OP_ONNX_Less] = less,
	[SL__OP_ONNX_LessOrEqual] = less_or_equal,
	[SL__OP_ONNX_Log] = logarithm,
	[SL__OP_ONNX_Max] = greatest,
	[SL__OP_ONNX_Min] = smallest,
	[SL__OP_ONNX_Mod] = modulo,
	[SL__OP_ONNX_Mul] = multiply,
	[SL__OP_ONNX_Neg] = negate,
	[SL__OP_ONNX_Not] = negation,
	[SL__OP_ONNX_Or] = either,
	[SL__OP_ONNX_Pow] = power,
	[SL__OP_ONNX_Reciprocal] = reciprocal,
	[SL__OP_ONNX_Relu] = rectify,
	[SL__OP_ONNX_Round] = round_even,
	[SL__OP_ONNX_Sign] = sign,
	[SL__OP_ONNX_Sqrt] = square_root,
	[SL__OP_ONNX_Sub] = subtract,
	[SL__OP_ONNX_Sum] = add,
	[SL__OP_ONNX_Where] = choose,
	[SL__OP_ONNX_Xor] = one_of,
};

struct operand {
	const struct sl__known *known; /* NULL: left out */
	size_t strides[RANK_MOST];     /* along the output's dimensions */
};

struct walk {
	const struct sl__type *type; /* of the output */
	size_t n_elements;
	size_t n_operands;
	struct operand operands[INPUTS_MOST];
};

/* Whether the contents of an input can be had, without reading them yet. */
static int
is_followed(const struct sl__call *call, size_t i)
{
	uint32_t value = call->node->inputs[i];

	return !sl__has_in(call, i) || call->shapes->known[value] ||
	       call->shapes->graph->values[value].tensor;
}

static int
set_operand(struct walk *w, size_t i, const struct sl__type *type)
{
	struct operand *o = &w->operands[i];
	size_t stride = 1;

	if (type->kind != SL__TYPE_TENSOR || type->rank < 0 ||
	    type->rank > w->type->rank)
		return 0;
	for (int d = type->rank - 1; d >= 0; d--) {
		size_t at = (size_t)(w->type->rank - type->rank + d);

		if (type->dims[d] != 1 && type->dims[d] != w->type->dims[at])
			return 0;
		o->strides[at] = type->dims[d] == 1 ? 0 : stride;
		stride *= (size_t)type->dims[d];
	}
	return o->known->n == stride;
}

static int
set_walk(struct walk *w, const struct sl__call *call, size_t n_inputs)
{
	uint64_t n;

	w->type = &call->shapes->types[call->node->outputs[0]];
	if (w->type->rank > RANK_MOST || !sl__type_elements(w->type, &n) ||
	    n > SL__KNOWN_MOST ||
	    sl__dtype_family(w->type->dtype) == SL__DTYPE_OTHER)
		return 0;
	w->n_elements = (size_t)n;
	w->n_operands = n_inputs;
	for (size_t i = 0; i < n_inputs; i++) {
		if (!sl__has_in(call, i))
			continue;
		w->operands[i].known = sl__in_known(call, i);
		if (!w->operands[i].known ||
		    !set_operand(w, i, sl__in(call, i)))
			return 0;
	}
	return 1;
}

static enum sl__follows
take_element(const struct walk *w, size_t operand, size_t element,
	     struct sl__element *out)
{
	const struct operand *o = &w->operands[operand];
	size_t at = 0;

	if (!o->known) {
		out->kind = SL__ELEMENT_ABSENT;
		return SL__FOLLOWS;
	}
	for (int d = w->type->rank - 1; d >= 0; d--) {
		size_t size = (size_t)w->type->dims[d];

		at += element % size * o->strides[d];
		element /= size;
	}
	*out = sl__element_at(o->known, at);
	/* Unsigned numbers of 64 bits that are kept as if they had a sign. */
	if (o->known->dtype == SL_DTYPE_U64 && out->whole < 0 &&
	    !sl__is_symbol(out->whole))
		return SL__FOLLOWS_NOT;
	return SL__FOLLOWS;
}

static enum sl__follows
fold_element(const struct sl__call *call, const struct walk *w,
	     element_rule *rule, size_t i, struct sl__element *out)
{
	struct sl__element in[INPUTS_MOST];
	enum sl__follows follows = SL__FOLLOWS;

	for (size_t k = 0; follows == SL__FOLLOWS && k < w->n_operands; k++)
		follows = take_element(w, k, i, &in[k]);
	if (follows == SL__FOLLOWS)
		follows = rule(call, in, w->n_operands, out);
	if (follows == SL__FOLLOWS)
		follows =
			sl__element_convert(call->shapes, out, w->type->dtype);
	return follows;
}

static enum sl_status
fold_elements(const struct sl__call *call, const struct walk *w,
	      element_rule *rule, struct sl_error *err)
{
	int is_real = sl__dtype_family(w->type->dtype) == SL__DTYPE_FLOAT;
	int64_t *ints = sl__new_sizes(call, w->n_elements);
	double *reals = sl__arena_array(&call->shapes->arena, w->n_elements,
					sizeof(*reals));

	if (!ints || !reals)
		return sl__fail_nomem(err);
	for (size_t i = 0; i < w->n_elements; i++) {
		struct sl__element e = {0};
		enum sl__follows follows = fold_element(call, w, rule, i, &e);

		if (follows == SL__FOLLOWS_NO_MEMORY)
			return sl__fail_nomem(err);
		if (follows == SL__FOLLOWS_NOT)
			return SL_OK;
		ints[i] = e.whole;
		reals[i] = e.real;
	}
	return sl__out_known(call, 0, is_real ? NULL : ints,
			     is_real ? reals : NULL, w->n_elements, err);
}

enum sl_status
sl__fold_elementwise(const struct sl__call *call, struct sl_error *err)
{
	element_rule *rule = rules[call->node->op - sl__ops];
	size_t n_inputs = call->node->n_inputs;
	struct walk w = {0};

	/* The second input of CastLike says a type; before version 7 a small
	 * input may stand at any axis of the first. */
	if (sl__is_op(call->node, SL__OP_ONNX_CastLike))
		n_inputs = 1;
	if (!rule || n_inputs == 0 || n_inputs > INPUTS_MOST ||
	    !sl__has_in(call, 0) || call->node->n_outputs == 0 ||
	    call->node->outputs[0] == SL__NONE ||
	    sl__int(call->node, "broadcast", 0))
		return SL_OK;
	for (size_t i = 0; i < n_inputs; i++) {
		if (!is_followed(call, i))
			return SL_OK;
	}
	return set_walk(&w, call, n_inputs) ? fold_elements(call, &w, rule, err)
					    : SL_OK;
}
