/* SPDX-License-Identifier: Apache-2.0 */
/* sized_nodes.c - nodes whose sizes are found when they run, planned then. */
#include "engine/sized_nodes.h"
#include "base/status.h"
#include "engine/compile.h"
#include "engine/lowering.h"
#include "graph/graph_construction.h"

#include <stdio.h>
#include <string.h>

#include "base/banned.h"

enum {
	OPERANDS_MOST = 16,
	/* Of all operands, below which planning is not worth it: a reference
	 * kernel takes some nanoseconds for each. */
	ELEMENTS_LEAST = 1 << 16
};

/* A node's program and the sizes that it is for. */
struct sized_node {
	struct sl_graph *graph; /* of that node alone */
	struct sl__program *program;
	struct sl__tensor inputs[OPERANDS_MOST]; /* types and sizes */
	int64_t *dims;                           /* of all of them */
	int is_hopeless;                         /* at these sizes, so at all */
};

struct sl__sized_nodes {
	const struct sl_graph *graph; /* the evaluator's */
	struct sl_plan_options options;
	struct sl_allocator allocator;
	struct sized_node **nodes; /* by node; NULL: not met */
};

static const struct sl__tensor *
constant_of(const struct sl__sized_nodes *s, const struct sl__node *node,
	    uint32_t i)
{
	return s->graph->values[node->inputs[i]].tensor;
}

/* Whether all that the node's sizes depend on are its operands' sizes, and
 * there is much to do. */
static int
is_worth_it(const struct sl__sized_nodes *s, const struct sl__kernel_call *call)
{
	const struct sl__node *node = call->node;
	uint64_t n = 0;

	if (node->n_inputs > OPERANDS_MOST || node->n_outputs != 1 ||
	    !call->outputs[0] || !sl__has_kernel(node))
		return 0;
	for (size_t a = 0; a < node->n_attributes; a++) {
		if (node->attributes[a].kind == SL__ATTRIBUTE_BLOCK)
			return 0;
	}
	for (uint32_t i = 0; i < node->n_inputs; i++) {
		const struct sl__runtime_value *x = call->inputs[i];

		if (!x)
			continue;
		if (x->kind != SL__TYPE_TENSOR || !x->tensor.n_elements)
			return 0;
		n += x->tensor.n_elements;
		if (!constant_of(s, node, i) &&
		    x->tensor.dtype != SL_DTYPE_F32 &&
		    x->tensor.dtype != SL_DTYPE_BOOL)
			return 0;
	}
	return call->outputs[0]->kind == SL__TYPE_TENSOR &&
	       call->outputs[0]->bytes &&
	       call->outputs[0]->tensor.dtype == SL_DTYPE_F32 &&
	       n + call->outputs[0]->tensor.n_elements >= ELEMENTS_LEAST;
}

static int
has_sizes_of(const struct sized_node *own, const struct sl__kernel_call *call)
{
	for (uint32_t i = 0; i < call->node->n_inputs; i++) {
		if (call->inputs[i] &&
		    !sl__tensor_has_type_of(&own->inputs[i],
					    &call->inputs[i]->tensor))
			return 0;
	}
	return 1;
}

static void
release(const struct sl__sized_nodes *s, struct sized_node *own)
{
	sl__program_free(own->program);
	sl_graph_free(own->graph);
	sl__allocator_free(&s->allocator, own->dims);
	memset(own, 0, sizeof(*own));
}

/* Notes the sizes of the operands. */
static enum sl_status
note_sizes(const struct sl__sized_nodes *s, struct sized_node *own,
	   const struct sl__kernel_call *call, struct sl_error *err)
{
	size_t n = 1;

	for (uint32_t i = 0; i < call->node->n_inputs; i++)
		n += call->inputs[i] ? call->inputs[i]->tensor.rank : 0;
	own->dims = sl__allocator_alloc(&s->allocator, n * sizeof(*own->dims));
	if (!own->dims)
		return sl__fail_nomem(err);
	n = 0;
	for (uint32_t i = 0; i < call->node->n_inputs; i++) {
		const struct sl__tensor *t;

		if (!call->inputs[i])
			continue;
		t = &call->inputs[i]->tensor;
		for (size_t d = 0; d < t->rank; d++)
			own->dims[n + d] = t->dims[d];
		own->inputs[i] =
			(struct sl__tensor){.dtype = t->dtype,
					    .rank = t->rank,
					    .dims = own->dims + n,
					    .n_elements = t->n_elements,
					    .n_bytes = t->n_bytes};
		n += t->rank;
	}
	return SL_OK;
}

