/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_fit_plan.c - what fits is predicted from the engine's plan: plans made
 * in earnest, under the limit, agree at the size and beyond it; few plans do,
 * memory is not needed for them, and where a model cannot be planned the
 * graph's answer stays and says why.
 *
 * The test of a plan in this process comes last: threads do not survive the
 * forks of the others.
 */
#include "engine/compile.h"
#include "engine/plan.h"
#include "experiment/confined.h"
#include "emulator.h"
#include "json_check.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#define MODELS SL_TEST_DATA "/models/"

/* What a size in between takes mostly: four or five plans, and as many again
 * where memory does not grow in a straight line. */
enum { PLANS_MOST = 16 };

static struct sl_fit *
fit(struct sl_graph **graph, const char *name, struct sl_fit_options how)
{
	struct sl_fit *f = NULL;
	struct sl_error err;

	skip_in_emulator("its own threads count as this process's");
	how.struct_size = sizeof(how);
	if (sl_graph_open(graph, name, NULL, &err) ||
	    sl_fit(&f, *graph, &how, &err))
		fail_msg("%s: %s", name, err.text);
	return f;
}

/* The weights made, all memory asked for under the limit; nothing run. */
static enum sl_status
plan_in_earnest(const struct sl_graph *graph, int64_t batch,
		double memory_bytes)
{
	struct sl_sizes sizes = {.struct_size = sizeof(sizes), .batch = batch};
	struct sl_plan_options plan = {.struct_size = sizeof(plan),
				       .sizes = &sizes,
				       .algorithms = SL_ALGORITHMS_FIXED};
	struct sl__confined_options how = {
		.graph = graph, .plan = &plan, .memory_bytes = memory_bytes};
	struct sl__confined_outcome result;
	struct sl_error err;

	if (sl__confined_run(&result, &how, &err))
		fail_msg("%s", err.text);
	return result.status;
}

/* Dry plans leave no weights in the heap, so that the edge may be off by what
 * lies there: one sample here. */
static void
check_edge(const char *name, double memory_bytes)
{
	struct sl_graph *graph;
	struct sl_fit *f =
		fit(&graph, name,
		    (struct sl_fit_options){.memory_bytes = memory_bytes});

	assert_true(f->is_planned);
	assert_null(f->unplanned);
	assert_in_range(f->n_plans, 3, PLANS_MOST);
	assert_true(f->largest > 1);
	assert_int_equal(f->size, f->largest);
	assert_true(f->total_bytes <= memory_bytes);
	assert_true(isnan(f->next_bytes) || f->next_bytes > memory_bytes);
	assert_near(f->parameters_bytes + f->others_bytes +
			    f->activations_bytes,
		    f->total_bytes, 1);
	assert_int_equal(plan_in_earnest(graph, f->largest - 1, memory_bytes),
			 SL_OK);
	assert_int_equal(plan_in_earnest(graph, f->largest + 2, memory_bytes),
			 SL_E_NOMEM);
	sl_fit_free(f);
	sl_graph_free(graph);
}

static void
test_edges(void **state)
{
	(void)state;
	check_edge("mobilenetv2", 120e6);
	check_edge("conv:3,64,7,224,2,3", 100e6);
}

/* The engine fuses, so that more fits than by the graph; the graph's answer,
 * which is smaller, stands beside it. */
