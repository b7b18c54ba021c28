/* SPDX-License-Identifier: Apache-2.0 */
/*
 * backward.c - what training would compute and keep.
 *
 * Which values need a gradient is found by reachability from the weights.
 * Memory follows from that: values that some gradient is computed from are
 * kept from forward to backward (each storage once), gradients of activations
 * live while their activations would, mirrored, and gradients of weights from
 * their last user backwards.  An estimate: frameworks differ in what they
 * keep.
 */
#include "cost/backward.h"
#include "base/dtype.h"
#include "base/status.h"
#include "graph/body.h"
#include "graph/op_rules.h"

#include <math.h>
#include <string.h>

#include "base/banned.h"

struct trainer {
	const struct sl__cost_analysis_inputs *forward;
	const struct sl_graph *graph;
	const struct sl__attentions *attentions;
	const struct sl__liveness *live;
	unsigned char *needs; /* per value: a gradient */
	uint32_t *kept_from;  /* per storage: first step whose gradient needs
				 it; SL__NONE: none does */
	uint32_t *last_user;  /* per value: last step that uses it */
	uint64_t extra_bytes; /* kept, but no value of the graph */
};

static int
needs(const struct trainer *t, uint32_t value)
{
	return value != SL__NONE && t->needs[value];
}

static int
in_needs(const struct trainer *t, const struct sl__node *node, uint32_t i)
{
	return i < node->n_inputs && needs(t, node->inputs[i]);
}

static int
is_whole_number(const struct trainer *t, uint32_t value)
{
	return sl__dtype_family(t->forward->shapes->types[value].dtype) ==
	       SL__DTYPE_INTEGER;
}

/* Gradients end at integers, except where these stand for real numbers: they
 * come from a quantizing operator, or from others that do. */
static int
carries_gradient(const struct trainer *t, const struct sl__node *node,
		 uint32_t value)
{
	if (!is_whole_number(t, value))
		return 1;
	for (uint32_t i = 0; i < node->n_inputs; i++) {
		if (in_needs(t, node, i) && is_whole_number(t, node->inputs[i]))
			return t->forward->shapes->types[value].dtype !=
			       SL_DTYPE_BOOL;
	}
	return sl__is_op(node, SL__OP_ONNX_QuantizeLinear) ||
	       sl__is_op(node, SL__OP_MS_QuantizeLinear) ||
	       sl__is_op(node, SL__OP_ONNX_DynamicQuantizeLinear);
}

static void
reach_node(struct trainer *t, uint32_t id, uint32_t step)
{
	const struct sl__node *node = &t->graph->nodes[id];
	int any = 0;

	for (uint32_t i = 0; i < node->n_inputs; i++) {
		any = any || in_needs(t, node, i);
		if (node->inputs[i] != SL__NONE)
			t->last_user[node->inputs[i]] = step;
	}
	for (uint32_t k = 0; any && k < node->n_outputs; k++) {
		uint32_t value = node->outputs[k];

		if (value != SL__NONE && carries_gradient(t, node, value))
			t->needs[value] = 1;
	}
}

/* Into bodies and out of them; a loop's results come in again. */
static void
reach_bodies(struct trainer *t, const struct sl__node_visit *step)
{
	const struct sl_graph *graph = t->graph;

	for (size_t a = 0; a < graph->nodes[step->node].n_attributes; a++) {
		uint32_t body = sl__node_body_by_index(graph, step->node, a);
		const struct sl__block *block;

		if (body == SL__NONE)
			continue;
		block = &graph->blocks[body];
		for (size_t i = 0; i < block->n_inputs; i++)
			t->needs[block->inputs[i]] |= (unsigned char)needs(
				t, sl__body_owner_input(graph, body, i));
		for (size_t k = 0; k < block->n_outputs; k++) {
			uint32_t sink = sl__body_owner_output(graph, body, k);
			uint32_t again =
				sl__body_feedback_input(graph, body, k);

			if (!needs(t, block->outputs[k]))
				continue;
			if (sink != SL__NONE)
				t->needs[sink] = 1;
			if (again != SL__NONE)
				t->needs[again] = 1;
		}
	}
}

