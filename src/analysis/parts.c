/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parts.c - what each operation is for in its network.
 *
 * The graph of the program is looked at: what was fused is one node there,
 * and its part is that of what it mainly does.  By kind of work:
 *
 *   convolution    convolutions, and pooling, which ends or thins them
 *   normalisation  all norms, decomposed ones where fusion made one of them
 *   recurrent      LSTM, GRU, RNN
 *   embedding      rows of a weight looked up; in a model with attention also
 *                  a convolution of its input in steps as long as its window:
 *                  patches
 *   data movement  what only moves or views: transposes, splits, reorders
 *   other          control flow, whatever its bodies do
 *   feed-forward   products with a weight, unless they are one of these:
 *
 *   attention      both products and what stands between them; backwards from
 *                  there all that nothing else needs, up to the product with a
 *                  weight that makes queries, keys or values; forwards, through
 *                  movement, the product with a weight that takes the result.
 *                  What makes the mask belongs to it.  A residual sum is
 *                  needed by others too and ends the search.
 *   head           a product with a weight whose result alone makes an output,
 *                  with no other layer between, and what follows it
 *
 * What is element-wise takes the part of the layers before it where that is
 * one and the same, and is other where not, as residual sums are, and behind
 * a norm.
 */
#include "analysis/parts.h"
#include "base/status.h"
#include "cost/attention.h"
#include "graph/op_rules.h"

#include "base/banned.h"

/* The part that a value brings along when it comes from weights alone. */
#define NEUTRAL ((enum sl_part)SL_N_PARTS)

struct reader {
	const struct sl_graph *graph;
	struct sl__shapes *shapes;
	struct sl__execution_order steps;
	struct sl__value_users users;
	struct sl__costs costs; /* per_call and n_calls only */
	struct sl__attentions attentions;
	enum sl_part *part;      /* by node */
	enum sl_part *carried;   /* by node: what its result brings along */
	unsigned char *is_asked; /* by node: an open one uses its result */
	unsigned char *is_open;  /* by node: of attention, and what is before
				    it may be too */
	uint32_t *origin;        /* by node: the last layer before it, or it;
				    SL__NONE: none, or more than one */
	unsigned char *goes_on;  /* by node: a layer that is not the last */
	unsigned char *mixed;    /* by value: attention's result, moved */
};

static enum sl_work
work_of(const struct reader *r, uint32_t node)
{
	return r->costs.per_call[node].work;
}

static int
is_parameter(const struct reader *r, uint32_t node, uint32_t i)
{
	struct sl__rule_context call = {.shapes = r->shapes,
					.node = &r->graph->nodes[node]};

	return sl__in_is_parameter(&call, i);
}

/* Inputs that are no weights; and the first of them, or SL__NONE. */
static uint32_t
n_activations(const struct reader *r, uint32_t node, uint32_t *first)
{
	const struct sl__node *n = &r->graph->nodes[node];
	uint32_t count = 0;

	*first = SL__NONE;
	for (uint32_t i = 0; i < n->n_inputs; i++) {
		if (n->inputs[i] == SL__NONE || is_parameter(r, node, i))
			continue;
		if (!count++)
			*first = n->inputs[i];
	}
	return count;
}

static int
is_movement(const struct reader *r, uint32_t node)
{
	return work_of(r, node) == SL_WORK_MOVEMENT ||
	       work_of(r, node) == SL_WORK_VIEW;
}

static int
is_elementwise(const struct reader *r, uint32_t node)
{
	return work_of(r, node) == SL_WORK_OTHER ||
	       work_of(r, node) == SL_WORK_ACTIVATION ||
	       work_of(r, node) == SL_WORK_QUANTIZE;
}

static int
is_norm(const struct reader *r, uint32_t node)
{
	const struct sl__op *op = r->graph->nodes[node].op;

	return work_of(r, node) == SL_WORK_BATCH_NORM ||
	       work_of(r, node) == SL_WORK_LAYER_NORM ||
	       (op &&
		(op->cost == sl__cost_lrn || op->cost == sl__cost_lp_norm));
}

/* A convolution with a window of 1 is a product with a weight, at every
 * position. */
static int
is_pointwise(const struct reader *r, uint32_t node)
{
	const struct sl__node *n = &r->graph->nodes[node];
	const struct sl__type *t;

	if (work_of(r, node) != SL_WORK_CONVOLUTION || n->n_inputs < 2 ||
	    n->inputs[1] == SL__NONE)
		return 0;
	t = &r->shapes->types[n->inputs[1]];
	for (int d = 2; d < t->rank; d++) {
		if (t->dims[d] != 1)
			return 0;
	}
	return t->rank > 2;
}

