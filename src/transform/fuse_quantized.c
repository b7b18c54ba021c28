/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuse_quantized.c - reals between integers become integers.
 *
 * Quantized models are written as reals: DequantizeLinear before an operator
 * and QuantizeLinear after it.  Such an island becomes the operator's integer
 * form (QLinearConv, QGemm, ...), which takes and gives the integers.
 *
 * Quantizing never decreases, so it may change places with anything that
 * moves elements or takes the largest of them, and clipping before it is
 * clipping of codes after it.  Where the codes end at the bounds anyway, as
 * they do when a Relu is calibrated with its own zero, nothing is left of the
 * clipping; otherwise a Clip of integers is.
 */
#include "transform/fuse_quantized.h"
#include "transform/matching.h"
#include "transform/optimize.h"
#include "transform/rewrite_values.h"

#include <math.h>

#include "base/banned.h"

/* An operator whose result is quantized, with what clips it in between. */
struct island {
	struct sl__rewrite *rw;
	uint32_t op, clip, quantize; /* nodes; clip may be SL__NONE */
	struct sl__quantization y;
	int64_t low, high; /* the codes that clipping leaves */
	int is_clipped;    /* they are fewer than the type has */
};

/* The codes that are left of a result that 'node' clips. */
static int
read_clip(struct island *s, uint32_t node)
{
	double low = 0, high = (double)INFINITY;
	int64_t least = s->y.dtype == SL_DTYPE_U8 ? 0 : -128;

	if (!sl__rewrite_node_is_op(s->rw, node, SL__OP_ONNX_Relu) &&
	    !sl__clip_read_bounds(s->rw, node, &low, &high))
		return 0;
	s->clip = node;
	s->low = sl__quantization_code_of(&s->y, low);
	s->high = sl__quantization_code_of(&s->y, high);
	s->is_clipped = s->low > least || s->high < least + 255;
	return 1;
}

/* The operator before a QuantizeLinear, and what is in between. */
static int
find_island(struct island *s, struct sl__rewrite *rw, uint32_t quantize)
{
	uint32_t value = sl__rewrite_input(rw, quantize, 0);

	*s = (struct island){.rw = rw, .clip = SL__NONE, .quantize = quantize};
	if (!sl__quantization_read(&s->y, rw, quantize) ||
	    sl__rewrite_only_user(rw, value) != quantize)
		return 0;
	s->op = sl__rewrite_producer(rw, value);
	if (read_clip(s, s->op)) {
		value = sl__rewrite_input(rw, s->op, 0);
		if (sl__rewrite_only_user(rw, value) != s->op)
			return 0;
		s->op = sl__rewrite_producer(rw, value);
	}
	return sl__rewrite_node(rw, s->op) != NULL;
}

/* The node that makes an operand goes with the operator that alone has it. */
static void
cover_source(struct sl__node_builder *m, const struct island *s, uint32_t node)
{
	const struct sl__rewrite *rw = s->rw;

	for (size_t i = 0; i < m->n_covers; i++) {
		if (m->covers[i] == node)
			return; /* it makes two operands */
	}
	if (!sl__has_other_users(rw, sl__rewrite_output(rw, node), s->op))
		sl__node_builder_add_covered(m, node);
}

static void
cover_maker(struct sl__node_builder *m, const struct island *s, uint32_t value)
{
	uint32_t node = sl__rewrite_producer(s->rw, value);

	if (sl__rewrite_node_is_op(s->rw, node, SL__OP_ONNX_DequantizeLinear))
		cover_source(m, s, node);
}

static void
give_scale(struct sl__node_builder *m, const struct sl__quantization *q)
{
	sl__node_builder_add_input(m, q->scale);
	sl__node_builder_add_input(m, sl__quantization_zero_point(m->rw, q));
}

/* An operand with its scale and zero point. */
static void
give_source(struct sl__node_builder *m, const struct island *s,
	    const struct sl__dequantized_operand *x)
{
	sl__node_builder_add_input(m, x->x);
	give_scale(m, &x->q);
	cover_source(m, s, x->node);
}

