/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ref_ml.c - reference kernels of ai.onnx.ml: Binarizer, LabelEncoder and
 * TreeEnsemble.
 */
#include "base/dtype.h"
#include "ops/element.h"
#include "ops/ref.h"
#include "ops/ref_softmax.h"

#include <math.h>
#include <string.h>

#include "base/banned.h"

enum sl_status
sl__ref_binarizer(struct sl__kernel_call *ev)
{
	double threshold = sl__attribute_float(ev->node, "threshold", 0);
	const double *x = sl__ref_input_doubles(ev, 0);
	double *y = sl__ref_scratch_output(ev, 0);

	if (ev->failure)
		return ev->failure;
	for (uint64_t i = 0; i < sl__ref_input_tensor(ev, 0)->n_elements; i++)
		y[i] = x[i] > threshold;
	return sl__ref_output_store_doubles(ev, 0, y);
}

/* The attribute's numbers or words as a tensor of one dimension; 0: the node
 * has no such attribute. */
static int
read_list(struct sl__tensor *list, const struct sl__node *node,
	  const char *name)
{
	const struct sl__attribute *a = sl__attribute_find(node, name);

	memset(list, 0, sizeof(*list));
	if (!a)
		return 0;
	if (a->kind == SL__ATTRIBUTE_TENSOR) {
		*list = *a->tensor;
		return 1;
	}
	list->dtype = a->strings  ? SL_DTYPE_STRING
		      : a->floats ? SL_DTYPE_F32
				  : SL_DTYPE_I64;
	list->strings = a->strings;
	list->bytes = a->strings ? NULL
				 : (a->floats ? (const void *)a->floats
					      : (const void *)a->ints);
	list->n_elements = list->n_stored = a->n;
	return a->strings || list->bytes;
}

/* The first of the attributes "keys_strings" and so on that there is. */
static int
read_table(struct sl__tensor *list, const struct sl__node *node,
	   const char *const names[4])
{
	for (size_t i = 0; i < 4; i++) {
		if (read_list(list, node, names[i]))
			return 1;
	}
	return 0;
}

/* Strings by their bytes, integers by their bits, reals by their values; NaN
 * is the same as NaN. */
static int
is_same_element(const struct sl__tensor *a, uint64_t i,
		const struct sl__tensor *b, uint64_t k)
{
	int64_t p = 0, q = 0;
	double x = 0, y = 1;

	if (a->strings && b->strings)
		return !strcmp(a->strings[i], b->strings[k]);
	if (sl__dtype_family(a->dtype) == SL__DTYPE_INTEGER)
		return sl__tensor_integer_bits(a, i, 1, &p) &&
		       sl__tensor_integer_bits(b, k, 1, &q) && p == q;
	return sl__tensor_doubles(a, i, 1, &x) &&
	       sl__tensor_doubles(b, k, 1, &y) &&
	       (x == y || (isnan(x) && isnan(y)));
}

/* What a key that is not in the table becomes. */
static struct sl__tensor
default_of(const struct sl__node *node, enum sl_dtype dtype, int64_t *integer,
	   float *real, const char **word)
{
	struct sl__tensor t;

	if (read_list(&t, node, "default_tensor") && t.n_elements)
		return t;
	*integer = sl__attribute_int(node, "default_int64", -1);
	*real = (float)sl__attribute_float(node, "default_float", -0.0);
	*word = sl__attribute_string(node, "default_string", "_Unused");
	t = (struct sl__tensor){.n_elements = 1, .n_stored = 1};
	if (dtype == SL_DTYPE_STRING) {
		t.dtype = SL_DTYPE_STRING;
		t.strings = word;
	} else if (sl__dtype_family(dtype) == SL__DTYPE_INTEGER) {
		t.dtype = SL_DTYPE_I64;
		t.bytes = (const void *)integer;
	} else {
		t.dtype = SL_DTYPE_F32;
		t.bytes = (const void *)real;
	}
	return t;
}

/* Element i of the output from element k of a list. */
static void
put_element(struct sl__kernel_call *ev, const char **words, uint64_t i,
	    const struct sl__tensor *list, uint64_t k)
{
	struct sl__runtime_value *out = sl__ref_output(ev, 0);
	int64_t integer;
	double real;

	if (words && list->strings)
		words[i] = list->strings[k];
	else if (words || list->strings ||
		 !sl__tensor_integer_bits(list, k, 1, &integer) ||
		 !sl__tensor_doubles(list, k, 1, &real))
		sl__ref_reject(ev, "its values and its default are not of one "
				   "type");
	else if (sl__dtype_family(list->dtype) == SL__DTYPE_INTEGER)
		sl__store_integers(out->bytes, out->tensor.dtype, i, 1,
				   &integer);
	else
		sl__store_doubles(out->bytes, out->tensor.dtype, i, 1, &real);
}

