/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuse_attention.c - softmax(Q K') V with its heads, as one node.
 *
 * From a Softmax back to the product of queries and keys, with what scales
 * and masks the scores on the way, and on to the product with the values.
 * Where queries, keys, values and the result can all be had with the heads
 * side by side in a row, as projections give and take them, the node is made
 * of three dimensions and whatever divides and joins the heads goes;
 * otherwise it is made of four.
 */
#include "transform/fuse_attention.h"
#include "transform/matching.h"
#include "transform/optimize.h"
#include "transform/rewrite_values.h"

#include <math.h>
#include <string.h>

#include "base/banned.h"

enum { WALK_MOST = 12 };

uint32_t
sl__rewrite_add_reshape(struct sl__rewrite *rw, uint32_t from, int rank,
			const int64_t *dims, uint32_t out)
{
	int64_t n = rank;
	uint32_t sizes =
		sl__rewrite_add_integer_constant(rw, SL_DTYPE_I64, 1, &n, dims);
	struct sl__node_builder m;

	if (out == SL__NONE)
		out = sl__rewrite_add_shaped_value(
			rw, "heads", rw->types[from].dtype, rank, dims);
	sl__node_builder_begin(&m, rw, "", "Reshape", 13);
	sl__node_builder_add_input(&m, from);
	sl__node_builder_add_input(&m, sizes);
	sl__node_builder_add_output(&m, out);
	sl__node_builder_finish(&m);
	return out;
}

/* A Transpose of four dimensions to a new value. */
static uint32_t
add_transpose(struct sl__rewrite *rw, uint32_t from, const int64_t *perm)
{
	int64_t dims[4];
	struct sl__node_builder m;
	uint32_t out;

	if (rw->rc)
		return from;
	for (int d = 0; d < 4; d++)
		dims[d] = rw->types[from].dims[perm[d]];
	out = sl__rewrite_add_shaped_value(rw, "heads", rw->types[from].dtype,
					   4, dims);
	sl__node_builder_begin(&m, rw, "", "Transpose", 13);
	sl__node_builder_set_ints(&m, "perm", perm, 4);
	sl__node_builder_add_input(&m, from);
	sl__node_builder_add_output(&m, out);
	sl__node_builder_finish(&m);
	return out;
}

/* Whether a value and what is made of it are stacks of the same matrices. */
static int
are_same_matrices(const struct sl__rewrite *rw, uint32_t a, uint32_t b)
{
	const struct sl__type *x, *y;

	if (!sl__is_nonempty_f32(rw, a) || !sl__is_nonempty_f32(rw, b))
		return 0;
	x = &rw->types[a];
	y = &rw->types[b];
	return x->rank >= 2 && y->rank >= 2 &&
	       x->dims[x->rank - 1] == y->dims[y->rank - 1] &&
	       x->dims[x->rank - 2] == y->dims[y->rank - 2];
}

static int walk_scores(struct sl__attention_match *a, uint32_t value,
		       int depth);

/* On from operand i of the node, of which the result has the same sizes. */
static int
walk_on(struct sl__attention_match *a, uint32_t node, size_t i, int depth)
{
	struct sl__rewrite *rw = a->matched.rw;
	uint32_t value = sl__rewrite_input(rw, node, i);

	return sl__have_same_dtype_and_dims(rw, value,
					    sl__rewrite_output(rw, node)) &&
	       walk_scores(a, value, depth - 1);
}

/* A mask comes after the scale, which therefore has not been met yet. */
static int
take_mask(struct sl__attention_match *a, const struct sl__attention_mask *mask)
{
	if (a->n_masks == SL__MASKS_MOST || a->softcap > 0 ||
	    !sl__is_close(a->scale, 1))
		return 0;
	a->masks[a->n_masks++] = *mask;
	return 1;
}

static int
walk_sum(struct sl__attention_match *a, uint32_t node, int depth)
{
	struct sl__attention_match before = *a;

	for (size_t i = 0; i < 2; i++) {
		struct sl__attention_mask mask = {
			.value = sl__rewrite_input(a->matched.rw, node, 1 - i)};

		if (take_mask(a, &mask) && walk_on(a, node, i, depth))
			return 1;
		*a = before;
	}
	return 0;
}

static int
walk_choice(struct sl__attention_match *a, uint32_t node, int depth)
{
	struct sl__rewrite *rw = a->matched.rw;
	struct sl__attention_mask mask = {
		.value = sl__rewrite_input(rw, node, 0), .is_choice = 1};
	size_t i = sl__scalar_constant_read(rw, sl__rewrite_input(rw, node, 1),
					    &mask.fill)
			   ? 2
			   : 1;

	if (i == 1 && !sl__scalar_constant_read(
			      rw, sl__rewrite_input(rw, node, 2), &mask.fill))
		return 0;
	mask.is_kept_where_1 = i == 1;
	return take_mask(a, &mask) && walk_on(a, node, i, depth);
}

static int
walk_factor(struct sl__attention_match *a, uint32_t node, int depth)
{
	struct sl__rewrite *rw = a->matched.rw;
	int is_mul = sl__rewrite_node_is_op(rw, node, SL__OP_ONNX_Mul);
	double x;

	for (size_t i = 0; i < (is_mul ? 2u : 1u); i++) {
		if (!sl__scalar_constant_read(
			    rw, sl__rewrite_input(rw, node, 1 - i), &x))
			continue;
		a->scale *= is_mul ? x : 1 / x;
		return isfinite(a->scale) && walk_on(a, node, i, depth);
	}
	return 0;
}

/* cap tanh(s / cap): what was met so far as a factor is the cap. */
static int
walk_cap(struct sl__attention_match *a, uint32_t node, int depth)
{
	if (a->softcap > 0 || !(a->scale > 0))
		return 0;
	a->softcap = a->scale;
	a->scale = 1;
	return walk_on(a, node, 0, depth);
}

/* The product of queries and keys. */
static int
end_walk(struct sl__attention_match *a, uint32_t node)
{
	struct sl__rewrite *rw = a->matched.rw;

	a->q.value = sl__rewrite_input(rw, node, 0);
	a->k.value = sl__rewrite_input(rw, node, 1);
	sl__matched_add(&a->matched, node);
	return sl__is_nonempty_f32(rw, a->q.value) &&
	       sl__is_nonempty_f32(rw, a->k.value);
}

/* From what goes into the Softmax back to the product.  Nobody else uses
 * what is met: it would have to be computed all the same. */
static int
walk_scores(struct sl__attention_match *a, uint32_t value, int depth)
{
	struct sl__rewrite *rw = a->matched.rw;
	uint32_t node = sl__rewrite_producer(rw, value);

	if (depth == 0 || sl__rewrite_only_user(rw, value) == SL__NONE ||
	    !sl__rewrite_node(rw, node))
		return 0;
	if (sl__rewrite_node_is_op(rw, node, SL__OP_ONNX_MatMul))
		return end_walk(a, node);
	sl__matched_add(&a->matched, node);
	if (sl__rewrite_node_is_op(rw, node, SL__OP_ONNX_Add))
		return walk_sum(a, node, depth);
	if (sl__rewrite_node_is_op(rw, node, SL__OP_ONNX_Where))
		return walk_choice(a, node, depth);
	if (sl__rewrite_node_is_op(rw, node, SL__OP_ONNX_Mul) ||
	    sl__rewrite_node_is_op(rw, node, SL__OP_ONNX_Div))
		return walk_factor(a, node, depth);
	if (sl__rewrite_node_is_op(rw, node, SL__OP_ONNX_Tanh))
		return walk_cap(a, node, depth);
	if (sl__rewrite_node_is_op(rw, node, SL__OP_ONNX_Identity) ||
	    sl__rewrite_node_is_op(rw, node, SL__OP_ONNX_Cast))
		return walk_on(a, node, 0, depth);
	return sl__rewrite_node_is_op(rw, node, SL__OP_ONNX_Reshape) &&
	       are_same_matrices(rw, sl__rewrite_input(rw, node, 0), value) &&
	       walk_scores(a, sl__rewrite_input(rw, node, 0), depth - 1);
}

/* Where(IsNaN(p), 0, p) after the Softmax: rows of nothing but hidden keys
 * give 0, as the node does by itself. */
static uint32_t
skip_guard(struct sl__attention_match *a, uint32_t value)
{
	struct sl__rewrite *rw = a->matched.rw;
	const struct sl__value_uses *uses = &rw->uses[value];
	uint32_t test, choice;
	double x;

	if (rw->is_pinned[value] || uses->n != 2)
		return value;
	for (uint32_t i = 0; i < 2; i++) {
		test = uses->nodes[i];
		choice = uses->nodes[1 - i];
		if (!sl__rewrite_node_is_op(rw, test, SL__OP_ONNX_IsNaN) ||
		    !sl__rewrite_node_is_op(rw, choice, SL__OP_ONNX_Where) ||
		    sl__rewrite_input(rw, choice, 0) !=
			    sl__rewrite_output(rw, test) ||
		    sl__rewrite_input(rw, choice, 2) != value ||
		    !sl__scalar_constant_read(
			    rw, sl__rewrite_input(rw, choice, 1), &x) ||
		    fabs(x) > 0)
			continue;
		sl__matched_add(&a->matched, test);
		sl__matched_add(&a->matched, choice);
		a->is_guarded = 1;
		return sl__rewrite_output(rw, choice);
	}
	return value;
}

/* The product with the values. */
static int
find_mixing(struct sl__attention_match *a)
{
	struct sl__rewrite *rw = a->matched.rw;
	uint32_t value = sl__rewrite_output(rw, a->softmax), user;

	value = skip_guard(a, value);
	for (int i = 0; i < WALK_MOST; i++) {
		user = sl__rewrite_only_user(rw, value);
		if (!sl__rewrite_node(rw, user))
			return 0;
		sl__matched_add(&a->matched, user);
		if (sl__rewrite_node_is_op(rw, user, SL__OP_ONNX_MatMul)) {
			a->mixing = user;
			a->weights = value;
			a->v.value = sl__rewrite_input(rw, user, 1);
			return sl__rewrite_input(rw, user, 0) == value &&
			       sl__is_nonempty_f32(rw, a->v.value);
		}
		if (!sl__rewrite_node_is_op(rw, user, SL__OP_ONNX_Identity) &&
		    !sl__rewrite_node_is_op(rw, user, SL__OP_ONNX_Cast) &&
		    !sl__rewrite_node_is_op(rw, user, SL__OP_ONNX_Reshape) &&
		    !sl__is_noop_dropout(rw, user))
			return 0;
		if (!are_same_matrices(rw, value, sl__rewrite_output(rw, user)))
			return 0;
		value = sl__rewrite_output(rw, user);
	}
	return 0;
}

static int64_t
last_dim(const struct sl__rewrite *rw, uint32_t value, int back)
{
	const struct sl__type *type = &rw->types[value];

	return type->rank > back ? type->dims[type->rank - 1 - back] : 1;
}

/* Elements before the last two dimensions, from dimension 'first' on. */
static int64_t
stack_of(const struct sl__rewrite *rw, uint32_t value, int first)
{
	const struct sl__type *type = &rw->types[value];
	int64_t n = 1;

	for (int d = first; d + 2 < type->rank; d++)
		n *= type->dims[d];
	return n;
}

static void
set_operand(struct sl__attention_operand *o, int64_t heads, int64_t rows,
	    int64_t width)
{
	uint32_t value = o->value;

	memset(o, 0, sizeof(*o));
	o->value = value;
	o->heads = heads;
	o->rows = rows;
	o->width = width;
	o->has_factors = 1;
}

/* Reads the operands with so many heads; K and V agree on what they are made
 * of, or it is not taken apart. */
static int
read_operands(struct sl__attention_match *a, unsigned parts)
{
	struct sl__rewrite *rw = a->matched.rw;
	int64_t width = last_dim(rw, a->q.value, 0);
	int64_t kv_heads = stack_of(rw, a->k.value, 0) / a->batch;

	set_operand(&a->q, a->heads, a->queries, width);
	set_operand(&a->k, kv_heads, a->keys, width);
	set_operand(&a->v, kv_heads, a->keys, last_dim(rw, a->v.value, 0));
	a->k.is_turned = 1;
	a->v.has_factors = 0;
	return sl__attention_operand_trace(&a->q, rw, a->batch, 0) &&
	       sl__attention_operand_trace(&a->k, rw, a->batch, parts) &&
	       sl__attention_operand_trace(&a->v, rw, a->batch, parts) &&
	       a->k.heads == a->v.heads && a->k.past_rows == a->v.past_rows;
}

static int
try_heads(struct sl__attention_match *a, int64_t batch, int64_t heads)
{
	const unsigned all = SL__ATTENTION_OPERAND_PAST |
			     SL__ATTENTION_OPERAND_REPEATED;
	uint32_t q = a->q.value, k = a->k.value, v = a->v.value;

	a->batch = batch;
	a->heads = heads;
	for (unsigned parts = all + 1; parts-- > 0;) {
		a->q.value = q;
		a->k.value = k;
		a->v.value = v;
		if (read_operands(a, parts) && a->heads % a->k.heads == 0 &&
		    sl__attention_masks_fit(a))
			return 1;
	}
	a->q.value = q;
	a->k.value = k;
	a->v.value = v;
	return 0;
}

static int
has_flat(const struct sl__attention_match *a)
{
	return a->q.flat != SL__NONE && a->k.flat != SL__NONE &&
	       a->v.flat != SL__NONE;
}

/* Stacks of matrices may be all heads of one text, one head of many, or what
 * they were made of says it. */
static int
divide_stack(struct sl__attention_match *a)
{
	struct sl__rewrite *rw = a->matched.rw;
	int64_t n = stack_of(rw, a->q.value, 0), batch, heads;
	struct sl__attention_match before = *a;

	if (sl__operand_batch_heads(rw, a->q.value, &batch, &heads))
		return try_heads(a, batch, heads);
	if (try_heads(a, 1, n) && has_flat(a))
		return 1;
	*a = before;
	return try_heads(a, n, 1);
}

/* Sizes of everything; stacks of keys and values are those of the queries, or
 * one for several heads in a dimension of its own. */
static int
find_heads(struct sl__attention_match *a)
{
	struct sl__rewrite *rw = a->matched.rw;
	const struct sl__type *q = &rw->types[a->q.value];
	const struct sl__type *k = &rw->types[a->k.value];
	const struct sl__type *v = &rw->types[a->v.value];

	if (q->rank < 3 || q->rank > 5 || k->rank != q->rank ||
	    v->rank != q->rank || rw->types[a->weights].rank != q->rank)
		return 0;
	a->rank = q->rank;
	a->queries = last_dim(rw, a->q.value, 1);
	a->keys = last_dim(rw, a->k.value, 0);
	for (int d = 0; d + 2 < q->rank; d++) {
		int is_group = q->rank == 5 && d == 2;

		if (k->dims[d] != v->dims[d] ||
		    (k->dims[d] != q->dims[d] &&
		     !(is_group && k->dims[d] == 1)))
			return 0;
	}
	if (last_dim(rw, a->v.value, 1) != a->keys)
		return 0;
	if (q->rank == 3)
		return divide_stack(a);
	return try_heads(a, q->dims[0], stack_of(rw, a->q.value, 1));
}

/*
 * The value in which the heads lie side by side: as a view of [batch][rows]
 * [heads][width] it is row-major.  SL__NONE where there is none; what leads
 * to it joins the matched nodes.
 */
static uint32_t
find_flat_end(struct sl__attention_match *a)
{
	struct sl__rewrite *rw = a->matched.rw;
	int64_t h = a->heads, s = a->queries, w = a->v.width;
	const struct sl__strided_view heads = {
		4, {a->batch, h, s, w}, {s * h * w, w, h * w, 1}};
	uint32_t value = sl__rewrite_output(rw, a->mixing), best = SL__NONE;
	struct sl__strided_view view = heads;
	struct sl__matched_nodes way = a->matched;
	int is_seen = sl__view_reshape(&view, rw->types[value].rank,
				       rw->types[value].dims);

	for (int i = 0; i < WALK_MOST; i++) {
		uint32_t user = sl__rewrite_only_user(rw, value);
		const struct sl__type *type;

		if (!sl__is_view_node(rw, user))
			break;
		value = sl__rewrite_output(rw, user);
		type = &rw->types[value];
		sl__matched_add(&way, user);
		if (is_seen) {
			if (!sl__view_through_node(&view, rw, user))
				break;
		} else {
			/* The order is still that of the product. */
			if (sl__rewrite_node_is_op(rw, user,
						   SL__OP_ONNX_Transpose))
				break;
			view = heads;
			is_seen =
				sl__view_reshape(&view, type->rank, type->dims);
		}
		if (!is_seen || !sl__view_is_row_major(&view))
			continue;
		best = value;
		a->matched = way;
		if (type->rank == 3 && type->dims[0] == a->batch &&
		    type->dims[1] == s && type->dims[2] == h * w)
			break;
	}
	return best;
}

/* The operand from a value that has its dimensions in another order. */
static uint32_t
order_operand(struct sl__attention_match *a,
	      const struct sl__attention_operand *o, const int64_t dims[4])
{
	int64_t apart[4], perm[4];
	uint32_t from;

	for (int d = 0; d < 4; d++) {
		apart[d] = dims[o->order[d]];
		perm[o->order[d]] = d;
	}
	from = sl__rewrite_add_reshape(a->matched.rw, o->any, 4, apart,
				       SL__NONE);
	return add_transpose(a->matched.rw, from, perm);
}

/* A value that holds the operand with exactly the sizes the node wants. */
static uint32_t
give_operand(struct sl__attention_match *a,
	     const struct sl__attention_operand *o, int is_flat)
{
	struct sl__rewrite *rw = a->matched.rw;
	const int64_t flat[] = {a->batch, o->rows, o->heads * o->width};
	const int64_t plain[] = {a->batch, o->heads, o->rows, o->width};
	const int64_t *dims = is_flat ? flat : plain;
	uint32_t from = is_flat ? o->flat : o->plain;
	int rank = is_flat ? 3 : 4;

	if (from == SL__NONE)
		return order_operand(a, o, plain);
	return sl__has_sizes(rw, from, rank, dims)
		       ? from
		       : sl__rewrite_add_reshape(rw, from, rank, dims,
						 SL__NONE);
}

/* The earlier rows with those sizes. */
static uint32_t
give_past(struct sl__attention_match *a, const struct sl__attention_operand *o)
{
	static const int64_t exchange[] = {0, 1, 3, 2};
	struct sl__rewrite *rw = a->matched.rw;
	uint32_t maker = sl__rewrite_producer(rw, o->past);
	const int64_t *perm;

	if (o->past == SL__NONE || !o->is_past_turned)
		return o->past;
	if (sl__rewrite_node_is_op(rw, maker, SL__OP_ONNX_Transpose) &&
	    sl__attribute_ints(&rw->nodes[maker].node, "perm", &perm) == 4 &&
	    perm[0] == 0 && perm[1] == 1 && perm[2] == 3) {
		sl__matched_add(&a->matched, maker);
		return sl__rewrite_input(rw, maker, 0);
	}
	return add_transpose(rw, o->past, exchange);
}

/* The node's first result: 'end', or what a Reshape makes that of. */
static uint32_t
give_result(struct sl__attention_match *a, int is_flat, uint32_t end)
{
	struct sl__rewrite *rw = a->matched.rw;
	const int64_t flat[] = {a->batch, a->queries, a->heads * a->v.width};
	const int64_t plain[] = {a->batch, a->heads, a->queries, a->v.width};
	const int64_t *dims = is_flat ? flat : plain;
	int rank = is_flat ? 3 : 4;

	return sl__has_sizes(rw, end, rank, dims)
		       ? end
		       : sl__rewrite_add_shaped_value(
				 rw, "heads", rw->types[end].dtype, rank, dims);
}

static double
factor_of(const struct sl__attention_operand *o, int is_flat)
{
	if (is_flat)
		return o->flat_factor;
	return o->plain == SL__NONE ? o->any_factor : o->plain_factor;
}

/* What the product of queries and keys is multiplied by. */
static double
scale_of(const struct sl__attention_match *a, int is_flat)
{
	return a->scale * factor_of(&a->q, is_flat) *
	       factor_of(&a->k, is_flat) * (a->softcap > 0 ? a->softcap : 1);
}

static void
say_attributes(const struct sl__attention_match *a, int is_flat, int is_causal,
	       struct sl__node_builder *m)
{
	m->node.name = a->matched.rw->nodes[a->mixing].node.name;
	if (is_flat) {
		sl__node_builder_set_int(m, "q_num_heads", a->heads);
		sl__node_builder_set_int(m, "kv_num_heads", a->k.heads);
	}
	if (a->softcap > 0)
		sl__node_builder_set_float(m, "softcap", (float)a->softcap);
	sl__node_builder_set_float(m, "scale", (float)scale_of(a, is_flat));
	if (is_causal)
		sl__node_builder_set_int(m, "is_causal", 1);
}

static void
join_matched(struct sl__attention_match *a)
{
	const struct sl__attention_operand *operands[] = {&a->q, &a->k, &a->v};

	for (size_t k = 0; k < 3; k++) {
		for (size_t i = 0; i < operands[k]->matched.n; i++)
			sl__matched_add(&a->matched,
					operands[k]->matched.nodes[i]);
	}
}

/* 'end' is the value that is replaced. */
static void
make(struct sl__attention_match *a, int is_flat, uint32_t end)
{
	struct sl__rewrite *rw = a->matched.rw;
	uint32_t in[6], made = give_result(a, is_flat, end);
	int is_causal;
	struct sl__node_builder m;

	in[0] = give_operand(a, &a->q, is_flat);
	in[1] = give_operand(a, &a->k, is_flat);
	in[2] = give_operand(a, &a->v, is_flat);
	in[3] = sl__attention_masks_merge(a, &is_causal);
	in[4] = give_past(a, &a->k);
	in[5] = give_past(a, &a->v);
	sl__node_builder_begin(&m, rw, "", "Attention", 23);
	say_attributes(a, is_flat, is_causal, &m);
	sl__node_builder_add_inputs(&m, in,
				    in[4] != SL__NONE   ? 6
				    : in[3] != SL__NONE ? 4
							: 3);
	sl__node_builder_add_output(&m, made);
	if (a->k.present != SL__NONE || a->v.present != SL__NONE) {
		sl__node_builder_add_output(&m, a->k.present);
		sl__node_builder_add_output(&m, a->v.present);
	}
	/* The Reshape that is to come makes the last value of the matched nodes. */
	if (made != end)
		sl__node_builder_add_output(&m, end);
	sl__matched_cover_unused(&a->matched, &m);
	if (made != end)
		m.node.n_outputs--;
	sl__node_builder_finish(&m);
	if (made != end)
		sl__rewrite_add_reshape(rw, made, rw->types[end].rank,
					rw->types[end].dims, end);
}

/* Whether 'value' or what it is made of is 'of'; seen[] are nodes that have
 * been visited. */
static int
depends(const struct sl__rewrite *rw, uint32_t value, uint32_t of,
	unsigned char *seen, uint32_t *stack)
{
	size_t n = 0;
	uint32_t node;

	if (value == of)
		return 1;
	node = sl__rewrite_producer(rw, value);
	if (node != SL__NONE && !seen[node]) {
		seen[node] = 1;
		stack[n++] = node;
	}
	while (n) {
		const struct sl__node *at = &rw->nodes[stack[--n]].node;

		for (uint32_t i = 0; i < at->n_inputs; i++) {
			if (at->inputs[i] == of)
				return 1;
			node = sl__rewrite_producer(rw, at->inputs[i]);
			if (node == SL__NONE || seen[node])
				continue;
			seen[node] = 1;
			stack[n++] = node;
		}
	}
	return 0;
}

/* All rows are made by the node too; so nothing that it needs may be made of
 * them. */
static int
is_sound(const struct sl__attention_match *a)
{
	struct sl__rewrite *rw = a->matched.rw;
	const uint32_t presents[] = {a->k.present, a->v.present};
	uint32_t needed[3 + SL__MASKS_MOST] = {a->q.value, a->k.value,
					       a->v.value};
	size_t n = 3;

	for (int i = 0; i < a->n_masks; i++)
		needed[n++] = a->masks[i].value;
	for (size_t p = 0; p < 2; p++) {
		unsigned char *seen;
		uint32_t *stack;

		if (presents[p] == SL__NONE)
			continue;
		seen = sl__rewrite_alloc(rw, rw->n_nodes, 1);
		stack = sl__rewrite_alloc(rw, rw->n_nodes, sizeof(*stack));
		for (size_t i = 0; i < n; i++) {
			if (!stack ||
			    depends(rw, needed[i], presents[p], seen, stack))
				return 0;
		}
	}
	return 1;
}

static int
is_over_keys(const struct sl__rewrite *rw, uint32_t id)
{
	const struct sl__node *node = &rw->nodes[id].node;
	int rank = rw->types[node->inputs[0]].rank;
	int64_t axis =
		sl__attribute_int(node, "axis", node->version < 13 ? 1 : -1);

	return sl__is_nonempty_f32(rw, node->inputs[0]) &&
	       sl__axis_normalize(axis, rank) == rank - 1;
}

static void
fuse(struct sl__rewrite *rw, uint32_t id)
{
	struct sl__attention_match a = {
		.matched = {.rw = rw}, .softmax = id, .scale = 1};
	uint32_t end;
	int is_flat;

	if (!is_over_keys(rw, id))
		return;
	sl__matched_add(&a.matched, id);
	if (!walk_scores(&a, rw->nodes[id].node.inputs[0], WALK_MOST) ||
	    !find_mixing(&a) || !find_heads(&a) || !is_sound(&a))
		return;
	join_matched(&a);
	end = has_flat(&a) ? find_flat_end(&a) : SL__NONE;
	is_flat = end != SL__NONE;
	if (!sl__fits_f32(scale_of(&a, is_flat)) || !sl__fits_f32(a.softcap))
		return;
	make(&a, is_flat, is_flat ? end : sl__rewrite_output(rw, a.mixing));
}

void
sl__pass_fuse_attention(struct sl__rewrite *rw)
{
	static const enum sl__op_id ops[] = {SL__OP_ONNX_Softmax};

	sl__rewrite_each_node(rw, ops, 1, 0, fuse);
}
