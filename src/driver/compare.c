/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compare.c - models against each other: which is faster, and where.
 *
 * src/experiment/model_rounds.c plays the rounds and decides; here the
 * arms are made ready and what was found is put into words and rows.
 */
#include "analysis/sweep_measurements.h"
#include "base/reading.h"
#include "base/option_struct.h"
#include "base/status.h"
#include "driver/arm_checks.h"
#include "driver/compared_arms.h"
#include "experiment/agreement.h"
#include "experiment/model_rounds.h"
#include "experiment/step_pairing.h"
#include "result/sweep_laws.h"
#include "stats/arm_set.h"
#include "stats/bootstrap.h"
#include "stats/quantile.h"
#include "stats/sign_test.h"
#include "stats/summary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/banned.h"

/* Seconds of rounds, unless the caller says; and for models so long that this
 * is too few of them. */
static const double USUAL_TIME_S = 5, LONG_TIME_S = 20;

/* What the place in memory makes of a layer, at most: with few placements a
 * change below that is not named. */
static const double PLACEMENT_REACH = 0.1;

struct comparing {
	const struct sl_model_arm *arms;
	struct sl_model_comparison_options how; /* defaults filled in */
	int has_time;                           /* the caller said how long */
	struct sl__arena *arena;                /* of the result */
	struct sl__arena scratch;
	struct sl_model_comparison *out;
	struct sl_model_arm_result *sides;
	struct sl_arm_comparison *pairs;
	size_t n;
	struct sl__compared_arms made;
	struct sl__model_arm runs[SL_MODEL_ARMS_MAX];
	struct sl__model_rounds model_rounds;
};

const char *
sl_comparison_basis_text(enum sl_comparison_basis basis)
{
	static const char *const words[SL_N_COMPARISON_BASES] = {
		"wall time", "CPU time", "typical layer"};

	return (unsigned)basis < SL_N_COMPARISON_BASES ? words[basis]
						       : "unknown";
}

static enum sl_status
take_options(struct sl_model_comparison_options *out, int *has_time,
	     const struct sl_model_comparison_options *options,
	     struct sl_error *err)
{
	enum sl_status rc = sl__options_copy(
		out, sizeof(*out), options, "sl_model_comparison_options", err);

	if (rc)
		return rc;
	*has_time = out->time_s != 0;
	if (!*has_time)
		out->time_s = USUAL_TIME_S;
	if (out->min_rounds == 0)
		out->min_rounds = 50;
	if (out->seed == 0)
		out->seed = 1;
	if (!(out->time_s > 0) || out->time_s > 1e6)
		return sl__fail(err, SL_E_USAGE,
				"time of %g s: must be above 0, at most 1e6",
				out->time_s);
	return sl__arm_set_defaults(&out->margin, &out->alpha, err);
}

static enum sl_status
check_arms(const struct sl_model_arm *arms, size_t n, struct sl_error *err)
{
	if (n < 2 || n > SL_MODEL_ARMS_MAX)
		return sl__fail(err, SL_E_USAGE, "%zu arms: must be 2 to %d", n,
				SL_MODEL_ARMS_MAX);
	for (size_t i = 0; i < n; i++) {
		if (!arms[i].graph)
			return sl__fail(err, SL_E_USAGE, "arm %zu has no graph",
					i + 1);
	}
	return SL_OK;
}

/* The same plans elsewhere in memory. */
static enum sl_status
renew(struct sl__model_arm *runs, size_t n, size_t *n_renewed, void *ctx,
      struct sl_error *err)
{
	struct comparing *a = ctx;
	enum sl_status rc = sl__compared_arms_renew(&a->made, n_renewed, err);

	for (size_t i = 0; i < n; i++) {
		runs[i].side = sl__compared_arms_side(&a->made, i);
		runs[i].plan = a->made.subjects[i]->plan;
	}
	return rc;
}

static enum sl_status
find_batch(struct comparing *a, size_t i, struct sl_error *err)
{
	struct sl_inspect_options how = {
		.struct_size = sizeof(how),
		.brief = 1,
		.sizes = &a->made.subjects[i]->sizes,
	};
	struct sl_inspection *model;
	enum sl_status rc = sl_inspect(&model, a->arms[i].graph, &how, err);

	if (rc)
		return rc;
	a->sides[i].batch = model->batch;
	a->out->is_per_sample |= model->batch != a->sides[0].batch;
	sl_inspection_free(model);
	return SL_OK;
}

