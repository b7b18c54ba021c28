/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ref_attention.c - ONNX's Attention and both RotaryEmbeddings computed.
 *
 * Queries, keys and values are brought to one layout, the past before the
 * present, and ref_heads.c does the rest.
 */
#include "ops/ref_heads.h"

#include <math.h>
#include <string.h>

#include "base/banned.h"

enum { MASK = 3, PAST_KEY = 4, PAST_VALUE = 5, LENGTHS = 6 };

/* Sizes of queries, keys (with the past) and values; what inference has not
 * compared is compared here. */
static enum sl_status
read_sizes(struct sl__heads *h, struct sl__eval *ev)
{
	const struct sl__tensor *q = sl__ref_tensor(ev, 0);
	const struct sl__tensor *k = sl__ref_tensor(ev, 1);
	const struct sl__tensor *v = sl__ref_tensor(ev, 2);
	int64_t kv_width, n_values;

	if (!q || !k || !v || (q->rank != 3 && q->rank != 4) ||
	    k->rank != q->rank || v->rank != q->rank)
		return sl__ref_refuse(ev, "it lacks queries, keys or values");
	h->is_flat = q->rank == 3;
	h->batch = q->dims[0];
	h->n_heads = h->is_flat ? sl__int(ev->node, "q_num_heads", 0)
				: q->dims[1];
	h->n_kv_heads = h->is_flat
				? sl__int(ev->node, "kv_num_heads", h->n_heads)
				: k->dims[1];
	if (h->n_heads < 1 || h->n_kv_heads < 1 || h->n_heads % h->n_kv_heads)
		return sl__ref_refuse(
			ev, "%lld heads of queries on %lld of keys",
			(long long)h->n_heads, (long long)h->n_kv_heads);
	h->queries = sl__ref_dim(ev, 0, h->is_flat ? 1 : 2);
	h->total = sl__ref_dim(ev, 1, h->is_flat ? 1 : 2);
	n_values = sl__ref_dim(ev, 2, h->is_flat ? 1 : 2);
	h->width = sl__ref_dim(ev, 0, -1) / (h->is_flat ? h->n_heads : 1);
	kv_width = sl__ref_dim(ev, 1, -1) / (h->is_flat ? h->n_kv_heads : 1);
	h->value_width =
		sl__ref_dim(ev, 2, -1) / (h->is_flat ? h->n_kv_heads : 1);
	if (kv_width != h->width || n_values != h->total ||
	    k->dims[0] != h->batch || v->dims[0] != h->batch ||
	    (!h->is_flat && v->dims[1] != h->n_kv_heads) ||
	    (h->is_flat &&
	     (q->dims[2] % h->n_heads || k->dims[2] % h->n_kv_heads ||
	      v->dims[2] % h->n_kv_heads)))
		return sl__ref_refuse(ev,
				      "keys and values do not fit the queries");
	return SL_OK;
}

/* Input i as [batch][n_heads][n->n_rows][width], rows of input 'past' before
 * it. */
static const double *
join_past(struct sl__eval *ev, size_t i, size_t past, struct sl__row_counts n)
{
	const struct sl__tensor *t = sl__ref_tensor(ev, past);
	struct sl__row_place to = {.start = t ? t->dims[2] : 0};
	struct sl__rows rows = sl__rows_of(sl__ref_doubles(ev, i), &n,
					   sl__ref_rank(ev, i) == 3);

	to.room = to.start + n.n_rows;
	return sl__rows_join(ev, &to, sl__ref_given_doubles(ev, past), &rows,
			     &n, NULL);
}

/* Checks that a past is [batch][n_kv_heads][*past][width]. */
static enum sl_status
check_past(const struct sl__heads *h, struct sl__eval *ev, size_t i,
	   int64_t width, int64_t past)
{
	const struct sl__tensor *t = sl__ref_tensor(ev, i);

	if (!t && past == 0)
		return SL_OK;
	if (t && t->rank == 4 && t->dims[0] == h->batch &&
	    t->dims[1] == h->n_kv_heads && t->dims[2] == past &&
	    t->dims[3] == width)
		return SL_OK;
	return sl__ref_refuse(ev, "input %zu does not fit the keys", i);
}

static enum sl_status
read_operands(struct sl__heads *h, struct sl__eval *ev, int64_t past)
{
	struct sl__row_counts q = {h->batch, h->n_heads, h->queries, h->width};
	struct sl__row_counts k = {h->batch, h->n_kv_heads, h->total, h->width};
	struct sl__row_counts v = {h->batch, h->n_kv_heads, h->total,
				   h->value_width};

	if (check_past(h, ev, PAST_KEY, h->width, past) ||
	    check_past(h, ev, PAST_VALUE, h->value_width, past))
		return ev->failure;
	h->q = join_past(ev, 0, SIZE_MAX, q);
	h->k = join_past(ev, 1, PAST_KEY, k);
	h->v = join_past(ev, 2, PAST_VALUE, v);
	h->total += past;
	h->room = h->total;
	return ev->failure;
}

