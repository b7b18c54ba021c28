/* SPDX-License-Identifier: Apache-2.0 */
/*
 * quantized_epilogue.c - from sums of products of bytes to results.
 *
 * With zero points p of a and q of b the product of a row and a column is
 * sum ab - p sum b - q sum a + k p q: what has no a in it is one number per
 * column, found once.
 */
#include "engine/quantized_epilogue.h"
#include "compute/vector.h"

#include <math.h>

#include "base/banned.h"

int
sl__quantized_alloc_columns(struct sl__quantized_epilogue *e,
			    struct sl__planner *pl)
{
	size_t n = (size_t)e->n_columns, all = n * (size_t)e->n_b_batches;

	e->b_sums = sl__plan_alloc_state(pl, all * sizeof(*e->b_sums));
	e->offsets = sl__plan_alloc_state(pl, all * sizeof(*e->offsets));
	e->zeros = sl__plan_alloc_state(pl, n * sizeof(*e->zeros));
	e->factors = sl__plan_alloc_state(pl, n * sizeof(*e->factors));
	e->biases = sl__plan_alloc_state(pl, n * sizeof(*e->biases));
	return !pl->rc;
}

void
sl__quantized_sum_columns(struct sl__quantized_epilogue *e, const int8_t *b)
{
	int64_t size = e->k * e->n_columns;

	for (int64_t i = 0; i < e->n_b_batches; i++) {
		int32_t *sums = e->b_sums + i * e->n_columns;

		for (int64_t j = 0; j < e->n_columns; j++)
			sums[j] = 0;
		for (int64_t k = 0; k < e->k; k++) {
			const int8_t *line = b + i * size + k * e->b_k;

			for (int64_t j = 0; j < e->n_columns; j++)
				sums[j] += line[j * e->b_n];
		}
	}
}

static const void *
address(const struct sl__quantized_epilogue *e,
	enum sl__quantized_operand_id place)
{
	int at = e->parts[place].at;

	return at < 0 ? NULL : e->addresses[at];
}

/* Number i of a part, or the only one. */
static float
real_of(const struct sl__quantized_epilogue *e,
	enum sl__quantized_operand_id place, int64_t i, float otherwise)
{
	const float *x = address(e, place);

	return x ? x[e->parts[place].n == 1 ? 0 : i] : otherwise;
}

static int32_t
whole_of(const struct sl__quantized_epilogue *e,
	 enum sl__quantized_operand_id place, int64_t i)
{
	const void *x = address(e, place);

	if (e->parts[place].n == 1)
		i = 0;
	if (!x)
		return 0;
	if (e->parts[place].dtype == SL_DTYPE_I32)
		return ((const int32_t *)x)[i];
	return e->parts[place].dtype == SL_DTYPE_U8 ? ((const uint8_t *)x)[i]
						    : ((const int8_t *)x)[i];
}

/* Everything that is one number per column. */
static void
find_columns(struct sl__quantized_epilogue *e)
{
	float a_scale = real_of(e, SL__QUANTIZED_OPERAND_A_SCALE, 0, 1);
	int is_whole_bias = e->parts[SL__QUANTIZED_OPERAND_BIAS].dtype ==
			    SL_DTYPE_I32;
	int shift = e->parts[SL__QUANTIZED_OPERAND_B].dtype == SL_DTYPE_U8 ? 128
									   : 0;

	e->to.by = real_of(e, SL__QUANTIZED_OPERAND_Y_SCALE, 0, 1);
	e->to.at = whole_of(e, SL__QUANTIZED_OPERAND_Y_ZERO, 0);
	for (int64_t j = 0; j < e->n_columns; j++) {
		float b_scale = real_of(e, SL__QUANTIZED_OPERAND_B_SCALE, j, 1);
		double both =
			(double)(float)((double)a_scale * (double)b_scale);

		e->factors[j] =
			(float)((double)e->alpha * both / (double)e->to.by);
		e->zeros[j] =
			whole_of(e, SL__QUANTIZED_OPERAND_B_ZERO, j) - shift;
		e->biases[j] =
			is_whole_bias
				? 0
				: real_of(e, SL__QUANTIZED_OPERAND_BIAS, j, 0);
	}
}

static void
find_offsets(struct sl__quantized_epilogue *e)
{
	int32_t zero = whole_of(e, SL__QUANTIZED_OPERAND_A_ZERO, 0);
	int is_whole_bias = e->parts[SL__QUANTIZED_OPERAND_BIAS].dtype ==
			    SL_DTYPE_I32;

	if (!e->has_b_sums && zero)
		sl__quantized_sum_columns(e,
					  address(e, SL__QUANTIZED_OPERAND_B));
	for (int64_t i = 0; i < e->n_b_batches * e->n_columns; i++) {
		int64_t j = i % e->n_columns;

		int64_t offset = e->k * zero * e->zeros[j] -
				 (int64_t)zero * e->b_sums[i];

		if (is_whole_bias)
			offset += whole_of(e, SL__QUANTIZED_OPERAND_BIAS, j);
		e->offsets[i] = (int32_t)offset;
	}
}