static enum sl_status
describe_side(struct comparing *a, size_t i, struct sl_error *err)
{
	const struct sl_model_arm *c = &a->arms[i];
	const struct sl_plan *plan = a->made.subjects[i]->plan;
	struct sl_model_arm_result *side = &a->sides[i];
	struct sl_step step;

	side->model = sl__arena_string(a->arena, c->graph->name);
	side->source = sl__arena_string(a->arena, c->graph->source);
	side->name = c->name ? sl__arena_string(a->arena, c->name)
			     : side->model;
	side->dtype = plan->options.dtype;
	side->n_threads = sl_plan_n_threads(plan);
	side->choices = sl__plan_choices_hash(plan, a->arena);
	if (!side->model || !side->source || !side->name || !side->choices)
		return sl__fail_nomem(err);
	side->plan_ns = a->made.subjects[i]->plan_ns;
	side->n_steps = sl_plan_n_steps(plan);
	sl_plan_memory(plan, &side->memory);
	side->memory_bytes = side->memory.planned_bytes +
			     side->memory.weight_bytes +
			     side->memory.mapped_bytes;
	for (size_t s = 0; sl_plan_step(plan, s, &step); s++) {
		side->nominal_flops += step.nominal_flops;
		side->executed_flops += step.executed_flops;
	}
	return find_batch(a, i, err);
}

static struct sl_estimate
median_of(const struct comparing *a, const double *x)
{
	size_t n = a->model_rounds.n_counted;

	memcpy(a->model_rounds.scratch, x, n * sizeof(*x));
	return sl__median_estimate(a->model_rounds.scratch, n);
}

/* Times of a pair in the rounds that were kept, of one side. */
static void
take_column(const struct comparing *a, size_t which, const size_t *pair_of,
	    size_t pair, double *x)
{
	const struct sl__model_arm *who = &a->runs[which];

	memset(x, 0, a->model_rounds.n_rows * sizeof(*x));
	for (size_t s = 0; s < who->n_steps; s++) {
		for (size_t r = 0;
		     pair_of[s] == pair && r < a->model_rounds.n_rows; r++)
			x[r] += (double)who->rows[r * who->n_steps + s];
	}
}

static double
middle_of(const double *x, double *scratch, size_t n)
{
	memcpy(scratch, x, n * sizeof(*x));
	return sl__median_in_place(scratch, n);
}

/* The ratio, per sample, with its always-valid interval, over rounds in which
 * both ran. */
static struct sl_estimate
ratio_of(const struct comparing *a, size_t which, const double *x,
	 const double *y, size_t n)
{
	double per_sample = log((double)a->runs[0].n_samples /
				(double)a->runs[which].n_samples);
	double logs[SL__MODEL_ROUNDS_ROWS], scratch[SL__MODEL_ROUNDS_ROWS];
	struct sl__paired_test model_rounds;

	sl__paired_test_init(&model_rounds, logs, SL__MODEL_ROUNDS_ROWS,
			     a->how.margin, a->how.alpha, NULL);
	for (size_t r = 0; r < n; r++) {
		if (x[r] > 0 && y[r] > 0)
			logs[model_rounds.n++] = log(y[r] / x[r]) + per_sample;
	}
	return sl__paired_test_ratio(&model_rounds, scratch);
}

/* B - A, per sample, over rounds of which the steps are kept; in x and y these
 * lie 'stride' apart. */
static struct sl_estimate
change_of(const struct comparing *a, size_t which, const double *x,
	  const double *y, size_t stride)
{
	double n_a = (double)a->runs[0].n_samples;
	double n_b = (double)a->runs[which].n_samples;
	double changes[SL__MODEL_ROUNDS_ROWS];
	size_t n = a->model_rounds.n_rows;

	for (size_t r = 0; r < n; r++)
		changes[r] = y[r * stride] / n_b - x[r * stride] / n_a;
	return sl__student_mean(changes, n, a->how.alpha);
}

