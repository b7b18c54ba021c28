/* SPDX-License-Identifier: Apache-2.0 */
/*
 * machine_csv.c - a machine as CSV.
 */
#include "base/buf.h"
#include "report/machine_page.h"
#include "report/result_csv.h"

#include <math.h>

#include "base/banned.h"

static void
csv_count(struct sl_buf *out, size_t n)
{
	sl__csv_number(out, (double)n);
}

/* The fields from 'unit' on. */
static void
csv_figure(struct sl_buf *out, const char *unit, const struct sl_estimate *e,
	   const char *absent)
{
	sl__csv_text(out, unit);
	sl__csv_number(out, e->value);
	sl__csv_number(out, e->lo);
	sl__csv_number(out, e->hi);
	sl__csv_number(out, e->n ? (double)e->n : (double)NAN);
	sl__csv_text(out, absent ? absent : "");
	sl__csv_end(out);
}

static const char *
unit_of(enum sl_access access)
{
	return access == SL_ACCESS_CHASE ? "ns" : "B/s";
}

static void
csv_peak(struct sl_buf *out, const struct sl_peak *p)
{
	sl__csv_text(out, "peak");
	sl__csv_text(out, sl_dtype_text(p->dtype));
	sl__csv_text(out, p->isa);
	csv_count(out, p->n_bits);
	sl__csv_number(out, p->absent ? (double)NAN : (double)p->n_threads);
	sl__buf_text(out, ",,");
	csv_figure(out, "op/s", &p->ops_per_s, p->absent);
}

static void
csv_level(struct sl_buf *out, const struct sl_memory_level *l)
{
	sl__csv_text(out, "level");
	sl__csv_text(out, sl_access_text(l->access));
	sl__csv_text(out, sl_level_text(l->level));
	sl__buf_text(out, ",");
	csv_count(out, l->n_threads);
	csv_count(out, l->from_bytes);
	csv_count(out, l->to_bytes);
	csv_figure(out, unit_of(l->access), &l->value, NULL);
}

static void
csv_point(struct sl_buf *out, const struct sl_memory_point *p)
{
	const struct sl_estimate bare = {
		.value = p->value, .lo = (double)NAN, .hi = (double)NAN};

	sl__csv_text(out, "point");
	sl__csv_text(out, sl_access_text(p->access));
	sl__buf_text(out, ",,");
	csv_count(out, p->n_threads);
	csv_count(out, p->size_bytes);
	csv_count(out, p->size_bytes);
	csv_figure(out, unit_of(p->access), &bare, NULL);
}

void
sl__machine_csv(struct sl_buf *out, const void *result)
{
	const struct sl_machine *m = result;

	sl__buf_text(out, "kind,what,where,bits,threads,from_bytes,to_bytes,"
			  "unit,value,lo,hi,n,absent\n");
	for (size_t i = 0; i < m->n_peaks; i++)
		csv_peak(out, &m->peaks[i]);
	for (size_t i = 0; i < m->n_levels; i++)
		csv_level(out, &m->levels[i]);
	for (size_t i = 0; i < m->n_points; i++)
		csv_point(out, &m->points[i]);
}
