/* SPDX-License-Identifier: Apache-2.0 */
/* reply_cache.c - bodies of replies that hold as long as the store does not
 * change. */
#include "serve/reply_cache.h"
#include "base/buf.h"

#include <string.h>

#include "base/banned.h"

static void
clear(struct sl__cached_reply *e)
{
	sl_buf_release(&e->key);
	sl_buf_release(&e->state);
	sl_buf_release(&e->body);
	e->used = 0;
}

void
sl__reply_cache_release(struct sl__reply_cache *cache)
{
	for (size_t i = 0; i < SL__CACHED_REPLIES; i++)
		clear(&cache->entries[i]);
}

static struct sl__cached_reply *
entry_of(struct sl__reply_cache *cache, const char *key)
{
	for (size_t i = 0; i < SL__CACHED_REPLIES; i++) {
		struct sl__cached_reply *e = &cache->entries[i];

		if (e->key.data && strcmp(e->key.data, key) == 0)
			return e;
	}
	return NULL;
}

const struct sl_buf *
sl__reply_cache_find(struct sl__reply_cache *cache, const char *key,
		     const char *state)
{
	struct sl__cached_reply *e = entry_of(cache, key);

	if (!e || strcmp(e->state.data, state) != 0)
		return NULL;
	e->used = ++cache->n_uses;
	return &e->body;
}

void
sl__reply_cache_put(struct sl__reply_cache *cache, const char *key,
		    const char *state, const struct sl_buf *body)
{
	struct sl__cached_reply *e = entry_of(cache, key);

	if (body->n_bytes > SL__CACHED_REPLY_BYTES)
		return;
	for (size_t i = 0; !e && i < SL__CACHED_REPLIES; i++) {
		if (!cache->entries[i].used)
			e = &cache->entries[i];
	}
	if (!e) {
		e = &cache->entries[0];
		for (size_t i = 1; i < SL__CACHED_REPLIES; i++) {
			if (cache->entries[i].used < e->used)
				e = &cache->entries[i];
		}
	}
	clear(e);
	sl__buf_text(&e->key, key);
	sl__buf_text(&e->state, state);
	sl__buf_add(&e->body, body->data ? body->data : "", body->n_bytes);
	e->used = ++cache->n_uses;
	if (sl__buf_status(&e->key, NULL) || sl__buf_status(&e->state, NULL) ||
	    sl__buf_status(&e->body, NULL))
		clear(e);
}
