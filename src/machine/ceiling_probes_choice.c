/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ceiling_probes_choice.c - which loops and sets stand for the ceilings.
 *
 * Sizes of caches come from the system, which in a virtual machine may name a
 * last cache that is not there or is mostly others'.  It is therefore taken to
 * be as large as the largest set, from half of its size downwards, that is
 * read clearly faster than memory.
 */
#include "base/status.h"
#include "machine/ceiling_probes_state.h"

#include <math.h>
#include <string.h>

#include "base/banned.h"

enum {
	CHUNK_BYTES = 1 << 24,      /* of memory in one probe */
	DEFAULT_L1_BYTES = 1 << 15, /* where the system names none */
	FIRST_ROUNDS = 1024,
	CALIBRATIONS = 5,
	CHOICES = 4 /* probes of each way through a level */
};

static const double CACHE_PROBE_S = 0.25e-3;
/* A cache is at least so much faster than what lies behind it. */
static const double FASTER = 1.25;

struct sl__peak_probe *
sl__peak_probe(struct sl__ceiling_probes *probes, enum sl_dtype dtype)
{
	for (size_t i = 0; i < SL__N_PEAK_PROBES; i++) {
		struct sl__peak_probe *peak = &probes->peaks[i];

		if (peak->kernel && peak->kernel->dtype == dtype)
			return peak;
	}
	return NULL;
}

static uint64_t
rounds_for(const struct sl__peak_kernel *kernel, double rate, double seconds)
{
	double n = rate / kernel->ops_per_round * seconds;

	return (uint64_t)fmax(1, fmin(n, SL__MAX_PEAK_ROUNDS));
}

/* Finds how many rounds make a probe; returns the best rate. */
static double
calibrate(struct sl__ceiling_probes *probes,
	  const struct sl__peak_kernel *kernel, uint64_t *n_rounds)
{
	double n = (double)probes->n_threads;
	double fastest = 0;

	*n_rounds = FIRST_ROUNDS;
	for (int i = 0; i < CALIBRATIONS; i++) {
		double rate = sl__rig_run_peak(&probes->rig, kernel,
					       probes->n_threads, *n_rounds);

		fastest = fmax(fastest, rate);
		*n_rounds = rounds_for(kernel, fastest / n, SL__PEAK_PROBE_S);
	}
	return fastest;
}

/* The fastest loop for a type: the widest need not be.  None where one that
 * does not run could be faster. */
static void
choose_peak(struct sl__ceiling_probes *probes, struct sl__peak_probe *peak,
	    size_t n_kernels, enum sl_dtype dtype)
{
	double best = 0;

	if (sl__peak_has_untested_kernel(probes->kernels, n_kernels, dtype))
		return;
	for (size_t i = 0; i < n_kernels; i++) {
		const struct sl__peak_kernel *kernel = &probes->kernels[i];
		uint64_t n_rounds;
		double rate;

		if (kernel->dtype != dtype || kernel->absent)
			continue;
		rate = calibrate(probes, kernel, &n_rounds);
		if (rate <= best)
			continue;
		best = rate;
		peak->kernel = kernel;
		peak->n_rounds = n_rounds;
	}
}

static void
choose_peaks(struct sl__ceiling_probes *probes)
{
	static const enum sl_dtype dtypes[SL__N_PEAK_PROBES] = {
		SL_DTYPE_F32, SL_DTYPE_BF16, SL_DTYPE_I8};
	size_t n_kernels = sl__peak_kernels(probes->kernels);

	for (size_t i = 0; i < SL__N_PEAK_PROBES; i++)
		choose_peak(probes, &probes->peaks[i], n_kernels, dtypes[i]);
}

double
sl__ceiling_probes_bandwidth(struct sl__ceiling_probes *probes,
			     struct sl__stream_range *stretch)
{
	double rate =
		sl__rig_run_stream(&probes->rig, stretch, probes->n_threads);

	stretch->nth++;
	return rate;
}

/* Repeats of a set within a cache that make a probe; the last run of them has
 * brought the set into it. */
static double
settle(struct sl__ceiling_probes *probes, struct sl__stream_range *stretch)
{
	double rate = 0;

	for (int i = 0; i < 2; i++) {
		double bytes = (double)stretch->chunk_bytes;

		rate = sl__ceiling_probes_bandwidth(probes, stretch);
		stretch->n_repeats = (size_t)fmax(
			1, CACHE_PROBE_S * rate / (double)probes->n_threads /
				   bytes);
	}
	return sl__ceiling_probes_bandwidth(probes, stretch);
}

/* The way through a level that names most bytes a second: whoever uses it
 * cannot be faster. */
static void
choose_access(struct sl__ceiling_probes *probes,
	      struct sl__stream_range *stretch)
{
	struct sl__stream_range best = *stretch;
	int is_memory = stretch->chunk_bytes < stretch->size_bytes;
	double fastest = 0;

