/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ledger.c - time accounting of a profile: where the wall time went.
 *
 * No entry is computed from the others but the residual: operations and gaps
 * are sums over marks, overhead is a difference between iterations.  What the
 * marks cost by the calibration of the clock is not in operations or gaps, so
 * that the residual shows where calibration and experiment disagree.
 */
#include "analysis/ledger.h"
#include "base/status.h"

#include <math.h>
#include <string.h>

#include "base/banned.h"

enum sl_status
sl__ledger_of(struct sl_ledger *out, const struct sl__timed_iterations *p,
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

/* Why the times of a profile do not add up. */

/* An overhead that is known worse than this may be all of the residual. */
#define UNCERTAIN_SHARE 0.01
/* Slots beyond which disturbances are worth a word. */
#define DISTURBED_SHARE 0.1

/* Of all iterations, where that is worth a word; NaN. */
static double
disturbed_share(const struct sl_noise *noise)
{
	double share = (double)noise->n_disturbed / (double)noise->n_slots;

	return noise->n_slots && share > DISTURBED_SHARE ? share : (double)NAN;
}

struct sl_fact
sl__ledger_residual_cause(const struct sl_profile *profile)
{
	const struct sl_ledger *l = &profile->ledger;
	const struct sl_estimate *o = &l->overhead_ns;
	double half_width = (o->hi - o->lo) / 2 / l->wall_ns;
	double step_ns = l->operations_ns / (double)profile->n_operations;
	double disturbed = disturbed_share(&profile->noise);

	if (l->is_closed || l->absent || !l->n_iterations)
		return (struct sl_fact){.kind = SL_FACT_NONE};
	if (o->needs_n)
		return (struct sl_fact){SL_FACT_OPEN_FEW,
					{(double)NAN, (double)o->n,
					 (double)o->needs_n, disturbed},
					{NULL}};
	if (half_width > UNCERTAIN_SHARE)
		return (struct sl_fact){SL_FACT_OPEN_WIDE,
					{(double)NAN, o->lo / l->wall_ns,
					 o->hi / l->wall_ns, (double)o->n,
					 disturbed},
					{NULL}};
	return (struct sl_fact){SL_FACT_OPEN_SHORT,
				{(double)NAN, l->overhead_share,
				 l->overhead_share + l->residual_share, step_ns,
				 disturbed},
				{NULL}};
}
