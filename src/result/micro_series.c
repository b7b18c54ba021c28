/* SPDX-License-Identifier: Apache-2.0 */
/* micro_series.c - verdicts of an operator over sizes, as crossovers see them.
 */
#include "result/micro_series.h"

#include <math.h>

#include "base/banned.h"

const char *
sl__micro_bottleneck_text(const struct sl_micro_point *p)
{
	static const char *const roofs[SL_N_LEVELS] = {
		[SL_LEVEL_NONE] = "-",
		[SL_LEVEL_L1] = "at the L1 roof",
		[SL_LEVEL_L2] = "at the L2 roof",
		[SL_LEVEL_L3] = "at the L3 roof",
		[SL_LEVEL_L4] = "at the L4 roof",
		[SL_LEVEL_L5] = "at the L5 roof",
		[SL_LEVEL_DRAM] = "at the DRAM roof",
		[SL_LEVEL_COMPUTE] = "at the compute roof",
	};

	switch (p->micro_class) {
	case SL_MICRO_UNKNOWN:
		return isnan(p->roof_share) ? "-" : "disturbed";
	case SL_MICRO_COMPUTE:
	case SL_MICRO_MEMORY:
		return roofs[p->roof];
	case SL_MICRO_OVERHEAD:
	case SL_MICRO_BELOW:
		break;
	}
	return sl_micro_class_text(p->micro_class);
}

const char *
sl__micro_crossover_regime_text(const struct sl_micro_series *s,
				const struct sl_micro_crossover *crossover,
				size_t point)
{
	const struct sl_micro_point *p = &s->points[point];

	switch (crossover->what) {
	case SL_MICRO_CROSSOVER_CLASS:
		return sl__micro_bottleneck_text(
			&s->points[sl__micro_smoothed_verdict_source(s,
								     point)]);
	case SL_MICRO_CROSSOVER_ROOF:
		return p->roof == SL_LEVEL_COMPUTE ? "compute" : "memory";
	case SL_MICRO_CROSSOVER_LEVEL:
		break;
	}
	return sl_level_text(p->level);
}

const char *
sl__micro_focus_advice_text(enum sl_micro_focus focus)
{
	static const char *const words[SL_N_MICRO_FOCUSES] = {
		[SL_MICRO_FOCUS_NONE] = "-",
		[SL_MICRO_FOCUS_PRECISION] = "lower precision",
		[SL_MICRO_FOCUS_BYTES] =
			"fewer bytes: fuse with neighbours, reuse in caches",
		[SL_MICRO_FOCUS_CALLS] = "fewer, larger calls",
		[SL_MICRO_FOCUS_KERNEL] = "a better kernel",
		[SL_MICRO_FOCUS_INSTRUCTIONS] =
			"fewer instructions: cheaper functions, wider vectors",
		[SL_MICRO_FOCUS_BOTH] = "fewer bytes and a better kernel",
	};

	return words[(unsigned)focus < SL_N_MICRO_FOCUSES
			     ? focus
			     : SL_MICRO_FOCUS_NONE];
}

size_t
sl__micro_next_measured_point(const struct sl_micro_series *series, size_t i)
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

/* Whether two points have the same verdict: a class, and which roof. */
static int
is_same(const struct sl_micro_point *a, const struct sl_micro_point *b)
{
	if (a->micro_class != b->micro_class)
		return 0;
	switch (a->micro_class) {
	case SL_MICRO_UNKNOWN: /* without ceilings, or disturbed */
		return isnan(a->roof_share) == isnan(b->roof_share);
	case SL_MICRO_COMPUTE:
	case SL_MICRO_MEMORY:
		return a->roof == b->roof;
	case SL_MICRO_OVERHEAD:
	case SL_MICRO_BELOW:
		break;
	}
	return 1;
}

size_t
sl__micro_smoothed_verdict_source(const struct sl_micro_series *series,
				  size_t i)
{
	const struct sl_micro_point *p = series->points;
	size_t left = previous(series, i),
	       right = sl__micro_next_measured_point(series, i + 1);

	if (left == SIZE_MAX || right == series->n_points ||
	    p[left].micro_class == SL_MICRO_UNKNOWN ||
	    !is_same(&p[left], &p[right]))
		return i;
	return left;
}

int
sl__micro_same_smoothed_verdict(const struct sl_micro_series *series, size_t a,
				size_t b)
{
	return is_same(
		&series->points[sl__micro_smoothed_verdict_source(series, a)],
		&series->points[sl__micro_smoothed_verdict_source(series, b)]);
}

double
sl__micro_large_to_small_bandwidth_ratio(const struct sl_micro_series *series)
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
