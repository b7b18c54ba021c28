/* SPDX-License-Identifier: Apache-2.0 */
/* roofline.h - the bounds of a machine over arithmetic intensity. */
#ifndef SL_ROOFLINE_H
#define SL_ROOFLINE_H

#include "report/doc.h"
#include "sleuth/machines.h"
#include "sleuth/profiling.h"

enum { SL__MAX_ROOF_LINES = 8 };

struct sl__roof_line {
	const char *name;
	double value; /* operations/s of a peak, bytes/s of a slope */
};

/*
 * What n_threads can reach at i operations a byte is min(peak, slope * i)
 * (Williams, Waterman and Patterson 2009).  Slopes lie from the fastest level
 * to DRAM, peaks from the highest; those not measured are left out.  The
 * window spans x and y in log2 and holds every ridge.
 */
struct sl__roofline {
	size_t n_threads;
	struct sl__roof_line peaks[SL__MAX_ROOF_LINES];
	size_t n_peaks;
	struct sl__roof_line slopes[SL__MAX_ROOF_LINES];
	size_t n_slopes;
	double x_lo, x_hi, y_lo, y_hi;
};

/* Returns 0 when a peak or every slope is missing: nothing can be drawn. */
int sl__roofline_of_machine(struct sl__roofline *out,
			    const struct sl_machine *m, size_t n_threads);

/* Likewise of what it reached beside a model. */
int sl__roofline_of_ceilings(struct sl__roofline *out,
			     const struct sl_ceilings *c);

/* Bytes/s of the lowest slope (DRAM, where it was reached). */
const struct sl__roof_line *
sl__roofline_lowest_slope(const struct sl__roofline *r);

/* A drawing of n_columns characters' width. */
void sl__roofline_draw(struct sl__doc *doc, const struct sl__roofline *r,
		       size_t n_columns);

#endif
