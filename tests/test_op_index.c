/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Proves that indexing gives numpy's shapes and contents (take, compress,
 * nonzero, unique), that a lookup in a parameter is an embedding and reads
 * the rows it takes, and that sizes which depend on data are symbols of a
 * tensor whose rank is known.
 */
#include "one_node.h"

static void
test_gather(void **state)
{
	(void)state;
	check_refused("Gather 13 (f32[4,2], f32[3])",
		      "its indices are f32, not int32 or int64");
	check_refused("GatherElements 13 (f32[4,2], uint8[3,2])", "uint8");
	check_refused("GatherND 13 (f32[4,2], bool[3,1])", "bool");
	check_out("Gather 13 (f32[5,4,3], i64[2,7]) axis=1", "f32[5,2,7,3]");
	check_out("Gather 13 (f32[5,4], i64[]) axis=-1", "f32[5]");
	check_out("Gather 1 (f32[5,n], i64[b,s])", "f32[b,s,n]");
	check_out("Gather 13 (f32, i64[2])", "f32?");
	check_refused("Gather 13 (f32[5], i64[2]) axis=1", "axis 1 lies");
	check_known("Gather 13 (i64[3]={n,4,5}, i64[]={0})", "{n}");
	check_known("Gather 13 (i64[3]={3,4,5}, i64[2]={-1,0})", "{5,3}");
	check_known("Gather 13 (i64[2,2]={1,2,3,4}, i64[1]={1}) axis=1",
		    "{2,4}");
	check_refused("Gather 13 (i64[3]={3,4,5}, i64[]={3})",
		      "index 3 lies beyond the 3 rows");
	check_refused("Gather 13 (f32[3,2], i64[2]={0,-3}) axis=1",
		      "index -3 lies beyond the 2 places");
	check_known("Gather 13 (i64[3]={3,4,5}, i64[]={k})", "?");
	/* a dimension of 0 may hide a product that 64 bits do not hold */
	check_out("Gather 13 (i64[1099511627776,0,1099511627776], i64[0]) "
		  "axis=1",
		  "int64[1099511627776,0,1099511627776]");
}

/* A chain of these would double the rank with every node. */
static void
test_ranks_have_an_end(void **state)
{
	char dims[80] = "1", text[200];

	(void)state;
	for (int i = 1; i < 33; i++)
		strcat(dims, ",1");
	snprintf(text, sizeof(text), "Gather 13 (i64[%s], i64[%s])", dims,
		 dims);
	check_refused(text, "has 65 dimensions, 64 are the most");
}

static void
test_embeddings_read_rows(void **state)
{
	(void)state;
	/* 6 of 64 rows of 2 floats, and 6 indices */
	check_cost("Gather 13 (f32[4,2]={1,2,3,4,5,6,7,8}, i64[2,3])",
		   {.work = SL_WORK_EMBEDDING,
		    .weight_bytes = 6 * 2 * 4,
		    .read_bytes = 6 * 8,
		    .written_bytes = 6 * 2 * 4});
	check_cost("Gather 13 (f32[1000,8], i64[3])",
		   {.work = SL_WORK_MOVEMENT,
		    .read_bytes = 3 * 8 * 4 + 3 * 8,
		    .written_bytes = 3 * 8 * 4});
	check_cost("GatherND 13 (f32[1000,8], i64[3,1])",
		   {.work = SL_WORK_MOVEMENT,
		    .read_bytes = 3 * 8 * 4 + 3 * 8,
		    .written_bytes = 3 * 8 * 4});
}

static void
test_gather_elements_and_nd(void **state)
{
	(void)state;
	check_out("GatherElements 13 (f16[3,4], i64[2,4]) axis=0", "f16[2,4]");
	check_out("GatherND 13 (f32[2,3,4], i64[5,2])", "f32[5,4]");
	check_out("GatherND 13 (f32[2,3,4], i64[5,3])", "f32[5]");
	check_out("GatherND 13 (f32[2,3,4], i64[2,1]) batch_dims=1",
		  "f32[2,4]");
	check_out("GatherND 13 (f32[2,3,4], i64[n,1])", "f32[n,3,4]");
	check_out("GatherND 13 (f32[2,3,4], i64[n,k])", "f32?");
	check_refused("GatherND 13 (f32[2,3], i64[5,3])",
		      "an index of 3 numbers into 2 dimensions");
	check_refused("GatherND 13 (f32[2,3], i64[]) batch_dims=0",
		      "shared dimensions");
}

