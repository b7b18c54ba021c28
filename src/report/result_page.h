/* SPDX-License-Identifier: Apache-2.0 */
/* result_page.h - the parts of a page that several results share. */
#ifndef SL_RESULT_PAGE_H
#define SL_RESULT_PAGE_H

#include "doc.h"

/*
 * Median, mean, range, percentiles, first call, warm-up and outliers.
 * 'noun' is what a sample is, such as "run".
 */
void sl__page_latency(struct sl__doc *doc, const struct sl_latency *l,
		      const char *noun, const char *unit);

/* The shape of x[0..n-1], in one line. */
void sl__page_shape(struct sl__doc *doc, const double *x, size_t n,
		    const struct sl_latency *l,
		    const struct sl_render_options *how);

/* What disturbed the measurement; 'noun' is what a slot is. */
void sl__page_noise(struct sl__doc *doc, const struct sl_noise *noise,
		    const char *noun, int verbose);

/* One sentence: who is faster, by how much, or why that is open. */
void sl__page_verdict(struct sl__doc *doc, const struct sl_comparison *c);

/* The smallest change that could be seen, and what 1 % would take. */
void sl__page_power(struct sl__doc *doc, double minimum_detectable,
		    double elapsed_s);

/* The colour of a verdict. */
enum sl__style sl__page_verdict_style(enum sl_verdict verdict);

/* Why it ended early, where it did. */
void sl__page_ending(struct sl__doc *doc, enum sl_stop stopped_by);

#endif
