/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Proves that a graph does not change once it is there: its storage is made
 * read-only, so that whatever writes to it ends the program, and then it is
 * inspected, fitted, planned, run, profiled, written and taken apart.
 */
#include "analysis/parts.h"
#include "built.h"
#include "engine/plan.h"

#include <sys/mman.h>
#include <unistd.h>

enum { BLOCKS_MOST = 4096 };

/* Pages of their own for each block, so that they can be protected. */
struct guarded {
	void *blocks[BLOCKS_MOST];
	size_t n_bytes[BLOCKS_MOST];
	size_t n;
};

/* Anonymous pages without MAP_ANONYMOUS, which POSIX does not have. */
static void *
guarded_alloc(size_t n_bytes, void *ctx)
{
	struct guarded *g = ctx;
	char name[] = "/tmp/sleuth_guarded_XXXXXX";
	int file = mkstemp(name);
	void *block;

	assert_true(g->n < BLOCKS_MOST && file >= 0);
	unlink(name);
	assert_int_equal(ftruncate(file, (off_t)n_bytes + 1), 0);
	block = mmap(NULL, n_bytes + 1, PROT_READ | PROT_WRITE, MAP_PRIVATE,
		     file, 0);
	close(file);
	if (block == MAP_FAILED)
		return NULL;
	g->blocks[g->n] = block;
	g->n_bytes[g->n++] = n_bytes + 1;
	return block;
}

static void
guarded_release(void *block, void *ctx)
{
	struct guarded *g = ctx;

	for (size_t i = 0; i < g->n; i++) {
		if (g->blocks[i] != block)
			continue;
		munmap(block, g->n_bytes[i]);
		g->blocks[i] = g->blocks[--g->n];
		g->n_bytes[i] = g->n_bytes[g->n];
		return;
	}
	fail();
}

static void
protect(const struct guarded *g, int how)
{
	for (size_t i = 0; i < g->n; i++)
		assert_int_equal(mprotect(g->blocks[i], g->n_bytes[i], how), 0);
}

static void
check_ok(enum sl_status rc, const char *model, const struct sl_error *err)
{
	if (rc)
		fail_msg("%s: %s", model, err->text);
}

static void
look_at(const struct sl_graph *graph, const char *name)
{
	struct sl_inspect_options how = {.struct_size = sizeof(how),
					 .weights = 1};
	struct sl_fit_options fit_how = {.struct_size = sizeof(fit_how),
					 .memory_bytes = 1e8,
					 .optimizer = SL_OPTIMIZER_ADAM};
	struct sl_inspection *seen;
	struct sl_counts counts;
	struct sl_error err;
	struct sl_fit *fit;

	check_ok(sl_inspect(&seen, graph, &how, &err), name, &err);
	sl_inspection_free(seen);
	check_ok(sl_fit(&fit, graph, &fit_how, &err), name, &err);
	sl_fit_free(fit);
	check_ok(sl_count_flops(&counts, graph, NULL, &err), name, &err);
}

static void
run(const struct sl_graph *graph, const char *name)
{
	static const unsigned flags[] = {0, SL_PLAN_NO_FUSION,
					 SL_PLAN_REFERENCE};

	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		struct sl_sizes sizes = {.struct_size = sizeof(sizes),
					 .batch = 1 + (int64_t)i};
		struct sl_plan_options how = {.struct_size = sizeof(how),
					      .sizes = &sizes,
					      .n_threads = 1,
					      .algorithms = SL_ALGORITHMS_FIXED,
					      .flags = flags[i] |
						       SL_PLAN_NO_CACHE};
		struct sl_plan *plan, *second;
		struct sl_error err;

		check_ok(sl_plan_new(&plan, graph, &how, &err), name, &err);
		check_ok(sl_plan_new(&second, graph, &how, &err), name, &err);
		check_ok(sl_plan_fill_inputs(plan, 1, &err), name, &err);
		check_ok(sl_plan_run(plan, &err), name, &err);
		sl_plan_free(plan);
		sl_plan_free(second);
	}
}

