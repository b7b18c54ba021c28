/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ref_control.c - If, Loop, Scan and SequenceMap: nodes that run other blocks.
 *
 * A body's inputs are put into the evaluator's values, its nodes run, and its
 * outputs are moved out, or copied where others need them: one set of values,
 * however often a body runs.
 */
#include "base/status.h"
#include "graph/body.h"
#include "ops/evaluate.h"
#include "ops/ref_move.h"

#include <string.h>

#include "base/banned.h"

/*
 * Tensors of one shape that come one by one and become one.
 *
 * Invariants: n pieces so far, each of type dtype and sizes dims[rank], lie
 * packed one behind the other in 'bytes'; strings lie there as text, each
 * with its NUL.  As long as there is no shape nothing is there, but n counts.
 * All zero is an empty one; 'bytes' belongs to the stack.
 */
struct stack {
	int has_shape;
	enum sl_dtype dtype;
	size_t rank;
	int64_t dims[SL__RANK_MOST];
	int64_t n, n_piece; /* elements of a piece */
	unsigned char *bytes;
	size_t n_bytes, cap_bytes;
};

/* Room for n_bytes in all; what is new is zero. */
static enum sl_status
reserve(struct stack *s, struct sl__kernel_call *ev, uint64_t n_bytes)
{
	unsigned char *bytes;
	size_t cap;

	if (n_bytes <= s->cap_bytes)
		return SL_OK;
	if (n_bytes > SIZE_MAX / 4)
		return sl__ref_nomem(ev);
	cap = n_bytes > 2 * s->cap_bytes ? (size_t)n_bytes : 2 * s->cap_bytes;
	bytes = sl__allocator_alloc(ev->allocator, cap);
	if (!bytes)
		return sl__ref_nomem(ev);
	memset(bytes, 0, cap);
	if (s->n_bytes)
		memcpy(bytes, s->bytes, s->n_bytes);
	sl__allocator_free(ev->allocator, s->bytes);
	s->bytes = bytes;
	s->cap_bytes = cap;
	return SL_OK;
}

/* Makes room for n more pieces of numbers, or n_text bytes of text. */
static enum sl_status
grow(struct stack *s, struct sl__kernel_call *ev, int64_t n, size_t n_text)
{
	uint64_t n_elements, n_bits, n_bytes = s->n_bytes + (uint64_t)n_text;

	if (s->dtype != SL_DTYPE_STRING) {
		if (__builtin_mul_overflow((uint64_t)s->n + (uint64_t)n,
					   (uint64_t)s->n_piece, &n_elements) ||
		    __builtin_mul_overflow(n_elements,
					   (uint64_t)sl_dtype_bits(s->dtype),
					   &n_bits))
			return sl__ref_nomem(ev);
		n_bytes = n_bits / 8 + (n_bits % 8 != 0);
	}
	if (reserve(s, ev, n_bytes))
		return ev->failure;
	s->n_bytes = (size_t)n_bytes;
	return SL_OK;
}

/* n pieces of zeros. */
static enum sl_status
stack_skip(struct stack *s, struct sl__kernel_call *ev, int64_t n)
{
	/* An empty text is its NUL. */
	if (s->has_shape && grow(s, ev, n, (size_t)n * (size_t)s->n_piece))
		return ev->failure;
	s->n += n;
	return SL_OK;
}

/* The shape is known from here on; what was skipped before is made up for. */
static enum sl_status
set_shape(struct stack *s, struct sl__kernel_call *ev, enum sl_dtype dtype,
	  size_t rank, const int64_t *dims)
{
	struct sl__tensor piece = {.dtype = dtype, .rank = rank, .dims = dims};
	int64_t n = s->n;

	if (rank >= SL__RANK_MOST || dtype == SL_DTYPE_NONE ||
	    !sl__tensor_compute_size(&piece))
		return sl__ref_reject(
			ev, "what a body gives cannot be put side by side");
	s->has_shape = 1;
	s->dtype = dtype;
	s->rank = rank;
	s->n_piece = (int64_t)piece.n_elements;
	if (rank)
		memcpy(s->dims, dims, rank * sizeof(*dims));
	s->n = 0;
	return stack_skip(s, ev, n);
}

