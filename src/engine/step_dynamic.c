/* SPDX-License-Identifier: Apache-2.0 */
/*
 * step_dynamic.c - the evaluator as a step: sizes are found when it runs.
 *
 * Values whose sizes are planned are lent to the evaluator where they lie,
 * those that a body captures included; outputs whose sizes are planned are
 * written where they were planned.  Where only the file's word says what an
 * output is, or an input is the evaluator's, of which less is known when it
 * runs than when all was inferred (what the items of a sequence are), the
 * evaluator finds out first what the output is, and it is copied.
 */
#include "base/status.h"
#include "engine/lowering.h"
#include "engine/sized_nodes.h"

#include <string.h>

#include "base/banned.h"

struct dynamic {
	struct sl__evaluator *evaluator;
	uint32_t node;
	uint32_t block; /* that is run; SL__NONE: the node */
	uint32_t n_lent, n_bound;
	uint32_t *values; /* lent ones, then bound ones; as the operands */
	struct sl__runtime_value *data;
	const unsigned char *is_told; /* by value: it is to be copied */
	int copies_all;
};

static int
is_copied(const struct dynamic *d, uint32_t i)
{
	return d->copies_all || d->is_told[d->values[i]];
}

static enum sl_status
take(const struct dynamic *d, uint32_t i, struct sl_error *err)
{
	const struct sl__tensor *want = &d->data[i].tensor, *t;
	const struct sl__runtime_value *made;
	enum sl_status rc =
		sl__evaluator_value(d->evaluator, d->values[i], &made, err);

	if (rc)
		return rc;
	t = &made->tensor;
	if (made->kind != SL__TYPE_TENSOR || !sl__tensor_has_type_of(t, want))
		return sl__fail(err, SL_E_DATA,
				"output '%.200s' has another type or other "
				"sizes than the model says",
				d->evaluator->graph->values[d->values[i]].name);
	if (t->n_bytes)
		memcpy(d->data[i].bytes, t->bytes, (size_t)t->n_bytes);
	return SL_OK;
}

static enum sl_status
run(struct sl__step *step, struct sl_error *err)
{
	struct dynamic *d = step->state;
	const struct sl__node *node = &d->evaluator->graph->nodes[d->node];
	uint32_t end = d->n_lent + d->n_bound;
	enum sl_status rc;

	for (uint32_t i = 0; i < d->n_lent; i++)
		sl__evaluator_set_tensor(d->evaluator, d->values[i],
					 &d->data[i].tensor);
	for (uint32_t i = d->n_lent; i < end; i++) {
		if (!is_copied(d, i))
			sl__evaluator_bind_storage(d->evaluator, d->values[i],
						   &d->data[i]);
	}
	rc = d->block == SL__NONE
		     ? sl__evaluate_node(d->evaluator, d->node, err)
		     : sl__evaluate_block(d->evaluator, d->block, err);
	for (uint32_t i = d->n_lent; !rc && i < end; i++) {
		if (is_copied(d, i))
			rc = sl__error_prefix_node_name(err, take(d, i, err),
							node);
	}
	return rc;
}

static enum sl_status
bind(struct sl__step *step, struct sl_error *err)
{
	struct dynamic *d = step->state;

	(void)err;
	for (uint32_t i = 0; i < d->n_lent + d->n_bound; i++) {
		d->data[i].tensor.bytes = step->at[i];
		if (i >= d->n_lent)
			d->data[i].bytes = step->at[i];
	}
	return SL_OK;
}

static int
is_planned(const struct sl__planner *pl, uint32_t value)
{
	const struct sl__type *type = sl__plan_value_type(pl, value);
	uint64_t n;

	return !pl->held[value].is_dynamic &&
	       !pl->graph->values[value].tensor &&
	       type->kind == SL__TYPE_TENSOR && type->dtype != SL_DTYPE_NONE &&
	       type->dtype != SL_DTYPE_STRING && sl__type_elements(type, &n);
}

static void
lend(const struct sl__planner *pl, struct dynamic *d, uint32_t value)
{
	/* What bodies make themselves lies nowhere. */
	if (value == SL__NONE || !is_planned(pl, value) ||
	    !pl->held[value].n_versions)
		return;
	for (uint32_t i = 0; i < d->n_lent; i++) {
		if (d->values[i] == value)
			return;
	}
	d->values[d->n_lent++] = value;
}

static void lend_block(const struct sl__planner *pl, struct dynamic *d,
		       uint32_t block);

