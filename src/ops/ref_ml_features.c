/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ref_ml_features.c - reference kernels of ai.onnx.ml: what is done to
 * features before a model sees them, and the tables of scores behind one.
 */
#include "ops/ref_ml_scores.h"

#include <math.h>
#include <string.h>

#include "base/banned.h"

/* One number for all features, or one for each; none is 'otherwise'. */
struct per_feature {
	const float *values;
	size_t n;
	double otherwise;
};

static enum sl_status
read_per_feature(struct per_feature *p, struct sl__kernel_call *ev,
		 const char *name, int64_t n_features, double otherwise)
{
	p->n = sl__ml_floats(ev, name, &p->values);
	p->otherwise = otherwise;
	return p->n <= 1 || p->n == (size_t)n_features
		       ? SL_OK
		       : sl__ref_reject(ev,
					"'%s' has %zu numbers for %lld "
					"features",
					name, p->n, (long long)n_features);
}

static double
number_of(const struct per_feature *p, int64_t feature)
{
	return p->n ? (double)p->values[p->n == 1 ? 0 : feature] : p->otherwise;
}

enum sl_status
sl__ref_scaler(struct sl__kernel_call *ev)
{
	const double *x = sl__ref_input_doubles(ev, 0);
	double *y = sl__ref_scratch_output(ev, 0);
	struct per_feature offset, scale;
	int64_t n_rows, n;

	sl__ml_rows(ev, &n_rows, &n);
	if (ev->failure || read_per_feature(&offset, ev, "offset", n, 0) ||
	    read_per_feature(&scale, ev, "scale", n, 1))
		return ev->failure;
	for (uint64_t i = 0; i < sl__ref_input_tensor(ev, 0)->n_elements; i++) {
		int64_t feature = (int64_t)i % n;

		y[i] = (x[i] - number_of(&offset, feature)) *
		       number_of(&scale, feature);
	}
	return sl__ref_output_store_doubles(ev, 0, y);
}

static enum sl_status
impute_integers(struct sl__kernel_call *ev)
{
	const int64_t *x = sl__ref_input_integers(ev, 0), *values;
	int64_t n = sl__ref_input_dim(ev, 0, -1);
	size_t n_values =
		sl__attribute_ints(ev->node, "imputed_value_int64s", &values);
	int64_t missing =
		sl__attribute_int(ev->node, "replaced_value_int64", 0);
	uint64_t n_all = sl__ref_input_tensor(ev, 0)->n_elements;
	int64_t *y = sl__ref_scratch_integers(ev, (int64_t)n_all);

	if (!ev->failure && n_values != 1 && n_values != (size_t)n)
		sl__ref_reject(ev, "%zu values for %lld features", n_values,
			       (long long)n);
	for (uint64_t i = 0; !ev->failure && i < n_all; i++)
		y[i] = x[i] != missing
			       ? x[i]
			       : values[n_values == 1 ? 0 : (int64_t)i % n];
	return ev->failure ? ev->failure
			   : sl__ref_output_store_integers(ev, 0, y);
}

enum sl_status
sl__ref_imputer(struct sl__kernel_call *ev)
{
	double missing =
		sl__attribute_float(ev->node, "replaced_value_float", 0);
	struct per_feature values;
	const double *x;
	double *y;
	int64_t n_rows, n;

	sl__ml_rows(ev, &n_rows, &n);
	if (sl__ref_dtype_is_integer(sl__ref_input_dtype(ev, 0)))
		return impute_integers(ev);
	x = sl__ref_input_doubles(ev, 0);
	y = sl__ref_scratch_output(ev, 0);
	if (ev->failure ||
	    read_per_feature(&values, ev, "imputed_value_floats", n, 0))
		return ev->failure;
	if (!values.n)
		return sl__ref_reject(ev, "it has no values to put in");
	for (uint64_t i = 0; i < sl__ref_input_tensor(ev, 0)->n_elements; i++) {
		int is_missing = isnan(missing) ? isnan(x[i])
						: !(x[i] < missing) &&
							  !(x[i] > missing) &&
							  !isnan(x[i]);

		y[i] = is_missing ? number_of(&values, (int64_t)i % n) : x[i];
	}
	return sl__ref_output_store_doubles(ev, 0, y);
}

/* MAX takes the largest as it is, not its size, as in ONNX Runtime. */
enum sl_status
sl__ref_normalizer(struct sl__kernel_call *ev)
{
	enum { MAX, L1, L2 };
	static const char *const norms[] = {"MAX", "L1", "L2", NULL};
	int norm = sl__ref_attribute_choice(ev, "norm", norms);
	const double *x = sl__ref_input_doubles(ev, 0);
	double *y = sl__ref_scratch_output(ev, 0);
	int64_t n_rows, n;

	sl__ml_rows(ev, &n_rows, &n);
	for (int64_t i = 0; !ev->failure && i < n_rows; i++) {
		const double *row = x + i * n;
		double sum = norm == MAX ? -HUGE_VAL : 0;

		for (int64_t k = 0; k < n; k++)
			sum = norm == MAX  ? fmax(sum, row[k])
			      : norm == L1 ? sum + fabs(row[k])
					   : sum + row[k] * row[k];
		if (norm == L2)
			sum = sqrt(sum);
		for (int64_t k = 0; k < n; k++)
			y[i * n + k] = sum < 0 || sum > 0 ? row[k] / sum
							  : row[k];
	}
	return ev->failure ? ev->failure
			   : sl__ref_output_store_doubles(ev, 0, y);
}

