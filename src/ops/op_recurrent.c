/* SPDX-License-Identifier: Apache-2.0 */
/*
 * op_recurrent.c - LSTM, GRU and RNN.
 *
 * Per step, sample and direction each gate is a product of the input and one
 * of the hidden state, so the products are steps * directions * gates *
 * hidden * (input + hidden).  What follows is counted per hidden element.
 *
 * Each direction of each sample is a sequence by itself: a state that is
 * renewed step by step, forwards or backwards within the sample's length.
 * Where a sample is shorter than the batch its outputs beyond the end are 0;
 * a sample of no steps at all leaves 0 as its state, whatever it began with.
 * 'clip' bounds what goes into the gates, not the cell that goes into h().
 * The last two are as ONNX Runtime has them; ONNX does not say.
 */
#include "ops/activation.h"
#include "ops/cost.h"
#include "ops/list_input.h"
#include "ops/op_row.h"
#include "ops/ref_rules.h"

#include <math.h>
#include <string.h>

#include "base/banned.h"

enum { X, W, R, BIAS, LENGTHS, FIRST_H, FIRST_C, PEEPHOLES };
enum { GATES_MOST = 4, FUNCTIONS_MOST = 3 };

/* The names in lower case, and which constants a curve takes. */
static const struct {
	const char *name;
	sl__activation_function *apply;
	int has_alpha, has_beta;
	double alpha, beta; /* unless given */
} curves[] = {
	{"affine", sl__act_affine, 1, 1, 1, 0},
	{"relu", sl__act_relu, 0, 0, 0, 0},
	{"leakyrelu", sl__act_leaky_relu, 1, 0, 0.01, 0},
	{"thresholdedrelu", sl__act_thresholded_relu, 1, 0, 1, 0},
	{"tanh", sl__act_tanh, 0, 0, 0, 0},
	{"scaledtanh", sl__act_scaled_tanh, 1, 1, 1, 1},
	{"sigmoid", sl__act_sigmoid, 0, 0, 0, 0},
	{"hardsigmoid", sl__act_hard_sigmoid, 1, 1, 0.2, 0.5},
	{"elu", sl__act_elu, 1, 0, 1, 0},
	{"softsign", sl__act_softsign, 0, 0, 0, 0},
	{"softplus", sl__act_softplus, 0, 0, 0, 0},
};

struct activation {
	sl__activation_function *apply;
	double alpha, beta;
};

struct layer;
typedef void cell_function(const struct layer *l, int64_t d, const double *x,
			   double *h, double *c);

/* One of the three operators. */
struct form {
	enum sl__op_id id;
	int64_t n_gates;
	size_t n_functions;
	const char *usual[FUNCTIONS_MOST];
	cell_function *step;
	int has_cell;
	struct sl__operations_each
		unit; /* what a hidden element takes in one step beside
				the products */
};

static cell_function step_rnn, step_gru, step_lstm;

static const struct form forms[] = {
	{SL__OP_ONNX_RNN, 1, 1, {"tanh"}, step_rnn, 0, {.exp = 1}},
	/* z, r, h; then (1 - z) h + z H, where h saw r H */
	{SL__OP_ONNX_GRU,
	 3,
	 2,
	 {"sigmoid", "tanh"},
	 step_gru,
	 0,
	 {.exp = 3, .mul = 2, .add = 1, .fma = 1}},
	/* i, o, f, c; then C = f C + i c and H = o tanh(C) */
	{SL__OP_ONNX_LSTM,
	 4,
	 3,
	 {"sigmoid", "tanh", "tanh"},
	 step_lstm,
	 1,
	 {.exp = 5, .mul = 2, .fma = 1}},
};

/*
 * The node as numbers: x and y as 'layout' has them, the rest
 * [direction][...] with the gates one after the other.
 */
