/* SPDX-License-Identifier: Apache-2.0 */
/* figure_training.c - a training step by phase and by layer. */
#include "report/figures.h"
#include "report/profile_page.h"
#include "report/unit.h"

#include <math.h>

#include "base/banned.h"

/* A letter of a name is 7.2 points wide in wide faces. */
enum { LAYERS_MOST = 40, PHASES = 4, NAME_LETTERS = 26 };

/* Of the phases, and of what a layer costs in them: backward has two parts. */
static const char *const phase_looks[PHASES] = {"mark cell s0", "mark cell s3",
						"mark cell s1", "mark cell s2"};
static const char *const looks[PHASES] = {"mark cell s0", "mark cell s1",
					  "mark cell s4", "mark cell s2"};

/* By phase: data, where there is such a phase, is first. */
static const char *
look_of(const struct sl_training_profile *t, size_t i)
{
	size_t n_before = t->n_phases > PHASES ? t->n_phases - PHASES : 0;

	return i < n_before ? "mark cell s6"
			    : phase_looks[(i - n_before) % PHASES];
}

static void
add_phases(struct sl__views *v, const struct sl_training_profile *t)
{
	struct sl__figure_bar parts[PHASES + 1];
	struct sl__text texts[PHASES + 1];
	size_t n = t->n_phases < PHASES + 1 ? t->n_phases : PHASES + 1;

	for (size_t i = 0; i < n; i++)
		parts[i] = (struct sl__figure_bar){
			.name = sl_phase_text(t->phases[i].phase),
			.classes = look_of(t, i),
			.value = t->phases[i].ns.value,
			.text = sl__time_text(&texts[i],
					      t->phases[i].ns.value)};
	sl__figure_stack(
		sl__views_figure(v, "training-phases",
				 "Phases of a training step", SL__FIGURE_WIDTH,
				 8 + sl__figure_stack_height(parts, n)),
		parts, n, 8);
	sl__views_figure_end(v,
			     "Medians. The backward pass takes %.2f times the "
			     "forward pass.",
			     t->backward_to_forward);
}

/* The costs of a layer, in the order of 'looks'. */
static void
list_costs(double out[PHASES], const struct sl_training_layer *l)
{
	out[0] = l->forward_ns;
	out[1] = l->backward_input_ns;
	out[2] = l->backward_weight_ns;
	out[3] = l->update_ns;
}

static double
sum_costs(const struct sl_training_layer *l)
{
	double costs[PHASES];

	list_costs(costs, l);
	return costs[0] + costs[1] + costs[2] + costs[3];
}

static void
add_layer(struct sl__svg *s, const struct sl_training_layer *l,
	  const char *label, double y, double most)
{
	static const char *const names[PHASES] = {
		"forward", "backward, inputs", "backward, weights", "update"};
	double costs[PHASES], x = 206;
	struct sl__text t;

	list_costs(costs, l);
	sl__svg_label(s, "label end", 196, y + 15, "%s", label);
	for (size_t i = 0; i < PHASES; i++) {
		double width = costs[i] / most * 560;

		if (!(width > 0))
			continue;
		sl__svg_open(s, "rect", looks[i], "x y width height", x, y + 3,
			     width, 17.0);
		sl__svg_close_with_tip(s, "%s, %s: %s", l->name, names[i],
				       sl__time_text(&t, costs[i]));
		x += width;
	}
	sl__svg_label(s, "note", x + 8, y + 15, "%s",
		      sl__time_text(&t, sum_costs(l)));
}

static void
add_layers(struct sl__views *v, const struct sl_training_profile *t)
{
	size_t n = t->n_layers < LAYERS_MOST ? t->n_layers : LAYERS_MOST;
	double most = 0, x = 206;
	struct sl__arena arena;
	struct sl__svg *s;
	const char **labels;

	for (size_t i = 0; i < n; i++)
		most = fmax(most, sum_costs(&t->layers[i]));
	if (!(most > 0))
		return;
	s = sl__views_figure(v, "training-layers",
			     "Forward, backward and update of each layer",
			     SL__FIGURE_WIDTH, 40 + 26 * (double)n);
	x = sl__svg_legend(s, "s0", x, 16, "forward");
	x = sl__svg_legend(s, "s1", x, 16, "backward, inputs");
	x = sl__svg_legend(s, "s4", x, 16, "backward, weights");
	sl__svg_legend(s, "s2", x, 16, "update");
	sl__arena_init(&arena, NULL);
	labels = sl__figure_labels(s, &arena, &t->layers->name, n,
				   sizeof(*t->layers), NAME_LETTERS);
	for (size_t i = 0; labels && i < n; i++)
		add_layer(s, &t->layers[i], labels[i], 30 + 26 * (double)i,
			  most);
	sl__arena_release(&arena);
	sl__views_figure_end(v, "Mean times in a step.%s",
			     n < t->n_layers ? " The first 40 layers." : "");
}

void
sl__figures_training(struct sl__views *v, const struct sl_profile *p)
{
	sl__views_open(v, "training", "Training");
	add_phases(v, p->training);
	add_layers(v, p->training);
}
