/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dnnl_conv.c - convolutions, also transposed, as steps of oneDNN.
 *
 * What is added to the result is there before where nobody needs it any
 * more: the destination starts as the operand.  Where no kernel does an
 * ending, its rest becomes steps of its own, in place.
 */
#include "engine/dnnl_conv.h"
#include "base/status.h"

#include <string.h>

#include "base/banned.h"

enum { ARGS_MOST = 4 + SL__POSTS_MOST };

struct making {
	struct sl__planner *pl;
	struct sl__conv conv;
	struct sl__conv_way way;
	struct sl__dnnl_arg args[ARGS_MOST];
	uint32_t n_args;
	uint32_t over; /* the operand of the sum */
};

/* How often the node reads the value, and how often what lies in 'base'. */
static uint32_t
count_reads(const struct sl__planner *pl, const struct sl__node *node,
	    uint32_t value, uint32_t base)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < node->n_inputs; i++) {
		const struct sl__held *held;

		if (node->inputs[i] == SL__NONE)
			continue;
		held = &pl->held[node->inputs[i]];
		if (base == SL__NONE)
			n += node->inputs[i] == value;
		for (uint32_t v = 0; base != SL__NONE && v < held->n_versions;
		     v++)
			n += pl->program->buffers[held->versions[v].buffer]
				     .base == base;
	}
	return n;
}

/* Whether this node is the last to need an operand: all that lies where any
 * version of it lies is read by this node alone, once. */
static int
is_last_use(const struct sl__planner *pl, const struct sl__conv *c,
	    uint32_t value)
{
	const struct sl__held *held = &pl->held[value];

	if (pl->graph->values[value].tensor || held->uses_left != 1 ||
	    count_reads(pl, c->node, value, SL__NONE) != 1)
		return 0;
	for (uint32_t v = 0; v < held->n_versions; v++) {
		uint32_t buffer = held->versions[v].buffer;
		const struct sl__buffer *b = &pl->program->buffers[buffer];

		if (b->base != buffer || b->room != SL__ROOM_ACTIVATION ||
		    pl->buffer_uses[buffer] != 1 ||
		    count_reads(pl, c->node, value, buffer) != 1)
			return 0;
	}
	return held->n_versions > 0;
}

static void
find_sum(const struct sl__planner *pl, struct sl__conv *c)
{
	for (int i = 0; i < c->n_posts && c->sum < 0; i++) {
		if (c->posts[i].kind == SL__POST_ADD &&
		    sl__conv_is_same_size(pl, c, i) &&
		    is_last_use(pl, c, sl__plan_in(c->node, c->posts[i].input)))
			c->sum = i;
	}
}

static const dnnl_memory_desc_t *
md_of(const struct making *m, dnnl_query_t what, int index)
{
	return dnnl_primitive_desc_query_md(m->way.pd, what, index);
}

static void
add_arg(struct making *m, int arg, uint32_t buffer,
	const dnnl_memory_desc_t *md)
{
	m->args[m->n_args].arg = arg;
	m->args[m->n_args].buffer = buffer;
	m->args[m->n_args++].md = *md;
}

/* The value as md describes it. */
static enum sl_status
read_as(struct making *m, int arg, uint32_t value, const dnnl_memory_desc_t *md,
	struct sl_error *err)
{
	const struct sl__form *form;
	uint32_t buffer;
	enum sl_status rc = sl__form_written(m->pl, value, md, &form, err);

	if (!rc)
		rc = sl__plan_read(m->pl, value, form, &buffer, err);
	if (!rc)
		add_arg(m, arg, buffer, md);
	return rc;
}

static enum sl_status
read_weights(struct making *m, struct sl_error *err)
{
	const dnnl_memory_desc_t *md = md_of(m, dnnl_query_weights_md, 0);
	const struct sl__form *own, *form;
	dnnl_memory_desc_t own_md;
	uint32_t buffer;
	enum sl_status rc;

	if (!m->pl->graph->values[m->conv.w].tensor)
		return read_as(m, DNNL_ARG_WEIGHTS, m->conv.w, md, err);
	if (!sl__conv_weights_own(&own_md, m->pl, &m->conv))
		return sl__fail(err, SL_E_BUG, "weights of many dimensions");
	rc = sl__form_new(m->pl, &own_md, &own, err);
	if (!rc)
		rc = sl__form_new(m->pl, md, &form, err);
	if (!rc && dnnl_memory_desc_equal(&own_md, md))
		rc = sl__plan_read(m->pl, m->conv.w, NULL, &buffer, err);
	else if (!rc)
		rc = sl__plan_pack(m->pl, m->conv.w, own, form, &buffer, err);
	if (!rc)
		add_arg(m, DNNL_ARG_WEIGHTS, buffer, md);
	return rc;
}

