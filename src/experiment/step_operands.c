/* SPDX-License-Identifier: Apache-2.0 */
/*
 * step_operands.c - what a step reads and writes: kept, put back, flushed.
 *
 * Every thread takes its part of each operand, so that a copy leaves it in
 * that thread's cache, as kernels mostly divide it.
 */
#include "experiment/step_operands.h"
#include "compute/parallel.h"
#include "machine/flush.h"

#include <string.h>

#include "base/banned.h"

static uint64_t
movable_bytes(const struct sl__program *p, const struct sl__step *s, uint32_t k)
{
	const struct sl__buffer *b = &p->buffers[s->operands[k]];

	return p->buffers[b->base].category == SL__CATEGORY_CONSTANT
		       ? 0
		       : b->n_bytes;
}

uint64_t
sl__operands_bytes(const struct sl__program *p, const struct sl__step *s)
{
	uint64_t sum = 0;

	for (uint32_t k = 0; k < s->n_operands; k++)
		sum += movable_bytes(p, s, k);
	return sum;
}

struct copying {
	const struct sl__operands *operands;
	int puts_back;
};

static void
copy_part(int rank, int n, void *ctx)
{
	const struct copying *c = ctx;
	const struct sl__step *step = c->operands->step;
	unsigned char *saved = c->operands->saved;

	for (uint32_t k = 0; k < step->n_operands; k++) {
		uint64_t n_bytes = movable_bytes(c->operands->program, step, k);
		int64_t first, end;
		size_t size;

		sl__parallel_range((int64_t)n_bytes, rank, n, &first, &end);
		size = (size_t)(end - first);
		if (size && c->puts_back)
			memcpy(step->at[k] + first, saved + first, size);
		else if (size)
			memcpy(saved + first, step->at[k] + first, size);
		saved += n_bytes;
	}
}

void
sl__operands_save(const struct sl__operands *operands)
{
	struct copying c = {operands, 0};

	sl__parallel_run(operands->n_threads, copy_part, &c);
}

void
sl__operands_restore(const struct sl__operands *operands)
{
	struct copying c = {operands, 1};

	sl__parallel_run(operands->n_threads, copy_part, &c);
}

int
sl__operands_differ(const struct sl__operands *o)
{
	const unsigned char *saved = o->saved;

	for (uint32_t k = 0; k < o->step->n_operands; k++) {
		size_t size = (size_t)movable_bytes(o->program, o->step, k);

		if (size && memcmp(o->step->at[k], saved, size))
			return 1;
		saved += size;
	}
	return 0;
}

static void
flush_part(int rank, int n, void *ctx)
{
	const struct sl__operands *o = ctx;

	for (uint32_t k = 0; k < o->step->n_operands; k++) {
		uint64_t n_bytes =
			o->program->buffers[o->step->operands[k]].n_bytes;
		int64_t first, end;

		sl__parallel_range((int64_t)n_bytes, rank, n, &first, &end);
		if (end > first && o->step->at[k])
			(void)sl__flush_cache_lines(o->step->at[k] + first,
						    (size_t)(end - first));
	}
}

int
sl__operands_flush(const struct sl__operands *operands)
{
	struct sl__operands o = *operands;

	if (!sl__flush_is_possible())
		return 0;
	sl__parallel_run(o.n_threads, flush_part, &o);
	return 1;
}
