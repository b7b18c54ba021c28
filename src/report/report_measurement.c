/* SPDX-License-Identifier: Apache-2.0 */
/* report_measurement.c - one function that was timed. */
#include "base/buf.h"
#include "report/doc.h"
#include "report/render.h"
#include "report/result_csv.h"
#include "report/result_page.h"
#include "report/section.h"
#include "report/unit.h"
#include "result/tables.h"

#include "base/banned.h"

void
sl__section_measurement(struct sl__doc *doc, const void *result,
			const struct sl_render_options *how)
{
	const struct sl_measurement *m = result;
	struct sl__text value, interval;

	sl__doc_heading(doc, "%s", m->name);
	sl__page_latency(doc, &m->wall, "sample", how->unit);
	sl__page_histogram(doc, m->samples_ns + (m->n_samples - m->wall.n),
			   m->wall.n, &m->wall, how);
	if (m->calls_per_sample > 1)
		sl__doc_pair(
			doc, "batch", SL__STYLE_DIM,
			"%zu calls per sample: percentiles are of their means",
			m->calls_per_sample);
	sl__doc_pair(doc, "cpu", SL__STYLE_PLAIN, "%s",
		     sl__time_value(&value, &m->cpu, how->unit));
	sl__doc_append(doc, SL__STYLE_DIM, "  %s",
		       sl__time_bounds_text(&interval, &m->cpu, how->unit));
	sl__page_detectable_change(doc, &m->wall, m->elapsed_s);
	sl__page_noise(doc, &m->noise, "measurement", how->verbose);
	sl__page_stop_and_seed(doc, m->stopped_by, m->seed);
}

/* Every sample, so that others can do their own statistics. */
static void
add_csv(struct sl_buf *out, const void *result)
{
	const struct sl_measurement *m = result;
	size_t n_warmup = m->n_samples - m->wall.n;

	sl__buf_text(out, "sample,warmup,time_ms\n");
	for (size_t i = 0; i < m->n_samples; i++) {
		sl__csv_number(out, (double)i);
		sl__csv_number(out, i < n_warmup);
		sl__csv_number(out, m->samples_ns[i] / SL__NS_PER_MS);
		sl__csv_end_line(out);
	}
}

enum sl_status
sl_measurement_render(const struct sl_measurement *m,
		      const struct sl_render_options *how, struct sl_buf *out,
		      struct sl_error *err)
{
	static const struct sl__renderer renderer = {
		.kind = "a measurement",
		.command = "measure",
		.page = sl__section_measurement,
		.table = &sl__table_measurement,
		.csv = add_csv,
	};

	return sl__render(&renderer, m, how, out, err);
}
