/* SPDX-License-Identifier: Apache-2.0 */
/*
 * native_unary.c - operators of one input that treat each element alone.
 *
 * 'functions' has a row for each operator: what it does to a run of f32 and,
 * where that differs, to a run of int64, and the attributes that go with it.
 * Other types are converted piece by piece.  As all elements are treated
 * alike, they are taken in whatever order they lie; what pads blocks must
 * stay zero, so a function that makes something of 0 wants none.
 */
#include "base/dtype.h"
#include "compute/element_conversion.h"
#include "compute/unary_functions.h"
#include "engine/strided_layout.h"
#include "engine/node_steps.h"

#include <float.h>
#include <string.h>

#include "base/banned.h"

struct function {
	const char *kernel;
	sl__real_chooser *real;    /* NULL: has none */
	sl__whole_function *whole; /* likewise */
	const char *a, *b;         /* names of attributes */
	float a_usual, b_usual;
	int cost; /* how many times as long as copying a run takes */
};

#define ROW(name, whole, ...)                                    \
	{                                                        \
#name, sl__real_##name##_for, whole, __VA_ARGS__ \
	}

static const struct function functions[SL__N_OPS] = {
	[SL__OP_ONNX_Abs] = ROW(abs, sl__whole_abs, 0, 0, 0, 0, 1),
	[SL__OP_ONNX_Acos] = ROW(acos, 0, 0, 0, 0, 0, 20),
	[SL__OP_ONNX_Acosh] = ROW(acosh, 0, 0, 0, 0, 0, 20),
	[SL__OP_ONNX_Asin] = ROW(asin, 0, 0, 0, 0, 0, 20),
	[SL__OP_ONNX_Asinh] = ROW(asinh, 0, 0, 0, 0, 0, 20),
	[SL__OP_ONNX_Atan] = ROW(atan, 0, 0, 0, 0, 0, 20),
	[SL__OP_ONNX_Atanh] = ROW(atanh, 0, 0, 0, 0, 0, 20),
	[SL__OP_ONNX_BitwiseNot] = {"not", 0, sl__whole_bit_not, 0, 0, 0, 0, 1},
	[SL__OP_ONNX_Ceil] = ROW(ceil, sl__whole_same, 0, 0, 0, 0, 1),
	[SL__OP_ONNX_Celu] = ROW(celu, 0, "alpha", 0, 1, 0, 2),
	[SL__OP_ONNX_Clip] = ROW(clip, sl__whole_clip, "min", "max", 0, 0, 1),
	[SL__OP_ONNX_Cos] = ROW(cos, 0, 0, 0, 0, 0, 20),
	[SL__OP_ONNX_Cosh] = ROW(cosh, 0, 0, 0, 0, 0, 20),
	[SL__OP_ONNX_Elu] = ROW(elu, 0, "alpha", 0, 1, 0, 2),
	[SL__OP_ONNX_Erf] = ROW(erf, 0, 0, 0, 0, 0, 3),
	[SL__OP_ONNX_Exp] = ROW(exp, 0, 0, 0, 0, 0, 2),
	[SL__OP_ONNX_Floor] = ROW(floor, sl__whole_same, 0, 0, 0, 0, 1),
	[SL__OP_ONNX_Gelu] = ROW(gelu, 0, 0, 0, 0, 0, 3),
	[SL__OP_ONNX_HardSigmoid] =
		ROW(hard_sigmoid, 0, "alpha", "beta", 0.2F, 0.5F, 1),
	[SL__OP_ONNX_HardSwish] = ROW(hard_swish, 0, 0, 0, 0, 0, 1),
	[SL__OP_ONNX_IsInf] = ROW(is_inf, 0, 0, 0, 0, 0, 1),
	[SL__OP_ONNX_IsNaN] = ROW(is_nan, 0, 0, 0, 0, 0, 1),
	[SL__OP_ONNX_LeakyRelu] = ROW(leaky_relu, 0, "alpha", 0, 0.01F, 0, 1),
	[SL__OP_ONNX_Log] = ROW(log, 0, 0, 0, 0, 0, 2),
	[SL__OP_ONNX_Mish] = ROW(mish, 0, 0, 0, 0, 0, 6),
	[SL__OP_ONNX_Neg] = ROW(neg, sl__whole_neg, 0, 0, 0, 0, 1),
	[SL__OP_ONNX_Not] = {"not", 0, sl__whole_not, 0, 0, 0, 0, 1},
	[SL__OP_ONNX_Reciprocal] = ROW(reciprocal, 0, 0, 0, 0, 0, 1),
	[SL__OP_ONNX_Relu] = ROW(relu, sl__whole_relu, 0, 0, 0, 0, 1),
	[SL__OP_ONNX_Round] = ROW(round, sl__whole_same, 0, 0, 0, 0, 1),
	[SL__OP_ONNX_Selu] = ROW(selu, 0, "alpha", "gamma",
				 1.67326319217681884765625F,
				 1.05070102214813232421875F, 2),
	[SL__OP_ONNX_Shrink] = ROW(shrink, 0, "bias", "lambd", 0, 0.5F, 1),
	[SL__OP_ONNX_Sigmoid] = ROW(sigmoid, 0, 0, 0, 0, 0, 2),
	[SL__OP_ONNX_Sign] = ROW(sign, sl__whole_sign, 0, 0, 0, 0, 1),
	[SL__OP_ONNX_Sin] = ROW(sin, 0, 0, 0, 0, 0, 20),
	[SL__OP_ONNX_Sinh] = ROW(sinh, 0, 0, 0, 0, 0, 20),
	[SL__OP_ONNX_Softplus] = ROW(softplus, 0, 0, 0, 0, 0, 4),
	[SL__OP_ONNX_Softsign] = ROW(softsign, 0, 0, 0, 0, 0, 1),
	[SL__OP_ONNX_Sqrt] = ROW(sqrt, 0, 0, 0, 0, 0, 1),
	[SL__OP_ONNX_Swish] = ROW(swish, 0, "alpha", 0, 1, 0, 2),
	[SL__OP_ONNX_Tan] = ROW(tan, 0, 0, 0, 0, 0, 20),
	[SL__OP_ONNX_Tanh] = ROW(tanh, 0, 0, 0, 0, 0, 3),
	[SL__OP_ONNX_ThresholdedRelu] =
		ROW(thresholded_relu, 0, "alpha", 0, 1, 0, 1),
	[SL__OP_MS_FastGelu] = ROW(tanh_gelu, 0, 0, 0, 0, 0, 3),
	[SL__OP_MS_Gelu] = ROW(gelu, 0, 0, 0, 0, 0, 3),
	[SL__OP_MS_QuickGelu] = ROW(swish, 0, "alpha", 0, 1.702F, 0, 2),
};

