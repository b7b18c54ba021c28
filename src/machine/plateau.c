/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plateau.c - the levels of a memory curve, found and named.
 *
 * The curve is a staircase in the logarithm of the size, with ramps between
 * the steps where a working set fits partly.  Change points (changepoint.h)
 * cut it, ramps included; ramps are then recognised by being short.
 */
#include "machine/plateau.h"
#include "base/status.h"
#include "stats/changepoint.h"
#include "stats/summary.h"

#include <math.h>
#include <string.h>

#include "base/banned.h"

/* A wiggle below 3 % is no change of level, however quiet the curve is:
 * alignment and the page tables move points by that much. */
static const double NOISE_FLOOR = 0.03;

/* Levels closer than this are one: the steps between the levels of real
 * memories are at least a factor of 1.3. */
static const double SAME_LEVEL = 0.15;

/* With two sizes an octave a step shorter than 3 points is a ramp: no cache
 * is less than 1.5 octaves larger than the one before it. */
enum { MIN_POINTS = 3 };

struct curve {
	double *y; /* logarithms */
	size_t n;
	double *scratch; /* [n] */
};

static double
median_of(const struct curve *curve, size_t first, size_t last)
{
	size_t n = last - first + 1;

	memcpy(curve->scratch, curve->y + first, n * sizeof(double));
	return sl__median_in_place(curve->scratch, n);
}

static size_t
n_points(const struct sl__plateau *p)
{
	return p->last - p->first + 1;
}

/* Removes segment i by letting the ones after it move up. */
static void
drop(struct sl__plateau *s, size_t *n, size_t i)
{
	memmove(&s[i], &s[i + 1], (*n - i - 1) * sizeof(*s));
	(*n)--;
}

/* Joins neighbours of one level; returns whether there were any. */
static int
join_alike(struct sl__plateau *s, size_t *n, const struct curve *curve)
{
	for (size_t i = 0; i + 1 < *n; i++) {
		if (fabs(s[i].value - s[i + 1].value) > SAME_LEVEL)
			continue;
		s[i].last = s[i + 1].last;
		s[i].value = median_of(curve, s[i].first, s[i].last);
		drop(s, n, i + 1);
		return 1;
	}
	return 0;
}

/* Leaves out the shortest inner segment below MIN_POINTS, if any. */
static int
drop_ramp(struct sl__plateau *s, size_t *n)
{
	size_t shortest = 0, fewest = MIN_POINTS;

	for (size_t i = 1; i + 1 < *n; i++) {
		if (n_points(&s[i]) < fewest) {
			fewest = n_points(&s[i]);
			shortest = i;
		}
	}
	if (!shortest)
		return 0;
	drop(s, n, shortest);
	return 1;
}

static enum sl_status
cut(struct sl__segments *out, const struct curve *curve,
    struct sl__arena *arena, struct sl_error *err)
{
	struct sl__pelt_options how = {0};
	double noise = sl__noise_scale(curve->y, curve->n, curve->scratch);

	/* The penalty counts in squared noise; see NOISE_FLOOR. */
	how.penalty = 15 * log((double)curve->n);
	if (noise > 0 && noise < NOISE_FLOOR)
		how.penalty *= (NOISE_FLOOR / noise) * (NOISE_FLOOR / noise);
	how.min_segment = 1;
	return sl__pelt(out, curve->y, curve->n, &how, arena, err);
}

static void
refine(struct sl__plateaus *out, struct sl__plateau *s, size_t n,
       const struct curve *curve)
{
	while (join_alike(s, &n, curve) || drop_ramp(s, &n))
		;
	for (size_t i = 0; i < n && i < SL__MAX_PLATEAUS; i++) {
		out->at[i] = s[i];
		out->at[i].value = exp(s[i].value);
		out->at[i].level = SL_LEVEL_NONE;
		out->n++;
	}
}

enum sl_status
sl__plateaus_find(struct sl__plateaus *out, const double *values, size_t n,
		  struct sl__arena *arena, struct sl_error *err)
{
	struct curve curve = {sl__arena_array(arena, n, sizeof(double)), n,
			      sl__arena_array(arena, n, sizeof(double))};
	struct sl__segments segments;
	struct sl__plateau *s;
	enum sl_status rc;

