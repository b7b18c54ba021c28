/* SPDX-License-Identifier: Apache-2.0 */
/*
 * native_quantize.c - real numbers to small integers, and back.
 *
 * Scales are read when the step runs, so they may be made by the model.  A
 * tensor is lines of elements that share one; a whole one is a single line,
 * in whatever order its elements lie.
 */
#include "compute/vector.h"
#include "engine/node_steps.h"
#include "engine/quantized.h"

#include "base/banned.h"

/* Adding and taking off 1.5 * 2^23 leaves a number below 2^22 rounded to the
 * nearest integer, to even where two are as near.  Codes are written in bytes
 * of either type: the least is 0 or -128. */
SL__INLINE void
quantize_line(const float *x, int64_t n, float scale, int32_t zero,
	      int32_t least, uint8_t *y)
{
	for (int64_t i = 0; i < n; i++) {
		float v = x[i] / scale;
		int32_t code;

		v = v != v ? 0 : v; /* NaN */
		v = sl__min(sl__max(v, -1024), 1024);
		code = (int32_t)((v + 0x1.8p23F) - 0x1.8p23F) + zero;
		code = code < least ? least : code;
		y[i] = (uint8_t)(code > least + 255 ? least + 255 : code);
	}
}

SL__INLINE void
dequantize_line(const uint8_t *x, int64_t n, float scale, int32_t zero,
		int32_t least, float *y)
{
	uint8_t flip = least ? 0x80 : 0;

	for (int64_t i = 0; i < n; i++)
		y[i] = (float)((x[i] ^ flip) + least - zero) * scale;
}

SL__INLINE void
find_range(const float *x, int64_t n, float *least, float *most)
{
	float low[16] = {0}, high[16] = {0};
	int64_t whole = n - n % 16;

	for (int64_t i = 0; i < whole; i += 16) {
		for (int k = 0; k < 16; k++) {
			low[k] = sl__min(x[i + k], low[k]);
			high[k] = sl__max(x[i + k], high[k]);
		}
	}
	for (int64_t i = whole; i < n; i++) {
		low[0] = sl__min(x[i], low[0]);
		high[0] = sl__max(x[i], high[0]);
	}
	*least = *most = 0;
	for (int k = 0; k < 16; k++) {
		*least = sl__min(low[k], *least);
		*most = sl__max(high[k], *most);
	}
}

typedef void quantize_function(const float *, int64_t, float, int32_t, int32_t,
			       uint8_t *);
typedef void dequantize_function(const uint8_t *, int64_t, float, int32_t,
				 int32_t, float *);

SL__VECTOR_TARGETS(quantize, quantize_line,
		   (const float *x, int64_t n, float scale, int32_t zero,
		    int32_t least, uint8_t *y),
		   (x, n, scale, zero, least, y))
SL__VECTOR_TARGETS(dequantize, dequantize_line,
		   (const uint8_t *x, int64_t n, float scale, int32_t zero,
		    int32_t least, float *y),
		   (x, n, scale, zero, least, y))
SL__VECTOR_TARGETS(range, find_range,
		   (const float *x, int64_t n, float *least, float *most),
		   (x, n, least, most))

struct change {
	int64_t n_lines, length; /* elements of a line */
	int64_t n_scales;        /* line i has number i % n_scales */
	int has_zeros;
	enum sl_dtype whole; /* of the integers */
	quantize_function *quantize;
	dequantize_function *dequantize; /* one of both is set */
	unsigned char *const *at;        /* x, y, scales, zeros */
};

static int32_t
zero_at(const struct change *c, int64_t i)
{
	const unsigned char *zeros = c->has_zeros ? c->at[3] : NULL;

	if (!zeros)
		return 0;
	if (c->whole == SL_DTYPE_I32)
		return ((const int32_t *)(const void *)zeros)[i];
	return c->whole == SL_DTYPE_U8 ? zeros[i] : (int8_t)zeros[i];
}

static void
dequantize_i32(const int32_t *x, int64_t n, float scale, int32_t zero, float *y)
{
	for (int64_t i = 0; i < n; i++)
		y[i] = (float)((double)((int64_t)x[i] - zero) * (double)scale);
}

/* Elements first .. first + n - 1, all of line 'line'. */
static void
change_stretch(const struct change *c, int64_t line, int64_t first, int64_t n)
{
	const float *scales = (const float *)(const void *)c->at[2];
	int64_t which = c->n_scales == 1 ? 0 : line % c->n_scales;
	int32_t zero = zero_at(c, which);
	int32_t least = c->whole == SL_DTYPE_U8 ? 0 : -128;
	float *real = (float *)(void *)c->at[c->quantize ? 0 : 1] + first;
	uint8_t *small = c->at[c->quantize ? 1 : 0] + first;

	if (c->quantize)
		c->quantize(real, n, scales[which], zero, least, small);
	else if (c->whole == SL_DTYPE_I32)
		dequantize_i32((const int32_t *)(const void *)c->at[0] + first,
			       n, scales[which], zero, real);
	else
		c->dequantize(small, n, scales[which], zero, least, real);
}

static void
run_part(int rank, int n_ranks, void *ctx)
{
	const struct change *c = ctx;
	int64_t at, end;

	sl__parallel_range(c->n_lines * c->length, rank, n_ranks, &at, &end);
	while (at < end) {
		int64_t line = at / c->length;
		int64_t n = (line + 1) * c->length - at;

		n = n < end - at ? n : end - at;
		change_stretch(c, line, at, n);
		at += n;
	}
}

