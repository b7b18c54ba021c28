/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stand_in_outputs.c - what steps of a plan write, kept to stand in for them.
 *
 * A step does not say which of its operands it writes.  A buffer that it is
 * the first to name is written by it; of the others a copy is taken before
 * the step and compared after it, which finds results that lie over an input
 * and parts of a larger value.  What the last run left in a buffer would look
 * like a result that is there already, so buffers are overwritten before the
 * first step that names them.
 */
#include "experiment/stand_in_outputs.h"
#include "base/status.h"
#include "compute/parallel.h"

#include <string.h>

#include "base/banned.h"

enum {
	PARALLEL_BYTES = 1 << 16, /* copied by one thread up to this */
	NOTHING = 0xA5            /* what a buffer holds before its time */
};

static const char NO_MEMORY[] = "no memory for a copy of its outputs";

static const char *
why_not(const struct sl__step *step)
{
	if (step->is_inner)
		return "it is part of a loop, which runs it several times";
	/* Only branches and loops have a step to go on with. */
	if (step->jumps || step->target)
		return "it decides which steps follow";
	if (step->path == SL_PATH_STEPWISE)
		return "its outputs have no fixed place: sizes are found when "
		       "it runs";
	return NULL;
}

static const struct sl__buffer *
base_of(const struct sl__program *p, uint32_t buffer)
{
	return &p->buffers[p->buffers[buffer].base];
}

/* Whether a step may write an operand that somebody needs afterwards. */
static int
is_candidate(const struct sl__program *p, size_t i, uint32_t buffer)
{
	const struct sl__buffer *base = base_of(p, buffer);

	if (!p->buffers[buffer].n_bytes ||
	    base->category == SL__CATEGORY_CONSTANT ||
	    base->category == SL__CATEGORY_INPUT)
		return 0;
	return base->category != SL__CATEGORY_WORKSPACE || base->last > i;
}

static int
is_listed(const struct sl__stored_step_outputs *s, const unsigned char *at,
	  uint64_t n_bytes)
{
	for (size_t k = 0; k < s->n_parts; k++) {
		if (s->parts[k].at == at && s->parts[k].n_bytes == n_bytes)
			return 1;
	}
	return 0;
}

/* Lists every operand that may be written; find() leaves those that are. */
static void
list_candidates(const struct sl__program *p, size_t i,
		struct sl__stored_step_outputs *s)
{
	const struct sl__step *step = &p->steps[i];

	s->n_parts = 0;
	s->n_bytes = 0;
	for (uint32_t k = 0; k < step->n_operands; k++) {
		uint32_t id = step->operands[k];
		uint64_t n_bytes = p->buffers[id].n_bytes;

		if (!is_candidate(p, i, id) ||
		    is_listed(s, step->at[k], n_bytes))
			continue;
		s->parts[s->n_parts++] =
			(struct sl__stored_range){step->at[k], NULL, n_bytes};
		s->n_bytes += n_bytes;
	}
}

enum sl_status
sl__stand_in_outputs_open(struct sl__stand_in_outputs *out,
			  struct sl_plan *plan, struct sl__arena *arena,
			  struct sl_error *err)
{
	enum sl_status rc;

	memset(out, 0, sizeof(*out));
	rc = sl__plan_select_program(plan, err);
	if (rc)
		return rc;
	out->plan = plan;
	out->arena = arena;
	out->n_steps = plan->current->n_steps;
	out->steps = sl__arena_array(arena, out->n_steps, sizeof(*out->steps));
	return out->steps ? SL_OK : sl__fail_nomem(err);
}

/* Whether nobody has written there before this step. */
static int
is_new(const struct sl__program *p, size_t i, const unsigned char *at)
{
	const struct sl__step *step = &p->steps[i];

	for (uint32_t k = 0; k < step->n_operands; k++) {
		if (step->at[k] == at &&
		    base_of(p, step->operands[k])->first < i)
			return 0;
	}
	return 1;
}

static void
leave_written(struct sl__program *p, size_t i,
	      struct sl__stored_step_outputs *s, const unsigned char *before)
{
	size_t n = 0;

	s->n_bytes = 0;
	for (size_t k = 0; k < s->n_parts; k++) {
		const struct sl__stored_range part = s->parts[k];
		int is_same = !memcmp(before, part.at, (size_t)part.n_bytes);

		before += part.n_bytes;
		if (is_same && !is_new(p, i, part.at))
			continue;
		s->parts[n++] = part;
		s->n_bytes += part.n_bytes;
	}
	s->n_parts = n;
}

