/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile_traffic.c - what operations move between caches.
 *
 * A column for each memory that something comes from; one beside it where
 * counters said how much.  The last row is a whole iteration.
 */
#include "report/doc_names.h"
#include "report/profile_page.h"
#include "report/unit.h"

#include <math.h>

#include "base/banned.h"

enum { COLUMNS_MOST = 3 + 2 * SL_TRAFFIC_MOST, LABEL_COLUMNS = 28 };

/* What the table is of: an operation that has all levels, and which of them
 * were counted. */
struct moved {
	const struct sl_profile *p;
	const struct sl_operation *model;
	int is_counted[SL_TRAFFIC_MOST];
};

static void
find_levels(struct moved *m)
{
	for (size_t i = 0; i < m->p->n_operations; i++) {
		const struct sl_operation *o = &m->p->operations[i];

		if (o->n_traffic && !m->model)
			m->model = o;
		for (size_t k = 0; k < o->n_traffic; k++)
			m->is_counted[k] |=
				!isnan(o->traffic[k].measured_bytes.value);
	}
}

static void
open_table(struct sl__doc *doc, const struct moved *m)
{
	struct sl__column c[COLUMNS_MOST] = {
		{"operation", 0, 0}, {"touches", 1, 0}, {"fits", 0, 5}};
	size_t n = 3;

	for (size_t k = 0; k < m->model->n_traffic; k++) {
		enum sl_level level = m->model->traffic[k].level;

		c[n].title = sl__doc_text_or_nomem(
			doc, sl__arena_format(&doc->arena, "from %s",
					      sl_level_text(level)));
		c[n++].right = 1;
		if (m->is_counted[k])
			c[n++] =
				(struct sl__column){"counted", 1, (int)(4 - k)};
	}
	sl__doc_table(doc, c, n);
}

static void
add_bytes(struct sl__doc *doc, double n_bytes)
{
	struct sl__text t;

	if (isnan(n_bytes))
		sl__doc_absent_cell(doc);
	else
		sl__doc_cell(doc, n_bytes > 0 ? SL__STYLE_PLAIN : SL__STYLE_DIM,
			     "%s", sl__bytes_text(&t, n_bytes));
}

static void
add_row(struct sl__doc *doc, const struct moved *m,
	const struct sl_operation *o)
{
	sl__doc_plain_cell(doc,
			   sl__doc_layer_name(doc, o->name, LABEL_COLUMNS));
	add_bytes(doc, (double)o->working_set_bytes);
	sl__doc_cell(doc, SL__STYLE_DIM, "%s",
		     o->level ? sl_level_text(o->level) : "-");
	for (size_t k = 0; k < m->model->n_traffic; k++) {
		add_bytes(doc, k < o->n_traffic ? o->traffic[k].predicted_bytes
						: (double)NAN);
		if (m->is_counted[k])
			add_bytes(doc,
				  k < o->n_traffic
					  ? o->traffic[k].measured_bytes.value
					  : (double)NAN);
	}
}

/* Of all operations; what was counted was not counted of all. */
static void
add_pass(struct sl__doc *doc, const struct moved *m)
{
	sl__doc_cell(doc, SL__STYLE_STRONG, "a whole iteration");
	sl__doc_plain_cell(doc, "");
	sl__doc_plain_cell(doc, "");
	for (size_t k = 0; k < m->model->n_traffic; k++) {
		double sum = 0;

		for (size_t i = 0; i < m->p->n_operations; i++) {
			const struct sl_operation *o = &m->p->operations[i];

			if (k < o->n_traffic)
				sum += o->n_calls *
				       o->traffic[k].predicted_bytes;
		}
		add_bytes(doc, sum);
		if (m->is_counted[k])
			sl__doc_plain_cell(doc, "");
	}
}

void
sl__profile_traffic(struct sl__doc *doc, const struct sl__profile_sheet *sheet)
{
	const struct sl_profile *p = sheet->profile;
	struct moved m = {.p = p};
	size_t n = p->n_hot ? p->n_hot : p->n_for_80;

	find_levels(&m);
	if (!m.model)
		return;
	sl__doc_heading(doc, "What moves between caches");
	sl__doc_append_dim(doc, "  predicted, a call, in and back");
	open_table(doc, &m);
	for (size_t i = 0; i < n && i < p->n_operations; i++)
		add_row(doc, &m, &p->operations[p->by_time[i]]);
	add_pass(doc, &m);
	sl__profile_explain(doc, SL__TOPIC_TRAFFIC, sheet);
}
