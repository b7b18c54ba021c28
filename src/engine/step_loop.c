/* SPDX-License-Identifier: Apache-2.0 */
/*
 * step_loop.c - Loop and Scan whose carried values keep their sizes.
 *
 * The node becomes a step that runs those of its body, which stand behind it,
 * as often as it says, and goes on behind them.  Carried values have a buffer
 * each, which the last step of the body fills for the next run.  What the
 * body gives in each run is put where it belongs in an output whose size is
 * planned or, where the number of runs is found on the way, behind what came
 * before in storage that grows, which the evaluator then uses.  All sizes are
 * planned before the first run; nothing is planned between runs of a body.
 */
#include "base/status.h"
#include "engine/lowering.h"
#include "graph/body.h"

#include <string.h>

#include "base/banned.h"

/* One place along an axis of a tensor: n_outer pieces of n_bytes, each
 * 'length' pieces from the next. */
struct slices {
	uint64_t n_outer, n_bytes;
	int64_t length;
	int is_backward;
	uint32_t whole, piece; /* operands: of the loop's step, of the body's
				  last one */
};

/* An output of the body that all runs give together, where the number of runs
 * is not known before. */
struct growing {
	uint32_t value, piece; /* of the evaluator; operand of the last step */
	uint64_t n_bytes;
	uint64_t cap_bytes;
	unsigned char *bytes;
	struct sl__tensor tensor;
	int64_t dims[SL__RANK_MOST];
};

/* Operands of the loop's step: count, condition, initial values, carried ones,
 * number of the run, whether it goes on, wholes and pieces of what is scanned,
 * wholes of what is given.  Of the last one: whether it goes on, values of
 * this run, carried ones, wholes and pieces of what is given, and what must
 * stay for the next run. */
struct loop {
	struct sl__program *program;
	size_t first, end; /* steps of the body */
	int64_t run, n_most;
	int goes_on;
	int has_count, has_condition, is_scan;
	size_t n_carried, n_scanned, n_given, n_growing;
	uint64_t *n_bytes; /* of carried values */
	double body_flops, body_bytes;
	struct slices *scanned, *given;
	struct growing *growing;
};

/* What planning needs besides. */
struct shape {
	uint32_t body;
	size_t first_in, n_scanned, n_carried; /* of the node's inputs */
	size_t first_body_in, first_body_out;  /* of carried values */
	int is_scan;
};

static int64_t
list_at(const struct sl__node *node, const char *name, size_t i)
{
	const int64_t *values;
	size_t n = sl__attribute_ints(node, name, &values);

	return i < n ? values[i] : 0;
}

static void
copy_slice(const struct slices *s, int64_t at, unsigned char *whole,
	   unsigned char *piece, int is_given)
{
	uint64_t step = (uint64_t)s->length * s->n_bytes;

	at = s->is_backward ? s->length - 1 - at : at;
	whole += (uint64_t)at * s->n_bytes;
	for (uint64_t i = 0; i < s->n_outer; i++) {
		memcpy(is_given ? whole : piece, is_given ? piece : whole,
		       (size_t)s->n_bytes);
		whole += step;
		piece += s->n_bytes;
	}
}

static enum sl_status
append(struct loop *l, struct growing *g, const unsigned char *piece,
       struct sl_error *err)
{
	const struct sl_allocator *allocator = &l->program->arena.allocator;
	uint64_t used = (uint64_t)l->run * g->n_bytes;

	if (used + g->n_bytes > g->cap_bytes) {
		uint64_t cap = 2 * (used + g->n_bytes);
		unsigned char *more =
			used > INT64_MAX / 4
				? NULL
				: sl__allocator_alloc(allocator, (size_t)cap);

		if (!more)
			return sl__fail_nomem(err);
		if (used)
			memcpy(more, g->bytes, (size_t)used);
		sl__allocator_free(allocator, g->bytes);
		g->bytes = more;
		g->cap_bytes = cap;
	}
	if (g->n_bytes)
		memcpy(g->bytes + used, piece, (size_t)g->n_bytes);
	return SL_OK;
}

