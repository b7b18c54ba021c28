/* SPDX-License-Identifier: Apache-2.0 */
/*
 * quantize_mark.c - which values of a model become codes.
 *
 * Inputs of layers are taken as codes.  Convolutions make codes; products by
 * matrices give reals unless a layer follows, because their integer form can
 * and the last scores of a model are worth it.  Whatever passes codes on
 * without computing, and residual sums, make codes of codes.
 */
#include "transform/quantize_mark.h"
#include "transform/fuse_quantized.h"
#include "transform/matching.h"
#include "transform/optimize.h"

#include "base/banned.h"

/* Nodes that the model has are kept by their number; others by what they
 * cover. */
static int
is_node_kept(const struct sl__rewrite *rw, uint32_t node,
	     const unsigned char *is_kept)
{
	const struct sl__mutable_node *row = &rw->nodes[node];

	for (size_t i = 0; is_kept && i < row->n_covers; i++) {
		if (is_kept[row->covers[i]])
			return 1;
	}
	return 0;
}

static const struct sl__tensor *
table_at(const struct sl__rewrite *rw, uint32_t node, size_t operand)
{
	/* The real form of larger ones is not folded (fold.c), but made in
	 * each run. */
	enum { ROWS_LEAST = 2, ROW_LEAST = 8, BYTES_MOST = 1 << 20 };
	const struct sl__tensor *t = sl__tensor_constant_read(
		rw, sl__rewrite_input(rw, node, operand));

	return t && t->dtype == SL_DTYPE_F32 &&
			       (t->rank == 2 || t->rank == 3) &&
			       t->n_elements && t->n_bytes <= BYTES_MOST &&
			       t->dims[t->rank - 1] >= ROW_LEAST &&
			       t->dims[t->rank - 2] >= ROWS_LEAST
		       ? t
		       : NULL;
}

int
sl__quantizable_table_read(struct sl__quantizable_layer *out, size_t *operand,
			   const struct sl__rewrite *rw, uint32_t node,
			   const unsigned char *is_kept)
{
	int is_add = sl__rewrite_node_is_op(rw, node, SL__OP_ONNX_Add);
	int is_gather = sl__rewrite_node_is_op(rw, node, SL__OP_ONNX_Gather);

	*out = (struct sl__quantizable_layer){.node = node};
	if ((!is_add && !is_gather) || rw->nodes[node].node.block ||
	    is_node_kept(rw, node, is_kept) ||
	    (is_gather &&
	     sl__attribute_int(&rw->nodes[node].node, "axis", 0) != 0))
		return 0;
	for (*operand = 0; *operand < (is_add ? 2u : 1u); (*operand)++) {
		out->weights = table_at(rw, node, *operand);
		if (out->weights)
			break;
	}
	if (!out->weights || (is_gather && out->weights->rank != 2))
		return 0;
	out->axis = (int)out->weights->rank - 2;
	return 1;
}

static int
read_bias(struct sl__quantizable_layer *out, const struct sl__rewrite *rw)
{
	uint32_t bias = sl__rewrite_input(rw, out->node, 2);
	int64_t n = out->weights->dims[out->axis];

	if (bias == SL__NONE)
		return 1;
	out->bias = sl__tensor_constant_read(rw, bias);
	return out->bias && out->bias->dtype == SL_DTYPE_F32 &&
	       out->bias->rank == 1 && out->bias->dims[0] == n;
}

/* Factors other than 1 are rare, and not worth a form of their own. */
static int
is_plain_gemm(const struct sl__node *node)
{
	double alpha = sl__attribute_float(node, "alpha", 1);
	double beta = sl__attribute_float(node, "beta", 1);

	return node->version >= 7 && !sl__attribute_int(node, "transA", 0) &&
	       alpha >= 1 && alpha <= 1 && beta >= 1 && beta <= 1;
}

