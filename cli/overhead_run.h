/* SPDX-License-Identifier: Apache-2.0 */
/* overhead_run.h - `sleuth profile --overhead`: what watching costs. */
#ifndef SL_OVERHEAD_RUN_H
#define SL_OVERHEAD_RUN_H

#include "model_options.h"
#include "output.h"

/* Studies one model with the options of a profile, whose plan and sizes are
 * set; returns the exit code. */
int overhead_run(const char *command, const char *name,
		 const struct sl_profile_options *options,
		 const struct output *output);

#endif
