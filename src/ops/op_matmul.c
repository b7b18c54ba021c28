/* SPDX-License-Identifier: Apache-2.0 */
/*
 * op_matmul.c - matrix products.
 *
 * Every operator here multiplies rows of one operand with columns of another
 * and differs in where its operands stand, whether they are transposed and
 * what is done to the result: 'forms' says so, one row each.  The products
 * are the elements of the output times the length of a row.
 *
 * Each operand is a stack of matrices with a stride for each of its
 * dimensions, so that transposing one is exchanging two strides.  The right
 * one is packed by rows where it is not, and the innermost loop adds a
 * multiple of one of its rows to a row of the result.
 */
#include "ops/activation.h"
#include "ops/cost.h"
#include "ops/op_row.h"
#include "ops/ref_matmul.h"
#include "ops/ref_move.h"
#include "ops/ref_rules.h"

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
form_of(const struct sl__rule_context *call)
{
	return SL__OP_ROW_OF(call->node, forms);
}

static enum sl_dtype
result_dtype(struct sl__rule_context *call, const struct form *form)
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
	int n_batch, first_batch;
	int row, column; /* the dimensions that hold them; -1: a vector's */
	int64_t rows, columns;
};

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

/* With FusedMatMul's transBatch the first dimension, and not the last but one,
 * holds the rows. */
static int
read_operand(struct operand *o, struct sl__rule_context *call, size_t i,
	     int is_right)
{
	const struct sl__node *node = call->node;
	int is_swapped =
		has_options(node) &&
		sl__attribute_int(node, is_right ? "transB" : "transA", 0);
	int rank = sl__in_rank(call, i);

	*o = (struct operand){
		.type = sl__in_type(call, i), .rows = 1, .columns = 1};
	if (rank < 1)
		return 0;
	o->row = is_right ? 0 : -1;
	o->column = is_right ? -1 : 0;
	if (rank > 1) {
		o->n_batch = rank - 2;
		o->first_batch = sl__is_op(node, SL__OP_MS_FusedMatMul) &&
				 sl__attribute_int(node,
						   is_right ? "transBatchB"
							    : "transBatchA",
						   0) != 0;
		o->row = o->first_batch ? 0 : rank - 2;
		o->column = is_swapped ? o->row : rank - 1;
		o->row = is_swapped ? rank - 1 : o->row;
	}
	if (o->row >= 0)
		o->rows = o->type->dims[o->row];
	if (o->column >= 0)
		o->columns = o->type->dims[o->column];
	return 1;
}

/* Operands of a node: 0 where a rank is not known. */
static int
read_operands(struct sl__rule_context *call, const struct form *form,
	      struct operand *a, struct operand *b)
{
	return read_operand(a, call, form->a, 0) &&
	       read_operand(b, call, form->b, 1);
}

static int64_t
batch_dim(const struct operand *o, int d, int n_batch)
{
	int at = d - (n_batch - o->n_batch);

	return at < 0 ? 1 : o->type->dims[o->first_batch + at];
}

static void
check_inner(struct sl__rule_context *call, const struct form *form,
	    const struct operand *a, const struct operand *b)
{
	if (sl__sizes_differ(a->columns, b->rows))
		sl__rule_reject(
			call,
			"a product of %s and %s is not defined: rows of "
			"%lld meet columns of %lld",
			sl__in_shape_text(call, form->a),
			sl__in_shape_text(call, form->b), (long long)a->columns,
			(long long)b->rows);
}

