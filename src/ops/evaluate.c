/* SPDX-License-Identifier: Apache-2.0 */
/*
 * evaluate.c - nodes computed one by one, by the reference kernels.
 *
 * Before a node runs, the shapes are told what its inputs hold just then; its
 * own rule says the types of the outputs; afterwards all that is put back,
 * so that neither the shapes nor their arena grow however often a body runs.
 */
#include "ops/evaluate.h"
#include "base/dtype.h"
#include "base/status.h"

#include <stdio.h>
#include <string.h>

#include "base/banned.h"

enum { ARITY_MOST = 1024 }; /* inputs and outputs of one node */

/* Where each value is used last, seen from the block that defines it: a use
 * inside a body counts as one by the body's owner. */
static void
note_use(struct sl__evaluator *ev, uint32_t value, uint32_t node)
{
	const struct sl_graph *graph = ev->graph;
	uint32_t block = graph->nodes[node].block;

	while (block != graph->values[value].block) {
		node = graph->blocks[block].owner;
		if (node == SL__NONE)
			return;
		block = graph->nodes[node].block;
	}
	ev->last_user[value] = node;
}

/* Of all uses, the one by the node that comes last in the value's own block:
 * the order there is what counts, not the order of numbers. */
static enum sl_status
find_last_users(struct sl__evaluator *ev, struct sl_error *err)
{
	const struct sl_graph *graph = ev->graph;
	size_t *place =
		sl__arena_array(&ev->scratch, graph->n_nodes, sizeof(*place));

	if (!place)
		return sl__fail_nomem(err);
	memset(ev->last_user, 0xff, graph->n_values * sizeof(*ev->last_user));
	for (size_t b = 0; b < graph->n_blocks; b++) {
		for (size_t i = 0; i < graph->blocks[b].n_nodes; i++)
			place[graph->blocks[b].nodes[i]] = i;
	}
	for (uint32_t n = 0; n < graph->n_nodes; n++) {
		for (uint32_t i = 0; i < graph->nodes[n].n_inputs; i++) {
			uint32_t value = graph->nodes[n].inputs[i];
			uint32_t before;

			if (value == SL__NONE)
				continue;
			before = ev->last_user[value];
			note_use(ev, value, n);
			if (before != SL__NONE &&
			    place[before] > place[ev->last_user[value]])
				ev->last_user[value] = before;
		}
	}
	/* What a block gives stays for whoever takes it. */
	for (size_t b = 0; b < graph->n_blocks; b++) {
		for (size_t i = 0; i < graph->blocks[b].n_outputs; i++)
			ev->last_user[graph->blocks[b].outputs[i]] = SL__NONE;
	}
	sl__arena_clear(&ev->scratch);
	return SL_OK;
}

static enum sl_status
set_up(struct sl__evaluator *ev, const struct sl_graph *graph,
       struct sl_error *err)
{
	size_t n = graph->n_values;
	enum sl_status rc;

	ev->graph = graph;
	ev->values = sl__arena_array(ev->arena, n, sizeof(*ev->values));
	ev->last_user = sl__arena_array(ev->arena, n, sizeof(*ev->last_user));
	ev->is_bound = sl__arena_array(ev->arena, n, 1);
	if (!ev->values || !ev->last_user || !ev->is_bound)
		return sl__fail_nomem(err);
	rc = find_last_users(ev, err);
	return rc ? rc
		  : sl__shapes_new_empty(&ev->shapes, graph, &ev->allocator,
					 err);
}

enum sl_status
sl__evaluator_new(struct sl__evaluator **out, const struct sl_graph *graph,
		  const struct sl_allocator *allocator, struct sl_error *err)
{
	struct sl__evaluator *ev;
	struct sl__arena *arena;
	enum sl_status rc;

	*out = NULL;
	ev = sl__arena_object_new(&arena, allocator, sizeof(*ev));
	if (!ev)
		return sl__fail_nomem(err);
	ev->arena = arena;
	if (allocator)
		ev->allocator = *allocator;
	sl__arena_init(&ev->scratch, allocator);
	rc = set_up(ev, graph, err);
	if (rc) {
		sl__evaluator_free(ev);
		return rc;
	}
	*out = ev;
	return SL_OK;
}

/* What a bound value points to is the caller's, items of lists included. */
static int
is_callers(const struct sl__evaluator *ev, uint32_t value)
{
	return ev->is_bound[value] && !ev->values[value].block;
}

