/* SPDX-License-Identifier: Apache-2.0 */
/* report_run.c - one run of a model: what came out, and what computed it. */
#include "report/inspect_page.h"
#include "report/render.h"
#include "report/unit.h"
#include "result/tables.h"

#include <math.h>
#include <stdio.h>

#include "base/banned.h"

enum { REFERENCE_ROWS = 6 }; /* of steps on slow paths, on one screen */

static const char *
shape_text(char *text, size_t n_bytes, const struct sl_run_output *o)
{
	size_t n = 0;

	snprintf(text, n_bytes, "%s", o->dtype ? "scalar" : "sequence");
	for (size_t i = 0; i < o->rank && n < n_bytes; i++)
		n += (size_t)snprintf(text + n, n_bytes - n, "%s%lld",
				      i ? "x" : "", (long long)o->dims[i]);
	return text;
}

static void
add_paths(struct sl__doc *doc, const struct sl_run *r)
{
	size_t n[SL_N_PATHS] = {0};
	int is_first = 1;

	for (size_t i = 0; i < r->n_steps; i++)
		n[r->steps[i].path]++;
	sl__doc_plain_pair(doc, "steps", "%zu", r->n_steps);
	for (int p = 0; p < SL_N_PATHS; p++) {
		if (!n[p])
			continue;
		sl__doc_append(doc,
			       p >= SL_PATH_REFERENCE ? SL__STYLE_WARN
						      : SL__STYLE_DIM,
			       "%s%zu %s", is_first ? ": " : ", ", n[p],
			       sl_path_text((enum sl_path)p));
		is_first = 0;
	}
}

static void
add_facts(struct sl__doc *doc, const struct sl_run *r)
{
	struct sl__text a, b;

	if (r->seed)
		sl__doc_plain_pair(doc, "inputs", "synthetic, seed %llu",
				   (unsigned long long)r->seed);
	else
		sl__doc_plain_pair(doc, "inputs", "as given");
	sl__doc_plain_pair(doc, "computed in", "%s on %d thread%s",
			   sl_dtype_text(r->dtype), r->n_threads,
			   r->n_threads == 1 ? "" : "s");
	add_paths(doc, r);
	sl__doc_plain_pair(doc, "memory", "%s for activations",
			   sl__bytes_text(&a, (double)r->memory.planned_bytes));
	if (r->memory.live_bytes < r->memory.planned_bytes)
		sl__doc_append_dim(
			doc, " (at least %s)",
			sl__bytes_text(&a, (double)r->memory.live_bytes));
	sl__doc_append_dim(doc, ", %s for weights",
			   sl__bytes_text(&b, (double)r->memory.weight_bytes));
	sl__doc_plain_pair(doc, "time", "%s to plan, %s to run",
			   sl__time_text(&a, r->plan_ns),
			   sl__time_text(&b, r->run_ns));
	sl__doc_append_dim(doc, ", a single run: no statistics");
}

static void
add_number(struct sl__doc *doc, double x, int n_digits)
{
	if (isnan(x))
		sl__doc_absent_cell(doc);
	else
		sl__doc_cell(doc, SL__STYLE_PLAIN, "%.*g", n_digits, x);
}

static void
add_outputs(struct sl__doc *doc, const struct sl_run *r)
{
	static const struct sl__column columns[] = {
		{"output", 0, 0}, {"type", 0, 2}, {"shape", 0, 0},
		{"min", 1, 1},    {"mean", 1, 3}, {"max", 1, 1},
		{"NaN", 1, 4}};
	struct sl__text count;
	char text[256];

	sl__doc_heading(doc, "Outputs");
	sl__doc_table(doc, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < r->n_outputs; i++) {
		const struct sl_run_output *o = &r->outputs[i];

		sl__doc_cell(doc, SL__STYLE_STRONG, "%s", o->name);
		sl__doc_plain_cell(doc,
				   o->dtype ? sl_dtype_text(o->dtype) : "-");
		sl__doc_plain_cell(doc, shape_text(text, sizeof(text), o));
		add_number(doc, o->min, 5);
		add_number(doc, o->mean, 5);
		add_number(doc, o->max, 5);
		sl__doc_cell(doc, o->n_nan ? SL__STYLE_WARN : SL__STYLE_DIM,
			     "%s", sl__count_text(&count, o->n_nan));
	}
}

