/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fit_plan.c - the largest size that the engine can plan in given memory.
 *
 * A dry plan (SL__PLAN_DRY) takes the memory of a real one and computes
 * nothing, in a process of its own, so that what it takes can be read off.
 * Memory grows with the size in nearly a straight line: the next size tried is
 * where the line through the last two meets the limit, and four or five plans
 * name the answer and the one beyond it.  What is to fit is planned with so
 * much memory and no more, as some is needed only while weights are packed.
 */
#include "driver/fit_plan.h"
#include "base/status.h"
#include "experiment/confined.h"
#include "graph/graph.h"

#include <math.h>
#include <string.h>

#include "base/banned.h"

enum {
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
	struct sl__confined smallest; /* at the first size, without a limit */
	struct sl__confined found;    /* at 'good' */
	struct sl__confined beyond; /* at 'bad'; NaN where that is not known */
	struct point points[2];     /* the last two */
	size_t n_points, n_plans;
	const char *unplanned; /* why the graph's answer stays; NULL */
};

static enum sl_status
give_up(struct predictor *p, const char *why, struct sl_error *err)
{
	p->unplanned = sl__arena_string(p->arena, why);
	return p->unplanned ? SL_OK : sl__fail_nomem(err);
}

/* A plan of that size; the status is not about the model. */
static enum sl_status
plan(struct predictor *p, int64_t size, double memory_bytes,
     struct sl__confined *out, struct sl_error *err)
{
	struct sl_sizes sizes = {.struct_size = sizeof(sizes)};
	struct sl_plan_options plan = {.struct_size = sizeof(plan),
				       .sizes = &sizes,
				       .algorithms = SL_ALGORITHMS_FIXED};
	struct sl__confined_options how = {.graph = p->graph,
					   .plan = &plan,
					   .memory_bytes = memory_bytes,
					   .is_dry = 1};

	if (p->how->sizes)
		sizes = *p->how->sizes;
	if (!p->fit->fixed_at)
		*(p->fit->axis == SL_GROWTH_SEQ ? &sizes.seq : &sizes.batch) =
			size;
	p->n_plans++;
	return sl__confined_try(out, &how, err);
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
take_good(struct predictor *p, int64_t size, const struct sl__confined *found,
	  int is_strict)
{
	p->good = size;
	p->found = *found;
	p->is_sure = is_strict;
}

static void
take_bad(struct predictor *p, int64_t size, const struct sl__confined *found,
	 int is_strict)
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
try_size(struct predictor *p, int64_t size, int is_strict, struct sl_error *err)
{
	struct sl__confined result;
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
search(struct predictor *p, int64_t first, struct sl_error *err)
{
	const struct sl_fit *fit = p->fit;
	enum sl_status rc = try_size(p, first, 0, err);

	p->smallest = p->good ? p->found : p->beyond;
	if (rc || p->unplanned || !p->good || fit->fixed_at)
		return rc;
	if (fit->largest > first)
		rc = try_size(p, fit->largest, 0, err);
	while (!rc && !p->unplanned && p->good < SIZE_MOST &&
	       (!p->bad || p->bad - p->good > 1)) {
		int64_t next = next_size(p);

		/* It was refused one more when the graph was asked. */
		if (fit->limit && p->good >= fit->largest)
			break;
		rc = try_size(p, next, p->is_bent || next <= where_it_ends(p),
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
	enum sl_status rc = p->is_sure ? SL_OK : try_size(p, good, 1, err);

	if (rc || p->unplanned || p->is_sure)
		return rc;
	p->good = 0;
	rc = good > first ? try_size(p, first, 1, err) : SL_OK;
	while (!rc && !p->unplanned && p->good && p->bad - p->good > 1)
		rc = try_size(p, next_size(p), 1, err);
	return rc;
}

static void
take_parts(struct sl_fit *fit, const struct sl__confined *at)
{
	fit->parameters_bytes = at->weights_bytes;
	fit->activations_bytes = at->block_bytes;
	fit->others_bytes =
		at->used_bytes - at->weights_bytes - at->block_bytes;
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
	fit->limit = sl__arena_string(p->arena, p->beyond.text);
	return fit->limit ? SL_OK : sl__fail_nomem(err);
}

/* The smallest size may be more than there are addresses for. */
static enum sl_status
conclude(struct predictor *p, int64_t first, struct sl_error *err)
{
	struct sl_fit *fit = p->fit;
	const struct sl__confined *at = p->good ? &p->found : &p->smallest;
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

enum sl_status
sl__fit_plan(struct sl_fit *fit, const struct sl_graph *graph,
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
		rc = search(&p, first, err);
	if (!rc && !p.unplanned && p.good)
		rc = confirm(&p, first, err);
	if (!rc && !p.unplanned)
		rc = conclude(&p, first, err);
	fit->unplanned = p.unplanned;
	fit->n_plans = p.n_plans;
	return rc;
}
