/* SPDX-License-Identifier: Apache-2.0 */
/* views_suite.c - the views of a suite: times, ratios and memory of its cells. */
#include "report/figures.h"
#include "report/unit.h"
#include "sleuth/suites.h"

#include <math.h>
#include <stdio.h>

#include "base/banned.h"

enum { BARS_MOST = 40 };

/* A figure of a cell as a bar: what to draw, and its text. */
struct column {
	const char *name, *title, *note;
	double (*value)(const struct sl_suite *s, size_t i);
	const char *(*text)(struct sl__text *t, const struct sl_suite_cell *c);
	double whole; /* of sl__figure_bars_of() */
};

static double
memory_of(const struct sl_suite *s, size_t i)
{
	return s->cells[i].failed ? (double)NAN
				  : (double)s->cells[i].memory_bytes;
}

static const char *
memory_text(struct sl__text *t, const struct sl_suite_cell *c)
{
	return sl__bytes_text(t, (double)c->memory_bytes);
}

static double
accuracy_of(const struct sl_suite *s, size_t i)
{
	return s->cells[i].accuracy_absent ? (double)NAN
					   : s->cells[i].accuracy.value;
}

static const char *
accuracy_text(struct sl__text *t, const struct sl_suite_cell *c)
{
	return sl__percent_text(t, c->accuracy.value);
}

/* What a cell is called. */
static void
name_cell(char name[96], const struct sl_suite_cell *c)
{
	int is_single = c->scenario == SL_SCENARIO_SINGLE;

	snprintf(name, 96, "%.30s %.24s%s%s", c->name, c->variant,
		 is_single ? "" : " ",
		 is_single ? "" : sl_scenario_text(c->scenario));
}

static const struct sl_estimate *
time_estimate(const struct sl_suite *s, size_t i)
{
	return s->cells[i].time_ns.n ? &s->cells[i].time_ns : NULL;
}

static const struct sl_estimate *
ratio_estimate(const struct sl_suite *s, size_t i)
{
	const struct sl_suite_cell *c = &s->cells[i];

	return c->baseline != i && c->ratio.n ? &c->ratio : NULL;
}

/* Faster, slower, or not decided. */
static int
ratio_colour(const struct sl_estimate *e)
{
	if (!sl__figure_has_interval(e))
		return 7;
	return e->hi < 1 ? 2 : e->lo > 1 ? 1 : 7;
}

/* Estimates of cells with their intervals: times, or ratios to baselines. */
static void
add_intervals(struct sl__views *v, const struct sl_suite *s, int is_ratio)
{
	const struct sl__figure figures[] = {
		{"times", "Time of a query", "s", "time of a query", 0},
		{"ratios", "Time against the baseline", NULL,
		 "time / baseline's time", 1}};
	struct sl__figure_interval rows[BARS_MOST];
	struct sl__text texts[BARS_MOST];
	char names[BARS_MOST][96];
	double scale = is_ratio ? 1 : 1e-9;
	size_t n = 0, n_intervals = 0;

	for (size_t i = 0; i < s->n_cells && n < BARS_MOST; i++) {
		const struct sl_estimate *e = is_ratio ? ratio_estimate(s, i)
						       : time_estimate(s, i);

		if (!e)
			continue;
		n_intervals += (size_t)sl__figure_has_interval(e);
		name_cell(names[n], &s->cells[i]);
		rows[n] = (struct sl__figure_interval){
			.name = names[n],
			.colour = is_ratio                    ? ratio_colour(e)
				  : s->cells[i].baseline == i ? 0
							      : 7,
			.value = scale * e->value,
			.lo = scale * e->lo,
			.hi = scale * e->hi,
			.text = is_ratio ? sl__ratio_estimate(&texts[n], e)
					 : sl__time_estimate(&texts[n], e,
							     NULL)};
		n++;
	}
	if (!n)
		return;
	sl__views_open(v, figures[is_ratio].name, figures[is_ratio].title);
	if (sl__figure_intervals(v, &figures[is_ratio], rows, n))
		sl__views_figure_end(
			v, "%s%s%s",
			is_ratio ? "Of the same rounds"
				 : "The median over repetitions",
			!n_intervals ? ""
			: is_ratio   ? ", with 95 % intervals"
				     : ", with its 95 % interval",
			is_ratio ? ": green is faster, orange slower, grey not "
				   "decided."
				 : "; baselines are blue.");
}

