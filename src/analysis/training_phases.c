/* SPDX-License-Identifier: Apache-2.0 */
/*
 * training_phases.c - the time and memory of a training step, by phase and by
 * layer of the model.
 *
 * A layer is an operation of the forward pass.  Nodes of the backward pass and
 * of the update know the node of the model they came from, and the operation
 * that runs this node is their layer.
 */
#include "analysis/training_phases.h"
#include "base/status.h"
#include "stats/quantile.h"

#include <math.h>
#include <string.h>

#include "base/banned.h"

/* What a gradient is used for. */
enum { USED_BY_LAYERS = 1, USED_BY_UPDATE = 2 };

enum { N_PHASES = SL_PHASE_RECOMPUTE + 1 };

struct attribution {
	struct sl_profile *profile;
	const struct sl_graph *graph;
	size_t n_model_nodes;
	const struct sl__timed_iterations *iterations;
	struct sl_training_profile *out;
	struct sl_training_layer *layers;
	uint32_t *node;           /* by operation: the first it covers */
	size_t *layer_of;         /* by node: 1 + layer; 0: none */
	size_t *operation_of;     /* by layer */
	unsigned char *is_weight; /* by node: computes gradients of parameters
				     alone */
};

/*
 * Backward nodes whose result reaches nothing but an update without passing
 * through another layer.  Copies and sums of such gradients (tied weights) are
 * passed through.
 */
static void
find_weight_gradients(struct attribution *a, const struct sl__training_graph *t,
		      unsigned char *use)
{
	const struct sl__block *main = &a->graph->blocks[0];

	for (size_t i = 0; i < t->n_parameters; i++)
		use[t->parameters[i].gradient] = USED_BY_UPDATE;
	for (size_t i = main->n_nodes; i-- > 0;) {
		uint32_t id = main->nodes[i];
		const struct sl__node *n = &a->graph->nodes[id];
		int all = 0, is_update = n->phase == SL_PHASE_UPDATE, passes;

		if (n->phase != SL_PHASE_BACKWARD && !is_update)
			continue;
		for (uint32_t k = 0; k < n->n_outputs; k++)
			all |= n->outputs[k] == SL__NONE ? 0
							 : use[n->outputs[k]];
		a->is_weight[id] = !is_update && all == USED_BY_UPDATE;
		passes = sl__is_op(n, SL__OP_ONNX_Add) ||
			 sl__is_op(n, SL__OP_ONNX_Identity);
		for (uint32_t k = 0; k < n->n_inputs; k++) {
			uint32_t v = n->inputs[k], maker;

			if (v == SL__NONE)
				continue;
			maker = a->graph->values[v].producer;
			use[v] |=
				is_update || (a->is_weight[id] &&
					      maker != SL__NONE &&
					      (passes ||
					       a->graph->nodes[maker].forward ==
						       n->forward))
					? USED_BY_UPDATE
					: USED_BY_LAYERS;
		}
	}
}

/* Whether a node does what a node of the model does, for a further
 * micro-batch. */
static int
is_copy(const struct attribution *a, uint32_t node)
{
	return node >= a->n_model_nodes &&
	       a->graph->nodes[node].phase == SL_PHASE_FORWARD &&
	       a->graph->nodes[node].forward != SL__NONE;
}

/* Phases of operations, and the layers that forward operations are. */
static void
find_phases(struct attribution *a, const struct sl_plan *plan)
{
	struct sl_profile *p = a->profile;
	enum sl_phase next = SL_PHASE_UPDATE;
	struct sl_step step;

	for (size_t i = p->n_operations; i-- > 0;) {
		struct sl_operation *op = &p->operations[i];

		a->node[i] = SL__NONE;
		if (!sl_plan_step(plan, op->step, &step))
			continue; /* it feeds the others */
		a->node[i] = step.n_covers ? (uint32_t)step.covers[0]
					   : SL__NONE;
		if (step.n_covers)
			next = a->graph->nodes[step.covers[0]].phase;
		op->phase = next;
	}
	for (size_t i = 0; i < p->n_operations; i++) {
		struct sl_operation *op = &p->operations[i];

		if (!sl_plan_step(plan, op->step, &step) ||
		    op->phase != SL_PHASE_FORWARD || !step.n_covers ||
		    is_copy(a, a->node[i]))
			continue;
		for (size_t k = 0; k < step.n_covers; k++) {
			size_t *layer = &a->layer_of[step.covers[k]];

			/* Of a node that takes several, the first. */
			if (!*layer)
				*layer = a->out->n_layers + 1;
		}
		if (a->layer_of[a->node[i]] != a->out->n_layers + 1)
			continue;
		a->operation_of[a->out->n_layers] = i;
		a->layers[a->out->n_layers++] = (struct sl_training_layer){
			.name = op->name, .type = op->type};
	}
}

