/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parameters.c - what each number of a model is for.
 *
 * A tensor is what it is used as.  Walking the nodes backwards, every value
 * collects the ways in which it is used, seen through nodes that only hand it
 * on.  A factor, a kernel, a scale of a norm or an embedding is a weight; so
 * is what is added or multiplied, when it is more than one number.  Running
 * means and variances are statistics.  The rest are constants: shapes,
 * indices, bounds, scales and zero points, and what numbers betray as a mask,
 * as sines and cosines, or as the preparation of an image.
 */
#include "cost/parameters.h"
#include "base/dtype.h"
#include "base/status.h"
#include "cost/tensor_patterns.h"
#include "graph/op_rules.h"

#include <string.h>

#include "base/banned.h"

/* Ways in which a value is used. */
enum use {
	USE_FACTOR = 1u << 0,    /* of a product, a norm, a recurrence */
	USE_STATISTIC = 1u << 1, /* running mean or variance */
	USE_TABLE = 1u << 2,     /* rows are looked up in it */
	USE_ELEMENT = 1u << 3,   /* added, multiplied ... */
	USE_WAVE = 1u << 4,      /* the argument of a sine or cosine */
	USE_PLAIN = 1u << 5,     /* anything but that */
	USE_SCALED = 1u << 6,    /* seen through a DequantizeLinear */
	USE_OPAQUE = 1u << 7     /* by an operator that is not known */
};

/*
 * One letter per input, the last one for all that follow: 'f' factor, 's'
 * statistic, 't' table, 'e' element, 'p' handed on to the output, 'w' argument
 * of a wave, 'c' anything that steers.  Operators without a row steer.
 */
