/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_onnx_testdata.c - proves that every model of ONNX's own test data
 * loads and that every type and shape it declares is inferred, without
 * looking at the declarations.
 *
 * Each model is first inferred from its inputs' shapes alone; where a shape
 * depends on what the inputs hold, their contents are given too.  Models that
 * may fail are listed with the reason in data/onnx_testdata.exceptions; one
 * that is listed and does not fail fails the test.  With a path below the
 * folder as its argument the program checks that model alone.  Exit code 77
 * where the data is not installed; SL_ONNX_TESTDATA in the environment names
 * the folder of another release.
 */
#include "harness.h"
#include "base/file_mapping.h"
#include "graph/shapes.h"
#include "model/onnx_read.h"
#include "onnx_exceptions.h"
#include "onnx_folder.h"

#include <dirent.h>

enum { PATH_MOST = 512, INPUTS_MOST = 64 };

static const char *root; /* the folder of the data */

/* What the inputs of a model hold, from test_data_set_0/input_N.pb. */
struct contents {
	struct sl__arena arena;
	struct sl__file_mapping files[INPUTS_MOST];
	struct sl__tensor tensors[INPUTS_MOST];
	const struct sl__tensor *of_input[INPUTS_MOST];
};

static void
contents_open(struct contents *c, const char *folder, size_t n_inputs)
{
	char path[2 * PATH_MOST];

	memset(c, 0, sizeof(*c));
	for (size_t i = 0; i < n_inputs && i < INPUTS_MOST; i++) {
		snprintf(path, sizeof(path),
			 "%.900s/test_data_set_0/input_%zu.pb", folder, i);
		/* Sequences and optionals cannot be read as tensors. */
		if (!sl__file_mapping_open(&c->files[i], path, NULL) &&
		    !sl__onnx_read_tensor(&c->tensors[i], &c->arena,
					  c->files[i].bytes,
					  c->files[i].n_bytes, NULL))
			c->of_input[i] = &c->tensors[i];
	}
}

static void
contents_close(struct contents *c)
{
	for (size_t i = 0; i < INPUTS_MOST; i++)
		sl__file_mapping_close(&c->files[i]);
	sl__arena_release(&c->arena);
}

/* A declaration is met by what says at least as much. */
static int
is_met(const struct sl__type *declared, const struct sl__type *inferred)
{
	if (declared->kind == SL__TYPE_UNKNOWN)
		return 1;
	if (declared->kind != inferred->kind)
		return 0;
	if (declared->element)
		return inferred->element &&
		       is_met(declared->element, inferred->element);
	if (declared->kind != SL__TYPE_TENSOR)
		return 1;
	if (declared->dtype != inferred->dtype)
		return 0;
	if (declared->rank < 0)
		return 1;
	if (declared->rank != inferred->rank)
		return 0;
	for (int i = 0; i < declared->rank; i++) {
		if (!sl__is_symbol(declared->dims[i]) &&
		    declared->dims[i] != inferred->dims[i])
			return 0;
	}
	return 1;
}

static void
describe(struct sl__shapes *shapes, char *text, size_t n_bytes,
	 const struct sl__type *type)
{
	const char *shape = sl__type_text(shapes, type);

	snprintf(text, n_bytes, "%s %s", sl_dtype_text(type->dtype),
		 shape ? shape : "");
}

/* Every declaration of a value that a node makes and that may run. */
static int
check_values(struct sl__shapes *shapes, char *why, size_t n_bytes)
{
	const struct sl_graph *graph = shapes->graph;
	char declared[200], inferred[200];

	for (size_t i = 0; i < graph->n_values; i++) {
		const struct sl__value *v = &graph->values[i];

		if (v->producer == SL__NONE || !shapes->block_calls[v->block] ||
		    is_met(&v->declared, &shapes->types[i]))
			continue;
		describe(shapes, declared, sizeof(declared), &v->declared);
		describe(shapes, inferred, sizeof(inferred), &shapes->types[i]);
		snprintf(why, n_bytes, "'%s' (%s): declared %s, inferred %s",
			 v->name, graph->nodes[v->producer].type, declared,
			 inferred);
		return 0;
	}
	return 1;
}

