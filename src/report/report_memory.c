/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_memory.c - what memory a function took, as a page.
 *
 * The page shows the course of live memory as a row of bars, the sizes asked
 * for and the largest call sites; JSON has the section "allocation".
 */
#include "report/render.h"
#include "report/section.h"
#include "report/unit.h"
#include "result/tables.h"

#include <math.h>

#include "base/banned.h"

enum { N_BARS = 60, N_SITES_SHOWN = 5 };

static const struct sl__column SIZE_COLUMNS[] = {
	{"size from", 1, 0},
	{"to", 1, 0},
	{"allocations", 1, 0},
};

static const struct sl__column SITE_COLUMNS[] = {
	{"allocated", 1, 0},
	{"allocations", 1, 0},
	{"called from", 0, 0},
};

static void
write_figures(struct sl__doc *doc, const struct sl_memory *m)
{
	struct sl__text t;

	sl__doc_pair(doc, "baseline", SL__STYLE_PLAIN, "%s",
		     sl__bytes_text(&t, m->baseline_bytes));
	sl__doc_pair(doc, "peak", SL__STYLE_STRONG, "%s",
		     sl__bytes_text(&t, m->peak_bytes));
	sl__doc_append(doc, SL__STYLE_DIM, " (%s above the baseline)",
		       sl__bytes_text(&t, m->peak_bytes - m->baseline_bytes));
	sl__doc_pair(doc, "final", SL__STYLE_PLAIN, "%s",
		     sl__bytes_text(&t, m->final_bytes));
	if (m->method == SL_MEMORY_RESIDENT) {
		sl__doc_pair(doc, "allocated", SL__STYLE_DIM, "absent: %s",
			     m->method_reason);
		return;
	}
	sl__doc_pair(doc, "allocated", SL__STYLE_PLAIN, "%s",
		     sl__bytes_text(&t, m->allocated_bytes.value));
	sl__doc_append(doc, SL__STYLE_DIM, " in %.0f calls",
		       m->n_allocations.value);
	sl__doc_pair(doc, "freed", SL__STYLE_PLAIN, "%s",
		     sl__bytes_text(&t, m->freed_bytes.value));
	sl__doc_append(doc, SL__STYLE_DIM, " in %.0f calls", m->n_frees.value);
}

/* The highest live memory in each of N_BARS stretches, as eighths. */
static void
write_course(struct sl__doc *doc, const struct sl_memory *m)
{
	static const char *const BARS[] = {"▁", "▂", "▃", "▄",
					   "▅", "▆", "▇", "█"};
	size_t n = m->n_points < N_BARS ? m->n_points : N_BARS;
	double low = m->baseline_bytes;

	if (m->pattern == SL_MEMORY_FLAT || n < 2)
		return;
	for (size_t i = 0; i < m->n_points; i++)
		low = fmin(low, m->points[i].low_bytes);
	sl__doc_drawing(doc, SL__STYLE_PLAIN, "%s", "");
	for (size_t bar = 0; bar < n; bar++) {
		size_t from = bar * m->n_points / n;
		size_t to = (bar + 1) * m->n_points / n;
		double high = low;

		for (size_t i = from; i < to; i++)
			high = fmax(high, m->points[i].high_bytes);
		double level = 7.999 * (high - low) / (m->peak_bytes - low);

		sl__doc_append(
			doc, SL__STYLE_PLAIN, "%s",
			BARS[level > 0 && level < 8 ? (size_t)level : 0]);
	}
}

static void
write_sizes(struct sl__doc *doc, const struct sl_memory *m)
{
	struct sl__text t;

	sl__doc_heading(doc, "Allocation sizes");
	sl__doc_table(doc, SIZE_COLUMNS, 3);
	for (size_t i = 0; i < SL_MEMORY_N_SIZES; i++) {
		if (!m->n_by_size[i])
			continue;
		sl__doc_cell(doc, SL__STYLE_PLAIN, "%s",
			     sl__bytes_text(&t, ldexp(i > 0, (int)i)));
		sl__doc_cell(doc, SL__STYLE_PLAIN, "%s",
			     sl__bytes_text(&t, ldexp(1, (int)i + 1) - 1));
		sl__doc_cell(doc, SL__STYLE_PLAIN, "%llu",
			     (unsigned long long)m->n_by_size[i]);
	}
}

static void
write_sites(struct sl__doc *doc, const struct sl_memory *m, size_t n)
{
	struct sl__text t;

	sl__doc_heading(doc, "Largest call sites");
	sl__doc_table(doc, SITE_COLUMNS, 3);
	for (size_t i = 0; i < n; i++) {
		const struct sl_memory_site *site = &m->sites[i];

		sl__doc_cell(doc, SL__STYLE_PLAIN, "%s",
			     sl__bytes_text(&t, (double)site->allocated_bytes));
		sl__doc_cell(doc, SL__STYLE_PLAIN, "%llu",
			     (unsigned long long)site->n_allocations);
		sl__doc_cell(doc, SL__STYLE_PLAIN, "%s", site->where);
	}
	if (m->n_unsited.value > 0)
		sl__doc_text(doc, SL__STYLE_WARN,
			     "%.0f more allocations came from further call "
			     "sites, which are not kept.",
			     m->n_unsited.value);
}

void
sl__section_memory(struct sl__doc *doc, const struct sl_memory *m, int verbose)
{
	size_t n_sites = m->n_sites;

	sl__doc_heading(doc, "Memory of %s, %s", m->name,
			m->method == SL_MEMORY_INTERPOSED
				? "each allocator call"
				: "resident memory, sampled");
	write_figures(doc, m);
	sl__doc_pair(doc, "pattern", SL__STYLE_STRONG, "%s",
		     sl_memory_pattern_text(m->pattern));
	sl__doc_append(doc, SL__STYLE_DIM, ": %s", m->evidence);
	write_course(doc, m);
	if (verbose && m->method == SL_MEMORY_INTERPOSED)
		write_sizes(doc, m);
	if (!verbose && n_sites > N_SITES_SHOWN)
		n_sites = N_SITES_SHOWN;
	if (n_sites)
		write_sites(doc, m, n_sites);
}

static void
write_page(struct sl__doc *doc, const void *result,
	   const struct sl_render_options *how)
{
	sl__section_memory(doc, result, how->verbose);
}

enum sl_status
sl_memory_render(const struct sl_memory *m, const struct sl_render_options *how,
		 struct sl_buf *out, struct sl_error *err)
{
	static const struct sl__renderer renderer = {
		.kind = "a report on memory",
		.command = "memory",
		.page = write_page,
		.table = &sl__table_memory,
	};

	return sl__render(&renderer, m, how, out, err);
}
