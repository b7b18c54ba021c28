/* SPDX-License-Identifier: Apache-2.0 */
/* test_ref_ml.c - proves the reference kernels of ai.onnx.ml by hand-made
 * tables; strings and trees are among ONNX's own cases (test_onnx_backend.c). */
#include "evaluated.h"

static void
numbers_above_the_threshold_are_1(void **state)
{
	(void)state;
	check_evaluated("ai.onnx.ml.Binarizer 1 (f32[4]={-1,0,0.5,2}) "
			"threshold=0.5",
			"f32[4]={0,0,0,1}");
	check_evaluated("ai.onnx.ml.Binarizer 1 (i32[2,1]={-1,1})",
			"i32[2,1]={0,1}");
}

static void
keys_become_values(void **state)
{
	(void)state;
	check_evaluated("ai.onnx.ml.LabelEncoder 2 (i64[4]={7,3,7,5}) "
			"keys_int64s=[3,7] values_floats=[0.5,1.5]",
			"f32[4]={1.5,0.5,1.5,-0}");
	check_evaluated("ai.onnx.ml.LabelEncoder 2 (f32[2,2]={0.5,nan,1,2}) "
			"keys_floats=[2.0,nan,0.5] values_int64s=[1,2,3] "
			"default_int64=9",
			"i64[2,2]={3,2,9,1}");
	/* Beyond what a double tells apart. */
	check_evaluated("ai.onnx.ml.LabelEncoder 2 (i64[1]={9007199254740993}) "
			"keys_int64s=[9007199254740992,9007199254740993] "
			"values_int64s=[1,2]",
			"i64[1]={2}");
	check_evaluated("ai.onnx.ml.LabelEncoder 2 (i64[0]={}) "
			"keys_int64s=[1] values_int64s=[1]",
			"i64[0]={}");
	check_fails("ai.onnx.ml.LabelEncoder 2 (i64[1]={7}) keys_int64s=[3,7] "
		    "values_int64s=[1]",
		    "as many values as keys");
}

static void
trees_need_all_their_parts(void **state)
{
	(void)state;
	check_fails("ai.onnx.ml.TreeEnsemble 5 (f32[1,1]={7}) "
		    "nodes_featureids=[0] tree_roots=[0]",
		    "nodes_falseleafs");
	check_fails("ai.onnx.ml.TreeEnsemble 5 (f32[1,1]={7}) "
		    "nodes_featureids=[1] tree_roots=[0]",
		    "'nodes_featureids' has 1");
	check_fails("ai.onnx.ml.TreeEnsemble 5 (f32[1,1]={7}) "
		    "nodes_featureids=[0] tree_roots=[-1]",
		    "'tree_roots' has -1");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_above_the_threshold_are_1),
		cmocka_unit_test(keys_become_values),
		cmocka_unit_test(trees_need_all_their_parts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
