/* SPDX-License-Identifier: Apache-2.0 */
/* report_microbench.c - operations over sizes: a table, bars, sentences. */
#include "base/status.h"
#include "report/bar.h"
#include "report/microbench_narrative.h"
#include "report/render.h"
#include "report/result_page.h"
#include "report/unit.h"
#include "result/tables.h"

#include <math.h>
#include <string.h>

#include "base/banned.h"

enum { BAR_COLUMNS = 7 };

static void
add_number(struct sl__doc *doc, double x)
{
	struct sl__text t;

	sl__doc_cell(doc, isfinite(x) ? SL__STYLE_PLAIN : SL__STYLE_DIM, "%s",
		     sl__three_digit_text(&t, x));
}

/* Half of the interval, as a share of the median. */
static void
add_half(struct sl__doc *doc, const struct sl_estimate *e)
{
	double half = (e->hi - e->lo) / 2 / e->value;

	if (isfinite(half))
		sl__doc_cell(doc, SL__STYLE_DIM, "%.*f %%",
			     half < 0.0995 ? 1 : 0, 100 * half);
	else
		sl__doc_cell(doc, SL__STYLE_DIM, "-");
}

static enum sl__style
style_of(enum sl_micro_class micro_class)
{
	switch (micro_class) {
	case SL_MICRO_COMPUTE:
	case SL_MICRO_MEMORY:
		return SL__STYLE_GOOD;
	case SL_MICRO_OVERHEAD:
	case SL_MICRO_BELOW:
		return SL__STYLE_WARN;
	case SL_MICRO_UNKNOWN:
		break;
	}
	return SL__STYLE_DIM;
}

static void
add_figures(struct sl__doc *doc, const struct sl_micro_point *p)
{
	struct sl__bar bar;
	struct sl__text t;

	sl__doc_cell(doc, SL__STYLE_PLAIN, "%s",
		     sl__time_text(&t, p->median_ns.value));
	add_half(doc, &p->median_ns);
	add_number(doc, p->flops_per_s / 1e9);
	add_number(doc, p->bytes_per_s / 1e9);
	sl__doc_cell(doc, SL__STYLE_PLAIN, "%s",
		     p->level ? sl_level_text(p->level) : "-");
	if (isfinite(p->roof_share))
		sl__doc_cell(doc, SL__STYLE_PLAIN, "%.0f %%",
			     100 * p->roof_share);
	else
		sl__doc_cell(doc, SL__STYLE_DIM, "-");
	sl__doc_cell(doc, SL__STYLE_PLAIN, "%s",
		     sl__bar_text(&bar, p->roof_share, BAR_COLUMNS));
	sl__doc_cell(doc, style_of(p->micro_class), "%s",
		     sl__micro_bottleneck_text(p));
	if (p->micro_class != SL_MICRO_UNKNOWN && !p->is_sure)
		sl__doc_append(doc, SL__STYLE_DIM, " ?");
}

static void
add_absent(struct sl__doc *doc, const char *why)
{
	for (int i = 0; i < 7; i++)
		sl__doc_cell(doc, SL__STYLE_DIM, i ? "" : "-");
	sl__doc_cell(doc, SL__STYLE_WARN, "%s", why);
}

/* Where there is no room, the rate that its roof is not about goes first; a
 * title that is empty is that of bars. */
/* clang-format off */
#define COLUMNS(axis, flops, bytes) \
	{ \
		{axis, 1, 0}, {"median", 1, 0}, {"±", 1, 3}, \
		{"GFLOP/s", 1, flops}, {"GB/s", 1, bytes}, {"fits in", 0, 2}, \
		{"of roofline", 1, 0}, {"", 0, 4}, {"verdict", 0, 0} \
	}
/* clang-format on */

enum { N_COLUMNS = 9 };

static const struct sl__column *
columns_of(const struct sl_micro_series *s)
{
	static const struct sl__column columns[][2][N_COLUMNS] = {
		[SL_MICRO_AXIS_ELEMENTS] = {COLUMNS("elements", 5, 1),
					    COLUMNS("elements", 1, 5)},
		[SL_MICRO_AXIS_N] = {COLUMNS("N", 5, 1), COLUMNS("N", 1, 5)},
		[SL_MICRO_AXIS_SEQ] = {COLUMNS("seq", 5, 1),
				       COLUMNS("seq", 1, 5)},
		[SL_MICRO_AXIS_CHANNELS] = {COLUMNS("channels", 5, 1),
					    COLUMNS("channels", 1, 5)},
	};
	int is_compute = s->largest != SIZE_MAX &&
			 s->points[s->largest].roof == SL_LEVEL_COMPUTE;

	return columns[s->axis][is_compute];
}
#undef COLUMNS

