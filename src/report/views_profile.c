/* SPDX-License-Identifier: Apache-2.0 */
/*
 * views_profile.c - the views of a profile: the answer first, then where time
 * and memory go, then what would help.
 */
#include "base/buf.h"
#include "report/fact_text.h"
#include "report/figures.h"
#include "report/profile_page.h"
#include "report/unit.h"
#include "result/step_evidence.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/banned.h"

enum { BARS_MOST = 12, POINTS_MOST = 400, BELOW = 224 };

/* Half of the last digit of shares: less reads as 0.0 %. */
static const double SHOWN = 0.0005;

/* The colour of what an operation is for. */
const char *
sl__profile_part_look(enum sl_part part)
{
	static const char *const looks[SL_N_PARTS] = {
		[SL_PART_OTHER] = "mark cell s7",
		[SL_PART_ATTENTION] = "mark cell s0",
		[SL_PART_FEED_FORWARD] = "mark cell s1",
		[SL_PART_EMBEDDING] = "mark cell s4",
		[SL_PART_NORMALIZATION] = "mark cell s5",
		[SL_PART_CONVOLUTION] = "mark cell s2",
		[SL_PART_RECURRENT] = "mark cell s3",
		[SL_PART_HEAD] = "mark cell s6",
		[SL_PART_MOVEMENT] = "mark cell s8"};

	return looks[(unsigned)part < SL_N_PARTS ? part : SL_PART_OTHER];
}

/* The colour of what bounds it. */
static const char *
bound_look(enum sl_bound bound)
{
	static const char *const looks[SL_N_BOUNDS] = {
		[SL_BOUND_UNKNOWN] = "mark point s7",
		[SL_BOUND_COMPUTE] = "mark point s1",
		[SL_BOUND_INSTRUCTIONS] = "mark point s8",
		[SL_BOUND_LATENCY] = "mark point s9",
		[SL_BOUND_LAYOUT] = "mark point dark",
		[SL_BOUND_L2] = "mark point s2",
		[SL_BOUND_L3] = "mark point s5",
		[SL_BOUND_DRAM] = "mark point s0",
		[SL_BOUND_OVERHEAD] = "mark point s3",
		[SL_BOUND_IMBALANCE] = "mark point s4",
		[SL_BOUND_REFERENCE] = "mark point s6"};

	return looks[(unsigned)bound < SL_N_BOUNDS ? bound : SL_BOUND_UNKNOWN];
}

static void
add_tiles(struct sl__views *v, const struct sl_profile *p)
{
	const struct sl_latency *l = &p->latency;
	const struct sl_memory_use *m = &p->memory;
	struct sl__text a, b;

	sl__views_tile(
		v, p->training ? "Training step, median" : "Latency, median",
		"latency.median_ms", sl__time_value(&a, &l->median, NULL), "%s",
		sl__figure_time_interval(&b, &l->median, "samples"));
	snprintf(a.s, sizeof(a.s), "%s/s",
		 sl__si_prefix_text(&b, p->rates.samples_per_s));
	sl__views_tile(v, "Throughput", "rates.samples_per_s", a.s,
		       "samples, at %sFLOP/s",
		       sl__si_prefix_text(&b, p->rates.flops_per_s));
	if (!m->resident_peak_bytes.absent)
		sl__views_tile(v, "Peak memory", "memory.resident_peak_bytes",
			       sl__bytes_text(&a, m->resident_peak_bytes.value),
			       "resident; %s of parameters",
			       sl__bytes_text(&b, (double)m->parameters_bytes));
}

static int
by_value(const void *a, const void *b)
{
	const struct sl__figure_bar *x = a, *y = b;

	return (x->value < y->value) - (x->value > y->value);
}

