/* SPDX-License-Identifier: Apache-2.0 */
/*
 * live_series.c - how live memory went, and the name of the pattern.
 *
 * A tooth is a rise of at least a quarter of the whole range followed by a
 * fall of as much; smaller wiggles are ignored.  Three teeth make a pattern
 * that repeats.  Whether a tooth is one large block or many small ones tells
 * temporary copies from sawtooth churn.  Pure: no clock, no allocation.
 */
#include "memory/live_series.h"

#include <math.h>
#include <stdio.h>

#include "base/banned.h"

enum { N_REPEATS = 3 };

void
sl__live_series_init(struct sl__live_series *series,
		     struct sl_live_point *points, size_t cap)
{
	series->points = points;
	series->n = 0;
	series->cap = cap;
	series->stride = 1;
}

static void
join(struct sl_live_point *into, const struct sl_live_point *next)
{
	into->n_events += next->n_events;
	into->low_bytes = fmin(into->low_bytes, next->low_bytes);
	into->high_bytes = fmax(into->high_bytes, next->high_bytes);
	into->last_bytes = next->last_bytes;
	into->step_bytes = fmax(into->step_bytes, next->step_bytes);
}

void
sl__live_series_add(struct sl__live_series *series,
		    const struct sl_live_point *event)
{
	struct sl_live_point *points = series->points;

	if (series->n && points[series->n - 1].n_events < series->stride) {
		join(&points[series->n - 1], event);
		return;
	}
	if (series->n == series->cap) {
		for (size_t i = 0; i < series->cap / 2; i++) {
			points[i] = points[2 * i];
			join(&points[i], &points[2 * i + 1]);
		}
		series->n = series->cap / 2;
		series->stride *= 2;
	}
	points[series->n++] = *event;
}

/* Follows rises and falls of at least 'height'. */
struct tooth_counter {
	double height;
	double trough, crest; /* of the rise under way */
	double last;          /* of the point before */
	double step_bytes;    /* the largest single rise in it */
	int rising;           /* it is high enough to be one */
	struct sl__live_pattern *shape;
};

static void
finish_tooth(struct tooth_counter *t)
{
	struct sl__live_pattern *shape = t->shape;

	shape->n_teeth++;
	if (t->step_bytes >= 0.5 * (t->crest - t->trough)) {
		shape->n_block_teeth++;
		shape->block_bytes = fmax(shape->block_bytes, t->step_bytes);
	}
}

static void
follow(struct tooth_counter *t, double live)
{
	if (t->rising && t->crest - live >= t->height) {
		finish_tooth(t);
		t->rising = 0;
		t->trough = live;
		t->step_bytes = 0;
	}
	if (!t->rising && live < t->trough) {
		t->trough = live;
		t->step_bytes = 0;
	}
	if (t->rising ? live > t->crest : live - t->trough >= t->height) {
		t->rising = 1;
		t->crest = live;
	}
}

/*
 * Both extremes of a point were reached, in an order that is forgotten; the
 * shorter way from the point before to this one's last value is taken, so
 * that no tooth is counted that was not there.
 */
static void
follow_point(struct tooth_counter *t, const struct sl_live_point *p)
{
	double low_first = fabs(t->last - p->low_bytes) +
			   fabs(p->high_bytes - p->last_bytes);
	double high_first = fabs(t->last - p->high_bytes) +
			    fabs(p->low_bytes - p->last_bytes);
	int is_rise = low_first <= high_first;

	follow(t, is_rise ? p->low_bytes : p->high_bytes);
	t->step_bytes = fmax(t->step_bytes, p->step_bytes);
	follow(t, is_rise ? p->high_bytes : p->low_bytes);
	follow(t, p->last_bytes);
	t->last = p->last_bytes;
}

static void
count_teeth(struct sl__live_pattern *shape,
	    const struct sl__live_series *series, double baseline, double final)
{
	struct tooth_counter t = {.height = shape->range_bytes / 4,
				  .trough = baseline,
				  .crest = baseline,
				  .last = baseline,
				  .shape = shape};

	for (size_t i = 0; i < series->n; i++)
		follow_point(&t, &series->points[i]);
	follow(&t, final);
}

static enum sl_memory_pattern
name_pattern(const struct sl__live_pattern *shape, double floor_bytes)
{
	if (shape->range_bytes <= floor_bytes)
		return SL_MEMORY_FLAT;
	if (shape->n_teeth >= N_REPEATS)
		return 2 * shape->n_block_teeth >= shape->n_teeth
			       ? SL_MEMORY_COPIES
			       : SL_MEMORY_SAWTOOTH;
	if (shape->retained_bytes >= 0.5 * shape->range_bytes)
		return SL_MEMORY_GROWING;
	if (shape->retained_bytes <= -0.5 * shape->range_bytes)
		return SL_MEMORY_SHRINKING;
	return SL_MEMORY_SPIKE;
}

void
sl__live_pattern_classify(struct sl__live_pattern *out,
			  const struct sl__live_series *series, double baseline,
			  double final, double floor_bytes)
{
	double low = fmin(baseline, final), high = fmax(baseline, final);

	for (size_t i = 0; i < series->n; i++) {
		low = fmin(low, series->points[i].low_bytes);
		high = fmax(high, series->points[i].high_bytes);
	}
	*out = (struct sl__live_pattern){.range_bytes = high - low,
					 .retained_bytes = final - baseline};
	if (out->range_bytes > floor_bytes)
		count_teeth(out, series, baseline, final);
	out->pattern = name_pattern(out, floor_bytes);
}

void
sl__live_pattern_evidence(char *text, size_t cap,
			  const struct sl__live_pattern *shape)
{
	double range = shape->range_bytes;
	double retained = shape->retained_bytes;

	switch (shape->pattern) {
	case SL_MEMORY_FLAT:
		snprintf(text, cap, "live memory ranges over %.0f bytes only",
			 range);
		return;
	case SL_MEMORY_GROWING:
		snprintf(text, cap,
			 "ends %.0f bytes above where it began, %.0f %% of its "
			 "range of %.0f bytes",
			 retained, 100 * retained / range, range);
		return;
	case SL_MEMORY_SHRINKING:
		snprintf(text, cap, "ends %.0f bytes below where it began",
			 -retained);
		return;
	case SL_MEMORY_SPIKE:
		snprintf(text, cap,
			 "%s by %.0f bytes and back (%zu time%s), %.0f bytes "
			 "stay",
			 shape->n_teeth ? "rises" : "falls", range,
			 shape->n_teeth ? shape->n_teeth : 1,
			 shape->n_teeth > 1 ? "s" : "", retained);
		return;
	case SL_MEMORY_SAWTOOTH:
		snprintf(text, cap,
			 "fills up and empties at least %zu times over %.0f "
			 "bytes, %zu of them by a single block",
			 shape->n_teeth, range, shape->n_block_teeth);
		return;
	case SL_MEMORY_COPIES:
		snprintf(text, cap,
			 "at least %zu times a single block of up to %.0f "
			 "bytes comes and goes, %.0f %% of the range",
			 shape->n_block_teeth, shape->block_bytes,
			 100 * shape->block_bytes / range);
		return;
	}
	snprintf(text, cap, "unknown pattern %d", (int)shape->pattern);
}
