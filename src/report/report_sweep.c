/* SPDX-License-Identifier: Apache-2.0 */
/* report_sweep.c - a sweep: a table, a chart, laws and sentences. */
#include "report/figures.h"
#include "report/bar.h"
#include "report/inspect_page.h"
#include "report/phrase.h"
#include "report/render.h"
#include "report/result_page.h"
#include "report/sweep_narrative.h"
#include "report/unit.h"
#include "result/sweep_laws.h"
#include "result/tables.h"

#include <math.h>

#include "base/banned.h"

enum {
	BAR_COLUMNS = 24, /* of each bar, where there is room */
	BESIDE_BARS = 32  /* sizes, rates, times and gaps */
};

/* How a figure is written. */
typedef const char *writes(struct sl__text *text, double x);

static void
add_number(struct sl__doc *doc, double x, writes *text_of)
{
	struct sl__text t;

	if (!isfinite(x))
		sl__doc_cell(doc, SL__STYLE_DIM, "-");
	else
		sl__doc_cell(doc, SL__STYLE_PLAIN, "%s", text_of(&t, x));
}

static int
is_noisy(const struct sl_estimate *e)
{
	return e->hi > 3 * e->lo;
}

/* One unit does not serve bounds that are far apart. */
static void
add_latency(struct sl__doc *doc, const struct sl_estimate *e)
{
	struct sl__phrase value, lo, hi;
	struct sl__text text;

	if (is_noisy(e))
		sl__doc_cell(doc, SL__STYLE_WARN, "~ %s [%s, %s]",
			     sl__phrase_time(&value, e->value),
			     sl__phrase_time(&lo, e->lo),
			     sl__phrase_time(&hi, e->hi));
	else
		sl__doc_cell(doc, SL__STYLE_PLAIN, "%s",
			     sl__time_estimate(&text, e, NULL));
}

static void
add_point(struct sl__doc *doc, const struct sl_sweep *sweep,
	  const struct sl_sweep_point *p, int is_best)
{
	sl__doc_cell(doc, is_best ? SL__STYLE_GOOD : SL__STYLE_STRONG, "%lld%s",
		     (long long)p->value, is_best ? "*" : "");
	if (p->absent)
		sl__doc_cell(doc, SL__STYLE_WARN, "not measured");
	else
		add_latency(doc, &p->latency_ns);
	add_number(doc,
		   sweep->axis == SL_AXIS_WIDTH ? p->samples_per_s
						: p->rate_per_s.value,
		   sl__si_prefix_text);
	add_number(doc, p->absent ? (double)NAN : p->flops_per_s / 1e9,
		   sl__three_digit_text);
	add_number(doc, p->compute_efficiency, sl__share_text);
	add_number(doc, p->roof_share, sl__share_text);
	sl__doc_cell(doc, SL__STYLE_PLAIN, "%s",
		     p->verdict > SL_BOTTLENECK_INCONCLUSIVE
			     ? sl_bottleneck_text(p->verdict)
			     : "-");
}

/* What is the same at every point is said once. */
static void
add_same(struct sl__doc *doc, const char *same)
{
	if (*same)
		sl__doc_text(doc, SL__STYLE_DIM, "the same at every point: %s",
			     same);
}

static void
add_times(struct sl__doc *doc, const struct sl_sweep *sweep,
	  const struct sl_sweep_series *s)
{
	const struct sl__column columns[] = {
		{sl_axis_text(sweep->axis), 1, 0},
		{"median [95 %]", 1, 0},
		{sweep->axis == SL_AXIS_SEQ ? "tokens/s" : "samples/s", 1, 0},
		{"GFLOP/s", 1, 0},
		{"of peak", 1, 1},
		{"of roofline", 1, 2},
		{"roofline side", 0, 1}};
	size_t n_noisy = 0;

	sl__doc_table(doc, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < s->n_points; i++)
		add_point(doc, sweep, &s->points[i], i == s->best.point);
	add_same(doc, sl__doc_drop_equal_columns(doc));
	for (size_t i = 0; i < s->n_points; i++)
		n_noisy += !s->points[i].absent &&
			   is_noisy(&s->points[i].latency_ns);
	sl__doc_text(doc, SL__STYLE_DIM,
		     "%s%sGFLOP/s: nominal FLOPs; of peak: executed FLOPs, of "
		     "the peak that was measured beside that point",
		     s->best.absent ? "" : "* best; ",
		     n_noisy ? "~ noisy: the interval spans more than a "
			       "factor of 3; "
			     : "");
}

