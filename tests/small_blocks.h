/* SPDX-License-Identifier: Apache-2.0 */
/* small_blocks.h - an allocator that has no large blocks. */
#ifndef SL_TEST_SMALL_BLOCKS_H
#define SL_TEST_SMALL_BLOCKS_H

#include "harness.h"

/* ctx: a size_t, the most that one block may have. */
static inline void *
small_alloc(size_t n_bytes, void *ctx)
{
	return n_bytes > *(const size_t *)ctx ? NULL : malloc(n_bytes);
}

static inline void
small_release(void *block, void *ctx)
{
	(void)ctx;
	free(block);
}

#endif
