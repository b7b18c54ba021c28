/* SPDX-License-Identifier: Apache-2.0 */
/* ablation.h - how fast a model is without some of its steps. */
#ifndef SL_ABLATION_H
#define SL_ABLATION_H

#include "sleuth/basics.h"

/* The caller names the steps; the rest is what came out. */
struct sl__ablation {
	const size_t *steps; /* of the plan; borrowed */
	size_t n_steps;
	double share; /* of an iteration, about: how long one without it
				     will take */
	struct sl_estimate limit; /* full / ablated: median over rounds */
	struct sl_estimate recorded_share; /* of an iteration in which steps
					      are timed, in the same rounds */
	struct sl_estimate recorded_more;  /* what that takes longer than a full
					      one, of which it is a share */
	double full_ns,
		ablated_ns; /* medians of an iteration; NaN: not measured */
	uint64_t n_bytes;   /* of the stored outputs */
	const char *absent; /* why there is no limit; NULL */
};

#endif
