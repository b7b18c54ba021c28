/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Proves attention.  With queries of 0 all keys weigh the same, so that the
 * result is the mean of the values that a query may see: 1, 2, 4, ... tell
 * which these are.  What scores do is compared with onnxruntime.
 */
#include "evaluated.h"

static void
test_what_is_seen(void **state)
{
	(void)state;
	check_evaluated("Attention 23 (f32[1,1,2,1]={0,0}, "
			"f32[1,1,3,1]={5,6,7}, f32[1,1,3,1]={1,2,6})",
			"f32[1,1,2,1]={3,3}");
	check_evaluated(
		"Attention 23 (f32[1,1,3,1]={0,0,0}, f32[1,1,3,1]={5,6,7}, "
		"f32[1,1,3,1]={1,3,5}) is_causal=1",
		"f32[1,1,3,1]={1,2,3}");
	/* a mask of booleans; one of numbers; a row that sees nothing */
	check_evaluated("Attention 23 (f32[1,1,2,1]={0,0}, f32[1,1,2,1]={5,6}, "
			"f32[1,1,2,1]={1,3}, bool[2,2]={0,1,0,0})",
			"f32[1,1,2,1]={3,0}");
	check_evaluated("Attention 23 (f32[1,1,2,1]={0,0}, f32[1,1,2,1]={5,6}, "
			"f32[1,1,2,1]={1,3}, f32[1,2]={-inf,0})",
			"f32[1,1,2,1]={3,3}");
	/* keys beyond the mask's last are hidden */
	check_evaluated("Attention 23 (f32[1,1,1,1]={0}, f32[1,1,3,1]={5,6,7}, "
			"f32[1,1,3,1]={1,3,100}, f32[1,2]={0,0})",
			"f32[1,1,1,1]={2}");
	/* windows: one before, none after */
	check_evaluated(
		"Attention 25 (f32[1,1,3,1]={0,0,0}, f32[1,1,3,1]={5,6,7}, "
		"f32[1,1,3,1]={1,3,5}) left_window_size=1 right_window_size=0",
		"f32[1,1,3,1]={1,2,4}");
	check_fails("Attention 23 (f32[1,1,1,1]={0}, f32[1,1,2,1]={5,6}, "
		    "f32[1,1,2,1]={1,3}, f32[1,3]={0,0,0})",
		    "does not fit");
}

static void
test_past(void **state)
{
	(void)state;
	check_evaluated(
		"Attention 23 (f32[1,1,1,1]={0}, f32[1,1,1,1]={7}, "
		"f32[1,1,1,1]={5}, _, f32[1,1,2,1]={8,9}, f32[1,1,2,1]={1,3}) "
		"is_causal=1 -> 3",
		"f32[1,1,1,1]={3} f32[1,1,3,1]={8,9,7} f32[1,1,3,1]={1,3,5}");
	/* a cache of lengths 1 and 2: its last token asks */
	check_evaluated(
		"Attention 24 (f32[2,1,1,1]={0,0}, f32[2,1,3,1]={0,0,0,0,0,0}, "
		"f32[2,1,3,1]={1,3,5,1,3,5}, _, _, _, i64[2]={1,2}) "
		"is_causal=1",
		"f32[2,1,1,1]={1,2}");
	check_fails("Attention 23 (f32[1,1,1,1]={0}, f32[1,1,1,1]={7}, "
		    "f32[1,1,1,1]={5}, _, f32[1,1,2,1]={8,9}, "
		    "f32[1,1,1,1]={1}) -> 3",
		    "does not fit the keys");
}

