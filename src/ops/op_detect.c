/* SPDX-License-Identifier: Apache-2.0 */
/* op_detect.c - NonMaxSuppression: how many boxes stay depends on data. */
#include "graph/op_rules.h"

#include "base/banned.h"

enum sl_status
sl__infer_non_max_suppression(struct sl__call *call)
{
	int64_t dims[2] = {sl__size_unknown(call->shapes), 3};

	return sl__out(call, 0, SL_DTYPE_I64, 2, dims);
}
