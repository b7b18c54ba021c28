/* SPDX-License-Identifier: Apache-2.0 */
/*
 * figure_latency.c - how long something takes: the distribution of its
 * samples, the cumulative curve beside it, and the samples in order.
 */
#include "base/arena.h"
#include "base/buf.h"
#include "report/figures.h"
#include "report/histogram.h"
#include "report/unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/banned.h"

enum { FEWEST = 3, BINS_MOST = 40, LOG_FROM = 8 };

static const double TOP = 24, BOTTOM = 250, HEIGHT = 302;
static const double S_PER_NS = 1e-9;
/* Of "p90 15.57 ms" in letters of 11 points, which are 6.4 wide in wide faces;
 * on a phone 12.2 of 860 points, so a tenth more. */
static const double NAME_WIDTH = 90;

static int
compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The samples after warm-up in seconds, in ascending order. */
static double *
steady_samples(struct sl__arena *arena, const struct sl_latency *l, size_t *n)
{
	double *x = sl__arena_array(arena, l->n_samples + 1, sizeof(*x));

	*n = 0;
	for (size_t i = 0; x && i < l->n_samples; i++) {
		if (!l->samples[i].is_warmup)
			x[(*n)++] = S_PER_NS * l->samples[i].ns;
	}
	if (x)
		qsort(x, *n, sizeof(*x), compare);
	return x;
}

/* The interval of the median as a band, below the bars; returns whether there
 * is one. */
static int
add_interval(struct sl__svg *s, const struct sl_latency *l,
	     const struct sl__axis *x)
{
	double lo = fmax(x->lo, S_PER_NS * l->median.lo);
	double hi = fmin(x->hi, S_PER_NS * l->median.hi);

	if (!sl__figure_has_interval(&l->median) || !(hi > lo))
		return 0;
	sl__svg_open(s, "rect", "s1 soft", "x y width height",
		     sl__axis_at(x, lo), TOP,
		     sl__axis_at(x, hi) - sl__axis_at(x, lo), BOTTOM - TOP);
	sl__svg_close(s);
	return 1;
}

static void
add_median(struct sl__svg *s, const struct sl_latency *l,
	   const struct sl__axis *x)
{
	double at = sl__axis_at(x, S_PER_NS * l->median.value);
	struct sl__text t;

	/* A saved result may say anything. */
	if (!(at >= x->from && at <= x->to))
		return;
	sl__svg_open(s, "line", "line k1", "x1 y1 x2 y2", at, TOP, at, BOTTOM);
	sl__svg_close(s);
	sl__svg_label(s, "label middle", at, TOP - 8, "median %s",
		      sl__time_text(&t, l->median.value));
}

/* Returns whether the median has an interval in it. */
static int
add_histogram(struct sl__svg *s, const struct sl_latency *l,
	      const struct sl__histogram *h)
{
	struct sl__axis x = {.lo = h->lo,
			     .hi = h->hi,
			     .from = 76,
			     .to = 420,
			     .unit = "s",
			     .title = "time"};
	struct sl__axis y = {
		.from = BOTTOM, .to = TOP, .is_whole = 1, .title = "samples"};
	double width = (h->hi - h->lo) / (double)h->n_bins;
	struct sl__text a, b;
	int has_interval;

	for (size_t i = 0; i < h->n_bins; i++)
		y.hi = fmax(y.hi, (double)h->counts[i]);
	sl__axis_round(&y);
	sl__svg_axes(s, &x, &y);
	has_interval = add_interval(s, l, &x);
	for (size_t i = 0; i < h->n_bins; i++) {
		double lo = h->lo + (double)i * width;
		double from = sl__axis_at(&x, lo);
		double at = sl__axis_at(&y, (double)h->counts[i]);

		if (!h->counts[i])
			continue;
		sl__svg_open(s, "rect", "mark s0", "x y width height",
			     from + 0.5, at,
			     fmax(sl__axis_at(&x, lo + width) - from - 1, 1),
			     BOTTOM - at);
		sl__svg_close_with_tip(
			s, "%zu from %s to %s", h->counts[i],
			sl__time_text(&a, lo / S_PER_NS),
			sl__time_text(&b, (lo + width) / S_PER_NS));
	}
	add_median(s, l, &x);
	return has_interval;
}

/* Below the curve, on the right of its point; or above it on the left, where
 * the figure ends.  'nth' keeps names of near percentiles apart. */
