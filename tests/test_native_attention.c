/* SPDX-License-Identifier: Apache-2.0 */
/* test_native_attention.c - Attention against its reference kernel. */
#include "compute/attend.h"
#include "engine_case.h"
#include "graph_text.h"

/* Heads one after the other, of sizes that fill vectors and blocks or do
 * not. */
static void
test_heads_apart(void **state)
{
	static const char *const cases[] = {
		"Attention 23 (f32[1,1,1,1], f32[1,1,1,1], f32[1,1,1,1])",
		"Attention 23 (f32[2,3,5,8], f32[2,3,7,8], f32[2,3,7,8])",
		"Attention 23 (f32[1,2,6,16], f32[1,2,6,16], f32[1,2,6,16])",
		"Attention 23 (f32[1,2,7,16], f32[1,2,7,16], f32[1,2,7,16])",
		"Attention 23 (f32[1,2,64,64], f32[1,2,64,64], "
		"f32[1,2,64,64])",
		"Attention 23 (f32[1,1,65,33], f32[1,1,257,33], "
		"f32[1,1,257,17])",
		"Attention 23 (f32[1,1,3,40], f32[1,1,600,40], "
		"f32[1,1,600,72]) scale=0.7",
		"Attention 23 (f32[1,1,130,20], f32[1,1,600,20], "
		"f32[1,1,600,100]) scale=2.5",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		check_kernel(cases[i]);
}

/* Heads side by side in a row. */
static void
test_heads_beside(void **state)
{
	(void)state;
	check_kernel("Attention 23 (f32[2,9,24], f32[2,11,24], f32[2,11,30]) "
		     "q_num_heads=3 kv_num_heads=3");
	check_kernel("Attention 23 (f32[1,197,128], f32[1,197,128], "
		     "f32[1,197,128]) q_num_heads=2 kv_num_heads=2");
	check_kernel("Attention 23 (f32[2,70,48], f32[2,70,16], f32[2,70,16]) "
		     "q_num_heads=6 kv_num_heads=2 is_causal=1");
}

/* Fewer heads of keys: queries of several heads stand in one block. */
static void
test_shared_keys(void **state)
{
	(void)state;
	check_kernel("Attention 23 (f32[2,8,1,16], f32[2,2,9,16], "
		     "f32[2,2,9,16])");
	check_kernel("Attention 23 (f32[1,9,20,16], f32[1,3,20,16], "
		     "f32[1,3,20,16], f32[1,9,20,20]) is_causal=1");
}

/* Of a block's 64 queries and 256 keys, each with 4 numbers, two rows and a
 * score for each key. */
static void
counts_what_a_short_sequence_uses(void **state)
{
	(void)state;
	assert_int_equal(sl__attend_scratch_used_floats(2, 3, 5, 7),
			 5 * (4 + 2 + 3 + 7));
	assert_int_equal(sl__attend_scratch_used_floats(2, 3, 64, 256),
			 sl__attend_scratch_floats(2, 3));
	assert_int_equal(sl__attend_scratch_used_floats(2, 3, 1000, 1000),
			 sl__attend_scratch_floats(2, 3));
}

static void
test_causal(void **state)
{
	(void)state;
	check_kernel("Attention 23 (f32[1,2,5,8], f32[1,2,5,8], f32[1,2,5,8]) "
		     "is_causal=1");
	check_kernel("Attention 23 (f32[1,2,150,24], f32[1,2,150,24], "
		     "f32[1,2,150,24]) is_causal=1");
	/* More queries than keys, and fewer. */
	check_kernel("Attention 23 (f32[1,1,80,8], f32[1,1,30,8], "
		     "f32[1,1,30,8]) is_causal=1");
	check_kernel("Attention 23 (f32[1,1,30,8], f32[1,1,90,8], "
		     "f32[1,1,90,8]) is_causal=1");
}

static void
test_masks(void **state)
{
	static const char *const masks[] = {
		"f32[11]",        "f32[9,11]",    "f32[3,9,11]",
		"f32[2,1,1,11]",  "f32[2,3,9,1]", "f32[2,3,9,11]",
		"f32[9,7]",       "bool[9,11]",   "bool[2,1,1,11]",
		"bool[2,3,9,11]", "f32[1]"};
	char text[256];

	(void)state;
	for (size_t i = 0; i < sizeof(masks) / sizeof(masks[0]); i++) {
		snprintf(text, sizeof(text),
			 "Attention 23 (f32[2,3,9,8], f32[2,3,11,8], "
			 "f32[2,3,11,8], %s)",
			 masks[i]);
		check_kernel(text);
	}
	check_kernel("Attention 23 (f32[1,2,70,8], f32[1,2,300,8], "
		     "f32[1,2,300,8], bool[70,300])");
	check_kernel("Attention 23 (f32[1,2,2,8], f32[1,2,300,8], "
		     "f32[1,2,300,8], f32[2,300])");
}

/* A query that sees no key gives zeros. */
static void
test_nothing_seen(void **state)
{
	(void)state;
	check_kernel("Attention 23 (f32[1,1,2,4], f32[1,1,3,4], f32[1,1,3,4], "
		     "bool[2,3]={0,0,0,1,0,1})");
	check_kernel("Attention 23 (f32[1,1,20,4], f32[1,1,3,4], "
		     "f32[1,1,3,4], bool[1,3]={0,0,0})");
}

static void
test_past(void **state)
{
	(void)state;
	check_kernel("Attention 23 (f32[1,1,24], f32[1,1,24], f32[1,1,24], _, "
		     "f32[1,3,12,8], f32[1,3,12,8]) q_num_heads=3 "
		     "kv_num_heads=3 -> 3");
	check_kernel("Attention 23 (f32[2,3,24], f32[2,3,24], f32[2,3,24], _, "
		     "f32[2,3,12,8], f32[2,3,12,8]) q_num_heads=3 "
		     "kv_num_heads=3 is_causal=1 -> 3");
	check_kernel("Attention 23 (f32[1,4,70,8], f32[1,2,70,8], "
		     "f32[1,2,70,16], f32[70,370], f32[1,2,300,8], "
		     "f32[1,2,300,16]) is_causal=1 -> 1");
	check_kernel("Attention 23 (f32[2,2,9,8], f32[2,2,5,8], "
		     "f32[2,2,5,8]) -> 3");
}

static void
test_lengths(void **state)
{
	(void)state;
	check_kernel("Attention 24 (f32[2,3,4,8], f32[2,3,11,8], "
		     "f32[2,3,11,8], _, _, _, i64[2]={5,11})");
	check_kernel("Attention 24 (f32[2,3,4,8], f32[2,3,11,8], "
		     "f32[2,3,11,8], _, _, _, i64[2]={5,11}) is_causal=1");
}

/* The scores are capped before they are masked. */
static void
test_softcap(void **state)
{
	(void)state;
	check_kernel("Attention 23 (f32[1,2,20,8], f32[1,2,20,8], "
		     "f32[1,2,20,8], f32[20,20]) softcap=1.5");
	check_kernel("Attention 23 (f32[1,2,1,8], f32[1,2,20,8], "
		     "f32[1,2,20,8]) softcap=1.5 is_causal=1");
}

/* Scores far apart: what is summed is scaled down more than once. */
static void
test_large_scores(void **state)
{
	(void)state;
	check_case(&(struct engine_case){
		"Attention 23 (f32[1,1,9,64], f32[1,1,1030,64], "
		"f32[1,1,1030,8]) scale=1.0",
		.low = -9, .high = 9});
	check_case(&(struct engine_case){
		"Attention 23 (f32[1,1,2,64], f32[1,1,1030,64], "
		"f32[1,1,1030,8]) scale=1.0",
		.low = -9, .high = 9});
}

/* Products before and after it hand over bf16, of which each rounding is off
 * by up to 2^-9: weights, what they are multiplied by, queries, keys, values,
 * the result; eight of them at most.  Scores are small, as their exponentials
 * multiply errors. */
static void
test_bf16(void **state)
{
	struct engine_case c = {.low = -0.25,
				.high = 0.25,
				.share = 8.0 / 512,
				.dtype = SL_DTYPE_BF16};
	static const char *const texts[] = {
		"opset 23\nin x f32 2,70,32\nconst q f32 32,32 = random\n"
		"const k f32 32,16 = random\nconst v f32 32,16 = random\n"
		"const w f32 32,8 = random\na = MatMul x q\nb = MatMul x k\n"
		"c = MatMul x v\nd = Attention a b c q_num_heads=4 "
		"kv_num_heads=2 is_causal=1\ny = MatMul d w\nout y\n",
		"opset 23\nin x f32 1,1,32\nin h f32 1,2,9,16\n"
		"in i f32 1,2,9,16\nconst q f32 32,32 = random\n"
		"a = MatMul x q\nb = MatMul x q\nc = MatMul x q\n"
		"y,k,v = Attention a b c - h i q_num_heads=2 kv_num_heads=2\n"
		"out y\nout k\nout v\n"};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct graph_text *g = graph_text(texts[i]);

		c.text = texts[i];
		check_graph(g->graph, &c);
		graph_text_free(g);
	}
}

