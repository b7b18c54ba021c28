/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fit.c - the largest batch or sequence that fits in given memory.
 *
 * From the graph, as for an engine that fuses nothing and needs nothing for
 * itself; what the engine plans, of inference or of a training step, replaces
 * it (below).
 * Memory never shrinks as a size grows, so the size is doubled until it does
 * not fit and then halved in between.  A size that the model refuses, after it
 * took a smaller one, ends the search as well: a table of positions has so
 * many rows.
 */
#include "base/arena.h"
#include "base/option_struct.h"
#include "base/status.h"
#include "experiment/confined.h"
#include "graph/graph.h"
#include "machine/platform.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/banned.h"

/*
 * The largest size that the engine can plan in given memory.
 *
 * A dry plan (SL__PLAN_DRY) takes the memory of a real one and computes
 * nothing, in a process of its own, so that what it takes can be read off.
 * Memory grows with the size in nearly a straight line: the next size tried is
 * where the line through the last two meets the limit, and four or five plans
 * name the answer and the one beyond it.  What is to fit is planned with so
 * much memory and no more, as some is needed only while weights are packed.
 */

enum {
	/* Beyond this nothing real is waited for; the formulas stay exact. */
	SIZE_MOST = 1 << 30,
	STRAIGHT_MOST = 6 /* plans by the line; then the middle is taken */
};

struct point {
	int64_t size;
	double n_bytes;
};

struct predictor {
	struct sl_fit *fit;
	const struct sl_graph *graph;
	const struct sl_fit_options *how;
	struct sl__arena *arena;
	int64_t good, bad; /* 0: none yet */
	int is_sure;       /* 'good' was planned under the limit */
	int is_bent;       /* the line does not tell where it ends */
	int is_refused;    /* the model takes no such size as 'bad' */
	struct sl__confined_outcome
		smallest; /* at the first size, without a limit */
	struct sl__confined_outcome found; /* at 'good' */
	struct sl__confined_outcome
		beyond;         /* at 'bad'; NaN where that is not known */
	struct point points[2]; /* the last two */
	size_t n_points, n_plans;
	const char *unplanned; /* why the graph's answer stays; NULL */
};

static enum sl_status
give_up(struct predictor *p, const char *why, struct sl_error *err)
{
	return sl__arena_copy_text(p->arena, &p->unplanned, why, err);
}

/* What is planned and run: inference, or a training step with the usual loss.
 * 'training' is the storage of the latter. */
static void
choose_subject(struct sl__confined_options *how,
	       struct sl__training_options *training,
	       const struct sl_fit_options *fit)
{
	*training = (struct sl__training_options){.optimizer = fit->optimizer};
	if (fit->optimizer)
		how->training = training;
}

/* A plan of that size; the status is not about the model. */
static enum sl_status
plan(struct predictor *p, int64_t size, double memory_bytes,
     struct sl__confined_outcome *out, struct sl_error *err)
{
	struct sl_sizes sizes = {.struct_size = sizeof(sizes)};
	struct sl_plan_options plan = {.struct_size = sizeof(plan),
				       .sizes = &sizes,
				       .algorithms = SL_ALGORITHMS_FIXED};
	struct sl__confined_options how = {.graph = p->graph,
					   .plan = &plan,
					   .memory_bytes = memory_bytes,
					   .is_dry = 1};
	struct sl__training_options training;

	choose_subject(&how, &training, p->how);
	if (p->how->sizes)
		sizes = *p->how->sizes;
	if (!p->fit->fixed_at)
		*(p->fit->axis == SL_GROWTH_SEQ ? &sizes.seq : &sizes.batch) =
			size;
	p->n_plans++;
	return sl__confined_run(out, &how, err);
}

static void
add_point(struct predictor *p, int64_t size, double n_bytes)
{
	p->points[0] = p->points[1];
	p->points[1] = (struct point){size, n_bytes};
	if (p->n_points < 2)
		p->n_points++;
}

static void
take_good(struct predictor *p, int64_t size,
	  const struct sl__confined_outcome *found, int is_strict)
{
	p->good = size;
	p->found = *found;
	p->is_sure = is_strict;
}

