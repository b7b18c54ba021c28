/* SPDX-License-Identifier: Apache-2.0 */
/*
 * contrib_attention.c - the attentions of com.microsoft in the standard's
 * operators.
 *
 * ONNX Runtime's optimizers write Attention, QAttention and
 * MultiHeadAttention.  What these do besides attention (projections, biases,
 * masks of integers, a past in one tensor) has operators with fast kernels, and
 * so has what is left.  A form that is not known here stays as it is.
 */
#include "transform/expansion.h"
#include "transform/matching.h"
#include "transform/optimize.h"
#include "transform/rewrite_values.h"

#include "base/banned.h"

/* What an attention is about. */
struct attention {
	struct sl__expansion by;
	int64_t batch, queries, heads;
	int64_t width, value_width; /* of a head */
	int64_t past, total;        /* keys */
	uint32_t mask, bias;        /* inputs; SL__NONE */
	uint32_t parts[3];          /* Q, K, V */
	uint32_t earlier[2];        /* keys and values of the past; SL__NONE */
};

/* The value of the node's input i, which is of f32 with known sizes. */
static int
is_real_input(const struct attention *x, size_t i, int rank)
{
	uint32_t value = sl__rewrite_input(x->by.rw, x->by.id, i);

	return value != SL__NONE && sl__is_nonempty_f32(x->by.rw, value) &&
	       x->by.rw->types[value].rank == rank;
}

/* How a mask of integers says which keys count. */
enum mask_form {
	MASK_UNKNOWN = -1,
	MASK_NONE,
	MASK_KEYS,    /* [batch][keys] */
	MASK_QUERIES, /* [batch][queries][keys] */
	MASK_ENDS,    /* [batch]: so many first keys */
	MASK_RANGES   /* [2 * batch]: ends, then starts */
};

static enum mask_form
mask_form_of(const struct attention *x)
{
	const struct sl__type *type;

	if (x->mask == SL__NONE)
		return MASK_NONE;
	type = &x->by.rw->types[x->mask];
	if (!sl__has_known_shape(x->by.rw, x->mask) ||
	    type->dtype != SL_DTYPE_I32)
		return MASK_UNKNOWN;
	if (type->rank == 2 && type->dims[0] == x->batch &&
	    type->dims[1] == x->total)
		return MASK_KEYS;
	if (type->rank == 3 && type->dims[0] == x->batch &&
	    type->dims[1] == x->queries && type->dims[2] == x->total)
		return MASK_QUERIES;
	if (type->rank == 1 && type->dims[0] == x->batch)
		return MASK_ENDS;
	return type->rank == 1 && type->dims[0] == 2 * x->batch ? MASK_RANGES
								: MASK_UNKNOWN;
}

/* Numbers of the keys: 0, 1, 2 and so on. */
static uint32_t
add_places(const struct attention *x)
{
	int64_t *places =
		sl__rewrite_alloc(x->by.rw, (size_t)x->total, sizeof(*places));
	uint32_t id;

	for (int64_t i = 0; places && i < x->total; i++)
		places[i] = i;
	if (!places)
		return x->mask;
	id = sl__rewrite_add_integer_constant(x->by.rw, SL_DTYPE_I32, 1,
					      &x->total, places);
	return id;
}

/* Whether keys lie before their text's end and not before its start. */
static uint32_t
add_ranges(const struct attention *x, int has_starts)
{
	const int64_t column[] = {x->batch, 1}, keys[] = {x->batch, x->total};
	const int64_t halves[] = {x->batch, x->batch};
	uint32_t ends[2] = {x->mask, x->mask}, places = add_places(x), seen;

	if (has_starts)
		sl__expansion_add_split(&x->by, x->mask, 0, 2, halves, ends);
	for (int i = 0; i < 1 + has_starts; i++)
		ends[i] = sl__expansion_add_reshape(&x->by, ends[i], 2, column,
						    SL__NONE);
	seen = sl__expansion_add_joined(
		&x->by, "Greater", 13, (uint32_t[]){ends[0], places},
		sl__expansion_type(SL_DTYPE_BOOL, 2, keys));
	if (!has_starts)
		return seen;
	ends[1] = sl__expansion_add_joined(
		&x->by, "LessOrEqual", 16, (uint32_t[]){ends[1], places},
		sl__expansion_type(SL_DTYPE_BOOL, 2, keys));
	return sl__expansion_add_joined(
		&x->by, "And", 7, (uint32_t[]){seen, ends[1]},
		sl__expansion_type(SL_DTYPE_BOOL, 2, keys));
}

