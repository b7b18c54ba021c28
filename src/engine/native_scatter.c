/* SPDX-License-Identifier: Apache-2.0 */
/*
 * native_scatter.c - runs of elements put where indices say: ScatterND
 * without a reduction.  Later updates win, so they are done in order.
 */
#include "base/status.h"
#include "engine/boxes.h"

#include <string.h>

#include "base/banned.h"

struct scatter {
	int64_t n, depth; /* tuples of indices, how many in each */
	int64_t run;      /* bytes of an update */
	int64_t dims[SL__LOOPS_MOST], strides[SL__LOOPS_MOST]; /* in runs */
	size_t n_bytes;                                        /* of all */
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
		memcpy(y + place * s->run, updates + i * s->run,
		       (size_t)s->run);
	}
	return SL_OK;
}

static int
read_scatter(const struct sl__planner *pl, const struct sl__node *node,
	     struct scatter *s)
{
	const struct sl__type *data = sl__plan_type(pl, sl__plan_in(node, 0));
	const struct sl__type *indices =
		sl__plan_type(pl, sl__plan_in(node, 1));
	int64_t n;

	if (data->rank >= SL__LOOPS_MOST || !sl__is_movable(data->dtype) ||
	    indices->dtype != SL_DTYPE_I64 || indices->rank < 1 ||
	    indices->dims[indices->rank - 1] > data->rank ||
	    indices->dims[indices->rank - 1] < 1 ||
	    strcmp(sl__word(node, "reduction", "none"), "none") != 0 ||
	    !sl__plan_elements(pl, sl__plan_in(node, 0)))
		return 0;
	s->depth = indices->dims[indices->rank - 1];
	s->n = (int64_t)sl__plan_elements(pl, sl__plan_in(node, 1)) / s->depth;
	s->run = (int64_t)(sl_dtype_bits(data->dtype) / 8);
	for (int64_t d = s->depth; d < data->rank; d++)
		s->run *= data->dims[d];
	memcpy(s->dims, data->dims, (size_t)s->depth * sizeof(*s->dims));
	n = sl__ref_strides(s->strides, (size_t)s->depth, s->dims);
	s->n_bytes = (size_t)(n * s->run);
	return sl__plan_bytes(pl, sl__plan_in(node, 2)) ==
	       (uint64_t)(s->n * s->run);
}

/* The data may be written over where neither of the others lies there. */
static enum sl_status
write_result(struct sl__planner *pl, uint32_t value, uint32_t *at,
	     struct sl_error *err)
{
	const struct sl__buffer *b = pl->program->buffers;

	if (b[at[0]].base == b[at[1]].base || b[at[0]].base == b[at[2]].base)
		return sl__plan_write(pl, value, NULL, &at[3], err);
	return sl__plan_write_over(pl, value, NULL, at[0], &at[3], err);
}

enum sl_status
sl__make_scatter_nd(struct sl__planner *pl, const struct sl__node *node,
		    int *is_made, struct sl_error *err)
{
	struct scatter *s = sl__plan_state(pl, sizeof(*s));
	struct sl__step *step;
	uint32_t at[4];
	enum sl_status rc = SL_OK;

	*is_made = 0;
	if (!s)
		return sl__fail_nomem(err);
	if (!read_scatter(pl, node, s))
		return SL_OK;
	*is_made = 1;
	for (size_t i = 0; !rc && i < 3; i++)
		rc = sl__plan_read(pl, sl__plan_in(node, i), NULL, &at[i], err);
	if (!rc)
		rc = write_result(pl, sl__plan_out(node, 0), at, err);
	if (!rc)
		rc = sl__plan_step(pl, at, 4, &step, err);
	if (rc)
		return rc;
	step->kernel = "scatter";
	step->state = s;
	step->run = run;
	return SL_OK;
}
