/* SPDX-License-Identifier: Apache-2.0 */
/*
 * native_scatter_elements.c - elements put, or added, where indices say:
 * ScatterElements, and Scatter, its first name.
 *
 * Indices are walked in order, so that of several updates of one place the
 * last wins and sums are rounded as the reference kernel rounds them.
 */
#include "base/status.h"
#include "engine/data_movement.h"
#include "engine/node_steps.h"
#include "engine/scatter_reduction.h"

#include <string.h>

#include "base/banned.h"

struct scatter {
	int rank, axis;
	int64_t dims[SL__SPACE_RANK_MAX];    /* of the indices */
	int64_t strides[SL__SPACE_RANK_MAX]; /* of the data */
	int64_t size;                        /* of the data along the axis */
	enum sl__scatter_reduction how;
	int is_short; /* indices of 32 bits */
	size_t n_element_bytes, n_bytes;
};

static int64_t
index_at(const struct scatter *s, const unsigned char *indices, int64_t i)
{
	int64_t index;

	if (s->is_short) {
		int32_t of_32;

		memcpy(&of_32, indices + 4 * i, sizeof(of_32));
		index = of_32;
	} else {
		memcpy(&index, indices + 8 * i, sizeof(index));
	}
	return index < 0 ? index + s->size : index;
}

static void
update(const struct scatter *s, unsigned char *y, int64_t place,
       const unsigned char *from)
{
	unsigned char *to = y + (size_t)place * s->n_element_bytes;
	float a, b;

	if (s->how == SL__SCATTER_PUT) {
		memcpy(to, from, s->n_element_bytes);
		return;
	}
	memcpy(&a, to, sizeof(a));
	memcpy(&b, from, sizeof(b));
	a = sl__scatter_joined(s->how, a, b);
	memcpy(to, &a, sizeof(a));
}

/* The next row of indices; 'base' is where it stands in the data, but for the
 * axis and the last dimension.  0 after the last one. */
static int
next_row(const struct scatter *s, int64_t *at, int64_t *base)
{
	for (int d = s->rank - 2; d >= 0; d--) {
		int64_t step = d == s->axis ? 0 : s->strides[d];

		*base += step;
		if (++at[d] < s->dims[d])
			return 1;
		*base -= at[d] * step;
		at[d] = 0;
	}
	return 0;
}

static enum sl_status
run(struct sl__step *step, struct sl_error *err)
{
	const struct scatter *s = step->state;
	const unsigned char *indices = step->at[1], *updates = step->at[2];
	int64_t at[SL__SPACE_RANK_MAX] = {0}, base = 0, i = 0;
	int64_t n = s->dims[s->rank - 1], along = s->strides[s->axis];
	int64_t beside = s->axis == s->rank - 1 ? 0 : 1;
	unsigned char *y = step->at[3];

	if (y != step->at[0])
		memcpy(y, step->at[0], s->n_bytes);
	do {
		for (int64_t j = 0; j < n; j++, i++) {
			int64_t index = index_at(s, indices, i);

			if (index < 0 || index >= s->size)
				return sl__fail(err, SL_E_DATA,
						"an index lies outside of %lld "
						"places",
						(long long)s->size);
			update(s, y, base + index * along + j * beside,
			       updates + (size_t)i * s->n_element_bytes);
		}
	} while (next_row(s, at, &base));
	return SL_OK;
}

/* Indices that lie within the data but along the axis. */
static int
read_indices(struct scatter *s, const struct sl__type *data,
	     const struct sl__type *indices)
{
	if ((indices->dtype != SL_DTYPE_I64 &&
	     indices->dtype != SL_DTYPE_I32) ||
	    indices->rank != data->rank)
		return 0;
	s->is_short = indices->dtype == SL_DTYPE_I32;
	for (int d = 0; d < data->rank; d++) {
		if (indices->dims[d] < 1 ||
		    (d != s->axis && indices->dims[d] > data->dims[d]))
			return 0;
		s->dims[d] = indices->dims[d];
	}
	return 1;
}

static int
read_scatter(const struct sl__planner *pl, const struct sl__node *node,
	     struct scatter *s)
{
	const struct sl__type *data = sl__plan_node_input_type(pl, node, 0);
	uint32_t indices = sl__plan_node_input(node, 1);
	int64_t n;

	s->rank = data->rank;
	s->axis = sl__axis_normalize(sl__attribute_int(node, "axis", 0),
				     data->rank);
	s->how = sl__scatter_reduction_of(node);
	if (data->rank < 1 || data->rank >= SL__SPACE_RANK_MAX || s->axis < 0 ||
	    s->how == SL__N_SCATTER_REDUCTIONS ||
	    !(s->how == SL__SCATTER_PUT ? sl__dtype_is_movable(data->dtype)
					: data->dtype == SL_DTYPE_F32) ||
	    !sl__plan_value_n_elements(pl, sl__plan_node_input(node, 0)) ||
	    !read_indices(s, data, sl__plan_value_type(pl, indices)))
		return 0;
	s->size = data->dims[s->axis];
	n = sl__row_major_strides(s->strides, (size_t)data->rank, data->dims);
	s->n_element_bytes = sl_dtype_bits(data->dtype) / 8;
	s->n_bytes = (size_t)n * s->n_element_bytes;
	return sl__plan_value_n_elements(pl, sl__plan_node_input(node, 2)) ==
	       sl__plan_value_n_elements(pl, indices);
}

int
sl__make_scatter_elements(struct sl__planner *pl, const struct sl__node *node)
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