/* SIZE_MAX: none, as of the loss. */
static size_t
layer_of_operation(const struct attribution *a, size_t i)
{
	uint32_t node = a->node[i];

	if (node != SL__NONE &&
	    (a->profile->operations[i].phase || is_copy(a, node)))
		node = a->graph->nodes[node].forward;
	return node == SL__NONE || !a->layer_of[node] ? SIZE_MAX
						      : a->layer_of[node] - 1;
}

static void
sum_layers(struct attribution *a)
{
	struct sl_profile *p = a->profile;

	for (size_t i = 0; i < p->n_operations; i++) {
		struct sl_operation *op = &p->operations[i];
		size_t at = layer_of_operation(a, i);
		uint64_t flops =
			(uint64_t)((double)op->core_flops * op->n_calls);
		struct sl_training_layer *layer = &a->layers[at];

		if (at == SIZE_MAX) {
			if (op->phase != SL_PHASE_DATA)
				a->out->other_ns += op->self_ns;
			continue;
		}
		op->part = p->operations[a->operation_of[at]].part;
		if (op->phase == SL_PHASE_FORWARD) {
			layer->forward_ns += op->self_ns;
			layer->forward_flops += flops;
		} else if (op->phase == SL_PHASE_UPDATE) {
			layer->update_ns += op->self_ns;
		} else if (op->phase == SL_PHASE_RECOMPUTE) {
			layer->recompute_ns += op->self_ns;
		} else {
			*(a->is_weight[a->node[i]]
				  ? &layer->backward_weight_ns
				  : &layer->backward_input_ns) += op->self_ns;
			layer->backward_flops += flops;
		}
	}
}

/* NaN where there is nothing to compare with. */
static double
ratio(double a, double b)
{
	return b > 0 ? a / b : (double)NAN;
}

/* Its median over the iterations whose steps were kept. */
static struct sl_estimate
phase_time(const struct attribution *a, enum sl_phase phase, double *column)
{
	const struct sl__timed_iterations *it = a->iterations;

	for (size_t r = 0; r < it->n_rows; r++) {
		column[r] = 0;
		for (size_t i = 0; i < a->profile->n_operations; i++) {
			const struct sl_operation *op =
				&a->profile->operations[i];
			float ns = it->rows[r * it->n_steps + op->step];

			if (op->phase == phase && !isnan(ns))
				column[r] += (double)ns;
		}
	}
	return sl__median_estimate(column, it->n_rows);
}

static void
sum_phase(struct attribution *a, struct sl_training_phase *out, double *column)
{
	out->memory_bytes = (struct sl_reading){(double)NAN, "not tracked"};
	for (size_t i = 0; i < a->profile->n_operations; i++) {
		const struct sl_operation *op = &a->profile->operations[i];

		if (op->phase != out->phase)
			continue;
		out->n_operations++;
		out->share += op->share;
		out->core_flops +=
			(uint64_t)((double)op->core_flops * op->n_calls);
		out->n_bytes += (uint64_t)((double)op->n_bytes * op->n_calls);
	}
	out->ns = phase_time(a, out->phase, column);
}

/* Each operation has a phase; those of data, recomputing and update are there
 * where one has them. */
static void
sum_phases(struct attribution *a, struct sl_training_phase *phases,
	   double *column)
{
	static const enum sl_phase order[] = {
		SL_PHASE_DATA,      SL_PHASE_FORWARD,  SL_PHASE_LOSS,
		SL_PHASE_RECOMPUTE, SL_PHASE_BACKWARD, SL_PHASE_UPDATE};
	double ns[N_PHASES] = {0};
	int is_there[N_PHASES] = {[SL_PHASE_FORWARD] = 1,
				  [SL_PHASE_LOSS] = 1,
				  [SL_PHASE_BACKWARD] = 1};

	for (size_t i = 0; i < a->profile->n_operations; i++)
		is_there[a->profile->operations[i].phase] = 1;
	for (size_t k = 0; k < N_PHASES; k++) {
		struct sl_training_phase *out = &phases[a->out->n_phases];

		if (!is_there[order[k]])
			continue;
		a->out->n_phases++;
		out->phase = order[k];
		sum_phase(a, out, column);
		ns[order[k]] = out->ns.value;
	}
	a->out->phases = phases;
	a->out->backward_to_forward =
		ratio(ns[SL_PHASE_BACKWARD], ns[SL_PHASE_FORWARD]);
}

enum sl_status
sl__training_attribute_time(struct sl_profile *profile,
			    const struct sl__training_sources *from,
			    struct sl__arena *arena, struct sl_error *err)
{
	const struct sl__training_graph *t = from->plan->training;
	size_t n = profile->n_operations, n_nodes = t->graph->n_nodes;
	struct attribution a = {
		.profile = profile,
		.graph = t->graph,
		.n_model_nodes = t->n_model_nodes,
		.iterations = from->iterations,
		.out = sl__arena_alloc(arena, sizeof(*a.out)),
		.layers = sl__arena_array(arena, n + 1, sizeof(*a.layers)),
		.node = sl__arena_array(arena, n + 1, sizeof(*a.node)),
		.layer_of =
			sl__arena_array(arena, n_nodes, sizeof(*a.layer_of)),
		.operation_of =
			sl__arena_array(arena, n + 1, sizeof(*a.operation_of)),
		.is_weight = sl__arena_alloc(arena, n_nodes + 1),
	};
	unsigned char *use = sl__arena_alloc(arena, t->graph->n_values + 1);
	double *column = sl__arena_array(arena, SL__ITERATIONS_ROWS + 1,
					 sizeof(*column));
	struct sl_training_phase *phases =
		sl__arena_array(arena, N_PHASES, sizeof(*phases));

