/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_native_trees.c - ensembles of trees against their reference kernels:
 * fewer and more rows than walk side by side, all comparisons, and NaN.
 */
#include "engine_case.h"

enum { DEPTH = 2, N_TREES = 9, FEATURES = 3, TEXT_MOST = 16 * 1024 };

/* One attribute: element i of 'n_trees' full trees, of which 'nodes' or leaves
 * are listed, is what 'format' makes of what value() says. */
struct list {
	const char *name;
	int leaves; /* of them alone */
	int quoted;
	const char *(*value)(char *text, int tree, int node, int mode);
};

enum { N_NODES = (2 << DEPTH) - 1, FIRST_LEAF = (1 << DEPTH) - 1 };

static int
mixed(int a, int b, int n)
{
	uint32_t x = (uint32_t)(a * 7919 + b * 104729 + 12345) * 2654435761u;

	return (int)((x >> 15) % (uint32_t)n);
}

static const char *
number(char *text, int value)
{
	snprintf(text, 32, "%d", value);
	return text;
}

static const char *
tree_of(char *text, int tree, int node, int mode)
{
	(void)node, (void)mode;
	return number(text, 3 * tree);
}

static const char *
node_of(char *text, int tree, int node, int mode)
{
	(void)tree, (void)mode;
	return number(text, node);
}

static const char *
feature_of(char *text, int tree, int node, int mode)
{
	(void)mode;
	return number(text,
		      node < FIRST_LEAF ? mixed(tree, node, FEATURES) : 0);
}

/* Whole numbers, as the features are: so that all comparisons differ. */
static const char *
split_of(char *text, int tree, int node, int mode)
{
	(void)mode;
	snprintf(text, 32, "%d.0", mixed(node, tree, 5) - 2);
	return text;
}

static const char *
mode_of(char *text, int tree, int node, int mode)
{
	static const char *const words[] = {"BRANCH_LEQ", "BRANCH_LT",
					    "BRANCH_GTE", "BRANCH_GT",
					    "BRANCH_EQ",  "BRANCH_NEQ"};

	(void)text;
	if (node >= FIRST_LEAF)
		return "LEAF";
	return words[mode < 6 ? mode : mixed(node, tree + 3, 6)];
}

static const char *
true_of(char *text, int tree, int node, int mode)
{
	(void)tree, (void)mode;
	return number(text, node < FIRST_LEAF ? 2 * node + 1 : 0);
}

static const char *
false_of(char *text, int tree, int node, int mode)
{
	(void)tree, (void)mode;
	return number(text, node < FIRST_LEAF ? 2 * node + 2 : 0);
}

static const char *
nan_of(char *text, int tree, int node, int mode)
{
	(void)mode;
	return number(text, mixed(node + 5, tree, 2));
}

static const char *
score_of(char *text, int tree, int node, int mode)
{
	(void)mode;
	return number(text, mixed(node, tree, 3));
}

static const char *
weight_of(char *text, int tree, int node, int mode)
{
	(void)mode;
	snprintf(text, 32, "%d.25", mixed(tree, node + 9, 17) - 8);
	return text;
}

static void
add_list(char *to, const struct list *list, int mode)
{
	size_t n = strlen(to);
	char text[32];

	n += (size_t)sprintf(to + n, "%s=[", list->name);
	for (int tree = 0; tree < N_TREES; tree++) {
		for (int node = list->leaves ? FIRST_LEAF : 0; node < N_NODES;
		     node++) {
			const char *word = list->value(text, tree, node, mode);

			n += (size_t)sprintf(
				to + n, list->quoted ? "'%s'," : "%s,", word);
		}
	}
	assert_true(n < TEXT_MOST - 1024);
	strcpy(to + n - 1, "] ");
}

static const struct list node_lists[] = {
	{"nodes_treeids", 0, 0, tree_of},
	{"nodes_nodeids", 0, 0, node_of},
	{"nodes_featureids", 0, 0, feature_of},
	{"nodes_values", 0, 0, split_of},
	{"nodes_modes", 0, 1, mode_of},
	{"nodes_truenodeids", 0, 0, true_of},
	{"nodes_falsenodeids", 0, 0, false_of},
	{"nodes_missing_value_tracks_true", 0, 0, nan_of},
};

static const struct list target_lists[] = {
	{"target_treeids", 1, 0, tree_of},
	{"target_nodeids", 1, 0, node_of},
	{"target_ids", 1, 0, score_of},
	{"target_weights", 1, 0, weight_of},
};

