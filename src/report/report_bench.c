/* SPDX-License-Identifier: Apache-2.0 */
/* report_bench.c - commands that were timed: as a page and as JSON. */
#include "report/bench_export.h"
#include "report/doc.h"
#include "report/render.h"
#include "report/result_page.h"
#include "report/unit.h"
#include "report/views_comparison.h"
#include "result/tables.h"

#include <math.h>

#include "base/banned.h"

static void
add_failures(struct sl__doc *doc, const struct sl_bench_result *r)
{
	if (r->n_failed)
		sl__doc_pair(doc, "failed", SL__STYLE_WARN,
			     "%zu of %zu runs of '%s' (ignored as asked)",
			     r->n_failed, r->n_runs, r->command->name);
}

static void
add_memory(struct sl__doc *doc, const struct sl_bench_result *r)
{
	struct sl__text text;

	if (r->peak_bytes.absent)
		sl__doc_pair(doc, "memory", SL__STYLE_DIM, "%s",
			     r->peak_bytes.absent);
	else
		sl__doc_plain_pair(doc, "memory", "%s peak",
				   sl__bytes_text(&text, r->peak_bytes.value));
}

static void
add_usage(struct sl__doc *doc, const struct sl_bench_result *r,
	  const char *unit)
{
	struct sl__text user, system, text;

	sl__doc_plain_pair(doc, "cpu", "user %s, system %s",
			   sl__time_estimate(&user, &r->user, unit),
			   sl__time_estimate(&system, &r->system, unit));
	add_memory(doc, r);
	if (r->shell.n)
		sl__doc_pair(doc, "shell", SL__STYLE_DIM,
			     "starting it takes %s, taken off each run",
			     sl__time_estimate(&text, &r->shell, unit));
}

/* What is left of a run that is shorter than the shell's start is noise. */
static void
add_shell_warning(struct sl__doc *doc, const struct sl_bench_result *r,
		  const char *unit)
{
	struct sl__text text;

	if (r->shell.n && r->wall.median.value < r->shell.value)
		sl__doc_pair(doc, "shell", SL__STYLE_WARN,
			     "'%s' is shorter than starting the shell (%s, "
			     "taken off); -N runs it without one",
			     r->command->name,
			     sl__time_value(&text, &r->shell, unit));
}

/* The figures that people read first, and how sure they are. */
static void
add_short(struct sl__doc *doc, const struct sl_bench_result *r,
	  const char *unit)
{
	const struct sl_latency *wall = &r->wall;
	struct sl__text a, b;

	sl__doc_heading(doc, "%s", r->command->name);
	sl__doc_pair(doc, "mean ± σ", SL__STYLE_STRONG, "%s",
		     sl__time_mean_std_text(
			     &a, wall->mean.value,
			     wall->n > 1 ? wall->std_ns : (double)NAN, unit));
	sl__doc_append_dim(doc, "  user %s, system %s",
			   sl__time_value(&a, &r->user, unit),
			   sl__time_value(&b, &r->system, unit));
	sl__doc_plain_pair(doc, "min … max", "%s … %s",
			   sl__time_text_in_unit(&a, wall->min_ns, unit),
			   sl__time_text_in_unit(&b, wall->max_ns, unit));
	sl__doc_append_dim(doc, "  %zu run%s", wall->n,
			   wall->n == 1 ? "" : "s");
	if (wall->n_warmup)
		sl__doc_append_dim(doc, ", %zu before them left out as warm-up",
				   wall->n_warmup);
	sl__doc_plain_pair(doc, "median", "%s",
			   sl__time_value(&a, &wall->median, unit));
	if (wall->median.needs_n)
		sl__doc_append_dim(doc, "  its interval needs %zu runs",
				   wall->median.needs_n);
	else
		sl__doc_append_plain(
			doc, " %s",
			sl__time_bounds_text(&b, &wall->median, unit));
	if (!wall->median.needs_n)
		sl__doc_append_dim(doc, "  95 %% interval");
	add_memory(doc, r);
	if (wall->warmup == SL_WARMUP_NONE)
		sl__doc_pair(doc, "drift", SL__STYLE_WARN,
			     "runs never became steady; the first took %s",
			     sl__time_text_in_unit(&a, wall->first_ns, unit));
	add_shell_warning(doc, r, unit);
	add_failures(doc, r);
}

static void
add_command(struct sl__doc *doc, const struct sl_bench *b, size_t i,
	    const struct sl_render_options *how)
{
	const struct sl_bench_result *r = &b->results[i];
	size_t n_steady = r->wall.n < r->n_runs ? r->wall.n : r->n_runs;

	sl__doc_heading(doc, "%s", r->command->name);
	sl__page_latency(doc, &r->wall, "run", how->unit);
	sl__page_histogram(doc, r->wall_ns + (r->n_runs - n_steady), n_steady,
			   &r->wall, how);
	add_usage(doc, r, how->unit);
	add_failures(doc, r);
}

