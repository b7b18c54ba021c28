/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recurrent.c - LSTM, GRU and RNN.
 *
 * What the inputs give to the gates does not depend on the state: it is one
 * product over all steps, whose columns threads share.  Then each step adds
 * what the state gives and renews the state; threads take directions and
 * samples, which know nothing of each other; those side by side that are
 * equally long go together.
 */
#include "compute/recurrent.h"
#include "compute/gemm_small.h"
#include "compute/parallel.h"
#include "compute/vector_math.h"

#include "base/banned.h"

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

static sl__cell_function *
cell_of(const struct sl__recurrent *l)
{
	if (l->kind == SL__RECURRENT_LSTM)
		return lstm_for();
	if (l->kind == SL__RECURRENT_GRU)
		return l->is_reset_late ? late_gru_for() : gru_for();
	return l->is_relu ? rnn_relu_for() : rnn_for();
}

int64_t
sl__recurrent_states(const struct sl__recurrent *l)
{
	return l->directions * l->batch * l->hidden;
}

/* The workspace: gates of all steps and directions, h, and c or, of GRU, what
 * goes into or comes from the product for the new state. */
static float *
gates_of(const struct sl__recurrent *l, int64_t d)
{
	return l->work + d * l->seq * l->batch * l->columns;
}

static float *
states_of(const struct sl__recurrent *l)
{
	return gates_of(l, l->directions);
}

/* Rows of gates lie as rows of x do: row of sample b at step t. */
static int64_t
row_of(const struct sl__recurrent *l, int64_t t, int64_t b)
{
	return l->is_batch_first ? b * l->seq + t : t * l->batch + b;
}

static int64_t
state_at(const struct sl__recurrent *l, int64_t d, int64_t b)
{
	return (l->is_batch_first ? b * l->directions + d : d * l->batch + b) *
	       l->hidden;
}

/* Gates of all steps from the inputs alone, one panel of columns at a time. */
static void
run_inputs(int rank, int n, void *ctx)
{
	const struct sl__recurrent *l = ctx;
	int64_t panels = (l->columns + SL__PANEL - 1) / SL__PANEL;
	int64_t rows = l->seq * l->batch, at, end;

	sl__parallel_range(panels * l->directions, rank, n, &at, &end);
	for (; at < end; at++) {
		int64_t d = at / panels, j = at % panels * SL__PANEL;
		int64_t left = l->columns - j;
		struct sl__gemm_small g = {.m = rows,
					   .n = left < SL__PANEL ? left
								 : SL__PANEL,
					   .k = l->input,
					   .a = l->x,
					   .a_row = l->input,
					   .a_column = 1,
					   .b = l->weights[d].w + j * l->input,
					   .c = gates_of(l, d) + j,
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
	const struct sl__recurrent *l;
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
renew(const struct share *s, sl__cell_function *cell)
{
	int64_t n = s->l->hidden;

	for (int64_t i = 0; i < s->m; i++)
		cell(s->gates + i * s->gates_row, s->h + i * n, s->c + i * n,
		     n);
}

static void
one_step(const struct share *s)
{
	const struct sl__recurrent *l = s->l;
	const struct sl__recurrent_weights *w = &l->weights[s->d];
	int64_t n = l->hidden;

	if (l->kind != SL__RECURRENT_GRU) {
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
	const struct sl__recurrent *l = s->l;
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
length_of(const struct sl__recurrent *l, int64_t b)
{
	return l->lengths ? l->lengths[b] : l->seq;
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
run_share(const struct sl__recurrent *l, int64_t d, int64_t first, int64_t end)
{
	int64_t at = (d * l->batch + first) * l->hidden;
	struct share s = {.l = l, .d = d, .first = first, .m = end - first};
	int64_t n = length_of(l, first);

	s.h = states_of(l) + at;
	s.c = states_of(l) + sl__recurrent_states(l) + at;
	s.gates_row = (l->is_batch_first ? l->seq : 1) * l->columns;
	move_states(&s, s.h, l->first_h, 1);
	move_states(&s, s.c, l->first_c, 1);
	for (int64_t i = 0; i < n; i++) {
		int64_t t = l->is_reverse || d == 1 ? n - 1 - i : i;

		s.gates = gates_of(l, d) + row_of(l, t, first) * l->columns;
		one_step(&s);
		write_step(&s, t, l->y, 0);
	}
	for (int64_t t = n; t < l->seq; t++)
		write_step(&s, t, l->y, 1);
	if (n == 0) { /* whatever the states were first */
		move_states(&s, s.h, NULL, 1);
		move_states(&s, s.c, NULL, 1);
	}
	move_states(&s, s.h, l->last_h, 0);
	move_states(&s, s.c, l->last_c, 0);
}

static void
run_steps(int rank, int n, void *ctx)
{
	const struct sl__recurrent *l = ctx;
	int64_t at, end;

	sl__parallel_range(l->directions * l->batch, rank, n, &at, &end);
	while (at < end) {
		int64_t d = at / l->batch, last = (d + 1) * l->batch;
		int64_t length = length_of(l, at % l->batch);
		int64_t next = at + 1;

		while (next < end && next < last &&
		       length_of(l, next % l->batch) == length)
			next++;
		run_share(l, d, at - d * l->batch, next - d * l->batch);
		at = next;
	}
}

/* Columns of R whose product with the state goes straight to the gates. */
static int64_t
direct_columns(const struct sl__recurrent *l)
{
	return l->kind == SL__RECURRENT_GRU ? 2 * l->hidden : l->columns;
}

int64_t
sl__recurrent_weight_floats(const struct sl__recurrent *l)
{
	int64_t direct = direct_columns(l);

	return sl__gemm_small_packed_floats(l->input, l->columns) +
	       sl__gemm_small_packed_floats(l->hidden, direct) +
	       sl__gemm_small_packed_floats(l->hidden, l->columns - direct) +
	       2 * l->columns;
}

static void
place_weights(struct sl__recurrent *l, int64_t d, float *to)
{
	struct sl__recurrent_weights *w = &l->weights[d];
	int64_t direct = direct_columns(l);

	w->w = to;
	w->r = w->w + sl__gemm_small_packed_floats(l->input, l->columns);
	w->r_new = w->r + sl__gemm_small_packed_floats(l->hidden, direct);
	w->bias = w->r_new +
		  sl__gemm_small_packed_floats(l->hidden, l->columns - direct);
	w->bias_new = w->bias + l->columns;
}

static void
pack_weights(const struct sl__recurrent *l, int64_t d, const float *w,
	     const float *r, const float *bias)
{
	const struct sl__recurrent_weights *to = &l->weights[d];
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

void
sl__recurrent_pack(struct sl__recurrent *l, float *to, const float *const *all)
{
	for (int64_t d = 0; d < l->directions; d++) {
		place_weights(l, d, to + d * sl__recurrent_weight_floats(l));
		pack_weights(l, d, all[0], all[1], all[2]);
	}
}

int64_t
sl__recurrent_work_floats(const struct sl__recurrent *l)
{
	return l->directions * l->seq * l->batch * l->columns +
	       2 * sl__recurrent_states(l);
}

void
sl__recurrent_run(struct sl__recurrent *l, int n_threads)
{
	int64_t shares = l->directions * l->batch;

	l->cell = cell_of(l);
	l->reset = reset_for();
	sl__parallel_run(n_threads, run_inputs, l);
	sl__parallel_run(n_threads < shares ? n_threads : (int)shares,
			 run_steps, l);
}