static void
reach(struct trainer *t)
{
	const struct sl__execution_order *steps = t->forward->steps;
	/* Twice where there are bodies: what a turn computes reaches the next. */
	int n_rounds = t->graph->n_blocks > 1 ? 2 : 1;

	for (size_t v = 0; v < t->graph->n_values; v++)
		t->needs[v] = t->graph->values[v].tensor &&
			      (t->forward->roles->role[v] == SL_ROLE_WEIGHT ||
			       t->forward->roles->role[v] == SL_ROLE_TIED);
	for (int round = 0; round < n_rounds; round++) {
		for (uint32_t s = 0; s < steps->n; s++) {
			if (t->forward->costs->n_calls[steps->rows[s].node] ==
			    0)
				continue;
			if (steps->rows[s].kind == SL__NODE_VISIT_RUN)
				reach_node(t, steps->rows[s].node, s);
			else
				reach_bodies(t, &steps->rows[s]);
		}
	}
}

static uint64_t
half(uint64_t macs, int n)
{
	return sl__saturating_mul(macs, (uint64_t)n) / 2;
}

/* Q K' has two operands, the mixing of V two more, of half the MACs each. */
static uint64_t
attention_macs(const struct trainer *t, const struct sl__node *node,
	       uint64_t macs)
{
	int q = in_needs(t, node, 0), k = in_needs(t, node, 1);
	int v = in_needs(t, node, 2);

	if (node->n_inputs < 3 || node->inputs[1] == SL__NONE ||
	    node->inputs[2] == SL__NONE) /* packed */
		k = v = q;
	return half(macs, q + k + (q || k) + v);
}

static uint64_t
projected_macs(const struct trainer *t, const struct sl__node *node,
	       uint64_t macs, uint64_t products)
{
	uint64_t linear = macs - products;
	int x = in_needs(t, node, 0), w = in_needs(t, node, 1);

	return sl__saturating_add(sl__saturating_mul(linear, (uint64_t)(x + w)),
				  x || w ? sl__saturating_mul(products, 2) : 0);
}

/*
 * Of W x + R h the part of W needs the gradient of x only where x does, and
 * in the first step that of R the gradient of h only where the state that is
 * given does.  A state that is left out is the layer's own and counts like
 * those of the other steps.
 */
static uint64_t
recurrent_macs(const struct trainer *t, const struct sl__node *node,
	       uint64_t macs)
{
	struct sl__rule_context call = {.shapes = t->forward->shapes,
					.node = node};
	uint64_t n_in = sl__in_dim(&call, 1, 2);
	uint64_t n_all = n_in + sl__in_dim(&call, 2, 2);
	uint64_t of_input = n_all ? macs / n_all * n_in : macs;
	uint64_t n_steps = sl__in_dim(
		&call, 0, sl__attribute_int(node, "layout", 0) ? 1 : 0);
	uint64_t first = n_steps ? (macs - of_input) / n_steps : 0;
	int is_start_given = sl__has_in(&call, 5);

	if (!in_needs(t, node, 1) && !in_needs(t, node, 2))
		return in_needs(t, node, 0) ? macs : 0;
	return sl__saturating_mul(macs, 2) -
	       (in_needs(t, node, 0) ? 0 : of_input) -
	       (is_start_given && !in_needs(t, node, 5) ? first : 0);
}

