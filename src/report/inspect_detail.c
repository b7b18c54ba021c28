/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inspect_detail.c - what a user asks for beyond the first screen: why two
 * tools disagree, every tensor stored, and what the weights look like.
 */
#include "report/doc_names.h"
#include "report/histogram.h"
#include "report/inspect_page.h"
#include "report/unit.h"

#include <math.h>

#include "base/banned.h"

enum { DEFAULT_WEIGHTS = 12, N_BINS = 32, NARROW_COLUMNS = 100 };

static void
add_amount(struct sl__doc *doc, enum sl__style style, int64_t amount)
{
	uint64_t size = amount < 0 ? 0 - (uint64_t)amount : (uint64_t)amount;
	struct sl__text t;

	sl__doc_cell(doc, style, "%s%s", amount < 0 ? "−" : "+",
		     sl__count_text(&t, size));
}

static void
add_total(struct sl__doc *doc, enum sl_convention c, uint64_t count)
{
	struct sl__text t;

	sl__doc_cell(doc, SL__STYLE_STRONG, "%s", sl_convention_text(c));
	sl__doc_cell(doc, SL__STYLE_STRONG, "%s", sl__count_text(&t, count));
}

/* The items stand between the two totals that they lead from and to. */
void
sl__inspect_explanations(struct sl__doc *doc, const struct sl_inspection *i)
{
	static const struct sl__column macs[] = {{"", 0, 0}, {"MACs", 1, 0}};
	static const struct sl__column counts[] = {{"", 0, 0}, {"count", 1, 0}};

	for (size_t k = 0; k < i->n_explanations; k++) {
		const struct sl_explanation *e = &i->explanations[k];

		sl__doc_heading(doc, "From %s to %s", sl_convention_text(e->a),
				sl_convention_text(e->b));
		sl__doc_table(doc,
			      e->a == SL_CONVENTION_ALL ||
					      e->b == SL_CONVENTION_ALL
				      ? counts
				      : macs,
			      2);
		add_total(doc, e->a, e->a_count);
		for (size_t r = 0; r < e->n_rows; r++) {
			sl__doc_plain_cell(doc, e->rows[r].text);
			add_amount(doc, SL__STYLE_PLAIN, e->rows[r].amount);
		}
		if (!e->n_rows) {
			sl__doc_cell(doc, SL__STYLE_DIM,
				     "only the unit differs");
			sl__doc_cell(doc, SL__STYLE_DIM, "0");
		}
		add_total(doc, e->b, e->b_count);
	}
}

static void
add_dims(struct sl__doc *doc, const struct sl_parameter_row *row)
{
	sl__doc_plain_cell(doc, row->rank ? "" : "scalar");
	for (size_t d = 0; d < row->rank; d++)
		sl__doc_append_plain(doc, "%s%lld", d ? "x" : "",
				     (long long)row->dims[d]);
}

void
sl__inspect_tensors(struct sl__doc *doc, const struct sl_inspection *i)
{
	static const struct sl__column columns[] = {
		{"tensor", 0, 0},  {"role", 0, 0},     {"type", 0, 0},
		{"shape", 0, 1},   {"elements", 1, 0}, {"bytes", 1, 2},
		{"same as", 0, 4}, {"in file", 0, 3},
	};
	struct sl__text t;

	if (!i->parameters.n_rows)
		return;
	sl__doc_heading(doc, "Tensors");
	sl__doc_table(doc, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t k = 0; k < i->parameters.n_rows; k++) {
		const struct sl_parameter_row *row = &i->parameters.rows[k];

		sl__doc_plain_cell(doc, row->name);
		sl__doc_cell(doc,
			     row->role == SL_ROLE_WEIGHT ? SL__STYLE_PLAIN
							 : SL__STYLE_DIM,
			     "%s", sl_role_text(row->role));
		sl__doc_plain_cell(doc, sl_dtype_text(row->dtype));
		add_dims(doc, row);
		sl__doc_plain_cell(doc, sl__count_text(&t, row->n_elements));
		sl__doc_plain_cell(doc,
				   sl__bytes_text(&t, (double)row->n_bytes));
		sl__doc_cell(doc, SL__STYLE_DIM, "%s",
			     row->tied_to ? row->tied_to : "");
		sl__doc_cell(doc, SL__STYLE_DIM, "%s",
			     row->storage ? row->storage : "");
	}
}

/* How weights are shown, by the room there is. */
struct width {
	size_t n_bins, n_name_columns;
};

static void
add_shape_of(struct sl__doc *doc, const struct sl_weight_row *w, size_t n_bins)
{
	struct sl__histogram h = {.lo = w->min, .hi = w->max, .n_bins = n_bins};
	char line[3 * N_BINS + 1];

	for (size_t b = 0; b < N_BINS; b++)
		h.counts[b * n_bins / N_BINS] += (size_t)w->histogram[b];
	sl__doc_cell(doc, SL__STYLE_DIM, "%s", sl__histogram_line(line, &h, 0));
}

