/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile_find.c - what follows from a profile: what bounds the model, how far
 * it is from the machine, and what would help.
 */
#include "report/doc_names.h"
#include "report/fact_text.h"
#include "report/profile_page.h"
#include "report/unit.h"
#include "result/step_evidence.h"

#include <math.h>
#include <string.h>

#include "base/banned.h"

enum {
	AMDAHL_SHOWN = 3,
	ADVICE_SHOWN = 3,
	MIN_LABEL = 16,
	LONG_NAME = 32,  /* bytes beyond which advice cuts it */
	MEANINGFUL = 50, /* a speed-up beyond leaves nothing of the model */
	WIDE = 90        /* columns from which on all speed-ups fit */
};

void
sl__profile_reasons(struct sl__doc *doc, const char *key,
		    const struct sl_fact *reasons, size_t n, int is_whole)
{
	for (size_t i = 0; i < n; i++) {
		/* The verdict gave the shares. */
		if (!is_whole && reasons[i].kind == SL_FACT_TIME_SHARE)
			continue;
		sl__doc_plain_pair(doc, key, "%s",
				   sl__doc_fact_sentence(doc, &reasons[i]));
		key = "";
	}
}

const char *
sl__profile_bottleneck_text(enum sl_bottleneck bottleneck)
{
	static const char *const words[] = {
		"not asked",
		"inconclusive",
		"compute-bound",
		"memory-bound",
		"bound by overhead",
		"data-bound",
		"mixed",
		"bound by imbalance of its threads"};

	return words[(unsigned)bottleneck <= SL_BOTTLENECK_IMBALANCE
			     ? bottleneck
			     : SL_BOTTLENECK_NOT_ASKED];
}

/* "; of the time 71 % compute, 12 % dram, 8 % undecided", by what bounds
 * operations. */
static void
add_shares(struct sl__doc *doc, const struct sl_finding *f)
{
	const char *separator = "; of the time ";
	unsigned used = 0;

	for (;;) {
		int best = 0;

		for (int b = 1; b < SL_N_BOUNDS; b++) {
			if (!(used & 1u << b) && f->shares[b] >= 0.01 &&
			    (!best || f->shares[b] > f->shares[best]))
				best = b;
		}
		if (!best)
			break;
		used |= 1u << best;
		sl__doc_append_dim(doc, "%s%.0f %% %s", separator,
				   100 * f->shares[best],
				   sl_bound_text((enum sl_bound)best));
		separator = ", ";
	}
	if (used && f->shares[SL_BOUND_UNKNOWN] >= 0.01)
		sl__doc_append_dim(doc, ", %.0f %% undecided",
				   100 * f->shares[SL_BOUND_UNKNOWN]);
}

void
sl__profile_verdict(struct sl__doc *doc, const struct sl__profile_sheet *sheet)
{
	const struct sl_finding *f = &sheet->profile->verdict;
	int is_open = f->bottleneck <= SL_BOTTLENECK_INCONCLUSIVE;
	int is_whole = sheet->how->verbose;

	sl__doc_pair(doc, "verdict",
		     is_open ? SL__STYLE_WARN : SL__STYLE_STRONG, "%s",
		     sl__profile_bottleneck_text(f->bottleneck));
	if (!is_open)
		sl__doc_append_plain(doc, ", confidence %.2f", f->confidence);
	else if (f->bottleneck && sl__profile_is_disturbed(sheet->profile))
		sl__doc_append_plain(doc, ": others had too much of the CPUs; "
					  "end them, or repeat when the "
					  "machine is idle");
	else if (!f->n_evidence && !f->n_against)
		sl__doc_append_dim(doc, ": no experiments were made");
	add_shares(doc, f);
	sl__profile_reasons(doc, is_open ? "because" : "evidence", f->evidence,
			    f->n_evidence, is_whole);
	sl__profile_reasons(doc, "against", f->against, f->n_against, is_whole);
}