/* Overwrites buffers that this step is the first to name. */
static void
clear_new(struct sl__program *p, size_t i)
{
	const struct sl__step *step = &p->steps[i];

	for (uint32_t k = 0; k < step->n_operands; k++) {
		const struct sl__buffer *base = base_of(p, step->operands[k]);

		if (base->first == i &&
		    base->category != SL__CATEGORY_CONSTANT &&
		    base->category != SL__CATEGORY_INPUT)
			memset(base->data, NOTHING, (size_t)base->n_bytes);
	}
}

static enum sl_status
find_around(struct sl__program *p, size_t i, void *ctx, struct sl_error *err)
{
	struct sl__stand_in_outputs *stored = ctx;
	struct sl__stored_step_outputs *s = &stored->steps[i];
	unsigned char *to = stored->before;
	enum sl_status rc;

	clear_new(p, i);
	if (!s->is_wanted || s->absent)
		return sl__run_step(p, i, err);
	for (size_t k = 0; k < s->n_parts; k++) {
		memcpy(to, s->parts[k].at, (size_t)s->parts[k].n_bytes);
		to += s->parts[k].n_bytes;
	}
	rc = sl__run_step(p, i, err);
	s->has_run = 1;
	if (!rc)
		leave_written(p, i, s, stored->before);
	return rc;
}

/* The most that one step may write; 0: there is no step to look at. */
static uint64_t
most_bytes(const struct sl__stand_in_outputs *stored)
{
	uint64_t most = 0;

	for (size_t i = 0; i < stored->n_steps; i++) {
		const struct sl__stored_step_outputs *s = &stored->steps[i];

		if (s->is_wanted && !s->absent && s->n_bytes > most)
			most = s->n_bytes;
	}
	return most;
}

/* Room for the operands of the largest step for which there is memory. */
static void
reserve_before(struct sl__stand_in_outputs *stored)
{
	uint64_t most = most_bytes(stored);

	stored->before = sl__arena_alloc(stored->arena, (size_t)most);
	while (!stored->before && most) {
		for (size_t i = 0; i < stored->n_steps; i++) {
			struct sl__stored_step_outputs *s = &stored->steps[i];

			if (s->is_wanted && !s->absent && s->n_bytes == most)
				s->absent = NO_MEMORY;
		}
		most = most_bytes(stored);
		stored->before = sl__arena_alloc(stored->arena, (size_t)most);
	}
}

enum sl_status
sl__stand_in_outputs_find(struct sl__stand_in_outputs *stored,
			  struct sl_error *err)
{
	struct sl__program *p = stored->plan->current;
	struct sl__interceptor interceptor = {find_around, stored};

	for (size_t i = 0; i < stored->n_steps; i++) {
		struct sl__stored_step_outputs *s = &stored->steps[i];

		if (!s->is_wanted)
			continue;
		s->absent = why_not(&p->steps[i]);
		s->parts = sl__arena_array(stored->arena,
					   p->steps[i].n_operands,
					   sizeof(*s->parts));
		if (!s->parts)
			return sl__fail_nomem(err);
		list_candidates(p, i, s);
	}
	reserve_before(stored);
	if (!stored->before)
		return sl__fail_nomem(err);
	return sl__plan_intercept(stored->plan, &interceptor, err);
}

static int
is_kept(const struct sl__stored_step_outputs *s)
{
	return s->is_wanted && !s->absent && s->has_run;
}

static enum sl_status
fill_around(struct sl__program *p, size_t i, void *ctx, struct sl_error *err)
{
	struct sl__stand_in_outputs *stored = ctx;
	struct sl__stored_step_outputs *s = &stored->steps[i];
	enum sl_status rc;

	(void)sl__parallel_take_widest();
	rc = sl__run_step(p, i, err);
	s->n_threads = sl__parallel_take_widest();
	if (rc || !is_kept(s))
		return rc;
	for (size_t k = 0; k < s->n_parts; k++)
		memcpy(s->parts[k].image, s->parts[k].at,
		       (size_t)s->parts[k].n_bytes);
	return SL_OK;
}

/* Images of all parts, or of none. */
static void
reserve_images(struct sl__stand_in_outputs *stored,
	       struct sl__stored_step_outputs *s)
{
	struct sl__arena_mark mark = sl__arena_mark(stored->arena);

