/* SPDX-License-Identifier: Apache-2.0 */
/* report_selfcheck.c - what the instrument's verdicts are worth. */
#include "base/buf.h"
#include "report/doc.h"
#include "report/phrase.h"
#include "report/render.h"
#include "report/result_csv.h"
#include "report/result_page.h"
#include "report/section.h"
#include "report/unit.h"
#include "result/tables.h"

#include <math.h>

#include "base/banned.h"

/* Slack of a bad rate: found less often than this is worth a colour. */
static const double GOOD_POWER = 0.95;

static enum sl__style
rate_style(const struct sl_selfcheck_row *r)
{
	if (!(r->planted > 0))
		return r->rate.lo > 0.05 ? SL__STYLE_BAD : SL__STYLE_GOOD;
	return r->rate.value >= GOOD_POWER ? SL__STYLE_GOOD : SL__STYLE_WARN;
}

static void
add_row(struct sl__doc *doc, const struct sl_selfcheck_row *r)
{
	struct sl__text a, b, c;

	if (r->planted > 0)
		sl__doc_cell(doc, SL__STYLE_PLAIN, "+%s",
			     sl__percent_text(&a, r->planted_real));
	else
		sl__doc_cell(doc, SL__STYLE_PLAIN, "nothing");
	sl__doc_cell(doc, SL__STYLE_PLAIN, "%zu", r->n_verdicts);
	sl__doc_cell(doc, rate_style(r), "%s",
		     sl__percent_text(&a, r->rate.value));
	sl__doc_cell(doc, SL__STYLE_DIM, "[%s, %s]",
		     sl__percent_text(&b, r->rate.lo),
		     sl__percent_text(&c, r->rate.hi));
	if (r->planted > 0)
		sl__doc_cell(doc, SL__STYLE_PLAIN, "%zu",
			     r->n_different - r->n_right);
	else
		sl__doc_absent_cell(doc);
	sl__doc_cell(doc, SL__STYLE_PLAIN, "%s",
		     sl__time_text(&a, 1e9 * r->seconds.value));
}

/* The sentence people want: how often it is wrong. */
static void
add_summary(struct sl__doc *doc, const struct sl_selfcheck *s)
{
	const struct sl_selfcheck_row *same = &s->rows[0];
	size_t n_planted = 0, n_right = 0;
	struct sl__text rate, lo, hi;

	for (size_t i = 1; i < s->n_rows; i++) {
		n_planted += s->rows[i].n_verdicts;
		n_right += s->rows[i].n_right;
	}
	if (same->rate.lo > 0.05)
		sl__doc_text(doc, SL__STYLE_BAD, "FAIL");
	else
		sl__doc_text(doc, SL__STYLE_GOOD, "PASS");
	sl__doc_append_plain(
		doc,
		": %zu false alarm%s in %zu verdicts, %s [%s, %s]; the "
		"promised 5 %% is %s. %zu of %zu injected changes were found.",
		same->n_different, same->n_different == 1 ? "" : "s",
		same->n_verdicts, sl__percent_text(&rate, same->rate.value),
		sl__percent_text(&lo, same->rate.lo),
		sl__percent_text(&hi, same->rate.hi),
		same->rate.lo > 0.05   ? "exceeded"
		: same->rate.hi < 0.05 ? "kept"
				       : "within the interval",
		n_right, n_planted);
}

static void
add_page(struct sl__doc *doc, const void *result,
	 const struct sl_render_options *how)
{
	static const struct sl__column columns[] = {
		{"injected", 0, 0},   {"verdicts", 1, 0},
		{"detected", 1, 0},   {"95 % interval", 0, 1},
		{"wrong sign", 1, 2}, {"time to verdict", 1, 3},
	};
	const struct sl_selfcheck *s = result;
	struct sl__phrase work, budget;

	sl__doc_heading(doc, "Selfcheck: %s of work, up to %s per verdict",
			sl__phrase_time(&work, s->function_ns),
			sl__phrase_time(&budget, 1e9 * s->budget_s));
	sl__doc_table(doc, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < s->n_rows; i++)
		add_row(doc, &s->rows[i]);
	sl__doc_gap(doc);
	add_summary(doc, s);
	sl__doc_gap(doc);
	sl__page_noise(doc, &s->noise, "measurement", how->verbose);
	sl__page_stop_and_seed(doc, s->stopped_by, s->seed);
}

static void
add_csv(struct sl_buf *out, const void *result)
{
	const struct sl_selfcheck *s = result;

	sl__buf_text(out, "planted,verdicts,different,right,rate,rate_lo,"
			  "rate_hi,median_s,median_lo_s,median_hi_s\n");
	for (size_t i = 0; i < s->n_rows; i++) {
		const struct sl_selfcheck_row *r = &s->rows[i];
		const double figures[] = {
			r->planted_real,
			(double)r->n_verdicts,
			(double)r->n_different,
			(double)r->n_right,
			r->rate.value,
			r->rate.lo,
			r->rate.hi,
			r->seconds.value,
			r->seconds.lo,
			r->seconds.hi,
		};

		for (size_t k = 0; k < sizeof(figures) / sizeof(*figures); k++)
			sl__csv_number(out, figures[k]);
		sl__csv_end_line(out);
	}
}

enum sl_status
sl_selfcheck_render(const struct sl_selfcheck *s,
		    const struct sl_render_options *how, struct sl_buf *out,
		    struct sl_error *err)
{
	static const struct sl__renderer renderer = {
		.kind = "a selfcheck",
		.command = "selfcheck",
		.page = add_page,
		.table = &sl__table_selfcheck,
		.csv = add_csv,
	};

	return sl__render(&renderer, s, how, out, err);
}
