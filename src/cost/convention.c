/* SPDX-License-Identifier: Apache-2.0 */
/*
 * convention.c - what counting tools print, and why they differ.
 *
 * Every convention is a sum over the same parts; a difference of two is
 * explained part by part.  The formulas:
 *
 *   core         MACs of convolutions, products, recurrent products
 *   torch        2 x (core - LSTM)                        (FlopCounterMode)
 *   fvcore 0.1.5 core - recurrent layers - fused attention + 2 BatchNorm
 *                + 5 LayerNorm elements + inputs of adaptive average pools
 *   thop 0.1.1   core - attention's products + 4 (BatchNorm + LayerNorm)
 *                elements + inputs and outputs of adaptive average pools
 *                + gates of recurrent layers
 *   all          every operation, a multiply-add as two
 *   core_causal  core with what a causal mask hides left out
 *
 * FlopCounterMode has no rule for a recurrent layer, but sees the products
 * that PyTorch runs a GRU or an RNN with on a CPU; an LSTM in f32 is one
 * operator there (mkldnn_rnn_layer).  It has a rule for
 * scaled_dot_product_attention; fvcore, which knows operators by name, has
 * none for it and none for recurrent layers.
 * tests/oracles/counting_tools.py runs all three.
 *
 * thop sees modules only: a pool called as a function, as in torchvision's
 * MobileNetV2, is missing from what it prints and present here.
 */
#include "cost/convention.h"
#include "base/status.h"
#include "graph/op_rules.h"
#include "ops/cost.h"

#include <stdio.h>
#include <string.h>

#include "base/banned.h"

const char *
sl_convention_text(enum sl_convention convention)
{
	static const char *const texts[] = {"core", "torch", "fvcore",
					    "thop", "all",   "core_causal"};

	return (unsigned)convention < SL_N_CONVENTIONS ? texts[convention]
						       : "unknown";
}

const char *
sl_convention_unit(enum sl_convention convention)
{
	return convention == SL_CONVENTION_TORCH ||
			       convention == SL_CONVENTION_ALL
		       ? "FLOPs"
		       : "MACs";
}

const char *
sl_work_text(enum sl_work work)
{
	static const char *const texts[] = {
		"element-wise",     "data movement", "view",
		"convolution",      "linear",        "attention matmul",
		"recurrent",        "batch norm",    "layer norm",
		"activation",       "softmax",       "pooling",
		"adaptive pooling", "reduction",     "embedding",
		"quantization"};

	return (unsigned)work < SL_N_WORKS ? texts[work] : "unknown";
}

/* Norms without a mean have no handler in fvcore or thop. */
static int
is_rms(const struct sl__node *node)
{
	return sl__is_op(node, SL__OP_ONNX_RMSNormalization) ||
	       sl__is_op(node, SL__OP_ONNX_SimplifiedLayerNormalization) ||
	       sl__is_op(node, SL__OP_MS_SimplifiedLayerNormalization) ||
	       sl__is_op(node, SL__OP_MS_SkipSimplifiedLayerNormalization);
}

/*
 * What thop's rnn_hooks.py adds to the products, per hidden element and step:
 * an addition and two biases for each gate, then for a GRU one product with r
 * and h' = (1 - z) n + z h, for an LSTM c' = f c + i g and one product with o.
 */
static uint64_t
thop_gates(const struct sl__node *node, const struct sl_cost *cost)
{
	int has_bias = node->n_inputs > 3 && node->inputs[3] != SL__NONE;
	int is_plain = sl__is_op(node, SL__OP_ONNX_RNN);
	uint64_t n_gates = sl__is_op(node, SL__OP_ONNX_LSTM) ? 4 : 3;

	if (is_plain)
		n_gates = 1;
	return sl__saturating_mul(sl__recurrent_n_hidden(node, cost),
				  n_gates * (has_bias ? 3 : 1) +
					  (is_plain ? 0 : 4));
}

