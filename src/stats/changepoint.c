/* SPDX-License-Identifier: Apache-2.0 */
/*
 * changepoint.c - where a series changes its level.
 *
 * F(t) is the cost of the best partition of the first t values.  For every
 * level the last segment might have, one start of that segment is cheapest;
 * the levels at which a start is cheapest form its pieces.  A new value adds
 * the same cost to all starts that are open, so that a start which is
 * cheapest nowhere never wins again and is gone.  In a flat series a dozen
 * starts survive.  The noise between the values is assumed independent;
 * autocorrelation yields changes that are none.
 */
#include "stats/changepoint.h"
#include "base/status.h"
#include "stats/summary.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/banned.h"

/* A further one adds 1e12 to a sum, which then still resolves 1e-4. */
static const double FARTHEST = 1e6;

/* From 'lo' to 'hi' the cheapest last segment starts at 'start'. */
struct piece {
	double lo, hi;
	size_t start;
};

struct pieces {
	struct piece *at;
	size_t n, cap;
};

struct search {
	size_t n, min_segment;
	double penalty;
	double lowest, highest; /* every segment's mean lies between these */
	double *sum, *sum_sq;   /* of the first t scaled values, t = 0 .. n */
	double *cost;           /* F(t) + penalty */
	size_t *start;          /* of the last segment of the best partition */
	struct pieces now, next;
};

double
sl__noise_scale(const double *x, size_t n, double *scratch)
{
	const double sqrt_2 = 1.4142135623730951;
	double middle, sum = 0, mad;

	if (n < 2)
		return 0;
	for (size_t i = 0; i + 1 < n; i++) {
		scratch[i] = x[i + 1] - x[i];
		sum += fabs(scratch[i]);
	}
	middle = sl__median_in_place(scratch, n - 1);
	for (size_t i = 0; i + 1 < n; i++)
		scratch[i] = fabs(scratch[i] - middle);
	mad = sl__median_in_place(scratch, n - 1);
	/* 1 / Phi^-1(3/4), and sqrt(pi / 2), for normal noise. */
	if (mad > 0)
		return 1.4826022185056018 * mad / sqrt_2;
	return 1.2533141373155003 * (sum / (double)(n - 1)) / sqrt_2;
}

/* Fills the sums with x, centred on its median, in units of its noise. */
static void
scale_values(struct search *s, const double *x, double *scratch)
{
	double scale = sl__noise_scale(x, s->n, scratch);
	double middle;

	s->lowest = -1; /* a constant series has a range, too */
	s->highest = 1;
	memcpy(scratch, x, s->n * sizeof(*x));
	middle = sl__median_in_place(scratch, s->n);
	for (size_t i = 0; i < s->n; i++) {
		double z = scale > 0 ? (x[i] - middle) / scale : 0;

		z = fmin(fmax(z, -FARTHEST), FARTHEST);
		s->lowest = fmin(s->lowest, z);
		s->highest = fmax(s->highest, z);
		s->sum[i + 1] = s->sum[i] + z;
		s->sum_sq[i + 1] = s->sum_sq[i] + z * z;
	}
}

/* Adds [lo, hi] for 'start' on the right end of the pieces. */
static void
add_piece(struct pieces *pieces, double lo, double hi, size_t start)
{
	size_t n = pieces->n;

	if (n > 0 && pieces->at[n - 1].start == start) {
		pieces->at[n - 1].hi = hi;
		return;
	}
	assert(n < pieces->cap);
	pieces->at[n] = (struct piece){lo, hi, start};
	pieces->n = n + 1;
}

/*
 * Splits 'old' where a segment from 'start', later than old->start, is
 * cheaper: old's cost less the new one's is the parabola
 * (start - old->start) level^2 - 2 b level + c, whatever came after 'start'.
 */
static void
challenge(struct search *s, const struct piece *old, size_t start)
{
	double a = (double)(start - old->start);
	double b = s->sum[start] - s->sum[old->start];
	double c = s->cost[old->start] - s->cost[start] + s->sum_sq[start] -
		   s->sum_sq[old->start];
	double discriminant = b * b - a * c;
	double left, right;

	if (discriminant <= 0) {
		add_piece(&s->next, old->lo, old->hi, start);
		return;
	}
	left = (b - sqrt(discriminant)) / a;
	right = (b + sqrt(discriminant)) / a;
	left = fmin(fmax(left, old->lo), old->hi);
	right = fmax(fmin(right, old->hi), left);
	if (left > old->lo)
		add_piece(&s->next, old->lo, left, start);
	if (right > left)
		add_piece(&s->next, left, right, old->start);
	if (right < old->hi)
		add_piece(&s->next, right, old->hi, start);
}

