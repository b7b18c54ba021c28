/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kv_cache.c - decoders that keep the keys and values of earlier tokens.
 *
 * Values are of two kinds: those that depend on tokens, and those that follow
 * from the length of the text, such as positions and causal masks, however the
 * exporter writes them.  With a cache the former are computed for the new tokens
 * only.  The latter are computed for all tokens, by copies of their nodes in
 * which the length is that of all, and lose the rows of the old tokens where
 * the former take them.  Only the scores of attention have a column for each
 * key, old and new.  Sizes of Reshape and the like stay those of new tokens.
 */
#include "transform/kv_cache.h"
#include "base/status.h"
#include "graph/execution_order.h"
#include "graph/graph_construction.h"

#include <string.h>

#include "base/banned.h"

/* One attention: what is kept of its keys and values, and who takes that. */
struct kept {
	uint32_t value; /* of one kind of [..][seq][..] */
	int axis;       /* that the tokens are along */
	uint32_t user;  /* node, and its input */
	uint32_t input;
};

struct cacher {
	const struct sl_graph *from;
	struct sl_graph *to;
	struct sl__shapes *shapes; /* of 'from', sizes kept */
	struct sl__arena *scratch;
	struct sl__value_users users;
	unsigned char *is_token;  /* by value: depends on tokens */
	unsigned char *is_score;  /* by node: computes with scores */
	unsigned char *is_needed; /* by value: for all tokens */
	uint32_t *total;          /* by value: what it is for all tokens */
	uint32_t *recent[2]; /* of that, the rows of new tokens; [1]: with a
				    column for each key */
	struct kept *kept;   /* keys, values, keys, ... */
	size_t n_kept;
	int64_t seq, past, all; /* symbols */
	uint32_t past_length;   /* value of 'to', [1] */
	enum sl_status
		rc; /* of the first failure, after which nothing is done */
	struct sl_error *err;
};

static void *
allocate(struct cacher *c, struct sl__arena *arena, size_t n, size_t n_bytes)
{
	void *block = c->rc ? NULL : sl__arena_array(arena, n, n_bytes);

	if (!block && !c->rc)
		c->rc = sl__fail_nomem(c->err);
	return block;
}

static const struct sl__type *
type_of(const struct cacher *c, uint32_t value)
{
	return &c->shapes->types[value];
}

/* Whether dimension d, or -d from the end, is the length of the text. */
static int
is_length(const struct cacher *c, uint32_t value, int d)
{
	const struct sl__type *t = type_of(c, value);
	int at = d < 0 ? t->rank + d : d;

	return t->kind == SL__TYPE_TENSOR && at >= 0 && at < t->rank &&
	       t->dims[at] == c->seq;
}

static int
is_elementwise(const struct sl__node *n)
{
	return n->op &&
	       (n->op->ref == sl__ref_joined || n->op->ref == sl__ref_where ||
		n->op->ref == sl__ref_unary || n->op->ref == sl__ref_cast ||
		n->op->ref == sl__ref_clip || n->op->ref == sl__ref_identity ||
		n->op->ref == sl__ref_dropout);
}

/* Masks say of each token whether it counts, old ones included. */
static int
is_mask(const struct cacher *c, uint32_t value)
{
	const struct sl__value *v = &c->from->values[value];

	return v->kind == SL_VALUE_INPUT && strstr(v->name, "mask") != NULL;
}

/* Everything that tokens lead to, but for sizes. */
static void
find_tokens(struct cacher *c)
{
	const struct sl__block *model = &c->from->blocks[0];

	for (size_t i = 0; i < model->n_inputs; i++)
		c->is_token[model->inputs[i]] = !is_mask(c, model->inputs[i]);
	for (size_t i = 0; i < model->n_nodes; i++) {
		const struct sl__node *n = &c->from->nodes[model->nodes[i]];
		int is_token = n->op && sl__op_is_control_flow(n->op);

		if (n->op && (sl__is_op(n, SL__OP_ONNX_Shape) ||
			      sl__is_op(n, SL__OP_ONNX_Size)))
			continue;
		for (uint32_t k = 0; k < n->n_inputs; k++)
			is_token |= n->inputs[k] != SL__NONE &&
				    c->is_token[n->inputs[k]];
		for (uint32_t k = 0; k < n->n_outputs; k++) {
			if (n->outputs[k] != SL__NONE)
				c->is_token[n->outputs[k]] =
					(unsigned char)is_token;
		}
	}
}

