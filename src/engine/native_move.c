/* SPDX-License-Identifier: Apache-2.0 */
/*
 * native_move.c - operators that move elements and compute nothing.
 *
 * 'movers' has a row for each: how its inputs and outputs are boxes of elements
 * and where these go (data_movement.h).  A box that lies in one piece in a
 * row-major input and makes a whole output is not moved: the output is a view
 * of it.
 */
#include "engine/data_movement.h"
#include "engine/node_steps.h"

#include <assert.h>
#include <string.h>

#include "base/banned.h"

/* A node while its boxes are found.  Operands of the step are inputs
 * 0 .. n_inputs - 1, then the outputs. */
struct move {
	struct sl__planner *pl;
	const struct sl__node *node;
	uint32_t n_inputs; /* that are moved, from the first on */
	const struct sl__layout **layouts; /* of inputs, then outputs */
	struct sl__strided_layout *strided_layouts;
	struct sl__copy_region *regions;
	uint32_t n_regions, cap_regions;
};

static const struct sl__type *
in_type(const struct move *m, uint32_t i)
{
	return sl__plan_node_input_type(m->pl, m->node, i);
}

static const struct sl__type *
out_type(const struct move *m, uint32_t k)
{
	return sl__plan_node_output_type(m->pl, m->node, k);
}

/* A box from input i to output k, over these sizes, strides still 0. */
static struct sl__copy_region *
new_region(struct move *m, uint32_t i, uint32_t k, int rank,
	   const int64_t *dims)
{
	struct sl__copy_region *region = &m->regions[m->n_regions++];

	assert(m->n_regions <= m->cap_regions);
	sl__space_init(&region->space, rank, dims);
	region->space.n = 2;
	region->from = i;
	region->to = m->n_inputs + k;
	region->to_offset = region->from_offset = 0;
	return region;
}

/* Strides of a box that is cut into blocks along 'axis': both sides go on by
 * blocks there, and through one in a last loop. */
static void
cut_region(struct sl__copy_region *region, int axis, int64_t block)
{
	struct sl__iteration_space *l = &region->space;

	sl__space_block_axis(l, axis, block);
	l->strides[0][l->rank - 1] = l->strides[1][l->rank - 1] = 1;
}

/*
 * A box between an input and an output that lie in the same order, 'at' being
 * where it starts along 'axis' of whichever is larger.
 */
static int
same_order_box(struct move *m, uint32_t i, uint32_t k, int axis, int64_t at)
{
	const struct sl__strided_layout *from = &m->strided_layouts[i];
	const struct sl__strided_layout *to =
		&m->strided_layouts[m->node->n_inputs + k];
	const struct sl__type *in = in_type(m, i), *out = out_type(m, k);
	int is_in = in->dims[axis] < out->dims[axis];
	struct sl__copy_region *region =
		new_region(m, i, k, in->rank, is_in ? in->dims : out->dims);

	for (int d = 0; d < in->rank; d++) {
		region->space.strides[0][d] = to->strides[d];
		region->space.strides[1][d] = from->strides[d];
	}
	if (to->axis == axis && to->axis >= 0)
		at /= to->block;
	*(is_in ? &region->to_offset : &region->from_offset) =
		at * (is_in ? to : from)->strides[axis];
	if (to->axis >= 0)
		cut_region(region, to->axis, to->block);
	return 1;
}

/* Whether all inputs and outputs can keep the order of 'layout': nothing is
 * padded, so that blocks are whole. */
static int
take_order(struct move *m, const struct sl__layout *layout)
{
	uint32_t n_inputs = m->node->n_inputs,
		 n = n_inputs + m->node->n_outputs;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t value = i < n_inputs ? m->node->inputs[i]
					      : m->node->outputs[i - n_inputs];

		if (i < n_inputs && i >= m->n_inputs)
			continue;
		if (value == SL__NONE)
			return 0;
		m->layouts[i] = sl__layout_like(m->pl, value, layout);
		if (m->pl->rc ||
		    !sl__strided_layout_of(m->pl, value, m->layouts[i],
					   &m->strided_layouts[i]))
			return 0;
		if (layout && (m->strided_layouts[i].is_padded ||
			       m->strided_layouts[i].dtype !=
				       m->strided_layouts[0].dtype))
			return 0;
	}
	return 1;
}

