/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dnnl_matmul.c - matmuls by oneDNN.
 *
 * Its matmul primitive takes all of them.  An inner product would do for a
 * constant right matrix, too; both run the same kernel and differ by a
 * percent where the work divides evenly, but inner products share rows among
 * threads in large blocks and lose a quarter where these do not come out even
 * (197 rows on 2 threads), while matmul shares columns as well.
 *
 * A constant right matrix is packed once in the order that the kernel wants
 * for these sizes.  Transposed operands are described by strides and never
 * copied.  The epilogue (bias, chain of operations) is part of the primitive;
 * where oneDNN would take its plain loops for that, they are a step of their
 * own.
 */
#include "base/status.h"
#include "engine/dnnl_layout.h"
#include "engine/dnnl_primitive_desc.h"
#include "engine/node_steps.h"
#include "engine/gemm.h"
#include "engine/gemm_epilogue.h"

#include <string.h>

#include "base/banned.h"

/* Descriptions of the operands as the matmul sees them. */
struct matmul {
	struct sl__gemm p;
	struct sl__dnnl_matmul md;
	const_dnnl_memory_desc_t epilogue[SL__EPILOGUE_MAX];
	dnnl_data_type_t dst_type;
	const struct sl__layout
		*layouts[SL__EPILOGUE_MAX]; /* of the epilogue's values */
	const struct sl__layout *src_layout, *weights_layout, *dst_layout;
	int has_bias;   /* the first end is the primitive's bias */
	int is_packed;  /* the right matrix */
	int n_epilogue; /* that the primitive does */
	int places[SL__EPILOGUE_MAX]; /* among its post-operations */
	int residual;                 /* end that is added in place; -1: none */
	dnnl_primitive_desc_t pd, sum_pd;
};

/* Sizes and strides; those of 1 get the strides that they have row-major. */
static int
describe(const_dnnl_memory_desc_t *md, struct sl__dnnl_context *dnnl,
	 enum sl_dtype dtype, int rank, const int64_t *dims,
	 const int64_t *strides)
{
	dnnl_dims_t sizes, steps;
	const struct sl__dnnl_strides s = {
		sl__dnnl_data_type(dtype), rank, sizes, steps, -1, 0};
	int64_t extent = 1;

	for (int d = rank; d-- > 0;) {
		sizes[d] = strides[d] ? dims[d] : 1;
		steps[d] = sizes[d] == 1 ? extent : strides[d];
		if (sizes[d] * steps[d] > extent)
			extent = sizes[d] * steps[d];
	}
	return sl__dnnl_strided_md(md, dnnl, &s);
}

/* 'last' holds size and stride of each of the last two dimensions. */
static int
describe_operand(const_dnnl_memory_desc_t *md, struct sl__dnnl_context *dnnl,
		 enum sl_dtype dtype, const struct sl__gemm *p,
		 const int64_t *strides, const int64_t *last)
{
	int64_t dims[SL__GEMM_RANK + 1], steps[SL__GEMM_RANK + 1];

	for (int d = 0; d < p->rank; d++) {
		dims[d] = p->dims[d];
		steps[d] = strides[d];
	}
	dims[p->rank - 1] = last[0];
	steps[p->rank - 1] = last[1];
	dims[p->rank] = last[2];
	steps[p->rank] = last[3];
	return describe(md, dnnl, dtype, p->rank + 1, dims, steps);
}

static int
describe_all(struct matmul *m, struct sl__dnnl_context *dnnl,
	     enum sl_dtype dst_dtype)
{
	const struct sl__gemm *p = &m->p;
	int64_t rows = p->dims[p->rank - 1], at = p->n;
	int64_t left[4] = {rows, p->a_strides[p->rank - 1], p->k, p->a_k};
	int64_t right[4] = {p->k, p->b_k, p->n, p->b_n};
	int64_t full[4] = {rows, p->n, p->n, 1};
	int64_t strides[SL__GEMM_RANK];

	for (int d = p->rank; d-- > 0;) {
		strides[d] = at;
		at *= p->dims[d];
	}
	return describe_operand(&m->md.src, dnnl, p->dtype, p, p->a_strides,
				left) &&
	       describe_operand(&m->md.weights, dnnl, p->dtype, p, p->b_strides,
				right) &&
	       describe_operand(&m->md.dst, dnnl, dst_dtype, p, strides, full);
}

