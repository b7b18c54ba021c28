/* SPDX-License-Identifier: Apache-2.0 */
/* model_options.h - which model, and under which sizes. */
#ifndef SL_MODEL_OPTIONS_H
#define SL_MODEL_OPTIONS_H

#include "options.h"
#include "sleuth.h"

/* What the options of model_group() say. */
struct model_options {
	size_t batch, seq, past;       /* 0: not given */
	struct word_list dims, shapes; /* "NAME=N", "INPUT=1,3,224,224" */
	const char *inputs;            /* a folder, or NULL */
	struct sl_sizes sizes;         /* made by model_options_check() */
};

/*
 * --batch, --seq, --past, --dim, --shape, --inputs: for every command that
 * takes a model.
 */
struct option_group model_group(struct model_options *options);

/*
 * Reads the words of --dim and --shape and looks for the folder of --inputs;
 * fills 'sizes', which lives as long as 'options'.  Returns 0, or an exit
 * code after one line on stderr.
 */
int model_options_check(struct model_options *options, const char *command);

/*
 * Opens the model 'name'.  Remarks of the reader go to stderr unless
 * 'is_quiet'.  Returns 0, or an exit code after one line on stderr.
 */
int model_open(struct sl_graph **out, const char *command, const char *name,
	       int is_quiet);

#endif
