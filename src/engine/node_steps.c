/* SPDX-License-Identifier: Apache-2.0 */
/* node_steps.c - what many kernels ask of a node, and the usual steps. */
#include "engine/node_steps.h"

#include "base/banned.h"

int
sl__plan_is_output(const struct sl__planner *pl, uint32_t value)
{
	const struct sl__block *block = &pl->graph->blocks[0];

	for (size_t k = 0; k < block->n_outputs; k++) {
		if (block->outputs[k] == value)
			return 1;
	}
	return 0;
}

int
sl__plan_integers(const struct sl__planner *pl, const struct sl__node *node,
		  size_t i, const char *attribute, const int64_t **values,
		  size_t *n)
{
	struct sl__call call = {pl->shapes, node};

	*values = NULL;
	*n = 0;
	if (attribute && sl__attribute(node, attribute)) {
		*n = sl__ints(node, attribute, values);
		return 1;
	}
	return sl__plan_in(node, i) == SL__NONE ||
	       sl__in_integers(&call, i, values, n);
}

const struct sl__form *
sl__plan_short_form(const struct sl__planner *pl, uint32_t value)
{
	const struct sl__form *form = sl__plan_form(pl, value);

	return form && sl__form_is_dense(form) &&
			       sl__form_dtype(form) == SL_DTYPE_BF16
		       ? form
		       : NULL;
}

enum sl_status
sl__plan_plain_step(struct sl__planner *pl, const struct sl__node *node,
		    struct sl__step **out, struct sl_error *err)
{
	uint32_t at[2];
	enum sl_status rc =
		sl__plan_read(pl, sl__plan_in(node, 0), NULL, &at[0], err);

	if (!rc)
		rc = sl__plan_write(pl, sl__plan_out(node, 0), NULL, &at[1],
				    err);
	return rc ? rc : sl__plan_step(pl, at, 2, out, err);
}

enum sl_status
sl__plan_side_step(struct sl__planner *pl, const uint32_t *operands, uint32_t n,
		   struct sl__step **out, struct sl_error *err)
{
	int is_counted = pl->is_counted;
	enum sl_status rc = sl__plan_step(pl, operands, n, out, err);

	if (rc)
		return rc;
	pl->is_counted = is_counted;
	(*out)->core_flops = 0;
	(*out)->nominal_flops = (*out)->executed_flops = 0;
	return SL_OK;
}
