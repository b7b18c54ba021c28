/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attention.c - finding attention in a graph, whole or in pieces.
 *
 * A Softmax is attention's when a product of two activations lies before it,
 * with only scaling and masking between, and its result goes into another.
 * It is causal when a triangle takes part in the masking: a Trilu, a constant
 * triangle, or a comparison of two ranges of positions.  Which values carry a
 * triangle is found in one pass forwards.
 */
#include "cost/attention.h"
#include "base/dtype.h"
#include "base/status.h"
#include "cost/tensor_patterns.h"
#include "graph/op_rules.h"

#include <string.h>

#include "base/banned.h"

enum {
	WALK_MOST = 32, /* nodes between Softmax and a product */
	CHAIN_MOST = 12 /* views between keys and their product */
};

/* What a value carries that masks are made of. */
enum trait { TRAIT_TRIANGLE = 1, TRAIT_RANGE = 2 };

struct finder {
	struct sl__shapes *shapes;
	const struct sl_graph *graph;
	const struct sl__costs *costs;
	const struct sl__cost_analysis_inputs *forward;
	struct sl__value_users users;
	unsigned char *traits; /* per value */
	unsigned *seen;        /* per node: number of the walk that saw it */
	unsigned n_walks;
	size_t n_candidates; /* nodes that may be attention, or part of it */
	struct sl__attentions *out;
};

static int
is_any(const struct sl__node *node, const enum sl__op_id *ids, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (sl__is_op(node, ids[i]))
			return 1;
	}
	return 0;
}
#define IS_ANY(node, ids) is_any(node, ids, sizeof(ids) / sizeof((ids)[0]))

static int
is_comparison(const struct sl__node *node)
{
	static const enum sl__op_id ids[] = {
		SL__OP_ONNX_Less, SL__OP_ONNX_LessOrEqual, SL__OP_ONNX_Greater,
		SL__OP_ONNX_GreaterOrEqual};

	return IS_ANY(node, ids);
}

/* Masks are computed from masks by these. */
static int
hands_traits_on(const struct sl__node *node)
{
	static const enum sl__op_id ids[] = {SL__OP_ONNX_Add,
					     SL__OP_ONNX_Sub,
					     SL__OP_ONNX_Mul,
					     SL__OP_ONNX_Div,
					     SL__OP_ONNX_Where,
					     SL__OP_ONNX_Cast,
					     SL__OP_ONNX_CastLike,
					     SL__OP_ONNX_Slice,
					     SL__OP_ONNX_Squeeze,
					     SL__OP_ONNX_Unsqueeze,
					     SL__OP_ONNX_Reshape,
					     SL__OP_ONNX_Expand,
					     SL__OP_ONNX_Tile,
					     SL__OP_ONNX_Transpose,
					     SL__OP_ONNX_Not,
					     SL__OP_ONNX_And,
					     SL__OP_ONNX_Or,
					     SL__OP_ONNX_Equal,
					     SL__OP_ONNX_Gather,
					     SL__OP_ONNX_GatherND,
					     SL__OP_ONNX_ScatterND,
					     SL__OP_ONNX_ScatterElements,
					     SL__OP_ONNX_Concat,
					     SL__OP_ONNX_Identity,
					     SL__OP_ONNX_Min,
					     SL__OP_ONNX_Max,
					     SL__OP_ONNX_Neg,
					     SL__OP_ONNX_Clip,
					     SL__OP_ONNX_Pad,
					     SL__OP_ONNX_DequantizeLinear,
					     SL__OP_ONNX_QuantizeLinear};

	return IS_ANY(node, ids);
}

/* Small or square tensors only are looked into. */
static unsigned
traits_of_tensor(const struct sl__tensor *t)
{
	size_t r = t->rank;

	if (r >= 2 && t->dims[r - 1] >= 2 && t->dims[r - 1] == t->dims[r - 2] &&
	    (t->n_elements ==
	     (uint64_t)t->dims[r - 1] * (uint64_t)t->dims[r - 1]) &&
	    sl__looks_triangular(t))
		return TRAIT_TRIANGLE;
	return 0;
}

