/* SPDX-License-Identifier: Apache-2.0 */
/*
 * infer.c - types and shapes of every value, node by node in order.
 *
 * Each operator's own rule does the work (op_*.c).  What it leaves open, a
 * declaration of the file may fill; what the file declares otherwise is not
 * trusted, since exporters leave stale shapes behind.
 */
#include "graph/infer.h"
#include "base/status.h"
#include "graph/op_rules.h"

#include <stdio.h>
#include <string.h>

#include "base/banned.h"

/* Dimensions that are not known yet take the declared ones. */
static enum sl_status
fill_from_declared(struct sl__shapes *s, uint32_t value, struct sl_error *err)
{
	struct sl__type *type = &s->types[value];
	struct sl__type declared;
	int64_t *dims;
	enum sl_status rc;

	if (s->graph->values[value].declared.kind == SL__TYPE_UNKNOWN ||
	    s->ignore_declared)
		return SL_OK;
	rc = sl__shapes_substitute_bound(
		s, &declared, &s->graph->values[value].declared, err);
	if (rc)
		return rc;
	s->is_told[value] = 1;
	if (type->kind == SL__TYPE_UNKNOWN ||
	    (type->kind == declared.kind && type->rank < 0)) {
		enum sl_dtype dtype = type->dtype;

		*type = declared;
		if (dtype != SL_DTYPE_NONE)
			type->dtype = dtype;
		return SL_OK;
	}
	if (type->rank != declared.rank || type->rank <= 0)
		return SL_OK;
	dims = sl__arena_array(&s->arena, (size_t)type->rank, sizeof(*dims));
	if (!dims)
		return sl__fail_nomem(err);
	for (int i = 0; i < type->rank; i++)
		dims[i] = sl__is_symbol(type->dims[i]) &&
					  !sl__is_symbol(declared.dims[i])
				  ? declared.dims[i]
				  : type->dims[i];
	type->dims = dims;
	return SL_OK;
}

static int
is_open(const struct sl__shapes *s, const struct sl__type *type)
{
	if (type->kind == SL__TYPE_UNKNOWN)
		return 1;
	if (type->kind != SL__TYPE_TENSOR)
		return 0;
	if (type->rank < 0)
		return 1;
	for (int i = 0; i < type->rank; i++) {
		if (sl__is_symbol(type->dims[i]) &&
		    (size_t)(type->dims[i] - SL__SYMBOL_BASE) >=
			    s->graph->n_symbols)
			return 1;
	}
	return 0;
}

/* Whether some input of the node was open, so that it is not the first. */
static int
follows_open(const struct sl__shapes *s, const struct sl__node *node)
{
	for (uint32_t i = 0; i < node->n_inputs; i++) {
		if (node->inputs[i] != SL__NONE &&
		    is_open(s, &s->types[node->inputs[i]]))
			return 1;
	}
	return 0;
}

/* The rows that a node's own rule noted, with reasons: one per output at
 * most, in the order of the outputs, so that 'next' is the one to look at. */
struct noted {
	size_t next, end;
};

static struct noted
noted_by_rule(const struct sl__shapes *s, uint32_t node)
{
	struct noted rows = {s->n_unresolved, s->n_unresolved};

	while (rows.next > 0 && s->unresolved[rows.next - 1].node == node)
		rows.next--;
	return rows;
}

static int
is_noted(const struct sl__shapes *s, struct noted *rows, uint32_t value)
{
	for (size_t i = rows->next; i < rows->end; i++) {
		if (s->unresolved[i].value != value)
			continue;
		rows->next = i + 1;
		return 1;
	}
	return 0;
}

/* Remembers where a shape was lost first, not everything downstream. */
static enum sl_status
note_open(struct sl__shapes *s, uint32_t node, uint32_t value,
	  struct sl_error *err)
{
	struct sl__unresolved_shape *row =
		sl__shapes_add_unresolved(s, node, value);

	if (!row)
		return sl__fail_nomem(err);
	row->why = s->graph->nodes[node].op ? "depends on data"
					    : "the operator is not known";
	return SL_OK;
}

struct sl__unresolved_shape *
sl__shapes_add_unresolved(struct sl__shapes *s, uint32_t node, uint32_t value)
{
	if (!sl__arena_grow(&s->arena, &s->unresolved, s->n_unresolved,
			    &s->cap_unresolved, sizeof(*s->unresolved)))
		return NULL;
	s->unresolved[s->n_unresolved].node = node;
	s->unresolved[s->n_unresolved].value = value;
	return &s->unresolved[s->n_unresolved++];
}

/* Sums and products of sizes further on rely on this. */
static enum sl_status
check_fits(const struct sl__shapes *s, const struct sl__node *node,
	   struct sl_error *err)
{
	for (uint32_t k = 0; k < node->n_outputs; k++) {
		if (node->outputs[k] == SL__NONE ||
		    sl__type_size_fits_63_bits(&s->types[node->outputs[k]]))
			continue;
		return sl__fail(err, SL_E_DATA,
				"node '%.200s' (%.60s): its output has more "
				"than 2^63 bytes",
				node->name, node->type);
	}
	return SL_OK;
}

static enum sl_status
settle_outputs(struct sl__shapes *s, uint32_t id, struct sl_error *err)
{
	const struct sl__node *node = &s->graph->nodes[id];
	struct noted rows = noted_by_rule(s, id);
	int follows = -1; /* not looked at yet */

	for (uint32_t k = 0; k < node->n_outputs; k++) {
		uint32_t value = node->outputs[k];
		enum sl_status rc;

		if (value == SL__NONE || !is_open(s, &s->types[value]))
			continue;
		rc = fill_from_declared(s, value, err);
		if (rc)
			return rc;
		if (follows < 0)
			follows = follows_open(s, node);
		if (follows || !is_open(s, &s->types[value]) ||
		    is_noted(s, &rows, value))
			continue;
		rc = note_open(s, id, value, err);
		if (rc)
			return rc;
	}
	return SL_OK;
}

enum sl_status
sl__infer_node(struct sl__shapes *s, uint32_t id, struct sl_error *err)
{
	const struct sl__node *node = &s->graph->nodes[id];
	struct sl__rule_context call = {.shapes = s, .node = node, .err = err};
	enum sl_status rc;
	char where[320];

	if (node->op && !sl__rule_keep_status(&call, node->op->infer(&call)))
		sl__rule_keep_status(&call, node->op->fold(&call));
	rc = call.failure;
	if (s->is_short)
		return sl__fail_nomem(err);
	if (rc == SL_E_DATA) {
		snprintf(where, sizeof(where), "node '%.200s' (%.60s)",
			 node->name, node->type);
		return sl__error_prefix(err, rc, where);
	}
	if (!rc)
		rc = settle_outputs(s, id, err);
	return rc ? rc : check_fits(s, node, err);
}

enum sl_status
sl__infer_block(struct sl__shapes *s, uint32_t id, struct sl_error *err)
{
	const struct sl__block *block = &s->graph->blocks[id];
	enum sl_status rc = SL_OK;

	for (size_t i = 0; !rc && i < block->n_nodes; i++)
		rc = sl__infer_node(s, block->nodes[i], err);
	return rc;
}