/* What operations are for, by time; returns how many. */
static size_t
list_parts(struct sl__figure_bar *parts, const struct sl_profile *p)
{
	double self_ns[SL_N_PARTS] = {0};
	size_t n = 0;

	for (size_t i = 0; i < p->n_operations; i++)
		self_ns[p->operations[i].part] += p->operations[i].self_ns;
	for (int i = 0; i < SL_N_PARTS; i++) {
		if (self_ns[i] > 0)
			parts[n++] = (struct sl__figure_bar){
				.name = sl_part_text((enum sl_part)i),
				.classes =
					sl__profile_part_look((enum sl_part)i),
				.value = self_ns[i]};
	}
	qsort(parts, n, sizeof(*parts), by_value);
	return n;
}

/* What takes most of the time, at the end of a sentence; nothing where no part
 * has a third of it. */
static void
append_largest_part(struct sl_buf *text, const struct sl_profile *p)
{
	struct sl__figure_bar parts[SL_N_PARTS];
	struct sl__text t;
	size_t n = list_parts(parts, p);

	if (n && !p->ledger.absent && p->ledger.wall_ns > 0 &&
	    parts[0].value >= p->ledger.wall_ns / 3)
		sl__buf_format(
			text, "; %s takes %s", parts[0].name,
			sl__share_text(&t, parts[0].value / p->ledger.wall_ns));
}

/* That nothing was decided, and why. */
static void
append_inconclusive(struct sl_buf *text, const struct sl_profile *p)
{
	sl__buf_text(text, "Inconclusive");
	if (sl__profile_is_disturbed(p)) {
		sl__buf_text(text, ": others had too much of the CPUs; end "
				   "them, or repeat when the machine is idle");
	} else if (p->verdict.n_evidence) {
		sl__buf_text(text, ": ");
		sl__fact_append_sentence(text, &p->verdict.evidence[0]);
	}
}

/* What bounds the model, in one sentence, and by how much of the time. */
static void
add_lead(struct sl__views *v, const struct sl_profile *p)
{
	const struct sl_finding *f = &p->verdict;
	struct sl_buf text = {0};

	if (!f->bottleneck)
		return;
	if (f->bottleneck == SL_BOTTLENECK_INCONCLUSIVE) {
		append_inconclusive(&text, p);
	} else {
		sl__buf_format(&text, "%s is %s", sl__profile_model_name(p),
			       sl__profile_bottleneck_text(f->bottleneck));
		if (f->n_evidence) {
			sl__buf_text(&text, ": ");
			sl__fact_append_sentence(&text, &f->evidence[0]);
		}
		append_largest_part(&text, p);
	}
	sl__buf_text(&text, ".");
	if (sl__buf_status(&text, NULL))
		sl__buf_mark_failed(v->out);
	else
		sl__views_text(v, "lead", "%s", text.data);
	sl_buf_release(&text);
}

/* What to do first, and the command that tries it. */
static void
add_recommendation(struct sl__views *v, const struct sl_profile *p)
{
	struct sl_buf text = {0};

	if (!p->n_advice)
		return;
	sl__fact_append_sentence(&text, &p->advice[0].what);
	sl__buf_text(&text, ": ");
	if (sl_advice_expected(&p->advice[0], &text, NULL))
		sl__buf_mark_failed(v->out);
	sl__views_text(v, "recommendation", "%s", text.data);
	text.n_bytes = 0;
	if (p->advice[0].trial.action &&
	    !sl_advice_command(p, &p->advice[0], &text, NULL))
		sl__views_text(v, "command", "%s", text.data);
	sl_buf_release(&text);
}

static void
add_summary(struct sl__views *v, const struct sl_profile *p)
{
	sl__views_open(v, "summary", "Summary");
	add_tiles(v, p);
	add_lead(v, p);
	add_recommendation(v, p);
}

/* A part that takes time; others are no segment of the bar. */
static void
add_part(struct sl__figure_bar *parts, size_t *n, const char *name,
	 const char *look, double ns)
{
	if (ns > 0)
		parts[(*n)++] = (struct sl__figure_bar){
			.name = name, .classes = look, .value = ns};
}

