/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_memory_use.c - proves that the accounts of a model's memory fit into
 * each other and add up, that the peak is put down to the right values, that
 * what is predicted is what is touched, and that figures that cannot be are
 * found; test_memory_told.c has what is not known.
 */
#include "dnnl_memory.h"
#include "fact_says.h"
#include "needs_dnnl.h"
#include "graph_text.h"
#include "analysis/memory_use.h"
#include "base/reading.h"
#include "experiment/subject.h"

#include <math.h>

enum { MIB = 1 << 20 };

static struct sl_memory_use *
measured(const struct sl_graph *graph)
{
	struct sl_plan_options how = {.struct_size = sizeof(how),
				      .n_threads = 1,
				      .algorithms = SL_ALGORITHMS_FIXED,
				      .flags = SL_PLAN_NO_CACHE};
	struct sl_memory_use *use;
	struct sl_error err;

	if (sl_measure_memory(&use, graph, &how, &err))
		fail_msg("%s", err.text);
	return use;
}

static void
check_accounts(const struct sl_memory_use *use)
{
	uint64_t sum = 0;

	assert_true(use->live_bytes <= use->planned_bytes);
	assert_int_equal(use->planned_bytes + use->packed_bytes +
				 use->records_bytes + use->rounding_bytes,
			 use->reserved_bytes);
	assert_true(use->values_bytes <= use->path_bytes);
	assert_null(use->unplanned);
	assert_null(use->tracked_bytes.absent);
	assert_near(use->tracked_bytes.value, (double)use->path_bytes, 0);
	assert_int_equal(use->input_bytes + use->output_bytes +
				 use->workspace_bytes + use->activations_bytes,
			 use->path_bytes);
	for (size_t i = 0; i < use->n_alive; i++) {
		sum += use->alive[i].n_bytes;
		assert_true(!i ||
			    use->alive[i].n_bytes <= use->alive[i - 1].n_bytes);
	}
	assert_int_equal(sum, use->path_bytes);
	assert_near(use->resident_bytes.value,
		    use->resident_base_bytes.value + use->touched_bytes.value +
			    use->file_bytes.value,
		    1e-3);
	assert_true(use->resident_peak_bytes.value >=
		    use->resident_bytes.value);
}

/* 16 lines of 64 bytes and more: names and categories at the peak. */
static void
the_peak_has_names(void **state)
{
	struct graph_text *g = graph_text_with("opset 13\n"
					       "in x f32 4,4\n"
					       "a = Concat x x axis=0\n"
					       "b = Concat a a axis=0\n"
					       "c = Concat b b axis=0\n"
					       "y = ReduceMax c axes=[0]\n"
					       "out y\n",
					       NULL);
	struct sl_memory_use *use = measured(g->graph);

	(void)state;
	check_accounts(use);
	assert_int_equal(use->live_bytes, 13 * 64);
	assert_int_equal(use->peak_operation, 2);
	assert_int_equal(use->n_timeline, 4);
	assert_int_equal(use->timeline[3].operation, 3);
	assert_int_equal(use->timeline[3].live_bytes, 10 * 64);
	assert_int_equal(use->n_alive, 3);
	assert_string_equal(use->alive[0].name, "c");
	assert_string_equal(use->alive[1].name, "b");
	assert_string_equal(use->alive[2].name, "x");
	assert_int_equal(use->input_bytes, 64);
	assert_int_equal(use->output_bytes, 0);
	assert_int_equal(use->activations_bytes, 12 * 64);
	sl_memory_use_free(use);
	graph_text_free(g);
}

/* In place: the name is the one of the value that was there at the peak. */
static void
values_in_one_place_have_their_own_names(void **state)
{
	struct graph_text *g = graph_text_with("opset 13\n"
					       "in x f32 4,4\n"
					       "a = Concat x x axis=0\n"
					       "b = Sigmoid a\n"
					       "c = Neg b\n"
					       "y = Concat c c axis=0\n"
					       "out y\n",
					       NULL);
	struct sl_memory_use *use = measured(g->graph);

	(void)state;
	check_accounts(use);
	assert_int_equal(use->live_bytes, 7 * 64);
	assert_string_equal(use->alive[0].name, "y");
	assert_true(!strcmp(use->alive[1].name, "c") ||
		    !strcmp(use->alive[1].name, "b"));
	assert_int_equal(use->output_bytes, 4 * 64);
	sl_memory_use_free(use);
	graph_text_free(g);
}

