/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ceiling_result.c - from probes to ceilings.
 *
 * A ceiling is the ninth decile of its probes (of a latency, the first): high,
 * as a ceiling must be, and not the luckiest probe.  Its interval is that of
 * order statistics, which supposes independent probes.  The levels of memory
 * are the plateaus of the load curve, for every stream with as many threads,
 * and of the chase's own curve; a cache's figure comes from the middle of its
 * plateau, where neither neighbour helps or hinders, that of memory from the
 * largest sizes and, for streams, from probes made for it.
 */
#include "base/status.h"
#include "machine/ceiling_measurement.h"
#include "machine/flush.h"
#include "machine/plateau.h"
#include "stats/quantile.h"
#include "stats/summary.h"

#include <math.h>
#include <string.h>

#include "base/banned.h"

static const double DECILE = 0.9;
static const double ALPHA = 0.05;

static struct sl_estimate
decile_of(const double *x, size_t n, double q, double *scratch)
{
	memcpy(scratch, x, n * sizeof(*x));
	sl__sort(scratch, n);
	return sl__quantile_estimate(scratch, n, q, ALPHA);
}

static void
add_peaks(struct sl_peak *rows, size_t *n_rows,
	  const struct sl__ceiling_measurement *work, size_t kernel,
	  double *scratch)
{
	const struct sl__peak_kernel *k = &work->kernels[kernel];
	struct sl_peak row = {.dtype = k->dtype,
			      .isa = k->isa,
			      .n_bits = k->n_bits,
			      .absent = k->absent,
			      .is_hidden = k->absent && !k->is_lacking};

	if (k->absent) {
		row.ops_per_s = (struct sl_estimate){.value = (double)NAN,
						     .lo = (double)NAN,
						     .hi = (double)NAN};
		rows[(*n_rows)++] = row;
		return;
	}
	for (size_t i = 0; i < work->n_peaks; i++) {
		const struct sl__peak_job *job = &work->peaks[i];

		if (job->kernel != k || !job->series.n)
			continue;
		row.n_threads = job->n_threads;
		row.ops_per_s = decile_of(job->series.x, job->series.n, DECILE,
					  scratch);
		rows[(*n_rows)++] = row;
	}
}

/* Fast is high for a stream and low for a chase. */
static double
quantile_of(enum sl_access access)
{
	return access == SL_ACCESS_CHASE ? 1 - DECILE : DECILE;
}

static double
point_of(const struct sl__curve_job *job, size_t k, double *scratch)
{
	return decile_of(job->series[k].x, job->series[k].n,
			 quantile_of(job->access), scratch)
		.value;
}

static void
conclude_points(struct sl_memory_point *rows,
		const struct sl__ceiling_measurement *work, double *scratch)
{
	for (size_t i = 0; i < work->n_curves; i++) {
		const struct sl__curve_job *job = &work->curves[i];

		for (size_t k = 0; k < job->n_sizes; k++, rows++) {
			rows->access = job->access;
			rows->n_threads = job->n_threads;
			rows->size_bytes = work->sizes[k];
			rows->value = point_of(job, k, scratch);
		}
	}
}

static enum sl_status
find_plateaus(struct sl__plateaus *out,
	      const struct sl__ceiling_measurement *work,
	      const struct sl__curve_job *job, double *scratch,
	      struct sl_error *err)
{
	const struct sl__ceiling_options *plan = work->plan;
	double values[SL__MAX_SIZES];
	enum sl_status rc;
	size_t last;

	for (size_t k = 0; k < job->n_sizes; k++)
		values[k] = point_of(job, k, scratch);
	rc = sl__plateaus_find(out, values, job->n_sizes, work->arena, err);
	if (rc)
		return rc;
	last = work->sizes[job->n_sizes - 1];
	sl__plateaus_name(
		out, work->sizes, plan->caches, plan->n_caches, job->n_threads,
		sl__size_exceeds_caches(last,
					job->access == SL_ACCESS_CHASE
						? plan->chase_caches
						: plan->caches,
					plan->n_caches, job->n_threads));
	return SL_OK;
}

/* The decile over the middle half of a plateau's sizes, three at least; over
 * its last sizes where only memory lies behind it. */
static struct sl_estimate
plateau_estimate(const struct sl__curve_job *job, const struct sl__plateau *p,
		 double *scratch)
{
	size_t n_sizes = p->last - p->first + 1, n = 0;
	size_t n_kept = (n_sizes + 1) / 2;
	size_t first;

	if (n_kept < 3)
		n_kept = n_sizes < 3 ? n_sizes : 3;
	first = p->first + (n_sizes - n_kept) / 2;
	if (p->last + 1 == job->n_sizes)
		first = p->last + 1 - n_kept;
	for (size_t k = first; k < first + n_kept; k++) {
		const struct sl__probe_series *series = &job->series[k];

		memcpy(scratch + n, series->x, series->n * sizeof(double));
		n += series->n;
	}
	sl__sort(scratch, n);
	return sl__quantile_estimate(scratch, n, quantile_of(job->access),
				     ALPHA);
}

