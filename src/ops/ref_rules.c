/* SPDX-License-Identifier: Apache-2.0 */
/* ref_rules.c - a kernel's inputs as the rules of its operator see them. */
#include "ops/ref_rules.h"

#include <string.h>

#include "base/banned.h"

enum sl_status
sl__ref_rule_view_begin(struct sl__ref_rule_view *view,
			struct sl__kernel_call *ev)
{
	size_t n = ev->node->n_inputs;
	struct sl__type *types = sl__ref_scratch(ev, n, sizeof(*types));
	const struct sl__tensor **tensors =
		sl__ref_scratch(ev, n, sizeof(*tensors));

	if (ev->failure)
		return ev->failure;
	memset(view, 0, sizeof(*view));
	view->shapes.arena = *ev->scratch;
	view->call = (struct sl__rule_context){.shapes = &view->shapes,
					       .node = ev->node,
					       .err = ev->err,
					       .types = types,
					       .tensors = tensors};
	for (size_t i = 0; i < n; i++) {
		const struct sl__tensor *t = sl__ref_input_tensor(ev, i);

		types[i].rank = -1;
		if (!t)
			continue;
		types[i] = (struct sl__type){SL__TYPE_TENSOR, t->dtype,
					     (int)t->rank, t->dims, NULL};
		tensors[i] = t;
	}
	return SL_OK;
}

enum sl_status
sl__ref_rule_view_end(struct sl__ref_rule_view *view,
		      struct sl__kernel_call *ev)
{
	*ev->scratch = view->shapes.arena;
	if (view->shapes.is_short)
		sl__ref_nomem(ev);
	return sl__ref_keep_status(ev, view->call.failure);
}
