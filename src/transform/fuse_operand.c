/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuse_operand.c - where the queries, keys and values of attention are from.
 *
 * Between a projection and the product, exporters put Reshape and Transpose
 * in many orders.  They are not compared one by one: the strides of the last
 * value in the first one say whether that holds [batch][rows][heads][width]
 * or [batch][heads][rows][width].
 */
#include "transform/fuse_attention.h"
#include "transform/matching.h"

#include <math.h>

#include "base/banned.h"

/* The factor of a product or quotient with one number; *x is the other
 * operand. */
static int
read_factor(const struct sl__rewrite *rw, uint32_t node, uint32_t *x,
	    double *factor)
{
	int is_mul = sl__rewrite_node_is_op(rw, node, SL__OP_ONNX_Mul);

	if (!is_mul && !sl__rewrite_node_is_op(rw, node, SL__OP_ONNX_Div))
		return 0;
	for (size_t i = 0; i < (is_mul ? 2u : 1u); i++) {
		*x = sl__rewrite_input(rw, node, i);
		if (!sl__scalar_constant_read(
			    rw, sl__rewrite_input(rw, node, 1 - i), factor) ||
		    !sl__have_same_dtype_and_dims(rw, *x,
						  sl__rewrite_output(rw, node)))
			continue;
		*factor = is_mul ? *factor : 1 / *factor;
		return isfinite(*factor);
	}
	return 0;
}

static void
walk_back(struct sl__operand_chain *c, const struct sl__rewrite *rw,
	  uint32_t value, int has_factors)
{
	c->n = 0;
	c->values[0] = value;
	while (c->n < SL__CHAIN_MOST) {
		uint32_t node = sl__rewrite_producer(rw, value), next;
		double factor = 1;

		if (sl__is_view_node(rw, node))
			next = sl__rewrite_input(rw, node, 0);
		else if (!has_factors || !read_factor(rw, node, &next, &factor))
			break;
		if (!sl__is_nonempty_f32(rw, next))
			break;
		c->nodes[c->n] = node;
		c->factors[c->n++] = factor;
		c->values[c->n] = value = next;
	}
}

/* values[at] as a view of values[from]. */
static int
see(const struct sl__operand_chain *c, const struct sl__rewrite *rw, int from,
    int at, struct sl__strided_view *view)
{
	if (!sl__view_row_major(view, rw, c->values[from]))
		return 0;
	for (int i = from; i-- > at;) {
		if (sl__is_view_node(rw, c->nodes[i]) &&
		    !sl__view_through_node(view, rw, c->nodes[i]))
			return 0;
	}
	return 1;
}

/*
 * The operand, in its four dimensions, as a view of values[from].  Where the
 * whole way has no strides, because a Reshape puts apart what lay together,
 * that Reshape is left out when it changes no order: the sizes say the rest.
 */
static int
see_heads(const struct sl__operand_chain *c, const struct sl__rewrite *rw,
	  const struct sl__attention_operand *o, const int64_t dims[4],
	  int from, struct sl__strided_view *view)
{
	struct sl__strided_view order;
	int64_t turned[4] = {dims[0], dims[1], dims[3], dims[2]};

	for (int at = 0; at <= from; at++) {
		if (!see(c, rw, at, 0, &order) ||
		    !sl__view_is_row_major(&order))
			return 0;
		if (!see(c, rw, from, at, view))
			continue;
		if (!sl__view_reshape(view, 4, o->is_turned ? turned : dims))
			continue;
		if (o->is_turned)
			sl__view_swap_dims(view, 2, 3);
		return 1;
	}
	return 0;
}

static void
strides_flat(int64_t *s, const int64_t d[4])
{
	s[0] = d[2] * d[1] * d[3];
	s[1] = d[3];
	s[2] = d[1] * d[3];
	s[3] = 1;
}

static void
strides_plain(int64_t *s, const int64_t d[4])
{
	s[0] = d[1] * d[2] * d[3];
	s[1] = d[2] * d[3];
	s[2] = d[3];
	s[3] = 1;
}