	for (int a = 0; a < SL__N_STREAMS; a++) {
		int is_direct = a == SL_ACCESS_STORE_NT ||
				a == SL_ACCESS_COPY_NT ||
				a == SL_ACCESS_TRIAD_NT;
		double rate;

		if (!probes->rig.streams->run[a] || (is_direct && !is_memory))
			continue;
		stretch->access = (enum sl_access)a;
		stretch->n_repeats = 1;
		if (is_memory) /* fills the caches with its like */
			(void)sl__ceiling_probes_bandwidth(probes, stretch);
		rate = is_memory ? 0 : settle(probes, stretch);
		for (int i = 0; i < CHOICES; i++)
			rate = fmax(rate, sl__ceiling_probes_bandwidth(
						  probes, stretch));
		if (rate > fastest) {
			fastest = rate;
			best = *stretch;
		}
	}
	*stretch = best;
}

static void
add_level(struct sl__ceiling_probes *probes, enum sl_level level,
	  uint64_t size_bytes, const struct sl__stream_range *stretch)
{
	struct sl__level_probe *row = &probes->levels[probes->n_levels++];

	row->level = level;
	row->size_bytes = size_bytes;
	row->stretch = *stretch;
	choose_access(probes, &row->stretch);
}

static void
add_cache(struct sl__ceiling_probes *probes, enum sl_level level,
	  size_t size_bytes, size_t set_bytes)
{
	struct sl__stream_range stretch = {.size_bytes = set_bytes,
					   .chunk_bytes = set_bytes,
					   .n_repeats = 1};

	add_level(probes, level, size_bytes, &stretch);
}

size_t
sl__cache_share_bytes(const struct sl_machine *m, unsigned level,
		      size_t n_threads)
{
	for (size_t i = 0; i < m->n_caches; i++) {
		const struct sl_cache *cache = &m->caches[i];
		size_t n_users = cache->n_sharing;

		if (cache->level != level ||
		    cache->kind == SL_CACHE_INSTRUCTION)
			continue;
		if (n_users > n_threads)
			n_users = n_threads;
		return cache->size_bytes / (n_users ? n_users : 1);
	}
	return 0;
}

/* The largest set of one thread, from 'most' down by halves, that is read
 * faster than memory; 0: none beyond the second cache. */
static size_t
largest_cached(struct sl__ceiling_probes *probes, size_t most,
	       double memory_rate)
{
	struct sl__stream_range stretch = {.access = SL_ACCESS_LOAD};

	for (size_t size = most; size > 2 * probes->l2_bytes; size /= 2) {
		stretch.size_bytes = stretch.chunk_bytes = size;
		stretch.n_repeats = 1;
		if (settle(probes, &stretch) > FASTER * memory_rate)
			return size;
	}
	return 0;
}

static void
list_levels(struct sl__ceiling_probes *probes, const struct sl_machine *m,
	    size_t memory_bytes)
{
	struct sl__stream_range memory = {.access = SL_ACCESS_LOAD,
					  .size_bytes = memory_bytes,
					  .chunk_bytes = CHUNK_BYTES,
					  .n_repeats = 1};
	size_t l1 = sl__cache_share_bytes(m, 1, probes->n_threads);
	size_t l3 = sl__cache_share_bytes(m, 3, probes->n_threads);
	double rate;

	rate = sl__ceiling_probes_bandwidth(probes, &memory);
	rate = fmin(rate, sl__ceiling_probes_bandwidth(probes, &memory));
	rate = fmax(rate, sl__ceiling_probes_bandwidth(probes, &memory));
	l1 = l1 ? l1 : DEFAULT_L1_BYTES;
	add_cache(probes, SL_LEVEL_L1, l1, l1 / 2);
	add_cache(probes, SL_LEVEL_L2, probes->l2_bytes, probes->l2_bytes / 2);
	l3 = 2 * largest_cached(probes, l3 ? l3 / 2 : memory_bytes / 4, rate);
	if (l3) /* others use it too: a quarter is surely there */
		add_cache(probes, SL_LEVEL_L3, l3, l3 / 4);
	probes->last_bytes = l3 ? l3 : probes->l2_bytes;
	add_level(probes, SL_LEVEL_DRAM, UINT64_MAX, &memory);
}

enum sl_status
sl__ceiling_probe_pick_kernels(struct sl__ceiling_probes *probes,
			       const struct sl_machine *m, size_t memory_bytes,
			       struct sl_error *err)
{
	choose_peaks(probes);
	if (!probes->peaks[0].kernel)
		return sl__fail(err, SL_E_ABSENT,
				"no loop for arithmetic in f32 runs here");
	list_levels(probes, m, memory_bytes);
	return SL_OK;
}
