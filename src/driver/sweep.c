/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sweep.c - models profiled over a range of sizes.
 *
 * Points are visited several times.  Each time, all points of all models come
 * in a new random order, and every visit plans and measures afresh, so that
 * neither a slow drift of the machine nor one lucky placement in memory can
 * iteration for growth.  Weights are made once each time: points of a model
 * that follow each other take those of the one before.  What visits differ in
 * is in the interval of a point. Visits that other programs disturbed are made
 * again.
 */
#include "analysis/growth_fit.h"
#include "analysis/sweep_measurements.h"
#include "base/clock.h"
#include "base/reading.h"
#include "base/option_struct.h"
#include "base/status.h"
#include "driver/sweep.h"
#include "driver/sweep_axis.h"
#include "engine/weight_cache.h"
#include "machine/energy_meter.h"
#include "machine/platform.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/banned.h"

enum { MODELS_MOST = 16 };

/* The meter is read no more often: it moves once a millisecond, and reading
 * it takes the time of small models. */
static const uint64_t METER_NS = 10 * 1000 * 1000;

/* Energy and iterations between two moments of one visit. */
struct metered {
	double first_j, last_j;
	size_t first_round, last_round;
	uint64_t last_ns; /* of the last reading */
	int is_begun;
};

struct sweeper {
	struct sl_sweep_options how; /* defaults filled in */
	struct sl_plan_options plan;
	const struct sl_sweep_model *models;
	size_t n_models;
	struct sl__arena *arena; /* of the result */
	struct sl__arena scratch;
	struct sl_sweep *out;
	struct sl_sweep_series *series;
	struct sl__sweep_measurements *works;
	struct sl__runner runner; /* of visits */
	sl__profile_function *profile;
	sl__profile_training_function *profile_training;
	struct sl__energy_meter meter;
	struct metered metered;
	size_t n_begun, n_all;         /* visits */
	size_t *again;                 /* [n_all] those that others disturbed */
	const struct sl_graph *pinned; /* whose weights 'pin' keeps */
	struct sl__weight_pin *pin;
	char what[64]; /* for progress */
};

static enum sl_status
check_values(const struct sl_sweep_options *how, struct sl_error *err)
{
	if (!how->n_values || how->n_values > SL_SWEEP_VALUES_MOST)
		return sl__fail(err, SL_E_USAGE, "1 to %d values, not %zu",
				SL_SWEEP_VALUES_MOST, how->n_values);
	for (size_t i = 0; i < how->n_values; i++) {
		if (how->values[i] <= (i ? how->values[i - 1] : 0))
			return sl__fail(err, SL_E_USAGE,
					"values must be above 0 and ascend");
	}
	return SL_OK;
}

static enum sl_status
check_numbers(const struct sl_sweep_options *how, struct sl_error *err)
{
	if ((unsigned)how->axis >= SL_N_AXES)
		return sl__fail(err, SL_E_USAGE, "there is no such axis");
	if (!(how->time_s > 0) || how->time_s > 1e6)
		return sl__fail(err, SL_E_USAGE,
				"time of %g s: must be above 0, at most 1e6",
				how->time_s);
	if (how->n_visits > SL__SWEEP_VISITS_MOST)
		return sl__fail(err, SL_E_USAGE, "at most %d visits, not %zu",
				SL__SWEEP_VISITS_MOST, how->n_visits);
	if ((unsigned)how->optimizer >= SL_N_OPTIMIZERS)
		return sl__fail(err, SL_E_USAGE, "there is no such optimizer");
	if (how->optimizer && how->inputs_folder)
		return sl__fail(err, SL_E_USAGE,
				"a training step takes no inputs from a "
				"folder");
	if (!(how->memory_bytes >= 0) || !(how->latency_s >= 0))
		return sl__fail(err, SL_E_USAGE, "limits cannot be below 0");
	return check_values(how, err);
}

static enum sl_status
take_options(struct sweeper *s, const struct sl_sweep_options *options,
	     struct sl_error *err)
{
	enum sl_status rc = sl__options_copy(&s->how, sizeof(s->how), options,
					     "sl_sweep_options", err);

