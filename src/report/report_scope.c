/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_scope.c - scopes as a page: times, rates, resources, what stands
 * out, and what measuring itself cost.
 *
 * The page leaves out tables without a figure in them; JSON has every field,
 * the absent ones with their reason.
 */
#include "base/buf.h"
#include "report/render.h"
#include "report/result_json.h"
#include "report/section.h"
#include "report/unit.h"

#include <math.h>
#include <stdio.h>

#include "base/banned.h"

static const struct sl__column TIME_COLUMNS[] = {
	{"scope", 0, 0}, {"inside", 0, 5}, {"calls", 1, 0}, {"self", 1, 0},
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
			     sl__time_in(&t, row->self_ns, unit));
		sl__doc_cell(doc, SL__STYLE_PLAIN, "%s",
			     sl__percent_text(&t, row->share));
		sl__doc_cell(doc, SL__STYLE_PLAIN, "%s",
			     sl__time_in(&t, row->total_ns, unit));
		sl__doc_cell(doc, SL__STYLE_PLAIN, "%s",
			     sl__time_in(&t, row->mean.value, unit));
		sl__doc_cell(doc, SL__STYLE_PLAIN, "%s",
			     sl__time_in(&t, row->std_ns, unit));
		sl__doc_cell(doc, SL__STYLE_PLAIN, "%s",
			     sl__quantile_text(&t, &row->median, unit));
		sl__doc_cell(doc, SL__STYLE_PLAIN, "%s",
			     sl__quantile_text(&t, &row->p90, unit));
		sl__doc_cell(doc, SL__STYLE_PLAIN, "%s",
			     sl__quantile_text(&t, &row->p99, unit));
	}
}

/* A percentile with its interval, or what both would take. */
static void
write_percentile(struct sl__doc *doc, const struct sl_estimate *e,
		 const char *unit)
{
	struct sl__text t;

	sl__doc_cell(doc, SL__STYLE_PLAIN, "%s",
		     e->needs_n ? sl__needs_text(&t, e)
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
write_rates(struct sl__doc *doc, const struct sl_scopes *s,
	    const struct sl_machine *machine)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n_rows; i++) {
		const struct sl_scope_row *row = &s->rows[i];
		struct sl__rates rates = sl__rates_of_scope(s, row);
		struct sl__roof_share flops, bytes;

		if (row->flops_per_s.absent && row->bytes_per_s.absent)
			continue;
		if (!n++) {
			sl__doc_heading(doc, "Rates");
			sl__doc_table(doc, RATE_COLUMNS, N_RATE_COLUMNS);
		}
		flops = sl__roof_flops_share(machine, &rates);
		bytes = sl__roof_bytes_share(machine, &rates);
		sl__doc_cell(doc, SL__STYLE_STRONG, "%s", row->name);
		write_rate(doc, row->flops_per_s);
		write_share(doc, &flops);
		write_rate(doc, row->bytes_per_s);
		write_share(doc, &bytes);
	}
	if (n && !machine)
		sl__doc_text(doc, SL__STYLE_DIM,
			     "Shares of the machine's ceilings: %s.",
			     sl__no_roof);
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
		     sl__time_in(&t, row->cpu_ns.value, unit));
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
			     "\"-\" was not asked for: CPU time, faults and "
			     "memory need a flag.");
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
	sl__doc_text(doc, SL__STYLE_DIM,
		     "Taken off: %s a scope, %s with all resources. "
		     "Percentiles assume independent calls.",
		     sl__time_text(&pair, s->pair_ns),
		     sl__time_text(&all, s->resources_pair_ns));
}

static enum sl_status
render_page(const struct sl_scopes *s, const struct sl_machine *machine,
	    const struct sl_render_options *how, struct sl_buf *out,
	    struct sl_error *err)
{
	struct sl__insights insights;
	struct sl__doc doc;
	enum sl_status rc;
	struct sl__text t;

	sl__doc_init(&doc, NULL);
	sl__doc_heading(&doc, "%zu scopes, %s inside them", s->n_scopes,
			sl__time_text(&t, s->self_ns));
	if (s->n_rows) {
		write_times(&doc, s, how->unit);
		if (how->verbose)
			write_calls(&doc, s, how->unit);
		write_rates(&doc, s, machine);
		write_resources(&doc, s, how->unit);
	}
	sl__insights_of_scopes(&insights, s, machine);
	sl__section_insights(&doc, &insights);
	write_remarks(&doc, s);
	rc = sl__doc_render(&doc, how, out, err);
	sl__doc_release(&doc);
	return rc;
}

/* A percentile with its interval, both refused together. */
static void
json_latency(struct sl__json *json, const struct sl_scope_row *row)
{
	sl__json_object(json, "latency");
	sl__json_integer(json, "n", row->n_calls);
	sl__json_time(json, "mean", &row->mean);
	if (isnan(row->std_ns))
		sl__json_absent(json, "std_ms", "needs n >= 2");
	else
		sl__json_number(json, "std_ms", row->std_ns / SL__NS_PER_MS);
	sl__json_number(json, "min_ms", row->min_ns / SL__NS_PER_MS);
	sl__json_number(json, "max_ms", row->max_ns / SL__NS_PER_MS);
	sl__section_quantile(json, "median", &row->median);
	sl__section_quantile(json, "p50", &row->median);
	sl__section_interval(json, &row->median);
	sl__section_percentile(json, "p90", &row->p90);
	sl__section_percentile(json, "p95", &row->p95);
	sl__section_percentile(json, "p99", &row->p99);
	sl__json_end_object(json);
}