/* Parts below zero, as differences of what was measured apart may be: those
 * that a tenth of a percent shows. */
static void
say_below(char out[BELOW], const struct sl_ledger *l)
{
	double recording = l->overhead_ns.value / l->wall_ns;
	double residual = l->residual_ns / l->wall_ns;
	int has_recording = recording <= -SHOWN,
	    has_residual = residual <= -SHOWN;
	struct sl__text a, b;

	*out = '\0';
	if (has_recording || has_residual)
		snprintf(out, BELOW,
			 " Below zero, and so without a segment: %s%s%s%s%s.",
			 has_recording ? "recording " : "",
			 has_recording ? sl__share_text(&a, recording) : "",
			 has_recording && has_residual ? ", " : "",
			 has_residual ? "unattributed " : "",
			 has_residual ? sl__share_text(&b, residual) : "");
}

/* Where an iteration's time went, to the last percent. */
static void
add_accounting(struct sl__views *v, const struct sl_profile *p)
{
	const struct sl_ledger *l = &p->ledger;
	struct sl__figure_bar parts[SL_N_PARTS + 3];
	struct sl__text texts[SL_N_PARTS + 3];
	char below[BELOW];
	size_t n;

	if (l->absent || !l->n_iterations)
		return;
	n = list_parts(parts, p);
	add_part(parts, &n, "gaps", "mark cell s9", l->gaps_ns);
	add_part(parts, &n, "recording", "mark cell dark",
		 l->overhead_ns.value);
	add_part(parts, &n, "unattributed", "mark hollow", l->residual_ns);
	for (size_t i = 0; i < n; i++)
		parts[i].text =
			sl__share_text(&texts[i], parts[i].value / l->wall_ns);
	say_below(below, l);
	sl__figure_stack(
		sl__views_figure(v, "accounting", "Where the time goes",
				 SL__FIGURE_WIDTH,
				 8 + sl__figure_stack_height(parts, n)),
		parts, n, 8);
	sl__views_figure_end(v,
			     "An iteration's mean wall time, %s, by what it "
			     "is for.%s %s",
			     sl__time_text(&texts[0], l->wall_ns), below,
			     l->is_closed ? "All of it adds up within 2 %."
					  : "It does not add up within 2 %.");
}

static void
add_verdict(struct sl__views *v, const struct sl_profile *p)
{
	const struct sl_finding *f = &p->verdict;

	sl__views_open(v, "verdict", "Verdict");
	if (f->bottleneck == SL_BOTTLENECK_INCONCLUSIVE)
		add_lead(v, p);
	else if (f->bottleneck)
		sl__views_text(v, "lead", "%s is %s (confidence %.2f).",
			       sl__profile_model_name(p),
			       sl__profile_bottleneck_text(f->bottleneck),
			       f->confidence);
	add_accounting(v, p);
	sl__views_facts(v,
			f->bottleneck > SL_BOTTLENECK_INCONCLUSIVE
				? "What speaks for it"
				: "What was found",
			f->evidence, f->n_evidence);
	sl__views_facts(v, "What speaks against it", f->against, f->n_against);
	sl__views_facts(v, "Impossible figures", p->impossible,
			p->n_impossible);
}