enum sl_status
sl__infer_matmul(struct sl__rule_context *call)
{
	const struct form *form = form_of(call);
	enum sl_dtype dtype = result_dtype(call, form);
	struct operand a = {0}, b = {0};
	int64_t *dims;
	int n_batch, rank = 0;

	if (sl__in_rank(call, form->a) == 0 || sl__in_rank(call, form->b) == 0)
		return sl__rule_reject(call,
				       "a scalar is no operand of a matrix "
				       "product");
	if (!read_operands(call, form, &a, &b))
		return sl__out_set_dtype_only(call, 0, dtype);
	check_inner(call, form, &a, &b);
	n_batch = a.n_batch > b.n_batch ? a.n_batch : b.n_batch;
	dims = sl__sizes_alloc(call, (size_t)n_batch + 2);
	if (!dims)
		return call->failure;
	for (int d = 0; d < n_batch; d++) {
		dims[rank] = sl__broadcast_size(call->shapes,
						batch_dim(&a, d, n_batch),
						batch_dim(&b, d, n_batch));
		if (dims[rank++] == -1)
			sl__rule_reject(call,
					"a product of %s and %s is not defined",
					sl__in_shape_text(call, form->a),
					sl__in_shape_text(call, form->b));
	}
	if (a.row >= 0)
		dims[rank++] = a.rows;
	if (b.column >= 0)
		dims[rank++] = b.columns;
	return sl__out_set_shape(call, 0, dtype, rank, dims);
}

/* C is broadcast to the result, never the other way round. */
static void
check_bias(struct sl__rule_context *call, size_t bias, const int64_t *dims)
{
	const struct sl__type *c = sl__in_type(call, bias);
	int rank = sl__in_rank(call, bias);

	for (int d = 0; d < rank; d++) {
		if (rank > 2 ||
		    (c->dims[d] != 1 &&
		     sl__sizes_differ(c->dims[d], dims[d + 2 - rank])))
			sl__rule_reject(call,
					"a bias of %s does not fit %lldx%lld",
					sl__in_shape_text(call, bias),
					(long long)dims[0], (long long)dims[1]);
	}
}

enum sl_status
sl__infer_gemm(struct sl__rule_context *call)
{
	const struct form *form = form_of(call);
	enum sl_dtype dtype = result_dtype(call, form);
	struct operand a = {0}, b = {0};
	int64_t dims[2];

	if (sl__in_rank(call, form->a) < 0 || sl__in_rank(call, form->b) < 0)
		return sl__out_set_dtype_only(call, 0, dtype);
	if (sl__in_rank(call, form->a) != 2 || sl__in_rank(call, form->b) != 2)
		return sl__rule_reject(call,
				       "it multiplies matrices, not %s and %s",
				       sl__in_shape_text(call, form->a),
				       sl__in_shape_text(call, form->b));
	read_operands(call, form, &a, &b);
	check_inner(call, form, &a, &b);
	dims[0] = a.rows;
	dims[1] = b.columns;
	check_bias(call, form->bias, dims);
	return sl__out_set_shape(call, 0, dtype, 2, dims);
}

/* The packed weight says little: K and N are attributes. */
enum sl_status
sl__infer_matmul_nbits(struct sl__rule_context *call)
{
	const struct sl__type *a = sl__in_type(call, 0);
	int rank = sl__in_rank(call, 0);
	int64_t k = sl__attribute_int(call->node, "K", -1);
	int64_t n = sl__attribute_int(call->node, "N", -1);
	int64_t *dims;

	if (rank < 0)
		return sl__out_set_dtype_only(call, 0, sl__in_dtype(call, 0));
	if (rank == 0 || n < 1 || k < 1)
		return sl__rule_reject(call,
				       "it lacks a row to multiply, or the "
				       "attributes K and N");
	if (sl__sizes_differ(a->dims[rank - 1], k))
		return sl__rule_reject(
			call, "rows of %lld meet columns of K = %lld",
			(long long)a->dims[rank - 1], (long long)k);
	dims = sl__sizes_copy_from_input(call, 0);
	if (dims)
		dims[rank - 1] = n;
	return sl__out_set_shape(call, 0, sl__in_dtype(call, 0), rank, dims);
}

