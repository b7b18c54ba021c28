/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grad_norm.c - gradients of normalizations.
 *
 * With z = (x - mean) d, d = 1 / sqrt(variance + epsilon) and u = scale dy:
 *
 *	dx = d (u - mean(u) - z mean(u z)), dscale = sum(dy z), dbias = sum(dy)
 *
 * where means are over what was normalized; without the mean of u where no
 * mean was subtracted, and without either where the statistics were given.
 * LayerNormGrad and GroupNormGrad take (dy, x, scale) and find the statistics
 * again, a row at a time; BatchNormGrad takes (dy, x, scale, mean, variance) as
 * the forward node used them.
 */
#include "ops/cost.h"
#include "ops/gradient.h"
#include "ops/ref.h"

#include <math.h>
#include <string.h>

#include "base/banned.h"

/* The node, and its results as gradients of inputs 0, scale and bias. */
static void
add_norm(struct sl__gradient *g, enum sl__op_id op, const uint32_t *inputs,
	 size_t n_inputs)
{
	uint32_t outputs[3] = {0, SL__NONE, SL__NONE};

	for (uint32_t i = 1; i < 3; i++)
		outputs[i] = sl__gradient_wants(g, i) ? 0 : SL__NONE;
	outputs[0] = g->is_wanted[0] ? 0 : SL__NONE;
	sl__node_writer_add_outputs(g->w, op, inputs, n_inputs, outputs, 3);
	for (uint32_t i = 0; !g->w->rc && i < 3; i++) {
		if (sl__gradient_wants(g, i))
			sl__gradient_set_summed(g, i, outputs[i]);
	}
}

/* LayerNormalization, RMSNormalization and their like. */
void
sl__grad_layer_norm(struct sl__gradient *g)
{
	const uint32_t inputs[] = {g->dy[0], g->node.inputs[0],
				   g->node.inputs[1]};
	int is_centred = sl__is_op(&g->node, SL__OP_ONNX_LayerNormalization);
	int rank = sl__node_writer_type(g->w, inputs[1]).rank;

	for (uint32_t k = 1; k < g->node.n_outputs; k++) {
		if (g->dy[k] != SL__NONE)
			sl__gradient_reject(g, "there is no gradient by its "
					       "statistics");
	}
	if (g->dy[0] == SL__NONE)
		return;
	sl__node_writer_set_int(
		g->w, "axis",
		sl__axis_normalize(sl__attribute_int(&g->node, "axis", -1),
				   rank));
	sl__node_writer_set_float(
		g->w, "epsilon",
		sl__attribute_float(&g->node, "epsilon", 1e-5));
	sl__node_writer_set_int(g->w, "centred", is_centred);
	add_norm(g, SL__OP_SLEUTH_LayerNormGrad, inputs, 3);
}

/* GroupNormalization; InstanceNormalization has a group for each channel. */
void
sl__grad_group_norm(struct sl__gradient *g)
{
	const uint32_t inputs[] = {g->dy[0], g->node.inputs[0],
				   g->node.inputs[1]};
	struct sl__type x = sl__node_writer_type(g->w, inputs[1]);
	int is_group = sl__is_op(&g->node, SL__OP_ONNX_GroupNormalization);

	if (g->w->rc)
		return;
	sl__node_writer_set_float(
		g->w, "epsilon",
		sl__attribute_float(&g->node, "epsilon", 1e-5));
	sl__node_writer_set_int(
		g->w, "num_groups",
		is_group ? sl__attribute_int(&g->node, "num_groups", 1)
			 : x.dims[1]);
	add_norm(g, SL__OP_SLEUTH_GroupNormGrad, inputs, 3);
}

/* The running statistics have no gradient: they are for later. */
void
sl__grad_batch_norm(struct sl__gradient *g)
{
	const struct sl__node *node = &g->node;
	int is_training =
		node->version < 14
			? node->n_outputs > 1
			: sl__attribute_int(node, "training_mode", 0) != 0;
	uint32_t inputs[] = {g->dy[0], node->inputs[0], node->inputs[1],
			     node->inputs[3], node->inputs[4]};

	if (node->version < 9 && !sl__attribute_int(node, "spatial", 1)) {
		sl__gradient_reject(g, "there is no gradient of this operator "
				       "with statistics for each element");
		return;
	}
	if (g->dy[0] == SL__NONE)
		return;
	for (uint32_t k = 0; is_training && k < 2; k++)
		inputs[3 + k] = sl__node_writer_output(g->w, g->id, 3 + k);
	if (!is_training &&
	    (sl__gradient_wants(g, 3) || sl__gradient_wants(g, 4)))
		sl__gradient_reject(g, "there is no gradient by its "
				       "statistics");
	sl__node_writer_set_float(g->w, "epsilon",
				  sl__attribute_float(node, "epsilon", 1e-5));
	sl__node_writer_set_int(g->w, "training_mode", is_training);
	add_norm(g, SL__OP_SLEUTH_BatchNormGrad, inputs, 5);
}

