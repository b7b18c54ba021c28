/* SPDX-License-Identifier: Apache-2.0 */
/*
 * native_recurrent.c - LSTM, GRU and RNN.
 *
 * What the inputs give to the gates does not depend on the state: it is one
 * product over all steps, whose columns threads share.  Then each step adds
 * what the state gives and renews the state; threads take directions and
 * samples, which know nothing of each other; those side by side that are equally
 * long go together.  Weights are packed when the program is made, in ONNX's order
 * of gates.
 *
 * oneDNN has these layers, too, but with weights, states and outputs in
 * orders of its own and no gain for the few samples of a stream.  Peepholes,
 * clipping and other activations than the usual ones are left to the reference
 * kernels.
 */
#include "base/status.h"
#include "compute/gemm_small.h"
#include "compute/vector_math.h"
#include "engine/node_steps.h"
#include "graph/op_rules.h"

#include "base/banned.h"

enum { X, W, R, BIAS, LENGTHS, FIRST_H, FIRST_C, PEEPHOLES };
enum kind { LSTM, GRU, RNN };
enum { N_OPTIONAL = 6 }; /* Y, Y_h, Y_c, initial h and c, lengths */
enum { AT_X, AT_WEIGHTS, AT_WORK, AT_OPTIONAL };

/* One direction's weights: [k][columns] in panels, and biases. */
struct weights {
	float *w, *r, *r_new; /* the last: of GRU's new state */
	float *bias;          /* of all gates */
	float *bias_new;      /* of GRU: the state's part, weighed by r */
};

typedef void cell_function(float *restrict gates, float *restrict h,
			   float *restrict c, int64_t n);

struct recurrent {
	enum kind kind;
	int64_t seq, batch, input, hidden, directions;
	int64_t columns; /* of all gates */
	int is_batch_first, is_reverse;
	int is_reset_late; /* linear_before_reset */
	int is_relu;       /* RNN's function */
	struct weights weights[2];
	cell_function *cell, *reset;
	int at[N_OPTIONAL]; /* operand; 0: left out */
};

SL__INLINE void
lstm_body(float *restrict gates, float *restrict h, float *restrict c,
	  int64_t n)
{
	const float *out = gates + n, *keep = out + n, *in = keep + n;

	for (int64_t i = 0; i < n; i++) {
		float cell = sl__sigmoid(keep[i]) * c[i] +
			     sl__sigmoid(gates[i]) * sl__tanh(in[i]);

		c[i] = cell;
		h[i] = sl__sigmoid(out[i]) * sl__tanh(cell);
	}
}

/* r times the state, for the product that comes next. */
SL__INLINE void
reset_body(float *restrict gates, float *restrict h, float *restrict scaled,
	   int64_t n)
{
	const float *r = gates + n;

	for (int64_t i = 0; i < n; i++)
		scaled[i] = sl__sigmoid(r[i]) * h[i];
}

SL__INLINE void
gru_body(float *restrict gates, float *restrict h, float *restrict state,
	 int64_t n)
{
	const float *in = gates + 2 * n;

	(void)state;
	for (int64_t i = 0; i < n; i++) {
		float z = sl__sigmoid(gates[i]);

		h[i] = (1 - z) * sl__tanh(in[i]) + z * h[i];
	}
}

/* 'state' is the state's part of the new one, which r weighs. */
SL__INLINE void
late_gru_body(float *restrict gates, float *restrict h, float *restrict state,
	      int64_t n)
{
	const float *r = gates + n, *in = gates + 2 * n;

	for (int64_t i = 0; i < n; i++) {
		float z = sl__sigmoid(gates[i]);

		h[i] = (1 - z) *
			       sl__tanh(in[i] + sl__sigmoid(r[i]) * state[i]) +
		       z * h[i];
	}
}

SL__INLINE void
rnn_body(float *restrict gates, float *restrict h, float *restrict c, int64_t n)
{
	(void)c;
	for (int64_t i = 0; i < n; i++)
		h[i] = sl__tanh(gates[i]);
}

