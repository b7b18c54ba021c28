/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runtime_value.c - what a value holds while a model runs.
 *
 * A tensor's sizes and elements are one block: the sizes first, the elements
 * from the next cache line on.
 */
#include "ops/runtime_value.h"
#include "base/status.h"

#include <string.h>

#include "base/banned.h"

static size_t
aligned(size_t n_bytes)
{
	return (n_bytes + SL__RUNTIME_VALUE_ALIGNMENT - 1) &
	       ~(size_t)(SL__RUNTIME_VALUE_ALIGNMENT - 1);
}

static enum sl_status
new_block(struct sl__runtime_value *content, size_t rank, const int64_t *dims,
	  uint64_t n_bytes, const struct sl_allocator *allocator,
	  struct sl_error *err)
{
	size_t head =
		aligned(rank * sizeof(*dims)) + SL__RUNTIME_VALUE_ALIGNMENT;
	unsigned char *block, *start;

	if (n_bytes > SIZE_MAX / 2)
		return sl__fail_nomem(err);
	block = sl__allocator_alloc(allocator, head + aligned((size_t)n_bytes));
	if (!block)
		return sl__fail_nomem(err);
	start = block + (SL__RUNTIME_VALUE_ALIGNMENT -
			 (uintptr_t)block % SL__RUNTIME_VALUE_ALIGNMENT);
	if (rank)
		memcpy(start, dims, rank * sizeof(*dims));
	content->block = block;
	content->tensor.dims = (const int64_t *)(const void *)start;
	content->bytes = start + aligned(rank * sizeof(*dims));
	return SL_OK;
}

enum sl_status
sl__runtime_value_alloc_tensor(struct sl__runtime_value *content,
			       enum sl_dtype dtype, size_t rank,
			       const int64_t *dims,
			       const struct sl_allocator *allocator,
			       struct sl_error *err)
{
	struct sl__runtime_value made = {.kind = SL__TYPE_TENSOR};
	uint64_t n_bytes;
	enum sl_status rc;

	made.tensor.dtype = dtype;
	made.tensor.rank = rank;
	made.tensor.dims = dims;
	if (!sl__tensor_compute_size(&made.tensor))
		return sl__fail(err, SL_E_DATA,
				"a tensor has more than 2^63 bytes");
	n_bytes = made.tensor.n_bytes;
	if (dtype == SL_DTYPE_STRING) {
		if (made.tensor.n_elements > SIZE_MAX / 2 / sizeof(char *))
			return sl__fail_nomem(err);
		n_bytes = made.tensor.n_elements * sizeof(char *);
	}
	rc = new_block(&made, rank, dims, n_bytes, allocator, err);
	if (rc)
		return rc;
	if (dtype == SL_DTYPE_STRING) {
		memset(made.bytes, 0, (size_t)n_bytes);
		made.tensor.strings =
			(const char *const *)(const void *)made.bytes;
	} else {
		made.tensor.bytes = made.bytes;
	}
	sl__runtime_value_clear(content, allocator);
	*content = made;
	return SL_OK;
}

enum sl_status
sl__runtime_value_copy_strings(struct sl__runtime_value *content, size_t rank,
			       const int64_t *dims, const char *const *strings,
			       const struct sl_allocator *allocator,
			       struct sl_error *err)
{
	struct sl__runtime_value made = {.kind = SL__TYPE_TENSOR};
	uint64_t n_bytes;
	const char **list;
	char *text;
	enum sl_status rc;

	made.tensor.dtype = SL_DTYPE_STRING;
	made.tensor.rank = rank;
	made.tensor.dims = dims;
	if (!sl__tensor_compute_size(&made.tensor))
		return sl__fail_nomem(err);
	n_bytes = made.tensor.n_elements * sizeof(*list);
	for (uint64_t i = 0; i < made.tensor.n_elements; i++)
		n_bytes += strlen(strings[i]) + 1;
	rc = new_block(&made, rank, dims, n_bytes, allocator, err);
	if (rc)
		return rc;
	list = (const char **)(void *)made.bytes;
	text = (char *)(void *)(list + made.tensor.n_elements);
	for (uint64_t i = 0; i < made.tensor.n_elements; i++) {
		size_t n = strlen(strings[i]) + 1;

		memcpy(text, strings[i], n);
		list[i] = text;
		text += n;
	}
	made.tensor.strings = list;
	sl__runtime_value_clear(content, allocator);
	*content = made;
	return SL_OK;
}

