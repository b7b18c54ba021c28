/* SPDX-License-Identifier: Apache-2.0 */
/* body.h - blocks inside blocks: what control flow runs. */
#ifndef SL_BODY_H
#define SL_BODY_H

#include "graph/infer.h"

/* Of block_calls: known, but more than 64 bits can count. */
#define SL__CALLS_OVERFLOW (UINT64_MAX - 1)

/* The rank of a sequence's element as long as the sequence is empty: it gives
 * way to that of the first one. */
#define SL__RANK_EMPTY (-2)

/* The block of a node's attribute; SL__NONE where it has none. */
uint32_t sl__node_body_by_name(const struct sl__node *node, const char *name);

/*
 * Forgets what was inferred of a block's nodes and of the blocks inside it,
 * so that it can be inferred again.  The types and contents of its inputs
 * are the caller's to set.
 */
void sl__body_clear_inferred(struct sl__shapes *shapes, uint32_t block);

/*
 * A body is inferred as if it ran once (it has to be said so before, with
 * block_calls 1); then this multiplies its calls and those of the blocks
 * inside it.
 */
void sl__body_multiply_calls(struct sl__shapes *shapes, uint32_t block,
			     uint64_t n_calls);

/*
 * The type of a value that comes from either of two places: what they share.
 * Sizes that differ become "?", ranks that differ -1, kinds that differ
 * UNKNOWN, but for an optional, which its element is too.
 */
enum sl_status sl__type_merge(struct sl__shapes *shapes, struct sl__type *out,
			      const struct sl__type *a,
			      const struct sl__type *b,
			      struct sl_error *err) SL_CHECKED;

/*
 * Values that a body hands to its next run: inputs first_in .. first_in + n
 * - 1 of the block, renewed by outputs first_out .. of it.
 */
struct sl__loop_carried_values {
	uint32_t block;
	size_t first_in, first_out, n;
	struct sl__type *types; /* before the first run; afterwards in
					   every run */
	const struct sl__known_contents *
		*known; /* contents before the first run */
	int runs_once;  /* then contents stay known */
};

/*
 * Infers the block until what its runs hand on no longer changes, making
 * sizes that do "?".  The block's other inputs have been set.
 */
enum sl_status sl__body_infer(struct sl__shapes *shapes,
			      struct sl__loop_carried_values *carried,
			      struct sl_error *err) SL_CHECKED;

/* Whether the body hands carried value i on as it is. */
int sl__body_carries_unchanged(const struct sl__shapes *shapes,
			       const struct sl__loop_carried_values *carried,
			       size_t i);

/* Where a body's output k is, and what it is. */
uint32_t sl__body_output_value(const struct sl__shapes *shapes, uint32_t block,
			       size_t k);

#endif
