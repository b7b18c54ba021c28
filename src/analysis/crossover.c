/* SPDX-License-Identifier: Apache-2.0 */
/* crossover.c - what bounds an operation at each size, and where that changes.
 */
#include "analysis/crossover.h"
#include "analysis/sweep_measurements.h"
#include "stats/quantile.h"

#include <math.h>

#include "base/banned.h"

enum { MANY = 30 }; /* calls of which some are not disturbed */

const char *
sl_micro_class_text(enum sl_micro_class micro_class)
{
	static const char *const words[SL_N_MICRO_CLASSES] = {
		"unknown", "compute", "memory", "overhead", "below both roofs"};

	return (unsigned)micro_class < SL_N_MICRO_CLASSES ? words[micro_class]
							  : "unknown";
}

const char *
sl_micro_axis_text(enum sl_micro_axis axis)
{
	static const char *const words[SL_N_MICRO_AXES] = {"elements", "N",
							   "seq", "channels"};

	return words[(unsigned)axis < SL_N_MICRO_AXES ? axis
						      : SL_MICRO_AXIS_ELEMENTS];
}

const char *
sl_micro_crossover_kind_text(enum sl_micro_crossover_kind kind)
{
	static const char *const words[] = {"verdict", "roof", "level"};

	return (unsigned)kind < 3 ? words[kind] : "verdict";
}

static enum sl_micro_class
class_of(const struct sl_micro_point *p, double ns, double step_ns)
{
	double share = p->bound_ns / ns;

	if (!p->roof || isnan(share))
		return SL_MICRO_UNKNOWN;
	if (share >= SL__MICRO_AT_ROOF)
		return p->roof == SL_LEVEL_COMPUTE ? SL_MICRO_COMPUTE
						   : SL_MICRO_MEMORY;
	if (ns <= SL__MICRO_STEPS * step_ns)
		return SL_MICRO_OVERHEAD;
	return SL_MICRO_BELOW;
}

/* A nearer memory that serves a part is not what bounds it. */
static void
choose_roof(struct sl_micro_point *p)
{
	if (!p->roof || !p->level || p->roof == SL_LEVEL_COMPUTE ||
	    p->roof == p->level ||
	    !(p->level_ns >= SL__MICRO_AT_ROOF * p->median_ns.value))
		return;
	p->roof = p->level;
	p->bound_ns = fmin(p->level_ns, p->median_ns.value);
}

/*
 * Others only make it longer, so that a roof that is reached stands; one that
 * is not may be, unless the fastest of many calls does not reach it either.
 */
static int
is_hidden(const struct sl_micro_point *p, double step_ns)
{
	if (!(p->disturbance > SL__SWEEP_DISTURBED) ||
	    p->micro_class == SL_MICRO_COMPUTE ||
	    p->micro_class == SL_MICRO_MEMORY)
		return 0;
	return p->n_iterations < MANY ||
	       class_of(p, p->fastest_ns, step_ns) != p->micro_class;
}

void
sl__micro_classify(struct sl_micro_point *p, double step_ns)
{
	const struct sl_estimate *e = &p->median_ns;

	choose_roof(p);
	p->roof_share = fmin(1, p->bound_ns / e->value);
	p->roof_share_lo = fmin(1, p->bound_ns / e->hi);
	p->roof_share_hi = fmin(1, p->bound_ns / e->lo);
	/* fmin() gives the number where the other is none. */
	if (isnan(p->bound_ns))
		p->roof_share = (double)NAN;
	if (isnan(p->bound_ns) || isnan(e->lo) || isnan(e->hi))
		p->roof_share_lo = p->roof_share_hi = (double)NAN;
	p->micro_class = class_of(p, e->value, step_ns);
	if (is_hidden(p, step_ns))
		p->micro_class = SL_MICRO_UNKNOWN;
	p->is_sure = p->micro_class != SL_MICRO_UNKNOWN &&
		     !isnan(p->roof_share_lo) &&
		     class_of(p, e->lo, step_ns) == p->micro_class &&
		     class_of(p, e->hi, step_ns) == p->micro_class;
}

static struct sl_estimate
rate_of(const struct sl_micro_point *p, int is_compute)
{
	return sl__rate_estimate((double)(is_compute ? p->flops : p->n_bytes),
				 &p->median_ns);
}

static int
is_compute_roof(const struct sl_micro_point *p)
{
	return p->roof == SL_LEVEL_COMPUTE;
}

