/* SPDX-License-Identifier: Apache-2.0 */
/* report_load.c - a model under load: verdict, latency, queue, search. */
#include "report/bar.h"
#include "report/figures.h"
#include "report/inspect_page.h"
#include "report/phrase.h"
#include "report/render.h"
#include "report/result_page.h"
#include "report/unit.h"
#include "result/tables.h"
#include "sleuth/loading.h"

#include <math.h>
#include <stdio.h>

#include "base/banned.h"

enum { ROWS_MOST = 12, BAR_COLUMNS = 24, BESIDE_BARS = 40 };

static const char *
plural(size_t n)
{
	return n == 1 ? "" : "s";
}

/* "p99", "p99.9". */
static const char *
percentile_text(struct sl__text *t, double percentile)
{
	snprintf(t->s, sizeof(t->s), "p%.6g", 100 * percentile);
	return t->s;
}

/* "203", "872,891". */
static const char *
rate_text(struct sl__text *t, double per_s)
{
	return per_s < 1000 ? sl__three_digit_text(t, per_s)
			    : sl__count_text(t, (uint64_t)llround(per_s));
}

static void
add_rate(struct sl__doc *doc, const struct sl_load *l, enum sl__style style)
{
	struct sl__text rate;

	if (l->scenario == SL_SCENARIO_SERVER)
		sl__doc_append(doc, style, " at %s queries/s",
			       rate_text(&rate, l->rate_per_s));
}

static void
add_verdict(struct sl__doc *doc, const struct sl_load *l)
{
	static const char *const says[] = {"", "Holds", "Does not hold",
					   "Undecided:", "Invalid:"};
	static const enum sl__style styles[] = {SL__STYLE_PLAIN, SL__STYLE_GOOD,
						SL__STYLE_BAD, SL__STYLE_WARN,
						SL__STYLE_WARN};
	enum sl__style style = styles[l->verdict];
	struct sl__text p, share, all;
	struct sl__phrase limit;

	if (l->is_overloaded) {
		sl__doc_text(doc, SL__STYLE_BAD, "Cannot hold %s queries/s:",
			     rate_text(&share, l->rate_per_s));
		sl__doc_append(doc, SL__STYLE_BAD,
			       " the model served %s, and the queue grew to "
			       "%zu.",
			       rate_text(&all, l->achieved_per_s),
			       l->depth_most);
		return;
	}
	if (l->verdict == SL_LOAD_UNLIMITED)
		return;
	sl__doc_text(doc, style, "%s %s within %s", says[l->verdict],
		     percentile_text(&p, l->percentile),
		     sl__phrase_time(&limit, l->limit_ns));
	add_rate(doc, l, style);
	sl__doc_append(doc, style, ": %zu of %s late (%s).", l->n_late,
		       sl__count_text(&all, l->n_served + l->n_unserved),
		       sl__percent_text(&share, l->late_share));
}

/* Why a verdict is open, and what would settle it. */
static void
add_evidence(struct sl__doc *doc, const struct sl_load *l)
{
	struct sl__text p;

	if (l->verdict == SL_LOAD_UNDECIDED)
		sl__doc_text(doc, SL__STYLE_PLAIN,
			     "%s queries are worth %.0f independent ones: in a "
			     "queue late ones come together.",
			     sl__count_text(&p, l->n_served), l->n_independent);
	if (l->needs_n)
		sl__doc_append_plain(doc,
				     " About %zu like these, none late, would "
				     "prove it.",
				     l->needs_n);
	if (l->verdict == SL_LOAD_INVALID)
		sl__doc_text(doc, SL__STYLE_WARN,
			     "Queries were handed to an idle model late; "
			     "without that %s would not be beyond the limit.",
			     percentile_text(&p, l->percentile));
	if (l->n_unserved)
		sl__doc_text(doc, SL__STYLE_WARN,
			     "%zu quer%s waited at the end: latencies below "
			     "are of those served.",
			     l->n_unserved, l->n_unserved == 1 ? "y" : "ies");
}

