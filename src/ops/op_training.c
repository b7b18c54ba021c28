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
sl__infer_optimizer(const struct sl__call *call, struct sl_error *err)
{
	size_t n = group_size(call->node);
	enum sl_status rc = SL_OK;

	if (n * n_groups(call->node) + FIRST != call->node->n_inputs)
		return sl__refuse(err,
				  "%u inputs are not 2 and groups of the same "
				  "size",
				  call->node->n_inputs);
	for (size_t k = 0; !rc && k < call->node->n_outputs; k++)
		rc = sl__out_like(call, k, FIRST + (k < n ? k : k + n),
				  SL_DTYPE_NONE, err);
	return rc;
}

/* A derivative by each of the first inputs, of its shape. */
enum sl_status
sl__infer_gradient(const struct sl__call *call, struct sl_error *err)
{
	enum sl_status rc = SL_OK;

	for (size_t k = 0; !rc && k < call->node->n_outputs; k++)
		rc = sl__out_like(call, k, k, SL_DTYPE_NONE, err);
	return rc;
}

static uint64_t
n_elements(const struct sl__call *call)
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
sl__cost_optimizer(const struct sl__call *call, struct sl_cost *cost)
{
	const struct sl__node *node = call->node;
	uint64_t n = n_elements(call);

	cost->in_elements = n;
	if (sl__is_op(node, SL__OP_PREVIEW_Momentum)) {
		int is_nesterov = sl__word(node, "mode", "")[0] == 'n';

		cost->mul = n;
		cost->fma = sl__times(n, is_nesterov ? 4 : 3);
		return;
	}
	cost->add = sl__times(n, 2);
	cost->div = cost->exp = n;
	if (sl__is_op(node, SL__OP_PREVIEW_Adagrad)) {
		cost->mul = n;
		cost->fma = sl__times(n, 2);
	} else {
		cost->mul = sl__times(n, 4);
		cost->fma = sl__times(n, 3);
	}
}
