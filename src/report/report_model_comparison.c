/* SPDX-License-Identifier: Apache-2.0 */
/* report_model_comparison.c - models that were compared: the verdict, and
 * where. */
#include "report/render.h"
#include "report/result_page.h"
#include "report/unit.h"
#include "report/views_comparison.h"
#include "result/tables.h"
#include "sleuth/comparing.h"

#include <math.h>

#include "base/banned.h"

enum {
	LAYER_ROWS = 8, /* on one screen */
	ONLY_ROWS = 4
};

static const char *
what_of(const struct sl_model_comparison *v)
{
	return v->is_per_sample ? "time per sample" : "time";
}

/* A is the baseline, then B, C, ... */
static char
letter_of(size_t side)
{
	return "ABCDEFGH"[side];
}

/* "0.512 × A's time, 95 % [0.508, 0.517] (1.95 × as fast)" */
static void
add_ratio(struct sl__doc *doc, const struct sl_model_comparison *v,
	  const struct sl_comparison *c)
{
	struct sl__text text;

	sl__doc_append(doc, SL__STYLE_STRONG, " %s",
		       sl__ratio_value(&text, &c->ratio));
	sl__doc_append_plain(doc, " × A's %s, %s%s", what_of(v),
			     c->ratio.needs_n ? "" : "95 % ",
			     sl__ratio_bounds_text(&text, &c->ratio));
	if (c->verdict == SL_VERDICT_FASTER)
		sl__doc_append_plain(doc, " (%.3g × as fast)", c->speedup);
}

static void
add_verdict(struct sl__doc *doc, const struct sl_model_comparison *v,
	    size_t which)
{
	const struct sl_arm_comparison *p = &v->pairs[which - 1];
	const struct sl_comparison *c = &p->comparison;
	enum sl__style style = sl__page_verdict_style(c->verdict);
	struct sl__text text;

	if (c->verdict == SL_VERDICT_UNDECIDED) {
		sl__doc_text(
			doc, style, "Undecided%s:",
			c->gate == SL_GATE_OK
				? ", but not slower by more than the margin"
				: "");
		sl__doc_append_plain(doc, " %c takes", letter_of(which));
	} else if (c->verdict == SL_VERDICT_SAME) {
		sl__doc_text(doc, style,
			     "%c is the same within %s:", letter_of(which),
			     sl__percent_text(&text, c->margin));
	} else {
		sl__doc_text(doc, style, "%c is %s:", letter_of(which),
			     sl_verdict_text(c->verdict));
	}
	add_ratio(doc, v, c);
	if (c->verdict == SL_VERDICT_UNDECIDED)
		sl__doc_append_plain(doc, " after %.2g s", v->elapsed_s);
	else
		sl__doc_append_plain(doc, "; decided by %s after %.2g s",
				     sl_comparison_basis_text(p->decided_by),
				     c->decided_after_s);
	sl__page_rounds(doc, c);
}

static void
add_series(struct sl__doc *doc, const char *key, const struct sl_estimate *a,
	   const struct sl_estimate *b, const struct sl_comparison *c)
{
	struct sl__text x, y, ratio;

	sl__doc_plain_pair(doc, key, "A %s, B %s", sl__time_value(&x, a, NULL),
			   sl__time_value(&y, b, NULL));
	sl__doc_append_plain(doc, "; B/A %s",
			     sl__ratio_estimate(&ratio, &c->ratio));
}

/* What the series says by itself, or why it says nothing. */
static void
add_word(struct sl__doc *doc, enum sl_verdict verdict, const char *absent)
{
	if (absent)
		sl__doc_append_dim(doc, "  %s", absent);
	else
		sl__doc_append(doc, sl__page_verdict_style(verdict), "  %s",
			       sl_verdict_text(verdict));
}

