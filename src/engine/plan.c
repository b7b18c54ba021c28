/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plan.c - a model made ready, for one set of sizes after another.
 *
 * A program is made for one set of sizes.  When an input comes with others,
 * the plan looks whether it has a program for them, and makes one if not.
 */
#include "engine/plan.h"
#include "base/option_struct.h"
#include "base/status.h"
#include "base/thread.h"
#include "engine/choice_evidence.h"
#include "engine/dnnl_choice.h"
#include "machine/platform.h"
#include "model/inputs.h"
#include "sleuth/observing.h"

#include <string.h>

#include "base/banned.h"

static const struct sl__block *
model_of(const struct sl_plan *plan)
{
	return &plan->graph->blocks[0];
}

/* The shapes of the files in a folder, in place of the folder: what they
 * hold must not find its way into the plan. */
static enum sl_status
shapes_of_folder(const struct sl_plan *plan, struct sl__arena *arena,
		 struct sl_sizes *sizes, struct sl_error *err)
{
	struct sl_input_shape *shapes;
	struct sl__input_files *inputs;
	enum sl_status rc;
	size_t n = sizes->n_shapes;

	rc = sl__input_files_open(&inputs, plan->graph, sizes->inputs_folder,
				  plan->options.allocator, err);
	if (rc)
		return rc;
	shapes = sl__arena_array(arena, n + inputs->n, sizeof(*shapes));
	if (!shapes)
		rc = sl__fail_nomem(err);
	for (size_t i = 0; shapes && i < n; i++)
		shapes[i] = sizes->shapes[i];
	for (size_t i = 0; shapes && i < inputs->n; i++) {
		const struct sl__tensor *t = inputs->contents[i];
		int64_t *dims;

		if (!t)
			continue;
		dims = sl__arena_array(arena, t->rank, sizeof(*dims));
		if (!dims) {
			rc = sl__fail_nomem(err);
			break;
		}
		if (t->rank)
			memcpy(dims, t->dims, t->rank * sizeof(*dims));
		shapes[n].input =
			plan->graph->values[model_of(plan)->inputs[i]].name;
		shapes[n].dims = dims;
		shapes[n++].rank = t->rank;
	}
	sl__input_files_close(inputs);
	sizes->shapes = shapes;
	sizes->n_shapes = n;
	sizes->inputs_folder = NULL;
	return rc;
}

/* Sizes of an input as it is given, or as it lies in the program. */
static int
shape_now(const struct sl_plan *plan, size_t i, struct sl_input_shape *out)
{
	uint32_t id = model_of(plan)->inputs[i];
	const struct sl__runtime_value *d = &plan->given[i].content;
	const struct sl__type *t = &plan->current->shapes->types[id];

	out->input = plan->graph->values[id].name;
	if (d->kind == SL__TYPE_TENSOR) {
		out->dims = d->tensor.dims;
		out->rank = d->tensor.rank;
		return 1;
	}
	out->dims = t->dims;
	out->rank = (size_t)t->rank;
	return plan->current->inputs[i] != SL__NONE;
}

/* The size that inputs which are set give to a symbol; -1: none does. */
static int64_t
size_of_symbol(const struct sl_plan *plan, int64_t symbol)
{
	const struct sl__block *model = model_of(plan);

	for (size_t i = 0; i < model->n_inputs; i++) {
		const struct sl__type *d =
			&plan->graph->values[model->inputs[i]].declared;
		struct sl_input_shape shape;

		if (!plan->given[i].is_set || !shape_now(plan, i, &shape) ||
		    d->rank != (int)shape.rank)
			continue;
		for (size_t k = 0; k < shape.rank; k++) {
			if (d->dims[k] == symbol)
				return shape.dims[k];
		}
	}
	return -1;
}

/* An input that is not set has the sizes it had, but for those that it
 * shares with inputs that are. */
static enum sl_status
follow_others(const struct sl_plan *plan, struct sl__arena *arena, size_t i,
	      struct sl_input_shape *shape, struct sl_error *err)
{
	const struct sl__type *d =
		&plan->graph->values[model_of(plan)->inputs[i]].declared;
	int64_t *dims = sl__arena_array(arena, shape->rank, sizeof(*dims));

	if (!dims)
		return sl__fail_nomem(err);
	for (size_t k = 0; k < shape->rank; k++) {
		int64_t size = -1;

		if (d->rank == (int)shape->rank && sl__is_symbol(d->dims[k]))
			size = size_of_symbol(plan, d->dims[k]);
		dims[k] = size < 0 ? shape->dims[k] : size;
	}
	shape->dims = dims;
	return SL_OK;
}