struct layer {
	const struct form *form;
	int64_t seq, batch, input, hidden, directions;
	int is_batch_first, is_reverse;
	const double *x, *w, *r, *bias, *peepholes; /* the last two may be
						       NULL */
	const int64_t *lengths;                     /* NULL: all are full */
	double *y, *h, *c;
	double *gates, *old; /* scratch: [gates][hidden], [hidden] */
	double clip;         /* infinity: none */
	int is_reset_late;   /* linear_before_reset */
	int is_coupled;      /* input_forget */
	struct activation functions[2][FUNCTIONS_MOST];
};

/* A size that is not known is 0, which no layer has. */
static void
read_layer(struct layer *l, struct sl__rule_context *call)
{
	const struct sl__node *node = call->node;
	const char *direction =
		sl__attribute_string(node, "direction", "forward");

	memset(l, 0, sizeof(*l));
	l->form = SL__OP_ROW_OF(node, forms);
	l->is_reverse = !strcmp(direction, "reverse");
	l->is_batch_first = sl__attribute_int(node, "layout", 0) != 0;
	l->directions = strcmp(direction, "bidirectional") ? 1 : 2;
	l->seq =
		sl__in_dim_or_default(call, 0, 3, l->is_batch_first ? 1 : 0, 0);
	l->batch =
		sl__in_dim_or_default(call, 0, 3, l->is_batch_first ? 0 : 1, 0);
	l->input = sl__in_dim_or_default(call, 0, 3, 2, 0);
	l->hidden = sl__attribute_int(node, "hidden_size", 0);
	if (l->hidden <= 0)
		l->hidden = sl__in_dim_or_default(call, 2, 3, 2, 0);
}

/* The weights [directions][gates * hidden][n] of the input or the state. */
static void
check_weight(struct sl__rule_context *call, size_t i, const int64_t *dims)
{
	const struct sl__type *w = sl__in_type(call, i);

	for (int d = 0; sl__in_rank(call, i) >= 0 && d < 3; d++) {
		if (w->rank != 3 || sl__sizes_differ(w->dims[d], dims[d]))
			sl__rule_reject(
				call,
				"a weight of %s where %lldx%lldx%lld fits",
				sl__in_shape_text(call, i), (long long)dims[0],
				(long long)dims[1], (long long)dims[2]);
	}
}

static void
check_attributes(struct sl__rule_context *call)
{
	const char *direction =
		sl__attribute_string(call->node, "direction", "forward");
	int64_t hidden = sl__attribute_int(call->node, "hidden_size", 1);

	if (strcmp(direction, "forward") != 0 &&
	    strcmp(direction, "reverse") != 0 &&
	    strcmp(direction, "bidirectional") != 0)
		sl__rule_reject(call, "direction is '%.60s'", direction);
	if (hidden < 1)
		sl__rule_reject(call, "hidden_size is %lld", (long long)hidden);
}

enum sl_status
sl__infer_recurrent(struct sl__rule_context *call)
{
	enum sl_dtype dtype = sl__in_dtype(call, 0);
	int64_t rows, n;
	struct layer l;

	check_attributes(call);
	for (size_t k = 0; sl__in_rank(call, 0) < 0 && k < 3; k++)
		sl__out_set_dtype_only(call, k, dtype);
	if (call->failure || sl__in_rank(call, 0) < 0)
		return call->failure;
	read_layer(&l, call);
	if (l.hidden == 0)
		l.hidden = sl__size_new_named(call->shapes, "hidden");
	if (sl__in_rank(call, 0) != 3)
		sl__rule_reject(
			call,
			"an input of %s where a sequence of batches of rows "
			"is taken",
			sl__in_shape_text(call, 0));
	n = l.directions;
	rows = sl__size_mul(call->shapes, l.hidden, l.form->n_gates);
	check_weight(call, 1, (int64_t[]){n, rows, l.input});
	check_weight(call, 2, (int64_t[]){n, rows, l.hidden});
	if (l.is_batch_first)
		sl__out_set_shape(call, 0, dtype, 4,
				  (int64_t[]){l.batch, l.seq, n, l.hidden});
	else
		sl__out_set_shape(call, 0, dtype, 4,
				  (int64_t[]){l.seq, n, l.batch, l.hidden});
	for (size_t k = 1; k < 3; k++)
		sl__out_set_shape(call, k, dtype, 3,
				  (int64_t[]){l.is_batch_first ? l.batch : n,
					      l.is_batch_first ? n : l.batch,
					      l.hidden});
	return call->failure;
}

