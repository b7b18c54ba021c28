/* SPDX-License-Identifier: Apache-2.0 */
/* level_shift.c - lasting changes of level in a noisy history. */
#include "stats/level_shift.h"
#include "base/rng.h"
#include "base/status.h"
#include "stats/changepoint.h"
#include "stats/summary.h"

#include <math.h>
#include <string.h>

#include "base/banned.h"

enum {
	NEIGHBOURS = 5,       /* of the running median */
	N_PERMUTATIONS = 999, /* p is then known to 0.001 */
	SEED = 19
};

/* Each series is searched anew whenever it grows, and a split is tested on
 * both sides of each change: well below 5 %. */
static const double ALPHA = 0.01;
static const double WINSOR_SCALES = 3;
static const double RHO_MOST = 0.9;

struct search {
	double *y;               /* [n] winsorised */
	unsigned char *is_start; /* [n] of a segment of the optimal partition */
	double *w, *mixed;       /* [n] without correlation; and permuted */
	struct sl__rng rng;
	struct sl__level_shift *shifts;
	size_t n_shifts, cap;
	struct sl__arena *arena;
};

static double
median_around(const double *x, size_t n, size_t i)
{
	size_t half = NEIGHBOURS / 2;
	size_t from = i < half ? 0 : i - half;
	double near[NEIGHBOURS];

	if (from + NEIGHBOURS > n)
		from = n - NEIGHBOURS;
	memcpy(near, x + from, sizeof(near));
	return sl__median_in_place(near, NEIGHBOURS);
}

static void
winsorise(double *y, const double *x, size_t n, double *scratch)
{
	double reach = WINSOR_SCALES * sl__noise_scale(x, n, scratch);

	for (size_t i = 0; i < n; i++) {
		double middle = median_around(x, n, i);

		y[i] = fmin(fmax(x[i], middle - reach), middle + reach);
	}
}

/* The split of y[0..n-1] with the largest difference of means, weighted by
 * sqrt(k (n - k) / n), at least 'least' values on each side. */
static size_t
best_split(const double *y, size_t n, size_t least, double *difference)
{
	double sum = 0, mean = sl__mean(y, n), best = -1;
	size_t at = least;

	for (size_t k = 1; k + least <= n; k++) {
		double size, weight;

		sum += y[k - 1] - mean;
		if (k < least)
			continue;
		/* |mean of the first k - mean of the others|, weighted. */
		weight = (double)k * (double)(n - k) / (double)n;
		size = fabs(sum) / sqrt(weight);
		if (size > best) {
			best = size;
			at = k;
		}
	}
	*difference = best;
	return at;
}

/*
 * Lag-1 autocorrelation of y[from..to-1] around the means of the parts that the
 * split and the optimal partition cut it into: another change, which is not
 * found yet, would look like correlation.  Its expectation is low by some
 * (1 + 3 rho) / n for each mean that was estimated (Marriott and Pope 1954);
 * negative ones count as none, which only makes changes rarer.
 */
static double
correlation(const struct search *s, size_t from, size_t to, size_t split)
{
	double products = 0, squares = 0, before = 0, n = (double)(to - from);
	double rho;
	size_t n_parts = 0;

	for (size_t start = from, end; start < to; start = end) {
		double mean;

		end = start + 1;
		while (end < to && end != split && !s->is_start[end])
			end++;
		mean = sl__mean(s->y + start, end - start);
		n_parts++;
		for (size_t i = start; i < end; i++) {
			double r = s->y[i] - mean;

			products += r * before;
			squares += r * r;
			before = r;
		}
	}
	rho = squares > 0 ? products / squares : 0;
	rho += (double)n_parts * (1 + 3 * rho) / n;
	return fmin(fmax(rho, 0), RHO_MOST);
}

