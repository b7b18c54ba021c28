/* SPDX-License-Identifier: Apache-2.0 */
/* proportion.c - how often something happens, with an exact interval. */
#include "stats/proportion.h"
#include "stats/special.h"

#include <math.h>

#include "base/banned.h"

/* The rate p with P(Bin(n, p) <= k) = target; the cdf falls with p. */
static double
rate_with_cdf(size_t k, size_t n, double target)
{
	double lo = 0, hi = 1;

	/* 60 halvings: below the spacing of doubles near 1. */
	for (int i = 0; i < 60; i++) {
		double p = (lo + hi) / 2;

		if (sl__binomial_cdf((double)k, n, p) > target)
			lo = p;
		else
			hi = p;
	}
	return (lo + hi) / 2;
}

struct sl_estimate
sl__proportion(size_t k, size_t n, double alpha)
{
	struct sl_estimate e = {(double)NAN, (double)NAN, (double)NAN,
				n,           1,           SL_METHOD_BINOMIAL};

	if (n == 0)
		return e;
	e.value = (double)k / (double)n;
	e.lo = k == 0 ? 0 : rate_with_cdf(k - 1, n, 1 - alpha / 2);
	e.hi = k == n ? 1 : rate_with_cdf(k, n, alpha / 2);
	e.needs_n = 0;
	return e;
}
