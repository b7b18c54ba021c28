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
#include "machine/ceiling.h"
#include "machine/platform.h"
#include "machine/topology.h"
#include "stats/quantile.h"
#include "stats/summary.h"

#include <math.h>
#include <string.h>

#include "base/banned.h"

enum {
	PROBES = 3, /* of each ceiling at a time: 36, which the interval
			      of a ninth decile needs, after 12 times */
	MEMORY_FACTOR =
		3, /* as in ceiling_measurement.c: of less too much stays */
	LEAST_MEMORY_BYTES = 1 << 26,
	DEFAULT_FREE_BYTES = 1 << 30,
	DEFAULT_L2_BYTES = 1 << 18 /* where the system names none */
};

/* Threads of an OpenMP pool spin so long before they sleep, and clocks take
 * less to settle. */
static const double SETTLE_S = 6e-3;

static void *
prober_main(void *arg)
{
	struct sl__ceiling_probes *background = arg;

	pthread_mutex_lock(&background->lock);
	for (;;) {
		while (!background->job && !background->is_closing)
			pthread_cond_wait(&background->changed,
					  &background->lock);
		if (!background->job)
			break;
		pthread_mutex_unlock(&background->lock);
		background->job(background);
		pthread_mutex_lock(&background->lock);
		background->job = NULL;
		pthread_cond_broadcast(&background->changed);
	}
	pthread_mutex_unlock(&background->lock);
	return NULL;
}

void
sl__ceiling_probes_run_job(struct sl__ceiling_probes *background,
			   sl__ceiling_probes_job *job)
{
	pthread_mutex_lock(&background->lock);
	background->job = job;
	pthread_cond_broadcast(&background->changed);
	while (background->job)
		pthread_cond_wait(&background->changed, &background->lock);
	pthread_mutex_unlock(&background->lock);
}

static void
keep(struct sl__probe_samples *probed, double x)
{
	probed->x[probed->n_seen++ % SL__PROBE_SAMPLES_MAX] = x;
}

/* All of the last cache, wherever it is, in bytes. */
static size_t
last_cache_bytes(const struct sl_machine *m)
{
	size_t most = 0;

	for (size_t i = 0; i < m->n_caches; i++) {
		if (m->caches[i].size_bytes * m->caches[i].n > most)
			most = m->caches[i].size_bytes * m->caches[i].n;
	}
	return most;
}

static size_t
memory_bytes_of(const struct sl__ceiling_probes *background,
		const struct sl_machine *m)
{
	size_t free_bytes = sl__platform_free_bytes("");
	size_t most, bytes;

	if (!free_bytes)
		free_bytes = DEFAULT_FREE_BYTES;
	most = free_bytes / 4 / background->n_threads;
	bytes = MEMORY_FACTOR *
		sl__ceiling_max_working_set(m->caches, m->n_caches,
					    background->n_threads, free_bytes);
	if (bytes < LEAST_MEMORY_BYTES)
		bytes = LEAST_MEMORY_BYTES;
	if (bytes > most)
		bytes = most;
	return bytes > LEAST_MEMORY_BYTES / 2 ? bytes : LEAST_MEMORY_BYTES / 2;
}

static enum sl_status
open_rig(struct sl__ceiling_probes *background, const struct sl_machine *m,
	 size_t memory_bytes, struct sl_error *err)
{
	size_t *bytes = sl__arena_array(background->arena, background->n_cpus,
					sizeof(*bytes));
	size_t least = 4 * last_cache_bytes(m) / background->n_cpus;

	if (!bytes)
		return sl__fail_nomem(err);
	background->l2_bytes = sl__cache_share_bytes(m, 2, background->n_cpus);
	if (!background->l2_bytes)
		background->l2_bytes = DEFAULT_L2_BYTES;
	if (least < 2 * background->l2_bytes)
		least = 2 * background->l2_bytes;
	background->evict_bytes = least;
	for (size_t r = 0; r < background->n_cpus; r++) {
		bytes[r] = least;
		if (r < background->n_threads && memory_bytes > least)
			bytes[r] = memory_bytes;
	}
	return sl__rig_open(&background->rig, background->n_cpus, bytes,
			    background->arena, err);
}

/* The first job of the prober. */
static void
prepare(struct sl__ceiling_probes *background)
{
	struct sl_machine m = {0};
	size_t memory_bytes;

	/* What cannot be read is not known: m has no caches then. */
	if (sl__topology_read(&m, "", background->arena, NULL) != SL_OK)
		m.n_caches = 0;
	memory_bytes = memory_bytes_of(background, &m);
	background->rc =
		open_rig(background, &m, memory_bytes, &background->err);
	if (background->rc)
		return;
	background->rc = sl__ceiling_probe_pick_kernels(
		background, &m, memory_bytes, &background->err);
}

static void
leave(struct sl__ceiling_probes *background)
{
	sl__rig_close(&background->rig);
}

static enum sl_status
start_prober(struct sl__ceiling_probes *background, struct sl_error *err)
{
	int error = pthread_create(&background->prober, NULL, prober_main,
				   background);

	if (error)
		return sl__fail_errno(err, SL_E_NOMEM, error,
				      "cannot start a thread to probe with");
	background->has_prober = 1;
	sl__ceiling_probes_run_job(background, prepare);
	if (background->rc && err)
		*err = background->err;
	return background->rc;
}

