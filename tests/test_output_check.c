/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_output_check.c - proves each rule of comparison at, just below and just
 * above its limit, with numbers that are none, with repeated references and
 * with ties.
 */
#include "experiment/output_check.h"
#include "counting.h"
#include "harness.h"

static struct sl__tensor
tensor(enum sl_dtype dtype, const void *bytes, const int64_t *dims, size_t rank)
{
	struct sl__tensor t = {
		.dtype = dtype, .rank = rank, .dims = dims, .bytes = bytes};

	assert_true(sl__tensor_compute_size(&t));
	return t;
}

static struct sl_run_output
compare(const struct sl__output_tolerance *how, const struct sl__tensor *got,
	const struct sl__tensor *want)
{
	struct sl_run_output out = {.dtype = got->dtype};
	static struct sl__arena arena; /* of the last text */
	struct sl__runtime_value a, b;
	struct sl_error err;

	sl__arena_release(&arena);
	sl__arena_init(&arena, NULL);
	sl__runtime_value_borrow(&a, got);
	sl__runtime_value_borrow(&b, want);
	assert_int_equal(sl__output_compare(&out, how, &a, &b, &arena, &err),
			 SL_OK);
	return out;
}

/* Rows of floats. */
static struct sl_run_output
compare_floats(const struct sl__output_tolerance *how, const float *got,
	       const float *want, int64_t width)
{
	const int64_t dims[] = {1, width};
	struct sl__tensor a = tensor(SL_DTYPE_F32, got, dims, 2);
	struct sl__tensor b = tensor(SL_DTYPE_F32, want, dims, 2);

	return compare(how, &a, &b);
}

static void
largest_difference(void **state)
{
	const struct sl__output_tolerance how = {SL_CHECK_LARGEST, 0.125, 0, 1};
	const float want[] = {-8, 1, 0};
	float got[] = {-8, 2, 0}; /* 1 of 8: at the limit */
	struct sl_run_output out = compare_floats(&how, got, want, 3);

	(void)state;
	assert_true(out.is_ok);
	assert_int_equal(out.rule, SL_CHECK_LARGEST);
	assert_near(out.error, 0.125, 0);
	assert_near(out.limit, 0.125, 0);
	assert_near(out.largest_error, 1, 0);
	assert_int_equal(out.worst, 1);
	got[1] = nextafterf(2, 0);
	assert_true(compare_floats(&how, got, want, 3).is_ok);
	got[1] = nextafterf(2, 3);
	assert_false(compare_floats(&how, got, want, 3).is_ok);
	got[1] = -1e-6F;
	assert_false(compare_floats(&how, got, want, 3).is_ok);
}

static void
root_mean_square(void **state)
{
	const struct sl__output_tolerance how = {SL_CHECK_RMS, 0.25, 0, 1};
	const float want[] = {0, -16, 0, 0}; /* root of 256 */
	float got[] = {2, -14, 2, 2};        /* root of 16: a quarter */
	struct sl_run_output out = compare_floats(&how, got, want, 4);

	(void)state;
	assert_true(out.is_ok);
	assert_int_equal(out.rule, SL_CHECK_RMS);
	assert_near(out.error, 0.25, 0);
	got[3] = 1.999F;
	assert_true(compare_floats(&how, got, want, 4).is_ok);
	got[3] = 2.001F;
	assert_false(compare_floats(&how, got, want, 4).is_ok);
}

static void
steps_of_quantization(void **state)
{
	const struct sl__output_tolerance how = {SL_CHECK_STEPS, 3,
						 (double)0.1F, 1};
	const float want[] = {10, 0};
	float got[] = {10, 0};

	(void)state;
	for (int n = -4; n <= 4; n++) {
		struct sl_run_output out;

		/* As a DequantizeLinear makes it. */
		got[1] = (float)n * 0.1F;
		out = compare_floats(&how, got, want, 2);
		assert_int_equal(out.rule, SL_CHECK_STEPS);
		assert_near(out.error, abs(n), 1e-9);
		assert_int_equal(out.is_ok, abs(n) <= 3);
	}
	got[1] = 0.32F; /* between steps */
	assert_false(compare_floats(&how, got, want, 2).is_ok);
	/* More than a rounding of 10 to f32, 1e-5 steps, above three. */
	got[1] = 0.30004F;
	assert_false(compare_floats(&how, got, want, 2).is_ok);
}