static struct function
function_of(const struct sl__node *node)
{
	struct function f = functions[node->op - sl__ops];

	if (sl__is_op(node, SL__OP_ONNX_Gelu) &&
	    !strcmp(sl__attribute_string(node, "approximate", "none"), "tanh"))
		f = functions[SL__OP_MS_FastGelu];
	/* Before version 6 the defaults have fewer digits. */
	if (sl__is_op(node, SL__OP_ONNX_Selu) && node->version < 6) {
		f.a_usual = 1.6732F;
		f.b_usual = 1.0507F;
	}
	if (sl__is_op(node, SL__OP_ONNX_IsInf)) {
		f.a_usual = sl__attribute_int(node, "detect_positive", 1) != 0;
		f.b_usual = sl__attribute_int(node, "detect_negative", 1) != 0;
	}
	return f;
}

/* Bounds of Clip that are not there: the lowest and the largest number, before
 * version 11 of f32 whatever the elements are. */
static void
set_usual_bounds(struct function *f, const struct sl__node *node,
		 enum sl_dtype dtype)
{
	f->b_usual = FLT_MAX;
	if (node->version >= 11 && dtype == SL_DTYPE_F16)
		f->b_usual = 65504;
	if (node->version >= 11 && dtype == SL_DTYPE_BF16)
		f->b_usual = 0x1.fep127F;
	f->a_usual = -f->b_usual;
}

/* A bound of Clip that is an input: 0 where it is not known. */
static int
read_bound(struct sl__planner *pl, uint32_t value, float *real, int64_t *whole)
{
	const struct sl__tensor *t;
	double number;

	if (value == SL__NONE)
		return 1;
	t = sl__plan_constant_tensor(pl, value);
	if (!t || t->n_elements != 1 || !sl__tensor_doubles(t, 0, 1, &number))
		return 0;
	*real = (float)number;
	return sl__tensor_integer_bits(t, 0, 1, whole);
}

static int
read_knobs(struct sl__planner *pl, const struct sl__node *node,
	   const struct function *f, struct sl__knobs *k)
{
	k->a = f->a ? (float)sl__attribute_float(node, f->a, (double)f->a_usual)
		    : f->a_usual;
	k->b = f->b ? (float)sl__attribute_float(node, f->b, (double)f->b_usual)
		    : f->b_usual;
	k->low = INT64_MIN;
	k->high = INT64_MAX;
	if (!sl__is_op(node, SL__OP_ONNX_Clip))
		return sl__plan_node_input(node, 1) == SL__NONE;
	return read_bound(pl, sl__plan_node_input(node, 1), &k->a, &k->low) &&
	       read_bound(pl, sl__plan_node_input(node, 2), &k->b, &k->high);
}