/* The last step of the body. */
static enum sl_status
run_carry(struct sl__step *step, struct sl_error *err)
{
	struct loop *l = step->state;
	unsigned char **at = step->at + !l->is_scan;
	enum sl_status rc = SL_OK;

	if (!l->is_scan)
		l->goes_on = step->at[0][0] != 0;
	for (size_t i = 0; i < l->n_given; i++)
		copy_slice(&l->given[i], l->run, step->at[l->given[i].whole],
			   step->at[l->given[i].piece], 1);
	for (size_t i = 0; !rc && i < l->n_growing; i++)
		rc = append(l, &l->growing[i], step->at[l->growing[i].piece],
			    err);
	for (size_t i = 0; i < l->n_carried; i++) {
		if (l->n_bytes[i] && at[i] != at[l->n_carried + i])
			memmove(at[l->n_carried + i], at[i],
				(size_t)l->n_bytes[i]);
	}
	return rc;
}

static void
start(struct loop *l, struct sl__step *step)
{
	unsigned char **at = step->at;

	l->run = 0;
	l->goes_on = 1;
	if (!l->is_scan)
		l->n_most = INT64_MAX;
	if (l->has_count)
		memcpy(&l->n_most, *at++, sizeof(l->n_most));
	if (l->has_condition)
		l->goes_on = **at++ != 0;
	for (size_t i = 0; i < l->n_carried; i++) {
		if (l->n_bytes[i])
			memcpy(at[l->n_carried + i], at[i],
			       (size_t)l->n_bytes[i]);
	}
}

static enum sl_status
run_loop(struct sl__step *step, struct sl_error *err)
{
	struct loop *l = step->state;
	size_t first = (size_t)l->has_count + (size_t)l->has_condition +
		       2 * l->n_carried;
	struct sl__body_run body;
	enum sl_status rc = SL_OK;

	start(l, step);
	sl__program_enter_body(l->program, &body, l->first, l->end);
	for (; !rc && l->goes_on && l->run < l->n_most; l->run++) {
		if (!l->is_scan) {
			memcpy(step->at[first], &l->run, sizeof(l->run));
			*step->at[first + 1] = 1;
		}
		for (size_t i = 0; i < l->n_scanned; i++)
			copy_slice(&l->scanned[i], l->run,
				   step->at[l->scanned[i].whole],
				   step->at[l->scanned[i].piece], 0);
		rc = sl__program_run_body(l->program, &body, err);
	}
	for (size_t i = 0; !rc && i < l->n_growing; i++) {
		struct growing *g = &l->growing[i];

		g->dims[0] = l->run;
		(void)sl__tensor_compute_size(&g->tensor);
		g->tensor.bytes = g->bytes;
		sl__evaluator_set_tensor(l->program->evaluator, g->value,
					 &g->tensor);
	}
	l->program->work_flops += (double)l->run * l->body_flops;
	l->program->work_bytes += (double)l->run * l->body_bytes;
	step->jumps = 1;
	return rc;
}

static void
release(struct sl__step *step)
{
	struct loop *l = step->state;

	for (size_t i = 0; i < l->n_growing; i++)
		sl__allocator_free(&l->program->arena.allocator,
				   l->growing[i].bytes);
}

/* Whether two values are tensors of one type and the same known sizes. */
static int
are_alike(const struct sl__planner *pl, uint32_t a, uint32_t b)
{
	struct sl__runtime_value x = {0}, y = {0};

	if (!sl__plan_is_static(pl, a) || !sl__plan_is_static(pl, b) ||
	    pl->shapes->is_told[a] || pl->shapes->is_told[b])
		return 0;
	sl__plan_describe_value(pl, a, &x);
	sl__plan_describe_value(pl, b, &y);
	return sl__tensor_has_type_of(&x.tensor, &y.tensor);
}

static int
is_scalar(const struct sl__planner *pl, uint32_t value, enum sl_dtype dtype)
{
	return sl__plan_is_static(pl, value) &&
	       sl__plan_value_n_elements(pl, value) == 1 &&
	       sl__plan_value_type(pl, value)->dtype == dtype;
}

static int
read_shape(const struct sl__planner *pl, const struct sl__node *node,
	   struct shape *s)
{
	int64_t n_scanned = sl__attribute_int(node, "num_scan_inputs", 0);
	const struct sl__block *b;

