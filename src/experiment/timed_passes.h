/* SPDX-License-Identifier: Apache-2.0 */
/* timed_passes.h - a plan run over and over, bare and recorded in turn. */
#ifndef SL_TIMED_PASSES_H
#define SL_TIMED_PASSES_H

#include "tape.h"

enum {
	SL__PASSES_KEPT = 1 << 16, /* samples of a column; a power of two */
	SL__PASSES_ROWS = 256,     /* recorded passes whose steps are kept */
	SL__PASSES_SLOW = 8        /* whole timelines of slow passes, at most */
};

/*
 * Samples in fixed memory: when all room is taken every second one goes and
 * only every 'stride'-th is kept from then on.  min, max, sum and n_seen are
 * over all of them.
 */
struct sl__thinned {
	double *x;
	size_t n, cap; /* cap is even */
	size_t stride, n_seen;
	double min, max, sum;
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

/* A recorded pass that is kept whole. */
struct sl__kept_pass {
	struct sl__tape tape;
	uint64_t begin, end; /* ticks */
	size_t nth;          /* recorded pass, from 0 */
};

/*
 * A round is a bare pass (or a stretch of them, where one is too short for
 * the clock) and as many recorded ones, in an order decided by a coin.
 *
 * Invariants: times are nanoseconds.  Every span between two readings of the
 * clock has the cost of one reading taken off.  Sums are over the n_recorded passes after warm-up; rows[r * n_steps +
 * s] is the time of step s in some of these, NaN where it did not run.
 */
struct sl__passes {
	struct sl__thinned bare;  /* time of a pass, rounds in order */
	struct sl__thinned extra; /* recorded minus bare, by round; after
				     warm-up where that is fixed, without
				     disturbed rounds where others are more */
	struct sl__thinned cpu;   /* CPU time of the calling thread, bare */
	size_t calls_per_sample;
	size_t n_rounds;
	double first_ns; /* the cold first pass */
	double reading_ns, ticks_per_ns;

	size_t n_steps;
	size_t n_recorded;
	double wall_ns;    /* sum over recorded passes */
	double gaps_ns;    /* before the first step and after the last, sum */
	double *step_ns;   /* [n_steps] sums */
	uint64_t *n_calls; /* [n_steps] */
	double *step_min_ns, *step_max_ns;
	float *rows; /* [SL__PASSES_ROWS * n_steps] */
	size_t n_rows, row_stride;

	struct sl__kept_pass first, median;
	struct sl__kept_pass slow[SL__PASSES_SLOW]; /* slowest first */
	size_t n_slow;
	uint64_t origin; /* ticks of the first recorded pass */

	struct sl_noise noise;
	double elapsed_s;
	enum sl_stop stopped_by;
};

/*
 * Runs the plan, whose inputs are set, first once cold and then in rounds
 * until the median of bare passes is known well enough or the time is spent;
 * at least two rounds.  Storage is from 'arena', reserved before the first
 * round and of a size that does not depend on how many there are.
 * SL_E_INTERRUPTED before the first round.
 */
enum sl_status sl__passes_take(struct sl__passes *out, struct sl_plan *plan,
			       const struct sl__passes_options *options,
			       struct sl__arena *arena,
			       struct sl_error *err) SL_CHECKED;

/* Storage for cap samples; 0, or 1 when out of memory. */
int sl__thinned_init(struct sl__thinned *t, size_t cap,
		     struct sl__arena *arena);
void sl__thinned_add(struct sl__thinned *t, double x);

#endif
