/* SPDX-License-Identifier: Apache-2.0 */
/*
 * training.c - a model into the graph of one training step.
 *
 * Weights are known by how they are used (cost/parameters.h).  A copy of a
 * weight that an exporter wrote twice is made from the weight, so that both
 * uses train it.  BatchNorms go by the batch and renew their statistics.
 */
#include "transform/training.h"
#include "base/dtype.h"
#include "base/status.h"
#include "cost/parameters.h"
#include "cost/tensor_patterns.h"

#include <string.h>

#include "base/banned.h"

struct trainer {
	struct sl__training_graph *out;
	struct sl__arena *arena; /* of 'out' */
	const struct sl__training_options *options;
	struct sl__differentiation *d;
	struct sl__node_writer *w; /* d's */
	struct sl__roles roles;
	size_t cap_states;
};

static void
add_state(struct trainer *t, uint32_t old, uint32_t renewed,
	  const struct sl__tensor *initial)
{
	struct sl__training_graph *out = t->out;

	if (t->w->rc)
		return;
	if (!sl__arena_grow(t->arena, &out->states, out->n_states,
			    &t->cap_states, sizeof(*out->states))) {
		t->w->rc = sl__fail_nomem(t->w->err);
		return;
	}
	out->states[out->n_states++] =
		(struct sl__training_state){old, renewed, initial};
	if (renewed != SL__NONE)
		t->w->graph->values[renewed].old_state = old;
}

/* A name made of another; "" after a failure. */
static const char *
suffixed(struct trainer *t, const char *name, const char *suffix)
{
	const char *made =
		sl__arena_format(&t->w->graph->arena, "%s.%s", name, suffix);

	if (!made && !t->w->rc)
		t->w->rc = sl__fail_nomem(t->w->err);
	return made ? made : "";
}

/* A copy of a weight is made from it, before anything else runs. */
static void
tie_copy(struct trainer *t, uint32_t copy, uint32_t original)
{
	struct sl_graph *graph = t->w->graph;
	struct sl__block *main = &graph->blocks[0];
	struct sl__value *value = &graph->values[copy];
	const struct sl__tensor *tensor = value->tensor;
	int is_transposed =
		sl__tensor_compare(graph->values[original].tensor, tensor) ==
		SL__TENSOR_MATCH_TRANSPOSED;
	struct sl__node node = {.name = value->name,
				.domain = "",
				.type = is_transposed ? "Transpose"
						      : "Identity",
				.version = 13,
				.forward = SL__NONE,
				.inputs = &original,
				.n_inputs = 1,
				.outputs = &copy,
				.n_outputs = 1};
	uint32_t id;

	if (t->w->rc || value->producer != SL__NONE)
		return;
	value->tensor = NULL;
	value->kind = SL_VALUE_ACTIVATION;
	t->w->rc = sl__graph_add_node(graph, &id, &node, t->w->err);
	if (t->w->rc)
		return;
	memmove(main->nodes + 1, main->nodes,
		(main->n_nodes - 1) * sizeof(*main->nodes));
	main->nodes[0] = id;
}

/* What may be trained; is_wanted has one for each value of the graph. */
static void
choose_weights(struct trainer *t, unsigned char *is_wanted)
{
	const struct sl_graph *model = t->d->model;
	const unsigned char *is_frozen = t->options->is_frozen;
	size_t n = 0, n_frozen = 0;

	for (uint32_t v = 0; v < model->n_values; v++) {
		const struct sl__tensor *tensor = model->values[v].tensor;

		if (!tensor || t->roles.role[v] != SL_ROLE_WEIGHT ||
		    sl__dtype_family(tensor->dtype) != SL__DTYPE_FLOAT)
			continue;
		n++;
		is_wanted[v] = !is_frozen || !is_frozen[v];
		n_frozen += !is_wanted[v];
	}
	if (n == n_frozen)
		sl__node_writer_fail(t->w, SL_E_DATA,
				     n ? "all parameters are frozen: there is "
					 "nothing to train"
				       : "the model has no parameters to "
					 "train");
}

