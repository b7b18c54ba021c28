/* SPDX-License-Identifier: Apache-2.0 */
/* model_rounds.h - models against the first, iteration by iteration in random
 * order. */
#ifndef SL_MODEL_ROUNDS_H
#define SL_MODEL_ROUNDS_H

#include "engine/observer.h"
#include "experiment/arm_test.h"
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
	double most_time_s; /* until then it may take longer, where models are
			       so long that time_s would hold too few rounds or
			       placements; 0: it may not */
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
	struct sl__event_buffer *events;    /* [iterations of a slot] */
	uint64_t *bounds;                   /* [2 * sub-slots] ticks */
	double *sums;                       /* [sub-slots * n_steps] */
	struct sl__iteration_times last;    /* slot; a step of 0 did not run */
	struct sl__iteration_times typical; /* of a group or placement */
	struct sl__recent_rounds recent;    /* of this placement */
	double *walls, *cpus;               /* [rounds that count] */
	float *rows; /* [SL__MODEL_ROUNDS_ROWS * n_steps] */
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
	size_t n_grouped; /* rounds that make one figure; 1: each does */
	double time_s;    /* it may take */
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
 * How many rounds make one figure of tests: as many as leave enough groups for
 * a verdict in the time, of rounds that take round_ns.  1 where a slot is
 * several iterations: its times are medians already.
 */
size_t sl__rounds_grouped(double time_s, double round_ns,
			  size_t iterations_per_slot);

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
