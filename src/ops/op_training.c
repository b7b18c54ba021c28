/* SPDX-License-Identifier: Apache-2.0 */
/*
 * op_training.c - one step of an optimizer, over any number of tensors.
 *
 * Those of ONNX first.  Inputs are the rate, the count of steps, then groups of n tensors each: the
 * values X, their gradients G, and one or two groups of state.  Outputs are
 * the groups but for the gradients, renewed.
 */
#include "ops/cost.h"
#include "ops/ref.h"

#include <math.h>
#include <string.h>

#include "base/banned.h"

enum { FIRST = 2 }; /* after the rate and the count */

/* Groups of inputs: values, gradients, states. */
static size_t
n_groups(const struct sl__node *node)
{
	return sl__is_op(node, SL__OP_PREVIEW_Adam) ? 4 : 3;
}

static size_t
group_size(const struct sl__node *node)
{
	return node->n_inputs < FIRST
		       ? 0
		       : (node->n_inputs - FIRST) / n_groups(node);
}

enum sl_status
sl__infer_optimizer(struct sl__rule_context *call)
{
	size_t n = group_size(call->node);

	if (n * n_groups(call->node) + FIRST != call->node->n_inputs)
		return sl__rule_reject(
			call,
			"%u inputs are not 2 and groups of the same "
			"size",
			call->node->n_inputs);
	for (size_t k = 0; k < call->node->n_outputs; k++)
		sl__out_set_like_input(call, k, FIRST + (k < n ? k : k + n),
				       SL_DTYPE_NONE);
	return call->failure;
}

/* A derivative by each of the first inputs, of its shape. */
enum sl_status
sl__infer_gradient(struct sl__rule_context *call)
{

	for (size_t k = 0; k < call->node->n_outputs; k++)
		sl__out_set_like_input(call, k, k, SL_DTYPE_NONE);
	return call->failure;
}

static uint64_t
n_elements(struct sl__rule_context *call)
{
	uint64_t n = 0;

	for (size_t i = 0; i < group_size(call->node); i++)
		n = sl__saturating_add(n, sl__in_elements(call, FIRST + i));
	return n;
}

/*
 * Per element, what a step does once for all left aside:
 *   all       g = G + norm X
 *   Momentum  V = a V + b g; X -= r V, or r (g + a V) after Nesterov
 *   Adagrad   H += g g; X -= r g / (sqrt(H) + e)
 *   Adam      V = a V + (1 - a) g; H = b H + (1 - b) g g;
 *             X -= r V / (sqrt(H) + e)
 */
void
sl__cost_optimizer(struct sl__rule_context *call, struct sl_cost *cost)
{
	const struct sl__node *node = call->node;
	int is_nesterov = sl__attribute_string(node, "mode", "")[0] == 'n';
	struct sl__operations_each each = {
		.mul = 4, .fma = 3, .add = 2, .div = 1, .exp = 1};

	if (sl__is_op(node, SL__OP_PREVIEW_Momentum))
		each = SL__OPERATIONS_EACH(.mul = 1,
					   .fma = is_nesterov ? 4 : 3);
	else if (sl__is_op(node, SL__OP_PREVIEW_Adagrad))
		each = SL__OPERATIONS_EACH(.mul = 1, .fma = 2, .add = 2,
					   .div = 1, .exp = 1);
	cost->in_elements = n_elements(call);
	sl__cost_add_operations(cost, cost->in_elements, each);
}

/* One tensor's step: x and its states are renewed in place. */
struct step {
	const struct sl__node *node;
	double rate, count, norm;
	int64_t n;
	double *x, *state[2];
	const double *gradient;
};

typedef void step_function(const struct step *s);

/* The regularized gradient of element i. */
static double
slope(const struct step *s, int64_t i)
{
	return s->norm * s->x[i] + s->gradient[i];
}

static void
step_adagrad(const struct step *s)
{
	double decay = sl__attribute_float(s->node, "decay_factor", 0);
	double epsilon = sl__attribute_float(s->node, "epsilon", (double)1e-6F);
	double rate = s->rate / (1 + s->count * decay);

	for (int64_t i = 0; i < s->n; i++) {
		double g = slope(s, i);

		s->state[0][i] += g * g;
		s->x[i] -= rate * g / (sqrt(s->state[0][i]) + epsilon);
	}
}

static void
step_adam(const struct step *s)
{
	double alpha = sl__attribute_float(s->node, "alpha", (double)0.9F);
	double beta = sl__attribute_float(s->node, "beta", (double)0.999F);
	double epsilon = sl__attribute_float(s->node, "epsilon", (double)1e-6F);
	double after =
		1 - sl__attribute_float(s->node, "norm_coefficient_post", 0);
	double rate = s->rate;

	if (s->count > 0)
		rate *= sqrt(1 - pow(beta, s->count)) /
			(1 - pow(alpha, s->count));
	for (int64_t i = 0; i < s->n; i++) {
		double g = slope(s, i);
		double *v = &s->state[0][i], *h = &s->state[1][i];

		*v = alpha * *v + (1 - alpha) * g;
		*h = beta * *h + (1 - beta) * g * g;
		s->x[i] = after * (s->x[i] - rate * *v / (sqrt(*h) + epsilon));
	}
}