/* Which keys count, [batch][1][queries or 1][keys]. */
static uint32_t
add_seen(const struct attention *x, enum mask_form form)
{
	const int64_t rows = form == MASK_QUERIES ? x->queries : 1;
	const int64_t dims[] = {x->batch, 1, rows, x->total}, none = 0;
	const struct sl__type type = x->by.rw->types[x->mask];
	uint32_t seen;

	if (form == MASK_ENDS || form == MASK_RANGES)
		seen = add_ranges(x, form == MASK_RANGES);
	else
		seen = sl__expansion_add_joined(
			&x->by, "Greater", 13,
			(uint32_t[]){x->mask, sl__rewrite_add_integer_constant(
						      x->by.rw, SL_DTYPE_I32, 0,
						      NULL, &none)},
			sl__expansion_type(SL_DTYPE_BOOL, type.rank,
					   type.dims));
	return sl__expansion_add_reshape(&x->by, seen, 4, dims, SL__NONE);
}

/* What is added to the scores: a number that hides keys, and the model's own
 * bias; SL__NONE where there is neither. */
static uint32_t
add_mask(const struct attention *x, enum mask_form form, float hidden)
{
	const double nothing = 0, filter = (double)hidden;
	uint32_t made, seen;
	int64_t dims[4];
	struct sl__node_builder m;

	if (form == MASK_NONE || x->by.rw->rc)
		return x->bias;
	seen = add_seen(x, form);
	sl__expansion_begin(&m, &x->by, "", "Where", 16);
	sl__node_builder_add_input(&m, seen);
	sl__node_builder_add_input(
		&m, sl__rewrite_add_f32_constant(x->by.rw, 0, NULL, &nothing));
	sl__node_builder_add_input(
		&m, sl__rewrite_add_f32_constant(x->by.rw, 0, NULL, &filter));
	if (x->by.rw->rc)
		return x->bias;
	made = sl__expansion_finish(
		&m, &x->by,
		sl__expansion_value(&x->by, SL_DTYPE_F32, 4,
				    x->by.rw->types[seen].dims));
	if (x->bias == SL__NONE || x->by.rw->rc)
		return made;
	for (int d = 0; d < 4; d++) {
		dims[d] = x->by.rw->types[x->bias].dims[d];
		if (dims[d] == 1)
			dims[d] = x->by.rw->types[made].dims[d];
	}
	return sl__expansion_add_joined(
		&x->by, "Add", 14, (uint32_t[]){x->bias, made},
		sl__expansion_type(SL_DTYPE_F32, 4, dims));
}

/* Whether what is added to the scores has their sizes or 1. */
static int
fits_scores(const struct attention *x, size_t i)
{
	const int64_t whole[] = {x->batch, x->heads, x->queries, x->total};
	uint32_t value = sl__rewrite_input(x->by.rw, x->by.id, i);

	if (value == SL__NONE)
		return 1;
	if (!is_real_input(x, i, 4))
		return 0;
	for (int d = 0; d < 4; d++) {
		int64_t size = x->by.rw->types[value].dims[d];

		if (size != whole[d] && (d > 1 || size != 1))
			return 0;
	}
	return 1;
}

/* The Attention; its outputs are 'y' and, where they are values, what all
 * keys and values become. */
