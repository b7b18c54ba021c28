/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rewrite.c - a graph on its way to becoming another one.
 *
 * The new graph gets its values first, with the numbers of the old one, and
 * its nodes at the very end; in between nodes are rows of a table that passes
 * take out and add to.  Freezing puts them in order.
 */
#include "transform/rewrite.h"
#include "base/status.h"

#include <stdlib.h>
#include <string.h>

#include "base/banned.h"

static enum sl_status
grow_values(struct sl__rewrite *rw, size_t n, struct sl_error *err)
{
	struct sl__arena *arena = &rw->to->arena;
	size_t cap = 2 * n + 64, old = rw->cap_values;
	struct sl__type *types;
	uint32_t *producers;
	struct sl__uses *uses;
	unsigned char *is_pinned;

	if (n <= old)
		return SL_OK;
	types = sl__arena_array(arena, cap, sizeof(*types));
	producers = sl__arena_array(arena, cap, sizeof(*producers));
	uses = sl__arena_array(arena, cap, sizeof(*uses));
	is_pinned = sl__arena_array(arena, cap, 1);
	if (!types || !producers || !uses || !is_pinned)
		return sl__fail_nomem(err);
	if (old) {
		memcpy(types, rw->types, old * sizeof(*types));
		memcpy(producers, rw->producers, old * sizeof(*producers));
		memcpy(uses, rw->uses, old * sizeof(*uses));
		memcpy(is_pinned, rw->is_pinned, old);
	}
	for (size_t i = old; i < cap; i++)
		producers[i] = SL__NONE;
	rw->types = types;
	rw->producers = producers;
	rw->uses = uses;
	rw->is_pinned = is_pinned;
	rw->cap_values = cap;
	return SL_OK;
}

static enum sl_status
grow_nodes(struct sl__rewrite *rw, struct sl_error *err)
{
	size_t cap = 2 * rw->n_nodes + 64;
	struct sl__redraft *nodes;

	if (rw->n_nodes < rw->cap_nodes)
		return SL_OK;
	nodes = sl__arena_array(&rw->to->arena, cap, sizeof(*nodes));
	if (!nodes)
		return sl__fail_nomem(err);
	if (rw->n_nodes)
		memcpy(nodes, rw->nodes, rw->n_nodes * sizeof(*nodes));
	rw->nodes = nodes;
	rw->cap_nodes = cap;
	return SL_OK;
}

static enum sl_status
add_use(struct sl__rewrite *rw, uint32_t value, uint32_t node,
	struct sl_error *err)
{
	struct sl__uses *u = &rw->uses[value];
	uint32_t *more;

	if (u->n == u->cap) {
		uint32_t cap = u->cap ? 2 * u->cap : 2;

		more = sl__arena_array(&rw->to->arena, cap, sizeof(*more));
		if (!more)
			return sl__fail_nomem(err);
		if (u->n)
			memcpy(more, u->nodes, u->n * sizeof(*more));
		u->nodes = more;
		u->cap = cap;
	}
	u->nodes[u->n++] = node;
	return SL_OK;
}

static void
drop_use(struct sl__rewrite *rw, uint32_t value, uint32_t node)
{
	struct sl__uses *u = &rw->uses[value];

	for (uint32_t i = 0; i < u->n; i++) {
		if (u->nodes[i] != node)
			continue;
		u->nodes[i] = u->nodes[--u->n];
		return;
	}
}

static enum sl_status
copy_values(struct sl__rewrite *rw, struct sl_error *err)
{
	const struct sl_graph *from = rw->from;
	enum sl_status rc = grow_values(rw, from->n_values, err);
	uint32_t id;

	if (!rc)
		rc = sl__graph_copy_symbols(rw->to, from, err);
	for (size_t i = 1; !rc && i < from->n_blocks; i++)
		rc = sl__graph_add_block(rw->to, &id, from->blocks[i].name,
					 err);
	for (size_t i = 0; !rc && i < from->n_values; i++) {
		const struct sl__value *v = &from->values[i];

		rc = sl__graph_add_value(rw->to, &id, v->name, v->block, err);
		if (rc)
			break;
		rw->to->values[id].kind = v->kind;
		rw->to->values[id].declared = v->declared;
		rw->to->values[id].tensor = v->tensor;
		rw->types[id] = rw->shapes->types[id];
	}
	return rc;
}

