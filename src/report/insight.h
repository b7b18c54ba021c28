/* SPDX-License-Identifier: Apache-2.0 */
/* insight.h - what stands out in the numbers, in plain words. */
#ifndef SL_INSIGHT_H
#define SL_INSIGHT_H

#include "result/roof.h"

enum { SL__CAP_INSIGHTS = 16 };

/* Sentences in order of importance; what does not fit is left out. */
struct sl__insights {
	size_t n;
	char lines[SL__CAP_INSIGHTS][320];
};

/*
 * Pure: each sentence follows from the figures and quotes them.  Nothing is
 * said about shares of a machine that is NULL.
 */
void sl__insights_of_scopes(struct sl__insights *out,
			    const struct sl_scopes *s);

/* The parts, for reports on one function. */
void sl__insight_rates(struct sl__insights *out, const char *name,
		       const struct sl__achieved_rates *rates,
		       const struct sl_machine *machine);

void sl__insight_variation(struct sl__insights *out, const char *name,
			   const struct sl_estimate *median,
			   const struct sl_estimate *p99);
void sl__insight_memory(struct sl__insights *out, const struct sl_memory *m);

#endif
