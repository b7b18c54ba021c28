/* SPDX-License-Identifier: Apache-2.0 */
/* report_comparison.c - functions that were compared. */
#include "doc.h"
#include "buf.h"
#include "render.h"
#include "result_csv.h"
#include "result_json.h"
#include "result_page.h"
#include "section.h"
#include "unit.h"

#include "banned.h"

static enum sl_status
render_page(const struct sl_comparisons *c, const struct sl_render_options *how,
	    struct sl_buf *out, struct sl_error *err)
{
	struct sl__text cpu;
	struct sl__doc doc;
	enum sl_status rc;

	sl__doc_init(&doc, NULL);
	for (size_t i = 0; i < c->n; i++) {
		sl__doc_heading(&doc, "%s against %s", c->rows[i].b,
				c->rows[i].a);
		sl__page_verdict(&doc, &c->rows[i]);
		sl__doc_pair(&doc, "cpu", SL__STYLE_PLAIN, "ratio %s",
			     sl__ratio_estimate(&cpu, &c->rows[i].cpu_ratio));
	}
	sl__page_power(&doc, c->rows[0].minimum_detectable, c->elapsed_s);
	sl__page_noise(&doc, &c->noise, "slot", how->verbose);
	sl__page_ending(&doc, c->stopped_by);
	rc = sl__doc_render(&doc, how, out, err);
	sl__doc_release(&doc);
	return rc;
}

static void
write_json(struct sl_buf *out, const struct sl_comparisons *c,
	   const char *command)
{
	struct sl__json json;

	sl__section_open(&json, out, command);
	sl__json_comparison(&json, "comparison", &c->rows[0]);
	sl__json_array(&json, "comparisons");
	for (size_t i = 0; i < c->n; i++)
		sl__json_comparison(&json, NULL, &c->rows[i]);
	sl__json_end_array(&json);
	sl__json_noise(&json, &c->noise);
	sl__json_ending(&json, c->elapsed_s, c->stopped_by, c->seed);
	sl__json_end_object(&json);
}

static void
write_csv(struct sl_buf *out, const struct sl_comparisons *c)
{
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
	enum sl_status rc = sl__render_check(&how, err);

	if (rc)
		return rc;
	switch (how->format) {
	case SL_FORMAT_TEXT:
	case SL_FORMAT_MARKDOWN:
		return render_page(c, how, out, err);
	case SL_FORMAT_JSON:
		write_json(out, c, how->command ? how->command : "compare");
		break;
	case SL_FORMAT_CSV:
		write_csv(out, c);
		break;
	case SL_FORMAT_SVG:
	case SL_FORMAT_HYPERFINE:
		return sl__render_refuse(err, "a comparison");
	}
	return sl__buf_status(out, err);
}