	if (!a.out || !a.layers || !a.node || !a.layer_of || !a.operation_of ||
	    !a.is_weight || !use || !column || !phases)
		return sl__fail_nomem(err);
	find_weight_gradients(&a, t, use);
	find_phases(&a, from->plan->plan);
	sum_layers(&a);
	sum_phases(&a, phases, column);
	for (size_t i = 0; i < a.out->n_layers; i++)
		a.layers[i].backward_to_forward =
			ratio(a.layers[i].backward_input_ns +
				      a.layers[i].backward_weight_ns,
			      a.layers[i].forward_ns);
	a.out->layers = a.layers;
	a.out->step_ns = profile->latency.median.value;
	a.out->samples_per_s =
		ratio((double)profile->batch * (double)t->n_micro * 1e9,
		      a.out->step_ns);
	a.out->n_micro_batches = t->n_micro;
	a.out->n_segments = t->n_segments;
	a.out->keeping_ratio = sl__no_estimate();
	profile->training = a.out;
	return SL_OK;
}

/* Bytes of activations that outlive the last operation before the backward
 * pass of the first micro-batch, when there are no gradients yet. */
static uint64_t
kept_bytes(const struct sl_profile *p, const struct sl__program *program,
	   struct sl__kept_activation *largest)
{
	uint64_t n_bytes = 0;
	size_t last = 0;

	for (size_t i = 0; i < p->n_operations; i++) {
		enum sl_phase phase = p->operations[i].phase;

		if (phase == SL_PHASE_BACKWARD || phase == SL_PHASE_RECOMPUTE)
			break;
		if (phase == SL_PHASE_FORWARD || phase == SL_PHASE_LOSS)
			last = p->operations[i].step;
	}
	for (uint32_t b = 0; b < program->n_buffers; b++) {
		const struct sl__buffer *buffer = &program->buffers[b];

		if (buffer->base == b &&
		    buffer->category == SL__CATEGORY_ACTIVATION &&
		    buffer->first <= last && buffer->last > last) {
			n_bytes += buffer->n_bytes;
			if (buffer->n_bytes > largest->n_bytes)
				*largest = (struct sl__kept_activation){
					buffer->n_bytes, buffer->first};
		}
	}
	return n_bytes;
}

/* Bytes of a value of the graph that is an input of the plan. */
static uint64_t
input_bytes(const struct sl_graph *graph, uint32_t value)
{
	uint64_t n_bytes = 0;

	return sl__type_bytes(&graph->values[value].declared, &n_bytes)
		       ? n_bytes
		       : 0;
}

struct sl__kept_activation
sl__training_attribute_memory(struct sl_profile *profile,
			      const struct sl__training_plan *plan)
{
	struct sl_training_profile *out =
		(struct sl_training_profile *)(uintptr_t)profile->training;
	const struct sl__training_graph *t = plan->training;
	struct sl__kept_activation largest = {0};

	for (size_t i = 0; i < t->n_parameters; i++)
		out->parameters_bytes +=
			input_bytes(t->graph, t->parameters[i].value);
	out->gradients_bytes = out->parameters_bytes;
	out->optimizer_bytes[SL_OPTIMIZER_MOMENTUM] = out->parameters_bytes;
	out->optimizer_bytes[SL_OPTIMIZER_ADAM] =
		out->optimizer_bytes[SL_OPTIMIZER_ADAMW] =
			2 * out->parameters_bytes;
	out->optimizer_bytes[out->optimizer] = 0;
	/* Moments start at zero; the number of the step is none. */
	for (size_t i = 0; i < t->n_states; i++) {
		uint32_t value = t->states[i].old;

		if (!t->states[i].initial &&
		    t->graph->values[value].declared.dtype != SL_DTYPE_I64)
			out->optimizer_bytes[out->optimizer] +=
				input_bytes(t->graph, value);
	}
	out->kept_bytes = kept_bytes(profile, plan->plan->current, &largest);
	for (size_t k = 0; k < out->n_phases; k++) {
		struct sl_training_phase *phase =
			(struct sl_training_phase *)(uintptr_t)&out->phases[k];

		for (size_t i = 0; i < profile->n_operations; i++) {
			const struct sl_operation *op = &profile->operations[i];

			if (op->phase == phase->phase &&
			    !op->memory_bytes.absent &&
			    !(phase->memory_bytes.value >
			      op->memory_bytes.value))
				phase->memory_bytes = op->memory_bytes;
		}
	}
	return largest;
}
