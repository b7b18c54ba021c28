/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile_space.c - the memory of a profile: the peak, what makes it up, and
 * how it grows and shrinks through an iteration.
 */
#include "report/profile_page.h"
#include "report/unit.h"

#include <math.h>
#include <stdio.h>

#include "base/banned.h"

enum { ALIVE_SHOWN = 10, LINE_LEVELS = 8, LINE_MOST = 160 };

static int
has_value(const struct sl_reading *r)
{
	return !r->absent && r->value > 0;
}

/* It was needed for a short while only. */
static int
is_peak_passing(const struct sl_memory_use *m)
{
	return m->resident_peak_bytes.value > 1.1 * m->resident_bytes.value;
}

static void
add_peak(struct sl__doc *doc, const struct sl_memory_use *m)
{
	struct sl__text a;

	if (has_value(&m->resident_peak_bytes)) {
		sl__doc_plain_pair(doc, "memory", "peak RSS ");
		sl__doc_append(
			doc, SL__STYLE_STRONG, "%s",
			sl__bytes_text(&a, m->resident_peak_bytes.value));
		if (m->peak_moment)
			sl__doc_append_plain(doc, " during %s",
					     m->peak_moment == SL_PEAK_PLANNING
						     ? "planning"
						     : "the runs");
		if (has_value(&m->resident_bytes) && is_peak_passing(m))
			sl__doc_append_plain(
				doc, " (%s after the runs)",
				sl__bytes_text(&a, m->resident_bytes.value));
		sl__doc_append_plain(doc, ", ");
	} else {
		sl__doc_plain_pair(doc, "memory", "%s", "");
	}
	sl__doc_append_plain(doc, "%s parameters",
			     sl__bytes_text(&a, (double)m->parameters_bytes));
	if (!m->unplanned)
		sl__doc_append_plain(doc, ", %s live activations",
				     sl__bytes_text(&a, (double)m->live_bytes));
	if (m->unplanned)
		sl__doc_append_plain(doc, ", live activations not known");
	else if (m->planned_bytes)
		sl__doc_append_dim(
			doc, " (%s planned)",
			sl__bytes_text(&a, (double)m->planned_bytes));
	if (m->efficiency > 0 && m->efficiency <= 1)
		sl__doc_append_plain(doc, "; efficiency %s%.*f (of RSS growth)",
				     m->is_peak_reset ? "" : "at most ",
				     m->efficiency < 0.01 ? 4 : 2,
				     m->efficiency);
	if (m->tracked_bytes.absent)
		sl__doc_pair(doc, "", SL__STYLE_DIM,
			     "not tracked in an iteration: %s",
			     m->tracked_bytes.absent);
	if (m->n_timeline && m->tracked_bytes.absent)
		sl__doc_append_dim(doc, "; the plan's figures stand");
}

static void
add_row(struct sl__doc *doc, const char *name, double n_bytes, const char *what)
{
	struct sl__text t;

	sl__doc_plain_cell(doc, name);
	sl__doc_plain_cell(doc, sl__bytes_text(&t, n_bytes));
	sl__doc_cell(doc, SL__STYLE_DIM, "%s", what);
}

static void
add_reading(struct sl__doc *doc, const char *name, struct sl_reading r,
	    const char *what)
{
	add_row(doc, name, r.absent ? (double)NAN : r.value,
		r.absent ? r.absent : what);
}

