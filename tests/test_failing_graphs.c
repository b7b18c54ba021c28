/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Proves that whoever makes a graph, writes it or takes a part of it survives
 * the want of memory, at every request: it is told as what it is, and nothing
 * is left behind.
 */
#include "built.h"
#include "fail_each.h"

#include <dirent.h>
#include <limits.h>
#include <unistd.h>

static enum sl_status
open_graph(void *ctx, const struct sl_allocator *allocator,
	   struct sl_error *err)
{
	struct sl_graph_options how = {.struct_size = sizeof(how),
				       .allocator = allocator};
	struct sl_graph *graph;
	enum sl_status rc = sl_graph_open(&graph, ctx, &how, err);

	sl_graph_free(graph);
	return rc;
}

static void
models_are_opened(void **state)
{
	char names[][512] = {"mlp:16-32-4",
			     "lenet5",
			     "attention:4,8,2",
			     "mlp:no-such",
			     SL_TEST_DATA "/models/decoder.onnx",
			     SL_TEST_DATA "/models/decoder_kv.onnx",
			     SL_TEST_DATA "/models/unknown_operator.onnx",
			     SL_TEST_DATA "/models/unknown_sizes.onnx"};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(names[i], "mlp:no-such") != 0)
			fail_each(open_graph, names[i], names[i]);
		else
			fail_from(open_graph, names[i], names[i], 1, 1);
	}
}

/* Large ones have blocks of names and lists that small ones have not. */
static void
built_in_models_are_opened(void **state)
{
	long first = 1;

	(void)state;
	for (const struct sl_zoo_entry *z = sl_zoo(); z->name; z++) {
		char name[64];

		snprintf(name, sizeof(name), "%s", z->example);
		fail_from(open_graph, name, name, first, 499);
		first = first * 7 % 499;
	}
}

/* Models that fuzzing started from or found, broken ones among them. */
static void
hostile_models_are_opened(void **state)
{
	struct dirent **files;
	int n = scandir(SL_FUZZ_CORPUS, &files, NULL, alphasort);

	(void)state;
	assert_true(n > 50);
	for (int i = 0; i < n; i++) {
		char name[PATH_MAX];

		snprintf(name, sizeof(name), "%s/%s", SL_FUZZ_CORPUS,
			 files[i]->d_name);
		if (strstr(files[i]->d_name, ".onnx"))
			fail_from(open_graph, name, name, 1, 1);
		free(files[i]);
	}
	free(files);
}

static enum sl_status
build(void *ctx, const struct sl_allocator *allocator, struct sl_error *err)
{
	struct sl_graph_options how = {.struct_size = sizeof(how),
				       .allocator = allocator};
	static const struct sl_conv2d conv = {.out_channels = 4};
	struct sl_graph *graph = NULL;
	struct sl_builder *b;
	enum sl_status rc = sl_builder_new(&b, "built", &how, err);
	int x, list;

	(void)ctx;
	if (rc)
		return rc;
	x = image(b);
	sl_builder_enter(b, "stem");
	x = sl_builder_conv2d(b, x, &conv);
	x = sl_builder_batch_norm(b, x);
	sl_builder_leave(b);
	list = sl_builder_integers(b, "list", 1, (int64_t[]){3},
				   (int64_t[]){0, -1, 4});
	x = sl_builder_op(b, "Reshape", 2, (int[]){x, list});
	sl_builder_output(b, x, "rows");
	sl_builder_name(b, "sorted");
	sl_builder_outputs(b, 2);
	sl_builder_int(b, "axis", -1);
	x = sl_builder_op(
		b, "TopK", 2,
		(int[]){x, sl_builder_integers(b, "k", 1, (int64_t[]){1},
					       (int64_t[]){4})});
	sl_builder_dtype(b, SL_DTYPE_F32);
	x = sl_builder_layer_norm(b, x);
	x = sl_builder_attention(b, x, 2, 1);
	x = sl_builder_linear(b, x, 5, 1);
	sl_builder_output(b, x, "y");
	rc = sl_builder_finish(&graph, b, err);
	sl_builder_free(b);
	sl_graph_free(graph);
	return rc;
}

static void
models_are_built(void **state)
{
	(void)state;
	fail_each(build, NULL, "builder");
}

struct part {
	const char *model, *layer, *path;
};

/* A graph of the allocator, made while nothing fails, and what is done with
 * it. */
static enum sl_status
take_part(void *ctx, const struct sl_allocator *allocator, struct sl_error *err)
{
	struct sl_graph_options how = {.struct_size = sizeof(how),
				       .allocator = allocator};
	const struct part *p = ctx;
	struct sl_graph *graph, *part = NULL;
	enum sl_status rc = sl_graph_open(&graph, p->model, &how, err);

	if (!rc && p->layer)
		rc = sl_graph_extract(&part, graph, p->layer, NULL, err);
	if (!rc)
		rc = sl_graph_write(part ? part : graph, p->path, err);
	sl_graph_free(part);
	sl_graph_free(graph);
	return rc;
}

static void
models_are_written(void **state)
{
	char folder[] = "/tmp/sleuth_failing_XXXXXX", path[64];
	struct part parts[] = {
		{"mlp:16-32-4", NULL, path},
		{"mlp:16-32-4", "linear", path},
		{"attention:4,8,2", "attention", path},
		{SL_TEST_DATA "/models/decoder_kv.onnx", NULL, path},
		{SL_TEST_DATA "/models/unknown_sizes.onnx", NULL, path}};

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/model.onnx", folder);
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		fail_each(take_part, &parts[i], parts[i].model);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rmdir(folder), 0); /* no draft is left */
}

static enum sl_status
size_graph(void *ctx, const struct sl_allocator *allocator,
	   struct sl_error *err)
{
	struct sl_sizes sizes = {.struct_size = sizeof(sizes), .batch = 3};
	struct sl_sized *sized;
	struct sl_counts counts;
	uint64_t n;
	enum sl_status rc = sl_sized_new(&sized, ctx, &sizes, allocator, err);

	if (!rc)
		rc = sl_count_flops(&counts, ctx, &sizes, err);
	if (!rc)
		rc = sl_count_parameters(&n, ctx, err);
	sl_sized_free(sized);
	return rc;
}

static void
sizes_are_found(void **state)
{
	static const char *const names[] = {"lenet5", "attention:4,8,2",
					    "lstm"};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct sl_graph *graph;

		assert_int_equal(sl_graph_open(&graph, names[i], NULL, NULL),
				 SL_OK);
		fail_each(size_graph, graph, names[i]);
		sl_graph_free(graph);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(models_are_opened),
		cmocka_unit_test(built_in_models_are_opened),
		cmocka_unit_test(hostile_models_are_opened),
		cmocka_unit_test(models_are_built),
		cmocka_unit_test(models_are_written),
		cmocka_unit_test(sizes_are_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
