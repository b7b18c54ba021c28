/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inspect_memory.c - what a model needs to run and to be trained, and how
 * its needs grow.
 *
 * Nothing here was run: live sets follow from the order of the nodes, and
 * the activations of training are marked as the estimate they are.
 */
#include "report/doc_names.h"
#include "report/inspect_page.h"
#include "report/printable.h"
#include "report/unit.h"

#include <math.h>
#include <string.h>

#include "base/banned.h"

enum {
	MAX_ALIVE = 3, /* values named on one screen */
	NAME_COLUMNS = 24,
	MAX_COLUMNS = 40
};

/* A name that may be a long path; in full where 'verbose'. */
static const char *
short_name(struct sl__doc *doc, const char *name, int verbose)
{
	if (verbose || doc->is_file)
		return name;
	name = sl__doc_layer_name(doc, name, NAME_COLUMNS);
	/* Some exporters join the names of all that they fused. */
	name = sl__utf8_shortened(&doc->arena, name, MAX_COLUMNS, "…");
	return sl__doc_text_or_nomem(doc, name);
}

static void
add_live_set(struct sl__doc *doc, const struct sl_live_set *m, int verbose)
{
	size_t n = verbose || m->n_alive <= MAX_ALIVE + 1 ? m->n_alive
							  : MAX_ALIVE;
	double rest = (double)m->live_bytes;
	struct sl__text t;

	sl__doc_plain_pair(doc, "live at peak", "%s%s",
			   m->n_unknown ? "at least " : "",
			   sl__bytes_text(&t, (double)m->live_bytes));
	if (m->peak_layer && *m->peak_layer)
		sl__doc_append_dim(doc, " at %s",
				   short_name(doc, m->peak_layer, verbose));
	for (size_t k = 0; k < n; k++) {
		sl__doc_append_dim(
			doc, "%s%s %s", k ? ", " : ": ",
			short_name(doc, m->alive[k].name, verbose),
			sl__bytes_text(&t, (double)m->alive[k].n_bytes));
		rest -= (double)m->alive[k].n_bytes;
	}
	if (n && rest > 0)
		sl__doc_append_dim(doc, ", others %s",
				   sl__bytes_text(&t, rest));
}

static void
add_cache(struct sl__doc *doc, const struct sl_live_set *m, int verbose)
{
	struct sl__text a, b;

	if (m->kv_bytes_per_token.absent) {
		if (verbose)
			sl__doc_pair(doc, "KV cache", SL__STYLE_DIM, "%s",
				     m->kv_bytes_per_token.absent);
		return;
	}
	sl__doc_plain_pair(
		doc, "KV cache", "%s B per token",
		sl__count_text(&a, (uint64_t)m->kv_bytes_per_token.value));
	if (m->kv_bytes_per_token.value > 2 * m->kv_elements_per_token.value)
		sl__doc_append_dim(
			doc, " (%s B in f16)",
			sl__count_text(
				&b,
				(uint64_t)(2 *
					   m->kv_elements_per_token.value)));
	if (m->n_attentions)
		sl__doc_append_dim(doc, " in %zu layer%s", m->n_attentions,
				   m->n_attentions == 1 ? "" : "s");
	if (!m->kv_bytes.absent)
		sl__doc_append_dim(doc, ", %s at these sizes",
				   sl__bytes_text(&b, m->kv_bytes.value));
}

void
sl__inspect_memory(struct sl__doc *doc, const struct sl_inspection *i,
		   int verbose)
{
	const struct sl_live_set *m = &i->memory;
	struct sl__text a, b, c;

	sl__doc_heading(doc, "Memory to run");
	sl__doc_pair(doc, "total", SL__STYLE_STRONG, "%s%s",
		     m->n_unknown ? "at least " : "",
		     sl__bytes_text(&a, (double)m->parameter_bytes +
						(double)m->live_bytes));
	sl__doc_append_plain(doc, ": parameters %s + largest live set %s",
			     sl__bytes_text(&a, (double)m->parameter_bytes),
			     sl__bytes_text(&b, (double)m->live_bytes));
	if (verbose)
		sl__doc_append_dim(
			doc, " (%s if nothing is freed)",
			sl__bytes_text(&c, (double)m->activation_bytes));
	if (m->n_unknown)
		sl__doc_pair(doc, "not counted", SL__STYLE_WARN,
			     "%zu value%s whose size is not known",
			     m->n_unknown, m->n_unknown == 1 ? "" : "s");
	add_live_set(doc, m, verbose);
	add_cache(doc, m, verbose);
}

