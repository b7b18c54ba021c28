/* SPDX-License-Identifier: Apache-2.0 */
/*
 * identity.c - which numbers a tensor holds, in two words.
 *
 * The digest takes 16 bytes a round.  Each half goes, with a constant of its
 * own, into a product of 64 times 64 bits, whose halves are folded together;
 * each of the two words sees both, so that together they are 128 bits of
 * digest, not 64 twice.
 */
#include "graph/identity.h"

#include <string.h>

#include "base/banned.h"

enum { ROUND_BYTES = 16 };

/* Digits of pi: odd, and as many ones as zeros. */
#define K0 UINT64_C(0x243f6a8885a308d3)
#define K1 UINT64_C(0x13198a2e03707345)
#define K2 UINT64_C(0xa4093822299f31d1)
#define K3 UINT64_C(0x082efa98ec4e6c89)

/* The product of two words, its halves folded: 32 bits at a time, since C has
 * no wider type. */
static uint64_t
fold(uint64_t a, uint64_t b)
{
	uint64_t a0 = a & UINT32_MAX, a1 = a >> 32;
	uint64_t b0 = b & UINT32_MAX, b1 = b >> 32;
	uint64_t middle = a1 * b0 + (a0 * b0 >> 32);
	uint64_t high = a1 * b1 + (middle >> 32);

	middle = (middle & UINT32_MAX) + a0 * b1;
	return (high + (middle >> 32)) ^ (a * b);
}

static void
take_round(struct sl__identity *id, uint64_t x, uint64_t y)
{
	uint64_t a = id->words[0], b = id->words[1];

	id->words[0] = fold(x ^ a ^ K0, y ^ K1) + b;
	id->words[1] = fold(y ^ b ^ K2, x ^ K3) ^ a;
}

static void
take_bytes(struct sl__identity *id, const void *bytes, uint64_t n_bytes)
{
	const unsigned char *at = bytes;
	uint64_t words[2];

	while (n_bytes >= ROUND_BYTES) {
		memcpy(words, at, ROUND_BYTES);
		take_round(id, words[0], words[1]);
		at += ROUND_BYTES;
		n_bytes -= ROUND_BYTES;
	}
	memset(words, 0, sizeof(words));
	if (n_bytes)
		memcpy(words, at, (size_t)n_bytes);
	take_round(id, words[0], words[1]);
}

static int
take_generator(struct sl__identity *id, const struct sl__tensor *tensor,
	       const struct sl_graph *model)
{
	const struct sl__generator *g = tensor->generator;
	struct sl__identity of;
	uint64_t words[2], n_groups;

	take_round(id, g->seed, (uint64_t)g->kind);
	memcpy(&words[0], &g->mean, sizeof(g->mean));
	memcpy(&words[1], &g->scale, sizeof(g->scale));
	take_round(id, words[0], words[1]);
	if (g->kind != SL__GENERATE_SCALED)
		return 1;
	if (!tensor->n_elements || !sl__identity_of(&of, g->of, model))
		return 0;
	take_round(id, of.words[0], of.words[1]);
	take_round(id, g->taps, g->results);
	n_groups =
		(tensor->n_elements - 1) / (g->taps * g->results) / g->inputs +
		1;
	take_round(id, g->inputs, n_groups);
	take_bytes(id, g->factors, n_groups * g->results * sizeof(double));
	return 1;
}

static int
digest(struct sl__identity *out, const struct sl__tensor *tensor,
       const struct sl_graph *model)
{
	*out = (struct sl__identity){{K2, K3}};
	take_round(out, tensor->n_bytes, (uint64_t)tensor->dtype);
	if (tensor->bytes) {
		take_bytes(out, tensor->bytes, tensor->n_bytes);
	} else if (!tensor->generator || !take_generator(out, tensor, model)) {
		return 0;
	}
	take_round(out, K0, K1);
	return 1;
}

int
sl__identity_of(struct sl__identity *out, const struct sl__tensor *tensor,
		const struct sl_graph *model)
{
	if (tensor->is_sparse || tensor->absent || tensor->strings)
		return 0;
	if (!sl__arena_holds(&model->arena, tensor))
		return digest(out, tensor, model);
	*out = (struct sl__identity){{(uint64_t)(uintptr_t)tensor, 0}};
	return tensor->bytes || tensor->generator;
}
