/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ref_matmul.c - matrix products computed.
 *
 * Each operand is a stack of matrices with a stride for each of its
 * dimensions, so that transposing one is exchanging two strides.  The right
 * one is packed by rows where it is not, and the innermost loop adds a
 * multiple of one of its rows to a row of the result.
 */
#include "ops/ref_matmul.h"
#include "ops/activation.h"

#include <string.h>

#include "base/banned.h"

enum { RANK_MOST = SL__RANK_MOST };

/* How an input is to be seen. */
struct view {
	int is_transposed;       /* its last two dimensions are exchanged */
	int is_batch_transposed; /* its first dimension holds the rows */
	int is_right;            /* a vector is a column */
};

static enum sl_status
read_operand(struct sl__eval *ev, struct sl__matmul_operand *o, size_t i,
	     struct view v)
{
	const struct sl__tensor *t = sl__ref_tensor(ev, i);
	int64_t all[RANK_MOST];
	size_t rank, row, first = v.is_batch_transposed ? 1 : 0;

	if (!t || t->rank < 1)
		return sl__ref_refuse(ev, "an operand is no matrix");
	if (t->rank > RANK_MOST)
		return sl__ref_refuse(ev, "more than %d dimensions", RANK_MOST);
	memset(o, 0, sizeof(*o));
	rank = t->rank;
	sl__ref_strides(all, rank, t->dims);
	o->rows = o->columns = 1;
	if (rank == 1) {
		*(v.is_right ? &o->rows : &o->columns) = t->dims[0];
		o->row_stride = v.is_right ? 1 : t->dims[0];
		o->column_stride = 1;
		return SL_OK;
	}
	row = first ? 0 : rank - 2;
	o->rows = t->dims[v.is_transposed ? rank - 1 : row];
	o->columns = t->dims[v.is_transposed ? row : rank - 1];
	o->row_stride = all[v.is_transposed ? rank - 1 : row];
	o->column_stride = all[v.is_transposed ? row : rank - 1];
	o->n_batch = rank - 2;
	for (size_t d = 0; d < o->n_batch; d++) {
		o->batch[d] = t->dims[first + d];
		o->strides[d] = all[first + d];
	}
	return SL_OK;
}

/* Whether a node has transA, transB and alpha: MatMul has none of them. */
static int
has_options(const struct sl__node *node)
{
	return !sl__is_op(node, SL__OP_ONNX_MatMul);
}

static enum sl_status
pair_up(struct sl__eval *ev, struct sl__matmul *p)
{
	const struct sl__matmul_operand *both[2] = {&p->a, &p->b};

	if (p->a.columns != p->b.rows)
		return sl__ref_refuse(ev, "rows of %lld meet columns of %lld",
				      (long long)p->a.columns,
				      (long long)p->b.rows);
	p->n_batch = p->a.n_batch > p->b.n_batch ? p->a.n_batch : p->b.n_batch;
	for (size_t d = 0; d < p->n_batch; d++) {
		p->batch[d] = 1;
		for (int i = 0; i < 2; i++) {
			size_t ahead = p->n_batch - both[i]->n_batch;
			int64_t size = d < ahead ? 1
						 : both[i]->batch[d - ahead];

			p->steps[i][d] =
				size == 1 ? 0 : both[i]->strides[d - ahead];
			if (size != 1 && p->batch[d] != 1 &&
			    p->batch[d] != size)
				return sl__ref_refuse(
					ev,
					"stacks of %lld and %lld "
					"matrices do not go together",
					(long long)p->batch[d],
					(long long)size);
			p->batch[d] = size == 1 ? p->batch[d] : size;
		}
	}
	p->n = sl__ref_product(
		(int64_t[]){sl__ref_product(p->batch, 0, p->n_batch), p->a.rows,
			    p->b.columns},
		0, 3);
	return SL_OK;
}

