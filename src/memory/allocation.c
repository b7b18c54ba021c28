/* SPDX-License-Identifier: Apache-2.0 */
/*
 * allocation.c - sl_measure_function_memory(): what memory a function takes.
 *
 * Two ways to the same result.  With libsleuth-alloc every allocator call is
 * recorded: live bytes are exact relative to the baseline, which is the
 * allocator's own figure.  Without it a thread samples resident memory, and
 * what only the allocator could tell is absent.  All storage is reserved
 * before the function runs.
 */
#define _GNU_SOURCE
#include "sleuth/observing.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/reading.h"
#include "base/option_struct.h"
#include "base/status.h"
#include "memory/call_site.h"
#include "memory/interposer.h"
#include "memory/resource_usage.h"

#include <malloc.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/banned.h"

enum {
	SAMPLE_NS = 500000, /* a reading takes 1 us: 0.2 % of one CPU */
	/* 64 pages: the kernel counts pages per CPU in batches of 32, and
	 * the function and the sampler run on two. */
	RESIDENT_FLAT_BYTES = 64 * 4096,
	DEFAULT_SITES = 10,
	DEFAULT_DEPTH = 4
};

const char *
sl_memory_pattern_text(enum sl_memory_pattern pattern)
{
	static const char *const texts[] = {
		"flat",    "temporary copies", "sawtooth churn",
		"growing", "shrinking",        "spike"};

	return (unsigned)pattern <= SL_MEMORY_SPIKE ? texts[pattern]
						    : "unknown";
}

/* One measurement under way. */
struct memory_run {
	const struct sl_memory_options *how;
	sl_function *fn;
	void *ctx;
	struct sl_memory *m;
	struct sl__arena *arena;
	struct sl__live_series series;
};

static enum sl_status
check_options(const struct sl_memory_options *how, struct sl_error *err)
{
	if (how->site_depth > SL__SITE_DEPTH)
		return sl__fail(err, SL_E_USAGE,
				"%zu callers a site: at most %d are kept",
				how->site_depth, SL__SITE_DEPTH);
	if (how->method != SL_MEMORY_AUTO &&
	    how->method != SL_MEMORY_INTERPOSED &&
	    how->method != SL_MEMORY_RESIDENT)
		return sl__fail(err, SL_E_USAGE, "unknown method %d",
				(int)how->method);
	return SL_OK;
}

static enum sl_status
call(const struct memory_run *run, size_t n_calls, struct sl_error *err)
{
	for (size_t i = 0; i < n_calls; i++) {
		int failure = run->fn(run->ctx);

		if (failure)
			return sl__fail(err, SL_E_MEASURE,
					"call %zu returned %d", i + 1, failure);
	}
	return SL_OK;
}

/* The recorded calls, timed. */
static enum sl_status
call_recorded(const struct memory_run *run, struct sl_error *err)
{
	uint64_t start_ns = sl__clock_now_ns(NULL);
	enum sl_status rc = call(run, run->how->n_calls, err);

	run->m->elapsed_s = 1e-9 * (double)(sl__clock_now_ns(NULL) - start_ns);
	return rc;
}

static enum sl_status
reserve_points(struct memory_run *run, struct sl_error *err)
{
	struct sl_live_point *points =
		sl__arena_array(run->arena, SL__N_LIVE_POINTS, sizeof(*points));

	if (!points)
		return sl__fail_nomem(err);
	sl__live_series_init(&run->series, points, SL__N_LIVE_POINTS);
	return SL_OK;
}

static enum sl_status
name_pattern(const struct memory_run *run, double floor_bytes,
	     struct sl_error *err)
{
	struct sl_memory *m = run->m;
	struct sl__live_pattern shape;
	char evidence[256];

	sl__live_pattern_classify(&shape, &run->series, m->baseline_bytes,
				  m->final_bytes, floor_bytes);
	sl__live_pattern_evidence(evidence, sizeof(evidence), &shape);
	m->pattern = shape.pattern;
	m->evidence = sl__arena_string(run->arena, evidence);
	m->points = run->series.points;
	m->n_points = run->series.n;
	return m->evidence ? SL_OK : sl__fail_nomem(err);
}

static int
by_bytes(const void *a, const void *b)
{
	const struct sl__alloc_site *x = a, *y = b;

	if (x->allocated_bytes != y->allocated_bytes)
		return x->allocated_bytes < y->allocated_bytes ? 1 : -1;
	return (x->n_allocations < y->n_allocations) -
	       (x->n_allocations > y->n_allocations);
}

