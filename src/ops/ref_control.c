/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ref_control.c - If, Loop, Scan and SequenceMap: nodes that run other blocks.
 *
 * A body's inputs are put into the evaluator's values, its nodes are run, and
 * what it gives is taken out again: moved where nothing else can see it,
 * copied otherwise (a value of a block around it, an input handed through
 * that belongs to somebody else, a value that is given twice).  So however
 * often a body runs, there is one set of its values.
 */
#include "base/status.h"
#include "graph/body.h"
#include "ops/evaluate.h"
#include "ops/ref_stack.h"

#include <string.h>

#include "base/banned.h"

struct body {
	struct sl__evaluator *evaluator;
	const struct sl__block *block;
	uint32_t id;
};

static enum sl_status
body_open(struct body *b, const struct sl__eval *ev, const char *name,
	  struct sl_error *err)
{
	b->id = sl__body_of(ev->node, name);
	b->evaluator = ev->evaluator;
	if (b->id == SL__NONE || !b->evaluator)
		return sl__fail(err, SL_E_DATA, "it has no %s", name);
	b->block = &b->evaluator->graph->blocks[b->id];
	return SL_OK;
}

static enum sl_status
body_check(const struct body *b, size_t n_inputs, size_t n_outputs,
	   struct sl_error *err)
{
	if (b->block->n_inputs != n_inputs || b->block->n_outputs != n_outputs)
		return sl__fail(err, SL_E_DATA,
				"its body takes %zu values and gives %zu, not "
				"%zu and %zu",
				b->block->n_inputs, b->block->n_outputs,
				n_inputs, n_outputs);
	return SL_OK;
}

static const struct sl_allocator *
allocator_of(const struct body *b)
{
	return &b->evaluator->allocator;
}

/* Input i, emptied. */
static struct sl__datum *
body_input(const struct body *b, size_t i)
{
	struct sl__datum *datum = &b->evaluator->values[b->block->inputs[i]];

	sl__datum_clear(datum, allocator_of(b));
	return datum;
}

/* 'to' holds what 'from' holds, for as long as that does; 'to' is empty. */
static enum sl_status
share(const struct body *b, struct sl__datum *to, const struct sl__datum *from,
      struct sl_error *err)
{
	if (from->kind != SL__TYPE_TENSOR)
		return sl__datum_copy(to, from, allocator_of(b), err);
	sl__datum_borrow(to, &from->tensor);
	return SL_OK;
}

/* Whether nobody else needs what output k holds. */
static int
is_own(const struct body *b, size_t k)
{
	uint32_t value = b->block->outputs[k];
	const struct sl__value *v = &b->evaluator->graph->values[value];

	for (size_t i = k + 1; i < b->block->n_outputs; i++) {
		if (b->block->outputs[i] == value)
			return 0;
	}
	return v->block == b->id && !v->tensor &&
	       !b->evaluator->is_bound[value] && !b->evaluator->keeps_all &&
	       b->evaluator->values[value].block;
}

/* Output k, which the caller may look at. */
static enum sl_status
body_output(const struct body *b, size_t k, const struct sl__datum **out,
	    struct sl_error *err)
{
	return sl__evaluator_value(b->evaluator, b->block->outputs[k], out,
				   err);
}

/* Output k into a datum of the caller's, emptied first.  Outputs are taken in
 * order. */
static enum sl_status
body_take(const struct body *b, size_t k, struct sl__datum *to,
	  struct sl_error *err)
{
	struct sl__datum *from = &b->evaluator->values[b->block->outputs[k]];
	const struct sl__datum *held;
	enum sl_status rc = body_output(b, k, &held, err);

	if (rc)
		return rc;
	if (!is_own(b, k))
		return sl__datum_copy(to, held, allocator_of(b), err);
	sl__datum_clear(to, allocator_of(b));
	*to = *from;
	memset(from, 0, sizeof(*from));
	return SL_OK;
}

/* Lets go of what the body's inputs and outputs hold. */
static void
body_close(const struct body *b)
{
	const struct sl_graph *graph = b->evaluator->graph;
	size_t n = b->block->n_inputs + b->block->n_outputs;

	for (size_t i = 0; !b->evaluator->keeps_all && i < n; i++) {
		uint32_t value =
			i < b->block->n_inputs
				? b->block->inputs[i]
				: b->block->outputs[i - b->block->n_inputs];

		if (graph->values[value].block == b->id &&
		    !graph->values[value].tensor &&
		    !b->evaluator->is_bound[value])
			sl__datum_clear(&b->evaluator->values[value],
					allocator_of(b));
	}
}

