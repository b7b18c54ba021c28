/* SPDX-License-Identifier: Apache-2.0 */
/* thinned.c - samples of a run of any length in fixed memory. */
#include "stats/thinned.h"
#include "stats/quantile.h"
#include "stats/summary.h"

#include <math.h>
#include <string.h>

#include "base/banned.h"

int
sl__thinned_init(struct sl__thinned *t, size_t cap, struct sl__arena *arena)
{
	memset(t, 0, sizeof(*t));
	t->x = sl__arena_array(arena, cap, sizeof(double));
	t->cap = cap;
	t->stride = 1;
	t->min = (double)INFINITY;
	t->max = -(double)INFINITY;
	return !t->x;
}

void
sl__thinned_add(struct sl__thinned *t, double x)
{
	t->min = fmin(t->min, x);
	t->max = fmax(t->max, x);
	t->sum += x;
	if (t->n_seen++ % t->stride)
		return;
	if (t->n == t->cap) {
		for (size_t i = 0; i < t->cap / 2; i++)
			t->x[i] = t->x[2 * i];
		t->n = t->cap / 2;
		t->stride *= 2;
	}
	t->x[t->n++] = x;
}

struct sl_estimate
sl__thinned_median(const struct sl__thinned *t, size_t n, double *sorted)
{
	memcpy(sorted, t->x + t->n - n, n * sizeof(double));
	sl__sort(sorted, n);
	return sl__quantile_estimate(sorted, n, 0.5, 0.05);
}
