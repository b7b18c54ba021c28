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
#include "base/status.h"
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

static const struct form *
form_of(const struct sl__node *node)
{
	for (size_t i = 1; i < sizeof(forms) / sizeof(forms[0]); i++) {
		if (sl__is_op(node, forms[i].id))
			return &forms[i];
	}
	return &forms[0];
}

/* A stack of matrices, of integers less their zero points. */
struct operand {
	int64_t rows, columns;
	size_t n_matrices, n_batch; /* batch dimensions, dims[0 ..] */
	const int64_t *dims;
	int64_t *values;
};

/* [lines][length] as [length][lines]. */
static int64_t *
transposed(struct sl__eval *ev, const struct operand *o)
{
	int64_t *to =
		sl__ref_new(ev, (size_t)(o->rows * o->columns), sizeof(*to));

	for (int64_t r = 0; to && r < o->rows; r++) {
		for (int64_t c = 0; c < o->columns; c++)
			to[c * o->rows + r] = o->values[r * o->columns + c];
	}
	return to;
}

/* The sizes of operand i; a vector is a row on the left and a column on the
 * right. */
static enum sl_status
measure(struct operand *o, struct sl__eval *ev, size_t i, int is_right,
	struct sl_error *err)
{
	const struct sl__tensor *t = sl__ref_tensor(ev, i);

	memset(o, 0, sizeof(*o));
	if (!t || t->rank == 0)
		return sl__fail(err, SL_E_DATA,
				"input %zu is no operand of a product", i);
	o->rows = o->columns = 1;
	o->dims = t->dims;
	o->n_matrices = 1;
	if (t->rank == 1) {
		*(is_right ? &o->rows : &o->columns) = t->dims[0];
		return SL_OK;
	}
	o->n_batch = t->rank - 2;
	o->rows = t->dims[t->rank - 2];
	o->columns = t->dims[t->rank - 1];
	for (size_t d = 0; d < o->n_batch; d++)
		o->n_matrices *= (size_t)t->dims[d];
	return SL_OK;
}

/* Where the number of line 'line' of matrix 'matrix' is among n of them. */
static size_t
line_at(size_t n, size_t n_lines, size_t matrix, size_t line)
{
	return n == 1 ? 0 : n == n_lines ? line : matrix * n_lines + line;
}

/* Whether input i has a number for all, for each line, or for each line of
 * each matrix. */
static enum sl_status
check_lines(struct sl__eval *ev, size_t i, size_t n_lines, size_t n_matrices,
	    struct sl_error *err)
{
	const struct sl__tensor *t = sl__ref_tensor(ev, i);

	if (t && (t->n_elements == 1 || t->n_elements == n_lines ||
		  t->n_elements == n_lines * n_matrices))
		return SL_OK;
	return sl__fail(err, SL_E_DATA,
			"input %zu has not one number for each of %zu lines", i,
			n_lines);
}

/* Takes the zero points, input i, off an operand. */
static enum sl_status
centre(struct operand *o, struct sl__eval *ev, size_t i, int is_right,
       struct sl_error *err)
{
	size_t n_lines = (size_t)(is_right ? o->columns : o->rows);
	const int64_t *zeros;
	size_t at = 0, n;
	enum sl_status rc;

	if (!sl__ref_in(ev, i))
		return SL_OK;
	rc = check_lines(ev, i, n_lines, o->n_matrices, err);
	if (!rc)
		rc = sl__ref_check_small(ev, i, err);
	if (rc)
		return rc;
	n = (size_t)sl__ref_tensor(ev, i)->n_elements;
	zeros = sl__ref_integers(ev, i, err);
	if (!zeros)
		return sl__ref_failure(ev);
	for (size_t m = 0; m < o->n_matrices; m++) {
		for (int64_t r = 0; r < o->rows; r++) {
			for (int64_t c = 0; c < o->columns; c++)
				o->values[at++] -= zeros[line_at(
					n, n_lines, m,
					(size_t)(is_right ? c : r))];
		}
	}
	return SL_OK;
}

static enum sl_status
flip(struct operand *o, struct sl__eval *ev, struct sl_error *err)
{
	int64_t rows = o->columns;

	o->values = transposed(ev, o);
	o->columns = o->rows;
	o->rows = rows;
	return o->values ? SL_OK : sl__fail_nomem(err);
}

static enum sl_status
read_operand(struct operand *o, struct sl__eval *ev, size_t i, int is_right,
	     struct sl_error *err)
{
	const struct sl__tensor *t = sl__ref_tensor(ev, i);
	const int64_t *given;
	enum sl_status rc = measure(o, ev, i, is_right, err);

