/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_onnx_read.c - what a model says of itself arrives in the graph: names,
 * types, symbols, parameters, subgraphs.  The models are written by hand, so
 * that each expectation follows from the format's definition; counts over
 * real files were compared with the onnx package (1089 models).
 */
#include "counting.h"
#include "onnx_bytes.h"
#include "model/onnx_read.h"

#include <unistd.h>

static struct sl_graph *
read_ok(const struct bytes *model)
{
	struct sl_error err = {.status = SL_OK, .text = ""};
	struct sl_graph *graph;

	if (sl__onnx_read(&graph, model->data, model->n, NULL, NULL, &err))
		fail_msg("%s", err.text);
	assert_true(graph->is_frozen);
	return graph;
}

static const struct sl__value *
value_named(const struct sl_graph *graph, const char *name, uint32_t block)
{
	size_t i = 0;

	while (i < graph->n_values &&
	       (strcmp(graph->values[i].name, name) != 0 ||
		graph->values[i].block != block))
		i++;
	assert_true(i < graph->n_values);
	return &graph->values[i];
}

static const char *
symbol_name(const struct sl_graph *graph, int64_t size)
{
	assert_true(sl__is_symbol(size));
	return graph->symbols[size - SL__SYMBOL_BASE].name;
}

/* x [batch, 4, ?, -1] -> Gemm with w, b -> Relu -> y */
static struct bytes
small_model(void)
{
	static const float numbers[3] = {1, 2, 3};
	struct bytes graph = {0}, tensor, model, pair = {0}, set = {0};

	put_node(&graph, "MatMul", "fc", "x w", "h");
	put_node(&graph, "Add", "", "h b", "y");
	put_text(&graph, 2, "small");
	tensor = tensor_of("w", 1, 3, numbers, sizeof(numbers));
	put_message(&graph, 5, &tensor);
	tensor = tensor_of("b", 1, 3, numbers, sizeof(numbers));
	put_message(&graph, 5, &tensor);
	put_info(&graph, 11, "x", "batch 4 ? -1");
	put_info(&graph, 12, "y", "batch 3");
	put_info(&graph, 13, "h", "");
	model = model_of(&graph, 17);
	put_text(&model, 3, "1.2");
	put_text(&pair, 1, "author");
	put_text(&pair, 2, "nobody");
	put_message(&model, 14, &pair);
	put_text(&set, 1, "com.microsoft");
	put_int(&set, 2, 1);
	put_message(&model, 8, &set);
	return model;
}

static void
a_model_says_who_it_is(void **state)
{
	struct bytes model = small_model();
	struct sl_graph *graph = read_ok(&model);

	(void)state;
	assert_string_equal(graph->name, "small");
	assert_string_equal(graph->source, "memory");
	assert_string_equal(graph->producer, "test 1.2");
	assert_int_equal(graph->ir_version, 8);
	assert_int_equal(graph->n_opsets, 2);
	assert_string_equal(graph->opsets[0].domain, "");
	assert_int_equal(graph->opsets[0].version, 17);
	assert_string_equal(graph->opsets[1].domain, "com.microsoft");
	assert_int_equal(graph->n_metadata, 1);
	assert_string_equal(graph->metadata[0].key, "author");
	assert_string_equal(graph->metadata[0].value, "nobody");
	sl_graph_free(graph);
	bytes_release(&model);
}

static void
values_and_nodes_are_linked(void **state)
{
	struct bytes model = small_model();
	struct sl_graph *graph = read_ok(&model);
	const struct sl__value *x = value_named(graph, "x", 0);
	const struct sl__value *w = value_named(graph, "w", 0);
	const struct sl__value *h = value_named(graph, "h", 0);

	(void)state;
	assert_int_equal(graph->n_nodes, 2);
	assert_int_equal(graph->n_values, 5);
	assert_string_equal(graph->nodes[0].name, "fc");
	assert_string_equal(graph->nodes[1].name, "Add_1");
	assert_int_equal(graph->nodes[0].version, 17);
	assert_int_equal(x->kind, SL_VALUE_INPUT);
	assert_int_equal(w->kind, SL_VALUE_PARAMETER);
	assert_int_equal(h->kind, SL_VALUE_ACTIVATION);
	assert_int_equal(h->producer, 0);
	assert_int_equal(graph->blocks[0].n_inputs, 1);
	assert_ptr_equal(&graph->values[graph->blocks[0].inputs[0]], x);
	assert_ptr_equal(&graph->values[graph->nodes[0].inputs[1]], w);
	/* The weight stays where it is. */
	assert_true(w->tensor->bytes > model.data &&
		    w->tensor->bytes < model.data + model.n);
	assert_int_equal(w->tensor->is_mapped, 0);
	sl_graph_free(graph);
	bytes_release(&model);
}

