/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a written model lies: weights beside it when they are too many, made
 * in pieces; nothing at all after a failure, whatever fails; and real models
 * come back as they were.
 */
#include "model/onnx_write.h"
#include "counting.h"
#include "same_graph.h"
#include "written_graph.h"

static void
large_weights_lie_beside(void **state)
{
	struct sl__tensor tensors[SL_N_DTYPES];
	struct sl_graph *graph = build_dtypes(tensors), *again;
	struct sl_error err = {.status = SL_OK, .text = ""};
	char data[160];
	struct stat known;
	size_t n_outside = 0;

	(void)state;
	snprintf(data, sizeof(data), "%s.data", path);
	assert_int_equal(sl__onnx_write(graph, path, 10000, &err), SL_OK);
	assert_int_equal(stat(path, &known), 0);
	assert_true(known.st_size <= 10000);
	again = read_back();
	assert_same_graph(graph, again, 1);
	for (size_t v = 0; v < again->n_values; v++) {
		const struct sl__tensor *t = again->values[v].tensor;

		if (!t || !t->storage)
			continue;
		assert_string_equal(t->storage, "model.onnx.data");
		assert_true(t->n_bytes >= 1024);
		n_outside++;
	}
	assert_true(n_outside >= 2);
	/* Read from there and written again, they come back inside. */
	assert_int_equal(sl_graph_write(again, path, &err), SL_OK);
	assert_int_equal(unlink(data), 0);
	sl_graph_free(again);
	again = read_back();
	assert_same_graph(graph, again, 1);
	sl_graph_free(again);
	/* A model that is too large without weights cannot be written. */
	assert_int_equal(sl__onnx_write(graph, path, 100, &err), SL_E_DATA);
	sl_graph_free(graph);
	assert_int_equal(empty_folder(), 1);
}

/* Weights that are made, over several pieces, equal what is read. */
static void
made_weights_are_written(void **state)
{
	static const struct sl__tensor_generator normal = {
		.kind = SL__TENSOR_GENERATOR_NORMAL,
		.seed = 7,
		.mean = 0.5,
		.scale = 2};
	static const int64_t dims[] = {1000, 700};
	struct sl__tensor weights = {.dtype = SL_DTYPE_F32,
				     .rank = 2,
				     .dims = dims,
				     .generator = &normal};
	struct sl_graph *graph, *again;
	struct sl_error err = {.status = SL_OK, .text = ""};
	uint32_t x, y;

	(void)state;
	assert_true(sl__tensor_compute_size(&weights));
	assert_int_equal(sl__graph_new(&graph, NULL, NULL), 0);
	x = add_input(graph, "x", dims);
	y = add_value(graph, "y", 0);
	declare(graph, y, SL_DTYPE_F32, 2, dims);
	add_node(graph,
		 &(struct plan){"Add",
				NULL,
				0,
				{x, add_parameter(graph, "w", 0, &weights)},
				2,
				y,
				NULL,
				0});
	finish(graph, x, y);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(
			sl__onnx_write(graph, path, i ? 1000 : INT32_MAX, &err),
			SL_OK);
		again = read_back();
		assert_same_graph(graph, again, 1);
		sl_graph_free(again);
	}
	sl_graph_free(graph);
	assert_int_equal(empty_folder(), 2);
}

/* An output that declares nothing gets the type that follows. */
static void
outputs_are_declared(void **state)
{
	int64_t dims[] = {0, 2};
	struct sl_graph *graph, *again;
	const struct sl__type *type;
	struct sl_error err = {.status = SL_OK, .text = ""};
	uint32_t x, y;

	(void)state;
	assert_int_equal(sl__graph_new(&graph, NULL, NULL), 0);
	assert_int_equal(
		sl__graph_intern_symbol(graph, &dims[0], "batch", NULL), 0);
	x = add_input(graph, "x", dims);
	y = add_value(graph, "y", 0);
	add_node(graph, &(struct plan){"Relu", NULL, 0, {x}, 1, y, NULL, 0});
	finish(graph, x, y);
	assert_int_equal(sl_graph_write(graph, path, &err), SL_OK);
	again = read_back();
	type = &again->values[again->blocks[0].outputs[0]].declared;
	assert_int_equal(type->kind, SL__TYPE_TENSOR);
	assert_int_equal(type->dtype, SL_DTYPE_F32);
	assert_int_equal(type->rank, 2);
	assert_true(type->dims[0] ==
		    again->values[again->blocks[0].inputs[0]].declared.dims[0]);
	assert_true(type->dims[1] == 2);
	sl_graph_free(again);
	sl_graph_free(graph);
	empty_folder();
}