static void
test_heads(void **state)
{
	(void)state;
	/* two heads of queries to one of keys; flat: head by head */
	check_evaluated("Attention 23 (f32[1,2,1,1]={0,0}, f32[1,1,2,1]={5,6}, "
			"f32[1,1,2,2]={1,10,3,30})",
			"f32[1,2,1,2]={2,20,2,20}");
	check_evaluated(
		"Attention 23 (f32[1,1,4]={0,0,0,0}, f32[1,2,2]={5,6,7,8}, "
		"f32[1,2,2]={1,10,3,30}) q_num_heads=4 kv_num_heads=2",
		"f32[1,1,4]={2,2,20,20}");
	check_evaluated(
		"Attention 23 (f32[1,2,4]={1,2,0,1,-1,0,1,1}, "
		"f32[1,2,4]={0,1,1,0,1,1,-1,0}, f32[1,2,4]={1,2,3,4,5,6,7,8}) "
		"q_num_heads=2 kv_num_heads=2 scale=0.5",
		"f32[1,2,4]={3.489837,4.489837,5,6,2.510163,3.510163,4.075766,"
		"5.075766}");
	check_evaluated(
		"Attention 23 (f32[1,1,2,2]={1,2,0,1}, f32[1,1,2,2]={0,1,1,0}, "
		"f32[1,1,2,1]={1,2}, f32[2,2]={0.5,0,0,-1}) softcap=2.0",
		"f32[1,1,2,1]={1.261406,1.157222}");
	check_fails("Attention 23 (f32[1,3,1,1]={0,0,0}, f32[1,2,1,1]={1,1}, "
		    "f32[1,2,1,1]={1,1})",
		    "3 heads of queries on 2");
}

static void
test_scores(void **state)
{
	(void)state;
	/* 3 * 2 * 0.5; then 1 tanh(3 / 1); with 10 added; 1 of 1 */
	check_evaluated("Attention 23 (f32[1,1,1,1]={3}, f32[1,1,1,1]={2}, "
			"f32[1,1,1,1]={7}, f32[1,1]={10}, _, _) scale=0.5 "
			"softcap=1.0 qk_matmul_output_mode=0 -> 4",
			"f32[1,1,1,1]={7} f32[1,1,1,1]={2} f32[1,1,1,1]={7} "
			"f32[1,1,1,1]={3}");
	check_evaluated("Attention 23 (f32[1,1,1,1]={3}, f32[1,1,1,1]={2}, "
			"f32[1,1,1,1]={7}, f32[1,1]={10}, _, _) scale=0.5 "
			"softcap=1.0 qk_matmul_output_mode=1 -> 4",
			"f32[1,1,1,1]={7} f32[1,1,1,1]={2} f32[1,1,1,1]={7} "
			"f32[1,1,1,1]={0.9950548}");
	check_evaluated("Attention 23 (f32[1,1,1,1]={3}, f32[1,1,1,1]={2}, "
			"f32[1,1,1,1]={7}, f32[1,1]={10}, _, _) scale=0.5 "
			"qk_matmul_output_mode=2 -> 4",
			"f32[1,1,1,1]={7} f32[1,1,1,1]={2} f32[1,1,1,1]={7} "
			"f32[1,1,1,1]={13}");
	check_evaluated("Attention 23 (f32[1,1,1,1]={3}, f32[1,1,1,1]={2}, "
			"f32[1,1,1,1]={7}, f32[1,1]={10}, _, _) scale=0.5 "
			"qk_matmul_output_mode=3 -> 4",
			"f32[1,1,1,1]={7} f32[1,1,1,1]={2} f32[1,1,1,1]={7} "
			"f32[1,1,1,1]={1}");
}

static void
test_nothing(void **state)
{
	(void)state;
	check_evaluated("Attention 23 (f32[0,1,2,1]={}, f32[0,1,3,1]={}, "
			"f32[0,1,3,1]={})",
			"f32[0,1,2,1]={}");
	check_evaluated("Attention 23 (f32[1,1,0,1]={}, f32[1,1,1,1]={1}, "
			"f32[1,1,1,1]={1})",
			"f32[1,1,0,1]={}");
	/* no keys at all */
	check_evaluated("Attention 23 (f32[1,1,1,1]={1}, f32[1,1,0,1]={}, "
			"f32[1,1,0,1]={})",
			"f32[1,1,1,1]={0}");
}