static void
take_bad(struct predictor *p, int64_t size,
	 const struct sl__confined_outcome *found, int is_strict)
{
	p->bad = size;
	p->beyond = *found;
	p->is_refused = found->status == SL_E_DATA;
	p->is_bent |= is_strict;
}

/* Tries a size, which becomes the good or the bad one, or the reason to give
 * up.  'is_strict': with no more memory than there is to be; else what it
 * takes is known in any case. */
static enum sl_status
try_plan(struct predictor *p, int64_t size, int is_strict, struct sl_error *err)
{
	struct sl__confined_outcome result;
	struct sl_error why = {0};
	enum sl_status rc = plan(
		p, size, is_strict ? p->how->memory_bytes : (double)INFINITY,
		&result, &why);

	if (rc == SL_E_NOMEM)
		return sl__fail_nomem(err);
	if (rc)
		return give_up(p, why.text, err);
	if (result.status && result.status != SL_E_NOMEM &&
	    result.status != SL_E_DATA)
		return give_up(p, result.text, err);
	if (!result.status && result.is_stepwise)
		return give_up(p,
			       "some values have sizes that are found while "
			       "the model runs",
			       err);
	if (!result.status)
		add_point(p, size, result.used_bytes);
	if (!result.status && result.used_bytes <= p->how->memory_bytes)
		take_good(p, size, &result, is_strict);
	else
		take_bad(p, size, &result, is_strict);
	return SL_OK;
}

/* The last size that fits on the line through both points; 0 where it does
 * not rise. */
static int64_t
where_it_ends(const struct predictor *p)
{
	const struct point *a = &p->points[0], *b = &p->points[1];
	double slope, size;

	if (p->n_points < 2 || a->size == b->size)
		return 0;
	slope = (b->n_bytes - a->n_bytes) / (double)(b->size - a->size);
	if (!(slope > 0))
		return 0;
	size = (double)b->size + (p->how->memory_bytes - b->n_bytes) / slope;
	if (!(size < SIZE_MOST))
		return SIZE_MOST;
	return size < 1 ? 1 : (int64_t)size;
}

/* The size to try next; good < it < bad as far as these are known. */
static int64_t
next_size(const struct predictor *p)
{
	int64_t most = p->bad ? p->bad - 1 : SIZE_MOST;
	int64_t next = where_it_ends(p);

	if (p->bad && (p->is_bent || p->n_plans > STRAIGHT_MOST))
		next = p->good + (p->bad - p->good) / 2;
	else if (!next)
		next = p->bad ? p->good + (p->bad - p->good) / 2 : 2 * p->good;
	if (next <= p->good)
		next = p->good + 1;
	return next > most ? most : next;
}

/* From the smallest size on.  The graph's answer is the second: it is mostly
 * near, and the most that the model takes where that ends before memory. */
static enum sl_status
search_plans(struct predictor *p, int64_t first, struct sl_error *err)
{
	const struct sl_fit *fit = p->fit;
	enum sl_status rc = try_plan(p, first, 0, err);

	p->smallest = p->good ? p->found : p->beyond;
	if (rc || p->unplanned || !p->good || fit->fixed_at)
		return rc;
	if (fit->largest > first)
		rc = try_plan(p, fit->largest, 0, err);
	while (!rc && !p->unplanned && p->good < SIZE_MOST &&
	       (!p->bad || p->bad - p->good > 1)) {
		int64_t next = next_size(p);

		/* It was refused one more when the graph was asked. */
		if (fit->limit && p->good >= fit->largest)
			break;
		rc = try_plan(p, next, p->is_bent || next <= where_it_ends(p),
			      err);
	}
	return rc;
}

/* Under the limit, where that was not done: where planning itself takes more
 * than the plan, smaller sizes are looked for. */
static enum sl_status
confirm(struct predictor *p, int64_t first, struct sl_error *err)
{
	int64_t good = p->good;
	enum sl_status rc = p->is_sure ? SL_OK : try_plan(p, good, 1, err);

	if (rc || p->unplanned || p->is_sure)
		return rc;
	p->good = 0;
	rc = good > first ? try_plan(p, first, 1, err) : SL_OK;
	while (!rc && !p->unplanned && p->good && p->bad - p->good > 1)
		rc = try_plan(p, next_size(p), 1, err);
	return rc;
}

