/* SPDX-License-Identifier: Apache-2.0 */
/*
 * native_softmax.c - Softmax and LogSoftmax.
 *
 * The tensor is [outer][length][inner], and a line runs along 'length'; before
 * version 13 it spans all axes from the given one on.  Lines that lie in one
 * piece are done one by one; others side by side, a band of them at a time.
 */
#include "compute/element_conversion.h"
#include "compute/vector_math.h"
#include "compute/vector_rows.h"
#include "engine/node_steps.h"

#include <math.h>

#include "base/banned.h"

enum { BAND = 512 }; /* lines side by side */

struct softmax {
	int64_t outer, length, inner;
	int is_log;
	void (*line)(const float *x, int64_t n, int is_log, float *y);
	void (*band)(const struct softmax *s, const float *x, int64_t width,
		     float *y);
	unsigned char **at; /* x, y */
};

SL__ROW(largest, -INFINITY, x, sl__max(a, b))
SL__ROW(sum_of_exp, 0, sl__exp(x - knob), a + b)
SL__ROW(sum, 0, x, a + b)

SL__INLINE void
line_body(const float *x, int64_t n, int is_log, float *y)
{
	float most = largest(x, n, 0), factor;

	if (is_log) {
		float shift = most + sl__log(sum_of_exp(x, n, most));

		SL__EACH_ALONE
		for (int64_t i = 0; i < n; i++)
			y[i] = x[i] - shift;
		return;
	}
	SL__EACH_ALONE
	for (int64_t i = 0; i < n; i++)
		y[i] = sl__exp(x[i] - most);
	factor = 1 / sum(y, n, 0);
	SL__EACH_ALONE
	for (int64_t i = 0; i < n; i++)
		y[i] *= factor;
}
SL__VECTOR_TARGETS(line, line_body,
		   (const float *x, int64_t n, int is_log, float *y),
		   (x, n, is_log, y))

/* 'width' lines that lie side by side, 'inner' elements from one to the next
 * along them. */
SL__INLINE void
band_body(const struct softmax *s, const float *x, int64_t width, float *y)
{
	float most[BAND], total[BAND];

	for (int64_t i = 0; i < width; i++) {
		most[i] = -INFINITY;
		total[i] = 0;
	}
	for (int64_t k = 0; k < s->length; k++) {
		for (int64_t i = 0; i < width; i++)
			most[i] = sl__max(x[k * s->inner + i], most[i]);
	}
	for (int64_t k = 0; k < s->length; k++) {
		SL__EACH_ALONE
		for (int64_t i = 0; i < width; i++) {
			float e = x[k * s->inner + i] - most[i];
			float power = sl__exp(e);

			total[i] += power;
			y[k * s->inner + i] = s->is_log ? e : power;
		}
	}
	for (int64_t i = 0; i < width; i++)
		total[i] = s->is_log ? sl__log(total[i]) : 1 / total[i];
	for (int64_t k = 0; k < s->length; k++) {
		float *at = y + k * s->inner;

		SL__EACH_ALONE
		for (int64_t i = 0; i < width; i++)
			at[i] = s->is_log ? at[i] - total[i] : at[i] * total[i];
	}
}
SL__VECTOR_TARGETS(band, band_body,
		   (const struct softmax *s, const float *x, int64_t width,
		    float *y),
		   (s, x, width, y))

static void
run_part(int rank, int n_ranks, void *ctx)
{
	const struct softmax *s = ctx;
	const float *x = (const float *)(void *)s->at[0];
	float *y = (float *)(void *)s->at[1];
	int64_t bands = (s->inner + BAND - 1) / BAND, first, end;

	sl__parallel_range(s->outer * bands, rank, n_ranks, &first, &end);
	for (int64_t i = first; i < end; i++) {
		int64_t column = i % bands * BAND;
		int64_t at = i / bands * s->length * s->inner + column;
		int64_t width = s->inner - column;

		if (s->inner == 1)
			s->line(x + at, s->length, s->is_log, y + at);
		else
			s->band(s, x + at, width < BAND ? width : BAND, y + at);
	}
}

static int
read_lines(const struct sl__planner *pl, const struct sl__node *node,
	   struct softmax *s)
{
	const struct sl__type *type = sl__plan_node_input_type(pl, node, 0);
	int is_old = node->version < 13;
	int64_t given = sl__attribute_int(node, "axis", is_old ? 1 : -1);
	int axis = is_old && given == type->rank
			   ? type->rank
			   : sl__axis_normalize(given, type->rank);
	int end = is_old || axis == type->rank ? type->rank : axis + 1;

	if (type->dtype != SL_DTYPE_F32 || axis < 0 ||
	    !sl__plan_value_n_elements(pl, node->inputs[0]))
		return 0;
	s->outer = sl__sizes_product(type, 0, axis);
	s->length = sl__sizes_product(type, axis, end);
	s->inner = sl__sizes_product(type, end, type->rank);
	s->is_log = sl__is_op(node, SL__OP_ONNX_LogSoftmax);
	s->line = line_for();
	s->band = band_for();
	return 1;
}

int
sl__make_softmax(struct sl__planner *pl, const struct sl__node *node)
{
	struct softmax *s = sl__plan_alloc_state(pl, sizeof(*s));
	struct sl__step *step;
	uint32_t at[2];

	if (!s || !read_lines(pl, node, s))
		return 0;
	at[0] = sl__plan_input_buffer(pl, node->inputs[0], NULL);
	at[1] = sl__plan_output_in_place(pl, node->outputs[0], NULL, at[0]);
	step = sl__plan_add_parallel_step(
		pl, at, 2, s->is_log ? "log_softmax" : "softmax", run_part, s);
	/* An exponential takes some twice as long as its element's way. */
	step->n_threads = sl__threads_for_bytes(pl->program->n_threads,
						2 * step->n_bytes);
	s->at = step->at;
	return 1;
}
