/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuse_layer_norm.c - normalization over the last dimensions, as one node.
 *
 * Read from its end: y = n gamma + beta, n = (x - mean x) / deviation, where
 * the deviation is sqrt(mean (x - mean x)^2 + epsilon).  Parts may be missing
 * and factors may stand in any order; without the means it is RMSNorm.  The
 * spelling of TensorFlow is x s + (beta - mean s) with s = gamma / deviation.
 */
#include "transform/matching.h"
#include "transform/optimize.h"
#include "transform/rewrite_values.h"
#include "transform/matched_nodes.h"

#include <math.h>

#include "base/banned.h"

struct norm {
	struct sl__matched_nodes matched;
	uint32_t x, gamma, beta; /* values; SL__NONE: not met yet */
	int is_centred;
	int first_axis;
	double epsilon;
};

/* Whether the axes of a reduction are the last ones, and the first of them. */
static int
read_axes(const struct sl__rewrite *rw, uint32_t node, int rank, int *first)
{
	const struct sl__node *n = &rw->nodes[node].node;
	uint32_t list = sl__rewrite_input(rw, node, 1);
	int64_t given[8];
	const int64_t *axes = given;
	int count = list == SL__NONE
			    ? (int)sl__attribute_ints(n, "axes", &axes)
			    : sl__constant_integers(rw, list, given, 8);

	*first = rank - count;
	if (count < 1 || count > rank || !sl__attribute_int(n, "keepdims", 1))
		return 0;
	for (int d = *first; d < rank; d++) {
		int is_there = 0;

		for (int i = 0; i < count; i++)
			is_there |= sl__axis_normalize(axes[i], rank) == d;
		if (!is_there)
			return 0;
	}
	return 1;
}

/* What a value is the mean of, over the norm's axes, which the first mean
 * that is met decides; SL__NONE. */
static uint32_t
mean_of(struct norm *n, uint32_t value)
{
	struct sl__matched_nodes *t = &n->matched;
	uint32_t node = sl__matched_producer(t, value, SL__OP_ONNX_ReduceMean);
	uint32_t x = sl__rewrite_input(t->rw, node, 0);
	int first;

	if (node == SL__NONE || !sl__is_nonempty_f32(t->rw, x) ||
	    !read_axes(t->rw, node, t->rw->types[x].rank, &first) ||
	    (n->first_axis >= 0 && n->first_axis != first))
		return SL__NONE;
	n->first_axis = first;
	return sl__matched_skip_identities(t, x);
}

/* What a value is that power of, by a Pow; SL__NONE. */
static uint32_t
base_of(struct norm *n, uint32_t value, double power)
{
	struct sl__matched_nodes *t = &n->matched;
	uint32_t node = sl__matched_producer(t, value, SL__OP_ONNX_Pow);
	double x;

	if (node == SL__NONE ||
	    !sl__scalar_constant_read(t->rw, sl__rewrite_input(t->rw, node, 1),
				      &x) ||
	    !sl__is_close(x, power))
		return SL__NONE;
	return sl__matched_input_value(t, node, 0);
}

/* What a value is the square of; SL__NONE. */
static uint32_t
root_of(struct norm *n, uint32_t value)
{
	struct sl__matched_nodes *t = &n->matched;
	uint32_t node = sl__matched_producer(t, value, SL__OP_ONNX_Mul);
	uint32_t a, b;

	if (node == SL__NONE)
		return base_of(n, value, 2);
	a = sl__matched_input_value(t, node, 0);
	b = sl__matched_input_value(t, node, 1);
	return a == b ? a : SL__NONE;
}

/* What a value is minus its mean; SL__NONE. */
static uint32_t
uncentred(struct norm *n, uint32_t value)
{
	struct sl__matched_nodes *t = &n->matched;
	uint32_t node = sl__matched_producer(t, value, SL__OP_ONNX_Sub);
	uint32_t x, mean;

	if (node == SL__NONE)
		return SL__NONE;
	x = sl__matched_input_value(t, node, 0);
	mean = sl__matched_input_value(t, node, 1);
	return mean_of(n, mean) == x ? x : SL__NONE;
}

