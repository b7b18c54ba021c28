/* SPDX-License-Identifier: Apache-2.0 */
/* fuse_quantized_read.c - what the passes about quantized models ask of nodes.
 */
#include "transform/matching.h"
#include "transform/fuse_quantized.h"
#include "transform/rewrite_values.h"

#include <math.h>

#include "base/banned.h"

static int
is_small_integer(enum sl_dtype dtype)
{
	return dtype == SL_DTYPE_U8 || dtype == SL_DTYPE_I8;
}

/* Whether nothing but scale and zero point decides the numbers. */
static int
is_usual(const struct sl__node *node)
{
	return sl__attribute_int(node, "block_size", 0) == 0 &&
	       sl__attribute_int(node, "precision", 0) == 0;
}

static int
read_zero(const struct sl__rewrite *rw, uint32_t value, int64_t *out)
{
	const struct sl__tensor *t = sl__tensor_constant_read(rw, value);

	*out = 0;
	return value == SL__NONE ||
	       (t && t->n_elements == 1 && sl__tensor_integers(t, 0, 1, out));
}

/* What the scale belongs to, and its reals. */
static int
read_types(const struct sl__rewrite *rw, uint32_t node, uint32_t *whole,
	   uint32_t *real)
{
	const struct sl__node *n = sl__rewrite_node(rw, node);

	if (!n || n->n_inputs < 2 || n->inputs[0] == SL__NONE ||
	    n->outputs[0] == SL__NONE || !is_usual(n))
		return 0;
	if (sl__rewrite_node_is_op(rw, node, SL__OP_ONNX_QuantizeLinear)) {
		*whole = n->outputs[0];
		*real = n->inputs[0];
	} else if (sl__rewrite_node_is_op(rw, node,
					  SL__OP_ONNX_DequantizeLinear)) {
		*whole = n->inputs[0];
		*real = n->outputs[0];
	} else {
		return 0;
	}
	return sl__has_known_shape(rw, *whole) &&
	       sl__is_nonempty_f32(rw, *real);
}

int
sl__quantization_read(struct sl__quantization *out,
		      const struct sl__rewrite *rw, uint32_t node)
{
	uint32_t whole, real;

	if (!read_types(rw, node, &whole, &real))
		return 0;
	out->scale = sl__rewrite_input(rw, node, 1);
	out->zero = sl__rewrite_input(rw, node, 2);
	out->dtype = rw->types[whole].dtype;
	return is_small_integer(out->dtype) &&
	       sl__scalar_constant_read(rw, out->scale, &out->by) &&
	       isfinite(out->by) && out->by > 0 &&
	       read_zero(rw, out->zero, &out->at);
}

int
sl__dequantized_operand_read(struct sl__dequantized_operand *out,
			     const struct sl__rewrite *rw, uint32_t value)
{
	out->node = sl__rewrite_producer(rw, value);
	if (!sl__rewrite_node_is_op(rw, out->node,
				    SL__OP_ONNX_DequantizeLinear))
		return 0;
	out->x = sl__rewrite_input(rw, out->node, 0);
	return sl__quantization_read(&out->q, rw, out->node);
}

int
sl__quantization_equal(const struct sl__quantization *a,
		       const struct sl__quantization *b)
{
	return a->dtype == b->dtype && a->at == b->at && a->by >= b->by &&
	       a->by <= b->by;
}

int64_t
sl__quantization_code_of(const struct sl__quantization *q, double real)
{
	double low = q->dtype == SL_DTYPE_U8 ? 0 : -128, high = low + 255;
	double code = nearbyint((double)(float)(real / q->by)) + (double)q->at;

	return (int64_t)(code < low ? low : code > high ? high : code);
}

uint32_t
sl__rewrite_add_integer_scalar(struct sl__rewrite *rw, enum sl_dtype dtype,
			       int64_t number)
{
	return sl__rewrite_add_integer_constant(rw, dtype, 0, NULL, &number);
}

uint32_t
sl__quantization_zero_point(struct sl__rewrite *rw,
			    const struct sl__quantization *q)
{
	return q->zero == SL__NONE
		       ? sl__rewrite_add_integer_scalar(rw, q->dtype, 0)
		       : q->zero;
}

