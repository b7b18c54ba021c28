/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gate_check.c - a result against results before it, within limits.
 *
 * FLOPs, planned memory and sizes are exact.  Times of results that were not
 * measured together differ by what the machine did meanwhile, which the samples
 * of neither show: the spread of several baselines does.
 */
#include "base/option_struct.h"
#include "base/status.h"
#include "sleuth/gating.h"
#include "stats/special.h"
#include "store/stored_points.h"

#include <math.h>
#include <string.h>

#include "base/banned.h"

enum { SPREAD_LEAST = 5 }; /* baselines whose spread says something */

static const struct sl_gate_limit defaults[] = {
	{.metric = SL_GATE_TIME, .share = 0.02},
	{.metric = SL_GATE_MEMORY},
	{.metric = SL_GATE_FLOPS},
	{.metric = SL_GATE_SIZE}};
enum { N_DEFAULTS = sizeof(defaults) / sizeof(defaults[0]) };

/* A document and the points in it. */
struct side {
	const struct sl__json_value *root;
	struct sl_stored_run run;
};

struct work {
	struct sl__arena *arena;
	const struct side *now, *baselines;
	size_t n_baselines;
	struct sl_gate_row *rows;
	size_t n_rows, cap;
};

const char *
sl_gate_metric_text(enum sl_gate_metric metric)
{
	static const char *const texts[] = {"time", "memory", "flops", "size",
					    "accuracy"};

	return (unsigned)metric < SL_N_GATE_METRICS ? texts[metric] : "unknown";
}

static double
number_at(const struct sl__json_value *object, const char *group,
	  const char *key)
{
	const struct sl__json_value *v = sl__json_member(object, group);

	v = v ? sl__json_member(v, key) : NULL;
	return v && v->kind == SL__JSON_NUMBER ? v->number : (double)NAN;
}

static double
read_metric(const struct side *side, size_t point, enum sl_gate_metric metric)
{
	const struct sl__json_value *s = sl__stored_subject(side->root, point);
	const struct sl__json_value *model = sl__json_member(s, "model");
	double bytes;

	switch (metric) {
	case SL_GATE_TIME:
		return side->run.points[point].time_ns.value;
	case SL_GATE_MEMORY:
		bytes = number_at(s, "memory", "planned_bytes") +
			number_at(s, "memory", "parameters_bytes");
		return isnan(bytes)
			       ? number_at(s, "memory", "resident_peak_bytes")
			       : bytes;
	case SL_GATE_FLOPS:
		return number_at(s, "cost", "flops");
	case SL_GATE_SIZE:
		return model ? number_at(model, "parameters", "stored_bytes")
			     : (double)NAN;
	case SL_GATE_ACCURACY:
		return number_at(s, "accuracy", "test");
	}
	return (double)NAN;
}

/* The point of the same name and settings; SIZE_MAX: none. */
static size_t
find_point(const struct side *side, const struct sl_stored_point *like)
{
	for (size_t i = 0; i < side->run.n_points; i++) {
		const struct sl_stored_point *p = &side->run.points[i];
		int both = p->settings && like->settings;

		if (strcmp(p->name, like->name) == 0 &&
		    (both ? strcmp(p->settings, like->settings) == 0
			  : p->settings == like->settings))
			return i;
	}
	return SIZE_MAX;
}

/* Half the width of the interval of ln(time), as a standard deviation. */
static double
log_std(const struct sl_estimate *e)
{
	const double normal_975 = 1.959963984540054;

	return e->lo > 0 && e->hi >= e->lo
		       ? log(e->hi / e->lo) / (2 * normal_975)
		       : (double)NAN;
}

/*
 * ln(now) less the mean of the baselines' logarithms.  Prediction interval of
 * one more normal value: +- t s sqrt(1 + 1/n) (Hahn and Meeker 1991); of one
 * baseline the intervals of both medians, added in quadrature.
 */
static void
judge_time(struct sl_gate_row *row, const double *logs, size_t n,
	   const struct sl_estimate *before, const struct sl_estimate *now)
{
	double mean = 0, sum = 0, half, d;

	for (size_t i = 0; i < n; i++)
		mean += logs[i] / (double)n;
	for (size_t i = 0; i < n; i++)
		sum += (logs[i] - mean) * (logs[i] - mean);
	if (n >= SPREAD_LEAST)
		half = sl__student_quantile(0.975, (double)(n - 1)) *
		       sqrt(sum / (double)(n - 1) * (1 + 1 / (double)n));
	else
		half = sl__normal_quantile(0.975) *
		       hypot(log_std(before), log_std(now));
	d = log(now->value) - mean;
	row->before = exp(mean);
	row->ratio = (struct sl_estimate){.value = exp(d),
					  .lo = exp(d - half),
					  .hi = exp(d + half),
					  .n = n};
}

static void
judge(struct sl_gate_row *row)
{
	double limit = 1 + row->limit;

	if (row->metric == SL_GATE_ACCURACY) {
		row->verdict = row->ratio.value < -row->limit
				       ? SL_GATE_REGRESSED
				       : SL_GATE_OK;
		return;
	}
	if (isnan(row->ratio.lo))
		row->invalid =
			"a time has no interval: more samples are needed";
	else if (row->ratio.lo > limit)
		row->verdict = SL_GATE_REGRESSED;
	else if (row->ratio.hi <= limit)
		row->verdict = SL_GATE_OK;
}

