/* SPDX-License-Identifier: Apache-2.0 */
/* gemm.c - a matmul as its kernels see it. */
#include "engine/gemm.h"
#include "graph/op_rules.h"

#include <string.h>

#include "base/banned.h"

/* Dimensions of a value, ones included: as many as oneDNN can describe. */
enum { RANK_MOST = 12 };

/* A value seen as a stack of matrices; strides of its batch dimensions. */
struct side {
	int64_t rows, columns, row_stride, column_stride;
	int n_batch;
	int64_t batch[RANK_MOST], strides[RANK_MOST];
};

static void
row_major(int64_t *strides, int rank, const int64_t *dims)
{
	int64_t at = 1;

	for (int d = rank; d-- > 0;) {
		strides[d] = at;
		at *= dims[d];
	}
}

/* 'is_left' says what a vector is: a row, or else a column. */
static int
read_side(struct side *s, const struct sl__type *type, const int *trans,
	  int is_left)
{
	int64_t all[RANK_MOST];
	int rank = type->rank, row, column;

	memset(s, 0, sizeof(*s));
	if (rank < 1 || rank > RANK_MOST)
		return 0;
	row_major(all, rank, type->dims);
	s->rows = s->columns = s->row_stride = s->column_stride = 1;
	if (rank == 1) {
		*(is_left ? &s->columns : &s->rows) = type->dims[0];
		return 1;
	}
	row = trans[1] ? 0 : rank - 2;
	column = trans[0] ? row : rank - 1;
	row = trans[0] ? rank - 1 : row;
	s->rows = type->dims[row];
	s->columns = type->dims[column];
	s->row_stride = all[row];
	s->column_stride = all[column];
	s->n_batch = rank - 2;
	for (int d = 0; d < s->n_batch; d++) {
		s->batch[d] = type->dims[d + (trans[1] ? 1 : 0)];
		s->strides[d] = all[d + (trans[1] ? 1 : 0)];
	}
	return 1;
}

/* While it is read: all dimensions, and a walk through each operand, first a
 * and b, then the epilogue. */
struct shape {
	int rank;
	int64_t dims[RANK_MOST];
	int n_walks;
	int64_t walks[2 + SL__EPILOGUE_MAX][RANK_MOST];
};

/* Strides of a side's batch dimensions along those of the result. */
static void
walk_side(int64_t *walk, const struct side *s, int n_batch)
{
	for (int d = 0; d < n_batch; d++) {
		int at = d - (n_batch - s->n_batch);

		walk[d] = at < 0 || s->batch[at] == 1 ? 0 : s->strides[at];
	}
}

static void
set_shape(struct shape *shape, const struct side *a, const struct side *b)
{
	int n = a->n_batch > b->n_batch ? a->n_batch : b->n_batch;

	for (int d = 0; d < n; d++) {
		int in_a = d - (n - a->n_batch), in_b = d - (n - b->n_batch);
		int64_t size = in_a < 0 ? 1 : a->batch[in_a];

		shape->dims[d] = size == 1 && in_b >= 0 ? b->batch[in_b] : size;
	}
	shape->dims[n] = a->rows;
	shape->rank = n + 1;
	walk_side(shape->walks[0], a, n);
	walk_side(shape->walks[1], b, n);
	shape->walks[0][n] = a->rows == 1 ? 0 : a->row_stride;
	shape->walks[1][n] = 0;
	shape->n_walks = 2;
}

/* An operand of an end is broadcast to the result, whose columns are the last
 * dimension unless b is a vector; likewise its rows. */
static int
walk_end(int64_t *walk, int64_t *column, const struct shape *shape,
	 const struct sl__type *type, const int *is_vector)
{
	int64_t strides[RANK_MOST];
	int rank = type->rank, last = shape->rank - 1;

	if (rank < 0 || rank > RANK_MOST)
		return 0;
	row_major(strides, rank, type->dims);
	*column = 0;
	if (!is_vector[1] && rank > 0) {
		rank--;
		*column = type->dims[rank] == 1 ? 0 : 1;
	}
	if (is_vector[0])
		last--;
	for (int d = 0; d < shape->rank; d++)
		walk[d] = 0;
	for (int d = last; d >= 0 && rank > 0; d--) {
		rank--;
		if (type->dims[rank] == 1)
			continue;
		if (type->dims[rank] != shape->dims[d])
			return 0;
		walk[d] = strides[rank];
	}
	while (rank > 0) {
		if (type->dims[--rank] != 1)
			return 0;
	}
	return 1;
}

static int
are_neighbours(const struct shape *s, const int64_t *result, int d, int next)
{
	for (int w = 0; w < s->n_walks; w++) {
		if (s->walks[w][d] != s->walks[w][next] * s->dims[next])
			return 0;
	}
	return result[d] == result[next] * s->dims[next];
}

