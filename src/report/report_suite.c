/* SPDX-License-Identifier: Apache-2.0 */
/* report_suite.c - a suite of benchmarks: one table over models and variants. */
#include "report/figures.h"
#include "report/render.h"
#include "report/result_page.h"
#include "report/unit.h"
#include "result/tables.h"
#include "sleuth/suites.h"

#include <math.h>
#include <stdio.h>

#include "base/banned.h"

static int
is_of_one_scenario(const struct sl_suite *s)
{
	for (size_t i = 1; i < s->n_cells; i++) {
		if (s->cells[i].scenario != s->cells[0].scenario)
			return 0;
	}
	return 1;
}

/* "digits", "digits offline" */
static const char *
cell_name(struct sl__text *t, const struct sl_suite *s,
	  const struct sl_suite_cell *c)
{
	snprintf(t->s, sizeof(t->s), "%.40s%s%s", c->name,
		 is_of_one_scenario(s) ? "" : " ",
		 is_of_one_scenario(s) ? "" : sl_scenario_text(c->scenario));
	return t->s;
}

static void
add_ratio(struct sl__doc *doc, const struct sl_suite *s, size_t i)
{
	const struct sl_suite_cell *c = &s->cells[i];
	enum sl__style style = c->ratio.hi < 1   ? SL__STYLE_GOOD
			       : c->ratio.lo > 1 ? SL__STYLE_WARN
						 : SL__STYLE_PLAIN;
	struct sl__text t;

	if (c->baseline == i || !c->ratio.n) {
		sl__doc_cell(doc, SL__STYLE_DIM, "%s",
			     c->baseline == i ? "baseline" : "-");
		sl__doc_cell(doc, SL__STYLE_DIM, "%s", "");
		return;
	}
	sl__doc_cell(doc, style, "%s", sl__ratio_value(&t, &c->ratio));
	sl__doc_cell(doc, style, "%s", sl__ratio_bounds_text(&t, &c->ratio));
}

static void
add_time(struct sl__doc *doc, const struct sl_estimate *time_ns,
	 const char *unit)
{
	struct sl__text t;

	if (!time_ns->n) {
		sl__doc_absent_cell(doc);
		sl__doc_absent_cell(doc);
		return;
	}
	sl__doc_plain_cell(doc, sl__time_value(&t, time_ns, unit));
	sl__doc_plain_cell(doc, sl__time_bounds_text(&t, time_ns, unit));
}

static void
add_cell(struct sl__doc *doc, const struct sl_suite *s, size_t i,
	 const struct sl_render_options *how)
{
	const struct sl_suite_cell *c = &s->cells[i];
	struct sl__text t;

	sl__doc_cell(doc, SL__STYLE_STRONG, "%s", cell_name(&t, s, c));
	sl__doc_plain_cell(doc, c->variant);
	if (c->failed) {
		sl__doc_cell(doc, SL__STYLE_BAD, "failed");
		for (int k = 0; k < 7; k++)
			sl__doc_absent_cell(doc);
		return;
	}
	add_time(doc, &c->time_ns, how->unit);
	add_ratio(doc, s, i);
	sl__doc_plain_cell(doc, sl__bytes_text(&t, (double)c->memory_bytes));
	sl__doc_plain_cell(doc, sl__bytes_text(&t, (double)c->size_bytes));
	sl__doc_plain_cell(doc,
			   c->accuracy_absent
				   ? "-"
				   : sl__share_text(&t, c->accuracy.value));
	if (c->energy_j.absent)
		sl__doc_absent_cell(doc);
	else
		sl__doc_cell(doc, SL__STYLE_PLAIN, "%.3g J", c->energy_j.value);
}

static void
add_table(struct sl__doc *doc, const struct sl_suite *s,
	  const struct sl_render_options *how)
{
	static const struct sl__column columns[] = {
		{"model", 0, 0},    {"variant", 0, 0},    {"time", 1, 0},
		{"its 95 %", 0, 4}, {"× baseline", 1, 0}, {"95 %", 0, 1},
		{"memory", 1, 5},   {"size", 1, 3},       {"accuracy", 1, 2},
		{"energy", 1, 6}};

	sl__doc_table(doc, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < s->n_cells; i++)
		add_cell(doc, s, i, how);
}

/* Why cells have no figures, each reason once for neighbours that share it. */
static void
add_failures(struct sl__doc *doc, const struct sl_suite *s)
{
	struct sl__text t;

	for (size_t i = 0; i < s->n_cells; i++) {
		const struct sl_suite_cell *c = &s->cells[i];

		if (c->failed)
			sl__doc_text(doc, SL__STYLE_BAD, "%s, %s: %s",
				     cell_name(&t, s, c), c->variant,
				     c->failed);
	}
	for (size_t i = 0; i < s->n_cells; i++) {
		const struct sl_suite_cell *c = &s->cells[i];
		int is_missed = 0;

		for (size_t k = 0; k < c->n_limits; k++)
			is_missed |= c->limits[k].metric == SL_GATE_ACCURACY;
		if (c->accuracy_absent && !c->failed && is_missed)
			sl__doc_text(doc, SL__STYLE_WARN,
				     "%s, %s: no accuracy: %s",
				     cell_name(&t, s, c), c->variant,
				     c->accuracy_absent);
	}
}

