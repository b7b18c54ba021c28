/* SPDX-License-Identifier: Apache-2.0 */
/* fact_list.h - facts gathered one after the other. */
#ifndef SL_FACT_LIST_H
#define SL_FACT_LIST_H

#include "base/arena.h"
#include "sleuth/facts.h"

/*
 * Adding returns no error: the first failed allocation sticks in has_failed,
 * and whoever takes the list looks there.
 */
struct sl__facts {
	struct sl__arena *arena;
	struct sl_fact *list;
	size_t n, cap;
	int has_failed;
};

/* Begins with a copy of before[0..n-1]; names are borrowed. */
void sl__facts_init(struct sl__facts *facts, struct sl__arena *arena,
		    const struct sl_fact *before, size_t n);
void sl__facts_add(struct sl__facts *facts, struct sl_fact fact);

/* A copy with names of its own; NULL: out of memory. */
struct sl_fact *sl__fact_copy(const struct sl_fact *fact,
			      struct sl__arena *arena);

/* How many values and names a fact of this kind has. */
size_t sl__fact_kind_n_values(enum sl_fact_kind kind);
size_t sl__fact_kind_n_names(enum sl_fact_kind kind);

#endif
