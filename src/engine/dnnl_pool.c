/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dnnl_pool.c - pools as steps of oneDNN.
 *
 * They take images as they lie and leave the result in the same order.
 */
#include "base/status.h"
#include "engine/dnnl_conv.h"
#include "graph/infer.h"
#include "graph/op_rules.h"
#include "ops/window.h"

#include <string.h>

#include "base/banned.h"

struct pool {
	uint32_t x, y;
	int rank;
	int is_max, is_global, counts_pads;
	struct sl__dnnl_window window;
};

/* The window over the whole image. */
static void
read_global(struct pool *p, const int64_t *in)
{
	for (int d = 0; d < p->rank - 2; d++) {
		p->window.kernel[d] = in[d];
		p->window.strides[d] = 1;
	}
}

/*
 * The last window ends where the sizes say.  Averages that count padding
 * count what is given only: a window that sticks out further is not oneDNN's,
 * nor one that lies in the padding alone.
 */
static int
read_window(struct pool *p, const struct sl__node *node, const int64_t *in,
	    const int64_t *out)
{
	struct sl__window w;

	if (sl__window_of(&w, node, p->rank - 2, NULL, NULL))
		return 0;
	sl__window_settle(&w, in, out);
	for (int d = 0; d < w.n; d++) {
		int64_t extent = sl__window_extent(&w, d);
		int64_t after = (out[d] - 1) * w.strides[d] + extent - in[d] -
				w.pads_before[d];

		p->window.kernel[d] = w.kernel[d];
		p->window.strides[d] = w.strides[d];
		p->window.dilates[d] = w.dilations[d] - 1;
		p->window.before[d] = w.pads_before[d];
		p->window.after[d] = after < 0 ? 0 : after;
		if (w.pads_before[d] >= extent || after >= extent ||
		    extent > INT16_MAX ||
		    (p->counts_pads && after > w.pads_after[d]))
			return 0;
	}
	return 1;
}

static int
is_type_fit(const struct pool *p, enum sl_dtype dtype)
{
	if (dtype == SL_DTYPE_F32 || dtype == SL_DTYPE_BF16)
		return 1;
	return p->is_max && (dtype == SL_DTYPE_U8 || dtype == SL_DTYPE_I8);
}

static int
read_pool(struct pool *p, const struct sl__planner *pl,
	  const struct sl__node *node)
{
	const struct sl__type *x, *y;

	memset(p, 0, sizeof(*p));
	p->x = sl__plan_in(node, 0);
	p->y = sl__plan_out(node, 0);
	if (p->x == SL__NONE || p->y == SL__NONE ||
	    sl__plan_out(node, 1) != SL__NONE)
		return 0;
	x = sl__plan_type(pl, p->x);
	y = sl__plan_type(pl, p->y);
	p->rank = x->rank;
	p->is_max = sl__is_op(node, SL__OP_ONNX_MaxPool) ||
		    sl__is_op(node, SL__OP_ONNX_GlobalMaxPool);
	p->is_global = sl__is_op(node, SL__OP_ONNX_GlobalMaxPool) ||
		       sl__is_op(node, SL__OP_ONNX_GlobalAveragePool);
	p->counts_pads = !p->is_max && !p->is_global &&
			 sl__int(node, "count_include_pad", 0) != 0;
	if (x->rank < 3 || x->rank > 5 || y->rank != x->rank ||
	    !is_type_fit(p, x->dtype) || !sl__plan_elements(pl, p->x) ||
	    !sl__plan_elements(pl, p->y))
		return 0;
	if (!p->is_global)
		return read_window(p, node, x->dims + 2, y->dims + 2);
	read_global(p, x->dims + 2);
	return 1;
}

static enum sl_status
make_pd(dnnl_primitive_desc_t *pd, struct sl__planner *pl, const struct pool *p,
	struct sl_error *err)
{
	struct sl__dnnl_pool desc = {.window = p->window};
	dnnl_primitive_attr_t attr;
	const struct sl__type *y = sl__plan_type(pl, p->y);
	dnnl_status_t status = dnnl_unimplemented;
	enum sl_status rc = sl__dnnl_attr(&attr, err);

	*pd = NULL;
	if (rc)
		return rc;
	desc.kind = p->is_max        ? dnnl_pooling_max
		    : p->counts_pads ? dnnl_pooling_avg_include_padding
				     : dnnl_pooling_avg_exclude_padding;
	if (sl__form_md(pl, p->x, sl__plan_form(pl, p->x), &desc.src) &&
	    sl__order_md(&desc.dst, SL__ORDER_ANY, desc.src.data_type, y->rank,
			 y->dims))
		status = sl__dnnl_pool_pd(pd, &desc, attr,
					  pl->program->dnnl->engine);
	dnnl_primitive_attr_destroy(attr);
	if (status == dnnl_out_of_memory)
		return sl__fail_nomem(err);
	if (status)
		*pd = NULL;
	return SL_OK;
}

static enum sl_status
add_step(struct sl__planner *pl, const struct pool *p, dnnl_primitive_desc_t pd,
	 struct sl_error *err)
{
	struct sl__dnnl_arg args[2] = {{.arg = DNNL_ARG_SRC},
				       {.arg = DNNL_ARG_DST}};
	const struct sl__form *form;
	struct sl__step *step;
	enum sl_status rc;

	args[0].md = *dnnl_primitive_desc_query_md(pd, dnnl_query_src_md, 0);
	args[1].md = *dnnl_primitive_desc_query_md(pd, dnnl_query_dst_md, 0);
	rc = sl__plan_read(pl, p->x, sl__plan_form(pl, p->x), &args[0].buffer,
			   err);
	if (!rc)
		rc = sl__form_written(pl, p->y, &args[1].md, &form, err);
	if (!rc)
		rc = sl__plan_write(pl, p->y, form, &args[1].buffer, err);
	if (rc) {
		dnnl_primitive_desc_destroy(pd);
		return rc;
	}
	return sl__dnnl_step(pl, pd, args, 2, &step, err);
}

enum sl_status
sl__make_pool(struct sl__planner *pl, const struct sl__node *node, int *is_made,
	      struct sl_error *err)
{
	dnnl_primitive_desc_t pd;
	struct pool p;
	enum sl_status rc;

	*is_made = 0;
	if (!read_pool(&p, pl, node))
		return SL_OK;
	rc = make_pd(&pd, pl, &p, err);
	if (rc || !pd)
		return rc;
	*is_made = 1;
	return add_step(pl, &p, pd, err);
}