/* Which elements share a scale; 0 for blocks of them. */
static int
measure(struct change *c, const struct sl__planner *pl,
	const struct sl__node *node)
{
	const struct sl__type *x = sl__plan_node_input_type(pl, node, 0);
	uint32_t scale = sl__plan_node_input(node, 1),
		 zero = sl__plan_node_input(node, 2);
	int axis;

	c->n_scales = (int64_t)sl__plan_value_n_elements(pl, scale);
	c->n_lines = 1;
	c->length = (int64_t)sl__plan_value_n_elements(pl, node->inputs[0]);
	c->has_zeros = zero != SL__NONE;
	if (!c->length || sl__attribute_int(node, "block_size", 0) ||
	    sl__attribute_int(node, "precision", 0) ||
	    (c->has_zeros &&
	     ((int64_t)sl__plan_value_n_elements(pl, zero) != c->n_scales ||
	      sl__plan_value_type(pl, zero)->dtype != c->whole)))
		return 0;
	if (c->n_scales == 1)
		return 1;
	axis = sl__axis_normalize(sl__attribute_int(node, "axis", 1), x->rank);
	if (axis < 0 || x->dims[axis] != c->n_scales)
		return 0;
	c->n_lines = sl__sizes_product(x, 0, axis + 1);
	c->length = sl__sizes_product(x, axis + 1, x->rank);
	return 1;
}

static void
add_step(struct sl__planner *pl, const struct sl__node *node, struct change *c)
{
	uint32_t x = node->inputs[0], y = node->outputs[0], at[4];
	const struct sl__layout *layout =
		c->n_scales == 1 ? sl__plan_find_unpadded_layout(pl, x) : NULL;
	const struct sl__layout *to = sl__layout_retyped(
		pl, layout, sl__plan_value_type(pl, y)->dtype);
	struct sl__step *step;

	if (!to)
		layout = NULL;
	at[0] = sl__plan_input_buffer(pl, x, layout);
	at[2] = sl__plan_input_buffer(pl, node->inputs[1], NULL);
	if (c->has_zeros)
		at[3] = sl__plan_input_buffer(pl, node->inputs[2], NULL);
	at[1] = sl__plan_output_buffer(pl, y, to);
	step = sl__plan_add_parallel_step(
		pl, at, c->has_zeros ? 4 : 3,
		c->quantize ? "quantize" : "dequantize", run_part, c);
	step->n_threads = sl__threads_for_bytes(
		pl->program->n_threads, 5 * (uint64_t)(c->n_lines * c->length));
	c->at = step->at;
}

/* QuantizeLinear to bytes, DequantizeLinear from bytes or int32. */
int
sl__make_quantize(struct sl__planner *pl, const struct sl__node *node)
{
	int is_back = sl__is_op(node, SL__OP_ONNX_DequantizeLinear) ||
		      sl__is_op(node, SL__OP_MS_DequantizeLinear);
	uint32_t whole = is_back ? node->inputs[0] : node->outputs[0];
	uint32_t real = is_back ? node->outputs[0] : node->inputs[0];
	struct change *c = sl__plan_alloc_state(pl, sizeof(*c));

	if (!c)
		return 0;
	c->whole = sl__plan_value_type(pl, whole)->dtype;
	if (sl__plan_value_type(pl, real)->dtype != SL_DTYPE_F32 ||
	    sl__plan_node_input_type(pl, node, 1)->dtype != SL_DTYPE_F32 ||
	    !(sl__is_8bit_integer(c->whole) ||
	      (is_back && c->whole == SL_DTYPE_I32)) ||
	    !measure(c, pl, node))
		return 0;
	if (is_back)
		c->dequantize = dequantize_for();
	else
		c->quantize = quantize_for();
	add_step(pl, node, c);
	return 1;
}

enum sl_status
sl__run_dynamic_quantize(struct sl__step *step, struct sl_error *err)
{
	const struct sl__dynamic_quantize *s = step->state;
	const float *x = (const float *)(const void *)step->at[0];
	float *scale = (float *)(void *)step->at[2];
	uint8_t *zero = step->at[3];
	float least, most, low;

	(void)err;
	range_for()(x, s->n, &least, &most);
	*scale = most > least ? (most - least) / 255.0F : 1;
	low = -least;
	quantize_for()(&low, 1, *scale, 0, 0, zero);
	quantize_for()(x, s->n, *scale, *zero, 0, step->at[1]);
	return SL_OK;
}

/* DynamicQuantizeLinear. */
int
sl__make_dynamic_quantize(struct sl__planner *pl, const struct sl__node *node)
{
	struct sl__dynamic_quantize *s = sl__plan_alloc_state(pl, sizeof(*s));
	uint32_t at[4];

	if (!s)
		return 0;
	s->n = (int64_t)sl__plan_value_n_elements(pl, node->inputs[0]);
	if (!s->n || node->n_outputs != 3 ||
	    sl__plan_node_input_type(pl, node, 0)->dtype != SL_DTYPE_F32)
		return 0;
	for (uint32_t k = 0; k < 3; k++) {
		if (node->outputs[k] == SL__NONE)
			return 0;
	}
	at[0] = sl__plan_input_buffer(pl, node->inputs[0], NULL);
	for (uint32_t k = 0; k < 3; k++)
		at[k + 1] = sl__plan_output_buffer(pl, node->outputs[k], NULL);
	sl__plan_add_step(pl, at, 4, "quantize to what it spans",
			  sl__run_dynamic_quantize, s);
	return 1;
}
