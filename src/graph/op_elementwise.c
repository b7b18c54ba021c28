/* SPDX-License-Identifier: Apache-2.0 */
/*
 * op_elementwise.c - operators that treat each element alone.
 *
 * One input, or several broadcast together; the cost is the number of output
 * elements times what one element takes.
 */
#include "cost.h"
#include "op.h"
#include "banned.h"

enum sl_status
sl__infer_unary(const struct sl__call *call, struct sl_error *err)
{
	return sl__out_like(call, 0, 0, SL_DTYPE_NONE, err);
}

void
sl__cost_compare(const struct sl__call *call, struct sl_cost *cost)
{
	(void)call;
	cost->work = SL_WORK_ACTIVATION;
	cost->cmp = cost->out_elements;
}
