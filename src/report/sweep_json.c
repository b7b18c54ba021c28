/* SPDX-License-Identifier: Apache-2.0 */
/* sweep_json.c - a sweep for programs: JSON and lines of CSV. */
#include "report/result_csv.h"
#include "report/section.h"
#include "report/sweep_narrative.h"
#include "report/sweep_page.h"

#include <math.h>

#include "base/banned.h"

static void
write_number(struct sl__json *json, const char *key, double x,
	     const char *absent)
{
	if (isfinite(x))
		sl__json_number(json, key, x);
	else
		sl__json_absent(json, key, absent);
}

/* A value and, beside it, its bounds, or neither. */
static void
write_estimate(struct sl__json *json, const char *key, const char *bounds,
	       const struct sl_estimate *e, const char *absent)
{
	if (!e->n || !isfinite(e->value)) {
		sl__json_absent(json, key, absent);
		sl__json_absent(json, bounds, absent);
		return;
	}
	sl__json_number(json, key, e->value);
	if (isfinite(e->lo) && isfinite(e->hi)) {
		sl__json_object(json, bounds);
		sl__json_number(json, "lo", e->lo);
		sl__json_number(json, "hi", e->hi);
		sl__json_end_object(json);
	} else {
		sl__json_absent(json, bounds,
				e->method == SL_METHOD_NONE
					? "counted, not measured"
					: "not bounded by these points");
	}
}

static void
write_side(struct sl__json *json, const struct sl_sweep_point *p)
{
	if (p->verdict_absent) {
		sl__json_absent(json, "verdict", p->verdict_absent);
		sl__json_absent(json, "verdict_basis", p->verdict_absent);
	} else {
		sl__json_text(json, "verdict", sl_bottleneck_text(p->verdict));
		sl__json_text(json, "verdict_basis", "roofline");
	}
}

static void
write_energy(struct sl__json *json, const struct sl_sweep_point *p)
{
	if (p->energy_absent) {
		sl__json_absent(json, "energy_j", p->energy_absent);
		sl__json_absent(json, "energy_ci95_j", p->energy_absent);
	} else {
		sl__json_number(json, "energy_j", p->energy_j.value);
		sl__section_bounds(json, "energy_ci95_j", &p->energy_j, 1);
	}
	sl__json_integer(json, "energy_visits", p->energy_j.n);
}

static void
write_rates(struct sl__json *json, const struct sl_sweep_point *p)
{
	static const char no_ceiling[] = "no ceiling was measured";

	write_estimate(json, "rate_per_s", "rate_ci95_per_s", &p->rate_per_s,
		       "not measured");
	sl__json_number(json, "samples_per_s", p->samples_per_s);
	sl__json_number(json, "sample_ms", p->sample_ns / SL__NS_PER_MS);
	sl__json_integer(json, "parameters", p->parameters);
	sl__json_integer(json, "flops", p->flops);
	sl__json_number(json, "gflops_per_s", p->flops_per_s / 1e9);
	write_number(json, "compute_efficiency", p->compute_efficiency,
		     no_ceiling);
	write_number(json, "roof_share", p->roof_share, no_ceiling);
	if (p->memory_bytes)
		sl__json_integer(json, "memory_bytes", p->memory_bytes);
	else
		sl__json_absent(json, "memory_bytes", "not measured");
	sl__json_reading(json, "touched_bytes", p->touched_bytes);
	write_number(json, "samples_per_s_per_mb", p->samples_per_s_per_mb,
		     "memory is not known");
	write_side(json, p);
	write_energy(json, p);
}

static void
write_point(struct sl__json *json, const struct sl_sweep_point *p)
{
	sl__json_object(json, NULL);
	sl__json_integer(json, "value", (uint64_t)p->value);
	sl__json_integer(json, "visits", p->n_visits);
	sl__json_integer(json, "passes", p->n_passes);
	sl__json_integer(json, "repeated", p->n_repeated);
	sl__json_integer(json, "disturbed", p->n_disturbed);
	if (p->absent) {
		sl__json_absent(json, "median_ms", p->absent);
	} else {
		sl__json_number(json, "median_ms",
				p->latency_ns.value / SL__NS_PER_MS);
		sl__section_bounds(json, "ci95_ms", &p->latency_ns,
				   SL__NS_PER_MS);
		write_rates(json, p);
		sl__json_number(json, "plan_ms", p->plan_ns / SL__NS_PER_MS);
	}
	if (p->note)
		sl__json_text(json, "note", p->note);
	sl__json_end_object(json);
}

