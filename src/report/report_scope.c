/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_scope.c - scopes as a page: times, rates, resources, what stands
 * out, and what measuring itself cost.
 *
 * The page leaves out tables without a figure in them; JSON has every field,
 * the absent ones with their reason.
 */
#include "report/render.h"
#include "report/section.h"
#include "report/unit.h"
#include "result/tables.h"

#include <math.h>
#include <stdio.h>

#include "base/banned.h"

static const struct sl__column TIME_COLUMNS[] = {
	{"scope", 0, 0}, {"parent", 0, 5}, {"calls", 1, 0}, {"self", 1, 0},
	{"share", 1, 0}, {"total", 1, 4},  {"mean", 1, 0},  {"± sd", 1, 3},
	{"p50", 1, 0},   {"p90", 1, 6},    {"p99", 1, 1},
};

static const struct sl__column CALL_COLUMNS[] = {
	{"scope", 0, 0}, {"mean", 1, 0}, {"p50", 1, 0},
	{"p90", 1, 2},   {"p95", 1, 3},  {"p99", 1, 1},
};

static const struct sl__column RATE_COLUMNS[] = {
	{"scope", 0, 0}, {"GFLOP/s", 1, 0},      {"of f32 peak", 1, 0},
	{"GB/s", 1, 0},  {"of bandwidth", 1, 0},
};

static const struct sl__column RESOURCE_COLUMNS[] = {
	{"scope", 0, 0},     {"CPU", 1, 0},     {"faults", 1, 0},
	{"resident", 1, 0},  {"peak", 1, 0},    {"allocations", 1, 1},
	{"allocated", 1, 1}, {"pattern", 0, 2},
};

enum {
	N_TIME_COLUMNS = sizeof(TIME_COLUMNS) / sizeof(TIME_COLUMNS[0]),
	N_CALL_COLUMNS = sizeof(CALL_COLUMNS) / sizeof(CALL_COLUMNS[0]),
	N_RATE_COLUMNS = sizeof(RATE_COLUMNS) / sizeof(RATE_COLUMNS[0]),
	N_RESOURCE_COLUMNS =
		sizeof(RESOURCE_COLUMNS) / sizeof(RESOURCE_COLUMNS[0])
};

static void
write_times(struct sl__doc *doc, const struct sl_scopes *s, const char *unit)
{
	struct sl__text t;

	sl__doc_table(doc, TIME_COLUMNS, N_TIME_COLUMNS);
	for (size_t i = 0; i < s->n_rows; i++) {
		const struct sl_scope_row *row = &s->rows[i];

		sl__doc_cell(doc, SL__STYLE_STRONG, "%s", row->name);
		sl__doc_cell(doc, SL__STYLE_DIM, "%s",
			     row->parent ? row->parent : "");
		sl__doc_cell(doc, SL__STYLE_PLAIN, "%zu", row->n_calls);
		sl__doc_cell(doc, SL__STYLE_PLAIN, "%s",
			     sl__time_text_in_unit(&t, row->self_ns, unit));
		sl__doc_cell(doc, SL__STYLE_PLAIN, "%s",
			     sl__percent_text(&t, row->share));
		sl__doc_cell(doc, SL__STYLE_PLAIN, "%s",
			     sl__time_text_in_unit(&t, row->total_ns, unit));
		sl__doc_cell(doc, SL__STYLE_PLAIN, "%s",
			     sl__time_text_in_unit(&t, row->mean.value, unit));
		sl__doc_cell(doc, SL__STYLE_PLAIN, "%s",
			     sl__time_text_in_unit(&t, row->std_ns, unit));
		sl__doc_cell(doc, SL__STYLE_PLAIN, "%s",
			     sl__time_percentile(&t, &row->median, unit));
		sl__doc_cell(doc, SL__STYLE_PLAIN, "%s",
			     sl__time_percentile(&t, &row->p90, unit));
		sl__doc_cell(doc, SL__STYLE_PLAIN, "%s",
			     sl__time_percentile(&t, &row->p99, unit));
	}
}

