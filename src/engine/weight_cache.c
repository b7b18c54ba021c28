/* SPDX-License-Identifier: Apache-2.0 */
/*
 * weight_cache.c - constants of a model as its plans have packed them.
 *
 * A block is what one plan has packed: pages, and a list of the entries in
 * them.  The cache lists the blocks of all graphs, each with its graph, and
 * the pins; there is one for the process, because plans of one graph share
 * nothing else that could lead from one to another.  Lists, counts and pins
 * are read and written under its lock; an entry's bytes are written before it
 * is listed and only read afterwards, so that reading needs none.
 */
#include "engine/weight_cache.h"
#include "base/status.h"

#include <pthread.h>
#include <string.h>

#include "base/banned.h"

struct entry {
	struct entry *next;
	struct sl__tensor_fingerprint tensor;
	const void *layout;
	const unsigned char *data;
	uint64_t n_bytes;
};

/* Invariants: listed while n_users > 0.  The pages are written by the plan that
 * made the block only. */
struct sl__weight_block {
	struct sl__weight_block *next;
	const struct sl_graph *graph;
	struct sl__pages *pages;
	struct sl__arena arena; /* of entries */
	struct entry *entries;
	size_t n_users;
	int is_isolated; /* for the plan that made it only */
};

/* One for each entry that is used, and one user of its block. */
struct sl__weight_use {
	struct sl__weight_use *next;
	struct sl__weight_block *block;
	const struct entry *entry;
	int is_counted; /* among found_bytes */
};

struct sl__weight_pin {
	struct sl__weight_pin *next;
	const struct sl_graph *graph;
	struct sl_allocator allocator;
	struct sl__plan_weights *kept; /* may be NULL */
};

static struct {
	pthread_mutex_t lock;
	struct sl__weight_block *blocks;
	struct sl__weight_pin *pins;
} cache = {PTHREAD_MUTEX_INITIALIZER, NULL, NULL};

static void
lock(void)
{
	(void)pthread_mutex_lock(&cache.lock);
}

static void
unlock(void)
{
	(void)pthread_mutex_unlock(&cache.lock);
}

static int
is_same_allocator(const struct sl_allocator *a, const struct sl_allocator *b)
{
	return a->alloc == b->alloc && a->release == b->release &&
	       a->ctx == b->ctx;
}

static void
free_block(struct sl__weight_block *block)
{
	struct sl_allocator allocator = block->arena.allocator;

	sl__pages_free(block->pages);
	sl__arena_release(&block->arena);
	sl__allocator_free(&allocator, block);
}

static enum sl_status
new_block(struct sl__weight_block **out, const struct sl_graph *graph,
	  const struct sl_allocator *allocator, struct sl_error *err)
{
	struct sl__weight_block *block =
		sl__allocator_alloc(allocator, sizeof(*block));
	enum sl_status rc;

	if (!block)
		return sl__fail_nomem(err);
	memset(block, 0, sizeof(*block));
	sl__arena_init(&block->arena, allocator);
	rc = sl__pages_new(&block->pages, &block->arena.allocator, err);
	if (rc) {
		free_block(block);
		return rc;
	}
	block->graph = graph;
	block->n_users = 1;
	lock();
	block->next = cache.blocks;
	cache.blocks = block;
	unlock();
	*out = block;
	return SL_OK;
}

/* One user fewer; returns the block where it was the last, which is then
 * nobody's.  Locked. */
static struct sl__weight_block *
leave(struct sl__weight_block *block)
{
	struct sl__weight_block **at = &cache.blocks;

	if (--block->n_users)
		return NULL;
	while (*at != block)
		at = &(*at)->next;
	*at = block->next;
	return block;
}

static void
leave_and_free(struct sl__weight_block *block)
{
	lock();
	block = leave(block);
	unlock();
	if (block)
		free_block(block);
}

enum sl_status
sl__plan_weights_new(struct sl__plan_weights **out,
		     const struct sl_graph *graph,
		     const struct sl_allocator *allocator, struct sl_error *err)
{
	struct sl__plan_weights *w = sl__allocator_alloc(allocator, sizeof(*w));
	enum sl_status rc;

	*out = NULL;
	if (!w)
		return sl__fail_nomem(err);
	memset(w, 0, sizeof(*w));
	w->graph = graph;
	sl__arena_init(&w->arena, allocator);
	rc = new_block(&w->own, graph, &w->arena.allocator, err);
	if (rc) {
		sl__allocator_free(allocator, w);
		return rc;
	}
	w->pages = w->own->pages;
	*out = w;
	return SL_OK;
}

static void
let_go(struct sl__plan_weights *w)
{
	struct sl_allocator allocator = w->arena.allocator;

	for (struct sl__weight_use *use = w->found; use; use = use->next)
		leave_and_free(use->block);
	leave_and_free(w->own);
	sl__arena_release(&w->arena);
	sl__allocator_free(&allocator, w);
}

/* Leaves the weights with a pin of their graph, where there is one and others
 * can find them.  What that kept before comes back in *w, or NULL. */
