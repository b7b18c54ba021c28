/* SPDX-License-Identifier: Apache-2.0 */
/* calm_pairs.c - by how much one of two takes longer, of the calmer rounds. */
#include "stats/calm_pairs.h"
#include "stats/quantile.h"
#include "stats/summary.h"

#include <string.h>

#include "base/banned.h"

int
sl__calm_pairs_init(struct sl__calm_pairs *p, size_t cap,
		    struct sl__arena *arena)
{
	return sl__thinned_init(&p->more, cap, arena) |
	       sl__thinned_init(&p->total, cap, arena);
}

void
sl__calm_pairs_add(struct sl__calm_pairs *p, double first, double second)
{
	sl__thinned_add(&p->more, second - first);
	sl__thinned_add(&p->total, first + second);
}

size_t
sl__calm_pairs_differences(const struct sl__calm_pairs *p, double *calm)
{
	size_t n = p->more.n, n_calm = (n + 1) / 2, n_least, k = 0;
	double limit;

	n_least = sl__quantile_needs_n(0.5, 0.05);
	if (n_calm < n_least)
		n_calm = n < n_least ? n : n_least;
	if (!n)
		return 0;
	memcpy(calm, p->total.x, n * sizeof(double));
	sl__sort(calm, n);
	limit = calm[n_calm - 1];
	for (size_t i = 0; i < n; i++) {
		if (p->total.x[i] <= limit)
			calm[k++] = p->more.x[i];
	}
	sl__sort(calm, k);
	return k;
}

struct sl_estimate
sl__calm_pairs_median(const struct sl__calm_pairs *p, double *calm)
{
	size_t n = sl__calm_pairs_differences(p, calm);

	return sl__quantile_estimate(calm, n, 0.5, 0.05);
}
