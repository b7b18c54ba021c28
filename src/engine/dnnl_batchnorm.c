/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dnnl_batchnorm.c - norms over channels as steps of oneDNN: those of batches
 * that no convolution took in, and LRN.
 */
#include "base/status.h"
#include "engine/dnnl_form.h"
#include "engine/dnnl_make.h"
#include "graph/infer.h"

#include "base/banned.h"

/* What a norm reads and writes: the data, and vectors beside it. */
struct norm {
	const struct sl__node *node;
	uint32_t x, y;
	uint32_t n_vectors;
	const int *vector_args; /* of inputs 1 .. n_vectors */
};

static int
is_type_fit(const struct sl__planner *pl, const struct norm *n)
{
	const struct sl__type *x;

	if (n->x == SL__NONE || n->y == SL__NONE)
		return 0;
	x = sl__plan_type(pl, n->x);
	return x->dtype == SL_DTYPE_F32 && x->rank >= 2 && x->rank <= 5 &&
	       sl__plan_elements(pl, n->x);
}

/* Takes the descriptor over.  Data may be written over in place. */
static enum sl_status
add_step(struct sl__planner *pl, const struct norm *n, dnnl_primitive_desc_t pd,
	 struct sl_error *err)
{
	const struct sl__form *form = sl__plan_form(pl, n->x);
	struct sl__dnnl_arg args[6] = {{.arg = DNNL_ARG_SRC},
				       {.arg = DNNL_ARG_DST}};
	struct sl__step *step;
	enum sl_status rc = sl__plan_read(pl, n->x, form, &args[0].buffer, err);

	args[0].md = *dnnl_primitive_desc_query_md(pd, dnnl_query_src_md, 0);
	args[1].md = *dnnl_primitive_desc_query_md(pd, dnnl_query_dst_md, 0);
	for (uint32_t i = 0; !rc && i < n->n_vectors; i++) {
		struct sl__dnnl_arg *arg = &args[2 + i];
		uint32_t value = sl__plan_in(n->node, 1 + i);

		arg->arg = n->vector_args[i];
		if (!sl__form_md(pl, value, NULL, &arg->md))
			rc = sl__fail(err, SL_E_BUG, "not a vector");
		else
			rc = sl__plan_read(pl, value, NULL, &arg->buffer, err);
	}
	if (!rc && n->n_vectors)
		rc = sl__plan_write_over(pl, n->y, form, args[0].buffer,
					 &args[1].buffer, err);
	else if (!rc)
		rc = sl__plan_write(pl, n->y, form, &args[1].buffer, err);
	if (rc) {
		dnnl_primitive_desc_destroy(pd);
		return rc;
	}
	return sl__dnnl_step(pl, pd, args, 2 + n->n_vectors, &step, err);
}

static enum sl_status
finish(struct sl__planner *pl, const struct norm *n, dnnl_status_t status,
       dnnl_primitive_desc_t pd, int *is_made, struct sl_error *err)
{
	if (status == dnnl_out_of_memory)
		return sl__fail_nomem(err);
	if (status)
		return SL_OK;
	*is_made = 1;
	return add_step(pl, n, pd, err);
}

static const int batch_args[4] = {DNNL_ARG_SCALE, DNNL_ARG_SHIFT, DNNL_ARG_MEAN,
				  DNNL_ARG_VARIANCE};

/* As a trained model runs it, with one number a channel. */
static int
is_inference(const struct sl__planner *pl, const struct norm *n)
{
	if (sl__int(n->node, "training_mode", 0) ||
	    !sl__int(n->node, "spatial", 1) ||
	    sl__plan_out(n->node, 1) != SL__NONE)
		return 0;
	for (uint32_t i = 1; i <= 4; i++) {
		uint32_t value = sl__plan_in(n->node, i);
		const struct sl__type *type;

		if (value == SL__NONE)
			return 0;
		type = sl__plan_type(pl, value);
		if (type->dtype != SL_DTYPE_F32 || type->rank != 1 ||
		    type->dims[0] != sl__plan_type(pl, n->x)->dims[1])
			return 0;
	}
	return 1;
}

enum sl_status
sl__make_channel_norm(struct sl__planner *pl, const struct sl__node *node,
		      int *is_made, struct sl_error *err)
{
	struct norm n = {node, sl__plan_in(node, 0), sl__plan_out(node, 0), 4,
			 batch_args};
	dnnl_memory_desc_t md;
	dnnl_primitive_attr_t attr;
	dnnl_primitive_desc_t pd = NULL;
	dnnl_status_t status;
	enum sl_status rc;

	*is_made = 0;
	if (!is_type_fit(pl, &n) || !is_inference(pl, &n) ||
	    !sl__form_md(pl, n.x, sl__plan_form(pl, n.x), &md))
		return SL_OK;
	rc = sl__dnnl_attr(&attr, err);
	if (rc)
		return rc;
	status = sl__dnnl_batch_norm_pd(&pd, &md,
					(float)sl__float(node, "epsilon", 1e-5),
					attr, pl->program->dnnl->engine);
	dnnl_primitive_attr_destroy(attr);
	return finish(pl, &n, status, pd, is_made, err);
}

enum sl_status
sl__make_lrn(struct sl__planner *pl, const struct sl__node *node, int *is_made,
	     struct sl_error *err)
{
	struct norm n = {node, sl__plan_in(node, 0), sl__plan_out(node, 0), 0,
			 NULL};
	struct sl__dnnl_lrn lrn;
	dnnl_primitive_attr_t attr;
	dnnl_primitive_desc_t pd = NULL;
	dnnl_status_t status;
	enum sl_status rc;

	*is_made = 0;
	/* Windows of an even size are not in the middle; oneDNN's are. */
	lrn.size = sl__int(node, "size", 1);
	if (!is_type_fit(pl, &n) || lrn.size < 1 || lrn.size % 2 == 0 ||
	    !sl__form_md(pl, n.x, sl__plan_form(pl, n.x), &lrn.data))
		return SL_OK;
	lrn.alpha = (float)sl__float(node, "alpha", 1e-4);
	lrn.beta = (float)sl__float(node, "beta", .75);
	lrn.bias = (float)sl__float(node, "bias", 1);
	rc = sl__dnnl_attr(&attr, err);
	if (rc)
		return rc;
	status = sl__dnnl_lrn_pd(&pd, &lrn, attr, pl->program->dnnl->engine);
	dnnl_primitive_attr_destroy(attr);
	return finish(pl, &n, status, pd, is_made, err);
}