static void
time_layer(const struct comparing *a, const struct sl__arm_test *c,
	   size_t which, size_t pair, struct sl_compared_layer *layer)
{
	double x[SL__MODEL_ROUNDS_ROWS], y[SL__MODEL_ROUNDS_ROWS];
	double scratch[SL__MODEL_ROUNDS_ROWS];
	size_t n = a->model_rounds.n_rows;

	memset(x, 0, sizeof(x));
	memset(y, 0, sizeof(y));
	layer->a_ns = layer->b_ns = layer->log_e = (double)NAN;
	layer->ratio = sl__no_estimate();
	if (layer->n_a) {
		take_column(a, 0, c->pairing.of_a, pair, x);
		layer->a_ns = middle_of(x, scratch, n);
	}
	if (layer->n_b) {
		take_column(a, which, c->pairing.of_b, pair, y);
		layer->b_ns = middle_of(y, scratch, n);
	}
	if (layer->n_a && layer->n_b)
		layer->ratio = ratio_of(a, which, x, y, n);
	layer->change_ns = change_of(a, which, x, y, 1);
	layer->is_tested = c->is_tested[pair] && c->counts[pair].n > 0;
	if (layer->is_tested)
		layer->log_e = sl__sign_count_log_e(&c->counts[pair]);
}

static enum sl_status
describe_layer(struct comparing *a, const struct sl__step_pair *p, size_t which,
	       struct sl_compared_layer *layer, struct sl_error *err)
{
	struct sl_step x, y;
	int has_a = sl_plan_step(a->made.subjects[0]->plan, p->first_a, &x);
	int has_b = sl_plan_step(a->made.subjects[which]->plan, p->first_b, &y);
	const struct sl_step *first = has_a ? &x : &y;

	layer->n_a = p->n_a;
	layer->n_b = p->n_b;
	layer->name = sl__arena_string(a->arena, first->name);
	layer->type = sl__arena_string(a->arena, first->type);
	layer->a_kernel = sl__arena_string(a->arena, has_a ? x.kernel : NULL);
	layer->b_kernel = sl__arena_string(a->arena, has_b ? y.kernel : NULL);
	if (!layer->name || !layer->type || (has_a && !layer->a_kernel) ||
	    (has_b && !layer->b_kernel))
		return sl__fail_nomem(err);
	return SL_OK;
}

/* Beyond what the place in memory makes of a layer. */
static int
is_far(const struct sl_estimate *ratio)
{
	const double reach = 1 + PLACEMENT_REACH;

	return ratio->lo > reach || ratio->hi < 1 / reach;
}

/* e-BH over the layers that were tested, and what no placement denies; none
 * where layers that are the same ran other algorithms. */
static enum sl_status
name_layers(struct comparing *a, const struct sl__arm_test *c,
	    struct sl_arm_comparison *pair, struct sl_compared_layer *layers,
	    struct sl_error *err)
{
	size_t n = 0, cap = pair->n_layers;
	size_t n_placements = a->model_rounds.n_placements;
	double *log_e = sl__arena_array(&a->scratch, cap, sizeof(*log_e));
	size_t *of = sl__arena_array(&a->scratch, cap, sizeof(*of));
	size_t *order = sl__arena_array(&a->scratch, cap, sizeof(*order));
	unsigned char *is_named = sl__arena_alloc(&a->scratch, cap);

	if (!log_e || !of || !order || !is_named)
		return sl__fail_nomem(err);
	for (size_t i = 0; i < cap; i++) {
		if (!layers[i].is_tested)
			continue;
		of[n] = i;
		log_e[n++] = layers[i].log_e;
	}
	sl__e_benjamini_hochberg(is_named, log_e, n,
				 a->how.alpha / (double)(a->n - 1), order);
	for (size_t i = 0; i < n; i++) {
		struct sl_compared_layer *l = &layers[of[i]];

		l->is_named = is_named[i] && !pair->n_other_kernels &&
			      sl__differs_in_most_placements(c, of[i],
							     n_placements) &&
			      (n_placements >= SL__PLACEMENTS_ENOUGH ||
			       is_far(&l->ratio));
	}
	for (size_t i = 0; i < cap; i++)
		pair->n_named += (size_t)layers[i].is_named;
	return SL_OK;
}

