/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dnnl_quantized_matmul.c - matrix products of small integers.
 *
 * oneDNN sums up the products of bytes as they are; zero points, scales and the
 * bias come with the sums (quantized_epilogue.c), exactly as they are defined
 * and also where the model makes them on the way.  Constant right operands are
 * packed beforehand.
 */
#include "engine/dnnl_layout.h"
#include "engine/dnnl_primitive_desc.h"
#include "engine/dnnl_quantized.h"
#include "engine/node_steps.h"
#include "engine/quantized_epilogue.h"

#include <string.h>

#include "base/banned.h"

enum { NONE = 99 };

/* Which inputs are what. */
struct inputs {
	enum sl__op_id id;
	size_t b, a_scale, a_zero, b_scale, b_zero, bias, y_scale, y_zero;
};

static const struct inputs rows[] = {
	{SL__OP_ONNX_MatMulInteger, 1, NONE, 2, NONE, 3, NONE, NONE, NONE},
	{SL__OP_ONNX_QLinearMatMul, 3, 1, 2, 4, 5, NONE, 6, 7},
	{SL__OP_MS_MatMulIntegerToFloat, 1, 2, 4, 3, 5, 6, NONE, NONE},
	{SL__OP_MS_DynamicQuantizeMatMul, 1, NONE, NONE, 2, 3, 4, NONE, NONE},
	{SL__OP_MS_QGemm, 3, 1, 2, 4, 5, 6, 7, 8},
};

struct matmul {
	struct sl__planner *pl;
	const struct sl__node *node;
	const struct inputs *in;
	uint32_t a, b, y; /* values */
	int is_spread;    /* a is real and quantized here */
	int is_constant;  /* b */
	struct sl__quantized_epilogue *epilogue;
	uint32_t operands[SL__N_QUANTIZED_OPERANDS]; /* of the last step */
	uint32_t n_operands;
	struct sl__dnnl_matmul md;
	dnnl_primitive_desc_t pd;
};

static uint32_t
value_of(const struct matmul *p, size_t i)
{
	return i == NONE ? SL__NONE : sl__plan_node_input(p->node, i);
}

static int64_t
count(const int64_t *dims, int n)
{
	int64_t product = 1;

	for (int i = 0; i < n; i++)
		product *= dims[i];
	return product;
}

/* Stacks of matrices are one where there is one right matrix, or go pair by
 * pair. */
static int
measure(struct matmul *p)
{
	const struct sl__type *a = sl__plan_value_type(p->pl, p->a);
	const struct sl__type *b = sl__plan_value_type(p->pl, p->b);
	int flips_a = sl__attribute_int(p->node, "transA", 0) != 0;
	int flips_b = sl__attribute_int(p->node, "transB", 0) != 0;
	struct sl__quantized_epilogue *e = p->epilogue;
	int64_t b_rows;

	if (a->rank < 2 || b->rank < 2 || (flips_a && a->rank != 2) ||
	    (flips_b && b->rank != 2))
		return 0;
	e->n_rows = a->dims[a->rank - (flips_a ? 1 : 2)];
	e->k = a->dims[a->rank - (flips_a ? 2 : 1)];
	e->n_columns = b->dims[b->rank - (flips_b ? 2 : 1)];
	b_rows = b->dims[b->rank - (flips_b ? 1 : 2)];
	e->n_batches = count(a->dims, a->rank - 2);
	e->n_b_batches = count(b->dims, b->rank - 2);
	if (e->n_b_batches == 1) {
		e->n_rows *= e->n_batches;
		e->n_batches = 1;
	} else if (a->rank != b->rank ||
		   memcmp(a->dims, b->dims,
			  (size_t)(a->rank - 2) * sizeof(*a->dims)) != 0) {
		return 0;
	}
	e->a_row = flips_a ? 1 : e->k;
	e->a_k = flips_a ? e->n_rows : 1;
	e->b_k = flips_b ? 1 : e->n_columns;
	e->b_n = flips_b ? e->k : 1;
	return b_rows == e->k && e->k > 0 && e->k <= SL__QUANTIZED_MAX_K &&
	       e->n_batches * e->n_rows > 0 && e->n_columns > 0 &&
	       (int64_t)sl__plan_value_n_elements(p->pl, p->y) ==
		       e->n_batches * e->n_rows * e->n_columns;
}

/* A part that is one number, or one per column where there may be more. */
static int
is_list(const struct matmul *p, size_t i, int may_be_more)
{
	uint32_t value = value_of(p, i);
	int64_t n;

	if (value == SL__NONE)
		return 1;
	n = (int64_t)sl__plan_value_n_elements(p->pl, value);
	return n == 1 || (may_be_more && n == p->epilogue->n_columns &&
			  sl__plan_value_type(p->pl, value)->rank >= 1);
}

