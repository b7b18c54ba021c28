/* SPDX-License-Identifier: Apache-2.0 */
/* plan_values.c - what goes into a plan and what comes out of it. */
#include "base/dtype.h"
#include "base/hash.h"
#include "base/status.h"
#include "engine/plan.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/banned.h"

/* Values that have names for the caller, and what a wrong one is. */
struct names {
	const uint32_t *values;
	size_t n;
	const char *what;
	enum sl_status wrong;
};

/* The number of the value of that name; SIZE_MAX and *err where there is
 * none. */
static size_t
find(const struct sl_plan *plan, const struct names *all, const char *name,
     struct sl_error *err)
{
	const char *near = NULL;

	for (size_t i = 0; i < all->n; i++) {
		const char *known = plan->graph->values[all->values[i]].name;

		if (!strcmp(known, name))
			return i;
		near = sl_text_nearer(name, near, known);
	}
	if (all->n == 0)
		(void)sl__fail(err, all->wrong, "the model has no %s",
			       all->what);
	else
		(void)sl__fail(err, all->wrong,
			       near ? "the model has no %s '%.100s'; did you "
				      "mean '%.100s'?"
				    : "the model has no %s '%.100s'; its first "
				      "is '%.100s'",
			       all->what, name,
			       near ? near
				    : plan->graph->values[all->values[0]].name);
	return SIZE_MAX;
}

size_t
sl__plan_find_input(const struct sl_plan *plan, const char *name,
		    struct sl_error *err)
{
	const struct sl__block *b = &plan->graph->blocks[0];
	struct names all = {b->inputs, b->n_inputs, "input", SL_E_DATA};

	return find(plan, &all, name, err);
}

size_t
sl__plan_find_output(const struct sl_plan *plan, const char *name,
		     struct sl_error *err)
{
	const struct sl__block *b = &plan->graph->blocks[0];
	struct names all = {b->outputs, b->n_outputs, "output", SL_E_USAGE};

	return find(plan, &all, name, err);
}

int
sl__type_dims_equal(const struct sl__type *type, size_t rank,
		    const int64_t *dims)
{
	return type->rank == (int)rank &&
	       (rank == 0 || !memcmp(type->dims, dims, rank * sizeof(*dims)));
}

/* Sizes that the model fixes must be those. */
static enum sl_status
check_sizes(const struct sl_plan *plan, uint32_t value,
	    const struct sl__tensor *t, struct sl_error *err)
{
	const struct sl__type *d = &plan->graph->values[value].declared;
	const char *name = plan->graph->values[value].name;

	if (d->kind != SL__TYPE_TENSOR)
		return SL_OK;
	if (d->dtype != SL_DTYPE_NONE && d->dtype != t->dtype)
		return sl__fail(
			err, SL_E_DATA, "input '%.200s' takes %s, not %s", name,
			sl_dtype_text(d->dtype), sl_dtype_text(t->dtype));
	if (d->rank >= 0 && (size_t)d->rank != t->rank)
		return sl__fail(err, SL_E_DATA,
				"input '%.200s' has %d dimensions, not %zu",
				name, d->rank, t->rank);
	for (int i = 0; i < d->rank; i++) {
		if (!sl__is_symbol(d->dims[i]) && d->dims[i] != t->dims[i])
			return sl__fail(err, SL_E_DATA,
					"dimension %d of input '%.200s' is "
					"%lld, not %lld",
					i, name, (long long)d->dims[i],
					(long long)t->dims[i]);
	}
	return SL_OK;
}

static enum sl_status
check_numbers(const struct sl_plan *plan, uint32_t value,
	      const struct sl__tensor *t, struct sl_error *err)
{
	double x;

	if (plan->options.nan_policy != SL_NAN_REFUSED ||
	    sl__dtype_family(t->dtype) != SL__DTYPE_FLOAT)
		return SL_OK;
	for (uint64_t i = 0; i < t->n_elements; i++) {
		if (sl__tensor_doubles(t, i, 1, &x) && isnan(x))
			return sl__fail(err, SL_E_DATA,
					"element %llu of input '%.200s' is "
					"not a number",
					(unsigned long long)i,
					plan->graph->values[value].name);
	}
	return SL_OK;
}

