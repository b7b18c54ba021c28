/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile_side.c - several models that were profiled, side by side.
 *
 * The table compares; the sentence below it says of each what its figures
 * add up to.
 */
#include "report/fact_text.h"
#include "report/inspect_page.h"
#include "report/profile_page.h"
#include "report/result_page.h"
#include "report/unit.h"

#include <math.h>

#include "base/banned.h"

static void
add_number(struct sl__doc *doc, double x, const char *format_unit)
{
	struct sl__text t;

	if (!isfinite(x) || !(x > 0))
		sl__doc_absent_cell(doc);
	else
		sl__doc_cell(doc, SL__STYLE_PLAIN, "%s%s",
			     sl__si_prefix_text(&t, x), format_unit);
}

/* Of an exponent: none where it is whole. */
static int
decimals_of(double exponent)
{
	return fabs(exponent - round(exponent)) < 0.005 ? 0 : 2;
}

/* "b^1 s^1.34": how FLOPs grow with the batch and the sequence. */
static void
add_growth(struct sl__doc *doc, const struct sl_profile *p)
{
	static const struct {
		enum sl_growth_axis axis;
		char letter;
	} axes[] = {{SL_GROWTH_BATCH, 'b'}, {SL_GROWTH_SEQ, 's'}};
	const char *separator = "";

	sl__doc_plain_cell(doc, "");
	for (size_t i = 0; p->model && i < 2; i++) {
		const struct sl_growth *g = sl__growth_find(
			p->model, axes[i].axis, SL_GROWTH_FLOPS);
		double x = g && !g->absent ? g->exponent : (double)NAN;

		if (!isfinite(x))
			continue;
		sl__doc_append_plain(doc, "%s%c^%.*f", separator,
				     axes[i].letter, decimals_of(x), x);
		separator = " ";
	}
	if (!*separator)
		sl__doc_append_dim(doc, "-");
}

/* What the plan takes: how much the process grew by depends on what models
 * before it left. */
static void
add_memory(struct sl__doc *doc, const struct sl_memory_use *m)
{
	uint64_t n_bytes = m->planned_bytes + m->packed_bytes + m->mapped_bytes;
	struct sl__text t;

	if (!n_bytes)
		sl__doc_absent_cell(doc);
	else
		sl__doc_cell(doc, SL__STYLE_PLAIN, "%s%s",
			     m->unplanned ? ">= " : "",
			     sl__bytes_text(&t, (double)n_bytes));
}

static double
intensity_of(const struct sl_profile *p)
{
	return p->rates.executed_flops_per_s / p->rates.bytes_per_s;
}

static void
add_model(struct sl__doc *doc, const struct sl_profile *p, const char *unit)
{
	double intensity = intensity_of(p);
	struct sl__text t;

	sl__doc_cell(doc, SL__STYLE_STRONG, "%s", sl__profile_model_name(p));
	sl__doc_cell(doc, SL__STYLE_STRONG, "%s",
		     sl__time_value(&t, &p->latency.median, unit));
	add_number(doc, p->rates.samples_per_s, "");
	add_number(doc, p->rates.flops_per_s, "");
	add_memory(doc, &p->memory);
	if (isfinite(intensity) && intensity > 0)
		sl__doc_cell(doc, SL__STYLE_PLAIN, "%.3g", intensity);
	else
		sl__doc_absent_cell(doc);
	add_growth(doc, p);
	sl__doc_cell(doc,
		     p->verdict.bottleneck <= SL_BOTTLENECK_INCONCLUSIVE
			     ? SL__STYLE_DIM
			     : SL__STYLE_PLAIN,
		     "%s",
		     p->verdict.bottleneck == SL_BOTTLENECK_NOT_ASKED
			     ? "-"
			     : sl_bottleneck_text(p->verdict.bottleneck));
}

static void
add_where(struct sl__doc *doc, const struct sl_profile *p)
{
	const struct sl_operation_group *g = p->n_parts   ? p->by_part
					     : p->n_types ? p->by_type
							  : NULL;

	if (g)
		sl__doc_append_plain(doc, "%.0f %% of the time is %s; ",
				     100 * g->share, g->name);
	sl__doc_append_plain(doc, "%zu of %zu operation%s account%s for 80 %%",
			     p->n_for_80, p->n_operations,
			     p->n_operations == 1 ? "" : "s",
			     p->n_for_80 == 1 ? "s" : "");
}

