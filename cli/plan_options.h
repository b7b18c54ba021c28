/* SPDX-License-Identifier: Apache-2.0 */
/* plan_options.h - how a model is run: threads, type, algorithms. */
#ifndef SL_PLAN_OPTIONS_H
#define SL_PLAN_OPTIONS_H

#include "options.h"
#include "sleuth.h"

/* What the options of plan_option_group() say. */
struct plan_options {
	size_t threads; /* 0: all the process may use */
	size_t seed;
	const char *dtype, *algorithms, *nan, *isa;
	int no_fusion, reference;
	struct sl_plan_options plan; /* made by plan_options_resolve() */
};

/* --threads, --dtype, --algorithms, --no-fusion, --reference, --isa, --nan,
 * --seed: for every command that runs a model. */
struct option_group plan_option_group(struct plan_options *options);

/* Reads the words; ends the program after one line on stderr where one is
 * wrong. */
void plan_options_resolve(struct plan_options *options, const char *command);

/* Limits instruction sets as --isa says; NULL: it was not given.  Ends the
 * program after one line on stderr where that cannot be. */
void isa_limit_resolve(const char *level, const char *command);

/* What help says of --isa. */
#define ISA_OPTION_HELP "instruction sets at most: scalar, sse4, avx2..."

/* The words of --input, "NAME=FILE" each, as a list of words->n files; others
 * are refused. */
const struct sl_input_file *
input_files_parse(const struct repeated_values *words, const char *command);

#endif
