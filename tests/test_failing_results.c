/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Proves that results that were written are read back and shown, in every
 * format, and that small questions are answered, or the want of memory told,
 * whichever request for it fails; nothing is left behind.
 */
#include "fail_each.h"
#include "store_case.h"
#include "tiny_decoder.h"

static const struct sl_render_options as_json = {.struct_size = sizeof(as_json),
						 .format = SL_FORMAT_JSON};

static int
do_nothing(void *ctx)
{
	(void)ctx;
	return 0;
}

static struct sl_plan_options
plan_options(void)
{
	struct sl_plan_options how = {.struct_size = sizeof(how),
				      .n_threads = 1,
				      .algorithms = SL_ALGORITHMS_FIXED,
				      .flags = SL_PLAN_NO_CACHE};

	return how;
}

static struct sl_graph *
graph_of(const char *name)
{
	struct sl_graph *graph;

	assert_int_equal(sl_graph_open(&graph, name, NULL, NULL), SL_OK);
	return graph;
}

static void
write_measurement(struct sl_buf *out)
{
	struct sl_measure_options how = {
		.struct_size = sizeof(how), .n_warmup = 1, .n_runs = 40};
	struct sl_measurement *m;

	assert_int_equal(sl_measure(&m, do_nothing, NULL, &how, NULL), SL_OK);
	assert_int_equal(sl_measurement_render(m, &as_json, out, NULL), SL_OK);
	sl_measurement_free(m);
}

static void
write_comparisons(struct sl_buf *out)
{
	const struct sl_candidate sides[] = {{.fn = do_nothing, .name = "a"},
					     {.fn = do_nothing, .name = "b"}};
	struct sl_compare_options how = {
		.struct_size = sizeof(how), .time_s = 0.01, .min_rounds = 5};
	struct sl_comparisons *c;

	assert_int_equal(sl_compare(&c, sides, 2, &how, NULL), SL_OK);
	assert_int_equal(sl_comparisons_render(c, &as_json, out, NULL), SL_OK);
	sl_comparisons_free(c);
}

static void
write_bench(struct sl_buf *out)
{
	const struct sl_command commands[] = {{.shell_line = "true"},
					      {.shell_line = "exit 0"}};
	struct sl_bench_options how = {.struct_size = sizeof(how), .n_runs = 3};
	struct sl_bench *b;

	assert_int_equal(sl_bench(&b, commands, 2, &how, NULL), SL_OK);
	assert_int_equal(sl_bench_render(b, &as_json, out, NULL), SL_OK);
	sl_bench_free(b);
}

static void
write_memory(struct sl_buf *out)
{
	struct sl_memory *m;

	assert_int_equal(
		sl_measure_function_memory(&m, do_nothing, NULL, NULL, NULL),
		SL_OK);
	assert_int_equal(sl_memory_render(m, &as_json, out, NULL), SL_OK);
	sl_memory_free(m);
}

static void
write_comparison(struct sl_buf *out)
{
	struct sl_plan_options plan = plan_options();
	struct sl_graph *graph = graph_of("mlp:8-8-4");
	const struct sl_model_arm sides[] = {{.graph = graph, .plan = &plan},
					     {.graph = graph, .plan = &plan}};
	struct sl_model_comparison_options how = {
		.struct_size = sizeof(how), .time_s = 0.01, .min_rounds = 1};
	struct sl_model_comparison *v;

	assert_int_equal(sl_compare_models(&v, sides, 2, &how, NULL), SL_OK);
	assert_int_equal(sl_model_comparison_render(v, &as_json, out, NULL),
			 SL_OK);
	sl_model_comparison_free(v);
	sl_graph_free(graph);
}

static void
write_sweep(struct sl_buf *out)
{
	struct sl_plan_options plan = plan_options();
	struct sl_graph *graph = graph_of("mlp:8-8-4");
	const struct sl_sweep_model model = {.name = "mlp", .graph = graph};
	const int64_t values[] = {1, 2, 4};
	struct sl_sweep_options how = {.struct_size = sizeof(how),
				       .values = values,
				       .n_values = 3,
				       .plan = &plan,
				       .n_visits = 1,
				       .n_warmup = 1,
				       .n_runs = 2,
				       .flags = SL_PROFILE_NO_CEILINGS};
	struct sl_sweep *s;

	assert_int_equal(sl_sweep(&s, &model, 1, &how, NULL), SL_OK);
	assert_int_equal(sl_sweep_render(s, &as_json, out, NULL), SL_OK);
	sl_sweep_free(s);
	sl_graph_free(graph);
}

static void
write_generation(struct sl_buf *out)
{
	struct sl_plan_options plan = plan_options();
	struct sl_graph *graph = tiny_decoder(TINY_CACHED);
	struct sl_generate_options how = {.struct_size = sizeof(how),
					  .plan = &plan,
					  .prompt = 2,
					  .n_tokens = 3,
					  .n_rounds = 1,
					  .flags = SL_PROFILE_NO_CEILINGS};
	struct sl_generation *g;

	assert_int_equal(sl_generate(&g, graph, &how, NULL), SL_OK);
	assert_int_equal(sl_generation_render(g, &as_json, out, NULL), SL_OK);
	sl_generation_free(g);
	sl_graph_free(graph);
}

struct shown {
	const struct sl_buf *document;
	struct sl_render_options how;
};