/* Operands of the epilogue are read as they lie, where that is plain. */
static int
describe_end(struct matmul *m, const struct sl__planner *pl, int i)
{
	const struct sl__gemm *p = &m->p;
	const struct sl__epilogue_op *end = &p->epilogue[i];
	int64_t last[4] = {p->dims[p->rank - 1], end->strides[p->rank - 1],
			   p->n, end->column};

	if (end->value == SL__NONE)
		return 1;
	m->layouts[i] = sl__plan_find_bf16_layout(pl, end->value);
	return describe_operand(
		&m->epilogue[i], pl->program->dnnl,
		m->layouts[i] ? SL_DTYPE_BF16
			      : sl__plan_value_type(pl, end->value)->dtype,
		p, end->strides, last);
}

/* The epilogue as post-operations; number 'sum' adds what dst held before. */
static dnnl_status_t
append_ends(dnnl_post_ops_t ops, struct matmul *m, int sum)
{
	dnnl_status_t status = dnnl_success;

	for (int i = m->has_bias; !status && i < m->n_epilogue; i++) {
		const struct sl__post_op *post_op = &m->p.epilogue[i].post_op;

		m->places[i] = dnnl_post_ops_len(ops);
		status = sl__dnnl_post_op_append(
			ops, post_op, i == sum ? NULL : m->epilogue[i]);
	}
	return status;
}

/* NULL where oneDNN has nothing better than plain loops. */
static dnnl_primitive_desc_t
create_fast(struct sl__planner *pl, struct matmul *m, int sum)
{
	dnnl_post_ops_t ops = NULL;
	dnnl_primitive_attr_t attr = NULL;
	dnnl_primitive_desc_t pd = NULL;
	dnnl_status_t status =
		dnnl_primitive_attr_clone(&attr, pl->program->dnnl->attr);

	if (!status)
		status = dnnl_post_ops_create(&ops);
	if (!status)
		status = append_ends(ops, m, sum);
	if (!status)
		status = dnnl_primitive_attr_set_post_ops(attr, ops);
	if (!status)
		pd = sl__dnnl_matmul_pd(pl, &m->md, attr);
	else
		(void)sl__dnnl_pd_result(pl, status, NULL);
	dnnl_post_ops_destroy(ops);
	dnnl_primitive_attr_destroy(attr);
	if (!pd || !sl__dnnl_is_plain_loop(pd))
		return pd;
	dnnl_primitive_desc_destroy(pd);
	return NULL;
}

/* A residual that lies as the result will may be written over. */
static int
find_residual(const struct matmul *m, const struct sl__planner *pl)
{
	for (int i = m->has_bias; i < m->n_epilogue; i++) {
		const struct sl__epilogue_op *end = &m->p.epilogue[i];

		if (sl__epilogue_is_residual(&m->p, i) &&
		    !pl->graph->values[end->value].tensor &&
		    sl__dnnl_md_parts(m->epilogue[i]).type == m->dst_type &&
		    (m->layouts[i] || !sl__plan_value_layout(pl, end->value)))
			return i;
	}
	return -1;
}

static int
describe_matmul(struct matmul *m, const struct sl__planner *pl,
		enum sl_dtype dst_dtype)
{
	const struct sl__gemm *p = &m->p;

	m->is_packed = pl->graph->values[p->b].tensor != NULL;
	if (!describe_all(m, pl->program->dnnl, dst_dtype))
		return 0;
	for (int i = 0; i < p->n_epilogue; i++) {
		if (!describe_end(m, pl, i))
			return 0;
	}
	m->n_epilogue = p->n_epilogue;
	m->has_bias = p->n_epilogue && sl__epilogue_is_bias(p, 0);
	m->md.bias = m->has_bias ? m->epilogue[0] : NULL;
	m->dst_type = sl__dnnl_data_type(dst_dtype);
	m->residual = -1;
	return 1;
}

/* The right matrix in whatever order the kernel likes. */
static int
leave_open(struct matmul *m, struct sl__dnnl_context *dnnl)
{
	struct sl__dnnl_md_parts p = sl__dnnl_md_parts(m->md.weights);
	const struct sl__dnnl_strides sizes = {
		.type = p.type, .n_dims = p.n_dims, .dims = p.dims};

	return sl__dnnl_tagged_md(&m->md.weights, dnnl, &sizes,
				  dnnl_format_tag_any);
}

