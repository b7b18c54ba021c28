/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory_use.c - what a plan and its runs take, from the block to the pages.
 *
 * Three accounts of the same thing are put side by side: what the plan says is
 * needed, what the tracker saw tensors take, and what the kernel says the
 * process has in memory.  Each must fit into the next.
 */
#include "analysis/memory_use.h"
#include "analysis/memory_tensors.h"
#include "base/pages.h"
#include "base/reading.h"
#include "base/status.h"
#include "engine/plan.h"
#include "result/fact_list.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/banned.h"

static int
by_size(const void *a, const void *b)
{
	const struct sl_live_value *x = a, *y = b;

	if (x->n_bytes != y->n_bytes)
		return x->n_bytes < y->n_bytes ? 1 : -1;
	return strcmp(x->name, y->name);
}

/* Where the categories of tensors are summed up: in inference there are
 * neither gradients nor states. */
static uint64_t *
category_of(struct sl_memory_use *out, const struct sl_memory_tensor *tensor)
{
	switch (tensor->category) {
	case SL_MEMORY_INPUT:
	case SL_MEMORY_STATE:
		return &out->input_bytes;
	case SL_MEMORY_OUTPUT:
		return &out->output_bytes;
	case SL_MEMORY_WORKSPACE:
		return &out->workspace_bytes;
	case SL_MEMORY_ACTIVATION:
	case SL_MEMORY_GRADIENT:
		break;
	}
	return &out->activations_bytes;
}

static enum sl_status
list_alive(struct sl_memory_use *out, size_t peak, struct sl__arena *arena,
	   struct sl_error *err)
{
	struct sl_live_value *alive =
		sl__arena_array(arena, out->n_tensors, sizeof(*alive));
	size_t n = 0;

	if (!alive)
		return sl__fail_nomem(err);
	for (size_t i = 0; i < out->n_tensors; i++) {
		const struct sl_memory_tensor *tensor = &out->tensors[i];

		if (tensor->first > peak || tensor->last < peak)
			continue;
		*category_of(out, tensor) += tensor->n_bytes;
		alive[n].n_bytes = tensor->n_bytes;
		alive[n++].name = tensor->name;
	}
	if (n)
		qsort(alive, n, sizeof(*alive), by_size);
	out->alive = alive;
	out->n_alive = n;
	return SL_OK;
}

/* What the plan says is needed at a step, in whole lines. */
struct need {
	uint64_t all_bytes, values_bytes; /* these without workspaces */
};

static struct need
needed_at(const struct sl__program *p, size_t step)
{
	struct need need = {0};

	for (uint32_t i = 0; i < p->n_buffers; i++) {
		const struct sl__buffer *b = &p->buffers[i];
		uint64_t n_bytes = (b->n_bytes + 63) & ~UINT64_C(63);

		if (b->base != i || b->category == SL__CATEGORY_CONSTANT ||
		    b->first > step || step > b->last)
			continue;
		need.all_bytes += n_bytes;
		if (b->category != SL__CATEGORY_WORKSPACE)
			need.values_bytes += n_bytes;
	}
	return need;
}

static void
need_at_least(struct need *most, struct need need)
{
	if (need.all_bytes > most->all_bytes)
		most->all_bytes = need.all_bytes;
	if (need.values_bytes > most->values_bytes)
		most->values_bytes = need.values_bytes;
}

static void
take_path(struct sl_memory_use *out, const struct sl__program *p,
	  const struct sl__tensor_lifetimes *seen)
{
	struct need most = {0};

	for (size_t i = 0; i < seen->n; i++)
		need_at_least(&most, needed_at(p, seen->steps[i]));
	out->path_bytes = most.all_bytes;
	out->values_bytes = most.values_bytes;
}

/* Where all steps run, the plan alone says what is alive while they do. */
static int
has_branches(const struct sl__program *p)
{
	for (size_t i = 0; i < p->n_steps; i++) {
		if (p->steps[i].target)
			return 1;
	}
	return 0;
}