static void
take_parts(struct sl_fit *fit, const struct sl__confined_outcome *at)
{
	fit->parameters_bytes = at->weights_bytes;
	fit->activations_bytes = at->block_bytes;
	fit->gradients_bytes = 0; /* they lie among the activations */
	fit->optimizer_bytes = at->optimizer_bytes;
	fit->others_bytes = at->used_bytes - at->weights_bytes -
			    at->block_bytes - at->optimizer_bytes;
	fit->total_bytes = at->used_bytes;
}

/* "batch 38": all sizes, at the one that was found. */
static enum sl_status
name_sizes(struct predictor *p, int64_t size, struct sl_error *err)
{
	static const struct sl_sizes usual = {.struct_size = sizeof(usual)};
	struct sl_sizes sizes = p->how->sizes ? *p->how->sizes : usual;
	struct sl_inspect_options how = {.struct_size = sizeof(how),
					 .sizes = &sizes,
					 .brief = 1,
					 .allocator = p->how->allocator};
	struct sl_inspection *seen;
	enum sl_status rc;

	if (!p->fit->fixed_at)
		*(p->fit->axis == SL_GROWTH_SEQ ? &sizes.seq : &sizes.batch) =
			size;
	rc = sl_inspect(&seen, p->graph, &how, err);
	if (rc)
		return rc;
	p->fit->sizes = sl__arena_string(p->arena, seen->sizes);
	sl_inspection_free(seen);
	return p->fit->sizes ? SL_OK : sl__fail_nomem(err);
}

/* Why there is no more, or nothing, where it is not memory for the plan. */
static enum sl_status
name_limit(struct predictor *p, struct sl_error *err)
{
	struct sl_fit *fit = p->fit;

	if (fit->fixed_at)
		return SL_OK;
	if (p->bad && !p->is_refused)
		fit->limit = NULL;
	if (!p->is_refused || fit->limit)
		return SL_OK;
	return sl__arena_copy_text(p->arena, &fit->limit, p->beyond.text, err);
}

/* The smallest size may be more than there are addresses for. */
static enum sl_status
conclude(struct predictor *p, int64_t first, struct sl_error *err)
{
	struct sl_fit *fit = p->fit;
	const struct sl__confined_outcome *at = p->good ? &p->found
							: &p->smallest;
	enum sl_status rc;

	if (isnan(at->used_bytes))
		return give_up(p, at->text, err);
	rc = name_limit(p, err);
	if (rc)
		return rc;
	take_parts(fit, at);
	fit->is_planned = 1;
	fit->n_unknown = 0;
	fit->largest = p->good;
	fit->size = p->good ? p->good : first;
	fit->next_bytes = p->good && p->bad && !p->is_refused
				  ? p->beyond.used_bytes
				  : (double)NAN;
	return name_sizes(p, fit->size, err);
}

/*
 * Replaces what the graph said, in 'fit', by what dry plans say:
 * the largest size, and the figures at it.  'first' is the smallest size that
 * the model takes.  Where the model cannot be planned, or nothing is to be
 * found by it, the graph's figures stay and fit->unplanned says why; fails for
 * want of memory in this process only.
 */
static enum sl_status
plan_fit(struct sl_fit *fit, const struct sl_graph *graph,
	 const struct sl_fit_options *options, int64_t first,
	 struct sl__arena *arena, struct sl_error *err)
{
	struct predictor p = {
		.fit = fit, .graph = graph, .how = options, .arena = arena};
	const char *obstacle = sl__confined_obstacle(options->memory_bytes);
	enum sl_status rc = SL_OK;

	if (fit->is_unbounded || fit->is_cut)
		rc = give_up(&p, "memory ends at no size looked at", err);
	else if (obstacle)
		rc = give_up(&p, obstacle, err);
	if (!rc && !p.unplanned)
		rc = search_plans(&p, first, err);
	if (!rc && !p.unplanned && p.good)
		rc = confirm(&p, first, err);
	if (!rc && !p.unplanned)
		rc = conclude(&p, first, err);
	fit->unplanned = p.unplanned;
	fit->n_plans = p.n_plans;
	return rc;
}

