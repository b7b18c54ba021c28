/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tensor_fingerprint.c - which numbers a tensor holds, in two words.
 *
 * Words that say what the tensor is are listed, and the list is hashed.  What
 * has many bytes enters it as a digest of them.
 */
#include "graph/tensor_fingerprint.h"
#include "base/hash.h"

#include <assert.h>
#include <string.h>

#include "base/banned.h"

enum { MOST_WORDS = 16 };

/* Invariant: n <= MOST_WORDS; lists of different kinds differ in length. */
struct list {
	uint64_t words[MOST_WORDS];
	size_t n;
};

static void
add_word(struct list *list, uint64_t word)
{
	assert(list->n < MOST_WORDS);
	list->words[list->n++] = word;
}

static void
add_double(struct list *list, double value)
{
	uint64_t word;

	memcpy(&word, &value, sizeof(word));
	add_word(list, word);
}

static void
add_bytes(struct list *list, const void *bytes, uint64_t n_bytes)
{
	struct sl__digest digest = sl__digest_of(bytes, (size_t)n_bytes);

	add_word(list, digest.words[0]);
	add_word(list, digest.words[1]);
}

static int
add_generator(struct list *list, const struct sl__tensor *tensor,
	      const struct sl_graph *model)
{
	const struct sl__tensor_generator *g = tensor->generator;
	struct sl__tensor_fingerprint of;
	uint64_t n_groups;

	add_word(list, g->seed);
	add_word(list, (uint64_t)g->kind);
	add_double(list, g->mean);
	add_double(list, g->scale);
	if (g->kind != SL__TENSOR_GENERATOR_SCALED)
		return 1;
	if (!tensor->n_elements ||
	    !sl__tensor_fingerprint_of(&of, g->of, model))
		return 0;
	add_word(list, of.words[0]);
	add_word(list, of.words[1]);
	add_word(list, g->taps);
	add_word(list, g->results);
	n_groups =
		(tensor->n_elements - 1) / (g->taps * g->results) / g->inputs +
		1;
	add_word(list, g->inputs);
	add_word(list, n_groups);
	add_bytes(list, g->factors, n_groups * g->results * sizeof(double));
	return 1;
}

static int
digest(struct sl__tensor_fingerprint *out, const struct sl__tensor *tensor,
       const struct sl_graph *model)
{
	struct list list = {.n = 0};
	struct sl__digest all;

	add_word(&list, tensor->n_bytes);
	add_word(&list, (uint64_t)tensor->dtype);
	if (tensor->bytes)
		add_bytes(&list, tensor->bytes, tensor->n_bytes);
	else if (!tensor->generator || !add_generator(&list, tensor, model))
		return 0;
	all = sl__digest_of(list.words, list.n * sizeof(list.words[0]));
	*out = (struct sl__tensor_fingerprint){{all.words[0], all.words[1]}};
	return 1;
}

int
sl__tensor_fingerprint_of(struct sl__tensor_fingerprint *out,
			  const struct sl__tensor *tensor,
			  const struct sl_graph *model)
{
	if (tensor->is_sparse || tensor->absent || tensor->strings)
		return 0;
	if (!sl__arena_holds(&model->arena, tensor))
		return digest(out, tensor, model);
	*out = (struct sl__tensor_fingerprint){
		{(uint64_t)(uintptr_t)tensor, 0}};
	return tensor->bytes || tensor->generator;
}
