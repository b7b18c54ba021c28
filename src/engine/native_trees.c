/* SPDX-License-Identifier: Apache-2.0 */
/*
 * native_trees.c - ensembles of trees: TreeEnsembleClassifier and -Regressor.
 *
 * When the plan is made, the trees become one array of nodes in which the
 * children of a node are neighbours: a step down is child + !(x <= split), and
 * a leaf is its own child.  The address of the next node hangs on the last, so
 * that a walk is one long latency; LANES of them go side by side, of rows, or
 * of trees where there are fewer rows.  Sums are made in the order of trees, in
 * double precision, as the reference kernel makes them.
 */
#include "base/status.h"
#include "compute/parallel.h"
#include "engine/node_steps.h"
#include "graph/op_rules.h"
#include "ops/ref_ml_trees.h"

#include <math.h>
#include <string.h>

#include "base/banned.h"

enum {
	LANES = 8,
	ROWS = 64,          /* that see a tree while it is in the cache */
	BYTES_PER_STEP = 16 /* read from memory in the time of a step down */
};

struct tree_node {
	float split;
	uint32_t feature;
	uint32_t child;         /* where x <= split; the other is next to it */
	unsigned char is_equal; /* x == split is asked instead */
	unsigned char nan_side; /* 1: NaN goes to the second child */
};

/* What a leaf adds: weights of these numbers. */
struct leaf {
	uint32_t first, n;
};
struct weight {
	double value;
	int64_t score;
};

struct ensemble {
	struct sl__ml_trees trees; /* without nodes and weights */
	struct tree_node *nodes;
	struct leaf *leaves; /* by node */
	struct weight *weights;
	uint32_t *roots;
	size_t n_roots, n_nodes, depth_sum;
	int64_t n_rows, n_features;
	int has_equal, is_classifier, is_average;
	enum sl__ml_transform how;
	const int64_t *labels; /* by class */
	unsigned char **at;    /* rows, sums, how many; labels and scores */
	uint32_t at_labels, at_scores; /* SL__NONE: left out */
};

enum { AT_X, AT_SUMS, AT_COUNTS, AT_OUTPUTS };

/* From at[] down to leaves, in every lane a walk over features of its own. */
static void
walk(const struct tree_node *nodes, const float *const *x, uint32_t *at)
{
	uint32_t moved = 1;

	while (moved) {
		moved = 0;
		for (int l = 0; l < LANES; l++) {
			const struct tree_node *node = &nodes[at[l]];
			uint32_t is_second =
				!(x[l][node->feature] <= node->split);
			uint32_t next = node->child + is_second;

			moved |= next ^ at[l];
			at[l] = next;
		}
	}
}

/* The same where a feature may be NaN, or equality is asked. */
static void
walk_any(const struct tree_node *nodes, const float *const *x, uint32_t *at)
{
	uint32_t moved = 1;

	while (moved) {
		moved = 0;
		for (int l = 0; l < LANES; l++) {
			const struct tree_node *node = &nodes[at[l]];
			float v = x[l][node->feature];
			uint32_t next = node->child;

			if (v != v)
				next += node->nan_side;
			else
				next += node->is_equal ? v != node->split
						       : v > node->split;
			moved |= next ^ at[l];
			at[l] = next;
		}
	}
}

static void
add_leaf(const struct ensemble *e, uint32_t at, double *sums, int64_t *counts)
{
	const struct leaf *leaf = &e->leaves[at];

	for (uint32_t i = 0; i < leaf->n; i++) {
		const struct weight *w = &e->weights[leaf->first + i];

		sums[w->score] += w->value;
		counts[w->score]++;
	}
}

typedef void walk_function(const struct tree_node *nodes, const float *const *x,
			   uint32_t *at);

/* One tree, up to LANES rows. */
static void
add_tree(const struct ensemble *e, walk_function *down, uint32_t root,
	 int64_t row, int64_t n)
{
	const float *x = (const float *)e->at[AT_X];
	double *sums = (double *)e->at[AT_SUMS];
	int64_t *counts = (int64_t *)e->at[AT_COUNTS];
	const float *features[LANES];
	uint32_t at[LANES];

	for (int64_t l = 0; l < LANES; l++) {
		features[l] = x + (row + (l < n ? l : 0)) * e->n_features;
		at[l] = root;
	}
	down(e->nodes, features, at);
	for (int64_t l = 0; l < n; l++) {
		int64_t k = (row + l) * e->trees.n_scores;

		add_leaf(e, at[l], sums + k, counts + k);
	}
}

