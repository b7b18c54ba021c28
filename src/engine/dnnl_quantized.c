/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dnnl_quantized.c - convolutions of small integers as steps of oneDNN.
 *
 * Sums are exact integers.  The zero point of the image is a part of the bias
 * where no tap falls on padding; elsewhere oneDNN takes it off.  oneDNN adds
 * the zero point of the result before it rounds, where the definition does
 * after, so a post-operation rounds first.
 */
#include "engine/dnnl_quantized.h"
#include "engine/dnnl_conv.h"
#include "engine/dnnl_isa.h"
#include "engine/quantized.h"
#include "engine/quantized_conv.h"

#include <stdlib.h>
#include <string.h>

#include "base/banned.h"

enum { ARGS_MOST = 7 };

/* A node's parts, and what becomes of them. */
struct making {
	struct sl__planner *pl;
	struct sl__quantized_conv q;
	int has_bias;
	int zero_is_apart; /* oneDNN takes off the image's zero point */
	const_dnnl_memory_desc_t factors_md; /* NULL: one factor for all */
	dnnl_primitive_desc_t pd;
	struct sl__dnnl_arg args[ARGS_MOST];
	uint32_t n_args;
};

static int
has_wide(void)
{
	return sl__dnnl_uses_isa(dnnl_cpu_isa_avx512_core_vnni);
}

int
sl__dnnl_int8_is_exact(void)
{
	return has_wide() || sl__dnnl_uses_isa(dnnl_cpu_isa_avx2_vnni);
}

int
sl__dnnl_int8_groups_are_exact(void)
{
	return has_wide();
}

int
sl__dnnl_int8_products_are_exact(void)
{
	return DNNL_VERSION_MAJOR >= 3 ? sl__dnnl_int8_is_exact() : has_wide();
}

/* Puts the image's zero point into the bias, or leaves it to oneDNN. */
static void
place_zero(struct making *m)
{
	int64_t most = 0;

	m->has_bias = m->q.conv.b != SL__NONE;
	m->zero_is_apart = m->q.x_zero != 0;
	for (size_t i = 0; i < m->q.n_out; i++) {
		int64_t x = (int64_t)m->q.bias[i] -
			    (int64_t)m->q.x_zero * m->q.sums[i];

		most = llabs(x) > most ? llabs(x) : most;
	}
	if (!m->zero_is_apart || m->q.is_padded || most > INT32_MAX)
		return;
	for (size_t i = 0; i < m->q.n_out; i++)
		m->q.bias[i] -= m->q.x_zero * m->q.sums[i];
	m->zero_is_apart = 0;
	m->has_bias = 1;
}

/* oneDNN's sums pass through f32, which is exact up to 2^24. */
static int
is_within_f32(const struct making *m, const int8_t *w)
{
	int64_t reach = m->q.x_zero ? 2 * 255 : 255;

	for (size_t i = 0; i < m->q.n_out; i++) {
		int64_t sum = 0;

		for (size_t k = 0; k < m->q.length; k++)
			sum += abs(w[i * m->q.length + k]);
		if (sum * reach >= 1 << 24)
			return 0;
	}
	return 1;
}

static int
read_node(struct making *m, const struct sl__node *node)
{
	struct sl__quantized_conv *q = &m->q;
	const int8_t *w;
	int8_t *copy;
	int fits;

	if (!sl__quantized_conv_read(q, m->pl, node))
		return 0;
	w = sl__int8_weights(m->pl, q->conv.w, &copy);
	if (!w)
		return 0;
	fits = !q->is_integer || is_within_f32(m, w);
	place_zero(m);
	sl__allocator_free(&m->pl->program->arena.allocator, copy);
	return fits;
}

/* What the sums are multiplied by: one number, or one of each channel. */
static dnnl_status_t
append_factors(struct making *m, dnnl_post_ops_t ops)
{
	int64_t dims[DNNL_MAX_NDIMS] = {1, (int64_t)m->q.n_out, 1, 1, 1};
	int is_one = 1;

	for (size_t i = 1; i < m->q.n_out; i++)
		is_one &= m->q.factors[i] >= m->q.factors[0] &&
			  m->q.factors[i] <= m->q.factors[0];
	if (is_one)
		return sl__dnnl_append_eltwise(ops, dnnl_eltwise_linear,
					       m->q.factors[0], 0);
	if (!sl__dnnl_row_major_md(&m->factors_md, m->pl->program->dnnl,
				   SL_DTYPE_F32, m->q.conv.rank, dims))
		return dnnl_unimplemented;
	return dnnl_post_ops_append_binary(ops, dnnl_binary_mul, m->factors_md);
}

