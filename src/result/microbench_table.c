/* SPDX-License-Identifier: Apache-2.0 */
/* microbench_table.c - fields of operators that were measured over sizes. */
#include "base/status.h"
#include "result/micro_series.h"
#include "result/profile_tables.h"
#include "result/record.h"
#include "result/words.h"

#include <math.h>
#include <string.h>

#include "base/banned.h"

#define MS         .unit = SL__NS_PER_MS
#define GIGA       .unit = 1e9
#define NO_CEILING .absent = SL__NO_CEILING

static const char *
no_rate(const struct sl_micro_point *p)
{
	return p->impossible ? "the rate is impossible" : SL__NO_CEILING;
}

SL__WHY(no_bound, sl_micro_point, p, no_rate(p))
SL__WHY(no_share, sl_micro_point, p,
	isfinite(p->roof_share_lo) && isfinite(p->roof_share_hi) ? NULL
	: isfinite(p->roof_share) ? "too few iterations"
				  : no_rate(p))
SL__WHY(no_verdict, sl_micro_point, p,
	p->micro_class == SL_MICRO_UNKNOWN ? no_rate(p) : NULL)
SL__MAKE(make_verdict, sl_micro_point, p, TEXT, text,
	 sl__micro_bottleneck_text(p))

static const struct sl__field share_fields[] = {
	SL__F(NUMBER, sl_micro_point, roof_share_lo, "lo", "lower bound"),
	SL__F(NUMBER, sl_micro_point, roof_share_hi, "hi", "upper bound"),
};
static SL__RECORD(share, "roof_share_ci95", sl_micro_point, share_fields, 0);

/* They are there where the size was measured. */
static const struct sl__field figure_fields[] = {
	SL__F(INTERVAL, sl_micro_point, median_ns, "ci95_ms",
	      "its 95 % interval", MS),
	SL__F(WHOLE, sl_micro_point, median_ns.n, "median_n",
	      "samples behind it"),
	SL__F(NUMBER, sl_micro_point, fastest_ns, "fastest_ms", "of all calls",
	      MS),
	SL__F(WHOLE, sl_micro_point, n_iterations, "iterations",
	      "that were timed"),
	SL__F(NUMBER, sl_micro_point, disturbance, "disturbance",
	      "background load, of the CPU time", .absent = "not known"),
	SL__F(TEXT, sl_micro_point, kernel, "kernel", "that did its work"),
	SL__F(WHOLE, sl_micro_point, n_operations, "operations",
	      "that do its work"),
	SL__F(WHOLE, sl_micro_point, flops, "flops", "executed"),
	SL__F(WHOLE, sl_micro_point, n_bytes, "bytes",
	      "of operands and workspace, each once"),
	SL__F(WHOLE, sl_micro_point, working_set_bytes, "working_set_bytes",
	      "bytes accessed by a call"),
	SL__F(NUMBER, sl_micro_point, intensity, "intensity", "flops per byte",
	      .absent = "it moves no bytes"),
	SL__F(NUMBER, sl_micro_point, flops_per_s, "gflops_per_s",
	      "at the median", GIGA),
	SL__F(NUMBER, sl_micro_point, bytes_per_s, "gbytes_per_s",
	      "at the median", GIGA),
	SL__F(WORD, sl_micro_point, level, "level",
	      "smallest memory that holds the working set",
	      .words = &sl__words_level, NO_CEILING),
	SL__F(NUMBER, sl_micro_point, level_ns, "level_ms",
	      "its bytes at the bandwidth of that", MS, NO_CEILING),
	SL__F(WORD, sl_micro_point, roof, "roof",
	      "the level, or compute, that bounds it",
	      .words = &sl__words_level, NO_CEILING),
	SL__F(NUMBER, sl_micro_point, bound_ns, "bound_ms",
	      "least time under it", MS, .because = no_bound),
	SL__F(NUMBER, sl_micro_point, roof_share, "roof_share",
	      "bound / median", .because = no_bound),
	SL__F_GROUP(&share, "roof_share_ci95", "its 95 % interval",
		    .why = no_share),
	SL__F(WORD, sl_micro_point, micro_class, "class",
	      "where it is in the roofline", .words = &sl__words_micro_class),
	SL__F_MADE(make_verdict, "verdict", "the class, and which roof",
		   .why = no_verdict),
	SL__F_MADE(make_verdict, "shown", "the verdict as pages have it"),
	SL__F(BOOLEAN, sl_micro_point, is_sure, "sure",
	      "the same at both ends of the interval"),
	SL__F(FACT_AT, sl_micro_point, impossible, "impossible",
	      "a rate above what the machine does"),
};
static SL__RECORD(figures, "points", sl_micro_point, figure_fields, 0);

