/* SPDX-License-Identifier: Apache-2.0 */
/*
 * variant_choice.c - which variant of a model is worth having.
 *
 * Each variant is a point of four costs.  One that was not proved to differ
 * from the baseline in time has the baseline's time: noise puts nothing on the
 * front.
 */
#include "analysis/variant_choice.h"

#include <math.h>

#include "base/banned.h"

/* Half as much again as peaks and bytes explain. */
static const double ALLOWANCE = 1.5;

const char *
sl_objective_text(enum sl_objective objective)
{
	static const char *const words[SL_N_OBJECTIVES] = {"latency", "memory",
							   "accuracy", "size"};

	return (unsigned)objective < SL_N_OBJECTIVES ? words[objective] : "?";
}

double
sl__most_speedup(double flops_ratio, double peak_ratio, double bytes_ratio)
{
	return ALLOWANCE * fmax(flops_ratio * peak_ratio, bytes_ratio);
}

static int
dominates(const double *a, const double *b, size_t n_dims)
{
	int is_better = 0;

	for (size_t k = 0; k < n_dims; k++) {
		if (a[k] > b[k])
			return 0;
		is_better |= a[k] < b[k];
	}
	return is_better;
}

void
sl__pareto_front(unsigned char *is_on, const double *costs, size_t n,
		 size_t n_dims)
{
	for (size_t i = 0; i < n; i++) {
		is_on[i] = 1;
		for (size_t k = 0; k < n; k++) {
			if (dominates(costs + k * n_dims, costs + i * n_dims,
				      n_dims))
				is_on[i] = 0;
		}
	}
}

enum sl_verdict
sl__verdict_on_time(const struct sl_arm_comparison *pair)
{
	enum sl_verdict v = pair->comparison.verdict;
	int differs = v == SL_VERDICT_FASTER || v == SL_VERDICT_SLOWER;

	return differs && pair->wall_verdict != v ? SL_VERDICT_UNDECIDED : v;
}

/* Whether it was measured, and may be believed. */
static int
is_known(const struct sl_variant_result *r)
{
	return !r->refused && r->time_ns.n && !r->is_implausible;
}

/* What each objective costs, the less the better; 0 where it is not known. */
static void
costs_of(const struct sl_variant_result *r, double *out)
{
	int is_proved = r->verdict == SL_VERDICT_FASTER ||
			r->verdict == SL_VERDICT_SLOWER;

	out[SL_OBJECTIVE_LATENCY] = r->ratio.n && is_proved ? r->ratio.value
							    : 1;
	out[SL_OBJECTIVE_MEMORY] = (double)r->memory_bytes;
	out[SL_OBJECTIVE_ACCURACY] = r->accuracy.n ? -r->accuracy.value : 0;
	out[SL_OBJECTIVE_SIZE] = (double)r->size_bytes;
}

/* How far it is beyond a limit, in times of the limit; 0: within it. */
static double
excess(const struct sl_variant_result *r, const struct sl_variant_limits *l,
       enum sl_objective k)
{
	const double is[SL_N_OBJECTIVES] = {
		[SL_OBJECTIVE_LATENCY] = r->time_ns.value,
		[SL_OBJECTIVE_MEMORY] = (double)r->memory_bytes,
		[SL_OBJECTIVE_ACCURACY] = r->accuracy.value,
		[SL_OBJECTIVE_SIZE] = (double)r->size_bytes};

	if (!(l->of[k] > 0))
		return 0;
	if (k == SL_OBJECTIVE_ACCURACY)
		return r->accuracy.n ? fmax(1 - is[k] / l->of[k], 0) : 1;
	return fmax(is[k] / l->of[k] - 1, 0);
}

static double
largest_excess(const struct sl_variant_result *r,
	       const struct sl_variant_limits *l)
{
	double most = 0;

	for (unsigned k = 0; k < SL_N_OBJECTIVES; k++)
		most = fmax(most, excess(r, l, (enum sl_objective)k));
	return most;
}

/* A limit on accuracy says itself what may be lost. */
static int
is_accurate(const struct sl_optimization *o, const struct sl_variant_result *r)
{
	const double slack = 1e-9; /* of sums of shares */

	if (o->limits.of[SL_OBJECTIVE_ACCURACY] > 0 || r == o->variants)
		return 1;
	if (r->difference.value.n)
		return -r->difference.value.value <= o->accuracy_drop + slack;
	return !r->accuracy.n ||
	       1 - r->accuracy.value <= o->accuracy_drop + slack;
}

/* Whether i is better than k by the objective, and, where it is as good, in
 * time. */
static int
is_better(const struct sl_optimization *o, size_t i, size_t k)
{
	double a[SL_N_OBJECTIVES], b[SL_N_OBJECTIVES];

	costs_of(&o->variants[i], a);
	costs_of(&o->variants[k], b);
	if (a[o->objective] < b[o->objective])
		return 1;
	return a[o->objective] <= b[o->objective] &&
	       a[SL_OBJECTIVE_LATENCY] < b[SL_OBJECTIVE_LATENCY];
}

/* Without a proof, more accuracy is chance. */
static int
is_proved(const struct sl_optimization *o, size_t i)
{
	return i == 0 || o->objective != SL_OBJECTIVE_ACCURACY ||
	       o->variants[i].difference.change == SL_ACCURACY_HIGHER;
}

static void
mark_front(struct sl_optimization *o, struct sl_variant_result *rows)
{
	double costs[SL_MODEL_ARMS_MAX][SL_N_OBJECTIVES];
	unsigned char is_on[SL_MODEL_ARMS_MAX];
	size_t of[SL_MODEL_ARMS_MAX], n = 0;

	for (size_t i = 0; i < o->n_variants; i++) {
		if (!is_known(&rows[i]))
			continue;
		costs_of(&rows[i], costs[n]);
		of[n++] = i;
	}
	sl__pareto_front(is_on, costs[0], n, SL_N_OBJECTIVES);
	for (size_t i = 0; i < n; i++)
		rows[of[i]].is_pareto = is_on[i];
}

void
sl__variants_judge(struct sl_optimization *o, struct sl_variant_result *rows)
{
	double least = (double)INFINITY;

	o->recommended = o->closest = SIZE_MAX;
	mark_front(o, rows);
	for (size_t i = 0; i < o->n_variants; i++) {
		double beyond = largest_excess(&rows[i], &o->limits);

		if (!is_known(&rows[i]))
			continue;
		rows[i].is_within = !(beyond > 0);
		rows[i].is_accurate = is_accurate(o, &rows[i]);
		if (beyond < least) {
			least = beyond;
			o->closest = i;
		}
		if (!rows[i].is_within || !rows[i].is_accurate ||
		    !is_proved(o, i))
			continue;
		if (o->recommended == SIZE_MAX ||
		    is_better(o, i, o->recommended))
			o->recommended = i;
	}
	if (o->recommended != SIZE_MAX)
		o->closest = SIZE_MAX;
}
