/* SPDX-License-Identifier: Apache-2.0 */
/*
 * warmup.c - where the steady state of a series begins.
 *
 * After Barrett, Bolz-Tereick, Killick, Mount and Tratt (2017), "Virtual
 * machine warmup blows hot and cold", with two allowances for a machine that
 * others use as well: single spikes do not make segments, and a burst of up
 * to a tenth does not end a steady state.
 */
#include "stats/warmup.h"
#include "base/status.h"
#include "stats/changepoint.h"
#include "stats/summary.h"

#include <math.h>
#include <string.h>

#include "base/banned.h"

enum {
	FEWEST = 8,     /* four for each of two levels */
	HALF_WINDOW = 2 /* a median of five outvotes two spikes */
};

/* x[0..n-1] without its spikes, cut into segments. */
struct levels {
	const double *x;
	size_t n;
	struct sl__segments segments;
	double level, tolerance;
};

static void
draw_in_spikes(double *to, const double *x, size_t n, double reach)
{
	for (size_t i = 0; i < HALF_WINDOW; i++)
		to[i] = x[i];
	for (size_t i = HALF_WINDOW; i < n; i++) {
		double window[2 * HALF_WINDOW + 1];
		size_t from = i - HALF_WINDOW, length = n - from;
		double middle;

		if (length > 2 * HALF_WINDOW + 1)
			length = 2 * HALF_WINDOW + 1;
		memcpy(window, x + from, length * sizeof(*window));
		middle = sl__median_in_place(window, length);
		to[i] = fmin(fmax(x[i], middle - reach), middle + reach);
	}
}

static size_t
segment_end(const struct levels *l, size_t k)
{
	return k + 1 < l->segments.n ? l->segments.starts[k + 1] : l->n;
}

static double
mean_between(const struct levels *l, size_t from, size_t to)
{
	double sum = 0;

	for (size_t i = from; i < to; i++)
		sum += l->x[i];
	return sum / (double)(to - from);
}

/* The segment that stands for the end. */
static size_t
level_segment(const struct levels *l)
{
	for (size_t k = l->segments.n; k-- > 0;) {
		if (10 * (segment_end(l, k) - l->segments.starts[k]) >= l->n)
			return k;
	}
	return l->segments.n - 1;
}

static void
set_level(struct levels *l, double *scratch)
{
	size_t k = level_segment(l);
	size_t from = l->segments.starts[k], to = segment_end(l, k);
	struct sl__summary summary;

	sl__summary_of(&summary, l->x + from, to - from, scratch);
	l->level = summary.mean;
	/* 1 %: a smaller step matters to nobody; 2 * MADN: a smaller one
	 * hides in the noise of the values. */
	l->tolerance = fmax(0.01 * fabs(l->level), 2 * 1.4826 * summary.mad);
}

/* The first index of the steady state; n when there is none. */
static size_t
steady_start(const struct levels *l)
{
	size_t start = l->n, n_off = 0;

	for (size_t k = l->segments.n; k-- > 0;) {
		size_t from = l->segments.starts[k], to = segment_end(l, k);
		double mean = mean_between(l, from, to);

		if (fabs(mean - l->level) > l->tolerance)
			n_off += to - from;
		else if (10 * n_off <= l->n - from)
			start = from;
	}
	return start;
}

static void
classify(struct sl__warmup *out, const struct levels *l)
{
	size_t start = steady_start(l);
	double before, after;

	if (4 * (l->n - start) < l->n) {
		out->class_ = SL_WARMUP_NONE;
		return;
	}
	out->steady_from = start;
	out->class_ = SL_WARMUP_FLAT;
	if (start == 0)
		return;
	before = mean_between(l, 0, start);
	after = mean_between(l, start, l->n);
	out->class_ = before > after ? SL_WARMUP_WARMING : SL_WARMUP_SLOWING;
}

enum sl_status
sl__warmup_classify(struct sl__warmup *out, const double *x, size_t n,
		    struct sl__arena *arena, struct sl_error *err)
{
	struct levels levels = {.n = n};
	double *smooth, *scratch;
	enum sl_status rc;

	*out = (struct sl__warmup){SL_WARMUP_UNKNOWN, 0};
	if (n < FEWEST)
		return SL_OK;
	smooth = sl__arena_array(arena, n, sizeof(*smooth));
	scratch = sl__arena_array(arena, n, sizeof(*scratch));
	if (!smooth || !scratch)
		return sl__fail_nomem(err);
	draw_in_spikes(smooth, x, n, 3 * sl__noise_scale(x, n, scratch));
	levels.x = smooth;
	rc = sl__pelt(&levels.segments, smooth, n, NULL, arena, err);
	if (rc)
		return rc;
	set_level(&levels, scratch);
	classify(out, &levels);
	return SL_OK;
}