	if (!rc)
		rc = sl__options_copy(&s->plan, sizeof(s->plan), s->how.plan,
				      "sl_plan_options", err);
	if (rc)
		return rc;
	if (s->how.time_s == 0)
		s->how.time_s = 1;
	if (!s->how.n_visits)
		s->how.n_visits = 3;
	if (!s->how.seed)
		s->how.seed = 1;
	if (!s->n_models || s->n_models > MODELS_MOST)
		return sl__fail(err, SL_E_USAGE, "1 to %d models, not %zu",
				MODELS_MOST, s->n_models);
	rc = check_numbers(&s->how, err);
	for (size_t i = 0; !rc && i < s->n_models; i++)
		rc = sl__axis_check(s->how.axis, &s->models[i], err);
	return rc;
}

static enum sl_status
reserve_work(struct sweeper *s, struct sl__sweep_measurements *work,
	     struct sl_error *err)
{
	size_t n = s->how.n_values, n_all = n * s->how.n_visits;
	double **columns[] = {&work->needs,   &work->executed,
			      &work->compute, &work->bounds,
			      &work->tokens,  &work->disturbance,
			      &work->joules};

	work->n_visits = s->how.n_visits;
	work->n_points = n;
	work->points = sl__arena_array(s->arena, n, sizeof(*work->points));
	work->medians =
		sl__arena_array(&s->scratch, n_all, sizeof(*work->medians));
	work->iterations =
		sl__arena_array(&s->scratch, n_all, sizeof(*work->iterations));
	if (!work->points || !work->medians || !work->iterations)
		return sl__fail_nomem(err);
	for (size_t k = 0; k < sizeof(columns) / sizeof(columns[0]); k++) {
		*columns[k] =
			sl__arena_array(&s->scratch, n_all, sizeof(double));
		if (!*columns[k])
			return sl__fail_nomem(err);
		for (size_t i = 0; i < n_all; i++)
			(*columns[k])[i] = (double)NAN;
	}
	for (size_t i = 0; i < n; i++) {
		work->points[i].value = s->how.values[i];
		work->points[i].touched_bytes = sl__absent("not measured");
		work->points[i].energy_absent =
			s->meter.absent ? s->meter.absent
					: "too few iterations for the meter";
		work->points[i].verdict_absent = "not measured";
	}
	return SL_OK;
}

static enum sl_status
reserve(struct sweeper *s, struct sl_error *err)
{
	enum sl_status rc = SL_OK;

	s->series = sl__arena_array(s->arena, s->n_models, sizeof(*s->series));
	s->works = sl__arena_array(&s->scratch, s->n_models, sizeof(*s->works));
	if (!s->series || !s->works)
		return sl__fail_nomem(err);
	for (size_t i = 0; !rc && i < s->n_models; i++) {
		s->series[i].name =
			sl__arena_string(s->arena, s->models[i].name);
		s->series[i].source = "";
		rc = s->series[i].name ? reserve_work(s, &s->works[i], err)
				       : sl__fail_nomem(err);
		s->series[i].points = s->works[i].points;
		s->series[i].n_points = s->how.n_values;
	}
	return rc;
}

/* The meter is read between rounds, where nothing is on the clock. */
static void
read_meter(struct sweeper *s, const struct sl_progress *now, uint64_t ns)
{
	struct metered *m = &s->metered;
	double joules;

	if (s->meter.absent || !now->n_done ||
	    (m->is_begun && ns - m->last_ns < METER_NS))
		return;
	joules = sl__energy_joules(&s->meter);
	if (isnan(joules))
		return;
	if (!m->is_begun) {
		m->first_j = joules;
		m->first_round = now->n_done;
		m->is_begun = 1;
	}
	m->last_j = joules;
	m->last_round = now->n_done;
	m->last_ns = ns;
}

