/* SPDX-License-Identifier: Apache-2.0 */
/* weight_cache.h - constants of a model as its plans have packed them. */
#ifndef SL_WEIGHT_CACHE_H
#define SL_WEIGHT_CACHE_H

#include "base/pages.h"
#include "graph/tensor_fingerprint.h"

/*
 * Plans of one graph, for other sizes or threads, want mostly the same weights
 * in the same layouts.  What one has packed it inserts into the cache; another
 * that wants the same finds it there and uses it where it lies.  An entry goes
 * with the last plan or pin that uses it, whichever that is, and is never
 * written again.
 *
 * What one plan packs lies in pages of its own and goes as a whole: they stay
 * while anybody uses a part of them.  Storage is shared by plans of one
 * allocator only, so that none is used after its owner has gone.
 *
 * A graph is frozen and knows nothing of this.  It outlives its plans and
 * pins, so that its address tells its entries from those of other graphs.  The
 * cache holds nothing by itself: without plans and pins it is empty.  Any
 * number of threads may make, use and free plans of one graph.
 */

/*
 * The weights of one plan.  Invariants: one thread.  'pages' are its own;
 * found_bytes lie in those of others, each block in whole lines of 64 bytes, as
 * sl__pages_used() counts.
 */
struct sl__plan_weights {
	const struct sl_graph *graph; /* of which it is a plan */
	struct sl__pages *pages;
	uint64_t found_bytes;
	struct sl__weight_block *own;
	struct sl__weight_use *found; /* others' entries that it uses */
	struct sl__arena arena;       /* of that list */
};

/* The graph outlives it. */
enum sl_status sl__plan_weights_new(struct sl__plan_weights **out,
				    const struct sl_graph *graph,
				    const struct sl_allocator *allocator,
				    struct sl_error *err) SL_CHECKED;
void sl__plan_weights_free(struct sl__plan_weights *w); /* NULL is fine */

/* It neither finds what others inserted nor do they find what it inserts: for
 * plans that are to lie elsewhere than others.  Before anything is found or
 * inserted. */
void sl__plan_weights_isolate(struct sl__plan_weights *w);

/* Where the plan's own entries are noted. */
const struct sl__arena *
sl__plan_weights_entry_arena(const struct sl__plan_weights *w);

/* What an entry is made of: a tensor, and how it was packed: n_bytes of
 * whatever kind, which is_same() compares. */
struct sl__weight_key {
	struct sl__tensor_fingerprint tensor;
	const void *layout;
	size_t n_bytes;
	int (*is_same)(const void *a, const void *b);
};

/* The entry's bytes, valid as long as 'w', or NULL.  sl__weight_cache_peek()
 * is for reading while the plan is made: it does not count as found. */
const unsigned char *sl__weight_cache_find(struct sl__plan_weights *w,
					   const struct sl__weight_key *key);
const unsigned char *sl__weight_cache_peek(struct sl__plan_weights *w,
					   const struct sl__weight_key *key);

/* 'data' in the plan's own pages, written for good, becomes an entry.  Where
 * there is no memory for the note, it does not. */
void sl__weight_cache_insert(struct sl__plan_weights *w,
			     const struct sl__weight_key *key,
			     const unsigned char *data, uint64_t n_bytes);

/*
 * While a graph is pinned, the weights of its plan that was freed last stay for
 * the next: where plans of one graph are made one after another.  Those of one
 * plan at most, and those of that allocator.
 */
struct sl__weight_pin;

enum sl_status sl__weight_pin_new(struct sl__weight_pin **out,
				  const struct sl_graph *graph,
				  const struct sl_allocator *allocator,
				  struct sl_error *err) SL_CHECKED;
void sl__weight_pin_free(struct sl__weight_pin *pin); /* NULL is fine */

/* What stayed goes now; what the next plan leaves stays again. */
void sl__weight_pin_clear(struct sl__weight_pin *pin);

#endif
