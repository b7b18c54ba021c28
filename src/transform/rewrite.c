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
#include "transform/rewrite_blocks.h"
#include "transform/rewrite_values.h"

#include <stdlib.h>
#include <string.h>

#include "base/banned.h"

void *
sl__rewrite_alloc(struct sl__rewrite *rw, size_t n, size_t n_bytes)
{
	void *block = rw->rc ? NULL
			     : sl__arena_array(&rw->to->arena, n, n_bytes);

	if (!block && !rw->rc)
		rw->rc = sl__fail_nomem(rw->err);
	return block;
}

void
sl__rewrite_fail(struct sl__rewrite *rw, enum sl_status status,
		 const char *text)
{
	if (!rw->rc)
		rw->rc = sl__fail(rw->err, status, "%s", text);
}

void *
sl__rewrite_copy_list(struct sl__rewrite *rw, const void *list, size_t n,
		      size_t cap, size_t n_bytes)
{
	void *more = sl__rewrite_alloc(rw, cap, n_bytes);

	if (more && n)
		memcpy(more, list, n * n_bytes);
	return more;
}

/* Room for n values; 0: a failure. */
static int
grow_values(struct sl__rewrite *rw, size_t n)
{
	size_t cap = 2 * n + 64, old = rw->cap_values;
	struct sl__type *types;
	uint32_t *producers;
	struct sl__value_uses *uses;
	unsigned char *is_pinned;

	if (rw->rc || n <= old)
		return !rw->rc;
	types = sl__rewrite_copy_list(rw, rw->types, old, cap, sizeof(*types));
	producers = sl__rewrite_copy_list(rw, rw->producers, old, cap,
					  sizeof(*producers));
	uses = sl__rewrite_copy_list(rw, rw->uses, old, cap, sizeof(*uses));
	is_pinned = sl__rewrite_copy_list(rw, rw->is_pinned, old, cap, 1);
	if (rw->rc)
		return 0;
	for (size_t i = old; i < cap; i++)
		producers[i] = SL__NONE;
	rw->types = types;
	rw->producers = producers;
	rw->uses = uses;
	rw->is_pinned = is_pinned;
	rw->cap_values = cap;
	return 1;
}

/* A new row of the table; NULL: a failure. */
static struct sl__mutable_node *
add_row(struct sl__rewrite *rw, const struct sl__node *node)
{
	size_t n = rw->n_nodes, cap = 2 * n + 64;

	if (n == rw->cap_nodes) {
		struct sl__mutable_node *more = sl__rewrite_copy_list(
			rw, rw->nodes, n, cap, sizeof(*more));

		rw->nodes = more ? more : rw->nodes;
		rw->cap_nodes = more ? cap : rw->cap_nodes;
	}
	if (rw->rc)
		return NULL;
	rw->nodes[n] = (struct sl__mutable_node){.node = *node};
	rw->n_nodes++;
	return &rw->nodes[n];
}

/* What another block makes is pinned: a pass that joins nodes joins those of
 * one block. */
static void
add_use(struct sl__rewrite *rw, uint32_t value, uint32_t node)
{
	struct sl__value_uses *u = &rw->uses[value];
	const struct sl__value *v = &rw->to->values[value];

	if (!v->tensor && v->block != rw->nodes[node].node.block)
		rw->is_pinned[value] = 1;
	if (u->n == u->cap) {
		uint32_t cap = u->cap ? 2 * u->cap : 2;
		uint32_t *more = sl__rewrite_copy_list(rw, u->nodes, u->n, cap,
						       sizeof(*more));

		if (!more)
			return;
		u->nodes = more;
		u->cap = cap;
	}
	u->nodes[u->n++] = node;
}

/* From both ends at once: whoever takes out all users of a value, first to
 * last or last to first, finds the next one at an end. */
static void
drop_use(struct sl__rewrite *rw, uint32_t value, uint32_t node)
{
	struct sl__value_uses *u = &rw->uses[value];

	for (uint32_t i = 0; i < u->n; i++) {
		uint32_t *end = u->nodes + u->n;

		if (u->nodes[i] == node) {
			memmove(u->nodes + 1, u->nodes, i * sizeof(*end));
			u->nodes++;
			u->cap--;
			u->n--;
			return;
		}
		if (end[-1 - (ptrdiff_t)i] == node) {
			memmove(end - 1 - i, end - i, i * sizeof(*end));
			u->n--;
			return;
		}
	}
}

