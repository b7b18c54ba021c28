/* SPDX-License-Identifier: Apache-2.0 */
/* generate_run.h - `sleuth profile --generate`: the loop of a decoder. */
#ifndef SL_GENERATE_RUN_H
#define SL_GENERATE_RUN_H

#include "model_options.h"
#include "output.h"
#include "plan_options.h"

/* What the command line says of it. */
struct generate_request {
	const char *command;
	const struct model_options *model;
	const struct plan_options *plan;
	const struct output *output;
	size_t n_tokens, prompt; /* 0: the usual prompt */
	double time_s;           /* 0: the usual time */
	size_t n_rounds;         /* 0: by time */
	int brief;               /* no ceilings */
};

/*
 * Measures one model, with its twin where the zoo has it, or two of which one
 * has a cache.  Returns the exit code.
 */
int generate_run(const struct generate_request *request,
		 const char *const *models, size_t n);

#endif