enum sl_status
sl__runtime_value_alloc_list(struct sl__runtime_value *content,
			     enum sl__type_kind kind, enum sl_dtype dtype,
			     size_t n_items,
			     const struct sl_allocator *allocator,
			     struct sl_error *err)
{
	struct sl__runtime_value made = {.kind = kind, .dtype = dtype};

	size_t cap = 1;

	while (cap < n_items && cap <= SIZE_MAX / sizeof(*made.items) / 4)
		cap *= 2;
	if (n_items > cap)
		return sl__fail_nomem(err);
	if (n_items) {
		made.block = sl__allocator_alloc(allocator,
						 cap * sizeof(*made.items));
		if (!made.block)
			return sl__fail_nomem(err);
		memset(made.block, 0, cap * sizeof(*made.items));
		made.items = made.block;
		made.n_items = n_items;
	}
	sl__runtime_value_clear(content, allocator);
	*content = made;
	return SL_OK;
}

enum sl_status
sl__runtime_value_insert(struct sl__runtime_value *list, size_t at,
			 const struct sl_allocator *allocator,
			 struct sl_error *err)
{
	size_t n = list->n_items;
	struct sl__runtime_value grown = {0};
	enum sl_status rc;

	if ((n & (n - 1)) == 0) {
		rc = sl__runtime_value_alloc_list(
			&grown, list->kind, list->dtype, n + 1, allocator, err);
		if (rc)
			return rc;
		if (n)
			memcpy(grown.items, list->items,
			       n * sizeof(*list->items));
		sl__allocator_free(allocator, list->block);
		*list = grown;
	}
	memmove(list->items + at + 1, list->items + at,
		(n - at) * sizeof(*list->items));
	memset(list->items + at, 0, sizeof(*list->items));
	list->n_items = n + 1;
	return SL_OK;
}

void
sl__runtime_value_borrow(struct sl__runtime_value *content,
			 const struct sl__tensor *tensor)
{
	memset(content, 0, sizeof(*content));
	content->kind = SL__TYPE_TENSOR;
	content->tensor = *tensor;
}

enum sl_status
sl__runtime_value_load(struct sl__runtime_value *content,
		       const struct sl__tensor *tensor,
		       const struct sl_allocator *allocator,
		       struct sl_error *err)
{
	enum sl_status rc;

	if (tensor->absent)
		return sl__fail(err, SL_E_DATA, "its numbers are absent: %s",
				tensor->absent);
	if (tensor->is_sparse)
		return sl__fail(err, SL_E_ABSENT,
				"sparse tensors cannot be computed with");
	if (!tensor->generator || tensor->n_elements == 0) {
		sl__runtime_value_borrow(content, tensor);
		return SL_OK;
	}
	rc = sl__runtime_value_alloc_tensor(content, tensor->dtype,
					    tensor->rank, tensor->dims,
					    allocator, err);
	if (!rc)
		sl__tensor_byte_range(tensor, 0, (size_t)tensor->n_bytes,
				      content->bytes);
	return rc;
}

static enum sl_status
copy_list(struct sl__runtime_value *to, const struct sl__runtime_value *from,
	  const struct sl_allocator *allocator, struct sl_error *err)
{
	enum sl_status rc;

	rc = sl__runtime_value_alloc_list(to, from->kind, from->dtype,
					  from->n_items, allocator, err);
	for (size_t i = 0; !rc && i < from->n_items; i++)
		rc = sl__runtime_value_copy(&to->items[i], &from->items[i],
					    allocator, err);
	return rc;
}

enum sl_status
sl__runtime_value_copy(struct sl__runtime_value *to,
		       const struct sl__runtime_value *from,
		       const struct sl_allocator *allocator,
		       struct sl_error *err)
{
	const struct sl__tensor *t = &from->tensor;
	enum sl_status rc;

	if (from->kind != SL__TYPE_TENSOR)
		return copy_list(to, from, allocator, err);
	if (t->dtype == SL_DTYPE_STRING)
		return sl__runtime_value_copy_strings(
			to, t->rank, t->dims, t->strings, allocator, err);
	rc = sl__runtime_value_alloc_tensor(to, t->dtype, t->rank, t->dims,
					    allocator, err);
	if (!rc && t->n_bytes)
		memcpy(to->bytes, t->bytes, (size_t)t->n_bytes);
	return rc;
}

void
sl__runtime_value_clear(struct sl__runtime_value *content,
			const struct sl_allocator *allocator)
{
	for (size_t i = 0; i < content->n_items; i++)
		sl__runtime_value_clear(&content->items[i], allocator);
	sl__allocator_free(allocator, content->block);
	memset(content, 0, sizeof(*content));
}