struct ranked {
	int is_named;
	double change_ns;
	size_t i;
};

static int
by_change(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	if (x->is_named != y->is_named)
		return y->is_named - x->is_named;
	if (x->change_ns != y->change_ns)
		return x->change_ns < y->change_ns ? 1 : -1;
	return x->i < y->i ? -1 : x->i > y->i;
}

/* By what they change, of an iteration or, where batches differ, of a sample.
 */
static enum sl_status
rank_layers(struct comparing *a, size_t which, struct sl_error *err)
{
	struct sl_arm_comparison *pair = &a->pairs[which - 1];
	double n_a = (double)a->runs[0].n_samples;
	double n_b = (double)a->runs[which].n_samples;
	size_t n = pair->n_layers;
	struct ranked *ranked =
		sl__arena_array(&a->scratch, n, sizeof(*ranked));
	size_t *order = sl__arena_array(a->arena, n, sizeof(*order));

	if (!ranked || !order)
		return sl__fail_nomem(err);
	for (size_t i = 0; i < n; i++) {
		const struct sl_compared_layer *l = &pair->layers[i];
		double from = l->n_a ? l->a_ns : 0, to = l->n_b ? l->b_ns : 0;

		ranked[i] = (struct ranked){l->is_named,
					    fabs(to / n_b - from / n_a), i};
		pair->n_only_a += !l->n_b;
		pair->n_only_b += !l->n_a;
		pair->only_a_ns += l->n_b ? 0 : from;
		pair->only_b_ns += l->n_a ? 0 : to;
	}
	qsort(ranked, n, sizeof(*ranked), by_change);
	for (size_t i = 0; i < n; i++)
		order[i] = ranked[i].i;
	pair->by_change = order;
	return SL_OK;
}

static enum sl_status
list_layers(struct comparing *a, size_t which, struct sl_error *err)
{
	const struct sl__arm_test *c = &a->model_rounds.tests[which];
	struct sl_arm_comparison *pair = &a->pairs[which - 1];
	size_t n = c->pairing.n;
	struct sl_compared_layer *layers =
		sl__arena_array(a->arena, n, sizeof(*layers));
	int is_same = sl__plans_have_same_settings(
		a->made.subjects[0]->plan, a->made.subjects[which]->plan);
	enum sl_status rc = SL_OK;

	if (!layers)
		return sl__fail_nomem(err);
	for (size_t i = 0; !rc && i < n; i++) {
		const struct sl__step_pair *p = &c->pairing.pairs[i];

		rc = describe_layer(a, p, which, &layers[i], err);
		time_layer(a, c, which, i, &layers[i]);
		layers[i].has_other_kernel = is_same && p->has_other_kernel;
		pair->n_other_kernels += (size_t)layers[i].has_other_kernel;
	}
	pair->layers = layers;
	pair->n_layers = n;
	pair->change_ns = change_of(a, which, a->runs[0].walls,
				    a->runs[which].walls,
				    a->model_rounds.row_stride);
	pair->rest_change_ns = pair->change_ns.value;
	for (size_t i = 0; i < n; i++)
		pair->rest_change_ns -= layers[i].change_ns.value;
	if (!rc)
		rc = name_layers(a, c, pair, layers, err);
	return rc ? rc : rank_layers(a, which, err);
}

/* Its n and needs_n count groups; what is said counts rounds. */
static struct sl_estimate
ratio_of_groups(const struct comparing *a, const struct sl__ensemble *e,
		size_t member)
{
	struct sl_estimate ratio =
		sl__ensemble_ratio(e, member, a->model_rounds.scratch);

	if (ratio.n)
		ratio.n = a->model_rounds.n_counted;
	ratio.needs_n *= a->model_rounds.n_grouped;
	return ratio;
}

/* What one series of rounds says by itself. */
static void
conclude(const struct comparing *a, const struct sl__ensemble *e, size_t member,
	 struct sl_comparison *out)
{
	const struct sl__paired_test *model_rounds = &e->members[member];

