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
	const struct sl__static_analysis *survey;
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
			layer->output_bytes =
				sl__saturating_add(layer->output_bytes, n);
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
	layer->path = sl__node_module_path(l->arena, node);
	if (!layer->name || !layer->type || !layer->domain || !layer->path)
		return sl__fail_nomem(l->err);
	layer->node_id = id;
	layer->n_calls = n_calls;
	layer->parameters = l->parameters[id];
	layer->dtype = dtype_of(l, node);
	layer->is_causal = l->survey->attentions.is_causal[id];
	/* Of a loop of unknown length one turn's traffic is all there is. */
	sl__cost_add_multiple(&layer->cost, &costs->per_call[id],
			      n_calls ? n_calls : 1);
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
	const struct sl__execution_order *steps = l->survey->forward.steps;
	enum sl_status rc = SL_OK;

	l->layers = sl__arena_array(l->arena, steps->n, sizeof(*l->layers));
	if (!l->layers)
		return sl__fail_nomem(l->err);
	l->out->layers = l->layers;
	for (size_t s = 0; !rc && s < steps->n; s++) {
		if (steps->rows[s].kind != SL__NODE_VISIT_LEAVE &&
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
				sl__saturating_add(
					l->parameters[roles->first_user[v]],
					sl__parameter_n_elements(roles,
								 l->graph, v));
	}
	return SL_OK;
}