static void
add_attention(const struct attention *x, uint32_t mask, uint32_t y,
	      const uint32_t *present)
{
	const struct sl__node *old = &x->by.rw->nodes[x->by.id].node;
	double scale = sl__attribute_float(old, "scale", 0);
	int is_causal = sl__attribute_int(old, "unidirectional", 0) != 0;
	struct sl__node_builder m;

	sl__expansion_begin(&m, &x->by, "", "Attention", 23);
	if (x->by.rw->types[x->parts[0]].rank == 3) {
		sl__node_builder_set_int(&m, "q_num_heads", x->heads);
		sl__node_builder_set_int(&m, "kv_num_heads", x->heads);
	}
	if (scale > 0 || scale < 0)
		sl__node_builder_set_float(&m, "scale", (float)scale);
	if (is_causal)
		sl__node_builder_set_int(&m, "is_causal", 1);
	sl__node_builder_add_inputs(&m, x->parts, 3);
	if (mask != SL__NONE || x->earlier[0] != SL__NONE)
		sl__node_builder_add_input(&m, mask);
	if (x->earlier[0] != SL__NONE)
		sl__node_builder_add_inputs(&m, x->earlier, 2);
	sl__node_builder_add_output(&m, y);
	if (present[0] != SL__NONE || present[1] != SL__NONE) {
		sl__node_builder_add_output(&m, present[0]);
		sl__node_builder_add_output(&m, present[1]);
	}
	sl__node_builder_add_covered(&m, x->by.id);
	sl__node_builder_finish(&m);
}

/* Where the two operators with a weight keep their operands. */
struct projected {
	size_t bias, mask, past, scores;
};

/* Sizes of an Attention or QAttention; 0: of another form. */
static int
read_projected(struct attention *x, const struct projected *at,
	       int64_t widths[3])
{
	const struct sl__node *node = &x->by.rw->nodes[x->by.id].node;
	const struct sl__type *rows = &x->by.rw->types[node->inputs[0]];
	const struct sl__type *weight = &x->by.rw->types[node->inputs[1]];
	uint32_t past = sl__rewrite_input(x->by.rw, x->by.id, at->past);
	const int64_t *given;
	size_t n = sl__attribute_ints(node, "qkv_hidden_sizes", &given);

	if (!sl__has_known_shape(x->by.rw, node->inputs[0]) ||
	    rows->rank != 3 ||
	    !sl__has_known_shape(x->by.rw, node->inputs[1]) ||
	    weight->rank != 2 || (n != 0 && n != 3))
		return 0;
	for (int i = 0; i < 3; i++)
		widths[i] = n ? given[i] : weight->dims[1] / 3;
	x->batch = rows->dims[0];
	x->queries = rows->dims[1];
	x->heads = sl__attribute_int(node, "num_heads", 0);
	if (x->heads < 1 || widths[0] < 1 || widths[0] % x->heads ||
	    widths[0] != widths[1] || widths[2] < 1 || widths[2] % x->heads ||
	    widths[0] + widths[1] + widths[2] != weight->dims[1])
		return 0;
	x->width = widths[0] / x->heads;
	x->value_width = widths[2] / x->heads;
	if (past != SL__NONE &&
	    !sl__has_sizes(x->by.rw, past, 5,
			   (int64_t[]){2, x->batch, x->heads,
				       x->by.rw->types[past].dims[3],
				       x->width}))
		return 0;
	x->past = past == SL__NONE ? 0 : x->by.rw->types[past].dims[3];
	x->total = x->past + x->queries;
	x->mask = sl__rewrite_input(x->by.rw, x->by.id, at->mask);
	x->bias = sl__rewrite_input(x->by.rw, x->by.id, at->scores);
	return past == SL__NONE || x->width == x->value_width;
}

/* Rows times the weight, with its bias. */
static uint32_t
add_projection(const struct attention *x, const uint32_t *in)
{
	const int64_t dims[] = {x->batch, x->queries,
				x->heads * (2 * x->width + x->value_width)};

	return sl__expansion_add_joined(
		&x->by, "MatMul", 13, (uint32_t[]){in[0], in[1]},
		sl__expansion_type(SL_DTYPE_F32, 3, dims));
}

/* Likewise of integers, with their scales and zeros. */
static uint32_t
add_integer_projection(const struct attention *x, const uint32_t *in)
{
	const int64_t dims[] = {x->batch, x->queries,
				x->heads * (2 * x->width + x->value_width)};
	const uint32_t operands[] = {in[0], in[1], in[3], in[4],
				     in[6], in[7], in[2]};
	struct sl__node_builder m;

	sl__expansion_begin(&m, &x->by, "com.microsoft", "MatMulIntegerToFloat",
			    1);
	sl__node_builder_add_inputs(&m, operands, 7);
	return sl__expansion_finish(
		&m, &x->by, sl__expansion_value(&x->by, SL_DTYPE_F32, 3, dims));
}