/* Probability of so large a difference without a change, by permutation. */
static double
p_of_split(struct search *s, size_t from, size_t to, size_t split)
{
	const double *y = s->y + from;
	double rho = correlation(s, from, to, split), found, other;
	size_t n = to - from;
	size_t n_as_large = 0, most = (size_t)(ALPHA * (N_PERMUTATIONS + 1));
	size_t n_left = n - 1, least = SL__LEVEL_SHIFT_LEAST - 1;

	for (size_t i = 0; i < n_left; i++)
		s->w[i] = y[i + 1] - rho * y[i];
	best_split(s->w, n_left, least, &found);
	memcpy(s->mixed, s->w, n_left * sizeof(*s->w));
	for (size_t i = 0; i < N_PERMUTATIONS && n_as_large <= most; i++) {
		for (size_t k = n_left - 1; k > 0; k--) {
			size_t at = sl__rng_below(&s->rng, k + 1);
			double held = s->mixed[k];

			s->mixed[k] = s->mixed[at];
			s->mixed[at] = held;
		}
		best_split(s->mixed, n_left, least, &other);
		n_as_large += other >= found;
	}
	return (double)(1 + n_as_large) / (N_PERMUTATIONS + 1);
}

/* Finds the changes of y[from..to-1], in the order of their places. */
static int
search_part(struct search *s, size_t from, size_t to)
{
	size_t n = to - from, split;
	double difference, p;

	if (n < 2 * (size_t)SL__LEVEL_SHIFT_LEAST)
		return 1;
	split = best_split(s->y + from, n, SL__LEVEL_SHIFT_LEAST, &difference);
	if (!(difference > 0))
		return 1;
	p = p_of_split(s, from, to, from + split);
	if (p > ALPHA)
		return 1;
	if (!search_part(s, from, from + split) ||
	    !sl__arena_grow(s->arena, &s->shifts, s->n_shifts, &s->cap,
			    sizeof(*s->shifts)))
		return 0;
	s->shifts[s->n_shifts++] =
		(struct sl__level_shift){.at = from + split, .p = p};
	return search_part(s, from + split, to);
}

static double
median_of(const double *x, size_t from, size_t to, double *scratch)
{
	memcpy(scratch, x + from, (to - from) * sizeof(*x));
	return sl__median_in_place(scratch, to - from);
}

enum sl_status
sl__level_shifts_find(struct sl__level_shifts *out, const double *x, size_t n,
		      struct sl__arena *arena, struct sl_error *err)
{
	const struct sl__pelt_options how = {.min_segment =
						     SL__LEVEL_SHIFT_LEAST};
	struct search s = {.arena = arena};
	struct sl__segments parts;
	enum sl_status rc;

	*out = (struct sl__level_shifts){NULL, 0};
	if (n < 2 * (size_t)SL__LEVEL_SHIFT_LEAST)
		return SL_OK;
	s.y = sl__arena_array(arena, n, sizeof(*s.y));
	s.w = sl__arena_array(arena, n, sizeof(*s.w));
	s.mixed = sl__arena_array(arena, n, sizeof(*s.mixed));
	s.is_start = sl__arena_array(arena, n, sizeof(*s.is_start));
	if (!s.y || !s.w || !s.mixed || !s.is_start)
		return sl__fail_nomem(err);
	sl__rng_init(&s.rng, SEED);
	winsorise(s.y, x, n, s.w);
	rc = sl__pelt(&parts, s.y, n, &how, arena, err);
	if (rc)
		return rc;
	for (size_t i = 0; i < parts.n; i++)
		s.is_start[parts.starts[i]] = 1;
	if (!search_part(&s, 0, n))
		return sl__fail_nomem(err);
	for (size_t i = 0; i < s.n_shifts; i++) {
		struct sl__level_shift *shift = &s.shifts[i];
		size_t from = i ? s.shifts[i - 1].at : 0;
		size_t to = i + 1 < s.n_shifts ? s.shifts[i + 1].at : n;

		shift->before = median_of(x, from, shift->at, s.w);
		shift->after = median_of(x, shift->at, to, s.w);
	}
	out->list = s.shifts;
	out->n = s.n_shifts;
	return SL_OK;
}
