/* SPDX-License-Identifier: Apache-2.0 */
/*
 * native_group_query.c - GroupQueryAttention of com.microsoft, the attention of
 * decoders that carry a cache.
 *
 * First the new keys and values are turned and put into the cache, a head at a
 * time, then blocks of queries that share keys attend (attend.h).  How long
 * each text is, and so where its new rows stand, is read in each run.
 */
#include "engine/node_steps.h"
#include "base/status.h"
#include "compute/attend.h"

#include <math.h>
#include <string.h>

#include "base/banned.h"

enum {
	Q = 0,
	K,
	V,
	PAST_KEY,
	PAST_VALUE,
	LENGTHS,
	TOTAL,
	COSINES,
	SINES,
	PLACES,
	N_INPUTS,
	Y = N_INPUTS,
	PRESENT_KEY,
	PRESENT_VALUE,
	SCRATCH,
	N_OPERANDS
};

struct group {
	int64_t batch, heads, kv_heads, queries, width;
	int64_t past, room, total; /* rows of the caches; keys that count */
	int64_t n_pairs;           /* of a row that turn; 0: none do */
	int64_t n_angles;          /* rows of cosines */
	int is_packed, is_interleaved, has_long_lengths, has_long_places;
	float scale, softcap;
	int n_blocks; /* of queries, for each head of keys */
	int at[N_OPERANDS];
	int64_t scratch_bytes;
	unsigned char **addresses;
};

static unsigned char *
at_of(const struct group *g, int operand)
{
	return g->at[operand] < 0 ? NULL : g->addresses[g->at[operand]];
}

static float *
floats_of(const struct group *g, int operand)
{
	return (float *)(void *)at_of(g, operand);
}

static int64_t
integer_of(const struct group *g, int operand, int is_long, int64_t i)
{
	const unsigned char *at = at_of(g, operand);

	return is_long ? ((const int64_t *)(const void *)at)[i]
		       : ((const int32_t *)(const void *)at)[i];
}

/* Where a text ends with its new rows, and where these begin: a text that is
 * new begins at 0, however short it is. */
static int64_t
end_of(const struct group *g, int64_t b)
{
	return integer_of(g, LENGTHS, g->has_long_lengths, b) + 1;
}

static int64_t
start_of(const struct group *g, int64_t b)
{
	return g->queries == g->total ? 0 : end_of(g, b) - g->queries;
}

static int64_t
place_of(const struct group *g, int64_t b, int64_t row)
{
	return g->at[PLACES] < 0 ? start_of(g, b) + row
				 : integer_of(g, PLACES, g->has_long_places,
					      b * g->queries + row);
}

/* New row of head 'head' of Q, K or V. */
static const float *
row_of(const struct group *g, int operand, int64_t b, int64_t head, int64_t row)
{
	int64_t heads = operand == Q ? g->heads : g->kv_heads;
	int64_t first = 0, n = heads;

	if (g->is_packed) {
		first = operand == Q   ? 0
			: operand == K ? g->heads
				       : g->heads + g->kv_heads;
		n = g->heads + 2 * g->kv_heads;
		operand = Q;
	}
	return floats_of(g, operand) +
	       ((b * g->queries + row) * n + first + head) * g->width;
}

/* The row turned by the angles of its place. */
static void
turn(const struct group *g, const float *from, int64_t place, float *to)
{
	const float *c = floats_of(g, COSINES), *s = floats_of(g, SINES);
	int64_t n = g->n_pairs;

	memcpy(to, from, (size_t)g->width * sizeof(*to));
	if (!n)
		return;
	c += place * n;
	s += place * n;
	for (int64_t i = 0; !g->is_interleaved && i < n; i++) {
		to[i] = from[i] * c[i] - from[n + i] * s[i];
		to[n + i] = from[i] * s[i] + from[n + i] * c[i];
	}
	for (int64_t i = 0; g->is_interleaved && i < n; i++) {
		to[2 * i] = from[2 * i] * c[i] - from[2 * i + 1] * s[i];
		to[2 * i + 1] = from[2 * i] * s[i] + from[2 * i + 1] * c[i];
	}
}

/* One head of a cache: its earlier rows, nothing where there are none, and the
 * new ones where they stand. */
