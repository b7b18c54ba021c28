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
#include "graph/op_rules.h"
#include "ops/element.h"

#include <math.h>

#include "base/banned.h"

enum {
	INPUTS_MOST = 8, /* shape arithmetic has two or three */
	RANK_MOST = 8    /* and hardly more than one dimension */
};

/* One element from those of the inputs; the array goes on with absent ones. */
typedef enum sl__fold_outcome element_rule(struct sl__rule_context *call,
					   const struct sl__known_element *in,
					   struct sl__known_element *out);

/* The sign is the divisor's, or with fmod the dividend's. */
static enum sl__fold_outcome
modulo(struct sl__rule_context *call, const struct sl__known_element *in,
       struct sl__known_element *out)
{
	int is_fmod = sl__attribute_int(call->node, "fmod", 0) != 0;
	int64_t a = in[0].whole, b = in[1].whole;

	if (in[0].kind != in[1].kind)
		return SL__FOLD_OUTCOME_UNKNOWN;
	if (in[0].kind == SL__ELEMENT_REAL) {
		*out = sl__element_from_real(fmod(in[0].real, in[1].real));
		return is_fmod ? SL__FOLD_OUTCOME_KNOWN
			       : SL__FOLD_OUTCOME_UNKNOWN;
	}
	if (sl__is_symbol(a) || sl__is_symbol(b))
		return sl__element_new_symbol(call->shapes, out);
	if (b == 0)
		return SL__FOLD_OUTCOME_UNKNOWN;
	a %= b;
	if (!is_fmod && a != 0 && (a < 0) != (b < 0))
		a += b;
	*out = sl__element_from_integer(a);
	return SL__FOLD_OUTCOME_KNOWN;
}

static double
real_of(const struct sl__known_element *e)
{
	return e->kind == SL__ELEMENT_REAL ? e->real : (double)e->whole;
}

/* The exponent may be of another type of number than the base. */
static enum sl__fold_outcome
power(struct sl__rule_context *call, const struct sl__known_element *in,
      struct sl__known_element *out)
{
	enum sl__fold_outcome follows = SL__FOLD_OUTCOME_KNOWN;
	int64_t exponent = in[1].whole;

	for (int i = 0; i < 2; i++) {
		if (in[i].kind == SL__ELEMENT_WHOLE &&
		    sl__is_symbol(in[i].whole))
			return in[0].kind == SL__ELEMENT_WHOLE
				       ? sl__element_new_symbol(call->shapes,
								out)
				       : SL__FOLD_OUTCOME_UNKNOWN;
	}
	if (in[0].kind == SL__ELEMENT_REAL || in[1].kind == SL__ELEMENT_REAL) {
		*out = sl__element_from_real(
			pow(real_of(&in[0]), real_of(&in[1])));
		return SL__FOLD_OUTCOME_KNOWN;
	}
	/* Beyond 63 only 0, 1 and -1 have a power that fits. */
	if (exponent < 0 || exponent > 63)
		return SL__FOLD_OUTCOME_UNKNOWN;
	*out = sl__element_from_integer(1);
	while (follows == SL__FOLD_OUTCOME_KNOWN && exponent-- > 0) {
		struct sl__known_element so_far = *out;

		follows = sl__element_mul(call->shapes, &so_far, &in[0], out);
	}
	return follows;
}

static struct sl__known_element
zero_like(const struct sl__known_element *e)
{
	return e->kind == SL__ELEMENT_REAL ? sl__element_from_real(0)
					   : sl__element_from_integer(0);
}

static enum sl__fold_outcome
negate(struct sl__rule_context *call, const struct sl__known_element *in,
       struct sl__known_element *out)
{
	struct sl__known_element zero = zero_like(in);

	return sl__element_sub(call->shapes, &zero, in, out);
}

static enum sl__fold_outcome
rectify(struct sl__rule_context *call, const struct sl__known_element *in,
	struct sl__known_element *out)
{
	struct sl__known_element zero = zero_like(in);

	return sl__element_max(call->shapes, in, &zero, out);
}

static enum sl__fold_outcome
magnitude(struct sl__rule_context *call, const struct sl__known_element *in,
	  struct sl__known_element *out)
{
	struct sl__known_element zero = zero_like(in);
	int is_below = sl__element_proves_less(call->shapes, in, &zero);

	if (is_below < 0)
		return sl__element_new_symbol(call->shapes, out);
	*out = *in;
	if (in->kind == SL__ELEMENT_REAL)
		out->real = fabs(in->real);
	else if (is_below)
		out->whole = -in->whole;
	return SL__FOLD_OUTCOME_KNOWN;
}

