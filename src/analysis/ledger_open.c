/* SPDX-License-Identifier: Apache-2.0 */
/* ledger_open.c - why the books of a profile do not close. */
#include "analysis/ledger_open.h"

#include <math.h>

#include "base/banned.h"

/* An overhead that is known worse than this may be all of the residual. */
#define UNCERTAIN_SHARE 0.01
/* Slots beyond which disturbances are worth a word. */
#define DISTURBED_SHARE 0.1

/* Of all passes, where that is worth a word; NaN. */
static double
disturbed_share(const struct sl_noise *noise)
{
	double share = (double)noise->n_disturbed / (double)noise->n_slots;

	return noise->n_slots && share > DISTURBED_SHARE ? share : (double)NAN;
}

struct sl_fact
sl__ledger_open(const struct sl_profile *profile)
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
