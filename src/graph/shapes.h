/* SPDX-License-Identifier: Apache-2.0 */
/* shapes.h - what is known of each value under one set of sizes. */
#ifndef SL_SHAPES_H
#define SL_SHAPES_H

#include "graph/symbolic_size.h"
#include "sleuth/models.h"

enum {
	SL__KNOWN_MOST = 4096,     /* elements of a tensor that is followed */
	SL__KNOWN_TOTAL = 1 << 22, /* of all of them: 32 MiB */
	SL__RANK_MOST = 64         /* dimensions of a tensor; numpy's limit */
};

/* The contents of a small tensor, as far as they follow from the model. */
struct sl__known_contents {
	enum sl_dtype dtype;
	size_t n;
	const int64_t *ints;  /* of integers and booleans; may hold symbols */
	const double *floats; /* of the others */
};

/* A value whose shape could not be found. */
struct sl__unresolved_shape {
	uint32_t node, value;
	const char *why;
};

/*
 * Invariants: types[] and known[] are indexed by value.  Symbols of the graph
 * that were bound do not occur in types; those left free keep their number, and
 * sizes that came up on the way (products, ones that depend on data) have
 * numbers from graph->n_symbols on (symbolic_size.h).  block_calls[] says how
 * often each block runs per run of the model: 1 for block 0, a loop's count for
 * its body, 0 for a branch known not to be taken, UINT64_MAX where that depends
 * on data.
 */
struct sl__shapes {
	struct sl__arena arena;
	const struct sl_graph *graph;
	struct sl__type *types;
	const struct sl__known_contents **known;
	unsigned char *is_told;      /* by value: its sizes are the file's word,
				   which no rule could check */
	size_t n_values, cap_values; /* of the three */
	struct sl__size_table sizes;
	int64_t *bound; /* size of each symbol of the graph; -1: free */
	uint64_t *block_calls;
	struct sl__unresolved_shape *unresolved;
	size_t n_unresolved, cap_unresolved;
	size_t n_known;      /* elements that folds have kept so far */
	int ignore_declared; /* for tests: infer, take nothing on trust */
	int is_short;        /* something is not known for want of memory */
};

/* What becomes of dimensions that nothing binds. */
enum sl__unbound_policy {
	SL__UNBOUND_REFUSE = 0, /* SL_E_DATA names the dimension and option */
	SL__UNBOUND_KEEP        /* symbols stay symbols */
};

struct sl__shapes_options {
	const struct sl_sizes *sizes; /* NULL: all usual */
	const int64_t *bound; /* size of each symbol of the graph, -1: as
				 'sizes' say; or NULL */
	enum sl__unbound_policy free_sizes;
	const struct sl__tensor *const *contents; /* per input of block 0, as
						     far as known; or NULL */
	int ignore_declared;
	const struct sl_allocator *allocator;
};

/* Binds the sizes (bind.c) and infers every value (infer.c). */
enum sl_status sl__shapes_new(struct sl__shapes **out,
			      const struct sl_graph *graph,
			      const struct sl__shapes_options *options,
			      struct sl_error *err) SL_CHECKED;

/* Tables in which nothing is known yet, for nodes inferred one by one. */
enum sl_status sl__shapes_new_empty(struct sl__shapes **out,
				    const struct sl_graph *graph,
				    const struct sl_allocator *allocator,
				    struct sl_error *err) SL_CHECKED;
void sl__shapes_free(struct sl__shapes *shapes); /* NULL is fine */

/* The same, for rules that look up more, which is kept in storage of its own:
 * 'of' stays as it is, and must outlive it. */
enum sl_status sl__shapes_overlay(struct sl__shapes **out,
				  const struct sl__shapes *of,
				  struct sl_error *err) SL_CHECKED;

/* Takes in the values that a graph under construction gained since: what
 * inputs and parameters are, nothing yet of the others; no symbols. */
enum sl_status sl__shapes_extend(struct sl__shapes *shapes,
				 struct sl_error *err) SL_CHECKED;

/* bind.c: fills bound[] and the types and contents of the inputs. */
enum sl_status sl__shapes_bind(struct sl__shapes *shapes,
			       const struct sl__shapes_options *options,
			       struct sl_error *err) SL_CHECKED;

/* The symbols that batch, seq and past bind; 0: the model has none. */
int64_t sl__shapes_batch_symbol(const struct sl_graph *graph);
int64_t sl__shapes_seq_symbol(const struct sl_graph *graph);
int64_t sl__shapes_past_symbol(const struct sl_graph *graph);

/* infer.c: one block, in order; and one node of it. */
enum sl_status sl__infer_block(struct sl__shapes *shapes, uint32_t block,
			       struct sl_error *err) SL_CHECKED;
enum sl_status sl__infer_node(struct sl__shapes *shapes, uint32_t node,
			      struct sl_error *err) SL_CHECKED;

/* Adds a row whose 'why' the caller sets; NULL: out of memory. */
struct sl__unresolved_shape *
sl__shapes_add_unresolved(struct sl__shapes *shapes, uint32_t node,
			  uint32_t value);
/* A copy of a type of the graph with bound symbols replaced. */
enum sl_status sl__shapes_substitute_bound(struct sl__shapes *shapes,
					   struct sl__type *out,
					   const struct sl__type *declared,
					   struct sl_error *err) SL_CHECKED;

/* What is known of a value's contents; reads small tensors of the graph. */
const struct sl__known_contents *
sl__shapes_known_contents(struct sl__shapes *shapes, uint32_t value);

/* The same of any tensor; NULL: it is not small, or no numbers. */
const struct sl__known_contents *
sl__known_contents_if_small(struct sl__shapes *shapes,
			    const struct sl__tensor *tensor);

/* A small tensor's contents; NULL where they cannot be read. */
const struct sl__known_contents *
sl__known_contents_read(struct sl__shapes *shapes,
			const struct sl__tensor *tensor);

/* Product of the dims; 0, and *out left alone, where not known. */
int sl__type_elements(const struct sl__type *type, uint64_t *out);
int sl__type_bytes(const struct sl__type *type, uint64_t *out);

/* Whether elements and bytes, as far as known, can be counted in 63 bits. */
int sl__type_size_fits_63_bits(const struct sl__type *type);

/* "1x64x112x112", "batch,128", "scalar", "?" in the arena.  Never NULL, for
 * messages; where memory ends it is "?", and is_short is set. */
const char *sl__type_text(struct sl__shapes *shapes,
			  const struct sl__type *type);

#endif
