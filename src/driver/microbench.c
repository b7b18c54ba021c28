/* SPDX-License-Identifier: Apache-2.0 */
/*
 * microbench.c - single operations, measured over sizes.
 *
 * Every size is a model of its own that is profiled without experiments.  The
 * ceilings are one set for all sizes, probed before, between and after them,
 * so that a machine that slows down lowers both.
 */
#include "analysis/roofline_place.h"
#include "analysis/sweep_measurements.h"
#include "analysis/crossover.h"
#include "base/clock.h"
#include "base/option_struct.h"
#include "base/status.h"
#include "base/thread.h"
#include "driver/micro_ops.h"
#include "experiment/timed_iterations.h"
#include "machine/ceiling_probes.h"
#include "machine/platform.h"
#include "result/fact_list.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/banned.h"

enum {
	PROBES_BEFORE = 6,
	PROBES_LEAST = 12 /* of the interval of a ceiling: three each */
};

static const double least_s = 0.02;
static const double precision = 0.02;

struct session {
	struct sl_microbench_options how; /* defaults filled in */
	struct sl_plan_options plan;
	struct sl__arena *arena; /* of the result */
	struct sl__arena scratch;
	struct sl_microbench *out;
	const struct sl__micro_op **ops; /* of the series */
	struct sl_micro_series *series;
	struct sl_profile **profiles;      /* of all points of all series */
	struct sl__ceiling_probes *probes; /* NULL: no ceilings */
	size_t n_probes;
	uint64_t start_ns;
	double tick_ns;       /* the smallest step of the clock */
	size_t n_done, n_all; /* points */
	double iterations_s;  /* when those of the last point began; NaN */
	double setup_s;       /* what it took before that */
	struct sl_error first_failure;
	int is_stopped;
	char what[48]; /* for progress */
};

static enum sl_status
check_values(const struct sl_microbench_options *how, int is_all,
	     struct sl_error *err)
{
	if (!how->n_values)
		return SL_OK;
	if (is_all)
		return sl__fail(err, SL_E_USAGE,
				"sizes are for one operation, not for all");
	if (how->n_values > SL__MICRO_OP_SIZES_MAX)
		return sl__fail(err, SL_E_USAGE, "at most %d sizes, not %zu",
				SL__MICRO_OP_SIZES_MAX, how->n_values);
	for (size_t i = 0; i < how->n_values; i++) {
		if (how->values[i] <= (i ? how->values[i - 1] : 0))
			return sl__fail(err, SL_E_USAGE,
					"sizes must be above 0 and ascend");
	}
	return SL_OK;
}

static enum sl_status
take_options(struct session *k, const struct sl_microbench_options *options,
	     int is_all, struct sl_error *err)
{
	enum sl_status rc = sl__options_copy(&k->how, sizeof(k->how), options,
					     "sl_microbench_options", err);

	if (!rc)
		rc = sl__options_copy(&k->plan, sizeof(k->plan), k->how.plan,
				      "sl_plan_options", err);
	if (rc)
		return rc;
	if (k->how.time_s == 0)
		k->how.time_s = is_all ? 10 : 6;
	if (!k->how.seed)
		k->how.seed = 1;
	if (!(k->how.time_s > 0) || k->how.time_s > 1e6)
		return sl__fail(err, SL_E_USAGE,
				"time of %g s: must be above 0, at most 1e6",
				k->how.time_s);
	k->plan.sizes = NULL;
	if (k->plan.n_threads == 0)
		k->plan.n_threads = (int)sl__thread_n_cpus();
	return check_values(&k->how, is_all, err);
}

static enum sl_status
refuse_op(const char *op, struct sl_error *err)
{
	char list[256] = "";
	const char *name;

	for (size_t i = 0; (name = sl_microbench_op(i)); i++) {
		size_t at = strlen(list);

		snprintf(list + at, sizeof(list) - at, "%s, ", name);
	}
	return sl__fail(err, SL_E_USAGE,
			"there is no operation '%.40s'; these are: %sall", op,
			list);
}

