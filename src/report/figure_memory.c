/* SPDX-License-Identifier: Apache-2.0 */
/*
 * figure_memory.c - the memory that is live along an iteration, by what it is
 * for, and what its peak is made of.
 */
#include "base/arena.h"
#include "base/buf.h"
#include "report/figures.h"
#include "report/profile_page.h"
#include "report/unit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/banned.h"

enum { RESIDENT = 256 };

static const double LEFT = 84, RIGHT = 840, TOP = 34, BOTTOM = 270;

/* Bytes by place of the timeline and category. */
struct stack {
	uint64_t (*bytes)[SL_N_MEMORY_CATEGORIES];
	uint64_t most[SL_N_MEMORY_CATEGORIES];
	size_t n, peak;
};

static const char *
look_of(enum sl_memory_category category)
{
	static const char *const looks[SL_N_MEMORY_CATEGORIES] = {
		[SL_MEMORY_ACTIVATION] = "s0", [SL_MEMORY_GRADIENT] = "s1",
		[SL_MEMORY_STATE] = "s6",      [SL_MEMORY_INPUT] = "s2",
		[SL_MEMORY_OUTPUT] = "s4",     [SL_MEMORY_WORKSPACE] = "s3"};

	return looks[category];
}

/* What stays is drawn below what comes and goes. */
static const enum sl_memory_category order[SL_N_MEMORY_CATEGORIES] = {
	SL_MEMORY_STATE,      SL_MEMORY_INPUT,    SL_MEMORY_OUTPUT,
	SL_MEMORY_ACTIVATION, SL_MEMORY_GRADIENT, SL_MEMORY_WORKSPACE};

/* Results of older versions list no tensors: all is one category. */
static int
fill_stack(struct stack *stack, const struct sl_memory_use *m,
	   struct sl__arena *arena)
{
	stack->n = m->n_timeline;
	stack->bytes = sl__arena_array(arena, stack->n, sizeof(*stack->bytes));
	if (!stack->bytes)
		return 0;
	for (size_t i = 0; i < m->n_tensors; i++) {
		const struct sl_memory_tensor *t = &m->tensors[i];

		for (size_t k = t->first; k <= t->last && k < stack->n; k++)
			stack->bytes[k][t->category] += t->n_bytes;
	}
	for (size_t k = 0; k < stack->n; k++) {
		if (!m->n_tensors)
			stack->bytes[k][SL_MEMORY_ACTIVATION] =
				m->timeline[k].live_bytes;
		if (m->timeline[k].live_bytes >
		    m->timeline[stack->peak].live_bytes)
			stack->peak = k;
		for (int c = 0; c < SL_N_MEMORY_CATEGORIES; c++) {
			if (stack->bytes[k][c] > stack->most[c])
				stack->most[c] = stack->bytes[k][c];
		}
	}
	return 1;
}

/* Bytes of the first n categories in their order. */
static double
sum_below(const struct stack *stack, size_t place, size_t n)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += stack->bytes[place][order[i]];
	return (double)sum;
}

/* The height of the first n categories at a place. */
static double
y_at(const struct stack *stack, size_t place, size_t n,
     const struct sl__axis axes[2])
{
	return sl__axis_at(&axes[1], sum_below(stack, place, n));
}

/* Along the top of the first n categories from left to right, or back: a point
 * before and after each step. */
static void
follow(struct sl__svg *s, const struct stack *stack, size_t n, int is_back,
       const struct sl__axis axes[2])
{
	for (size_t i = 0; i <= stack->n; i++) {
		size_t at = is_back ? stack->n - i : i;
		double x = sl__axis_at(&axes[0], (double)at);
		double before = y_at(stack, at ? at - 1 : 0, n, axes);
		double after =
			y_at(stack, at < stack->n ? at : at - 1, n, axes);

		if (i && i < stack->n && fabs(before - after) < 0.05)
			continue;
		sl__svg_path_to(s, x, is_back ? after : before);
		if (fabs(before - after) >= 0.05)
			sl__svg_path_to(s, x, is_back ? before : after);
	}
}