	for (size_t k = 0; k < s->n_parts; k++) {
		s->parts[k].image = sl__arena_alloc(
			stored->arena, (size_t)s->parts[k].n_bytes);
		if (s->parts[k].image)
			continue;
		s->absent = NO_MEMORY;
		while (k--)
			s->parts[k].image = NULL;
		sl__arena_rewind(stored->arena, mark);
		return;
	}
}

enum sl_status
sl__stand_in_outputs_copy(struct sl__stand_in_outputs *stored,
			  struct sl_error *err)
{
	struct sl__interceptor interceptor = {fill_around, stored};

	for (size_t i = 0; i < stored->n_steps; i++) {
		if (is_kept(&stored->steps[i]))
			reserve_images(stored, &stored->steps[i]);
	}
	return sl__plan_intercept(stored->plan, &interceptor, err);
}

/* How many threads stand in for a step's, for a part of so many bytes. */
static int
n_threads_for(const struct sl__stand_in_outputs *stored, size_t step,
	      uint64_t n_bytes)
{
	int n = stored->steps[step].n_threads;

	return n                          ? n
	       : n_bytes > PARALLEL_BYTES ? stored->plan->current->n_threads
					  : 1;
}

struct put {
	const struct sl__stored_range *part;
	int is_swapped;
};

/* The step had no copy to read: prefetched for no further use it displaces
 * little else from the caches. */
static void
put_share(int rank, int n, void *ctx)
{
	enum { LINE = 64, AHEAD = 8 * LINE };
	const struct put *put = ctx;
	const struct sl__stored_range *part = put->part;
	int64_t first, end;

	if (put->is_swapped)
		rank = (rank + (n + 1) / 2) % n;
	sl__parallel_range((int64_t)part->n_bytes, rank, n, &first, &end);
	for (int64_t i = first; i < end; i += LINE) {
		const unsigned char *from = part->image + i;

		if (end - i > AHEAD)
			__builtin_prefetch(from + AHEAD, 0, 0);
		memcpy(part->at + i, from,
		       (size_t)(end - i < LINE ? end - i : LINE));
	}
}

void
sl__stand_in_outputs_restore(const struct sl__stand_in_outputs *stored,
			     size_t step)
{
	const struct sl__stored_step_outputs *s = &stored->steps[step];

	for (size_t k = 0; k < s->n_parts; k++) {
		struct put put = {&s->parts[k], stored->is_swapped};

		sl__parallel_run(
			n_threads_for(stored, step, s->parts[k].n_bytes),
			put_share, &put);
	}
}

static void
read_share(int rank, int n, void *ctx)
{
	enum { LINE = 64 };
	const struct sl__stored_range *part = ctx;
	int64_t first, end;
	unsigned sum = 0;
	volatile unsigned sink;

	sl__parallel_range((int64_t)part->n_bytes, rank, n, &first, &end);
	for (int64_t i = first; i < end; i += LINE)
		sum += part->at[i];
	sink = sum;
	(void)sink;
}

/* What computes reads all of its operands but those that it writes; what only
 * moves may read a part of a large one. */
static int
is_read(const struct sl__program *p, const struct sl__step *step, uint32_t k,
	const struct sl__stored_step_outputs *s)
{
	uint64_t n_bytes = p->buffers[step->operands[k]].n_bytes;

	return n_bytes && !is_listed(s, step->at[k], n_bytes) &&
	       (step->nominal_flops || n_bytes <= s->n_bytes ||
		base_of(p, step->operands[k])->category ==
			SL__CATEGORY_WORKSPACE);
}

uint64_t
sl__stand_in_outputs_read_operands(const struct sl__stand_in_outputs *stored,
				   size_t i)
{
	const struct sl__program *p = stored->plan->current;
	const struct sl__step *step = &p->steps[i];
	uint64_t sum = 0;

	for (uint32_t k = 0; k < step->n_operands; k++) {
		struct sl__stored_range part = {
			step->at[k], NULL,
			p->buffers[step->operands[k]].n_bytes};

		if (!is_read(p, step, k, &stored->steps[i]))
			continue;
		sl__parallel_run(n_threads_for(stored, i, part.n_bytes),
				 read_share, &part);
		sum += part.n_bytes;
	}
	return sum;
}
