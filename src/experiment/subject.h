/* SPDX-License-Identifier: Apache-2.0 */
/* subject.h - a model made ready to be experimented on. */
#ifndef SL_SUBJECT_H
#define SL_SUBJECT_H

#include "engine/plan.h"
#include "model/inputs.h"

/*
 * Inputs come from files of their own, then from a folder, then they are made
 * up.  Where a folder is given and a batch is said, what its files hold is
 * repeated to that batch.
 */
struct sl__subject_model_options {
	const struct sl_plan_options *plan; /* NULL: defaults */
	const struct sl_input_file *inputs;
	size_t n_inputs;
	const char *folder;  /* NULL: none */
	uint64_t seed;       /* of inputs that are made up; 0: 1 */
	int is_only_planned; /* inputs give their sizes and are not set: the
				plan cannot be run */
	const volatile sig_atomic_t *interrupt; /* NULL: the plan's */
};

/*
 * Invariants: once open, the plan has all its inputs and can be run.  The
 * graph and what the options point to are borrowed and outlive it.
 */
struct sl__subject_model {
	const struct sl_graph *graph;
	struct sl__subject_model_options options;
	struct sl__arena scratch;
	struct sl__input_files *inputs; /* of the folder, or NULL */
	struct sl_plan_options how;     /* of the plan */
	struct sl_sizes sizes; /* of the plan, what files say included */
	struct sl_plan *plan;
	int64_t batch;    /* to which the folder is repeated; 0 */
	int64_t n_copies; /* of what it holds, then */
	uint64_t seed;    /* 0: no input was made up */
	double plan_ns;   /* making the plan */
};

/* A subject that failed to open is closed too. */
enum sl_status
sl__subject_model_open(struct sl__subject_model *out,
		       const struct sl_graph *graph,
		       const struct sl__subject_model_options *options,
		       struct sl_error *err) SL_CHECKED;
void sl__subject_model_close(struct sl__subject_model *subject);

#endif