SL__INLINE void
rnn_relu_body(float *restrict gates, float *restrict h, float *restrict c,
	      int64_t n)
{
	(void)c;
	for (int64_t i = 0; i < n; i++)
		h[i] = gates[i] < 0 ? 0 : gates[i];
}

#define CELL(name)                                                    \
	SL__VECTOR_TARGETS(name, name##_body,                         \
			   (float *restrict gates, float *restrict h, \
			    float *restrict c, int64_t n),            \
			   (gates, h, c, n))
CELL(lstm)
CELL(reset)
CELL(gru)
CELL(late_gru)
CELL(rnn)
CELL(rnn_relu)

static cell_function *
cell_of(const struct recurrent *l)
{
	if (l->kind == LSTM)
		return lstm_for();
	if (l->kind == GRU)
		return l->is_reset_late ? late_gru_for() : gru_for();
	return l->is_relu ? rnn_relu_for() : rnn_for();
}

static int64_t
states(const struct recurrent *l)
{
	return l->directions * l->batch * l->hidden;
}

/* The workspace: gates of all steps and directions, h, and c or, of GRU, what
 * goes into or comes from the product for the new state. */
static float *
gates_of(const struct recurrent *l, float *work, int64_t d)
{
	return work + d * l->seq * l->batch * l->columns;
}

static float *
states_of(const struct recurrent *l, float *work)
{
	return gates_of(l, work, l->directions);
}

/* Rows of gates lie as rows of x do: row of sample b at step t. */
static int64_t
row_of(const struct recurrent *l, int64_t t, int64_t b)
{
	return l->is_batch_first ? b * l->seq + t : t * l->batch + b;
}

static int64_t
state_at(const struct recurrent *l, int64_t d, int64_t b)
{
	return (l->is_batch_first ? b * l->directions + d : d * l->batch + b) *
	       l->hidden;
}

static float *
optional(const struct sl__step *step, const struct recurrent *l, int which)
{
	return l->at[which] ? (float *)(void *)step->at[l->at[which]] : NULL;
}

/* Gates of all steps from the inputs alone, one panel of columns at a time. */
static void
run_inputs(int rank, int n, void *ctx)
{
	const struct sl__step *step = ctx;
	const struct recurrent *l = step->state;
	float *work = (float *)(void *)step->at[AT_WORK];
	int64_t panels = (l->columns + SL__PANEL - 1) / SL__PANEL;
	int64_t rows = l->seq * l->batch, at, end;

	sl__parallel_range(panels * l->directions, rank, n, &at, &end);
	for (; at < end; at++) {
		int64_t d = at / panels, j = at % panels * SL__PANEL;
		int64_t left = l->columns - j;
		struct sl__gemm_small g = {
			.m = rows,
			.n = left < SL__PANEL ? left : SL__PANEL,
			.k = l->input,
			.a = (const float *)(const void *)step->at[AT_X],
			.a_row = l->input,
			.a_column = 1,
			.b = l->weights[d].w + j * l->input,
			.c = gates_of(l, work, d) + j,
			.c_row = l->columns,
			.alpha = 1,
			.is_packed = 1,
			.is_added = 1};

		for (int64_t i = 0; i < rows; i++)
			memcpy(g.c + i * g.c_row, l->weights[d].bias + j,
			       (size_t)g.n * sizeof(*g.c));
		sl__gemm_small(&g);
	}
}

/* Samples first .. first + m - 1 of one direction: their states, and the
 * gates of the step under way. */
struct share {
	const struct recurrent *l;
	int64_t d, first, m;
	float *h, *c, *gates;
	int64_t gates_row;
};

/* What the states, or what was made of them, give to the gates. */
static void
add_product(const struct share *s, const float *a, const float *b, int64_t n,
	    float *to, int64_t to_row)
{
	struct sl__gemm_small g = {.m = s->m,
				   .n = n,
				   .k = s->l->hidden,
				   .a = a,
				   .a_row = s->l->hidden,
				   .a_column = 1,
				   .b = b,
				   .c = to,
				   .c_row = to_row,
				   .alpha = 1,
				   .is_packed = 1,
				   .is_added = 1};

	sl__gemm_small(&g);
}