static void
name_percentile(struct sl__svg *s, const struct sl__axis *x, double y,
		size_t nth, const char *name, double ns)
{
	double at = sl__axis_at(x, S_PER_NS * ns);
	struct sl__text t;
	int is_left = at + 8 + NAME_WIDTH > SL__FIGURE_WIDTH;

	sl__svg_label(s, is_left ? "note end" : "note",
		      is_left ? at - 8 : at + 8,
		      is_left ? y - 4 - 2 * (double)nth
			      : y + 4 + 11 * (2 - (double)nth),
		      "%s %s", name, sl__time_text(&t, ns));
}

/* The share of samples up to each time. */
static void
add_cumulative(struct sl__svg *s, const struct sl_latency *l, const double *x,
	       size_t n, const struct sl__histogram *h)
{
	const struct sl_estimate *const named[] = {&l->p90, &l->p95, &l->p99};
	static const char *const names[] = {"p90", "p95", "p99"};
	static const double shares[] = {0.9, 0.95, 0.99};
	struct sl__axis across = {.lo = h->lo,
				  .hi = h->hi,
				  .from = 510,
				  .to = 830,
				  .unit = "s",
				  .title = "time"};
	struct sl__axis up = {.lo = 0,
			      .hi = 1,
			      .from = BOTTOM,
			      .to = TOP,
			      .title = "share of samples within"};
	double last = BOTTOM;
	struct sl__text t;

	sl__svg_axes(s, &across, &up);
	sl__svg_path(s, "line k0");
	sl__svg_path_to(s, across.from, BOTTOM);
	for (size_t i = 0; i < n && x[i] <= h->hi; i++) {
		double at = fmax(sl__axis_at(&across, x[i]), across.from);

		sl__svg_path_to(s, at, last);
		last = sl__axis_at(&up, (double)(i + 1) / (double)n);
		sl__svg_path_to(s, at, last);
	}
	sl__svg_path_to(s, across.to, last);
	sl__svg_path_done(s);
	sl__svg_close(s);
	for (size_t i = 0; i < 3; i++) {
		double value = S_PER_NS * named[i]->value;

		if (named[i]->needs_n || !(value <= h->hi))
			continue;
		sl__svg_open(s, "circle", "mark s1", "cx cy r",
			     sl__axis_at(&across, value),
			     sl__axis_at(&up, shares[i]), 4.0);
		sl__svg_close_with_tip(s, "%s %s", names[i],
				       sl__time_text(&t, named[i]->value));
		name_percentile(s, &across, sl__axis_at(&up, shares[i]), i,
				names[i], named[i]->value);
	}
}

/* The samples within twice the spread of the middle 80 %, which a few that
 * others disturbed leave as it is; *first is where they begin. */
static size_t
middle_of(const double *x, size_t n, size_t *first)
{
	double spread = x[n - 1 - n / 10] - x[n / 10];
	double lo = x[n / 2] - 2 * spread, hi = x[n / 2] + 2 * spread;
	size_t end = n;

	*first = 0;
	if (!(spread > 0))
		return n;
	while (x[*first] < lo)
		++*first;
	while (x[end - 1] > hi)
		end--;
	return end - *first;
}

static void
add_distribution(struct sl__views *v, const struct sl_latency *l,
		 const double *x, size_t n, const char *noun)
{
	struct sl__histogram h;
	struct sl__svg *s;
	size_t first, n_middle;
	int has_interval;

	n_middle = middle_of(x, n, &first);
	sl__histogram_of(&h, x + first, n_middle, S_PER_NS * l->median.value,
			 BINS_MOST);
	h.n_beyond += n - n_middle;
	if (!(h.hi > h.lo))
		return;
	s = sl__views_figure(v, "latency-distribution",
			     "Distribution of the latency", SL__FIGURE_WIDTH,
			     HEIGHT);
	has_interval = add_histogram(s, l, &h);
	add_cumulative(s, l, x, n, &h);
	sl__views_figure_end(
		v,
		"%zu %ss after warm-up. Bars: how often each time occurs, with "
		"the median%s. Line: the share of %ss that took no longer.%s",
		n, noun, has_interval ? " and its 95 % interval" : "", noun,
		h.n_beyond ? " Times far beyond the others are not drawn; the "
			     "samples in order have them."
			   : "");
}

