/* SPDX-License-Identifier: Apache-2.0 */
/*
 * update_order.c - when a training step updates its parameters.
 *
 * A gradient is needed until its parameter is updated.  With all updates at the
 * end every gradient is alive there; one that is used as soon as it is known
 * leaves its memory to the others, and is in a cache still.  The numbers are the
 * same, as no update reads what another one writes.
 */
#include "transform/update_order.h"
#include "base/status.h"

#include "base/banned.h"

/* Places count from 1; 0 is before all nodes. */
struct ordering {
	struct sl_graph *graph;
	struct sl__block *main;
	uint32_t *nodes;    /* as they stood */
	uint32_t *made;     /* by value: the place of what makes it */
	uint32_t *last_use; /* by value: the last place that reads it, or what
			       is made of it without an activation */
	unsigned char *is_fixed; /* by value: no activation leads to it */
	uint32_t *first, *next;  /* lists of nodes to move: by place, by node;
				    1 + its index */
	size_t n, n_others;
};

static int
is_update(const struct ordering *o, size_t i)
{
	return o->graph->nodes[o->nodes[i]].phase == SL_PHASE_UPDATE;
}

static enum sl_status
init(struct ordering *o, struct sl__arena *arena, struct sl_error *err)
{
	size_t n_values = o->graph->n_values;

	o->n = o->main->n_nodes;
	o->nodes = sl__arena_realloc_array(arena, o->main->nodes, o->n,
					   o->n + 1, sizeof(*o->nodes));
	o->made = sl__arena_array(arena, n_values, sizeof(*o->made));
	o->last_use = sl__arena_array(arena, n_values, sizeof(*o->last_use));
	o->is_fixed = sl__arena_array(arena, n_values, 1);
	o->first = sl__arena_array(arena, o->n + 1, sizeof(*o->first));
	o->next = sl__arena_array(arena, o->n + 1, sizeof(*o->next));
	if (!o->nodes || !o->made || !o->last_use || !o->is_fixed ||
	    !o->first || !o->next)
		return sl__fail_nomem(err);
	for (size_t v = 0; v < n_values; v++)
		o->is_fixed[v] = o->graph->values[v].tensor ||
				 o->graph->values[v].kind == SL_VALUE_STATE;
	return SL_OK;
}

static void
find_places(struct ordering *o)
{
	for (size_t i = 0; i < o->n; i++) {
		const struct sl__node *node = &o->graph->nodes[o->nodes[i]];
		int is_fixed = 1;

		if (is_update(o, i))
			continue;
		o->n_others++;
		for (uint32_t k = 0; k < node->n_inputs; k++)
			is_fixed &= node->inputs[k] == SL__NONE ||
				    o->is_fixed[node->inputs[k]];
		for (uint32_t k = 0; k < node->n_outputs; k++) {
			if (node->outputs[k] == SL__NONE)
				continue;
			o->made[node->outputs[k]] = (uint32_t)o->n_others;
			o->is_fixed[node->outputs[k]] = is_fixed != 0;
		}
	}
}

/* A copy or another layout of a parameter may be the parameter's own memory. */
static void
find_last_uses(struct ordering *o)
{
	uint32_t place = (uint32_t)o->n_others;

	for (size_t i = o->n; i-- > 0;) {
		const struct sl__node *node = &o->graph->nodes[o->nodes[i]];
		uint32_t last = place;

		if (is_update(o, i))
			continue;
		for (uint32_t k = 0; k < node->n_outputs; k++) {
			uint32_t v = node->outputs[k];

			if (v != SL__NONE && o->is_fixed[v] &&
			    o->last_use[v] > last)
				last = o->last_use[v];
		}
		for (uint32_t k = 0; k < node->n_inputs; k++) {
			uint32_t v = node->inputs[k];

			if (v != SL__NONE && o->last_use[v] < last)
				o->last_use[v] = last;
		}
		place--;
	}
}

/* The nodes of each list stand in their old order, so that who comes last is
 * put in first. */
static void
move_updates(struct ordering *o, uint32_t loss)
{
	uint32_t n = 0;

	for (size_t i = 0; i < o->n; i++) {
		const struct sl__node *node = &o->graph->nodes[o->nodes[i]];
		uint32_t place = o->made[loss];

		if (!is_update(o, i))
			continue;
		for (uint32_t k = 0; k < node->n_inputs; k++) {
			uint32_t v = node->inputs[k];

			if (v == SL__NONE)
				continue;
			place = o->made[v] > place ? o->made[v] : place;
			place = o->last_use[v] > place ? o->last_use[v] : place;
		}
		for (uint32_t k = 0; k < node->n_outputs; k++) {
			if (node->outputs[k] != SL__NONE)
				o->made[node->outputs[k]] = place;
		}
		o->next[i] = place;
	}
	for (size_t i = o->n; i-- > 0;) {
		uint32_t place = o->next[i];

		if (!is_update(o, i))
			continue;
		o->next[i] = o->first[place];
		o->first[place] = (uint32_t)i + 1;
	}
	for (size_t i = 0, place = 0; i < o->n; i++) {
		if (is_update(o, i))
			continue;
		o->main->nodes[n++] = o->nodes[i];
		for (uint32_t k = o->first[++place]; k; k = o->next[k - 1])
			o->main->nodes[n++] = o->nodes[k - 1];
	}
}

enum sl_status
sl__updates_move_early(struct sl_graph *graph, uint32_t loss,
		       struct sl_error *err)
{
	struct ordering o = {.graph = graph, .main = &graph->blocks[0]};
	struct sl__arena arena;
	enum sl_status rc;

	if (graph->n_blocks > 1)
		return SL_OK;
	sl__arena_init(&arena, &graph->arena.allocator);
	rc = init(&o, &arena, err);
	if (!rc) {
		find_places(&o);
		find_last_uses(&o);
		move_updates(&o, loss);
	}
	sl__arena_release(&arena);
	return rc;
}
