/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_extract.c - proves that parts of a model, put one behind the other,
 * compute what the model does, and what cannot be taken out.
 */
#include "built.h"
#include "counting.h"
#include "graph_text.h"

/* x -> a: linear, Relu -> b: linear -> y; s = shape arithmetic -> Reshape */
static struct sl_graph *
two_modules(void)
{
	struct sl_builder *b = new_builder();
	int x = sl_builder_input(
		b, "x", SL_DTYPE_F32, 2,
		(int64_t[]){sl_builder_symbol(b, "batch", 2), 8});

	sl_builder_enter(b, "a");
	x = sl_builder_linear(b, x, 6, 1);
	x = sl_builder_op(b, "Relu", 1, &x);
	sl_builder_leave(b);
	sl_builder_enter(b, "b");
	x = sl_builder_linear(b, x, 4, 1);
	sl_builder_leave(b);
	sl_builder_output(b, x, "y");
	return finish(b);
}

static struct sl_graph *
part_of(const struct sl_graph *graph, const char *layer)
{
	struct sl_graph *part;
	struct sl_error err = {0};

	if (sl_graph_extract(&part, graph, layer, NULL, &err))
		fail_msg("%s", err.text);
	return part;
}

/* The only output for the only input, on plain kernels. */
static void
run(const struct sl_graph *graph, const float *x, int64_t n_in, float *y,
    size_t n_out)
{
	struct sl_plan_options how = {.struct_size = sizeof(how),
				      .flags = SL_PLAN_REFERENCE |
					       SL_PLAN_NO_FUSION};
	const int64_t dims[] = {2, n_in};
	struct sl_array in = {
		.dtype = SL_DTYPE_F32, .rank = 2, .dims = dims, .data = x};
	struct sl_array out;
	struct sl_plan *plan;
	struct sl_error err = {0};

	assert_int_equal(sl_graph_n_inputs(graph), 1);
	assert_int_equal(sl_graph_n_outputs(graph), 1);
	if (sl_plan_new(&plan, graph, &how, &err) ||
	    sl_plan_set_input(
		    plan, sl_graph_value_name(graph, sl_graph_input(graph, 0)),
		    &in, &err) ||
	    sl_plan_run(plan, &err) ||
	    sl_plan_output(
		    plan, sl_graph_value_name(graph, sl_graph_output(graph, 0)),
		    &out, &err))
		fail_msg("%s", err.text);
	assert_int_equal(out.n_elements, n_out);
	memcpy(y, out.data, n_out * sizeof(float));
	sl_plan_free(plan);
}

static void
test_parts_are_the_whole(void **state)
{
	struct sl_graph *whole = two_modules();
	struct sl_graph *a = part_of(whole, "a"), *b = part_of(whole, "b");
	float x[16], h[12], y[8], expected[8];

	(void)state;
	for (int i = 0; i < 16; i++)
		x[i] = (float)(i % 5) - 1.75F;
	run(whole, x, 8, expected, 8);
	run(a, x, 8, h, 12);
	run(b, h, 6, y, 8);
	assert_memory_equal(y, expected, sizeof(y));
	assert_string_equal(sl_graph_name(a), "test:a");
	sl_graph_free(a);
	sl_graph_free(b);
	sl_graph_free(whole);
}

/* A basic block: two convolutions of 64 x 64 x 3 x 3 at 56 x 56, two norms
 * of 2 x 64. */
static void
test_block_of_a_network(void **state)
{
	struct sl_graph *whole, *block;
	struct sl_counts counts;
	struct sl_error err = {0};

	(void)state;
	assert_int_equal(sl_graph_open(&whole, "resnet18", NULL, &err), SL_OK);
	block = part_of(whole, "layer1.0");
	assert_int_equal(sl_count_flops(&counts, block, NULL, &err), SL_OK);
	assert_int_equal(counts.parameters, 2 * 64 * 64 * 9 + 2 * 2 * 64);
	assert_int_equal(counts.macs, 2LL * 64 * 64 * 9 * 56 * 56);
	assert_int_equal(sl_graph_n_inputs(block), 1);
	assert_int_equal(sl_graph_n_outputs(block), 1);
	sl_graph_free(block);
	sl_graph_free(whole);
}