/* One row, all trees. */
static void
add_row(const struct ensemble *e, walk_function *down, int64_t row)
{
	int64_t k = row * e->trees.n_scores;
	double *sums = (double *)e->at[AT_SUMS] + k;
	int64_t *counts = (int64_t *)e->at[AT_COUNTS] + k;
	const float *features[LANES];
	uint32_t at[LANES];

	for (int l = 0; l < LANES; l++)
		features[l] = (const float *)e->at[AT_X] + row * e->n_features;
	for (size_t tree = 0; tree < e->n_roots; tree += LANES) {
		size_t n = e->n_roots - tree;

		for (size_t l = 0; l < LANES; l++)
			at[l] = e->roots[tree + (l < n ? l : 0)];
		down(e->nodes, features, at);
		for (size_t l = 0; l < LANES && l < n; l++)
			add_leaf(e, at[l], sums, counts);
	}
}

static void
add_rows(const struct ensemble *e, int64_t first, int64_t n)
{
	const float *x = (const float *)e->at[AT_X] + first * e->n_features;
	int has_nan = 0;
	walk_function *down;

	for (int64_t i = 0; i < n * e->n_features; i++)
		has_nan |= x[i] != x[i];
	down = has_nan || e->has_equal ? walk_any : walk;
	if (n < LANES) {
		for (int64_t i = 0; i < n; i++)
			add_row(e, down, first + i);
		return;
	}
	for (size_t tree = 0; tree < e->n_roots; tree++) {
		for (int64_t i = 0; i < n; i += LANES)
			add_tree(e, down, e->roots[tree], first + i,
				 n - i < LANES ? n - i : LANES);
	}
}

/* What is handed out of row i. */
static void
finish_row(const struct ensemble *e, int64_t i)
{
	int64_t n = e->trees.n_scores;
	double *row = (double *)e->at[AT_SUMS] + i * n;
	const int64_t *counts = (const int64_t *)e->at[AT_COUNTS] + i * n;

	for (int64_t k = 0; e->is_average && k < n; k++)
		row[k] /= (double)e->n_roots;
	if (e->is_classifier) {
		size_t chosen = sl__ml_trees_classify_row(&e->trees, row,
							  counts, e->how);

		if (e->at_labels != SL__NONE)
			memcpy(e->at[e->at_labels] + 8 * i, &e->labels[chosen],
			       8);
	} else {
		sl__ml_trees_finish_row(&e->trees, row, e->how);
	}
	for (int64_t k = 0; e->at_scores != SL__NONE && k < n; k++)
		((float *)e->at[e->at_scores])[i * n + k] = (float)row[k];
}

static void
part(int rank, int n_ranks, void *ctx)
{
	const struct ensemble *e = ctx;
	size_t n_scores = (size_t)e->trees.n_scores;
	int64_t first, end;

	sl__parallel_range(e->n_rows, rank, n_ranks, &first, &end);
	for (int64_t i = first; i < end; i += ROWS) {
		int64_t n = end - i < ROWS ? end - i : ROWS;
		size_t n_bytes = 8 * (size_t)n * n_scores;

		memset((double *)e->at[AT_SUMS] + i * (int64_t)n_scores, 0,
		       n_bytes);
		memset((int64_t *)e->at[AT_COUNTS] + i * (int64_t)n_scores, 0,
		       n_bytes);
		add_rows(e, i, n);
		for (int64_t row = i; row < i + n; row++)
			finish_row(e, row);
	}
}

/* The node as one that asks x <= split, or x == split; 'next' are its children
 * then, the first where it holds.  0: it cannot be. */
static int
take_node(struct ensemble *e, const struct sl__ml_tree_node *from,
	  struct tree_node *to, size_t *next)
{
	int mode = from->mode;
	int is_turned = mode == SL__ML_GTE || mode == SL__ML_GT ||
			mode == SL__ML_NEQ;
	int is_strict = mode == SL__ML_LT || mode == SL__ML_GTE;
	double split = from->split;

