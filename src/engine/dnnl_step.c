/* SPDX-License-Identifier: Apache-2.0 */
/* dnnl_step.c - primitives of oneDNN as steps of a program. */
#include "base/status.h"
#include "engine/dnnl_form.h"
#include "engine/dnnl_make.h"

#include <string.h>

#include "base/banned.h"

struct primitive {
	dnnl_stream_t stream;
	dnnl_engine_t engine;
	dnnl_primitive_desc_t pd;
	dnnl_primitive_t primitive;
	dnnl_exec_arg_t *args;
	dnnl_memory_desc_t *mds;
	uint32_t n;
};

static void
release(struct sl__step *step)
{
	struct primitive *p = step->state;

	for (uint32_t i = 0; i < p->n; i++) {
		if (p->args[i].memory)
			dnnl_memory_destroy(p->args[i].memory);
	}
	if (p->primitive)
		dnnl_primitive_destroy(p->primitive);
	dnnl_primitive_desc_destroy(p->pd);
}

static enum sl_status
bind(struct sl__step *step, struct sl_error *err)
{
	struct primitive *p = step->state;
	enum sl_status rc = SL_OK;

	for (uint32_t i = 0; !rc && i < p->n; i++)
		rc = sl__dnnl_check(dnnl_memory_create(&p->args[i].memory,
						       &p->mds[i], p->engine,
						       step->at[i]),
				    "a memory object", err);
	return rc;
}

static enum sl_status
run(struct sl__step *step, struct sl_error *err)
{
	const struct primitive *p = step->state;

	return sl__dnnl_check(dnnl_primitive_execute(p->primitive, p->stream,
						     (int)p->n, p->args),
			      "running a primitive", err);
}

static enum sl_status
add_args(struct sl__planner *pl, struct primitive *p,
	 const struct sl__dnnl_arg *args, uint32_t n, uint32_t *operands,
	 struct sl_error *err)
{
	const dnnl_memory_desc_t *scratch = dnnl_primitive_desc_query_md(
		p->pd, dnnl_query_scratchpad_md, 0);
	size_t n_bytes = scratch ? dnnl_memory_desc_get_size(scratch) : 0;

	p->args = sl__plan_state(pl, (n + 1) * sizeof(*p->args));
	p->mds = sl__plan_state(pl, (n + 1) * sizeof(*p->mds));
	if (!p->args || !p->mds)
		return sl__fail_nomem(err);
	for (uint32_t i = 0; i < n; i++) {
		p->args[i].arg = args[i].arg;
		p->mds[i] = args[i].md;
		operands[i] = args[i].buffer;
	}
	p->n = n;
	if (!n_bytes)
		return SL_OK;
	p->args[n].arg = DNNL_ARG_SCRATCHPAD;
	p->mds[n] = *scratch;
	p->n++;
	return sl__plan_workspace(pl, n_bytes, &operands[n], err);
}

enum { ARGS_MOST = 40 }; /* with post-ops: no primitive here has more */

enum sl_status
sl__dnnl_step(struct sl__planner *pl, dnnl_primitive_desc_t pd,
	      const struct sl__dnnl_arg *args, uint32_t n,
	      struct sl__step **out, struct sl_error *err)
{
	struct primitive *p = sl__plan_state(pl, sizeof(*p));
	uint32_t operands[ARGS_MOST];
	enum sl_status rc;

	*out = NULL;
	if (!p || n >= ARGS_MOST) {
		dnnl_primitive_desc_destroy(pd);
		return sl__fail_nomem(err);
	}
	p->pd = pd;
	p->engine = pl->program->dnnl->engine;
	p->stream = pl->program->dnnl->stream;
	rc = add_args(pl, p, args, n, operands, err);
	if (!rc)
		rc = sl__plan_step(pl, operands, p->n, out, err);
	if (rc) {
		dnnl_primitive_desc_destroy(pd);
		return rc;
	}
	(*out)->kernel = sl__dnnl_name(pd);
	(*out)->path = SL_PATH_DNNL;
	(*out)->state = p;
	(*out)->run = run;
	(*out)->bind = bind;
	(*out)->release = release;
	return sl__dnnl_check(dnnl_primitive_create(&p->primitive, pd),
			      "a primitive", err);
}

enum sl_status
sl__dnnl_attr(dnnl_primitive_attr_t *out, struct sl_error *err)
{
	enum sl_status rc = sl__dnnl_check(dnnl_primitive_attr_create(out),
					   "an attribute", err);

	if (rc)
		return rc;
	rc = sl__dnnl_check(dnnl_primitive_attr_set_scratchpad_mode(
				    *out, dnnl_scratchpad_mode_user),
			    "a scratchpad mode", err);
	if (rc)
		dnnl_primitive_attr_destroy(*out);
	return rc;
}

