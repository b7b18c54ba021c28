/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_compared_lists.c - proves that sequences are compared item by item and
 * judged by the worst, and that what cannot be compared is told.
 */
#include "experiment/output_check.h"
#include "harness.h"

static struct sl__tensor
tensor(enum sl_dtype dtype, const void *bytes, const int64_t *dims, size_t rank)
{
	struct sl__tensor t = {
		.dtype = dtype, .rank = rank, .dims = dims, .bytes = bytes};

	assert_true(sl__tensor_compute_size(&t));
	return t;
}

static struct sl__runtime_value
list_of(struct sl__runtime_value *items, const float *x, size_t n)
{
	static const int64_t one[] = {1};
	struct sl__runtime_value list = {.kind = SL__TYPE_SEQUENCE,
					 .dtype = SL_DTYPE_F32,
					 .items = items,
					 .n_items = n};

	for (size_t i = 0; i < n; i++) {
		struct sl__tensor t = tensor(SL_DTYPE_F32, &x[i], one, 1);

		sl__runtime_value_borrow(&items[i], &t);
	}
	return list;
}

static void
lists_are_judged_by_their_worst_item(void **state)
{
	const struct sl__output_tolerance how = {SL_CHECK_LARGEST, 0.3, 0, 1};
	const int64_t two[] = {2};
	const float want[] = {4, 4, 4}, near[] = {4, 5, 4.5F},
		    far[] = {6, 5, 4};
	struct sl__runtime_value items[2][3], got, reference;
	struct sl_run_output out = {0};
	struct sl__tensor wide = tensor(SL_DTYPE_F32, want, two, 1);
	struct sl__arena arena;
	struct sl_error err;

	(void)state;
	sl__arena_init(&arena, NULL);
	reference = list_of(items[0], want, 3);
	got = list_of(items[1], near, 3);
	assert_int_equal(
		sl__output_compare(&out, &how, &got, &reference, &arena, &err),
		SL_OK);
	assert_true(out.is_ok && !out.why);
	assert_near(out.error, 0.25, 0);
	got = list_of(items[1], far, 3);
	assert_int_equal(
		sl__output_compare(&out, &how, &got, &reference, &arena, &err),
		SL_OK);
	assert_false(out.is_ok);
	assert_near(out.error, 0.5, 0);
	sl__runtime_value_borrow(&items[1][2], &wide);
	assert_int_equal(
		sl__output_compare(&out, &how, &got, &reference, &arena, &err),
		SL_OK);
	assert_string_equal(out.why,
			    "item 2: dimension 0 is 2, in the reference 1");
	got.n_items = 2;
	assert_int_equal(
		sl__output_compare(&out, &how, &got, &reference, &arena, &err),
		SL_OK);
	assert_false(out.is_ok);
	assert_string_equal(out.why, "has 2 items, the reference 3");
	assert_int_equal(sl__output_compare(&out, &how, &got, &items[0][0],
					    &arena, &err),
			 SL_OK);
	assert_false(out.is_ok);
	assert_int_equal(out.rule, SL_CHECK_NONE);
	got.n_items = reference.n_items = 0;
	assert_int_equal(
		sl__output_compare(&out, &how, &got, &reference, &arena, &err),
		SL_OK);
	assert_true(out.is_ok);
	assert_near(out.error, 0, 0);
	sl__arena_release(&arena);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lists_are_judged_by_their_worst_item),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
