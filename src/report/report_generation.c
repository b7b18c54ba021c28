/* SPDX-License-Identifier: Apache-2.0 */
/* report_generation.c - a decoding loop: a table, charts and sentences. */
#include "base/buf.h"
#include "report/bar.h"
#include "report/figures.h"
#include "report/generation_narrative.h"
#include "report/inspect_page.h"
#include "report/phrase.h"
#include "report/render.h"
#include "report/result_page.h"
#include "report/unit.h"
#include "result/tables.h"

#include <math.h>
#include <stdio.h>

#include "base/banned.h"

enum {
	BAR_COLUMNS = 32, /* where there is room */
	BESIDE_BARS = 48, /* token, context, time and gaps */
	BARS_MOST = 16
};

static void
add_time(struct sl__doc *doc, const struct sl_estimate *e, int is_fitted)
{
	struct sl__text t;

	if (!e->n)
		sl__doc_cell(doc, SL__STYLE_DIM, "-");
	else
		sl__doc_cell(doc, SL__STYLE_PLAIN, "%s%s", is_fitted ? "~" : "",
			     sl__time_estimate(&t, e, NULL));
}

static void
add_rate(struct sl__doc *doc, const struct sl_estimate *e)
{
	int n_digits = e->value < 10 ? 2 : e->value < 100 ? 1 : 0;

	if (!e->n)
		sl__doc_cell(doc, SL__STYLE_DIM, "-");
	else if (e->needs_n || !isfinite(e->lo) || !isfinite(e->hi))
		sl__doc_cell(doc, SL__STYLE_PLAIN, "%.*f", n_digits, e->value);
	else
		sl__doc_cell(doc, SL__STYLE_PLAIN, "%.*f [%.*f, %.*f]",
			     n_digits, e->value, n_digits, e->lo, n_digits,
			     e->hi);
}

static void
add_count(struct sl__doc *doc, const char *text)
{
	sl__doc_cell(doc, SL__STYLE_PLAIN, "%s", text);
}

/* The figures of a loop, in the order of their words. */
enum { FIRST, FURTHER, TOTAL, RATE, STEADY, MEMORY, CACHE, FLOPS };

static void
add_figure(struct sl__doc *doc, const struct sl_decoding *d, int figure)
{
	struct sl__text t;

	if (figure == FIRST)
		add_time(doc, &d->first_ns, d->first_is_fitted);
	else if (figure == FURTHER)
		add_time(doc, &d->further_ns, !d->is_complete);
	else if (figure == TOTAL)
		add_time(doc, &d->total_ns, d->total_is_fitted);
	else if (figure == RATE)
		add_rate(doc, &d->tokens_per_s);
	else if (figure == STEADY)
		add_rate(doc, &d->steady_per_s);
	else if (figure == MEMORY)
		add_count(doc, sl__bytes_text(&t, (double)d->memory_bytes));
	else if (figure == CACHE)
		add_count(doc, sl__bytes_text(&t, d->cache_bytes));
	else
		add_count(doc, sl__si_prefix_text(&t, d->flops.value));
}

/* One row a figure, one column a loop. */
static void
add_figures(struct sl__doc *doc, const struct sl_generation *g)
{
	static const struct sl__column both[] = {
		{"", 0, 0}, {"without cache", 1, 0}, {"with cache", 1, 0}};
	static const struct sl__column with[] = {{"", 0, 0},
						 {"with cache", 1, 0}};
	static const char *const words[] = {"time to first token",
					    "time per decode step",
					    "total time",
					    "tokens/s",
					    "tokens/s, decode steps",
					    "memory at the end",
					    "  of which KV cache",
					    "FLOPs"};
	int is_fitted = 0;

	sl__doc_table(doc, g->loops[0].has_cache ? with : both, g->n_loops + 1);
	for (int f = FIRST; f <= FLOPS; f++) {
		sl__doc_cell(doc, SL__STYLE_STRONG, "%s", words[f]);
		for (size_t i = 0; i < g->n_loops; i++)
			add_figure(doc, &g->loops[i], f);
	}
	for (size_t i = 0; i < g->n_loops; i++)
		is_fitted |= g->loops[i].first_is_fitted ||
			     g->loops[i].total_is_fitted ||
			     !g->loops[i].is_complete;
	if (is_fitted)
		sl__doc_text(doc, SL__STYLE_DIM,
			     "~: extrapolated from the steps that were "
			     "measured");
}

/* Both loops have one scale, so that they can be compared. */
static double
longest_of(const struct sl_generation *g)
{
	double most = 0;

	for (size_t i = 0; i < g->n_loops; i++) {
		const struct sl_decoding *d = &g->loops[i];

		for (size_t k = 0; k < d->n_steps; k++) {
			if (d->steps[k].n_visits)
				most = fmax(most, d->steps[k].time_ns.value);
		}
	}
	return most;
}

