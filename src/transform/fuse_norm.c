/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuse_norm.c - what scales and shifts channels goes into the weights.
 *
 * A convolution or product with constant weights, followed by a normalization
 * with constant statistics or by arithmetic with one number per channel, is
 * the same with other weights.  They are computed in double.
 */
#include "transform/matching.h"
#include "transform/optimize.h"
#include "transform/rewrite_values.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/banned.h"

/* One number per channel each: the result is scale x + shift. */
struct affine {
	size_t n;
	double *scale, *shift;
};

/* Where in a weight the output channels are: element i belongs to channel
 * i / taps % results + i / (taps * results) / inputs * results. */
struct layout {
	uint64_t taps, results, inputs;
};

static int
begin_affine(struct affine *a, struct sl__rewrite *rw, size_t n)
{
	a->n = n;
	a->scale = sl__rewrite_alloc(rw, n, sizeof(double));
	a->shift = sl__rewrite_alloc(rw, n, sizeof(double));
	for (size_t i = 0; !rw->rc && i < n; i++)
		a->scale[i] = 1;
	return !rw->rc;
}

static int
is_inference(const struct sl__rewrite *rw, const struct sl__node *node)
{
	if (node->version < 14
		    ? node->n_outputs > 1
		    : sl__attribute_int(node, "training_mode", 0) != 0)
		return 0;
	if (node->version < 9 && !sl__attribute_int(node, "spatial", 1))
		return 0;
	for (uint32_t k = 1; k < node->n_outputs; k++) {
		uint32_t value = node->outputs[k];

		if (value != SL__NONE &&
		    (rw->is_pinned[value] || rw->uses[value].n))
			return 0;
	}
	return 1;
}

/* Element i of the constant inputs 1 to 4; 0 where one is none. */
static int
read_statistics(const struct sl__rewrite *rw, uint32_t node, size_t n, size_t i,
		double *at)
{
	for (size_t k = 1; k <= 4; k++) {
		const struct sl__tensor *t = sl__tensor_constant_read(
			rw, sl__rewrite_input(rw, node, k));

		if (!t || t->n_elements != n ||
		    !sl__tensor_doubles(t, i, 1, &at[k]))
			return 0;
	}
	return 1;
}

static int
read_norm(struct affine *a, const struct sl__rewrite *rw, uint32_t id)
{
	const struct sl__node *node = &rw->nodes[id].node;
	double epsilon = sl__attribute_float(node, "epsilon", 1e-5), at[5];

	if (!is_inference(rw, node))
		return 0;
	for (size_t i = 0; i < a->n; i++) {
		if (!read_statistics(rw, id, a->n, i, at))
			return 0;
		a->scale[i] = at[1] / sqrt(at[4] + epsilon);
		a->shift[i] = at[2] - at[3] * a->scale[i];
	}
	return 1;
}

/* Whether a constant has one number, or one per channel (dimension 1) of a
 * result of that rank. */
static int
goes_by_channel(const struct sl__tensor *t, int rank, size_t n_channels)
{
	if (t->rank > (size_t)rank)
		return 0;
	for (size_t d = 0; d < t->rank; d++) {
		size_t at = (size_t)rank - t->rank + d;

		if (t->dims[d] != 1 &&
		    (at != 1 || t->dims[d] != (int64_t)n_channels))
			return 0;
	}
	return 1;
}

