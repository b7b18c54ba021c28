/* SPDX-License-Identifier: Apache-2.0 */
/*
 * native_gather.c - elements chosen by index: Gather, GatherElements, Trilu.
 *
 * Gather sees its data as [outer][size][inner] around the axis and copies
 * runs of 'inner'.  An index that is known and whose run makes the whole
 * output is a view.
 */
#include "base/status.h"
#include "engine/data_movement.h"
#include "engine/node_steps.h"

#include <string.h>

#include "base/banned.h"

struct gather {
	int64_t outer, size, inner; /* of the data, around the axis */
	int64_t n;                  /* indices, or rows and columns of Trilu */
	int64_t n_bytes;            /* of an element */
	int is_short;               /* indices are int32 */
	struct sl__iteration_space space; /* of GatherElements: indices, data */
	int64_t along; /* how far the data goes on per index */
	int axis;
	unsigned char **at; /* data, indices, result */
};

/* Index i counted from the start; -1 where it lies outside. */
static int64_t
index_at(const struct gather *g, int64_t i)
{
	int32_t narrow;
	int64_t index;

	if (g->is_short) {
		memcpy(&narrow, g->at[1] + 4 * i, sizeof(narrow));
		index = narrow;
	} else {
		memcpy(&index, g->at[1] + 8 * i, sizeof(index));
	}
	index += index < 0 ? g->size : 0;
	return index < 0 || index >= g->size ? -1 : index;
}

static void
copy_element(unsigned char *to, const unsigned char *from, int64_t n_bytes)
{
	if (n_bytes == 4)
		memcpy(to, from, 4);
	else if (n_bytes == 8)
		memcpy(to, from, 8);
	else
		memcpy(to, from, (size_t)n_bytes);
}

static void
gather_part(int rank, int n_ranks, void *ctx)
{
	const struct gather *g = ctx;
	int64_t run = g->inner * g->n_bytes, first, end;

	sl__parallel_range(g->outer * g->n, rank, n_ranks, &first, &end);
	for (int64_t i = first; i < end; i++) {
		int64_t from = i / g->n * g->size + index_at(g, i % g->n);

		copy_element(g->at[2] + i * run, g->at[0] + from * run, run);
	}
}

static void
elements_part(int rank, int n_ranks, void *ctx)
{
	const struct gather *g = ctx;
	const struct sl__iteration_space *l = &g->space;
	struct sl__space_position p;
	int64_t first, end;

	sl__parallel_range(g->n, rank, n_ranks, &first, &end);
	sl__space_seek(l, l->rank, first, &p);
	for (int64_t i = first; i < end; i++) {
		int64_t from = p.offsets[1] + index_at(g, i) * g->along;

		copy_element(g->at[2] + i * g->n_bytes,
			     g->at[0] + from * g->n_bytes, g->n_bytes);
		sl__space_next(l, l->rank, &p);
	}
}

static enum sl_status
run(struct sl__step *step, struct sl_error *err)
{
	const struct gather *g = step->state;

	for (int64_t i = 0; i < g->n; i++) {
		if (index_at(g, i) < 0)
			return sl__fail(err, SL_E_DATA,
					"an index lies outside of %lld places",
					(long long)g->size);
	}
	sl__parallel_run(step->n_threads, step->part, step->state);
	return SL_OK;
}

static int
read_data(const struct sl__planner *pl, const struct sl__node *node,
	  struct gather *g)
{
	const struct sl__type *data = sl__plan_node_input_type(pl, node, 0);
	const struct sl__type *indices = sl__plan_node_input_type(pl, node, 1);
	int axis = sl__axis_normalize(sl__attribute_int(node, "axis", 0),
				      data->rank);

	if (axis < 0 || data->rank >= SL__SPACE_RANK_MAX ||
	    !sl__dtype_is_movable(data->dtype) ||
	    (indices->dtype != SL_DTYPE_I64 &&
	     indices->dtype != SL_DTYPE_I32) ||
	    !sl__plan_value_n_elements(pl, sl__plan_node_output(node, 0)))
		return 0;
	g->axis = axis;
	g->is_short = indices->dtype == SL_DTYPE_I32;
	g->n = (int64_t)sl__plan_value_n_elements(pl,
						  sl__plan_node_input(node, 1));
	g->n_bytes = sl_dtype_bits(data->dtype) / 8;
	g->outer = sl__sizes_product(data, 0, axis);
	g->inner = sl__sizes_product(data, axis + 1, data->rank);
	g->size = data->dims[axis];
	return 1;
}

/* A step whose threads move so many bytes. */
static void
add_step(struct sl__planner *pl, const struct sl__node *node, struct gather *g,
	 sl__parallel_function *part, int64_t moved)
{
	struct sl__step *step;
	uint32_t at[3];

	sl__plan_node_operands(pl, node, 2, at);
	step = sl__plan_add_step(pl, at, 3, "gather", run, g);
	/* Of a table only the rows that are chosen are touched. */
	step->n_bytes = 2 * sl__plan_value_bytes(pl, node->outputs[0]) +
			sl__plan_value_bytes(pl, node->inputs[1]);
	step->part = part;
	step->n_threads =
		sl__threads_for_bytes(step->n_threads, (uint64_t)moved);
	g->at = step->at;
}