/* Inputs that are factors of the product: all that are marked so. */
static uint64_t
plain_macs(const struct trainer *t, const struct sl__node *node, uint64_t macs)
{
	static const enum sl__op_id biased[] = {
		SL__OP_ONNX_Conv,
		SL__OP_ONNX_ConvTranspose,
		SL__OP_ONNX_Gemm,
		SL__OP_ONNX_DeformConv,
		SL__OP_MS_FusedConv,
		SL__OP_MS_FusedGemm,
		SL__OP_MS_NhwcConv,
		SL__OP_MS_NhwcFusedConv,
		SL__OP_ONNX_ConvInteger,
		SL__OP_ONNX_MatMulInteger,
		SL__OP_MS_MatMulNBits,
		SL__OP_MS_MatMulIntegerToFloat,
		SL__OP_MS_DynamicQuantizeMatMul};
	uint32_t n_factors = node->n_inputs, second = 1, n = 0;

	if (sl__is_op(node, SL__OP_ONNX_QLinearConv) ||
	    sl__is_op(node, SL__OP_ONNX_QLinearMatMul) ||
	    sl__is_op(node, SL__OP_MS_QLinearConv) ||
	    sl__is_op(node, SL__OP_MS_QGemm))
		second = 3;
	for (size_t i = 0; i < sizeof(biased) / sizeof(biased[0]); i++) {
		if (sl__is_op(node, biased[i]))
			n_factors = 2;
	}
	if (second == 3)
		return sl__saturating_mul(macs,
					  (uint64_t)(in_needs(t, node, 0) +
						     in_needs(t, node, 3)));
	for (uint32_t i = 0; i < n_factors; i++)
		n += (uint32_t)in_needs(t, node, i);
	return sl__saturating_mul(macs, n);
}

static uint64_t
backward_macs(const struct trainer *t, uint32_t id)
{
	const struct sl__node *node = &t->graph->nodes[id];
	const struct sl_cost *cost = &t->forward->costs->per_call[id];

	if (sl__is_op(node, SL__OP_MS_Attention) ||
	    sl__is_op(node, SL__OP_MS_QAttention))
		return projected_macs(t, node, cost->macs,
				      t->attentions->product_macs[id]);
	if (sl__is_op(node, SL__OP_ONNX_Attention) ||
	    sl__is_op(node, SL__OP_MS_MultiHeadAttention) ||
	    sl__is_op(node, SL__OP_MS_GroupQueryAttention))
		return attention_macs(t, node, cost->macs);
	if (cost->work == SL_WORK_RECURRENT)
		return recurrent_macs(t, node, cost->macs);
	return plain_macs(t, node, cost->macs);
}

static void
count_flops(const struct trainer *t, struct sl_training *out)
{
	const struct sl__costs *costs = t->forward->costs;
	uint64_t forward = 0, backward = 0;

	for (uint32_t i = 0; i < t->graph->n_nodes; i++) {
		uint64_t n_calls = costs->n_calls[i];

		if (!costs->per_call[i].macs || !n_calls)
			continue;
		forward = sl__saturating_add(
			forward,
			sl__saturating_mul(costs->per_call[i].macs, n_calls));
		backward = sl__saturating_add(
			backward,
			sl__saturating_mul(backward_macs(t, i), n_calls));
	}
	out->forward_flops = sl__saturating_mul(forward, 2);
	out->backward_flops = sl__saturating_mul(backward, 2);
	out->total_flops =
		sl__saturating_add(out->forward_flops, out->backward_flops);
	out->backward_to_forward = forward ? (double)backward / (double)forward
					   : (double)NAN;
}

static void
keep(struct trainer *t, uint32_t value, uint32_t step)
{
	uint32_t s = value == SL__NONE ? SL__NONE : t->live->storage[value];

	if (s != SL__NONE && t->kept_from[s] == SL__NONE)
		t->kept_from[s] = step;
}

/* What the gradient of a node is computed from. */
enum keeping {
	KEEP_NOTHING, /* sums, copies, averages */
	KEEP_INPUTS,  /* all of them: products, norms, most functions */
	KEEP_OUTPUT,  /* functions whose slope follows from their result */
	KEEP_OTHERS   /* of a product of operands: for each that needs a
			 gradient the others */
};