static enum sl_status
fill_site(struct sl_memory_site *to, const struct sl__alloc_site *from,
	  struct sl__arena *arena, struct sl_error *err)
{
	uintptr_t *addresses =
		sl__arena_array(arena, SL__SITE_DEPTH, sizeof(*addresses));

	if (!addresses)
		return sl__fail_nomem(err);
	while (to->n_addresses < SL__SITE_DEPTH &&
	       from->addresses[to->n_addresses]) {
		addresses[to->n_addresses] = from->addresses[to->n_addresses];
		to->n_addresses++;
	}
	to->addresses = addresses;
	to->n_allocations = from->n_allocations;
	to->allocated_bytes = from->allocated_bytes;
	to->where = sl__call_site_text(arena, addresses, to->n_addresses);
	return to->where ? SL_OK : sl__fail_nomem(err);
}

/* Sorts the record's table, so that the sites in use come first. */
static enum sl_status
fill_sites(const struct memory_run *run, struct sl__alloc_recording *record,
	   struct sl_error *err)
{
	size_t n_wanted = run->how->n_sites;
	struct sl_memory_site *sites;

	if (n_wanted > SL__N_SITES)
		n_wanted = SL__N_SITES;
	sites = sl__arena_array(run->arena, n_wanted, sizeof(*sites));
	if (!sites)
		return sl__fail_nomem(err);
	qsort(record->sites, SL__N_SITES, sizeof(record->sites[0]), by_bytes);
	run->m->sites = sites;
	for (size_t i = 0; i < n_wanted; i++) {
		if (!record->sites[i].n_allocations)
			break;
		enum sl_status rc = fill_site(&sites[i], &record->sites[i],
					      run->arena, err);

		if (rc)
			return rc;
		run->m->n_sites++;
	}
	return SL_OK;
}

static enum sl_status
fill_recorded(struct memory_run *run, struct sl__alloc_recording *record,
	      struct sl_error *err)
{
	struct sl_memory *m = run->m;
	enum sl_status rc;

	m->peak_bytes = m->baseline_bytes + (double)record->net_peak_bytes;
	m->final_bytes = m->baseline_bytes + (double)record->net_bytes;
	m->n_allocations = sl__present((double)record->n_allocations);
	m->n_frees = sl__present((double)record->n_frees);
	m->allocated_bytes = sl__present((double)record->allocated_bytes);
	m->freed_bytes = sl__present((double)record->freed_bytes);
	m->requested_bytes = sl__present((double)record->requested_bytes);
	m->n_unsited = sl__present((double)record->n_unsited);
	for (size_t i = 0; i < SL_MEMORY_N_SIZES; i++)
		m->n_by_size[i] = record->n_by_size[i];
	run->series = record->series;
	for (size_t i = 0; i < run->series.n; i++) {
		struct sl_live_point *point = &run->series.points[i];

		point->low_bytes += m->baseline_bytes;
		point->high_bytes += m->baseline_bytes;
		point->last_bytes += m->baseline_bytes;
	}
	rc = name_pattern(run, SL__FLAT_BYTES, err);
	if (rc)
		return rc;
	return fill_sites(run, record, err);
}

static enum sl_status
run_interposed(struct memory_run *run, const struct sl__interposer *interposer,
	       struct sl_error *err)
{
	struct sl__alloc_recording *record =
		sl__allocator_alloc(run->how->allocator, sizeof(*record));
	struct mallinfo2 heap;
	enum sl_status rc;

	if (!record)
		return sl__fail_nomem(err);
	memset(record, 0, sizeof(*record));
	record->site_depth = run->how->site_depth;
	record->series = run->series;
	heap = mallinfo2();
	run->m->method = SL_MEMORY_INTERPOSED;
	run->m->baseline_bytes = (double)(heap.uordblks + heap.hblkhd);
	if (!interposer->start(record)) {
		rc = sl__fail(err, SL_E_MEASURE,
			      "another measurement of memory is recording");
		goto out;
	}
	rc = call_recorded(run, err);
	interposer->stop();
	if (rc)
		goto out;
	rc = fill_recorded(run, record, err);
out:
	sl__allocator_free(run->how->allocator, record);
	return rc;
}

/* The sampling thread alone touches the series until it is joined. */
struct sampler {
	struct sl__live_series *series;
	_Atomic int state; /* 0: starting, 1: sampling, 2: told to end */
};

static void
sample_resident(struct sl__live_series *series)
{
	double bytes = (double)sl__resident_bytes();
	struct sl_live_point point = {1, bytes, bytes, bytes, 0};

	sl__live_series_add(series, &point);
}