/* Notes the outcome of what the new graph was asked for. */
static int
is_done(struct sl__rewrite *rw, enum sl_status rc)
{
	if (!rw->rc)
		rw->rc = rc;
	return !rw->rc;
}

static void
copy_values(struct sl__rewrite *rw)
{
	const struct sl_graph *from = rw->from;
	uint32_t id;

	if (rw->rc || !grow_values(rw, from->n_values) ||
	    !is_done(rw, sl__graph_copy_symbols(rw->to, from, rw->err)))
		return;
	for (size_t i = 1; !rw->rc && i < from->n_blocks; i++)
		is_done(rw, sl__graph_add_block(rw->to, &id,
						from->blocks[i].name, rw->err));
	for (size_t i = 0; !rw->rc && i < from->n_values; i++) {
		const struct sl__value *v = &from->values[i];

		uint32_t home = rw->homes[v->block];

		if (!is_done(rw, sl__graph_add_value(rw->to, &id, v->name,
						     home == SL__NONE ? v->block
								      : home,
						     rw->err)))
			return;
		rw->to->values[id].kind = v->kind;
		rw->to->values[id].declared = v->declared;
		rw->to->values[id].tensor = v->tensor;
		rw->types[id] = rw->shapes->types[id];
		rw->is_pinned[id] |= !!from->values[id].is_apart;
	}
}

static void
copy_block(struct sl__rewrite *rw, uint32_t block)
{
	const struct sl__block *b = &rw->from->blocks[block];

	if (is_done(rw, sl__graph_set_inputs(rw->to, block, b->inputs,
					     b->n_inputs, rw->err)))
		is_done(rw, sl__graph_set_outputs(rw->to, block, b->outputs,
						  b->n_outputs, rw->err));
	for (size_t i = 0; i < b->n_outputs; i++)
		rw->is_pinned[b->outputs[i]] = 1;
}

/* A copy of a node's lists, so that they can be written; 0: a failure. */
static int
own_lists(struct sl__rewrite *rw, struct sl__node *node)
{
	uint32_t *lists = sl__rewrite_alloc(
		rw, (size_t)node->n_inputs + node->n_outputs, sizeof(*lists));

	if (!lists)
		return 0;
	if (node->n_inputs)
		memcpy(lists, node->inputs, node->n_inputs * sizeof(*lists));
	if (node->n_outputs)
		memcpy(lists + node->n_inputs, node->outputs,
		       node->n_outputs * sizeof(*lists));
	node->inputs = lists;
	node->outputs = lists + node->n_inputs;
	return 1;
}

/* Enters row 'id' into uses and producers. */
static void
link_node(struct sl__rewrite *rw, uint32_t id)
{
	const struct sl__node *node = &rw->nodes[id].node;

	for (uint32_t i = 0; i < node->n_inputs; i++) {
		if (node->inputs[i] != SL__NONE)
			add_use(rw, node->inputs[i], id);
	}
	for (uint32_t k = 0; k < node->n_outputs; k++) {
		if (node->outputs[k] != SL__NONE)
			rw->producers[node->outputs[k]] = id;
	}
}

static void
copy_node(struct sl__rewrite *rw, uint32_t id)
{
	const struct sl__node *node = &rw->from->nodes[id];
	uint32_t *covers = sl__rewrite_alloc(rw, 1, sizeof(*covers));
	struct sl__mutable_node *row = add_row(rw, node);

	if (!row)
		return;
	*covers = id;
	row->covers = covers;
	row->n_covers = 1;
	row->node.block = rw->homes[node->block];
	row->is_gone = row->node.block == SL__NONE ||
		       sl__rewrite_taken_branch(rw, id) != SL__NONE;
	if (!row->is_gone && own_lists(rw, &row->node))
		link_node(rw, id);
}

/* What the taken branch of an If gives for its output, which may come from an
 * If in it. */
static uint32_t
branch_output(const struct sl__rewrite *rw, uint32_t id, uint32_t k)
{
	uint32_t taken = sl__rewrite_taken_branch(rw, id), value = SL__NONE;

	while (taken != SL__NONE) {
		value = rw->from->blocks[taken].outputs[k];
		id = rw->from->values[value].producer;
		taken = id == SL__NONE || rw->is_pinned[value]
				? SL__NONE
				: sl__rewrite_taken_branch(rw, id);
		for (k = 0; taken != SL__NONE &&
			    rw->from->nodes[id].outputs[k] != value;)
			k++;
	}
	return value;
}