/* The batch that the model is looked at with is the layer's. */
static void
test_sizes(void **state)
{
	struct sl_sizes sizes = {.struct_size = sizeof(sizes), .batch = 5};
	struct sl_graph *whole = two_modules(), *part;
	struct sl_value_shape shape;
	struct sl_sized *sized = NULL;
	struct sl_error err = {0};

	(void)state;
	if (sl_graph_extract(&part, whole, "b", &sizes, &err) ||
	    sl_sized_new(&sized, part, NULL, NULL, &err))
		fail_msg("%s", err.text);
	assert_true(sl_sized_value(sized, sl_graph_input(part, 0), &shape));
	assert_int_equal(shape.rank, 2);
	assert_int_equal(shape.dims[0], 5);
	assert_int_equal(shape.dims[1], 6);
	sl_sized_free(sized);
	sl_graph_free(part);
	sl_graph_free(whole);
}

static void
test_nothing_of_that_name(void **state)
{
	struct sl_graph *whole = two_modules(), *part = whole;
	struct sl_error err = {0};

	(void)state;
	assert_int_equal(sl_graph_extract(&part, whole, "c", NULL, &err),
			 SL_E_USAGE);
	assert_null(part);
	assert_non_null(strstr(err.text, "'c'"));
	sl_graph_free(whole);
}

/* Every allocation that fails is reported, and nothing is lost. */
static void
test_out_of_memory(void **state)
{
	struct counting c = {0};
	struct sl_allocator allocator = counting_allocator(&c);
	struct sl_graph_options how = {.struct_size = sizeof(how),
				       .allocator = &allocator};
	struct sl_graph *whole, *part;
	struct sl_error err = {0};
	enum sl_status rc = SL_E_NOMEM;
	int n_out;

	(void)state;
	assert_int_equal(sl_graph_open(&whole, "mlp:8-6-4", &how, &err), SL_OK);
	n_out = c.n_out;
	for (int k = 1; rc && k < 1000; k++) {
		c.fail_at = c.n_requests + k;
		rc = sl_graph_extract(&part, whole, "linear", NULL, &err);
		if (!rc)
			sl_graph_free(part);
		else
			assert_int_equal(rc, SL_E_NOMEM);
		assert_int_equal(c.n_out, n_out);
	}
	assert_int_equal(rc, SL_OK);
	sl_graph_free(whole);
	assert_int_equal(c.n_out, 0);
}

/* A layer in a branch, one in a loop, and the node that runs them. */
static void
test_layers_in_bodies(void **state)
{
	struct graph_text *g =
		graph_text_with("in c bool -\n"
				"in x f32 4\n"
				"const n i64 - = 3\n"
				"h = Exp x\n"
				"block then\n"
				"t = Neg h\n"
				"t2 = Abs t\n"
				"out t2\n"
				"end\n"
				"block else\n"
				"block body\n"
				"in i i64 -\n"
				"in go bool -\n"
				"in s f32 4\n"
				"r = Add s h\n"
				"out go\n"
				"out r\n"
				"end\n"
				"e = Loop n - h body=@body\n"
				"out e\n"
				"end\n"
				"y = If c then_branch=@then else_branch=@else\n"
				"out y\n",
				NULL);
	struct sl_graph *part = part_of(g->graph, "t2");
	struct sl_error err = {0};

	(void)state;
	assert_int_equal(sl_graph_n_nodes(part), 1);
	assert_string_equal(sl_graph_value_name(part, sl_graph_input(part, 0)),
			    "t");
	assert_string_equal(sl_graph_value_name(part, sl_graph_output(part, 0)),
			    "t2");
	sl_graph_free(part);
	part = part_of(g->graph, "r");
	assert_int_equal(sl_graph_n_inputs(part), 2);
	sl_graph_free(part);
	assert_int_equal(sl_graph_extract(&part, g->graph, "y", NULL, &err),
			 SL_E_ABSENT);
	assert_non_null(strstr(err.text, "has a body"));
	graph_text_free(g);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parts_are_the_whole),
		cmocka_unit_test(test_block_of_a_network),
		cmocka_unit_test(test_layers_in_bodies),
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_nothing_of_that_name),
		cmocka_unit_test(test_out_of_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