static enum keeping
keeping_of(const struct trainer *t, uint32_t id)
{
	static const struct {
		enum sl__op_id id;
		enum keeping keeping;
	} rows[] = {
		{SL__OP_ONNX_Relu, KEEP_OUTPUT},
		{SL__OP_ONNX_Sigmoid, KEEP_OUTPUT},
		{SL__OP_ONNX_Tanh, KEEP_OUTPUT},
		{SL__OP_ONNX_Softmax, KEEP_OUTPUT},
		{SL__OP_ONNX_LogSoftmax, KEEP_OUTPUT},
		{SL__OP_ONNX_Exp, KEEP_OUTPUT},
		{SL__OP_ONNX_Sqrt, KEEP_OUTPUT},
		{SL__OP_ONNX_Reciprocal, KEEP_OUTPUT},
		{SL__OP_ONNX_Mul, KEEP_OTHERS},
		{SL__OP_ONNX_Div, KEEP_OTHERS},
		{SL__OP_ONNX_Where, KEEP_NOTHING},
		{SL__OP_ONNX_Add, KEEP_NOTHING},
		{SL__OP_ONNX_Sub, KEEP_NOTHING},
		{SL__OP_ONNX_Sum, KEEP_NOTHING},
		{SL__OP_ONNX_Mean, KEEP_NOTHING},
		{SL__OP_ONNX_Neg, KEEP_NOTHING},
		{SL__OP_ONNX_Cast, KEEP_NOTHING},
		{SL__OP_ONNX_AveragePool, KEEP_NOTHING},
		{SL__OP_ONNX_GlobalAveragePool, KEEP_NOTHING},
		{SL__OP_ONNX_ReduceMean, KEEP_NOTHING},
		{SL__OP_ONNX_ReduceSum, KEEP_NOTHING},
		{SL__OP_ONNX_Resize, KEEP_NOTHING},
		{SL__OP_ONNX_Upsample, KEEP_NOTHING},
	};
	enum sl_work work = t->forward->costs->per_call[id].work;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (sl__is_op(&t->graph->nodes[id], rows[i].id))
			return rows[i].keeping;
	}
	if (work == SL_WORK_LINEAR || work == SL_WORK_PRODUCT ||
	    work == SL_WORK_CONVOLUTION)
		return KEEP_OTHERS;
	if (work == SL_WORK_VIEW || work == SL_WORK_MOVEMENT ||
	    work == SL_WORK_QUANTIZE || work == SL_WORK_EMBEDDING)
		return KEEP_NOTHING;
	return KEEP_INPUTS;
}

/* Every turn of a loop keeps its own. */
static uint64_t
n_turns(const struct trainer *t, uint32_t block)
{
	uint64_t n = t->forward->shapes->block_calls[block];

	return n == 0 || n >= SL__CALLS_OVERFLOW ? 1 : n;
}

/* Gates and cell states of every step are kept too: 5 numbers per hidden one
 * of an LSTM (four gates, the cell), 4 of a GRU, none but h of an RNN. */
static void
keep_gates(struct trainer *t, const struct sl__node *node)
{
	struct sl__rule_context call = {.shapes = t->forward->shapes,
					.node = node};
	uint64_t n = sl__saturating_mul(sl__in_dim(&call, 0, 0),
					sl__in_dim(&call, 0, 1));
	uint64_t per_hidden = 0, n_bytes = 0;

	if (sl__is_op(node, SL__OP_ONNX_LSTM))
		per_hidden = 5;
	else if (sl__is_op(node, SL__OP_ONNX_GRU))
		per_hidden = 4;
	n = sl__saturating_mul(n, sl__saturating_mul(sl__in_dim(&call, 2, 0),
						     sl__in_dim(&call, 2, 2)));
	if (sl__dtype_bytes(&n_bytes, sl__in_dtype(&call, 0),
			    sl__saturating_mul(n, per_hidden)))
		t->extra_bytes = sl__saturating_add(
			t->extra_bytes,
			sl__saturating_mul(n_bytes, n_turns(t, node->block)));
}