/* Bars of one figure, the baselines in a colour of their own. */
static void
add_bars(struct sl__views *v, const struct sl_suite *s, const struct column *of)
{
	struct sl__figure_bar bars[BARS_MOST];
	struct sl__text texts[BARS_MOST];
	char names[BARS_MOST][96];
	size_t n = 0;

	for (size_t i = 0; i < s->n_cells && n < BARS_MOST; i++) {
		const struct sl_suite_cell *c = &s->cells[i];
		double value = of->value(s, i);

		if (!(value >= 0) || isinf(value))
			continue;
		name_cell(names[n], c);
		bars[n] = (struct sl__figure_bar){
			.name = names[n],
			.classes = c->baseline == i ? "mark s0" : "mark s7",
			.value = value,
			.text = of->text(&texts[n], c)};
		n++;
	}
	if (!n)
		return;
	sl__views_open(v, of->name, of->title);
	sl__figure_bars_of(sl__views_figure(v, of->name, of->title,
					    SL__FIGURE_WIDTH,
					    sl__figure_bars_height(n)),
			   bars, n, 4, of->whole);
	sl__views_figure_end(v, "%s", of->note);
}

/* How many cells beat what they are compared with. */
static void
add_lead(struct sl__views *v, const struct sl_suite *s)
{
	size_t n = 0, n_faster = 0, n_slower = 0;

	for (size_t i = 0; i < s->n_cells; i++) {
		const struct sl_suite_cell *c = &s->cells[i];

		if (!c->ratio.n || c->baseline == i)
			continue;
		n++;
		n_faster += sl__figure_has_interval(&c->ratio) &&
			    c->ratio.hi < 1;
		n_slower += sl__figure_has_interval(&c->ratio) &&
			    c->ratio.lo > 1;
	}
	if (n)
		sl__views_text(v, "lead",
			       "Against their baselines %zu of %zu cells are "
			       "faster, %zu slower, %zu not decided.",
			       n_faster, n, n_slower, n - n_faster - n_slower);
}

static void
add_tiles(struct sl__views *v, const struct sl_suite *s)
{
	size_t n_failed = 0, n_limits = 0, n_ok = 0;
	char value[64];

	for (size_t i = 0; i < s->n_cells; i++) {
		const struct sl_suite_cell *c = &s->cells[i];

		n_failed += c->failed != NULL;
		n_limits += c->n_limits;
		for (size_t k = 0; k < c->n_limits; k++)
			n_ok += c->limits[k].verdict == SL_GATE_OK;
	}
	sl__views_open(v, "summary", "Summary");
	snprintf(value, sizeof(value), "%zu", s->n_cells);
	sl__views_tile(v, "Cells", "", value, "%zu failed", n_failed);
	snprintf(value, sizeof(value), "%zu of %zu", s->n_done,
		 s->n_repetitions);
	sl__views_tile(v, "Repetitions", "suite.done", value,
		       "of %zu rounds; %zu batch%s of cells", s->n_rounds,
		       s->n_batches, s->n_batches == 1 ? "" : "es");
	snprintf(value, sizeof(value), "%zu of %zu", n_ok, n_limits);
	if (n_limits)
		sl__views_tile(v, "Limits that hold", "suite.verdict", value,
			       "%zu do not, or are open", n_limits - n_ok);
	add_lead(v, s);
}

void
sl__suite_views(struct sl__views *v, const void *result)
{
	static const struct column columns[] = {
		{"memory", "Memory",
		 "The plan's block and the weights; baselines are blue.",
		 memory_of, memory_text, 0},
		{"accuracy", "Accuracy",
		 "On the data of each section; baselines are blue, and the "
		 "full width is 100 %.",
		 accuracy_of, accuracy_text, 1},
	};
	const struct sl_suite *s = result;

	sl__views_title(v, s->name, "Suite",
			"%zu cells, %zu repetitions of %zu rounds in random "
			"order",
			s->n_cells, s->n_done, s->n_rounds);
	add_tiles(v, s);
	add_intervals(v, s, 0);
	add_intervals(v, s, 1);
	for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
		add_bars(v, s, &columns[i]);
}
