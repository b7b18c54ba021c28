/* SPDX-License-Identifier: Apache-2.0 */
/* model_options.h - which model, and under which sizes. */
#ifndef SL_MODEL_OPTIONS_H
#define SL_MODEL_OPTIONS_H

#include "options.h"
#include "sleuth.h"

/* A cache may be empty: 0 is a size of it. */
#define PAST_NOT_GIVEN SIZE_MAX

/* What the options of model_option_group() say. */
struct model_options {
	size_t batch, seq;                   /* 0: not given */
	size_t past;                         /* PAST_NOT_GIVEN: not given */
	struct repeated_values dims, shapes; /* "NAME=N", "INPUT=1,3,224,224" */
	const char *inputs;                  /* a folder, or NULL */
	int is_static;         /* set by commands that run nothing:
					  data are not repeated for a batch */
	struct sl_sizes sizes; /* made by model_options_resolve() */
};

/*
 * --batch, --seq, --past, --dim, --shape, --inputs: for every command that
 * takes a model.  Marks 'past' as not given.
 */
struct option_group model_option_group(struct model_options *options);

/*
 * Reads the words of --dim and --shape and looks for the folder of --inputs;
 * fills 'sizes', which lives as long as 'options'.  Ends the program after one
 * line on stderr where that fails.
 */
void model_options_resolve(struct model_options *options, const char *command);

/* The bytes that --mem names, such as "8G"; others are refused. */
double parse_memory_bytes(const char *text, const char *command);

/*
 * The model 'name': a file, a folder that holds one (model_folder.h), or a
 * built-in one, which has weights of this seed (0: the usual one); with
 * "@int8" or other changes behind it (sl_variant_new()), that model changed.
 * Changes to how it is run are refused here.
 * Remarks of the reader are kept for model_remarks().  Ends the program
 * after one line on stderr where it cannot be opened.
 */
struct sl_graph *model_open(const char *command, const char *name,
			    uint64_t seed);

/*
 * Like model_open(), and where it is a folder and nothing is said of sizes but
 * the batch, 'options' take them, and what the inputs hold, from its test data.
 */
struct sl_graph *model_open_sized(const char *command, const char *name,
				  struct model_options *options, uint64_t seed);

/* Prints to stderr, after a result was found, what readers remarked; once. */
void model_remarks(const char *command);

/* The models of one command line. */
struct models {
	const char **names; /* as given */
	size_t n;
	int is_shared; /* a name that is given twice is opened once */
	int is_run;    /* changes to how a model is run are in 'variants' */
	const struct sl_variant_options *making; /* of changes; NULL: defaults
						  */
	struct sl_graph **graphs;
	const struct sl_variant **variants; /* NULL: as it is */
	struct sl_sizes *sizes;             /* that each of them has */
};

/*
 * Opens all that 'names' has, before the first is used.  Of several, each has
 * the sizes that are its own, and a size must be that of at least one of them.
 * Ends the program after one line on stderr where that fails.
 */
void models_open(struct models *models, const struct model_options *options,
		 const char *command, uint64_t seed);
void models_close(struct models *models);

/* What a variant (NULL: none) changes in how a model is run; its batch is in
 * the sizes already. */
void model_take_changes(const struct sl_variant *v,
			struct sl_plan_options *plan);

#endif
