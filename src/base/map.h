/* SPDX-License-Identifier: Apache-2.0 */
/* map.h - from a string to a number. */
#ifndef SL_MAP_H
#define SL_MAP_H

#include "base/arena.h"

/*
 * Invariants: a power-of-two table of slots, at most three quarters full,
 * open addressing; keys are copied into the arena; nothing is removed.
 */
struct sl__map {
	struct sl__arena *arena;
	struct sl__map_slot *slots;
	size_t n_slots;
	size_t n;      /* keys held */
	uint64_t seed; /* of the hash; differs from run to run */
};

struct sl__map_slot {
	const char *key; /* NULL: free */
	uint64_t hash;
	size_t value;
};

void sl__map_init(struct sl__map *map, struct sl__arena *arena);

/* NULL when 'key' is not there; valid until the next sl__map_put(). */
const size_t *sl__map_find(const struct sl__map *map, const char *key);

/* Sets key to value, replacing what was there. */
enum sl_status sl__map_put(struct sl__map *map, const char *key, size_t value,
			   struct sl_error *err) SL_CHECKED;

#endif
