/* SPDX-License-Identifier: Apache-2.0 */
/*
 * native_norm.c - normalizations.
 *
 * All take rows, find mean and deviation of each, and scale what is left
 * (compute/norm_row.h).  LayerNormalization
 * and its kin have scale and bias for each element of a row; those of images
 * (InstanceNormalization, GroupNormalization) for spans
 * of elements.  Rows of bf16 are converted on their way in and out.
 */
#include "compute/element_conversion.h"
#include "compute/norm_row.h"
#include "engine/node_steps.h"

#include "base/banned.h"

enum { NOWHERE = -1 };

/* Operands by number of the step's; NOWHERE: left out. */
struct layers {
	int64_t n_rows, length, skip_rows;
	int is_centred;
	float epsilon;
	enum sl_dtype from, to; /* of x and y */
	int x, skip, skip_bias, scale, bias;
	int y, mean, deviation, sum;
	int scratch; /* rows of f32, one for each thread */
	struct sl__norm norm;
	unsigned char **at;
};

static float *
reals(const struct layers *l, int operand, int64_t offset)
{
	return operand == NOWHERE ? NULL
				  : (float *)(void *)l->at[operand] + offset;
}

/* x + skip + bias of one row, where f32 may be kept. */
static void
add_skip(const struct layers *l, int64_t row, float *to)
{
	struct sl__norm_row r = {.n = l->length, .y = to};

	if (l->skip != NOWHERE) {
		r.x = reals(l, l->skip, row % l->skip_rows * l->length);
		l->norm.add(&r);
	}
	if (l->skip_bias != NOWHERE) {
		r.x = reals(l, l->skip_bias, 0);
		l->norm.add(&r);
	}
}

static void
layers_row(const struct layers *l, int64_t row, float *scratch)
{
	int64_t at = row * l->length;
	int64_t from = (int64_t)(sl_dtype_bits(l->from) / 8);
	int64_t to = (int64_t)(sl_dtype_bits(l->to) / 8);
	const unsigned char *x = l->at[l->x] + at * from;
	struct sl__norm_row r = {.n = l->length, .y = scratch};

	r.x = (const float *)(const void *)x;
	if (l->sum != NOWHERE)
		scratch = reals(l, l->sum, at);
	if (l->from != SL_DTYPE_F32 || l->skip != NOWHERE) {
		sl__numbers_to_f32(l->from, x, l->length, scratch);
		add_skip(l, row, scratch);
		r.x = scratch;
	}
	l->norm.measure(&r, l->is_centred, l->epsilon);
	if (l->mean != NOWHERE)
		*reals(l, l->mean, row) = r.mean;
	if (l->deviation != NOWHERE)
		*reals(l, l->deviation, row) = r.factor;
	r.scale = reals(l, l->scale, 0);
	r.bias = reals(l, l->bias, 0);
	if (l->to == SL_DTYPE_F32)
		r.y = reals(l, l->y, at);
	l->norm.scale(&r);
	if (l->to != SL_DTYPE_F32)
		sl__numbers_from_f32(l->to, r.y, l->length,
				     l->at[l->y] + at * to);
}

static void
layers_part(int rank, int n_ranks, void *ctx)
{
	const struct layers *l = ctx;
	float *scratch = reals(l, l->scratch, rank * l->length);
	int64_t first, end;

	sl__parallel_range(l->n_rows, rank, n_ranks, &first, &end);
	for (int64_t row = first; row < end; row++)
		layers_row(l, row, scratch);
}

/* Which inputs and outputs an operator has, by number; NOWHERE: none. */
struct signature {
	const char *kernel;
	int skip, scale, bias, skip_bias; /* inputs */
	int mean, deviation, sum;         /* outputs */
	int is_centred;
	double epsilon;
};

static const struct signature signatures[SL__N_OPS] = {
	[SL__OP_ONNX_LayerNormalization] = {"layer_norm", -1, 1, 2, -1, 1, 2,
					    -1, 1, 1e-5},
	[SL__OP_MS_LayerNormalization] = {"layer_norm", -1, 1, 2, -1, 1, 2, -1,
					  1, 1e-5},
	[SL__OP_ONNX_RMSNormalization] = {"rms_norm", -1, 1, -1, -1, -1, 1, -1,
					  0, 1e-5},
	[SL__OP_ONNX_SimplifiedLayerNormalization] = {"rms_norm", -1, 1, -1, -1,
						      -1, 1, -1, 0, 1e-5},
	[SL__OP_MS_SimplifiedLayerNormalization] = {"rms_norm", -1, 1, -1, -1,
						    -1, 1, -1, 0, 1e-5},
	[SL__OP_MS_SkipLayerNormalization] = {"skip_layer_norm", 1, 2, 3, 4, 1,
					      2, 3, 1, 1e-12},
	[SL__OP_MS_SkipSimplifiedLayerNormalization] = {"skip_rms_norm", 1, 2,
							-1, 3, 1, 2, 3, 0,
							1e-12},
};

