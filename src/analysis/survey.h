/* SPDX-License-Identifier: Apache-2.0 */
/* survey.h - everything that follows from a model under one set of sizes. */
#ifndef SL_SURVEY_H
#define SL_SURVEY_H

#include "analysis/fused_graph.h"
#include "cost/attention.h"
#include "cost/convention.h"
#include "cost/liveness.h"

/*
 * Made by sl__survey_new() and given back whole.  'steps' and 'roles' are
 * borrowed and outlive it.
 */
struct sl__survey {
	struct sl__arena arena;
	const struct sl_graph *graph;
	struct sl__shapes *shapes;
	struct sl__costs costs; /* bytes are those of 'fused' */
	struct sl__forward forward;
	struct sl__attentions attentions;
	struct sl__liveness liveness; /* of the nodes as the file has them */
	struct sl__fused *fused;      /* NULL: nothing is quantized so */
	uint64_t once_bytes;          /* sl__once_bytes() */
	struct sl__tally tally;
	struct sl__kv kv;
	int64_t batch; /* of the first input; 1 where it has none */
};

enum sl_status sl__survey_new(struct sl__survey **out,
			      const struct sl__steps *steps,
			      const struct sl__roles *roles,
			      const struct sl__shapes_options *options,
			      struct sl_error *err) SL_CHECKED;
/* What is alive when an engine runs the model: that of the fused graph, where
 * there is one. */
const struct sl__liveness *sl__survey_live(const struct sl__survey *survey);

void sl__survey_free(struct sl__survey *survey); /* NULL is fine */

#endif
