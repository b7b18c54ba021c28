/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Proves shapes and closed forms of the operators of ai.onnx.ml: rows of
 * features in, labels and scores out.
 */
#include "one_node.h"

static void
test_element_wise(void **state)
{
	(void)state;
	check_out("ai.onnx.ml.Scaler 1 (i64[n,3])", "f32[n,3]");
	check_out("ai.onnx.ml.Binarizer 1 (f32[n,3])", "f32[n,3]");
	check_out("ai.onnx.ml.Imputer 1 (i64[n,3])", "int64[n,3]");
	check_out("ai.onnx.ml.Normalizer 1 (f64[n,3])", "f32[n,3]");
	check_cost("ai.onnx.ml.Scaler 1 (f32[2,3])", {.add = 6, .mul = 6});
	check_cost("ai.onnx.ml.Normalizer 1 (f32[2,3]) norm=L2",
		   {.fma = 6, .div = 6, .exp = 2});
	check_cost("ai.onnx.ml.Normalizer 1 (f32[2,3]) norm=L1",
		   {.add = 6, .div = 6});
}

static void
test_categories(void **state)
{
	(void)state;
	check_out("ai.onnx.ml.OneHotEncoder 1 (i64[n]) cats_int64s=[0,1,2]",
		  "f32[n,3]");
	check_out("ai.onnx.ml.LabelEncoder 2 (i64[n]) "
		  "values_floats=[0.5,1.5] keys_int64s=[0,1]",
		  "f32[n]");
	check_out("ai.onnx.ml.LabelEncoder 2 (f32[n]) "
		  "values_int64s=[0,1] keys_floats=[0.5,1.5]",
		  "int64[n]");
	check_out("ai.onnx.ml.CategoryMapper 1 (string[n])", "int64[n]");
	check_out("ai.onnx.ml.CategoryMapper 1 (i64[n])", "string[n]");
}

static void
test_maps(void **state)
{
	(void)state;
	check_out("ai.onnx.ml.CastMap 1 (f32[1]) map_layout=SPARSE max_map=3",
		  "f32[1,3]");
	check_out("ai.onnx.ml.CastMap 1 (f32[1]) map_layout=SPARSE max_map=-3 "
		  "cast_to=TO_INT64",
		  "int64[1,1]");
	check_out("ai.onnx.ml.CastMap 1 (f32[1]) max_map=3 cast_to=TO_STRING",
		  "string[1,?]");
}

static void
test_features(void **state)
{
	(void)state;
	check_out("ai.onnx.ml.ArrayFeatureExtractor 1 (f32[5,7], i64[1,3])",
		  "f32[5,3]");
	check_out("ai.onnx.ml.ArrayFeatureExtractor 1 (f32[7], i64[2])",
		  "f32[1,2]");
	check_out("ai.onnx.ml.FeatureVectorizer 1 (f32[5,2], f32[5,3]) "
		  "inputdimensions=[2,3]",
		  "f32[5,5]");
}

/* 4 rows of 3 features, 2 scores each. */
static void
test_linear_models(void **state)
{
	(void)state;
	check_out("ai.onnx.ml.LinearClassifier 1 (f32[n,3]) "
		  "classlabels_ints=[0,1] coefficients=[1.,2.,3.,4.,5.,6.]",
		  "int64[n] f32[n,2]");
	check_out("ai.onnx.ml.LinearRegressor 1 (f32[n,3]) targets=2",
		  "f32[n,2]");
	check_out("ai.onnx.ml.LinearRegressor 1 (f32[3])", "f32[1,1]");
	check_cost("ai.onnx.ml.LinearClassifier 1 (f32[4,3]) "
		   "classlabels_ints=[0,1] "
		   "coefficients=[1.,2.,3.,4.,5.,6.] intercepts=[1.,2.] "
		   "post_transform=SOFTMAX",
		   {.fma = 24,
		    .macs = 24,
		    .add = 8 + 8,
		    .exp = 8,
		    .div = 8,
		    .work = SL_WORK_LINEAR,
		    .weight_bytes = 32});
}

/* Two support vectors of 3 features, against 4 rows. */
static void
test_vector_machines(void **state)
{
	(void)state;
	check_out("ai.onnx.ml.SVMClassifier 1 (f32[n,3]) "
		  "classlabels_ints=[0,1,2]",
		  "int64[n] f32[n,3]");
	check_cost("ai.onnx.ml.SVMRegressor 1 (f32[4,3]) kernel_type=RBF "
		   "support_vectors=[1.,2.,3.,4.,5.,6.] "
		   "coefficients=[1.,2.]",
		   {.fma = 4 * 2 * 3 + 4 * 2,
		    .add = 24,
		    .exp = 8,
		    .basis = SL_BASIS_ESTIMATED});
}

/* Two trees of 7 nodes: three levels, log2(7 + 1). */
static void
test_trees(void **state)
{
	(void)state;
	check_out("ai.onnx.ml.TreeEnsembleRegressor 1 (f32[n,3]) n_targets=2",
		  "f32[n,2]");
	check_out("ai.onnx.ml.TreeEnsemble 5 (f64[n,3]) n_targets=2",
		  "f64[n,2]");
	check_cost("ai.onnx.ml.TreeEnsembleRegressor 1 (f32[5,3]) n_targets=1 "
		   "nodes_treeids=[0,0,0,0,0,0,0,1,1,1,1,1,1,1] "
		   "nodes_featureids=[0,0,0,0,0,0,0,0,0,0,0,0,0,0]",
		   {.cmp = 5 * 2 * 3, .add = 10, .basis = SL_BASIS_ESTIMATED});
	check_cost("ai.onnx.ml.TreeEnsembleRegressor 1 (f32[5,3])",
		   {.basis = SL_BASIS_UNKNOWN});
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_element_wise),
		cmocka_unit_test(test_categories),
		cmocka_unit_test(test_maps),
		cmocka_unit_test(test_features),
		cmocka_unit_test(test_linear_models),
		cmocka_unit_test(test_vector_machines),
		cmocka_unit_test(test_trees),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