static enum sl_status
copy_block(struct sl__rewrite *rw, uint32_t block, struct sl_error *err)
{
	const struct sl__block *b = &rw->from->blocks[block];
	enum sl_status rc;

	rc = sl__graph_set_inputs(rw->to, block, b->inputs, b->n_inputs, err);
	if (!rc)
		rc = sl__graph_set_outputs(rw->to, block, b->outputs,
					   b->n_outputs, err);
	for (size_t i = 0; !rc && i < b->n_outputs; i++)
		rw->is_pinned[b->outputs[i]] = 1;
	return rc;
}

/* A copy of a node's lists, so that they can be written. */
static enum sl_status
own_lists(struct sl__rewrite *rw, struct sl__node *node, struct sl_error *err)
{
	uint32_t *lists = sl__arena_array(
		&rw->to->arena, (size_t)node->n_inputs + node->n_outputs,
		sizeof(*lists));

	if (!lists)
		return sl__fail_nomem(err);
	if (node->n_inputs)
		memcpy(lists, node->inputs, node->n_inputs * sizeof(*lists));
	if (node->n_outputs)
		memcpy(lists + node->n_inputs, node->outputs,
		       node->n_outputs * sizeof(*lists));
	node->inputs = lists;
	node->outputs = lists + node->n_inputs;
	return SL_OK;
}

/* Enters row 'id' into uses and producers. */
static enum sl_status
link_node(struct sl__rewrite *rw, uint32_t id, struct sl_error *err)
{
	const struct sl__node *node = &rw->nodes[id].node;
	enum sl_status rc = SL_OK;

	for (uint32_t i = 0; !rc && i < node->n_inputs; i++) {
		if (node->inputs[i] != SL__NONE)
			rc = add_use(rw, node->inputs[i], id, err);
	}
	for (uint32_t k = 0; k < node->n_outputs; k++) {
		if (node->outputs[k] != SL__NONE)
			rw->producers[node->outputs[k]] = id;
	}
	return rc;
}

static enum sl_status
copy_node(struct sl__rewrite *rw, uint32_t id, struct sl_error *err)
{
	const struct sl__node *node = &rw->from->nodes[id];
	struct sl__redraft *row;
	uint32_t *covers;
	enum sl_status rc = grow_nodes(rw, err);

	if (rc)
		return rc;
	row = &rw->nodes[rw->n_nodes++];
	memset(row, 0, sizeof(*row));
	row->node = *node;
	covers = sl__arena_alloc(&rw->to->arena, sizeof(*covers));
	if (!covers)
		return sl__fail_nomem(err);
	*covers = id;
	row->covers = covers;
	row->n_covers = 1;
	/* Nodes of bodies are only carried along, and pin what they use. */
	for (uint32_t i = 0; node->block && i < node->n_inputs; i++) {
		if (node->inputs[i] != SL__NONE)
			rw->is_pinned[node->inputs[i]] = 1;
	}
	if (node->block)
		return SL_OK;
	rc = own_lists(rw, &row->node, err);
	return rc ? rc : link_node(rw, id, err);
}

static enum sl_status
copy_graph(struct sl__rewrite *rw, struct sl_error *err)
{
	const struct sl_graph *from = rw->from;
	enum sl_status rc = copy_values(rw, err);

	rw->to->name = from->name;
	rw->to->source = from->source;
	rw->to->is_builtin = from->is_builtin;
	rw->to->producer = from->producer;
	rw->to->ir_version = from->ir_version;
	rw->to->seed = from->seed;
	rw->to->opsets = from->opsets;
	rw->to->n_opsets = from->n_opsets;
	for (uint32_t b = 0; !rc && b < from->n_blocks; b++)
		rc = copy_block(rw, b, err);
	for (uint32_t i = 0; !rc && i < from->n_nodes; i++)
		rc = copy_node(rw, i, err);
	return rc;
}

enum sl_status
sl__rewrite_new(struct sl__rewrite **out, const struct sl_graph *graph,
		const struct sl__shapes *shapes,
		const struct sl_allocator *allocator, struct sl_error *err)
{
	struct sl__rewrite *rw = sl__alloc(allocator, sizeof(*rw));
	enum sl_status rc;

	*out = NULL;
	if (!rw)
		return sl__fail_nomem(err);
	memset(rw, 0, sizeof(*rw));
	if (allocator)
		rw->allocator = *allocator;
	rw->from = graph;
	rw->shapes = shapes;
	rc = sl__graph_new(&rw->to, allocator, err);
	if (!rc)
		rc = copy_graph(rw, err);
	if (rc) {
		sl__rewrite_free(rw);
		return rc;
	}
	*out = rw;
	return SL_OK;
}