static enum sl_status
open_ceilings(struct session *k, struct sl_error *err)
{
	struct sl__ceiling_probes_options how = {
		.dtype = k->plan.dtype ? k->plan.dtype : SL_DTYPE_F32,
		.n_threads = (size_t)k->plan.n_threads,
		.allocator = k->how.allocator,
	};
	struct sl_error why;

	if (!sl__ceiling_probes_open(&k->probes, &how, &why))
		return SL_OK;
	return sl__arena_copy_text(k->arena, &k->out->ceilings.absent, why.text,
				   err);
}

static int
is_interrupted(const struct session *k)
{
	return k->how.interrupt && *k->how.interrupt;
}

static void
probe(struct session *k, size_t n)
{
	for (size_t i = 0; k->probes && i < n && !is_interrupted(k); i++) {
		sl__ceiling_probes_run(k->probes);
		k->n_probes++;
	}
}

static void
take_ceilings(struct session *k)
{
	struct sl_ceilings *out = &k->out->ceilings;

	if (!k->probes)
		return;
	if (k->n_probes < PROBES_LEAST)
		probe(k, PROBES_LEAST - k->n_probes);
	sl__ceiling_probes_ceilings(k->probes, out);
	out->step_ns = sl__thread_wake_ns(k->plan.n_threads);
}

/* All of the last cache; 0: not known. */
static double
cache_bytes(struct session *k)
{
	struct sl_ceilings c = {0};

	if (!k->probes)
		return 0;
	sl__ceiling_probes_ceilings(k->probes, &c);
	if (c.n_levels < 2)
		return 0;
	return (double)c.levels[c.n_levels - 2].size_bytes *
	       (double)c.n_threads;
}

static size_t
sizes_of(struct session *k, const struct sl__micro_op *op,
	 int64_t values[SL__MICRO_OP_SIZES_MAX])
{
	size_t n = 0;

	if (k->how.n_values) {
		memcpy(values, k->how.values,
		       k->how.n_values * sizeof(*values));
		return k->how.n_values;
	}
	if (!k->out->is_all)
		return sl__micro_op_sizes(op, cache_bytes(k), values);
	for (; op->in_all[n]; n++)
		values[n] = op->in_all[n];
	return n;
}

static enum sl_status
add_series(struct session *k, const struct sl__micro_op *op,
	   struct sl_error *err)
{
	struct sl_micro_series *s = &k->series[k->out->n_series];
	int64_t values[SL__MICRO_OP_SIZES_MAX];
	size_t n = sizes_of(k, op, values);
	struct sl_micro_point *points =
		sl__arena_array(k->arena, n, sizeof(*points));

	if (!points)
		return sl__fail_nomem(err);
	*s = (struct sl_micro_series){
		.name = op->name,
		.kind = op->kind,
		.about = op->about,
		.axis = op->axis,
		.points = points,
		.n_points = n,
		.reached = SIZE_MAX,
		.largest = SIZE_MAX,
	};
	for (size_t i = 0; i < n; i++) {
		points[i].value = values[i];
		points[i].absent = "interrupted before it was measured";
		points[i].roof_share = (double)NAN;
		points[i].shape = sl__micro_op_shape(op, values[i], k->arena);
		if (!points[i].shape)
			return sl__fail_nomem(err);
	}
	k->ops[k->out->n_series++] = op;
	k->n_all += n;
	return SL_OK;
}

static enum sl_status
choose(struct session *k, const char *name, struct sl_error *err)
{
	const struct sl__micro_op *op;
	size_t n_ops = 0;
	enum sl_status rc = SL_OK;

	while (sl__micro_op_at(n_ops))
		n_ops++;
	k->series = sl__arena_array(k->arena, n_ops, sizeof(*k->series));
	k->ops = sl__arena_array(&k->scratch, n_ops, sizeof(*k->ops));
	if (!k->series || !k->ops)
		return sl__fail_nomem(err);
	k->out->series = k->series;
	for (size_t i = 0; !rc && (op = sl__micro_op_at(i)); i++) {
		if (k->out->is_all ? op->in_all != NULL
				   : !strcmp(op->name, name))
			rc = add_series(k, op, err);
	}
	if (rc)
		return rc;
	k->profiles =
		sl__arena_array(&k->scratch, k->n_all, sizeof(*k->profiles));
	return k->profiles ? SL_OK : sl__fail_nomem(err);
}

