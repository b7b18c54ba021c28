/* SPDX-License-Identifier: Apache-2.0 */
/* report_gate.c - a result against its baseline, as a page. */
#include "report/render.h"
#include "report/unit.h"
#include "result/tables.h"
#include "sleuth/gating.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/banned.h"

enum { TILES_MOST = 6 };

static const char *
figure_text(struct sl__text *text, const struct sl_gate_row *r, double value)
{
	switch (r->metric) {
	case SL_GATE_TIME:
		return sl__time_text(text, value);
	case SL_GATE_MEMORY:
	case SL_GATE_SIZE:
		return sl__bytes_text(text, value);
	case SL_GATE_FLOPS:
		return sl__si_prefix_text(text, value);
	case SL_GATE_ACCURACY:
		break;
	}
	return sl__percent_text(text, value);
}

/* "+2.1 % [+1.8, +2.4]": of accuracy in points. */
static const char *
change_text(struct sl__text *text, const struct sl_gate_row *r)
{
	double base = r->metric == SL_GATE_ACCURACY ? 0 : 1;
	const struct sl_estimate *e = &r->ratio;

	if (r->metric == SL_GATE_TIME)
		snprintf(text->s, sizeof(text->s), "%+.1f %% [%+.1f, %+.1f]",
			 100 * (e->value - base), 100 * (e->lo - base),
			 100 * (e->hi - base));
	else
		snprintf(text->s, sizeof(text->s), "%+.2f %%",
			 100 * (e->value - base));
	return text->s;
}

static void
add_row(struct sl__doc *doc, const struct sl_gate_row *r, int is_named)
{
	static const struct {
		const char *word;
		enum sl__style style;
	} verdicts[] = {{"undecided", SL__STYLE_WARN},
			{"ok", SL__STYLE_GOOD},
			{"regressed", SL__STYLE_BAD}};
	struct sl__text before, now, change, limit;

	if (is_named)
		sl__doc_cell(doc, SL__STYLE_STRONG, "%s", r->name);
	sl__doc_plain_cell(doc, sl_gate_metric_text(r->metric));
	if (r->layer)
		sl__doc_append_plain(doc, " of %s", r->layer);
	sl__doc_plain_cell(doc, figure_text(&before, r, r->before));
	sl__doc_plain_cell(doc, figure_text(&now, r, r->now));
	sl__doc_plain_cell(doc, r->invalid ? "-" : change_text(&change, r));
	sl__doc_plain_cell(doc, sl__percent_text(&limit, r->limit));
	if (r->invalid)
		sl__doc_cell(doc, SL__STYLE_WARN, "invalid");
	else
		sl__doc_cell(doc, verdicts[r->verdict].style, "%s",
			     verdicts[r->verdict].word);
}

/* Whether the rows are of several results, so that each has to say of which. */
static int
has_names(const struct sl_gate_check *g)
{
	for (size_t i = 1; i < g->n_rows; i++) {
		if (strcmp(g->rows[i].name, g->rows[0].name) != 0)
			return 1;
	}
	return 0;
}

/* Why figures could not be judged: too long for a cell. */
static void
add_reasons(struct sl__doc *doc, const struct sl_gate_check *g)
{
	for (size_t i = 0; i < g->n_rows; i++) {
		const struct sl_gate_row *r = &g->rows[i];

		if (r->invalid)
			sl__doc_text(doc, SL__STYLE_WARN,
				     "Invalid: %s of %s: %s.",
				     sl_gate_metric_text(r->metric),
				     r->layer ? r->layer : r->name, r->invalid);
	}
}