/* An input of f32 whose last dimensions are those of a row, and which has
 * nothing else unless it may have rows. */
static int
fits_rows(const struct sl__planner *pl, const struct sl__node *node, int i,
	  const struct layers *l, int64_t *n_rows)
{
	uint32_t value = i < 0 ? SL__NONE
			       : sl__plan_node_input(node, (size_t)i);
	const struct sl__type *x = sl__plan_node_input_type(pl, node, 0);
	const struct sl__type *type;
	int64_t n = 1;
	int is_repeated = 0;

	if (value == SL__NONE)
		return 1;
	type = sl__plan_value_type(pl, value);
	if (type->dtype != SL_DTYPE_F32 || type->rank > x->rank)
		return 0;
	/* The row's own sizes, then those of rows, then only 1. */
	for (int d = type->rank - 1; d >= 0; d--) {
		int64_t size = x->dims[x->rank - type->rank + d];

		if (type->dims[d] != (is_repeated ? 1 : size)) {
			if (type->dims[d] != 1 || n < l->length)
				return 0;
			is_repeated = 1;
		}
		n *= type->dims[d];
	}
	if (n_rows)
		*n_rows = n / l->length;
	return n_rows ? n % l->length == 0 && l->n_rows % *n_rows == 0
		      : n == l->length;
}

static int
read_layers(const struct sl__planner *pl, const struct sl__node *node,
	    struct layers *l)
{
	const struct signature *s = &signatures[node->op - sl__ops];
	const struct sl__type *x = sl__plan_node_input_type(pl, node, 0);
	int64_t given = s->skip < 0 ? sl__attribute_int(node, "axis", -1) : -1;
	int axis = sl__axis_normalize(given, x->rank);

	if (x->dtype != SL_DTYPE_F32 || axis < 0 ||
	    !sl__plan_value_n_elements(pl, sl__plan_node_input(node, 0)))
		return 0;
	l->n_rows = sl__sizes_product(x, 0, axis);
	l->length = sl__sizes_product(x, axis, x->rank);
	for (uint32_t k = 0; k < node->n_outputs; k++) {
		if (node->outputs[k] != SL__NONE &&
		    sl__plan_value_type(pl, node->outputs[k])->dtype !=
			    SL_DTYPE_F32)
			return 0;
	}
	l->is_centred = s->is_centred;
	l->epsilon = (float)sl__attribute_float(node, "epsilon", s->epsilon);
	l->norm = sl__norm_for();
	return fits_rows(pl, node, s->scale, l, NULL) &&
	       fits_rows(pl, node, s->bias, l, NULL) &&
	       fits_rows(pl, node, s->skip_bias, l, NULL) &&
	       fits_rows(pl, node, s->skip, l, &l->skip_rows);
}

/* Operands of a step while they are collected. */
struct operands {
	struct sl__planner *pl;
	const struct sl__node *node;
	uint32_t at[12];
	uint32_t n;
};

static int
take_in(struct operands *o, int i, const struct sl__layout *layout)
{
	uint32_t value = i < 0 ? SL__NONE
			       : sl__plan_node_input(o->node, (size_t)i);

	if (value == SL__NONE)
		return NOWHERE;
	o->at[o->n] = sl__plan_input_buffer(o->pl, value, layout);
	return (int)o->n++;
}

static int
take_out(struct operands *o, int k, const struct sl__layout *layout)
{
	uint32_t value = k < 0 ? SL__NONE
			       : sl__plan_node_output(o->node, (size_t)k);

	if (value == SL__NONE)
		return NOWHERE;
	o->at[o->n] = sl__plan_output_buffer(o->pl, value, layout);
	return (int)o->n++;
}