static void
renew_head(const struct group *g, int is_value, int64_t b, int64_t head)
{
	int64_t i = b * g->kv_heads + head, start = start_of(g, b);
	const float *old = floats_of(g, is_value ? PAST_VALUE : PAST_KEY);
	float *to = floats_of(g, is_value ? PRESENT_VALUE : PRESENT_KEY) +
		    i * g->room * g->width;
	size_t row_bytes = (size_t)g->width * sizeof(*to);

	if (old && g->past)
		memmove(to, old + i * g->past * g->width,
			(size_t)g->past * row_bytes);
	memset(to + g->past * g->width, 0,
	       (size_t)(g->room - g->past) * row_bytes);
	for (int64_t row = 0; row < g->queries; row++) {
		const float *from = row_of(g, is_value ? V : K, b, head, row);
		float *at = to + (start + row) * g->width;

		if (is_value)
			memcpy(at, from, row_bytes);
		else
			turn(g, from, place_of(g, b, row), at);
	}
}

static void
renew_part(int rank, int n, void *ctx)
{
	const struct group *g = ctx;
	int64_t i, end;

	sl__parallel_range(2 * g->batch * g->kv_heads, rank, n, &i, &end);
	for (; i < end; i++)
		renew_head(g, i % 2 == 1, i / 2 / g->kv_heads,
			   i / 2 % g->kv_heads);
}

/* Block of queries that share a head of keys. */
static void
attend_block(const struct group *g, int64_t b, int64_t kv, int64_t first,
	     int64_t n, float *scratch)
{
	float *turned = scratch + sl__attend_scratch_floats(g->width, g->width);
	int64_t cache = (b * g->kv_heads + kv) * g->room * g->width;
	struct sl__attend w = {.n = (int)n,
			       .width = g->width,
			       .value_width = g->width,
			       .scale = g->scale,
			       .softcap = g->softcap,
			       .mask_kind = SL__MASK_NONE};

	w.parts[0].k = floats_of(g, PRESENT_KEY) + cache;
	w.parts[0].v = floats_of(g, PRESENT_VALUE) + cache;
	w.parts[0].k_row = w.parts[0].v_row = g->width;
	w.parts[0].n = g->total;
	w.parts[1] = w.parts[0];
	w.parts[1].n = 0;
	for (int i = 0; i < w.n; i++) {
		int64_t row = (first + i) % g->queries;
		int64_t head = kv * (g->heads / g->kv_heads) +
			       (first + i) / g->queries;
		int64_t seen = start_of(g, b) + row + 1;
		const float *q = row_of(g, Q, b, head, row);

		w.q[i] = q;
		if (g->n_pairs) {
			turn(g, q, place_of(g, b, row), turned + i * g->width);
			w.q[i] = turned + i * g->width;
		}
		w.y[i] = floats_of(g, Y) +
			 ((b * g->queries + row) * g->heads + head) * g->width;
		w.ends[i] = seen < end_of(g, b) ? seen : end_of(g, b);
	}
	sl__attend(&w, scratch);
}

static void
attend_part(int rank, int n, void *ctx)
{
	const struct group *g = ctx;
	int64_t rows = g->heads / g->kv_heads * g->queries, i, end;
	float *scratch =
		(float *)(void *)(at_of(g, SCRATCH) + rank * g->scratch_bytes);

	sl__parallel_range(g->batch * g->kv_heads * g->n_blocks, rank, n, &i,
			   &end);
	for (; i < end; i++) {
		int64_t first = i % g->n_blocks * SL__ATTEND_QUERIES;
		int64_t head = i / g->n_blocks;

		attend_block(g, head / g->kv_heads, head % g->kv_heads, first,
			     rows - first < SL__ATTEND_QUERIES
				     ? rows - first
				     : SL__ATTEND_QUERIES,
			     scratch);
	}
}

static enum sl_status
check_lengths(const struct group *g, struct sl_error *err)
{
	for (int64_t b = 0; b < g->batch; b++) {
		int64_t last = end_of(g, b) - 1, start = start_of(g, b);

		if (last < 0 || last >= g->total || start < 0 ||
		    start + g->queries > g->room)
			return sl__fail(err, SL_E_DATA,
					"the last of its tokens is number "
					"%lld, of %lld of which %lld are new",
					(long long)last, (long long)g->total,
					(long long)g->queries);
		for (int64_t i = 0; g->n_pairs && i < g->queries; i++) {
			int64_t place = place_of(g, b, i);

			if (place < 0 || place >= g->n_angles)
				return sl__fail(err, SL_E_DATA,
						"no angles for %lld",
						(long long)place);
		}
	}
	return SL_OK;
}