static void
whole_numbers_exactly(void **state)
{
	const struct sl__output_tolerance how = {SL_CHECK_LARGEST, 0.5, 0, 1};
	const int64_t dims[] = {3};
	const int64_t large = INT64_C(1) << 60;
	const int64_t want[] = {large, 2, 3};
	int64_t got[] = {large, 2, 3};
	struct sl__tensor a = tensor(SL_DTYPE_I64, got, dims, 1);
	struct sl__tensor b = tensor(SL_DTYPE_I64, want, dims, 1);
	struct sl_run_output out = compare(&how, &a, &b);

	(void)state;
	assert_true(out.is_ok);
	assert_int_equal(out.rule, SL_CHECK_EXACT);
	assert_near(out.error, 0, 0);
	got[2] = 4;
	out = compare(&how, &a, &b);
	assert_false(out.is_ok);
	assert_near(out.error, 1, 0);
	assert_int_equal(out.worst, 2);
	/* One apart, which doubles cannot tell. */
	got[2] = 3;
	got[0] = large + 1;
	out = compare(&how, &a, &b);
	assert_false(out.is_ok);
	assert_near(out.error, 1, 0);
}

static void
booleans_and_strings_exactly(void **state)
{
	const struct sl__output_tolerance how = {SL_CHECK_RMS, 0.5, 0, 1};
	const int64_t dims[] = {2};
	const unsigned char yes[] = {1, 0}, no[] = {1, 1};
	const char *const one[] = {"a", "b"}, *const two[] = {"a", "c"};
	struct sl__tensor a = tensor(SL_DTYPE_BOOL, yes, dims, 1);
	struct sl__tensor b = tensor(SL_DTYPE_BOOL, no, dims, 1);

	(void)state;
	assert_true(compare(&how, &a, &a).is_ok);
	assert_false(compare(&how, &a, &b).is_ok);
	a = b = (struct sl__tensor){.dtype = SL_DTYPE_STRING,
				    .rank = 1,
				    .dims = dims,
				    .n_elements = 2};
	a.strings = one;
	b.strings = two;
	assert_true(compare(&how, &a, &a).is_ok);
	assert_near(compare(&how, &a, &b).error, 1, 0);
	assert_false(compare(&how, &a, &b).is_ok);
}

static void
nan_and_infinity_must_be_there_too(void **state)
{
	const struct sl__output_tolerance rules[] = {
		{SL_CHECK_LARGEST, 10, 0, 1},
		{SL_CHECK_RMS, 10, 0, 1},
		{SL_CHECK_STEPS, 10, 1, 1}};
	const float ends[] = {NAN, INFINITY, -INFINITY, 1};

	(void)state;
	for (size_t r = 0; r < 3; r++) {
		for (int i = 0; i < 4; i++) {
			for (int k = 0; k < 4; k++) {
				float got[] = {9, ends[i]},
				      want[] = {9, ends[k]};
				struct sl_run_output out =
					compare_floats(&rules[r], got, want, 2);

				if (i == k ? !out.is_ok : out.is_ok)
					fail_msg("rule %zu: %g for %g", r,
						 (double)ends[i],
						 (double)ends[k]);
				if (i == k)
					assert_near(out.error, 0, 0);
			}
		}
	}
}

