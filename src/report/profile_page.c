/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile_page.c - one model's profile on one screen.
 *
 * The answer comes first: how long and how sure, what bounds it, where the time
 * goes; then time accounting, memory and the machine, then what would help.
 * 'verbose' shows every operation and all evidence.
 */
#include "report/profile_page.h"
#include "report/fact_text.h"
#include "report/inspect_page.h"
#include "report/result_page.h"
#include "report/unit.h"
#include "result/step_evidence.h"

#include <math.h>

#include "base/banned.h"

enum { REMARKS_SHOWN = 3 };

const char *
sl__profile_model_name(const struct sl_profile *p)
{
	return sl__model_display_name(p->name, p->source);
}

/* Whether times, time accounting and memory are all that was asked for. */
static int
is_brief_profile(const struct sl_profile *p)
{
	return p->ceilings.absent && !p->n_hot && !p->n_advice;
}

/*
 * The types in which most of the matmuls and convolutions are computed, by
 * time: one that has nine tenths of it, or "mixed: i8 70 %, f32 30 %".  The
 * plan's type where there are none of these.
 */
static void
add_types(struct sl__doc *doc, const struct sl_profile *p)
{
	double ns[SL_N_DTYPES] = {0}, sum = 0;
	const char *separator = "mixed: ";

	for (size_t i = 0; i < p->n_operations; i++) {
		const struct sl_operation *o = &p->operations[i];

		if (!o->core_flops || !o->dtype)
			continue;
		ns[o->dtype] += o->self_ns;
		sum += o->self_ns;
	}
	for (int k = 0; k < SL_N_DTYPES; k++) {
		if (ns[k] > 0.9 * sum || (!(sum > 0) && k == (int)p->dtype)) {
			sl__doc_append_plain(doc, "%s",
					     sl_dtype_text((enum sl_dtype)k));
			return;
		}
	}
	for (int k = 0; k < SL_N_DTYPES; k++) {
		if (!(ns[k] > 0.01 * sum))
			continue;
		sl__doc_append_plain(doc, "%s%s %.0f %%", separator,
				     sl_dtype_text((enum sl_dtype)k),
				     100 * ns[k] / sum);
		separator = ", ";
	}
}

static void
add_title(struct sl__doc *doc, const struct sl_profile *p)
{
	const char *source = sl__model_source_text(p->name, p->source);

	sl__doc_heading(doc, "%s", sl__profile_model_name(p));
	sl__doc_append_dim(doc, "  %s", source);
	if (p->model && p->model->sizes && *p->model->sizes)
		sl__doc_plain_pair(doc, "setup", "%s, ", p->model->sizes);
	else
		sl__doc_plain_pair(doc, "setup", "batch %lld, ",
				   (long long)p->batch);
	add_types(doc, p);
	sl__doc_append_plain(doc, " on %d thread%s; %zu node%s in ",
			     p->n_threads, p->n_threads == 1 ? "" : "s",
			     p->n_nodes, p->n_nodes == 1 ? "" : "s");
	sl__doc_append_plain(doc, "%zu operation%s", p->n_operations,
			     p->n_operations == 1 ? "" : "s");
}

static void
add_rates(struct sl__doc *doc, const struct sl_rates *r)
{
	struct sl__text t;

	if (r->samples_per_s > 0)
		sl__doc_append_plain(doc, "%ssamples/s",
				     sl__si_prefix_text(&t, r->samples_per_s));
	if (!r->tokens_per_s.absent && r->tokens_per_s.value > 0)
		sl__doc_append_plain(
			doc, ", %stokens/s",
			sl__si_prefix_text(&t, r->tokens_per_s.value));
	if (r->flops_per_s > 0)
		sl__doc_append_plain(doc, ", %sFLOP/s",
				     sl__si_prefix_text(&t, r->flops_per_s));
}

static void
add_latency(struct sl__doc *doc, const struct sl_profile *p, const char *unit)
{
	const struct sl_latency *l = &p->latency;
	struct sl__text a, b;

	sl__doc_plain_pair(doc, "latency", "median ");
	sl__doc_append(doc, SL__STYLE_STRONG, "%s",
		       sl__time_value(&a, &l->median, unit));
	sl__doc_append_plain(doc, "%s %s; ", l->median.needs_n ? "" : ", 95 %",
			     sl__time_bounds_text(&b, &l->median, unit));
	add_rates(doc, &p->rates);
}