	to->feature = (uint32_t)from->feature;
	to->split = (float)split;
	to->is_equal = mode == SL__ML_EQ || mode == SL__ML_NEQ;
	/* Features are floats: the largest that is not above the split. */
	if ((double)to->split > split ||
	    (is_strict && (double)to->split == split))
		to->split = nextafterf(to->split, -INFINITY);
	next[0] = from->next[!is_turned];
	next[1] = from->next[is_turned];
	/* Where NaN is not told its way, no comparison holds but '!='. */
	to->nan_side = (unsigned char)((from->is_true_of_nan ||
					mode == SL__ML_NEQ) == is_turned);
	e->has_equal |= to->is_equal;
	return !isnan(split) && !(is_strict && isinf(split)) &&
	       !(to->is_equal && (double)to->split != split);
}

static void
take_leaf(struct ensemble *e, const struct sl__ml_tree_node *from, uint32_t at)
{
	e->nodes[at].split = INFINITY;
	e->nodes[at].child = at;
	e->leaves[at].first = (uint32_t)from->first;
	e->leaves[at].n = (uint32_t)from->n;
}

/* The trees one after the other, level by level; origin[] says which of
 * t->nodes each comes from.  0: a node that cannot be taken, or a ring. */
static int
take_nodes(struct ensemble *e, const struct sl__ml_trees *t, size_t *origin)
{
	size_t n = 0;

	for (size_t r = 0; r < t->n_roots; r++) {
		size_t at = n, level_end = n + 1;

		if (n == t->n_nodes)
			return 0;
		e->roots[r] = (uint32_t)n;
		origin[n++] = t->roots[r];
		for (; at < n; at++) {
			const struct sl__ml_tree_node *from =
				&t->nodes[origin[at]];
			size_t next[2];

			if (at == level_end) {
				e->depth_sum++;
				level_end = n;
			}
			if (from->mode == SL__ML_LEAF) {
				take_leaf(e, from, (uint32_t)at);
				continue;
			}
			if (n + 2 > t->n_nodes ||
			    !take_node(e, from, &e->nodes[at], next))
				return 0;
			e->nodes[at].child = (uint32_t)n;
			origin[n++] = next[0];
			origin[n++] = next[1];
		}
	}
	e->n_nodes = n;
	e->n_roots = t->n_roots;
	return 1;
}

static int
take_trees(struct sl__planner *pl, struct ensemble *e,
	   const struct sl__ml_trees *t, struct sl__arena *scratch)
{
	size_t n = t->n_nodes;
	size_t *origin = sl__arena_array(scratch, n, sizeof(*origin));

	if (n >= UINT32_MAX || t->n_weights >= UINT32_MAX ||
	    e->n_features >= UINT32_MAX)
		return 0;
	e->nodes = sl__plan_alloc_state(pl, n * sizeof(*e->nodes));
	e->leaves = sl__plan_alloc_state(pl, n * sizeof(*e->leaves));
	e->roots = sl__plan_alloc_state(pl, n * sizeof(*e->roots));
	e->weights =
		sl__plan_alloc_state(pl, t->n_weights * sizeof(*e->weights));
	e->trees.base = sl__plan_alloc_state(pl, t->n_base * sizeof(double));
	if (!origin)
		sl__planner_keep_status(pl, sl__fail_nomem(pl->err));
	if (pl->rc || !take_nodes(e, t, origin))
		return 0;
	for (size_t i = 0; i < t->n_weights; i++) {
		size_t at = t->leaves[i].at;

		e->weights[i].value = t->weights[at];
		e->weights[i].score = t->scores_of[at];
	}
	for (size_t k = 0; k < t->n_base; k++)
		e->trees.base[k] = t->base[k];
	if (!t->n_base)
		e->trees.base = NULL;
	e->trees.n_base = t->n_base;
	e->trees.n_scores = t->n_scores;
	e->trees.is_single = t->is_single;
	e->trees.is_positive = t->is_positive;
	return 1;
}