enum sl_status
sl__plan_set_input(struct sl_plan *plan, size_t input,
		   const struct sl__runtime_value *value, struct sl_error *err)
{
	uint32_t id = plan->graph->blocks[0].inputs[input];
	struct sl__program *p = plan->current;
	struct sl__plan_input *given = &plan->given[input];
	const struct sl__tensor *t = &value->tensor;
	enum sl_status rc = SL_OK;

	if (value->kind == SL__TYPE_TENSOR) {
		rc = check_sizes(plan, id, t, err);
		if (!rc)
			rc = check_numbers(plan, id, t, err);
	}
	if (rc)
		return rc;
	if (value->kind == SL__TYPE_TENSOR && p->inputs[input] != SL__NONE &&
	    sl__type_dims_equal(&p->shapes->types[id], t->rank, t->dims)) {
		if (t->n_bytes)
			memcpy(p->buffers[p->inputs[input]].data, t->bytes,
			       (size_t)t->n_bytes);
		sl__runtime_value_clear(&given->content,
					plan->options.allocator);
		given->is_set = 1;
		return SL_OK;
	}
	rc = sl__runtime_value_copy(&given->content, value,
				    plan->options.allocator, err);
	if (rc)
		return rc;
	given->is_set = 1;
	/* What the evaluator holds may still decide sizes that are planned. */
	if (p->inputs[input] != SL__NONE ||
	    (value->kind == SL__TYPE_TENSOR &&
	     !sl__type_dims_equal(&p->shapes->types[id], t->rank, t->dims)))
		plan->needs_program = 1;
	return SL_OK;
}

enum sl_status
sl_plan_set_input(struct sl_plan *plan, const char *name,
		  const struct sl_array *value, struct sl_error *err)
{
	size_t input = sl__plan_find_input(plan, name, err);
	struct sl__runtime_value content = {.kind = SL__TYPE_TENSOR};

	if (input == SIZE_MAX)
		return SL_E_DATA;
	content.tensor.dtype = value->dtype;
	content.tensor.rank = value->rank;
	content.tensor.dims = value->dims;
	content.tensor.bytes = value->data;
	content.tensor.strings = value->strings;
	if (value->rank > SL__RANK_MOST ||
	    !sl__tensor_compute_size(&content.tensor))
		return sl__fail(err, SL_E_DATA,
				"input '%.200s': impossible sizes", name);
	if (content.tensor.n_elements &&
	    (value->dtype == SL_DTYPE_STRING ? !value->strings : !value->data))
		return sl__fail(err, SL_E_USAGE, "input '%.200s': no data",
				name);
	return sl__plan_set_input(plan, input, &content, err);
}

static void
describe(struct sl__runtime_value *out, const struct sl__type *type,
	 const unsigned char *bytes)
{
	memset(out, 0, sizeof(*out));
	out->kind = SL__TYPE_TENSOR;
	out->tensor.dtype = type->dtype;
	out->tensor.rank = (size_t)type->rank;
	out->tensor.dims = type->dims;
	out->tensor.bytes = bytes;
	(void)sl__tensor_compute_size(&out->tensor);
}

enum sl_status
sl__plan_output_value(struct sl_plan *plan, size_t k,
		      struct sl__runtime_value *out, struct sl_error *err)
{
	const struct sl__program *p = plan->current;
	uint32_t id = plan->graph->blocks[0].outputs[k];
	const struct sl__type *t = &p->shapes->types[id];
	const struct sl__runtime_value *held;
	enum sl_status rc;

	memset(out, 0, sizeof(*out));
	if (!plan->has_run)
		return sl__fail(err, SL_E_USAGE,
				"outputs are there after a run that "
				"succeeded; there was none, or sizes have "
				"changed since");
	if (p->outputs[k] == SL__NONE) {
		rc = sl__evaluator_value(p->evaluator, id, &held, err);
		if (rc)
			return rc;
		*out = *held;
		out->block = NULL;
		return SL_OK;
	}
	describe(out, t, p->buffers[p->outputs[k]].data);
	return SL_OK;
}

static void
show(const struct sl__runtime_value *content, struct sl_array *out)
{
	const struct sl__tensor *t = &content->tensor;

	memset(out, 0, sizeof(*out));
	if (content->kind != SL__TYPE_TENSOR) {
		out->n_elements = content->n_items;
		return;
	}
	out->dtype = t->dtype;
	out->rank = t->rank;
	out->dims = t->dims;
	out->data = t->bytes;
	out->strings = t->strings;
	out->n_elements = t->n_elements;
	out->n_bytes = t->n_bytes;
}