/* Pieces have this declared type, where none has come yet; unknown sizes: 0. */
static enum sl_status
stack_declare(struct stack *s, struct sl__kernel_call *ev,
	      const struct sl__type *type)
{
	int64_t dims[SL__RANK_MOST];
	size_t rank = 0;

	if (s->has_shape)
		return SL_OK;
	if (type->kind != SL__TYPE_TENSOR)
		return sl__ref_reject(
			ev, "nothing says what a body that does not run "
			    "would give");
	for (int d = 0; d < type->rank && d < SL__RANK_MOST; d++)
		dims[rank++] = type->dims[d] < 0 ? 0 : type->dims[d];
	return set_shape(s, ev, type->dtype, rank, dims);
}

static enum sl_status
push_texts(struct stack *s, struct sl__kernel_call *ev,
	   const struct sl__tensor *t)
{
	for (uint64_t i = 0; i < t->n_elements; i++) {
		size_t n = strlen(t->strings[i]) + 1, at = s->n_bytes;

		if (grow(s, ev, 0, n))
			return ev->failure;
		memcpy(s->bytes + at, t->strings[i], n);
	}
	return SL_OK;
}

/* SL_E_DATA where the piece is unlike those before it. */
static enum sl_status
stack_push(struct stack *s, struct sl__kernel_call *ev,
	   const struct sl__runtime_value *piece)
{
	const struct sl__tensor *t = &piece->tensor;
	struct sl__element_mover m = {0};

	if (piece->kind != SL__TYPE_TENSOR)
		return sl__ref_reject(ev,
				      "what is no tensor cannot be stacked");
	if (!s->has_shape && set_shape(s, ev, t->dtype, t->rank, t->dims))
		return ev->failure;
	if (t->dtype != s->dtype || t->rank != s->rank ||
	    (t->rank && memcmp(t->dims, s->dims, t->rank * sizeof(*t->dims))))
		return sl__ref_reject(ev,
				      "run %lld of a body gives another shape "
				      "or type than the first",
				      (long long)s->n);
	if (t->dtype == SL_DTYPE_STRING) {
		push_texts(s, ev, t);
	} else if (!grow(s, ev, 1, 0)) {
		m.from = t->bytes;
		m.to = s->bytes;
		m.n_bits = sl_dtype_bits(s->dtype);
		sl__move_elements(&m, s->n * s->n_piece, 0, s->n_piece);
	}
	s->n += !ev->failure;
	return ev->failure;
}

static void
stack_release(struct stack *s, struct sl__kernel_call *ev)
{
	sl__allocator_free(ev->allocator, s->bytes);
	memset(s, 0, sizeof(*s));
}

/* All pieces as a tensor; strings get their pointers in the scratch arena. */
static enum sl_status
as_tensor(const struct stack *s, struct sl__kernel_call *ev,
	  struct sl__tensor *out)
{
	size_t n = (size_t)s->n * (size_t)s->n_piece;
	const char *at = (const char *)s->bytes;
	const char **texts;

	memset(out, 0, sizeof(*out));
	out->dtype = s->dtype;
	out->bytes = s->bytes;
	if (s->dtype != SL_DTYPE_STRING)
		return SL_OK;
	out->bytes = NULL;
	texts = sl__ref_scratch(ev, n, sizeof(*texts));
	if (!texts)
		return ev->failure;
	for (size_t i = 0; i < n; i++) {
		texts[i] = at;
		at += strlen(at) + 1;
	}
	out->strings = texts;
	return SL_OK;
}

/* How the pieces lie in a tensor. */
struct stacking {
	int64_t axis;   /* the new dimension; counted from either end */
	int is_reverse; /* the last piece comes first */
	int64_t n_rows; /* not 0: [n_rows][n / n_rows][piece] instead */
};

