/* SPDX-License-Identifier: Apache-2.0 */
/* conv_read.c - what a node convolves. */
#include "engine/conv.h"
#include "graph/infer.h"
#include "graph/op_rules.h"
#include "ops/window.h"

#include <math.h>
#include <string.h>

#include "base/banned.h"

/* MS FusedConv: a fourth input is added, then an activation follows. */
static int
read_fused_end(struct sl__conv *c)
{
	static const struct {
		const char *name;
		enum sl__post_op_kind kind;
		double alpha, beta;
	} rows[] = {
		{"Relu", SL__POST_OP_RELU, 0, 0},
		{"LeakyRelu", SL__POST_OP_LEAKY_RELU, .01, 0},
		{"Tanh", SL__POST_OP_TANH, 0, 0},
		{"Sigmoid", SL__POST_OP_SIGMOID, 0, 0},
		{"Clip", SL__POST_OP_CLIP, -HUGE_VAL, HUGE_VAL},
		{"HardSigmoid", SL__POST_OP_HARD_SIGMOID, .2, .5},
	};
	const struct sl__node *node = c->node;
	const char *word = sl__attribute_string(node, "activation", "");
	const struct sl__attribute *list =
		sl__attribute_find(node, "activation_params");
	struct sl__post_op *post_op;

	if (sl__plan_node_input(node, 3) != SL__NONE) {
		c->post_ops[0].kind = SL__POST_OP_ADD;
		c->post_ops[0].input = 3;
		c->n_post_ops = 1;
	}
	if (!*word || !strcmp(word, "none"))
		return 1;
	post_op = &c->post_ops[c->n_post_ops];
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (strcmp(word, rows[i].name))
			continue;
		post_op->kind = rows[i].kind;
		post_op->alpha = (float)sl__attribute_float(
			node, "activation_alpha", rows[i].alpha);
		post_op->beta = (float)sl__attribute_float(
			node, "activation_beta", rows[i].beta);
		if (list && list->kind == SL__ATTRIBUTE_FLOATS && list->n > 0)
			post_op->alpha = list->floats[0];
		if (list && list->kind == SL__ATTRIBUTE_FLOATS && list->n > 1)
			post_op->beta = list->floats[1];
		c->n_post_ops++;
		return 1;
	}
	return 0;
}

static int
read_end(struct sl__conv *c)
{
	if (sl__is_op(c->node, SL__OP_MS_FusedConv))
		return read_fused_end(c);
	if (sl__is_op(c->node, SL__OP_SLEUTH_Conv))
		c->n_post_ops = sl__post_ops_read(c->node, c->post_ops);
	return c->n_post_ops >= 0;
}

/* Whether a second operand is broadcast to the result. */
static int
is_operand_fit(const struct sl__conv *c, const struct sl__planner *pl,
	       uint32_t value)
{
	const struct sl__type *y = sl__plan_value_type(pl, c->y), *z;
	int shift;

	if (value == SL__NONE)
		return 0;
	z = sl__plan_value_type(pl, value);
	shift = y->rank - z->rank;
	if (shift < 0 ||
	    (z->dtype != SL_DTYPE_F32 && z->dtype != SL_DTYPE_BF16))
		return 0;
	for (int d = 0; d < z->rank; d++) {
		if (z->dims[d] != 1 && z->dims[d] != y->dims[d + shift])
			return 0;
	}
	return 1;
}

static int
are_operands_fit(const struct sl__conv *c, const struct sl__planner *pl)
{
	for (int i = 0; i < c->n_post_ops; i++) {
		if ((c->post_ops[i].kind == SL__POST_OP_ADD ||
		     c->post_ops[i].kind == SL__POST_OP_MUL) &&
		    !is_operand_fit(
			    c, pl,
			    sl__plan_node_input(c->node, c->post_ops[i].input)))
			return 0;
	}
	return 1;
}