static void
take_apart(const struct sl_graph *graph, const char *name)
{
	char path[] = "/tmp/sleuth_frozen_XXXXXX";
	int file = mkstemp(path);
	struct sl_graph *part;
	struct sl_error err;

	assert_true(file >= 0);
	close(file);
	check_ok(sl_graph_write(graph, path, &err), name, &err);
	unlink(path);
	check_ok(sl_graph_extract(&part, graph, sl_graph_node_name(graph, 0),
				  NULL, &err),
		 name, &err);
	sl_graph_free(part);
}

static void
profile(const struct sl_graph *graph, const char *name)
{
	struct sl_plan_options plan = {.struct_size = sizeof(plan),
				       .n_threads = 1,
				       .algorithms = SL_ALGORITHMS_FIXED,
				       .flags = SL_PLAN_NO_CACHE};
	struct sl_profile_options how = {.struct_size = sizeof(how),
					 .plan = &plan,
					 .n_warmup = 1,
					 .n_runs = 3,
					 .flags = SL_PROFILE_BRIEF};
	struct sl_profile *p;
	struct sl_error err;

	check_ok(sl_profile_forward(&p, graph, &how, &err), name, &err);
	sl_profile_free(p);
}

static void
graphs_do_not_change(void **state)
{
	static const char *const models[] = {
		"mlp:16-32-4", "lenet5", "attention:16,32",
		SL_TEST_DATA "/models/decoder.onnx"};

	(void)state;
	for (size_t i = 0; i < sizeof(models) / sizeof(models[0]); i++) {
		struct guarded guarded = {.n = 0};
		struct sl_allocator allocator = {guarded_alloc, guarded_release,
						 &guarded};
		struct sl_graph_options options = {.struct_size =
							   sizeof(options),
						   .allocator = &allocator};
		struct sl_graph *graph;
		struct sl_error err;

		check_ok(sl_graph_open(&graph, models[i], &options, &err),
			 models[i], &err);
		assert_true(graph->is_frozen && guarded.n > 1);
		protect(&guarded, PROT_READ);
		look_at(graph, models[i]);
		run(graph, models[i]);
		take_apart(graph, models[i]);
		if (i == 0)
			profile(graph, models[i]);
		protect(&guarded, PROT_READ | PROT_WRITE);
		sl_graph_free(graph);
		assert_int_equal(guarded.n, 0);
	}
}

/* What a plan's operations are for is found without writing to the plan. */
static void
parts_leave_the_plan_alone(void **state)
{
	struct guarded guarded = {.n = 0};
	struct sl_allocator allocator = {guarded_alloc, guarded_release,
					 &guarded};
	struct sl_plan_options how = {.struct_size = sizeof(how),
				      .n_threads = 1,
				      .algorithms = SL_ALGORITHMS_FIXED,
				      .flags = SL_PLAN_NO_CACHE,
				      .allocator = &allocator};
	struct sl_graph *graph = running_sum();
	struct sl__arena scratch;
	enum sl_part parts[256];
	struct sl_plan *plan;
	struct sl_error err;
	size_t n;

	(void)state;
	check_ok(sl_plan_new(&plan, graph, &how, &err), "sum", &err);
	n = guarded.n;
	assert_true(n > 1 && sl_plan_n_steps(plan) < 256);
	protect(&guarded, PROT_READ);
	sl__arena_init(&scratch, NULL);
	check_ok(sl__network_parts_classify(parts, plan, &scratch, &err), "sum",
		 &err);
	sl__arena_release(&scratch);
	assert_int_equal(guarded.n, n);
	protect(&guarded, PROT_READ | PROT_WRITE);
	sl_plan_free(plan);
	assert_int_equal(guarded.n, 0);
	sl_graph_free(graph);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(graphs_do_not_change),
		cmocka_unit_test(parts_leave_the_plan_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