static enum sl_status
shapes_as_given(const struct sl_plan *plan, struct sl__arena *arena,
		struct sl_sizes *sizes, struct sl_error *err)
{
	const struct sl__block *model = model_of(plan);
	struct sl_input_shape *shapes =
		sl__arena_array(arena, model->n_inputs, sizeof(*shapes));
	enum sl_status rc = SL_OK;
	size_t n = 0;

	if (!shapes)
		return sl__fail_nomem(err);
	for (size_t i = 0; !rc && i < model->n_inputs; i++) {
		if (!shape_now(plan, i, &shapes[n]))
			continue;
		if (!plan->given[i].is_set)
			rc = follow_others(plan, arena, i, &shapes[n], err);
		n++;
	}
	memset(sizes, 0, sizeof(*sizes));
	sizes->struct_size = sizeof(*sizes);
	sizes->shapes = shapes;
	sizes->n_shapes = n;
	return rc;
}

/* Lists what each step covers, for callers. */
static enum sl_status
list_covers(struct sl__program *p, struct sl_error *err)
{
	size_t n = 0;

	for (size_t i = 0; i < p->n_steps; i++) {
		if (p->steps[i].node != SL__NONE)
			n += p->covers[p->steps[i].node].n;
	}
	p->covered = sl__arena_array(&p->arena, n, sizeof(size_t));
	p->first_covered =
		sl__arena_array(&p->arena, p->n_steps + 1, sizeof(size_t));
	if (!p->covered || !p->first_covered)
		return sl__fail_nomem(err);
	n = 0;
	for (size_t i = 0; i < p->n_steps; i++) {
		p->first_covered[i] = n;
		if (p->steps[i].node == SL__NONE)
			continue;
		for (size_t k = 0; k < p->covers[p->steps[i].node].n; k++)
			p->covered[n++] = p->covers[p->steps[i].node].nodes[k];
	}
	p->first_covered[p->n_steps] = n;
	for (size_t i = 0; i < p->n_steps; i++) {
		p->all_flops += (double)p->steps[i].executed_flops;
		p->all_bytes += (double)p->steps[i].n_bytes;
	}
	return SL_OK;
}

static enum sl_status
add_program(struct sl_plan *plan, const struct sl_sizes *sizes,
	    struct sl_error *err)
{
	struct sl__program *made;
	enum sl_status rc;

	rc = sl__compile(&made, plan->graph, &plan->options, sizes, err);
	if (rc)
		return rc;
	rc = list_covers(made, err);
	if (rc) {
		sl__program_free(made);
		return rc;
	}
	if (plan->n_programs == SL__PROGRAMS_MOST) {
		/* The oldest that is not in use goes. */
		size_t old = plan->programs[0] == plan->current;

		sl__program_free(plan->programs[old]);
		memmove(&plan->programs[old], &plan->programs[old + 1],
			(SL__PROGRAMS_MOST - old - 1) *
				sizeof(struct sl__program *));
		plan->n_programs--;
	}
	plan->programs[plan->n_programs++] = made;
	plan->current = made;
	return SL_OK;
}

static struct sl__program *
find_program(const struct sl_plan *plan, const struct sl_sizes *sizes)
{
	for (size_t i = 0; i < plan->n_programs; i++) {
		size_t k = 0;

		for (; k < sizes->n_shapes; k++) {
			const struct sl_input_shape *s = &sizes->shapes[k];
			size_t v = sl_graph_find_input(plan->graph, s->input);

			if (!sl__type_dims_equal(
				    &plan->programs[i]->shapes->types[v],
				    s->rank, s->dims))
				break;
		}
		if (k == sizes->n_shapes)
			return plan->programs[i];
	}
	return NULL;
}

/* Inputs that lie in the old program move out before it is left. */
static enum sl_status
rescue_inputs(struct sl_plan *plan, struct sl_error *err)
{
	const struct sl__block *model = model_of(plan);
	struct sl__program *p = plan->current;
	enum sl_status rc = SL_OK;

	for (size_t i = 0; !rc && i < model->n_inputs; i++) {
		struct sl__plan_input *g = &plan->given[i];
		const struct sl__type *t = &p->shapes->types[model->inputs[i]];

		if (!g->is_set || g->content.kind != SL__TYPE_UNKNOWN ||
		    p->inputs[i] == SL__NONE)
			continue;
		rc = sl__runtime_value_alloc_tensor(
			&g->content, t->dtype, (size_t)t->rank, t->dims,
			plan->options.allocator, err);
		if (!rc && g->content.tensor.n_bytes)
			memcpy(g->content.bytes, p->buffers[p->inputs[i]].data,
			       (size_t)g->content.tensor.n_bytes);
	}
	return rc;
}