static void
add_recurrent(struct sl__tally *tally, const struct sl__node *node,
	      const struct sl_cost *cost, uint64_t n_calls)
{
	struct sl__tally_layers *layers = sl__is_op(node, SL__OP_ONNX_LSTM)
						  ? &tally->lstm
						  : &tally->recurrent;

	layers->n++;
	layers->macs = sl__saturating_add(
		layers->macs, sl__saturating_mul(cost->macs, n_calls));
	tally->gate_operations = sl__saturating_add(
		tally->gate_operations,
		sl__saturating_mul(thop_gates(node, cost), n_calls));
}

void
sl__tally_add_node(struct sl__tally *tally, const struct sl__node *node,
		   const struct sl_cost *cost, uint64_t n_calls)
{
	struct sl__tally_work *w = &tally->by_work[cost->work];
	uint64_t macs = sl__saturating_mul(cost->macs, n_calls);
	uint64_t all = sl__saturating_mul(sl_cost_operations(cost), n_calls);
	uint64_t n_in = sl__saturating_mul(cost->in_elements, n_calls);

	w->n_nodes++;
	w->macs = sl__saturating_add(w->macs, macs);
	w->operations = sl__saturating_add(w->operations,
					   all - sl__saturating_mul(macs, 2));
	w->in_elements = sl__saturating_add(w->in_elements, n_in);
	w->out_elements = sl__saturating_add(
		w->out_elements,
		sl__saturating_mul(cost->out_elements, n_calls));
	tally->macs = sl__saturating_add(tally->macs, macs);
	if (cost->work == SL_WORK_LAYER_NORM && !is_rms(node)) {
		tally->n_norms++;
		tally->norm_elements =
			sl__saturating_add(tally->norm_elements, n_in);
	}
	if (cost->work == SL_WORK_RECURRENT)
		add_recurrent(tally, node, cost, n_calls);
}

void
sl__tally_add_attentions(struct sl__tally *tally,
			 const struct sl__attentions *attentions,
			 const uint64_t *n_calls, size_t n_nodes)
{
	for (size_t i = 0; i < n_nodes; i++) {
		uint64_t n = n_calls[i];

		if (!n || !attentions->product_macs[i])
			continue;
		tally->n_products++;
		tally->product_macs = sl__saturating_add(
			tally->product_macs,
			sl__saturating_mul(attentions->product_macs[i], n));
		if (attentions->masked_macs[i])
			tally->n_causal++;
		tally->masked_macs = sl__saturating_add(
			tally->masked_macs,
			sl__saturating_mul(attentions->masked_macs[i], n));
	}
	for (size_t r = 0; r < attentions->n; r++) {
		uint32_t id = attentions->rows[r].scores;

		if (id != attentions->rows[r].mixing || !n_calls[id] ||
		    !attentions->product_macs[id])
			continue; /* in pieces, or nothing */
		tally->fused.n++;
		tally->fused.macs = sl__saturating_add(
			tally->fused.macs,
			sl__saturating_mul(attentions->product_macs[id],
					   n_calls[id]));
	}
}

enum part {
	PART_CORE,      /* MACs of what every tool sees */
	PART_LSTM,      /* MACs */
	PART_RECURRENT, /* of GRU and RNN */
	PART_PRODUCTS,  /* of attention in pieces */
	PART_FUSED,     /* products of attention that is one operator */
	PART_MASKED,    /* of all attention's, taken away */
	PART_TWICE,     /* a multiply-add is two operations */
	PART_GATES,     /* of recurrent layers, beside their products */
	PART_WORKS,     /* what each kind of work adds to its MACs */
	N_PARTS = PART_WORKS + SL_N_WORKS
};

/* Whether a tool counts what has a rule of its own in some. */
static int
sees(enum sl_convention c, int p)
{
	if (c == SL_CONVENTION_TORCH)
		return p != PART_LSTM;
	if (c == SL_CONVENTION_FVCORE)
		return p == PART_CORE || p == PART_PRODUCTS;
	if (c == SL_CONVENTION_THOP)
		return p != PART_PRODUCTS && p != PART_FUSED;
	return 1;
}

static uint64_t
macs_of(const struct sl__tally *t, int p)
{
	uint64_t recurrent = t->lstm.macs + t->recurrent.macs;

	switch (p) {
	case PART_CORE:
		return t->macs - t->product_macs - recurrent;
	case PART_LSTM:
		return t->lstm.macs;
	case PART_RECURRENT:
		return t->recurrent.macs;
	case PART_PRODUCTS:
		return t->product_macs - t->fused.macs;
	default:
		return t->fused.macs;
	}
}

