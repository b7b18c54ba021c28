/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuse_matmul.c - matrix products and what is done to their results.
 *
 * MatMul, FusedMatMul and Gemm of f32 become a MatMul of the domain "sleuth": inputs A, B,
 * a bias of one number per column or none, and second operands; attributes
 * transA, transB, alpha and those of post_op.h.  Transposed operands and
 * factors go into the attributes.  The last products go first: of two whose
 * sum is taken, the later one takes it, when the other is there.
 */
#include "transform/fuse_post_op.h"
#include "transform/matching.h"
#include "transform/optimize.h"
#include "transform/rewrite_values.h"

#include "base/banned.h"

struct product {
	uint32_t id;
	uint32_t operands[2];
	int is_transposed[2];
	double alpha;
	uint32_t bias; /* SL__NONE: none */
	struct sl__post_op_chain chain;
};

/* Sees through what the product can do itself.  A transposition may have
 * other users, for whom it stays; a factor may not. */
static void
see_through(struct product *p, const struct sl__rewrite *rw, int i)
{
	uint32_t value = p->operands[i];
	uint32_t maker = sl__rewrite_producer(rw, value), other;
	double x;

	if (!sl__post_op_chain_has_room(&p->chain))
		return;
	if (sl__is_last_two_dims_transpose(rw, maker)) {
		p->operands[i] = sl__rewrite_input(rw, maker, 0);
		p->is_transposed[i] ^= 1;
		if (sl__rewrite_only_user(rw, value) == p->id)
			p->chain.covers[p->chain.n_covers++] = maker;
		return;
	}
	if (!sl__rewrite_node_is_op(rw, maker, SL__OP_ONNX_Mul) ||
	    sl__rewrite_only_user(rw, value) != p->id)
		return;
	for (size_t k = 0; k < 2; k++) {
		other = sl__rewrite_input(rw, maker, 1 - k);
		if (!sl__scalar_constant_read(rw, other, &x) ||
		    !sl__fits_f32(p->alpha * x) ||
		    !sl__have_same_dtype_and_dims(
			    rw, sl__rewrite_input(rw, maker, k), value))
			continue;
		p->operands[i] = sl__rewrite_input(rw, maker, k);
		p->alpha *= x;
		p->chain.covers[p->chain.n_covers++] = maker;
		return;
	}
}

/* Whether a value has one number per column: a constant, or, where 'beta' is 1,
 * a row that a training step changes. */
static int
is_row(const struct sl__rewrite *rw, uint32_t value, int64_t n_columns,
       double beta)
{
	const struct sl__tensor *t = sl__tensor_constant_read(rw, value);

	if (!t)
		return beta >= 1 && beta <= 1 &&
		       sl__has_sizes(rw, value, 1, &n_columns) &&
		       sl__is_nonempty_f32(rw, value);
	return t->dtype == SL_DTYPE_F32 && t->rank >= 1 &&
	       t->dims[t->rank - 1] == n_columns &&
	       t->n_elements == (uint64_t)n_columns;
}

/* The row as a value of one dimension, times beta. */
static uint32_t
make_bias(struct sl__rewrite *rw, uint32_t row, double beta)
{
	const struct sl__tensor *t = sl__tensor_constant_read(rw, row);
	int64_t dim = t ? (int64_t)t->n_elements : 0;
	struct sl__tensor like = {
		.dtype = SL_DTYPE_F32, .rank = 1, .dims = &dim};
	unsigned char *bytes;
	double x;
	uint32_t out;

	if (!t || (t->rank == 1 && beta >= 1 && beta <= 1))
		return row;
	out = sl__rewrite_add_constant(rw, &like, &bytes);
	for (uint64_t i = 0; !rw->rc && i < t->n_elements; i++) {
		if (!sl__tensor_doubles(t, i, 1, &x))
			sl__rewrite_fail(rw, SL_E_DATA,
					 "a bias cannot be read");
		x *= beta;
		sl__store_doubles(bytes, t->dtype, i, 1, &x);
	}
	return out;
}

