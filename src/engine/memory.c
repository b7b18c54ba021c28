/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory.c - a place in one block for every buffer.
 *
 * Each buffer is needed from the first step that names it to the last.  The
 * largest are placed first, each at the lowest offset where nothing that is
 * needed at the same time lies.
 */
#include "program.h"
#include "status.h"

#include <stdlib.h>

#include "banned.h"

enum { ALIGNMENT = 64 };

static uint64_t
aligned(uint64_t n_bytes)
{
	return (n_bytes + ALIGNMENT - 1) & ~(uint64_t)(ALIGNMENT - 1);
}

static int
is_placed_here(const struct sl__program *p, uint32_t id)
{
	return p->buffers[id].base == id &&
	       p->buffers[id].room != SL__ROOM_CONSTANT &&
	       p->buffers[id].n_bytes > 0 &&
	       p->buffers[id].first <= p->buffers[id].last;
}

/* First and last step of every base; one that no step names is not needed,
 * unless it lasts. */
static void
find_lives(struct sl__program *p)
{
	uint32_t end = p->n_steps ? (uint32_t)p->n_steps - 1 : 0;

	for (size_t i = 0; i < p->n_buffers; i++) {
		p->buffers[i].first = UINT32_MAX;
		p->buffers[i].last = 0;
	}
	for (uint32_t s = 0; s < p->n_steps; s++) {
		for (uint32_t k = 0; k < p->steps[s].n_operands; k++) {
			uint32_t id = p->steps[s].operands[k];
			struct sl__buffer *b = &p->buffers[p->buffers[id].base];

			if (b->first > s)
				b->first = s;
			b->last = s;
		}
	}
	for (size_t i = 0; i < p->n_buffers; i++) {
		struct sl__buffer *b = &p->buffers[i];

		if (b->room == SL__ROOM_INPUT)
			b->first = 0;
		if (b->room == SL__ROOM_INPUT || b->room == SL__ROOM_OUTPUT)
			b->last = end;
		if (b->room == SL__ROOM_OUTPUT && b->first > end)
			b->first = 0;
	}
}

/* ------------------------------------------------------------------- order */

struct piece {
	uint64_t n_bytes, offset;
	uint32_t first, last, id;
};

static int
by_size(const void *a, const void *b)
{
	const struct piece *x = a, *y = b;

	if (x->n_bytes != y->n_bytes)
		return x->n_bytes < y->n_bytes ? 1 : -1;
	if (x->first != y->first)
		return x->first < y->first ? -1 : 1;
	return x->id < y->id ? -1 : x->id > y->id;
}

static int
by_offset(const void *a, const void *b)
{
	const struct piece *x = *(struct piece *const *)a;
	const struct piece *y = *(struct piece *const *)b;

	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

/* The lowest gap among placed pieces, which are sorted by offset. */
static uint64_t
find_gap(const struct piece *piece, struct piece *const *placed, size_t n)
{
	uint64_t at = 0;

	for (size_t i = 0; i < n; i++) {
		if (placed[i]->last < piece->first ||
		    placed[i]->first > piece->last)
			continue;
		if (placed[i]->offset >= at + piece->n_bytes)
			break;
		if (placed[i]->offset + placed[i]->n_bytes > at)
			at = placed[i]->offset + placed[i]->n_bytes;
	}
	return at;
}

static void
insert(struct piece **placed, size_t n, struct piece *piece)
{
	size_t lo = 0, hi = n;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (by_offset(&placed[mid], &piece) <= 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (size_t i = n; i > lo; i--)
		placed[i] = placed[i - 1];
	placed[lo] = piece;
}

/* The most that is needed at one step. */
static enum sl_status
find_bound(struct sl__program *p, const struct piece *pieces, size_t n,
	   struct sl_error *err)
{
	uint64_t *change =
		sl__arena_array(&p->arena, p->n_steps + 2, 2 * sizeof(*change));
	uint64_t live = 0;

	if (!change)
		return sl__fail_nomem(err);
	for (size_t i = 0; i < n; i++) {
		change[2 * (size_t)pieces[i].first] += pieces[i].n_bytes;
		change[2 * (size_t)pieces[i].last + 3] += pieces[i].n_bytes;
	}
	p->bound_bytes = 0;
	for (size_t s = 0; s <= p->n_steps; s++) {
		live -= change[2 * s + 1];
		live += change[2 * s];
		if (live > p->bound_bytes)
			p->bound_bytes = live;
	}
	return SL_OK;
}

static size_t
collect(const struct sl__program *p, struct piece *pieces)
{
	size_t n = 0;

	for (uint32_t i = 0; i < p->n_buffers; i++) {
		const struct sl__buffer *b = &p->buffers[i];

		if (!is_placed_here(p, i))
			continue;
		pieces[n].n_bytes = aligned(b->n_bytes);
		pieces[n].first = b->first;
		pieces[n].last = b->last;
		pieces[n].id = i;
		n++;
	}
	return n;
}

enum sl_status
sl__program_place(struct sl__program *p, struct sl_error *err)
{
	struct piece *pieces;
	struct piece **placed;
	size_t n;

	find_lives(p);
	pieces = sl__arena_array(&p->arena, p->n_buffers, sizeof(*pieces));
	placed = sl__arena_array(&p->arena, p->n_buffers,
				 sizeof(struct piece *));
	if (!pieces || !placed)
		return sl__fail_nomem(err);
	n = collect(p, pieces);
	qsort(pieces, n, sizeof(*pieces), by_size);
	p->block_bytes = 0;
	for (size_t i = 0; i < n; i++) {
		uint64_t end;

		pieces[i].offset = find_gap(&pieces[i], placed, i);
		insert(placed, i, &pieces[i]);
		p->buffers[pieces[i].id].offset = pieces[i].offset;
		end = pieces[i].offset + pieces[i].n_bytes;
		if (end > p->block_bytes)
			p->block_bytes = end;
	}
	return find_bound(p, pieces, n, err);
}
