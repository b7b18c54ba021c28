/* SPDX-License-Identifier: Apache-2.0 */
/* ref_ending.c - the activation that a fused operator ends with. */
#include "ref_ending.h"
#include "status.h"

#include <math.h>
#include <string.h>

#include "banned.h"

static double
relu(double x, double a, double b)
{
	(void)a;
	(void)b;
	return x < 0 ? 0 : x;
}

static double
leaky_relu(double x, double a, double b)
{
	(void)b;
	return x < 0 ? a * x : x;
}

static double
hyperbolic_tangent(double x, double a, double b)
{
	(void)a;
	(void)b;
	return tanh(x);
}

static double
sigmoid(double x, double a, double b)
{
	(void)a;
	(void)b;
	return 1 / (1 + exp(-x));
}

static double
clip(double x, double a, double b)
{
	return x < a ? a : x > b ? b : x;
}

static double
hard_sigmoid(double x, double a, double b)
{
	return clip(a * x + b, 0, 1);
}

static double
hard_swish(double x, double a, double b)
{
	return x * hard_sigmoid(x, a, b);
}

static double
elu(double x, double a, double b)
{
	(void)b;
	return x < 0 ? a * expm1(x) : x;
}

static double
selu(double x, double a, double b)
{
	return x > 0 ? b * x : b * a * expm1(x);
}

static double
softplus(double x, double a, double b)
{
	(void)a;
	(void)b;
	return x > 0 ? x + log1p(exp(-x)) : log1p(exp(x));
}

static double
softsign(double x, double a, double b)
{
	(void)a;
	(void)b;
	return x / (1 + fabs(x));
}

static double
thresholded_relu(double x, double a, double b)
{
	(void)b;
	return x > a ? x : 0;
}

/* By name; a and b are what they are where the node says nothing, which is
 * what the operators of the same names have. */
static const struct known {
	const char *name;
	struct sl__ending ending;
} all[] = {
	{"Relu", {relu, 0, 0}},
	{"LeakyRelu", {leaky_relu, 0.01, 0}},
	{"Tanh", {hyperbolic_tangent, 0, 0}},
	{"Sigmoid", {sigmoid, 0, 0}},
	{"Clip", {clip, -INFINITY, INFINITY}},
	{"HardSigmoid", {hard_sigmoid, 0.2, 0.5}},
	{"HardSwish", {hard_swish, 1.0 / 6, 0.5}},
	{"Elu", {elu, 1, 0}},
	{"Selu", {selu, 1.67326319217681884765625, 1.05070102214813232421875}},
	{"Softplus", {softplus, 0, 0}},
	{"Softsign", {softsign, 0, 0}},
	{"ThresholdedRelu", {thresholded_relu, 1, 0}},
};

static void
read_numbers(struct sl__ending *e, const struct sl__node *node)
{
	const struct sl__attribute *list =
		sl__attribute(node, "activation_params");

	e->a = sl__float(node, "activation_alpha", e->a);
	e->b = sl__float(node, "activation_beta", e->b);
	if (!list || list->kind != SL__ATTRIBUTE_FLOATS)
		return;
	if (list->n > 0)
		e->a = (double)list->floats[0];
	if (list->n > 1)
		e->b = (double)list->floats[1];
}

enum sl_status
sl__ending_read(struct sl__ending *out, const struct sl__node *node,
		struct sl_error *err)
{
	const char *word = sl__word(node, "activation", "");

	memset(out, 0, sizeof(*out));
	if (!*word || !strcmp(word, "none"))
		return SL_OK;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		if (strcmp(word, all[i].name))
			continue;
		*out = all[i].ending;
		read_numbers(out, node);
		return SL_OK;
	}
	return sl__fail(err, SL_E_ABSENT, "the activation '%.40s' is not known",
			word);
}

void
sl__ending_apply(const struct sl__ending *e, size_t n, double *x)
{
	for (size_t i = 0; e->apply && i < n; i++)
		x[i] = e->apply(x[i], e->a, e->b);
}
