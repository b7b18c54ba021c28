/* SPDX-License-Identifier: Apache-2.0 */
/* views_inspect.c - the views of a model that was looked at, not run. */
#include "report/figures.h"
#include "report/inspect_page.h"
#include "report/unit.h"

#include <stdio.h>

#include "base/banned.h"

enum { BARS_MOST = 12 };

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

void
sl__inspect_views(struct sl__views *v, const void *result)
{
	const struct sl__inspect_page_input *r = result;
	const struct sl_inspection *m = r->inspections.list[0];
	struct sl__figure_bar bars[BARS_MOST];
	struct sl__text texts[BARS_MOST];
	size_t n = m->n_types < BARS_MOST ? m->n_types : BARS_MOST;

	if (r->inspections.n != 1)
		return;
	sl__views_title(v, sl__model_display_name(m->name, m->source),
			"Inspection", "%zu nodes, %s", m->n_nodes,
			m->sizes ? m->sizes : "");
	add_tiles(v, m);
	for (size_t i = 0; i < n; i++)
		bars[i] = (struct sl__figure_bar){
			.name = m->by_type[i].name,
			.classes = "mark s0",
			.value = m->by_type[i].share,
			.text = sl__percent_text(&texts[i],
						 m->by_type[i].share)};
	if (n < 2)
		return;
	sl__views_open(v, "work", "Work");
	sl__figure_bars(sl__views_figure(v, "work-by-type", "Work by type",
					 SL__FIGURE_WIDTH,
					 sl__figure_bars_height(n) + 8),
			bars, n, 8);
	sl__views_figure_end(v, "Multiply-adds of the model by type of layer.");
}
