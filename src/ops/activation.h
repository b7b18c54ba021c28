/* SPDX-License-Identifier: Apache-2.0 */
/*
 * activation.h - the functions of one number that networks are bent by, each
 * the same wherever it stands: alone, at the end of a product, in a gate.
 *
 * NaN stays NaN.  Where a formula multiplies infinity with a gate of 0 the
 * result is the limit, 0: Gelu, HardSwish, Mish and Swish of what is beyond
 * all bounds on the closed side.
 */
#ifndef SL_ACTIVATION_H
#define SL_ACTIVATION_H

#include "ops/ref.h"

/* a and b are alpha and beta, or what an operator calls them instead; a
 * function that has none takes no notice of them. */
typedef double sl__activation_function(double x, double a, double b);

sl__activation_function sl__act_affine; /* a x + b */
sl__activation_function sl__act_celu;
sl__activation_function sl__act_clip; /* to a .. b */
sl__activation_function sl__act_elu;
sl__activation_function sl__act_gelu;
sl__activation_function sl__act_gelu_tanh;    /* its approximation */
sl__activation_function sl__act_hard_sigmoid; /* a x + b, clipped to 0 .. 1 */
sl__activation_function sl__act_hard_swish;   /* x times that */
sl__activation_function sl__act_leaky_relu;
sl__activation_function sl__act_mish;
sl__activation_function sl__act_relu;
sl__activation_function sl__act_scaled_tanh; /* a tanh(b x) */
sl__activation_function sl__act_selu;        /* b is gamma */
sl__activation_function sl__act_sigmoid;
sl__activation_function sl__act_softplus;
sl__activation_function sl__act_softsign;
sl__activation_function sl__act_swish; /* x sigmoid(a x) */
sl__activation_function sl__act_tanh;
sl__activation_function sl__act_thresholded_relu; /* 0 up to a */

/* a and b of an operator of one input, as the node has them. */
void sl__unary_numbers(const struct sl__node *node, double *a, double *b);

/* What a fused operator ends with. */
struct sl__fused_activation {
	sl__activation_function *apply; /* NULL: none */
	double a, b;
};

/*
 * Reads 'activation' of the node and its numbers, which are the list
 * activation_params or activation_alpha and activation_beta.  SL_E_ABSENT for
 * an activation that is not known.
 */
enum sl_status sl__fused_activation_read(struct sl__fused_activation *out,
					 struct sl__kernel_call *ev);

void sl__fused_activation_apply(const struct sl__fused_activation *e, size_t n,
				double *x);

#endif