int
sl__quantizable_layer_read(struct sl__quantizable_layer *out,
			   const struct sl__rewrite *rw, uint32_t node,
			   const unsigned char *is_kept)
{
	uint32_t x = sl__rewrite_input(rw, node, 0);
	int is_conv = sl__rewrite_node_is_op(rw, node, SL__OP_ONNX_Conv);
	int is_gemm = sl__rewrite_node_is_op(rw, node, SL__OP_ONNX_Gemm);

	*out = (struct sl__quantizable_layer){.node = node};
	if ((!is_conv && !is_gemm &&
	     !sl__rewrite_node_is_op(rw, node, SL__OP_ONNX_MatMul)) ||
	    is_node_kept(rw, node, is_kept))
		return 0;
	out->weights =
		sl__tensor_constant_read(rw, sl__rewrite_input(rw, node, 1));
	if (!out->weights || out->weights->dtype != SL_DTYPE_F32 ||
	    !out->weights->n_elements || rw->to->values[x].tensor ||
	    !sl__is_nonempty_f32(rw, x) ||
	    rw->to->values[x].block != rw->nodes[node].node.block ||
	    (is_conv ? out->weights->rank < 3 : out->weights->rank != 2))
		return 0;
	if (is_gemm && !is_plain_gemm(&rw->nodes[node].node))
		return 0;
	out->axis =
		is_conv || (is_gemm && sl__attribute_int(&rw->nodes[node].node,
							 "transB", 0))
			? 0
			: 1;
	return read_bias(out, rw);
}

uint32_t
sl__quantize_marks_root(const struct sl__quantize_marks *marks, uint32_t value)
{
	while (marks->parents[value] != value)
		value = marks->parents[value];
	return value;
}

/* What a node gives once it is clipped. */
static uint32_t
result_of(const struct sl__rewrite *rw, uint32_t node)
{
	uint32_t y = sl__rewrite_output(rw, node);
	uint32_t user = sl__rewrite_only_user(rw, y);
	double low, high;

	return sl__rewrite_node_is_op(rw, user, SL__OP_ONNX_Relu) ||
			       sl__clip_read_bounds(rw, user, &low, &high)
		       ? sl__rewrite_output(rw, user)
		       : y;
}

static void
mark_layer(struct sl__quantize_marks *marks, const struct sl__rewrite *rw,
	   uint32_t node)
{
	marks->is_taken[sl__rewrite_input(rw, node, 0)] = 1;
	if (sl__rewrite_node_is_op(rw, node, SL__OP_ONNX_Conv))
		marks->is_made[result_of(rw, node)] = 1;
}

/* Whether all of a node's first n inputs are codes. */
static int
has_codes(const struct sl__quantize_marks *marks, const struct sl__rewrite *rw,
	  uint32_t node, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		uint32_t x = sl__rewrite_input(rw, node, i);

		if (x == SL__NONE || !marks->is_made[x] ||
		    rw->to->values[x].block != rw->nodes[node].node.block)
			return 0;
	}
	return n > 0;
}

/* Codes are passed on with the scale they have. */
static void
carry(struct sl__quantize_marks *marks, const struct sl__rewrite *rw,
      uint32_t node, uint32_t n)
{
	uint32_t y = sl__rewrite_output(rw, node);

	if (!has_codes(marks, rw, node, n) || n > SL__NODE_BUILDER_INPUTS)
		return;
	marks->is_made[y] = 1;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t root = sl__quantize_marks_root(
			marks, sl__rewrite_input(rw, node, i));

		marks->parents[root] = sl__quantize_marks_root(marks, y);
	}
}

static void
mark_node(struct sl__quantize_marks *marks, const struct sl__rewrite *rw,
	  uint32_t node)
{
	static const enum sl__op_id moves[] = {
		SL__OP_ONNX_MaxPool,   SL__OP_ONNX_Flatten,
		SL__OP_ONNX_Reshape,   SL__OP_ONNX_Squeeze,
		SL__OP_ONNX_Unsqueeze, SL__OP_ONNX_Transpose,
		SL__OP_ONNX_Relu};
	static const enum sl__op_id pools[] = {SL__OP_ONNX_AveragePool,
					       SL__OP_ONNX_GlobalAveragePool};
	const struct sl__node *n = sl__rewrite_node(rw, node);

	if (!n || n->n_outputs != 1 || n->outputs[0] == SL__NONE ||
	    marks->is_made[n->outputs[0]])
		return;
	if (sl__rewrite_node_is_any_op(rw, node, moves, 7))
		carry(marks, rw, node, 1);
	else if (sl__rewrite_node_is_op(rw, node, SL__OP_ONNX_Concat))
		carry(marks, rw, node, n->n_inputs);
	else if (sl__rewrite_node_is_any_op(rw, node, pools, 2))
		marks->is_made[n->outputs[0]] = has_codes(marks, rw, node, 1) !=
						0;
	else if (sl__rewrite_node_is_op(rw, node, SL__OP_ONNX_Add) &&
		 has_codes(marks, rw, node, 2) &&
		 sl__have_same_dtype_and_dims(rw, n->inputs[0], n->inputs[1]))
		marks->is_made[result_of(rw, node)] = 1;
}