/* The order of the first input that has one, where all can have it. */
static int
choose_order(struct move *m)
{
	for (uint32_t i = 0; i < m->n_inputs; i++) {
		uint32_t value = m->node->inputs[i];
		const struct sl__layout *layout =
			value == SL__NONE ? NULL
					  : sl__plan_value_layout(m->pl, value);

		if (layout && take_order(m, layout))
			return 1;
	}
	return take_order(m, NULL);
}

static int
concat(struct move *m)
{
	int axis = sl__axis_normalize(sl__attribute_int(m->node, "axis", 1),
				      out_type(m, 0)->rank);
	int64_t at = 0;

	m->n_inputs = m->node->n_inputs;
	if (axis < 0 || !choose_order(m))
		return 0;
	for (uint32_t i = 0; i < m->n_inputs; i++) {
		if (!sl__plan_value_n_elements(m->pl, m->node->inputs[i]))
			continue;
		if (in_type(m, i)->rank != out_type(m, 0)->rank ||
		    !same_order_box(m, i, 0, axis, at))
			return 0;
		at += in_type(m, i)->dims[axis];
	}
	return at == out_type(m, 0)->dims[axis];
}

static int
split(struct move *m)
{
	const struct sl__type *in = in_type(m, 0);
	int axis = sl__axis_normalize(sl__attribute_int(m->node, "axis", 0),
				      in->rank);
	int64_t at = 0;

	for (uint32_t k = 0; k < m->node->n_outputs; k++) {
		if (m->node->outputs[k] == SL__NONE)
			return 0;
	}
	if (axis < 0 || !choose_order(m))
		return 0;
	for (uint32_t k = 0; k < m->node->n_outputs; k++) {
		if (sl__plan_value_n_elements(m->pl, m->node->outputs[k]) &&
		    !same_order_box(m, 0, k, axis, at))
			return 0;
		at += out_type(m, k)->dims[axis];
	}
	return at <= in->dims[axis];
}

static int64_t
between(int64_t at, int64_t low, int64_t high)
{
	return at < low ? low : at > high ? high : at;
}

/* One axis of a Slice: the first element, given that the result has some. */
static int64_t
slice_start(int64_t start, int64_t step, int64_t size)
{
	start += start < 0 ? size : 0;
	return step > 0 ? between(start, 0, size) : between(start, 0, size - 1);
}

static int
slice(struct move *m)
{
	const struct sl__type *in = in_type(m, 0), *out = out_type(m, 0);
	const int64_t *starts, *axes, *by;
	size_t n, n_axes, n_by;
	unsigned seen = 0; /* one bit each axis */
	struct sl__copy_region *region;

	if (!sl__plan_node_integer_list(m->pl, m->node, 1, "starts", &starts,
					&n) ||
	    !sl__plan_node_integer_list(m->pl, m->node, 3, "axes", &axes,
					&n_axes) ||
	    !sl__plan_node_integer_list(m->pl, m->node, 4, "steps", &by,
					&n_by) ||
	    !take_order(m, NULL) || (axes && n_axes != n) || (by && n_by != n))
		return 0;
	region = new_region(m, 0, 0, out->rank, out->dims);
	sl__row_major_strides(region->space.strides[0], (size_t)out->rank,
			      out->dims);
	sl__row_major_strides(region->space.strides[1], (size_t)in->rank,
			      in->dims);
	for (size_t i = 0; i < n; i++) {
		int d = sl__axis_normalize(axes ? axes[i] : (int64_t)i,
					   in->rank);
		int64_t step = by ? by[i] : 1;
		int64_t *stride = d < 0 ? NULL : &region->space.strides[1][d];

		if (!stride || step == 0 || seen >> d & 1)
			return 0;
		seen |= 1u << d;
		region->from_offset +=
			slice_start(starts[i], step, in->dims[d]) * *stride;
		/* A step that is never taken may be of any size. */
		*stride *= out->dims[d] > 1 ? step : 1;
	}
	return 1;
}