static void
renew(const struct share *s, cell_function *cell)
{
	int64_t n = s->l->hidden;

	for (int64_t i = 0; i < s->m; i++)
		cell(s->gates + i * s->gates_row, s->h + i * n, s->c + i * n,
		     n);
}

static void
one_step(const struct share *s)
{
	const struct recurrent *l = s->l;
	const struct weights *w = &l->weights[s->d];
	int64_t n = l->hidden;

	if (l->kind != GRU) {
		add_product(s, s->h, w->r, l->columns, s->gates, s->gates_row);
		renew(s, l->cell);
		return;
	}
	add_product(s, s->h, w->r, 2 * n, s->gates, s->gates_row);
	if (l->is_reset_late) {
		for (int64_t i = 0; i < s->m; i++)
			memcpy(s->c + i * n, w->bias_new,
			       (size_t)n * sizeof(*s->c));
		add_product(s, s->h, w->r_new, n, s->c, n);
	} else {
		renew(s, l->reset);
		add_product(s, s->c, w->r_new, n, s->gates + 2 * n,
			    s->gates_row);
	}
	renew(s, l->cell);
}

/* Y at step t: the states, or zeros behind the end of the sequences. */
static void
write_step(const struct share *s, int64_t t, float *y, int is_ended)
{
	const struct recurrent *l = s->l;
	size_t n_bytes = (size_t)l->hidden * sizeof(*y);

	for (int64_t i = 0; y && i < s->m; i++) {
		int64_t b = s->first + i;
		int64_t row =
			l->is_batch_first
				? row_of(l, t, b) * l->directions + s->d
				: (t * l->directions + s->d) * l->batch + b;

		if (is_ended)
			memset(y + row * l->hidden, 0, n_bytes);
		else
			memcpy(y + row * l->hidden, s->h + i * l->hidden,
			       n_bytes);
	}
}

/* Steps of sample b. */
static int64_t
length_of(const struct sl__step *step, const struct recurrent *l, int64_t b)
{
	return l->at[5] ? ((const int32_t *)(const void *)step->at[l->at[5]])[b]
			: l->seq;
}

/* Copies states: rows of the workspace from or to a value's. */
static void
move_states(const struct share *s, float *rows, float *value, int is_first)
{
	size_t n_bytes = (size_t)s->l->hidden * sizeof(*rows);

	for (int64_t i = 0; i < s->m; i++, rows += s->l->hidden) {
		float *at = value ? value + state_at(s->l, s->d, s->first + i)
				  : NULL;

		if (is_first && at)
			memcpy(rows, at, n_bytes);
		else if (is_first)
			memset(rows, 0, n_bytes);
		else if (at)
			memcpy(at, rows, n_bytes);
	}
}

static void
run_share(const struct sl__step *step, int64_t d, int64_t first, int64_t end)
{
	const struct recurrent *l = step->state;
	float *work = (float *)(void *)step->at[AT_WORK];
	int64_t at = (d * l->batch + first) * l->hidden;
	struct share s = {.l = l, .d = d, .first = first, .m = end - first};
	int64_t n = length_of(step, l, first);

	s.h = states_of(l, work) + at;
	s.c = states_of(l, work) + states(l) + at;
	s.gates_row = (l->is_batch_first ? l->seq : 1) * l->columns;
	move_states(&s, s.h, optional(step, l, 3), 1);
	move_states(&s, s.c, optional(step, l, 4), 1);
	for (int64_t i = 0; i < n; i++) {
		int64_t t = l->is_reverse || d == 1 ? n - 1 - i : i;

		s.gates =
			gates_of(l, work, d) + row_of(l, t, first) * l->columns;
		one_step(&s);
		write_step(&s, t, optional(step, l, 0), 0);
	}
	for (int64_t t = n; t < l->seq; t++)
		write_step(&s, t, optional(step, l, 0), 1);
	if (n == 0) { /* whatever the states were first */
		move_states(&s, s.h, NULL, 1);
		move_states(&s, s.c, NULL, 1);
	}
	move_states(&s, s.h, optional(step, l, 1), 0);
	move_states(&s, s.c, optional(step, l, 2), 0);
}

