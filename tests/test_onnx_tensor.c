/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_onnx_tensor.c - a tensor's bytes are the same in whichever field its
 * numbers lie, for every type; sizes that do not fit are refused by name.
 * Oracle: packed little-endian bytes written out by hand.
 */
#include "onnx_bytes.h"
#include "model/onnx_read.h"

/* One row per type: two numbers (four for types of 4 bits) as they lie in
 * memory, and as elements of the list that the format names for the type. */
static const struct row {
	int dtype;
	unsigned field; /* of the list */
	size_t n_bytes; /* of the whole */
	int64_t dim;
	const char *bytes;
	uint64_t list[2]; /* varints, or bits of floats and doubles */
} rows[] = {
	{SL_DTYPE_F32,
	 4,
	 8,
	 2,
	 "\x00\x00\x80\x3f\x00\x00\x00\xc0",
	 {0x3f800000, 0xc0000000}},
	{SL_DTYPE_U8, 5, 2, 2, "\x01\xff", {1, 255}},
	{SL_DTYPE_I8, 5, 2, 2, "\x01\xff", {1, UINT64_MAX}},
	{SL_DTYPE_U16, 5, 4, 2, "\x01\x00\xfe\xff", {1, 65534}},
	{SL_DTYPE_I16, 5, 4, 2, "\x01\x00\xfe\xff", {1, (uint64_t)-2}},
	{SL_DTYPE_I32,
	 5,
	 8,
	 2,
	 "\x01\x00\x00\x00\xfe\xff\xff\xff",
	 {1, (uint64_t)-2}},
	{SL_DTYPE_I64,
	 7,
	 16,
	 2,
	 "\x01\x00\x00\x00\x00\x00\x00\x00\xfe\xff\xff\xff\xff\xff\xff\xff",
	 {1, (uint64_t)-2}},
	{SL_DTYPE_BOOL, 5, 2, 2, "\x01\x00", {1, 0}},
	{SL_DTYPE_F16, 5, 4, 2, "\x00\x3c\x00\xc0", {0x3c00, 0xc000}},
	{SL_DTYPE_F64,
	 10,
	 16,
	 2,
	 "\x00\x00\x00\x00\x00\x00\xf0\x3f\x00\x00\x00\x00\x00\x00\x00\xc0",
	 {0x3ff0000000000000, 0xc000000000000000}},
	{SL_DTYPE_U32,
	 11,
	 8,
	 2,
	 "\x01\x00\x00\x00\xff\xff\xff\xff",
	 {1, 0xffffffff}},
	{SL_DTYPE_U64,
	 11,
	 16,
	 2,
	 "\x01\x00\x00\x00\x00\x00\x00\x00\xff\xff\xff\xff\xff\xff\xff\xff",
	 {1, UINT64_MAX}},
	{SL_DTYPE_C64,
	 4,
	 8,
	 1,
	 "\x00\x00\x80\x3f\x00\x00\x00\xc0",
	 {0x3f800000, 0xc0000000}},
	{SL_DTYPE_C128,
	 10,
	 16,
	 1,
	 "\x00\x00\x00\x00\x00\x00\xf0\x3f\x00\x00\x00\x00\x00\x00\x00\xc0",
	 {0x3ff0000000000000, 0xc000000000000000}},
	{SL_DTYPE_BF16, 5, 4, 2, "\x80\x3f\x00\xc0", {0x3f80, 0xc000}},
	{SL_DTYPE_F8E4M3FN, 5, 2, 2, "\x38\xc0", {0x38, 0xc0}},
	{SL_DTYPE_F8E4M3FNUZ, 5, 2, 2, "\x40\xc8", {0x40, 0xc8}},
	{SL_DTYPE_F8E5M2, 5, 2, 2, "\x3c\xc0", {0x3c, 0xc0}},
	{SL_DTYPE_F8E5M2FNUZ, 5, 2, 2, "\x40\xc4", {0x40, 0xc4}},
	{SL_DTYPE_U4, 5, 2, 3, "\x21\x03", {0x21, 0x03}},
	{SL_DTYPE_I4, 5, 2, 4, "\x21\xf3", {0x21, 0xf3}},
	{SL_DTYPE_F4E2M1, 5, 2, 4, "\x21\xf3", {0x21, 0xf3}},
	{SL_DTYPE_F8E8M0, 5, 2, 2, "\x7f\xff", {0x7f, 0xff}},
	{SL_DTYPE_U2, 5, 2, 5, "\xe4\x01", {0xe4, 0x01}},
	{SL_DTYPE_I2, 5, 2, 8, "\xe4\x1b", {0xe4, 0x1b}},
};

enum layout { RAW, PACKED, UNPACKED, SPLIT, N_FORMS };

static void
put_element(struct bytes *b, unsigned field, uint64_t value)
{
	if (field == 4)
		put(b, &(uint32_t){(uint32_t)value}, 4);
	else if (field == 10)
		put(b, &value, 8);
	else
		put_varint(b, value);
}