static void
add_energy(struct sl__doc *doc, const struct sl_estimate *e)
{
	if (!e->n)
		sl__doc_cell(doc, SL__STYLE_DIM, "-");
	else if (isfinite(e->lo) && isfinite(e->hi))
		sl__doc_cell(doc, SL__STYLE_PLAIN, "%.3g J [%.3g, %.3g]",
			     e->value, e->lo, e->hi);
	else
		sl__doc_cell(doc, SL__STYLE_PLAIN, "%.3g J, no interval",
			     e->value);
}

static void
add_need(struct sl__doc *doc, const struct sl_sweep *sweep,
	 const struct sl_sweep_point *p)
{
	double is_there = p->absent ? (double)NAN : 1;

	sl__doc_cell(doc, SL__STYLE_STRONG, "%lld", (long long)p->value);
	add_number(doc, p->sample_ns, sl__time_text);
	add_number(doc, is_there * (double)p->flops, sl__si_prefix_text);
	add_number(doc, p->memory_bytes ? (double)p->memory_bytes : (double)NAN,
		   sl__bytes_text);
	add_number(doc, p->samples_per_s_per_mb, sl__si_prefix_text);
	add_number(doc, p->touched_bytes.value, sl__bytes_text);
	add_energy(doc, &p->energy_j);
	if (sweep->axis == SL_AXIS_WIDTH)
		add_number(doc, is_there * (double)p->parameters,
			   sl__si_prefix_text);
}

static void
add_needs(struct sl__doc *doc, const struct sl_sweep *sweep,
	  const struct sl_sweep_series *s)
{
	const struct sl__column columns[] = {{sl_axis_text(sweep->axis), 1, 0},
					     {"per sample", 1, 0},
					     {"FLOPs", 1, 0},
					     {"planned memory", 1, 0},
					     {"samples/s/MB", 1, 0},
					     {"RSS growth", 1, 1},
					     {"energy", 1, 3},
					     {"parameters", 1, 2}};
	size_t n = sizeof(columns) / sizeof(columns[0]);
	const char *absent = NULL;

	sl__doc_gap(doc);
	/* The width alone changes the last; of others the first line has it. */
	sl__doc_table(doc, columns, n - (sweep->axis != SL_AXIS_WIDTH));
	for (size_t i = 0; i < s->n_points; i++) {
		add_need(doc, sweep, &s->points[i]);
		if (!s->points[i].absent)
			absent = s->points[i].energy_absent;
	}
	add_same(doc, sl__doc_drop_equal_columns(doc));
	if (absent)
		sl__doc_text(doc, SL__STYLE_DIM, "energy: %s", absent);
}

static void
add_chart(struct sl__doc *doc, const struct sl_sweep *sweep,
	  const struct sl_sweep_series *s, size_t n_bar)
{
	struct sl__bar left, right;
	double most_rate = 0, most_ns = 0;
	struct sl__text rate, time;

	for (size_t i = 0; i < s->n_points; i++) {
		if (s->points[i].absent)
			continue;
		most_rate = fmax(most_rate, s->points[i].rate_per_s.value);
		most_ns = fmax(most_ns, s->points[i].latency_ns.value);
	}
	if (s->n_measured < 2)
		return;
	sl__doc_gap(doc);
	sl__doc_drawing(doc, SL__STYLE_DIM, "%8s  %-*s %-8s  %s",
			sl_axis_text(sweep->axis), (int)n_bar,
			sl_rate_unit_text(sweep->rate_unit), "",
			"time per iteration");
	for (size_t i = 0; i < s->n_points; i++) {
		const struct sl_sweep_point *p = &s->points[i];

		if (p->absent)
			continue;
		sl__doc_drawing(
			doc, SL__STYLE_PLAIN, "%8lld  %s %-8s  %s %s",
			(long long)p->value,
			sl__bar_padded(&left, p->rate_per_s.value / most_rate,
				       n_bar),
			sl__si_prefix_text(&rate, p->rate_per_s.value),
			sl__bar_padded(&right, p->latency_ns.value / most_ns,
				       n_bar),
			sl__time_text(&time, p->latency_ns.value));
	}
}

static void
add_exponent(struct sl__doc *doc, const struct sl_estimate *e)
{
	if (!e->n)
		sl__doc_cell(doc, SL__STYLE_DIM, "-");
	else if (isfinite(e->lo) && isfinite(e->hi))
		sl__doc_cell(doc, SL__STYLE_PLAIN, "%.2f [%.2f, %.2f]",
			     e->value, e->lo, e->hi);
	else if (e->method == SL_METHOD_NONE) /* counted */
		sl__doc_cell(doc, SL__STYLE_PLAIN, "%.2f", e->value);
	else
		sl__doc_cell(doc, SL__STYLE_DIM, "not settled");
}

