/* SPDX-License-Identifier: Apache-2.0 */
/* profile_training.c - a training step: its phases, its layers, its memory. */
#include "report/fact_text.h"
#include "report/profile_page.h"
#include "report/unit.h"

#include <math.h>

#include "base/banned.h"

enum { LAYERS_SHOWN = 10 };

static double
step_ns(const struct sl_training_layer *l)
{
	return l->forward_ns + l->backward_input_ns + l->backward_weight_ns +
	       l->update_ns;
}

/* "2.10", or that there is none. */
static void
add_ratio_cell(struct sl__doc *doc, double ratio)
{
	struct sl__text t;

	if (isfinite(ratio))
		sl__doc_plain_cell(doc, sl__three_digit_text(&t, ratio));
	else
		sl__doc_absent_cell(doc);
}

static void
add_time_cell(struct sl__doc *doc, double ns, const char *unit)
{
	struct sl__text t;

	if (ns > 0)
		sl__doc_plain_cell(doc, sl__time_text_in_unit(&t, ns, unit));
	else
		sl__doc_absent_cell(doc);
}

static void
add_phases(struct sl__doc *doc, const struct sl__profile_sheet *sheet)
{
	static const struct sl__column columns[] = {
		{"phase", 0, 0}, {"time", 1, 0},       {"95 %", 0, 1},
		{"share", 1, 0}, {"operations", 1, 2}, {"FLOPs", 1, 0},
		{"memory", 1, 1}};
	const struct sl_training_profile *t = sheet->profile->training;
	const char *unit = sheet->how->unit;
	struct sl__text a;

	sl__doc_gap(doc);
	sl__doc_table(doc, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t k = 0; k < t->n_phases; k++) {
		const struct sl_training_phase *p = &t->phases[k];

		sl__doc_plain_cell(doc, sl_phase_text(p->phase));
		sl__doc_plain_cell(doc, sl__time_value(&a, &p->ns, unit));
		sl__doc_plain_cell(doc, sl__time_bounds_text(&a, &p->ns, unit));
		sl__doc_plain_cell(doc, sl__share_text(&a, p->share));
		sl__doc_cell(doc, SL__STYLE_PLAIN, "%zu", p->n_operations);
		sl__doc_cell(doc, SL__STYLE_PLAIN, "%s",
			     p->core_flops ? sl__si_prefix_text(
						     &a, (double)p->core_flops)
					   : "-");
		sl__doc_plain_cell(
			doc,
			p->memory_bytes.absent
				? "-"
				: sl__bytes_text(&a, p->memory_bytes.value));
	}
}

/* The layer that takes longest of those that take less than 'below', or as
 * long and come after it; NULL: no further one. */
static const struct sl_training_layer *
next_layer(const struct sl_training_profile *t,
	   const struct sl_training_layer *below)
{
	const struct sl_training_layer *next = NULL;

	for (size_t i = 0; i < t->n_layers; i++) {
		const struct sl_training_layer *l = &t->layers[i];

		if (below && (step_ns(l) > step_ns(below) ||
			      (!(step_ns(l) < step_ns(below)) && l <= below)))
			continue;
		if (!next || step_ns(l) > step_ns(next))
			next = l;
	}
	return next;
}

static void
add_layers(struct sl__doc *doc, const struct sl__profile_sheet *sheet)
{
	static const struct sl__column columns[] = {
		{"layer", 0, 0},     {"type", 0, 3},      {"forward", 1, 0},
		{"by input", 1, 0},  {"by weight", 1, 0}, {"update", 1, 1},
		{"back/forw", 1, 0}, {"in FLOPs", 1, 2}};
	const struct sl_training_profile *t = sheet->profile->training;
	const struct sl_training_layer *l = NULL;
	const char *unit = sheet->how->unit;
	size_t n = sheet->how->verbose  ? t->n_layers
		   : sheet->view->n_top ? sheet->view->n_top
					: LAYERS_SHOWN;

	sl__doc_gap(doc);
	sl__doc_table(doc, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < n && (l = next_layer(t, l)) != NULL; i++) {
		sl__doc_plain_cell(doc, l->name);
		sl__doc_plain_cell(doc, l->type);
		add_time_cell(doc, l->forward_ns, unit);
		add_time_cell(doc, l->backward_input_ns, unit);
		add_time_cell(doc, l->backward_weight_ns, unit);
		add_time_cell(doc, l->update_ns, unit);
		add_ratio_cell(doc, l->backward_to_forward);
		add_ratio_cell(doc, (double)l->backward_flops /
					    (double)l->forward_flops);
	}
	if (n < t->n_layers)
		sl__doc_text(doc, SL__STYLE_DIM,
			     "the %zu of %zu layers that take longest in a "
			     "step (-v: all)",
			     n, t->n_layers);
}

