/* SPDX-License-Identifier: Apache-2.0 */
/*
 * native_attention.c - Attention in one pass over keys and values.
 *
 * Heads are taken as they lie, side by side in a row or one after the other;
 * heads of queries that share keys stand in one block (attend.h).  Earlier
 * keys and values are read where they are, and copied to the results that
 * hold all of them by whoever is first to look at them.  What is stored as
 * bf16 is brought into f32 when it is looked at, keys and values once for all
 * queries of a head.
 */
#include "compute/attend.h"
#include "compute/element_conversion.h"
#include "engine/node_steps.h"
#include "engine/gemm.h"

#include <math.h>
#include <string.h>

#include "base/banned.h"

enum {
	Q = 0,
	K,
	V,
	MASK,
	PAST_KEY,
	PAST_VALUE,
	LENGTHS,
	N_INPUTS,
	Y = N_INPUTS,
	PRESENT_KEY,
	PRESENT_VALUE,
	SCRATCH,
	N_OPERANDS
};

/* Elements from batch to batch, head to head, row to row. */
struct rows {
	int64_t batch, head, row;
};

struct attention {
	int64_t batch, heads, kv_heads, queries, past, fresh;
	int64_t width, value_width;
	int64_t mask_keys; /* that the mask has; others are not seen */
	struct rows q, k, v, y;
	int64_t mask_steps[4];
	enum sl__attend_mask_kind mask_kind;
	float scale, softcap;
	int is_causal;
	int n_blocks;          /* of queries, for each head of keys */
	int at[N_OPERANDS];    /* place among the step's operands; -1: none */
	int is_bf16[Y + 1];    /* of Q, K, V and Y: how they are stored */
	int64_t scratch_bytes; /* of each thread */
	unsigned char **addresses;
};

static unsigned char *
at_of(const struct attention *a, int operand)
{
	return a->at[operand] < 0 ? NULL : a->addresses[a->at[operand]];
}

static const float *
floats_of(const struct attention *a, int operand)
{
	return (const float *)(const void *)at_of(a, operand);
}

/* Rows of heads that lie one after the other. */
static struct rows
rows_apart(int64_t heads, int64_t n, int64_t width)
{
	return (struct rows){heads * n * width, n * width, width};
}

static struct rows
rows_of(int is_flat, int64_t heads, int64_t n, int64_t width)
{
	if (!is_flat)
		return rows_apart(heads, n, width);
	return (struct rows){n * heads * width, width, heads * width};
}

/* A block of queries that look at the same keys. */
struct task {
	const struct attention *a;
	int64_t b, kv;        /* batch and head of keys */
	int64_t first, n;     /* queries of all heads that share it */
	int64_t offset, seen; /* position of the first query; keys that count */
	float *scratch;
	float *k, *v, *q, *y; /* rows as f32, of what is stored otherwise */
};

/* Row 'row' of a head, as it is stored. */
static unsigned char *
row_of(const struct task *t, int operand, const struct rows *rows, int64_t head,
       int64_t row)
{
	int64_t at = t->b * rows->batch + head * rows->head + row * rows->row;

	return at_of(t->a, operand) + at * (t->a->is_bf16[operand] ? 2 : 4);
}

/* New keys or values of a head as f32, one row after the other. */
static void
widen(const struct task *t, int operand, const struct rows *rows, int64_t width,
      float *to)
{
	for (int64_t i = 0; t->a->is_bf16[operand] && i < t->a->fresh; i++)
		sl__numbers_to_f32(SL_DTYPE_BF16,
				   row_of(t, operand, rows, t->kv, i), width,
				   to + i * width);
}