/* How the fixed part of a law is written. */
static writes *
format_of(const struct sl_sweep_exponent *e)
{
	switch (e->figure) {
	case SL_SWEEP_MEMORY:
		return sl__bytes_text;
	case SL_SWEEP_FLOPS:
		return sl__si_prefix_text;
	case SL_SWEEP_TIME:
	case SL_SWEEP_KIND:
		break;
	}
	return sl__time_text;
}

static void
add_law(struct sl__doc *doc, const struct sl_sweep_exponent *e)
{
	sl__doc_cell(doc, SL__STYLE_STRONG, "%s%s",
		     e->figure == SL_SWEEP_KIND ? "  " : "",
		     sl__sweep_law_quantity_text(e));
	add_exponent(doc, &e->exponent);
	if (isnan(e->formula) || e->figure == SL_SWEEP_MEMORY)
		sl__doc_cell(doc, SL__STYLE_DIM, "-");
	else
		sl__doc_cell(doc, SL__STYLE_PLAIN, "%.2f", e->formula);
	add_number(doc, e->offset > 0 ? e->offset : (double)NAN, format_of(e));
	if (e->tail.n)
		sl__doc_cell(doc, SL__STYLE_PLAIN, "%.2f from %lld",
			     e->tail.value, (long long)e->tail_from);
	else
		sl__doc_cell(doc, SL__STYLE_DIM, "-");
	add_number(doc, e->share_first, sl__share_text);
	add_number(doc, e->share_last, sl__share_text);
	add_number(doc, e->deviation, sl__share_text);
}

static const char *
share_title(struct sl__doc *doc, const struct sl_sweep_point *p)
{
	return sl__doc_text_or_nomem(
		doc, sl__arena_format(&doc->arena, "share at %lld",
				      (long long)p->value));
}

static void
add_laws(struct sl__doc *doc, const struct sl_sweep_series *s)
{
	const struct sl__column columns[] = {
		{"scaling of", 0, 0},
		{"exponent [95 %]", 1, 0},
		{"FLOPs exponent", 1, 0},
		{"fixed part", 1, 0},
		{"tail", 1, 3},
		{share_title(doc, s->points), 1, 1},
		{share_title(doc, &s->points[s->n_points - 1]), 1, 1},
		{"max error", 1, 2}};

	if (!s->n_exponents || s->exponents[0].absent)
		return;
	sl__doc_gap(doc);
	sl__doc_table(doc, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < s->n_exponents; i++) {
		const struct sl_sweep_exponent *e = &s->exponents[i];

		/* The exponent of FLOPs stands beside that of the time. */
		if (!e->absent &&
		    (e->figure != SL_SWEEP_FLOPS || e->offset > 0))
			add_law(doc, e);
	}
	(void)sl__doc_drop_equal_columns(doc); /* empty ones */
	sl__doc_text(doc, SL__STYLE_DIM,
		     "exponent: of what exceeds the fixed part, if there is "
		     "one; share: of the operations' time");
}

static void
add_facts(struct sl__doc *doc, const struct sl_sweep *sweep,
	  const struct sl_sweep_series *s)
{
	const struct sl_sweep_point *p = s->points;
	struct sl__text t;
	size_t i = 0;

	while (i < s->n_points && p[i].absent)
		i++;
	if (i == s->n_points)
		return;
	if (sweep->optimizer)
		sl__doc_text(doc, SL__STYLE_DIM, "training steps with %s, %s",
			     sl_optimizer_text(sweep->optimizer),
			     sl_dtype_text(sweep->dtype));
	else
		sl__doc_text(doc, SL__STYLE_DIM, "%s",
			     sl_dtype_text(sweep->dtype));
	if (sweep->axis != SL_AXIS_THREADS)
		sl__doc_append(doc, SL__STYLE_DIM, " on %d thread%s",
			       sweep->n_threads,
			       sweep->n_threads == 1 ? "" : "s");
	if (sweep->axis != SL_AXIS_BATCH)
		sl__doc_append(doc, SL__STYLE_DIM, ", batch %lld",
			       (long long)s->batch);
	if (sweep->axis != SL_AXIS_WIDTH)
		sl__doc_append(doc, SL__STYLE_DIM, ", %s parameters",
			       sl__count_text(&t, p[i].parameters));
	sl__doc_append(doc, SL__STYLE_DIM,
		       "; each visited %zu time%s in random order, seed %llu",
		       sweep->n_visits, sweep->n_visits == 1 ? "" : "s",
		       (unsigned long long)sweep->seed);
}

