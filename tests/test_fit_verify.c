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
#include "timing/proc_text.h"

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

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
try_batch(const struct sl_graph *graph, int64_t batch, double memory_bytes,
	  struct sl__confined_outcome *out)
{
	struct sl_sizes sizes = {.struct_size = sizeof(sizes), .batch = batch};
	struct sl_plan_options plan = {.struct_size = sizeof(plan),
				       .sizes = &sizes,
				       .algorithms = SL_ALGORITHMS_FIXED};
	struct sl__confined_options how = {.graph = graph,
					   .plan = &plan,
					   .memory_bytes = memory_bytes,
					   .is_run = 1};
	struct sl_error err;

	skip_in_emulator("a child that was forked cannot start threads");
	if (sl__confined_run(out, &how, &err))
		fail_msg("%s", err.text);
	return out->status;
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
		try_batch(graph, fit->verified.runs_at, memory_bytes, &again),
		SL_OK);
	assert_int_equal(
		try_batch(graph, fit->verified.fails_at, memory_bytes, &again),
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
	assert_int_equal(sl_fit_verify(fit, graph, &how, &err), SL_E_USAGE);
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

struct fate {
	pid_t parent;
	int by;        /* signal that ends the process; 0: it just leaves */
	int to_parent; /* signal that the parent is sent meanwhile; 0: none */
	rlim_t enough; /* memory with which nothing happens; 0: none is */
};

static rlim_t
limit_of_this_process(void)
{
	struct rlimit limit = {0};

	(void)getrlimit(RLIMIT_DATA, &limit);
	return limit.rlim_cur;
}

/* Memory that is asked for in the confined process is its end. */
static void *
alloc(size_t n_bytes, void *ctx)
{
	const struct fate *fate = ctx;

	if (getpid() == fate->parent ||
	    (fate->enough && limit_of_this_process() > fate->enough))
		return malloc(n_bytes);
	if (fate->to_parent) {
		kill(fate->parent, fate->to_parent);
		for (;;)
			pause();
	}
	if (fate->by)
		raise(fate->by);
	_exit(7);
}

static void
release(void *block, void *ctx)
{
	(void)ctx;
	free(block);
}

static enum sl_status
die(struct sl__confined_outcome *out, struct fate *fate)
{
	struct sl_allocator allocator = {alloc, release, fate};
	struct sl_plan_options plan = {.struct_size = sizeof(plan),
				       .allocator = &allocator};
	struct sl__confined_options how = {.plan = &plan, .memory_bytes = 1e8};
	struct sl_graph *graph;
	enum sl_status rc;

	skip_in_emulator("a child that was forked cannot start threads");
	fate->parent = getpid();
	assert_int_equal(sl_graph_open(&graph, "mlp:4-2", NULL, NULL), SL_OK);
	how.graph = graph;
	rc = sl__confined_run(out, &how, NULL);
	sl_graph_free(graph);
	return rc;
}

/* A fault is no lack of memory. */
static void
deaths_are_told_apart(void **state)
{
	static const struct {
		int by;
		enum sl_status status;
	} cases[] = {{SIGKILL, SL_E_NOMEM},   {SIGABRT, SL_E_NOMEM},
		     {SIGBUS, SL_E_NOMEM},    {SIGILL, SL_E_MEASURE},
		     {SIGSEGV, SL_E_MEASURE}, {SIGFPE, SL_E_MEASURE},
		     {0, SL_E_MEASURE}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fate fate = {.by = cases[i].by};
		struct sl__confined_outcome result;
		char word[32];

		assert_int_equal(die(&result, &fate), SL_OK);
		assert_int_equal(result.status, cases[i].status);
		assert_true(isnan(result.used_bytes));
		snprintf(word, sizeof(word), cases[i].by ? "signal %d" : "%d",
			 cases[i].by ? cases[i].by : 7);
		assert_non_null(strstr(result.text, word));
	}
}

/* Private memory of this process, which a sanitizer makes large. */
static rlim_t
private_bytes(void)
{
	char text[1 << 14];
	const char *at;

	(void)sl__proc_read_file("/proc/self/status", text, sizeof(text));
	at = strstr(text, "VmData:");
	assert_non_null(at);
	return (rlim_t)strtoull(at + strlen("VmData:"), NULL, 10) * 1024;
}

/* A fault that is gone with twice the memory is one.  The process has 100 MB
 * beyond what it had before; its threads take less than 90 MB. */
static void
faults_for_want_of_memory_are_known(void **state)
{
	struct fate fate = {.by = SIGSEGV,
			    .enough = private_bytes() + 190000000};
	struct sl__confined_outcome result;

	(void)state;
	assert_int_equal(die(&result, &fate), SL_OK);
	assert_int_equal(result.status, SL_E_NOMEM);
	assert_int_equal(result.by_signal, SIGSEGV);
	assert_non_null(strstr(result.text, "twice the memory"));
}

static volatile sig_atomic_t n_caught;

static void catch (int number)
{
	(void)number;
	n_caught = n_caught + 1;
}

/* Whether the child gets the signal or the parent alone, its handler is
 * called once it is over. */
static void
interrupts_are_heard(void **state)
{
	struct fate child = {.by = SIGINT}, parent = {.to_parent = SIGINT};
	struct sl__confined_outcome result;

	(void)state;
	assert_true(signal(SIGINT, catch) != SIG_ERR);
	assert_int_equal(die(&result, &child), SL_E_INTERRUPTED);
	assert_int_equal(n_caught, 0);
	assert_int_equal(die(&result, &parent), SL_E_INTERRUPTED);
	assert_int_equal(n_caught, 1);
	(void)signal(SIGINT, SIG_DFL);
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

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_perceptron_runs_up_to_its_size),
		cmocka_unit_test(a_network_runs_up_to_its_size),
		cmocka_unit_test(what_does_not_run_is_said),
		cmocka_unit_test(what_cannot_be_tried_is_said),
		cmocka_unit_test(other_failures_are_told_apart),
		cmocka_unit_test(deaths_are_told_apart),
		cmocka_unit_test(faults_for_want_of_memory_are_known),
		cmocka_unit_test(interrupts_are_heard),
		cmocka_unit_test(a_model_that_is_refused_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