static enum sl_status
run(struct sl__step *step, struct sl_error *err)
{
	struct group *g = step->state;
	enum sl_status rc = check_lengths(g, err);

	if (rc)
		return rc;
	sl__parallel_run(step->n_threads, renew_part, g);
	sl__parallel_run(step->n_threads, attend_part, g);
	return SL_OK;
}

static int
has(const struct sl__node *node, size_t i)
{
	return sl__plan_node_input(node, i) != SL__NONE;
}

/* Whether input i is of f32 and has these sizes, -1 being any. */
static int
is_real(const struct sl__planner *pl, const struct sl__node *node, size_t i,
	int rank, const int64_t *dims)
{
	const struct sl__type *type;

	if (!has(node, i))
		return 0;
	type = sl__plan_node_input_type(pl, node, i);
	if (type->dtype != SL_DTYPE_F32 || type->rank != rank)
		return 0;
	for (int d = 0; d < rank; d++) {
		if (dims[d] >= 0 && type->dims[d] != dims[d])
			return 0;
	}
	return 1;
}

static int
read_sizes(struct group *g, struct sl__planner *pl, const struct sl__node *node)
{
	struct sl__rule_context call = {.shapes = pl->shapes, .node = node};
	const struct sl__type *q = sl__plan_node_input_type(pl, node, Q);
	const int64_t *total;
	int64_t columns;
	size_t n;

	if (q->dtype != SL_DTYPE_F32 || q->rank != 3 ||
	    !sl__in_integers(&call, TOTAL, &total, &n) || n != 1)
		return 0;
	g->is_packed = !has(node, K);
	g->heads = sl__attribute_int(node, "num_heads", 0);
	g->kv_heads = sl__attribute_int(node, "kv_num_heads", 0);
	if (g->heads < 1 || g->kv_heads < 1 || g->heads % g->kv_heads)
		return 0;
	columns = g->heads + (g->is_packed ? 2 * g->kv_heads : 0);
	g->batch = q->dims[0];
	g->queries = q->dims[1];
	g->width = q->dims[2] / columns;
	g->total = total[0];
	if (has(node, PAST_KEY)) {
		const struct sl__type *past =
			sl__plan_node_input_type(pl, node, PAST_KEY);

		if (past->rank != 4)
			return 0;
		g->past = past->dims[2];
	}
	g->room = g->total > g->past ? g->total : g->past;
	return q->dims[2] == columns * g->width && g->batch > 0 &&
	       g->queries > 0 && g->width > 0 && g->total >= g->queries;
}

/* Whether new and earlier rows, and the angles, fit these sizes. */
static int
fit_sizes(struct group *g, const struct sl__planner *pl,
	  const struct sl__node *node)
{
	const int64_t rows[] = {g->batch, g->queries, g->kv_heads * g->width};
	const int64_t past[] = {g->batch, g->kv_heads, g->past, g->width};
	const int64_t angles[] = {-1, -1};
	const struct sl__type *t;

	for (size_t i = 0; i < 2; i++) {
		if (has(node, K + i) != !g->is_packed ||
		    (has(node, K + i) && !is_real(pl, node, K + i, 3, rows)) ||
		    has(node, PAST_KEY + i) != has(node, PAST_KEY) ||
		    (has(node, PAST_KEY + i) &&
		     !is_real(pl, node, PAST_KEY + i, 4, past)))
			return 0;
	}
	if (!sl__attribute_int(node, "do_rotary", 0))
		return 1;
	if (!is_real(pl, node, COSINES, 2, angles))
		return 0;
	t = sl__plan_node_input_type(pl, node, COSINES);
	g->n_angles = t->dims[0];
	g->n_pairs = t->dims[1];
	g->is_interleaved = sl__attribute_int(node, "rotary_interleaved", 0) !=
			    0;
	return g->n_pairs > 0 && 2 * g->n_pairs <= g->width &&
	       is_real(pl, node, SINES, 2, t->dims);
}