/* The operand of scores that comes from tokens; SL__NONE: none or several
 * do. */
static uint32_t
score_operand(const struct cacher *c, const struct sl__node *n)
{
	uint32_t found = SL__NONE;

	for (uint32_t k = 0; k < n->n_inputs; k++) {
		if (n->inputs[k] == SL__NONE || !c->is_token[n->inputs[k]])
			continue;
		if (found != SL__NONE)
			return SL__NONE;
		found = n->inputs[k];
	}
	return found;
}

/* The matrix product that makes the scores of a Softmax; SL__NONE. */
static uint32_t
find_scores(struct cacher *c, uint32_t value)
{
	for (int hops = 0; hops < 16 && value != SL__NONE; hops++) {
		uint32_t id = c->from->values[value].producer;
		const struct sl__node *n;

		if (id == SL__NONE)
			return SL__NONE;
		n = &c->from->nodes[id];
		if (n->op && sl__is_op(n, SL__OP_ONNX_MatMul))
			return c->is_token[n->inputs[0]] &&
					       c->is_token[n->inputs[1]]
				       ? id
				       : SL__NONE;
		if (!is_elementwise(n))
			return SL__NONE;
		c->is_score[id] = 1;
		value = score_operand(c, n);
	}
	return SL__NONE;
}

/* The matrix product of what a Softmax gives and the values; SL__NONE. */
static uint32_t
find_context(struct cacher *c, uint32_t value, int hops)
{
	const uint32_t *first = &c->users.first[value];

	for (uint32_t u = first[0]; hops < 8 && u < first[1]; u++) {
		uint32_t id = c->users.nodes[u];
		const struct sl__node *n = &c->from->nodes[id];
		uint32_t found;

		if (n->op && sl__is_op(n, SL__OP_ONNX_MatMul))
			return n->inputs[0] == value ? id : SL__NONE;
		if (!is_elementwise(n))
			continue;
		found = find_context(c, n->outputs[0], hops + 1);
		if (found != SL__NONE) {
			c->is_score[id] = 1;
			return found;
		}
	}
	return SL__NONE;
}

/* Where the second operand of a product is kept: before it is turned around,
 * or gets dimensions of 1. */
static void
keep_operand(struct cacher *c, uint32_t node)
{
	struct kept *k = &c->kept[c->n_kept++];

	k->value = c->from->nodes[node].inputs[1];
	k->user = node;
	k->input = 1;
	for (;;) {
		const struct sl__node *n;
		uint32_t id = c->from->values[k->value].producer;
		const int64_t *perm;
		size_t rank;

		n = id == SL__NONE ? NULL : &c->from->nodes[id];
		if (!n || !n->op)
			break;
		rank = sl__attribute_ints(n, "perm", &perm);
		if (!sl__is_op(n, SL__OP_ONNX_Unsqueeze) &&
		    !(sl__is_op(n, SL__OP_ONNX_Transpose) && rank > 2 &&
		      perm[0] == 0 && perm[1] == 1 &&
		      perm[rank - 1] == (int64_t)rank - 2))
			break;
		k->value = n->inputs[0];
		k->user = id;
		k->input = 0;
	}
	k->axis = -1;
	for (int d = 0; d < type_of(c, k->value)->rank; d++) {
		if (is_length(c, k->value, d))
			k->axis = k->axis < 0 ? d : SL__RANK_MOST;
	}
}

/* Whether a Softmax is one of attention, which is noted. */
static void
match(struct cacher *c, const struct sl__node *n)
{
	uint32_t scores = find_scores(c, n->inputs[0]), context;
	const struct sl__type *t;
	uint32_t id = (uint32_t)(n - c->from->nodes);

	if (scores == SL__NONE)
		return;
	context = find_context(c, n->outputs[0], 0);
	t = type_of(c, c->from->nodes[scores].outputs[0]);
	if (context == SL__NONE || t->rank < 3 ||
	    t->dims[t->rank - 1] != t->dims[t->rank - 2] ||
	    !sl__is_symbol(t->dims[t->rank - 1]) ||
	    (c->seq && t->dims[t->rank - 1] != c->seq))
		return;
	c->seq = t->dims[t->rank - 1];
	c->is_score[id] = 1;
	keep_operand(c, scores);
	keep_operand(c, context);
}

