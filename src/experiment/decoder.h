/* SPDX-License-Identifier: Apache-2.0 */
/* decoder.h - a model that makes tokens: what its inputs are, and filling
 * them for one step after another. */
#ifndef SL_DECODER_H
#define SL_DECODER_H

#include "engine/plan.h"

enum sl__decoder_input_role {
	SL__DECODER_INPUT_TOKENS = 0,
	SL__DECODER_INPUT_POSITIONS, /* count from 0 over the whole text */
	SL__DECODER_INPUT_MASK,      /* all ones */
	SL__DECODER_INPUT_TYPES,     /* of tokens: all zero */
	SL__DECODER_INPUT_STATE      /* comes back from the step before */
};

enum { SL__DECODER_RANK_MOST = 8 };

struct sl__decoder_input {
	uint32_t value;
	enum sl__decoder_input_role role;
	int grows;     /* dimension in which a state grows; -1 */
	size_t output; /* that renews a state */
	struct sl__runtime_value kept; /* what it was, in the last step kept */
};

/*
 * Invariants: every input of the model has a role; has_cache where a state
 * grows.  The graph outlives it.  Used by one thread.
 */
struct sl__decoder {
	const struct sl_graph *graph;
	struct sl_allocator allocator; /* all zero: libc */
	struct sl__decoder_input *inputs;
	size_t n_inputs;
	struct sl_input_shape *shapes; /* [n_inputs] of the last sizes */
	int64_t (*dims)[SL__DECODER_RANK_MOST];
	size_t tokens;        /* the input that takes them */
	int64_t seq_symbol;   /* of their length; 0: fixed at 1 */
	int64_t batch_symbol; /* 0: fixed */
	int64_t batch;
	int64_t vocabulary; /* rows that a token may choose; 0: not found */
	uint64_t seed;
	int has_cache;
	int64_t kept_context; /* tokens in the states that are kept; 0: none */
};

/*
 * Finds out what the inputs are.  'batch' 0: 1, or what the model fixes.
 * SL_E_USAGE where no input takes tokens or their number is fixed, SL_E_DATA
 * for an input or a dimension that is not understood.  Storage is from
 * 'arena'; a decoder that failed to open is closed too.
 */
enum sl_status sl__decoder_open(struct sl__decoder *out,
				const struct sl_graph *graph, int64_t batch,
				uint64_t seed, struct sl__arena *arena,
				struct sl_error *err) SL_CHECKED;
void sl__decoder_close(struct sl__decoder *decoder);

/* Whether the tokens of a prompt can go in together. */
int sl__decoder_takes_whole_prompt(const struct sl__decoder *decoder);

/* Sizes for n_new tokens after n_past that the states hold; valid until the
 * next call. */
enum sl_status sl__decoder_sizes(struct sl__decoder *decoder, int64_t n_past,
				 int64_t n_new, struct sl_sizes *out,
				 struct sl_error *err) SL_CHECKED;

/*
 * Sets all inputs of a plan of these sizes.  The token at a place in the text
 * follows from the seed and the place.  States are those that were kept where
 * they hold n_past tokens, else made up: normal numbers.
 */
enum sl_status sl__decoder_set_inputs(struct sl__decoder *decoder,
				      struct sl_plan *plan, int64_t n_past,
				      struct sl_error *err) SL_CHECKED;

/* Keeps the states that the last run handed back, of so many tokens. */
enum sl_status sl__decoder_keep_state(struct sl__decoder *decoder,
				      struct sl_plan *plan, int64_t context,
				      struct sl_error *err) SL_CHECKED;

/* Bytes of the growing states that hold so many tokens, whole batch. */
double sl__decoder_state_bytes(const struct sl__decoder *decoder,
			       int64_t n_past);

#endif
