/* SPDX-License-Identifier: Apache-2.0 */
/*
 * prune_rules.c - what each operator says of channels that are removed
 * together.
 *
 * What no rule knows holds all of its inputs and outputs.  A rule that ties a
 * normalization or a mean lets channels go that count in the statistics: what
 * is left of them is normalized by its own.
 */
#include "transform/matching.h"
#include "transform/prune_units.h"

#include "base/banned.h"

/* Dimensions of 'v' from the last one, as numpy broadcasts them into 'y'. */
static void
tie_broadcast(struct sl__units *u, uint32_t v, uint32_t y)
{
	int shift = sl__units_rank(u, y) - sl__units_rank(u, v);

	for (int d = 0; d < sl__units_rank(u, v); d++) {
		if (shift + d < 0 || sl__units_size(u, v, d) == 1)
			sl__units_hold_axis(u, v, d);
		else
			sl__units_tie(u, v, d, y, shift + d);
	}
}

/* Dimensions [from, to) of two values of one rank. */
static void
tie_same(struct sl__units *u, uint32_t x, uint32_t y, int from, int to)
{
	for (int d = from; d < to; d++)
		sl__units_tie(u, x, d, y, d);
}

static void
hold_outputs(struct sl__units *u, const struct sl__node *n, uint32_t from)
{
	for (uint32_t i = from; i < n->n_outputs; i++)
		sl__units_hold_value(u, n->outputs[i]);
}

static int
follow_elementwise(struct sl__units *u, const struct sl__node *n)
{
	if (n->op->ref == sl__ref_joined && !sl__has_numpy_broadcasting(n))
		return 0;
	for (uint32_t i = 0; i < n->n_inputs; i++) {
		if (n->inputs[i] != SL__NONE)
			tie_broadcast(u, n->inputs[i], n->outputs[0]);
	}
	hold_outputs(u, n, 1);
	return 1;
}

/* Groups of several channels keep their number and lose the same ones each;
 * those of one input channel go whole. */
static void
tie_groups(struct sl__units *u, const struct sl__node *n, int64_t groups)
{
	uint32_t x = n->inputs[0], w = n->inputs[1], y = n->outputs[0];
	uint32_t in = sl__units_first(u, x, 1), out = sl__units_first(u, y, 1);
	int64_t n_in = sl__units_size(u, w, 1);
	int64_t n_out = sl__units_size(u, w, 0) / groups;
	uint32_t taps = sl__units_first(u, w, 1);

	for (int64_t g = 0; g < groups; g++) {
		for (int64_t i = 0; i < n_in; i++)
			sl__units_join(u, in + (uint32_t)(g * n_in + i),
				       n_in == 1 ? out + (uint32_t)(g * n_out)
						 : taps + (uint32_t)i);
		for (int64_t i = 0; i < n_out; i++)
			sl__units_join(u, out + (uint32_t)(g * n_out + i),
				       n_in == 1 ? out + (uint32_t)(g * n_out)
						 : out + (uint32_t)i);
	}
	if (n_in == 1)
		sl__units_hold_axis(u, w, 1);
}

static int
follow_conv(struct sl__units *u, const struct sl__node *n)
{
	uint32_t x = n->inputs[0], w = n->inputs[1], y = n->outputs[0];
	int is_transposed = sl__is_op(n, SL__OP_ONNX_ConvTranspose);
	int64_t groups = sl__attribute_int(n, "group", 1);
	int rank = sl__units_rank(u, w);

	if ((is_transposed && groups != 1) || rank < 3 || groups < 1 ||
	    sl__units_rank(u, x) != rank || sl__units_rank(u, y) != rank ||
	    sl__units_first(u, x, 1) == SL__NONE ||
	    sl__units_size(u, x, 1) !=
		    sl__units_size(u, w, is_transposed ? 0 : 1) * groups)
		return 0;
	for (int d = 2; d < rank; d++) {
		sl__units_hold_axis(u, x, d);
		sl__units_hold_axis(u, w, d);
		sl__units_hold_axis(u, y, d);
	}
	sl__units_tie(u, x, 0, y, 0);
	sl__units_tie(u, w, is_transposed, y, 1);
	if (groups == 1)
		sl__units_tie(u, x, 1, w, !is_transposed);
	else
		tie_groups(u, n, groups);
	if (n->n_inputs > 2 && n->inputs[2] != SL__NONE)
		sl__units_tie(u, n->inputs[2], 0, y, 1);
	return 1;
}

