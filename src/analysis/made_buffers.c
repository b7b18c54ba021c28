/* SPDX-License-Identifier: Apache-2.0 */
/* made_buffers.c - which buffers of a program hold what a node makes. */
#include "analysis/made_buffers.h"
#include "base/status.h"

#include <stdlib.h>

#include "base/banned.h"

static int
by_buffer(const void *a, const void *b)
{
	const struct sl__made_buffer *x = a, *y = b;

	if (x->buffer != y->buffer)
		return x->buffer < y->buffer ? -1 : 1;
	return x->node < y->node ? -1 : x->node > y->node;
}

enum sl_status
sl__made_buffers_list(struct sl__made_buffers *out,
		      const struct sl__program *program,
		      struct sl__arena *arena, struct sl_error *err)
{
	size_t n = 0;

	for (const struct sl__buffer_label *l = program->labels; l; l = l->next)
		n++;
	out->n = 0;
	out->list = sl__arena_array(arena, n, sizeof(*out->list));
	if (!out->list)
		return sl__fail_nomem(err);
	for (const struct sl__buffer_label *l = program->labels; l; l = l->next)
		out->list[out->n++] = (struct sl__made_buffer){
			l->buffer, program->graph->values[l->value].producer};
	if (n)
		qsort(out->list, n, sizeof(*out->list), by_buffer);
	return SL_OK;
}

int
sl__made_buffers_has(const struct sl__made_buffers *made, uint32_t base,
		     uint32_t node)
{
	struct sl__made_buffer key = {base, node};

	return node != SL__NONE && made->n &&
	       bsearch(&key, made->list, made->n, sizeof(key), by_buffer);
}