	out->ratio = ratio_of_groups(a, e, member);
	out->speedup = 1 / out->ratio.value;
	out->verdict = sl__ensemble_member_verdict(e, member);
	out->gate = model_rounds->gate;
	out->margin = model_rounds->margin;
	out->n_rounds = a->model_rounds.n_counted;
	out->n_disturbed = a->model_rounds.n_disturbed;
	out->n_left_out = a->model_rounds.n_left_out;
	out->log_e = sl__ensemble_member_log_e(e, member);
	out->minimum_detectable = sl__paired_test_minimum_detectable(
		model_rounds, a->model_rounds.scratch);
	out->decided_after_s = (double)NAN;
}

static void
take_pair(const struct comparing *a, size_t which)
{
	const struct sl__arm_test *c = &a->model_rounds.tests[which];
	const struct sl__ensemble *e = &c->ensemble;
	struct sl_arm_comparison *pair = &a->pairs[which - 1];
	struct sl_reading memory =
		sl__present((double)a->sides[0].memory_bytes /
			    (double)a->sides[which].memory_bytes);

	conclude(a, e, SL_COMPARISON_BASIS_WALL, &pair->comparison);
	conclude(a, e, SL_COMPARISON_BASIS_CPU, &pair->cpu);
	pair->comparison.a = pair->cpu.a = a->sides[0].name;
	pair->comparison.b = pair->cpu.b = a->sides[which].name;
	pair->comparison.cpu_ratio = pair->cpu.cpu_ratio = pair->cpu.ratio;
	pair->comparison.memory_ratio = pair->cpu.memory_ratio = memory;
	pair->wall_verdict = pair->comparison.verdict;
	pair->comparison.verdict = e->verdict;
	pair->comparison.gate = e->gate;
	pair->comparison.decided_after_s = c->decided_s;
	pair->layers_ratio = ratio_of_groups(a, e, SL_COMPARISON_BASIS_LAYERS);
	pair->comparison.accuracy_delta = pair->accuracy.value;
	if (a->out->is_disturbed)
		sl__arm_withdraw_verdicts(pair,
					  a->sides[0].n_threads ==
						  a->sides[which].n_threads);
	pair->decided_by = (enum sl_comparison_basis)e->decided_by;
	pair->log_e = sl__ensemble_log_e(e);
	for (size_t i = 0; i < SL_N_COMPARISON_BASES; i++) {
		pair->absent[i] = c->absent[i];
		pair->log_e_of[i] = c->absent[i]
					    ? (double)NAN
					    : sl__ensemble_member_log_e(e, i);
	}
}

static enum sl_status
take_placements(struct comparing *a, struct sl_error *err)
{
	const struct sl_error *why = &a->model_rounds.renewal;

	a->out->n_placements = a->model_rounds.n_placements;
	a->out->placements_enough = SL__PLACEMENTS_ENOUGH;
	a->out->placement_reach = PLACEMENT_REACH;
	if (!why->status)
		return SL_OK;
	return sl__arena_copy_text(a->arena, &a->out->renewal_absent, why->text,
				   err);
}

static enum sl_status
take_result(struct comparing *a, struct sl_error *err)
{
	struct sl_model_comparison *out = a->out;
	enum sl_status rc = SL_OK;

	out->is_disturbed = sl__sweep_disturbance(&a->model_rounds.noise) >
			    SL__SWEEP_DISTURBED;
	for (size_t i = 0; !rc && i < a->n; i++) {
		a->sides[i].wall_ns = median_of(a, a->runs[i].walls);
		a->sides[i].cpu_ns = median_of(a, a->runs[i].cpus);
		if (!i)
			continue;
		take_pair(a, i);
		rc = list_layers(a, i, err);
		sl__arm_withdraw_choices(&a->pairs[i - 1],
					 a->sides[0].wall_ns.value /
						 (double)a->runs[0].n_samples);
	}
	out->iterations_per_slot =
		a->model_rounds.n_calls * a->model_rounds.n_sub_slots;
	out->noise = a->model_rounds.noise;
	out->elapsed_s = a->model_rounds.elapsed_s;
	out->stopped_by = a->model_rounds.stopped_by;
	out->seed = a->how.seed;
	return rc ? rc : take_placements(a, err);
}

