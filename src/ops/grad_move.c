/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grad_move.c - gradients of what moves elements: the move back, and a sum
 * where an element went to several places.
 */
#include "ops/cost.h"
#include "ops/gradient.h"
#include "ops/ref_move.h"

#include <string.h>

#include "base/banned.h"

/* Reshape, Flatten, Squeeze, Unsqueeze. */
void
sl__grad_view(struct sl__gradient *g)
{
	g->dx[0] =
		sl__node_writer_reshape_like(g->w, g->dy[0], g->node.inputs[0]);
}

void
sl__grad_transpose(struct sl__gradient *g)
{
	int rank = sl__node_writer_type(g->w, g->node.inputs[0]).rank;
	int64_t back[SL__RANK_MOST];
	const int64_t *perm;
	size_t n = sl__attribute_ints(&g->node, "perm", &perm);

	for (int d = 0; d < rank; d++)
		back[n ? perm[d] : rank - 1 - d] = d;
	sl__node_writer_set_ints(g->w, "perm", back, (size_t)rank);
	g->dx[0] = SL__ADD_NODE(g->w, ONNX_Transpose, g->dy[0]);
}

/* n places of a value along an axis, from 'first' on. */
static uint32_t
slice(struct sl__node_writer *w, uint32_t value, int axis, int64_t first,
      int64_t n)
{
	const int64_t end = first + n, on = axis;

	return SL__ADD_NODE(w, ONNX_Slice, value,
			    sl__node_writer_integers(w, &first, 1),
			    sl__node_writer_integers(w, &end, 1),
			    sl__node_writer_integers(w, &on, 1));
}

/* An attribute as an axis of a value. */
static int
axis_of(struct sl__gradient *g, uint32_t value, int64_t otherwise)
{
	int rank = sl__node_writer_type(g->w, value).rank;

	return sl__axis_normalize(
		sl__attribute_int(&g->node, "axis", otherwise), rank);
}

void
sl__grad_concat(struct sl__gradient *g)
{
	int axis = axis_of(g, g->dy[0], 1);
	int64_t first = 0;

	for (uint32_t i = 0; !g->w->rc && i < g->node.n_inputs; i++) {
		int64_t n = sl__node_writer_type(g->w, g->node.inputs[i])
				    .dims[axis];

		if (g->is_wanted[i])
			g->dx[i] = slice(g->w, g->dy[0], axis, first, n);
		first += n;
	}
}

void
sl__grad_split(struct sl__gradient *g)
{
	uint32_t parts[64], n = g->node.n_outputs;
	int axis = axis_of(g, g->node.inputs[0], 0);

	if (n > 64) {
		sl__gradient_reject(g, "more outputs than there is room for");
		return;
	}
	for (uint32_t k = 0; k < n; k++)
		parts[k] = sl__gradient_dy(g, k);
	sl__node_writer_set_int(g->w, "axis", axis);
	g->dx[0] = sl__node_writer_add(g->w, SL__OP_ONNX_Concat, parts, n);
}

/* Zeros around a value along an axis; fewer than 0 cut it. */
static uint32_t
pad(struct sl__node_writer *w, uint32_t value, int axis, int64_t before,
    int64_t after)
{
	int rank = sl__node_writer_type(w, value).rank;
	int64_t pads[2 * SL__RANK_MOST] = {0};

	if (w->rc || (before == 0 && after == 0))
		return value;
	pads[axis] = before;
	pads[rank + axis] = after;
	return SL__ADD_NODE(
		w, ONNX_Pad, value,
		sl__node_writer_integers(w, pads, 2 * (size_t)rank));
}

