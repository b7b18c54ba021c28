/* SPDX-License-Identifier: Apache-2.0 */
/* arena.h - storage with one lifetime. */
#ifndef SL_ARENA_H
#define SL_ARENA_H

#include "sleuth/basics.h"

/*
 * Invariants: everything handed out lives until sl__arena_release().  Blocks
 * are zeroed and aligned to 16 bytes.  One thread at a time.
 */
struct sl__arena {
	struct sl_allocator allocator; /* a copy; all zero: libc */
	struct sl__chunk *chunks;      /* newest first */
};

/* Plain storage from 'allocator' (NULL or all zero: libc), or NULL. */
void *sl__allocator_alloc(const struct sl_allocator *allocator, size_t n_bytes);
void sl__allocator_free(const struct sl_allocator *allocator, void *block);

void sl__arena_init(struct sl__arena *arena,
		    const struct sl_allocator *allocator);
void sl__arena_release(struct sl__arena *arena);

/*
 * Takes everything back but keeps the storage, as one block, so that a second
 * use of the same size asks the allocator for nothing.
 */
void sl__arena_clear(struct sl__arena *arena);

/* A place to go back to: rewinding takes back what was handed out since. */
struct sl__arena_mark {
	struct sl__chunk *chunk;
	size_t used_bytes;
};
struct sl__arena_mark sl__arena_mark(const struct sl__arena *arena);
void sl__arena_rewind(struct sl__arena *arena, struct sl__arena_mark mark);

/* What it has from the allocator; and of that, what was not handed out yet and
 * so never touched. */
uint64_t sl__arena_bytes(const struct sl__arena *arena);
uint64_t sl__arena_unused_bytes(const struct sl__arena *arena);

/* Whether the address lies in what it has from the allocator. */
int sl__arena_holds(const struct sl__arena *arena, const void *at);

/* NULL when out of memory; n_bytes 0 gives a valid pointer. */
void *sl__arena_alloc(struct sl__arena *arena, size_t n_bytes);

/* Like sl__arena_alloc(n * n_bytes), but NULL when the product overflows. */
void *sl__arena_array(struct sl__arena *arena, size_t n, size_t n_bytes);

/* Likewise, and begins with the n elements of 'old'; what these took stays
 * taken. */
void *sl__arena_realloc_array(struct sl__arena *arena, const void *old,
			      size_t n, size_t cap, size_t n_bytes);

/*
 * Makes room for one more element of a list of n, which is copied when it must
 * grow; 'array' is the address of the pointer to it.  0: out of memory, and
 * the list is as it was.
 */
int sl__arena_grow(struct sl__arena *arena, void *array, size_t n, size_t *cap,
		   size_t n_bytes);

/* A copy of 'text', which may be NULL (gives NULL). */
char *sl__arena_string(struct sl__arena *arena, const char *text);

/* NULL when out of memory. */
char *sl__arena_format(struct sl__arena *arena, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * A zeroed object that carries the arena its parts come from: *arena serves
 * allocations until sl__arena_object_free(object) frees both.
 */
void *sl__arena_object_new(struct sl__arena **arena,
			   const struct sl_allocator *allocator,
			   size_t n_bytes);
void sl__arena_object_free(void *object); /* NULL is fine */

/* The object of a call that ends with 'status': itself, or NULL, once it is
 * freed, where that failed. */
void *sl__arena_object_free_on_error(void *object, enum sl_status status);

/* A copy of 'text' at *out; SL_E_NOMEM where there is no room for it. */
enum sl_status sl__arena_copy_text(struct sl__arena *arena, const char **out,
				   const char *text,
				   struct sl_error *err) SL_CHECKED;

#endif
