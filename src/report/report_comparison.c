/* SPDX-License-Identifier: Apache-2.0 */
/* report_comparison.c - functions that were compared. */
#include "base/buf.h"
#include "report/doc.h"
#include "report/render.h"
#include "report/result_csv.h"
#include "report/result_page.h"
#include "report/section.h"
#include "report/unit.h"
#include "result/tables.h"

#include "base/banned.h"

static void
add_page(struct sl__doc *doc, const void *result,
	 const struct sl_render_options *how)
{
	const struct sl_comparisons *c = result;
	struct sl__text cpu;

	for (size_t i = 0; i < c->n; i++) {
		sl__doc_heading(doc, "%s against %s", c->rows[i].b,
				c->rows[i].a);
		sl__page_verdict(doc, &c->rows[i]);
		sl__doc_pair(doc, "cpu", SL__STYLE_PLAIN, "ratio %s",
			     sl__ratio_estimate(&cpu, &c->rows[i].cpu_ratio));
	}
	sl__page_power_against(doc, &c->rows[0], c->elapsed_s);
	sl__page_noise(doc, &c->noise, "slot", how->verbose);
	sl__page_ending(doc, c->stopped_by, c->seed);
}

static void
add_csv(struct sl_buf *out, const void *result)
{
	const struct sl_comparisons *c = result;

	sl__buf_text(out, "a,b,ratio,ratio_lo,ratio_hi,rounds,verdict\n");
	for (size_t i = 0; i < c->n; i++) {
		const struct sl_comparison *row = &c->rows[i];

		sl__csv_text(out, row->a);
		sl__csv_text(out, row->b);
		sl__csv_number(out, row->ratio.value);
		sl__csv_number(out, row->ratio.lo);
		sl__csv_number(out, row->ratio.hi);
		sl__csv_number(out, (double)row->n_rounds);
		sl__csv_text(out, sl_verdict_text(row->verdict));
		sl__csv_end(out);
	}
}

enum sl_status
sl_comparisons_render(const struct sl_comparisons *c,
		      const struct sl_render_options *how, struct sl_buf *out,
		      struct sl_error *err)
{
	static const struct sl__renderer renderer = {
		.kind = "a comparison",
		.command = "compare",
		.page = add_page,
		.table = &sl__table_comparisons,
		.csv = add_csv,
	};

	return sl__render(&renderer, c, how, out, err);
}