/* step - 1 zeros behind each place along an axis. */
static uint32_t
spread(struct sl__node_writer *w, uint32_t value, int axis, int64_t step)
{
	struct sl__type type = sl__node_writer_type(w, value);
	int64_t dims[SL__RANK_MOST + 1];

	if (step == 1 || w->rc)
		return value;
	for (int d = 0; d <= type.rank; d++)
		dims[d] = d == axis + 1 ? 1 : type.dims[d > axis ? d - 1 : d];
	value = sl__node_writer_reshape(w, value, dims, type.rank + 1);
	value = pad(w, value, axis + 1, 0, step - 1);
	memcpy(dims, type.dims, (size_t)type.rank * sizeof(*dims));
	dims[axis] *= step;
	return sl__node_writer_reshape(w, value, dims, type.rank);
}

static uint32_t
reverse(struct sl__node_writer *w, uint32_t value, int axis)
{
	const int64_t first = -1, end = INT64_MIN / 4, on = axis, step = -1;

	return SL__ADD_NODE(w, ONNX_Slice, value,
			    sl__node_writer_integers(w, &first, 1),
			    sl__node_writer_integers(w, &end, 1),
			    sl__node_writer_integers(w, &on, 1),
			    sl__node_writer_integers(w, &step, 1));
}

/* Back to the places start, start + step, ... of 'size' along an axis. */
static uint32_t
unslice(struct sl__node_writer *w, uint32_t value, int axis, int64_t start,
	int64_t step, int64_t size)
{
	int64_t n = sl__node_writer_type(w, value).dims[axis];

	if (step < 0) {
		value = reverse(w, value, axis);
		start += (n - 1) * step;
		step = -step;
	}
	value = spread(w, value, axis, step);
	return pad(w, value, axis, start, size - start - n * step);
}

void
sl__grad_slice(struct sl__gradient *g)
{
	struct sl__node_writer *w = g->w;
	struct sl__type x = sl__node_writer_type(w, g->node.inputs[0]);
	size_t n = 0, n_axes = 0, n_steps = 0;
	const int64_t *starts = sl__gradient_integers(g, 1, "starts", &n);
	const int64_t *axes = sl__gradient_integers(g, 3, "axes", &n_axes);
	const int64_t *steps = sl__gradient_integers(g, 4, "steps", &n_steps);
	uint32_t d = g->dy[0];

	for (size_t i = 0; !w->rc && i < n; i++) {
		int axis = sl__axis_normalize(n_axes ? axes[i] : (int64_t)i,
					      x.rank);
		int64_t size = x.dims[axis], step = n_steps ? steps[i] : 1;
		int64_t start = starts[i] < 0 ? starts[i] + size : starts[i];
		int64_t last = step < 0 ? size - 1 : size;

		if (sl__node_writer_type(w, d).dims[axis] == 0) {
			d = SL__NONE;
			break;
		}
		start = start < 0 ? 0 : start > last ? last : start;
		d = unslice(w, d, axis, start, step, size);
	}
	g->dx[0] = d;
}

void
sl__grad_expand(struct sl__gradient *g)
{
	sl__gradient_set_summed(g, 0, g->dy[0]);
}

void
sl__grad_tile(struct sl__gradient *g)
{
	struct sl__node_writer *w = g->w;
	struct sl__type x = sl__node_writer_type(w, g->node.inputs[0]);
	struct sl__type y = sl__node_writer_type(w, g->dy[0]);
	int64_t dims[2 * SL__RANK_MOST], axes[SL__RANK_MOST];

	if (g->node.version < 6) {
		sl__gradient_reject(g, "there is no gradient of this operator "
				       "before version 6");
		return;
	}
	for (int d = 0; d < x.rank; d++) {
		axes[d] = 2 * d;
		dims[2 * d] = x.dims[d] ? y.dims[d] / x.dims[d] : 1;
		dims[2 * d + 1] = x.dims[d];
	}
	g->dx[0] = sl__node_writer_sum(
		w, sl__node_writer_reshape(w, g->dy[0], dims, 2 * x.rank), axes,
		(size_t)x.rank, 0);
}