static int
follow_gemm(struct sl__units *u, const struct sl__node *n)
{
	uint32_t a = n->inputs[0], b = n->inputs[1], y = n->outputs[0];
	int flip_a = sl__attribute_int(n, "transA", 0) != 0;
	int flip_b = sl__attribute_int(n, "transB", 0) != 0;

	if (sl__units_rank(u, a) != 2 || sl__units_rank(u, b) != 2 ||
	    sl__units_rank(u, y) != 2)
		return 0;
	sl__units_tie(u, a, flip_a, y, 0);
	sl__units_tie(u, a, !flip_a, b, flip_b);
	sl__units_tie(u, b, !flip_b, y, 1);
	if (n->n_inputs > 2 && n->inputs[2] != SL__NONE)
		tie_broadcast(u, n->inputs[2], y);
	return 1;
}

/* Dimensions before the last two: a matrix product is made for each index,
 * which is a head of attention where neither operand is a weight. */
static void
tie_batches(struct sl__units *u, const struct sl__node *n)
{
	uint32_t y = n->outputs[0];
	int rank = sl__units_rank(u, y);

	for (int i = 0; i < 2; i++) {
		int shift = rank - sl__units_rank(u, n->inputs[i]);

		for (int d = shift; d < rank - 2; d++) {
			if (sl__units_size(u, n->inputs[i], d - shift) == 1)
				sl__units_hold_axis(u, n->inputs[i], d - shift);
			else
				sl__units_tie(u, n->inputs[i], d - shift, y, d);
		}
	}
	for (int d = 0; d < rank - 2; d++) {
		uint32_t first = sl__units_first(u, y, d);

		for (int64_t k = 0;
		     first != SL__NONE && k < sl__units_size(u, y, d) &&
		     !u->graph->values[n->inputs[1]].tensor;
		     k++)
			u->flags[sl__units_root(u, first + (uint32_t)k)] |=
				SL__UNIT_HEAD;
	}
}

static int
follow_matmul(struct sl__units *u, const struct sl__node *n)
{
	uint32_t a = n->inputs[0], b = n->inputs[1], y = n->outputs[0];
	int rank_a = sl__units_rank(u, a), rank_b = sl__units_rank(u, b);
	int rank = sl__units_rank(u, y);

	if (rank_a < 2 || rank_b < 2 || rank < 2)
		return 0;
	sl__units_tie(u, a, rank_a - 1, b, rank_b - 2);
	sl__units_tie(u, a, rank_a - 2, y, rank - 2);
	sl__units_tie(u, b, rank_b - 1, y, rank - 1);
	tie_batches(u, n);
	return 1;
}

/* A stretch of dimensions, [from, to), of a value. */
struct stretch {
	uint32_t value;
	int from, to;
};

static void
hold_stretch(struct sl__units *u, const struct stretch *s)
{
	for (int d = s->from; d < s->to; d++)
		sl__units_hold_axis(u, s->value, d);
}

/* Of the dimensions of more than one index, the only one that nothing holds,
 * or else the outermost; and how many there are. */
static int
followed_axis(const struct sl__units *u, const struct stretch *s, int *n)
{
	int outermost = s->from, movable = s->from, n_movable = 0;

	*n = 0;
	for (int d = s->to - 1; d >= s->from; d--) {
		uint32_t first = sl__units_first(u, s->value, d);

		if (sl__units_size(u, s->value, d) == 1)
			continue;
		outermost = d;
		++*n;
		if (!(u->flags[sl__units_root(u, first)] & SL__UNIT_HELD)) {
			movable = d;
			n_movable++;
		}
	}
	return n_movable == 1 ? movable : outermost;
}

/* Each index of the only dimension of a stretch, but for those of size 1, goes
 * with the index along 'axis' of the other that it is part of. */
static void
tie_flat(struct sl__units *u, uint32_t flat, int flat_axis,
	 const struct stretch *s, int axis)
{
	uint32_t x = sl__units_first(u, flat, flat_axis);
	uint32_t y = sl__units_first(u, s->value, axis);
	int64_t size = sl__units_size(u, s->value, axis), inner = 1;

	for (int d = axis + 1; d < s->to; d++)
		inner *= sl__units_size(u, s->value, d);
	for (int64_t i = 0; i < sl__units_size(u, flat, flat_axis); i++)
		sl__units_join(u, x + (uint32_t)i,
			       y + (uint32_t)(i / inner % size));
}