static void
dimensions_are_sizes_or_symbols(void **state)
{
	struct bytes model = small_model();
	struct sl_graph *graph = read_ok(&model);
	const struct sl__type *x = &value_named(graph, "x", 0)->declared;
	const struct sl__type *y = &value_named(graph, "y", 0)->declared;
	const struct sl__type *h = &value_named(graph, "h", 0)->declared;

	(void)state;
	assert_int_equal(x->kind, SL__TYPE_TENSOR);
	assert_int_equal(x->dtype, SL_DTYPE_F32);
	assert_int_equal(x->rank, 4);
	assert_string_equal(symbol_name(graph, x->dims[0]), "batch");
	assert_int_equal(x->dims[1], 4);
	assert_string_equal(symbol_name(graph, x->dims[2]), "x.2");
	assert_string_equal(symbol_name(graph, x->dims[3]), "x.3");
	assert_int_equal(y->dims[0], x->dims[0]);
	assert_int_equal(h->rank, 0); /* an empty shape is a scalar's */
	assert_int_equal(value_named(graph, "w", 0)->declared.rank, -1);
	sl_graph_free(graph);
	bytes_release(&model);
}

/* A type message with one field, around 'inner'. */
static struct bytes
wrap(unsigned outer, unsigned inner_field, struct bytes inner)
{
	struct bytes type = {0}, holder = {0};

	put_message(&holder, inner_field, &inner);
	put_message(&type, outer, &holder);
	return type;
}

static struct bytes
float_type(void)
{
	struct bytes tensor = {0}, type = {0};

	put_int(&tensor, 1, 1);
	put_message(&type, 1, &tensor);
	return type;
}

static void
other_types_are_kept(void **state)
{
	static const struct {
		const char *name;
		unsigned field, inner;
		enum sl__type_kind kind;
	} cases[] = {{"seq", 4, 1, SL__TYPE_SEQUENCE},
		     {"opt", 9, 1, SL__TYPE_OPTIONAL},
		     {"map", 5, 2, SL__TYPE_MAP}};
	struct bytes graph = {0}, model;
	struct sl_graph *read;

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct bytes info = {0};
		struct bytes type =
			wrap(cases[i].field, cases[i].inner, float_type());

		put_text(&info, 1, cases[i].name);
		put_message(&info, 2, &type);
		put_message(&graph, 11, &info);
	}
	model = model_of(&graph, 17);
	read = read_ok(&model);
	assert_int_equal(read->n_nodes, 0); /* no nodes is fine */
	for (size_t i = 0; i < 3; i++) {
		const struct sl__type *type =
			&value_named(read, cases[i].name, 0)->declared;

		assert_int_equal(type->kind, cases[i].kind);
		assert_int_equal(type->element->kind, SL__TYPE_TENSOR);
		assert_int_equal(type->element->dtype, SL_DTYPE_F32);
		assert_int_equal(type->element->rank, -1);
	}
	sl_graph_free(read);
	bytes_release(&model);
}

/* Before IR 4, initializers are listed among the inputs. */
static void
inputs_with_a_value_are_parameters(void **state)
{
	static const float one = 1;
	struct bytes graph = {0}, tensor, model;
	struct sl_graph *read;

	(void)state;
	put_info(&graph, 11, "w", "1");
	put_info(&graph, 11, "x", "1");
	put_node(&graph, "Add", "", "x w", "y");
	put_info(&graph, 12, "y", NULL);
	tensor = tensor_of("w", 1, 1, &one, sizeof(one));
	put_message(&graph, 5, &tensor);
	model = model_of(&graph, 7);
	read = read_ok(&model);
	assert_int_equal(read->blocks[0].n_inputs, 1);
	assert_int_equal(value_named(read, "w", 0)->kind, SL_VALUE_PARAMETER);
	assert_int_equal(value_named(read, "w", 0)->declared.rank, 1);
	sl_graph_free(read);
	bytes_release(&model);
}

static void
put_branch(struct bytes *node, const char *name, const char *op,
	   const char *input)
{
	struct bytes attribute = {0}, graph = {0};

	put_node(&graph, op, "", input, "r");
	put_info(&graph, 12, "r", NULL);
	put_text(&attribute, 1, name);
	put_message(&attribute, 6, &graph);
	put_int(&attribute, 20, 5);
	put_message(node, 5, &attribute);
}

/* Branches see what is around them, defined before or after, and each has
 * its own 'r'. */
