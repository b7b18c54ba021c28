/* SPDX-License-Identifier: Apache-2.0 */
/*
 * op_control.c - If, Loop and Scan: nodes that run other blocks.
 *
 * What is known decides how often each block runs: a branch that is not taken
 * does not, a loop's body as often as its count says where nothing can end it
 * early.  Control flow costs nothing itself, the nodes of its blocks do.
 */
#include "graph/body.h"
#include "graph/op_rules.h"
#include "ops/cost.h"
#include "ops/list_input.h"

#include <stdio.h>
#include <string.h>

#include "base/banned.h"

void
sl__cost_control(struct sl__rule_context *call, struct sl_cost *cost)
{
	(void)call;
	cost->work = SL_WORK_VIEW;
	cost->weight_bytes = cost->read_bytes = cost->written_bytes = 0;
}

static uint64_t
calls_of_owner(const struct sl__rule_context *call)
{
	return call->shapes->block_calls[call->node->block];
}

static void
set_known(struct sl__rule_context *call, size_t k,
	  const struct sl__known_contents *known)
{
	if (known)
		sl__out_set_same_contents(call, k, known);
}

/* 1, 0, or -1 where the condition depends on data. */
static int
truth_of(const struct sl__known_contents *known)
{
	if (!known || !known->ints || known->n != 1 ||
	    sl__is_symbol(known->ints[0]))
		return -1;
	return known->ints[0] != 0;
}

static void
check_condition(struct sl__rule_context *call, size_t i)
{
	enum sl_dtype dtype = sl__in_dtype(call, i);

	if (dtype != SL_DTYPE_NONE && dtype != SL_DTYPE_BOOL)
		sl__rule_reject(call, "its condition is of type %s, not bool",
				sl_dtype_text(dtype));
}

static uint32_t
find_branch(struct sl__rule_context *call, const char *name)
{
	uint32_t block = sl__node_body_by_name(call->node, name);
	size_t n = block == SL__NONE
			   ? 0
			   : call->shapes->graph->blocks[block].n_outputs;

	if (block == SL__NONE)
		sl__rule_reject(call, "it has no %s", name);
	else if (n != call->node->n_outputs)
		sl__rule_reject(call, "its %s gives %zu values, the node %u",
				name, n, call->node->n_outputs);
	return block;
}

/* The node gives what the one branch gives. */
static enum sl_status
take_branch(struct sl__rule_context *call, uint32_t block)
{

	for (size_t k = 0; !call->failure && k < call->node->n_outputs; k++) {
		uint32_t value = sl__body_output_value(call->shapes, block, k);

		sl__out_set_type(call, k, &call->shapes->types[value]);
		set_known(call, k,
			  sl__shapes_known_contents(call->shapes, value));
	}
	return call->failure;
}

static enum sl_status
infer_branch(const struct sl__rule_context *call, uint32_t block,
	     struct sl_error *err)
{
	enum sl_status rc;

	sl__body_clear_inferred(call->shapes, block);
	call->shapes->block_calls[block] = 1;
	rc = sl__infer_block(call->shapes, block, err);
	sl__body_multiply_calls(call->shapes, block, calls_of_owner(call));
	return rc;
}

static enum sl_status
merge_branches(struct sl__rule_context *call, const uint32_t *blocks)
{
	struct sl__shapes *shapes = call->shapes;

	for (size_t k = 0; !call->failure && k < call->node->n_outputs; k++) {
		const struct sl__type *a = &shapes->types[sl__body_output_value(
			shapes, blocks[0], k)];
		const struct sl__type *b = &shapes->types[sl__body_output_value(
			shapes, blocks[1], k)];
		struct sl__type both;

		if (!sl__rule_keep_status(call, sl__type_merge(shapes, &both, a,
							       b, call->err)))
			sl__out_set_type(call, k, &both);
	}
	return call->failure;
}