/* Whether the primitive gets the whole epilogue right. */
static int
do_ends_fit(const struct sl__gemm *p)
{
	struct sl__post_op post_ops[SL__EPILOGUE_MAX];

	for (int i = 0; i < p->n_epilogue; i++)
		post_ops[i] = p->epilogue[i].post_op;
	return sl__dnnl_post_ops_n_fusable(post_ops, p->n_epilogue) ==
	       p->n_epilogue;
}

/* pd is NULL where the node is not for oneDNN. */
static void
choose(struct sl__planner *pl, struct matmul *m)
{
	enum sl_dtype own = sl__plan_value_type(pl, m->p.y)->dtype;
	enum sl_dtype dst_dtype =
		sl__plan_is_model_output(pl, m->p.y) ? own : m->p.dtype;

	if (!describe_matmul(m, pl, dst_dtype) ||
	    (m->is_packed && !leave_open(m, pl->program->dnnl)))
		return;
	if (do_ends_fit(&m->p))
		m->pd = create_fast(pl, m, -1);
	if (m->pd) {
		m->residual = find_residual(m, pl);
		if (m->residual >= 0)
			m->sum_pd = create_fast(pl, m, m->residual);
		return;
	}
	/* The epilogue comes after it, on f32. */
	if (pl->rc || m->p.n_epilogue == 0 || own != SL_DTYPE_F32 ||
	    !describe_matmul(m, pl, own) ||
	    (m->is_packed && !leave_open(m, pl->program->dnnl)))
		return;
	m->n_epilogue = m->has_bias = 0;
	m->md.bias = NULL;
	m->pd = create_fast(pl, m, -1);
}

const struct sl__layout *
sl__gemm_row_major_layout(struct sl__planner *pl, uint32_t value,
			  enum sl_dtype dtype)
{
	const struct sl__type *type = sl__plan_value_type(pl, value);
	const_dnnl_memory_desc_t md;

	if (sl__dnnl_row_major_md(&md, pl->program->dnnl, dtype, type->rank,
				  type->dims))
		return sl__layout_from_md(pl, value, md);
	sl__planner_fail_internal(pl, "a value has no description");
	return NULL;
}

/* The value as [..] in the type that is multiplied. */
static uint32_t
read_as(struct sl__planner *pl, uint32_t value, enum sl_dtype dtype)
{
	return sl__plan_input_buffer(
		pl, value, sl__gemm_row_major_layout(pl, value, dtype));
}

static void
read_matrices(struct sl__planner *pl, struct matmul *m,
	      struct sl__dnnl_arg *args)
{
	const struct sl__gemm *p = &m->p;
	const_dnnl_memory_desc_t md;
	int64_t last[4] = {p->k, p->b_k, p->n, p->b_n};

	args[0].arg = DNNL_ARG_SRC;
	args[0].md = m->md.src;
	args[0].buffer = read_as(pl, p->a, p->dtype);
	args[1].arg = DNNL_ARG_WEIGHTS;
	args[1].md = sl__dnnl_pd_md(pl, m->pd, dnnl_query_weights_md, 0);
	if (!m->is_packed)
		args[1].buffer = read_as(pl, p->b, p->dtype);
	else if (describe_operand(&md, pl->program->dnnl,
				  sl__plan_value_type(pl, p->b)->dtype, p,
				  p->b_strides, last))
		args[1].buffer = sl__plan_packed_constant(
			pl, p->b, sl__layout_new(pl, md),
			sl__layout_new(pl, args[1].md));
	else
		sl__planner_fail_internal(pl, "a matrix has no description");
}

static uint32_t
read_ends(struct sl__planner *pl, struct matmul *m, struct sl__dnnl_arg *args,
	  uint32_t n)
{
	for (int i = 0; i < m->n_epilogue; i++) {
		uint32_t value = m->p.epilogue[i].value;

		if (value != SL__NONE)
			args[n++] = (struct sl__dnnl_arg){
				i < m->has_bias
					? DNNL_ARG_BIAS
					: DNNL_ARG_ATTR_MULTIPLE_POST_OP(
						  m->places[i]) |
						  DNNL_ARG_SRC_1,
				sl__plan_input_buffer(pl, value, m->layouts[i]),
				m->epilogue[i]};
	}
	return n;
}

