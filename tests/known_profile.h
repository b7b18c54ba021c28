/* SPDX-License-Identifier: Apache-2.0 */
/* known_profile.h - a profile of three operations, made up. */
#ifndef SL_TEST_KNOWN_PROFILE_H
#define SL_TEST_KNOWN_PROFILE_H

#include "harness.h"
#include "sleuth.h"

/*
 * Iterations of 10 us: 1 us of gap, then 4, 3 and 1.5 us, and 0.5 us of gap.
 *  The first one is also the slowest, at twice that; the second slowest is one
 * and a half times the median one.
 */
struct known_profile {
	struct sl_profile profile;
	struct sl_operation operations[3];
	struct sl_trace_iteration iterations[4];
	struct sl_trace_event events[4][4];
	struct sl_memory_moment moments[3];
};

static inline void
known_pass(struct known_profile *k, size_t i, enum sl_kept why, double scale)
{
	const double at[] = {1000, 5000, 8000, 9500};

	for (size_t m = 0; m < 4; m++) {
		k->events[i][m].operation = m < 3 ? m : SIZE_MAX;
		k->events[i][m].start_ns = at[m] * scale;
	}
	k->iterations[i] = (struct sl_trace_iteration){
		.why = why,
		.nth = i,
		.start_ns = 1e6 * (double)i,
		.wall_ns = 10000 * scale,
		.events = k->events[i],
		.n_events = 4,
	};
}

static inline void
known_profile(struct known_profile *k)
{
	const struct sl_operation ops[] = {
		{.name = "features.0.conv",
		 .type = "Conv",
		 .kernel = "jit",
		 .module = "features/0/conv",
		 .path = SL_PATH_DNNL,
		 .part = SL_PART_CONVOLUTION,
		 .step = 0,
		 .n_calls = 1,
		 .parameters = 10,
		 .output_shape = "1x8x4x4",
		 .self_ns = 4000,
		 .share = 0.5,
		 .core_flops = 8000,
		 .nominal_flops = 8128,
		 .executed_flops = 6000,
		 .n_bytes = 512,
		 .judgement = {.bound = SL_BOUND_COMPUTE}},
		{.name = "features.1.relu",
		 .type = "Relu",
		 .kernel = "relu",
		 .module = "features/1",
		 .path = SL_PATH_NATIVE,
		 .part = SL_PART_CONVOLUTION,
		 .step = 1,
		 .n_calls = 0.5,
		 .output_shape = "1x8x4x4",
		 .self_ns = 1500,
		 .share = 0.1875,
		 .nominal_flops = 128,
		 .executed_flops = 128,
		 .n_bytes = 1024},
		{.name = "reorder a;b c",
		 .type = "Reorder",
		 .kernel = "copy",
		 .module = "",
		 .path = SL_PATH_DNNL,
		 .part = SL_PART_MOVEMENT,
		 .step = 2,
		 .n_calls = 1,
		 .output_shape = "",
		 .self_ns = 2500.4,
		 .share = 0.3125,
		 .n_bytes = 64},
	};

	memset(k, 0, sizeof(*k));
	memcpy(k->operations, ops, sizeof(ops));
	known_pass(k, 0, SL_KEPT_FIRST, 2);
	known_pass(k, 1, SL_KEPT_MEDIAN, 1);
	known_pass(k, 2, SL_KEPT_SLOWEST, 2);
	k->iterations[2] = k->iterations[0];
	k->iterations[2].why = SL_KEPT_SLOWEST;
	known_pass(k, 3, SL_KEPT_SLOWEST, 1.5);
	k->moments[0] = (struct sl_memory_moment){0, 4096};
	k->moments[1] = (struct sl_memory_moment){2, 1024};
	k->profile = (struct sl_profile){
		.name = "little net",
		.source = "zoo",
		.operations = k->operations,
		.n_operations = 3,
		.iterations = k->iterations,
		.n_iterations = 4,
	};
	k->profile.memory.timeline = k->moments;
	k->profile.memory.n_timeline = 2;
	k->profile.ledger.n_iterations = 77;
}

#endif