/* A single index that is known, before which there is nothing. */
static int
is_view(struct sl__planner *pl, const struct sl__node *node,
	const struct gather *g, int64_t *index)
{
	struct sl__rule_context call = {.shapes = pl->shapes, .node = node};
	const int64_t *values;
	size_t n;

	if (g->outer != 1 || g->n != 1 ||
	    !sl__in_integers(&call, 1, &values, &n) || n != 1)
		return 0;
	*index = values[0] + (values[0] < 0 ? g->size : 0);
	return *index >= 0 && *index < g->size;
}

int
sl__make_gather(struct sl__planner *pl, const struct sl__node *node)
{
	struct gather *g = sl__plan_alloc_state(pl, sizeof(*g));
	int64_t index, run_bytes;
	uint32_t data;

	if (!g || !read_data(pl, node, g))
		return 0;
	run_bytes = g->inner * g->n_bytes;
	if (is_view(pl, node, g, &index)) {
		data = sl__plan_input_buffer(pl, node->inputs[0], NULL);
		sl__plan_view(pl, node->outputs[0], data,
			      (uint64_t)(index * run_bytes));
	} else {
		add_step(pl, node, g, gather_part,
			 2 * g->outer * g->n * run_bytes);
	}
	return 1;
}

/* Whether the indices lie within the data along all other dimensions. */
static int
is_within(const struct sl__planner *pl, const struct sl__node *node, int axis)
{
	const struct sl__type *data = sl__plan_node_input_type(pl, node, 0);
	const struct sl__type *at = sl__plan_node_input_type(pl, node, 1);

	for (int d = 0; d < data->rank; d++) {
		if (d != axis && at->dims[d] > data->dims[d])
			return 0;
	}
	return 1;
}

int
sl__make_gather_elements(struct sl__planner *pl, const struct sl__node *node)
{
	const struct sl__type *out = sl__plan_node_output_type(pl, node, 0);
	struct gather *g = sl__plan_alloc_state(pl, sizeof(*g));
	struct sl__strided_layout data;

	if (!g || !read_data(pl, node, g) ||
	    out->rank != sl__plan_node_input_type(pl, node, 0)->rank ||
	    out->rank != sl__plan_node_input_type(pl, node, 1)->rank ||
	    !is_within(pl, node, g->axis) ||
	    !sl__strided_layout_of(pl, node->inputs[0], NULL, &data))
		return 0;
	sl__space_init(&g->space, out->rank, out->dims);
	g->space.n = 2;
	for (int d = 0; d < out->rank; d++)
		g->space.strides[1][d] = d == g->axis ? 0 : data.strides[d];
	g->along = data.strides[g->axis];
	add_step(pl, node, g, elements_part, 4 * g->n * g->n_bytes);
	return 1;
}

struct trilu {
	int64_t n_rows, rows, columns; /* of all matrices, of one */
	int64_t n_bytes;
	int is_upper;
	int64_t diagonal;
	unsigned char **at;
};

static void
trilu_part(int rank, int n_ranks, void *ctx)
{
	const struct trilu *t = ctx;
	int64_t size = t->n_bytes, first, end;

	sl__parallel_range(t->n_rows, rank, n_ranks, &first, &end);
	for (int64_t i = first; i < end; i++) {
		const unsigned char *x = t->at[0] + i * t->columns * size;
		unsigned char *y = t->at[1] + i * t->columns * size;
		/* Where the upper part begins: on the diagonal, or after it
		 * where the lower part is kept. */
		int64_t at = i % t->rows + t->diagonal + !t->is_upper;
		int64_t cut = at < 0 ? 0 : at > t->columns ? t->columns : at;
		size_t low = (size_t)(cut * size);
		size_t high = (size_t)((t->columns - cut) * size);

		if (t->is_upper) {
			memset(y, 0, low);
			memcpy(y + low, x + low, high);
		} else {
			memcpy(y, x, low);
			memset(y + low, 0, high);
		}
	}
}

static int
read_trilu(struct sl__planner *pl, const struct sl__node *node, struct trilu *t)
{
	const struct sl__type *type = sl__plan_node_input_type(pl, node, 0);
	struct sl__rule_context call = {.shapes = pl->shapes, .node = node};
	const int64_t *k;
	size_t n;

	if (type->rank < 2 || !sl__dtype_is_movable(type->dtype) ||
	    !sl__plan_value_n_elements(pl, sl__plan_node_input(node, 0)))
		return 0;
	if (sl__plan_node_input(node, 1) != SL__NONE) {
		if (!sl__in_integers(&call, 1, &k, &n) || n != 1)
			return 0;
		t->diagonal = k[0];
	}
	t->is_upper = sl__attribute_int(node, "upper", 1) != 0;
	t->rows = type->dims[type->rank - 2];
	t->columns = type->dims[type->rank - 1];
	t->n_rows = (int64_t)sl__plan_value_n_elements(
			    pl, sl__plan_node_input(node, 0)) /
		    t->columns;
	t->n_bytes = sl_dtype_bits(type->dtype) / 8;
	/* Beyond the matrix all diagonals are alike. */
	if (t->diagonal > t->columns)
		t->diagonal = t->columns;
	if (t->diagonal < -t->rows)
		t->diagonal = -t->rows;
	return 1;
}

int
sl__make_trilu(struct sl__planner *pl, const struct sl__node *node)
{
	struct trilu *t = sl__plan_alloc_state(pl, sizeof(*t));
	uint32_t at[2];

	if (!t || !read_trilu(pl, node, t))
		return 0;
	sl__plan_node_operands(pl, node, 1, at);
	t->at = sl__plan_add_parallel_step(pl, at, 2, "trilu", trilu_part, t)
			->at;
	return 1;
}
