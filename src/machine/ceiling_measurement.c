/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ceiling_measurement.c - the probes behind the ceilings, listed and run.
 *
 * Every instruction set is run by one thread and by all, the widest of each
 * type by every number of threads between; likewise all streams by one and
 * by all, load and triad between.  On a curve a stream runs over its whole
 * size, once before it is timed, so that what fits a cache is in it.  DRAM is
 * measured by chunks that are flushed before they are timed: of a set four
 * times the cache enough survives in it to make a copy seem half again as fast
 * as it is from memory, and a larger one costs the time to clear its pages.
 */
#include "machine/ceiling_measurement.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/status.h"
#include "machine/flush.h"
#include "machine/plateau.h"

#include <math.h>
#include <string.h>

#include "base/banned.h"

enum {
	WARM_BYTES = 1 << 20,    /* at least, before a stream is timed */
	LARGE_BYTES = 1 << 23,   /* sizes above are probed half as often */
	MEMORY_SHARE = 8,        /* of the free memory, one part is used */
	DEFAULT_LINE_BYTES = 64, /* where the caches are not known */
	FEW_STEPS = 1024,        /* of a chase too large to be warmed */
	FIRST_ROUNDS = 1024,     /* of a peak before it is calibrated */
	/* Probes in a pass.  The interval of a ninth decile needs 36 in all
	 * (0.9^36 < 0.025): three passes of 12, and of 4 in each of the three
	 * sizes or more that a plateau has.  Chases go into every other
	 * pass, since their cycles take long to build. */
	PEAK_PROBES = 12,
	CURVE_PROBES = 4,
	MEMORY_PROBES = 12,
	CHASE_PROBES = 6
};

static const double PEAK_PROBE_S = 1e-3;
static const double CURVE_PROBE_S = 0.25e-3;

/* Streams measured by all numbers of threads. */
static int
is_basic(enum sl_access access)
{
	return access == SL_ACCESS_LOAD || access == SL_ACCESS_TRIAD ||
	       access == SL_ACCESS_TRIAD_NT;
}

static int
is_widest(const struct sl__ceiling_measurement *work, size_t i)
{
	for (size_t k = i + 1; k < work->n_kernels; k++) {
		if (work->kernels[k].dtype == work->kernels[i].dtype &&
		    !work->kernels[k].absent)
			return 0;
	}
	return 1;
}

static int
is_one_or_all(const struct sl__ceiling_measurement *work, size_t n_threads)
{
	return n_threads == 1 || n_threads == work->plan->n_threads;
}

static enum sl_status
new_series(struct sl__probe_series *out, size_t n_probes,
	   struct sl__arena *arena, struct sl_error *err)
{
	out->n = 0;
	out->x = sl__arena_array(arena, n_probes * SL__MAX_PASSES,
				 sizeof(*out->x));
	return out->x ? SL_OK : sl__fail_nomem(err);
}

static enum sl_status
list_peaks(struct sl__ceiling_measurement *work, struct sl_error *err)
{
	enum sl_status rc;

	work->n_kernels = sl__peak_kernels(work->kernels);
	work->peaks = sl__arena_array(work->arena,
				      work->n_kernels * work->n_counts,
				      sizeof(*work->peaks));
	if (!work->peaks)
		return sl__fail_nomem(err);
	for (size_t i = 0; i < work->n_kernels; i++) {
		for (size_t c = 0; c < work->n_counts; c++) {
			struct sl__peak_job *job = &work->peaks[work->n_peaks];

			if (work->kernels[i].absent ||
			    (!is_widest(work, i) &&
			     !is_one_or_all(work, work->counts[c])))
				continue;
			job->kernel = &work->kernels[i];
			job->n_threads = work->counts[c];
			rc = new_series(&job->series, PEAK_PROBES, work->arena,
					err);
			if (rc)
				return rc;
			work->n_peaks++;
		}
	}
	return SL_OK;
}

/* What the largest sizes of one number of threads may take together, so that
 * the buffers for all numbers stay within an eighth of the free memory. */
static size_t
limit_bytes(const struct sl__ceiling_measurement *work)
{
	return work->plan->free_bytes / MEMORY_SHARE / work->n_counts;
}

/* A cache serves streams from farther than a chase, whose cycles take longer to
 * build and to warm the larger they are. */
static size_t
chased_bytes(const struct sl__ceiling_measurement *work, size_t n_threads,
	     size_t largest)
{
	size_t enough = sl__ceiling_max_working_set(
		work->plan->chase_caches, work->plan->n_caches, n_threads,
		limit_bytes(work));

	return enough < largest ? enough : largest;
}