static double
spent_s(const struct session *k)
{
	return (double)(sl__clock_now_ns(NULL) - k->start_ns) / 1e9;
}

/* What a profile tells of one size becomes part of the whole. */
static void
tell(const struct sl_progress *now, void *ctx)
{
	struct session *k = ctx;
	struct sl_progress all = *now;

	if (isnan(k->iterations_s))
		k->iterations_s = spent_s(k);
	if (!k->how.progress)
		return;
	all.what = k->what;
	all.share =
		((double)k->n_done + fmin(now->share, 1)) / (double)k->n_all;
	all.remaining_s = fmax(0, k->how.time_s - spent_s(k));
	k->how.progress(&all, k->how.progress_ctx);
}

/* Operands that do not fit would not fail but end the process. */
static enum sl_status
check_memory(const struct sl_graph *graph, const struct session *k,
	     struct sl_error *err)
{
	struct sl_inspect_options how = {.struct_size = sizeof(how),
					 .brief = 1,
					 .allocator = k->how.allocator};
	double room = (double)sl__platform_free_bytes("");
	struct sl_inspection *seen;
	enum sl_status rc = sl_inspect(&seen, graph, &how, err);
	double needs;

	if (rc)
		return rc;
	needs = 2 * ((double)seen->memory.parameter_bytes +
		     (double)seen->memory.live_bytes);
	sl_inspection_free(seen);
	if (room > 0 && needs > room)
		return sl__fail(err, SL_E_NOMEM,
				"needs %.4g MB of memory, %.4g MB are free",
				needs / 1e6, room / 1e6);
	return SL_OK;
}

/* What making operands of the sizes to come will take, if it grows as they
 * do. */
static double
setups_s(const struct session *k, const struct sl_micro_series *s, size_t i)
{
	double values = 0;

	for (size_t j = i; i > 0 && j < s->n_points; j++)
		values += (double)s->points[j].value /
			  (double)s->points[i - 1].value;
	return k->setup_s * values;
}

/* For iterations at a size, so that the whole takes the time it should. */
static double
budget_s(const struct session *k, const struct sl_micro_series *s, size_t i)
{
	double left_s = k->how.time_s - spent_s(k);
	double reserve_s = fmin(left_s / 2, setups_s(k, s, i));

	return fmax(least_s,
		    (left_s - reserve_s) / (double)(k->n_all - k->n_done));
}

static enum sl_status
measure(struct session *k, const struct sl_graph *graph, double time_s,
	struct sl_profile **out, struct sl_error *err)
{
	struct sl_profile_options how = {
		.struct_size = sizeof(how),
		.plan = &k->plan,
		.seed = k->how.seed,
		.time_s = time_s,
		.precision = precision,
		.n_runs = k->how.n_runs,
		.flags = SL_PROFILE_BRIEF,
		.progress = tell,
		.progress_ctx = k,
		.interrupt = k->how.interrupt,
		.allocator = k->how.allocator,
	};
	double began_s = spent_s(k);
	enum sl_status rc = check_memory(graph, k, err);

	k->iterations_s = (double)NAN;
	if (!rc)
		rc = sl_profile_forward(out, graph, &how, err);
	k->setup_s = isnan(k->iterations_s) ? 0 : k->iterations_s - began_s;
	return rc;
}

/* A size that fails is recorded, and the next one comes. */
static enum sl_status
take_failure(struct session *k, struct sl_micro_point *point,
	     const struct sl_error *why, struct sl_error *err)
{
	if (why->status == SL_E_INTERRUPTED)
		return SL_OK;
	if (!k->first_failure.status)
		k->first_failure = *why;
	return sl__arena_copy_text(
		k->arena, &point->absent,
		*why->text ? why->text : sl_status_text(why->status), err);
}

static enum sl_status
look_at(struct session *k, size_t nth, size_t i, struct sl_error *err)
{
	struct sl_micro_series *s = &k->series[nth];
	struct sl_micro_point *point =
		(struct sl_micro_point *)(uintptr_t)&s->points[i];
	struct sl_graph *graph = NULL;
	struct sl_error why = {0};
	enum sl_status rc;

	snprintf(k->what, sizeof(k->what), "%s %lld", s->name,
		 (long long)point->value);
	rc = sl__micro_op_model(&graph, k->ops[nth], point->value, k->how.seed,
				k->how.allocator, &why);
	if (!rc)
		rc = measure(k, graph, budget_s(k, s, i),
			     &k->profiles[k->n_done], &why);
	rc = rc ? take_failure(k, point, &why, err) : SL_OK;
	sl_graph_free(graph);
	k->n_done++;
	k->is_stopped = is_interrupted(k);
	if (!k->is_stopped)
		probe(k, 1);
	return rc;
}