	if (!rc)
		rc = sl__ref_check_small(ev, i, err);
	if (rc)
		return rc;
	given = sl__ref_integers(ev, i, err);
	if (!given)
		return sl__ref_failure(ev);
	o->values = sl__ref_new(ev, (size_t)t->n_elements, sizeof(*given));
	if (!o->values)
		return sl__fail_nomem(err);
	if (t->n_elements)
		memcpy(o->values, given,
		       (size_t)t->n_elements * sizeof(*given));
	if (t->rank == 2 &&
	    sl__int(ev->node, is_right ? "transB" : "transA", 0))
		return flip(o, ev, err);
	return SL_OK;
}

/* The whole of a call: operands, the sums, and what result they are for. */
struct product {
	const struct form *form;
	struct operand a, b;
	size_t n_batch; /* of the result */
	int64_t *batch; /* its dimensions */
	int64_t *a_strides, *b_strides;
	size_t n_matrices;
	int64_t *sums; /* [n_matrices][a.rows][b.columns] */
	const double *a_scales, *b_scales;
	size_t n_a_scales, n_b_scales;
};

static void
multiply(int64_t *sums, const struct operand *a, const int64_t *left,
	 const struct operand *b, const int64_t *right)
{
	for (int64_t m = 0; m < a->rows; m++) {
		for (int64_t k = 0; k < a->columns; k++) {
			int64_t x = left[m * a->columns + k];

			for (int64_t n = 0; n < b->columns; n++)
				sums[m * b->columns + n] +=
					x * right[k * b->columns + n];
		}
	}
}

static int64_t
batch_dim(const struct operand *o, size_t n_batch, size_t d)
{
	size_t ahead = n_batch - o->n_batch;

	return d < ahead ? 1 : o->dims[d - ahead];
}

/* The result's batch dimensions, and how the operands follow them. */
static enum sl_status
plan_batch(struct product *p, struct sl__eval *ev, struct sl_error *err)
{
	size_t n = p->a.n_batch > p->b.n_batch ? p->a.n_batch : p->b.n_batch;

	p->n_batch = n;
	p->batch = sl__ref_new(ev, n, sizeof(*p->batch));
	p->a_strides = sl__ref_new(ev, n, sizeof(*p->a_strides));
	p->b_strides = sl__ref_new(ev, n, sizeof(*p->b_strides));
	if (!p->batch || !p->a_strides || !p->b_strides)
		return sl__fail_nomem(err);
	p->n_matrices = 1;
	for (size_t d = 0; d < n; d++) {
		int64_t a = batch_dim(&p->a, n, d), b = batch_dim(&p->b, n, d);

		if (a != b && a != 1 && b != 1)
			return sl__fail(err, SL_E_DATA,
					"stacks of %lld and %lld matrices",
					(long long)a, (long long)b);
		p->batch[d] = a == 1 ? b : a;
		p->n_matrices *= (size_t)p->batch[d];
	}
	sl__ref_broadcast(p->a_strides, n, p->a.n_batch, p->a.dims);
	sl__ref_broadcast(p->b_strides, n, p->b.n_batch, p->b.dims);
	return SL_OK;
}

/* Which matrices of the operands make matrix 'i' of the result. */
static void
sources(const struct product *p, size_t i, size_t *a, size_t *b)
{
	*a = *b = 0;
	for (size_t d = p->n_batch; d-- > 0;) {
		size_t at = i % (size_t)p->batch[d];

		i /= (size_t)p->batch[d];
		*a += at * (size_t)p->a_strides[d];
		*b += at * (size_t)p->b_strides[d];
	}
}

static enum sl_status
sum_up(struct product *p, struct sl__eval *ev, struct sl_error *err)
{
	size_t n_a = (size_t)(p->a.rows * p->a.columns);
	size_t n_b = (size_t)(p->b.rows * p->b.columns);
	size_t n = (size_t)(p->a.rows * p->b.columns);
	const struct sl__datum *out = sl__ref_result(ev, 0);
	enum sl_status rc;

	if (p->a.columns != p->b.rows)
		return sl__fail(err, SL_E_DATA,
				"rows of %lld meet columns "
				"of %lld",
				(long long)p->a.columns, (long long)p->b.rows);
	rc = plan_batch(p, ev, err);
	if (rc)
		return rc;
	if (!out || out->kind != SL__TYPE_TENSOR ||
	    out->tensor.n_elements != n * p->n_matrices)
		return sl__fail(err, SL_E_DATA, "its result has other sizes");
	p->sums = sl__ref_new(ev, n * p->n_matrices, sizeof(*p->sums));
	if (!p->sums)
		return sl__fail_nomem(err);
	for (size_t i = 0; i < p->n_matrices; i++) {
		size_t a, b;

		sources(p, i, &a, &b);
		multiply(p->sums + i * n, &p->a, p->a.values + a * n_a, &p->b,
			 p->b.values + b * n_b);
	}
	return SL_OK;
}