static void
test_both_answers(void **state)
{
	struct sl_graph *graph;
	struct sl_fit_options how = {.memory_bytes = 1e9};
	struct sl_fit *f = fit(&graph, "resnet50", how), *by_graph;
	struct sl_render_options text = {.struct_size = sizeof(text),
					 .n_columns = 200};
	struct sl_render_options json = {.struct_size = sizeof(json),
					 .format = SL_FORMAT_JSON};
	struct sl_buf out = {0};
	struct sl_error err;

	(void)state;
	how.struct_size = sizeof(how);
	how.graph_only = 1;
	assert_int_equal(sl_fit(&by_graph, graph, &how, &err), SL_OK);
	/* 102,440,608 bytes of parameters and statistics; a sample has three
	 * tensors of 256 x 56 x 56 alive, 9,633,792 bytes.  What a sanitizer
	 * takes besides, 100 MB, is less than fusion saves. */
	assert_int_equal(by_graph->largest, 93);
	assert_int_equal(f->graph_largest, 93);
	assert_near(f->graph_bytes, by_graph->total_bytes, 0);
	assert_true(f->largest > f->graph_largest);

	assert_int_equal(sl_fit_render(f, &text, &out, NULL), SL_OK);
	assert_non_null(strstr(out.data, "unfused graph  batch 93 would fit"));
	assert_non_null(strstr(out.data, "Predicted from the engine's plan"));
	sl_buf_release(&out);
	assert_int_equal(sl_fit_render(f, &json, &out, NULL), SL_OK);
	assert_true(json_valid(out.data));
	assert_near(json_number_at(out.data, "fit.largest"), (double)f->largest,
		    0);
	assert_near(json_number_at(out.data, "fit.graph_largest"), 93, 0);
	assert_true(json_is(out.data, "fit.predicted_from", "\"plan\""));
	assert_true(json_is(out.data, "fit.activations_basis", "\"planned\""));
	assert_false(json_has(out.data, "fit.not_planned"));
	sl_buf_release(&out);
	sl_fit_free(by_graph);
	sl_fit_free(f);
	sl_graph_free(graph);
}

#ifdef SL_TEST_MODELS
/* Whether convolutions of bytes have reference kernels alone, as without
 * oneDNN.  On one thread: a process that has more plans none apart. */
static int
convolves_by_reference(const struct sl_graph *graph)
{
	struct sl_plan_options how = {.struct_size = sizeof(how),
				      .n_threads = 1,
				      .algorithms = SL_ALGORITHMS_FIXED,
				      .flags = SL_PLAN_NO_CACHE};
	struct sl_plan *plan;
	struct sl_step step;
	struct sl_error err;
	int n = 0;

	if (sl_plan_new(&plan, graph, &how, &err))
		fail_msg("%s", err.text);
	for (size_t i = 0; sl_plan_step(plan, i, &step); i++)
		n += step.path == SL_PATH_REFERENCE &&
		     !strcmp(step.type, "QLinearConv");
	sl_plan_free(plan);
	return n > 0;
}
#endif

/* Integers take a quarter of the reals that the file has between them. */
static void
test_quantized(void **state)
{
	(void)state;
#ifdef SL_TEST_MODELS
	struct sl_graph *graph;
	struct sl_fit *f = fit(&graph,
			       SL_TEST_MODELS "/mobilenetv2_qdq/model.onnx",
			       (struct sl_fit_options){.memory_bytes = 500e6});

	assert_true(f->is_planned);
	/* 3,542,689 bytes stored, 11,430,912 a sample; planned 2,500,544, or
	 * 3,572,160 where the codes of reference kernels are reordered. */
	assert_int_equal(f->graph_largest, 43);
	assert_true(f->largest > (convolves_by_reference(graph) ? 3 : 4) * 43);
	sl_fit_free(f);
	sl_graph_free(graph);
#else
	skip();
#endif
}

/* Seven billion weights, 27 GB, and more than that of activations: no such
 * memory is needed to plan them. */
static void
test_more_than_there_is(void **state)
{
	struct sl_graph *graph;
	struct sl_fit *f = fit(&graph, "llama-2-7b",
			       (struct sl_fit_options){.memory_bytes = 64e9});

	(void)state;
	assert_true(f->is_planned);
	assert_true(f->parameters_bytes >= 4.0 * 6738415616.0);
	assert_true(f->largest > 1);
	sl_fit_free(f);
	sl_graph_free(graph);
}

static void
test_nothing_fits(void **state)
{
	struct sl_graph *graph;
	struct sl_fit *f = fit(&graph, "vgg16",
			       (struct sl_fit_options){.memory_bytes = 100e6});

	(void)state;
	assert_true(f->is_planned);
	assert_int_equal(f->largest, 0);
	assert_int_equal(f->size, 1);
	assert_int_equal(f->n_plans, 1);
	assert_true(f->total_bytes > 4 * 138357544.0);
	sl_fit_free(f);
	sl_graph_free(graph);
}