/* Integers that count up from the first, such as positions. */
static int
is_counting(const struct sl__tensor *t)
{
	int64_t first[4];

	return sl__dtype_family(t->dtype) == SL__DTYPE_INTEGER &&
	       t->n_elements >= 4 && sl_dtype_bits(t->dtype) >= 32 &&
	       sl__tensor_integers(t, 0, 4, first) &&
	       first[0] < INT64_MAX - 3 && first[1] == first[0] + 1 &&
	       first[2] == first[0] + 2 && first[3] == first[0] + 3;
}

static unsigned
traits_of_inputs(struct finder *f, const struct sl__node *node, int *n_ranges)
{
	unsigned traits = 0;

	*n_ranges = 0;
	for (uint32_t i = 0; i < node->n_inputs; i++) {
		uint32_t value = node->inputs[i];

		if (value == SL__NONE)
			continue;
		traits |= f->traits[value];
		*n_ranges += (f->traits[value] & TRAIT_RANGE) != 0;
	}
	return traits;
}

static void
spread_traits(struct finder *f, uint32_t id)
{
	const struct sl__node *node = &f->graph->nodes[id];
	int n_ranges;
	unsigned traits = traits_of_inputs(f, node, &n_ranges);

	if (sl__is_op(node, SL__OP_ONNX_Trilu))
		traits = TRAIT_TRIANGLE;
	else if (sl__is_op(node, SL__OP_ONNX_Range) ||
		 sl__is_op(node, SL__OP_ONNX_CumSum))
		traits = TRAIT_RANGE;
	else if (is_comparison(node))
		traits = n_ranges >= 2 ? TRAIT_TRIANGLE
				       : traits & TRAIT_TRIANGLE;
	else if (!hands_traits_on(node))
		traits = 0;
	for (uint32_t k = 0; k < node->n_outputs; k++) {
		if (node->outputs[k] != SL__NONE)
			f->traits[node->outputs[k]] |= (unsigned char)traits;
	}
}

static void
find_traits(struct finder *f)
{
	for (size_t v = 0; v < f->graph->n_values; v++) {
		const struct sl__tensor *t = f->graph->values[v].tensor;

		if (t && f->forward->roles->role[v] == SL_ROLE_CONSTANT &&
		    sl__dtype_family(t->dtype) != SL__DTYPE_OTHER)
			f->traits[v] =
				(unsigned char)(is_counting(t)
							? TRAIT_RANGE
							: traits_of_tensor(t));
	}
	for (size_t s = 0; s < f->forward->steps->n; s++) {
		if (f->forward->steps->rows[s].kind == SL__NODE_VISIT_RUN)
			spread_traits(f, f->forward->steps->rows[s].node);
	}
}

/* Operators that are attention by themselves. */
static int
is_whole(const struct sl__node *node)
{
	static const enum sl__op_id ids[] = {
		SL__OP_ONNX_Attention, SL__OP_MS_Attention,
		SL__OP_MS_QAttention, SL__OP_MS_MultiHeadAttention,
		SL__OP_MS_GroupQueryAttention};

	return IS_ANY(node, ids);
}

static int
is_product_of_activations(const struct finder *f, uint32_t node)
{
	return f->costs->per_call[node].work == SL_WORK_PRODUCT &&
	       f->graph->nodes[node].n_inputs >= 2 &&
	       !is_whole(&f->graph->nodes[node]);
}

/* What may stand between a product and the Softmax, on either side. */
static int
is_between(const struct sl__node *node)
{
	static const enum sl__op_id ids[] = {SL__OP_ONNX_Add,
					     SL__OP_ONNX_Sub,
					     SL__OP_ONNX_Mul,
					     SL__OP_ONNX_Div,
					     SL__OP_ONNX_Where,
					     SL__OP_ONNX_Cast,
					     SL__OP_ONNX_Reshape,
					     SL__OP_ONNX_Transpose,
					     SL__OP_ONNX_Identity,
					     SL__OP_ONNX_Max,
					     SL__OP_ONNX_Min,
					     SL__OP_ONNX_Clip,
					     SL__OP_ONNX_Tanh,
					     SL__OP_ONNX_Slice,
					     SL__OP_ONNX_Concat,
					     SL__OP_ONNX_Squeeze,
					     SL__OP_ONNX_Unsqueeze,
					     SL__OP_ONNX_Dropout,
					     SL__OP_ONNX_Flatten,
					     SL__OP_ONNX_IsNaN,
					     SL__OP_ONNX_QuantizeLinear,
					     SL__OP_ONNX_DequantizeLinear};

	return IS_ANY(node, ids);
}

