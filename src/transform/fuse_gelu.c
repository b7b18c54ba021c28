/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuse_gelu.c - Gelu and Swish that are written out, as one node.
 *
 * Exporters write 0.5 x (1 + erf(x / sqrt 2)) and its kin in every order of
 * factors.  So the terms are not compared; what they compute is: with g the
 * result of Erf, Tanh or Sigmoid, what goes into it is a polynomial of x, and
 * what is made of it is p(x) + q(x) g.
 */
#include "transform/matching.h"
#include "transform/optimize.h"
#include "transform/matched_nodes.h"

#include <math.h>
#include <string.h>

#include "base/banned.h"

enum {
	TERMS = 4,     /* powers of x, 0 to 3 */
	DEPTH_MOST = 8 /* nodes one behind the other */
};

/* p(x) + q(x) g, coefficients of rising powers. */
struct terms {
	double p[TERMS], q[TERMS];
};

struct search {
	struct sl__matched_nodes matched;
	uint32_t x, g; /* values; g may be SL__NONE */
};

static int
multiply_one(double *out, const double *a, const double *b)
{
	for (int i = 0; i < TERMS; i++) {
		for (int j = 0; j < TERMS; j++) {
			double product = a[i] * b[j];

			if (i + j < TERMS)
				out[i + j] += product;
			else if (fabs(product) > 0)
				return 0;
		}
	}
	return 1;
}

static int
is_zero(const double *a)
{
	for (int i = 0; i < TERMS; i++) {
		if (fabs(a[i]) > 0)
			return 0;
	}
	return 1;
}

/* 0 where the result has a square of g or too high a power of x. */
static int
multiply(struct terms *out, const struct terms *a, const struct terms *b)
{
	struct terms made = {{0}, {0}};

	if (!is_zero(a->q) && !is_zero(b->q))
		return 0;
	if (!multiply_one(made.p, a->p, b->p) ||
	    !multiply_one(made.q, a->p, b->q) ||
	    !multiply_one(made.q, a->q, b->p))
		return 0;
	*out = made;
	return 1;
}

static void
combine(struct terms *out, const struct terms *a, const struct terms *b,
	double sign)
{
	for (int i = 0; i < TERMS; i++) {
		out->p[i] = a->p[i] + sign * b->p[i];
		out->q[i] = a->q[i] + sign * b->q[i];
	}
}

static int
is_number(const struct terms *a)
{
	return is_zero(a->q) && fabs(a->p[0]) > 0 && fabs(a->p[1]) <= 0 &&
	       fabs(a->p[2]) <= 0 && fabs(a->p[3]) <= 0;
}

static int
divide(struct terms *out, const struct terms *a, const struct terms *b)
{
	struct terms inverse = {{0}, {0}};

	if (!is_number(b))
		return 0;
	inverse.p[0] = 1 / b->p[0];
	return multiply(out, a, &inverse);
}

static int
to_power(struct terms *out, const struct terms *a, const struct terms *b)
{
	double power = b->p[0];

	if (!is_number(b) ||
	    (!sl__is_close(power, 2) && !sl__is_close(power, 3)))
		return 0;
	return multiply(out, a, a) && (power < 2.5 || multiply(out, out, a));
}

static int read_terms(struct search *s, uint32_t value, int depth,
		      struct terms *out);

static int
read_binary(struct search *s, uint32_t node, int depth, struct terms *out)
{
	const struct sl__rewrite *rw = s->matched.rw;
	struct terms a, b;

	if (rw->nodes[node].node.n_inputs != 2 ||
	    !read_terms(s, sl__rewrite_input(rw, node, 0), depth, &a) ||
	    !read_terms(s, sl__rewrite_input(rw, node, 1), depth, &b))
		return 0;
	if (sl__rewrite_node_is_op(rw, node, SL__OP_ONNX_Mul))
		return multiply(out, &a, &b);
	if (sl__rewrite_node_is_op(rw, node, SL__OP_ONNX_Div))
		return divide(out, &a, &b);
	if (sl__rewrite_node_is_op(rw, node, SL__OP_ONNX_Pow))
		return to_power(out, &a, &b);
	combine(out, &a, &b,
		sl__rewrite_node_is_op(rw, node, SL__OP_ONNX_Sub) ? -1 : 1);
	return 1;
}

static int
is_arithmetic(const struct sl__rewrite *rw, uint32_t node)
{
	static const enum sl__op_id ops[] = {SL__OP_ONNX_Mul, SL__OP_ONNX_Div,
					     SL__OP_ONNX_Pow, SL__OP_ONNX_Add,
					     SL__OP_ONNX_Sub};

	return sl__rewrite_node_is_any_op(rw, node, ops, 5) &&
	       sl__has_numpy_broadcasting(&rw->nodes[node].node);
}

/* What a value is of x and g; 0 where it is made of something else too. */
static int
read_terms(struct search *s, uint32_t value, int depth, struct terms *out)
{
	const struct sl__rewrite *rw = s->matched.rw;
	uint32_t node;

	memset(out, 0, sizeof(*out));
	out->p[1] = 1;
	if (value == s->x)
		return 1;
	out->p[1] = 0;
	out->q[0] = 1;
	if (value == s->g)
		return 1;
	out->q[0] = 0;
	if (sl__scalar_constant_read(rw, value, &out->p[0]))
		return isfinite(out->p[0]);
	value = sl__matched_skip_identities(&s->matched, value);
	node = sl__rewrite_producer(rw, value);
	if (value == s->x || value == s->g)
		return read_terms(s, value, depth, out);
	if (depth == 0 || !is_arithmetic(rw, node))
		return 0;
	sl__matched_add(&s->matched, node);
	return read_binary(s, node, depth - 1, out);
}

