/* SPDX-License-Identifier: Apache-2.0 */
/* report_overhead.c - what instrumentation of a model costs. */
#include "report/render.h"
#include "report/section.h"
#include "report/unit.h"
#include "result/tables.h"

#include "base/banned.h"

static enum sl__style
style_of(enum sl_fitness fitness)
{
	switch (fitness) {
	case SL_FITNESS_ALWAYS:
		return SL__STYLE_GOOD;
	case SL_FITNESS_INVESTIGATION:
		return SL__STYLE_WARN;
	case SL_FITNESS_DEVELOPMENT:
	case SL_FITNESS_UNKNOWN:
		break;
	}
	return SL__STYLE_PLAIN;
}

static void
row(struct sl__doc *doc, const struct sl_overhead_row *r)
{
	struct sl__text t[4];

	sl__doc_cell(doc, SL__STYLE_PLAIN, "%s",
		     sl_instrumentation_text(r->instrumentation));
	sl__doc_cell(doc, SL__STYLE_PLAIN, "%zu", r->n_events);
	sl__doc_cell(doc, SL__STYLE_PLAIN, "%s",
		     sl__time_text(&t[0], r->event_ns));
	sl__doc_cell(doc, SL__STYLE_PLAIN, "%s",
		     sl__time_estimate(&t[1], &r->extra_ns, NULL));
	sl__doc_cell(doc, SL__STYLE_PLAIN, "%s",
		     sl__percent_text(&t[2], r->share));
	sl__doc_cell(doc, style_of(r->fitness), "%s",
		     sl_fitness_text(r->fitness));
}

static void
page(struct sl__doc *doc, const void *result,
     const struct sl_render_options *how)
{
	static const struct sl__column columns[] = {
		{"instrumentation", 0, 0}, {"events", 1, 2},
		{"per event", 1, 1},       {"per iteration", 1, 0},
		{"overhead", 1, 0},        {"suitable for", 0, 0}};
	const struct sl_overhead_study *s = result;
	struct sl__text t;

	(void)how;
	sl__doc_heading(doc, "%s", s->name);
	sl__doc_append(doc, SL__STYLE_DIM,
		       "  what instrumentation costs; %zu step%s, %d thread%s",
		       s->n_steps, s->n_steps == 1 ? "" : "s", s->n_threads,
		       s->n_threads == 1 ? "" : "s");
	sl__doc_pair(doc, "baseline", SL__STYLE_STRONG, "%s",
		     sl__time_estimate(&t, &s->bare_ns, NULL));
	sl__doc_pair(doc, "rounds", SL__STYLE_PLAIN,
		     "%zu, each with all variants in random order, seed %llu",
		     s->n_rounds, (unsigned long long)s->seed);
	sl__doc_gap(doc);
	sl__doc_table(doc, columns, sizeof(columns) / sizeof(columns[0]));
	for (int i = 0; i < SL_N_INSTRUMENTATIONS; i++)
		row(doc, &s->rows[i]);
	sl__doc_gap(doc);
	sl__doc_text(doc, SL__STYLE_DIM,
		     "By the interval's upper end: always: at most 1 %%; "
		     "development: at "
		     "most 5 %%; investigation only: more; unknown: the "
		     "interval is too wide to tell.");
}

enum sl_status
sl_overhead_study_render(const struct sl_overhead_study *study,
			 const struct sl_render_options *how,
			 struct sl_buf *out, struct sl_error *err)
{
	static const struct sl__renderer renderer = {
		.kind = "a study of overhead",
		.command = "overhead",
		.page = page,
		.table = &sl__table_overhead,
		.csv_rows = "overhead/levels",
		.csv_columns = "model=../../model/"
			       "name,instrumentation=name,events,event_ms,"
			       "extra_ms,extra_lo_ms=extra_ci95_ms/lo,"
			       "extra_hi_ms=extra_ci95_ms/hi,share,fit_for",
	};

	return sl__render(&renderer, study, how, out, err);
}