static void
take_out(struct shape *s, int64_t *result, int d)
{
	size_t n = (size_t)(s->rank - d - 1);

	for (int w = 0; w < s->n_walks; w++)
		memmove(&s->walks[w][d], &s->walks[w][d + 1],
			n * sizeof(s->walks[w][0]));
	memmove(&s->dims[d], &s->dims[d + 1], n * sizeof(s->dims[0]));
	memmove(&result[d], &result[d + 1], n * sizeof(result[0]));
	s->rank--;
}

/* Sizes of 1 go, and neighbours that all walk alike become one. */
static void
simplify(struct shape *s, int64_t n)
{
	int64_t result[RANK_MOST + 1], dims[RANK_MOST + 1];

	memcpy(dims, s->dims, (size_t)s->rank * sizeof(dims[0]));
	dims[s->rank] = n;
	row_major(result, s->rank + 1, dims);
	for (int d = s->rank - 2; d >= 0; d--) {
		if (s->dims[d] == 1) {
			take_out(s, result, d);
		} else if (s->dims[d + 1] == 1 && d + 2 == s->rank &&
			   s->walks[1][d] == 0) {
			take_out(s, result, d + 1); /* rows of one each */
		} else if (are_neighbours(s, result, d, d + 1)) {
			s->dims[d + 1] *= s->dims[d];
			take_out(s, result, d);
		}
	}
}

static void
add_end(struct sl__gemm *p, enum sl__post_op_kind kind, double alpha,
	uint32_t value)
{
	struct sl__epilogue_op *end = &p->epilogue[p->n_epilogue++];

	memset(end, 0, sizeof(*end));
	end->post_op.kind = kind;
	end->post_op.alpha = (float)alpha;
	end->value = value;
}

static int
is_one(double x)
{
	return !(x < 1) && !(x > 1);
}

static int
is_zero(double x)
{
	return !(x < 0) && !(x > 0);
}

/* alpha y + beta c, c left out or beta 0: no sum.  Another factor before c
 * than 1 is applied to the sum, after y was divided by it. */
static void
add_scales(struct sl__gemm *p, const struct sl__node *node)
{
	int is_gemm = sl__is_op(node, SL__OP_ONNX_Gemm) ||
		      sl__is_op(node, SL__OP_MS_FusedGemm);
	int has_c = is_gemm || sl__is_op(node, SL__OP_SLEUTH_MatMul);
	double alpha = sl__attribute_float(node, "alpha", 1);
	double beta = is_gemm ? sl__attribute_float(node, "beta", 1) : 1;
	uint32_t c = has_c ? sl__plan_node_input(node, 2) : SL__NONE;

	if (sl__is_op(node, SL__OP_ONNX_MatMul))
		return;
	if (is_zero(beta))
		c = SL__NONE;
	if (c == SL__NONE)
		beta = 1;
	if (!is_one(alpha / beta))
		add_end(p, SL__POST_OP_LINEAR, alpha / beta, SL__NONE);
	if (c != SL__NONE)
		add_end(p, SL__POST_OP_ADD, 0, c);
	if (!is_one(beta))
		add_end(p, SL__POST_OP_LINEAR, beta, SL__NONE);
}

/* FusedGemm's activation; 0 for one that is no post-operation. */
static int
add_activation(struct sl__gemm *p, const struct sl__node *node)
{
	static const struct {
		const char *word;
		enum sl__post_op_kind kind;
		double alpha, beta;
	} known[] = {
		{"Relu", SL__POST_OP_RELU, 0, 0},
		{"LeakyRelu", SL__POST_OP_LEAKY_RELU, .01, 0},
		{"Tanh", SL__POST_OP_TANH, 0, 0},
		{"Sigmoid", SL__POST_OP_SIGMOID, 0, 0},
		{"HardSigmoid", SL__POST_OP_HARD_SIGMOID, .2, .5},
		{"Elu", SL__POST_OP_ELU, 1, 0},
	};
	const char *word = sl__attribute_string(node, "activation", "");

	if (!sl__is_op(node, SL__OP_MS_FusedGemm) || !*word ||
	    !strcmp(word, "none"))
		return 1;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (strcmp(word, known[i].word))
			continue;
		add_end(p, known[i].kind,
			sl__attribute_float(node, "activation_alpha",
					    known[i].alpha),
			SL__NONE);
		p->epilogue[p->n_epilogue - 1].post_op.beta =
			(float)sl__attribute_float(node, "activation_beta",
						   known[i].beta);
		return !sl__attribute_find(node, "activation_params");
	}
	return 0;
}

static int
add_chain(struct sl__gemm *p, const struct sl__node *node)
{
	struct sl__post_op post_ops[SL__POST_OPS_MAX];
	int n = sl__post_ops_read(node, post_ops);

	for (int i = 0; i < n; i++) {
		add_end(p, post_ops[i].kind, 0,
			post_ops[i].input
				? sl__plan_node_input(node, post_ops[i].input)
				: SL__NONE);
		p->epilogue[p->n_epilogue - 1].post_op = post_ops[i];
		if (post_ops[i].input &&
		    p->epilogue[p->n_epilogue - 1].value == SL__NONE)
			return 0;
	}
	return n >= 0;
}