/* mean of squares + epsilon: finds x. */
static int
match_variance(struct norm *n, uint32_t value)
{
	struct sl__matched_nodes *t = &n->matched;
	uint32_t node = sl__matched_producer(t, value, SL__OP_ONNX_Add);
	uint32_t centred;

	for (size_t i = 0; node != SL__NONE && i < 2; i++) {
		struct norm before = *n;

		if (sl__scalar_constant_read(
			    t->rw, sl__rewrite_input(t->rw, node, 1 - i),
			    &n->epsilon)) {
			centred = root_of(n, mean_of(n, sl__matched_input_value(
								t, node, i)));
			n->x = uncentred(n, centred);
			n->is_centred = n->x != SL__NONE;
			if (!n->is_centred)
				n->x = centred;
			if (n->x != SL__NONE)
				return 1;
		}
		*n = before;
	}
	return 0;
}

static int
match_deviation(struct norm *n, uint32_t value)
{
	struct sl__matched_nodes *t = &n->matched;
	uint32_t node = sl__matched_producer(t, value, SL__OP_ONNX_Sqrt);

	return node != SL__NONE &&
	       match_variance(n, sl__matched_input_value(t, node, 0));
}

/* 1 / deviation, in three spellings. */
static int
match_inverse(struct norm *n, uint32_t value)
{
	struct sl__matched_nodes *t = &n->matched;
	uint32_t node = sl__matched_producer(t, value, SL__OP_ONNX_Reciprocal);
	double x;

	if (node != SL__NONE)
		return match_deviation(n, sl__matched_input_value(t, node, 0));
	node = sl__matched_producer(t, value, SL__OP_ONNX_Div);
	if (node != SL__NONE)
		return sl__scalar_constant_read(
			       t->rw, sl__rewrite_input(t->rw, node, 0), &x) &&
		       sl__is_close(x, 1) &&
		       match_deviation(n, sl__matched_input_value(t, node, 1));
	return match_variance(n, base_of(n, value, -0.5));
}

/* Whether a constant has one number for each place that is normalized. */
static int
is_weight(const struct norm *n, uint32_t value)
{
	const struct sl__rewrite *rw = n->matched.rw;
	const struct sl__type *x = &rw->types[n->x];
	const struct sl__tensor *w = sl__tensor_constant_read(rw, value);
	uint64_t count = 1;

	if (!w || w->dtype != SL_DTYPE_F32 || w->rank > (size_t)x->rank)
		return 0;
	for (int d = n->first_axis; d < x->rank; d++)
		count *= (uint64_t)x->dims[d];
	for (size_t k = 0; k < w->rank; k++) {
		int d = x->rank - (int)w->rank + (int)k;

		if (w->dims[k] != (d < n->first_axis ? 1 : x->dims[d]))
			return 0;
	}
	return w->n_elements == count;
}

/* x, or x minus its mean. */
static int
is_numerator(struct norm *n, uint32_t value)
{
	value = sl__matched_skip_identities(&n->matched, value);
	return (n->is_centred ? uncentred(n, value) : value) == n->x;
}

/* Whether operand i of the node is 1 / deviation and the other one what is
 * divided. */
static int
match_factor(struct norm *n, uint32_t node, size_t i)
{
	struct norm before = *n;

	if (match_inverse(n, sl__matched_input_value(&n->matched, node, i)) &&
	    is_numerator(n, sl__rewrite_input(n->matched.rw, node, 1 - i)))
		return 1;
	*n = before;
	return 0;
}