static void
keep_for(struct trainer *t, uint32_t id, uint32_t step)
{
	const struct sl__node *node = &t->graph->nodes[id];
	enum keeping keeping = keeping_of(t, id);
	uint32_t n_needing = 0;

	for (uint32_t i = 0; i < node->n_inputs; i++)
		n_needing += (uint32_t)in_needs(t, node, i);
	if (!n_needing)
		return;
	if (t->forward->costs->per_call[id].work == SL_WORK_RECURRENT) {
		keep_gates(t, node);
		for (uint32_t k = 0; k < node->n_outputs; k++)
			keep(t, node->outputs[k], step);
	}
	if (keeping == KEEP_OUTPUT && node->n_outputs)
		keep(t, node->outputs[0], step);
	for (uint32_t i = 0; i < node->n_inputs; i++) {
		uint32_t n_others = n_needing - (uint32_t)in_needs(t, node, i);

		if (keeping == KEEP_INPUTS ||
		    (keeping == KEEP_OTHERS && n_others))
			keep(t, node->inputs[i], step);
	}
	/* Both gradients of a / b are computed from b. */
	if (sl__is_op(node, SL__OP_ONNX_Div) && node->n_inputs > 1)
		keep(t, node->inputs[1], step);
}

/* Bytes of a storage, from forward to backward where they are kept. */
static uint64_t
held_bytes(const struct trainer *t, size_t v)
{
	if (t->kept_from[v] == SL__NONE)
		return t->live->n_bytes[v];
	return sl__saturating_mul(t->live->n_bytes[v],
				  n_turns(t, t->graph->values[v].block));
}

struct series {
	int64_t *change; /* per step, and one more */
	size_t n;
	uint64_t all;
	size_t at; /* of the peak */
};

static uint64_t
peak_of(struct series *s)
{
	uint64_t peak = sl__running_sum_peak(s->change, s->n, &s->at);

	return s->all > INT64_MAX ? INT64_MAX : peak;
}

static void
add_interval(struct series *s, uint32_t first, uint32_t last, uint64_t n_bytes)
{
	s->all = sl__saturating_add(s->all, n_bytes);
	if (s->all > INT64_MAX)
		return;
	s->change[first] += (int64_t)n_bytes;
	s->change[last + 1] -= (int64_t)n_bytes;
}

/* Kept values stay to the end of the forward pass, the others as ever. */
static uint64_t
forward_peak(const struct trainer *t, struct series *s)
{
	const struct sl__liveness *live = t->live;

	memset(s->change, 0, (s->n + 1) * sizeof(*s->change));
	s->all = 0;
	for (size_t v = 0; v < t->graph->n_values; v++) {
		if (live->storage[v] != v || live->birth[v] == SL__NONE)
			continue;
		add_interval(s, live->birth[v],
			     t->kept_from[v] == SL__NONE ? live->death[v]
							 : (uint32_t)s->n - 1,
			     held_bytes(t, v));
	}
	return peak_of(s);
}

/* Whether the gradient of a stored number is computed. */
static int
is_trained(const struct trainer *t, size_t value)
{
	return t->graph->values[value].tensor && t->needs[value] &&
	       t->forward->roles->role[value] == SL_ROLE_WEIGHT &&
	       t->last_user[value] != SL__NONE;
}

/* Step s of the mirror: what is kept for it and those before, gradients of
 * activations alive around it, and of weights used at it or later. */
static uint64_t
backward_peak(const struct trainer *t, struct series *s)
{
	const struct sl__liveness *live = t->live;

	memset(s->change, 0, (s->n + 1) * sizeof(*s->change));
	s->all = 0;
	for (size_t v = 0; v < t->graph->n_values; v++) {
		if (is_trained(t, v))
			add_interval(s, 0, t->last_user[v],
				     t->graph->values[v].tensor->n_bytes);
		if (live->storage[v] != v || live->birth[v] == SL__NONE)
			continue;
		if (t->kept_from[v] != SL__NONE)
			add_interval(s, t->kept_from[v], (uint32_t)s->n - 1,
				     held_bytes(t, v));
		if (t->needs[v])
			add_interval(s, live->birth[v], live->death[v],
				     live->n_bytes[v]);
	}
	return peak_of(s);
}