/* The source may lie in blocks; the last one, where it is not full, is a box
 * of its own. */
static int
transpose_blocks(struct move *m, const int64_t *to)
{
	const struct sl__strided_layout *from = &m->strided_layouts[0];
	const struct sl__type *in = in_type(m, 0);
	int axis = from->axis;
	int64_t dims[SL__SPACE_RANK_MAX], n = in->dims[axis] / from->block;
	int64_t rest = in->dims[axis] % from->block;

	if (in->rank + 1 > SL__SPACE_RANK_MAX)
		return 0;
	for (int part = 0; part < 2; part++) {
		struct sl__copy_region *region;
		struct sl__iteration_space *l;

		if (part ? !rest : !n)
			continue;
		memcpy(dims, in->dims, (size_t)in->rank * sizeof(*dims));
		dims[axis] = part ? 1 : n;
		dims[in->rank] = part ? rest : from->block;
		region = new_region(m, 0, 0, in->rank + 1, dims);
		l = &region->space;
		for (int d = 0; d < in->rank; d++) {
			l->strides[0][d] = to[d];
			l->strides[1][d] = from->strides[d];
		}
		l->strides[0][axis] = to[axis] * from->block;
		l->strides[0][in->rank] = to[axis];
		l->strides[1][in->rank] = 1;
		region->from_offset = part ? n * from->strides[axis] : 0;
		region->to_offset = part ? n * from->block * to[axis] : 0;
	}
	return 1;
}

/* to[d]: how far the output goes on along dimension d of the input. */
static int
transpose_strides(const struct move *m, int64_t *to)
{
	const struct sl__type *in = in_type(m, 0), *out = out_type(m, 0);
	const int64_t *order;
	size_t n = sl__attribute_ints(m->node, "perm", &order);
	int64_t strides[SL__SPACE_RANK_MAX];

	if (in->rank != out->rank || (n && n != (size_t)in->rank))
		return 0;
	sl__row_major_strides(strides, (size_t)out->rank, out->dims);
	for (int d = 0; d < out->rank; d++) {
		int64_t from = n ? order[d] : out->rank - 1 - d;

		from += from < 0 ? in->rank : 0;
		if (from < 0 || from >= in->rank ||
		    in->dims[from] != out->dims[d])
			return 0;
		to[from] = strides[d];
	}
	return 1;
}

static int
transpose(struct move *m)
{
	const struct sl__layout *layout =
		sl__plan_value_layout(m->pl, m->node->inputs[0]);
	const struct sl__type *in = in_type(m, 0);
	int64_t to[SL__SPACE_RANK_MAX];
	struct sl__copy_region *region;

	if (!take_order(m, NULL) || !transpose_strides(m, to))
		return 0;
	if (layout) {
		struct sl__strided_layout strided;

		if (sl__strided_layout_of(m->pl, m->node->inputs[0], layout,
					  &strided) &&
		    strided.dtype == in->dtype) {
			m->layouts[0] = layout;
			m->strided_layouts[0] = strided;
		}
	}
	if (m->strided_layouts[0].axis >= 0)
		return transpose_blocks(m, to);
	region = new_region(m, 0, 0, in->rank, in->dims);
	for (int d = 0; d < in->rank; d++) {
		region->space.strides[0][d] = to[d];
		region->space.strides[1][d] = m->strided_layouts[0].strides[d];
	}
	return 1;
}

static int
expand(struct move *m)
{
	const struct sl__type *in = in_type(m, 0), *out = out_type(m, 0);
	int first = out->rank - in->rank;
	int64_t strides[SL__SPACE_RANK_MAX];
	struct sl__copy_region *region;

	if (first < 0 || !take_order(m, NULL))
		return 0;
	region = new_region(m, 0, 0, out->rank, out->dims);
	sl__row_major_strides(region->space.strides[0], (size_t)out->rank,
			      out->dims);
	sl__row_major_strides(strides, (size_t)in->rank, in->dims);
	for (int d = 0; d < in->rank; d++) {
		if (in->dims[d] != 1 && in->dims[d] != out->dims[first + d])
			return 0;
		region->space.strides[1][first + d] =
			in->dims[d] == 1 ? 0 : strides[d];
	}
	return 1;
}

