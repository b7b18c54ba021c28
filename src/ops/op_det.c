/* SPDX-License-Identifier: Apache-2.0 */
/* op_det.c - Det: determinants of square matrices. */
#include "graph/op_rules.h"
#include "ops/cost.h"

#include "base/banned.h"

enum sl_status
sl__infer_det(struct sl__call *call)
{
	const struct sl__type *in = sl__in(call, 0);
	int rank = sl__in_rank(call, 0);

	if (rank < 0)
		return sl__out_rankless(call, 0, sl__in_dtype(call, 0));
	if (rank < 2)
		return sl__refuse(call, "%s is no matrix",
				  sl__in_text(call, 0));
	return sl__out(call, 0, in->dtype, rank - 2, in->dims);
}

/*
 * Elimination of an n x n matrix: step k divides n - k elements and updates
 * (n - k)^2, which sums to n (n - 1) / 2 and (n - 1) n (2n - 1) / 6; then the
 * product of the diagonal.  Two operations an update make (2/3) n^3.
 */
void
sl__cost_det(struct sl__call *call, struct sl_cost *cost)
{
	uint64_t n = sl__in_dim(call, 0, -1), n_matrices = cost->out_elements;
	uint64_t pairs;

	if (n == 0)
		return;
	pairs = sl__times(n, n - 1);
	sl__count(cost, n_matrices,
		  SL__PER(.div = pairs / 2, .mul = n - 1,
			  .fma = sl__times(pairs, sl__times(2, n) - 1) / 6));
}
