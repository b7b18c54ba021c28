/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_ref_move.c - proves that elements of any width arrive where they
 * should and nothing beside them changes: whole bytes, halves and quarters of
 * a byte, strings; and that blanks are zeros or empty strings.
 */
#include "harness.h"
#include "ops/ref_move.h"

#include <string.h>

/* Element i of n_bits each, the lowest bits first. */
static unsigned
bits_at(const unsigned char *bytes, unsigned n_bits, int64_t i)
{
	unsigned each = 8 / n_bits;

	return (unsigned)bytes[i / each] >> ((unsigned)(i % each) * n_bits) &
	       ((1u << n_bits) - 1);
}

static void
parts_of_bytes_are_moved_alone(void **state)
{
	static const unsigned char from[] = {0xd2, 0x6b, 0x94, 0x1f};
	unsigned char to[4];

	(void)state;
	for (unsigned n_bits = 2; n_bits <= 4; n_bits += 2) {
		struct sl__element_mover m = {
			.from = from, .to = to, .n_bits = n_bits};
		int64_t n = (int64_t)(32 / n_bits);

		memset(to, 0x5a, sizeof(to));
		sl__move_elements(&m, 1, 2, n - 3);
		assert_int_equal(bits_at(to, n_bits, 0),
				 bits_at((unsigned char[]){0x5a}, n_bits, 0));
		for (int64_t i = 1; i < n - 2; i++)
			assert_int_equal(bits_at(to, n_bits, i),
					 bits_at(from, n_bits, i + 1));
		for (int64_t i = n - 2; i < n; i++)
			assert_int_equal(bits_at(to, n_bits, i),
					 bits_at((unsigned char[4]){0x5a, 0x5a,
								    0x5a, 0x5a},
						 n_bits, i));
	}
}

static void
whole_elements_are_moved(void **state)
{
	static const uint16_t from[] = {1, 2, 3, 4};
	uint16_t to[] = {9, 9, 9, 9};
	struct sl__element_mover m = {.from = (const unsigned char *)from,
				      .to = (unsigned char *)to,
				      .n_bits = 16};

	(void)state;
	sl__move_elements(&m, 1, 2, 2);
	assert_memory_equal(to, ((uint16_t[]){9, 3, 4, 9}), sizeof(to));
	sl__move_elements(&m, 0, 0, 0);
	sl__move_elements(&m, 0, 0, -1);
	assert_memory_equal(to, ((uint16_t[]){9, 3, 4, 9}), sizeof(to));
}

/* The last byte is blanked whole where elements share it. */
static void
blanks_are_zero(void **state)
{
	unsigned char to[4];
	struct sl__element_mover m = {.to = to};
	static const struct {
		unsigned n_bits;
		int64_t n;
		int n_bytes;
	} cases[] = {{4, 3, 2}, {4, 4, 2},  {2, 5, 2},  {2, 1, 1},
		     {8, 3, 3}, {16, 1, 2}, {32, 1, 4}, {8, 0, 0}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		memset(to, 0xff, sizeof(to));
		m.n_bits = cases[i].n_bits;
		sl__move_zero_fill(&m, cases[i].n);
		for (int k = 0; k < 4; k++)
			assert_int_equal(to[k],
					 k < cases[i].n_bytes ? 0 : 0xff);
	}
}

static void
blank_strings_are_empty(void **state)
{
	const char *to[] = {"a", "b", "c"};
	struct sl__element_mover m = {.to = (unsigned char *)(void *)to,
				      .n_bits = 8 * sizeof(char *),
				      .is_text = 1};

	(void)state;
	sl__move_zero_fill(&m, 2);
	assert_string_equal(to[0], "");
	assert_string_equal(to[1], "");
	assert_string_equal(to[2], "c");
}

/* A path through [2][3] that takes a [3][2] by columns. */
static void
paths_follow_their_strides(void **state)
{
	static const unsigned char from[] = {1, 2, 3, 4, 5, 6};
	const int64_t dims[] = {2, 3}, none[] = {2, 0};
	unsigned char to[6] = {0};
	struct sl__element_mover m = {.from = from, .to = to, .n_bits = 8};
	struct sl__strided_path path;

	(void)state;
	sl__strided_path_init(&path, 2, dims);
	path.from[0] = 1;
	path.from[1] = 2;
	sl__move_strided_path(&m, &path);
	assert_memory_equal(to, ((unsigned char[]){1, 3, 5, 2, 4, 6}), 6);
	/* In one piece on both sides, from the second element on. */
	sl__strided_path_init(&path, 2, dims);
	path.dims[0] = 1;
	path.from[0] = 3;
	path.from[1] = 1;
	path.from_at = 2;
	path.to_at = 3;
	sl__move_strided_path(&m, &path);
	assert_memory_equal(to, ((unsigned char[]){1, 3, 5, 3, 4, 5}), 6);
	sl__strided_path_init(&path, 2, none);
	sl__move_strided_path(&m, &path);
	assert_memory_equal(to, ((unsigned char[]){1, 3, 5, 3, 4, 5}), 6);
}

static void
places_count_from_either_end(void **state)
{
	struct sl_error err = {0};
	struct sl__kernel_call ev = {.err = &err};
	int64_t at;

	(void)state;
	for (int64_t i = -3; i < 3; i++) {
		at = i;
		assert_int_equal(sl__ref_index_normalize(&ev, &at, 3), SL_OK);
		assert_int_equal(at, (i + 3) % 3);
	}
	at = 3;
	assert_int_equal(sl__ref_index_normalize(&ev, &at, 3), SL_E_DATA);
	assert_string_equal(err.text, "index 3 lies outside of 3 places");
	ev.failure = SL_OK;
	at = -4;
	assert_int_equal(sl__ref_index_normalize(&ev, &at, 3), SL_E_DATA);
}

static void
an_axis_splits_a_tensor(void **state)
{
	const int64_t dims[] = {2, 3, 4, 5};
	struct sl__tensor t = {.rank = 4, .dims = dims};
	struct sl__kernel_call ev = {0};
	struct sl__axis_split around;
	int64_t axis = -2;

	(void)state;
	assert_int_equal(sl__axis_split_tensor(&ev, &around, &t, &axis), SL_OK);
	assert_int_equal(axis, 2);
	assert_int_equal(around.outer, 6);
	assert_int_equal(around.size, 4);
	assert_int_equal(around.inner, 5);
	assert_int_equal(sl__axis_split_tensor(&ev, &around, &t, NULL), SL_OK);
	assert_int_equal(around.outer, 1);
	assert_int_equal(around.size, 2);
	assert_int_equal(around.inner, 60);
	axis = 4;
	assert_int_equal(sl__axis_split_tensor(&ev, &around, &t, &axis),
			 SL_E_DATA);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parts_of_bytes_are_moved_alone),
		cmocka_unit_test(whole_elements_are_moved),
		cmocka_unit_test(blanks_are_zero),
		cmocka_unit_test(blank_strings_are_empty),
		cmocka_unit_test(paths_follow_their_strides),
		cmocka_unit_test(places_count_from_either_end),
		cmocka_unit_test(an_axis_splits_a_tensor),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