static void
run_steps(int rank, int n, void *ctx)
{
	const struct sl__step *step = ctx;
	const struct recurrent *l = step->state;
	int64_t at, end;

	sl__parallel_range(l->directions * l->batch, rank, n, &at, &end);
	while (at < end) {
		int64_t d = at / l->batch, last = (d + 1) * l->batch;
		int64_t length = length_of(step, l, at % l->batch);
		int64_t next = at + 1;

		while (next < end && next < last &&
		       length_of(step, l, next % l->batch) == length)
			next++;
		run_share(step, d, at - d * l->batch, next - d * l->batch);
		at = next;
	}
}

static enum sl_status
run(struct sl__step *step, struct sl_error *err)
{
	const struct recurrent *l = step->state;
	int64_t shares = l->directions * l->batch;

	for (int64_t b = 0; b < l->batch; b++) {
		int64_t n = length_of(step, l, b);

		if (n < 0 || n > l->seq)
			return sl__fail(err, SL_E_DATA,
					"a length of %lld in %lld steps",
					(long long)n, (long long)l->seq);
	}
	sl__parallel_run(step->n_threads, run_inputs, step);
	sl__parallel_run(step->n_threads < shares ? step->n_threads
						  : (int)shares,
			 run_steps, step);
	return SL_OK;
}

static int
is_word(const char *a, const char *b)
{
	while (*a && (*a | 32) == (*b | 32)) {
		a++;
		b++;
	}
	return !*a && !*b;
}

/* The usual ones, or one Relu for RNN, in all directions. */
static int
has_usual_functions(struct recurrent *l, const struct sl__node *node)
{
	static const char *const usual[][3] = {{"Sigmoid", "Tanh", "Tanh"},
					       {"Sigmoid", "Tanh", NULL},
					       {"Tanh", NULL, NULL}};
	static const size_t counts[] = {3, 2, 1};
	const struct sl__attribute *a = sl__attribute_find(node, "activations");
	size_t n = counts[l->kind];

	if (!a || a->n == 0)
		return 1;
	if (a->kind != SL__ATTRIBUTE_STRINGS ||
	    a->n != n * (size_t)l->directions)
		return 0;
	l->is_relu = l->kind == RNN && is_word(a->strings[0], "Relu");
	for (size_t i = 0; i < a->n; i++) {
		const char *word = l->is_relu ? "Relu" : usual[l->kind][i % n];

		if (!is_word(a->strings[i], word))
			return 0;
	}
	return 1;
}

static int
read_direction(struct recurrent *l, const struct sl__node *node)
{
	const char *word = sl__attribute_string(node, "direction", "forward");

	l->directions = is_word(word, "bidirectional") ? 2 : 1;
	l->is_reverse = is_word(word, "reverse");
	return l->directions == 2 || l->is_reverse || is_word(word, "forward");
}

static int
is_f32(const struct sl__planner *pl, uint32_t value, int rank)
{
	const struct sl__type *type;

	if (value == SL__NONE)
		return 1;
	type = sl__plan_value_type(pl, value);
	return type->dtype == SL_DTYPE_F32 && type->rank == rank &&
	       sl__plan_value_n_elements(pl, value) > 0;
}

static int
is_constant(const struct sl__planner *pl, uint32_t value)
{
	return pl->graph->values[value].tensor != NULL;
}

/* Whether it has so many elements, or is left out. */
static int
has_size(const struct sl__planner *pl, const struct sl__node *node, size_t i,
	 int64_t n)
{
	uint32_t value = sl__plan_node_input(node, i);

	return value == SL__NONE ||
	       sl__plan_value_n_elements(pl, value) == (uint64_t)n;
}

