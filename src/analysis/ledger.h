/* SPDX-License-Identifier: Apache-2.0 */
/* ledger.h - time accounting of a profile: where the wall time went. */
#ifndef SL_LEDGER_H
#define SL_LEDGER_H

#include "result/iteration_times.h"
#include "sleuth/profiling.h"

/* The largest |residual| / wall with which the times add up. */
#define SL__RESIDUAL_MOST 0.02

/*
 * Attributes the time of iterations.  'scratch' serves the interval of the
 * overhead (the median over the calmer rounds of recorded minus bare, order
 * statistics).
 */
enum sl_status sl__ledger_of(struct sl_ledger *out,
			     const struct sl__timed_iterations *iterations,
			     struct sl__arena *scratch,
			     struct sl_error *err) SL_CHECKED;

/*
 * Which entry is uncertain, and by how much: one of SL_FACT_OPEN_FEW,
 * OPEN_WIDE and OPEN_SHORT, whose first value is NaN.  SL_FACT_NONE where the
 * times add up, or where nothing was recorded.
 *
 * The residual is what readings of the clock cost by calibration less what
 * recording costs by experiment.  Either the experiment is uncertain, which
 * its interval shows, or the calibration does not hold for operations that
 * are as short as a reading.
 */
struct sl_fact sl__ledger_residual_cause(const struct sl_profile *profile);

#endif