static void
empty_value(struct sl__evaluator *ev, uint32_t value)
{
	if (is_callers(ev, value))
		memset(&ev->values[value], 0, sizeof(*ev->values));
	else
		sl__runtime_value_clear(&ev->values[value], &ev->allocator);
	ev->is_bound[value] = 0;
}

static void
forget_value(struct sl__evaluator *ev, uint32_t value)
{
	if (!ev->is_bound[value])
		sl__runtime_value_clear(&ev->values[value], &ev->allocator);
}

void
sl__evaluator_free(struct sl__evaluator *ev)
{
	int is_set_up;

	if (!ev)
		return;
	is_set_up = ev->values && ev->is_bound;
	for (size_t i = 0; is_set_up && i < ev->graph->n_values; i++)
		empty_value(ev, (uint32_t)i);
	sl__shapes_free(ev->shapes);
	sl__arena_release(&ev->scratch);
	sl__arena_object_free(ev);
}

void
sl__evaluator_clear_values(struct sl__evaluator *ev)
{
	for (size_t i = 0; ev->is_used && i < ev->graph->n_values; i++) {
		if (!ev->graph->values[i].tensor)
			forget_value(ev, (uint32_t)i);
	}
	ev->is_used = 0;
}

void
sl__evaluator_set_tensor(struct sl__evaluator *ev, uint32_t value,
			 const struct sl__tensor *tensor)
{
	empty_value(ev, value);
	ev->is_used = 1;
	sl__runtime_value_borrow(&ev->values[value], tensor);
}

void
sl__evaluator_bind_storage(struct sl__evaluator *ev, uint32_t value,
			   const struct sl__runtime_value *storage)
{
	empty_value(ev, value);
	ev->values[value] = *storage;
	ev->values[value].block = NULL;
	ev->is_bound[value] = 1;
	ev->is_used = 1;
}

enum sl_status
sl__evaluator_value(struct sl__evaluator *ev, uint32_t value,
		    const struct sl__runtime_value **out, struct sl_error *err)
{
	const struct sl__value *v = &ev->graph->values[value];
	struct sl__runtime_value *content = &ev->values[value];
	char where[320];
	enum sl_status rc;

	*out = content;
	if (content->kind != SL__TYPE_UNKNOWN)
		return SL_OK;
	snprintf(where, sizeof(where), "value '%.250s'", v->name);
	if (!v->tensor)
		return sl__fail(err, SL_E_DATA, "%s holds nothing", where);
	rc = sl__runtime_value_load(content, v->tensor, &ev->allocator, err);
	return sl__error_prefix(err, rc, where);
}

struct sl__runtime_value *
sl__evaluator_last_use(const struct sl__kernel_call *call, size_t i)
{
	struct sl__evaluator *ev = call->evaluator;
	const struct sl__node *node = call->node;
	uint32_t value = node->inputs[i];

	if (!ev || ev->keeps_all || ev->is_bound[value] ||
	    !ev->values[value].block || ev->last_user[value] == SL__NONE ||
	    node != &ev->graph->nodes[ev->last_user[value]])
		return NULL;
	for (uint32_t k = 0; k < node->n_inputs; k++) {
		if (k != i && node->inputs[k] == value)
			return NULL;
	}
	return &ev->values[value];
}

/* The type of what a value holds; its sizes stay where they are. */
static enum sl_status
type_of(struct sl__shapes *s, struct sl__type *out,
	const struct sl__runtime_value *content, struct sl_error *err)
{
	struct sl__type *element;
	enum sl_status rc = SL_OK;

	memset(out, 0, sizeof(*out));
	out->kind = content->kind;
	out->dtype = content->dtype;
	if (content->kind == SL__TYPE_TENSOR) {
		out->dtype = content->tensor.dtype;
		out->rank = (int)content->tensor.rank;
		out->dims = content->tensor.dims;
		return SL_OK;
	}
	element = sl__arena_alloc(&s->arena, sizeof(*element));
	if (!element)
		return sl__fail_nomem(err);
	element->kind = SL__TYPE_TENSOR;
	element->dtype = content->dtype;
	element->rank = -1;
	if (content->n_items == 1)
		rc = type_of(s, element, &content->items[0], err);
	out->element = element;
	return rc;
}

