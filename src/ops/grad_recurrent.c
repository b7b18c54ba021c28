/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grad_recurrent.c - gradients of RNN, GRU and LSTM: back through time.
 *
 * RecurrentGrad(X, W, R, dY, B, h0, c0, dYh, dYc) gives the gradients of X, W,
 * R, B, h0 and c0.  It runs a sample forward once more, keeps what each step
 * computed, and goes back from the last step to the first.  Sigmoid and tanh
 * only, without clipping, peepholes or lengths.
 */
#include "ops/cost.h"
#include "ops/gradient.h"
#include "ops/op_row.h"
#include "ops/ref.h"

#include <math.h>
#include <string.h>

#include "base/banned.h"

enum { X, W, R, DY, BIAS, FIRST_H, FIRST_C, DH, DC, N_INPUTS };

/* What the forward node has that is not differentiated. */
static const char *
unsupported(const struct sl__gradient *g)
{
	const struct sl__node *node = &g->node;

	return sl__attribute_find(node, "activations") ||
			       sl__attribute_find(node, "clip") ||
			       sl__attribute_int(node, "layout", 0) ||
			       sl__attribute_int(node, "input_forget", 0) ||
			       sl__gradient_input(g, 4) != SL__NONE ||
			       sl__gradient_input(g, 7) != SL__NONE
		       ? "there is no gradient of this operator with other "
			 "activations, clipping, lengths, peepholes or the "
			 "batch first"
		       : NULL;
}

void
sl__grad_recurrent(struct sl__gradient *g)
{
	/* Inputs of the forward node, as outputs of the gradient's. */
	static const uint32_t order[] = {0, 1, 2, 3, 5, 6};
	int is_lstm = sl__is_op(&g->node, SL__OP_ONNX_LSTM);
	uint32_t inputs[N_INPUTS], outputs[6];

	if (unsupported(g)) {
		sl__gradient_reject(g, unsupported(g));
		return;
	}
	for (uint32_t i = 0; i < 3; i++)
		inputs[i] = g->node.inputs[i];
	inputs[BIAS] = sl__gradient_input(g, 3);
	inputs[FIRST_H] = sl__gradient_input(g, 5);
	inputs[FIRST_C] = is_lstm ? sl__gradient_input(g, 6) : SL__NONE;
	inputs[DY] = g->dy[0];
	inputs[DH] = g->node.n_outputs > 1 ? g->dy[1] : SL__NONE;
	inputs[DC] = g->node.n_outputs > 2 ? g->dy[2] : SL__NONE;
	for (uint32_t k = 0; k < 6; k++)
		outputs[k] = sl__gradient_wants(g, order[k]) ? 0 : SL__NONE;
	sl__node_writer_copy_attributes(g->w, &g->node);
	sl__node_writer_set_string(g->w, "kind", g->node.type);
	sl__node_writer_add_outputs(g->w, SL__OP_SLEUTH_RecurrentGrad, inputs,
				    N_INPUTS, outputs, 6);
	for (uint32_t k = 0; !g->w->rc && k < 6; k++) {
		if (sl__gradient_wants(g, order[k]))
			g->dx[order[k]] = outputs[k];
	}
}

static int
n_gates(const struct sl__node *node)
{
	const char *kind = sl__attribute_string(node, "kind", "RNN");

	return kind[0] == 'L' ? 4 : kind[0] == 'G' ? 3 : 1;
}

enum sl_status
sl__infer_recurrent_grad(struct sl__rule_context *call)
{
	const struct sl__type *x = sl__in_type(call, X);
	const struct sl__type *r = sl__in_type(call, R);
	enum sl_dtype dtype = sl__in_dtype(call, X);

	for (size_t k = 0; k < 3; k++)
		sl__out_set_like_input(call, k, k, SL_DTYPE_NONE);
	if (sl__in_rank(call, X) != 3 || sl__in_rank(call, R) != 3)
		return sl__rule_reject(call, "an input that is no sequence");
	sl__out_set_shape(call, 3, dtype, 2,
			  (int64_t[]){r->dims[0], 2 * r->dims[1]});
	for (size_t k = 4; k < 6; k++)
		sl__out_set_shape(
			call, k, dtype, 3,
			(int64_t[]){r->dims[0], x->dims[1], r->dims[2]});
	return call->failure;
}