/* Output k of the node becomes what 'made' holds, which is emptied. */
static enum sl_status
give(struct sl__eval *ev, size_t k, struct sl__datum *made,
     struct sl_error *err)
{
	struct sl__datum *out = sl__ref_result(ev, k);
	enum sl_status rc = SL_OK;

	if (out && made->block &&
	    !ev->evaluator->is_bound[ev->node->outputs[k]]) {
		sl__datum_clear(out, ev->allocator);
		*out = *made;
		memset(made, 0, sizeof(*made));
	} else if (out) {
		rc = sl__ref_out_copy(ev, k, made, err);
	}
	sl__datum_clear(made, ev->allocator);
	return rc;
}

/* One truth value; SL_E_DATA for anything else. */
static enum sl_status
truth_of(const struct sl__datum *datum, int *truth, struct sl_error *err)
{
	int64_t word = 0;

	if (datum->kind != SL__TYPE_TENSOR || datum->tensor.n_elements != 1 ||
	    !sl__tensor_integers(&datum->tensor, 0, 1, &word))
		return sl__fail(err, SL_E_DATA,
				"its condition is not one truth value");
	*truth = word != 0;
	return SL_OK;
}

/* A scalar into a body's input. */
static enum sl_status
set_scalar(const struct body *b, size_t i, enum sl_dtype dtype, int64_t number,
	   struct sl_error *err)
{
	struct sl__datum *datum = body_input(b, i);
	enum sl_status rc =
		sl__datum_tensor(datum, dtype, 0, NULL, allocator_of(b), err);

	if (!rc)
		sl__store_integers(datum->bytes, dtype, 0, 1, &number);
	return rc;
}

enum sl_status
sl__ref_if(struct sl__eval *ev, struct sl_error *err)
{
	const struct sl__datum *condition = sl__ref_in(ev, 0);
	struct sl__datum taken = {0};
	struct body b;
	int truth = 0;
	enum sl_status rc;

	if (!condition)
		return sl__fail(err, SL_E_DATA, "it has no condition");
	rc = truth_of(condition, &truth, err);
	if (!rc)
		rc = body_open(&b, ev, truth ? "then_branch" : "else_branch",
			       err);
	if (!rc)
		rc = body_check(&b, 0, ev->node->n_outputs, err);
	if (rc)
		return rc;
	rc = sl__evaluate_block(b.evaluator, b.id, err);
	for (size_t k = 0; !rc && k < ev->node->n_outputs; k++) {
		rc = body_take(&b, k, &taken, err);
		if (!rc)
			rc = give(ev, k, &taken, err);
	}
	sl__datum_clear(&taken, ev->allocator);
	body_close(&b);
	return rc;
}

/* What a body hands from run to run, and what it gives in each. */
struct course {
	struct body b;
	size_t n_carried, n_stacks;
	size_t first_in;  /* body input of the first carried value */
	size_t first_out; /* and output; those to be stacked come after them */
	struct sl__datum *carried;
	struct sl__stack *stacks;
	int goes_on; /* what output 0 says, where carried ones come after it */
};

static enum sl_status
course_open(struct course *c, struct sl__eval *ev, struct sl_error *err)
{
	c->carried = sl__ref_new(ev, c->n_carried, sizeof(*c->carried));
	c->stacks = sl__ref_new(ev, c->n_stacks, sizeof(*c->stacks));
	return c->carried && c->stacks ? SL_OK : sl__fail_nomem(err);
}

static void
course_close(struct course *c)
{
	for (size_t i = 0; c->carried && i < c->n_carried; i++)
		sl__datum_clear(&c->carried[i], allocator_of(&c->b));
	for (size_t i = 0; c->stacks && i < c->n_stacks; i++)
		sl__stack_release(&c->stacks[i], allocator_of(&c->b));
	body_close(&c->b);
}

