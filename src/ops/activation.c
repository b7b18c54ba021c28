/* SPDX-License-Identifier: Apache-2.0 */
/*
 * activation.c - the functions of one number that networks are bent by, and
 * the one that a fused operator ends with.
 */
#include "ops/activation.h"

#include <math.h>
#include <string.h>

#include "base/banned.h"

/* x as far as the gate is open; shut, it stops infinities too. */
static double
gated(double x, double gate)
{
	return gate == 0 ? 0 : x * gate;
}

/* 0.044715 is from the paper (Hendrycks, Gimpel 2016). */
static double
inner_gelu(double x)
{
	return sqrt(2 / acos(-1)) * (x + 0.044715 * x * x * x);
}

#define FUNCTION(name, formula)                             \
	double sl__act_##name(double x, double a, double b) \
	{                                                   \
		(void)a;                                    \
		(void)b;                                    \
		return formula;                             \
	}

FUNCTION(affine, b + a * x)
FUNCTION(celu, x < 0 ? a * expm1(x / a) : x)
FUNCTION(clip, (x < a ? a : x) > b ? b : x < a ? a : x)
FUNCTION(elu, x < 0 ? a * expm1(x) : x)
FUNCTION(gelu, gated(x, (1 + erf(x / sqrt(2))) / 2))
FUNCTION(gelu_tanh, gated(x, (1 + tanh(inner_gelu(x))) / 2))
FUNCTION(hard_sigmoid, sl__act_clip(b + a * x, 0, 1))
FUNCTION(hard_swish, gated(x, sl__act_hard_sigmoid(x, a, b)))
FUNCTION(leaky_relu, x < 0 ? a * x : x)
FUNCTION(mish, gated(x, tanh(sl__act_softplus(x, a, b))))
FUNCTION(relu, x < 0 ? 0 : x)
FUNCTION(scaled_tanh, tanh((b * x)) * a)
FUNCTION(selu, (x > 0 ? x : a * expm1(x)) * b)
/* Each side by the exponential that does not overflow. */
FUNCTION(sigmoid, x < 0 ? exp(x) / (1 + exp(x)) : 1 / (1 + exp(-x)))
/* log(1 + exp(x)), which is near x where that is large. */
FUNCTION(softplus, x > 0 ? x + log1p(exp(-x)) : log1p(exp(x)))
FUNCTION(softsign, isinf(x) ? copysign(1, x) : x / (1 + fabs(x)))
FUNCTION(swish, gated(x, sl__act_sigmoid((a * x), 0, 0)))
FUNCTION(tanh, tanh(x))
FUNCTION(thresholded_relu, x <= a ? 0 : x)

/* By name; a and b are what they are where the node says nothing, which is
 * what the operators of the same names have. */
static const struct known {
	const char *name;
	struct sl__fused_activation ending;
} all[] = {
	{"Relu", {sl__act_relu, 0, 0}},
	{"LeakyRelu", {sl__act_leaky_relu, (double)0.01F, 0}},
	{"Tanh", {sl__act_tanh, 0, 0}},
	{"Sigmoid", {sl__act_sigmoid, 0, 0}},
	{"Clip", {sl__act_clip, -HUGE_VAL, HUGE_VAL}},
	{"HardSigmoid", {sl__act_hard_sigmoid, (double)0.2F, 0.5}},
	{"HardSwish", {sl__act_hard_swish, 1.0 / 6, 0.5}},
	{"Elu", {sl__act_elu, 1, 0}},
	{"Selu",
	 {sl__act_selu, 1.67326319217681884765625, 1.05070102214813232421875}},
	{"Softplus", {sl__act_softplus, 0, 0}},
	{"Softsign", {sl__act_softsign, 0, 0}},
	{"ThresholdedRelu", {sl__act_thresholded_relu, 1, 0}},
};

static void
read_numbers(struct sl__fused_activation *e, const struct sl__node *node)
{
	const struct sl__attribute *list =
		sl__attribute_find(node, "activation_params");

	e->a = sl__attribute_float(node, "activation_alpha", e->a);
	e->b = sl__attribute_float(node, "activation_beta", e->b);
	if (!list || list->kind != SL__ATTRIBUTE_FLOATS)
		return;
	if (list->n > 0)
		e->a = (double)list->floats[0];
	if (list->n > 1)
		e->b = (double)list->floats[1];
}

enum sl_status
sl__fused_activation_read(struct sl__fused_activation *out,
			  struct sl__kernel_call *ev)
{
	const char *word = sl__attribute_string(ev->node, "activation", "");

	memset(out, 0, sizeof(*out));
	if (!*word || !strcmp(word, "none"))
		return SL_OK;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		if (strcmp(word, all[i].name))
			continue;
		*out = all[i].ending;
		read_numbers(out, ev->node);
		return SL_OK;
	}
	return sl__ref_fail(ev, SL_E_ABSENT,
			    "the activation '%.40s' is not known", word);
}

void
sl__fused_activation_apply(const struct sl__fused_activation *e, size_t n,
			   double *x)
{
	for (size_t i = 0; e->apply && i < n; i++)
		x[i] = e->apply(x[i], e->a, e->b);
}
