/* SPDX-License-Identifier: Apache-2.0 */
/*
 * body.c - blocks inside blocks: what control flow runs.
 *
 * A loop's body is inferred with the types that enter it first.  Where what
 * it hands on differs, the difference is made unknown and the body inferred
 * again; a third time every size it hands on is, and at last every rank.
 * Loops deep inside others start there, since each level repeats all those
 * inside.
 */
#include "graph/body.h"
#include "base/status.h"
#include "graph/op_rules.h"

#include <string.h>

#include "base/banned.h"

/* Looks at a body, and from which depth on it is one: 4 * 4 * 4 times 2 at
 * most. */
enum { PASS_SIZES = 2, PASS_RANKS = 3, DEEP = 4 };

uint32_t
sl__node_body_by_name(const struct sl__node *node, const char *name)
{
	const struct sl__attribute *a = sl__attribute_find(node, name);

	return a && a->kind == SL__ATTRIBUTE_BLOCK ? a->block : SL__NONE;
}

/* Blocks around a block; 0 for the model itself. */
static int
depth_of(const struct sl_graph *graph, uint32_t block)
{
	int depth = 0;

	while (graph->blocks[block].owner != SL__NONE) {
		block = graph->nodes[graph->blocks[block].owner].block;
		depth++;
	}
	return depth;
}

typedef void block_function(struct sl__shapes *shapes, uint32_t block,
			    uint64_t with);

/* The blocks that a node's attributes hold. */
static void
each_block_of(struct sl__shapes *shapes, const struct sl__node *node,
	      block_function *visit, uint64_t with)
{
	for (size_t i = 0; i < node->n_attributes; i++) {
		if (node->attributes[i].kind == SL__ATTRIBUTE_BLOCK)
			visit(shapes, node->attributes[i].block, with);
	}
}

static void
reset(struct sl__shapes *shapes, uint32_t id, uint64_t unused)
{
	const struct sl_graph *graph = shapes->graph;
	const struct sl__block *block = &graph->blocks[id];

	(void)unused;
	shapes->block_calls[id] = 0;
	for (size_t i = 0; i < block->n_nodes; i++) {
		const struct sl__node *node = &graph->nodes[block->nodes[i]];

		for (uint32_t k = 0; k < node->n_outputs; k++) {
			uint32_t value = node->outputs[k];

			if (value == SL__NONE || graph->values[value].tensor)
				continue;
			memset(&shapes->types[value], 0,
			       sizeof(shapes->types[value]));
			shapes->types[value].rank = -1;
			shapes->known[value] = NULL;
		}
		each_block_of(shapes, node, reset, 0);
	}
}

void
sl__body_clear_inferred(struct sl__shapes *shapes, uint32_t block)
{
	reset(shapes, block, 0);
}

static uint64_t
times(uint64_t a, uint64_t b)
{
	uint64_t product;

	if (a == 0 || b == 0)
		return 0;
	if (a == UINT64_MAX || b == UINT64_MAX)
		return UINT64_MAX;
	if (__builtin_mul_overflow(a, b, &product) ||
	    product > SL__CALLS_OVERFLOW)
		return SL__CALLS_OVERFLOW;
	return product;
}

void
sl__body_multiply_calls(struct sl__shapes *shapes, uint32_t id,
			uint64_t n_calls)
{
	const struct sl__block *block = &shapes->graph->blocks[id];

	shapes->block_calls[id] = times(shapes->block_calls[id], n_calls);
	for (size_t i = 0; i < block->n_nodes; i++)
		each_block_of(shapes, &shapes->graph->nodes[block->nodes[i]],
			      sl__body_multiply_calls, n_calls);
}

uint32_t
sl__body_output_value(const struct sl__shapes *shapes, uint32_t block, size_t k)
{
	return shapes->graph->blocks[block].outputs[k];
}

static enum sl_status
merge_dims(struct sl__shapes *shapes, struct sl__type *out,
	   const struct sl__type *a, const struct sl__type *b,
	   struct sl_error *err)
{
	int64_t *dims =
		sl__arena_array(&shapes->arena, (size_t)a->rank, sizeof(*dims));