static void
hand_inputs(struct sl_plan *plan)
{
	const struct sl__block *model = model_of(plan);
	struct sl__program *p = plan->current;

	for (size_t i = 0; i < model->n_inputs; i++) {
		struct sl__runtime_value *d = &plan->given[i].content;

		if (d->kind != SL__TYPE_TENSOR || p->inputs[i] == SL__NONE)
			continue;
		if (d->tensor.n_bytes)
			memcpy(p->buffers[p->inputs[i]].data, d->tensor.bytes,
			       (size_t)d->tensor.n_bytes);
		sl__runtime_value_clear(d, plan->options.allocator);
	}
	plan->needs_program = 0;
}

enum sl_status
sl__plan_select_program(struct sl_plan *plan, struct sl_error *err)
{
	struct sl__arena scratch;
	struct sl__program *known;
	struct sl_sizes sizes = {0};
	enum sl_status rc;

	if (!plan->needs_program)
		return SL_OK;
	plan->has_run = 0;
	sl__arena_init(&scratch, plan->options.allocator);
	rc = rescue_inputs(plan, err);
	if (!rc)
		rc = shapes_as_given(plan, &scratch, &sizes, err);
	if (!rc) {
		known = find_program(plan, &sizes);
		if (known)
			plan->current = known;
		else
			rc = add_program(plan, &sizes, err);
	}
	sl__arena_release(&scratch);
	if (!rc)
		hand_inputs(plan);
	return rc;
}

static enum sl_status
set_options(struct sl_plan *plan, const struct sl_plan_options *options,
	    struct sl_error *err)
{
	plan->options = *options;
	plan->options.sizes = NULL;
	plan->options.allocator = &plan->arena.allocator;
	if (plan->options.dtype == SL_DTYPE_NONE)
		plan->options.dtype = SL_DTYPE_F32;
	if (plan->options.dtype != SL_DTYPE_F32 &&
	    plan->options.dtype != SL_DTYPE_BF16)
		return sl__fail(err, SL_E_USAGE,
				"a plan computes in f32 or bf16, not %s",
				sl_dtype_text(plan->options.dtype));
	if (plan->options.n_threads < 0)
		return sl__fail(err, SL_E_USAGE, "%d threads",
				plan->options.n_threads);
	if (!plan->options.n_threads)
		plan->options.n_threads = (int)sl__thread_n_cpus();
	return SL_OK;
}

/*
 * Refuses a model whose generated weights alone exceed all memory, before any
 * is taken: the system would end the process in the middle.  In bf16 a weight
 * may take half its bytes.  A dry plan makes no weights.
 */
static enum sl_status
check_memory(const struct sl_plan *plan, struct sl_error *err)
{
	double all = (double)sl__platform_total_bytes(""), need = 0;

	for (size_t i = 0; i < plan->graph->n_values; i++) {
		const struct sl__tensor *t = plan->graph->values[i].tensor;

		need += t && t->generator ? (double)t->n_bytes : 0;
	}
	if (plan->options.dtype == SL_DTYPE_BF16)
		need /= 2;
	if (!(all > 0) || need <= all || plan->options.flags & SL__PLAN_DRY)
		return SL_OK;
	return sl__fail(err, SL_E_NOMEM,
			"out of memory: the weights take %.1f GB, and there "
			"are %.1f GB in all",
			need / 1e9, all / 1e9);
}

static enum sl_status
make_first(struct sl_plan *plan, struct sl_sizes *sizes, struct sl_error *err)
{
	struct sl__arena scratch;
	enum sl_status rc = SL_OK;

	sl__arena_init(&scratch, plan->options.allocator);
	if (sizes->inputs_folder)
		rc = shapes_of_folder(plan, &scratch, sizes, err);
	if (!rc)
		rc = add_program(plan, sizes, err);
	sl__arena_release(&scratch);
	return rc;
}

enum sl_status
sl_plan_new(struct sl_plan **out, const struct sl_graph *graph,
	    const struct sl_plan_options *options, struct sl_error *err)
{
	struct sl__plan_options_storage how;
	struct sl_plan *plan;
	enum sl_status rc = sl__plan_options_copy(&how, &options, err);

	*out = NULL;
	if (rc)
		return rc;
	plan = sl__allocator_alloc(how.plan.allocator, sizeof(*plan));
	if (!plan)
		return sl__fail_nomem(err);
	memset(plan, 0, sizeof(*plan));
	sl__arena_init(&plan->arena, how.plan.allocator);
	plan->graph = graph;
	plan->given = sl__arena_array(&plan->arena, graph->blocks[0].n_inputs,
				      sizeof(*plan->given));
	rc = plan->given ? set_options(plan, &how.plan, err)
			 : sl__fail_nomem(err);
	if (!rc)
		rc = check_memory(plan, err);
	if (!rc)
		rc = make_first(plan, &how.sizes, err);
	if (rc) {
		sl_plan_free(plan);
		return rc;
	}
	*out = plan;
	return SL_OK;
}

