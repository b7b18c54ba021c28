/* SPDX-License-Identifier: Apache-2.0 */
/*
 * touching.c - what a step reads and writes, found by running it.
 *
 * The bytes that a step names are copied before and after it.  Two questions
 * remain, and more runs of the step answer them.  Was something written that
 * happened to be there already?  What did not change is filled with the
 * opposite of its bits: it stays so exactly when nobody writes there.  Was
 * something written over that was read first?  What changed is filled with the
 * opposite of what was there: the result is the same exactly when nobody reads
 * it.  A kernel that is given such numbers computes nonsense or fails, which is
 * no matter, since all is put back.
 */
#include "experiment/touching.h"
#include "base/status.h"

#include <stdlib.h>
#include <string.h>

#include "base/banned.h"

static int
is_in_block(const struct sl__program *p, const unsigned char *at)
{
	return (uintptr_t)at >= (uintptr_t)p->block &&
	       (uintptr_t)at < (uintptr_t)p->block + p->block_bytes;
}

enum sl_status
sl__touching_init(struct sl__touching *t, struct sl__program *program,
		  struct sl__arena *arena, struct sl_error *err)
{
	uint64_t most = 0;
	size_t n_most = 0;

	memset(t, 0, sizeof(*t));
	t->program = program;
	for (size_t i = 0; i < program->n_steps; i++) {
		const struct sl__step *step = &program->steps[i];
		uint64_t sum = 0;

		for (uint32_t k = 0; k < step->n_operands; k++) {
			if (is_in_block(program, step->at[k]))
				sum += program->buffers[step->operands[k]]
					       .n_bytes;
		}
		most = sum > most ? sum : most;
		n_most = step->n_operands > n_most ? step->n_operands : n_most;
	}
	t->list = sl__arena_array(arena, n_most, sizeof(*t->list));
	t->before = sl__arena_array(arena, 3, (size_t)most);
	if (!t->list || !t->before)
		return sl__fail_nomem(err);
	t->after = t->before + most;
	t->again = t->after + most;
	return SL_OK;
}

static void
save(const struct sl__touching *t, unsigned char *to)
{
	for (size_t i = 0; i < t->n; to += t->list[i++].n_bytes)
		memcpy(to, t->list[i].start, (size_t)t->list[i].n_bytes);
}

static void
put(const struct sl__touching *t, const unsigned char *from)
{
	for (size_t i = 0; i < t->n; from += t->list[i++].n_bytes)
		memcpy(t->list[i].start, from, (size_t)t->list[i].n_bytes);
}

/* The bits that are inverted: all, or nearly all, so that what one stretch
 * holds then is not what a copy of another would be. */
static unsigned char
mask_of(size_t nth)
{
	return (unsigned char)(0xff - nth % 0x7f);
}

static void
invert(const struct sl__touch *touch, unsigned char mask)
{
	for (uint64_t i = 0; i < touch->n_bytes; i++)
		touch->start[i] ^= mask;
}

static int
is_inverted(const struct sl__touch *touch, const unsigned char *before,
	    unsigned char mask)
{
	for (uint64_t i = 0; i < touch->n_bytes; i++) {
		if (touch->start[i] != (before[i] ^ mask))
			return 0;
	}
	return 1;
}

static int
overlap(const struct sl__touch *a, const struct sl__touch *b)
{
	uintptr_t x = (uintptr_t)a->start, y = (uintptr_t)b->start;

	return x < y + b->n_bytes && y < x + a->n_bytes;
}

static int
by_size(const void *a, const void *b)
{
	const struct sl__touch *x = a, *y = b;

	if (x->n_bytes != y->n_bytes)
		return x->n_bytes < y->n_bytes ? 1 : -1;
	return x->start < y->start ? -1 : x->start > y->start;
}

static void
collect(struct sl__touching *t, const struct sl__step *step)
{
	t->n = 0;
	for (uint32_t k = 0; k < step->n_operands; k++) {
		uint32_t buffer = step->operands[k];
		uint64_t n_bytes = t->program->buffers[buffer].n_bytes;
		size_t i = 0;

		if (!n_bytes || !is_in_block(t->program, step->at[k]))
			continue;
		while (i < t->n && (t->list[i].start != step->at[k] ||
				    t->list[i].n_bytes != n_bytes))
			i++;
		if (i == t->n)
			t->list[t->n++] =
				(struct sl__touch){.start = step->at[k],
						   .n_bytes = n_bytes,
						   .buffer = buffer};
		t->list[i].n_named++;
	}
	if (t->n)
		qsort(t->list, t->n, sizeof(*t->list), by_size);
}

enum sl_status
sl__touching_run(struct sl__touching *t, size_t i, struct sl_error *err)
{
	struct sl__step *step = &t->program->steps[i];
	const unsigned char *before = t->before;
	enum sl_status rc;

	t->step = i;
	collect(t, step);
	save(t, t->before);
	rc = sl__guide_step(t->program, i, err);
	if (rc)
		return rc;
	t->jumps = step->jumps;
	save(t, t->after);
	for (size_t k = 0; k < t->n; k++) {
		struct sl__touch *touch = &t->list[k];

		touch->is_written = memcmp(touch->start, before,
					   (size_t)touch->n_bytes) != 0;
		before += touch->n_bytes;
	}
	return SL_OK;
}

