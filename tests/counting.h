/* SPDX-License-Identifier: Apache-2.0 */
/* counting.h - an allocator that counts what is out and fails on request. */
#ifndef SL_TEST_COUNTING_H
#define SL_TEST_COUNTING_H

#include "sleuth.h"

#include <stdlib.h>

struct counting {
	int n_out;      /* blocks not yet released */
	int n_requests; /* so far */
	int fail_at;    /* this request fails, counted from 1; 0: none does */
};

static inline void *
counting_alloc(size_t n_bytes, void *ctx)
{
	struct counting *c = ctx;

	if (++c->n_requests == c->fail_at)
		return NULL;
	c->n_out++;
	return malloc(n_bytes);
}

static inline void
counting_release(void *block, void *ctx)
{
	struct counting *c = ctx;

	c->n_out--;
	free(block);
}

static inline struct sl_allocator
counting_allocator(struct counting *c)
{
	struct sl_allocator allocator = {counting_alloc, counting_release, c};

	return allocator;
}

#endif