static int
read_arithmetic(struct affine *a, const struct sl__rewrite *rw, uint32_t id,
		uint32_t x)
{
	const struct sl__tensor *t =
		sl__tensor_constant_read(rw, sl__other_operand(rw, id, x));
	int is_left = sl__rewrite_input(rw, id, 0) == x;
	double c;

	if (!t || !sl__has_numpy_broadcasting(&rw->nodes[id].node) ||
	    !goes_by_channel(t, rw->types[x].rank, a->n))
		return 0;
	for (size_t i = 0; i < a->n; i++) {
		if (!sl__tensor_doubles(t, t->n_elements == 1 ? 0 : i, 1, &c))
			return 0;
		if (sl__rewrite_node_is_op(rw, id, SL__OP_ONNX_Mul)) {
			a->scale[i] = c;
		} else if (sl__rewrite_node_is_op(rw, id, SL__OP_ONNX_Add)) {
			a->shift[i] = c;
		} else if (sl__rewrite_node_is_op(rw, id, SL__OP_ONNX_Sub)) {
			a->scale[i] = is_left ? 1 : -1;
			a->shift[i] = is_left ? -c : c;
		} else if (sl__rewrite_node_is_op(rw, id, SL__OP_ONNX_Div) &&
			   is_left) {
			a->scale[i] = 1 / c;
		} else {
			return 0;
		}
	}
	return 1;
}

/* What node 'id' does to the channels of x, if it is that and nothing more. */
static int
read_affine(struct affine *a, const struct sl__rewrite *rw, uint32_t id,
	    uint32_t x)
{
	const struct sl__node *node = &rw->nodes[id].node;
	int is_norm =
		sl__rewrite_node_is_op(rw, id, SL__OP_ONNX_BatchNormalization);

	if (!sl__have_same_dtype_and_dims(rw, x, node->outputs[0]))
		return 0;
	if (is_norm ? node->inputs[0] != x || !read_norm(a, rw, id)
		    : !read_arithmetic(a, rw, id, x))
		return 0;
	for (size_t i = 0; i < a->n; i++) {
		if (!(fabs(a->scale[i]) <= (double)FLT_MAX) ||
		    !(fabs(a->shift[i]) <= (double)FLT_MAX))
			return 0;
	}
	return 1;
}

static int
is_matmul(const struct sl__rewrite *rw, uint32_t id)
{
	return sl__rewrite_node_is_op(rw, id, SL__OP_ONNX_Gemm) ||
	       sl__rewrite_node_is_op(rw, id, SL__OP_ONNX_MatMul);
}

/* How the channels of a node's result lie in its weight; 0 where that cannot
 * be changed. */
static int
read_layout(struct layout *l, const struct sl__rewrite *rw, uint32_t id)
{
	const struct sl__node *node = &rw->nodes[id].node;
	const struct sl__type *y = &rw->types[node->outputs[0]], *w;
	const struct sl__tensor *t =
		sl__tensor_constant_read(rw, node->inputs[1]);
	uint64_t groups = (uint64_t)sl__attribute_int(node, "group", 1);

	w = &rw->types[node->inputs[1]];
	if (!t || !t->n_elements || !sl__is_nonempty_f32(rw, node->inputs[1]) ||
	    !sl__is_nonempty_f32(rw, node->outputs[0]) || y->rank < 2 ||
	    w->rank < 2)
		return 0;
	*l = (struct layout){1, (uint64_t)y->dims[1], 1};
	if (is_matmul(rw, id)) {
		if (y->rank != 2 || w->rank != 2 ||
		    rw->types[node->inputs[0]].rank != 2)
			return 0;
		if (sl__attribute_int(node, "transB", 0))
			l->taps = (uint64_t)w->dims[1];
		else
			l->inputs = (uint64_t)w->dims[0];
	} else if (sl__rewrite_node_is_op(rw, id, SL__OP_ONNX_Conv)) {
		l->taps = t->n_elements / l->results;
	} else {
		if (groups < 1 || (uint64_t)w->dims[0] % groups)
			return 0;
		l->results = (uint64_t)w->dims[1];
		l->inputs = (uint64_t)w->dims[0] / groups;
		l->taps = t->n_elements / (l->results * (uint64_t)w->dims[0]);
	}
	return 1;
}