static void
add_levels(struct sl__doc *doc, const struct sl_memory_use *m)
{
	static const struct sl__column columns[] = {
		{"memory", 0, 0}, {"bytes", 1, 0}, {"what it is", 0, 1}};

	sl__doc_gap(doc);
	sl__doc_table(doc, columns, 3);
	add_row(doc, "live", m->unplanned ? (double)NAN : (double)m->live_bytes,
		m->unplanned ? m->unplanned
			     : "the plan's bound for activations");
	add_row(doc, "  path",
		m->tracked_bytes.absent ? (double)NAN : (double)m->path_bytes,
		m->tracked_bytes.absent ? m->tracked_bytes.absent
					: "likewise, of the steps that ran");
	add_reading(doc, "tracked", m->tracked_bytes,
		    "the most that an iteration held");
	add_row(doc, "planned", (double)m->planned_bytes,
		"the block that holds activations");
	add_row(doc, "reserved", (double)m->reserved_bytes,
		"the block and what follows");
	add_row(doc, "  packed", (double)m->packed_bytes,
		"weights in the kernels' layouts");
	add_row(doc, "  records", (double)m->records_bytes,
		"of the plan itself");
	add_row(doc, "  rounding", (double)m->rounding_bytes,
		"to whole large pages");
	add_row(doc, "mapped", (double)m->mapped_bytes,
		"weights used in the file's own pages");
	add_reading(doc, "resident base", m->resident_base_bytes,
		    "before the model");
	add_reading(doc, "  private", m->touched_bytes,
		    "growth, mapped files left out");
	add_row(doc, "    library", m->library_bytes,
		isfinite(m->library_bytes) ? "of that, oneDNN's"
					   : "not measured");
	add_row(doc, "    predicted", m->predicted_bytes,
		isfinite(m->predicted_bytes) ? "from the plan"
					     : "not predicted");
	if (m->predicted_least_bytes < m->predicted_bytes)
		add_row(doc, "    at least", m->predicted_least_bytes,
			"without workspace that may stay unused");
	add_reading(doc, "  file pages", m->file_bytes,
		    "growth of mapped files");
	add_reading(doc, "resident", m->resident_bytes,
		    "base, private and file pages");
	add_reading(doc, "resident peak", m->resident_peak_bytes,
		    !m->is_peak_reset ? "the most of the process: at least"
		    : m->peak_moment  ? sl_peak_moment_text(m->peak_moment)
				      : "the most");
}

/* One character for every so many operations: the most that is live then. */
static void
add_timeline(struct sl__doc *doc, const struct sl_memory_use *m,
	     const struct sl__profile_sheet *sheet)
{
	static const char *const blocks[] = {" ", "▁", "▂", "▃", "▄",
					     "▅", "▆", "▇", "█"};
	static const char *const marks[] = {" ", ".", ":", "-", "=",
					    "+", "*", "#", "@"};
	size_t width = sheet->how->n_columns ? sheet->how->n_columns
					     : SL__PROFILE_COLUMNS;
	size_t n = m->n_timeline, n_cells, at = 0;
	char line[3 * LINE_MOST + 1];
	double most = 1;

	n_cells = width > 24 ? width - 20 : 4;
	if (n_cells > n)
		n_cells = n;
	if (n_cells > LINE_MOST)
		n_cells = LINE_MOST;
	for (size_t i = 0; i < n; i++)
		most = fmax(most, (double)m->timeline[i].live_bytes);
	line[0] = '\0';
	for (size_t c = 0; c < n_cells; c++) {
		double top = 0;
		const char *mark;

		for (size_t i = c * n / n_cells; i < (c + 1) * n / n_cells; i++)
			top = fmax(top, (double)m->timeline[i].live_bytes);
		mark = (sheet->how->ascii ? marks : blocks)[(size_t)ceil(
			LINE_LEVELS * top / most)];
		at += (size_t)snprintf(line + at, sizeof(line) - at, "%s",
				       mark);
	}
	sl__doc_plain_pair(doc, "over time", "%s", line);
}

static void
add_alive(struct sl__doc *doc, const struct sl_profile *p)
{
	const struct sl_memory_use *m = &p->memory;
	struct sl__text t;

	if (m->peak_operation < p->n_operations && m->n_timeline)
		sl__doc_plain_pair(doc, "fullest at", "%s",
				   p->operations[m->peak_operation].name);
	for (size_t i = 0; i < m->n_alive && i < ALIVE_SHOWN; i++)
		sl__doc_plain_pair(
			doc, i ? "" : "alive then", "%s  %s",
			sl__bytes_text(&t, (double)m->alive[i].n_bytes),
			m->alive[i].name);
}

void
sl__profile_memory(struct sl__doc *doc, const struct sl__profile_sheet *sheet)
{
	const struct sl_memory_use *m = &sheet->profile->memory;

	if (!m->live_bytes && !m->parameters_bytes)
		return;
	add_peak(doc, m);
	if (!sheet->how->verbose)
		return;
	add_levels(doc, m);
	sl__doc_gap(doc);
	if (m->n_timeline && sheet->how->format == SL_FORMAT_TEXT)
		add_timeline(doc, m, sheet);
	add_alive(doc, sheet->profile);
}
