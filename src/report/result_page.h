/* SPDX-License-Identifier: Apache-2.0 */
/* result_page.h - the parts of a page that several results share. */
#ifndef SL_RESULT_PAGE_H
#define SL_RESULT_PAGE_H

#include "report/doc.h"
#include "sleuth/measuring.h"

/*
 * Median, mean, range, percentiles, first call, warm-up and outliers.
 * 'noun' is what a sample is, such as "run".
 */
void sl__page_latency(struct sl__doc *doc, const struct sl_latency *l,
		      const char *noun, const char *unit);

/* "p90 12.3 ms [12.1, 12.6], p99 needs n >= 368"; where 'is_brief', "p90 12.3
 * ms, no p95: 36 measured, 72 needed", up to the first that was refused. */
void sl__page_percentiles(struct sl__doc *doc, const struct sl_latency *l,
			  const char *unit, int is_brief);

/* The shape of x[0..n-1], in one line. */
void sl__page_histogram(struct sl__doc *doc, const double *x, size_t n,
			const struct sl_latency *l,
			const struct sl_render_options *how);

/* What disturbed the measurement; 'noun' is what a slot is. */
void sl__page_noise(struct sl__doc *doc, const struct sl_noise *noise,
		    const char *noun, int verbose);

/* Like sl__page_noise(), but nothing where it is not worth a warning, and only
 * what is; without slots, what is known of the whole. */
void sl__page_noise_warning(struct sl__doc *doc, const struct sl_noise *noise,
			    const char *noun);

/* One sentence: who is faster, by how much, or why that is open. */
void sl__page_verdict(struct sl__doc *doc, const struct sl_comparison *c);

/* How many rounds it is from, after either. */
void sl__page_rounds(struct sl__doc *doc, const struct sl_comparison *c);

/*
 * The smallest change that a second series like this could show, and what
 * 1 % would take; nothing when that is not known.
 */
void sl__page_detectable_change(struct sl__doc *doc, const struct sl_latency *l,
				double elapsed_s);

/* Like sl__page_detectable_change(), of rounds, and for 1 % beyond the margin.
 */
void sl__page_comparison_detectable(struct sl__doc *doc,
				    const struct sl_comparison *c,
				    double elapsed_s);

/* The colour of a verdict. */
enum sl__style sl__page_verdict_style(enum sl_verdict verdict);

/* That it was interrupted where it was; sl__page_stop_and_seed() has the seed
 * too. */
void sl__page_interrupted(struct sl__doc *doc, enum sl_stop stopped_by);
void sl__page_stop_and_seed(struct sl__doc *doc, enum sl_stop stopped_by,
			    uint64_t seed);

#endif
