/* SPDX-License-Identifier: Apache-2.0 */
/* report_optimize.c - what changes of a model are worth. */
#include "base/buf.h"
#include "report/figures.h"
#include "report/inspect_page.h"
#include "report/optimize_page.h"
#include "report/profile_page.h"
#include "report/render.h"
#include "report/result_page.h"
#include "report/unit.h"
#include "result/tables.h"
#include "sleuth/optimizing.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/banned.h"

/* "int8  12 layers, weights 4.2 MB → 1.1 MB, text" */
static void
add_change(struct sl__doc *doc, const struct sl_variant_change *c)
{
	struct sl__text before, after;

	sl__doc_pair(doc, c->name, SL__STYLE_STRONG, "%s", "");
	if (c->n_layers)
		sl__doc_append(doc, SL__STYLE_STRONG, "%zu layer%s, ",
			       c->n_layers, c->n_layers == 1 ? "" : "s");
	if (c->weights_before_bytes != c->weights_after_bytes)
		sl__doc_append(
			doc, SL__STYLE_STRONG, "weights %s → %s, ",
			sl__bytes_text(&before,
				       (double)c->weights_before_bytes),
			sl__bytes_text(&after, (double)c->weights_after_bytes));
	sl__doc_append_plain(doc, "%s", c->text);
}

enum { SENSITIVITIES_SHOWN = 10 };

/* Layers by what 8 bits cost each of them alone. */
static void
add_sensitivities(struct sl__doc *doc, const struct sl_variant_change *c,
		  int is_verbose)
{
	static const struct sl__column columns[] = {
		{"layer", 0, 0},
		{"operator", 0, 1},
		{"output error alone", 1, 0},
		{"computes in", 0, 0}};
	size_t n = c ? c->n_sensitivities : 0;
	struct sl__text text;

	if (!n)
		return;

	if (!is_verbose && n > SENSITIVITIES_SHOWN)
		n = SENSITIVITIES_SHOWN;
	sl__doc_gap(doc);
	sl__doc_table(doc, columns, sizeof(columns) / sizeof(*columns));
	for (size_t i = 0; i < n; i++) {
		const struct sl_layer_sensitivity *s = &c->sensitivities[i];

		sl__doc_plain_cell(doc, s->layer);
		sl__doc_cell(doc, SL__STYLE_DIM, "%s", s->type);
		sl__doc_plain_cell(doc,
				   sl__percent_text(&text, s->output_error));
		sl__doc_cell(doc,
			     s->is_kept ? SL__STYLE_STRONG : SL__STYLE_PLAIN,
			     "%s", s->is_kept ? "f32" : "int8");
	}
	if (n < c->n_sensitivities)
		sl__doc_text(doc, SL__STYLE_DIM,
			     "and %zu less sensitive layers; -v shows all",
			     c->n_sensitivities - n);
}

/* The change of a variant whose layers were chosen; NULL: none. */
static const struct sl_variant_change *
chosen_change(const struct sl_variant_result *v)
{
	for (size_t k = 0; !v->refused && k < v->n_changes; k++) {
		if (v->changes[k].n_sensitivities)
			return &v->changes[k];
	}
	return NULL;
}

/* That of the first variant that has one: others differ in further changes. */
static const struct sl_variant_change *
find_sensitivities(const struct sl_optimization *o)
{
	const struct sl_variant_change *found = NULL;

	for (size_t i = 0; !found && i < o->n_variants; i++)
		found = chosen_change(&o->variants[i]);
	return found;
}

static void
add_applied(struct sl__doc *doc, const struct sl_optimization *o)
{
	const struct sl_variant_result *was = &o->variants[0], *v = was + 1;
	struct sl__text before, after;

	for (size_t i = 0; i < v->n_changes; i++)
		add_change(doc, &v->changes[i]);
	if (v->size_bytes != was->size_bytes)
		sl__doc_plain_pair(
			doc, "file", "%s → %s, %.3g × the size",
			sl__bytes_text(&before, (double)was->size_bytes),
			sl__bytes_text(&after, (double)v->size_bytes),
			(double)v->size_bytes / (double)was->size_bytes);
	if (v->file)
		sl__doc_plain_pair(doc, "written to", "%s", v->file);
}

/* Why a time ratio is no proof. */
static const char *
verdict_of(const struct sl_variant_result *v)
{
	if (v->is_implausible)
		return "implausible";
	return v->verdict == SL_VERDICT_UNDECIDED ? "no proved difference"
						  : sl_verdict_text(v->verdict);
}

