/* SPDX-License-Identifier: Apache-2.0 */
/* ceiling_probes.h - ceilings probed beside a workload, and a bandwidth hog. */
#ifndef SL_CEILING_PROBES_H
#define SL_CEILING_PROBES_H

#include "base/arena.h"
#include "sleuth/profiling.h"

struct sl__ceiling_probes_options {
	enum sl_dtype dtype; /* of the arithmetic; real types without loops of
				their own are computed as f32, integers as
				int8 */
	size_t n_threads;    /* of the workload; at most the CPUs allowed
				are probed */
	const struct sl_allocator *allocator; /* NULL: libc */
};

/*
 * Invariants: between two calls no thread of it runs, all wait asleep, and the
 * caller is bound to no CPU that it was not bound to before, so that a
 * workload in between is not disturbed.  Probes run on threads of its own,
 * bound to one CPU each; the caller sleeps meanwhile.  Used by one thread.
 */
struct sl__ceiling_probes;

/* Finds the caches, which takes 3 to 4 s the first time on a machine (see
 * found_caches.h), maps 32 MiB a thread and finds the fastest way through each
 * level: 0.1 to 0.2 s.  SL_E_NOMEM; SL_E_ABSENT where no loop computes in f32,
 * which probes rest on. */
enum sl_status
sl__ceiling_probes_open(struct sl__ceiling_probes **out,
			const struct sl__ceiling_probes_options *options,
			struct sl_error *err) SL_CHECKED;
void
sl__ceiling_probes_close(struct sl__ceiling_probes *probes); /* NULL is fine */

/* Of the machine; lives as long as 'probes'. */
const char *
sl__ceiling_probes_fingerprint(const struct sl__ceiling_probes *probes);

/* Three short probes of every ceiling, some 25 ms in all: arithmetic in the
 * workload's type and in the others that plans use, and the bandwidth of each
 * level of memory, at the workload's threads. */
void sl__ceiling_probes_run(struct sl__ceiling_probes *probes);

/* What all probes so far say: the ninth decile with its interval, as every
 * ceiling.  ridge and step_ns are left alone; the words are static. */
void sl__ceiling_probes_ceilings(const struct sl__ceiling_probes *probes,
				 struct sl_ceilings *out);

/* Where lines cannot be flushed, pushes what the caches hold of anybody's data
 * out of them: all threads together walk through four times the last one. */
void sl__ceiling_probes_evict_caches(struct sl__ceiling_probes *probes);

/*
 * A thread that walks through memory as fast as it can, on a CPU apart, until
 * it is stopped; the caller is bound to the other CPUs meanwhile (threads that
 * it has started already are not).  SL_E_ABSENT where the workload's n_threads
 * leave no CPU to spare.  Stopping what does not run does nothing.
 */
enum sl_status sl__hog_start(struct sl__ceiling_probes *probes,
			     size_t n_threads, struct sl_error *err) SL_CHECKED;
void sl__hog_stop(struct sl__ceiling_probes *probes);

/* How much longer the hog makes pure work of one thread take, as ratios;
 * measured once, some 100 ms, and no hog may run.  All are NaN where that
 * cannot be, and 'absent', which lives as long as 'probes', says why. */
struct sl__hog_effect {
	double dram, l3, l2, compute;
	const char *absent; /* NULL: measured */
};
void sl__hog_effect(struct sl__ceiling_probes *probes,
		    struct sl__hog_effect *out);

#endif
