/* SPDX-License-Identifier: Apache-2.0 */
/* ref_det.c - Det: determinants by elimination with the largest pivot. */
#include "base/status.h"
#include "graph/op_rules.h"
#include "ops/ref_read.h"

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
sl__ref_det(struct sl__eval *ev, struct sl_error *err)
{
	const struct sl__datum *out = sl__ref_result(ev, 0);
	size_t n = (size_t)sl__ref_dim(ev, 0, -1);
	double *a, *results;
	const double *x;
	enum sl_status rc;

	if (sl__ref_is_idle(ev))
		return SL_OK;
	if (sl__ref_dim(ev, 0, -2) != (int64_t)n)
		return sl__fail(err, SL_E_DATA, "a matrix of %lldx%zu",
				(long long)sl__ref_dim(ev, 0, -2), n);
	rc = sl__ref_read(ev, 0, &x, err);
	if (rc)
		return rc;
	a = sl__ref_new(ev, n * n, sizeof(*a));
	results = sl__ref_new(ev, (size_t)out->tensor.n_elements,
			      sizeof(*results));
	if (!a || !results)
		return sl__fail_nomem(err);
	for (size_t i = 0; i < out->tensor.n_elements; i++) {
		memcpy(a, x + i * n * n, n * n * sizeof(*a));
		results[i] = determinant(a, n);
	}
	sl__ref_store_doubles(ev, 0, results);
	return SL_OK;
}
