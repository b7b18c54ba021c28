/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile_why.c - all that a profile knows of one operation: its work and its
 * rates, how it answered each experiment, what that speaks for.
 */
#include "report/profile_page.h"
#include "report/unit.h"
#include "result/step_evidence.h"

#include <math.h>
#include <string.h>

#include "base/banned.h"

/* The longest of that name; NULL: there is none. */
static const struct sl_operation *
asked_about(const struct sl_profile *p)
{
	for (size_t i = 0; i < p->n_operations; i++) {
		const struct sl_operation *o = &p->operations[p->by_time[i]];

		if (!strcmp(o->name, p->why))
			return o;
	}
	return NULL;
}

static void
add_what(struct sl__doc *doc, const struct sl_operation *o)
{
	sl__doc_heading(doc, "Why: %s", o->name);
	sl__doc_append_dim(doc, "  %s", o->type);
	if (o->n_covers > 1) {
		sl__doc_plain_pair(doc, "covers", "%s", o->covers[0]);
		for (size_t i = 1; i < o->n_covers; i++)
			sl__doc_append_plain(doc, ", %s", o->covers[i]);
	}
	sl__doc_plain_pair(doc, "computed by", "%s (%s)", o->kernel,
			   sl_path_text(o->path));
	if (o->dtype)
		sl__doc_append_plain(doc, ", in %s", sl_dtype_text(o->dtype));
}

static void
add_work(struct sl__doc *doc, const struct sl__profile_sheet *sheet,
	 const struct sl_operation *o)
{
	struct sl__text a;

	sl__doc_plain_pair(
		doc, "time", "%s",
		sl__time_estimate(&a, &o->median_ns, sheet->how->unit));
	sl__doc_append_plain(doc, " a call, %s of the iteration",
			     sl__percent_text(&a, o->share));
	if (o->uncounted) {
		sl__doc_pair(doc, "work", SL__STYLE_DIM, "not known: %s",
			     o->uncounted);
		return;
	}
	sl__doc_plain_pair(doc, "work", "executes %sFLOP",
			   sl__si_prefix_text(&a, (double)o->executed_flops));
	sl__doc_append_plain(doc, ", moves %sB",
			     sl__si_prefix_text(&a, (double)o->n_bytes));
	if (isfinite(o->executed_flops_per_s))
		sl__doc_append_plain(
			doc, ": %sFLOP/s",
			sl__si_prefix_text(&a, o->executed_flops_per_s));
	if (isfinite(o->bytes_per_s))
		sl__doc_append_plain(doc, ", %sB/s",
				     sl__si_prefix_text(&a, o->bytes_per_s));
	if (o->bound_ns > 0 && isfinite(o->ceiling_share))
		sl__doc_append_plain(doc, "; %s of its roof",
				     sl__percent_text(&a, o->ceiling_share));
}

static const char *const conditions[SL_N_CONDITIONS] = {
	[SL_CONDITION_IN_PLACE] = "as in the model",
	[SL_CONDITION_WARM] = "operands in cache",
	[SL_CONDITION_COLD] = "from empty caches",
	[SL_CONDITION_ALONE] = "on one thread",
	[SL_CONDITION_HOGGED] = "so, beside a bandwidth hog",
	[SL_CONDITION_DOUBLED] = "at twice the batch",
};

/* A row for each condition; what was not measured says why. */
static void
add_experiments(struct sl__doc *doc, const struct sl__profile_sheet *sheet,
		const struct sl_response *r)
{
	static const struct sl__column columns[] = {{"experiment", 0, 0},
						    {"a call", 1, 0},
						    {"spread", 1, 2},
						    {"calls", 1, 1},
						    {"ratio", 1, 0}};
	const double in_place = r->at[SL_CONDITION_IN_PLACE].ns;

	sl__doc_table(doc, columns, 5);
	for (int k = 0; k < SL_N_CONDITIONS; k++) {
		const struct sl_timed *t = &r->at[k];
		struct sl__text a;

		if (!t->n)
			continue;
		sl__doc_plain_cell(doc, conditions[k]);
		sl__doc_cell(
			doc, SL__STYLE_PLAIN, "%s",
			sl__time_text_in_unit(&a, t->ns, sheet->how->unit));
		sl__doc_cell(doc, SL__STYLE_DIM, "%s",
			     sl__percent_text(&a, t->spread));
		sl__doc_cell(doc, SL__STYLE_DIM, "%zu", t->n);
		sl__doc_cell(doc, SL__STYLE_PLAIN, "%.2f ×", t->ns / in_place);
	}
	for (int k = 0; k < SL_N_CONDITIONS; k++) {
		if (!r->at[k].n && r->at[k].absent)
			sl__doc_text(doc, SL__STYLE_DIM, "not %s: %s",
				     conditions[k], r->at[k].absent);
	}
}

static void
add_answer(struct sl__doc *doc, const struct sl_judgement *j)
{
	int is_open = j->bound == SL_BOUND_UNKNOWN;

	sl__doc_pair(doc, "bound by",
		     is_open ? SL__STYLE_WARN : SL__STYLE_STRONG, "%s",
		     sl_bound_text(j->bound));
	if (j->likelihood[0] > 0) {
		sl__doc_plain_pair(doc, "nearest", "%s %.2f",
				   sl_bound_text(j->nearest[0]),
				   j->likelihood[0]);
		sl__doc_append_plain(doc, ", then %s %.2f",
				     sl_bound_text(j->nearest[1]),
				     j->likelihood[1]);
		sl__doc_append_dim(doc, "; an answer takes 0.80");
	}
	sl__profile_reasons(doc, is_open ? "because" : "evidence", j->evidence,
			    j->n_evidence, 1);
	sl__profile_reasons(doc, "against", j->against, j->n_against, 1);
}

void
sl__profile_why(struct sl__doc *doc, const struct sl__profile_sheet *sheet)
{
	const struct sl_operation *o = asked_about(sheet->profile);

	if (!o)
		return;
	add_what(doc, o);
	add_work(doc, sheet, o);
	if (sl__profile_is_disturbed(sheet->profile))
		sl__doc_pair(doc, "bound by", SL__STYLE_WARN,
			     "unknown: others had too much of the CPUs");
	else
		add_answer(doc, &o->judgement);
	if (o->response)
		add_experiments(doc, sheet, o->response);
	else
		sl__doc_text(doc, SL__STYLE_DIM,
			     "No experiments were made on it.");
}