static void
strides_turned(int64_t *s, const int64_t d[4])
{
	strides_plain(s, d);
	s[2] = 1;
	s[3] = d[2];
}

static void
follow(struct sl__attention_operand *o, const struct sl__operand_chain *c,
       int n)
{
	for (int i = 0; i < n; i++) {
		sl__matched_add(&o->matched, c->nodes[i]);
		o->flat_factor *= c->factors[i];
		o->plain_factor *= c->factors[i];
	}
}

/* Whether the chain begins with an Expand that repeats each head for several
 * of the queries; goes on before it. */
static int
skip_repeat(struct sl__attention_operand *o, const struct sl__rewrite *rw,
	    const struct sl__operand_chain *c, const int64_t dims[4])
{
	uint32_t last = c->values[c->n];
	uint32_t node = sl__rewrite_producer(rw, last);
	uint32_t from = sl__rewrite_input(rw, node, 0);
	const struct sl__type *x, *y = &rw->types[last];
	struct sl__strided_view view;
	int64_t strides[4];

	if (!sl__rewrite_node_is_op(rw, node, SL__OP_ONNX_Expand) ||
	    !sl__is_nonempty_f32(rw, from) || y->rank != 5)
		return 0;
	x = &rw->types[from];
	strides_plain(strides, dims);
	if (x->rank != 5 || x->dims[2] != 1 || x->dims[0] != y->dims[0] ||
	    x->dims[1] != y->dims[1] || x->dims[3] != y->dims[3] ||
	    x->dims[4] != y->dims[4] || x->dims[0] != dims[0] ||
	    x->dims[3] != dims[2] || !see_heads(c, rw, o, dims, c->n, &view) ||
	    !sl__view_has_strides(&view, strides))
		return 0;
	follow(o, c, c->n);
	sl__matched_add(&o->matched, node);
	o->value = from;
	o->is_turned = 0;
	o->heads = x->dims[1];
	return 1;
}

/* Who else needs all rows: a value that holds them in the usual order. */
static uint32_t
find_present(struct sl__attention_operand *o, const struct sl__rewrite *rw,
	     uint32_t all, int is_turned)
{
	const struct sl__value_uses *uses = &rw->uses[all];

	if (!is_turned)
		return rw->is_pinned[all] || uses->n > 1 ? all : SL__NONE;
	for (uint32_t u = 0; u < uses->n; u++) {
		const struct sl__node *node = &rw->nodes[uses->nodes[u]].node;
		const int64_t *perm;

		if (sl__rewrite_node_is_op(rw, uses->nodes[u],
					   SL__OP_ONNX_Transpose) &&
		    node->block == rw->to->values[all].block &&
		    sl__attribute_ints(node, "perm", &perm) == 4 &&
		    perm[0] == 0 && perm[1] == 1 && perm[2] == 3) {
			sl__matched_add(&o->matched, uses->nodes[u]);
			return node->outputs[0];
		}
	}
	return SL__NONE;
}

/* Whether the chain begins with a Concat of earlier rows and new ones; goes
 * on with the new ones. */
static int
skip_past(struct sl__attention_operand *o, const struct sl__rewrite *rw,
	  const struct sl__operand_chain *c, const int64_t dims[4])
{
	uint32_t last = c->values[c->n];
	uint32_t node = sl__rewrite_producer(rw, last);
	const struct sl__node *n = sl__rewrite_node(rw, node);
	struct sl__strided_view view;
	int64_t strides[4];
	int axis, is_turned;

	if (!sl__rewrite_node_is_op(rw, node, SL__OP_ONNX_Concat) ||
	    n->n_inputs != 2 || rw->types[last].rank != 4 ||
	    !sl__is_nonempty_f32(rw, n->inputs[0]) ||
	    !sl__is_nonempty_f32(rw, n->inputs[1]) ||
	    !see_heads(c, rw, o, dims, c->n, &view))
		return 0;
	axis = sl__axis_normalize(sl__attribute_int(n, "axis", 0), 4);
	is_turned = axis == 3;
	if (is_turned)
		strides_turned(strides, dims);
	else
		strides_plain(strides, dims);
	if (axis < 2 || !sl__view_has_strides(&view, strides) ||
	    rw->types[last].dims[0] != dims[0] ||
	    rw->types[last].dims[1] != dims[1] ||
	    rw->types[last].dims[axis] != dims[2])
		return 0;
	follow(o, c, c->n);
	sl__matched_add(&o->matched, node);
	o->present = find_present(o, rw, last, is_turned);
	o->past = n->inputs[0];
	o->is_past_turned = is_turned;
	o->past_rows = rw->types[n->inputs[0]].dims[axis];
	o->rows = dims[2] - o->past_rows;
	o->value = n->inputs[1];
	o->is_turned = is_turned;
	/* What there was before would not have a factor of the new rows. */
	o->has_factors = 0;
	return 1;
}

