/* SPDX-License-Identifier: Apache-2.0 */
/* iteration_times.h - the times of a plan that ran over and over. */
#ifndef SL_ITERATION_TIMES_H
#define SL_ITERATION_TIMES_H

#include "result/traced_iterations.h"
#include "stats/calm_pairs.h"

enum {
	SL__ITERATIONS_KEPT = 1 << 16, /* samples of a column; a power of two */
	SL__ITERATIONS_ROWS =
		256, /* recorded iterations whose steps are kept */
	SL__ITERATIONS_SLOW = SL__KEPT_SLOW
};

/*
 * A round is a bare iteration (or a stretch of them, where one is too short for
 * the clock) and as many recorded ones, in an order decided by a coin.  Where
 * what marks cost is felt, some rounds end with an iteration that makes every
 * mark and one that makes every fourth.
 *
 * Invariants: times are nanoseconds.  Every span between two readings of the
 * clock has the cost of one reading taken off.  Sums are over the n_recorded
 * iterations after warm-up; those of disturbed rounds are left out of them,
 * unless half of the rounds or more are disturbed.  rows[r * n_steps + s] is
 * the time of step s in some iterations, left out or not, NaN where it did not
 * run.  Where iterations are fed, the last step is that, and the others are the
 * plan's.
 */
struct sl__timed_iterations {
	struct sl__thinned bare;     /* time of an iteration, rounds in order */
	struct sl__thinned hit;      /* 1 where something disturbed it */
	struct sl__calm_pairs extra; /* recorded minus bare, by round; after
					warm-up where that is fixed */
	struct sl__calm_pairs mark;  /* with all marks minus with every
					fourth, per mark */
	struct sl__thinned cpu;      /* CPU time of the calling thread, bare */
	size_t calls_per_sample;
	size_t n_rounds;
	double first_ns;   /* the cold first iteration */
	double reading_ns; /* one reading: the median of 'mark' where that is
			      known well enough, else the least of readings in
			      a row */
	double ticks_per_ns;

	size_t n_steps;
	size_t n_recorded, n_left_out;
	double wall_ns;    /* sum over recorded iterations */
	double gaps_ns;    /* before the first step and after the last, sum */
	double *step_ns;   /* [n_steps] sums */
	uint64_t *n_calls; /* [n_steps] */
	double *step_min_ns, *step_max_ns;
	float *rows; /* [SL__ITERATIONS_ROWS * n_steps] */
	size_t n_rows, row_stride;

	struct sl__traced_iterations kept;
	uint64_t origin; /* ticks of the first recorded iteration */

	struct sl_noise noise;
	double elapsed_s;
	enum sl_stop stopped_by;
};

#endif