	memset(s, 0, sizeof(*s));
	s->is_scan = sl__is_op(node, SL__OP_ONNX_Scan);
	if ((!s->is_scan && !sl__is_op(node, SL__OP_ONNX_Loop)) ||
	    (s->is_scan && (node->version < 9 || n_scanned < 1 ||
			    n_scanned > node->n_inputs)))
		return 0;
	s->body = sl__node_body_by_name(node, "body");
	if (s->body == SL__NONE || !pl->shapes->block_calls[s->body])
		return 0;
	b = &pl->graph->blocks[s->body];
	s->first_in = s->is_scan ? 0 : 2;
	s->n_scanned = s->is_scan ? (size_t)n_scanned : 0;
	if (node->n_inputs < s->first_in + s->n_scanned)
		return 0;
	s->n_carried = node->n_inputs - s->first_in - s->n_scanned;
	s->first_body_in = s->is_scan ? 0 : 2;
	s->first_body_out = s->is_scan ? 0 : 1;
	return b->n_inputs == s->first_body_in + s->n_carried + s->n_scanned &&
	       node->n_outputs >= s->n_carried &&
	       b->n_outputs == s->first_body_out + node->n_outputs;
}

/* Count and condition of a Loop; what a Scan takes apart. */
static int
can_control(const struct sl__planner *pl, const struct sl__node *node,
	    const struct shape *s)
{
	const struct sl__block *b = &pl->graph->blocks[s->body];

	if (!s->is_scan)
		return (node->inputs[0] == SL__NONE ||
			is_scalar(pl, node->inputs[0], SL_DTYPE_I64)) &&
		       (node->inputs[1] == SL__NONE ||
			is_scalar(pl, node->inputs[1], SL_DTYPE_BOOL)) &&
		       is_scalar(pl, b->outputs[0], SL_DTYPE_BOOL);
	for (size_t i = 0; i < s->n_scanned; i++) {
		uint32_t in = sl__plan_node_input(node, s->n_carried + i);

		if (in == SL__NONE || !sl__plan_is_static(pl, in) ||
		    !sl__plan_is_static(pl, b->inputs[s->n_carried + i]) ||
		    sl_dtype_bits(sl__plan_value_type(pl, in)->dtype) % 8)
			return 0;
	}
	return 1;
}

/* What is given in each run: of a size that is known, and in a Loop of any
 * number of runs. */
static int
can_give(const struct sl__planner *pl, const struct shape *s, uint32_t from,
	 uint32_t to)
{
	if (!sl__plan_is_static(pl, from) || pl->shapes->is_told[from] ||
	    sl__plan_value_type(pl, from)->rank >= SL__RANK_MOST ||
	    sl_dtype_bits(sl__plan_value_type(pl, from)->dtype) % 8)
		return 0;
	if (to == SL__NONE)
		return 1;
	return sl__plan_is_static(pl, to) ? !pl->shapes->is_told[to]
					  : !s->is_scan;
}

int
sl__plan_can_loop(const struct sl__planner *pl, const struct sl__node *node)
{
	const struct sl__block *b;
	struct shape s;

	if (!read_shape(pl, node, &s) || !can_control(pl, node, &s))
		return 0;
	b = &pl->graph->blocks[s.body];
	for (size_t i = 0; i < node->n_outputs; i++) {
		uint32_t from = b->outputs[s.first_body_out + i];
		uint32_t to = node->outputs[i];

		if (i >= s.n_carried) {
			if (!can_give(pl, &s, from, to))
				return 0;
			continue;
		}
		if (node->inputs[s.first_in + i] == SL__NONE ||
		    !are_alike(pl, node->inputs[s.first_in + i], from) ||
		    !are_alike(pl, b->inputs[s.first_body_in + i], from) ||
		    (to != SL__NONE && !are_alike(pl, to, from)))
			return 0;
	}
	return 1;
}

/* Buffers that a body uses from run to run, those of values made before. */
struct captures {
	struct sl__planner *pl;
	uint32_t *values, *n_versions; /* a value, and how many it had */
	size_t n, cap;
	uint32_t *buffers;
	size_t n_buffers;
};

static void
capture(struct captures *c, uint32_t value)
{
	const struct sl__planned_value *held;

	if (value == SL__NONE || c->pl->graph->values[value].tensor)
		return;
	held = &c->pl->held[value];
	/* Those of the body itself lie nowhere yet. */
	if (!held->n_versions || c->n == c->cap)
		return;
	c->values[c->n] = value;
	c->n_versions[c->n++] = held->n_versions;
	for (uint32_t v = 0; v < held->n_versions; v++)
		c->buffers[c->n_buffers++] = held->versions[v].buffer;
}

