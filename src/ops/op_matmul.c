/* SPDX-License-Identifier: Apache-2.0 */
/*
 * op_matmul.c - matrix products.
 *
 * Every operator here multiplies rows of one operand with columns of another
 * and differs in where its operands stand, whether they are transposed and
 * what is done to the result: 'forms' says so, one row each.  The products
 * are the elements of the output times the length of a row.
 */
#include "ops/cost.h"
#include "ops/op_row.h"

#include <string.h>

#include "base/banned.h"

enum { NO_BIAS = 99 };

/* The type of number of the output. */
enum result {
	OF_INPUT,  /* that of input 'typed_by' */
	OF_I32,    /* a sum of products of small integers */
	OF_SCALED, /* that of 'typed_by' if given, else f32 */
};

struct form {
	enum sl__op_id id;
	size_t a, b, bias; /* inputs */
	enum result result;
	size_t typed_by;
};

static const struct form forms[] = {
	{SL__OP_ONNX_MatMul, 0, 1, NO_BIAS, OF_INPUT, 0},
	{SL__OP_ONNX_MatMulInteger, 0, 1, NO_BIAS, OF_I32, 0},
	{SL__OP_ONNX_QLinearMatMul, 0, 3, NO_BIAS, OF_INPUT, 7},
	{SL__OP_MS_FusedMatMul, 0, 1, NO_BIAS, OF_INPUT, 0},
	{SL__OP_MS_MatMulInteger16, 0, 1, NO_BIAS, OF_I32, 0},
	{SL__OP_MS_MatMulIntegerToFloat, 0, 1, 6, OF_INPUT, 2},
	{SL__OP_MS_DynamicQuantizeMatMul, 0, 1, 4, OF_INPUT, 0},
	{SL__OP_ONNX_Gemm, 0, 1, 2, OF_INPUT, 0},
	{SL__OP_MS_FusedGemm, 0, 1, 2, OF_INPUT, 0},
	{SL__OP_MS_QGemm, 0, 3, 6, OF_SCALED, 8},
	{SL__OP_MS_MatMulNBits, 0, 1, 5, OF_INPUT, 0},
};

static const struct form *
form_of(const struct sl__call *call)
{
	return SL__ROW_OF(call->node, forms);
}

static enum sl_dtype
result_dtype(struct sl__call *call, const struct form *form)
{
	switch (form->result) {
	case OF_I32:
		return SL_DTYPE_I32;
	case OF_SCALED:
		return sl__has_in(call, form->typed_by)
			       ? sl__in_dtype(call, form->typed_by)
			       : SL_DTYPE_F32;
	case OF_INPUT:
		break;
	}
	return sl__in_dtype(call, form->typed_by);
}

/*
 * One operand as a stack of matrices.  A vector is a matrix of one row on the
 * left, of one column on the right, and that dimension is not in the result.
 * The batch dimensions are dims[first_batch] and those after it.
 */
struct operand {
	const struct sl__type *type;
	int is_vector, n_batch, first_batch;
	int64_t rows, columns;
};

/*
 * 'is_batch_transposed' is FusedMatMul's transBatch: the first dimension, and
 * not the last but one, holds the rows.
 */
static int
read_operand(struct operand *o, struct sl__call *call, size_t i,
	     int is_transposed, int is_batch_transposed)
{
	int rank = sl__in_rank(call, i);
	int64_t t;

	memset(o, 0, sizeof(*o));
	o->type = sl__in(call, i);
	o->rows = o->columns = 1;
	if (rank < 1)
		return 0;
	if (rank == 1) {
		o->is_vector = 1;
		o->columns = o->type->dims[0];
		return 1;
	}
	o->n_batch = rank - 2;
	o->first_batch = is_batch_transposed ? 1 : 0;
	o->rows = o->type->dims[is_batch_transposed ? 0 : rank - 2];
	o->columns = o->type->dims[rank - 1];
	if (is_transposed) {
		t = o->rows;
		o->rows = o->columns;
		o->columns = t;
	}
	return 1;
}

/* Whether a node has transA, transB and alpha. */
static int
has_options(const struct sl__node *node)
{
	return sl__is_op(node, SL__OP_ONNX_Gemm) ||
	       sl__is_op(node, SL__OP_MS_FusedGemm) ||
	       sl__is_op(node, SL__OP_MS_QGemm) ||
	       sl__is_op(node, SL__OP_MS_FusedMatMul) ||
	       sl__is_op(node, SL__OP_SLEUTH_MatMul);
}

