/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_external.c - weights in files beside the model are mapped; a model
 * cannot reach files outside its folder; what is missing is absent, what is
 * wrong is refused.
 */
#include "onnx_bytes.h"
#include "model/onnx_read.h"

#include <sys/stat.h>
#include <unistd.h>

/* A folder "in" with a model's files beside a file that is none of its
 * business. */
struct place {
	char root[64], folder[80];
};

static void
write_file(const char *folder, const char *name, const void *data, size_t n)
{
	char path[256];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, "wb");
	assert_non_null(file);
	assert_int_equal(fwrite(data, 1, n, file), n);
	fclose(file);
}

static int
make_place(void **state)
{
	static struct place place;
	char path[256];

	snprintf(place.root, sizeof(place.root), "/tmp/sleuth-test-XXXXXX");
	assert_non_null(mkdtemp(place.root));
	snprintf(place.folder, sizeof(place.folder), "%s/in", place.root);
	assert_int_equal(mkdir(place.folder, 0700), 0);
	snprintf(path, sizeof(path), "%s/deep", place.folder);
	assert_int_equal(mkdir(path, 0700), 0);
	write_file(place.root, "secret", "12345678", 8);
	write_file(place.folder, "w.bin", "....abcdefgh", 12);
	write_file(place.folder, "deep/w.bin", "ABCDEFGH", 8);
	snprintf(path, sizeof(path), "%s/link", place.folder);
	assert_int_equal(symlink("../secret", path), 0);
	snprintf(path, sizeof(path), "%s/inner", place.folder);
	assert_int_equal(symlink("deep/w.bin", path), 0);
	snprintf(path, sizeof(path), "%s/up", place.folder);
	assert_int_equal(symlink("..", path), 0);
	*state = &place;
	return 0;
}

static int
remove_place(void **state)
{
	static const char *const names[] = {
		"in/deep/w.bin", "in/w.bin", "in/link", "in/inner", "in/up",
		"in/deep",       "in",       "secret",  ""};
	struct place *place = *state;
	char path[256];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", place->root, names[i]);
		if (unlink(path))
			rmdir(path);
	}
	return 0;
}

static void
put_pair(struct bytes *tensor, const char *key, const char *value)
{
	struct bytes pair = {0};

	put_text(&pair, 1, key);
	put_text(&pair, 2, value);
	put_message(tensor, 13, &pair);
}

/* A model whose only weight is two f32 in an external file; NULL: that key
 * is not given. */
static struct bytes
model_at(const char *location, const char *offset, const char *length)
{
	struct bytes graph = {0}, tensor = tensor_of("w", 1, 2, NULL, 0);

	put_int(&tensor, 14, 1);
	if (location)
		put_pair(&tensor, "location", location);
	if (offset)
		put_pair(&tensor, "offset", offset);
	if (length)
		put_pair(&tensor, "length", length);
	put_pair(&tensor, "checksum", "ignored");
	put_message(&graph, 5, &tensor);
	put_info(&graph, 12, "w", NULL);
	return model_of(&graph, 17);
}

static void
weights_are_mapped(void **state)
{
	static const struct {
		const char *location, *offset, *length, *bytes;
	} cases[] = {{"w.bin", "4", "8", "abcdefgh"},
		     {"w.bin", "4", NULL, "abcdefgh"},
		     {"w.bin", NULL, "8", "....abcd"},
		     {"deep/w.bin", NULL, NULL, "ABCDEFGH"},
		     {"./deep//w.bin", "0", "8", "ABCDEFGH"},
		     {"inner", NULL, NULL, "ABCDEFGH"}};
	struct place *place = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct bytes model = model_at(cases[i].location,
					      cases[i].offset, cases[i].length);
		struct sl_error err = {.status = SL_OK, .text = ""};
		const struct sl__tensor *tensor;
		struct sl_graph *graph;

		if (sl__onnx_read(&graph, model.data, model.n, place->folder,
				  NULL, &err))
			fail_msg("%s: %s", cases[i].location, err.text);
		tensor = graph->values[0].tensor;
		assert_null(tensor->absent);
		assert_int_equal(tensor->is_mapped, 1);
		assert_string_equal(tensor->storage, cases[i].location);
		assert_memory_equal(tensor->bytes, cases[i].bytes, 8);
		assert_int_equal(graph->n_mappings, 1);
		sl_graph_free(graph);
		bytes_release(&model);
	}
}