/* Two stretches of the same elements in the same order: one dimension goes
 * with one of several. */
static void
tie_stretches(struct sl__units *u, const struct stretch *x,
	      const struct stretch *y)
{
	int n_x, n_y;
	int a = followed_axis(u, x, &n_x), b = followed_axis(u, y, &n_y);
	int is_followed = n_x && n_y && (n_x == 1 || n_y == 1);

	for (int d = x->from; d < x->to; d++) {
		if (d != a || !is_followed)
			sl__units_hold_axis(u, x->value, d);
	}
	for (int d = y->from; d < y->to; d++) {
		if (d != b || !is_followed)
			sl__units_hold_axis(u, y->value, d);
	}
	if (is_followed && n_x == 1)
		tie_flat(u, x->value, a, y, b);
	else if (is_followed)
		tie_flat(u, y->value, b, x, a);
}

/* Whether all sizes of a stretch are known, and more than 0. */
static int
is_sized(const struct sl__units *u, const struct stretch *s)
{
	for (int d = s->from; d < s->to; d++) {
		if (sl__units_size(u, s->value, d) < 1)
			return 0;
	}
	return 1;
}

/* Stretches of as many elements, the shortest that there are. */
static void
tie_factors(struct sl__units *u, struct stretch x, struct stretch y)
{
	while (x.from < x.to || y.from < y.to) {
		struct stretch a = {x.value, x.from, x.from};
		struct stretch b = {y.value, y.from, y.from};
		int64_t n_a = 1, n_b = 1;

		do {
			if (a.to < x.to && (n_a <= n_b || b.to == y.to))
				n_a *= sl__units_size(u, a.value, a.to++);
			else
				n_b *= sl__units_size(u, b.value, b.to++);
		} while (n_a != n_b && (a.to < x.to || b.to < y.to));
		if (n_a == n_b) {
			tie_stretches(u, &a, &b);
		} else {
			hold_stretch(u, &a);
			hold_stretch(u, &b);
		}
		x.from = a.to;
		y.from = b.to;
	}
}

int
sl__units_reshape_sizes(const struct sl__units *u, const struct sl__node *n,
			int64_t *sizes)
{
	uint32_t x = n->inputs[0], y = n->outputs[0];
	int rank = sl__units_rank(u, y), n_open = 0;
	const struct sl__known_contents *given = NULL;

	if (n->n_inputs != 2 || sl__attribute_int(n, "allowzero", 0))
		return 0;
	if (u->graph->values[n->inputs[1]].tensor)
		given = sl__shapes_known_contents(u->shapes, n->inputs[1]);
	for (int d = 0; d < rank; d++) {
		int64_t size = sl__units_size(u, y, d);

		if (given && given->ints && given->n == (size_t)rank)
			sizes[d] = given->ints[d];
		else if (!sl__is_symbol(size))
			sizes[d] = size;
		else if (d < sl__units_rank(u, x) &&
			 sl__units_size(u, x, d) == size)
			sizes[d] = 0;
		else
			sizes[d] = -1;
		n_open += sizes[d] == -1;
	}
	return n_open < 2;
}

/* The same elements in the same order, with other sizes. */
static int
follow_view(struct sl__units *u, const struct sl__node *n)
{
	struct stretch x = {n->inputs[0], 0, 0}, y = {n->outputs[0], 0, 0};
	int64_t sizes[SL__RANK_MOST];

	x.to = sl__units_rank(u, x.value);
	y.to = sl__units_rank(u, y.value);
	for (; x.from < x.to && y.from < y.to &&
	       sl__units_size(u, x.value, x.from) ==
		       sl__units_size(u, y.value, y.from);
	     x.from++, y.from++)
		sl__units_tie(u, x.value, x.from, y.value, y.from);
	for (; x.from < x.to && y.from < y.to &&
	       sl__units_size(u, x.value, x.to - 1) ==
		       sl__units_size(u, y.value, y.to - 1);
	     x.to--, y.to--)
		sl__units_tie(u, x.value, x.to - 1, y.value, y.to - 1);
	if (is_sized(u, &x) && is_sized(u, &y)) {
		tie_factors(u, x, y);
	} else {
		hold_stretch(u, &x);
		hold_stretch(u, &y);
	}
	return !sl__is_op(n, SL__OP_ONNX_Reshape) ||
	       sl__units_reshape_sizes(u, n, sizes);
}