static void
say_keys(const struct task *t, struct sl__attend *w)
{
	const struct attention *a = t->a;
	struct rows old_k = rows_apart(a->kv_heads, a->past, a->width);
	struct rows old_v = rows_apart(a->kv_heads, a->past, a->value_width);
	const float *k = floats_of(a, PAST_KEY);
	const float *v = floats_of(a, PAST_VALUE);

	if (k && v) {
		w->parts[0].k = k + t->b * old_k.batch + t->kv * old_k.head;
		w->parts[0].v = v + t->b * old_v.batch + t->kv * old_v.head;
		w->parts[0].k_row = old_k.row;
		w->parts[0].v_row = old_v.row;
		w->parts[0].n = a->past;
	}
	w->parts[1].k =
		(const float *)(const void *)row_of(t, K, &a->k, t->kv, 0);
	w->parts[1].v =
		(const float *)(const void *)row_of(t, V, &a->v, t->kv, 0);
	w->parts[1].k_row = a->k.row;
	w->parts[1].v_row = a->v.row;
	if (a->is_bf16[K]) {
		w->parts[1].k = t->k;
		w->parts[1].k_row = a->width;
	}
	if (a->is_bf16[V]) {
		w->parts[1].v = t->v;
		w->parts[1].v_row = a->value_width;
	}
	w->parts[1].n = a->fresh;
}

/* The head of query i of the block. */
static int64_t
head_of(const struct task *t, int i)
{
	int64_t group = t->a->heads / t->a->kv_heads;

	return t->kv * group + (t->first + i) / t->a->queries;
}

static void
say_query(const struct task *t, struct sl__attend *w, int i)
{
	const struct attention *a = t->a;
	int64_t head = head_of(t, i);
	int64_t query = (t->first + i) % a->queries;
	int64_t end = t->seen;

	w->q[i] = (const float *)(const void *)row_of(t, Q, &a->q, head, query);
	w->y[i] = (float *)(void *)row_of(t, Y, &a->y, head, query);
	if (a->is_bf16[Q]) {
		sl__numbers_to_f32(SL_DTYPE_BF16, w->q[i], a->width,
				   t->q + i * a->width);
		w->q[i] = t->q + i * a->width;
	}
	if (a->is_bf16[Y])
		w->y[i] = t->y + i * a->value_width;
	w->mask_at[i] = t->b * a->mask_steps[0] + head * a->mask_steps[1] +
			query * a->mask_steps[2];
	if (a->is_causal && t->offset + query + 1 < end)
		end = t->offset + query + 1;
	w->ends[i] = end < 0 ? 0 : end;
}

static void
run_block(const struct task *t)
{
	const struct attention *a = t->a;
	struct sl__attend w = {.n = (int)t->n,
			       .width = a->width,
			       .value_width = a->value_width,
			       .scale = a->scale,
			       .softcap = a->softcap,
			       .mask_kind = a->mask_kind,
			       .mask = at_of(a, MASK),
			       .mask_key = a->mask_steps[3]};

	say_keys(t, &w);
	for (int i = 0; i < w.n; i++)
		say_query(t, &w, i);
	sl__attend(&w, t->scratch);
	for (int i = 0; a->is_bf16[Y] && i < w.n; i++)
		sl__numbers_from_f32(SL_DTYPE_BF16, w.y[i], a->value_width,
				     row_of(t, Y, &a->y, head_of(t, i),
					    (t->first + i) % a->queries));
}

/* n rows that lie 'row' elements apart, one after the other. */
static void
copy_rows(float *to, const float *from, int64_t row, int64_t n, int64_t width)
{
	size_t bytes = (size_t)width * sizeof(*to);

	if (row == width && n > 0) {
		memcpy(to, from, (size_t)n * bytes);
		return;
	}
	for (int64_t i = 0; i < n; i++)
		memcpy(to + i * width, from + i * row, bytes);
}

/* The earlier rows of a head, then the new ones. */
static void
copy_present(const struct task *t)
{
	const struct attention *a = t->a;
	int64_t head = t->b * a->kv_heads + t->kv;
	int64_t total = a->past + a->fresh;
	float *k = (float *)(void *)at_of(a, PRESENT_KEY);
	float *v = (float *)(void *)at_of(a, PRESENT_VALUE);
	struct sl__attend w = {.n = 0};

	say_keys(t, &w);
	if (k)
		k += head * total * a->width;
	if (v)
		v += head * total * a->value_width;
	for (int i = 0; i < SL__ATTEND_KV_SEGMENTS; i++) {
		const struct sl__attend_kv_segment *p = &w.parts[i];

		if (k)
			copy_rows(k, p->k, p->k_row, p->n, a->width);
		if (v)
			copy_rows(v, p->v, p->v_row, p->n, a->value_width);
		k = k ? k + p->n * a->width : k;
		v = v ? v + p->n * a->value_width : v;
	}
}

