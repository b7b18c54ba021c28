/* SPDX-License-Identifier: Apache-2.0 */
/*
 * interpose.c - libsleuth-alloc: the allocator's functions, watched.
 *
 * Linked or preloaded, these stand before the C library's and hand every
 * call on.  Until a measurement asks, that costs one load and one branch.
 * Nothing here allocates: what is recorded goes into storage of the
 * measurement, under a lock that is spun for.  A recording belongs to the
 * process that started it: a forked child stops and frees the lock.  Calls
 * that come before the real functions are found, from dlsym() itself, are
 * served from a small static buffer.  This is the one file that names the
 * functions of banned.h.
 */
#define _GNU_SOURCE
#include "memory/interposer.h"

#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))
#define PER_THREAD \
	static _Thread_local __attribute__((tls_model("initial-exec")))

enum {
	ALIGNMENT = 16,
	BOOTSTRAP_BYTES = 16384, /* dlsym() asks for well under 1 KiB */
	N_SKIPPED_FRAMES = 4,    /* of this file, at most */
	N_SPINS = 64             /* before the CPU is offered to the holder */
};

enum { WATCH_COUNTS = 1, WATCH_RECORD = 2 };

static struct {
	void *(*malloc)(size_t);
	void *(*calloc)(size_t, size_t);
	void *(*realloc)(void *, size_t);
	void (*free)(void *);
	int (*posix_memalign)(void **, size_t, size_t);
	void *(*aligned_alloc)(size_t, size_t);
	void *(*memalign)(size_t, size_t);
} real;

static _Atomic int real_state; /* 0: not looked for, 1: under way, 2: found */
static _Alignas(ALIGNMENT) unsigned char bootstrap[BOOTSTRAP_BYTES];
static _Atomic size_t bootstrap_used;

static _Atomic int instrumentation; /* WATCH_ flags */
static atomic_flag record_lock = ATOMIC_FLAG_INIT;
static struct sl__alloc_recording *record; /* guarded by record_lock */
static _Atomic int site_depth;

PER_THREAD struct sl__alloc_counts thread_counts;
PER_THREAD int is_inside; /* calls made by the recording itself */

/* A function pointer from dlsym(), which C has no cast for. */
static void
look_up(void *function, const char *name)
{
	void *symbol = dlsym(RTLD_NEXT, name);

	memcpy(function, &symbol, sizeof(symbol));
}

/* Returns 0 while the real functions are not known yet. */
static int
real_is_ready(void)
{
	int unknown = 0;

	if (atomic_load_explicit(&real_state, memory_order_acquire) == 2)
		return 1;
	if (!atomic_compare_exchange_strong(&real_state, &unknown, 1))
		return unknown == 2;
	look_up(&real.malloc, "malloc");
	look_up(&real.calloc, "calloc");
	look_up(&real.realloc, "realloc");
	look_up(&real.free, "free");
	look_up(&real.posix_memalign, "posix_memalign");
	look_up(&real.aligned_alloc, "aligned_alloc");
	look_up(&real.memalign, "memalign");
	atomic_store_explicit(&real_state, 2, memory_order_release);
	return 1;
}

/* Zeroed, never given back; NULL when the buffer is used up. */
static void *
bootstrap_alloc(size_t n_bytes, size_t alignment)
{
	size_t need = (n_bytes + alignment + ALIGNMENT - 1) &
		      ~(size_t)(ALIGNMENT - 1);
	size_t at;

	if (need < n_bytes || need > BOOTSTRAP_BYTES)
		return NULL;
	at = atomic_fetch_add(&bootstrap_used, need);
	if (at > BOOTSTRAP_BYTES - need)
		return NULL;
	at += (size_t)(-(uintptr_t)(bootstrap + at) & (alignment - 1));
	return bootstrap + at;
}

static int
is_bootstrap(const void *block)
{
	uintptr_t at = (uintptr_t)block - (uintptr_t)bootstrap;

	return at < BOOTSTRAP_BYTES;
}

static void
take_lock(void)
{
	for (int i = 1; atomic_flag_test_and_set_explicit(&record_lock,
							  memory_order_acquire);
	     i++) {
		if (i % N_SPINS == 0)
			sched_yield();
	}
}

static void
drop_lock(void)
{
	atomic_flag_clear_explicit(&record_lock, memory_order_release);
}

/* One call as it is recorded; sizes are 0 where there is no such side. */
struct event {
	size_t requested_bytes;
	size_t allocated_bytes, freed_bytes; /* usable sizes */
	uintptr_t addresses[SL__SITE_DEPTH];
};

