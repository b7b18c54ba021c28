/* SPDX-License-Identifier: Apache-2.0 */
/* weight_store.h - constants as the plans of one graph have made them. */
#ifndef SL_WEIGHT_STORE_H
#define SL_WEIGHT_STORE_H

#include "base/pages.h"
#include "graph/identity.h"

/*
 * Plans of one graph, for other sizes or threads, want mostly the same weights
 * in the same forms.  What one has made it offers; another that wants the same
 * takes it where it lies, and both are its owners from then on: it goes with
 * the last of them, whichever that is.  Nothing that was offered is written
 * again.
 *
 * What a plan makes lies in pages of its own and goes as a whole: they stay
 * while anybody uses a part of them.  Storage is shared by plans of one
 * allocator only, so that none is used after its owner has gone.
 *
 * Every graph has a store.  It holds nothing by itself.  Any number of threads
 * may make, use and free plans of one graph.
 */
struct sl__weight_store;

enum sl_status sl__weight_store_new(struct sl__weight_store **out,
				    const struct sl_allocator *allocator,
				    struct sl_error *err) SL_CHECKED;

/* When all plans of the graph and all who hold its weights have gone; NULL is
 * fine. */
void sl__weight_store_free(struct sl__weight_store *store);

/*
 * Invariants: one thread.  'pages' are its own; found_bytes lie in those of
 * others, each block in whole lines of 64 bytes, as sl__pages_used() counts.
 */
struct sl__weights {
	const struct sl_graph *graph; /* of which it is a plan */
	struct sl__pages *pages;
	uint64_t found_bytes;
	struct sl__shelf *own;
	struct sl__shelf_use *found; /* others' that it uses */
	struct sl__arena arena;      /* of that list */
};

/* The graph outlives it. */
enum sl_status sl__weights_new(struct sl__weights **out,
			       const struct sl_graph *graph,
			       const struct sl_allocator *allocator,
			       struct sl_error *err) SL_CHECKED;
void sl__weights_free(struct sl__weights *weights); /* NULL is fine */

/* It neither takes what others made nor offers them what it makes: for plans
 * that are to lie elsewhere than others.  Before anything is found or
 * offered. */
void sl__weights_keep_apart(struct sl__weights *weights);

/* What the books of the plan's own weights take. */
const struct sl__arena *sl__weights_books(const struct sl__weights *weights);

/* What is made of a tensor: 'form' is n_bytes of whatever kind, which
 * is_same() compares. */
struct sl__weight_key {
	struct sl__identity tensor;
	const void *form;
	size_t n_bytes;
	int (*is_same)(const void *a, const void *b);
};

/* What was made of the tensor in that form, or NULL; valid as long as
 * 'weights'.  sl__weights_look() only reads it while the plan is made: it does
 * not count as found. */
const unsigned char *sl__weights_find(struct sl__weights *weights,
				      const struct sl__weight_key *key);
const unsigned char *sl__weights_look(struct sl__weights *weights,
				      const struct sl__weight_key *key);

/* 'data' in its own pages, written for good, is there for others from now on.
 * Where there is no memory for the note, it is not. */
void sl__weights_offer(struct sl__weights *weights,
		       const struct sl__weight_key *key,
		       const unsigned char *data, uint64_t n_bytes);

/*
 * While somebody holds a graph's weights, those of the plan that was freed last
 * stay, for the next: where plans of one graph are made one after another.
 * Those of one plan at most, and those of that allocator.
 */
struct sl__weight_hold;

enum sl_status sl__weight_hold_new(struct sl__weight_hold **out,
				   const struct sl_graph *graph,
				   const struct sl_allocator *allocator,
				   struct sl_error *err) SL_CHECKED;
void sl__weight_hold_free(struct sl__weight_hold *hold); /* NULL is fine */

/* What stayed goes now; what the next leaves stays again. */
void sl__weight_hold_empty(struct sl__weight_hold *hold);

#endif
