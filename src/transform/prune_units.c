/* SPDX-License-Identifier: Apache-2.0 */
/*
 * prune_units.c - which channels of a model can only be removed together.
 *
 * Groups are disjoint sets, a forest whose paths are halved on the way (Tarjan
 * and van Leeuwen 1984).
 */
#include "transform/prune_units.h"
#include "base/status.h"

#include "base/banned.h"

uint32_t
sl__units_root(const struct sl__units *u, uint32_t unit)
{
	while (u->parent[unit] != unit) {
		u->parent[unit] = u->parent[u->parent[unit]];
		unit = u->parent[unit];
	}
	return unit;
}

int
sl__units_rank(const struct sl__units *u, uint32_t value)
{
	const struct sl__type *t = &u->shapes->types[value];

	return t->kind == SL__TYPE_TENSOR && t->rank > 0 ? t->rank : 0;
}

int64_t
sl__units_size(const struct sl__units *u, uint32_t value, int axis)
{
	return u->shapes->types[value].dims[axis];
}

uint32_t
sl__units_first(const struct sl__units *u, uint32_t value, int axis)
{
	return u->axes[u->first_axis[value] + (uint32_t)axis];
}

static void
hold(struct sl__units *u, uint32_t unit)
{
	uint32_t root = sl__units_root(u, unit);

	if (!(u->flags[root] & SL__UNIT_HELD))
		u->held_by[root] = u->node;
	u->flags[root] |= SL__UNIT_HELD;
}

void
sl__units_join(struct sl__units *u, uint32_t a, uint32_t b)
{
	uint32_t x = sl__units_root(u, a), y = sl__units_root(u, b);

	if (x == y)
		return;
	if (u->flags[y] & SL__UNIT_HELD &&
	    (!(u->flags[x] & SL__UNIT_HELD) || u->held_by[y] == SL__NONE))
		u->held_by[x] = u->held_by[y];
	u->flags[x] |= u->flags[y];
	u->parent[y] = x;
}

void
sl__units_hold_axis(struct sl__units *u, uint32_t value, int axis)
{
	uint32_t first = sl__units_first(u, value, axis);

	for (int64_t i = 0;
	     first != SL__NONE && i < sl__units_size(u, value, axis); i++)
		hold(u, first + (uint32_t)i);
}

void
sl__units_hold_value(struct sl__units *u, uint32_t value)
{
	for (int d = 0; value != SL__NONE && d < sl__units_rank(u, value); d++)
		sl__units_hold_axis(u, value, d);
}

void
sl__units_hold_node(struct sl__units *u, uint32_t node)
{
	const struct sl__node *n = &u->graph->nodes[node];

	for (uint32_t i = 0; i < n->n_inputs; i++)
		sl__units_hold_value(u, n->inputs[i]);
	for (uint32_t i = 0; i < n->n_outputs; i++)
		sl__units_hold_value(u, n->outputs[i]);
}

void
sl__units_tie(struct sl__units *u, uint32_t a, int axis_a, uint32_t b,
	      int axis_b)
{
	uint32_t x = sl__units_first(u, a, axis_a);
	uint32_t y = sl__units_first(u, b, axis_b);
	int64_t n = sl__units_size(u, a, axis_a);

	if (x == SL__NONE || y == SL__NONE ||
	    n != sl__units_size(u, b, axis_b)) {
		sl__units_hold_axis(u, a, axis_a);
		sl__units_hold_axis(u, b, axis_b);
		return;
	}
	for (int64_t i = 0; i < n; i++)
		sl__units_join(u, x + (uint32_t)i, y + (uint32_t)i);
}

/* Numbers the units; 0: more than there are numbers for. */
static int
count_units(struct sl__units *u)
{
	uint32_t axis = 0;
	uint64_t n = 0;

	for (uint32_t v = 0; v < u->graph->n_values; v++) {
		u->first_axis[v] = axis;
		for (int d = 0; d < sl__units_rank(u, v); d++) {
			int64_t size = sl__units_size(u, v, d);

			u->axes[axis] = SL__NONE;
			if (!sl__is_symbol(size)) {
				u->axes[axis] = (uint32_t)n;
				n += (uint64_t)size;
			}
			if (n >= SL__NONE)
				return 0;
			axis++;
		}
	}
	u->n = (uint32_t)n;
	return 1;
}

static enum sl_status
allocate(struct sl__units *u, struct sl__arena *arena, struct sl_error *err)
{
	size_t n_axes = 0;

	for (uint32_t v = 0; v < u->graph->n_values; v++)
		n_axes += (size_t)sl__units_rank(u, v);
	u->first_axis = sl__arena_array(arena, u->graph->n_values,
					sizeof(*u->first_axis));
	u->axes = sl__arena_array(arena, n_axes, sizeof(*u->axes));
	if (!u->first_axis || !u->axes)
		return sl__fail_nomem(err);
	if (!count_units(u))
		return sl__fail(err, SL_E_DATA,
				"its tensors are too large to be followed");
	u->parent = sl__arena_array(arena, u->n, sizeof(*u->parent));
	u->flags = sl__arena_array(arena, u->n, sizeof(*u->flags));
	u->held_by = sl__arena_array(arena, u->n, sizeof(*u->held_by));
	if (!u->parent || !u->flags || !u->held_by)
		return sl__fail_nomem(err);
	for (uint32_t i = 0; i < u->n; i++)
		u->parent[i] = i;
	return SL_OK;
}

enum sl_status
sl__units_find(struct sl__units *out, struct sl__shapes *shapes,
	       struct sl__arena *arena, struct sl_error *err)
{
	const struct sl_graph *graph = shapes->graph;
	enum sl_status rc;

	*out = (struct sl__units){
		.graph = graph, .shapes = shapes, .node = SL__NONE};
	rc = allocate(out, arena, err);
	if (rc)
		return rc;
	for (uint32_t b = 0; b < graph->n_blocks; b++) {
		const struct sl__block *block = &graph->blocks[b];

		for (size_t i = 0; i < block->n_inputs; i++)
			sl__units_hold_value(out, block->inputs[i]);
		for (size_t i = 0; i < block->n_outputs; i++)
			sl__units_hold_value(out, block->outputs[i]);
	}
	for (uint32_t i = 0; i < graph->n_nodes; i++) {
		out->node = i;
		if (graph->nodes[i].block)
			sl__units_hold_node(out, i);
		else
			sl__units_follow(out, i);
	}
	out->node = SL__NONE;
	return SL_OK;
}