static enum sl_status
play(struct comparing *a, struct sl_error *err)
{
	struct sl__model_rounds_options how = {
		.time_s = a->how.time_s,
		.most_time_s = a->has_time ? 0 : LONG_TIME_S,
		.margin = a->how.margin,
		.alpha = a->how.alpha,
		.min_rounds = a->how.min_rounds,
		.seed = a->how.seed,
		.control = {.interrupt = a->how.interrupt,
			    .progress = a->how.progress,
			    .progress_ctx = a->how.progress_ctx},
		.renew = a->made.is_unfinished ? NULL : renew,
		.renew_ctx = a,
		.renew_ns = sl__compared_arms_renewal_ns(&a->made),
	};

	for (size_t i = 0; i < a->n; i++) {
		a->runs[i].side = sl__compared_arms_side(&a->made, i);
		a->runs[i].plan = a->made.subjects[i]->plan;
		a->runs[i].n_samples = a->out->is_per_sample ? a->sides[i].batch
							     : 1;
	}
	return sl__model_rounds(&a->model_rounds, a->runs, a->n, &how,
				&a->scratch, err);
}

/* Whether it can be compared with the first, and how far its output is. */
static enum sl_status
check_side(struct comparing *a, size_t i, struct sl_error *err)
{
	struct sl_plan *first = a->made.subjects[0]->plan;
	struct sl_plan *plan = a->made.subjects[i]->plan;
	struct sl_arm_comparison *pair = &a->pairs[i - 1];
	struct sl__agreement found;
	enum sl_status rc = sl__arm_inputs_check(first, plan, a->sides[0].batch,
						 a->sides[i].batch, err);

	if (!rc)
		rc = sl__agreement_as_set(&found, first, plan, err);
	if (rc)
		return sl__error_prefix(err, rc, a->sides[i].name);
	pair->output_error = found.error;
	pair->largest_error = found.largest;
	if (isnan(found.error))
		pair->outputs_absent = found.absent;
	return SL_OK;
}

static enum sl_status
arbitrate(struct comparing *a, struct sl_error *err)
{
	enum sl_status rc;

	a->sides = sl__arena_array(a->arena, a->n, sizeof(*a->sides));
	a->pairs = sl__arena_array(a->arena, a->n - 1, sizeof(*a->pairs));
	if (!a->sides || !a->pairs)
		return sl__fail_nomem(err);
	a->out->sides = a->sides;
	a->out->pairs = a->pairs;
	a->out->n_pairs = a->n - 1;
	a->out->n = a->n;
	rc = sl__compared_arms_open(&a->made, a->arms, a->n, &a->how, err);
	for (size_t i = 0; !rc && i < a->n; i++)
		rc = describe_side(a, i, err);
	for (size_t i = 1; !rc && i < a->n; i++)
		rc = check_side(a, i, err);
	if (!rc && a->how.data)
		rc = sl__arms_evaluate(a->sides, a->pairs, a->arms, a->n,
				       &a->how, err);
	if (!rc)
		rc = play(a, err);
	return rc ? rc : take_result(a, err);
}

enum sl_status
sl_compare_models(struct sl_model_comparison **out,
		  const struct sl_model_arm *arms, size_t n,
		  const struct sl_model_comparison_options *options,
		  struct sl_error *err)
{
	struct sl_model_comparison_options how;
	struct sl_model_comparison *comparison;
	struct sl__arena *arena;
	struct comparing *a;
	enum sl_status rc;
	int has_time;

	*out = NULL;
	rc = take_options(&how, &has_time, options, err);
	if (!rc)
		rc = check_arms(arms, n, err);
	if (rc)
		return rc;
	comparison = sl__arena_object_new(&arena, how.allocator,
					  sizeof(*comparison));
	a = comparison ? sl__arena_alloc(arena, sizeof(*a)) : NULL;
	if (!a) {
		sl_model_comparison_free(comparison);
		return sl__fail_nomem(err);
	}
	a->arms = arms;
	a->how = how;
	a->has_time = has_time;
	a->arena = arena;
	a->out = comparison;
	a->n = n;
	sl__arena_init(&a->scratch, how.allocator);
	rc = arbitrate(a, err);
	sl__compared_arms_close(&a->made);
	sl__arena_release(&a->scratch);
	*out = sl__arena_object_free_on_error(comparison, rc);
	return rc;
}

void
sl_model_comparison_free(struct sl_model_comparison *comparison)
{
	sl__arena_object_free(comparison);
}
