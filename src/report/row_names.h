/* SPDX-License-Identifier: Apache-2.0 */
/* row_names.h - names of a table's rows, short and still distinct. */
#ifndef SL_ROW_NAMES_H
#define SL_ROW_NAMES_H

#include "base/arena.h"

/*
 * A label of at most n_columns for each name.  Where one does not fit, it and
 * all that have the same first word lose the words that these begin with:
 * "…h.0.mlp.c_fc".  Then words of its path are cut from the left, see
 * sl__layer_name_shorten(); names that would look the same by that
 * keep the words in which they differ: "…_3/self/…/Mul_add".  Equal names have
 * equal labels.  Of more than 4096 rows some may look the same.  NULL when out
 * of memory.
 */
const char **sl__row_names_shorten(struct sl__arena *arena,
				   const char *const *names, size_t n,
				   size_t n_columns);

#endif