/* The sizes of the output, and the way from the pieces to it. */
static enum sl_status
lay_out(const struct stack *s, struct sl__kernel_call *ev,
	const struct stacking *how, int64_t *dims,
	struct sl__strided_path *path)
{
	int axis = sl__axis_normalize(how->axis, (int)s->rank + 1);
	int64_t strides[SL__RANK_MOST], pieces[SL__RANK_MOST];
	size_t at = 1;

	if (axis < 0)
		return sl__ref_reject(ev,
				      "output axis %lld lies outside of %zu "
				      "dimensions",
				      (long long)how->axis, s->rank + 1);
	for (int d = 0; d <= (int)s->rank; d++)
		dims[d] = d == axis ? s->n : s->dims[d < axis ? d : d - 1];
	(void)sl__row_major_strides(strides, s->rank + 1, dims);
	pieces[0] = s->n;
	if (s->rank)
		memcpy(pieces + 1, s->dims, s->rank * sizeof(*pieces));
	sl__strided_path_init(path, s->rank + 1, pieces);
	memcpy(path->from, path->to, (s->rank + 1) * sizeof(*path->from));
	path->to[0] = strides[axis];
	for (int d = 0; d <= (int)s->rank; d++) {
		if (d != axis)
			path->to[at++] = strides[d];
	}
	if (how->is_reverse && s->n) {
		path->to_at = (s->n - 1) * path->to[0];
		path->to[0] = -path->to[0];
	}
	return SL_OK;
}

/* Output k becomes all pieces; the stack has a shape. */
static enum sl_status
stack_give(struct stack *s, struct sl__kernel_call *ev, size_t k,
	   const struct stacking *how)
{
	int64_t dims[SL__RANK_MOST + 1];
	struct sl__tensor pieces;
	struct sl__strided_path path;
	struct sl__element_mover m;
	size_t rank = s->rank + 1;

	if (!sl__ref_output(ev, k))
		return SL_OK;
	if (lay_out(s, ev, how, dims, &path) || as_tensor(s, ev, &pieces))
		return ev->failure;
	if (how->n_rows) {
		memmove(dims + 1, dims, rank * sizeof(*dims));
		dims[0] = how->n_rows;
		dims[1] = s->n / how->n_rows;
		rank++;
	}
	if (sl__ref_output_alloc(ev, k, s->dtype, rank, dims) ||
	    sl__move_begin(ev, &m, sl__ref_output(ev, k), &pieces))
		return ev->failure;
	sl__move_strided_path(&m, &path);
	return sl__move_own_strings(ev, k);
}

struct body {
	struct sl__kernel_call *ev; /* of the node that runs it */
	struct sl__evaluator *evaluator;
	const struct sl__block *block;
	uint32_t id;
};

/* The block that the attribute names, which takes and gives so many values. */
static enum sl_status
body_open(struct body *b, struct sl__kernel_call *ev, const char *name,
	  size_t n_inputs, size_t n_outputs)
{
	b->ev = ev;
	b->id = sl__node_body_by_name(ev->node, name);
	b->evaluator = ev->evaluator;
	if (b->id == SL__NONE || !b->evaluator)
		return sl__ref_reject(ev, "it has no %s", name);
	b->block = &b->evaluator->graph->blocks[b->id];
	if (b->block->n_inputs != n_inputs || b->block->n_outputs != n_outputs)
		return sl__ref_reject(ev,
				      "its body takes %zu values and gives "
				      "%zu, not %zu and %zu",
				      b->block->n_inputs, b->block->n_outputs,
				      n_inputs, n_outputs);
	return SL_OK;
}

static enum sl_status
body_run(const struct body *b)
{
	return sl__ref_keep_status(
		b->ev, sl__evaluate_block(b->evaluator, b->id, b->ev->err));
}

/* Input i, emptied. */
static struct sl__runtime_value *
body_input(const struct body *b, size_t i)
{
	struct sl__runtime_value *content =
		&b->evaluator->values[b->block->inputs[i]];

	sl__runtime_value_clear(content, b->ev->allocator);
	return content;
}

