/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ceiling.c - measuring what this machine can do.
 *
 * A machine shared with others does not have one speed.  So every figure
 * comes from short probes spread over several passes through all that is
 * measured: a disturbance of a second hits one pass of everything, not
 * everything of one figure.
 */
#include "machine/ceiling.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/status.h"
#include "machine/ceiling_measurement.h"

#include <math.h>
#include <time.h>

#include "base/banned.h"

enum {
	SMALLEST_BYTES = 4096,
	LEAST_MEMORY_BYTES = 1 << 26, /* where no cache was found */
	MOST_MEMORY_BYTES = 1 << 28
};

size_t
sl__ceiling_thread_counts(size_t *counts, size_t n_threads)
{
	size_t n = 0;

	for (size_t count = 1; count < n_threads && n + 1 < SL__MAX_COUNTS;
	     count *= 2)
		counts[n++] = count;
	counts[n++] = n_threads;
	return n;
}

size_t
sl__ceiling_working_set_sizes(size_t *sizes, size_t max_bytes)
{
	size_t n = 0;

	for (; n < SL__MAX_SIZES; n++) {
		double size = SMALLEST_BYTES * exp2((double)n / 2);
		size_t whole = (size_t)size & ~(size_t)255;

		if (size > (double)max_bytes)
			break;
		sizes[n] = whole;
	}
	return n;
}

size_t
sl__ceiling_max_working_set(const struct sl_cache *caches, size_t n_caches,
			    size_t n_threads, size_t limit_bytes)
{
	const struct sl_cache *last = n_caches ? &caches[n_caches - 1] : NULL;
	size_t n_used = 1, total = LEAST_MEMORY_BYTES;

	if (last) {
		n_used = last->n < n_threads ? last->n : n_threads;
		if (4 * last->size_bytes * n_used > total)
			total = 4 * last->size_bytes * n_used;
	}
	if (total > MOST_MEMORY_BYTES)
		total = MOST_MEMORY_BYTES;
	if (total > limit_bytes)
		total = limit_bytes;
	total /= n_threads;
	return total > SMALLEST_BYTES ? total : SMALLEST_BYTES;
}

/* Another pass begins when more than half of it should fit the time. */
static void
measure_passes(struct sl__ceiling_measurement *work)
{
	double budget_ns = work->plan->time_s * 1e9;

	work->start_ns = sl__clock_now_ns(NULL);
	while (work->n_passes < SL__MAX_PASSES) {
		double elapsed_ns;

		sl__ceiling_measurement_pass(work);
		if (work->interrupted)
			return;
		work->n_passes++;
		elapsed_ns = (double)(sl__clock_now_ns(NULL) - work->start_ns);
		if (elapsed_ns * (1 + 0.5 / (double)work->n_passes) > budget_ns)
			return;
	}
}

/* What lay under the buffers, from the share that is in huge pages. */
static enum sl_status
say_pages(struct sl_text_reading *out, double huge_share,
	  struct sl__arena *arena, struct sl_error *err)
{
	if (isnan(huge_share)) {
		out->absent = "not available: /proc/self/smaps_rollup";
		return SL_OK;
	}
	if (huge_share < 0.005)
		out->value = "small pages (huge pages were not granted)";
	else
		out->value = sl__arena_format(arena,
					      "huge pages (%.0f %% of them)",
					      100 * fmin(huge_share, 1));
	return out->value ? SL_OK : sl__fail_nomem(err);
}

static enum sl_status
conclude(struct sl_machine *m, const struct sl__ceiling_measurement *work,
	 struct sl__arena *arena, struct sl_error *err)
{
	uint64_t now_ns = sl__clock_now_ns(NULL);
	enum sl_status rc;

	if (work->n_passes == 0)
		return sl__fail(err, SL_E_INTERRUPTED,
				"interrupted in the first pass");
	m->max_threads = work->plan->n_threads;
	m->n_passes = work->n_passes;
	m->elapsed_s = (double)(now_ns - work->start_ns) * 1e-9;
	m->measured_at_s = (double)time(NULL);
	m->stopped_by = work->interrupted ? SL_STOP_INTERRUPT : SL_STOP_TIME;
	rc = say_pages(&m->buffer_pages, work->rig.huge_share, arena, err);
	if (rc)
		return rc;
	return sl__ceiling_measurement_result(m, work, err);
}

enum sl_status
sl__ceiling_measure(struct sl_machine *m,
		    const struct sl__ceiling_options *plan,
		    struct sl__arena *arena, struct sl_error *err)
{
	struct sl__ceiling_measurement *work;
	enum sl_status rc;

	work = sl__arena_alloc(arena, sizeof(*work));
	if (!work)
		return sl__fail_nomem(err);
#ifndef __OPTIMIZE__
	sl__log(plan->log, "this build is not optimised: ceilings are far "
			   "below what the machine can do");
#endif
	rc = sl__ceiling_measurement_open(work, plan, arena, err);
	if (rc)
		goto out;
	measure_passes(work);
	rc = conclude(m, work, arena, err);
out:
	sl__ceiling_measurement_close(work);
	return rc;
}