/* Runs the body once, its other inputs being set. */
static enum sl_status
course_run(struct course *c, struct sl_error *err)
{
	const struct body *b = &c->b;
	const struct sl__datum *held;
	enum sl_status rc;

	for (size_t i = 0; i < c->n_carried; i++) {
		*body_input(b, c->first_in + i) = c->carried[i];
		memset(&c->carried[i], 0, sizeof(c->carried[i]));
	}
	rc = sl__evaluate_block(b->evaluator, b->id, err);
	/* First what is only looked at. */
	if (!rc && c->first_out) {
		rc = body_output(b, 0, &held, err);
		if (!rc)
			rc = truth_of(held, &c->goes_on, err);
	}
	for (size_t i = 0; !rc && i < c->n_stacks; i++) {
		rc = body_output(b, c->first_out + c->n_carried + i, &held,
				 err);
		if (!rc)
			rc = sl__stack_push(&c->stacks[i], held,
					    allocator_of(b), err);
	}
	for (size_t i = 0; !rc && i < c->n_carried; i++)
		rc = body_take(b, c->first_out + i, &c->carried[i], err);
	return rc;
}

/* The shape of stack i where the body has not run. */
static enum sl_status
course_declare(struct course *c, size_t i, struct sl_error *err)
{
	size_t k = c->first_out + c->n_carried + i;
	const struct sl_graph *graph = c->b.evaluator->graph;

	return sl__stack_declare(
		&c->stacks[i], &graph->values[c->b.block->outputs[k]].declared,
		allocator_of(&c->b), err);
}

/* How often at most, and whether at all; both may be left out. */
static enum sl_status
loop_limits(struct sl__eval *ev, int64_t *most, int *goes_on,
	    struct sl_error *err)
{
	const struct sl__tensor *count = sl__ref_tensor(ev, 0);
	const struct sl__datum *condition = sl__ref_in(ev, 1);

	*most = INT64_MAX;
	*goes_on = 1;
	if (count &&
	    (count->n_elements != 1 || !sl__tensor_integers(count, 0, 1, most)))
		return sl__fail(err, SL_E_DATA,
				"its count is not one whole number");
	return condition ? truth_of(condition, goes_on, err) : SL_OK;
}

static enum sl_status
run_loop(struct sl__eval *ev, struct course *c, struct sl_error *err)
{
	int64_t most;
	enum sl_status rc = loop_limits(ev, &most, &c->goes_on, err);

	for (int64_t i = 0; !rc && c->goes_on && i < most; i++) {
		rc = set_scalar(&c->b, 0, SL_DTYPE_I64, i, err);
		if (!rc)
			rc = set_scalar(&c->b, 1, SL_DTYPE_BOOL, 1, err);
		if (!rc)
			rc = course_run(c, err);
	}
	return rc;
}

enum sl_status
sl__ref_loop(struct sl__eval *ev, struct sl_error *err)
{
	static const struct sl__stacking in_front = {0, 0, 0};
	size_t n = ev->node->n_inputs > 2 ? ev->node->n_inputs - 2 : 0;
	struct course c = {.n_carried = n, .first_in = 2, .first_out = 1};
	enum sl_status rc = body_open(&c.b, ev, "body", err);

	if (!rc && ev->node->n_outputs < n)
		rc = sl__fail(err, SL_E_DATA,
			      "it gives fewer values than it takes");
	if (!rc)
		rc = body_check(&c.b, 2 + n, 1 + (size_t)ev->node->n_outputs,
				err);
	if (rc)
		return rc;
	c.n_stacks = ev->node->n_outputs - n;
	rc = course_open(&c, ev, err);
	for (size_t i = 0; !rc && i < n; i++) {
		if (!ev->inputs[2 + i])
			rc = sl__fail(err, SL_E_DATA, "input %zu is left out",
				      2 + i);
		else
			rc = share(&c.b, &c.carried[i], ev->inputs[2 + i], err);
	}
	if (!rc)
		rc = run_loop(ev, &c, err);
	for (size_t i = 0; !rc && i < n; i++)
		rc = give(ev, i, &c.carried[i], err);
	for (size_t i = 0; !rc && i < c.n_stacks; i++) {
		rc = course_declare(&c, i, err);
		if (!rc)
			rc = sl__stack_give(&c.stacks[i], ev, n + i, &in_front,
					    err);
	}
	course_close(&c);
	return rc;
}

/*
 * The first version (8) takes the lengths of its sequences as first input and
 * has a batch before every dimension, the members of which run one after the
 * other; later ones choose axes.
 */
struct scan {
	struct course c;
	int has_batch;
	size_t first_state, n_scans;
	int64_t n_batch, length; /* n_batch is 1 where there is none */
	const int64_t *lengths;  /* per member of the batch; NULL: all alike */
	struct sl__datum *scanned; /* of one member */
	struct sl__stack *states;  /* the last of each member */
};