static enum sl_status
read_and_show(void *ctx, const struct sl_allocator *allocator,
	      struct sl_error *err)
{
	const struct shown *s = ctx;
	struct sl_buf out = {0};
	struct sl_result *result;
	enum sl_status rc = sl_result_read(&result, s->document->data,
					   s->document->n_bytes, allocator,
					   err);

	if (!rc)
		rc = sl_result_render(result, &s->how, &out, err);
	sl_buf_release(&out);
	sl_result_free(result);
	return rc;
}

/* A document has thousands of fields, each a request: every so many-th of its
 * requests fails, others in each format. */
static void
results_are_read_and_shown(void **state)
{
	static const struct {
		const char *name;
		void (*write)(struct sl_buf *out);
		long step;
	} kinds[] = {{"measurement", write_measurement, 1},
		     {"comparisons", write_comparisons, 3},
		     {"bench", write_bench, 3},
		     {"memory", write_memory, 1},
		     {"model comparison", write_comparison, 5},
		     {"sweep", write_sweep, 13},
		     {"generation", write_generation, 5}};

	(void)state;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		struct sl_buf document = {0};
		struct shown s = {&document, {.struct_size = sizeof(s.how)}};

		kinds[i].write(&document);
		for (int f = SL_FORMAT_TEXT; f <= SL_FORMAT_MARKDOWN; f++) {
			s.how.format = (enum sl_format)f;
			assert_true(fail_from(read_and_show, &s, kinds[i].name,
					      1 + f % kinds[i].step,
					      kinds[i].step) > 0);
		}
		sl_buf_release(&document);
	}
}

static enum sl_status
count_layers(void *ctx, const struct sl_allocator *allocator,
	     struct sl_error *err)
{
	static const struct sl_conv2d conv = {
		.in_channels = 3, .out_channels = 4, .height = 8, .width = 8};
	struct sl_counts counts;
	enum sl_status rc = sl_count_linear(&counts, 2, 8, 4, 1, err);

	(void)ctx;
	(void)allocator;
	if (!rc)
		rc = sl_count_conv2d(&counts, 2, &conv, err);
	return rc ? rc : sl_count_attention(&counts, 2, 4, 8, 0, err);
}

static void
layers_are_counted(void **state)
{
	(void)state;
	fail_from(count_layers, NULL, "counts of layers", 1, 1);
}

static enum sl_status
report_function(void *ctx, const struct sl_allocator *allocator,
		struct sl_error *err)
{
	struct sl_profile_function_options how = {.struct_size = sizeof(how),
						  .time_s = 0.001,
						  .allocator = allocator};
	struct sl_buf out = {0};
	enum sl_status rc = sl_profile_function(&out, "nothing", do_nothing,
						NULL, &how, err);

	(void)ctx;
	sl_buf_release(&out);
	return rc;
}

static void
functions_are_reported(void **state)
{
	(void)state;
	assert_true(fail_from(report_function, NULL, "function", 1, 7) > 0);
}

static enum sl_status
store_result(void *ctx, const struct sl_allocator *allocator,
	     struct sl_error *err)
{
	const struct sl_store_options how = {.struct_size = sizeof(how),
					     .where = store_path};
	const struct sl_labels labels = {.struct_size = sizeof(labels),
					 .machine = "m"};
	const char *json = ctx;
	struct sl_stored_runs *runs = NULL;
	struct sl_history *history = NULL;
	struct sl_gate_check *check = NULL;
	struct sl_buf line = {0};
	const struct sl_buf document = {.data = ctx, .n_bytes = strlen(json)};
	const struct sl_gate_options gate = {.struct_size = sizeof(gate),
					     .now = &document,
					     .baselines = &document,
					     .n_baselines = 1};
	struct sl_store *store;
	enum sl_status rc;
	uint64_t id;
	size_t n;

	(void)allocator;
	rc = sl_store_open(&store, &how, err);
	if (rc)
		return rc;
	rc = sl_store_put(store, &id, json, strlen(json), &labels, err);
	if (!rc)
		rc = sl_store_find(&runs, store, NULL, err);
	if (!rc)
		rc = sl_history_of(&history, store, NULL, err);
	if (!rc)
		rc = sl_gate_documents(&check, &gate, err);
	if (!rc)
		rc = sl_store_export(store, id, &line, err);
	if (!rc)
		rc = sl_store_import(store, &id, line.data, line.n_bytes, err);
	if (!rc)
		rc = sl_store_delete(store, &n, NULL, err);
	sl_stored_runs_free(runs);
	sl_history_free(history);
	sl_gate_check_free(check);
	sl_buf_release(&line);
	sl_store_close(store);
	return rc;
}

static void
results_are_stored(void **state)
{
	char json[] = "{\"schema\": 1, \"tool\": {\"version\": \"1\"}, "
		      "\"command\": \"zoo\", \"kind\": \"zoo\", \"model\": "
		      "{\"name\": \"a\", \"sizes\": \"batch 1\"}, "
		      "\"cost\": {\"flops\": 1}, \"latency\": "
		      "{\"median_ms\": 1}}";

	make_store_folder(state);
	fail_each(store_result, json, "store");
	remove_store_folder(state);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(results_are_read_and_shown),
		cmocka_unit_test(layers_are_counted),
		cmocka_unit_test(functions_are_reported),
		cmocka_unit_test(results_are_stored),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
