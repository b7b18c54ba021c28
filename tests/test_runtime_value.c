/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_runtime_value.c - proves that data of all kinds own what they should,
 * are aligned, copied in depth, and that no failing allocation leaks or spoils
 * what was there before.
 */
#include "counting.h"
#include "ops/runtime_value.h"
#include "base/dtype.h"
#include "harness.h"

static const int64_t two_three[] = {2, 3};

static void
tensors_are_aligned_and_own_their_sizes(void **state)
{
	struct counting c = {0};
	struct sl_allocator allocator = counting_allocator(&c);
	int64_t dims[] = {3, 5, 7, 1, 2, 2, 3, 1, 1};

	(void)state;
	for (size_t rank = 0; rank <= 9; rank++) {
		struct sl__runtime_value d = {0};
		uint64_t n = 1;

		for (size_t i = 0; i < rank; i++)
			n *= (uint64_t)dims[i];
		assert_int_equal(
			sl__runtime_value_alloc_tensor(&d, SL_DTYPE_F32, rank,
						       dims, &allocator, NULL),
			SL_OK);
		assert_int_equal(d.kind, SL__TYPE_TENSOR);
		assert_int_equal(
			(uintptr_t)d.bytes % SL__RUNTIME_VALUE_ALIGNMENT, 0);
		assert_ptr_equal(d.bytes, d.tensor.bytes);
		assert_int_equal(d.tensor.n_elements, n);
		assert_int_equal(d.tensor.n_bytes, 4 * n);
		assert_ptr_not_equal(d.tensor.dims, dims);
		for (size_t i = 0; i < rank; i++)
			assert_int_equal(d.tensor.dims[i], dims[i]);
		memset(d.bytes, 0xff, (size_t)d.tensor.n_bytes);
		sl__runtime_value_clear(&d, &allocator);
		assert_int_equal(d.kind, SL__TYPE_UNKNOWN);
		assert_null(d.block);
		assert_int_equal(c.n_out, 0);
		sl__runtime_value_clear(
			&d, &allocator); /* once more does nothing */
	}
}

static void
no_elements_need_no_bytes(void **state)
{
	const int64_t dims[] = {4, 0, 3};
	struct sl__runtime_value d = {0}, copy = {0};

	(void)state;
	assert_int_equal(sl__runtime_value_alloc_tensor(&d, SL_DTYPE_I64, 3,
							dims, NULL, NULL),
			 SL_OK);
	assert_int_equal(d.tensor.n_elements, 0);
	assert_int_equal(sl__runtime_value_copy(&copy, &d, NULL, NULL), SL_OK);
	assert_int_equal(copy.tensor.dims[0], 4);
	assert_int_equal(copy.tensor.dims[1], 0);
	sl__runtime_value_clear(&d, NULL);
	sl__runtime_value_clear(&copy, NULL);
}

static void
refuses_what_no_memory_holds(void **state)
{
	const int64_t many[] = {INT64_C(1) << 40, INT64_C(1) << 40};
	const int64_t large[] = {INT64_C(1) << 61};
	const int64_t below[] = {-1};
	struct sl__runtime_value d = {0};
	struct sl_error err;

	(void)state;
	assert_int_equal(sl__runtime_value_alloc_tensor(&d, SL_DTYPE_F32, 2,
							many, NULL, &err),
			 SL_E_DATA);
	assert_int_equal(sl__runtime_value_alloc_tensor(&d, SL_DTYPE_F32, 1,
							below, NULL, &err),
			 SL_E_DATA);
	assert_int_equal(sl__runtime_value_alloc_tensor(&d, SL_DTYPE_F32, 1,
							large, NULL, &err),
			 SL_E_NOMEM);
	/* Pointers take more than the bytes that were measured. */
	assert_int_equal(sl__runtime_value_alloc_tensor(&d, SL_DTYPE_STRING, 1,
							large, NULL, &err),
			 SL_E_NOMEM);
	assert_int_equal(sl__runtime_value_alloc_list(&d, SL__TYPE_SEQUENCE,
						      SL_DTYPE_F32,
						      SIZE_MAX / 2, NULL, &err),
			 SL_E_NOMEM);
	assert_int_equal(d.kind, SL__TYPE_UNKNOWN);
}

