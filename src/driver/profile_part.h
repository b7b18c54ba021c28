/* SPDX-License-Identifier: Apache-2.0 */
/* profile_part.h - a layer profiled as a model of its own. */
#ifndef SL_PROFILE_PART_H
#define SL_PROFILE_PART_H

#include "experiment/subject.h"
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

/* The model that is asked about, as a subject. */
struct sl__subject_model_options
sl__profile_subject_options(const struct sl_profile_options *how);

#endif