/* Operands of a node: 0 where a rank is not known. */
static int
read_operands(struct sl__call *call, const struct form *form, struct operand *a,
	      struct operand *b)
{
	const struct sl__node *node = call->node;
	int is_fused = sl__is_op(node, SL__OP_MS_FusedMatMul);
	int has = has_options(node);
	int64_t t;

	if (!read_operand(a, call, form->a, has && sl__int(node, "transA", 0),
			  is_fused && sl__int(node, "transBatchA", 0)) ||
	    !read_operand(b, call, form->b, has && sl__int(node, "transB", 0),
			  is_fused && sl__int(node, "transBatchB", 0)))
		return 0;
	if (b->is_vector) {
		t = b->rows;
		b->rows = b->columns;
		b->columns = t;
	}
	return 1;
}

static int64_t
batch_dim(const struct operand *o, int d, int n_batch)
{
	int at = d - (n_batch - o->n_batch);

	return at < 0 ? 1 : o->type->dims[o->first_batch + at];
}

static void
check_inner(struct sl__call *call, const struct form *form,
	    const struct operand *a, const struct operand *b)
{
	if (sl__sizes_differ(a->columns, b->rows))
		sl__refuse(call,
			   "a product of %s and %s is not defined: rows of "
			   "%lld meet columns of %lld",
			   sl__in_text(call, form->a),
			   sl__in_text(call, form->b), (long long)a->columns,
			   (long long)b->rows);
}

enum sl_status
sl__infer_matmul(struct sl__call *call)
{
	const struct form *form = form_of(call);
	enum sl_dtype dtype = result_dtype(call, form);
	struct operand a = {0}, b = {0};
	int64_t *dims;
	int n_batch, rank = 0;

	if (sl__in_rank(call, form->a) == 0 || sl__in_rank(call, form->b) == 0)
		return sl__refuse(call, "a scalar is no operand of a matrix "
					"product");
	if (!read_operands(call, form, &a, &b))
		return sl__out_rankless(call, 0, dtype);
	check_inner(call, form, &a, &b);
	n_batch = a.n_batch > b.n_batch ? a.n_batch : b.n_batch;
	dims = sl__new_sizes(call, (size_t)n_batch + 2);
	if (!dims)
		return call->failure;
	for (int d = 0; d < n_batch; d++) {
		dims[rank] = sl__broadcast_size(call->shapes,
						batch_dim(&a, d, n_batch),
						batch_dim(&b, d, n_batch));
		if (dims[rank++] == -1)
			sl__refuse(call,
				   "a product of %s and %s is not defined",
				   sl__in_text(call, form->a),
				   sl__in_text(call, form->b));
	}
	if (!a.is_vector)
		dims[rank++] = a.rows;
	if (!b.is_vector)
		dims[rank++] = b.columns;
	return sl__out(call, 0, dtype, rank, dims);
}

/* C is broadcast to the result, never the other way round. */
static void
check_bias(struct sl__call *call, size_t bias, const int64_t *dims)
{
	const struct sl__type *c = sl__in(call, bias);
	int rank = sl__in_rank(call, bias);

	for (int d = 0; d < rank; d++) {
		if (rank > 2 ||
		    (c->dims[d] != 1 &&
		     sl__sizes_differ(c->dims[d], dims[d + 2 - rank])))
			sl__refuse(call, "a bias of %s does not fit %lldx%lld",
				   sl__in_text(call, bias), (long long)dims[0],
				   (long long)dims[1]);
	}
}

enum sl_status
sl__infer_gemm(struct sl__call *call)
{
	const struct form *form = form_of(call);
	enum sl_dtype dtype = result_dtype(call, form);
	struct operand a = {0}, b = {0};
	int64_t dims[2];

	if (sl__in_rank(call, form->a) < 0 || sl__in_rank(call, form->b) < 0)
		return sl__out_rankless(call, 0, dtype);
	if (sl__in_rank(call, form->a) != 2 || sl__in_rank(call, form->b) != 2)
		return sl__refuse(call, "it multiplies matrices, not %s and %s",
				  sl__in_text(call, form->a),
				  sl__in_text(call, form->b));
	read_operands(call, form, &a, &b);
	check_inner(call, form, &a, &b);
	dims[0] = a.rows;
	dims[1] = b.columns;
	check_bias(call, form->bias, dims);
	return sl__out(call, 0, dtype, 2, dims);
}

