/* SPDX-License-Identifier: Apache-2.0 */
/*
 * native_recurrent.c - LSTM, GRU and RNN.
 *
 * compute/recurrent.h computes them.  Weights are packed when the program is
 * made.
 *
 * oneDNN has these layers, too, but with weights, states and outputs in
 * orders of its own and no gain for the few samples of a stream.  Peepholes,
 * clipping and other activations than the usual ones are left to the reference
 * kernels.
 */
#include "base/status.h"
#include "compute/recurrent.h"
#include "engine/node_steps.h"
#include "graph/op_rules.h"

#include "base/banned.h"

enum { X, W, R, BIAS, LENGTHS, FIRST_H, FIRST_C, PEEPHOLES };
enum { N_OPTIONAL = 6 }; /* Y, Y_h, Y_c, initial h and c, lengths */
enum { AT_X, AT_WEIGHTS, AT_WORK, AT_OPTIONAL };

struct recurrent {
	struct sl__recurrent all;
	int at[N_OPTIONAL]; /* operand; 0: left out */
};

static float *
optional(const struct sl__step *step, const struct recurrent *r, int which)
{
	return r->at[which] ? (float *)(void *)step->at[r->at[which]] : NULL;
}

static enum sl_status
run(struct sl__step *step, struct sl_error *err)
{
	struct recurrent *r = step->state;
	struct sl__recurrent *l = &r->all;

	l->x = (const float *)(const void *)step->at[AT_X];
	l->work = (float *)(void *)step->at[AT_WORK];
	l->y = optional(step, r, 0);
	l->last_h = optional(step, r, 1);
	l->last_c = optional(step, r, 2);
	l->first_h = optional(step, r, 3);
	l->first_c = optional(step, r, 4);
	l->lengths = (const int32_t *)(void *)optional(step, r, 5);
	for (int64_t b = 0; l->lengths && b < l->batch; b++) {
		if (l->lengths[b] < 0 || l->lengths[b] > l->seq)
			return sl__fail(err, SL_E_DATA,
					"a length of %d in %lld steps",
					l->lengths[b], (long long)l->seq);
	}
	sl__recurrent_run(l, step->n_threads);
	return SL_OK;
}

static int
is_word(const char *a, const char *b)
{
	while (*a && (*a | 32) == (*b | 32)) {
		a++;
		b++;
	}
	return !*a && !*b;
}

/* The usual ones, or one Relu for RNN, in all directions. */
static int
has_usual_functions(struct sl__recurrent *l, const struct sl__node *node)
{
	static const char *const usual[][3] = {{"Sigmoid", "Tanh", "Tanh"},
					       {"Sigmoid", "Tanh", NULL},
					       {"Tanh", NULL, NULL}};
	static const size_t counts[] = {3, 2, 1};
	const struct sl__attribute *a = sl__attribute_find(node, "activations");
	size_t n = counts[l->kind];

	if (!a || a->n == 0)
		return 1;
	if (a->kind != SL__ATTRIBUTE_STRINGS ||
	    a->n != n * (size_t)l->directions)
		return 0;
	l->is_relu = l->kind == SL__RECURRENT_RNN &&
		     is_word(a->strings[0], "Relu");
	for (size_t i = 0; i < a->n; i++) {
		const char *word = l->is_relu ? "Relu" : usual[l->kind][i % n];

		if (!is_word(a->strings[i], word))
			return 0;
	}
	return 1;
}

static int
read_direction(struct sl__recurrent *l, const struct sl__node *node)
{
	const char *word = sl__attribute_string(node, "direction", "forward");

	l->directions = is_word(word, "bidirectional") ? 2 : 1;
	l->is_reverse = is_word(word, "reverse");
	return l->directions == 2 || l->is_reverse || is_word(word, "forward");
}

static int
is_f32(const struct sl__planner *pl, uint32_t value, int rank)
{
	const struct sl__type *type;

	if (value == SL__NONE)
		return 1;
	type = sl__plan_value_type(pl, value);
	return type->dtype == SL_DTYPE_F32 && type->rank == rank &&
	       sl__plan_value_n_elements(pl, value) > 0;
}

static int
is_constant(const struct sl__planner *pl, uint32_t value)
{
	return pl->graph->values[value].tensor != NULL;
}

/* Whether it has so many elements, or is left out. */
static int
has_size(const struct sl__planner *pl, const struct sl__node *node, size_t i,
	 int64_t n)
{
	uint32_t value = sl__plan_node_input(node, i);

	return value == SL__NONE ||
	       sl__plan_value_n_elements(pl, value) == (uint64_t)n;
}

static int
has_sizes(const struct sl__recurrent *l, const struct sl__planner *pl,
	  const struct sl__node *node)
{
	int64_t rows = l->directions * l->columns;

	return has_size(pl, node, W, rows * l->input) &&
	       has_size(pl, node, R, rows * l->hidden) &&
	       has_size(pl, node, BIAS, 2 * rows) &&
	       has_size(pl, node, FIRST_H, sl__recurrent_states(l)) &&
	       (l->kind != SL__RECURRENT_LSTM ||
		has_size(pl, node, FIRST_C, sl__recurrent_states(l)));
}

