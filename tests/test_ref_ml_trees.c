/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_ref_ml_trees.c - proves trees of the first versions by ones that can be
 * walked by hand; tests/oracles/ml_cases.py compares with ONNX Runtime.
 */
#include "evaluated.h"

/* x0 <= 1 ? leaf 1 : (x1 < 0 ? leaf 3 : leaf 4), in two orders of rows. */
#define TREE                                                           \
	"nodes_treeids=[0,0,0,0,0] nodes_nodeids=[0,1,2,3,4] "         \
	"nodes_featureids=[0,0,1,0,0] "                                \
	"nodes_values=[1.0,0.0,0.0,0.0,0.0] "                          \
	"nodes_modes=['BRANCH_LEQ','LEAF','BRANCH_LT','LEAF','LEAF'] " \
	"nodes_truenodeids=[1,0,3,0,0] nodes_falsenodeids=[2,0,4,0,0] "
#define SHUFFLED                                                       \
	"nodes_treeids=[0,0,0,0,0] nodes_nodeids=[0,4,3,2,1] "         \
	"nodes_featureids=[0,0,0,1,0] "                                \
	"nodes_values=[1.0,0.0,0.0,0.0,0.0] "                          \
	"nodes_modes=['BRANCH_LEQ','LEAF','LEAF','BRANCH_LT','LEAF'] " \
	"nodes_truenodeids=[1,0,0,3,0] nodes_falsenodeids=[2,0,0,4,0] "
#define ROWS       "(f32[3,2]={1,5,2,-1,2,0}) "
#define REGRESSOR  "ai.onnx.ml.TreeEnsembleRegressor 1 " ROWS
#define CLASSIFIER "ai.onnx.ml.TreeEnsembleClassifier 1 " ROWS
#define TARGETS                                          \
	"target_treeids=[0,0,0] target_nodeids=[1,3,4] " \
	"target_ids=[0,0,0] target_weights=[1.5,2.5,-4.0] n_targets=1 "
#define CLASSES "class_treeids=[0,0,0] class_nodeids=[1,3,4] "

static void
walks_to_leaves(void **state)
{
	(void)state;
	check_evaluated(REGRESSOR TREE TARGETS, "f32[3,1]={1.5,2.5,-4}");
	check_evaluated(REGRESSOR SHUFFLED TARGETS "base_values=[0.5]",
			"f32[3,1]={2,3,-3.5}");
	/* NaN goes where the node says. */
	check_evaluated(
		"ai.onnx.ml.TreeEnsembleRegressor 1 (f32[1,2]={nan,0}) " TREE
			TARGETS "nodes_missing_value_tracks_true="
		"[1,0,0,0,0]",
		"f32[1,1]={1.5}");
	check_fails(REGRESSOR "nodes_treeids=[0,0] nodes_nodeids=[0,1] "
			      "nodes_featureids=[0,0] nodes_values=[1.0,0.0] "
			      "nodes_modes=['BRANCH_LEQ','BRANCH_LEQ'] "
			      "nodes_truenodeids=[1,0] "
			      "nodes_falsenodeids=[1,0] " TARGETS,
		    "comes back to its nodes");
	check_fails(REGRESSOR "nodes_treeids=[0] nodes_nodeids=[0] "
			      "nodes_featureids=[7] nodes_values=[1.0] "
			      "nodes_modes=['BRANCH_LEQ'] "
			      "nodes_truenodeids=[0] "
			      "nodes_falsenodeids=[0] " TARGETS,
		    "a feature of 7");
	check_fails(REGRESSOR "nodes_treeids=[0] nodes_nodeids=[0] "
			      "nodes_featureids=[0] nodes_values=[1.0] "
			      "nodes_modes=['BRANCH_LEQ'] "
			      "nodes_truenodeids=[8] "
			      "nodes_falsenodeids=[0] " TARGETS,
		    "tree 0 has no node 8");
}

static void
joins_trees(void **state)
{
	static const char two[] =
		"nodes_treeids=[3,5] nodes_nodeids=[0,0] "
		"nodes_featureids=[0,0] nodes_values=[0.0,0.0] "
		"nodes_modes=['LEAF','LEAF'] nodes_truenodeids=[0,0] "
		"nodes_falsenodeids=[0,0] target_treeids=[3,5] "
		"target_nodeids=[0,0] target_ids=[0,0] "
		"target_weights=[1.0,4.0] aggregate_function=";
	static const struct {
		const char *how, *answer;
	} cases[] = {{"SUM", "f32[1,1]={5}"},
		     {"AVERAGE", "f32[1,1]={2.5}"},
		     {"MIN", "f32[1,1]={1}"},
		     {"MAX", "f32[1,1]={4}"}};
	char text[1024];

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		snprintf(text, sizeof(text),
			 "ai.onnx.ml.TreeEnsembleRegressor 1 (f32[1,1]={7}) "
			 "%s%s",
			 two, cases[i].how);
		check_evaluated(text, cases[i].answer);
	}
}

/* All weights for one of two classes: what is left is the other's, or, where
 * weights are below 0, the opposite. */
static void
chooses_classes(void **state)
{
	(void)state;
	check_evaluated(CLASSIFIER TREE CLASSES
			"class_ids=[0,1,2] class_weights=[1.0,2.0,3.0] "
			"classlabels_int64s=[7,8,9]",
			"i64[3]={7,8,9} f32[3,3]={1,0,0,0,2,0,0,0,3}");
	check_evaluated(CLASSIFIER TREE CLASSES
			"class_ids=[0,0,0] class_weights=[0.25,0.75,1.0] "
			"classlabels_strings=['no','yes']",
			"string[3]={'no','yes','yes'} "
			"f32[3,2]={0.75,0.25,0.25,0.75,0,1}");
	check_evaluated(CLASSIFIER TREE CLASSES
			"class_ids=[0,0,0] class_weights=[-0.25,0.75,1.0] "
			"classlabels_int64s=[0,1]",
			"i64[3]={0,1,1} "
			"f32[3,2]={0.25,-0.25,-0.75,0.75,-1,1}");
	check_evaluated(CLASSIFIER TREE CLASSES
			"class_ids=[0,0,0] class_weights=[-1.0,1.0,2.0] "
			"classlabels_int64s=[0,1] base_values=[1.0] "
			"post_transform=LOGISTIC",
			"i64[3]={0,1,1} f32[3,2]={0.5,0.5,0.1192029,"
			"0.8807971,0.04742587,0.9525741}");
	/* Rounded to single precision 5 times 0.1 is a half, no more. */
	check_evaluated(CLASSIFIER TREE
			"class_treeids=[0,0,0,0,0,0,0] "
			"class_nodeids=[1,1,1,1,1,3,4] "
			"class_ids=[0,0,0,0,0,0,0] "
			"class_weights=[0.1,0.1,0.1,0.1,0.1,1.0,0.0] "
			"classlabels_int64s=[0,1]",
			"i64[3]={0,1,0} f32[3,2]={0.5,0.5,0,1,1,0}");
	check_fails(CLASSIFIER TREE CLASSES
		    "class_ids=[0,1,5] class_weights=[1.0,2.0,3.0] "
		    "classlabels_int64s=[7,8,9]",
		    "'class_ids' has 5");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(walks_to_leaves),
		cmocka_unit_test(joins_trees),
		cmocka_unit_test(chooses_classes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