static int64_t
list_at(const struct sl__node *node, const char *name, size_t i)
{
	const int64_t *values;
	size_t n = sl__ints(node, name, &values);

	return i < n ? values[i] : 0;
}

/* Place 'at' of a tensor along an axis, without that axis. */
static enum sl_status
cut_out(const struct body *b, struct sl__datum *to,
	const struct sl__tensor *from, int64_t axis, int64_t at,
	struct sl_error *err)
{
	int64_t dims[SL__RANK_MOST];
	struct sl__around a;
	struct sl__mover m;
	size_t rank = 0;
	enum sl_status rc = sl__around_axis(&a, from, &axis, err);

	for (size_t d = 0; d < from->rank && d < SL__RANK_MOST; d++) {
		if ((int64_t)d != axis)
			dims[rank++] = from->dims[d];
	}
	if (!rc)
		rc = sl__datum_tensor(to, from->dtype, rank, dims,
				      allocator_of(b), err);
	if (!rc)
		rc = sl__move_begin(&m, to, from, err);
	if (rc || to->tensor.n_elements == 0)
		return rc;
	for (int64_t o = 0; o < a.outer; o++)
		sl__move(&m, o * a.inner, (o * a.size + at) * a.inner, a.inner);
	if (from->dtype != SL_DTYPE_STRING)
		return SL_OK;
	return sl__datum_strings(to, rank, dims, to->tensor.strings,
				 allocator_of(b), err);
}

/* Takes dimension 'axis' of input i into *size, which is -1 before. */
static enum sl_status
agree(struct sl__eval *ev, size_t i, int64_t axis, int64_t *size,
      struct sl_error *err)
{
	const struct sl__tensor *in;
	enum sl_status rc = sl__ref_need(ev, i, &in, err);
	int at = rc ? -1 : sl__axis(axis, (int)in->rank);

	if (rc)
		return rc;
	if (at < 0 || (*size >= 0 && in->dims[at] != *size))
		return sl__fail(err, SL_E_DATA,
				"input %zu has no dimension %lld, or one "
				"unlike the others",
				i, (long long)axis);
	*size = in->dims[at];
	return SL_OK;
}

static enum sl_status
scan_lengths(struct sl__eval *ev, struct scan *s, struct sl_error *err)
{
	size_t n;
	enum sl_status rc = sl__ref_list(ev, 0, NULL, &s->lengths, &n, err);

	if (rc || !s->lengths)
		return rc;
	for (size_t i = 0; i < n; i++) {
		if (s->lengths[i] < 0 || s->lengths[i] > s->length)
			return sl__fail(err, SL_E_DATA,
					"a sequence of %lld elements, in %lld",
					(long long)s->lengths[i],
					(long long)s->length);
	}
	if ((int64_t)n != s->n_batch)
		return sl__fail(err, SL_E_DATA,
				"%zu lengths for a batch of "
				"%lld",
				n, (long long)s->n_batch);
	return SL_OK;
}

/* The sizes that all inputs share. */
static enum sl_status
scan_sizes(struct sl__eval *ev, struct scan *s, struct sl_error *err)
{
	size_t n_states = s->c.n_carried;
	enum sl_status rc = SL_OK;

	s->n_batch = s->length = -1;
	for (size_t i = 0; !rc && i < n_states + s->n_scans; i++) {
		size_t at = s->first_state + i;
		size_t k = i - n_states;

		if (s->has_batch)
			rc = agree(ev, at, 0, &s->n_batch, err);
		if (!rc && i >= n_states)
			rc = agree(ev, at,
				   s->has_batch ? 1
						: list_at(ev->node,
							  "scan_input_axes", k),
				   &s->length, err);
		else if (!rc && !sl__ref_in(ev, at))
			rc = sl__fail(err, SL_E_DATA, "input %zu is left out",
				      at);
	}
	if (!s->has_batch)
		s->n_batch = 1;
	if (!rc && s->has_batch)
		rc = scan_lengths(ev, s, err);
	return rc;
}

