/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hog.c - memory kept busy on purpose.
 *
 * A thread on a CPU of its own writes through memory for as long as it is let;
 * plain stores read each line first, which makes the most traffic that a
 * thread can make.  What waits for memory then waits longer, what computes
 * does not; by how much is measured on pure work, since it is the machine's to
 * say how well it shares its memory and its last cache.
 */
#define _GNU_SOURCE
#include "base/pages.h"
#include "base/rng.h"
#include "base/status.h"
#include "machine/ceiling_probes_state.h"
#include "stats/summary.h"

#include <math.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>

#include "base/banned.h"

enum {
	HOG_BYTES = 1 << 26,       /* all of it written: no cache keeps much */
	HOG_STEP_BYTES = 1 << 17,  /* between two looks at the flag: 5 us */
	HOG_BEGUN_BYTES = 1 << 25, /* after which it counts as running */
	EFFECT_ROUNDS = 10,        /* even: as many of each order */
	COIN_SEED = 1
};

static const double EFFECT_PROBE_S = 0.5e-3;

struct sl__hog {
	struct sl__pages *pages;
	unsigned char *buffer;
	const struct sl__stream_kernels *streams;
	pthread_t thread;
	int is_running;
	int cpu;
	cpu_set_t caller_cpus;
	_Atomic int is_ending, has_begun;
};

static void *
hog_main(void *arg)
{
	struct sl__hog *hog = arg;
	sl__stream_function *run = hog->streams->run[SL_ACCESS_STORE];
	size_t at = 0;
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET((size_t)hog->cpu, &one);
	/* A refusal leaves it where the system puts it: still a hog. */
	(void)pthread_setaffinity_np(pthread_self(), sizeof(one), &one);
	while (!atomic_load_explicit(&hog->is_ending, memory_order_relaxed)) {
		struct sl__stream_arrays arrays = {
			.a = (double *)(void *)(hog->buffer + at),
			.n_bytes = HOG_STEP_BYTES};

		(void)run(&arrays);
		at = (at + HOG_STEP_BYTES) % HOG_BYTES;
		if (at == HOG_BEGUN_BYTES)
			atomic_store(&hog->has_begun, 1);
	}
	return NULL;
}

static enum sl_status
make_hog(struct sl__ceiling_probes *probes, struct sl_error *err)
{
	struct sl__hog *hog = sl__arena_alloc(probes->arena, sizeof(*hog));
	enum sl_status rc;

	if (!hog)
		return sl__fail_nomem(err);
	rc = sl__pages_new(&hog->pages, NULL, err);
	if (rc)
		return rc;
	hog->buffer = sl__pages_alloc(hog->pages, HOG_BYTES);
	if (!hog->buffer) {
		sl__pages_free(hog->pages);
		return sl__fail_nomem(err);
	}
	memset(hog->buffer, 1, HOG_BYTES);
	hog->streams = sl__stream_kernels_widest();
	probes->hog = hog;
	return SL_OK;
}

/* The last CPU of a set. */
static int
last_cpu(const cpu_set_t *cpus)
{
	int last = 0;

	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (CPU_ISSET((size_t)cpu, cpus))
			last = cpu;
	}
	return last;
}

/* Starts the thread; the caller stays where it is. */
static enum sl_status
let_loose(struct sl__hog *hog, struct sl_error *err)
{
	int error;

	atomic_store(&hog->is_ending, 0);
	atomic_store(&hog->has_begun, 0);
	error = pthread_create(&hog->thread, NULL, hog_main, hog);
	if (error)
		return sl__fail_errno(err, SL_E_NOMEM, error,
				      "cannot start a thread that keeps "
				      "memory busy");
	hog->is_running = 1;
	while (!atomic_load(&hog->has_begun))
		sched_yield();
	return SL_OK;
}

static void
tie_up(struct sl__hog *hog)
{
	atomic_store(&hog->is_ending, 1);
	pthread_join(hog->thread, NULL);
	hog->is_running = 0;
}

enum sl_status
sl__hog_start(struct sl__ceiling_probes *probes, size_t n_threads,
	      struct sl_error *err)
{
	struct sl__hog *hog;
	cpu_set_t others;
	enum sl_status rc;