static void
add_typical(struct sl__doc *doc, const struct sl_arm_comparison *p)
{
	const char *why = p->absent[SL_COMPARISON_BASIS_LAYERS];
	struct sl__text ratio;

	if (!p->layers_ratio.n || why) {
		sl__doc_pair(doc, "typical layer", SL__STYLE_DIM, "%s",
			     why ? why : "no layer is long enough to time");
		return;
	}
	sl__doc_plain_pair(doc, "typical layer", "B/A %s",
			   sl__ratio_estimate(&ratio, &p->layers_ratio));
	sl__doc_append_dim(doc, "  the median of all layers");
}

/* How many times as much as A's it is. */
static void
add_times(struct sl__doc *doc, uint64_t a, uint64_t b)
{
	if (b == a)
		sl__doc_append_dim(doc, ", the same");
	else if (a)
		sl__doc_append_plain(doc, "; B/A %.4g", (double)b / (double)a);
}

static void
add_amounts(struct sl__doc *doc, const struct sl_model_arm_result *a,
	    const struct sl_model_arm_result *b)
{
	struct sl__text x, y;

	sl__doc_plain_pair(doc, "memory", "A %s, B %s",
			   sl__bytes_text(&x, (double)a->memory_bytes),
			   sl__bytes_text(&y, (double)b->memory_bytes));
	add_times(doc, a->memory_bytes, b->memory_bytes);
	sl__doc_append_dim(doc, "  activations and weights, as planned");
	sl__doc_plain_pair(doc, "work", "A %sFLOP, B %sFLOP per iteration",
			   sl__si_prefix_text(&x, (double)a->nominal_flops),
			   sl__si_prefix_text(&y, (double)b->nominal_flops));
	add_times(doc, a->nominal_flops, b->nominal_flops);
	if (a->executed_flops == b->executed_flops)
		return;
	sl__doc_plain_pair(doc, "", "kernels execute A %sFLOP, B %sFLOP",
			   sl__si_prefix_text(&x, (double)a->executed_flops),
			   sl__si_prefix_text(&y, (double)b->executed_flops));
	if (a->nominal_flops == b->nominal_flops)
		sl__doc_append(doc, SL__STYLE_WARN,
			       ": the plans chose different algorithms");
}

static void
add_quality(struct sl__doc *doc, const struct sl_model_comparison *v,
	    size_t which)
{
	const struct sl_arm_comparison *p = &v->pairs[which - 1];
	const struct sl_accuracy_difference *d = &p->accuracy;
	struct sl__text rms, most;

	if (d->value.n) {
		sl__doc_plain_pair(doc, "accuracy", "A %.2f %%, %c %.2f %%: ",
				   100 * v->sides[0].accuracy.value,
				   letter_of(which),
				   100 * v->sides[which].accuracy.value);
		sl__doc_append(doc,
			       d->change == SL_ACCURACY_LOWER ? SL__STYLE_BAD
							      : SL__STYLE_PLAIN,
			       "%+.2f points [%+.2f, %+.2f], %s",
			       100 * d->value.value, 100 * d->value.lo,
			       100 * d->value.hi,
			       sl_accuracy_change_text(d->change));
		sl__doc_append_dim(doc, " (%zu lost, %zu gained of %zu)",
				   d->n_lost, d->n_gained, d->value.n);
	}
	if (p->outputs_absent)
		sl__doc_pair(doc, "output", SL__STYLE_DIM, "not compared: %s",
			     p->outputs_absent);
	else if (!isnan(p->largest_error))
		sl__doc_plain_pair(doc, "output",
				   "largest difference %s of the largest "
				   "number, RMS %s",
				   sl__percent_text(&most, p->largest_error),
				   sl__percent_text(&rms, p->output_error));
}

/* The difference and its parts, which sum to it. */
static void
add_parts(struct sl__doc *doc, const struct sl_arm_comparison *p)
{
	double slower = 0, faster = 0;
	struct sl__text whole, more, less, rest;

	if (!p->change_ns.n)
		return;
	for (size_t i = 0; i < p->n_layers; i++) {
		double change = p->layers[i].change_ns.value;

		slower += change > 0 ? change : 0;
		faster -= change < 0 ? change : 0;
	}
	sl__doc_plain_pair(doc, "difference",
			   "%c%s = +%s of slower layers − %s of faster ones "
			   "%c %s outside layers",
			   p->change_ns.value < 0 ? '-' : '+',
			   sl__time_text(&whole, fabs(p->change_ns.value)),
			   sl__time_text(&more, slower),
			   sl__time_text(&less, faster),
			   p->rest_change_ns < 0 ? '-' : '+',
			   sl__time_text(&rest, fabs(p->rest_change_ns)));
}