/* A category as an area of steps, on top of those before it. */
static void
add_area(struct sl__svg *s, const struct stack *stack, size_t nth,
	 const struct sl__axis axes[2])
{
	char classes[16] = "area s0";

	classes[6] = look_of(order[nth])[1];
	sl__svg_path(s, classes);
	follow(s, stack, nth + 1, 0, axes);
	follow(s, stack, nth, 1, axes);
	sl__svg_path_done(s);
	sl__svg_close(s);
}

/* A column for each operation, to point at: the script adds the tensors. */
static void
add_columns(struct sl__svg *s, const struct sl_profile *p,
	    const struct sl__axis axes[2])
{
	const struct sl_memory_use *m = &p->memory;
	struct sl__text t;

	for (size_t i = 0; i < m->n_timeline; i++) {
		size_t operation = m->timeline[i].operation;
		double from = sl__axis_at(&axes[0], (double)i);

		sl__svg_open(s, "rect", "mark hover", "x y width height", from,
			     TOP, sl__axis_at(&axes[0], (double)i + 1) - from,
			     BOTTOM - TOP);
		sl__svg_attribute(s, "data-op", "%zu", operation);
		sl__svg_attribute(s, "data-place", "%zu", i);
		sl__svg_close_with_tip(
			s, "%s: %s live", p->operations[operation].name,
			sl__bytes_text(&t, (double)m->timeline[i].live_bytes));
	}
}

static void
add_peak(struct sl__svg *s, const struct sl_memory_use *m,
	 const struct stack *stack, const struct sl__axis axes[2])
{
	double bytes = (double)m->timeline[stack->peak].live_bytes;
	double x = sl__axis_at(&axes[0], (double)stack->peak + 0.5);
	double y = sl__axis_at(&axes[1], bytes);
	struct sl__text t;

	sl__svg_open(s, "circle", "ring ink", "cx cy r", x, y, 4.0);
	sl__svg_close(s);
	sl__svg_label(s, x > 620 ? "label end" : "label",
		      x > 620 ? x - 9 : x + 9, y - 4, "peak %s",
		      sl__bytes_text(&t, bytes));
}

static void
add_stack(struct sl__views *v, const struct sl_profile *p,
	  const struct stack *stack)
{
	const struct sl_memory_use *m = &p->memory;
	struct sl__axis axes[2] = {
		{.hi = (double)m->n_timeline,
		 .from = LEFT,
		 .to = RIGHT,
		 .is_whole = 1,
		 .title = "operation, in order"},
		{.hi = 1.08 * (double)m->timeline[stack->peak].live_bytes,
		 .from = BOTTOM,
		 .to = TOP,
		 .unit = "B",
		 .title = "live memory"}};
	const char *name =
		p->operations[m->timeline[stack->peak].operation].name;
	int n_name = (int)strlen(name);
	struct sl__svg *s;
	double x = LEFT;

	/* One that moves what has no name ends with a space. */
	while (n_name > 0 && name[n_name - 1] == ' ')
		n_name--;
	sl__axis_round(&axes[1]);
	s = sl__views_figure(v, "memory", "Live memory along an iteration",
			     SL__FIGURE_WIDTH, 322);
	sl__svg_axes(s, &axes[0], &axes[1]);
	for (size_t i = 0; i < SL_N_MEMORY_CATEGORIES; i++) {
		if (!stack->most[order[i]])
			continue;
		x = sl__svg_legend(s, look_of(order[i]), x, 16,
				   m->n_tensors
					   ? sl_memory_category_text(order[i])
					   : "live");
		add_area(s, stack, i, axes);
	}
	add_peak(s, m, stack, axes);
	add_columns(s, p, axes);
	sl__views_figure_end(
		v,
		"What is in memory%s while each operation runs, %s; the peak "
		"is at %.*s. Point at an operation to see its tensors.",
		p->training ? "" : " beside the weights",
		m->tracked_bytes.absent ? "as planned" : "as it was seen",
		n_name, name);
}

/* Bytes of a category at the peak.  Results of older versions list no tensors,
 * but have sums in which gradients and states are not told apart. */
static double
peak_bytes(const struct sl_memory_use *m, const struct stack *stack,
	   enum sl_memory_category category)
{
	const uint64_t sums[SL_N_MEMORY_CATEGORIES] = {
		[SL_MEMORY_ACTIVATION] = m->activations_bytes,
		[SL_MEMORY_INPUT] = m->input_bytes,
		[SL_MEMORY_OUTPUT] = m->output_bytes,
		[SL_MEMORY_WORKSPACE] = m->workspace_bytes};

