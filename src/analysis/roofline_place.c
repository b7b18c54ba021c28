/* SPDX-License-Identifier: Apache-2.0 */
/* roofline_place.c - operations under the machine's roofs. */
#include "analysis/roofline_place.h"
#include "base/status.h"
#include "result/fact_list.h"
#include "result/step_evidence.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/banned.h"

static int
has_word(const char *text, const char *const *words)
{
	for (; text && *words; words++) {
		if (strstr(text, *words))
			return 1;
	}
	return 0;
}

/*
 * Kernels name the type they compute in where it is not f32; those of a plan
 * in another type that do not may be of either.
 */
static enum sl_dtype
dtype_of(const struct sl_operation *op, enum sl_dtype plan)
{
	static const char *const integer_kernels[] = {
		"int8", "jit_int", "vnni", "codes", "quantize", NULL};
	static const char *const integer_types[] = {"QLinear", "QuantizeLinear",
						    "Integer", "QGemm", NULL};
	static const char *const bf16_kernels[] = {"bf16", NULL};

	if (has_word(op->kernel, integer_kernels) ||
	    has_word(op->type, integer_types))
		return SL_DTYPE_I8;
	if (has_word(op->kernel, bf16_kernels))
		return SL_DTYPE_BF16;
	if (plan == SL_DTYPE_F32 || plan == SL_DTYPE_NONE)
		return SL_DTYPE_F32;
	return SL_DTYPE_NONE;
}

/* Of a type that is not known, the highest: a bound must hold for all. */
static double
peak_of(const struct sl_ceilings *ceilings, enum sl_dtype dtype)
{
	const struct sl_estimate *peak = sl__ceiling_peak(ceilings, dtype);
	double most = (double)NAN;

	if (peak)
		return peak->value;
	if (dtype != SL_DTYPE_NONE)
		return most;
	for (size_t i = 0; i < ceilings->n_peaks; i++)
		most = fmax(most, ceilings->peaks[i].flops_per_s.value);
	return most;
}

/* The number of the fastest level that holds what each thread touches. */
static size_t
level_of(const struct sl_ceilings *ceilings, double n_bytes)
{
	double n = ceilings->n_threads ? (double)ceilings->n_threads : 1;
	size_t i = 0;

	while (i + 1 < ceilings->n_levels &&
	       n_bytes > n * (double)ceilings->levels[i].size_bytes)
		i++;
	return i;
}

double
sl__roofline_ceiling_upper(const struct sl_estimate *ceiling)
{
	if (!ceiling || !ceiling->n)
		return (double)NAN;
	return ceiling->needs_n ? ceiling->value : ceiling->hi;
}

double
sl__roofline_bandwidth_at_size(const struct sl_ceilings *ceilings,
			       double n_bytes)
{
	size_t level = level_of(ceilings, n_bytes);

	return level < ceilings->n_levels
		       ? sl__roofline_ceiling_upper(
				 &ceilings->levels[level].bytes_per_s)
		       : (double)NAN;
}

static double
bytes_ns(const struct sl_ceilings *ceilings, size_t level, uint64_t n_bytes)
{
	return (double)n_bytes / ceilings->levels[level].bytes_per_s.value *
	       1e9;
}

/* Its roofs, in nanoseconds of a call. */
struct roofs {
	double compute_ns, bytes_ns; /* NaN: not known */
	size_t level;                /* behind bytes_ns */
};

/* What has to come from further away, whatever the working set's size.  Where
 * that would take longer than the call took, it was nearer than predicted. */
static void
add_traffic(const struct sl_ceilings *ceilings, const struct sl_operation *op,
	    struct roofs *roofs)
{
	for (size_t k = 0; k < op->n_traffic && k + 1 < ceilings->n_levels;
	     k++) {
		double ns = op->traffic[k].least_bytes /
			    ceilings->levels[k + 1].bytes_per_s.value * 1e9;

		if (ns > roofs->bytes_ns && ns <= op->median_ns.value) {
			roofs->bytes_ns = ns;
			roofs->level = k + 1;
		}
	}
}

static struct roofs
roofs_of(const struct sl_ceilings *ceilings, const struct sl_operation *op)
{
	double peak = peak_of(ceilings, op->dtype);
	double took_ns = op->median_ns.value;
	struct roofs out = {(double)op->executed_flops / peak * 1e9,
			    (double)NAN, 0};

	if (!op->executed_flops)
		out.compute_ns = 0;
	if (!ceilings->n_levels)
		return out;
	out.level = level_of(ceilings, (double)op->working_set_bytes);
	out.bytes_ns = bytes_ns(ceilings, out.level, op->n_bytes);
	while (out.level > 0 && out.bytes_ns > took_ns)
		out.bytes_ns = bytes_ns(ceilings, --out.level, op->n_bytes);
	add_traffic(ceilings, op, &out);
	return out;
}