static void
add_series(struct sl__doc *doc, const struct sl_micro_series *s)
{
	struct sl__micro_size_buffer size;

	sl__doc_table(doc, columns_of(s), N_COLUMNS);
	for (size_t i = 0; i < s->n_points; i++) {
		sl__doc_cell(doc, SL__STYLE_STRONG, "%s",
			     sl__micro_size_text(&size, s->points[i].value));
		if (s->points[i].absent)
			add_absent(doc, s->points[i].absent);
		else
			add_figures(doc, &s->points[i]);
	}
	sl__doc_text(doc, SL__STYLE_DIM,
		     "at a roof: 80 %% of it or more; fits in: the caches of "
		     "all threads together");
}

/* About one operator, or about all of them. */
static void
narrate(struct sl__narrative *to, const void *record, const void *parent)
{
	if (parent)
		sl__micro_narrate(to, parent, record);
	else
		sl__micro_narrate_all(to, record);
}

/* What to optimise, why, and all that is said. */
static void
tell(struct sl__json *json, const char *key, const void *record,
     const void *parent)
{
	const struct sl_micro_series *s = record;
	struct sl__phrase w;

	if (strcmp(key, "sentences") == 0)
		sl__narrator_json(json, narrate, record, parent);
	else if (strcmp(key, "reason") == 0)
		sl__json_text(json, key,
			      sl__micro_optimize_reason(&w, parent, s));
	else if (s->focus)
		sl__json_text(json, key, sl__micro_focus_advice_text(s->focus));
	else
		sl__json_absent(json, key,
				sl__micro_optimize_reason(&w, parent, s));
}

/* What it was measured against. */
static void
add_facts(struct sl__doc *doc, const struct sl_microbench *m)
{
	const struct sl_ceilings *c = &m->ceilings;
	struct sl__phrase t;

	sl__doc_text(doc, SL__STYLE_DIM, "%s on %d thread%s",
		     m->dtype ? sl_dtype_text(m->dtype) : "nothing",
		     m->n_threads, m->n_threads == 1 ? "" : "s");
	if (c->absent) {
		sl__doc_append(doc, SL__STYLE_WARN, "; no roofs: %s",
			       c->absent);
		return;
	}
	if (c->flops_per_s.n)
		sl__doc_append(doc, SL__STYLE_DIM, "; roofs: %.0f GFLOP/s",
			       c->flops_per_s.value / 1e9);
	else
		sl__doc_append(doc, SL__STYLE_DIM,
			       "; roofs: compute peak not known");
	for (size_t i = 0; i < c->n_levels; i++)
		sl__doc_append(doc, SL__STYLE_DIM, ", %s %.*f",
			       sl_level_text(c->levels[i].level),
			       c->levels[i].bytes_per_s.value < 1e11 ? 1 : 0,
			       c->levels[i].bytes_per_s.value / 1e9);
	if (c->n_levels)
		sl__doc_append(doc, SL__STYLE_DIM, " GB/s");
	if (c->step_ns.n)
		sl__doc_append(doc, SL__STYLE_DIM,
			       "; every time includes the %s of an empty step",
			       sl__phrase_time(&t, c->step_ns.value));
}

static void
add_one(struct sl__doc *doc, const struct sl_microbench *m,
	const struct sl_micro_series *s)
{
	struct sl__phrase w;

	sl__doc_heading(doc, "%s", s->name);
	sl__doc_append(doc, SL__STYLE_DIM, "  %s: %s", s->kind, s->about);
	if (!m->is_all)
		add_facts(doc, m);
	add_series(doc, s);
	sl__doc_gap(doc);
	sl__narrator_page(doc, narrate, s, m, SL__SENTENCES_MOST);
	if (s->focus)
		sl__doc_text(doc, SL__STYLE_PLAIN,
			     "- At the largest size, aim for %s (%s).",
			     sl__micro_focus_advice_text(s->focus),
			     sl__micro_optimize_reason(&w, m, s));
}