static enum sl_status
tell_input(struct sl__evaluator *ev, uint32_t value, struct sl_error *err)
{
	struct sl__shapes *s = ev->shapes;
	const struct sl__runtime_value *content = &ev->values[value];
	const struct sl__tensor *t = &content->tensor;
	enum sl_status rc;

	rc = type_of(s, &s->types[value], content, err);
	if (rc)
		return rc;
	s->known[value] = NULL;
	if (content->kind == SL__TYPE_TENSOR && t->bytes &&
	    t->n_elements <= SL__KNOWN_MOST &&
	    sl__dtype_family(t->dtype) != SL__DTYPE_OTHER)
		s->known[value] = sl__known_contents_read(s, t);
	return s->is_short ? sl__fail_nomem(err) : SL_OK;
}

static int
is_settled(const struct sl__type *type)
{
	uint64_t n;

	return type->kind == SL__TYPE_TENSOR && type->dtype != SL_DTYPE_NONE &&
	       sl__type_elements(type, &n);
}

static enum sl_status
does_not_fit(const struct sl__evaluator *ev, uint32_t value,
	     struct sl_error *err)
{
	return sl__fail(err, SL_E_DATA,
			"output '%.200s' has another type or other sizes than "
			"the model says",
			ev->graph->values[value].name);
}

static int
fits(const struct sl__type *type, const struct sl__tensor *t)
{
	return type->dtype == t->dtype && type->rank == (int)t->rank &&
	       (t->rank == 0 ||
		!memcmp(type->dims, t->dims, t->rank * sizeof(*t->dims)));
}

/* Storage for an output as far as inference tells what it is.  Storage of the
 * caller must be what it tells; control nodes look themselves. */
static enum sl_status
make_room(struct sl__evaluator *ev, uint32_t value, int is_control,
	  struct sl_error *err)
{
	const struct sl__type *type = &ev->shapes->types[value];
	struct sl__runtime_value *content = &ev->values[value];

	if (ev->is_bound[value])
		return is_control || (is_settled(type) &&
				      fits(type, &content->tensor))
			       ? SL_OK
			       : does_not_fit(ev, value, err);
	sl__runtime_value_clear(content, &ev->allocator);
	if (!is_settled(type))
		return SL_OK;
	return sl__runtime_value_alloc_tensor(content, type->dtype,
					      (size_t)type->rank, type->dims,
					      &ev->allocator, err);
}

/* What the node's rule says of its outputs, as storage. */
static enum sl_status
prepare_outputs(struct sl__evaluator *ev, const struct sl__node *node,
		struct sl_error *err)
{
	struct sl__shapes *s = ev->shapes;
	struct sl__shapes before = *s;
	struct sl__arena_mark mark = sl__arena_mark(&s->arena);
	struct sl__rule_context call = {.shapes = s, .node = node, .err = err};
	int is_control = sl__op_is_control_flow(node->op);
	enum sl_status rc = SL_OK;

	for (uint32_t i = 0; !rc && i < node->n_inputs; i++) {
		if (node->inputs[i] != SL__NONE)
			rc = tell_input(ev, node->inputs[i], err);
	}
	/* A control node's rule would infer its bodies: they run instead. */
	if (!rc && !is_control)
		rc = node->op->infer(&call);
	/* The rule may have refused sizes that there was no memory for. */
	if (s->is_short)
		rc = sl__fail_nomem(err);
	for (uint32_t k = 0; !rc && k < node->n_outputs; k++) {
		if (node->outputs[k] != SL__NONE)
			rc = make_room(ev, node->outputs[k], is_control, err);
	}
	for (uint32_t i = 0; i < node->n_inputs + node->n_outputs; i++) {
		uint32_t value = i < node->n_inputs
					 ? node->inputs[i]
					 : node->outputs[i - node->n_inputs];

		if (value == SL__NONE)
			continue;
		/* As sl__shapes_new_empty() has it. */
		memset(&s->types[value], 0, sizeof(s->types[value]));
		s->types[value].rank = -1;
		s->known[value] = NULL;
	}
	before.arena = s->arena; /* its chunks may have changed */
	*s = before;
	sl__arena_rewind(&s->arena, mark);
	return rc;
}

enum sl_status
sl__error_prefix_node_name(struct sl_error *err, enum sl_status status,
			   const struct sl__node *node)
{
	char where[320];

	snprintf(where, sizeof(where), "node '%.200s' (%.60s)", node->name,
		 node->type);
	return sl__error_prefix(err, status, where);
}

