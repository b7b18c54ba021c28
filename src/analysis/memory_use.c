/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory_use.c - what a plan and its runs take, from the block to the pages.
 *
 * Three accounts of the same thing are put side by side: what the plan says is
 * needed, what the tracker saw tensors take, and what the kernel says the
 * process has in memory.  Each must fit into the next.
 */
#include "memory_use.h"
#include "pages.h"
#include "plan.h"
#include "reading.h"
#include "status.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"

/* ------------------------------------------------------------------ names */

static const char *
step_name(const struct sl__program *p, size_t step)
{
	return p->steps[step].name ? p->steps[step].name : "";
}

/* The value that was the first in the buffer when the tensor was born. */
static const char *
value_name(const struct sl__program *p, uint32_t base, size_t step)
{
	for (const struct sl__label *l = p->labels; l; l = l->next) {
		if (l->buffer == base && l->step <= step)
			return p->graph->values[l->value].name;
	}
	return NULL;
}

static const char *
input_name(const struct sl__program *p, uint32_t buffer)
{
	const struct sl__block *model = &p->graph->blocks[0];

	for (size_t i = 0; i < model->n_inputs; i++) {
		if (p->inputs[i] == buffer)
			return p->graph->values[model->inputs[i]].name;
	}
	return NULL;
}

static const char *
tensor_name(const struct sl__program *p, const struct sl__tracked *tensor,
	    size_t step, struct sl__arena *arena)
{
	uint32_t base = p->buffers[tensor->buffer].base;
	const char *name = tensor->is_input ? input_name(p, tensor->buffer)
					    : value_name(p, base, step);

	if (name)
		return sl__arena_string(arena, name);
	return sl__arena_format(arena, "workspace of %s", step_name(p, step));
}

/* --------------------------------------------------------------- the peak */

static int
by_size(const void *a, const void *b)
{
	const struct sl_live_value *x = a, *y = b;

	if (x->n_bytes != y->n_bytes)
		return x->n_bytes < y->n_bytes ? 1 : -1;
	return strcmp(x->name, y->name);
}

static uint64_t *
category_of(struct sl_memory_use *out, const struct sl__program *p,
	    const struct sl__tracked *tensor)
{
	uint32_t base = p->buffers[tensor->buffer].base;

	if (tensor->is_input)
		return &out->input_bytes;
	if (tensor->is_output)
		return &out->output_bytes;
	return p->buffers[base].room == SL__ROOM_WORKSPACE
		       ? &out->workspace_bytes
		       : &out->activations_bytes;
}

static enum sl_status
list_alive(struct sl_memory_use *out, const struct sl__program *p,
	   const struct sl__tracking *seen, struct sl__arena *arena,
	   struct sl_error *err)
{
	struct sl_live_value *alive =
		sl__arena_array(arena, seen->n_tensors, sizeof(*alive));
	size_t n = 0;

	if (!alive)
		return sl__fail_nomem(err);
	for (size_t i = 0; i < seen->n_tensors; i++) {
		const struct sl__tracked *tensor = &seen->tensors[i];
		uint64_t n_bytes = sl__tracked_bytes(tensor);

		if (!n_bytes || !sl__tracked_is_live(tensor, seen->peak))
			continue;
		*category_of(out, p, tensor) += n_bytes;
		alive[n].n_bytes = n_bytes;
		alive[n].name = tensor_name(p, tensor,
					    seen->steps[tensor->born], arena);
		if (!alive[n++].name)
			return sl__fail_nomem(err);
	}
	if (n)
		qsort(alive, n, sizeof(*alive), by_size);
	out->alive = alive;
	out->n_alive = n;
	return SL_OK;
}

/* What the plan says is needed at a step, in whole lines. */
static uint64_t
needed_at(const struct sl__program *p, size_t step)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < p->n_buffers; i++) {
		const struct sl__buffer *b = &p->buffers[i];

		if (b->base == i && b->room != SL__ROOM_CONSTANT &&
		    b->first <= step && step <= b->last)
			sum += (b->n_bytes + 63) & ~UINT64_C(63);
	}
	return sum;
}

static uint64_t
needed_on_path(const struct sl__program *p, const struct sl__tracking *seen)
{
	uint64_t most = 0;

	for (size_t i = 0; i < seen->n; i++) {
		uint64_t need = needed_at(p, seen->steps[i]);

		most = need > most ? need : most;
	}
	return most;
}

