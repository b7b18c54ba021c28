/* SPDX-License-Identifier: Apache-2.0 */
/* profile_part.h - a layer profiled as a model of its own. */
#ifndef SL_PROFILE_PART_H
#define SL_PROFILE_PART_H

#include "driver/training_subject.h"
#include "experiment/subject.h"
#include "memory/residence.h"
#include "sleuth/profiling.h"

/* Where a graph was taken from, for the commands of advice; all borrowed. */
struct sl__layer_origin {
	const char *model;                  /* as a command names it */
	const char *layer;                  /* of that model */
	const struct sl_plan_options *plan; /* of that model; NULL: defaults */
};

/* sl_profile_forward() of what was taken from 'origin'; NULL: a model. */
enum sl_status sl__profile_part(struct sl_profile **out,
				const struct sl_graph *graph,
				const struct sl_profile_options *options,
				const struct sl__layer_origin *origin,
				struct sl_error *err) SL_CHECKED;

/* A training run that was watched; all borrowed. */
struct sl__watched_training {
	struct sl__training_subject subject; /* as the run leaves it */
	const struct sl_training_options *training;
	const struct sl__timed_iterations *iterations;
	const struct sl__residence *residence; /* of its plan and its steps */
	double plan_ns;
};

/* Like sl_profile_training(), of steps that were made.  Further steps are made
 * on the way: what is trained is to be read before. */
enum sl_status sl__profile_watched(struct sl_profile **out,
				   const struct sl_graph *graph,
				   const struct sl__watched_training *watched,
				   const struct sl_profile_options *options,
				   struct sl_error *err) SL_CHECKED;

/* The model that is asked about, as a subject. */
struct sl__subject_model_options
sl__profile_subject_options(const struct sl_profile_options *how);

#endif