/* Compares one figure; 'row' has metric, limit and name. */
static enum sl_status
compare(struct work *w, struct sl_gate_row *row, size_t point,
	struct sl_error *err)
{
	const struct sl_stored_point *now = &w->now->run.points[point];
	const struct sl_estimate *before_ns = NULL;
	double *logs = sl__arena_array(w->arena, w->n_baselines, sizeof(*logs));
	size_t n = 0;

	if (!logs)
		return sl__fail_nomem(err);
	row->before = row->now = (double)NAN;
	if (row->layer) {
		row->invalid = "a layer's time is judged where both models "
			       "are measured together";
		return SL_OK;
	}
	row->now = read_metric(w->now, point, row->metric);
	for (size_t i = 0; i < w->n_baselines; i++) {
		size_t at = find_point(&w->baselines[i], now);
		double value = at == SIZE_MAX ? (double)NAN
					      : read_metric(&w->baselines[i],
							    at, row->metric);

		if (isnan(value))
			continue;
		row->before = value; /* of exact figures the newest counts */
		logs[n++] = log(value);
		before_ns = &w->baselines[i].run.points[at].time_ns;
	}
	if (isnan(row->now) || !n) {
		row->invalid = n ? "the result does not have it"
				 : "the baseline does not have it";
		return SL_OK;
	}
	if (row->metric == SL_GATE_TIME) {
		judge_time(row, logs, n, before_ns, &now->time_ns);
	} else {
		double ratio =
			row->metric == SL_GATE_ACCURACY ? row->now - row->before
			: row->now > row->before || row->now < row->before
				? row->now / row->before
				: 1;

		row->ratio = (struct sl_estimate){ratio, ratio, ratio, n, 0, 0};
	}
	judge(row);
	return SL_OK;
}

static enum sl_status
compare_all(struct work *w, const struct sl_gate_limit *limits, size_t n_limits,
	    int is_default, struct sl_error *err)
{
	for (size_t p = 0; p < w->now->run.n_points; p++) {
		for (size_t i = 0; i < n_limits; i++) {
			struct sl_gate_row row = {
				.metric = limits[i].metric,
				.limit = limits[i].share,
				.layer = limits[i].layer,
				.name = w->now->run.points[p].name,
				.settings = w->now->run.points[p].settings};
			enum sl_status rc = compare(w, &row, p, err);

			if (rc)
				return rc;
			if (row.invalid && is_default)
				continue;
			if (!sl__arena_grow(w->arena, &w->rows, w->n_rows,
					    &w->cap, sizeof(row)))
				return sl__fail_nomem(err);
			w->rows[w->n_rows++] = row;
		}
	}
	return SL_OK;
}

static enum sl_status
read_side(struct side *out, const struct sl_buf *json, struct sl__arena *arena,
	  struct sl_error *err)
{
	enum sl_status rc = sl__json_read(&out->root, json->data, json->n_bytes,
					  arena, err);

	return rc ? rc : sl__stored_run_read(&out->run, out->root, arena, err);
}

static void
settle(struct sl_gate_check *out, const struct work *w)
{
	out->n_baselines = w->n_baselines;
	out->rows = w->rows;
	out->n_rows = w->n_rows;
	out->is_invalid = !w->n_rows;
	out->verdict = SL_GATE_OK;
	for (size_t i = 0; i < w->n_rows; i++) {
		enum sl_gate verdict = w->rows[i].verdict;

		out->is_invalid |= w->rows[i].invalid != NULL;
		if (out->verdict != SL_GATE_REGRESSED && verdict != SL_GATE_OK)
			out->verdict = verdict;
	}
}

enum sl_status
sl_gate_documents(struct sl_gate_check **out,
		  const struct sl_gate_options *options, struct sl_error *err)
{
	struct work w = {.n_rows = 0};
	struct sl_gate_options o;
	struct sl_gate_check *check;
	struct side *sides;
	enum sl_status rc = sl__options_copy(&o, sizeof(o), options,
					     "sl_gate_options", err);

	*out = NULL;
	if (rc)
		return rc;
	check = sl__arena_object_new(&w.arena, NULL, sizeof(*check));
	if (!check)
		return sl__fail_nomem(err);
	sides = sl__arena_array(w.arena, o.n_baselines + 1, sizeof(*sides));
	rc = sides ? read_side(&sides[0], o.now, w.arena, err)
		   : sl__fail_nomem(err);
	for (size_t i = 0; !rc && i < o.n_baselines; i++)
		rc = read_side(&sides[i + 1], &o.baselines[i], w.arena, err);
	w.now = sides;
	w.baselines = sides + 1;
	w.n_baselines = o.n_baselines;
	if (!rc)
		rc = o.n_limits ? compare_all(&w, o.limits, o.n_limits, 0, err)
				: compare_all(&w, defaults, N_DEFAULTS, 1, err);
	if (!rc)
		settle(check, &w);
	*out = sl__arena_object_free_on_error(check, rc);
	return rc;
}

void
sl_gate_check_free(struct sl_gate_check *check)
{
	sl__arena_object_free(check);
}
