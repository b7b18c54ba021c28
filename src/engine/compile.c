/* SPDX-License-Identifier: Apache-2.0 */
/* compile.c - from a graph and sizes to a program. */
#include "engine/compile.h"
#include "base/status.h"
#include "compute/parallel.h"
#include "engine/dnnl_choice.h"
#include "engine/dnnl_context.h"
#include "engine/lowering.h"
#include "machine/isa.h"
#include "ops/cost.h"
#include "transform/optimize.h"
#include "transform/update_order.h"

#include <string.h>

#include "base/banned.h"

_Static_assert(SL__PLAN_CHOICES_THREADS *SL__PLAN_CHOICES_THREADS_MOST <
		       SL__PLAN_TRAINS,
	       "numbers of threads are no other flag");

/* How many nodes of the rewritten graph share the work of each original. */
static enum sl_status
count_coverers(struct sl__program *p, struct sl__planner *pl,
	       const struct sl_graph *original, const struct sl_graph *made,
	       struct sl_error *err)
{
	uint32_t *n = sl__arena_array(&p->arena, original->n_nodes, sizeof(*n));

	if (!n)
		return sl__fail_nomem(err);
	for (size_t i = 0; i < made->n_nodes; i++) {
		for (size_t k = 0; k < p->covers[i].n; k++)
			n[p->covers[i].nodes[k]]++;
	}
	pl->n_coverers = n;
	return SL_OK;
}

/* What the nodes of the original graph cost, for the steps' nominal work. */
static enum sl_status
optimize(struct sl__program *p, struct sl__planner *pl,
	 const struct sl_graph *graph, struct sl__shapes *shapes,
	 struct sl_error *err)
{
	unsigned flags = 0;
	struct sl_graph *made;
	struct sl_cost *costs;
	enum sl_status rc;

	if (pl->options->flags & (SL_PLAN_NO_FUSION | SL_PLAN_REFERENCE))
		flags |= SL__OPTIMIZE_NO_FUSION;
	if (pl->options->flags & SL_PLAN_REFERENCE)
		flags |= SL__OPTIMIZE_NO_WIDENING;
	costs = sl__arena_array(&p->arena, graph->n_nodes, sizeof(*costs));
	if (!costs)
		return sl__fail_nomem(err);
	for (uint32_t i = 0; i < graph->n_nodes; i++)
		sl__cost_node(shapes, i, &costs[i]);
	if (shapes->is_short)
		return sl__fail_nomem(err);
	pl->costs = costs;
	rc = sl__optimize(&made, &p->covers, graph, shapes, flags, err);
	if (rc)
		return rc;
	p->graph = made;
	if (pl->options->flags & SL__PLAN_TRAINS)
		rc = sl__updates_move_early(
			made, made->blocks[0].outputs[SL__TRAINING_LOSS], err);
	if (rc)
		return rc;
	return count_coverers(p, pl, graph, made, err);
}

/* The rewritten graph and what is known of it. */
static enum sl_status
prepare(struct sl__program *p, struct sl__planner *pl,
	const struct sl_graph *graph, const struct sl_sizes *sizes,
	struct sl_error *err)
{
	struct sl__shapes_options options = {.sizes = sizes};
	struct sl__shapes *shapes;
	enum sl_status rc;

	rc = sl__isa_prepare(pl->options->flags & SL_PLAN_NO_CACHE
				     ? ""
				     : pl->options->cache_folder,
			     err);
	if (rc)
		return rc;
	options.allocator = &p->arena.allocator;
	rc = sl__shapes_new(&shapes, graph, &options, err);
	if (rc)
		return rc;
	rc = optimize(p, pl, graph, shapes, err);
	sl__shapes_free(shapes);
	if (!rc)
		rc = sl__shapes_new(&p->shapes, p->graph, &options, err);
	if (!rc)
		rc = sl__evaluator_new(&p->evaluator, p->graph,
				       &p->arena.allocator, err);
	if (!rc)
		p->evaluator->interrupt = p->interrupt;
	if (!rc)
		rc = sl__plan_weights_new(&p->weights, graph,
					  &p->arena.allocator, err);
	/* Nobody is to take weights that were not made. */
	if (!rc && pl->options->flags & (SL__PLAN_OWN_WEIGHTS | SL__PLAN_DRY))
		sl__plan_weights_isolate(p->weights);
	if (!rc && pl->options->flags & SL__PLAN_DRY)
		sl__pages_set_address_only(p->weights->pages);
	return rc ? rc : sl__dnnl_context_new(&p->dnnl, &p->arena, err);
}