/* Of all slots; NaN where nothing was monitored. */
static double
disturbed_share(const struct sl_noise *noise)
{
	return noise->n_slots
		       ? (double)noise->n_disturbed / (double)noise->n_slots
		       : (double)NAN;
}

/* Where others disturbed most iterations, the figures are not the model's
 * alone. */
static void
add_disturbed(struct sl__doc *doc, const struct sl_noise *noise)
{
	if (disturbed_share(noise) > 0.5)
		sl__doc_pair(doc, "disturbed", SL__STYLE_WARN,
			     "other processes disturbed %zu of %zu "
			     "measurements; the latency includes them and is "
			     "an upper bound: repeat on an idle machine",
			     noise->n_disturbed, noise->n_slots);
}

static const char *
ordinal_ending(size_t n)
{
	if (n / 10 % 10 == 1)
		return "th";
	return n % 10 == 1   ? "st"
	       : n % 10 == 2 ? "nd"
	       : n % 10 == 3 ? "rd"
			     : "th";
}

/* "100 iterations after 3 of warm-up", or samples of several iterations each;
 * a long run keeps every nth of them. */
static void
add_count(struct sl__doc *doc, const struct sl_profile *p)
{
	size_t n_calls = p->calls_per_sample, stride = p->sample_stride;
	size_t n = p->latency.n, n_warmup = p->latency.n_warmup;

	if (stride > 1) {
		size_t n_all = n_calls ? p->n_timed / n_calls : p->n_timed;

		n_warmup *= stride;
		n = n_all > n_warmup ? n_all - n_warmup : n * stride;
	}
	if (n_calls > 1)
		sl__doc_plain_pair(doc, "measured",
				   "%zu sample%s of %zu iterations", n,
				   n == 1 ? "" : "s", n_calls);
	else
		sl__doc_plain_pair(doc, "measured", "%zu iteration%s", n,
				   n == 1 ? "" : "s");
	if (stride > 1)
		sl__doc_append_dim(doc, ", every %zu%s kept", stride,
				   ordinal_ending(stride));
	if (n_warmup)
		sl__doc_append_dim(doc, " after %zu of warm-up", n_warmup);
}

/* How many iterations, and how idle the machine was. */
static void
add_basis(struct sl__doc *doc, const struct sl_profile *p)
{
	const struct sl_latency *l = &p->latency;
	const struct sl_noise *noise = &p->noise;
	double share = disturbed_share(noise);
	struct sl__text t;

	add_count(doc, p);
	if (l->warmup == SL_WARMUP_NONE)
		sl__doc_append(doc, SL__STYLE_WARN, ", no steady state");
	if (share <= 0.5)
		sl__doc_append(doc,
			       share > 0.1 ? SL__STYLE_WARN : SL__STYLE_DIM,
			       ", %zu of %zu measurements disturbed",
			       noise->n_disturbed, noise->n_slots);
	if (!noise->steal_share.absent && noise->steal_share.value > 0.01)
		sl__doc_append(doc, SL__STYLE_WARN, ", %s of CPU time stolen",
			       sl__percent_text(&t, noise->steal_share.value));
	sl__doc_append_dim(doc, "; %.*f s with planning%s",
			   p->elapsed_s < 10 ? 1 : 0, p->elapsed_s,
			   p->n_hot ? " and experiments" : "");
}

/* What the layer takes alone, and within its model. */
static void
add_layer(struct sl__doc *doc, const struct sl_layer_profile *l,
	  const char *unit)
{
	struct sl__text a, b;

	sl__doc_pair(doc, "layer", SL__STYLE_STRONG, "%s", l->layer);
	sl__doc_append_plain(doc, " of %s", l->model);
	sl__doc_plain_pair(doc, "within it", "%s, alone ",
			   sl__time_estimate(&a, &l->context_ns, unit));
	sl__doc_append_plain(doc, "%s",
			     sl__time_estimate(&b, &l->alone_ns, unit));
	sl__doc_pair(doc, "ratio", SL__STYLE_STRONG, "%s",
		     sl__ratio_estimate(&a, &l->ratio));
	if (l->finding.kind)
		sl__doc_append_plain(doc, "  %s",
				     sl__doc_fact_sentence(doc, &l->finding));
}