static void
add_sides(struct sl__doc *doc, const struct sl_model_comparison *v,
	  size_t which)
{
	const struct sl_arm_comparison *p = &v->pairs[which - 1];
	const struct sl_model_arm_result *a = &v->sides[0],
					 *b = &v->sides[which];

	add_series(doc, "wall", &a->wall_ns, &b->wall_ns, &p->comparison);
	add_word(doc, p->wall_verdict, NULL);
	add_series(doc, "CPU", &a->cpu_ns, &b->cpu_ns, &p->cpu);
	add_word(doc, p->cpu.verdict, p->absent[SL_COMPARISON_BASIS_CPU]);
	sl__doc_pair(doc, "", SL__STYLE_DIM,
		     "B/A: median over rounds, not the ratio of the medians");
	if (v->is_per_sample)
		sl__doc_pair(doc, "", SL__STYLE_DIM,
			     "times are per iteration (batch A %lld, B %lld), "
			     "ratios per sample",
			     (long long)a->batch, (long long)b->batch);
	add_typical(doc, p);
	add_parts(doc, p);
	add_amounts(doc, a, b);
	add_quality(doc, v, which);
}

static void
add_layer(struct sl__doc *doc, const struct sl_compared_layer *l, int has_steps)
{
	struct sl__text text;

	sl__doc_cell(doc, l->is_named ? SL__STYLE_STRONG : SL__STYLE_PLAIN,
		     "%s", l->name);
	sl__doc_plain_cell(doc, l->type);
	sl__doc_plain_cell(doc, sl__time_text(&text, l->a_ns));
	sl__doc_plain_cell(doc, sl__time_text(&text, l->b_ns));
	sl__doc_cell(doc,
		     !l->is_named         ? SL__STYLE_DIM
		     : l->ratio.value > 1 ? SL__STYLE_BAD
					  : SL__STYLE_GOOD,
		     "%s", sl__ratio_estimate(&text, &l->ratio));
	if (has_steps && l->n_a == l->n_b)
		sl__doc_cell(doc, SL__STYLE_DIM, "%zu", l->n_a);
	else if (has_steps)
		sl__doc_cell(doc, SL__STYLE_PLAIN, "%zu:%zu", l->n_a, l->n_b);
}

/* Whether a layer that both have takes several steps in one of them. */
static int
has_steps(const struct sl_arm_comparison *p)
{
	for (size_t i = 0; i < p->n_layers; i++) {
		const struct sl_compared_layer *l = &p->layers[i];

		if (l->n_a && l->n_b && l->n_a + l->n_b > 2)
			return 1;
	}
	return 0;
}

static void
add_layers(struct sl__doc *doc, const struct sl_arm_comparison *p, int verbose)
{
	static const struct sl__column columns[] = {
		{"layer", 0, 0}, {"type", 0, 1}, {"A", 1, 0},
		{"B", 1, 0},     {"B/A", 1, 0},  {"steps A:B", 1, 2}};
	size_t n_common = p->n_layers - p->n_only_a - p->n_only_b, n = 0;
	size_t most = verbose ? n_common : LAYER_ROWS;
	int is_split = has_steps(p);

	if (!n_common || (!p->n_named && !verbose)) {
		sl__doc_plain_pair(doc, "layers", "%zu in common%s", n_common,
				   n_common ? ", none differs significantly"
					    : "");
		return;
	}
	if (!verbose && most > p->n_named)
		most = p->n_named;
	sl__doc_heading(doc, "Layers that differ");
	sl__doc_append_dim(doc, "  %zu of %zu, largest difference first",
			   p->n_named, n_common);
	sl__doc_table(doc, columns, is_split ? 6 : 5);
	for (size_t i = 0; i < p->n_layers && n < most; i++) {
		const struct sl_compared_layer *l = &p->layers[p->by_change[i]];

		if (!l->n_a || !l->n_b)
			continue;
		add_layer(doc, l, is_split);
		n++;
	}
	if (n < p->n_named)
		sl__doc_text(doc, SL__STYLE_DIM, "and %zu more (-v: all)",
			     p->n_named - n);
}