/* What a profile tells of one visit becomes part of the whole. */
static void
tell(const struct sl_progress *now, void *ctx)
{
	struct sweeper *s = ctx;
	struct sl_progress all = *now;
	uint64_t ns = sl__clock_now_ns(s->runner.control.with.clock);
	double spent = (double)(ns - s->runner.start_ns) / 1e9;

	read_meter(s, now, ns);
	if (!s->how.progress)
		return;
	all.what = s->what;
	all.share = ((double)s->n_begun - 1 + fmin(now->share, 1)) /
		    (double)s->n_all;
	all.remaining_s = all.share > 0 ? spent / all.share - spent
					: (double)NAN;
	s->how.progress(&all, s->how.progress_ctx);
}

/* One visit: what is measured there. */
struct visit {
	size_t model, point;
	size_t again; /* the visit that this one may stand for; or SIZE_MAX */
	const struct sl_graph *graph;
	struct sl_graph *own; /* along width */
	struct sl_sizes sizes;
	struct sl_plan_options plan;
};

static enum sl_status
open_width(struct sweeper *s, struct visit *v, int64_t width,
	   struct sl_error *err)
{
	struct sl_graph_options how = {.struct_size = sizeof(how),
				       .seed = s->how.seed,
				       .allocator = s->how.allocator};
	const char *name;
	enum sl_status rc = sl__axis_widened_model_name(
		&name, s->models[v->model].name, width, &s->scratch, err);

	if (!rc)
		rc = sl_graph_open(&v->own, name, &how, err);
	v->graph = v->own;
	return rc;
}

static enum sl_status
prepare(struct sweeper *s, struct visit *v, struct sl_error *err)
{
	const struct sl_sweep_model *model = &s->models[v->model];
	int64_t value = s->how.values[v->point];
	enum sl_status rc = sl__options_copy(&v->sizes, sizeof(v->sizes),
					     model->sizes, "sl_sizes", err);

	if (rc)
		return rc;
	v->graph = model->graph;
	v->plan = s->plan;
	v->plan.sizes = &v->sizes;
	switch (s->how.axis) {
	case SL_AXIS_BATCH:
		v->sizes.batch = value;
		break;
	case SL_AXIS_SEQ:
		v->sizes.seq = value;
		break;
	case SL_AXIS_THREADS:
		v->plan.n_threads = (int)value;
		break;
	case SL_AXIS_WIDTH:
		return open_width(s, v, value, err);
	}
	return SL_OK;
}

/* The weights of the model that is visited stay for its next point; those of
 * another go. */
static enum sl_status
pin_weights(struct sweeper *s, const struct visit *v, struct sl_error *err)
{
	if (v->own || v->graph == s->pinned)
		return SL_OK;
	sl__weight_pin_free(s->pin);
	s->pin = NULL;
	s->pinned = v->graph;
	return sl__weight_pin_new(&s->pin, v->graph, s->plan.allocator, err);
}

static double
room_for(struct sweeper *s, double bytes)
{
	double room = (double)sl__platform_free_bytes("");

	if (room >= bytes || !s->pin)
		return room;
	sl__weight_pin_clear(s->pin);
	return (double)sl__platform_free_bytes("");
}

/* Before the first visit: a model that does not fit would not fail but end
 * the process. */
static enum sl_status
check_memory(struct sweeper *s, const struct visit *v, struct sl_error *err)
{
	struct sl__sweep_measurements *work = &s->works[v->model];
	struct sl_inspect_options how = {.struct_size = sizeof(how),
					 .brief = 1,
					 .sizes = &v->sizes,
					 .allocator = s->how.allocator};
	struct sl_inspection *seen;
	double room;
	enum sl_status rc = sl_inspect(&seen, v->graph, &how, err);

	if (rc)
		return rc;
	work->needs[v->point] =
		s->how.optimizer
			? (double)seen->training.peak_bytes[s->how.optimizer]
			: (double)seen->memory.parameter_bytes +
				  (double)seen->memory.live_bytes;
	sl_inspection_free(seen);
	room = room_for(s, work->needs[v->point]);
	if (room > 0 && work->needs[v->point] > room)
		return sl__fail(err, SL_E_NOMEM,
				"needs %.4g MB of memory, %.4g MB are free",
				work->needs[v->point] / 1e6, room / 1e6);
	return SL_OK;
}