static int
has_dtype(const struct matmul *p, size_t i, enum sl_dtype dtype)
{
	uint32_t value = value_of(p, i);

	return value == SL__NONE ||
	       sl__plan_value_type(p->pl, value)->dtype == dtype;
}

static int
read_lists(const struct matmul *p)
{
	const struct inputs *in = p->in;
	enum sl_dtype a = sl__plan_value_type(p->pl, p->a)->dtype;
	enum sl_dtype bias = in->id == SL__OP_MS_QGemm ? SL_DTYPE_I32
						       : SL_DTYPE_F32;

	return is_list(p, in->a_scale, 0) && is_list(p, in->a_zero, 0) &&
	       is_list(p, in->b_scale, 1) && is_list(p, in->b_zero, 1) &&
	       is_list(p, in->y_scale, 0) && is_list(p, in->y_zero, 0) &&
	       is_list(p, in->bias, 1) && has_dtype(p, in->bias, bias) &&
	       has_dtype(p, in->a_scale, SL_DTYPE_F32) &&
	       has_dtype(p, in->b_scale, SL_DTYPE_F32) &&
	       has_dtype(p, in->y_scale, SL_DTYPE_F32) &&
	       has_dtype(p, in->a_zero, a) &&
	       has_dtype(p, in->b_zero,
			 sl__plan_value_type(p->pl, p->b)->dtype);
}

static int
read_matmul(struct matmul *p, const struct sl__node *node)
{
	struct sl__quantized_epilogue *e = p->epilogue;
	enum sl_dtype a, y;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (sl__is_op(node, rows[i].id))
			p->in = &rows[i];
	}
	p->node = node;
	p->a = node->inputs[0];
	p->b = value_of(p, p->in->b);
	p->y = node->outputs[0];
	a = sl__plan_value_type(p->pl, p->a)->dtype;
	y = sl__plan_value_type(p->pl, p->y)->dtype;
	p->is_spread = p->in->id == SL__OP_MS_DynamicQuantizeMatMul;
	p->is_constant = sl__plan_constant_tensor(p->pl, p->b) != NULL;
	e->kind = y == SL_DTYPE_I32   ? SL__QUANTIZED_SUMS
		  : y == SL_DTYPE_F32 ? SL__QUANTIZED_REALS
				      : SL__QUANTIZED_CODES;
	e->alpha = (float)sl__attribute_float(node, "alpha", 1);
	if (p->is_spread ? a != SL_DTYPE_F32 : !sl__is_8bit_integer(a))
		return 0;
	return sl__is_8bit_integer(sl__plan_value_type(p->pl, p->b)->dtype) &&
	       (e->kind != SL__QUANTIZED_CODES || sl__is_8bit_integer(y)) &&
	       measure(p) && read_lists(p);
}

static int
describe(struct matmul *p)
{
	const struct sl__quantized_epilogue *e = p->epilogue;
	enum sl_dtype dtype = sl__plan_value_type(p->pl, p->a)->dtype;
	dnnl_data_type_t a = p->is_spread ? dnnl_u8 : sl__dnnl_data_type(dtype);
	dnnl_dims_t a_dims = {e->n_batches, e->n_rows, e->k};
	dnnl_dims_t b_dims = {e->n_b_batches, e->k, e->n_columns};
	dnnl_dims_t y_dims = {e->n_batches, e->n_rows, e->n_columns};
	dnnl_dims_t a_by = {e->n_rows * e->k, e->a_row, e->a_k};
	dnnl_dims_t b_by = {e->k * e->n_columns, e->b_k, e->b_n};
	dnnl_dims_t y_by = {e->n_rows * e->n_columns, e->n_columns, 1};
	int skip = e->n_batches == 1, n = 3 - skip;
	struct sl__dnnl_context *dnnl = p->pl->program->dnnl;
	const struct sl__dnnl_strides src = {a,           n,  a_dims + skip,
					     a_by + skip, -1, 0};
	const struct sl__dnnl_strides dst = {dnnl_s32,    n,  y_dims + skip,
					     y_by + skip, -1, 0};
	const struct sl__dnnl_strides right = {dnnl_s8,     n,  b_dims + skip,
					       b_by + skip, -1, 0};

	return sl__dnnl_strided_md(&p->md.src, dnnl, &src) &&
	       sl__dnnl_strided_md(&p->md.dst, dnnl, &dst) &&
	       (p->is_constant
			? sl__dnnl_tagged_md(&p->md.weights, dnnl, &right,
					     dnnl_format_tag_any)
			: sl__dnnl_strided_md(&p->md.weights, dnnl, &right));
}