	if (n_threads >= probes->n_cpus)
		return sl__fail(err, SL_E_ABSENT,
				"%zu threads leave none of %zu CPUs to spare",
				n_threads, probes->n_cpus);
	if (!probes->hog) {
		rc = make_hog(probes, err);
		if (rc)
			return rc;
	}
	hog = probes->hog;
	if (hog->is_running)
		return SL_OK;
	if (sched_getaffinity(0, sizeof(hog->caller_cpus), &hog->caller_cpus))
		return sl__fail(err, SL_E_ABSENT,
				"the CPUs of this thread are not known");
	others = hog->caller_cpus;
	hog->cpu = last_cpu(&others);
	CPU_CLR((size_t)hog->cpu, &others);
	if (!CPU_COUNT(&others) ||
	    pthread_setaffinity_np(pthread_self(), sizeof(others), &others))
		return sl__fail(err, SL_E_ABSENT,
				"this thread cannot be kept off a CPU");
	rc = let_loose(hog, err);
	if (rc)
		(void)pthread_setaffinity_np(pthread_self(),
					     sizeof(hog->caller_cpus),
					     &hog->caller_cpus);
	return rc;
}

void
sl__hog_stop(struct sl__ceiling_probes *probes)
{
	struct sl__hog *hog = probes->hog;

	if (!hog || !hog->is_running)
		return;
	tie_up(hog);
	(void)pthread_setaffinity_np(pthread_self(), sizeof(hog->caller_cpus),
				     &hog->caller_cpus);
}

void
sl__hog_close(struct sl__ceiling_probes *probes)
{
	sl__hog_stop(probes);
	if (probes->hog)
		sl__pages_free(probes->hog->pages);
	probes->hog = NULL;
}

/* One thread's pure work: seconds it takes, a rate turned round. */
struct pure {
	struct sl__rig rig; /* of one thread, since a team gathers all of its
			       members; the buffer is the other rig's */
	struct sl__hog *hog;
	const struct sl__peak_kernel *kernel;
	uint64_t n_rounds;
	struct sl__stream_range stretches[SL__HOG_KINDS - 1]; /* L2, L3, DRAM */
};

static double
stream_ns(struct pure *pure, struct sl__stream_range *stretch)
{
	double rate = sl__rig_run_stream(&pure->rig, stretch, 1);

	stretch->nth++;
	return 1e9 / rate;
}

static struct sl__stream_range
pure_stretch(struct pure *pure, size_t size_bytes, size_t chunk_bytes)
{
	struct sl__stream_range out = {.access = SL_ACCESS_LOAD,
				       .size_bytes = size_bytes,
				       .chunk_bytes = chunk_bytes,
				       .n_repeats = 1,
				       .is_flushed = chunk_bytes < size_bytes};
	double ns;

	(void)stream_ns(pure, &out);
	ns = stream_ns(pure, &out) * (double)chunk_bytes;
	if (ns > 0 && chunk_bytes == size_bytes)
		out.n_repeats = (size_t)fmax(1, EFFECT_PROBE_S * 1e9 / ns);
	return out;
}

static enum sl_status
open_pure(struct pure *pure, struct sl__ceiling_probes *probes,
	  struct sl_error *err)
{
	const size_t chunk = SL__MEMORY_CHUNK_BYTES;
	const size_t *sets = probes->sets.set_bytes;
	size_t l2 = sets[SL_LEVEL_L2];
	size_t l3 = sets[SL_LEVEL_L3] ? sets[SL_LEVEL_L3] : l2;
	enum sl_status rc = sl__team_new(&pure->rig.team, 1,
					 &probes->arena->allocator, err);

	if (rc)
		return rc;
	pure->hog = probes->hog;
	pure->rig.members = probes->rig.members;
	pure->rig.n_members = 1;
	pure->rig.streams = probes->rig.streams;
	pure->kernel = probes->peaks[0].kernel;
	pure->n_rounds = probes->peaks[0].n_rounds;
	pure->stretches[0] = pure_stretch(pure, l2, l2);
	pure->stretches[1] = pure_stretch(pure, l3, l3);
	pure->stretches[2] = pure_stretch(pure, 2 * chunk, chunk);
	return SL_OK;
}