static void
give_weights(struct sl__node_builder *m, const struct island *s,
	     const struct sl__quantized_weights *w)
{
	sl__node_builder_add_input(m, w->w);
	sl__node_builder_add_input(m, w->scale);
	sl__node_builder_add_input(
		m, w->zero == SL__NONE
			   ? sl__rewrite_add_integer_scalar(
				     m->rw, s->rw->types[w->w].dtype, 0)
			   : w->zero);
	cover_source(m, s, w->node);
}

static void
begin(struct sl__node_builder *m, const struct island *s, const char *domain,
      const char *type)
{
	sl__node_builder_begin(m, s->rw, domain, type, *domain ? 1 : 10);
	sl__node_builder_copy_attributes(m, s->op);
	sl__node_builder_add_covered(m, s->op);
}

/* Clips codes where the type does not end at the bounds. */
static void
add_clip(const struct island *s, uint32_t codes)
{
	struct sl__node_builder m;

	sl__node_builder_begin(&m, s->rw, "", "Clip", 13);
	m.node.name = s->rw->nodes[s->clip].node.name;
	sl__node_builder_add_input(&m, codes);
	sl__node_builder_add_input(
		&m, sl__rewrite_add_integer_scalar(s->rw, s->y.dtype, s->low));
	sl__node_builder_add_input(
		&m, sl__rewrite_add_integer_scalar(s->rw, s->y.dtype, s->high));
	sl__node_builder_add_output(&m, sl__rewrite_output(s->rw, s->quantize));
	sl__node_builder_add_covered(&m, s->clip);
	sl__node_builder_add_covered(&m, s->quantize);
	sl__node_builder_finish(&m);
}

/* The integer operator gives the codes that were quantized to. */
static int
finish(struct sl__node_builder *m, const struct island *s)
{
	uint32_t y = sl__rewrite_output(s->rw, s->quantize), codes;

	if (s->is_clipped) {
		codes = sl__rewrite_add_value(s->rw, "", &s->rw->types[y]);
		sl__node_builder_add_output(m, codes);
		sl__node_builder_finish(m);
		add_clip(s, codes);
		return 1;
	}
	if (s->clip != SL__NONE)
		sl__node_builder_add_covered(m, s->clip);
	sl__node_builder_add_covered(m, s->quantize);
	sl__node_builder_add_output(m, y);
	sl__node_builder_finish(m);
	return 1;
}

/* Operand i of the operator, where it is integers on their way. */
static int
read_operand(const struct island *s, size_t i,
	     struct sl__dequantized_operand *out)
{
	return sl__dequantized_operand_read(out, s->rw,
					    sl__rewrite_input(s->rw, s->op, i));
}

static int
convert_conv(struct island *s)
{
	uint32_t w = sl__rewrite_input(s->rw, s->op, 1), bias;
	struct sl__quantized_weights weights;
	struct sl__dequantized_operand x;
	struct sl__quantized_bias b = {
		.x = &x.q, .w = &weights, .y = &s->y, .alpha = 1, .beta = 1};
	struct sl__node_builder m;

	b.value = sl__rewrite_input(s->rw, s->op, 2);
	if (!read_operand(s, 0, &x) ||
	    !sl__quantized_weights_read(&weights, s->rw, w, 0) ||
	    !sl__quantized_weights_symmetric(&weights, s->rw))
		return 0;
	b.n = (size_t)s->rw->types[w].dims[0];
	if (!sl__quantized_bias_add_constant(s->rw, &b, &bias))
		return 0;
	begin(&m, s, "", "QLinearConv");
	give_source(&m, s, &x);
	give_weights(&m, s, &weights);
	give_scale(&m, &s->y);
	if (bias != SL__NONE) {
		sl__node_builder_add_input(&m, bias);
		cover_maker(&m, s, b.value);
	}
	return finish(&m, s);
}

/* An operand of a product: constant, with a scale for each of its columns at
 * most, or on its way. */
static int
read_right(struct sl__quantized_weights *out, const struct sl__rewrite *rw,
	   uint32_t value)
{
	int rank = rw->types[value].rank;
	struct sl__dequantized_operand b;

	if (sl__quantized_weights_read(out, rw, value, rank - 1))
		return rank > 1 || out->n_scales == 1;
	if (!sl__dequantized_operand_read(&b, rw, value))
		return 0;
	out->node = b.node;
	out->w = b.x;
	out->scale = b.q.scale;
	out->zero = b.q.zero;
	out->n_scales = 1;
	return 1;
}