static struct bytes
tensor_in(const struct row *row, enum layout layout)
{
	struct bytes b = {0}, list = {0};
	unsigned wire = row->field == 4 ? 5 : row->field == 10 ? 1 : 0;

	put_int(&b, 1, row->dim);
	put_int(&b, 2, row->dtype);
	put_text(&b, 8, "t");
	switch (layout) {
	case RAW:
		put_field(&b, 9, row->bytes, row->n_bytes);
		break;
	case PACKED:
		put_element(&list, row->field, row->list[0]);
		put_element(&list, row->field, row->list[1]);
		put_message(&b, row->field, &list);
		break;
	case UNPACKED:
		put_tag(&b, row->field, wire);
		put_element(&b, row->field, row->list[0]);
		put_tag(&b, row->field, wire);
		put_element(&b, row->field, row->list[1]);
		break;
	case SPLIT: /* one element packed, one not */
	case N_FORMS:
		put_element(&list, row->field, row->list[0]);
		put_message(&b, row->field, &list);
		put_tag(&b, row->field, wire);
		put_element(&b, row->field, row->list[1]);
		break;
	}
	return b;
}

static void
every_type_is_read_from_every_form(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		for (int layout = RAW; layout < N_FORMS; layout++) {
			struct bytes b =
				tensor_in(&rows[i], (enum layout)layout);
			struct sl_error err = {.status = SL_OK, .text = ""};
			struct sl__tensor tensor;
			struct sl__arena arena;
			int in_place;

			sl__arena_init(&arena, NULL);
			if (sl__onnx_read_tensor(&tensor, &arena, b.data, b.n,
						 &err))
				fail_msg("type %d, form %d: %s", rows[i].dtype,
					 layout, err.text);
			assert_int_equal(tensor.dtype, rows[i].dtype);
			assert_int_equal(tensor.n_elements, rows[i].dim);
			assert_int_equal(tensor.n_bytes, rows[i].n_bytes);
			assert_memory_equal(tensor.bytes, rows[i].bytes,
					    rows[i].n_bytes);
			in_place = tensor.bytes > b.data &&
				   tensor.bytes < b.data + b.n;
			assert_int_equal(in_place,
					 layout == RAW ||
						 (layout == PACKED &&
						  (rows[i].field == 4 ||
						   rows[i].field == 10)));
			sl__arena_release(&arena);
			bytes_release(&b);
		}
	}
}

/* Reads the tensor, which is then released; the error's text. */
static const char *
refusal(struct bytes *b)
{
	static struct sl_error err;
	struct sl__tensor tensor;
	struct sl__arena arena;

	sl__arena_init(&arena, NULL);
	assert_int_equal(
		sl__onnx_read_tensor(&tensor, &arena, b->data, b->n, &err),
		SL_E_DATA);
	sl__arena_release(&arena);
	bytes_release(b);
	return err.text;
}

static void
sizes_that_do_not_fit_are_named(void **state)
{
	static const float two[2] = {1, 2};
	struct bytes b = tensor_of("w", 1, 3, two, sizeof(two));

	(void)state;
	assert_string_equal(refusal(&b), "tensor 'w': 8 bytes of data where "
					 "its shape takes 12");
	b = tensor_of("w", 1, 3, NULL, 0);
	put_field(&b, 4, two, sizeof(two));
	assert_string_equal(refusal(&b), "tensor 'w': 8 bytes of data where "
					 "its shape takes 12");
	b = tensor_of("none", 1, -1, NULL, 0); /* a scalar without a number */
	assert_string_equal(refusal(&b), "tensor 'none': 0 bytes of data where "
					 "its shape takes 4");
	b = tensor_of("s", 8, 2, NULL, 0);
	put_text(&b, 6, "only");
	assert_string_equal(refusal(&b),
			    "tensor 's': 1 strings where its shape takes 2");
}

static void
absurd_dimensions_are_refused(void **state)
{
	struct bytes b = tensor_of("neg", 1, 4, NULL, 0);

	(void)state;
	put_int(&b, 1, -5);
	assert_string_equal(refusal(&b), "tensor 'neg': dimension 1 is -5");
	b = tensor_of("big", 1, INT64_MAX, NULL, 0);
	put_int(&b, 1, 4);
	assert_string_equal(refusal(&b), "tensor 'big': its dimensions "
					 "multiply to more than 64 bits");
	b = tensor_of("big", 11, INT64_MAX, NULL, 0); /* 2^63 - 1 doubles */
	assert_string_equal(refusal(&b), "tensor 'big': its dimensions "
					 "multiply to more than 64 bits");
	b = tensor_of("huge", 2, (int64_t)1 << 60, NULL,
		      0); /* nothing allocated */
	assert_non_null(strstr(refusal(&b), "1152921504606846976"));
	b = tensor_of("r", 1, 1, NULL, 0);
	for (int i = 0; i < 64; i++)
		put_int(&b, 1, 1);
	assert_non_null(strstr(refusal(&b), "more than 64 dimensions"));
	b = tensor_of("t", 0, 1, NULL, 0);
	assert_non_null(strstr(refusal(&b), "has no type of number"));
	b = tensor_of("t", 99, 2, "xx", 2);
	assert_non_null(strstr(refusal(&b), "no type of number 99"));
}

