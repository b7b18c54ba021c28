/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_export.c - benchmarks in the forms other tools read.
 *
 * CSV is RFC 4180; the JSON has the names of hyperfine 1.15, so that scripts
 * made for its files go on working.
 */
#include "report/bench_export.h"
#include "base/buf.h"
#include "base/json.h"
#include "report/result_csv.h"
#include "result/run_figures.h"

#include <math.h>

#include "base/banned.h"

static const double NS_PER_S = 1e9; /* dividing keeps decimals short */

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
	for (size_t k = 0; k < r->command->n_parameters; k++)
		sl__csv_text(out, r->command->parameters[k].value);
	sl__csv_end(out);
}

void
sl__bench_csv(struct sl_buf *out, const void *result)
{
	const struct sl_bench *b = result;
	const struct sl_command *first = b->results[0].command;

	sl__buf_text(out, "command,mean,stddev,median,user,system,min,max,"
			  "runs,n_steady,median_lo,median_hi,peak_bytes,"
			  "ratio,ratio_lo,ratio_hi,verdict,");
	for (size_t k = 0; k < first->n_parameters; k++) {
		struct sl_buf title = {0};

		sl__buf_format(&title, "parameter_%s",
			       first->parameters[k].name);
		sl__csv_text(out, title.data ? title.data : "");
		sl_buf_release(&title);
	}
	sl__csv_end(out);
	for (size_t i = 0; i < b->n_results; i++)
		add_csv_row(out, b, i);
}

/* What hyperfine says of the runs in times[]. */
static void
add_figures(struct sl__json *json, const struct sl_bench_result *r)
{
	struct sl__run_figures all = {0};

	if (sl__run_figures_of(&all, r, NULL))
		sl__buf_break(json->out);
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

enum sl_status
sl__bench_hyperfine(struct sl_buf *out, const void *result,
		    struct sl_error *err)
{
	const struct sl_bench *b = result;
	struct sl__json json;

	sl__json_init(&json, out);
	sl__json_object(&json, NULL);
	sl__json_array(&json, "results");
	for (size_t i = 0; i < b->n_results; i++)
		add_hyperfine_result(&json, &b->results[i]);
	sl__json_end_array(&json);
	sl__json_end_object(&json);
	return sl__buf_status(out, err);
}