static void
branches_capture_and_reuse_names(void **state)
{
	struct bytes graph = {0}, node, model;
	const struct sl__attribute *then;
	struct sl_graph *read;
	uint32_t inner;

	(void)state;
	node = node_of("If", "choose", "c", "y");
	put_branch(&node, "then_branch", "Relu", "late");
	put_branch(&node, "else_branch", "Neg", "x");
	put_message(&graph, 1, &node);
	put_node(&graph, "Abs", "later", "x", "late");
	put_info(&graph, 11, "c", NULL);
	put_info(&graph, 11, "x", "2");
	put_info(&graph, 12, "y", "2");
	model = model_of(&graph, 17);
	read = read_ok(&model);
	assert_int_equal(read->n_blocks, 3);
	assert_int_equal(read->n_nodes, 4);
	/* Sorted: what is captured is made before. */
	assert_string_equal(read->nodes[read->blocks[0].nodes[0]].name,
			    "later");
	then = read->nodes[read->blocks[0].nodes[1]].attributes;
	assert_int_equal(then->kind, SL__ATTRIBUTE_BLOCK);
	assert_int_equal(read->blocks[then->block].owner,
			 read->blocks[0].nodes[1]);
	inner = read->blocks[then->block].nodes[0];
	assert_ptr_equal(&read->values[read->nodes[inner].inputs[0]],
			 value_named(read, "late", 0));
	assert_ptr_not_equal(value_named(read, "r", 1),
			     value_named(read, "r", 2));
	sl_graph_free(read);
	bytes_release(&model);
}

/* As ONNX Runtime does with the exporters that write such files. */
static void
of_two_constants_the_last_counts(void **state)
{
	struct bytes graph = {0}, model;
	const struct sl__value *c;
	struct sl_graph *read;
	int64_t number = 0;

	(void)state;
	for (int64_t i = 1; i <= 2; i++) {
		struct bytes node = node_of("Constant", "", "", "c"), a = {0};

		put_text(&a, 1, "value_int");
		put_int(&a, 3, 10 * i);
		put_int(&a, 20, 2);
		put_message(&node, 5, &a);
		put_message(&graph, 1, &node);
		if (i == 1)
			put_node(&graph, "Abs", "", "c", "y");
	}
	put_info(&graph, 12, "y", NULL);
	model = model_of(&graph, 17);
	read = read_ok(&model);
	c = &read->values[read->nodes[1].inputs[0]];
	assert_string_equal(c->name, "c");
	assert_int_equal(c->producer, 2);
	assert_true(sl__tensor_integers(c->tensor, 0, 1, &number));
	assert_int_equal(number, 20);
	sl_graph_free(read);
	bytes_release(&model);
}

static void
files_are_opened_and_stay_mapped(void **state)
{
	struct bytes model = small_model();
	struct sl_error err = {.status = SL_OK, .text = ""};
	char path[] = "/tmp/sleuth-test-XXXXXX";
	int fd = mkstemp(path);
	struct sl_graph *graph;

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(write(fd, model.data, model.n), (ssize_t)model.n);
	close(fd);
	assert_int_equal(sl__onnx_open(&graph, path, NULL, &err), SL_OK);
	unlink(path);
	assert_string_equal(graph->source, path);
	assert_int_equal(graph->n_mappings, 1);
	assert_int_equal(value_named(graph, "w", 0)->tensor->is_mapped, 1);
	assert_memory_equal(value_named(graph, "w", 0)->tensor->bytes,
			    ((const float[]){1, 2, 3}), 12);
	sl_graph_free(graph);
	assert_int_equal(sl__onnx_open(&graph, path, NULL, &err), SL_E_IO);
	assert_non_null(strstr(err.text, path));
	assert_null(graph);
	bytes_release(&model);
}

static void
any_allocation_may_fail(void **state)
{
	struct bytes model = small_model();

	(void)state;
	for (int fail_at = 1;; fail_at++) {
		struct counting c = {0, 0, fail_at};
		struct sl_allocator allocator = counting_allocator(&c);
		struct sl_graph_options options = {.struct_size =
							   sizeof(options),
						   .allocator = &allocator};
		struct sl_error err = {.status = SL_OK, .text = ""};
		struct sl_graph *graph;
		enum sl_status rc = sl__onnx_read(&graph, model.data, model.n,
						  NULL, &options, &err);

		sl_graph_free(graph);
		assert_int_equal(c.n_out, 0);
		if (rc == SL_OK)
			break;
		assert_int_equal(rc, SL_E_NOMEM);
		assert_string_equal(err.text, "out of memory");
		assert_null(graph);
	}
	bytes_release(&model);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_model_says_who_it_is),
		cmocka_unit_test(values_and_nodes_are_linked),
		cmocka_unit_test(dimensions_are_sizes_or_symbols),
		cmocka_unit_test(other_types_are_kept),
		cmocka_unit_test(inputs_with_a_value_are_parameters),
		cmocka_unit_test(branches_capture_and_reuse_names),
		cmocka_unit_test(of_two_constants_the_last_counts),
		cmocka_unit_test(files_are_opened_and_stay_mapped),
		cmocka_unit_test(any_allocation_may_fail),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