static void
add_check(struct sl__doc *doc, const struct sl_run *r)
{
	static const struct sl__column columns[] = {{"output", 0, 0},
						    {"error", 1, 0},
						    {"limit", 1, 0},
						    {"verdict", 0, 0},
						    {"measured as", 0, 1}};

	sl__doc_heading(doc, "Check");
	sl__doc_table(doc, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < r->n_outputs; i++) {
		const struct sl_run_output *o = &r->outputs[i];

		sl__doc_cell(doc, SL__STYLE_STRONG, "%s", o->name);
		add_number(doc, o->error, 3);
		add_number(doc, o->limit, 3);
		sl__doc_cell(doc, o->is_ok ? SL__STYLE_GOOD : SL__STYLE_BAD,
			     "%s", o->is_ok ? "agrees" : "differs");
		sl__doc_cell(doc, SL__STYLE_DIM, "%s",
			     o->why ? o->why : sl_check_rule_text(o->rule));
	}
	sl__doc_gap(doc);
	sl__doc_text(doc, r->is_ok ? SL__STYLE_GOOD : SL__STYLE_BAD, "%s",
		     r->is_ok ? "All outputs agree with the reference."
			      : "Outputs differ from the reference.");
}

static void
add_slow_steps(struct sl__doc *doc, const struct sl_run *r)
{
	size_t n = 0;

	if (!r->n_reference)
		return;
	sl__doc_heading(doc, "Steps on slow paths");
	for (size_t i = 0; i < r->n_steps && n < REFERENCE_ROWS; i++) {
		const struct sl_step *s = &r->steps[i];

		if (s->path != SL_PATH_REFERENCE && s->path != SL_PATH_STEPWISE)
			continue;
		sl__doc_pair(doc, s->type, SL__STYLE_PLAIN, "%s", s->name);
		sl__doc_append_dim(doc, "  %s", sl_path_text(s->path));
		n++;
	}
	if (n < r->n_reference)
		sl__doc_text(doc, SL__STYLE_DIM, "and %zu more; -v lists all",
			     r->n_reference - n);
}

static void
add_steps(struct sl__doc *doc, const struct sl_run *r)
{
	static const struct sl__column columns[] = {
		{"step", 0, 0},     {"type", 0, 0},  {"path", 0, 2},
		{"kernel", 0, 0},   {"nodes", 1, 3}, {"FLOPs", 1, 0},
		{"executed", 1, 1}, {"bytes", 1, 4}};
	struct sl__text text;

	sl__doc_heading(doc, "Steps");
	sl__doc_table(doc, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < r->n_steps; i++) {
		const struct sl_step *s = &r->steps[i];

		sl__doc_cell(doc, SL__STYLE_STRONG, "%s", s->name);
		sl__doc_plain_cell(doc, s->type);
		sl__doc_cell(doc,
			     s->path >= SL_PATH_REFERENCE ? SL__STYLE_WARN
							  : SL__STYLE_PLAIN,
			     "%s", sl_path_text(s->path));
		sl__doc_plain_cell(doc, s->kernel);
		sl__doc_cell(doc, SL__STYLE_PLAIN, "%zu", s->n_covers);
		sl__doc_plain_cell(
			doc,
			sl__si_prefix_text(&text, (double)s->nominal_flops));
		sl__doc_plain_cell(
			doc,
			sl__si_prefix_text(&text, (double)s->executed_flops));
		sl__doc_plain_cell(doc,
				   sl__bytes_text(&text, (double)s->n_bytes));
	}
	sl__doc_text(doc, SL__STYLE_DIM,
		     "FLOPs: nominal, of the model; executed: by the kernel "
		     "(Winograd fewer, padding more).");
}

static void
page(struct sl__doc *doc, const void *result,
     const struct sl_render_options *how)
{
	const struct sl_run *r = result;

	sl__doc_heading(doc, "%s", sl__model_display_name(r->name, r->source));
	sl__doc_append_dim(doc, "  %s",
			   sl__model_source_text(r->name, r->source));
	add_facts(doc, r);
	add_outputs(doc, r);
	if (r->is_checked)
		add_check(doc, r);
	if (how->verbose)
		add_steps(doc, r);
	else
		add_slow_steps(doc, r);
}

enum sl_status
sl_run_render(const struct sl_run *run, const struct sl_render_options *how,
	      struct sl_buf *out, struct sl_error *err)
{
	static const struct sl__renderer renderer = {
		.kind = "a run",
		.command = "run",
		.page = page,
		.table = &sl__table_run,
		.csv_rows = "plan/steps",
		.csv_columns =
			"model=../../model/name,step=name,type,path,kernel,"
			"covers,nominal_flops,executed_flops,bytes",
	};

	return sl__render(&renderer, run, how, out, err);
}
