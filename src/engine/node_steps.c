/* SPDX-License-Identifier: Apache-2.0 */
/* node_steps.c - what many kernels ask of a node, and the usual steps. */
#include "engine/node_steps.h"

#include "base/banned.h"

const struct sl__type *
sl__plan_node_input_type(const struct sl__planner *pl,
			 const struct sl__node *node, size_t i)
{
	return sl__plan_value_type(pl, node->inputs[i]);
}

const struct sl__type *
sl__plan_node_output_type(const struct sl__planner *pl,
			  const struct sl__node *node, size_t k)
{
	return sl__plan_value_type(pl, node->outputs[k]);
}

int
sl__plan_is_model_output(const struct sl__planner *pl, uint32_t value)
{
	return pl->held[value].is_output;
}

int
sl__plan_node_integer_list(const struct sl__planner *pl,
			   const struct sl__node *node, size_t i,
			   const char *attribute, const int64_t **values,
			   size_t *n)
{
	struct sl__rule_context call = {.shapes = pl->shapes, .node = node};

	*values = NULL;
	*n = 0;
	if (attribute && sl__attribute_find(node, attribute)) {
		*n = sl__attribute_ints(node, attribute, values);
		return 1;
	}
	return sl__plan_node_input(node, i) == SL__NONE ||
	       sl__in_integers(&call, i, values, n);
}

int64_t
sl__sizes_product(const struct sl__type *type, int first, int end)
{
	int64_t n = 1;

	for (int d = first; d < end; d++)
		n *= type->dims[d];
	return n;
}

const struct sl__layout *
sl__plan_find_bf16_layout(const struct sl__planner *pl, uint32_t value)
{
	const struct sl__layout *layout = sl__plan_value_layout(pl, value);

	return layout && sl__layout_is_dense(layout) &&
			       sl__layout_dtype(layout) == SL_DTYPE_BF16
		       ? layout
		       : NULL;
}

void
sl__plan_node_operands(struct sl__planner *pl, const struct sl__node *node,
		       uint32_t n, uint32_t *operands)
{
	for (uint32_t i = 0; i < n; i++)
		operands[i] = sl__plan_input_buffer(pl, node->inputs[i], NULL);
	operands[n] = sl__plan_output_buffer(pl, node->outputs[0], NULL);
}

uint32_t
sl__plan_output_over_first(struct sl__planner *pl, uint32_t value,
			   const uint32_t *operands, uint32_t n)
{
	const struct sl__buffer *b = pl->program->buffers;

	for (uint32_t i = 1; !pl->rc && i < n; i++) {
		if (b[operands[i]].base == b[operands[0]].base)
			return sl__plan_output_buffer(pl, value, NULL);
	}
	return sl__plan_output_in_place(pl, value, NULL, operands[0]);
}

static enum sl_status
run_parts(struct sl__step *step, struct sl_error *err)
{
	(void)err;
	sl__parallel_run(step->n_threads, step->part, step->state);
	return SL_OK;
}

struct sl__step *
sl__plan_add_parallel_step(struct sl__planner *pl, const uint32_t *operands,
			   uint32_t n, const char *kernel,
			   sl__parallel_function *part, void *state)
{
	struct sl__step *step =
		sl__plan_add_step(pl, operands, n, kernel, run_parts, state);

	step->part = part;
	step->n_threads = sl__threads_for_bytes(step->n_threads, step->n_bytes);
	return step;
}

struct sl__step *
sl__plan_add_per_run_prep_step(struct sl__planner *pl, const uint32_t *operands,
			       uint32_t n, const char *kernel,
			       sl__run_function *run, void *state)
{
	int is_counted = pl->is_counted;
	struct sl__step *step =
		sl__plan_add_step(pl, operands, n, kernel, run, state);

	pl->is_counted = is_counted;
	step->core_flops = step->nominal_flops = step->executed_flops = 0;
	return step;
}