/* What decided each operation that was experimented on. */
void
sl__profile_evidence(struct sl__doc *doc, const struct sl__profile_sheet *sheet)
{
	const struct sl_profile *p = sheet->profile;
	int is_open = 0;

	for (size_t i = 0; i < p->n_hot && i < p->n_operations; i++) {
		const struct sl_operation *o = &p->operations[p->by_time[i]];
		const struct sl_judgement *j = &o->judgement;

		if (!j->n_evidence && !j->n_against)
			continue;
		if (!is_open)
			sl__doc_heading(doc, "What bounds the operations");
		is_open = 1;
		sl__doc_text(doc, SL__STYLE_STRONG, "%s", o->name);
		sl__doc_append_plain(doc, "  %s", sl_bound_text(j->bound));
		if (j->bound != SL_BOUND_UNKNOWN)
			sl__doc_append_dim(doc, ", confidence %.2f",
					   j->confidence);
		sl__profile_reasons(doc,
				    j->bound == SL_BOUND_UNKNOWN ? "because"
								 : "evidence",
				    j->evidence, j->n_evidence, 1);
		sl__profile_reasons(doc, "against", j->against, j->n_against,
				    1);
	}
}

/* "kernels execute 58.6 GFLOP/s of 234 GFLOP/s peak, move 2.86 GB/s". */
static void
add_speeds(struct sl__doc *doc, const struct sl_profile *p)
{
	const struct sl_rates *r = &p->rates;
	struct sl__text a;

	sl__doc_plain_pair(doc, "roofline", "kernels execute %sFLOP/s",
			   sl__si_prefix_text(&a, r->executed_flops_per_s));
	sl__doc_append_plain(
		doc, " of %sFLOP/s peak",
		sl__si_prefix_text(&a, p->ceilings.flops_per_s.value));
	sl__doc_append_plain(doc, ", move %sB/s",
			     sl__si_prefix_text(&a, r->bytes_per_s));
}

/* How much of the time arithmetic by itself would take, and bytes from the
 * caches or the memory that hold them. */
static void
add_efficiency(struct sl__doc *doc, const struct sl_rates *r)
{
	struct sl__text a;

	if (!isfinite(r->compute_efficiency) ||
	    !isfinite(r->bandwidth_efficiency))
		return;
	sl__doc_plain_pair(doc, "", "at peak rates: arithmetic ");
	sl__doc_append(doc, SL__STYLE_STRONG, "%s",
		       sl__percent_text(&a, r->compute_efficiency));
	sl__doc_append_plain(doc, " of the time, data movement ");
	sl__doc_append(doc, SL__STYLE_STRONG, "%s",
		       sl__percent_text(&a, r->bandwidth_efficiency));
}

/* Where the model lies: its intensity, the ridge, the least time. */
static void
add_distance(struct sl__doc *doc, const struct sl_profile *p)
{
	double n_bytes = p->rates.bytes_per_s;
	double intensity = p->rates.executed_flops_per_s / n_bytes;
	double away = p->latency.median.value / p->rates.bound_ns;
	struct sl__text t;

	sl__doc_plain_pair(doc, "", "%s", "");
	if (n_bytes > 0 && isfinite(intensity))
		sl__doc_append_plain(doc, "%.3g FLOP/B", intensity);
	if (n_bytes > 0 && isfinite(p->ceilings.ridge) && p->ceilings.ridge > 0)
		sl__doc_append_dim(doc, ", ridge at %.3g", p->ceilings.ridge);
	if (p->rates.bound_ns > 0 && isfinite(away))
		sl__doc_append_plain(doc, "; lower bound %s, ",
				     sl__time_text(&t, p->rates.bound_ns));
	if (p->rates.bound_ns > 0 && isfinite(away) && away < 999.5)
		sl__doc_append(doc, SL__STYLE_STRONG, "%s × as fast",
			       sl__three_digit_text(&t, away));
	else if (p->rates.bound_ns > 0 && away < 1e15)
		sl__doc_append(doc, SL__STYLE_STRONG, "%s × as fast",
			       sl__count_text(&t, (uint64_t)(away + 0.5)));
}

static void
add_ceilings(struct sl__doc *doc, const struct sl_ceilings *c)
{
	struct sl__text a;

	sl__doc_plain_pair(doc, "ceilings", "%s %sFLOP/s",
			   sl_dtype_text(c->dtype),
			   sl__si_prefix_text(&a, c->flops_per_s.value));
	for (size_t i = 0; i < c->n_levels; i++)
		sl__doc_append_plain(
			doc, ", %s %sB/s", sl_level_text(c->levels[i].level),
			sl__si_prefix_text(&a, c->levels[i].bytes_per_s.value));
	sl__doc_append_dim(doc, "; %zu thread%s, probed between iterations",
			   c->n_threads, c->n_threads == 1 ? "" : "s");
	if (c->step_ns.n)
		sl__doc_append_dim(doc, "; an empty step takes %s",
				   sl__time_text(&a, c->step_ns.value));
}

