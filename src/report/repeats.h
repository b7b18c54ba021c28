/* SPDX-License-Identifier: Apache-2.0 */
/* repeats.h - layers that are alike, as one row of a table. */
#ifndef SL_REPEATS_H
#define SL_REPEATS_H

#include "base/arena.h"
#include "sleuth/inspecting.h"

/*
 * Layers are alike when their names differ in numbers only, as those of the
 * blocks of a transformer do, and type, shape and cost are the same.
 *
 * Invariants: n >= 1; rows are in the order they run; the figures are sums
 * over them.
 */
struct sl__repeated_layers {
	const struct sl_layer *const *rows;
	size_t n;
	uint64_t parameters, macs, operations, n_bytes;
	double share; /* of layers that have one */
};

/*
 * Every layer in exactly one repeat, most work first; *n says how many.  Where
 * 'is_whole', each layer is a repeat, in the order they run.  NULL when out
 * of memory.
 */
struct sl__repeated_layers *
sl__repeated_layers_group(struct sl__arena *arena,
			  const struct sl_inspection *i, int is_whole,
			  size_t *n);

/* Adds the figures of 'b' and its layers to those of 'into'. */
void sl__repeated_layers_merge(struct sl__repeated_layers *into,
			       const struct sl__repeated_layers *b);

/*
 * "layer3.[1-5].conv2", or the name of a single layer; without ranges
 * "layer3.*.conv2".  Nothing is cut: see sl__row_names_shorten().  NULL when
 * out of memory.
 */
const char *sl__repeated_layers_label(struct sl__arena *arena,
				      const struct sl__repeated_layers *b,
				      int has_ranges);

/*
 * A copy of 'name' in which words of its path are cut from the left, to three
 * letters and then to one, until it takes no more than n_columns or only the
 * last word is whole: "e.l.0.out.dense".  NULL when out of memory.
 */
const char *sl__layer_name_shorten(struct sl__arena *arena, const char *name,
				   size_t n_columns);

/*
 * The type of a node in at most n_columns: "BatchNorm" whatever the room,
 * "DequantLin" where it is short, and the middle left out where that does not
 * do.  NULL when out of memory.
 */
const char *sl__op_type_shorten(struct sl__arena *arena, const char *type,
				size_t n_columns);

#endif