/* By the batch's own statistics, which are remembered for inference. */
static void
train_batch_norm(struct trainer *t, uint32_t id)
{
	struct sl_graph *graph = t->w->graph;
	struct sl__node *node = &graph->nodes[id];
	const unsigned char *is_frozen = t->options->is_frozen;
	struct sl__attribute *attributes;
	size_t n = node->n_attributes;

	if (!sl__is_op(node, SL__OP_ONNX_BatchNormalization) ||
	    node->version < 7 || node->n_inputs < 5 || node->block != 0 ||
	    !graph->values[node->inputs[3]].tensor ||
	    !graph->values[node->inputs[4]].tensor ||
	    (is_frozen && is_frozen[node->inputs[3]]))
		return;
	attributes = sl__arena_realloc_array(&graph->arena, node->attributes, n,
					     n + 1, sizeof(*attributes));
	if (!attributes) {
		t->w->rc = sl__fail_nomem(t->w->err);
		return;
	}
	sl__node_writer_set_int(t->w, "training_mode", 1);
	attributes[n] = t->w->attributes[0];
	t->w->n_attributes = 0;
	node->attributes = attributes;
	node->n_attributes = n + 1;
	node->version = node->version < 15 ? 15 : node->version;
	for (uint32_t i = 3; !t->w->rc && i < 5; i++) {
		uint32_t value = graph->nodes[id].inputs[i], old;
		const struct sl__tensor *tensor = graph->values[value].tensor;
		uint32_t renewed = sl__node_writer_output(t->w, id, i - 2);

		old = sl__differentiation_make_state(t->d, value);
		graph->values[renewed].name =
			suffixed(t, graph->values[value].name, "new");
		add_state(t, old, renewed, tensor);
	}
}

static void
prepare_model(struct trainer *t)
{
	const struct sl_graph *model = t->d->model;

	for (uint32_t v = 0; !t->w->rc && v < model->n_values; v++) {
		if (model->values[v].tensor && t->roles.role[v] == SL_ROLE_TIED)
			tie_copy(t, v, t->roles.tied_to[v]);
	}
	for (uint32_t i = 0; !t->w->rc && i < model->n_nodes; i++)
		train_batch_norm(t, i);
}

/* Gradients of all that is wanted, of a loss whose own gradient is 1, or its
 * share of the mean over micro-batches. */
static void
differentiate(struct trainer *t, const unsigned char *is_wanted)
{
	struct sl__node_writer *w = t->w;
	enum sl_dtype dtype = sl__node_writer_type(w, t->out->loss).dtype;
	uint32_t one;

	w->phase = SL_PHASE_BACKWARD;
	one = sl__node_writer_scalar(w, dtype, 1 / (double)t->out->n_micro);
	if (!w->rc)
		w->rc = sl__differentiate(t->d, is_wanted, &t->out->loss, &one,
					  1);
}

/* A gradient as a value of that name: a copy where it has one already. */
static uint32_t
name_gradient(struct trainer *t, uint32_t gradient, const char *name)
{
	struct sl__value *value = &t->w->graph->values[gradient];

	if (value->name[0] || value->tensor)
		gradient = SL__ADD_NODE(t->w, ONNX_Identity, gradient);
	if (!t->w->rc)
		t->w->graph->values[gradient].name = suffixed(t, name, "grad");
	return gradient;
}

/* Parameters that have a gradient, each a state from here on; 'renewed' comes
 * with its update. */
static void
collect_parameters(struct trainer *t, const unsigned char *is_wanted)
{
	struct sl__training_graph *out = t->out;
	size_t n = t->d->model->n_values;

	out->parameters =
		sl__arena_array(t->arena, n, sizeof(*out->parameters));
	if (!out->parameters) {
		t->w->rc = sl__fail_nomem(t->w->err);
		return;
	}
	for (uint32_t v = 0; !t->w->rc && v < n; v++) {
		uint32_t gradient, forward = t->roles.first_user[v];

		if (!is_wanted[v])
			continue;
		t->w->forward = forward;
		t->w->name = t->d->model->values[v].name;
		gradient = sl__differentiation_gradient(t->d, v);
		if (gradient == SL__NONE)
			continue;
		out->parameters[out->n_parameters++] =
			(struct sl__trained_parameter){
				.value = v,
				.gradient =
					name_gradient(t, gradient, t->w->name),
				.forward = forward,
				.name = t->w->name};
	}
	if (!t->w->rc && !out->n_parameters)
		t->w->rc = sl__fail(
			t->w->err, SL_E_DATA,
			"nothing leads from a parameter to output '%.200s': "
			"there is no gradient",
			t->w->graph->values[out->output].name);
}

/* A moment of a parameter: a state that starts at 0. */
static uint32_t
add_moment(struct trainer *t, const struct sl__trained_parameter *p,
	   const char *suffix)
{
	struct sl__type type = sl__node_writer_type(t->w, p->gradient);

	return sl__node_writer_add_input(t->w, suffixed(t, p->name, suffix),
					 &type, SL_VALUE_STATE);
}

static double
or_usual(double value, double usual)
{
	return value > 0 ? value : usual;
}