/* Steps of all samples: their lengths where those are known. */
static uint64_t
count_steps(struct sl__rule_context *call, const struct layer *l,
	    struct sl_cost *cost)
{
	uint64_t all = sl__saturating_mul((uint64_t)l->seq, (uint64_t)l->batch);
	uint64_t steps = 0;
	const int64_t *lengths;
	size_t n;

	if (!sl__has_in(call, LENGTHS))
		return all;
	if (!sl__in_integers(call, LENGTHS, &lengths, &n) ||
	    n != (uint64_t)l->batch) {
		sl__cost_mark_estimated(
			cost, "as if every sequence had the full length");
		return all;
	}
	for (size_t i = 0; i < n; i++)
		steps = sl__saturating_add(
			steps, lengths[i] > 0 ? (uint64_t)lengths[i] : 0);
	return steps < all ? steps : all;
}

void
sl__cost_recurrent(struct sl__rule_context *call, struct sl_cost *cost)
{
	struct layer l;
	uint64_t units, gates; /* hidden elements, gate elements of all steps */

	read_layer(&l, call);
	if (l.hidden <= 0) {
		sl__cost_unknown(call, cost);
		return;
	}
	units = sl__saturating_mul(
		count_steps(call, &l, cost),
		sl__saturating_mul((uint64_t)l.directions, (uint64_t)l.hidden));
	gates = sl__saturating_mul(units, (uint64_t)l.form->n_gates);
	cost->work = SL_WORK_RECURRENT;
	sl__cost_add_macs(
		cost, sl__saturating_mul(gates, (uint64_t)l.input +
							(uint64_t)l.hidden));
	sl__cost_add_operations(cost, units, l.form->unit);
	if (l.form->has_cell && sl__has_in(call, PEEPHOLES))
		sl__cost_add_operations(cost, units,
					SL__OPERATIONS_EACH(.fma = 3));
	if (sl__has_in(call, BIAS))
		sl__cost_add_operations(cost, gates,
					SL__OPERATIONS_EACH(.add = 1));
}

uint64_t
sl__recurrent_n_hidden(const struct sl__node *node, const struct sl_cost *cost)
{
	return cost->exp / SL__OP_ROW_OF(node, forms)->unit.exp;
}

static double
apply(const struct activation *f, double x)
{
	/* Of the gates' curves this one alone keeps its threshold. */
	if (f->apply == sl__act_thresholded_relu && x == f->alpha)
		return x;
	return f->apply(x, f->alpha, f->beta);
}

static int
is_same_word(const char *lower, const char *word)
{
	for (; *lower && *word; lower++, word++) {
		char c = *word >= 'A' && *word <= 'Z' ? (char)(*word + 32)
						      : *word;

		if (c != *lower)
			return 0;
	}
	return *lower == *word;
}

/* The next number of a list; the usual one after its end. */
static double
next_constant(const struct sl__attribute *list, size_t *used, double usual)
{
	if (!list || list->kind != SL__ATTRIBUTE_FLOATS || *used >= list->n)
		return usual;
	return (double)list->floats[(*used)++];
}

