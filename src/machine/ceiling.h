/* SPDX-License-Identifier: Apache-2.0 */
/* ceiling.h - measuring what this machine can do. */
#ifndef SL_CEILING_H
#define SL_CEILING_H

#include "base/arena.h"
#include "sleuth/machines.h"

/* What measuring must know beforehand; sizes guide it, they are not results. */
struct sl__ceiling_options {
	size_t n_threads; /* at most; at least 1 */
	double time_s;
	/* As they were found: as far as streams see them, and accesses in random
	 * order. */
	const struct sl_cache *caches, *chase_caches; /* [n_caches] */
	size_t n_caches;
	size_t free_bytes; /* at most an eighth of it is used */
	const struct sl_log *log;
	void (*progress)(const struct sl_progress *now, void *ctx);
	void *progress_ctx;
	const volatile sig_atomic_t *interrupt;
};

/*
 * Measures peaks, memory levels and points, and fills the half of 'm' under
 * "What it can do" except from_cache; storage from 'arena'.
 * SL_E_INTERRUPTED when told to stop in the first pass.
 */
enum sl_status sl__ceiling_measure(struct sl_machine *m,
				   const struct sl__ceiling_options *plan,
				   struct sl__arena *arena,
				   struct sl_error *err) SL_CHECKED;

/* Counts of threads to measure: 1, 2, 4, ... and n_threads itself.  counts[]
 * holds 64; returns how many. */
size_t sl__ceiling_thread_counts(size_t *counts, size_t n_threads);

/*
 * Sizes from 4 KiB on, two an octave, in multiples of 256 bytes, up to
 * max_bytes; sizes[] holds 128.  Returns how many.
 */
size_t sl__ceiling_working_set_sizes(size_t *sizes, size_t max_bytes);

/* The largest size of a curve for each of n_threads: 4 times its share of
 * the last level cache, 256 MiB for all of them at most, where 'limit_bytes'
 * allow it. */
size_t sl__ceiling_max_working_set(const struct sl_cache *caches,
				   size_t n_caches, size_t n_threads,
				   size_t limit_bytes);

#endif