static void
note_renewed(struct trainer *t, uint32_t old, uint32_t renewed,
	     const struct sl__tensor *initial)
{
	if (t->w->rc)
		return;
	t->w->graph->values[renewed].name =
		suffixed(t, t->w->graph->values[old].name, "new");
	add_state(t, old, renewed, initial);
}

/* x, its gradient and where they go: the state that x is becomes new. */
static void
update(struct trainer *t, const struct sl__trained_parameter *p,
       const struct sl__tensor *initial, uint32_t scale, uint32_t count)
{
	const struct sl__training_options *o = t->options;
	uint32_t rate = t->out->rate, outputs[3] = {0, SL__NONE, SL__NONE};
	uint32_t x = p->value, v, h;

	t->w->forward = p->forward;
	t->w->name = p->name;
	if (o->optimizer == SL_OPTIMIZER_SGD ||
	    o->optimizer == SL_OPTIMIZER_MOMENTUM) {
		int has_momentum = o->optimizer == SL_OPTIMIZER_MOMENTUM;

		v = has_momentum ? add_moment(t, p, "momentum") : SL__NONE;
		outputs[1] = has_momentum ? 0 : SL__NONE;
		sl__node_writer_set_float(t->w, "momentum",
					  or_usual(o->momentum, 0.9));
		sl__node_writer_set_int(t->w, "nesterov", o->is_nesterov);
		sl__node_writer_set_float(t->w, "weight_decay",
					  o->weight_decay);
		sl__node_writer_add_outputs(
			t->w, SL__OP_SLEUTH_Sgd,
			(const uint32_t[]){rate, x, p->gradient, scale, v}, 5,
			outputs, 2);
		if (has_momentum)
			note_renewed(t, v, outputs[1], NULL);
	} else {
		v = add_moment(t, p, "moment1");
		h = add_moment(t, p, "moment2");
		outputs[1] = outputs[2] = 0;
		sl__node_writer_set_float(t->w, "beta1",
					  or_usual(o->beta1, 0.9));
		sl__node_writer_set_float(t->w, "beta2",
					  or_usual(o->beta2, 0.999));
		sl__node_writer_set_float(t->w, "epsilon",
					  or_usual(o->epsilon, 1e-8));
		sl__node_writer_set_float(t->w, "weight_decay",
					  o->weight_decay);
		sl__node_writer_set_int(t->w, "decoupled",
					o->optimizer == SL_OPTIMIZER_ADAMW);
		sl__node_writer_add_outputs(t->w, SL__OP_SLEUTH_Adam,
					    (const uint32_t[]){rate, count, x,
							       p->gradient, v,
							       h, scale},
					    7, outputs, 3);
		note_renewed(t, v, outputs[1], NULL);
		note_renewed(t, h, outputs[2], NULL);
	}
	note_renewed(t, x, outputs[0], initial);
}

/* What all gradients are multiplied by; SL__NONE: nothing. */
static uint32_t
add_clipping(struct trainer *t)
{
	size_t n = t->out->n_parameters;
	uint32_t *all = sl__arena_array(t->arena, n, sizeof(*all));

	if (!all || t->options->max_norm <= 0 ||
	    t->options->optimizer == SL_OPTIMIZER_NONE) {
		if (!all && !t->w->rc)
			t->w->rc = sl__fail_nomem(t->w->err);
		return SL__NONE;
	}
	for (size_t i = 0; i < n; i++)
		all[i] = t->out->parameters[i].gradient;
	sl__node_writer_set_float(t->w, "max_norm", t->options->max_norm);
	return sl__node_writer_add(t->w, SL__OP_SLEUTH_ClipScale, all, n);
}

static void
add_updates(struct trainer *t)
{
	struct sl__type number = {.kind = SL__TYPE_TENSOR,
				  .dtype = SL_DTYPE_F32};
	int is_adam = t->options->optimizer == SL_OPTIMIZER_ADAM ||
		      t->options->optimizer == SL_OPTIMIZER_ADAMW;
	uint32_t scale, count = SL__NONE, old;

	t->w->phase = SL_PHASE_UPDATE;
	t->w->forward = SL__NONE;
	t->w->name = "step";
	if (t->options->optimizer != SL_OPTIMIZER_NONE)
		t->out->rate = sl__node_writer_add_input(
			t->w, "learning_rate", &number, SL_VALUE_INPUT);
	scale = add_clipping(t);
	if (is_adam) {
		number.dtype = SL_DTYPE_I64;
		old = sl__node_writer_add_input(t->w, "step", &number,
						SL_VALUE_STATE);
		count = SL__ADD_NODE(
			t->w, ONNX_Add, old,
			sl__node_writer_scalar(t->w, SL_DTYPE_I64, 1));
		note_renewed(t, old, count, NULL);
	}
	for (size_t i = 0; !t->w->rc && i < t->out->n_parameters; i++) {
		struct sl__trained_parameter *p = &t->out->parameters[i];
		const struct sl__tensor *initial =
			t->w->graph->values[p->value].tensor;

		p->value = sl__differentiation_make_state(t->d, p->value);
		if (t->options->optimizer == SL_OPTIMIZER_NONE)
			add_state(t, p->value, SL__NONE, initial);
		else
			update(t, p, initial, scale, count);
	}
}

