/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grad_reduce.c - gradients of reductions: spread over what was reduced,
 * weighted by how much each element had to do with the result.
 */
#include "ops/gradient.h"
#include "ops/op_row.h"

#include "base/banned.h"

/* The sizes of input 0 with 1 for what was reduced; returns how many elements
 * that were. */
static double
kept_sizes(struct sl__gradient *g, int64_t *dims)
{
	struct sl__type x = sl__node_writer_type(g->w, g->node.inputs[0]);
	size_t n = 0;
	const int64_t *axes = sl__gradient_integers(g, 1, "axes", &n);
	double n_reduced = 1;
	int is_nothing = n == 0 &&
			 sl__attribute_int(&g->node, "noop_with_empty_axes", 0);

	for (int d = 0; d < x.rank; d++) {
		int is_reduced = n == 0 && !is_nothing;

		for (size_t i = 0; !g->w->rc && i < n; i++)
			is_reduced |= sl__axis_normalize(axes[i], x.rank) == d;
		dims[d] = is_reduced ? 1 : x.dims[d];
		n_reduced *= is_reduced ? (double)x.dims[d] : 1;
	}
	return n_reduced;
}

/* What each reduction does with x, y and dy, all broadcast to x. */
enum weight {
	WEIGHT_ONE,
	WEIGHT_MEAN,    /* 1 / n */
	WEIGHT_SIGN,    /* of x */
	WEIGHT_TWICE,   /* 2 x */
	WEIGHT_RATIO,   /* x / y */
	WEIGHT_OTHERS,  /* y / x */
	WEIGHT_SHARE,   /* exp(-y) */
	WEIGHT_SOFTMAX, /* exp(x - y) */
	WEIGHT_EXTREME  /* where x is y, in equal parts */
};

static const struct {
	enum sl__op_id id;
	enum weight weight;
} rows[] = {
	{SL__OP_ONNX_ReduceSum, WEIGHT_ONE},
	{SL__OP_ONNX_ReduceMean, WEIGHT_MEAN},
	{SL__OP_ONNX_ReduceL1, WEIGHT_SIGN},
	{SL__OP_ONNX_ReduceL2, WEIGHT_RATIO},
	{SL__OP_ONNX_ReduceSumSquare, WEIGHT_TWICE},
	{SL__OP_ONNX_ReduceProd, WEIGHT_OTHERS},
	{SL__OP_ONNX_ReduceLogSum, WEIGHT_SHARE},
	{SL__OP_ONNX_ReduceLogSumExp, WEIGHT_SOFTMAX},
	{SL__OP_ONNX_ReduceMax, WEIGHT_EXTREME},
	{SL__OP_ONNX_ReduceMin, WEIGHT_EXTREME},
};

/* dy where x is the extreme y, shared by those that are. */
static uint32_t
share_extreme(struct sl__node_writer *w, uint32_t x, uint32_t y, uint32_t dy)
{
	uint32_t is_it = SL__ADD_NODE(w, ONNX_Equal, x, y);

	sl__node_writer_set_int(w, "to", sl__node_writer_type(w, x).dtype);
	is_it = SL__ADD_NODE(w, ONNX_Cast, is_it);
	dy = SL__ADD_NODE(w, ONNX_Div, dy,
			  sl__node_writer_sum_like(w, is_it, y));
	return SL__ADD_NODE(w, ONNX_Mul, dy, is_it);
}

void
sl__grad_reduce(struct sl__gradient *g)
{
	struct sl__node_writer *w = g->w;
	enum weight weight = SL__OP_ROW_OF(&g->node, rows)->weight;
	uint32_t x = g->node.inputs[0], y = g->node.outputs[0], dy = g->dy[0];
	struct sl__type type = sl__node_writer_type(w, x);
	int64_t dims[SL__RANK_MOST];
	double n = kept_sizes(g, dims);

	dy = sl__node_writer_reshape(w, dy, dims, type.rank);
	if (weight == WEIGHT_RATIO || weight == WEIGHT_OTHERS ||
	    weight == WEIGHT_SHARE || weight == WEIGHT_SOFTMAX ||
	    weight == WEIGHT_EXTREME)
		y = sl__node_writer_reshape(w, y, dims, type.rank);
	if (weight == WEIGHT_MEAN && n > 0)
		dy = sl__node_writer_scale(w, dy, 1 / n);
	else if (weight == WEIGHT_TWICE)
		dy = sl__node_writer_scale(w, dy, 2);
	else if (weight == WEIGHT_RATIO)
		dy = SL__ADD_NODE(w, ONNX_Div, dy, y);
	else if (weight == WEIGHT_OTHERS)
		dy = SL__ADD_NODE(w, ONNX_Mul, dy, y);
	else if (weight == WEIGHT_SHARE)
		dy = SL__ADD_NODE(w, ONNX_Div, dy,
				  SL__ADD_NODE(w, ONNX_Exp, y));
	if (weight == WEIGHT_SIGN)
		x = SL__ADD_NODE(w, ONNX_Sign, x);
	else if (weight == WEIGHT_SOFTMAX)
		x = SL__ADD_NODE(w, ONNX_Exp, SL__ADD_NODE(w, ONNX_Sub, x, y));
	if (weight == WEIGHT_EXTREME)
		g->dx[0] = share_extreme(w, x, y, dy);
	else if (weight == WEIGHT_OTHERS)
		g->dx[0] = SL__ADD_NODE(w, ONNX_Div, dy, x);
	else if (weight == WEIGHT_ONE || weight == WEIGHT_MEAN ||
		 weight == WEIGHT_SHARE)
		g->dx[0] =
			SL__ADD_NODE(w, ONNX_Expand, dy,
				     sl__node_writer_integers(
					     w, type.dims, (size_t)type.rank));
	else
		g->dx[0] = SL__ADD_NODE(w, ONNX_Mul, dy, x);
}