static enum sl_status
lower(struct sl__program *p, struct sl__planner *pl, struct sl_error *err)
{
	const struct sl__block *block = &p->graph->blocks[0];

	pl->graph = p->graph;
	pl->shapes = p->shapes;
	pl->held = sl__arena_array(&p->arena, p->graph->n_values,
				   sizeof(*pl->held));
	p->inputs =
		sl__arena_array(&p->arena, block->n_inputs, sizeof(*p->inputs));
	p->outputs = sl__arena_array(&p->arena, block->n_outputs,
				     sizeof(*p->outputs));
	if (!pl->held || !p->inputs || !p->outputs)
		return sl__fail_nomem(err);
	pl->err = err;
	sl__lower(pl);
	return pl->rc;
}

static void
address_buffers(struct sl__program *p)
{
	for (size_t i = 0; i < p->n_buffers; i++) {
		struct sl__buffer *b = &p->buffers[i];

		if (b->category != SL__CATEGORY_CONSTANT && b->base == i)
			b->data = p->block + b->offset;
	}
	for (size_t i = 0; i < p->n_buffers; i++) {
		struct sl__buffer *b = &p->buffers[i];

		if (b->base != i && p->buffers[b->base].data)
			b->data = p->buffers[b->base].data + b->offset;
	}
}

static enum sl_status
bind_steps(struct sl__program *p, struct sl_error *err)
{
	enum sl_status rc = SL_OK;

	for (size_t i = 0; !rc && i < p->n_steps; i++) {
		struct sl__step *step = &p->steps[i];

		for (uint32_t k = 0; k < step->n_operands; k++)
			step->at[k] = p->buffers[step->operands[k]].data;
		if (step->bind)
			rc = step->bind(step, err);
	}
	return rc;
}

enum sl_status
sl__program_settle(struct sl__program *p, struct sl_error *err)
{
	struct sl__pages *pages = p->weights->pages;
	enum sl_status rc = sl__program_place_buffers(p, err);

	if (rc)
		return rc;
	p->constant_bytes = sl__pages_used(pages) + p->weights->found_bytes;
	p->block = sl__pages_alloc(pages, p->block_bytes);
	if (!p->block)
		return sl__fail(err, SL_E_NOMEM,
				"out of memory: values that are needed at one "
				"time take %llu bytes",
				(unsigned long long)p->block_bytes);
	sl__pages_trim(pages);
	address_buffers(p);
	return bind_steps(p, err);
}

enum sl_status
sl__compile(struct sl__program **out, const struct sl_graph *graph,
	    const struct sl_plan_options *options, const struct sl_sizes *sizes,
	    struct sl_error *err)
{
	struct sl__program *p =
		sl__allocator_alloc(options->allocator, sizeof(*p));
	struct sl__planner pl = {.options = options};
	int before;
	enum sl_status rc;

	*out = NULL;
	if (!p)
		return sl__fail_nomem(err);
	memset(p, 0, sizeof(*p));
	sl__arena_init(&p->arena, options->allocator);
	p->n_threads = options->n_threads;
	p->interrupt = options->interrupt;
	pl.program = p;
	pl.dtype = options->dtype;
	/* oneDNN divides work for the threads there are when it plans. */
	before = sl__parallel_set_threads(options->n_threads);
	rc = sl__parallel_start(options->n_threads, err);
	if (!rc)
		rc = prepare(p, &pl, graph, sizes, err);
	if (!rc && sl__isa_is_scalar())
		pl.dtype = SL_DTYPE_F32; /* no kernel takes others */
	if (!rc && options->algorithms == SL_ALGORITHMS_MEASURED)
		rc = sl__choices_new(&pl.choices, options, err);
	if (!rc)
		rc = lower(p, &pl, err);
	sl__choices_save(pl.choices);
	p->choosing_ns = pl.choices ? pl.choices->elapsed_ns : 0;
	sl__choices_free(pl.choices);
	if (!rc)
		rc = sl__program_settle(p, err);
	sl__parallel_set_threads(before);
	if (rc) {
		sl__program_free(p);
		return rc;
	}
	/* Weights were made and candidates tried in memory of malloc's.  A dry
	 * plan shows the fullest moment, when the block is there and that was
	 * not given back. */
	if (!(options->flags & SL__PLAN_DRY))
		sl__heap_trim();
	*out = p;
	return SL_OK;
}