/* Gradients of weights that are there at that step of the mirror. */
static uint64_t
gradients_at(const struct trainer *t, size_t step)
{
	uint64_t sum = 0;

	for (size_t v = 0; v < t->graph->n_values; v++) {
		if (is_trained(t, v) && t->last_user[v] >= step)
			sum = sl__saturating_add(
				sum, t->graph->values[v].tensor->n_bytes);
	}
	return sum;
}

/* A copy's gradient is added to its weight's, from the copy's last use on. */
static void
share_copies(struct trainer *t)
{
	for (size_t v = 0; v < t->graph->n_values; v++) {
		uint32_t to = t->forward->roles->tied_to[v];

		if (!t->graph->values[v].tensor || to == SL__NONE ||
		    t->last_user[v] == SL__NONE)
			continue;
		if (t->last_user[to] == SL__NONE ||
		    t->last_user[to] < t->last_user[v])
			t->last_user[to] = t->last_user[v];
	}
}

static void
sum_parameters(const struct trainer *t, struct sl_training *out)
{
	uint64_t n_elements = 0;

	for (size_t v = 0; v < t->graph->n_values; v++) {
		const struct sl__tensor *tensor = t->graph->values[v].tensor;

		if (!tensor)
			continue;
		if (t->forward->roles->role[v] != SL_ROLE_WEIGHT) {
			out->other_bytes = sl__saturating_add(
				out->other_bytes,
				sl__tensor_stored_bytes(tensor));
			continue;
		}
		n_elements = sl__saturating_add(
			n_elements, sl__parameter_n_elements(t->forward->roles,
							     t->graph, v));
		out->parameter_bytes = sl__saturating_add(
			out->parameter_bytes, sl__tensor_stored_bytes(tensor));
		out->gradient_bytes = sl__saturating_add(out->gradient_bytes,
							 tensor->n_bytes);
		if (sl__dtype_family(tensor->dtype) == SL__DTYPE_INTEGER)
			out->integer_bytes = sl__saturating_add(
				out->integer_bytes, tensor->n_bytes);
	}
	/* Moments are f32, whatever the weights are. */
	out->optimizer_bytes[SL_OPTIMIZER_MOMENTUM] =
		sl__saturating_mul(n_elements, 4);
	out->optimizer_bytes[SL_OPTIMIZER_ADAM] =
		sl__saturating_mul(n_elements, 8);
	out->optimizer_bytes[SL_OPTIMIZER_ADAMW] =
		sl__saturating_mul(n_elements, 8);
}

static void
find_needs(const struct trainer *t, struct sl_training *out, struct series *s)
{
	struct sl_phase_need *needs = out->needs;
	uint64_t most = 0, backward;

	needs[SL_PHASE_FORWARD].activation_bytes =
		sl__saturating_add(forward_peak(t, s), t->extra_bytes);
	backward = backward_peak(t, s);
	needs[SL_PHASE_BACKWARD].gradient_bytes = gradients_at(t, s->at);
	needs[SL_PHASE_BACKWARD].activation_bytes = sl__saturating_add(
		backward - needs[SL_PHASE_BACKWARD].gradient_bytes,
		t->extra_bytes);
	needs[SL_PHASE_UPDATE].gradient_bytes = out->gradient_bytes;
	for (int p = 0; p < SL_N_PHASES; p++) {
		uint64_t n = sl__saturating_add(needs[p].gradient_bytes,
						needs[p].activation_bytes);

		if (n > most) {
			most = n;
			out->peak_phase = (enum sl_phase)p;
		}
	}
}

