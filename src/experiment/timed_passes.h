/* SPDX-License-Identifier: Apache-2.0 */
/* timed_passes.h - a plan run over and over, bare and recorded in turn. */
#ifndef SL_TIMED_PASSES_H
#define SL_TIMED_PASSES_H

#include "experiment/calm_pairs.h"
#include "experiment/kept_passes.h"

enum {
	SL__PASSES_KEPT = 1 << 16, /* samples of a column; a power of two */
	SL__PASSES_ROWS = 256,     /* recorded passes whose steps are kept */
	SL__PASSES_SLOW = SL__KEPT_SLOW
};

struct sl__passes_options {
	double time_s;           /* budget; above 0 */
	double precision;        /* of the median of bare passes */
	size_t n_warmup, n_runs; /* fixed numbers of rounds; 0: detected */
	size_t n_slowest;        /* timelines kept, at most SL__PASSES_SLOW */
	uint64_t seed;           /* of the order in a round */
	void (*progress)(const struct sl_progress *now, void *ctx);
	void *progress_ctx;
	const volatile sig_atomic_t *interrupt;
};

/*
 * A round is a bare pass (or a stretch of them, where one is too short for
 * the clock) and as many recorded ones, in an order decided by a coin.  Where
 * what marks cost is felt, some rounds end with a pass that makes every mark
 * and one that makes every fourth.
 *
 * Invariants: times are nanoseconds.  Every span between two readings of the
 * clock has the cost of one reading taken off.  Sums are over the n_recorded
 * passes after warm-up; those of disturbed rounds are left out of them, unless
 * half of the rounds or more are disturbed.  rows[r * n_steps + s] is the time
 * of step s in some passes, left out or not, NaN where it did not run.
 */
struct sl__passes {
	struct sl__thinned bare;     /* time of a pass, rounds in order */
	struct sl__calm_pairs extra; /* recorded minus bare, by round; after
					warm-up where that is fixed */
	struct sl__calm_pairs mark;  /* with all marks minus with every
					fourth, per mark */
	struct sl__thinned cpu;      /* CPU time of the calling thread, bare */
	size_t calls_per_sample;
	size_t n_rounds;
	double first_ns;   /* the cold first pass */
	double reading_ns; /* one reading: the median of 'mark' where that is
			      known well enough, else the least of readings in
			      a row */
	double ticks_per_ns;

	size_t n_steps;
	size_t n_recorded, n_left_out;
	double wall_ns;    /* sum over recorded passes */
	double gaps_ns;    /* before the first step and after the last, sum */
	double *step_ns;   /* [n_steps] sums */
	uint64_t *n_calls; /* [n_steps] */
	double *step_min_ns, *step_max_ns;
	float *rows; /* [SL__PASSES_ROWS * n_steps] */
	size_t n_rows, row_stride;

	struct sl__keeper kept;
	uint64_t origin; /* ticks of the first recorded pass */

	struct sl_noise noise;
	double elapsed_s;
	enum sl_stop stopped_by;
};

/*
 * Runs the plan, whose inputs are set, first once cold and then in rounds
 * until the median of bare passes is known well enough or the time is spent;
 * at least two rounds.  Where these are few and leave open what recording
 * costs, up to twice the time.  Storage is from 'arena', reserved before the
 * first round and of a size that does not depend on how many there are.
 * SL_E_INTERRUPTED before the first round.
 */
enum sl_status sl__passes_take(struct sl__passes *out, struct sl_plan *plan,
			       const struct sl__passes_options *options,
			       struct sl__arena *arena,
			       struct sl_error *err) SL_CHECKED;

#endif
