/* SPDX-License-Identifier: Apache-2.0 */
/* arrivals.c - when queries arrive, decided before the first of them. */
#include "stats/arrivals.h"

#include <math.h>

#include "base/banned.h"

size_t
sl__arrivals_cap(double per_s, double time_s)
{
	double mean = per_s * time_s;

	return (size_t)(mean + 6 * sqrt(mean) + 16);
}

size_t
sl__arrivals_poisson(uint64_t *due_ns, size_t cap, double per_s, double time_s,
		     struct sl__rng *rng)
{
	double at_s = sl__rng_exponential(rng) / per_s;
	size_t n = 0;

	while (n < cap && at_s < time_s) {
		due_ns[n++] = (uint64_t)(at_s * 1e9);
		at_s += sl__rng_exponential(rng) / per_s;
	}
	return n;
}