/* By inputs and by weights, as many each as forward.  What is computed once more
 * is this operator's way, not what the gradient asks for. */
void
sl__cost_recurrent_grad(struct sl__rule_context *call, struct sl_cost *cost)
{
	uint64_t n = sl__saturating_mul(sl__in_dim(call, X, 0),
					sl__in_dim(call, X, 1));

	cost->work = SL_WORK_RECURRENT;
	sl__cost_add_macs(
		cost, sl__saturating_mul(
			      sl__saturating_mul(n, 2),
			      sl__saturating_add(sl__in_elements(call, W),
						 sl__in_elements(call, R))));
}

/* Sizes, operands and results; of one direction after next_direction(). */
struct layer {
	int64_t seq, batch, input, hidden, directions;
	int n_gates, is_reset_late;
	const double *x, *w, *r, *bias, *h0, *c0, *dy, *dh, *dc;
	double *dx, *dw, *dr, *dbias, *dh0, *dc0;
	/* Of each step of a sample: the state before it, gates, cell, and
	 * what GRU's reset makes of the state. */
	double *h, *c, *gates, *reset;
	double *by_input, *by_state, *back, *cell; /* of one step */
};

static double
dot(const double *a, const double *b, int64_t n)
{
	double sum = 0;

	for (int64_t i = 0; i < n; i++)
		sum += a[i] * b[i];
	return sum;
}

static double
sigmoid(double x)
{
	return 1 / (1 + exp(-x));
}

/* Rows of direction d. */
static int64_t
row_of(const struct layer *l, int64_t d, int64_t row)
{
	return d * l->n_gates * l->hidden + row;
}

static double
from_input(const struct layer *l, int64_t d, int64_t row, const double *x)
{
	int64_t rows = l->n_gates * l->hidden;

	return dot(l->w + row_of(l, d, row) * l->input, x, l->input) +
	       (l->bias ? l->bias[d * 2 * rows + row] : 0);
}

static double
from_state(const struct layer *l, int64_t d, int64_t row, const double *h)
{
	int64_t rows = l->n_gates * l->hidden;

	return dot(l->r + row_of(l, d, row) * l->hidden, h, l->hidden) +
	       (l->bias ? l->bias[(d * 2 + 1) * rows + row] : 0);
}

/* Step i, whose input is x: its gates, and the state and cell after it. */
static void
forward_step(const struct layer *l, int64_t d, int64_t i, const double *x)
{
	int64_t n = l->hidden;
	const double *h = l->h + i * n, *c = l->c + i * n;
	double *a = l->gates + i * l->n_gates * n, *u = l->reset + i * n;
	double *to_h = l->h + (i + 1) * n, *to_c = l->c + (i + 1) * n;

	for (int64_t row = 0; row < (l->n_gates == 3 ? 2 : l->n_gates) * n;
	     row++) {
		double sum =
			from_input(l, d, row, x) + from_state(l, d, row, h);

		a[row] = l->n_gates == 1 || row >= 3 * n ? tanh(sum)
							 : sigmoid(sum);
	}
	for (int64_t j = 0; l->n_gates == 3 && !l->is_reset_late && j < n; j++)
		u[j] = a[n + j] * h[j];
	for (int64_t j = 0; j < n; j++) {
		if (l->n_gates == 1) {
			to_h[j] = a[j];
		} else if (l->n_gates == 4) {
			to_c[j] = a[2 * n + j] * c[j] + a[j] * a[3 * n + j];
			to_h[j] = a[n + j] * tanh(to_c[j]);
		} else {
			int64_t row = 2 * n + j;
			double s =
				from_state(l, d, row, l->is_reset_late ? h : u);

			if (l->is_reset_late)
				u[j] = s;
			a[row] = tanh(from_input(l, d, row, x) +
				      (l->is_reset_late ? a[n + j] * s : s));
			to_h[j] = (1 - a[j]) * a[row] + a[j] * h[j];
		}
	}
}

/* Gradients of what gates are computed from; dh is that of the state after step
 * i, 'back' what goes to the one before without a product. */