static int
add_ends(struct sl__gemm *p, const struct sl__node *node)
{
	add_scales(p, node);
	if (sl__is_op(node, SL__OP_SLEUTH_MatMul))
		return add_chain(p, node);
	return add_activation(p, node);
}

static int
has_types(struct sl__gemm *p, const struct sl__planner *pl)
{
	enum sl_dtype dtype = sl__plan_value_type(pl, p->y)->dtype;

	if ((dtype != SL_DTYPE_F32 && dtype != SL_DTYPE_BF16) ||
	    sl__plan_value_type(pl, p->a)->dtype != dtype ||
	    sl__plan_value_type(pl, p->b)->dtype != dtype)
		return 0;
	for (int i = 0; i < p->n_epilogue; i++) {
		if (p->epilogue[i].value != SL__NONE &&
		    sl__plan_value_type(pl, p->epilogue[i].value)->dtype !=
			    dtype)
			return 0;
	}
	p->dtype = dtype == SL_DTYPE_BF16 ? dtype : pl->dtype;
	return 1;
}

static int
walk_ends(struct sl__gemm *p, struct shape *shape, const struct sl__planner *pl)
{
	int is_vector[2] = {sl__plan_value_type(pl, p->a)->rank == 1,
			    sl__plan_value_type(pl, p->b)->rank == 1};

	for (int i = 0; i < p->n_epilogue; i++) {
		if (p->epilogue[i].value == SL__NONE)
			continue;
		if (!walk_end(shape->walks[shape->n_walks++],
			      &p->epilogue[i].column, shape,
			      sl__plan_value_type(pl, p->epilogue[i].value),
			      is_vector))
			return 0;
	}
	return 1;
}

static int
set_dims(struct sl__gemm *p, const struct shape *shape)
{
	size_t n = (size_t)shape->rank * sizeof(p->dims[0]);
	int w = 2;

	if (shape->rank > SL__GEMM_RANK)
		return 0;
	p->rank = shape->rank;
	memcpy(p->dims, shape->dims, n);
	memcpy(p->a_strides, shape->walks[0], n);
	memcpy(p->b_strides, shape->walks[1], n);
	for (int i = 0; i < p->n_epilogue; i++) {
		if (p->epilogue[i].value != SL__NONE)
			memcpy(p->epilogue[i].strides, shape->walks[w++], n);
	}
	return 1;
}

int
sl__gemm_read(struct sl__gemm *p, const struct sl__planner *pl,
	      const struct sl__node *node)
{
	int is_fused = sl__is_op(node, SL__OP_MS_FusedMatMul);
	int has_trans = !sl__is_op(node, SL__OP_ONNX_MatMul);
	int left[2] = {has_trans && sl__attribute_int(node, "transA", 0),
		       is_fused && sl__attribute_int(node, "transBatchA", 0)};
	int right[2] = {has_trans && sl__attribute_int(node, "transB", 0),
			is_fused && sl__attribute_int(node, "transBatchB", 0)};
	struct shape shape = {0};
	struct side a, b;

	memset(p, 0, sizeof(*p));
	p->a = sl__plan_node_input(node, 0);
	p->b = sl__plan_node_input(node, 1);
	p->y = sl__plan_node_output(node, 0);
	if (p->a == SL__NONE || p->b == SL__NONE || p->y == SL__NONE ||
	    sl__plan_value_n_elements(pl, p->y) == 0 || !add_ends(p, node) ||
	    !has_types(p, pl) ||
	    !read_side(&a, sl__plan_value_type(pl, p->a), left, 1) ||
	    !read_side(&b, sl__plan_value_type(pl, p->b), right, 0) ||
	    a.columns == 0 || a.columns != b.rows)
		return 0;
	set_shape(&shape, &a, &b);
	p->n = b.columns;
	p->k = a.columns;
	p->a_k = a.column_stride;
	p->b_k = b.row_stride;
	p->b_n = b.column_stride;
	if (!walk_ends(p, &shape, pl))
		return 0;
	simplify(&shape, p->n);
	return set_dims(p, &shape);
}

int64_t
sl__gemm_n_rows(const struct sl__gemm *p)
{
	int64_t rows = 1;

	for (int d = 0; d < p->rank; d++)
		rows *= p->dims[d];
	return rows;
}

int
sl__epilogue_is_bias(const struct sl__gemm *p, int i)
{
	const struct sl__epilogue_op *end = &p->epilogue[i];

	for (int d = 0; d < p->rank; d++) {
		if (end->strides[d])
			return 0;
	}
	return end->post_op.kind == SL__POST_OP_ADD &&
	       (end->column || p->n == 1);
}

int
sl__epilogue_is_residual(const struct sl__gemm *p, int i)
{
	const struct sl__epilogue_op *end = &p->epilogue[i];
	int64_t at = p->n;

	for (int d = p->rank; d-- > 0;) {
		if (end->strides[d] != (p->dims[d] == 1 ? 0 : at))
			return 0;
		at *= p->dims[d];
	}
	return end->post_op.kind == SL__POST_OP_ADD &&
	       (end->column || p->n == 1);
}
