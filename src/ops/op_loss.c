/* SPDX-License-Identifier: Apache-2.0 */
/*
 * op_loss.c - losses of a classifier: scores [N, C, d...] against the right
 * classes [N, d...], perhaps weighted.
 *
 * A target of ignore_index counts as nothing, whether or not it is a class.
 * The mean is over the weights of those that count, so of none it is NaN.
 */
#include "ops/cost.h"
#include "ops/gradient.h"
#include "ops/ref.h"
#include "ops/ref_softmax.h"

#include <math.h>
#include <string.h>

#include "base/banned.h"

static int
is_kept_apart(const struct sl__node *node)
{
	return !strcmp(sl__attribute_string(node, "reduction", "mean"), "none");
}

/* One number, or one for each class that was to be found; and, where asked
 * for, the logarithms of the probabilities. */
enum sl_status
sl__infer_loss(struct sl__rule_context *call)
{
	enum sl_dtype dtype = sl__in_dtype(call, 0);

	if (is_kept_apart(call->node))
		sl__out_set_like_input(call, 0, 1, dtype);
	else
		sl__out_set_shape(call, 0, dtype, 0, NULL);
	return sl__out_set_like_input(call, 1, 0, SL_DTYPE_NONE);
}

/* Each target takes one score with its sign changed, times its weight; a mean
 * divides by their number or by the sum of the weights. */
void
sl__cost_loss(struct sl__rule_context *call, struct sl_cost *cost)
{
	uint64_t n = sl__in_elements(call, 1);
	uint64_t n_joins = n ? n - 1 : 0;
	int is_weighted = sl__has_in(call, 2);
	int is_mean = !strcmp(
		sl__attribute_string(call->node, "reduction", "mean"), "mean");

	cost->work = SL_WORK_REDUCTION;
	sl__cost_add_operations(
		cost, n,
		SL__OPERATIONS_EACH(.mul = is_weighted ? 1 : 0, .add = 1));
	if (!is_kept_apart(call->node))
		sl__cost_add_operations(cost, n_joins,
					SL__OPERATIONS_EACH(.add = 1));
	if (is_mean) {
		cost->div = 1;
		sl__cost_add_operations(
			cost, n_joins,
			SL__OPERATIONS_EACH(.add = is_weighted ? 1 : 0));
	}
}

/* Along the classes x - m - log(sum(exp(x - m))), then the loss of that. */
void
sl__cost_softmax_loss(struct sl__rule_context *call, struct sl_cost *cost)
{
	uint64_t n = cost->in_elements, n_classes = sl__in_dim(call, 0, 1);

	sl__cost_loss(call, cost);
	cost->work = SL_WORK_SOFTMAX;
	sl__cost_add_operations(
		cost, n, SL__OPERATIONS_EACH(.cmp = 1, .exp = 1, .add = 3));
	sl__cost_add_operations(cost, n_classes ? n / n_classes : 0,
				SL__OPERATIONS_EACH(.exp = 1));
}

struct loss {
	int64_t n, classes, inner;
	const double *scores; /* logarithms of probabilities */
	const int64_t *targets;
	const double *weights; /* NULL: all 1 */
	int has_ignored;
	int64_t ignored;
	double *each; /* [n][inner] */
	double total, weight;
};

/* For scores of that type; targets are input 1, weights another. */
static enum sl_status
read_targets(struct loss *l, struct sl__kernel_call *ev,
	     const struct sl__tensor *x, size_t weights)
{
	const struct sl__tensor *t = sl__ref_input_tensor(ev, 1);
	const struct sl__tensor *w = sl__ref_input_tensor(ev, weights);
	int is_fit = x && t && x->rank >= 2 && t->rank + 1 == x->rank &&
		     t->dims[0] == x->dims[0];

	for (size_t d = 2; is_fit && d < x->rank; d++)
		is_fit = t->dims[d - 1] == x->dims[d];
	if (!is_fit)
		return sl__ref_reject(ev, "the targets do not fit the scores");
	l->n = x->dims[0];
	l->classes = x->dims[1];
	l->inner = l->n ? (int64_t)t->n_elements / l->n : 0;
	if (w && (w->rank != 1 || w->dims[0] != l->classes))
		return sl__ref_reject(ev, "not one weight for each class");
	l->targets = sl__ref_input_integers(ev, 1);
	l->weights = sl__ref_optional_doubles(ev, weights);
	l->has_ignored = sl__attribute_find(ev->node, "ignore_index") != NULL;
	l->ignored = sl__attribute_int(ev->node, "ignore_index", 0);
	return ev->failure;
}

static enum sl_status
read_loss(struct loss *l, struct sl__kernel_call *ev)
{
	if (read_targets(l, ev, sl__ref_input_tensor(ev, 0), 2))
		return ev->failure;
	l->scores = sl__ref_input_doubles(ev, 0);
	l->each = sl__ref_scratch_doubles(ev, l->n * l->inner);
	return ev->failure;
}

/* The weight of target i, 0 where it counts as nothing; SL_E_DATA where it is
 * no class. */
static enum sl_status
weigh(struct sl__kernel_call *ev, const struct loss *l, int64_t i,
      double *weight)
{
	int64_t class = l->targets[i];

	*weight = 0;
	if (l->has_ignored && class == l->ignored)
		return SL_OK;
	if (class < 0 || class >= l->classes)
		return sl__ref_reject(ev, "class %lld of %lld",
				      (long long)class, (long long)l->classes);
	*weight = l->weights ? l->weights[class] : 1;
	return SL_OK;
}

/* Where the score of a class lies for target i. */
static int64_t
score_place(const struct loss *l, int64_t i, int64_t class)
{
	return (i / l->inner * l->classes + class) * l->inner + i % l->inner;
}

