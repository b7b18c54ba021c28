/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arena.c - storage with one lifetime.
 *
 * A list of chunks, each twice the size of the last; a request that does not
 * fit opens a new chunk.  The unused tail of a chunk is poisoned under
 * AddressSanitizer, so that running past a block is found although blocks
 * lie side by side.
 */
#include "base/arena.h"
#include "base/poison.h"
#include "base/status.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One page first, in which most results fit.  With 0 for both every request is
 * a chunk of its own, so that tests can fail each. */
#ifndef SL_ARENA_FIRST_BYTES
#define SL_ARENA_FIRST_BYTES 4096
#define SL_ARENA_STEP_BYTES  (1 << 20)
#endif

enum {
	ALIGNMENT = 16,
	RED_ZONE = SL__RED_ZONE(ALIGNMENT),
	FIRST_CHUNK_BYTES = SL_ARENA_FIRST_BYTES,
	LARGEST_STEP_BYTES = SL_ARENA_STEP_BYTES
};

struct sl__chunk {
	struct sl__chunk *next;
	size_t cap_bytes, used_bytes;
	_Alignas(ALIGNMENT) unsigned char data[];
};

struct box {
	struct sl__arena arena;
	_Alignas(ALIGNMENT) unsigned char object[];
};

void *
sl__allocator_alloc(const struct sl_allocator *allocator, size_t n_bytes)
{
	if (allocator && allocator->alloc)
		return allocator->alloc(n_bytes, allocator->ctx);
	return malloc(n_bytes);
}

void
sl__allocator_free(const struct sl_allocator *allocator, void *block)
{
	if (!block)
		return;
	if (allocator && allocator->alloc)
		allocator->release(block, allocator->ctx);
	else
		free(block);
}

void
sl__arena_init(struct sl__arena *arena, const struct sl_allocator *allocator)
{
	static const struct sl_allocator libc;

	arena->allocator = allocator ? *allocator : libc;
	arena->chunks = NULL;
}

static void
drop_chunk(struct sl__arena *arena)
{
	struct sl__chunk *chunk = arena->chunks;

	arena->chunks = chunk->next;
	SL__UNPOISON(chunk->data, chunk->cap_bytes);
	sl__allocator_free(&arena->allocator, chunk);
}

void
sl__arena_release(struct sl__arena *arena)
{
	while (arena->chunks)
		drop_chunk(arena);
}

static struct sl__chunk *
open_chunk(struct sl__arena *arena, size_t n_bytes)
{
	size_t cap = FIRST_CHUNK_BYTES;
	struct sl__chunk *chunk;

	if (arena->chunks) {
		cap = 2 * arena->chunks->cap_bytes;
		if (cap > LARGEST_STEP_BYTES)
			cap = LARGEST_STEP_BYTES;
	}
	if (cap < n_bytes)
		cap = n_bytes;
	if (cap > SIZE_MAX - sizeof(*chunk))
		return NULL;
	chunk = sl__allocator_alloc(&arena->allocator, sizeof(*chunk) + cap);
	if (!chunk)
		return NULL;
	chunk->next = arena->chunks;
	chunk->cap_bytes = cap;
	chunk->used_bytes = 0;
	arena->chunks = chunk;
	SL__POISON(chunk->data, cap);
	return chunk;
}

void
sl__arena_clear(struct sl__arena *arena)
{
	size_t total = 0;

	for (struct sl__chunk *c = arena->chunks; c; c = c->next)
		total += c->cap_bytes;
	if (arena->chunks && arena->chunks->next) {
		sl__arena_release(arena);
		open_chunk(arena, total); /* where it fails: later */
	} else if (arena->chunks) {
		arena->chunks->used_bytes = 0;
		SL__POISON(arena->chunks->data, arena->chunks->cap_bytes);
	}
}

uint64_t
sl__arena_bytes(const struct sl__arena *arena)
{
	uint64_t sum = 0;

	for (const struct sl__chunk *c = arena->chunks; c; c = c->next)
		sum += sizeof(*c) + c->cap_bytes;
	return sum;
}

uint64_t
sl__arena_unused_bytes(const struct sl__arena *arena)
{
	uint64_t sum = 0;

	for (const struct sl__chunk *c = arena->chunks; c; c = c->next)
		sum += c->cap_bytes - c->used_bytes;
	return sum;
}

int
sl__arena_holds(const struct sl__arena *arena, const void *at)
{
	const struct sl__chunk *c = arena->chunks;

	while (c && ((uintptr_t)at < (uintptr_t)c->data ||
		     (uintptr_t)at >= (uintptr_t)c->data + c->cap_bytes))
		c = c->next;
	return c != NULL;
}

