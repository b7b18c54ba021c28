/* SPDX-License-Identifier: Apache-2.0 */
/* pages.h - large storage with one lifetime, on large pages where it can be. */
#ifndef SL_PAGES_H
#define SL_PAGES_H

#include "sleuth/basics.h"

/*
 * For weights and activations: blocks are aligned to 64 bytes, not zeroed,
 * and go all at once.  Without an allocator of the caller's the pages come
 * from the system, which is asked to back them with large ones: a model's
 * weights are read end to end, and small pages would miss the TLB on each.
 */
struct sl__pages;

enum sl_status sl__pages_new(struct sl__pages **out,
			     const struct sl_allocator *allocator,
			     struct sl_error *err) SL_CHECKED;
void sl__pages_free(struct sl__pages *pages); /* NULL is fine */

/* What is handed out from here on is not to be written: the system need not
 * have memory for it, only addresses. */
void sl__pages_set_address_only(struct sl__pages *pages);

/* NULL when out of memory. */
void *sl__pages_alloc(struct sl__pages *pages, uint64_t n_bytes);

/* Nothing more is asked for soon: what the system gave beyond what was handed
 * out goes back to it, in whole large pages. */
void sl__pages_trim(struct sl__pages *pages);

/* Takes back the block that was handed out last; what it leaves empty goes
 * back to the system, in whole large pages. */
void sl__pages_free_last(struct sl__pages *pages, const void *block);

/* Bytes handed out. */
uint64_t sl__pages_used(const struct sl__pages *pages);

/* What was asked of the system for them, in whole stretches; and how much of
 * that is in memory once all that was handed out has been written, in pages of
 * 'page_bytes' (a power of two; 0: the small ones). */
uint64_t sl__pages_reserved(const struct sl__pages *pages);
uint64_t sl__pages_touched(const struct sl__pages *pages, uint64_t page_bytes);

/* Gives back to the system what malloc() keeps and nobody uses, as after much
 * was needed for a short while. */
void sl__heap_trim(void);

#endif
