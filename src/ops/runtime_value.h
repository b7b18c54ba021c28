/* SPDX-License-Identifier: Apache-2.0 */
/* runtime_value.h - a value at run time: a tensor, sequence or optional. */
#ifndef SL_RUNTIME_VALUE_H
#define SL_RUNTIME_VALUE_H

#include "graph/graph.h"

/*
 * Invariants: kind says which fields count.
 *
 *	UNKNOWN   nothing yet
 *	TENSOR    'tensor', with bytes or strings unless it has no elements;
 *	          'bytes' is where they may be written, NULL where they are
 *	          somebody else's
 *	SEQUENCE  items[0 .. n_items - 1], all of one kind; 'dtype' is that of
 *	          the tensors in them
 *	OPTIONAL  no item or one, a tensor or a sequence; likewise
 *
 * 'block' is storage that belongs to the value; NULL where it borrows.  A
 * value is moved by assignment and emptied by sl__runtime_value_clear().
 */
struct sl__runtime_value {
	enum sl__type_kind kind;
	struct sl__tensor tensor;
	unsigned char *bytes;
	enum sl_dtype dtype;
	struct sl__runtime_value *items;
	size_t n_items;
	void *block;
};

enum { SL__RUNTIME_VALUE_ALIGNMENT = 64 };

/* A tensor of these sizes with storage of its own, not yet written; strings
 * are NULL pointers in tensor.strings.  Emptied first. */
enum sl_status sl__runtime_value_alloc_tensor(
	struct sl__runtime_value *content, enum sl_dtype dtype, size_t rank,
	const int64_t *dims, const struct sl_allocator *allocator,
	struct sl_error *err) SL_CHECKED;

/*
 * A tensor of strings: copies of 'strings', as many as the sizes say.
 * Emptied first; the strings may be its own.
 */
enum sl_status
sl__runtime_value_copy_strings(struct sl__runtime_value *content, size_t rank,
			       const int64_t *dims, const char *const *strings,
			       const struct sl_allocator *allocator,
			       struct sl_error *err) SL_CHECKED;

/* A sequence of n items, all UNKNOWN; or an optional of n_items 0 or 1. */
enum sl_status sl__runtime_value_alloc_list(
	struct sl__runtime_value *content, enum sl__type_kind kind,
	enum sl_dtype dtype, size_t n_items,
	const struct sl_allocator *allocator, struct sl_error *err) SL_CHECKED;

/* Room for one more item, UNKNOWN, at a place of a list that owns its items;
 * what lists take grows by powers of two. */
enum sl_status sl__runtime_value_insert(struct sl__runtime_value *list,
					size_t at,
					const struct sl_allocator *allocator,
					struct sl_error *err) SL_CHECKED;

/* The tensor, where it is: it must outlive the value. */
void sl__runtime_value_borrow(struct sl__runtime_value *content,
			      const struct sl__tensor *tensor);

/* Like sl__runtime_value_borrow(), but for numbers that are made when read,
 * which are made and kept.  SL_E_DATA where they cannot be had. */
enum sl_status sl__runtime_value_load(struct sl__runtime_value *content,
				      const struct sl__tensor *tensor,
				      const struct sl_allocator *allocator,
				      struct sl_error *err) SL_CHECKED;

/* A copy with storage of its own; 'to' is emptied first. */
enum sl_status sl__runtime_value_copy(struct sl__runtime_value *to,
				      const struct sl__runtime_value *from,
				      const struct sl_allocator *allocator,
				      struct sl_error *err) SL_CHECKED;

void sl__runtime_value_clear(struct sl__runtime_value *content,
			     const struct sl_allocator *allocator);

#endif