static int
is_linear(const struct reader *r, uint32_t node)
{
	return work_of(r, node) == SL_WORK_LINEAR || is_pointwise(r, node);
}

/* For nodes whose sizes depend on data the cost rule is not asked; which one
 * it is still says what they do. */
static enum sl_work
work_by_rule(const struct reader *r, uint32_t node)
{
	const struct sl__op *op = r->graph->nodes[node].op;

	if (!op)
		return SL_WORK_OTHER;
	if (op->cost == sl__cost_conv || op->cost == sl__cost_conv_transpose ||
	    op->cost == sl__cost_post_conv)
		return SL_WORK_CONVOLUTION;
	if (op->cost == sl__cost_matmul || op->cost == sl__cost_gemm ||
	    op->cost == sl__cost_post_matmul)
		return is_parameter(r, node, 0) || is_parameter(r, node, 1)
			       ? SL_WORK_LINEAR
			       : SL_WORK_PRODUCT;
	if (op->cost == sl__cost_recurrent)
		return SL_WORK_RECURRENT;
	if (op->cost == sl__cost_layer_norm || op->cost == sl__cost_rms_norm)
		return SL_WORK_LAYER_NORM;
	if (op->cost == sl__cost_batch_norm)
		return SL_WORK_BATCH_NORM;
	if (op->cost == sl__cost_gather)
		return is_parameter(r, node, 0) ? SL_WORK_EMBEDDING
						: SL_WORK_MOVEMENT;
	if (op->cost == sl__cost_movement || op->cost == sl__cost_slice ||
	    op->cost == sl__cost_scatter || op->cost == sl__cost_sequence)
		return SL_WORK_MOVEMENT;
	return SL_WORK_OTHER;
}

static enum sl_part
part_of_work(const struct reader *r, uint32_t node)
{
	static const enum sl_part parts[SL_N_WORKS] = {
		[SL_WORK_CONVOLUTION] = SL_PART_CONVOLUTION,
		[SL_WORK_POOL] = SL_PART_CONVOLUTION,
		[SL_WORK_ADAPTIVE_POOL] = SL_PART_CONVOLUTION,
		[SL_WORK_MOVEMENT] = SL_PART_MOVEMENT,
		[SL_WORK_VIEW] = SL_PART_MOVEMENT,
		[SL_WORK_LINEAR] = SL_PART_FEED_FORWARD,
		[SL_WORK_RECURRENT] = SL_PART_RECURRENT,
		[SL_WORK_EMBEDDING] = SL_PART_EMBEDDING,
	};
	const struct sl__op *op = r->graph->nodes[node].op;

	if (is_norm(r, node))
		return SL_PART_NORMALIZATION;
	if (op && op->cost == sl__cost_embed_layer_norm)
		return SL_PART_EMBEDDING;
	return parts[work_of(r, node)];
}

static enum sl_status
read_works(struct reader *r, struct sl_error *err)
{
	for (uint32_t i = 0; i < r->graph->n_nodes; i++) {
		struct sl_cost *cost = &r->costs.per_call[i];

		sl__cost_node(r->shapes, i, cost);
		if (cost->basis == SL_BASIS_UNKNOWN)
			cost->work = work_by_rule(r, i);
		r->costs.n_calls[i] = 1;
		r->origin[i] = SL__NONE;
	}
	if (r->shapes->is_short)
		return sl__fail_nomem(err);
	for (uint32_t i = 0; i < r->graph->n_nodes; i++)
		r->part[i] = part_of_work(r, i);
	return SL_OK;
}

/* An operator that projects too takes the tokens themselves. */
static void
seed_attention(struct reader *r)
{
	for (size_t i = 0; i < r->attentions.n; i++) {
		const struct sl__attention *a = &r->attentions.rows[i];
		uint32_t out = r->graph->nodes[a->mixing].outputs[0];

		r->part[a->scores] = r->part[a->mixing] = SL_PART_ATTENTION;
		r->is_open[a->scores] = r->is_open[a->mixing] =
			work_of(r, a->mixing) != SL_WORK_LINEAR;
		if (out != SL__NONE && r->is_open[a->mixing])
			r->mixed[out] = 1;
	}
	for (uint32_t i = 0; i < r->graph->n_nodes; i++) {
		if (sl__is_op(&r->graph->nodes[i],
			      SL__OP_ONNX_LinearAttention)) {
			r->part[i] = SL_PART_ATTENTION;
			r->is_open[i] = 1;
			r->mixed[r->graph->nodes[i].outputs[0]] = 1;
		}
	}
}

