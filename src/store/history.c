/* SPDX-License-Identifier: Apache-2.0 */
/*
 * history.c - the times of a model over the results of a store.
 *
 * Changes are looked for in the logarithm of the times: a change is a factor.
 * Where the anchor was timed in the same run, it is the logarithm of the ratio
 * to the anchor's time, so that a machine that became slower as a whole is no
 * change of the model.
 */
#include "base/arena.h"
#include "base/status.h"
#include "sleuth/storing.h"
#include "stats/level_shift.h"
#include "stats/quantile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/banned.h"

struct builder {
	struct sl__arena *arena;
	struct sl_history_series *series;
	struct sl_history_point *points;
	struct sl_history_change *changes;
	size_t n_series, cap_series, n_points, cap_points, n_changes,
		cap_changes;
};

static int
is_same(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

/* The version of a run's anchor; 0: it has no time of one. */
static uint64_t
anchor_of(const struct sl_stored_run *run)
{
	return run->anchor.time_ns.value > 0 ? run->anchor.version : 0;
}

/* The series of a point, which is begun where there is none; SIZE_MAX: out of
 * memory. */
static size_t
series_of(struct builder *b, const struct sl_stored_run *run,
	  const struct sl_stored_point *point)
{
	struct sl_history_series *s;

	for (size_t i = 0; i < b->n_series; i++) {
		s = &b->series[i];
		if (is_same(s->machine, run->machine) &&
		    s->anchor == anchor_of(run) &&
		    is_same(s->name, point->name) &&
		    is_same(s->settings, point->settings))
			return i;
	}
	if (!sl__arena_grow(b->arena, &b->series, b->n_series, &b->cap_series,
			    sizeof(*s)))
		return SIZE_MAX;
	s = &b->series[b->n_series];
	s->name = sl__arena_string(b->arena, point->name);
	s->settings = sl__arena_string(b->arena, point->settings);
	s->machine = sl__arena_string(b->arena, run->machine);
	s->anchor = anchor_of(run);
	s->anchor_ns = (double)NAN;
	if (!s->name || !s->machine || (point->settings && !s->settings))
		return SIZE_MAX;
	return b->n_series++;
}

/*
 * The ratio of two independent medians.  The ends of its interval are the
 * distances of theirs from the medians, in logarithms, added in quadrature:
 * exact for normal logarithms (delta method).
 */
static void
divide(struct sl_estimate *a, const struct sl_estimate *b)
{
	double below = hypot(log(a->value / a->lo), log(b->hi / b->value));
	double above = hypot(log(a->hi / a->value), log(b->value / b->lo));

	a->value /= b->value;
	a->lo = a->value * exp(-below);
	a->hi = a->value * exp(above);
}

static int
add_point(struct builder *b, const struct sl_stored_run *run,
	  const struct sl_stored_point *point)
{
	size_t series = series_of(b, run, point);
	struct sl_history_point *p;

	if (series == SIZE_MAX ||
	    !sl__arena_grow(b->arena, &b->points, b->n_points, &b->cap_points,
			    sizeof(*p)))
		return 0;
	p = &b->points[b->n_points++];
	*p = (struct sl_history_point){
		.series = series,
		.run = run->id,
		.saved_at_s = run->saved_at_s,
		.commit = sl__arena_string(b->arena, run->commit),
		.branch = sl__arena_string(b->arena, run->branch),
		.is_dirty = run->is_dirty,
		.time_ns = point->time_ns,
		.anchor_ns = (double)NAN,
		.drawn_ns = point->time_ns};
	if (anchor_of(run)) {
		p->anchor_ns = run->anchor.time_ns.value;
		divide(&p->drawn_ns, &run->anchor.time_ns);
	}
	b->series[series].n_points++;
	return (p->commit || !run->commit) && (p->branch || !run->branch);
}

static int
compare_points(const void *a, const void *b)
{
	const struct sl_history_point *p = a, *q = b;

	if (p->series != q->series)
		return p->series < q->series ? -1 : 1;
	return (p->run > q->run) - (p->run < q->run);
}

/* Makes times of the ratios of a series: times the median of its anchors. */
static enum sl_status
scale(struct builder *b, struct sl_history_series *s, struct sl_error *err)
{
	struct sl_history_point *points = &b->points[s->first];
	double *sorted =
		sl__arena_array(b->arena, s->n_points, sizeof(*sorted));

	if (!sorted)
		return sl__fail_nomem(err);
	for (size_t i = 0; i < s->n_points; i++)
		sorted[i] = points[i].anchor_ns;
	s->anchor_ns = sl__median_estimate(sorted, s->n_points).value;
	for (size_t i = 0; i < s->n_points; i++) {
		points[i].drawn_ns.value *= s->anchor_ns;
		points[i].drawn_ns.lo *= s->anchor_ns;
		points[i].drawn_ns.hi *= s->anchor_ns;
	}
	return SL_OK;
}

static enum sl_status
add_changes(struct builder *b, size_t series, struct sl_error *err)
{
	const struct sl_history_series *s = &b->series[series];
	struct sl__level_shifts shifts;
	double *logs = sl__arena_array(b->arena, s->n_points, sizeof(*logs));
	enum sl_status rc;

	if (!logs)
		return sl__fail_nomem(err);
	for (size_t i = 0; i < s->n_points; i++)
		logs[i] = log(b->points[s->first + i].drawn_ns.value);
	rc = sl__level_shifts_find(&shifts, logs, s->n_points, b->arena, err);
	for (size_t i = 0; !rc && i < shifts.n; i++) {
		const struct sl__level_shift *shift = &shifts.list[i];
		const struct sl_history_point *after =
			&b->points[s->first + shift->at];

		if (!sl__arena_grow(b->arena, &b->changes, b->n_changes,
				    &b->cap_changes, sizeof(*b->changes)))
			return sl__fail_nomem(err);
		b->changes[b->n_changes++] = (struct sl_history_change){
			.series = series,
			.point = s->first + shift->at,
			.run = after->run,
			.commit = after->commit,
			.commit_before = after[-1].commit,
			.before_ns = exp(shift->before),
			.after_ns = exp(shift->after),
			.share = expm1(shift->after - shift->before),
			.p = shift->p};
	}
	return rc;
}

static enum sl_status
build(struct builder *b, const struct sl_stored_runs *runs, const char *model,
      struct sl_error *err)
{
	enum sl_status rc = SL_OK;

	for (size_t i = 0; i < runs->n; i++) {
		const struct sl_stored_run *run = &runs->list[i];

		for (size_t k = 0; k < run->n_points; k++) {
			const struct sl_stored_point *p = &run->points[k];

			if (!(p->time_ns.value > 0) ||
			    (model && !is_same(p->name, model) &&
			     !is_same(p->hash, model)))
				continue;
			if (!add_point(b, run, p))
				return sl__fail_nomem(err);
		}
	}
	if (b->n_points)
		qsort(b->points, b->n_points, sizeof(*b->points),
		      compare_points);
	for (size_t i = 0; !rc && i < b->n_series; i++) {
		b->series[i].first =
			i ? b->series[i - 1].first + b->series[i - 1].n_points
			  : 0;
		if (b->series[i].anchor)
			rc = scale(b, &b->series[i], err);
		if (!rc)
			rc = add_changes(b, i, err);
	}
	return rc;
}

enum sl_status
sl_history_of(struct sl_history **out, struct sl_store *store,
	      const struct sl_store_query *query, struct sl_error *err)
{
	struct builder b = {.n_series = 0};
	struct sl_stored_runs *runs;
	struct sl_history *history;
	enum sl_status rc;

	*out = NULL;
	rc = sl_store_find(&runs, store, query, err);
	if (rc)
		return rc;
	history = sl__arena_object_new(&b.arena, NULL, sizeof(*history));
	/* sl_store_find() has read the query: it has its model. */
	rc = history ? build(&b, runs, query ? query->model : NULL, err)
		     : sl__fail_nomem(err);
	sl_stored_runs_free(runs);
	if (!rc)
		*history = (struct sl_history){b.series,  b.n_series,
					       b.points,  b.n_points,
					       b.changes, b.n_changes};
	*out = sl__arena_object_free_on_error(history, rc);
	return rc;
}

void
sl_history_free(struct sl_history *history)
{
	sl__arena_object_free(history);
}