static void
probe_pure(void *ctx, double ns[SL__HOG_KINDS])
{
	struct pure *pure = ctx;

	ns[0] = 1e9 /
		sl__rig_run_peak(&pure->rig, pure->kernel, 1, pure->n_rounds);
	for (size_t i = 0; i + 1 < SL__HOG_KINDS; i++) {
		(void)stream_ns(pure, &pure->stretches[i]);
		ns[i + 1] = stream_ns(pure, &pure->stretches[i]);
	}
}

static enum sl_status
start_background_pure(void *ctx, struct sl_error *err)
{
	struct pure *pure = ctx;

	return let_loose(pure->hog, err);
}

static void
stop_background_pure(void *ctx)
{
	struct pure *pure = ctx;

	tie_up(pure->hog);
}

/* One pair, in either order. */
static enum sl_status
probe_pair(const struct sl__hog_trial *trial, int hog_first,
	   double ratios[SL__HOG_KINDS], struct sl_error *err)
{
	double ns[2][SL__HOG_KINDS]; /* alone, with the hog */

	for (int half = 0; half < 2; half++) {
		int with_hog = half != !!hog_first;
		enum sl_status rc = with_hog ? trial->start(trial->ctx, err)
					     : SL_OK;

		if (rc)
			return rc;
		trial->probe(trial->ctx, ns[with_hog]);
		if (with_hog)
			trial->stop(trial->ctx);
	}
	for (size_t k = 0; k < SL__HOG_KINDS; k++)
		ratios[k] = ns[1][k] / ns[0][k];
	return SL_OK;
}

enum sl_status
sl__hog_compare(const struct sl__hog_trial *trial, struct sl__hog_effect *out,
		struct sl_error *err)
{
	double columns[SL__HOG_KINDS][EFFECT_ROUNDS], medians[SL__HOG_KINDS];
	struct sl__rng coin;
	int hog_first = 0;

	sl__rng_init(&coin, COIN_SEED);
	for (size_t n = 0; n < EFFECT_ROUNDS; n++) {
		double ratios[SL__HOG_KINDS];
		enum sl_status rc;

		hog_first = n % 2 ? !hog_first : sl__rng_coin(&coin);
		rc = probe_pair(trial, hog_first, ratios, err);
		if (rc)
			return rc;
		for (size_t k = 0; k < SL__HOG_KINDS; k++)
			columns[k][n] = ratios[k];
	}
	for (size_t k = 0; k < SL__HOG_KINDS; k++)
		medians[k] = sl__median_in_place(columns[k], EFFECT_ROUNDS);
	*out = (struct sl__hog_effect){.compute = medians[0],
				       .l2 = medians[1],
				       .l3 = medians[2],
				       .dram = medians[3]};
	return SL_OK;
}

/* Runs on the prober. */
static void
measure_effect(struct sl__ceiling_probes *probes)
{
	struct pure pure = {.n_rounds = 0};
	struct sl__hog_trial trial = {probe_pure, start_background_pure,
				      stop_background_pure, &pure};
	enum sl_status rc = open_pure(&pure, probes, &probes->no_effect);

	if (!rc)
		rc = sl__hog_compare(&trial, &probes->effect,
				     &probes->no_effect);
	if (rc)
		probes->effect.absent = probes->no_effect.text;
	sl__team_free(pure.rig.team);
}

void
sl__hog_effect(struct sl__ceiling_probes *probes, struct sl__hog_effect *out)
{
	double nan = (double)NAN;

	if (!probes->has_effect) {
		probes->has_effect = 1;
		probes->effect =
			(struct sl__hog_effect){nan, nan, nan, nan, NULL};
		/* Started once for its buffer and its CPU. */
		if (sl__hog_start(probes, 1, &probes->no_effect) == SL_OK) {
			sl__hog_stop(probes);
			sl__ceiling_probes_run_job(probes, measure_effect);
		} else {
			probes->effect.absent = probes->no_effect.text;
		}
	}
	*out = probes->effect;
}