static void
back_lstm(const struct layer *l, int64_t i, const double *dh)
{
	int64_t n = l->hidden;
	const double *a = l->gates + i * 4 * n, *c = l->c + i * n;

	for (int64_t j = 0; j < n; j++) {
		double in = a[j], out = a[n + j], keep = a[2 * n + j];
		double new = a[3 * n + j], t = tanh(c[n + j]);
		double dc = l->cell[j] + dh[j] * out * (1 - t * t);

		l->by_input[j] = dc * new *in *(1 - in);
		l->by_input[n + j] = dh[j] * t * out * (1 - out);
		l->by_input[2 * n + j] = dc * c[j] * keep * (1 - keep);
		l->by_input[3 * n + j] = dc * in * (1 - new *new);
		l->cell[j] = dc * keep;
		l->back[j] = 0;
	}
	memcpy(l->by_state, l->by_input, (size_t)(4 * n) * sizeof(*dh));
}

static void
back_gru(const struct layer *l, int64_t d, int64_t i, const double *dh)
{
	int64_t n = l->hidden;
	const double *z = l->gates + i * 3 * n, *r = z + n, *new = r + n;
	const double *h = l->h + i * n, *u = l->reset + i * n;
	double *a = l->by_input, *s = l->by_state;

	for (int64_t j = 0; j < n; j++) {
		a[j] = s[j] = dh[j] * (h[j] - new[j]) * z[j] * (1 - z[j]);
		a[2 * n + j] = dh[j] * (1 - z[j]) * (1 - new[j] * new[j]);
		s[2 * n + j] = a[2 * n + j] * (l->is_reset_late ? r[j] : 1);
		l->back[j] = dh[j] * z[j];
	}
	for (int64_t k = 0; k < n; k++) {
		double du = 0;

		for (int64_t j = 0; !l->is_reset_late && j < n; j++)
			du += s[2 * n + j] *
			      l->r[row_of(l, d, 2 * n + j) * n + k];
		if (l->is_reset_late)
			du = a[2 * n + k] * u[k];
		else
			l->back[k] += du * r[k];
		a[n + k] = s[n + k] =
			du * (l->is_reset_late ? 1 : h[k]) * r[k] * (1 - r[k]);
	}
}

static void
back_rnn(const struct layer *l, int64_t i, const double *dh)
{
	const double *a = l->gates + i * l->hidden;

	for (int64_t j = 0; j < l->hidden; j++) {
		l->by_input[j] = l->by_state[j] = dh[j] * (1 - a[j] * a[j]);
		l->back[j] = 0;
	}
}

static void
add_scaled(double *to, const double *from, int64_t n, double by)
{
	for (int64_t i = 0; i < n; i++)
		to[i] += from[i] * by;
}

/* Products with weights and inputs of step i; the state's gradient in back. */
static void
back_products(const struct layer *l, int64_t d, int64_t i, const double *x,
	      double *dx)
{
	int64_t n = l->hidden, rows = l->n_gates * n;
	const double *h = l->h + i * n, *u = l->reset + i * n;

	for (int64_t row = 0; row < rows; row++) {
		int64_t at = row_of(l, d, row);
		int is_reset = l->n_gates == 3 && row >= 2 * n &&
			       !l->is_reset_late;

		add_scaled(l->dw + at * l->input, x, l->input,
			   l->by_input[row]);
		add_scaled(dx, l->w + at * l->input, l->input,
			   l->by_input[row]);
		add_scaled(l->dr + at * n, is_reset ? u : h, n,
			   l->by_state[row]);
		if (!is_reset)
			add_scaled(l->back, l->r + at * n, n, l->by_state[row]);
		l->dbias[d * 2 * rows + row] += l->by_input[row];
		l->dbias[(d * 2 + 1) * rows + row] += l->by_state[row];
	}
}

/* Where the state of a sample lies; 0 where there are none. */
static void
copy_state(double *to, const double *from, int64_t at, int64_t n)
{
	for (int64_t j = 0; j < n; j++)
		to[j] = from ? from[at + j] : 0;
}

