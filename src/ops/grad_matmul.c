/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grad_matmul.c - gradients of matrix products, which are matrix products.
 *
 * Where a weight [k][n] meets a stack of matrices, the stack is seen as one
 * matrix with many rows: its gradient is one product and no sum over a batch.
 */
#include "ops/gradient.h"

#include <string.h>

#include "base/banned.h"

/* alpha op(a) op(b) over the last two dimensions of each. */
static uint32_t
multiply(struct sl__node_writer *w, uint32_t a, uint32_t b, int transposes,
	 double alpha)
{
	if (!(transposes & 3) && alpha == 1)
		return SL__ADD_NODE(w, ONNX_MatMul, a, b);
	sl__node_writer_set_int(w, "transA", transposes & 1);
	sl__node_writer_set_int(w, "transB", transposes >> 1 & 1);
	sl__node_writer_set_float(w, "alpha", alpha);
	return SL__ADD_NODE(w, MS_FusedMatMul, a, b);
}

/* A stack [..][rows][columns] as one matrix. */
static uint32_t
flatten(struct sl__node_writer *w, uint32_t value)
{
	struct sl__type type = sl__node_writer_type(w, value);
	int64_t dims[2] = {1, 1};

	if (type.rank <= 2)
		return value;
	dims[1] = type.dims[type.rank - 1];
	for (int d = 0; d < type.rank - 1; d++)
		dims[0] *= type.dims[d];
	return sl__node_writer_reshape(w, value, dims, 2);
}

/* A vector as a matrix of one row or column. */
static uint32_t
as_matrix(struct sl__node_writer *w, uint32_t value, int is_column)
{
	struct sl__type type = sl__node_writer_type(w, value);
	int64_t dims[2] = {1, 1};

	if (type.rank != 1)
		return value;
	dims[is_column ? 0 : 1] = type.dims[0];
	return sl__node_writer_reshape(w, value, dims, 2);
}

/* dy with the dimensions of 1 that vectors have lost. */
static uint32_t
result_as_stack(struct sl__gradient *g)
{
	struct sl__node_writer *w = g->w;
	struct sl__type a = sl__node_writer_type(w, g->node.inputs[0]);
	struct sl__type b = sl__node_writer_type(w, g->node.inputs[1]);
	struct sl__type y = sl__node_writer_type(w, g->dy[0]);
	int64_t dims[SL__RANK_MOST];
	int rank = 0, n_last = b.rank == 1 ? 0 : 1;

	if (w->rc || (a.rank != 1 && b.rank != 1))
		return g->dy[0];
	for (int d = 0; d < y.rank - n_last; d++)
		dims[rank++] = y.dims[d];
	if (a.rank == 1)
		dims[rank++] = 1;
	dims[rank++] = n_last ? y.dims[y.rank - 1] : 1;
	return sl__node_writer_reshape(w, g->dy[0], dims, rank);
}

/* Sums over the batch dimensions that an operand is repeated along, and gives
 * it its own sizes. */
static void
set_operand(struct sl__gradient *g, uint32_t i, uint32_t value, uint32_t like)
{
	g->dx[i] = sl__node_writer_reshape_like(
		g->w, sl__node_writer_sum_like(g->w, value, like),
		g->node.inputs[i]);
}

/* y = alpha op(a) op(b), 'transposes' as of FusedMatMul. */
static void
differentiate(struct sl__gradient *g, int transposes, double alpha)
{
	struct sl__node_writer *w = g->w;
	uint32_t a = as_matrix(w, g->node.inputs[0], 0);
	uint32_t b = as_matrix(w, g->node.inputs[1], 1);
	uint32_t dy = result_as_stack(g);
	int is_a = transposes & 1, is_b = transposes >> 1 & 1;

	if (sl__gradient_wants(g, 0))
		set_operand(g, 0,
			    is_a ? multiply(w, b, dy, is_b | 2, alpha)
				 : multiply(w, dy, b, is_b ? 0 : 2, alpha),
			    a);
	if (!sl__gradient_wants(g, 1))
		return;
	if (!is_a && sl__node_writer_type(w, b).rank == 2) {
		a = flatten(w, a);
		dy = flatten(w, dy);
	}
	set_operand(g, 1,
		    is_b ? multiply(w, dy, a, 1 | is_a << 1, alpha)
			 : multiply(w, a, dy, is_a ? 0 : 1, alpha),
		    b);
}

void
sl__grad_matmul(struct sl__gradient *g)
{
	const struct sl__node *node = &g->node;
	int transposes = 0;

	if (sl__attribute_int(node, "transBatchA", 0) ||
	    sl__attribute_int(node, "transBatchB", 0)) {
		sl__gradient_reject(g, "there is no gradient of this operator "
				       "with a transposed batch");
		return;
	}
	/* Vectors are not transposed. */
	if (sl__node_writer_type(g->w, node->inputs[0]).rank > 1)
		transposes |= sl__attribute_int(node, "transA", 0) != 0;
	if (sl__node_writer_type(g->w, node->inputs[1]).rank > 1)
		transposes |= (sl__attribute_int(node, "transB", 0) != 0) << 1;
	differentiate(g, transposes, sl__attribute_float(node, "alpha", 1));
}

void
sl__grad_gemm(struct sl__gradient *g)
{
	const struct sl__node *node = &g->node;
	double beta = sl__attribute_float(node, "beta", 1);

	differentiate(g,
		      (sl__attribute_int(node, "transA", 0) != 0) |
			      (sl__attribute_int(node, "transB", 0) != 0) << 1,
		      sl__attribute_float(node, "alpha", 1));
	if (!sl__gradient_wants(g, 2))
		return;
	sl__gradient_set_summed(g, 2, g->dy[0]);
	if (beta < 1 || beta > 1)
		g->dx[2] = sl__node_writer_scale(g->w, g->dx[2], beta);
}