static void
test_scatter(void **state)
{
	(void)state;
	check_out("Scatter 9 (f32[3,n], i64[1,2], f32[1,2])", "f32[3,n]");
	check_out("ScatterND 16 (f32[8], i64[4,1], f32[4])", "f32[8]");
	check_out("TensorScatter 24 (f32[2,3,8,4], f32[2,3,1,4], i64[2])",
		  "f32[2,3,8,4]");
	/* the copy, and the updates into it */
	check_cost("ScatterND 16 (f32[8], i64[4,1], f32[4])",
		   {.work = SL_WORK_MOVEMENT,
		    .read_bytes = 32 + 32 + 16,
		    .written_bytes = 32 + 16});
	check_cost("ScatterElements 16 (f32[8], i64[4], f32[4]) reduction=add",
		   {.work = SL_WORK_MOVEMENT, .add = 4});
	check_cost("ScatterElements 18 (f32[8], i64[4], f32[4]) reduction=max",
		   {.work = SL_WORK_MOVEMENT, .cmp = 4});
}

static void
test_masks(void **state)
{
	(void)state;
	check_out("Compress 11 (f32[3,2], bool[3]) axis=0", "f32[?,2]");
	check_out("Compress 11 (f32[3,2], bool[6])", "f32[?]");
	check_out("Compress 11 (f32[3,2], bool[3]={0,1,1}) axis=0", "f32[2,2]");
	check_known("Compress 11 (i64[2,2]={1,2,3,4}, bool[2]={0,1}) axis=0",
		    "{3,4}");
	check_known("Compress 11 (i64[3]={7,8,9}, bool[3]={1,0,1})", "{7,9}");
	/* a symbol is neither 0 nor not */
	check_out("Compress 11 (f32[3,2], i64[3]={0,n,1}) axis=0", "f32[?,2]");
	check_refused("Compress 11 (f32[3,2], bool[3]) axis=2", "axis 2 lies");
	check_out("NonZero 13 (f32[3,2])", "int64[2,?]");
	check_out("NonZero 13 (f32[])", "int64[1,?]");
	check_out("NonZero 13 (f32)", "int64[?,?]");
	check_out("NonZero 13 (i64[2,2]={1,0,0,3})", "int64[2,2]");
	check_known("NonZero 13 (i64[2,2]={1,0,2,3})", "{0,1,1,0,0,1}");
	check_known("NonZero 13 (bool[1]={1})", "{0}");
}

static void
test_unique(void **state)
{
	(void)state;
	check_out("Unique 11 (f32[6]) -> 4",
		  "f32[?] int64[?] int64[6] int64[?]");
	check_out("Unique 11 (f32[2,n,3]) axis=1 -> 4",
		  "f32[2,?,3] int64[?] int64[n] int64[?]");
	check_out("Unique 11 (i64[5]={2,1,1,3,2}) -> 4",
		  "int64[3] int64[3] int64[5] int64[3]");
	check_known("Unique 11 (i64[5]={2,1,1,3,2})", "{1,2,3}");
	check_known("Unique 11 (i64[5]={2,1,1,3,2}) sorted=0", "{2,1,3}");
	/* rows (1,0) and (2,1), the first of them twice */
	check_out("Unique 11 (f32[3,2]={1,0,2,1,1,0}) axis=0", "f32[2,2]");
	check_out("Unique 11 (f32[2,3]={1,1,2,0,0,1}) axis=-1", "f32[2,2]");
	/* Slices of nothing are not counted one by one. */
	check_out("Unique 11 (f32[0,1099511627776]={}) axis=1", "f32[0,?]");
}

static void
test_one_hot_and_likes(void **state)
{
	(void)state;
	check_out("OneHot 11 (i64[2,3], i64[]={10}, f32[2])", "f32[2,3,10]");
	check_out("OneHot 11 (i64[2,3], f32[1]={10}, i32[2]) axis=1",
		  "int32[2,10,3]");
	check_out("OneHot 11 (i64[2,3], i64[], f32[2]) axis=0", "f32[?,2,3]");
	check_out("Trilu 14 (f32[n,4])", "f32[n,4]");
	check_out("ReverseSequence 10 (f32[4,2], i64[2])", "f32[4,2]");
	check_refused("OneHot 11 (i64[2], i64[]={-1}, f32[2])", "negative");
}

static void
test_every_allocation_may_fail(void **state)
{
	(void)state;
	check_allocations("Gather 13 (i64[3]={3,4,5}, i64[2]={-1,0})");
	check_allocations("Unique 11 (i64[3]={1,2,1}) -> 4");
	check_allocations("NonZero 13 (i64[2,2]={1,0,2,3})");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_gather),
		cmocka_unit_test(test_ranks_have_an_end),
		cmocka_unit_test(test_embeddings_read_rows),
		cmocka_unit_test(test_gather_elements_and_nd),
		cmocka_unit_test(test_scatter),
		cmocka_unit_test(test_masks),
		cmocka_unit_test(test_unique),
		cmocka_unit_test(test_one_hot_and_likes),
		cmocka_unit_test(test_every_allocation_may_fail),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
