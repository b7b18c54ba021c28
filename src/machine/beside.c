/* SPDX-License-Identifier: Apache-2.0 */
/*
 * beside.c - the machine probed beside a workload.
 *
 * A ceiling measured an hour ago says little about a machine that others use
 * too.  So the same probes as sl_machine's run before and after a workload, in
 * a few milliseconds, at its threads.  A keeper thread owns them: a team binds
 * the thread that leads it, and the workload's must not be bound.
 */
#define _GNU_SOURCE
#include "base/clock.h"
#include "base/status.h"
#include "machine/beside_state.h"
#include "machine/ceiling.h"
#include "machine/platform.h"
#include "machine/topology.h"
#include "stats/quantile.h"
#include "stats/summary.h"

#include <math.h>
#include <string.h>

#include "base/banned.h"

enum {
	PROBES = 3,        /* of each ceiling at a time: 36, which the interval
			      of a ninth decile needs, after 12 times */
	MEMORY_FACTOR = 3, /* as in ceiling_work.c: of less too much stays */
	LEAST_MEMORY_BYTES = 1 << 26,
	DEFAULT_FREE_BYTES = 1 << 30,
	DEFAULT_L2_BYTES = 1 << 18 /* where the system names none */
};

/* Threads of an OpenMP pool spin so long before they sleep, and clocks take
 * less to settle. */
static const double SETTLE_S = 6e-3;

static void *
keeper_main(void *arg)
{
	struct sl__beside *beside = arg;

	pthread_mutex_lock(&beside->lock);
	for (;;) {
		while (!beside->job && !beside->is_closing)
			pthread_cond_wait(&beside->changed, &beside->lock);
		if (!beside->job)
			break;
		pthread_mutex_unlock(&beside->lock);
		beside->job(beside);
		pthread_mutex_lock(&beside->lock);
		beside->job = NULL;
		pthread_cond_broadcast(&beside->changed);
	}
	pthread_mutex_unlock(&beside->lock);
	return NULL;
}

void
sl__beside_do(struct sl__beside *beside, sl__beside_job *job)
{
	pthread_mutex_lock(&beside->lock);
	beside->job = job;
	pthread_cond_broadcast(&beside->changed);
	while (beside->job)
		pthread_cond_wait(&beside->changed, &beside->lock);
	pthread_mutex_unlock(&beside->lock);
}