static size_t
count(const struct sl__rewrite *rw, uint32_t value)
{
	const struct sl__tensor *t = sl__tensor_constant_read(rw, value);

	return t ? (size_t)t->n_elements : 0;
}

int
sl__quantized_weights_read(struct sl__quantized_weights *out,
			   const struct sl__rewrite *rw, uint32_t value,
			   int axis)
{
	uint32_t node = sl__rewrite_producer(rw, value), whole, real;
	const struct sl__tensor *t;
	size_t n_zeros;

	if (!sl__rewrite_node_is_op(rw, node, SL__OP_ONNX_DequantizeLinear) ||
	    !read_types(rw, node, &whole, &real))
		return 0;
	out->node = node;
	out->w = whole;
	out->scale = sl__rewrite_input(rw, node, 1);
	out->zero = sl__rewrite_input(rw, node, 2);
	out->n_scales = count(rw, out->scale);
	t = sl__tensor_constant_read(rw, whole);
	n_zeros = out->zero == SL__NONE ? 1 : count(rw, out->zero);
	if (!t || !is_small_integer(t->dtype) || axis < 0 ||
	    (size_t)axis >= t->rank ||
	    (n_zeros != 1 && n_zeros != out->n_scales))
		return 0;
	if (out->n_scales == 1)
		return 1;
	return rw->types[out->scale].rank == 1 &&
	       out->n_scales == (size_t)t->dims[axis] &&
	       sl__axis_normalize(
		       sl__attribute_int(&rw->nodes[node].node, "axis", 1),
		       (int)t->rank) == axis;
}

int
sl__quantized_weights_symmetric(const struct sl__quantized_weights *w,
				const struct sl__rewrite *rw)
{
	int is_signed = rw->types[w->w].dtype == SL_DTYPE_I8;

	if (w->zero == SL__NONE)
		return is_signed;
	return sl__is_constant_filled_with(rw, w->zero, is_signed ? 0 : 128);
}

/* Constants that are reals, or integers with a scale. */
struct reals {
	const struct sl__tensor *numbers, *scales, *zeros;
};

static int
read_reals(struct reals *out, const struct sl__rewrite *rw, uint32_t value)
{
	uint32_t node = sl__rewrite_producer(rw, value);

	out->scales = out->zeros = NULL;
	out->numbers = sl__tensor_constant_read(rw, value);
	if (out->numbers)
		return out->numbers->dtype == SL_DTYPE_F32;
	if (!sl__rewrite_node_is_op(rw, node, SL__OP_ONNX_DequantizeLinear) ||
	    !is_usual(&rw->nodes[node].node))
		return 0;
	out->numbers =
		sl__tensor_constant_read(rw, sl__rewrite_input(rw, node, 0));
	out->scales =
		sl__tensor_constant_read(rw, sl__rewrite_input(rw, node, 1));
	out->zeros =
		sl__tensor_constant_read(rw, sl__rewrite_input(rw, node, 2));
	if (!out->numbers || !out->scales ||
	    (!out->zeros && sl__rewrite_input(rw, node, 2) != SL__NONE))
		return 0;
	return out->scales->n_elements == 1 ||
	       (out->numbers->rank == 1 &&
		out->scales->n_elements == out->numbers->n_elements);
}

static double
element(const struct sl__tensor *t, uint64_t i)
{
	double x;

	if (t->n_elements == 1)
		i = 0;
	return sl__tensor_doubles(t, i, 1, &x) ? x : (double)NAN;
}

/* Element i in units of 'unit'.  A scale that is the unit but for rounding
 * leaves integers as they are. */
static double
in_units(const struct reals *r, uint64_t i, double unit)
{
	double x = element(r->numbers, i), scale;

	if (!r->scales)
		return x / unit;
	scale = element(r->scales, i);
	if (r->zeros)
		x -= element(r->zeros, i);
	return fabs(scale / unit - 1) < 1e-5 ? x : x * scale / unit;
}

static int
has_size(const struct reals *r, size_t n)
{
	const struct sl__tensor *t = r->numbers;

	if (t->n_elements == 1)
		return 1;
	return t->n_elements == n && t->rank >= 1 &&
	       t->dims[t->rank - 1] == (int64_t)n;
}

