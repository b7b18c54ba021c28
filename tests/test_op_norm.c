/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Proves that normalizations give the shapes ONNX and ONNX Runtime define,
 * with the statistics they may be asked for, and cost what their formulas say
 * per element and per row.
 */
#include "one_node.h"
#include "graph_text.h"

#define CHANNELS "f32[3], f32[3], f32[3], f32[3]"

static void
batch_norm_may_give_statistics(void **state)
{
	(void)state;
	check_refused("BatchNormalization 15 (f32[1,3,4,4], f32[3], f32[4], "
		      "f32[3], f32[3])",
		      "input 2 is 4 where one number for each channel of "
		      "1x3x4x4 belongs");
	check_refused("GroupNormalization 21 (f32[1,6,4], f32[6], f32[6]) "
		      "num_groups=4",
		      "6 channels do not make 4 groups");
	check_refused("GroupNormalization 21 (f32[1,6,4], f32[2], f32[2]) "
		      "num_groups=2",
		      "input 1 is 2");
	check_out("GroupNormalization 18 (f32[1,6,4], f32[2], f32[2]) "
		  "num_groups=2",
		  "f32[1,6,4]");
	check_out("BatchNormalization 15 (f32[n,3,4,4], " CHANNELS ")",
		  "f32[n,3,4,4]");
	check_out("BatchNormalization 15 (f16[2,3,4], f32[3], f32[3], "
		  "f64[3], f64[3]) training_mode=1 -> 3",
		  "f16[2,3,4] f64[3] f64[3]");
	check_out("BatchNormalization 9 (f32[2,3,4,4], " CHANNELS ") -> 5",
		  "f32[2,3,4,4] f32[3] f32[3] f32[3] f32[3]");
	check_out("BatchNormalization 15 (f32, " CHANNELS ")", "f32?");
}

static void
batch_norm_costs_one_fma(void **state)
{
	struct one_node *n =
		one_node("BatchNormalization 15 (f32[2,3,4,4], " CHANNELS ")");

	(void)state;
	assert_int_equal(n->cost.fma, 96);
	assert_int_equal(n->cost.in_elements, 96);
	assert_int_equal(n->cost.work, SL_WORK_BATCH_NORM);
	assert_int_equal(sl_cost_operations(&n->cost), 2 * 96);
	one_node_free(n);
	check_cost("BatchNormalization 15 (f32[2,3,4,4], " CHANNELS
		   ") training_mode=1 -> 3",
		   {.add = 2 * 96 + 3,
		    .fma = 2 * 96 + 2 * 3,
		    .mul = 2 * 3,
		    .div = 3 * 3,
		    .exp = 3,
		    .work = SL_WORK_BATCH_NORM});
}

static void
layer_norm_may_give_statistics(void **state)
{
	(void)state;
	check_out("LayerNormalization 17 (f16[2,n,8], f16[8], f16[8]) -> 3",
		  "f16[2,n,8] f32[2,n,1] f32[2,n,1]");
	check_out("LayerNormalization 17 (f32[2,3,8], f32[3,8]) axis=1 "
		  "stash_type=11 -> 2",
		  "f32[2,3,8] f64[2,1,1]");
	check_out("com.microsoft.SimplifiedLayerNormalization 1 (f32[2,8], "
		  "f32[8]) -> 2",
		  "f32[2,8] f32[2,1]");
	/* ONNX Runtime writes it into ai.onnx, whose own set has it not. */
	check_out("SimplifiedLayerNormalization 1 (f32[2,8], f32[8])",
		  "f32[2,8]");
	check_out("RMSNormalization 23 (f32[2,8], f16[8])", "f16[2,8]");
	check_out("com.microsoft.SkipLayerNormalization 1 (f32[2,3,8], "
		  "f32[2,3,8], f32[8], f32[8], f32[8]) -> 4",
		  "f32[2,3,8] f32[2,3,1] f32[2,3,1] f32[2,3,8]");
	check_out("LayerNormalization 17 (f32, f32[8]) -> 1", "f32?");
	check_refused("LayerNormalization 17 (f32[2,8], f32[8]) axis=2",
		      "axis 2");
}

/* 6 rows of 8. */
static void
layer_norm_costs_per_element_and_row(void **state)
{
	(void)state;
	check_cost("LayerNormalization 17 (f32[2,3,8], f32[8], f32[8])",
		   {.add = 3 * 48 + 6,
		    .mul = 2 * 48,
		    .fma = 48,
		    .div = 3 * 6,
		    .exp = 6,
		    .work = SL_WORK_LAYER_NORM});
	check_cost("LayerNormalization 17 (f32[2,3,8], f32[3,8]) axis=1",
		   {.add = 3 * 48 + 2,
		    .mul = 3 * 48,
		    .div = 3 * 2,
		    .exp = 2,
		    .work = SL_WORK_LAYER_NORM});
	check_cost("RMSNormalization 23 (f32[2,3,8], f32[8])",
		   {.add = 48 + 6,
		    .mul = 3 * 48,
		    .div = 2 * 6,
		    .exp = 6,
		    .work = SL_WORK_LAYER_NORM});
	check_cost("com.microsoft.SkipLayerNormalization 1 (f32[2,3,8], "
		   "f32[2,3,8], f32[8], f32[8], f32[8])",
		   {.add = 5 * 48 + 6,
		    .mul = 2 * 48,
		    .fma = 48,
		    .div = 3 * 6,
		    .exp = 6,
		    .work = SL_WORK_LAYER_NORM});
	check_cost("com.microsoft.SkipSimplifiedLayerNormalization 1 "
		   "(f32[2,3,8], f32[2,3,8], f32[8])",
		   {.add = 2 * 48 + 6,
		    .mul = 3 * 48,
		    .div = 2 * 6,
		    .exp = 6,
		    .work = SL_WORK_LAYER_NORM});
}