static void
strings_are_copies(void **state)
{
	char first[] = "one", empty[] = "", umlaut[] = "\xc3\xbc";
	const char *const texts[] = {first, empty, umlaut};
	const int64_t dims[] = {3};
	struct counting c = {0};
	struct sl_allocator allocator = counting_allocator(&c);
	struct sl__runtime_value d = {0}, copy = {0};

	(void)state;
	assert_int_equal(sl__runtime_value_copy_strings(&d, 1, dims, texts,
							&allocator, NULL),
			 SL_OK);
	first[0] = 'X';
	assert_string_equal(d.tensor.strings[0], "one");
	assert_string_equal(d.tensor.strings[1], "");
	assert_string_equal(d.tensor.strings[2], "\xc3\xbc");
	assert_null(d.tensor.bytes);
	assert_int_equal(sl__runtime_value_copy(&copy, &d, &allocator, NULL),
			 SL_OK);
	/* From its own strings. */
	assert_int_equal(sl__runtime_value_copy_strings(&d, 1, dims,
							d.tensor.strings,
							&allocator, NULL),
			 SL_OK);
	assert_string_equal(d.tensor.strings[0], "one");
	sl__runtime_value_clear(&d, &allocator);
	assert_string_equal(copy.tensor.strings[2], "\xc3\xbc");
	sl__runtime_value_clear(&copy, &allocator);
	assert_int_equal(c.n_out, 0);
}

static void
fresh_strings_are_null(void **state)
{
	struct sl__runtime_value d = {0};

	(void)state;
	assert_int_equal(sl__runtime_value_alloc_tensor(&d, SL_DTYPE_STRING, 2,
							two_three, NULL, NULL),
			 SL_OK);
	for (int i = 0; i < 6; i++)
		assert_null(d.tensor.strings[i]);
	sl__runtime_value_clear(&d, NULL);
}

/* A sequence of a tensor and a tensor of strings. */
static enum sl_status
make_sequence(struct sl__runtime_value *d, const struct sl_allocator *allocator)
{
	const char *const texts[] = {"a", "bc"};
	const int64_t dims[] = {2};
	enum sl_status rc;

	rc = sl__runtime_value_alloc_list(d, SL__TYPE_SEQUENCE, SL_DTYPE_F32, 2,
					  allocator, NULL);
	if (!rc)
		rc = sl__runtime_value_alloc_tensor(&d->items[0], SL_DTYPE_F32,
						    2, two_three, allocator,
						    NULL);
	if (!rc) {
		float *x = (float *)(void *)d->items[0].bytes;

		for (int i = 0; i < 6; i++)
			x[i] = (float)i;
		rc = sl__runtime_value_copy_strings(&d->items[1], 1, dims,
						    texts, allocator, NULL);
	}
	return rc;
}

static void
check_sequence(const struct sl__runtime_value *d)
{
	const float *x = (const float *)(const void *)d->items[0].tensor.bytes;

	assert_int_equal(d->kind, SL__TYPE_SEQUENCE);
	assert_int_equal(d->dtype, SL_DTYPE_F32);
	assert_int_equal(d->n_items, 2);
	for (int i = 0; i < 6; i++)
		assert_true(x[i] == (float)i);
	assert_string_equal(d->items[1].tensor.strings[1], "bc");
}

static void
lists_are_copied_in_depth(void **state)
{
	struct counting c = {0};
	struct sl_allocator allocator = counting_allocator(&c);
	struct sl__runtime_value d = {0}, copy = {0}, empty = {0};

	(void)state;
	assert_int_equal(make_sequence(&d, &allocator), SL_OK);
	assert_int_equal(sl__runtime_value_copy(&copy, &d, &allocator, NULL),
			 SL_OK);
	sl__runtime_value_clear(&d, &allocator);
	check_sequence(&copy);
	sl__runtime_value_clear(&copy, &allocator);
	assert_int_equal(sl__runtime_value_alloc_list(&empty, SL__TYPE_OPTIONAL,
						      SL_DTYPE_I64, 0,
						      &allocator, NULL),
			 SL_OK);
	assert_int_equal(
		sl__runtime_value_copy(&copy, &empty, &allocator, NULL), SL_OK);
	assert_int_equal(copy.kind, SL__TYPE_OPTIONAL);
	assert_int_equal(copy.n_items, 0);
	sl__runtime_value_clear(&empty, &allocator);
	sl__runtime_value_clear(&copy, &allocator);
	assert_int_equal(c.n_out, 0);
}