static void
add_bar(struct sl__doc *doc, const struct sl_decode_step *s, double most,
	size_t n_bar)
{
	struct sl__text t, token = {"prompt"};
	struct sl__bar bar;

	if (!s->n_visits)
		return;
	if (s->nth)
		snprintf(token.s, sizeof(token.s), "%lld", (long long)s->nth);
	sl__doc_drawing(doc, s->nth ? SL__STYLE_PLAIN : SL__STYLE_DIM,
			"%7s  %7lld  %s %s", token.s, (long long)s->context,
			sl__bar_padded(&bar, s->time_ns.value / most, n_bar),
			sl__time_estimate(&t, &s->time_ns, NULL));
}

static void
add_chart(struct sl__doc *doc, const struct sl_decoding *d,
	  int64_t n_prompt_steps, double most,
	  const struct sl_render_options *how)
{
	size_t n_bar = sl__bar_columns_that_fit(how->n_columns, 1, BESIDE_BARS,
						BAR_COLUMNS);
	size_t stride = 1, n_prompt = 0;

	while (!how->verbose && d->n_steps / stride > BARS_MOST)
		stride++;
	sl__doc_gap(doc);
	sl__doc_text(doc, SL__STYLE_STRONG, "%s cache, per step",
		     d->has_cache ? "With" : "Without");
	sl__doc_append(doc, SL__STYLE_DIM, "  %s", d->name);
	for (size_t k = 0; k < d->n_steps; k++)
		n_prompt += !d->steps[k].nth && d->steps[k].n_visits;
	if (n_prompt && (int64_t)n_prompt < n_prompt_steps)
		sl__doc_append_dim(doc, "; %zu of %lld prompt steps measured",
				   n_prompt, (long long)n_prompt_steps);
	sl__doc_drawing(doc, SL__STYLE_DIM, "%7s  %7s", "token", "context");
	for (size_t k = 0; k < d->n_steps; k++) {
		if (k % stride == 0 || k + 1 == d->n_steps)
			add_bar(doc, &d->steps[k], most, n_bar);
	}
}

static void
add_plans(struct sl__doc *doc, const struct sl_generation *g)
{
	double longest = 0;
	struct sl__phrase t;

	for (size_t i = 0; i < g->n_loops; i++) {
		for (size_t k = 0; k < g->loops[i].n_steps; k++)
			longest = fmax(longest, g->loops[i].steps[k].plan_ns);
	}
	sl__doc_append_dim(doc,
			   "; times exclude planning, up to %s for each step, "
			   "as each has its own sizes",
			   sl__phrase_time(&t, longest));
}

static void
add_disturbed(struct sl__doc *doc, const struct sl_generation *g)
{
	size_t n = 0, n_visits = 0;

	for (size_t i = 0; i < g->n_loops; i++) {
		for (size_t k = 0; k < g->loops[i].n_steps; k++) {
			n += g->loops[i].steps[k].n_disturbed;
			n_visits += g->loops[i].steps[k].n_visits;
		}
	}
	if (n)
		sl__doc_text(doc, SL__STYLE_WARN,
			     "Background load on more than 15 %% of the CPUs "
			     "disturbed %zu of %zu visits.",
			     n, n_visits);
}

static void
narrate(struct sl__narrative *to, const void *record, const void *parent)
{
	(void)parent;
	sl__generation_narrate(to, record);
}

static void
tell(struct sl__json *json, const char *key, const void *record,
     const void *parent)
{
	(void)key;
	sl__narrator_json(json, narrate, record, parent);
}

static void
page(struct sl__doc *doc, const void *result,
     const struct sl_render_options *how)
{
	const struct sl_generation *g = result;
	const char *title = sl__model_display_name(g->name, g->source);
	double most = longest_of(g);
	size_t has_total = g->cache.measured_total.n && g->n_loops > 1;
	struct sl__narrative told;

	sl__narrative_init(&told, NULL);
	sl__generation_narrate(&told, g);
	sl__doc_heading(doc, "%s, %lld token%s from a prompt of %lld", title,
			(long long)g->n_tokens, g->n_tokens == 1 ? "" : "s",
			(long long)g->prompt);
	sl__doc_text(doc, SL__STYLE_DIM,
		     "%s on %d thread%s, batch %lld; medians [95 %%] over %zu "
		     "round%s, seed %llu",
		     sl_dtype_text(g->dtype), g->n_threads,
		     g->n_threads == 1 ? "" : "s", (long long)g->batch,
		     g->n_rounds, g->n_rounds == 1 ? "" : "s",
		     (unsigned long long)g->seed);
	add_plans(doc, g);
	if (has_total && told.n) /* the answer first */
		sl__doc_text(doc, SL__STYLE_STRONG, "%s", told.list[0]);
	add_figures(doc, g);
	for (size_t i = 0; i < g->n_loops; i++)
		add_chart(doc, &g->loops[i], g->prompt - 1, most, how);
	sl__doc_gap(doc);
	for (size_t i = has_total; i < told.n; i++)
		sl__doc_text(doc, SL__STYLE_PLAIN, "- %s", told.list[i]);
	doc->failed |= told.has_failed;
	sl__narrative_release(&told);
	sl__doc_gap(doc);
	add_disturbed(doc, g);
	sl__page_interrupted(doc, g->stopped_by);
}