/* The mean of a value over a window of channels, 'before' and 'after' each: of
 * [n][1][channels][rest], since pools leave channels alone. */
static uint32_t
mean_of_channels(struct sl__node_writer *w, uint32_t value, int64_t before,
		 int64_t after)
{
	struct sl__type type = sl__node_writer_type(w, value);
	const int64_t kernel[] = {before + 1 + after, 1};
	const int64_t pads[] = {before, 0, after, 0};
	int64_t dims[4] = {1, 1, 1, 1};
	uint32_t mean;

	if (w->rc)
		return value;
	dims[0] = type.dims[0];
	dims[2] = type.dims[1];
	dims[3] = sl__dims_product(type.dims, 2, (size_t)type.rank);
	mean = sl__node_writer_reshape(w, value, dims, 4);
	sl__node_writer_set_ints(w, "kernel_shape", kernel, 2);
	sl__node_writer_set_ints(w, "pads", pads, 4);
	sl__node_writer_set_int(w, "count_include_pad", 1);
	mean = SL__ADD_NODE(w, ONNX_AveragePool, mean);
	return sl__node_writer_reshape_like(w, mean, value);
}

/* y = x s^-beta with s = bias + alpha mean(x^2) over channels near; so
 *
 *	dx = dy s^-beta - 2 alpha beta x mean'(dy x s^(-beta - 1))
 *
 * where mean' is over the channels that have this one near. */
void
sl__grad_lrn(struct sl__gradient *g)
{
	struct sl__node_writer *w = g->w;
	double alpha = sl__attribute_float(&g->node, "alpha", 1e-4);
	double beta = sl__attribute_float(&g->node, "beta", 0.75);
	int64_t size = sl__attribute_int(&g->node, "size", 1);
	int64_t before = (size - 1) / 2, after = size / 2;
	uint32_t x = g->node.inputs[0], s, p, u;
	enum sl_dtype dtype = sl__node_writer_type(w, x).dtype;

	s = mean_of_channels(w, SL__ADD_NODE(w, ONNX_Mul, x, x), before, after);
	s = SL__ADD_NODE(
		w, ONNX_Add, sl__node_writer_scale(w, s, alpha),
		sl__node_writer_scalar(
			w, dtype, sl__attribute_float(&g->node, "bias", 1)));
	p = SL__ADD_NODE(w, ONNX_Mul, g->dy[0],
			 SL__ADD_NODE(w, ONNX_Pow, s,
				      sl__node_writer_scalar(w, dtype, -beta)));
	u = SL__ADD_NODE(w, ONNX_Div, SL__ADD_NODE(w, ONNX_Mul, p, x), s);
	u = SL__ADD_NODE(w, ONNX_Mul, x, mean_of_channels(w, u, after, before));
	g->dx[0] = SL__ADD_NODE(w, ONNX_Sub, p,
				sl__node_writer_scale(w, u, 2 * alpha * beta));
}

/* Gradients of scale and bias of a layer are of the sizes of what is
 * normalized, of others one for each part. */
enum sl_status
sl__infer_norm_grad(struct sl__rule_context *call)
{
	const struct sl__type *x = sl__in_type(call, 1);
	int is_layer = sl__is_op(call->node, SL__OP_SLEUTH_LayerNormGrad);
	int axis = (int)sl__attribute_int(call->node, "axis", 0);

	sl__out_set_like_input(call, 0, 1, SL_DTYPE_NONE);
	for (size_t k = 1; k < 3; k++) {
		if (is_layer && x->rank >= axis)
			sl__out_set_shape(call, k, sl__in_dtype(call, 1),
					  x->rank - axis, x->dims + axis);
		else
			sl__out_set_like_input(call, k, 2, SL_DTYPE_NONE);
	}
	return call->failure;
}

/* Statistics take 3 operations an element where they are found again; then z,
 * u, two sums and the result. */