#define NOT_MEASURED SL__REASON(sl_micro_point, absent)

static const struct sl__field point_fields[] = {
	SL__F(SIGNED, sl_micro_point, value, "value", "along the axis"),
	SL__F(TEXT, sl_micro_point, shape, "shape", "of the operands"),
	SL__F(NUMBER, sl_micro_point, median_ns.value, "median_ms",
	      "of the operation", MS, NOT_MEASURED),
	SL__F_GROUP(&figures, NULL, "where it was measured", NOT_MEASURED),
};
static SL__RECORD(point, "microbench.operations.points", sl_micro_point,
		  point_fields, 0);

static const char *
turn_text(const struct sl_micro_crossover *crossover,
	  const struct sl_micro_series *of, size_t at)
{
	return sl__micro_crossover_regime_text(of, crossover, at);
}

static uint64_t
value_at(const struct sl_micro_series *of, size_t i)
{
	return i == SIZE_MAX ? 0 : (uint64_t)of->points[i].value;
}

SL__MAKE(make_from, sl_micro_crossover, t, TEXT, text,
	 turn_text(t, parent, t->before))
SL__MAKE(make_to, sl_micro_crossover, t, TEXT, text,
	 turn_text(t, parent, t->at))
SL__MAKE(make_after, sl_micro_crossover, t, WHOLE, whole,
	 value_at(parent, t->before))
SL__MAKE(make_at, sl_micro_crossover, t, WHOLE, whole, value_at(parent, t->at))

static const struct sl__field turn_fields[] = {
	SL__F(WORD, sl_micro_crossover, what, "what", "that changes",
	      .words = &sl__words_micro_crossover_kind),
	SL__F_MADE(make_from, "from", "a verdict, a roof or a level"),
	SL__F_MADE(make_to, "to", "likewise"),
	SL__F_MADE(make_after, "after", "the size before it"),
	SL__F_MADE(make_at, "at", "the size after it"),
	SL__F(WHOLE, sl_micro_crossover, before, "after_point", "which point"),
	SL__F(WHOLE, sl_micro_crossover, at, "at_point", "which point"),
	SL__F(NUMBER, sl_micro_crossover, rate_ratio, "rate_ratio",
	      "after / before", .absent = "no rate"),
	SL__F(BOOLEAN, sl_micro_crossover, is_sure, "sure", "by intervals"),
};
static SL__RECORD(crossover, "microbench.operations.crossovers",
		  sl_micro_crossover, turn_fields, 0);

static const char no_size[] = "no such size";

SL__WHY(not_reached, sl_micro_series, s,
	s->reached == SIZE_MAX ? no_size : NULL)
SL__WHY(no_largest, sl_micro_series, s, s->largest == SIZE_MAX ? no_size : NULL)
SL__MAKE(make_reached, sl_micro_series, s, WHOLE, whole,
	 value_at(s, s->reached))
SL__MAKE(make_largest, sl_micro_series, s, WHOLE, whole,
	 value_at(s, s->largest))

static enum sl_status
read_focus(void *record, const struct sl__json_value *value,
	   struct sl__arena *arena, struct sl_error *err)
{
	struct sl_micro_series *s = record;

	(void)arena;
	for (int i = 0; i < SL_N_MICRO_FOCUSES; i++) {
		s->focus = (enum sl_micro_focus)i;
		if (value->kind == SL__JSON_TEXT &&
		    strcmp(sl__micro_focus_advice_text(s->focus),
			   value->text) == 0)
			return SL_OK;
	}
	return sl__fail(err, SL_E_DATA, "no word that is known");
}

static const struct sl__field series_fields[] = {
	SL__F(TEXT, sl_micro_series, name, "operation", "its name"),
	SL__F(TEXT, sl_micro_series, kind, "kind", "of operation"),
	SL__F(TEXT, sl_micro_series, about, "about", "what it computes"),
	SL__F(WORD, sl_micro_series, axis, "axis", "that grows",
	      .words = &sl__words_micro_axis),
	SL__F_LIST(LIST, sl_micro_series, points, n_points, "points",
		   "ascending", .of = &point),
	SL__F_LIST(LIST, sl_micro_series, crossovers, n_crossovers,
		   "crossovers", "by kind, then ascending", .of = &crossover),
	SL__F_MADE(make_reached, "reached",
		   "the size from which on all reach 80 % of their roof",
		   .why = not_reached),
	SL__F(INDEX, sl_micro_series, reached, "reached_point", "which point",
	      .absent = no_size),
	SL__F_MADE(make_largest, "largest", "the last size measured",
		   .why = no_largest),
	SL__F(TOLD, sl_micro_series, focus, "focus",
	      "what to optimise at the largest size", .read = read_focus,
	      .made = SL__FIELD_WORD),
	SL__F(TOLD, sl_micro_series, focus, "reason",
	      "why that, or why nothing", .made = SL__FIELD_WORD),
	SL__F(TOLD, sl_micro_series, name, "sentences", "what bounds it where"),
};