/* Opens 'start' as the beginning of a last segment. */
static void
open_start(struct search *s, size_t start)
{
	struct pieces old = s->now;

	s->next.n = 0;
	if (!old.n)
		add_piece(&s->next, s->lowest, s->highest, start);
	for (size_t i = 0; i < old.n; i++)
		challenge(s, &old.at[i], start);
	s->now = s->next;
	s->next = old;
}

/* The cheapest level of the last segment among the open starts sets F(end). */
static void
close_end(struct search *s, size_t end)
{
	double best = (double)INFINITY;

	for (size_t i = 0; i < s->now.n; i++) {
		const struct piece *p = &s->now.at[i];
		double sum = s->sum[end] - s->sum[p->start];
		double length = (double)(end - p->start);
		double level = fmin(fmax(sum / length, p->lo), p->hi);
		double cost = s->cost[p->start] + s->sum_sq[end] -
			      s->sum_sq[p->start] +
			      level * (length * level - 2 * sum);

		if (cost < best) {
			best = cost;
			s->start[end] = p->start;
		}
	}
	s->cost[end] = best + s->penalty;
}

static void
minimise(struct search *s)
{
	s->cost[0] = 0;
	for (size_t end = s->min_segment; end <= s->n; end++) {
		size_t start = end - s->min_segment;

		/* The first min_segment - 1 values end no partition. */
		if (start == 0 || start >= s->min_segment)
			open_start(s, start);
		close_end(s, end);
	}
}

static enum sl_status
reserve(struct search *s, struct sl__arena *arena, struct sl_error *err)
{
	/* k parabolas that cross pairwise at most twice have an envelope of
	 * at most 2 k - 1 pieces (Davenport and Schinzel). */
	size_t cap = 2 * s->n;

	s->sum = sl__arena_array(arena, s->n + 1, sizeof(*s->sum));
	s->sum_sq = sl__arena_array(arena, s->n + 1, sizeof(*s->sum_sq));
	s->cost = sl__arena_array(arena, s->n + 1, sizeof(*s->cost));
	s->start = sl__arena_array(arena, s->n + 1, sizeof(*s->start));
	s->now.at = sl__arena_array(arena, cap, sizeof(*s->now.at));
	s->next.at = sl__arena_array(arena, cap, sizeof(*s->next.at));
	s->now.cap = s->next.cap = cap;
	if (!s->sum || !s->sum_sq || !s->cost || !s->start || !s->now.at ||
	    !s->next.at)
		return sl__fail_nomem(err);
	return SL_OK;
}

/* Follows the starts back from n; they come out in falling order. */
static enum sl_status
trace_back(struct sl__segments *out, const struct search *s,
	   struct sl__arena *arena, struct sl_error *err)
{
	size_t n_segments = 0, k;

	for (size_t end = s->n; end > 0; end = s->start[end])
		n_segments++;
	out->starts = sl__arena_array(arena, n_segments, sizeof(*out->starts));
	if (!out->starts)
		return sl__fail_nomem(err);
	k = out->n = n_segments;
	for (size_t end = s->n; end > 0; end = s->start[end])
		out->starts[--k] = s->start[end];
	return SL_OK;
}

enum sl_status
sl__pelt(struct sl__segments *out, const double *x, size_t n,
	 const struct sl__pelt_options *how, struct sl__arena *arena,
	 struct sl_error *err)
{
	struct search s = {.n = n, .min_segment = 1};
	enum sl_status rc;

	*out = (struct sl__segments){NULL, 0};
	if (n == 0)
		return sl__fail(err, SL_E_USAGE, "no values to segment");
	/* Two to three times ln n is consistent for independent normal noise;
	 * 15 leaves room for the tails and correlation of times. */
	s.penalty = 15 * log((double)n);
	if (how && how->penalty > 0)
		s.penalty = how->penalty;
	if (how && how->min_segment > 1)
		s.min_segment = how->min_segment < n ? how->min_segment : n;
	rc = reserve(&s, arena, err);
	if (rc)
		return rc;
	scale_values(&s, x, s.cost); /* F is not in use yet */
	minimise(&s);
	return trace_back(out, &s, arena, err);
}
