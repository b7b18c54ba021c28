/* SPDX-License-Identifier: Apache-2.0 */
/* ref_det.c - Det: determinants by elimination with the largest pivot. */
#include "ops/ref.h"

#include <math.h>
#include <string.h>

#include "base/banned.h"

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
sl__ref_det(struct sl__eval *ev)
{
	const struct sl__datum *out = sl__ref_result(ev, 0);
	int64_t n = sl__ref_dim(ev, 0, -1);
	const double *x = sl__ref_doubles(ev, 0);
	double *a = sl__ref_new_doubles(ev, n * n);
	double *results = sl__ref_new_output(ev, 0);

	if (sl__ref_dim(ev, 0, -2) != n)
		return sl__ref_refuse(ev, "a matrix of %lldx%lld",
				      (long long)sl__ref_dim(ev, 0, -2),
				      (long long)n);
	for (uint64_t i = 0; !ev->failure && i < out->tensor.n_elements; i++) {
		memcpy(a, x + (int64_t)i * n * n, (size_t)(n * n) * sizeof(*a));
		results[i] = determinant(a, (size_t)n);
	}
	return sl__ref_store_doubles(ev, 0, results);
}
