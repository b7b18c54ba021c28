/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_variant_shrink.c - changes that make a model smaller: what they say they
 * did follows from the model and the share, and the plan of the result runs.
 */
#include "harness.h"
#include "sleuth.h"

/* Built-in models: what is left follows from the share alone, and the plan
 * runs. */
static void
built_in(void **state)
{
	static const struct {
		const char *model, *changes, *text;
		size_t n_layers;
	} rows[] = {
		{"digits-cnn", "prune-channels=0.5",
		 "removed 40 of 80 channels", 4},
		{"digits-transformer", "prune-heads=0.5",
		 "removed 4 of 8 heads", 8},
		{"digits-transformer", "prune-channels=0.25",
		 "removed 80 of 320 channels", 14},
		{"mobilenetv2", "prune-channels=0.5",
		 "removed 4564 of 9128 channels", 53},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct sl_variant *v;
		struct sl_graph *graph;
		struct sl_plan *plan;
		struct sl_error err = {0};

		assert_int_equal(
			sl_graph_open(&graph, rows[i].model, NULL, &err),
			SL_OK);
		if (sl_variant_new(&v, graph, rows[i].changes, NULL, &err))
			fail_msg("%s", err.text);
		assert_string_equal(v->changes[0].text, rows[i].text);
		assert_int_equal(v->changes[0].n_layers, rows[i].n_layers);
		assert_true(v->changes[0].weights_after_bytes <
			    v->changes[0].weights_before_bytes);
		if (sl_plan_new(&plan, v->graph, &v->plan, &err) ||
		    sl_plan_fill_inputs(plan, 1, &err) ||
		    sl_plan_run(plan, &err))
			fail_msg("%s", err.text);
		sl_plan_free(plan);
		sl_variant_free(v);
		sl_graph_free(graph);
	}
}

static double
accuracy_of(const struct sl_graph *graph, const struct sl_dataset *data)
{
	struct sl_plan_options plan = {.struct_size = sizeof(plan),
				       .n_threads = 1};
	struct sl_evaluate_options how = {.struct_size = sizeof(how),
					  .plan = &plan};
	struct sl_evaluation *e;
	struct sl_error err = {0};
	double accuracy;

	if (sl_evaluate(&e, graph, data, &how, &err))
		fail_msg("%s", err.text);
	accuracy = e->accuracy.value;
	sl_evaluation_free(e);
	return accuracy;
}

/* Of ten classes, training finds more than 4 in 5 in two epochs, with half of
 * the channels; a model that was never trained finds about one in ten. */
static void
fine_tuning(void **state)
{
	volatile sig_atomic_t stop = 1;
	struct sl_plan_options plan = {.struct_size = sizeof(plan),
				       .n_threads = 1};
	struct sl_variant_options how = {.struct_size = sizeof(how),
					 .plan = &plan};
	struct sl_dataset *data;
	struct sl_graph *graph;
	struct sl_variant *v;
	struct sl_error err = {0};

	(void)state;
	assert_int_equal(sl_graph_open(&graph, "digits-mlp", NULL, &err),
			 SL_OK);
	assert_int_equal(sl_dataset_open(&data, "digits", NULL, &err), SL_OK);
	assert_int_equal(sl_variant_new(&v, graph, "fine-tune=2", &how, &err),
			 SL_E_USAGE);
	assert_non_null(strstr(err.text, "needs data"));
	how.data = data;
	if (sl_variant_new(&v, graph, "prune-channels=0.5,fine-tune=2", &how,
			   &err))
		fail_msg("%s", err.text);
	assert_int_equal(v->changes[1].n_layers, 3);
	assert_int_equal(v->changes[1].weights_after_bytes,
			 v->changes[0].weights_after_bytes);
	assert_non_null(strstr(v->changes[1].text, "2 more epochs"));
	assert_true(accuracy_of(graph, data) < 0.4);
	assert_true(accuracy_of(v->graph, data) > 0.8);
	sl_variant_free(v);
	how.interrupt = &stop;
	assert_int_equal(sl_variant_new(&v, graph, "fine-tune=2", &how, &err),
			 SL_E_INTERRUPTED);
	assert_null(v);
	sl_dataset_close(data);
	sl_graph_free(graph);
}

/* A student without labels: the model with half of its channels learns what
 * the whole one, which was trained, gives. */
static void
distilling(void **state)
{
	struct sl_plan_options plan = {.struct_size = sizeof(plan),
				       .n_threads = 1};
	struct sl_variant_options how = {.struct_size = sizeof(how),
					 .plan = &plan};
	struct sl_dataset *data;
	struct sl_graph *graph;
	struct sl_variant *teacher, *v;
	struct sl_error err = {0};

	(void)state;
	assert_int_equal(sl_graph_open(&graph, "digits-mlp", NULL, &err),
			 SL_OK);
	assert_int_equal(sl_dataset_open(&data, "digits", NULL, &err), SL_OK);
	assert_int_equal(sl_variant_new(&v, graph, "distil=2", &how, &err),
			 SL_E_USAGE);
	assert_non_null(strstr(err.text, "needs data"));
	how.data = data;
	assert_int_equal(sl_variant_new(&v, graph, "distil=2", &how, &err),
			 SL_E_USAGE);
	assert_non_null(strstr(err.text, "changed before it"));
	if (sl_variant_new(&teacher, graph, "fine-tune=3", &how, &err) ||
	    sl_variant_new(&v, teacher->graph, "prune-channels=0.5,distil=3",
			   &how, &err))
		fail_msg("%s", err.text);
	assert_int_equal(v->changes[1].n_layers, 3);
	assert_non_null(strstr(v->changes[1].text, "for 3 epochs"));
	assert_true(accuracy_of(v->graph, data) > 0.8);
	sl_variant_free(v);
	sl_variant_free(teacher);
	sl_dataset_close(data);
	sl_graph_free(graph);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(built_in),
		cmocka_unit_test(fine_tuning),
		cmocka_unit_test(distilling),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
