/* SPDX-License-Identifier: Apache-2.0 */
/*
 * layer.c - one layer alone, and against itself within its model.
 *
 * The layer is what the plan makes of it: a node that is fused with others
 * brings them along, so that both sides do the same work.
 */
#include "base/option_struct.h"
#include "base/status.h"
#include "driver/profile_part.h"
#include "experiment/layer_isolation.h"
#include "stats/quantile.h"
#include "transform/extract.h"

#include <math.h>
#include <string.h>

#include "base/banned.h"

/* Of the time: for the layer in its model against the layer alone. */
#define ISOLATION_SHARE   0.4
#define USUAL_ISOLATION_S 2.0

struct isolating {
	const struct sl_graph *graph;
	const char *layer;
	const struct sl_profile_options *how;
	struct sl__arena *arena; /* of the result */
	struct sl__arena scratch;
	struct sl_layer_profile *out;
	struct sl__subject_model whole, alone;
	struct sl_graph *part;
	unsigned char *is_wanted; /* by node */
	unsigned char *is_layer;  /* by step */
	size_t *nodes;
	size_t n_nodes;
};

/* Steps that do work of the layer, and all nodes that these cover. */
static enum sl_status
find_steps(struct isolating *x, struct sl_error *err)
{
	size_t n_steps = sl_plan_n_steps(x->whole.plan);
	struct sl_step step;

	x->is_layer = sl__arena_alloc(&x->scratch, n_steps + 1);
	x->nodes = sl__arena_array(&x->scratch, x->graph->n_nodes,
				   sizeof(*x->nodes));
	if (!x->is_layer || !x->nodes)
		return sl__fail_nomem(err);
	for (size_t i = 0; i < n_steps; i++) {
		(void)sl_plan_step(x->whole.plan, i, &step);
		for (size_t k = 0; k < step.n_covers; k++)
			x->is_layer[i] |= x->is_wanted[step.covers[k]];
		x->out->n_operations += x->is_layer[i];
	}
	for (size_t i = 0; i < n_steps; i++) {
		(void)sl_plan_step(x->whole.plan, i, &step);
		for (size_t k = 0; x->is_layer[i] && k < step.n_covers; k++)
			x->is_wanted[step.covers[k]] = 1;
	}
	for (size_t i = 0; i < x->graph->n_nodes; i++) {
		if (x->is_wanted[i])
			x->nodes[x->n_nodes++] = i;
	}
	if (!x->out->n_operations)
		return sl__fail(err, SL_E_USAGE,
				"'%.200s' takes no time: the plan has no step "
				"for it",
				x->layer);
	return SL_OK;
}

static enum sl_status
take_out(struct isolating *x, struct sl_error *err)
{
	struct sl__shapes_options how = {.sizes = &x->whole.sizes};
	struct sl__extract_options what = {
		.graph = x->graph,
		.nodes = x->nodes,
		.n_nodes = x->n_nodes,
		.name = x->layer,
	};
	enum sl_status rc = sl__shapes_new(&what.shapes, x->graph, &how, err);

	if (!rc)
		rc = sl__extract(&x->part, &what, err);
	sl__shapes_free(what.shapes);
	return rc;
}

static enum sl_status
compare(struct isolating *x, struct sl_error *err)
{
	struct sl__layer_isolation_options what = {
		.whole = x->whole.plan,
		.alone = x->alone.plan,
		.is_layer = x->is_layer,
		.time_s = x->how->time_s > 0 ? ISOLATION_SHARE * x->how->time_s
					     : USUAL_ISOLATION_S,
		.seed = x->how->seed,
		.n_rounds = x->how->n_runs,
		.control.interrupt = x->how->interrupt,
	};
	struct sl__layer_isolation_times times;
	double *ratios;
	enum sl_status rc =
		sl__layer_isolation_measure(&times, &what, &x->scratch, err);

	if (rc)
		return rc;
	ratios = sl__arena_array(&x->scratch, times.n, sizeof(double));
	if (!ratios)
		return sl__fail_nomem(err);
	for (size_t i = 0; i < times.n; i++)
		ratios[i] = times.context_ns[i] / times.alone_ns[i];
	x->out->ratio = sl__median_estimate(ratios, times.n);
	x->out->context_ns = sl__median_estimate(times.context_ns, times.n);
	x->out->alone_ns = sl__median_estimate(times.alone_ns, times.n);
	return SL_OK;
}

/* What the difference means; only where it is one. */
static struct sl_fact
explain(const struct sl_estimate *ratio)
{
	if (ratio->needs_n)
		return (struct sl_fact){SL_FACT_LAYER_UNKNOWN,
					{(double)ratio->needs_n},
					{NULL}};
	if (ratio->lo <= 1.02 && ratio->hi >= 0.98)
		return (struct sl_fact){.kind = SL_FACT_LAYER_SAME};
	return (struct sl_fact){ratio->value > 1 ? SL_FACT_LAYER_SLOWER
						 : SL_FACT_LAYER_FASTER,
				{ratio->value},
				{NULL}};
}