static struct sl_reading
scaled(struct sl_reading reading, double factor)
{
	reading.value *= factor;
	return reading;
}

static void
json_rates(struct sl__json *json, const struct sl_scopes *s,
	   const struct sl_scope_row *row, const struct sl_machine *machine)
{
	struct sl__rates rates = sl__rates_of_scope(s, row);
	struct sl__roof_share flops = sl__roof_flops_share(machine, &rates);
	struct sl__roof_share bytes = sl__roof_bytes_share(machine, &rates);

	sl__json_number(json, "flops", row->n_flops);
	sl__json_number(json, "bytes", row->n_bytes);
	sl__json_reading(json, "gflops_per_s", scaled(row->flops_per_s, 1e-9));
	sl__json_reading(json, "gbytes_per_s", scaled(row->bytes_per_s, 1e-9));
	sl__json_reading(json, "compute_efficiency", flops.share);
	if (!flops.share.absent)
		sl__json_text(json, "compute_ceiling", flops.of);
	sl__json_reading(json, "bandwidth_efficiency", bytes.share);
	if (!bytes.share.absent)
		sl__json_text(json, "bandwidth_ceiling", bytes.of);
}

static void
json_resources(struct sl__json *json, const struct sl_scope_row *row)
{
	sl__json_reading(json, "cpu_ms", scaled(row->cpu_ns, 1e-6));
	sl__json_reading(json, "minor_faults", row->n_minor_faults);
	sl__json_reading(json, "major_faults", row->n_major_faults);
	sl__json_reading(json, "resident_change_bytes",
			 row->resident_change_bytes);
	sl__json_reading(json, "resident_peak_bytes", row->resident_peak_bytes);
	sl__json_object(json, "allocation");
	sl__json_reading(json, "peak_bytes", row->live_peak_bytes);
	sl__json_reading(json, "allocated_bytes", row->allocated_bytes);
	sl__json_reading(json, "freed_bytes", row->freed_bytes);
	sl__json_reading(json, "count", row->n_allocations);
	if (row->pattern)
		sl__json_text(json, "pattern", row->pattern);
	else
		sl__json_absent(json, "pattern", row->n_allocations.absent);
	sl__json_end_object(json);
}

static void
json_row(struct sl__json *json, const struct sl_scopes *s,
	 const struct sl_scope_row *row, const struct sl_machine *machine)
{
	sl__json_object(json, NULL);
	sl__json_text(json, "name", row->name);
	if (row->parent)
		sl__json_text(json, "parent", row->parent);
	else
		sl__json_absent(json, "parent", "none, or not always the same");
	sl__json_integer(json, "calls", row->n_calls);
	sl__json_integer(json, "threads", row->n_threads);
	sl__json_number(json, "total_ms", row->total_ns / SL__NS_PER_MS);
	sl__json_number(json, "self_ms", row->self_ns / SL__NS_PER_MS);
	sl__json_number(json, "share", row->share);
	json_latency(json, row);
	json_rates(json, s, row, machine);
	json_resources(json, row);
	sl__json_end_object(json);
}

static enum sl_status
render_json(const struct sl_scopes *s, const struct sl_machine *machine,
	    const struct sl_render_options *how, struct sl_buf *out,
	    struct sl_error *err)
{
	struct sl__insights insights;
	struct sl__json json;

	sl__insights_of_scopes(&insights, s, machine);
	sl__section_open(&json, out, how->command ? how->command : "scope");
	sl__json_array(&json, "scopes");
	for (size_t i = 0; i < s->n_rows; i++)
		json_row(&json, s, &s->rows[i], machine);
	sl__json_end_array(&json);
	sl__json_integer(&json, "n_scopes", s->n_scopes);
	sl__json_integer(&json, "n_dropped", s->n_dropped);
	sl__json_integer(&json, "n_unbalanced", s->n_unbalanced);
	sl__json_number(&json, "self_ms", s->self_ns / SL__NS_PER_MS);
	sl__json_object(&json, "overhead");
	sl__json_number(&json, "pair_ms", s->pair_ns / SL__NS_PER_MS);
	sl__json_number(&json, "resources_pair_ms",
			s->resources_pair_ns / SL__NS_PER_MS);
	sl__json_end_object(&json);
	sl__section_json_insights(&json, &insights);
	sl__json_end_object(&json);
	return sl__buf_status(out, err);
}

enum sl_status
sl_scopes_render(const struct sl_scopes *s, const struct sl_render_options *how,
		 struct sl_buf *out, struct sl_error *err)
{
	enum sl_status rc = sl__render_check(&how, err);
	struct sl_machine *machine;

	if (rc)
		return rc;
	machine = sl__roof_open();
	if (how->format == SL_FORMAT_JSON)
		rc = render_json(s, machine, how, out, err);
	else
		rc = render_page(s, machine, how, out, err);
	sl_machine_free(machine);
	return rc;
}

enum sl_status
sl_scope_report(const struct sl_render_options *how, struct sl_buf *out,
		struct sl_error *err)
{
	struct sl_scopes *s;
	enum sl_status rc = sl_scope_top(&s, 0, err);

	if (rc)
		return rc;
	rc = sl_scopes_render(s, how, out, err);
	sl_scopes_free(s);
	return rc;
}