static enum sl_status
list_curve(struct sl__ceiling_measurement *work, enum sl_access access,
	   size_t n_threads, size_t largest, struct sl_error *err)
{
	struct sl__curve_job *job = &work->curves[work->n_curves];
	int is_chase = access == SL_ACCESS_CHASE;
	size_t sizes[SL__MAX_SIZES];
	enum sl_status rc;

	if (!is_chase && !sl__stream_kernels_widest()->run[access])
		return SL_OK;
	if (!is_basic(access) && !is_one_or_all(work, n_threads))
		return SL_OK;
	job->access = access;
	job->n_threads = n_threads;
	job->n_sizes = sl__ceiling_working_set_sizes(
		sizes,
		is_chase ? chased_bytes(work, n_threads, largest) : largest);
	job->memory_bytes = largest;
	job->series = sl__arena_array(work->arena, job->n_sizes,
				      sizeof(*job->series));
	if (!job->series)
		return sl__fail_nomem(err);
	for (size_t i = 0; i < job->n_sizes; i++) {
		rc = new_series(&job->series[i],
				is_chase ? CHASE_PROBES : CURVE_PROBES,
				work->arena, err);
		if (rc)
			return rc;
	}
	work->n_curves++;
	return new_series(&job->memory, MEMORY_PROBES, work->arena, err);
}

static void
say_if_short(const struct sl__ceiling_measurement *work)
{
	const struct sl__ceiling_options *plan = work->plan;
	const struct sl__curve_job *first = &work->curves[0];

	if (!sl__flush_is_possible() &&
	    !sl__size_exceeds_caches(first->memory_bytes, plan->caches,
				     plan->n_caches, first->n_threads))
		sl__log(plan->log,
			"too little memory is free to measure DRAM: an eighth "
			"of %zu MiB may be used",
			plan->free_bytes >> 20);
}

static enum sl_status
list_curves(struct sl__ceiling_measurement *work, size_t *buffer_bytes,
	    struct sl_error *err)
{
	const struct sl__ceiling_options *plan = work->plan;
	size_t n_all = work->n_counts * (SL_ACCESS_CHASE + 1);
	enum sl_status rc;

	work->curves =
		sl__arena_array(work->arena, n_all, sizeof(*work->curves));
	if (!work->curves)
		return sl__fail_nomem(err);
	for (size_t c = 0; c < work->n_counts; c++) {
		size_t n_threads = work->counts[c];
		size_t largest = sl__ceiling_max_working_set(
			plan->caches, plan->n_caches, n_threads,
			limit_bytes(work));

		if (c == 0) /* the other numbers have fewer of the same */
			(void)sl__ceiling_working_set_sizes(work->sizes,
							    largest);
		for (size_t r = 0; r < n_threads; r++) {
			if (buffer_bytes[r] < largest)
				buffer_bytes[r] = largest;
		}
		for (int a = 0; a <= SL_ACCESS_CHASE; a++) {
			rc = list_curve(work, (enum sl_access)a, n_threads,
					largest, err);
			if (rc)
				return rc;
		}
	}
	say_if_short(work);
	return SL_OK;
}

enum sl_status
sl__ceiling_measurement_open(struct sl__ceiling_measurement *work,
			     const struct sl__ceiling_options *plan,
			     struct sl__arena *arena, struct sl_error *err)
{
	size_t *buffer_bytes;
	enum sl_status rc;

	memset(work, 0, sizeof(*work));
	work->plan = plan;
	work->arena = arena;
	work->n_counts =
		sl__ceiling_thread_counts(work->counts, plan->n_threads);
	if (plan->n_caches) {
		work->last_cache_bytes =
			plan->caches[plan->n_caches - 1].size_bytes;
		work->last_chased_bytes =
			plan->chase_caches[plan->n_caches - 1].size_bytes;
	}
	buffer_bytes =
		sl__arena_array(arena, plan->n_threads, sizeof(*buffer_bytes));
	if (!buffer_bytes)
		return sl__fail_nomem(err);
	rc = list_peaks(work, err);
	if (rc)
		return rc;
	rc = list_curves(work, buffer_bytes, err);
	if (rc)
		return rc;
	return sl__rig_open(&work->rig, plan->n_threads, buffer_bytes, arena,
			    err);
}

void
sl__ceiling_measurement_close(struct sl__ceiling_measurement *work)
{
	sl__rig_close(&work->rig);
}

static void
keep(struct sl__probe_series *series, double x)
{
	series->x[series->n++] = x;
}

/* Reports progress between jobs; returns whether to stop. */
static int
between_jobs(struct sl__ceiling_measurement *work)
{
	const struct sl__ceiling_options *plan = work->plan;
	uint64_t elapsed_ns = sl__clock_now_ns(NULL) - work->start_ns;
	double left_s = fmax(plan->time_s - (double)elapsed_ns * 1e-9, 0);
	struct sl_progress now = {.what = "measuring ceilings",
				  .n_done = work->n_passes,
				  .share = 1 - left_s / plan->time_s,
				  .remaining_s = left_s,
				  .median_ns = (double)NAN};

	if (plan->progress)
		plan->progress(&now, plan->progress_ctx);
	if (plan->interrupt && *plan->interrupt)
		work->interrupted = 1;
	return work->interrupted;
}

/* Rounds that take PEAK_PROBE_S at a rate in operations a second. */
static uint64_t
rounds_at(const struct sl__peak_job *job, double rate)
{
	double rounds_per_s =
		rate / (double)job->n_threads / job->kernel->ops_per_round;

	return (uint64_t)fmax(
		1, fmin(PEAK_PROBE_S * rounds_per_s, SL__MAX_PEAK_ROUNDS));
}

