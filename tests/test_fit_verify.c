/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_fit_verify.c - proves that a model runs at the size that is named and
 * is out of memory at the next one, in a process that has so much memory and
 * no more, and that what cannot be tried is said.
 *
 * Nothing here makes a plan in this process itself: threads do not survive the
 * forks.
 */
#include "needs_dnnl.h"
#include "sleuth.h"
#include "experiment/confined.h"
#include "dnnl_memory.h"
#include "emulator.h"

#include <math.h>
#include <string.h>

static struct sl_fit *
fitted(struct sl_graph **graph, const char *name, struct sl_fit_options *how)
{
	struct sl_fit *fit = NULL;
	struct sl_error err;

	skip_in_emulator("a child that was forked cannot start threads");
	if (sl_graph_open(graph, name, NULL, &err) ||
	    sl_fit(&fit, *graph, how, &err))
		fail_msg("%s: %s", name, err.text);
	return fit;
}

static enum sl_status
try_what(const struct sl_graph *graph, int64_t batch, double memory_bytes,
	 const struct sl__training_options *training,
	 struct sl__confined_outcome *out)
{
	struct sl_sizes sizes = {.struct_size = sizeof(sizes), .batch = batch};
	struct sl_plan_options plan = {.struct_size = sizeof(plan),
				       .sizes = &sizes,
				       .algorithms = SL_ALGORITHMS_FIXED};
	struct sl__confined_options how = {.graph = graph,
					   .plan = &plan,
					   .training = training,
					   .memory_bytes = memory_bytes,
					   .is_run = 1};
	struct sl_error err;

	skip_in_emulator("a child that was forked cannot start threads");
	if (sl__confined_run(out, &how, &err))
		fail_msg("%s", err.text);
	return out->status;
}

static enum sl_status
try_batch(const struct sl_graph *graph, int64_t batch, double memory_bytes,
	  struct sl__confined_outcome *out)
{
	return try_what(graph, batch, memory_bytes, NULL, out);
}

/* What ran is the answer, on the page and in JSON. */
static void
check_one_answer(const struct sl_fit *fit)
{
	struct sl_render_options text = {.struct_size = sizeof(text),
					 .n_columns = 200};
	struct sl_render_options json = {.struct_size = sizeof(json),
					 .format = SL_FORMAT_JSON};
	struct sl_buf out = {0};
	char line[128];

	assert_int_equal(sl_fit_render(fit, &text, &out, NULL), SL_OK);
	snprintf(line, sizeof(line), " is %lld.\n",
		 (long long)fit->verified.runs_at);
	assert_non_null(strstr(out.data, line));
	sl_buf_release(&out);
	assert_int_equal(sl_fit_render(fit, &json, &out, NULL), SL_OK);
	snprintf(line, sizeof(line), "\"largest\": %lld,",
		 (long long)fit->verified.runs_at);
	assert_non_null(strstr(out.data, line));
	snprintf(line, sizeof(line), "\"graph_largest\": %lld,",
		 (long long)fit->graph_largest);
	assert_non_null(strstr(out.data, line));
	snprintf(line, sizeof(line), "\"predicted_largest\": %lld,",
		 (long long)fit->largest);
	assert_non_null(strstr(out.data, line));
	assert_int_equal(strstr(out.data, "\"as_predicted\": true") != NULL,
			 fit->verified.runs_at == fit->largest);
	assert_int_equal(strstr(out.data, "\"difference\": \"") != NULL,
			 fit->verified.runs_at != fit->largest);
	assert_non_null(strstr(out.data, "\"largest_basis\": \"verified\""));
	sl_buf_release(&out);
}

/* Where kernels take memory while they run, whether a run near the edge has
 * enough depends on how its threads meet: half of that size has, and one that
 * cannot be planned has not. */
static int64_t
surely_runs_at(const struct sl_fit *fit)
{
	return fit->verified.runs_at / (KERNELS_TAKE_MEMORY ? 2 : 1);
}

static int64_t
surely_fails_at(const struct sl_fit *fit)
{
	return KERNELS_TAKE_MEMORY ? fit->verified.planned_at + 1
				   : fit->verified.fails_at;
}