/* The mask as something to add: of booleans 0 or no end below it.  It is
 * broadcast to [batch][heads][queries][total], and may have fewer keys. */
static enum sl_status
read_mask(struct sl__heads *h, struct sl__eval *ev)
{
	const struct sl__tensor *t = sl__ref_tensor(ev, MASK);
	int64_t whole[4] = {h->batch, h->n_heads, h->queries, h->total};
	const double *x = sl__ref_given_doubles(ev, MASK);
	int64_t steps[4];
	double *made;

	if (!x)
		return ev->failure;
	h->bias_keys = h->total;
	for (size_t d = 0; d < t->rank && t->rank <= 4; d++) {
		int64_t size = whole[4 - t->rank + d];
		int is_last = d == t->rank - 1;

		if (t->dims[d] != 1 && t->dims[d] != size &&
		    !(is_last && t->dims[d] < size))
			return sl__ref_refuse(
				ev, "the mask does not fit the scores");
		if (is_last && t->dims[d] < size && t->dims[d] != 1)
			h->bias_keys = t->dims[d];
	}
	if (t->rank > 4)
		return sl__ref_refuse(ev, "a mask of rank %zu", t->rank);
	sl__ref_broadcast(steps, 4, t->rank, t->dims);
	h->bias[0] = (struct sl__score_bias){x, steps[0], steps[1], steps[2],
					     steps[3]};
	if (t->dtype != SL_DTYPE_BOOL)
		return SL_OK;
	made = sl__ref_new_doubles(ev, (int64_t)t->n_elements);
	for (uint64_t i = 0; made && i < t->n_elements; i++)
		made[i] = x[i] > 0 ? 0 : -HUGE_VAL;
	h->bias[0].at = made;
	return ev->failure;
}

/* Where the first query stands: after the past, or, where the keys are a
 * cache of given lengths, at the end of what it holds. */
static enum sl_status
read_offsets(struct sl__heads *h, struct sl__eval *ev, int64_t past)
{
	const struct sl__tensor *t = sl__ref_tensor(ev, LENGTHS);
	const int64_t *lengths = sl__ref_given_integers(ev, LENGTHS);
	int64_t *offsets = sl__ref_new_integers(ev, h->batch);

	if (t && t->n_elements != (uint64_t)h->batch)
		return sl__ref_refuse(ev,
				      "nonpad_kv_seqlen has %llu numbers for "
				      "%lld texts",
				      (unsigned long long)t->n_elements,
				      (long long)h->batch);
	for (int64_t b = 0; !ev->failure && b < h->batch; b++)
		offsets[b] = lengths ? lengths[b] - h->queries : past;
	h->offsets = offsets;
	h->ends = lengths;
	return ev->failure;
}

enum sl_status
sl__ref_attention(struct sl__eval *ev)
{
	const struct sl__node *node = ev->node;
	const struct sl__tensor *old = sl__ref_tensor(ev, PAST_KEY);
	int64_t past = old && old->rank == 4 ? old->dims[2] : 0;
	int64_t mode = sl__int(node, "qk_matmul_output_mode", 0);
	struct sl__heads h = {.has_scores = sl__ref_result(ev, 3) != NULL};

	if (read_sizes(&h, ev) || read_operands(&h, ev, past) ||
	    read_mask(&h, ev) || read_offsets(&h, ev, past))
		return ev->failure;
	if (h.has_scores && (mode < 0 || mode > 3))
		return sl__ref_refuse(ev, "qk_matmul_output_mode is %lld",
				      (long long)mode);
	h.stage = (enum sl__score_stage)(h.has_scores ? mode : 0);
	h.scale = sl__float(node, "scale", 1 / sqrt((double)h.width));
	h.softcap = sl__float(node, "softcap", 0);
	h.is_causal = sl__int(node, "is_causal", 0) != 0;
	h.left = sl__int(node, "left_window_size", -1);
	h.right = sl__int(node, "right_window_size", -1);
	return sl__heads_run(ev, &h) ? ev->failure : sl__heads_store(ev, &h);
}

/* x [batch][n_heads][n_rows][width] or flat; angles [positions][n_pairs]. */
struct rotary {
	struct sl__row_counts n;
	int is_flat;
	int64_t n_pairs, n_angles; /* n_angles: rows of the tables */
	const double *cosines, *sines;
	const int64_t *places;
	int64_t n_places; /* of 'places': one for each token, or one for all */
};

