/* SPDX-License-Identifier: Apache-2.0 */
/*
 * native_topk.c - the k largest or smallest along an axis, in order: TopK.
 *
 * Each element becomes an unsigned key that is larger the better it is: NaN is
 * above all numbers, -0 is 0.  A line is read once; a heap holds the k best
 * with the worst on top, and most elements are not better than that.  Of equal
 * ones the earlier is better.
 */
#include "compute/parallel.h"
#include "compute/targets.h"
#include "engine/node_steps.h"

#include <string.h>

#include "base/banned.h"

struct entry {
	uint64_t key;
	int64_t at; /* along the axis */
};

struct topk;
typedef void scan_function(const struct topk *t, const unsigned char *line,
			   struct entry *heap);

struct topk {
	int64_t outer, size, inner, k; /* around the axis */
	uint64_t flip;                 /* of keys: all bits for the smallest */
	size_t n_bytes;                /* of an element */
	scan_function *scan;
	unsigned char **at;
	uint32_t at_values, at_places, at_heaps; /* SL__NONE: left out */
};

static int
is_worse(const struct entry *a, const struct entry *b)
{
	return a->key < b->key || (a->key == b->key && a->at > b->at);
}

/* Puts e where the top of a heap of n was, and has it sink to its place. */
static void
sink(struct entry *heap, int64_t n, struct entry e)
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
rise(struct entry *heap, int64_t n, struct entry e)
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
#define SCAN(type)                                                             \
	static void scan_##type(const struct topk *t,                          \
				const unsigned char *line, struct entry *heap) \
	{                                                                      \
		size_t step = (size_t)t->inner * t->n_bytes;                   \
                                                                               \
		for (int64_t i = 0; i < t->size; i++, line += step) {          \
			uint64_t key = key_of_##type(line) ^ t->flip;          \
                                                                               \
			if (i < t->k)                                          \
				rise(heap, i, (struct entry){key, i});         \
			else if (key > heap->key)                              \
				sink(heap, t->k, (struct entry){key, i});      \
		}                                                              \
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
scan_f32_blocks(const struct topk *t, const unsigned char *line,
		struct entry *heap)
{
	void (*skip)(const float *, int64_t, float, int, int64_t *) =
		skip_for();
	const float *x = (const float *)line;
	int64_t i = 0;

	for (; i < t->k; i++)
		rise(heap, i,
		     (struct entry){key_of_f32(line + 4 * i) ^ t->flip, i});
	while (i < t->size) {
		int64_t end;

		skip(x, t->size, x[heap->at], !t->flip, &i);
		end = t->size - i < BLOCK ? t->size : i + BLOCK;
		for (; i < end; i++) {
			uint64_t key = key_of_f32(line + 4 * i) ^ t->flip;

			if (key > heap->key)
				sink(heap, t->k, (struct entry){key, i});
		}
	}
}

/* Line 'l' of outer x inner: what the heap gives up, worst first. */
static void
give_line(const struct topk *t, const unsigned char *line, struct entry *heap,
	  int64_t l)
{
	int64_t first = l / t->inner * t->k * t->inner + l % t->inner;

	for (int64_t i = t->k - 1; i >= 0; i--) {
		int64_t from = heap->at, to = first + i * t->inner;

		if (t->at_values != SL__NONE)
			memcpy(t->at[t->at_values] + (size_t)to * t->n_bytes,
			       line + (size_t)(from * t->inner) * t->n_bytes,
			       t->n_bytes);
		if (t->at_places != SL__NONE)
			memcpy(t->at[t->at_places] + 8 * to, &from, 8);
		sink(heap, i, heap[i]);
	}
}

static void
part(int rank, int n_ranks, void *ctx)
{
	const struct topk *t = ctx;
	struct entry *heap =
		(struct entry *)t->at[t->at_heaps] + (int64_t)rank * t->k;
	int64_t first, end;

	sl__parallel_range(t->outer * t->inner, rank, n_ranks, &first, &end);
	for (int64_t l = first; l < end; l++) {
		int64_t start =
			l / t->inner * t->size * t->inner + l % t->inner;
		const unsigned char *line =
			t->at[0] + (size_t)start * t->n_bytes;

		t->scan(t, line, heap);
		give_line(t, line, heap, l);
	}
}

static scan_function *
scan_of(enum sl_dtype dtype)
{
	static const struct {
		enum sl_dtype dtype;
		scan_function *scan;
	} scans[] = {{SL_DTYPE_F32, scan_f32},
		     {SL_DTYPE_F64, scan_f64},
		     {SL_DTYPE_I64, scan_i64},
		     {SL_DTYPE_I32, scan_i32},
		     {SL_DTYPE_U8, scan_u8}};

	for (size_t i = 0; i < sizeof(scans) / sizeof(scans[0]); i++) {
		if (scans[i].dtype == dtype)
			return scans[i].scan;
	}
	return NULL;
}

static int
read_topk(const struct sl__planner *pl, const struct sl__node *node,
	  struct topk *t)
{
	const struct sl__type *in = sl__plan_node_input_type(pl, node, 0);
	int axis = sl__axis_normalize(sl__attribute_int(node, "axis", -1),
				      in->rank);
	const int64_t *k = NULL;
	size_t n = 0;

	t->scan = scan_of(in->dtype);
	if (axis < 0 || !t->scan ||
	    !sl__plan_value_n_elements(pl, sl__plan_node_input(node, 0)))
		return 0;
	if (node->version >= 10 &&
	    !sl__plan_node_integer_list(pl, node, 1, NULL, &k, &n))
		return 0;
	t->k = n == 1 ? *k : sl__attribute_int(node, "k", -1);
	t->outer = sl__sizes_product(in, 0, axis);
	t->size = in->dims[axis];
	t->inner = sl__sizes_product(in, axis + 1, in->rank);
	if (t->inner == 1 && t->scan == scan_f32)
		t->scan = scan_f32_blocks;
	t->n_bytes = sl_dtype_bits(in->dtype) / 8;
	t->flip = sl__attribute_int(node, "largest", 1) ? 0 : UINT64_MAX;
	return t->k >= 1 && t->k <= t->size;
}

int
sl__make_topk(struct sl__planner *pl, const struct sl__node *node)
{
	struct topk *t = sl__plan_alloc_state(pl, sizeof(*t));
	uint32_t operands[4], n = 1;
	struct sl__step *step;
	int n_threads;

	if (!t || !read_topk(pl, node, t))
		return 0;
	n_threads = sl__threads_at_most(pl->program->n_threads,
					t->outer * t->inner);
	operands[0] = sl__plan_input_buffer(pl, node->inputs[0], NULL);
	t->at_values = t->at_places = SL__NONE;
	if (sl__plan_node_output(node, 0) != SL__NONE) {
		t->at_values = n;
		operands[n++] =
			sl__plan_output_buffer(pl, node->outputs[0], NULL);
	}
	if (sl__plan_node_output(node, 1) != SL__NONE) {
		t->at_places = n;
		operands[n++] =
			sl__plan_output_buffer(pl, node->outputs[1], NULL);
	}
	t->at_heaps = n;
	operands[n++] =
		sl__plan_workspace(pl, (uint64_t)n_threads * (uint64_t)t->k *
					       sizeof(struct entry));
	step = sl__plan_add_parallel_step(pl, operands, n, "top-k", part, t);
	step->n_scratch = 1;
	step->n_threads = sl__threads_at_most(step->n_threads, n_threads);
	t->at = step->at;
	return 1;
}