static uint64_t
hash_of(const uintptr_t *addresses)
{
	uint64_t hash = 0;

	for (int i = 0; i < SL__SITE_DEPTH; i++) {
		/* 2^64 / golden ratio: Knuth's multiplicative hashing. */
		hash = (hash ^ addresses[i]) * 0x9e3779b97f4a7c15u;
		hash ^= hash >> 32;
	}
	return hash;
}

static void
record_site(const struct event *event)
{
	uint64_t at = hash_of(event->addresses);

	for (int i = 0; i < SL__N_SITES; i++, at++) {
		struct sl__alloc_site *site = &record->sites[at % SL__N_SITES];

		if (!site->n_allocations)
			memcpy(site->addresses, event->addresses,
			       sizeof(site->addresses));
		else if (memcmp(site->addresses, event->addresses,
				sizeof(site->addresses)))
			continue;
		site->n_allocations++;
		site->allocated_bytes += event->allocated_bytes;
		return;
	}
	record->n_unsited++;
}

static void
record_event(const struct event *event)
{
	int64_t step =
		(int64_t)event->allocated_bytes - (int64_t)event->freed_bytes;
	struct sl_live_point point;

	record->net_bytes += step;
	if (record->net_bytes > record->net_peak_bytes)
		record->net_peak_bytes = record->net_bytes;
	record->freed_bytes += event->freed_bytes;
	record->n_frees += event->freed_bytes > 0;
	if (event->allocated_bytes) {
		unsigned log2 = 63u - (unsigned)__builtin_clzll(
					      event->requested_bytes | 1);

		if (log2 >= SL_MEMORY_N_SIZES)
			log2 = SL_MEMORY_N_SIZES - 1;
		record->n_by_size[log2]++;
		record->n_allocations++;
		record->requested_bytes += event->requested_bytes;
		record->allocated_bytes += event->allocated_bytes;
		record_site(event);
	}
	point.n_events = 1;
	point.low_bytes = (double)record->net_bytes;
	point.high_bytes = point.low_bytes;
	point.last_bytes = point.low_bytes;
	point.step_bytes = step > 0 ? (double)step : 0;
	sl__live_series_add(&record->series, &point);
}

/* The callers from 'caller' outwards. */
static void
find_callers(uintptr_t *addresses, const void *caller)
{
	int depth = atomic_load_explicit(&site_depth, memory_order_relaxed);
	void *frames[SL__SITE_DEPTH + N_SKIPPED_FRAMES];
	int n, first = 0;

	addresses[0] = (uintptr_t)caller;
	if (depth == 1)
		return;
	n = backtrace(frames, depth + N_SKIPPED_FRAMES);
	while (first < n && frames[first] != caller)
		first++;
	for (int i = 1; i < depth && first + i < n; i++)
		addresses[i] = (uintptr_t)frames[first + i];
}

/* Callers are found before the lock is taken: unwinding has its own locks. */
static void
record_call(struct event *event, const void *caller)
{
	if (event->allocated_bytes)
		find_callers(event->addresses, caller);
	take_lock();
	if (record)
		record_event(event);
	drop_lock();
}

static void
count_call(const struct event *event)
{
	struct sl__alloc_counts *c = &thread_counts;

	c->n_allocations += event->allocated_bytes > 0;
	c->allocated_bytes += event->allocated_bytes;
	c->freed_bytes += event->freed_bytes;
	c->net_bytes +=
		(int64_t)event->allocated_bytes - (int64_t)event->freed_bytes;
	if (c->net_bytes > c->net_peak_bytes)
		c->net_peak_bytes = c->net_bytes;
	if (event->allocated_bytes > c->largest_bytes)
		c->largest_bytes = event->allocated_bytes;
}

/* Whether calls of this thread are to be noted, the recording's own not. */
static int
is_watched(void)
{
	return atomic_load_explicit(&instrumentation, memory_order_relaxed) &&
	       !is_inside;
}

static size_t
usable_bytes(void *block)
{
	return block && !is_bootstrap(block) ? malloc_usable_size(block) : 0;
}

static void
note(size_t requested_bytes, void *block, size_t freed_bytes,
     const void *caller)
{
	int flags =
		atomic_load_explicit(&instrumentation, memory_order_relaxed);
	struct event event = {
		requested_bytes, usable_bytes(block), freed_bytes, {0}};
	int saved_errno = errno;

	if (!event.allocated_bytes && !freed_bytes)
		return;
	is_inside = 1;
	if (flags & WATCH_COUNTS)
		count_call(&event);
	if (flags & WATCH_RECORD)
		record_call(&event, caller);
	is_inside = 0;
	errno = saved_errno;
}

EXPORT void *
malloc(size_t n_bytes)
{
	void *block;

	if (!real_is_ready())
		return bootstrap_alloc(n_bytes, ALIGNMENT);
	block = real.malloc(n_bytes);
	if (is_watched())
		note(n_bytes, block, 0, __builtin_return_address(0));
	return block;
}