static int
has_sizes(const struct recurrent *l, const struct sl__planner *pl,
	  const struct sl__node *node)
{
	int64_t rows = l->directions * l->columns;

	return has_size(pl, node, W, rows * l->input) &&
	       has_size(pl, node, R, rows * l->hidden) &&
	       has_size(pl, node, BIAS, 2 * rows) &&
	       has_size(pl, node, FIRST_H, states(l)) &&
	       (l->kind != LSTM || has_size(pl, node, FIRST_C, states(l)));
}

/* Whether there is one for each sample, or none at all. */
static int
has_lengths(const struct recurrent *l, const struct sl__planner *pl,
	    const struct sl__node *node)
{
	uint32_t value = sl__plan_node_input(node, LENGTHS);

	return value == SL__NONE ||
	       (sl__plan_value_type(pl, value)->dtype == SL_DTYPE_I32 &&
		sl__plan_value_n_elements(pl, value) == (uint64_t)l->batch);
}

/* 0: not for this kernel. */
static int
read_layer(struct recurrent *l, const struct sl__planner *pl,
	   const struct sl__node *node)
{
	static const int n_gates[] = {4, 3, 1};
	const struct sl__type *x = sl__plan_node_input_type(pl, node, X);
	const struct sl__type *r = sl__plan_node_input_type(pl, node, R);

	l->kind = sl__is_op(node, SL__OP_ONNX_LSTM)  ? LSTM
		  : sl__is_op(node, SL__OP_ONNX_GRU) ? GRU
						     : RNN;
	if (!read_direction(l, node) || !has_usual_functions(l, node) ||
	    sl__attribute_find(node, "clip") ||
	    sl__attribute_int(node, "input_forget", 0) ||
	    sl__plan_node_input(node, PEEPHOLES) != SL__NONE ||
	    !is_constant(pl, node->inputs[W]) ||
	    !is_constant(pl, node->inputs[R]) ||
	    (sl__plan_node_input(node, BIAS) != SL__NONE &&
	     !is_constant(pl, sl__plan_node_input(node, BIAS))))
		return 0;
	for (size_t i = X; i <= FIRST_C; i++) {
		if (i != LENGTHS && !is_f32(pl, sl__plan_node_input(node, i),
					    i == BIAS ? 2 : 3))
			return 0;
	}
	l->is_batch_first = sl__attribute_int(node, "layout", 0) != 0;
	l->is_reset_late = sl__attribute_int(node, "linear_before_reset", 0) !=
			   0;
	l->seq = x->dims[l->is_batch_first];
	l->batch = x->dims[!l->is_batch_first];
	l->input = x->dims[2];
	l->hidden = r->dims[2];
	l->columns = n_gates[l->kind] * l->hidden;
	return has_sizes(l, pl, node) && has_lengths(l, pl, node);
}

/* Columns of R whose product with the state goes straight to the gates. */
static int64_t
direct_columns(const struct recurrent *l)
{
	return l->kind == GRU ? 2 * l->hidden : l->columns;
}

static int64_t
floats_of(const struct recurrent *l)
{
	int64_t direct = direct_columns(l);

	return sl__gemm_small_packed_floats(l->input, l->columns) +
	       sl__gemm_small_packed_floats(l->hidden, direct) +
	       sl__gemm_small_packed_floats(l->hidden, l->columns - direct) +
	       2 * l->columns;
}

static void
place_weights(struct recurrent *l, int64_t d, float *to)
{
	struct weights *w = &l->weights[d];
	int64_t direct = direct_columns(l);

	w->w = to;
	w->r = w->w + sl__gemm_small_packed_floats(l->input, l->columns);
	w->r_new = w->r + sl__gemm_small_packed_floats(l->hidden, direct);
	w->bias = w->r_new +
		  sl__gemm_small_packed_floats(l->hidden, l->columns - direct);
	w->bias_new = w->bias + l->columns;
}