/* The first step takes the gradient as it is. */
static void
step_momentum(const struct step *s)
{
	double alpha = sl__attribute_float(s->node, "alpha", 0);
	double beta = s->count > 0 ? sl__attribute_float(s->node, "beta", 1)
				   : 1;
	int is_nesterov = sl__attribute_string(s->node, "mode", "")[0] == 'n';

	for (int64_t i = 0; i < s->n; i++) {
		double g = slope(s, i);
		double *v = &s->state[0][i];

		*v = alpha * *v + beta * g;
		s->x[i] -= s->rate * (is_nesterov ? g + alpha * *v : *v);
	}
}

/* A copy of input i that may be written, as many numbers as s->n. */
static double *
read_copy(const struct step *s, struct sl__kernel_call *ev, size_t i)
{
	const struct sl__tensor *t = sl__ref_input_tensor(ev, i);
	const double *from = sl__ref_input_doubles(ev, i);
	double *made = sl__ref_scratch_doubles(ev, s->n);

	if (t && t->n_elements != (uint64_t)s->n)
		sl__ref_reject(ev, "input %zu does not fit its values", i);
	if (!ev->failure)
		memcpy(made, from, (size_t)s->n * sizeof(*made));
	return made;
}

/* Tensor k of each of the n in a group. */
static void
run_step(struct step *s, struct sl__kernel_call *ev, size_t k, size_t n,
	 step_function *function)
{
	size_t n_states = n_groups(ev->node) - 2;
	const struct sl__tensor *x = sl__ref_input_tensor(ev, FIRST + k);

	s->n = x ? (int64_t)x->n_elements : 0;
	s->x = read_copy(s, ev, FIRST + k);
	s->gradient = read_copy(s, ev, FIRST + n + k);
	for (size_t i = 0; i < n_states; i++)
		s->state[i] = read_copy(s, ev, FIRST + (2 + i) * n + k);
	if (ev->failure)
		return;
	function(s);
	sl__ref_output_store_doubles(ev, k, s->x);
	for (size_t i = 0; i < n_states; i++)
		sl__ref_output_store_doubles(ev, (1 + i) * n + k, s->state[i]);
}

/* Inference has checked that the inputs are whole groups. */
enum sl_status
sl__ref_optimizer(struct sl__kernel_call *ev)
{
	step_function *function =
		sl__is_op(ev->node, SL__OP_PREVIEW_Adam)      ? step_adam
		: sl__is_op(ev->node, SL__OP_PREVIEW_Adagrad) ? step_adagrad
							      : step_momentum;
	size_t n = group_size(ev->node);
	struct step s = {
		.node = ev->node,
		.rate = sl__ref_input_scalar(ev, 0, 0),
		.count = sl__ref_input_scalar(ev, 1, 0),
		.norm = sl__attribute_float(ev->node, "norm_coefficient", 0),
	};

	for (size_t k = 0; !ev->failure && k < n; k++)
		run_step(&s, ev, k, n, function);
	return ev->failure;
}

/*
 * Those of a training step here renew one tensor, by the formulas of PyTorch,
 * which differ from ONNX's in where epsilon stands:
 *
 *	Sgd(rate, x, g, scale, v)              x, v
 *	Adam(rate, count, x, g, v, h, scale)   x, v, h
 *
 * 'scale' is what all gradients are multiplied by (ClipScale), or left out;
 * so is v without momentum.  count is 1 in the first step.
 */
static void
copy_types(struct sl__rule_context *call, const size_t *like, size_t n)
{
	for (size_t k = 0; k < n; k++)
		sl__out_set_like_input(call, k, like[k], SL_DTYPE_NONE);
}

enum sl_status
sl__infer_update(struct sl__rule_context *call)
{
	static const size_t sgd[] = {1, 4}, adam[] = {2, 4, 5};

	if (sl__is_op(call->node, SL__OP_SLEUTH_Sgd))
		copy_types(call, sgd, sl__has_in(call, 4) ? 2 : 1);
	else
		copy_types(call, adam, 3);
	return call->failure;
}

void
sl__cost_update(struct sl__rule_context *call, struct sl_cost *cost)
{
	int is_sgd = sl__is_op(call->node, SL__OP_SLEUTH_Sgd);
	int has_momentum = is_sgd && sl__has_in(call, 4);
	int has_scale = sl__has_in(call, is_sgd ? 3 : 6);
	int has_decay = sl__attribute_float(call->node, "weight_decay", 0) > 0;
	uint64_t n = sl__in_elements(call, is_sgd ? 1 : 2);

	sl__cost_add_operations(
		cost, n,
		is_sgd ? SL__OPERATIONS_EACH(.fma = has_momentum ? 2 : 1)
		       : SL__OPERATIONS_EACH(.mul = 3, .fma = 3, .add = 1,
					     .div = 1, .exp = 1));
	sl__cost_add_operations(
		cost, n,
		SL__OPERATIONS_EACH(.mul = (uint64_t)has_scale,
				    .fma = (uint64_t)has_decay));
}

