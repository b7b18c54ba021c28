/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ceiling_probes_choice.c - which loops and sets stand for the ceilings.
 *
 * Sizes come from the caches that were found (found_caches.h): what a virtual
 * machine shows may not be there, or be mostly others'.  Of memory a small
 * chunk is flushed and read again, which needs no set larger than the caches.
 */
#include "base/status.h"
#include "machine/ceiling_probes_state.h"

#include <math.h>
#include <string.h>

#include "base/banned.h"

enum {
	DEFAULT_L1_BYTES = 1 << 15, /* where none was found */
	DEFAULT_L2_BYTES = 1 << 18,
	FIRST_ROUNDS = 1024,
	CALIBRATIONS = 5,
	CHOICES = 4 /* probes of each way through a level */
};

static const double CACHE_PROBE_S = 0.25e-3;

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
 * cannot be faster.  Of memory, plain stores are left out: what they write
 * stays in the caches, so that a chunk says little about them. */
static void
choose_access(struct sl__ceiling_probes *probes,
	      struct sl__stream_range *stretch)
{
	struct sl__stream_range best = *stretch;
	int is_memory = stretch->is_flushed;
	double fastest = 0;

	for (int a = 0; a < SL__N_STREAMS; a++) {
		int is_direct = a == SL_ACCESS_STORE_NT ||
				a == SL_ACCESS_COPY_NT ||
				a == SL_ACCESS_TRIAD_NT;
		double rate;

		if (!probes->rig.streams->run[a] ||
		    (a != SL_ACCESS_LOAD && is_direct != is_memory))
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

static const struct sl_found_cache *
found_cache(const struct sl_machine *m, enum sl_level level)
{
	for (size_t i = 0; i < m->n_found_caches; i++) {
		if (m->found_caches[i].level == level)
			return &m->found_caches[i];
	}
	return NULL;
}

/* How many of n_threads share a cache of a level. */
static double
n_users(const struct sl_machine *m, enum sl_level level, size_t n_threads)
{
	size_t n = 1;

	for (size_t i = 0; i < m->n_caches; i++) {
		if (m->caches[i].level == (unsigned)level &&
		    m->caches[i].kind != SL_CACHE_INSTRUCTION)
			n = m->caches[i].n_sharing;
	}
	return (double)(n < n_threads ? n : n_threads);
}

void
sl__probe_sets_choose(struct sl__probe_sets *out, const struct sl_machine *m,
		      size_t n_threads)
{
	double beyond = 0; /* of the level before */

	memset(out, 0, sizeof(*out));
	out->share_bytes[SL_LEVEL_L1] = DEFAULT_L1_BYTES;
	out->set_bytes[SL_LEVEL_L1] = DEFAULT_L1_BYTES / 2;
	out->share_bytes[SL_LEVEL_L2] = DEFAULT_L2_BYTES;
	out->set_bytes[SL_LEVEL_L2] = DEFAULT_L2_BYTES / 2;
	for (int k = SL_LEVEL_L1; k <= SL_LEVEL_L3; k++) {
		enum sl_level level = (enum sl_level)k;
		const struct sl_found_cache *c = found_cache(m, level);
		double users = n_users(m, level, n_threads), within;

		if (!c)
			break;
		within = c->latency.lo_bytes / users;
		out->share_bytes[k] =
			(size_t)(fmax(c->latency.bytes, c->stream.bytes) /
				 users);
		/* Half way, where the level is wide enough to have one. */
		out->set_bytes[k] =
			(size_t)(beyond > 0 ? sqrt(beyond *
						   fmax(within, 1.5 * beyond))
					    : within / 2);
		beyond = c->latency.hi_bytes / users;
	}
}

static void
list_levels(struct sl__ceiling_probes *probes)
{
	const struct sl__probe_sets *sets = &probes->sets;
	struct sl__stream_range memory = {.size_bytes =
						  2 * SL__MEMORY_CHUNK_BYTES,
					  .chunk_bytes = SL__MEMORY_CHUNK_BYTES,
					  .n_repeats = 1,
					  .is_flushed = 1};

	for (int k = SL_LEVEL_L1; k <= SL_LEVEL_L3; k++) {
		struct sl__stream_range range = {
			.size_bytes = sets->set_bytes[k],
			.chunk_bytes = sets->set_bytes[k],
			.n_repeats = 1};

		if (sets->set_bytes[k])
			add_level(probes, (enum sl_level)k,
				  sets->share_bytes[k], &range);
	}
	add_level(probes, SL_LEVEL_DRAM, UINT64_MAX, &memory);
}

enum sl_status
sl__ceiling_probe_pick_kernels(struct sl__ceiling_probes *probes,
			       struct sl_error *err)
{
	choose_peaks(probes);
	if (!probes->peaks[0].kernel)
		return sl__fail(err, SL_E_ABSENT,
				"no loop for arithmetic in f32 runs here");
	list_levels(probes);
	return SL_OK;
}