static enum sl_status
reorder_pd(dnnl_primitive_desc_t *pd, struct sl__dnnl *dnnl,
	   const dnnl_memory_desc_t *from, const dnnl_memory_desc_t *to,
	   struct sl_error *err)
{
	dnnl_primitive_attr_t attr;
	enum sl_status rc = sl__dnnl_attr(&attr, err);

	if (rc)
		return rc;
	rc = sl__dnnl_check(
		sl__dnnl_reorder_pd(pd, from, to, attr, dnnl->engine),
		"a reorder", err);
	dnnl_primitive_attr_destroy(attr);
	return rc;
}

enum sl_status
sl__dnnl_reorder_step(struct sl__planner *pl, uint32_t value,
		      const struct sl__version *from,
		      const struct sl__version *to, struct sl_error *err)
{
	struct sl__dnnl_arg args[2] = {{DNNL_ARG_FROM, from->buffer, {0}},
				       {DNNL_ARG_TO, to->buffer, {0}}};
	dnnl_primitive_desc_t pd;
	struct sl__step *step;
	int is_counted = pl->is_counted;
	enum sl_status rc;

	if (!sl__form_md(pl, value, from->form, &args[0].md) ||
	    !sl__form_md(pl, value, to->form, &args[1].md))
		return sl__fail(err, SL_E_BUG,
				"a value cannot change its form");
	rc = reorder_pd(&pd, pl->program->dnnl, &args[0].md, &args[1].md, err);
	if (!rc)
		rc = sl__dnnl_step(pl, pd, args, 2, &step, err);
	if (rc)
		return rc;
	/* The work is the node's, for whose sake this is done. */
	pl->is_counted = is_counted;
	step->node = SL__NONE;
	step->core_flops = step->nominal_flops = step->executed_flops = 0;
	step->name = sl__arena_format(&pl->program->arena, "reorder %s",
				      pl->graph->values[value].name);
	return step->name ? SL_OK : sl__fail_nomem(err);
}

struct at_once {
	dnnl_primitive_t primitive;
	dnnl_memory_t memories[3];
};

static enum sl_status
execute_now(struct sl__dnnl *dnnl, struct at_once *now,
	    const dnnl_memory_desc_t *const *mds, void *const *data,
	    struct sl_error *err)
{
	dnnl_exec_arg_t args[3] = {
		{.arg = DNNL_ARG_FROM},
		{.arg = DNNL_ARG_TO},
		{.arg = DNNL_ARG_SCRATCHPAD},
	};
	enum sl_status rc = SL_OK;

	for (int i = 0; !rc && i < 3; i++) {
		rc = sl__dnnl_check(dnnl_memory_create(&now->memories[i],
						       mds[i], dnnl->engine,
						       data[i]),
				    "a memory object", err);
		args[i].memory = now->memories[i];
	}
	if (!rc)
		rc = sl__dnnl_check(dnnl_primitive_execute(now->primitive,
							   dnnl->stream, 3,
							   args),
				    "a reorder", err);
	return rc ? rc
		  : sl__dnnl_check(dnnl_stream_wait(dnnl->stream), "a reorder",
				   err);
}

enum sl_status
sl__dnnl_reorder_now(struct sl__dnnl *dnnl, const dnnl_memory_desc_t *from_md,
		     const void *from, const dnnl_memory_desc_t *to_md,
		     void *to, struct sl_error *err)
{
	struct at_once now = {0};
	const dnnl_memory_desc_t *mds[3] = {from_md, to_md, NULL};
	void *data[3] = {(void *)(uintptr_t)from, to, DNNL_MEMORY_ALLOCATE};
	dnnl_primitive_desc_t pd;
	enum sl_status rc = reorder_pd(&pd, dnnl, from_md, to_md, err);

	if (rc)
		return rc;
	mds[2] = dnnl_primitive_desc_query_md(pd, dnnl_query_scratchpad_md, 0);
	rc = sl__dnnl_check(dnnl_primitive_create(&now.primitive, pd),
			    "a reorder", err);
	if (!rc)
		rc = execute_now(dnnl, &now, mds, data, err);
	for (int i = 0; i < 3; i++) {
		if (now.memories[i])
			dnnl_memory_destroy(now.memories[i]);
	}
	if (now.primitive)
		dnnl_primitive_destroy(now.primitive);
	dnnl_primitive_desc_destroy(pd);
	return rc;
}