static void
find_attention(struct cacher *c)
{
	const struct sl__block *model = &c->from->blocks[0];

	for (size_t i = 0; i < model->n_nodes; i++) {
		const struct sl__node *n = &c->from->nodes[model->nodes[i]];

		if (n->op && sl__is_op(n, SL__OP_ONNX_Softmax) &&
		    c->is_token[n->inputs[0]])
			match(c, n);
	}
	for (size_t i = 0; i < c->n_kept && !c->rc; i++) {
		const struct kept *k = &c->kept[i];

		if (k->axis < 0 || k->axis >= SL__RANK_MOST)
			c->rc = sl__fail(c->err, SL_E_DATA,
					 "node '%.200s' (%.60s) takes keys or "
					 "values that cannot be followed",
					 c->from->nodes[k->user].name,
					 c->from->nodes[k->user].type);
	}
	if (!c->n_kept && !c->rc)
		c->rc = sl__fail(
			c->err, SL_E_DATA,
			sl_graph_has_past(c->from)
				? "it has a cache already"
				: "no attention was found that a cache "
				  "could serve: a Softmax between two "
				  "matrix products, over a text of "
				  "any length");
}

/* What a node of tokens takes that follows from the length, and is not a list
 * of sizes or places. */
static int
takes_total(const struct cacher *c, const struct sl__node *n, uint32_t i)
{
	uint32_t v = n->inputs[i];

	return v != SL__NONE && !c->is_token[v] && !c->from->values[v].tensor &&
	       n->op &&
	       (is_elementwise(n) || n->op->ref == sl__ref_matmul ||
		n->op->ref == sl__ref_concat) &&
	       c->is_token[n->outputs[0]];
}

/* All that is needed for all tokens, from the last node to the first. */
static void
find_needed(struct cacher *c)
{
	const struct sl__block *model = &c->from->blocks[0];

	for (size_t i = model->n_nodes; i-- > 0;) {
		const struct sl__node *n = &c->from->nodes[model->nodes[i]];
		int is_needed = 0;

		for (uint32_t k = 0; k < n->n_outputs; k++)
			is_needed |= n->outputs[k] != SL__NONE &&
				     c->is_needed[n->outputs[k]];
		for (uint32_t k = 0; k < n->n_inputs; k++) {
			if (n->inputs[k] != SL__NONE &&
			    (is_needed || takes_total(c, n, k)))
				c->is_needed[n->inputs[k]] = 1;
		}
	}
}

static uint32_t
add_value(struct cacher *c, const char *name)
{
	uint32_t id = 0;

	if (!c->rc)
		c->rc = name ? sl__graph_add_value(c->to, &id, name, 0, c->err)
			     : sl__fail_nomem(c->err);
	return id;
}

/* A value of the new graph, named after another and a word. */
static uint32_t
add_named(struct cacher *c, uint32_t after, const char *word)
{
	return add_value(c, sl__arena_format(c->scratch, "%s.%s",
					     c->to->values[after].name, word));
}

static uint32_t
add_integers(struct cacher *c, const char *name, const int64_t *list, size_t n)
{
	struct sl__arena *arena = &c->to->arena;
	struct sl__tensor *t = allocate(c, arena, 1, sizeof(*t));
	int64_t *dims = allocate(c, arena, 1, sizeof(*dims));
	unsigned char *bytes = allocate(c, arena, n, sizeof(*list));
	uint32_t id = add_value(c, name);

	if (c->rc)
		return 0;
	dims[0] = (int64_t)n;
	*t = (struct sl__tensor){
		.dtype = SL_DTYPE_I64, .rank = 1, .dims = dims, .bytes = bytes};
	(void)sl__tensor_compute_size(t);
	sl__store_integers(bytes, SL_DTYPE_I64, 0, n, list);
	c->to->values[id].kind = SL_VALUE_PARAMETER;
	c->to->values[id].tensor = t;
	return id;
}