/* "97.22 %" and "[94.9, 98.7]"; the baseline agrees with itself. */
static void
add_accuracy_cells(struct sl__doc *doc, const struct sl_variant_result *v,
		   int is_baseline)
{
	if (!v->accuracy.n ||
	    (is_baseline && v->accuracy_kind == SL_ACCURACY_AGREEMENT)) {
		sl__doc_absent_cell(doc);
		sl__doc_absent_cell(doc);
		return;
	}
	sl__doc_cell(doc, SL__STYLE_PLAIN, "%.2f %%", 100 * v->accuracy.value);
	if (isnan(v->accuracy.lo))
		sl__doc_absent_cell(doc);
	else
		sl__doc_cell(doc, SL__STYLE_DIM, "[%.1f, %.1f]",
			     100 * v->accuracy.lo, 100 * v->accuracy.hi);
}

/* "-0.28 pp, no proved difference (2 lost, 1 gained)" or the output's error. */
static void
add_difference_cell(struct sl__doc *doc, const struct sl_variant_result *v)
{
	const struct sl_accuracy_difference *d = &v->difference;
	struct sl__text text;

	if (d->value.n) {
		sl__doc_cell(doc,
			     d->change == SL_ACCURACY_LOWER ? SL__STYLE_BAD
			     : d->change == SL_ACCURACY_HIGHER
				     ? SL__STYLE_GOOD
				     : SL__STYLE_PLAIN,
			     "%+.2f pp, %s", 100 * d->value.value,
			     d->change ? sl_accuracy_change_text(d->change)
				       : "unproved");
		sl__doc_append_dim(doc, ", %zu lost, %zu gained", d->n_lost,
				   d->n_gained);
	} else if (!isnan(v->output_error)) {
		sl__doc_cell(doc, SL__STYLE_PLAIN, "error %s",
			     sl__percent_text(&text, v->output_error));
	} else {
		sl__doc_absent_cell(doc);
	}
}

static void
add_row(struct sl__doc *doc, const struct sl_optimization *o, size_t i)
{
	const struct sl_variant_result *v = &o->variants[i];
	int is_best = i == o->recommended;
	struct sl__text text;

	sl__doc_cell(doc, is_best ? SL__STYLE_STRONG : SL__STYLE_PLAIN, "%s%s",
		     v->is_pareto ? "* " : "  ", v->name);
	if (v->time_ns.n)
		sl__doc_plain_cell(doc,
				   sl__time_value(&text, &v->time_ns, NULL));
	else
		sl__doc_absent_cell(doc);
	if (v->ratio.n)
		sl__doc_plain_cell(doc, sl__ratio_estimate(&text, &v->ratio));
	else
		sl__doc_absent_cell(doc);
	if (v->memory_bytes)
		sl__doc_plain_cell(
			doc, sl__bytes_text(&text, (double)v->memory_bytes));
	else
		sl__doc_absent_cell(doc);
	sl__doc_plain_cell(doc, sl__bytes_text(&text, (double)v->size_bytes));
	add_accuracy_cells(doc, v, i == 0);
	add_difference_cell(doc, v);
	if (!v->ratio.n)
		sl__doc_cell(doc, SL__STYLE_DIM, "%s", i ? "-" : "baseline");
	else
		sl__doc_cell(doc,
			     v->is_implausible
				     ? SL__STYLE_WARN
				     : sl__page_verdict_style(v->verdict),
			     "%s", verdict_of(v));
}

static void
add_table(struct sl__doc *doc, const struct sl_optimization *o)
{
	static const struct sl__column columns[] = {
		{"  variant", 0, 0}, {"time", 1, 1},   {"× baseline", 1, 0},
		{"memory", 1, 2},    {"file", 1, 5},   {"accuracy", 1, 0},
		{"95 %", 1, 4},      {"change", 1, 3}, {"verdict", 0, 0}};
	enum { N = sizeof(columns) / sizeof(*columns) };
	struct sl__column *kept =
		sl__arena_array(&doc->arena, N, sizeof(*kept));

	if (!kept) {
		doc->failed = 1;
		return;
	}
	memcpy(kept, columns, sizeof(columns));
	if (o->variants[0].accuracy_kind == SL_ACCURACY_AGREEMENT)
		kept[5].title = "agreement";
	sl__doc_table(doc, kept, N);
	for (size_t i = 0; i < o->n_variants; i++) {
		if (!o->variants[i].refused)
			add_row(doc, o, i);
	}
	sl__doc_text(doc, SL__STYLE_DIM,
		     "* on the Pareto front of time, memory, file and %s",
		     sl_accuracy_kind_text(o->variants[0].accuracy_kind));
	for (size_t i = 0; i < o->n_variants; i++) {
		const struct sl_variant_result *v = &o->variants[i];

		if (v->refused)
			sl__doc_pair(doc, v->name, SL__STYLE_DIM,
				     "not tried: %s", v->refused);
		else if (v->accuracy_absent)
			sl__doc_pair(doc, v->name, SL__STYLE_DIM,
				     "accuracy not judged: %s",
				     v->accuracy_absent);
		if (v->is_implausible)
			sl__doc_pair(doc, v->name, SL__STYLE_WARN,
				     "%.3g × as fast: more than operations, "
				     "peaks and bytes explain (%.3g ×); it may "
				     "not do the same work",
				     1 / v->ratio.value, v->most_speedup);
	}
}