/* What is for the reference kernel. */
static void
test_declined(void **state)
{
	(void)state;
	check_case(&(struct engine_case){
		"Attention 23 (f64[1,1,2,4], f64[1,1,3,4], f64[1,1,3,4])",
		.is_reference = 1});
	check_case(&(struct engine_case){
		"Attention 23 (f32[1,1,2,4], f32[1,1,3,4], f32[1,1,3,4]) -> 4",
		.is_reference = 1});
}

/* Keys that no query of a block sees are not counted as work done. */
static void
test_flops(void **state)
{
	const char *text = "Attention 23 (f32[1,2,128,8], f32[1,2,128,8], "
			   "f32[1,2,128,8]) is_causal=1";
	struct engine_case c = {.text = text};
	struct sl_graph *graph = engine_case_graph(text);
	struct sl_plan *plan = engine_case_plan(graph, &c, 0, 1);
	struct sl_step step;

	(void)state;
	assert_true(sl_plan_step(plan, 0, &step));
	assert_int_equal(step.executed_flops,
			 2 * 2 * 64 * (64 + 128) * (8 + 8));
	sl_plan_free(plan);
	sl_graph_free(graph);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_heads_apart),
		cmocka_unit_test(test_heads_beside),
		cmocka_unit_test(test_shared_keys),
		cmocka_unit_test(counts_what_a_short_sequence_uses),
		cmocka_unit_test(test_causal),
		cmocka_unit_test(test_masks),
		cmocka_unit_test(test_nothing_seen),
		cmocka_unit_test(test_past),
		cmocka_unit_test(test_lengths),
		cmocka_unit_test(test_softcap),
		cmocka_unit_test(test_large_scores),
		cmocka_unit_test(test_bf16),
		cmocka_unit_test(test_declined),
		cmocka_unit_test(test_flops),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