/* A node of one output, which is returned; an axis below 0 is none. */
static uint32_t
add_node(struct cacher *c, const char *type, const uint32_t *inputs,
	 uint32_t n_inputs, int axis, uint32_t output)
{
	struct sl__attribute *a = allocate(c, &c->to->arena, 1, sizeof(*a));
	int64_t *ints = allocate(c, &c->to->arena, 1, sizeof(*ints));
	struct sl__node n = {.domain = "",
			     .type = type,
			     .version = c->to->nodes[0].version,
			     .forward = SL__NONE,
			     .inputs = inputs,
			     .outputs = &output,
			     .n_inputs = n_inputs,
			     .n_outputs = 1,
			     .n_attributes = axis >= 0,
			     .attributes = a};
	uint32_t id;

	if (c->rc)
		return output;
	ints[0] = axis;
	a->name = "axis";
	a->kind = SL__ATTRIBUTE_INT;
	a->n = 1;
	a->ints = ints;
	n.name = sl__arena_string(&c->to->arena, c->to->values[output].name);
	c->rc = n.name ? sl__graph_add_node(c->to, &id, &n, c->err)
		       : sl__fail_nomem(c->err);
	return output;
}

/* Lets a node take another value. */
static void
set_input(struct cacher *c, uint32_t node, uint32_t input, uint32_t value)
{
	struct sl__node *n = &c->to->nodes[node];
	uint32_t *inputs =
		allocate(c, &c->to->arena, n->n_inputs, sizeof(*inputs));

	if (!inputs)
		return;
	memcpy(inputs, n->inputs, n->n_inputs * sizeof(*inputs));
	inputs[input] = value;
	n->inputs = inputs;
}

/* The type of what is kept, with another number of tokens. */
static struct sl__type
kept_type(struct cacher *c, const struct kept *k, int64_t size)
{
	struct sl__type t = *type_of(c, k->value);
	int64_t *dims =
		allocate(c, &c->to->arena, (size_t)t.rank, sizeof(*dims));

	for (int d = 0; dims && d < t.rank; d++)
		dims[d] = d == k->axis ? size : t.dims[d];
	t.dims = dims;
	return t;
}

static void
add_cache(struct cacher *c, size_t i, uint32_t *past, uint32_t *present)
{
	static const char *const kinds[] = {"key", "value"};
	const struct kept *k = &c->kept[i];
	char *in = sl__arena_format(c->scratch, "past_%s_%zu", kinds[i % 2],
				    i / 2);
	char *out = sl__arena_format(c->scratch, "present_%s_%zu", kinds[i % 2],
				     i / 2);

	if (!c->rc && (!in || !out))
		c->rc = sl__fail_nomem(c->err);
	if (c->rc)
		return;
	*past = add_value(c, in);
	*present = add_value(c, out);
	if (c->rc)
		return;
	c->to->values[*past].kind = SL_VALUE_INPUT;
	c->to->values[*past].declared = kept_type(c, k, c->past);
	c->to->values[*present].declared = kept_type(c, k, c->all);
	add_node(c, "Concat", (uint32_t[]){*past, k->value}, 2, k->axis,
		 *present);
	set_input(c, k->user, k->input, *present);
}

/* The length of the cache, as a list of one. */
static void
add_past_length(struct cacher *c, uint32_t past)
{
	const int64_t axis[] = {c->kept[0].axis};
	uint32_t sizes = add_named(c, past, "sizes");
	uint32_t place = add_integers(c, "past_length.axis", axis, 1);
	uint32_t length = add_value(c, "past_length");

	add_node(c, "Shape", &past, 1, -1, sizes);
	c->past_length =
		add_node(c, "Gather", (uint32_t[]){sizes, place}, 2, 0, length);
}

/* All inputs and outputs that a cache adds. */
static void
add_caches(struct cacher *c)
{
	const struct sl__block *model = &c->from->blocks[0];
	size_t n_in = model->n_inputs, n_out = model->n_outputs;
	uint32_t *in = allocate(c, c->scratch, n_in + c->n_kept, sizeof(*in));
	uint32_t *out =
		allocate(c, c->scratch, n_out + c->n_kept, sizeof(*out));

	if (!c->rc)
		c->rc = sl__graph_intern_symbol(c->to, &c->past, "past",
						c->err);
	if (!c->rc)
		c->rc = sl__graph_intern_symbol(c->to, &c->all, "total",
						c->err);
	if (c->rc)
		return;
	memcpy(in, model->inputs, n_in * sizeof(*in));
	memcpy(out, model->outputs, n_out * sizeof(*out));
	for (size_t i = 0; i < c->n_kept; i++)
		add_cache(c, i, &in[n_in + i], &out[n_out + i]);
	if (!c->rc)
		c->rc = sl__graph_set_inputs(c->to, 0, in, n_in + c->n_kept,
					     c->err);
	if (!c->rc)
		c->rc = sl__graph_set_outputs(c->to, 0, out, n_out + c->n_kept,
					      c->err);
	if (!c->rc)
		add_past_length(c, in[n_in]);
}