static enum sl_status
scan_open(struct sl__eval *ev, struct scan *s, struct sl_error *err)
{
	int64_t n_scans = sl__int(ev->node, "num_scan_inputs", 0);
	const struct sl__node *node = ev->node;
	enum sl_status rc = body_open(&s->c.b, ev, "body", err);

	if (rc)
		return rc;
	s->has_batch = node->version < 9;
	s->first_state = s->has_batch ? 1 : 0;
	if (n_scans < 1 || node->n_inputs < s->first_state ||
	    (uint64_t)n_scans > node->n_inputs - s->first_state)
		return sl__fail(err, SL_E_DATA, "%lld inputs to scan, of %u",
				(long long)n_scans, node->n_inputs);
	s->n_scans = (size_t)n_scans;
	s->c.n_carried = node->n_inputs - s->first_state - s->n_scans;
	if (node->n_outputs < s->c.n_carried)
		return sl__fail(err, SL_E_DATA,
				"it gives fewer values than it keeps");
	rc = body_check(&s->c.b, s->c.n_carried + s->n_scans, node->n_outputs,
			err);
	if (rc)
		return rc;
	s->c.n_stacks = node->n_outputs - s->c.n_carried;
	s->scanned = sl__ref_new(ev, s->n_scans, sizeof(*s->scanned));
	s->states = sl__ref_new(ev, s->c.n_carried, sizeof(*s->states));
	if (!s->scanned || !s->states)
		return sl__fail_nomem(err);
	rc = course_open(&s->c, ev, err);
	return rc ? rc : scan_sizes(ev, s, err);
}

static void
scan_close(struct scan *s)
{
	for (size_t i = 0; s->scanned && i < s->n_scans; i++)
		sl__datum_clear(&s->scanned[i], allocator_of(&s->c.b));
	for (size_t i = 0; s->states && i < s->c.n_carried; i++)
		sl__stack_release(&s->states[i], allocator_of(&s->c.b));
	course_close(&s->c);
}

/* What member m of the batch starts with. */
static enum sl_status
enter_member(struct sl__eval *ev, struct scan *s, int64_t m,
	     struct sl_error *err)
{
	size_t n = s->c.n_carried + s->n_scans;
	enum sl_status rc = SL_OK;

	for (size_t i = 0; !rc && i < n; i++) {
		const struct sl__datum *in = ev->inputs[s->first_state + i];
		struct sl__datum *to =
			i < s->c.n_carried ? &s->c.carried[i]
					   : &s->scanned[i - s->c.n_carried];

		sl__datum_clear(to, allocator_of(&s->c.b));
		if (s->has_batch)
			rc = cut_out(&s->c.b, to, &in->tensor, 0, m, err);
		else
			rc = share(&s->c.b, to, in, err);
	}
	return rc;
}

static enum sl_status
run_member(struct sl__eval *ev, struct scan *s, int64_t length,
	   struct sl_error *err)
{
	const char *ways = s->has_batch ? "directions"
					: "scan_input_directions";
	enum sl_status rc = SL_OK;

	for (int64_t t = 0; !rc && t < length; t++) {
		for (size_t i = 0; !rc && i < s->n_scans; i++) {
			int is_back = list_at(ev->node, ways, i) != 0;
			int64_t axis = list_at(ev->node, "scan_input_axes", i);

			rc = cut_out(&s->c.b,
				     body_input(&s->c.b, s->c.n_carried + i),
				     &s->scanned[i].tensor,
				     s->has_batch ? 0 : axis,
				     is_back ? length - 1 - t : t, err);
		}
		if (!rc)
			rc = course_run(&s->c, err);
	}
	return rc;
}

/* Keeps the states, and fills up what is shorter than the longest. */
static enum sl_status
leave_member(struct scan *s, int64_t length, struct sl_error *err)
{
	const struct sl_allocator *allocator = allocator_of(&s->c.b);
	enum sl_status rc = SL_OK;

	for (size_t i = 0; !rc && i < s->c.n_carried; i++)
		rc = sl__stack_push(&s->states[i], &s->c.carried[i], allocator,
				    err);
	for (size_t i = 0; !rc && i < s->c.n_stacks; i++)
		rc = sl__stack_skip(&s->c.stacks[i], s->length - length,
				    allocator, err);
	return rc;
}

