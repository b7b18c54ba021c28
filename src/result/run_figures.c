/* SPDX-License-Identifier: Apache-2.0 */
/* run_figures.c - what all runs of a command took, none left out. */
#include "result/run_figures.h"
#include "base/arena.h"
#include "base/status.h"
#include "stats/summary.h"

#include "base/banned.h"

enum sl_status
sl__run_time_statistics_of(struct sl__run_time_statistics *out,
			   const struct sl_bench_result *r,
			   struct sl_error *err)
{
	double *scratch =
		sl__allocator_alloc(NULL, r->n_runs * sizeof(*scratch));
	struct sl__summary wall;

	if (!scratch)
		return sl__fail_nomem(err);
	sl__summary_of(&wall, r->wall_ns, r->n_runs, scratch);
	sl__allocator_free(NULL, scratch);
	*out = (struct sl__run_time_statistics){
		.mean = wall.mean,
		.std = wall.std,
		.median = wall.median,
		.min = wall.min,
		.max = wall.max,
		.user = sl__mean(r->user_ns, r->n_runs),
		.system = sl__mean(r->system_ns, r->n_runs)};
	return SL_OK;
}