void
sl__rewrite_free(struct sl__rewrite *rw)
{
	struct sl_allocator allocator;

	if (!rw)
		return;
	allocator = rw->allocator;
	sl_graph_free(rw->to);
	sl__release(&allocator, rw);
}

/* A Constant whose value has its tensor is a node no more. */
static int
is_left_out(const struct sl__rewrite *rw, const struct sl__redraft *row)
{
	const struct sl__node *node = &row->node;

	return row->is_gone || (sl__is_op(node, SL__OP_ONNX_Constant) &&
				node->outputs[0] != SL__NONE &&
				rw->to->values[node->outputs[0]].tensor);
}

struct placed {
	uint32_t row, place;
};

static int
compare_places(const void *a, const void *b)
{
	const struct placed *x = a, *y = b;

	if (x->place != y->place)
		return x->place < y->place ? -1 : 1;
	return (x->row > y->row) - (x->row < y->row);
}

/* Where the last of what a row covers stood. */
static uint32_t
last_place(const struct sl__redraft *row, const uint32_t *places)
{
	uint32_t last = 0;

	for (size_t i = 0; i < row->n_covers; i++) {
		if (places[row->covers[i]] > last)
			last = places[row->covers[i]];
	}
	return last;
}

/* One that covers nothing stands behind what it uses. */
static uint32_t
place_of(const struct sl__rewrite *rw, const struct sl__redraft *row,
	 const uint32_t *places)
{
	uint32_t last = last_place(row, places);

	for (uint32_t i = 0; !row->n_covers && i < row->node.n_inputs; i++) {
		uint32_t maker = sl__rewrite_producer(rw, row->node.inputs[i]);
		uint32_t place =
			maker == SL__NONE
				? 0
				: last_place(&rw->nodes[maker], places);

		last = place > last ? place : last;
	}
	return last;
}

/* This runs one branch after the other where freezing alone would run them
 * side by side. */
enum sl_status
sl__rewrite_order(struct sl__rewrite *rw, uint32_t **out, struct sl_error *err)
{
	struct sl__arena *arena = &rw->to->arena;
	uint32_t *places =
		sl__arena_array(arena, rw->from->n_nodes, sizeof(*places));
	struct placed *rows =
		sl__arena_array(arena, rw->n_nodes, sizeof(*rows));

	*out = sl__arena_array(arena, rw->n_nodes, sizeof(**out));
	if (!places || !rows || !*out)
		return sl__fail_nomem(err);
	for (size_t b = 0; b < rw->from->n_blocks; b++) {
		const struct sl__block *block = &rw->from->blocks[b];

		for (size_t i = 0; i < block->n_nodes; i++)
			places[block->nodes[i]] = (uint32_t)i;
	}
	for (uint32_t i = 0; i < rw->n_nodes; i++) {
		rows[i].row = i;
		rows[i].place = place_of(rw, &rw->nodes[i], places);
	}
	if (rw->n_nodes)
		qsort(rows, rw->n_nodes, sizeof(*rows), compare_places);
	for (size_t i = 0; i < rw->n_nodes; i++)
		(*out)[i] = rows[i].row;
	return SL_OK;
}

enum sl_status
sl__rewrite_finish(struct sl__rewrite *rw, struct sl_graph **out,
		   const struct sl__covers **covers, struct sl_error *err)
{
	struct sl__covers *list =
		sl__arena_array(&rw->to->arena, rw->n_nodes + 1, sizeof(*list));
	uint32_t *order, id;
	enum sl_status rc;

	if (!list)
		return sl__fail_nomem(err);
	rc = sl__rewrite_order(rw, &order, err);
	for (size_t i = 0; !rc && i < rw->n_nodes; i++) {
		const struct sl__redraft *row = &rw->nodes[order[i]];

		if (is_left_out(rw, row))
			continue;
		rc = sl__graph_add_node(rw->to, &id, &row->node, err);
		if (!rc) {
			list[id].nodes = row->covers;
			list[id].n = row->n_covers;
		}
	}
	if (!rc)
		rc = sl__graph_freeze(rw->to, err);
	if (rc)
		return rc;
	*out = rw->to;
	*covers = list;
	rw->to = NULL;
	return SL_OK;
}