static enum sl_status
take_tracking(struct sl_memory_use *out, const struct sl__program *p,
	      const struct sl__tracking *seen, struct sl__arena *arena,
	      struct sl_error *err)
{
	struct sl_memory_moment *line;

	if (seen->absent || !seen->n) {
		out->tracked_bytes =
			sl__absent(seen->absent ? seen->absent : "no step ran");
		return SL_OK;
	}
	line = sl__arena_array(arena, seen->n, sizeof(*line));
	if (!line)
		return sl__fail_nomem(err);
	for (size_t i = 0; i < seen->n; i++) {
		line[i].operation = seen->steps[i];
		line[i].live_bytes = seen->live_bytes[i];
	}
	out->timeline = line;
	out->n_timeline = seen->n;
	out->tracked_bytes = sl__present((double)seen->peak_bytes);
	out->path_bytes = needed_on_path(p, seen);
	out->peak_operation = seen->steps[seen->peak];
	return list_alive(out, p, seen, arena, err);
}

/* ------------------------------------------------------------------- plan */

/* The plan's own records; 'unused' is what of them was never touched. */
struct records {
	uint64_t n_bytes, unused_bytes;
};

static void
count(struct records *r, const struct sl__arena *arena)
{
	r->n_bytes += sl__arena_bytes(arena);
	r->unused_bytes += sl__arena_unused_bytes(arena);
}

/* The evaluator keeps, of constants, those that are made when read and were
 * asked for by value. */
static struct records
count_records(const struct sl__program *p)
{
	const struct sl__evaluator *ev = p->evaluator;
	struct records r = {0};

	count(&r, &p->arena);
	count(&r, &p->graph->arena);
	count(&r, &p->shapes->arena);
	count(&r, ev->arena);
	count(&r, &ev->shapes->arena);
	r.n_bytes += sl__arena_bytes(&ev->scratch);
	for (size_t i = 0; i < ev->graph->n_values; i++) {
		if (ev->values[i].block)
			r.n_bytes += ev->values[i].tensor.n_bytes;
	}
	return r;
}

static void
take_plan(struct sl_memory_use *out, const struct sl_plan *plan)
{
	const struct sl__program *p = plan->current;
	struct sl_plan_memory memory;

	sl_plan_memory(plan, &memory);
	out->live_bytes = memory.live_bytes;
	out->planned_bytes = memory.planned_bytes;
	out->packed_bytes = memory.weight_bytes;
	out->mapped_bytes = memory.mapped_bytes;
	out->records_bytes = count_records(p).n_bytes;
	out->reserved_bytes = sl__pages_reserved(p->pages) + out->records_bytes;
}

/* oneDNN's objects and compiled code are the only part that the plan cannot
 * know: malloc's books and the mappings say.  NaN where one of them does
 * not. */
static double
library_bytes(const struct sl__residence *r, uint64_t records_bytes)
{
	double objects = sl__residence_heap(r) - (double)records_bytes;
	double code = sl__residence_code(r);

	if (isnan(objects) || isnan(code))
		return (double)NAN;
	return fmax(objects, 0) + fmax(code, 0);
}

static void
take_residence(struct sl_memory_use *out, const struct sl__memory_sources *from)
{
	const struct sl__residence *r = from->residence;
	const struct sl__program *p = from->plan->current;

	out->resident_base_bytes = sl__residence_base(r);
	out->resident_bytes = sl__residence_now(r);
	out->resident_peak_bytes = sl__residence_peak(r);
	out->touched_bytes = sl__residence_touched(r);
	out->file_bytes = sl__residence_file(r);
	out->is_peak_reset = r->is_peak_reset;
	out->library_bytes = library_bytes(r, out->records_bytes);
	out->predicted_bytes = (double)sl__pages_touched(
				       p->pages, sl__residence_page_bytes()) +
			       (double)out->records_bytes + out->library_bytes -
			       (double)count_records(p).unused_bytes;
}

enum sl_status
sl__memory_use_of(struct sl_memory_use *out,
		  const struct sl__memory_sources *from,
		  struct sl__arena *arena, struct sl_error *err)
{
	enum sl_status rc;