static void
sum_memory(const struct trainer *t, struct sl_training *out)
{
	uint64_t stored =
		sl__saturating_add(out->parameter_bytes, out->other_bytes);

	out->activation_bytes = t->extra_bytes;
	for (size_t v = 0; v < t->graph->n_values; v++) {
		if (t->kept_from[v] != SL__NONE)
			out->activation_bytes = sl__saturating_add(
				out->activation_bytes, held_bytes(t, v));
	}
	out->peak_bytes[SL_OPTIMIZER_NONE] =
		sl__saturating_add(stored, t->live->peak_bytes);
	out->total_bytes[SL_OPTIMIZER_NONE] =
		out->peak_bytes[SL_OPTIMIZER_NONE];
	for (int o = SL_OPTIMIZER_SGD; o < SL_N_OPTIMIZERS; o++) {
		uint64_t held =
			sl__saturating_add(stored, out->optimizer_bytes[o]);

		for (int p = 0; p < SL_N_PHASES; p++)
			out->phase_bytes[o][p] = sl__saturating_add(
				held, sl__saturating_add(
					      out->needs[p].gradient_bytes,
					      out->needs[p].activation_bytes));
		out->peak_bytes[o] = out->phase_bytes[o][out->peak_phase];
		out->total_bytes[o] = sl__saturating_add(
			held, sl__saturating_add(out->gradient_bytes,
						 out->activation_bytes));
	}
}

enum sl_status
sl__training_of(struct sl_training *out,
		const struct sl__cost_analysis_inputs *forward,
		const struct sl__attentions *attentions,
		const struct sl__liveness *liveness, struct sl__arena *arena,
		struct sl_error *err)
{
	const struct sl_graph *graph = forward->shapes->graph;
	struct trainer t = {.forward = forward,
			    .graph = graph,
			    .attentions = attentions,
			    .live = liveness};
	struct series series = {.n = forward->steps->n};
	size_t n = graph->n_values;
	struct sl__arena scratch;
	enum sl_status rc = SL_OK;

	memset(out, 0, sizeof(*out));
	sl__arena_init(&scratch, &arena->allocator);
	t.needs = sl__arena_alloc(&scratch, n);
	t.kept_from = sl__arena_array(&scratch, n, sizeof(*t.kept_from));
	t.last_user = sl__arena_array(&scratch, n, sizeof(*t.last_user));
	series.change =
		sl__arena_array(&scratch, series.n + 1, sizeof(*series.change));
	if (!t.needs || !t.kept_from || !t.last_user || !series.change) {
		rc = sl__fail_nomem(err);
		goto out;
	}
	for (size_t v = 0; v < n; v++)
		t.kept_from[v] = t.last_user[v] = SL__NONE;
	reach(&t);
	share_copies(&t);
	for (uint32_t s = 0; s < forward->steps->n; s++) {
		const struct sl__node_visit *step = &forward->steps->rows[s];

		if (step->kind == SL__NODE_VISIT_RUN &&
		    forward->costs->n_calls[step->node])
			keep_for(&t, step->node, s);
	}
	count_flops(&t, out);
	sum_parameters(&t, out);
	if (series.n)
		find_needs(&t, out, &series);
	sum_memory(&t, out);
out:
	sl__arena_release(&scratch);
	return rc;
}

const char *
sl_optimizer_text(enum sl_optimizer optimizer)
{
	static const char *const texts[] = {"none", "sgd", "momentum", "adam",
					    "adamw"};

	return (unsigned)optimizer <= SL_OPTIMIZER_ADAMW ? texts[optimizer]
							 : "unknown";
}

const char *
sl_phase_text(enum sl_phase phase)
{
	static const char *const texts[] = {"forward", "backward", "update",
					    "loss",    "data",     "recompute"};

	return (unsigned)phase <= SL_PHASE_RECOMPUTE ? texts[phase] : "unknown";
}