	if (!dims)
		return sl__fail_nomem(err);
	for (int i = 0; i < a->rank; i++)
		dims[i] = a->dims[i] == b->dims[i]
				  ? a->dims[i]
				  : sl__size_new_unknown(shapes);
	out->rank = a->rank;
	out->dims = dims;
	return SL_OK;
}

static enum sl_status
merge_elements(struct sl__shapes *shapes, struct sl__type *out,
	       const struct sl__type *a, const struct sl__type *b,
	       struct sl_error *err)
{
	struct sl__type *element;

	element = sl__arena_alloc(&shapes->arena, sizeof(*element));
	if (!element)
		return sl__fail_nomem(err);
	out->element = element;
	if (!a->element || !b->element) {
		element->rank = -1;
		if (a->element || b->element)
			*element = a->element ? *a->element : *b->element;
		return SL_OK;
	}
	return sl__type_merge(shapes, element, a->element, b->element, err);
}

/* What two tensors or containers of the same kind share. */
static enum sl_status
merge_kind(struct sl__shapes *shapes, struct sl__type *out,
	   const struct sl__type *a, const struct sl__type *b,
	   struct sl_error *err)
{
	if (a->rank == SL__RANK_EMPTY || b->rank == SL__RANK_EMPTY) {
		*out = a->rank == SL__RANK_EMPTY ? *b : *a;
		return SL_OK;
	}
	out->kind = a->kind;
	out->dtype = a->dtype == b->dtype ? a->dtype : SL_DTYPE_NONE;
	if (out->kind == SL__TYPE_SEQUENCE || out->kind == SL__TYPE_OPTIONAL)
		return merge_elements(shapes, out, a, b, err);
	if (out->kind == SL__TYPE_TENSOR && a->rank >= 0 && a->rank == b->rank)
		return merge_dims(shapes, out, a, b, err);
	return SL_OK;
}

enum sl_status
sl__type_merge(struct sl__shapes *shapes, struct sl__type *out,
	       const struct sl__type *a, const struct sl__type *b,
	       struct sl_error *err)
{
	struct sl__type merged = {.rank = -1};
	struct sl__type wrapped = {SL__TYPE_OPTIONAL, SL_DTYPE_NONE, -1, NULL,
				   NULL};
	enum sl_status rc = SL_OK;

	if (a->kind == b->kind) {
		rc = merge_kind(shapes, &merged, a, b, err);
	} else if (a->kind == SL__TYPE_OPTIONAL) {
		wrapped.element = b;
		rc = merge_kind(shapes, &merged, a, &wrapped, err);
	} else if (b->kind == SL__TYPE_OPTIONAL) {
		wrapped.element = a;
		rc = merge_kind(shapes, &merged, &wrapped, b, err);
	}
	*out = merged;
	return rc;
}

/* Whether 'type' says everything about 'next' too. */
static int
covers(const struct sl__shapes *shapes, const struct sl__type *type,
       const struct sl__type *next)
{
	if (type->kind == SL__TYPE_OPTIONAL && type->element &&
	    next->kind != SL__TYPE_OPTIONAL)
		return covers(shapes, type->element, next);
	if (type->kind != next->kind)
		return type->kind == SL__TYPE_UNKNOWN;
	if (type->rank == SL__RANK_EMPTY)
		return next->rank == SL__RANK_EMPTY;
	if ((type->kind == SL__TYPE_SEQUENCE ||
	     type->kind == SL__TYPE_OPTIONAL) &&
	    type->element && next->element)
		return covers(shapes, type->element, next->element);
	if (type->kind != SL__TYPE_TENSOR || type->rank < 0)
		return 1;
	if (type->rank != next->rank)
		return 0;
	for (int i = 0; i < type->rank; i++) {
		if (type->dims[i] != next->dims[i] &&
		    !sl__size_is_unknown(shapes, type->dims[i]))
			return 0;
	}
	return 1;
}

/* Nothing is left of a tensor's sizes, in the last pass not even the rank. */
static enum sl_status
forget(struct sl__shapes *shapes, struct sl__type *type, int pass,
       struct sl_error *err)
{
	int64_t *dims;

