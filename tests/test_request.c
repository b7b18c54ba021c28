/* SPDX-License-Identifier: Apache-2.0 */
/* test_request.c - what was asked for is kept whole, and outlives whoever
 * asked. */
#include "counting.h"
#include "harness.h"
#include "result/request.h"

static const int64_t three[] = {1, 3, 8};

static void
copies_outlive_options(void **state)
{
	char name[] = "length", input[] = "x", folder[] = "data/0";
	struct sl_dim_size dim = {name, 5};
	struct sl_input_shape shape = {input, three, 3};
	struct sl_sizes sizes = {.batch = 2,
				 .has_past = 1,
				 .dims = &dim,
				 .n_dims = 1,
				 .shapes = &shape,
				 .n_shapes = 1,
				 .inputs_folder = folder};
	struct sl_plan_options plan = {.sizes = &sizes,
				       .n_threads = 3,
				       .dtype = SL_DTYPE_BF16,
				       .algorithms = SL_ALGORITHMS_FIXED,
				       .nan_policy = SL_NAN_REFUSED,
				       .flags = SL_PLAN_NO_FUSION};
	struct sl_request r;
	struct sl__arena arena;

	(void)state;
	sl__arena_init(&arena, NULL);
	assert_int_equal(sl__request_from_options(&r, "net", "layer1", &plan,
						  &arena, NULL),
			 SL_OK);
	memset(name, 'z', sizeof(name) - 1);
	memset(input, 'z', sizeof(input) - 1);
	memset(folder, 'z', sizeof(folder) - 1);
	dim.size = 9;
	memset(&sizes, 0, sizeof(sizes));
	assert_string_equal(r.model, "net");
	assert_string_equal(r.layer, "layer1");
	assert_int_equal(r.sizes.batch, 2);
	assert_int_equal(r.sizes.has_past, 1);
	assert_int_equal(r.sizes.n_dims, 1);
	assert_string_equal(r.sizes.dims[0].name, "length");
	assert_int_equal(r.sizes.dims[0].size, 5);
	assert_int_equal(r.sizes.n_shapes, 1);
	assert_string_equal(r.sizes.shapes[0].input, "x");
	assert_int_equal(r.sizes.shapes[0].rank, 3);
	assert_int_equal(r.sizes.shapes[0].dims[2], 8);
	assert_string_equal(r.sizes.inputs_folder, "data/0");
	assert_int_equal(r.n_threads, 3);
	assert_int_equal(r.dtype, SL_DTYPE_BF16);
	assert_int_equal(r.algorithms, SL_ALGORITHMS_FIXED);
	assert_int_equal(r.nan_policy, SL_NAN_REFUSED);
	assert_int_equal(r.flags, SL_PLAN_NO_FUSION);
	assert_int_equal(
		sl__request_from_options(&r, "net", NULL, NULL, &arena, NULL),
		SL_OK);
	assert_null(r.layer);
	assert_int_equal(r.n_threads, 0);
	assert_int_equal(r.sizes.n_dims, 0);
	sl__arena_release(&arena);
}

static void
out_of_memory(void **state)
{
	struct counting c = {.fail_at = 1};
	struct sl_allocator allocator = counting_allocator(&c);
	struct sl_request r;
	struct sl__arena arena;
	struct sl_error err;

	(void)state;
	sl__arena_init(&arena, &allocator);
	assert_int_equal(
		sl__request_from_options(&r, "net", NULL, NULL, &arena, &err),
		SL_E_NOMEM);
	sl__arena_release(&arena);
	assert_int_equal(c.n_out, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(copies_outlive_options),
		cmocka_unit_test(out_of_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
