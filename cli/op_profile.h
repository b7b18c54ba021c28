/* SPDX-License-Identifier: Apache-2.0 */
/* op_profile.h - `sleuth profile op:NAME`: operations over sizes. */
#ifndef SL_OP_PROFILE_H
#define SL_OP_PROFILE_H

#include "output.h"

/* Whether a word is about an operation: "op:...". */
int is_op_word(const char *word);

/*
 * Looks at each of the words, "op:NAME" or "op:NAME:SIZES", in turn and
 * reports on all of them.  Returns an exit code.
 */
int op_profile(const char *command, const char *const *words, size_t n,
	       const struct sl_microbench_options *how,
	       const struct output *output);

#endif
