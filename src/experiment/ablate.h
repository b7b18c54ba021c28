/* SPDX-License-Identifier: Apache-2.0 */
/* ablate.h - how fast a model is without some of its steps. */
#ifndef SL_ABLATE_H
#define SL_ABLATE_H

#include "engine/observer.h"
#include "result/ablation.h"
#include "timing/runner.h"

enum {
	SL__ABLATE_ROUNDS = 9,     /* the fewest whose 95 % interval leaves out
				      the smallest and the largest */
	SL__ABLATE_ROUNDS_FEW = 6, /* the fewest that have an interval: for the
				      first target */
	SL__ABLATE_ROUNDS_MOST = 1024
};

struct sl__ablate_options {
	double time_s;        /* for all targets together; above 0 */
	double iteration_ns;  /* a full iteration, about; above 0 */
	double reading_ns;    /* what a reading of ticks costs */
	uint64_t store_bytes; /* most that outputs may take; 0: 2^30 */
	uint64_t seed;        /* of the order of iterations */
	size_t n_rounds;      /* a fixed number; 0: by time */
	struct sl__runner_hooks control; /* its clock is in place of ticks */
};

/*
 * Measures how fast the model would be if the named steps took no time: they
 * do not run; while the clock stands, what they would have read is read, and
 * what they would have written put back from a copy.  Full and ablated
 * iterations of all targets take turns in a seeded order, one of each in a
 * round, and so do full ones in which the steps are timed; targets[] is the
 * order of importance, and where time is short the last ones are left out.
 * Without memory for the copies, or when interrupted before the first round,
 * targets are absent; where there is time for few rounds, nothing is timed but
 * whole iterations; a round that an interrupt cuts short does not count.
 * Reasons are from 'arena'.  The plan's inputs are set; afterwards a run gives
 * what it gave before.
 */
enum sl_status sl__ablate(struct sl__ablation *targets, size_t n,
			  struct sl_plan *plan,
			  const struct sl__ablate_options *how,
			  struct sl__arena *arena,
			  struct sl_error *err) SL_CHECKED;

#endif