/* Where the first query of a batch stands and how many keys count. */
static void
say_lengths(struct task *t)
{
	const struct attention *a = t->a;
	const int64_t *lengths =
		(const int64_t *)(const void *)at_of(a, LENGTHS);

	t->offset = lengths ? lengths[t->b] - a->queries : a->past;
	t->seen = a->past + a->fresh;
	if (lengths && lengths[t->b] < t->seen)
		t->seen = lengths[t->b] < 0 ? 0 : lengths[t->b];
	if (a->mask_kind != SL__MASK_NONE && a->mask_keys < t->seen)
		t->seen = a->mask_keys;
}

/* Where a thread works. */
static void
divide_scratch(struct task *t, int rank)
{
	const struct attention *a = t->a;

	t->scratch =
		(float *)(void *)(at_of(a, SCRATCH) + rank * a->scratch_bytes);
	t->q = t->scratch + sl__attend_scratch_floats(a->width, a->value_width);
	t->y = t->q + SL__ATTEND_QUERIES * a->width;
	t->k = t->y + SL__ATTEND_QUERIES * a->value_width;
	t->v = t->k + a->fresh * a->width;
}

static void
run_part(int rank, int n, void *ctx)
{
	const struct attention *a = ctx;
	int64_t rows = a->heads / a->kv_heads * a->queries;
	struct task t = {.a = a, .b = -1};
	int64_t i, end;

	divide_scratch(&t, rank);
	sl__parallel_range(a->batch * a->kv_heads * a->n_blocks, rank, n, &i,
			   &end);
	for (; i < end; i++) {
		int64_t block = i % a->n_blocks, head = i / a->n_blocks;

		if (t.b < 0 || block == 0) {
			t.kv = head % a->kv_heads;
			t.b = head / a->kv_heads;
			widen(&t, K, &a->k, a->width, t.k);
			widen(&t, V, &a->v, a->value_width, t.v);
		}
		t.first = block * SL__ATTEND_QUERIES;
		t.n = rows - t.first < SL__ATTEND_QUERIES ? rows - t.first
							  : SL__ATTEND_QUERIES;
		say_lengths(&t);
		if (block == 0)
			copy_present(&t);
		run_block(&t);
	}
}

static int64_t
dim(const struct sl__planner *pl, uint32_t value, int d)
{
	const struct sl__type *type = sl__plan_value_type(pl, value);

	return type->dims[d < 0 ? type->rank + d : d];
}

static int
is_single(const struct sl__planner *pl, uint32_t value)
{
	return sl__plan_value_type(pl, value)->dtype == SL_DTYPE_F32 &&
	       sl__plan_value_n_elements(pl, value) > 0;
}

static int
read_sizes(struct attention *a, const struct sl__planner *pl,
	   const struct sl__node *node)
{
	uint32_t q = node->inputs[Q], k = node->inputs[K], v = node->inputs[V];
	uint32_t past = sl__plan_node_input(node, PAST_KEY);
	int rank = sl__plan_value_type(pl, q)->rank, is_flat = rank == 3;
	int row = is_flat ? 1 : 2;

	if ((rank != 3 && rank != 4) ||
	    sl__plan_value_type(pl, k)->rank != rank ||
	    sl__plan_value_type(pl, v)->rank != rank || !is_single(pl, q) ||
	    !is_single(pl, k) || !is_single(pl, v))
		return 0;
	a->batch = dim(pl, q, 0);
	a->heads = is_flat ? sl__attribute_int(node, "q_num_heads", 0)
			   : dim(pl, q, 1);
	a->kv_heads =
		is_flat ? sl__attribute_int(node, "kv_num_heads", a->heads)
			: dim(pl, k, 1);
	if (a->heads < 1 || a->kv_heads < 1 || a->heads % a->kv_heads)
		return 0;
	a->queries = dim(pl, q, row);
	a->fresh = dim(pl, k, row);
	a->past = past == SL__NONE ? 0 : dim(pl, past, 2);
	a->width = dim(pl, q, -1) / (is_flat ? a->heads : 1);
	a->value_width = dim(pl, v, -1) / (is_flat ? a->kv_heads : 1);
	a->q = rows_of(is_flat, a->heads, a->queries, a->width);
	a->k = rows_of(is_flat, a->kv_heads, a->fresh, a->width);
	a->v = rows_of(is_flat, a->kv_heads, a->fresh, a->value_width);
	a->y = rows_of(is_flat, a->heads, a->queries, a->value_width);
	return dim(pl, v, row) == a->fresh && dim(pl, k, 0) == a->batch &&
	       dim(pl, v, 0) == a->batch &&
	       dim(pl, k, -1) / (is_flat ? a->kv_heads : 1) == a->width &&
	       (is_flat || dim(pl, v, 1) == a->kv_heads);
}