/* The weight is not made here: it is when it is packed, and then goes. */
static uint32_t
scale_weight(struct sl__rewrite *rw, uint32_t weight, const struct layout *l,
	     const struct affine *a)
{
	const struct sl__tensor *t = sl__tensor_constant_read(rw, weight);
	struct sl__tensor_generator *g = sl__rewrite_alloc(rw, 1, sizeof(*g));
	struct sl__tensor made = *t;
	uint32_t out = sl__rewrite_add_value(rw, "", &rw->types[weight]);

	if (rw->rc)
		return out;
	g->kind = SL__TENSOR_GENERATOR_SCALED;
	g->of = t;
	g->factors = a->scale;
	g->taps = l->taps;
	g->results = l->results;
	g->inputs = l->inputs;
	made.bytes = NULL;
	made.is_mapped = 0;
	made.generator = g;
	sl__rewrite_value_to_constant(rw, out, &made);
	return out;
}

/* Adds the old bias to the shift; 0 where there is one that is no constant
 * of one number per channel. */
static int
shift_bias(struct affine *a, const struct sl__rewrite *rw, uint32_t id)
{
	const struct sl__node *node = &rw->nodes[id].node;
	uint32_t bias = sl__rewrite_input(rw, id, 2);
	const struct sl__tensor *t = sl__tensor_constant_read(rw, bias);
	double beta = is_matmul(rw, id) ? sl__attribute_float(node, "beta", 1)
					: 1,
	       b;

	if (bias == SL__NONE)
		return 1;
	if (!t || (is_matmul(rw, id) ? !goes_by_channel(t, 2, a->n)
				     : t->n_elements != a->n))
		return 0;
	for (size_t i = 0; i < a->n; i++) {
		if (!sl__tensor_doubles(t, t->n_elements == 1 ? 0 : i, 1, &b))
			return 0;
		a->shift[i] += beta * b * a->scale[i];
	}
	return 1;
}

/* 'id', its weight and bias changed, does what 'user' did too; returns the new
 * node. */
static uint32_t
merge(struct sl__rewrite *rw, uint32_t id, uint32_t user,
      const struct layout *l, const struct affine *a)
{
	int64_t n = (int64_t)a->n;
	uint32_t weight = scale_weight(rw, rw->nodes[id].node.inputs[1], l, a);
	uint32_t bias = sl__rewrite_add_f32_constant(rw, 1, &n, a->shift);
	struct sl__node_builder m;

	if (sl__rewrite_node_is_op(rw, id, SL__OP_ONNX_MatMul)) {
		sl__node_builder_begin(&m, rw, "", "Gemm", 13);
		sl__node_builder_copy_attributes(&m, id);
	} else {
		sl__node_builder_begin_like(&m, rw, id);
	}
	if (is_matmul(rw, id))
		sl__node_builder_set_float(&m, "beta", 1);
	sl__node_builder_add_input(&m, rw->nodes[id].node.inputs[0]);
	sl__node_builder_add_input(&m, weight);
	sl__node_builder_add_input(&m, bias);
	sl__node_builder_add_output(&m, sl__rewrite_output(rw, user));
	sl__node_builder_add_covered(&m, id);
	sl__node_builder_add_covered(&m, user);
	return sl__node_builder_finish(&m);
}

/* Takes the nodes after 'id' in as long as they only scale and shift. */
static void
absorb(struct sl__rewrite *rw, uint32_t id)
{
	struct layout l;
	struct affine a;

	while (!rw->rc && read_layout(&l, rw, id)) {
		uint32_t x = sl__rewrite_output(rw, id);
		uint32_t user = sl__rewrite_only_user(rw, x);

		if (user == SL__NONE ||
		    !begin_affine(&a, rw, (size_t)rw->types[x].dims[1]) ||
		    !read_affine(&a, rw, user, x) || !shift_bias(&a, rw, id))
			return;
		id = merge(rw, id, user, &l, &a);
	}
}

void
sl__pass_fuse_norm(struct sl__rewrite *rw)
{
	static const enum sl__op_id ops[] = {
		SL__OP_ONNX_Conv, SL__OP_ONNX_ConvTranspose, SL__OP_ONNX_Gemm,
		SL__OP_ONNX_MatMul};

	sl__rewrite_each_node(rw, ops, 4, 0, absorb);
}