static void
add_headline(struct sl__doc *doc, const struct sl__profile_sheet *sheet)
{
	const struct sl_profile *p = sheet->profile;
	const char *unit = sheet->how->unit;
	struct sl__text t;

	add_title(doc, p);
	if (sheet->view->layer)
		add_layer(doc, sheet->view->layer, unit);
	if (p->latency.n == 0) {
		sl__doc_pair(doc, "latency", SL__STYLE_WARN,
			     "no iteration was timed");
		return;
	}
	if (sheet->how->verbose) {
		sl__page_latency(doc, &p->latency, "sample", unit);
		sl__doc_plain_pair(doc, "rates", "%s", "");
		add_rates(doc, &p->rates);
		sl__page_detectable_change(doc, &p->latency, p->elapsed_s);
		sl__page_noise(doc, &p->noise, "measurement", 1);
	} else {
		add_latency(doc, p, unit);
		sl__page_percentiles(doc, &p->latency, unit, 1);
		sl__doc_append_dim(
			doc, "; the first took %s",
			sl__time_text_in_unit(&t, p->latency.first_ns, unit));
		add_basis(doc, p);
	}
	add_disturbed(doc, &p->noise);
	sl__profile_explain(doc, SL__TOPIC_LATENCY, sheet);
}

/* Decimals with which 'value' has four digits. */
static int
decimals_for(double value)
{
	double x = fabs(value);

	return x >= 1000 ? 0 : x >= 100 ? 1 : x >= 10 ? 2 : 3;
}

static void
add_entry(struct sl__doc *doc, const char *sign, double ns, const char *unit,
	  int decimals)
{
	sl__doc_append_plain(doc, " %s %.*f", sign, decimals,
			     sl__time_scaled(ns, &unit));
}

/* Whether the verdict has said it above. */
static int
is_evidence(const struct sl_finding *f, enum sl_fact_kind kind)
{
	for (size_t i = 0; i < f->n_evidence; i++) {
		if (f->evidence[i].kind == kind)
			return 1;
	}
	return 0;
}

static void
add_accounting(struct sl__doc *doc, const struct sl__profile_sheet *sheet)
{
	const struct sl_ledger *l = &sheet->profile->ledger;
	const struct sl_finding *f = &sheet->profile->verdict;
	const char *unit = sheet->how->unit;
	double wall = sl__time_scaled(l->wall_ns, &unit);
	int decimals = decimals_for(wall);
	struct sl__text t;

	if (l->absent || !l->n_iterations) {
		sl__doc_pair(doc, "accounting", SL__STYLE_WARN, "none: %s",
			     l->absent ? l->absent : "nothing was recorded");
		return;
	}
	sl__doc_plain_pair(doc, "accounting", "mean ");
	sl__doc_append(doc, SL__STYLE_STRONG, "%.*f %s", decimals, wall, unit);
	add_entry(doc, "=", l->operations_ns, unit, decimals);
	sl__doc_append_dim(doc, " operations");
	add_entry(doc, "+", l->gaps_ns, unit, decimals);
	sl__doc_append_dim(doc, " gaps");
	add_entry(doc, l->overhead_ns.value < 0 ? "−" : "+",
		  fabs(l->overhead_ns.value), unit, decimals);
	/* It is a difference of times, so noise can turn its sign. */
	sl__doc_append_dim(doc, " recording%s",
			   l->overhead_ns.value < 0 ? " (noise)" : "");
	add_entry(doc, l->residual_ns < 0 ? "−" : "+", fabs(l->residual_ns),
		  unit, decimals);
	sl__doc_append_dim(doc,
			   l->residual_ns < 0 ? " excess" : " unattributed");
	sl__doc_append(doc, l->is_closed ? SL__STYLE_GOOD : SL__STYLE_WARN,
		       " (%s: %s)",
		       sl__percent_text(&t, fabs(l->residual_share)),
		       l->is_closed ? "adds up within 2 %"
				    : "does not add up within 2 %");
	if (l->n_left_out)
		sl__doc_append_dim(doc, "; without %zu disturbed iteration%s",
				   l->n_left_out,
				   l->n_left_out == 1 ? "" : "s");
	if (l->open.kind && !is_evidence(f, l->open.kind))
		sl__doc_pair(doc, "", SL__STYLE_WARN, "%s",
			     sl__doc_fact_sentence(doc, &l->open));
}