static void
place(const struct sl_ceilings *ceilings, struct sl_operation *op)
{
	struct roofs roofs = roofs_of(ceilings, op);
	/* fmax() leaves out what is not known: the bound holds without. */
	double bound_ns = fmax(roofs.compute_ns, roofs.bytes_ns);
	size_t level = level_of(ceilings, (double)op->working_set_bytes);

	op->level = op->roof = SL_LEVEL_NONE;
	op->bound_ns = bound_ns;
	op->ceiling_share = (double)NAN;
	if (ceilings->n_levels && op->working_set_bytes)
		op->level = ceilings->levels[level].level;
	if (op->uncounted)
		op->bound_ns = (double)NAN;
	if (op->uncounted || !(bound_ns > 0))
		return;
	op->roof = roofs.bytes_ns > roofs.compute_ns || isnan(roofs.compute_ns)
			   ? ceilings->levels[roofs.level].level
			   : SL_LEVEL_COMPUTE;
	/* Above 1 by the error of both figures, or impossible: see below. */
	if (!isnan(roofs.compute_ns) && op->median_ns.value > 0)
		op->ceiling_share = fmin(1, bound_ns / op->median_ns.value);
}

void
sl__profile_fill_op_dtypes(struct sl_profile *profile)
{
	struct sl_operation *ops = profile->operations;

	for (size_t i = 0; i < profile->n_operations; i++)
		ops[i].dtype = dtype_of(&ops[i], profile->dtype);
}

void
sl__roofline_place(struct sl_profile *profile)
{
	struct sl_ceilings *ceilings = &profile->ceilings;
	struct sl_operation *ops = profile->operations;

	ceilings->ridge = (double)NAN;
	if (ceilings->n_levels)
		ceilings->ridge = ceilings->flops_per_s.value /
				  ceilings->levels[ceilings->n_levels - 1]
					  .bytes_per_s.value;
	sl__profile_fill_op_dtypes(profile);
	for (size_t i = 0; i < profile->n_operations; i++)
		place(ceilings, &ops[i]);
}

/* Work of an iteration, and the least time that it takes, each by itself. */
struct work {
	double core, executed, n_bytes;
	double compute_ns, bytes_ns, bound_ns;
	int is_open; /* there is more that is not counted */
};

static struct work
work_of(const struct sl_profile *profile)
{
	struct work w = {0};

	for (size_t i = 0; i < profile->n_operations; i++) {
		const struct sl_operation *op = &profile->operations[i];
		struct roofs roofs = roofs_of(&profile->ceilings, op);

		if (!(op->n_calls > 0) || op->impossible)
			continue;
		if (op->uncounted) {
			w.is_open = 1;
			continue;
		}
		w.core += op->n_calls * (double)op->core_flops;
		w.executed += op->n_calls * (double)op->executed_flops;
		w.n_bytes += op->n_calls * (double)op->n_bytes;
		w.compute_ns += op->n_calls * roofs.compute_ns;
		w.bytes_ns += op->n_calls * roofs.bytes_ns;
		w.bound_ns += op->n_calls * op->bound_ns;
	}
	return w;
}

/*
 * What every way to compute the model reads or writes comes from memory but for
 * what the last cache can keep from one iteration to the next.  Weights of a
 * plan in a narrower type are taken to be stored in it.
 */
static double
once_ns(const struct sl_profile *profile)
{
	const struct sl_ceilings *ceilings = &profile->ceilings;
	size_t last = ceilings->n_levels ? ceilings->n_levels - 1 : 0;
	double kept = 0, bytes;

	if (last == 0 || !profile->model)
		return 0;
	bytes = (double)profile->model->memory.once_bytes;
	if (profile->dtype == SL_DTYPE_BF16 || profile->dtype == SL_DTYPE_F16)
		bytes /= 2;
	else if (profile->dtype != SL_DTYPE_F32)
		bytes /= 4;
	for (size_t i = 0; i < last; i++)
		kept += (double)ceilings->levels[i].size_bytes *
			(double)ceilings->n_threads;
	return fmax(0, bytes - kept) /
	       ceilings->levels[last].bytes_per_s.value * 1e9;
}