/* 'to' holds what 'from' holds, for as long as that does; 'to' is empty. */
static enum sl_status
share(const struct body *b, struct sl__runtime_value *to,
      const struct sl__runtime_value *from)
{
	if (from->kind != SL__TYPE_TENSOR)
		return sl__ref_value_copy(b->ev, to, from);
	sl__runtime_value_borrow(to, &from->tensor);
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

/* Output k, which the caller may look at; NULL where it fails. */
static const struct sl__runtime_value *
body_output(const struct body *b, size_t k)
{
	const struct sl__runtime_value *out;
	enum sl_status rc = sl__evaluator_value(
		b->evaluator, b->block->outputs[k], &out, b->ev->err);

	return sl__ref_keep_status(b->ev, rc) ? NULL : out;
}

/* Output k into a value of the caller's, emptied first; in order. */
static enum sl_status
body_take(const struct body *b, size_t k, struct sl__runtime_value *to)
{
	struct sl__runtime_value *from =
		&b->evaluator->values[b->block->outputs[k]];
	const struct sl__runtime_value *held = body_output(b, k);

	if (!held)
		return b->ev->failure;
	if (!is_own(b, k))
		return sl__ref_value_copy(b->ev, to, held);
	sl__runtime_value_clear(to, b->ev->allocator);
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
			sl__runtime_value_clear(&b->evaluator->values[value],
						b->ev->allocator);
	}
}

/* Output k of the node becomes what 'made' holds, which is emptied. */
static enum sl_status
give(struct sl__kernel_call *ev, size_t k, struct sl__runtime_value *made)
{
	struct sl__runtime_value *out = sl__ref_output(ev, k);

	if (out && made->block &&
	    !ev->evaluator->is_bound[ev->node->outputs[k]]) {
		sl__runtime_value_clear(out, ev->allocator);
		*out = *made;
		memset(made, 0, sizeof(*made));
	} else if (out) {
		sl__ref_output_copy(ev, k, made);
	}
	sl__runtime_value_clear(made, ev->allocator);
	return ev->failure;
}

/* One truth value; anything else is refused. */
static int
truth_of(struct sl__kernel_call *ev, const struct sl__runtime_value *content)
{
	int64_t word = 0;

	if (content->kind != SL__TYPE_TENSOR ||
	    content->tensor.n_elements != 1 ||
	    !sl__tensor_integers(&content->tensor, 0, 1, &word))
		sl__ref_reject(ev, "its condition is not one truth value");
	return word != 0;
}

/* A scalar into a body's input. */
static void
set_scalar(const struct body *b, size_t i, enum sl_dtype dtype, int64_t number)
{
	struct sl__runtime_value *content = body_input(b, i);

	if (!sl__ref_value_alloc(b->ev, content, dtype, 0, NULL))
		sl__store_integers(content->bytes, dtype, 0, 1, &number);
}

enum sl_status
sl__ref_if(struct sl__kernel_call *ev)
{
	const struct sl__runtime_value *condition = sl__ref_input(ev, 0);
	struct sl__runtime_value taken = {0};
	struct body b;
	int truth;

	if (!condition)
		return sl__ref_reject(ev, "it has no condition");
	truth = truth_of(ev, condition);
	if (ev->failure ||
	    body_open(&b, ev, truth ? "then_branch" : "else_branch", 0,
		      ev->node->n_outputs))
		return ev->failure;
	body_run(&b);
	for (size_t k = 0; !ev->failure && k < ev->node->n_outputs; k++) {
		if (!body_take(&b, k, &taken))
			give(ev, k, &taken);
	}
	sl__runtime_value_clear(&taken, ev->allocator);
	body_close(&b);
	return ev->failure;
}

/* What a body hands from run to run, and what it gives in each. */
struct course {
	struct body b;
	size_t n_carried, n_stacks;
	size_t first_in;  /* body input of the first carried value */
	size_t first_out; /* and output; those to be stacked come after them */
	struct sl__runtime_value *carried;
	struct stack *stacks;
	int goes_on; /* what output 0 says, where carried ones come after it */
};

