/* SPDX-License-Identifier: Apache-2.0 */
/* report_store.c - the list of results in a store. */
#include "report/render.h"
#include "report/unit.h"
#include "result/tables.h"
#include "sleuth/storing.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/banned.h"

/* What it is about, and the time of the first: "a, b and 3 more". */
static void
add_names(struct sl__doc *doc, const struct sl_stored_run *r)
{
	sl__doc_cell(doc, SL__STYLE_PLAIN, "%s",
		     r->n_points ? r->points[0].name : "-");
	if (r->n_points > 1)
		sl__doc_append_dim(doc, " and %zu more", r->n_points - 1);
}

static void
add_tags(struct sl__doc *doc, const struct sl_stored_run *r)
{
	sl__doc_cell(doc, SL__STYLE_DIM, "%s", r->n_tags ? "" : "-");
	for (size_t i = 0; i < r->n_tags; i++)
		sl__doc_append_dim(doc, "%s%s=%s", i ? " " : "",
				   r->tags[i].name, r->tags[i].value);
}

static void
add_row(struct sl__doc *doc, const struct sl_stored_run *r)
{
	struct sl__text date, time;

	sl__doc_cell(doc, SL__STYLE_STRONG, "run:%" PRIu64, r->id);
	sl__doc_cell(doc, SL__STYLE_DIM, "%s",
		     sl__date_text(&date, r->saved_at_s));
	sl__doc_plain_cell(doc, r->command);
	add_names(doc, r);
	sl__doc_plain_cell(
		doc, r->n_points == 1
			     ? sl__time_text(&time, r->points[0].time_ns.value)
			     : "-");
	sl__doc_cell(doc, SL__STYLE_PLAIN, "%.10s%s",
		     r->commit ? r->commit : "-", r->is_dirty ? "+" : "");
	sl__doc_plain_cell(doc, r->branch ? r->branch : "-");
	add_tags(doc, r);
	sl__doc_cell(doc, SL__STYLE_DIM, "%.8s", r->machine);
}

static void
write_page(struct sl__doc *doc, const void *result,
	   const struct sl_render_options *how)
{
	static const struct sl__column columns[] = {
		{"run", 0, 0},    {"saved (UTC)", 0, 3}, {"command", 0, 0},
		{"of", 0, 0},     {"median", 1, 0},      {"commit", 0, 0},
		{"branch", 0, 1}, {"tags", 0, 2},        {"machine", 0, 4}};
	const struct sl_stored_runs *runs = result;
	int is_dirty = 0;

	(void)how;
	if (!runs->n) {
		sl__doc_text(doc, SL__STYLE_PLAIN, "No result matches.");
		return;
	}
	sl__doc_table(doc, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < runs->n; i++) {
		add_row(doc, &runs->list[i]);
		is_dirty |= runs->list[i].is_dirty;
	}
	if (is_dirty)
		sl__doc_text(doc, SL__STYLE_DIM,
			     "+: files differed from the commit");
}

enum sl_status
sl_stored_runs_render(const struct sl_stored_runs *runs,
		      const struct sl_render_options *how, struct sl_buf *out,
		      struct sl_error *err)
{
	static const struct sl__renderer renderer = {
		.kind = "a list of results",
		.command = "show",
		.page = write_page,
		.table = &sl__table_stored_runs,
		.csv_rows = "runs",
		.csv_columns = "id,saved_at,command,machine,commit,branch,"
			       "dirty",
	};

	return sl__render(&renderer, runs, how, out, err);
}