	return (double)(m->n_tensors ? stack->bytes[stack->peak][category]
				     : sums[category]);
}

/* What the model stores beside what is live: parameters that are trained are
 * states, and live. */
static double
stored_bytes(const struct sl_profile *p)
{
	double bytes = (double)p->memory.parameters_bytes;

	if (p->training)
		bytes -= (double)p->training->parameters_bytes;
	return fmax(bytes, 0);
}

/* What the peak is made of, weights included: in the order and the colours of
 * the figure above. */
/* Why the process takes more than its tensors do. */
static const char *
say_resident(char out[RESIDENT], const struct sl_memory_use *m)
{
	struct sl__text a, b, c, d;

	*out = '\0';
	if (m->resident_peak_bytes.absent || m->resident_base_bytes.absent)
		return out;
	snprintf(out, RESIDENT,
		 " The process had at most %s: %s before it loaded the model, "
		 "%s that the plan reserves, %s of it weights in layouts of "
		 "the kernels; the rest is pages of files and of libraries.",
		 sl__bytes_text(&a, m->resident_peak_bytes.value),
		 sl__bytes_text(&b, m->resident_base_bytes.value),
		 sl__bytes_text(&c, (double)m->reserved_bytes),
		 sl__bytes_text(&d, (double)m->packed_bytes));
	return out;
}

static void
add_categories(struct sl__views *v, const struct sl_profile *p,
	       const struct stack *stack)
{
	static const char *const looks[SL_N_MEMORY_CATEGORIES] = {
		[SL_MEMORY_ACTIVATION] = "mark cell s0",
		[SL_MEMORY_GRADIENT] = "mark cell s1",
		[SL_MEMORY_STATE] = "mark cell s6",
		[SL_MEMORY_INPUT] = "mark cell s2",
		[SL_MEMORY_OUTPUT] = "mark cell s4",
		[SL_MEMORY_WORKSPACE] = "mark cell s3"};
	const struct sl_memory_use *m = &p->memory;
	struct sl__figure_bar parts[1 + SL_N_MEMORY_CATEGORIES];
	struct sl__text texts[1 + SL_N_MEMORY_CATEGORIES];
	char resident[RESIDENT];
	size_t n = 0;

	if (m->tracked_bytes.absent)
		return;
	parts[n++] = (struct sl__figure_bar){
		.name = p->training ? "other weights" : "parameters",
		.classes = "mark cell s7",
		.value = stored_bytes(p)};
	if (!(parts[0].value > 0))
		n = 0;
	for (size_t i = 0; i < SL_N_MEMORY_CATEGORIES; i++) {
		parts[n] = (struct sl__figure_bar){
			.name = sl_memory_category_text(order[i]),
			.classes = looks[order[i]],
			.value = peak_bytes(m, stack, order[i])};
		n += (size_t)(parts[n].value > 0);
	}
	for (size_t i = 0; i < n; i++)
		parts[i].text = sl__bytes_text(&texts[i], parts[i].value);
	sl__figure_stack(
		sl__views_figure(v, "memory-categories",
				 "What the peak is made of", SL__FIGURE_WIDTH,
				 8 + sl__figure_stack_height(parts, n)),
		parts, n, 8);
	sl__views_figure_end(
		v, "%s%s",
		!p->training ? "Parameters as the model stores them, and what "
			       "is live beside them at the peak."
		: m->n_tensors
			? "State is the parameters that are trained, and "
			  "what the optimizer keeps for them."
			: "Parameters that are trained and what the optimizer "
			  "keeps for them count as input.",
		say_resident(resident, m));
}

void
sl__figures_memory(struct sl__views *v, const struct sl_profile *p)
{
	struct sl__arena arena;
	struct stack stack = {0};

	if (!p->memory.n_timeline)
		return;
	sl__arena_init(&arena, NULL);
	sl__views_open(v, "memory", "Memory");
	if (fill_stack(&stack, &p->memory, &arena)) {
		add_stack(v, p, &stack);
		add_categories(v, p, &stack);
	} else
		sl__buf_mark_failed(v->out);
	sl__arena_release(&arena);
}
