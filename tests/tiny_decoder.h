/* SPDX-License-Identifier: Apache-2.0 */
/* tiny_decoder.h - a causal decoder of one layer, with and without cache, of
 * which every figure is known. */
#ifndef SL_TEST_TINY_DECODER_H
#define SL_TEST_TINY_DECODER_H

#include "built.h"
#include "model/builder_layers.h"

enum {
	TINY_WIDTH = 16,
	TINY_HEADS = 2,
	TINY_HEAD = TINY_WIDTH / TINY_HEADS,
	TINY_WORDS = 40,
	TINY_KV_BYTES = 2 * TINY_WIDTH * 4, /* a token's keys and values */

	/* FLOPs of an iteration over n tokens: four projections and the head for
	 * every token, two products for every pair. */
	TINY_LINEAR =
		2 * (4 * TINY_WIDTH * TINY_WIDTH + TINY_WIDTH * TINY_WORDS),
	TINY_QUADRATIC = 2 * 2 * TINY_WIDTH
};

enum tiny_kind {
	TINY_PLAIN,    /* tokens [batch, seq] */
	TINY_STEP,     /* tokens [batch, 1], and states */
	TINY_CACHED,   /* tokens [batch, seq], states, positions and a mask */
	TINY_BOTH_WAYS /* as plain, and attention sees all tokens */
};

static inline double
tiny_pass(double n)
{
	return TINY_LINEAR * n + TINY_QUADRATIC * n * n;
}

static inline double
tiny_step(double n)
{
	return TINY_LINEAR + TINY_QUADRATIC * n;
}

/* Keys or values of the tokens before, and the new ones after them. */
static inline int
tiny_append(struct sl_builder *b, const char *kind, int x)
{
	char name[32];
	int both[2] = {0, x};

	snprintf(name, sizeof(name), "past.%s", kind);
	both[0] = sl_builder_input(
		b, name, SL_DTYPE_F32, 4,
		(int64_t[]){sl_builder_symbol(b, "batch", 1), TINY_HEADS,
			    sl_builder_symbol(b, "past", 0), TINY_HEAD});
	x = sl__builder_concat(b, 2, 2, both);
	snprintf(name, sizeof(name), "present.%s", kind);
	sl_builder_output(b, x, name);
	return x;
}

/* Added to products: one row of zeros and less for masked keys. */
static inline int
tiny_mask(struct sl_builder *b, int mask)
{
	const int64_t axes[] = {1, 2};

	sl_builder_int(b, "to", SL_DTYPE_F32);
	mask = sl__builder_op1(b, "Cast", mask);
	mask = sl__builder_op2(
		b, "Sub", mask,
		sl_builder_floats(b, "one", 0, NULL, (float[]){1}));
	mask = sl__builder_op2(
		b, "Mul", mask,
		sl_builder_floats(b, "far", 0, NULL, (float[]){1e9F}));
	return sl__builder_op2(
		b, "Unsqueeze", mask,
		sl_builder_integers(b, "axes", 1, (int64_t[]){2}, axes));
}

static inline struct sl_graph *
tiny_decoder(enum tiny_kind kind)
{
	static const char *const names[] = {"query", "key", "value"};
	struct sl_builder *b = new_builder();
	int64_t batch = sl_builder_symbol(b, "batch", 1);
	int64_t dims[] = {
		batch, kind == TINY_STEP ? 1 : sl_builder_symbol(b, "seq", 8)};
	int64_t all[] = {batch, sl_builder_symbol(b, "total", 0)};
	int tokens = sl_builder_input(b, "input_ids", SL_DTYPE_I64, 2, dims);
	int table = sl__builder_embedding_weight(b, "words", TINY_WORDS,
						 TINY_WIDTH, 1);
	int x = sl__builder_gather(b, table, tokens), mask = -1, qkv[3];

	if (kind == TINY_CACHED) {
		int places = sl_builder_input(b, "position_ids", SL_DTYPE_I64,
					      2, dims);

		mask = tiny_mask(b, sl_builder_input(b, "attention_mask",
						     SL_DTYPE_I64, 2, all));
		x = sl__builder_op2(
			b, "Add", x,
			sl__builder_gather(
				b,
				sl__builder_embedding_weight(b, "places", 64,
							     TINY_WIDTH, 1),
				places));
	} else if (kind == TINY_PLAIN) {
		mask = sl__builder_causal_mask(b, tokens, 1);
	}
	for (int i = 0; i < 3; i++) {
		sl_builder_name(b, names[i]);
		qkv[i] = sl_builder_linear(b, x, TINY_WIDTH, 0);
		qkv[i] = sl__builder_split_heads(b, qkv[i], TINY_HEADS,
						 TINY_HEAD);
		if (i && (kind == TINY_STEP || kind == TINY_CACHED))
			qkv[i] = tiny_append(b, names[i], qkv[i]);
	}
	x = sl__builder_attend(b, qkv, TINY_HEAD, mask);
	x = sl__builder_join_heads(b, x, TINY_HEADS, TINY_HEAD);
	sl_builder_name(b, "output");
	x = sl_builder_linear(b, x, TINY_WIDTH, 0);
	sl_builder_name(b, "head");
	sl_builder_output(b, sl_builder_linear(b, x, TINY_WORDS, 0), "logits");
	return finish(b);
}

#endif