/* A percentile with its interval, or what both would take. */
static void
write_percentile(struct sl__doc *doc, const struct sl_estimate *e,
		 const char *unit)
{
	struct sl__text t;

	sl__doc_cell(doc, SL__STYLE_PLAIN, "%s",
		     e->needs_n ? sl__needed_samples_text(&t, e)
				: sl__time_estimate(&t, e, unit));
}

static void
write_calls(struct sl__doc *doc, const struct sl_scopes *s, const char *unit)
{
	struct sl__text t;

	sl__doc_heading(doc, "One call, with 95 %% intervals");
	sl__doc_table(doc, CALL_COLUMNS, N_CALL_COLUMNS);
	for (size_t i = 0; i < s->n_rows; i++) {
		const struct sl_scope_row *row = &s->rows[i];

		sl__doc_cell(doc, SL__STYLE_STRONG, "%s", row->name);
		sl__doc_cell(doc, SL__STYLE_PLAIN, "%s",
			     sl__time_estimate(&t, &row->mean, unit));
		write_percentile(doc, &row->median, unit);
		write_percentile(doc, &row->p90, unit);
		write_percentile(doc, &row->p95, unit);
		write_percentile(doc, &row->p99, unit);
	}
}

/* A rate in units of 10^9, or why there is none. */
static void
write_rate(struct sl__doc *doc, struct sl_reading rate)
{
	if (rate.absent)
		sl__doc_cell(doc, SL__STYLE_DIM, "-");
	else
		sl__doc_cell(doc, SL__STYLE_PLAIN, "%.4g", 1e-9 * rate.value);
}

static void
write_share(struct sl__doc *doc, const struct sl__roof_share *share)
{
	struct sl__text t;

	if (share->place == SL__ROOF_IMPOSSIBLE)
		sl__doc_cell(doc, SL__STYLE_BAD, "impossible");
	else if (share->share.absent)
		sl__doc_cell(doc, SL__STYLE_DIM, "-");
	else
		sl__doc_cell(doc, SL__STYLE_PLAIN, "%s",
			     sl__percent_text(&t, share->share.value));
}

static void
write_rates(struct sl__doc *doc, const struct sl_scopes *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n_rows; i++) {
		const struct sl_scope_row *row = &s->rows[i];
		struct sl__achieved_rates rates = sl__rates_of_scope(s, row);
		struct sl__roof_share flops, bytes;

		if (row->flops_per_s.absent && row->bytes_per_s.absent)
			continue;
		if (!n++) {
			sl__doc_heading(doc, "Rates");
			sl__doc_table(doc, RATE_COLUMNS, N_RATE_COLUMNS);
		}
		flops = sl__flops_share_of_roof(s->machine, &rates);
		bytes = sl__bytes_share_of_roof(s->machine, &rates);
		sl__doc_cell(doc, SL__STYLE_STRONG, "%s", row->name);
		write_rate(doc, row->flops_per_s);
		write_share(doc, &flops);
		write_rate(doc, row->bytes_per_s);
		write_share(doc, &bytes);
	}
	if (n && !s->machine)
		sl__doc_text(doc, SL__STYLE_DIM,
			     "Shares of the machine's ceilings: %s.",
			     SL__NO_ROOF);
}

static void
write_bytes(struct sl__doc *doc, struct sl_reading bytes)
{
	struct sl__text t;

	sl__doc_cell(doc, bytes.absent ? SL__STYLE_DIM : SL__STYLE_PLAIN, "%s",
		     sl__bytes_text(&t, bytes.value));
}

