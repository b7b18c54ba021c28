/* SPDX-License-Identifier: Apache-2.0 */
/* ceiling_probes_state.h - what probes beside a workload share with the hog. */
#ifndef SL_CEILING_PROBES_STATE_H
#define SL_CEILING_PROBES_STATE_H

#include "machine/ceiling_probes.h"
#include "machine/rig.h"
#include "sleuth/profiling.h"

#include <pthread.h>

enum {
	SL__PROBE_SAMPLES_MAX =
		512,           /* probes of a ceiling; then the oldest go */
	SL__N_PEAK_PROBES = 3, /* f32, bf16, int8 */
	SL__MEMORY_CHUNK_BYTES = 1 << 24, /* of memory in one probe */
	SL__HOG_KINDS = 4                 /* compute, L2, L3, DRAM */
};

/* How long a probe of arithmetic takes. */
#define SL__PEAK_PROBE_S 1e-3

struct sl__probe_samples {
	double x[SL__PROBE_SAMPLES_MAX];
	size_t n_seen;
};

struct sl__peak_probe {
	const struct sl__peak_kernel *kernel; /* NULL: none here */
	uint64_t n_rounds;                    /* of a probe */
	struct sl__probe_samples probed;
};

struct sl__level_probe {
	enum sl_level level;
	uint64_t size_bytes; /* one thread's share */
	struct sl__stream_range stretch;
	struct sl__probe_samples probed;
};

/*
 * Sets of one thread that lie well within a level and well beyond the one
 * before it, and how much of a level a thread has; 0: no such cache.
 */
struct sl__probe_sets {
	size_t set_bytes[SL_LEVEL_L3 + 1]; /* by level */
	size_t share_bytes[SL_LEVEL_L3 + 1];
};

typedef void sl__ceiling_probes_job(struct sl__ceiling_probes *probes);

/*
 * Invariants: the rig belongs to the prober, a thread that is its member 0; it
 * has a member for every CPU, and the first n_threads have room for DRAM.  A
 * job is the prober's from when it is set until it is NULL again.
 */
struct sl__ceiling_probes {
	struct sl__arena *arena;
	size_t n_threads, n_cpus;
	const char *fingerprint;
	enum sl_dtype dtype;

	pthread_t prober;
	int has_prober, is_closing;
	pthread_mutex_t lock; /* guards job and is_closing */
	pthread_cond_t changed;
	sl__ceiling_probes_job *job;

	struct sl__rig rig;
	struct sl__probe_sets sets;
	size_t evict_bytes; /* that each member walks; 0: flushing does it */
	enum sl_status rc;  /* of opening the rig */
	struct sl_error err;

	struct sl__peak_kernel kernels[SL__MAX_PEAK_KERNELS];
	struct sl__peak_probe peaks[SL__N_PEAK_PROBES];
	struct sl__level_probe levels[SL_CEILING_LEVELS_MOST];
	size_t n_levels;

	struct sl__hog *hog; /* NULL: none was needed yet */
	int has_effect;
	struct sl__hog_effect effect;
	struct sl_error no_effect; /* why there is none */
};

/* Has the prober do a job and waits for it. */
void sl__ceiling_probes_run_job(struct sl__ceiling_probes *probes,
				sl__ceiling_probes_job *job);

/* The peak of a type, or NULL. */
struct sl__peak_probe *sl__peak_probe(struct sl__ceiling_probes *probes,
				      enum sl_dtype dtype);

/* Chooses the loops for peaks and levels; by the prober.  After SL_OK the
 * first peak has a kernel; SL_E_ABSENT otherwise. */
enum sl_status sl__ceiling_probe_pick_kernels(struct sl__ceiling_probes *probes,
					      struct sl_error *err) SL_CHECKED;

/* From the caches that were found; those of 'm' say who shares them. */
void sl__probe_sets_choose(struct sl__probe_sets *out,
			   const struct sl_machine *m, size_t n_threads);

/* One probe, in bytes a second, and on to the next chunk; by the prober. */
double sl__ceiling_probes_bandwidth(struct sl__ceiling_probes *probes,
				    struct sl__stream_range *stretch);

/* Stops the hog and gives back what it has. */
void sl__hog_close(struct sl__ceiling_probes *probes);

/* Work timed alone and beside a hog: what sl__hog_compare() calls. */
struct sl__hog_trial {
	/* Nanoseconds of compute, L2, L3 and DRAM, in any unit of work. */
	void (*probe)(void *ctx, double ns[SL__HOG_KINDS]);
	enum sl_status (*start)(void *ctx, struct sl_error *err);
	void (*stop)(void *ctx);
	void *ctx;
};

/*
 * Medians of the ratios of pairs.  A coin says which half of a pair comes
 * first, and the next pair is the other way round: a machine that speeds up or
 * slows down all the while does so for as many of one order as of the other.
 * Fails as start() does, and 'out' is then unchanged.
 */
enum sl_status sl__hog_compare(const struct sl__hog_trial *trial,
			       struct sl__hog_effect *out,
			       struct sl_error *err) SL_CHECKED;

#endif
