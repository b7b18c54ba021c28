/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_training_flops.c - what the nodes of a training step multiply, against
 * figures derived on paper: three times the forward pass less the gradient of
 * the model's input, which nobody asks for.
 */
#include "harness.h"
#include "ops/cost.h"
#include "transform/training.h"

/* Twice the multiply-adds of all nodes of a phase. */
static uint64_t
phase_flops(const struct sl__training_graph *t, struct sl__shapes *shapes,
	    enum sl_phase phase)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < t->graph->n_nodes; i++) {
		struct sl_cost cost;

		sl__cost_node(shapes, i, &cost);
		assert_int_not_equal(cost.basis, SL_BASIS_UNKNOWN);
		if (t->graph->nodes[i].phase == phase)
			sum += 2 * cost.macs;
	}
	return sum;
}

static void
check_flops(const char *name, uint64_t forward, uint64_t total)
{
	struct sl__shapes_options none = {0};
	struct sl__training_options options = {.optimizer = SL_OPTIMIZER_ADAM};
	struct sl__training_graph *t;
	struct sl__shapes *shapes, *training_shapes;
	struct sl_graph *graph;
	struct sl_error err = {0};

	if (sl_graph_open(&graph, name, NULL, &err) ||
	    sl__shapes_new(&shapes, graph, &none, &err) ||
	    sl__training_graph_new(&t, graph, shapes, &options, &err) ||
	    sl__shapes_new(&training_shapes, t->graph, &none, &err))
		fail_msg("%s: %s", name, err.text);
	assert_int_equal(phase_flops(t, training_shapes, SL_PHASE_FORWARD),
			 forward);
	assert_int_equal(phase_flops(t, training_shapes, SL_PHASE_BACKWARD),
			 total - forward);
	assert_int_equal(phase_flops(t, training_shapes, SL_PHASE_LOSS), 0);
	assert_int_equal(phase_flops(t, training_shapes, SL_PHASE_UPDATE), 0);
	sl__shapes_free(training_shapes);
	sl__training_graph_free(t);
	sl__shapes_free(shapes);
	sl_graph_free(graph);
}

static void
test_flops_of_known_models(void **state)
{
	/* Of the first layer: 784 x 256 products of a sample. */
	const uint64_t mlp = 2 * (784 * 256 + 256 * 128 + 128 * 10);

	(void)state;
	check_flops("mlp:784-256-128-10", mlp, 3 * mlp - 2 * 784 * 256);
	check_flops("resnet50", 8178368512, 24299077632);
	check_flops("vit-b-16", 35127656448, 105151758336);
	/* Fed by an embedding, whose rows are looked up. */
	check_flops("gpt2", 32228179968, 3 * (uint64_t)32228179968);
	check_flops("lstm", 3394560000, 3 * (uint64_t)3394560000);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_flops_of_known_models),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
