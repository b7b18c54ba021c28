/* SPDX-License-Identifier: Apache-2.0 */
/* analyzed_model.h - a model and all that a survey of it needs. */
#ifndef SL_ANALYZED_MODEL_H
#define SL_ANALYZED_MODEL_H

#include "analysis/static_analysis.h"
#include "model/inputs.h"

/*
 * Opened where it stands and not moved afterwards: the survey points into it.
 * The graph, what the sizes point to, and the allocator are borrowed.
 */
struct sl__analyzed_model {
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
enum sl_status sl__analyzed_model_open(struct sl__analyzed_model *out,
				       const struct sl_graph *graph,
				       const struct sl_sizes *sizes,
				       const struct sl_allocator *allocator,
				       struct sl_error *err) SL_CHECKED;
void sl__analyzed_model_close(struct sl__analyzed_model *study);

#endif