/* The unit of a law's fixed part. */
static void
write_offset(struct sl__json *json, const struct sl_sweep_exponent *e)
{
	switch (e->figure) {
	case SL_SWEEP_MEMORY:
		sl__json_number(json, "fixed_bytes", e->offset);
		break;
	case SL_SWEEP_FLOPS:
		sl__json_number(json, "fixed_flops", e->offset);
		break;
	case SL_SWEEP_TIME:
	case SL_SWEEP_KIND:
		sl__json_number(json, "fixed_ms", e->offset / SL__NS_PER_MS);
		break;
	}
}

static void
write_law(struct sl__json *json, const struct sl_sweep_exponent *e)
{
	sl__json_object(json, NULL);
	sl__json_text(json, "what", sl__sweep_law_text(e));
	sl__json_boolean(json, "operations", e->figure == SL_SWEEP_KIND);
	if (e->figure == SL_SWEEP_KIND)
		sl__json_text(json, "kind", sl_sweep_kind_text(e->kind));
	else
		sl__json_absent(json, "kind", "not a kind of operation");
	write_number(json, "share_first", e->share_first,
		     "not a kind of operation");
	write_number(json, "share_last", e->share_last,
		     "not a kind of operation");
	write_estimate(json, "exponent", "ci95", &e->exponent,
		       e->absent ? e->absent : "no law");
	write_number(json, "formula", e->formula, "no formula");
	if (!e->absent) {
		write_offset(json, e);
		sl__json_number(json, "scale", e->scale);
		sl__json_number(json, "deviation", e->deviation);
	}
	if (e->tail.n) {
		sl__json_integer(json, "tail_from", (uint64_t)e->tail_from);
		write_estimate(json, "tail_exponent", "tail_ci95", &e->tail,
			       "");
	}
	sl__json_end_object(json);
}

static void
write_knee(struct sl__json *json, const struct sl_sweep_knee *k)
{
	sl__json_object(json, "knee");
	if (k->at)
		sl__json_integer(json, "at", (uint64_t)k->at);
	else
		sl__json_absent(json, "at",
				k->absent ? k->absent
					  : "the rate still rises at the "
					    "largest size");
	sl__json_boolean(json, "proved", k->is_proved);
	write_estimate(json, "gain", "gain_ci95", &k->gain,
		       k->absent ? k->absent : "not measured");
	sl__json_end_object(json);
}

static void
write_best(struct sl__json *json, const struct sl_sweep *sweep,
	   const struct sl_sweep_best *b)
{
	sl__json_object(json, "best");
	if (b->absent) {
		sl__json_absent(json, "at", b->absent);
	} else {
		sl__json_integer(json, "at", (uint64_t)b->at);
		sl__json_integer(json, "as_good", (uint64_t)b->as_good);
	}
	if (sweep->memory_bytes > 0)
		sl__json_number(json, "limit_bytes", sweep->memory_bytes);
	else
		sl__json_absent(json, "limit_bytes", "not asked for");
	if (sweep->latency_s > 0)
		sl__json_number(json, "limit_ms", sweep->latency_s * 1e3);
	else
		sl__json_absent(json, "limit_ms", "not asked for");
	sl__json_integer(json, "over_memory", b->n_over_memory);
	sl__json_integer(json, "over_latency", b->n_over_latency);
	sl__json_end_object(json);
}

/* 'series' NULL: about several models. */
static void
write_sentences(struct sl__json *json, const struct sl_sweep *sweep,
		const struct sl_sweep_series *series)
{
	struct sl__narrative narrative;

	sl__narrative_init(&narrative, NULL);
	if (series)
		sl__sweep_narrate(&narrative, sweep, series);
	else
		sl__sweep_narrate_all(&narrative, sweep);
	sl__narrative_json(json, &narrative);
	sl__narrative_release(&narrative);
}