/* The whole numbers, rounded; 0 where one is beyond 32 bits, or moves a result
 * by more than an eighth of its unit. */
static int
round_all(const struct sl__rewrite *rw, const struct sl__quantized_bias *b,
	  const struct reals *r, unsigned char *bytes)
{
	const struct sl__tensor *w = sl__tensor_constant_read(rw, b->w->scale);

	for (size_t i = 0; i < b->n; i++) {
		double unit = b->x->by * element(w, i) * b->alpha;
		double exact = in_units(r, i, unit / b->beta);
		double x = nearbyint(exact);
		int64_t whole;

		if (!(fabs(x) < 2147483647.0) ||
		    !(fabs((exact - x) * unit) <= b->y->by / 8))
			return 0;
		whole = (int64_t)x;
		sl__store_integers(bytes, SL_DTYPE_I32, i, 1, &whole);
	}
	return 1;
}

int
sl__quantized_bias_add_constant(struct sl__rewrite *rw,
				const struct sl__quantized_bias *bias,
				uint32_t *out)
{
	int64_t n = (int64_t)bias->n;
	struct sl__tensor like = {.dtype = SL_DTYPE_I32, .rank = 1, .dims = &n};
	unsigned char *bytes;
	struct reals r;

	*out = SL__NONE;
	if (bias->value == SL__NONE)
		return 1;
	if (!read_reals(&r, rw, bias->value) || !has_size(&r, bias->n))
		return 0;
	*out = sl__rewrite_add_constant(rw, &like, &bytes);
	return bytes && round_all(rw, bias, &r, bytes);
}

uint32_t
sl__added_bias_find(const struct sl__rewrite *rw, uint32_t product,
		    uint32_t *bias)
{
	uint32_t y = sl__rewrite_output(rw, product);
	uint32_t user = sl__rewrite_only_user(rw, y);
	const struct sl__type *type;

	if (!sl__rewrite_node_is_op(rw, user, SL__OP_ONNX_Add) ||
	    !sl__has_numpy_broadcasting(&rw->nodes[user].node) ||
	    !sl__have_same_dtype_and_dims(rw, y, sl__rewrite_output(rw, user)))
		return SL__NONE;
	*bias = sl__other_operand(rw, user, y);
	type = &rw->types[*bias];
	return sl__tensor_constant_read(rw, *bias) && type->rank == 1 &&
			       type->dims[0] ==
				       rw->types[y].dims[rw->types[y].rank - 1]
		       ? user
		       : SL__NONE;
}

int
sl__has_other_users(const struct sl__rewrite *rw, uint32_t value, uint32_t node)
{
	const struct sl__value_uses *uses = &rw->uses[value];

	for (uint32_t i = 0; i < uses->n; i++) {
		if (uses->nodes[i] != node)
			return 1;
	}
	return rw->is_pinned[value];
}

int
sl__commutes_with_quantize(const struct sl__rewrite *rw, uint32_t node)
{
	static const enum sl__op_id ops[] = {
		SL__OP_ONNX_DepthToSpace, SL__OP_ONNX_Expand,
		SL__OP_ONNX_Flatten,      SL__OP_ONNX_Gather,
		SL__OP_ONNX_Identity,     SL__OP_ONNX_MaxPool,
		SL__OP_ONNX_Pad,          SL__OP_ONNX_Reshape,
		SL__OP_ONNX_Slice,        SL__OP_ONNX_SpaceToDepth,
		SL__OP_ONNX_Squeeze,      SL__OP_ONNX_Tile,
		SL__OP_ONNX_Transpose,    SL__OP_ONNX_Unsqueeze,
	};
	const struct sl__node *n = sl__rewrite_node(rw, node);

	if (!n || n->n_outputs != 1 || n->outputs[0] == SL__NONE)
		return 0;
	/* What is padded with may be an input only since version 11. */
	if (sl__rewrite_node_is_op(rw, node, SL__OP_ONNX_Pad) &&
	    n->version < 11)
		return 0;
	return sl__rewrite_node_is_any_op(rw, node, ops,
					  sizeof(ops) / sizeof(ops[0]));
}