static void
write_page(struct sl__doc *doc, const void *result,
	   const struct sl_render_options *how)
{
	static const struct sl__column columns[] = {
		{"model", 0, 0},  {"figure", 0, 0}, {"baseline", 1, 1},
		{"now", 1, 0},    {"change", 1, 0}, {"limit", 1, 0},
		{"verdict", 0, 0}};
	const struct sl_gate_check *g = result;
	int has_time = 0, is_named = has_names(g);

	(void)how;
	if (is_named || !g->n_rows)
		sl__doc_heading(doc, "Results against their baseline");
	else
		sl__doc_heading(doc, "%s against its baseline",
				g->rows[0].name);
	if (g->is_fresh)
		sl__doc_text(doc, SL__STYLE_DIM,
			     "Both sides were measured now, in the same "
			     "rounds.");
	if (!g->n_rows) {
		sl__doc_text(doc, SL__STYLE_WARN,
			     "Invalid: no figure of the result is in the "
			     "baseline, too.");
		return;
	}
	sl__doc_table(doc, is_named ? columns : columns + 1,
		      sizeof(columns) / sizeof(columns[0]) - !is_named);
	for (size_t i = 0; i < g->n_rows; i++) {
		add_row(doc, &g->rows[i], is_named);
		has_time |= g->rows[i].metric == SL_GATE_TIME &&
			    !g->rows[i].invalid;
	}
	add_reasons(doc, g);
	if (g->is_disturbed)
		sl__doc_text(doc, SL__STYLE_WARN,
			     "Most of the measurement was disturbed: a time "
			     "that seems to be within its limit is undecided.");
	if (has_time && !g->is_fresh && g->n_baselines < 5)
		sl__doc_text(doc, SL__STYLE_DIM,
			     "The intervals of times cover what happened "
			     "within each run. Five results of the baseline "
			     "would show how runs differ; 'sleuth compare' "
			     "measures both sides together.");
}

/* How a figure changed, and from what to what. */
static void
add_tile(struct sl__views *v, const struct sl_gate_row *r)
{
	struct sl__text before, now, limit;
	double base = r->metric == SL_GATE_ACCURACY ? 0 : 1, percent;
	char label[160], change[32];

	snprintf(label, sizeof(label), "%s of %s",
		 sl_gate_metric_text(r->metric), r->layer ? r->layer : r->name);
	if (r->invalid) {
		sl__views_tile(v, label, "", "–", "%s", r->invalid);
		return;
	}
	percent = 100 * (r->ratio.value - base);
	if (fabs(percent) < 0.05)
		percent = 0; /* no sign of what reads as none */
	snprintf(change, sizeof(change), "%+.1f %%", percent);
	sl__views_tile(v, label, "", change, "%s to %s, limit %s",
		       figure_text(&before, r, r->before),
		       figure_text(&now, r, r->now),
		       sl__percent_text(&limit, r->limit));
}

static void
write_views(struct sl__views *v, const void *result)
{
	static const char *const verdicts[] = {
		[SL_GATE_UNDECIDED] = "Undecided",
		[SL_GATE_OK] = "Within the limits",
		[SL_GATE_REGRESSED] = "Regressed"};
	const struct sl_gate_check *g = result;
	int is_invalid = g->is_invalid && g->verdict != SL_GATE_REGRESSED;

	sl__views_title(v, is_invalid ? "Invalid" : verdicts[g->verdict],
			"Gate", "%zu figure%s against %zu result%s", g->n_rows,
			g->n_rows == 1 ? "" : "s", g->n_baselines,
			g->n_baselines == 1 ? "" : "s");
	sl__views_open(v, "summary", "Summary");
	for (size_t i = 0; i < g->n_rows && i < TILES_MOST; i++)
		add_tile(v, &g->rows[i]);
}

enum sl_status
sl_gate_check_render(const struct sl_gate_check *check,
		     const struct sl_render_options *how, struct sl_buf *out,
		     struct sl_error *err)
{
	static const struct sl__renderer renderer = {
		.kind = "a gate",
		.command = "gate",
		.page = write_page,
		.views = write_views,
		.table = &sl__table_gate,
		.csv_rows = "gate/limits",
		.csv_columns =
			"metric,name,layer,limit,before,now,ratio,verdict",
	};

	return sl__render(&renderer, check, how, out, err);
}
