/* SPDX-License-Identifier: Apache-2.0 */
/* sweep_points.c - what visits to a point yield, and what they come to. */
#include "analysis/growth_fit.h"
#include "analysis/sweep_work.h"
#include "result/sweep_laws.h"

#include <math.h>
#include <string.h>

#include "base/banned.h"

/*
 * The side of the ridge on which the operations lie that take most time.
 * Books that do not close leave open where the time went.
 */
static void
take_side(struct sl_sweep_point *point, const struct sl_profile *p)
{
	double compute = 0, memory = 0;

	for (size_t i = 0; i < p->n_operations; i++) {
		const struct sl_operation *op = &p->operations[i];

		if (!op->roof)
			continue;
		if (op->roof == SL_LEVEL_COMPUTE)
			compute += op->share;
		else
			memory += op->share;
	}
	point->verdict = SL_BOTTLENECK_INCONCLUSIVE;
	point->verdict_absent = NULL;
	if (!p->ceilings.flops_per_s.n) {
		point->verdict_absent = "no ceiling was measured";
	} else if (!p->ledger.is_closed) {
		point->verdict_absent = "the books of its passes do not close";
	} else if (compute + memory < 0.6) {
		point->verdict_absent = "less than 60 % of the time is of "
					"operations with a roof";
	} else {
		point->verdict = compute >= 0.6  ? SL_BOTTLENECK_COMPUTE
				 : memory >= 0.6 ? SL_BOTTLENECK_MEMORY
						 : SL_BOTTLENECK_MIXED;
	}
}

static double
executed_of(const struct sl_profile *p)
{
	double flops = 0;

	for (size_t i = 0; i < p->n_operations; i++)
		flops += (double)p->operations[i].executed_flops *
			 p->operations[i].n_calls;
	return flops;
}

double
sl__sweep_disturbance(const struct sl_noise *noise)
{
	const struct sl_reading *shares[] = {&noise->run_delay_share,
					     &noise->steal_share,
					     &noise->neighbour_share};
	double most = 0;

	for (size_t i = 0; i < sizeof(shares) / sizeof(shares[0]); i++) {
		if (!shares[i]->absent)
			most = fmax(most, shares[i]->value);
	}
	return most;
}

int
sl__sweep_enter(struct sl__sweep_work *work, size_t i, size_t nth,
		const struct sl_profile *p, double joules)
{
	struct sl_sweep_point *point = &work->points[i];
	size_t at = i * work->n_visits + nth;
	double disturbance = sl__sweep_disturbance(&p->noise);
	int is_new = nth == point->n_visits;

	point->n_repeated += !is_new;
	if (!is_new && disturbance >= work->disturbance[at])
		return 0;
	work->medians[at] = p->latency.median;
	work->disturbance[at] = disturbance;
	work->passes[at] = p->n_passes;
	work->joules[at] = joules;
	point->plan_ns = fmax(point->plan_ns, p->plan_ns);
	point->n_visits += (size_t)is_new;
	return 1;
}

void
sl__sweep_facts(struct sl__sweep_work *work, size_t i,
		const struct sl_profile *p)
{
	struct sl_sweep_point *point = &work->points[i];
	const struct sl_memory_use *m = &p->memory;

	work->batch = p->batch;
	work->executed[i] = executed_of(p);
	point->parameters = p->model->parameters.trainable;
	point->flops = p->model->flops;
	point->memory_bytes =
		m->planned_bytes + m->packed_bytes + m->mapped_bytes;
	if (point->memory_bytes)
		point->touched_bytes = m->touched_bytes;
	work->compute[i] = work->bounds[i] = (double)NAN;
	if (p->ceilings.flops_per_s.n) {
		work->compute[i] =
			p->rates.compute_efficiency * p->latency.median.value;
		work->bounds[i] = p->rates.bound_ns;
	}
	take_side(point, p);
}