static void
set_outputs(struct trainer *t)
{
	const struct sl__training_graph *out = t->out;
	size_t n = 0;
	uint32_t *all = sl__arena_array(t->arena,
					1 + out->n_outputs + out->n_states +
						out->n_parameters,
					sizeof(*all));

	if (!all && !t->w->rc)
		t->w->rc = sl__fail_nomem(t->w->err);
	if (t->w->rc)
		return;
	all[n++] = out->outputs[0];
	all[n++] = out->loss;
	for (size_t i = 1; i < out->n_outputs; i++)
		all[n++] = out->outputs[i];
	for (size_t i = 0; i < out->n_parameters; i++) {
		if (t->options->keeps_gradients ||
		    t->options->optimizer == SL_OPTIMIZER_NONE)
			all[n++] = out->parameters[i].gradient;
	}
	for (size_t i = 0; i < out->n_states; i++) {
		if (out->states[i].renewed != SL__NONE)
			all[n++] = out->states[i].renewed;
	}
	t->w->rc = sl__graph_set_outputs(t->w->graph, 0, all, n, t->w->err);
}

static void
build(struct trainer *t)
{
	unsigned char *is_wanted;
	size_t n;

	prepare_model(t);
	sl__training_add_loss(t->out, t->d, t->options);
	n = t->w->graph->n_values + 16; /* and a few constants */
	is_wanted = sl__arena_array(t->arena, n, 1);
	if (!is_wanted && !t->w->rc)
		t->w->rc = sl__fail_nomem(t->w->err);
	if (!t->w->rc)
		choose_weights(t, is_wanted);
	if (!t->w->rc)
		differentiate(t, is_wanted);
	if (!t->w->rc)
		collect_parameters(t, is_wanted);
	if (!t->w->rc)
		sl__training_recompute(t->out, t->d, t->options->n_segments,
				       t->arena);
	if (!t->w->rc && t->options->n_segments == 0 &&
	    !t->options->keeps_norms)
		sl__training_recompute_norms(t->out, t->d, t->arena);
	if (!t->w->rc)
		sl__training_accumulate(t->out, t->d, t->options, t->arena);
	if (!t->w->rc)
		add_updates(t);
	set_outputs(t);
}

static enum sl_status
find_roles(struct trainer *t, const struct sl_graph *model,
	   struct sl_error *err)
{
	struct sl__execution_order steps;
	enum sl_status rc =
		sl__execution_order_find(&steps, model, t->arena, err);

	return rc ? rc : sl__roles_classify(&t->roles, &steps, t->arena, err);
}

enum sl_status
sl__training_graph_new(struct sl__training_graph **out,
		       const struct sl_graph *model,
		       const struct sl__shapes *shapes,
		       const struct sl__training_options *options,
		       struct sl_error *err)
{
	struct trainer t = {.options = options};
	enum sl_status rc;

	*out = NULL;
	t.out = sl__arena_object_new(&t.arena, &shapes->arena.allocator,
				     sizeof(*t.out));
	if (!t.out)
		return sl__fail_nomem(err);
	t.out->target = t.out->rate = SL__NONE;
	t.out->n_micro = options->n_micro ? options->n_micro : 1;
	t.out->n_model_nodes = model->n_nodes;
	rc = find_roles(&t, model, err);
	if (!rc)
		rc = sl__differentiation_new(&t.d, model, shapes, err);
	if (!rc) {
		t.w = &t.d->w;
		build(&t);
		rc = t.w->rc ? t.w->rc
			     : sl__differentiation_finish(t.d, &t.out->graph);
	}
	sl__differentiation_free(t.d);
	if (rc) {
		sl__training_graph_free(t.out);
		return rc;
	}
	*out = t.out;
	return SL_OK;
}

void
sl__training_graph_free(struct sl__training_graph *t)
{
	if (t)
		sl_graph_free(t->graph);
	sl__arena_object_free(t);
}