static int
convert_matmul(struct island *s)
{
	struct sl__quantized_weights b;
	struct sl__dequantized_operand a;
	struct sl__node_builder m;

	if (!read_operand(s, 0, &a) ||
	    !read_right(&b, s->rw, sl__rewrite_input(s->rw, s->op, 1)))
		return 0;
	begin(&m, s, "", "QLinearMatMul");
	give_source(&m, s, &a);
	give_weights(&m, s, &b);
	give_scale(&m, &s->y);
	return finish(&m, s);
}

/* A product of two matrices and a bias: Gemm, or MatMul with an Add. */
struct gemm {
	uint32_t a, b, bias;
	double alpha, beta;
	int is_transposed; /* b */
};

/* Without a QuantizeLinear after it, it gives reals. */
static int
convert_gemm_of(struct island *s, const struct gemm *g, uint32_t product)
{
	struct sl__rewrite *rw = s->rw;
	struct sl__quantized_weights b;
	struct sl__dequantized_operand a;
	struct sl__quantized_bias bias = {.value = g->bias,
					  .x = &a.q,
					  .w = &b,
					  .y = &s->y,
					  .alpha = g->alpha,
					  .beta = g->beta};
	struct sl__node_builder m;
	uint32_t c, op = s->op;

	if (rw->types[g->a].rank != 2 || rw->types[g->b].rank != 2 ||
	    !sl__dequantized_operand_read(&a, rw, g->a) ||
	    !sl__quantized_weights_read(&b, rw, g->b, g->is_transposed ? 0 : 1))
		return 0;
	bias.n = (size_t)rw->types[g->b].dims[g->is_transposed ? 0 : 1];
	if (!sl__quantized_bias_add_constant(rw, &bias, &c))
		return 0;
	s->op = product;
	begin(&m, s, "com.microsoft", "QGemm");
	sl__node_builder_drop_attribute(&m, "beta");
	sl__node_builder_set_float(&m, "alpha", (float)g->alpha);
	give_source(&m, s, &a);
	give_weights(&m, s, &b);
	sl__node_builder_add_input(&m, c);
	s->op = op;
	if (op != product)
		sl__node_builder_add_covered(&m, op);
	if (c != SL__NONE)
		cover_maker(&m, s, g->bias);
	if (s->quantize == SL__NONE) {
		sl__node_builder_add_output(&m, sl__rewrite_output(rw, op));
		sl__node_builder_finish(&m);
		return 1;
	}
	give_scale(&m, &s->y);
	return finish(&m, s);
}

static int
convert_gemm(struct island *s)
{
	const struct sl__node *node = &s->rw->nodes[s->op].node;
	struct gemm g = {sl__rewrite_input(s->rw, s->op, 0),
			 sl__rewrite_input(s->rw, s->op, 1),
			 sl__rewrite_input(s->rw, s->op, 2),
			 sl__attribute_float(node, "alpha", 1),
			 sl__attribute_float(node, "beta", 1),
			 sl__attribute_int(node, "transB", 0) != 0};

	/* Before version 7 a bias is repeated only where that is said. */
	return node->version >= 7 && fabs(g.beta) > 0 && fabs(g.alpha) > 0 &&
	       convert_gemm_of(s, &g, s->op);
}

/* The bias of a product, added by a node of its own. */
static int
convert_biased(struct island *s)
{
	for (size_t i = 0; i < 2; i++) {
		uint32_t value = sl__rewrite_input(s->rw, s->op, i);
		uint32_t product = sl__rewrite_producer(s->rw, value);
		struct gemm g = {.alpha = 1, .beta = 1};

		if (!sl__rewrite_node_is_op(s->rw, product,
					    SL__OP_ONNX_MatMul) ||
		    sl__rewrite_only_user(s->rw, value) != s->op ||
		    !sl__have_same_dtype_and_dims(
			    s->rw, value, sl__rewrite_output(s->rw, s->op)))
			continue;
		g.a = sl__rewrite_input(s->rw, product, 0);
		g.b = sl__rewrite_input(s->rw, product, 1);
		g.bias = sl__rewrite_input(s->rw, s->op, 1 - i);
		return convert_gemm_of(s, &g, product);
	}
	return 0;
}