static const char *
figure_text(struct sl__text *t, enum sl_gate_metric metric, double value)
{
	return metric == SL_GATE_TIME       ? sl__time_text(t, value)
	       : metric == SL_GATE_ACCURACY ? sl__percent_text(t, value)
					    : sl__bytes_text(t, value);
}

static void
add_limits(struct sl__doc *doc, const struct sl_suite *s)
{
	struct sl__text name, value, limit;
	size_t n = 0, n_ok = 0;

	for (size_t i = 0; i < s->n_cells; i++) {
		const struct sl_suite_cell *c = &s->cells[i];

		for (size_t k = 0; k < c->n_limits; k++, n++) {
			const struct sl_suite_limit *l = &c->limits[k];
			int is_bad = l->verdict == SL_GATE_REGRESSED;

			n_ok += l->verdict == SL_GATE_OK;
			if (l->verdict == SL_GATE_OK)
				continue;
			sl__doc_text(doc,
				     is_bad ? SL__STYLE_BAD : SL__STYLE_WARN,
				     "%s: %s, %s: %s %s, %s allowed",
				     is_bad ? "Over the limit" : "Undecided",
				     cell_name(&name, s, c), c->variant,
				     sl_gate_metric_text(l->metric),
				     figure_text(&value, l->metric, l->value),
				     figure_text(&limit, l->metric, l->limit));
			if (l->metric == SL_GATE_TIME && c->time_ns.needs_n)
				sl__doc_append_plain(doc,
						     "; an interval needs %zu "
						     "repetitions",
						     c->time_ns.needs_n);
		}
	}
	if (n)
		sl__doc_text(doc, n_ok == n ? SL__STYLE_GOOD : SL__STYLE_PLAIN,
			     "%zu of %zu limits hold.", n_ok, n);
}

static void
add_lock(struct sl__doc *doc, const struct sl_suite *s)
{
	if (s->unsaved)
		sl__doc_text(doc, SL__STYLE_WARN, "Not kept: %s.", s->unsaved);
	if (s->is_new_lock)
		sl__doc_text(doc, SL__STYLE_DIM,
			     "%s says what defines these results.",
			     s->lock_path);
	for (size_t i = 0; i < s->n_differences; i++) {
		const struct sl_suite_difference *d = &s->differences[i];

		if (!i)
			sl__doc_text(doc, SL__STYLE_WARN,
				     "Differs from %s:", s->lock_path);
		sl__doc_pair(doc, d->name, SL__STYLE_PLAIN, "%s -> %s",
			     d->locked ? d->locked : "-",
			     d->now ? d->now : "-");
	}
}

static int
has_interval(const struct sl_suite *s)
{
	for (size_t i = 0; i < s->n_cells; i++) {
		if (!isnan(s->cells[i].time_ns.lo))
			return 1;
	}
	return 0;
}

static void
page(struct sl__doc *doc, const void *result,
     const struct sl_render_options *how)
{
	const struct sl_suite *s = result;
	struct sl__text t;

	sl__doc_heading(doc, "Suite %s", s->name);
	sl__doc_text(doc, SL__STYLE_DIM,
		     "%zu cell%s, %zu repetition%s of %zu round%s in random "
		     "order, seed %llu; %s",
		     s->n_cells, s->n_cells == 1 ? "" : "s", s->n_done,
		     s->n_done == 1 ? "" : "s", s->n_rounds,
		     s->n_rounds == 1 ? "" : "s", (unsigned long long)s->seed,
		     sl__time_text(&t, 1e9 * s->elapsed_s));
	if (s->n_resumed)
		sl__doc_append_dim(doc, ", %zu repetitions were there",
				   s->n_resumed);
	if (s->n_batches > 1)
		sl__doc_text(doc, SL__STYLE_WARN,
			     "The cells do not fit into %s together: they ran "
			     "in %zu batches.",
			     sl__bytes_text(&t, (double)s->memory_bytes),
			     s->n_batches);
	sl__doc_gap(doc);
	add_table(doc, s, how);
	if (has_interval(s))
		sl__doc_text(doc, SL__STYLE_DIM,
			     "95 %%: one more repetition, and so another run, "
			     "comes out within these bounds.");
	sl__doc_gap(doc);
	add_failures(doc, s);
	add_limits(doc, s);
	add_lock(doc, s);
	sl__page_noise_warning(doc, &s->noise, "slot");
	if (s->stopped_by == SL_STOP_INTERRUPT)
		sl__doc_text(doc, SL__STYLE_WARN,
			     "Interrupted after %zu of %zu repetitions%s",
			     s->n_done, s->n_repetitions,
			     s->lock_path && !s->unsaved
				     ? "; the same command goes on from there."
				     : ".");
}

enum sl_status
sl_suite_render(const struct sl_suite *s, const struct sl_render_options *how,
		struct sl_buf *out, struct sl_error *err)
{
	static const struct sl__renderer renderer = {
		.kind = "a suite",
		.command = "suite",
		.page = page,
		.views = sl__suite_views,
		.table = &sl__table_suite,
		.csv_rows = "suite/cells",
		.csv_columns =
			"name,model,variant,scenario,batch,dtype,threads,"
			"median_ms,lo_ms=median_ci95_ms/lo,"
			"hi_ms=median_ci95_ms/hi,time_ratio,memory_bytes,"
			"size_bytes,accuracy,energy_j,failed",
	};

	return sl__render(&renderer, s, how, out, err);
}