static enum sl_status
read_rotary(struct rotary *r, struct sl__eval *ev)
{
	const struct sl__tensor *x = sl__ref_tensor(ev, 0);
	int64_t n_heads = sl__int(ev->node, "num_heads", 0);
	int64_t turned = sl__int(ev->node, "rotary_embedding_dim", 0);
	int64_t columns = sl__ref_dim(
		ev, sl__is_op(ev->node, SL__OP_MS_RotaryEmbedding) ? 2 : 1, -1);

	if (!x || (x->rank != 3 && x->rank != 4))
		return sl__ref_refuse(ev, "it lacks tokens");
	r->is_flat = x->rank == 3;
	if (r->is_flat && n_heads < 1 && columns > 0)
		/* The tables are as wide as half a head. */
		n_heads = x->dims[2] / (2 * columns);
	r->n.batch = x->dims[0];
	r->n.n_heads = r->is_flat ? n_heads : x->dims[1];
	r->n.n_rows = x->dims[r->is_flat ? 1 : 2];
	if (r->is_flat && (n_heads < 1 || x->dims[2] % n_heads))
		return sl__ref_refuse(ev, "%lld heads of a width of %lld",
				      (long long)n_heads,
				      (long long)x->dims[2]);
	r->n.width = r->is_flat ? x->dims[2] / n_heads : x->dims[3];
	turned = turned > 0 ? turned : r->n.width;
	r->n_pairs = turned / 2;
	if (turned > r->n.width || turned % 2 || columns != r->n_pairs)
		return sl__ref_refuse(
			ev, "angles for %lld of %lld pairs of elements",
			(long long)columns, (long long)r->n_pairs);
	return SL_OK;
}

static enum sl_status
read_angles(struct rotary *r, struct sl__eval *ev, size_t cosines,
	    size_t places)
{
	const struct sl__tensor *c = sl__ref_tensor(ev, cosines);
	const struct sl__tensor *s = sl__ref_tensor(ev, cosines + 1);
	const struct sl__tensor *p = sl__ref_tensor(ev, places);
	int64_t tokens = r->n.batch * r->n.n_rows;

	r->cosines = sl__ref_doubles(ev, cosines);
	r->sines = sl__ref_doubles(ev, cosines + 1);
	r->places = sl__ref_given_integers(ev, places);
	if (ev->failure)
		return ev->failure;
	if (!c || !s || c->n_elements != s->n_elements)
		return sl__ref_refuse(ev, "sines and cosines are not as "
					  "many");
	r->n_angles = r->n_pairs ? (int64_t)c->n_elements / r->n_pairs : tokens;
	r->n_places = p ? (int64_t)p->n_elements : 0;
	if ((p && r->n_places != 1 && r->n_places != tokens) ||
	    (!p && r->n_angles != tokens))
		return sl__ref_refuse(
			ev, "places or angles for other than %lld tokens",
			(long long)tokens);
	return SL_OK;
}

/* The row of the tables for token i; -1: none. */
static int64_t
angle_of(const struct rotary *r, int64_t i)
{
	int64_t at = i;

	if (r->places && r->n_places == 1)
		at = r->places[0] + i % r->n.n_rows;
	else if (r->places)
		at = r->places[i];
	return at >= 0 && at < r->n_angles ? at : -1;
}

static enum sl_status
turn_all(struct sl__eval *ev, const struct rotary *r, double *y,
	 int is_interleaved)
{
	struct sl__rows rows = sl__rows_of(NULL, &r->n, r->is_flat);

	for (int64_t i = 0; i < r->n.batch * r->n.n_rows; i++) {
		int64_t at = angle_of(r, i);
		int64_t first = i / r->n.n_rows * rows.batch +
				i % r->n.n_rows * rows.row;

		if (at < 0)
			return sl__ref_refuse(ev, "no angles for token %lld",
					      (long long)i);
		for (int64_t head = 0; head < r->n.n_heads; head++)
			sl__rotary_turn(y + first + head * rows.head,
					r->cosines + at * r->n_pairs,
					r->sines + at * r->n_pairs, r->n_pairs,
					is_interleaved);
	}
	return SL_OK;
}

/* ONNX has the places last, the other one second. */
enum sl_status
sl__ref_rotary(struct sl__eval *ev)
{
	int is_other = sl__is_op(ev->node, SL__OP_MS_RotaryEmbedding);
	const struct sl__tensor *t = sl__ref_tensor(ev, 0);
	struct rotary r = {0};
	const double *x = sl__ref_doubles(ev, 0);
	double *y = sl__ref_new_output(ev, 0);

	if (ev->failure || read_rotary(&r, ev) ||
	    read_angles(&r, ev, is_other ? 2 : 1, is_other ? 1 : 3))
		return ev->failure;
	memcpy(y, x, (size_t)t->n_elements * sizeof(*y));
	if (turn_all(ev, &r, y, sl__int(ev->node, "interleaved", 0) != 0))
		return ev->failure;
	return sl__ref_store_doubles(ev, 0, y);
}
