/* SPDX-License-Identifier: Apache-2.0 */
/* inspected.h - a model of the zoo, inspected. */
#ifndef SL_TEST_INSPECTED_H
#define SL_TEST_INSPECTED_H

#include "harness.h"
#include "sleuth.h"

/* seq 0: the model's own.  Free with sl_inspection_free(). */
static inline struct sl_inspection *
inspect_with(const char *model, int64_t batch, int64_t seq,
	     const struct sl_inspect_options *options)
{
	struct sl_sizes sizes = {
		.struct_size = sizeof(sizes), .batch = batch, .seq = seq};
	struct sl_inspect_options how = *options;
	struct sl_inspection *seen;
	struct sl_graph *graph;
	struct sl_error err = {0};

	how.struct_size = sizeof(how);
	how.sizes = &sizes;
	if (sl_graph_open(&graph, model, NULL, &err) ||
	    sl_inspect(&seen, graph, &how, &err)) {
		fail_msg("%s: %s", model, err.text);
		return NULL;
	}
	sl_graph_free(graph); /* what was seen outlives it */
	return seen;
}

static inline struct sl_inspection *
inspect(const char *model, int64_t seq)
{
	static const struct sl_inspect_options brief = {.brief = 1};

	return inspect_with(model, 0, seq, &brief);
}

#endif