/*
 * The first run of each pass lets the clock settle for the instruction set
 * and is not kept, except that a faster one than before makes the probes
 * longer: a run that was interrupted must not leave them too short.
 */
static void
run_peak(struct sl__ceiling_measurement *work, struct sl__peak_job *job)
{
	struct sl__rig *rig = &work->rig;

	if (!job->n_rounds)
		job->n_rounds = FIRST_ROUNDS;
	for (;;) {
		double rate = sl__rig_run_peak(rig, job->kernel, job->n_threads,
					       job->n_rounds);
		uint64_t wanted = rounds_at(job, rate);
		int was_short = job->n_rounds < wanted / 2;

		if (wanted > job->n_rounds)
			job->n_rounds = wanted;
		if (!was_short)
			break;
	}
	for (size_t i = 0; i < PEAK_PROBES; i++)
		keep(&job->series,
		     sl__rig_run_peak(rig, job->kernel, job->n_threads,
				      job->n_rounds));
}

static void
run_stream(struct sl__ceiling_measurement *work,
	   const struct sl__curve_job *job, size_t k)
{
	size_t size = work->sizes[k];
	size_t least = (WARM_BYTES + size - 1) / size;
	size_t n_probes = size > LARGE_BYTES ? CURVE_PROBES / 2 : CURVE_PROBES;
	struct sl__stream_range stretch = {.access = job->access,
					   .size_bytes = size,
					   .chunk_bytes = size,
					   .n_repeats = least};
	double rate = sl__rig_run_stream(&work->rig, &stretch, job->n_threads);
	double one_s = (double)size * (double)job->n_threads / rate;

	if (CURVE_PROBE_S / one_s > (double)least)
		stretch.n_repeats = (size_t)(CURVE_PROBE_S / one_s);
	for (size_t i = 0; i < n_probes; i++)
		keep(&job->series[k],
		     sl__rig_run_stream(&work->rig, &stretch, job->n_threads));
}

/* Chunk after chunk, each flushed first.  The chunks before, twice the last
 * cache in all, fill the caches with their like: what plain stores left there
 * must be pushed out meanwhile. */
static void
run_memory(struct sl__ceiling_measurement *work, struct sl__curve_job *job)
{
	size_t chunk = job->memory_bytes / 2 < SL__CHUNK_BYTES
			       ? job->memory_bytes / 2
			       : SL__CHUNK_BYTES;
	size_t n_warm = 1 + 2 * work->last_cache_bytes / (chunk + 1);
	struct sl__stream_range stretch = {.access = job->access,
					   .size_bytes = job->memory_bytes,
					   .chunk_bytes = chunk,
					   .n_repeats = 1};

	for (size_t i = 0; i < n_warm + MEMORY_PROBES; i++) {
		double rate;

		stretch.is_flushed = i >= n_warm;
		stretch.nth = job->next_chunk++;
		rate = sl__rig_run_stream(&work->rig, &stretch, job->n_threads);
		if (i >= n_warm)
			keep(&job->memory, rate);
	}
}

static void
run_chase(struct sl__ceiling_measurement *work, const struct sl__curve_job *job,
	  size_t k, size_t line_bytes)
{
	size_t n_lines = work->sizes[k] / line_bytes;
	size_t n_warm = n_lines;
	double ns;

	sl__rig_chase_grow(&work->rig, job->n_threads, n_lines);
	if (work->sizes[k] > 2 * work->last_chased_bytes || n_warm < FEW_STEPS)
		n_warm = FEW_STEPS;
	ns = sl__rig_run_chase(&work->rig, job->n_threads, n_warm);
	for (size_t i = 0; i < CHASE_PROBES; i++)
		keep(&job->series[k],
		     sl__rig_run_chase(&work->rig, job->n_threads,
				       1 + (size_t)(CURVE_PROBE_S * 1e9 / ns)));
}

static void
run_curve(struct sl__ceiling_measurement *work, struct sl__curve_job *job)
{
	const struct sl__ceiling_options *plan = work->plan;
	size_t line_bytes = DEFAULT_LINE_BYTES;

	if (job->access != SL_ACCESS_CHASE) {
		for (size_t k = 0; k < job->n_sizes; k++)
			run_stream(work, job, k);
		run_memory(work, job);
		return;
	}
	if (work->n_passes % 2)
		return;
	if (plan->n_caches && plan->caches[0].line_bytes >= sizeof(void *))
		line_bytes = plan->caches[0].line_bytes;
	sl__rig_chase_start(&work->rig, line_bytes);
	for (size_t k = 0; k < job->n_sizes; k++)
		run_chase(work, job, k, line_bytes);
}

void
sl__ceiling_measurement_pass(struct sl__ceiling_measurement *work)
{
	for (size_t i = 0; i < work->n_peaks; i++) {
		if (between_jobs(work))
			return;
		run_peak(work, &work->peaks[i]);
	}
	for (size_t i = 0; i < work->n_curves; i++) {
		if (between_jobs(work))
			return;
		run_curve(work, &work->curves[i]);
	}
}