static enum sl_status
give_scan(struct sl__eval *ev, struct scan *s, struct sl_error *err)
{
	size_t n_states = s->c.n_carried;
	struct sl__stacking how = {0, 0, 0};
	enum sl_status rc = SL_OK;

	for (size_t i = 0; !rc && i < n_states; i++) {
		if (s->has_batch)
			rc = sl__stack_give(&s->states[i], ev, i, &how, err);
		else
			rc = give(ev, i, &s->c.carried[i], err);
	}
	for (size_t i = 0; !rc && i < s->c.n_stacks; i++) {
		if (s->has_batch) {
			how.n_rows = s->n_batch;
		} else {
			how.axis = list_at(ev->node, "scan_output_axes", i);
			how.is_reverse = list_at(ev->node,
						 "scan_output_directions",
						 i) != 0;
		}
		rc = course_declare(&s->c, i, err);
		if (!rc)
			rc = sl__stack_give(&s->c.stacks[i], ev, n_states + i,
					    &how, err);
	}
	return rc;
}

enum sl_status
sl__ref_scan(struct sl__eval *ev, struct sl_error *err)
{
	struct scan s = {.n_scans = 0};
	enum sl_status rc = scan_open(ev, &s, err);

	if (!rc && s.n_batch == 0)
		rc = sl__fail(err, SL_E_DATA, "its batch is empty");
	for (int64_t m = 0; !rc && m < s.n_batch; m++) {
		int64_t length = s.lengths ? s.lengths[m] : s.length;

		rc = enter_member(ev, &s, m, err);
		if (!rc)
			rc = run_member(ev, &s, length, err);
		if (!rc && s.has_batch)
			rc = leave_member(&s, length, err);
	}
	if (!rc)
		rc = give_scan(ev, &s, err);
	if (s.c.b.block)
		scan_close(&s);
	return rc;
}

/* Item n of the inputs that are sequences, and the others whole. */
static enum sl_status
enter_item(struct sl__eval *ev, const struct body *b, size_t n,
	   struct sl_error *err)
{
	enum sl_status rc = SL_OK;

	for (size_t i = 0; !rc && i < ev->node->n_inputs; i++) {
		const struct sl__datum *in = ev->inputs[i];

		if (!in || (in->kind == SL__TYPE_SEQUENCE && n >= in->n_items))
			return sl__fail(err, SL_E_DATA,
					"input %zu has no item %zu", i, n);
		if (in->kind == SL__TYPE_SEQUENCE)
			in = &in->items[n];
		rc = share(b, body_input(b, i), in, err);
	}
	return rc;
}

static enum sl_dtype
item_dtype(const struct body *b, size_t k, const struct sl__datum *made)
{
	const struct sl_graph *graph = b->evaluator->graph;

	if (made->n_items && made->items[0].kind == SL__TYPE_TENSOR)
		return made->items[0].tensor.dtype;
	return graph->values[b->block->outputs[k]].declared.dtype;
}

static enum sl_status
map_items(struct sl__eval *ev, const struct body *b, struct sl__datum *made,
	  struct sl_error *err)
{
	size_t n = ev->inputs[0]->n_items, n_out = ev->node->n_outputs;
	enum sl_status rc = SL_OK;

	for (size_t k = 0; !rc && k < n_out; k++)
		rc = sl__datum_list(&made[k], SL__TYPE_SEQUENCE, SL_DTYPE_NONE,
				    n, allocator_of(b), err);
	for (size_t i = 0; !rc && i < n; i++) {
		rc = enter_item(ev, b, i, err);
		if (!rc)
			rc = sl__evaluate_block(b->evaluator, b->id, err);
		for (size_t k = 0; !rc && k < n_out; k++)
			rc = body_take(b, k, &made[k].items[i], err);
	}
	for (size_t k = 0; !rc && k < n_out; k++) {
		made[k].dtype = item_dtype(b, k, &made[k]);
		rc = give(ev, k, &made[k], err);
	}
	return rc;
}

enum sl_status
sl__ref_sequence_map(struct sl__eval *ev, struct sl_error *err)
{
	const struct sl__datum *first = sl__ref_in(ev, 0);
	size_t n_out = ev->node->n_outputs;
	struct sl__datum *made = sl__ref_new(ev, n_out, sizeof(*made));
	struct body b;
	enum sl_status rc = body_open(&b, ev, "body", err);

	if (!rc)
		rc = body_check(&b, ev->node->n_inputs, n_out, err);
	if (!rc && !made)
		rc = sl__fail_nomem(err);
	if (!rc && (!first || first->kind != SL__TYPE_SEQUENCE))
		rc = sl__fail(err, SL_E_DATA, "input 0 is no sequence");
	if (rc)
		return rc;
	rc = map_items(ev, &b, made, err);
	for (size_t k = 0; k < n_out; k++)
		sl__datum_clear(&made[k], ev->allocator);
	body_close(&b);
	return rc;
}
