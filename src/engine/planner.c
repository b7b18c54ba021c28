/* SPDX-License-Identifier: Apache-2.0 */
/*
 * planner.c - buffers, versions and steps while a program is made.
 *
 * A value may lie in memory in several layouts at once: as its maker left it,
 * and as readers wanted it.  How many uses of a buffer are still to come is
 * counted over all values that lie in it, so that a step knows whether it may
 * write over what it reads.
 */
#include "base/status.h"
#include "engine/constants.h"
#include "engine/dnnl_context.h"
#include "engine/lowering.h"
#include "engine/reorder.h"
#include "ops/cost.h"

#include <string.h>

#include "base/banned.h"

int
sl__planner_keep_status(struct sl__planner *pl, enum sl_status rc)
{
	if (!pl->rc)
		pl->rc = rc;
	return !pl->rc;
}

int
sl__planner_fail_internal(struct sl__planner *pl, const char *text)
{
	return pl->rc ? 0
		      : sl__planner_keep_status(
				pl, sl__fail(pl->err, SL_E_BUG, "%s", text));
}

const struct sl__type *
sl__plan_value_type(const struct sl__planner *pl, uint32_t value)
{
	return &pl->shapes->types[value];
}

int
sl__plan_is_static(const struct sl__planner *pl, uint32_t value)
{
	const struct sl__type *type = sl__plan_value_type(pl, value);
	uint64_t n;

	return !pl->held[value].is_dynamic && type->kind == SL__TYPE_TENSOR &&
	       type->dtype != SL_DTYPE_NONE && type->dtype != SL_DTYPE_STRING &&
	       sl__type_elements(type, &n);
}

uint64_t
sl__plan_value_n_elements(const struct sl__planner *pl, uint32_t value)
{
	uint64_t n = 0;

	(void)sl__type_elements(sl__plan_value_type(pl, value), &n);
	return n;
}

uint64_t
sl__plan_value_bytes(const struct sl__planner *pl, uint32_t value)
{
	uint64_t n = 0;

	(void)sl__type_bytes(sl__plan_value_type(pl, value), &n);
	return n;
}

void
sl__plan_describe_value(const struct sl__planner *pl, uint32_t value,
			struct sl__runtime_value *out)
{
	const struct sl__type *type = sl__plan_value_type(pl, value);

	out->kind = SL__TYPE_TENSOR;
	out->tensor.dtype = type->dtype;
	out->tensor.rank = (size_t)type->rank;
	out->tensor.dims = type->dims;
	(void)sl__tensor_compute_size(&out->tensor);
}

uint32_t
sl__plan_node_input(const struct sl__node *node, size_t i)
{
	return i < node->n_inputs ? node->inputs[i] : SL__NONE;
}

uint32_t
sl__plan_node_output(const struct sl__node *node, size_t k)
{
	return k < node->n_outputs ? node->outputs[k] : SL__NONE;
}

const struct sl__layout *
sl__plan_value_layout(const struct sl__planner *pl, uint32_t value)
{
	const struct sl__planned_value *held = &pl->held[value];

	return held->n_versions ? held->versions[0].layout : NULL;
}

const struct sl__tensor *
sl__plan_constant_tensor(struct sl__planner *pl, uint32_t value)
{
	const struct sl__runtime_value *content;

	if (value == SL__NONE || !pl->graph->values[value].tensor ||
	    sl__evaluator_value(pl->program->evaluator, value, &content, NULL))
		return NULL;
	return &content->tensor;
}

/* Room for another element of a list of the program's; whether there is. */
static int
grow(struct sl__planner *pl, void *array, size_t n, size_t *cap, size_t n_bytes)
{
	if (!pl->rc &&
	    !sl__arena_grow(&pl->program->arena, array, n, cap, n_bytes))
		pl->rc = sl__fail_nomem(pl->err);
	return !pl->rc;
}

