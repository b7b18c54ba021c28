/* SPDX-License-Identifier: Apache-2.0 */
/* op_none.c - the rules that say nothing. */
#include "graph/op_rules.h"
#include "base/banned.h"

enum sl_status
sl__infer_none(struct sl__rule_context *call)
{
	return call->failure;
}

enum sl_status
sl__fold_none(struct sl__rule_context *call)
{
	return call->failure;
}

void
sl__cost_none(struct sl__rule_context *call, struct sl_cost *cost)
{
	(void)call;
	(void)cost;
}

/* An operator that is in the table for its arity, and whose cost is not. */
void
sl__cost_unknown(struct sl__rule_context *call, struct sl_cost *cost)
{
	(void)call;
	cost->basis = SL_BASIS_UNKNOWN;
	cost->why = "its cost is not known";
}
