/* SPDX-License-Identifier: Apache-2.0 */
/*
 * native_update.c - one step of an optimizer over one tensor of f32: every
 * number is read and written once.  In a training step states are written over
 * themselves, unless the loss is not a number: then they stay as they are.
 */
#include "compute/optimizer_update.h"
#include "engine/compile.h"
#include "engine/node_steps.h"

#include <math.h>

#include "base/banned.h"

enum { OPERANDS_MOST = 11 };

struct update {
	int64_t n;
	struct sl__update_factors f;
	int is_adam, is_decoupled;
	/* Which operand; -1: none. */
	int rate, count, scale, x, g, v, h, to_x, to_v, to_h, loss;
	unsigned char **at;
	sl__update_function *apply;
};

static float *
operand(const struct update *u, int i)
{
	return i < 0 ? NULL : (float *)(void *)u->at[i];
}

/* The rate, the count of steps and the scale are those of this run. */
static struct sl__update_factors
factors_of(const struct update *u)
{
	struct sl__update_factors f = u->f;
	const float *scale = operand(u, u->scale);
	double rate = (double)*(const float *)(void *)u->at[u->rate], count;

	f.scale = scale ? *scale : 1;
	f.keep = 1;
	if (u->is_adam) {
		count = (double)*(const int64_t *)(const void *)u->at[u->count];
		if (u->is_decoupled) {
			f.keep = (float)(1 - rate * (double)f.decay);
			f.decay = 0;
		}
		rate /= 1 - pow((double)f.beta1, count);
		f.root = (float)(1 / sqrt(1 - pow((double)f.beta2, count)));
	}
	f.rate = (float)rate;
	return f;
}

static void
run_part(int rank, int n_ranks, void *ctx)
{
	const struct update *u = ctx;
	struct sl__update_factors f = factors_of(u);
	const float *loss = operand(u, u->loss);
	struct sl__update_tensors t = {.x = operand(u, u->x),
				       .g = operand(u, u->g),
				       .v = operand(u, u->v),
				       .h = operand(u, u->h),
				       .to_x = operand(u, u->to_x),
				       .to_v = operand(u, u->to_v),
				       .to_h = operand(u, u->to_h)};
	int64_t first, end;

	if (loss && isnan(*loss))
		return;
	sl__parallel_range(u->n, rank, n_ranks, &first, &end);
	u->apply(&f, &t, first, end);
}

static int
is_f32(const struct sl__planner *pl, uint32_t value)
{
	return value == SL__NONE ||
	       sl__plan_value_type(pl, value)->dtype == SL_DTYPE_F32;
}

/* Adds a value to the operands; which one it is. */
static int
add(uint32_t *operands, uint32_t *n, uint32_t buffer)
{
	operands[*n] = buffer;
	return (int)(*n)++;
}

static int
add_input(struct sl__planner *pl, const struct sl__node *node, size_t i,
	  uint32_t *operands, uint32_t *n)
{
	uint32_t value = sl__plan_node_input(node, i);

	return value == SL__NONE ? -1
				 : add(operands, n,
				       sl__plan_input_buffer(pl, value, NULL));
}

/* The loss of a training step among the operands; -1: it is none, or not of
 * f32. */
static int
add_loss(struct sl__planner *pl, uint32_t *operands, uint32_t *n)
{
	uint32_t loss;

	if (!(pl->options->flags & SL__PLAN_TRAINS))
		return -1;
	loss = pl->graph->blocks[0].outputs[SL__TRAINING_LOSS];
	return !sl__plan_is_static(pl, loss) || !is_f32(pl, loss)
		       ? -1
		       : add(operands, n,
			     sl__plan_input_buffer(pl, loss, NULL));
}

