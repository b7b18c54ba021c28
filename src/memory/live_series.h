/* SPDX-License-Identifier: Apache-2.0 */
/* live_series.h - how live memory went, and the name of the pattern. */
#ifndef SL_LIVE_SERIES_H
#define SL_LIVE_SERIES_H

#include "sleuth/observing.h"

/* Below a page nobody asks the kernel for memory. */
enum { SL__FLAT_BYTES = 4096 };

/*
 * Invariants: n <= cap, cap is even.  Each full point sums up 'stride'
 * events; when all are full, neighbours are joined and the stride doubles,
 * so that any number of events fits and nothing is allocated.
 */
struct sl__live_series {
	struct sl_live_point *points; /* [cap], the owner's storage */
	size_t n, cap;
	uint64_t stride;
};

void sl__live_series_init(struct sl__live_series *series,
			  struct sl_live_point *points, size_t cap);

/*
 * Adds one event: live memory between low and high, 'last' after it, and the
 * largest single rise in it (0: not known).
 */
void sl__live_series_add(struct sl__live_series *series,
			 const struct sl_live_point *event);

/* What the pattern rests on. */
struct sl__live_pattern {
	enum sl_memory_pattern pattern;
	double range_bytes;    /* highest - lowest, the ends included */
	double retained_bytes; /* final - baseline */
	size_t n_teeth;        /* rises and falls of a quarter of the range */
	size_t n_block_teeth;  /* of these, made by one block */
	double block_bytes;    /* the largest such block */
};

/*
 * Names the pattern of points[0..n-1] between a baseline and a final value.
 * Nothing that ranges over less than floor_bytes is worth a name but flat.
 */
void sl__live_pattern_classify(struct sl__live_pattern *out,
			       const struct sl__live_series *series,
			       double baseline, double final,
			       double floor_bytes);

/* The reasons for the pattern as a sentence, cut to fit 'cap'. */
void sl__live_pattern_evidence(char *text, size_t cap,
			       const struct sl__live_pattern *shape);

#endif