const struct sl__node *
sl__rewrite_node(const struct sl__rewrite *rw, uint32_t node)
{
	if (node == SL__NONE || rw->nodes[node].is_gone)
		return NULL;
	return &rw->nodes[node].node;
}

uint32_t
sl__rewrite_input(const struct sl__rewrite *rw, uint32_t node, size_t i)
{
	const struct sl__node *n = sl__rewrite_node(rw, node);

	return n && i < n->n_inputs ? n->inputs[i] : SL__NONE;
}

int
sl__rewrite_is(const struct sl__rewrite *rw, uint32_t node, enum sl__op_id op)
{
	const struct sl__node *n = sl__rewrite_node(rw, node);

	return n && n->block == 0 && sl__is_op(n, op);
}

uint32_t
sl__rewrite_producer(const struct sl__rewrite *rw, uint32_t value)
{
	return value == SL__NONE ? SL__NONE : rw->producers[value];
}

uint32_t
sl__rewrite_only_user(const struct sl__rewrite *rw, uint32_t value)
{
	if (value == SL__NONE || rw->is_pinned[value] || rw->uses[value].n != 1)
		return SL__NONE;
	return rw->uses[value].nodes[0];
}

const struct sl__type *
sl__rewrite_type(const struct sl__rewrite *rw, uint32_t value)
{
	return &rw->types[value];
}

const struct sl__tensor *
sl__rewrite_tensor(const struct sl__rewrite *rw, uint32_t value)
{
	const struct sl__tensor *t;

	if (value == SL__NONE)
		return NULL;
	t = rw->to->values[value].tensor;
	return t && !t->absent && !t->is_sparse ? t : NULL;
}

int
sl__rewrite_scalar(const struct sl__rewrite *rw, uint32_t value, double *out)
{
	const struct sl__tensor *t = sl__rewrite_tensor(rw, value);

	return t && t->n_elements == 1 && sl__tensor_doubles(t, 0, 1, out);
}

enum sl_status
sl__rewrite_add_value(struct sl__rewrite *rw, uint32_t *out, const char *name,
		      const struct sl__type *type, struct sl_error *err)
{
	enum sl_status rc = grow_values(rw, rw->to->n_values + 1, err);

	if (!rc)
		rc = sl__graph_add_value(rw->to, out, name, 0, err);
	if (!rc)
		rw->types[*out] = *type;
	return rc;
}

static struct sl__tensor *
copy_tensor(struct sl__rewrite *rw, const struct sl__tensor *like)
{
	struct sl__arena *arena = &rw->to->arena;
	struct sl__tensor *t = sl__arena_alloc(arena, sizeof(*t));
	int64_t *dims = sl__arena_array(arena, like->rank, sizeof(*dims));

	if (!t || !dims)
		return NULL;
	*t = *like;
	if (like->rank)
		memcpy(dims, like->dims, like->rank * sizeof(*dims));
	t->dims = dims;
	return t;
}

static struct sl__type
type_of_tensor(const struct sl__tensor *t)
{
	struct sl__type type = {.kind = SL__TYPE_TENSOR, .dtype = t->dtype};

	type.rank = (int)t->rank;
	type.dims = t->dims;
	return type;
}

enum sl_status
sl__rewrite_make_constant(struct sl__rewrite *rw, uint32_t value,
			  const struct sl__tensor *tensor, struct sl_error *err)
{
	struct sl__tensor *t = copy_tensor(rw, tensor);

	if (!t)
		return sl__fail_nomem(err);
	rw->to->values[value].tensor = t;
	rw->to->values[value].kind = SL_VALUE_PARAMETER;
	rw->types[value] = type_of_tensor(t);
	return SL_OK;
}

enum sl_status
sl__rewrite_add_constant(struct sl__rewrite *rw, uint32_t *out,
			 const struct sl__tensor *like, unsigned char **bytes,
			 struct sl_error *err)
{
	struct sl__tensor made = {
		.dtype = like->dtype, .rank = like->rank, .dims = like->dims};
	struct sl__type type = {.kind = SL__TYPE_TENSOR};
	enum sl_status rc;

