/* SPDX-License-Identifier: Apache-2.0 */
/*
 * native_norm_grad.c - gradients of normalizations in f32; the formulas are in
 * grad_norm.c.
 *
 * Of layers, one step goes over the rows and leaves their statistics, another
 * sums up scale and bias by columns: the order of each sum is the same for any
 * number of threads.  Of batches, a thread has whole channels.
 */
#include "compute/vector_rows.h"
#include "engine/node_steps.h"

#include <math.h>
#include <string.h>

#include "base/banned.h"

struct layers {
	int64_t n_rows, length;
	float epsilon;
	int is_centred;
	int dx, dscale, dbias, statistics; /* operands; -1: none */
	unsigned char **at, **sums_at;     /* dy, x, scale, ... */
	void (*row)(const struct layers *l, int64_t i);
	void (*columns)(const struct layers *l, int64_t first, int64_t end);
};

SL__ROW(sum_of, 0, x, a + b)
SL__ROW(squares_of, 0, (x - knob) * (x - knob), a + b)

static float *
at(unsigned char **all, int i)
{
	return i < 0 ? NULL : (float *)(void *)all[i];
}

/* The sum of scale dy (xs - mean). */
SL__INLINE float
sum_of_moments(const float *xs, const float *dy, const float *scale, int64_t n,
	       float mean)
	SL__ROW_BODY(xs, n, 0, dy[k] * scale[k] * (x - mean), a + b)

		SL__INLINE void row_body(const struct layers *l, int64_t i)
{
	int64_t n = l->length;
	const float *dy = at(l->at, 0) + i * n, *x = at(l->at, 1) + i * n;
	const float *scale = at(l->at, 2);
	float *stats = at(l->at, l->statistics) + 2 * i;
	float *dx = at(l->at, l->dx), mean_u, mean_uz;
	float mean = l->is_centred ? sum_of(x, n, 0) / (float)n : 0;
	float factor =
		1 / sqrtf(squares_of(x, n, mean) / (float)n + l->epsilon);

	stats[0] = mean;
	stats[1] = factor;
	if (!dx)
		return;
	mean_u = l->is_centred ? sl__dot(dy, scale, n) / (float)n : 0;
	mean_uz = sum_of_moments(x, dy, scale, n, mean) * factor / (float)n;
	dx += i * n;
	SL__EACH_ALONE
	for (int64_t k = 0; k < n; k++)
		dx[k] = factor * (dy[k] * scale[k] - mean_u -
				  (x[k] - mean) * factor * mean_uz);
}
SL__VECTOR_TARGETS(row, row_body, (const struct layers *l, int64_t i), (l, i))

SL__INLINE void
columns_body(const struct layers *l, int64_t first, int64_t end)
{
	const float *stats = at(l->sums_at, l->statistics);
	float *dscale = at(l->sums_at, l->dscale);
	float *dbias = at(l->sums_at, l->dbias);

	for (int64_t k = first; k < end; k++) {
		if (dscale)
			dscale[k] = 0;
		if (dbias)
			dbias[k] = 0;
	}
	for (int64_t i = 0; i < l->n_rows; i++) {
		const float *dy = at(l->sums_at, 0) + i * l->length;
		const float *x = at(l->sums_at, 1) + i * l->length;
		float mean = stats[2 * i], factor = stats[2 * i + 1];

		if (dscale) {
			SL__EACH_ALONE
			for (int64_t k = first; k < end; k++)
				dscale[k] += dy[k] * (x[k] - mean) * factor;
		}
		if (dbias) {
			SL__EACH_ALONE
			for (int64_t k = first; k < end; k++)
				dbias[k] += dy[k];
		}
	}
}
SL__VECTOR_TARGETS(columns, columns_body,
		   (const struct layers *l, int64_t first, int64_t end),
		   (l, first, end))

static void
run_rows(int rank, int n_ranks, void *ctx)
{
	const struct layers *l = ctx;
	int64_t first, end;

	sl__parallel_range(l->n_rows, rank, n_ranks, &first, &end);
	for (int64_t i = first; i < end; i++)
		l->row(l, i);
}

static void
run_columns(int rank, int n_ranks, void *ctx)
{
	const struct layers *l = ctx;
	int64_t first, end;

	sl__parallel_range(l->length, rank, n_ranks, &first, &end);
	l->columns(l, first, end);
}

static int
are_f32(const struct sl__planner *pl, const struct sl__node *node)
{
	for (uint32_t i = 0; i < node->n_inputs; i++) {
		if (sl__plan_node_input_type(pl, node, i)->dtype !=
			    SL_DTYPE_F32 ||
		    !sl__plan_value_n_elements(pl, node->inputs[i]))
			return 0;
	}
	return 1;
}

/* A new buffer for output k among the operands; -1: it is left out. */
static int
add_output(struct sl__planner *pl, const struct sl__node *node, size_t k,
	   uint32_t *operands, uint32_t *n)
{
	uint32_t value = sl__plan_node_output(node, k);

	if (value == SL__NONE)
		return -1;
	operands[*n] = sl__plan_output_buffer(pl, value, NULL);
	return (int)(*n)++;
}

