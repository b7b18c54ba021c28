/* SPDX-License-Identifier: Apache-2.0 */
/*
 * native_loss.c - cross-entropy of scores [n][classes] in f32, and its
 * gradient: SoftmaxCrossEntropyLoss and SoftmaxLossGrad without weights of
 * classes, summed up or averaged.
 */
#include "base/status.h"
#include "compute/vector_math.h"
#include "compute/vector_rows.h"
#include "engine/node_steps.h"

#include <math.h>
#include <string.h>

#include "base/banned.h"

struct loss {
	int64_t n, classes, ignored;
	int has_ignored, is_mean;
	void (*row)(const float *x, float *y, int64_t n, float by);
	unsigned char **at; /* scores, targets, logs, loss; or dloss, targets,
			       logs, dx */
};

SL__ROW(largest, -INFINITY, x, sl__max(a, b))
SL__ROW(sum_of_exp, 0, sl__exp(x - knob), a + b)

SL__INLINE void
logs_body(const float *x, float *y, int64_t n, float by)
{
	float most = largest(x, n, 0);
	float shift = most + sl__log(sum_of_exp(x, n, most));

	(void)by;
	SL__EACH_ALONE
	for (int64_t i = 0; i < n; i++)
		y[i] = x[i] - shift;
}
SL__VECTOR_TARGETS(logs, logs_body,
		   (const float *x, float *y, int64_t n, float by),
		   (x, y, n, by))

SL__INLINE void
powers_body(const float *x, float *y, int64_t n, float by)
{
	SL__EACH_ALONE
	for (int64_t i = 0; i < n; i++)
		y[i] = sl__exp(x[i]) * by;
}
SL__VECTOR_TARGETS(powers, powers_body,
		   (const float *x, float *y, int64_t n, float by),
		   (x, y, n, by))

static const int64_t *
targets_of(const struct loss *l)
{
	return (const int64_t *)(void *)l->at[1];
}

static int
counts(const struct loss *l, int64_t class)
{
	return !l->has_ignored || class != l->ignored;
}

static void
run_logs(int rank, int n_ranks, void *ctx)
{
	const struct loss *l = ctx;
	const float *x = (const float *)(void *)l->at[0];
	float *logs = (float *)(void *)l->at[2];
	int64_t first, end;

	sl__parallel_range(l->n, rank, n_ranks, &first, &end);
	for (int64_t i = first; i < end; i++)
		l->row(x + i * l->classes, logs + i * l->classes, l->classes,
		       0);
}

static enum sl_status
sum_up(struct sl__step *step, struct sl_error *err)
{
	struct loss *l = step->state;
	const float *logs;
	double sum = 0, n = 0;

	l->at = step->at;
	logs = (const float *)(void *)l->at[2];
	for (int64_t i = 0; i < l->n; i++) {
		int64_t class = targets_of(l)[i];

		if (!counts(l, class))
			continue;
		if (class < 0 || class >= l->classes)
			return sl__fail(err, SL_E_DATA,
					"node '%.200s' "
					"(SoftmaxCrossEntropyLoss): class %lld "
					"of %lld",
					step->name, (long long)class,
					(long long)l->classes);
		sum -= (double)logs[i * l->classes + class];
		n++;
	}
	*(float *)(void *)l->at[3] = (float)(l->is_mean ? sum / n : sum);
	return SL_OK;
}

/* The loss has refused targets that are no classes. */
static void
run_grad(int rank, int n_ranks, void *ctx)
{
	const struct loss *l = ctx;
	const float *logs = (const float *)(void *)l->at[2];
	float *dx = (float *)(void *)l->at[3];
	float scale = *(const float *)(void *)l->at[0];
	int64_t first, end, n = 0;

	for (int64_t i = 0; i < l->n; i++)
		n += counts(l, targets_of(l)[i]);
	if (l->is_mean)
		scale /= (float)n;
	sl__parallel_range(l->n, rank, n_ranks, &first, &end);
	for (int64_t i = first; i < end; i++) {
		int64_t class = targets_of(l)[i], at = i * l->classes;

		if (!counts(l, class)) {
			memset(dx + at, 0, (size_t)l->classes * sizeof(*dx));
			continue;
		}
		l->row(logs + at, dx + at, l->classes, scale);
		if (class >= 0 && class < l->classes)
			dx[at + class] -= scale;
	}
}

/* 'scores' is the type of the scores or of their gradient. */
static int
read_loss(struct loss *l, const struct sl__planner *pl,
	  const struct sl__node *node, const struct sl__type *scores)
{
	const char *how = sl__attribute_string(node, "reduction", "mean");
	const struct sl__attribute *ignored =
		sl__attribute_find(node, "ignore_index");

	l->is_mean = !strcmp(how, "mean");
	l->has_ignored = ignored != NULL;
	l->ignored = sl__attribute_int(node, "ignore_index", 0);
	if (scores->rank != 2 || scores->dtype != SL_DTYPE_F32 ||
	    !scores->dims[0] || !scores->dims[1] ||
	    sl__plan_node_input_type(pl, node, 1)->dtype != SL_DTYPE_I64 ||
	    (!l->is_mean && strcmp(how, "sum") != 0))
		return 0;
	l->n = scores->dims[0];
	l->classes = scores->dims[1];
	return 1;
}

int
sl__make_cross_entropy(struct sl__planner *pl, const struct sl__node *node)
{
	const struct sl__type *x = sl__plan_node_input_type(pl, node, 0);
	struct loss *l = sl__plan_alloc_state(pl, 2 * sizeof(*l));
	uint32_t at[4], logs = sl__plan_node_output(node, 1);

	if (!l || sl__plan_node_input(node, 2) != SL__NONE ||
	    sl__plan_node_output(node, 0) == SL__NONE ||
	    !read_loss(l, pl, node, x))
		return 0;
	l->row = logs_for();
	l[1] = *l;
	at[0] = sl__plan_input_buffer(pl, node->inputs[0], NULL);
	at[1] = sl__plan_input_buffer(pl, node->inputs[1], NULL);
	at[2] = logs == SL__NONE
			? sl__plan_workspace(
				  pl, sl__plan_value_bytes(pl, node->inputs[0]))
			: sl__plan_output_buffer(pl, logs, NULL);
	l->at = sl__plan_add_parallel_step(pl, at, 3, "cross_entropy", run_logs,
					   l)
			->at;
	at[3] = sl__plan_output_buffer(pl, node->outputs[0], NULL);
	sl__plan_add_step(pl, at, 4, "cross_entropy_sum", sum_up, l + 1);
	return 1;
}

int
sl__make_cross_entropy_grad(struct sl__planner *pl, const struct sl__node *node)
{
	const struct sl__type *dx = sl__plan_node_output_type(pl, node, 0);
	struct loss *l = sl__plan_alloc_state(pl, sizeof(*l));
	uint32_t at[4];

	if (!l || sl__plan_node_input(node, 3) != SL__NONE ||
	    !read_loss(l, pl, node, dx))
		return 0;
	l->row = powers_for();
	for (uint32_t i = 0; i < 3; i++)
		at[i] = sl__plan_input_buffer(pl, node->inputs[i], NULL);
	at[3] = sl__plan_output_buffer(pl, node->outputs[0], NULL);
	l->at = sl__plan_add_parallel_step(pl, at, 4, "cross_entropy_grad",
					   run_grad, l)
			->at;
	return 1;
}