/* Sizes of a value of tokens, as they would be for all of them. */
static uint32_t
add_total_sizes(struct cacher *c, const struct sl__node *n)
{
	uint32_t value = n->inputs[0], sizes = n->outputs[0], list, more;
	int64_t is_text[SL__RANK_MOST];
	int64_t from = sl__attribute_int(n, "start", 0);
	int64_t rank = type_of(c, value)->rank, to = rank;
	int n_text = 0;
	size_t k = 0;

	to = sl__attribute_int(n, "end", to);
	from += from < 0 ? rank : 0;
	to += to < 0 ? rank : 0;
	for (int64_t d = from; d >= 0 && d < to && d < rank; d++) {
		is_text[k] = is_length(c, value, (int)d);
		n_text += (int)is_text[k++];
	}
	if (!n_text || c->rc)
		return sizes;
	list = add_integers(c,
			    sl__arena_format(c->scratch, "%s.text",
					     c->to->values[sizes].name),
			    is_text, k);
	more = add_named(c, sizes, "past");
	add_node(c, "Mul", (uint32_t[]){list, c->past_length}, 2, -1, more);
	return add_node(c, "Add", (uint32_t[]){sizes, more}, 2, -1,
			add_named(c, sizes, "total"));
}

/* A copy of a node that takes what is for all tokens, where that is another. */
static void
add_total(struct cacher *c, const struct sl__node *n)
{
	struct sl__node copy = *n;
	uint32_t *inputs =
		allocate(c, c->scratch, n->n_inputs, sizeof(*inputs));
	uint32_t *outputs =
		allocate(c, c->scratch, n->n_outputs, sizeof(*outputs));
	int is_other = 0;
	uint32_t id;

	for (uint32_t i = 0; !c->rc && i < n->n_inputs; i++) {
		inputs[i] = n->inputs[i] == SL__NONE ? SL__NONE
						     : c->total[n->inputs[i]];
		is_other |= inputs[i] != n->inputs[i];
	}
	if (c->rc || !is_other)
		return;
	for (uint32_t i = 0; i < n->n_outputs; i++) {
		outputs[i] = SL__NONE;
		if (n->outputs[i] == SL__NONE)
			continue;
		outputs[i] = add_named(c, n->outputs[i], "total");
		c->total[n->outputs[i]] = outputs[i];
	}
	copy.inputs = inputs;
	copy.outputs = outputs;
	copy.name = sl__arena_format(&c->to->arena, "%s.total", n->name);
	if (!c->rc)
		c->rc = copy.name
				? sl__graph_add_node(c->to, &id, &copy, c->err)
				: sl__fail_nomem(c->err);
}

static void
add_totals(struct cacher *c)
{
	const struct sl__block *model = &c->from->blocks[0];

	for (size_t i = 0; !c->rc && i < model->n_nodes; i++) {
		const struct sl__node *n = &c->from->nodes[model->nodes[i]];
		int is_needed = 0;

		for (uint32_t k = 0; k < n->n_outputs; k++)
			is_needed |= n->outputs[k] != SL__NONE &&
				     c->is_needed[n->outputs[k]] &&
				     !c->is_token[n->outputs[k]];
		if (!is_needed)
			continue;
		if (n->op && sl__is_op(n, SL__OP_ONNX_Shape) &&
		    c->is_token[n->inputs[0]])
			c->total[n->outputs[0]] = add_total_sizes(c, n);
		else
			add_total(c, n);
	}
}

/* Of a value for all tokens, what new tokens take. */
static uint32_t
add_recent(struct cacher *c, uint32_t value, int is_score)
{
	uint32_t now = c->total[value], *known = &c->recent[is_score][value];
	int rank = type_of(c, value)->rank;

	if (*known != SL__NONE)
		return *known;
	for (int d = 0; d < rank && !c->rc; d++) {
		const int64_t axis[] = {d}, end[] = {INT64_MAX};
		uint32_t inputs[4];

		if (!is_length(c, value, d) || (is_score && d == rank - 1))
			continue;
		inputs[0] = now;
		inputs[1] = c->past_length;
		now = add_named(c, now, is_score ? "scored" : "new");
		inputs[2] =
			add_integers(c,
				     sl__arena_format(c->scratch, "%s.end",
						      c->to->values[now].name),
				     end, 1);
		inputs[3] =
			add_integers(c,
				     sl__arena_format(c->scratch, "%s.axis",
						      c->to->values[now].name),
				     axis, 1);
		add_node(c, "Slice", inputs, 4, -1, now);
	}
	*known = now;
	return now;
}

