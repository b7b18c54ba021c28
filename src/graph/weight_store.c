/* SPDX-License-Identifier: Apache-2.0 */
/*
 * weight_store.c - constants as the plans of one graph have made them.
 *
 * A shelf is what one plan has made: pages, and a list of what lies where in
 * them.  The store lists shelves.  Lists, counts and holds are read and written
 * under the store's lock; what lies on a shelf is written before it is listed
 * and only read afterwards, so that reading needs none.
 */
#include "graph/weight_store.h"
#include "base/status.h"

#include <pthread.h>
#include <string.h>

#include "base/banned.h"

struct entry {
	struct entry *next;
	struct sl__identity tensor;
	const void *form;
	const unsigned char *data;
	uint64_t n_bytes;
};

/* Invariants: listed while n_users > 0.  The pages are written by the plan that
 * made the shelf only. */
struct sl__shelf {
	struct sl__shelf *next;
	struct sl__pages *pages;
	struct sl__arena arena; /* of entries */
	struct entry *entries;
	size_t n_users;
	int is_apart; /* for the plan that made it only */
};

/* One for each entry that is used, and one user of its shelf. */
struct sl__shelf_use {
	struct sl__shelf_use *next;
	struct sl__shelf *shelf;
	const struct entry *entry;
	int is_counted; /* among found_bytes */
};

struct sl__weight_hold {
	struct sl__weight_hold *next;
	struct sl__weight_store *store;
	struct sl_allocator allocator;
	struct sl__weights *kept; /* may be NULL */
};

struct sl__weight_store {
	struct sl_allocator allocator;
	pthread_mutex_t lock;
	struct sl__shelf *shelves;
	struct sl__weight_hold *holds;
};

enum sl_status
sl__weight_store_new(struct sl__weight_store **out,
		     const struct sl_allocator *allocator, struct sl_error *err)
{
	struct sl__weight_store *store = sl__alloc(allocator, sizeof(*store));

	*out = NULL;
	if (!store)
		return sl__fail_nomem(err);
	memset(store, 0, sizeof(*store));
	if (allocator)
		store->allocator = *allocator;
	if (pthread_mutex_init(&store->lock, NULL)) {
		sl__release(allocator, store);
		return sl__fail_nomem(err);
	}
	*out = store;
	return SL_OK;
}

void
sl__weight_store_free(struct sl__weight_store *store)
{
	struct sl_allocator allocator;

	if (!store)
		return;
	allocator = store->allocator;
	pthread_mutex_destroy(&store->lock);
	sl__release(&allocator, store);
}

static void
lock(struct sl__weight_store *store)
{
	(void)pthread_mutex_lock(&store->lock);
}

static void
unlock(struct sl__weight_store *store)
{
	(void)pthread_mutex_unlock(&store->lock);
}

static int
is_same_allocator(const struct sl_allocator *a, const struct sl_allocator *b)
{
	return a->alloc == b->alloc && a->release == b->release &&
	       a->ctx == b->ctx;
}

static void
free_shelf(struct sl__shelf *shelf)
{
	struct sl_allocator allocator = shelf->arena.allocator;

	sl__pages_free(shelf->pages);
	sl__arena_release(&shelf->arena);
	sl__release(&allocator, shelf);
}

static enum sl_status
new_shelf(struct sl__shelf **out, struct sl__weight_store *store,
	  const struct sl_allocator *allocator, struct sl_error *err)
{
	struct sl__shelf *shelf = sl__alloc(allocator, sizeof(*shelf));
	enum sl_status rc;

	if (!shelf)
		return sl__fail_nomem(err);
	memset(shelf, 0, sizeof(*shelf));
	sl__arena_init(&shelf->arena, allocator);
	rc = sl__pages_new(&shelf->pages, &shelf->arena.allocator, err);
	if (rc) {
		free_shelf(shelf);
		return rc;
	}
	shelf->n_users = 1;
	lock(store);
	shelf->next = store->shelves;
	store->shelves = shelf;
	unlock(store);
	*out = shelf;
	return SL_OK;
}

/* One user fewer; returns the shelf where it was the last, which is then
 * nobody's.  Locked. */
static struct sl__shelf *
leave(struct sl__weight_store *store, struct sl__shelf *shelf)
{
	struct sl__shelf **at = &store->shelves;

	if (--shelf->n_users)
		return NULL;
	while (*at != shelf)
		at = &(*at)->next;
	*at = shelf->next;
	return shelf;
}

static void
leave_and_free(struct sl__weight_store *store, struct sl__shelf *shelf)
{
	lock(store);
	shelf = leave(store, shelf);
	unlock(store);
	if (shelf)
		free_shelf(shelf);
}

enum sl_status
sl__weights_new(struct sl__weights **out, const struct sl_graph *graph,
		const struct sl_allocator *allocator, struct sl_error *err)
{
	struct sl__weights *w = sl__alloc(allocator, sizeof(*w));
	enum sl_status rc;

	*out = NULL;
	if (!w)
		return sl__fail_nomem(err);
	memset(w, 0, sizeof(*w));
	w->graph = graph;
	sl__arena_init(&w->arena, allocator);
	rc = new_shelf(&w->own, graph->weights, &w->arena.allocator, err);
	if (rc) {
		sl__release(allocator, w);
		return rc;
	}
	w->pages = w->own->pages;
	*out = w;
	return SL_OK;
}

static void
let_go(struct sl__weights *w)
{
	struct sl_allocator allocator = w->arena.allocator;
	struct sl__weight_store *store = w->graph->weights;

	for (struct sl__shelf_use *use = w->found; use; use = use->next)
		leave_and_free(store, use->shelf);
	leave_and_free(store, w->own);
	sl__arena_release(&w->arena);
	sl__release(&allocator, w);
}