void
sl__cost_norm_grad(struct sl__rule_context *call, struct sl_cost *cost)
{
	int is_batch = sl__is_op(call->node, SL__OP_SLEUTH_BatchNormGrad);
	uint64_t n = sl__in_elements(call, 1);

	cost->work = is_batch ? SL_WORK_BATCH_NORM : SL_WORK_LAYER_NORM;
	sl__cost_add_operations(
		cost, n, SL__OPERATIONS_EACH(.mul = 3, .add = 4, .fma = 3));
	if (!is_batch)
		sl__cost_add_operations(
			cost, n, SL__OPERATIONS_EACH(.add = 2, .fma = 1));
}

/*
 * Element i belongs to statistic i / stat_span % n_stats and to scale
 * i / scale_span % n_scales: where a batch is normalized the first wraps
 * around, where rows are it does not.
 */
struct norms {
	int64_t n, n_stats, stat_span, n_scales, scale_span;
	int is_centred, is_given; /* the statistics are no function of x */
	double epsilon;
	const double *x, *dy, *scale;
	double *mean, *deviation; /* n_stats; the second is d */
	double *sum_u, *sum_uz;   /* likewise */
	double *dx, *dscale, *dbias;
};

static int64_t
stat_of(const struct norms *s, int64_t i)
{
	return i / s->stat_span % s->n_stats;
}

static int64_t
scale_of(const struct norms *s, int64_t i)
{
	return i / s->scale_span % s->n_scales;
}

/* Mean and d of each row. */
static void
find_statistics(struct norms *s)
{
	double per_stat = (double)s->n / (double)s->n_stats;

	for (int64_t i = 0; s->is_centred && i < s->n; i++)
		s->mean[stat_of(s, i)] += s->x[i] / per_stat;
	for (int64_t i = 0; i < s->n; i++) {
		int64_t k = stat_of(s, i);

		s->deviation[k] += (s->x[i] - s->mean[k]) *
				   (s->x[i] - s->mean[k]) / per_stat;
	}
	for (int64_t k = 0; k < s->n_stats; k++)
		s->deviation[k] = 1 / sqrt(s->deviation[k] + s->epsilon);
}

static void
run_norms(struct norms *s)
{
	double per_stat = (double)s->n / (double)s->n_stats;

	for (int64_t i = 0; i < s->n; i++) {
		int64_t k = stat_of(s, i), c = scale_of(s, i);
		double z = (s->x[i] - s->mean[k]) * s->deviation[k];
		double u = s->dy[i] * s->scale[c];

		s->sum_u[k] += s->is_centred ? u : 0;
		s->sum_uz[k] += u * z;
		s->dscale[c] += s->dy[i] * z;
		s->dbias[c] += s->dy[i];
	}
	for (int64_t i = 0; i < s->n; i++) {
		int64_t k = stat_of(s, i);
		double z = (s->x[i] - s->mean[k]) * s->deviation[k];
		double u = s->dy[i] * s->scale[scale_of(s, i)];

		if (!s->is_given)
			u -= (s->sum_u[k] + z * s->sum_uz[k]) / per_stat;
		s->dx[i] = s->deviation[k] * u;
	}
}

/* Room for all, and the operands. */
static enum sl_status
open_norms(struct norms *s, struct sl__kernel_call *ev)
{
	const struct sl__tensor *dy = sl__ref_input_tensor(ev, 0);

	s->dy = sl__ref_input_doubles(ev, 0);
	s->x = sl__ref_input_doubles(ev, 1);
	s->scale = sl__ref_input_doubles(ev, 2);
	s->epsilon = sl__attribute_float(ev->node, "epsilon", 1e-5);
	s->mean = sl__ref_scratch_doubles(ev, s->n_stats);
	s->deviation = sl__ref_scratch_doubles(ev, s->n_stats);
	s->sum_u = sl__ref_scratch_doubles(ev, s->n_stats);
	s->sum_uz = sl__ref_scratch_doubles(ev, s->n_stats);
	s->dx = sl__ref_scratch_doubles(ev, s->n);
	s->dscale = sl__ref_scratch_doubles(ev, s->n_scales);
	s->dbias = sl__ref_scratch_doubles(ev, s->n_scales);
	if (!ev->failure && (int64_t)dy->n_elements != s->n)
		sl__ref_reject(ev, "its inputs do not fit each other");
	return ev->failure;
}

