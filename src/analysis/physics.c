/* SPDX-License-Identifier: Apache-2.0 */
/* physics.c - what cannot be: rates that no machine reaches. */
#include "analysis/physics.h"
#include "analysis/roofline_place.h"
#include "base/status.h"

#include <math.h>
#include <string.h>

#include "base/banned.h"

/* Times are differences of rounded figures; a sum may be off by that much. */
static const double ROUNDING = 1.001;

/* Texts that are added one after the other, in front of which others stand. */
struct list {
	const char **texts;
	size_t n;
};

static enum sl_status
start_list(struct list *list, const char *const *before, size_t n, size_t room,
	   struct sl__arena *arena, struct sl_error *err)
{
	list->n = n;
	list->texts = sl__arena_array(arena, n + room, sizeof(*list->texts));
	if (!list->texts)
		return sl__fail_nomem(err);
	for (size_t i = 0; i < n; i++)
		list->texts[i] = before[i];
	return SL_OK;
}

static enum sl_status
add(struct list *list, const char *text, struct sl_error *err)
{
	if (!text)
		return sl__fail_nomem(err);
	list->texts[list->n++] = text;
	return SL_OK;
}

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

static const char *
say_flops(const struct sl_operation *op, double least, double most,
	  struct sl__arena *arena)
{
	return sl__arena_format(
		arena,
		"%s (%s): %.4g GFLOP executed in %.4g us are %.4g GFLOP/s, "
		"above the %.4g GFLOP/s that this machine reaches in %s: its "
		"cost is counted too high, or %s does less than is counted",
		op->name, op->type, (double)op->executed_flops * 1e-9,
		median_most_ns(op) * 1e-3, least * 1e-9, most * 1e-9,
		op->dtype == SL_DTYPE_NONE ? "any type"
					   : sl_dtype_text(op->dtype),
		op->kernel);
}

static const char *
say_bytes(const struct sl_operation *op, double least, double most,
	  struct sl__arena *arena)
{
	return sl__arena_format(
		arena,
		"%s (%s): %.4g MB in %.4g us are %.4g GB/s, above the %.4g "
		"GB/s of the fastest cache: it does not touch all that its "
		"operands hold, or its bytes are counted too high",
		op->name, op->type, (double)op->n_bytes * 1e-6,
		median_most_ns(op) * 1e-3, least * 1e-9, most * 1e-9);
}

static enum sl_status
check_operation(struct sl_operation *op, const struct sl_ceilings *ceilings,
		struct list *found, struct sl__arena *arena,
		struct sl_error *err)
{
	double per_s = 1e9 / median_most_ns(op);
	double flops = (double)op->executed_flops * per_s;
	double bytes = (double)op->n_bytes * per_s;
	double flops_most = peak_most(ceilings, op->dtype);
	double bytes_most = bandwidth_most(ceilings);

	if (op->uncounted || !(median_most_ns(op) > 0))
		return SL_OK;
	if (flops > flops_most)
		op->impossible = say_flops(op, flops, flops_most, arena);
	else if (bytes > bytes_most)
		op->impossible = say_bytes(op, bytes, bytes_most, arena);
	else
		return SL_OK;
	op->ceiling_share = op->bound_ns = (double)NAN;
	return add(found, op->impossible, err);
}

static enum sl_status
check_sum(const struct sl_ledger *ledger, struct list *found,
	  struct sl__arena *arena, struct sl_error *err)
{
	if (ledger->absent ||
	    !(ledger->operations_ns > ledger->wall_ns * ROUNDING))
		return SL_OK;
	return add(found,
		   sl__arena_format(arena,
				    "operations take %.4g ms of a pass that "
				    "takes %.4g ms: steps are counted twice, "
				    "or the clock's own cost is wrong",
				    ledger->operations_ns * 1e-6,
				    ledger->wall_ns * 1e-6),
		   err);
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
remark_beyond(struct list *remarks, size_t n, const char *why,
	      struct sl__arena *arena, struct sl_error *err)
{
	if (!n)
		return SL_OK;
	return add(remarks,
		   sl__arena_format(arena,
				    "%zu operation%s seem%s faster than the "
				    "machine by what the model asks for: %s",
				    n, n == 1 ? "" : "s", n == 1 ? "s" : "",
				    why),
		   err);
}

static enum sl_status
remark_nominal(struct sl_profile *profile, struct sl__arena *arena,
	       struct sl_error *err)
{
	size_t n_winograd = n_beyond(profile, 1), n = n_beyond(profile, 0);
	struct list remarks;
	enum sl_status rc;

	if (!n_winograd && !n)
		return SL_OK;
	rc = start_list(&remarks, profile->remarks, profile->n_remarks, 2,
			arena, err);
	if (!rc)
		rc = remark_beyond(&remarks, n_winograd,
				   "Winograd's kernels do less than that",
				   arena, err);
	/* Norms that were folded are no part of what is asked for here. */
	if (!rc)
		rc = remark_beyond(&remarks, n,
				   "windows that reach into padding are not "
				   "computed there",
				   arena, err);
	if (rc)
		return rc;
	profile->remarks = remarks.texts;
	profile->n_remarks = remarks.n;
	return SL_OK;
}

enum sl_status
sl__physics_check(struct sl_profile *profile, struct sl__arena *arena,
		  struct sl_error *err)
{
	struct sl_operation *ops =
		(struct sl_operation *)(uintptr_t)profile->operations;
	struct list found;
	enum sl_status rc = start_list(&found, profile->impossible,
				       profile->n_impossible,
				       profile->n_operations + 1, arena, err);

	for (size_t i = 0; !rc && i < profile->n_operations; i++)
		rc = check_operation(&ops[i], &profile->ceilings, &found, arena,
				     err);
	if (!rc)
		rc = check_sum(&profile->ledger, &found, arena, err);
	if (rc)
		return rc;
	profile->impossible = found.texts;
	profile->n_impossible = found.n;
	return remark_nominal(profile, arena, err);
}
