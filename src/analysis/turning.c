/* SPDX-License-Identifier: Apache-2.0 */
/* turning.c - what bounds an operation at each size, and where that turns. */
#include "analysis/turning.h"
#include "analysis/sweep_work.h"

#include <math.h>
#include <string.h>

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
sl_micro_turning_text(enum sl_micro_turning turning)
{
	static const char *const words[] = {"verdict", "roof", "level"};

	return (unsigned)turning < 3 ? words[turning] : "verdict";
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

/* Words that can be compared by their address. */
static const char *
verdict_of(const struct sl_micro_point *p)
{
	static const char *const roofs[SL_N_LEVELS] = {
		[SL_LEVEL_L1] = "at the L1 roof",
		[SL_LEVEL_L2] = "at the L2 roof",
		[SL_LEVEL_L3] = "at the L3 roof",
		[SL_LEVEL_L4] = "at the L4 roof",
		[SL_LEVEL_L5] = "at the L5 roof",
		[SL_LEVEL_DRAM] = "at the DRAM roof",
		[SL_LEVEL_COMPUTE] = "at the compute roof",
	};

	if (p->micro_class == SL_MICRO_UNKNOWN)
		return isnan(p->roof_share) ? "-" : "disturbed";
	if (p->micro_class == SL_MICRO_OVERHEAD ||
	    p->micro_class == SL_MICRO_BELOW)
		return sl_micro_class_text(p->micro_class);
	return roofs[p->roof];
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
	return p->n_passes < MANY ||
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
	p->verdict = verdict_of(p);
	p->is_sure = p->micro_class != SL_MICRO_UNKNOWN &&
		     !isnan(p->roof_share_lo) &&
		     class_of(p, e->lo, step_ns) == p->micro_class &&
		     class_of(p, e->hi, step_ns) == p->micro_class;
}

size_t
sl__micro_next(const struct sl_micro_series *series, size_t i)
{
	while (i < series->n_points && series->points[i].absent)
		i++;
	return i;
}

/* The measured point before i; SIZE_MAX where there is none. */
static size_t
previous(const struct sl_micro_series *series, size_t i)
{
	while (i-- > 0) {
		if (!series->points[i].absent)
			return i;
	}
	return SIZE_MAX;
}

const char *
sl__micro_settled(const struct sl_micro_series *series, size_t i)
{
	const struct sl_micro_point *p = series->points;
	size_t left = previous(series, i),
	       right = sl__micro_next(series, i + 1);

	if (left == SIZE_MAX || right == series->n_points ||
	    strcmp(p[left].verdict, p[right].verdict))
		return p[i].verdict;
	return p[left].verdict;
}

static struct sl_estimate
rate_of(const struct sl_micro_point *p, int is_compute)
{
	double work = is_compute ? (double)p->flops : (double)p->n_bytes;
	struct sl_estimate e = p->median_ns;

	e.value = work / p->median_ns.value;
	e.lo = work / p->median_ns.hi;
	e.hi = work / p->median_ns.lo;
	return e;
}

static int
is_compute_roof(const struct sl_micro_point *p)
{
	return p->roof == SL_LEVEL_COMPUTE;
}

static struct sl_micro_turn
turn_at(const struct sl_micro_series *series, size_t before, size_t at)
{
	const struct sl_micro_point *a = &series->points[before];
	const struct sl_micro_point *b = &series->points[at];
	struct sl_estimate x = rate_of(a, is_compute_roof(b));
	struct sl_estimate y = rate_of(b, is_compute_roof(b));

	return (struct sl_micro_turn){
		.before = before,
		.at = at,
		.rate_ratio = y.value / x.value,
		.is_sure = x.hi < y.lo || y.hi < x.lo,
	};
}

/* What changes from one size to the next: 1, and the words; or 0. */
static int
changes(struct sl_micro_turn *turn, const struct sl_micro_series *series,
	enum sl_micro_turning what)
{
	const struct sl_micro_point *a = &series->points[turn->before];
	const struct sl_micro_point *b = &series->points[turn->at];

	turn->what = what;
	switch (what) {
	case SL_MICRO_TURN_CLASS:
		turn->from = sl__micro_settled(series, turn->before);
		turn->to = sl__micro_settled(series, turn->at);
		turn->is_sure = a->is_sure && b->is_sure;
		break;
	case SL_MICRO_TURN_ROOF:
		turn->from = is_compute_roof(a) ? "compute" : "memory";
		turn->to = is_compute_roof(b) ? "compute" : "memory";
		if (!a->roof || !b->roof)
			return 0;
		break;
	case SL_MICRO_TURN_LEVEL:
		turn->from = sl_level_text(a->level);
		turn->to = sl_level_text(b->level);
		if (!a->level || !b->level)
			return 0;
		break;
	}
	return turn->from && turn->to && strcmp(turn->from, turn->to) != 0;
}

static void
find_turns(struct sl_micro_series *series, struct sl_micro_turn *list)
{
	for (int what = 0; what <= SL_MICRO_TURN_LEVEL; what++) {
		size_t i = sl__micro_next(series, 0);
		size_t next = sl__micro_next(series, i + 1);

		for (; next < series->n_points;
		     i = next, next = sl__micro_next(series, i + 1)) {
			list[series->n_turns] = turn_at(series, i, next);
			series->n_turns +=
				(size_t)changes(&list[series->n_turns], series,
						(enum sl_micro_turning)what);
		}
	}
}

void
sl__micro_turns(struct sl_micro_series *series, struct sl_micro_turn *list)
{
	series->turns = list;
	series->n_turns = 0;
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
	find_turns(series, list);
}

double
sl__micro_far_ratio(const struct sl_micro_series *series)
{
	const struct sl_micro_point *last = &series->points[series->largest];
	size_t i = previous(series, series->largest);

	for (; i != SIZE_MAX; i = previous(series, i)) {
		const struct sl_micro_point *p = &series->points[i];

		if (p->level && last->level && p->level != last->level &&
		    (p->micro_class == SL_MICRO_BELOW ||
		     p->micro_class == SL_MICRO_MEMORY))
			return last->bytes_per_s / p->bytes_per_s;
	}
	return (double)NAN;
}

static double
share_of(const struct sl_microscope *m, size_t i)
{
	const struct sl_micro_series *s = &m->series[i];

	if (s->largest == SIZE_MAX ||
	    s->points[s->largest].micro_class == SL_MICRO_UNKNOWN)
		return (double)NAN;
	return s->points[s->largest].roof_share;
}

void
sl__micro_extremes(struct sl_microscope *m)
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
