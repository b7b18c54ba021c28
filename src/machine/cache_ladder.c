/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cache_ladder.c - the caches that a process gets, found from two curves.
 *
 * A virtual machine shows caches that are not there, or that others fill.
 * What a process gets shows in the time of an access over the size of its
 * working set: a staircase with ramps between the steps.  The least over
 * repetitions, since disturbances only add, is made monotonic, since more
 * memory is never nearer; stretches
 * that hardly rise over an octave are levels; what lies between two levels is
 * the edge of a cache.  An edge is placed in each repetition by counting the
 * sizes on its near side, which one disturbed size moves by one at most.  A
 * cache without a level of its own in one curve may have one in the other.
 */
#include "machine/cache_ladder.h"
#include "base/status.h"
#include "stats/summary.h"

#include <math.h>
#include <string.h>

#include "base/banned.h"

/* d ln(time) / d ln(size) of a level at most: page tables let a level rise by
 * a tenth per octave, and a cache of random replacement that is too small by
 * a third rises by 0.5. */
static const double FLAT_SLOPE = 0.3;

/* Levels closer than this are one: page tables and prefetchers make steps of
 * up to a fifth within a level. */
static const double SAME_LEVEL = 0.2;

/* The shortest level, as ln(size): an octave less a rounding of sizes. */
static const double SHORTEST = 0.65;

struct level {
	size_t first, last;
	double y; /* ln(time) */
};

struct staircase {
	const struct sl__ladder_curve *curve;
	double *x, *y;   /* [n] logarithms; y is the monotonic least */
	double *scratch; /* [n or n_repeats, the larger] */
	struct level levels[SL__LADDER_STEPS_MOST + 1];
	size_t n_levels;
};

/* Pool adjacent violators: the nearest curve in squares that never falls. */
static void
make_monotonic(double *y, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		size_t first = i;
		double sum = y[i];

		while (first > 0 &&
		       y[first - 1] > sum / (double)(i - first + 1))
			sum += y[--first];
		for (size_t k = first; k <= i; k++)
			y[k] = sum / (double)(i - first + 1);
	}
}

static double
cost(const struct staircase *s, size_t repeat, size_t i)
{
	return log(s->curve->costs[repeat * s->curve->n_sizes + i]);
}

static enum sl_status
take_curve(struct staircase *s, const struct sl__ladder_curve *curve,
	   struct sl__arena *arena, struct sl_error *err)
{
	size_t n = curve->n_sizes;
	size_t most = n > curve->n_repeats ? n : curve->n_repeats;

	memset(s, 0, sizeof(*s));
	s->curve = curve;
	s->x = sl__arena_array(arena, n + 1, sizeof(double));
	s->y = sl__arena_array(arena, n + 1, sizeof(double));
	s->scratch = sl__arena_array(arena, most + 1, sizeof(double));
	if (!s->x || !s->y || !s->scratch)
		return sl__fail_nomem(err);
	for (size_t i = 0; i < n; i++) {
		s->x[i] = log(curve->sizes_bytes[i]);
		s->y[i] = cost(s, 0, i);
		for (size_t r = 1; r < curve->n_repeats; r++)
			s->y[i] = fmin(s->y[i], cost(s, r, i));
	}
	make_monotonic(s->y, n);
	return SL_OK;
}

/* From the size before i to the one after it, clipped to the curve; returns
 * whether that is flat. */
static int
is_flat(const struct staircase *s, size_t i, size_t *first, size_t *last)
{
	*first = i - (i > 0);
	*last = i + (i + 1 < s->curve->n_sizes);
	return *last > *first &&
	       s->y[*last] - s->y[*first] <=
		       FLAT_SLOPE * (s->x[*last] - s->x[*first]);
}

static double
median_of(const struct staircase *s, size_t first, size_t last)
{
	size_t n = last - first + 1;

	memcpy(s->scratch, s->y + first, n * sizeof(double));
	return sl__median_in_place(s->scratch, n);
}