static size_t
visit_captures(struct captures *c, const struct sl__planner *pl, uint32_t block)
{
	const struct sl__block *b = &pl->graph->blocks[block];
	size_t n = b->n_outputs;

	for (size_t i = 0; i < b->n_nodes; i++) {
		const struct sl__node *node = &pl->graph->nodes[b->nodes[i]];

		n += node->n_inputs;
		for (uint32_t k = 0; c && k < node->n_inputs; k++)
			capture(c, node->inputs[k]);
		for (size_t a = 0; a < node->n_attributes; a++) {
			if (node->attributes[a].kind == SL__ATTRIBUTE_BLOCK)
				n += visit_captures(c, pl,
						    node->attributes[a].block);
		}
	}
	for (size_t k = 0; c && k < b->n_outputs; k++)
		capture(c, b->outputs[k]);
	return n;
}

/* Nobody in the body is the last to read what the next run reads again: one
 * use more of each, by +1, and away with it afterwards. */
static void
count_captures(const struct captures *c, uint32_t by)
{
	struct sl__planner *pl = c->pl;

	for (size_t i = 0; !pl->rc && i < c->n; i++) {
		struct sl__planned_value *held = &pl->held[c->values[i]];

		held->uses_left += by;
		for (uint32_t v = 0; v < c->n_versions[i]; v++) {
			uint32_t b = held->versions[v].buffer;

			pl->buffer_uses[pl->program->buffers[b].base] += by;
		}
	}
}

static void
find_captures(struct captures *c, struct sl__planner *pl, const struct shape *s,
	      const struct sl__node *node)
{
	size_t n = visit_captures(NULL, pl, s->body) + s->n_scanned;

	memset(c, 0, sizeof(*c));
	c->pl = pl;
	c->values = sl__plan_alloc_state(pl, n * sizeof(*c->values));
	c->n_versions = sl__plan_alloc_state(pl, n * sizeof(*c->n_versions));
	c->buffers = sl__plan_alloc_state(pl, n * SL__VERSIONS_MOST *
						      sizeof(*c->buffers));
	c->cap = pl->rc ? 0 : n;
	(void)visit_captures(c, pl, s->body);
	for (size_t i = 0; i < s->n_scanned; i++)
		capture(c, node->inputs[s->n_carried + i]);
}

/* How a piece lies in its whole, which has one dimension more. */
static void
describe_slices(const struct sl__planner *pl, struct slices *s, uint32_t whole,
		int64_t axis)
{
	const struct sl__type *type = sl__plan_value_type(pl, whole);
	int at = sl__axis_normalize(axis, type->rank);

	s->n_outer = s->n_bytes = 1;
	for (int d = 0; d < at; d++)
		s->n_outer *= (uint64_t)type->dims[d];
	for (int d = at + 1; d < type->rank; d++)
		s->n_bytes *= (uint64_t)type->dims[d];
	s->n_bytes *= sl_dtype_bits(type->dtype) / 8;
	s->length = type->dims[at];
}

/* What is under way. */
struct making {
	struct sl__planner *pl;
	const struct sl__node *node;
	const struct sl__block *body;
	struct shape shape;
	struct loop *loop;
	struct captures captures;
	uint32_t *operands; /* of the step under way */
	uint32_t n_operands;
	uint32_t *carried; /* buffers */
};

static uint32_t
add_operand(struct making *m, uint32_t buffer)
{
	if (!m->pl->rc)
		m->operands[m->n_operands] = buffer;
	return m->n_operands++;
}

static void
make_state(struct making *m)
{
	struct sl__planner *pl = m->pl;
	size_t n = (size_t)m->node->n_inputs + m->node->n_outputs + 8;
	struct loop *l = sl__plan_alloc_state(pl, sizeof(*l));

	m->loop = l;
	m->carried = sl__plan_alloc_state(pl, n * sizeof(*m->carried));
	m->operands = sl__plan_alloc_state(pl, (3 * n + m->captures.n_buffers) *
						       sizeof(*m->operands));
	if (!l)
		return;
	l->program = pl->program;
	l->is_scan = m->shape.is_scan;
	l->n_carried = m->shape.n_carried;
	l->n_bytes = sl__plan_alloc_state(pl, n * sizeof(*l->n_bytes));
	l->scanned = sl__plan_alloc_state(pl, n * sizeof(*l->scanned));
	l->given = sl__plan_alloc_state(pl, n * sizeof(*l->given));
	l->growing = sl__plan_alloc_state(pl, n * sizeof(*l->growing));
	if (m->shape.is_scan) {
		uint32_t first = m->node->inputs[m->shape.n_carried];
		const struct sl__type *type = sl__plan_value_type(pl, first);
		int axis = sl__axis_normalize(
			list_at(m->node, "scan_input_axes", 0), type->rank);

		l->n_most = type->dims[axis];
	}
}