	memset(out, 0, sizeof(*out));
	out->parameters_bytes = from->parameters_bytes;
	take_plan(out, from->plan);
	take_residence(out, from);
	rc = take_tracking(out, from->plan->current, from->tracking, arena,
			   err);
	return rc ? rc : sl__memory_use_judge(out, arena, err);
}

static enum sl_status
list_impossible(struct sl_profile *profile, struct sl__arena *arena,
		struct sl_error *err)
{
	size_t n = profile->n_impossible;
	const char **list;

	if (!profile->memory.impossible)
		return SL_OK;
	list = sl__arena_array(arena, n + 1, sizeof(*list));
	if (!list)
		return sl__fail_nomem(err);
	for (size_t i = 0; i < n; i++)
		list[i] = profile->impossible[i];
	list[n] = profile->memory.impossible;
	profile->impossible = list;
	profile->n_impossible = n + 1;
	return SL_OK;
}

enum sl_status
sl__memory_use_tell(struct sl_profile *profile, struct sl__arena *arena,
		    struct sl_error *err)
{
	const struct sl_memory_use *use = &profile->memory;
	struct sl_operation *operations =
		(struct sl_operation *)(uintptr_t)profile->operations;

	for (size_t i = 0; i < use->n_timeline; i++) {
		if (use->timeline[i].operation < profile->n_operations)
			operations[use->timeline[i].operation].memory_bytes =
				use->timeline[i].live_bytes;
	}
	return list_impossible(profile, arena, err);
}

/* ------------------------------------------------------------------ verdict */

/*
 * Parameters count as far as they are in memory: those of a table of which a
 * run reads few rows, used where the file has them, mostly are not, and those
 * packed to a narrower type take less.  What is packed several times counts
 * once.  So what is counted is in memory, and the ratio is at most 1.
 */
static double
needed_parameters(const struct sl_memory_use *use)
{
	double there = (double)use->packed_bytes;

	if (!use->file_bytes.absent && use->file_bytes.value > 0)
		there += use->file_bytes.value;
	return fmin((double)use->parameters_bytes, there);
}

/* What the steps that ran need: the larger side of an If may not have. */
static double
needed_live(const struct sl_memory_use *use)
{
	return (double)(use->tracked_bytes.absent ? use->live_bytes
						  : use->path_bytes);
}

static double
efficiency_of(const struct sl_memory_use *use)
{
	double grown;

	if (use->resident_base_bytes.absent || use->resident_peak_bytes.absent)
		return (double)NAN;
	grown = use->resident_peak_bytes.value - use->resident_base_bytes.value;
	if (!(grown > 0))
		return (double)NAN;
	return (needed_live(use) + needed_parameters(use)) / grown;
}

static const char *
find_impossible(const struct sl_memory_use *use, struct sl__arena *arena)
{
	double needed = needed_live(use) + (double)use->packed_bytes;

	if (use->live_bytes > use->planned_bytes ||
	    use->planned_bytes > use->reserved_bytes)
		return sl__arena_format(
			arena,
			"live %.0f, planned %.0f and reserved %.0f bytes do "
			"not fit into each other: a mistake in the plan",
			(double)use->live_bytes, (double)use->planned_bytes,
			(double)use->reserved_bytes);
	if (!use->tracked_bytes.absent &&
	    use->tracked_bytes.value > (double)use->path_bytes)
		return sl__arena_format(
			arena,
			"a run held %.0f bytes, more than the plan's bound of "
			"%.0f: a mistake in the plan or the tracker",
			use->tracked_bytes.value, (double)use->path_bytes);
	if (!use->touched_bytes.absent && use->touched_bytes.value < needed)
		return sl__arena_format(
			arena,
			"memory grew by %.0f bytes, less than the %.0f of live "
			"set and packed weights: pages were given back to the "
			"process while it was measured, or never touched",
			use->touched_bytes.value, needed);
	if (use->efficiency > 1)
		return sl__arena_format(
			arena,
			"an efficiency of %.3f: memory that was there before "
			"is used by the plan",
			use->efficiency);
	return "";
}

enum sl_status
sl__memory_use_judge(struct sl_memory_use *use, struct sl__arena *arena,
		     struct sl_error *err)
{
	const char *found;

	use->efficiency = efficiency_of(use);
	found = find_impossible(use, arena);
	if (!found)
		return sl__fail_nomem(err);
	use->impossible = *found ? found : NULL;
	return SL_OK;
}