/* The plateaus of a curve as rows; memory is left to add_memory(). */
static void
add_levels(struct sl_memory_level *rows, size_t *n_rows,
	   const struct sl__ceiling_measurement *work,
	   const struct sl__curve_job *job, const struct sl__plateaus *plateaus,
	   double *scratch)
{
	int is_chase = job->access == SL_ACCESS_CHASE;

	for (size_t i = 0; i < plateaus->n; i++) {
		const struct sl__plateau *p = &plateaus->at[i];
		struct sl_memory_level *row = &rows[*n_rows];

		if (!is_chase && p->level == SL_LEVEL_DRAM)
			continue;
		(*n_rows)++;
		row->level = p->level;
		row->access = job->access;
		row->n_threads = job->n_threads;
		row->from_bytes = work->sizes[p->first];
		row->to_bytes = work->sizes[p->last];
		row->value = plateau_estimate(job, p, scratch);
		/* A store that hits the first cache reads no line. */
		row->traffic_per_byte =
			i == 0 ? 1 : sl__stream_traffic_ratio(job->access);
		if (is_chase)
			row->traffic_per_byte = (double)NAN;
	}
}

/* What a stream reaches beyond all caches, if its chunks did go there. */
static void
add_memory(struct sl_memory_level *rows, size_t *n_rows,
	   const struct sl__ceiling_measurement *work,
	   const struct sl__curve_job *job, double *scratch)
{
	const struct sl__ceiling_options *plan = work->plan;
	struct sl_memory_level *row = &rows[*n_rows];

	if (!job->memory.n ||
	    (!sl__flush_is_possible() &&
	     !sl__size_exceeds_caches(job->memory_bytes, plan->caches,
				      plan->n_caches, job->n_threads)))
		return;
	(*n_rows)++;
	row->level = SL_LEVEL_DRAM;
	row->access = job->access;
	row->n_threads = job->n_threads;
	row->from_bytes = job->memory_bytes;
	row->to_bytes = job->memory_bytes;
	row->value = decile_of(job->memory.x, job->memory.n, DECILE, scratch);
	row->traffic_per_byte = sl__stream_traffic_ratio(job->access);
}

static enum sl_status
conclude_levels(struct sl_memory_level *rows, size_t *n_rows,
		const struct sl__ceiling_measurement *work, double *scratch,
		struct sl_error *err)
{
	struct sl__plateaus plateaus = {.n = 0};
	enum sl_status rc = SL_OK;

	for (size_t i = 0; !rc && i < work->n_curves; i++) {
		const struct sl__curve_job *job = &work->curves[i];

		if (job->access == SL_ACCESS_LOAD ||
		    job->access == SL_ACCESS_CHASE)
			rc = find_plateaus(&plateaus, work, job, scratch, err);
		if (rc)
			break;
		add_levels(rows, n_rows, work, job, &plateaus, scratch);
		add_memory(rows, n_rows, work, job, scratch);
	}
	return rc;
}

enum sl_status
sl__ceiling_measurement_result(struct sl_machine *m,
			       const struct sl__ceiling_measurement *work,
			       struct sl_error *err)
{
	struct sl__arena *arena = work->arena;
	size_t most = 0, n_points = 0;
	struct sl_memory_level *levels;
	struct sl_memory_point *points;
	struct sl_peak *peaks;
	double *scratch;

	for (size_t i = 0; i < work->n_peaks; i++) {
		if (work->peaks[i].series.n > most)
			most = work->peaks[i].series.n;
	}
	for (size_t i = 0; i < work->n_curves; i++) {
		size_t n =
			work->curves[i].n_sizes * work->curves[i].series[0].n;

		if (n > most)
			most = n;
		n_points += work->curves[i].n_sizes;
	}
	scratch = sl__arena_array(arena, most, sizeof(*scratch));
	peaks = sl__arena_array(arena, work->n_peaks + work->n_kernels,
				sizeof(*peaks));
	points = sl__arena_array(arena, n_points, sizeof(*points));
	levels = sl__arena_array(arena, work->n_curves * (SL__MAX_PLATEAUS + 1),
				 sizeof(*levels));
	if (!scratch || !peaks || !points || !levels)
		return sl__fail_nomem(err);
	m->peaks = peaks;
	m->points = points;
	m->levels = levels;
	m->n_points = n_points;
	m->n_peaks = m->n_levels = 0;
	for (size_t k = 0; k < work->n_kernels; k++)
		add_peaks(peaks, &m->n_peaks, work, k, scratch);
	conclude_points(points, work, scratch);
	return conclude_levels(levels, &m->n_levels, work, scratch, err);
}