static void
nothing_needs_no_data(void **state)
{
	struct bytes b = tensor_of("empty", 1, 0, NULL, 0);
	struct sl__tensor tensor;
	struct sl__arena arena;

	(void)state;
	put_int(&b, 1, INT64_MAX);
	sl__arena_init(&arena, NULL);
	assert_int_equal(
		sl__onnx_read_tensor(&tensor, &arena, b.data, b.n, NULL),
		SL_OK);
	assert_int_equal(tensor.n_elements, 0);
	assert_int_equal(tensor.rank, 2);
	bytes_release(&b);

	b = tensor_of("later", 28, 2, "xx", 2); /* a type of the future */
	assert_int_equal(
		sl__onnx_read_tensor(&tensor, &arena, b.data, b.n, NULL),
		SL_OK);
	assert_non_null(tensor.absent);
	assert_int_equal(tensor.n_elements, 2);
	sl__arena_release(&arena);
	bytes_release(&b);
}

static void
strings_are_copied(void **state)
{
	struct bytes b = tensor_of("s", 8, 2, NULL, 0);
	struct sl__tensor tensor;
	struct sl__arena arena;

	(void)state;
	put_text(&b, 6, "hello");
	put_text(&b, 6, "");
	sl__arena_init(&arena, NULL);
	assert_int_equal(
		sl__onnx_read_tensor(&tensor, &arena, b.data, b.n, NULL),
		SL_OK);
	bytes_release(&b);
	assert_string_equal(tensor.strings[0], "hello");
	assert_string_equal(tensor.strings[1], "");
	sl__arena_release(&arena);
}

static void
sequences_are_told_apart(void **state)
{
	struct bytes b = {0}, inner = tensor_of("", 1, 0, NULL, 0);

	(void)state;
	put_text(&b, 1, "seq");
	put_int(&b, 2, 1);
	put_message(&b, 3, &inner);
	assert_string_equal(refusal(&b),
			    "is a sequence or an optional, not a tensor");
}

/* A model whose weight of 4 x 4 is stored as three numbers and their places:
 * flat, or in rows of coordinates. */
static struct bytes
sparse_model(const int64_t *places, int64_t n_columns)
{
	struct bytes graph = {0}, sparse = {0}, indices = {0};
	struct bytes values = tensor_of("w", 1, 3, "aaaabbbbcccc", 12);

	put_message(&sparse, 1, &values);
	put_int(&indices, 1, 3);
	if (n_columns > 1)
		put_int(&indices, 1, n_columns);
	put_int(&indices, 2, 7);
	for (int64_t i = 0; i < 3 * n_columns; i++)
		put_int(&indices, 7, places[i]);
	put_message(&sparse, 2, &indices);
	put_int(&sparse, 3, 4);
	put_int(&sparse, 3, 4);
	put_message(&graph, 15, &sparse);
	put_info(&graph, 12, "w", NULL);
	return model_of(&graph, 17);
}

static void
sparse_values_lie_inside(void **state)
{
	static const struct {
		int64_t places[6], n_columns;
		int is_inside;
	} cases[] = {{{0, 5, 15}, 1, 1},
		     {{0, 5, 16}, 1, 0},
		     {{-1, 5, 6}, 1, 0},
		     {{0, 0, 1, 3, 3, 3}, 2, 1},
		     {{0, 0, 1, 4, 3, 3}, 2, 0}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct bytes b =
			sparse_model(cases[i].places, cases[i].n_columns);
		struct sl_error err = {.status = SL_OK, .text = ""};
		const struct sl__tensor *t;
		struct sl_graph *graph;
		enum sl_status rc =
			sl__onnx_read(&graph, b.data, b.n, NULL, NULL, &err);

		bytes_release(&b);
		assert_int_equal(rc, cases[i].is_inside ? SL_OK : SL_E_DATA);
		if (rc) {
			assert_non_null(strstr(err.text, "lies outside"));
			continue;
		}
		t = graph->values[0].tensor;
		assert_int_equal(t->n_elements, 16);
		assert_int_equal(t->n_stored, 3);
		assert_int_equal(sl__tensor_stored_bytes(t),
				 12 + 24 * cases[i].n_columns);
		sl_graph_free(graph);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_type_is_read_from_every_form),
		cmocka_unit_test(sizes_that_do_not_fit_are_named),
		cmocka_unit_test(absurd_dimensions_are_refused),
		cmocka_unit_test(nothing_needs_no_data),
		cmocka_unit_test(strings_are_copied),
		cmocka_unit_test(sequences_are_told_apart),
		cmocka_unit_test(sparse_values_lie_inside),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
