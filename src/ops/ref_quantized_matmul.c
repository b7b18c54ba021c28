/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ref_quantized_matmul.c - matrix products of small integers.
 *
 * Every operator here takes the zero points off its operands, multiplies in
 * 64 bits and differs in what it does with the sums: 'forms' says where its
 * operands stand.  A scale or a zero point is one for all, one for each row
 * of the left operand or column of the right one, or one for each of all
 * matrices.
 */
#include "ops/op_row.h"
#include "ops/ref_matmul.h"
#include "ops/ref_quantize.h"

#include <math.h>
#include <string.h>

#include "base/banned.h"

enum { NONE = 99 };

/* Which inputs are what. */
struct form {
	enum sl__op_id id;
	size_t a, a_scale, a_zero;
	size_t b, b_scale, b_zero;
	size_t bias, y_scale; /* the zero point follows the scale */
};

static const struct form forms[] = {
	{SL__OP_ONNX_MatMulInteger, 0, NONE, 2, 1, NONE, 3, NONE, NONE},
	{SL__OP_MS_MatMulInteger16, 0, NONE, NONE, 1, NONE, NONE, NONE, NONE},
	{SL__OP_ONNX_QLinearMatMul, 0, 1, 2, 3, 4, 5, NONE, 6},
	{SL__OP_MS_MatMulIntegerToFloat, 0, 2, 4, 1, 3, 5, 6, NONE},
	{SL__OP_MS_DynamicQuantizeMatMul, 0, NONE, NONE, 1, 2, 3, 4, NONE},
	{SL__OP_MS_QGemm, 0, 1, 2, 3, 4, 5, 6, 7},
};

/* Where the number for a line of a matrix is among n: one for all, one for each
 * line, or one for each line of each matrix. */
static int64_t
line_at(int64_t n, int64_t n_lines, int64_t matrix, int64_t line)
{
	return n == 1 ? 0 : n == n_lines ? line : matrix * n_lines + line;
}

/* One side of a product: lines are the rows of the left operand and the
 * columns of the right one. */
struct side {
	const struct sl__matmul_operand *o;
	int64_t n_lines, n_matrices;
	int64_t *values; /* less their zero points, as the input has them */
	const double *scales;
	int64_t n_scales;
};

struct product {
	const struct form *form;
	struct sl__matmul p;
	struct side a, b;
	int64_t *sums;
};

/* How many numbers for the lines input i has; refuses another number. */
static int64_t
count_lines(struct sl__kernel_call *ev, size_t i, const struct side *s)
{
	const struct sl__tensor *t = sl__ref_input_tensor(ev, i);
	int64_t n = t ? (int64_t)t->n_elements : 0;

	if (!t ||
	    (n != 1 && n != s->n_lines && n != s->n_lines * s->n_matrices))
		sl__ref_reject(ev,
			       "input %zu has not one number for each of %lld "
			       "lines",
			       i, (long long)s->n_lines);
	return n;
}

static void
measure(struct side *s, const struct sl__matmul_operand *o, int is_right)
{
	s->o = o;
	s->n_lines = is_right ? o->columns : o->rows;
	s->n_matrices = o->n_matrices;
}

/* The line on which element i of a matrix lies. */
static int64_t
line_of(const struct side *s, int64_t i, int is_right)
{
	int64_t stride = is_right ? s->o->column_stride : s->o->row_stride;

	return i / stride % s->n_lines;
}