static uint32_t
add_buffer(struct sl__planner *pl, enum sl__memory_category category,
	   uint64_t n_bytes)
{
	struct sl__program *p = pl->program;
	uint32_t id = (uint32_t)p->n_buffers;

	if (!grow(pl, &p->buffers, id, &p->cap_buffers, sizeof(*p->buffers)) ||
	    !grow(pl, &pl->buffer_uses, id, &pl->cap_buffer_uses,
		  sizeof(*pl->buffer_uses)))
		return SL__NONE;
	p->buffers[id].category = category;
	p->buffers[id].n_bytes = n_bytes;
	p->buffers[id].base = id;
	p->n_buffers++;
	return id;
}

unsigned char *
sl__plan_buffer_data(const struct sl__planner *pl, uint32_t buffer)
{
	return pl->program->buffers[buffer].data;
}

uint32_t
sl__plan_workspace(struct sl__planner *pl, uint64_t n_bytes)
{
	return add_buffer(pl, SL__CATEGORY_WORKSPACE, n_bytes);
}

uint32_t
sl__plan_wrap_constant_data(struct sl__planner *pl, uint64_t n_bytes,
			    const unsigned char *data, int is_stored)
{
	uint32_t id = add_buffer(pl, SL__CATEGORY_CONSTANT, n_bytes);

	if (id != SL__NONE) {
		pl->program->buffers[id].data =
			(unsigned char *)(uintptr_t)data;
		pl->program->buffers[id].is_stored = is_stored;
	}
	return id;
}

uint32_t
sl__plan_persistent_buffer(struct sl__planner *pl, uint64_t n_bytes,
			   void **data)
{
	*data = pl->rc ? NULL
		       : sl__pages_alloc(pl->program->weights->pages, n_bytes);
	if (!*data && !pl->rc)
		pl->rc = sl__fail_nomem(pl->err);
	return sl__plan_wrap_constant_data(pl, n_bytes, *data, 0);
}

/* A label without memory is left out: it is but a name. */
static void
add_label(struct sl__planner *pl, uint32_t value, uint32_t base)
{
	struct sl__program *p = pl->program;
	struct sl__buffer_label *label =
		sl__arena_alloc(&p->arena, sizeof(*label));

	if (!label)
		return;
	*label = (struct sl__buffer_label){base, value, (uint32_t)p->n_steps,
					   p->labels};
	p->labels = label;
}

/* A version too many is not remembered: whoever wants that layout next makes it
 * anew, and nobody writes over it. */
static void
add_version(struct sl__planner *pl, uint32_t value,
	    const struct sl__layout *layout, uint32_t buffer)
{
	struct sl__planned_value *held = &pl->held[value];
	uint32_t base = pl->program->buffers[buffer].base;

	if (sl__plan_is_model_output(pl, value) && !layout &&
	    pl->program->buffers[base].category == SL__CATEGORY_ACTIVATION)
		pl->program->buffers[base].category = SL__CATEGORY_OUTPUT;
	if (pl->program->buffers[base].category != SL__CATEGORY_CONSTANT)
		add_label(pl, value, base);
	if (held->n_versions == SL__VERSIONS_MOST)
		return;
	if (pl->n_branches && !pl->graph->values[value].tensor) {
		if (!grow(pl, &pl->journal, pl->n_journal, &pl->cap_journal,
			  sizeof(*pl->journal)))
			return;
		pl->journal[pl->n_journal++] = value;
	}
	held->versions[held->n_versions].layout = layout;
	held->versions[held->n_versions].buffer = buffer;
	held->n_versions++;
	pl->buffer_uses[base] += held->uses_left;
}

void
sl__plan_forget_versions(struct sl__planner *pl, size_t n)
{
	while (pl->n_journal > n)
		pl->held[pl->journal[--pl->n_journal]].n_versions--;
}