static enum sl_status
take_planned_line(struct sl_memory_use *out, const struct sl__program *p,
		  struct sl__arena *arena, struct sl_error *err)
{
	struct sl_memory_moment *line;
	struct need most = {0};

	if (has_branches(p))
		return SL_OK;
	line = sl__arena_array(arena, p->n_steps, sizeof(*line));
	if (!line)
		return sl__fail_nomem(err);
	for (size_t i = 0; i < p->n_steps; i++) {
		struct need need = needed_at(p, i);

		line[i].operation = i;
		line[i].live_bytes = need.all_bytes;
		if (need.all_bytes > most.all_bytes)
			out->peak_operation = i;
		need_at_least(&most, need);
	}
	out->values_bytes = most.values_bytes;
	if (out->unplanned)
		return SL_OK;
	out->timeline = line;
	out->n_timeline = p->n_steps;
	return sl__memory_tensors_planned(out, p, arena, err);
}

static enum sl_status
take_tracking(struct sl_memory_use *out, const struct sl__program *p,
	      const struct sl__tensor_lifetimes *seen, struct sl__arena *arena,
	      struct sl_error *err)
{
	struct sl_memory_moment *line;
	enum sl_status rc;

	if (seen->absent || !seen->n) {
		out->tracked_bytes =
			sl__absent(seen->absent ? seen->absent : "no step ran");
		return take_planned_line(out, p, arena, err);
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
	take_path(out, p, seen);
	out->peak_operation = seen->steps[seen->peak];
	rc = sl__memory_tensors_seen(out, p, seen, arena, err);
	return rc ? rc : list_alive(out, seen->peak, arena, err);
}

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
	count(&r, &p->weights->arena);
	count(&r, sl__plan_weights_entry_arena(p->weights));
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
	uint64_t named;

	sl_plan_memory(plan, &memory);
	out->live_bytes = memory.live_bytes;
	out->planned_bytes = memory.planned_bytes;
	out->packed_bytes = memory.weight_bytes;
	out->mapped_bytes = memory.mapped_bytes;
	out->records_bytes = count_records(p).n_bytes;
	out->reserved_bytes = sl__pages_reserved(p->weights->pages) +
			      p->weights->found_bytes + out->records_bytes;
	named = out->planned_bytes + out->packed_bytes + out->records_bytes;
	if (out->reserved_bytes > named)
		out->rounding_bytes = out->reserved_bytes - named;
	if (p->is_stepwise)
		out->unplanned = "some values have sizes that are found while "
				 "the model runs: they lie outside the plan";
}

/* Marks the pages of the block in which a value lies. */
static void
mark_values(unsigned char *marks, const struct sl__program *p, uint64_t page)
{
	uintptr_t first = (uintptr_t)p->block / page;

	for (uint32_t i = 0; i < p->n_buffers; i++) {
		const struct sl__buffer *b = &p->buffers[i];
		uintptr_t at = (uintptr_t)p->block + b->offset;

		if (b->base != i || b->category == SL__CATEGORY_CONSTANT ||
		    b->category == SL__CATEGORY_WORKSPACE || !b->n_bytes ||
		    b->first > b->last)
			continue;
		for (uintptr_t k = at / page; k <= (at + b->n_bytes - 1) / page;
		     k++)
			marks[k - first] = 1;
	}
}

/* Bytes of whole pages of the block that no value lies in: how much of a
 * workspace is touched only the kernel knows. */
static enum sl_status
find_mere_workspace(const struct sl__program *p, uint64_t page, uint64_t *out,
		    struct sl_error *err)
{
	uintptr_t first = (uintptr_t)p->block / page;
	uintptr_t end = ((uintptr_t)p->block + p->block_bytes) / page;
	unsigned char *marks;
	struct sl__arena arena;