EXPORT void *
calloc(size_t n, size_t n_bytes)
{
	void *block;

	if (!real_is_ready())
		return n_bytes && n > BOOTSTRAP_BYTES / n_bytes
			       ? NULL
			       : bootstrap_alloc(n * n_bytes, ALIGNMENT);
	block = real.calloc(n, n_bytes);
	if (is_watched()) /* the product fits, else there is no block */
		note(n * n_bytes, block, 0, __builtin_return_address(0));
	return block;
}

/* A block of the bootstrap buffer moves out of it when it grows. */
static void *
realloc_bootstrap(void *old, size_t n_bytes)
{
	size_t n_left =
		(size_t)(bootstrap + BOOTSTRAP_BYTES - (unsigned char *)old);
	void *block = real_is_ready() ? real.malloc(n_bytes)
				      : bootstrap_alloc(n_bytes, ALIGNMENT);

	if (block)
		memmove(block, old, n_bytes < n_left ? n_bytes : n_left);
	return block;
}

EXPORT void *
realloc(void *old, size_t n_bytes)
{
	size_t freed_bytes = 0;
	int watched;
	void *block;

	if (!real_is_ready() || (old && is_bootstrap(old)))
		return old ? realloc_bootstrap(old, n_bytes)
			   : bootstrap_alloc(n_bytes, ALIGNMENT);
	watched = is_watched();
	if (watched)
		freed_bytes = usable_bytes(old);
	block = real.realloc(old, n_bytes);
	/* Without a block the old one is kept, unless 0 bytes were asked. */
	if (watched && (block || !n_bytes))
		note(n_bytes, block, freed_bytes, __builtin_return_address(0));
	return block;
}

EXPORT void
free(void *block)
{
	if (!block || is_bootstrap(block) || !real_is_ready())
		return;
	if (is_watched())
		note(0, NULL, usable_bytes(block), __builtin_return_address(0));
	real.free(block);
}

EXPORT int
posix_memalign(void **out, size_t alignment, size_t n_bytes)
{
	int error;

	if (!real_is_ready()) {
		*out = bootstrap_alloc(n_bytes, alignment);
		return *out ? 0 : ENOMEM;
	}
	error = real.posix_memalign(out, alignment, n_bytes);
	if (!error && is_watched())
		note(n_bytes, *out, 0, __builtin_return_address(0));
	return error;
}

EXPORT void *
aligned_alloc(size_t alignment, size_t n_bytes)
{
	void *block;

	if (!real_is_ready())
		return bootstrap_alloc(n_bytes, alignment);
	block = real.aligned_alloc(alignment, n_bytes);
	if (is_watched())
		note(n_bytes, block, 0, __builtin_return_address(0));
	return block;
}

EXPORT void *
memalign(size_t alignment, size_t n_bytes)
{
	void *block;

	if (!real_is_ready())
		return bootstrap_alloc(n_bytes, alignment);
	block = real.memalign(alignment, n_bytes);
	if (is_watched())
		note(n_bytes, block, 0, __builtin_return_address(0));
	return block;
}

static void
forget_in_child(void)
{
	atomic_fetch_and(&instrumentation, ~WATCH_RECORD);
	record = NULL;
	drop_lock();
}

/* Done once, before the first recording; both may allocate. */
static int
prepare(void)
{
	static _Atomic int is_prepared;
	void *frame;

	if (is_prepared)
		return 1;
	(void)backtrace(&frame, 1); /* loads what unwinding needs */
	if (pthread_atfork(NULL, NULL, forget_in_child))
		return 0;
	is_prepared = 1;
	return 1;
}

static int
start(struct sl__alloc_recording *storage)
{
	int started = 0;

	if (!prepare())
		return 0;
	take_lock();
	if (!record) {
		record = storage;
		started = 1;
		atomic_store(&site_depth, (int)storage->site_depth);
		atomic_fetch_or(&instrumentation, WATCH_RECORD);
	}
	drop_lock();
	return started;
}

static void
stop(void)
{
	atomic_fetch_and(&instrumentation, ~WATCH_RECORD);
	take_lock();
	record = NULL;
	drop_lock();
}

static struct sl__alloc_counts *
counts(void)
{
	if (!(atomic_load_explicit(&instrumentation, memory_order_relaxed) &
	      WATCH_COUNTS))
		atomic_fetch_or(&instrumentation, WATCH_COUNTS);
	return &thread_counts;
}

EXPORT const struct sl__interposer *
sl_interposer(void)
{
	static const struct sl__interposer self = {
		sizeof(struct sl__alloc_recording),
		sizeof(struct sl__alloc_counts),
		start,
		stop,
		counts,
	};

	return &self;
}
