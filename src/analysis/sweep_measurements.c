/* SPDX-License-Identifier: Apache-2.0 */
/* sweep_measurements.c - what visits to a point yield, and what they come to.
 */
#include "analysis/sweep_measurements.h"
#include "analysis/growth_fit.h"
#include "base/status.h"
#include "result/sweep_laws.h"
#include "stats/quantile.h"

#include <math.h>
#include <string.h>

#include "base/banned.h"

/*
 * The side of the ridge on which the operations lie that take most time.
 * Times that do not add up leave open where the time went.
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
		point->verdict_absent =
			"the times of its operations do not add up";
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
sl__sweep_enter(struct sl__sweep_measurements *work, size_t i, size_t nth,
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
	work->iterations[at] = p->n_timed;
	work->joules[at] = joules;
	point->plan_ns = fmax(point->plan_ns, p->plan_ns);
	point->n_visits += (size_t)is_new;
	return 1;
}

/* Of a training step those of all its passes. */
static uint64_t
flops_of(const struct sl_profile *p)
{
	const struct sl_training_profile *t = p->training;
	uint64_t sum = 0;

	for (size_t k = 0; t && k < t->n_phases; k++)
		sum += t->phases[k].core_flops;
	return t ? sum : p->model->flops;
}

void
sl__sweep_fill_point(struct sl__sweep_measurements *work, size_t i,
		     const struct sl_profile *p)
{
	struct sl_sweep_point *point = &work->points[i];
	const struct sl_memory_use *m = &p->memory;

	work->batch = p->batch;
	work->executed[i] = executed_of(p);
	point->parameters = p->model->parameters.trainable;
	point->flops = flops_of(p);
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
amount_of(enum sl_axis axis, const struct sl__sweep_measurements *work,
	  size_t i)
{
	if (axis == SL_AXIS_WIDTH)
		return (double)work->points[i].flops;
	if (axis == SL_AXIS_SEQ)
		return work->tokens[i];
	return (double)(axis == SL_AXIS_BATCH ? work->points[i].value
					      : work->batch);
}

/* A visit's energy is one figure, whose error shows only beside others. */
static void
settle_energy(struct sl__sweep_measurements *work, size_t i)
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
	p->energy_j = sl__visits_pool_estimates(visits, n);
	if (n)
		p->energy_absent = NULL;
}

static void
settle_visits(struct sl__sweep_measurements *work, size_t i)
{
	struct sl_sweep_point *p = &work->points[i];
	size_t row = i * work->n_visits;

	for (size_t k = 0; k < p->n_visits; k++) {
		p->n_disturbed += work->disturbance[row + k] >
				  SL__SWEEP_DISTURBED;
		p->n_iterations += work->iterations[row + k];
	}
	p->latency_ns =
		sl__visits_pool_estimates(work->medians + row, p->n_visits);
	settle_energy(work, i);
}

