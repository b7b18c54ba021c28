/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_failing_training.c - every request for memory fails once while the graph
 * of a training step is made: it says so, and nothing leaks.
 */
#include "fail_each.h"
#include "graph_text.h"
#include "transform/training.h"

static const char model[] = "in x f64 2,2,4,4\n"
			    "const w f64 2,2,3,3 = random\n"
			    "const s f64 2 = 1,1\n"
			    "const o f64 2 = 0,0\n"
			    "const m f64 2 = 0,0\n"
			    "const v f64 2 = 1,1\n"
			    "const t f64 2,3 = 1,2,3,4,5,6\n"
			    "const u f64 3,2 = 1,4,2,5,3,6\n"
			    "a = Conv x w pads=[1,1,1,1]\n"
			    "b = BatchNormalization a s o m v\n"
			    "c = Gelu b\n"
			    "d = ReduceMean c axes=[2,3] keepdims=0\n"
			    "e = MatMul d t\n"
			    "y = MatMul e u\n"
			    "out y\n";

static enum sl_status
make_step(void *ctx, const struct sl_allocator *allocator, struct sl_error *err)
{
	struct sl__training_options options = {.optimizer = SL_OPTIMIZER_ADAM,
					       .smoothing = 0.1,
					       .max_norm = 1,
					       .n_micro = 2,
					       .n_segments = 2,
					       .keeps_gradients = 1};
	struct sl__shapes_options sizes = {.allocator = allocator};
	const struct graph_text *g = ctx;
	struct sl__training_graph *t = NULL;
	struct sl__shapes *shapes;
	enum sl_status rc = sl__shapes_new(&shapes, g->graph, &sizes, err);

	if (!rc)
		rc = sl__training_graph_new(&t, g->graph, shapes, &options,
					    err);
	sl__training_graph_free(t);
	sl__shapes_free(shapes);
	return rc;
}

static void
test_each_request_fails(void **state)
{
	struct graph_text *g = graph_text(model);

	(void)state;
	fail_each(make_step, g, "a training step");
	graph_text_free(g);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_request_fails),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
