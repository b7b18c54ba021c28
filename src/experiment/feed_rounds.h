/* SPDX-License-Identifier: Apache-2.0 */
/* feed_rounds.h - iterations of a plan, fed in several ways, in rounds. */
#ifndef SL_FEED_ROUNDS_H
#define SL_FEED_ROUNDS_H

#include "experiment/timed_iterations.h"

enum { SL__FEED_ARMS_MOST = 4 };

/* One way to feed iterations. */
struct sl__feed_arm {
	sl__feed_function *feed;   /* NULL: inputs stay as they are */
	void (*settle)(void *ctx); /* after a slot, off the clock: whatever
				      works on ahead comes to rest; NULL */
	void *ctx;                 /* of both */
	size_t n_drained; /* iterations of a slot before those on the clock: by
			     then nothing is left that was made while other
			     arms ran */
	size_t n_least;   /* iterations on the clock, at least */
	struct sl_plan *plan; /* that is run; NULL: that of the options */
};

struct sl__feed_rounds_options {
	struct sl_plan *plan;
	double time_s;
	double iteration_ns; /* about, of any arm */
	uint64_t seed;       /* of the orders */
	struct sl__runner_hooks control;
};

/*
 * Runs the arms in rounds of random order until the time is spent, and fills
 * ratios[k] for k above 0: what an iteration of arm k takes / one of arm 0, the
 * median over rounds.  n is 0 where there was no time for the rounds that an
 * interval needs, or an interrupt came before.  Storage is from 'scratch'.
 */
enum sl_status sl__feed_rounds_run(struct sl_estimate *ratios,
				   const struct sl__feed_arm *arms, size_t n,
				   const struct sl__feed_rounds_options *how,
				   struct sl__arena *scratch,
				   struct sl_error *err) SL_CHECKED;

#endif