static enum sl_status
read_bias(struct making *m, struct sl_error *err)
{
	uint32_t buffer;
	enum sl_status rc;

	if (m->conv.b == SL__NONE)
		return SL_OK;
	rc = sl__plan_read(m->pl, m->conv.b, NULL, &buffer, err);
	if (!rc)
		add_arg(m, DNNL_ARG_BIAS, buffer,
			md_of(m, dnnl_query_weights_md, 1));
	return rc;
}

/* The second operand of post-operation i, in whichever form it is met. */
static enum sl_status
read_operand(struct making *m, int i, int arg, struct sl_error *err)
{
	uint32_t value = sl__plan_in(m->conv.node, m->conv.posts[i].input);
	dnnl_memory_desc_t md;
	uint32_t buffer;
	enum sl_status rc;

	if (!sl__conv_operand_md(&md, m->pl, &m->conv, i,
				 md_of(m, dnnl_query_dst_md, 0)))
		return sl__fail(err, SL_E_BUG, "an operand of other sizes");
	if (sl__conv_is_same_size(m->pl, &m->conv, i))
		return read_as(m, arg, value, &md, err);
	rc = sl__plan_read(m->pl, value, NULL, &buffer, err);
	if (!rc)
		add_arg(m, arg, buffer, &md);
	return rc;
}

/* Operands of the primitive's ending; 'at' counts oneDNN's operations. */
static enum sl_status
read_operands(struct making *m, struct sl_error *err)
{
	enum sl_status rc = SL_OK;
	int at = 0;

	for (int i = 0; !rc && i < m->way.n_within; i++) {
		const struct sl__post *post = &m->conv.posts[i];

		if (i == m->way.sum) {
			rc = read_operand(m, i, DNNL_ARG_DST, err);
			if (!rc)
				m->over = m->args[--m->n_args].buffer;
		} else if (post->kind == SL__POST_ADD ||
			   post->kind == SL__POST_MUL) {
			rc = read_operand(m, i,
					  DNNL_ARG_ATTR_MULTIPLE_POST_OP(at) |
						  DNNL_ARG_SRC_1,
					  err);
		}
		at += sl__dnnl_post_length(post);
	}
	return rc;
}

static enum sl_status
write_result(struct making *m, struct sl_error *err)
{
	const dnnl_memory_desc_t *md = md_of(m, dnnl_query_dst_md, 0);
	const struct sl__form *form;
	uint32_t buffer;
	enum sl_status rc = sl__form_written(m->pl, m->conv.y, md, &form, err);

	if (rc)
		return rc;
	if (m->way.sum < 0)
		rc = sl__plan_write(m->pl, m->conv.y, form, &buffer, err);
	else
		rc = sl__plan_write_over(m->pl, m->conv.y, form, m->over,
					 &buffer, err);
	if (!rc && m->way.sum >= 0 && buffer != m->over)
		rc = sl__fail(err, SL_E_BUG, "an operand is needed later");
	if (!rc)
		add_arg(m, DNNL_ARG_DST, buffer, md);
	return rc;
}

/* Pairs of a place of the result and a tap of the kernel that meet a number of
 * the input, along dimension d: kernels leave out what lies in the padding. */
static uint64_t
taps_within(const struct making *m, const dnnl_memory_desc_t *src,
	    const dnnl_memory_desc_t *dst, int d)
{
	const struct sl__dnnl_window *w = &m->conv.window;
	const dnnl_memory_desc_t *from = m->conv.is_transposed ? dst : src;
	const dnnl_memory_desc_t *to = m->conv.is_transposed ? src : dst;
	int64_t size = from->dims[d + 2];
	uint64_t n = 0;

	for (int64_t o = 0; o < to->dims[d + 2]; o++) {
		for (int64_t k = 0; k < w->kernel[d]; k++) {
			int64_t at = o * w->strides[d] - w->before[d] +
				     k * (w->dilates[d] + 1);

			n += at >= 0 && at < size;
		}
	}
	return n;
}

/* Of channels padded to blocks, all are computed; but with groups, blocks are
 * how small groups are stored, and kernels do not multiply what fills them. */
static uint64_t
direct_work(const struct making *m)
{
	const dnnl_memory_desc_t *w = md_of(m, dnnl_query_weights_md, 0);
	const dnnl_memory_desc_t *src = md_of(m, dnnl_query_src_md, 0);
	const dnnl_memory_desc_t *dst = md_of(m, dnnl_query_dst_md, 0);
	uint64_t n = 2 * (uint64_t)dst->dims[0];
	int has_groups = w->ndims > dst->ndims;
	int n_channels = w->ndims - (dst->ndims - 2);

	for (int d = 0; d < n_channels; d++)
		n *= (uint64_t)(has_groups ? w->dims[d] : w->padded_dims[d]);
	for (int d = 0; d < dst->ndims - 2; d++)
		n *= taps_within(m, src, dst, d);
	return n;
}

/* Winograd's F(tile, 3): (tile + 2)^2 products for tile^2 results, of which
 * those beyond the image's end are computed too. */