/* Returns the weights made. */
static uint64_t
check_predicted(const struct sl_graph *graph, const char *name)
{
	struct sl_memory_use *use = measured(graph);
	double most = fmax(0.05 * use->predicted_bytes, 4.0 * MIB);
	uint64_t packed = use->packed_bytes;

	check_accounts(use);
	assert_int_equal(use->path_bytes, use->live_bytes);
	/* As under a sanitizer. */
	if (isnan(use->predicted_bytes))
		print_message("%s: malloc keeps no records, nothing is "
			      "predicted\n",
			      name);
	if (KERNELS_KEEP_MEMORY)
		assert_true(use->touched_bytes.value >=
			    use->predicted_bytes - most);
	else if (fabs(use->touched_bytes.value - use->predicted_bytes) > most)
		fail_msg("%s: %.0f bytes touched, %.0f predicted", name,
			 use->touched_bytes.value, use->predicted_bytes);
	assert_null(use->impossible);
	assert_true(use->efficiency > 0 && use->efficiency <= 1);
	sl_memory_use_free(use);
	return packed;
}

/* Alone, and beside a plan whose weights are found made. */
static void
what_is_touched_was_predicted(void **state)
{
	static const char *const names[] = {"mlp:784-1024-1024-10",
					    "mobilenetv2", "lstm"};

	(void)state;
	needs_dnnl(); /* reference kernels take memory as they run */
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct sl_plan_options how = {.struct_size = sizeof(how),
					      .n_threads = 1,
					      .algorithms = SL_ALGORITHMS_FIXED,
					      .flags = SL_PLAN_NO_CACHE};
		struct sl_plan *plan;
		struct sl_graph *graph;
		uint64_t packed;

		assert_int_equal(sl_graph_open(&graph, names[i], NULL, NULL),
				 SL_OK);
		packed = check_predicted(graph, names[i]);
		assert_int_equal(sl_plan_new(&plan, graph, &how, NULL), SL_OK);
		assert_int_equal(check_predicted(graph, names[i]), packed);
		sl_plan_free(plan);
		sl_graph_free(graph);
	}
}

static void
what_is_not_planned_has_no_peak(void **state)
{
	struct graph_text *g = graph_text_with("opset 13\n"
					       "in x f32 4,4\n"
					       "y = NonZero x\n"
					       "out y\n",
					       NULL);
	struct sl_memory_use *use = measured(g->graph);

	(void)state;
	assert_non_null(use->tracked_bytes.absent);
	assert_true(isnan(use->tracked_bytes.value));
	assert_int_equal(use->n_timeline, 0);
	assert_int_equal(use->n_alive, 0);
	sl_memory_use_free(use);
	graph_text_free(g);
}

static struct sl_memory_use
sound(void)
{
	struct sl_memory_use use = {.parameters_bytes = 60,
				    .live_bytes = 20,
				    .path_bytes = 20,
				    .values_bytes = 20,
				    .planned_bytes = 30,
				    .packed_bytes = 70,
				    .records_bytes = 40,
				    .rounding_bytes = 60,
				    .reserved_bytes = 200};

	use.tracked_bytes = sl__present(20);
	use.resident_base_bytes = sl__present(1000);
	use.resident_peak_bytes = sl__present(1160);
	use.touched_bytes = sl__present(120);
	use.file_bytes = sl__present(10);
	return use;
}

static void
judge(struct sl_memory_use *use, const char *found)
{
	struct sl__arena arena;

	sl__arena_init(&arena, NULL);
	assert_int_equal(sl__memory_use_judge(use, &arena, NULL), SL_OK);
	if (found) {
		assert_non_null(use->impossible);
		assert_true(fact_says(use->impossible, found));
	} else {
		assert_null(use->impossible);
	}
	sl__arena_release(&arena);
}

static void
what_cannot_be_is_found(void **state)
{
	struct sl_memory_use use = sound();

	(void)state;
	judge(&use, NULL);
	assert_near(use.efficiency, (20 + 60) / 160.0, 1e-12);

	use.tracked_bytes = sl__present(21);
	judge(&use, "more than the plan's bound");
	use = sound();
	use.live_bytes = 31;
	judge(&use, "do not fit into each other");
	use = sound();
	use.planned_bytes = 201;
	judge(&use, "do not fit into each other");
	use = sound();
	use.rounding_bytes = 61;
	judge(&use, "its parts are 201 B");
	assert_true(isnan(use.efficiency));
	use = sound();
	use.touched_bytes = sl__present(89);
	judge(&use, "less than");
	use = sound();
	use.resident_peak_bytes = sl__present(1079);
	judge(&use, "efficiency");
}

/* Where the smaller side of an If ran, it is what must have been touched. */
static void
a_side_that_did_not_run_is_not_needed(void **state)
{
	struct sl_memory_use use = sound();

	(void)state;
	use.path_bytes = use.values_bytes = 5;
	use.tracked_bytes = sl__present(5);
	use.touched_bytes = sl__present(5 + 70);
	use.resident_peak_bytes = sl__present(1000 + 5 + 60);
	judge(&use, NULL);
	assert_near(use.efficiency, 1, 1e-12);
	use.touched_bytes = sl__present(5 + 70 - 1);
	judge(&use, "less than the 75 B");
	/* What is not tracked may have needed all. */
	use.tracked_bytes = sl__absent("interrupted");
	use.path_bytes = 0;
	use.values_bytes = 20;
	use.touched_bytes = sl__present(20 + 70);
	use.resident_peak_bytes = sl__present(1160);
	judge(&use, NULL);
	assert_near(use.efficiency, (20 + 60) / 160.0, 1e-12);
	use.touched_bytes = sl__present(20 + 70 - 1);
	judge(&use, "less than the 90 B");
}

