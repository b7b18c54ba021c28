/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ceiling_probes.c - the machine probed beside a workload.
 *
 * A ceiling measured an hour ago says little about a machine that others use
 * too.  So the same probes as sl_machine's run before and after a workload, in
 * a few milliseconds, at its threads.  A prober thread owns them: a team binds
 * the thread that leads it, and the workload's must not be bound.
 */
#define _GNU_SOURCE
#include "base/clock.h"
#include "base/status.h"
#include "machine/ceiling_probes_state.h"
#include "machine/flush.h"
#include "machine/machine.h"
#include "stats/quantile.h"
#include "stats/summary.h"

#include <math.h>
#include <string.h>

#include "base/banned.h"

enum {
	PROBES = 3 /* of each ceiling at a time: 36, which the interval
			      of a ninth decile needs, after 12 times */
};

/* Threads of an OpenMP pool spin so long before they sleep, and clocks take
 * less to settle. */
static const double SETTLE_S = 6e-3;

static void *
prober_main(void *arg)
{
	struct sl__ceiling_probes *probes = arg;

	pthread_mutex_lock(&probes->lock);
	for (;;) {
		while (!probes->job && !probes->is_closing)
			pthread_cond_wait(&probes->changed, &probes->lock);
		if (!probes->job)
			break;
		pthread_mutex_unlock(&probes->lock);
		probes->job(probes);
		pthread_mutex_lock(&probes->lock);
		probes->job = NULL;
		pthread_cond_broadcast(&probes->changed);
	}
	pthread_mutex_unlock(&probes->lock);
	return NULL;
}

void
sl__ceiling_probes_run_job(struct sl__ceiling_probes *probes,
			   sl__ceiling_probes_job *job)
{
	pthread_mutex_lock(&probes->lock);
	probes->job = job;
	pthread_cond_broadcast(&probes->changed);
	while (probes->job)
		pthread_cond_wait(&probes->changed, &probes->lock);
	pthread_mutex_unlock(&probes->lock);
}

static void
keep(struct sl__probe_samples *probed, double x)
{
	probed->x[probed->n_seen++ % SL__PROBE_SAMPLES_MAX] = x;
}

/* What all caches hold, where nothing can be flushed. */
static size_t
evict_bytes(const struct sl__ceiling_probes *probes)
{
	const struct sl__probe_sets *sets = &probes->sets;
	size_t last = sets->share_bytes[SL_LEVEL_L3];

	if (sl__flush_is_possible())
		return 0;
	return 4 * (last ? last : sets->share_bytes[SL_LEVEL_L2]);
}

/* Two chunks of memory for each thread, or what its largest set takes. */
static enum sl_status
open_rig(struct sl__ceiling_probes *probes, struct sl_error *err)
{
	size_t *bytes =
		sl__arena_array(probes->arena, probes->n_cpus, sizeof(*bytes));
	size_t most = 2 * SL__MEMORY_CHUNK_BYTES;

	if (!bytes)
		return sl__fail_nomem(err);
	if (most < probes->sets.set_bytes[SL_LEVEL_L3])
		most = probes->sets.set_bytes[SL_LEVEL_L3];
	probes->evict_bytes = evict_bytes(probes);
	for (size_t r = 0; r < probes->n_cpus; r++) {
		bytes[r] = probes->evict_bytes;
		if (r < probes->n_threads && bytes[r] < most)
			bytes[r] = most;
	}
	return sl__rig_open(&probes->rig, probes->n_cpus, bytes, probes->arena,
			    err);
}

/* The first job of the prober. */
static void
prepare(struct sl__ceiling_probes *probes)
{
	struct sl_machine m = {0};

	probes->rc = sl__machine_find_caches(&m, probes->arena, &probes->err);
	if (probes->rc)
		return;
	probes->fingerprint = m.fingerprint;
	sl__probe_sets_choose(&probes->sets, &m, probes->n_threads);
	probes->rc = open_rig(probes, &probes->err);
	if (!probes->rc)
		probes->rc =
			sl__ceiling_probe_pick_kernels(probes, &probes->err);
}

static void
leave(struct sl__ceiling_probes *probes)
{
	sl__rig_close(&probes->rig);
}

static enum sl_status
start_prober(struct sl__ceiling_probes *probes, struct sl_error *err)
{
	int error = pthread_create(&probes->prober, NULL, prober_main, probes);

	if (error)
		return sl__fail_errno(err, SL_E_NOMEM, error,
				      "cannot start a thread to probe with");
	probes->has_prober = 1;
	sl__ceiling_probes_run_job(probes, prepare);
	if (probes->rc && err)
		*err = probes->err;
	return probes->rc;
}

enum sl_status
sl__ceiling_probes_open(struct sl__ceiling_probes **out,
			const struct sl__ceiling_probes_options *options,
			struct sl_error *err)
{
	struct sl__arena *arena;
	struct sl__ceiling_probes *probes;
	enum sl_status rc;

	*out = NULL;
	probes = sl__arena_object_new(&arena, options->allocator,
				      sizeof(*probes));
	if (!probes)
		return sl__fail_nomem(err);
	probes->arena = arena;
	probes->dtype = options->dtype;
	probes->n_cpus = sl__thread_n_cpus();
	probes->n_threads = options->n_threads ? options->n_threads : 1;
	if (probes->n_threads > probes->n_cpus)
		probes->n_threads = probes->n_cpus;
	pthread_mutex_init(&probes->lock, NULL);
	pthread_cond_init(&probes->changed, NULL);
	rc = start_prober(probes, err);
	if (rc) {
		sl__ceiling_probes_close(probes);
		return rc;
	}
	*out = probes;
	return SL_OK;
}