void
sl__touching_settle(struct sl__touching *t)
{
	put(t, t->after);
	t->program->steps[t->step].jumps = t->jumps;
}

/* Whether it may have been written without a change. */
static int
is_quiet(const struct sl__touch *touch)
{
	return !touch->is_written && !touch->is_input;
}

/* The step once more, with some of what did not change inverted: all of it,
 * or stretch 'only'.  Returns whether it ran to its end. */
static int
run_inverted(struct sl__touching *t, size_t only)
{
	put(t, t->before);
	for (size_t i = 0; i < t->n; i++) {
		if (is_quiet(&t->list[i]) && (only == SIZE_MAX || only == i))
			invert(&t->list[i], mask_of(i));
	}
	return !sl__guide_step(t->program, t->step, NULL);
}

static const unsigned char *
before_of(const struct sl__touching *t, size_t i)
{
	const unsigned char *at = t->before;

	for (size_t k = 0; k < i; k++)
		at += t->list[k].n_bytes;
	return at;
}

static int
is_still_inverted(const struct sl__touching *t, size_t i)
{
	return is_inverted(&t->list[i], before_of(t, i), mask_of(i));
}

/* Whether another stretch that is inverted as well lies over this one. */
static int
is_crossed(const struct sl__touching *t, size_t i)
{
	for (size_t k = 0; k < t->n; k++) {
		if (k != i && is_quiet(&t->list[k]) &&
		    overlap(&t->list[i], &t->list[k]))
			return 1;
	}
	return 0;
}

/* A step that fails on what it cannot read has read it. */
static void
find_quiet_writes(struct sl__touching *t)
{
	size_t n_quiet = 0;
	int is_crossed_one = 0;

	for (size_t i = 0; i < t->n; i++) {
		n_quiet += (size_t)is_quiet(&t->list[i]);
		is_crossed_one |= is_quiet(&t->list[i]) && is_crossed(t, i);
	}
	if (!n_quiet)
		return;
	if (!is_crossed_one && run_inverted(t, SIZE_MAX)) {
		for (size_t i = 0; i < t->n; i++)
			t->list[i].is_read = is_quiet(&t->list[i]) &&
					     is_still_inverted(t, i);
	} else {
		for (size_t i = 0; i < t->n; i++)
			t->list[i].is_read = is_quiet(&t->list[i]) &&
					     (!run_inverted(t, i) ||
					      is_still_inverted(t, i));
	}
	for (size_t i = 0; i < t->n; i++) {
		if (is_quiet(&t->list[i]))
			t->list[i].is_written = !t->list[i].is_read;
	}
}

/* Whether a run that began with stretch 'k' inverted came out otherwise than
 * the real one.  Bytes that neither run wrote say nothing. */
static int
came_otherwise(const struct sl__touching *t, size_t k,
	       const unsigned char *result)
{
	size_t at = 0;

	for (size_t i = 0; i < t->n; i++) {
		const struct sl__touch *touch = &t->list[i];
		int is_kin = k < t->n && overlap(touch, &t->list[k]);

		for (uint64_t b = 0; b < touch->n_bytes; b++, at++) {
			unsigned char before = t->before[at];

			if (result[at] == t->after[at])
				continue;
			if (is_kin && t->after[at] == before &&
			    result[at] == (unsigned char)~before)
				continue;
			return 1;
		}
	}
	return 0;
}

/* Results that differ from run to run anyway are no evidence. */
static int
is_repeatable(const struct sl__touching *t)
{
	put(t, t->before);
	if (sl__guide_step(t->program, t->step, NULL))
		return 0;
	save(t, t->again);
	return !came_otherwise(t, SIZE_MAX, t->again);
}

/* A step that makes the same of the opposite has no use for it. */
static int
is_used(const struct sl__touching *t, size_t k)
{
	put(t, t->before);
	invert(&t->list[k], 0xff);
	if (sl__guide_step(t->program, t->step, NULL))
		return 1;
	save(t, t->again);
	return came_otherwise(t, k, t->again);
}

static int
is_read_over(const struct sl__touching *t, size_t k)
{
	return is_used(t, k) && is_repeatable(t);
}

static int
writes_something(const struct sl__touching *t)
{
	for (size_t i = 0; i < t->n; i++) {
		if (t->list[i].is_written)
			return 1;
	}
	return 0;
}

void
sl__touching_ask(struct sl__touching *t)
{
	int has_result;

	find_quiet_writes(t);
	has_result = writes_something(t);
	for (size_t i = 0; i < t->n; i++) {
		struct sl__touch *touch = &t->list[i];

		if (touch->is_written)
			touch->is_read =
				touch->n_named > 1 ||
				(touch->is_known && is_read_over(t, i));
		else
			touch->is_read = touch->is_doubtful && has_result
						 ? is_used(t, i)
						 : touch->is_known;
	}
}