void
sl_plan_free(struct sl_plan *plan)
{
	struct sl_allocator allocator;

	if (!plan)
		return;
	allocator = plan->arena.allocator;
	for (size_t i = 0; i < plan->n_programs; i++) {
		sl__choices_contradict(&plan->options, plan->programs[i]);
		sl__program_free(plan->programs[i]);
	}
	for (size_t i = 0; plan->given && i < model_of(plan)->n_inputs; i++)
		sl__runtime_value_clear(&plan->given[i].content, &allocator);
	sl__arena_release(&plan->arena);
	sl__allocator_free(&allocator, plan);
}

static enum sl_status
check_inputs(const struct sl_plan *plan, struct sl_error *err)
{
	const struct sl__block *model = model_of(plan);

	for (size_t i = 0; i < model->n_inputs; i++) {
		if (!plan->given[i].is_set)
			return sl__fail(
				err, SL_E_USAGE, "input '%.200s' was not set",
				plan->graph->values[model->inputs[i]].name);
	}
	return SL_OK;
}

static int
is_output(const struct sl__block *model, uint32_t value)
{
	for (size_t k = 0; k < model->n_outputs; k++) {
		if (model->outputs[k] == value)
			return 1;
	}
	return 0;
}

/* What the program does not plan for is lent to the evaluator; an input that
 * is an output too is copied, since it may be set again before the next
 * run. */
static enum sl_status
lend_inputs(struct sl_plan *plan, struct sl_error *err)
{
	struct sl__program *p = plan->current;
	const struct sl__block *model = model_of(plan);
	struct sl__evaluator *ev = p->evaluator;
	enum sl_status rc = SL_OK;

	if (!p->is_stepwise)
		return SL_OK;
	sl__evaluator_clear_values(ev);
	for (size_t i = 0; !rc && i < model->n_inputs; i++) {
		uint32_t value = model->inputs[i];
		const struct sl__runtime_value *given = &plan->given[i].content;

		if (p->inputs[i] != SL__NONE)
			continue;
		if (is_output(model, value))
			rc = sl__runtime_value_copy(&ev->values[value], given,
						    &ev->allocator, err);
		else
			sl__evaluator_bind_storage(ev, value, given);
	}
	return rc;
}

static enum sl_status
run(struct sl_plan *plan, const struct sl__observer *observer,
    struct sl_error *err)
{
	enum sl_status rc = check_inputs(plan, err);

	plan->has_run = 0;
	if (!rc && plan->options.flags & SL__PLAN_DRY)
		rc = sl__fail(
			err, SL_E_USAGE,
			"the plan has no weights: it was made to see what "
			"it needs");
	if (!rc)
		rc = sl__plan_select_program(plan, err);
	if (!rc)
		rc = lend_inputs(plan, err);
	if (!rc)
		rc = sl__program_run(plan->current, observer, err);
	plan->has_run = !rc;
	/* A scope that the caller has open has done this work. */
	if (!rc)
		sl_scope_work(NULL, plan->current->work_flops,
			      plan->current->work_bytes);
	return rc;
}

/* The user's hooks around a step. */
static enum sl_status
around_step(struct sl__program *p, size_t i, void *ctx, struct sl_error *err)
{
	struct sl_plan *plan = ctx;
	enum sl_status rc;

	if (plan->hooks.before)
		plan->hooks.before(plan, i, plan->hooks.ctx);
	rc = sl__run_step(p, i, err);
	if (!rc && plan->hooks.after)
		plan->hooks.after(plan, i, plan->hooks.ctx);
	return rc;
}

enum sl_status
sl_plan_run(struct sl_plan *plan, struct sl_error *err)
{
	struct sl__interceptor hooked = {around_step, plan};
	struct sl__observer observer = {0};

	if (plan->hooks.before || plan->hooks.after)
		observer.interceptor = &hooked;
	return run(plan, &observer, err);
}

void
sl_plan_set_hooks(struct sl_plan *plan, const struct sl_hooks *hooks)
{
	struct sl_hooks none = {0};

	plan->hooks = hooks ? *hooks : none;
}

enum sl_status
sl__plan_record(struct sl_plan *plan, struct sl__event_buffer *events,
		struct sl_error *err)
{
	struct sl__observer observer = {.events = events};
	enum sl_status rc = run(plan, &observer, err);

	if (!rc)
		sl__choice_evidence_note(plan->current, events);
	return rc;
}

enum sl_status
sl__plan_intercept(struct sl_plan *plan,
		   const struct sl__interceptor *interceptor,
		   struct sl_error *err)
{
	struct sl__observer observer = {.interceptor = interceptor};

	return run(plan, &observer, err);
}