/* Constants are handed out in order to the curves that take one. */
static enum sl_status
read_functions(struct sl__kernel_call *ev, struct layer *l)
{
	const struct sl__node *node = ev->node;
	const struct sl__attribute *names =
		sl__attribute_find(node, "activations");
	const struct sl__attribute *alphas =
		sl__attribute_find(node, "activation_alpha");
	const struct sl__attribute *betas =
		sl__attribute_find(node, "activation_beta");
	size_t n = l->form->n_functions, n_all = n * (size_t)l->directions;
	size_t n_curves = sizeof(curves) / sizeof(curves[0]);
	size_t used_alphas = 0, used_betas = 0;

	if (names && names->n == 0)
		names = NULL;
	if (names && (names->kind != SL__ATTRIBUTE_STRINGS || names->n < n_all))
		return sl__ref_reject(ev, "fewer than %zu activations", n_all);
	for (size_t i = 0; i < n_all; i++) {
		const char *name = names ? names->strings[i]
					 : l->form->usual[i % n];
		struct activation *f = &l->functions[i / n][i % n];
		size_t k = 0;

		while (k < n_curves && !is_same_word(curves[k].name, name))
			k++;
		if (k == n_curves)
			return sl__ref_reject(ev, "activation '%.60s'", name);
		f->apply = curves[k].apply;
		if (curves[k].has_alpha)
			f->alpha = next_constant(alphas, &used_alphas,
						 curves[k].alpha);
		if (curves[k].has_beta)
			f->beta = next_constant(betas, &used_betas,
						curves[k].beta);
	}
	return SL_OK;
}

static double
gate(const struct layer *l, const struct activation *f, double x)
{
	return apply(f, sl__act_clip(x, -l->clip, l->clip));
}

static double
product(const double *a, const double *b, int64_t n)
{
	double sum = 0;

	for (int64_t i = 0; i < n; i++)
		sum += a[i] * b[i];
	return sum;
}

/* What the input gives to unit j of gate g, and what the state gives. */
static double
from_input(const struct layer *l, int64_t d, int64_t row, const double *x)
{
	int64_t rows = l->form->n_gates * l->hidden;
	double bias = l->bias ? l->bias[d * 2 * rows + row] : 0;

	return product(l->w + (d * rows + row) * l->input, x, l->input) + bias;
}

static double
from_state(const struct layer *l, int64_t d, int64_t row, const double *h)
{
	int64_t rows = l->form->n_gates * l->hidden;
	double bias = l->bias ? l->bias[(d * 2 + 1) * rows + row] : 0;

	return product(l->r + (d * rows + row) * l->hidden, h, l->hidden) +
	       bias;
}

static void
step_rnn(const struct layer *l, int64_t d, const double *x, double *h,
	 double *c)
{
	const struct activation *f = l->functions[d];

	(void)c;
	for (int64_t j = 0; j < l->hidden; j++)
		l->gates[j] =
			gate(l, &f[0],
			     from_input(l, d, j, x) + from_state(l, d, j, h));
	memcpy(h, l->gates, (size_t)l->hidden * sizeof(*h));
}

/* Gates z and r, then the new h; r weighs the state before or after it is
 * multiplied. */
static void
step_gru(const struct layer *l, int64_t d, const double *x, double *h,
	 double *c)
{
	const struct activation *f = l->functions[d];
	int64_t n = l->hidden;
	double *z = l->gates, *r = z + n;

	(void)c;
	for (int64_t row = 0; row < 2 * n; row++)
		l->gates[row] = gate(l, &f[0],
				     from_input(l, d, row, x) +
					     from_state(l, d, row, h));
	for (int64_t j = 0; j < n; j++)
		l->old[j] = l->is_reset_late ? h[j] : r[j] * h[j];
	for (int64_t j = 0; j < n; j++) {
		double state = from_state(l, d, 2 * n + j, l->old);

		if (l->is_reset_late)
			state *= r[j];
		state = gate(l, &f[1], from_input(l, d, 2 * n + j, x) + state);
		h[j] = (1 - z[j]) * state + z[j] * h[j];
	}
}

