/* SPDX-License-Identifier: Apache-2.0 */
/* microscope_json.c - operations over sizes for programs: JSON and CSV. */
#include "report/microscope_json.h"
#include "base/buf.h"
#include "report/microbench_narrative.h"
#include "report/result_csv.h"
#include "report/result_json.h"
#include "report/section.h"
#include "result/fact_json.h"

#include <math.h>

#include "base/banned.h"

static const char no_ceiling[] = "no ceiling was measured";

static void
add_text(struct sl__json *json, const char *key, const char *text,
	 const char *absent)
{
	if (text)
		sl__json_text(json, key, text);
	else
		sl__json_absent(json, key, absent);
}

static void
add_rate(struct sl__json *json, const char *key, const char *interval,
	 const struct sl_estimate *e)
{
	if (!e->n) {
		sl__json_absent(json, key, no_ceiling);
		sl__json_absent(json, interval, no_ceiling);
		return;
	}
	sl__json_number(json, key, e->value / 1e9);
	sl__section_bounds(json, interval, e, 1e9);
}

static void
add_levels(struct sl__json *json, const struct sl_ceilings *c)
{
	sl__json_array(json, "levels");
	for (size_t i = 0; i < c->n_levels; i++) {
		sl__json_object(json, NULL);
		sl__json_text(json, "level", sl_level_text(c->levels[i].level));
		if (c->levels[i].size_bytes == UINT64_MAX)
			sl__json_absent(json, "size_bytes", "no limit");
		else
			sl__json_integer(json, "size_bytes",
					 c->levels[i].size_bytes);
		add_rate(json, "gbytes_per_s", "ci95",
			 &c->levels[i].bytes_per_s);
		sl__json_end_object(json);
	}
	sl__json_end_array(json);
}

static void
add_roofline(struct sl__json *json, const struct sl_ceilings *c)
{
	sl__json_object(json, "roofline");
	add_rate(json, "peak_gflops_per_s", "peak_ci95", &c->flops_per_s);
	sl__json_finite(json, "ridge", c->n_levels ? c->ridge : (double)NAN,
			c->absent ? c->absent : no_ceiling);
	if (c->step_ns.n) {
		sl__json_time(json, "step", &c->step_ns);
	} else {
		sl__json_absent(json, "step_ms", no_ceiling);
		sl__json_absent(json, "step_ci95_ms", no_ceiling);
	}
	add_levels(json, c);
	sl__json_end_object(json);
}

static void
add_level(struct sl__json *json, const char *key, enum sl_level level)
{
	add_text(json, key, level ? sl_level_text(level) : NULL, no_ceiling);
}

static void
add_place(struct sl__json *json, const struct sl_micro_point *p)
{
	const char *why = p->impossible ? "the rate is impossible" : no_ceiling;

	add_level(json, "level", p->level);
	sl__json_finite(json, "level_ms", p->level_ns / SL__NS_PER_MS,
			no_ceiling);
	add_level(json, "roof", p->roof);
	sl__json_finite(json, "bound_ms", p->bound_ns / SL__NS_PER_MS, why);
	sl__json_finite(json, "roof_share", p->roof_share, why);
	if (isfinite(p->roof_share_lo) && isfinite(p->roof_share_hi)) {
		sl__json_object(json, "roof_share_ci95");
		sl__json_number(json, "lo", p->roof_share_lo);
		sl__json_number(json, "hi", p->roof_share_hi);
		sl__json_end_object(json);
	} else {
		sl__json_absent(json, "roof_share_ci95",
				isfinite(p->roof_share) ? "too few passes"
							: why);
	}
	sl__json_text(json, "class", sl_micro_class_text(p->micro_class));
	if (p->micro_class == SL_MICRO_UNKNOWN)
		sl__json_absent(json, "verdict", why);
	else
		sl__json_text(json, "verdict", sl__micro_verdict_text(p));
	sl__json_boolean(json, "sure", p->is_sure);
	if (p->impossible)
		sl__json_fact(json, "impossible", p->impossible);
}