/* Whether there is one for each sample, or none at all. */
static int
has_lengths(const struct sl__recurrent *l, const struct sl__planner *pl,
	    const struct sl__node *node)
{
	uint32_t value = sl__plan_node_input(node, LENGTHS);

	return value == SL__NONE ||
	       (sl__plan_value_type(pl, value)->dtype == SL_DTYPE_I32 &&
		sl__plan_value_n_elements(pl, value) == (uint64_t)l->batch);
}

/* 0: not for this kernel. */
static int
read_layer(struct sl__recurrent *l, const struct sl__planner *pl,
	   const struct sl__node *node)
{
	static const int n_gates[] = {4, 3, 1};
	const struct sl__type *x = sl__plan_node_input_type(pl, node, X);
	const struct sl__type *r = sl__plan_node_input_type(pl, node, R);

	l->kind = sl__is_op(node, SL__OP_ONNX_LSTM)  ? SL__RECURRENT_LSTM
		  : sl__is_op(node, SL__OP_ONNX_GRU) ? SL__RECURRENT_GRU
						     : SL__RECURRENT_RNN;
	if (!read_direction(l, node) || !has_usual_functions(l, node) ||
	    sl__attribute_find(node, "clip") ||
	    sl__attribute_int(node, "input_forget", 0) ||
	    sl__plan_node_input(node, PEEPHOLES) != SL__NONE ||
	    !is_constant(pl, node->inputs[W]) ||
	    !is_constant(pl, node->inputs[R]) ||
	    (sl__plan_node_input(node, BIAS) != SL__NONE &&
	     !is_constant(pl, sl__plan_node_input(node, BIAS))))
		return 0;
	for (size_t i = X; i <= FIRST_C; i++) {
		if (i != LENGTHS && !is_f32(pl, sl__plan_node_input(node, i),
					    i == BIAS ? 2 : 3))
			return 0;
	}
	l->is_batch_first = sl__attribute_int(node, "layout", 0) != 0;
	l->is_reset_late = sl__attribute_int(node, "linear_before_reset", 0) !=
			   0;
	l->seq = x->dims[l->is_batch_first];
	l->batch = x->dims[!l->is_batch_first];
	l->input = x->dims[2];
	l->hidden = r->dims[2];
	l->columns = n_gates[l->kind] * l->hidden;
	return has_sizes(l, pl, node) && has_lengths(l, pl, node);
}

static uint32_t
read_weights(struct sl__recurrent *l, struct sl__planner *pl,
	     const struct sl__node *node)
{
	const float *all[3] = {NULL, NULL, NULL};
	uint32_t from, kept;
	void *to;

	for (size_t i = W; i <= BIAS; i++) {
		if (sl__plan_node_input(node, i) == SL__NONE)
			continue;
		from = sl__plan_input_buffer(pl, node->inputs[i], NULL);
		if (!pl->rc)
			all[i - W] = (const float *)(const void *)
				sl__plan_buffer_data(pl, from);
	}
	kept = sl__plan_persistent_buffer(
		pl,
		(uint64_t)(l->directions * sl__recurrent_weight_floats(l)) * 4,
		&to);
	if (!pl->rc)
		sl__recurrent_pack(l, to, all);
	return kept;
}

/* Adds what may be left out to the operands; returns how many they are. */
static uint32_t
read_values(struct recurrent *l, struct sl__planner *pl,
	    const struct sl__node *node, uint32_t *operands, uint32_t n)
{
	for (int i = 0; i < 2; i++) {
		uint32_t value =
			sl__plan_node_input(node, (size_t)(FIRST_H + i));

		if (value == SL__NONE ||
		    (i == 1 && l->all.kind != SL__RECURRENT_LSTM))
			continue;
		l->at[3 + i] = (int)n;
		operands[n++] = sl__plan_input_buffer(pl, value, NULL);
	}
	if (sl__plan_node_input(node, LENGTHS) != SL__NONE) {
		l->at[5] = (int)n;
		operands[n++] =
			sl__plan_input_buffer(pl, node->inputs[LENGTHS], NULL);
	}
	for (size_t k = 0; k < 3; k++) {
		uint32_t value = sl__plan_node_output(node, k);

		if (value == SL__NONE)
			continue;
		l->at[k] = (int)n;
		operands[n++] = sl__plan_output_buffer(pl, value, NULL);
	}
	return n;
}

int
sl__make_recurrent(struct sl__planner *pl, const struct sl__node *node)
{
	enum { PRODUCTS_PER_THREAD = 1000000 }; /* that one is worth */
	struct recurrent *r = sl__plan_alloc_state(pl, sizeof(*r));
	struct sl__recurrent *l = r ? &r->all : NULL;
	uint32_t operands[AT_OPTIONAL + N_OPTIONAL], n;
	struct sl__step *step;
	int64_t gates;

	if (!l || !read_layer(l, pl, node))
		return 0;
	gates = l->directions * l->seq * l->batch * l->columns;
	operands[AT_X] = sl__plan_input_buffer(pl, node->inputs[X], NULL);
	operands[AT_WEIGHTS] = read_weights(l, pl, node);
	operands[AT_WORK] = sl__plan_workspace(
		pl, (uint64_t)sl__recurrent_work_floats(l) * 4);
	n = read_values(r, pl, node, operands, AT_OPTIONAL);
	step = sl__plan_add_step(pl, operands, n, "recurrent", run, r);
	step->n_threads = sl__threads_at_most(step->n_threads,
					      gates * (l->input + l->hidden) /
						      PRODUCTS_PER_THREAD);
	return 1;
}