/* Attributes as the reference kernel reads them; what it refuses it refuses
 * when it runs. */
static int
read_ensemble(struct sl__planner *pl, const struct sl__node *node,
	      struct ensemble *e)
{
	struct sl__arena scratch;
	struct sl__kernel_call call = {.node = node, .scratch = &scratch};
	struct sl__ml_classes classes = {0};
	struct sl__ml_trees trees;
	enum sl__ml_aggregate way = SL__ML_SUM;
	int is_taken;

	sl__arena_init(&scratch, &pl->program->arena.allocator);
	e->how = sl__ml_transform_read(&call);
	if (e->is_classifier) {
		if (!sl__ml_classes_read(&classes, &call))
			sl__ml_trees_of_classifier(&trees, &call, &classes,
						   e->n_features);
		e->labels = classes.ints;
	} else {
		way = sl__ml_aggregate_read(&call);
		sl__ml_trees_of_regressor(&trees, &call, e->n_features);
	}
	e->is_average = way == SL__ML_AVERAGE;
	is_taken = !call.failure && !classes.words &&
		   (way == SL__ML_SUM || e->is_average) &&
		   take_trees(pl, e, &trees, &scratch);
	sl__arena_release(&scratch);
	return is_taken && !pl->rc;
}

/* Operand 'n' is output k in its own layout, where the node has it. */
static uint32_t
add_output(struct sl__planner *pl, const struct sl__node *node, size_t k,
	   uint32_t *operands, uint32_t *n)
{
	uint32_t value = sl__plan_node_output(node, k);

	if (value == SL__NONE)
		return SL__NONE;
	operands[*n] = sl__plan_output_buffer(pl, value, NULL);
	return (*n)++;
}

static int
has_type(const struct sl__planner *pl, uint32_t value, enum sl_dtype dtype)
{
	return value == SL__NONE ||
	       sl__plan_value_type(pl, value)->dtype == dtype;
}

int
sl__make_trees(struct sl__planner *pl, const struct sl__node *node)
{
	const struct sl__type *x = sl__plan_node_input_type(pl, node, 0);
	struct ensemble *e = sl__plan_alloc_state(pl, sizeof(*e));
	uint32_t operands[AT_OUTPUTS + 2], n = AT_OUTPUTS;
	struct sl__step *step;
	uint64_t n_sums;
	size_t at_scores; /* among the outputs */

	if (!e || x->dtype != SL_DTYPE_F32 || x->rank < 1 || x->rank > 2 ||
	    !sl__plan_value_n_elements(pl, sl__plan_node_input(node, 0)))
		return 0;
	e->is_classifier = sl__is_op(node, SL__OP_ML_TreeEnsembleClassifier);
	at_scores = e->is_classifier ? 1 : 0;
	e->n_features = x->dims[x->rank - 1];
	e->n_rows = x->rank == 2 ? x->dims[0] : 1;
	if ((e->is_classifier &&
	     !has_type(pl, sl__plan_node_output(node, 0), SL_DTYPE_I64)) ||
	    !has_type(pl, sl__plan_node_output(node, at_scores),
		      SL_DTYPE_F32) ||
	    !read_ensemble(pl, node, e))
		return 0;
	n_sums = (uint64_t)(e->n_rows * e->trees.n_scores);
	operands[AT_X] = sl__plan_input_buffer(pl, node->inputs[0], NULL);
	operands[AT_SUMS] = sl__plan_workspace(pl, 8 * n_sums);
	operands[AT_COUNTS] = sl__plan_workspace(pl, 8 * n_sums);
	e->at_labels = SL__NONE;
	if (e->is_classifier)
		e->at_labels = add_output(pl, node, 0, operands, &n);
	e->at_scores = add_output(pl, node, at_scores, operands, &n);
	step = sl__plan_add_parallel_step(pl, operands, n, "trees", part, e);
	step->n_threads = sl__threads_at_most(
		sl__threads_for_bytes(pl->program->n_threads,
				      (uint64_t)e->n_rows * BYTES_PER_STEP *
					      (e->depth_sum + e->n_roots)),
		(e->n_rows + LANES - 1) / LANES);
	e->at = step->at;
	return 1;
}
