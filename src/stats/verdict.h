/* SPDX-License-Identifier: Apache-2.0 */
/* verdict.h - what a duel says, as the caller sees it. */
#ifndef SL_VERDICT_H
#define SL_VERDICT_H

#include "duel.h"

/*
 * Fills the figures of 'out' that come from the duel alone: ratio, speed-up,
 * verdict, gate, margin, rounds, e-value and minimum detectable change.
 * Names, CPU time, memory and disturbance are the caller's to fill.
 * 'scratch' holds duel->n doubles.
 */
void sl__duel_conclude(const struct sl__duel *duel, struct sl_comparison *out,
		       double *scratch);

#endif