static void
add_together(struct sl__doc *doc, const struct sl_microbench *m)
{
	static const struct sl__column columns[] = {
		{"operation", 0, 0}, {"size", 1, 5},        {"median", 1, 3},
		{"±", 1, 7},         {"GFLOP/s", 1, 1},     {"GB/s", 1, 2},
		{"fits in", 0, 6},   {"of roofline", 1, 0}, {"", 0, 4},
		{"verdict", 0, 0}};

	sl__doc_table(doc, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < m->n_series; i++) {
		const struct sl_micro_series *s = &m->series[i];
		struct sl__micro_size_buffer size;

		sl__doc_cell(doc, SL__STYLE_STRONG, "%s", s->name);
		if (s->largest == SIZE_MAX) {
			sl__doc_cell(doc, SL__STYLE_DIM, "-");
			add_absent(doc, "not measured");
			continue;
		}
		sl__doc_cell(doc, SL__STYLE_PLAIN, "%s",
			     sl__micro_size_text(&size,
						 s->points[s->largest].value));
		add_figures(doc, &s->points[s->largest]);
	}
}

static void
add_focuses(struct sl__doc *doc, const struct sl_microbench *m)
{
	int is_open = 0;
	struct sl__phrase w;

	for (size_t i = 0; i < m->n_series; i++) {
		const struct sl_micro_series *s = &m->series[i];

		if (!s->focus)
			continue;
		if (!is_open)
			sl__doc_heading(doc, "What to optimise");
		is_open = 1;
		sl__doc_pair(doc, s->name, SL__STYLE_PLAIN, "%s",
			     sl__micro_focus_advice_text(s->focus));
		sl__doc_append(doc, SL__STYLE_DIM, "; %s",
			       sl__micro_optimize_reason(&w, m, s));
	}
}

static void
add_all(struct sl__doc *doc, const struct sl_microbench *m, int is_verbose)
{
	sl__doc_heading(doc, "%zu operations", m->n_series);
	sl__doc_append(doc, SL__STYLE_DIM, "  each at its largest size");
	add_facts(doc, m);
	add_together(doc, m);
	sl__doc_gap(doc);
	sl__narrator_page(doc, narrate, m, NULL, SL__SENTENCES_MOST);
	add_focuses(doc, m);
	sl__doc_heading(doc, "Crossovers");
	for (size_t i = 0; i < m->n_series; i++)
		sl__narrator_page(doc, narrate, &m->series[i], m, 1);
	for (size_t i = 0; is_verbose && i < m->n_series; i++)
		add_one(doc, m, &m->series[i]);
}

static void
page(struct sl__doc *doc, const void *result,
     const struct sl_render_options *how)
{
	const struct sl__microbench_document *r = result;

	for (size_t i = 0; i < r->n; i++) {
		const struct sl_microbench *m = r->list[i];

		if (m->is_all)
			add_all(doc, m, how->verbose);
		else
			add_one(doc, m, &m->series[0]);
		if (m->stopped_by == SL_STOP_INTERRUPT)
			sl__doc_gap(doc);
		sl__page_interrupted(doc, m->stopped_by);
	}
}

enum sl_status
sl_microbench_render(const struct sl_microbench *const *found, size_t n,
		     const struct sl_render_options *how, struct sl_buf *out,
		     struct sl_error *err)
{
	static const struct sl__renderer renderer = {
		.kind = "a microbenchmark",
		.command = "microbench",
		.page = page,
		.tell = tell,
		.table = &sl__table_microbench,
		.csv_rows = "results/microbench/operations/points",
		.csv_columns =
			"operation=../operation,kind=../kind,axis=../axis,"
			"value,shape,absent=median_ms_absent,kernel,iterations?"
			"0,"
			"median_ms,ci95_lo_ms=ci95_ms/lo,"
			"ci95_hi_ms=ci95_ms/hi,flops,bytes,working_set_bytes,"
			"intensity,gflops_per_s,gbytes_per_s,level,roof,"
			"bound_ms,roof_share,class?unknown,verdict=shown?-,"
			"sure?false",
	};
	struct sl__microbench_document result = {found, n};

	if (!n)
		return sl__fail(err, SL_E_USAGE, "nothing to report on");
	return sl__render(&renderer, &result, how, out, err);
}