static uint64_t
bytes_in(const struct sl__planner *pl, uint32_t value,
	 const struct sl__layout *layout)
{
	return layout ? sl__layout_bytes(layout)
		      : sl__plan_value_bytes(pl, value);
}

uint32_t
sl__plan_output_buffer(struct sl__planner *pl, uint32_t value,
		       const struct sl__layout *layout)
{
	uint32_t id = add_buffer(pl, SL__CATEGORY_ACTIVATION,
				 bytes_in(pl, value, layout));

	if (id != SL__NONE)
		add_version(pl, value, layout, id);
	return id;
}

/* How many versions of these values lie in the buffer, whole or in part. */
static uint32_t
n_versions_in(const struct sl__planner *pl, const uint32_t *values,
	      uint32_t n_values, uint32_t base)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < n_values; i++) {
		const struct sl__planned_value *held;

		if (values[i] == SL__NONE)
			continue;
		held = &pl->held[values[i]];
		for (uint32_t v = 0; v < held->n_versions; v++)
			n += pl->program->buffers[held->versions[v].buffer]
				     .base == base;
	}
	return n;
}

/* Whether the node under way reads the buffer, as one input alone, nobody
 * else does from now on, nor a part of it, and no other output of the node
 * has taken its place yet: one that nobody uses does not count as a use. */
static int
is_last_reader(const struct sl__planner *pl, uint32_t over)
{
	const struct sl__node *node = &pl->graph->nodes[pl->node];

	return pl->buffer_uses[over] == 1 &&
	       n_versions_in(pl, node->inputs, node->n_inputs, over) == 1 &&
	       !n_versions_in(pl, node->outputs, node->n_outputs, over);
}

uint32_t
sl__plan_output_in_place(struct sl__planner *pl, uint32_t value,
			 const struct sl__layout *layout, uint32_t over)
{
	const struct sl__buffer *b = pl->rc ? NULL
					    : &pl->program->buffers[over];

	if (!b || b->base != over || b->category != SL__CATEGORY_ACTIVATION ||
	    b->n_bytes != bytes_in(pl, value, layout) ||
	    !is_last_reader(pl, over))
		return sl__plan_output_buffer(pl, value, layout);
	add_version(pl, value, layout, over);
	return over;
}

/* A part of a buffer, which lies where that one does. */
static uint32_t
add_part(struct sl__planner *pl, uint32_t of, uint64_t offset_bytes,
	 uint64_t n_bytes)
{
	uint32_t view = add_buffer(pl, SL__CATEGORY_ACTIVATION, n_bytes);
	struct sl__buffer *b, *whole;

	if (view == SL__NONE)
		return view;
	b = &pl->program->buffers[view];
	whole = &pl->program->buffers[of];
	b->base = whole->base;
	b->category = whole->category;
	b->offset = offset_bytes + (whole->base == of ? 0 : whole->offset);
	b->is_stored = whole->is_stored;
	b->data = whole->data;
	if (b->category == SL__CATEGORY_CONSTANT && offset_bytes)
		b->data += offset_bytes;
	return view;
}

void
sl__plan_view(struct sl__planner *pl, uint32_t value, uint32_t of,
	      uint64_t offset_bytes)
{
	uint64_t n_bytes = sl__plan_value_bytes(pl, value), whole;

	if (pl->rc)
		return;
	whole = pl->program->buffers[of].n_bytes;
	if (offset_bytes > whole || n_bytes > whole - offset_bytes)
		pl->rc = sl__fail(pl->err, SL_E_DATA,
				  "its output is larger than its input");
	else if (offset_bytes || whole != n_bytes)
		of = add_part(pl, of, offset_bytes, n_bytes);
	sl__plan_alias(pl, value, NULL, of);
}

void
sl__plan_alias(struct sl__planner *pl, uint32_t value,
	       const struct sl__layout *layout, uint32_t of)
{
	if (!pl->rc)
		add_version(pl, value, layout, of);
}

