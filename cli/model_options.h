/* SPDX-License-Identifier: Apache-2.0 */
/* model_options.h - which model, and under which sizes. */
#ifndef SL_MODEL_OPTIONS_H
#define SL_MODEL_OPTIONS_H

#include "options.h"
#include "sleuth.h"

/* A cache may be empty: 0 is a size of it. */
#define PAST_NOT_GIVEN SIZE_MAX

/* What the options of model_group() say. */
struct model_options {
	size_t batch, seq;             /* 0: not given */
	size_t past;                   /* PAST_NOT_GIVEN: not given */
	struct word_list dims, shapes; /* "NAME=N", "INPUT=1,3,224,224" */
	const char *inputs;            /* a folder, or NULL */
	struct sl_sizes sizes;         /* made by model_options_check() */
};

/*
 * --batch, --seq, --past, --dim, --shape, --inputs: for every command that
 * takes a model.  Marks 'past' as not given.
 */
struct option_group model_group(struct model_options *options);

/*
 * Reads the words of --dim and --shape and looks for the folder of --inputs;
 * fills 'sizes', which lives as long as 'options'.  Returns 0, or an exit
 * code after one line on stderr.
 */
int model_options_check(struct model_options *options, const char *command);

/*
 * Opens the model 'name'; a built-in one has weights of this seed (0: the
 * usual one).  Remarks of the reader are kept for model_remarks().  Returns 0,
 * or an exit code after one line on stderr.
 */
int model_open(struct sl_graph **out, const char *command, const char *name,
	       uint64_t seed);

/* Prints to stderr, after a result was found, what readers remarked. */
void model_remarks(const char *command);

/*
 * Several models under one set of options: the sizes that one of them has.
 * What 'seq', 'past', 'dims' and 'shapes' name and this one has not is left
 * out.
 */
struct sl_sizes model_sizes(const struct model_options *options,
			    const struct sl_graph *graph);

/* Whether every size is one of at least one of the models; 0, or an exit
 * code after one line on stderr. */
int model_sizes_check(const struct model_options *options,
		      struct sl_graph *const *graphs, size_t n,
		      const char *command);

#endif