/* At the size it names it runs, beyond it does not: asked once more, apart
 * from the search. */
static void
verify(const char *name, double memory_bytes)
{
	struct sl_fit_options how = {.struct_size = sizeof(how),
				     .memory_bytes = memory_bytes};
	struct sl_graph *graph;
	struct sl_fit *fit = fitted(&graph, name, &how);
	struct sl__confined_outcome again;
	struct sl_error err;

	if (sl_fit_verify(fit, graph, &how, &err))
		fail_msg("%s: %s", name, err.text);
	assert_true(fit->is_planned);
	assert_true(fit->verified.n_trials >= 2);
	assert_true(fit->verified.runs_at >= 1);
	assert_int_equal(fit->verified.fails_at, fit->verified.runs_at + 1);
	assert_true(fit->verified.planned_at >= fit->verified.runs_at);
	if (!KERNELS_TAKE_MEMORY)
		assert_int_equal(fit->verified.planned_at,
				 fit->verified.runs_at);
	assert_true(fit->verified.weights_bytes > 0);
	assert_true(fit->verified.weights_bytes + fit->verified.block_bytes <=
		    fit->verified.used_bytes);
	check_one_answer(fit);
	assert_true(fit->verified.used_bytes > 0);
	assert_true(fit->verified.used_bytes <= memory_bytes);
	assert_int_equal(
		try_batch(graph, surely_runs_at(fit), memory_bytes, &again),
		SL_OK);
	assert_int_equal(
		try_batch(graph, surely_fails_at(fit), memory_bytes, &again),
		SL_E_NOMEM);
	assert_non_null(strstr(again.text, "memory"));
	sl_fit_free(fit);
	sl_graph_free(graph);
}

static void
a_perceptron_runs_up_to_its_size(void **state)
{
	(void)state;
	verify("mlp:784-256-128-10", 64e6);
}

static void
a_network_runs_up_to_its_size(void **state)
{
	(void)state;
	needs_dnnl(); /* reference kernels take more memory than that */
	verify("mobilenetv2", 120e6);
}

static void
what_does_not_run_is_said(void **state)
{
	struct sl_fit_options how = {.struct_size = sizeof(how),
				     .memory_bytes = 1e6};
	struct sl_graph *graph;
	struct sl_fit *fit = fitted(&graph, "mlp:784-256-128-10", &how);
	struct sl_error err;

	(void)state;
	assert_int_equal(sl_fit_verify(fit, graph, &how, &err), SL_OK);
	assert_int_equal(fit->verified.runs_at, 0);
	assert_int_equal(fit->verified.fails_at, 1);
	assert_true(isnan(fit->verified.used_bytes));
	assert_true(isnan(fit->verified.block_bytes));
	assert_int_equal(fit->verified.planned_at, 0);
	sl_fit_free(fit);
	sl_graph_free(graph);
}

static void
what_cannot_be_tried_is_said(void **state)
{
	struct sl_fit_options how = {.struct_size = sizeof(how),
				     .memory_bytes = 1e15};
	struct sl_graph *graph;
	struct sl_fit *fit = fitted(&graph, "mlp:784-256-128-10", &how);
	struct sl_error err;

	(void)state;
	assert_int_equal(sl_fit_verify(fit, graph, &how, &err), SL_E_ABSENT);
	how.optimizer = SL_OPTIMIZER_SGD;
	assert_int_equal(sl_fit_verify(fit, graph, &how, &err), SL_E_ABSENT);
	sl_fit_free(fit);
	sl_graph_free(graph);
}

/* A model that is wrong is no lack of memory. */
static void
other_failures_are_told_apart(void **state)
{
	struct sl__confined_outcome result;
	struct sl_graph *graph;

	(void)state;
	assert_int_equal(sl_graph_open(&graph, "conv:3,8,3,32", NULL, NULL),
			 SL_OK);
	assert_int_equal(try_batch(graph, 1, 1e8, &result), SL_OK);
	assert_string_equal(result.text, "");
	assert_true(result.used_bytes > 0 && result.used_bytes < 1e8);
	assert_int_equal(try_batch(graph, -1, 1e8, &result), SL_E_DATA);
	assert_true(isnan(result.used_bytes));
	sl_graph_free(graph);
}