static void
run_sample(const struct layer *l, int64_t d, int64_t b, int is_reverse)
{
	int64_t n = l->hidden, at = (d * l->batch + b) * n;
	double *dh = l->back + n; /* behind it */

	copy_state(l->h, l->h0, at, n);
	copy_state(l->c, l->c0, at, n);
	for (int64_t i = 0; i < l->seq; i++) {
		int64_t t = is_reverse ? l->seq - 1 - i : i;

		forward_step(l, d, i, l->x + (t * l->batch + b) * l->input);
	}
	copy_state(l->back, l->dh, at, n);
	copy_state(l->cell, l->dc, at, n);
	for (int64_t i = l->seq; i-- > 0;) {
		int64_t t = is_reverse ? l->seq - 1 - i : i;
		int64_t from = (t * l->batch + b) * l->input;

		memcpy(dh, l->back, (size_t)n * sizeof(*dh));
		if (l->dy)
			add_scaled(dh,
				   l->dy + ((t * l->directions + d) * l->batch +
					    b) * n,
				   n, 1);
		if (l->n_gates == 4)
			back_lstm(l, i, dh);
		else if (l->n_gates == 3)
			back_gru(l, d, i, dh);
		else
			back_rnn(l, i, dh);
		back_products(l, d, i, l->x + from, l->dx + from);
	}
	copy_state(l->dh0 + at, l->back, 0, n);
	copy_state(l->dc0 + at, l->cell, 0, n);
}

static enum sl_status
read_layer(struct layer *l, struct sl__kernel_call *ev)
{
	int64_t n_states, rows;

	*l = (struct layer){.seq = sl__ref_input_dim(ev, X, 0),
			    .batch = sl__ref_input_dim(ev, X, 1),
			    .input = sl__ref_input_dim(ev, X, 2),
			    .directions = sl__ref_input_dim(ev, R, 0),
			    .hidden = sl__ref_input_dim(ev, R, 2),
			    .n_gates = n_gates(ev->node)};
	l->is_reset_late =
		sl__attribute_int(ev->node, "linear_before_reset", 0) != 0;
	rows = l->n_gates * l->hidden;
	if (sl__ref_input_dim(ev, R, 1) != rows ||
	    sl__ref_input_dim(ev, W, 1) != rows)
		return sl__ref_reject(ev, "weights do not fit");
	l->x = sl__ref_input_doubles(ev, X);
	l->w = sl__ref_input_doubles(ev, W);
	l->r = sl__ref_input_doubles(ev, R);
	l->bias = sl__ref_optional_doubles(ev, BIAS);
	l->h0 = sl__ref_optional_doubles(ev, FIRST_H);
	l->c0 = sl__ref_optional_doubles(ev, FIRST_C);
	l->dy = sl__ref_optional_doubles(ev, DY);
	l->dh = sl__ref_optional_doubles(ev, DH);
	l->dc = sl__ref_optional_doubles(ev, DC);
	n_states = l->directions * l->batch * l->hidden;
	l->dx = sl__ref_scratch_doubles(ev, l->seq * l->batch * l->input);
	l->dw = sl__ref_scratch_doubles(ev, l->directions * rows * l->input);
	l->dr = sl__ref_scratch_doubles(ev, l->directions * rows * l->hidden);
	l->dbias = sl__ref_scratch_doubles(ev, l->directions * 2 * rows);
	l->dh0 = sl__ref_scratch_doubles(ev, n_states);
	l->dc0 = sl__ref_scratch_doubles(ev, n_states);
	l->h = sl__ref_scratch_doubles(ev, (l->seq + 1) * l->hidden);
	l->c = sl__ref_scratch_doubles(ev, (l->seq + 1) * l->hidden);
	l->gates = sl__ref_scratch_doubles(ev, l->seq * rows);
	l->reset = sl__ref_scratch_doubles(ev, l->seq * l->hidden);
	l->by_input = sl__ref_scratch_doubles(ev, rows);
	l->by_state = sl__ref_scratch_doubles(ev, rows);
	l->back = sl__ref_scratch_doubles(ev, 2 * l->hidden);
	l->cell = sl__ref_scratch_doubles(ev, l->hidden);
	return ev->failure;
}

enum sl_status
sl__ref_recurrent_grad(struct sl__kernel_call *ev)
{
	int is_reverse =
		!strcmp(sl__attribute_string(ev->node, "direction", "forward"),
			"reverse");
	struct layer l;

	if (read_layer(&l, ev))
		return ev->failure;
	for (int64_t d = 0; d < l.directions; d++) {
		for (int64_t b = 0; b < l.batch; b++)
			run_sample(&l, d, b, is_reverse || d == 1);
	}
	for (size_t k = 0; k < 6; k++) {
		const double *results[] = {l.dx,    l.dw,  l.dr,
					   l.dbias, l.dh0, l.dc0};

		if (sl__ref_output(ev, k))
			sl__ref_output_store_doubles(ev, k, results[k]);
	}
	return ev->failure;
}