static uint64_t
norm_part(const struct sl__tally *t, enum sl_convention c, enum sl_work work)
{
	const struct sl__tally_work *pool = &t->by_work[SL_WORK_ADAPTIVE_POOL];
	int is_thop = c == SL_CONVENTION_THOP;

	if (work == SL_WORK_BATCH_NORM)
		return sl__saturating_mul(t->by_work[work].out_elements,
					  is_thop ? 4 : 2);
	if (work == SL_WORK_LAYER_NORM)
		return sl__saturating_mul(t->norm_elements, is_thop ? 4 : 5);
	if (work == SL_WORK_ADAPTIVE_POOL)
		return sl__saturating_add(pool->in_elements,
					  is_thop ? pool->out_elements : 0);
	return 0;
}

/* What part p is worth in convention c. */
static int64_t
part_of(const struct sl__tally *t, enum sl_convention c, int p)
{
	uint64_t amount = 0;

	if (p <= PART_FUSED)
		amount = sees(c, p) ? macs_of(t, p) : 0;
	else if (p == PART_GATES && c == SL_CONVENTION_THOP)
		amount = t->gate_operations;
	else if (p == PART_MASKED && c == SL_CONVENTION_CORE_CAUSAL)
		return -(int64_t)t->masked_macs;
	else if (p == PART_TWICE && c == SL_CONVENTION_ALL)
		amount = t->macs;
	else if (p >= PART_WORKS && c == SL_CONVENTION_ALL)
		amount = t->by_work[p - PART_WORKS].operations;
	else if (p >= PART_WORKS &&
		 (c == SL_CONVENTION_FVCORE || c == SL_CONVENTION_THOP))
		amount = norm_part(t, c, (enum sl_work)(p - PART_WORKS));
	return amount > INT64_MAX ? INT64_MAX : (int64_t)amount;
}

/* In MACs where the tool prints twice that. */
static uint64_t
sum_parts(const struct sl__tally *t, enum sl_convention c)
{
	uint64_t sum = 0;

	for (int p = 0; p < N_PARTS; p++) {
		int64_t part = part_of(t, c, p);

		sum = part < 0 ? sum - (uint64_t)-part
			       : sl__saturating_add(sum, (uint64_t)part);
	}
	return sum;
}

uint64_t
sl__convention_count(const struct sl__tally *tally, enum sl_convention c)
{
	uint64_t sum = sum_parts(tally, c);

	return c == SL_CONVENTION_TORCH ? sl__saturating_mul(sum, 2) : sum;
}

enum { DIGITS_BYTES = 32 };

/* "11,113,984". */
static const char *
digits(char text[DIGITS_BYTES], uint64_t n)
{
	char plain[DIGITS_BYTES];
	size_t n_plain, used = 0;

	n_plain = (size_t)snprintf(plain, sizeof(plain), "%llu",
				   (unsigned long long)n);
	for (size_t i = 0; i < n_plain; i++) {
		if (i && (n_plain - i) % 3 == 0)
			text[used++] = ',';
		text[used++] = plain[i];
	}
	text[used] = '\0';
	return text;
}

static const char *
plural(size_t n)
{
	return n == 1 ? "" : "s";
}

/* fvcore counts the inputs of a pool, thop the outputs too. */
static const char *
pooled_between(enum sl_convention a, enum sl_convention b)
{
	int by_fvcore = a == SL_CONVENTION_FVCORE || b == SL_CONVENTION_FVCORE;
	int by_thop = a == SL_CONVENTION_THOP || b == SL_CONVENTION_THOP;

	if (by_fvcore && by_thop)
		return "outputs";
	return by_thop ? "inputs and outputs" : "inputs";
}