static void
hand_over(struct sl__plan_weights **w)
{
	struct sl__plan_weights *before;

	lock();
	for (struct sl__weight_pin *p = cache.pins; p; p = p->next) {
		if (p->graph != (*w)->graph || (*w)->own->is_isolated ||
		    !is_same_allocator(&p->allocator, &(*w)->arena.allocator))
			continue;
		before = p->kept;
		p->kept = *w;
		*w = before;
		break;
	}
	unlock();
}

void
sl__plan_weights_free(struct sl__plan_weights *w)
{
	if (w)
		hand_over(&w);
	if (w)
		let_go(w);
}

void
sl__plan_weights_isolate(struct sl__plan_weights *w)
{
	lock();
	w->own->is_isolated = 1;
	unlock();
}

const struct sl__arena *
sl__plan_weights_entry_arena(const struct sl__plan_weights *w)
{
	return &w->own->arena;
}

static const struct entry *
find_in(const struct sl__weight_block *block, const struct sl__weight_key *key)
{
	const struct entry *e = block->entries;

	while (e && !(sl__tensor_fingerprint_equal(&e->tensor, &key->tensor) &&
		      key->is_same(e->layout, key->layout)))
		e = e->next;
	return e;
}

/* Locked.  NULL without memory for the note. */
static struct sl__weight_use *
use_entry(struct sl__plan_weights *w, struct sl__weight_block *block,
	  const struct entry *e)
{
	struct sl__weight_use *use = w->found;

	while (use && use->entry != e)
		use = use->next;
	if (use)
		return use;
	use = sl__arena_alloc(&w->arena, sizeof(*use));
	if (!use)
		return NULL;
	use->next = w->found;
	use->block = block;
	use->entry = e;
	w->found = use;
	block->n_users++;
	return use;
}

/* An entry of a block, of which the plan is a user from now on. */
static const struct entry *
take_from(struct sl__plan_weights *w, struct sl__weight_block *block,
	  const struct sl__weight_key *key, int is_counted)
{
	const struct entry *e = find_in(block, key);
	struct sl__weight_use *use;

	if (!e || block == w->own)
		return e;
	use = use_entry(w, block, e);
	if (use && is_counted && !use->is_counted) {
		use->is_counted = 1;
		w->found_bytes += (e->n_bytes + 63) & ~UINT64_C(63);
	}
	return use ? e : NULL;
}

/* Whether the plan may take from a block.  Locked. */
static int
is_open_to(const struct sl__weight_block *block,
	   const struct sl__plan_weights *w)
{
	if (block == w->own)
		return 1;
	return block->graph == w->graph && !block->is_isolated &&
	       !w->own->is_isolated &&
	       is_same_allocator(&block->arena.allocator, &w->arena.allocator);
}

static const unsigned char *
take(struct sl__plan_weights *w, const struct sl__weight_key *key,
     int is_counted)
{
	const struct entry *e = NULL;

	lock();
	for (struct sl__weight_block *b = cache.blocks; b && !e; b = b->next) {
		if (is_open_to(b, w))
			e = take_from(w, b, key, is_counted);
	}
	unlock();
	return e ? e->data : NULL;
}

const unsigned char *
sl__weight_cache_find(struct sl__plan_weights *w,
		      const struct sl__weight_key *key)
{
	return take(w, key, 1);
}

const unsigned char *
sl__weight_cache_peek(struct sl__plan_weights *w,
		      const struct sl__weight_key *key)
{
	return take(w, key, 0);
}

void
sl__weight_cache_insert(struct sl__plan_weights *w,
			const struct sl__weight_key *key,
			const unsigned char *data, uint64_t n_bytes)
{
	struct entry *e = sl__arena_alloc(&w->own->arena, sizeof(*e));
	void *layout = sl__arena_alloc(&w->own->arena, key->n_bytes);

	if (!e || !layout)
		return;
	memcpy(layout, key->layout, key->n_bytes);
	*e = (struct entry){NULL, key->tensor, layout, data, n_bytes};
	lock();
	e->next = w->own->entries;
	w->own->entries = e;
	unlock();
}

enum sl_status
sl__weight_pin_new(struct sl__weight_pin **out, const struct sl_graph *graph,
		   const struct sl_allocator *allocator, struct sl_error *err)
{
	struct sl__weight_pin *pin =
		sl__allocator_alloc(allocator, sizeof(*pin));

	*out = pin;
	if (!pin)
		return sl__fail_nomem(err);
	memset(pin, 0, sizeof(*pin));
	pin->graph = graph;
	if (allocator)
		pin->allocator = *allocator;
	lock();
	pin->next = cache.pins;
	cache.pins = pin;
	unlock();
	return SL_OK;
}

void
sl__weight_pin_clear(struct sl__weight_pin *pin)
{
	struct sl__plan_weights *kept;

	lock();
	kept = pin->kept;
	pin->kept = NULL;
	unlock();
	if (kept)
		let_go(kept);
}

void
sl__weight_pin_free(struct sl__weight_pin *pin)
{
	struct sl_allocator allocator;
	struct sl__weight_pin **at;

	if (!pin)
		return;
	lock();
	for (at = &cache.pins; *at != pin; at = &(*at)->next)
		;
	*at = pin->next;
	unlock();
	sl__weight_pin_clear(pin);
	allocator = pin->allocator;
	sl__allocator_free(&allocator, pin);
}
