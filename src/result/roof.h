/* SPDX-License-Identifier: Apache-2.0 */
/* roof.h - what a rate is of the machine's ceilings. */
#ifndef SL_ROOF_H
#define SL_ROOF_H

#include "sleuth/observing.h"

/* Why nothing is said without a description of the machine. */
#define SL__NO_ROOF "run `sleuth machine` first"

/* Declared work over a time, as one thread of n_threads did it. */
struct sl__achieved_rates {
	struct sl_reading flops_per_s, bytes_per_s;
	double stretch; /* upper bound of that time / that time */
	size_t n_threads;
};

/*
 * The upper end of the interval.  Where that was refused, twice the value:
 * more than a lowered clock frequency or a neighbour on the memory bus take
 * from a ceiling, and than a clock errs.
 */
double sl__estimate_upper_bound(const struct sl_estimate *e);

/* Where a rate lies, its errors and those of the ceilings considered. */
enum sl__roof_relation {
	SL__ROOF_WITHIN = 0, /* not above its ceiling */
	SL__ROOF_UNCLEAR,    /* above, but the errors may explain it */
	SL__ROOF_ABOVE,      /* above, and 'because' says how that can be */
	SL__ROOF_IMPOSSIBLE  /* above everything that this machine does */
};

/*
 * The ceiling is what one of n_threads reaches: of f32 arithmetic, or from
 * and to DRAM.  Only a rate whose lower bound is above the upper bound of the
 * fastest arithmetic of any type, or of the fastest cache, with all threads,
 * is impossible: a scope may use narrower types, caches, and threads that do
 * not open it.  Then the share is absent and the ceiling is that fastest one.
 */
struct sl__roof_share {
	struct sl_reading share; /* of the ceiling */
	double ceiling;          /* per second */
	const char *of;          /* "one core's f32 peak" */
	enum sl__roof_relation place;
	const char *because; /* "its data comes from caches" */
	int or_threads;      /* or more threads work: all of them reach it */
	int or_wrong; /* or it is wrong: no ceiling is known to be as high */
};

/* 'machine' may be NULL. */
struct sl__roof_share
sl__flops_share_of_roof(const struct sl_machine *machine,
			const struct sl__achieved_rates *rates);
struct sl__roof_share
sl__bytes_share_of_roof(const struct sl_machine *machine,
			const struct sl__achieved_rates *rates);

/* The cost of measuring, which was taken off, may be wrong by all of it. */
struct sl__achieved_rates sl__rates_of_scope(const struct sl_scopes *s,
					     const struct sl_scope_row *row);

#endif