static void
add_groups(struct sl__views *v, const struct sl_operation_group *groups,
	   size_t n_all, const char *name, const char *title)
{
	struct sl__figure_bar bars[BARS_MOST];
	struct sl__text texts[BARS_MOST];
	char tips[BARS_MOST][128];
	size_t n = n_all < BARS_MOST ? n_all : BARS_MOST;
	struct sl__text t;

	if (n < 2)
		return;
	for (size_t i = 0; i < n; i++) {
		const struct sl_operation_group *g = &groups[i];

		snprintf(tips[i], sizeof(tips[i]),
			 "%s, %zu operation%s, %s of the time",
			 sl__time_text(&t, g->self_ns), g->n_operations,
			 g->n_operations == 1 ? "" : "s",
			 sl__share_text(&texts[i], g->share));
		bars[i] = (struct sl__figure_bar){
			.name = *g->name ? g->name : "(no module)",
			.classes = "mark s0",
			.value = g->self_ns,
			.text = texts[i].s,
			.tip = tips[i]};
	}
	sl__figure_bars(sl__views_figure(v, name, title, SL__FIGURE_WIDTH,
					 sl__figure_bars_height(n) + 8),
			bars, n, 8);
	sl__views_figure_end(v, "Self time, as a share of all operations.%s",
			     n < n_all ? " The longest ones." : "");
}

/* Whether an operation has a place under the roofs: it computes. */
static int
has_place(const struct sl_operation *o)
{
	return o->intensity > 0 && o->executed_flops_per_s > 0;
}

/* The colours of what bounds the operations that are drawn. */
static void
add_bound_legend(struct sl__svg *s, const struct sl_profile *p,
		 const struct sl__roof_point *points, size_t n_points)
{
	double x = 84;

	for (int bound = 0; bound < SL_N_BOUNDS; bound++) {
		const char *look = bound_look((enum sl_bound)bound);
		size_t n = 0;

		for (size_t i = 0; i < n_points; i++)
			n += (size_t)((int)p->operations[points[i].operation]
					      .judgement.bound == bound);
		if (n)
			x = sl__svg_legend(s, strrchr(look, ' ') + 1, x,
					   SL__ROOFLINE_HEIGHT + 8,
					   sl_bound_text((enum sl_bound)bound));
	}
}

/* Operations as points, the longest first; returns how many. */
static size_t
list_points(struct sl__roof_point points[POINTS_MOST],
	    const struct sl_profile *p, struct sl__arena *arena)
{
	struct sl__text a, b;
	size_t n = 0;

	for (size_t i = 0; i < p->n_operations && n < POINTS_MOST; i++) {
		const struct sl_operation *o = &p->operations[p->by_time[i]];

		if (!has_place(o))
			continue;
		points[n++] = (struct sl__roof_point){
			.intensity = o->intensity,
			.flops_per_s = o->executed_flops_per_s,
			.share = o->share,
			.classes = bound_look(o->judgement.bound),
			.operation = p->by_time[i],
			.tip = sl__arena_format(
				arena,
				"%s (%s): %s of the time, %sFLOP/s, "
				"bound by %s",
				o->name, o->type, sl__share_text(&a, o->share),
				sl__si_prefix_text(&b, o->executed_flops_per_s),
				sl_bound_text(o->judgement.bound))};
	}
	return n;
}

/* What of the time is not in the figure. */
static void
end_roofline(struct sl__views *v, const struct sl_profile *p, size_t n_points)
{
	size_t n_without = 0, n_short;
	double share = 0;
	char left_out[160] = "";
	struct sl__text t;

	for (size_t i = 0; i < p->n_operations; i++) {
		const struct sl_operation *o = &p->operations[i];

		if (has_place(o))
			continue;
		n_without++;
		share += o->share;
	}
	n_short = p->n_operations - n_without - n_points;
	if (n_without)
		snprintf(left_out, sizeof(left_out),
			 " Not drawn: %zu operation%s without FLOPs, %s of the "
			 "time.",
			 n_without, n_without == 1 ? "" : "s",
			 sl__share_text(&t, share));
	sl__views_figure_end(
		v,
		"Each point is an operation, its area the time it takes (1 %% "
		"or less are drawn alike), its colour what bounds it. Lines "
		"are what this machine reached with %zu thread%s while the "
		"model was measured.%s%s",
		p->ceilings.n_threads, p->ceilings.n_threads == 1 ? "" : "s",
		left_out,
		n_short ? " Of those with FLOPs the longest are drawn." : "");
}

