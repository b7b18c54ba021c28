/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Proves shapes and costs of attention as one operator: they must be those
 * of the same attention written out as products and a softmax, and the
 * figure for sequence 128 and width 512 that is known by hand.
 */
#include "one_node.h"

static void
test_standard_shapes(void **state)
{
	(void)state;
	check_out("Attention 23 (f32[2,3,4,8], f32[2,3,6,8], f32[2,3,6,10])",
		  "f32[2,3,4,10]");
	check_out("Attention 23 (f32[2,4,24], f32[2,6,24], f32[2,6,30]) "
		  "q_num_heads=3 kv_num_heads=3",
		  "f32[2,4,30]");
	/* nine heads of queries on three of keys */
	check_out("Attention 23 (f32[2,9,4,8], f32[2,3,6,8], f32[2,3,6,8], "
		  "_, f32[2,3,12,8], f32[2,3,12,8]) -> 4",
		  "f32[2,9,4,8] f32[2,3,18,8] f32[2,3,18,8] f32[2,9,4,18]");
	check_out("Attention 23 (f32[2,4,72], f32[2,6,24], f32[2,6,24]) "
		  "q_num_heads=9 kv_num_heads=3 -> 4",
		  "f32[2,4,72] f32[2,3,6,8] f32[2,3,6,8] f32[2,9,4,6]");
	check_out("Attention 23 (f32[b,3,s,8], f32[b,3,t,8], f32[b,3,t,8], "
		  "_, f32[b,3,p,8], f32[b,3,p,8]) -> 2",
		  "f32[b,3,s,8] f32[b,3,(p+t),8]");
	check_out("Attention 23 (f32, f32[2,3,6,8], f32[2,3,6,8]) -> 2",
		  "f32? f32?");
	check_refused("Attention 23 (f32[2,4,24], f32[2,6,24], f32[2,6,24])",
		      "the number of heads is missing");
	check_refused("Attention 23 (f32[2,4,25], f32[2,6,24], f32[2,6,24]) "
		      "q_num_heads=3 kv_num_heads=3",
		      "a width of 25 over 3 heads does not come out even");
	check_refused("Attention 23 (f32[2,4,4,8], f32[2,3,6,8], "
		      "f32[2,3,6,8])",
		      "4 heads of queries on 3 of keys");
	check_refused("Attention 23 (f32[2,24], f32[2,24], f32[2,24])",
		      "queries 2x24, keys 2x24");
}

static void
test_shapes_of_com_microsoft(void **state)
{
	(void)state;
	check_out("com.microsoft.Attention 1 (f32[2,5,12], f32[12,36], "
		  "f32[36]) num_heads=3",
		  "f32[2,5,12]");
	check_out("com.microsoft.Attention 1 (f32[2,5,12], f32[12,30], "
		  "f32[30], _, f32[2,2,3,7,4]) num_heads=3 "
		  "qkv_hidden_sizes=[12,12,6] -> 2",
		  "f32[2,5,6] f32[2,2,3,12,4]");
	check_out("com.microsoft.QAttention 1 (uint8[2,5,12], int8[12,36], "
		  "f32[36], f32[], f32[]) num_heads=3",
		  "f32[2,5,12]");
	check_out("com.microsoft.MultiHeadAttention 1 (f32[2,5,12], "
		  "f32[2,7,12], f32[2,7,6]) num_heads=3 -> 3",
		  "f32[2,5,6] f32[2,3,7,4] f32[2,3,7,2]");
	check_out("com.microsoft.MultiHeadAttention 1 (f32[2,5,3,3,4]) "
		  "num_heads=3",
		  "f32[2,5,12]");
	check_out("com.microsoft.MultiHeadAttention 1 (f32[2,5,12], "
		  "f32[2,3,7,4], f32[2,3,7,4]) num_heads=3",
		  "f32[2,5,12]");
	check_out("com.microsoft.GroupQueryAttention 1 (f32[2,1,32], "
		  "f32[2,1,16], f32[2,1,16], f32[2,2,7,8], f32[2,2,7,8], "
		  "i32[2], i32[]={8}) num_heads=4 kv_num_heads=2 -> 3",
		  "f32[2,1,32] f32[2,2,8,8] f32[2,2,8,8]");
	/* room for 20 tokens, 8 of them in use; Q, K, V in one */
	check_out("com.microsoft.GroupQueryAttention 1 (f32[2,1,64], _, _, "
		  "f32[2,2,20,8], f32[2,2,20,8], i32[2], i32[]={8}) "
		  "num_heads=4 kv_num_heads=2 -> 3",
		  "f32[2,1,32] f32[2,2,20,8] f32[2,2,20,8]");
	check_refused("com.microsoft.Attention 1 (f32[2,5,12], f32[13,36], "
		      "f32[36]) num_heads=3",
		      "a weight of 13x36 does not fit rows of 2x5x12");
	check_refused("com.microsoft.Attention 1 (f32[2,5,12], f32[12,35], "
		      "f32[36]) num_heads=3",
		      "not those of Q, K and V");
	check_refused("com.microsoft.MultiHeadAttention 1 (f32[2,5,12])",
		      "the number of heads is missing");
	/* keys of one dimension were read beyond it */
	check_refused("com.microsoft.MultiHeadAttention 1 (f32[2,5,12], "
		      "f32[7]) num_heads=3",
		      "queries of 2x5x12 and keys of 7");
}