/* The first value, from the end of the chain on, in which the operand has
 * these strides; -1. */
static int
find_source(const struct sl__attention_operand *o, const struct sl__rewrite *rw,
	    const struct sl__operand_chain *c, const int64_t dims[4],
	    const int64_t strides[4])
{
	struct sl__strided_view view;

	for (int from = c->n; from >= 0; from--) {
		if (see_heads(c, rw, o, dims, from, &view) &&
		    sl__view_has_strides(&view, strides))
			return from;
	}
	return -1;
}

static double
factor_to(const struct sl__operand_chain *c, int n)
{
	double factor = 1;

	for (int i = 0; i < n; i++)
		factor *= c->factors[i];
	return factor;
}

/* Whether y has the sizes of x, the last two exchanged. */
static int
are_exchanged(const struct sl__type *x, const struct sl__type *y)
{
	int n = x->rank;

	if (y->rank != n || n < 2)
		return 0;
	for (int d = 0; d + 2 < n; d++) {
		if (x->dims[d] != y->dims[d])
			return 0;
	}
	return x->dims[n - 1] == y->dims[n - 2] &&
	       x->dims[n - 2] == y->dims[n - 1];
}

/*
 * What 'value' is with its last two dimensions exchanged, by one node or with
 * the others joined for the time being; SL__NONE.  Nodes join the matched
 * nodes.
 */
static uint32_t
before_exchange(struct sl__matched_nodes *t, uint32_t value)
{
	const struct sl__rewrite *rw = t->rw;
	uint32_t node = sl__rewrite_producer(rw, value), from, last = node;

	if (sl__is_last_two_dims_transpose(rw, node)) {
		sl__matched_add(t, node);
		return sl__rewrite_input(rw, node, 0);
	}
	if (!sl__rewrite_node_is_op(rw, node, SL__OP_ONNX_Reshape))
		return SL__NONE;
	node = sl__rewrite_producer(rw, sl__rewrite_input(rw, node, 0));
	from = sl__rewrite_producer(rw, sl__rewrite_input(rw, node, 0));
	if (!sl__is_last_two_dims_transpose(rw, node) ||
	    !sl__rewrite_node_is_op(rw, from, SL__OP_ONNX_Reshape))
		return SL__NONE;
	value = sl__rewrite_input(rw, from, 0);
	if (!sl__is_nonempty_f32(rw, value) ||
	    !are_exchanged(&rw->types[value],
			   &rw->types[sl__rewrite_output(rw, last)]))
		return SL__NONE;
	sl__matched_add(t, last);
	sl__matched_add(t, node);
	sl__matched_add(t, from);
	return value;
}

/* Takes an exchange of the last two dimensions as what it is. */
static void
turn_back(struct sl__attention_operand *o, const struct sl__rewrite *rw)
{
	struct sl__matched_nodes before = o->matched;
	uint32_t value = o->value, next;
	double product = 1, factor;

	while (o->has_factors &&
	       read_factor(rw, sl__rewrite_producer(rw, value), &next,
			   &factor)) {
		sl__matched_add(&o->matched, sl__rewrite_producer(rw, value));
		product *= factor;
		value = next;
	}
	value = before_exchange(&o->matched, value);
	if (value == SL__NONE) {
		o->matched = before;
		return;
	}
	o->value = value;
	o->is_turned ^= 1;
	o->flat_factor *= product;
	o->plain_factor *= product;
}