/* Numbers that kernels compute with, one type for all but the bias. */
static int
read_types(struct sl__conv *c, const struct sl__planner *pl)
{
	const struct sl__type *x = sl__plan_value_type(pl, c->x);
	const struct sl__type *w = sl__plan_value_type(pl, c->w);

	c->rank = x->rank;
	c->dtype = x->dtype == SL_DTYPE_F32 ? pl->dtype : x->dtype;
	return (x->dtype == SL_DTYPE_F32 || x->dtype == SL_DTYPE_BF16) &&
	       w->dtype == x->dtype && x->rank == w->rank && x->rank >= 3 &&
	       x->rank <= 5 && sl__plan_value_n_elements(pl, c->y) &&
	       sl__plan_value_n_elements(pl, c->x) &&
	       sl__plan_value_n_elements(pl, c->w);
}

/*
 * The pads that follow from all sizes: given ones may leave a rest that no
 * window reaches, and output_padding and output_shape move the end.
 */
static void
pad_transposed(struct sl__conv *c, struct sl__window *w, const int64_t *in,
	       const int64_t *out)
{
	const int64_t *more, *shape;
	size_t n_more = sl__attribute_ints(c->node, "output_padding", &more);
	int is_shared = sl__attribute_ints(c->node, "output_shape", &shape) ||
			w->padding == SL__PADDING_SAME;

	for (int d = 0; d < w->n; d++) {
		int64_t reach = (in[d] - 1) * w->strides[d] +
				sl__window_extent(w, d) - out[d];

		if (is_shared)
			sl__window_split_pads(
				w, d,
				reach + (n_more == (size_t)w->n ? more[d] : 0));
		c->window.after[d] = reach - w->pads_before[d];
	}
}

int
sl__conv_read_window(struct sl__conv *c, const struct sl__planner *pl)
{
	const int64_t *in = sl__plan_value_type(pl, c->x)->dims + 2;
	const int64_t *out = sl__plan_value_type(pl, c->y)->dims + 2;
	struct sl__window w;

	if (sl__window_read_from_node(&w, c->node, c->rank - 2,
				      sl__plan_value_type(pl, c->w)->dims + 2,
				      NULL))
		return 0;
	if (!c->is_transposed)
		sl__window_fill_same_pads(&w, in, out);
	for (int d = 0; d < w.n; d++)
		c->window.after[d] = w.pads_after[d];
	if (c->is_transposed)
		pad_transposed(c, &w, in, out);
	for (int d = 0; d < w.n; d++) {
		c->window.kernel[d] = w.kernel[d];
		c->window.strides[d] = w.strides[d];
		c->window.dilates[d] = w.dilations[d] - 1;
		c->window.before[d] = w.pads_before[d];
		if (w.kernel[d] > INT16_MAX || w.strides[d] > INT16_MAX ||
		    w.dilations[d] > INT16_MAX)
			return 0;
	}
	return 1;
}

int
sl__conv_read(struct sl__conv *c, struct sl__planner *pl,
	      const struct sl__node *node)
{
	memset(c, 0, sizeof(*c));
	c->node = node;
	c->x = sl__plan_node_input(node, 0);
	c->w = sl__plan_node_input(node, 1);
	c->b = sl__plan_node_input(node, 2);
	c->y = sl__plan_node_output(node, 0);
	c->sum = -1;
	c->is_transposed = sl__is_op(node, SL__OP_ONNX_ConvTranspose);
	c->n_groups = sl__attribute_int(node, "group", 1);
	if (c->x == SL__NONE || c->w == SL__NONE || c->y == SL__NONE ||
	    c->n_groups < 1 || !read_types(c, pl))
		return 0;
	/* Weights that are made on the way cannot be seen in groups. */
	if (!pl->graph->values[c->w].tensor &&
	    (c->n_groups > 1 || c->is_transposed))
		return 0;
	return sl__plan_value_type(pl, c->w)->dims[0] % c->n_groups == 0 &&
	       read_end(c) && are_operands_fit(c, pl) &&
	       sl__conv_read_window(c, pl);
}

int
sl__conv_operand_is_same_size(const struct sl__planner *pl,
			      const struct sl__conv *conv, int post_op)
{
	const struct sl__type *y = sl__plan_value_type(pl, conv->y);
	const struct sl__type *z = sl__plan_value_type(
		pl,
		sl__plan_node_input(conv->node, conv->post_ops[post_op].input));

	return z->dtype == y->dtype && z->rank == y->rank &&
	       !memcmp(z->dims, y->dims, (size_t)y->rank * sizeof(*y->dims));
}
