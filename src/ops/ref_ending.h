/* SPDX-License-Identifier: Apache-2.0 */
/* ref_ending.h - the activation that a fused operator ends with. */
#ifndef SL_REF_ENDING_H
#define SL_REF_ENDING_H

#include "ops/activation.h"
#include "ops/ref.h"

struct sl__ending {
	sl__activation_function *apply; /* NULL: none */
	double a, b;
};

/*
 * Reads 'activation' of the node and its numbers, which are the list
 * activation_params or activation_alpha and activation_beta.  SL_E_ABSENT for
 * an activation that is not known.
 */
enum sl_status sl__ending_read(struct sl__ending *out, struct sl__eval *ev);

void sl__ending_apply(const struct sl__ending *e, size_t n, double *x);

#endif