/* What cannot be inferred is left out, and is no error of writing. */
static void
outputs_that_cannot_be_declared(void **state)
{
	static int64_t dims[] = {5, 2};
	struct sl_error err = {.status = SL_OK, .text = ""};
	struct sl_graph *graph;
	uint32_t x, y;

	(void)state;
	assert_int_equal(sl__graph_new(&graph, NULL, NULL), 0);
	x = add_input(graph, "x", dims);
	y = add_value(graph, "y", 0);
	add_node(graph,
		 &(struct plan){"MatMul", NULL, 0, {x, x}, 2, y, NULL, 0});
	finish(graph, x, y);
	assert_int_equal(sl_graph_write(graph, path, &err), SL_OK);
	assert_int_equal(err.status, SL_OK);
	assert_string_equal(err.text, "");
	sl_graph_free(graph);
	empty_folder();
}

/* Every allocation may fail: SL_E_NOMEM, nothing leaks, no file stays. */
static void
memory_may_run_out(void **state)
{
	struct counting counting = {0, 0, 0};
	const struct sl_allocator allocator = counting_allocator(&counting);
	struct sl_graph *graph = build(&allocator, "inner");
	struct sl_error err;
	int n_built = counting.n_out;

	(void)state;
	for (int n = 1;; n++) {
		enum sl_status rc;

		counting.n_requests = 0;
		counting.fail_at = n;
		rc = sl__onnx_write(graph, path, n % 2 ? INT32_MAX : 1500,
				    &err);
		assert_int_equal(counting.n_out, n_built);
		if (rc == SL_OK)
			break;
		assert_int_equal(rc, SL_E_NOMEM);
		assert_int_equal(empty_folder(), 0);
	}
	sl_graph_free(graph);
	assert_int_equal(counting.n_out, 0);
	assert_true(empty_folder() > 0);
}

static void
places_that_cannot_be_written(void **state)
{
	static const char *const places_not[] = {"/nowhere/at/all/model.onnx",
						 "/dev/full", "/tmp", ""};
	struct sl_graph *graph = build(NULL, "inner");
	struct sl_error err;

	(void)state;
	for (size_t i = 0; i < sizeof(places_not) / sizeof(*places_not); i++) {
		memset(&err, 0, sizeof(err));
		assert_int_equal(sl_graph_write(graph, places_not[i], &err),
				 SL_E_IO);
		assert_non_null(strstr(err.text, places_not[i]));
	}
	sl_graph_free(graph);
}

/* What stands under the name stays when the new model cannot be written. */
static void
old_files_survive_failure(void **state)
{
	struct sl_graph *graph = build(NULL, "inner"), *again;
	struct sl_error err = {.status = SL_OK, .text = ""};

	(void)state;
	assert_int_equal(sl_graph_write(graph, path, &err), SL_OK);
	assert_int_equal(sl__onnx_write(graph, path, 50, &err), SL_E_DATA);
	again = read_back();
	assert_same_graph(graph, again, 1);
	/* Onto the file that it is being read from. */
	assert_int_equal(sl_graph_write(again, path, &err), SL_OK);
	sl_graph_free(again);
	again = read_back();
	assert_same_graph(graph, again, 1);
	sl_graph_free(again);
	sl_graph_free(graph);
	assert_int_equal(empty_folder(), 1);
}

#ifdef SL_TEST_MODELS
/* One of them gives a name to two values; the second is renamed. */
static void
real_models_come_back(void **state)
{
	DIR *dir = opendir(SL_TEST_MODELS);
	struct dirent *entry;
	size_t n = 0;

	(void)state;
	assert_non_null(dir);
	while ((entry = readdir(dir))) {
		struct sl_graph *graph, *again;
		struct sl_error err = {.status = SL_OK, .text = ""};
		char from[512];

		snprintf(from, sizeof(from), "%s/%s/model.onnx", SL_TEST_MODELS,
			 entry->d_name);
		if (access(from, F_OK))
			continue;
		if (sl__onnx_open(&graph, from, NULL, &err) ||
		    sl_graph_write(graph, path, &err))
			fail_msg("%s", err.text);
		again = read_back();
		assert_same_graph(graph, again, 0);
		sl_graph_free(again);
		sl_graph_free(graph);
		n++;
	}
	closedir(dir);
	assert_true(n > 0);
	empty_folder();
}
#endif

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(large_weights_lie_beside),
		cmocka_unit_test(made_weights_are_written),
		cmocka_unit_test(outputs_are_declared),
		cmocka_unit_test(outputs_that_cannot_be_declared),
		cmocka_unit_test(memory_may_run_out),
		cmocka_unit_test(places_that_cannot_be_written),
		cmocka_unit_test(old_files_survive_failure),
#ifdef SL_TEST_MODELS
		cmocka_unit_test(real_models_come_back),
#endif
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
