/* SPDX-License-Identifier: Apache-2.0 */
/* parallel.h - the threads that oneDNN uses, used by own kernels too. */
#ifndef SL_PARALLEL_H
#define SL_PARALLEL_H

#include "sleuth/basics.h"

#include <stdint.h>

/* Called by each thread with its rank, 0 to n - 1. */
typedef void sl__parallel_function(int rank, int n, void *ctx);

/* Starts the threads that work on n of them needs, where they are the
 * program's own: SL_E_NOMEM where the system has no more.  Those of libgomp
 * start when first used. */
enum sl_status sl__parallel_start(int n, struct sl_error *err) SL_CHECKED;

/* Runs fn on n threads, the caller among them, and returns when all are done.
 * With n 1 it is a plain call. */
void sl__parallel_run(int n, sl__parallel_function *fn, void *ctx);

/*
 * Wakes the threads that work on n of them needs: returns when all have run at
 * the same moment, or after 1 ms where they get no CPU.  A region alone does not
 * do that: the caller runs what sleepers have not begun.
 */
void sl__parallel_wake(int n);

/* How many threads the widest region had that the calling thread ran since it
 * last asked, oneDNN's included; 1: there was none with several, 0: not known,
 * where the threads are libgomp's. */
int sl__parallel_take_widest(void);

/* The part of 0 .. total - 1 that is one thread's: first .. end - 1.  Parts
 * differ by one at most. */
void sl__parallel_range(int64_t total, int rank, int n, int64_t *first,
			int64_t *end);

/* How many of n threads are worth it for work that takes one of them as long
 * as reading or writing n_bytes from memory; and no more than 'most', but
 * one. */
int sl__threads_for_bytes(int n_threads, uint64_t n_bytes);
int sl__threads_at_most(int n_threads, int64_t most);

/* Sets how many threads oneDNN uses, where it is built in, when called by this
 * thread; returns what it was. */
int sl__parallel_set_threads(int n_threads);

#endif
