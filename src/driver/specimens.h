/* SPDX-License-Identifier: Apache-2.0 */
/* specimens.h - operations as models of one node, at any size. */
#ifndef SL_SPECIMENS_H
#define SL_SPECIMENS_H

#include "base/arena.h"

enum { SL__SPECIMEN_SIZES_MOST = 64 };

struct sl__specimen {
	const char *name, *kind, *about;
	enum sl_micro_axis axis;
	int64_t first, last;   /* doubling */
	double value_bytes;    /* touched for each step along the axis, where
				   'last' is to lie beyond the caches; 0: it
				   is as it stands */
	const int64_t *in_all; /* the sizes that "all" looks at, ends with 0;
				   NULL: it does not */
	const char *form;      /* of its operands; N stands for the size, R for
				   rows of it, W for what a row holds */
	int (*build)(struct sl_builder *b, int64_t n);
	const char *type; /* where 'build' is NULL: of an operator over */
	size_t n_inputs;  /* so many vectors */
};

/* NULL beyond the last. */
const struct sl__specimen *sl__specimen_at(size_t i);
const struct sl__specimen *sl__specimen_find(const char *name);

/*
 * Its range: doubling from first to last; where it is to lie beyond the
 * caches, to twice 'cache_bytes' (0: not known) and at most four doublings
 * further.  Returns how many.
 */
size_t sl__specimen_sizes(const struct sl__specimen *specimen,
			  double cache_bytes,
			  int64_t values[SL__SPECIMEN_SIZES_MOST]);

/* "1024x1024"; NULL when out of memory. */
const char *sl__specimen_shape(const struct sl__specimen *specimen, int64_t n,
			       struct sl__arena *arena);

/* The model; its weights, if any, are made from 'seed'. */
enum sl_status sl__specimen_model(struct sl_graph **out,
				  const struct sl__specimen *specimen,
				  int64_t value, uint64_t seed,
				  const struct sl_allocator *allocator,
				  struct sl_error *err) SL_CHECKED;

#endif
