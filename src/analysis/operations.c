/* SPDX-License-Identifier: Apache-2.0 */
/* operations.c - the steps of a plan as a profile lists them. */
#include "analysis/operations.h"
#include "analysis/layers.h"
#include "base/status.h"
#include "ops/cost.h"
#include "stats/quantile.h"

#include <math.h>
#include <stdlib.h>

#include "base/banned.h"

struct lister {
	const struct sl__operation_sources *from;
	struct sl__arena *arena;
	const struct sl_layer **layers; /* by node; NULL: no layer */
	unsigned char *is_counted;      /* by node: a step has its parameters */
	double *column;                 /* times of one step */
};

/* The names of the nodes it covers, what they hold, and the last one's
 * output. */
static enum sl_status
take_covers(const struct lister *l, struct sl_operation *op,
	    const struct sl_step *step, struct sl_error *err)
{
	const struct sl_graph *graph = l->from->graph;
	const char **names =
		sl__arena_array(l->arena, step->n_covers, sizeof(*names));

	if (!names)
		return sl__fail_nomem(err);
	for (size_t i = 0; i < step->n_covers; i++) {
		const struct sl_layer *layer = l->layers[step->covers[i]];
		const char *name = graph->nodes[step->covers[i]].name;

		names[i] = sl__arena_string(l->arena, name ? name : "");
		if (!names[i])
			return sl__fail_nomem(err);
		if (!layer)
			continue;
		/* Of a node that takes several steps, the first has them. */
		op->parameters +=
			l->is_counted[step->covers[i]] ? 0 : layer->parameters;
		l->is_counted[step->covers[i]] = 1;
		op->output_shape =
			sl__arena_string(l->arena, layer->output_shape);
	}
	op->covers = names;
	op->n_covers = step->n_covers;
	return SL_OK;
}

/* What a body does that is run node by node, over all of its runs in an
 * iteration. */
struct body {
	struct sl_cost cost;
	uint64_t weight_bytes; /* each node's, once */
	const char *why;       /* some of it is not counted; NULL */
};

static void
add_node(const struct lister *l, struct body *body, size_t node)
{
	const struct sl_layer *layer = l->layers[node];

	/* What no run comes to is not listed. */
	if (!layer)
		return;
	if (layer->cost.basis != SL_BASIS_COUNTED && !body->why)
		body->why = layer->cost.why ? layer->cost.why : "not known";
	sl__cost_add_multiple(&body->cost, &layer->cost, 1);
	if (layer->n_calls)
		body->weight_bytes += layer->cost.weight_bytes / layer->n_calls;
}

static void
add_bodies(const struct lister *l, struct body *out, size_t id)
{
	const struct sl__node *node = &l->from->graph->nodes[id];

	for (size_t a = 0; a < node->n_attributes; a++) {
		const struct sl__block *block;

		if (node->attributes[a].kind != SL__ATTRIBUTE_BLOCK)
			continue;
		block = &l->from->graph->blocks[node->attributes[a].block];
		for (size_t i = 0; i < block->n_nodes; i++) {
			add_node(l, out, block->nodes[i]);
			add_bodies(l, out, block->nodes[i]);
		}
	}
}

/* The plan knows nothing of what a step does that looks at sizes while it
 * runs: the nodes say it. */
static enum sl_status
count_body(const struct lister *l, struct sl_operation *op,
	   const struct sl_step *step, struct sl_error *err)
{
	const struct sl_layer *own;
	struct body body = {0};
	uint64_t n;

	for (size_t i = 0; i < step->n_covers; i++) {
		add_node(l, &body, step->covers[i]);
		add_bodies(l, &body, step->covers[i]);
	}
	own = step->n_covers ? l->layers[step->covers[0]] : NULL;
	n = own && own->n_calls ? own->n_calls : 1;
	op->core_flops = 2 * body.cost.macs / n;
	op->nominal_flops = sl_cost_operations(&body.cost) / n;
	op->executed_flops = op->nominal_flops;
	if (sl_cost_bytes(&body.cost) / n > op->n_bytes)
		op->n_bytes = sl_cost_bytes(&body.cost) / n;
	op->working_set_bytes += body.weight_bytes;
	if (op->working_set_bytes > op->n_bytes)
		op->working_set_bytes = op->n_bytes;
	op->uncounted = body.why ? sl__arena_string(l->arena, body.why) : NULL;
	return body.why && !op->uncounted ? sl__fail_nomem(err) : SL_OK;
}

static enum sl_status
describe(const struct lister *l, struct sl_operation *op, size_t i,
	 struct sl_error *err)
{
	const struct sl_graph *graph = l->from->graph;
	struct sl_step step;
	enum sl_status rc;

	if (!sl_plan_step(l->from->plan, i, &step)) {
		/* What feeds iterations comes after the steps of the plan. */
		step = (struct sl_step){.name = "data",
					.type = "data loading",
					.kernel = "loader",
					.path = SL_PATH_NATIVE};
		op->phase = SL_PHASE_DATA;
	}
	op->step = i;
	op->name = sl__arena_string(l->arena, step.name);
	op->type = sl__arena_string(l->arena, step.type);
	op->kernel = sl__arena_string(l->arena, step.kernel);
	op->path = step.path;
	op->module = "";
	op->output_shape = "";
	op->core_flops = step.core_flops;
	op->nominal_flops = step.nominal_flops;
	op->executed_flops = step.executed_flops;
	op->n_bytes = step.n_bytes;
	op->working_set_bytes = step.n_bytes;
	rc = take_covers(l, op, &step, err);
	if (!rc && step.path == SL_PATH_STEPWISE)
		rc = count_body(l, op, &step, err);
	if (!rc && step.n_covers)
		op->module = sl__node_module_path(
			l->arena, &graph->nodes[step.covers[0]]);
	if (!rc && (!op->name || !op->type || !op->kernel || !op->module ||
		    !op->output_shape))
		rc = sl__fail_nomem(err);
	return rc;
}