static enum sl_status
profile(struct sweeper *s, const struct visit *v,
	const struct sl_profile_options *how, struct sl_profile **out,
	struct sl_error *err)
{
	const struct sl_training_options training = {
		.struct_size = sizeof(training),
		.optimizer = s->how.optimizer,
		.seed = s->how.seed};

	if (!s->how.optimizer)
		return s->profile(out, v->graph, how, err);
	return s->profile_training(out, v->graph, &training, how, err);
}

static enum sl_status
measure(struct sweeper *s, const struct visit *v, struct sl_profile **out,
	struct sl_error *err)
{
	int is_new = !s->works[v->model].points[v->point].n_visits;
	/* Facts are the first visit's, or those of what stands for it. */
	int is_first = is_new || v->again == 0;
	struct sl_profile_options how = {
		.struct_size = sizeof(how),
		.plan = &v->plan,
		.inputs_folder = s->how.inputs_folder,
		.seed = s->how.seed,
		.time_s = s->how.time_s / (double)s->how.n_visits,
		.n_warmup = s->how.n_warmup,
		.n_runs = s->how.n_runs,
		.flags = SL_PROFILE_NO_DIAGNOSIS | SL_PROFILE_NO_ABLATION,
		.progress = tell,
		.progress_ctx = s,
		.interrupt = s->how.interrupt,
		.allocator = s->how.allocator,
	};
	enum sl_status rc = pin_weights(s, v, err);

	if (!rc && is_new)
		rc = check_memory(s, v, err);
	if (rc)
		return rc;
	/* Ceilings do not change with the visit. */
	if (!is_first || (s->how.flags & SL_PROFILE_NO_CEILINGS))
		how.flags |= SL_PROFILE_NO_CEILINGS;
	memset(&s->metered, 0, sizeof(s->metered));
	return profile(s, v, &how, out, err);
}

/* Tokens of an iteration; NaN where the model has no sequence. */
static double
tokens_of(const struct visit *v, const struct sl_profile *p)
{
	return v->sizes.seq > 0 ? (double)v->sizes.seq * (double)p->batch
				: (double)NAN;
}

/* What does not change from visit to visit. */
static enum sl_status
take_facts(struct sweeper *s, const struct visit *v, const struct sl_profile *p,
	   struct sl_error *err)
{
	struct sl__sweep_measurements *work = &s->works[v->model];
	struct sl_sweep_point *point = &work->points[v->point];
	const char *source = sl__arena_string(s->arena, p->source);

	s->out->dtype = p->dtype;
	s->out->n_threads = p->n_threads;
	work->tokens[v->point] = tokens_of(v, p);
	sl__sweep_fill_point(work, v->point, p);
	if (point->touched_bytes.absent)
		point->touched_bytes.absent =
			sl__arena_string(s->arena, point->touched_bytes.absent);
	if (!source ||
	    (isnan(point->touched_bytes.value) && !point->touched_bytes.absent))
		return sl__fail_nomem(err);
	s->series[v->model].source = source;
	return SL_OK;
}

/* Joules of an iteration; NaN where the meter has not moved between two
 * readings. */
static double
joules_of(const struct metered *m, const struct sl_profile *p)
{
	/* A round is as many recorded iterations as bare ones. */
	double n_iterations = 2 * (double)(m->last_round - m->first_round) *
			      (double)p->calls_per_sample;
	double joules = (m->last_j - m->first_j) / n_iterations;

	return m->is_begun && n_iterations > 0 && joules > 0 ? joules
							     : (double)NAN;
}

static enum sl_status
take_visit(struct sweeper *s, const struct visit *v, const struct sl_profile *p,
	   struct sl_error *err)
{
	struct sl__sweep_measurements *work = &s->works[v->model];
	size_t nth = v->again == SIZE_MAX ? work->points[v->point].n_visits
					  : v->again;
	enum sl_status rc;