static void
pack_weights(const struct recurrent *l, int64_t d, const float *w,
	     const float *r, const float *bias)
{
	const struct weights *to = &l->weights[d];
	int64_t n = l->columns, direct = direct_columns(l);

	w += d * n * l->input;
	r += d * n * l->hidden;
	sl__gemm_small_pack(to->w, w, 1, l->input, l->input, n);
	sl__gemm_small_pack(to->r, r, 1, l->hidden, l->hidden, direct);
	sl__gemm_small_pack(to->r_new, r + direct * l->hidden, 1, l->hidden,
			    l->hidden, n - direct);
	for (int64_t i = 0; i < n; i++) {
		const float *both = bias ? bias + 2 * d * n : NULL;
		int is_apart = i >= direct && l->is_reset_late;

		to->bias[i] = both ? both[i] + (is_apart ? 0 : both[n + i]) : 0;
		if (i >= direct)
			to->bias_new[i - direct] = both ? both[n + i] : 0;
	}
}

static uint32_t
read_weights(struct recurrent *l, struct sl__planner *pl,
	     const struct sl__node *node)
{
	const float *all[3] = {NULL, NULL, NULL};
	uint32_t from, kept;
	void *to;

	for (size_t i = W; i <= BIAS; i++) {
		if (sl__plan_node_input(node, i) == SL__NONE)
			continue;
		from = sl__plan_input_buffer(pl, node->inputs[i], NULL);
		if (!pl->rc)
			all[i - W] = (const float *)(const void *)
				sl__plan_buffer_data(pl, from);
	}
	kept = sl__plan_persistent_buffer(
		pl, (uint64_t)(l->directions * floats_of(l)) * 4, &to);
	for (int64_t d = 0; !pl->rc && d < l->directions; d++) {
		place_weights(l, d, (float *)to + d * floats_of(l));
		pack_weights(l, d, all[0], all[1], all[2]);
	}
	return kept;
}

/* Adds what may be left out to the operands; returns how many they are. */
static uint32_t
read_values(struct recurrent *l, struct sl__planner *pl,
	    const struct sl__node *node, uint32_t *operands, uint32_t n)
{
	for (int i = 0; i < 2; i++) {
		uint32_t value =
			sl__plan_node_input(node, (size_t)(FIRST_H + i));

		if (value == SL__NONE || (i == 1 && l->kind != LSTM))
			continue;
		l->at[3 + i] = (int)n;
		operands[n++] = sl__plan_input_buffer(pl, value, NULL);
	}
	if (sl__plan_node_input(node, LENGTHS) != SL__NONE) {
		l->at[5] = (int)n;
		operands[n++] =
			sl__plan_input_buffer(pl, node->inputs[LENGTHS], NULL);
	}
	for (size_t k = 0; k < 3; k++) {
		uint32_t value = sl__plan_node_output(node, k);

		if (value == SL__NONE)
			continue;
		l->at[k] = (int)n;
		operands[n++] = sl__plan_output_buffer(pl, value, NULL);
	}
	return n;
}

int
sl__make_recurrent(struct sl__planner *pl, const struct sl__node *node)
{
	enum { PRODUCTS_PER_THREAD = 1000000 }; /* that one is worth */
	struct recurrent *l = sl__plan_alloc_state(pl, sizeof(*l));
	uint32_t operands[AT_OPTIONAL + N_OPTIONAL], n;
	struct sl__step *step;
	int64_t gates;

	if (!l || !read_layer(l, pl, node))
		return 0;
	gates = l->directions * l->seq * l->batch * l->columns;
	operands[AT_X] = sl__plan_input_buffer(pl, node->inputs[X], NULL);
	operands[AT_WEIGHTS] = read_weights(l, pl, node);
	operands[AT_WORK] =
		sl__plan_workspace(pl, (uint64_t)(gates + 2 * states(l)) * 4);
	n = read_values(l, pl, node, operands, AT_OPTIONAL);
	l->cell = cell_of(l);
	l->reset = reset_for();
	step = sl__plan_add_step(pl, operands, n, "recurrent", run, l);
	step->n_threads = sl__threads_at_most(step->n_threads,
					      gates * (l->input + l->hidden) /
						      PRODUCTS_PER_THREAD);
	return 1;
}
