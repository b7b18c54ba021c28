/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_layer.c - proves which operations a layer is in its model, and
 * that alone it is the same work.
 */
#include "harness.h"
#include "sleuth.h"

static struct sl_graph *
open_model(const char *name)
{
	struct sl_graph *graph;
	struct sl_error err = {0};

	if (sl_graph_open(&graph, name, NULL, &err))
		fail_msg("%s", err.text);
	return graph;
}

static enum sl_status
profile(struct sl_layer_profile **out, const struct sl_graph *graph,
	const char *layer, struct sl_error *err)
{
	struct sl_profile_options how = {.struct_size = sizeof(how),
					 .n_runs = 6,
					 .flags = SL_PROFILE_BRIEF};

	return sl_profile_layer(out, graph, layer, &how, err);
}

/* Of two layers with an activation between them, one with what is fused to
 * it. */
static void
test_one_layer(void **state)
{
	struct sl_graph *graph = open_model("mlp:32-16-8");
	struct sl_layer_profile *p;
	struct sl_error err = {0};

	(void)state;
	if (profile(&p, graph, "linear", &err))
		fail_msg("%s", err.text);
	assert_string_equal(p->layer, "linear");
	assert_int_equal(p->n_operations, 1);
	assert_int_equal(p->alone->n_operations, 1);
	assert_int_equal(p->alone->model->parameters.trainable, 32 * 16 + 16);
	assert_int_equal(p->alone->model->cost.macs, 32 * 16);
	assert_int_equal(p->ratio.n, 6);
	assert_int_equal(p->context_ns.n, 6);
	assert_true(p->alone_ns.value > 0);
	assert_int_not_equal(p->finding.kind, SL_FACT_NONE);
	sl_layer_profile_free(p);
	sl_graph_free(graph);
}

/* A module is all operations in it: a basic block has two convolutions. */
static void
test_module(void **state)
{
	struct sl_graph *graph = open_model("resnet18");
	struct sl_layer_profile *p;
	struct sl_error err = {0};

	(void)state;
	if (profile(&p, graph, "layer1.0", &err))
		fail_msg("%s", err.text);
	assert_int_equal(p->n_operations, 2);
	assert_int_equal(p->alone->model->cost.macs,
			 2LL * 64 * 64 * 9 * 56 * 56);
	sl_layer_profile_free(p);
	sl_graph_free(graph);
}

static volatile sig_atomic_t is_interrupted;

static void
interrupt(const struct sl_progress *now, void *ctx)
{
	(void)now;
	(*(int *)ctx)++;
	is_interrupted = 1;
}

/* Progress is told before the first iteration of the layer alone: then the
 * comparison is done, and is not lost. */
static void
test_interrupted(void **state)
{
	struct sl_graph *graph = open_model("mlp:32-16-8");
	int n_told = 0;
	struct sl_profile_options how = {.struct_size = sizeof(how),
					 .n_runs = 6,
					 .flags = SL_PROFILE_BRIEF,
					 .progress = interrupt,
					 .progress_ctx = &n_told,
					 .interrupt = &is_interrupted};
	struct sl_layer_profile *p;
	struct sl_error err = {0};

	(void)state;
	is_interrupted = 0;
	if (sl_profile_layer(&p, graph, "linear", &how, &err))
		fail_msg("%s", err.text);
	assert_int_equal(n_told, 1);
	assert_int_equal(p->ratio.n, 6);
	assert_int_not_equal(p->finding.kind, SL_FACT_NONE);
	assert_int_equal(p->alone->stopped_by, SL_STOP_INTERRUPT);
	assert_int_equal(p->alone->n_operations, 1);
	assert_true(p->alone->ledger.n_iterations > 0);
	sl_layer_profile_free(p);
	/* Nothing at all was compared. */
	assert_int_equal(sl_profile_layer(&p, graph, "linear", &how, &err),
			 SL_E_INTERRUPTED);
	assert_null(p);
	sl_graph_free(graph);
}

static void
test_no_such_layer(void **state)
{
	struct sl_graph *graph = open_model("mlp:32-16-8");
	struct sl_layer_profile *p = (struct sl_layer_profile *)graph;
	struct sl_error err = {0};

	(void)state;
	assert_int_equal(profile(&p, graph, "nowhere", &err), SL_E_USAGE);
	assert_null(p);
	assert_non_null(strstr(err.text, "'nowhere'"));
	sl_graph_free(graph);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_layer),
		cmocka_unit_test(test_module),
		cmocka_unit_test(test_interrupted),
		cmocka_unit_test(test_no_such_layer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