static int
match_normal(struct norm *n, uint32_t value)
{
	struct sl__matched_nodes *t = &n->matched;
	struct norm before = *n;
	uint32_t node = sl__matched_producer(t, value, SL__OP_ONNX_Div);

	if (node != SL__NONE &&
	    match_deviation(n, sl__matched_input_value(t, node, 1)) &&
	    is_numerator(n, sl__rewrite_input(t->rw, node, 0)))
		return 1;
	*n = before;
	node = sl__matched_producer(t, value, SL__OP_ONNX_Mul);
	return node != SL__NONE &&
	       (match_factor(n, node, 0) || match_factor(n, node, 1));
}

/* gamma / deviation. */
static int
match_slope(struct norm *n, uint32_t value)
{
	struct sl__matched_nodes *t = &n->matched;
	uint32_t node = sl__matched_producer(t, value, SL__OP_ONNX_Mul);
	struct norm before = *n;

	for (size_t i = 0; node != SL__NONE && i < 2; i++) {
		if (match_inverse(n, sl__matched_input_value(t, node, i))) {
			n->gamma = sl__rewrite_input(t->rw, node, 1 - i);
			if (is_weight(n, n->gamma))
				return 1;
		}
		*n = before;
	}
	return 0;
}

/* n gamma, or x - mean x times gamma / deviation. */
static int
match_scaled(struct norm *n, uint32_t value)
{
	struct sl__matched_nodes *t = &n->matched;
	struct norm before = *n;
	uint32_t node;

	value = sl__matched_skip_identities(t, value);
	node = sl__matched_producer(t, value, SL__OP_ONNX_Mul);
	for (size_t i = 0; node != SL__NONE && i < 2; i++) {
		uint32_t other = sl__rewrite_input(t->rw, node, 1 - i);

		if (sl__tensor_constant_read(t->rw, other) &&
		    match_normal(n, sl__matched_input_value(t, node, i))) {
			n->gamma = other;
			if (is_weight(n, other))
				return 1;
		} else if (match_slope(n,
				       sl__matched_input_value(t, node, i)) &&
			   is_numerator(n, other)) {
			return 1;
		}
		*n = before;
		sl__matched_add(t, node);
	}
	*n = before;
	return match_normal(n, value);
}

/* beta - mean s, where s is known to be gamma / deviation. */
static int
match_rest(struct norm *n, uint32_t value, uint32_t slope)
{
	struct sl__matched_nodes *t = &n->matched;
	uint32_t node = sl__matched_producer(t, value, SL__OP_ONNX_Sub);
	uint32_t product;

	if (node == SL__NONE || !n->is_centred)
		return 0;
	n->beta = sl__rewrite_input(t->rw, node, 0);
	product = sl__matched_producer(t, sl__rewrite_input(t->rw, node, 1),
				       SL__OP_ONNX_Mul);
	return is_weight(n, n->beta) &&
	       mean_of(n, sl__other_operand(t->rw, product, slope)) == n->x;
}

/* x s + (beta - mean s); operand i of 'node' is the product. */
static int
match_other(struct norm *n, uint32_t node, size_t i)
{
	struct sl__matched_nodes *t = &n->matched;
	uint32_t product = sl__matched_producer(
		t, sl__matched_input_value(t, node, i), SL__OP_ONNX_Mul);
	struct norm before = *n;

	for (size_t k = 0; product != SL__NONE && k < 2; k++) {
		uint32_t slope = sl__rewrite_input(t->rw, product, k);

		if (match_slope(n, slope) &&
		    sl__matched_input_value(t, product, 1 - k) == n->x &&
		    match_rest(n, sl__matched_input_value(t, node, 1 - i),
			       slope))
			return 1;
		*n = before;
	}
	return 0;
}

/* Whether 'node' is the last of a norm: a sum with beta, or what ends without
 * one. */
