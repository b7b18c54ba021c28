/* SPDX-License-Identifier: Apache-2.0 */
/*
 * native_batch_norm.c - BatchNormalization in training: by the statistics of
 * the batch, which are handed out, and mixed into the running ones.  A thread
 * has whole channels.
 */
#include "compute/vector_rows.h"
#include "engine/node_steps.h"

#include <math.h>

#include "base/banned.h"

struct norm {
	int64_t batch, channels, span;
	float epsilon, momentum;
	int outputs[5];     /* operands: y, running and own mean and variance */
	unsigned char **at; /* x, scale, bias, mean, variance, ... */
	void (*channel)(const struct norm *n, int64_t c);
};

SL__ROW(sum_of, 0, x, a + b)
SL__ROW(squares_of, 0, (x - knob) * (x - knob), a + b)

static float *
at(const struct norm *n, int i)
{
	return i < 0 ? NULL : (float *)(void *)n->at[i];
}

/* Output k of a channel, where it is asked for. */
SL__INLINE void
store(const struct norm *n, int k, int64_t c, float value)
{
	float *to = at(n, n->outputs[k]);

	if (to)
		to[c] = value;
}

SL__INLINE void
channel_body(const struct norm *n, int64_t c)
{
	const float *x = at(n, 0);
	float *y = at(n, n->outputs[0]);
	float count = (float)(n->batch * n->span), keep = n->momentum;
	float mean = 0, variance = 0, factor, shift;

	for (int64_t i = 0; i < n->batch; i++)
		mean += sum_of(x + (i * n->channels + c) * n->span, n->span, 0);
	mean /= count;
	for (int64_t i = 0; i < n->batch; i++)
		variance += squares_of(x + (i * n->channels + c) * n->span,
				       n->span, mean);
	variance /= count;
	store(n, 1, c, at(n, 3)[c] * keep + mean * (1 - keep));
	store(n, 2, c, at(n, 4)[c] * keep + variance * (1 - keep));
	store(n, 3, c, mean);
	store(n, 4, c, variance);
	factor = at(n, 1)[c] / sqrtf(variance + n->epsilon);
	shift = at(n, 2)[c] - mean * factor;
	for (int64_t i = 0; y && i < n->batch; i++) {
		int64_t from = (i * n->channels + c) * n->span;

		SL__EACH_ALONE
		for (int64_t k = from; k < from + n->span; k++)
			y[k] = x[k] * factor + shift;
	}
}
SL__VECTOR_TARGETS(channel, channel_body, (const struct norm *n, int64_t c),
		   (n, c))

static void
run_part(int rank, int n_ranks, void *ctx)
{
	const struct norm *n = ctx;
	int64_t first, end;

	sl__parallel_range(n->channels, rank, n_ranks, &first, &end);
	for (int64_t c = first; c < end; c++)
		n->channel(n, c);
}

int
sl__make_batch_norm_training(struct sl__planner *pl,
			     const struct sl__node *node)
{
	const struct sl__type *x = sl__plan_node_input_type(pl, node, 0);
	struct norm *n = sl__plan_alloc_state(pl, sizeof(*n));
	uint32_t operands[10], n_operands = 5;

	if (!n || node->version < 14 || x->rank < 2 ||
	    !sl__attribute_int(node, "training_mode", 0) ||
	    !sl__plan_value_n_elements(pl, node->inputs[0]))
		return 0;
	for (size_t i = 0; i < 5; i++) {
		if (sl__plan_node_input_type(pl, node, i)->dtype !=
		    SL_DTYPE_F32)
			return 0;
	}
	n->batch = x->dims[0];
	n->channels = x->dims[1];
	n->span = sl__sizes_product(x, 2, x->rank);
	n->epsilon = (float)sl__attribute_float(node, "epsilon", 1e-5);
	n->momentum = (float)sl__attribute_float(node, "momentum", 0.9);
	n->channel = channel_for();
	for (uint32_t i = 0; i < 5; i++)
		operands[i] = sl__plan_input_buffer(pl, node->inputs[i], NULL);
	for (size_t k = 0; k < 5; k++) {
		uint32_t value = sl__plan_node_output(node, k);

		n->outputs[k] = value == SL__NONE ? -1 : (int)n_operands;
		if (value != SL__NONE)
			operands[n_operands++] =
				sl__plan_output_buffer(pl, value, NULL);
	}
	n->at = sl__plan_add_parallel_step(pl, operands, n_operands,
					   "batch_norm_training", run_part, n)
			->at;
	return 1;
}
