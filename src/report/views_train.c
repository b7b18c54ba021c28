/* SPDX-License-Identifier: Apache-2.0 */
/* views_train.c - the views of a training run: its curves, and its phases. */
#include "report/figures.h"
#include "report/inspect_page.h"
#include "report/unit.h"
#include "sleuth/training_runs.h"

#include <math.h>
#include <stdio.h>

#include "base/banned.h"

static const double LEFT = 96, RIGHT = 830, TOP = 34, BOTTOM = 280;

/* What is drawn over the steps. */
struct curve {
	const char *name, *title, *caption;
	int is_share;
	double (*value)(const struct sl_train_point *p);
};

static double
loss(const struct sl_train_point *p)
{
	return p->loss;
}

static double
accuracy(const struct sl_train_point *p)
{
	return 100 * p->accuracy;
}

static void
widen(struct sl__axis *y, const struct sl_train_point *points, size_t n,
      const struct curve *c)
{
	for (size_t i = 0; i < n; i++) {
		if (isfinite(c->value(&points[i])))
			y->hi = fmax(y->hi, c->value(&points[i]));
	}
}

static void
add_line(struct sl__svg *s, const struct sl_train_point *points, size_t n,
	 const struct curve *c, const struct sl__axis axes[2], int series)
{
	const char *noun = series ? "validation" : "training";
	char line[16], mark[16];
	struct sl__text t;

	snprintf(line, sizeof(line), "line k%d", series);
	snprintf(mark, sizeof(mark), "mark s%d", series);
	sl__svg_path(s, line);
	for (size_t i = 0; i < n; i++) {
		if (isfinite(c->value(&points[i])))
			sl__svg_path_to(
				s,
				sl__axis_at(&axes[0], (double)points[i].step),
				sl__axis_at(&axes[1], c->value(&points[i])));
	}
	sl__svg_path_done(s);
	sl__svg_close(s);
	for (size_t i = 0; i < n; i++) {
		double value = c->value(&points[i]);

		if (!isfinite(value))
			continue;
		sl__svg_open(s, "circle", mark, "cx cy r",
			     sl__axis_at(&axes[0], (double)points[i].step),
			     sl__axis_at(&axes[1], value), series ? 3.5 : 2.0);
		sl__svg_close_with_tip(s, "%s, step %s: %.4g%s", noun,
				       sl__count_text(&t, points[i].step),
				       value, c->is_share ? " %" : "");
	}
}

static void
add_curve(struct sl__views *v, const struct sl_train_result *r,
	  const struct curve *c)
{
	struct sl__axis axes[2] = {
		{.hi = r->n_curve ? (double)r->curve[r->n_curve - 1].step : 0,
		 .from = LEFT,
		 .to = RIGHT,
		 .title = "step"},
		{.from = BOTTOM,
		 .to = TOP,
		 .title = c->is_share ? "accuracy, %" : "loss"}};
	struct sl__svg *s;
	double x;

	widen(&axes[1], r->curve, r->n_curve, c);
	widen(&axes[1], r->validation, r->n_points, c);
	if (!(axes[0].hi > 0) || !(axes[1].hi > 0))
		return;
	if (c->is_share)
		axes[1].hi = 100;
	else
		sl__axis_round(&axes[1]);
	s = sl__views_figure(v, c->name, c->title, SL__FIGURE_WIDTH, 334);
	sl__svg_axes(s, &axes[0], &axes[1]);
	x = sl__svg_legend(s, "s0", LEFT, 18, "training batches");
	if (r->n_points)
		sl__svg_legend(s, "s1", x, 18, "validation split");
	add_line(s, r->curve, r->n_curve, c, axes, 0);
	if (r->n_points)
		add_line(s, r->validation, r->n_points, c, axes, 1);
	sl__views_figure_end(v, "%s", c->caption);
}

static void
add_phases(struct sl__views *v, const struct sl_train_result *r)
{
	struct sl__figure_bar bars[SL_TRAIN_PHASES];
	struct sl__text texts[SL_TRAIN_PHASES], tips[SL_TRAIN_PHASES];

	if (!r->phases[0].ns.n)
		return;
	sl__views_open(v, "phases", "Phases");
	for (size_t i = 0; i < SL_TRAIN_PHASES; i++) {
		const struct sl_train_phase *p = &r->phases[i];

		bars[i] = (struct sl__figure_bar){
			.name = sl_phase_text(p->phase),
			.classes = "mark s0",
			.value = fmax(p->ns.value, 0),
			.text = sl__time_value(&texts[i], &p->ns, NULL),
			.tip = sl__time_estimate(&tips[i], &p->ns, NULL)};
	}
	sl__figure_bars(
		sl__views_figure(v, "train-phases", "Time of a step by phase",
				 SL__FIGURE_WIDTH,
				 sl__figure_bars_height(SL_TRAIN_PHASES)),
		bars, SL_TRAIN_PHASES, 4);
	sl__views_figure_end(v, "Medians over a sample of the steps.");
}

static void
add_tiles(struct sl__views *v, const struct sl_train_result *r)
{
	const struct sl_estimate *e = &r->test.accuracy;
	char value[64];
	struct sl__text a, b;

	sl__views_open(v, "summary", "Summary");
	if (e->n) {
		snprintf(value, sizeof(value), "%.2f %%", 100 * e->value);
		sl__views_tile(v, "Test accuracy", "accuracy.test", value,
			       "95 %% [%.2f, %.2f], of %zu", 100 * e->lo,
			       100 * e->hi, e->n);
	}
	sl__views_tile(v, "Time", "training.elapsed_ms",
		       sl__time_text(&a, 1e9 * r->elapsed_s), "%s steps, %s",
		       sl__count_text(&b, r->n_done),
		       sl_train_end_text(r->end));
	if (isfinite(r->samples_per_s))
		sl__views_tile(v, "Samples/s", "training.samples_per_s",
			       sl__si_prefix_text(&a, r->samples_per_s),
			       "%s of the time waited for data",
			       sl__percent_text(&b, r->wait_share));
	if (!e->n)
		sl__views_text(v, "note", "Not evaluated: %s.",
			       r->unevaluated ? r->unevaluated : "not known");
}

void
sl__train_views(struct sl__views *v, const void *result)
{
	static const struct curve curves[] = {
		{"train-loss", "Loss",
		 "Each point of the training batches is the mean of the steps "
		 "since the last one, label smoothing included; the loss of "
		 "the validation split is without it.",
		 0, loss},
		{"train-accuracy", "Accuracy",
		 "A training batch is scored before the step that learns from "
		 "it, the validation split after each epoch.",
		 1, accuracy}};
	const struct sl_train_result *r = result;
	struct sl__text t;

	sl__views_title(
		v, sl__model_display_name(r->name, r->source), "Training run",
		"on %s, %s samples, batch %lld, %s, %d thread%s",
		r->data ? r->data : "data", sl__count_text(&t, r->n_train),
		(long long)r->batch, sl_optimizer_text(r->optimizer),
		r->n_threads, r->n_threads == 1 ? "" : "s");
	add_tiles(v, r);
	sl__views_open(v, "curves", "Curves");
	for (size_t i = 0; i < sizeof(curves) / sizeof(curves[0]); i++)
		add_curve(v, r, &curves[i]);
	add_phases(v, r);
}