/* Layers without a counterpart, the longest first. */
static void
add_only(struct sl__doc *doc, const struct sl_arm_comparison *p, int of_a,
	 int verbose)
{
	size_t n_all = of_a ? p->n_only_a : p->n_only_b, n = 0;
	struct sl__text text;

	if (!n_all)
		return;
	sl__doc_plain_pair(
		doc, of_a ? "only in A" : "only in B",
		"%zu, %s together:", n_all,
		sl__time_text(&text, of_a ? p->only_a_ns : p->only_b_ns));
	for (size_t i = 0; i < p->n_layers; i++) {
		const struct sl_compared_layer *l = &p->layers[p->by_change[i]];

		if ((of_a ? l->n_b : l->n_a) || (n >= ONLY_ROWS && !verbose))
			continue;
		sl__doc_append_dim(
			doc, "%s %s %s", n++ ? "," : "", l->name,
			sl__time_text(&text, of_a ? l->a_ns : l->b_ns));
	}
	if (n < n_all)
		sl__doc_append_dim(doc, ", and %zu more", n_all - n);
}

static void
add_title(struct sl__doc *doc, const struct sl_model_comparison *v,
	  size_t which)
{
	const struct sl_model_arm_result *side = &v->sides[which];
	const char letter[] = {letter_of(which), '\0'};

	sl__doc_pair(doc, letter, SL__STYLE_STRONG, "%s", side->name);
	sl__doc_append_dim(doc, "  %s, %d thread%s, batch %lld, %zu steps",
			   sl_dtype_text(side->dtype), side->n_threads,
			   side->n_threads == 1 ? "" : "s",
			   (long long)side->batch, side->n_steps);
}

static void
add_placements(struct sl__doc *doc, const struct sl_model_comparison *v)
{
	int is_few = v->n_placements < v->placements_enough;
	struct sl__text text;

	sl__doc_pair(doc, "placements", is_few ? SL__STYLE_WARN : SL__STYLE_DIM,
		     "%zu memory layout%s of the buffers sampled",
		     v->n_placements, v->n_placements == 1 ? "" : "s");
	if (is_few)
		sl__doc_append(doc, SL__STYLE_WARN,
			       ", too few: ignore layer differences below %s",
			       sl__percent_text(&text, v->placement_reach));
	if (v->renewal_absent)
		sl__doc_append(doc, SL__STYLE_WARN, "; no more, because %s",
			       v->renewal_absent);
}

/* "×0.51 (-49 %)" of an amount. */
static void
add_ratio_cell(struct sl__doc *doc, double a, double b)
{
	if (a > 0)
		sl__doc_cell(doc, SL__STYLE_PLAIN, "%+.1f %%",
			     100 * (b / a - 1));
	else
		sl__doc_absent_cell(doc);
}