/* Whether a past is [batch][kv_heads][past][width]. */
static int
fits_past(const struct attention *a, const struct sl__planner *pl,
	  uint32_t value, int64_t width)
{
	if (value == SL__NONE)
		return a->past == 0;
	return is_single(pl, value) &&
	       sl__plan_value_type(pl, value)->rank == 4 &&
	       dim(pl, value, 0) == a->batch &&
	       dim(pl, value, 1) == a->kv_heads &&
	       dim(pl, value, 2) == a->past && dim(pl, value, 3) == width;
}

static int
read_mask(struct attention *a, const struct sl__planner *pl, uint32_t value)
{
	const int64_t whole[4] = {a->batch, a->heads, a->queries,
				  a->past + a->fresh};
	const struct sl__type *type;
	int64_t step = 1;

	if (value == SL__NONE)
		return 1;
	type = sl__plan_value_type(pl, value);
	a->mask_kind = type->dtype == SL_DTYPE_F32    ? SL__MASK_ADDITIVE
		       : type->dtype == SL_DTYPE_BOOL ? SL__MASK_BOOLEAN
						      : SL__MASK_NONE;
	if (a->mask_kind == SL__MASK_NONE || type->rank > 4 ||
	    sl__plan_value_n_elements(pl, value) == 0)
		return 0;
	a->mask_keys = whole[3];
	for (int d = 3; d >= 4 - type->rank; d--) {
		int64_t size = type->dims[d - 4 + type->rank];

		if (size != 1 && size != whole[d] &&
		    !(d == 3 && size < whole[d]))
			return 0;
		if (d == 3 && size != 1)
			a->mask_keys = size;
		a->mask_steps[d] = size == 1 ? 0 : step;
		step *= size;
	}
	return 1;
}

static int
read_node(struct attention *a, const struct sl__planner *pl,
	  const struct sl__node *node)
{
	uint32_t lengths = sl__plan_node_input(node, LENGTHS);

	if (!read_sizes(a, pl, node) ||
	    !fits_past(a, pl, sl__plan_node_input(node, PAST_KEY), a->width) ||
	    !fits_past(a, pl, sl__plan_node_input(node, PAST_VALUE),
		       a->value_width) ||
	    !read_mask(a, pl, sl__plan_node_input(node, MASK)) ||
	    sl__plan_node_output(node, 3) != SL__NONE)
		return 0;
	if (lengths != SL__NONE &&
	    (sl__plan_value_type(pl, lengths)->dtype != SL_DTYPE_I64 ||
	     sl__plan_value_n_elements(pl, lengths) != (uint64_t)a->batch))
		return 0;
	a->scale = (float)sl__attribute_float(node, "scale",
					      1 / sqrt((double)a->width));
	a->softcap = (float)sl__attribute_float(node, "softcap", 0);
	a->is_causal = sl__attribute_int(node, "is_causal", 0) != 0;
	return sl__attribute_int(node, "left_window_size", -1) < 0 &&
	       sl__attribute_int(node, "right_window_size", -1) < 0;
}

/* Keys that queries look at in whole blocks. */
static uint64_t
count_flops(const struct attention *a, int has_lengths)
{
	int64_t rows = a->heads / a->kv_heads * a->queries;
	uint64_t pairs = 0;

	for (int64_t first = 0; first < rows; first += SL__ATTEND_QUERIES) {
		int64_t n = rows - first < SL__ATTEND_QUERIES
				    ? rows - first
				    : SL__ATTEND_QUERIES;
		int64_t last = first / a->queries !=
					       (first + n - 1) / a->queries
				       ? a->queries - 1
				       : (first + n - 1) % a->queries;
		int64_t end = a->past + a->fresh;

		if (a->is_causal && !has_lengths && a->past + last + 1 < end)
			end = a->past + last + 1;
		pairs += (uint64_t)(n * end);
	}
	return 2 * pairs * (uint64_t)(a->batch * a->kv_heads) *
	       (uint64_t)(a->width + a->value_width);
}

