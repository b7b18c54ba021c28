/* SPDX-License-Identifier: Apache-2.0 */
/* ref_ml_trees.h - the trees of TreeEnsembleClassifier and -Regressor. */
#ifndef SL_REF_ML_TREES_H
#define SL_REF_ML_TREES_H

#include "ops/ref_ml_scores.h"

enum sl__ml_tree_mode {
	SL__ML_LEQ,
	SL__ML_LT,
	SL__ML_GTE,
	SL__ML_GT,
	SL__ML_EQ,
	SL__ML_NEQ,
	SL__ML_LEAF,
	SL__ML_N_MODES
};
enum sl__ml_aggregate { SL__ML_SUM, SL__ML_AVERAGE, SL__ML_MIN, SL__ML_MAX };

/* Where row 'at' of parallel attributes belongs. */
struct sl__ml_tree_place {
	int64_t tree, node;
	size_t at;
};

struct sl__ml_tree_node {
	double split;
	int64_t feature;
	size_t next[2];  /* where it does not hold, where it does */
	size_t first, n; /* places of a leaf's weights */
	unsigned char mode, is_true_of_nan;
};

struct sl__ml_trees {
	struct sl__ml_tree_node *nodes;
	struct sl__ml_tree_place *places, *leaves; /* of nodes, of weights; in
						      order */
	size_t n_nodes, n_weights, n_roots;
	size_t *roots;
	int64_t n_scores;
	const int64_t *scores_of; /* by weight: the class or target */
	double *weights, *base;   /* base: NULL for none */
	size_t n_base;
	/* Of classifiers: */
	int is_single;   /* two classes, and all weights are of one of them */
	int is_positive; /* no weight is below 0 */
};

/* Reads the node's attributes into ev->scratch, checked; inputs and outputs of
 * 'ev' are not looked at. */
enum sl_status sl__ml_trees_of_regressor(struct sl__ml_trees *trees,
					 struct sl__kernel_call *ev,
					 int64_t n_features);
enum sl_status sl__ml_trees_of_classifier(struct sl__ml_trees *trees,
					  struct sl__kernel_call *ev,
					  const struct sl__ml_classes *classes,
					  int64_t n_features);

enum sl__ml_aggregate sl__ml_aggregate_read(struct sl__kernel_call *ev);

/* Makes the answer of a row's sums, in place.  A classifier's n[] says how many
 * weights each was made of; it returns the number of the class.  Of 'trees'
 * neither nodes nor weights are looked at. */
void sl__ml_trees_finish_row(const struct sl__ml_trees *trees, double *row,
			     enum sl__ml_transform how);
size_t sl__ml_trees_classify_row(const struct sl__ml_trees *trees, double *row,
				 const int64_t *n, enum sl__ml_transform how);

#endif