static struct sl_estimate
median_of(const struct lister *l, size_t step)
{
	const struct sl__timed_iterations *p = l->from->iterations;
	size_t n = 0;

	for (size_t r = 0; r < p->n_rows; r++) {
		float ns = p->rows[r * p->n_steps + step];

		if (!isnan(ns))
			l->column[n++] = (double)ns;
	}
	return sl__median_estimate(l->column, n);
}

/* What is shorter than a reading of the clock has no rate, nor has work that
 * is not known. */
static void
rate(struct sl_operation *op)
{
	double call_ns = op->median_ns.value;

	if (!(call_ns > 0))
		call_ns = (double)NAN;
	op->bytes_per_s = (double)op->n_bytes / call_ns * 1e9;
	op->intensity =
		op->n_bytes ? (double)op->executed_flops / (double)op->n_bytes
			    : (double)NAN;
	op->executed_flops_per_s = (double)op->executed_flops / call_ns * 1e9;
	op->flops_per_s = op->core_flops
				  ? (double)op->core_flops / call_ns * 1e9
				  : (double)NAN;
	if (op->uncounted)
		op->bytes_per_s = op->intensity = op->flops_per_s =
			op->executed_flops_per_s = (double)NAN;
}

static void
time_step(const struct lister *l, struct sl_operation *op, double all_ns)
{
	const struct sl__timed_iterations *p = l->from->iterations;
	double n = (double)p->n_recorded;

	op->n_calls = (double)p->n_calls[op->step] / n;
	op->self_ns = p->step_ns[op->step] / n;
	op->share = all_ns > 0 ? op->self_ns / all_ns : 0;
	op->min_ns = p->n_calls[op->step] ? p->step_min_ns[op->step]
					  : (double)NAN;
	op->max_ns = p->n_calls[op->step] ? p->step_max_ns[op->step]
					  : (double)NAN;
	op->median_ns = median_of(l, op->step);
	rate(op);
	op->bound_ns = op->ceiling_share = (double)NAN;
}

struct ranked {
	double self_ns;
	size_t i;
};

static int
by_time(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	if (x->self_ns != y->self_ns)
		return x->self_ns < y->self_ns ? 1 : -1;
	return x->i < y->i ? -1 : x->i > y->i;
}

static enum sl_status
rank(struct sl_profile *out, const struct sl_operation *ops,
     struct sl__arena *arena, struct sl_error *err)
{
	size_t n = out->n_operations;
	struct ranked *ranked = sl__arena_array(arena, n, sizeof(*ranked));
	size_t *order = sl__arena_array(arena, n, sizeof(*order));
	double share = 0;

	if (!ranked || !order)
		return sl__fail_nomem(err);
	for (size_t i = 0; i < n; i++)
		ranked[i] = (struct ranked){ops[i].self_ns, i};
	qsort(ranked, n, sizeof(*ranked), by_time);
	for (size_t i = 0; i < n; i++) {
		order[i] = ranked[i].i;
		/* A hair below, so that rounding asks for no further one. */
		out->n_for_80 += share < 0.8 - 1e-9;
		share += ops[order[i]].share;
	}
	out->by_time = order;
	return SL_OK;
}

enum sl_status
sl__operations_of(struct sl_profile *out,
		  const struct sl__operation_sources *sources,
		  struct sl__arena *arena, struct sl_error *err)
{
	const struct sl__timed_iterations *p = sources->iterations;
	struct lister l = {.from = sources, .arena = arena};
	struct sl_operation *ops;
	double all_ns = 0;
	enum sl_status rc = SL_OK;

	out->n_operations = p->n_steps;
	ops = sl__arena_array(arena, p->n_steps, sizeof(*ops));
	l.column = sl__arena_array(arena, SL__ITERATIONS_ROWS, sizeof(double));
	l.layers = sl__arena_array(arena, sources->graph->n_nodes,
				   sizeof(*l.layers));
	l.is_counted = sl__arena_alloc(arena, sources->graph->n_nodes + 1);
	if (!ops || !l.column || !l.layers || !l.is_counted)
		return sl__fail_nomem(err);
	for (size_t i = 0; i < sources->model->n_layers; i++) {
		const struct sl_layer *layer = &sources->model->layers[i];

		l.layers[layer->node_id] = layer;
	}
	for (size_t s = 0; s < p->n_steps; s++)
		all_ns += p->step_ns[s] / (double)p->n_recorded;
	for (size_t s = 0; !rc && s < p->n_steps; s++) {
		rc = describe(&l, &ops[s], s, err);
		if (!rc)
			time_step(&l, &ops[s], all_ns);
	}
	out->operations = ops;
	return rc ? rc : rank(out, ops, arena, err);
}

size_t
sl__hot_count(const struct sl_profile *profile, double share)
{
	double sum = 0;
	size_t n = 0;

	/* A hair below, so that rounding asks for no further one. */
	while (n < profile->n_operations && n < SL__HOT_MOST &&
	       sum < share - 1e-9)
		sum += profile->operations[profile->by_time[n++]].share;
	return n;
}