static enum sl_status
call_kernel(struct sl__evaluator *ev, const struct sl__node *node,
	    struct sl_error *err)
{
	const struct sl__runtime_value *inputs[ARITY_MOST];
	struct sl__runtime_value *outputs[ARITY_MOST];
	struct sl__arena_mark mark = sl__arena_mark(&ev->scratch);
	struct sl__kernel_call call = {
		.node = node,
		.inputs = inputs,
		.outputs = outputs,
		.scratch = &ev->scratch,
		.allocator = &ev->allocator,
		.evaluator = ev,
	};
	enum sl_status rc;

	for (uint32_t i = 0; i < node->n_inputs; i++)
		inputs[i] = node->inputs[i] == SL__NONE
				    ? NULL
				    : &ev->values[node->inputs[i]];
	for (uint32_t k = 0; k < node->n_outputs; k++)
		outputs[k] = node->outputs[k] == SL__NONE
				     ? NULL
				     : &ev->values[node->outputs[k]];
	if (!ev->runner || !ev->runner(ev->runner_ctx, &call, &rc, err))
		rc = sl__ref_run_kernel(&call, err);
	sl__arena_rewind(&ev->scratch, mark);
	/* A kernel that finds other sizes makes storage of its own. */
	for (uint32_t k = 0; !rc && k < node->n_outputs; k++) {
		uint32_t value = node->outputs[k];

		if (value != SL__NONE && ev->is_bound[value] &&
		    !is_callers(ev, value))
			rc = does_not_fit(ev, value, err);
	}
	return rc;
}

static enum sl_status
run_node(struct sl__evaluator *ev, const struct sl__node *node,
	 struct sl_error *err)
{
	enum sl_status rc = SL_OK;

	if (!node->op)
		return sl__fail(err, SL_E_ABSENT,
				"the operator %.60s%s%.60s is not known",
				node->domain, node->domain[0] ? "." : "",
				node->type);
	if (node->n_inputs > ARITY_MOST || node->n_outputs > ARITY_MOST)
		return sl__fail(err, SL_E_DATA,
				"more than %d inputs or outputs", ARITY_MOST);
	for (uint32_t i = 0; !rc && i < node->n_inputs; i++) {
		const struct sl__runtime_value *content;

		if (node->inputs[i] != SL__NONE)
			rc = sl__evaluator_value(ev, node->inputs[i], &content,
						 err);
	}
	if (!rc)
		rc = prepare_outputs(ev, node, err);
	return rc ? rc : call_kernel(ev, node, err);
}

/* Lets go of what 'node_id' was the last to use, among the inputs of 'user':
 * that node itself, or one of its bodies'. */
static void
let_go(struct sl__evaluator *ev, uint32_t node_id, uint32_t user)
{
	const struct sl__node *node = &ev->graph->nodes[user];

	for (uint32_t i = 0; i < node->n_inputs; i++) {
		uint32_t value = node->inputs[i];

		if (value != SL__NONE && ev->last_user[value] == node_id &&
		    !ev->graph->values[value].tensor)
			forget_value(ev, value);
	}
	for (size_t a = 0; a < node->n_attributes; a++) {
		const struct sl__block *body;

		if (node->attributes[a].kind != SL__ATTRIBUTE_BLOCK)
			continue;
		body = &ev->graph->blocks[node->attributes[a].block];
		for (size_t i = 0; i < body->n_nodes; i++)
			let_go(ev, node_id, body->nodes[i]);
	}
}

enum sl_status
sl__evaluate_node(struct sl__evaluator *ev, uint32_t node_id,
		  struct sl_error *err)
{
	const struct sl__node *node = &ev->graph->nodes[node_id];
	enum sl_status rc = sl__check_interrupt(ev->interrupt, err);

	if (rc)
		return rc;
	ev->is_used = 1;
	/* What a Constant holds is its value's tensor. */
	if (sl__is_op(node, SL__OP_ONNX_Constant) &&
	    ev->graph->values[node->outputs[0]].tensor)
		return SL_OK;
	rc = sl__error_prefix_node_name(err, run_node(ev, node, err), node);
	if (!rc && !ev->keeps_all)
		let_go(ev, node_id, node_id);
	return rc;
}

enum sl_status
sl__evaluate_block(struct sl__evaluator *ev, uint32_t block,
		   struct sl_error *err)
{
	const struct sl__block *b = &ev->graph->blocks[block];
	/* A body without nodes can be run for ever too. */
	enum sl_status rc = sl__check_interrupt(ev->interrupt, err);

	for (size_t i = 0; !rc && i < b->n_nodes; i++)
		rc = sl__evaluate_node(ev, b->nodes[i], err);
	return rc;
}