/* From a product of attention, through what moves it, to the product with a
 * weight that takes it. */
static void
follow_result(struct reader *r, uint32_t node)
{
	const struct sl__node *n = &r->graph->nodes[node];
	uint32_t first;
	uint32_t n_in = n_activations(r, node, &first);

	if (first == SL__NONE || !r->mixed[first] ||
	    r->part[node] == SL_PART_ATTENTION)
		return;
	if (is_linear(r, node)) {
		r->part[node] = SL_PART_ATTENTION;
		return;
	}
	if (!is_movement(r, node) && !(is_elementwise(r, node) && n_in == 1))
		return;
	if (!is_movement(r, node))
		r->part[node] = SL_PART_ATTENTION;
	for (uint32_t k = 0; k < n->n_outputs; k++) {
		if (n->outputs[k] != SL__NONE)
			r->mixed[n->outputs[k]] = 1;
	}
}

/* Whether nobody but attention, or what moves data, uses a node's results. */
static int
is_for_attention(const struct reader *r, uint32_t node)
{
	const struct sl__node *n = &r->graph->nodes[node];

	for (uint32_t k = 0; k < n->n_outputs; k++) {
		uint32_t v = n->outputs[k];

		if (v == SL__NONE)
			continue;
		for (uint32_t u = r->users.first[v]; u < r->users.first[v + 1];
		     u++) {
			if (!r->is_open[r->users.nodes[u]] &&
			    !is_movement(r, r->users.nodes[u]))
				return 0;
		}
	}
	return 1;
}

static void
ask_inputs(struct reader *r, uint32_t node)
{
	const struct sl__node *n = &r->graph->nodes[node];

	for (uint32_t i = 0; i < n->n_inputs; i++) {
		uint32_t maker =
			n->inputs[i] == SL__NONE
				? SL__NONE
				: r->graph->values[n->inputs[i]].producer;

		if (maker != SL__NONE)
			r->is_asked[maker] = 1;
	}
}

/* Nodes come in reverse order: all users have been judged. */
static void
judge_operand(struct reader *r, uint32_t node)
{
	int is_asked = r->is_asked[node] && r->part[node] != SL_PART_ATTENTION;
	int is_own = is_asked && is_for_attention(r, node);

	if (is_own && is_linear(r, node))
		r->part[node] = SL_PART_ATTENTION;
	else if ((is_asked && is_movement(r, node)) ||
		 (is_own &&
		  (r->part[node] == SL_PART_OTHER || is_norm(r, node))))
		r->is_open[node] = 1;
	if (r->is_open[node] && r->part[node] == SL_PART_OTHER)
		r->part[node] = SL_PART_ATTENTION;
	if (r->is_open[node])
		ask_inputs(r, node);
}

/* Whether nothing but movement and single element-wise nodes lie between a
 * value and an input of the model. */
static int
is_model_input(const struct reader *r, uint32_t value)
{
	enum { CHAIN_MOST = 16 };

	for (int i = 0; i < CHAIN_MOST && value != SL__NONE; i++) {
		uint32_t maker = r->graph->values[value].producer;

		if (maker == SL__NONE)
			return !r->graph->values[value].tensor;
		if (!is_movement(r, maker) && !is_elementwise(r, maker))
			return 0;
		if (n_activations(r, maker, &value) != 1)
			return 0;
	}
	return 0;
}

/* A convolution whose windows lie side by side: patches. */
static int
is_patches(const struct reader *r, uint32_t node)
{
	const struct sl__node *n = &r->graph->nodes[node];
	const struct sl__attribute *strides = sl__attribute_find(n, "strides");
	const struct sl__type *t;

	if (work_of(r, node) != SL_WORK_CONVOLUTION || n->n_inputs < 2 ||
	    n->inputs[1] == SL__NONE || !strides)
		return 0;
	t = &r->shapes->types[n->inputs[1]];
	if (t->rank < 3 || strides->n != (size_t)t->rank - 2)
		return 0;
	for (int d = 2; d < t->rank; d++) {
		if (t->dims[d] < 2 || strides->ints[d - 2] != t->dims[d])
			return 0;
	}
	return is_model_input(r, n->inputs[0]);
}

