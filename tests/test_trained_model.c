/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_trained_model.c - a model with the parameters that training found: each
 * weight, norm and statistic is the state of the step, copies of a weight
 * follow it, what is not trained stays, and the model's own numbers do.
 */
#include "engine/training_plan.h"
#include "model/builder_layers.h"
#include "transform/trained_model.h"
#include "graph_text.h"

#include <unistd.h>

/* A norm with statistics, and a weight twice, once turned around. */
static const char model[] = "in x f32 4,3\n"
			    "const w f32 3,2 = 0.5,1,-1,2,0.25,-0.5\n"
			    "const s f32 2 = 1,1\n"
			    "const o f32 2 = 0,0\n"
			    "const m f32 2 = 0,0\n"
			    "const v f32 2 = 1,1\n"
			    "const t f32 2,3 = 0.5,-1,0.25,1,2,-0.5\n"
			    "a = MatMul x w\n"
			    "b = BatchNormalization a s o m v\n"
			    "c = MatMul b t\n"
			    "out c\n";

struct trained {
	struct graph_text *text;
	const struct sl_graph *graph;
	struct sl__training_plan *plan;
	const void *states[16];
};

static void
train(struct trained *t)
{
	struct sl__training_options training = {.loss = SL_LOSS_MSE,
						.optimizer = SL_OPTIMIZER_ADAM};
	struct sl_plan_options options = {.struct_size = sizeof(options),
					  .n_threads = 1,
					  .dtype = SL_DTYPE_F32,
					  .algorithms = SL_ALGORITHMS_FIXED};
	struct sl_error err = {0};
	struct sl_array array;
	void *data;

	if (sl__training_plan_new(&t->plan, t->graph, NULL, &training, &options,
				  &err))
		fail_msg("%s", err.text);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(sl_plan_fill_inputs(t->plan->plan, 1, &err),
				 SL_OK);
		assert_int_equal(
			sl__training_plan_step(t->plan, 0.1, NULL, NULL, &err),
			SL_OK);
	}
	assert_true(t->plan->training->n_states <= 16);
	for (size_t i = 0; i < t->plan->training->n_states; i++) {
		assert_int_equal(sl__training_plan_state(t->plan, i, &array,
							 &data, &err),
				 SL_OK);
		t->states[i] = data;
	}
}

static void
setup(struct trained *t)
{
	t->text = graph_text(model);
	t->graph = t->text->graph;
	train(t);
}

static void
teardown(struct trained *t)
{
	sl__training_plan_free(t->plan);
	graph_text_free(t->text);
}

static const float *
numbers(const struct sl_graph *graph, const char *name, size_t n)
{
	for (size_t v = 0; v < graph->n_values; v++) {
		if (strcmp(graph->values[v].name, name) != 0)
			continue;
		assert_non_null(graph->values[v].tensor);
		assert_int_equal(graph->values[v].tensor->n_elements, n);
		return (const void *)graph->values[v].tensor->bytes;
	}
	fail_msg("no %s", name);
	return NULL;
}

static const float *
state_of(const struct trained *t, const char *name)
{
	const struct sl__training_graph *training = t->plan->training;

	for (size_t i = 0; i < training->n_states; i++) {
		uint32_t v = training->states[i].old;

		if (!strcmp(training->graph->values[v].name, name))
			return t->states[i];
	}
	fail_msg("no state %s", name);
	return NULL;
}