static void
write_resource_row(struct sl__doc *doc, const struct sl_scope_row *row,
		   const char *unit)
{
	struct sl__text t;

	sl__doc_cell(doc, SL__STYLE_STRONG, "%s", row->name);
	sl__doc_cell(doc, SL__STYLE_PLAIN, "%s",
		     sl__time_text_in_unit(&t, row->cpu_ns.value, unit));
	if (row->n_minor_faults.absent)
		sl__doc_cell(doc, SL__STYLE_DIM, "-");
	else
		sl__doc_cell(doc, SL__STYLE_PLAIN, "%.4g",
			     row->n_minor_faults.value +
				     row->n_major_faults.value);
	write_bytes(doc, row->resident_change_bytes);
	write_bytes(doc, row->resident_peak_bytes);
	if (row->n_allocations.absent)
		sl__doc_cell(doc, SL__STYLE_DIM, "-");
	else
		sl__doc_cell(doc, SL__STYLE_PLAIN, "%.4g",
			     row->n_allocations.value);
	write_bytes(doc, row->allocated_bytes);
	sl__doc_cell(doc, SL__STYLE_PLAIN, "%s",
		     row->pattern ? row->pattern : "-");
}

static void
write_resources(struct sl__doc *doc, const struct sl_scopes *s,
		const char *unit)
{
	const char *absent = NULL;
	size_t n = 0;

	for (size_t i = 0; i < s->n_rows; i++) {
		const struct sl_scope_row *row = &s->rows[i];

		if (row->cpu_ns.absent && row->n_minor_faults.absent &&
		    row->resident_change_bytes.absent)
			continue;
		if (!n++) {
			sl__doc_heading(doc, "Resources, per call");
			sl__doc_table(doc, RESOURCE_COLUMNS,
				      N_RESOURCE_COLUMNS);
		}
		write_resource_row(doc, row, unit);
		if (!row->resident_change_bytes.absent)
			absent = row->n_allocations.absent;
	}
	if (n)
		sl__doc_text(doc, SL__STYLE_DIM,
			     "Values that are missing were not requested: CPU "
			     "time, faults and memory need a flag.");
	if (absent)
		sl__doc_text(doc, SL__STYLE_DIM, "Allocations: %s.", absent);
}

static void
write_remarks(struct sl__doc *doc, const struct sl_scopes *s)
{
	struct sl__text pair, all;

	sl__doc_gap(doc);
	if (s->n_dropped)
		sl__doc_text(doc, SL__STYLE_WARN,
			     "%llu scopes were dropped: too many names or "
			     "levels, or no memory.",
			     (unsigned long long)s->n_dropped);
	if (s->n_unbalanced)
		sl__doc_text(doc, SL__STYLE_WARN,
			     "%llu scopes were closed late, twice or on "
			     "another thread.",
			     (unsigned long long)s->n_unbalanced);
	sl__doc_text(
		doc, SL__STYLE_DIM,
		"Subtracted as the cost of measuring: %s per scope, %s with "
		"all resources. Percentiles assume independent calls.",
		sl__time_text(&pair, s->pair_ns),
		sl__time_text(&all, s->resources_pair_ns));
}

static void
write_page(struct sl__doc *doc, const void *result,
	   const struct sl_render_options *how)
{
	const struct sl_scopes *s = result;
	struct sl__insights insights;
	struct sl__text t;

	sl__doc_heading(doc, "%zu scopes, %s in total", s->n_scopes,
			sl__time_text(&t, s->self_ns));
	if (s->n_rows) {
		write_times(doc, s, how->unit);
		if (how->verbose)
			write_calls(doc, s, how->unit);
		write_rates(doc, s);
		write_resources(doc, s, how->unit);
	}
	sl__insights_of_scopes(&insights, s);
	sl__section_insights(doc, &insights);
	write_remarks(doc, s);
}

static void
tell(struct sl__json *json, const char *key, const void *record,
     const void *parent)
{
	struct sl__insights insights;

	(void)parent;
	sl__insights_of_scopes(&insights, record);
	sl__section_json_insights(json, key, &insights);
}

enum sl_status
sl_scopes_render(const struct sl_scopes *s, const struct sl_render_options *how,
		 struct sl_buf *out, struct sl_error *err)
{
	static const struct sl__renderer renderer = {
		.kind = "a report on scopes",
		.command = "scope",
		.page = write_page,
		.tell = tell,
		.table = &sl__table_scopes,
	};

	return sl__render(&renderer, s, how, out, err);
}
