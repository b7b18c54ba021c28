/* SPDX-License-Identifier: Apache-2.0 */
/*
 * op_loss.c - losses of a classifier: scores [N, C, d...] against the right
 * classes [N, d...], perhaps weighted.
 *
 * A target of ignore_index counts as nothing, whether or not it is a class.
 * The mean is over the weights of those that count, so of none it is NaN.
 */
#include "ops/cost.h"
#include "ops/ref.h"
#include "ops/ref_softmax.h"

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

static enum sl_status
read_loss(struct loss *l, struct sl__kernel_call *ev)
{
	const struct sl__tensor *x = sl__ref_input_tensor(ev, 0);
	const struct sl__tensor *t = sl__ref_input_tensor(ev, 1);
	const struct sl__tensor *w = sl__ref_input_tensor(ev, 2);
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
	l->scores = sl__ref_input_doubles(ev, 0);
	l->targets = sl__ref_input_integers(ev, 1);
	l->weights = sl__ref_optional_doubles(ev, 2);
	l->each = sl__ref_scratch_doubles(ev, l->n * l->inner);
	l->has_ignored = sl__attribute_find(ev->node, "ignore_index") != NULL;
	l->ignored = sl__attribute_int(ev->node, "ignore_index", 0);
	return ev->failure;
}

static enum sl_status
add_up(struct sl__kernel_call *ev, struct loss *l)
{
	for (int64_t i = 0; i < l->n * l->inner; i++) {
		int64_t class = l->targets[i], row = i / l->inner;
		double weight;

		if (l->has_ignored && class == l->ignored)
			continue;
		if (class < 0 || class >= l->classes)
			return sl__ref_reject(ev, "class %lld of %lld",
					      (long long)class,
					      (long long)l->classes);
		weight = l->weights ? l->weights[class] : 1;
		l->each[i] = -weight *
			     l->scores[(row * l->classes + class) * l->inner +
				       i % l->inner];
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