static int
convert_binary(struct island *s)
{
	int is_sum = sl__rewrite_node_is_op(s->rw, s->op, SL__OP_ONNX_Add);
	struct sl__dequantized_operand a, b;
	struct sl__node_builder m;

	if (!sl__has_numpy_broadcasting(&s->rw->nodes[s->op].node))
		return 0;
	if (!read_operand(s, 0, &a) || !read_operand(s, 1, &b))
		return is_sum && convert_biased(s);
	if (a.q.dtype != b.q.dtype || a.q.dtype != s->y.dtype)
		return 0;
	begin(&m, s, "com.microsoft", is_sum ? "QLinearAdd" : "QLinearMul");
	give_source(&m, s, &a);
	give_source(&m, s, &b);
	give_scale(&m, &s->y);
	return finish(&m, s);
}

static const struct {
	enum sl__op_id op;
	const char *type;
} unaries[] = {
	{SL__OP_ONNX_AveragePool, "QLinearAveragePool"},
	{SL__OP_ONNX_GlobalAveragePool, "QLinearGlobalAveragePool"},
	{SL__OP_ONNX_LeakyRelu, "QLinearLeakyRelu"},
	{SL__OP_ONNX_Sigmoid, "QLinearSigmoid"},
	{SL__OP_ONNX_Softmax, "QLinearSoftmax"},
};

static int
convert_unary(struct island *s, const char *type)
{
	const struct sl__node *node = &s->rw->nodes[s->op].node;
	struct sl__dequantized_operand x;
	struct sl__node_builder m;

	/* The integer form has no dilations. */
	if (!read_operand(s, 0, &x) || x.q.dtype != s->y.dtype ||
	    (sl__is_op(node, SL__OP_ONNX_AveragePool) &&
	     sl__attribute_find(node, "dilations")))
		return 0;
	begin(&m, s, "com.microsoft", type);
	if (sl__is_op(node, SL__OP_ONNX_Softmax))
		sl__node_builder_set_int(&m, "opset", node->version);
	give_source(&m, s, &x);
	give_scale(&m, &s->y);
	return finish(&m, s);
}

/* Nothing but clipping happens to the codes. */
static int
convert_clip(const struct island *s)
{
	struct sl__dequantized_operand x;

	if (!s->is_clipped ||
	    !sl__dequantized_operand_read(&x, s->rw,
					  sl__rewrite_output(s->rw, s->op)) ||
	    !sl__quantization_equal(&x.q, &s->y))
		return 0;
	add_clip(s, x.x);
	return 1;
}

/* Whether the operator became its integer form. */
static int
convert(struct island *s)
{
	if (sl__rewrite_node_is_op(s->rw, s->op, SL__OP_ONNX_DequantizeLinear))
		return convert_clip(s);
	if (sl__rewrite_node_is_op(s->rw, s->op, SL__OP_ONNX_Conv))
		return convert_conv(s);
	if (sl__rewrite_node_is_op(s->rw, s->op, SL__OP_ONNX_MatMul))
		return convert_matmul(s);
	if (sl__rewrite_node_is_op(s->rw, s->op, SL__OP_ONNX_Gemm))
		return convert_gemm(s);
	if (sl__rewrite_node_is_op(s->rw, s->op, SL__OP_ONNX_Add) ||
	    sl__rewrite_node_is_op(s->rw, s->op, SL__OP_ONNX_Mul))
		return convert_binary(s);
	for (size_t i = 0; i < sizeof(unaries) / sizeof(unaries[0]); i++) {
		if (sl__rewrite_node_is_op(s->rw, s->op, unaries[i].op))
			return convert_unary(s, unaries[i].type);
	}
	return 0;
}

/* Whether integers lie behind a value: through what only moves or clips, and
 * one operator. */
