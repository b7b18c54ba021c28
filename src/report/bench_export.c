/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_export.c - benchmarks in the forms other tools read.
 *
 * CSV is RFC 4180; what hyperfine exports has the names and columns that it has
 * there (1.15 to 1.19), so that scripts made for its files go on working.
 */
#include "report/bench_export.h"
#include "base/buf.h"
#include "base/json.h"
#include "report/result_csv.h"
#include "report/unit.h"
#include "result/run_figures.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/banned.h"

static const double NS_PER_S = 1e9; /* dividing keeps decimals short */

size_t
sl__bench_next_sorted(const struct sl_bench *b,
		      const struct sl_render_options *how, size_t previous)
{
	double after = previous < b->n_results
			       ? b->results[previous].wall.mean.value
			       : (double)-INFINITY;
	size_t best = b->n_results;

	if (!how->sort || strcmp(how->sort, "mean-time") != 0)
		return previous < b->n_results ? previous + 1 : 0;
	for (size_t i = 0; i < b->n_results; i++) {
		double mean = b->results[i].wall.mean.value;
		/* Equal means keep their order. */
		int follows = mean > after ||
			      (!(mean < after) && previous < b->n_results &&
			       i > previous);

		if (follows && (best == b->n_results ||
				mean < b->results[best].wall.mean.value))
			best = i;
	}
	return best;
}

/* A reference, which goes first, has no parameters: the last has them all. */
static const struct sl_command *
last_command(const struct sl_bench *b)
{
	return b->results[b->n_results - 1].command;
}

static void
add_parameter_titles(struct sl_buf *out, const struct sl_bench *b)
{
	const struct sl_command *last = last_command(b);

	for (size_t k = 0; k < last->n_parameters; k++) {
		struct sl_buf title = {0};

		sl__buf_format(&title, "parameter_%s",
			       last->parameters[k].name);
		sl__csv_text(out, title.data ? title.data : "");
		sl_buf_release(&title);
	}
	sl__csv_end_line(out);
}

static void
add_parameters(struct sl_buf *out, const struct sl_bench *b, size_t i)
{
	const struct sl_command *command = b->results[i].command;

	for (size_t k = 0; k < last_command(b)->n_parameters; k++)
		sl__csv_text(out, k < command->n_parameters
					  ? command->parameters[k].value
					  : "");
	sl__csv_end_line(out);
}

static void
add_csv_row(struct sl_buf *out, const struct sl_bench *b, size_t i)
{
	const struct sl_bench_result *r = &b->results[i];
	const struct sl_comparison *c = i ? &b->comparisons[i - 1] : NULL;
	const double figures[] = {
		r->wall.mean.value / NS_PER_S,
		r->wall.std_ns / NS_PER_S,
		r->wall.median.value / NS_PER_S,
		r->user.value / NS_PER_S,
		r->system.value / NS_PER_S,
		r->wall.min_ns / NS_PER_S,
		r->wall.max_ns / NS_PER_S,
		(double)r->n_runs,
		(double)r->wall.n,
		r->wall.median.lo / NS_PER_S,
		r->wall.median.hi / NS_PER_S,
		r->peak_bytes.value,
		c ? c->ratio.value : 1,
		c ? c->ratio.lo : (double)NAN,
		c ? c->ratio.hi : (double)NAN,
	};

	sl__csv_text(out, r->command->name);
	for (size_t k = 0; k < sizeof(figures) / sizeof(figures[0]); k++)
		sl__csv_number(out, figures[k]);
	sl__csv_text(out, c ? sl_verdict_text(c->verdict) : "baseline");
	add_parameters(out, b, i);
}

void
sl__bench_csv(struct sl_buf *out, const void *result)
{
	const struct sl_bench *b = result;

	sl__buf_text(out, "command,mean,stddev,median,user,system,min,max,"
			  "runs,n_steady,median_lo,median_hi,peak_bytes,"
			  "ratio,ratio_lo,ratio_hi,verdict,");
	add_parameter_titles(out, b);
	for (size_t i = 0; i < b->n_results; i++)
		add_csv_row(out, b, i);
}