static uint32_t
reorder(struct sl__planner *pl, uint32_t value, const struct sl__layout *layout)
{
	struct sl__value_version from = pl->held[value].versions[0];
	struct sl__value_version to = {
		layout, sl__plan_output_buffer(pl, value, layout)};

	sl__plan_reorder(pl, value, &from, &to);
	return to.buffer;
}

uint32_t
sl__plan_input_buffer(struct sl__planner *pl, uint32_t value,
		      const struct sl__layout *layout)
{
	const struct sl__planned_value *held = &pl->held[value];
	uint32_t id;

	for (uint32_t i = 0; i < held->n_versions; i++) {
		if (sl__layout_equal(held->versions[i].layout, layout))
			return held->versions[i].buffer;
	}
	if (pl->rc)
		return SL__NONE;
	if (!pl->graph->values[value].tensor && held->n_versions)
		return reorder(pl, value, layout);
	if (!pl->graph->values[value].tensor) {
		pl->rc = sl__fail(pl->err, SL_E_BUG,
				  "value '%.200s' is nowhere",
				  pl->graph->values[value].name);
		return SL__NONE;
	}
	if (!layout)
		return sl__plan_unpacked_constant(pl, value);
	id = sl__plan_packed_constant(pl, value, NULL, layout);
	sl__plan_alias(pl, value, layout, id);
	return id;
}

void *
sl__plan_alloc_state(struct sl__planner *pl, size_t n_bytes)
{
	void *state = pl->rc ? NULL
			     : sl__arena_alloc(&pl->program->arena, n_bytes);

	if (!state && !pl->rc)
		pl->rc = sl__fail_nomem(pl->err);
	return state;
}

static void
add_work(struct sl__step *step, const struct sl_cost *cost)
{
	step->core_flops += 2 * cost->macs;
	step->nominal_flops += sl_cost_operations(cost);
}

/* The work of the nodes that a step covers; its own where it is one of several
 * that do the work of a node. */
static void
count_work(const struct sl__planner *pl, uint32_t node, struct sl__step *step)
{
	const struct sl__covered_nodes *covers = &pl->program->covers[node];
	int is_part = 0;

	for (size_t i = 0; i < covers->n; i++) {
		if (pl->n_coverers[covers->nodes[i]] > 1)
			is_part = 1;
		else
			add_work(step, &pl->costs[covers->nodes[i]]);
	}
	if (is_part) {
		struct sl_cost own;

		sl__cost_node(pl->shapes, node, &own);
		add_work(step, &own);
	}
}

struct sl__step *
sl__plan_add_step(struct sl__planner *pl, const uint32_t *operands, uint32_t n,
		  const char *kernel, sl__run_function *run, void *state)
{
	struct sl__program *p = pl->program;
	struct sl__step *step;
	uint32_t *ids = sl__plan_alloc_state(pl, n * sizeof(*ids));
	unsigned char **at = sl__plan_alloc_state(pl, n * sizeof(*at));

	if (!grow(pl, &p->steps, p->n_steps, &p->cap_steps, sizeof(*p->steps)))
		return &pl->spare;
	step = &p->steps[p->n_steps++];
	*step = (struct sl__step){.kernel = kernel,
				  .run = run,
				  .state = state,
				  .operands = ids,
				  .at = at,
				  .n_operands = n};
	for (uint32_t i = 0; i < n; i++) {
		ids[i] = operands[i];
		step->n_bytes += p->buffers[operands[i]].n_bytes;
	}
	step->name = pl->node == SL__NONE ? ""
					  : pl->graph->nodes[pl->node].name;
	step->node = pl->node;
	step->path = SL_PATH_NATIVE;
	step->n_threads = p->n_threads;
	/* The model asks for a node's work once, however many steps it takes. */
	if (!pl->is_counted && pl->node != SL__NONE)
		count_work(pl, pl->node, step);
	pl->is_counted = 1;
	step->executed_flops = step->nominal_flops;
	return step;
}
