/* SPDX-License-Identifier: Apache-2.0 */
/* dnnl_step.c - primitives of oneDNN as steps of a program. */
#include "base/status.h"
#include "compute/parallel.h"
#include "engine/compile.h"
#include "engine/constants.h"
#include "engine/dnnl_layout.h"
#include "engine/dnnl_primitive_desc.h"
#include "engine/reorder.h"

#include <string.h>

#include "base/banned.h"

struct primitive {
	dnnl_stream_t stream;
	dnnl_engine_t engine;
	dnnl_primitive_desc_t pd;
	dnnl_primitive_t primitive;
	dnnl_exec_arg_t *args;
	const_dnnl_memory_desc_t *mds;
	uint32_t n;
};

static void
release(struct sl__step *step)
{
	struct primitive *p = step->state;

	for (uint32_t i = 0; i < p->n; i++)
		dnnl_memory_destroy(p->args[i].memory);
	dnnl_primitive_destroy(p->primitive);
	dnnl_primitive_desc_destroy(p->pd);
}

static enum sl_status
bind(struct sl__step *step, struct sl_error *err)
{
	struct primitive *p = step->state;
	dnnl_status_t status = dnnl_success;

	for (uint32_t i = 0; !status && i < p->n; i++)
		status = dnnl_memory_create(&p->args[i].memory, p->mds[i],
					    p->engine, step->at[i]);
	return sl__dnnl_status(status, "a memory object", err);
}

static enum sl_status
run(struct sl__step *step, struct sl_error *err)
{
	const struct primitive *p = step->state;

	return sl__dnnl_status(dnnl_primitive_execute(p->primitive, p->stream,
						      (int)p->n, p->args),
			       "running a primitive", err);
}

/* On as many threads as the step says, where these are fewer than all. */
static enum sl_status
run_on_fewer(struct sl__step *step, struct sl_error *err)
{
	int before = sl__parallel_set_threads(step->n_threads);
	enum sl_status rc = run(step, err);

	sl__parallel_set_threads(before);
	return rc;
}

static void
add_args(struct sl__planner *pl, struct primitive *p,
	 const struct sl__dnnl_arg *args, uint32_t n, uint32_t *operands)
{
	const_dnnl_memory_desc_t scratch = dnnl_primitive_desc_query_md(
		p->pd, dnnl_query_scratchpad_md, 0);
	size_t n_bytes = scratch ? dnnl_memory_desc_get_size(scratch) : 0;

	p->args = sl__plan_alloc_state(pl, (n + 1) * sizeof(*p->args));
	p->mds = sl__plan_alloc_state(pl, (n + 1) * sizeof(*p->mds));
	if (pl->rc)
		return;
	for (uint32_t i = 0; i < n; i++) {
		p->args[i].arg = args[i].arg;
		p->mds[i] = sl__dnnl_keep_md(pl, args[i].md);
		operands[i] = args[i].buffer;
	}
	p->n = n;
	if (!n_bytes)
		return;
	p->args[n].arg = DNNL_ARG_SCRATCHPAD;
	p->mds[n] = sl__dnnl_keep_md(pl, scratch);
	p->n++;
	operands[n] = sl__plan_workspace(pl, n_bytes);
}

enum { ARGS_MOST = 40 }; /* with post-ops: no primitive here has more */

struct sl__step *
sl__plan_dnnl_primitive(struct sl__planner *pl, dnnl_primitive_desc_t pd,
			const struct sl__dnnl_arg *args, uint32_t n)
{
	struct primitive *p = sl__plan_alloc_state(pl, sizeof(*p));
	uint32_t operands[ARGS_MOST];
	struct sl__step *step;

	if (!pd)
		sl__planner_keep_dnnl_status(pl, dnnl_unimplemented,
					     "primitive");
	if (n >= ARGS_MOST)
		sl__planner_fail_internal(pl, "too many operands");
	if (!pl->rc) {
		p->pd = pd;
		p->engine = pl->program->dnnl->engine;
		p->stream = pl->program->dnnl->stream;
		add_args(pl, p, args, n, operands);
	}
	if (pl->rc) {
		dnnl_primitive_desc_destroy(pd);
		return &pl->spare;
	}
	step = sl__plan_add_step(pl, operands, p->n,
				 sl__dnnl_implementation_name(pd), run, p);
	step->path = SL_PATH_DNNL;
	step->bind = bind;
	step->release = release;
	if (pl->rc)
		dnnl_primitive_desc_destroy(pd);
	else
		sl__planner_keep_dnnl_status(
			pl, dnnl_primitive_create(&p->primitive, pd),
			"a primitive");
	return step;
}