/* Keys and values of the past, which lie in one tensor. */
static void
add_past(struct attention *x, uint32_t past)
{
	const int64_t ones[] = {1, 1};
	const int64_t dims[] = {x->batch, x->heads, x->past, x->width};

	if (past == SL__NONE || x->by.rw->rc)
		return;
	sl__expansion_add_split(&x->by, past, 0, 2, ones, x->earlier);
	for (int i = 0; i < 2; i++)
		x->earlier[i] = sl__expansion_add_reshape(&x->by, x->earlier[i],
							  4, dims, SL__NONE);
}

/* All keys and values in one tensor again. */
static void
add_present(const struct attention *x, const uint32_t *present, uint32_t out)
{
	const int64_t dims[] = {1, x->batch, x->heads, x->total, x->width};
	uint32_t both[2];
	struct sl__node_builder m;

	if (out == SL__NONE || x->by.rw->rc)
		return;
	for (int i = 0; i < 2; i++)
		both[i] = sl__expansion_add_reshape(&x->by, present[i], 5, dims,
						    SL__NONE);
	sl__expansion_begin(&m, &x->by, "", "Concat", 13);
	sl__node_builder_set_int(&m, "axis", 0);
	sl__node_builder_add_inputs(&m, both, 2);
	sl__expansion_finish(&m, &x->by, out);
}

static void
expand_projected(struct attention *x, const struct projected *at,
		 const int64_t *widths, enum mask_form form)
{
	struct sl__rewrite *rw = x->by.rw;
	int is_quantized =
		sl__rewrite_node_is_op(rw, x->by.id, SL__OP_MS_QAttention);
	const struct sl__node *node = &rw->nodes[x->by.id].node;
	const int64_t dims[] = {x->batch, x->heads, x->total, x->width};
	uint32_t in[9], present[2] = {SL__NONE, SL__NONE}, rows;
	uint32_t y = node->outputs[0];
	uint32_t both = node->n_outputs > 1 ? node->outputs[1] : SL__NONE;
	float hidden =
		(float)sl__attribute_float(node, "mask_filter_value", -10000);

	for (size_t i = 0; i < 9; i++)
		in[i] = sl__rewrite_input(rw, x->by.id, i);
	rows = is_quantized ? add_integer_projection(x, in)
			    : add_projection(x, in);
	if (!is_quantized && in[at->bias] != SL__NONE && !rw->rc)
		rows = sl__expansion_add_joined(
			&x->by, "Add", 14, (uint32_t[]){rows, in[at->bias]},
			sl__expansion_type(SL_DTYPE_F32, 3,
					   rw->types[rows].dims));
	sl__expansion_add_split(&x->by, rows, 2, 3, widths, x->parts);
	add_past(x, in[at->past]);
	for (int i = 0; both != SL__NONE && i < 2; i++)
		present[i] = sl__expansion_value(&x->by, SL_DTYPE_F32, 4, dims);
	if (!rw->rc)
		add_attention(x, add_mask(x, form, hidden), y, present);
	add_present(x, present, both);
}

static void
replace_projected(struct sl__rewrite *rw, uint32_t id)
{
	static const struct projected plain = {2, 3, 4, 5};
	static const struct projected quantized = {2, 5, 8, 9};
	const struct sl__node *node = &rw->nodes[id].node;
	int is_quantized = sl__rewrite_node_is_op(rw, id, SL__OP_MS_QAttention);
	const struct projected *at = is_quantized ? &quantized : &plain;
	struct attention x = {.by = {rw, id}, .earlier = {SL__NONE, SL__NONE}};
	enum mask_form form;
	int64_t widths[3];

	if (sl__attribute_int(node, "do_rotary", 0) ||
	    sl__attribute_int(node, "past_present_share_buffer", 0) ||
	    !read_projected(&x, at, widths))
		return;
	form = mask_form_of(&x);
	if (form == MASK_UNKNOWN || !fits_scores(&x, at->scores) ||
	    (node->n_outputs > 1 && x.width != x.value_width))
		return;
	if (!is_quantized &&
	    (!is_real_input(&x, 0, 3) || !is_real_input(&x, 1, 2) ||
	     (sl__rewrite_input(rw, id, 2) != SL__NONE &&
	      !is_real_input(&x, 2, 1))))
		return;
	expand_projected(&x, at, widths, form);
}