static const struct list class_lists[] = {
	{"class_treeids", 1, 0, tree_of},
	{"class_nodeids", 1, 0, node_of},
	{"class_ids", 1, 0, score_of},
	{"class_weights", 1, 0, weight_of},
};

/* Comparisons are 'mode', or with 6 all of them. */
static void
check_ensemble(int n_rows, int mode, int is_classifier, const char *rest)
{
	static char text[TEXT_MOST];
	const struct list *lists = is_classifier ? class_lists : target_lists;
	struct engine_case c = {.text = text, .low = -3, .high = 3};

	sprintf(text, "ai.onnx.ml.TreeEnsemble%s 1 (f32[%d,%d]) ",
		is_classifier ? "Classifier" : "Regressor", n_rows, FEATURES);
	for (size_t i = 0; i < 8; i++)
		add_list(text, &node_lists[i], mode);
	for (size_t i = 0; i < 4; i++)
		add_list(text, &lists[i], mode);
	strcat(text, rest);
	check_case(&c);
	c.has_ends = 1;
	check_case(&c);
}

static void
walks_all_modes(void **state)
{
	(void)state;
	for (int mode = 0; mode < 7; mode++) {
		check_ensemble(1, mode, 0, "n_targets=3");
		check_ensemble(21, mode, 0, "n_targets=3");
	}
}

static void
finishes_rows(void **state)
{
	static const char *const regressors[] = {
		"n_targets=3 base_values=[0.5,1.5,-2.0]",
		"n_targets=4 aggregate_function=AVERAGE",
		"n_targets=3 post_transform=SOFTMAX"};
	static const char *const classifiers[] = {
		"classlabels_int64s=[7,8,9]",
		"classlabels_int64s=[3,-1,2,5] post_transform=SOFTMAX_ZERO",
		"classlabels_int64s=[0,1,2] base_values=[0.5,0.0,1.0] "
		"post_transform=LOGISTIC"};

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		check_ensemble(7, 0, 0, regressors[i]);
		check_ensemble(150, 1, 0, regressors[i]);
		check_ensemble(7, 2, 1, classifiers[i]);
		check_ensemble(150, 6, 1, classifiers[i]);
	}
}

/* x0 <= 0 ? a : b. */
#define STUMP                                                 \
	"nodes_treeids=[0,0,0] nodes_nodeids=[0,1,2] "        \
	"nodes_featureids=[0,0,0] nodes_values=[0.0,0.0,0.0]" \
	" nodes_modes=['BRANCH_LEQ','LEAF','LEAF'] "          \
	"nodes_truenodeids=[1,0,0] nodes_falsenodeids=[2,0,0] "
#define PAIR                                                    \
	"ai.onnx.ml.TreeEnsembleClassifier 1 (f32[9,2]) " STUMP \
	"class_treeids=[0,0] class_nodeids=[1,2] "

static void
decides_pairs(void **state)
{
	(void)state;
	check_kernel(PAIR "class_ids=[0,0] class_weights=[0.25,0.75] "
			  "classlabels_int64s=[4,5]");
	check_kernel(PAIR "class_ids=[1,1] class_weights=[-0.25,0.75] "
			  "classlabels_int64s=[4,5] base_values=[0.1,0.2]");
	check_kernel(PAIR "class_ids=[0,1] class_weights=[-0.25,0.75] "
			  "classlabels_int64s=[4,5] post_transform=LOGISTIC");
}

/* Strings, minima and features that are no floats go another way. */
static void
leaves_others(void **state)
{
	(void)state;
	check_case(&(struct engine_case){
		"ai.onnx.ml.TreeEnsembleRegressor 1 (f64[9,2]) " STUMP
		"target_treeids=[0,0] target_nodeids=[1,2] target_ids=[0,0] "
		"target_weights=[1.0,2.0] n_targets=1",
		.is_reference = 1});
	check_case(&(struct engine_case){
		"ai.onnx.ml.TreeEnsembleRegressor 1 (f32[9,2]) " STUMP
		"target_treeids=[0,0] target_nodeids=[1,2] target_ids=[0,0] "
		"target_weights=[1.0,2.0] n_targets=1 aggregate_function=MIN",
		.is_reference = 1});
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(walks_all_modes),
		cmocka_unit_test(finishes_rows),
		cmocka_unit_test(decides_pairs),
		cmocka_unit_test(leaves_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