static void
add_why(struct sl__doc *doc, const struct sl_profile *p)
{
	double ridge = p->ceilings.ridge, intensity = intensity_of(p);
	double away = p->latency.median.value / p->rates.bound_ns;

	if (isfinite(intensity) && intensity > 0 && isfinite(ridge) &&
	    ridge > 0)
		sl__doc_append_plain(
			doc, "; %.3g op/B lies %s the ridge of %.3g", intensity,
			intensity < ridge ? "below" : "above", ridge);
	if (p->rates.bound_ns > 0 && isfinite(away))
		sl__doc_append_plain(doc, ", %.3g × from the roofline's bound",
				     away);
	if (p->verdict.bottleneck > SL_BOTTLENECK_INCONCLUSIVE)
		sl__doc_append_plain(doc, ": %s-bound (%.2f)",
				     sl_bottleneck_text(p->verdict.bottleneck),
				     p->verdict.confidence);
}

static void
add_sentence(struct sl__doc *doc, const struct sl_profile *p)
{
	const struct sl_growth *seq =
		p->model ? sl__growth_find(p->model, SL_GROWTH_SEQ,
					   SL_GROWTH_FLOPS)
			 : NULL;

	sl__doc_text(doc, SL__STYLE_STRONG, "%s", sl__profile_model_name(p));
	sl__doc_append_plain(doc, ": ");
	add_where(doc, p);
	add_why(doc, p);
	if (seq && !seq->absent && seq->final_exponent > 1.5)
		sl__doc_append_plain(
			doc,
			"; FLOPs grow as n^%.2f with the sequence here, "
			"as n^%.*f when it is long",
			seq->exponent, decimals_of(seq->final_exponent),
			seq->final_exponent);
	if (!p->ledger.is_closed)
		sl__doc_append(doc, SL__STYLE_WARN,
			       "; its times do not add up (%.1f %% %s)",
			       100 * fabs(p->ledger.residual_share),
			       p->ledger.residual_share < 0 ? "excess"
							    : "unattributed");
	sl__doc_append_plain(doc, ".");
}

static void
add_warnings(struct sl__doc *doc, const struct sl_profile *p)
{
	for (size_t i = 0; i < p->n_impossible; i++)
		sl__doc_text(doc, SL__STYLE_BAD, "%s: impossible: %s",
			     sl__profile_model_name(p),
			     sl__doc_fact_sentence(doc, &p->impossible[i]));
	sl__page_interrupted(doc, p->stopped_by);
}

void
sl__profile_side_by_side(struct sl__doc *doc,
			 const struct sl__profile_page_input *r,
			 const struct sl_render_options *how)
{
	static const struct sl__column columns[] = {
		{"model", 0, 0},  {"latency", 1, 0},  {"samples/s", 1, 6},
		{"FLOP/s", 1, 1}, {"memory", 1, 2},   {"FLOP/B", 1, 3},
		{"grows", 0, 5},  {"bound by", 0, 0},
	};
	const struct sl_profile *p = r->profiles.list[0];

	sl__doc_heading(doc, "%zu models", r->profiles.n);
	sl__doc_append_dim(
		doc,
		"  batch %lld, %s on %d thread%s; FLOPs grow with b(atch), "
		"s(equence)",
		(long long)p->batch, sl_dtype_text(p->dtype), p->n_threads,
		p->n_threads == 1 ? "" : "s");
	sl__doc_table(doc, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t k = 0; k < r->profiles.n; k++)
		add_model(doc, r->profiles.list[k], how->unit);
	sl__doc_gap(doc);
	for (size_t k = 0; k < r->profiles.n; k++)
		add_sentence(doc, r->profiles.list[k]);
	sl__doc_text(doc, SL__STYLE_DIM,
		     "memory: activations as planned, and weights; the rest is "
		     "in the profile of one model with -v");
	for (size_t k = 0; k < r->profiles.n; k++)
		add_warnings(doc, r->profiles.list[k]);
}
