/* SPDX-License-Identifier: Apache-2.0 */
/* native_gather_nd.c - runs of elements from where tuples of indices say:
 * GatherND. */
#include "base/status.h"
#include "compute/parallel.h"
#include "engine/data_movement.h"
#include "engine/node_steps.h"

#include <string.h>

#include "base/banned.h"

struct gather {
	int64_t n, depth;  /* tuples of indices, how many in each */
	int64_t per_batch; /* tuples of those dimensions that are shared */
	int64_t batch;     /* runs of one of them in the data */
	int64_t run;       /* bytes that a tuple names */
	int64_t dims[SL__SPACE_RANK_MAX],
		strides[SL__SPACE_RANK_MAX]; /* in runs */
	unsigned char **at;
};

/* Which run of the data tuple i names; -1: none. */
static int64_t
place_of(const struct gather *g, int64_t i)
{
	int64_t place = i / g->per_batch * g->batch;

	for (int64_t d = 0; d < g->depth; d++) {
		int64_t index;

		memcpy(&index, g->at[1] + 8 * (i * g->depth + d),
		       sizeof(index));
		index += index < 0 ? g->dims[d] : 0;
		if (index < 0 || index >= g->dims[d])
			return -1;
		place += index * g->strides[d];
	}
	return place;
}

static void
part(int rank, int n_ranks, void *ctx)
{
	const struct gather *g = ctx;
	int64_t first, end;

	sl__parallel_range(g->n, rank, n_ranks, &first, &end);
	for (int64_t i = first; i < end; i++) {
		unsigned char *to = g->at[2] + i * g->run;
		const unsigned char *from = g->at[0] + place_of(g, i) * g->run;

		if (g->run == 4)
			memcpy(to, from, 4);
		else if (g->run == 8)
			memcpy(to, from, 8);
		else
			memcpy(to, from, (size_t)g->run);
	}
}

static enum sl_status
run(struct sl__step *step, struct sl_error *err)
{
	const struct gather *g = step->state;

	for (int64_t i = 0; i < g->n; i++) {
		if (place_of(g, i) < 0)
			return sl__fail(err, SL_E_DATA,
					"an index lies outside of its "
					"dimension");
	}
	sl__parallel_run(step->n_threads, part, step->state);
	return SL_OK;
}

static int
read_gather(const struct sl__planner *pl, const struct sl__node *node,
	    struct gather *g)
{
	const struct sl__type *data = sl__plan_node_input_type(pl, node, 0);
	const struct sl__type *indices = sl__plan_node_input_type(pl, node, 1);
	int64_t shared = sl__attribute_int(node, "batch_dims", 0);
	int first; /* dimension behind those that are indexed */

	if (data->rank >= SL__SPACE_RANK_MAX ||
	    !sl__dtype_is_movable(data->dtype) ||
	    indices->dtype != SL_DTYPE_I64 || indices->rank < 1 || shared < 0 ||
	    shared >= indices->rank || shared > data->rank)
		return 0;
	g->depth = indices->dims[indices->rank - 1];
	if (g->depth < 1 || g->depth > data->rank - shared ||
	    !sl__plan_value_n_elements(pl, sl__plan_node_output(node, 0)))
		return 0;
	for (int d = 0; d < shared; d++) {
		if (indices->dims[d] != data->dims[d])
			return 0;
	}
	first = (int)(shared + g->depth);
	g->n = sl__sizes_product(indices, 0, indices->rank - 1);
	g->per_batch = g->n / sl__sizes_product(data, 0, (int)shared);
	g->batch = sl__sizes_product(data, (int)shared, first);
	g->run = (int64_t)(sl_dtype_bits(data->dtype) / 8) *
		 sl__sizes_product(data, first, data->rank);
	memcpy(g->dims, data->dims + shared,
	       (size_t)g->depth * sizeof(*g->dims));
	(void)sl__row_major_strides(g->strides, (size_t)g->depth, g->dims);
	return 1;
}

int
sl__make_gather_nd(struct sl__planner *pl, const struct sl__node *node)
{
	struct gather *g = sl__plan_alloc_state(pl, sizeof(*g));
	struct sl__step *step;
	uint32_t at[3];

	if (!g || !read_gather(pl, node, g))
		return 0;
	sl__plan_node_operands(pl, node, 2, at);
	step = sl__plan_add_step(pl, at, 3, "gather", run, g);
	/* Of the data only what is chosen is touched. */
	step->n_bytes = 2 * sl__plan_value_bytes(pl, node->outputs[0]) +
			sl__plan_value_bytes(pl, node->inputs[1]);
	step->part = part;
	step->n_threads = sl__threads_for_bytes(step->n_threads,
						2 * (uint64_t)(g->n * g->run));
	g->at = step->at;
	return 1;
}
