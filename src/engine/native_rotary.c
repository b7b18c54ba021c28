/* SPDX-License-Identifier: Apache-2.0 */
/*
 * native_rotary.c - pairs of elements turned by angles of their positions:
 * RotaryEmbedding.
 *
 * Rows of heads lie as [batch][head][token] or, flat, as [batch][token][head];
 * the tables of angles have a row for each place, or for each token.
 */
#include "base/status.h"
#include "compute/parallel.h"
#include "engine/node_steps.h"
#include "graph/op_rules.h"

#include <string.h>

#include "base/banned.h"

struct rotary {
	int64_t batch, n_heads, n_rows, width, n_pairs;
	int64_t n_angles; /* rows of the tables */
	int64_t n_places; /* one for each token, or one for all; 0: none */
	int is_flat, is_interleaved;
	unsigned char **at; /* x, cosines, sines, y or places, y */
};
enum { AT_X, AT_COSINES, AT_SINES, AT_PLACES };

/* The row of the tables for token i; -1: none. */
static int64_t
angle_of(const struct rotary *r, int64_t i)
{
	int64_t at = i;

	if (r->n_places)
		memcpy(&at, r->at[AT_PLACES] + (r->n_places == 1 ? 0 : 8 * i),
		       sizeof(at));
	if (at < 0 || at >= r->n_angles)
		return -1;
	at += r->n_places == 1 ? i % r->n_rows : 0;
	return at < r->n_angles ? at : -1;
}

static void
turn(const struct rotary *r, const float *restrict x, float *restrict y,
     int64_t angle)
{
	const float *c = (const float *)(void *)r->at[AT_COSINES];
	const float *s = (const float *)(void *)r->at[AT_SINES];
	int64_t n = r->n_pairs;

	c += angle * n;
	s += angle * n;
	for (int64_t i = 0; r->is_interleaved && i < n; i++) {
		y[2 * i] = x[2 * i] * c[i] - x[2 * i + 1] * s[i];
		y[2 * i + 1] = x[2 * i] * s[i] + x[2 * i + 1] * c[i];
	}
	for (int64_t i = 0; !r->is_interleaved && i < n; i++) {
		y[i] = x[i] * c[i] - x[n + i] * s[i];
		y[n + i] = x[i] * s[i] + x[n + i] * c[i];
	}
	memcpy(y + 2 * n, x + 2 * n, (size_t)(r->width - 2 * n) * sizeof(*y));
}

/* Threads take rows of x in the order in which they lie. */
static void
part(int rank, int n_ranks, void *ctx)
{
	const struct rotary *r = ctx;
	const float *x = (const float *)(void *)r->at[AT_X];
	float *y = (float *)(void *)r->at[AT_PLACES + (r->n_places > 0)];
	int64_t first, end;

	sl__parallel_range(r->batch * r->n_heads * r->n_rows, rank, n_ranks,
			   &first, &end);
	for (int64_t i = first; i < end; i++) {
		int64_t sample = i / (r->n_heads * r->n_rows);
		int64_t row = r->is_flat ? i / r->n_heads % r->n_rows
					 : i % r->n_rows;

		turn(r, x + i * r->width, y + i * r->width,
		     angle_of(r, sample * r->n_rows + row));
	}
}

static enum sl_status
run(struct sl__step *step, struct sl_error *err)
{
	const struct rotary *r = step->state;

	for (int64_t i = 0; i < r->batch * r->n_rows; i++) {
		if (angle_of(r, i) < 0)
			return sl__fail(err, SL_E_DATA,
					"no angles for token %lld",
					(long long)i);
	}
	sl__parallel_run(step->n_threads, part, step->state);
	return SL_OK;
}

