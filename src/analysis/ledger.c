/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ledger.c - the books of a profile: where the wall time went.
 *
 * No entry is computed from the others but the residual: operations and gaps
 * are sums over marks, overhead is a difference between passes.  What the
 * marks cost by the calibration of the clock is not in operations or gaps, so
 * that the residual shows where calibration and experiment disagree.
 */
#include "analysis/ledger.h"
#include "base/status.h"

#include <math.h>
#include <string.h>

#include "base/banned.h"

enum sl_status
sl__ledger_of(struct sl_ledger *out, const struct sl__passes *p,
	      struct sl__arena *scratch, struct sl_error *err)
{
	double *calm =
		sl__arena_array(scratch, p->extra.more.n, sizeof(double));
	double n = (double)p->n_recorded, steps = 0;

	memset(out, 0, sizeof(*out));
	if (!calm)
		return sl__fail_nomem(err);
	if (!p->n_recorded || !p->extra.more.n) {
		out->absent = "nothing was recorded";
		return SL_OK;
	}
	for (size_t s = 0; s < p->n_steps; s++)
		steps += p->step_ns[s];
	out->n_iterations = p->n_recorded;
	out->n_left_out = p->n_left_out;
	out->wall_ns = p->wall_ns / n;
	out->operations_ns = steps / n;
	out->gaps_ns = p->gaps_ns / n;
	out->overhead_ns = sl__calm_pairs_median(&p->extra, calm);
	out->residual_ns = out->wall_ns - out->operations_ns - out->gaps_ns -
			   out->overhead_ns.value;
	out->overhead_share = out->overhead_ns.value / out->wall_ns;
	out->residual_share = out->residual_ns / out->wall_ns;
	out->is_closed = fabs(out->residual_share) <= SL__RESIDUAL_MOST;
	return SL_OK;
}