static void
add_scanned(struct making *m)
{
	struct sl__planner *pl = m->pl;
	struct loop *l = m->loop;

	for (size_t i = 0; !pl->rc && i < m->shape.n_scanned; i++) {
		struct slices *s = &l->scanned[l->n_scanned++];
		uint32_t whole = m->node->inputs[m->shape.n_carried + i];
		uint32_t piece = m->body->inputs[m->shape.n_carried + i];

		describe_slices(pl, s, whole,
				list_at(m->node, "scan_input_axes", i));
		s->is_backward = list_at(m->node, "scan_input_directions", i) !=
				 0;
		s->whole =
			add_operand(m, sl__plan_input_buffer(pl, whole, NULL));
		s->piece =
			add_operand(m, sl__plan_output_buffer(pl, piece, NULL));
	}
}

/* Outputs that all runs give together; their buffers, where they have one, are
 * the loop's from the first run on. */
static void
make_given(struct making *m)
{
	struct sl__planner *pl = m->pl;
	struct loop *l = m->loop;

	for (size_t k = m->shape.n_carried; !pl->rc && k < m->node->n_outputs;
	     k++) {
		uint32_t to = m->node->outputs[k];
		uint32_t from = m->body->outputs[m->shape.first_body_out + k];
		size_t i = k - m->shape.n_carried;

		if (to == SL__NONE)
			continue;
		if (sl__plan_is_static(pl, to)) {
			struct slices *s = &l->given[l->n_given++];

			describe_slices(
				pl, s, to,
				list_at(m->node, "scan_output_axes", i));
			s->is_backward =
				list_at(m->node, "scan_output_directions", i) !=
				0;
			s->piece = from;
			s->whole = sl__plan_output_buffer(pl, to, NULL);
		} else {
			struct growing *g = &l->growing[l->n_growing++];
			const struct sl__type *type =
				sl__plan_value_type(pl, from);

			g->value = to;
			g->piece = from;
			g->n_bytes = sl__plan_value_bytes(pl, from);
			g->tensor.dtype = type->dtype;
			g->tensor.rank = (size_t)type->rank + 1;
			g->tensor.dims = g->dims;
			for (int d = 0; d < type->rank; d++)
				g->dims[d + 1] = type->dims[d];
			pl->held[to].is_dynamic = 1;
			pl->program->is_stepwise = 1;
		}
	}
}

/* The step of the node itself, in front of its body. */
static void
add_loop_step(struct making *m)
{
	struct sl__planner *pl = m->pl;
	const struct sl__node *node = m->node;
	struct loop *l = m->loop;
	struct sl__step *step;
	uint64_t n_bytes = 0;

	l->has_count = !l->is_scan && node->inputs[0] != SL__NONE;
	l->has_condition = !l->is_scan && node->inputs[1] != SL__NONE;
	for (size_t i = 0; i < m->shape.first_in; i++) {
		if (node->inputs[i] != SL__NONE)
			add_operand(m, sl__plan_input_buffer(
					       pl, node->inputs[i], NULL));
	}
	for (size_t i = 0; i < l->n_carried; i++) {
		uint32_t init = node->inputs[m->shape.first_in + i];

		add_operand(m, sl__plan_input_buffer(pl, init, NULL));
		l->n_bytes[i] = sl__plan_value_bytes(pl, init);
		n_bytes += 2 * l->n_bytes[i];
	}
	pl->n_branches++;
	for (size_t i = 0; i < l->n_carried; i++) {
		m->carried[i] = sl__plan_output_buffer(
			pl, m->body->inputs[m->shape.first_body_in + i], NULL);
		add_operand(m, m->carried[i]);
	}
	for (size_t i = 0; !l->is_scan && i < 2; i++)
		add_operand(m, sl__plan_output_buffer(pl, m->body->inputs[i],
						      NULL));
	add_scanned(m);
	pl->n_branches--;
	for (size_t i = 0; i < l->n_given; i++)
		add_operand(m, l->given[i].whole);
	step = sl__plan_add_step(pl, m->operands, m->n_operands, "loop",
				 run_loop, l);
	step->release = release;
	for (size_t i = 0; i < l->n_scanned; i++)
		n_bytes += 2 * l->scanned[i].n_outer * l->scanned[i].n_bytes *
			   (uint64_t)l->scanned[i].length;
	step->n_bytes = n_bytes;
}