enum answer { FITS, TOO_LARGE, REFUSED };

struct search {
	const struct sl_graph *graph;
	const struct sl_fit_options *how;
	int is_seq;
	struct sl__arena *arena;
	struct sl_error refusal; /* the latest */
	int64_t first;           /* the smallest size that the model takes */
};

/* Takes what one look found; the categories are those at the peak. */
static enum sl_status
take(const struct search *s, struct sl_fit *out,
     const struct sl_inspection *seen, struct sl_error *err)
{
	const struct sl_training *t = &seen->training;
	const struct sl_phase_need *need = &t->needs[t->peak_phase];

	out->parameters_bytes = (double)t->parameter_bytes;
	out->others_bytes = (double)t->other_bytes;
	out->gradients_bytes = out->optimizer_bytes = 0;
	out->activations_bytes = (double)seen->memory.unfused_bytes;
	if (s->how->optimizer) {
		out->gradients_bytes = (double)need->gradient_bytes;
		out->optimizer_bytes =
			(double)t->optimizer_bytes[s->how->optimizer];
		out->activations_bytes = (double)need->activation_bytes;
		out->phase = t->peak_phase;
	}
	out->total_bytes = out->parameters_bytes + out->others_bytes +
			   out->gradients_bytes + out->optimizer_bytes +
			   out->activations_bytes;
	out->n_unknown = seen->memory.n_unknown;
	return sl__arena_copy_text(s->arena, &out->sizes, seen->sizes, err);
}

/* Looks at one size (0: the model's own, *batch tells which). */
static enum sl_status
need_at(const struct search *s, int64_t size, struct sl_fit *out,
	int64_t *batch, struct sl_error *err)
{
	static const struct sl_sizes usual = {.struct_size = sizeof(usual)};
	struct sl_sizes sizes = s->how->sizes ? *s->how->sizes : usual;
	struct sl_inspect_options how = {.struct_size = sizeof(how),
					 .sizes = &sizes,
					 .brief = 1,
					 .allocator = s->how->allocator};
	struct sl_inspection *seen;
	enum sl_status rc;

	*(s->is_seq ? &sizes.seq : &sizes.batch) = size;
	rc = sl_inspect(&seen, s->graph, &how, err);
	if (rc)
		return rc;
	rc = take(s, out, seen, err);
	out->size = size ? size : seen->batch;
	if (batch)
		*batch = seen->batch;
	sl_inspection_free(seen);
	return rc;
}

/* Tries a size larger than one that was taken. */
static enum sl_status
try_size(struct search *s, int64_t size, struct sl_fit *at, enum answer *answer,
	 struct sl_error *err)
{
	struct sl_error refusal;
	enum sl_status rc = need_at(s, size, at, NULL, &refusal);

	*answer = rc                                        ? REFUSED
		  : at->total_bytes <= s->how->memory_bytes ? FITS
							    : TOO_LARGE;
	if (rc == SL_E_DATA) {
		s->refusal = refusal;
		return SL_OK;
	}
	if (rc && err)
		*err = refusal;
	return rc;
}

/* Between one that fits, which *out is for, and one that does not. */
static enum sl_status
bisect(struct search *s, int64_t bad, enum answer why, struct sl_fit *out,
       struct sl_error *err)
{
	while (bad - out->size > 1) {
		int64_t middle = out->size + (bad - out->size) / 2;
		struct sl_fit at = *out;
		enum answer answer;
		enum sl_status rc = try_size(s, middle, &at, &answer, err);

		if (rc)
			return rc;
		if (answer == FITS) {
			at.next_bytes = out->next_bytes;
			*out = at;
			continue;
		}
		bad = middle;
		why = answer;
		out->next_bytes = answer == TOO_LARGE ? at.total_bytes
						      : (double)NAN;
	}
	out->largest = out->size;
	if (why != REFUSED)
		return SL_OK;
	return sl__arena_copy_text(s->arena, &out->limit, s->refusal.text, err);
}

/* The smallest size that the model takes: 1, or the batch it has when that is
 * left to it. */