/* A branch that cannot be run with these shapes is not the one taken. */
static enum sl_status
infer_either(struct sl__rule_context *call, const uint32_t *blocks)
{
	struct sl_error why[2] = {0};
	enum sl_status rc[2];

	for (int i = 0; i < 2; i++) {
		size_t n_unresolved = call->shapes->n_unresolved;

		rc[i] = infer_branch(call, blocks[i], &why[i]);
		if (rc[i] && rc[i] != SL_E_DATA)
			return sl__rule_nomem(call);
		if (rc[i])
			call->shapes->n_unresolved = n_unresolved;
	}
	if (rc[0] && rc[1])
		return sl__rule_reject(call, "%s", why[0].text);
	for (int i = 0; i < 2; i++) {
		if (rc[i]) {
			sl__body_clear_inferred(call->shapes, blocks[i]);
			return take_branch(call, blocks[!i]);
		}
	}
	return merge_branches(call, blocks);
}

enum sl_status
sl__infer_if(struct sl__rule_context *call)
{
	uint32_t blocks[2] = {find_branch(call, "then_branch"),
			      find_branch(call, "else_branch")};
	int truth = truth_of(sl__in_known_contents(call, 0));
	uint32_t taken = blocks[truth ? 0 : 1];

	check_condition(call, 0);
	if (call->failure)
		return call->failure;
	if (truth < 0)
		return infer_either(call, blocks);
	if (sl__rule_keep_status(call, infer_branch(call, taken, call->err)))
		return call->failure;
	return take_branch(call, taken);
}

/* How often a body runs: -1 where that depends on data, and its size in a
 * shape, which may be a symbol. */
struct trips {
	int64_t n;
	int64_t size;
};

static struct trips
trips_of_size(int64_t size)
{
	struct trips trips = {sl__is_symbol(size) ? -1 : size, size};

	return trips;
}

static void
scale_body(struct sl__rule_context *call, uint32_t body, const struct trips *t)
{
	sl__body_multiply_calls(call->shapes, body,
				t->n < 0 ? UINT64_MAX : (uint64_t)t->n);
	sl__body_multiply_calls(call->shapes, body, calls_of_owner(call));
}

static enum sl_status
new_carried(struct sl__rule_context *call, struct sl__loop_carried_values *c,
	    size_t first_node_input)
{
	struct sl__arena *arena = &call->shapes->arena;

	c->types = sl__arena_array(arena, c->n, sizeof(*c->types));
	c->known = sl__arena_array(arena, c->n, sizeof(void *));
	if (!c->types || !c->known)
		return sl__rule_nomem(call);
	for (size_t i = 0; i < c->n; i++) {
		const struct sl__type *type =
			sl__in_type(call, first_node_input + i);

		if (type)
			c->types[i] = *type;
		else
			c->types[i].rank = -1;
		c->known[i] = sl__in_known_contents(call, first_node_input + i);
	}
	return SL_OK;
}

/*
 * A size that changes from run to run is not, after the last, what the body
 * knows by that number: it gets one of its own.
 */
static enum sl_status
leave_sizes(struct sl__rule_context *call, struct sl__type *type,
	    const struct sl__type *last)
{
	int64_t *dims;

	if (type->kind != SL__TYPE_TENSOR || type->rank <= 0)
		return SL_OK;
	dims = sl__sizes_alloc(call, (size_t)type->rank);
	for (int d = 0; dims && d < type->rank; d++) {
		int is_kept = last->rank == type->rank &&
			      last->dims[d] == type->dims[d];

		dims[d] = !is_kept && sl__size_is_unknown(call->shapes,
							  type->dims[d])
				  ? sl__size_new_unknown(call->shapes)
				  : type->dims[d];
	}
	type->dims = dims;
	return call->failure;
}

