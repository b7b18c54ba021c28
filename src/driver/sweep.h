/* SPDX-License-Identifier: Apache-2.0 */
/* sweep.h - models profiled over a range of sizes. */
#ifndef SL_SWEEP_H
#define SL_SWEEP_H

#include "timing/runner.h"
#include "sleuth/sweeping.h"

/* sl_profile_forward(), or what takes its place. */
typedef enum sl_status
sl__profile_function(struct sl_profile **out, const struct sl_graph *graph,
		     const struct sl_profile_options *options,
		     struct sl_error *err);

/* sl_profile_training(), or what takes its place. */
typedef enum sl_status sl__profile_training_function(
	struct sl_profile **out, const struct sl_graph *graph,
	const struct sl_training_options *training,
	const struct sl_profile_options *options, struct sl_error *err);

struct sl__sweep_test_hooks {
	const struct sl_clock *clock; /* NULL: monotonic */
	sl__profile_function *profile;
	sl__profile_training_function *profile_training;
};

/* Like sl_sweep(), by a script. */
enum sl_status sl__sweep(struct sl_sweep **out,
			 const struct sl_sweep_model *models, size_t n,
			 const struct sl_sweep_options *options,
			 const struct sl__sweep_test_hooks *script,
			 struct sl_error *err) SL_CHECKED;

#endif