static void
zeros_are_zeros(void **state)
{
	const struct sl__output_tolerance how = {SL_CHECK_LARGEST, 1e-4, 0, 1};
	const struct sl__output_tolerance rms = {SL_CHECK_RMS, .02, 0, 1};
	const float want[] = {0, 0};
	float got[] = {0, -0.0F};

	(void)state;
	assert_true(compare_floats(&how, got, want, 2).is_ok);
	assert_true(compare_floats(&rms, got, want, 2).is_ok);
	/* Nothing to measure by: the limit is absolute. */
	got[0] = 1e-30F;
	assert_true(compare_floats(&how, got, want, 2).is_ok);
	assert_true(compare_floats(&rms, got, want, 2).is_ok);
	got[0] = 1.1e-4F;
	assert_false(compare_floats(&how, got, want, 2).is_ok);
	got[0] = 0.0283F; /* the root of two, and more, times 2 % */
	assert_false(compare_floats(&rms, got, want, 2).is_ok);
	got[0] = 0.0282F;
	assert_true(compare_floats(&rms, got, want, 2).is_ok);
}

static void
references_are_repeated(void **state)
{
	struct sl__output_tolerance how = {SL_CHECK_LARGEST, 1e-6, 0, 2};
	const struct sl__output_tolerance steps = {SL_CHECK_STEPS, 1, 1, 2};
	const int64_t two[] = {2, 2, 2}, four[] = {2, 4, 2};
	const float want[] = {1, 2, 5, 3, 4, 6, 8, 7};
	/* Each pair of rows twice. */
	float got[] = {1, 2, 5, 3, 1, 2, 5, 3, 4, 6, 8, 7, 4, 6, 8, 7};
	struct sl__tensor a = tensor(SL_DTYPE_F32, got, four, 3);
	struct sl__tensor b = tensor(SL_DTYPE_F32, want, two, 3);
	struct sl_run_output out;

	(void)state;
	assert_true(compare(&how, &a, &b).is_ok);
	assert_true(compare(&steps, &a, &b).is_ok);
	got[13] = 7;
	out = compare(&how, &a, &b);
	assert_false(out.is_ok);
	assert_int_equal(out.worst, 13);
	got[13] = 6;
	/* But the reference is not cut, nor repeated more often than said. */
	out = compare(&how, &b, &a);
	assert_false(out.is_ok);
	assert_string_equal(out.why, "dimension 1 is 2, in the reference 4");
	assert_true(isnan(out.error) && isnan(out.limit));
	assert_true(isnan(out.largest_error));
	assert_int_equal(out.rule, SL_CHECK_NONE);
	for (how.n_copies = 0; how.n_copies <= 4; how.n_copies++)
		assert_int_equal(compare(&how, &a, &b).is_ok,
				 how.n_copies == 2);
}

static void
what_does_not_fit_is_told(void **state)
{
	const struct sl__output_tolerance how = {SL_CHECK_LARGEST, 1, 0, 1};
	const int64_t dims[] = {2, 3}, none[] = {2, 0};
	const float x[6] = {0};
	struct sl__tensor a = tensor(SL_DTYPE_F32, x, dims, 2), b;
	struct sl_run_output out;

	(void)state;
	b = tensor(SL_DTYPE_I32, x, dims, 2);
	out = compare(&how, &a, &b);
	assert_false(out.is_ok);
	assert_string_equal(out.why, "is f32, the reference int32");
	b = tensor(SL_DTYPE_F32, x, dims, 1);
	out = compare(&how, &a, &b);
	assert_string_equal(out.why, "has 2 dimensions, the reference 1");
	b = tensor(SL_DTYPE_F32, x, none, 2);
	assert_false(compare(&how, &a, &b).is_ok);
	assert_false(compare(&how, &b, &a).is_ok);
	assert_true(compare(&how, &b, &b).is_ok);
	a = b = tensor(SL_DTYPE_C64, x, dims, 1);
	out = compare(&how, &a, &b);
	assert_false(out.is_ok);
	assert_string_equal(out.why, "its type cannot be compared");
}