struct unary {
	sl__real_function *real; /* NULL: 'whole' */
	sl__whole_function *whole;
	struct sl__knobs knobs;
	enum sl_dtype from, to;
	int64_t n;
	unsigned char **at; /* x, y */
};

static void
run_part(int rank, int n_ranks, void *ctx)
{
	const struct unary *u = ctx;
	size_t from = sl_dtype_bits(u->from) / 8, to = sl_dtype_bits(u->to) / 8;
	union sl__conversion_block piece;
	int64_t first, end, n;

	sl__parallel_range(u->n, rank, n_ranks, &first, &end);
	if (u->real && u->from == SL_DTYPE_F32 && u->to == SL_DTYPE_F32) {
		u->real((const float *)(void *)u->at[0] + first, end - first,
			&u->knobs, (float *)(void *)u->at[1] + first);
		return;
	}
	for (int64_t i = first; i < end; i += SL__CONVERSION_BLOCK) {
		n = end - i < SL__CONVERSION_BLOCK ? end - i
						   : SL__CONVERSION_BLOCK;
		sl__conversion_block_load(&piece, u->real != NULL, u->from,
					  u->at[0] + (size_t)i * from, n);
		if (u->real)
			u->real(piece.reals, n, &u->knobs, piece.reals);
		else
			u->whole(piece.wholes, n, &u->knobs, piece.wholes);
		sl__conversion_block_store(&piece, u->real != NULL, u->to,
					   u->at[1] + (size_t)i * to, n);
	}
}

static int
keeps_zero(const struct unary *u)
{
	float zero = 0;

	u->real(&zero, 1, &u->knobs, &zero);
	return zero == 0;
}

/* The layout in which the input is taken, the result's too. */
static const struct sl__layout *
choose_layout(const struct sl__planner *pl, const struct sl__node *node,
	      struct unary *u)
{
	uint32_t x = sl__plan_node_input(node, 0);
	const struct sl__layout *layout = sl__plan_value_layout(pl, x);
	struct sl__strided_layout strided;
	enum sl_dtype own = u->from;

	u->n = (int64_t)sl__plan_value_n_elements(pl, x);
	if (!layout || !u->real || u->to != u->from ||
	    !sl__strided_layout_of(pl, x, layout, &strided) ||
	    sl__number_class_of(strided.dtype) != SL__NUMBER_CLASS_REAL)
		return NULL;
	u->from = u->to = strided.dtype;
	if (strided.is_padded && !keeps_zero(u)) {
		u->from = u->to = own;
		return NULL;
	}
	u->n = (int64_t)(sl__layout_bytes(layout) * 8 / sl_dtype_bits(u->from));
	return layout;
}

static int
read_unary(struct sl__planner *pl, const struct sl__node *node,
	   struct function *f, struct unary *u)
{
	enum sl__number_class numbers;

	u->from = sl__plan_node_input_type(pl, node, 0)->dtype;
	u->to = sl__plan_node_output_type(pl, node, 0)->dtype;
	if (sl__is_op(node, SL__OP_ONNX_Clip))
		set_usual_bounds(f, node, u->from);
	numbers = sl__number_class_of(u->from);
	if (numbers == SL__NUMBER_CLASS_REAL && f->real)
		u->real = f->real();
	else if (numbers == SL__NUMBER_CLASS_WHOLE && f->whole)
		u->whole = f->whole;
	else
		return 0;
	return sl__number_class_of(u->to) != SL__NUMBER_CLASS_NONE &&
	       sl__plan_value_n_elements(pl, node->inputs[0]) &&
	       read_knobs(pl, node, f, &u->knobs);
}

int
sl__make_unary(struct sl__planner *pl, const struct sl__node *node)
{
	struct unary *u = sl__plan_alloc_state(pl, sizeof(*u));
	struct function f = function_of(node);
	const struct sl__layout *layout;
	struct sl__step *step;
	uint32_t at[2];

	if (!u || !read_unary(pl, node, &f, u))
		return 0;
	layout = choose_layout(pl, node, u);
	at[0] = sl__plan_input_buffer(pl, node->inputs[0], layout);
	at[1] = sl__plan_output_in_place(pl, node->outputs[0], layout, at[0]);
	step = sl__plan_add_parallel_step(pl, at, 2, f.kernel, run_part, u);
	step->n_threads = sl__threads_for_bytes(
		pl->program->n_threads, step->n_bytes * (uint64_t)f.cost);
	u->at = step->at;
	return 1;
}