enum sl_status
sl__matmul_read(struct sl__matmul *p, struct sl__eval *ev, size_t a, size_t b)
{
	const struct sl__node *node = ev->node;
	int is_fused = sl__is_op(node, SL__OP_MS_FusedMatMul);
	int has = has_options(node);
	struct view left = {has && sl__int(node, "transA", 0),
			    is_fused && sl__int(node, "transBatchA", 0), 0};
	struct view right = {has && sl__int(node, "transB", 0),
			     is_fused && sl__int(node, "transBatchB", 0), 1};

	memset(p, 0, sizeof(*p));
	if (read_operand(ev, &p->a, a, left) ||
	    read_operand(ev, &p->b, b, right))
		return ev->failure;
	return pair_up(ev, p);
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
sl__matmul_reals(struct sl__eval *ev, const struct sl__matmul *p,
		 const double *left, const double *right)
{
	const int64_t *const steps[2] = {p->steps[0], p->steps[1]};
	int64_t at[RANK_MOST] = {0}, offsets[2] = {0};
	double *y = sl__ref_new_doubles(ev, p->n), *to = y;
	double *packed =
		sl__ref_new_doubles(ev, p->n ? p->b.rows * p->b.columns : 0);

	if (ev->failure || p->n == 0)
		return y;
	do {
		multiply(p, left + offsets[0],
			 pack(&p->b, right + offsets[1], packed), to);
		to += p->a.rows * p->b.columns;
	} while (sl__ref_next(at, p->n_batch, p->batch, offsets, steps, 2));
	return y;
}

int64_t *
sl__matmul_integers(struct sl__eval *ev, const struct sl__matmul *p,
		    const int64_t *left, const int64_t *right)
{
	const int64_t *const steps[2] = {p->steps[0], p->steps[1]};
	int64_t at[RANK_MOST] = {0}, offsets[2] = {0};
	int64_t *y = sl__ref_new_integers(ev, p->n), *to = y;

	if (ev->failure || p->n == 0)
		return y;
	do {
		multiply_whole(p, left + offsets[0], right + offsets[1], to);
		to += p->a.rows * p->b.columns;
	} while (sl__ref_next(at, p->n_batch, p->batch, offsets, steps, 2));
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
run(struct sl__eval *ev, int is_gemm)
{
	const struct sl__tensor *t = is_gemm ? sl__ref_tensor(ev, 2) : NULL;
	double alpha = has_options(ev->node) ? sl__float(ev->node, "alpha", 1)
					     : 1;
	double beta = is_gemm ? sl__float(ev->node, "beta", 1) : 1;
	int64_t steps[2] = {0}, n, *whole;
	struct sl__ending ending = {0};
	struct sl__matmul p;
	double *y;

	if ((is_gemm && sl__ending_read(&ending, ev)) ||
	    sl__matmul_read(&p, ev, 0, 1))
		return ev->failure;
	if (t && t->rank > 2)
		return sl__ref_refuse(ev, "a bias of rank %zu", t->rank);
	if (t)
		sl__ref_broadcast(steps, 2, t->rank, t->dims);
	n = p.b.columns;
	if (sl__ref_is_whole(sl__ref_dtype(ev, 0)) &&
	    (!is_gemm || (is_one(alpha) && is_one(beta)))) {
		const int64_t *c = t ? sl__ref_integers(ev, 2) : NULL;

		whole = sl__matmul_integers(ev, &p, sl__ref_integers(ev, 0),
					    sl__ref_integers(ev, 1));
		for (int64_t i = 0; !ev->failure && c && i < p.n; i++)
			whole[i] = (int64_t)((uint64_t)whole[i] +
					     (uint64_t)c[i / n * steps[0] +
							 i % n * steps[1]]);
		return sl__ref_store_integers(ev, 0, whole);
	} else {
		const double *c = t ? sl__ref_doubles(ev, 2) : NULL;

		y = sl__matmul_reals(ev, &p, sl__ref_doubles(ev, 0),
				     sl__ref_doubles(ev, 1));
		for (int64_t i = 0; !ev->failure && i < p.n; i++) {
			y[i] *= alpha;
			if (c)
				y[i] += beta *
					c[i / n * steps[0] + i % n * steps[1]];
		}
		if (!ev->failure)
			sl__ending_apply(&ending, (size_t)p.n, y);
		return sl__ref_store_doubles(ev, 0, y);
	}
}

enum sl_status
sl__ref_matmul(struct sl__eval *ev)
{
	return run(ev, 0);
}

enum sl_status
sl__ref_gemm(struct sl__eval *ev)
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
has_elements(struct sl__eval *ev, size_t i, int64_t n, enum sl_dtype dtype)
{
	const struct sl__tensor *t = sl__ref_tensor(ev, i);

	return t && t->n_elements >= (uint64_t)n &&
	       (dtype == SL_DTYPE_NONE || t->dtype == dtype);
}

static enum sl_status
read_packed(struct packed *q, struct sl__eval *ev)
{
	const int64_t most = 1 << 30; /* products stay within 64 bits */
	const struct sl__node *node = ev->node;
	int64_t n_zeros;
	int is_sound;

	memset(q, 0, sizeof(*q));
	q->n = sl__int(node, "N", 0);
	q->k = sl__int(node, "K", 0);
	q->bits = sl__int(node, "bits", 4);
	q->block_size = sl__int(node, "block_size", 0);
	if (q->n < 1 || q->n > most || q->k < 1 || q->k > most ||
	    q->block_size < 1 || q->block_size > most ||
	    (q->bits != 1 && q->bits != 2 && q->bits != 4 && q->bits != 8))
		return sl__ref_refuse(
			ev, "N %lld, K %lld, %lld bits, blocks of %lld",
			(long long)q->n, (long long)q->k, (long long)q->bits,
			(long long)q->block_size);
	q->n_blocks = (q->k + q->block_size - 1) / q->block_size;
	q->weight = sl__ref_tensor(ev, 1);
	q->zeros = sl__ref_tensor(ev, 3);
	n_zeros = q->zeros && q->zeros->dtype == SL_DTYPE_U8
			  ? q->n * bytes_for(q->n_blocks, q->bits)
			  : q->n * q->n_blocks;
	is_sound = has_elements(ev, 1,
				q->n * q->n_blocks *
					bytes_for(q->block_size, q->bits),
				SL_DTYPE_U8) &&
		   has_elements(ev, 2, q->n * q->n_blocks, SL_DTYPE_NONE) &&
		   (!q->zeros || has_elements(ev, 3, n_zeros, SL_DTYPE_NONE)) &&
		   (!sl__ref_in(ev, 4) ||
		    has_elements(ev, 4, q->k, SL_DTYPE_NONE)) &&
		   (!sl__ref_in(ev, 5) ||
		    has_elements(ev, 5, q->n, SL_DTYPE_NONE));
	return is_sound ? SL_OK
			: sl__ref_refuse(
				  ev,
				  "the packed weight or what belongs to it is "
				  "too small");
}

static enum sl_status
read_scales(struct packed *q, struct sl__eval *ev)
{
	q->scales = sl__ref_doubles(ev, 2);
	if (q->zeros && q->zeros->dtype != SL_DTYPE_U8)
		q->real_zeros = sl__ref_doubles(ev, 3);
	q->group = sl__ref_given_integers(ev, 4);
	for (int64_t k = 0; q->group && k < q->k; k++) {
		if (q->group[k] < 0 || q->group[k] >= q->n_blocks)
			return sl__ref_refuse(ev, "no group %lld",
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
unpack(const struct packed *q, struct sl__eval *ev)
{
	int64_t block_bytes = bytes_for(q->block_size, q->bits);
	double *made = sl__ref_new_doubles(ev, q->n * q->k);

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
sl__ref_matmul_nbits(struct sl__eval *ev)
{
	const struct sl__datum *out = sl__ref_result(ev, 0);
	const double *a = sl__ref_doubles(ev, 0), *b;
	const double *bias = sl__ref_given_doubles(ev, 5);
	double *y = sl__ref_new_output(ev, 0);
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
	return sl__ref_store_doubles(ev, 0, y);
}