/* The packed weight says little: K and N are attributes. */
enum sl_status
sl__infer_matmul_nbits(struct sl__call *call)
{
	const struct sl__type *a = sl__in(call, 0);
	int rank = sl__in_rank(call, 0);
	int64_t k = sl__int(call->node, "K", -1);
	int64_t n = sl__int(call->node, "N", -1);
	int64_t *dims;

	if (rank < 0)
		return sl__out_rankless(call, 0, sl__in_dtype(call, 0));
	if (rank == 0 || n < 1 || k < 1)
		return sl__refuse(call, "it lacks a row to multiply, or the "
					"attributes K and N");
	if (sl__sizes_differ(a->dims[rank - 1], k))
		return sl__refuse(call, "rows of %lld meet columns of K = %lld",
				  (long long)a->dims[rank - 1], (long long)k);
	dims = sl__copy_sizes(call, 0);
	if (dims)
		dims[rank - 1] = n;
	return sl__out(call, 0, sl__in_dtype(call, 0), rank, dims);
}

static void
count_products(struct sl__call *call, const struct form *form, uint64_t inner,
	       struct sl_cost *cost)
{
	sl__count_macs(cost, sl__times(cost->out_elements, inner));
	if (sl__has_in(call, form->bias))
		sl__count(cost, cost->out_elements, SL__PER(.add = 1));
	cost->work = sl__in_is_parameter(call, form->a) ||
				     sl__in_is_parameter(call, form->b)
			     ? SL_WORK_LINEAR
			     : SL_WORK_PRODUCT;
}

/* Whether a sum of small integers is rescaled. */
static int
is_rescaled(const struct sl__node *node)
{
	return sl__is_op(node, SL__OP_ONNX_QLinearMatMul) ||
	       sl__is_op(node, SL__OP_MS_MatMulIntegerToFloat) ||
	       sl__is_op(node, SL__OP_MS_QGemm) ||
	       sl__is_op(node, SL__OP_MS_DynamicQuantizeMatMul);
}

/* The products, and the rescaling, activation and factor at the end. */
void
sl__cost_matmul(struct sl__call *call, struct sl_cost *cost)
{
	const struct sl__node *node = call->node;
	const struct form *form = form_of(call);
	struct operand a = {0}, b = {0};
	const char *word = sl__word(node, "activation", "");
	double alpha = has_options(node) ? sl__float(node, "alpha", 1) : 1;
	struct sl__per end = {.mul = (uint64_t)is_rescaled(node)};

	if (!read_operands(call, form, &a, &b)) {
		sl__cost_unknown(call, cost);
		return;
	}
	count_products(call, form, (uint64_t)a.columns, cost);
	/* The range of A, then A in integers. */
	if (sl__is_op(node, SL__OP_MS_DynamicQuantizeMatMul))
		sl__count(cost, cost->in_elements, SL__PER(.cmp = 2, .mul = 1));
	end.mul += alpha < 1 || alpha > 1;
	end.cmp = !strcmp(word, "Relu") || !strcmp(word, "LeakyRelu");
	end.exp = *word && !end.cmp;
	sl__count(cost, cost->out_elements, end);
}

void
sl__cost_gemm(struct sl__call *call, struct sl_cost *cost)
{
	const struct form *form = form_of(call);
	double beta = sl__float(call->node, "beta", 1);

	sl__cost_matmul(call, cost);
	if (sl__has_in(call, form->bias) && (beta < 1 || beta > 1))
		sl__count(cost, sl__in_elements(call, form->bias),
			  SL__PER(.mul = 1));
}

/* Each weight is also made from its few bits: a scale and a zero point. */
void
sl__cost_matmul_nbits(struct sl__call *call, struct sl_cost *cost)
{
	uint64_t k = sl__in_dim(call, 0, -1);

	count_products(call, form_of(call), k, cost);
	sl__count(cost, sl__times(k, sl__out_dim(call, 0, -1)),
		  SL__PER(.fma = 1));
}
