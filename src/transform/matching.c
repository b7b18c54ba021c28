/* SPDX-License-Identifier: Apache-2.0 */
/* matching.c - what passes ask of nodes and values before they change them. */
#include "matching.h"
#include "status.h"

#include <stdlib.h>

#include "banned.h"

int
sl__is_sized(const struct sl__rewrite *rw, uint32_t value)
{
	uint64_t n;

	if (value == SL__NONE || rw->types[value].kind != SL__TYPE_TENSOR ||
	    rw->types[value].dtype == SL_DTYPE_NONE)
		return 0;
	return sl__type_elements(&rw->types[value], &n);
}

int
sl__are_alike(const struct sl__rewrite *rw, uint32_t a, uint32_t b)
{
	const struct sl__type *s, *t;

	if (!sl__is_sized(rw, a) || !sl__is_sized(rw, b))
		return 0;
	s = &rw->types[a];
	t = &rw->types[b];
	if (s->dtype != t->dtype || s->rank != t->rank)
		return 0;
	for (int d = 0; d < s->rank; d++) {
		if (s->dims[d] != t->dims[d])
			return 0;
	}
	return 1;
}

int
sl__is_single(const struct sl__rewrite *rw, uint32_t value)
{
	uint64_t n;

	return sl__is_sized(rw, value) &&
	       rw->types[value].dtype == SL_DTYPE_F32 &&
	       sl__type_elements(&rw->types[value], &n) && n > 0;
}

uint32_t
sl__other_operand(const struct sl__rewrite *rw, uint32_t node, uint32_t value)
{
	const struct sl__node *n = sl__rewrite_node(rw, node);

	if (!n || n->n_inputs != 2 || n->inputs[0] == n->inputs[1])
		return SL__NONE;
	if (n->inputs[0] == value)
		return n->inputs[1];
	return n->inputs[1] == value ? n->inputs[0] : SL__NONE;
}

int
sl__is_filled(const struct sl__rewrite *rw, uint32_t value, double x)
{
	const struct sl__tensor *t = sl__rewrite_tensor(rw, value);
	double element;

	if (!t || t->n_elements == 0)
		return 0;
	for (uint64_t i = 0; i < t->n_elements; i++) {
		if (!sl__tensor_doubles(t, i, 1, &element) || element < x ||
		    element > x || element - element != 0)
			return 0;
	}
	return 1;
}

int
sl__constant_integers(const struct sl__rewrite *rw, uint32_t value,
		      int64_t *out, int most)
{
	const struct sl__tensor *t = sl__rewrite_tensor(rw, value);

	if (!t || t->n_elements > (uint64_t)most ||
	    !sl__tensor_integers(t, 0, (size_t)t->n_elements, out))
		return -1;
	return (int)t->n_elements;
}

int
sl__broadcasts(const struct sl__node *node)
{
	return node->domain[0] || node->version >= 7;
}

/* ----------------------------------------------------------------- in order */

struct placed {
	uint32_t node, place;
};

static int
compare_places(const void *a, const void *b)
{
	const struct placed *x = a, *y = b;

	if (x->place != y->place)
		return x->place < y->place ? -1 : 1;
	return (x->node > y->node) - (x->node < y->node);
}

static int
is_among(const struct sl__rewrite *rw, uint32_t node, const enum sl__op_id *ops,
	 size_t n_ops)
{
	for (size_t i = 0; i < n_ops; i++) {
		if (sl__rewrite_is(rw, node, ops[i]))
			return 1;
	}
	return 0;
}

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

enum sl_status
sl__list_nodes(struct sl__rewrite *rw, const enum sl__op_id *ops, size_t n_ops,
	       uint32_t **out, size_t *n, struct sl_error *err)
{
	struct sl__arena *arena = &rw->to->arena;
	const struct sl__block *block = &rw->from->blocks[0];
	uint32_t *places =
		sl__arena_array(arena, rw->from->n_nodes, sizeof(*places));
	struct placed *found =
		sl__arena_array(arena, rw->n_nodes, sizeof(*found));
	size_t n_found = 0;

	*out = sl__arena_array(arena, rw->n_nodes, sizeof(**out));
	if (!places || !found || !*out)
		return sl__fail_nomem(err);
	for (size_t i = 0; i < block->n_nodes; i++)
		places[block->nodes[i]] = (uint32_t)i;
	for (uint32_t i = 0; i < rw->n_nodes; i++) {
		if (!is_among(rw, i, ops, n_ops))
			continue;
		found[n_found].node = i;
		found[n_found++].place = last_place(&rw->nodes[i], places);
	}
	if (n_found)
		qsort(found, n_found, sizeof(*found), compare_places);
	for (size_t i = 0; i < n_found; i++)
		(*out)[i] = found[i].node;
	*n = n_found;
	return SL_OK;
}