void
sl__profile_roofline(struct sl__doc *doc, const struct sl__profile_sheet *sheet)
{
	const struct sl_profile *p = sheet->profile;
	const struct sl_ceilings *c = &p->ceilings;

	if (c->absent) {
		sl__doc_pair(doc, "roofline", SL__STYLE_DIM, "none: %s",
			     c->absent);
		return;
	}
	if (!c->flops_per_s.n || !c->n_levels)
		return;
	add_speeds(doc, p);
	add_efficiency(doc, &p->rates);
	add_distance(doc, p);
	if (sheet->how->verbose)
		add_ceilings(doc, c);
}

/* "all" where there is no limit: it is all of the time. */
static void
add_speedup(struct sl__doc *doc, enum sl__style style, double x)
{
	if (!isfinite(x))
		sl__doc_cell(doc, SL__STYLE_DIM, isnan(x) ? "-" : "all");
	else if (x > MEANINGFUL)
		sl__doc_cell(doc, SL__STYLE_DIM, "> %d", MEANINGFUL);
	else
		sl__doc_cell(doc, style, "%.2f", x);
}

static void
add_amdahl_row(struct sl__doc *doc, const struct sl_amdahl *a,
	       const char *label, int is_wide)
{
	struct sl__text t;

	sl__doc_plain_cell(doc, label);
	sl__doc_cell(doc, SL__STYLE_PLAIN, "%.1f%%", 100 * a->share);
	add_speedup(doc, SL__STYLE_PLAIN, a->at_2);
	add_speedup(doc, SL__STYLE_PLAIN, a->at_4);
	if (is_wide)
		add_speedup(doc, SL__STYLE_PLAIN, a->at_10);
	add_speedup(doc, SL__STYLE_PLAIN, a->limit);
	if (a->measured_limit.n && a->measured_limit.value > MEANINGFUL)
		add_speedup(doc, SL__STYLE_PLAIN, a->measured_limit.value);
	else if (a->measured_limit.n)
		sl__doc_cell(doc, SL__STYLE_STRONG, "%s",
			     sl__ratio_estimate(&t, &a->measured_limit));
	else
		sl__doc_absent_cell(doc);
}

/* Why limits were not measured: the first reason that there is. */
static void
add_unmeasured(struct sl__doc *doc, const struct sl_amdahl *rows, size_t n)
{
	int is_any = 0;

	for (size_t i = 0; i < n; i++)
		is_any |= rows[i].measured_limit.n > 0;
	for (size_t i = 0; i < n; i++) {
		if (rows[i].measured_limit.n || !rows[i].absent)
			continue;
		/* The column is not shown where every row has none. */
		sl__doc_text(doc, SL__STYLE_DIM, "%s: %s",
			     is_any ? "-" : "not measured", rows[i].absent);
		return;
	}
}

const char *
sl__amdahl_target_name(struct sl__arena *arena, const struct sl_profile *p,
		       const struct sl_amdahl *row)
{
	const struct sl_operation *o = &p->operations[row->operation];

	return row->is_type ? sl__arena_format(arena, "all %s", o->type)
			    : o->name;
}

static const char **
amdahl_labels(struct sl__doc *doc, const struct sl_profile *p, size_t n,
	      size_t n_columns)
{
	const char **names =
		sl__arena_array(&doc->arena, n + 1, sizeof(*names));

	doc->failed |= !names;
	for (size_t i = 0; names && i < n; i++) {
		names[i] =
			sl__amdahl_target_name(&doc->arena, p, &p->amdahl[i]);
		doc->failed |= !names[i];
	}
	return doc->failed ? NULL : sl__doc_row_names(doc, names, n, n_columns);
}

