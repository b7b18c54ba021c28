/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_onnx_function.c - a call becomes the body of its function: values,
 * attributes and names land where they belong; what unfolds without end is
 * refused.  Oracle: the semantics of FunctionProto, by hand.
 */
#include "onnx_bytes.h"
#include "model/onnx_read.h"

/* Fields of a function. */
enum {
	NAME = 1,
	INPUT = 4,
	OUTPUT = 5,
	NODE = 7,
	OPSET = 9,
	DOMAIN = 10,
	DEFAULT = 11
};

static struct bytes
function_of(const char *name, const char *input, const char *output)
{
	struct bytes b = {0}, set = {0};

	put_text(&b, NAME, name);
	put_text(&b, INPUT, input);
	put_text(&b, OUTPUT, output);
	put_text(&b, DOMAIN, "f");
	put_int(&set, 2, 13); /* of the usual domain, within the function */
	put_message(&b, OPSET, &set);
	return b;
}

/* A node of the domain "f": a call. */
static struct bytes
call_of(const char *function, const char *name, const char *in, const char *out)
{
	struct bytes b = node_of(function, name, in, out);

	put_text(&b, 7, "f");
	return b;
}

static void
put_float_attribute(struct bytes *b, unsigned field, const char *name,
		    float value)
{
	struct bytes a = {0};

	put_text(&a, 1, name);
	put_float(&a, 2, value);
	put_int(&a, 20, 1);
	put_message(b, field, &a);
}

static void
put_reference(struct bytes *node, const char *name, const char *of)
{
	struct bytes a = {0};

	put_text(&a, 1, name);
	put_int(&a, 20, 1);
	put_text(&a, 21, of);
	put_message(node, 5, &a);
}

/* x -> call -> y around the functions. */
static struct bytes
model_with(struct bytes *call, struct bytes *functions, size_t n)
{
	struct bytes graph = {0}, model;

	put_message(&graph, 1, call);
	put_info(&graph, 11, "x", "2");
	put_info(&graph, 12, "y", NULL);
	model = model_of(&graph, 17);
	for (size_t i = 0; i < n; i++)
		put_message(&model, 25, &functions[i]);
	return model;
}

static struct sl_graph *
read_ok(struct bytes *model)
{
	struct sl_error err = {.status = SL_OK, .text = ""};
	struct sl_graph *graph;

	if (sl__onnx_read(&graph, model->data, model->n, NULL, NULL, &err))
		fail_msg("%s", err.text);
	return graph;
}

static const char *
refusal(struct bytes *model)
{
	static struct sl_error err;
	struct sl_graph *graph;

	assert_int_equal(
		sl__onnx_read(&graph, model->data, model->n, NULL, NULL, &err),
		SL_E_DATA);
	assert_null(graph);
	bytes_release(model);
	return err.text;
}

/* Leak(x) = LeakyRelu<alpha = @a>(x), called three ways. */
static struct bytes
leak(void)
{
	struct bytes b = function_of("Leak", "p", "q");
	struct bytes node = node_of("LeakyRelu", "act", "p", "q");

	put_reference(&node, "alpha", "a");
	put_message(&b, NODE, &node);
	return b;
}

static void
a_call_becomes_its_body(void **state)
{
	struct bytes function = leak(), call, model;
	const struct sl__node *node;
	struct sl_graph *graph;

	(void)state;
	call = call_of("Leak", "top", "x", "y");
	put_float_attribute(&call, 5, "a", 0.25f);
	model = model_with(&call, &function, 1);
	graph = read_ok(&model);
	assert_int_equal(graph->n_nodes, 1);
	assert_int_equal(graph->n_values, 2); /* x and y, and no others */
	node = &graph->nodes[0];
	assert_string_equal(node->type, "LeakyRelu");
	assert_string_equal(node->name, "top/act");
	assert_int_equal(node->version, 13);
	assert_int_equal(node->n_attributes, 1);
	assert_string_equal(node->attributes[0].name, "alpha");
	assert_near((double)node->attributes[0].floats[0], 0.25, 0);
	sl_graph_free(graph);
	bytes_release(&model);
}