	if (!sl__sweep_enter(work, v->point, nth, p, joules_of(&s->metered, p)))
		return SL_OK;
	rc = nth ? SL_OK : take_facts(s, v, p, err);
	if (!rc)
		rc = sl__sweep_kinds_add(work, v->point, nth, p, &s->scratch,
					 err);
	return rc;
}

/* A point that fails is not tried again; what was measured there stays. */
static enum sl_status
take_failure(struct sweeper *s, const struct visit *v,
	     const struct sl_error *why, struct sl_error *err)
{
	struct sl_sweep_point *point = &s->works[v->model].points[v->point];
	const char *text = sl__arena_string(
		s->arena, *why->text ? why->text : sl_status_text(why->status));

	if (!text)
		return sl__fail_nomem(err);
	if (point->n_visits)
		point->note = text;
	else
		point->absent = text;
	return SL_OK;
}

static enum sl_status
visit(struct sweeper *s, size_t nth, size_t again, struct sl_error *err)
{
	struct visit v = {.model = nth / s->how.n_values,
			  .point = nth % s->how.n_values,
			  .again = again};
	struct sl_sweep_point *point = &s->works[v.model].points[v.point];
	struct sl_profile *profile = NULL;
	struct sl_error why = {0};
	enum sl_status rc;

	s->n_begun++;
	if (point->absent || point->note)
		return SL_OK;
	snprintf(s->what, sizeof(s->what), "%.30s %s %lld",
		 s->models[v.model].name, sl_axis_text(s->how.axis),
		 (long long)point->value);
	rc = prepare(s, &v, &why);
	if (!rc)
		rc = measure(s, &v, &profile, &why);
	if (!rc)
		rc = take_visit(s, &v, profile, err);
	else if (rc == SL_E_INTERRUPTED)
		rc = SL_OK;
	else
		rc = take_failure(s, &v, &why, err);
	sl_profile_free(profile);
	sl_graph_free(v.own);
	return rc;
}

/* Weights are made once in each round. */
static enum sl_status
visit_new(struct sl__slot *slot, void *ctx, struct sl_error *err)
{
	struct sweeper *s = ctx;

	if (!slot->nth && s->pin)
		sl__weight_pin_clear(s->pin);
	return visit(s, slot->arm, SIZE_MAX, err);
}

static enum sl_status
visit_all(struct sweeper *s, struct sl_error *err)
{
	const struct sl__phase_spec visits = {
		.n_arms = s->n_models * s->how.n_values,
		.n_rounds = s->how.n_visits,
		.run = visit_new,
		.ctx = s,
	};

	s->n_all = visits.n_arms * visits.n_rounds;
	s->again = sl__arena_array(&s->scratch, s->n_all, sizeof(size_t));
	s->runner.order =
		sl__arena_array(&s->scratch, s->n_all, sizeof(size_t));
	if (!s->again || !s->runner.order)
		return sl__fail_nomem(err);
	return sl__runner_run(&s->runner, &visits, err);
}

/* Which visits others disturbed: again[] gets point * n_visits + visit, over
 * all models. */
static size_t
find_disturbed(const struct sweeper *s)
{
	size_t n = 0;

	for (size_t m = 0; m < s->n_models; m++) {
		const struct sl__sweep_measurements *work = &s->works[m];

		for (size_t i = 0; i < work->n_points; i++) {
			for (size_t k = 0; k < work->points[i].n_visits; k++) {
				size_t at = i * work->n_visits + k;

				if (work->disturbance[at] > SL__SWEEP_DISTURBED)
					s->again[n++] = m * work->n_points *
								work->n_visits +
							at;
			}
		}
	}
	return n;
}

static enum sl_status
visit_again(struct sl__slot *slot, void *ctx, struct sl_error *err)
{
	struct sweeper *s = ctx;
	size_t at = s->again[slot->arm];

	return visit(s, at / s->how.n_visits, at % s->how.n_visits, err);
}

/*
 * Makes disturbed visits again, once, and keeps the quieter of the two.  What
 * decides is what others did, never the time that was measured.  Where most
 * visits are disturbed the machine is not quieter the next time either.
 */
