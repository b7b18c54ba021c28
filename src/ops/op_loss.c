/* SPDX-License-Identifier: Apache-2.0 */
/*
 * op_loss.c - losses of a classifier: scores [N, C, d...] against the right
 * classes [N, d...], perhaps weighted.
 */
#include "graph/op_rules.h"
#include "ops/cost.h"

#include <string.h>

#include "base/banned.h"

static int
is_kept_apart(const struct sl__node *node)
{
	return !strcmp(sl__word(node, "reduction", "mean"), "none");
}

/* One number, or one for each class that was to be found; and, where asked
 * for, the logarithms of the probabilities. */
enum sl_status
sl__infer_loss(struct sl__call *call)
{
	enum sl_dtype dtype = sl__in_dtype(call, 0);

	if (is_kept_apart(call->node))
		sl__out_like(call, 0, 1, dtype);
	else
		sl__out(call, 0, dtype, 0, NULL);
	return sl__out_like(call, 1, 0, SL_DTYPE_NONE);
}

/* Each target takes one score with its sign changed, times its weight; a mean
 * divides by their number or by the sum of the weights. */
void
sl__cost_loss(struct sl__call *call, struct sl_cost *cost)
{
	uint64_t n = sl__in_elements(call, 1);
	uint64_t n_joins = n ? n - 1 : 0;
	int is_weighted = sl__has_in(call, 2);
	int is_mean =
		!strcmp(sl__word(call->node, "reduction", "mean"), "mean");

	cost->work = SL_WORK_REDUCTION;
	sl__count(cost, n, SL__PER(.mul = is_weighted ? 1 : 0, .add = 1));
	if (!is_kept_apart(call->node))
		sl__count(cost, n_joins, SL__PER(.add = 1));
	if (is_mean) {
		cost->div = 1;
		sl__count(cost, n_joins, SL__PER(.add = is_weighted ? 1 : 0));
	}
}

/* Along the classes x - m - log(sum(exp(x - m))), then the loss of that. */
void
sl__cost_softmax_loss(struct sl__call *call, struct sl_cost *cost)
{
	uint64_t n = cost->in_elements, n_classes = sl__in_dim(call, 0, 1);

	sl__cost_loss(call, cost);
	cost->work = SL_WORK_SOFTMAX;
	sl__count(cost, n, SL__PER(.cmp = 1, .exp = 1, .add = 3));
	sl__count(cost, n_classes ? n / n_classes : 0, SL__PER(.exp = 1));
}