/* A node of another version of its operator set than the model's cannot be
 * written into the same file. */
static void
two_versions_are_not_written(void **state)
{
	struct bytes function = leak(), call, model;
	struct sl_error err = {.status = SL_OK, .text = ""};
	struct sl_graph *graph;

	(void)state;
	call = call_of("Leak", "top", "x", "y");
	model = model_with(&call, &function, 1);
	graph = read_ok(&model);
	assert_int_equal(sl_graph_write(graph, "never-written.onnx", &err),
			 SL_E_DATA);
	assert_non_null(strstr(err.text, "the model has version 17"));
	sl_graph_free(graph);
	bytes_release(&model);
}

static void
attributes_have_defaults_or_are_left_out(void **state)
{
	for (int has_default = 0; has_default < 2; has_default++) {
		struct bytes function = leak(), call, model;
		struct sl_graph *graph;

		if (has_default)
			put_float_attribute(&function, DEFAULT, "a", 0.5f);
		call = call_of("Leak", "", "x", "y");
		model = model_with(&call, &function, 1);
		graph = read_ok(&model);
		assert_int_equal(graph->nodes[0].n_attributes, has_default);
		if (has_default)
			assert_near(
				(double)graph->nodes[0].attributes[0].floats[0],
				0.5, 0);
		assert_string_equal(graph->nodes[0].name, "Leak_1/act");
		sl_graph_free(graph);
		bytes_release(&model);
	}
	(void)state;
}

/* Two(x) = Leak<a = @s>(Leak<a = 1>(x)): names and attributes nest. */
static void
functions_call_functions(void **state)
{
	struct bytes functions[2] = {leak(), function_of("Two", "p", "q")};
	struct bytes call, model;
	struct sl_graph *graph;

	(void)state;
	call = call_of("Leak", "first", "p", "mid");
	put_float_attribute(&call, 5, "a", 1);
	put_message(&functions[1], NODE, &call);
	call = call_of("Leak", "", "mid", "q");
	put_reference(&call, "a", "s");
	put_message(&functions[1], NODE, &call);
	call = call_of("Two", "top", "x", "y");
	put_float_attribute(&call, 5, "s", 2);
	model = model_with(&call, functions, 2);
	graph = read_ok(&model);
	assert_int_equal(graph->n_nodes, 2);
	assert_string_equal(graph->nodes[0].name, "top/first/act");
	assert_near((double)graph->nodes[0].attributes[0].floats[0], 1, 0);
	assert_near((double)graph->nodes[1].attributes[0].floats[0], 2, 0);
	assert_int_equal(graph->nodes[1].inputs[0], graph->nodes[0].outputs[0]);
	assert_string_equal(graph->values[graph->nodes[0].outputs[0]].name,
			    "top/mid");
	sl_graph_free(graph);
	bytes_release(&model);
}

/* An output that is an input is copied; an input left out stays out. */
static void
outputs_may_be_inputs(void **state)
{
	struct bytes function = function_of("Same", "p", "p"), call, model;
	struct sl_graph *graph;

	(void)state;
	put_text(&function, INPUT, "optional");
	put_text(&function, OUTPUT, "c");
	call = node_of("Clip", "clip", "p optional", "c");
	put_message(&function, NODE, &call);
	call = call_of("Same", "s", "x", "y z");
	model = model_with(&call, &function, 1);
	graph = read_ok(&model);
	assert_int_equal(graph->n_nodes, 2);
	assert_string_equal(graph->nodes[0].type, "Clip");
	assert_int_equal(graph->nodes[0].inputs[1], SL__NONE);
	assert_string_equal(graph->nodes[1].type, "Identity");
	assert_string_equal(graph->values[graph->nodes[1].outputs[0]].name,
			    "y");
	sl_graph_free(graph);
	bytes_release(&model);
}