/* A stretch that is long enough is a level, or more of the level before. */
static void
add_level(struct staircase *s, size_t first, size_t last)
{
	struct level *before = s->levels + s->n_levels - (s->n_levels > 0);
	double y = median_of(s, first, last);

	if (s->n_levels && y - before->y < SAME_LEVEL) {
		before->last = last;
		before->y = median_of(s, before->first, last);
	} else if (s->x[last] - s->x[first] >= SHORTEST &&
		   s->n_levels <= SL__LADDER_STEPS_MOST) {
		s->levels[s->n_levels++] = (struct level){first, last, y};
	}
}

static void
find_levels(struct staircase *s)
{
	size_t n = s->curve->n_sizes, first, last, from = n, to = 0;

	for (size_t i = 0; i < n; i++) {
		int flat = is_flat(s, i, &first, &last);

		if (flat && from == n)
			from = first;
		if (flat)
			to = last;
		if (from < n && (!flat || i + 1 == n)) {
			add_level(s, from, to);
			from = n;
		}
	}
}

/* How many sizes between two levels cost less than 'part' of the way from one
 * to the other, in one repetition. */
static double
n_below(const struct staircase *s, size_t k, size_t repeat, double part)
{
	const struct level *a = &s->levels[k], *b = a + 1;
	double limit = a->y + part * (b->y - a->y);
	size_t n = 0;

	for (size_t i = a->first; i <= b->last; i++)
		n += cost(s, repeat, i) < limit;
	return (double)(a->first + n);
}

/* Of the n-th size, kept within the curve. */
static double
size_at(const struct staircase *s, double n)
{
	size_t last = s->curve->n_sizes - 1;

	return s->curve->sizes_bytes[n < 0 ? 0 : (size_t)fmin(n, (double)last)];
}

/*
 * The edge behind level k: the median over repetitions of where half of the
 * rise is done, between two sizes.  What surely fits is the last size within a
 * quarter of the rise in every repetition, what surely does not the first
 * beyond three quarters.
 */
static struct sl_cache_edge
edge_of(const struct staircase *s, size_t k)
{
	size_t n_repeats = s->curve->n_repeats;
	double lo = HUGE_VAL, hi = 0, half;

	for (size_t r = 0; r < n_repeats; r++) {
		s->scratch[r] = n_below(s, k, r, 0.5);
		lo = fmin(lo, n_below(s, k, r, 0.25));
		hi = fmax(hi, n_below(s, k, r, 0.75));
	}
	half = floor(sl__median_in_place(s->scratch, n_repeats));
	return (struct sl_cache_edge){
		sqrt(size_at(s, half - 1) * size_at(s, half)),
		size_at(s, lo - 1), size_at(s, hi)};
}

/*
 * A level of the least over repetitions may be none of most of them, where
 * neighbours let it be once.  Between the edges on its two sides, which every
 * repetition has a say in, there is then no room for a level.
 */
static void
drop_narrow_levels(struct staircase *s)
{
	size_t k = 1;

	while (k + 1 < s->n_levels) {
		double near = edge_of(s, k - 1).bytes;

		if (log(edge_of(s, k).bytes / near) >= SHORTEST) {
			k++;
			continue;
		}
		s->n_levels--;
		memmove(s->levels + k, s->levels + k + 1,
			(s->n_levels - k) * sizeof(*s->levels));
		k = 1;
	}
}

/* The least latency of a set of this size, as made monotonic. */
static double
latency_of(const struct staircase *latency, double size_bytes)
{
	size_t i = 0;

	while (i + 1 < latency->curve->n_sizes &&
	       latency->curve->sizes_bytes[i] < size_bytes)
		i++;
	return exp(latency->y[i]);
}