static void
add_rates(struct sl__doc *doc, const struct sl_load *l)
{
	struct sl__text a, b, c;
	struct sl__phrase late;

	sl__doc_plain_pair(doc, "served", "%s queries/s",
			   rate_text(&a, l->achieved_per_s));
	if (l->scenario == SL_SCENARIO_SERVER)
		sl__doc_append_dim(doc, "  %s asked, %s drawn, %s at most",
				   rate_text(&a, l->rate_per_s),
				   rate_text(&b, l->scheduled_per_s),
				   rate_text(&c, l->capacity_per_s));
	else
		sl__doc_append_dim(doc, "  %s samples/s",
				   rate_text(&a, l->achieved_per_s *
							 (double)l->n_samples));
	if (l->scenario != SL_SCENARIO_SERVER)
		return;
	sl__doc_plain_pair(doc, "queue", "%.1f on average, %zu at most",
			   l->depth_mean, l->depth_most);
	sl__doc_append_dim(doc, "  model busy %s of the time",
			   sl__percent_text(&a, l->busy_share));
	if (!l->lateness_p50.n)
		return;
	sl__doc_plain_pair(doc, "dispatch", "median %s late",
			   sl__phrase_time(&late, l->lateness_p50.value));
	sl__doc_append_plain(doc, ", p99 %s",
			     sl__time_percentile(&b, &l->lateness_p99, NULL));
	sl__doc_append_dim(doc, "  %s found the model idle",
			   sl__count_text(&a, l->lateness_p50.n));
}

static void
add_batches(struct sl__doc *doc, const struct sl_load *l)
{
	static const struct sl__column columns[] = {{"queries together", 1, 0},
						    {"runs", 1, 0},
						    {"time", 1, 0},
						    {"queries/s", 1, 0}};
	struct sl__text t;

	if (l->n_batches < 2)
		return;
	sl__doc_gap(doc);
	sl__doc_table(doc, columns, 4);
	for (size_t i = 0; i < l->n_batches; i++) {
		const struct sl_load_batch *b = &l->batches[i];

		sl__doc_cell(doc, SL__STYLE_PLAIN, "%zu", b->n_queries);
		sl__doc_cell(doc, SL__STYLE_PLAIN, "%zu", b->n_runs);
		sl__doc_plain_cell(doc, sl__time_value(&t, &b->time_ns, NULL));
		sl__doc_plain_cell(doc, sl__three_digit_text(
						&t, 1e9 * (double)b->n_queries /
							    b->time_ns.value));
	}
}

static void
add_search(struct sl__doc *doc, const struct sl_load *l)
{
	static const struct sl__column columns[] = {
		{"rate", 1, 0}, {"time", 1, 0},    {"queries", 1, 0},
		{"late", 1, 0}, {"verdict", 0, 0}, {"", 0, 0}};
	struct sl__text t;

	if (!l->n_probes)
		return;
	sl__doc_gap(doc);
	sl__doc_text(doc, SL__STYLE_STRONG, "Rates tried");
	sl__doc_table(doc, columns, 6);
	for (size_t i = 0; i < l->n_probes; i++) {
		const struct sl_load_probe *p = &l->probes[i];

		sl__doc_plain_cell(doc,
				   sl__three_digit_text(&t, p->rate_per_s));
		sl__doc_plain_cell(doc, sl__time_text(&t, p->time_s * 1e9));
		sl__doc_cell(doc, SL__STYLE_PLAIN, "%zu", p->n_served);
		sl__doc_cell(doc, SL__STYLE_PLAIN, "%zu", p->n_late);
		sl__doc_plain_cell(doc, sl_load_verdict_text(p->verdict));
		sl__doc_cell(doc, SL__STYLE_DIM, "%s",
			     p->is_confirmation ? "confirmation" : "");
	}
}

/* "0.25 s": when the stretch begins whose middle is 'at_s', in the unit of the
 * whole. */
static const char *
start_text(struct sl__text *t, const struct sl_load *l, double at_s)
{
	const char *unit = NULL, *same;
	double whole = sl__time_scaled(l->load_s * 1e9, &unit), at;

	same = unit;
	at = sl__time_scaled((at_s - l->over_time[0].at_s) * 1e9, &same);
	snprintf(t->s, sizeof(t->s), "%.*f %s",
		 whole < 10    ? 2
		 : whole < 100 ? 1
			       : 0,
		 at, unit);
	return t->s;
}