/* Sizes of a MultiHeadAttention whose queries are rows; keys and values are
 * rows too, or heads that another projection made. */
static int
read_multi_head(struct attention *x)
{
	struct sl__rewrite *rw = x->by.rw;
	const struct sl__node *node = &rw->nodes[x->by.id].node;
	const struct sl__type *q = &rw->types[node->inputs[0]], *k, *v;
	int rank;

	x->heads = sl__attribute_int(node, "num_heads", 0);
	if (!is_real_input(x, 0, 3) ||
	    sl__rewrite_input(rw, x->by.id, 1) == SL__NONE)
		return 0;
	k = &rw->types[node->inputs[1]];
	rank = k->rank;
	if ((rank != 3 && rank != 4) || !is_real_input(x, 1, rank) ||
	    !is_real_input(x, 2, rank) || x->heads < 1)
		return 0;
	v = &rw->types[node->inputs[2]];
	if (q->dims[2] % x->heads ||
	    (rank == 3 && (k->dims[2] != q->dims[2] || v->dims[2] % x->heads ||
			   v->dims[1] != k->dims[1])) ||
	    (rank == 4 &&
	     (k->dims[1] != x->heads || v->dims[1] != x->heads ||
	      v->dims[2] != k->dims[2] || k->dims[3] * x->heads != q->dims[2])))
		return 0;
	x->batch = q->dims[0];
	x->queries = q->dims[1];
	x->width = q->dims[2] / x->heads;
	x->value_width = rank == 4 ? v->dims[3] : v->dims[2] / x->heads;
	x->total = k->dims[rank - 2];
	x->mask = sl__rewrite_input(rw, x->by.id, 4);
	x->bias = sl__rewrite_input(rw, x->by.id, 5);
	return k->dims[0] == x->batch && v->dims[0] == x->batch;
}

/* Earlier keys and values, as heads. */
static int
read_multi_head_past(struct attention *x)
{
	struct sl__rewrite *rw = x->by.rw;
	uint32_t key = sl__rewrite_input(rw, x->by.id, 6);
	uint32_t value = sl__rewrite_input(rw, x->by.id, 7);
	int64_t dims[] = {x->batch, x->heads, 0, x->width};

	if (key == SL__NONE && value == SL__NONE)
		return 1;
	if (key == SL__NONE || value == SL__NONE || !is_real_input(x, 6, 4) ||
	    !is_real_input(x, 7, 4))
		return 0;
	dims[2] = x->past = rw->types[key].dims[2];
	x->total += x->past;
	x->earlier[0] = key;
	x->earlier[1] = value;
	if (!sl__has_sizes(rw, key, 4, dims))
		return 0;
	dims[3] = x->value_width;
	return sl__has_sizes(rw, value, 4, dims);
}

/* The bias that is added to Q, K and V, one after the other: its parts become
 * constants of their own.  Heads that another projection made take none. */
static int
read_biases(const struct attention *x, uint32_t parts[3])
{
	struct sl__rewrite *rw = x->by.rw;
	uint32_t value = sl__rewrite_input(rw, x->by.id, 3);
	const struct sl__tensor *t;
	int64_t first = 0;

	for (int i = 0; i < 3; i++)
		parts[i] = SL__NONE;
	if (value == SL__NONE)
		return 1;
	t = sl__tensor_constant_read(rw, value);
	if (!t || t->n_elements != (uint64_t)(x->heads *
					      (2 * x->width + x->value_width)))
		return 0;
	for (int i = 0; i < 3; i++) {
		int64_t n = x->heads * (i == 2 ? x->value_width : x->width);
		double *numbers =
			sl__rewrite_alloc(rw, (size_t)n, sizeof(*numbers));

		if (!numbers ||
		    !sl__tensor_doubles(t, (uint64_t)first, (size_t)n, numbers))
			return 0;
		first += n;
		if (rw->types[sl__rewrite_input(rw, x->by.id, (size_t)i)]
			    .rank == 3)
			parts[i] = sl__rewrite_add_f32_constant(rw, 1, &n,
								numbers);
	}
	return 1;
}