static void
a_body_sees_nothing_around_it(void **state)
{
	struct bytes function = function_of("Peek", "p", "q"), call, model;

	(void)state;
	call = node_of("Add", "", "p x", "q"); /* x is the model's */
	put_message(&function, NODE, &call);
	call = call_of("Peek", "", "x", "y");
	model = model_with(&call, &function, 1);
	assert_non_null(
		strstr(refusal(&model), "uses 'x', which nothing makes"));
}

static void
calls_that_do_not_fit_are_refused(void **state)
{
	struct bytes function = leak(), call, model;

	(void)state;
	call = call_of("Leak", "", "x x", "y");
	model = model_with(&call, &function, 1);
	assert_non_null(strstr(refusal(&model),
			       "a call of function 'Leak' with 2 inputs; it "
			       "has 1"));
	function = function_of("Lazy", "p", "q");
	call = call_of("Lazy", "", "x", "y");
	model = model_with(&call, &function, 1);
	assert_string_equal(refusal(&model),
			    "function 'Lazy' does not make its output 'q'");
}

static void
recursion_is_refused(void **state)
{
	struct bytes functions[2] = {function_of("A", "p", "q"),
				     function_of("B", "p", "q")};
	struct bytes call, model;

	(void)state;
	call = call_of("B", "", "p", "q");
	put_message(&functions[0], NODE, &call);
	call = call_of("A", "", "p", "q");
	put_message(&functions[1], NODE, &call);
	call = call_of("A", "", "x", "y");
	model = model_with(&call, functions, 2);
	assert_non_null(strstr(refusal(&model), "'A' calls itself"));
}

/* F0 is a node, or nothing; F(i) calls F(i-1) twice. */
static struct bytes
doubling_model(int n_levels, int is_empty)
{
	struct bytes functions[40], call;
	char name[16] = "", inner[16];

	assert_true(n_levels <= 40);
	for (int i = 0; i < n_levels; i++) {
		snprintf(name, sizeof(name), "F%d", i);
		snprintf(inner, sizeof(inner), "F%d", i - 1);
		functions[i] = function_of(name, "p", is_empty ? "p" : "q");
		if (i) {
			call = call_of(inner, "", "p", "m");
			put_message(&functions[i], NODE, &call);
			call = call_of(inner, "", "m", "q");
			put_message(&functions[i], NODE, &call);
		} else if (!is_empty) {
			call = node_of("Neg", "", "p", "q");
			put_message(&functions[i], NODE, &call);
		}
	}
	call = call_of(name, "", "x", "y");
	return model_with(&call, functions, (size_t)n_levels);
}

/* 2^39 calls at the lowest level. */
static void
bombs_are_refused(void **state)
{
	(void)state;
	for (int is_empty = 0; is_empty < 2; is_empty++) {
		struct bytes model = doubling_model(40, is_empty);

		const char *text = refusal(&model);

		if (!strstr(text, "and those around it unfold to more than"))
			fail_msg("%s", text);
	}
}

/* However short the file: 2^15 nodes are nothing to be afraid of. */
static void
large_models_of_small_files_are_read(void **state)
{
	struct bytes model = doubling_model(16, 0);
	struct sl_graph *graph = read_ok(&model);

	(void)state;
	assert_int_equal(graph->n_nodes, 1 << 15);
	sl_graph_free(graph);
	bytes_release(&model);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_call_becomes_its_body),
		cmocka_unit_test(two_versions_are_not_written),
		cmocka_unit_test(attributes_have_defaults_or_are_left_out),
		cmocka_unit_test(functions_call_functions),
		cmocka_unit_test(outputs_may_be_inputs),
		cmocka_unit_test(a_body_sees_nothing_around_it),
		cmocka_unit_test(calls_that_do_not_fit_are_refused),
		cmocka_unit_test(recursion_is_refused),
		cmocka_unit_test(bombs_are_refused),
		cmocka_unit_test(large_models_of_small_files_are_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