static void
sum_up(struct lister *l)
{
	struct sl_inspection *out = l->out;
	double whole;

	for (size_t i = 0; i < out->n_layers; i++)
		sl__cost_add_multiple(&out->cost, &l->layers[i].cost, 1);
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
		side->n_bytes = sl__saturating_add(side->n_bytes,
						   sl_cost_bytes(&layer->cost));
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
	g->parameters = sl__saturating_add(g->parameters, layer->parameters);
	g->macs = sl__saturating_add(g->macs, layer->cost.macs);
	g->operations = sl__saturating_add(g->operations,
					   sl_cost_operations(&layer->cost));
	g->n_bytes =
		sl__saturating_add(g->n_bytes, sl_cost_bytes(&layer->cost));
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
sl__inspection_fill_layers(struct sl_inspection *out,
			   const struct sl__static_analysis *survey,
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

/*
 * What the numbers of the weights look like.
 *
 * Two iterations: moments, extremes and zeros, then what needs the extremes.
 * Moments are computed per piece and merged (Chan, Golub and LeVeque, 1979),
 * which keeps a billion numbers exact to many digits.
 */

enum {
	PIECE = 2048, /* numbers at a time */
	N_BINS = 32,
	/* Numbers between two lettings go of pages: 4 MB of f32. */
	STRETCH = 512 * PIECE
};

struct moments {
	double n, mean, m2; /* finite numbers only */
	double min, max;
	uint64_t n_zero, n_odd;
};

static void
merge(struct moments *into, const struct moments *piece)
{
	double n = into->n + piece->n;
	double delta = piece->mean - into->mean;

	if (piece->n < 1)
		return;
	into->mean += delta * piece->n / n;
	into->m2 += piece->m2 + delta * delta * into->n * piece->n / n;
	into->n = n;
	into->min = fmin(into->min, piece->min);
	into->max = fmax(into->max, piece->max);
}

static void
add_piece(struct moments *m, const double *x, size_t n)
{
	struct moments piece = {.min = (double)INFINITY,
				.max = -(double)INFINITY};
	double sum = 0;

	for (size_t i = 0; i < n; i++) {
		if (!isfinite(x[i])) {
			m->n_odd++;
			continue;
		}
		m->n_zero += fabs(x[i]) <= 0;
		sum += x[i];
		piece.n++;
		piece.min = fmin(piece.min, x[i]);
		piece.max = fmax(piece.max, x[i]);
	}
	piece.mean = piece.n > 0 ? sum / piece.n : 0;
	for (size_t i = 0; i < n; i++) {
		if (isfinite(x[i]))
			piece.m2 += (x[i] - piece.mean) * (x[i] - piece.mean);
	}
	merge(m, &piece);
}

/* A channel is dead when all its numbers are 0. */
struct channels {
	uint64_t n_each, n_left; /* numbers of a channel, and still to come */
	int is_dead;
	size_t n_dead;
};

static void
follow_channels(struct channels *c, const double *x, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		c->is_dead = c->is_dead && fabs(x[i]) <= 0;
		if (--c->n_left == 0) {
			c->n_dead += (size_t)c->is_dead;
			c->n_left = c->n_each;
			c->is_dead = 1;
		}
	}
}

static void
let_go_behind(const struct sl__tensor *t, uint64_t at)
{
	uint64_t element = sl_dtype_bits(t->dtype) / 8;

	if (at && at % STRETCH == 0)
		sl__tensor_release_pages(t, (at - STRETCH) * element,
					 STRETCH * element);
}

static void
first_pass(struct sl_weight_row *out, const struct sl__tensor *t,
	   struct moments *m)
{
	struct channels channels = {.is_dead = 1};
	double x[PIECE];

	/* A vector has a number per channel, and a bias of 0 is alive. */
	out->n_channels = t->rank >= 2 ? (size_t)t->dims[0] : 0;
	channels.n_each = channels.n_left =
		t->n_elements / (out->n_channels ? out->n_channels : 1);
	for (uint64_t at = 0; at < t->n_elements; at += PIECE) {
		uint64_t left = t->n_elements - at;
		size_t n = left < PIECE ? (size_t)left : PIECE;

		if (!sl__tensor_doubles(t, at, n, x))
			return;
		add_piece(m, x, n);
		follow_channels(&channels, x, n);
		let_go_behind(t, at);
	}
	sl__tensor_release_pages(t, 0, t->n_bytes);
	out->n_dead_channels = out->n_channels ? channels.n_dead : 0;
}

static uint64_t
second_pass(struct sl_weight_row *out, const struct sl__tensor *t)
{
	double largest = fmax(fabs(out->min), fabs(out->max));
	double width = out->max - out->min;
	uint64_t n_small = 0;
	double x[PIECE];

	for (uint64_t at = 0; at < t->n_elements; at += PIECE) {
		uint64_t left = t->n_elements - at;
		size_t n = left < PIECE ? (size_t)left : PIECE;

		if (!sl__tensor_doubles(t, at, n, x))
			return n_small;
		for (size_t i = 0; i < n; i++) {
			double place = width > 0 ? (x[i] - out->min) / width
						 : 0;

			if (!isfinite(x[i]))
				continue;
			n_small += fabs(x[i]) < 1e-3 * largest;
			out->histogram[place < 1 ? (size_t)(place * N_BINS)
						 : N_BINS - 1]++;
		}
		let_go_behind(t, at);
	}
	sl__tensor_release_pages(t, 0, t->n_bytes);
	return n_small;
}

static const char *
why_absent(const struct sl__tensor *t)
{
	double x;

	if (t->absent)
		return t->absent;
	if (t->n_elements == 0)
		return "it is empty";
	if (t->is_sparse)
		return "it is stored sparsely";
	return sl__tensor_doubles(t, 0, 1, &x)
		       ? NULL
		       : "its type of number is not read";
}

void
sl__weight_row_compute(struct sl_weight_row *out, const struct sl__tensor *t)
{
	struct moments m = {.min = (double)INFINITY, .max = -(double)INFINITY};
	uint64_t n_small;

	out->n_elements = t->n_elements;
	out->absent = why_absent(t);
	out->mean = out->std = out->min = out->max = (double)NAN;
	if (out->absent)
		return;
	first_pass(out, t, &m);
	out->n_odd = m.n_odd;
	if (m.n < 1) {
		out->absent = "none of its numbers is finite";
		return;
	}
	out->mean = m.mean;
	out->std = sqrt(m.m2 / m.n);
	out->min = m.min;
	out->max = m.max;
	n_small = second_pass(out, t);
	out->zero_share = (double)m.n_zero / (double)t->n_elements;
	out->small_share = (double)n_small / (double)t->n_elements;
}

enum sl_status
sl__weight_rows_compute(const struct sl_weight_row **out, size_t *n,
			const struct sl_graph *graph,
			const struct sl__roles *roles, struct sl__arena *arena,
			struct sl_error *err)
{
	struct sl_weight_row *rows;
	size_t n_rows = 0;

	for (size_t v = 0; v < graph->n_values; v++)
		n_rows += graph->values[v].tensor &&
			  roles->role[v] == SL_ROLE_WEIGHT;
	rows = sl__arena_array(arena, n_rows, sizeof(*rows));
	if (!rows)
		return sl__fail_nomem(err);
	*out = rows;
	*n = n_rows;
	for (size_t v = 0; v < graph->n_values; v++) {
		if (!graph->values[v].tensor ||
		    roles->role[v] != SL_ROLE_WEIGHT)
			continue;
		rows->name = sl__arena_string(arena, graph->values[v].name);
		if (!rows->name)
			return sl__fail_nomem(err);
		sl__weight_row_compute(rows, graph->values[v].tensor);
		if (rows->absent) {
			rows->absent = sl__arena_string(arena, rows->absent);
			if (!rows->absent)
				return sl__fail_nomem(err);
		}
		rows++;
	}
	return SL_OK;
}