enum sl_status
sl_plan_input(struct sl_plan *plan, const char *name, struct sl_array *out,
	      void **data, struct sl_error *err)
{
	size_t i = sl__plan_find_input(plan, name, err);
	const struct sl__program *p;
	struct sl__runtime_value content;
	enum sl_status rc;

	memset(out, 0, sizeof(*out));
	if (data)
		*data = NULL;
	if (i == SIZE_MAX)
		return SL_E_DATA;
	rc = sl__plan_select_program(plan, err);
	if (rc)
		return rc;
	p = plan->current;
	if (p->inputs[i] == SL__NONE)
		return sl__fail(err, SL_E_USAGE,
				"input '%.200s' is no tensor of numbers whose "
				"sizes are known",
				name);
	describe(&content, &p->shapes->types[plan->graph->blocks[0].inputs[i]],
		 p->buffers[p->inputs[i]].data);
	show(&content, out);
	if (data) {
		*data = p->buffers[p->inputs[i]].data;
		plan->given[i].is_set = 1;
	}
	return SL_OK;
}

enum sl_status
sl_plan_output(struct sl_plan *plan, const char *name, struct sl_array *out,
	       struct sl_error *err)
{
	size_t k = sl__plan_find_output(plan, name, err);
	struct sl__runtime_value content;
	enum sl_status rc;

	memset(out, 0, sizeof(*out));
	if (k == SIZE_MAX)
		return SL_E_USAGE;
	rc = sl__plan_output_value(plan, k, &content, err);
	if (!rc)
		show(&content, out);
	return rc;
}

enum sl_status
sl_plan_output_item(struct sl_plan *plan, const char *name, size_t item,
		    struct sl_array *out, struct sl_error *err)
{
	size_t k = sl__plan_find_output(plan, name, err);
	struct sl__runtime_value content;
	enum sl_status rc;

	memset(out, 0, sizeof(*out));
	if (k == SIZE_MAX)
		return SL_E_USAGE;
	rc = sl__plan_output_value(plan, k, &content, err);
	if (rc)
		return rc;
	if (content.kind == SL__TYPE_TENSOR || item >= content.n_items)
		return sl__fail(err, SL_E_USAGE,
				"output '%.200s' has no item %zu", name, item);
	show(&content.items[item], out);
	return SL_OK;
}

const char *
sl_path_text(enum sl_path path)
{
	static const char *const texts[] = {"oneDNN", "native", "reference",
					    "stepwise"};

	return (size_t)path < sizeof(texts) / sizeof(*texts) ? texts[path]
							     : "unknown";
}

size_t
sl_plan_n_steps(const struct sl_plan *plan)
{
	return plan->current->n_steps;
}

int
sl_plan_step(const struct sl_plan *plan, size_t i, struct sl_step *out)
{
	const struct sl__program *p = plan->current;
	const struct sl__step *step;

	if (i >= p->n_steps)
		return 0;
	step = &p->steps[i];
	memset(out, 0, sizeof(*out));
	out->name = step->name;
	out->type = step->node == SL__NONE ? "Reorder"
					   : p->graph->nodes[step->node].type;
	out->kernel = step->kernel;
	out->path = step->path;
	out->covers = p->covered + p->first_covered[i];
	out->n_covers = p->first_covered[i + 1] - p->first_covered[i];
	out->core_flops = step->core_flops;
	out->nominal_flops = step->nominal_flops;
	out->executed_flops = step->executed_flops;
	out->n_bytes = step->n_bytes;
	return 1;
}

void
sl_plan_memory(const struct sl_plan *plan, struct sl_plan_memory *out)
{
	const struct sl__program *p = plan->current;

	memset(out, 0, sizeof(*out));
	out->live_bytes = p->bound_bytes;
	out->planned_bytes = p->block_bytes;
	out->weight_bytes = p->constant_bytes;
	for (size_t i = 0; i < p->n_buffers; i++) {
		if (p->buffers[i].is_stored && p->buffers[i].base == i)
			out->mapped_bytes += p->buffers[i].n_bytes;
	}
}

const char *
sl__plan_choices_hash(const struct sl_plan *plan, struct sl__arena *arena)
{
	const struct sl__program *p = plan->current;
	uint64_t hash = 0;

	for (size_t i = 0; i < p->n_steps; i++) {
		const struct sl__step *s = &p->steps[i];

		hash = sl__hash(s->name, strlen(s->name), hash);
		hash = sl__hash(s->kernel, strlen(s->kernel), hash);
	}
	return sl__arena_format(arena, "%016" PRIx64, hash);
}

int
sl_plan_n_threads(const struct sl_plan *plan)
{
	return plan->current->n_threads;
}