static void
a_file_is_mapped_once(void **state)
{
	struct bytes graph = {0}, model;
	struct place *place = *state;
	struct sl_graph *read;

	for (int i = 0; i < 3; i++) {
		char name[] = {'w', (char)('0' + i), '\0'};
		struct bytes tensor = tensor_of(name, 1, 2, NULL, 0);

		put_int(&tensor, 14, 1);
		put_pair(&tensor, "location", i < 2 ? "w.bin" : "./w.bin");
		put_message(&graph, 5, &tensor);
	}
	model = model_of(&graph, 17);
	assert_int_equal(sl__onnx_read(&read, model.data, model.n,
				       place->folder, NULL, NULL),
			 SL_OK);
	assert_int_equal(read->n_mappings, 1);
	assert_ptr_equal(read->values[0].tensor->bytes,
			 read->values[2].tensor->bytes);
	sl_graph_free(read);
	bytes_release(&model);
}

static void
nothing_outside_the_folder_is_read(void **state)
{
	static const char *const locations[] = {"../secret",
						"/etc/passwd",
						"deep/../../secret",
						"..",
						"link",
						"up/secret",
						"up",
						"",
						NULL};
	struct place *place = *state;

	for (size_t i = 0; i < sizeof(locations) / sizeof(locations[0]); i++) {
		struct bytes model = model_at(locations[i], NULL, NULL);
		struct sl_error err = {.status = SL_OK, .text = ""};
		struct sl_graph *graph;
		enum sl_status rc = sl__onnx_read(&graph, model.data, model.n,
						  place->folder, NULL, &err);

		if (rc != SL_E_DATA)
			fail_msg("'%s' was not refused", locations[i]);
		assert_non_null(strstr(err.text, "folder"));
		assert_non_null(strstr(err.text, "w"));
		bytes_release(&model);
	}
}

static void
take_line(const char *text, void *ctx)
{
	snprintf(ctx, 256, "%s", text);
}

static void
what_is_missing_is_told(void **state)
{
	char line[256] = "";
	struct sl_log log = {take_line, line};
	struct sl_graph_options options = {.struct_size = sizeof(options),
					   .log = &log};
	struct bytes model = model_at("gone.bin", "0", "8");
	struct place *place = *state;
	struct sl_graph *graph;

	assert_int_equal(sl__onnx_read(&graph, model.data, model.n,
				       place->folder, &options, NULL),
			 SL_OK);
	assert_non_null(strstr(line, "the weights of 1 tensor are not there: "
				     "the file 'gone.bin' cannot be read"));
	sl_graph_free(graph);
	bytes_release(&model);
}

static void
what_is_missing_is_absent(void **state)
{
	static const char *const locations[] = {"nothing.bin", "deep",
						"w.bin/inside"};
	struct place *place = *state;
	struct sl_graph *graph;

	for (size_t i = 0; i < 3; i++) {
		struct bytes model = model_at(locations[i], "0", "8");

		assert_int_equal(sl__onnx_read(&graph, model.data, model.n,
					       place->folder, NULL, NULL),
				 SL_OK);
		assert_non_null(graph->values[0].tensor->absent);
		assert_null(graph->values[0].tensor->bytes);
		assert_int_equal(graph->values[0].tensor->n_bytes, 8);
		sl_graph_free(graph);
		/* Without a folder nothing is looked for. */
		assert_int_equal(sl__onnx_read(&graph, model.data, model.n,
					       NULL, NULL, NULL),
				 SL_OK);
		assert_non_null(graph->values[0].tensor->absent);
		sl_graph_free(graph);
		bytes_release(&model);
	}
}

