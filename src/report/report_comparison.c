/* SPDX-License-Identifier: Apache-2.0 */
/* report_comparison.c - functions that were compared. */
#include "report/doc.h"
#include "report/render.h"
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
	sl__page_comparison_detectable(doc, &c->rows[0], c->elapsed_s);
	sl__page_noise(doc, &c->noise, "measurement", how->verbose);
	sl__page_stop_and_seed(doc, c->stopped_by, c->seed);
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
		.csv_rows = "comparisons",
		.csv_columns = "a,b,ratio,ratio_lo=ci95/lo,ratio_hi=ci95/hi,"
			       "rounds,verdict",
	};

	return sl__render(&renderer, c, how, out, err);
}