struct queue {
	uint32_t nodes[WALK_MOST];
	size_t n;
};

static void
enqueue(struct finder *f, struct queue *q, uint32_t node)
{
	if (node == SL__NONE || q->n == WALK_MOST ||
	    f->seen[node] == f->n_walks)
		return;
	f->seen[node] = f->n_walks;
	q->nodes[q->n++] = node;
}

/* The product before a Softmax, or SL__NONE. */
static uint32_t
find_scores(struct finder *f, uint32_t softmax)
{
	struct queue q = {.n = 0};

	f->n_walks++;
	enqueue(f, &q,
		f->graph->values[f->graph->nodes[softmax].inputs[0]].producer);
	for (size_t i = 0; i < q.n; i++) {
		const struct sl__node *node = &f->graph->nodes[q.nodes[i]];

		if (is_product_of_activations(f, q.nodes[i]))
			return q.nodes[i];
		if (!is_between(node))
			continue;
		for (uint32_t k = 0; k < node->n_inputs; k++) {
			if (node->inputs[k] != SL__NONE)
				enqueue(f, &q,
					f->graph->values[node->inputs[k]]
						.producer);
		}
	}
	return SL__NONE;
}

static void
enqueue_users(struct finder *f, struct queue *q, const struct sl__node *node)
{
	uint32_t value = node->n_outputs ? node->outputs[0] : SL__NONE;

	if (value == SL__NONE)
		return;
	for (uint32_t u = f->users.first[value]; u < f->users.first[value + 1];
	     u++)
		enqueue(f, q, f->users.nodes[u]);
}

/* The product behind a Softmax, or SL__NONE. */
static uint32_t
find_mixing(struct finder *f, uint32_t softmax)
{
	struct queue q = {.n = 0};

	f->n_walks++;
	enqueue_users(f, &q, &f->graph->nodes[softmax]);
	for (size_t i = 0; i < q.n; i++) {
		const struct sl__node *node = &f->graph->nodes[q.nodes[i]];

		if (is_product_of_activations(f, q.nodes[i]))
			return q.nodes[i];
		if (is_between(node))
			enqueue_users(f, &q, node);
	}
	return SL__NONE;
}

static uint64_t
elements_of(const struct finder *f, uint32_t value)
{
	uint64_t n = 0;

	if (value == SL__NONE ||
	    !sl__type_elements(&f->shapes->types[value], &n))
		return 0;
	return n;
}

/* The input that a value is a view, a copy or a multiple of; SL__NONE where it
 * is computed otherwise. */
static uint32_t
source_of(const struct finder *f, uint32_t value)
{
	static const enum sl__op_id copies[] = {
		SL__OP_ONNX_Transpose, SL__OP_ONNX_Reshape,
		SL__OP_ONNX_Expand,    SL__OP_ONNX_Tile,
		SL__OP_ONNX_Unsqueeze, SL__OP_ONNX_Squeeze,
		SL__OP_ONNX_Identity,  SL__OP_ONNX_Cast,
		SL__OP_ONNX_Flatten};
	uint32_t producer = f->graph->values[value].producer;
	const struct sl__node *node;

	if (producer == SL__NONE)
		return SL__NONE;
	node = &f->graph->nodes[producer];
	if (IS_ANY(node, copies))
		return node->inputs[0];
	/* The scale may stand on the side of the keys. */
	if ((sl__is_op(node, SL__OP_ONNX_Mul) ||
	     sl__is_op(node, SL__OP_ONNX_Div)) &&
	    elements_of(f, node->inputs[1]) == 1)
		return node->inputs[0];
	return SL__NONE;
}

/* Keys and values are counted before their heads are repeated for several
 * queries: the fewest elements on the way back. */
static uint64_t
fewest_elements(const struct finder *f, uint32_t value)
{
	uint64_t fewest = elements_of(f, value);

	for (int i = 0; i < CHAIN_MOST && value != SL__NONE; i++) {
		uint64_t n;

		value = source_of(f, value);
		n = elements_of(f, value);
		if (n && n < fewest)
			fewest = n;
	}
	return fewest;
}