static void
parameters_are_the_states(void **state)
{
	static const char *const names[] = {"s", "o", "m", "v"};
	struct trained t;
	struct sl_graph *made;
	struct sl_error err = {0};
	const float *w, *turned;

	(void)state;
	setup(&t);
	if (sl__trained_model_new(&made, t.graph, t.plan->training, t.states,
				  &err))
		fail_msg("%s", err.text);
	for (size_t i = 0; i < 4; i++) {
		assert_memory_equal(numbers(made, names[i], 2),
				    state_of(&t, names[i]), 8);
		assert_memory_not_equal(numbers(made, names[i], 2),
					numbers(t.graph, names[i], 2), 8);
	}
	w = numbers(made, "w", 6);
	turned = numbers(made, "t", 6);
	assert_memory_equal(w, state_of(&t, "w"), 24);
	for (size_t r = 0; r < 3; r++) {
		for (size_t c = 0; c < 2; c++)
			assert_memory_equal(&w[2 * r + c], &turned[3 * c + r],
					    4);
	}
	assert_true(numbers(t.graph, "w", 6)[0] == 0.5F);
	assert_int_equal(made->is_builtin, 0);
	sl_graph_free(made);
	teardown(&t);
}

/* A parameter that a Constant node holds is trained in its attribute too. */
static void
a_constant_node_has_it(void **state)
{
	struct trained t = {0};
	struct sl_builder *b;
	struct sl_graph *graph, *made;
	struct sl_error err = {0};
	int x, slope;

	(void)state;
	assert_int_equal(sl_builder_new(&b, "prelu", NULL, &err), SL_OK);
	x = sl_builder_input(b, "x", SL_DTYPE_F32, 2, (int64_t[]){4, 3});
	x = sl_builder_linear(b, x, 2, 1);
	sl__builder_tensor_attribute(b, "value", 0.25F);
	slope = sl_builder_op(b, "Constant", 0, NULL);
	sl_builder_output(b, sl__builder_op2(b, "PRelu", x, slope), "y");
	if (sl_builder_finish(&graph, b, &err))
		fail_msg("%s", err.text);
	sl_builder_free(b);
	t.graph = graph;
	train(&t);
	if (sl__trained_model_new(&made, graph, t.plan->training, t.states,
				  &err))
		fail_msg("%s", err.text);
	for (size_t i = 0; i < made->n_nodes; i++) {
		const struct sl__node *node = &made->nodes[i];
		const struct sl__value *value = &made->values[node->outputs[0]];

		if (strcmp(node->type, "Constant") != 0)
			continue;
		assert_int_equal(node->n_attributes, 1);
		assert_ptr_equal(node->attributes[0].tensor, value->tensor);
		assert_memory_equal(value->tensor->bytes,
				    state_of(&t, value->name), 4);
		x = -2;
	}
	assert_int_equal(x, -2);
	sl_graph_free(made);
	sl__training_plan_free(t.plan);
	sl_graph_free(graph);
}

/* Written and read again, it computes the same. */
static void
a_file_has_them(void **state)
{
	char path[] = "/tmp/sleuth-trained-XXXXXX";
	int fd = mkstemp(path);
	struct trained t;
	struct sl_graph *made, *read;
	struct sl_error err = {0};
	struct sl_plan *plans[2];
	struct sl_array outputs[2];

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	setup(&t);
	if (sl__trained_model_new(&made, t.graph, t.plan->training, t.states,
				  &err) ||
	    sl_graph_write(made, path, &err))
		fail_msg("%s", err.text);
	if (sl_graph_open(&read, path, NULL, &err))
		fail_msg("%s", err.text);
	for (int i = 0; i < 2; i++) {
		if (sl_plan_new(&plans[i], i ? read : made, NULL, &err) ||
		    sl_plan_fill_inputs(plans[i], 1, &err) ||
		    sl_plan_run(plans[i], &err) ||
		    sl_plan_output(plans[i], "c", &outputs[i], &err))
			fail_msg("%s", err.text);
	}
	assert_memory_equal(outputs[0].data, outputs[1].data,
			    (size_t)outputs[0].n_bytes);
	for (int i = 0; i < 2; i++)
		sl_plan_free(plans[i]);
	sl_graph_free(read);
	sl_graph_free(made);
	teardown(&t);
	unlink(path);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parameters_are_the_states),
		cmocka_unit_test(a_constant_node_has_it),
		cmocka_unit_test(a_file_has_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