/* The place of element i among the categories; n where it is none of them. */
static size_t
find_category(const struct sl__kernel_call *ev, const int64_t *x, uint64_t i,
	      size_t n)
{
	const struct sl__attribute *words =
		sl__attribute_find(ev->node, "cats_strings");
	const struct sl__tensor *t = sl__ref_input_tensor(ev, 0);
	const int64_t *ints;
	size_t k = 0;

	if (t->strings) {
		while (k < n && strcmp(t->strings[i], words->strings[k]) != 0)
			k++;
		return k;
	}
	sl__attribute_ints(ev->node, "cats_int64s", &ints);
	while (k < n && x[i] != ints[k])
		k++;
	return k;
}

enum sl_status
sl__ref_one_hot_encoder(struct sl__kernel_call *ev)
{
	const struct sl__tensor *t = sl__ref_input_tensor(ev, 0);
	const struct sl__attribute *list;
	int is_lenient = sl__attribute_int(ev->node, "zeros", 1) != 0;
	const int64_t *x = NULL;
	double *y;
	size_t n;

	if (!t)
		return sl__ref_reject(ev, "its input is no tensor");
	list = sl__attribute_find(ev->node,
				  t->strings ? "cats_strings" : "cats_int64s");
	n = list ? list->n : 0;
	if (!t->strings)
		x = sl__ref_input_integers(ev, 0);
	y = sl__ref_scratch_output(ev, 0);
	if (!ev->failure && (!n || sl__ref_output(ev, 0)->tensor.n_elements !=
					   t->n_elements * n))
		sl__ref_reject(ev, "it has no categories of the input's type");
	for (uint64_t i = 0; !ev->failure && i < t->n_elements; i++) {
		size_t k = find_category(ev, x, i, n);

		if (k < n)
			y[i * n + k] = 1;
		else if (!is_lenient)
			sl__ref_reject(ev, "element %llu is no category",
				       (unsigned long long)i);
	}
	return ev->failure ? ev->failure
			   : sl__ref_output_store_doubles(ev, 0, y);
}

/* Rows of all inputs side by side, each cut to its width or filled with 0. */
enum sl_status
sl__ref_feature_vectorizer(struct sl__kernel_call *ev)
{
	const int64_t *widths;
	size_t n = sl__attribute_ints(ev->node, "inputdimensions", &widths);
	double *y = sl__ref_scratch_output(ev, 0);
	int64_t n_rows, n_columns, first = 0;

	if (n != ev->node->n_inputs)
		return sl__ref_reject(ev, "%zu widths for %u inputs", n,
				      (unsigned)ev->node->n_inputs);
	if (ev->failure)
		return ev->failure;
	n_rows = sl__ref_output(ev, 0)->tensor.dims[0];
	n_columns = sl__ref_output(ev, 0)->tensor.dims[1];
	for (size_t i = 0; i<n; first += widths[i]> 0 ? widths[i] : 0, i++) {
		const double *x = sl__ref_input_doubles(ev, i);
		int64_t own = sl__ref_input_dim(ev, i, -1);

		if (ev->failure || sl__ref_input_tensor(ev, i)->n_elements !=
					   (uint64_t)(n_rows * own))
			return sl__ref_reject(ev, "input %zu has other rows",
					      i);
		for (int64_t r = 0; r < n_rows; r++) {
			for (int64_t k = 0; k < own && k < widths[i]; k++)
				y[r * n_columns + first + k] = x[r * own + k];
		}
	}
	return sl__ref_output_store_doubles(ev, 0, y);
}

/* One row of scores as a table: its classes, then their scores. */
static enum sl_status
make_table(struct sl__kernel_call *ev, struct sl__runtime_value *to,
	   const struct sl__attribute *classes, const double *scores)
{
	int64_t n = (int64_t)classes->n;
	enum sl_status rc;

	rc = sl__ref_keep_status(
		ev, sl__runtime_value_alloc_list(to, SL__TYPE_MAP, SL_DTYPE_F32,
						 2, ev->allocator, ev->err));
	if (rc)
		return rc;
	if (classes->strings)
		rc = sl__ref_value_set_strings(ev, &to->items[0], 1, &n,
					       classes->strings);
	else
		rc = sl__ref_value_alloc(ev, &to->items[0], SL_DTYPE_I64, 1,
					 &n);
	if (!rc && !classes->strings)
		sl__store_integers(to->items[0].bytes, SL_DTYPE_I64, 0,
				   classes->n, classes->ints);
	if (!rc)
		rc = sl__ref_value_alloc(ev, &to->items[1], SL_DTYPE_F32, 1,
					 &n);
	if (!rc)
		sl__store_doubles(to->items[1].bytes, SL_DTYPE_F32, 0,
				  classes->n, scores);
	return rc;
}

enum sl_status
sl__ref_zip_map(struct sl__kernel_call *ev)
{
	const struct sl__attribute *classes =
		sl__attribute_find(ev->node, "classlabels_strings");
	const double *x = sl__ref_input_doubles(ev, 0);
	struct sl__runtime_value *out = sl__ref_output(ev, 0);
	int64_t n_rows, n;

	if (!classes || !classes->strings)
		classes = sl__attribute_find(ev->node, "classlabels_int64s");
	sl__ml_rows(ev, &n_rows, &n);
	if (ev->failure || !out)
		return ev->failure;
	if (!classes || (!classes->strings && !classes->ints) ||
	    classes->n != (size_t)n)
		return sl__ref_reject(ev, "it does not name %lld classes",
				      (long long)n);
	sl__ref_value_set_sequence(ev, out, SL_DTYPE_F32, (size_t)n_rows);
	for (int64_t i = 0; !ev->failure && i < n_rows; i++)
		make_table(ev, &out->items[i], classes, x + i * n);
	return ev->failure;
}