static enum sl_status
begin(struct search *s, struct sl_fit *out, struct sl_error *err)
{
	struct sl_error unused;
	enum sl_status rc = need_at(s, 1, out, NULL, err), own;
	int64_t batch = 0;

	if (rc != SL_E_DATA || s->is_seq)
		return rc;
	own = need_at(s, 0, out, &batch, &unused);
	if (own && own != SL_E_DATA && err)
		*err = unused;
	if (own)
		return own;
	return batch > 1 ? SL_OK : rc;
}

/* Whether the model takes one size alone: twice as much is refused, and one
 * more too. */
static enum sl_status
find_fixed(struct search *s, struct sl_fit *out, struct sl_error *err)
{
	for (int i = 0; i < 2; i++) {
		struct sl_fit at = *out;
		enum answer answer;
		enum sl_status rc = try_size(s,
					     i ? out->size + 1 : 2 * out->size,
					     &at, &answer, err);

		if (rc || answer != REFUSED)
			return rc;
	}
	out->fixed_at = out->size;
	return sl__arena_copy_text(s->arena, &out->limit, s->refusal.text, err);
}

static enum sl_status
search(struct search *s, struct sl_fit *out, struct sl_error *err)
{
	enum sl_status rc = begin(s, out, err);
	double first_bytes;

	if (!rc)
		rc = find_fixed(s, out, err);
	if (rc)
		return rc;
	s->first = out->size;
	out->next_bytes = (double)NAN;
	if (out->total_bytes > s->how->memory_bytes)
		return SL_OK;
	out->largest = out->size;
	if (out->fixed_at)
		return SL_OK;
	first_bytes = out->total_bytes;
	while (out->size < SIZE_MOST) {
		struct sl_fit at = *out;
		enum answer answer;

		rc = try_size(s, 2 * out->size, &at, &answer, err);
		if (rc)
			return rc;
		if (answer != FITS) {
			if (answer == TOO_LARGE)
				out->next_bytes = at.total_bytes;
			return bisect(s, 2 * out->size, answer, out, err);
		}
		*out = at;
	}
	out->largest = out->size;
	/* It grows somewhere, or nowhere. */
	out->is_cut = out->total_bytes > first_bytes;
	out->is_unbounded = !out->is_cut;
	return SL_OK;
}

/* The graph's answer, then the engine's. */
static enum sl_status
predict(struct search *s, struct sl_fit *fit, struct sl_error *err)
{
	enum sl_status rc = search(s, fit, err);

	if (rc)
		return rc;
	fit->graph_largest = fit->largest;
	fit->graph_bytes = fit->total_bytes;
	fit->graph_size = fit->size;
	if (s->how->graph_only)
		fit->unplanned = "only the graph was asked";
	else
		rc = plan_fit(fit, s->graph, s->how, s->first, s->arena, err);
	return rc;
}

static enum sl_status
take_options(struct sl_fit_options *how, struct sl_sizes *sizes,
	     const struct sl_fit_options *options, struct sl_error *err)
{
	enum sl_status rc = sl__options_copy(how, sizeof(*how), options,
					     "sl_fit_options", err);

	return rc ? rc : sl__sizes_copy(sizes, &how->sizes, err);
}

static enum sl_status
check(struct search *s, struct sl_error *err)
{
	const char *axis = s->how->axis ? s->how->axis : "batch";

	if (!(s->how->memory_bytes > 0))
		return sl__fail(err, SL_E_USAGE,
				"how much memory must be given");
	if ((unsigned)s->how->optimizer >= SL_N_OPTIMIZERS)
		return sl__fail(err, SL_E_USAGE, "no such optimizer");
	s->is_seq = !strcmp(axis, "seq");
	if (!s->is_seq && strcmp(axis, "batch") != 0)
		return sl__fail(err, SL_E_USAGE,
				"'%s': what grows must be batch or seq", axis);
	return SL_OK;
}

