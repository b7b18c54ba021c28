/* SPDX-License-Identifier: Apache-2.0 */
/*
 * machine_csv.c - a machine as CSV.
 */
#include "base/buf.h"
#include "report/machine_page.h"
#include "report/result_csv.h"
#include "sleuth/machines.h"

#include <math.h>

#include "base/banned.h"

/* A line: what it is of, four counts (NaN: none) and the figure. */
static void
csv_line(struct sl_buf *out, const char *const texts[3], const double counts[4],
	 const char *unit, const struct sl_estimate *e, const char *absent)
{
	for (size_t i = 0; i < 3; i++)
		sl__csv_text(out, texts[i]);
	for (size_t i = 0; i < 4; i++)
		sl__csv_number(out, counts[i]);
	sl__csv_text(out, unit);
	sl__csv_number(out, e->value);
	sl__csv_number(out, e->lo);
	sl__csv_number(out, e->hi);
	sl__csv_number(out, e->n ? (double)e->n : (double)NAN);
	sl__csv_text(out, absent ? absent : "");
	sl__csv_end_line(out);
}

static const char *
unit_of(enum sl_access access)
{
	return access == SL_ACCESS_CHASE ? "ns" : "B/s";
}

static void
csv_peak(struct sl_buf *out, const struct sl_peak *p)
{
	const char *texts[] = {"peak", sl_dtype_text(p->dtype), p->isa};
	const double counts[] = {(double)p->n_bits,
				 p->absent ? (double)NAN : (double)p->n_threads,
				 (double)NAN, (double)NAN};

	csv_line(out, texts, counts, "op/s", &p->ops_per_s, p->absent);
}

static void
csv_level(struct sl_buf *out, const struct sl_memory_level *l)
{
	const char *texts[] = {"level", sl_access_text(l->access),
			       sl_level_text(l->level)};
	const double counts[] = {(double)NAN, (double)l->n_threads,
				 (double)l->from_bytes, (double)l->to_bytes};

	csv_line(out, texts, counts, unit_of(l->access), &l->value, NULL);
}

static void
csv_point(struct sl_buf *out, const struct sl_memory_point *p)
{
	const struct sl_estimate bare = {
		.value = p->value, .lo = (double)NAN, .hi = (double)NAN};
	const char *texts[] = {"point", sl_access_text(p->access), ""};
	const double counts[] = {(double)NAN, (double)p->n_threads,
				 (double)p->size_bytes, (double)p->size_bytes};

	csv_line(out, texts, counts, unit_of(p->access), &bare, NULL);
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