static void
replace_totals(struct cacher *c)
{
	const struct sl__block *model = &c->from->blocks[0];

	for (size_t i = 0; i < model->n_nodes && !c->rc; i++) {
		uint32_t id = model->nodes[i];
		const struct sl__node *n = &c->from->nodes[id];

		for (uint32_t k = 0; k < n->n_inputs && !c->rc; k++) {
			uint32_t v;

			if (!takes_total(c, n, k))
				continue;
			v = add_recent(c, n->inputs[k], c->is_score[id]);
			if (v != n->inputs[k])
				set_input(c, id, k, v);
		}
	}
}

/* A mask that the model is given is of all tokens. */
static void
lengthen_masks(struct cacher *c)
{
	const struct sl__block *model = &c->from->blocks[0];

	for (size_t i = 0; i < model->n_inputs && !c->rc; i++) {
		uint32_t v = model->inputs[i];
		struct sl__type *t = &c->to->values[v].declared;
		int64_t *dims;

		if (!is_mask(c, v) || t->rank < 1)
			continue;
		dims = allocate(c, &c->to->arena, (size_t)t->rank,
				sizeof(*dims));
		for (int d = 0; dims && d < t->rank; d++)
			dims[d] = t->dims[d] == c->seq ? c->all : t->dims[d];
		t->dims = dims;
	}
}

static void
build(struct cacher *c)
{
	size_t n = c->from->n_values;

	c->rc = sl__graph_copy(c->to, c->from, c->err);
	c->total = allocate(c, c->scratch, n, sizeof(*c->total));
	for (int i = 0; i < 2; i++)
		c->recent[i] = allocate(c, c->scratch, n, sizeof(uint32_t));
	if (c->rc)
		return;
	for (uint32_t v = 0; v < n; v++) {
		c->total[v] = v;
		c->recent[0][v] = c->recent[1][v] = SL__NONE;
		if (!c->from->values[v].tensor &&
		    c->from->values[v].producer != SL__NONE)
			c->to->values[v].declared =
				(struct sl__type){.rank = -1};
	}
	for (size_t i = 0; i < c->from->blocks[0].n_outputs; i++) {
		uint32_t v = c->from->blocks[0].outputs[i];

		c->to->values[v].declared = c->from->values[v].declared;
	}
	find_needed(c);
	add_caches(c);
	lengthen_masks(c);
	add_totals(c);
	replace_totals(c);
	c->to->is_builtin = 0;
	if (!c->rc)
		c->rc = sl__graph_freeze(c->to, c->err);
}

static void
find(struct cacher *c)
{
	const struct sl__shapes_options keep = {
		.free_sizes = SL__UNBOUND_KEEP,
		.allocator = &c->from->arena.allocator};
	const struct sl_graph *from = c->from;

	c->rc = sl__shapes_new(&c->shapes, from, &keep, c->err);
	if (!c->rc)
		c->rc = sl__value_users_find(&c->users, from, c->scratch,
					     c->err);
	c->is_token = allocate(c, c->scratch, from->n_values, 1);
	c->is_needed = allocate(c, c->scratch, from->n_values, 1);
	c->is_score = allocate(c, c->scratch, from->n_nodes, 1);
	c->kept = allocate(c, c->scratch, 2 * from->n_nodes, sizeof(*c->kept));
	if (c->rc)
		return;
	find_tokens(c);
	find_attention(c);
}

enum sl_status
sl__kv_cache(struct sl_graph **out, size_t *n_layers,
	     const struct sl_graph *graph, struct sl_error *err)
{
	const struct sl_allocator *allocator = &graph->arena.allocator;
	struct sl__arena scratch;
	struct cacher c = {.from = graph, .scratch = &scratch, .err = err};

	*out = NULL;
	c.rc = sl__graph_new(&c.to, allocator, err);
	if (c.rc)
		return c.rc;
	sl__arena_init(&scratch, allocator);
	find(&c);
	if (!c.rc)
		build(&c);
	sl__shapes_free(c.shapes);
	sl__arena_release(&scratch);
	*n_layers = c.n_kept / 2;
	if (c.rc)
		sl_graph_free(c.to);
	else
		*out = c.to;
	return c.rc;
}
