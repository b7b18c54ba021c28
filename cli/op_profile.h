/* SPDX-License-Identifier: Apache-2.0 */
/* op_profile.h - `sleuth profile op:NAME`: operations over sizes. */
#ifndef SL_OP_PROFILE_H
#define SL_OP_PROFILE_H

#include "output.h"

struct op_request {
	const char *command; /* for messages */
	const struct sl_plan_options *plan;
	const struct output *output;
	uint64_t seed;
	double time_s; /* 0: as the library does */
	size_t n_runs; /* 0: by time */
};

/* Whether a word is about an operation: "op:...". */
int is_op_word(const char *word);

/*
 * Looks at each of the words, "op:NAME" or "op:NAME:SIZES", in turn and
 * reports on all of them.  Returns an exit code.
 */
int op_profile(const struct op_request *request, const char *const *words,
	       size_t n);

#endif
