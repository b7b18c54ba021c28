/* SPDX-License-Identifier: Apache-2.0 */
/* activation_ranges.h - what values of a model reach while it runs. */
#ifndef SL_ACTIVATION_RANGES_H
#define SL_ACTIVATION_RANGES_H

#include "graph/graph.h"
#include "transform/quantize.h"
#include "sleuth/variants.h"

enum { SL__CALIBRATION_SAMPLES_LEAST = 8 };

struct sl__activation_ranges_options {
	const struct sl_graph *graph;
	const unsigned char *is_wanted; /* by value: f32 */
	const struct sl_plan_options *plan;
	const struct sl_variant_options *how; /* data, samples, calibration,
						 seed, progress, interrupt */
};

/*
 * Runs the model on samples of the training split, or on synthetic inputs where
 * there is no data, and fills ranges[], by value, for those that are wanted.
 * *n_samples is how many samples there were.  SL_E_DATA for fewer than 8, and
 * for a value that is not finite.
 */
enum sl_status
sl__activation_ranges_measure(struct sl__value_range *ranges, size_t *n_samples,
			      const struct sl__activation_ranges_options *what,
			      struct sl_error *err) SL_CHECKED;

/* The range, within the one seen, that a rule chooses for 8 bits: bins[] count
 * what fell into n equal parts of it. */
struct sl__value_range sl__calibration_choose(enum sl_calibration rule,
					      struct sl__value_range seen,
					      const uint64_t *bins, size_t n);

#endif
