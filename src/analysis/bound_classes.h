/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bound_classes.h - bounds told apart by kernels of this machine that have them.
 *
 * Every bound has a class: where the responses of kernels that it bounds lie,
 * and how far apart.  An operation resembles a class by Student's density of
 * its responses around it (4 degrees of freedom), with the noise of its own
 * measurement added; flat priors, and a class "none of these" that is flat over
 * all that can be answered, give each bound its probability.
 */
#ifndef SL_BOUND_CLASSES_H
#define SL_BOUND_CLASSES_H

#include "analysis/bottleneck.h"

/* By experiment. */
struct sl__bound_class {
	double location[SL__N_EXPERIMENTS], variance[SL__N_EXPERIMENTS];
};
struct sl__bound_classes {
	struct sl__bound_class at[SL_N_BOUNDS];
};

/* What a kernel answered whose bound is known. */
struct sl__known_response {
	struct sl__bottleneck_evidence evidence;
	enum sl_bound bound;
	size_t kernel; /* of one size; below the number of responses */
	int is_repeat; /* the kernel is in the list before */
};

/* The classes as this machine's known kernels have them; with none of these
 * as pure kernels answer on any machine.  Storage from 'arena' is scratch. */
enum sl_status sl__bound_classes_fit(struct sl__bound_classes *out,
				     const struct sl__known_response *known,
				     size_t n, struct sl__arena *arena,
				     struct sl_error *err) SL_CHECKED;

/* Of an operation that is on no reference path.  Costs are half the squared
 * distance from a class in each response, 4 at most; the probability of UNKNOWN
 * is that of none of these.  All 0 where there are no ceilings. */
void sl__bound_classes_score(struct sl__bound_scores *out,
			     const struct sl__bottleneck_evidence *c,
			     const struct sl__bound_classes *classes);

#endif
