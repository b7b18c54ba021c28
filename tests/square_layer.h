/* SPDX-License-Identifier: Apache-2.0 */
/* square_layer.h - a model small enough for closed forms: one 1024 x 1024
 * product without bias, over a batch. */
#ifndef SL_TEST_SQUARE_LAYER_H
#define SL_TEST_SQUARE_LAYER_H

#include "harness.h"
#include "sleuth.h"

enum {
	SQUARE_MACS = 1024 * 1024,
	SQUARE_WEIGHT_BYTES = 4 * 1024 * 1024,
	SQUARE_SAMPLE_BYTES = 2 * 4 * 1024 /* input and output */
};

/* 'batch' 0: a dimension known by name. */
static inline struct sl_graph *
square_layer(int64_t batch)
{
	struct sl_builder *b;
	struct sl_graph *graph;
	struct sl_error err;
	int x;

	assert_int_equal(sl_builder_new(&b, "square", NULL, &err), 0);
	if (!batch)
		batch = sl_builder_symbol(b, "batch", 1);
	x = sl_builder_input(b, "x", SL_DTYPE_F32, 2, (int64_t[]){batch, 1024});
	x = sl_builder_linear(b, x, 1024, 0);
	sl_builder_output(b, x, "y");
	if (sl_builder_finish(&graph, b, &err))
		fail_msg("%s", err.text);
	sl_builder_free(b);
	return graph;
}

#endif