/* Refused at every size: the model is wrong, not the memory short. */
static void
a_model_that_is_refused_is_an_error(void **state)
{
	struct sl_sizes sizes = {.struct_size = sizeof(sizes), .seq = 7};
	struct sl_fit_options how = {.struct_size = sizeof(how),
				     .memory_bytes = 32e6};
	struct sl_graph *graph;
	struct sl_fit *fit = fitted(&graph, "mlp:784-256-128-10", &how);
	struct sl_render_options text = {.struct_size = sizeof(text)};
	struct sl_render_options json = {.struct_size = sizeof(json),
					 .format = SL_FORMAT_JSON};
	struct sl_buf out = {0};
	struct sl_error err;

	(void)state;
	how.sizes = &sizes;
	assert_int_equal(sl_fit_verify(fit, graph, &how, &err), SL_E_DATA);
	assert_non_null(strstr(err.text, "batch 1:"));
	assert_int_equal(fit->verified.n_trials, 0);
	assert_string_equal(fit->verified.why, err.text);
	assert_int_equal(sl_fit_render(fit, &json, &out, &err), SL_OK);
	assert_non_null(strstr(out.data, "\"verified\": null"));
	assert_non_null(strstr(out.data, "\"verified_absent\": \"batch 1: "));
	sl_buf_release(&out);
	assert_int_equal(sl_fit_render(fit, &text, &out, &err), SL_OK);
	assert_non_null(strstr(out.data, "not verified"));
	sl_buf_release(&out);
	sl_fit_free(fit);
	sl_graph_free(graph);
}

/* A training step: it runs at the size that was found, and the next one is out
 * of memory; weights once and the optimizer's state twice (Adam) beside them. */
static void
a_training_step_runs_up_to_its_size(void **state)
{
	const double parameters = 784 * 256 + 256 + 256 * 128 + 128 + 1290;
	const double memory_bytes = 64e6;
	struct sl_fit_options how = {.struct_size = sizeof(how),
				     .memory_bytes = memory_bytes,
				     .optimizer = SL_OPTIMIZER_ADAM};
	struct sl__training_options step = {.optimizer = SL_OPTIMIZER_ADAM};
	struct sl__confined_outcome again;
	struct sl_graph *graph;
	struct sl_fit *fit = fitted(&graph, "mlp:784-256-128-10", &how);
	const struct sl_fit_verified *v = &fit->verified;
	struct sl_error err;

	(void)state;
	assert_true(fit->is_planned);
	if (sl_fit_verify(fit, graph, &how, &err))
		fail_msg("%s", err.text);
	assert_true(v->runs_at > 1);
	assert_int_equal(v->fails_at, v->runs_at + 1);
	assert_true(v->used_bytes <= memory_bytes);
	/* And three constants of the update. */
	assert_near(v->weights_bytes, 4 * parameters + 12, 0);
	/* And the count of steps. */
	assert_near(v->optimizer_bytes, 8 * parameters + 4, 4);
	assert_true(v->weights_bytes + v->optimizer_bytes + v->block_bytes <=
		    v->used_bytes);
	check_one_answer(fit);
	assert_int_equal(try_what(graph, surely_runs_at(fit), memory_bytes,
				  &step, &again),
			 SL_OK);
	assert_int_equal(try_what(graph, surely_fails_at(fit), memory_bytes,
				  &step, &again),
			 SL_E_NOMEM);
	/* Inference has room where a training step has none. */
	assert_int_equal(try_batch(graph, v->fails_at, memory_bytes, &again),
			 SL_OK);
	sl_fit_free(fit);
	sl_graph_free(graph);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_perceptron_runs_up_to_its_size),
		cmocka_unit_test(a_network_runs_up_to_its_size),
		cmocka_unit_test(a_training_step_runs_up_to_its_size),
		cmocka_unit_test(what_does_not_run_is_said),
		cmocka_unit_test(what_cannot_be_tried_is_said),
		cmocka_unit_test(other_failures_are_told_apart),
		cmocka_unit_test(a_model_that_is_refused_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