static enum sl__fold_outcome
sign(struct sl__rule_context *call, const struct sl__known_element *in,
     struct sl__known_element *out)
{
	struct sl__known_element zero = zero_like(in);
	int is_below = sl__element_proves_less(call->shapes, in, &zero);
	int is_above = sl__element_proves_less(call->shapes, &zero, in);

	if (in->kind == SL__ELEMENT_REAL && isnan(in->real))
		return SL__FOLD_OUTCOME_UNKNOWN;
	if (is_below < 0 || is_above < 0)
		return sl__element_new_symbol(call->shapes, out);
	*out = zero;
	out->whole = is_above - is_below;
	out->real = is_above - is_below;
	return SL__FOLD_OUTCOME_KNOWN;
}

static double
reciprocal(double x)
{
	return 1 / x;
}

/* Bounds are attributes before version 11; a bound left out is none. */
static enum sl__fold_outcome
clip(struct sl__rule_context *call, const struct sl__known_element *in,
     struct sl__known_element *out)
{
	struct sl__known_element low = {0}, high = {0}, raised = in[0];
	enum sl__fold_outcome follows = SL__FOLD_OUTCOME_KNOWN;

	if (sl__attribute_find(call->node, "min"))
		low = sl__element_from_real(
			sl__attribute_float(call->node, "min", 0));
	if (sl__attribute_find(call->node, "max"))
		high = sl__element_from_real(
			sl__attribute_float(call->node, "max", 0));
	if (in[1].kind)
		low = in[1];
	if (in[2].kind)
		high = in[2];
	if ((low.kind && low.kind != in->kind) ||
	    (high.kind && high.kind != in->kind))
		return SL__FOLD_OUTCOME_UNKNOWN;
	if (low.kind)
		follows = sl__element_max(call->shapes, in, &low, &raised);
	*out = raised;
	if (follows == SL__FOLD_OUTCOME_KNOWN && high.kind)
		follows = sl__element_min(call->shapes, &raised, &high, out);
	return follows;
}

static enum sl__fold_outcome
take_truth(int truth, struct sl__known_element *out)
{
	*out = sl__element_from_integer(truth != 0);
	return truth < 0 ? SL__FOLD_OUTCOME_UNKNOWN : SL__FOLD_OUTCOME_KNOWN;
}

static int
is_nan(const struct sl__known_element *e)
{
	return e->kind == SL__ELEMENT_REAL && isnan(e->real);
}

/* a <= b is not b < a, but for NaN. */
static enum sl__fold_outcome
compare(struct sl__rule_context *call, const struct sl__known_element *in,
	struct sl__known_element *out)
{
	const struct sl__node *node = call->node;
	int is_at_most = sl__is_op(node, SL__OP_ONNX_LessOrEqual);
	int is_at_least = sl__is_op(node, SL__OP_ONNX_GreaterOrEqual);
	int swaps = is_at_most || sl__is_op(node, SL__OP_ONNX_Greater);
	int truth;

	if (in[0].kind != in[1].kind)
		return SL__FOLD_OUTCOME_UNKNOWN;
	if (sl__is_op(node, SL__OP_ONNX_Equal))
		truth = sl__element_proves_equal(call->shapes, &in[0], &in[1]);
	else
		truth = sl__element_proves_less(call->shapes, &in[swaps],
						&in[!swaps]);
	if (truth >= 0 && (is_at_most || is_at_least))
		truth = !truth && !is_nan(&in[0]) && !is_nan(&in[1]);
	return take_truth(truth, out);
}

/* 0, 1, or -1 where it is not known. */
static int
truth_of(const struct sl__known_element *e)
{
	if (e->kind != SL__ELEMENT_WHOLE || sl__is_symbol(e->whole))
		return -1;
	return e->whole != 0;
}

static enum sl__fold_outcome
negation(struct sl__rule_context *call, const struct sl__known_element *in,
	 struct sl__known_element *out)
{
	int truth = truth_of(in);

	(void)call;
	return take_truth(truth < 0 ? -1 : !truth, out);
}

static enum sl__fold_outcome
logic(struct sl__rule_context *call, const struct sl__known_element *in,
      struct sl__known_element *out)
{
	int a = truth_of(&in[0]), b = truth_of(&in[1]);