void
sl__profile_amdahl(struct sl__doc *doc, const struct sl__profile_sheet *sheet)
{
	static const struct sl__column columns[] = {
		{"what", 0, 0},    {"of iteration", 1, 1},
		{"2 ×", 1, 2},     {"4 ×", 1, 3},
		{"removed", 1, 0}, {"removed, measured", 0, 0},
	};
	static const struct sl__column wide_columns[] = {
		{"what", 0, 0},
		{"of iteration", 1, 1},
		{"2 ×", 1, 2},
		{"4 ×", 1, 3},
		{"10 ×", 1, 4},
		{"removed", 1, 0},
		{"removed, measured", 0, 0},
	};
	const struct sl_profile *p = sheet->profile;
	size_t width = sheet->how->n_columns ? sheet->how->n_columns
					     : SL__PROFILE_COLUMNS;
	int is_wide = width >= WIDE || sheet->how->format != SL_FORMAT_TEXT;
	size_t n = p->n_amdahl;
	const char **labels;

	if (!n)
		return;
	if (!sheet->how->verbose && n > AMDAHL_SHOWN)
		n = AMDAHL_SHOWN;
	sl__doc_heading(doc, "What if one thing were faster");
	sl__doc_append_dim(doc, "  predicted speed-up (Amdahl)");
	sl__doc_table(doc, is_wide ? wide_columns : columns, is_wide ? 7 : 6);
	labels = amdahl_labels(doc, p, n,
			       width / 3 > MIN_LABEL ? width / 3 : MIN_LABEL);
	for (size_t i = 0; labels && i < n; i++)
		add_amdahl_row(doc, &p->amdahl[i], labels[i], is_wide);
	add_unmeasured(doc, p->amdahl, n);
	sl__profile_explain(doc, SL__TOPIC_AMDAHL, sheet);
}

/* What to do, with the operation's name as the table of operations has it
 * where it is a long one; the command has it whole. */
static const char *
advice_text(struct sl__doc *doc, const struct sl__profile_sheet *sheet,
	    const struct sl_advice *a)
{
	struct sl_fact what = a->what;

	if (!sheet->how->verbose && what.names[0] &&
	    strlen(what.names[0]) > LONG_NAME)
		what.names[0] = sl__profile_row_name(doc, sheet, what.names[0]);
	return sl__doc_fact_sentence(doc, &what);
}

static void
add_command(struct sl__doc *doc, const struct sl_profile *p,
	    const struct sl_advice *a)
{
	struct sl_buf text = {0};

	if (!a->trial.action)
		sl__doc_append_dim(doc, "; no command yet");
	else if (sl_advice_command(p, a, &text, NULL))
		doc->failed = 1;
	else
		sl__doc_pair(doc, "", SL__STYLE_CODE, "%s", text.data);
	sl_buf_release(&text);
}

static void
add_expected(struct sl__doc *doc, const struct sl_advice *a)
{
	struct sl_buf text = {0};

	if (sl_advice_expected(a, &text, NULL))
		doc->failed = 1;
	else
		sl__doc_append(doc, SL__STYLE_STRONG, "%s", text.data);
	sl_buf_release(&text);
}

/* What a training step's memory could do without. */
static void
add_memory_advice(struct sl__doc *doc, const struct sl_profile *p)
{
	static const struct sl_advice again = {
		.trial = {.action = SL_TRIAL_RECOMPUTE}};
	const struct sl_fact *saving = sl__profile_recompute_saving(p);

	if (!saving)
		return;
	sl__doc_pair(doc, "memory", SL__STYLE_PLAIN, "%s",
		     sl__doc_fact_sentence(doc, saving));
	add_command(doc, p, &again);
}

void
sl__profile_advice(struct sl__doc *doc, const struct sl__profile_sheet *sheet)
{
	static const char *const numbers[] = {"1", "2", "3", "4", "5"};
	const struct sl_profile *p = sheet->profile;
	size_t n = p->n_advice < 5 ? p->n_advice : 5;

	if (!sheet->how->verbose && n > ADVICE_SHOWN)
		n = ADVICE_SHOWN;
	sl__doc_heading(doc, "What would help");
	if (!n && !sl__profile_recompute_saving(p))
		sl__doc_text(doc, SL__STYLE_DIM,
			     "Nothing found that is worth 2 %%.");
	if (n < p->n_advice)
		sl__doc_append_dim(
			doc, "  top %zu of %zu by possible gain (-v: all)", n,
			p->n_advice);
	for (size_t i = 0; i < n; i++) {
		const struct sl_advice *a = &p->advice[i];

		sl__doc_pair(doc, numbers[i], SL__STYLE_PLAIN,
			     "%s: ", advice_text(doc, sheet, a));
		add_expected(doc, a);
		if (sheet->how->verbose || sheet->view->explain)
			sl__doc_append_dim(
				doc, " (%s)",
				sl__doc_fact_sentence(doc, &a->basis));
		add_command(doc, p, a);
	}
	add_memory_advice(doc, p);
	sl__profile_explain(doc, SL__TOPIC_ADVICE, sheet);
}