/* What the reference kernel refuses is left to it. */
static int
read_heads(struct rotary *r, const struct sl__type *x,
	   const struct sl__node *node, int64_t columns)
{
	int64_t turned = sl__attribute_int(node, "rotary_embedding_dim", 0);

	r->is_flat = x->rank == 3;
	r->batch = x->dims[0];
	r->n_heads = x->dims[1];
	r->n_rows = x->dims[r->is_flat ? 1 : 2];
	r->width = x->dims[x->rank - 1];
	if (r->is_flat) {
		r->n_heads = sl__attribute_int(node, "num_heads", 0);
		if (r->n_heads < 1 && columns > 0)
			r->n_heads = r->width / (2 * columns);
		if (r->n_heads < 1 || r->width % r->n_heads)
			return 0;
		r->width /= r->n_heads;
	}
	turned = turned > 0 ? turned : r->width;
	r->n_pairs = turned / 2;
	r->is_interleaved = sl__attribute_int(node, "interleaved", 0) != 0;
	return turned <= r->width && turned % 2 == 0 && columns == r->n_pairs &&
	       columns > 0;
}

static int
is_f32(const struct sl__planner *pl, uint32_t value)
{
	return value != SL__NONE &&
	       sl__plan_value_type(pl, value)->dtype == SL_DTYPE_F32 &&
	       sl__plan_value_n_elements(pl, value) > 0;
}

static int
read_rotary(struct rotary *r, const struct sl__planner *pl,
	    const struct sl__node *node, const uint32_t *values)
{
	const struct sl__type *x = sl__plan_node_input_type(pl, node, 0);
	const struct sl__type *c;
	int64_t tokens;

	if (!is_f32(pl, values[AT_X]) || !is_f32(pl, values[AT_COSINES]) ||
	    !is_f32(pl, values[AT_SINES]) || (x->rank != 3 && x->rank != 4))
		return 0;
	c = sl__plan_value_type(pl, values[AT_COSINES]);
	if (c->rank < 1 || !read_heads(r, x, node, c->dims[c->rank - 1]) ||
	    sl__plan_value_n_elements(pl, values[AT_COSINES]) !=
		    sl__plan_value_n_elements(pl, values[AT_SINES]))
		return 0;
	tokens = r->batch * r->n_rows;
	r->n_angles = sl__sizes_product(c, 0, c->rank - 1);
	if (values[AT_PLACES] == SL__NONE)
		return r->n_angles == tokens;
	r->n_places = (int64_t)sl__plan_value_n_elements(pl, values[AT_PLACES]);
	return sl__plan_value_type(pl, values[AT_PLACES])->dtype ==
		       SL_DTYPE_I64 &&
	       (r->n_places == 1 || r->n_places == tokens);
}

/* ONNX has the places last, com.microsoft second. */
int
sl__make_rotary(struct sl__planner *pl, const struct sl__node *node)
{
	int is_other = sl__is_op(node, SL__OP_MS_RotaryEmbedding);
	uint32_t values[AT_PLACES + 1] = {
		sl__plan_node_input(node, 0),
		sl__plan_node_input(node, is_other ? 2 : 1),
		sl__plan_node_input(node, is_other ? 3 : 2),
		sl__plan_node_input(node, is_other ? 1 : 3)};
	struct rotary *r = sl__plan_alloc_state(pl, sizeof(*r));
	uint32_t operands[AT_PLACES + 2], n = AT_PLACES;
	struct sl__step *step;

	if (!r || !read_rotary(r, pl, node, values))
		return 0;
	n += r->n_places > 0;
	for (uint32_t i = 0; i < n; i++)
		operands[i] = sl__plan_input_buffer(pl, values[i], NULL);
	operands[n] = sl__plan_output_buffer(pl, node->outputs[0], NULL);
	step = sl__plan_add_step(pl, operands, n + 1, "rotary", run, r);
	step->part = part;
	step->n_threads = sl__threads_for_bytes(
		step->n_threads, 2 * sl__plan_value_bytes(pl, values[AT_X]));
	r->at = step->at;
	return 1;
}