static void
add_impossible(struct sl__doc *doc, const struct sl_profile *p)
{
	for (size_t i = 0; i < p->n_impossible; i++)
		sl__doc_pair(doc, i ? "" : "impossible", SL__STYLE_BAD, "%s",
			     sl__doc_fact_sentence(doc, &p->impossible[i]));
}

static void
add_remarks(struct sl__doc *doc, const struct sl__profile_sheet *sheet)
{
	const struct sl_profile *p = sheet->profile;
	size_t n = p->n_remarks;

	if (!sheet->how->verbose && n > REMARKS_SHOWN)
		n = REMARKS_SHOWN;
	if (n || p->stopped_by == SL_STOP_INTERRUPT)
		sl__doc_gap(doc);
	for (size_t i = 0; i < n; i++)
		sl__doc_text(doc, SL__STYLE_DIM, "%s",
			     sl__doc_fact_sentence(doc, &p->remarks[i]));
	if (n < p->n_remarks)
		sl__doc_text(doc, SL__STYLE_DIM, "and %zu more (-v: all)",
			     p->n_remarks - n);
	sl__page_interrupted(doc, p->stopped_by);
}

static void
add_model(struct sl__doc *doc, const struct sl__profile_sheet *sheet)
{
	int is_brief = is_brief_profile(sheet->profile);

	add_headline(doc, sheet);
	if (sheet->profile->why) {
		sl__profile_why(doc, sheet);
		add_remarks(doc, sheet);
		return;
	}
	sl__profile_training(doc, sheet);
	if (!is_brief)
		sl__profile_verdict(doc, sheet);
	add_impossible(doc, sheet->profile);
	if (!is_brief)
		sl__profile_explain(doc, SL__TOPIC_VERDICT, sheet);
	sl__profile_operations(doc, sheet);
	sl__profile_explain(doc, SL__TOPIC_OPERATIONS, sheet);
	sl__doc_gap(doc);
	if (!sheet->how->verbose)
		sl__profile_parts(doc, sheet->profile);
	add_accounting(doc, sheet);
	sl__profile_explain(doc, SL__TOPIC_ACCOUNTING, sheet);
	sl__profile_memory(doc, sheet);
	sl__profile_explain(doc, SL__TOPIC_MEMORY, sheet);
	if (!is_brief) {
		sl__profile_roofline(doc, sheet);
		sl__profile_explain(doc, SL__TOPIC_ROOFLINE, sheet);
	}
	if (sheet->how->verbose)
		sl__profile_traffic(doc, sheet);
	if (sheet->how->verbose)
		sl__profile_counters(doc, sheet);
	if (sheet->how->verbose)
		sl__doc_pair(doc, "seed", SL__STYLE_DIM, "%llu",
			     (unsigned long long)sheet->profile->seed);
	if (!is_brief)
		sl__profile_amdahl(doc, sheet);
	if (sheet->profile->n_advice ||
	    sl__profile_recompute_saving(sheet->profile) ||
	    (!is_brief && !sheet->profile->training &&
	     !sl__profile_is_disturbed(sheet->profile)))
		sl__profile_advice(doc, sheet);
	if (sheet->how->verbose)
		sl__profile_evidence(doc, sheet);
	add_remarks(doc, sheet);
}

void
sl__profile_page(struct sl__doc *doc, const void *result,
		 const struct sl_render_options *how)
{
	const struct sl__profile_page_input *r = result;

	if (r->profiles.n > 1)
		sl__profile_side_by_side(doc, r, how);
	if (r->profiles.n > 1 && !how->verbose && !r->view.n_top &&
	    r->view.by == SL_PROFILE_BY_OPERATION && !r->view.explain)
		return;
	for (size_t k = 0; k < r->profiles.n; k++) {
		const struct sl__profile_sheet sheet = {r->profiles.list[k],
							&r->view, how};

		add_model(doc, &sheet);
	}
}