const char *
sl__ceiling_probes_fingerprint(const struct sl__ceiling_probes *probes)
{
	return probes->fingerprint;
}

void
sl__ceiling_probes_close(struct sl__ceiling_probes *probes)
{
	if (!probes)
		return;
	sl__hog_close(probes);
	if (probes->has_prober) {
		sl__ceiling_probes_run_job(probes, leave);
		pthread_mutex_lock(&probes->lock);
		probes->is_closing = 1;
		pthread_cond_broadcast(&probes->changed);
		pthread_mutex_unlock(&probes->lock);
		pthread_join(probes->prober, NULL);
	}
	pthread_cond_destroy(&probes->changed);
	pthread_mutex_destroy(&probes->lock);
	sl__arena_object_free(probes);
}

static void
wait_until_settled(struct sl__ceiling_probes *probes)
{
	const struct sl__peak_probe *peak = &probes->peaks[0];
	uint64_t start_ns = sl__clock_now_ns(NULL);

	while ((double)(sl__clock_now_ns(NULL) - start_ns) < SETTLE_S * 1e9)
		(void)sl__rig_run_peak(&probes->rig, peak->kernel,
				       probes->n_threads, peak->n_rounds);
}

static void
probe_peak(struct sl__ceiling_probes *probes, struct sl__peak_probe *peak)
{
	if (!peak->kernel)
		return;
	(void)sl__rig_run_peak(&probes->rig, peak->kernel, probes->n_threads,
			       peak->n_rounds / 4 + 1);
	for (int i = 0; i < PROBES; i++)
		keep(&peak->probed,
		     sl__rig_run_peak(&probes->rig, peak->kernel,
				      probes->n_threads, peak->n_rounds));
}

/* The first runs bring the set into its cache, or fill all caches with what
 * lies in memory. */
static void
probe_level(struct sl__ceiling_probes *probes, struct sl__level_probe *level)
{
	int n_first = level->size_bytes == UINT64_MAX ? 2 : 1;

	for (int i = 0; i < n_first; i++)
		(void)sl__ceiling_probes_bandwidth(probes, &level->stretch);
	for (int i = 0; i < PROBES; i++)
		keep(&level->probed,
		     sl__ceiling_probes_bandwidth(probes, &level->stretch));
}

static void
probe_all(struct sl__ceiling_probes *probes)
{
	wait_until_settled(probes);
	for (size_t i = 0; i < SL__N_PEAK_PROBES; i++)
		probe_peak(probes, &probes->peaks[i]);
	for (size_t i = 0; i < probes->n_levels; i++)
		probe_level(probes, &probes->levels[i]);
}

void
sl__ceiling_probes_run(struct sl__ceiling_probes *probes)
{
	sl__ceiling_probes_run_job(probes, probe_all);
}

static struct sl_estimate
decile_of(const struct sl__probe_samples *probed)
{
	size_t n = probed->n_seen < SL__PROBE_SAMPLES_MAX
			   ? probed->n_seen
			   : SL__PROBE_SAMPLES_MAX;
	double sorted[SL__PROBE_SAMPLES_MAX];

	if (!n)
		return (struct sl_estimate){.value = (double)NAN,
					    .lo = (double)NAN,
					    .hi = (double)NAN};
	memcpy(sorted, probed->x, n * sizeof(*sorted));
	sl__sort(sorted, n);
	return sl__quantile_estimate(sorted, n, 0.9, 0.05);
}

/* The type whose loop stands for a type. */
static enum sl_dtype
computed_as(enum sl_dtype dtype)
{
	if (dtype == SL_DTYPE_I8 || dtype == SL_DTYPE_U8)
		return SL_DTYPE_I8;
	return dtype == SL_DTYPE_BF16 ? SL_DTYPE_BF16 : SL_DTYPE_F32;
}

void
sl__ceiling_probes_ceilings(const struct sl__ceiling_probes *probes,
			    struct sl_ceilings *out)
{
	enum sl_dtype dtype = computed_as(probes->dtype);

	out->dtype = dtype;
	out->n_threads = probes->n_threads;
	out->flops_per_s = (struct sl_estimate){
		.value = (double)NAN, .lo = (double)NAN, .hi = (double)NAN};
	out->n_peaks = 0;
	for (size_t i = 0; i < SL__N_PEAK_PROBES; i++) {
		const struct sl__peak_probe *peak = &probes->peaks[i];
		struct sl_ceiling_peak *row = &out->peaks[out->n_peaks];

		if (!peak->kernel)
			continue;
		out->n_peaks++;
		row->dtype = peak->kernel->dtype;
		row->isa = peak->kernel->isa;
		row->flops_per_s = decile_of(&peak->probed);
		if (row->dtype == dtype)
			out->flops_per_s = row->flops_per_s;
	}
	out->n_levels = probes->n_levels;
	for (size_t i = 0; i < probes->n_levels; i++) {
		const struct sl__level_probe *level = &probes->levels[i];

		out->levels[i] = (struct sl_ceiling_level){
			.level = level->level,
			.size_bytes = level->size_bytes,
			.bytes_per_s = decile_of(&level->probed)};
	}
}

static void
evict(struct sl__ceiling_probes *probes)
{
	struct sl__stream_range stretch = {.access = SL_ACCESS_COPY,
					   .size_bytes = probes->evict_bytes,
					   .chunk_bytes = probes->evict_bytes,
					   .n_repeats = 1};

	if (probes->evict_bytes)
		(void)sl__rig_run_stream(&probes->rig, &stretch,
					 probes->n_cpus);
}

void
sl__ceiling_probes_evict_caches(struct sl__ceiling_probes *probes)
{
	sl__ceiling_probes_run_job(probes, evict);
}
