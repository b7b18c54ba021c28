/* SPDX-License-Identifier: Apache-2.0 */
/*
 * layers.c - the nodes of a model as a report lists them.
 *
 * A layer is a node with all its calls together.  Groups sum layers up by
 * type and by module path; the ledger says of how many nodes and bytes the
 * cost is counted, estimated and not known.
 */
#include "analysis/layers.h"
#include "base/map.h"
#include "base/status.h"
#include "graph/op_rules.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/banned.h"

struct lister {
	const struct sl__survey *survey;
	const struct sl_graph *graph;
	struct sl__arena *arena;
	struct sl_inspection *out;
	struct sl_layer *layers;
	uint64_t *parameters; /* per node */
	struct sl_error *err;
};

/* The type of number that a node computes in: of its first operand, or of its
 * result. */
static enum sl_dtype
dtype_of(const struct lister *l, const struct sl__node *node)
{
	enum sl_dtype dtype = SL_DTYPE_NONE;

	if (node->n_inputs && node->inputs[0] != SL__NONE)
		dtype = l->survey->shapes->types[node->inputs[0]].dtype;
	/* A condition chooses among numbers of another type. */
	if ((dtype == SL_DTYPE_NONE || dtype == SL_DTYPE_BOOL) &&
	    node->n_outputs && node->outputs[0] != SL__NONE)
		dtype = l->survey->shapes->types[node->outputs[0]].dtype;
	return dtype;
}

static enum sl_status
describe_output(struct lister *l, struct sl_layer *layer,
		const struct sl__node *node)
{
	const struct sl__type *type;
	const char *text;

	layer->output_shape = "";
	if (!node->n_outputs || node->outputs[0] == SL__NONE)
		return SL_OK;
	type = &l->survey->shapes->types[node->outputs[0]];
	text = sl__type_text(l->survey->shapes, type);
	layer->output_shape = sl__arena_string(l->arena, text);
	for (uint32_t k = 0; k < node->n_outputs; k++) {
		uint64_t n;

		if (node->outputs[k] != SL__NONE &&
		    sl__type_bytes(&l->survey->shapes->types[node->outputs[k]],
				   &n))
			layer->output_bytes = sl__plus(layer->output_bytes, n);
	}
	return layer->output_shape && !l->survey->shapes->is_short
		       ? SL_OK
		       : sl__fail_nomem(l->err);
}

static enum sl_status
add_layer(struct lister *l, uint32_t id)
{
	const struct sl__node *node = &l->graph->nodes[id];
	const struct sl__costs *costs = &l->survey->costs;
	struct sl_layer *layer = &l->layers[l->out->n_layers];
	uint64_t n_calls = costs->n_calls[id];

	layer->name = sl__arena_string(l->arena, node->name);
	layer->type = sl__arena_string(l->arena, node->type);
	layer->domain = sl__arena_string(l->arena, node->domain);
	layer->path = sl__layer_path(l->arena, node);
	if (!layer->name || !layer->type || !layer->domain || !layer->path)
		return sl__fail_nomem(l->err);
	layer->node_id = id;
	layer->n_calls = n_calls;
	layer->parameters = l->parameters[id];
	layer->dtype = dtype_of(l, node);
	layer->is_causal = l->survey->attentions.is_causal[id];
	/* Of a loop of unknown length one turn's traffic is all there is. */
	sl__cost_add(&layer->cost, &costs->per_call[id], n_calls ? n_calls : 1);
	if (!n_calls)
		layer->cost.macs = layer->cost.fma = layer->cost.mul =
			layer->cost.add = layer->cost.div = layer->cost.exp =
				layer->cost.cmp = 0;
	layer->cost.work = costs->per_call[id].work;
	layer->cost.basis = costs->basis[id];
	if (costs->why[id] && layer->cost.basis != SL_BASIS_COUNTED) {
		layer->cost.why = sl__arena_string(l->arena, costs->why[id]);
		if (!layer->cost.why)
			return sl__fail_nomem(l->err);
	}
	layer->intensity = sl_cost_bytes(&layer->cost)
				   ? (double)sl_cost_operations(&layer->cost) /
					     (double)sl_cost_bytes(&layer->cost)
				   : (double)NAN;
	l->out->n_layers++;
	return describe_output(l, layer, node);
}

static int
is_listed(const struct lister *l, uint32_t id)
{
	return (l->survey->costs.n_calls[id] ||
		l->survey->costs.basis[id] == SL_BASIS_UNKNOWN) &&
	       !sl__is_op(&l->graph->nodes[id], SL__OP_ONNX_Constant);
}

static enum sl_status
add_layers(struct lister *l)
{
	const struct sl__steps *steps = l->survey->forward.steps;
	enum sl_status rc = SL_OK;

	l->layers = sl__arena_array(l->arena, steps->n, sizeof(*l->layers));
	if (!l->layers)
		return sl__fail_nomem(l->err);
	l->out->layers = l->layers;
	for (size_t s = 0; !rc && s < steps->n; s++) {
		if (steps->rows[s].kind != SL__STEP_LEAVE &&
		    is_listed(l, steps->rows[s].node))
			rc = add_layer(l, steps->rows[s].node);
	}
	return rc;
}

/* A weight belongs to the node that computes with it first; one that nothing
 * uses, to none. */
static enum sl_status
attribute_parameters(struct lister *l)
{
	const struct sl__roles *roles = l->survey->forward.roles;

	l->parameters = sl__arena_array(l->arena, l->graph->n_nodes,
					sizeof(*l->parameters));
	if (!l->parameters)
		return sl__fail_nomem(l->err);
	for (size_t v = 0; v < l->graph->n_values; v++) {
		const struct sl__tensor *t = l->graph->values[v].tensor;

		if (t && roles->role[v] == SL_ROLE_WEIGHT &&
		    roles->first_user[v] != SL__NONE)
			l->parameters[roles->first_user[v]] =
				sl__plus(l->parameters[roles->first_user[v]],
					 sl__roles_numbers(roles, l->graph, v));
	}
	return SL_OK;
}