static void
add_row(struct sl__doc *doc, const struct sl_bench *b, size_t i,
	const struct sl_render_options *how)
{
	const struct sl_bench_result *r = &b->results[i];
	struct sl__text text;

	sl__doc_plain_cell(doc, r->command->name);
	sl__doc_cell(doc, SL__STYLE_STRONG, "%s",
		     sl__time_value(&text, &r->wall.median, how->unit));
	sl__doc_cell(doc, SL__STYLE_DIM, "%s",
		     sl__time_bounds_text(&text, &r->wall.median, how->unit));
	sl__doc_plain_cell(
		doc, r->peak_bytes.absent
			     ? "-"
			     : sl__bytes_text(&text, r->peak_bytes.value));
	if (i == 0) {
		sl__doc_cell(doc, SL__STYLE_DIM, "1");
		sl__doc_cell(doc, SL__STYLE_DIM, "baseline");
		return;
	}
	sl__doc_plain_cell(
		doc, sl__ratio_value(&text, &b->comparisons[i - 1].ratio));
	sl__doc_cell(doc, sl__page_verdict_style(b->comparisons[i - 1].verdict),
		     "%s", sl_verdict_text(b->comparisons[i - 1].verdict));
}

static void
add_table(struct sl__doc *doc, const struct sl_bench *b,
	  const struct sl_render_options *how)
{
	static const struct sl__column columns[] = {
		{"command", 0, 0}, {"median", 1, 0}, {"95 % interval", 0, 2},
		{"memory", 1, 3},  {"ratio", 1, 1},  {"verdict", 0, 0},
	};

	sl__doc_table(doc, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = sl__bench_next_sorted(b, how, b->n_results);
	     i < b->n_results; i = sl__bench_next_sorted(b, how, i))
		add_row(doc, b, i, how);
}

/* Runs before a steady state are not in the figures of the table. */
static void
add_warmups(struct sl__doc *doc, const struct sl_bench *b)
{
	for (size_t i = 0; i < b->n_results; i++) {
		const struct sl_latency *wall = &b->results[i].wall;

		if (wall->n_warmup)
			sl__doc_pair(doc, "left out", SL__STYLE_DIM,
				     "%zu of %zu runs of '%s', before its "
				     "steady state (%s)",
				     wall->n_warmup, b->results[i].n_runs,
				     b->results[i].command->name,
				     sl_warmup_text(wall->warmup));
	}
}

static void
add_comparison(struct sl__doc *doc, const struct sl_bench *b,
	       const struct sl_render_options *how)
{
	sl__doc_heading(doc, "%zu commands, %zu run%s each", b->n_results,
			b->results[0].n_runs,
			b->results[0].n_runs == 1 ? "" : "s");
	add_table(doc, b, how);
	sl__doc_text(doc, SL__STYLE_DIM,
		     "ratio: median over rounds, not the ratio of the medians");
	sl__doc_gap(doc);
	for (size_t i = 0; i < b->n_comparisons; i++)
		sl__page_verdict(doc, &b->comparisons[i]);
	if (how->verbose)
		return;
	add_warmups(doc, b);
	for (size_t i = 0; i < b->n_results; i++) {
		add_shell_warning(doc, &b->results[i], how->unit);
		add_failures(doc, &b->results[i]);
	}
}

/* Where a verdict is open, what it would take. */
static void
add_reach(struct sl__doc *doc, const struct sl_bench *b)
{
	for (size_t i = 0; i < b->n_comparisons; i++) {
		if (b->comparisons[i].verdict == SL_VERDICT_UNDECIDED) {
			sl__page_comparison_detectable(doc, &b->comparisons[i],
						       b->elapsed_s);
			return;
		}
	}
}

/* What the reader should know of how it was measured. */
static void
add_remarks(struct sl__doc *doc, const struct sl_bench *b)
{
	add_reach(doc, b);
	sl__page_noise_warning(doc, &b->noise, "run");
	sl__page_interrupted(doc, b->stopped_by);
}

static void
add_certificate(struct sl__doc *doc, const struct sl_bench *b,
		const struct sl_render_options *how)
{
	if (b->n_comparisons) {
		sl__doc_gap(doc);
		sl__page_comparison_detectable(doc, &b->comparisons[0],
					       b->elapsed_s);
	} else {
		sl__page_detectable_change(doc, &b->results[0].wall,
					   b->elapsed_s);
	}
	sl__page_noise(doc, &b->noise, "run", how->verbose);
	sl__page_stop_and_seed(doc, b->stopped_by, b->seed);
}

static void
add_page(struct sl__doc *doc, const void *result,
	 const struct sl_render_options *how)
{
	const struct sl_bench *b = result;

	for (size_t i = 0; how->verbose && i < b->n_results; i++)
		add_command(doc, b, i, how);
	if (b->n_comparisons)
		add_comparison(doc, b, how);
	else if (!how->verbose)
		add_short(doc, &b->results[0], how->unit);
	if (how->verbose)
		add_certificate(doc, b, how);
	else
		add_remarks(doc, b);
}

enum sl_status
sl_bench_render(const struct sl_bench *b, const struct sl_render_options *how,
		struct sl_buf *out, struct sl_error *err)
{
	static const struct sl__renderer renderer = {
		.kind = "a benchmark",
		.command = "bench",
		.page = add_page,
		.views = sl__bench_views,
		.table = &sl__table_bench,
		.csv = sl__bench_csv,
		.hyperfine = sl__bench_hyperfine,
	};

	return sl__render(&renderer, b, how, out, err);
}
