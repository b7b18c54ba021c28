/* SPDX-License-Identifier: Apache-2.0 */
/* micro_ops.h - operations as models of one node, at any size. */
#ifndef SL_MICRO_OPS_H
#define SL_MICRO_OPS_H

#include "base/arena.h"
#include "sleuth/microbenchmarks.h"

enum { SL__MICRO_OP_SIZES_MAX = 64 };

struct sl__micro_op {
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
const struct sl__micro_op *sl__micro_op_at(size_t i);
const struct sl__micro_op *sl__micro_op_find(const char *name);

/*
 * Its range: doubling from first to last; where it is to lie beyond the
 * caches, to twice 'cache_bytes' (0: not known) and at most four doublings
 * further.  Returns how many.
 */
size_t sl__micro_op_sizes(const struct sl__micro_op *op, double cache_bytes,
			  int64_t values[SL__MICRO_OP_SIZES_MAX]);

/* "1024x1024"; NULL when out of memory. */
const char *sl__micro_op_shape(const struct sl__micro_op *op, int64_t n,
			       struct sl__arena *arena);

/* The model; its weights, if any, are made from 'seed'. */
enum sl_status sl__micro_op_model(struct sl_graph **out,
				  const struct sl__micro_op *op, int64_t value,
				  uint64_t seed,
				  const struct sl_allocator *allocator,
				  struct sl_error *err) SL_CHECKED;

#endif
