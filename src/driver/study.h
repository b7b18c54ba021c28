/* SPDX-License-Identifier: Apache-2.0 */
/* study.h - a model and all that a survey of it needs. */
#ifndef SL_STUDY_H
#define SL_STUDY_H

#include "analysis/static_analysis.h"
#include "model/inputs.h"

/*
 * Opened where it stands and not moved afterwards: the survey points into it.
 * The graph, what the sizes point to, and the allocator are borrowed.
 */
struct sl__study {
	struct sl__arena arena;
	struct sl_sizes sizes;
	struct sl__shapes_options how;
	struct sl__input_files *inputs; /* NULL: no folder was named */
	struct sl__execution_order steps;
	struct sl__roles roles;
	struct sl__static_analysis *survey;
};

/*
 * Checks the sizes, reads the inputs' folder where one is named and surveys
 * the model.  A study that failed is closed too.
 */
enum sl_status sl__study_open(struct sl__study *out,
			      const struct sl_graph *graph,
			      const struct sl_sizes *sizes,
			      const struct sl_allocator *allocator,
			      struct sl_error *err) SL_CHECKED;
void sl__study_close(struct sl__study *study);

#endif