/* Gates i, o, f, c; the peepholes are those of i, o, f. */
static void
step_lstm(const struct layer *l, int64_t d, const double *x, double *h,
	  double *c)
{
	const struct activation *f = l->functions[d];
	int64_t n = l->hidden;
	const double *p = l->peepholes ? l->peepholes + d * 3 * n : NULL;
	const double *pi = l->gates, *po = pi + n, *pf = po + n, *pc = pf + n;

	for (int64_t row = 0; row < 4 * n; row++)
		l->gates[row] =
			from_input(l, d, row, x) + from_state(l, d, row, h);
	for (int64_t j = 0; j < n; j++) {
		double in = gate(l, &f[0], pi[j] + (p ? p[j] * c[j] : 0));
		double keep =
			gate(l, &f[0], pf[j] + (p ? p[2 * n + j] * c[j] : 0));
		double out;

		if (l->is_coupled)
			keep = 1 - in;
		c[j] = keep * c[j] + in * gate(l, &f[1], pc[j]);
		out = gate(l, &f[0], po[j] + (p ? p[n + j] * c[j] : 0));
		h[j] = out * apply(&f[2], c[j]);
	}
}

/* Sample b of direction d: its states, and the rows of step t. */
static int64_t
state_at(const struct layer *l, int64_t d, int64_t b)
{
	return (l->is_batch_first ? b * l->directions + d : d * l->batch + b) *
	       l->hidden;
}

static int64_t
x_at(const struct layer *l, int64_t t, int64_t b)
{
	return (l->is_batch_first ? b * l->seq + t : t * l->batch + b) *
	       l->input;
}

static int64_t
y_at(const struct layer *l, int64_t t, int64_t d, int64_t b)
{
	int64_t row = l->is_batch_first
			      ? (b * l->seq + t) * l->directions + d
			      : (t * l->directions + d) * l->batch + b;

	return row * l->hidden;
}

static void
run_sample(const struct layer *l, int64_t d, int64_t b)
{
	int is_reverse = l->is_reverse || d == 1;
	int64_t n = l->lengths ? l->lengths[b] : l->seq;
	size_t n_bytes = (size_t)l->hidden * sizeof(double);
	double *h = l->h + state_at(l, d, b), *c = l->c + state_at(l, d, b);

	if (n == 0) {
		memset(h, 0, n_bytes);
		memset(c, 0, n_bytes);
	}
	for (int64_t i = 0; i < n; i++) {
		int64_t t = is_reverse ? n - 1 - i : i;

		l->form->step(l, d, l->x + x_at(l, t, b), h, c);
		memcpy(l->y + y_at(l, t, d, b), h, n_bytes);
	}
}

/* Input i as doubles, of these sizes; NULL where it is left out. */
static const double *
read_input(struct sl__kernel_call *ev, size_t i, int rank, const int64_t *dims)
{
	if (sl__ref_input(ev, i) && !sl__ref_input_has_dims(ev, i, rank, dims))
		sl__ref_reject(ev, "input %zu has other sizes than fit", i);
	return sl__ref_optional_doubles(ev, i);
}

/* Zeros; NULL where there are more than can be. */
static double *
new_numbers(struct sl__kernel_call *ev, size_t rank, const int64_t *dims)
{
	struct sl__tensor t = {
		.dtype = SL_DTYPE_F64, .rank = rank, .dims = dims};

	if (sl__tensor_compute_size(&t) && t.n_elements <= SIZE_MAX / 8)
		return sl__ref_scratch_doubles(ev, (int64_t)t.n_elements);
	sl__ref_nomem(ev);
	return NULL;
}

/* A state, which is renewed in place: a copy of input i, or zeros. */
static double *
read_state(struct layer *l, struct sl__kernel_call *ev, size_t i)
{
	const int64_t dims[3] = {l->is_batch_first ? l->batch : l->directions,
				 l->is_batch_first ? l->directions : l->batch,
				 l->hidden};
	double *made = new_numbers(ev, 3, dims);
	/* Beyond the state of RNN and GRU there is no input. */
	const double *from = i == FIRST_C && !l->form->has_cell
				     ? NULL
				     : read_input(ev, i, 3, dims);

	if (!ev->failure && from)
		memcpy(made, from,
		       (size_t)(dims[0] * dims[1] * dims[2]) * sizeof(*made));
	return made;
}

