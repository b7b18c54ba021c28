/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ref_training.c - one step of an optimizer, over any number of tensors.
 *
 * Inputs are the rate, the count of steps before this one, then groups of n
 * tensors each: the values, their gradients, and one or two groups of state.
 * Outputs are the groups but for the gradients, renewed.
 */
#include "base/status.h"
#include "graph/op_rules.h"
#include "ops/ref.h"

#include <math.h>
#include <string.h>

#include "base/banned.h"

enum { FIRST = 2 }; /* after the rate and the count */

/* One tensor's step: x and its states are renewed in place. */
struct step {
	const struct sl__node *node;
	double rate, count, norm;
	size_t n;
	double *x, *state[2];
	const double *gradient;
};

typedef void step_function(const struct step *s);

/* The regularized gradient of element i. */
static double
slope(const struct step *s, size_t i)
{
	return s->norm * s->x[i] + s->gradient[i];
}

static void
step_adagrad(const struct step *s)
{
	double decay = sl__float(s->node, "decay_factor", 0);
	double epsilon = sl__float(s->node, "epsilon", (double)1e-6F);
	double rate = s->rate / (1 + s->count * decay);

	for (size_t i = 0; i < s->n; i++) {
		double g = slope(s, i);

		s->state[0][i] += g * g;
		s->x[i] -= rate * g / (sqrt(s->state[0][i]) + epsilon);
	}
}

static void
step_adam(const struct step *s)
{
	double alpha = sl__float(s->node, "alpha", (double)0.9F);
	double beta = sl__float(s->node, "beta", (double)0.999F);
	double epsilon = sl__float(s->node, "epsilon", (double)1e-6F);
	double after = 1 - sl__float(s->node, "norm_coefficient_post", 0);
	double rate = s->rate;

	if (s->count > 0)
		rate *= sqrt(1 - pow(beta, s->count)) /
			(1 - pow(alpha, s->count));
	for (size_t i = 0; i < s->n; i++) {
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
	double alpha = sl__float(s->node, "alpha", 0);
	double beta = s->count > 0 ? sl__float(s->node, "beta", 1) : 1;
	int is_nesterov = sl__word(s->node, "mode", "")[0] == 'n';

	for (size_t i = 0; i < s->n; i++) {
		double g = slope(s, i);
		double *v = &s->state[0][i];

		*v = alpha * *v + beta * g;
		s->x[i] -= s->rate * (is_nesterov ? g + alpha * *v : *v);
	}
}

/* A copy of input i that may be written, as many numbers as s->n. */
static enum sl_status
read_copy(double **out, const struct step *s, struct sl__eval *ev, size_t i,
	  struct sl_error *err)
{
	const struct sl__tensor *t = sl__ref_tensor(ev, i);
	const double *from;

	if (!t || t->n_elements != s->n)
		return sl__refuse(err, "input %zu does not fit its values", i);
	from = sl__ref_doubles(ev, i, err);
	if (!from)
		return sl__ref_failure(ev);
	*out = sl__ref_new(ev, s->n, sizeof(**out));
	if (!*out)
		return sl__fail_nomem(err);
	memcpy(*out, from, s->n * sizeof(**out));
	return SL_OK;
}

/* Tensor k of each of the n in a group. */
static enum sl_status
run_step(struct step *s, struct sl__eval *ev, size_t k, size_t n,
	 step_function *function, struct sl_error *err)
{
	size_t n_states = n ? (ev->node->n_inputs - FIRST) / n - 2 : 0;
	const struct sl__tensor *x = sl__ref_tensor(ev, FIRST + k);
	double *gradient;
	enum sl_status rc;

	s->n = x ? (size_t)x->n_elements : 0;
	rc = read_copy(&s->x, s, ev, FIRST + k, err);
	if (!rc)
		rc = read_copy(&gradient, s, ev, FIRST + n + k, err);
	for (size_t i = 0; !rc && i < n_states; i++)
		rc = read_copy(&s->state[i], s, ev, FIRST + (2 + i) * n + k,
			       err);
	if (rc)
		return rc;
	s->gradient = gradient;
	function(s);
	sl__ref_store_doubles(ev, k, s->x);
	for (size_t i = 0; i < n_states; i++)
		sl__ref_store_doubles(ev, (1 + i) * n + k, s->state[i]);
	return SL_OK;
}

/* Inference has checked that the inputs are whole groups. */
static enum sl_status
run_steps(struct sl__eval *ev, size_t n_groups, step_function *function,
	  struct sl_error *err)
{
	size_t n = (ev->node->n_inputs - FIRST) / n_groups;
	struct step s = {
		.node = ev->node,
		.rate = sl__ref_number(ev, 0, 0),
		.count = sl__ref_number(ev, 1, 0),
		.norm = sl__float(ev->node, "norm_coefficient", 0),
	};
	enum sl_status rc = SL_OK;

	for (size_t k = 0; !rc && k < n; k++)
		rc = run_step(&s, ev, k, n, function, err);
	return rc;
}

enum sl_status
sl__ref_adagrad(struct sl__eval *ev, struct sl_error *err)
{
	return run_steps(ev, 3, step_adagrad, err);
}

enum sl_status
sl__ref_adam(struct sl__eval *ev, struct sl_error *err)
{
	return run_steps(ev, 4, step_adam, err);
}

enum sl_status
sl__ref_momentum(struct sl__eval *ev, struct sl_error *err)
{
	return run_steps(ev, 3, step_momentum, err);
}