/* A zero point of the result is added to what is rounded. */
static dnnl_status_t
set_attr(struct making *m, dnnl_primitive_attr_t attr)
{
	dnnl_post_ops_t ops = NULL;
	dnnl_status_t status = dnnl_post_ops_create(&ops);

	if (!status && !m->q.is_integer)
		status = append_factors(m, ops);
	if (!status && m->q.y_zero)
		status = sl__dnnl_append_eltwise(ops, dnnl_eltwise_round, 0, 0);
	if (!status)
		status = dnnl_primitive_attr_set_post_ops(attr, ops);
	dnnl_post_ops_destroy(ops);
	if (!status && m->q.y_zero)
		status = sl__dnnl_set_zero_point(attr, DNNL_ARG_DST,
						 m->q.y_zero);
	if (!status && m->zero_is_apart)
		status = sl__dnnl_set_zero_point(attr, DNNL_ARG_SRC,
						 m->q.x_zero);
	return status;
}

static int
describe(const struct making *m, struct sl__dnnl_conv *out)
{
	const struct sl__conv *c = &m->q.conv;
	const struct sl__type *x = sl__plan_value_type(m->pl, c->x);
	const struct sl__type *y = sl__plan_value_type(m->pl, c->y);
	struct sl__dnnl_context *dnnl = m->pl->program->dnnl;
	int64_t n = (int64_t)m->q.n_out;

	memset(out, 0, sizeof(*out));
	out->window = c->window;
	return sl__dnnl_any_layout_md(&out->src, dnnl, x->dtype, x->rank,
				      x->dims) &&
	       sl__dnnl_any_layout_md(&out->dst, dnnl, y->dtype, y->rank,
				      y->dims) &&
	       sl__conv_weights_any_md(&out->weights, m->pl, c, SL_DTYPE_I8) &&
	       (!m->has_bias ||
		sl__dnnl_row_major_md(&out->bias, dnnl, SL_DTYPE_I32, 1, &n));
}

/* Whether it multiplies with instructions that do not saturate; oneDNN's
 * matrix products, not named after any, have them in vectors of 512 bits. */
int
sl__dnnl_multiplies_exactly(const_dnnl_primitive_desc_t pd)
{
	const char *name = sl__dnnl_implementation_name(pd);

	return strstr(name, "vnni") || strstr(name, "amx") ||
	       strstr(name, "avx10") || (strstr(name, "gemm") && has_wide());
}

/*
 * Whether the current implementation is better than what there is.  Those
 * built on matrix kernels come first in oneDNN's list and are slower than
 * plainer ones, but for tiles.
 */
static int
is_better(const_dnnl_primitive_desc_t pd, const_dnnl_primitive_desc_t best)
{
	const char *name = sl__dnnl_implementation_name(pd);

	if (!sl__dnnl_multiplies_exactly(pd))
		return 0;
	return !best ||
	       (!strncmp(name, "jit_int8", 8) &&
		!strncmp(sl__dnnl_implementation_name(best), "br", 2) &&
		!strstr(sl__dnnl_implementation_name(best), "amx"));
}

static dnnl_status_t
choose(struct making *m, struct sl__dnnl_conv_iterator *each)
{
	dnnl_primitive_desc_t pd;

	do {
		pd = sl__dnnl_conv_iterator_pd(each);
		if (!pd)
			return dnnl_out_of_memory;
		if (is_better(pd, m->pd)) {
			dnnl_primitive_desc_destroy(m->pd);
			m->pd = pd;
		} else {
			dnnl_primitive_desc_destroy(pd);
		}
	} while (!sl__dnnl_conv_iterator_next(each));
	return dnnl_success;
}

/* m->pd stays NULL where oneDNN has none that will do. */
static void
find_primitive(struct making *m)
{
	const struct sl__dnnl_context *dnnl = m->pl->program->dnnl;
	struct sl__dnnl_conv conv;
	struct sl__dnnl_conv_iterator each;
	dnnl_primitive_attr_t attr = NULL;
	dnnl_status_t status = dnnl_primitive_attr_clone(&attr, dnnl->attr);

	if (!status)
		status = describe(m, &conv) ? set_attr(m, attr)
					    : dnnl_unimplemented;
	if (!status)
		status = sl__dnnl_conv_iterator_begin(&each, &conv, attr,
						      dnnl->engine);
	if (!status) {
		status = choose(m, &each);
		sl__dnnl_conv_iterator_end(&each);
	}
	dnnl_primitive_attr_destroy(attr);
	if (status == dnnl_out_of_memory)
		sl__planner_keep_dnnl_status(m->pl, status, "a descriptor");
}