static const char *const input_uses[SL__N_OPS] = {
	[SL__OP_ONNX_Conv] = "f",
	[SL__OP_ONNX_ConvTranspose] = "f",
	[SL__OP_ONNX_DeformConv] = "f",
	[SL__OP_ONNX_CausalConvWithState] = "fffc",
	[SL__OP_ONNX_Gemm] = "f",
	[SL__OP_ONNX_MatMul] = "f",
	[SL__OP_ONNX_Einsum] = "f",
	[SL__OP_ONNX_ConvInteger] = "ffc",
	[SL__OP_ONNX_MatMulInteger] = "ffc",
	[SL__OP_ONNX_QLinearConv] = "fccfccccf",
	[SL__OP_ONNX_QLinearMatMul] = "fccfc",
	/* sequence_lens and initial states steer; P are the peepholes. */
	[SL__OP_ONNX_LSTM] = "ffffcccf",
	[SL__OP_ONNX_GRU] = "ffffc",
	[SL__OP_ONNX_RNN] = "ffffc",
	[SL__OP_ONNX_Attention] = "fffc",
	[SL__OP_ONNX_LinearAttention] = "f",
	[SL__OP_ONNX_BatchNormalization] = "fffs",
	[SL__OP_ONNX_InstanceNormalization] = "f",
	[SL__OP_ONNX_GroupNormalization] = "f",
	[SL__OP_ONNX_LayerNormalization] = "f",
	[SL__OP_ONNX_RMSNormalization] = "f",
	[SL__OP_ONNX_SimplifiedLayerNormalization] = "f",
	[SL__OP_ONNX_PRelu] = "f",
	[SL__OP_ONNX_SwiGLU] = "f",
	[SL__OP_ONNX_RotaryEmbedding] = "fc",
	[SL__OP_ONNX_Gather] = "tc",
	[SL__OP_ONNX_GatherElements] = "tc",
	[SL__OP_ONNX_GatherND] = "tc",
	[SL__OP_ONNX_Add] = "e",
	[SL__OP_ONNX_Sub] = "e",
	[SL__OP_ONNX_Mul] = "e",
	[SL__OP_ONNX_Div] = "e",
	[SL__OP_ONNX_Sum] = "e",
	[SL__OP_ONNX_Mean] = "e",
	[SL__OP_ONNX_Pow] = "ec",
	[SL__OP_ONNX_Where] = "ce",
	[SL__OP_ONNX_Sin] = "w",
	[SL__OP_ONNX_Cos] = "w",
	[SL__OP_ONNX_Identity] = "p",
	[SL__OP_ONNX_Reshape] = "pc",
	[SL__OP_ONNX_Transpose] = "p",
	[SL__OP_ONNX_Cast] = "p",
	[SL__OP_ONNX_CastLike] = "pc",
	[SL__OP_ONNX_Squeeze] = "pc",
	[SL__OP_ONNX_Unsqueeze] = "pc",
	[SL__OP_ONNX_Flatten] = "p",
	[SL__OP_ONNX_DequantizeLinear] = "pc",
	[SL__OP_ONNX_QuantizeLinear] = "pc",
	[SL__OP_ONNX_Slice] = "pc",
	[SL__OP_ONNX_Split] = "pc",
	[SL__OP_ONNX_Expand] = "pc",
	[SL__OP_ONNX_Tile] = "pc",
	[SL__OP_ONNX_Pad] = "pc",
	[SL__OP_ONNX_Concat] = "p",
	[SL__OP_ONNX_SequenceConstruct] = "p",
	[SL__OP_ONNX_SequenceAt] = "pc",
	[SL__OP_ONNX_Dropout] = "pc",
	[SL__OP_ONNX_Clip] = "pc",
	[SL__OP_ONNX_Resize] = "pc",
	[SL__OP_ONNX_Trilu] = "pc",
	[SL__OP_ONNX_ScatterElements] = "pcp",
	[SL__OP_ONNX_ScatterND] = "pcp",
	[SL__OP_ONNX_Abs] = "p",
	[SL__OP_ONNX_Exp] = "p",
	[SL__OP_ONNX_Log] = "p",
	[SL__OP_ONNX_Neg] = "p",
	[SL__OP_ONNX_Reciprocal] = "p",
	[SL__OP_ONNX_Relu] = "p",
	[SL__OP_ONNX_Sigmoid] = "p",
	[SL__OP_ONNX_Softmax] = "p",
	[SL__OP_ONNX_Softplus] = "p",
	[SL__OP_ONNX_Sqrt] = "p",
	[SL__OP_ONNX_Tanh] = "p",
	[SL__OP_ONNX_ReduceL2] = "pc",
	[SL__OP_ONNX_ReduceMean] = "pc",
	[SL__OP_ONNX_ReduceSum] = "pc",
	[SL__OP_ONNX_ReduceSumSquare] = "pc",
	[SL__OP_MS_Attention] = "fffc",
	[SL__OP_MS_BiasGelu] = "f",
	[SL__OP_MS_DequantizeLinear] = "pc",
	[SL__OP_MS_DynamicQuantizeMatMul] = "ffccf",
	[SL__OP_MS_EmbedLayerNormalization] = "ccfffffc",
	[SL__OP_MS_FastGelu] = "f",
	[SL__OP_MS_FusedConv] = "f",
	[SL__OP_MS_FusedGemm] = "f",
	[SL__OP_MS_FusedMatMul] = "f",
	[SL__OP_MS_GroupQueryAttention] = "fffc",
	[SL__OP_MS_LayerNormalization] = "f",
	[SL__OP_MS_MatMulInteger16] = "f",
	[SL__OP_MS_MatMulIntegerToFloat] = "ffccccf",
	[SL__OP_MS_MatMulNBits] = "ffcccf",
	[SL__OP_MS_MultiHeadAttention] = "ffffc",
	[SL__OP_MS_NhwcConv] = "f",
	[SL__OP_MS_NhwcFusedConv] = "f",
	[SL__OP_MS_QAttention] = "fffc",
	[SL__OP_MS_QGemm] = "fccfccfc",
	[SL__OP_MS_QLinearAdd] = "eccec",
	[SL__OP_MS_QLinearConv] = "fccfccccf",
	[SL__OP_MS_QLinearMul] = "eccec",
	[SL__OP_MS_QuantizeLinear] = "pc",
	[SL__OP_MS_RotaryEmbedding] = "fc",
	[SL__OP_MS_SkipLayerNormalization] = "f",
	[SL__OP_MS_SkipSimplifiedLayerNormalization] = "f",
	[SL__OP_MS_SimplifiedLayerNormalization] = "f",
};

char
sl__node_input_use_code(const struct sl__node *node, size_t i)
{
	const char *uses;
	size_t n;

	if (!node->op)
		return 'o';
	uses = input_uses[node->op - sl__ops];
	if (!uses)
		return 'c';
	n = strlen(uses);
	return uses[i < n ? i : n - 1];
}

/* What is known while judging; arrays are per value. */
struct judge {
	const struct sl__execution_order *steps;
	const struct sl_graph *graph;
	struct sl__roles *roles;
	unsigned char *uses;      /* enum use */
	unsigned char *is_learnt; /* depends on a weight */
	unsigned char *is_bias;   /* of one element, added to a product */
	unsigned char *prepares;  /* applied to what depends on no weight */
	uint32_t *origin;         /* the parameter seen through views */
	uint32_t *target;         /* the first node that computes with it */
	unsigned char *is_given;  /* follows from parameters alone */
	int has_stored_factors;   /* some weight is an initializer */
};