/* Whoever uses what an If gives, whose branch is known, uses what the branch
 * gives. */
static void
bypass_if(struct sl__rewrite *rw, uint32_t id)
{
	const struct sl__node *node = &rw->from->nodes[id];

	if (rw->homes[node->block] == SL__NONE ||
	    sl__rewrite_taken_branch(rw, id) == SL__NONE)
		return;
	for (uint32_t k = 0; !rw->rc && k < node->n_outputs; k++) {
		uint32_t y = node->outputs[k], x;
		struct sl__node_builder m;

		if (y == SL__NONE)
			continue;
		x = branch_output(rw, id, k);
		if (!rw->is_pinned[y]) {
			sl__rewrite_replace_value(rw, y, x);
			continue;
		}
		sl__node_builder_begin(&m, rw, "", "Identity", 1);
		m.node.name = node->name;
		sl__node_builder_add_input(&m, x);
		sl__node_builder_add_output(&m, y);
		sl__node_builder_add_covered(&m, id);
		sl__node_builder_finish(&m);
	}
}

static void
copy_graph(struct sl__rewrite *rw)
{
	const struct sl_graph *from = rw->from;

	sl__rewrite_find_homes(rw);
	copy_values(rw);
	rw->to->name = from->name;
	rw->to->source = from->source;
	rw->to->is_builtin = from->is_builtin;
	rw->to->producer = from->producer;
	rw->to->ir_version = from->ir_version;
	rw->to->seed = from->seed;
	rw->to->opsets = from->opsets;
	rw->to->n_opsets = from->n_opsets;
	for (uint32_t b = 0; !rw->rc && b < from->n_blocks; b++) {
		if (rw->homes[b] == b)
			copy_block(rw, b);
	}
	for (uint32_t i = 0; !rw->rc && i < from->n_nodes; i++)
		copy_node(rw, i);
	for (uint32_t i = 0; !rw->rc && i < from->n_nodes; i++)
		bypass_if(rw, i);
}