static void
sum_up(struct lister *l)
{
	struct sl_inspection *out = l->out;
	double whole;

	for (size_t i = 0; i < out->n_layers; i++)
		sl__cost_add(&out->cost, &l->layers[i].cost, 1);
	whole = out->cost.macs ? (double)out->cost.macs
			       : (double)sl_cost_operations(&out->cost);
	for (size_t i = 0; i < out->n_layers; i++) {
		const struct sl_cost *c = &l->layers[i].cost;
		double part = out->cost.macs ? (double)c->macs
					     : (double)sl_cost_operations(c);

		l->layers[i].share = whole > 0 ? part / whole : (double)NAN;
	}
}

static enum sl_status
note_why(struct lister *l, struct sl__map *seen, const char **names,
	 const struct sl_layer *layer)
{
	const char *domain = *layer->domain ? layer->domain : "ai.onnx";
	const char *text = sl__arena_format(
		l->arena, "%s (%s): %s", layer->type, domain,
		layer->cost.why ? layer->cost.why : "not known");

	if (!text)
		return sl__fail_nomem(l->err);
	if (sl__map_find(seen, text))
		return SL_OK;
	names[l->out->coverage.n_names++] = text;
	return sl__map_put(seen, text, 1, l->err);
}

static enum sl_status
take_coverage(struct lister *l)
{
	struct sl_coverage *coverage = &l->out->coverage;
	struct sl_ledger_side *sides[] = {
		&coverage->counted, &coverage->estimated, &coverage->unknown};
	const char **names;
	struct sl__map seen;
	size_t n_open = 0;
	enum sl_status rc = SL_OK;

	for (size_t i = 0; i < l->out->n_layers; i++)
		n_open += l->layers[i].cost.basis != SL_BASIS_COUNTED;
	sl__map_init(&seen, l->arena);
	names = sl__arena_array(l->arena, n_open, sizeof(*names));
	if (!names)
		return sl__fail_nomem(l->err);
	coverage->names = names;
	for (size_t i = 0; !rc && i < l->out->n_layers; i++) {
		const struct sl_layer *layer = &l->layers[i];
		struct sl_ledger_side *side = sides[layer->cost.basis];

		side->n_nodes++;
		side->n_bytes =
			sl__plus(side->n_bytes, sl_cost_bytes(&layer->cost));
		if (layer->cost.basis != SL_BASIS_COUNTED)
			rc = note_why(l, &seen, names, layer);
	}
	return rc;
}

static int
by_work(const void *a, const void *b)
{
	const struct sl_layer_group *x = a, *y = b;

	if (x->macs != y->macs)
		return x->macs > y->macs ? -1 : 1;
	if (x->operations != y->operations)
		return x->operations > y->operations ? -1 : 1;
	if (x->n_bytes != y->n_bytes)
		return x->n_bytes > y->n_bytes ? -1 : 1;
	return strcmp(x->name, y->name);
}

static void
add_to_group(struct sl_layer_group *g, const struct sl_layer *layer)
{
	g->n_layers++;
	g->parameters = sl__plus(g->parameters, layer->parameters);
	g->macs = sl__plus(g->macs, layer->cost.macs);
	g->operations =
		sl__plus(g->operations, sl_cost_operations(&layer->cost));
	g->n_bytes = sl__plus(g->n_bytes, sl_cost_bytes(&layer->cost));
	g->share += layer->share;
}

typedef const char *key_function(const struct sl_layer *layer);

static const char *
type_of(const struct sl_layer *layer)
{
	return layer->type;
}

static const char *
path_of(const struct sl_layer *layer)
{
	return layer->path;
}

static enum sl_status
group(struct lister *l, key_function *key,
      const struct sl_layer_group **out_groups, size_t *out_n)
{
	struct sl__map index;
	struct sl_layer_group *groups;
	size_t n = 0;

	sl__map_init(&index, l->arena);
	groups = sl__arena_array(l->arena, l->out->n_layers, sizeof(*groups));
	if (!groups)
		return sl__fail_nomem(l->err);
	for (size_t i = 0; i < l->out->n_layers; i++) {
		const char *name = key(&l->layers[i]);
		const size_t *found = sl__map_find(&index, name);
		enum sl_status rc;

		if (found) {
			add_to_group(&groups[*found], &l->layers[i]);
			continue;
		}
		rc = sl__map_put(&index, name, n, l->err);
		if (rc)
			return rc;
		groups[n].name = name;
		add_to_group(&groups[n++], &l->layers[i]);
	}
	qsort(groups, n, sizeof(*groups), by_work);
	*out_groups = groups;
	*out_n = n;
	return SL_OK;
}

enum sl_status
sl__layers_of(struct sl_inspection *out, const struct sl__survey *survey,
	      struct sl__arena *arena, struct sl_error *err)
{
	struct lister l = {.survey = survey,
			   .graph = survey->graph,
			   .arena = arena,
			   .out = out,
			   .err = err};
	enum sl_status rc = attribute_parameters(&l);

	if (!rc)
		rc = add_layers(&l);
	if (rc)
		return rc;
	sum_up(&l);
	rc = take_coverage(&l);
	if (!rc)
		rc = group(&l, type_of, &out->by_type, &out->n_types);
	return rc ? rc : group(&l, path_of, &out->by_path, &out->n_paths);
}
