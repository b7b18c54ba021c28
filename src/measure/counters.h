/* SPDX-License-Identifier: Apache-2.0 */
/* counters.h - which hardware counters this process may read. */
#ifndef SL_COUNTERS_H
#define SL_COUNTERS_H

#include "arena.h"

/*
 * Opens one counter of this process, user mode only, by its number in the
 * kernel's list of hardware events; returns a file descriptor, or minus the
 * error number.
 */
typedef int sl__counter_opener(uint64_t event, void *ctx);

/*
 * Tries cycles, instructions, cache-references, cache-misses and branches:
 * each is listed, and one that cannot be opened says why in words for the
 * user.  A NULL 'open' asks the kernel.
 */
enum sl_status sl__counters_list(const struct sl_counter **out, size_t *n,
				 sl__counter_opener *open, void *ctx,
				 struct sl__arena *arena,
				 struct sl_error *err) SL_CHECKED;

#endif