/* Weights that take the columns of input 2 x 3 apart: Q 0, K the first, V the
 * second. */
static void
test_projected(void **state)
{
	(void)state;
	check_evaluated("com.microsoft.Attention 1 (f32[1,2,2]={5,1,6,3}, "
			"f32[2,3]={0,1,0,0,0,1}) num_heads=1",
			"f32[1,2,1]={2,2}");
	check_evaluated("com.microsoft.Attention 1 (f32[1,2,2]={5,1,6,3}, "
			"f32[2,3]={0,1,0,0,0,1}, f32[3]={0,0,10}) num_heads=1 "
			"unidirectional=1",
			"f32[1,2,1]={11,12}");
	/* the text ends after 1; begins at 1 */
	check_evaluated("com.microsoft.Attention 1 (f32[1,2,2]={5,1,6,3}, "
			"f32[2,3]={0,1,0,0,0,1}, _, i32[1]={1}) num_heads=1",
			"f32[1,2,1]={1,1}");
	check_evaluated("com.microsoft.Attention 1 (f32[1,2,2]={5,1,6,3}, "
			"f32[2,3]={0,1,0,0,0,1}, _, i32[2]={2,1}) num_heads=1",
			"f32[1,2,1]={3,3}");
	check_evaluated("com.microsoft.Attention 1 (f32[1,1,2]={5,5}, "
			"f32[2,3]={0,1,0,0,0,1}, _, i32[1,3]={1,0,1}, "
			"f32[2,1,1,2,1]={8,9,1,7}) num_heads=1 -> 2",
			"f32[1,1,1]={3} f32[2,1,1,3,1]={8,9,5,1,7,5}");
	check_fails("com.microsoft.Attention 1 (f32[1,1,2]={5,5}, "
		    "f32[2,3]={0,1,0,0,0,1}) num_heads=1 do_rotary=1",
		    "not done by this build");
}

static void
test_multi_head(void **state)
{
	(void)state;
	check_evaluated(
		"com.microsoft.MultiHeadAttention 1 (f32[1,1,2]={0,0}, "
		"f32[1,2,2]={5,6,7,8}, f32[1,2,2]={1,10,3,30}) num_heads=2",
		"f32[1,1,2]={2,20}");
	/* packed: Q, K and V of each head; K and V of each head */
	check_evaluated("com.microsoft.MultiHeadAttention 1 "
			"(f32[1,2,1,3,1]={0,7,1,0,8,3}) num_heads=1",
			"f32[1,2,1]={2,2}");
	check_evaluated("com.microsoft.MultiHeadAttention 1 (f32[1,1,2]={0,0}, "
			"f32[1,2,2,2,1]={5,1,6,10,7,3,8,30}) num_heads=2",
			"f32[1,1,2]={2,20}");
	/* the bias of V; a mask by key; past and present */
	check_evaluated("com.microsoft.MultiHeadAttention 1 (f32[1,1,2]={0,0}, "
			"f32[1,2,2]={5,6,7,8}, f32[1,2,2]={1,10,3,30}, "
			"f32[6]={0,0,1,1,100,200}) num_heads=2",
			"f32[1,1,2]={102,220}");
	check_evaluated("com.microsoft.MultiHeadAttention 1 (f32[1,1,2]={0,0}, "
			"f32[1,2,2]={5,6,7,8}, f32[1,2,2]={1,10,3,30}, _, "
			"i32[1,2]={0,1}) num_heads=2",
			"f32[1,1,2]={3,30}");
	check_evaluated("com.microsoft.MultiHeadAttention 1 (f32[1,2,1]={0,0}, "
			"f32[1,2,1]={5,6}, f32[1,2,1]={3,6}, _, _, _, "
			"f32[1,1,1,1]={4}, f32[1,1,1,1]={1}) num_heads=1 "
			"unidirectional=1 -> 3",
			"f32[1,2,1]={2,3.333333} f32[1,1,3,1]={4,5,6} "
			"f32[1,1,3,1]={1,3,6}");
}