/* What makes a new value from weights or from several tokens; all else only
 * works on what such a node made. */
static int
is_layer(const struct reader *r, uint32_t node)
{
	enum sl_work work = work_of(r, node);

	return is_norm(r, node) || work == SL_WORK_CONVOLUTION ||
	       work == SL_WORK_LINEAR || work == SL_WORK_PRODUCT ||
	       work == SL_WORK_RECURRENT || work == SL_WORK_EMBEDDING;
}

/* The layer that an operand comes from; SL__NONE: several, or none. */
static uint32_t
origin_of(const struct reader *r, uint32_t value)
{
	uint32_t maker = r->graph->values[value].producer;

	return maker == SL__NONE ? SL__NONE : r->origin[maker];
}

/* Nodes come in order.  A layer whose result meets another's, or goes into
 * one, is not the last. */
static void
trace_origin(struct reader *r, uint32_t node)
{
	const struct sl__node *n = &r->graph->nodes[node];
	uint32_t first, common;

	(void)n_activations(r, node, &first);
	common = first == SL__NONE ? SL__NONE : origin_of(r, first);
	for (uint32_t i = 0; i < n->n_inputs; i++) {
		if (n->inputs[i] != SL__NONE && !is_parameter(r, node, i) &&
		    origin_of(r, n->inputs[i]) != common)
			common = SL__NONE;
	}
	r->origin[node] = is_layer(r, node) ? node : common;
	for (uint32_t i = 0; i < n->n_inputs; i++) {
		uint32_t from = n->inputs[i] == SL__NONE
					? SL__NONE
					: origin_of(r, n->inputs[i]);

		if (from != SL__NONE && r->origin[node] != from)
			r->goes_on[from] = 1;
	}
}

static void
find_heads(struct reader *r)
{
	const struct sl__block *model = &r->graph->blocks[0];

	for (size_t k = 0; k < model->n_outputs; k++) {
		const struct sl__value *v =
			&r->graph->values[model->outputs[k]];
		uint32_t last, first;

		if (v->producer == SL__NONE || v->old_state != SL__NONE)
			continue;
		last = r->origin[v->producer];
		if (last != SL__NONE && !r->goes_on[last] &&
		    r->part[last] == SL_PART_FEED_FORWARD &&
		    n_activations(r, last, &first) == 1)
			r->part[last] = SL_PART_HEAD;
	}
	for (uint32_t i = 0; i < r->graph->n_nodes; i++) {
		if (r->origin[i] != SL__NONE && r->origin[i] != i &&
		    r->part[r->origin[i]] == SL_PART_HEAD && !is_movement(r, i))
			r->part[i] = SL_PART_HEAD;
	}
}

/* What the operands of a node bring along: one part, or OTHER. */
static enum sl_part
brought(const struct reader *r, uint32_t node)
{
	const struct sl__node *n = &r->graph->nodes[node];
	enum sl_part all = NEUTRAL;

	for (uint32_t i = 0; i < n->n_inputs; i++) {
		enum sl_part part = SL_PART_OTHER;
		uint32_t maker;

		if (n->inputs[i] == SL__NONE || is_parameter(r, node, i))
			continue;
		maker = r->graph->values[n->inputs[i]].producer;
		if (maker != SL__NONE)
			part = r->carried[maker];
		if (part == NEUTRAL)
			continue;
		if (all != NEUTRAL && all != part)
			return SL_PART_OTHER;
		all = part;
	}
	return all;
}

static void
inherit(struct reader *r, uint32_t node)
{
	enum sl_part part = brought(r, node);

	if (is_movement(r, node)) {
		r->carried[node] = part;
		return;
	}
	if (r->part[node] == SL_PART_OTHER && part != NEUTRAL &&
	    is_elementwise(r, node))
		r->part[node] = part;
	r->carried[node] = r->part[node] == SL_PART_NORMALIZATION
				   ? SL_PART_OTHER
				   : r->part[node];
}

static void
forwards(struct reader *r, void (*judge)(struct reader *r, uint32_t node))
{
	for (size_t i = 0; i < r->steps.n; i++) {
		if (r->steps.rows[i].kind != SL__NODE_VISIT_LEAVE)
			judge(r, r->steps.rows[i].node);
	}
}

static void
backwards(struct reader *r, void (*judge)(struct reader *r, uint32_t node))
{
	for (size_t i = r->steps.n; i-- > 0;) {
		if (r->steps.rows[i].kind != SL__NODE_VISIT_LEAVE)
			judge(r, r->steps.rows[i].node);
	}
}

