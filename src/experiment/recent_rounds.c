/* SPDX-License-Identifier: Apache-2.0 */
/* recent_rounds.c - what an iteration typically takes, by its parts. */
#include "experiment/recent_rounds.h"
#include "stats/summary.h"

#include <math.h>

#include "base/banned.h"

int
sl__recent_rounds_reserve(struct sl__recent_rounds *r, size_t n_steps,
			  size_t cap, struct sl__arena *arena)
{
	*r = (struct sl__recent_rounds){.n_steps = n_steps, .cap = cap};
	r->rows = sl__arena_array(arena, cap * (n_steps + 2), sizeof(*r->rows));
	r->scratch = sl__arena_array(arena, cap, sizeof(*r->scratch));
	return !r->rows || !r->scratch;
}

void
sl__recent_rounds_clear(struct sl__recent_rounds *r)
{
	r->n = r->next = 0;
}

void
sl__recent_rounds_add(struct sl__recent_rounds *r,
		      const struct sl__iteration_times *times)
{
	double *row = r->rows + r->next * (r->n_steps + 2);
	double rest = times->wall_ns;

	for (size_t s = 0; s < r->n_steps; s++) {
		row[s] = times->step_ns[s];
		rest -= times->step_ns[s];
	}
	row[r->n_steps] = rest;
	row[r->n_steps + 1] = times->cpu_ns;
	r->next = (r->next + 1) % r->cap;
	if (r->n < r->cap)
		r->n++;
}

/* Of the last n rounds, one column. */
static double
median_of(const struct sl__recent_rounds *r, size_t n, size_t column)
{
	for (size_t i = 0; i < n; i++) {
		size_t row = (r->next + r->cap - 1 - i) % r->cap;

		r->scratch[i] = r->rows[row * (r->n_steps + 2) + column];
	}
	return sl__median_select(r->scratch, n);
}

void
sl__recent_rounds_typical(const struct sl__recent_rounds *r, size_t n,
			  struct sl__iteration_times *out)
{
	if (n > r->n)
		n = r->n;
	if (!n)
		return;
	out->wall_ns = median_of(r, n, r->n_steps);
	for (size_t s = 0; s < r->n_steps; s++) {
		out->step_ns[s] = median_of(r, n, s);
		out->wall_ns += out->step_ns[s];
	}
	out->wall_ns = fmax(out->wall_ns, 1e-3);
	out->cpu_ns = median_of(r, n, r->n_steps + 1);
}