/* Integers, n of them, of 32 or of 64 bits. */
static int
read_integers(const struct sl__planner *pl, const struct sl__node *node,
	      size_t i, int64_t n, int *is_long)
{
	const struct sl__type *t;

	if (!has(node, i))
		return 0;
	t = sl__plan_node_input_type(pl, node, i);
	*is_long = t->dtype == SL_DTYPE_I64;
	return (*is_long || t->dtype == SL_DTYPE_I32) &&
	       sl__plan_value_n_elements(pl, sl__plan_node_input(node, i)) ==
		       (uint64_t)n;
}

/* Biases, windows, sinks, scores to hand out and quantized caches are left to
 * the reference kernel. */
static int
read_node(struct group *g, struct sl__planner *pl, const struct sl__node *node)
{
	int64_t window = sl__attribute_int(node, "local_window_size", -1);
	double scale = sl__attribute_float(node, "scale", 0);

	for (size_t i = PLACES + 1; i < node->n_inputs; i++) {
		if (has(node, i))
			return 0;
	}
	if (!read_sizes(g, pl, node) || !fit_sizes(g, pl, node) ||
	    (window > 0 && window < g->total) ||
	    sl__attribute_int(node, "smooth_softmax", 0) > 0 ||
	    sl__plan_node_output(node, 0) == SL__NONE ||
	    sl__plan_node_output(node, 1) == SL__NONE ||
	    sl__plan_node_output(node, 2) == SL__NONE ||
	    sl__plan_node_output(node, 3) != SL__NONE)
		return 0;
	g->scale = (float)(scale > 0 || scale < 0 ? scale
						  : 1 / sqrt((double)g->width));
	g->softcap = (float)sl__attribute_float(node, "softcap", 0);
	return read_integers(pl, node, LENGTHS, g->batch,
			     &g->has_long_lengths) &&
	       (!g->n_pairs || !has(node, PLACES) ||
		read_integers(pl, node, PLACES, g->batch * g->queries,
			      &g->has_long_places));
}

static uint32_t
take_operands(struct group *g, struct sl__planner *pl,
	      const struct sl__node *node, uint32_t *operands)
{
	uint32_t n = 0;

	for (int i = 0; i < N_OPERANDS; i++)
		g->at[i] = -1;
	for (int i = 0; i < N_INPUTS; i++) {
		if (i == TOTAL || !has(node, (size_t)i) ||
		    (!g->n_pairs && i >= COSINES))
			continue;
		g->at[i] = (int)n;
		operands[n++] = sl__plan_input_buffer(
			pl, sl__plan_node_input(node, (size_t)i), NULL);
	}
	for (int k = 0; k < 3; k++) {
		g->at[Y + k] = (int)n;
		operands[n++] = sl__plan_output_buffer(
			pl, sl__plan_node_output(node, (size_t)k), NULL);
	}
	g->at[SCRATCH] = (int)n;
	return n;
}

int
sl__make_group_query(struct sl__planner *pl, const struct sl__node *node)
{
	enum { FLOPS_PER_THREAD = 1 << 20 }; /* some 20 microseconds */
	struct group *g = sl__plan_alloc_state(pl, sizeof(*g));
	uint32_t operands[N_OPERANDS], n;
	struct sl__step *step;
	uint64_t flops;
	int64_t rows, floats;
	int n_threads;

	if (!g || !read_node(g, pl, node))
		return 0;
	rows = g->heads / g->kv_heads * g->queries;
	g->n_blocks =
		(int)((rows + SL__ATTEND_QUERIES - 1) / SL__ATTEND_QUERIES);
	flops = 4 * (uint64_t)(g->batch * g->heads * g->queries * g->width) *
		(uint64_t)g->total;
	n_threads = sl__threads_at_most(pl->program->n_threads,
					(int64_t)(flops / FLOPS_PER_THREAD));
	floats = sl__attend_scratch_floats(g->width, g->width) +
		 SL__ATTEND_QUERIES * g->width;
	g->scratch_bytes = (4 * floats + 63) / 64 * 64;
	n = take_operands(g, pl, node, operands);
	operands[n++] = sl__plan_workspace(
		pl, (uint64_t)(n_threads * g->scratch_bytes));
	step = sl__plan_add_step(pl, operands, n, "attention", run, g);
	step->n_threads = n_threads;
	step->executed_flops = flops;
	g->addresses = step->at;
	return 1;
}