/* All against A, for a pull request or a screen. */
static void
add_summary(struct sl__doc *doc, const struct sl_model_comparison *v)
{
	static const struct sl__column columns[] = {
		{"", 0, 0},         {"model", 0, 0},  {"time", 1, 0},
		{"time / A", 1, 0}, {"memory", 1, 2}, {"FLOPs", 1, 3},
		{"accuracy", 1, 1}, {"verdict", 0, 0}};
	const struct sl_model_arm_result *a = &v->sides[0];
	struct sl__text text;

	sl__doc_heading(doc, "%zu models against %s", v->n - 1, a->name);
	sl__doc_table(doc, columns, 8);
	for (size_t i = 0; i < v->n; i++) {
		const struct sl_model_arm_result *m = &v->sides[i];
		const struct sl_comparison *c = i ? &v->pairs[i - 1].comparison
						  : NULL;

		sl__doc_cell(doc, SL__STYLE_STRONG, "%c", letter_of(i));
		sl__doc_plain_cell(doc, m->name);
		sl__doc_plain_cell(doc,
				   sl__time_value(&text, &m->wall_ns, NULL));
		if (c)
			sl__doc_plain_cell(
				doc, sl__ratio_estimate(&text, &c->ratio));
		else
			sl__doc_absent_cell(doc);
		add_ratio_cell(doc, (double)a->memory_bytes,
			       (double)m->memory_bytes);
		add_ratio_cell(doc, (double)a->nominal_flops,
			       (double)m->nominal_flops);
		if (m->accuracy.n)
			sl__doc_cell(doc, SL__STYLE_PLAIN, "%.2f %%",
				     100 * m->accuracy.value);
		else
			sl__doc_absent_cell(doc);
		sl__doc_cell(
			doc,
			c ? sl__page_verdict_style(c->verdict) : SL__STYLE_DIM,
			"%s", c ? sl_verdict_text(c->verdict) : "baseline");
	}
}

static void
add_other_algorithms(struct sl__doc *doc, const struct sl_arm_comparison *p)
{
	enum sl_verdict v = p->comparison.verdict;
	int stands = v == SL_VERDICT_FASTER || v == SL_VERDICT_SLOWER;

	if (!p->n_other_kernels)
		return;
	sl__doc_pair(doc, "algorithms", SL__STYLE_WARN,
		     "%zu layer%s another algorithm, although work and "
		     "settings are the same: %s",
		     p->n_other_kernels,
		     p->n_other_kernels == 1 ? " uses" : "s use",
		     stands ? "the models differ without them, too"
			    : "no difference is claimed; compare again");
}

static void
add_page(struct sl__doc *doc, const void *result,
	 const struct sl_render_options *how)
{
	const struct sl_model_comparison *v = result;

	if (v->n > 2 || how->format == SL_FORMAT_MARKDOWN)
		add_summary(doc, v);
	for (size_t i = 1; i < v->n; i++) {
		const struct sl_arm_comparison *p = &v->pairs[i - 1];

		sl__doc_heading(doc, "A: %s, %c: %s", p->comparison.a,
				letter_of(i), p->comparison.b);
		add_verdict(doc, v, i);
		add_title(doc, v, 0);
		add_title(doc, v, i);
		add_sides(doc, v, i);
		add_layers(doc, p, how->verbose);
		add_only(doc, p, 1, how->verbose);
		add_only(doc, p, 0, how->verbose);
		add_other_algorithms(doc, p);
	}
	sl__doc_gap(doc);
	if (v->is_disturbed)
		sl__doc_pair(doc, "disturbed", SL__STYLE_WARN,
			     "others used too much of the CPUs: models are not "
			     "called the same, and with different numbers of "
			     "threads nothing is decided; measure again on a "
			     "still machine");
	add_placements(doc, v);
	sl__page_comparison_detectable(doc, &v->pairs[0].comparison,
				       v->elapsed_s);
	sl__page_noise(doc, &v->noise, "measurement", how->verbose);
	sl__page_stop_and_seed(doc, v->stopped_by, v->seed);
}

enum sl_status
sl_model_comparison_render(const struct sl_model_comparison *model_comparison,
			   const struct sl_render_options *how,
			   struct sl_buf *out, struct sl_error *err)
{
	static const struct sl__renderer renderer = {
		.kind = "a comparison of models",
		.command = "compare",
		.page = add_page,
		.views = sl__model_comparison_views,
		.table = &sl__table_model_comparison,
		.csv_rows = "results/layers",
		.csv_columns =
			"a=../comparison/a,b=../comparison/b,layer=name,type,"
			"a_ms,b_ms,ratio,ratio_lo=ratio_ci95/lo,"
			"ratio_hi=ratio_ci95/hi,named?0!1",
	};

	return sl__render(&renderer, model_comparison, how, out, err);
}
