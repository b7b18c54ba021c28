/* SPDX-License-Identifier: Apache-2.0 */
/*
 * op_ml.c - operators of ai.onnx.ml: what came before neural networks.
 *
 * Inputs are rows of features ([rows][features], or one row); the weights are
 * attributes, which the traffic of a node does not include: linear models add
 * theirs.
 */
#include "graph/op_rules.h"
#include "ops/cost.h"
#include "ops/list_input.h"

#include <string.h>

#include "base/banned.h"

static size_t
n_of(struct sl__rule_context *call, const char *name)
{
	const struct sl__attribute *a = sl__attribute_find(call->node, name);

	return a ? a->n : 0;
}

/* Rows of the input; a single one where it has one dimension. */
static int64_t
rows_of(struct sl__rule_context *call)
{
	int rank = sl__in_rank(call, 0);

	if (rank < 0)
		return sl__size_new_unknown(call->shapes);
	return rank < 2 ? 1 : sl__in_type(call, 0)->dims[0];
}

enum sl_status
sl__infer_ml_like(struct sl__rule_context *call)
{
	return sl__out_set_like_input(call, 0, 0, SL_DTYPE_NONE);
}

enum sl_status
sl__infer_ml_float(struct sl__rule_context *call)
{
	return sl__out_set_like_input(call, 0, 0, SL_DTYPE_F32);
}

void
sl__cost_scaler(struct sl__rule_context *call, struct sl_cost *cost)
{
	(void)call;
	cost->add = cost->mul = cost->out_elements;
}

/* The norm of each row, and a division by it. */
void
sl__cost_normalizer(struct sl__rule_context *call, struct sl_cost *cost)
{
	const char *norm = sl__attribute_string(call->node, "norm", "MAX");

	cost->div = cost->out_elements;
	if (!strcmp(norm, "L2")) {
		cost->fma = cost->in_elements;
		cost->exp = sl__in_rank(call, 0) < 2 ? 1
						     : sl__in_dim(call, 0, 0);
	} else if (!strcmp(norm, "L1")) {
		cost->add = cost->in_elements;
	} else {
		cost->cmp = cost->in_elements;
	}
}

static enum sl_dtype
dtype_of_labels(struct sl__rule_context *call)
{
	const struct sl__attribute *a =
		sl__attribute_find(call->node, "values_tensor");

	if (a && a->kind == SL__ATTRIBUTE_TENSOR)
		return a->tensor->dtype;
	if (n_of(call, "values_strings"))
		return SL_DTYPE_STRING;
	if (n_of(call, "values_floats"))
		return SL_DTYPE_F32;
	if (n_of(call, "values_int64s"))
		return SL_DTYPE_I64;
	/* The first version maps strings to their places, and back. */
	return sl__in_dtype(call, 0) == SL_DTYPE_STRING ? SL_DTYPE_I64
							: SL_DTYPE_STRING;
}

/* LabelEncoder and CategoryMapper. */
enum sl_status
sl__infer_labels(struct sl__rule_context *call)
{
	return sl__out_set_like_input(call, 0, 0, dtype_of_labels(call));
}

enum sl_status
sl__infer_one_hot_encoder(struct sl__rule_context *call)
{
	size_t n = n_of(call, "cats_int64s");

	n = n ? n : n_of(call, "cats_strings");
	return sl__out_set_input_dims_plus(call, SL_DTYPE_F32, (int64_t)n);
}

enum sl_status
sl__infer_dict_vectorizer(struct sl__rule_context *call)
{
	size_t n_words = n_of(call, "string_vocabulary");
	size_t n = n_words ? n_words : n_of(call, "int64_vocabulary");
	int64_t dims[2] = {1, (int64_t)n};

	return sl__out_set_shape(call, 0, SL_DTYPE_NONE, 2, dims);
}

/* A list of tables, one a row: they have no shape. */
enum sl_status
sl__infer_zip_map(struct sl__rule_context *call)
{
	static const struct sl__type table = {.kind = SL__TYPE_MAP, .rank = -1};
	static const struct sl__type list = {
		.kind = SL__TYPE_SEQUENCE, .rank = -1, .element = &table};

	return sl__out_set_type(call, 0, &list);
}