/* Products whose result may become the argument of a wave. */
static int
is_wave_maker(const struct sl__node *node)
{
	return sl__is_op(node, SL__OP_ONNX_Mul) ||
	       sl__is_op(node, SL__OP_ONNX_MatMul) ||
	       sl__is_op(node, SL__OP_ONNX_Einsum);
}

static unsigned
uses_of_outputs(const struct judge *j, const struct sl__node *node)
{
	unsigned uses = 0;

	for (uint32_t k = 0; k < node->n_outputs; k++) {
		if (node->outputs[k] != SL__NONE)
			uses |= j->uses[node->outputs[k]];
	}
	return uses;
}

static unsigned
use_of_input(const struct sl__node *node, size_t i, unsigned out_uses)
{
	unsigned onwards = USE_PLAIN;

	if (is_wave_maker(node))
		onwards = out_uses & (USE_WAVE | USE_PLAIN);
	switch (sl__node_input_use_code(node, i)) {
	case 'f':
		return USE_FACTOR | onwards;
	case 'e':
		if (sl__is_op(node, SL__OP_MS_QLinearAdd) ||
		    sl__is_op(node, SL__OP_MS_QLinearMul))
			onwards |= USE_SCALED;
		return USE_ELEMENT | onwards;
	case 's':
		return USE_STATISTIC | USE_PLAIN;
	case 't':
		return USE_TABLE | USE_PLAIN;
	case 'w':
		return USE_WAVE;
	case 'o':
		return USE_OPAQUE | USE_PLAIN;
	case 'p':
		if (sl__is_op(node, SL__OP_ONNX_DequantizeLinear) ||
		    sl__is_op(node, SL__OP_MS_DequantizeLinear))
			out_uses |= USE_SCALED;
		return out_uses;
	default:
		return USE_PLAIN;
	}
}

static void
add_use(struct judge *j, uint32_t value, unsigned uses)
{
	if (value != SL__NONE)
		j->uses[value] |= (unsigned char)uses;
}

/* Values that pass out of the bodies of a node, or into them. */
static void
carry_uses(struct judge *j, uint32_t node, enum sl__node_visit_kind kind)
{
	const struct sl_graph *graph = j->graph;

	for (size_t a = 0; a < graph->nodes[node].n_attributes; a++) {
		uint32_t body = sl__node_body_by_index(graph, node, a);
		const struct sl__block *block;

		if (body == SL__NONE)
			continue;
		block = &graph->blocks[body];
		for (size_t k = 0;
		     kind == SL__NODE_VISIT_LEAVE && k < block->n_outputs;
		     k++) {
			uint32_t sink = sl__body_owner_output(graph, body, k);

			add_use(j, block->outputs[k],
				sink == SL__NONE ? USE_PLAIN : j->uses[sink]);
		}
		for (size_t i = 0;
		     kind == SL__NODE_VISIT_ENTER && i < block->n_inputs; i++)
			add_use(j, sl__body_owner_input(graph, body, i),
				j->uses[block->inputs[i]]);
	}
}

static void
collect_uses(struct judge *j)
{
	for (size_t s = j->steps->n; s > 0; s--) {
		const struct sl__node_visit *step = &j->steps->rows[s - 1];
		const struct sl__node *node = &j->graph->nodes[step->node];
		unsigned out_uses = uses_of_outputs(j, node);

		if (step->kind != SL__NODE_VISIT_RUN) {
			carry_uses(j, step->node, step->kind);
			continue;
		}
		for (uint32_t i = 0; i < node->n_inputs; i++)
			add_use(j, node->inputs[i],
				use_of_input(node, i, out_uses));
	}
}

/* Behind these a tensor is still itself. */
static int
is_transparent(const struct sl__node *node)
{
	static const enum sl__op_id ids[] = {
		SL__OP_ONNX_Identity,  SL__OP_ONNX_Reshape,
		SL__OP_ONNX_Transpose, SL__OP_ONNX_Cast,
		SL__OP_ONNX_Squeeze,   SL__OP_ONNX_Unsqueeze,
		SL__OP_ONNX_Flatten,   SL__OP_ONNX_DequantizeLinear,
		SL__OP_ONNX_Expand,    SL__OP_ONNX_QuantizeLinear,
		SL__OP_ONNX_Slice,     SL__OP_MS_DequantizeLinear,
	};

	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
		if (sl__is_op(node, ids[i]))
			return 1;
	}
	return 0;
}