/* Each dimension is two: repeats of it, which the source does not follow, and
 * the dimension itself. */
static int
tile(struct move *m)
{
	const struct sl__type *in = in_type(m, 0), *out = out_type(m, 0);
	int64_t dims[SL__SPACE_RANK_MAX], from[SL__SPACE_RANK_MAX],
		to[SL__SPACE_RANK_MAX];
	struct sl__copy_region *region;

	if (2 * in->rank > SL__SPACE_RANK_MAX || in->rank != out->rank ||
	    m->node->version < 6 || !take_order(m, NULL))
		return 0;
	for (int d = 0; d < in->rank; d++) {
		if (out->dims[d] % in->dims[d])
			return 0;
		dims[2 * d] = out->dims[d] / in->dims[d];
		dims[2 * d + 1] = in->dims[d];
	}
	region = new_region(m, 0, 0, 2 * in->rank, dims);
	sl__row_major_strides(from, (size_t)in->rank, in->dims);
	sl__row_major_strides(to, (size_t)out->rank, out->dims);
	for (int d = 0; d < in->rank; d++) {
		region->space.strides[0][2 * d] = to[d] * in->dims[d];
		region->space.strides[0][2 * d + 1] = to[d];
		region->space.strides[1][2 * d + 1] = from[d];
	}
	return 1;
}

/*
 * [batch][channels][height][width] of the side with more channels, seen as
 * six dimensions: batch, two blocks, channels, height, width.  'deep' are
 * strides of the side with channels, 'wide' of the other.
 */
static int
depth(struct move *m, int is_to_space)
{
	const struct sl__type *in = in_type(m, 0), *out = out_type(m, 0);
	const struct sl__type *deep = is_to_space ? in : out;
	int64_t block = sl__attribute_int(m->node, "blocksize", 0);
	int is_crd =
		!strcmp(sl__attribute_string(m->node, "mode", "DCR"), "CRD");
	int64_t height, width, channels;
	struct sl__copy_region *region;

	if (in->rank != 4 || out->rank != 4 || block < 1 ||
	    !take_order(m, NULL))
		return 0;
	channels = deep->dims[1] / (block * block);
	height = deep->dims[2];
	width = deep->dims[3];
	region = new_region(m, 0, 0, 6,
			    (const int64_t[]){deep->dims[0], block, block,
					      channels, height, width});
	memcpy(region->space.strides[is_to_space],
	       (const int64_t[]){
		       deep->dims[1] * height * width,
		       (is_crd ? block : block * channels) * height * width,
		       (is_crd ? 1 : channels) * height * width,
		       (is_crd ? block * block : 1) * height * width, width, 1},
	       6 * sizeof(int64_t));
	memcpy(region->space.strides[!is_to_space],
	       (const int64_t[]){deep->dims[1] * height * width, block * width,
				 1, block * block * height * width,
				 block * block * width, block},
	       6 * sizeof(int64_t));
	return 1;
}

static int
depth_to_space(struct move *m)
{
	return depth(m, 1);
}

static int
space_to_depth(struct move *m)
{
	return depth(m, 0);
}

struct mover {
	const char *kernel;
	int (*describe)(struct move *m);
};

static const struct mover movers[SL__N_OPS] = {
	[SL__OP_ONNX_Concat] = {"concat", concat},
	[SL__OP_ONNX_DepthToSpace] = {"depth_to_space", depth_to_space},
	[SL__OP_ONNX_Expand] = {"expand", expand},
	[SL__OP_ONNX_Slice] = {"slice", slice},
	[SL__OP_ONNX_SpaceToDepth] = {"space_to_depth", space_to_depth},
	[SL__OP_ONNX_Split] = {"split", split},
	[SL__OP_ONNX_Tile] = {"tile", tile},
	[SL__OP_ONNX_Transpose] = {"transpose", transpose},
};

