/* SPDX-License-Identifier: Apache-2.0 */
/* plan.h - a model made ready, for one set of sizes after another. */
#ifndef SL_PLAN_H
#define SL_PLAN_H

#include "engine/compile.h"

enum { SL__PROGRAMS_MOST = 8 }; /* kept, for sizes that come again */

/* An input as it was given last. */
struct sl__plan_input {
	struct sl__runtime_value
		content; /* empty while it lies in the program */
	int is_set;
};

/*
 * Invariants: 'current' is one of programs[].  An input that is set lies in
 * its buffer of the current program, or in given[] where it has none, or
 * where it has other sizes; then needs_program is set and the next run finds
 * or makes a program for all sizes as they are given.  Outputs are those of
 * the last run, which no change to an input changes.
 */
struct sl_plan {
	struct sl__arena arena;
	const struct sl_graph *graph;
	struct sl_plan_options options; /* defaults filled in */
	struct sl__plan_input *given;   /* by input of the model */
	struct sl__program *programs[SL__PROGRAMS_MOST];
	size_t n_programs;
	struct sl__program *current;
	int needs_program;
	int has_run; /* 'current' has outputs */
	struct sl_hooks hooks;
};

/* Number of the input or output of that name; SIZE_MAX and *err where there
 * is none. */
size_t sl__plan_find_input(const struct sl_plan *plan, const char *name,
			   struct sl_error *err);
size_t sl__plan_find_output(const struct sl_plan *plan, const char *name,
			    struct sl_error *err);

/* Whether a type has these very sizes. */
int sl__type_dims_equal(const struct sl__type *type, size_t rank,
			const int64_t *dims);

/* The input holds a copy of the value; any kind. */
enum sl_status sl__plan_set_input(struct sl_plan *plan, size_t input,
				  const struct sl__runtime_value *value,
				  struct sl_error *err) SL_CHECKED;

/* Reads the tensor of a .npy or .pb file; its numbers lie in the mapping,
 * which the caller closes in any case, or in the arena. */
enum sl_status sl__plan_read_tensor_file(struct sl__tensor *out,
					 struct sl__file_mapping *file,
					 struct sl__arena *arena,
					 const char *path,
					 struct sl_error *err) SL_CHECKED;

/* Finds or makes a program for the sizes that inputs have been given. */
enum sl_status sl__plan_select_program(struct sl_plan *plan,
				       struct sl_error *err) SL_CHECKED;

/* How many rows the smallest table has that the value chooses from; 0: none
 * was found. */
int64_t sl__gather_table_rows(const struct sl_graph *graph, uint32_t value);

/* What computes each step, in 16 digits; NULL: out of memory. */
const char *sl__plan_choices_hash(const struct sl_plan *plan,
				  struct sl__arena *arena);

/* What output k holds after a run; its storage is the plan's.  SL_E_USAGE
 * where there was none. */
enum sl_status sl__plan_output_value(struct sl_plan *plan, size_t k,
				     struct sl__runtime_value *out,
				     struct sl_error *err) SL_CHECKED;

#endif