/* The operand of the second product that is not the Softmax's: values. */
static uint32_t
values_of(const struct finder *f, const struct sl__attention *a)
{
	const struct sl__node *node = &f->graph->nodes[a->mixing];
	uint32_t left = node->inputs[0], right = node->inputs[1];
	uint64_t n_left = elements_of(f, left);

	/* The walk came from the weights of the mixing: batch x heads x
	 * queries x keys, in general on the left. */
	if (left != SL__NONE && f->graph->values[left].producer != SL__NONE &&
	    f->seen[f->graph->values[left].producer] != f->n_walks &&
	    right != SL__NONE && f->graph->values[right].producer != SL__NONE &&
	    f->seen[f->graph->values[right].producer] == f->n_walks && n_left)
		return left;
	return right;
}

static void
measure_pieces(struct finder *f, struct sl__attention *a, uint32_t softmax)
{
	const struct sl__type *scores =
		&f->shapes->types[f->graph->nodes[softmax].inputs[0]];
	uint32_t values = values_of(f, a);
	uint64_t n_k, n_v;

	if (scores->rank >= 2 && scores->dims[scores->rank - 1] > 0 &&
	    scores->dims[scores->rank - 2] > 0) {
		a->n_keys = (uint64_t)scores->dims[scores->rank - 1];
		a->n_queries = (uint64_t)scores->dims[scores->rank - 2];
	}
	n_k = fewest_elements(f, f->graph->nodes[a->scores].inputs[1]);
	n_v = fewest_elements(f, values);
	a->kv_elements = n_k && n_v ? sl__saturating_add(n_k, n_v) : 0;
	if (values != SL__NONE)
		a->dtype = f->shapes->types[values].dtype;
}

/* Of n_queries x n_keys scores, the square at the end is half needless;
 * tokens before it are seen by all. */
static uint64_t
masked_of(const struct sl__attention *a, uint64_t macs)
{
	if (!a->is_causal || a->n_queries <= 1 || a->n_keys < a->n_queries)
		return 0;
	if (a->n_queries == a->n_keys)
		return macs / 2;
	return (uint64_t)((double)macs * (double)a->n_queries /
			  (2 * (double)a->n_keys));
}

static void
add_row(struct finder *f, const struct sl__attention *a)
{
	struct sl__attentions *out = f->out;
	const uint32_t nodes[] = {a->scores, a->mixing};

	out->rows[out->n++] = *a;
	for (size_t i = 0; i < 2; i++) {
		if (i == 1 && a->mixing == a->scores)
			break;
		out->is_causal[nodes[i]] = a->is_causal != 0;
		out->masked_macs[nodes[i]] =
			masked_of(a, out->product_macs[nodes[i]]);
	}
}

static void
try_softmax(struct finder *f, uint32_t softmax)
{
	const struct sl__node *node = &f->graph->nodes[softmax];
	struct sl__attention a = {0};

	if (node->inputs[0] == SL__NONE)
		return;
	a.scores = find_scores(f, softmax);
	if (a.scores == SL__NONE)
		return;
	a.mixing = find_mixing(f, softmax);
	if (a.mixing == SL__NONE || a.mixing == a.scores)
		return;
	a.is_causal = (f->traits[node->inputs[0]] & TRAIT_TRIANGLE) != 0;
	measure_pieces(f, &a, softmax);
	add_row(f, &a);
}

static int
has_projections(const struct sl__node *node)
{
	return sl__is_op(node, SL__OP_MS_Attention) ||
	       sl__is_op(node, SL__OP_MS_QAttention);
}

static int
is_whole_causal(const struct finder *f, const struct sl__node *node)
{
	/* Where an additive mask stands. */
	uint32_t i = sl__is_op(node, SL__OP_ONNX_Attention) ? 3 : 5;

	if (sl__is_op(node, SL__OP_MS_GroupQueryAttention) ||
	    sl__attribute_int(node, "is_causal", 0) ||
	    sl__attribute_int(node, "unidirectional", 0))
		return 1;
	return i < node->n_inputs && node->inputs[i] != SL__NONE &&
	       f->traits[node->inputs[i]] & TRAIT_TRIANGLE;
}