/* BERT has 512 positions; the plan is for them. */
static void
test_the_model_takes_no_more(void **state)
{
	struct sl_graph *graph;
	struct sl_fit *f = fit(
		&graph, "bert-base",
		(struct sl_fit_options){.memory_bytes = 1e9, .axis = "seq"});

	(void)state;
	assert_true(f->is_planned);
	assert_int_equal(f->largest, 512);
	assert_non_null(f->limit);
	assert_true(isnan(f->next_bytes));
	assert_non_null(strstr(f->sizes, "seq 512"));
	sl_fit_free(f);
	sl_graph_free(graph);
}

static void
check_unplanned(const char *name, struct sl_fit_options how, const char *why)
{
	struct sl_graph *graph;
	struct sl_fit *f = fit(&graph, name, how);

	assert_false(f->is_planned);
	assert_int_equal(f->largest, f->graph_largest);
	if (!strstr(f->unplanned, why))
		fail_msg("%s: '%s' where '%s' was expected", name, f->unplanned,
			 why);
	sl_fit_free(f);
	sl_graph_free(graph);
}

static void
test_unplanned(void **state)
{
	(void)state;
	check_unplanned(MODELS "unknown_operator.onnx",
			(struct sl_fit_options){.memory_bytes = 1e9,
						.optimizer = SL_OPTIMIZER_SGD},
			"no gradient");
	check_unplanned(MODELS "unknown_operator.onnx",
			(struct sl_fit_options){.memory_bytes = 1e9},
			"operator");
	check_unplanned(MODELS "unknown_sizes.onnx",
			(struct sl_fit_options){.memory_bytes = 1e9},
			"found while the model runs");
	check_unplanned("mlp:64-64",
			(struct sl_fit_options){.memory_bytes = 1e17},
			"memory ends at no size");
}

static void *
wait_for_end(void *ctx)
{
	char word;

	(void)!read(*(int *)ctx, &word, 1);
	return NULL;
}

/* A process with threads is not forked to plan in. */
static void
test_threads(void **state)
{
	pthread_t thread;
	int ends[2];

	(void)state;
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(pthread_create(&thread, NULL, wait_for_end, &ends[0]),
			 0);
	check_unplanned("mlp:64-64",
			(struct sl_fit_options){.memory_bytes = 1e9},
			"has threads");
	close(ends[1]);
	assert_int_equal(pthread_join(thread, NULL), 0);
	close(ends[0]);
}

static void
plan_here(struct sl_plan **out, const struct sl_graph *graph, unsigned flags)
{
	struct sl_plan_options how = {.struct_size = sizeof(how),
				      .algorithms = SL_ALGORITHMS_FIXED,
				      .flags = flags | SL_PLAN_NO_CACHE};
	struct sl_error err;

	if (sl_plan_new(out, graph, &how, &err))
		fail_msg("%s", err.text);
}

/* A dry plan says of its memory what a real one says, makes no weights that
 * another plan would take for its own, and is not run. */
static void
test_dry_plans(void **state)
{
	static const char *const names[] = {"mobilenetv2", "gpt2@kv", "lstm"};
	struct sl_error err;

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct sl_plan_memory is_dry, is_real;
		struct sl_plan *dry, *real;
		struct sl_graph *graph;

		assert_int_equal(sl_graph_open(&graph, names[i], NULL, NULL),
				 SL_OK);
		plan_here(&dry, graph, SL__PLAN_DRY);
		plan_here(&real, graph, 0);
		sl_plan_memory(dry, &is_dry);
		sl_plan_memory(real, &is_real);
		assert_int_equal(is_dry.live_bytes, is_real.live_bytes);
		assert_int_equal(is_dry.planned_bytes, is_real.planned_bytes);
		assert_int_equal(is_dry.weight_bytes, is_real.weight_bytes);
		assert_int_equal(is_dry.mapped_bytes, is_real.mapped_bytes);
		assert_int_equal(real->current->weights->found_bytes, 0);
		assert_int_equal(sl_plan_fill_inputs(dry, 1, &err), SL_OK);
		assert_int_equal(sl_plan_run(dry, &err), SL_E_USAGE);
		sl_plan_free(real);
		sl_plan_free(dry);
		sl_graph_free(graph);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_edges),
		cmocka_unit_test(test_both_answers),
		cmocka_unit_test(test_quantized),
		cmocka_unit_test(test_more_than_there_is),
		cmocka_unit_test(test_nothing_fits),
		cmocka_unit_test(test_the_model_takes_no_more),
		cmocka_unit_test(test_unplanned),
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_dry_plans),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