/* Whether two optimizers need the same: they share a row. */
static int
is_same(const struct sl_training *t, int a, int b)
{
	return t->optimizer_bytes[a] == t->optimizer_bytes[b] &&
	       t->peak_bytes[a] == t->peak_bytes[b];
}

static void
add_optimizers(struct sl__doc *doc, const struct sl_training *t)
{
	enum { PEAK = 4, N_FIGURES };
	struct sl__text text;

	for (int k = SL_OPTIMIZER_SGD; k < SL_N_OPTIMIZERS; k++) {
		const uint64_t bytes[] = {t->parameter_bytes, t->gradient_bytes,
					  t->optimizer_bytes[k],
					  t->activation_bytes,
					  t->peak_bytes[k]};

		if (k > SL_OPTIMIZER_SGD && is_same(t, k - 1, k))
			continue;
		sl__doc_plain_cell(doc,
				   sl_optimizer_text((enum sl_optimizer)k));
		for (int j = k + 1; j < SL_N_OPTIMIZERS && is_same(t, k, j);
		     j++)
			sl__doc_append_plain(
				doc, ", %s",
				sl_optimizer_text((enum sl_optimizer)j));
		for (size_t c = 0; c < N_FIGURES; c++)
			sl__doc_cell(
				doc,
				c == PEAK ? SL__STYLE_STRONG : SL__STYLE_PLAIN,
				"%s", sl__bytes_text(&text, (double)bytes[c]));
	}
}

void
sl__inspect_training(struct sl__doc *doc, const struct sl_inspection *i)
{
	static const struct sl__column columns[] = {
		{"optimizer", 0, 0},    {"parameters", 1, 1},
		{"gradients", 1, 2},    {"state", 1, 0},
		{"~activations", 1, 3}, {"peak", 1, 0},
	};
	const struct sl_training *t = &i->training;
	const uint64_t *phases;
	struct sl__text a, b, c;

	if (!t->gradient_bytes)
		return; /* nothing to train */
	sl__doc_heading(doc, "Memory to train");
	sl__doc_append_dim(doc, "  activations (~) are estimated");
	sl__doc_table(doc, columns, sizeof(columns) / sizeof(columns[0]));
	add_optimizers(doc, t);
	phases = t->phase_bytes[SL_OPTIMIZER_ADAM];
	sl__doc_text(
		doc, SL__STYLE_DIM,
		"The peak is the largest phase's, and may be less than the sum "
		"of its row: gradients take the place of activations. With "
		"Adam: "
		"forward %s, backward %s, update %s.",
		sl__bytes_text(&a, (double)phases[SL_PHASE_FORWARD]),
		sl__bytes_text(&b, (double)phases[SL_PHASE_BACKWARD]),
		sl__bytes_text(&c, (double)phases[SL_PHASE_UPDATE]));
	if (t->other_bytes > t->parameter_bytes / 1000)
		sl__doc_append_dim(doc,
				   " Peaks include %s that are not trained.",
				   sl__bytes_text(&a, (double)t->other_bytes));
	if (t->integer_bytes)
		sl__doc_append_dim(
			doc, " Weights that are integers count as stored; "
			     "training would keep them in a wider type.");
	if (i->memory.n_unknown)
		sl__doc_append(
			doc, SL__STYLE_WARN,
			" At least: the size of %zu value%s is not known.",
			i->memory.n_unknown,
			i->memory.n_unknown == 1 ? "" : "s");
	if (t->forward_flops)
		sl__doc_append_dim(
			doc, " A step is %sFLOPs: backward is %.4g × forward.",
			sl__si_prefix_text(&a, (double)t->total_flops),
			t->backward_to_forward);
}

static int
is_memory(const struct sl_growth *g)
{
	return g->figure != SL_GROWTH_FLOPS && g->figure != SL_GROWTH_ATTENTION;
}

/*
 * One term of a polynomial in n, unless it is 0 or, for those that do not
 * lead, lost among the others here; *n_terms counts them.
 */
