/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_wire.c - fields are read as they were written, in every form, and what
 * is no field, or reaches past the end, is refused with its byte.  Oracle:
 * the published examples of the encoding (150 is 96 01; -1 is ten bytes).
 */
#include "onnx_bytes.h"
#include "model/wire.h"

static struct sl__wire_file
file_of(const struct bytes *b)
{
	struct sl__wire_file file = {
		.bytes = b->data, .n_bytes = b->n, .max_fields = UINT64_MAX};

	return file;
}

static void
varints_hold_64_bits(void **state)
{
	static const struct {
		const char *bytes;
		size_t n;
		uint64_t value;
	} cases[] = {
		{"\x00", 1, 0},
		{"\x01", 1, 1},
		{"\x96\x01", 2, 150},
		{"\xac\x02", 2, 300},
		{"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 10, UINT64_MAX},
		{"\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", 10, 1ull << 63},
		{"\x81\x00", 2, 1}, /* longer than need be, but legal */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const unsigned char *bytes =
			(const unsigned char *)cases[i].bytes;
		const unsigned char *at = bytes;
		uint64_t value = 7;

		assert_true(sl__varint_read(&at, bytes + cases[i].n, &value));
		assert_int_equal(value, cases[i].value);
		assert_ptr_equal(at, bytes + cases[i].n);
		for (size_t n = 0; n < cases[i].n; n++) { /* cut short */
			at = bytes;
			assert_false(sl__varint_read(&at, bytes + n, &value));
			assert_ptr_equal(at, bytes);
		}
	}
}

static void
varints_beyond_64_bits_are_refused(void **state)
{
	static const unsigned char two_bits[] = {0xff, 0xff, 0xff, 0xff, 0xff,
						 0xff, 0xff, 0xff, 0xff, 0x02};
	static const unsigned char eleven[] = {0x80, 0x80, 0x80, 0x80,
					       0x80, 0x80, 0x80, 0x80,
					       0x80, 0x80, 0x01};
	const unsigned char *at = two_bits;
	uint64_t value;

	(void)state;
	assert_false(sl__varint_read(&at, at + sizeof(two_bits), &value));
	at = eleven;
	assert_false(sl__varint_read(&at, at + sizeof(eleven), &value));
}

static void
every_type_of_field_is_read(void **state)
{
	struct bytes b = {0};
	struct sl__wire_file file;
	struct sl__wire_reader wire;
	struct sl__field f;
	double real = 1.5;

	(void)state;
	put_int(&b, 1, -1);
	put_text(&b, 2, "abc");
	put_float(&b, 3, 0.5f);
	put_tag(&b, 536870911, 1); /* the largest number of a field */
	put(&b, &real, sizeof(real));
	file = file_of(&b);
	sl__wire_init(&wire, &file, "model");

	assert_true(sl__wire_next(&wire, &f));
	assert_int_equal(f.number, 1);
	assert_int_equal(sl__wire_integer(&wire, &f), -1);
	assert_true(sl__wire_next(&wire, &f));
	assert_int_equal(f.number, 2);
	assert_int_equal(f.n_bytes, 3);
	assert_memory_equal(f.bytes, "abc", 3);
	assert_true(f.bytes > b.data && f.bytes < b.data + b.n);
	assert_true(sl__wire_next(&wire, &f));
	assert_int_equal(f.type, SL__WIRE_FIXED32);
	assert_int_equal(f.value, 0x3f000000);
	assert_true(sl__wire_next(&wire, &f));
	assert_int_equal(f.number, 536870911);
	assert_int_equal(f.value, 0x3ff8000000000000);
	for (int i = 0; i < 2; i++) {
		assert_false(sl__wire_next(&wire, &f));
		assert_int_equal(f.number, 0);
	}
	assert_int_equal(file.status, SL_OK);
	assert_int_equal(file.n_fields, 4);
	bytes_release(&b);
}

static struct sl__wire_file
told_file(const char *bytes, size_t n, struct sl_error *err)
{
	struct sl__wire_file file = {.bytes = (const unsigned char *)bytes,
				     .n_bytes = n,
				     .max_fields = UINT64_MAX,
				     .err = err};

	return file;
}

/* What the reader says about the first field that it refuses. */
static void
expect_refusal(const char *bytes, size_t n, const char *says)
{
	struct sl_error err = {.status = SL_OK};
	struct sl__wire_file file = told_file(bytes, n, &err);
	struct sl__wire_reader wire;
	struct sl__field f;

	sl__wire_init(&wire, &file, "model");
	while (sl__wire_next(&wire, &f))
		;
	assert_int_equal(file.status, SL_E_DATA);
	if (!strstr(err.text, says))
		fail_msg("'%s' does not say '%s'", err.text, says);
}

static void
what_is_no_field_is_refused(void **state)
{
	(void)state;
	expect_refusal("\x00\x01", 2, "byte 0: no field");
	expect_refusal("\x08\x01\x0b", 3, "byte 2: a group");
	expect_refusal("\x0c", 1, "byte 0: a group");
	expect_refusal("\x0e", 1, "byte 0: a field of type 6");
	expect_refusal("\x0f", 1, "byte 0: a field of type 7");
	expect_refusal("\x80\x80\x80\x80\x10\x00", 6, "byte 0: no field");
	expect_refusal("\x80", 1, "ends at byte 1");
	expect_refusal("\x08\x80", 2, "ends at byte 2 inside field 1");
	expect_refusal("\x08\x01\x3a\x05"
		       "abcd",
		       8,
		       "ends at byte 8 inside field 7 of the model, which "
		       "begins at byte 2; is the file complete?");
	expect_refusal("\x0d\x01\x02\x03", 4, "ends at byte 4");
	expect_refusal("\x09\x01\x02\x03\x04\x05\x06\x07", 8, "ends at byte 8");
	expect_refusal("\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11,
		       "ends at byte 11");
}

static void
a_field_ends_inside_its_parent(void **state)
{
	/* A message of three bytes whose field claims five; more follows. */
	static const char bytes[] = "\x0a\x03\x12\x05"
				    "a"
				    "xxxxxxx";
	struct sl_error err = {.status = SL_OK};
	struct sl__wire_file file = told_file(bytes, sizeof(bytes) - 1, &err);
	struct sl__wire_reader wire, inner;
	struct sl__field f;

	(void)state;
	sl__wire_init(&wire, &file, "model");
	assert_true(sl__wire_next(&wire, &f));
	inner = sl__wire_enter_message(&wire, &f, "graph");
	assert_int_equal(file.status, SL_OK);
	assert_false(sl__wire_next(&inner, &f));
	assert_int_equal(file.status, SL_E_DATA);
	assert_string_equal(err.text, "byte 2: field 2 of a graph reaches past "
				      "the end of the graph");
}

static void
wrong_types_are_named(void **state)
{
	struct sl_error err = {.status = SL_OK};
	struct sl__wire_file file = told_file("\x08\x01", 2, &err);
	struct sl__wire_reader wire, inner;
	struct sl__field f;

	(void)state;
	sl__wire_init(&wire, &file, "model");
	assert_true(sl__wire_next(&wire, &f));
	inner = sl__wire_enter_message(&wire, &f, "graph");
	assert_int_equal(file.status, SL_E_DATA);
	assert_non_null(strstr(err.text, "byte 0: field 1 of a model"));
	/* The first failure sticks: there is nothing more, and none is told. */
	assert_int_equal(inner.at, inner.end);
	assert_false(sl__wire_next(&wire, &f));
	sl__wire_fail(&file, "another");
	assert_null(strstr(err.text, "another"));
}

/* A list means the same packed, unpacked, and mixed. */
static void
lists_are_read_in_every_form(void **state)
{
	struct bytes b = {0}, packed = {0};
	uint64_t values[8] = {0};
	struct sl__wire_file file;
	struct sl__wire_reader wire;
	struct sl__field f;
	size_t n = 0, n_taken = 0;

	(void)state;
	put_int(&b, 8, 1);
	put_varint(&packed, 300);
	put_varint(&packed, UINT64_MAX);
	put_message(&b, 8, &packed);
	put_field(&b, 8, "", 0);
	put_int(&b, 8, 4);
	file = file_of(&b);
	sl__wire_init(&wire, &file, "list");
	while (sl__wire_next(&wire, &f)) {
		sl__wire_count_numbers(&wire, &f, SL__WIRE_VARINT, &n);
		sl__wire_read_numbers(&f, SL__WIRE_VARINT, values, 8, &n_taken);
	}
	assert_int_equal(file.status, SL_OK);
	assert_int_equal(n, 4);
	assert_int_equal(n_taken, 4);
	assert_int_equal(values[0], 1);
	assert_int_equal(values[1], 300);
	assert_int_equal(values[2], UINT64_MAX);
	assert_int_equal(values[3], 4);
	bytes_release(&b);
}

static void
broken_lists_are_refused(void **state)
{
	static const char bytes[] = "\x0a\x03\x01\x02\x80";
	struct sl_error err = {.status = SL_OK};
	struct sl__wire_file file = told_file(bytes, sizeof(bytes) - 1, &err);
	struct sl__wire_reader wire;
	struct sl__field f;
	uint64_t values[2];
	size_t n = 0;

	(void)state;
	sl__wire_init(&wire, &file, "list");
	assert_true(sl__wire_next(&wire, &f));
	for (size_t i = 0; i < 3; i++) {
		static const enum sl__wire_type types[] = {
			SL__WIRE_VARINT, SL__WIRE_FIXED32, SL__WIRE_FIXED64};

		file.status = SL_OK;
		file.err = &err;
		err.text[0] = '\0';
		sl__wire_count_numbers(&wire, &f, types[i], &n);
		assert_int_equal(file.status, SL_E_DATA);
		assert_non_null(strstr(err.text, "byte 0"));
	}
	assert_int_equal(n, 0);
	sl__wire_read_numbers(&f, SL__WIRE_VARINT, values, 2, &n);
	assert_int_equal(n, 2);
	sl__wire_read_numbers(&f, SL__WIRE_VARINT, values, 2, &n);
	assert_int_equal(n, 2); /* no room is no write */
}

static void
a_stretch_is_stepped_over_and_fields_are_limited(void **state)
{
	struct sl_error err = {.status = SL_OK};
	struct sl__wire_file file =
		told_file("\x08\x01\x10\x02\x18\x03", 6, &err);
	struct sl__wire_reader wire, again;
	struct sl__field f;

	(void)state;
	file.max_fields = 3;
	sl__wire_init(&wire, &file, "model");
	wire.skip_from = 2;
	wire.skip_to = 4;
	again = wire;
	assert_true(sl__wire_next(&wire, &f));
	assert_int_equal(f.number, 1);
	assert_true(sl__wire_next(&wire, &f));
	assert_int_equal(f.number, 3);
	assert_int_equal(f.at, 4);
	assert_false(sl__wire_next(&wire, &f));
	assert_int_equal(file.status, SL_OK);
	assert_true(sl__wire_next(&again, &f));
	assert_false(sl__wire_next(&again, &f));
	assert_int_equal(file.status, SL_E_DATA);
	assert_non_null(strstr(err.text, "gave up after visiting 3 fields"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(varints_hold_64_bits),
		cmocka_unit_test(varints_beyond_64_bits_are_refused),
		cmocka_unit_test(every_type_of_field_is_read),
		cmocka_unit_test(what_is_no_field_is_refused),
		cmocka_unit_test(a_field_ends_inside_its_parent),
		cmocka_unit_test(wrong_types_are_named),
		cmocka_unit_test(lists_are_read_in_every_form),
		cmocka_unit_test(broken_lists_are_refused),
		cmocka_unit_test(
			a_stretch_is_stepped_over_and_fields_are_limited),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