/* What hyperfine says of all runs; zeros where the buffer breaks. */
static struct sl__run_time_statistics
figures_of(struct sl_buf *out, const struct sl_bench_result *r)
{
	struct sl__run_time_statistics all = {0};

	if (sl__run_time_statistics_of(&all, r, NULL))
		sl__buf_mark_failed(out);
	return all;
}

static void
add_figures(struct sl__json *json, const struct sl_bench_result *r)
{
	struct sl__run_time_statistics all = figures_of(json->out, r);

	sl__json_number(json, "mean", all.mean / NS_PER_S);
	sl__json_number(json, "stddev", all.std / NS_PER_S);
	sl__json_number(json, "median", all.median / NS_PER_S);
	sl__json_number(json, "user", all.user / NS_PER_S);
	sl__json_number(json, "system", all.system / NS_PER_S);
	sl__json_number(json, "min", all.min / NS_PER_S);
	sl__json_number(json, "max", all.max / NS_PER_S);
}

static void
add_hyperfine_result(struct sl__json *json, const struct sl_bench_result *r)
{
	const struct sl_command *command = r->command;

	sl__json_object(json, NULL);
	sl__json_text(json, "command", command->name);
	add_figures(json, r);
	sl__json_array(json, "times");
	for (size_t i = 0; i < r->n_runs; i++)
		sl__json_number(json, NULL, r->wall_ns[i] / NS_PER_S);
	sl__json_end_array(json);
	sl__json_array(json, "exit_codes");
	for (size_t i = 0; i < r->n_runs; i++)
		sl__json_integer(json, NULL, (uint64_t)r->exit_codes[i]);
	sl__json_end_array(json);
	sl__json_object(json, "parameters");
	for (size_t i = 0; i < command->n_parameters; i++)
		sl__json_text(json, command->parameters[i].name,
			      command->parameters[i].value);
	sl__json_end_object(json);
	sl__json_end_object(json);
}

static void
write_json(struct sl_buf *out, const struct sl_bench *b)
{
	struct sl__json json;

	sl__json_init(&json, out);
	sl__json_object(&json, NULL);
	sl__json_array(&json, "results");
	for (size_t i = 0; i < b->n_results; i++)
		add_hyperfine_result(&json, &b->results[i]);
	sl__json_end_array(&json);
	sl__json_end_object(&json);
}

static void
write_csv(struct sl_buf *out, const struct sl_bench *b)
{
	sl__buf_text(out, "command,mean,stddev,median,user,system,min,max,");
	add_parameter_titles(out, b);
	for (size_t i = 0; i < b->n_results; i++) {
		struct sl__run_time_statistics all =
			figures_of(out, &b->results[i]);
		const double figures[] = {all.mean, all.std,    all.median,
					  all.user, all.system, all.min,
					  all.max};

		sl__csv_text(out, b->results[i].command->name);
		for (size_t k = 0; k < sizeof(figures) / sizeof(*figures); k++)
			sl__csv_number(out, figures[k] / NS_PER_S);
		add_parameters(out, b, i);
	}
}

/* How a language of tables writes one. */
struct markup {
	const char *begin, *divider, *end;
	const char *open, *after_name, *between, *close; /* of a row */
	const char *code;                                /* around a name */
};

static const struct markup markdown = {
	"", "|:---|---:|---:|---:|---:|\n", "", "| ", " | ", " | ", " |\n",
	"`"};
static const struct markup asciidoc = {"[cols=\"<,>,>,>,>\"]\n|===",
				       "",
				       "|===\n",
				       "\n| ",
				       " \n| ",
				       " \n| ",
				       " \n",
				       "`"};
static const struct markup orgmode = {
	"", "|--+--+--+--+--|\n", "", "| ", "  |  ", " |  ", " |\n", "="};

/* A name between marks, without what would end the cell or the line. */
static void
add_name(struct sl_buf *out, const char *name, const char *code)
{
	sl__buf_text(out, code);
	for (; *name; name++) {
		if (*name == '|')
			sl__buf_text(out, "\\");
		sl__buf_format(out, "%c", *name == '\n' ? ' ' : *name);
	}
	sl__buf_text(out, code);
}