	*out = 0;
	sl__arena_init(&arena, NULL);
	marks = sl__arena_array(&arena, end - first + 1, 1);
	if (!marks)
		return sl__fail_nomem(err);
	mark_values(marks, p, page);
	/* Weights may lie in the first one too. */
	for (uintptr_t k = first + ((uintptr_t)p->block % page != 0); k < end;
	     k++)
		*out += marks[k - first] ? 0 : page;
	sl__arena_release(&arena);
	return SL_OK;
}

/* oneDNN's objects and compiled code are the only part that the plan cannot
 * know: malloc's records and the mappings say.  NaN where one of them does
 * not. */
static double
library_bytes(const struct sl__residence *r, uint64_t records_bytes)
{
	double objects = sl__residence_heap_growth(r) - (double)records_bytes;
	double code = sl__residence_jit_code_growth(r);

	if (isnan(objects) || isnan(code))
		return (double)NAN;
	return fmax(objects, 0) + fmax(code, 0);
}

static void
shift(struct sl_reading *reading, double bytes)
{
	if (!reading->absent)
		reading->value += bytes;
}

static enum sl_peak_moment
moment_of(int is_late)
{
	return is_late < 0 ? SL_PEAK_UNKNOWN
	       : is_late   ? SL_PEAK_RUNNING
			   : SL_PEAK_PLANNING;
}

/* What is left of a growth below 0 is nothing that could be told. */
static struct sl_reading
growth(struct sl_reading reading, int is_some)
{
	if (!reading.absent &&
	    (reading.value < 0 || (is_some && !(reading.value > 0))))
		return sl__absent("it did not grow: the model used memory that "
				  "the process had before, or as much was "
				  "given back");
	return reading;
}

/* Weights that another plan of the graph had made were in memory before: they
 * count as this plan's, as if it had made them. */
static enum sl_status
take_residence(struct sl_memory_use *out, const struct sl__memory_sources *from,
	       struct sl_error *err)
{
	const struct sl__residence *r = from->residence;
	const struct sl__program *p = from->plan->current;
	double found = (double)p->weights->found_bytes;
	uint64_t page = sl__backing_page_size(), maybe;
	enum sl_status rc = find_mere_workspace(p, page, &maybe, err);

	if (rc)
		return rc;
	out->resident_base_bytes = sl__residence_baseline(r);
	out->resident_bytes = sl__residence_final(r);
	out->resident_peak_bytes = sl__residence_peak(r);
	out->touched_bytes = sl__residence_anonymous_growth(r);
	out->file_bytes = growth(sl__residence_file_growth(r), 0);
	out->peak_moment = moment_of(sl__residence_peaked_after_pause(r));
	out->is_peak_reset = r->is_peak_reset;
	out->library_bytes = library_bytes(r, out->records_bytes);
	out->predicted_bytes =
		(double)sl__pages_touched(p->weights->pages, page) + found +
		(double)out->records_bytes + out->library_bytes -
		(double)count_records(p).unused_bytes;
	out->predicted_least_bytes = out->predicted_bytes - (double)maybe;
	shift(&out->resident_base_bytes, -found);
	shift(&out->touched_bytes, found);
	out->touched_bytes = growth(out->touched_bytes, 1);
	return SL_OK;
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
	rc = take_residence(out, from, err);
	if (!rc)
		rc = take_tracking(out, from->plan->current, from->tracking,
				   arena, err);
	return rc ? rc : sl__memory_use_judge(out, arena, err);
}

static enum sl_status
list_impossible(struct sl_profile *profile, struct sl__arena *arena,
		struct sl_error *err)
{
	struct sl__facts list;

	if (!profile->memory.impossible)
		return SL_OK;
	sl__facts_init(&list, arena, profile->impossible,
		       profile->n_impossible);
	sl__facts_add(&list, *profile->memory.impossible);
	profile->impossible = list.list;
	profile->n_impossible = list.n;
	return list.has_failed ? sl__fail_nomem(err) : SL_OK;
}

enum sl_status
sl__profile_fill_live_memory(struct sl_profile *profile,
			     struct sl__arena *arena, struct sl_error *err)
{
	const struct sl_memory_use *use = &profile->memory;
	struct sl_operation *operations = profile->operations;