	memset(out, 0, sizeof(*out));
	if (!curve.y || !curve.scratch)
		return sl__fail_nomem(err);
	for (size_t i = 0; i < n; i++)
		curve.y[i] = log(values[i]);
	rc = cut(&segments, &curve, arena, err);
	if (rc)
		return rc;
	s = sl__arena_array(arena, segments.n, sizeof(*s));
	if (!s)
		return sl__fail_nomem(err);
	for (size_t i = 0; i < segments.n; i++) {
		s[i].first = segments.starts[i];
		s[i].last = i + 1 < segments.n ? segments.starts[i + 1] - 1
					       : n - 1;
		s[i].value = median_of(&curve, s[i].first, s[i].last);
	}
	refine(out, s, segments.n, &curve);
	return SL_OK;
}

static enum sl_level
level_of(const struct sl_cache *cache)
{
	return cache->level <= SL_LEVEL_L5 ? (enum sl_level)cache->level
					   : SL_LEVEL_NONE;
}

/* What one of n_threads has of a cache that others may share. */
static double
capacity_bytes(const struct sl_cache *cache, size_t n_threads)
{
	size_t n_users = cache->n_sharing < n_threads ? cache->n_sharing
						      : n_threads;

	return (double)cache->size_bytes / (double)(n_users ? n_users : 1);
}

/*
 * The cache nearest to where a plateau ends, or NULL.  A plateau may end well
 * before its cache, which others use too (up to a factor of 6), but not far
 * behind it (2).
 */
static const struct sl_cache *
nearest_cache(double size_bytes, const struct sl_cache *caches, size_t n_caches,
	      size_t n_threads)
{
	const struct sl_cache *best = NULL;
	double octaves = HUGE_VAL;

	for (size_t i = 0; i < n_caches; i++) {
		double left =
			capacity_bytes(&caches[i], n_threads) / size_bytes;

		if (caches[i].kind == SL_CACHE_INSTRUCTION || left > 6 ||
		    left < 0.5)
			continue;
		if (fabs(log2(left)) < octaves) {
			octaves = fabs(log2(left));
			best = &caches[i];
		}
	}
	return best;
}

int
sl__size_exceeds_caches(size_t size_bytes, const struct sl_cache *caches,
			size_t n_caches, size_t n_threads)
{
	for (size_t i = 0; i < n_caches; i++) {
		if ((double)size_bytes <
		    2 * capacity_bytes(&caches[i], n_threads))
			return 0;
	}
	return 1;
}

/* How many levels of cache data passes through. */
static size_t
n_data_caches(const struct sl_cache *caches, size_t n_caches)
{
	size_t n = 0;

	for (size_t i = 0; i < n_caches; i++)
		n += caches[i].kind != SL_CACHE_INSTRUCTION;
	return n;
}

static void
name_in_order(struct sl__plateaus *plateaus, const struct sl_cache *caches)
{
	for (size_t i = 0; i + 1 < plateaus->n; i++, caches++) {
		while (caches->kind == SL_CACHE_INSTRUCTION)
			caches++;
		plateaus->at[i].level = level_of(caches);
	}
}

/* Of two plateaus that would be the same cache the longer one is: the other
 * is where the cache gives way to what lies behind it. */
static void
name_by_size(struct sl__plateaus *plateaus, const size_t *sizes_bytes,
	     const struct sl_cache *caches, size_t n_caches, size_t n_threads)
{
	for (size_t i = 0; i < plateaus->n; i++) {
		struct sl__plateau *p = &plateaus->at[i];
		const struct sl_cache *cache =
			nearest_cache((double)sizes_bytes[p->last], caches,
				      n_caches, n_threads);

		p->level = cache ? level_of(cache) : SL_LEVEL_NONE;
		for (size_t k = 0; k < i; k++) {
			struct sl__plateau *other = &plateaus->at[k];

			if (other->level != p->level)
				continue;
			if (n_points(other) < n_points(p))
				other->level = SL_LEVEL_NONE;
			else
				p->level = SL_LEVEL_NONE;
		}
	}
}

void
sl__plateaus_name(struct sl__plateaus *plateaus, const size_t *sizes_bytes,
		  const struct sl_cache *caches, size_t n_caches,
		  size_t n_threads, int to_memory)
{
	struct sl__plateau *last = &plateaus->at[plateaus->n - 1];

	if (plateaus->n == 1)
		return; /* no step, no level */
	if (to_memory && plateaus->n == n_data_caches(caches, n_caches) + 1)
		name_in_order(plateaus, caches);
	else
		name_by_size(plateaus, sizes_bytes, caches, n_caches,
			     n_threads);
	if (to_memory)
		last->level = SL_LEVEL_DRAM;
}