static enum sl_status
course_open(struct course *c, struct sl__kernel_call *ev)
{
	c->carried = sl__ref_scratch(ev, c->n_carried, sizeof(*c->carried));
	c->stacks = sl__ref_scratch(ev, c->n_stacks, sizeof(*c->stacks));
	return ev->failure;
}

static void
course_close(struct course *c)
{
	for (size_t i = 0; c->carried && i < c->n_carried; i++)
		sl__runtime_value_clear(&c->carried[i], c->b.ev->allocator);
	for (size_t i = 0; c->stacks && i < c->n_stacks; i++)
		stack_release(&c->stacks[i], c->b.ev);
	body_close(&c->b);
}

/* Runs the body once, its other inputs being set. */
static enum sl_status
course_run(struct course *c)
{
	const struct body *b = &c->b;
	struct sl__kernel_call *ev = b->ev;
	const struct sl__runtime_value *held;

	for (size_t i = 0; i < c->n_carried; i++) {
		*body_input(b, c->first_in + i) = c->carried[i];
		memset(&c->carried[i], 0, sizeof(c->carried[i]));
	}
	/* First what is only looked at. */
	if (!body_run(b) && c->first_out) {
		held = body_output(b, 0);
		c->goes_on = held && truth_of(ev, held);
	}
	for (size_t i = 0; !ev->failure && i < c->n_stacks; i++) {
		held = body_output(b, c->first_out + c->n_carried + i);
		if (held)
			stack_push(&c->stacks[i], ev, held);
	}
	for (size_t i = 0; !ev->failure && i < c->n_carried; i++)
		body_take(b, c->first_out + i, &c->carried[i]);
	return ev->failure;
}

/* The shape of stack i where the body has not run. */
static enum sl_status
course_declare(struct course *c, size_t i)
{
	size_t k = c->first_out + c->n_carried + i;
	const struct sl_graph *graph = c->b.evaluator->graph;

	return stack_declare(&c->stacks[i], c->b.ev,
			     &graph->values[c->b.block->outputs[k]].declared);
}

/* How often at most, and whether at all; both may be left out. */
static enum sl_status
loop_limits(struct sl__kernel_call *ev, int64_t *most, int *goes_on)
{
	const struct sl__tensor *count = sl__ref_input_tensor(ev, 0);
	const struct sl__runtime_value *condition = sl__ref_input(ev, 1);

	*most = INT64_MAX;
	*goes_on = 1;
	if (count &&
	    (count->n_elements != 1 || !sl__tensor_integers(count, 0, 1, most)))
		return sl__ref_reject(ev, "its count is not one whole number");
	if (condition)
		*goes_on = truth_of(ev, condition);
	return ev->failure;
}

static void
run_loop(struct sl__kernel_call *ev, struct course *c)
{
	int64_t most;

	loop_limits(ev, &most, &c->goes_on);
	for (int64_t i = 0; !ev->failure && c->goes_on && i < most; i++) {
		set_scalar(&c->b, 0, SL_DTYPE_I64, i);
		set_scalar(&c->b, 1, SL_DTYPE_BOOL, 1);
		if (!ev->failure)
			course_run(c);
	}
}

enum sl_status
sl__ref_loop(struct sl__kernel_call *ev)
{
	static const struct stacking in_front = {0, 0, 0};
	size_t n = ev->node->n_inputs > 2 ? ev->node->n_inputs - 2 : 0;
	struct course c = {.n_carried = n, .first_in = 2, .first_out = 1};

	if (ev->node->n_outputs < n)
		return sl__ref_reject(ev,
				      "it gives fewer values than it takes");
	if (body_open(&c.b, ev, "body", 2 + n, 1 + (size_t)ev->node->n_outputs))
		return ev->failure;
	c.n_stacks = ev->node->n_outputs - n;
	course_open(&c, ev);
	for (size_t i = 0; !ev->failure && i < n; i++) {
		if (!ev->inputs[2 + i])
			sl__ref_reject(ev, "input %zu is left out", 2 + i);
		else
			share(&c.b, &c.carried[i], ev->inputs[2 + i]);
	}
	if (!ev->failure)
		run_loop(ev, &c);
	for (size_t i = 0; !ev->failure && i < n; i++)
		give(ev, i, &c.carried[i]);
	for (size_t i = 0; !ev->failure && i < c.n_stacks; i++) {
		if (!course_declare(&c, i))
			stack_give(&c.stacks[i], ev, n + i, &in_front);
	}
	course_close(&c);
	return ev->failure;
}

