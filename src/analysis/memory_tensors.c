/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory_tensors.c - which tensors are in memory while a model runs.
 *
 * A run that was tracked has their lifetimes; without one, the plan's buffers
 * stand in.  Either way a tensor is named after the value that lies in it
 * first, and a result of the backward phase is a gradient.
 */
#include "analysis/memory_tensors.h"
#include "base/status.h"

#include "base/banned.h"

/* The value that was the first in the buffer when the tensor was born. */
static const char *
value_name(const struct sl__program *p, uint32_t base, size_t step)
{
	for (const struct sl__buffer_label *l = p->labels; l; l = l->next) {
		if (l->buffer == base && l->step <= step)
			return p->graph->values[l->value].name;
	}
	return NULL;
}

/* The model's input that lies in the buffer; NULL: none does. */
static const struct sl__value *
input_of(const struct sl__program *p, uint32_t buffer)
{
	const struct sl__block *model = &p->graph->blocks[0];

	for (size_t i = 0; i < model->n_inputs; i++) {
		if (p->inputs[i] == buffer)
			return &p->graph->values[model->inputs[i]];
	}
	return NULL;
}

/* A tensor as a tracker or a plan knows it. */
struct life {
	uint32_t buffer;
	uint64_t n_bytes;
	size_t step, first, last;
	int is_input, is_output;
};

static enum sl_memory_category
category_of(const struct sl__program *p, const struct life *life,
	    const struct sl__value *input)
{
	uint32_t node = p->steps[life->step].node;

	if (input)
		return input->kind == SL_VALUE_STATE ? SL_MEMORY_STATE
						     : SL_MEMORY_INPUT;
	if (life->is_input)
		return SL_MEMORY_INPUT;
	if (life->is_output)
		return SL_MEMORY_OUTPUT;
	if (p->buffers[p->buffers[life->buffer].base].category ==
	    SL__CATEGORY_WORKSPACE)
		return SL_MEMORY_WORKSPACE;
	return node != SL__NONE &&
			       p->graph->nodes[node].phase == SL_PHASE_BACKWARD
		       ? SL_MEMORY_GRADIENT
		       : SL_MEMORY_ACTIVATION;
}

static enum sl_status
fill(struct sl_memory_tensor *out, const struct sl__program *p,
     const struct life *life, struct sl__arena *arena, struct sl_error *err)
{
	const struct sl__value *input =
		life->is_input ? input_of(p, life->buffer) : NULL;
	const char *step = p->steps[life->step].name;
	const char *name = input ? input->name
				 : value_name(p, p->buffers[life->buffer].base,
					      life->step);

	out->category = category_of(p, life, input);
	out->n_bytes = life->n_bytes;
	out->first = life->first;
	out->last = life->last;
	out->name = name ? sl__arena_string(arena, name)
			 : sl__arena_format(arena, "workspace of %s",
					    step ? step : "");
	return out->name ? SL_OK : sl__fail_nomem(err);
}

enum sl_status
sl__memory_tensors_seen(struct sl_memory_use *out, const struct sl__program *p,
			const struct sl__tensor_lifetimes *seen,
			struct sl__arena *arena, struct sl_error *err)
{
	struct sl_memory_tensor *list =
		sl__arena_array(arena, seen->n_tensors, sizeof(*list));
	enum sl_status rc = SL_OK;
	size_t n = 0;

	if (!list)
		return sl__fail_nomem(err);
	for (size_t i = 0; !rc && i < seen->n_tensors; i++) {
		const struct sl__tensor_lifetime *t = &seen->tensors[i];
		struct life life = {
			.buffer = t->buffer,
			.n_bytes = sl__tensor_lifetime_line_bytes(t),
			.step = seen->steps[t->born],
			.first = t->born,
			.last = t->last < seen->n ? t->last : seen->n - 1,
			.is_input = t->is_input,
			.is_output = t->is_output};

		if (life.n_bytes && life.first < seen->n)
			rc = fill(&list[n++], p, &life, arena, err);
	}
	out->tensors = list;
	out->n_tensors = n;
	return rc;
}

enum sl_status
sl__memory_tensors_planned(struct sl_memory_use *out,
			   const struct sl__program *p, struct sl__arena *arena,
			   struct sl_error *err)
{
	struct sl_memory_tensor *list =
		sl__arena_array(arena, p->n_buffers, sizeof(*list));
	enum sl_status rc = SL_OK;
	size_t n = 0;

	if (!list)
		return sl__fail_nomem(err);
	for (uint32_t i = 0; !rc && i < p->n_buffers; i++) {
		const struct sl__buffer *b = &p->buffers[i];
		struct life life = {
			.buffer = i,
			.n_bytes = (b->n_bytes + 63) & ~UINT64_C(63),
			.step = b->first,
			.first = b->first,
			.last = b->last < p->n_steps ? b->last : p->n_steps - 1,
			.is_input = b->category == SL__CATEGORY_INPUT,
			.is_output = b->category == SL__CATEGORY_OUTPUT};

		if (b->base == i && b->category != SL__CATEGORY_CONSTANT &&
		    b->first <= b->last && life.n_bytes &&
		    b->first < p->n_steps)
			rc = fill(&list[n++], p, &life, arena, err);
	}
	out->tensors = list;
	out->n_tensors = n;
	return rc;
}
