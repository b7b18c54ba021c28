/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inspect_side.c - several models side by side.
 *
 * What tells architectures apart is how often a parameter is used: once a
 * sample in a multilayer perceptron, once a position in a convolution, once
 * a token in a transformer.  So that is a column beside the sizes.
 */
#include "report/doc_names.h"
#include "report/inspect_page.h"
#include "report/unit.h"

#include <math.h>

#include "base/banned.h"

enum { MAX_TYPE = 13 };

static void
add_exponent(struct sl__doc *doc, const struct sl_inspection *i,
	     enum sl_growth_axis axis)
{
	const struct sl_growth *g = sl__growth_find(i, axis, SL_GROWTH_FLOPS);

	if (!g || g->absent || !isfinite(g->exponent))
		sl__doc_absent_cell(doc);
	else if (fabs(g->exponent - g->final_exponent) < 0.005)
		sl__doc_cell(doc, SL__STYLE_PLAIN, "n^%.0f", g->exponent);
	else
		sl__doc_cell(doc, SL__STYLE_PLAIN, "n^%.2f", g->exponent);
}

/* MACs of one sample for each trainable parameter; NaN without any. */
static double
uses_of(const struct sl_inspection *i)
{
	double n = (double)i->parameters.trainable;

	return n > 0 ? (double)i->flops_per_sample / 2 / n : (double)NAN;
}

static void
add_mostly(struct sl__doc *doc, const struct sl_inspection *i)
{
	const char *type;

	if (!i->n_types || !(i->by_type[0].share > 0)) {
		sl__doc_absent_cell(doc);
		return;
	}
	type = sl__doc_op_type(doc, i->by_type[0].name, MAX_TYPE);
	sl__doc_cell(doc, SL__STYLE_PLAIN, "%s %.0f%%", type,
		     100 * i->by_type[0].share);
}

static void
add_model(struct sl__doc *doc, const struct sl_inspection *i)
{
	double needs = (double)i->memory.parameter_bytes +
		       (double)i->memory.live_bytes;
	struct sl__text t;

	sl__doc_cell(doc, SL__STYLE_STRONG, "%s",
		     sl__model_display_name(i->name, i->source));
	sl__doc_plain_cell(doc, sl__count_text(&t, i->parameters.trainable));
	sl__doc_plain_cell(doc,
			   sl__si_prefix_text(&t, (double)i->flops_per_sample));
	sl__doc_plain_cell(doc, sl__si_prefix_text(&t, uses_of(i)));
	sl__doc_plain_cell(doc, sl__bytes_text(&t, (double)i->n_bytes));
	if (isfinite(i->intensity))
		sl__doc_cell(doc, SL__STYLE_PLAIN, "%.3g", i->intensity);
	else
		sl__doc_absent_cell(doc);
	sl__doc_plain_cell(doc, sl__bytes_text(&t, needs));
	add_exponent(doc, i, SL_GROWTH_BATCH);
	add_exponent(doc, i, SL_GROWTH_SEQ);
	add_mostly(doc, i);
}

/* What kind of model the figures describe, in one sentence. */
static void
add_sentence(struct sl__doc *doc, const struct sl_inspection *i)
{
	double uses = uses_of(i), needs, weights;
	const struct sl_growth *seq =
		sl__growth_find(i, SL_GROWTH_SEQ, SL_GROWTH_FLOPS);
	struct sl__text t, u;

	sl__doc_text(doc, SL__STYLE_STRONG, "%s",
		     sl__model_display_name(i->name, i->source));
	sl__doc_append_plain(doc, ": ");
	if (i->n_types && i->by_type[0].share > 0)
		sl__doc_append_plain(doc, "%.1f %% %s; ",
				     100 * i->by_type[0].share,
				     i->by_type[0].name);
	if (!isfinite(uses))
		sl__doc_append_plain(doc, "holds no parameters");
	else if (uses < 1.5)
		sl__doc_append_plain(
			doc, "each parameter is used about once per sample, "
			     "so at batch 1 reading them is most of the work");
	else
		sl__doc_append_plain(
			doc, "each parameter is used %s times per sample",
			sl__count_text(&t, (uint64_t)(uses + 0.5)));
	needs = (double)i->memory.parameter_bytes +
		(double)i->memory.live_bytes;
	weights = (double)i->memory.parameter_bytes;
	if (needs > 0)
		sl__doc_append_plain(
			doc, "; %s of the memory to run is %s",
			sl__percent_text(&u, fmax(weights, needs - weights) /
						     needs),
			2 * weights >= needs ? "weights" : "activations");
	if (seq && !seq->absent && seq->final_exponent > 1.5)
		sl__doc_append_plain(
			doc,
			"; FLOPs grow as n^%.2f with the sequence length "
			"at %lld and as n² when it is long",
			seq->exponent, (long long)seq->at);
	if (i->coverage.unknown.n_nodes)
		sl__doc_append(doc, SL__STYLE_WARN,
			       "; %s node%s of unknown cost: figures are lower "
			       "bounds",
			       sl__count_text(&t, i->coverage.unknown.n_nodes),
			       i->coverage.unknown.n_nodes == 1 ? "" : "s");
	sl__doc_append_plain(doc, ".");
}

/* Whether the FLOPs of one of them grow with its sequence. */
static int
has_sequence(const struct sl_inspection *const *models, size_t n)
{
	for (size_t k = 0; k < n; k++) {
		const struct sl_growth *g = sl__growth_find(
			models[k], SL_GROWTH_SEQ, SL_GROWTH_FLOPS);

		if (g && !g->absent && isfinite(g->exponent))
			return 1;
	}
	return 0;
}

void
sl__inspect_side_by_side(struct sl__doc *doc,
			 const struct sl_inspection *const *models, size_t n)
{
	static const struct sl__column columns[] = {
		{"model", 0, 0},      {"parameters", 1, 0}, {"FLOPs", 1, 0},
		{"MACs/param", 1, 5}, {"traffic", 1, 4},    {"FLOP/B", 1, 3},
		{"memory", 1, 1},     {"batch", 1, 2},      {"seq", 1, 0},
		{"main type", 0, 0},
	};

	sl__doc_heading(doc, "%zu models", n);
	sl__doc_append_dim(doc, "  per sample; batch%s: growth of FLOPs",
			   has_sequence(models, n) ? ", seq" : "");
	if (models[0]->batch > 1)
		sl__doc_append_dim(doc, "; memory of batch %lld",
				   (long long)models[0]->batch);
	sl__doc_table(doc, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t k = 0; k < n; k++)
		add_model(doc, models[k]);
	sl__doc_gap(doc);
	for (size_t k = 0; k < n; k++)
		add_sentence(doc, models[k]);
}