/* Whether a node only puts parameters into another form. */
static int
is_assembly(const struct judge *j, const struct sl__node *node)
{
	int is_concat = sl__is_op(node, SL__OP_ONNX_Concat);

	if ((!is_concat && !is_transparent(node)) || !node->n_outputs)
		return 0;
	for (uint32_t i = 0; i < (is_concat ? node->n_inputs : 1); i++) {
		if (node->inputs[i] == SL__NONE ||
		    !j->is_given[node->inputs[i]])
			return 0;
	}
	return 1;
}

/* Backwards, so that the first user is the last to be seen. */
static void
find_first_users(struct judge *j)
{
	for (size_t s = j->steps->n; s > 0; s--) {
		uint32_t id = j->steps->rows[s - 1].node;
		const struct sl__node *node = &j->graph->nodes[id];
		uint32_t target = id;

		if (is_assembly(j, node) && node->outputs[0] != SL__NONE &&
		    j->target[node->outputs[0]] != SL__NONE)
			target = j->target[node->outputs[0]];
		for (uint32_t i = 0; i < node->n_inputs; i++) {
			if (node->inputs[i] != SL__NONE)
				j->target[node->inputs[i]] = target;
		}
	}
}

static int
is_matmul(const struct sl__node *node)
{
	return sl__is_op(node, SL__OP_ONNX_MatMul) ||
	       sl__is_op(node, SL__OP_ONNX_Gemm) ||
	       sl__is_op(node, SL__OP_ONNX_Conv) ||
	       sl__is_op(node, SL__OP_ONNX_ConvTranspose);
}

/* What adding or multiplying 'other' says about parameter p. */
static void
judge_element(struct judge *j, const struct sl__node *node, uint32_t p,
	      uint32_t other)
{
	const struct sl__value *v = &j->graph->values[other];
	int is_sum = sl__is_op(node, SL__OP_ONNX_Add);

	if (is_sum && v->producer != SL__NONE &&
	    is_matmul(&j->graph->nodes[v->producer]))
		j->is_bias[p] = 1;
	if (!is_sum && !j->is_learnt[other] && j->origin[other] == SL__NONE)
		j->prepares[p] = 1;
}

static void
visit_inputs(struct judge *j, uint32_t id)
{
	const struct sl__node *node = &j->graph->nodes[id];
	int is_view = is_transparent(node);

	if (is_assembly(j, node) && node->outputs[0] != SL__NONE)
		j->is_given[node->outputs[0]] = 1;
	for (uint32_t i = 0; i < node->n_inputs; i++) {
		uint32_t p = SL__NONE;

		if (node->inputs[i] != SL__NONE)
			p = j->origin[node->inputs[i]];
		if (p == SL__NONE)
			continue;
		if (is_view && i == 0 && node->n_outputs &&
		    node->outputs[0] != SL__NONE) {
			j->origin[node->outputs[0]] = p;
			continue;
		}
		if (sl__node_input_use_code(node, i) == 'e' &&
		    node->n_inputs == 2 && node->inputs[1 - i] != SL__NONE)
			judge_element(j, node, p, node->inputs[1 - i]);
	}
}

static int
is_learnt_input(const struct judge *j, uint32_t value)
{
	if (value == SL__NONE)
		return 0;
	return j->is_learnt[value] ||
	       (j->graph->values[value].tensor &&
		j->uses[value] & (USE_FACTOR | USE_TABLE | USE_STATISTIC));
}

static void
spread_learning(struct judge *j, const struct sl__node *node)
{
	int is_learnt = 0;

	for (uint32_t i = 0; i < node->n_inputs; i++)
		is_learnt = is_learnt || is_learnt_input(j, node->inputs[i]);
	for (uint32_t k = 0; is_learnt && k < node->n_outputs; k++) {
		if (node->outputs[k] != SL__NONE)
			j->is_learnt[node->outputs[k]] = 1;
	}
}

/* Into a body what comes in is taken for learnt where anything is; out of it
 * what any branch learnt. */