/* What bounds the model as it is, and what was not tried for that reason. */
static void
add_verdict(struct sl__doc *doc, const struct sl_optimization *o)
{
	if (o->bottleneck == SL_BOTTLENECK_NOT_ASKED)
		return;
	sl__doc_pair(doc, "verdict", SL__STYLE_STRONG, "%s",
		     sl__profile_bottleneck_text(o->bottleneck));
	if (o->bottleneck == SL_BOTTLENECK_INCONCLUSIVE) {
		sl__doc_append_plain(doc, ": what often helps is tried");
		return;
	}
	sl__doc_append_plain(doc,
			     ", confidence %.2f: what acts on that is tried",
			     o->confidence);
	if (!o->n_left_out)
		return;
	sl__doc_pair(doc, "not tried", SL__STYLE_DIM, "%s", o->left_out[0]);
	for (size_t i = 1; i < o->n_left_out; i++)
		sl__doc_append_dim(doc, "; %s", o->left_out[i]);
	sl__doc_append_dim(doc, "  (--try measures any change)");
}

/* Whether bounds that the profile gave hold. */
static void
add_promises(struct sl__doc *doc, const struct sl_optimization *o)
{
	const char *key = "promises";
	struct sl__text most, is, lo, hi;

	for (size_t i = 0; i < o->n_variants; i++) {
		const struct sl_variant_result *v = &o->variants[i];

		if (!(v->promised > 0) || !v->ratio.n)
			continue;
		sl__doc_plain_pair(
			doc, key,
			"%s: at most %s × as fast; measured %s × [%s, %s]: %s",
			v->name, sl__three_digit_text(&most, v->promised),
			sl__three_digit_text(&is, 1 / v->ratio.value),
			sl__three_digit_text(&lo, 1 / v->ratio.hi),
			sl__three_digit_text(&hi, 1 / v->ratio.lo),
			v->is_promise_broken ? "broken" : "held");
		key = "";
	}
}

/* "latency 10 ms, accuracy 97 %" */
static void
add_limits(struct sl__doc *doc, const struct sl_optimization *o)
{
	static const enum sl_objective order[] = {
		SL_OBJECTIVE_LATENCY, SL_OBJECTIVE_MEMORY, SL_OBJECTIVE_SIZE,
		SL_OBJECTIVE_ACCURACY};
	const char *separator = " ";
	struct sl__text text;

	for (size_t i = 0; i < SL_N_OBJECTIVES; i++) {
		double limit = o->limits.of[order[i]];

		if (!(limit > 0))
			continue;
		if (order[i] == SL_OBJECTIVE_LATENCY)
			sl__time_text(&text, limit);
		else if (order[i] == SL_OBJECTIVE_ACCURACY)
			snprintf(text.s, sizeof(text.s), "%.4g %%",
				 100 * limit);
		else
			sl__bytes_text(&text, limit);
		sl__doc_append_plain(doc, "%s%s %s", separator,
				     sl_objective_text(order[i]), text.s);
		separator = ", ";
	}
}

static int
has_limits(const struct sl_optimization *o)
{
	for (size_t i = 0; i < SL_N_OBJECTIVES; i++) {
		if (o->limits.of[i] > 0)
			return 1;
	}
	return 0;
}