	if (a < 0 || b < 0)
		return SL__FOLD_OUTCOME_UNKNOWN;
	return take_truth(sl__is_op(call->node, SL__OP_ONNX_And)  ? a && b
			  : sl__is_op(call->node, SL__OP_ONNX_Or) ? a || b
								  : a != b,
			  out);
}

static enum sl__fold_outcome
choose(struct sl__rule_context *call, const struct sl__known_element *in,
       struct sl__known_element *out)
{
	int truth = truth_of(in);

	(void)call;
	*out = truth ? in[1] : in[2];
	return truth < 0 ? SL__FOLD_OUTCOME_UNKNOWN : SL__FOLD_OUTCOME_KNOWN;
}

/* The driver converts to the type of the output. */
static enum sl__fold_outcome
same(struct sl__rule_context *call, const struct sl__known_element *in,
     struct sl__known_element *out)
{
	(void)call;
	*out = in[0];
	return SL__FOLD_OUTCOME_KNOWN;
}

/* Elements are joined two by two, or it is a function of one real, or a rule
 * of its own. */
struct rule {
	sl__element_function *join;
	double (*real)(double x);
	element_rule *own;
};

static const struct rule rules[SL__N_OPS] = {
	[SL__OP_ONNX_Abs] = {.own = magnitude},
	[SL__OP_ONNX_Add] = {.join = sl__element_add},
	[SL__OP_ONNX_And] = {.own = logic},
	[SL__OP_ONNX_Cast] = {.own = same},
	[SL__OP_ONNX_CastLike] = {.own = same},
	[SL__OP_ONNX_Ceil] = {.real = ceil},
	[SL__OP_ONNX_Clip] = {.own = clip},
	[SL__OP_ONNX_Div] = {.join = sl__element_div},
	[SL__OP_ONNX_Equal] = {.own = compare},
	[SL__OP_ONNX_Exp] = {.real = exp},
	[SL__OP_ONNX_Floor] = {.real = floor},
	[SL__OP_ONNX_Greater] = {.own = compare},
	[SL__OP_ONNX_GreaterOrEqual] = {.own = compare},
	[SL__OP_ONNX_Less] = {.own = compare},
	[SL__OP_ONNX_LessOrEqual] = {.own = compare},
	[SL__OP_ONNX_Log] = {.real = log},
	[SL__OP_ONNX_Max] = {.join = sl__element_max},
	[SL__OP_ONNX_Min] = {.join = sl__element_min},
	[SL__OP_ONNX_Mod] = {.own = modulo},
	[SL__OP_ONNX_Mul] = {.join = sl__element_mul},
	[SL__OP_ONNX_Neg] = {.own = negate},
	[SL__OP_ONNX_Not] = {.own = negation},
	[SL__OP_ONNX_Or] = {.own = logic},
	[SL__OP_ONNX_Pow] = {.own = power},
	[SL__OP_ONNX_Reciprocal] = {.real = reciprocal},
	[SL__OP_ONNX_Relu] = {.own = rectify},
	[SL__OP_ONNX_Round] = {.real = rint},
	[SL__OP_ONNX_Sign] = {.own = sign},
	[SL__OP_ONNX_Sqrt] = {.real = sqrt},
	[SL__OP_ONNX_Sub] = {.join = sl__element_sub},
	[SL__OP_ONNX_Sum] = {.join = sl__element_add},
	[SL__OP_ONNX_Where] = {.own = choose},
	[SL__OP_ONNX_Xor] = {.own = logic},
};

static enum sl__fold_outcome
follow(struct sl__rule_context *call, const struct rule *rule,
       const struct sl__known_element *in, size_t n,
       struct sl__known_element *out)
{
	enum sl__fold_outcome follows = SL__FOLD_OUTCOME_KNOWN;

	if (rule->own)
		return rule->own(call, in, out);
	*out = in[0];
	if (rule->real) {
		*out = sl__element_from_real(rule->real(in->real));
		return in->kind == SL__ELEMENT_REAL ? SL__FOLD_OUTCOME_KNOWN
						    : SL__FOLD_OUTCOME_UNKNOWN;
	}
	for (size_t i = 1; follows == SL__FOLD_OUTCOME_KNOWN && i < n; i++) {
		struct sl__known_element so_far = *out;

		if (in[i].kind != so_far.kind)
			return SL__FOLD_OUTCOME_UNKNOWN;
		follows = rule->join(call->shapes, &so_far, &in[i], out);
	}
	return follows;
}

struct operand {
	const struct sl__known_contents *known; /* NULL: left out */
	size_t strides[RANK_MOST]; /* along the output's dimensions */
};