/* What own kernels do; 0: they cannot. */
static int
read_reordering(struct sl__reordering *out, const_dnnl_memory_desc_t from,
		const_dnnl_memory_desc_t to)
{
	struct sl__dnnl_md_parts x = sl__dnnl_md_parts(from);
	struct sl__dnnl_md_parts y = sl__dnnl_md_parts(to);

	*out = (struct sl__reordering){.rank = x.n_dims,
				       .from_dtype =
					       sl__dtype_from_dnnl(x.type),
				       .to_dtype = sl__dtype_from_dnnl(y.type)};
	if (!x.is_strided || !y.is_strided || x.n_blocks || y.n_blocks ||
	    x.n_dims != y.n_dims)
		return 0;
	for (int d = 0; d < x.n_dims; d++) {
		out->dims[d] = x.dims[d];
		out->from[d] = x.strides[d];
		out->to[d] = y.strides[d];
	}
	return 1;
}

/* How many elements lie side by side. */
static int64_t
run_length(const struct sl__reordering *r, const int64_t *strides)
{
	for (int64_t d = 0; d < r->rank; d++) {
		if (strides[d] == 1 && r->dims[d] > 1)
			return r->dims[d];
	}
	return 1;
}

/* Own kernels transpose four bytes in registers, where oneDNN moves elements
 * one by one; of few channels (images of colours) oneDNN's are faster. */
static int
is_own_transpose(const struct sl__reordering *r)
{
	return r->from_dtype == SL_DTYPE_F32 && r->to_dtype == SL_DTYPE_F32 &&
	       run_length(r, r->from) >= 16 && run_length(r, r->to) >= 16;
}

/*
 * oneDNN gives all threads a part of whatever it reorders, and decides that
 * where the description is made.  Few bytes are moved by one in less time than
 * the others take to start and to fetch them from its cache.
 */
static void
plan_dnnl_reorder(struct sl__planner *pl, uint32_t value,
		  const struct sl__dnnl_arg *args)
{
	int n_threads = sl__threads_for_bytes(
		pl->program->n_threads,
		dnnl_memory_desc_get_size(args[0].md) +
			dnnl_memory_desc_get_size(args[1].md));
	int before = sl__parallel_set_threads(n_threads);
	dnnl_primitive_desc_t pd =
		sl__dnnl_reorder_pd(pl, args[0].md, args[1].md);
	struct sl__step *step = sl__plan_dnnl_primitive(pl, pd, args, 2);

	sl__parallel_set_threads(before);
	if (n_threads < step->n_threads) {
		step->n_threads = n_threads;
		step->run = run_on_fewer;
	}
	sl__plan_mark_reorder(pl, step, value);
}

void
sl__plan_reorder(struct sl__planner *pl, uint32_t value,
		 const struct sl__value_version *from,
		 const struct sl__value_version *to)
{
	struct sl__dnnl_arg args[2] = {{DNNL_ARG_FROM, from->buffer, NULL},
				       {DNNL_ARG_TO, to->buffer, NULL}};
	const uint32_t operands[2] = {from->buffer, to->buffer};
	struct sl__reordering r;
	int is_counted = pl->is_counted, can_own;

	if (!sl__layout_md(pl, value, from->layout, &args[0].md) ||
	    !sl__layout_md(pl, value, to->layout, &args[1].md)) {
		sl__planner_fail_internal(pl,
					  "a value cannot change its layout");
		return;
	}
	can_own = read_reordering(&r, args[0].md, args[1].md);
	if (!can_own && !sl__dnnl_is_allowed()) {
		sl__planner_fail_internal(pl, "a layout has blocks");
		return;
	}
	if (can_own && (!sl__dnnl_is_allowed() || is_own_transpose(&r))) {
		sl__plan_native_reorder(pl, value, &r, operands);
		return;
	}
	plan_dnnl_reorder(pl, value, args);
	pl->is_counted = is_counted;
}