static enum sl_status
look_at_all(struct session *k, struct sl_error *err)
{
	enum sl_status rc = SL_OK;

	probe(k, PROBES_BEFORE);
	for (size_t s = 0; s < k->out->n_series; s++) {
		for (size_t i = 0; i < k->series[s].n_points; i++) {
			if (rc || k->is_stopped)
				return rc;
			rc = look_at(k, s, i, err);
		}
	}
	return rc;
}

/* Two moments closer than this are one to the clock. */
static double
tick_step_ns(void)
{
	uint64_t least = UINT64_MAX, last = sl__ticks();

	for (int i = 0; i < 1000; i++) {
		uint64_t now = sl__ticks();

		if (now > last && now - last < least)
			least = now - last;
		last = now;
	}
	return least == UINT64_MAX ? 0 : (double)least / sl__ticks_per_ns();
}

/* Changes of layout belong to the neighbours that an operation has in a
 * network. */
static int
is_part(const struct sl_profile *p, const struct sl_operation *op)
{
	return p->n_operations == 1 || strcmp(op->type, "Reorder") != 0;
}

static void
add_estimate(struct sl_estimate *sum, const struct sl_estimate *e)
{
	if (!sum->n) {
		*sum = *e;
		return;
	}
	sum->value += e->value;
	sum->lo += e->lo;
	sum->hi += e->hi;
	sum->n = e->n < sum->n ? e->n : sum->n;
}

static enum sl_status
add_operation(struct sl_micro_point *out, const struct sl_operation *op,
	      double *most_ns, struct sl__arena *arena, struct sl_error *err)
{
	add_estimate(&out->median_ns, &op->median_ns);
	out->fastest_ns += op->min_ns;
	out->n_operations++;
	out->flops += op->executed_flops;
	out->n_bytes += op->n_bytes;
	out->bound_ns += op->bound_ns;
	if (op->working_set_bytes > out->working_set_bytes) {
		out->working_set_bytes = op->working_set_bytes;
		out->level = op->level;
	}
	if (op->impossible) {
		out->impossible = sl__fact_copy(op->impossible, arena);
		if (!out->impossible)
			return sl__fail_nomem(err);
	}
	if (op->median_ns.value <= *most_ns)
		return SL_OK;
	*most_ns = op->median_ns.value;
	out->roof = op->roof;
	return sl__arena_copy_text(arena, &out->kernel, op->kernel, err);
}

static double
level_ns(const struct sl_ceilings *c, const struct sl_micro_point *p)
{
	for (size_t i = 0; p->level && i < c->n_levels; i++) {
		if (c->levels[i].level == p->level)
			return (double)p->n_bytes /
			       c->levels[i].bytes_per_s.value * 1e9;
	}
	return (double)NAN;
}

static enum sl_status
settle_point(struct session *k, struct sl_micro_point *out,
	     struct sl_profile *p, struct sl_error *err)
{
	const struct sl_ceilings *ceilings = &k->out->ceilings;
	double most_ns = 0;
	enum sl_status rc;

	p->ceilings = *ceilings;
	sl__roofline_place(p);
	rc = sl__profile_flag_impossible(p, k->arena, err);
	for (size_t i = 0; !rc && i < p->n_operations; i++) {
		if (is_part(p, &p->operations[i]))
			rc = add_operation(out, &p->operations[i], &most_ns,
					   k->arena, err);
	}
	if (rc)
		return rc;
	k->out->dtype = p->dtype;
	k->out->ceilings.ridge = p->ceilings.ridge;
	out->absent = NULL;
	out->median_ns.lo -= k->tick_ns * (double)out->n_operations;
	out->median_ns.hi += k->tick_ns * (double)out->n_operations;
	out->n_iterations = p->n_timed;
	out->disturbance = sl__sweep_disturbance(&p->noise);
	out->intensity = out->n_bytes
				 ? (double)out->flops / (double)out->n_bytes
				 : (double)NAN;
	out->flops_per_s = (double)out->flops / out->median_ns.value * 1e9;
	out->bytes_per_s = (double)out->n_bytes / out->median_ns.value * 1e9;
	if (!out->roof)
		out->bound_ns = (double)NAN;
	out->level_ns = level_ns(ceilings, out);
	sl__micro_classify(out, ceilings->step_ns.n ? ceilings->step_ns.value
						    : (double)NAN);
	return SL_OK;
}