enum sl_status
sl_fit(struct sl_fit **out, const struct sl_graph *graph,
       const struct sl_fit_options *options, struct sl_error *err)
{
	struct sl_fit_options how;
	struct sl_sizes sizes;
	struct search s = {.graph = graph, .how = &how};
	struct sl_fit *fit;
	enum sl_status rc = take_options(&how, &sizes, options, err);

	*out = NULL;
	if (!rc)
		rc = check(&s, err);
	if (rc)
		return rc;
	fit = sl__arena_object_new(&s.arena, how.allocator, sizeof(*fit));
	if (!fit)
		return sl__fail_nomem(err);
	fit->axis = s.is_seq ? SL_GROWTH_SEQ : SL_GROWTH_BATCH;
	fit->memory_bytes = how.memory_bytes;
	fit->optimizer = how.optimizer;
	fit->name = sl__arena_string(s.arena, sl_graph_name(graph));
	fit->source = sl__arena_string(s.arena, graph->source);
	rc = fit->name && fit->source ? predict(&s, fit, err)
				      : sl__fail_nomem(err);
	*out = sl__arena_object_free_on_error(fit, rc);
	return rc;
}

void
sl_fit_free(struct sl_fit *f)
{
	sl__arena_object_free(f);
}

/*
 * The largest size that really runs in given memory.
 *
 * From the size that was predicted on, one more and then twice as many more are
 * planned, weights and all, until one is out of memory, or fewer and fewer
 * until one is not, and the edge is found in between: planning asks for nearly
 * all memory there is to ask for.  The size at the edge is then run, and, where
 * the run needs more than the plan did, smaller ones.
 */

struct verifier {
	struct sl_fit *fit;
	const struct sl_graph *graph;
	const struct sl_fit_options *how;
	int is_run;        /* sizes are run, not only planned */
	int64_t good, bad; /* 0: none yet; bad may be refused */
	int is_refused;    /* the model takes no such size as 'bad' */
	int64_t planned;   /* the largest that could be planned; 0: none */
	struct sl__confined_outcome found; /* at 'good' */
	char why[512];                     /* at 'bad' */
};

/* Tries a size, which becomes the good or the bad one. */
static enum sl_status
try_run(struct verifier *v, int64_t size, struct sl_error *err)
{
	struct sl_sizes sizes = {.struct_size = sizeof(sizes)};
	struct sl_plan_options plan = {.struct_size = sizeof(plan),
				       .algorithms = SL_ALGORITHMS_FIXED,
				       .allocator = v->how->allocator};
	struct sl__confined_options how = {.graph = v->graph,
					   .plan = &plan,
					   .memory_bytes = v->how->memory_bytes,
					   .is_run = v->is_run};
	struct sl__training_options training;
	struct sl__confined_outcome result;
	enum sl_status rc;

	choose_subject(&how, &training, v->how);
	if (v->how->sizes)
		sizes = *v->how->sizes;
	plan.sizes = &sizes;
	if (!v->fit->fixed_at)
		*(v->fit->axis == SL_GROWTH_SEQ ? &sizes.seq : &sizes.batch) =
			size;
	rc = sl__confined_run(&result, &how, err);
	if (rc)
		return rc;
	v->fit->verified.n_trials++;
	if (!result.status) {
		v->good = size;
		v->found = result;
		return SL_OK;
	}
	if (result.status != SL_E_NOMEM && result.status != SL_E_DATA)
		return sl__fail(err, result.status, "%s %lld: %.400s",
				sl_growth_axis_text(v->fit->axis),
				(long long)size, result.text);
	v->bad = size;
	v->is_refused = result.status == SL_E_DATA;
	memcpy(v->why, result.text, sizeof(v->why));
	return SL_OK;
}

/* Away from a size that does (or does not) run, in steps that double, until
 * one does not (or does). */
static enum sl_status
gallop(struct verifier *v, int64_t from, struct sl_error *err)
{
	enum sl_status rc = try_run(v, from, err);

	for (int64_t step = 1; !rc && (!v->good || !v->bad); step *= 2) {
		int64_t next = v->good ? v->good + step : v->bad - step;

		if (v->bad == 1 || v->good >= SIZE_MOST)
			break;
		rc = try_run(v, next < 1 ? 1 : next, err);
	}
	return rc;
}

static enum sl_status
close_in(struct verifier *v, struct sl_error *err)
{
	enum sl_status rc = SL_OK;

	while (!rc && v->good && v->bad && v->bad - v->good > 1)
		rc = try_run(v, v->good + (v->bad - v->good) / 2, err);
	return rc;
}