static double
amount_of(enum sl_axis axis, const struct sl__sweep_work *work, size_t i)
{
	if (axis == SL_AXIS_WIDTH)
		return (double)work->points[i].flops;
	if (axis == SL_AXIS_SEQ)
		return work->tokens[i];
	return (double)(axis == SL_AXIS_BATCH ? work->points[i].value
					      : work->batch);
}

static struct sl_estimate
rate_of(const struct sl_estimate *ns, double amount)
{
	struct sl_estimate e = *ns;

	e.value = amount / ns->value * 1e9;
	e.lo = amount / ns->hi * 1e9;
	e.hi = amount / ns->lo * 1e9;
	return e;
}

/* A visit's energy is one figure, whose error shows only beside others. */
static void
settle_energy(struct sl__sweep_work *work, size_t i)
{
	struct sl_estimate visits[SL__SWEEP_VISITS_MOST] = {{0}};
	struct sl_sweep_point *p = &work->points[i];
	size_t n = 0;

	for (size_t k = 0; k < p->n_visits; k++) {
		double joules = work->joules[i * work->n_visits + k];

		if (!isnan(joules))
			visits[n++] = (struct sl_estimate){.value = joules,
							   .lo = (double)NAN,
							   .hi = (double)NAN,
							   .n = 1,
							   .needs_n = 3};
	}
	p->energy_j = sl__growth_pool(visits, n);
	if (n)
		p->energy_absent = NULL;
}

static void
settle_visits(struct sl__sweep_work *work, size_t i)
{
	struct sl_sweep_point *p = &work->points[i];
	size_t row = i * work->n_visits;

	for (size_t k = 0; k < p->n_visits; k++) {
		p->n_disturbed += work->disturbance[row + k] >
				  SL__SWEEP_DISTURBED;
		p->n_passes += work->passes[row + k];
	}
	p->latency_ns = sl__growth_pool(work->medians + row, p->n_visits);
	settle_energy(work, i);
}

static void
settle_point(enum sl_axis axis, struct sl__sweep_work *work, size_t i)
{
	struct sl_sweep_point *p = &work->points[i];
	double batch = (double)(axis == SL_AXIS_BATCH ? p->value : work->batch);
	double ns;

	settle_visits(work, i);
	if (!p->n_visits && !p->absent)
		p->absent = "interrupted before it was measured";
	ns = p->latency_ns.value;
	p->rate_per_s = rate_of(&p->latency_ns, amount_of(axis, work, i));
	p->samples_per_s = batch / ns * 1e9;
	p->sample_ns = ns / batch;
	p->flops_per_s = (double)p->flops / ns * 1e9;
	p->compute_efficiency = work->compute[i] / ns;
	p->roof_share = work->bounds[i] / ns;
	p->samples_per_s_per_mb =
		p->memory_bytes
			? p->samples_per_s / ((double)p->memory_bytes / 1e6)
			: (double)NAN;
}

static void
find_knee(struct sl_sweep_series *series, const struct sl__sweep_work *work)
{
	struct sl_estimate rates[SL_SWEEP_VALUES_MOST] = {{0}};
	double x[SL_SWEEP_VALUES_MOST] = {0};
	size_t n = 0;

	series->n_measured = 0;
	for (size_t i = 0; i < work->n_points; i++) {
		if (work->points[i].absent)
			continue;
		series->n_measured++;
		if (sl__sweep_is_spoilt(&work->points[i]))
			continue;
		x[n] = (double)work->points[i].value;
		rates[n++] = work->points[i].rate_per_s;
	}
	sl__growth_knee(&series->knee, x, rates, n);
	if (n < 2 && series->n_measured >= 2)
		series->knee.absent = "undisturbed at fewer than two sizes";
}

void
sl__sweep_settle(struct sl_sweep_series *series, struct sl__sweep_work *work,
		 enum sl_axis axis)
{
	series->batch = work->batch;
	for (size_t i = 0; i < work->n_points; i++)
		settle_point(axis, work, i);
	find_knee(series, work);
}
