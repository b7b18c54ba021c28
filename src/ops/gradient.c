/* SPDX-License-Identifier: Apache-2.0 */
/* gradient.c - what gradient rules share, and those that say nothing. */
#include "ops/gradient.h"
#include "base/status.h"

#include "base/banned.h"

uint32_t
sl__gradient_dy(const struct sl__gradient *g, uint32_t k)
{
	return g->dy[k] != SL__NONE
		       ? g->dy[k]
		       : sl__node_writer_fill_like(g->w, g->node.outputs[k], 0);
}

void
sl__gradient_set_summed(struct sl__gradient *g, uint32_t i, uint32_t value)
{
	g->dx[i] = sl__node_writer_sum_like(g->w, value, g->node.inputs[i]);
}

void
sl__gradient_reject(struct sl__gradient *g, const char *why)
{
	if (!g->w->rc)
		g->w->rc = sl__fail(g->w->err, SL_E_ABSENT,
				    "node '%.200s' (%.60s): %s", g->node.name,
				    g->node.type, why);
}

const int64_t *
sl__gradient_integers(struct sl__gradient *g, uint32_t i, const char *attribute,
		      size_t *n)
{
	struct sl__rule_context call = {.shapes = g->w->shapes,
					.node = &g->node};
	const int64_t *values = NULL;

	*n = sl__attribute_ints(&g->node, attribute, &values);
	if (*n || i == SL__NONE || sl__gradient_input(g, i) == SL__NONE)
		return values;
	if (!sl__in_integers(&call, i, &values, n))
		sl__gradient_reject(
			g, "it has no gradient where its sizes or places "
			   "depend on data");
	return g->w->rc ? NULL : values;
}

void
sl__grad_none(struct sl__gradient *g)
{
	sl__gradient_reject(g, "there is no gradient of this operator");
}

void
sl__grad_zero(struct sl__gradient *g)
{
	(void)g;
}
