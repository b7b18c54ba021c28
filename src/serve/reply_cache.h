/* SPDX-License-Identifier: Apache-2.0 */
/* reply_cache.h - bodies of replies that hold as long as the store does not
 * change. */
#ifndef SL_REPLY_CACHE_H
#define SL_REPLY_CACHE_H

#include "sleuth/basics.h"

enum {
	SL__CACHED_REPLIES = 32,
	SL__CACHED_REPLY_BYTES = 1 << 20 /* larger ones are made anew */
};

/*
 * Invariants: an entry without a key is free; no two entries have one key.
 * One thread at a time.  All zero is empty.
 */
struct sl__reply_cache {
	struct sl__cached_reply {
		struct sl_buf key, state, body;
		uint64_t used; /* the larger, the later */
	} entries[SL__CACHED_REPLIES];
	uint64_t n_uses;
};

void sl__reply_cache_release(struct sl__reply_cache *cache);

/* The body that was put for this key while the store was in this state; NULL:
 * none is there. */
const struct sl_buf *sl__reply_cache_find(struct sl__reply_cache *cache,
					  const char *key, const char *state);

/* Keeps a copy, in the place of the entry of this key or of the one that was
 * not used for longest.  Without memory for it, nothing is kept. */
void sl__reply_cache_put(struct sl__reply_cache *cache, const char *key,
			 const char *state, const struct sl_buf *body);

#endif
