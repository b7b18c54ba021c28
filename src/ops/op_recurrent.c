/* SPDX-License-Identifier: Apache-2.0 */
/*
 * op_recurrent.c - LSTM, GRU and RNN.
 *
 * Per step, sample and direction each gate is a product of the input and one
 * of the hidden state, so the products are steps * directions * gates *
 * hidden * (input + hidden).  What follows is counted per hidden element.
 */
#include "ops/cost.h"
#include "ops/moving.h"
#include "ops/op_row.h"

#include <string.h>

#include "base/banned.h"

/* What a hidden element takes in one step beside the products. */
struct form {
	enum sl__op_id id;
	uint64_t n_gates;
	struct sl__per unit;
	size_t peephole; /* input, 0: none */
};

static const struct form forms[] = {
	{SL__OP_ONNX_RNN, 1, {.exp = 1}, 0},
	/* z, r, h; then (1 - z) h + z H, where h saw r H */
	{SL__OP_ONNX_GRU, 3, {.exp = 3, .mul = 2, .add = 1, .fma = 1}, 0},
	/* i, o, f, c; then C = f C + i c and H = o tanh(C) */
	{SL__OP_ONNX_LSTM, 4, {.exp = 5, .mul = 2, .fma = 1}, 7},
};

enum { BIAS = 3, LENGTHS = 4 }; /* inputs of all three */

static const struct form *
form_of(const struct sl__node *node)
{
	return SL__ROW_OF(node, forms);
}

struct layer {
	int64_t seq, batch, input, hidden, directions;
	int is_batch_first;
};

/* A size that is not known is 0, which no layer has. */
static void
read_layer(struct layer *l, struct sl__call *call)
{
	const struct sl__node *node = call->node;
	const char *direction = sl__word(node, "direction", "forward");

	l->is_batch_first = sl__int(node, "layout", 0) != 0;
	l->directions = strcmp(direction, "bidirectional") ? 1 : 2;
	l->seq = sl__dim_or(call, 0, 3, l->is_batch_first ? 1 : 0, 0);
	l->batch = sl__dim_or(call, 0, 3, l->is_batch_first ? 0 : 1, 0);
	l->input = sl__dim_or(call, 0, 3, 2, 0);
	l->hidden = sl__int(node, "hidden_size", 0);
	if (l->hidden <= 0)
		l->hidden = sl__dim_or(call, 2, 3, 2, 0);
}

/* The weights [directions][gates * hidden][n] of the input or the state. */
static void
check_weight(struct sl__call *call, size_t i, const int64_t *dims)
{
	const struct sl__type *w = sl__in(call, i);

	for (int d = 0; sl__in_rank(call, i) >= 0 && d < 3; d++) {
		if (w->rank != 3 || sl__sizes_differ(w->dims[d], dims[d]))
			sl__refuse(call,
				   "a weight of %s where %lldx%lldx%lld fits",
				   sl__in_text(call, i), (long long)dims[0],
				   (long long)dims[1], (long long)dims[2]);
	}
}

static void
check_attributes(struct sl__call *call)
{
	const char *direction = sl__word(call->node, "direction", "forward");
	int64_t hidden = sl__int(call->node, "hidden_size", 1);

	if (strcmp(direction, "forward") != 0 &&
	    strcmp(direction, "reverse") != 0 &&
	    strcmp(direction, "bidirectional") != 0)
		sl__refuse(call, "direction is '%.60s'", direction);
	if (hidden < 1)
		sl__refuse(call, "hidden_size is %lld", (long long)hidden);
}

enum sl_status
sl__infer_recurrent(struct sl__call *call)
{
	enum sl_dtype dtype = sl__in_dtype(call, 0);
	int64_t rows, n;
	struct layer l;

	check_attributes(call);
	for (size_t k = 0; sl__in_rank(call, 0) < 0 && k < 3; k++)
		sl__out_rankless(call, k, dtype);
	if (call->failure || sl__in_rank(call, 0) < 0)
		return call->failure;
	read_layer(&l, call);
	if (l.hidden == 0)
		l.hidden = sl__size_named(call->shapes, "hidden");
	if (sl__in_rank(call, 0) != 3)
		sl__refuse(call,
			   "an input of %s where a sequence of batches of rows "
			   "is taken",
			   sl__in_text(call, 0));
	n = l.directions;
	rows = sl__size_mul(call->shapes, l.hidden,
			    (int64_t)form_of(call->node)->n_gates);
	check_weight(call, 1, (int64_t[]){n, rows, l.input});
	check_weight(call, 2, (int64_t[]){n, rows, l.hidden});
	if (l.is_batch_first)
		sl__out(call, 0, dtype, 4,
			(int64_t[]){l.batch, l.seq, n, l.hidden});
	else
		sl__out(call, 0, dtype, 4,
			(int64_t[]){l.seq, n, l.batch, l.hidden});
	for (size_t k = 1; k < 3; k++)
		sl__out(call, k, dtype, 3,
			(int64_t[]){l.is_batch_first ? l.batch : n,
				    l.is_batch_first ? n : l.batch, l.hidden});
	return call->failure;
}

/* Steps of all samples: their lengths where those are known. */
static uint64_t
count_steps(struct sl__call *call, const struct layer *l, struct sl_cost *cost)
{
	uint64_t all = sl__times((uint64_t)l->seq, (uint64_t)l->batch);
	uint64_t steps = 0;
	const int64_t *lengths;
	size_t n;

	if (!sl__has_in(call, LENGTHS))
		return all;
	if (!sl__in_integers(call, LENGTHS, &lengths, &n) ||
	    n != (uint64_t)l->batch) {
		sl__cost_estimate(cost,
				  "as if every sequence had the full length");
		return all;
	}
	for (size_t i = 0; i < n; i++)
		steps = sl__plus(steps,
				 lengths[i] > 0 ? (uint64_t)lengths[i] : 0);
	return steps < all ? steps : all;
}

void
sl__cost_recurrent(struct sl__call *call, struct sl_cost *cost)
{
	const struct form *form = form_of(call->node);
	struct layer l;
	uint64_t units, gates; /* hidden elements, gate elements of all steps */

	read_layer(&l, call);
	if (l.hidden <= 0) {
		sl__cost_unknown(call, cost);
		return;
	}
	units = sl__times(
		count_steps(call, &l, cost),
		sl__times((uint64_t)l.directions, (uint64_t)l.hidden));
	gates = sl__times(units, form->n_gates);
	cost->work = SL_WORK_RECURRENT;
	sl__count_macs(
		cost, sl__times(gates, (uint64_t)l.input + (uint64_t)l.hidden));
	sl__count(cost, units, form->unit);
	if (form->peephole && sl__has_in(call, form->peephole))
		sl__count(cost, units, SL__PER(.fma = 3));
	if (sl__has_in(call, BIAS))
		sl__count(cost, gates, SL__PER(.add = 1));
}

uint64_t
sl__recurrent_units(const struct sl__node *node, const struct sl_cost *cost)
{
	return cost->exp / form_of(node)->unit.exp;
}