/* What the node gives for its carried values. */
static enum sl_status
give_carried(struct sl__rule_context *call,
	     const struct sl__loop_carried_values *c, const struct trips *trips,
	     size_t first_node_input)
{
	struct sl__shapes *shapes = call->shapes;

	for (size_t i = 0; !call->failure && i < c->n; i++) {
		uint32_t last = sl__body_output_value(shapes, c->block,
						      c->first_out + i);
		const struct sl__type *type = &c->types[i];

		if (trips->n == 0)
			type = sl__in_type(call, first_node_input + i);
		else if (c->runs_once ||
			 (trips->n > 0 && type->kind == SL__TYPE_OPTIONAL))
			type = &shapes->types[last]; /* no more optional */
		else
			leave_sizes(call, &c->types[i], &shapes->types[last]);
		sl__out_set_type(call, i, type);
		if (trips->n == 0 || sl__body_carries_unchanged(shapes, c, i))
			set_known(call, i, c->known[i]);
		else if (c->runs_once)
			set_known(call, i,
				  sl__shapes_known_contents(shapes, last));
	}
	return call->failure;
}

/* Output k of the node: a body's output, stacked along an axis. */
static enum sl_status
give_stacked(struct sl__rule_context *call, size_t k, uint32_t value,
	     int64_t size, int64_t named_axis)
{
	const struct sl__type *type = &call->shapes->types[value];
	int64_t *dims;
	int axis, at = 0;

	if (type->kind != SL__TYPE_TENSOR || type->rank < 0)
		return sl__out_set_shape(call, k, type->dtype, -1, NULL);
	axis = sl__axis_normalize(named_axis, type->rank + 1);
	if (axis < 0)
		sl__rule_reject(
			call, "output axis %lld lies outside of %d dimensions",
			(long long)named_axis, type->rank + 1);
	dims = sl__sizes_alloc(call, (size_t)type->rank + 1);
	for (int i = 0; !call->failure && i <= type->rank; i++)
		dims[i] = i == axis ? size : type->dims[at++];
	return sl__out_set_shape(call, k, type->dtype, type->rank + 1, dims);
}

static enum sl_status
check_body(struct sl__rule_context *call, uint32_t body, size_t n_in,
	   size_t n_out)
{
	const struct sl__block *block;

	if (body == SL__NONE)
		return sl__rule_reject(call, "it has no body");
	block = &call->shapes->graph->blocks[body];
	if (block->n_inputs != n_in)
		return sl__rule_reject(
			call,
			"its body takes %zu values, %zu are handed "
			"in",
			block->n_inputs, n_in);
	if (block->n_outputs != n_out)
		return sl__rule_reject(
			call,
			"its body gives %zu values, %zu are asked "
			"for",
			block->n_outputs, n_out);
	return SL_OK;
}

static void
set_scalar(struct sl__shapes *shapes, uint32_t value, enum sl_dtype dtype)
{
	struct sl__type scalar = {SL__TYPE_TENSOR, dtype, 0, NULL, NULL};

	shapes->types[value] = scalar;
	shapes->known[value] = NULL;
}

/*
 * The number of the run is a symbol, so that what a body takes from place i
 * to i + 1 is one element.
 */
static enum sl_status
name_iteration(struct sl__rule_context *call, uint32_t value)
{
	struct sl__shapes *shapes = call->shapes;
	struct sl__known_contents *known =
		sl__arena_alloc(&shapes->arena, sizeof(*known));
	int64_t *ints = sl__sizes_alloc(call, 1);
	char name[32];

	if (!known || !ints)
		return sl__rule_nomem(call);
	snprintf(name, sizeof(name), "run_%u",
		 (unsigned)(call->node - shapes->graph->nodes));
	ints[0] = sl__size_new_named(shapes, name);
	known->dtype = SL_DTYPE_I64;
	known->n = 1;
	known->ints = ints;
	if (sl__is_symbol(ints[0]))
		shapes->known[value] = known;
	return SL_OK;
}

/* The most that it runs, as far as the node itself says: "?" where that
 * depends on data. */
static int64_t
loop_limit(struct sl__rule_context *call)
{
	const struct sl__known_contents *most = sl__in_known_contents(call, 0);
	int truth = sl__has_in(call, 1)
			    ? truth_of(sl__in_known_contents(call, 1))
			    : 1;

	if (truth == 0)
		return 0;
	if (truth < 0 || !most || !most->ints || most->n != 1)
		return sl__size_new_unknown(call->shapes);
	if (!sl__is_symbol(most->ints[0]) && most->ints[0] < 0)
		return 0;
	return most->ints[0];
}