int
sl__make_layer_norm(struct sl__planner *pl, const struct sl__node *node)
{
	const struct signature *s = &signatures[node->op - sl__ops];
	struct layers *l = sl__plan_alloc_state(pl, sizeof(*l));
	struct operands o = {.pl = pl, .node = node};
	const struct sl__layout *layout = NULL;

	if (!l || !read_layers(pl, node, l))
		return 0;
	/* x and y are bf16 where x is and products want it. */
	if (pl->dtype == SL_DTYPE_BF16)
		layout = sl__plan_find_bf16_layout(pl, node->inputs[0]);
	l->from = l->to = layout ? SL_DTYPE_BF16 : SL_DTYPE_F32;
	l->x = take_in(&o, 0, layout);
	l->skip = take_in(&o, s->skip, NULL);
	l->scale = take_in(&o, s->scale, NULL);
	l->bias = take_in(&o, s->bias, NULL);
	l->skip_bias = take_in(&o, s->skip_bias, NULL);
	l->y = take_out(&o, 0, layout);
	l->mean = take_out(&o, s->mean, NULL);
	l->deviation = take_out(&o, s->deviation, NULL);
	l->sum = take_out(&o, s->sum, NULL);
	l->scratch = (int)o.n;
	o.at[o.n++] = sl__plan_workspace(
		pl,
		(uint64_t)(pl->program->n_threads * l->length) * sizeof(float));
	l->at = sl__plan_add_parallel_step(pl, o.at, o.n, s->kernel,
					   layers_part, l)
			->at;
	return 1;
}

/*
 * Rows of 'length' elements in spans of 'span', each of which has a scale and
 * a bias; these start again after n_parts.
 */
struct spans {
	int64_t n_rows, length, span, n_parts;
	float epsilon;
	struct sl__norm norm;
	unsigned char **at; /* x, scale, bias, y */
};

static void
spans_row(const struct spans *s, int64_t row)
{
	const float *scale = (const float *)(void *)s->at[1];
	const float *bias = (const float *)(void *)s->at[2];
	const float *x = (const float *)(void *)s->at[0] + row * s->length;
	float *y = (float *)(void *)s->at[3] + row * s->length;
	int64_t part = row * s->length / s->span % s->n_parts;
	struct sl__norm_row all = {.n = s->length, .x = x};

	s->norm.measure(&all, 1, s->epsilon);
	for (int64_t i = 0; i < s->length; i += s->span) {
		struct sl__norm_row r = {.n = s->span, .x = x + i, .y = y + i};

		r.mean = all.mean;
		r.factor = all.factor * scale[part];
		r.offset = bias[part];
		s->norm.shift(&r);
		part = part + 1 == s->n_parts ? 0 : part + 1;
	}
}

static void
spans_part(int rank, int n_ranks, void *ctx)
{
	const struct spans *s = ctx;
	int64_t first, end;

	sl__parallel_range(s->n_rows, rank, n_ranks, &first, &end);
	for (int64_t row = first; row < end; row++)
		spans_row(s, row);
}

/* All inputs are f32, and those after the first have n_parts numbers. */
static int
fits_parts(const struct sl__planner *pl, const struct sl__node *node,
	   const struct spans *s)
{
	for (uint32_t i = 0; i < 3; i++) {
		uint32_t value = sl__plan_node_input(node, i);

		if (value == SL__NONE ||
		    sl__plan_value_type(pl, value)->dtype != SL_DTYPE_F32 ||
		    (i && sl__plan_value_n_elements(pl, value) !=
				  (uint64_t)s->n_parts))
			return 0;
	}
	return 1;
}

/* Version 18 of GroupNormalization scales groups, later ones channels;
 * InstanceNormalization has as many groups as channels. */
int
sl__make_group_norm(struct sl__planner *pl, const struct sl__node *node)
{
	const struct sl__type *x = sl__plan_node_input_type(pl, node, 0);
	int is_instance = sl__is_op(node, SL__OP_ONNX_InstanceNormalization);
	struct spans *s = sl__plan_alloc_state(pl, sizeof(*s));
	uint32_t at[4];
	int64_t groups;

	if (!s || x->rank < 2 ||
	    !sl__plan_value_n_elements(pl, node->inputs[0]))
		return 0;
	groups = is_instance ? x->dims[1]
			     : sl__attribute_int(node, "num_groups", 1);
	if (groups < 1 || x->dims[1] % groups)
		return 0;
	s->n_parts = x->dims[1];
	s->span = sl__sizes_product(x, 2, x->rank);
	s->n_rows = x->dims[0] * groups;
	s->length = x->dims[1] / groups * s->span;
	if (!is_instance && node->version < 21) {
		s->n_parts = groups;
		s->span = s->length;
	}
	if (!fits_parts(pl, node, s))
		return 0;
	s->epsilon = (float)sl__attribute_float(node, "epsilon", 1e-5);
	s->norm = sl__norm_for();
	for (size_t i = 0; i < 3; i++)
		at[i] = sl__plan_input_buffer(pl, node->inputs[i], NULL);
	at[3] = sl__plan_output_over_first(pl, node->outputs[0], at, 3);
	s->at = sl__plan_add_parallel_step(
			pl, at, 4, is_instance ? "instance_norm" : "group_norm",
			spans_part, s)
			->at;
	return 1;
}