static int
has_embedding(const struct sl_profile *profile)
{
	for (size_t i = 0; i < profile->n_operations; i++) {
		if (profile->operations[i].part == SL_PART_EMBEDDING)
			return 1;
	}
	return 0;
}

static struct sl_reading
tokens_per_s(const struct sl_profile *profile, double seconds)
{
	int64_t n = profile->model ? profile->model->n_tokens : 0;

	if (!n)
		return (struct sl_reading){
			(double)NAN,
			"no input is a batch of sequences of whole numbers"};
	if (!has_embedding(profile))
		return (struct sl_reading){(double)NAN,
					   "the model has no embedding"};
	return (struct sl_reading){(double)n / seconds, NULL};
}

/* Of work that is not all known there are no rates; the bound holds, but says
 * little. */
static void
forget_work(struct sl_rates *rates)
{
	rates->flops_per_s = rates->executed_flops_per_s = (double)NAN;
	rates->bytes_per_s = rates->bound_ns = (double)NAN;
	rates->compute_efficiency = rates->bandwidth_efficiency = (double)NAN;
}

void
sl__profile_fill_rates(struct sl_profile *profile)
{
	double median_ns = profile->latency.median.value;
	double seconds = median_ns * 1e-9;
	struct work w = work_of(profile);

	profile->rates = (struct sl_rates){
		.samples_per_s = (double)profile->batch / seconds,
		.tokens_per_s = tokens_per_s(profile, seconds),
		.flops_per_s = w.core / seconds,
		.executed_flops_per_s = w.executed / seconds,
		.bytes_per_s = w.n_bytes / seconds,
		.compute_efficiency = w.compute_ns / median_ns,
		.bandwidth_efficiency = w.bytes_ns / median_ns,
		.bound_ns = fmax(w.bound_ns, once_ns(profile)),
	};
	if (!profile->ceilings.n_levels && !profile->ceilings.n_peaks)
		profile->rates.bound_ns = (double)NAN;
	if (w.is_open)
		forget_work(&profile->rates);
}

/* What cannot be: rates that no machine reaches. */

/* Times are differences of rounded figures; a sum may be off by that much. */
static const double ROUNDING = 1.001;

/* The most that arithmetic of a type reaches, the highest of all types where
 * it is not known; NaN: no telling. */
static double
peak_most(const struct sl_ceilings *ceilings, enum sl_dtype dtype)
{
	const struct sl_estimate *peak = sl__ceiling_peak(ceilings, dtype);
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

/* Why an operation does less than the model asks for. */
static enum sl_fact_kind
why_less(const struct sl_operation *op)
{
	if (op->kernel && strstr(op->kernel, "wino"))
		return SL_FACT_WINOGRAD;
	return op->part == SL_PART_ATTENTION ? SL_FACT_MASKED : SL_FACT_PADDING;
}

/* How many operations do less than the model asks for, for this reason, and so
 * much less that what is asked for a second is above the peak. */
static size_t
n_beyond(const struct sl_profile *profile, enum sl_fact_kind why)
{
	size_t n = 0;

	for (size_t i = 0; i < profile->n_operations; i++) {
		const struct sl_operation *op = &profile->operations[i];
		const struct sl_estimate *peak =
			sl__ceiling_peak(&profile->ceilings, op->dtype);
		double asked =
			(double)op->core_flops / median_most_ns(op) * 1e9;

		n += peak && !op->impossible && !op->uncounted &&
		     why_less(op) == why &&
		     op->executed_flops < op->core_flops && asked > peak->hi;
	}
	return n;
}

static enum sl_status
remark_nominal(struct sl_profile *profile, struct sl__arena *arena,
	       struct sl_error *err)
{
	/* Norms that were folded are no part of what is asked for here. */
	static const enum sl_fact_kind reasons[] = {
		SL_FACT_WINOGRAD, SL_FACT_PADDING, SL_FACT_MASKED};
	struct sl__facts remarks;

	sl__facts_init(&remarks, arena, profile->remarks, profile->n_remarks);
	for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++) {
		double n = (double)n_beyond(profile, reasons[i]);

		if (n > 0)
			sl__facts_add(
				&remarks,
				(struct sl_fact){reasons[i], {n}, {NULL}});
	}
	profile->remarks = remarks.list;
	profile->n_remarks = remarks.n;
	return remarks.has_failed ? sl__fail_nomem(err) : SL_OK;
}

enum sl_status
sl__profile_flag_impossible(struct sl_profile *profile, struct sl__arena *arena,
			    struct sl_error *err)
{
	struct sl_operation *ops = profile->operations;
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