static enum sl_status
add_up(struct sl__kernel_call *ev, struct loss *l)
{
	for (int64_t i = 0; i < l->n * l->inner; i++) {
		int is_ignored = l->has_ignored && l->targets[i] == l->ignored;
		double weight;

		if (weigh(ev, l, i, &weight))
			return ev->failure;
		if (is_ignored)
			continue;
		l->each[i] =
			-weight * l->scores[score_place(l, i, l->targets[i])];
		l->total += l->each[i];
		l->weight += weight;
	}
	return SL_OK;
}

static enum sl_status
store_loss(struct loss *l, struct sl__kernel_call *ev)
{
	int how = sl__ref_attribute_choice(
		ev, "reduction",
		(const char *const[]){"mean", "none", "sum", NULL});

	if (ev->failure || add_up(ev, l))
		return ev->failure;
	if (how == 0)
		l->total /= l->weight;
	return sl__ref_output_store_doubles(ev, 0,
					    how == 1 ? l->each : &l->total);
}

enum sl_status
sl__ref_nll_loss(struct sl__kernel_call *ev)
{
	struct loss l = {0};

	return read_loss(&l, ev) ? ev->failure : store_loss(&l, ev);
}

enum sl_status
sl__ref_softmax_loss(struct sl__kernel_call *ev)
{
	struct loss l = {0};
	double *logs;

	if (read_loss(&l, ev))
		return ev->failure;
	logs = sl__ref_scratch_doubles(
		ev, (int64_t)sl__ref_input_tensor(ev, 0)->n_elements);
	for (int64_t i = 0; logs && i < l.n * l.inner; i++) {
		int64_t at = i / l.inner * l.classes * l.inner + i % l.inner;

		sl__log_softmax_line(l.scores + at, logs + at, l.classes,
				     l.inner);
	}
	l.scores = logs;
	if (sl__ref_output_store_doubles(ev, 1, logs))
		return ev->failure;
	return store_loss(&l, ev);
}

/* The gradient of the scores by that of the loss, and by the logarithms of the
 * probabilities where those follow from the scores by softmax. */
static void
add_grad(struct sl__gradient *g, enum sl__op_id op, uint32_t logs)
{
	struct sl__type x = sl__node_writer_type(g->w, g->node.inputs[0]);
	uint32_t inputs[] = {g->dy[0], g->node.inputs[1], logs,
			     sl__gradient_input(g, 2)};

	sl__node_writer_copy_attributes(g->w, &g->node);
	sl__node_writer_set_ints(g->w, "shape", x.dims, (size_t)x.rank);
	g->dx[0] = sl__node_writer_add(g->w, op, inputs, 4);
}

void
sl__grad_nll_loss(struct sl__gradient *g)
{
	add_grad(g, SL__OP_SLEUTH_NllLossGrad, SL__NONE);
}

void
sl__grad_softmax_loss(struct sl__gradient *g)
{
	if (g->node.n_outputs > 1 && g->dy[1] != SL__NONE)
		sl__gradient_reject(g, "there is no gradient by its second "
				       "output");
	else if (g->dy[0] != SL__NONE)
		add_grad(g, SL__OP_SLEUTH_SoftmaxLossGrad,
			 sl__node_writer_output(g->w, g->id, 1));
}

enum sl_status
sl__infer_loss_grad(struct sl__rule_context *call)
{
	const int64_t *dims;
	size_t rank = sl__attribute_ints(call->node, "shape", &dims);

	return sl__out_set_shape(call, 0, sl__in_dtype(call, 0), (int)rank,
				 dims);
}

/* One subtraction for each target; of a softmax, the probabilities scaled. */
void
sl__cost_loss_grad(struct sl__rule_context *call, struct sl_cost *cost)
{
	cost->work = SL_WORK_SOFTMAX;
	cost->add = sl__in_elements(call, 1);
	if (sl__has_in(call, 2))
		sl__cost_add_operations(
			cost, cost->out_elements,
			SL__OPERATIONS_EACH(.exp = 1, .mul = 1));
}

/* With scale the gradient of the sum of losses: dx of the scores of target i
 * is weight scale (p - 1 at its class). */
static void
store_row(const struct loss *l, double *dx, int64_t i, double factor)
{
	for (int64_t c = 0; l->scores && c < l->classes; c++) {
		int64_t at = score_place(l, i, c);

		dx[at] = factor * exp(l->scores[at]);
	}
	if (factor < 0 || factor > 0)
		dx[score_place(l, i, l->targets[i])] -= factor;
}

enum sl_status
sl__ref_loss_grad(struct sl__kernel_call *ev)
{
	int how = sl__ref_attribute_choice(
		ev, "reduction",
		(const char *const[]){"mean", "none", "sum", NULL});
	const double *dy = sl__ref_input_doubles(ev, 0);
	double *dx = sl__ref_scratch_output(ev, 0), weight;
	struct loss l = {0};

	l.scores = sl__ref_optional_doubles(ev, 2);
	if (ev->failure ||
	    read_targets(&l, ev, &sl__ref_output(ev, 0)->tensor, 3))
		return ev->failure;
	for (int64_t i = 0; i < l.n * l.inner; i++) {
		if (weigh(ev, &l, i, &weight))
			return ev->failure;
		l.weight += weight;
	}
	for (int64_t i = 0; i < l.n * l.inner; i++) {
		double scale = how == 1   ? dy[i]
			       : how == 0 ? *dy / l.weight
					  : *dy;

		if (!weigh(ev, &l, i, &weight))
			store_row(&l, dx, i, l.weight > 0 ? weight * scale : 0);
	}
	return sl__ref_output_store_doubles(ev, 0, dx);
}
