/* SPDX-License-Identifier: Apache-2.0 */
/* decode_loop.h - the steps of a decoding loop, each planned and timed. */
#ifndef SL_DECODE_LOOP_H
#define SL_DECODE_LOOP_H

#include "experiment/decoder.h"
#include "result/decoding.h"
#include "timing/runner.h"

struct sl__decode_loop {
	struct sl__decoder decoder;
	struct sl__decode_timings raw;
	struct sl__weight_pin *pin; /* while it is measured; may be NULL */
};

struct sl__decode_loop_options {
	struct sl_plan_options plan; /* sizes are not looked at */
	int64_t prompt, n_tokens;    /* at least 1 each */
	double time_s;               /* for all loops */
	size_t n_rounds;             /* 0: by time */
	size_t n_positions;          /* 0: by time */
	uint64_t seed;               /* of the order */
	struct sl__runner_hooks control;
};

struct sl__decode_loop_outcome {
	size_t n_rounds; /* that were begun */
	struct sl_noise noise;
	enum sl_stop stopped_by;
};

/* The steps that are to be measured: of those that yield a token at most
 * n_positions, evenly spread, the last among them. */
void sl__decode_loop_choose_points(struct sl__decode_loop *loop, int64_t prompt,
				   int64_t n_tokens, size_t n_positions);

/*
 * Measures all loops, whose decoders are open.  Each visit makes a plan for
 * the sizes of one step, from weights that the visit before has left, and runs
 * it several times.  Where positions go by time, all are measured if there is
 * time for all, else as many as there is time for.  All steps of all loops
 * are visited once, in random order; where every one of them is measured, in
 * the order of the loop, each with the states that the one before handed back.
 * Then again in random order while there is time, and where it is by time,
 * visits that others disturbed are made again, for half as long at most: what
 * decides is what others did, never the time that was measured.  Storage is
 * from 'arena'.
 */
enum sl_status sl__decode_loops_measure(
	struct sl__decode_loop *loops, size_t n_loops,
	const struct sl__decode_loop_options *how, struct sl__arena *arena,
	struct sl__decode_loop_outcome *out, struct sl_error *err) SL_CHECKED;

/* What was measured of a loop, with what follows from its decoder. */
const struct sl__decode_timings *
sl__decode_loop_measurements(struct sl__decode_loop *loop);

#endif
