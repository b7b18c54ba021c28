/* SPDX-License-Identifier: Apache-2.0 */
/* map.c - from a string to a number: a hash and linear probing. */
#include "base/map.h"
#include "base/hash.h"
#include "base/status.h"

#include <string.h>

#include "base/banned.h"

enum { FIRST_SLOTS = 16 };

static uint64_t
hash_text(const struct sl__map *map, const char *text)
{
	return sl__hash(text, strlen(text), map->seed);
}

void
sl__map_init(struct sl__map *map, struct sl__arena *arena)
{
	map->arena = arena;
	map->slots = NULL;
	map->n_slots = 0;
	map->n = 0;
	/* Where the arena happens to be, so that a file cannot be written
	 * whose names all collide. */
	map->seed = (uintptr_t)arena;
}

/* The slot that holds 'key', or the free one where it belongs. */
static struct sl__map_slot *
find_slot(struct sl__map_slot *slots, size_t n_slots, const char *key,
	  uint64_t hash)
{
	size_t at = (size_t)hash & (n_slots - 1);

	while (slots[at].key &&
	       (slots[at].hash != hash || strcmp(slots[at].key, key) != 0))
		at = (at + 1) & (n_slots - 1);
	return &slots[at];
}

const size_t *
sl__map_find(const struct sl__map *map, const char *key)
{
	const struct sl__map_slot *slot;

	if (!map->n_slots)
		return NULL;
	slot = find_slot(map->slots, map->n_slots, key, hash_text(map, key));
	return slot->key ? &slot->value : NULL;
}

static enum sl_status
grow(struct sl__map *map, struct sl_error *err)
{
	size_t n_slots = map->n_slots ? 2 * map->n_slots : FIRST_SLOTS;
	struct sl__map_slot *slots =
		sl__arena_array(map->arena, n_slots, sizeof(*slots));

	if (!slots)
		return sl__fail_nomem(err);
	for (size_t i = 0; i < map->n_slots; i++) {
		const struct sl__map_slot *old = &map->slots[i];

		if (old->key)
			*find_slot(slots, n_slots, old->key, old->hash) = *old;
	}
	map->slots = slots;
	map->n_slots = n_slots;
	return SL_OK;
}

enum sl_status
sl__map_put(struct sl__map *map, const char *key, size_t value,
	    struct sl_error *err)
{
	uint64_t hash = hash_text(map, key);
	struct sl__map_slot *slot;
	enum sl_status rc;

	if (4 * (map->n + 1) > 3 * map->n_slots) {
		rc = grow(map, err);
		if (rc)
			return rc;
	}
	slot = find_slot(map->slots, map->n_slots, key, hash);
	if (!slot->key) {
		slot->key = sl__arena_string(map->arena, key);
		if (!slot->key)
			return sl__fail_nomem(err);
		slot->hash = hash;
		map->n++;
	}
	slot->value = value;
	return SL_OK;
}