static enum sl_status
read_lengths(struct layer *l, struct sl__kernel_call *ev)
{
	const struct sl__tensor *t = sl__ref_input_tensor(ev, LENGTHS);

	if (t && (t->rank != 1 || t->dims[0] != l->batch))
		return sl__ref_reject(ev, "not one length for each of %lld",
				      (long long)l->batch);
	l->lengths = sl__ref_optional_integers(ev, LENGTHS);
	for (int64_t b = 0; l->lengths && b < l->batch; b++) {
		if (l->lengths[b] < 0 || l->lengths[b] > l->seq)
			return sl__ref_reject(
				ev, "a length of %lld in %lld steps",
				(long long)l->lengths[b], (long long)l->seq);
	}
	return ev->failure;
}

static enum sl_status
read_weights(struct layer *l, struct sl__kernel_call *ev)
{
	int64_t n = l->directions, rows = l->form->n_gates * l->hidden;

	l->x = sl__ref_input_doubles(ev, X);
	l->w = read_input(ev, W, 3, (int64_t[]){n, rows, l->input});
	l->r = read_input(ev, R, 3, (int64_t[]){n, rows, l->hidden});
	l->bias = read_input(ev, BIAS, 2, (int64_t[]){n, 2 * rows});
	if (l->form->has_cell)
		l->peepholes = read_input(ev, PEEPHOLES, 2,
					  (int64_t[]){n, 3 * l->hidden});
	if (!l->w || !l->r)
		return sl__ref_reject(ev, "weights are left out");
	return ev->failure;
}

/* Inference has checked the direction and that x and the weights fit. */
static enum sl_status
read_node(struct layer *l, struct sl__kernel_call *ev)
{
	const struct sl__node *node = ev->node;
	double clip = sl__attribute_float(node, "clip", 0);
	struct sl__ref_rule_view v;

	if (sl__ref_input_rank(ev, X) != 3 || sl__ref_input_rank(ev, R) != 3)
		return sl__ref_reject(ev, "an input that is no sequence");
	if (sl__ref_rule_view_begin(&v, ev))
		return ev->failure;
	read_layer(l, &v.call);
	sl__ref_rule_view_end(&v, ev);
	l->clip = clip > 0 ? clip : (double)INFINITY;
	l->is_reset_late = sl__attribute_int(node, "linear_before_reset", 0) !=
			   0;
	l->is_coupled = sl__attribute_int(node, "input_forget", 0) != 0;
	return ev->failure ? ev->failure : read_functions(ev, l);
}

enum sl_status
sl__ref_recurrent(struct sl__kernel_call *ev)
{
	struct layer l;

	if (read_node(&l, ev) || read_weights(&l, ev) || read_lengths(&l, ev))
		return ev->failure;
	l.h = read_state(&l, ev, FIRST_H);
	l.c = read_state(&l, ev, FIRST_C);
	l.y = new_numbers(ev, 4,
			  (int64_t[]){l.seq, l.batch, l.directions, l.hidden});
	l.gates = new_numbers(ev, 2, (int64_t[]){GATES_MOST, l.hidden});
	l.old = new_numbers(ev, 1, &l.hidden);
	/* Without units there is nothing, however long it lasts. */
	for (int64_t d = 0; !ev->failure && l.hidden && d < l.directions; d++) {
		for (int64_t b = 0; b < l.batch; b++)
			run_sample(&l, d, b);
	}
	sl__ref_output_store_doubles(ev, 0, l.y);
	sl__ref_output_store_doubles(ev, 1, l.h);
	return sl__ref_output_store_doubles(ev, 2, l.c);
}