enum sl_status
sl__infer_cast_map(struct sl__rule_context *call)
{
	int64_t n = sl__attribute_int(call->node, "max_map", 1);
	const char *to =
		sl__attribute_string(call->node, "cast_to", "TO_FLOAT");
	int64_t dims[2] = {1, n > 0 ? n : 1};

	if (strcmp(sl__attribute_string(call->node, "map_layout", "DENSE"),
		   "SPARSE") != 0)
		dims[1] = sl__size_new_unknown(call->shapes);
	return sl__out_set_shape(call, 0,
				 !strcmp(to, "TO_STRING")  ? SL_DTYPE_STRING
				 : !strcmp(to, "TO_INT64") ? SL_DTYPE_I64
							   : SL_DTYPE_F32,
				 2, dims);
}

enum sl_status
sl__infer_feature_extractor(struct sl__rule_context *call)
{
	const struct sl__type *in = sl__in_type(call, 0),
			      *at = sl__in_type(call, 1);
	int rank = sl__in_rank(call, 0), n_at = sl__in_rank(call, 1);
	int64_t *dims, n;

	if (rank < 1 || n_at < 0)
		return sl__out_set_dtype_only(call, 0, sl__in_dtype(call, 0));
	n = sl__size_product(call->shapes, at->dims, n_at);
	if (rank == 1)
		return sl__out_set_shape(call, 0, in->dtype, 2,
					 (int64_t[]){1, n});
	dims = sl__sizes_copy_from_input(call, 0);
	if (dims)
		dims[rank - 1] = n;
	return sl__out_set_shape(call, 0, in->dtype, rank, dims);
}

enum sl_status
sl__infer_feature_vectorizer(struct sl__rule_context *call)
{
	struct sl__integer_list widths =
		sl__integer_list_read(call, SIZE_MAX, "inputdimensions");
	int64_t dims[2] = {rows_of(call), 0};

	for (int64_t i = 0; widths.values && i < widths.n; i++) {
		dims[1] = sl__size_add(call->shapes, dims[1],
				       widths.values[i] < 0 ? 0
							    : widths.values[i]);
		if (dims[1] == -1)
			return sl__rule_reject(call,
					       "its output has more than 2^63 "
					       "elements");
	}
	if (!widths.values)
		dims[1] = sl__size_new_unknown(call->shapes);
	return sl__out_set_shape(call, 0, SL_DTYPE_F32, 2, dims);
}

/* Labels that a classifier knows. */
static size_t
n_classes(struct sl__rule_context *call, int *are_strings)
{
	static const char *const names[] = {"classlabels_ints",
					    "classlabels_int64s"};
	size_t n = n_of(call, "classlabels_strings");

	*are_strings = n > 0;
	for (size_t i = 0; i < 2 && !n; i++)
		n = n_of(call, names[i]);
	return n;
}

/* The label of each row, and a score for each class. */
enum sl_status
sl__infer_classifier(struct sl__rule_context *call)
{
	int are_strings;
	size_t n = n_classes(call, &are_strings);
	int64_t dims[2] = {rows_of(call), (int64_t)n};

	sl__out_set_shape(call, 0, are_strings ? SL_DTYPE_STRING : SL_DTYPE_I64,
			  1, dims);
	if (!n)
		dims[1] = sl__size_new_unknown(call->shapes);
	/* Without probabilities there is a score for each pair of classes. */
	if (sl__is_op(call->node, SL__OP_ML_SVMClassifier) && n > 2 &&
	    n < INT32_MAX && n_of(call, "vectors_per_class") &&
	    !n_of(call, "prob_a"))
		dims[1] = (int64_t)(n * (n - 1) / 2);
	return sl__out_set_shape(call, 1, SL_DTYPE_F32, 2, dims);
}

/* Linear and tree regressors: a number for each target. */
enum sl_status
sl__infer_regressor(struct sl__rule_context *call)
{
	int64_t n =
		sl__attribute_int(call->node, "n_targets",
				  sl__attribute_int(call->node, "targets", 1));
	int64_t dims[2] = {rows_of(call), n < 0 ? -1 : n};
	enum sl_dtype dtype = sl__is_op(call->node, SL__OP_ML_TreeEnsemble)
				      ? sl__in_dtype(call, 0)
				      : SL_DTYPE_F32;

	return sl__out_set_shape(call, 0, dtype, 2, dims);
}

/* Rows and features of the input, as counts. */
static uint64_t
count_rows(struct sl__rule_context *call)
{
	return sl__in_rank(call, 0) < 2 ? 1 : sl__in_dim(call, 0, 0);
}