enum sl_status
sl__ceiling_probes_open(struct sl__ceiling_probes **out,
			const struct sl__ceiling_probes_options *options,
			struct sl_error *err)
{
	struct sl__arena *arena;
	struct sl__ceiling_probes *background;
	enum sl_status rc;

	*out = NULL;
	background = sl__arena_object_new(&arena, options->allocator,
					  sizeof(*background));
	if (!background)
		return sl__fail_nomem(err);
	background->arena = arena;
	background->dtype = options->dtype;
	background->n_cpus = sl__thread_n_cpus();
	background->n_threads = options->n_threads ? options->n_threads : 1;
	if (background->n_threads > background->n_cpus)
		background->n_threads = background->n_cpus;
	pthread_mutex_init(&background->lock, NULL);
	pthread_cond_init(&background->changed, NULL);
	rc = start_prober(background, err);
	if (rc) {
		sl__ceiling_probes_close(background);
		return rc;
	}
	*out = background;
	return SL_OK;
}

void
sl__ceiling_probes_close(struct sl__ceiling_probes *background)
{
	if (!background)
		return;
	sl__hog_close(background);
	if (background->has_prober) {
		sl__ceiling_probes_run_job(background, leave);
		pthread_mutex_lock(&background->lock);
		background->is_closing = 1;
		pthread_cond_broadcast(&background->changed);
		pthread_mutex_unlock(&background->lock);
		pthread_join(background->prober, NULL);
	}
	pthread_cond_destroy(&background->changed);
	pthread_mutex_destroy(&background->lock);
	sl__arena_object_free(background);
}

static void
wait_until_settled(struct sl__ceiling_probes *background)
{
	const struct sl__peak_probe *peak = &background->peaks[0];
	uint64_t start_ns = sl__clock_now_ns(NULL);

	while ((double)(sl__clock_now_ns(NULL) - start_ns) < SETTLE_S * 1e9)
		(void)sl__rig_run_peak(&background->rig, peak->kernel,
				       background->n_threads, peak->n_rounds);
}

static void
probe_peak(struct sl__ceiling_probes *background, struct sl__peak_probe *peak)
{
	if (!peak->kernel)
		return;
	(void)sl__rig_run_peak(&background->rig, peak->kernel,
			       background->n_threads, peak->n_rounds / 4 + 1);
	for (int i = 0; i < PROBES; i++)
		keep(&peak->probed,
		     sl__rig_run_peak(&background->rig, peak->kernel,
				      background->n_threads, peak->n_rounds));
}

/* The first runs bring the set into its cache, or fill all caches with what
 * lies in memory. */
static void
probe_level(struct sl__ceiling_probes *background,
	    struct sl__level_probe *level)
{
	int n_first = level->size_bytes == UINT64_MAX ? 2 : 1;

	for (int i = 0; i < n_first; i++)
		(void)sl__ceiling_probes_bandwidth(background, &level->stretch);
	for (int i = 0; i < PROBES; i++)
		keep(&level->probed,
		     sl__ceiling_probes_bandwidth(background, &level->stretch));
}

static void
probe_all(struct sl__ceiling_probes *background)
{
	wait_until_settled(background);
	for (size_t i = 0; i < SL__N_PEAK_PROBES; i++)
		probe_peak(background, &background->peaks[i]);
	for (size_t i = 0; i < background->n_levels; i++)
		probe_level(background, &background->levels[i]);
}

void
sl__ceiling_probes_run(struct sl__ceiling_probes *background)
{
	sl__ceiling_probes_run_job(background, probe_all);
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
sl__ceiling_probes_ceilings(const struct sl__ceiling_probes *background,
			    struct sl_ceilings *out)
{
	enum sl_dtype dtype = computed_as(background->dtype);

	out->dtype = dtype;
	out->n_threads = background->n_threads;
	out->flops_per_s = (struct sl_estimate){
		.value = (double)NAN, .lo = (double)NAN, .hi = (double)NAN};
	out->n_peaks = 0;
	for (size_t i = 0; i < SL__N_PEAK_PROBES; i++) {
		const struct sl__peak_probe *peak = &background->peaks[i];
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
	out->n_levels = background->n_levels;
	for (size_t i = 0; i < background->n_levels; i++) {
		const struct sl__level_probe *level = &background->levels[i];

		out->levels[i] = (struct sl_ceiling_level){
			.level = level->level,
			.size_bytes = level->size_bytes,
			.bytes_per_s = decile_of(&level->probed)};
	}
}

static void
evict(struct sl__ceiling_probes *background)
{
	struct sl__stream_range stretch = {
		.access = SL_ACCESS_COPY,
		.size_bytes = background->evict_bytes,
		.chunk_bytes = background->evict_bytes,
		.n_repeats = 1};

	(void)sl__rig_run_stream(&background->rig, &stretch,
				 background->n_cpus);
}

void
sl__ceiling_probes_evict_caches(struct sl__ceiling_probes *background)
{
	sl__ceiling_probes_run_job(background, evict);
}