/* Whether the body may say stop, now that it has been looked at. */
static struct trips
loop_trips(struct sl__rule_context *call, uint32_t body, int64_t limit)
{
	uint32_t goes_on = sl__body_output_value(call->shapes, body, 0);
	int truth = truth_of(sl__shapes_known_contents(call->shapes, goes_on));

	if (truth == 1 || limit == 0 || limit == 1)
		return trips_of_size(limit);
	if (truth == 0 && !sl__is_symbol(limit))
		return trips_of_size(1); /* it runs, then stops */
	return trips_of_size(sl__size_new_unknown(call->shapes));
}

enum sl_status
sl__infer_loop(struct sl__rule_context *call)
{
	static const int64_t one = 1;
	static const struct sl__known_contents yes = {SL_DTYPE_BOOL, 1, &one,
						      NULL};
	struct sl__shapes *shapes = call->shapes;
	size_t n = call->node->n_inputs > 2 ? call->node->n_inputs - 2 : 0;
	struct sl__loop_carried_values c = {
		.block = sl__node_body_by_name(call->node, "body"),
		.first_in = 2,
		.first_out = 1,
		.n = n};
	int64_t limit = loop_limit(call);
	const struct sl__block *block;
	struct trips trips;

	check_body(call, c.block, 2 + n, 1 + (size_t)call->node->n_outputs);
	if (call->node->n_outputs < n)
		sl__rule_reject(call, "it gives fewer values than it takes");
	check_condition(call, 1);
	if (call->failure || new_carried(call, &c, 2))
		return call->failure;
	block = &shapes->graph->blocks[c.block];
	set_scalar(shapes, block->inputs[0], SL_DTYPE_I64);
	if (name_iteration(call, block->inputs[0]))
		return call->failure;
	set_scalar(shapes, block->inputs[1], SL_DTYPE_BOOL);
	shapes->known[block->inputs[1]] = &yes; /* or it would not run */
	c.runs_once = limit == 1;
	if (sl__rule_keep_status(call, sl__body_infer(shapes, &c, call->err)))
		return call->failure;
	trips = loop_trips(call, c.block, limit);
	scale_body(call, c.block, &trips);
	give_carried(call, &c, &trips, 2);
	for (size_t k = n; k < call->node->n_outputs; k++)
		give_stacked(call, k, block->outputs[1 + k], trips.size, 0);
	return call->failure;
}

/*
 * The first version (8) takes the lengths of its sequences as first input and
 * has a batch before every dimension; later ones choose axes.
 */
struct scan {
	int has_batch;
	size_t first_state, n_states, n_scans;
	struct sl__integer_list in_axes, out_axes;
	int64_t batch, length;
};

static int64_t
axis_at(const struct sl__integer_list *axes, size_t i)
{
	return axes->is_given && (int64_t)i < axes->n ? axes->values[i] : 0;
}

static enum sl_status
scan_of(struct sl__rule_context *call, struct scan *s)
{
	int64_t n_scans = sl__attribute_int(call->node, "num_scan_inputs", 0);
	const struct sl__node *node = call->node;

	memset(s, 0, sizeof(*s));
	s->has_batch = node->version < 9;
	s->first_state = s->has_batch ? 1 : 0;
	if (n_scans < 1 || node->n_inputs < s->first_state ||
	    (uint64_t)n_scans > node->n_inputs - s->first_state)
		return sl__rule_reject(call, "%lld inputs to scan, of %u",
				       (long long)n_scans, node->n_inputs);
	s->n_scans = (size_t)n_scans;
	s->n_states = node->n_inputs - s->first_state - s->n_scans;
	if (node->n_outputs < s->n_states)
		return sl__rule_reject(call,
				       "it gives fewer values than it keeps");
	s->in_axes = sl__integer_list_read(call, SIZE_MAX, "scan_input_axes");
	s->out_axes = sl__integer_list_read(call, SIZE_MAX, "scan_output_axes");
	s->batch = s->length = sl__size_new_unknown(call->shapes);
	return SL_OK;
}