/* The first version (8) takes the lengths of its sequences as first input and
 * has a batch before every dimension, the members of which run one after the
 * other; later ones choose axes. */
struct scan {
	struct course c;
	int has_batch;
	size_t first_state, n_scans;
	int64_t n_batch, length; /* n_batch is 1 where there is none */
	const int64_t *lengths;  /* per member of the batch; NULL: all alike */
	struct sl__runtime_value *scanned; /* of one member */
	struct stack *states;              /* the last of each member */
};

static int64_t
list_at(const struct sl__node *node, const char *name, size_t i)
{
	const int64_t *values;
	size_t n = sl__attribute_ints(node, name, &values);

	return i < n ? values[i] : 0;
}

/* Place 'at' of a tensor along an axis, without that axis. */
static enum sl_status
cut_out(struct sl__kernel_call *ev, struct sl__runtime_value *to,
	const struct sl__tensor *from, int64_t axis, int64_t at)
{
	return sl__move_axis_slice(ev, to, from,
				   &(struct sl__axis_slice){axis, at, 1, 1});
}

/* Takes dimension 'axis' of input i into *size, which is -1 before. */
static enum sl_status
agree(struct sl__kernel_call *ev, size_t i, int64_t axis, int64_t *size)
{
	const struct sl__tensor *in = sl__ref_require_tensor(ev, i);
	int at = in ? sl__axis_normalize(axis, (int)in->rank) : -1;

	if (!in)
		return ev->failure;
	if (at < 0 || (*size >= 0 && in->dims[at] != *size))
		return sl__ref_reject(ev,
				      "input %zu has no dimension %lld, or one "
				      "unlike the others",
				      i, (long long)axis);
	*size = in->dims[at];
	return SL_OK;
}

static enum sl_status
scan_lengths(struct sl__kernel_call *ev, struct scan *s)
{
	size_t n;

	s->lengths = sl__ref_integer_list(ev, 0, NULL, &n);
	if (!s->lengths)
		return ev->failure;
	for (size_t i = 0; i < n; i++) {
		if (s->lengths[i] < 0 || s->lengths[i] > s->length)
			return sl__ref_reject(
				ev, "a sequence of %lld elements, in %lld",
				(long long)s->lengths[i], (long long)s->length);
	}
	if ((int64_t)n != s->n_batch)
		return sl__ref_reject(ev,
				      "%zu lengths for a batch of "
				      "%lld",
				      n, (long long)s->n_batch);
	return SL_OK;
}

/* The sizes that all inputs share. */
static enum sl_status
scan_sizes(struct sl__kernel_call *ev, struct scan *s)
{
	size_t n_states = s->c.n_carried;

	s->n_batch = s->length = -1;
	for (size_t i = 0; !ev->failure && i < n_states + s->n_scans; i++) {
		size_t at = s->first_state + i, k = i - n_states;

		if (s->has_batch && agree(ev, at, 0, &s->n_batch))
			return ev->failure;
		if (i >= n_states)
			agree(ev, at,
			      s->has_batch
				      ? 1
				      : list_at(ev->node, "scan_input_axes", k),
			      &s->length);
		else if (!sl__ref_input(ev, at))
			sl__ref_reject(ev, "input %zu is left out", at);
	}
	if (ev->failure || s->has_batch)
		return ev->failure ? ev->failure : scan_lengths(ev, s);
	s->n_batch = 1;
	return SL_OK;
}