/* The longest latency of each of a few stretches of time. */
static void
add_over_time(struct sl__doc *doc, const struct sl_load *l,
	      const struct sl_render_options *how)
{
	size_t stride = (l->n_over_time + ROWS_MOST - 1) / ROWS_MOST;
	size_t n_bar = sl__bar_columns_that_fit(how->n_columns, 1, BESIDE_BARS,
						BAR_COLUMNS);
	struct sl__bar bar;
	struct sl__text at, t;

	if (!l->n_over_time)
		return;
	sl__doc_gap(doc);
	sl__doc_text(doc, SL__STYLE_STRONG,
		     "Longest latency, by the time since the start");
	for (size_t i = 0; i < l->n_over_time; i += stride) {
		size_t end = i + stride, depth = 0;
		double longest = (double)NAN;

		for (size_t k = i; k < end && k < l->n_over_time; k++) {
			longest = fmax(longest, l->over_time[k].max_ns);
			if (l->over_time[k].depth_most > depth)
				depth = l->over_time[k].depth_most;
		}
		if (isnan(longest) && !depth)
			continue;
		start_text(&at, l, l->over_time[i].at_s);
		sl__doc_drawing(doc, SL__STYLE_PLAIN, "%9s  %s %s", at.s,
				sl__bar_padded(&bar,
					       longest / l->latency.max_ns,
					       n_bar),
				sl__time_text(&t, longest));
		if (depth)
			sl__doc_append_dim(doc, ", %zu waited", depth);
	}
}

static void
add_rules(struct sl__doc *doc, const struct sl_load *l)
{
	const struct sl_load_rules *r = &l->rules;

	if ((r->has_duration && r->has_queries) || l->verdict == SL_LOAD_FAILS)
		return;
	sl__doc_text(doc, SL__STYLE_DIM, "Shorter than MLPerf's rules:");
	if (!r->has_duration)
		sl__doc_append_dim(doc, " %.3g of %.0f s", l->load_s,
				   r->duration_s);
	if (!r->has_queries)
		sl__doc_append_dim(doc, "%s %zu of %zu queries",
				   r->has_duration ? "" : ",", l->n_served,
				   r->n_queries);
	sl__doc_append_dim(doc, ".");
}

static void
page(struct sl__doc *doc, const void *result,
     const struct sl_render_options *how)
{
	const struct sl_load *l = result;
	struct sl__phrase time;
	struct sl__text n, t;

	sl__doc_heading(doc, "%s under load, %s scenario",
			sl__model_display_name(l->name, l->source),
			sl_scenario_text(l->scenario));
	sl__doc_text(doc, SL__STYLE_DIM,
		     "%s on %d thread%s, %zu sample%s a query%s; %s "
		     "quer%s in %s, seed %llu",
		     sl_dtype_text(l->dtype), l->n_threads,
		     plural((size_t)l->n_threads), l->n_samples,
		     plural(l->n_samples),
		     l->is_batch_fixed && l->n_samples > 1 ? ", in turn" : "",
		     sl__count_text(&n, l->n_served),
		     l->n_served == 1 ? "y" : "ies",
		     sl__phrase_time(&time, l->load_s * 1e9),
		     (unsigned long long)l->seed);
	add_verdict(doc, l);
	add_evidence(doc, l);
	sl__doc_gap(doc);
	sl__page_latency(doc, &l->latency, "time", how->unit);
	if (!l->p999.needs_n)
		sl__doc_plain_pair(doc, "p99.9", "%s",
				   sl__time_estimate(&t, &l->p999, how->unit));
	add_rates(doc, l);
	if (!l->energy_j.absent)
		sl__doc_plain_pair(doc, "energy", "%.3g J", l->energy_j.value);
	add_batches(doc, l);
	add_search(doc, l);
	add_over_time(doc, l, how);
	sl__doc_gap(doc);
	add_rules(doc, l);
	sl__page_noise_warning(doc, &l->noise, "run");
	sl__page_interrupted(doc, l->stopped_by);
}

enum sl_status
sl_load_render(const struct sl_load *l, const struct sl_render_options *how,
	       struct sl_buf *out, struct sl_error *err)
{
	static const struct sl__renderer renderer = {
		.kind = "a load",
		.command = "load",
		.page = page,
		.views = sl__load_views,
		.table = &sl__table_load,
		.csv_rows = "load/over_time",
		.csv_columns =
			"model=../../model/name,scenario=../scenario,at_ms,"
			"queries,median_ms,max_ms,depth_most",
	};

	return sl__render(&renderer, l, how, out, err);
}