static uint64_t
winograd_work(const struct making *m, int64_t tile)
{
	const dnnl_memory_desc_t *src = md_of(m, dnnl_query_src_md, 0);
	const dnnl_memory_desc_t *dst = md_of(m, dnnl_query_dst_md, 0);
	uint64_t n = 2 * (uint64_t)dst->dims[0];

	for (int d = 2; d < dst->ndims; d++)
		n *= (uint64_t)((dst->dims[d] + tile - 1) / tile * (tile + 2));
	return n * (uint64_t)src->padded_dims[1] *
	       (uint64_t)dst->padded_dims[1];
}

static uint64_t
executed_work(const struct making *m)
{
	const char *name = sl__dnnl_name(m->way.pd);
	uint64_t ending = (uint64_t)m->way.n_within + 1;

	ending = (m->conv.b == SL__NONE ? ending - 1 : ending) *
		 sl__plan_elements(m->pl, m->conv.y);
	if (strstr(name, "wino_4x3"))
		return winograd_work(m, 4) + ending;
	if (strstr(name, "wino"))
		return winograd_work(m, 2) + ending;
	return direct_work(m) + ending;
}

static enum sl_status
add_change(struct making *m, const struct sl__dnnl_arg *result,
	   const struct sl__dnnl_change *change, struct sl_error *err)
{
	struct sl__dnnl_arg args[2] = {*result, *result};
	dnnl_primitive_attr_t attr;
	dnnl_primitive_desc_t pd;
	struct sl__step *step;
	enum sl_status rc = sl__dnnl_attr(&attr, err);

	if (rc)
		return rc;
	args[0].arg = DNNL_ARG_SRC;
	rc = sl__dnnl_check(sl__dnnl_change_pd(&pd, &result->md, change, attr,
					       m->pl->program->dnnl->engine),
			    "an activation", err);
	dnnl_primitive_attr_destroy(attr);
	return rc ? rc : sl__dnnl_step(m->pl, pd, args, 2, &step, err);
}

static enum sl_status
add_join(struct making *m, const struct sl__dnnl_arg *result, int i,
	 struct sl_error *err)
{
	struct sl__dnnl_arg args[3] = {*result, *result, *result};
	dnnl_primitive_attr_t attr;
	dnnl_primitive_desc_t pd;
	struct sl__step *step;
	enum sl_status rc = sl__dnnl_attr(&attr, err);

	if (rc)
		return rc;
	args[0].arg = DNNL_ARG_SRC_0;
	args[1] = m->args[--m->n_args];
	rc = sl__dnnl_check(sl__dnnl_join_pd(&pd, &result->md, &args[1].md,
					     sl__dnnl_join(&m->conv.posts[i]),
					     attr,
					     m->pl->program->dnnl->engine),
			    "two operands", err);
	dnnl_primitive_attr_destroy(attr);
	return rc ? rc : sl__dnnl_step(m->pl, pd, args, 3, &step, err);
}

/* Operands must have been read before the result is written. */
static enum sl_status
add_ending(struct making *m, struct sl_error *err)
{
	struct sl__dnnl_arg result = m->args[m->n_args - 1];
	enum sl_status rc = SL_OK;

	for (int i = m->way.n_within; !rc && i < m->conv.n_posts; i++) {
		struct sl__dnnl_change changes[SL__CHANGES_MOST];
		int n = sl__dnnl_changes(changes, &m->conv.posts[i]);

		for (int k = 0; !rc && k < n; k++)
			rc = add_change(m, &result, &changes[k], err);
		if (n || rc)
			continue;
		rc = read_operand(m, i, DNNL_ARG_SRC_1, err);
		if (!rc)
			rc = add_join(m, &result, i, err);
	}
	return rc;
}

static enum sl_status
add_steps(struct making *m, struct sl_error *err)
{
	struct sl__step *step;
	uint64_t work = executed_work(m);
	enum sl_status rc = read_as(m, DNNL_ARG_SRC, m->conv.x,
				    md_of(m, dnnl_query_src_md, 0), err);

	if (!rc)
		rc = read_weights(m, err);
	if (!rc)
		rc = read_bias(m, err);
	if (!rc)
		rc = read_operands(m, err);
	if (!rc)
		rc = write_result(m, err);
	if (rc) {
		dnnl_primitive_desc_destroy(m->way.pd);
		return rc;
	}
	rc = sl__dnnl_step(m->pl, m->way.pd, m->args, m->n_args, &step, err);
	if (rc)
		return rc;
	step->executed_flops = work;
	return add_ending(m, err);
}

enum sl_status
sl__make_conv(struct sl__planner *pl, const struct sl__node *node, int *is_made,
	      struct sl_error *err)
{
	struct making m = {.pl = pl};
	enum sl_status rc;

	*is_made = 0;
	if (!sl__conv_read(&m.conv, pl, node))
		return SL_OK;
	find_sum(pl, &m.conv);
	rc = sl__conv_find_way(&m.way, pl, &m.conv, err);
	if (rc || !m.way.pd)
		return rc;
	*is_made = 1;
	return add_steps(&m, err);
}