/* Whether the weights stay with one who holds them.  What stayed before comes
 * back in *w, or NULL. */
static void
hand_over(struct sl__weights **w)
{
	struct sl__weight_store *store = (*w)->graph->weights;
	struct sl__weights *before;

	lock(store);
	for (struct sl__weight_hold *h = store->holds; h; h = h->next) {
		if (!is_same_allocator(&h->allocator, &(*w)->arena.allocator))
			continue;
		before = h->kept;
		h->kept = *w;
		*w = before;
		break;
	}
	unlock(store);
}

void
sl__weights_free(struct sl__weights *w)
{
	if (w)
		hand_over(&w);
	if (w)
		let_go(w);
}

void
sl__weights_keep_apart(struct sl__weights *w)
{
	struct sl__weight_store *store = w->graph->weights;

	lock(store);
	w->own->is_apart = 1;
	unlock(store);
}

const struct sl__arena *
sl__weights_books(const struct sl__weights *w)
{
	return &w->own->arena;
}

static const struct entry *
find_on(const struct sl__shelf *shelf, const struct sl__weight_key *key)
{
	const struct entry *e = shelf->entries;

	while (e && !(sl__identity_equal(&e->tensor, &key->tensor) &&
		      key->is_same(e->form, key->form)))
		e = e->next;
	return e;
}

/* Locked.  NULL without memory for the note. */
static struct sl__shelf_use *
use_entry(struct sl__weights *w, struct sl__shelf *shelf, const struct entry *e)
{
	struct sl__shelf_use *use = w->found;

	while (use && use->entry != e)
		use = use->next;
	if (use)
		return use;
	use = sl__arena_alloc(&w->arena, sizeof(*use));
	if (!use)
		return NULL;
	use->next = w->found;
	use->shelf = shelf;
	use->entry = e;
	w->found = use;
	shelf->n_users++;
	return use;
}

/* What lies on a shelf, of which the plan is a user from now on. */
static const struct entry *
take_from(struct sl__weights *w, struct sl__shelf *shelf,
	  const struct sl__weight_key *key, int is_counted)
{
	const struct entry *e = find_on(shelf, key);
	struct sl__shelf_use *use;

	if (!e || shelf == w->own)
		return e;
	use = use_entry(w, shelf, e);
	if (use && is_counted && !use->is_counted) {
		use->is_counted = 1;
		w->found_bytes += (e->n_bytes + 63) & ~UINT64_C(63);
	}
	return use ? e : NULL;
}

/* Whether the plan may take from a shelf.  Locked. */
static int
is_open_to(const struct sl__shelf *shelf, const struct sl__weights *w)
{
	if (shelf == w->own)
		return 1;
	return !shelf->is_apart && !w->own->is_apart &&
	       is_same_allocator(&shelf->arena.allocator, &w->arena.allocator);
}

static const unsigned char *
take(struct sl__weights *w, const struct sl__weight_key *key, int is_counted)
{
	struct sl__weight_store *store = w->graph->weights;
	const struct entry *e = NULL;

	lock(store);
	for (struct sl__shelf *s = store->shelves; s && !e; s = s->next) {
		if (is_open_to(s, w))
			e = take_from(w, s, key, is_counted);
	}
	unlock(store);
	return e ? e->data : NULL;
}

const unsigned char *
sl__weights_find(struct sl__weights *w, const struct sl__weight_key *key)
{
	return take(w, key, 1);
}

const unsigned char *
sl__weights_look(struct sl__weights *w, const struct sl__weight_key *key)
{
	return take(w, key, 0);
}

void
sl__weights_offer(struct sl__weights *w, const struct sl__weight_key *key,
		  const unsigned char *data, uint64_t n_bytes)
{
	struct sl__weight_store *store = w->graph->weights;
	struct entry *e = sl__arena_alloc(&w->own->arena, sizeof(*e));
	void *form = sl__arena_alloc(&w->own->arena, key->n_bytes);

	if (!e || !form)
		return;
	memcpy(form, key->form, key->n_bytes);
	*e = (struct entry){NULL, key->tensor, form, data, n_bytes};
	lock(store);
	e->next = w->own->entries;
	w->own->entries = e;
	unlock(store);
}

enum sl_status
sl__weight_hold_new(struct sl__weight_hold **out, const struct sl_graph *graph,
		    const struct sl_allocator *allocator, struct sl_error *err)
{
	struct sl__weight_hold *hold = sl__alloc(allocator, sizeof(*hold));

	*out = hold;
	if (!hold)
		return sl__fail_nomem(err);
	memset(hold, 0, sizeof(*hold));
	hold->store = graph->weights;
	if (allocator)
		hold->allocator = *allocator;
	lock(hold->store);
	hold->next = hold->store->holds;
	hold->store->holds = hold;
	unlock(hold->store);
	return SL_OK;
}

void
sl__weight_hold_empty(struct sl__weight_hold *hold)
{
	struct sl__weights *kept;

	lock(hold->store);
	kept = hold->kept;
	hold->kept = NULL;
	unlock(hold->store);
	if (kept)
		let_go(kept);
}

void
sl__weight_hold_free(struct sl__weight_hold *hold)
{
	struct sl_allocator allocator;
	struct sl__weight_hold **at;

	if (!hold)
		return;
	lock(hold->store);
	for (at = &hold->store->holds; *at != hold; at = &(*at)->next)
		;
	*at = hold->next;
	unlock(hold->store);
	sl__weight_hold_empty(hold);
	allocator = hold->allocator;
	sl__release(&allocator, hold);
}