void
sl__quantize_mark(struct sl__quantize_marks *out, struct sl__rewrite *rw,
		  const unsigned char *is_kept)
{
	size_t n = rw->to->n_values;
	uint32_t *order = sl__rewrite_node_order(rw);
	struct sl__quantizable_layer layer;

	out->is_made = sl__rewrite_alloc(rw, n, 1);
	out->is_taken = sl__rewrite_alloc(rw, n, 1);
	out->parents = sl__rewrite_alloc(rw, n, sizeof(*out->parents));
	if (rw->rc)
		return;
	for (uint32_t i = 0; i < n; i++)
		out->parents[i] = i;
	for (size_t i = 0; i < rw->n_nodes; i++) {
		if (sl__quantizable_layer_read(&layer, rw, order[i], is_kept))
			mark_layer(out, rw, order[i]);
	}
	for (size_t i = 0; i < rw->n_nodes; i++) {
		if (!is_node_kept(rw, order[i], is_kept))
			mark_node(out, rw, order[i]);
	}
}

uint32_t
sl__layer_bias_add(struct sl__node_builder *m, uint32_t id, int n_left_out)
{
	uint32_t bias = sl__rewrite_input(m->rw, id, 2), last = id;

	if (bias == SL__NONE) {
		last = sl__added_bias_find(m->rw, id, &bias);
		if (last == SL__NONE)
			return id;
		sl__node_builder_add_covered(m, last);
	}
	for (int i = 0; i < n_left_out; i++)
		sl__node_builder_add_input(m, SL__NONE);
	sl__node_builder_add_input(m, bias);
	return last;
}

int
sl__quantize_opset(const struct sl_graph *graph)
{
	for (size_t i = 0; i < graph->n_opsets; i++) {
		if (!*graph->opsets[i].domain)
			return graph->opsets[i].version;
	}
	return 0;
}

/* Tensors that nothing needs any more go; nodes that passes made are of the
 * model's operator set. */
static void
tidy(struct sl__rewrite *rw)
{
	sl__pass_dead(rw);
	for (size_t i = 0; i < rw->to->n_values; i++) {
		if (rw->to->values[i].tensor && !rw->uses[i].n &&
		    !rw->is_pinned[i]) {
			rw->to->values[i].tensor = NULL;
			rw->to->values[i].kind = SL_VALUE_ACTIVATION;
		}
	}
	for (size_t i = rw->from->n_nodes; i < rw->n_nodes; i++) {
		if (!*rw->nodes[i].node.domain)
			rw->nodes[i].node.version =
				sl__quantize_opset(rw->from);
	}
}

enum sl_status
sl__quantize_finish(struct sl_graph **out, struct sl__rewrite *rw,
		    size_t n_layers)
{
	const struct sl__covered_nodes *covers;
	enum sl_status rc;

	if (!n_layers)
		sl__rewrite_fail(rw, SL_E_DATA,
				 "the model has no layer with constant weights "
				 "that could be quantized");
	tidy(rw);
	rc = rw->rc ? rw->rc : sl__rewrite_finish(rw, out, &covers);
	if (rc)
		return rc;
	(*out)->metadata = rw->from->metadata;
	(*out)->n_metadata = rw->from->n_metadata;
	(*out)->is_builtin = 0;
	(*out)->seed = 0;
	return SL_OK;
}