/* Of the loop that a reader would take: with a cache where there is one. */
static void
add_tiles(struct sl__views *v, const struct sl_decoding *d, size_t i)
{
	const struct sl_estimate *const times[] = {&d->first_ns,
						   &d->further_ns};
	static const char *const labels[] = {"Time to first token",
					     "Time of a further token"};
	static const char *const keys[] = {"first_token_ms",
					   "further_token_ms"};
	const int is_fitted[] = {d->first_is_fitted, !d->is_complete};
	struct sl__text value, interval;
	char path[64];

	for (size_t k = 0; k < 2; k++) {
		if (!times[k]->n)
			continue;
		snprintf(path, sizeof(path), "generation.loops.%zu.%s", i,
			 keys[k]);
		sl__views_tile(
			v, labels[k], path,
			sl__time_value(&value, times[k], NULL), "%s%s",
			sl__figure_time_interval(&interval, times[k], "steps"),
			is_fitted[k] ? ", extrapolated" : "");
	}
	snprintf(path, sizeof(path), "generation.loops.%zu.tokens_per_s", i);
	if (d->tokens_per_s.n)
		sl__views_tile(
			v, "Tokens/s", path,
			sl__three_digit_text(&value, d->tokens_per_s.value),
			"whole loop, %s cache; %s of memory",
			d->has_cache ? "with" : "without",
			sl__bytes_text(&interval, (double)d->memory_bytes));
}

/* The steps that were measured, of both loops, by what they took. */
static void
add_steps(struct sl__views *v, const struct sl_generation *g)
{
	const struct sl__figure figure = {"steps", "Time of a step", "s",
					  "time of a step", 0};
	struct sl__figure_interval rows[2 * BARS_MOST];
	struct sl__text texts[2 * BARS_MOST];
	char names[2 * BARS_MOST][64];
	size_t n = 0;

	for (size_t i = 0; i < g->n_loops; i++) {
		const struct sl_decoding *d = &g->loops[i];
		size_t most = n + BARS_MOST;

		for (size_t k = 0; k < d->n_steps && n < most; k++) {
			const struct sl_estimate *e = &d->steps[k].time_ns;

			if (!e->n)
				continue;
			snprintf(names[n], sizeof(names[n]),
				 "%s cache, context %lld",
				 d->has_cache ? "with" : "without",
				 (long long)d->steps[k].context);
			rows[n] = (struct sl__figure_interval){
				.name = names[n],
				.colour = d->has_cache ? 2 : 0,
				.value = 1e-9 * e->value,
				.lo = e->needs_n ? 0 : 1e-9 * e->lo,
				.hi = e->needs_n ? 0 : 1e-9 * e->hi,
				.text = sl__time_estimate(&texts[n], e, NULL)};
			n++;
		}
	}
	sl__views_open(v, "steps", "Steps");
	if (sl__figure_intervals(v, &figure, rows, n))
		sl__views_figure_end(v, "Medians with their 95 %% intervals, "
					"by the tokens that a step works with; "
					"green with a cache.");
}

static void
write_views(struct sl__views *v, const void *result)
{
	const struct sl_generation *g = result;
	struct sl__narrative told;

	sl__views_title(v, sl__model_display_name(g->name, g->source),
			"Generation",
			"%lld token%s from a prompt of %lld, batch %lld, %s on "
			"%d thread%s",
			(long long)g->n_tokens, g->n_tokens == 1 ? "" : "s",
			(long long)g->prompt, (long long)g->batch,
			sl_dtype_text(g->dtype), g->n_threads,
			g->n_threads == 1 ? "" : "s");
	if (!g->n_loops || g->n_loops > 2)
		return;
	sl__narrative_init(&told, NULL);
	sl__generation_narrate(&told, g);
	sl__views_open(v, "summary", "Summary");
	add_tiles(v, &g->loops[g->n_loops - 1], g->n_loops - 1);
	if (told.n)
		sl__views_text(v, "lead", "%s", told.list[0]);
	if (told.has_failed)
		sl__buf_mark_failed(v->out);
	sl__narrative_release(&told);
	add_steps(v, g);
}

enum sl_status
sl_generation_render(const struct sl_generation *g,
		     const struct sl_render_options *how, struct sl_buf *out,
		     struct sl_error *err)
{
	static const struct sl__renderer renderer = {
		.kind = "a generation",
		.command = "generate",
		.page = page,
		.views = write_views,
		.tell = tell,
		.table = &sl__table_generation,
		.csv_rows = "generation/loops/steps",
		.csv_columns =
			"model=../name,cache=../cache?without!with,token,"
			"context,computed_tokens,visits,iterations,median_ms,"
			"ci95_lo_ms=median_ci95_ms/lo,"
			"ci95_hi_ms=median_ci95_ms/hi,plan_ms,flops",
	};

	return sl__render(&renderer, g, how, out, err);
}