static int
is_of_integers(const struct sl__rewrite *rw, uint32_t value)
{
	int is_past = 0;

	for (;;) {
		uint32_t node = sl__rewrite_producer(rw, value);
		uint32_t x = sl__rewrite_input(rw, node, 0);

		if (sl__rewrite_node_is_op(rw, node,
					   SL__OP_ONNX_DequantizeLinear))
			return 1;
		if (is_past || x == SL__NONE)
			return 0;
		is_past = !sl__commutes_with_quantize(rw, node) &&
			  !sl__rewrite_node_is_op(rw, node, SL__OP_ONNX_Relu) &&
			  !sl__rewrite_node_is_op(rw, node, SL__OP_ONNX_Clip);
		if (!is_past && sl__has_other_users(rw, x, node))
			is_past = 1;
		value = x;
	}
}

/* A value quantized as y is, by a node of its own. */
static uint32_t
quantize_value(const struct island *s, uint32_t value)
{
	struct sl__type type = s->rw->types[value];
	struct sl__dequantized_operand x;
	struct sl__node_builder m;
	uint32_t codes;

	if (sl__dequantized_operand_read(&x, s->rw, value) &&
	    sl__quantization_equal(&x.q, &s->y))
		return x.x;
	type.dtype = s->y.dtype;
	codes = sl__rewrite_add_value(s->rw, "", &type);
	sl__node_builder_begin_like(&m, s->rw, s->quantize);
	sl__node_builder_drop_attribute(&m, "axis");
	sl__node_builder_add_input(&m, value);
	give_scale(&m, &s->y);
	sl__node_builder_add_output(&m, codes);
	sl__node_builder_finish(&m);
	return codes;
}

/* What a Pad fills in, as a code. */
static void
give_pad(struct sl__node_builder *m, const struct island *s)
{
	double real = 0;

	(void)sl__scalar_constant_read(
		s->rw, sl__rewrite_input(s->rw, s->op, 2), &real);
	sl__node_builder_add_input(m, sl__rewrite_input(s->rw, s->op, 1));
	sl__node_builder_add_input(
		m, sl__rewrite_add_integer_scalar(
			   s->rw, s->y.dtype,
			   sl__quantization_code_of(&s->y, real)));
	if (s->rw->nodes[s->op].node.n_inputs > 3)
		sl__node_builder_add_input(m,
					   sl__rewrite_input(s->rw, s->op, 3));
}

/* The first operand, or all of a Concat, as codes of the same scale. */
static void
give_moved(struct sl__node_builder *m, const struct island *s)
{
	int is_concat =
		sl__rewrite_node_is_op(s->rw, s->op, SL__OP_ONNX_Concat);
	uint32_t n = s->rw->nodes[s->op].node.n_inputs;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t x = sl__rewrite_input(s->rw, s->op, i), codes = x;

		if (i == 0 || is_concat) {
			codes = quantize_value(s, x);
			cover_maker(m, s, x);
		}
		sl__node_builder_add_input(m, codes);
		if (sl__rewrite_node_is_op(s->rw, s->op, SL__OP_ONNX_Pad)) {
			give_pad(m, s);
			return;
		}
	}
}

/* A movement that quantizing can change places with. */
static int
is_movable(const struct island *s)
{
	const struct sl__node *node = &s->rw->nodes[s->op].node;
	double fill;

	if (sl__rewrite_node_is_op(s->rw, s->op, SL__OP_ONNX_Concat)) {
		for (uint32_t i = 0; i < node->n_inputs; i++) {
			if (!is_of_integers(s->rw, node->inputs[i]))
				return 0;
		}
		return node->n_inputs <= SL__NODE_BUILDER_INPUTS &&
		       node->n_inputs > 0;
	}
	if (!sl__commutes_with_quantize(s->rw, s->op) ||
	    !is_of_integers(s->rw, node->outputs[0]))
		return 0;
	return !sl__is_op(node, SL__OP_ONNX_Pad) || node->n_inputs < 3 ||
	       node->inputs[2] == SL__NONE ||
	       sl__scalar_constant_read(s->rw, node->inputs[2], &fill);
}

