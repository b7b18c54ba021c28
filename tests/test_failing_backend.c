/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Proves that every operator survives the want of memory: ONNX's own backend
 * tests, each read, planned, run and compared, with requests for memory that
 * fail, one at a time.  Every model fails at other places, so that together
 * they fail everywhere; with --all each fails at every place, with the
 * engine's kernels and with the reference's, which takes minutes.  Exit code
 * 77 where the data is not installed.
 */
#include "fail_each.h"
#include "onnx_folder.h"

#include <dirent.h>
#include <limits.h>

enum { STEP = 37 };

static char folder[PATH_MAX]; /* of the operators' cases */

struct backend {
	char model[PATH_MAX], data[PATH_MAX];
	unsigned flags;
	int is_tried, is_ok; /* the first time */
};

/* What succeeds although a request failed gives the same answer. */
static enum sl_status
read_and_run(void *ctx, const struct sl_allocator *allocator,
	     struct sl_error *err)
{
	struct backend *b = ctx;
	struct sl_graph_options reading = {.struct_size = sizeof(reading),
					   .allocator = allocator};
	struct sl_plan_options plan = {.struct_size = sizeof(plan),
				       .n_threads = 1,
				       .algorithms = SL_ALGORITHMS_FIXED,
				       .flags = b->flags | SL_PLAN_NO_CACHE,
				       .allocator = allocator};
	struct sl_run_options how = {.struct_size = sizeof(how),
				     .plan = &plan,
				     .check_folder = b->data};
	struct sl_graph *graph;
	struct sl_run *run = NULL;
	enum sl_status rc = sl_graph_open(&graph, b->model, &reading, err);

	if (!rc)
		rc = sl_run(&run, graph, &how, err);
	if (run && !b->is_tried)
		b->is_ok = run->is_ok;
	else if (run)
		assert_int_equal(run->is_ok, b->is_ok);
	b->is_tried = 1;
	sl_run_free(run);
	sl_graph_free(graph);
	return rc;
}

static long step = STEP;

/* A model that does not run, of which there are some, must not run for the
 * same reason or for want of memory. */
static long
try_case(const char *name, unsigned flags, long first)
{
	struct backend b = {.flags = flags};

	snprintf(b.model, sizeof(b.model), "%.2000s/%.1000s/model.onnx", folder,
		 name);
	snprintf(b.data, sizeof(b.data), "%.2000s/%.1000s/test_data_set_0",
		 folder, name);
	return fail_from(read_and_run, &b, name, 1 + first % step, step);
}

static void
every_operator(void **state)
{
	struct dirent **cases;
	int n = scandir(folder, &cases, NULL, alphasort);
	long n_failed = 0;

	(void)state;
	assert_true(n > 500);
	for (int i = 0; i < n; i++) {
		const char *name = cases[i]->d_name;

		if (name[0] != '.' && (i % 2 || step == 1))
			n_failed += try_case(name, 0, i);
		if (name[0] != '.' && (i % 2 == 0 || step == 1))
			n_failed += try_case(name, SL_PLAN_REFERENCE, i);
		free(cases[i]);
	}
	free(cases);
	assert_true(n_failed > n);
}

int
main(int n_words, char **words)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_operator),
	};
	const char *data = onnx_folder();

	if (!data)
		return SKIPPED;
	snprintf(folder, sizeof(folder), "%s/node", data);
	if (n_words > 1 && !strcmp(words[1], "--all"))
		step = 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