static void
add_closest(struct sl__doc *doc, const struct sl_optimization *o)
{
	const struct sl_variant_result *v = &o->variants[o->closest];
	struct sl__text time, memory, size;

	sl__doc_pair(doc, "closest", SL__STYLE_STRONG, "%s", v->name);
	sl__doc_append_plain(doc, ": %s, memory %s, file %s",
			     sl__time_value(&time, &v->time_ns, NULL),
			     sl__bytes_text(&memory, (double)v->memory_bytes),
			     sl__bytes_text(&size, (double)v->size_bytes));
	if (v->accuracy.n)
		sl__doc_append_plain(doc, ", %s %.2f %%",
				     sl_accuracy_kind_text(v->accuracy_kind),
				     100 * v->accuracy.value);
}

void
sl__optimize_command(struct sl_buf *out, const struct sl_optimization *o)
{
	const struct sl_variant_result *v = &o->variants[o->recommended];

	sl__buf_format(out, "sleuth optimize %s --apply %s",
		       sl__model_display_name(o->name, o->source) == o->name
			       ? o->name
			       : o->source,
		       v->name);
	if (chosen_change(v))
		sl__buf_format(out, " --accuracy-drop %.4gpp",
			       100 * o->accuracy_drop);
	if (o->data)
		sl__buf_format(out, " --data %s", o->data);
	if (v->size_bytes != o->variants[0].size_bytes)
		sl__buf_text(out, " --onnx=optimized.onnx");
}

/* The recommended variant, and the command that makes it. */
static void
add_recommended(struct sl__doc *doc, const struct sl_optimization *o)
{
	const struct sl_variant_result *v;
	struct sl_buf command = {0};

	if (has_limits(o)) {
		sl__doc_pair(
			doc, "limits",
			o->recommended == SIZE_MAX ? SL__STYLE_BAD
						   : SL__STYLE_GOOD,
			"%s:", o->recommended == SIZE_MAX ? "not met" : "met");
		add_limits(doc, o);
	}
	if (o->recommended == SIZE_MAX) {
		if (o->closest < o->n_variants)
			add_closest(doc, o);
		return;
	}
	v = &o->variants[o->recommended];
	sl__doc_pair(doc, "recommended", SL__STYLE_GOOD, "%s", v->name);
	sl__doc_append_dim(doc, "  for %s", sl_objective_text(o->objective));
	if (!o->recommended) {
		sl__doc_append_dim(
			doc,
			"; no variant that loses at most %.3g points is "
			"proved better",
			100 * o->accuracy_drop);
		return;
	}
	sl__optimize_command(&command, o);
	if (sl__buf_status(&command, NULL))
		doc->failed = 1;
	else
		sl__doc_pair(doc, "apply it", SL__STYLE_CODE, "%s",
			     command.data);
	sl_buf_release(&command);
	if (v->file)
		sl__doc_plain_pair(doc, "written to", "%s", v->file);
}

static void
page(struct sl__doc *doc, const void *result,
     const struct sl_render_options *how)
{
	const struct sl_optimization *o = result;

	sl__doc_heading(doc, "%s", sl__model_display_name(o->name, o->source));
	sl__doc_append_dim(doc, "  %s",
			   sl__model_source_text(o->name, o->source));
	if (o->is_applied) {
		add_applied(doc, o);
		add_sensitivities(doc, find_sensitivities(o), how->verbose);
		return;
	}
	add_verdict(doc, o);
	add_table(doc, o);
	add_sensitivities(doc, find_sensitivities(o), how->verbose);
	sl__doc_gap(doc);
	add_recommended(doc, o);
	add_promises(doc, o);
	sl__doc_pair(doc, "measured", SL__STYLE_DIM,
		     "%zu rounds in %.3g s, all variants in each, in random "
		     "order; accuracy on %s",
		     o->n_rounds, o->elapsed_s,
		     o->data ? o->data : "synthetic inputs");
	sl__page_noise(doc, &o->noise, "measurement", how->verbose);
	sl__page_stop_and_seed(doc, o->stopped_by, o->seed);
}

enum sl_status
sl_optimization_render(const struct sl_optimization *o,
		       const struct sl_render_options *how, struct sl_buf *out,
		       struct sl_error *err)
{
	static const struct sl__renderer renderer = {
		.kind = "an optimization",
		.command = "optimize",
		.page = page,
		.views = sl__optimize_views,
		.table = &sl__table_optimization,
		.csv_rows = "variants",
		.csv_columns =
			"model=../model/name,name,median_ms,time_ratio,"
			"ratio_lo=ci95/lo,ratio_hi=ci95/hi,memory_bytes,"
			"size_bytes,accuracy,accuracy_delta,verdict,pareto,"
			"file",
	};

	return sl__render(&renderer, o, how, out, err);
}