/* Samples that are drawn alike. */
enum state { STEADY = 0, DISTURBED, WARMUP, N_STATES };

static const struct {
	const char *name, *mark, *look;
} states[N_STATES] = {[STEADY] = {"steady", "mark s0", "s0"},
		      [DISTURBED] = {"disturbed", "mark s4", "s4"},
		      [WARMUP] = {"warm-up", "mark s7", "s7"}};

static enum state
state_of(const struct sl_sample *sample)
{
	return sample->is_warmup      ? WARMUP
	       : sample->is_disturbed ? DISTURBED
				      : STEADY;
}

/* The states that there are, and what the caption says of them. */
static void
name_states(struct sl__views *v, const size_t n[N_STATES], const char *noun)
{
	double x = 76;
	char all[96] = "";
	size_t used = 0;

	for (int i = 0; i < N_STATES; i++) {
		if (n[i])
			x = sl__svg_legend(&v->svg, states[i].look, x, 14,
					   states[i].name);
	}
	if (n[WARMUP])
		used = (size_t)snprintf(all, sizeof(all), ": %zu of warm-up",
					n[WARMUP]);
	if (n[DISTURBED])
		snprintf(all + used, sizeof(all) - used,
			 "%s %zu while something else disturbed the machine",
			 used ? "," : ":", n[DISTURBED]);
	sl__views_figure_end(v,
			     "Every %s in the order it was taken%s. The dashed "
			     "line is the median.",
			     noun, all);
}

static void
add_sample(struct sl__svg *s, const struct sl_sample *sample, double x,
	   double y)
{
	enum state state = state_of(sample);
	struct sl__text t;

	sl__svg_open(s, "circle", states[state].mark, "cx cy r", x, y, 2.6);
	sl__svg_close_with_tip(s, "%s, round %zu, %s",
			       sl__time_text(&t, sample->ns), sample->round,
			       states[state].name);
}

static void
add_samples(struct sl__views *v, const struct sl_latency *l, const char *noun)
{
	struct sl__axis x = {.lo = 0,
			     .hi = (double)(l->n_samples - 1),
			     .from = 76,
			     .to = 840,
			     .is_whole = 1,
			     .title = "sample, in order"};
	struct sl__axis y = {.lo = INFINITY,
			     .hi = -INFINITY,
			     .from = BOTTOM,
			     .to = TOP,
			     .unit = "s",
			     .title = "time"};
	size_t n[N_STATES] = {0};
	double median = S_PER_NS * l->median.value;
	struct sl__svg *s;

	for (size_t i = 0; i < l->n_samples; i++) {
		double at = S_PER_NS * l->samples[i].ns;

		y.lo = fmin(y.lo, at);
		y.hi = fmax(y.hi, at);
		n[state_of(&l->samples[i])]++;
	}
	y.is_log = y.lo > 0 && y.hi > LOG_FROM * median;
	sl__axis_round(&y);
	s = sl__views_figure(v, "latency-samples", "Samples in order",
			     SL__FIGURE_WIDTH, HEIGHT);
	sl__svg_axes(s, &x, &y);
	for (size_t i = 0; i < l->n_samples; i++)
		add_sample(s, &l->samples[i], sl__axis_at(&x, (double)i),
			   sl__axis_at(&y, S_PER_NS * l->samples[i].ns));
	/* Above the points, which are many. */
	sl__svg_open(s, "line", "line k1 dash", "x1 y1 x2 y2", x.from,
		     sl__axis_at(&y, median), x.to, sl__axis_at(&y, median));
	sl__svg_close(s);
	name_states(v, n, noun);
}

void
sl__figures_latency(struct sl__views *v, const struct sl_latency *l,
		    const char *noun)
{
	struct sl__arena arena;
	double *x;
	size_t n;

	if (!l->samples || !l->n_samples)
		return;
	if (l->n_samples < FEWEST) {
		sl__views_text(v, "note",
			       "%zu %s%s: too few for a figure; more time or "
			       "--runs gives them.",
			       l->n_samples, noun,
			       l->n_samples == 1 ? "" : "s");
		return;
	}
	sl__arena_init(&arena, NULL);
	x = steady_samples(&arena, l, &n);
	if (!x)
		sl__buf_mark_failed(v->out);
	else if (n >= FEWEST)
		add_distribution(v, l, x, n, noun);
	sl__arena_release(&arena);
	add_samples(v, l, noun);
}