static void
settle_point(enum sl_axis axis, struct sl__sweep_measurements *work, size_t i)
{
	struct sl_sweep_point *p = &work->points[i];
	double batch = (double)(axis == SL_AXIS_BATCH ? p->value : work->batch);
	double ns;

	settle_visits(work, i);
	if (!p->n_visits && !p->absent)
		p->absent = "interrupted before it was measured";
	ns = p->latency_ns.value;
	p->rate_per_s =
		sl__rate_estimate(amount_of(axis, work, i), &p->latency_ns);
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
find_knee(struct sl_sweep_series *series,
	  const struct sl__sweep_measurements *work)
{
	struct sl_estimate rates[SL_SWEEP_VALUES_MOST] = {{0}};
	double x[SL_SWEEP_VALUES_MOST] = {0};
	size_t n = 0;

	series->n_measured = 0;
	for (size_t i = 0; i < work->n_points; i++) {
		if (work->points[i].absent)
			continue;
		series->n_measured++;
		if (sl__sweep_point_is_disturbed(&work->points[i]))
			continue;
		x[n] = (double)work->points[i].value;
		rates[n++] = work->points[i].rate_per_s;
	}
	sl__growth_knee(&series->knee, x, rates, n);
	if (n < 2 && series->n_measured >= 2)
		series->knee.absent = "undisturbed at fewer than two sizes";
}

void
sl__sweep_summarize_points(struct sl_sweep_series *series,
			   struct sl__sweep_measurements *work,
			   enum sl_axis axis)
{
	series->batch = work->batch;
	for (size_t i = 0; i < work->n_points; i++)
		settle_point(axis, work, i);
	find_knee(series, work);
}

/*
 * Kinds of operations over a sweep, and how all of it grows.
 *
 * Operations are of one kind when their type is the same, but for those that
 * multiply activations with each other: these are attention's, whatever type
 * they have, and grow with the square of the sequence.
 */

enum { KINDS_SHOWN = 6 };

/* A kind counts when it takes so much of the time at some point. */
static const double SHARE_LEAST = 0.02;

static int
is_matmul(const struct sl_inspection *model, const char *node)
{
	for (size_t i = 0; i < model->n_layers; i++) {
		const struct sl_layer *layer = &model->layers[i];

		if (layer->cost.work == SL_WORK_PRODUCT &&
		    !strcmp(layer->name, node))
			return 1;
	}
	return 0;
}

const char *
sl_sweep_kind_text(enum sl_sweep_kind kind)
{
	static const char *const words[] = {"type", "attention", "others"};

	return words[(unsigned)kind <= SL_SWEEP_KIND_OTHERS
			     ? kind
			     : SL_SWEEP_KIND_OTHERS];
}

/* A kind without storage yet. */
static struct sl__sweep_kind_times
kind_of(const struct sl_profile *p, const struct sl_operation *op)
{
	for (size_t i = 0; i < op->n_covers; i++) {
		if (*op->covers[i] && is_matmul(p->model, op->covers[i]))
			return (struct sl__sweep_kind_times){
				.kind = SL_SWEEP_KIND_ATTENTION};
	}
	return (struct sl__sweep_kind_times){.kind = SL_SWEEP_KIND_TYPE,
					     .type = op->type};
}

static struct sl__sweep_kind_times *
known_kind(struct sl__sweep_measurements *work,
	   const struct sl__sweep_kind_times *like)
{
	for (size_t i = 0; i < work->n_kinds; i++) {
		struct sl__sweep_kind_times *known = &work->kinds[i];

		if (known->kind == like->kind &&
		    (!like->type || !strcmp(known->type, like->type)))
			return known;
	}
	return NULL;
}

/* The last place is for all kinds that have none of their own. */
static struct sl__sweep_kind_times *
find_kind(struct sl__sweep_measurements *work, struct sl__sweep_kind_times like,
	  struct sl__arena *arena)
{
	size_t n = work->n_points * work->n_visits;
	struct sl__sweep_kind_times *kind = known_kind(work, &like);

	if (!kind && work->n_kinds >= SL__SWEEP_KINDS_MOST - 1) {
		like = (struct sl__sweep_kind_times){
			.kind = SL_SWEEP_KIND_OTHERS};
		kind = known_kind(work, &like);
	}
	if (kind)
		return kind;
	kind = &work->kinds[work->n_kinds];
	kind->kind = like.kind;
	kind->type = sl__arena_string(arena, like.type);
	kind->ns = sl__arena_array(arena, n, sizeof(double));
	kind->flops = sl__arena_array(arena, work->n_points, sizeof(double));
	if ((like.type && !kind->type) || !kind->ns || !kind->flops)
		return NULL;
	work->n_kinds++;
	return kind;
}

enum sl_status
sl__sweep_kinds_add(struct sl__sweep_measurements *work, size_t point,
		    size_t visit, const struct sl_profile *p,
		    struct sl__arena *arena, struct sl_error *err)
{
	for (size_t i = 0; i < work->n_kinds; i++) {
		work->kinds[i].flops[point] = 0;
		work->kinds[i].ns[point * work->n_visits + visit] = 0;
	}
	for (size_t i = 0; i < p->n_operations; i++) {
		const struct sl_operation *op = &p->operations[i];
		struct sl__sweep_kind_times *kind =
			find_kind(work, kind_of(p, op), arena);
		/* One slow iteration moves a mean, not a median. */
		double ns = op->median_ns.value * op->n_calls;

		if (!kind)
			return sl__fail_nomem(err);
		kind->ns[point * work->n_visits + visit] +=
			isfinite(ns) ? ns : op->self_ns;
		kind->flops[point] += (double)op->executed_flops * op->n_calls;
	}
	return SL_OK;
}

/* Its share of the operations' time at a point; NaN: not measured. */
static double
share_at(const struct sl__sweep_measurements *work,
	 const struct sl__sweep_kind_times *kind, size_t point)
{
	size_t row = point * work->n_visits;
	double ns = 0, all = 0;

	for (size_t v = 0; v < work->points[point].n_visits; v++) {
		ns += kind->ns[row + v];
		for (size_t k = 0; k < work->n_kinds; k++)
			all += work->kinds[k].ns[row + v];
	}
	return all > 0 ? ns / all : (double)NAN;
}

/* Observations of one law at a time. */
struct fitter {
	const struct sl__sweep_measurements *work;
	enum sl_axis axis;
	double *x, *y; /* [n_points * n_visits] */
	size_t n;
};

static void
observe(struct fitter *f, size_t point, double y)
{
	if (!(y > 0) || !isfinite(y))
		return;
	f->x[f->n] = (double)f->work->points[point].value;
	f->y[f->n++] = y;
}

/* Work that is further off a power law than this is none: its bend would pass
 * for a fixed cost of the time. */
static const double BEND_MOST = 0.01;

/* Memory that is further off its law than this has none. */
static const double MEMORY_BEND_MOST = 0.1;

/* The law of figures of points that are known without error; for times, over
 * the same points as theirs and without a fixed part. */
static void
fit_exact(struct fitter *f, struct sl_sweep_exponent *out,
	  const double *figures, int is_of_times)
{
	f->n = 0;
	for (size_t i = 0; i < f->work->n_points; i++) {
		const struct sl_sweep_point *p = &f->work->points[i];

		if (!p->absent &&
		    !(is_of_times && sl__sweep_point_is_disturbed(p)))
			observe(f, i, figures[i]);
	}
	memset(out, 0, sizeof(*out));
	sl__growth_fit_power_law(out, f->x, f->y, f->n, !is_of_times);
}

/* Times are fitted visit by visit; 'kind' NULL: those of whole iterations. */
static void
fit_times(struct fitter *f, struct sl_sweep_exponent *out,
	  const struct sl__sweep_kind_times *kind)
{
	const struct sl__sweep_measurements *work = f->work;
	struct sl_sweep_exponent formula;
	size_t n_spoilt = 0;

	fit_exact(f, &formula, kind ? kind->flops : work->executed, 1);
	/* Work that all threads share takes half the time on twice as many. */
	out->formula = f->axis == SL_AXIS_THREADS ? -1 : formula.exponent.value;
	f->n = 0;
	for (size_t i = 0; i < work->n_points; i++) {
		if (sl__sweep_point_is_disturbed(&work->points[i])) {
			n_spoilt++;
			continue;
		}
		for (size_t v = 0; v < work->points[i].n_visits; v++) {
			size_t at = i * work->n_visits + v;

			observe(f, i,
				kind ? kind->ns[at] : work->medians[at].value);
		}
	}
	sl__growth_fit_power_law(out, f->x, f->y, f->n,
				 !(formula.deviation > BEND_MOST));
	if (out->absent && n_spoilt)
		out->absent = "undisturbed at fewer than two sizes";
}

/* Figures that are counted have a law, but no error of their own. */
static void
fit_counted(struct fitter *f, struct sl_sweep_exponent *out)
{
	sl__growth_fit_power_law(out, f->x, f->y, f->n, 1);
	out->exponent.lo = out->exponent.hi = (double)NAN;
	out->exponent.needs_n = 0;
	out->exponent.method = SL_METHOD_NONE;
	out->tail = sl__no_estimate();
	out->tail_from = 0;
}

static void
fit_memory(struct fitter *f, struct sl_sweep_exponent *out)
{
	const struct sl__sweep_measurements *work = f->work;
	struct sl_sweep_exponent needs;

	out->figure = SL_SWEEP_MEMORY;
	f->n = 0;
	for (size_t i = 0; i < work->n_points; i++) {
		if (!work->points[i].absent)
			observe(f, i, (double)work->points[i].memory_bytes);
	}
	fit_counted(f, out);
	if (out->deviation > MEMORY_BEND_MOST) {
		out->exponent = sl__no_estimate();
		out->offset = out->scale = (double)NAN;
		out->absent = "no power law: a size is more than 10 % off it";
	}
	fit_exact(f, &needs, work->needs, 0);
	out->formula = needs.exponent.value;
}

static void
fit_flops(struct fitter *f, struct sl_sweep_exponent *out)
{
	const struct sl__sweep_measurements *work = f->work;

	out->figure = SL_SWEEP_FLOPS;
	f->n = 0;
	for (size_t i = 0; i < work->n_points; i++) {
		if (!work->points[i].absent)
			observe(f, i, (double)work->points[i].flops);
	}
	fit_counted(f, out);
	out->formula = (double)NAN;
}

static double
most_share(const struct sl__sweep_measurements *work,
	   const struct sl__sweep_kind_times *kind)
{
	double most = 0;

	for (size_t i = 0; i < work->n_points; i++)
		most = fmax(most, share_at(work, kind, i));
	return most;
}

static void
take_shares(struct sl_sweep_exponent *out,
	    const struct sl__sweep_measurements *work,
	    const struct sl__sweep_kind_times *kind)
{
	out->share_first = out->share_last = (double)NAN;
	for (size_t i = 0; i < work->n_points; i++) {
		double share = share_at(work, kind, i);

		if (isnan(share))
			continue;
		out->share_last = share;
		if (isnan(out->share_first))
			out->share_first = share;
	}
}

/* Kinds by the share of time they take where it is largest. */
static size_t
fit_kinds(struct fitter *f, struct sl_sweep_exponent *rows)
{
	const struct sl__sweep_measurements *work = f->work;
	int is_taken[SL__SWEEP_KINDS_MOST] = {0};
	size_t n = 0;

	while (n < KINDS_SHOWN) {
		size_t best = work->n_kinds;
		double most = SHARE_LEAST;

		for (size_t k = 0; k < work->n_kinds; k++) {
			double share = most_share(work, &work->kinds[k]);

			if (!is_taken[k] && share > most) {
				most = share;
				best = k;
			}
		}
		if (best == work->n_kinds)
			break;
		is_taken[best] = 1;
		rows[n].figure = SL_SWEEP_KIND;
		rows[n].kind = work->kinds[best].kind;
		rows[n].type = work->kinds[best].type;
		take_shares(&rows[n], work, &work->kinds[best]);
		fit_times(f, &rows[n++], &work->kinds[best]);
	}
	return n;
}

enum sl_status
sl__sweep_fit_exponents(struct sl_sweep_series *out,
			const struct sl__sweep_measurements *work,
			enum sl_axis axis, struct sl__arena *arena,
			struct sl_error *err)
{
	struct fitter f = {.work = work, .axis = axis};
	size_t n = work->n_points * work->n_visits;
	struct sl_sweep_exponent *rows =
		sl__arena_array(arena, KINDS_SHOWN + 3, sizeof(*rows));

	f.x = sl__arena_array(arena, n, sizeof(double));
	f.y = sl__arena_array(arena, n, sizeof(double));
	if (!rows || !f.x || !f.y)
		return sl__fail_nomem(err);
	for (size_t i = 0; i < KINDS_SHOWN + 3; i++)
		rows[i].share_first = rows[i].share_last = (double)NAN;
	rows[0].figure = SL_SWEEP_TIME;
	fit_times(&f, &rows[0], NULL);
	n = 1 + fit_kinds(&f, rows + 1);
	for (size_t i = 1; i < n; i++) {
		const char *type = rows[i].type;

		rows[i].type = sl__arena_string(arena, type);
		if (type && !rows[i].type)
			return sl__fail_nomem(err);
	}
	fit_memory(&f, &rows[n++]);
	if (axis != SL_AXIS_THREADS)
		fit_flops(&f, &rows[n++]);
	out->exponents = rows;
	out->n_exponents = n;
	return SL_OK;
}