static const char *
explain_work(const struct sl__tally *t, enum sl_convention a,
	     enum sl_convention b, enum sl_work work, struct sl__arena *arena)
{
	const struct sl__tally_work *w = &t->by_work[work];
	int by_all = a == SL_CONVENTION_ALL || b == SL_CONVENTION_ALL;
	int64_t amount = part_of(t, b, PART_WORKS + (int)work) -
			 part_of(t, a, PART_WORKS + (int)work);
	uint64_t n = work == SL_WORK_LAYER_NORM ? t->norm_elements
						: w->out_elements;
	size_t n_layers = work == SL_WORK_LAYER_NORM ? t->n_norms : w->n_nodes;
	char text[DIGITS_BYTES];

	if (by_all)
		return sl__arena_format(
			arena, "%s, %zu node%s: every operation%s",
			sl_work_text(work), w->n_nodes, plural(w->n_nodes),
			w->macs ? " beside the multiply-adds" : "");
	if (work == SL_WORK_ADAPTIVE_POOL)
		return sl__arena_format(
			arena, "adaptive pooling, %zu layer%s: %s", n_layers,
			plural(n_layers), pooled_between(a, b));
	return sl__arena_format(
		arena, "%s, %zu layer%s: %lld x %s elements",
		work == SL_WORK_BATCH_NORM ? "BatchNorm" : "LayerNorm",
		n_layers, plural(n_layers),
		n ? (long long)(amount / (int64_t)n) : 0LL, digits(text, n));
}

/* 'silent' counts nothing of the part. */
static const char *
explain_layers(const struct sl__tally *t, int p, const char *silent,
	       struct sl__arena *arena)
{
	size_t n_products = t->n_products - t->fused.n;

	if (p == PART_LSTM)
		return sl__arena_format(arena,
					"LSTM, %zu layer%s: not counted by %s",
					t->lstm.n, plural(t->lstm.n), silent);
	if (p == PART_RECURRENT)
		return sl__arena_format(
			arena, "GRU or RNN, %zu layer%s: not counted by %s",
			t->recurrent.n, plural(t->recurrent.n), silent);
	if (p == PART_FUSED)
		return sl__arena_format(
			arena,
			"fused attention, %zu layer%s: matmuls not counted by "
			"%s",
			t->fused.n, plural(t->fused.n), silent);
	return sl__arena_format(arena,
				"attention, %zu matmul%s: %s does not see them",
				n_products, plural(n_products), silent);
}

static const char *
explain_part(const struct sl__tally *t, enum sl_convention a,
	     enum sl_convention b, int p, struct sl__arena *arena)
{
	size_t n_recurrent = t->lstm.n + t->recurrent.n;

	if (p > PART_CORE && p <= PART_FUSED)
		return explain_layers(
			t, p, sl_convention_text(sees(b, p) ? a : b), arena);
	if (p == PART_GATES)
		return sl__arena_format(
			arena,
			"recurrent, %zu layer%s: gates besides the matmuls, "
			"counted by thop",
			n_recurrent, plural(n_recurrent));
	if (p == PART_MASKED)
		return sl__arena_format(
			arena,
			"causal attention, %zu matmul%s: what the mask hides",
			t->n_causal, plural(t->n_causal));
	if (p == PART_TWICE)
		return "a multiply-add counts as two operations";
	if (p >= PART_WORKS)
		return explain_work(t, a, b, (enum sl_work)(p - PART_WORKS),
				    arena);
	return "convolutions and matmuls";
}

enum sl_status
sl__convention_reconcile(struct sl_explanation *out,
			 const struct sl__tally *tally, enum sl_convention a,
			 enum sl_convention b, struct sl__arena *arena,
			 struct sl_error *err)
{
	struct sl_difference *rows =
		sl__arena_array(arena, N_PARTS, sizeof(*rows));

	if (!rows)
		return sl__fail_nomem(err);
	memset(out, 0, sizeof(*out));
	out->a = a;
	out->b = b;
	out->a_count = sum_parts(tally, a);
	out->b_count = sum_parts(tally, b);
	out->rows = rows;
	for (int p = 0; p < N_PARTS; p++) {
		int64_t amount = part_of(tally, b, p) - part_of(tally, a, p);

		if (amount == 0)
			continue;
		rows[out->n_rows].amount = amount;
		rows[out->n_rows].text = explain_part(tally, a, b, p, arena);
		if (!rows[out->n_rows++].text)
			return sl__fail_nomem(err);
	}
	return SL_OK;
}