static void
top_of_each_row_must_be_the_same(void **state)
{
	const struct sl__output_tolerance how = {SL_CHECK_STEPS, 3, 1, 1};
	const float want[] = {5, 4, 3};
	const float tied[] = {5, 5, 3};
	const float second[] = {4, 5, 3};
	const float both[] = {5, 5, 4};
	struct sl_run_output out;

	(void)state;
	assert_true(compare_floats(&how, want, want, 3).is_ok);
	out = compare_floats(&how, second, want, 3);
	assert_near(out.error, 1, 0);
	assert_false(out.is_ok);
	assert_string_equal(out.why, "another element is the largest");
	/* Two that are alike in the reference: either may be on top. */
	assert_true(compare_floats(&how, second, tied, 3).is_ok);
	assert_true(compare_floats(&how, want, tied, 3).is_ok);
	/* The first of those that are alike stands for the output. */
	assert_true(compare_floats(&how, both, want, 3).is_ok);
	assert_false(compare_floats(&how, both, second, 3).is_ok);
}

static void
a_mismatch_without_memory_is_a_failure(void **state)
{
	const struct sl__output_tolerance how = {SL_CHECK_LARGEST, 1, 0, 1};
	const int64_t dims[] = {2}, more[] = {3};
	const float x[3] = {0};
	struct sl__tensor a = tensor(SL_DTYPE_F32, x, dims, 1);
	struct sl__tensor b = tensor(SL_DTYPE_F32, x, more, 1);
	struct counting c = {.fail_at = 1};
	struct sl_allocator allocator = counting_allocator(&c);
	struct sl_run_output out = {.dtype = SL_DTYPE_F32};
	struct sl__runtime_value got, want;
	struct sl__arena arena;
	struct sl_error err;

	(void)state;
	sl__runtime_value_borrow(&got, &a);
	sl__runtime_value_borrow(&want, &b);
	sl__arena_init(&arena, &allocator);
	assert_int_equal(
		sl__output_compare(&out, &how, &got, &want, &arena, &err),
		SL_E_NOMEM);
	sl__arena_release(&arena);
}

/* The arena's first block ends somewhere in the words about an item. */
static void
an_item_without_memory_is_a_failure(void **state)
{
	const struct sl__output_tolerance how = {SL_CHECK_LARGEST, 1, 0, 1};
	const int64_t dims[] = {2}, more[] = {3};
	const float x[3] = {0};
	struct sl__tensor a = tensor(SL_DTYPE_F32, x, dims, 1);
	struct sl__tensor b = tensor(SL_DTYPE_F32, x, more, 1);
	struct sl__runtime_value items[2], got, want;
	int n_failed = 0;

	(void)state;
	sl__runtime_value_borrow(&items[0], &a);
	sl__runtime_value_borrow(&items[1], &b);
	got = want = (struct sl__runtime_value){.kind = SL__TYPE_SEQUENCE,
						.n_items = 1};
	got.items = &items[0];
	want.items = &items[1];
	for (size_t taken = 3800; taken <= 4096; taken += 16) {
		struct counting c = {.fail_at = 2};
		struct sl_allocator allocator = counting_allocator(&c);
		struct sl_run_output out = {.dtype = SL_DTYPE_F32};
		struct sl__arena arena;
		enum sl_status rc;

		sl__arena_init(&arena, &allocator);
		assert_non_null(sl__arena_alloc(&arena, taken));
		rc = sl__output_compare(&out, &how, &got, &want, &arena, NULL);
		assert_int_equal(rc, c.n_requests < 2 ? SL_OK : SL_E_NOMEM);
		n_failed += rc != SL_OK;
		sl__arena_release(&arena);
	}
	assert_in_range(n_failed, 2, 18);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(largest_difference),
		cmocka_unit_test(root_mean_square),
		cmocka_unit_test(steps_of_quantization),
		cmocka_unit_test(whole_numbers_exactly),
		cmocka_unit_test(booleans_and_strings_exactly),
		cmocka_unit_test(nan_and_infinity_must_be_there_too),
		cmocka_unit_test(zeros_are_zeros),
		cmocka_unit_test(references_are_repeated),
		cmocka_unit_test(what_does_not_fit_is_told),
		cmocka_unit_test(top_of_each_row_must_be_the_same),
		cmocka_unit_test(a_mismatch_without_memory_is_a_failure),
		cmocka_unit_test(an_item_without_memory_is_a_failure),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
