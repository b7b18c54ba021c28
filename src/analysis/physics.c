/* SPDX-License-Identifier: Apache-2.0 */
/* physics.c - what cannot be: rates that no machine reaches. */
#include "analysis/physics.h"
#include "analysis/roofline_place.h"
#include "base/status.h"
#include "result/fact_list.h"

#include <math.h>
#include <string.h>

#include "base/banned.h"

/* Times are differences of rounded figures; a sum may be off by that much. */
static const double ROUNDING = 1.001;

/* The most that arithmetic of a type reaches, the highest of all types where
 * it is not known; NaN: no telling. */
static double
peak_most(const struct sl_ceilings *ceilings, enum sl_dtype dtype)
{
	const struct sl_estimate *peak = sl__roofline_peak(ceilings, dtype);
	double most = 0;

	if (dtype != SL_DTYPE_NONE)
		return peak ? peak->hi : (double)NAN;
	if (ceilings->n_peaks < SL_CEILING_PEAKS_MOST)
		return (double)NAN;
	for (size_t i = 0; i < ceilings->n_peaks; i++) {
		double hi = ceilings->peaks[i].flops_per_s.hi;

		if (isnan(hi) || hi > most)
			most = hi;
		if (isnan(hi))
			return hi;
	}
	return most;
}

static double
bandwidth_most(const struct sl_ceilings *ceilings)
{
	double most = (double)NAN;

	for (size_t i = 0; i < ceilings->n_levels; i++)
		most = fmax(most, ceilings->levels[i].bytes_per_s.hi);
	return most;
}

/* The longest that the median of its calls may be. */
static double
median_most_ns(const struct sl_operation *op)
{
	return isnan(op->median_ns.hi) ? op->max_ns : op->median_ns.hi;
}

static struct sl_fact
flops_fact(const struct sl_operation *op, double least, double most)
{
	return (struct sl_fact){SL_FACT_ARITHMETIC_IMPOSSIBLE,
				{(double)op->executed_flops, median_most_ns(op),
				 least, most, op->dtype},
				{op->name, op->type, op->kernel}};
}

static struct sl_fact
bytes_fact(const struct sl_operation *op, double least, double most)
{
	return (struct sl_fact){
		SL_FACT_BYTES_IMPOSSIBLE,
		{(double)op->n_bytes, median_most_ns(op), least, most},
		{op->name, op->type}};
}

/* Returns whether something cannot be, and what. */
static int
check_operation(struct sl_fact *out, const struct sl_operation *op,
		const struct sl_ceilings *ceilings)
{
	double per_s = 1e9 / median_most_ns(op);
	double flops = (double)op->executed_flops * per_s;
	double bytes = (double)op->n_bytes * per_s;
	double flops_most = peak_most(ceilings, op->dtype);
	double bytes_most = bandwidth_most(ceilings);

	if (op->uncounted || !(median_most_ns(op) > 0))
		return 0;
	if (flops > flops_most)
		*out = flops_fact(op, flops, flops_most);
	else if (bytes > bytes_most)
		*out = bytes_fact(op, bytes, bytes_most);
	else
		return 0;
	return 1;
}

static void
check_sum(const struct sl_ledger *ledger, struct sl__facts *found)
{
	if (ledger->absent ||
	    !(ledger->operations_ns > ledger->wall_ns * ROUNDING))
		return;
	sl__facts_add(found,
		      (struct sl_fact){SL_FACT_SUM_IMPOSSIBLE,
				       {ledger->operations_ns, ledger->wall_ns},
				       {NULL}});
}

static int
is_winograd(const struct sl_operation *op)
{
	return op->kernel && strstr(op->kernel, "wino") != NULL;
}

/* How many operations do less than the model asks for, and so much less that
 * what is asked for a second is above the peak: those of Winograd's kernels, or
 * the others. */
static size_t
n_beyond(const struct sl_profile *profile, int by_winograd)
{
	size_t n = 0;

	for (size_t i = 0; i < profile->n_operations; i++) {
		const struct sl_operation *op = &profile->operations[i];
		const struct sl_estimate *peak =
			sl__roofline_peak(&profile->ceilings, op->dtype);
		double asked =
			(double)op->core_flops / median_most_ns(op) * 1e9;

		n += peak && !op->impossible && !op->uncounted &&
		     is_winograd(op) == by_winograd &&
		     op->executed_flops < op->core_flops && asked > peak->hi;
	}
	return n;
}

static enum sl_status
remark_nominal(struct sl_profile *profile, struct sl__arena *arena,
	       struct sl_error *err)
{
	/* Norms that were folded are no part of what is asked for here. */
	const struct sl_fact beyond[] = {
		{SL_FACT_WINOGRAD, {(double)n_beyond(profile, 1)}, {NULL}},
		{SL_FACT_PADDING, {(double)n_beyond(profile, 0)}, {NULL}},
	};
	struct sl__facts remarks;

	sl__facts_init(&remarks, arena, profile->remarks, profile->n_remarks);
	for (size_t i = 0; i < sizeof(beyond) / sizeof(beyond[0]); i++) {
		if (beyond[i].values[0] > 0)
			sl__facts_add(&remarks, beyond[i]);
	}
	profile->remarks = remarks.list;
	profile->n_remarks = remarks.n;
	return remarks.has_failed ? sl__fail_nomem(err) : SL_OK;
}

enum sl_status
sl__physics_check(struct sl_profile *profile, struct sl__arena *arena,
		  struct sl_error *err)
{
	struct sl_operation *ops =
		(struct sl_operation *)(uintptr_t)profile->operations;
	struct sl__facts found;

	sl__facts_init(&found, arena, profile->impossible,
		       profile->n_impossible);
	for (size_t i = 0; i < profile->n_operations; i++) {
		struct sl_fact *fact;
		struct sl_fact what;

		if (!check_operation(&what, &ops[i], &profile->ceilings))
			continue;
		fact = sl__arena_alloc(arena, sizeof(*fact));
		if (!fact)
			return sl__fail_nomem(err);
		*fact = what;
		ops[i].impossible = fact;
		ops[i].ceiling_share = ops[i].bound_ns = (double)NAN;
		sl__facts_add(&found, what);
	}
	check_sum(&profile->ledger, &found);
	profile->impossible = found.list;
	profile->n_impossible = found.n;
	return found.has_failed ? sl__fail_nomem(err)
				: remark_nominal(profile, arena, err);
}