/* Only what was added is cut off; negative pads are zeros that come back. */
void
sl__grad_pad(struct sl__gradient *g)
{
	const char *mode = sl__attribute_string(&g->node, "mode", "constant");
	struct sl__type x = sl__node_writer_type(g->w, g->node.inputs[0]);
	size_t n = 0, n_axes = 0;
	const int64_t *pads = sl__gradient_integers(g, 1, "pads", &n);
	const int64_t *axes = sl__gradient_integers(g, 3, "", &n_axes);
	uint32_t d = g->dy[0];

	if (strcmp(mode, "constant") != 0 || sl__gradient_wants(g, 2))
		sl__gradient_reject(g, "there is no gradient of this operator "
				       "but where it adds constants");
	for (size_t i = 0; !g->w->rc && i < n / 2; i++)
		d = pad(g->w, d,
			sl__axis_normalize(n_axes ? axes[i] : (int64_t)i,
					   x.rank),
			-pads[i], -pads[i + n / 2]);
	g->dx[0] = d;
}

/* DepthToSpace and SpaceToDepth. */
void
sl__grad_blocks(struct sl__gradient *g)
{
	if (strcmp(sl__attribute_string(&g->node, "mode", "DCR"), "DCR") != 0) {
		sl__gradient_reject(g, "there is no gradient of this operator "
				       "in mode CRD");
		return;
	}
	sl__node_writer_set_int(g->w, "blocksize",
				sl__attribute_int(&g->node, "blocksize", 1));
	g->dx[0] = sl__is_op(&g->node, SL__OP_ONNX_DepthToSpace)
			   ? SL__ADD_NODE(g->w, ONNX_SpaceToDepth, g->dy[0])
			   : SL__ADD_NODE(g->w, ONNX_DepthToSpace, g->dy[0]);
}

/* Trilu and ReverseSequence: the same once more. */
void
sl__grad_again(struct sl__gradient *g)
{
	uint32_t inputs[2] = {g->dy[0], sl__gradient_input(g, 1)};

	sl__node_writer_copy_attributes(g->w, &g->node);
	g->dx[0] = sl__node_writer_add(g->w,
				       (enum sl__op_id)(g->node.op - sl__ops),
				       inputs, inputs[1] == SL__NONE ? 1 : 2);
}

/* Sums from the other end. */
void
sl__grad_running(struct sl__gradient *g)
{
	sl__node_writer_set_int(g->w, "exclusive",
				sl__attribute_int(&g->node, "exclusive", 0));
	sl__node_writer_set_int(g->w, "reverse",
				!sl__attribute_int(&g->node, "reverse", 0));
	g->dx[0] = SL__ADD_NODE(g->w, ONNX_CumSum, g->dy[0], g->node.inputs[1]);
}

/* Rows added up where they were taken from: GatherGrad(dy, indices). */
void
sl__grad_gather(struct sl__gradient *g)
{
	struct sl__type x = sl__node_writer_type(g->w, g->node.inputs[0]);

	sl__node_writer_set_ints(g->w, "shape", x.dims, (size_t)x.rank);
	sl__node_writer_set_int(g->w, "axis", axis_of(g, g->node.inputs[0], 0));
	g->dx[0] = SL__ADD_NODE(g->w, SLEUTH_GatherGrad, g->dy[0],
				g->node.inputs[1]);
}

enum sl_status
sl__infer_gather_grad(struct sl__rule_context *call)
{
	const int64_t *dims;
	size_t rank = sl__attribute_ints(call->node, "shape", &dims);

	return sl__out_set_shape(call, 0, sl__in_dtype(call, 0), (int)rank,
				 dims);
}

/* Each element of dy is added once. */
void
sl__cost_gather_grad(struct sl__rule_context *call, struct sl_cost *cost)
{
	cost->work = SL_WORK_EMBEDDING;
	cost->add = sl__in_elements(call, 0);
}