static void
write_series(struct sl__json *json, const struct sl_sweep *sweep,
	     const struct sl_sweep_series *s)
{
	sl__json_object(json, "model");
	sl__json_text(json, "name", s->name);
	sl__json_text(json, "source", s->source);
	sl__json_end_object(json);
	sl__json_object(json, "sweep");
	sl__json_text(json, "axis", sl_axis_text(sweep->axis));
	sl__json_text(json, "rate_unit", sl_rate_unit_text(sweep->rate_unit));
	sl__json_integer(json, "visits", sweep->n_visits);
	sl__json_array(json, "points");
	for (size_t i = 0; i < s->n_points; i++)
		write_point(json, &s->points[i]);
	sl__json_end_array(json);
	sl__json_array(json, "exponents");
	for (size_t i = 0; i < s->n_exponents; i++)
		write_law(json, &s->exponents[i]);
	sl__json_end_array(json);
	write_knee(json, &s->knee);
	write_best(json, sweep, &s->best);
	write_sentences(json, sweep, s);
	sl__json_end_object(json);
}

void
sl__sweep_json(struct sl__json *json, const void *result)
{
	const struct sl_sweep *sweep = result;

	sl__json_object(json, "plan");
	sl__json_text(json, "dtype", sl_dtype_text(sweep->dtype));
	if (sweep->axis == SL_AXIS_THREADS)
		sl__json_absent(json, "threads", "the axis of the sweep");
	else
		sl__json_integer(json, "threads", (uint64_t)sweep->n_threads);
	sl__json_end_object(json);
	sl__json_integer(json, "seed", sweep->seed);
	sl__json_number(json, "elapsed_ms", sweep->elapsed_s * 1e3);
	sl__json_text(json, "stopped_by",
		      sweep->stopped_by == SL_STOP_INTERRUPT ? "interrupt"
							     : "runs");
	if (sweep->n_series == 1) {
		write_series(json, sweep, &sweep->series[0]);
		return;
	}
	sl__json_array(json, "results");
	for (size_t i = 0; i < sweep->n_series; i++) {
		sl__json_object(json, NULL);
		write_series(json, sweep, &sweep->series[i]);
		sl__json_end_object(json);
	}
	sl__json_end_array(json);
	write_sentences(json, sweep, NULL);
}

void
sl__sweep_csv_point(struct sl_buf *out, const struct sl_sweep *sweep,
		    const struct sl_sweep_series *series,
		    const struct sl_sweep_point *p)
{
	double is_there = p->absent ? (double)NAN : 1;

	sl__csv_text(out, series->name);
	sl__csv_text(out, sl_axis_text(sweep->axis));
	sl__csv_number(out, (double)p->value);
	sl__csv_text(out, p->absent ? p->absent : "");
	sl__csv_number(out, (double)p->n_visits);
	sl__csv_number(out, (double)p->n_passes);
	sl__csv_number(out, p->latency_ns.value / SL__NS_PER_MS);
	sl__csv_number(out, p->latency_ns.lo / SL__NS_PER_MS);
	sl__csv_number(out, p->latency_ns.hi / SL__NS_PER_MS);
	sl__csv_number(out, p->rate_per_s.value);
	sl__csv_text(out, sl_rate_unit_text(sweep->rate_unit));
	sl__csv_number(out, p->samples_per_s);
	sl__csv_number(out, p->sample_ns / SL__NS_PER_MS);
	sl__csv_number(out, is_there * (double)p->parameters);
	sl__csv_number(out, is_there * (double)p->flops);
	sl__csv_number(out, p->flops_per_s / 1e9);
	sl__csv_number(out, p->compute_efficiency);
	sl__csv_number(out, p->roof_share);
	sl__csv_number(out,
		       p->memory_bytes ? (double)p->memory_bytes : (double)NAN);
	sl__csv_number(out, p->touched_bytes.value);
	sl__csv_number(out, p->samples_per_s_per_mb);
	sl__csv_text(out, p->verdict ? sl_bottleneck_text(p->verdict) : "-");
	sl__csv_text(out, p->verdict ? "roofline" : "");
	sl__csv_number(out, p->energy_j.value);
	sl__csv_number(out, p->energy_j.lo);
	sl__csv_number(out, p->energy_j.hi);
	sl__csv_end(out);
}