	const char *absent = use->n_timeline ? "it did not run while memory "
					       "was tracked"
			     : use->tracked_bytes.absent
				     ? use->tracked_bytes.absent
				     : "no run was tracked";

	for (size_t i = 0; i < profile->n_operations; i++)
		operations[i].memory_bytes = sl__absent(absent);
	for (size_t i = 0; i < use->n_timeline; i++) {
		if (use->timeline[i].operation < profile->n_operations)
			operations[use->timeline[i].operation].memory_bytes =
				sl__present(
					(double)use->timeline[i].live_bytes);
	}
	return list_impossible(profile, arena, err);
}

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

/* At most so much of that is in memory: of a workspace a kernel may leave
 * parts alone. */
static double
touched_live(const struct sl_memory_use *use)
{
	double there = use->touched_bytes.value - (double)use->packed_bytes;

	if (use->touched_bytes.absent)
		return needed_live(use);
	return fmin(needed_live(use), fmax(there, (double)use->values_bytes));
}

static double
efficiency_of(const struct sl_memory_use *use)
{
	double grown, efficiency;

	if (use->unplanned || use->resident_base_bytes.absent ||
	    use->resident_peak_bytes.absent)
		return (double)NAN;
	grown = use->resident_peak_bytes.value - use->resident_base_bytes.value;
	if (!(grown > 0))
		return (double)NAN;
	efficiency = (needed_live(use) + needed_parameters(use)) / grown;
	return efficiency > 1
		       ? (touched_live(use) + needed_parameters(use)) / grown
		       : efficiency;
}

/* Why the plan's figures do not agree with each other; NONE: they do. */
static struct sl_fact
find_mistake(const struct sl_memory_use *use)
{
	uint64_t sum = use->planned_bytes + use->packed_bytes +
		       use->records_bytes + use->rounding_bytes;

	if (use->live_bytes > use->planned_bytes ||
	    use->planned_bytes > use->reserved_bytes)
		return (struct sl_fact){SL_FACT_MEMORY_NESTING,
					{(double)use->live_bytes,
					 (double)use->planned_bytes,
					 (double)use->reserved_bytes},
					{NULL}};
	if (sum != use->reserved_bytes)
		return (struct sl_fact){
			SL_FACT_MEMORY_PARTS,
			{(double)use->reserved_bytes, (double)sum},
			{NULL}};
	if (!use->tracked_bytes.absent &&
	    use->tracked_bytes.value > (double)use->path_bytes)
		return (struct sl_fact){
			SL_FACT_MEMORY_HELD,
			{use->tracked_bytes.value, (double)use->path_bytes},
			{NULL}};
	return (struct sl_fact){.kind = SL_FACT_NONE};
}

static struct sl_fact
find_impossible(const struct sl_memory_use *use)
{
	double needed = (double)use->values_bytes + (double)use->packed_bytes;
	struct sl_fact mistake = find_mistake(use);

	if (mistake.kind)
		return mistake;
	if (!use->touched_bytes.absent && use->touched_bytes.value < needed)
		return (struct sl_fact){SL_FACT_MEMORY_GROWTH,
					{use->touched_bytes.value, needed},
					{NULL}};
	if (use->efficiency > 1)
		return (struct sl_fact){
			SL_FACT_MEMORY_EFFICIENCY, {use->efficiency}, {NULL}};
	return (struct sl_fact){.kind = SL_FACT_NONE};
}

enum sl_status
sl__memory_use_judge(struct sl_memory_use *use, struct sl__arena *arena,
		     struct sl_error *err)
{
	struct sl_fact found;

	use->efficiency = efficiency_of(use);
	use->impossible = NULL;
	found = find_impossible(use);
	if (!found.kind)
		return SL_OK;
	use->impossible = sl__fact_copy(&found, arena);
	if (!use->impossible)
		return sl__fail_nomem(err);
	use->efficiency = (double)NAN;
	return SL_OK;
}