enum sl_status
sl__ref_label_encoder(struct sl__kernel_call *ev)
{
	static const char *const key_names[4] = {"keys_tensor", "keys_strings",
						 "keys_int64s", "keys_floats"};
	static const char *const value_names[4] = {
		"values_tensor", "values_strings", "values_int64s",
		"values_floats"};
	const struct sl__tensor *x = sl__ref_input_tensor(ev, 0);
	struct sl__tensor keys, values, otherwise;
	const char **words = NULL, *word;
	int64_t integer;
	float real;

	if (!x || !read_table(&keys, ev->node, key_names) ||
	    !read_table(&values, ev->node, value_names) ||
	    keys.n_elements != values.n_elements)
		return sl__ref_reject(ev, "it has no table of as many values "
					  "as keys");
	otherwise = default_of(ev->node, values.dtype, &integer, &real, &word);
	if (values.strings)
		words = sl__ref_scratch(ev, (size_t)x->n_elements,
					sizeof(*words));
	else
		sl__ref_output_alloc(ev, 0, values.dtype, x->rank, x->dims);
	for (uint64_t i = 0; !ev->failure && i < x->n_elements; i++) {
		uint64_t k = 0;

		while (k < keys.n_elements && !is_same_element(x, i, &keys, k))
			k++;
		if (k < keys.n_elements)
			put_element(ev, words, i, &values, k);
		else
			put_element(ev, words, i, &otherwise, 0);
	}
	if (!ev->failure && words)
		sl__ref_value_set_strings(ev, sl__ref_output(ev, 0), x->rank,
					  x->dims, words);
	return ev->failure;
}

enum { LEQ, LT, GTE, GT, EQ, NEQ, MEMBER, N_MODES };
enum { AVERAGE, SUM, MIN, MAX };
enum { NONE, SOFTMAX, LOGISTIC };

/*
 * Trees whose nodes are rows of parallel attributes.  The children of a node,
 * where it holds [1] and where it does not [0], are leaves or nodes.
 * members[first[i]] to the next NaN are the set of node i, where its mode is
 * MEMBER.
 */
struct trees {
	size_t n_nodes, n_leaves, n_roots;
	int64_t n_targets;
	const int64_t *features, *next[2], *is_leaf[2], *roots, *targets;
	const int64_t *modes, *missing;
	const double *splits, *weights, *members;
	size_t *first;
};

/* n doubles or integers of a tensor attribute; fails unless it has as many. */
static const void *
tensor_numbers(struct sl__kernel_call *ev, const char *name, size_t *n,
	       int are_integers)
{
	struct sl__tensor t;
	void *numbers;
	int ok;

	if (!read_list(&t, ev->node, name))
		memset(&t, 0, sizeof(t));
	if (*n == SIZE_MAX)
		*n = (size_t)t.n_elements;
	numbers = sl__ref_scratch(ev, *n, sizeof(double));
	if (!numbers || t.n_elements != *n) {
		sl__ref_reject(ev, "'%s' has %llu elements, not %zu", name,
			       (unsigned long long)t.n_elements, *n);
		return NULL;
	}
	ok = are_integers ? sl__tensor_integers(&t, 0, *n, numbers)
			  : sl__tensor_doubles(&t, 0, *n, numbers);
	if (*n && !ok)
		sl__ref_reject(ev, "'%s' has no numbers", name);
	return numbers;
}

/* As many integers as there are nodes, each of which is in [0, below). */
static const int64_t *
node_integers(struct sl__kernel_call *ev, const char *name, size_t n,
	      int64_t below)
{
	const int64_t *numbers;

	if (sl__attribute_ints(ev->node, name, &numbers) != n) {
		sl__ref_reject(ev, "'%s' does not have %zu elements", name, n);
		return NULL;
	}
	for (size_t i = 0; i < n; i++) {
		if (numbers[i] >= 0 && numbers[i] < below)
			continue;
		sl__ref_reject(ev, "'%s' has %lld", name,
			       (long long)numbers[i]);
		return NULL;
	}
	return numbers;
}

static void
find_members(struct sl__kernel_call *ev, struct trees *t)
{
	size_t n = SIZE_MAX, at = 0;

	t->members = tensor_numbers(ev, "membership_values", &n, 0);
	t->first = sl__ref_scratch(ev, t->n_nodes, sizeof(*t->first));
	for (size_t i = 0; !ev->failure && i < t->n_nodes; i++) {
		if (t->modes[i] < 0 || t->modes[i] >= N_MODES)
			sl__ref_reject(ev, "a mode of %lld",
				       (long long)t->modes[i]);
		if (t->modes[i] != MEMBER)
			continue;
		t->first[i] = at;
		while (at < n && !isnan(t->members[at]))
			at++;
		if (at++ == n)
			sl__ref_reject(ev, "its sets do not end");
	}
}

