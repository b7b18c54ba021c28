/* SPDX-License-Identifier: Apache-2.0 */
/* quantized_conv_read.c - a convolution of bytes as its kernels see it. */
#include "engine/quantized_conv.h"
#include "engine/quantized.h"

#include "base/banned.h"

/* The pads that follow from all sizes: those of the node may reach further. */
static int
read_window(struct sl__quantized_conv *q, struct sl__planner *pl)
{
	struct sl__conv *c = &q->conv;
	struct sl__image_window *w = &c->window;
	const int64_t *in = sl__plan_value_type(pl, c->x)->dims + 2;
	const int64_t *out = sl__plan_value_type(pl, c->y)->dims + 2;

	if (!sl__conv_read_window(c, pl))
		return 0;
	for (int d = 0; d < c->rank - 2; d++) {
		w->after[d] = (out[d] - 1) * w->strides[d] +
			      (w->kernel[d] - 1) * (w->dilates[d] + 1) + 1 -
			      in[d] - w->before[d];
		q->is_padded |= w->before[d] > 0 || w->after[d] > 0;
	}
	return 1;
}

/* Where the parts stand among the inputs. */
static int
read_values(struct sl__quantized_conv *q, struct sl__planner *pl,
	    const struct sl__node *node)
{
	struct sl__conv *c = &q->conv;
	const struct sl__type *x, *w;

	q->is_integer = sl__is_op(node, SL__OP_ONNX_ConvInteger);
	c->node = node;
	c->x = sl__plan_node_input(node, 0);
	c->w = sl__plan_node_input(node, q->is_integer ? 1 : 3);
	c->b = q->is_integer ? SL__NONE : sl__plan_node_input(node, 8);
	c->y = sl__plan_node_output(node, 0);
	c->n_groups = sl__attribute_int(node, "group", 1);
	c->sum = -1;
	if (c->x == SL__NONE || c->w == SL__NONE || c->y == SL__NONE ||
	    c->n_groups < 1 || sl__attribute_int(node, "channels_last", 0) ||
	    !sl__plan_constant_tensor(pl, c->w))
		return 0;
	x = sl__plan_value_type(pl, c->x);
	w = sl__plan_value_type(pl, c->w);
	c->rank = x->rank;
	if (!sl__is_8bit_integer(x->dtype) || !sl__is_8bit_integer(w->dtype) ||
	    x->rank != w->rank || x->rank < 3 || x->rank > 5 ||
	    !sl__plan_value_n_elements(pl, c->x) ||
	    !sl__plan_value_n_elements(pl, c->w) ||
	    !sl__plan_value_n_elements(pl, c->y) || w->dims[0] % c->n_groups)
		return 0;
	q->n_out = (size_t)w->dims[0];
	q->length = (size_t)sl__plan_value_n_elements(pl, c->w) / q->n_out;
	return read_window(q, pl);
}

/* Storage for one number per channel of each kind; 0: a failure. */
static int
add_lists(struct sl__quantized_conv *q, struct sl__planner *pl)
{
	q->factors = sl__plan_alloc_state(pl, q->n_out * sizeof(*q->factors));
	q->bias = sl__plan_alloc_state(pl, q->n_out * sizeof(*q->bias));
	q->sums = sl__plan_alloc_state(pl, q->n_out * sizeof(*q->sums));
	return !pl->rc;
}

/* As the definition has it: a product in f32, then a quotient. */
static int
read_factors(struct sl__quantized_conv *q, struct sl__planner *pl)
{
	const struct sl__node *node = q->conv.node;
	struct sl__quantization_params x, y;

	if (!sl__quantization_params_read(&x, pl, sl__plan_node_input(node, 1),
					  sl__plan_node_input(node, 2)) ||
	    !sl__quantization_params_read(&y, pl, sl__plan_node_input(node, 6),
					  sl__plan_node_input(node, 7)) ||
	    !sl__channel_scales_read(q->factors, pl,
				     sl__plan_node_input(node, 4), q->n_out))
		return 0;
	for (size_t i = 0; i < q->n_out; i++)
		q->factors[i] = x.by * q->factors[i] / y.by;
	q->x_zero = x.at;
	q->y_zero = y.at;
	return 1;
}

static int
read_x_zero(struct sl__quantized_conv *q, struct sl__planner *pl)
{
	uint32_t value = sl__plan_node_input(q->conv.node, 2);
	const struct sl__tensor *t = sl__plan_constant_tensor(pl, value);

	for (size_t i = 0; i < q->n_out; i++)
		q->factors[i] = 1;
	if (!sl__zero_points_read(&q->x_zero, pl, value, 1))
		return 0;
	q->x_zero += t && t->dtype == SL_DTYPE_U8 ? 128 : 0;
	return 1;
}

/* Weights have no zero point once they are int8. */
static int
is_centred(struct sl__quantized_conv *q, struct sl__planner *pl)
{
	uint32_t zero =
		sl__plan_node_input(q->conv.node, q->is_integer ? 3 : 5);
	enum sl_dtype dtype = sl__plan_value_type(pl, q->conv.w)->dtype;

	if (zero == SL__NONE)
		return dtype == SL_DTYPE_I8;
	if (!sl__zero_points_read(q->sums, pl, zero, q->n_out))
		return 0;
	for (size_t i = 0; i < q->n_out; i++) {
		if (q->sums[i])
			return 0;
	}
	return 1;
}

static int
read_bias(struct sl__quantized_conv *q, struct sl__planner *pl)
{
	const struct sl__tensor *t = sl__plan_constant_tensor(pl, q->conv.b);

	if (q->conv.b == SL__NONE)
		return 1;
	if (!t || t->dtype != SL_DTYPE_I32 || t->n_elements != q->n_out)
		return 0;
	for (size_t i = 0; i < q->n_out; i++) {
		int64_t x;

		if (!sl__tensor_integers(t, i, 1, &x))
			return 0;
		q->bias[i] = (int32_t)x;
	}
	return 1;
}

/* Sums of each channel's weights, once they are int8. */
static int
sum_weights(struct sl__quantized_conv *q, struct sl__planner *pl)
{
	int8_t *copy;
	const int8_t *w = sl__int8_weights(pl, q->conv.w, &copy);

	if (w)
		sl__int8_row_sums(w, q->n_out, q->length, q->sums);
	sl__allocator_free(&pl->program->arena.allocator, copy);
	return w != NULL;
}

int
sl__quantized_conv_read(struct sl__quantized_conv *q, struct sl__planner *pl,
			const struct sl__node *node)
{
	return read_values(q, pl, node) && add_lists(q, pl) &&
	       (q->is_integer ? read_x_zero(q, pl) : read_factors(q, pl)) &&
	       is_centred(q, pl) && read_bias(q, pl) && sum_weights(q, pl);
}
