/* SPDX-License-Identifier: Apache-2.0 */
/* ceiling_measurement.h - what is measured to find the ceilings, while it is.
 */
#ifndef SL_CEILING_MEASUREMENT_H
#define SL_CEILING_MEASUREMENT_H

#include "machine/ceiling.h"
#include "machine/rig.h"

enum {
	SL__MAX_COUNTS = 64,
	SL__MAX_SIZES = 128, /* two an octave from 4 KiB: 2^64 and beyond */
	SL__MAX_PASSES = 32,
	/* Of memory in one probe: some 2 ms, and far more than what a core
	 * still holds back in its own caches when the probe ends. */
	SL__CHUNK_BYTES = 1 << 26
};

/* Probes of one figure in the order they were made; room for all passes. */
struct sl__probe_series {
	double *x;
	size_t n;
};

struct sl__peak_job {
	const struct sl__peak_kernel *kernel;
	size_t n_threads;
	uint64_t n_rounds; /* of a probe; 0 before it is calibrated */
	struct sl__probe_series series;
};

/*
 * All sizes of one access by one number of threads.  A stream has besides a
 * series of its own for memory: chunks of a far larger size, one after the
 * other, since parts of the largest size of a curve survive in the cache.
 */
struct sl__curve_job {
	enum sl_access access;
	size_t n_threads;
	size_t n_sizes;
	struct sl__probe_series *series; /* [n_sizes] */
	struct sl__probe_series memory;
	size_t memory_bytes; /* touched by each thread, over all chunks */
	size_t next_chunk;
};

/*
 * Invariants: counts[] rises from 1 to the size of the rig; sizes[] rises.
 * Jobs of one number of threads lie together, load first.
 */
struct sl__ceiling_measurement {
	const struct sl__ceiling_options *plan;
	struct sl__arena *arena;
	struct sl__rig rig;
	struct sl__peak_kernel kernels[SL__MAX_PEAK_KERNELS];
	size_t n_kernels;
	size_t counts[SL__MAX_COUNTS];
	size_t n_counts;
	size_t sizes[SL__MAX_SIZES];
	/* As the plan has it, for streams and for chases. */
	size_t last_cache_bytes, last_chased_bytes;
	struct sl__peak_job *peaks;
	size_t n_peaks;
	struct sl__curve_job *curves;
	size_t n_curves;
	size_t n_passes; /* completed */
	uint64_t start_ns;
	int interrupted;
};

/* Lists the jobs and opens the rig. */
enum sl_status
sl__ceiling_measurement_open(struct sl__ceiling_measurement *work,
			     const struct sl__ceiling_options *plan,
			     struct sl__arena *arena,
			     struct sl_error *err) SL_CHECKED;
void sl__ceiling_measurement_close(struct sl__ceiling_measurement *work);

/* Every job once; ends early and sets 'interrupted' when told to stop. */
void sl__ceiling_measurement_pass(struct sl__ceiling_measurement *work);

/* Fills m->peaks, levels and points from what was measured. */
enum sl_status
sl__ceiling_measurement_result(struct sl_machine *m,
			       const struct sl__ceiling_measurement *work,
			       struct sl_error *err) SL_CHECKED;

#endif
