/* SPDX-License-Identifier: Apache-2.0 */
/*
 * native_pad.c - elements added around a tensor, or taken away.
 *
 * Along each dimension the result has up to three stretches: what comes
 * before, the input's own, what comes after.  A stretch follows the input
 * forwards, backwards or stays at one element, so every combination of them
 * is a box (data_movement.h).  A constant is a source of one element.
 */
#include "engine/data_movement.h"
#include "engine/node_steps.h"

#include <string.h>

#include "base/banned.h"

enum { REGIONS_MAX = 81 }; /* four dimensions of three stretches */

struct stretch {
	int64_t to, n;      /* where it starts in the result, how long */
	int64_t from, step; /* in the input */
	int is_new;
};

struct pad {
	int rank;
	const int64_t *in, *out; /* sizes */
	struct stretch stretches[SL__SPACE_RANK_MAX][3];
	int n_stretches[SL__SPACE_RANK_MAX];
	struct sl__copy_region *regions;
	uint32_t n_regions;
};

enum mode { CONSTANT, REFLECT, EDGE, WRAP, OTHER };

static enum mode
mode_of(const struct sl__node *node)
{
	static const char *const names[] = {"constant", "reflect", "edge",
					    "wrap"};
	const char *word = sl__attribute_string(node, "mode", "constant");

	for (int i = 0; i < OTHER; i++) {
		if (!strcmp(word, names[i]))
			return (enum mode)i;
	}
	return OTHER;
}

/* before[d] and after[d]: elements that come in, or go where negative. */
static int
read_amounts(struct sl__planner *pl, const struct sl__node *node, int rank,
	     int64_t *before, int64_t *after)
{
	const char *name = node->version < 2 ? "paddings" : "pads";
	const int64_t *pads, *axes;
	size_t n, n_axes;

	if (!sl__plan_node_integer_list(pl, node, 1, name, &pads, &n) ||
	    !sl__plan_node_integer_list(pl, node, 3, NULL, &axes, &n_axes) ||
	    n != 2 * (axes ? n_axes : (size_t)rank))
		return 0;
	n /= 2;
	memset(before, 0, (size_t)rank * sizeof(*before));
	memset(after, 0, (size_t)rank * sizeof(*after));
	for (size_t i = 0; i < n; i++) {
		int d = axes ? sl__axis_normalize(axes[i], rank) : (int)i;

		if (d < 0)
			return 0;
		before[d] = pads[i];
		after[d] = pads[n + i];
	}
	return 1;
}

/* The stretches of one dimension; 0 where they take more than three. */
static int
find_stretches(struct pad *p, int d, int64_t before, int64_t after,
	       enum mode mode)
{
	int64_t low = before < 0 ? -before : 0;
	int64_t n = p->in[d] - low - (after < 0 ? -after : 0);
	int64_t most = mode == REFLECT ? n - 1 : mode == WRAP ? n : INT64_MAX;
	struct stretch *s = p->stretches[d];
	int64_t ahead = before > 0 ? before : 0, behind = after > 0 ? after : 0;

	if (n < 1 || ahead > most || behind > most ||
	    ahead + n + behind != p->out[d])
		return 0;
	p->n_stretches[d] = 0;
	if (ahead)
		s[p->n_stretches[d]++] = (struct stretch){
			0, ahead,
			mode == REFLECT ? low + ahead
			: mode == WRAP  ? low + n - ahead
					: low,
			mode == REFLECT ? -1 : mode == WRAP, mode == CONSTANT};
	s[p->n_stretches[d]++] = (struct stretch){ahead, n, low, 1, 0};
	if (behind)
		s[p->n_stretches[d]++] = (struct stretch){
			ahead + n, behind,
			mode == REFLECT ? low + n - 2
			: mode == WRAP  ? low
					: low + n - 1,
			mode == REFLECT ? -1 : mode == WRAP, mode == CONSTANT};
	return 1;
}