static void
move(const struct island *s)
{
	struct sl__node_builder m;

	if (!is_movable(s))
		return;
	sl__node_builder_begin_like(&m, s->rw, s->op);
	sl__node_builder_add_covered(&m, s->op);
	/* Integers are among the types of a MaxPool since version 12. */
	if (sl__rewrite_node_is_op(s->rw, s->op, SL__OP_ONNX_MaxPool) &&
	    m.node.version < 12)
		m.node.version = 12;
	give_moved(&m, s);
	finish(&m, s);
}

/* The node nearest to a value, for what is left of one that goes. */
static uint32_t
neighbour(const struct sl__rewrite *rw, uint32_t value)
{
	uint32_t node = sl__rewrite_producer(rw, value);

	if (node == SL__NONE && rw->uses[value].n)
		node = rw->uses[value].nodes[0];
	return sl__rewrite_node(rw, node) && rw->nodes[node].node.block ==
						     rw->to->values[value].block
		       ? node
		       : SL__NONE;
}

/* Taken off its scale and quantized by the same: nothing has happened. */
static int
cancel(struct sl__rewrite *rw, uint32_t quantize)
{
	uint32_t y = sl__rewrite_output(rw, quantize), near;
	struct sl__quantization q;
	struct sl__dequantized_operand x;

	if (rw->is_pinned[y] || !sl__quantization_read(&q, rw, quantize) ||
	    !sl__dequantized_operand_read(&x, rw,
					  sl__rewrite_input(rw, quantize, 0)) ||
	    !sl__quantization_equal(&x.q, &q))
		return 0;
	sl__rewrite_remove_node(rw, quantize);
	sl__rewrite_replace_value(rw, y, x.x);
	near = neighbour(rw, x.x);
	if (near != SL__NONE)
		sl__rewrite_add_covered(rw, near, quantize);
	return 1;
}

/* A product of codes by constant ones, that reals are wanted of. */
static void
convert_to_reals(struct sl__rewrite *rw, uint32_t id)
{
	struct island s = {.rw = rw,
			   .op = id,
			   .clip = SL__NONE,
			   .quantize = SL__NONE,
			   .y = {.by = 0}}; /* a bias is of codes */
	uint32_t right = sl__rewrite_input(rw, id, 1), bias = SL__NONE, user;
	struct sl__quantized_weights b;
	struct sl__dequantized_operand a;
	struct sl__node_builder m;

	if (sl__rewrite_node_is_op(rw, id, SL__OP_ONNX_Gemm)) {
		convert_gemm(&s);
		return;
	}
	if (rw->types[right].rank != 2 || !read_operand(&s, 0, &a) ||
	    rw->types[a.x].rank < 2 ||
	    !sl__quantized_weights_read(&b, rw, right, 1))
		return;
	begin(&m, &s, "com.microsoft", "MatMulIntegerToFloat");
	sl__node_builder_add_input(&m, a.x);
	sl__node_builder_add_input(&m, b.w);
	sl__node_builder_add_input(&m, a.q.scale);
	sl__node_builder_add_input(&m, b.scale);
	sl__node_builder_add_input(&m, sl__quantization_zero_point(rw, &a.q));
	sl__node_builder_add_input(&m, b.zero);
	cover_source(&m, &s, a.node);
	cover_source(&m, &s, b.node);
	user = sl__added_bias_find(rw, id, &bias);
	if (user != SL__NONE) {
		sl__node_builder_add_input(&m, bias);
		sl__node_builder_add_covered(&m, user);
	}
	sl__node_builder_add_output(
		&m, sl__rewrite_output(rw, user == SL__NONE ? id : user));
	sl__node_builder_finish(&m);
}

/* Nodes that are added, QuantizeLinear among them, come after all others, and
 * their turn too. */
void
sl__pass_quantized(struct sl__rewrite *rw)
{
	static const enum sl__op_id products[] = {SL__OP_ONNX_Gemm,
						  SL__OP_ONNX_MatMul};
	struct island s;

	for (uint32_t id = 0; !rw->rc && id < rw->n_nodes; id++) {
		if (sl__rewrite_node_is_op(rw, id,
					   SL__OP_ONNX_QuantizeLinear) &&
		    !cancel(rw, id) && find_island(&s, rw, id) && !convert(&s))
			move(&s);
	}
	sl__rewrite_each_node(rw, products, 2, 0, convert_to_reals);
}
