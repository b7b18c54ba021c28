/* SPDX-License-Identifier: Apache-2.0 */
/* plan_latency.c - how long a plan takes, as a function that is measured. */
#include "base/status.h"
#include "sleuth/profiling.h"

#include "base/banned.h"

struct timed {
	struct sl_plan *plan;
	struct sl_error err; /* of the iteration that failed */
};

static int
run_plan(void *ctx)
{
	struct timed *timed = ctx;

	return (int)sl_plan_run(timed->plan, &timed->err);
}

enum sl_status
sl_measure_latency(struct sl_measurement **out, struct sl_plan *plan,
		   const struct sl_measure_options *options,
		   struct sl_error *err)
{
	struct timed timed = {.plan = plan};
	enum sl_status rc = sl_measure(out, run_plan, &timed, options, err);

	/* Why the iteration failed says more than that it did. */
	if (rc != SL_E_MEASURE || !timed.err.status)
		return rc;
	return sl__fail(err,
			timed.err.status == SL_E_INTERRUPTED ? SL_E_INTERRUPTED
							     : SL_E_MEASURE,
			"%s", timed.err.text);
}