static enum sl_status
repeat_disturbed(struct sweeper *s, struct sl_error *err)
{
	const struct sl__phase_spec repeating = {.n_arms = find_disturbed(s),
						 .n_rounds = 1,
						 .run = visit_again,
						 .ctx = s};

	if (!repeating.n_arms || 2 * repeating.n_arms > s->n_all)
		return SL_OK;
	s->n_all += repeating.n_arms;
	return sl__runner_run(&s->runner, &repeating, err);
}

static enum sl_status
settle_series(struct sweeper *s, size_t nth, struct sl_error *err)
{
	struct sl_sweep_series *series = &s->series[nth];
	struct sl__sweep_measurements *work = &s->works[nth];

	sl__sweep_summarize_points(series, work, s->how.axis);
	sl__sweep_best_point(&series->best, work->points, work->n_points,
			     s->how.memory_bytes, s->how.latency_s);
	return sl__sweep_fit_exponents(series, work, s->how.axis, s->arena,
				       err);
}

static enum sl_status
settle(struct sweeper *s, struct sl_error *err)
{
	struct sl_sweep *out = s->out;
	size_t n_measured = 0;
	enum sl_status rc = SL_OK;

	out->series = s->series;
	out->n_series = s->n_models;
	out->stopped_by = s->runner.stopped_by;
	for (size_t i = 0; !rc && i < s->n_models; i++) {
		rc = settle_series(s, i, err);
		n_measured += s->series[i].n_measured;
	}
	if (!rc && out->stopped_by == SL_STOP_INTERRUPT && !n_measured)
		return sl__fail(err, SL_E_INTERRUPTED,
				"interrupted before the first point");
	out->elapsed_s = sl__runner_elapsed_s(&s->runner);
	return rc;
}

static enum sl_status
run(struct sweeper *s, struct sl_error *err)
{
	struct sl_sweep *out = s->out;
	enum sl_status rc;

	out->axis = s->how.axis;
	out->rate_unit = sl__axis_rate_unit(s->how.axis);
	out->n_visits = s->how.n_visits;
	out->memory_bytes = s->how.memory_bytes;
	out->latency_s = s->how.latency_s;
	out->seed = s->how.seed;
	out->optimizer = s->how.optimizer;
	rc = sl__energy_open(&s->meter, "", s->arena, err);
	if (!rc)
		rc = reserve(s, err);
	if (!rc)
		rc = visit_all(s, err);
	if (!rc)
		rc = repeat_disturbed(s, err);
	sl__weight_pin_free(s->pin);
	sl__energy_close(&s->meter);
	return rc ? rc : settle(s, err);
}

enum sl_status
sl__sweep(struct sl_sweep **out, const struct sl_sweep_model *models, size_t n,
	  const struct sl_sweep_options *options,
	  const struct sl__sweep_test_hooks *script, struct sl_error *err)
{
	struct sweeper s = {.models = models,
			    .n_models = n,
			    .profile = script->profile,
			    .profile_training = script->profile_training};
	enum sl_status rc;

	*out = NULL;
	rc = take_options(&s, options, err);
	if (rc)
		return rc;
	s.runner.control.interrupt = s.how.interrupt;
	s.runner.control.with.clock = script->clock;
	sl__runner_start_budget(&s.runner, s.how.seed);
	s.out = sl__arena_object_new(&s.arena, s.how.allocator, sizeof(*s.out));
	if (!s.out)
		return sl__fail_nomem(err);
	sl__arena_init(&s.scratch, s.how.allocator);
	rc = run(&s, err);
	sl__arena_release(&s.scratch);
	*out = sl__arena_object_free_on_error(s.out, rc);
	return rc;
}

enum sl_status
sl_sweep(struct sl_sweep **out, const struct sl_sweep_model *models, size_t n,
	 const struct sl_sweep_options *options, struct sl_error *err)
{
	static const struct sl__sweep_test_hooks real = {
		NULL, sl_profile_forward, sl_profile_training};

	return sl__sweep(out, models, n, options, &real, err);
}

void
sl_sweep_free(struct sl_sweep *sweep)
{
	sl__arena_object_free(sweep);
}