static enum sl_status
store_norms(const struct norms *s, struct sl__kernel_call *ev)
{
	const double *results[] = {s->dx, s->dscale, s->dbias};

	for (size_t k = 0; k < 3; k++) {
		if (sl__ref_output(ev, k))
			sl__ref_output_store_doubles(ev, k, results[k]);
	}
	return ev->failure;
}

/* A scale that is repeated along dimensions it lacks is written out. */
static void
repeat_scale(struct norms *s, struct sl__kernel_call *ev, size_t axis)
{
	const struct sl__tensor *x = sl__ref_input_tensor(ev, 1);
	const struct sl__tensor *scale = sl__ref_input_tensor(ev, 2);
	double *all = sl__ref_scratch_doubles(ev, s->n_scales);
	struct sl__strided_iterator w;

	if (ev->failure)
		return;
	sl__strided_iterator_begin(&w, x->rank - axis, x->dims + axis);
	sl__broadcast_strides(w.strides[0], w.rank, scale->rank, scale->dims);
	w.n = 1;
	for (int64_t i = 0; i < s->n_scales; i++) {
		all[i] = s->scale[w.offsets[0]];
		sl__strided_iterator_next(&w);
	}
	s->scale = all;
}

enum sl_status
sl__ref_layer_norm_grad(struct sl__kernel_call *ev)
{
	const struct sl__tensor *x = sl__ref_input_tensor(ev, 1);
	const struct sl__tensor *scale = sl__ref_input_tensor(ev, 2);
	size_t axis = (size_t)sl__attribute_int(ev->node, "axis", 0);
	struct norms s = {.scale_span = 1};

	if (!x || !scale || axis > x->rank || scale->rank > x->rank - axis)
		return sl__ref_reject(ev, "its scale does not fit");
	s.n = (int64_t)x->n_elements;
	s.stat_span = s.n_scales = sl__dims_product(x->dims, axis, x->rank);
	s.n_stats = sl__dims_product(x->dims, 0, axis);
	s.is_centred = sl__attribute_int(ev->node, "centred", 1) != 0;
	if (open_norms(&s, ev))
		return ev->failure;
	repeat_scale(&s, ev, axis);
	find_statistics(&s);
	run_norms(&s);
	return store_norms(&s, ev);
}

/* Scales are one for each channel, or in version 18 for each group. */
enum sl_status
sl__ref_group_norm_grad(struct sl__kernel_call *ev)
{
	const struct sl__tensor *x = sl__ref_input_tensor(ev, 1);
	const struct sl__tensor *scale = sl__ref_input_tensor(ev, 2);
	int64_t n_groups = sl__attribute_int(ev->node, "num_groups", 1);
	struct norms s = {.is_centred = 1};
	int64_t image;

	if (!x || !scale || x->rank < 2 || n_groups < 1 || !scale->n_elements ||
	    x->dims[1] % n_groups)
		return sl__ref_reject(ev, "its channels make no groups");
	s.n = (int64_t)x->n_elements;
	image = sl__dims_product(x->dims, 1, x->rank);
	s.n_stats = x->dims[0] * n_groups;
	s.stat_span = image / n_groups;
	s.n_scales = (int64_t)scale->n_elements;
	s.scale_span = image / s.n_scales;
	if (open_norms(&s, ev))
		return ev->failure;
	find_statistics(&s);
	run_norms(&s);
	return store_norms(&s, ev);
}

enum sl_status
sl__ref_batch_norm_grad(struct sl__kernel_call *ev)
{
	const struct sl__tensor *x = sl__ref_input_tensor(ev, 1);
	const double *mean = sl__ref_input_doubles(ev, 3);
	const double *variance = sl__ref_input_doubles(ev, 4);
	struct norms s = {.is_centred = 1};

	if (ev->failure || !x || x->rank < 1)
		return sl__ref_reject(ev, "it lacks channels");
	s.n = (int64_t)x->n_elements;
	s.n_stats = s.n_scales = x->rank > 1 ? x->dims[1] : 1;
	s.stat_span = s.scale_span =
		x->rank > 1 ? sl__dims_product(x->dims, 2, x->rank) : 1;
	s.is_given = !sl__attribute_int(ev->node, "training_mode", 0);
	if (open_norms(&s, ev))
		return ev->failure;
	for (int64_t k = 0; k < s.n_stats; k++) {
		s.mean[k] = mean[k];
		s.deviation[k] = 1 / sqrt(variance[k] + s.epsilon);
	}
	run_norms(&s);
	return store_norms(&s, ev);
}