/* Tokens of [batch][tokens][width] or [batch][heads][tokens][width]. */
static uint64_t
tokens_of(const struct finder *f, uint32_t value)
{
	const struct sl__type *type;

	if (value == SL__NONE)
		return 0;
	type = &f->shapes->types[value];
	if (type->rank < 3 || type->dims[type->rank == 4 ? 2 : 1] < 0)
		return 0;
	return (uint64_t)type->dims[type->rank == 4 ? 2 : 1];
}

/* The second output of those that hand a cache on holds all keys so far. */
static void
measure_cache(const struct finder *f, struct sl__attention *a,
	      const struct sl__node *node)
{
	int is_packed = has_projections(node);
	uint32_t n_needed = is_packed ? 2 : 3;
	const struct sl__type *type;

	if (node->n_outputs < n_needed || node->outputs[1] == SL__NONE)
		return;
	type = &f->shapes->types[node->outputs[1]];
	if (type->rank != (is_packed ? 5 : 4) || type->dims[type->rank - 2] < 0)
		return;
	a->n_keys = (uint64_t)type->dims[type->rank - 2];
	a->kv_elements = elements_of(f, node->outputs[1]);
	if (!is_packed)
		a->kv_elements += elements_of(f, node->outputs[2]);
}

static void
measure_whole(const struct finder *f, struct sl__attention *a,
	      const struct sl__node *node)
{
	uint32_t keys = node->n_inputs > 1 ? node->inputs[1] : SL__NONE;
	uint32_t values = node->n_inputs > 2 ? node->inputs[2] : SL__NONE;

	a->n_queries = a->n_keys = tokens_of(f, node->inputs[0]);
	if (has_projections(node)) {
		uint64_t width = sl__in_dim(
			&(struct sl__rule_context){.shapes = f->shapes,
						   .node = node},
			1, 1);

		a->kv_elements =
			a->n_queries * 2 * (width / 3) *
			sl__in_dim(
				&(struct sl__rule_context){.shapes = f->shapes,
							   .node = node},
				0, 0);
	} else if (keys != SL__NONE && values != SL__NONE) {
		a->n_keys = tokens_of(f, keys);
		a->kv_elements = elements_of(f, keys) + elements_of(f, values);
	}
	measure_cache(f, a, node);
	a->dtype = f->shapes->types[node->outputs[0]].dtype;
}

static void
add_whole(struct finder *f, uint32_t id)
{
	const struct sl__node *node = &f->graph->nodes[id];
	const struct sl_cost *cost = &f->costs->per_call[id];
	struct sl__attention a = {.scores = id, .mixing = id};
	struct sl__rule_context call = {.shapes = f->shapes, .node = node};

	if (cost->basis == SL_BASIS_UNKNOWN || node->inputs[0] == SL__NONE ||
	    !node->n_outputs || node->outputs[0] == SL__NONE)
		return;
	a.is_causal = is_whole_causal(f, node);
	measure_whole(f, &a, node);
	f->out->product_macs[id] = cost->macs;
	if (has_projections(node)) {
		uint64_t rows = sl__saturating_mul(sl__in_dim(&call, 0, 0),
						   sl__in_dim(&call, 0, 1));
		uint64_t linear =
			sl__saturating_mul(rows, sl__in_elements(&call, 1));

		f->out->product_macs[id] =
			cost->macs > linear ? cost->macs - linear : 0;
	}
	add_row(f, &a);
}

static int
is_softmax(const struct sl__node *node)
{
	return sl__is_op(node, SL__OP_ONNX_Softmax) && node->n_inputs;
}

static enum sl_status
make_tables(struct finder *f, struct sl__arena *arena,
	    struct sl__arena *scratch, struct sl_error *err)
{
	struct sl__attentions *out = f->out;
	size_t n = f->graph->n_nodes;