static enum sl_status
scan_open(struct sl__kernel_call *ev, struct scan *s)
{
	int64_t n_scans = sl__attribute_int(ev->node, "num_scan_inputs", 0);
	const struct sl__node *node = ev->node;

	s->has_batch = node->version < 9;
	s->first_state = s->has_batch ? 1 : 0;
	if (n_scans < 1 || node->n_inputs < s->first_state ||
	    (uint64_t)n_scans > node->n_inputs - s->first_state)
		return sl__ref_reject(ev, "%lld inputs to scan, of %u",
				      (long long)n_scans, node->n_inputs);
	s->n_scans = (size_t)n_scans;
	s->c.n_carried = node->n_inputs - s->first_state - s->n_scans;
	if (node->n_outputs < s->c.n_carried)
		return sl__ref_reject(ev,
				      "it gives fewer values than it keeps");
	if (body_open(&s->c.b, ev, "body", s->c.n_carried + s->n_scans,
		      node->n_outputs))
		return ev->failure;
	s->c.n_stacks = node->n_outputs - s->c.n_carried;
	s->scanned = sl__ref_scratch(ev, s->n_scans, sizeof(*s->scanned));
	s->states = sl__ref_scratch(ev, s->c.n_carried, sizeof(*s->states));
	if (course_open(&s->c, ev))
		return ev->failure;
	return scan_sizes(ev, s);
}

static void
scan_close(struct scan *s)
{
	for (size_t i = 0; s->scanned && i < s->n_scans; i++)
		sl__runtime_value_clear(&s->scanned[i], s->c.b.ev->allocator);
	for (size_t i = 0; s->states && i < s->c.n_carried; i++)
		stack_release(&s->states[i], s->c.b.ev);
	course_close(&s->c);
}

/* What member m of the batch starts with. */
static void
enter_member(struct sl__kernel_call *ev, struct scan *s, int64_t m)
{
	size_t n = s->c.n_carried + s->n_scans;

	for (size_t i = 0; !ev->failure && i < n; i++) {
		const struct sl__runtime_value *in =
			ev->inputs[s->first_state + i];
		struct sl__runtime_value *to =
			i < s->c.n_carried ? &s->c.carried[i]
					   : &s->scanned[i - s->c.n_carried];

		sl__runtime_value_clear(to, ev->allocator);
		if (s->has_batch)
			cut_out(ev, to, &in->tensor, 0, m);
		else
			share(&s->c.b, to, in);
	}
}

static void
run_member(struct sl__kernel_call *ev, struct scan *s, int64_t length)
{
	const char *ways = s->has_batch ? "directions"
					: "scan_input_directions";

	for (int64_t t = 0; !ev->failure && t < length; t++) {
		for (size_t i = 0; !ev->failure && i < s->n_scans; i++) {
			int is_back = list_at(ev->node, ways, i) != 0;
			int64_t axis = list_at(ev->node, "scan_input_axes", i);

			cut_out(ev, body_input(&s->c.b, s->c.n_carried + i),
				&s->scanned[i].tensor, s->has_batch ? 0 : axis,
				is_back ? length - 1 - t : t);
		}
		if (!ev->failure)
			course_run(&s->c);
	}
}

/* Keeps the states, and fills up what is shorter than the longest. */
static void
leave_member(struct sl__kernel_call *ev, struct scan *s, int64_t length)
{
	for (size_t i = 0; !ev->failure && i < s->c.n_carried; i++)
		stack_push(&s->states[i], ev, &s->c.carried[i]);
	for (size_t i = 0; !ev->failure && i < s->c.n_stacks; i++)
		stack_skip(&s->c.stacks[i], ev, s->length - length);
}

