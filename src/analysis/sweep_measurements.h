/* SPDX-License-Identifier: Apache-2.0 */
/* sweep_measurements.h - a sweep under way, and what is made of it. */
#ifndef SL_SWEEP_MEASUREMENTS_H
#define SL_SWEEP_MEASUREMENTS_H

#include "base/arena.h"
#include "result/sweep_laws.h"

enum { SL__SWEEP_KINDS_MOST = 48, SL__SWEEP_VISITS_MOST = 20 };

/* Operations of one kind, over points and visits. */
struct sl__sweep_kind_times {
	enum sl_sweep_kind kind;
	const char *type; /* where that is a type; NULL */
	double *ns;    /* [n_points * n_visits] of an iteration; 0: not met */
	double *flops; /* [n_points] executed, of an iteration */
};

/*
 * One model while it is measured.  Rows of visits are n_visits long, of which
 * the first points[i].n_visits were made.
 */
struct sl__sweep_measurements {
	struct sl_sweep_point *points;
	size_t n_points, n_visits;
	struct sl_estimate
		*medians;    /* [n_points * n_visits] of an iteration, ns */
	double *disturbance; /* [n_points * n_visits] of CPU time, taken by
				others */
	size_t *iterations;  /* [n_points * n_visits] */
	double *joules;      /* [n_points * n_visits] of an iteration; NaN: no
				reading */
	double *needs;       /* [n_points] parameters and live set */
	double *executed;    /* [n_points] FLOPs of an iteration */
	double *compute; /* [n_points] ns that the arithmetic takes at least;
				NaN: no ceilings */
	double *bounds;  /* [n_points] ns by the roofline; NaN */
	double *tokens;  /* [n_points] samples x seq; NaN: none */
	struct sl__sweep_kind_times kinds[SL__SWEEP_KINDS_MOST];
	size_t n_kinds;
	int64_t batch;
};

/*
 * Enters a visit as the nth of a point, with joules of an iteration (NaN: no
 * reading).  Where there is one already, the less disturbed of the two stays.
 * Returns whether the new one counts.
 */
int sl__sweep_enter(struct sl__sweep_measurements *work, size_t point,
		    size_t nth, const struct sl_profile *p, double joules);

/* Takes what a profile says of a point and what does not change from visit to
 * visit, in the place of what was taken before; words are the profile's. */
void sl__sweep_fill_point(struct sl__sweep_measurements *work, size_t point,
			  const struct sl_profile *p);

/* Makes figures of the points from their visits, and finds the knee. */
void sl__sweep_summarize_points(struct sl_sweep_series *series,
				struct sl__sweep_measurements *work,
				enum sl_axis axis);

/* How much a visit was disturbed. */
double sl__sweep_disturbance(const struct sl_noise *noise);

/* Puts the operations of one visit to a point in the place of 'visit'. */
enum sl_status sl__sweep_kinds_add(struct sl__sweep_measurements *work,
				   size_t point, size_t visit,
				   const struct sl_profile *p,
				   struct sl__arena *arena,
				   struct sl_error *err) SL_CHECKED;

/* Fills exponents: of time, of kinds that matter, of memory and FLOPs. */
enum sl_status
sl__sweep_fit_exponents(struct sl_sweep_series *out,
			const struct sl__sweep_measurements *work,
			enum sl_axis axis, struct sl__arena *arena,
			struct sl_error *err) SL_CHECKED;

#endif