static void
rows_are_what_the_kind_says(void **state)
{
	(void)state;
	check_out("InstanceNormalization 6 (f32[2,4,n,5], f32[4], f32[4])",
		  "f32[2,4,n,5]");
	check_cost("InstanceNormalization 6 (f32[2,4,3,5], f32[4], f32[4])",
		   {.add = 3 * 120 + 8,
		    .mul = 2 * 120,
		    .fma = 120,
		    .div = 3 * 8,
		    .exp = 8,
		    .work = SL_WORK_LAYER_NORM});
	check_cost("GroupNormalization 21 (f32[2,4,3,5], f32[4], f32[4]) "
		   "num_groups=2",
		   {.add = 3 * 120 + 4,
		    .mul = 2 * 120,
		    .fma = 120,
		    .div = 3 * 4,
		    .exp = 4,
		    .work = SL_WORK_LAYER_NORM});
	check_cost("MeanVarianceNormalization 13 (f32[2,4,3,5])",
		   {.add = 3 * 120 + 4,
		    .mul = 2 * 120,
		    .div = 3 * 4,
		    .exp = 4,
		    .work = SL_WORK_LAYER_NORM});
	check_cost("MeanVarianceNormalization 13 (f32[2,4,3,5]) axes=[2,-1]",
		   {.add = 3 * 120 + 8,
		    .mul = 2 * 120,
		    .div = 3 * 8,
		    .exp = 8,
		    .work = SL_WORK_LAYER_NORM});
}

static void
others_by_their_formula(void **state)
{
	(void)state;
	check_out("LRN 13 (f32[1,6,2,2]) size=5", "f32[1,6,2,2]");
	check_cost("LRN 13 (f32[1,6,2,2]) size=5",
		   {.mul = 24, .add = 4 * 24, .fma = 24, .exp = 24, .div = 24});
	check_cost("LpNormalization 1 (f32[2,3])",
		   {.mul = 6, .add = 4, .exp = 2, .div = 6});
	check_cost("LpNormalization 1 (f32[2,3]) p=1 axis=0",
		   {.cmp = 6, .add = 3, .div = 6});
}

#define TABLES                                                              \
	"int32[2,5], int32[2,5], f32[100,8], f32[50,8], f32[2,8], f32[8], " \
	"f32[8]"

/* 10 rows of 8 are looked up in each of three tables; 2 segments are there
 * at most. */
static void
embeddings_are_looked_up(void **state)
{
	(void)state;
	check_out("com.microsoft.EmbedLayerNormalization 1 (" TABLES
		  ", int32[2,5]) -> 3",
		  "f32[2,5,8] int32[2] f32[2,5,8]");
	check_out("com.microsoft.EmbedLayerNormalization 1 (int32, _, "
		  "f32[100,8], f32[50,8], _, f32[8], f32[8])",
		  "f32? none?");
	check_refused("com.microsoft.EmbedLayerNormalization 1 (int32[5], _, "
		      "f32[100,8], f32[50,8], _, f32[8], f32[8])",
		      "rank 1");
	check_cost("com.microsoft.EmbedLayerNormalization 1 (" TABLES ")",
		   {.add = 5 * 80 + 10,
		    .mul = 2 * 80,
		    .fma = 80,
		    .div = 3 * 10,
		    .exp = 10,
		    .work = SL_WORK_LAYER_NORM,
		    .read_bytes = 40 + 40 + 320 + 320 + 64 + 32 + 32,
		    .written_bytes = 320 + 8});
}

/* One table in two places is read once, and so are the rows taken of it. */
static void
a_table_may_stand_twice(void **state)
{
	struct graph_text *g =
		graph_text("in ids i64 1,2\nin t f32 100,8\nin s f32 8\n"
			   "in z f32 8\n"
			   "y,n = com.microsoft.EmbedLayerNormalization ids - "
			   "t t - s z\nout y\nout n\n");
	const struct sl_cost *cost = &g->costs.per_call[maker_of(g, "y")];

	(void)state;
	/* ids, two rows, scale and shift */
	assert_int_equal(cost->read_bytes, 16 + 64 + 32 + 32);
	graph_text_free(g);
}

static void
every_allocation_may_fail(void **state)
{
	(void)state;
	check_allocations("LayerNormalization 17 (f32[2,8], f32[8]) -> 3");
	check_allocations("BatchNormalization 9 (f32[2,3,4,4], " CHANNELS
			  ") -> 5");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(batch_norm_may_give_statistics),
		cmocka_unit_test(batch_norm_costs_one_fma),
		cmocka_unit_test(layer_norm_may_give_statistics),
		cmocka_unit_test(layer_norm_costs_per_element_and_row),
		cmocka_unit_test(rows_are_what_the_kind_says),
		cmocka_unit_test(others_by_their_formula),
		cmocka_unit_test(embeddings_are_looked_up),
		cmocka_unit_test(a_table_may_stand_twice),
		cmocka_unit_test(every_allocation_may_fail),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