/* What follows the name. */
static void
add_cells(struct sl_buf *out, const struct markup *m,
	  const struct sl__text cells[4])
{
	for (size_t i = 0; i < 4; i++) {
		sl__buf_text(out, i ? m->between : m->after_name);
		sl__buf_text(out, cells[i].s);
	}
	sl__buf_text(out, m->close);
}

static void
markup_time(struct sl__text *text, double ns, const char *unit)
{
	int decimals = strcmp(unit, "s") == 0 ? 3 : 1;

	snprintf(text->s, sizeof(text->s), "%.*f", decimals,
		 sl__time_scaled(ns, &unit));
}

/* Of two means; the fastest itself has no deviation. */
static void
tell_relative(struct sl__text *text, const struct sl__run_time_statistics *all,
	      const struct sl__run_time_statistics *fastest)
{
	double ratio = all->mean / fastest->mean;
	double std = ratio *
		     hypot(all->std / all->mean, fastest->std / fastest->mean);

	if (!(fastest->mean > 0))
		snprintf(text->s, sizeof(text->s), "N/A");
	else if (ratio > 1 && isfinite(std))
		snprintf(text->s, sizeof(text->s), "%.2f ± %.2f", ratio, std);
	else
		snprintf(text->s, sizeof(text->s), "%.2f", ratio);
}

static void
add_markup_row(struct sl_buf *out, const struct markup *m,
	       const struct sl_bench_result *r, const char *unit,
	       const struct sl__run_time_statistics *fastest)
{
	struct sl__run_time_statistics all = figures_of(out, r);
	struct sl__text std, cells[4];
	size_t used;

	markup_time(&cells[0], all.mean, unit);
	markup_time(&std, all.std, unit);
	markup_time(&cells[1], all.min, unit);
	markup_time(&cells[2], all.max, unit);
	used = strlen(cells[0].s);
	if (isfinite(all.std))
		snprintf(cells[0].s + used, sizeof(std.s) - used, " ± %s",
			 std.s);
	tell_relative(&cells[3], &all, fastest);
	sl__buf_text(out, m->open);
	add_name(out, r->command->name, m->code);
	add_cells(out, m, cells);
}

static void
write_markup(struct sl_buf *out, const struct sl_bench *b,
	     const struct markup *m, const struct sl_render_options *how)
{
	struct sl__run_time_statistics fastest =
		figures_of(out, &b->results[0]);
	const char *unit = how->unit ? how->unit
				     : sl__unit_of_time(fastest.mean);
	const char *shown = unit;
	struct sl__text titles[4];

	for (size_t i = 1; i < b->n_results; i++) {
		struct sl__run_time_statistics all =
			figures_of(out, &b->results[i]);

		if (all.mean < fastest.mean)
			fastest = all;
	}
	sl__time_scaled(0, &shown);
	snprintf(titles[0].s, sizeof(titles->s), "Mean [%s]", shown);
	snprintf(titles[1].s, sizeof(titles->s), "Min [%s]", shown);
	snprintf(titles[2].s, sizeof(titles->s), "Max [%s]", shown);
	snprintf(titles[3].s, sizeof(titles->s), "Relative");
	sl__buf_format(out, "%s%sCommand", m->begin, m->open);
	add_cells(out, m, titles);
	sl__buf_text(out, m->divider);
	for (size_t i = sl__bench_next_sorted(b, how, b->n_results);
	     i < b->n_results; i = sl__bench_next_sorted(b, how, i))
		add_markup_row(out, m, &b->results[i], unit, &fastest);
	sl__buf_text(out, m->end);
}

enum sl_status
sl__bench_hyperfine(struct sl_buf *out, const void *result,
		    const struct sl_render_options *how, struct sl_error *err)
{
	const struct sl_bench *b = result;

	if (how->format == SL_FORMAT_HYPERFINE)
		write_json(out, b);
	else if (how->format == SL_FORMAT_HYPERFINE_CSV)
		write_csv(out, b);
	else if (how->format == SL_FORMAT_HYPERFINE_MARKDOWN)
		write_markup(out, b, &markdown, how);
	else if (how->format == SL_FORMAT_HYPERFINE_ASCIIDOC)
		write_markup(out, b, &asciidoc, how);
	else
		write_markup(out, b, &orgmode, how);
	return sl__buf_status(out, err);
}
