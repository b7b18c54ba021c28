/* SPDX-License-Identifier: Apache-2.0 */
/* interposer.h - how libsleuth and libsleuth-alloc talk to each other. */
#ifndef SL_INTERPOSER_H
#define SL_INTERPOSER_H

#include "memory/live_series.h"

enum {
	SL__SITE_DEPTH = 8,
	SL__N_SITES = 1024, /* a power of two */
	SL__N_LIVE_POINTS = 1024
};

/* Allocations from one chain of callers; a free slot has n_allocations 0. */
struct sl__alloc_site {
	uintptr_t addresses[SL__SITE_DEPTH]; /* innermost first, 0 after */
	uint64_t n_allocations, allocated_bytes;
};

/*
 * Everything recorded between start and stop, in storage of the caller that
 * was zeroed before.  Bytes are usable sizes unless they say requested; a
 * realloc is an allocation and a free in one event.
 */
struct sl__alloc_recording {
	size_t site_depth; /* set by the caller, 1 to SL__SITE_DEPTH */
	struct sl__live_series series; /* of net bytes, set by the caller */

	uint64_t n_allocations, n_frees;
	uint64_t requested_bytes, allocated_bytes, freed_bytes;
	int64_t net_bytes, net_peak_bytes;
	uint64_t n_unsited; /* the table of sites was full */
	uint64_t n_by_size[SL_MEMORY_N_SIZES];
	struct sl__alloc_site sites[SL__N_SITES];
};

/* What one thread allocated since counting began; only it writes these. */
struct sl__alloc_counts {
	uint64_t n_allocations;
	uint64_t allocated_bytes, freed_bytes;
	int64_t net_bytes;
	int64_t net_peak_bytes; /* watermarks: the reader may lower them */
	uint64_t largest_bytes;
};

/*
 * start() begins to record all threads; it returns 0 when a recording is under
 * way already, or when it cannot arrange for a forked child to stop it.
 * After stop() the record is not touched again.  counts() gives the calling
 * thread's counters and turns counting on for good.
 */
struct sl__interposer {
	size_t record_bytes; /* sizeof both, so that libraries of different */
	size_t counts_bytes; /* versions notice that they do not match */
	int (*start)(struct sl__alloc_recording *record);
	void (*stop)(void);
	struct sl__alloc_counts *(*counts)(void);
};

/* The one symbol that libsleuth-alloc exports beside the allocator's. */
const struct sl__interposer *sl_interposer(void);
#define SL__INTERPOSER_SYMBOL "sl_interposer"

/* NULL and the reason when libsleuth-alloc is not there or does not fit. */
const struct sl__interposer *sl__interposer_find(const char **reason);

#endif
