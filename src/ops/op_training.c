/* SPDX-License-Identifier: Apache-2.0 */
/*
 * op_training.c - one step of an optimizer, over any number of tensors.
 *
 * Inputs are the rate, the count of steps, then groups of n tensors each: the
 * values X, their gradients G, and one or two groups of state.  Outputs are
 * the groups but for the gradients, renewed.
 */
#include "graph/op_rules.h"
#include "ops/cost.h"

#include "base/banned.h"

enum { FIRST = 2 }; /* after the rate and the count */

/* Groups of inputs: values, gradients, states. */
static size_t
n_groups(const struct sl__node *node)
{
	return sl__is_op(node, SL__OP_PREVIEW_Adam) ? 4 : 3;
}

static size_t
group_size(const struct sl__node *node)
{
	return node->n_inputs < FIRST
		       ? 0
		       : (node->n_inputs - FIRST) / n_groups(node);
}

enum sl_status
sl__infer_optimizer(struct sl__call *call)
{
	size_t n = group_size(call->node);

	if (n * n_groups(call->node) + FIRST != call->node->n_inputs)
		return sl__refuse(call,
				  "%u inputs are not 2 and groups of the same "
				  "size",
				  call->node->n_inputs);
	for (size_t k = 0; k < call->node->n_outputs; k++)
		sl__out_like(call, k, FIRST + (k < n ? k : k + n),
			     SL_DTYPE_NONE);
	return call->failure;
}

/* A derivative by each of the first inputs, of its shape. */
enum sl_status
sl__infer_gradient(struct sl__call *call)
{

	for (size_t k = 0; k < call->node->n_outputs; k++)
		sl__out_like(call, k, k, SL_DTYPE_NONE);
	return call->failure;
}

static uint64_t
n_elements(struct sl__call *call)
{
	uint64_t n = 0;

	for (size_t i = 0; i < group_size(call->node); i++)
		n = sl__plus(n, sl__in_elements(call, FIRST + i));
	return n;
}

/*
 * Per element, what a step does once for all left aside:
 *   all       g = G + norm X
 *   Momentum  V = a V + b g; X -= r V, or r (g + a V) after Nesterov
 *   Adagrad   H += g g; X -= r g / (sqrt(H) + e)
 *   Adam      V = a V + (1 - a) g; H = b H + (1 - b) g g;
 *             X -= r V / (sqrt(H) + e)
 */
void
sl__cost_optimizer(struct sl__call *call, struct sl_cost *cost)
{
	const struct sl__node *node = call->node;
	int is_nesterov = sl__word(node, "mode", "")[0] == 'n';
	struct sl__per each = {
		.mul = 4, .fma = 3, .add = 2, .div = 1, .exp = 1};

	if (sl__is_op(node, SL__OP_PREVIEW_Momentum))
		each = SL__PER(.mul = 1, .fma = is_nesterov ? 4 : 3);
	else if (sl__is_op(node, SL__OP_PREVIEW_Adagrad))
		each = SL__PER(.mul = 1, .fma = 2, .add = 2, .div = 1,
			       .exp = 1);
	cost->in_elements = n_elements(call);
	sl__count(cost, cost->in_elements, each);
}
