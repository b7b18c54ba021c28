/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Proves that shapes and costs can be had value by value and node by node:
 * of ResNet-50 against published counts and what sl_inspect() sums up, of a
 * shape that depends on data, under wrong options, and with every allocation
 * failing once.
 */
#include "harness.h"

#include "counting.h"
#include "sleuth.h"

static struct sl_graph *
open_model(const char *name)
{
	struct sl_graph *graph;

	assert_int_equal(sl_graph_open(&graph, name, NULL, NULL), SL_OK);
	return graph;
}

static void
test_resnet50(void **state)
{
	const struct sl_sizes sizes = {.struct_size = sizeof(sizes),
				       .batch = 4};
	struct sl_graph *g = open_model("resnet50");
	uint64_t macs = 0, n_calls;
	struct sl_value_shape shape;
	struct sl_sized *sized;
	struct sl_cost cost;

	(void)state;
	assert_int_equal(sl_sized_new(&sized, g, &sizes, NULL, NULL), SL_OK);
	assert_true(sl_sized_value(sized, sl_graph_input(g, 0), &shape));
	assert_int_equal(shape.dtype, SL_DTYPE_F32);
	assert_int_equal(shape.rank, 4);
	assert_int_equal(shape.dims[0], 4);
	assert_int_equal(shape.dims[3], 224);
	assert_true(shape.is_known);
	assert_int_equal(shape.n_elements, 4 * 3 * 224 * 224);
	assert_int_equal(shape.n_bytes, 4 * shape.n_elements);
	assert_true(sl_sized_value(sized, sl_graph_output(g, 0), &shape));
	assert_int_equal(shape.rank, 2);
	assert_int_equal(shape.dims[1], 1000);
	for (size_t i = 0; i < sl_graph_n_nodes(g); i++) {
		assert_true(sl_sized_node_cost(sized, i, &cost, &n_calls));
		assert_int_equal(n_calls, 1);
		assert_int_equal(cost.basis, SL_BASIS_COUNTED);
		assert_null(cost.why);
		assert_int_equal(sl_cost_bytes(&cost),
				 cost.weight_bytes + cost.read_bytes +
					 cost.written_bytes);
		macs += cost.macs;
	}
	assert_int_equal(macs, 4 * 4089184256);
	assert_false(sl_sized_value(sized, sl_graph_n_values(g), &shape));
	assert_false(sl_sized_value(sized, SL_NO_VALUE, &shape));
	assert_false(
		sl_sized_node_cost(sized, sl_graph_n_nodes(g), &cost, NULL));
	sl_sized_free(sized);
	sl_sized_free(NULL);
	sl_graph_free(g);
}

/* NonZero keeps as many as there are: rank 2, one dimension not known. */
static void
test_depends_on_data(void **state)
{
	const int64_t dims[] = {5};
	struct sl_value_shape shape;
	struct sl_sized *sized;
	struct sl_builder *b;
	struct sl_graph *g;
	struct sl_cost cost;
	int x;

	(void)state;
	assert_int_equal(sl_builder_new(&b, "some", NULL, NULL), SL_OK);
	x = sl_builder_input(b, "x", SL_DTYPE_F32, 1, dims);
	x = sl_builder_op(b, "NonZero", 1, &x);
	sl_builder_output(b, x, "places");
	assert_int_equal(sl_builder_finish(&g, b, NULL), SL_OK);
	assert_int_equal(sl_sized_new(&sized, g, NULL, NULL, NULL), SL_OK);
	assert_true(sl_sized_value(sized, sl_graph_output(g, 0), &shape));
	assert_int_equal(shape.dtype, SL_DTYPE_I64);
	assert_int_equal(shape.rank, 2);
	assert_int_equal(shape.dims[0], 1);
	assert_int_equal(shape.dims[1], -1);
	assert_false(shape.is_known);
	assert_true(sl_sized_node_cost(sized, 0, &cost, NULL));
	assert_int_not_equal(cost.basis, SL_BASIS_COUNTED);
	assert_non_null(cost.why);
	sl_sized_free(sized);
	sl_graph_free(g);
	sl_builder_free(b);
}

static void
test_refused(void **state)
{
	struct sl_graph *g = open_model("mlp:4-3-2");
	struct sl_sizes sizes = {.struct_size = 1};
	struct sl_sized *sized;
	struct sl_error err;

	(void)state;
	assert_int_equal(sl_sized_new(&sized, g, &sizes, NULL, &err),
			 SL_E_USAGE);
	assert_null(sized);
	sizes.struct_size = sizeof(sizes);
	sizes.seq = 7;
	assert_int_equal(sl_sized_new(&sized, g, &sizes, NULL, &err),
			 SL_E_DATA);
	sizes.seq = 0;
	sizes.inputs_folder = SL_TEST_DATA "/no-such-folder";
	assert_int_equal(sl_sized_new(&sized, g, &sizes, NULL, &err), SL_E_IO);
	assert_null(sized);
	sl_graph_free(g);
}

static void
test_short_of_memory(void **state)
{
	struct sl_graph *g = open_model("mlp:4-3-2");
	enum sl_status rc = SL_E_NOMEM;

	(void)state;
	for (int n = 1; rc == SL_E_NOMEM; n++) {
		struct counting c = {.fail_at = n};
		struct sl_allocator allocator = counting_allocator(&c);
		struct sl_sized *sized;

		rc = sl_sized_new(&sized, g, NULL, &allocator, NULL);
		assert_true(n < 1000);
		assert_true(c.n_requests > 0);
		assert_int_equal(rc, c.n_requests < n ? SL_OK : SL_E_NOMEM);
		assert_int_equal(rc == SL_OK, sized != NULL);
		sl_sized_free(sized);
		assert_int_equal(c.n_out, 0);
	}
	assert_int_equal(rc, SL_OK);
	sl_graph_free(g);
}

static void
test_texts(void **state)
{
	(void)state;
	assert_string_equal(sl_basis_text(SL_BASIS_COUNTED), "counted");
	assert_string_equal(sl_basis_text(SL_BASIS_ESTIMATED), "estimated");
	assert_string_equal(sl_basis_text(SL_BASIS_UNKNOWN), "unknown");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_resnet50),
		cmocka_unit_test(test_depends_on_data),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_short_of_memory),
		cmocka_unit_test(test_texts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
