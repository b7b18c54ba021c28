/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_checked_model.c - proves that the rule by which outputs are compared is
 * the one that the model asks for, by its operators and not by their names, and
 * that the step is found through any number of views.
 */
#include "experiment/output_check.h"
#include "graph_text.h"

static struct sl__output_tolerance
rule_of(const char *text, double tolerance)
{
	struct graph_text *g = graph_text_with(text, NULL);
	struct sl__model_precision model = sl__model_precision(g->graph);
	struct sl__output_tolerance how = sl__output_tolerance_choose(
		&model, g->graph->blocks[0].outputs[0], tolerance);

	graph_text_free(g);
	return how;
}

static void
models_choose_the_rule(void **state)
{
	static const char plain[] = "in x f32 2\n"
				    "y = Relu x\n"
				    "out y\n";
	static const char scaled[] = "in x f32 2\n"
				     "const s f32 - = -0.5\n"
				     "q = QuantizeLinear x s\n"
				     "d = DequantizeLinear q s\n"
				     "const n i64 1 = 2\n"
				     "y = Reshape d n\n"
				     "out y\n";
	static const char inner[] = "in x f32 2\n"
				    "const s f32 - = 0.5\n"
				    "q = QuantizeLinear x s\n"
				    "d = DequantizeLinear q s\n"
				    "y = Relu d\n"
				    "out y\n";
	struct sl__output_tolerance how = rule_of(plain, 0);

	(void)state;
	assert_int_equal(how.rule, SL_CHECK_LARGEST);
	assert_near(how.limit, 1e-4, 0);
	assert_near(rule_of(plain, 0.25).limit, 0.25, 0);
	how = rule_of(scaled, 0);
	assert_int_equal(how.rule, SL_CHECK_STEPS);
	assert_near(how.step, 0.5, 0);
	assert_near(how.limit, 3, 0);
	how = rule_of(inner, 0);
	assert_int_equal(how.rule, SL_CHECK_RMS);
	assert_near(how.limit, .02, 0);
}

static void
halves_have_a_wider_limit(void **state)
{
	struct graph_text *g = graph_text_with("in x f32 2\n"
					       "y = Relu x\n"
					       "out y\n",
					       NULL);
	uint32_t x = graph_text_value(g, "x"), y = graph_text_value(g, "y");

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct sl__model_precision model;

		g->graph->values[x].declared.dtype = i ? SL_DTYPE_BF16
						       : SL_DTYPE_F16;
		model = sl__model_precision(g->graph);
		assert_near(sl__output_tolerance_choose(&model, y, 0).limit,
			    5e-3, 0);
	}
	graph_text_free(g);
}

/* What a node is called says nothing: only operators of the table do. */
static void
names_loosen_nothing(void **state)
{
	struct graph_text *g = graph_text_with("in x f32 2\n"
					       "y = Relu x\n"
					       "out y\n",
					       NULL);
	struct sl__model_precision model;

	(void)state;
	g->graph->nodes[0].type = "ToIntegerQuantizeLinear";
	g->graph->nodes[0].domain = "elsewhere";
	g->graph->nodes[0].op = NULL;
	model = sl__model_precision(g->graph);
	assert_false(model.is_quantized);
	assert_int_equal(sl__output_tolerance_choose(&model, 0, 0).rule,
			 SL_CHECK_LARGEST);
	graph_text_free(g);
}

/* A million views in a row, on a stack of the usual size. */
static void
views_may_be_many(void **state)
{
	enum { N = 1000000 };
	struct sl_graph graph = {.n_nodes = N + 1, .n_values = N + 3};
	struct sl__model_precision model = {&graph, 1, 0};
	const int64_t none[1] = {0};
	const float scale = 0.25F;
	struct sl__tensor step = {.dtype = SL_DTYPE_F32,
				  .dims = none,
				  .bytes = (const unsigned char *)&scale};
	uint32_t *inputs = calloc(N + 3, sizeof(*inputs));

	(void)state;
	graph.nodes = calloc(graph.n_nodes, sizeof(*graph.nodes));
	graph.values = calloc(graph.n_values, sizeof(*graph.values));
	assert_true(inputs && graph.nodes && graph.values);
	assert_true(sl__tensor_compute_size(&step));
	/* Values 0 and 1 are what is restored and its scale; node i makes
	 * value i + 2 of value i + 1. */
	graph.values[0].producer = graph.values[1].producer = SL__NONE;
	graph.values[1].tensor = &step;
	inputs[1] = 1;
	for (uint32_t i = 0; i <= N; i++) {
		struct sl__node *node = &graph.nodes[i];

		if (i)
			inputs[i + 1] = i + 1;
		node->inputs = &inputs[i ? i + 1 : 0];
		node->n_inputs = i ? 1 : 2;
		node->op = &sl__ops[i ? SL__OP_ONNX_Reshape
				      : SL__OP_ONNX_DequantizeLinear];
		graph.values[i + 2].producer = i;
	}
	assert_near(sl__output_tolerance_choose(&model, N + 2, 0).step, 0.25,
		    0);
	free(graph.nodes);
	free(graph.values);
	free(inputs);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(models_choose_the_rule),
		cmocka_unit_test(halves_have_a_wider_limit),
		cmocka_unit_test(names_loosen_nothing),
		cmocka_unit_test(views_may_be_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
