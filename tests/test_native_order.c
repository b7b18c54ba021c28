/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_native_order.c - TopK, running sums and products, and GatherND against
 * their reference kernels: ties, NaN, both zeros, all axes and directions.
 */
#include "engine_case.h"

static void
check_all(const char *const *texts, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		check_kernel(texts[i]);
		check_case(&(struct engine_case){texts[i], .has_ends = 1});
	}
}
#define CHECK_ALL(texts) check_all(texts, sizeof(texts) / sizeof((texts)[0]))

static void
top_k(void **state)
{
	static const char *const texts[] = {
		"TopK 11 (f32[100], i64[1]={1}) -> 2",
		"TopK 11 (f32[3,50], i64[1]={7}) -> 2",
		"TopK 11 (f32[3,50], i64[1]={50}) largest=0 -> 2",
		"TopK 11 (f32[2,700], i64[1]={3}) largest=0 -> 2",
		"TopK 11 (f32[3,20,4], i64[1]={5}) axis=1 -> 2",
		"TopK 11 (f32[6,20], i64[1]={6}) axis=-2 largest=0 -> 2",
		"TopK 11 (f64[3,50], i64[1]={9}) sorted=0 -> 2",
		"TopK 1 (f32[2,9]) k=4 -> 2",
	};
	/* Few different ones: ties, which places show. */
	static const char *const ties[] = {
		"TopK 11 (i64[4,90], i64[1]={40}) -> 2",
		"TopK 11 (i32[4,90], i64[1]={40}) largest=0 -> 2",
		"TopK 11 (uint8[90,3], i64[1]={20}) axis=0 -> 2",
	};

	(void)state;
	CHECK_ALL(texts);
	for (size_t i = 0; i < 3; i++)
		check_case(&(struct engine_case){ties[i], .low = 0, .high = 6});
	/* Rounded to f32 all numbers are 0, among some -0, which is the same. */
	check_case(&(struct engine_case){"TopK 11 (f32[60], i64[1]={50}) -> 2",
					 .high = 1e-300, .has_ends = 1});
}

static void
running(void **state)
{
	static const char *const texts[] = {
		"CumSum 14 (f32[9], i64[]={0})",
		"CumSum 14 (f32[3,200], i64[]={1}) exclusive=1",
		"CumSum 14 (f32[5,7,150], i64[]={-2})",
		"CumSum 14 (f32[5,7,150], i64[]={0}) reverse=1",
		"CumSum 14 (f32[5,7,3], i64[]={-1}) reverse=1 exclusive=1",
		"CumSum 14 (f64[5,70], i64[1]={0}) reverse=1",
		"CumProd 26 (f32[4,9], i64[]={1}) exclusive=1",
		"CumProd 26 (f64[4,9], i64[]={0}) reverse=1",
	};
	static const char *const whole[] = {
		"CumSum 14 (i64[4,90], i64[]={1})",
		"CumSum 14 (i32[4,90], i32[]={0}) reverse=1",
		"CumSum 14 (uint64[3,90], i64[]={1}) exclusive=1",
		"CumProd 26 (i32[40,3], i64[]={0})",
	};

	(void)state;
	CHECK_ALL(texts);
	for (size_t i = 0; i < 4; i++)
		check_case(
			&(struct engine_case){whole[i], .low = 0, .high = 1e9});
}

static void
gather_nd(void **state)
{
	static const char *const texts[] = {
		"GatherND 13 (f32[3,4,5], i64[2,1]={2,-3})",
		"GatherND 13 (f32[3,4,5], i64[2,2]={2,-1,0,3})",
		"GatherND 13 (f32[3,4,5], i64[1,2,3]={2,-1,4,0,0,-5})",
		"GatherND 13 (f32[2,4,5], i64[2,3,1]={0,1,-1,3,2,0}) "
		"batch_dims=1",
		"GatherND 13 (f32[2,2,5,3], i64[2,2,1]={0,4,-1,2}) "
		"batch_dims=2",
		"GatherND 13 (i64[3,4], i64[3,2]={0,0,1,1,2,2})",
		"GatherND 13 (uint8[3,4,7], i64[2,1]={0,1})",
	};

	(void)state;
	CHECK_ALL(texts);
}

static void
refuses_places_outside(void **state)
{
	static const char *const texts[] = {
		"GatherND 13 (f32[3,4], i64[1,2])",
		"GatherND 13 (f32[3,4], i64[2,1])",
	};
	struct engine_case c = {.low = 4, .high = 9};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct sl_graph *graph = engine_case_graph(texts[i]);
		struct sl_plan_options options = {
			.struct_size = sizeof(options), .n_threads = 1};
		struct sl_error err = {0};
		struct sl_plan *plan;

		assert_int_equal(sl_plan_new(&plan, graph, &options, &err),
				 SL_OK);
		engine_case_fill(plan, &c);
		assert_int_equal(sl_plan_run(plan, &err), SL_E_DATA);
		assert_non_null(strstr(err.text, "outside"));
		sl_plan_free(plan);
		sl_graph_free(graph);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(top_k),
		cmocka_unit_test(running),
		cmocka_unit_test(gather_nd),
		cmocka_unit_test(refuses_places_outside),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