static void
count_products(struct sl__rule_context *call, const struct form *form,
	       uint64_t inner, struct sl_cost *cost)
{
	sl__cost_add_macs(cost, sl__saturating_mul(cost->out_elements, inner));
	if (sl__has_in(call, form->bias))
		sl__cost_add_operations(cost, cost->out_elements,
					SL__OPERATIONS_EACH(.add = 1));
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
sl__cost_matmul(struct sl__rule_context *call, struct sl_cost *cost)
{
	const struct sl__node *node = call->node;
	const struct form *form = form_of(call);
	struct operand a = {0}, b = {0};
	const char *word = sl__attribute_string(node, "activation", "");
	double alpha = has_options(node) ? sl__attribute_float(node, "alpha", 1)
					 : 1;
	struct sl__operations_each end = {.mul = (uint64_t)is_rescaled(node)};

	if (!read_operands(call, form, &a, &b)) {
		sl__cost_unknown(call, cost);
		return;
	}
	count_products(call, form, (uint64_t)a.columns, cost);
	/* The range of A, then A in integers. */
	if (sl__is_op(node, SL__OP_MS_DynamicQuantizeMatMul))
		sl__cost_add_operations(
			cost, cost->in_elements,
			SL__OPERATIONS_EACH(.cmp = 2, .mul = 1));
	end.mul += alpha < 1 || alpha > 1;
	end.cmp = !strcmp(word, "Relu") || !strcmp(word, "LeakyRelu");
	end.exp = *word && !end.cmp;
	sl__cost_add_operations(cost, cost->out_elements, end);
}

void
sl__cost_gemm(struct sl__rule_context *call, struct sl_cost *cost)
{
	const struct form *form = form_of(call);
	double beta = sl__attribute_float(call->node, "beta", 1);

	sl__cost_matmul(call, cost);
	if (sl__has_in(call, form->bias) && (beta < 1 || beta > 1))
		sl__cost_add_operations(cost, sl__in_elements(call, form->bias),
					SL__OPERATIONS_EACH(.mul = 1));
}

/* Each weight is also made from its few bits: a scale and a zero point. */
void
sl__cost_matmul_nbits(struct sl__rule_context *call, struct sl_cost *cost)
{
	uint64_t k = sl__in_dim(call, 0, -1);

	count_products(call, form_of(call), k, cost);
	sl__cost_add_operations(cost,
				sl__saturating_mul(k, sl__out_dim(call, 0, -1)),
				SL__OPERATIONS_EACH(.fma = 1));
}

/* An operand as its elements lie, and its steps through the batch. */
static struct sl__matmul_operand
lay_out(const struct operand *o, struct sl__matmul *p, int is_right)
{
	int64_t all[SL__RANK_MOST], *steps = p->w.strides[is_right];
	struct sl__matmul_operand made = {.rows = o->rows,
					  .columns = o->columns,
					  .row_stride = o->columns,
					  .column_stride = 1,
					  .n_matrices = 1};

	sl__row_major_strides(all, (size_t)o->type->rank, o->type->dims);
	if (o->row >= 0)
		made.row_stride = all[o->row];
	if (o->column >= 0)
		made.column_stride = all[o->column];
	for (int d = 0; d < (int)p->w.rank; d++) {
		int at = o->first_batch + d - ((int)p->w.rank - o->n_batch);
		int64_t size = batch_dim(o, d, (int)p->w.rank);

		made.n_matrices *= size;
		steps[d] = size == 1 ? 0 : all[at];
		p->batch[d] = size == 1 ? p->batch[d] : size;
	}
	return made;
}

/* Inference has compared the sizes; the rank is what it could not know. */
enum sl_status
sl__matmul_read(struct sl__matmul *p, struct sl__kernel_call *ev)
{
	const struct form *form = SL__OP_ROW_OF(ev->node, forms);
	struct operand a = {0}, b = {0};
	struct sl__ref_rule_view v;
	int n_batch;

	if (!sl__ref_require_tensor(ev, form->a) ||
	    !sl__ref_require_tensor(ev, form->b) ||
	    sl__ref_rule_view_begin(&v, ev))
		return ev->failure;
	if (!read_operands(&v.call, form, &a, &b))
		sl__rule_reject(&v.call, "an operand is no matrix");
	else
		check_inner(&v.call, form, &a, &b);
	n_batch = a.n_batch > b.n_batch ? a.n_batch : b.n_batch;
	for (int d = 0; d < n_batch; d++) {
		int64_t x = batch_dim(&a, d, n_batch);
		int64_t y = batch_dim(&b, d, n_batch);

		p->batch[d] = 1;
		if (x != 1 && y != 1 && x != y)
			sl__rule_reject(
				&v.call,
				"stacks of %lld and %lld matrices do not go "
				"together",
				(long long)x, (long long)y);
	}
	if (sl__ref_rule_view_end(&v, ev))
		return ev->failure;
	sl__strided_iterator_begin(&p->w, (size_t)n_batch, p->batch);
	p->w.n = 2;
	p->a = lay_out(&a, p, 0);
	p->b = lay_out(&b, p, 1);
	p->n = sl__dims_product(
		(int64_t[]){sl__dims_product(p->batch, 0, p->w.rank), p->a.rows,
			    p->b.columns},
		0, 3);
	return SL_OK;
}

/* b by rows, in 'packed' unless it lies so already. */
static const double *
pack(const struct sl__matmul_operand *o, const double *b, double *packed)
{
	if (o->column_stride == 1 && o->row_stride == o->columns)
		return b;
	for (int64_t i = 0; i < o->rows; i++) {
		for (int64_t j = 0; j < o->columns; j++)
			packed[i * o->columns + j] =
				b[i * o->row_stride + j * o->column_stride];
	}
	return packed;
}

/* y [rows][columns] += a b; b is packed. */
static void
multiply(const struct sl__matmul *p, const double *a, const double *b,
	 double *y)
{
	int64_t n = p->b.columns;

	for (int64_t i = 0; i < p->a.rows; i++, y += n) {
		for (int64_t k = 0; k < p->a.columns; k++) {
			double x =
				a[i * p->a.row_stride + k * p->a.column_stride];
			const double *row = b + k * n;

			for (int64_t j = 0; j < n; j++)
				y[j] += x * row[j];
		}
	}
}

/* The same of integers, which wrap. */
static void
multiply_whole(const struct sl__matmul *p, const int64_t *a, const int64_t *b,
	       int64_t *y)
{
	int64_t n = p->b.columns, step = p->b.column_stride;

	for (int64_t i = 0; i < p->a.rows; i++, y += n) {
		for (int64_t k = 0; k < p->a.columns; k++) {
			uint64_t x = (uint64_t)
				a[i * p->a.row_stride + k * p->a.column_stride];
			const int64_t *row = b + k * p->b.row_stride;

			for (int64_t j = 0; j < n; j++)
				y[j] = (int64_t)((uint64_t)y[j] +
						 x * (uint64_t)row[j * step]);
		}
	}
}

double *
sl__matmul_doubles(struct sl__kernel_call *ev, struct sl__matmul *p,
		   const double *left, const double *right)
{
	double *y = sl__ref_scratch_doubles(ev, p->n), *to = y;
	double *packed = sl__ref_scratch_doubles(
		ev, p->n ? p->b.rows * p->b.columns : 0);

	if (ev->failure || p->n == 0)
		return y;
	do {
		multiply(p, left + p->w.offsets[0],
			 pack(&p->b, right + p->w.offsets[1], packed), to);
		to += p->a.rows * p->b.columns;
	} while (sl__strided_iterator_next(&p->w));
	return y;
}

int64_t *
sl__matmul_integers(struct sl__kernel_call *ev, struct sl__matmul *p,
		    const int64_t *left, const int64_t *right)
{
	int64_t *y = sl__ref_scratch_integers(ev, p->n), *to = y;

	if (ev->failure || p->n == 0)
		return y;
	do {
		multiply_whole(p, left + p->w.offsets[0],
			       right + p->w.offsets[1], to);
		to += p->a.rows * p->b.columns;
	} while (sl__strided_iterator_next(&p->w));
	return y;
}

static int
is_one(double x)
{
	return !(x < 1) && !(x > 1);
}

/* alpha A B + beta C, where C, input 2, is broadcast, and an activation; the
 * stacks of MatMul and FusedMatMul have neither. */
static enum sl_status
run(struct sl__kernel_call *ev, int is_gemm)
{
	const struct sl__tensor *t = is_gemm ? sl__ref_input_tensor(ev, 2)
					     : NULL;
	double alpha = has_options(ev->node)
			       ? sl__attribute_float(ev->node, "alpha", 1)
			       : 1;
	double beta = is_gemm ? sl__attribute_float(ev->node, "beta", 1) : 1;
	int64_t steps[2] = {0}, n, *whole;
	struct sl__fused_activation ending = {0};
	struct sl__matmul p;
	double *y;

	if ((is_gemm && sl__fused_activation_read(&ending, ev)) ||
	    sl__matmul_read(&p, ev))
		return ev->failure;
	if (t && t->rank > 2)
		return sl__ref_reject(ev, "a bias of rank %zu", t->rank);
	if (t)
		sl__broadcast_strides(steps, 2, t->rank, t->dims);
	n = p.b.columns;
	if (sl__ref_dtype_is_integer(sl__ref_input_dtype(ev, 0)) &&
	    (!is_gemm || (is_one(alpha) && is_one(beta)))) {
		const int64_t *c = t ? sl__ref_input_integers(ev, 2) : NULL;

		whole = sl__matmul_integers(ev, &p,
					    sl__ref_input_integers(ev, 0),
					    sl__ref_input_integers(ev, 1));
		for (int64_t i = 0; !ev->failure && c && i < p.n; i++)
			whole[i] = (int64_t)((uint64_t)whole[i] +
					     (uint64_t)c[i / n * steps[0] +
							 i % n * steps[1]]);
		return sl__ref_output_store_integers(ev, 0, whole);
	} else {
		const double *c = t ? sl__ref_input_doubles(ev, 2) : NULL;

		y = sl__matmul_doubles(ev, &p, sl__ref_input_doubles(ev, 0),
				       sl__ref_input_doubles(ev, 1));
		for (int64_t i = 0; !ev->failure && i < p.n; i++) {
			y[i] *= alpha;
			if (c)
				y[i] += beta *
					c[i / n * steps[0] + i % n * steps[1]];
		}
		if (!ev->failure)
			sl__fused_activation_apply(&ending, (size_t)p.n, y);
		return sl__ref_output_store_doubles(ev, 0, y);
	}
}

enum sl_status
sl__ref_matmul(struct sl__kernel_call *ev)
{
	return run(ev, 0);
}

enum sl_status
sl__ref_gemm(struct sl__kernel_call *ev)
{
	return run(ev, 1);
}

/*
 * The weight is [n][n_blocks][block_size] numbers of a few bits, the first in
 * the low bits of a byte, each block in bytes of its own.  Scales and zero
 * points are [n][n_blocks]; the latter are as packed, each of the n in bytes
 * of its own, or real numbers.  group[k] says which block's they are for
 * column k, where that is not the one that k lies in.
 */
struct packed {
	int64_t n, k, bits, block_size, n_blocks;
	const struct sl__tensor *weight, *zeros;
	const double *scales, *real_zeros;
	const int64_t *group;
};

static int64_t
bytes_for(int64_t n, int64_t bits)
{
	return (n * bits + 7) / 8;
}

static int64_t
few_bits(const unsigned char *bytes, int64_t i, int64_t bits)
{
	int64_t at = i * bits;

	return bytes[at / 8] >> at % 8 & ((1 << bits) - 1);
}

/* Whether input i is there with at least n elements of a type (NONE: any). */
static int
has_elements(struct sl__kernel_call *ev, size_t i, int64_t n,
	     enum sl_dtype dtype)
{
	const struct sl__tensor *t = sl__ref_input_tensor(ev, i);

	return t && t->n_elements >= (uint64_t)n &&
	       (dtype == SL_DTYPE_NONE || t->dtype == dtype);
}

static enum sl_status
read_packed(struct packed *q, struct sl__kernel_call *ev)
{
	const int64_t most = 1 << 30; /* products stay within 64 bits */
	const struct sl__node *node = ev->node;
	int64_t n_zeros;
	int is_sound;

	memset(q, 0, sizeof(*q));
	q->n = sl__attribute_int(node, "N", 0);
	q->k = sl__attribute_int(node, "K", 0);
	q->bits = sl__attribute_int(node, "bits", 4);
	q->block_size = sl__attribute_int(node, "block_size", 0);
	if (q->n < 1 || q->n > most || q->k < 1 || q->k > most ||
	    q->block_size < 1 || q->block_size > most ||
	    (q->bits != 1 && q->bits != 2 && q->bits != 4 && q->bits != 8))
		return sl__ref_reject(
			ev, "N %lld, K %lld, %lld bits, blocks of %lld",
			(long long)q->n, (long long)q->k, (long long)q->bits,
			(long long)q->block_size);
	q->n_blocks = (q->k + q->block_size - 1) / q->block_size;
	q->weight = sl__ref_input_tensor(ev, 1);
	q->zeros = sl__ref_input_tensor(ev, 3);
	n_zeros = q->zeros && q->zeros->dtype == SL_DTYPE_U8
			  ? q->n * bytes_for(q->n_blocks, q->bits)
			  : q->n * q->n_blocks;
	is_sound = has_elements(ev, 1,
				q->n * q->n_blocks *
					bytes_for(q->block_size, q->bits),
				SL_DTYPE_U8) &&
		   has_elements(ev, 2, q->n * q->n_blocks, SL_DTYPE_NONE) &&
		   (!q->zeros || has_elements(ev, 3, n_zeros, SL_DTYPE_NONE)) &&
		   (!sl__ref_input(ev, 4) ||
		    has_elements(ev, 4, q->k, SL_DTYPE_NONE)) &&
		   (!sl__ref_input(ev, 5) ||
		    has_elements(ev, 5, q->n, SL_DTYPE_NONE));
	return is_sound ? SL_OK
			: sl__ref_reject(
				  ev,
				  "the packed weight or what belongs to it is "
				  "too small");
}

static enum sl_status
read_scales(struct packed *q, struct sl__kernel_call *ev)
{
	q->scales = sl__ref_input_doubles(ev, 2);
	if (q->zeros && q->zeros->dtype != SL_DTYPE_U8)
		q->real_zeros = sl__ref_input_doubles(ev, 3);
	q->group = sl__ref_optional_integers(ev, 4);
	for (int64_t k = 0; q->group && k < q->k; k++) {
		if (q->group[k] < 0 || q->group[k] >= q->n_blocks)
			return sl__ref_reject(ev, "no group %lld",
					      (long long)q->group[k]);
	}
	return ev->failure;
}

static double
zero_point(const struct packed *q, int64_t row, int64_t block)
{
	if (q->real_zeros)
		return q->real_zeros[row * q->n_blocks + block];
	if (q->zeros)
		return (double)few_bits(
			q->zeros->bytes + row * bytes_for(q->n_blocks, q->bits),
			block, q->bits);
	return (double)(INT64_C(1) << (q->bits - 1));
}

/* The weight [k][n] in full. */
static double *
unpack(const struct packed *q, struct sl__kernel_call *ev)
{
	int64_t block_bytes = bytes_for(q->block_size, q->bits);
	double *made = sl__ref_scratch_doubles(ev, q->n * q->k);

	for (int64_t i = 0; made && i < q->n * q->k; i++) {
		int64_t row = i / q->k, k = i % q->k, in = k / q->block_size;
		int64_t block = q->group ? q->group[k] : in;
		const unsigned char *bytes =
			q->weight->bytes +
			(row * q->n_blocks + in) * block_bytes;

		made[k * q->n + row] =
			((double)few_bits(bytes, k % q->block_size, q->bits) -
			 zero_point(q, row, block)) *
			q->scales[row * q->n_blocks + block];
	}
	return made;
}

enum sl_status
sl__ref_matmul_nbits(struct sl__kernel_call *ev)
{
	const struct sl__runtime_value *out = sl__ref_output(ev, 0);
	const double *a = sl__ref_input_doubles(ev, 0), *b;
	const double *bias = sl__ref_optional_doubles(ev, 5);
	double *y = sl__ref_scratch_output(ev, 0);
	struct sl__matmul p = {0};
	struct packed q;

	if (ev->failure || read_packed(&q, ev) || read_scales(&q, ev))
		return ev->failure;
	b = unpack(&q, ev);
	if (!b)
		return ev->failure;
	p.a = (struct sl__matmul_operand){
		.rows = (int64_t)out->tensor.n_elements / q.n,
		.columns = q.k,
		.row_stride = q.k,
		.column_stride = 1};
	p.b = (struct sl__matmul_operand){.rows = q.k, .columns = q.n};
	multiply(&p, a, b, y);
	for (uint64_t i = 0; bias && i < out->tensor.n_elements; i++)
		y[i] += bias[i % (uint64_t)q.n];
	return sl__ref_output_store_doubles(ev, 0, y);
}