/* Gemm's third input; 0 where it is none of what can be done. */
static int
take_third(struct product *p, struct sl__rewrite *rw)
{
	const struct sl__node *node = &rw->nodes[p->id].node;
	uint32_t y = node->outputs[0], c = sl__rewrite_input(rw, p->id, 2);
	double beta = sl__attribute_float(node, "beta", 1);

	if (c == SL__NONE ||
	    !sl__rewrite_node_is_op(rw, p->id, SL__OP_ONNX_Gemm))
		return 1;
	if (is_row(rw, c, rw->types[y].dims[1], beta)) {
		p->bias = make_bias(rw, c, beta);
		return 1;
	}
	if (!sl__have_same_dtype_and_dims(rw, c, y) || beta < 1 || beta > 1)
		return 0;
	p->chain.post_ops[p->chain.n++].kind = SL__POST_OP_ADD;
	p->chain.operands[p->chain.n_operands++] = c;
	return 1;
}

/* A transposed result is the product of the transposed operands in the other
 * order: so the gradient of a weight that a model transposes.  Matrices, not
 * stacks, whose operands may be broadcast. */
static int
follow_transpose(struct product *p, const struct sl__rewrite *rw)
{
	struct sl__post_op_chain *c = &p->chain;
	uint32_t user = sl__rewrite_only_user(rw, c->value);
	uint32_t left = p->operands[0];
	int is_transposed = p->is_transposed[0];

	if (p->bias != SL__NONE || c->n || !sl__post_op_chain_has_room(c) ||
	    rw->types[c->value].rank != 2 ||
	    !sl__is_last_two_dims_transpose(rw, user))
		return 0;
	p->operands[0] = p->operands[1];
	p->is_transposed[0] = !p->is_transposed[1];
	p->operands[1] = left;
	p->is_transposed[1] = !is_transposed;
	c->covers[c->n_covers++] = user;
	c->value = sl__rewrite_output(rw, user);
	return 1;
}

/* Whether the only user of the result multiplies it by a number. */
static int
follow_factor(struct product *p, const struct sl__rewrite *rw)
{
	struct sl__post_op_chain *c = &p->chain;
	uint32_t user = sl__rewrite_only_user(rw, c->value);
	int is_mul = sl__rewrite_node_is_op(rw, user, SL__OP_ONNX_Mul);
	double x;

	if ((!is_mul && !sl__rewrite_node_is_op(rw, user, SL__OP_ONNX_Div)) ||
	    (!is_mul && sl__rewrite_input(rw, user, 0) != c->value) ||
	    !sl__scalar_constant_read(rw, sl__other_operand(rw, user, c->value),
				      &x) ||
	    !sl__have_same_dtype_and_dims(rw, c->value,
					  sl__rewrite_output(rw, user)))
		return 0;
	x = is_mul ? x : 1 / x;
	if (!sl__fits_f32(p->alpha * x) || p->bias != SL__NONE || c->n ||
	    !sl__post_op_chain_has_room(c))
		return 0;
	p->alpha *= x;
	c->covers[c->n_covers++] = user;
	c->value = sl__rewrite_output(rw, user);
	return 1;
}

static void
follow_bias(struct product *p, struct sl__rewrite *rw)
{
	struct sl__post_op_chain *c = &p->chain;
	const struct sl__type *type = &rw->types[c->value];
	uint32_t user = sl__rewrite_only_user(rw, c->value), row;

	if (p->bias != SL__NONE || c->n || !sl__post_op_chain_has_room(c) ||
	    !sl__rewrite_node_is_op(rw, user, SL__OP_ONNX_Add) ||
	    !sl__has_numpy_broadcasting(&rw->nodes[user].node))
		return;
	row = sl__other_operand(rw, user, c->value);
	if (row == SL__NONE ||
	    !is_row(rw, row, type->dims[type->rank - 1], 1) ||
	    !sl__have_same_dtype_and_dims(rw, c->value,
					  sl__rewrite_output(rw, user)))
		return;
	c->covers[c->n_covers++] = user;
	c->value = sl__rewrite_output(rw, user);
	p->bias = make_bias(rw, row, 1);
}

/*
 * Exporters lay out a stack of rows as one matrix, multiply, and restore the
 * stack.  The product takes the stack as it is: what comes after the second
 * Reshape is then within reach.  Returns whether the result was restored.
 */