static void *
sampler_main(void *arg)
{
	const struct timespec pause = {0, SAMPLE_NS};
	struct sampler *sampler = arg;

	do {
		sample_resident(sampler->series);
		if (!sampler->state)
			sampler->state = 1;
		nanosleep(&pause, NULL);
	} while (sampler->state != 2);
	return NULL;
}

/* Its stack must be resident before the baseline is read. */
static enum sl_status
start_sampler(struct sampler *sampler, pthread_t *thread, struct sl_error *err)
{
	int error = pthread_create(thread, NULL, sampler_main, sampler);

	if (error)
		return sl__fail_errno(err, SL_E_MEASURE, error,
				      "cannot start the sampling thread");
	while (!sampler->state)
		sched_yield();
	return SL_OK;
}

static void
fill_absent(struct sl_memory *m, const char *reason)
{
	struct sl_reading absent = sl__absent(reason);

	m->method = SL_MEMORY_RESIDENT;
	m->method_reason = reason;
	m->allocated_bytes = absent;
	m->freed_bytes = absent;
	m->requested_bytes = absent;
	m->n_allocations = absent;
	m->n_frees = absent;
	m->n_unsited = absent;
}

static enum sl_status
run_resident(struct memory_run *run, const char *reason, struct sl_error *err)
{
	struct sampler sampler = {.series = &run->series};
	struct sl__resource_usage before, after;
	struct sl_memory *m = run->m;
	pthread_t thread;
	enum sl_status rc;

	if (!sl__resident_bytes())
		return sl__fail(err, SL_E_ABSENT,
				"/proc/self/statm cannot be read");
	fill_absent(m, reason);
	rc = start_sampler(&sampler, &thread, err);
	if (rc)
		return rc;
	sl__resource_usage_read(&before, SL_SCOPE_MEMORY);
	rc = call_recorded(run, err);
	sl__resource_usage_read(&after, SL_SCOPE_MEMORY);
	sampler.state = 2;
	pthread_join(thread, NULL);
	if (rc)
		return rc;
	m->baseline_bytes = (double)before.resident_bytes;
	m->final_bytes = (double)after.resident_bytes;
	m->peak_bytes = (double)sl__resident_peak_between(&before, &after);
	for (size_t i = 0; i < run->series.n; i++)
		m->peak_bytes =
			fmax(m->peak_bytes, run->series.points[i].high_bytes);
	return name_pattern(run, RESIDENT_FLAT_BYTES, err);
}

static enum sl_status
run_measurement(struct memory_run *run, struct sl_error *err)
{
	const struct sl__interposer *interposer;
	const char *reason;
	enum sl_status rc;

	interposer = sl__interposer_find(&reason);
	if (run->how->method == SL_MEMORY_INTERPOSED && !interposer)
		return sl__fail(err, SL_E_ABSENT, "%s", reason);
	if (run->how->method == SL_MEMORY_RESIDENT) {
		interposer = NULL;
		reason = "asked for resident memory";
	}
	rc = reserve_points(run, err);
	if (rc)
		return rc;
	rc = call(run, run->how->n_warmup, err);
	if (rc)
		return rc;
	if (interposer)
		return run_interposed(run, interposer, err);
	return run_resident(run, reason, err);
}

enum sl_status
sl_measure_function_memory(struct sl_memory **out, sl_function *fn, void *ctx,
			   const struct sl_memory_options *options,
			   struct sl_error *err)
{
	struct sl_memory_options how;
	struct memory_run run = {.how = &how, .fn = fn, .ctx = ctx};
	enum sl_status rc = sl__options_copy(&how, sizeof(how), options,
					     "sl_memory_options", err);

	*out = NULL;
	if (!rc)
		rc = check_options(&how, err);
	if (rc)
		return rc;
	how.name = how.name ? how.name : "function";
	how.n_calls = how.n_calls ? how.n_calls : 1;
	how.n_sites = how.n_sites ? how.n_sites : DEFAULT_SITES;
	how.site_depth = how.site_depth ? how.site_depth : DEFAULT_DEPTH;
	run.m = sl__arena_object_new(&run.arena, how.allocator, sizeof(*run.m));
	if (!run.m)
		return sl__fail_nomem(err);
	run.m->n_calls = how.n_calls;
	run.m->name = sl__arena_string(run.arena, how.name);
	rc = run.m->name ? run_measurement(&run, err) : sl__fail_nomem(err);
	if (rc) {
		sl_memory_free(run.m);
		return sl__error_prefix(err, rc, how.name);
	}
	*out = run.m;
	return SL_OK;
}

void
sl_memory_free(struct sl_memory *m)
{
	sl__arena_object_free(m);
}
