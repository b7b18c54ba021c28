/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_real_models.c - proves that models written by others give what their
 * references say, within the tolerances that `sleuth run --check` has by
 * itself: on one thread and on two, with the batch repeated where the model
 * leaves it open, and, the small ones, on reference kernels alone.
 *
 * With arguments, only models whose name contains one of them.
 */
#include "harness.h"
#include "sleuth.h"

#include <dirent.h>

enum {
	HAS_BATCH = 1, /* the first dimension of the first input is open */
	IS_SMALL = 2,  /* reference kernels take a second at most */
	IS_WHOLE = 4   /* its reference was computed in integers, which only
			  fused nodes are */
};

/* Every folder beside the checkout must be one of these. */
static const struct model {
	const char *name;
	int flags;
} models[] = {
	{"basic_pitch_nmp", HAS_BATCH},
	{"dtln_1", IS_SMALL},
	{"dtln_2", IS_SMALL},
	{"gpt2_past_tiny", HAS_BATCH | IS_SMALL},
	{"gtcrn_simple", IS_SMALL},
	{"magika_v3_3", HAS_BATCH},
	{"micro_kws_fp32", IS_SMALL},
	{"micro_kws_qdq", HAS_BATCH | IS_SMALL},
	{"micro_kws_qop", IS_SMALL},
	{"mnist", IS_SMALL},
	{"mobilenetv2_qdq", HAS_BATCH | IS_WHOLE},
	{"silero_vad_op18_ifless", HAS_BATCH | IS_SMALL},
	/* None of its dimensions has a name: the state's batch goes by size. */
	{"silero_vad_v6", HAS_BATCH | IS_SMALL},
	{"squeezenet_fp16", 0},
	{"super_resolution", HAS_BATCH},
	{"tf_bert_qa_tiny", HAS_BATCH | IS_SMALL},
	{"ultraface_rfb320", 0},
};

enum { N_MODELS = sizeof(models) / sizeof(models[0]) };

#ifdef SL_TEST_MODELS

/* How it is run. */
struct way {
	int n_threads;
	int64_t batch;
	unsigned flags;
};

static int
check_outputs(const char *name, const struct way *way, const struct sl_run *run)
{
	for (size_t k = 0; k < run->n_outputs; k++) {
		const struct sl_run_output *o = &run->outputs[k];

		if (o->is_ok)
			continue;
		print_error("%s, %d threads, batch %lld, flags %u: output "
			    "'%s': %g of %g%s%s\n",
			    name, way->n_threads, (long long)way->batch,
			    way->flags, o->name, o->error, o->limit,
			    o->why ? ": " : "", o->why ? o->why : "");
	}
	return run->is_checked && run->is_ok && run->n_outputs > 0;
}

/* Returns 0, after saying why, where the outputs are not as they should be. */
static int
runs_as_it_should(const struct sl_graph *graph, const char *name,
		  const struct way *way)
{
	char folder[512];
	struct sl_sizes sizes = {.struct_size = sizeof(sizes),
				 .batch = way->batch};
	struct sl_plan_options plan = {.struct_size = sizeof(plan),
				       .sizes = &sizes,
				       .n_threads = way->n_threads,
				       .algorithms = SL_ALGORITHMS_FIXED,
				       .flags = way->flags | SL_PLAN_NO_CACHE};
	struct sl_run_options how = {.struct_size = sizeof(how),
				     .plan = &plan,
				     .check_folder = folder};
	struct sl_run *run;
	struct sl_error err;
	int is_ok;

	snprintf(folder, sizeof(folder), "%s/%s/test_data_set_0",
		 SL_TEST_MODELS, name);
	if (sl_run(&run, graph, &how, &err)) {
		print_error("%s, %d threads, batch %lld, flags %u: %s\n", name,
			    way->n_threads, (long long)way->batch, way->flags,
			    err.text);
		return 0;
	}
	is_ok = check_outputs(name, way, run);
	if (run->n_threads != way->n_threads || run->seed) {
		print_error("%s: %d threads, seed %llu\n", name, run->n_threads,
			    (unsigned long long)run->seed);
		is_ok = 0;
	}
	sl_run_free(run);
	return is_ok;
}

static void
check_model(void **state)
{
	const struct model *m = *state;
	const struct way ways[] = {
		{1, 0, 0},
		{2, 0, 0},
		{2, 4, 0},
		{1, 0, SL_PLAN_NO_FUSION},
		{1, 0, SL_PLAN_REFERENCE | SL_PLAN_NO_FUSION},
	};
	struct sl_graph *graph;
	struct sl_error err;
	char path[512];
	int is_ok = 1;

	snprintf(path, sizeof(path), "%s/%s/model.onnx", SL_TEST_MODELS,
		 m->name);
	if (sl_graph_open(&graph, path, NULL, &err))
		fail_msg("%s", err.text);
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		if ((ways[i].batch && !(m->flags & HAS_BATCH)) ||
		    (ways[i].flags && (m->flags & IS_WHOLE)) ||
		    ((ways[i].flags & SL_PLAN_REFERENCE) &&
		     !(m->flags & IS_SMALL)))
			continue;
		is_ok &= runs_as_it_should(graph, m->name, &ways[i]);
	}
	sl_graph_free(graph);
	assert_true(is_ok);
}

static int
is_listed(const char *name)
{
	for (size_t i = 0; i < N_MODELS; i++) {
		if (!strcmp(models[i].name, name))
			return 1;
	}
	return 0;
}

static void
no_folder_is_left_out(void **state)
{
	DIR *folder = opendir(SL_TEST_MODELS);
	const struct dirent *entry;

	(void)state;
	assert_non_null(folder);
	while ((entry = readdir(folder))) {
		if (!strchr(entry->d_name, '.') && !is_listed(entry->d_name))
			fail_msg("'%s' is not tested", entry->d_name);
	}
	closedir(folder);
}

static int
is_wanted(const char *name, int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		if (strstr(name, argv[i]))
			return 1;
	}
	return argc == 1;
}

#endif

int
main(int argc, char **argv)
{
#ifdef SL_TEST_MODELS
	struct CMUnitTest tests[N_MODELS + 1] = {
		cmocka_unit_test(no_folder_is_left_out)};
	struct model copies[N_MODELS];
	size_t n = 1;

	for (size_t i = 0; i < N_MODELS; i++) {
		copies[i] = models[i];
		if (!is_wanted(models[i].name, argc, argv))
			continue;
		tests[n].name = models[i].name;
		tests[n].test_func = check_model;
		tests[n++].initial_state = &copies[i];
	}
	return _cmocka_run_group_tests("real_models", tests, n, NULL, NULL);
#else
	(void)argc;
	(void)argv;
	fprintf(stderr, "skipped: %d models are not beside the checkout\n",
		(int)N_MODELS);
	return 77;
#endif
}
