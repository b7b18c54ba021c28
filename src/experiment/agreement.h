/* SPDX-License-Identifier: Apache-2.0 */
/* agreement.h - how far models agree with the first on synthetic inputs. */
#ifndef SL_AGREEMENT_H
#define SL_AGREEMENT_H

#include "engine/plan.h"

enum { SL__AGREEMENT_INPUTS_MOST = 64 };

struct sl__agreement {
	struct sl_estimate share; /* of highest scores, along the last dimension
				     of the first output, that are the same; n
				     inputs; n 0: 'absent' says why */
	double error; /* root of the mean squared difference of that output over
			 the root of the mean square of the first model's; NaN:
			 'absent' says why, or the latter is 0 */
	double largest; /* difference, over the largest |number| of the first
			   model's; NaN as 'error' */
	const char *absent; /* NULL: all are there */
};

/* Gives a plan the i-th inputs. */
typedef enum sl_status sl__inputs_function(const void *ctx,
					   struct sl_plan *plan, size_t i,
					   struct sl_error *err);

/* The inputs that models are compared on. */
struct sl__agreement_inputs {
	sl__inputs_function *set;
	const void *ctx;
	size_t n; /* 1 to SL__AGREEMENT_INPUTS_MOST */
};

/*
 * Runs 'baseline' and then 'plan' on each of the inputs.  Where a row of the
 * output is one number, there is nothing to be the highest of, and the share is
 * absent.  The plans are the caller's and have other inputs afterwards.
 */
enum sl_status sl__agreement_on(struct sl__agreement *out,
				struct sl_plan *baseline, struct sl_plan *plan,
				const struct sl__agreement_inputs *inputs,
				struct sl_error *err) SL_CHECKED;

/* The same on n_inputs synthetic inputs, with seeds from 'seed' on. */
enum sl_status sl__agreement(struct sl__agreement *out,
			     struct sl_plan *baseline, struct sl_plan *plan,
			     size_t n_inputs, uint64_t seed,
			     struct sl_error *err) SL_CHECKED;

/* The same on the inputs that the plans have, once. */
enum sl_status sl__agreement_as_set(struct sl__agreement *out,
				    struct sl_plan *baseline,
				    struct sl_plan *plan,
				    struct sl_error *err) SL_CHECKED;

#endif