static int
is_same(const double *a, const double *b)
{
	for (int i = 0; i < TERMS; i++) {
		if (fabs(b[i]) > 0 ? !sl__is_close(a[i], b[i])
				   : fabs(a[i]) > 1e-7)
			return 0;
	}
	return 1;
}

/* f of 'inner', and then 0.5 x + 0.5 x f or x f. */
struct shape {
	enum sl__op_id op;
	double inner[TERMS]; /* the coefficient of x is free where it is 0 */
	double p[TERMS], q[TERMS];
};

static const struct shape shapes[] = {
	{SL__OP_ONNX_Erf, {0, 0.70710678118654752}, {0, 0.5}, {0, 0.5}},
	{SL__OP_ONNX_Tanh,
	 {0, 0.79788456080286536, 0, 0.044715 * 0.79788456080286536},
	 {0, 0.5},
	 {0, 0.5}},
	{SL__OP_ONNX_Sigmoid, {0}, {0}, {0, 1}},
};

/* Whether what goes into the function is right for x; *slope is that of a
 * Sigmoid. */
static int
fits_inner(struct search *s, const struct shape *shape, uint32_t inner,
	   double *slope)
{
	struct terms t;
	double expected[TERMS];

	if (!read_terms(s, inner, DEPTH_MOST, &t) || !is_zero(t.q))
		return 0;
	memcpy(expected, shape->inner, sizeof(expected));
	if (is_zero(expected))
		expected[1] = t.p[1];
	*slope = t.p[1];
	return expected[1] > 0 && is_same(t.p, expected);
}

/* The value in which the pattern ends, from g on; SL__NONE. */
static uint32_t
find_end(struct search *s, const struct shape *shape)
{
	const struct sl__rewrite *rw = s->matched.rw;
	size_t n = s->matched.n;
	uint32_t value = s->g;
	struct terms t;

	for (int i = 0; i < DEPTH_MOST; i++) {
		uint32_t user = sl__rewrite_only_user(rw, value);
		const struct sl__node *node = sl__rewrite_node(rw, user);

		if (!node || node->n_outputs < 1)
			return SL__NONE;
		value = node->outputs[0];
		s->matched.n = n;
		if (read_terms(s, value, DEPTH_MOST, &t) &&
		    is_same(t.p, shape->p) && is_same(t.q, shape->q))
			return sl__have_same_dtype_and_dims(rw, value, s->x)
				       ? value
				       : SL__NONE;
	}
	return SL__NONE;
}

static void
make(struct search *s, const struct shape *shape, uint32_t function,
     uint32_t end, double slope)
{
	struct sl__rewrite *rw = s->matched.rw;
	struct sl__node_builder m;

	if (shape->op == SL__OP_ONNX_Sigmoid) {
		sl__node_builder_begin(&m, rw, "", "Swish", 24);
		sl__node_builder_set_float(&m, "alpha", (float)slope);
	} else {
		sl__node_builder_begin(&m, rw, "", "Gelu", 20);
		sl__node_builder_set_string(
			&m, "approximate",
			shape->op == SL__OP_ONNX_Tanh ? "tanh" : "none");
	}
	m.node.name = rw->nodes[function].node.name;
	sl__node_builder_add_input(&m, s->x);
	sl__node_builder_add_output(&m, end);
	sl__matched_add(&s->matched, function);
	sl__matched_cover_unused(&s->matched, &m);
	sl__node_builder_finish(&m);
}

/* Values that x may be: what the function takes and what that is made of. */
struct candidates {
	uint32_t values[16];
	size_t n;
};

static void
collect(struct candidates *c, const struct sl__rewrite *rw, uint32_t value,
	int depth)
{
	uint32_t node = sl__rewrite_producer(rw, value);

	if (!sl__is_nonempty_f32(rw, value) ||
	    sl__tensor_constant_read(rw, value) ||
	    c->n == sizeof(c->values) / sizeof(*c->values))
		return;
	for (size_t i = 0; i < c->n; i++) {
		if (c->values[i] == value)
			return;
	}
	c->values[c->n++] = value;
	if (depth == 0 || !is_arithmetic(rw, node))
		return;
	collect(c, rw, sl__rewrite_input(rw, node, 0), depth - 1);
	collect(c, rw, sl__rewrite_input(rw, node, 1), depth - 1);
}

static void
fuse(struct sl__rewrite *rw, uint32_t id)
{
	const struct sl__node *node = &rw->nodes[id].node;
	const struct shape *shape = shapes;
	struct candidates c = {.n = 0};
	double slope;

	while (!sl__is_op(node, shape->op))
		shape++;
	collect(&c, rw, node->inputs[0], DEPTH_MOST);
	for (size_t i = 0; i < c.n; i++) {
		struct search s = {
			.matched = {.rw = rw}, .x = c.values[i], .g = SL__NONE};
		uint32_t end;

		if (!fits_inner(&s, shape, node->inputs[0], &slope))
			continue;
		s.g = node->outputs[0];
		end = find_end(&s, shape);
		if (end == SL__NONE)
			continue;
		make(&s, shape, id, end, slope);
		return;
	}
}

void
sl__pass_fuse_gelu(struct sl__rewrite *rw)
{
	static const enum sl__op_id ops[] = {SL__OP_ONNX_Erf, SL__OP_ONNX_Tanh,
					     SL__OP_ONNX_Sigmoid};

	sl__rewrite_each_node(rw, ops, 3, 0, fuse);
}