static void
give_scan(struct sl__kernel_call *ev, struct scan *s)
{
	size_t n_states = s->c.n_carried;
	struct stacking how = {0, 0, 0};

	for (size_t i = 0; !ev->failure && i < n_states; i++) {
		if (s->has_batch)
			stack_give(&s->states[i], ev, i, &how);
		else
			give(ev, i, &s->c.carried[i]);
	}
	for (size_t i = 0; !ev->failure && i < s->c.n_stacks; i++) {
		if (s->has_batch) {
			how.n_rows = s->n_batch;
		} else {
			how.axis = list_at(ev->node, "scan_output_axes", i);
			how.is_reverse = list_at(ev->node,
						 "scan_output_directions",
						 i) != 0;
		}
		if (!course_declare(&s->c, i))
			stack_give(&s->c.stacks[i], ev, n_states + i, &how);
	}
}

enum sl_status
sl__ref_scan(struct sl__kernel_call *ev)
{
	struct scan s = {.n_scans = 0};

	if (!scan_open(ev, &s) && s.n_batch == 0)
		sl__ref_reject(ev, "its batch is empty");
	for (int64_t m = 0; !ev->failure && m < s.n_batch; m++) {
		int64_t length = s.lengths ? s.lengths[m] : s.length;

		enter_member(ev, &s, m);
		if (!ev->failure)
			run_member(ev, &s, length);
		if (!ev->failure && s.has_batch)
			leave_member(ev, &s, length);
	}
	if (!ev->failure)
		give_scan(ev, &s);
	if (s.c.b.block)
		scan_close(&s);
	return ev->failure;
}

/* Item n of the inputs that are sequences, and the others whole. */
static enum sl_status
enter_item(struct sl__kernel_call *ev, const struct body *b, size_t n)
{
	for (size_t i = 0; !ev->failure && i < ev->node->n_inputs; i++) {
		const struct sl__runtime_value *in = ev->inputs[i];

		if (!in || (in->kind == SL__TYPE_SEQUENCE && n >= in->n_items))
			return sl__ref_reject(ev, "input %zu has no item %zu",
					      i, n);
		if (in->kind == SL__TYPE_SEQUENCE)
			in = &in->items[n];
		share(b, body_input(b, i), in);
	}
	return ev->failure;
}

static enum sl_dtype
item_dtype(const struct body *b, size_t k, const struct sl__runtime_value *made)
{
	const struct sl_graph *graph = b->evaluator->graph;

	if (made->n_items && made->items[0].kind == SL__TYPE_TENSOR)
		return made->items[0].tensor.dtype;
	return graph->values[b->block->outputs[k]].declared.dtype;
}

static void
map_items(struct sl__kernel_call *ev, const struct body *b,
	  struct sl__runtime_value *made)
{
	size_t n = ev->inputs[0]->n_items, n_out = ev->node->n_outputs;

	for (size_t k = 0; !ev->failure && k < n_out; k++)
		sl__ref_value_set_sequence(ev, &made[k], SL_DTYPE_NONE, n);
	for (size_t i = 0; !ev->failure && i < n; i++) {
		if (!enter_item(ev, b, i))
			body_run(b);
		for (size_t k = 0; !ev->failure && k < n_out; k++)
			body_take(b, k, &made[k].items[i]);
	}
	for (size_t k = 0; !ev->failure && k < n_out; k++) {
		made[k].dtype = item_dtype(b, k, &made[k]);
		give(ev, k, &made[k]);
	}
}

enum sl_status
sl__ref_sequence_map(struct sl__kernel_call *ev)
{
	const struct sl__runtime_value *first = sl__ref_input(ev, 0);
	size_t n_out = ev->node->n_outputs;
	struct sl__runtime_value *made =
		sl__ref_scratch(ev, n_out, sizeof(*made));
	struct body b;

	if (!made || body_open(&b, ev, "body", ev->node->n_inputs, n_out))
		return ev->failure;
	if (!first || first->kind != SL__TYPE_SEQUENCE)
		return sl__ref_reject(ev, "input 0 is no sequence");
	map_items(ev, &b, made);
	for (size_t k = 0; k < n_out; k++)
		sl__runtime_value_clear(&made[k], ev->allocator);
	body_close(&b);
	return ev->failure;
}