static int
follow_transpose(struct sl__units *u, const struct sl__node *n)
{
	int rank = sl__units_rank(u, n->outputs[0]);
	const int64_t *perm;
	size_t n_perm = sl__attribute_ints(n, "perm", &perm);

	if (sl__units_rank(u, n->inputs[0]) != rank ||
	    (n_perm && n_perm != (size_t)rank))
		return 0;
	for (int d = 0; d < rank; d++)
		sl__units_tie(u, n->inputs[0],
			      n_perm ? (int)perm[d] : rank - 1 - d,
			      n->outputs[0], d);
	return 1;
}

/* Whether a dimension of all parts and of the whole has units. */
static int
are_parts(const struct sl__units *u, uint32_t whole, const uint32_t *parts,
	  uint32_t n_parts, int axis)
{
	int is_followed = sl__units_first(u, whole, axis) != SL__NONE;

	for (uint32_t i = 0; i < n_parts; i++)
		is_followed &= sl__units_first(u, parts[i], axis) != SL__NONE;
	return is_followed;
}

/* What Concat makes of parts, and Split of the whole. */
static int
follow_parts(struct sl__units *u, const struct sl__node *n)
{
	int is_split = sl__is_op(n, SL__OP_ONNX_Split);
	uint32_t whole = is_split ? n->inputs[0] : n->outputs[0];
	const uint32_t *parts = is_split ? n->outputs : n->inputs;
	uint32_t n_parts = is_split ? n->n_outputs : n->n_inputs, offset = 0;
	int rank = sl__units_rank(u, whole);
	int axis = sl__axis_normalize(
		sl__attribute_int(n, "axis", is_split ? 0 : 1), rank);
	int is_followed;

	for (uint32_t i = 0; i < n_parts; i++) {
		if (parts[i] == SL__NONE || axis < 0 ||
		    sl__units_rank(u, parts[i]) != rank)
			return 0;
	}
	is_followed = are_parts(u, whole, parts, n_parts, axis);
	/* Equal parts that lose the same are equal again. */
	for (uint32_t i = 0; is_split && i < n_parts; i++)
		is_followed &= sl__units_size(u, parts[i], axis) ==
			       sl__units_size(u, parts[0], axis);
	for (uint32_t i = 0; i < n_parts; i++) {
		uint32_t size = (uint32_t)sl__units_size(u, parts[i], axis);
		uint32_t part = sl__units_first(u, parts[i], axis);

		tie_same(u, parts[i], whole, 0, axis);
		tie_same(u, parts[i], whole, axis + 1, rank);
		for (uint32_t k = 0; is_followed && k < size; k++) {
			uint32_t first = sl__units_first(u, whole, axis);

			sl__units_join(u, part + k, first + offset + k);
			if (is_split)
				sl__units_join(u, part + k, first + k);
		}
		if (!is_followed)
			sl__units_hold_axis(u, parts[i], axis);
		offset += size;
	}
	if (!is_followed)
		sl__units_hold_axis(u, whole, axis);
	return 1;
}

static int
follow_channel_norm(struct sl__units *u, const struct sl__node *n)
{
	uint32_t x = n->inputs[0], y = n->outputs[0];
	int rank = sl__units_rank(u, x);
	int64_t groups = 1, size;

	if (sl__is_op(n, SL__OP_ONNX_GroupNormalization))
		groups = sl__attribute_int(n, "num_groups", 0);
	if (rank < 2 || sl__units_rank(u, y) != rank || groups < 1 ||
	    sl__units_first(u, x, 1) == SL__NONE)
		return 0;
	size = sl__units_size(u, x, 1);
	tie_same(u, x, y, 0, rank);
	for (uint32_t i = 1; i < n->n_inputs; i++) {
		if (sl__units_rank(u, n->inputs[i]) == 1 &&
		    sl__units_size(u, n->inputs[i], 0) == size)
			sl__units_tie(u, n->inputs[i], 0, x, 1);
		else
			sl__units_hold_value(u, n->inputs[i]);
	}
	for (int64_t i = 0; groups > 1 && i < size; i++)
		sl__units_join(u, sl__units_first(u, x, 1) + (uint32_t)i,
			       sl__units_first(u, x, 1) +
				       (uint32_t)(i % (size / groups)));
	hold_outputs(u, n, 1);
	return 1;
}