/* Runs a reorder on addresses, unless there is nothing to take from; the third
 * is its scratchpad. */
static dnnl_status_t
execute_now(const struct sl__dnnl_context *dnnl, dnnl_primitive_t primitive,
	    const const_dnnl_memory_desc_t *mds, void *const *data)
{
	dnnl_exec_arg_t args[3] = {
		{.arg = DNNL_ARG_FROM},
		{.arg = DNNL_ARG_TO},
		{.arg = DNNL_ARG_SCRATCHPAD},
	};
	dnnl_status_t status = dnnl_success;

	for (int i = 0; !status && i < 3; i++)
		status = dnnl_memory_create(&args[i].memory, mds[i],
					    dnnl->engine, data[i]);
	if (!status && data[0])
		status = dnnl_primitive_execute(primitive, dnnl->stream, 3,
						args);
	if (!status && data[0])
		status = dnnl_stream_wait(dnnl->stream);
	for (int i = 0; i < 3; i++)
		dnnl_memory_destroy(args[i].memory);
	return status;
}

int
sl__dnnl_reorder_now(struct sl__planner *pl, const_dnnl_memory_desc_t from_md,
		     const void *from, const_dnnl_memory_desc_t to_md, void *to)
{
	const_dnnl_memory_desc_t mds[3] = {from_md, to_md, NULL};
	int is_dry = (pl->options->flags & SL__PLAN_DRY) != 0;
	void *data[3] = {is_dry ? NULL : (void *)(uintptr_t)from, to,
			 DNNL_MEMORY_ALLOCATE};
	dnnl_primitive_desc_t pd;
	dnnl_primitive_t primitive = NULL;
	dnnl_status_t status = dnnl_unimplemented;
	struct sl__reordering r;
	int is_own = !sl__dnnl_is_allowed();

	if (is_own && !pl->rc && read_reordering(&r, from_md, to_md)) {
		if (!is_dry)
			sl__reorder_now(&r, from, to);
		return 1;
	}
	pd = pl->rc || is_own ? NULL : sl__dnnl_reorder_pd(pl, from_md, to_md);
	if (pd) {
		mds[2] = dnnl_primitive_desc_query_md(
			pd, dnnl_query_scratchpad_md, 0);
		status = dnnl_primitive_create(&primitive, pd);
	}
	if (!status)
		status = execute_now(pl->program->dnnl, primitive, mds, data);
	dnnl_primitive_destroy(primitive);
	dnnl_primitive_desc_destroy(pd);
	return sl__planner_keep_dnnl_status(pl, status, "a reorder");
}

/* A constant from one layout to another, which others know by digests. */
struct reordering {
	struct sl__digest from, to;
	int is_private; /* oneDNN does not say enough of them */
	uint32_t value;
	const struct sl__layout *as, *layout; /* while planning */
};

static int
pack_reordered(struct sl__planner *pl, const void *how, const void *from,
	       void *to)
{
	const struct reordering *r = how;
	const_dnnl_memory_desc_t from_md, to_md;

	if (sl__layout_md(pl, r->value, r->as, &from_md) &&
	    sl__layout_md(pl, r->value, r->layout, &to_md))
		return sl__dnnl_reorder_now(pl, from_md, from, to_md, to);
	return sl__planner_fail_internal(pl, "a constant cannot be packed");
}

static int
is_same_reordering(const void *a, const void *b)
{
	const struct reordering *x = a, *y = b;

	return !x->is_private && !y->is_private &&
	       !memcmp(&x->from, &y->from, sizeof(x->from)) &&
	       !memcmp(&x->to, &y->to, sizeof(x->to));
}

uint32_t
sl__plan_packed_constant(struct sl__planner *pl, uint32_t value,
			 const struct sl__layout *as,
			 const struct sl__layout *layout)
{
	struct reordering how = {.value = value, .as = as, .layout = layout};
	struct sl__packing packing = {pack_reordered, is_same_reordering, &how,
				      sizeof(how), 0};

	if (pl->rc)
		return SL__NONE;
	packing.n_bytes = sl__layout_bytes(layout);
	how.is_private = !sl__layout_digest(pl, value, as, &how.from) ||
			 !sl__layout_digest(pl, value, layout, &how.to);
	return sl__plan_constant_packed_by(pl, value, &packing);
}
