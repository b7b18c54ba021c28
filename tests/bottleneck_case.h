/* SPDX-License-Identifier: Apache-2.0 */
/* bottleneck_case.h - an operation by its answers to experiments, judged. */
#ifndef SL_TEST_BOTTLENECK_CASE_H
#define SL_TEST_BOTTLENECK_CASE_H

#include "harness.h"
#include "ideal_classes.h"

/* A machine of 2 threads: 200 GFLOP/s, 200, 100 and 20 GB/s. */
static const struct sl__step_evidence answering_machine = {
	.dtype = SL_DTYPE_F32,
	.n_threads = 2,
	.flops_per_s = 200e9,
	.bytes_per_s = {200e9, 100e9, 20e9},
	.size_bytes = {1e6, 16e6, (double)INFINITY},
	.step_ns = 1000,
	.hog = {2, 1.3, 1, 1},
};

/* An operation that takes 'ms' and answers experiments by these ratios: warm
 * and threads as speed-ups, cold and hog as slow-downs; 0: not made. */
struct answers {
	double ms, gflop, mb, warm, cold, hog, threads, spread;
};

static inline struct sl__step_evidence
case_of(struct answers a)
{
	struct sl__step_evidence c = answering_machine;
	double t = a.ms * 1e6;

	c.time_ns = c.least_ns = t;
	c.is_same_alone = a.threads > 0;
	c.flops = c.core_flops = a.gflop * 1e9;
	c.n_dependent = 1;
	c.n_bytes = a.mb * 1e6;
	for (int k = 0; k < SL_N_CONDITIONS; k++) {
		c.at_ns[k] = (double)NAN;
		c.spread[k] = a.spread;
	}
	c.at_ns[SL_CONDITION_IN_PLACE] = t;
	if (a.warm > 0)
		c.at_ns[SL_CONDITION_WARM] = t / a.warm;
	if (a.cold > 0)
		c.at_ns[SL_CONDITION_COLD] = t * a.cold;
	if (a.threads > 0)
		c.at_ns[SL_CONDITION_ALONE] = t * a.threads;
	if (a.hog > 0)
		c.at_ns[SL_CONDITION_HOGGED] =
			c.at_ns[SL_CONDITION_ALONE] * a.hog;
	return c;
}

static inline enum sl_bound
judge(struct answers a)
{
	struct sl__step_evidence c = case_of(a);
	struct sl__bound_scores s;
	double sum = 0;

	sl__bound_classes_score(&s, &c, ideal_classes());
	for (int b = 0; b < SL_N_BOUNDS; b++) {
		assert_true(s.probability[b] >= 0 && s.probability[b] <= 1);
		sum += s.probability[b];
		for (int k = 0; k < SL__N_EXPERIMENTS; k++)
			assert_true(s.costs[b][k] <= 0);
	}
	assert_near(sum, 1, 1e-9);
	return s.bound;
}

#endif