/* About one model of a sweep, or about a sweep. */
static void
narrate(struct sl__narrative *to, const void *record, const void *parent)
{
	if (parent)
		sl__sweep_narrate(to, parent, record);
	else
		sl__sweep_narrate_all(to, record);
}

static void
tell(struct sl__json *json, const char *key, const void *record,
     const void *parent)
{
	(void)key;
	sl__narrator_json(json, narrate, record, parent);
}

static void
add_series(struct sl__doc *doc, const struct sl_sweep *sweep,
	   const struct sl_sweep_series *s, size_t n_bar)
{
	const char *title = sl__model_display_name(s->name, s->source);
	const struct sl_sweep_point *last = &s->points[s->n_points - 1];

	sl__doc_heading(doc, "%s, %s %lld to %lld", title,
			sl_axis_text(sweep->axis),
			(long long)s->points[0].value, (long long)last->value);
	sl__doc_append_dim(doc, "  %s",
			   sl__model_source_text(s->name, s->source));
	add_facts(doc, sweep, s);
	add_times(doc, sweep, s);
	add_needs(doc, sweep, s);
	add_chart(doc, sweep, s, n_bar);
	add_laws(doc, s);
	sl__doc_gap(doc);
	sl__narrator_page(doc, narrate, s, sweep, SL__SENTENCES_MOST);
}

/* One row a value, one column a model. */
static void
add_side(struct sl__doc *doc, const struct sl_sweep *sweep)
{
	struct sl__column *columns = sl__arena_array(
		&doc->arena, sweep->n_series + 1, sizeof(*columns));
	struct sl__text t;

	if (!columns) {
		doc->failed = 1;
		return;
	}
	sl__doc_heading(doc, "All models, in %s",
			sl_rate_unit_text(sweep->rate_unit));
	columns[0] = (struct sl__column){sl_axis_text(sweep->axis), 1, 0};
	for (size_t i = 0; i < sweep->n_series; i++)
		columns[i + 1] =
			(struct sl__column){sweep->series[i].name, 1, 0};
	sl__doc_table(doc, columns, sweep->n_series + 1);
	for (size_t k = 0; k < sweep->series[0].n_points; k++) {
		sl__doc_cell(doc, SL__STYLE_STRONG, "%lld",
			     (long long)sweep->series[0].points[k].value);
		for (size_t i = 0; i < sweep->n_series; i++)
			sl__doc_cell(doc, SL__STYLE_PLAIN, "%s",
				     sl__si_prefix_text(
					     &t, sweep->series[i]
							 .points[k]
							 .rate_per_s.value));
	}
	sl__doc_gap(doc);
	sl__narrator_page(doc, narrate, sweep, NULL, SL__SENTENCES_MOST);
}

static void
page(struct sl__doc *doc, const void *result,
     const struct sl_render_options *how)
{
	const struct sl_sweep *sweep = result;
	size_t n_bar = sl__bar_columns_that_fit(how->n_columns, 2, BESIDE_BARS,
						BAR_COLUMNS);

	for (size_t i = 0; i < sweep->n_series; i++)
		add_series(doc, sweep, &sweep->series[i], n_bar);
	if (sweep->n_series > 1)
		add_side(doc, sweep);
	if (sweep->stopped_by == SL_STOP_INTERRUPT)
		sl__doc_gap(doc);
	sl__page_interrupted(doc, sweep->stopped_by);
}

enum sl_status
sl_sweep_render(const struct sl_sweep *sweep,
		const struct sl_render_options *how, struct sl_buf *out,
		struct sl_error *err)
{
	static const struct sl__renderer renderer = {
		.kind = "a sweep",
		.command = "sweep",
		.page = page,
		.views = sl__sweep_views,
		.tell = tell,
		.table = &sl__table_sweep,
		.csv_rows = "results/sweep/points",
		.csv_columns =
			"model=../../model/name,axis=../axis,value,"
			"absent=median_ms_absent,visits,iterations,median_ms,"
			"ci95_lo_ms=ci95_ms/lo,ci95_hi_ms=ci95_ms/hi,"
			"rate_per_s,rate_unit=../rate_unit,samples_per_s,"
			"sample_ms,parameters,flops,gflops_per_s,"
			"compute_efficiency,roof_share,memory_bytes,"
			"touched_bytes,samples_per_s_per_mb,verdict?-,"
			"verdict_basis,energy_j,energy_lo_j=energy_ci95_j/lo,"
			"energy_hi_j=energy_ci95_j/hi"};

	return sl__render(&renderer, sweep, how, out, err);
}