/*
 * A cache of which others take much has no level in random order, only a rise
 * from the cache before it to memory: streams still see where one ends and the
 * other begins.  Cache i, whose streams end at 'near', becomes two; the latter
 * has what is left of the rise.
 */
static void
split(struct sl__found_caches *out, size_t i, const struct sl_cache_edge *far,
      const struct staircase *latency)
{
	struct sl_found_cache *first = &out->at[i], *second = first + 1;
	const struct sl_cache_edge *near = &first->stream;

	memmove(second, first, (out->n - i) * sizeof(*first));
	out->n++;
	second->stream = *far;
	second->latency.lo_bytes = near->hi_bytes;
	second->latency.bytes = fmax(first->latency.bytes, near->hi_bytes);
	second->latency_ns = latency_of(latency, near->hi_bytes);
	first->behind_ns = second->latency_ns;
	first->latency.bytes = fmin(first->latency.bytes, near->bytes);
	first->latency.hi_bytes = near->hi_bytes;
	for (size_t k = i; k < out->n; k++)
		out->at[k].level = (enum sl_level)(SL_LEVEL_L1 + k);
}

/* Whether the rise behind a cache begins before its streams end, and goes on to
 * where streams end once more. */
static int
holds_two(const struct sl_found_cache *c, const struct sl_cache_edge *far)
{
	return !isnan(c->stream.bytes) &&
	       c->stream.bytes >= c->latency.lo_bytes &&
	       c->stream.hi_bytes < c->latency.hi_bytes &&
	       far->bytes > c->stream.hi_bytes;
}

/* The cache whose own edge is nearest to one of streams, of those that begin
 * before it ends, for prefetching lets a cache seem larger, never smaller;
 * out->n: none. */
static size_t
nearest_cache(const struct sl__found_caches *out,
	      const struct sl_cache_edge *edge)
{
	size_t nearest = out->n;
	double least = HUGE_VAL;

	for (size_t i = 0; i < out->n; i++) {
		const struct sl_cache_edge *own = &out->at[i].latency;
		double distance = fabs(log(edge->bytes / own->bytes));

		if (own->lo_bytes <= edge->hi_bytes && distance < least) {
			least = distance;
			nearest = i;
		}
	}
	return nearest;
}

static void
place_streams(struct sl__found_caches *out, const struct staircase *s,
	      const struct staircase *latency)
{
	for (size_t k = 0; k + 1 < s->n_levels; k++) {
		struct sl_cache_edge edge = edge_of(s, k);
		size_t i = nearest_cache(out, &edge);

		if (i == out->n)
			continue;
		if (out->n < SL_LEVEL_L5 && holds_two(&out->at[i], &edge))
			split(out, i, &edge, latency);
		else
			out->at[i].stream = edge;
	}
}

enum sl_status
sl__cache_ladder_find(struct sl__found_caches *out,
		      const struct sl__ladder_curve *latency,
		      const struct sl__ladder_curve *stream,
		      struct sl__arena *arena, struct sl_error *err)
{
	const struct sl_cache_edge none = {(double)NAN, (double)NAN,
					   (double)NAN};
	struct staircase s, streams;
	enum sl_status rc;

	memset(out, 0, sizeof(*out));
	rc = take_curve(&s, latency, arena, err);
	if (rc)
		return rc;
	find_levels(&s);
	drop_narrow_levels(&s);
	for (size_t k = 0; k + 1 < s.n_levels && k < SL_LEVEL_L5; k++)
		out->at[out->n++] = (struct sl_found_cache){
			(enum sl_level)(SL_LEVEL_L1 + k), edge_of(&s, k), none,
			exp(s.levels[k].y), exp(s.levels[k + 1].y)};
	if (!stream)
		return SL_OK;
	rc = take_curve(&streams, stream, arena, err);
	if (rc)
		return rc;
	find_levels(&streams);
	drop_narrow_levels(&streams);
	place_streams(out, &streams, &s);
	return SL_OK;
}
