/* SPDX-License-Identifier: Apache-2.0 */
/* report_overhead.c - what instrumentation of a model costs. */
#include "report/render.h"
#include "report/section.h"
#include "report/unit.h"
#include "result/tables.h"
#include "sleuth/overheads.h"

#include <math.h>

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

static int
is_significant(const struct sl_overhead_row *r)
{
	return r->extra_ns.lo > 0 || r->extra_ns.hi < 0;
}

/* "0.34 %", or where that may be noise, what it is less than: "< 1.2 %". */
static void
add_overhead(struct sl__doc *doc, const struct sl_overhead_row *r,
	     double bare_ns)
{
	double most = r->extra_ns.hi / bare_ns;
	struct sl__text t;

	if (is_significant(r) || !isfinite(most))
		sl__doc_cell(doc, SL__STYLE_STRONG, "%s",
			     sl__percent_text(&t, r->share));
	else
		sl__doc_cell(doc, SL__STYLE_PLAIN, "< %.*f %%",
			     most < 0.0095  ? 2
			     : most < 0.095 ? 1
					    : 0,
			     100 * most);
}

static void
row(struct sl__doc *doc, const struct sl_overhead_row *r, double bare_ns)
{
	/* Of the interval: the value may be next to nothing. */
	const char *unit = sl__unit_of_time(
		fmax(fabs(r->extra_ns.lo), fabs(r->extra_ns.hi)));
	struct sl__text t[2];

	sl__doc_cell(doc, SL__STYLE_PLAIN, "%s",
		     sl_instrumentation_text(r->instrumentation));
	sl__doc_cell(doc, SL__STYLE_PLAIN, "%zu", r->n_events);
	sl__doc_cell(doc, SL__STYLE_PLAIN, "%s",
		     sl__time_text(&t[0], r->event_ns));
	sl__doc_cell(doc, SL__STYLE_PLAIN, "%s",
		     sl__time_estimate(&t[1], &r->extra_ns, unit));
	add_overhead(doc, r, bare_ns);
	sl__doc_cell(doc, style_of(r->fitness), "%s",
		     sl_fitness_text(r->fitness));
}

static void
page(struct sl__doc *doc, const void *result,
     const struct sl_render_options *how)
{
	static const struct sl__column columns[] = {
		{"instrumentation", 0, 0}, {"events", 1, 2},
		{"per event", 1, 3},       {"added [95 %]", 1, 0},
		{"overhead", 1, 0},        {"suitable for", 0, 1}};
	const struct sl_overhead_study *s = result;
	int n_noisy = 0;
	struct sl__text t;

	(void)how;
	sl__doc_heading(doc, "%s", s->name);
	sl__doc_append(doc, SL__STYLE_DIM,
		       "  what instrumentation costs; %zu step%s, %d thread%s",
		       s->n_steps, s->n_steps == 1 ? "" : "s", s->n_threads,
		       s->n_threads == 1 ? "" : "s");
	sl__doc_pair(doc, "baseline", SL__STYLE_STRONG, "%s",
		     sl__time_estimate(&t, &s->bare_ns, NULL));
	sl__doc_append_dim(doc, " per iteration without instrumentation");
	sl__doc_pair(doc, "rounds", SL__STYLE_PLAIN,
		     "%zu, each with all variants in random order, seed %llu",
		     s->n_rounds, (unsigned long long)s->seed);
	sl__doc_gap(doc);
	sl__doc_table(doc, columns, sizeof(columns) / sizeof(columns[0]));
	for (int i = 0; i < SL_N_INSTRUMENTATIONS; i++) {
		row(doc, &s->rows[i], s->bare_ns.value);
		n_noisy += !is_significant(&s->rows[i]);
	}
	sl__doc_gap(doc);
	if (n_noisy)
		sl__doc_text(doc, SL__STYLE_PLAIN,
			     "%s significant: < shows only the upper end of "
			     "the interval. More --time narrows it.",
			     n_noisy == SL_N_INSTRUMENTATIONS
				     ? "None of the differences is"
				     : "Differences with < are not");
	sl__doc_text(doc, SL__STYLE_DIM,
		     "scope: sl_scope_begin() to sl_scope_end(), with "
		     "resources also CPU time, page faults and memory; "
		     "timestamps: the clock is read after each step; hooks: "
		     "a function is called before and after each step.");
	sl__doc_text(doc, SL__STYLE_DIM,
		     "Suitable by the upper end of the interval: always up to "
		     "1 %%, for development up to 5 %%, else for "
		     "investigation only; unknown where the interval is too "
		     "wide to tell.");
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