static int
follow_layer_norm(struct sl__units *u, const struct sl__node *n)
{
	uint32_t x = n->inputs[0], y = n->outputs[0];

	if (n->op->infer != sl__infer_layer_norm &&
	    n->op->infer != sl__infer_rms_norm)
		return 0;
	tie_broadcast(u, x, y);
	for (uint32_t i = 1; i < n->n_inputs; i++) {
		if (n->inputs[i] != SL__NONE)
			tie_broadcast(u, n->inputs[i], y);
	}
	hold_outputs(u, n, 1);
	return 1;
}

/* Windows move over the dimensions behind the channels. */
static int
follow_pool(struct sl__units *u, const struct sl__node *n)
{
	uint32_t x = n->inputs[0], y = n->outputs[0];
	int rank = sl__units_rank(u, x);

	if (rank < 3 || sl__units_rank(u, y) != rank)
		return 0;
	tie_same(u, x, y, 0, 2);
	for (int d = 2; d < rank; d++) {
		sl__units_hold_axis(u, x, d);
		sl__units_hold_axis(u, y, d);
	}
	hold_outputs(u, n, 1);
	return 1;
}

static int
follow_softmax(struct sl__units *u, const struct sl__node *n)
{
	uint32_t x = n->inputs[0];
	int rank = sl__units_rank(u, x), is_old = n->version < 13;
	int axis = sl__axis_normalize(
		sl__attribute_int(n, "axis", is_old ? 1 : -1), rank);

	if (axis < 0 || sl__units_rank(u, n->outputs[0]) != rank)
		return 0;
	tie_same(u, x, n->outputs[0], 0, rank);
	for (int d = axis; d < (is_old ? rank : axis + 1); d++)
		sl__units_hold_axis(u, x, d);
	return 1;
}

/* The integers of an attribute or else of an input; 0: they are not known. */
static int
read_list(const struct sl__units *u, const struct sl__node *n, const char *name,
	  uint32_t input, struct sl__known_contents *out)
{
	const struct sl__known_contents *known = NULL;

	*out = (struct sl__known_contents){0};
	out->n = sl__attribute_ints(n, name, &out->ints);
	if (out->n || input >= n->n_inputs || n->inputs[input] == SL__NONE)
		return 1;
	known = sl__shapes_known_contents(u->shapes, n->inputs[input]);
	if (!known || !known->ints)
		return 0;
	*out = *known;
	return 1;
}

static int
follow_reduction(struct sl__units *u, const struct sl__node *n)
{
	uint32_t x = n->inputs[0], y = n->outputs[0];
	int keeps = sl__attribute_int(n, "keepdims", 1) != 0;
	int rank = sl__units_rank(u, x), to = 0;
	struct sl__known_contents axes;
	uint64_t is_reduced = 0;

	if (rank > 63 || !read_list(u, n, "axes", 1, &axes))
		return 0;
	for (size_t i = 0; i < axes.n; i++)
		is_reduced |= UINT64_C(1)
			      << (sl__axis_normalize(axes.ints[i], rank) & 63);
	if (!axes.n && !sl__attribute_int(n, "noop_with_empty_axes", 0))
		is_reduced = UINT64_MAX;
	for (int d = 0; d < rank; d++)
		to += keeps || !(is_reduced >> d & 1);
	if (sl__units_rank(u, y) != to)
		return 0;
	to = 0;
	for (int d = 0; d < rank; d++) {
		int goes = is_reduced >> d & 1;

		if (goes && keeps)
			sl__units_hold_axis(u, y, to);
		else if (!goes)
			sl__units_tie(u, x, d, y, to);
		to += keeps || !goes;
	}
	return 1;
}

static int
follow_gather(struct sl__units *u, const struct sl__node *n)
{
	uint32_t x = n->inputs[0], y = n->outputs[0];
	int rank = sl__units_rank(u, x);
	int axis = sl__axis_normalize(sl__attribute_int(n, "axis", 0), rank);
	int shift = sl__units_rank(u, y) - rank;

	if (axis < 0 || shift < -1 ||
	    shift != u->shapes->types[n->inputs[1]].rank - 1)
		return 0;
	sl__units_hold_axis(u, x, axis);
	sl__units_hold_value(u, n->inputs[1]);
	tie_same(u, x, y, 0, axis);
	for (int d = axis; d <= axis + shift; d++)
		sl__units_hold_axis(u, y, d);
	for (int d = axis + 1; d < rank; d++)
		sl__units_tie(u, x, d, y, d + shift);
	return 1;
}