/* Input i less its zero points, which are input 'zero'. */
static void
read_side(struct side *s, struct sl__kernel_call *ev, size_t i, size_t zero,
	  int is_right)
{
	const int64_t *given = sl__ref_input_integers(ev, i);
	const int64_t *zeros = sl__ref_optional_integers(ev, zero);
	int64_t n_zeros = zeros ? count_lines(ev, zero, s) : 0;
	int64_t size = s->o->rows * s->o->columns;

	sl__ref_check_narrow_integers(ev, i);
	sl__ref_check_narrow_integers(ev, zero);
	s->values = sl__ref_scratch_integers(ev, size * s->n_matrices);
	for (int64_t k = 0; !ev->failure && k < size * s->n_matrices; k++) {
		int64_t line = line_of(s, k % size, is_right);

		s->values[k] = given[k];
		if (zeros)
			s->values[k] -= zeros[line_at(n_zeros, s->n_lines,
						      k / size, line)];
	}
}

/* The left operand, of reals, as uint8 less the zero point. */
static void
quantize_side(struct side *s, struct sl__kernel_call *ev,
	      struct sl__ref_scale_zero_point *scale)
{
	const double *x = sl__ref_input_doubles(ev, 0);
	int64_t n = s->o->rows * s->o->columns * s->n_matrices;

	s->values = sl__ref_scratch_integers(ev, n);
	if (ev->failure)
		return;
	*scale = sl__ref_dynamic_scale(x, (size_t)n);
	s->scales = &scale->scale;
	s->n_scales = 1;
	for (int64_t i = 0; i < n; i++)
		s->values[i] = sl__ref_quantize_value(SL_DTYPE_U8, x[i],
						      scale->scale,
						      scale->zero) -
			       scale->zero;
}

/* Both operands, centred, and their sums; where 'scale' is given, the left
 * operand is quantized first. */
static enum sl_status
sum_up(struct product *q, struct sl__kernel_call *ev,
       struct sl__ref_scale_zero_point *scale)
{
	const struct sl__runtime_value *out = sl__ref_output(ev, 0);

	memset(q, 0, sizeof(*q));
	q->form = SL__OP_ROW_OF(ev->node, forms);
	if (sl__matmul_read(&q->p, ev))
		return ev->failure;
	measure(&q->a, &q->p.a, 0);
	measure(&q->b, &q->p.b, 1);
	if (scale)
		quantize_side(&q->a, ev, scale);
	else
		read_side(&q->a, ev, q->form->a, q->form->a_zero, 0);
	read_side(&q->b, ev, q->form->b, q->form->b_zero, 1);
	if (out->kind != SL__TYPE_TENSOR ||
	    out->tensor.n_elements != (uint64_t)q->p.n)
		return sl__ref_reject(ev, "its result has other sizes");
	q->sums = sl__matmul_integers(ev, &q->p, q->a.values, q->b.values);
	return ev->failure;
}

/* A bias is repeated over the rows, or is a matrix; NULL: none.  It is added
 * to what is scaled, or, where it is of integers, to the sums. */
static const double *
read_bias(const struct product *q, struct sl__kernel_call *ev, int64_t *strides)
{
	const struct sl__tensor *t = sl__ref_input_tensor(ev, q->form->bias);
	int64_t rows = t && t->rank > 1 ? t->dims[t->rank - 2] : 1;
	int64_t columns = t && t->rank > 0 ? t->dims[t->rank - 1] : 1;

	if (t && ((rows != 1 && rows != q->p.a.rows) ||
		  (columns != 1 && columns != q->p.b.columns) ||
		  t->n_elements != (uint64_t)(rows * columns)))
		sl__ref_reject(ev, "a bias of %llu for %lld columns",
			       (unsigned long long)t->n_elements,
			       (long long)q->p.b.columns);
	strides[0] = rows == 1 ? 0 : columns;
	strides[1] = columns == 1 ? 0 : 1;
	return sl__ref_optional_doubles(ev, q->form->bias);
}

/* What becomes of each sum. */
struct finishing {
	const double *bias;
	int64_t bias_strides[2];
	double alpha;
	double *y;                          /* reals, or */
	int64_t *whole;                     /* integers, */
	struct sl__ref_scale_zero_point to; /* of this scale */
	enum sl_dtype dtype;                /* and type */
};

