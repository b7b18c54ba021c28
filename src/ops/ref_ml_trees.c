/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ref_ml_trees.c - reference kernels of ai.onnx.ml: TreeEnsembleClassifier
 * and TreeEnsembleRegressor.
 *
 * Nodes are named by the number of their tree and their own; leaves add
 * weights to classes or targets.  What the standard leaves open about two
 * classes is done as in ONNX Runtime.
 */
#include "ops/ref_ml_trees.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/banned.h"

static int
compare_places(const void *a, const void *b)
{
	const struct sl__ml_tree_place *x = a, *y = b;

	if (x->tree != y->tree)
		return x->tree < y->tree ? -1 : 1;
	if (x->node != y->node)
		return x->node < y->node ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

/* Rows in the order of trees and nodes, which most files have already. */
static struct sl__ml_tree_place *
read_places(struct sl__kernel_call *ev, const char *trees, const char *nodes,
	    size_t *n)
{
	const int64_t *tree, *node;
	size_t n_nodes = sl__attribute_ints(ev->node, nodes, &node);
	struct sl__ml_tree_place *places;
	int is_sorted = 1;

	*n = sl__attribute_ints(ev->node, trees, &tree);
	places = sl__ref_scratch(ev, *n, sizeof(*places));
	if (ev->failure || *n != n_nodes) {
		sl__ref_reject(ev, "'%s' and '%s' have other lengths", trees,
			       nodes);
		return NULL;
	}
	for (size_t i = 0; i < *n; i++) {
		places[i] = (struct sl__ml_tree_place){tree[i], node[i], i};
		is_sorted &= i == 0 ||
			     compare_places(&places[i - 1], &places[i]) < 0;
	}
	if (!is_sorted)
		qsort(places, *n, sizeof(*places), compare_places);
	return places;
}

/* The first row of a node, or that of the next there is. */
static size_t
find_place(const struct sl__ml_tree_place *places, size_t n, int64_t tree,
	   int64_t node)
{
	struct sl__ml_tree_place wanted = {tree, node, 0};
	size_t low = 0, high = n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (compare_places(&places[middle], &wanted) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Numbers of the attribute, or of the one that holds doubles; NULL where it
 * has neither, and a failure where they are not n; n SIZE_MAX: any. */
static double *
read_doubles(struct sl__kernel_call *ev, const char *name,
	     const char *name_of_doubles, size_t *n)
{
	const struct sl__attribute *a =
		sl__attribute_find(ev->node, name_of_doubles);
	const float *floats;
	size_t n_floats = sl__ml_floats(ev, name, &floats);
	int is_tensor = a && a->kind == SL__ATTRIBUTE_TENSOR;
	size_t has = is_tensor ? (size_t)a->tensor->n_elements : n_floats;
	double *numbers;

	if (*n == SIZE_MAX)
		*n = has;
	numbers = sl__ref_scratch(ev, has, sizeof(*numbers));
	if (!numbers || has != *n ||
	    (is_tensor && !sl__tensor_doubles(a->tensor, 0, has, numbers))) {
		sl__ref_reject(ev, "'%s' has %zu numbers, not %zu", name, has,
			       *n);
		return NULL;
	}
	for (size_t i = 0; !is_tensor && i < has; i++)
		numbers[i] = (double)floats[i];
	return has ? numbers : NULL;
}

static int
mode_of(const char *word)
{
	static const char *const words[] = {
		"BRANCH_LEQ", "BRANCH_LT",  "BRANCH_GTE", "BRANCH_GT",
		"BRANCH_EQ",  "BRANCH_NEQ", "LEAF"};
	int mode = 0;

	while (mode < SL__ML_N_MODES && strcmp(word, words[mode]) != 0)
		mode++;
	return mode;
}

/* Rows of attributes as the model has them. */
struct rows {
	const int64_t *features, *next[2], *nan;
	const char *const *modes;
	const double *splits;
	size_t n_nan;
};

static enum sl_status
read_rows(struct rows *r, struct sl__kernel_call *ev, size_t n)
{
	const struct sl__attribute *modes =
		sl__attribute_find(ev->node, "nodes_modes");

	r->splits =
		read_doubles(ev, "nodes_values", "nodes_values_as_tensor", &n);
	r->modes = modes ? modes->strings : NULL;
	r->n_nan = sl__attribute_ints(
		ev->node, "nodes_missing_value_tracks_true", &r->nan);
	if (ev->failure)
		return ev->failure;
	if (!n || !r->modes || modes->n != n ||
	    sl__attribute_ints(ev->node, "nodes_featureids", &r->features) !=
		    n ||
	    sl__attribute_ints(ev->node, "nodes_falsenodeids", &r->next[0]) !=
		    n ||
	    sl__attribute_ints(ev->node, "nodes_truenodeids", &r->next[1]) !=
		    n ||
	    (r->n_nan && r->n_nan != n))
		return sl__ref_reject(ev, "its nodes' attributes have other "
					  "lengths");
	return SL_OK;
}

/* Node i of the order from its row, and where its children are. */
static enum sl_status
read_node(struct sl__ml_trees *t, struct sl__kernel_call *ev,
	  const struct rows *r, size_t i, int64_t n_features)
{
	const struct sl__ml_tree_place *p = &t->places[i];
	struct sl__ml_tree_node *node = &t->nodes[i];
	int mode = mode_of(r->modes[p->at]);

	if (mode == SL__ML_N_MODES)
		return sl__ref_reject(ev, "a mode of '%.30s'", r->modes[p->at]);
	node->mode = (unsigned char)mode;
	node->split = r->splits[p->at];
	node->feature = r->features[p->at];
	node->is_true_of_nan = r->n_nan && r->nan[p->at];
	if (mode == SL__ML_LEAF) {
		node->first =
			find_place(t->leaves, t->n_weights, p->tree, p->node);
		while (node->first + node->n < t->n_weights &&
		       t->leaves[node->first + node->n].tree == p->tree &&
		       t->leaves[node->first + node->n].node == p->node)
			node->n++;
		return SL_OK;
	}
	if (node->feature < 0 || node->feature >= n_features)
		return sl__ref_reject(ev, "a feature of %lld",
				      (long long)node->feature);
	for (size_t side = 0; side < 2; side++) {
		int64_t wanted = r->next[side][p->at];
		size_t at = find_place(t->places, t->n_nodes, p->tree, wanted);

		if (at == t->n_nodes || t->places[at].tree != p->tree ||
		    t->places[at].node != wanted)
			return sl__ref_reject(ev, "tree %lld has no node %lld",
					      (long long)p->tree,
					      (long long)wanted);
		node->next[side] = at;
	}
	return SL_OK;
}

/* The root of a tree is the first of its rows. */
static void
find_roots(struct sl__ml_trees *t)
{
	for (size_t i = 0; i < t->n_nodes; i++) {
		size_t *root;

		if (i == 0 || t->places[i].tree != t->places[i - 1].tree)
			t->roots[t->n_roots++] = i;
		root = &t->roots[t->n_roots - 1];
		if (t->places[i].at < t->places[*root].at)
			*root = i;
	}
}

/* 'part' is "class" or "target". */
static enum sl_status
read_trees(struct sl__ml_trees *t, struct sl__kernel_call *ev,
	   const char *const *part, int64_t n_features)
{
	struct rows rows;

	t->places =
		read_places(ev, "nodes_treeids", "nodes_nodeids", &t->n_nodes);
	t->leaves = read_places(ev, part[0], part[1], &t->n_weights);
	if (ev->failure || read_rows(&rows, ev, t->n_nodes))
		return ev->failure;
	t->weights = read_doubles(ev, part[3], part[4], &t->n_weights);
	t->n_base = SIZE_MAX;
	t->base = read_doubles(ev, "base_values", "base_values_as_tensor",
			       &t->n_base);
	t->nodes = sl__ref_scratch(ev, t->n_nodes, sizeof(*t->nodes));
	t->roots = sl__ref_scratch(ev, t->n_nodes, sizeof(*t->roots));
	if (!ev->failure && sl__attribute_ints(ev->node, part[2],
					       &t->scores_of) != t->n_weights)
		sl__ref_reject(ev, "'%s' does not have %zu elements", part[2],
			       t->n_weights);
	for (size_t i = 0; !ev->failure && i < t->n_weights; i++) {
		if (t->scores_of[i] < 0 || t->scores_of[i] >= t->n_scores)
			sl__ref_reject(ev, "'%s' has %lld", part[2],
				       (long long)t->scores_of[i]);
	}
	for (size_t i = 0; !ev->failure && i < t->n_nodes; i++)
		read_node(t, ev, &rows, i, n_features);
	if (!ev->failure)
		find_roots(t);
	return ev->failure;
}

static int
is_taken(const struct sl__ml_tree_node *node, double x)
{
	if (isnan(x) && node->is_true_of_nan)
		return 1;
	switch (node->mode) {
	case SL__ML_LEQ:
		return x <= node->split;
	case SL__ML_LT:
		return x < node->split;
	case SL__ML_GTE:
		return x >= node->split;
	case SL__ML_GT:
		return x > node->split;
	case SL__ML_EQ:
		return x == node->split;
	default:
		return x != node->split;
	}
}

/* The leaf that a row of features comes to; NULL: the nodes are a ring. */
static const struct sl__ml_tree_node *
find_leaf(const struct sl__ml_trees *t, size_t root, const double *x)
{
	const struct sl__ml_tree_node *node = &t->nodes[root];

	for (size_t n = 0; n <= t->n_nodes; n++) {
		if (node->mode == SL__ML_LEAF)
			return node;
		node = &t->nodes[node->next[is_taken(node, x[node->feature])]];
	}
	return NULL;
}

/* The scores of a row without the base; n[] counts what each was made of. */
static enum sl_status
add_leaves(struct sl__kernel_call *ev, const struct sl__ml_trees *t,
	   const double *x, enum sl__ml_aggregate how, double *scores,
	   int64_t *n)
{
	memset(n, 0, (size_t)t->n_scores * sizeof(*n));
	for (int64_t k = 0; k < t->n_scores; k++)
		scores[k] = 0;
	for (size_t r = 0; r < t->n_roots; r++) {
		const struct sl__ml_tree_node *leaf =
			find_leaf(t, t->roots[r], x);

		if (!leaf)
			return sl__ref_reject(ev, "a tree comes back to its "
						  "nodes");
		for (size_t i = leaf->first; i < leaf->first + leaf->n; i++) {
			size_t at = t->leaves[i].at;
			int64_t k = t->scores_of[at];
			double w = t->weights[at];

			if (n[k]++ == 0 ||
			    (how != SL__ML_MIN && how != SL__ML_MAX))
				scores[k] += w;
			else
				scores[k] = how == SL__ML_MIN
						    ? fmin(scores[k], w)
						    : fmax(scores[k], w);
		}
	}
	for (int64_t k = 0; how == SL__ML_AVERAGE && k < t->n_scores; k++)
		scores[k] /= (double)t->n_roots;
	return SL_OK;
}

enum sl_status
sl__ml_trees_of_regressor(struct sl__ml_trees *trees,
			  struct sl__kernel_call *ev, int64_t n_features)
{
	static const char *const parts[] = {"target_treeids", "target_nodeids",
					    "target_ids", "target_weights",
					    "target_weights_as_tensor"};

	*trees = (struct sl__ml_trees){
		.n_scores = sl__attribute_int(ev->node, "n_targets", 1)};
	if (read_trees(trees, ev, parts, n_features))
		return ev->failure;
	if (trees->n_base && trees->n_base != (size_t)trees->n_scores)
		sl__ref_reject(ev, "%zu base values for %lld targets",
			       trees->n_base, (long long)trees->n_scores);
	return ev->failure;
}

enum sl__ml_aggregate
sl__ml_aggregate_read(struct sl__kernel_call *ev)
{
	static const char *const ways[] = {"SUM", "AVERAGE", "MIN", "MAX",
					   NULL};

	return (enum sl__ml_aggregate)sl__ref_attribute_choice(
		ev, "aggregate_function", ways);
}

void
sl__ml_trees_finish_row(const struct sl__ml_trees *t, double *row,
			enum sl__ml_transform how)
{
	for (int64_t k = 0; t->base && k < t->n_scores; k++)
		row[k] += t->base[k];
	sl__ml_transform_scores(row, t->n_scores, how);
}

enum sl_status
sl__ref_tree_regressor(struct sl__kernel_call *ev)
{
	enum sl__ml_transform how = sl__ml_transform_read(ev);
	enum sl__ml_aggregate way = sl__ml_aggregate_read(ev);
	const double *x = sl__ref_input_doubles(ev, 0);
	double *y = sl__ref_scratch_output(ev, 0);
	struct sl__ml_trees t;
	int64_t n_rows, n_features, *n;

	sl__ml_rows(ev, &n_rows, &n_features);
	if (ev->failure || sl__ref_output_is_empty(ev) ||
	    sl__ml_trees_of_regressor(&t, ev, n_features))
		return ev->failure;
	n = sl__ref_scratch_integers(ev, t.n_scores);
	for (int64_t i = 0; !ev->failure && i < n_rows; i++) {
		double *row = y + i * t.n_scores;

		if (!add_leaves(ev, &t, x + i * n_features, way, row, n))
			sl__ml_trees_finish_row(&t, row, how);
	}
	return ev->failure ? ev->failure
			   : sl__ref_output_store_doubles(ev, 0, y);
}

static void
look_at_weights(struct sl__ml_trees *t)
{
	t->is_single = t->n_scores == 2;
	t->is_positive = 1;
	for (size_t i = 0; i < t->n_weights; i++) {
		t->is_single &= t->scores_of[i] == t->scores_of[0];
		t->is_positive &= !(t->weights[i] < 0);
	}
}

/*
 * Two classes.  Where leaves gave the second nothing, the score of the first is
 * that of the pair; bases of both then make it one of each again.
 */
static size_t
decide_pair(const struct sl__ml_trees *t, double *row, const int64_t *n,
	    enum sl__ml_transform how)
{
	int has_second = n[1] > 0;
	double score;
	size_t chosen;

	if (t->n_base == 2 && has_second) {
		row[1] = t->base[1] + row[0];
		row[0] = -row[1];
	} else if (t->n_base == 2) {
		row[1] += t->base[1];
		row[0] += t->base[0];
		has_second = 1;
	} else if (t->n_base == 1) {
		row[0] += t->base[0];
	}
	/* As outputs have it: sums of tenths then are not above a half. */
	score = (double)(float)(has_second ? row[1] : row[0]);
	chosen = (size_t)(score > (t->is_single && t->is_positive ? 0.5 : 0));
	if (!t->is_single && has_second)
		chosen = sl__ml_largest(row, 2);
	if (has_second)
		sl__ml_transform_scores(row, 2, how);
	else
		sl__ml_transform_pair(row,
				      t->is_single && !t->is_positive
					      ? SL__ML_OPPOSITE
					      : SL__ML_COMPLEMENT,
				      how);
	return chosen;
}

size_t
sl__ml_trees_classify_row(const struct sl__ml_trees *t, double *row,
			  const int64_t *n, enum sl__ml_transform how)
{
	size_t chosen;

	if (t->n_scores == 2)
		return decide_pair(t, row, n, how);
	for (int64_t k = 0; t->base && k < t->n_scores; k++)
		row[k] += t->base[k];
	chosen = sl__ml_largest(row, (size_t)t->n_scores);
	sl__ml_transform_scores(row, t->n_scores, how);
	return chosen;
}

enum sl_status
sl__ml_trees_of_classifier(struct sl__ml_trees *trees,
			   struct sl__kernel_call *ev,
			   const struct sl__ml_classes *classes,
			   int64_t n_features)
{
	static const char *const parts[] = {"class_treeids", "class_nodeids",
					    "class_ids", "class_weights",
					    "class_weights_as_tensor"};

	*trees = (struct sl__ml_trees){.n_scores = (int64_t)classes->n};
	if (read_trees(trees, ev, parts, n_features))
		return ev->failure;
	look_at_weights(trees);
	if (trees->n_base && trees->n_base != classes->n &&
	    (classes->n != 2 || trees->n_base != 1))
		sl__ref_reject(ev, "%zu base values for %zu classes",
			       trees->n_base, classes->n);
	return ev->failure;
}

enum sl_status
sl__ref_tree_classifier(struct sl__kernel_call *ev)
{
	enum sl__ml_transform how = sl__ml_transform_read(ev);
	const double *x = sl__ref_input_doubles(ev, 0);
	struct sl__ml_classes classes;
	struct sl__ml_trees t;
	int64_t n_rows, n_features, *n;
	double *scores;
	size_t *chosen;

	sl__ml_rows(ev, &n_rows, &n_features);
	if (ev->failure || sl__ml_classes_read(&classes, ev) ||
	    sl__ml_trees_of_classifier(&t, ev, &classes, n_features))
		return ev->failure;
	n = sl__ref_scratch_integers(ev, t.n_scores);
	scores = sl__ref_scratch_doubles(ev, n_rows * t.n_scores);
	chosen = sl__ref_scratch(ev, (size_t)n_rows, sizeof(*chosen));
	for (int64_t i = 0; !ev->failure && i < n_rows; i++) {
		double *row = scores + i * t.n_scores;

		if (!add_leaves(ev, &t, x + i * n_features, SL__ML_SUM, row, n))
			chosen[i] = sl__ml_trees_classify_row(&t, row, n, how);
	}
	sl__ml_classes_store(&classes, ev, chosen, n_rows);
	if (ev->failure || !sl__ref_output(ev, 1))
		return ev->failure;
	return sl__ref_output_store_doubles(ev, 1, scores);
}
