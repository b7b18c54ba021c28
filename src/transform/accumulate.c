/* SPDX-License-Identifier: Apache-2.0 */
/*
 * accumulate.c - a training step of several micro-batches.
 *
 * The nodes that there are become those of the first micro-batch: its inputs
 * are slices of the whole ones.  They are copied once for each of the others,
 * one micro-batch after the other, so that the activations of one lie where
 * those of the one before it lay.  A gradient is added to the sum as soon as
 * its copy is there.  Statistics of a BatchNormalization go from each
 * micro-batch to the next.  What depends on no input is there once, but for
 * random numbers, which are drawn anew.
 */
#include "base/status.h"
#include "transform/node_copies.h"
#include "transform/training.h"

#include <string.h>

#include "base/banned.h"

struct accumulation {
	struct sl__training_graph *out;
	struct sl__node_writer *w;
	struct sl__arena *arena;
	const struct sl_graph *model;
	/* Inputs that are split: what the model uses, and all of it. */
	struct split {
		uint32_t part, whole;
		int64_t size; /* of the first dimension of a part */
	} * splits;
	size_t n_splits;
	unsigned char *differs; /* by value: from one micro-batch to another */
	uint32_t *nodes;        /* that are copied, in the order they run */
	size_t n_nodes;
	uint32_t *sums;  /* by parameter: of the gradients so far */
	uint32_t *state; /* by state: its value after the last copy */
	uint32_t *losses;
};

static void
fail_nomem(struct accumulation *a)
{
	if (!a->w->rc)
		a->w->rc = sl__fail_nomem(a->w->err);
}

static const char *
numbered(struct accumulation *a, const char *name, uint64_t k)
{
	const char *made = sl__arena_format(&a->w->graph->arena, "%s.%llu",
					    name, (unsigned long long)k);

	if (!made)
		fail_nomem(a);
	return made ? made : "";
}

/* The first dimension of an input where the model calls it by a name: that
 * symbol, else 0. */
static int64_t
batch_name(const struct accumulation *a, uint32_t value)
{
	const struct sl__type *type;
	int64_t size;

	if (value >= a->model->n_values)
		return 0;
	type = &a->model->values[value].declared;
	size = type->rank > 0 ? type->dims[0] : 0;
	return sl__is_symbol(size) && !a->model->symbols[size - SL__SYMBOL_BASE]
					       .is_unnamed
		       ? size
		       : 0;
}

/* Whether an input has the batch of the model's first one. */
static int
has_batch(const struct accumulation *a, uint32_t value, uint32_t first)
{
	const struct sl__type *type = &a->w->shapes->types[value];
	int64_t name = batch_name(a, value), of_first = batch_name(a, first);

	if (type->kind != SL__TYPE_TENSOR || type->rank < 1 ||
	    type->dims[0] != a->w->shapes->types[first].dims[0])
		return 0;
	return !name || !of_first || name == of_first;
}

/* Rows [k size, (k + 1) size) of an input. */
static void
slice_bounds(struct accumulation *a, const struct split *s, uint64_t k,
	     uint32_t *inputs)
{
	const int64_t first = (int64_t)k * s->size, end = first + s->size;
	const int64_t axis = 0;

	inputs[0] = s->whole;
	inputs[1] = sl__node_writer_integers(a->w, &first, 1);
	inputs[2] = sl__node_writer_integers(a->w, &end, 1);
	inputs[3] = sl__node_writer_integers(a->w, &axis, 1);
}

/* Input i of the graph becomes all micro-batches of it, in its place and under
 * its name, and what it was the first of them. */
static void
split_input(struct accumulation *a, size_t i)
{
	struct sl__node_writer *w = a->w;
	struct sl__block *main = &w->graph->blocks[0];
	uint32_t part = main->inputs[i], inputs[4], id;
	struct sl__type type = sl__node_writer_type(w, part);
	int64_t dims[SL__RANK_MOST];
	struct split *s = &a->splits[a->n_splits++];
	struct sl__node node = {.domain = "",
				.type = "Slice",
				.version = 13,
				.forward = SL__NONE,
				.inputs = inputs,
				.n_inputs = 4,
				.outputs = &part,
				.n_outputs = 1};

	if (w->rc)
		return;
	memcpy(dims, type.dims, (size_t)type.rank * sizeof(*dims));
	*s = (struct split){.part = part, .size = dims[0]};
	dims[0] *= (int64_t)a->out->n_micro;
	type.dims = dims;
	s->whole = sl__node_writer_add_input(w, w->graph->values[part].name,
					     &type, SL_VALUE_INPUT);
	if (w->rc)
		return;
	main->inputs[i] = s->whole;
	main->n_inputs--;
	if (part == a->out->target)
		a->out->target = s->whole;
	w->graph->values[part].kind = SL_VALUE_ACTIVATION;
	node.name = w->graph->values[part].name =
		numbered(a, w->graph->values[s->whole].name, 0);
	slice_bounds(a, s, 0, inputs);
	if (w->rc)
		return;
	w->rc = sl__graph_add_node(w->graph, &id, &node, w->err);
	if (w->rc)
		return;
	memmove(main->nodes + 1, main->nodes,
		(main->n_nodes - 1) * sizeof(*main->nodes));
	main->nodes[0] = id;
	a->differs[part] = 1;
}