/* Runs the size that could be planned, or the largest below that runs. */
static enum sl_status
run_at_edge(struct verifier *v, struct sl_error *err)
{
	int64_t edge = v->good;
	enum sl_status rc;

	v->planned = edge;
	v->is_run = 1;
	v->good = 0;
	if (!edge)
		return SL_OK;
	rc = try_run(v, edge, err);
	if (rc || v->good)
		return rc;
	rc = v->bad > 1 ? gallop(v, v->bad - 1, err) : SL_OK;
	return rc ? rc : close_in(v, err);
}

/* What was predicted took no weights in hand, or no plan at all. */
static const char *
find_difference(const struct verifier *v)
{
	if (v->good == v->fit->largest)
		return NULL;
	if (v->good != v->planned)
		return "a run needs memory that its plan does not know of";
	if (!v->fit->is_planned)
		return "the engine fuses, packs and keeps records, of which "
		       "the graph knows nothing";
	return "making the weights leaves other gaps in the heap than leaving "
	       "room for them";
}

/* A model that is refused down to the smallest size is not short of memory. */
static enum sl_status
conclude_runs(struct verifier *v, struct sl_error *err)
{
	struct sl_fit_verified *out = &v->fit->verified;
	const char *why = v->why;

	if (!v->good && v->is_refused)
		return sl__fail(err, SL_E_DATA, "%s %lld: %.400s",
				sl_growth_axis_text(v->fit->axis),
				(long long)v->bad, v->why);
	out->runs_at = v->good;
	out->planned_at = v->planned;
	out->used_bytes = v->good ? v->found.used_bytes : (double)NAN;
	out->weights_bytes = v->good ? v->found.weights_bytes : (double)NAN;
	out->block_bytes = v->good ? v->found.block_bytes : (double)NAN;
	out->optimizer_bytes = v->good ? v->found.optimizer_bytes : (double)NAN;
	out->fails_at = v->is_refused ? 0 : v->bad;
	out->difference = find_difference(v);
	if (!v->bad)
		why = v->fit->fixed_at ? "the model takes no other size"
				       : "no larger size was tried";
	snprintf(out->why, sizeof(out->why), "%s", why);
	return SL_OK;
}

static enum sl_status
search_runs(struct verifier *v, struct sl_error *err)
{
	const struct sl_fit *fit = v->fit;
	enum sl_status rc;

	if (fit->fixed_at) {
		v->is_run = 1;
		rc = try_run(v, fit->fixed_at, err);
		v->planned = v->good;
		return rc;
	}
	rc = gallop(v, fit->largest ? fit->largest : 1, err);
	if (!rc)
		rc = close_in(v, err);
	return rc ? rc : run_at_edge(v, err);
}

static enum sl_status
check_runs(const struct verifier *v, struct sl_error *err)
{
	double there = (double)sl__platform_free_bytes("");

	if (there > 0 && v->how->memory_bytes > there)
		return sl__fail(err, SL_E_ABSENT,
				"this machine has %.3g GB of memory to spare: "
				"%.3g GB cannot be tried",
				there / 1e9, v->how->memory_bytes / 1e9);
	if (v->fit->is_unbounded || v->fit->is_cut)
		return sl__fail(err, SL_E_ABSENT,
				"memory does not end it: no size to verify");
	return SL_OK;
}

enum sl_status
sl_fit_verify(struct sl_fit *fit, const struct sl_graph *graph,
	      const struct sl_fit_options *options, struct sl_error *err)
{
	struct sl_fit_options how;
	struct sl_sizes sizes;
	struct verifier v = {.fit = fit, .graph = graph, .how = &how};
	struct sl_error why = {0};
	enum sl_status rc = take_options(&how, &sizes, options, &why);

	memset(&fit->verified, 0, sizeof(fit->verified));
	if (!rc)
		rc = check_runs(&v, &why);
	if (!rc)
		rc = search_runs(&v, &why);
	if (!rc)
		rc = conclude_runs(&v, &why);
	if (!rc)
		return SL_OK;
	/* What was tried up to then shows nothing: the prediction stands. */
	memset(&fit->verified, 0, sizeof(fit->verified));
	snprintf(fit->verified.why, sizeof(fit->verified.why), "%.500s",
		 why.text);
	return sl__fail(err, rc, "%s", why.text);
}