static uint32_t
base_of(const struct sl__planner *pl, uint32_t buffer)
{
	return pl->program->buffers[buffer].base;
}

/* The argument that is the residual; SL__NONE where it may not be written
 * over because the matmul reads it otherwise, too. */
static uint32_t
find_over(const struct sl__planner *pl, const struct matmul *m,
	  const struct sl__dnnl_arg *args, uint32_t n)
{
	uint32_t found = SL__NONE;
	int arg;

	if (!m->sum_pd || pl->rc)
		return SL__NONE;
	arg = DNNL_ARG_ATTR_MULTIPLE_POST_OP(m->places[m->residual]) |
	      DNNL_ARG_SRC_1;
	for (uint32_t i = 0; i < n; i++) {
		if (args[i].arg == arg)
			found = i;
	}
	for (uint32_t i = 0; found != SL__NONE && i < n; i++) {
		if (i != found && base_of(pl, args[i].buffer) ==
					  base_of(pl, args[found].buffer))
			return SL__NONE;
	}
	return found;
}

/* Writes over the residual where that is free: it is dst then, and no
 * argument of its own.  Returns how many arguments there are. */
static uint32_t
write_result(struct sl__planner *pl, struct matmul *m,
	     struct sl__dnnl_arg *args, uint32_t n)
{
	uint32_t over = find_over(pl, m, args, n);
	struct sl__dnnl_arg dst = {DNNL_ARG_DST, SL__NONE, m->md.dst};
	const struct sl__layout *layout = sl__gemm_row_major_layout(
		pl, m->p.y,
		m->dst_type == dnnl_bf16 ? SL_DTYPE_BF16 : SL_DTYPE_F32);
	dnnl_primitive_desc_t spare = m->sum_pd;

	dst.buffer = over == SL__NONE
			     ? sl__plan_output_buffer(pl, m->p.y, layout)
			     : sl__plan_output_in_place(pl, m->p.y, layout,
							args[over].buffer);
	if (over != SL__NONE && dst.buffer == args[over].buffer) {
		spare = m->pd;
		m->pd = m->sum_pd;
		args[over] = args[--n];
	}
	dnnl_primitive_desc_destroy(spare);
	args[n] = dst;
	return n + 1;
}

int
sl__make_matmul(struct sl__planner *pl, const struct sl__node *node)
{
	struct sl__dnnl_arg args[SL__EPILOGUE_MAX + 4];
	struct matmul *m = sl__plan_alloc_state(pl, sizeof(*m));
	uint32_t n;

	if (!m || !sl__gemm_read(&m->p, pl, node))
		return 0;
	choose(pl, m);
	/* Below AVX-512 oneDNN has no kernel for bf16. */
	if (!m->pd && sl__plan_value_type(pl, m->p.y)->dtype != m->p.dtype) {
		m->p.dtype = sl__plan_value_type(pl, m->p.y)->dtype;
		choose(pl, m);
	}
	if (!m->pd)
		return 0;
	read_matrices(pl, m, args);
	n = read_ends(pl, m, args, 2);
	n = write_result(pl, m, args, n);
	sl__plan_dnnl_primitive(pl, m->pd, args, n);
	if (m->n_epilogue != m->p.n_epilogue)
		sl__plan_gemm_epilogue(pl, &m->p, args[n - 1].buffer);
	return 1;
}

uint32_t
sl__gemm_pack_weights(struct sl__planner *pl, const struct sl__gemm *p)
{
	const_dnnl_memory_desc_t as, md;
	int64_t dims[2] = {p->n, p->k}, strides[2] = {p->b_n, p->b_k};

	if (describe(&as, pl->program->dnnl,
		     sl__plan_value_type(pl, p->b)->dtype, 2, dims, strides) &&
	    sl__dnnl_row_major_md(&md, pl->program->dnnl, p->dtype, 2, dims))
		return sl__plan_packed_constant(pl, p->b,
						sl__layout_new(pl, as),
						sl__layout_new(pl, md));
	sl__planner_fail_internal(pl, "a matrix has no description");
	return SL__NONE;
}
