/* SPDX-License-Identifier: Apache-2.0 */
/* ledger.h - the books of a profile: where the wall time went. */
#ifndef SL_LEDGER_H
#define SL_LEDGER_H

#include "result/pass_times.h"

/* The largest |residual| / wall with which books are closed. */
#define SL__RESIDUAL_MOST 0.02

/*
 * Fills the books from passes.  'scratch' serves the interval of the overhead
 * (the median over the calmer rounds of recorded minus bare, order statistics).
 */
enum sl_status sl__ledger_of(struct sl_ledger *out,
			     const struct sl__passes *passes,
			     struct sl__arena *scratch,
			     struct sl_error *err) SL_CHECKED;

#endif