static uint64_t
count_outputs(struct sl__rule_context *call)
{
	const struct sl__type *scores =
		sl__out_type_or_null(call, call->node->n_outputs - 1);

	return scores && scores->rank == 2 && scores->dims[1] > 0
		       ? (uint64_t)scores->dims[1]
		       : 1;
}

/* What is done to the scores at last. */
static void
add_post_transform(struct sl__rule_context *call, struct sl_cost *cost,
		   uint64_t n_scores)
{
	const char *how =
		sl__attribute_string(call->node, "post_transform", "NONE");

	if (!strcmp(how, "NONE"))
		return;
	sl__cost_add_operations(cost, n_scores, SL__OPERATIONS_EACH(.exp = 1));
	if (!strncmp(how, "SOFTMAX", 7))
		sl__cost_add_operations(
			cost, n_scores,
			SL__OPERATIONS_EACH(.add = 1, .div = 1));
}

void
sl__cost_linear_model(struct sl__rule_context *call, struct sl_cost *cost)
{
	uint64_t n_scores =
		sl__saturating_mul(count_rows(call), count_outputs(call));
	size_t n_weights = n_of(call, "coefficients"),
	       n_bias = n_of(call, "intercepts");

	cost->work = SL_WORK_LINEAR;
	sl__cost_add_macs(
		cost, sl__saturating_mul(n_scores, sl__in_dim(call, 0, -1)));
	cost->add = n_bias ? n_scores : 0;
	cost->weight_bytes = 4 * (n_weights + n_bias); /* floats */
	add_post_transform(call, cost, n_scores);
}

/*
 * A kernel between each row and each support vector, then their sum under
 * each coefficient.  A vector machine of linear form has no vectors but the
 * planes themselves.
 */
void
sl__cost_vector_machine(struct sl__rule_context *call, struct sl_cost *cost)
{
	const char *kernel =
		sl__attribute_string(call->node, "kernel_type", "LINEAR");
	uint64_t n_features = sl__in_dim(call, 0, -1);
	uint64_t n_vectors =
		n_features ? n_of(call, "support_vectors") / n_features : 0;
	uint64_t n_pairs = sl__saturating_mul(count_rows(call), n_vectors);

	sl__cost_mark_estimated(cost,
				"its kernel with every support vector, once");
	cost->weight_bytes = 4 * (n_of(call, "support_vectors") +
				  n_of(call, "coefficients"));
	if (!n_vectors)
		n_pairs = sl__saturating_mul(count_rows(call),
					     count_outputs(call));
	cost->fma = sl__saturating_mul(n_pairs, n_features);
	if (!strcmp(kernel, "RBF"))
		cost->add = cost->fma; /* differences before squares */
	if (strcmp(kernel, "LINEAR") != 0)
		cost->exp = n_pairs;
	if (n_vectors)
		sl__cost_add_operations(
			cost, count_rows(call),
			SL__OPERATIONS_EACH(.fma = n_of(call, "coefficients")));
}

static uint64_t
count_trees(struct sl__rule_context *call)
{
	const int64_t *ids;
	size_t n = sl__attribute_ints(call->node, "nodes_treeids", &ids);
	uint64_t n_trees = 0;

	if (!n)
		return n_of(call, "tree_roots");
	/* The nodes of a tree stand together. */
	for (size_t i = 0; i < n; i++)
		n_trees += i == 0 || ids[i] != ids[i - 1];
	return n_trees;
}

/* A comparison a level: as deep as trees of that many nodes must be. */
void
sl__cost_trees(struct sl__rule_context *call, struct sl_cost *cost)
{
	uint64_t n_trees = count_trees(call);
	uint64_t n_nodes = n_of(call, "nodes_featureids"), deep = 0;
	uint64_t n_visits = sl__saturating_mul(count_rows(call), n_trees);

	if (!n_trees || !n_nodes) {
		cost->basis = SL_BASIS_UNKNOWN;
		cost->why = "its trees cannot be read";
		return;
	}
	while ((n_nodes / n_trees + 1) >> deep > 1)
		deep++;
	sl__cost_add_operations(cost, n_visits,
				SL__OPERATIONS_EACH(.cmp = deep, .add = 1));
	sl__cost_mark_estimated(cost,
				"as if its trees were balanced: paths depend "
				"on data");
}
