/* SPDX-License-Identifier: Apache-2.0 */
/*
 * native_grad.c - gradients of functions of one number, of softmax and of
 * embeddings, in f32.
 */
#include "compute/vector_math.h"
#include "compute/vector_rows.h"
#include "engine/node_steps.h"

#include <math.h>
#include <string.h>

#include "base/banned.h"

typedef void slope_function(const float *dy, const float *x, float *dx,
			    int64_t n, const float *ab);

/* dx = dy times the slope, by v, which is x or, where the slope follows from
 * it, y (grad_elementwise.c). */
#define SLOPE(name, formula)                                               \
	SL__INLINE void name##_body(const float *dy, const float *x,       \
				    float *dx, int64_t n, const float *ab) \
	{                                                                  \
		float a = ab[0], b = ab[1];                                \
                                                                           \
		(void)a;                                                   \
		(void)b;                                                   \
		SL__EACH_ALONE                                             \
		for (int64_t i = 0; i < n; i++) {                          \
			float v = x[i];                                    \
                                                                           \
			dx[i] = dy[i] * (formula);                         \
		}                                                          \
	}                                                                  \
	SL__VECTOR_TARGETS(name, name##_body,                              \
			   (const float *dy, const float *x, float *dx,    \
			    int64_t n, const float *ab),                   \
			   (dy, x, dx, n, ab))

/* 1 / sqrt(2), 1 / sqrt(2 pi), sqrt(2 / pi). */
#define ROOT_HALF      0.70710678F
#define DENSITY        0.39894228F
#define ROOT_2_OVER_PI 0.79788456F

SL__INLINE float
gelu_slope(float x)
{
	return 0.5F * (1 + sl__erf(x * ROOT_HALF)) +
	       x * DENSITY * sl__exp(-0.5F * x * x);
}

SL__INLINE float
gelu_tanh_slope(float x)
{
	float t = sl__tanh(ROOT_2_OVER_PI * (x + 0.044715F * x * x * x));

	return 0.5F * (1 + t) + 0.5F * x * (1 - t * t) * ROOT_2_OVER_PI *
					(1 + 3 * 0.044715F * x * x);
}

SL__INLINE float
swish_slope(float x, float a)
{
	float s = sl__sigmoid(a * x);

	return s + a * x * s * (1 - s);
}

SL__INLINE float
hard_swish_slope(float x, float a, float b)
{
	float gate = a * x + b;

	return gate <= 0 ? 0 : gate >= 1 ? 1 : gate + a * x;
}

SLOPE(clip, v >= a && v <= b ? 1 : 0)
SLOPE(elu, v < 0 ? a * sl__exp(v) : 1)
SLOPE(exp, v)
SLOPE(gelu, gelu_slope(v))
SLOPE(gelu_tanh, gelu_tanh_slope(v))
SLOPE(hard_sigmoid, a *v + b > 0 && a * v + b < 1 ? a : 0)
SLOPE(hard_swish, hard_swish_slope(v, a, b))
SLOPE(leaky_relu, v < 0 ? a : 1)
SLOPE(log, 1 / v)
SLOPE(reciprocal, -v *v)
SLOPE(relu, v > 0 ? 1 : 0)
SLOPE(sigmoid, v *(1 - v))
SLOPE(softplus, sl__sigmoid(v))
SLOPE(sqrt, 0.5F / v)
SLOPE(swish, swish_slope(v, a))
SLOPE(tanh, 1 - v * v)

static const struct {
	const char *name;
	slope_function *(*find)(void);
} slopes[] = {
	{"Clip", clip_for},
	{"Elu", elu_for},
	{"Exp", exp_for},
	{"Gelu", gelu_for},
	{"GeluTanh", gelu_tanh_for},
	{"HardSigmoid", hard_sigmoid_for},
	{"HardSwish", hard_swish_for},
	{"LeakyRelu", leaky_relu_for},
	{"Log", log_for},
	{"Reciprocal", reciprocal_for},
	{"Relu", relu_for},
	{"Sigmoid", sigmoid_for},
	{"Softplus", softplus_for},
	{"Sqrt", sqrt_for},
	{"Swish", swish_for},
	{"Tanh", tanh_for},
};

struct unary {
	slope_function *apply;
	int64_t n;
	float ab[2];
	unsigned char **at; /* dy, x, dx */
};

static void
run_unary(int rank, int n_ranks, void *ctx)
{
	const struct unary *u = ctx;
	const float *dy = (const float *)(void *)u->at[0];
	const float *x = (const float *)(void *)u->at[1];
	float *dx = (float *)(void *)u->at[2];
	int64_t first, end;

	sl__parallel_range(u->n, rank, n_ranks, &first, &end);
	u->apply(dy + first, x + first, dx + first, end - first, u->ab);
}

/* Two inputs of f32 and the output over the first of them. */
static void
add_operands(struct sl__planner *pl, const struct sl__node *node, uint32_t *at)
{
	at[0] = sl__plan_input_buffer(pl, node->inputs[0], NULL);
	at[1] = sl__plan_input_buffer(pl, node->inputs[1], NULL);
	at[2] = sl__plan_output_over_first(pl, node->outputs[0], at, 2);
}

static int
is_f32(const struct sl__planner *pl, uint32_t value)
{
	return sl__plan_value_type(pl, value)->dtype == SL_DTYPE_F32 &&
	       sl__plan_value_n_elements(pl, value);
}