static void
test_grouped(void **state)
{
	(void)state;
	/* a new text of 2 tokens, two heads on one */
	check_evaluated(
		"com.microsoft.GroupQueryAttention 1 (f32[1,2,2]={0,0,0,0}, "
		"f32[1,2,1]={5,6}, f32[1,2,1]={1,3}, _, _, i32[1]={1}, "
		"i32[]={2}) num_heads=2 kv_num_heads=1 -> 3",
		"f32[1,2,2]={1,1,2,2} f32[1,1,2,1]={5,6} f32[1,1,2,1]={1,3}");
	/* one token more, in a cache with room for three */
	check_evaluated(
		"com.microsoft.GroupQueryAttention 1 (f32[1,1,1]={0}, "
		"f32[1,1,1]={7}, f32[1,1,1]={5}, f32[1,1,4,1]={8,9,0,0}, "
		"f32[1,1,4,1]={1,3,99,98}, i32[1]={2}, i32[]={3}) num_heads=1 "
		"kv_num_heads=1 -> 3",
		"f32[1,1,1]={3} f32[1,1,4,1]={8,9,7,0} "
		"f32[1,1,4,1]={1,3,5,98}");
	/* a window of two; Q, K and V in one; a sink that takes a third */
	check_evaluated(
		"com.microsoft.GroupQueryAttention 1 (f32[1,1,1]={0}, "
		"f32[1,1,1]={7}, f32[1,1,1]={5}, f32[1,1,2,1]={8,9}, "
		"f32[1,1,2,1]={1,3}, i32[1]={2}, i32[]={3}) num_heads=1 "
		"kv_num_heads=1 local_window_size=2 -> 3",
		"f32[1,1,1]={4} f32[1,1,3,1]={8,9,7} f32[1,1,3,1]={1,3,5}");
	check_evaluated("com.microsoft.GroupQueryAttention 1 "
			"(f32[1,2,3]={0,5,1,0,6,3}, _, _, _, _, i32[1]={1}, "
			"i32[]={2}) num_heads=1 kv_num_heads=1",
			"f32[1,2,1]={1,2}");
	/* four heads on two: all queries come first, then keys, then values */
	check_evaluated(
		"com.microsoft.GroupQueryAttention 1 "
		"(f32[1,1,8]={1,2,3,4,5,6,7,8}, _, _, _, _, i32[1]={0}, "
		"i32[]={1}) num_heads=4 kv_num_heads=2 -> 3",
		"f32[1,1,4]={7,7,8,8} f32[1,2,1,1]={5,6} "
		"f32[1,2,1,1]={7,8}");
	check_evaluated(
		"com.microsoft.GroupQueryAttention 1 "
		"(f32[1,2,3]={0,5,2,0,6,4}, _, _, _, _, i32[1]={1}, i32[]={2}) "
		"num_heads=1 kv_num_heads=1 smooth_softmax=1",
		"f32[1,2,1]={1,2}");
	/* the score is 1, the sink's 0: e / (e + 1); and 1 / (1 + e) */
	check_evaluated(
		"com.microsoft.GroupQueryAttention 1 "
		"(f32[1,1,3]={1,1,1}, _, _, _, _, i32[1]={0}, i32[]={1}) "
		"num_heads=1 kv_num_heads=1 smooth_softmax=1",
		"f32[1,1,1]={0.7310586}");
	check_evaluated(
		"com.microsoft.GroupQueryAttention 1 "
		"(f32[1,1,3]={1,-1,1}, _, _, _, _, i32[1]={0}, "
		"i32[]={1}) num_heads=1 kv_num_heads=1 smooth_softmax=1",
		"f32[1,1,1]={0.2689414}");
	check_fails("com.microsoft.GroupQueryAttention 1 (f32[1,1,1]={0}, "
		    "f32[1,1,1]={7}, f32[1,1,1]={5}, f32[1,1,2,1]={8,9}, "
		    "f32[1,1,2,1]={1,3}, i32[1]={3}, i32[]={3}) num_heads=1 "
		    "kv_num_heads=1",
		    "the last of its tokens is number 3, of 3");
}