static enum sl_status
settle_series(struct session *k, struct sl_micro_series *s,
	      struct sl_profile **profiles, struct sl_error *err)
{
	struct sl_micro_crossover *crossovers = sl__arena_array(
		k->arena, SL__MICRO_CROSSOVERS_MAX, sizeof(*crossovers));
	enum sl_status rc = SL_OK;

	if (!crossovers)
		return sl__fail_nomem(err);
	for (size_t i = 0; !rc && i < s->n_points; i++) {
		struct sl_micro_point *point =
			(struct sl_micro_point *)(uintptr_t)&s->points[i];

		if (profiles[i])
			rc = settle_point(k, point, profiles[i], err);
	}
	if (rc)
		return rc;
	sl__micro_crossovers(s, crossovers);
	s->focus = sl__micro_optimization_focus(s);
	return SL_OK;
}

static enum sl_status
settle(struct session *k, struct sl_error *err)
{
	struct sl_microbench *out = k->out;
	size_t at = 0, n_measured = 0;
	enum sl_status rc = SL_OK;

	for (size_t s = 0; !rc && s < out->n_series; s++) {
		rc = settle_series(k, &k->series[s], k->profiles + at, err);
		at += k->series[s].n_points;
		n_measured += k->series[s].n_measured;
	}
	if (rc)
		return rc;
	if (!n_measured && k->first_failure.status)
		return sl__fail(err, k->first_failure.status, "%s",
				k->first_failure.text);
	if (!n_measured)
		return sl__fail(err, SL_E_INTERRUPTED,
				"interrupted before the first size");
	sl__micro_find_best_and_worst(out);
	return SL_OK;
}

static enum sl_status
look(struct session *k, const char *op, struct sl_error *err)
{
	struct sl_microbench *out = k->out;
	enum sl_status rc = open_ceilings(k, err);

	if (!rc)
		rc = choose(k, op, err);
	if (!rc)
		rc = look_at_all(k, err);
	if (rc)
		return rc;
	take_ceilings(k);
	k->tick_ns = tick_step_ns();
	out->n_threads = k->plan.n_threads;
	out->seed = k->how.seed;
	out->stopped_by = k->is_stopped   ? SL_STOP_INTERRUPT
			  : k->how.n_runs ? SL_STOP_RUNS
					  : SL_STOP_TIME;
	rc = settle(k, err);
	out->elapsed_s = spent_s(k);
	return rc;
}

enum sl_status
sl_microbench(struct sl_microbench **out, const char *op,
	      const struct sl_microbench_options *options, struct sl_error *err)
{
	struct session k = {0};
	int is_all = !strcmp(op, "all");
	enum sl_status rc;

	*out = NULL;
	if (!is_all && !sl__micro_op_find(op))
		return refuse_op(op, err);
	rc = take_options(&k, options, is_all, err);
	if (rc)
		return rc;
	k.start_ns = sl__clock_now_ns(NULL);
	k.out = sl__arena_object_new(&k.arena, k.how.allocator, sizeof(*k.out));
	if (!k.out)
		return sl__fail_nomem(err);
	k.out->is_all = is_all;
	sl__arena_init(&k.scratch, k.how.allocator);
	rc = look(&k, op, err);
	for (size_t i = 0; i < k.n_done; i++)
		sl_profile_free(k.profiles[i]);
	sl__ceiling_probes_close(k.probes);
	sl__arena_release(&k.scratch);
	*out = sl__arena_object_free_on_error(k.out, rc);
	return rc;
}

void
sl_microbench_free(struct sl_microbench *m)
{
	sl__arena_object_free(m);
}