	if (pass == PASS_RANKS) {
		type->rank = -1;
		type->dims = NULL;
		return SL_OK;
	}
	if (type->kind != SL__TYPE_TENSOR || type->rank <= 0)
		return SL_OK;
	dims = sl__arena_array(&shapes->arena, (size_t)type->rank,
			       sizeof(*dims));
	if (!dims)
		return sl__fail_nomem(err);
	for (int i = 0; i < type->rank; i++)
		dims[i] = sl__size_new_unknown(shapes);
	type->dims = dims;
	return SL_OK;
}

int
sl__body_carries_unchanged(const struct sl__shapes *shapes,
			   const struct sl__loop_carried_values *carried,
			   size_t i)
{
	const struct sl_graph *graph = shapes->graph;
	const struct sl__block *block = &graph->blocks[carried->block];
	uint32_t value = block->outputs[carried->first_out + i];

	/* The nodes are finite; the bound guards against long chains. */
	for (int depth = 0; depth < 16; depth++) {
		const struct sl__node *node;

		if (value == block->inputs[carried->first_in + i])
			return 1;
		if (graph->values[value].producer == SL__NONE)
			return 0;
		node = &graph->nodes[graph->values[value].producer];
		if (!sl__is_op(node, SL__OP_ONNX_Identity) || !node->n_inputs ||
		    node->inputs[0] == SL__NONE)
			return 0;
		value = node->inputs[0];
	}
	return 0;
}

/* One look at the body with the types as they are. */
static enum sl_status
infer_once(struct sl__shapes *shapes, const struct sl__loop_carried_values *c,
	   struct sl_error *err)
{
	const struct sl__block *block = &shapes->graph->blocks[c->block];

	sl__body_clear_inferred(shapes, c->block);
	shapes->block_calls[c->block] = 1;
	for (size_t i = 0; i < c->n; i++) {
		uint32_t value = block->inputs[c->first_in + i];

		shapes->types[value] = c->types[i];
		shapes->known[value] =
			c->runs_once || sl__body_carries_unchanged(shapes, c, i)
				? c->known[i]
				: NULL;
	}
	return sl__infer_block(shapes, c->block, err);
}

/* Makes unknown what changes from run to run; *is_stable: nothing did. */
static enum sl_status
widen(struct sl__shapes *shapes, struct sl__loop_carried_values *c,
      int *is_stable, struct sl_error *err)
{
	enum sl_status rc = SL_OK;

	*is_stable = 1;
	for (size_t i = 0; !rc && i < c->n; i++) {
		uint32_t next = sl__body_output_value(shapes, c->block,
						      c->first_out + i);

		if (covers(shapes, &c->types[i], &shapes->types[next]))
			continue;
		*is_stable = 0;
		rc = sl__type_merge(shapes, &c->types[i], &c->types[i],
				    &shapes->types[next], err);
	}
	return rc;
}

enum sl_status
sl__body_infer(struct sl__shapes *shapes, struct sl__loop_carried_values *c,
	       struct sl_error *err)
{
	int depth = depth_of(shapes->graph, c->block);
	int first = depth > DEEP ? PASS_RANKS : depth == DEEP ? PASS_SIZES : 0;
	size_t n_unresolved = shapes->n_unresolved;
	enum sl_status rc = SL_OK;

	for (int pass = first; !rc && pass <= PASS_RANKS; pass++) {
		int is_stable = 0;

		for (size_t i = 0; pass >= PASS_SIZES && !rc && i < c->n; i++) {
			if (!sl__body_carries_unchanged(shapes, c, i))
				rc = forget(shapes, &c->types[i], pass, err);
		}
		/* What an earlier look did not find does not count. */
		shapes->n_unresolved = n_unresolved;
		if (!rc)
			rc = infer_once(shapes, c, err);
		if (!rc && !c->runs_once)
			rc = widen(shapes, c, &is_stable, err);
		if (is_stable || c->runs_once)
			break;
	}
	return rc;
}