int
sl__make_unary_grad(struct sl__planner *pl, const struct sl__node *node)
{
	const char *name = sl__attribute_string(node, "function", "");
	struct unary *u = sl__plan_alloc_state(pl, sizeof(*u));
	uint32_t at[3];

	if (!u || !is_f32(pl, node->inputs[0]) || !is_f32(pl, node->inputs[1]))
		return 0;
	for (size_t i = 0; i < sizeof(slopes) / sizeof(slopes[0]); i++) {
		if (!strcmp(slopes[i].name, name))
			u->apply = slopes[i].find();
	}
	if (!u->apply)
		return 0;
	u->n = (int64_t)sl__plan_value_n_elements(pl, node->inputs[0]);
	u->ab[0] = (float)sl__attribute_float(node, "alpha", 0);
	u->ab[1] = (float)sl__attribute_float(node, "beta", 0);
	add_operands(pl, node, at);
	u->at = sl__plan_add_parallel_step(pl, at, 3, "slope", run_unary, u)
			->at;
	return 1;
}

/* [n_lines][length], one after the other. */
struct softmax {
	int64_t n_lines, length;
	int is_log;
	void (*line)(const float *dy, const float *y, float *dx, int64_t n,
		     int is_log);
	unsigned char **at; /* dy, y, dx */
};

SL__ROW(sum_of, 0, x, a + b)

SL__INLINE void
line_body(const float *dy, const float *y, float *dx, int64_t n, int is_log)
{
	float sum = is_log ? sum_of(dy, n, 0) : sl__dot(dy, y, n);

	SL__EACH_ALONE
	for (int64_t i = 0; i < n; i++)
		dx[i] = is_log ? dy[i] - sl__exp(y[i]) * sum
			       : y[i] * (dy[i] - sum);
}
SL__VECTOR_TARGETS(line, line_body,
		   (const float *dy, const float *y, float *dx, int64_t n,
		    int is_log),
		   (dy, y, dx, n, is_log))

static void
run_softmax(int rank, int n_ranks, void *ctx)
{
	const struct softmax *s = ctx;
	const float *dy = (const float *)(void *)s->at[0];
	const float *y = (const float *)(void *)s->at[1];
	float *dx = (float *)(void *)s->at[2];
	int64_t first, end;

	sl__parallel_range(s->n_lines, rank, n_ranks, &first, &end);
	for (int64_t i = first; i < end; i++)
		s->line(dy + i * s->length, y + i * s->length,
			dx + i * s->length, s->length, s->is_log);
}

int
sl__make_softmax_grad(struct sl__planner *pl, const struct sl__node *node)
{
	const struct sl__type *type = sl__plan_node_input_type(pl, node, 0);
	struct softmax *s = sl__plan_alloc_state(pl, sizeof(*s));
	int axis = sl__axis_normalize(sl__attribute_int(node, "axis", -1),
				      type->rank);
	uint32_t at[3];

	if (!s || axis < 0 || !is_f32(pl, node->inputs[0]) ||
	    sl__sizes_product(type, axis + 1, type->rank) != 1)
		return 0;
	s->n_lines = sl__sizes_product(type, 0, axis);
	s->length = type->dims[axis];
	s->is_log = sl__is_op(node, SL__OP_SLEUTH_LogSoftmaxGrad);
	s->line = line_for();
	add_operands(pl, node, at);
	s->at = sl__plan_add_parallel_step(pl, at, 3, "softmax_grad",
					   run_softmax, s)
			->at;
	return 1;
}

/* dy [outer][n][inner] added to the rows of dx [outer][n_rows][inner] that the
 * indices tell.  Threads share the columns, so that each sum has one order. */
struct gather {
	int64_t outer, n, n_rows, inner;
	unsigned char **at; /* dy, indices, dx */
};

static void
run_gather(int rank, int n_ranks, void *ctx)
{
	const struct gather *g = ctx;
	const float *dy = (const float *)(void *)g->at[0];
	const int64_t *indices = (const int64_t *)(void *)g->at[1];
	float *dx = (float *)(void *)g->at[2];
	int64_t first, end;

	sl__parallel_range(g->inner, rank, n_ranks, &first, &end);
	for (int64_t r = 0; r < g->outer * g->n_rows; r++)
		memset(dx + r * g->inner + first, 0,
		       (size_t)(end - first) * sizeof(*dx));
	for (int64_t i = 0; i < g->outer * g->n; i++) {
		int64_t row = indices[i % g->n];
		const float *from = dy + i * g->inner;
		float *to;

		row += row < 0 ? g->n_rows : 0;
		/* The forward node has refused what lies outside. */
		if (row < 0 || row >= g->n_rows)
			continue;
		to = dx + (i / g->n * g->n_rows + row) * g->inner;
		SL__EACH_ALONE
		for (int64_t k = first; k < end; k++)
			to[k] += from[k];
	}
}

int
sl__make_gather_grad(struct sl__planner *pl, const struct sl__node *node)
{
	const struct sl__type *type = sl__plan_node_output_type(pl, node, 0);
	struct gather *g = sl__plan_alloc_state(pl, sizeof(*g));
	int axis = (int)sl__attribute_int(node, "axis", 0);
	uint32_t at[3];

	if (!g || !is_f32(pl, node->inputs[0]) ||
	    sl__plan_node_input_type(pl, node, 1)->dtype != SL_DTYPE_I64 ||
	    axis < 0 || axis >= type->rank)
		return 0;
	g->outer = sl__sizes_product(type, 0, axis);
	g->n_rows = type->dims[axis];
	g->inner = sl__sizes_product(type, axis + 1, type->rank);
	g->n = (int64_t)sl__plan_value_n_elements(pl, node->inputs[1]);
	sl__plan_node_operands(pl, node, 2, at);
	g->at = sl__plan_add_parallel_step(pl, at, 3, "gather_grad", run_gather,
					   g)
			->at;
	return 1;
}
