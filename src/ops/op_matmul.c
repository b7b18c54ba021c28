/* SPDX-License-Identifier: Apache-2.0 */
/*
 * op_matmul.c - matrix products.
 *
 * Every operator here multiplies rows of one operand with columns of another
 * and differs in where its operands stand, whether they are transposed and
 * what is done to the result: 'forms' says so, one row each.  The products
 * are the elements of the output times the length of a row.
 */
#include "base/status.h"
#include "graph/op_rules.h"
#include "ops/cost.h"

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
	for (size_t i = 1; i < sizeof(forms) / sizeof(forms[0]); i++) {
		if (sl__is_op(call->node, forms[i].id))
			return &forms[i];
	}
	return &forms[0];
}

static enum sl_dtype
result_dtype(const struct sl__call *call, const struct form *form)
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
read_operand(struct operand *o, const struct sl__call *call, size_t i,
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
read_operands(const struct sl__call *call, const struct form *form,
	      struct operand *a, struct operand *b)
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

static enum sl_status
refuse_operands(const struct sl__call *call, const struct operand *a,
		const struct operand *b, struct sl_error *err)
{
	return sl__refuse(err, "a product of %s and %s is not defined",
			  sl__type_text(call->shapes, a->type),
			  sl__type_text(call->shapes, b->type));
}

static enum sl_status
check_inner(const struct sl__call *call, const struct operand *a,
	    const struct operand *b, struct sl_error *err)
{
	if (!sl__sizes_differ(a->columns, b->rows))
		return SL_OK;
	return sl__refuse(err,
			  "a product of %s and %s is not defined: rows of %lld "
			  "meet columns of %lld",
			  sl__type_text(call->shapes, a->type),
			  sl__type_text(call->shapes, b->type),
			  (long long)a->columns, (long long)b->rows);
}

enum sl_status
sl__infer_matmul(const struct sl__call *call, struct sl_error *err)
{
	const struct form *form = form_of(call);
	enum sl_dtype dtype = result_dtype(call, form);
	struct operand a = {0}, b = {0};
	int64_t *dims;
	int n_batch, rank = 0;
	enum sl_status rc;

	if (sl__in_rank(call, form->a) == 0 || sl__in_rank(call, form->b) == 0)
		return sl__refuse(err, "a scalar is no operand of a matrix "
				       "product");
	if (!read_operands(call, form, &a, &b))
		return sl__out_rankless(call, 0, dtype, err);
	rc = check_inner(call, &a, &b, err);
	if (rc)
		return rc;
	n_batch = a.n_batch > b.n_batch ? a.n_batch : b.n_batch;
	dims = sl__new_sizes(call, (size_t)n_batch + 2);
	if (!dims)
		return sl__fail_nomem(err);
	for (int d = 0; d < n_batch; d++) {
		dims[rank] = sl__broadcast_size(call->shapes,
						batch_dim(&a, d, n_batch),
						batch_dim(&b, d, n_batch));
		if (dims[rank++] == -1)
			return refuse_operands(call, &a, &b, err);
	}
	if (!a.is_vector)
		dims[rank++] = a.rows;
	if (!b.is_vector)
		dims[rank++] = b.columns;
	return sl__out(call, 0, dtype, rank, dims, err);
}

/* C is broadcast to the result, never the other way round. */
static enum sl_status
check_bias(const struct sl__call *call, size_t bias, const int64_t *dims,
	   struct sl_error *err)
{
	const struct sl__type *c = sl__in(call, bias);
	int rank = sl__in_rank(call, bias);

	if (rank < 0)
		return SL_OK;
	for (int d = 0; d < rank; d++) {
		int at = d + 2 - rank;

		if (rank > 2 ||
		    (c->dims[d] != 1 && sl__sizes_differ(c->dims[d], dims[at])))
			return sl__refuse(
				err, "a bias of %s does not fit %lldx%lld",
				sl__type_text(call->shapes, c),
				(long long)dims[0], (long long)dims[1]);
	}
	return SL_OK;
}

enum sl_status
sl__infer_gemm(const struct sl__call *call, struct sl_error *err)
{
	const struct form *form = form_of(call);
	enum sl_dtype dtype = result_dtype(call, form);
	struct operand a = {0}, b = {0};
	int64_t dims[2];
	enum sl_status rc;

	if (sl__in_rank(call, form->a) < 0 || sl__in_rank(call, form->b) < 0)
		return sl__out_rankless(call, 0, dtype, err);
	if (sl__in_rank(call, form->a) != 2 || sl__in_rank(call, form->b) != 2)
		return sl__refuse(
			err, "it multiplies matrices, not %s and %s",
			sl__type_text(call->shapes, sl__in(call, form->a)),
			sl__type_text(call->shapes, sl__in(call, form->b)));
	read_operands(call, form, &a, &b);
	rc = check_inner(call, &a, &b, err);
	if (rc)
		return rc;
	dims[0] = a.rows;
	dims[1] = b.columns;
	rc = check_bias(call, form->bias, dims, err);
	return rc ? rc : sl__out(call, 0, dtype, 2, dims, err);
}

/* The packed weight says little: K and N are attributes. */
enum sl_status
sl__infer_matmul_nbits(const struct sl__call *call, struct sl_error *err)
{
	const struct sl__type *a = sl__in(call, 0);
	int rank = sl__in_rank(call, 0);
	int64_t k = sl__int(call->node, "K", -1);
	int64_t n = sl__int(call->node, "N", -1);
	int64_t *dims;

	if (rank < 0)
		return sl__out_rankless(call, 0, sl__in_dtype(call, 0), err);
	if (rank == 0 || n < 1 || k < 1)
		return sl__refuse(err, "it lacks a row to multiply, or the "
				       "attributes K and N");
	if (sl__sizes_differ(a->dims[rank - 1], k))
		return sl__refuse(err, "rows of %lld meet columns of K = %lld",
				  (long long)a->dims[rank - 1], (long long)k);
	dims = sl__new_sizes(call, (size_t)rank);
	if (!dims)
		return sl__fail_nomem(err);
	memcpy(dims, a->dims, (size_t)rank * sizeof(*dims));
	dims[rank - 1] = n;
	return sl__out(call, 0, sl__in_dtype(call, 0), rank, dims, err);
}

static void
count_products(const struct sl__call *call, const struct form *form,
	       uint64_t inner, struct sl_cost *cost)
{
	cost->macs = sl__times(cost->out_elements, inner);
	cost->fma = cost->macs;
	if (sl__has_in(call, form->bias))
		cost->add = cost->out_elements;
	cost->work = sl__in_is_parameter(call, form->a) ||
				     sl__in_is_parameter(call, form->b)
			     ? SL_WORK_LINEAR
			     : SL_WORK_PRODUCT;
}

/* The activation that a fused operator ends with. */
static void
count_activation(const struct sl__call *call, struct sl_cost *cost)
{
	const char *word = sl__word(call->node, "activation", "");

	if (!strcmp(word, "Relu") || !strcmp(word, "LeakyRelu"))
		cost->cmp = sl__plus(cost->cmp, cost->out_elements);
	else if (*word)
		cost->exp = sl__plus(cost->exp, cost->out_elements);
}

/* What integers take before and after: one rescaling per element. */
static void
count_scaling(const struct sl__call *call, struct sl_cost *cost)
{
	const struct sl__node *node = call->node;

	if (sl__is_op(node, SL__OP_ONNX_QLinearMatMul) ||
	    sl__is_op(node, SL__OP_MS_MatMulIntegerToFloat) ||
	    sl__is_op(node, SL__OP_MS_QGemm) ||
	    sl__is_op(node, SL__OP_MS_DynamicQuantizeMatMul))
		cost->mul = sl__plus(cost->mul, cost->out_elements);
	if (sl__is_op(node, SL__OP_MS_DynamicQuantizeMatMul)) {
		/* The range of A, then A in integers. */
		cost->cmp =
			sl__plus(cost->cmp, sl__times(2, cost->in_elements));
		cost->mul = sl__plus(cost->mul, cost->in_elements);
	}
}

void
sl__cost_matmul(const struct sl__call *call, struct sl_cost *cost)
{
	const struct form *form = form_of(call);
	struct operand a = {0}, b = {0};
	double alpha =
		has_options(call->node) ? sl__float(call->node, "alpha", 1) : 1;

	if (!read_operands(call, form, &a, &b)) {
		sl__cost_unknown(call, cost);
		return;
	}
	count_products(call, form, (uint64_t)a.columns, cost);
	count_scaling(call, cost);
	count_activation(call, cost);
	if (alpha < 1 || alpha > 1)
		cost->mul = sl__plus(cost->mul, cost->out_elements);
}

void
sl__cost_gemm(const struct sl__call *call, struct sl_cost *cost)
{
	const struct form *form = form_of(call);
	double beta = sl__float(call->node, "beta", 1);

	sl__cost_matmul(call, cost);
	if (sl__has_in(call, form->bias) && (beta < 1 || beta > 1))
		cost->mul =
			sl__plus(cost->mul, sl__in_elements(call, form->bias));
}

/* Each weight is also made from its few bits: a scale and a zero point. */
void
sl__cost_matmul_nbits(const struct sl__call *call, struct sl_cost *cost)
{
	uint64_t k = sl__in_dim(call, 0, -1);

	count_products(call, form_of(call), k, cost);
	cost->fma = sl__plus(cost->fma, sl__times(k, sl__out_dim(call, 0, -1)));
}