static int
restore(struct product *p, const struct sl__rewrite *rw)
{
	struct sl__post_op_chain *c = &p->chain;
	uint32_t first = sl__rewrite_producer(rw, p->operands[0]);
	uint32_t last = sl__rewrite_only_user(rw, c->value), x, z;
	const struct sl__type *a, *b, *y;

	if (c->n_operands || p->is_transposed[0] ||
	    !sl__post_op_chain_has_room(c) || !sl__is_reshape(rw, first) ||
	    !sl__is_reshape(rw, last) || rw->types[p->operands[0]].rank != 2 ||
	    rw->types[p->operands[1]].rank != 2)
		return 0;
	x = sl__rewrite_input(rw, first, 0);
	z = sl__rewrite_output(rw, last);
	if (!sl__is_nonempty_f32(rw, x) || !sl__is_nonempty_f32(rw, z))
		return 0;
	a = &rw->types[x];
	b = &rw->types[z];
	y = &rw->types[c->value];
	if (a->rank < 2 || a->rank != b->rank ||
	    a->dims[a->rank - 1] != rw->types[p->operands[0]].dims[1] ||
	    b->dims[b->rank - 1] != y->dims[1])
		return 0;
	for (int d = 0; d + 1 < a->rank; d++) {
		if (a->dims[d] != b->dims[d])
			return 0;
	}
	if (sl__rewrite_only_user(rw, p->operands[0]) == p->id)
		c->covers[c->n_covers++] = first;
	c->covers[c->n_covers++] = last;
	p->operands[0] = x;
	c->value = z;
	return 1;
}

static int
is_fusable(const struct sl__rewrite *rw, uint32_t id)
{
	const struct sl__node *node = &rw->nodes[id].node;

	for (size_t i = 0; i < 2; i++) {
		if (!sl__is_nonempty_f32(rw, node->inputs[i]) ||
		    rw->types[node->inputs[i]].rank < 2)
			return 0;
	}
	return sl__is_nonempty_f32(rw, node->outputs[0]) &&
	       !sl__attribute_int(node, "transBatchA", 0) &&
	       !sl__attribute_int(node, "transBatchB", 0);
}

static void
make(struct product *p, struct sl__rewrite *rw)
{
	struct sl__node_builder m;

	sl__node_builder_begin(&m, rw, "sleuth", "MatMul", 1);
	m.node.name = rw->nodes[p->id].node.name;
	sl__node_builder_set_int(&m, "transA", p->is_transposed[0]);
	sl__node_builder_set_int(&m, "transB", p->is_transposed[1]);
	sl__node_builder_set_float(&m, "alpha", (float)p->alpha);
	sl__node_builder_add_inputs(&m, p->operands, 2);
	sl__node_builder_add_input(&m, p->bias);
	sl__node_builder_add_covered(&m, p->id);
	sl__post_op_chain_attach(&p->chain, &m);
	sl__node_builder_finish(&m);
}

static void
fuse(struct sl__rewrite *rw, uint32_t id)
{
	const struct sl__node *node = &rw->nodes[id].node;
	struct product p = {.id = id,
			    .operands = {node->inputs[0], node->inputs[1]},
			    .alpha = sl__attribute_float(node, "alpha", 1),
			    .bias = SL__NONE};

	if (!is_fusable(rw, id))
		return;
	p.is_transposed[0] = sl__attribute_int(node, "transA", 0) != 0;
	p.is_transposed[1] = sl__attribute_int(node, "transB", 0) != 0;
	sl__post_op_chain_begin(&p.chain, rw, node->outputs[0]);
	if (!take_third(&p, rw))
		return;
	see_through(&p, rw, 0);
	see_through(&p, rw, 1);
	do {
		while (follow_factor(&p, rw) || follow_transpose(&p, rw))
			;
		follow_bias(&p, rw);
		sl__post_op_chain_extend(&p.chain);
	} while (restore(&p, rw));
	make(&p, rw);
}

void
sl__pass_fuse_matmul(struct sl__rewrite *rw)
{
	static const enum sl__op_id ops[] = {
		SL__OP_ONNX_MatMul, SL__OP_ONNX_Gemm, SL__OP_MS_FusedMatMul};

	sl__rewrite_each_node(rw, ops, 3, 1, fuse);
}