/* Operand i as a value of the graph of one node. */
static enum sl_status
add_operand(const struct sl__sized_nodes *s, struct sized_node *own,
	    const struct sl__node *node, uint32_t i, uint32_t *id)
{
	const struct sl__tensor *t = &own->inputs[i];
	enum sl_status rc;
	char name[16];

	snprintf(name, sizeof(name), "in%u", (unsigned)i);
	rc = sl__graph_add_value(own->graph, id, name, 0, NULL);
	if (rc)
		return rc;
	own->graph->values[*id].declared =
		(struct sl__type){.kind = SL__TYPE_TENSOR,
				  .dtype = t->dtype,
				  .rank = (int)t->rank,
				  .dims = t->dims};
	own->graph->values[*id].kind = SL_VALUE_INPUT;
	if (constant_of(s, node, i)) {
		own->graph->values[*id].kind = SL_VALUE_PARAMETER;
		own->graph->values[*id].tensor = constant_of(s, node, i);
	}
	return SL_OK;
}

static enum sl_status
make_graph(const struct sl__sized_nodes *s, struct sized_node *own,
	   const struct sl__node *node, struct sl_error *err)
{
	uint32_t inputs[OPERANDS_MOST], given[OPERANDS_MOST], out, id;
	struct sl__node alone = *node;
	size_t n_given = 0;
	enum sl_status rc = sl__graph_new(&own->graph, &s->allocator, err);

	for (uint32_t i = 0; !rc && i < node->n_inputs; i++) {
		inputs[i] = SL__NONE;
		if (node->inputs[i] == SL__NONE)
			continue;
		rc = add_operand(s, own, node, i, &inputs[i]);
		if (!rc && !constant_of(s, node, i))
			given[n_given++] = inputs[i];
	}
	if (!rc)
		rc = sl__graph_add_value(own->graph, &out, "out", 0, err);
	if (rc)
		return rc;
	alone.inputs = inputs;
	alone.outputs = &out;
	alone.block = 0;
	rc = sl__graph_set_inputs(own->graph, 0, given, n_given, err);
	if (!rc)
		rc = sl__graph_add_node(own->graph, &id, &alone, err);
	if (!rc)
		rc = sl__graph_set_outputs(own->graph, 0, &out, 1, err);
	return rc ? rc : sl__graph_freeze(own->graph, err);
}

/* Whether every step is fast, and operands lie where they can be written. */
static int
is_fast(const struct sized_node *own)
{
	const struct sl__program *p = own->program;
	const struct sl__block *block = &own->graph->blocks[0];

	for (size_t i = 0; i < p->n_steps; i++) {
		if (p->steps[i].path == SL_PATH_REFERENCE ||
		    p->steps[i].path == SL_PATH_STEPWISE)
			return 0;
	}
	for (size_t i = 0; i < block->n_inputs; i++) {
		if (p->inputs[i] == SL__NONE)
			return 0;
	}
	return p->n_steps > 0 && p->outputs[0] != SL__NONE;
}

/* A program for these sizes; what cannot be planned is left to the reference
 * kernel, which says what is wrong where anything is. */
static enum sl_status
plan(const struct sl__sized_nodes *s, struct sized_node *own,
     const struct sl__kernel_call *call, struct sl_error *err)
{
	struct sl_error ignored;
	enum sl_status rc;

	release(s, own);
	rc = note_sizes(s, own, call, err);
	if (rc)
		return rc;
	rc = make_graph(s, own, call->node, &ignored);
	if (!rc)
		rc = sl__compile(&own->program, own->graph, &s->options, NULL,
				 &ignored);
	own->is_hopeless = rc || !is_fast(own);
	return SL_OK;
}