	for (size_t i = 0; i < n; i++)
		f->n_candidates += is_softmax(&f->graph->nodes[i]) ||
				   is_whole(&f->graph->nodes[i]);
	out->rows = sl__arena_array(arena, f->n_candidates, sizeof(*out->rows));
	out->product_macs = sl__arena_array(arena, n, sizeof(uint64_t));
	out->masked_macs = sl__arena_array(arena, n, sizeof(uint64_t));
	out->is_causal = sl__arena_alloc(arena, n);
	f->traits = sl__arena_alloc(scratch, f->graph->n_values);
	f->seen = sl__arena_array(scratch, n, sizeof(*f->seen));
	if (!out->rows || !out->product_macs || !out->masked_macs ||
	    !out->is_causal || !f->traits || !f->seen)
		return sl__fail_nomem(err);
	return sl__value_users_find(&f->users, f->graph, scratch, err);
}

enum sl_status
sl__attentions_find(struct sl__attentions *out,
		    const struct sl__cost_analysis_inputs *forward,
		    struct sl__arena *arena, struct sl_error *err)
{
	const struct sl__costs *costs = forward->costs;
	struct finder f = {.shapes = forward->shapes,
			   .graph = forward->shapes->graph,
			   .costs = costs,
			   .forward = forward,
			   .out = out};
	struct sl__arena scratch;
	enum sl_status rc;

	memset(out, 0, sizeof(*out));
	sl__arena_init(&scratch, &arena->allocator);
	rc = make_tables(&f, arena, &scratch, err);
	if (!rc) {
		if (f.n_candidates)
			find_traits(&f);
		for (uint32_t i = 0; i < f.graph->n_nodes; i++) {
			if (costs->per_call[i].work == SL_WORK_PRODUCT)
				out->product_macs[i] = costs->per_call[i].macs;
		}
		for (uint32_t i = 0; i < f.graph->n_nodes; i++) {
			if (costs->n_calls[i] == 0)
				continue;
			if (is_softmax(&f.graph->nodes[i]))
				try_softmax(&f, i);
			else if (is_whole(&f.graph->nodes[i]))
				add_whole(&f, i);
		}
	}
	sl__arena_release(&scratch);
	return rc;
}

/* Adds a state whose new value is longer along one dimension. */
static int
add_state(struct sl__kv *kv, const struct sl__type *old,
	  const struct sl__type *new, int64_t batch)
{
	uint64_t n_bytes, n_elements;

	if (old->rank != new->rank || old->rank < 1 ||
	    !sl__type_bytes(new, &n_bytes) ||
	    !sl__type_elements(new, &n_elements))
		return 0;
	for (int d = 0; d < new->rank; d++) {
		if (old->dims[d] < 0 || new->dims[d] <= old->dims[d])
			continue;
		kv->bytes += (double)n_bytes;
		kv->bytes_per_token +=
			(double)n_bytes / (double)new->dims[d] / (double)batch;
		kv->elements_per_token += (double)n_elements /
					  (double)new->dims[d] / (double)batch;
		return 1;
	}
	return 0;
}

void
sl__kv_of(struct sl__kv *kv, const struct sl__shapes *shapes,
	  const struct sl__attentions *attentions, int64_t batch)
{
	const struct sl_graph *graph = shapes->graph;
	const struct sl__block *main = &graph->blocks[0];
	int has_states = 0;

	memset(kv, 0, sizeof(*kv));
	for (size_t k = 0; attentions->n && k < main->n_outputs; k++) {
		uint32_t new = main->outputs[k];
		uint32_t old = graph->values[new].old_state;

		if (old != SL__NONE && add_state(kv, &shapes->types[old],
						 &shapes->types[new], batch))
			has_states = 1;
	}
	for (size_t i = 0; i < attentions->n; i++) {
		const struct sl__attention *a = &attentions->rows[i];
		double n_bytes =
			(double)a->kv_elements * sl_dtype_bits(a->dtype) / 8;

		if (!a->is_causal && !has_states)
			continue;
		kv->n_attentions++;
		if (has_states || !a->n_keys)
			continue;
		kv->bytes += n_bytes;
		kv->bytes_per_token +=
			n_bytes / (double)a->n_keys / (double)batch;
		kv->elements_per_token += (double)a->kv_elements /
					  (double)a->n_keys / (double)batch;
	}
	if (!has_states && !kv->n_attentions)
		kv->absent = attentions->n ? "no attention here is causal: "
					     "nothing is kept from token to "
					     "token"
					   : "the model has no attention that "
					     "was recognised";
}