/* NULL where oneDNN has none that is exact. */
static dnnl_primitive_desc_t
find_primitive(struct matmul *p)
{
	dnnl_primitive_desc_t pd =
		describe(p) ? sl__dnnl_matmul_pd(p->pl, &p->md, NULL) : NULL;

	if (!pd || sl__dnnl_multiplies_exactly(pd))
		return pd;
	dnnl_primitive_desc_destroy(pd);
	return NULL;
}

/* What the last step reads or writes there. */
static void
place(struct matmul *p, enum sl__quantized_operand_id at, uint32_t buffer,
      int64_t n, enum sl_dtype dtype)
{
	p->epilogue->parts[at].at = (int)p->n_operands;
	p->epilogue->parts[at].n = n;
	p->epilogue->parts[at].dtype = dtype;
	p->operands[p->n_operands++] = buffer;
}

static void
place_input(struct matmul *p, enum sl__quantized_operand_id at, size_t i)
{
	uint32_t value = value_of(p, i);

	if (value != SL__NONE)
		place(p, at, sl__plan_input_buffer(p->pl, value, NULL),
		      (int64_t)sl__plan_value_n_elements(p->pl, value),
		      sl__plan_value_type(p->pl, value)->dtype);
}

static void
spread_left(struct matmul *p)
{
	struct sl__dynamic_quantize *s =
		sl__plan_alloc_state(p->pl, sizeof(*s));
	int64_t n = (int64_t)sl__plan_value_n_elements(p->pl, p->a);
	uint32_t at[4];

	if (!s)
		return;
	s->n = n;
	at[0] = sl__plan_input_buffer(p->pl, p->a, NULL);
	at[1] = sl__plan_workspace(p->pl, (uint64_t)n);
	at[2] = sl__plan_workspace(p->pl, sizeof(float));
	at[3] = sl__plan_workspace(p->pl, sizeof(float));
	sl__plan_add_per_run_prep_step(p->pl, at, 4,
				       "quantize to what it spans",
				       sl__run_dynamic_quantize, s);
	place(p, SL__QUANTIZED_OPERAND_A, at[1], n, SL_DTYPE_U8);
	place(p, SL__QUANTIZED_OPERAND_A_SCALE, at[2], 1, SL_DTYPE_F32);
	place(p, SL__QUANTIZED_OPERAND_A_ZERO, at[3], 1, SL_DTYPE_U8);
}

static void
read_left(struct matmul *p)
{
	if (p->is_spread) {
		spread_left(p);
		return;
	}
	place_input(p, SL__QUANTIZED_OPERAND_A, 0);
	place_input(p, SL__QUANTIZED_OPERAND_A_SCALE, p->in->a_scale);
	place_input(p, SL__QUANTIZED_OPERAND_A_ZERO, p->in->a_zero);
}

static struct sl__dnnl_arg
pack_right(struct matmul *p)
{
	const struct sl__quantized_epilogue *e = p->epilogue;
	dnnl_dims_t by = {e->k * e->n_columns, e->b_k, e->b_n};
	struct sl__dnnl_md_parts sizes = sl__dnnl_md_parts(p->md.weights);
	const struct sl__dnnl_strides strides = {
		dnnl_s8, sizes.n_dims, sizes.dims, by + (3 - sizes.n_dims), -1,
		0};
	const_dnnl_memory_desc_t own;
	int8_t *copy;
	const int8_t *b = sl__int8_weights(p->pl, p->b, &copy);

	if (!sl__dnnl_strided_md(&own, p->pl->program->dnnl, &strides))
		sl__planner_fail_internal(p->pl, "weights without strides");
	if (b)
		sl__quantized_sum_columns(p->epilogue, b);
	sl__allocator_free(&p->pl->program->arena.allocator, copy);
	p->epilogue->has_b_sums = 1;
	p->epilogue->parts[SL__QUANTIZED_OPERAND_B].dtype =
		sl__plan_value_type(p->pl, p->b)->dtype;
	return sl__dnnl_int8_weights(p->pl, p->b, own, p->pd);
}

/* b, and b less 128. */
static enum sl_status
run_shift(struct sl__step *step, struct sl_error *err)
{
	const struct sl__dynamic_quantize *s = step->state;

	(void)err;
	for (int64_t i = 0; i < s->n; i++)
		step->at[1][i] = step->at[0][i] ^ 0x80;
	return SL_OK;
}

