/* SPDX-License-Identifier: Apache-2.0 */
/* layer_isolation.h - a layer timed within its model and alone, in turn. */
#ifndef SL_LAYER_ISOLATION_H
#define SL_LAYER_ISOLATION_H

#include "engine/observer.h"
#include "timing/runner.h"

/* The whole model and the layer alone, both ready to run. */
struct sl__layer_isolation_options {
	struct sl_plan *whole, *alone;
	const unsigned char *is_layer; /* by step of 'whole' */
	double time_s;
	size_t n_rounds; /* at most 4096; 0: by the time, at least 5 */
	uint64_t seed;   /* of the order in a round */
	struct sl__runner_hooks control; /* its clock is in place of ticks */
};

/* Times of one round each, nanoseconds; 'n' of them, in the arena. */
struct sl__layer_isolation_times {
	double *context_ns, *alone_ns;
	size_t n;
};

/*
 * A round is one iteration of the whole model, of which the layer's steps
 * count, and two of the layer alone, of which the second counts, in an order
 * decided by a coin.  The first two rounds do not count.  SL_E_INTERRUPTED when
 * told to stop before the third.
 */
enum sl_status
sl__layer_isolation_measure(struct sl__layer_isolation_times *out,
			    const struct sl__layer_isolation_options *what,
			    struct sl__arena *arena,
			    struct sl_error *err) SL_CHECKED;

#endif