static void
split_inputs(struct accumulation *a)
{
	const struct sl__block *main = &a->w->graph->blocks[0];
	size_t n = main->n_inputs;
	uint32_t first = n ? main->inputs[0] : SL__NONE;

	a->splits = sl__arena_array(a->arena, n + 1, sizeof(*a->splits));
	if (!a->splits) {
		fail_nomem(a);
		return;
	}
	if (first == SL__NONE || first == a->out->target ||
	    a->w->shapes->types[first].rank < 1) {
		sl__node_writer_fail(a->w, SL_E_DATA,
				     "the model's first input has no batch: "
				     "there are no micro-batches");
		return;
	}
	for (size_t i = 0; !a->w->rc && i < n; i++) {
		uint32_t value = main->inputs[i];

		if (a->w->graph->values[value].kind == SL_VALUE_INPUT &&
		    (value == a->out->target || has_batch(a, value, first)))
			split_input(a, i);
	}
}

/* The nodes that are copied: of these, an input differs. */
static void
find_nodes(struct accumulation *a)
{
	const struct sl_graph *graph = a->w->graph;
	const struct sl__block *main = &graph->blocks[0];

	a->nodes = sl__arena_array(a->arena, main->n_nodes, sizeof(*a->nodes));
	if (!a->nodes) {
		fail_nomem(a);
		return;
	}
	for (size_t i = 0; i < a->out->n_states; i++)
		a->differs[a->out->states[i].old] = 1;
	for (size_t i = 0; i < main->n_nodes; i++) {
		const struct sl__node *node = &graph->nodes[main->nodes[i]];
		int differs = sl__node_draws(node), is_slice = 0;

		for (size_t k = 0; k < a->n_splits; k++)
			is_slice |= node->outputs[0] == a->splits[k].part;
		if (is_slice)
			continue;
		for (uint32_t k = 0; k < node->n_inputs; k++)
			differs |= node->inputs[k] != SL__NONE &&
				   a->differs[node->inputs[k]];
		if (!differs)
			continue;
		for (uint32_t k = 0; k < node->n_outputs; k++) {
			if (node->outputs[k] != SL__NONE)
				a->differs[node->outputs[k]] = 1;
		}
		a->nodes[a->n_nodes++] = main->nodes[i];
	}
}

/* One more gradient of each parameter that the node makes. */
static void
sum_gradients(struct accumulation *a, const struct sl__node_copies *c,
	      const uint32_t *outputs, uint32_t n_outputs)
{
	for (size_t i = 0; i < a->out->n_parameters; i++) {
		struct sl__trained_parameter *p = &a->out->parameters[i];

		for (uint32_t k = 0; !a->w->rc && k < n_outputs; k++) {
			if (outputs[k] != p->gradient)
				continue;
			a->w->forward = p->forward;
			a->w->name = p->name;
			a->sums[i] = SL__ADD_NODE(
				a->w, ONNX_Add, a->sums[i],
				sl__node_copies_value(c, p->gradient));
		}
	}
}

/* Where micro-batch k begins: its slices, and statistics as they are then. */
static void
begin_copy(struct accumulation *a, struct sl__node_copies *c, uint64_t k)
{
	uint32_t inputs[4];

	sl__node_copies_begin(c, a->w, a->out->n_model_nodes, a->arena);
	a->w->phase = SL_PHASE_FORWARD;
	a->w->forward = SL__NONE;
	for (size_t i = 0; !a->w->rc && i < a->n_splits; i++) {
		const struct split *s = &a->splits[i];

		a->w->name = a->w->graph->values[s->whole].name;
		slice_bounds(a, s, k, inputs);
		c->copy_of[s->part] =
			sl__node_writer_add(a->w, SL__OP_ONNX_Slice, inputs, 4);
	}
	for (size_t i = 0; !a->w->rc && i < a->out->n_states; i++)
		c->copy_of[a->out->states[i].old] = a->state[i];
}