/* One look; 'contents' may be NULL. */
static int
check_shapes(const struct sl_graph *graph, const struct contents *contents,
	     char *why, size_t n_bytes)
{
	struct sl__shapes_options options = {.free_sizes = SL__UNBOUND_KEEP,
					     .ignore_declared = 1};
	struct sl__shapes *shapes;
	struct sl_error err = {0};
	int ok;

	if (contents)
		options.contents = contents->of_input;
	if (sl__shapes_new(&shapes, graph, &options, &err)) {
		snprintf(why, n_bytes, "%s", err.text);
		return 0;
	}
	ok = check_values(shapes, why, n_bytes);
	sl__shapes_free(shapes);
	return ok;
}

/* 0, with the reason, where the model at root/path fails. */
static int
check_model(const char *path, int *n_with_contents, char *why, size_t n_bytes)
{
	char file[2 * PATH_MOST];
	struct contents contents;
	struct sl_graph *graph;
	struct sl_error err = {0};
	int ok;

	snprintf(file, sizeof(file), "%s/%s/model.onnx", root, path);
	if (sl__onnx_open(&graph, file, NULL, &err)) {
		snprintf(why, n_bytes, "%s", err.text);
		return 0;
	}
	ok = check_shapes(graph, NULL, why, n_bytes);
	if (!ok) {
		snprintf(file, sizeof(file), "%s/%s", root, path);
		contents_open(&contents, file, graph->blocks[0].n_inputs);
		ok = check_shapes(graph, &contents, why, n_bytes);
		contents_close(&contents);
		*n_with_contents += 1;
	}
	sl_graph_free(graph);
	return ok;
}

struct tally {
	struct exceptions exceptions;
	int n_models, n_with_contents, n_excepted, n_failed;
};

static void
check_one(struct tally *t, const char *path)
{
	char why[1024] = "";
	struct exception *listed = exceptions_find(&t->exceptions, path);
	int ok = check_model(path, &t->n_with_contents, why, sizeof(why));

	t->n_models++;
	if (listed)
		listed->is_seen = 1;
	if (ok && listed) {
		print_error("%s: listed as an exception, but fine\n", path);
		t->n_failed++;
	} else if (!ok && listed) {
		t->n_excepted++;
	} else if (!ok) {
		print_error("%s: %s\n", path, why);
		t->n_failed++;
	}
}

/* Every folder of root/set that holds a model. */
static void
check_set(struct tally *t, const char *set)
{
	char path[PATH_MOST], file[2 * PATH_MOST];
	struct dirent **entries;
	int n;

	snprintf(path, sizeof(path), "%.300s/%s", root, set);
	n = scandir(path, &entries, NULL, alphasort);
	for (int i = 0; i < n; i++) {
		FILE *model = NULL;

		snprintf(path, sizeof(path), "%s/%.200s", set,
			 entries[i]->d_name);
		snprintf(file, sizeof(file), "%s/%s/model.onnx", root, path);
		if (entries[i]->d_name[0] != '.')
			model = fopen(file, "r");
		if (model) {
			fclose(model);
			check_one(t, path);
		}
		free(entries[i]);
	}
	if (n >= 0)
		free(entries);
}

static void
test_every_declared_shape_is_inferred(void **state)
{
	static struct tally t;

	(void)state;
	exceptions_read(&t.exceptions, SL_TEST_DATA "/onnx_testdata.exceptions",
			onnx_release(root));
	assert_int_equal(t.exceptions.n_wrong, 0);
	check_set(&t, "node");
	check_set(&t, "pytorch-converted");
	check_set(&t, "pytorch-operator");
	check_set(&t, "simple");
	print_message("%d models: %d needed the contents of inputs, %d are "
		      "exceptions, %d failed\n",
		      t.n_models, t.n_with_contents, t.n_excepted, t.n_failed);
	assert_int_equal(t.n_failed, 0);
	assert_int_equal(exceptions_unseen(&t.exceptions), 0);
	/* The package of Debian 12 has 1072; fewer means a wrong folder. */
	assert_true(t.n_models > 1000);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_declared_shape_is_inferred),
	};
	char why[1024] = "fine";
	int n = 0;

	root = onnx_folder();
	if (!root)
		return SKIPPED;
	if (argc > 1) {
		int ok = check_model(argv[1], &n, why, sizeof(why));

		print_message("%s: %s%s\n", argv[1], why,
			      n ? " (contents given)" : "");
		return !ok;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