static void
lengths_that_do_not_fit_are_refused(void **state)
{
	static const struct {
		const char *offset, *length, *says;
	} cases[] = {
		{"0", "4", "4 bytes of external data where its shape takes 8"},
		{"5", "8", "8 bytes at byte 5 of 'w.bin', which has 12"},
		{"18446744073709551615", NULL, "which has 12"},
		{"18446744073709551616", NULL, "is no offset"},
		{"-1", NULL, "'-1' is no offset"},
		{"4", "8 ", "'8 ' is no length"},
		{"", NULL, "is no offset"},
	};
	struct place *place = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct bytes model =
			model_at("w.bin", cases[i].offset, cases[i].length);
		struct sl_error err = {.status = SL_OK, .text = ""};
		struct sl_graph *graph;

		assert_int_equal(sl__onnx_read(&graph, model.data, model.n,
					       place->folder, NULL, &err),
				 SL_E_DATA);
		if (!strstr(err.text, cases[i].says))
			fail_msg("'%s' does not say '%s'", err.text,
				 cases[i].says);
		bytes_release(&model);
	}
}

/* The folder is that of the model's path. */
static void
files_are_found_beside_the_model(void **state)
{
	struct bytes model = model_at("w.bin", "4", "8");
	struct place *place = *state;
	struct sl_graph *graph;
	char path[256];

	write_file(place->folder, "m.onnx", model.data, model.n);
	snprintf(path, sizeof(path), "%s/m.onnx", place->folder);
	assert_int_equal(sl__onnx_open(&graph, path, NULL, NULL), SL_OK);
	unlink(path);
	assert_memory_equal(graph->values[0].tensor->bytes, "abcdefgh", 8);
	assert_int_equal(graph->n_mappings, 2);
	assert_string_equal(graph->name, "m");
	sl_graph_free(graph);
	bytes_release(&model);
}

/* A model and its weights that are both links into a folder of shared files,
 * as download caches lay them out; the way into any other stays shut. */
static void
linked_models_have_linked_weights(void **state)
{
	static const char *const links[] = {"m.onnx", "near", "far"};
	static const char *const targets[] = {"../blobs/m", "../blobs/w",
					      "../secret"};
	struct place *place = *state;
	struct sl_error err = {.status = SL_OK, .text = ""};
	struct sl_graph *graph;
	char path[256], blobs[128];

	snprintf(blobs, sizeof(blobs), "%s/blobs", place->root);
	assert_int_equal(mkdir(blobs, 0700), 0);
	write_file(blobs, "w", "ABCDEFGH", 8);
	for (int i = 0; i < 3; i++) {
		snprintf(path, sizeof(path), "%s/%s", place->folder, links[i]);
		assert_int_equal(symlink(targets[i], path), 0);
	}
	snprintf(path, sizeof(path), "%s/m.onnx", place->folder);
	for (int i = 1; i < 3; i++) {
		struct bytes model = model_at(links[i], NULL, NULL);
		enum sl_status rc;

		write_file(blobs, "m", model.data, model.n);
		bytes_release(&model);
		rc = sl__onnx_open(&graph, path, NULL, &err);
		assert_int_equal(rc, i == 1 ? SL_OK : SL_E_DATA);
		if (!rc)
			assert_memory_equal(graph->values[0].tensor->bytes,
					    "ABCDEFGH", 8);
		else
			assert_non_null(strstr(err.text, "leads out of the"));
		sl_graph_free(graph);
	}
	for (int i = 0; i < 3; i++) {
		snprintf(path, sizeof(path), "%s/%s", place->folder, links[i]);
		unlink(path);
	}
	snprintf(path, sizeof(path), "%s/m", blobs);
	unlink(path);
	snprintf(path, sizeof(path), "%s/w", blobs);
	unlink(path);
	rmdir(blobs);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(weights_are_mapped),
		cmocka_unit_test(a_file_is_mapped_once),
		cmocka_unit_test(nothing_outside_the_folder_is_read),
		cmocka_unit_test(what_is_missing_is_absent),
		cmocka_unit_test(what_is_missing_is_told),
		cmocka_unit_test(lengths_that_do_not_fit_are_refused),
		cmocka_unit_test(files_are_found_beside_the_model),
		cmocka_unit_test(linked_models_have_linked_weights),
	};

	return cmocka_run_group_tests(tests, make_place, remove_place);
}
