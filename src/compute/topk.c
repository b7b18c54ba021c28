/* SPDX-License-Identifier: Apache-2.0 */
/*
 * topk.c - the k largest or smallest of a line, in order.
 *
 * Each element becomes an unsigned key that is larger the better it is: NaN is
 * above all numbers, -0 is 0.  A line is read once; a heap holds the k best
 * with the worst on top, and most elements are not better than that.  Of equal
 * ones the earlier is better.
 */
#include "compute/topk.h"
#include "compute/targets.h"

#include <string.h>

#include "base/banned.h"

static int
is_worse(const struct sl__topk_entry *a, const struct sl__topk_entry *b)
{
	return a->key < b->key || (a->key == b->key && a->at > b->at);
}

/* Puts e where the top of a heap of n was, and has it sink to its place. */
static void
sink(struct sl__topk_entry *heap, int64_t n, struct sl__topk_entry e)
{
	int64_t at = 0;

	for (;;) {
		int64_t child = 2 * at + 1;

		if (child >= n)
			break;
		if (child + 1 < n && is_worse(&heap[child + 1], &heap[child]))
			child++;
		if (!is_worse(&heap[child], &e))
			break;
		heap[at] = heap[child];
		at = child;
	}
	heap[at] = e;
}

/* Appends e to a heap of n. */
static void
rise(struct sl__topk_entry *heap, int64_t n, struct sl__topk_entry e)
{
	int64_t at = n;

	while (at > 0 && is_worse(&e, &heap[(at - 1) / 2])) {
		heap[at] = heap[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	heap[at] = e;
}

static inline uint64_t
key_of_f32(const unsigned char *from)
{
	uint32_t bits;
	float x;

	memcpy(&x, from, sizeof(x));
	if (x != x)
		return UINT32_MAX;
	x += 0.0f; /* one zero */
	memcpy(&bits, &x, sizeof(bits));
	return bits >> 31 ? ~bits : bits | 0x80000000u;
}

static inline uint64_t
key_of_f64(const unsigned char *from)
{
	uint64_t bits;
	double x;

	memcpy(&x, from, sizeof(x));
	if (x != x)
		return UINT64_MAX;
	x += 0.0;
	memcpy(&bits, &x, sizeof(bits));
	return bits >> 63 ? ~bits : bits | UINT64_C(1) << 63;
}

static inline uint64_t
key_of_i64(const unsigned char *from)
{
	uint64_t bits;

	memcpy(&bits, from, sizeof(bits));
	return bits ^ UINT64_C(1) << 63;
}

static inline uint64_t
key_of_i32(const unsigned char *from)
{
	int32_t x;

	memcpy(&x, from, sizeof(x));
	return (uint64_t)((int64_t)x + INT32_MAX + 1);
}

static inline uint64_t
key_of_u8(const unsigned char *from)
{
	return *from;
}

/* The k best of a line, as a heap. */
#define SCAN(type)                                                     \
	static void scan_##type(const struct sl__topk *t,              \
				const unsigned char *line,             \
				struct sl__topk_entry *heap)           \
	{                                                              \
		size_t step = (size_t)t->inner * t->n_bytes;           \
                                                                       \
		for (int64_t i = 0; i < t->size; i++, line += step) {  \
			uint64_t key = key_of_##type(line) ^ t->flip;  \
                                                                       \
			if (i < t->k)                                  \
				rise(heap, i,                          \
				     (struct sl__topk_entry){key, i}); \
			else if (key > heap->key)                      \
				sink(heap, t->k,                       \
				     (struct sl__topk_entry){key, i}); \
		}                                                      \
	}
SCAN(f32)
SCAN(f64)
SCAN(i64)
SCAN(i32)
SCAN(u8)

enum { BLOCK = 32 };

/* Goes to the first block in which something may be better than 'top'; NaN may
 * always be. */
SL__INLINE void
skip_body(const float *x, int64_t n, float top, int is_largest, int64_t *at)
{
	int64_t i = *at;

	for (; i + BLOCK <= n; i += BLOCK) {
		int any = 0;

		for (int j = 0; is_largest && j < BLOCK; j++)
			any |= !(x[i + j] <= top);
		for (int j = 0; !is_largest && j < BLOCK; j++)
			any |= !(x[i + j] >= top);
		if (any)
			break;
	}
	*at = i;
}
SL__VECTOR_TARGETS(skip, skip_body,
		   (const float *x, int64_t n, float top, int is_largest,
		    int64_t *at),
		   (x, n, top, is_largest, at))

/* Like scan_f32(), of elements that are neighbours. */
static void
scan_f32_blocks(const struct sl__topk *t, const unsigned char *line,
		struct sl__topk_entry *heap)
{
	void (*skip)(const float *, int64_t, float, int, int64_t *) =
		skip_for();
	const float *x = (const float *)line;
	int64_t i = 0;

	for (; i < t->k; i++)
		rise(heap, i,
		     (struct sl__topk_entry){key_of_f32(line + 4 * i) ^ t->flip,
					     i});
	while (i < t->size) {
		int64_t end;

		skip(x, t->size, x[heap->at], !t->flip, &i);
		end = t->size - i < BLOCK ? t->size : i + BLOCK;
		for (; i < end; i++) {
			uint64_t key = key_of_f32(line + 4 * i) ^ t->flip;

			if (key > heap->key)
				sink(heap, t->k,
				     (struct sl__topk_entry){key, i});
		}
	}
}

/* What the heap of line 'l' gives up, worst first. */
static void
give_line(const struct sl__topk *t, const unsigned char *line,
	  const struct sl__topk_target *to, int64_t l)
{
	int64_t first = l / t->inner * t->k * t->inner + l % t->inner;

	for (int64_t i = t->k - 1; i >= 0; i--) {
		int64_t from = to->heap->at, place = first + i * t->inner;

		if (to->values)
			memcpy(to->values + (size_t)place * t->n_bytes,
			       line + (size_t)(from * t->inner) * t->n_bytes,
			       t->n_bytes);
		if (to->places)
			memcpy(to->places + 8 * place, &from, 8);
		sink(to->heap, i, to->heap[i]);
	}
}

void
sl__topk_line(const struct sl__topk *t, const unsigned char *x,
	      const struct sl__topk_target *to, int64_t l)
{
	int64_t start = l / t->inner * t->size * t->inner + l % t->inner;
	const unsigned char *line = x + (size_t)start * t->n_bytes;

	t->scan(t, line, to->heap);
	give_line(t, line, to, l);
}

sl__topk_scan_function *
sl__topk_scan(enum sl_dtype dtype, int64_t inner)
{
	static const struct {
		enum sl_dtype dtype;
		sl__topk_scan_function *scan;
	} scans[] = {{SL_DTYPE_F32, scan_f32},
		     {SL_DTYPE_F64, scan_f64},
		     {SL_DTYPE_I64, scan_i64},
		     {SL_DTYPE_I32, scan_i32},
		     {SL_DTYPE_U8, scan_u8}};

	for (size_t i = 0; i < sizeof(scans) / sizeof(scans[0]); i++) {
		if (scans[i].dtype == dtype)
			return inner == 1 && scans[i].scan == scan_f32
				       ? scan_f32_blocks
				       : scans[i].scan;
	}
	return NULL;
}