static enum sl_status
run(const struct sized_node *own, const struct sl__kernel_call *call,
    struct sl_error *err)
{
	const struct sl__observer nobody = {0};
	struct sl__program *p = own->program;
	struct sl__runtime_value *out = call->outputs[0];
	size_t given = 0;
	enum sl_status rc;

	for (uint32_t i = 0; i < call->node->n_inputs; i++) {
		const struct sl__tensor *t = &own->inputs[i];

		if (!call->inputs[i] ||
		    own->graph->values[own->graph->nodes[0].inputs[i]].tensor)
			continue;
		memcpy(p->buffers[p->inputs[given++]].data,
		       call->inputs[i]->tensor.bytes, (size_t)t->n_bytes);
	}
	rc = sl__program_run(p, &nobody, err);
	if (!rc)
		memcpy(out->bytes, p->buffers[p->outputs[0]].data,
		       (size_t)out->tensor.n_bytes);
	return rc;
}

/* The evaluator's runner. */
static int
try_node(void *ctx, const struct sl__kernel_call *call, enum sl_status *rc,
	 struct sl_error *err)
{
	struct sl__sized_nodes *s = ctx;
	size_t at = (size_t)(call->node - s->graph->nodes);
	struct sized_node *own = s->nodes[at];

	if ((own && own->is_hopeless) || !is_worth_it(s, call))
		return 0;
	*rc = SL_OK;
	if (!own) {
		own = sl__allocator_alloc(&s->allocator, sizeof(*own));
		if (!own) {
			*rc = sl__fail_nomem(err);
			return 1;
		}
		memset(own, 0, sizeof(*own));
		s->nodes[at] = own;
	}
	if (!own->program || !has_sizes_of(own, call))
		*rc = plan(s, own, call, err);
	if (*rc || own->is_hopeless)
		return *rc != SL_OK;
	*rc = run(own, call, err);
	return 1;
}

void
sl__sized_nodes_attach(struct sl__planner *pl)
{
	struct sl__program *p = pl->program;
	struct sl_allocator allocator = p->arena.allocator;
	size_t n_bytes = p->graph->n_nodes * sizeof(struct sized_node *);
	struct sl__sized_nodes *s;

	if (pl->rc || p->sized ||
	    pl->options->flags & (SL_PLAN_REFERENCE | SL__PLAN_DRY))
		return;
	s = sl__allocator_alloc(&allocator, sizeof(*s));
	p->sized = s;
	if (s) {
		memset(s, 0, sizeof(*s));
		s->allocator = allocator;
		s->nodes = sl__allocator_alloc(&allocator, n_bytes);
	}
	if (!s || !s->nodes) {
		pl->rc = sl__fail_nomem(pl->err);
		return;
	}
	memset(s->nodes, 0, n_bytes);
	s->graph = p->graph;
	s->options = *pl->options;
	s->options.algorithms = SL_ALGORITHMS_FIXED;
	s->options.dtype = SL_DTYPE_F32;
	s->options.allocator = &s->allocator;
	s->options.flags |= SL_PLAN_NO_CACHE;
	s->options.flags &= ~(unsigned)SL__PLAN_TRAINS;
	p->evaluator->runner = try_node;
	p->evaluator->runner_ctx = s;
}

void
sl__sized_nodes_free(struct sl__sized_nodes *s)
{
	struct sl_allocator allocator;

	if (!s)
		return;
	allocator = s->allocator;
	for (size_t i = 0; s->nodes && i < s->graph->n_nodes; i++) {
		if (s->nodes[i])
			release(s, s->nodes[i]);
		sl__allocator_free(&allocator, s->nodes[i]);
	}
	sl__allocator_free(&allocator, s->nodes);
	sl__allocator_free(&allocator, s);
}

size_t
sl__sized_nodes_planned(const struct sl__sized_nodes *s)
{
	size_t n = 0;

	for (size_t i = 0; s && i < s->graph->n_nodes; i++)
		n += s->nodes[i] && s->nodes[i]->program &&
		     !s->nodes[i]->is_hopeless;
	return n;
}