int
sl__make_layer_norm_grad(struct sl__planner *pl, const struct sl__node *node)
{
	const struct sl__type *x = sl__plan_node_input_type(pl, node, 1);
	struct layers *l = sl__plan_alloc_state(pl, sizeof(*l));
	int axis = (int)sl__attribute_int(node, "axis", 0);
	uint32_t operands[8], n = 3;

	if (!l || !are_f32(pl, node))
		return 0;
	l->n_rows = sl__sizes_product(x, 0, axis);
	l->length = sl__sizes_product(x, axis, x->rank);
	if (sl__plan_value_n_elements(pl, node->inputs[2]) !=
	    (uint64_t)l->length)
		return 0;
	l->epsilon = (float)sl__attribute_float(node, "epsilon", 1e-5);
	l->is_centred = sl__attribute_int(node, "centred", 1) != 0;
	l->row = row_for();
	l->columns = columns_for();
	for (uint32_t i = 0; i < 3; i++)
		operands[i] = sl__plan_input_buffer(pl, node->inputs[i], NULL);
	operands[n] =
		sl__plan_workspace(pl, 2 * (uint64_t)l->n_rows * sizeof(float));
	l->statistics = (int)n++;
	l->dx = add_output(pl, node, 0, operands, &n);
	l->at = sl__plan_add_parallel_step(pl, operands, n, "norm_grad",
					   run_rows, l)
			->at;
	n = 4;
	l->dscale = add_output(pl, node, 1, operands, &n);
	l->dbias = add_output(pl, node, 2, operands, &n);
	if (n > 4)
		l->sums_at = sl__plan_add_parallel_step(pl, operands, n,
							"norm_grad_sums",
							run_columns, l)
				     ->at;
	return 1;
}

struct batches {
	int64_t batch, channels, span;
	float epsilon;
	int is_given; /* the statistics are no function of x */
	int dx, dscale, dbias;
	unsigned char **at; /* dy, x, scale, mean, variance, ... */
	void (*channel)(const struct batches *b, int64_t c);
};

SL__INLINE void
channel_body(const struct batches *b, int64_t c)
{
	float *dx = at(b->at, b->dx), *dscale = at(b->at, b->dscale);
	float *dbias = at(b->at, b->dbias);
	float mean = at(b->at, 3)[c], count = (float)(b->batch * b->span);
	float factor = 1 / sqrtf(at(b->at, 4)[c] + b->epsilon);
	float slope = at(b->at, 2)[c] * factor, sum = 0, sum_z = 0;
	float mean_dy, mean_z;

	for (int64_t i = 0; i < b->batch; i++) {
		int64_t from = (i * b->channels + c) * b->span;
		const float *dy = at(b->at, 0) + from;
		const float *x = at(b->at, 1) + from;
		float u_lanes[SL__LANES] = {0}, z_lanes[SL__LANES] = {0};
		int64_t k = 0;

		for (; k + SL__LANES <= b->span; k += SL__LANES) {
			for (int l = 0; l < SL__LANES; l++) {
				u_lanes[l] += dy[k + l];
				z_lanes[l] += dy[k + l] * (x[k + l] - mean);
			}
		}
		for (int l = 0; k + l < b->span; l++) {
			u_lanes[l] += dy[k + l];
			z_lanes[l] += dy[k + l] * (x[k + l] - mean);
		}
		sum += sum_of(u_lanes, SL__LANES, 0);
		sum_z += sum_of(z_lanes, SL__LANES, 0) * factor;
	}
	if (dscale)
		dscale[c] = sum_z;
	if (dbias)
		dbias[c] = sum;
	mean_dy = b->is_given ? 0 : sum / count;
	mean_z = b->is_given ? 0 : sum_z / count;
	for (int64_t i = 0; dx && i < b->batch; i++) {
		int64_t from = (i * b->channels + c) * b->span;
		const float *dy = at(b->at, 0) + from;
		const float *x = at(b->at, 1) + from;
		float *to = dx + from;

		SL__EACH_ALONE
		for (int64_t k = 0; k < b->span; k++)
			to[k] = slope * (dy[k] - mean_dy -
					 (x[k] - mean) * factor * mean_z);
	}
}
SL__VECTOR_TARGETS(channel, channel_body, (const struct batches *b, int64_t c),
		   (b, c))

static void
run_channels(int rank, int n_ranks, void *ctx)
{
	const struct batches *b = ctx;
	int64_t first, end;

	sl__parallel_range(b->channels, rank, n_ranks, &first, &end);
	for (int64_t c = first; c < end; c++)
		b->channel(b, c);
}

int
sl__make_batch_norm_grad(struct sl__planner *pl, const struct sl__node *node)
{
	const struct sl__type *x = sl__plan_node_input_type(pl, node, 1);
	struct batches *b = sl__plan_alloc_state(pl, sizeof(*b));
	uint32_t operands[8], n = 5;

	if (!b || !are_f32(pl, node) || x->rank < 2)
		return 0;
	b->batch = x->dims[0];
	b->channels = x->dims[1];
	b->span = sl__sizes_product(x, 2, x->rank);
	b->epsilon = (float)sl__attribute_float(node, "epsilon", 1e-5);
	b->is_given = !sl__attribute_int(node, "training_mode", 0);
	b->channel = channel_for();
	for (uint32_t i = 0; i < 5; i++)
		operands[i] = sl__plan_input_buffer(pl, node->inputs[i], NULL);
	b->dx = add_output(pl, node, 0, operands, &n);
	b->dscale = add_output(pl, node, 1, operands, &n);
	b->dbias = add_output(pl, node, 2, operands, &n);
	b->at = sl__plan_add_parallel_step(pl, operands, n, "batch_norm_grad",
					   run_channels, b)
			->at;
	return 1;
}