struct sl__dnnl_arg
sl__dnnl_int8_weights(struct sl__planner *pl, uint32_t value,
		      const_dnnl_memory_desc_t own,
		      const_dnnl_primitive_desc_t pd)
{
	const struct sl__tensor *t = sl__plan_constant_tensor(pl, value);
	struct sl__dnnl_arg arg = {
		DNNL_ARG_WEIGHTS, SL__NONE,
		sl__dnnl_pd_md(pl, pd, dnnl_query_weights_md, 0)};
	const int8_t *w;
	int8_t *copy;
	void *to;

	arg.buffer = sl__plan_persistent_buffer(
		pl, dnnl_memory_desc_get_size(arg.md), &to);
	w = sl__int8_weights(pl, value, &copy);
	sl__dnnl_reorder_now(pl, own, w, arg.md, to);
	sl__allocator_free(&pl->program->arena.allocator, copy);
	sl__tensor_release_pages(t, 0, t->n_bytes);
	return arg;
}

static struct sl__dnnl_arg *
add_arg(struct making *m)
{
	return &m->args[m->n_args++];
}

/* An argument that is known now, as a copy in the program's pages. */
static void
add_constant(struct making *m, int arg, const void *bytes,
	     const_dnnl_memory_desc_t md)
{
	size_t n_bytes = dnnl_memory_desc_get_size(md);
	void *data;
	uint32_t buffer = sl__plan_persistent_buffer(m->pl, n_bytes, &data);

	if (data)
		memcpy(data, bytes, n_bytes);
	*add_arg(m) = (struct sl__dnnl_arg){arg, buffer, md};
}

static void
add_zero_point(struct making *m, int arg, const int32_t *zero)
{
	const_dnnl_memory_desc_t md;
	const int64_t one = 1;

	if (sl__dnnl_zero_point_is_argument() &&
	    sl__dnnl_row_major_md(&md, m->pl->program->dnnl, SL_DTYPE_I32, 1,
				  &one))
		add_constant(m, DNNL_ARG_ATTR_ZERO_POINTS | arg, zero, md);
}

static void
add_step(struct making *m)
{
	const struct sl__conv *c = &m->q.conv;
	const_dnnl_memory_desc_t own;

	if (sl__conv_weights_model_md(&own, m->pl, c, SL_DTYPE_I8))
		*add_arg(m) = sl__dnnl_int8_weights(m->pl, c->w, own, m->pd);
	else
		sl__planner_fail_internal(m->pl, "weights of many dimensions");
	*add_arg(m) = sl__dnnl_input_arg(
		m->pl, DNNL_ARG_SRC, c->x,
		sl__dnnl_pd_md(m->pl, m->pd, dnnl_query_src_md, 0));
	*add_arg(m) = sl__dnnl_output_arg(m->pl, m->pd, c->y);
	if (m->has_bias)
		add_constant(
			m, DNNL_ARG_BIAS, m->q.bias,
			sl__dnnl_pd_md(m->pl, m->pd, dnnl_query_weights_md, 1));
	if (m->factors_md)
		add_constant(m,
			     DNNL_ARG_ATTR_MULTIPLE_POST_OP(0) | DNNL_ARG_SRC_1,
			     m->q.factors, m->factors_md);
	if (m->zero_is_apart)
		add_zero_point(m, DNNL_ARG_SRC, &m->q.x_zero);
	if (m->q.y_zero)
		add_zero_point(m, DNNL_ARG_DST, &m->q.y_zero);
	sl__plan_dnnl_primitive(m->pl, m->pd, m->args, m->n_args)
		->executed_flops =
		2 * m->q.length * sl__plan_value_n_elements(m->pl, c->y);
}

/* QLinearConv, ConvInteger. */
int
sl__make_quantized_conv(struct sl__planner *pl, const struct sl__node *node)
{
	struct making m = {.pl = pl};

	if (!sl__dnnl_int8_is_exact() || !read_node(&m, node))
		return 0;
	if (m.q.conv.n_groups > 1 && !sl__dnnl_int8_groups_are_exact())
		return 0;
	find_primitive(&m);
	if (m.pd)
		add_step(&m);
	return m.pd != NULL;
}