/*
 * The layer as a model of its own.  Who interrupts it before its first
 * iteration has the comparison already: one iteration makes the least profile
 * that can stand beside that.
 */
static enum sl_status
profile_alone(struct isolating *x, const struct sl_plan_options *plan,
	      struct sl_error *err)
{
	const struct sl_graph *whole = x->graph;
	const struct sl__layer_origin origin = {
		.model = whole->is_builtin ? whole->name : whole->source,
		.layer = x->layer,
		.plan = x->how->plan,
	};
	struct sl_profile_options how = *x->how;
	struct sl_plan_options to_the_end = *plan;
	struct sl_profile *profile = NULL;
	enum sl_status rc;

	how.plan = plan;
	how.time_s *= 1 - ISOLATION_SHARE;
	how.inputs = NULL;
	how.n_inputs = 0;
	how.inputs_folder = NULL;
	rc = sl__profile_part(&profile, x->part, &how, &origin, err);
	if (rc == SL_E_INTERRUPTED) {
		to_the_end.interrupt = NULL;
		how.plan = &to_the_end;
		how.interrupt = NULL;
		how.progress = NULL;
		how.n_warmup = 0;
		how.n_runs = 1;
		how.flags |= SL_PROFILE_BRIEF;
		rc = sl__profile_part(&profile, x->part, &how, &origin, err);
		if (!rc)
			profile->stopped_by = SL_STOP_INTERRUPT;
	}
	x->out->alone = rc ? NULL : profile;
	return rc;
}

static enum sl_status
profile_layer(struct isolating *x, struct sl_error *err)
{
	struct sl__subject_model_options how =
		sl__profile_subject_options(x->how);
	struct sl__subject_model_options bare = {
		.seed = x->how->seed, .interrupt = x->how->interrupt};
	struct sl_plan_options plan = {.struct_size = sizeof(plan)};
	enum sl_status rc;

	x->is_wanted = sl__arena_alloc(&x->scratch, x->graph->n_nodes + 1);
	if (!x->is_wanted)
		return sl__fail_nomem(err);
	rc = sl__extract_find_nodes(x->graph, x->layer, x->is_wanted,
				    &x->scratch, err);

	if (!rc)
		rc = sl__subject_model_open(&x->whole, x->graph, &how, err);
	if (!rc)
		rc = find_steps(x, err);
	if (!rc)
		rc = take_out(x, err);
	if (rc)
		return rc;
	if (x->how->plan)
		plan = *x->how->plan;
	plan.sizes = NULL;
	bare.plan = &plan;
	rc = sl__subject_model_open(&x->alone, x->part, &bare, err);
	if (!rc && !sl_plan_n_steps(x->alone.plan))
		rc = sl__fail(err, SL_E_DATA,
			      "'%.200s' alone has nothing to run: its inputs "
			      "are constants",
			      x->layer);
	if (!rc)
		rc = compare(x, err);
	if (!rc)
		x->out->finding = explain(&x->out->ratio);
	if (rc)
		return rc;
	sl__subject_model_close(&x->alone);
	sl__subject_model_close(&x->whole);
	return profile_alone(x, &plan, err);
}

enum sl_status
sl_profile_layer(struct sl_layer_profile **out, const struct sl_graph *graph,
		 const char *layer, const struct sl_profile_options *options,
		 struct sl_error *err)
{
	struct sl_profile_options how;
	struct sl__plan_options_storage plan;
	struct isolating x = {.graph = graph, .layer = layer, .how = &how};
	enum sl_status rc = sl__options_copy(&how, sizeof(how), options,
					     "sl_profile_options", err);

	*out = NULL;
	if (!rc)
		rc = sl__plan_options_copy(&plan, &how.plan, err);
	if (rc)
		return rc;
	x.out = sl__arena_object_new(&x.arena, how.allocator, sizeof(*x.out));
	if (!x.out)
		return sl__fail_nomem(err);
	sl__arena_init(&x.scratch, how.allocator);
	x.out->layer = sl__arena_string(x.arena, layer);
	x.out->model = sl__arena_string(x.arena, graph->name);
	rc = x.out->layer && x.out->model ? profile_layer(&x, err)
					  : sl__fail_nomem(err);
	sl__subject_model_close(&x.alone);
	sl__subject_model_close(&x.whole);
	sl_graph_free(x.part);
	sl__arena_release(&x.scratch);
	if (rc) {
		sl_layer_profile_free(x.out);
		return rc;
	}
	*out = x.out;
	return SL_OK;
}

void
sl_layer_profile_free(struct sl_layer_profile *p)
{
	if (!p)
		return;
	sl_profile_free((struct sl_profile *)(uintptr_t)p->alone);
	sl__arena_object_free(p);
}
