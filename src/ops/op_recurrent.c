/* SPDX-License-Identifier: Apache-2.0 */
/*
 * op_recurrent.c - LSTM, GRU and RNN.
 *
 * Per step, sample and direction each gate is a product of the input and one
 * of the hidden state, so the products are steps * directions * gates *
 * hidden * (input + hidden).  What follows is counted per hidden element.
 */
#include "graph/op_rules.h"
#include "ops/cost.h"

#include <string.h>

#include "base/banned.h"

/* What a hidden element takes in one step beside the products. */
struct form {
	enum sl__op_id id;
	uint64_t n_gates;
	uint64_t exp, mul, add, fma;
	size_t peephole; /* input, 0: none */
};

static const struct form forms[] = {
	{SL__OP_ONNX_RNN, 1, 1, 0, 0, 0, 0},
	/* z, r, h; then (1 - z) h + z H, where h saw r H */
	{SL__OP_ONNX_GRU, 3, 3, 2, 1, 1, 0},
	/* i, o, f, c; then C = f C + i c and H = o tanh(C) */
	{SL__OP_ONNX_LSTM, 4, 5, 2, 0, 1, 7},
};

enum { BIAS = 3, LENGTHS = 4 }; /* inputs of all three */

static const struct form *
form_of(const struct sl__node *node)
{
	for (size_t i = 1; i < sizeof(forms) / sizeof(forms[0]); i++) {
		if (sl__is_op(node, forms[i].id))
			return &forms[i];
	}
	return &forms[0];
}

struct layer {
	int64_t seq, batch, input, hidden, directions;
	int is_batch_first;
};

static int64_t
dim_or(const struct sl__call *call, size_t i, int rank, int d,
       int64_t otherwise)
{
	return sl__in_rank(call, i) == rank ? sl__in(call, i)->dims[d]
					    : otherwise;
}

static void
read_layer(struct layer *l, const struct sl__call *call)
{
	const struct sl__node *node = call->node;
	int64_t none = 0; /* no layer has that */

	l->is_batch_first = sl__int(node, "layout", 0) != 0;
	l->directions =
		strcmp(sl__word(node, "direction", "forward"), "bidirectional")
			? 1
			: 2;
	l->seq = dim_or(call, 0, 3, l->is_batch_first ? 1 : 0, none);
	l->batch = dim_or(call, 0, 3, l->is_batch_first ? 0 : 1, none);
	l->input = dim_or(call, 0, 3, 2, none);
	l->hidden = sl__int(node, "hidden_size", 0);
	if (l->hidden <= 0)
		l->hidden = dim_or(call, 2, 3, 2, none);
}

/* The weights [directions][gates * hidden][n] of the input or the state. */
static enum sl_status
check_weight(const struct sl__call *call, size_t i, const int64_t *dims,
	     struct sl_error *err)
{
	const struct sl__type *w = sl__in(call, i);

	if (sl__in_rank(call, i) < 0)
		return SL_OK;
	for (int d = 0; d < 3; d++) {
		if (w->rank != 3 || sl__sizes_differ(w->dims[d], dims[d]))
			return sl__refuse(
				err, "a weight of %s where %lldx%lldx%lld fits",
				sl__type_text(call->shapes, w),
				(long long)dims[0], (long long)dims[1],
				(long long)dims[2]);
	}
	return SL_OK;
}

static enum sl_status
check_attributes(const struct sl__node *node, struct sl_error *err)
{
	const char *direction = sl__word(node, "direction", "forward");

	if (strcmp(direction, "forward") != 0 &&
	    strcmp(direction, "reverse") != 0 &&
	    strcmp(direction, "bidirectional") != 0)
		return sl__refuse(err, "direction is '%.60s'", direction);
	if (sl__int(node, "hidden_size", 1) < 1)
		return sl__refuse(err, "hidden_size is %lld",
				  (long long)sl__int(node, "hidden_size", 1));
	return SL_OK;
}

static enum sl_status
check_layer(const struct sl__call *call, const struct layer *l,
	    struct sl_error *err)
{
	int64_t dims[3] = {l->directions, 0, l->input};
	enum sl_status rc;

	if (sl__in_rank(call, 0) != 3)
		return sl__refuse(err,
				  "an input of %s where a sequence of batches "
				  "of rows is taken",
				  sl__type_text(call->shapes, sl__in(call, 0)));
	dims[1] = sl__size_mul(call->shapes, l->hidden,
			       (int64_t)form_of(call->node)->n_gates);
	rc = check_weight(call, 1, dims, err);
	if (rc)
		return rc;
	dims[2] = l->hidden;
	return check_weight(call, 2, dims, err);
}

enum sl_status
sl__infer_recurrent(const struct sl__call *call, struct sl_error *err)
{
	enum sl_dtype dtype = sl__in_dtype(call, 0);
	struct layer l;
	enum sl_status rc = check_attributes(call->node, err);

	if (rc)
		return rc;
	if (sl__in_rank(call, 0) < 0) {
		for (size_t k = 0; !rc && k < 3; k++)
			rc = sl__out_rankless(call, k, dtype, err);
		return rc;
	}
	read_layer(&l, call);
	if (l.hidden == 0)
		l.hidden = sl__size_named(call->shapes, "hidden");
	rc = check_layer(call, &l, err);
	if (rc)
		return rc;
	rc = l.is_batch_first ? sl__out(call, 0, dtype, 4,
					(int64_t[]){l.batch, l.seq,
						    l.directions, l.hidden},
					err)
			      : sl__out(call, 0, dtype, 4,
					(int64_t[]){l.seq, l.directions,
						    l.batch, l.hidden},
					err);
	for (size_t k = 1; !rc && k < 3; k++) {
		int64_t state[3] = {l.directions, l.batch, l.hidden};

		if (l.is_batch_first) {
			state[0] = l.batch;
			state[1] = l.directions;
		}
		rc = sl__out(call, k, dtype, 3, state, err);
	}
	return rc;
}

/* Steps of all samples: their lengths where those are known. */
static uint64_t
count_steps(const struct sl__call *call, const struct layer *l,
	    struct sl_cost *cost)
{
	uint64_t all = sl__times((uint64_t)l->seq, (uint64_t)l->batch);
	uint64_t steps = 0;
	const int64_t *lengths;
	size_t n;

	if (!sl__has_in(call, LENGTHS))
		return all;
	if (sl__in_integers(call, LENGTHS, &lengths, &n) &&
	    n == (uint64_t)l->batch) {
		for (size_t i = 0; i < n; i++)
			steps = sl__plus(steps, lengths[i] > 0
							? (uint64_t)lengths[i]
							: 0);
		return steps < all ? steps : all;
	}
	cost->basis = SL_BASIS_ESTIMATED;
	cost->why = "as if every sequence had the full length";
	return all;
}

void
sl__cost_recurrent(const struct sl__call *call, struct sl_cost *cost)
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
	cost->macs = sl__times(gates, (uint64_t)l.input + (uint64_t)l.hidden);
	cost->fma = sl__plus(cost->macs, sl__times(units, form->fma));
	if (form->peephole && sl__has_in(call, form->peephole))
		cost->fma = sl__plus(cost->fma, sl__times(3, units));
	cost->mul = sl__times(units, form->mul);
	cost->add = sl__times(units, form->add);
	if (sl__has_in(call, BIAS))
		cost->add = sl__plus(cost->add, gates);
	cost->exp = sl__times(units, form->exp);
}

uint64_t
sl__recurrent_units(const struct sl__node *node, const struct sl_cost *cost)
{
	return cost->exp / form_of(node)->exp;
}
