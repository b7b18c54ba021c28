/* SPDX-License-Identifier: Apache-2.0 */
/* report_evaluation.c - how often a model is right, and what it confuses. */
#include "report/figures.h"
#include "report/inspect_page.h"
#include "report/render.h"
#include "report/unit.h"
#include "result/tables.h"
#include "sleuth/evaluating.h"

#include <math.h>
#include <stdio.h>

#include "base/banned.h"

enum {
	MATRIX_MOST = 12, /* classes whose matrix is shown on one screen */
	PAIRS = 5         /* confusions that are, of more classes */
};

static void
add_share(struct sl__doc *doc, const char *key, const struct sl_estimate *e)
{
	sl__doc_pair(doc, key, SL__STYLE_STRONG, "%.2f %%", 100 * e->value);
	if (!isnan(e->lo))
		sl__doc_append_dim(doc, "  [%.2f, %.2f]", 100 * e->lo,
				   100 * e->hi);
}

static void
add_loss(struct sl__doc *doc, const struct sl_evaluation *e)
{
	if (!e->loss.n)
		sl__doc_pair(doc, "loss", SL__STYLE_WARN,
			     "infinite or NaN for every sample");
	else
		sl__doc_plain_pair(doc, "loss", "%.4g", e->loss.value);
	if (e->loss.n && !isnan(e->loss.lo))
		sl__doc_append_dim(doc, "  [%.4g, %.4g] cross-entropy of %s",
				   e->loss.lo, e->loss.hi,
				   sl_scores_text(e->scores));
	if (e->loss.n && e->n_infinite)
		sl__doc_append(doc, SL__STYLE_WARN,
			       ", without %zu samples whose loss is not finite",
			       e->n_infinite);
}

static void
add_figures(struct sl__doc *doc, const struct sl_evaluation *e)
{
	static const char *const keys[SL_N_ACCURACY_KINDS] = {
		[SL_ACCURACY_TOP1] = "accuracy",
		[SL_ACCURACY_EXACT] = "exact answers",
		[SL_ACCURACY_TOKEN] = "right tokens",
		[SL_ACCURACY_AGREEMENT] = "agreement"};
	int is_whole = e->split == SL_SPLIT_TRAIN;

	sl__doc_plain_pair(doc, "data", "%s, %zu %s", e->data, e->accuracy.n,
			   is_whole ? "samples" : "samples of its");
	if (!is_whole)
		sl__doc_append_plain(doc, " %s split", sl_split_text(e->split));
	if (e->is_reshaped)
		sl__doc_append_dim(doc, "; %s taken as %s", e->sample_shape,
				   e->input_shape);
	if (e->is_partial)
		sl__doc_append(doc, SL__STYLE_WARN, "; interrupted");
	if (e->attribution)
		sl__doc_pair(doc, "source", SL__STYLE_DIM, "%s",
			     e->attribution);
	add_share(doc, keys[e->kind], &e->accuracy);
	if (e->top5.n)
		add_share(doc, "top-5", &e->top5);
	if (e->token.n && e->kind == SL_ACCURACY_EXACT)
		add_share(doc, "right tokens", &e->token);
	add_loss(doc, e);
}

/* The matrix itself, with the recall of each class. */
static void
add_matrix(struct sl__doc *doc, const struct sl_evaluation *e)
{
	static const char *const titles[MATRIX_MOST] = {
		"0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11"};
	struct sl__column columns[MATRIX_MOST + 2] = {{"label", 1, 0}};
	struct sl__column *kept;
	size_t n = e->n_figures;

	for (size_t k = 0; k < n; k++)
		columns[k + 1] = (struct sl__column){titles[k], 1, 0};
	columns[n + 1] = (struct sl__column){"recall", 1, 0};
	/* The page keeps the address. */
	kept = sl__arena_array(&doc->arena, n + 2, sizeof(*kept));
	if (!kept) {
		doc->failed = 1;
		return;
	}
	for (size_t k = 0; k < n + 2; k++)
		kept[k] = columns[k];
	sl__doc_heading(doc, "Confusion: label by row, prediction by column");
	sl__doc_table(doc, kept, n + 2);
	for (size_t i = 0; i < n; i++) {
		sl__doc_cell(doc, SL__STYLE_STRONG, "%zu", i);
		for (size_t k = 0; k < n; k++) {
			uint64_t count = e->confusion[i * n + k];

			sl__doc_cell(doc,
				     i == k  ? SL__STYLE_GOOD
				     : count ? SL__STYLE_WARN
					     : SL__STYLE_DIM,
				     "%llu", (unsigned long long)count);
		}
		if (e->classes[i].n)
			sl__doc_cell(doc, SL__STYLE_PLAIN, "%.1f %%",
				     100 * e->classes[i].recall.value);
		else
			sl__doc_absent_cell(doc);
	}
}

/* The largest counts beside the diagonal, below 'limit' and, of equal ones,
 * after 'last'. */
static size_t
next_pair(const struct sl_evaluation *e, uint64_t limit, size_t last)
{
	size_t n = e->n_figures, best = n * n;

	for (size_t i = 0; i < n * n; i++) {
		if (i / n == i % n || !e->confusion[i] ||
		    e->confusion[i] > limit ||
		    (e->confusion[i] == limit && i <= last))
			continue;
		if (best == n * n || e->confusion[i] > e->confusion[best])
			best = i;
	}
	return best;
}

static void
add_pairs(struct sl__doc *doc, const struct sl_evaluation *e)
{
	size_t n = e->n_figures, at = next_pair(e, UINT64_MAX, 0);

	if (at == n * n)
		return;
	sl__doc_heading(doc, "Most often confused");
	for (size_t i = 0; i < PAIRS && at < n * n; i++) {
		char key[64];

		snprintf(key, sizeof(key), "%zu for %zu", at % n, at / n);
		sl__doc_plain_pair(doc, key, "%llu of %zu",
				   (unsigned long long)e->confusion[at],
				   e->classes[at / n].n);
		at = next_pair(e, e->confusion[at], at);
	}
}

static void
page(struct sl__doc *doc, const void *result,
     const struct sl_render_options *how)
{
	const struct sl_evaluation *e = result;

	(void)how;
	sl__doc_heading(doc, "%s", sl__model_display_name(e->name, e->source));
	sl__doc_append_dim(doc, "  %s",
			   sl__model_source_text(e->name, e->source));
	add_figures(doc, e);
	if (e->n_figures && e->n_figures <= MATRIX_MOST)
		add_matrix(doc, e);
	else
		add_pairs(doc, e);
}

enum sl_status
sl_evaluation_render(const struct sl_evaluation *e,
		     const struct sl_render_options *how, struct sl_buf *out,
		     struct sl_error *err)
{
	static const struct sl__renderer renderer = {
		.kind = "an evaluation",
		.command = "eval",
		.page = page,
		.views = sl__evaluation_views,
		.table = &sl__table_evaluation,
		.csv_rows = "accuracy/classes",
		.csv_columns = "model=../../model/name,data=../../data/name,"
			       "labels,predicted,right,recall,precision",
	};

	return sl__render(&renderer, e, how, out, err);
}
