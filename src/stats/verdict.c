/* SPDX-License-Identifier: Apache-2.0 */
/* verdict.c - what a duel says, as the caller sees it. */
#include "verdict.h"
#include "sign_test.h"

#include "banned.h"

void
sl__duel_conclude(const struct sl__duel *duel, struct sl_comparison *out,
		  double *scratch)
{
	out->ratio = sl__duel_ratio(duel, scratch);
	out->speedup = 1 / out->ratio.value;
	out->verdict = duel->verdict;
	out->gate = duel->gate;
	out->margin = duel->margin;
	out->n_rounds = duel->n;
	out->log_e = sl__sign_log_e(duel->n, duel->n_above_zero);
	out->minimum_detectable = sl__duel_minimum_detectable(duel, scratch);
}