/* A few zeros among many are none to act on. */
static void
add_share(struct sl__doc *doc, double share)
{
	if (share > 0 && share < 0.0005)
		sl__doc_cell(doc, SL__STYLE_PLAIN, "<0.1 %%");
	else
		sl__doc_cell(doc,
			     share > 0.5 ? SL__STYLE_WARN : SL__STYLE_PLAIN,
			     share > 0 ? "%.1f %%" : "%.0f %%", 100 * share);
}

/* A vector has none: the zeros among biases are no dead channels. */
static int
has_channels(const struct sl_weight_row *w)
{
	return w->n_channels && w->n_channels != w->n_elements;
}

static void
add_weight(struct sl__doc *doc, const struct sl_weight_row *w,
	   struct width width)
{
	struct sl__text t;

	sl__doc_plain_cell(
		doc, sl__doc_layer_name(doc, w->name, width.n_name_columns));
	sl__doc_plain_cell(doc, sl__count_text(&t, w->n_elements));
	if (w->absent) {
		sl__doc_cell(doc, SL__STYLE_DIM, "%s", w->absent);
		for (int k = 0; k < 5; k++)
			sl__doc_absent_cell(doc);
		return;
	}
	add_shape_of(doc, w, width.n_bins);
	sl__doc_cell(doc, SL__STYLE_PLAIN, "%.3g", w->mean);
	sl__doc_cell(doc, SL__STYLE_PLAIN, "%.3g", w->std);
	sl__doc_cell(doc, SL__STYLE_PLAIN, "%.3g to %.3g", w->min, w->max);
	add_share(doc, w->zero_share);
	if (has_channels(w))
		sl__doc_cell(doc,
			     w->n_dead_channels ? SL__STYLE_WARN
						: SL__STYLE_PLAIN,
			     "%zu of %zu", w->n_dead_channels, w->n_channels);
	else
		sl__doc_absent_cell(doc);
}

static void
add_odd(struct sl__doc *doc, const struct sl_weight_row *w)
{
	struct sl__text t;

	if (w->n_odd)
		sl__doc_text(doc, SL__STYLE_BAD, "%s: %s NaN or infinite.",
			     w->name, sl__count_text(&t, w->n_odd));
}

/* One sentence over all of them. */
static void
add_weight_summary(struct sl__doc *doc, const struct sl_inspection *i)
{
	double n = 0, n_zero = 0, n_small = 0;
	size_t n_dead = 0, n_channels = 0;
	struct sl__text a, b, c, d;

	for (size_t k = 0; k < i->n_weights; k++) {
		const struct sl_weight_row *w = &i->weights[k];

		if (w->absent)
			continue;
		n += (double)w->n_elements;
		n_zero += w->zero_share * (double)w->n_elements;
		n_small += w->small_share * (double)w->n_elements;
		if (!has_channels(w))
			continue;
		n_dead += w->n_dead_channels;
		n_channels += w->n_channels;
	}
	if (n > 0)
		sl__doc_text(doc, SL__STYLE_PLAIN,
			     "%s of all weights are exactly 0, and %s are "
			     "below 1/1000 of their tensor's largest; %s of %s "
			     "channels are dead (all 0).",
			     sl__percent_text(&a, n_zero / n),
			     sl__percent_text(&b, n_small / n),
			     sl__count_text(&c, n_dead),
			     sl__count_text(&d, n_channels));
}

void
sl__inspect_weights(struct sl__doc *doc, const struct sl_inspection *i,
		    size_t n_top, const struct sl_render_options *how)
{
	static const struct sl__column columns[] = {
		{"weight", 0, 0}, {"elements", 1, 4},      {"min to max", 0, 0},
		{"mean", 1, 3},   {"std", 1, 1},           {"range", 1, 2},
		{"zeros", 1, 0},  {"dead channels", 1, 0},
	};
	int is_narrow = how->n_columns < NARROW_COLUMNS &&
			how->format != SL_FORMAT_MARKDOWN;
	const struct width width = {is_narrow ? N_BINS / 2 : N_BINS,
				    is_narrow ? 22 : SIZE_MAX};
	size_t n = n_top ? n_top : DEFAULT_WEIGHTS;

	if (!i->n_weights)
		return;
	if ((how->verbose && !n_top) || n + 1 >= i->n_weights)
		n = i->n_weights;
	sl__doc_heading(doc, "Weights");
	if (i->seed)
		sl__doc_append_dim(doc, "  random, from seed %llu",
				   (unsigned long long)i->seed);
	sl__doc_table(doc, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t k = 0; k < n; k++)
		add_weight(doc, &i->weights[k], width);
	if (n < i->n_weights)
		sl__doc_text(doc, SL__STYLE_DIM, "%zu more with -v.",
			     i->n_weights - n);
	for (size_t k = 0; k < i->n_weights; k++)
		add_odd(doc, &i->weights[k]);
	add_weight_summary(doc, i);
}
