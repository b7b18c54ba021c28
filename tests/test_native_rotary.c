/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_native_rotary.c - RotaryEmbedding against its reference kernel: both
 * orders of heads and of pairs, parts of a head, and places of tokens.
 */
#include "engine_case.h"

static void
turns_pairs(void **state)
{
	static const char *const texts[] = {
		"RotaryEmbedding 23 (f32[2,3,5,8], f32[2,5,4], f32[2,5,4])",
		"RotaryEmbedding 23 (f32[2,3,5,8], f32[2,5,4], f32[2,5,4]) "
		"interleaved=1",
		"RotaryEmbedding 23 (f32[2,5,24], f32[9,4], f32[9,4], "
		"i64[2,5]={0,8,2,3,4,5,6,7,1,1}) num_heads=3",
		"RotaryEmbedding 23 (f32[2,3,5,8], f32[9,2], f32[9,2], "
		"i64[2,5]={0,8,2,3,4,5,6,7,1,1}) rotary_embedding_dim=4 "
		"interleaved=1",
		"com.microsoft.RotaryEmbedding 1 (f32[2,5,24], i64[1]={3}, "
		"f32[9,4], f32[9,4])",
		"com.microsoft.RotaryEmbedding 1 (f32[2,3,5,8], i64[1]={3}, "
		"f32[9,4], f32[9,4])",
		"com.microsoft.RotaryEmbedding 1 (f32[2,3,5,8], "
		"i64[2,5]={0,8,2,3,4,5,6,7,1,1}, f32[9,4], f32[9,4])",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		check_kernel(texts[i]);
}

static void
check_refused(const char *text, const char *wanted)
{
	struct engine_case c = {.text = text, .low = 3, .high = 9};
	struct sl_graph *graph = engine_case_graph(c.text);
	struct sl_plan_options options = {.struct_size = sizeof(options),
					  .n_threads = 1};
	struct sl_error err = {0};
	struct sl_plan *plan;

	assert_int_equal(sl_plan_new(&plan, graph, &options, &err), SL_OK);
	engine_case_fill(plan, &c);
	assert_int_equal(sl_plan_run(plan, &err), SL_E_DATA);
	assert_non_null(strstr(err.text, wanted));
	sl_plan_free(plan);
	sl_graph_free(graph);
}

/* The place behind the largest number is none either. */
static void
refuses_places_outside(void **state)
{
	(void)state;
	check_refused("RotaryEmbedding 23 (f32[1,1,2,4], f32[3,2], f32[3,2], "
		      "i64[1,2])",
		      "no angles for token 0");
	check_refused("com.microsoft.RotaryEmbedding 1 (f32[1,2,4], "
		      "i64[1]={2}, f32[3,2], f32[3,2])",
		      "no angles for token 1");
	check_refused("com.microsoft.RotaryEmbedding 1 (f32[1,2,4], "
		      "i64[1]={9223372036854775807}, f32[3,2], f32[3,2])",
		      "no angles for token 0");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(turns_pairs),
		cmocka_unit_test(refuses_places_outside),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