/* The Attention, and the way to it and back where keys are heads. */
static void
expand_multi_head(struct attention *x, const uint32_t *biases,
		  enum mask_form form)
{
	struct sl__rewrite *rw = x->by.rw;
	const struct sl__node *node = &rw->nodes[x->by.id].node;
	const int64_t apart[] = {x->batch, x->queries, x->heads, x->width};
	const int64_t heads[] = {x->batch, x->heads, x->queries,
				 x->value_width};
	const int64_t flat[] = {x->batch, x->queries,
				x->heads * x->value_width};
	static const int64_t exchange[] = {0, 2, 1, 3};
	uint32_t out[3] = {SL__NONE, SL__NONE, SL__NONE}, y;
	float hidden =
		(float)sl__attribute_float(node, "mask_filter_value", -10000);
	int is_flat;

	for (size_t i = 0; i < 3; i++) {
		x->parts[i] = sl__rewrite_input(rw, x->by.id, i);
		out[i] = i < node->n_outputs ? node->outputs[i] : SL__NONE;
	}
	is_flat = rw->types[x->parts[1]].rank == 3;
	for (int i = 0; i < 3 && !rw->rc; i++) {
		const struct sl__type *type = &rw->types[x->parts[i]];

		if (biases[i] != SL__NONE)
			x->parts[i] = sl__expansion_add_joined(
				&x->by, "Add", 14,
				(uint32_t[]){x->parts[i], biases[i]},
				sl__expansion_type(SL_DTYPE_F32, 3,
						   type->dims));
	}
	if (!is_flat)
		x->parts[0] = sl__expansion_add_transpose(
			&x->by,
			sl__expansion_add_reshape(&x->by, x->parts[0], 4, apart,
						  SL__NONE),
			exchange, SL__NONE);
	y = is_flat ? out[0]
		    : sl__expansion_value(&x->by, SL_DTYPE_F32, 4, heads);
	if (rw->rc)
		return;
	add_attention(x, add_mask(x, form, hidden), y, out + 1);
	if (!is_flat)
		sl__expansion_add_reshape(&x->by,
					  sl__expansion_add_transpose(&x->by, y,
								      exchange,
								      SL__NONE),
					  3, flat, out[0]);
}

static void
replace_multi_head(struct sl__rewrite *rw, uint32_t id)
{
	const struct sl__node *node = &rw->nodes[id].node;
	struct attention x = {.by = {rw, id}, .earlier = {SL__NONE, SL__NONE}};
	uint32_t biases[3];
	enum mask_form form;

	if (sl__rewrite_input(rw, id, 8) != SL__NONE ||
	    sl__rewrite_input(rw, id, 9) != SL__NONE ||
	    (node->n_outputs > 3 && node->outputs[3] != SL__NONE) ||
	    !read_multi_head(&x) || !read_multi_head_past(&x))
		return;
	form = mask_form_of(&x);
	if (form == MASK_UNKNOWN || !fits_scores(&x, 5) ||
	    !read_biases(&x, biases))
		return;
	expand_multi_head(&x, biases, form);
}

/* The one that has no reference kernel is always expanded. */
void
sl__pass_quantized_attention(struct sl__rewrite *rw)
{
	static const enum sl__op_id ops[] = {SL__OP_MS_QAttention};

	sl__rewrite_each_node(rw, ops, 1, 0, replace_projected);
}

void
sl__pass_contrib_attention(struct sl__rewrite *rw)
{
	static const enum sl__op_id projected[] = {SL__OP_MS_Attention};
	static const enum sl__op_id multi_head[] = {
		SL__OP_MS_MultiHeadAttention};

	sl__rewrite_each_node(rw, projected, 1, 0, replace_projected);
	sl__rewrite_each_node(rw, multi_head, 1, 0, replace_multi_head);
}