static void
step_sgd(const struct step *s, double *v)
{
	double momentum = sl__attribute_float(s->node, "momentum", 0);
	int is_nesterov = sl__attribute_int(s->node, "nesterov", 0) != 0;

	for (int64_t i = 0; i < s->n; i++) {
		double g = slope(s, i), d = g;

		if (v) {
			v[i] = momentum * v[i] + g;
			d = is_nesterov ? g + momentum * v[i] : v[i];
		}
		s->x[i] -= s->rate * d;
	}
}

/* Decoupled decay (AdamW) shrinks x and leaves the gradient alone. */
static void
step_torch_adam(struct step *s)
{
	double a = sl__attribute_float(s->node, "beta1", (double)0.9F);
	double b = sl__attribute_float(s->node, "beta2", (double)0.999F);
	double epsilon = sl__attribute_float(s->node, "epsilon", (double)1e-8F);
	double rate = s->rate / (1 - pow(a, s->count));
	double root = sqrt(1 - pow(b, s->count));
	double keep = 1;

	if (sl__attribute_int(s->node, "decoupled", 0)) {
		keep = 1 - s->rate * s->norm;
		s->norm = 0;
	}
	for (int64_t i = 0; i < s->n; i++) {
		double g = slope(s, i);
		double *v = &s->state[0][i], *h = &s->state[1][i];

		*v = a * *v + (1 - a) * g;
		*h = b * *h + (1 - b) * g * g;
		s->x[i] = keep * s->x[i] -
			  rate * *v / (sqrt(*h) / root + epsilon);
	}
}

enum sl_status
sl__ref_update(struct sl__kernel_call *ev)
{
	int is_sgd = sl__is_op(ev->node, SL__OP_SLEUTH_Sgd);
	size_t x = is_sgd ? 1 : 2;
	const struct sl__tensor *t = sl__ref_input_tensor(ev, x);
	double scale = sl__ref_input_scalar(ev, is_sgd ? 3 : 6, 1);
	struct step s = {
		.node = ev->node,
		.rate = sl__ref_input_scalar(ev, 0, 0),
		.count = is_sgd ? 1 : sl__ref_input_scalar(ev, 1, 1),
		.norm = sl__attribute_float(ev->node, "weight_decay", 0),
		.n = t ? (int64_t)t->n_elements : 0,
	};
	double *g = read_copy(&s, ev, x + 1);

	s.x = read_copy(&s, ev, x);
	s.gradient = g;
	for (size_t i = 0; i < (is_sgd ? 1 : 2); i++)
		s.state[i] = sl__ref_input(ev, 4 + i) ? read_copy(&s, ev, 4 + i)
						      : NULL;
	if (ev->failure)
		return ev->failure;
	for (int64_t i = 0; i < s.n; i++)
		g[i] *= scale;
	if (is_sgd)
		step_sgd(&s, s.state[0]);
	else
		step_torch_adam(&s);
	sl__ref_output_store_doubles(ev, 0, s.x);
	for (size_t i = 0; i < 2 && s.state[i]; i++)
		sl__ref_output_store_doubles(ev, 1 + i, s.state[i]);
	return ev->failure;
}

enum sl_status
sl__infer_clip_scale(struct sl__rule_context *call)
{
	return sl__out_set_shape(call, 0, sl__in_dtype(call, 0), 0, NULL);
}

void
sl__cost_clip_scale(struct sl__rule_context *call, struct sl_cost *cost)
{
	(void)call;
	cost->work = SL_WORK_REDUCTION;
	cost->fma = cost->in_elements;
	cost->exp = cost->div = cost->cmp = 1;
}

/* What gradients are multiplied by so that their norm, all together, is at most
 * max_norm; the 1e-6 is PyTorch's (clip_grad_norm_). */
enum sl_status
sl__ref_clip_scale(struct sl__kernel_call *ev)
{
	double most = sl__attribute_float(ev->node, "max_norm", 1);
	double sum = 0, scale;

	for (size_t i = 0; i < ev->node->n_inputs; i++) {
		const struct sl__tensor *t = sl__ref_input_tensor(ev, i);
		const double *g = sl__ref_input_doubles(ev, i);

		for (uint64_t k = 0; !ev->failure && k < t->n_elements; k++)
			sum += g[k] * g[k];
	}
	scale = most / (sqrt(sum) + 1e-6);
	/* What is not a number stays so. */
	scale = scale > 1 ? 1 : scale;
	return sl__ref_output_store_doubles(ev, 0, &scale);
}
