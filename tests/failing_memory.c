/* SPDX-License-Identifier: Apache-2.0 */
/* failing_memory.c - the library's own requests for memory, to be failed. */
#include "failing_memory.h"

#include <pthread.h>

/* Here they are the C library's. */
#undef malloc
#undef realloc
#undef free

static struct {
	pthread_mutex_t lock;
	long n_requests, fail_at, n_out;
	int is_stopped;
} memory = {PTHREAD_MUTEX_INITIALIZER, 0, 0, 0, 1};

/* Counts a request; whether it is to be met, and the block is a new one. */
static int
is_met(int is_new)
{
	int met;

	pthread_mutex_lock(&memory.lock);
	met = memory.is_stopped || ++memory.n_requests != memory.fail_at;
	memory.n_out += met && is_new;
	pthread_mutex_unlock(&memory.lock);
	return met;
}

void *
failing_malloc(size_t n_bytes)
{
	return is_met(1) ? malloc(n_bytes) : NULL;
}

void *
failing_realloc(void *block, size_t n_bytes)
{
	return is_met(!block) ? realloc(block, n_bytes) : NULL;
}

void
failing_free(void *block)
{
	if (!block)
		return;
	pthread_mutex_lock(&memory.lock);
	memory.n_out--;
	pthread_mutex_unlock(&memory.lock);
	free(block);
}

void
failing_start(long fail_at)
{
	memory.n_requests = 0;
	memory.fail_at = fail_at;
	memory.is_stopped = 0;
}

void
failing_stop(void)
{
	memory.is_stopped = 1;
}

long
failing_requests(void)
{
	return memory.n_requests;
}

long
failing_out(void)
{
	return memory.n_out;
}