/* Both operands, centred, and their sums. */
static enum sl_status
product_of(struct product *p, struct sl__eval *ev, struct sl_error *err)
{
	enum sl_status rc;

	memset(p, 0, sizeof(*p));
	p->form = form_of(ev->node);
	rc = read_operand(&p->a, ev, p->form->a, 0, err);
	if (!rc)
		rc = read_operand(&p->b, ev, p->form->b, 1, err);
	if (!rc)
		rc = centre(&p->a, ev, p->form->a_zero, 0, err);
	if (!rc)
		rc = centre(&p->b, ev, p->form->b_zero, 1, err);
	return rc ? rc : sum_up(p, ev, err);
}

static enum sl_status
read_scales(struct product *p, struct sl__eval *ev, struct sl_error *err)
{
	size_t rows = (size_t)p->a.rows, columns = (size_t)p->b.columns;
	enum sl_status rc = SL_OK;

	if (p->form->a_scale != NONE) {
		rc = check_lines(ev, p->form->a_scale, rows, p->a.n_matrices,
				 err);
		if (rc)
			return rc;
		p->a_scales = sl__ref_doubles(ev, p->form->a_scale, err);
		p->n_a_scales = (size_t)sl__ref_tensor(ev, p->form->a_scale)
					->n_elements;
	}
	rc = check_lines(ev, p->form->b_scale, columns, p->b.n_matrices, err);
	if (rc)
		return rc;
	p->b_scales = sl__ref_doubles(ev, p->form->b_scale, err);
	p->n_b_scales =
		(size_t)sl__ref_tensor(ev, p->form->b_scale)->n_elements;
	return p->a_scales && p->b_scales ? SL_OK : sl__ref_failure(ev);
}

/* The scale of one sum, in f32 as runtimes have it. */
static double
scale_of(const struct product *p, size_t i, size_t row, size_t column)
{
	size_t a, b;

	sources(p, i, &a, &b);
	a = line_at(p->n_a_scales, (size_t)p->a.rows, a, row);
	b = line_at(p->n_b_scales, (size_t)p->b.columns, b, column);
	return (double)(float)(p->a_scales[a] * p->b_scales[b]);
}

/* A bias is repeated over the rows, or is a matrix; NULL: none.  It is added
 * to what is scaled, or, where it is of integers, to the sums. */
static enum sl_status
read_bias(struct product *p, struct sl__eval *ev, const double **bias,
	  size_t *strides, struct sl_error *err)
{
	const struct sl__tensor *t = sl__ref_tensor(ev, p->form->bias);
	int64_t rows, columns;

	*bias = NULL;
	strides[0] = strides[1] = 0;
	if (!t)
		return SL_OK;
	rows = t->rank > 1 ? t->dims[t->rank - 2] : 1;
	columns = t->rank > 0 ? t->dims[t->rank - 1] : 1;
	if ((rows != 1 && rows != p->a.rows) ||
	    (columns != 1 && columns != p->b.columns) ||
	    t->n_elements != (uint64_t)(rows * columns))
		return sl__fail(err, SL_E_DATA,
				"a bias of %llu for %lld columns",
				(unsigned long long)t->n_elements,
				(long long)p->b.columns);
	strides[0] = rows == 1 ? 0 : (size_t)columns;
	strides[1] = columns == 1 ? 0 : 1;
	*bias = sl__ref_doubles(ev, p->form->bias, err);
	return *bias ? SL_OK : sl__ref_failure(ev);
}

/* Calls 'finish' for each sum, in order. */
struct finishing {
	const struct product *p;
	const double *bias;
	size_t bias_strides[2];
	double alpha;
	double *y;               /* reals, or */
	int64_t *whole;          /* integers, */
	struct sl__ref_scale to; /* of this scale */
	enum sl_dtype dtype;     /* and type */
};