static void
keep(struct sl__probed *probed, double x)
{
	probed->x[probed->n_seen++ % SL__BESIDE_KEPT] = x;
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
memory_bytes_of(const struct sl__beside *beside, const struct sl_machine *m)
{
	size_t free_bytes = sl__platform_free_bytes("");
	size_t most, bytes;

	if (!free_bytes)
		free_bytes = DEFAULT_FREE_BYTES;
	most = free_bytes / 4 / beside->n_threads;
	bytes = MEMORY_FACTOR * sl__ceiling_largest(m->caches, m->n_caches,
						    beside->n_threads,
						    free_bytes);
	if (bytes < LEAST_MEMORY_BYTES)
		bytes = LEAST_MEMORY_BYTES;
	if (bytes > most)
		bytes = most;
	return bytes > LEAST_MEMORY_BYTES / 2 ? bytes : LEAST_MEMORY_BYTES / 2;
}

static enum sl_status
open_rig(struct sl__beside *beside, const struct sl_machine *m,
	 size_t memory_bytes, struct sl_error *err)
{
	size_t *bytes =
		sl__arena_array(beside->arena, beside->n_cpus, sizeof(*bytes));
	size_t least = 4 * last_cache_bytes(m) / beside->n_cpus;

	if (!bytes)
		return sl__fail_nomem(err);
	beside->l2_bytes = sl__beside_share(m, 2, beside->n_cpus);
	if (!beside->l2_bytes)
		beside->l2_bytes = DEFAULT_L2_BYTES;
	if (least < 2 * beside->l2_bytes)
		least = 2 * beside->l2_bytes;
	beside->evict_bytes = least;
	for (size_t r = 0; r < beside->n_cpus; r++) {
		bytes[r] = least;
		if (r < beside->n_threads && memory_bytes > least)
			bytes[r] = memory_bytes;
	}
	return sl__rig_open(&beside->rig, beside->n_cpus, bytes, beside->arena,
			    err);
}

/* The first job of the keeper. */
static void
prepare(struct sl__beside *beside)
{
	struct sl_machine m = {0};
	size_t memory_bytes;

	/* What cannot be read is not known: m has no caches then. */
	if (sl__topology_read(&m, "", beside->arena, NULL) != SL_OK)
		m.n_caches = 0;
	memory_bytes = memory_bytes_of(beside, &m);
	beside->rc = open_rig(beside, &m, memory_bytes, &beside->err);
	if (beside->rc)
		return;
	beside->rc = sl__beside_choose(beside, &m, memory_bytes, &beside->err);
}

static void
leave(struct sl__beside *beside)
{
	sl__rig_close(&beside->rig);
}

static enum sl_status
start_keeper(struct sl__beside *beside, struct sl_error *err)
{
	int error = pthread_create(&beside->keeper, NULL, keeper_main, beside);

	if (error)
		return sl__fail_errno(err, SL_E_NOMEM, error,
				      "cannot start a thread to probe with");
	beside->has_keeper = 1;
	sl__beside_do(beside, prepare);
	if (beside->rc && err)
		*err = beside->err;
	return beside->rc;
}

enum sl_status
sl__beside_open(struct sl__beside **out,
		const struct sl__beside_options *options, struct sl_error *err)
{
	struct sl__arena *arena;
	struct sl__beside *beside;
	enum sl_status rc;

	*out = NULL;
	beside = sl__boxed_new(&arena, options->allocator, sizeof(*beside));
	if (!beside)
		return sl__fail_nomem(err);
	beside->arena = arena;
	beside->dtype = options->dtype;
	beside->n_cpus = sl__thread_n_cpus();
	beside->n_threads = options->n_threads ? options->n_threads : 1;
	if (beside->n_threads > beside->n_cpus)
		beside->n_threads = beside->n_cpus;
	pthread_mutex_init(&beside->lock, NULL);
	pthread_cond_init(&beside->changed, NULL);
	rc = start_keeper(beside, err);
	if (rc) {
		sl__beside_close(beside);
		return rc;
	}
	*out = beside;
	return SL_OK;
}

void
sl__beside_close(struct sl__beside *beside)
{
	if (!beside)
		return;
	sl__hog_close(beside);
	if (beside->has_keeper) {
		sl__beside_do(beside, leave);
		pthread_mutex_lock(&beside->lock);
		beside->is_closing = 1;
		pthread_cond_broadcast(&beside->changed);
		pthread_mutex_unlock(&beside->lock);
		pthread_join(beside->keeper, NULL);
	}
	pthread_cond_destroy(&beside->changed);
	pthread_mutex_destroy(&beside->lock);
	sl__boxed_free(beside);
}

static void
wait_until_settled(struct sl__beside *beside)
{
	const struct sl__beside_peak *peak = &beside->peaks[0];
	uint64_t start_ns = sl__clock_now_ns(NULL);

	while ((double)(sl__clock_now_ns(NULL) - start_ns) < SETTLE_S * 1e9)
		(void)sl__rig_peak(&beside->rig, peak->kernel,
				   beside->n_threads, peak->n_rounds);
}

static void
probe_peak(struct sl__beside *beside, struct sl__beside_peak *peak)
{
	if (!peak->kernel)
		return;
	(void)sl__rig_peak(&beside->rig, peak->kernel, beside->n_threads,
			   peak->n_rounds / 4 + 1);
	for (int i = 0; i < PROBES; i++)
		keep(&peak->probed,
		     sl__rig_peak(&beside->rig, peak->kernel, beside->n_threads,
				  peak->n_rounds));
}

/* The first runs bring the set into its cache, or fill all caches with what
 * lies in memory. */
static void
probe_level(struct sl__beside *beside, struct sl__beside_level *level)
{
	int n_first = level->size_bytes == UINT64_MAX ? 2 : 1;

	for (int i = 0; i < n_first; i++)
		(void)sl__beside_stream(beside, &level->stretch);
	for (int i = 0; i < PROBES; i++)
		keep(&level->probed,
		     sl__beside_stream(beside, &level->stretch));
}

static void
probe_all(struct sl__beside *beside)
{
	wait_until_settled(beside);
	for (size_t i = 0; i < SL__BESIDE_PEAKS; i++)
		probe_peak(beside, &beside->peaks[i]);
	for (size_t i = 0; i < beside->n_levels; i++)
		probe_level(beside, &beside->levels[i]);
}

void
sl__beside_probe(struct sl__beside *beside)
{
	sl__beside_do(beside, probe_all);
}

static struct sl_estimate
decile_of(const struct sl__probed *probed)
{
	size_t n = probed->n_seen < SL__BESIDE_KEPT ? probed->n_seen
						    : SL__BESIDE_KEPT;
	double sorted[SL__BESIDE_KEPT];

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
sl__beside_ceilings(const struct sl__beside *beside, struct sl_ceilings *out)
{
	enum sl_dtype dtype = computed_as(beside->dtype);

	out->dtype = dtype;
	out->n_threads = beside->n_threads;
	out->flops_per_s = (struct sl_estimate){
		.value = (double)NAN, .lo = (double)NAN, .hi = (double)NAN};
	out->n_peaks = 0;
	for (size_t i = 0; i < SL__BESIDE_PEAKS; i++) {
		const struct sl__beside_peak *peak = &beside->peaks[i];
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
	out->n_levels = beside->n_levels;
	for (size_t i = 0; i < beside->n_levels; i++) {
		const struct sl__beside_level *level = &beside->levels[i];

		out->levels[i] = (struct sl_ceiling_level){
			.level = level->level,
			.size_bytes = level->size_bytes,
			.bytes_per_s = decile_of(&level->probed)};
	}
}

static void
evict(struct sl__beside *beside)
{
	struct sl__stretch stretch = {.access = SL_ACCESS_COPY,
				      .size_bytes = beside->evict_bytes,
				      .chunk_bytes = beside->evict_bytes,
				      .n_repeats = 1};

	(void)sl__rig_stream(&beside->rig, &stretch, beside->n_cpus);
}

void
sl__beside_evict(struct sl__beside *beside)
{
	sl__beside_do(beside, evict);
}