static uint32_t
shift_right(struct matmul *p, uint32_t from)
{
	struct sl__dynamic_quantize *s =
		sl__plan_alloc_state(p->pl, sizeof(*s));
	uint64_t n = sl__plan_value_n_elements(p->pl, p->b);
	uint32_t at[2] = {from, sl__plan_workspace(p->pl, n)};

	if (s)
		s->n = (int64_t)n;
	sl__plan_add_per_run_prep_step(p->pl, at, 2, "uint8 as int8", run_shift,
				       s);
	return at[1];
}

static struct sl__dnnl_arg
read_right(struct matmul *p)
{
	enum sl_dtype dtype = sl__plan_value_type(p->pl, p->b)->dtype;
	struct sl__dnnl_arg arg = {DNNL_ARG_WEIGHTS, SL__NONE, p->md.weights};

	if (p->is_constant)
		return pack_right(p);
	arg.buffer = sl__plan_input_buffer(p->pl, p->b, NULL);
	if (dtype == SL_DTYPE_U8)
		arg.buffer = shift_right(p, arg.buffer);
	place(p, SL__QUANTIZED_OPERAND_B, arg.buffer,
	      (int64_t)sl__plan_value_n_elements(p->pl, p->b), dtype);
	return arg;
}

/* The sums, then what becomes of them. */
static void
add_steps(struct matmul *p)
{
	struct sl__quantized_epilogue *e = p->epilogue;
	int64_t n = e->n_batches * e->n_rows * e->n_columns;
	struct sl__dnnl_arg args[3];
	struct sl__step *step;

	read_left(p);
	args[0] =
		(struct sl__dnnl_arg){DNNL_ARG_SRC, p->operands[0], p->md.src};
	args[1] = read_right(p);
	args[2] = (struct sl__dnnl_arg){
		DNNL_ARG_DST, sl__plan_workspace(p->pl, 4 * (uint64_t)n),
		p->md.dst};
	sl__plan_dnnl_primitive(p->pl, p->pd, args, 3)->executed_flops =
		2 * (uint64_t)n * (uint64_t)e->k;
	place_input(p, SL__QUANTIZED_OPERAND_B_SCALE, p->in->b_scale);
	place_input(p, SL__QUANTIZED_OPERAND_B_ZERO, p->in->b_zero);
	place_input(p, SL__QUANTIZED_OPERAND_Y_SCALE, p->in->y_scale);
	place_input(p, SL__QUANTIZED_OPERAND_Y_ZERO, p->in->y_zero);
	place_input(p, SL__QUANTIZED_OPERAND_BIAS, p->in->bias);
	place(p, SL__QUANTIZED_OPERAND_SUMS, args[2].buffer, n, SL_DTYPE_I32);
	place(p, SL__QUANTIZED_OPERAND_Y,
	      sl__plan_output_buffer(p->pl, p->y, NULL), n,
	      sl__plan_value_type(p->pl, p->y)->dtype);
	step = sl__plan_add_step(p->pl, p->operands, p->n_operands, "scales",
				 sl__quantized_epilogue_run, e);
	step->n_threads =
		sl__threads_for_bytes(step->n_threads, 8 * (uint64_t)n);
	step->executed_flops = 2 * (uint64_t)n;
}

/* Whether b, as int8, is known to have no zero points. */
static int
is_centred(struct matmul *p)
{
	uint32_t zero = value_of(p, p->in->b_zero);
	int64_t n;

	if (zero == SL__NONE)
		return sl__plan_value_type(p->pl, p->b)->dtype == SL_DTYPE_I8;
	n = (int64_t)sl__plan_value_n_elements(p->pl, zero);
	if (!sl__zero_points_read(p->epilogue->zeros, p->pl, zero, (size_t)n))
		return 0;
	for (int64_t i = 0; i < n; i++) {
		if (p->epilogue->zeros[i])
			return 0;
	}
	return 1;
}

/* QLinearMatMul, MatMulInteger, QGemm, MatMulIntegerToFloat,
 * DynamicQuantizeMatMul. */
int
sl__make_quantized_matmul(struct sl__planner *pl, const struct sl__node *node)
{
	struct matmul p = {.pl = pl};

	p.epilogue = sl__plan_alloc_state(pl, sizeof(*p.epilogue));
	if (!p.epilogue)
		return 0;
	for (int i = 0; i < SL__N_QUANTIZED_OPERANDS; i++)
		p.epilogue->parts[i].at = -1;
	if (!sl__dnnl_int8_products_are_exact() || !read_matmul(&p, node) ||
	    !sl__quantized_alloc_columns(p.epilogue, pl))
		return 0;
	p.pd = find_primitive(&p);
	if (!p.pd)
		return 0;
	p.epilogue->is_centred = is_centred(&p);
	add_steps(&p);
	return 1;
}
