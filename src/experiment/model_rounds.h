/* SPDX-License-Identifier: Apache-2.0 */
/* model_rounds.h - models against the first, iteration by iteration in random
 * order. */
#ifndef SL_MODEL_ROUNDS_H
#define SL_MODEL_ROUNDS_H

#include "engine/observer.h"
#include "experiment/step_pairing.h"
#include "stats/ensemble.h"
#include "timing/runner.h"
#include "sleuth/comparing.h"

enum {
	SL__MODEL_ROUNDS_ROWS = 512, /* rounds of which the steps are kept */
	SL__PLACEMENTS_ENOUGH = 6    /* to tell a layer from where it lies */
};

struct sl__model_arm;

/*
 * Makes the plans of arms anew, in memory that lies elsewhere, and sets
 * them; their steps and kernels stay the same.  *n_renewed is how many got a
 * new one, also where it fails: the others keep what they have, and it is not
 * called again.
 */
typedef enum sl_status sl__replan_function(struct sl__model_arm *arms, size_t n,
					   size_t *n_renewed, void *ctx,
					   struct sl_error *err);

struct sl__model_rounds_options {
	double time_s, margin, alpha; /* defaults filled in */
	size_t min_rounds;
	uint64_t seed;
	struct sl__runner_hooks control;
	sl__replan_function *renew; /* NULL: plans stay */
	void *renew_ctx;
	double renew_ns; /* what renewing takes, before it was done once */
};

/*
 * One of those who are compared.  The caller sets the first three; its inputs
 * are set and it can be run.  Times are nanoseconds of one iteration, with the
 * cost of readings taken off.
 */
struct sl__model_arm {
	struct sl__step_pairing_side side;
	struct sl_plan *plan; /* the same as side.plan */
	int64_t n_samples;    /* that times are divided by; above 0 */

	int n_threads;
	size_t n_steps;
	struct sl__event_buffer *events; /* [iterations of a slot] */
	uint64_t *bounds;                /* [2 * sub-slots] ticks */
	double *sums;                    /* [sub-slots * n_steps] */
	double wall_ns, cpu_ns;          /* of the last slot */
	double *step_ns;      /* [n_steps] of the last slot; 0: did not run */
	double *walls, *cpus; /* [rounds that count] */
	float *rows;          /* [SL__MODEL_ROUNDS_ROWS * n_steps] */
};

/* Arm i > 0 against arm 0. */
struct sl__arm_test {
	struct sl__ensemble ensemble; /* members by enum sl_comparison_basis */
	const char *absent[SL_N_COMPARISON_BASES]; /* why one is silent; NULL */
	struct sl__step_pairing pairing;
	unsigned char *is_tested;      /* [pairs] long enough, on both sides */
	struct sl__sign_count *counts; /* [pairs] */
	struct sl__sign_count *here;   /* [pairs] in this placement */
	size_t *n_slower, *n_faster;   /* [pairs] placements in which most
					  rounds lay beyond the margin */
	size_t placed_at
		[SL_N_COMPARISON_BASES]; /* rounds of each member when the
					  placement began */
	double *a_ns, *b_ns;             /* [pairs] scratch of a round */
	double *logs;                    /* [pairs] scratch */
	double decided_s;                /* NaN while open */
};

/*
 * Invariants: walls[], cpus[] and rows are over the same rounds, those that
 * count; rows hold every row_stride-th of these.
 */
struct sl__model_rounds {
	struct sl__model_arm *arms;
	struct sl__arm_test *tests; /* [n]; [0] is not used */
	size_t n;
	size_t n_calls, n_sub_slots; /* iterations of a sub-slot; of a slot */
	size_t n_taken, n_disturbed, n_left_out, n_counted;
	size_t n_placements; /* of plans in memory, in which a round counted */
	int is_placed;       /* verdicts rest on them: four can be had in two
				fifths of the time.  Else verdicts are about
				plans as they lie. */
	size_t cap_rounds;
	size_t n_rows, row_stride;
	double *scratch;     /* [cap_rounds] */
	struct sl__rng coin; /* decides ties */
	struct sl_noise noise;
	double elapsed_s;
	enum sl_stop stopped_by;
	struct sl_error renewal; /* why plans were no longer renewed; SL_OK:
				    nothing failed */
};

/* Iterations of a sub-slot, and sub-slots of a slot, which are an odd number.
 */
struct sl__slot_repeats {
	size_t n_calls, n_sub_slots;
};

/*
 * The shape of a slot, the same for all: one iteration of a millisecond or
 * more, or sub-slots of 50 us of the slowest, as many as a millisecond holds.
 *  More iterations where the fastest would be too short for the clock.  Times
 * of an iteration, and of a reading of the clock, in nanoseconds.
 */
struct sl__slot_repeats sl__slot_repeats_choose(double fastest_ns,
						double slowest_ns,
						double reading_ns);

/*
 * Where a plan's memory happens to lie moves its short layers by some percent.
 * A layer differs only if it does so in most placements, three of four at
 * least, and in none the other way.
 */
int sl__differs_in_most_placements(const struct sl__arm_test *test, size_t pair,
				   size_t n_placements);

/*
 * Runs the arms, which are the caller's, in rounds until every test is settled
 * or the time is spent; at least one round.  Warm-up iterations, at least two
 * of each, do not count.  Storage is from 'arena'.
 */
enum sl_status sl__model_rounds(struct sl__model_rounds *out,
				struct sl__model_arm *arms, size_t n,
				const struct sl__model_rounds_options *options,
				struct sl__arena *arena,
				struct sl_error *err) SL_CHECKED;

#endif