/* Element i of the result, whose operands' scales multiply to 'scale' in f32,
 * as runtimes have it. */
static void
finish(const struct finishing *f, const struct product *q, int64_t i,
       double scale)
{
	int64_t row = i / q->p.b.columns % q->p.a.rows;
	int64_t column = i % q->p.b.columns;
	int is_gemm = q->form->id == SL__OP_MS_QGemm;
	double sum = (double)q->sums[i];
	double bias = f->bias ? f->bias[row * f->bias_strides[0] +
					column * f->bias_strides[1]]
			      : 0;

	scale = f->alpha * (double)(float)scale;
	if (is_gemm)
		sum += bias; /* of the scale of the sums */
	sum = (double)(float)sum;
	if (f->y) {
		f->y[i] = sum * scale + (is_gemm ? 0 : bias);
		return;
	}
	/* One factor, as runtimes have it. */
	scale = (double)(float)(scale / f->to.scale);
	f->whole[i] =
		sl__ref_quantize_value(f->dtype, sum * scale, 1, f->to.zero);
}

static void
finish_all(const struct finishing *f, struct product *q)
{
	const int64_t *offsets = q->p.w.offsets;
	int64_t n_a = q->p.a.rows * q->p.a.columns, i = 0;
	int64_t n_b = q->p.b.rows * q->p.b.columns;
	int64_t size = q->p.a.rows * q->p.b.columns;

	do {
		for (int64_t k = 0; k < size; k++) {
			int64_t a = line_at(q->a.n_scales, q->a.n_lines,
					    n_a ? offsets[0] / n_a : 0,
					    k / q->p.b.columns);
			int64_t b = line_at(q->b.n_scales, q->b.n_lines,
					    n_b ? offsets[1] / n_b : 0,
					    k % q->p.b.columns);

			finish(f, q, i++, q->a.scales[a] * q->b.scales[b]);
		}
	} while (sl__strided_iterator_next(&q->p.w));
}

/* MatMulInteger, MatMulInteger16: the sums themselves. */
enum sl_status
sl__ref_matmul_integer(struct sl__kernel_call *ev)
{
	struct product q;

	if (sum_up(&q, ev, NULL))
		return ev->failure;
	return sl__ref_output_store_integers(ev, 0, q.sums);
}

/* QLinearMatMul, MatMulIntegerToFloat, QGemm, DynamicQuantizeMatMul. */
enum sl_status
sl__ref_matmul_scaled(struct sl__kernel_call *ev)
{
	int is_dynamic = sl__is_op(ev->node, SL__OP_MS_DynamicQuantizeMatMul);
	struct sl__ref_scale_zero_point scale;
	struct finishing f = {0};
	struct product q;

	if (sum_up(&q, ev, is_dynamic ? &scale : NULL))
		return ev->failure;
	if (!is_dynamic) {
		q.a.n_scales = count_lines(ev, q.form->a_scale, &q.a);
		q.a.scales = sl__ref_input_doubles(ev, q.form->a_scale);
	}
	q.b.n_scales = count_lines(ev, q.form->b_scale, &q.b);
	q.b.scales = sl__ref_input_doubles(ev, q.form->b_scale);
	f.bias = read_bias(&q, ev, f.bias_strides);
	f.alpha = sl__attribute_float(ev->node, "alpha", 1);
	f.dtype = sl__ref_output(ev, 0)->tensor.dtype;
	if (!sl__ref_dtype_is_integer(f.dtype)) {
		f.y = sl__ref_scratch_doubles(ev, q.p.n);
	} else {
		f.whole = sl__ref_scratch_integers(ev, q.p.n);
		f.to = sl__ref_scale_zero_point(ev, q.form->y_scale);
	}
	if (ev->failure)
		return ev->failure;
	finish_all(&f, &q);
	return f.y ? sl__ref_output_store_doubles(ev, 0, f.y)
		   : sl__ref_output_store_integers(ev, 0, f.whole);
}