/* One row: its sums, the columns' numbers, and the sum of a's row. */
struct row {
	const struct sl__quantized_epilogue *epilogue;
	const int32_t *sums, *offsets;
	int32_t a_sum;
	void *y;
};

SL__INLINE int32_t
sum_at(const struct row *r, int64_t j)
{
	uint32_t a_zeros = (uint32_t)r->a_sum * (uint32_t)r->epilogue->zeros[j];

	/* Only a bias can be so large that this wraps around. */
	return (int32_t)((uint32_t)r->sums[j] + (uint32_t)r->offsets[j] -
			 a_zeros);
}

SL__INLINE void
end_row(const struct row *r)
{
	const struct sl__quantized_epilogue *e = r->epilogue;
	const float *factors = e->factors, *biases = e->biases;
	int32_t least = e->parts[SL__QUANTIZED_OPERAND_Y].dtype == SL_DTYPE_U8
				? 0
				: -128;
	int32_t zero = e->to.at;
	int64_t n = e->n_columns;
	float *reals = r->y;
	uint8_t *codes = r->y;
	int32_t *wholes = r->y;

	if (e->kind == SL__QUANTIZED_SUMS) {
		for (int64_t j = 0; j < n; j++)
			wholes[j] = sum_at(r, j);
	} else if (e->kind == SL__QUANTIZED_REALS) {
		for (int64_t j = 0; j < n; j++)
			reals[j] = (float)sum_at(r, j) * factors[j] + biases[j];
	} else {
		for (int64_t j = 0; j < n; j++) {
			float v = (float)sum_at(r, j) * factors[j];
			int32_t code;

			v = sl__min(sl__max(v, -1024), 1024);
			code = (int32_t)((v + 0x1.8p23F) - 0x1.8p23F) + zero;
			code = code < least ? least : code;
			code = code > least + 255 ? least + 255 : code;
			codes[j] = (uint8_t)code;
		}
	}
}

SL__VECTOR_TARGETS(end, end_row, (const struct row *r), (r))

SL__INLINE void
sum_bytes(const uint8_t *a, int64_t n, uint8_t flip, int32_t *sum)
{
	*sum = 0;
	for (int64_t k = 0; k < n; k++)
		*sum += a[k] ^ flip;
}

SL__VECTOR_TARGETS(bytes, sum_bytes,
		   (const uint8_t *a, int64_t n, uint8_t flip, int32_t *sum),
		   (a, n, flip, sum))

/* The sum of row i of a, counted over all batches. */
static int32_t
sum_row(const struct sl__quantized_epilogue *e, int64_t i)
{
	const uint8_t *a = address(e, SL__QUANTIZED_OPERAND_A);
	int is_signed = e->parts[SL__QUANTIZED_OPERAND_A].dtype == SL_DTYPE_I8;
	uint8_t flip = is_signed ? 0x80 : 0;
	int32_t sum = 0;

	a += i / e->n_rows * e->n_rows * e->k + i % e->n_rows * e->a_row;
	if (e->a_k == 1)
		bytes_for()(a, e->k, flip, &sum);
	for (int64_t k = 0; e->a_k != 1 && k < e->k; k++)
		sum += a[k * e->a_k] ^ flip;
	return sum - (is_signed ? (int32_t)(128 * e->k) : 0);
}

static void
run_part(int rank, int n_ranks, void *ctx)
{
	const struct sl__quantized_epilogue *e = ctx;
	int64_t size = (int64_t)sl_dtype_bits(
			       e->parts[SL__QUANTIZED_OPERAND_Y].dtype) /
		       8;
	const int32_t *sums = address(e, SL__QUANTIZED_OPERAND_SUMS);
	unsigned char *y = e->addresses[e->parts[SL__QUANTIZED_OPERAND_Y].at];
	void (*const end)(const struct row *) = end_for();
	int64_t first, last;

	sl__parallel_range(e->n_batches * e->n_rows, rank, n_ranks, &first,
			   &last);
	for (int64_t i = first; i < last; i++) {
		int64_t b = e->n_b_batches == 1 ? 0 : i / e->n_rows;
		struct row r = {.epilogue = e};

		r.sums = sums + i * e->n_columns;
		r.offsets = e->offsets + b * e->n_columns;
		r.y = y + i * e->n_columns * size;
		if (!e->is_centred)
			r.a_sum = sum_row(e, i);
		end(&r);
	}
}

enum sl_status
sl__quantized_epilogue_run(struct sl__step *step, struct sl_error *err)
{
	struct sl__quantized_epilogue *e = step->state;

	(void)err;
	e->addresses = step->at;
	find_columns(e);
	find_offsets(e);
	sl__parallel_run(step->n_threads, run_part, e);
	return SL_OK;
}