/* Whether a buffer holds a state of the model that nobody else reads later. */
static int
is_renewable(const struct sl__planner *pl, uint32_t buffer)
{
	const struct sl__buffer *b;

	if (pl->rc || buffer == SL__NONE)
		return 0;
	b = &pl->program->buffers[buffer];
	return b->category == SL__CATEGORY_INPUT && b->base == buffer &&
	       pl->buffer_uses[buffer] == 1;
}

/* An output: over 'old', the buffer that it renews, where that may be. */
static int
add_output(struct sl__planner *pl, uint32_t value, uint32_t old,
	   uint32_t *operands, uint32_t *n)
{
	if (value == SL__NONE)
		return -1;
	if (!is_renewable(pl, old))
		return add(operands, n,
			   sl__plan_output_buffer(pl, value, NULL));
	sl__plan_alias(pl, value, NULL, old);
	return add(operands, n, old);
}

/* The outputs renew x, v and h; in place where the loss can be looked at. */
static void
add_outputs(struct sl__planner *pl, const struct sl__node *node,
	    struct update *u, uint32_t *operands, uint32_t *n)
{
	const int old[3] = {u->x, u->v, u->h};
	int *to[3] = {&u->to_x, &u->to_v, &u->to_h};

	u->loss = add_loss(pl, operands, n);
	for (size_t k = 0; k < 3; k++)
		*to[k] = add_output(
			pl, sl__plan_node_output(node, k),
			u->loss < 0 || old[k] < 0 ? SL__NONE : operands[old[k]],
			operands, n);
}

static void
read_factors(struct update *u, const struct sl__node *node)
{
	u->f = (struct sl__update_factors){
		.decay = (float)sl__attribute_float(node, "weight_decay", 0),
		.momentum = (float)sl__attribute_float(node, "momentum", 0),
		.beta1 =
			(float)sl__attribute_float(node, "beta1", (double)0.9F),
		.beta2 = (float)sl__attribute_float(node, "beta2",
						    (double)0.999F),
		.epsilon = (float)sl__attribute_float(node, "epsilon",
						      (double)1e-8F),
		.is_nesterov = sl__attribute_int(node, "nesterov", 0) != 0};
	u->is_decoupled = sl__attribute_int(node, "decoupled", 0) != 0;
}

int
sl__make_update(struct sl__planner *pl, const struct sl__node *node)
{
	struct update *u = sl__plan_alloc_state(pl, sizeof(*u));
	uint32_t operands[OPERANDS_MOST], n = 0;
	size_t x;

	if (!u)
		return 0;
	u->is_adam = sl__is_op(node, SL__OP_SLEUTH_Adam);
	x = u->is_adam ? 2 : 1;
	for (uint32_t i = 0; i < node->n_inputs; i++) {
		if (!(u->is_adam && i == 1) && !is_f32(pl, node->inputs[i]))
			return 0;
	}
	if (u->is_adam &&
	    sl__plan_value_type(pl, node->inputs[1])->dtype != SL_DTYPE_I64)
		return 0;
	read_factors(u, node);
	u->n = (int64_t)sl__plan_value_n_elements(pl, node->inputs[x]);
	u->rate = add_input(pl, node, 0, operands, &n);
	u->count = u->is_adam ? add_input(pl, node, 1, operands, &n) : -1;
	u->x = add_input(pl, node, x, operands, &n);
	u->g = add_input(pl, node, x + 1, operands, &n);
	u->scale = add_input(pl, node, u->is_adam ? 6 : 3, operands, &n);
	u->v = add_input(pl, node, 4, operands, &n);
	u->h = u->is_adam ? add_input(pl, node, 5, operands, &n) : -1;
	add_outputs(pl, node, u, operands, &n);
	u->apply = u->is_adam
			   ? sl__adam_for()
			   : (u->v >= 0 ? sl__momentum_for() : sl__sgd_for());
	u->at = sl__plan_add_parallel_step(pl, operands, n,
					   u->is_adam ? "adam" : "sgd",
					   run_part, u)
			->at;
	return 1;
}
