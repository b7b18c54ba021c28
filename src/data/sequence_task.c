/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sequence_task.c - sequences whose continuation is known.
 *
 * Tokens are the digits 0 to 9, then PLUS and EQUALS.  A sequence is what is
 * given, EQUALS and the answer; the label of each position is the token that
 * follows it, ignored until EQUALS:
 *
 *	reverse:4    3 1 4 1 =   1 4 1 3
 *	addition:2   2 7 + 4 5 = 2 7 0      the sum, its ones first: each digit
 *	                                    needs the carry of those before
 *
 * What is given is a number, at least in its first DIGITS_MOST digits, and
 * numbers come in a random order without repetition.  Training samples are the
 * first of that order and test samples the last, so that no sequence comes
 * twice.
 */
#include "base/rng.h"
#include "base/status.h"
#include "data/dataset.h"
#include "data/permutation.h"

#include <stdlib.h>
#include <string.h>

#include "base/banned.h"

enum { PLUS = 10, EQUALS, N_TOKENS };
enum {
	N_TRAIN = 20000,
	N_TEST = 1000,
	DIGITS_LEAST = 4, /* 10^4 sequences are enough for both splits */
	DIGITS_MOST = 18, /* 10^18 is below the 2^62 of sl__permuted() */
	LENGTH_MOST = 512
};

enum kind { COPY = 0, REVERSE, SORT, ADDITION, N_KINDS };

struct task {
	enum kind kind;
	size_t n; /* symbols that are given; of ADDITION, digits of a number */
	uint64_t seed;
	size_t n_numbers; /* how many different first digits there are */
	int64_t dims[1];
	struct sl_data_input input;
};

static const char *const names[N_KINDS] = {[COPY] = "copy",
					   [REVERSE] = "reverse",
					   [SORT] = "sort",
					   [ADDITION] = "addition"};

static int
compare_tokens(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/* The digits of both numbers, or the symbols: 'n' of them. */
static void
draw(int64_t *digits, size_t n, const struct task *t, size_t nth)
{
	size_t number = sl__permuted(nth, t->n_numbers, t->seed);
	struct sl__rng rng;

	sl__rng_init(&rng, sl__mixed_key(t->seed, number));
	for (size_t i = 0; i < n; i++) {
		digits[i] = i < DIGITS_MOST ? (int64_t)(number % 10)
					    : (int64_t)sl__rng_below(&rng, 10);
		number /= 10;
	}
}

/* a[n] + b[n], whose ones stand last, into sum[n + 1], whose ones are first. */
static void
add(int64_t *sum, const int64_t *a, const int64_t *b, size_t n)
{
	int64_t carry = 0;

	for (size_t i = 0; i < n; i++) {
		int64_t digit = a[n - 1 - i] + b[n - 1 - i] + carry;

		sum[i] = digit % 10;
		carry = digit / 10;
	}
	sum[n] = carry;
}

static enum sl_status
fill(void *ctx, enum sl_split split, size_t index, void *const *inputs,
     int64_t *labels, struct sl_error *err)
{
	const struct task *t = ctx;
	size_t n = t->n, length = (size_t)t->dims[0];
	size_t n_given = t->kind == ADDITION ? 2 * n + 1 : n;
	int64_t *tokens = inputs[0], *answer = labels + n_given;

	(void)err;
	if (split == SL_SPLIT_TEST)
		index = t->n_numbers - 1 - index;
	if (t->kind == ADDITION) {
		draw(tokens, 2 * n, t, index);
		memmove(tokens + n + 1, tokens + n, n * sizeof(*tokens));
		tokens[n] = PLUS;
		add(answer, tokens, tokens + n + 1, n);
	} else {
		draw(tokens, n, t, index);
		for (size_t i = 0; i < n; i++)
			answer[i] = tokens[t->kind == REVERSE ? n - 1 - i : i];
	}
	if (t->kind == SORT)
		qsort(answer, n, sizeof(*answer), compare_tokens);
	for (size_t i = 0; i < n_given; i++)
		labels[i] = SL_LABEL_IGNORED;
	tokens[n_given] = EQUALS;
	memcpy(tokens + n_given + 1, answer,
	       (length - n_given - 1) * sizeof(*tokens));
	return SL_OK;
}

/* The length after the colon; 0: that is none. */
static size_t
read_length(const char *text)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);

	return *text >= '0' && *text <= '9' && !*end && n <= LENGTH_MOST ? n
									 : 0;
}

static enum sl_status
open_task(struct sl_dataset *data, const char *name, struct task *t,
	  struct sl_error *err)
{
	size_t per_symbol = t->kind == ADDITION ? 2 : 1;
	size_t n_digits = t->n * per_symbol;

	if (n_digits < DIGITS_LEAST)
		return sl__fail(err, SL_E_USAGE,
				"'%.100s': write %s:N with a length of %zu to "
				"%d",
				name, names[t->kind], DIGITS_LEAST / per_symbol,
				LENGTH_MOST);
	t->n_numbers = 1;
	for (size_t i = 0; i < n_digits && i < DIGITS_MOST; i++)
		t->n_numbers *= 10;
	t->dims[0] = (int64_t)(t->kind == ADDITION ? 3 * t->n + 2 : 2 * t->n);
	t->input = (struct sl_data_input){
		.name = "", .dtype = SL_DTYPE_I64, .rank = 1, .dims = t->dims};
	data->origin = (struct sl_data_source){
		.struct_size = sizeof(data->origin),
		.name = sl__arena_string(data->arena, name),
		.inputs = &t->input,
		.n_inputs = 1,
		.n_labels = (size_t)t->dims[0],
		.n_classes = N_TOKENS,
		.n_samples = {[SL_SPLIT_TRAIN] = t->n_numbers - N_TEST < N_TRAIN
							 ? t->n_numbers - N_TEST
							 : N_TRAIN,
			      [SL_SPLIT_TEST] = N_TEST},
		.fill = fill,
		.ctx = t};
	return data->origin.name ? SL_OK : sl__fail_nomem(err);
}

enum sl_status
sl__sequence_task_open(struct sl_dataset *data, const char *name, uint64_t seed,
		       int *is_one, struct sl_error *err)
{
	size_t n_letters = strcspn(name, ":");
	struct task *t;

	*is_one = 0;
	for (unsigned kind = 0; kind < N_KINDS; kind++) {
		if (strlen(names[kind]) != n_letters ||
		    strncmp(names[kind], name, n_letters) != 0)
			continue;
		*is_one = 1;
		t = sl__arena_alloc(data->arena, sizeof(*t));
		if (!t)
			return sl__fail_nomem(err);
		t->kind = (enum kind)kind;
		t->seed = seed;
		t->n = name[n_letters] ? read_length(name + n_letters + 1) : 8;
		return open_task(data, name, t, err);
	}
	return SL_OK;
}
