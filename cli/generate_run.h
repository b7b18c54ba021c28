/* SPDX-License-Identifier: Apache-2.0 */
/* generate_run.h - `sleuth profile --generate`: the loop of a decoder. */
#ifndef SL_GENERATE_RUN_H
#define SL_GENERATE_RUN_H

#include "model_options.h"
#include "output.h"

/*
 * Measures one model, with its twin where the zoo has it, or two of which one
 * has a cache.  The plan of 'how' has the sizes, of which the batch alone may
 * be given.  Returns the exit code.
 */
int generate_run(const char *command, const struct models *models,
		 const struct model_options *sizes,
		 const struct sl_generate_options *how,
		 const struct output *output);

#endif