/* What a node uses, and the nodes of its bodies. */
static void
lend_inputs(const struct sl__planner *pl, struct dynamic *d, uint32_t id)
{
	const struct sl__node *node = &pl->graph->nodes[id];

	for (uint32_t i = 0; i < node->n_inputs; i++)
		lend(pl, d, node->inputs[i]);
	for (size_t a = 0; a < node->n_attributes; a++) {
		if (node->attributes[a].kind == SL__ATTRIBUTE_BLOCK)
			lend_block(pl, d, node->attributes[a].block);
	}
}

static void
lend_block(const struct sl__planner *pl, struct dynamic *d, uint32_t block)
{
	const struct sl__block *body = &pl->graph->blocks[block];

	for (size_t i = 0; i < body->n_nodes; i++)
		lend_inputs(pl, d, body->nodes[i]);
	for (size_t i = 0; i < body->n_outputs; i++)
		lend(pl, d, body->outputs[i]);
}

static size_t most_in_block(const struct sl__planner *pl, uint32_t block);

static size_t
most_values(const struct sl__planner *pl, uint32_t id)
{
	const struct sl__node *node = &pl->graph->nodes[id];
	size_t n = (size_t)node->n_inputs + node->n_outputs;

	for (size_t a = 0; a < node->n_attributes; a++) {
		if (node->attributes[a].kind == SL__ATTRIBUTE_BLOCK)
			n += most_in_block(pl, node->attributes[a].block);
	}
	return n;
}

static size_t
most_in_block(const struct sl__planner *pl, uint32_t block)
{
	const struct sl__block *body = &pl->graph->blocks[block];
	size_t n = body->n_outputs;

	for (size_t i = 0; i < body->n_nodes; i++)
		n += most_values(pl, body->nodes[i]);
	return n;
}

/* Those that are lent, of a node or block, then those that are bound. */
static void
find_operands(struct sl__planner *pl, struct dynamic *d, uint32_t *operands)
{
	const struct sl__node *node = &pl->graph->nodes[d->node];
	uint32_t n;

	if (d->block == SL__NONE)
		lend_inputs(pl, d, d->node);
	else
		lend_block(pl, d, d->block);
	for (n = 0; n < d->n_lent; n++) {
		sl__plan_describe_value(pl, d->values[n], &d->data[n]);
		operands[n] = sl__plan_input_buffer(pl, d->values[n], NULL);
	}
	for (uint32_t k = 0; d->block == SL__NONE && k < node->n_outputs; k++) {
		uint32_t value = node->outputs[k];

		if (value == SL__NONE)
			continue;
		if (!is_planned(pl, value)) {
			pl->held[value].is_dynamic = 1;
			continue;
		}
		d->values[n] = value;
		sl__plan_describe_value(pl, value, &d->data[n]);
		operands[n++] = sl__plan_output_buffer(pl, value, NULL);
		d->n_bound++;
	}
}

static int
has_dynamic_input(const struct sl__planner *pl, const struct sl__node *node)
{
	for (uint32_t i = 0; i < node->n_inputs; i++) {
		if (node->inputs[i] != SL__NONE &&
		    pl->held[node->inputs[i]].is_dynamic)
			return 1;
	}
	return 0;
}

static void
add_dynamic(struct sl__planner *pl, uint32_t node_id, uint32_t block)
{
	size_t most = block == SL__NONE ? most_values(pl, node_id)
					: most_in_block(pl, block);
	struct dynamic *d = sl__plan_alloc_state(pl, sizeof(*d));
	uint32_t *operands = sl__plan_alloc_state(pl, most * sizeof(*operands));
	uint32_t *values = sl__plan_alloc_state(pl, most * sizeof(*values));
	struct sl__runtime_value *data =
		sl__plan_alloc_state(pl, most * sizeof(*data));
	struct sl__step *step;

	if (pl->rc)
		return;
	d->evaluator = pl->program->evaluator;
	d->node = node_id;
	d->block = block;
	d->is_told = pl->shapes->is_told;
	d->copies_all = has_dynamic_input(pl, &pl->graph->nodes[node_id]);
	d->values = values;
	d->data = data;
	find_operands(pl, d, operands);
	pl->program->is_stepwise = 1;
	sl__sized_nodes_attach(pl);
	step = sl__plan_add_step(pl, operands, d->n_lent + d->n_bound,
				 "stepwise", run, d);
	step->path = SL_PATH_STEPWISE;
	step->bind = bind;
}

void
sl__plan_dynamic(struct sl__planner *pl, uint32_t node_id)
{
	add_dynamic(pl, node_id, SL__NONE);
}

void
sl__plan_dynamic_block(struct sl__planner *pl, uint32_t block)
{
	add_dynamic(pl, pl->node, block);
}
