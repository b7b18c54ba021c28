/* SPDX-License-Identifier: Apache-2.0 */
/* op_det.c - Det: determinants of square matrices. */
#include "ops/cost.h"
#include "ops/ref.h"

#include <math.h>
#include <string.h>

#include "base/banned.h"

enum sl_status
sl__infer_det(struct sl__rule_context *call)
{
	const struct sl__type *in = sl__in_type(call, 0);
	int rank = sl__in_rank(call, 0);

	if (rank < 0)
		return sl__out_set_dtype_only(call, 0, sl__in_dtype(call, 0));
	if (rank < 2)
		return sl__rule_reject(call, "%s is no matrix",
				       sl__in_shape_text(call, 0));
	return sl__out_set_shape(call, 0, in->dtype, rank - 2, in->dims);
}

/*
 * Elimination of an n x n matrix: step k divides n - k elements and updates
 * (n - k)^2, which sums to n (n - 1) / 2 and (n - 1) n (2n - 1) / 6; then the
 * product of the diagonal.  Two operations an update make (2/3) n^3.
 */
void
sl__cost_det(struct sl__rule_context *call, struct sl_cost *cost)
{
	uint64_t n = sl__in_dim(call, 0, -1), n_matrices = cost->out_elements;
	uint64_t pairs;

	if (n == 0)
		return;
	pairs = sl__saturating_mul(n, n - 1);
	sl__cost_add_operations(
		cost, n_matrices,
		SL__OPERATIONS_EACH(.div = pairs / 2, .mul = n - 1,
				    .fma = sl__saturating_mul(
						   pairs,
						   sl__saturating_mul(2, n) -
							   1) /
					   6));
}

static void
swap_rows(double *a, double *b, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		double t = a[i];

		a[i] = b[i];
		b[i] = t;
	}
}

/* Of a [n][n], which is spoilt. */
static double
determinant(double *a, size_t n)
{
	double product = 1;

	for (size_t k = 0; k < n; k++) {
		size_t pivot = k;

		for (size_t i = k + 1; i < n; i++) {
			if (fabs(a[i * n + k]) > fabs(a[pivot * n + k]))
				pivot = i;
		}
		if (pivot != k) {
			swap_rows(a + k * n, a + pivot * n, n);
			product = -product;
		}
		product *= a[k * n + k];
		if (fabs(a[k * n + k]) <= 0)
			return 0;
		for (size_t i = k + 1; i < n; i++) {
			double factor = a[i * n + k] / a[k * n + k];

			for (size_t j = k; j < n; j++)
				a[i * n + j] -= factor * a[k * n + j];
		}
	}
	return product;
}

enum sl_status
sl__ref_det(struct sl__kernel_call *ev)
{
	const struct sl__runtime_value *out = sl__ref_output(ev, 0);
	int64_t n = sl__ref_input_dim(ev, 0, -1);
	const double *x = sl__ref_input_doubles(ev, 0);
	double *a = sl__ref_scratch_doubles(ev, n * n);
	double *results = sl__ref_scratch_output(ev, 0);

	if (sl__ref_input_dim(ev, 0, -2) != n)
		return sl__ref_reject(ev, "a matrix of %lldx%lld",
				      (long long)sl__ref_input_dim(ev, 0, -2),
				      (long long)n);
	for (uint64_t i = 0; !ev->failure && i < out->tensor.n_elements; i++) {
		memcpy(a, x + (int64_t)i * n * n, (size_t)(n * n) * sizeof(*a));
		results[i] = determinant(a, (size_t)n);
	}
	return sl__ref_output_store_doubles(ev, 0, results);
}