/* Dimension d of a type is taken out; what it was goes into *size. */
static enum sl_status
take_dim(struct sl__rule_context *call, struct sl__type *type, int64_t named,
	 int64_t *size)
{
	int64_t *dims;
	int axis, n = 0;

	if (type->kind != SL__TYPE_TENSOR || type->rank < 0)
		return SL_OK;
	axis = sl__axis_require(call, named, type->rank);
	dims = sl__sizes_alloc(call, (size_t)type->rank);
	if (call->failure)
		return call->failure;
	if (sl__size_unify(type->dims[axis], *size) == -1)
		return sl__rule_reject(call,
				       "inputs of %lld and %lld elements are "
				       "scanned together",
				       (long long)*size,
				       (long long)type->dims[axis]);
	*size = sl__size_unify(type->dims[axis], *size);
	for (int i = 0; i < type->rank; i++) {
		if (i != axis)
			dims[n++] = type->dims[i];
	}
	type->rank = n;
	type->dims = dims;
	return SL_OK;
}

/* The types that the body sees. */
static enum sl_status
enter_scan(struct sl__rule_context *call, struct scan *s,
	   struct sl__loop_carried_values *c)
{
	const struct sl__block *block = &call->shapes->graph->blocks[c->block];

	for (size_t i = 0; s->has_batch && i < s->n_states; i++) {
		take_dim(call, &c->types[i], 0, &s->batch);
		c->known[i] = NULL;
	}
	for (size_t i = 0; i < s->n_scans; i++) {
		uint32_t value = block->inputs[s->n_states + i];
		size_t at = s->first_state + s->n_states + i;
		struct sl__type type = {.rank = -1};

		if (sl__in_type(call, at))
			type = *sl__in_type(call, at);
		if (s->has_batch)
			take_dim(call, &type, 0, &s->batch);
		take_dim(call, &type,
			 s->has_batch ? 0 : axis_at(&s->in_axes, i),
			 &s->length);
		call->shapes->types[value] = type;
		call->shapes->known[value] = NULL;
	}
	return call->failure;
}

/* Puts the batch back before output k. */
static enum sl_status
leave_batch(struct sl__rule_context *call, const struct scan *s, size_t k)
{
	const struct sl__type *type = sl__out_type_or_null(call, k);

	if (!s->has_batch || !type || type->rank < 0)
		return SL_OK;
	return give_stacked(call, k, call->node->outputs[k], s->batch, 0);
}

static enum sl_status
leave_scan(struct sl__rule_context *call, const struct scan *s,
	   const struct sl__loop_carried_values *c)
{
	struct trips trips = trips_of_size(s->length);

	if (s->has_batch)
		trips.n =
			sl__is_symbol(s->batch) || trips.n < 0
				? -1
				: sl__size_mul(call->shapes, trips.n, s->batch);
	scale_body(call, c->block, &trips);
	trips.n = -1; /* a state has the same type whether it runs or not */
	give_carried(call, c, &trips, s->first_state);
	for (size_t k = s->n_states; k < call->node->n_outputs; k++)
		give_stacked(call, k,
			     sl__body_output_value(call->shapes, c->block, k),
			     s->length,
			     s->has_batch
				     ? 0
				     : axis_at(&s->out_axes, k - s->n_states));
	for (size_t k = 0; !call->failure && k < call->node->n_outputs; k++)
		leave_batch(call, s, k);
	return call->failure;
}

enum sl_status
sl__infer_scan(struct sl__rule_context *call)
{
	struct sl__loop_carried_values c = {
		.block = sl__node_body_by_name(call->node, "body")};
	struct scan s;

	if (scan_of(call, &s) ||
	    check_body(call, c.block, s.n_states + s.n_scans,
		       call->node->n_outputs))
		return call->failure;
	c.n = s.n_states;
	if (new_carried(call, &c, s.first_state) || enter_scan(call, &s, &c) ||
	    sl__rule_keep_status(call,
				 sl__body_infer(call->shapes, &c, call->err)))
		return call->failure;
	return leave_scan(call, &s, &c);
}
