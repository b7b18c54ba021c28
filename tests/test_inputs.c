/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a folder holds for a model's inputs: either form of file is found for
 * the input it belongs to, and what is missing or does not fit is named.
 */
#include "harness.h"

#include "graph/graph_construction.h"
#include "counting.h"
#include "model/inputs.h"

#include <sys/stat.h>
#include <unistd.h>

static char folder[64];
static struct sl_graph *graph;

static void
add_input(uint32_t *id, const char *name, enum sl__type_kind kind,
	  enum sl_dtype dtype)
{
	assert_int_equal(sl__graph_add_value(graph, id, name, 0, NULL), SL_OK);
	graph->values[*id].kind = SL_VALUE_INPUT;
	graph->values[*id].declared.kind = kind;
	graph->values[*id].declared.dtype = dtype;
	graph->values[*id].declared.rank = -1;
}

/* Inputs: f32, i64 with a name that is no file name, a list, anything. */
static int
set_up(void **state)
{
	uint32_t ids[4];

	(void)state;
	snprintf(folder, sizeof(folder), "/tmp/sleuth-inputs-XXXXXX");
	assert_non_null(mkdtemp(folder));
	assert_int_equal(sl__graph_new(&graph, NULL, NULL), SL_OK);
	add_input(&ids[0], "x", SL__TYPE_TENSOR, SL_DTYPE_F32);
	add_input(&ids[1], "net/ids:0", SL__TYPE_TENSOR, SL_DTYPE_I64);
	add_input(&ids[2], "list", SL__TYPE_SEQUENCE, SL_DTYPE_NONE);
	add_input(&ids[3], "any", SL__TYPE_UNKNOWN, SL_DTYPE_NONE);
	assert_int_equal(sl__graph_set_inputs(graph, 0, ids, 4, NULL), SL_OK);
	assert_int_equal(sl__graph_freeze(graph, NULL), SL_OK);
	return 0;
}

static int
tear_down(void **state)
{
	char command[128];

	(void)state;
	sl_graph_free(graph);
	snprintf(command, sizeof(command), "rm -r '%s'", folder);
	return system(command);
}

static void
put_file(const char *name, const void *bytes, size_t n)
{
	char path[256];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, "wb");
	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, n, file), n);
	assert_int_equal(fclose(file), 0);
}

static void
copy_npy(const char *from, const char *name)
{
	char path[512], bytes[1024];
	FILE *file;
	size_t n;

	snprintf(path, sizeof(path), "%s/npy/%s.npy", SL_TEST_DATA, from);
	file = fopen(path, "rb");
	assert_non_null(file);
	n = fread(bytes, 1, sizeof(bytes), file);
	fclose(file);
	put_file(name, bytes, n);
}

static void
remove_file(const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	assert_int_equal(unlink(path), 0);
}

/* A TensorProto: dims 3, int64 (7), raw data of 24 bytes. */
static const unsigned char three_ids[] = {
	0x08, 3, 0x10, 7, 0x4a, 24, 5, 0, 0, 0, 0, 0, 0, 0, 6,
	0,    0, 0,    0, 0,    0,  0, 7, 0, 0, 0, 0, 0, 0, 0};

static enum sl_status
open_folder(struct sl__input_files **out, struct sl_error *err)
{
	return sl__input_files_open(out, graph, folder, NULL, err);
}

static void
expect(enum sl_status status, const char *says)
{
	struct sl__input_files *inputs;
	struct sl_error err = {.status = SL_OK, .text = ""};

	assert_int_equal(open_folder(&inputs, &err), status);
	assert_null(inputs);
	if (!strstr(err.text, says))
		fail_msg("%s", err.text);
}

