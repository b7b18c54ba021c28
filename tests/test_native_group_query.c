/* SPDX-License-Identifier: Apache-2.0 */
/* test_native_group_query.c - GroupQueryAttention against its reference
 * kernel, and what the step refuses when it runs. */
#include "engine_case.h"
#include "graph_text.h"

#define GQA   "com.microsoft.GroupQueryAttention 1 "
#define HEADS "num_heads=4 kv_num_heads=2 "

/* A prompt: no cache yet; texts of other lengths, the rest of which is no
 * text. */
static void
reads_prompts(void **state)
{
	(void)state;
	check_kernel(GQA "(f32[1,5,32], f32[1,5,16], f32[1,5,16], _, _, "
			 "i32[1]={4}, i32[]={5}) " HEADS "-> 3");
	check_kernel(GQA "(f32[2,70,32], f32[2,70,16], f32[2,70,16], "
			 "f32[2,2,0,8], f32[2,2,0,8], i32[2]={69,20}, "
			 "i32[1]={70}) " HEADS "scale=0.3 -> 3");
	/* Q, K and V in one. */
	check_kernel(GQA
		     "(f32[1,5,64], _, _, _, _, i32[1]={4}, i32[]={5}) " HEADS
		     "softcap=2.5 -> 3");
}

/* A cache that grows, and one with room for more. */
static void
extends_caches(void **state)
{
	(void)state;
	check_kernel(GQA "(f32[1,1,32], f32[1,1,16], f32[1,1,16], "
			 "f32[1,2,9,8], f32[1,2,9,8], i32[1]={9}, "
			 "i32[1]={10}) " HEADS "-> 3");
	check_kernel(GQA "(f32[2,3,32], f32[2,3,16], f32[2,3,16], "
			 "f32[2,2,20,8], f32[2,2,20,8], i32[2]={11,6}, "
			 "i32[1]={12}) " HEADS "-> 3");
	check_kernel(GQA "(f32[2,3,32], f32[2,3,16], f32[2,3,16], "
			 "f32[2,2,9,8], f32[2,2,9,8], i32[2]={11,6}, "
			 "i32[1]={12}) " HEADS "-> 3");
}

static void
turns_rows(void **state)
{
	static const char *const more[] = {
		"do_rotary=1 -> 3", "do_rotary=1 rotary_interleaved=1 -> 3"};
	char text[512];

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		snprintf(text, sizeof(text),
			 GQA "(f32[1,3,32], f32[1,3,16], f32[1,3,16], "
			     "f32[1,2,6,8], f32[1,2,6,8], i32[1]={8}, "
			     "i32[1]={9}, f32[16,4], f32[16,4]) " HEADS "%s",
			 more[i]);
		check_kernel(text);
		/* Half of a row, at places that are given. */
		snprintf(text, sizeof(text),
			 GQA "(f32[1,3,64], _, _, f32[1,2,6,8], "
			     "f32[1,2,6,8], i32[1]={8}, i32[1]={9}, "
			     "f32[16,2], f32[16,2], i64[1,3]={3,15,0}) " HEADS
			     "%s",
			 more[i]);
		check_kernel(text);
	}
}

static void
leaves_the_rest_to_the_reference(void **state)
{
	(void)state;
	check_case(&(struct engine_case){
		GQA "(f32[1,5,32], f32[1,5,16], f32[1,5,16], _, _, "
		    "i32[1]={4}, i32[]={5}) " HEADS "local_window_size=2 -> 3",
		.is_reference = 1});
	check_kernel(GQA "(f32[1,5,32], f32[1,5,16], f32[1,5,16], _, _, "
			 "i32[1]={4}, i32[]={5}) " HEADS
			 "local_window_size=5 -> 3");
	check_case(&(struct engine_case){
		GQA "(f32[1,5,32], f32[1,5,16], f32[1,5,16], _, _, "
		    "i32[1]={4}, i32[]={5}) " HEADS "smooth_softmax=1 -> 3",
		.is_reference = 1});
}

/* Lengths are data. */
static void
refuses_wrong_lengths(void **state)
{
	struct graph_text *g = graph_text(
		"in q f32 1,1,8\nin k f32 1,1,8\nin v f32 1,1,8\n"
		"in pk f32 1,1,4,8\nin pv f32 1,1,4,8\nin n i32 1\n"
		"const total i32 1 = 5\n"
		"y,nk,nv = com.microsoft.GroupQueryAttention q k v pk pv n "
		"total num_heads=1 kv_num_heads=1\nout y\nout nk\nout nv\n");
	static const int32_t lengths[] = {4, 5};
	struct sl_plan *plan;
	struct sl_error err;
	struct sl_array array;
	void *data;

	(void)state;
	assert_int_equal(sl_plan_new(&plan, g->graph, NULL, &err), SL_OK);
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(sl_plan_input(plan, "n", &array, &data, &err),
				 SL_OK);
		memcpy(data, &lengths[i], sizeof(lengths[i]));
		assert_int_equal(sl_plan_fill_inputs(plan, 1, &err), SL_OK);
		assert_int_equal(sl_plan_run(plan, &err),
				 i ? SL_E_DATA : SL_OK);
	}
	assert_non_null(strstr(err.text, "the last of its tokens is number 5"));
	sl_plan_free(plan);
	graph_text_free(g);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_prompts),
		cmocka_unit_test(extends_caches),
		cmocka_unit_test(turns_rows),
		cmocka_unit_test(leaves_the_rest_to_the_reference),
		cmocka_unit_test(refuses_wrong_lengths),
	};

	return cmocka_run_group_tests_name("native_group_query", tests, NULL,
					   NULL);
}
