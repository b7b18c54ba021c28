/* SPDX-License-Identifier: Apache-2.0 */
/* views_inspect.c - the views of a model that was looked at, not run. */
#include "report/figures.h"
#include "report/inspect_page.h"
#include "report/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/banned.h"

enum { BARS_MOST = 12, SUMS_MOST = 64 };

static void
add_tiles(struct sl__views *v, const struct sl_inspection *m)
{
	struct sl__text a, b;

	sl__views_open(v, "summary", "Summary");
	sl__views_tile(v, "Parameters", "model.parameters.trainable",
		       sl__si_prefix_text(&a, (double)m->parameters.trainable),
		       "%s",
		       sl__bytes_text(&b, (double)m->memory.parameter_bytes));
	snprintf(a.s, sizeof(a.s), "%sFLOPs",
		 sl__si_prefix_text(&b, (double)m->flops));
	sl__views_tile(v, "Compute", "cost.flops", a.s, "%s MACs",
		       sl__count_text(&b, m->cost.macs));
	sl__views_tile(v, "Live activations", "memory.live_bytes",
		       sl__bytes_text(&a, (double)m->memory.live_bytes),
		       "at the peak, beside the parameters");
}

/* Layers of one type or module. */
struct sum {
	const char *name;
	size_t n_name; /* bytes */
	double value;
	size_t n_layers;
};

static int
by_value(const void *a, const void *b)
{
	const struct sum *x = a, *y = b;

	return (x->value < y->value) - (x->value > y->value);
}

/* Sums up groups by the first part of their names; returns how many sums. */
static size_t
sum_up(struct sum sums[SUMS_MOST], const struct sl_layer_group *groups,
       size_t n, int is_parameters)
{
	size_t n_sums = 0;

	for (size_t i = 0; i < n; i++) {
		const struct sl_layer_group *g = &groups[i];
		size_t n_name = strcspn(g->name, "/"), k = 0;

		while (k < n_sums && (sums[k].n_name != n_name ||
				      memcmp(sums[k].name, g->name, n_name)))
			k++;
		if (k == SUMS_MOST)
			continue;
		if (k == n_sums)
			sums[n_sums++] =
				(struct sum){.name = g->name, .n_name = n_name};
		sums[k].value += is_parameters ? (double)g->parameters
					       : g->share;
		sums[k].n_layers += g->n_layers;
	}
	qsort(sums, n_sums, sizeof(*sums), by_value);
	return n_sums;
}

/* The sums as bars; those of nothing are left out. */
static void
add_groups(struct sl__views *v, const struct sl_layer_group *groups, size_t n,
	   int is_parameters, const struct sl__figure *figure)
{
	struct sum sums[SUMS_MOST];
	struct sl__figure_bar bars[BARS_MOST];
	struct sl__text texts[BARS_MOST];
	char names[BARS_MOST][64], tips[BARS_MOST][48];
	size_t n_sums = sum_up(sums, groups, n, is_parameters), n_bars = 0;

	for (size_t i = 0; i < n_sums && n_bars < BARS_MOST; i++) {
		const struct sum *sum = &sums[i];
		struct sl__text *t = &texts[n_bars];

		if (!(sum->value > 0))
			continue;
		snprintf(names[n_bars], sizeof(names[0]), "%.*s",
			 (int)sum->n_name, sum->name);
		snprintf(tips[n_bars], sizeof(tips[0]), "%zu layer%s",
			 sum->n_layers, sum->n_layers == 1 ? "" : "s");
		bars[n_bars] = (struct sl__figure_bar){
			.name = sum->n_name ? names[n_bars] : "(no module)",
			.classes = is_parameters ? "mark s6" : "mark s0",
			.value = sum->value,
			.text = is_parameters ? sl__count_text(
							t, (uint64_t)sum->value)
					      : sl__share_text(t, sum->value),
			.tip = tips[n_bars]};
		n_bars++;
	}
	if (!n_bars)
		return;
	sl__figure_bars(sl__views_figure(v, figure->name, figure->title,
					 SL__FIGURE_WIDTH,
					 sl__figure_bars_height(n_bars) + 8),
			bars, n_bars, 8);
	sl__views_figure_end(v, "%s", figure->axis);
}

/* What training would hold, beside what inference does. */
static void
add_training(struct sl__views *v, const struct sl_inspection *m)
{
	const struct sl_training *t = &m->training;
	struct sl__figure_bar bars[SL_N_OPTIMIZERS];
	struct sl__text texts[SL_N_OPTIMIZERS];
	size_t n = 0;

	for (int i = 0; i < SL_N_OPTIMIZERS; i++) {
		uint64_t n_bytes = i == SL_OPTIMIZER_NONE
					   ? m->memory.parameter_bytes +
						     m->memory.live_bytes
					   : t->peak_bytes[i];

		if (!n_bytes)
			continue;
		bars[n] = (struct sl__figure_bar){
			.name = i == SL_OPTIMIZER_NONE
					? "inference"
					: sl_optimizer_text(
						  (enum sl_optimizer)i),
			.classes = i == SL_OPTIMIZER_NONE ? "mark s0"
							  : "mark s1",
			.value = (double)n_bytes,
			.text = sl__bytes_text(&texts[n], (double)n_bytes)};
		n++;
	}
	if (n < 2)
		return;
	sl__views_open(v, "memory", "Memory");
	sl__figure_bars(sl__views_figure(v, "memory-needs",
					 "Memory to run and to train",
					 SL__FIGURE_WIDTH,
					 sl__figure_bars_height(n) + 8),
			bars, n, 8);
	sl__views_figure_end(
		v,
		"At the peak. Inference: parameters and the live set. "
		"Training: parameters, the optimizer's state, and what is live "
		"of gradients and activations in the phase that needs most: "
		"%s.",
		sl_phase_text(t->peak_phase));
}

void
sl__inspect_views(struct sl__views *v, const void *result)
{
	static const struct sl__figure by_type = {
		"work-by-type", "Work by type", NULL,
		"Multiply-adds of the model by type of layer.", 0};
	static const struct sl__figure by_module = {
		"work-by-module", "Work by module", NULL,
		"Multiply-adds by module.", 0};
	static const struct sl__figure parameters = {
		"parameters", "Parameters by module", NULL,
		"Trainable ones, by module.", 0};
	const struct sl__inspect_page_input *r = result;
	const struct sl_inspection *m = r->inspections.list[0];

	if (r->inspections.n != 1)
		return;
	sl__views_title(v, sl__model_display_name(m->name, m->source),
			"Inspection", "%zu nodes, %s", m->n_nodes,
			m->sizes ? m->sizes : "");
	add_tiles(v, m);
	sl__views_open(v, "work", "Work");
	add_groups(v, m->by_type, m->n_types, 0, &by_type);
	add_groups(v, m->by_path, m->n_paths, 0, &by_module);
	sl__views_open(v, "parameters", "Parameters");
	add_groups(v, m->by_path, m->n_paths, 1, &parameters);
	add_training(v, m);
}
