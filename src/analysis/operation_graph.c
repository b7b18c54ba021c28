/* SPDX-License-Identifier: Apache-2.0 */
/*
 * operation_graph.c - which operations use what others make.
 *
 * A step names buffers, not what it does with them.  It reads what earlier
 * steps wrote where the buffer lies, and writes a buffer that holds an output
 * of its node or that nobody wrote before it.
 */
#include "analysis/operation_graph.h"
#include "analysis/made_buffers.h"
#include "base/status.h"

#include "base/banned.h"

/* A step that wrote to a buffer, the newest of its base first. */
struct writer {
	uint32_t buffer;
	size_t step;
	struct writer *next;
};

struct finder {
	const struct sl__program *program;
	struct sl__arena *arena;
	struct sl__made_buffers made;
	struct writer **writers; /* by base */
	size_t *linked;          /* by step: 1 + the step it was linked to */
	struct sl_operation_edge *edges;
	size_t n, cap;
};

static enum sl_status
add_edge(struct finder *f, size_t from, size_t to, struct sl_error *err)
{
	if (from >= to || f->linked[from] == to + 1)
		return SL_OK;
	f->linked[from] = to + 1;
	if (!sl__arena_grow(f->arena, &f->edges, f->n, &f->cap,
			    sizeof(*f->edges)))
		return sl__fail_nomem(err);
	f->edges[f->n++] = (struct sl_operation_edge){from, to};
	return SL_OK;
}

/* Where a buffer begins in its base. */
static uint64_t
start_of(const struct finder *f, uint32_t buffer)
{
	const struct sl__buffer *b = &f->program->buffers[buffer];

	return b->base == buffer ? 0 : b->offset;
}

static int
overlap(const struct finder *f, uint32_t a, uint32_t b)
{
	const struct sl__buffer *buffers = f->program->buffers;

	return start_of(f, a) < start_of(f, b) + buffers[b].n_bytes &&
	       start_of(f, b) < start_of(f, a) + buffers[a].n_bytes;
}

static int
is_within(const struct finder *f, uint32_t inner, uint32_t outer)
{
	const struct sl__buffer *buffers = f->program->buffers;

	return start_of(f, inner) >= start_of(f, outer) &&
	       start_of(f, inner) + buffers[inner].n_bytes <=
		       start_of(f, outer) + buffers[outer].n_bytes;
}

/* The step is the last that wrote to the buffer from now on. */
static enum sl_status
note_writer(struct finder *f, uint32_t buffer, size_t step,
	    struct sl_error *err)
{
	struct writer **at = &f->writers[f->program->buffers[buffer].base];
	struct writer *w = sl__arena_alloc(f->arena, sizeof(*w));

	if (!w)
		return sl__fail_nomem(err);
	*w = (struct writer){buffer, step, *at};
	*at = w;
	for (struct writer **old = &w->next; *old;) {
		if (is_within(f, (*old)->buffer, buffer))
			*old = (*old)->next;
		else
			old = &(*old)->next;
	}
	return SL_OK;
}

static enum sl_status
link_operand(struct finder *f, size_t s, uint32_t buffer, struct sl_error *err)
{
	const struct sl__buffer *b = &f->program->buffers[buffer];
	const struct sl__buffer *base = &f->program->buffers[b->base];
	int is_written = 0;
	enum sl_status rc = SL_OK;

	if (base->category == SL__CATEGORY_CONSTANT)
		return SL_OK;
	for (struct writer *w = f->writers[b->base]; !rc && w; w = w->next) {
		if (!overlap(f, w->buffer, buffer))
			continue;
		is_written = 1;
		rc = add_edge(f, w->step, s, err);
	}
	if (!rc && base->category != SL__CATEGORY_INPUT &&
	    (!is_written || sl__made_buffers_has(&f->made, b->base,
						 f->program->steps[s].node)))
		rc = note_writer(f, buffer, s, err);
	return rc;
}

enum sl_status
sl__operation_graph(struct sl_profile *out, const struct sl__program *program,
		    struct sl__arena *arena, struct sl_error *err)
{
	struct finder f = {.program = program, .arena = arena};
	enum sl_status rc = sl__made_buffers_list(&f.made, program, arena, err);

	f.writers =
		sl__arena_array(arena, program->n_buffers, sizeof(*f.writers));
	f.linked = sl__arena_array(arena, program->n_steps, sizeof(*f.linked));
	if (!rc && (!f.writers || !f.linked))
		rc = sl__fail_nomem(err);
	for (size_t s = 0; !rc && s < program->n_steps; s++) {
		const struct sl__step *step = &program->steps[s];

		for (size_t k = 0;
		     !rc && k < step->n_operands - step->n_scratch; k++)
			rc = link_operand(&f, s, step->operands[k], err);
	}
	out->edges = f.edges;
	out->n_edges = f.n;
	return rc;
}