static void
settle_series(void *record)
{
	struct sl_micro_series *s = record;

	s->largest = SIZE_MAX;
	for (size_t i = 0; i < s->n_points; i++) {
		if (s->points[i].absent)
			continue;
		s->n_measured++;
		s->largest = i;
	}
}

static const char *
check_series(const void *record)
{
	const struct sl_micro_series *s = record;

	if (s->reached != SIZE_MAX && s->reached >= s->n_points)
		return "a point that is not there";
	for (size_t i = 0; i < s->n_crossovers; i++) {
		if (s->crossovers[i].before >= s->n_points ||
		    s->crossovers[i].at >= s->n_points)
			return "a crossover at a point that is not there";
	}
	return NULL;
}

static SL__RECORD(series, "microbench.operations", sl_micro_series,
		  series_fields, .settle = settle_series,
		  .check = check_series);

static const char too_few[] = "fewer than two to compare";

static const char *
name_of(const struct sl_microbench *m, size_t i)
{
	return i < m->n_series ? m->series[i].name : NULL;
}

SL__MAKE(make_most, sl_microbench, m, TEXT, text, name_of(m, m->most_efficient))
SL__MAKE(make_least, sl_microbench, m, TEXT, text,
	 name_of(m, m->least_efficient))

/* About all operators together. */
static void
write_summary(struct sl__json *json, const struct sl__field *f,
	      const void *record)
{
	json->tell(json, f->key, record, NULL);
}

static const struct sl__field found_fields[] = {
	SL__F(BOOLEAN, sl_microbench, is_all, "all", "one of each kind"),
	SL__F_LIST(LIST, sl_microbench, series, n_series, "operations",
		   "in turn", .of = &series),
	SL__F_MADE(make_most, "most_efficient",
		   "by the share of its roof at the largest size",
		   .absent = too_few),
	SL__F_MADE(make_least, "least_efficient", "likewise",
		   .absent = too_few),
	SL__F(INDEX, sl_microbench, most_efficient, "most_efficient_operation",
	      "which one", .absent = too_few),
	SL__F(INDEX, sl_microbench, least_efficient,
	      "least_efficient_operation", "which one", .absent = too_few),
	{.key = "sentences",
	 .kind = SL__FIELD_OWN,
	 .made = SL__FIELD_TOLD,
	 .write = write_summary,
	 .meaning = "about all of them"},
};

static int
is_measured(const struct sl_microbench *m, size_t i)
{
	return i < m->n_series && m->series[i].n_measured;
}

static const char *
check_found(const void *record)
{
	const struct sl_microbench *m = record;

	if (!m->n_series)
		return "no operator";
	return m->most_efficient == SIZE_MAX ||
			       (is_measured(m, m->most_efficient) &&
				is_measured(m, m->least_efficient))
		       ? NULL
		       : "an operator that is not there";
}

static SL__RECORD(found, "microbench", sl_microbench, found_fields,
		  .check = check_found);

static const struct sl__field plan_fields[] = {
	SL__F(WORD, sl_microbench, dtype, "dtype", "that it computes in",
	      .words = &sl__words_dtype, .absent = "nothing was measured"),
	SL__F(WHOLE, sl_microbench, n_threads, "threads", "that it runs on"),
};
static SL__RECORD(plan, "plan", sl_microbench, plan_fields, 0);

static const struct sl__field microbench_fields[] = {
	SL__F_GROUP(&plan, "plan", "how it was run"),
	SL__F_ENDING(sl_microbench),
	SL__F(OBJECT, sl_microbench, ceilings, "roofline",
	      "what the machine reached meanwhile", .of = &sl__table_ceilings),
	SL__F_GROUP(&found, "microbench", "operators over sizes"),
};
static SL__RECORD(microbench, "microbench", sl_microbench, microbench_fields,
		  0);

SL__WHY(are_several, sl__microbench_document, m,
	m->n > 1 ? "several operators" : NULL)
SL__WHY(is_one, sl__microbench_document, m, m->n > 1 ? NULL : "one operator")

static const struct sl__field document_fields[] = {
	SL__F_LIST(FIRST, sl__microbench_document, list, n, NULL,
		   "the only operator", .of = &microbench, .is_of_pointers = 1,
		   .why = are_several),
	SL__F_LIST(LIST, sl__microbench_document, list, n, "results",
		   "several operators", .of = &microbench, .is_of_pointers = 1,
		   .why = is_one, .is_left_out = 1),
};
SL__RECORD(sl__table_microbench, "microbench", sl__microbench_document,
	   document_fields, 0);
