/* SPDX-License-Identifier: Apache-2.0 */
/* flush.h - bytes pushed out of all caches. */
#ifndef SL_FLUSH_H
#define SL_FLUSH_H

#include <stddef.h>

/* Writes back what caches of any CPU hold of these bytes, and forgets it
 * there; neighbours in the same lines go too.  Some 10 ns a line of 64 bytes.
 * Returns 0, and does nothing, where a program may not do that. */
int sl__flush_cache_lines(const void *bytes, size_t n_bytes);

/* Whether it does anything. */
int sl__flush_is_possible(void);

#endif