/* Cost of the two products and the softmax, each as its own operator. */
static uint64_t
macs_written_out(const char *scores, const char *values)
{
	struct one_node *a = one_node(scores), *b = one_node(values);
	uint64_t macs = a->cost.macs + b->cost.macs;

	one_node_free(a);
	one_node_free(b);
	return macs;
}

static void
test_costs_are_those_of_the_parts(void **state)
{
	uint64_t macs =
		macs_written_out("MatMul 13 (f32[2,9,4,8], f32[2,9,8,18])",
				 "MatMul 13 (f32[2,9,4,18], f32[2,9,18,10])");
	uint64_t scores = 2 * 9 * 4 * 18;

	(void)state;
	check_cost("Attention 23 (f32[2,9,4,8], f32[2,3,6,8], f32[2,3,6,10], "
		   "_, f32[2,3,12,8], f32[2,3,12,10])",
		   {.macs = macs,
		    .fma = macs,
		    .mul = scores,
		    .cmp = scores,
		    .add = 2 * scores,
		    .exp = scores,
		    .div = scores,
		    .work = SL_WORK_PRODUCT});
	check_cost("com.microsoft.GroupQueryAttention 1 (f32[2,1,32], "
		   "f32[2,1,16], f32[2,1,16], f32[2,2,7,8], f32[2,2,7,8], "
		   "i32[2], i32[]={8}) num_heads=4 kv_num_heads=2 -> 3",
		   {.macs = 2 * 4 * 8 * 16,
		    .fma = 2 * 4 * 8 * 16,
		    .mul = 64,
		    .cmp = 64,
		    .add = 128,
		    .exp = 64,
		    .div = 64,
		    .work = SL_WORK_PRODUCT});
}

/* 301,989,888 FLOPs with four projections; this operator has three. */
static void
test_sequence_128_width_512(void **state)
{
	struct one_node *n = one_node(
		"com.microsoft.Attention 1 (f32[1,128,512], f32[512,1536], "
		"f32[1536]) num_heads=8");
	uint64_t fourth = 128 * 512 * 512;

	(void)state;
	assert_int_equal(2 * (n->cost.macs + fourth), 301989888);
	one_node_free(n);
}

static void
test_linear(void **state)
{
	(void)state;
	check_out("LinearAttention 27 (f32[2,4,64], f32[2,4,16], f32[2,4,24]) "
		  "q_num_heads=8 kv_num_heads=2",
		  "f32[2,4,96] f32[2,2,8,12]");
	/* 8 tokens, a state of 8x12 for each of 2 heads, looked at by 8 */
	check_cost("LinearAttention 27 (f32[2,4,64], f32[2,4,16], "
		   "f32[2,4,24]) q_num_heads=8 kv_num_heads=2 "
		   "update_rule=linear",
		   {.macs = 8 * 96 * (2 + 8),
		    .fma = 8 * 96 * (2 + 8),
		    .mul = 8 * 96,
		    .work = SL_WORK_PRODUCT});
	check_cost("LinearAttention 27 (f32[2,4,64], f32[2,4,16], "
		   "f32[2,4,24], _, f32[2,4,2], f32[2,4,2]) q_num_heads=8 "
		   "kv_num_heads=2",
		   {.macs = 8 * 96 * (4 + 8),
		    .fma = 8 * 96 * (4 + 8),
		    .mul = 8 * 96 * 2 + 8 * 96,
		    .exp = 16,
		    .work = SL_WORK_PRODUCT});
}

static void
test_rotary(void **state)
{
	(void)state;
	check_out("RotaryEmbedding 23 (f32[2,4,3,8], f32[50,4], f32[50,4], "
		  "i64[2,3])",
		  "f32[2,4,3,8]");
	check_cost("RotaryEmbedding 23 (f32[2,4,3,8], f32[50,4], f32[50,4], "
		   "i64[2,3])",
		   {.mul = 192, .fma = 192});
	/* half of each head is turned */
	check_cost("RotaryEmbedding 23 (f32[2,3,32], f32[50,2], f32[50,2], "
		   "i64[2,3]) num_heads=4 rotary_embedding_dim=4",
		   {.mul = 96, .fma = 96});
	check_cost("com.microsoft.RotaryEmbedding 1 (f32[2,3,32], i64[2,3], "
		   "f32[50,4], f32[50,4])",
		   {.mul = 192, .fma = 192});
}

static void
test_no_memory(void **state)
{
	(void)state;
	check_allocations("Attention 23 (f32[b,3,s,8], f32[b,3,t,8], "
			  "f32[b,3,t,8], _, f32[b,3,p,8], f32[b,3,p,8]) -> 4");
	check_allocations("com.microsoft.Attention 1 (f32[b,5,12], "
			  "f32[12,36], f32[36]) num_heads=3");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_standard_shapes),
		cmocka_unit_test(test_shapes_of_com_microsoft),
		cmocka_unit_test(test_costs_are_those_of_the_parts),
		cmocka_unit_test(test_sequence_128_width_512),
		cmocka_unit_test(test_linear),
		cmocka_unit_test(test_rotary),
		cmocka_unit_test(test_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
