/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A model by whatever the user calls it: names of the zoo, paths, and words
 * that are neither, each with the status and the line that the header
 * promises.
 */
#include "harness.h"

#include "sleuth.h"

#include <sys/stat.h>
#include <unistd.h>

static char start[4096], folder[64];

/* In a folder of its own, where names are files only if the test says so. */
static int
enter_folder(void **state)
{
	(void)state;
	snprintf(folder, sizeof(folder), "/tmp/sleuth-open-XXXXXX");
	if (!getcwd(start, sizeof(start)) || !mkdtemp(folder))
		return -1;
	return chdir(folder);
}

static int
leave_folder(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof(command), "rm -r '%s'", folder);
	return chdir(start) || system(command);
}

static void
expect(const char *name, enum sl_status status, const char *says)
{
	struct sl_graph *graph;
	struct sl_error err = {.status = SL_OK, .text = ""};
	enum sl_status rc = sl_graph_open(&graph, name, NULL, &err);

	if (rc != status || !strstr(err.text, says))
		fail_msg("'%s' gives %d: %s", name, (int)rc, err.text);
	sl_graph_free(graph);
}

static void
names_of_the_zoo(void **state)
{
	struct sl_graph *graph;

	(void)state;
	assert_int_equal(sl_graph_open(&graph, "mlp:4-3", NULL, NULL), SL_OK);
	assert_true(sl_graph_n_nodes(graph) > 0);
	/* A file of the same name does not hide the model. */
	assert_int_equal(mkdir("mlp:4-3", 0700), 0);
	sl_graph_free(graph);
	assert_int_equal(sl_graph_open(&graph, "mlp:4-3", NULL, NULL), SL_OK);
	sl_graph_free(graph);
	expect("resnet5O", SL_E_USAGE, "resnet50");
	expect("mlp:", SL_E_USAGE, "");
	expect("", SL_E_USAGE, "empty");
}

static void
paths(void **state)
{
	struct sl_graph *graph;
	struct sl_error err = {.status = SL_OK, .text = ""};
	FILE *file;

	(void)state;
	assert_int_equal(sl_graph_open(&graph, "mlp:4-3", NULL, &err), SL_OK);
	assert_int_equal(sl_graph_write(graph, "plain", &err), SL_OK);
	assert_int_equal(sl_graph_write(graph, "m.onnx", &err), SL_OK);
	assert_int_equal(sl_graph_write(graph, "resnet50", &err), SL_OK);
	sl_graph_free(graph);
	expect("plain", SL_OK, "");
	expect("m.onnx", SL_OK, "");
	expect("./resnet50", SL_OK, "");
	/* The zoo's own comes first where nothing says that it is a path. */
	assert_int_equal(sl_graph_open(&graph, "resnet50", NULL, &err), SL_OK);
	assert_true(sl_graph_n_nodes(graph) > 100);
	sl_graph_free(graph);

	expect("nothing.onnx", SL_E_IO, "nothing.onnx: No such file");
	expect("./nothing", SL_E_IO, "./nothing: No such file");
	expect("./mlp:4-3", SL_E_IO, "./mlp:4-3: is a folder");
	file = fopen("text", "w");
	assert_non_null(file);
	fputs("This is a text about models, and none itself.\n", file);
	fclose(file);
	expect("text", SL_E_DATA, "text: ");
}

static void
options_of_another_library(void **state)
{
	const struct sl_graph_options options = {.struct_size = 1};
	struct sl_graph *graph;
	struct sl_error err;

	(void)state;
	assert_int_equal(sl_graph_open(&graph, "mlp:4-3", &options, &err),
			 SL_E_USAGE);
	assert_null(graph);
	sl_graph_free(NULL);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_of_the_zoo),
		cmocka_unit_test(paths),
		cmocka_unit_test(options_of_another_library),
	};

	return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
