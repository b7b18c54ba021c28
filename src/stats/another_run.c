/* SPDX-License-Identifier: Apache-2.0 */
/* another_run.c - where the figure of another run would lie. */
#include "stats/another_run.h"
#include "stats/quantile.h"
#include "stats/special.h"
#include "stats/summary.h"

#include <math.h>

#include "base/banned.h"

enum { N_LEAST = 6, N_RANKS = 39 }; /* 0.025 x (39 + 1) = 1 */

static const double TAIL = 0.025;

/* Half the length of the interval around the logarithm of the median. */
static double
student_half(const double *x, size_t n)
{
	double mean = 0, squares = 0, count = (double)n;

	for (size_t i = 0; i < n; i++)
		mean += log(x[i]) / count;
	for (size_t i = 0; i < n; i++)
		squares += (log(x[i]) - mean) * (log(x[i]) - mean);
	return sl__student_quantile(1 - TAIL, count - 1) *
	       sqrt(squares / (count - 1) * (1 + 1 / count));
}

struct sl_estimate
sl__another_run_estimate(double *x, size_t n)
{
	struct sl_estimate out = {.lo = (double)NAN,
				  .hi = (double)NAN,
				  .n = n,
				  .method = SL_METHOD_ORDER};
	size_t rank = (size_t)floor(TAIL * (double)(n + 1) + 1e-9);
	double half;

	out.value = sl__median_in_place(x, n);
	if (n < N_LEAST) {
		out.method = SL_METHOD_NONE;
		out.needs_n = N_LEAST;
		return out;
	}
	if (n >= N_RANKS) {
		out.lo = x[rank - 1];
		out.hi = x[n - rank];
		return out;
	}
	out.method = SL_METHOD_STUDENT;
	half = student_half(x, n);
	out.lo = out.value * exp(-half);
	out.hi = out.value * exp(half);
	return out;
}