static void
add_term(struct sl__doc *doc, const struct sl_growth *g, int power,
	 size_t *n_terms)
{
	static const char *const powers[] = {"", " n", " n²"};
	const double factors[] = {g->constant, g->linear, g->quadratic};
	double n = (double)g->at, factor = factors[power];
	double here = g->constant + (g->linear + g->quadratic * n) * n;
	double term = factor * pow(n, power);
	const char *sign = factor < 0 ? (*n_terms ? " − " : "−")
				      : (*n_terms ? " + " : "");
	struct sl__text t;

	if (!(fabs(factor) > 0) ||
	    (power < g->final_exponent && fabs(term) < 5e-4 * fabs(here)))
		return;
	if (is_memory(g))
		sl__bytes_text(&t, fabs(factor));
	else
		sl__si_prefix_text(&t, fabs(factor));
	if (t.s[strlen(t.s) - 1] == ' ') /* no prefix */
		t.s[strlen(t.s) - 1] = '\0';
	sl__doc_append_plain(doc, "%s%s%s", sign, t.s, powers[power]);
	(*n_terms)++;
}

static void
add_formula(struct sl__doc *doc, const struct sl_growth *g)
{
	size_t n_terms = 0;

	sl__doc_plain_cell(doc, "");
	if (!g->is_polynomial) {
		sl__doc_append_dim(doc, "no polynomial");
		return;
	}
	for (int power = 0; power <= 2; power++)
		add_term(doc, g, power, &n_terms);
	if (!n_terms)
		sl__doc_append_dim(doc, "0");
	/* What is alive at the peak may be something else for large n. */
	if (g->final_exponent > 1.5 && !(fabs(g->quadratic) > 0))
		sl__doc_append_dim(doc, ", later n²");
}

static const char *
figure_text(enum sl_growth_figure figure)
{
	static const char *const names[SL_N_GROWTH_FIGURES] = {
		"FLOPs", "attention FLOPs", "activations", "live memory",
		"KV cache"};

	return names[figure];
}

/* On one screen: what grows with the batch as everything does is left out. */
static int
is_shown(const struct sl_growth *g, int verbose)
{
	return verbose || g->axis != SL_GROWTH_BATCH ||
	       g->figure == SL_GROWTH_FLOPS || g->final_exponent > 1.5 ||
	       g->figure == SL_GROWTH_LIVE;
}

static void
add_growth_row(struct sl__doc *doc, const struct sl_growth *g)
{
	static const char *const limits[] = {"constant", "n", "n²"};

	sl__doc_cell(doc, SL__STYLE_PLAIN, "%s = %lld",
		     sl_growth_axis_text(g->axis), (long long)g->at);
	sl__doc_plain_cell(doc, figure_text(g->figure));
	add_formula(doc, g);
	sl__doc_cell(doc, SL__STYLE_PLAIN, "n^%.2f", g->exponent);
	if (!g->is_polynomial)
		sl__doc_cell(doc, SL__STYLE_PLAIN, "n^%.2f", g->final_exponent);
	else
		sl__doc_cell(doc,
			     g->final_exponent > 1.5 ? SL__STYLE_WARN
						     : SL__STYLE_PLAIN,
			     "%s",
			     limits[g->final_exponent > 1.5   ? 2
				    : g->final_exponent > 0.5 ? 1
							      : 0]);
}

void
sl__inspect_growth(struct sl__doc *doc, const struct sl_inspection *i,
		   int verbose)
{
	static const struct sl__column columns[] = {
		{"n", 0, 0},          {"quantity", 0, 0},    {"formula", 0, 1},
		{"order at n", 1, 0}, {"for large n", 1, 0},
	};
	size_t n_rows = 0;

	if (!i->n_growth)
		return;
	sl__doc_heading(doc, "How it grows");
	for (size_t k = 0; k < i->n_growth; k++) {
		const struct sl_growth *g = &i->growth[k];

		if (g->absent || !is_shown(g, verbose))
			continue;
		if (!n_rows++)
			sl__doc_table(doc, columns,
				      sizeof(columns) / sizeof(columns[0]));
		add_growth_row(doc, g);
	}
	for (size_t k = 0; k < i->n_growth; k++) {
		const struct sl_growth *g = &i->growth[k];

		if (g->absent)
			sl__doc_text(doc, SL__STYLE_DIM, "%s with %s: %s",
				     figure_text(g->figure),
				     sl_growth_axis_text(g->axis), g->absent);
	}
}

const struct sl_growth *
sl__growth_find(const struct sl_inspection *i, enum sl_growth_axis axis,
		enum sl_growth_figure figure)
{
	for (size_t k = 0; k < i->n_growth; k++) {
		const struct sl_growth *g = &i->growth[k];

		if (g->axis == axis && g->figure == figure && !g->absent)
			return g;
	}
	return NULL;
}
