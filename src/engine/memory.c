/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory.c - a place in one block for every buffer.
 *
 * Each buffer is needed from the first step that names it to the last.  They
 * are placed one after the other, each at the lowest offset where nothing that
 * is needed at the same time lies: the largest first, which mostly needs no
 * more than is needed at one step.  Where it does, other orders are tried: the
 * longest-lived first, and, a few times, the one that reaches highest moved to
 * the front.  All that takes the square of their number; thousands are placed
 * in the order in which they are needed.
 */
#include "base/status.h"
#include "engine/program.h"

#include <stdlib.h>
#include <string.h>

#include "base/banned.h"

enum { ALIGNMENT = 64 };

static const uint64_t BYTES_MOST = INT64_MAX; /* of all buffers together */

static uint64_t
aligned(uint64_t n_bytes)
{
	return (n_bytes + ALIGNMENT - 1) & ~(uint64_t)(ALIGNMENT - 1);
}

static int
is_placed_here(const struct sl__program *p, uint32_t id)
{
	return p->buffers[id].base == id &&
	       p->buffers[id].category != SL__CATEGORY_CONSTANT &&
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

		if (b->category == SL__CATEGORY_INPUT)
			b->first = 0;
		if (b->category == SL__CATEGORY_INPUT ||
		    b->category == SL__CATEGORY_OUTPUT)
			b->last = end;
		if (b->category == SL__CATEGORY_OUTPUT && b->first > end)
			b->first = 0;
	}
}

enum {
	TRIES = 48,        /* orders looked at */
	TRIED_MOST = 8192, /* buffers of which orders are tried */
	GAPS_MOST = 256    /* remembered; others stay unused */
};

struct piece {
	uint64_t n_bytes, offset, best;
	uint32_t first, last, id;
};

/* 'order' is the one to try next; placed[] is sorted by offset. */
struct placing {
	struct piece *pieces;
	struct piece **order, **placed;
	size_t n;
	uint64_t best_bytes;
};

static int
by_size(const void *a, const void *b)
{
	const struct piece *x = *(struct piece *const *)a;
	const struct piece *y = *(struct piece *const *)b;

	if (x->n_bytes != y->n_bytes)
		return x->n_bytes < y->n_bytes ? 1 : -1;
	if (x->first != y->first)
		return x->first < y->first ? -1 : 1;
	return x->id < y->id ? -1 : x->id > y->id;
}

