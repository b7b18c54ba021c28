/* SPDX-License-Identifier: Apache-2.0 */
/* pool_read.c - what a node pools. */
#include "engine/pool.h"
#include "graph/infer.h"
#include "graph/op_rules.h"
#include "ops/window.h"

#include <string.h>

#include "base/banned.h"

/* The window over the whole image. */
static void
read_global(struct sl__pool *p, const int64_t *in)
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
read_window(struct sl__pool *p, const struct sl__node *node, const int64_t *in,
	    const int64_t *out)
{
	struct sl__window w;

	if (sl__window_read_from_node(&w, node, p->rank - 2, NULL, NULL))
		return 0;
	sl__window_fill_same_pads(&w, in, out);
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
is_type_fit(const struct sl__pool *p, enum sl_dtype dtype)
{
	if (dtype == SL_DTYPE_F32 || dtype == SL_DTYPE_BF16)
		return 1;
	return p->is_max && (dtype == SL_DTYPE_U8 || dtype == SL_DTYPE_I8);
}

int
sl__pool_read(struct sl__pool *p, const struct sl__planner *pl,
	      const struct sl__node *node)
{
	const struct sl__type *x, *y;

	memset(p, 0, sizeof(*p));
	p->x = sl__plan_node_input(node, 0);
	p->y = sl__plan_node_output(node, 0);
	if (p->x == SL__NONE || p->y == SL__NONE ||
	    sl__plan_node_output(node, 1) != SL__NONE)
		return 0;
	x = sl__plan_value_type(pl, p->x);
	y = sl__plan_value_type(pl, p->y);
	p->rank = x->rank;
	p->is_max = sl__is_op(node, SL__OP_ONNX_MaxPool) ||
		    sl__is_op(node, SL__OP_ONNX_GlobalMaxPool);
	p->is_global = sl__is_op(node, SL__OP_ONNX_GlobalMaxPool) ||
		       sl__is_op(node, SL__OP_ONNX_GlobalAveragePool);
	p->counts_pads = !p->is_max && !p->is_global &&
			 sl__attribute_int(node, "count_include_pad", 0) != 0;
	if (x->rank < 3 || x->rank > 5 || y->rank != x->rank ||
	    !is_type_fit(p, x->dtype) || !sl__plan_value_n_elements(pl, p->x) ||
	    !sl__plan_value_n_elements(pl, p->y))
		return 0;
	if (!p->is_global)
		return read_window(p, node, x->dims + 2, y->dims + 2);
	read_global(p, x->dims + 2);
	return 1;
}