static void
read_trees(struct sl__kernel_call *ev, struct trees *t, int64_t n_features)
{
	const struct sl__node *node = ev->node;
	const int64_t *ignored;
	size_t n;

	t->n_nodes = sl__attribute_ints(node, "nodes_featureids", &ignored);
	t->n_leaves = sl__attribute_ints(node, "leaf_targetids", &ignored);
	t->n_roots = sl__attribute_ints(node, "tree_roots", &ignored);
	t->n_targets = sl__attribute_int(node, "n_targets", 1);
	n = t->n_nodes;
	t->features = node_integers(ev, "nodes_featureids", n, n_features);
	t->targets =
		node_integers(ev, "leaf_targetids", t->n_leaves, t->n_targets);
	t->roots = node_integers(ev, "tree_roots", t->n_roots, (int64_t)n);
	t->is_leaf[0] = node_integers(ev, "nodes_falseleafs", n, 2);
	t->is_leaf[1] = node_integers(ev, "nodes_trueleafs", n, 2);
	t->next[0] = node_integers(ev, "nodes_falsenodeids", n, INT64_MAX);
	t->next[1] = node_integers(ev, "nodes_truenodeids", n, INT64_MAX);
	if (sl__attribute_find(node, "nodes_missing_value_tracks_true"))
		t->missing = node_integers(
			ev, "nodes_missing_value_tracks_true", n, 2);
	t->modes = tensor_numbers(ev, "nodes_modes", &n, 1);
	t->splits = tensor_numbers(ev, "nodes_splits", &n, 0);
	t->weights = tensor_numbers(ev, "leaf_weights", &t->n_leaves, 0);
	if (!ev->failure)
		find_members(ev, t);
	for (size_t i = 0; !ev->failure && i < 2 * n; i++) {
		size_t side = i & 1;
		size_t most = t->is_leaf[side][i / 2] ? t->n_leaves : n;

		if ((size_t)t->next[side][i / 2] >= most)
			sl__ref_reject(ev, "node %zu has no child %lld", i / 2,
				       (long long)t->next[side][i / 2]);
	}
}

static int
is_taken(const struct trees *t, size_t i, double x)
{
	double split = t->splits[i];

	if (isnan(x) && t->missing && t->missing[i])
		return 1;
	switch (t->modes[i]) {
	case LEQ:
		return x <= split;
	case LT:
		return x < split;
	case GTE:
		return x >= split;
	case GT:
		return x > split;
	case EQ:
		return x == split;
	case NEQ:
		return x != split;
	default:
		break;
	}
	for (size_t m = t->first[i]; !isnan(t->members[m]); m++) {
		if (t->members[m] == x)
			return 1;
	}
	return 0;
}

/* The leaf that a row of features comes to; SIZE_MAX: the nodes are a ring. */
static size_t
find_leaf(const struct trees *t, size_t node, const double *x)
{
	for (size_t n = 0; n <= t->n_nodes; n++) {
		int taken = is_taken(t, node, x[t->features[node]]);
		size_t next = (size_t)t->next[taken][node];

		if (t->is_leaf[taken][node])
			return next;
		node = next;
	}
	return SIZE_MAX;
}

/* The scores of a row, all 0 before, from the leaves of its trees; n[] counts
 * those of each target. */
static void
add_leaves(struct sl__kernel_call *ev, const struct trees *t, const double *x,
	   double *y, int64_t *n)
{
	int64_t how = sl__attribute_int(ev->node, "aggregate_function", SUM);

	memset(n, 0, (size_t)t->n_targets * sizeof(*n));
	for (size_t r = 0; r < t->n_roots; r++) {
		size_t leaf = find_leaf(t, (size_t)t->roots[r], x);
		int64_t k;

		if (leaf == SIZE_MAX) {
			sl__ref_reject(ev, "a tree comes back to its nodes");
			return;
		}
		k = t->targets[leaf];
		if (how == MIN || how == MAX)
			y[k] = n[k]++ == 0  ? t->weights[leaf]
			       : how == MIN ? fmin(y[k], t->weights[leaf])
					    : fmax(y[k], t->weights[leaf]);
		else
			y[k] += t->weights[leaf];
	}
	for (int64_t k = 0; how == AVERAGE && k < t->n_targets; k++)
		y[k] /= (double)t->n_roots;
}

static void
transform_scores(struct sl__kernel_call *ev, double *y, int64_t n)
{
	int64_t how = sl__attribute_int(ev->node, "post_transform", NONE);

	if (how == SOFTMAX) {
		sl__softmax_line(y, y, n, 1);
	} else if (how == LOGISTIC) {
		for (int64_t k = 0; k < n; k++)
			y[k] = 1 / (1 + exp(-y[k]));
	} else if (how != NONE) {
		sl__ref_reject(ev, "a post_transform of %lld", (long long)how);
	}
}

enum sl_status
sl__ref_tree_ensemble(struct sl__kernel_call *ev)
{
	const double *x = sl__ref_input_doubles(ev, 0);
	int64_t n_features = sl__ref_input_dim(ev, 0, -1);
	double *y = sl__ref_scratch_output(ev, 0);
	struct trees t = {0};
	int64_t n_rows, *n;

	if (ev->failure || sl__ref_output_is_empty(ev))
		return ev->failure;
	read_trees(ev, &t, n_features);
	n = sl__ref_scratch_integers(ev, t.n_targets);
	n_rows = sl__ref_output(ev, 0)->tensor.dims[0];
	for (int64_t i = 0; !ev->failure && i < n_rows; i++) {
		double *row = y + i * t.n_targets;

		add_leaves(ev, &t, x + i * n_features, row, n);
		transform_scores(ev, row, t.n_targets);
	}
	return sl__ref_output_store_doubles(ev, 0, y);
}
