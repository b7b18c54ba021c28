/* SPDX-License-Identifier: Apache-2.0 */
/*
 * native_scatter.c - runs of elements put where indices say: ScatterND.  Later
 * updates win, and sums are rounded in their order, so they are done in order.
 */
#include "base/status.h"
#include "engine/data_movement.h"
#include "engine/node_steps.h"
#include "engine/scatter_reduction.h"

#include <string.h>

#include "base/banned.h"

struct scatter {
	int64_t n, depth; /* tuples of indices, how many in each */
	int64_t run;      /* bytes of an update */
	int64_t dims[SL__SPACE_RANK_MAX],
		strides[SL__SPACE_RANK_MAX]; /* in runs */
	size_t n_bytes;                      /* of all */
	enum sl__scatter_reduction how;
};

/* Where tuple i goes, in runs; -1: outside. */
static int64_t
place_of(const struct scatter *s, const unsigned char *indices, int64_t i)
{
	int64_t place = 0;

	for (int64_t d = 0; d < s->depth; d++) {
		int64_t index;

		memcpy(&index, indices + 8 * (i * s->depth + d), sizeof(index));
		index += index < 0 ? s->dims[d] : 0;
		if (index < 0 || index >= s->dims[d])
			return -1;
		place += index * s->strides[d];
	}
	return place;
}

static void
update(const struct scatter *s, unsigned char *to, const unsigned char *from)
{
	float *y = (float *)(void *)to;
	const float *x = (const float *)(const void *)from;
	int64_t n = s->run / (int64_t)sizeof(*y);

	if (s->how == SL__SCATTER_PUT)
		memcpy(to, from, (size_t)s->run);
	else if (s->how == SL__SCATTER_ADD)
		for (int64_t i = 0; i < n; i++)
			y[i] += x[i];
	else
		for (int64_t i = 0; i < n; i++)
			y[i] = sl__scatter_joined(s->how, y[i], x[i]);
}

static enum sl_status
run(struct sl__step *step, struct sl_error *err)
{
	const struct scatter *s = step->state;
	const unsigned char *indices = step->at[1], *updates = step->at[2];
	unsigned char *y = step->at[3];

	if (y != step->at[0])
		memcpy(y, step->at[0], s->n_bytes);
	for (int64_t i = 0; i < s->n; i++) {
		int64_t place = place_of(s, indices, i);

		if (place < 0)
			return sl__fail(err, SL_E_DATA,
					"an index lies outside of its "
					"dimension");
		update(s, y + place * s->run, updates + i * s->run);
	}
	return SL_OK;
}

static int
read_scatter(const struct sl__planner *pl, const struct sl__node *node,
	     struct scatter *s)
{
	const struct sl__type *data = sl__plan_node_input_type(pl, node, 0);
	const struct sl__type *indices = sl__plan_node_input_type(pl, node, 1);
	int64_t n;

	s->how = sl__scatter_reduction_of(node);
	if (data->rank >= SL__SPACE_RANK_MAX ||
	    s->how == SL__N_SCATTER_REDUCTIONS ||
	    !(s->how == SL__SCATTER_PUT ? sl__dtype_is_movable(data->dtype)
					: data->dtype == SL_DTYPE_F32) ||
	    indices->dtype != SL_DTYPE_I64 || indices->rank < 1 ||
	    indices->dims[indices->rank - 1] > data->rank ||
	    indices->dims[indices->rank - 1] < 1 ||
	    !sl__plan_value_n_elements(pl, sl__plan_node_input(node, 0)))
		return 0;
	s->depth = indices->dims[indices->rank - 1];
	s->n = (int64_t)sl__plan_value_n_elements(
		       pl, sl__plan_node_input(node, 1)) /
	       s->depth;
	s->run = (int64_t)(sl_dtype_bits(data->dtype) / 8) *
		 sl__sizes_product(data, (int)s->depth, data->rank);
	memcpy(s->dims, data->dims, (size_t)s->depth * sizeof(*s->dims));
	n = sl__row_major_strides(s->strides, (size_t)s->depth, s->dims);
	s->n_bytes = (size_t)(n * s->run);
	return sl__plan_value_bytes(pl, sl__plan_node_input(node, 2)) ==
	       (uint64_t)(s->n * s->run);
}

int
sl__make_scatter_nd(struct sl__planner *pl, const struct sl__node *node)
{
	struct scatter *s = sl__plan_alloc_state(pl, sizeof(*s));
	uint32_t at[4];

	if (!s || !read_scatter(pl, node, s))
		return 0;
	for (size_t i = 0; i < 3; i++)
		at[i] = sl__plan_input_buffer(pl, node->inputs[i], NULL);
	at[3] = sl__plan_output_over_first(pl, node->outputs[0], at, 3);
	sl__plan_add_step(pl, at, 4, "scatter", run, s);
	return 1;
}