/* The box of one combination; operands are input, result, constant. */
static void
fill_region(struct pad *p, const int *chosen, struct sl__copy_region *region)
{
	int64_t dims[SL__SPACE_RANK_MAX], to[SL__SPACE_RANK_MAX],
		from[SL__SPACE_RANK_MAX];
	int is_new = 0;

	sl__row_major_strides(to, (size_t)p->rank, p->out);
	sl__row_major_strides(from, (size_t)p->rank, p->in);
	for (int d = 0; d < p->rank; d++) {
		dims[d] = p->stretches[d][chosen[d]].n;
		is_new |= p->stretches[d][chosen[d]].is_new;
	}
	sl__space_init(&region->space, p->rank, dims);
	region->space.n = 2;
	region->to = 1;
	region->from = is_new ? 2 : 0;
	for (int d = 0; d < p->rank; d++) {
		const struct stretch *s = &p->stretches[d][chosen[d]];

		region->space.strides[0][d] = to[d];
		region->to_offset += s->to * to[d];
		if (is_new)
			continue;
		region->space.strides[1][d] = s->step * from[d];
		region->from_offset += s->from * from[d];
	}
}

/* All combinations of stretches, the last dimension's fastest. */
static int
make_regions(struct sl__planner *pl, struct pad *p)
{
	int chosen[SL__SPACE_RANK_MAX] = {0};
	uint32_t n = 1;
	int d;

	for (d = 0; d < p->rank && n <= REGIONS_MAX; d++)
		n *= (uint32_t)p->n_stretches[d];
	if (n > REGIONS_MAX)
		return 0;
	p->regions = sl__plan_alloc_state(pl, n * sizeof(*p->regions));
	if (!p->regions)
		return 0;
	while (p->n_regions < n) {
		fill_region(p, chosen, &p->regions[p->n_regions++]);
		for (d = p->rank - 1; d >= 0; d--) {
			if (++chosen[d] < p->n_stretches[d])
				break;
			chosen[d] = 0;
		}
	}
	return 1;
}

static int
read_pad(struct sl__planner *pl, const struct sl__node *node, struct pad *p)
{
	const struct sl__type *in = sl__plan_node_input_type(pl, node, 0);
	const struct sl__type *out = sl__plan_node_output_type(pl, node, 0);
	int64_t before[SL__SPACE_RANK_MAX], after[SL__SPACE_RANK_MAX];
	uint32_t value = sl__plan_node_input(node, 2);
	enum mode mode = mode_of(node);

	p->rank = in->rank;
	p->in = in->dims;
	p->out = out->dims;
	if (mode == OTHER || in->rank >= SL__SPACE_RANK_MAX ||
	    in->rank != out->rank || !sl__dtype_is_movable(in->dtype) ||
	    (value != SL__NONE &&
	     sl__plan_value_type(pl, value)->dtype != in->dtype) ||
	    !sl__plan_value_n_elements(pl, sl__plan_node_output(node, 0)) ||
	    !read_amounts(pl, node, in->rank, before, after))
		return 0;
	for (int d = 0; d < in->rank; d++) {
		if (!find_stretches(p, d, before[d], after[d], mode))
			return 0;
	}
	return make_regions(pl, p);
}

/* The element that comes in: an input, or a constant made here. */
static uint32_t
read_constant(struct sl__planner *pl, const struct sl__node *node)
{
	double number = sl__attribute_float(node, "value", 0);
	uint32_t value = sl__plan_node_input(node, 2), buffer;
	void *data;

	if (value != SL__NONE && sl__plan_value_n_elements(pl, value))
		return sl__plan_input_buffer(pl, value, NULL);
	buffer = sl__plan_persistent_buffer(pl, sizeof(double), &data);
	if (data)
		sl__store_doubles(data,
				  sl__plan_node_input_type(pl, node, 0)->dtype,
				  0, 1, &number);
	return buffer;
}

int
sl__make_pad(struct sl__planner *pl, const struct sl__node *node)
{
	struct pad *p = sl__plan_alloc_state(pl, sizeof(*p));
	struct sl__data_movement movement;
	uint32_t at[3];

	if (!p || !read_pad(pl, node, p))
		return 0;
	at[0] = sl__plan_input_buffer(pl, node->inputs[0], NULL);
	at[2] = read_constant(pl, node);
	at[1] = sl__plan_output_buffer(pl, node->outputs[0], NULL);
	movement.regions = p->regions;
	movement.n = p->n_regions;
	movement.n_bytes =
		sl_dtype_bits(sl__plan_node_input_type(pl, node, 0)->dtype) / 8;
	sl__plan_data_movement(pl, &movement, at, 3, "pad");
	return 1;
}