static int
open_move(struct move *m)
{
	const struct sl__node *node = m->node;
	size_t n = (size_t)node->n_inputs + node->n_outputs;
	int rank = sl__plan_value_type(m->pl, node->inputs[0])->rank;

	m->n_inputs = 1;
	m->cap_regions = (uint32_t)n + 1;
	m->layouts = sl__plan_alloc_state(m->pl, n * sizeof(*m->layouts));
	m->strided_layouts =
		sl__plan_alloc_state(m->pl, n * sizeof(*m->strided_layouts));
	m->regions = sl__plan_alloc_state(m->pl,
					  m->cap_regions * sizeof(*m->regions));
	return !m->pl->rc && rank < SL__SPACE_RANK_MAX &&
	       sl__plan_value_type(m->pl, node->outputs[0])->rank <
		       SL__SPACE_RANK_MAX &&
	       sl__dtype_is_movable(in_type(m, 0)->dtype) &&
	       sl__plan_value_n_elements(m->pl, node->outputs[0]) > 0;
}

/* Whether a box makes a whole output out of a stretch of its input. */
static int
is_view(const struct move *m, const struct sl__copy_region *region)
{
	struct sl__iteration_space l = region->space;
	uint32_t k = region->to - m->n_inputs;

	sl__space_merge_loops(&l);
	return !m->layouts[m->node->n_inputs + k] &&
	       !m->layouts[region->from] && region->to_offset == 0 &&
	       l.rank == 1 && l.strides[0][0] == 1 && l.strides[1][0] == 1 &&
	       (uint64_t)l.dims[0] ==
		       sl__plan_value_n_elements(m->pl, m->node->outputs[k]);
}

/* Reads inputs, makes views of outputs that are some, and storage for the
 * others; boxes of views go. */
static void
place_all(struct move *m, uint32_t *at)
{
	const struct sl__node *node = m->node;
	size_t n_bytes = sl_dtype_bits(in_type(m, 0)->dtype) / 8;
	uint32_t n = 0;

	for (uint32_t i = 0; i < m->n_inputs; i++)
		at[i] = sl__plan_input_buffer(m->pl, node->inputs[i],
					      m->layouts[i]);
	for (uint32_t b = 0; b < m->n_regions; b++) {
		const struct sl__copy_region *region = &m->regions[b];

		if (is_view(m, region))
			sl__plan_view(m->pl,
				      node->outputs[region->to - m->n_inputs],
				      at[region->from],
				      (uint64_t)region->from_offset * n_bytes);
		else
			m->regions[n++] = *region;
	}
	m->n_regions = n;
}

/* Outputs that are not there yet; returns how many operands there are. */
static uint32_t
write_outputs(struct move *m, uint32_t *at)
{
	const struct sl__node *node = m->node;
	uint32_t n = m->n_inputs;

	for (uint32_t k = 0; k < node->n_outputs; k++) {
		if (m->pl->held[node->outputs[k]].n_versions)
			continue;
		at[n] = sl__plan_output_buffer(m->pl, node->outputs[k],
					       m->layouts[node->n_inputs + k]);
		for (uint32_t b = 0; b < m->n_regions; b++) {
			if (m->regions[b].to == m->n_inputs + k)
				m->regions[b].to = n;
		}
		n++;
	}
	return n;
}

int
sl__make_move(struct sl__planner *pl, const struct sl__node *node)
{
	const struct mover *mover = &movers[node->op - sl__ops];
	struct move m = {.pl = pl, .node = node};
	struct sl__data_movement movement;
	uint32_t *at, n_at;

	if (!open_move(&m) || !mover->describe(&m))
		return 0;
	at = sl__plan_alloc_state(
		pl, ((size_t)node->n_inputs + node->n_outputs) * sizeof(*at));
	if (!at)
		return 0;
	place_all(&m, at);
	n_at = write_outputs(&m, at);
	movement.regions = m.regions;
	movement.n = m.n_regions;
	movement.n_bytes =
		sl_dtype_bits(m.layouts[0] ? sl__layout_dtype(m.layouts[0])
					   : in_type(&m, 0)->dtype) /
		8;
	if (m.n_regions)
		sl__plan_data_movement(pl, &movement, at, n_at, mover->kernel);
	return 1;
}