static struct sl_micro_crossover
crossover_at(const struct sl_micro_series *series, size_t before, size_t at)
{
	const struct sl_micro_point *a = &series->points[before];
	const struct sl_micro_point *b = &series->points[at];
	struct sl_estimate x = rate_of(a, is_compute_roof(b));
	struct sl_estimate y = rate_of(b, is_compute_roof(b));

	return (struct sl_micro_crossover){
		.before = before,
		.at = at,
		.rate_ratio = y.value / x.value,
		.is_sure = x.hi < y.lo || y.hi < x.lo,
	};
}

/* Whether that changes from one size to the next. */
static int
changes(struct sl_micro_crossover *crossover,
	const struct sl_micro_series *series, enum sl_micro_crossover_kind what)
{
	const struct sl_micro_point *a = &series->points[crossover->before];
	const struct sl_micro_point *b = &series->points[crossover->at];

	crossover->what = what;
	switch (what) {
	case SL_MICRO_CROSSOVER_CLASS:
		crossover->is_sure = a->is_sure && b->is_sure;
		return !sl__micro_same_smoothed_verdict(
			series, crossover->before, crossover->at);
	case SL_MICRO_CROSSOVER_ROOF:
		return a->roof && b->roof &&
		       is_compute_roof(a) != is_compute_roof(b);
	case SL_MICRO_CROSSOVER_LEVEL:
		break;
	}
	return a->level && b->level && a->level != b->level;
}

static void
find_crossovers(struct sl_micro_series *series, struct sl_micro_crossover *list)
{
	for (int what = 0; what <= SL_MICRO_CROSSOVER_LEVEL; what++) {
		size_t i = sl__micro_next_measured_point(series, 0);
		size_t next = sl__micro_next_measured_point(series, i + 1);

		for (; next < series->n_points;
		     i = next,
		     next = sl__micro_next_measured_point(series, i + 1)) {
			list[series->n_crossovers] =
				crossover_at(series, i, next);
			series->n_crossovers += (size_t)changes(
				&list[series->n_crossovers], series,
				(enum sl_micro_crossover_kind)what);
		}
	}
}

void
sl__micro_crossovers(struct sl_micro_series *series,
		     struct sl_micro_crossover *list)
{
	series->crossovers = list;
	series->n_crossovers = 0;
	series->n_measured = 0;
	series->reached = series->largest = SIZE_MAX;
	for (size_t i = 0; i < series->n_points; i++) {
		const struct sl_micro_point *p = &series->points[i];

		if (p->absent)
			continue;
		series->n_measured++;
		series->largest = i;
		if (!(p->roof_share >= SL__MICRO_REACHED))
			series->reached = SIZE_MAX;
		else if (series->reached == SIZE_MAX)
			series->reached = i;
	}
	find_crossovers(series, list);
}

/* Neither roof explains the time: does it matter where data lie? */
static enum sl_micro_focus
focus_below(const struct sl_micro_series *series)
{
	double far = sl__micro_large_to_small_bandwidth_ratio(series);

	if (is_compute_roof(&series->points[series->largest]) || isnan(far))
		return SL_MICRO_FOCUS_KERNEL;
	return far >= SL__MICRO_SAME ? SL_MICRO_FOCUS_INSTRUCTIONS
				     : SL_MICRO_FOCUS_BOTH;
}

enum sl_micro_focus
sl__micro_optimization_focus(const struct sl_micro_series *series)
{
	if (series->largest == SIZE_MAX)
		return SL_MICRO_FOCUS_NONE;
	switch (series->points[series->largest].micro_class) {
	case SL_MICRO_COMPUTE:
		return SL_MICRO_FOCUS_PRECISION;
	case SL_MICRO_MEMORY:
		return SL_MICRO_FOCUS_BYTES;
	case SL_MICRO_OVERHEAD:
		return SL_MICRO_FOCUS_CALLS;
	case SL_MICRO_BELOW:
		return focus_below(series);
	case SL_MICRO_UNKNOWN:
		break;
	}
	return SL_MICRO_FOCUS_NONE;
}

static double
share_of(const struct sl_microbench *m, size_t i)
{
	const struct sl_micro_series *s = &m->series[i];

	if (s->largest == SIZE_MAX ||
	    s->points[s->largest].micro_class == SL_MICRO_UNKNOWN)
		return (double)NAN;
	return s->points[s->largest].roof_share;
}

void
sl__micro_find_best_and_worst(struct sl_microbench *m)
{
	size_t most = SIZE_MAX, least = SIZE_MAX;

	for (size_t i = 0; i < m->n_series; i++) {
		double share = share_of(m, i);

		if (isnan(share))
			continue;
		if (most == SIZE_MAX || share > share_of(m, most))
			most = i;
		if (least == SIZE_MAX || share < share_of(m, least))
			least = i;
	}
	m->most_efficient = most == least ? SIZE_MAX : most;
	m->least_efficient = most == least ? SIZE_MAX : least;
}