static void
copy_nodes(struct accumulation *a, uint64_t k)
{
	struct sl__training_graph *out = a->out;
	struct sl__node_copies c;

	begin_copy(a, &c, k);
	for (size_t i = 0; !a->w->rc && i < a->n_nodes; i++) {
		const struct sl__node node = a->w->graph->nodes[a->nodes[i]];

		a->w->phase = node.phase;
		sl__node_copies_add(&c, a->nodes[i], numbered(a, node.name, k));
		sum_gradients(a, &c, node.outputs, node.n_outputs);
	}
	if (a->w->rc)
		return;
	for (size_t i = 0; i < out->n_states; i++)
		a->state[i] = sl__node_copies_value(&c, out->states[i].renewed);
	a->losses[k] = sl__node_copies_value(&c, out->loss);
	out->outputs[k] = sl__node_copies_value(&c, out->output);
	a->w->graph->values[out->outputs[k]].name =
		numbered(a, a->w->graph->values[out->output].name, k);
}

/* The names and places of the last results: gradients, loss, states. */
static void
finish(struct accumulation *a)
{
	struct sl__training_graph *out = a->out;
	struct sl__value *values;
	uint32_t first = out->loss;

	a->w->phase = SL_PHASE_LOSS;
	a->w->forward = SL__NONE;
	a->w->name = "loss";
	out->loss = sl__node_writer_scale(
		a->w,
		sl__node_writer_add(a->w, SL__OP_ONNX_Sum, a->losses,
				    out->n_micro),
		1 / (double)out->n_micro);
	if (a->w->rc)
		return;
	values = a->w->graph->values;
	values[out->loss].name = values[first].name;
	values[first].name = "";
	for (size_t i = 0; i < out->n_parameters; i++) {
		struct sl__trained_parameter *p = &out->parameters[i];

		/* Of a parameter that no input reaches, K equal shares. */
		if (a->sums[i] == p->gradient) {
			a->w->phase = SL_PHASE_BACKWARD;
			a->w->forward = p->forward;
			a->w->name = p->name;
			a->sums[i] = sl__node_writer_scale(
				a->w, p->gradient, (double)out->n_micro);
			values = a->w->graph->values;
		}
		values[a->sums[i]].name = values[p->gradient].name;
		values[p->gradient].name = "";
		p->gradient = a->sums[i];
	}
	for (size_t i = 0; !a->w->rc && i < out->n_states; i++) {
		struct sl__training_state *s = &out->states[i];

		if (a->state[i] == s->renewed)
			continue;
		values[a->state[i]].name = values[s->renewed].name;
		values[a->state[i]].old_state = s->old;
		values[s->renewed].name = "";
		values[s->renewed].old_state = SL__NONE;
		s->renewed = a->state[i];
	}
}

static int
make_room(struct accumulation *a)
{
	struct sl__training_graph *out = a->out;

	a->differs = sl__arena_alloc(a->arena, a->w->graph->n_values + 1);
	a->sums = sl__arena_array(a->arena, out->n_parameters + 1,
				  sizeof(*a->sums));
	a->state =
		sl__arena_array(a->arena, out->n_states + 1, sizeof(*a->state));
	a->losses = sl__arena_array(a->arena, out->n_micro, sizeof(*a->losses));
	out->outputs =
		sl__arena_array(a->arena, out->n_micro, sizeof(*out->outputs));
	if (!a->differs || !a->sums || !a->state || !a->losses || !out->outputs)
		fail_nomem(a);
	return !a->w->rc;
}

void
sl__training_accumulate(struct sl__training_graph *t,
			struct sl__differentiation *d,
			const struct sl__training_options *options,
			struct sl__arena *arena)
{
	struct accumulation a = {
		.out = t, .w = &d->w, .arena = arena, .model = d->model};

	if (!make_room(&a))
		return;
	t->outputs[0] = t->output;
	t->n_outputs = 1;
	if (t->n_micro == 1)
		return;
	split_inputs(&a);
	if (!a.w->rc)
		find_nodes(&a);
	for (size_t i = 0; i < t->n_parameters; i++)
		a.sums[i] = t->parameters[i].gradient;
	for (size_t i = 0; i < t->n_states; i++)
		a.state[i] = t->states[i].renewed;
	a.losses[0] = t->loss;
	for (uint64_t k = 1; !a.w->rc && k < t->n_micro; k++)
		copy_nodes(&a, k);
	if (!a.w->rc)
		finish(&a);
	t->n_outputs = t->n_micro;
	if (options->keeps_outputs)
		return;
	t->outputs[0] = t->outputs[t->n_micro - 1];
	t->n_outputs = 1;
}