/* A value of this run for the next: a copy, where it lies in the buffer of
 * another carried value, which may be filled before it. */
static uint32_t
carried_source(struct making *m, size_t i)
{
	struct sl__planner *pl = m->pl;
	uint32_t value = m->body->outputs[m->shape.first_body_out + i];
	uint32_t from = sl__plan_input_buffer(pl, value, NULL), to;

	for (size_t k = 0; !pl->rc && k < m->shape.n_carried; k++) {
		if (k == i || pl->program->buffers[from].base != m->carried[k])
			continue;
		to = sl__plan_workspace(pl, m->loop->n_bytes[i]);
		sl__plan_copy(pl, from, to, m->loop->n_bytes[i]);
		return to;
	}
	return from;
}

static void
add_carry_step(struct making *m)
{
	struct sl__planner *pl = m->pl;
	struct loop *l = m->loop;
	struct sl__step *step;
	uint64_t n_bytes = 0;

	m->n_operands = 0;
	if (!l->is_scan)
		add_operand(m, sl__plan_input_buffer(pl, m->body->outputs[0],
						     NULL));
	for (size_t i = 0; i < l->n_carried; i++) {
		add_operand(m, carried_source(m, i));
		n_bytes += 2 * l->n_bytes[i];
	}
	for (size_t i = 0; i < l->n_carried; i++)
		add_operand(m, m->carried[i]);
	for (size_t i = 0; i < l->n_given; i++) {
		struct slices *s = &l->given[i];

		s->whole = add_operand(m, s->whole);
		s->piece = add_operand(
			m, sl__plan_input_buffer(pl, s->piece, NULL));
		n_bytes += 2 * s->n_outer * s->n_bytes;
	}
	for (size_t i = 0; i < l->n_growing; i++) {
		struct growing *g = &l->growing[i];

		g->piece = add_operand(
			m, sl__plan_input_buffer(pl, g->piece, NULL));
		n_bytes += 2 * g->n_bytes;
	}
	for (size_t i = 0; i < m->captures.n_buffers; i++)
		add_operand(m, m->captures.buffers[i]);
	step = sl__plan_add_step(pl, m->operands, m->n_operands, "carry",
				 run_carry, l);
	step->n_bytes = n_bytes;
}

void
sl__plan_loop(struct sl__planner *pl, const struct sl__node *node)
{
	struct making m = {.pl = pl, .node = node};
	struct sl__program *p = pl->program;
	uint32_t owner = pl->node;
	size_t noted, first;

	(void)read_shape(pl, node, &m.shape);
	m.body = &pl->graph->blocks[m.shape.body];
	/* Inputs lie where they are read before it is noted what stays. */
	for (uint32_t i = 0; i < node->n_inputs; i++) {
		if (node->inputs[i] != SL__NONE)
			(void)sl__plan_input_buffer(pl, node->inputs[i], NULL);
	}
	find_captures(&m.captures, pl, &m.shape, node);
	make_state(&m);
	if (pl->rc)
		return;
	make_given(&m);
	noted = pl->n_journal;
	add_loop_step(&m);
	first = p->n_steps;
	count_captures(&m.captures, 1);
	pl->n_branches++;
	sl__lower_block(pl, m.shape.body);
	pl->n_branches--;
	count_captures(&m.captures, UINT32_MAX);
	pl->node = owner;
	pl->is_counted = 1;
	add_carry_step(&m);
	sl__plan_forget_versions(pl, noted);
	if (pl->rc)
		return;
	m.loop->first = first;
	m.loop->end = p->steps[first - 1].target = p->n_steps;
	for (size_t i = first; i < p->n_steps; i++) {
		p->steps[i].is_inner = 1;
		m.loop->body_flops += (double)p->steps[i].executed_flops;
		m.loop->body_bytes += (double)p->steps[i].n_bytes;
	}
	for (size_t i = 0; i < m.shape.n_carried; i++) {
		if (node->outputs[i] != SL__NONE)
			sl__plan_alias(pl, node->outputs[i], NULL,
				       m.carried[i]);
	}
}