static void
carry_learning(struct judge *j, uint32_t node, enum sl__node_visit_kind kind)
{
	const struct sl_graph *graph = j->graph;

	for (size_t a = 0; a < graph->nodes[node].n_attributes; a++) {
		uint32_t body = sl__node_body_by_index(graph, node, a);
		const struct sl__block *block;

		if (body == SL__NONE)
			continue;
		block = &graph->blocks[body];
		for (size_t i = 0;
		     kind == SL__NODE_VISIT_ENTER && i < block->n_inputs; i++) {
			uint32_t from = sl__body_owner_input(graph, body, i);

			j->is_learnt[block->inputs[i]] |=
				(unsigned char)is_learnt_input(j, from);
			if (from != SL__NONE)
				j->origin[block->inputs[i]] = j->origin[from];
		}
		for (size_t k = 0;
		     kind == SL__NODE_VISIT_LEAVE && k < block->n_outputs;
		     k++) {
			uint32_t sink = sl__body_owner_output(graph, body, k);

			if (sink != SL__NONE)
				j->is_learnt[sink] |=
					j->is_learnt[block->outputs[k]];
		}
	}
}

static void
follow(struct judge *j)
{
	for (size_t s = 0; s < j->steps->n; s++) {
		const struct sl__node_visit *step = &j->steps->rows[s];

		if (step->kind == SL__NODE_VISIT_RUN) {
			visit_inputs(j, step->node);
			spread_learning(j, &j->graph->nodes[step->node]);
		} else {
			carry_learning(j, step->node, step->kind);
		}
	}
}

/* Dimensions larger than 1. */
static int
n_extents(const struct sl__tensor *t)
{
	int n = 0;

	for (size_t i = 0; i < t->rank; i++)
		n += t->dims[i] > 1;
	return n;
}

static int
ends_in(const char *name, const char *end)
{
	size_t n = strlen(name), n_end = strlen(end);

	return n >= n_end && !strcmp(name + n - n_end, end);
}

/* Fixed filters, windows and frequencies that only their names betray. */
static int
is_named_constant(const char *name)
{
	return ends_in(name, "_buffer") || strstr(name, "inv_freq") ||
	       strstr(name, "cos_cached") || strstr(name, "sin_cached");
}

/* In a model that keeps its weights as initializers, what is added by way of
 * a Constant node is no weight: anchors, grids, means. */
static int
is_written_constant(const struct judge *j, uint32_t value)
{
	return j->has_stored_factors &&
	       j->graph->values[value].producer != SL__NONE;
}

static enum sl_role
judge_float(const struct judge *j, uint32_t value)
{
	const struct sl__tensor *t = j->graph->values[value].tensor;
	unsigned uses = j->uses[value];
	int is_wave = uses & USE_WAVE && !(uses & USE_PLAIN);

	if ((is_wave && n_extents(t) <= 1) ||
	    is_named_constant(j->graph->values[value].name))
		return SL_ROLE_CONSTANT;
	if (uses & USE_FACTOR)
		return SL_ROLE_WEIGHT;
	if (uses & USE_STATISTIC)
		return SL_ROLE_STATISTIC;
	if (t->n_elements == 1)
		return j->is_bias[value] && t->rank ? SL_ROLE_WEIGHT
						    : SL_ROLE_CONSTANT;
	if (uses & (USE_TABLE | USE_ELEMENT) && sl__looks_like_sinusoids(t))
		return SL_ROLE_CONSTANT;
	if (uses & USE_TABLE)
		return t->rank >= 2 ? SL_ROLE_WEIGHT : SL_ROLE_CONSTANT;
	if (uses & USE_ELEMENT && t->rank >= 1 && !j->prepares[value] &&
	    !is_written_constant(j, value) && !sl__looks_like_mask(t))
		return SL_ROLE_WEIGHT;
	return uses & USE_OPAQUE ? SL_ROLE_WEIGHT : SL_ROLE_CONSTANT;
}

/* Integers are weights where a quantized operator takes them for such. */
static enum sl_role
judge_integer(const struct judge *j, uint32_t value)
{
	const struct sl__tensor *t = j->graph->values[value].tensor;
	unsigned uses = j->uses[value], n_bits = sl_dtype_bits(t->dtype);

	if (t->dtype == SL_DTYPE_BOOL || n_bits > 32)
		return SL_ROLE_CONSTANT;
	if (uses & USE_FACTOR)
		return SL_ROLE_WEIGHT;
	if (uses & USE_TABLE && t->rank >= 2 && n_bits <= 8)
		return SL_ROLE_WEIGHT;
	return uses & USE_SCALED && uses & USE_ELEMENT && t->n_elements > 1
		       ? SL_ROLE_WEIGHT
		       : SL_ROLE_CONSTANT;
}

