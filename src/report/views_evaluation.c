/* SPDX-License-Identifier: Apache-2.0 */
/* views_evaluation.c - the views of an evaluation: what is taken for what. */
#include "report/figures.h"
#include "report/inspect_page.h"
#include "sleuth/evaluating.h"

#include <math.h>
#include <stdio.h>

#include "base/banned.h"

enum {
	CLASSES_MOST = 40, /* that are drawn */
	COUNTS_MOST = 20   /* whose cells have room for counts */
};

static const double LEFT = 96, TOP = 34;

/* A square in the colour of its diagonal or of an error, the stronger the
 * larger its share of the label's samples. */
static void
add_cell(struct sl__svg *s, const struct sl_evaluation *e, size_t label,
	 size_t predicted, double side)
{
	size_t n = e->n_figures;
	uint64_t count = e->confusion[label * n + predicted];
	double share = e->classes[label].n
			       ? (double)count / (double)e->classes[label].n
			       : 0;
	double x = LEFT + side * (double)predicted;
	double y = TOP + side * (double)label;

	sl__svg_open(s, "rect",
		     label == predicted ? "mark cell s0" : "mark cell s1",
		     "x y width height", x, y, side, side);
	/* In hundredths: a locale may have a decimal comma. */
	sl__svg_attribute(s, "fill-opacity", "0.%02d",
			  count ? 12 + (int)(42 * fmin(share, 1)) : 3);
	sl__svg_close_with_tip(s, "label %zu taken for %zu: %llu of %zu", label,
			       predicted, (unsigned long long)count,
			       e->classes[label].n);
	if (count && n <= COUNTS_MOST)
		sl__svg_label(s, "count middle", x + side / 2, y + side / 2 + 4,
			      "%llu", (unsigned long long)count);
}

static void
add_matrix(struct sl__views *v, const struct sl_evaluation *e)
{
	size_t n = e->n_figures;
	double side = fmin(44, (SL__FIGURE_WIDTH - LEFT - 30) / (double)n);
	double end = side * (double)n;
	size_t stride = n <= COUNTS_MOST ? 1 : 5;
	struct sl__svg *s;

	sl__views_open(v, "confusion", "Confusion");
	s = sl__views_figure(v, "confusion", "Confusion matrix",
			     SL__FIGURE_WIDTH, TOP + end + 12);
	sl__svg_label(s, "axis middle", LEFT + end / 2, 12, "prediction");
	sl__svg_turn(s, LEFT - 44, TOP + end / 2, -90);
	sl__svg_label(s, "axis middle", 0, 0, "label");
	sl__svg_group_end(s);
	for (size_t i = 0; i < n; i++) {
		double at = side * ((double)i + 0.5);

		if (i % stride == 0) {
			sl__svg_label(s, "tick middle", LEFT + at, TOP - 6,
				      "%zu", i);
			sl__svg_label(s, "tick end", LEFT - 8, TOP + at + 4,
				      "%zu", i);
		}
		for (size_t k = 0; k < n; k++)
			add_cell(s, e, i, k, side);
	}
	sl__views_figure_end(v,
			     "Each row is a label: blue is right, orange is "
			     "taken for another class; the stronger, the more "
			     "of the label's samples.");
}

static void
add_recall(struct sl__views *v, const struct sl_evaluation *e)
{
	struct sl__figure_bar bars[CLASSES_MOST];
	char names[CLASSES_MOST][32], texts[CLASSES_MOST][16];
	char tips[CLASSES_MOST][64];
	size_t n = 0;

	for (size_t i = 0; i < e->n_figures; i++) {
		const struct sl_class_figures *c = &e->classes[i];
		const struct sl_estimate *r = &c->recall;

		if (!r->n)
			continue;
		snprintf(names[n], sizeof(names[n]), "%zu", i);
		snprintf(texts[n], sizeof(texts[n]), "%.1f %%", 100 * r->value);
		snprintf(tips[n], sizeof(tips[n]),
			 "%zu of %zu, 95 %% [%.1f, %.1f]", c->n_right, c->n,
			 100 * r->lo, 100 * r->hi);
		bars[n] = (struct sl__figure_bar){.name = names[n],
						  .classes = "mark s0",
						  .value = fmax(r->value, 0),
						  .text = texts[n],
						  .tip = tips[n]};
		n++;
	}
	if (!n)
		return;
	sl__views_open(v, "recall", "Recall");
	sl__figure_bars_of(sl__views_figure(v, "recall", "Recall of each class",
					    SL__FIGURE_WIDTH,
					    sl__figure_bars_height(n)),
			   bars, n, 4, 1);
	sl__views_figure_end(v, "The share of a label's samples that are "
				"predicted as it; the full width is 100 %%.");
}

static void
add_share(struct sl__views *v, const char *label, const char *path,
	  const struct sl_estimate *e)
{
	char value[32];

	if (!e->n)
		return;
	snprintf(value, sizeof(value), "%.2f %%", 100 * e->value);
	if (isnan(e->lo))
		sl__views_tile(v, label, path, value, "of %zu", e->n);
	else
		sl__views_tile(v, label, path, value,
			       "95 %% [%.2f, %.2f], of %zu", 100 * e->lo,
			       100 * e->hi, e->n);
}

static void
add_tiles(struct sl__views *v, const struct sl_evaluation *e)
{
	static const char *const labels[SL_N_ACCURACY_KINDS] = {
		[SL_ACCURACY_TOP1] = "Accuracy",
		[SL_ACCURACY_EXACT] = "Exact answers",
		[SL_ACCURACY_TOKEN] = "Right tokens",
		[SL_ACCURACY_AGREEMENT] = "Agreement"};
	char value[32];

	sl__views_open(v, "summary", "Summary");
	add_share(v, labels[e->kind], "accuracy.test", &e->accuracy);
	add_share(v, "Top-5", "accuracy.top5", &e->top5);
	if (e->kind == SL_ACCURACY_EXACT)
		add_share(v, "Right tokens", "accuracy.token", &e->token);
	if (!e->loss.n)
		return;
	snprintf(value, sizeof(value), "%.4g", e->loss.value);
	sl__views_tile(v, "Loss", "accuracy.loss", value, "cross-entropy of %s",
		       sl_scores_text(e->scores));
}

void
sl__evaluation_views(struct sl__views *v, const void *result)
{
	const struct sl_evaluation *e = result;

	sl__views_title(v, sl__model_display_name(e->name, e->source),
			"Evaluation", "on %s, %s split, %s on %d thread%s%s",
			e->data ? e->data : "data", sl_split_text(e->split),
			sl_dtype_text(e->dtype), e->n_threads,
			e->n_threads == 1 ? "" : "s",
			e->is_partial ? "; interrupted" : "");
	add_tiles(v, e);
	if (!e->n_figures || e->n_figures > CLASSES_MOST)
		return;
	add_matrix(v, e);
	add_recall(v, e);
}