static void
add_roofline(struct sl__views *v, const struct sl_profile *p)
{
	struct sl__roofline r;
	struct sl__roof_point points[POINTS_MOST];
	struct sl__arena arena;
	struct sl__svg *s;
	size_t n;

	if (p->ceilings.absent || !sl__roofline_of_ceilings(&r, &p->ceilings))
		return;
	sl__arena_init(&arena, NULL);
	sl__views_open(v, "roofline", "Roofline");
	n = list_points(points, p, &arena);
	s = sl__views_figure(v, "roofline", "Roofline", SL__FIGURE_WIDTH,
			     SL__ROOFLINE_HEIGHT + 24);
	sl__figure_roofline(s, &r, points, n);
	add_bound_legend(s, p, points, n);
	end_roofline(v, p, n);
	sl__arena_release(&arena);
}

static void
add_one(struct sl__views *v, const struct sl_profile *p)
{
	struct sl__text t;

	sl__views_title(v, sl__profile_model_name(p),
			p->training ? "Profile of a training step" : "Profile",
			"%s on %d thread%s; %zu nodes in %zu operations, %s "
			"parameters",
			sl_dtype_text(p->dtype), p->n_threads,
			p->n_threads == 1 ? "" : "s", p->n_nodes,
			p->n_operations,
			sl__count_text(&t, p->model->parameters.trainable));
	add_summary(v, p);
	add_verdict(v, p);
	sl__views_open(v, "latency", "Latency");
	sl__figures_latency(v, &p->latency, "sample");
	sl__views_scripted(v, "operations", "Operations",
			   "The full report below lists the operations.");
	sl__figure_icicle(v, p);
	add_groups(v, p->by_type, p->n_types, "time-by-type", "Time by type");
	add_groups(v, p->by_module, p->n_modules, "time-by-module",
		   "Time by module");
	add_roofline(v, p);
	sl__figure_graph(v, p);
	sl__figures_memory(v, p);
	sl__figure_timeline(v, p);
	if (p->training)
		sl__figures_training(v, p);
	if (p->n_amdahl)
		sl__views_scripted(v, "what-if", "What if",
				   "The full report below has the table.");
}

/* Several models: how long each takes. */
static void
add_several(struct sl__views *v, const struct sl__profiles_document *d)
{
	const struct sl__figure figure = {"latency", "Latency of each model",
					  "s", "time of an iteration", 0};
	struct sl__figure_interval rows[BARS_MOST];
	struct sl__text texts[BARS_MOST];
	size_t n = d->n < BARS_MOST ? d->n : BARS_MOST, n_intervals = 0;

	sl__views_title(v, "Models side by side", "Profile", "%zu models",
			d->n);
	for (size_t i = 0; i < n; i++) {
		const struct sl_estimate *e = &d->list[i]->latency.median;

		rows[i] = (struct sl__figure_interval){
			.name = sl__profile_model_name(d->list[i]),
			.value = 1e-9 * e->value,
			.lo = e->needs_n ? 0 : 1e-9 * e->lo,
			.hi = e->needs_n ? 0 : 1e-9 * e->hi,
			.text = e->needs_n ? sl__time_value(&texts[i], e, NULL)
					   : sl__time_estimate(&texts[i], e,
							       NULL)};
		n_intervals += (size_t)sl__figure_has_interval(e);
	}
	sl__views_open(v, "latency", "Latency");
	if (sl__figure_intervals(v, &figure, rows, n))
		sl__views_figure_end(
			v, "Medians%s.",
			n_intervals ? " with their 95 % intervals"
				    : "; too few samples for intervals");
}

void
sl__profile_views(struct sl__views *v, const void *result)
{
	const struct sl__profile_page_input *r = result;

	if (r->profiles.n == 1)
		add_one(v, r->profiles.list[0]);
	else
		add_several(v, &r->profiles);
}