enum sl_status
sl__ref_gather_grad(struct sl__kernel_call *ev)
{
	const struct sl__tensor *x = &sl__ref_output(ev, 0)->tensor;
	const struct sl__tensor *places = sl__ref_require_tensor(ev, 1);
	int64_t axis = sl__attribute_int(ev->node, "axis", 0);
	const double *dy = sl__ref_input_doubles(ev, 0);
	const int64_t *indices = sl__ref_input_integers(ev, 1);
	double *dx = sl__ref_scratch_output(ev, 0);
	struct sl__axis_split a;

	if (ev->failure || sl__axis_split_tensor(ev, &a, x, &axis))
		return ev->failure;
	for (int64_t o = 0; o < a.outer; o++) {
		for (int64_t i = 0; i < (int64_t)places->n_elements; i++) {
			int64_t row = indices[i];

			if (sl__ref_index_normalize(ev, &row, a.size))
				return ev->failure;
			for (int64_t k = 0; k < a.inner; k++)
				dx[(o * a.size + row) * a.inner + k] += *dy++;
		}
	}
	return sl__ref_output_store_doubles(ev, 0, dx);
}

/* GatherElements, and the values of TopK. */
void
sl__grad_gather_elements(struct sl__gradient *g)
{
	int is_topk = sl__is_op(&g->node, SL__OP_ONNX_TopK);
	uint32_t x = g->node.inputs[0], zeros, places;

	places = is_topk ? sl__node_writer_output(g->w, g->id, 1)
			 : g->node.inputs[1];
	zeros = sl__node_writer_fill_like(g->w, x, 0);
	sl__node_writer_set_int(g->w, "axis", axis_of(g, x, is_topk ? -1 : 0));
	sl__node_writer_set_string(g->w, "reduction", "add");
	g->dx[0] = SL__ADD_NODE(g->w, ONNX_ScatterElements, zeros, places,
				g->dy[0]);
}

void
sl__grad_gather_nd(struct sl__gradient *g)
{
	uint32_t zeros;

	if (sl__attribute_int(&g->node, "batch_dims", 0)) {
		sl__gradient_reject(g, "there is no gradient of this operator "
				       "with batch_dims");
		return;
	}
	zeros = sl__node_writer_fill_like(g->w, g->node.inputs[0], 0);
	sl__node_writer_set_string(g->w, "reduction", "add");
	g->dx[0] = SL__ADD_NODE(g->w, ONNX_ScatterND, zeros, g->node.inputs[1],
				g->dy[0]);
}

/* ScatterElements and ScatterND: what was written over has no gradient, where
 * no place is written twice. */
void
sl__grad_scatter(struct sl__gradient *g)
{
	struct sl__node_writer *w = g->w;
	const char *how = sl__attribute_string(&g->node, "reduction", "none");
	int is_nd = sl__is_op(&g->node, SL__OP_ONNX_ScatterND);
	int is_sum = !strcmp(how, "add");
	uint32_t places = g->node.inputs[1], updates = g->node.inputs[2], dy;

	dy = g->dy[0];
	if (!is_sum && strcmp(how, "none") != 0) {
		sl__gradient_reject(g, "there is no gradient of this "
				       "reduction");
		return;
	}
	if (g->is_wanted[0] && is_sum) {
		g->dx[0] = dy;
	} else if (g->is_wanted[0]) {
		uint32_t zeros = sl__node_writer_fill_like(w, updates, 0);

		sl__node_writer_copy_attributes(w, &g->node);
		g->dx[0] = is_nd ? SL__ADD_NODE(w, ONNX_ScatterND, dy, places,
						zeros)
				 : SL__ADD_NODE(w, ONNX_ScatterElements, dy,
						places, zeros);
	}
	if (!g->is_wanted[2])
		return;
	if (!is_nd)
		sl__node_writer_set_int(w, "axis",
					axis_of(g, g->node.inputs[0], 0));
	g->dx[2] = is_nd ? SL__ADD_NODE(w, ONNX_GatherND, dy, places)
			 : SL__ADD_NODE(w, ONNX_GatherElements, dy, places);
}