static enum sl_status
prepare(struct reader *r, struct sl__arena *arena, struct sl_error *err)
{
	size_t n = r->graph->n_nodes;
	enum sl_status rc =
		sl__execution_order_find(&r->steps, r->graph, arena, err);

	if (!rc)
		rc = sl__value_users_find(&r->users, r->graph, arena, err);
	if (rc)
		return rc;
	r->costs.per_call = sl__arena_array(arena, n, sizeof(struct sl_cost));
	r->costs.n_calls = sl__arena_array(arena, n, sizeof(uint64_t));
	r->part = sl__arena_array(arena, n, sizeof(*r->part));
	r->carried = sl__arena_array(arena, n, sizeof(*r->carried));
	r->is_asked = sl__arena_alloc(arena, n);
	r->is_open = sl__arena_alloc(arena, n);
	r->origin = sl__arena_array(arena, n, sizeof(*r->origin));
	r->goes_on = sl__arena_alloc(arena, n);
	r->mixed = sl__arena_alloc(arena, r->graph->n_values);
	if (!r->costs.per_call || !r->costs.n_calls || !r->part ||
	    !r->carried || !r->is_asked || !r->is_open || !r->origin ||
	    !r->goes_on || !r->mixed)
		return sl__fail_nomem(err);
	return SL_OK;
}

/* Whether an attention is causal does not matter here, so that nothing need
 * be known of what tensors are for. */
static enum sl_status
find_attentions(struct reader *r, struct sl__arena *arena, struct sl_error *err)
{
	struct sl__roles roles = {.role = sl__arena_array(arena,
							  r->graph->n_values,
							  sizeof(*roles.role))};
	struct sl__cost_analysis_inputs forward = {r->shapes, &r->costs,
						   &r->steps, &roles};

	if (!roles.role)
		return sl__fail_nomem(err);
	return sl__attentions_find(&r->attentions, &forward, arena, err);
}

static void
judge(struct reader *r)
{
	seed_attention(r);
	forwards(r, follow_result);
	backwards(r, judge_operand);
	for (uint32_t i = 0; r->attentions.n && i < r->graph->n_nodes; i++) {
		if (r->part[i] == SL_PART_CONVOLUTION && is_patches(r, i))
			r->part[i] = SL_PART_EMBEDDING;
	}
	forwards(r, trace_origin);
	find_heads(r);
	forwards(r, inherit);
}

static int
has_body(const struct sl__node *node)
{
	for (size_t i = 0; i < node->n_attributes; i++) {
		if (node->attributes[i].kind == SL__ATTRIBUTE_BLOCK)
			return 1;
	}
	return 0;
}

static enum sl_part
part_of_step(const struct reader *r, const struct sl__step *step)
{
	if (step->node == SL__NONE)
		return SL_PART_MOVEMENT;
	return has_body(&r->graph->nodes[step->node]) ? SL_PART_OTHER
						      : r->part[step->node];
}

enum sl_status
sl__network_parts_classify(enum sl_part *parts, const struct sl_plan *plan,
			   struct sl__arena *scratch, struct sl_error *err)
{
	const struct sl__program *p = plan->current;
	struct reader r = {.graph = p->graph};
	enum sl_status rc = sl__shapes_overlay(&r.shapes, p->shapes, err);

	if (!rc)
		rc = prepare(&r, scratch, err);
	if (!rc)
		rc = read_works(&r, err);
	if (!rc)
		rc = find_attentions(&r, scratch, err);
	if (rc)
		goto out;
	judge(&r);
	for (size_t i = 0; i < p->n_steps; i++)
		parts[i] = part_of_step(&r, &p->steps[i]);
out:
	sl__shapes_free(r.shapes);
	return rc;
}

enum sl_status
sl__profile_fill_network_parts(struct sl_profile *profile,
			       const struct sl_plan *plan,
			       struct sl__arena *scratch, struct sl_error *err)
{
	struct sl_operation *ops = profile->operations;
	enum sl_part *parts =
		sl__arena_array(scratch, sl_plan_n_steps(plan), sizeof(*parts));
	enum sl_status rc;

	if (!parts)
		return sl__fail_nomem(err);
	rc = sl__network_parts_classify(parts, plan, scratch, err);
	for (size_t i = 0; !rc && i < profile->n_operations; i++) {
		if (ops[i].phase != SL_PHASE_DATA)
			ops[i].part = parts[ops[i].step];
	}
	return rc;
}