static int
match(struct norm *n, uint32_t node)
{
	struct sl__matched_nodes *t = &n->matched;
	uint32_t y = sl__rewrite_output(t->rw, node);
	struct norm before = *n;

	if (!sl__rewrite_node_is_op(t->rw, node, SL__OP_ONNX_Add))
		return match_scaled(n, y);
	for (size_t i = 0; i < 2; i++) {
		sl__matched_add(t, node);
		if (sl__tensor_constant_read(
			    t->rw, sl__rewrite_input(t->rw, node, 1 - i)) &&
		    match_scaled(n, sl__matched_input_value(t, node, i))) {
			n->beta = sl__rewrite_input(t->rw, node, 1 - i);
			if (n->is_centred && is_weight(n, n->beta))
				return 1;
		}
		*n = before;
		sl__matched_add(t, node);
		if (match_other(n, node, i))
			return 1;
		*n = before;
	}
	return 0;
}

/* The weight with the sizes of what is normalized; ones where there is none. */
static uint32_t
make_weight(struct norm *n, uint32_t weight)
{
	struct sl__rewrite *rw = n->matched.rw;
	const struct sl__type *x = &rw->types[n->x];
	const struct sl__tensor *w = sl__tensor_constant_read(rw, weight);
	struct sl__tensor like = {.dtype = SL_DTYPE_F32,
				  .rank = (size_t)(x->rank - n->first_axis),
				  .dims = x->dims + n->first_axis};
	unsigned char *bytes;
	double one = 1;
	uint32_t out;

	if (w && w->rank == like.rank)
		return weight;
	out = sl__rewrite_add_constant(rw, &like, &bytes);
	if (!sl__tensor_compute_size(&like))
		return out;
	for (uint64_t i = 0; !rw->rc && i < like.n_elements; i++) {
		if (w && !sl__tensor_doubles(w, i, 1, &one))
			sl__rewrite_fail(rw, SL_E_DATA,
					 "a weight cannot be read");
		sl__store_doubles(bytes, SL_DTYPE_F32, i, 1, &one);
	}
	return out;
}

static void
make(struct norm *n, uint32_t node)
{
	struct sl__rewrite *rw = n->matched.rw;
	uint32_t gamma = make_weight(n, n->gamma), beta = n->beta;
	struct sl__node_builder m;

	if (beta != SL__NONE)
		beta = make_weight(n, beta);
	if (n->is_centred)
		sl__node_builder_begin(&m, rw, "", "LayerNormalization", 17);
	else
		sl__node_builder_begin(&m, rw, "", "RMSNormalization", 23);
	m.node.name = rw->nodes[node].node.name;
	sl__node_builder_set_int(&m, "axis",
				 n->first_axis - rw->types[n->x].rank);
	sl__node_builder_set_float(&m, "epsilon", (float)n->epsilon);
	sl__node_builder_add_input(&m, n->x);
	sl__node_builder_add_input(&m, gamma);
	if (beta != SL__NONE)
		sl__node_builder_add_input(&m, beta);
	sl__node_builder_add_output(&m, sl__rewrite_output(rw, node));
	sl__matched_add(&n->matched, node);
	sl__matched_cover_unused(&n->matched, &m);
	sl__node_builder_finish(&m);
}

static void
fuse(struct sl__rewrite *rw, uint32_t node)
{
	struct norm n = {.matched = {.rw = rw},
			 .x = SL__NONE,
			 .gamma = SL__NONE,
			 .beta = SL__NONE,
			 .first_axis = -1};

	if (sl__has_numpy_broadcasting(&rw->nodes[node].node) &&
	    match(&n, node) &&
	    sl__have_same_dtype_and_dims(rw, n.x,
					 sl__rewrite_output(rw, node)) &&
	    n.epsilon >= 0)
		make(&n, node);
}

/* From the last node to the first, so that what belongs to a norm is not
 * taken for a smaller one. */
void
sl__pass_fuse_layer_norm(struct sl__rewrite *rw)
{
	static const enum sl__op_id ops[] = {SL__OP_ONNX_Add, SL__OP_ONNX_Mul,
					     SL__OP_ONNX_Div};

	sl__rewrite_each_node(rw, ops, 3, 1, fuse);
}