static void
add_point(struct sl__json *json, const struct sl_micro_point *p)
{
	sl__json_object(json, NULL);
	sl__json_integer(json, "value", (uint64_t)p->value);
	sl__json_text(json, "shape", p->shape);
	if (p->absent) {
		sl__json_absent(json, "median_ms", p->absent);
		sl__json_end_object(json);
		return;
	}
	sl__json_number(json, "median_ms", p->median_ns.value / SL__NS_PER_MS);
	sl__section_interval(json, &p->median_ns);
	sl__json_integer(json, "passes", p->n_passes);
	sl__json_finite(json, "disturbance", p->disturbance, "not known");
	sl__json_text(json, "kernel", p->kernel);
	sl__json_integer(json, "operations", p->n_operations);
	sl__json_integer(json, "flops", p->flops);
	sl__json_integer(json, "bytes", p->n_bytes);
	sl__json_integer(json, "working_set_bytes", p->working_set_bytes);
	sl__json_finite(json, "intensity", p->intensity, "it moves no bytes");
	sl__json_number(json, "gflops_per_s", p->flops_per_s / 1e9);
	sl__json_number(json, "gbytes_per_s", p->bytes_per_s / 1e9);
	add_place(json, p);
	sl__json_end_object(json);
}

static void
add_turns(struct sl__json *json, const struct sl_micro_series *s)
{
	sl__json_array(json, "turns");
	for (size_t i = 0; i < s->n_turns; i++) {
		const struct sl_micro_turn *turn = &s->turns[i];

		sl__json_object(json, NULL);
		sl__json_text(json, "what", sl_micro_turning_text(turn->what));
		sl__json_text(json, "from",
			      sl__micro_turn_text(s, turn, turn->before));
		sl__json_text(json, "to",
			      sl__micro_turn_text(s, turn, turn->at));
		sl__json_integer(json, "after",
				 (uint64_t)s->points[turn->before].value);
		sl__json_integer(json, "at",
				 (uint64_t)s->points[turn->at].value);
		sl__json_finite(json, "rate_ratio", turn->rate_ratio,
				"no rate");
		sl__json_boolean(json, "sure", turn->is_sure);
		sl__json_end_object(json);
	}
	sl__json_end_array(json);
}

static void
add_value(struct sl__json *json, const char *key,
	  const struct sl_micro_series *s, size_t point)
{
	if (point == SIZE_MAX)
		sl__json_absent(json, key, "no such size");
	else
		sl__json_integer(json, key, (uint64_t)s->points[point].value);
}

/* What to optimise, why, and all that is said of the operator. */
static void
add_words(struct sl__json *json, const struct sl_microscope *m,
	  const struct sl_micro_series *s)
{
	struct sl__narrative narrative;
	struct sl__phrase w;
	const char *reason = sl__micro_reason_text(&w, m, s);

	add_text(json, "focus",
		 s->focus ? sl__micro_focus_text(s->focus) : NULL, reason);
	sl__json_text(json, "reason", reason);
	sl__narrative_init(&narrative, NULL);
	sl__micro_narrate(&narrative, m, s);
	sl__narrative_json(json, &narrative);
	sl__narrative_release(&narrative);
}

static void
add_series(struct sl__json *json, const struct sl_microscope *m,
	   const struct sl_micro_series *s)
{
	sl__json_object(json, NULL);
	sl__json_text(json, "operation", s->name);
	sl__json_text(json, "kind", s->kind);
	sl__json_text(json, "axis", sl_micro_axis_text(s->axis));
	sl__json_array(json, "points");
	for (size_t i = 0; i < s->n_points; i++)
		add_point(json, &s->points[i]);
	sl__json_end_array(json);
	add_turns(json, s);
	add_value(json, "reached", s, s->reached);
	add_value(json, "largest", s, s->largest);
	add_words(json, m, s);
	sl__json_end_object(json);
}

static void
add_name(struct sl__json *json, const char *key, const struct sl_microscope *m,
	 size_t series)
{
	if (series == SIZE_MAX)
		sl__json_absent(json, key, "fewer than two to compare");
	else
		sl__json_text(json, key, m->series[series].name);
}

