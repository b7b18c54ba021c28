/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_variant_search.c - changes that are applied are told as the variant has
 * them; the size of a model as a file is that of the file that is written;
 * variants are measured beside the model, and limits that nothing meets are
 * told.
 */
#include "harness.h"
#include "sleuth.h"

#include <sys/stat.h>
#include <unistd.h>

static void
applied(void **state)
{
	const struct sl_optimize_options how = {.struct_size = sizeof(how),
						.apply = "threads=1,bf16"};
	struct sl_optimization *o = NULL;
	struct sl_graph *graph = NULL;
	char path[] = "/tmp/sleuth-test-XXXXXX";
	struct stat file;
	struct sl_error err;

	(void)state;
	assert_int_equal(sl_graph_open(&graph, "lenet5", NULL, &err), SL_OK);
	assert_int_equal(sl_optimize(&o, graph, &how, &err), SL_OK);
	assert_int_equal(o->n_variants, 2);
	assert_string_equal(o->variants[0].name, "baseline");
	assert_string_equal(o->variants[1].name, "threads=1,bf16");
	assert_int_equal(o->variants[1].n_changes, 2);
	assert_string_equal(o->variants[1].changes[1].name, "bf16");
	assert_null(o->variants[1].file);
	assert_null(o->data);

	assert_true(mkstemp(path) >= 0);
	assert_int_equal(sl_graph_write(graph, path, &err), SL_OK);
	assert_int_equal(stat(path, &file), 0);
	assert_int_equal(o->variants[0].size_bytes, file.st_size);
	unlink(path);
	sl_optimization_free(o);
	sl_graph_free(graph);
}

/* Figures of every variant are there, and those of accuracy are what
 * sl_evaluate() finds. */
static void
searched(void **state)
{
	static const char *const candidates[] = {"threads=1", "fuse=off"};
	const struct sl_plan_options plan = {.struct_size = sizeof(plan),
					     .n_threads = 1,
					     .algorithms = SL_ALGORITHMS_FIXED,
					     .flags = SL_PLAN_NO_CACHE};
	struct sl_variant_options making = {.struct_size = sizeof(making),
					    .plan = &plan};
	struct sl_optimize_options how = {.struct_size = sizeof(how),
					  .variant = &making,
					  .candidates = candidates,
					  .n_candidates = 2,
					  .time_s = 0.05};
	struct sl_optimization *o = NULL;
	struct sl_evaluation *e = NULL;
	struct sl_dataset *data = NULL;
	struct sl_graph *graph = NULL;
	struct sl_error err;

	(void)state;
	assert_int_equal(sl_graph_open(&graph, "digits-mlp", NULL, &err), 0);
	assert_int_equal(sl_dataset_open(&data, "digits", NULL, &err), 0);
	assert_int_equal(sl_evaluate(&e, graph, data, NULL, &err), 0);
	making.data = data;
	assert_int_equal(sl_optimize(&o, graph, &how, &err), SL_OK);
	assert_int_equal(o->n_variants, 3);
	assert_false(o->is_applied);
	for (size_t i = 0; i < 3; i++) {
		const struct sl_variant_result *v = &o->variants[i];

		assert_true(v->time_ns.n > 0 && v->memory_bytes > 0);
		assert_float_equal(v->accuracy.value, e->accuracy.value, 1e-12);
		assert_int_equal(v->difference.n_lost, 0);
		assert_int_equal(v->ratio.n > 0, i > 0);
	}
	assert_string_equal(o->data, "digits");
	sl_optimization_free(o);

	/* Nothing is that small; something came closest. */
	making.data = NULL;
	how.limits.of[SL_OBJECTIVE_SIZE] = 10;
	assert_int_equal(sl_optimize(&o, graph, &how, &err), SL_OK);
	assert_int_equal(o->recommended, SIZE_MAX);
	assert_true(o->closest < 3);
	assert_int_equal(o->variants[1].accuracy_kind, SL_ACCURACY_AGREEMENT);
	assert_float_equal(o->variants[1].accuracy.value, 1, 1e-12);
	assert_float_equal(o->variants[1].output_error, 0, 1e-6);
	sl_optimization_free(o);
	sl_evaluation_free(e);
	sl_dataset_close(data);
	sl_graph_free(graph);
}

/* An interrupt ends it before the first figure with an error. */
static void
interrupted(void **state)
{
	const volatile sig_atomic_t flag = 1;
	const struct sl_variant_options making = {.struct_size = sizeof(making),
						  .interrupt = &flag};
	const struct sl_optimize_options how = {.struct_size = sizeof(how),
						.variant = &making};
	struct sl_optimization *o = NULL;
	struct sl_graph *graph = NULL;
	struct sl_error err;

	(void)state;
	assert_int_equal(sl_graph_open(&graph, "mlp:4-3-2", NULL, &err), SL_OK);
	assert_int_equal(sl_optimize(&o, graph, &how, &err), SL_E_INTERRUPTED);
	assert_null(o);
	sl_graph_free(graph);
}

static void
refused(void **state)
{
	struct sl_optimize_options how = SL_OPTIMIZE_OPTIONS_INIT;
	struct sl_optimization *o = NULL;
	struct sl_graph *graph = NULL;
	struct sl_error err;

	(void)state;
	assert_int_equal(sl_graph_open(&graph, "mlp:4-3-2", NULL, &err), SL_OK);
	how.apply = "int9";
	assert_int_equal(sl_optimize(&o, graph, &how, &err), SL_E_USAGE);
	assert_null(o);
	how.apply = "threads=1";
	how.onnx = "/nowhere/a.onnx";
	assert_int_equal(sl_optimize(&o, graph, &how, &err), SL_E_USAGE);
	assert_non_null(strstr(err.text, "nothing to write"));
	sl_graph_free(graph);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(applied),
		cmocka_unit_test(searched),
		cmocka_unit_test(interrupted),
		cmocka_unit_test(refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