/* Without malloc's records, or the list of mappings, the library's part is not
 * known, and with it what is touched. */
static void
what_is_not_counted_is_not_predicted(void **state)
{
	struct sl_plan_options plan = {.struct_size = sizeof(plan),
				       .n_threads = 1,
				       .flags = SL_PLAN_NO_CACHE};
	struct sl__subject_model_options how = {.plan = &plan};
	struct sl__tensor_lifetimes tracking = {.absent = "not asked for"};
	struct sl__residence counted = {0}, no_heap = {0}, no_maps = {0};
	const struct sl__residence *const all[] = {&counted, &no_heap,
						   &no_maps};
	struct sl__subject_model subject;
	struct sl__arena arena;
	struct sl_graph *graph;

	(void)state;
	no_heap.now.heap_bytes = (double)NAN;
	no_maps.now.code_bytes = (double)NAN;
	assert_int_equal(sl_graph_open(&graph, "mlp:4-2", NULL, NULL), SL_OK);
	assert_int_equal(sl__subject_model_open(&subject, graph, &how, NULL),
			 SL_OK);
	sl__arena_init(&arena, NULL);
	for (int i = 0; i < 3; i++) {
		struct sl__memory_sources from = {.plan = subject.plan,
						  .tracking = &tracking,
						  .residence = all[i]};
		struct sl_memory_use use;

		assert_int_equal(sl__memory_use_of(&use, &from, &arena, NULL),
				 SL_OK);
		assert_int_equal(isnan(use.library_bytes) != 0, i > 0);
		assert_int_equal(isnan(use.predicted_bytes) != 0, i > 0);
	}
	sl__arena_release(&arena);
	sl__subject_model_close(&subject);
	sl_graph_free(graph);
}

/* A table that is read in place, of which few rows are in memory, counts as
 * far as it is; without a peak there is no efficiency. */
static void
efficiency_counts_what_is_there(void **state)
{
	struct sl_memory_use use = sound();

	(void)state;
	use.parameters_bytes = 100000;
	judge(&use, NULL);
	assert_near(use.efficiency, (20 + 70 + 10) / 160.0, 1e-12);
	use.file_bytes = sl__present(-5);
	judge(&use, NULL);
	assert_near(use.efficiency, (20 + 70) / 160.0, 1e-12);
	use.resident_peak_bytes = sl__absent("not said");
	judge(&use, NULL);
	assert_true(isnan(use.efficiency));
}

/* Operations get what was alive, the profile what cannot be. */
static void
the_rest_of_a_profile_is_told(void **state)
{
	static const struct sl_fact before[] = {
		{.kind = SL_FACT_SUM_IMPOSSIBLE}};
	static const struct sl_fact found = {.kind = SL_FACT_MEMORY_GROWTH};
	const struct sl_memory_moment line[] = {{0, 64}, {2, 128}};
	struct sl_operation operations[3] = {{0}};
	struct sl_profile profile = {.operations = operations,
				     .n_operations = 3,
				     .impossible = before,
				     .n_impossible = 1};
	struct sl__arena arena;

	(void)state;
	sl__arena_init(&arena, NULL);
	profile.memory.timeline = line;
	profile.memory.n_timeline = 2;
	assert_int_equal(sl__profile_fill_live_memory(&profile, &arena, NULL),
			 SL_OK);
	assert_int_equal(operations[0].memory_bytes.value, 64);
	assert_non_null(operations[1].memory_bytes.absent);
	assert_int_equal(operations[2].memory_bytes.value, 128);
	assert_int_equal(profile.n_impossible, 1);
	profile.memory.impossible = &found;
	assert_int_equal(sl__profile_fill_live_memory(&profile, &arena, NULL),
			 SL_OK);
	assert_int_equal(profile.n_impossible, 2);
	assert_int_equal(profile.impossible[0].kind, SL_FACT_SUM_IMPOSSIBLE);
	assert_int_equal(profile.impossible[1].kind, SL_FACT_MEMORY_GROWTH);
	sl__arena_release(&arena);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_peak_has_names),
		cmocka_unit_test(values_in_one_place_have_their_own_names),
		cmocka_unit_test(what_is_touched_was_predicted),
		cmocka_unit_test(what_is_not_planned_has_no_peak),
		cmocka_unit_test(what_cannot_be_is_found),
		cmocka_unit_test(a_side_that_did_not_run_is_not_needed),
		cmocka_unit_test(what_is_not_counted_is_not_predicted),
		cmocka_unit_test(efficiency_counts_what_is_there),
		cmocka_unit_test(the_rest_of_a_profile_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