static void
finish(struct finishing *f, size_t i, size_t row, size_t column)
{
	const struct product *p = f->p;
	size_t columns = (size_t)p->b.columns;
	size_t at = (i * (size_t)p->a.rows + row) * columns + column;
	double sum = (double)p->sums[at];
	double scale = f->alpha * scale_of(p, i, row, column);
	double bias = f->bias ? f->bias[row * f->bias_strides[0] +
					column * f->bias_strides[1]]
			      : 0;
	int is_gemm = p->form->id == SL__OP_MS_QGemm;

	if (is_gemm)
		sum += bias; /* of the scale of the sums */
	sum = (double)(float)sum;
	if (f->y) {
		f->y[at] = sum * scale + (is_gemm ? 0 : bias);
		return;
	}
	/* One factor, as runtimes have it. */
	scale = (double)(float)(scale / f->to.scale);
	f->whole[at] = sl__ref_quantized(f->dtype, sum * scale, 1, f->to.zero);
}

static enum sl_status
finish_all(struct product *p, struct sl__eval *ev, struct sl_error *err)
{
	const struct sl__tensor *out = &sl__ref_result(ev, 0)->tensor;
	struct finishing f = {.p = p, .dtype = out->dtype};
	size_t n = (size_t)out->n_elements;
	enum sl_status rc = read_bias(p, ev, &f.bias, f.bias_strides, err);

	if (rc)
		return rc;
	f.alpha = sl__float(ev->node, "alpha", 1);
	if (!sl__ref_is_whole(out->dtype)) {
		f.y = sl__ref_new(ev, n, sizeof(*f.y));
	} else {
		f.whole = sl__ref_new(ev, n, sizeof(*f.whole));
		rc = sl__ref_scale(ev, &f.to, p->form->y_scale, err);
	}
	if (!rc && !f.y && !f.whole)
		rc = sl__fail_nomem(err);
	if (rc)
		return rc;
	for (size_t i = 0; i < p->n_matrices; i++) {
		for (size_t r = 0; r < (size_t)p->a.rows; r++) {
			for (size_t c = 0; c < (size_t)p->b.columns; c++)
				finish(&f, i, r, c);
		}
	}
	if (f.y)
		sl__ref_store_doubles(ev, 0, f.y);
	else
		sl__ref_store_integers(ev, 0, f.whole);
	return SL_OK;
}

/* MatMulInteger, MatMulInteger16: the sums themselves. */
enum sl_status
sl__ref_matmul_integer(struct sl__eval *ev, struct sl_error *err)
{
	struct product p;
	enum sl_status rc = product_of(&p, ev, err);

	if (!rc)
		sl__ref_store_integers(ev, 0, p.sums);
	return rc;
}

/* QLinearMatMul, MatMulIntegerToFloat, QGemm. */
enum sl_status
sl__ref_matmul_scaled(struct sl__eval *ev, struct sl_error *err)
{
	struct product p;
	enum sl_status rc = product_of(&p, ev, err);

	if (!rc)
		rc = read_scales(&p, ev, err);
	return rc ? rc : finish_all(&p, ev, err);
}

/* The left operand, of reals, as uint8 less the zero point. */
static enum sl_status
quantize_left(struct product *p, struct sl__eval *ev,
	      struct sl__ref_scale *scale, struct sl_error *err)
{
	const struct sl__tensor *t = sl__ref_tensor(ev, 0);
	const double *x = sl__ref_doubles(ev, 0, err);
	enum sl_status rc = measure(&p->a, ev, 0, 0, err);

	if (rc || !x)
		return rc ? rc : sl__ref_failure(ev);
	p->a.values =
		sl__ref_new(ev, (size_t)t->n_elements, sizeof(*p->a.values));
	if (!p->a.values)
		return sl__fail_nomem(err);
	*scale = sl__ref_spread(x, (size_t)t->n_elements);
	for (size_t i = 0; i < t->n_elements; i++)
		p->a.values[i] = sl__ref_quantized(SL_DTYPE_U8, x[i],
						   scale->scale, scale->zero) -
				 scale->zero;
	return SL_OK;
}

enum sl_status
sl__ref_dynamic_quantize_matmul(struct sl__eval *ev, struct sl_error *err)
{
	struct product p = {.form = form_of(ev->node)};
	struct sl__ref_scale scale = {1, 0};
	enum sl_status rc = quantize_left(&p, ev, &scale, err);

	p.a_scales = &scale.scale;
	p.n_a_scales = 1;
	if (!rc)
		rc = read_operand(&p.b, ev, p.form->b, 1, err);
	if (!rc)
		rc = centre(&p.b, ev, p.form->b_zero, 1, err);
	if (!rc)
		rc = sum_up(&p, ev, err);
	if (!rc)
		rc = read_scales(&p, ev, err);
	return rc ? rc : finish_all(&p, ev, err);
}