const struct sl_fact *
sl__profile_recompute_saving(const struct sl_profile *profile)
{
	const struct sl_training_profile *t = profile->training;

	for (size_t i = 0; t && i < t->n_findings; i++) {
		if (t->findings[i].kind == SL_FACT_RECOMPUTE_SAVES)
			return &t->findings[i];
	}
	return NULL;
}

/* What is saved by computing activations again, and what that takes. */
static void
add_price(struct sl__doc *doc, const struct sl_training_profile *t,
	  uint64_t live_bytes)
{
	const struct sl_estimate *r = &t->keeping_ratio;
	struct sl__text a, b;

	sl__doc_plain_pair(doc, "recompute",
			   "%zu of %zu segments again: %s memory instead of %s",
			   (size_t)t->n_segments - 1, (size_t)t->n_segments,
			   sl__bytes_text(&a, (double)live_bytes),
			   sl__bytes_text(&b, (double)t->keeping_live_bytes));
	if (!r->n)
		return;
	sl__doc_append_plain(doc, " for %s more a step",
			     sl__time_text(&a, (1 - r->value) * t->step_ns));
	sl__doc_append_dim(doc, " [%s, %s], by %zu rounds in turn",
			   sl__time_text(&a, (1 - r->hi) * t->step_ns),
			   sl__time_text(&b, (1 - r->lo) * t->step_ns), r->n);
}

static void
add_memory(struct sl__doc *doc, const struct sl_training_profile *t,
	   uint64_t live_bytes)
{
	struct sl__text a;

	sl__doc_gap(doc);
	sl__doc_plain_pair(doc, "step memory", "%s parameters",
			   sl__bytes_text(&a, (double)t->parameters_bytes));
	sl__doc_append_plain(doc, ", %s activations kept for backward",
			     sl__bytes_text(&a, (double)t->kept_bytes));
	sl__doc_append_plain(doc, ", %s gradients",
			     sl__bytes_text(&a, (double)t->gradients_bytes));
	sl__doc_append_plain(
		doc, ", %s state of the optimizer",
		sl__bytes_text(&a, (double)t->optimizer_bytes[t->optimizer]));
	if (t->n_segments > 1)
		add_price(doc, t, live_bytes);
	for (size_t i = 0, n = 0; i < t->n_findings; i++) {
		if (t->findings[i].kind != SL_FACT_RECOMPUTE_SAVES)
			sl__doc_plain_pair(
				doc, n++ ? "" : "stands out", "%s",
				sl__doc_fact_sentence(doc, &t->findings[i]));
	}
}

void
sl__profile_training(struct sl__doc *doc, const struct sl__profile_sheet *sheet)
{
	const struct sl_training_profile *t = sheet->profile->training;

	if (!t)
		return;
	sl__doc_plain_pair(doc, "training", "a step with %s, optimizer %s",
			   sl_loss_text(t->loss),
			   sl_optimizer_text(t->optimizer));
	if (t->n_micro_batches > 1)
		sl__doc_append_plain(
			doc, ", gradients of %llu micro-batches averaged",
			(unsigned long long)t->n_micro_batches);
	if (isnan(t->last_loss))
		sl__doc_append_dim(doc, "; the last step was interrupted");
	else
		sl__doc_append_plain(doc, "; loss of the last step %.4g",
				     t->last_loss);
	sl__doc_append_dim(doc, "%s",
			   t->has_synthetic_target ? " (of a synthetic target)"
						   : "");
	if (t->data) {
		sl__doc_plain_pair(doc, "data", "batches of %s", t->data);
		sl__doc_append_plain(
			doc,
			t->n_prefetch ? ", made ahead by %zu thread%s"
				      : ", each made when it is needed",
			t->n_prefetch, t->n_prefetch == 1 ? "" : "s");
	}
	add_phases(doc, sheet);
	add_layers(doc, sheet);
	add_memory(doc, t, sheet->profile->memory.live_bytes);
}