static enum sl_role
judge_value(const struct judge *j, uint32_t value)
{
	const struct sl__tensor *t = j->graph->values[value].tensor;

	if (t->n_elements == 0)
		return SL_ROLE_CONSTANT;
	switch (sl__dtype_family(t->dtype)) {
	case SL__DTYPE_FLOAT:
		return judge_float(j, value);
	case SL__DTYPE_INTEGER:
		return judge_integer(j, value);
	case SL__DTYPE_OTHER:
		break;
	}
	return SL_ROLE_CONSTANT;
}

static int
has_stored_factors(const struct judge *j)
{
	for (size_t v = 0; v < j->graph->n_values; v++) {
		if (j->graph->values[v].tensor && j->uses[v] & USE_FACTOR &&
		    j->graph->values[v].producer == SL__NONE)
			return 1;
	}
	return 0;
}

static enum sl_status
make_tables(struct judge *j, struct sl__arena *result,
	    struct sl__arena *scratch, struct sl_error *err)
{
	size_t n = j->graph->n_values;
	struct sl__roles *roles = j->roles;

	roles->role = sl__arena_array(result, n, sizeof(*roles->role));
	roles->tied_to = sl__arena_array(result, n, sizeof(*roles->tied_to));
	roles->first_user =
		sl__arena_array(result, n, sizeof(*roles->first_user));
	j->uses = sl__arena_alloc(scratch, n);
	j->is_learnt = sl__arena_alloc(scratch, n);
	j->is_bias = sl__arena_alloc(scratch, n);
	j->prepares = sl__arena_alloc(scratch, n);
	j->is_given = sl__arena_alloc(scratch, n);
	j->origin = sl__arena_array(scratch, n, sizeof(*j->origin));
	if (!roles->role || !roles->tied_to || !roles->first_user || !j->uses ||
	    !j->is_learnt || !j->is_bias || !j->prepares || !j->origin ||
	    !j->is_given)
		return sl__fail_nomem(err);
	j->target = roles->first_user;
	for (uint32_t v = 0; v < n; v++) {
		roles->tied_to[v] = roles->first_user[v] = SL__NONE;
		j->origin[v] = j->graph->values[v].tensor ? v : SL__NONE;
		j->is_given[v] = j->graph->values[v].tensor != NULL;
	}
	return SL_OK;
}

enum sl_status
sl__roles_classify(struct sl__roles *out,
		   const struct sl__execution_order *steps,
		   struct sl__arena *arena, struct sl_error *err)
{
	struct judge j = {.steps = steps, .graph = steps->graph, .roles = out};
	struct sl__arena scratch;
	enum sl_status rc;

	memset(out, 0, sizeof(*out));
	sl__arena_init(&scratch, &arena->allocator);
	rc = make_tables(&j, arena, &scratch, err);
	if (!rc) {
		collect_uses(&j);
		follow(&j);
		find_first_users(&j);
		j.has_stored_factors = has_stored_factors(&j);
		for (uint32_t v = 0; v < j.graph->n_values; v++) {
			if (j.graph->values[v].tensor)
				out->role[v] = judge_value(&j, v);
		}
		rc = sl__roles_tie(out, j.graph, arena, err);
	}
	if (!rc)
		rc = sl__roles_find_folded_norms(out, j.graph, arena, err);
	sl__arena_release(&scratch);
	return rc;
}

uint64_t
sl__parameter_n_elements(const struct sl__roles *roles,
			 const struct sl_graph *graph, size_t value)
{
	uint64_t n_stored = graph->values[value].tensor->n_stored;
	uint32_t user = roles->first_user[value];
	const struct sl__node *node;
	int64_t k, n, all;

	if (user == SL__NONE ||
	    !sl__is_op(&graph->nodes[user], SL__OP_MS_MatMulNBits))
		return n_stored;
	node = &graph->nodes[user];
	k = sl__attribute_int(node, "K", 0);
	n = sl__attribute_int(node, "N", 0);
	/* No more than bytes can hold: of 2 bits or more each. */
	if (node->inputs[1] != value || k < 1 || n < 1 ||
	    __builtin_mul_overflow(k, n, &all) || (uint64_t)all / 4 > n_stored)
		return n_stored;
	return (uint64_t)all;
}

const char *
sl_role_text(enum sl_role role)
{
	static const char *const texts[] = {"weight", "statistic", "constant",
					    "tied copy"};

	return (unsigned)role <= SL_ROLE_TIED ? texts[role] : "unknown";
}
