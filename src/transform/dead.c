/* SPDX-License-Identifier: Apache-2.0 */
/* dead.c - nodes that nobody needs are taken out. */
#include "transform/optimize.h"

#include "base/banned.h"

static int
is_needed(const struct sl__rewrite *rw, const struct sl__node *node)
{
	for (uint32_t k = 0; k < node->n_outputs; k++) {
		uint32_t value = node->outputs[k];

		if (value != SL__NONE &&
		    (rw->is_pinned[value] || rw->uses[value].n))
			return 1;
	}
	return node->n_outputs == 0;
}

/* From the last node to the first, as often as something goes: nodes that
 * were added stand after those that use them. */
void
sl__pass_dead(struct sl__rewrite *rw)
{
	int has_changed = 1;

	while (has_changed) {
		has_changed = 0;
		for (size_t i = rw->n_nodes; i-- > 0;) {
			const struct sl__mutable_node *row = &rw->nodes[i];

			if (row->is_gone || is_needed(rw, &row->node))
				continue;
			sl__rewrite_remove_node(rw, (uint32_t)i);
			has_changed = 1;
		}
	}
}
