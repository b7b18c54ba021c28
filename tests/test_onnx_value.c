/* SPDX-License-Identifier: Apache-2.0 */
/* test_onnx_value.c - proves that sequences and optionals are read as their
 * type says, and that broken ones are refused wherever they are cut. */
#include "harness.h"
#include "model/onnx_read.h"

/* A tensor: dims 2, int32 (6), two numbers. */
#define TENSOR "\x08\x02\x10\x06\x2a\x02\x05\x07"

static const struct sl__type tensor = {SL__TYPE_TENSOR, SL_DTYPE_I32, -1, NULL,
				       NULL};
static const struct sl__type sequence = {SL__TYPE_SEQUENCE, SL_DTYPE_NONE, -1,
					 NULL, &tensor};
static const struct sl__type optional = {SL__TYPE_OPTIONAL, SL_DTYPE_NONE, -1,
					 NULL, &sequence};

/* A name, the kind of element, then two elements. */
static const unsigned char two[] = "\x0a\x01s\x10\x01\x1a\x08" TENSOR
				   "\x1a\x08" TENSOR;
/* An optional of that sequence. */
static const unsigned char held[] =
	"\x10\x03\x2a\x19\x0a\x01s\x10\x01\x1a\x08" TENSOR "\x1a\x08" TENSOR;

static enum sl_status
read_as(struct sl__runtime_value *out, const struct sl__type *type,
	struct sl__arena *arena, const unsigned char *bytes, size_t n)
{
	struct sl_error err = {0};

	return sl__onnx_read_runtime_value(out, type, arena, bytes, n, &err);
}

static void
check_two(const struct sl__runtime_value *content)
{
	int64_t number;

	assert_int_equal(content->kind, SL__TYPE_SEQUENCE);
	assert_int_equal(content->dtype, SL_DTYPE_I32);
	assert_int_equal(content->n_items, 2);
	assert_int_equal(content->items[1].kind, SL__TYPE_TENSOR);
	assert_true(
		sl__tensor_integers(&content->items[1].tensor, 1, 1, &number));
	assert_int_equal(number, 7);
}

static void
the_type_tells_what_it_is(void **state)
{
	struct sl__arena arena;
	struct sl__runtime_value content;

	(void)state;
	sl__arena_init(&arena, NULL);
	assert_int_equal(
		read_as(&content, &sequence, &arena, two, sizeof(two) - 1),
		SL_OK);
	check_two(&content);
	assert_int_equal(
		read_as(&content, &optional, &arena, held, sizeof(held) - 1),
		SL_OK);
	assert_int_equal(content.kind, SL__TYPE_OPTIONAL);
	assert_int_equal(content.n_items, 1);
	check_two(&content.items[0]);
	assert_int_equal(read_as(&content, NULL, &arena,
				 (const unsigned char *)TENSOR, 8),
			 SL_OK);
	assert_int_equal(content.kind, SL__TYPE_TENSOR);
	sl__arena_release(&arena);
}

static void
nothing_is_a_sequence_and_an_optional(void **state)
{
	static const unsigned char none[] = "\x10\x01";
	struct sl__arena arena;
	struct sl__runtime_value content;

	(void)state;
	sl__arena_init(&arena, NULL);
	assert_int_equal(read_as(&content, &sequence, &arena, none, 2), SL_OK);
	assert_int_equal(content.n_items, 0);
	assert_int_equal(read_as(&content, &optional, &arena, NULL, 0), SL_OK);
	assert_int_equal(content.n_items, 0);
	sl__arena_release(&arena);
}

/* A cut that falls between two fields leaves a shorter list. */
static void
cut_files_are_refused(void **state)
{
	struct sl__arena arena;
	struct sl__runtime_value content;

	(void)state;
	sl__arena_init(&arena, NULL);
	for (size_t n = 0; n < sizeof(two) - 1; n++) {
		enum sl_status rc =
			read_as(&content, &sequence, &arena, two, n);
		int is_between = n == 0 || n == 3 || n == 5 || n == 15;

		assert_int_equal(rc, is_between ? SL_OK : SL_E_DATA);
	}
	for (size_t n = 3; n < sizeof(held) - 1; n++)
		assert_int_equal(read_as(&content, &optional, &arena, held, n),
				 SL_E_DATA);
	sl__arena_release(&arena);
}

static void
what_cannot_be_is_refused(void **state)
{
	static const struct sl__type map = {SL__TYPE_MAP, SL_DTYPE_I64, -1,
					    NULL, NULL};
	struct sl__type nested[16] = {
		{SL__TYPE_TENSOR, SL_DTYPE_I32, -1, NULL, NULL}};
	struct sl__type some = {SL__TYPE_OPTIONAL, SL_DTYPE_NONE, -1, NULL,
				&tensor};
	unsigned char deep[64];
	struct sl__arena arena;
	struct sl__runtime_value content;

	(void)state;
	sl__arena_init(&arena, NULL);
	assert_int_equal(read_as(&content, &map, &arena, two, sizeof(two) - 1),
			 SL_E_ABSENT);
	/* Two elements of an optional. */
	assert_int_equal(read_as(&content, &some, &arena, two, sizeof(two) - 1),
			 SL_E_DATA);
	/* Sequences in one another, fifteen deep. */
	for (unsigned i = 0; i < 15; i++) {
		nested[i + 1] = sequence;
		nested[i + 1].element = &nested[i];
		deep[2 * i] = 0x2a;
		deep[2 * i + 1] = (unsigned char)(28 - 2 * i);
	}
	assert_int_equal(read_as(&content, &nested[15], &arena, deep, 30),
			 SL_E_DATA);
	assert_int_equal(read_as(&content, &nested[4], &arena, deep + 24, 6),
			 SL_OK);
	sl__arena_release(&arena);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_type_tells_what_it_is),
		cmocka_unit_test(nothing_is_a_sequence_and_an_optional),
		cmocka_unit_test(cut_files_are_refused),
		cmocka_unit_test(what_cannot_be_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