struct sl__arena_mark
sl__arena_mark(const struct sl__arena *arena)
{
	struct sl__arena_mark mark = {arena->chunks, 0};

	if (arena->chunks)
		mark.used_bytes = arena->chunks->used_bytes;
	return mark;
}

void
sl__arena_rewind(struct sl__arena *arena, struct sl__arena_mark mark)
{
	while (arena->chunks != mark.chunk)
		drop_chunk(arena);
	if (!mark.chunk)
		return;
	mark.chunk->used_bytes = mark.used_bytes;
	SL__POISON(mark.chunk->data + mark.used_bytes,
		   mark.chunk->cap_bytes - mark.used_bytes);
}

void *
sl__arena_alloc(struct sl__arena *arena, size_t n_bytes)
{
	struct sl__chunk *chunk = arena->chunks;
	size_t need;
	void *block;

	if (n_bytes > SIZE_MAX / 2)
		return NULL;
	need = (n_bytes + RED_ZONE + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
	if (need == 0)
		need = ALIGNMENT;
	if (!chunk || chunk->cap_bytes - chunk->used_bytes < need)
		chunk = open_chunk(arena, need);
	if (!chunk)
		return NULL;
	block = chunk->data + chunk->used_bytes;
	chunk->used_bytes += need;
	SL__UNPOISON(block, n_bytes);
	memset(block, 0, n_bytes);
	return block;
}

void *
sl__arena_array(struct sl__arena *arena, size_t n, size_t n_bytes)
{
	if (n_bytes && n > SIZE_MAX / n_bytes)
		return NULL;
	return sl__arena_alloc(arena, n * n_bytes);
}

void *
sl__arena_realloc_array(struct sl__arena *arena, const void *old, size_t n,
			size_t cap, size_t n_bytes)
{
	void *block = sl__arena_array(arena, cap, n_bytes);

	if (block && n)
		memcpy(block, old, n * n_bytes);
	return block;
}

/* Doubling keeps the waste below half. */
int
sl__arena_grow(struct sl__arena *arena, void *array, size_t n, size_t *cap,
	       size_t n_bytes)
{
	size_t more = *cap ? 2 * *cap : 16;
	void *old, *new;

	if (n < *cap)
		return 1;
	memcpy(&old, array, sizeof(old));
	new = sl__arena_realloc_array(arena, old, n, more, n_bytes);
	if (!new)
		return 0;
	memcpy(array, &new, sizeof(new));
	*cap = more;
	return 1;
}

char *
sl__arena_string(struct sl__arena *arena, const char *text)
{
	size_t n_bytes;
	char *copy;

	if (!text)
		return NULL;
	n_bytes = strlen(text) + 1;
	copy = sl__arena_alloc(arena, n_bytes);
	if (copy)
		memcpy(copy, text, n_bytes);
	return copy;
}

char *
sl__arena_format(struct sl__arena *arena, const char *format, ...)
{
	va_list args;
	char *text;
	int n;

	va_start(args, format);
	n = vsnprintf(NULL, 0, format, args);
	va_end(args);
	if (n < 0)
		return NULL;
	text = sl__arena_alloc(arena, (size_t)n + 1);
	if (!text)
		return NULL;
	va_start(args, format);
	vsnprintf(text, (size_t)n + 1, format, args);
	va_end(args);
	return text;
}

void *
sl__arena_object_new(struct sl__arena **arena,
		     const struct sl_allocator *allocator, size_t n_bytes)
{
	struct sl__arena outer;
	struct box *box;

	sl__arena_init(&outer, allocator);
	box = sl__arena_alloc(&outer, sizeof(*box) + n_bytes);
	if (!box)
		return NULL;
	box->arena = outer;
	*arena = &box->arena;
	return box->object;
}

void
sl__arena_object_free(void *object)
{
	struct sl__arena outer;
	struct box *box;

	if (!object)
		return;
	box = (struct box *)(void *)((char *)object -
				     offsetof(struct box, object));
	outer = box->arena; /* the box itself lies in one of the chunks */
	sl__arena_release(&outer);
}

void *
sl__arena_object_free_on_error(void *object, enum sl_status status)
{
	if (!status)
		return object;
	sl__arena_object_free(object);
	return NULL;
}

enum sl_status
sl__arena_copy_text(struct sl__arena *arena, const char **out, const char *text,
		    struct sl_error *err)
{
	*out = sl__arena_string(arena, text);
	return *out ? SL_OK : sl__fail_nomem(err);
}