/* A quarter turn takes 1 2 to -2 1. */
static void
test_turned(void **state)
{
	(void)state;
	check_evaluated("RotaryEmbedding 23 (f32[1,1,1,4]={1,2,3,4}, "
			"f32[2,2]={1,1,0,0}, f32[2,2]={0,0,1,1}, i64[1,1]={1})",
			"f32[1,1,1,4]={-3,-4,1,2}");
	check_evaluated("RotaryEmbedding 23 (f32[1,1,1,4]={1,2,3,4}, "
			"f32[2,2]={1,1,0,0}, f32[2,2]={0,0,1,1}, i64[1,1]={1}) "
			"interleaved=1",
			"f32[1,1,1,4]={-2,1,-4,3}");
	/* the first two of each head's three; angles by token */
	check_evaluated(
		"RotaryEmbedding 23 (f32[1,1,6]={1,2,3,4,5,6}, f32[1,1,1]={0}, "
		"f32[1,1,1]={1}) num_heads=2 rotary_embedding_dim=2",
		"f32[1,1,6]={-2,1,3,-5,4,6}");
	/* one place, from which the tokens count on */
	check_evaluated(
		"com.microsoft.RotaryEmbedding 1 (f32[1,2,2]={1,2,3,4}, "
		"i64[1]={1}, f32[3,1]={1,0,-1}, f32[3,1]={0,1,0})",
		"f32[1,2,2]={-2,1,-3,-4}");
	check_fails("com.microsoft.RotaryEmbedding 1 (f32[1,2,2]={1,2,3,4}, "
		    "i64[1]={2}, f32[3,1]={1,0,-1}, f32[3,1]={0,1,0})",
		    "no angles for token 1");
}

/* One bias for queries, keys and values, in this order. */
static void
test_bias_of_packed_operands(void **state)
{
	(void)state;
	/* One key: the answer is its value, and the value's bias. */
	check_evaluated("com.microsoft.MultiHeadAttention 1 "
			"(f32[1,1,1,3,2]={0,1,2,3,4,5}, _, _, "
			"f32[6]={0,0,0,0,100,200}) num_heads=1",
			"f32[1,1,2]={104,205}");
	check_evaluated("com.microsoft.MultiHeadAttention 1 (f32[1,1,2]={1,2}, "
			"f32[1,1,1,2,2]={0,1,2,3}, _, f32[6]={0,0,0,0,100,200})"
			" num_heads=1",
			"f32[1,1,2]={102,203}");
	check_fails("com.microsoft.MultiHeadAttention 1 "
		    "(f32[1,1,1,3,2]={0,1,2,3,4,5}, _, _, f32[4]={0,0,0,0}) "
		    "num_heads=1",
		    "too short");
	/* Heads that are made already take none: onnxruntime's numbers. */
	check_evaluated("com.microsoft.MultiHeadAttention 1 (f32[1,1,2]={1,2}, "
			"f32[1,1,2,2]={1,0,0,1}, f32[1,1,2,2]={10,20,30,40}, "
			"f32[6]={1,0,5,1,100,200}) num_heads=1",
			"f32[1,1,2]={20,30}");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_is_seen),
		cmocka_unit_test(test_past),
		cmocka_unit_test(test_heads),
		cmocka_unit_test(test_scores),
		cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_projected),
		cmocka_unit_test(test_multi_head),
		cmocka_unit_test(test_grouped),
		cmocka_unit_test(test_turned),
		cmocka_unit_test(test_bias_of_packed_operands),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