/*
 * The first value, from the end of the chain on, that holds the operand with
 * its dimensions in any order; -1.  order[] are dimensions of the operand in
 * the order of the value's.
 */
static int
find_any(const struct sl__attention_operand *o, const struct sl__rewrite *rw,
	 const struct sl__operand_chain *c, const int64_t dims[4], int order[4])
{
	struct sl__strided_view view;

	for (int from = c->n; from >= 0; from--) {
		struct sl__strided_view sorted;

		if (!see_heads(c, rw, o, dims, from, &view))
			continue;
		sorted = view;
		for (int d = 0; d < 4; d++)
			order[d] = d;
		for (int i = 0; i < 3; i++) {
			for (int d = 0; d < 3; d++) {
				int at = order[d];

				if (sorted.strides[d] >= sorted.strides[d + 1])
					continue;
				sl__view_swap_dims(&sorted, d, d + 1);
				order[d] = order[d + 1];
				order[d + 1] = at;
			}
		}
		if (sl__view_is_row_major(&sorted))
			return from;
	}
	return -1;
}

int
sl__attention_operand_trace(struct sl__attention_operand *o,
			    struct sl__rewrite *rw, int64_t batch,
			    unsigned parts)
{
	struct sl__operand_chain c;
	int64_t dims[4], strides[4];
	int flat, plain, any, most;

	o->matched.rw = rw;
	o->past = o->present = SL__NONE;
	o->flat_factor = o->plain_factor = 1;
	for (;;) {
		turn_back(o, rw);
		dims[0] = batch;
		dims[1] = o->heads;
		dims[2] = o->rows;
		dims[3] = o->width;
		walk_back(&c, rw, o->value, o->has_factors);
		if ((parts & SL__ATTENTION_OPERAND_REPEATED) &&
		    skip_repeat(o, rw, &c, dims))
			parts &= ~(unsigned)SL__ATTENTION_OPERAND_REPEATED;
		else if ((parts & SL__ATTENTION_OPERAND_PAST) &&
			 skip_past(o, rw, &c, dims))
			parts = 0;
		else
			break;
	}
	strides_flat(strides, dims);
	flat = find_source(o, rw, &c, dims, strides);
	strides_plain(strides, dims);
	plain = find_source(o, rw, &c, dims, strides);
	any = find_any(o, rw, &c, dims, o->order);
	o->any = any < 0 ? SL__NONE : c.values[any];
	o->any_factor = o->flat_factor * factor_to(&c, any);
	o->flat = flat < 0 ? SL__NONE : c.values[flat];
	o->plain = plain < 0 ? SL__NONE : c.values[plain];
	o->flat_factor *= factor_to(&c, flat);
	o->plain_factor *= factor_to(&c, plain);
	most = flat > plain ? flat : plain;
	most = any > most ? any : most;
	for (int i = 0; i < most; i++)
		sl__matched_add(&o->matched, c.nodes[i]);
	return most >= 0;
}

int
sl__operand_batch_heads(const struct sl__rewrite *rw, uint32_t value,
			int64_t *batch, int64_t *heads)
{
	const struct sl__type *type = &rw->types[value];
	struct sl__operand_chain c;
	struct sl__strided_view view;

	walk_back(&c, rw, value, 1);
	for (int i = 1; i <= c.n; i++) {
		const struct sl__type *x = &rw->types[c.values[i]];

		if (!see(&c, rw, i, 0, &view) || !sl__view_is_row_major(&view))
			return 0;
		if (x->rank != 4 || x->dims[2] != type->dims[1] ||
		    x->dims[3] != type->dims[2])
			continue;
		*batch = x->dims[0];
		*heads = x->dims[1];
		return 1;
	}
	return 0;
}