/* Dimensions that a node leaves as they are pass through it, the others
 * stay. */
static int
follow_untouched(struct sl__units *u, const struct sl__node *n)
{
	uint32_t x = n->inputs[0], y = n->outputs[0];
	int rank = sl__units_rank(u, x);
	struct sl__known_contents list = {0};
	int is_pad = sl__is_op(n, SL__OP_ONNX_Pad);
	int is_slice = sl__is_op(n, SL__OP_ONNX_Slice);

	/* Pad with axes, Resize to sizes. */
	if ((n->n_inputs > 3 && !is_slice) || sl__units_rank(u, y) != rank ||
	    (is_pad && (!read_list(u, n, "pads", 1, &list) ||
			list.n != 2 * (size_t)rank)) ||
	    (is_slice && !read_list(u, n, "steps", 4, &list)))
		return 0;
	for (int d = 0; d < rank; d++) {
		int same = sl__units_size(u, x, d) == sl__units_size(u, y, d);

		if (is_pad)
			same = !list.ints[d] && !list.ints[d + rank];
		for (size_t i = 0; is_slice && i < list.n; i++)
			same &= list.ints[i] == 1;
		if (same) {
			sl__units_tie(u, x, d, y, d);
		} else {
			sl__units_hold_axis(u, x, d);
			sl__units_hold_axis(u, y, d);
		}
	}
	return 1;
}

/* Sizes that are read when the model runs are those that it has then. */
static int
follow_shape(struct sl__units *u, const struct sl__node *n)
{
	sl__units_hold_value(u, n->outputs[0]);
	return 1;
}

static int
follow_constant(struct sl__units *u, const struct sl__node *n)
{
	(void)u;
	(void)n;
	return 1;
}

/* Operators that compute alike are followed alike. */
static const struct {
	sl__ref_function *ref;
	int (*follow)(struct sl__units *u, const struct sl__node *n);
} rules[] = {
	{sl__ref_unary, follow_elementwise},
	{sl__ref_joined, follow_elementwise},
	{sl__ref_where, follow_elementwise},
	{sl__ref_clip, follow_elementwise},
	{sl__ref_cast, follow_elementwise},
	{sl__ref_identity, follow_elementwise},
	{sl__ref_dropout, follow_elementwise},
	{sl__ref_prelu, follow_elementwise},
	{sl__ref_conv, follow_conv},
	{sl__ref_conv_transpose, follow_conv},
	{sl__ref_gemm, follow_gemm},
	{sl__ref_matmul, follow_matmul},
	{sl__ref_view, follow_view},
	{sl__ref_transpose, follow_transpose},
	{sl__ref_concat, follow_parts},
	{sl__ref_split, follow_parts},
	{sl__ref_batch_norm, follow_channel_norm},
	{sl__ref_instance_norm, follow_channel_norm},
	{sl__ref_group_norm, follow_channel_norm},
	{sl__ref_layer_norm, follow_layer_norm},
	{sl__ref_pool, follow_pool},
	{sl__ref_softmax, follow_softmax},
	{sl__ref_reduce, follow_reduction},
	{sl__ref_reduce_log_sum_exp, follow_reduction},
	{sl__ref_gather, follow_gather},
	{sl__ref_pad, follow_untouched},
	{sl__ref_slice, follow_untouched},
	{sl__ref_resize, follow_untouched},
	{sl__ref_shape, follow_shape},
	{sl__ref_constant, follow_constant},
};

void
sl__units_follow(struct sl__units *u, uint32_t node)
{
	const struct sl__node *n = &u->graph->nodes[node];
	int is_known = n->op && (!*n->domain || n->op->ref == sl__ref_unary ||
				 n->op->ref == sl__ref_layer_norm);

	for (size_t i = 0; is_known && i < sizeof(rules) / sizeof(rules[0]);
	     i++) {
		if (rules[i].ref == n->op->ref && rules[i].follow(u, n))
			return;
	}
	sl__units_hold_node(u, node);
}