static int
by_life(const void *a, const void *b)
{
	const struct piece *x = *(struct piece *const *)a;
	const struct piece *y = *(struct piece *const *)b;
	uint32_t life[2] = {x->last - x->first, y->last - y->first};

	if (life[0] != life[1])
		return life[0] < life[1] ? 1 : -1;
	return by_size(a, b);
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

		if (placed[mid]->offset <= piece->offset)
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

/* Places all in the order there is; returns the one that reaches highest,
 * NULL where there is none. */
static struct piece *
try_order(struct placing *t)
{
	struct piece *highest = NULL;
	uint64_t block_bytes = 0;

	for (size_t i = 0; i < t->n; i++) {
		struct piece *piece = t->order[i];
		uint64_t end;

		piece->offset = find_gap(piece, t->placed, i);
		insert(t->placed, i, piece);
		end = piece->offset + piece->n_bytes;
		if (end > block_bytes) {
			block_bytes = end;
			highest = piece;
		}
	}
	if (block_bytes < t->best_bytes) {
		t->best_bytes = block_bytes;
		for (size_t i = 0; i < t->n; i++)
			t->pieces[i].best = t->pieces[i].offset;
	}
	return highest;
}

static void
move_to_front(struct placing *t, struct piece *piece)
{
	struct piece *moved = piece;

	for (size_t i = 0; i < t->n; i++) {
		struct piece *here = t->order[i];

		t->order[i] = moved;
		if (here == piece)
			return;
		moved = here;
	}
}

static void
find_order(struct placing *t, uint64_t bound_bytes)
{
	t->best_bytes = UINT64_MAX;
	for (int i = 0; i < TRIES && t->best_bytes > bound_bytes; i++) {
		if (i % (TRIES / 2) == 0)
			qsort(t->order, t->n, sizeof(struct piece *),
			      i ? by_life : by_size);
		move_to_front(t, try_order(t));
	}
}

struct gap {
	uint64_t offset, n_bytes;
};

/* Free places below the top, by offset. */
struct gaps {
	struct gap list[GAPS_MOST];
	size_t n;
	uint64_t top;
};

static uint64_t
take_gap(struct gaps *g, uint64_t n_bytes)
{
	uint64_t offset = g->top;

	for (size_t i = 0; i < g->n; i++) {
		struct gap *gap = &g->list[i];

		if (gap->n_bytes < n_bytes)
			continue;
		offset = gap->offset;
		gap->offset += n_bytes;
		gap->n_bytes -= n_bytes;
		if (!gap->n_bytes)
			memmove(gap, gap + 1, (--g->n - i) * sizeof(*gap));
		return offset;
	}
	g->top += n_bytes;
	return offset;
}

static void
give_gap(struct gaps *g, uint64_t offset, uint64_t n_bytes)
{
	size_t i = 0;

	while (i < g->n && g->list[i].offset < offset)
		i++;
	if (i < g->n && g->list[i].offset == offset + n_bytes) {
		n_bytes += g->list[i].n_bytes;
		memmove(&g->list[i], &g->list[i + 1],
			(--g->n - i) * sizeof(*g->list));
	}
	if (i && g->list[i - 1].offset + g->list[i - 1].n_bytes == offset) {
		g->list[i - 1].n_bytes += n_bytes;
		return;
	}
	if (g->n == GAPS_MOST)
		return;
	memmove(&g->list[i + 1], &g->list[i], (g->n - i) * sizeof(*g->list));
	g->list[i] = (struct gap){offset, n_bytes};
	g->n++;
}

static int
by_first(const void *a, const void *b)
{
	const struct piece *x = *(struct piece *const *)a;
	const struct piece *y = *(struct piece *const *)b;

	return x->first != y->first ? (x->first < y->first ? -1 : 1)
				    : by_size(a, b);
}

static int
by_last(const void *a, const void *b)
{
	const struct piece *x = *(struct piece *const *)a;
	const struct piece *y = *(struct piece *const *)b;

	return x->last != y->last ? (x->last < y->last ? -1 : 1)
				  : by_size(a, b);
}

/* Each where there is room when it is first needed. */
static void
place_many(struct placing *t)
{
	struct gaps gaps = {.n = 0};
	size_t ended = 0;

	memcpy(t->placed, t->order, t->n * sizeof(*t->order));
	qsort(t->order, t->n, sizeof(*t->order), by_first);
	qsort(t->placed, t->n, sizeof(*t->placed), by_last);
	for (size_t i = 0; i < t->n; i++) {
		struct piece *piece = t->order[i];

		for (; t->placed[ended]->last < piece->first; ended++)
			give_gap(&gaps, t->placed[ended]->best,
				 t->placed[ended]->n_bytes);
		piece->best = take_gap(&gaps, piece->n_bytes);
	}
	t->best_bytes = gaps.top;
}

/*
 * The buffers that are to be placed.  No offset, end or sum of live bytes is
 * beyond the sum of all of them, so that nothing wraps around where that one
 * does not; what is beyond half of all addresses cannot be had anyway.
 */
static enum sl_status
collect(const struct sl__program *p, struct placing *t, struct sl_error *err)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < p->n_buffers; i++) {
		const struct sl__buffer *b = &p->buffers[i];
		struct piece *piece = &t->pieces[t->n];

		if (!is_placed_here(p, i))
			continue;
		if (b->n_bytes > BYTES_MOST || sum > BYTES_MOST)
			return sl__fail_nomem(err);
		piece->n_bytes = aligned(b->n_bytes);
		piece->first = b->first;
		piece->last = b->last;
		piece->id = i;
		sum += piece->n_bytes;
		t->order[t->n++] = piece;
	}
	return sum > BYTES_MOST ? sl__fail_nomem(err) : SL_OK;
}

enum sl_status
sl__program_place_buffers(struct sl__program *p, struct sl_error *err)
{
	size_t pointer = sizeof(struct piece *);
	struct placing t = {0};
	enum sl_status rc;

	find_lives(p);
	t.pieces = sl__arena_array(&p->arena, p->n_buffers, sizeof(*t.pieces));
	t.order = sl__arena_array(&p->arena, p->n_buffers, pointer);
	t.placed = sl__arena_array(&p->arena, p->n_buffers, pointer);
	if (!t.pieces || !t.order || !t.placed)
		return sl__fail_nomem(err);
	rc = collect(p, &t, err);
	if (!rc)
		rc = find_bound(p, t.pieces, t.n, err);
	if (rc)
		return rc;
	if (t.n > TRIED_MOST)
		place_many(&t);
	else
		find_order(&t, p->bound_bytes);
	p->block_bytes = t.best_bytes;
	for (size_t i = 0; i < t.n; i++)
		p->buffers[t.pieces[i].id].offset = t.pieces[i].best;
	return SL_OK;
}