	if (!sl__tensor_measure(&made))
		return sl__fail(err, SL_E_DATA,
				"a constant is beyond all "
				"sizes");
	*bytes = sl__arena_alloc(&rw->to->arena, (size_t)made.n_bytes);
	if (!*bytes)
		return sl__fail_nomem(err);
	made.bytes = *bytes;
	rc = sl__rewrite_add_value(rw, out, "", &type, err);
	return rc ? rc : sl__rewrite_make_constant(rw, *out, &made, err);
}

enum sl_status
sl__rewrite_cover(struct sl__rewrite *rw, uint32_t node, uint32_t other,
		  struct sl_error *err)
{
	struct sl__redraft *a = &rw->nodes[node];
	const struct sl__redraft *b = &rw->nodes[other];
	uint32_t *both = sl__arena_array(
		&rw->to->arena, a->n_covers + b->n_covers, sizeof(*both));

	if (!both)
		return sl__fail_nomem(err);
	if (a->n_covers)
		memcpy(both, a->covers, a->n_covers * sizeof(*both));
	if (b->n_covers)
		memcpy(both + a->n_covers, b->covers,
		       b->n_covers * sizeof(*both));
	a->covers = both;
	a->n_covers += b->n_covers;
	return SL_OK;
}

enum sl_status
sl__rewrite_add_node(struct sl__rewrite *rw, uint32_t *out,
		     const struct sl__node *node, const uint32_t *covers,
		     size_t n_covers, struct sl_error *err)
{
	uint32_t id = (uint32_t)rw->n_nodes;
	struct sl__redraft *row;
	struct sl__attribute *attributes;
	enum sl_status rc = grow_nodes(rw, err);

	if (rc)
		return rc;
	row = &rw->nodes[rw->n_nodes];
	memset(row, 0, sizeof(*row));
	row->node = *node;
	row->node.op = sl__op_find(node->domain, node->type);
	row->node.block = 0;
	attributes = sl__arena_array(&rw->to->arena, node->n_attributes,
				     sizeof(*attributes));
	if (!attributes)
		return sl__fail_nomem(err);
	if (node->n_attributes)
		memcpy(attributes, node->attributes,
		       node->n_attributes * sizeof(*attributes));
	row->node.attributes = attributes;
	rc = own_lists(rw, &row->node, err);
	if (rc)
		return rc;
	rw->n_nodes++;
	for (size_t i = 0; !rc && i < n_covers; i++)
		rc = sl__rewrite_cover(rw, id, covers[i], err);
	*out = id;
	return rc ? rc : link_node(rw, id, err);
}

void
sl__rewrite_remove(struct sl__rewrite *rw, uint32_t node)
{
	struct sl__redraft *row = &rw->nodes[node];

	for (uint32_t i = 0; i < row->node.n_inputs; i++) {
		if (row->node.inputs[i] != SL__NONE)
			drop_use(rw, row->node.inputs[i], node);
	}
	for (uint32_t k = 0; k < row->node.n_outputs; k++) {
		if (row->node.outputs[k] != SL__NONE)
			rw->producers[row->node.outputs[k]] = SL__NONE;
	}
	row->is_gone = 1;
}

enum sl_status
sl__rewrite_set_input(struct sl__rewrite *rw, uint32_t node, size_t i,
		      uint32_t value, struct sl_error *err)
{
	struct sl__node *n = &rw->nodes[node].node;
	enum sl_status rc;

	if (n->inputs[i] != SL__NONE)
		drop_use(rw, n->inputs[i], node);
	rc = own_lists(rw, n, err);
	if (rc)
		return rc;
	((uint32_t *)(uintptr_t)n->inputs)[i] = value;
	return value == SL__NONE ? SL_OK : add_use(rw, value, node, err);
}

enum sl_status
sl__rewrite_replace(struct sl__rewrite *rw, uint32_t old, uint32_t new,
		    struct sl_error *err)
{
	enum sl_status rc = SL_OK;

	while (!rc && rw->uses[old].n) {
		uint32_t node = rw->uses[old].nodes[0];
		const struct sl__node *n = &rw->nodes[node].node;

		for (uint32_t i = 0; !rc && i < n->n_inputs; i++) {
			if (n->inputs[i] == old)
				rc = sl__rewrite_set_input(rw, node, i, new,
							   err);
		}
	}
	return rc;
}