static void
either_form_is_found(void **state)
{
	struct sl__input_files *inputs;
	struct sl_error err = {.status = SL_OK, .text = ""};
	int64_t ids[3];

	(void)state;
	copy_npy("f4", "x.npy");
	put_file("input_1.pb", three_ids, sizeof(three_ids));
	copy_npy("u1", "any.npy");
	if (open_folder(&inputs, &err))
		fail_msg("%s", err.text);
	assert_int_equal(inputs->n, 4);
	assert_int_equal(inputs->contents[0]->dtype, SL_DTYPE_F32);
	assert_int_equal(inputs->contents[0]->rank, 2);
	assert_true(sl__tensor_integers(inputs->contents[1], 0, 3, ids));
	assert_int_equal(ids[0], 5);
	assert_int_equal(ids[2], 7);
	assert_null(inputs->contents[2]); /* a list has no shape */
	assert_int_equal(inputs->contents[3]->dtype, SL_DTYPE_U8);
	sl__input_files_close(inputs);

	/* A name that is no file name, with '_' for '/'. */
	remove_file("input_1.pb");
	copy_npy("rank1", "net_ids:0.npy");
	assert_int_equal(open_folder(&inputs, &err), SL_OK);
	assert_int_equal(inputs->contents[1]->n_elements, 4);
	sl__input_files_close(inputs);
	sl__input_files_close(NULL);
}

/* A SequenceProto: of tensors (1), one of them. */
static void
a_list_is_read(void **state)
{
	unsigned char list[4 + sizeof(three_ids)] = {0x10, 1, 0x1a,
						     sizeof(three_ids)};
	struct sl__input_files *inputs;
	struct sl_error err = {.status = SL_OK, .text = ""};

	(void)state;
	memcpy(list + 4, three_ids, sizeof(three_ids));
	put_file("input_2.pb", list, sizeof(list));
	if (open_folder(&inputs, &err))
		fail_msg("%s", err.text);
	assert_null(inputs->contents[2]);
	assert_int_equal(inputs->values[0].kind, SL__TYPE_UNKNOWN);
	assert_int_equal(inputs->values[2].kind, SL__TYPE_SEQUENCE);
	assert_int_equal(inputs->values[2].n_items, 1);
	assert_int_equal(inputs->values[2].items[0].tensor.n_elements, 3);
	sl__input_files_close(inputs);
	put_file("input_2.pb", list, sizeof(list) - 1);
	expect(SL_E_DATA, "input_2.pb: ends at byte");
	remove_file("input_2.pb");
}

static void
what_is_wrong_is_named(void **state)
{
	struct sl__input_files *inputs;
	struct sl_error err;

	(void)state;
	remove_file("net_ids:0.npy");
	expect(SL_E_IO, "has neither input_1.pb nor net_ids:0.npy for the "
			"input 'net/ids:0'");
	copy_npy("i4", "net_ids:0.npy");
	expect(SL_E_DATA, "net_ids:0.npy: holds int32, but the input "
			  "'net/ids:0' is int64");
	copy_npy("fortran", "net_ids:0.npy");
	expect(SL_E_DATA, "net_ids:0.npy: is in Fortran order");
	put_file("input_1.pb", three_ids, sizeof(three_ids) - 1);
	expect(SL_E_DATA, "input_1.pb: ");
	put_file("input_1.pb", "", 0);
	expect(SL_E_DATA, "input_1.pb: is empty");
	assert_int_equal(sl__input_files_open(&inputs, graph, "/nowhere/at/all",
					      NULL, &err),
			 SL_E_IO);
	assert_string_equal(err.text, "/nowhere/at/all: no such folder");
}

/* A folder for another model would be read in part and without a word. */
static void
a_file_too_many_is_refused(void **state)
{
	(void)state;
	put_file("input_1.pb", three_ids, sizeof(three_ids));
	put_file("input_4.pb", three_ids, sizeof(three_ids));
	expect(SL_E_DATA, "input_4.pb: there is no input 4; the model has 4 "
			  "inputs, counted from 0");
	remove_file("input_4.pb");
}

static void
memory_may_run_out(void **state)
{
	(void)state;
	put_file("input_1.pb", three_ids, sizeof(three_ids));
	for (int n = 1;; n++) {
		struct counting counting = {0, 0, n};
		const struct sl_allocator allocator =
			counting_allocator(&counting);
		struct sl__input_files *inputs;
		enum sl_status rc = sl__input_files_open(&inputs, graph, folder,
							 &allocator, NULL);

		sl__input_files_close(inputs);
		assert_int_equal(counting.n_out, 0);
		if (!rc)
			break;
		assert_int_equal(rc, SL_E_NOMEM);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(either_form_is_found),
		cmocka_unit_test(a_list_is_read),
		cmocka_unit_test(what_is_wrong_is_named),
		cmocka_unit_test(a_file_too_many_is_refused),
		cmocka_unit_test(memory_may_run_out),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
