/* SPDX-License-Identifier: Apache-2.0 */
/* liveness.h - which values are in memory while each node runs. */
#ifndef SL_LIVENESS_H
#define SL_LIVENESS_H

#include "cost/cost_analysis_inputs.h"

/*
 * Values that share storage (views, and what passes in and out of bodies) are
 * one: 'storage' gives its number, the value that came first, or SL__NONE for
 * parameters and views of them.  Storage lives in steps birth to death, both
 * included.  Inputs of the model live from the first step to their last use,
 * outputs to the end; what a body uses from outside lives until the body is
 * left.
 */
struct sl__liveness {
	const struct sl__execution_order *steps;
	uint32_t *storage;       /* per value */
	uint32_t *birth, *death; /* per value that is a storage; birth is
				    SL__NONE where it never lives */
	uint64_t *n_bytes;       /* likewise; 0: not known */
	uint64_t peak_bytes;     /* INT64_MAX: that much or more */
	size_t peak_step;
	size_t n_unknown;          /* storages whose size is not known */
	uint64_t activation_bytes; /* of all nodes' results */
};

enum sl_status sl__liveness_of(struct sl__liveness *out,
			       const struct sl__cost_analysis_inputs *forward,
			       struct sl__arena *arena,
			       struct sl_error *err) SL_CHECKED;

/*
 * Bytes of parameters, inputs and outputs that every way to compute the model
 * moves: of each, what its most demanding node must take of it (or, of an
 * output, leave) when it takes all of its other operands.  Never more than the
 * nodes read and write together.
 */
enum sl_status
sl__compulsory_bytes(uint64_t *out,
		     const struct sl__cost_analysis_inputs *forward,
		     const struct sl__liveness *live, struct sl__arena *arena,
		     struct sl_error *err) SL_CHECKED;

/* The largest of the running sums of 'change', and where it is first. */
uint64_t sl__running_sum_peak(const int64_t *change, size_t n, size_t *at);

#endif
