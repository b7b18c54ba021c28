/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pages.c - large storage with one lifetime.
 *
 * Under AddressSanitizer what rounding adds to a block, and a red zone after
 * it, is poisoned.  What is counted is what there would be without.
 */
#define _DEFAULT_SOURCE /* madvise, MAP_ANONYMOUS */
#include "base/pages.h"
#include "base/arena.h"
#include "base/poison.h"
#include "base/status.h"

#include <malloc.h>
#include <string.h>
#include <sys/mman.h>

#include "base/banned.h"

enum {
	ALIGNMENT = 64,
	RED_ZONE = SL__RED_ZONE(ALIGNMENT),
	SMALL_PAGE_BYTES = 4 << 10,
	LARGE_PAGE_BYTES = 2 << 20,
	STRETCH_BYTES = 16 << 20 /* of one request to the system */
};

struct stretch {
	struct stretch *next;
	unsigned char *start; /* what the system gave */
	size_t n_bytes, used_bytes;
	size_t red_bytes, last_red_bytes; /* in used_bytes; of the last block */
};

struct sl__pages {
	struct sl_allocator allocator;
	int is_given; /* the caller's allocator is used */
	int is_empty; /* nothing will be written */
	struct stretch *stretches;
	uint64_t used_bytes;
};

enum sl_status
sl__pages_new(struct sl__pages **out, const struct sl_allocator *allocator,
	      struct sl_error *err)
{
	struct sl__pages *pages =
		sl__allocator_alloc(allocator, sizeof(*pages));

	*out = pages;
	if (!pages)
		return sl__fail_nomem(err);
	memset(pages, 0, sizeof(*pages));
	if (allocator && allocator->alloc) {
		pages->allocator = *allocator;
		pages->is_given = 1;
	}
	return SL_OK;
}

void
sl__pages_set_address_only(struct sl__pages *pages)
{
	pages->is_empty = 1;
}

static unsigned char *
take(const struct sl__pages *pages, size_t n_bytes)
{
	int flags = MAP_PRIVATE | MAP_ANONYMOUS;
	void *start;

	if (pages->is_given)
		return sl__allocator_alloc(&pages->allocator, n_bytes);
	if (pages->is_empty)
		flags |= MAP_NORESERVE;
	start = mmap(NULL, n_bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
	if (start == MAP_FAILED)
		return NULL;
	/* A wish: where it is not granted, small pages do. */
	(void)madvise(start, n_bytes, MADV_HUGEPAGE);
	return start;
}

static void
give(const struct sl__pages *pages, struct stretch *stretch)
{
	SL__UNPOISON(stretch->start, stretch->n_bytes);
	if (pages->is_given)
		sl__allocator_free(&pages->allocator, stretch->start);
	else
		(void)munmap(stretch->start, stretch->n_bytes);
	sl__allocator_free(&pages->allocator, stretch);
}

void
sl__pages_free(struct sl__pages *pages)
{
	struct sl_allocator allocator;

	if (!pages)
		return;
	allocator = pages->allocator;
	while (pages->stretches) {
		struct stretch *next = pages->stretches->next;

		give(pages, pages->stretches);
		pages->stretches = next;
	}
	sl__allocator_free(&allocator, pages);
}

/* Only the newest stretch is handed out from: what the others have left goes
 * back to the system, in whole large pages. */
static void
trim_tail(const struct sl__pages *pages, struct stretch *s)
{
	size_t kept = (s->used_bytes + LARGE_PAGE_BYTES - 1) &
		      ~(size_t)(LARGE_PAGE_BYTES - 1);

	if (!kept)
		kept = LARGE_PAGE_BYTES; /* an address of nothing is one too */
	if (pages->is_given || kept >= s->n_bytes)
		return;
	if (!munmap(s->start + kept, s->n_bytes - kept))
		s->n_bytes = kept;
}

void
sl__pages_trim(struct sl__pages *pages)
{
	if (pages->stretches)
		trim_tail(pages, pages->stretches);
}

static struct stretch *
new_stretch(struct sl__pages *pages, size_t n_bytes)
{
	struct stretch *s = sl__allocator_alloc(&pages->allocator, sizeof(*s));

	if (!s)
		return NULL;
	s->n_bytes = n_bytes + ALIGNMENT;
	if (!pages->is_given) {
		s->n_bytes = n_bytes > STRETCH_BYTES ? n_bytes : STRETCH_BYTES;
		s->n_bytes = (s->n_bytes + LARGE_PAGE_BYTES - 1) &
			     ~(size_t)(LARGE_PAGE_BYTES - 1);
	}
	s->start = take(pages, s->n_bytes);
	if (!s->start) {
		sl__allocator_free(&pages->allocator, s);
		return NULL;
	}
	s->used_bytes = (size_t)(-(uintptr_t)s->start & (ALIGNMENT - 1));
	s->red_bytes = s->last_red_bytes = 0;
	s->next = pages->stretches;
	pages->stretches = s;
	return s;
}

/* None after whole large pages: they would be one more. */
static size_t
red_zone_after(size_t need)
{
	return need % LARGE_PAGE_BYTES ? RED_ZONE : 0;
}

void *
sl__pages_alloc(struct sl__pages *pages, uint64_t n_bytes)
{
	struct stretch *s = pages->stretches;
	unsigned char *block;
	size_t need, red;

	if (n_bytes > SIZE_MAX / 4)
		return NULL;
	need = ((size_t)n_bytes + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
	red = red_zone_after(need);
	if (!s || s->n_bytes - s->used_bytes < need + red) {
		sl__pages_trim(pages);
		s = new_stretch(pages, need + red);
	}
	if (!s)
		return NULL;
	block = s->start + s->used_bytes;
	SL__POISON(block + n_bytes, need + red - (size_t)n_bytes);
	s->used_bytes += need + red;
	s->red_bytes += red;
	s->last_red_bytes = red;
	pages->used_bytes += need;
	return block;
}

void
sl__pages_free_last(struct sl__pages *pages, const void *block)
{
	struct stretch *s = pages->stretches;
	size_t before = (size_t)((uintptr_t)block - (uintptr_t)s->start);

	SL__UNPOISON(block, s->used_bytes - before);
	pages->used_bytes -= s->used_bytes - s->last_red_bytes - before;
	s->red_bytes -= s->last_red_bytes;
	s->last_red_bytes = 0;
	s->used_bytes = before;
	if (before < ALIGNMENT) {
		pages->stretches = s->next;
		give(pages, s);
	} else {
		trim_tail(pages, s);
	}
}

uint64_t
sl__pages_used(const struct sl__pages *pages)
{
	return pages->used_bytes;
}

uint64_t
sl__pages_reserved(const struct sl__pages *pages)
{
	uint64_t sum = 0;

	for (const struct stretch *s = pages->stretches; s; s = s->next)
		sum += s->n_bytes;
	return sum;
}

uint64_t
sl__pages_touched(const struct sl__pages *pages, uint64_t page_bytes)
{
	uint64_t page = page_bytes ? page_bytes : SMALL_PAGE_BYTES, sum = 0;

	for (const struct stretch *s = pages->stretches; s; s = s->next) {
		uint64_t n = (s->used_bytes - s->red_bytes + page - 1) &
			     ~(page - 1);

		sum += n < s->n_bytes ? n : s->n_bytes;
	}
	return sum;
}

void
sl__heap_trim(void)
{
#ifdef __GLIBC__
	(void)malloc_trim(0);
#endif
}