static void
add_microscope(struct sl__json *json, const struct sl_microscope *m)
{
	struct sl__narrative narrative;

	sl__json_object(json, "plan");
	if (m->dtype == SL_DTYPE_NONE)
		sl__json_absent(json, "dtype", "nothing was measured");
	else
		sl__json_text(json, "dtype", sl_dtype_text(m->dtype));
	sl__json_integer(json, "threads", (uint64_t)m->n_threads);
	sl__json_end_object(json);
	sl__json_ending(json, m->elapsed_s, m->stopped_by, m->seed);
	add_roofline(json, &m->ceilings);
	sl__json_object(json, "microscope");
	sl__json_array(json, "operations");
	for (size_t i = 0; i < m->n_series; i++)
		add_series(json, m, &m->series[i]);
	sl__json_end_array(json);
	add_name(json, "most_efficient", m, m->most_efficient);
	add_name(json, "least_efficient", m, m->least_efficient);
	sl__narrative_init(&narrative, NULL);
	sl__micro_narrate_all(&narrative, m);
	sl__narrative_json(json, &narrative);
	sl__narrative_release(&narrative);
	sl__json_end_object(json);
}

void
sl__microscope_json(struct sl__json *json, const void *result)
{
	const struct sl__microscope_result *r = result;

	if (r->n == 1) {
		add_microscope(json, r->found[0]);
		return;
	}
	sl__json_array(json, "results");
	for (size_t i = 0; i < r->n; i++) {
		sl__json_object(json, NULL);
		add_microscope(json, r->found[i]);
		sl__json_end_object(json);
	}
	sl__json_end_array(json);
}

static void
csv_point(struct sl_buf *out, const struct sl_micro_series *s,
	  const struct sl_micro_point *p)
{
	double is_there = p->absent ? (double)NAN : 1;

	sl__csv_text(out, s->name);
	sl__csv_text(out, s->kind);
	sl__csv_text(out, sl_micro_axis_text(s->axis));
	sl__csv_number(out, (double)p->value);
	sl__csv_text(out, p->shape);
	sl__csv_text(out, p->absent ? p->absent : "");
	sl__csv_text(out, p->kernel ? p->kernel : "");
	sl__csv_number(out, (double)p->n_passes);
	sl__csv_number(out, is_there * p->median_ns.value / SL__NS_PER_MS);
	sl__csv_number(out, is_there * p->median_ns.lo / SL__NS_PER_MS);
	sl__csv_number(out, is_there * p->median_ns.hi / SL__NS_PER_MS);
	sl__csv_number(out, is_there * (double)p->flops);
	sl__csv_number(out, is_there * (double)p->n_bytes);
	sl__csv_number(out, is_there * (double)p->working_set_bytes);
	sl__csv_number(out, is_there * p->intensity);
	sl__csv_number(out, is_there * p->flops_per_s / 1e9);
	sl__csv_number(out, is_there * p->bytes_per_s / 1e9);
	sl__csv_text(out, p->level ? sl_level_text(p->level) : "");
	sl__csv_text(out, p->roof ? sl_level_text(p->roof) : "");
	sl__csv_number(out, is_there * p->bound_ns / SL__NS_PER_MS);
	sl__csv_number(out, is_there * p->roof_share);
	sl__csv_text(out, sl_micro_class_text(p->micro_class));
	sl__csv_text(out, sl__micro_verdict_text(p));
	sl__csv_text(out, p->is_sure ? "true" : "false");
	sl__csv_end(out);
}

void
sl__microscope_csv(struct sl_buf *out, const void *result)
{
	const struct sl__microscope_result *r = result;

	sl__buf_text(out, "operation,kind,axis,value,shape,absent,kernel,"
			  "passes,median_ms,ci95_lo_ms,ci95_hi_ms,flops,bytes,"
			  "working_set_bytes,intensity,gflops_per_s,"
			  "gbytes_per_s,level,roof,bound_ms,roof_share,class,"
			  "verdict,sure\n");
	for (size_t k = 0; k < r->n; k++) {
		for (size_t i = 0; i < r->found[k]->n_series; i++) {
			const struct sl_micro_series *s =
				&r->found[k]->series[i];

			for (size_t j = 0; j < s->n_points; j++)
				csv_point(out, s, &s->points[j]);
		}
	}
}