static uint32_t
read_inputs(struct attention *a, struct sl__planner *pl,
	    const struct sl__node *node, uint32_t *operands)
{
	uint32_t n = 0;

	for (int i = 0; i < N_INPUTS; i++) {
		uint32_t value = sl__plan_node_input(node, (size_t)i);
		const struct sl__layout *layout = NULL;

		a->at[i] = -1;
		if (value == SL__NONE)
			continue;
		if (i <= V)
			layout = sl__plan_find_bf16_layout(pl, value);
		a->is_bf16[i] = layout != NULL;
		a->at[i] = (int)n;
		operands[n++] = sl__plan_input_buffer(pl, value, layout);
	}
	return n;
}

static uint32_t
write_outputs(struct attention *a, struct sl__planner *pl,
	      const struct sl__node *node, uint32_t *operands, uint32_t n)
{
	for (int k = 0; k < 3; k++) {
		uint32_t value = sl__plan_node_output(node, (size_t)k);
		const struct sl__layout *layout = NULL;

		a->at[Y + k] = -1;
		if (value == SL__NONE)
			continue;
		/* A product comes next, which wants it so. */
		a->is_bf16[Y] |= k == 0 && pl->dtype == SL_DTYPE_BF16 &&
				 !sl__plan_is_model_output(pl, value);
		if (k == 0 && a->is_bf16[Y])
			layout = sl__gemm_row_major_layout(pl, value,
							   SL_DTYPE_BF16);
		a->at[Y + k] = (int)n;
		operands[n++] = sl__plan_output_buffer(pl, value, layout);
	}
	return n;
}

static int64_t
scratch_bytes(const struct attention *a)
{
	int64_t floats = sl__attend_scratch_floats(a->width, a->value_width);

	if (a->is_bf16[Q] || a->is_bf16[K] || a->is_bf16[V] || a->is_bf16[Y])
		floats += (SL__ATTEND_QUERIES + a->fresh) *
			  (a->width + a->value_width);
	return (4 * floats + 63) / 64 * 64;
}

/* A block has room for many queries, of which a short sequence uses little. */
static uint64_t
unused_scratch_bytes(const struct attention *a, int64_t rows)
{
	int64_t used = 4 * sl__attend_scratch_used_floats(a->width,
							  a->value_width, rows,
							  a->past + a->fresh);

	return (uint64_t)(4 * sl__attend_scratch_floats(a->width,
							a->value_width) -
			  used);
}

int
sl__make_attention(struct sl__planner *pl, const struct sl__node *node)
{
	enum { FLOPS_PER_THREAD = 1 << 20 }; /* some 20 microseconds */
	struct attention *a = sl__plan_alloc_state(pl, sizeof(*a));
	uint32_t operands[N_OPERANDS], n;
	struct sl__step *step;
	uint64_t flops;
	int64_t rows;
	int n_threads;

	if (!a || !read_node(a, pl, node))
		return 0;
	rows = a->heads / a->kv_heads * a->queries;
	a->n_blocks =
		(int)((rows + SL__ATTEND_QUERIES - 1) / SL__ATTEND_QUERIES);
	flops = count_flops(a, sl__plan_node_input(node, LENGTHS) != SL__NONE);
	n_threads = sl__threads_at_most(pl->program->n_threads,
					(int64_t)(flops / FLOPS_PER_THREAD));
	n = read_inputs(a, pl, node, operands);
	n = write_outputs(a, pl, node, operands, n);
	a->at[SCRATCH] = (int)n;
	a->scratch_bytes = scratch_bytes(a);
	operands[n++] = sl__plan_workspace(
		pl, (uint64_t)(n_threads * a->scratch_bytes));
	step = sl__plan_add_parallel_step(pl, operands, n, "attention",
					  run_part, a);
	step->n_threads = n_threads;
	step->executed_flops = flops;
	step->n_bytes -= (uint64_t)n_threads * unused_scratch_bytes(a, rows);
	a->addresses = step->at;
	return 1;
}