struct walk {
	const struct sl__type *type; /* of the output */
	size_t n_elements;
	size_t n_operands;
	struct operand operands[INPUTS_MOST];
};

/* Whether the contents of an input can be had, without reading them yet. */
static int
is_followed(struct sl__rule_context *call, size_t i)
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
set_walk(struct walk *w, struct sl__rule_context *call, size_t n_inputs)
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
		w->operands[i].known = sl__in_known_contents(call, i);
		if (!w->operands[i].known ||
		    !set_operand(w, i, sl__in_type(call, i)))
			return 0;
	}
	return 1;
}

static enum sl__fold_outcome
take_element(const struct walk *w, size_t operand, size_t element,
	     struct sl__known_element *out)
{
	const struct operand *o = &w->operands[operand];
	size_t at = 0;

	if (!o->known) {
		out->kind = SL__ELEMENT_ABSENT;
		return SL__FOLD_OUTCOME_KNOWN;
	}
	for (int d = w->type->rank - 1; d >= 0; d--) {
		size_t size = (size_t)w->type->dims[d];

		at += element % size * o->strides[d];
		element /= size;
	}
	*out = sl__known_element_at(o->known, at);
	/* Unsigned numbers of 64 bits that are kept as if they had a sign. */
	if (o->known->dtype == SL_DTYPE_U64 && out->whole < 0 &&
	    !sl__is_symbol(out->whole))
		return SL__FOLD_OUTCOME_UNKNOWN;
	return SL__FOLD_OUTCOME_KNOWN;
}

static enum sl__fold_outcome
fold_element(struct sl__rule_context *call, const struct walk *w,
	     const struct rule *rule, size_t i, struct sl__known_element *out)
{
	struct sl__known_element in[INPUTS_MOST] = {0};
	enum sl__fold_outcome follows = SL__FOLD_OUTCOME_KNOWN;

	for (size_t k = 0;
	     follows == SL__FOLD_OUTCOME_KNOWN && k < w->n_operands; k++)
		follows = take_element(w, k, i, &in[k]);
	if (follows == SL__FOLD_OUTCOME_KNOWN)
		follows = follow(call, rule, in, w->n_operands, out);
	if (follows == SL__FOLD_OUTCOME_KNOWN)
		follows =
			sl__element_convert(call->shapes, out, w->type->dtype);
	return follows;
}

static enum sl_status
fold_elements(struct sl__rule_context *call, const struct walk *w,
	      const struct rule *rule)
{
	int is_real = sl__dtype_family(w->type->dtype) == SL__DTYPE_FLOAT;
	int64_t *ints = sl__sizes_alloc(call, w->n_elements);
	double *reals = sl__arena_array(&call->shapes->arena, w->n_elements,
					sizeof(*reals));

	if (!ints || !reals)
		return sl__rule_nomem(call);
	for (size_t i = 0; i < w->n_elements; i++) {
		struct sl__known_element e = {0};
		enum sl__fold_outcome follows =
			fold_element(call, w, rule, i, &e);

		if (follows == SL__FOLD_OUTCOME_NO_MEMORY)
			return sl__rule_nomem(call);
		if (follows == SL__FOLD_OUTCOME_UNKNOWN)
			return SL_OK;
		ints[i] = e.whole;
		reals[i] = e.real;
	}
	return sl__out_set_known_contents(call, 0, is_real ? NULL : ints,
					  is_real ? reals : NULL,
					  w->n_elements);
}

enum sl_status
sl__fold_elementwise(struct sl__rule_context *call)
{
	const struct rule *rule = &rules[call->node->op - sl__ops];
	size_t n_inputs = call->node->n_inputs;
	struct walk w = {0};

	/* The second input of CastLike says a type; before version 7 a small
	 * input may stand at any axis of the first. */
	if (sl__is_op(call->node, SL__OP_ONNX_CastLike))
		n_inputs = 1;
	if (n_inputs == 0 || n_inputs > INPUTS_MOST || !sl__has_in(call, 0) ||
	    call->node->n_outputs == 0 || call->node->outputs[0] == SL__NONE ||
	    sl__attribute_int(call->node, "broadcast", 0))
		return SL_OK;
	for (size_t i = 0; i < n_inputs; i++) {
		if (!is_followed(call, i))
			return SL_OK;
	}
	return set_walk(&w, call, n_inputs) ? fold_elements(call, &w, rule)
					    : SL_OK;
}