static void
borrowed_ones_own_nothing(void **state)
{
	static const float numbers[6] = {1, 2, 3, 4, 5, 6};
	struct counting c = {0};
	struct sl_allocator allocator = counting_allocator(&c);
	struct sl__tensor t = {.dtype = SL_DTYPE_F32,
			       .rank = 2,
			       .dims = two_three,
			       .bytes = (const unsigned char *)numbers};
	struct sl__runtime_value d = {0};

	(void)state;
	assert_true(sl__tensor_compute_size(&t));
	sl__runtime_value_borrow(&d, &t);
	assert_ptr_equal(d.tensor.bytes, numbers);
	assert_null(d.bytes);
	sl__runtime_value_clear(&d, &allocator);
	assert_int_equal(sl__runtime_value_load(&d, &t, &allocator, NULL),
			 SL_OK);
	assert_ptr_equal(d.tensor.bytes, numbers);
	sl__runtime_value_clear(&d, &allocator);
	assert_int_equal(c.n_requests, 0);
}

static void
loads_what_is_made_when_read(void **state)
{
	const struct sl__tensor_generator made = {
		.kind = SL__TENSOR_GENERATOR_CONSTANT, .mean = 2.5};
	struct sl__tensor t = {.dtype = SL_DTYPE_F32,
			       .rank = 2,
			       .dims = two_three,
			       .generator = &made};
	struct sl__tensor absent = {.dtype = SL_DTYPE_F32,
				    .rank = 2,
				    .dims = two_three,
				    .absent = "weights.bin is not there"};
	struct sl__runtime_value d = {0};
	struct sl_error err;
	const float *x;

	(void)state;
	assert_true(sl__tensor_compute_size(&t));
	assert_int_equal(sl__runtime_value_load(&d, &t, NULL, &err), SL_OK);
	assert_non_null(d.block);
	x = (const float *)(const void *)d.tensor.bytes;
	for (int i = 0; i < 6; i++)
		assert_true(x[i] == 2.5F);
	sl__runtime_value_clear(&d, NULL);
	assert_true(sl__tensor_compute_size(&absent));
	assert_int_equal(sl__runtime_value_load(&d, &absent, NULL, &err),
			 SL_E_DATA);
	assert_non_null(strstr(err.text, "weights.bin is not there"));
	absent.absent = NULL;
	absent.is_sparse = 1;
	assert_int_equal(sl__runtime_value_load(&d, &absent, NULL, &err),
			 SL_E_ABSENT);
}

/* What was there before a failure is there after it, or nothing is. */
static void
failing_memory_leaks_nothing(void **state)
{
	struct sl__runtime_value good = {0};

	(void)state;
	assert_int_equal(make_sequence(&good, NULL), SL_OK);
	for (int fail_at = 1;; fail_at++) {
		struct counting c = {.fail_at = fail_at};
		struct sl_allocator allocator = counting_allocator(&c);
		struct sl__runtime_value d = {0};
		enum sl_status rc;

		rc = sl__runtime_value_alloc_tensor(
			&d, SL_DTYPE_I8, 2, two_three, &allocator, NULL);
		if (!rc)
			rc = sl__runtime_value_copy(&d, &good, &allocator,
						    NULL);
		if (!rc)
			check_sequence(&d);
		sl__runtime_value_clear(&d, &allocator);
		assert_int_equal(c.n_out, 0);
		if (c.n_requests < fail_at) {
			assert_int_equal(rc, SL_OK);
			break;
		}
		assert_int_equal(rc, SL_E_NOMEM);
	}
	sl__runtime_value_clear(&good, NULL);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tensors_are_aligned_and_own_their_sizes),
		cmocka_unit_test(no_elements_need_no_bytes),
		cmocka_unit_test(refuses_what_no_memory_holds),
		cmocka_unit_test(strings_are_copies),
		cmocka_unit_test(fresh_strings_are_null),
		cmocka_unit_test(lists_are_copied_in_depth),
		cmocka_unit_test(borrowed_ones_own_nothing),
		cmocka_unit_test(loads_what_is_made_when_read),
		cmocka_unit_test(failing_memory_leaks_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