enum sl_status
sl__rewrite_new(struct sl__rewrite **out, const struct sl_graph *graph,
		const struct sl__shapes *shapes,
		const struct sl_allocator *allocator, struct sl_error *err)
{
	struct sl__rewrite *rw = sl__allocator_alloc(allocator, sizeof(*rw));
	enum sl_status rc;

	*out = NULL;
	if (!rw)
		return sl__fail_nomem(err);
	memset(rw, 0, sizeof(*rw));
	if (allocator)
		rw->allocator = *allocator;
	rw->from = graph;
	rw->shapes = shapes;
	rw->err = err;
	rw->rc = sl__graph_new(&rw->to, allocator, err);
	if (!rw->rc)
		copy_graph(rw);
	if (rw->rc) {
		rc = rw->rc;
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
	sl__allocator_free(&allocator, rw);
}

/* A Constant whose value has its tensor is a node no more. */
static int
is_left_out(const struct sl__rewrite *rw, const struct sl__mutable_node *row)
{
	const struct sl__node *node = &row->node;

	return row->is_gone || (sl__is_op(node, SL__OP_ONNX_Constant) &&
				node->outputs[0] != SL__NONE &&
				rw->to->values[node->outputs[0]].tensor);
}

/* Empties the blocks that no node of the new graph runs any more. */
static void
drop_blocks(struct sl__rewrite *rw, const unsigned char *is_run)
{
	for (size_t b = 0; is_run && b < rw->to->n_blocks; b++) {
		if (!is_run[b]) {
			rw->to->blocks[b].n_inputs = 0;
			rw->to->blocks[b].n_outputs = 0;
		}
	}
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
last_place(const struct sl__mutable_node *row, const uint32_t *places)
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
place_of(const struct sl__rewrite *rw, const struct sl__mutable_node *row,
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
uint32_t *
sl__rewrite_node_order(struct sl__rewrite *rw)
{
	uint32_t *places = sl__rewrite_number_nodes(rw);
	struct placed *rows = sl__rewrite_alloc(rw, rw->n_nodes, sizeof(*rows));
	uint32_t *order = sl__rewrite_alloc(rw, rw->n_nodes, sizeof(*order));

	if (rw->rc)
		return NULL;
	for (uint32_t i = 0; i < rw->n_nodes; i++) {
		rows[i].row = i;
		rows[i].place = place_of(rw, &rw->nodes[i], places);
	}
	if (rw->n_nodes)
		qsort(rows, rw->n_nodes, sizeof(*rows), compare_places);
	for (size_t i = 0; i < rw->n_nodes; i++)
		order[i] = rows[i].row;
	return order;
}

enum sl_status
sl__rewrite_finish(struct sl__rewrite *rw, struct sl_graph **out,
		   const struct sl__covered_nodes **covers)
{
	struct sl__covered_nodes *list =
		sl__rewrite_alloc(rw, rw->n_nodes + 1, sizeof(*list));
	uint32_t *order = sl__rewrite_node_order(rw), id;
	const unsigned char *is_run = sl__rewrite_find_run_blocks(rw);

	drop_blocks(rw, is_run);
	for (size_t i = 0; !rw->rc && i < rw->n_nodes; i++) {
		const struct sl__mutable_node *row = &rw->nodes[order[i]];

		if (!is_left_out(rw, row) && is_run[row->node.block] &&
		    is_done(rw, sl__graph_add_node(rw->to, &id, &row->node,
						   rw->err)))
			list[id] = (struct sl__covered_nodes){row->covers,
							      row->n_covers};
	}
	if (rw->rc || !is_done(rw, sl__graph_freeze(rw->to, rw->err)))
		return rw->rc;
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

uint32_t
sl__rewrite_output(const struct sl__rewrite *rw, uint32_t node)
{
	return rw->nodes[node].node.outputs[0];
}

int
sl__rewrite_node_is_op(const struct sl__rewrite *rw, uint32_t node,
		       enum sl__op_id op)
{
	const struct sl__node *n = sl__rewrite_node(rw, node);

	return n && sl__is_op(n, op);
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

const struct sl__tensor *
sl__tensor_constant_read(const struct sl__rewrite *rw, uint32_t value)
{
	const struct sl__tensor *t;

	if (value == SL__NONE)
		return NULL;
	t = rw->to->values[value].tensor;
	return t && !t->absent && !t->is_sparse ? t : NULL;
}

int
sl__scalar_constant_read(const struct sl__rewrite *rw, uint32_t value,
			 double *out)
{
	const struct sl__tensor *t = sl__tensor_constant_read(rw, value);

	return t && t->n_elements == 1 && sl__tensor_doubles(t, 0, 1, out);
}

uint32_t
sl__rewrite_add_value(struct sl__rewrite *rw, const char *name,
		      const struct sl__type *type)
{
	uint32_t id = 0;

	if (grow_values(rw, rw->to->n_values + 1) &&
	    is_done(rw, sl__graph_add_value(rw->to, &id, name, 0, rw->err)))
		rw->types[id] = *type;
	return id;
}

uint32_t
sl__rewrite_add_shaped_value(struct sl__rewrite *rw, const char *name,
			     enum sl_dtype dtype, int rank, const int64_t *dims)
{
	struct sl__type type = {
		.kind = SL__TYPE_TENSOR, .dtype = dtype, .rank = rank};

	type.dims = sl__rewrite_copy_list(rw, dims, (size_t)rank, (size_t)rank,
					  sizeof(*dims));
	return sl__rewrite_add_value(rw, name, &type);
}

void
sl__rewrite_value_to_constant(struct sl__rewrite *rw, uint32_t value,
			      const struct sl__tensor *tensor)
{
	struct sl__tensor *t = sl__rewrite_alloc(rw, 1, sizeof(*t));
	int64_t *dims = sl__rewrite_copy_list(rw, tensor->dims, tensor->rank,
					      tensor->rank, sizeof(*dims));

	if (!dims)
		return;
	*t = *tensor;
	t->dims = dims;
	rw->to->values[value].tensor = t;
	rw->to->values[value].kind = SL_VALUE_PARAMETER;
	rw->types[value] = (struct sl__type){.kind = SL__TYPE_TENSOR,
					     .dtype = t->dtype,
					     .rank = (int)t->rank,
					     .dims = dims};
}

uint32_t
sl__rewrite_add_constant(struct sl__rewrite *rw, const struct sl__tensor *like,
			 unsigned char **bytes)
{
	struct sl__tensor made = {
		.dtype = like->dtype, .rank = like->rank, .dims = like->dims};
	struct sl__type type = {.kind = SL__TYPE_TENSOR};
	uint32_t id;

	if (!sl__tensor_compute_size(&made))
		sl__rewrite_fail(rw, SL_E_DATA,
				 "a constant is beyond all sizes");
	*bytes = sl__rewrite_alloc(rw, (size_t)made.n_bytes, 1);
	made.bytes = *bytes;
	id = sl__rewrite_add_value(rw, "", &type);
	sl__rewrite_value_to_constant(rw, id, &made);
	return id;
}

uint32_t
sl__rewrite_add_f32_constant(struct sl__rewrite *rw, size_t rank,
			     const int64_t *dims, const double *elements)
{
	struct sl__tensor like = {
		.dtype = SL_DTYPE_F32, .rank = rank, .dims = dims};
	unsigned char *bytes;
	uint32_t id = sl__rewrite_add_constant(rw, &like, &bytes);

	if (bytes && sl__tensor_compute_size(&like))
		sl__store_doubles(bytes, like.dtype, 0, (size_t)like.n_elements,
				  elements);
	return id;
}

uint32_t
sl__rewrite_add_integer_constant(struct sl__rewrite *rw, enum sl_dtype dtype,
				 size_t rank, const int64_t *dims,
				 const int64_t *elements)
{
	struct sl__tensor like = {.dtype = dtype, .rank = rank, .dims = dims};
	unsigned char *bytes;
	uint32_t id = sl__rewrite_add_constant(rw, &like, &bytes);

	if (bytes && sl__tensor_compute_size(&like))
		sl__store_integers(bytes, dtype, 0, (size_t)like.n_elements,
				   elements);
	return id;
}

void
sl__rewrite_add_covered(struct sl__rewrite *rw, uint32_t node, uint32_t other)
{
	struct sl__mutable_node *a = &rw->nodes[node];
	const struct sl__mutable_node *b = &rw->nodes[other];
	size_t n = a->n_covers;
	uint32_t *both = sl__rewrite_copy_list(rw, a->covers, n,
					       n + b->n_covers, sizeof(*both));

	if (!both)
		return;
	/* Both may do part of the work of one node. */
	for (size_t i = 0; i < b->n_covers; i++) {
		size_t k = 0;

		while (k < n && both[k] != b->covers[i])
			k++;
		if (k == n)
			both[n++] = b->covers[i];
	}
	a->covers = both;
	a->n_covers = n;
}

uint32_t
sl__rewrite_add_node(struct sl__rewrite *rw, const struct sl__node *node,
		     const uint32_t *covers, size_t n_covers)
{
	uint32_t id = (uint32_t)rw->n_nodes;
	struct sl__attribute *attributes =
		sl__rewrite_copy_list(rw, node->attributes, node->n_attributes,
				      node->n_attributes, sizeof(*attributes));
	struct sl__mutable_node *row = add_row(rw, node);

	if (!row)
		return 0;
	row->node.op = sl__op_find(node->domain, node->type);
	row->node.block = n_covers ? rw->nodes[covers[0]].node.block
				   : sl__rewrite_innermost_block(rw, node);
	row->node.attributes = attributes;
	if (n_covers) {
		row->node.phase = rw->nodes[covers[0]].node.phase;
		row->node.forward = rw->nodes[covers[0]].node.forward;
	}
	if (!own_lists(rw, &row->node))
		return 0;
	for (uint32_t k = 0; k < node->n_outputs; k++) {
		if (node->outputs[k] != SL__NONE)
			rw->to->values[node->outputs[k]].block =
				row->node.block;
	}
	for (size_t i = 0; i < n_covers; i++)
		sl__rewrite_add_covered(rw, id, covers[i]);
	link_node(rw, id);
	return id;
}

void
sl__rewrite_remove_node(struct sl__rewrite *rw, uint32_t node)
{
	struct sl__mutable_node *row = &rw->nodes[node];

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

static void
set_input(struct sl__rewrite *rw, uint32_t node, size_t i, uint32_t value)
{
	struct sl__node *n = &rw->nodes[node].node;

	if (!own_lists(rw, n))
		return;
	if (n->inputs[i] != SL__NONE)
		drop_use(rw, n->inputs[i], node);
	((uint32_t *)(uintptr_t)n->inputs)[i] = value;
	if (value != SL__NONE)
		add_use(rw, value, node);
}

void
sl__rewrite_replace_value(struct sl__rewrite *rw, uint32_t old, uint32_t new)
{
	while (!rw->rc && rw->uses[old].n) {
		uint32_t node = rw->uses[old].nodes[0];
		const struct sl__node *n = &rw->nodes[node].node;

		for (uint32_t i = 0; i < n->n_inputs; i++) {
			if (n->inputs[i] == old)
				set_input(rw, node, i, new);
		}
	}
}
