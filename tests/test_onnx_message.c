/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Graphs as messages of ONNX: read again they are what they were, with every
 * kind of attribute, every type of number, bodies, symbols, texts and sparse
 * tensors.  That other programs take the files is checked by
 * tests/oracles/written_models.py.
 */
#include "same_graph.h"
#include "written_graph.h"

static void
everything_comes_back(void **state)
{
	struct sl_graph *graph = build(NULL, "inner"), *again;
	struct sl_error err = {.status = SL_OK, .text = ""};

	(void)state;
	assert_int_equal(sl_graph_write(graph, path, &err), SL_OK);
	again = read_back();
	assert_same_graph(graph, again, 1);
	assert_string_equal(again->blocks[0].name, "made");
	assert_string_equal(again->blocks[1].name, "body");
	assert_int_equal(again->ir_version, 8);
	assert_int_equal(again->n_opsets, 2);
	assert_int_equal(again->opsets[0].version, 17);
	assert_string_equal(again->opsets[1].domain, "org.example");
	assert_memory_equal(again->producer, "sleuth ", 7);
	sl_graph_free(again);
	sl_graph_free(graph);
	assert_int_equal(empty_folder(), 1);
}

/* Names that clash or are missing are made up; the structure stays. */
static void
names_are_made_unique(void **state)
{
	static const char *const odd[] = {"", "x", "w", "hidden"};

	(void)state;
	for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
		struct sl_graph *graph = build(NULL, odd[i]), *again;
		struct sl_error err = {.status = SL_OK, .text = ""};

		assert_int_equal(sl_graph_write(graph, path, &err), SL_OK);
		again = read_back();
		assert_same_graph(graph, again, 0);
		assert_string_equal(
			again->values[again->blocks[0].inputs[0]].name, "x");
		sl_graph_free(again);
		sl_graph_free(graph);
	}
	empty_folder();
}

static void
every_dtype(void **state)
{
	struct sl__tensor tensors[SL_N_DTYPES];
	struct sl_graph *graph = build_dtypes(tensors), *again;
	struct sl_error err = {.status = SL_OK, .text = ""};

	(void)state;
	assert_int_equal(sl_graph_write(graph, path, &err), SL_OK);
	again = read_back();
	assert_same_graph(graph, again, 1);
	assert_int_equal(again->ir_version, 13); /* int2 */
	sl_graph_free(again);
	sl_graph_free(graph);
	assert_int_equal(empty_folder(), 1);
}

/* What other readers would refuse: lists of graphs, of which only the name
 * is known, and weights that are not there. */
static void
what_is_not_known_is_refused(void **state)
{
	static const struct sl__attribute odd = {.name = "graphs",
						 .kind = SL__ATTRIBUTE_OTHER};
	static struct sl__tensor gone;
	static const int64_t dims[] = {2, 2};
	struct sl_graph *graph;
	struct sl_error err;
	uint32_t x, y;

	(void)state;
	for (int i = 0; i < 2; i++) {
		gone = floats;
		gone.bytes = NULL;
		gone.absent = "the file 'w.bin' is not there";
		assert_int_equal(sl__graph_new(&graph, NULL, NULL), 0);
		x = add_input(graph, "x", dims);
		y = add_value(graph, "y", 0);
		declare(graph, y, SL_DTYPE_F32, 2, dims);
		add_node(graph,
			 &(struct plan){"Add",
					NULL,
					0,
					{x, add_parameter(graph, "w", 0,
							  i ? &gone : &floats)},
					2,
					y,
					&odd,
					i ? 0 : 1});
		finish(graph, x, y);
		assert_int_equal(sl_graph_write(graph, path, &err), SL_E_DATA);
		assert_non_null(
			strstr(err.text, i ? "w: the file 'w.bin'"
					   : "Add_0: has an attribute"));
		sl_graph_free(graph);
	}
	assert_int_equal(empty_folder(), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(everything_comes_back),
		cmocka_unit_test(names_are_made_unique),
		cmocka_unit_test(every_dtype),
		cmocka_unit_test(what_is_not_known_is_refused),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
