/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ref_attention_ms.c - the attentions of com.microsoft computed: Attention,
 * MultiHeadAttention and GroupQueryAttention.
 *
 * Each finds its queries, keys and values in its own layout; ref_heads.c does
 * the rest.  What beam search and shared buffers need is refused.
 */
#include "ops/ref_heads.h"

#include <math.h>
#include <string.h>

#include "base/banned.h"

static enum sl_status
refuse(struct sl__kernel_call *ev, const char *what)
{
	return sl__ref_fail(ev, SL_E_ABSENT, "%s: not done by this build",
			    what);
}

static double
scale_of(const struct sl__node *node, int64_t width)
{
	double given = sl__attribute_float(node, "scale", 0);

	return given > 0 || given < 0 ? given : 1 / sqrt((double)width);
}

/* Input i, if it is there, is added to the scores; it is broadcast from
 * batch and heads of 1. */
static enum sl_status
read_bias(struct sl__head_attention *h, struct sl__kernel_call *ev, size_t i)
{
	const struct sl__tensor *t = sl__ref_input_tensor(ev, i);
	const double *x = sl__ref_optional_doubles(ev, i);
	int64_t steps[4];

	if (!x)
		return ev->failure;
	if (t->rank != 4 || (t->dims[0] != 1 && t->dims[0] != h->batch) ||
	    (t->dims[1] != 1 && t->dims[1] != h->n_heads) ||
	    t->dims[2] != h->queries || t->dims[3] < h->total)
		return sl__ref_reject(ev, "input %zu does not fit the scores",
				      i);
	sl__row_major_strides(steps, 4, t->dims);
	h->bias[1] = (struct sl__score_bias){x, t->dims[0] == 1 ? 0 : steps[0],
					     t->dims[1] == 1 ? 0 : steps[1],
					     steps[2], steps[3]};
	return SL_OK;
}

/*
 * A mask in one of many forms, and where in it a batch's key for a query is:
 * one number for each; or the ends of the texts, and perhaps their starts.
 */
struct mask {
	const int64_t *at;
	int64_t batch, query, first; /* steps, and where query 0 is */
	const int64_t *ends, *starts;
};

static enum sl_status
read_layout(struct mask *m, const struct sl__head_attention *h,
	    struct sl__kernel_call *ev, size_t i)
{
	const struct sl__tensor *t = sl__ref_input_tensor(ev, i);
	const int64_t *x = sl__ref_input_integers(ev, i), *dims = t->dims;
	int64_t past = h->offsets ? h->offsets[0] : 0;

	memset(m, 0, sizeof(*m));
	if (!x)
		return ev->failure;
	m->at = x;
	if (t->rank == 1 && (dims[0] == h->batch || dims[0] == 2 * h->batch ||
			     dims[0] == 3 * h->batch + 2)) {
		m->ends = x;
		m->starts = dims[0] == 2 * h->batch ? x + h->batch : NULL;
	} else if (t->rank == 2 && dims[0] == h->batch && dims[1] == h->total) {
		m->batch = h->total;
	} else if (t->rank == 3 && dims[0] == h->batch &&
		   dims[1] == h->queries && dims[2] == h->total) {
		m->query = h->total;
		m->batch = h->queries * h->total;
	} else if (t->rank == 4 && dims[0] == h->batch && dims[1] == 1 &&
		   dims[2] >= past + h->queries && dims[3] >= h->total) {
		m->query = dims[3];
		m->batch = dims[2] * dims[3];
		m->first = past * dims[3];
	} else {
		return sl__ref_reject(ev, "the mask does not fit the scores");
	}
	return SL_OK;
}

static int
is_seen(const struct mask *m, int64_t b, int64_t query, int64_t key)
{
	if (m->ends)
		return key < m->ends[b] && (!m->starts || key >= m->starts[b]);
	return m->at[b * m->batch + m->first + query * m->query + key] > 0;
}

/* bias[0] becomes mask_filter_value where input i hides a key, a number that
 * is added and so orders hidden keys among themselves. */
static enum sl_status
read_mask(struct sl__head_attention *h, struct sl__kernel_call *ev, size_t i)
{
	double hidden =
		sl__attribute_float(ev->node, "mask_filter_value", -10000);
	int64_t n = h->batch * h->queries * h->total;
	struct mask m;
	double *made;

	if (!sl__ref_input_tensor(ev, i) || read_layout(&m, h, ev, i))
		return ev->failure;
	made = sl__ref_scratch_doubles(ev, n);
	for (int64_t k = 0; made && k < n; k++) {
		int64_t b = k / h->total / h->queries;

		if (!is_seen(&m, b, k / h->total % h->queries, k % h->total))
			made[k] = hidden;
	}
	h->bias[0] = (struct sl__score_bias){made, h->queries * h->total, 0,
					     h->total, 1};
	h->bias_keys = h->total;
	return ev->failure;
}

/* The first query stands after the past in every batch. */
static enum sl_status
stand_after(struct sl__head_attention *h, struct sl__kernel_call *ev,
	    int64_t past)
{
	int64_t *offsets = sl__ref_scratch_integers(ev, h->batch + 1);

	for (int64_t b = 0; offsets && b <= h->batch; b++)
		offsets[b] = past;
	h->offsets = offsets;
	h->is_causal = sl__attribute_int(ev->node, "unidirectional", 0) != 0;
	return ev->failure;
}

/* Q, K and V of one weight: [batch][length][widths[0] + [1] + [2]]. */
struct projection {
	int64_t widths[3], columns;
	double *rows;
};

static enum sl_status
project(struct projection *p, struct sl__kernel_call *ev)
{
	int64_t inner = sl__ref_input_dim(ev, 1, 0);
	int64_t n_rows =
		sl__ref_input_dim(ev, 0, 0) * sl__ref_input_dim(ev, 0, 1);
	const double *x = sl__ref_input_doubles(ev, 0),
		     *w = sl__ref_input_doubles(ev, 1);
	const double *bias = sl__ref_optional_doubles(ev, 2);

	p->rows = sl__ref_scratch_doubles(ev, n_rows * p->columns);
	if (ev->failure)
		return ev->failure;
	for (int64_t i = 0; i < n_rows; i++) {
		double *y = p->rows + i * p->columns;

		for (int64_t j = 0; bias && j < p->columns; j++)
			y[j] = bias[j];
		for (int64_t k = 0; k < inner; k++) {
			double factor = x[i * inner + k];

			for (int64_t j = 0; j < p->columns; j++)
				y[j] += factor * w[k * p->columns + j];
		}
	}
	return SL_OK;
}

/* Part i (0: Q, 1: K, 2: V) as heads, after the rows of the past, which is
 * input 4's half for it. */
static const double *
take_part(struct sl__kernel_call *ev, const struct projection *p, int i,
	  const struct sl__head_attention *h)
{
	struct sl__head_row_counts n = {h->batch, h->n_heads, h->queries,
					p->widths[i] / h->n_heads};
	int64_t past = i ? h->past : 0;
	int64_t first = (i > 0 ? p->widths[0] : 0) + (i > 1 ? p->widths[1] : 0);
	struct sl__head_rows rows = {p->rows + first, h->queries * p->columns,
				     n.width, p->columns};
	struct sl__head_row_target to = {past + h->queries, NULL, past};
	const double *old = past ? sl__ref_optional_doubles(ev, 4) : NULL;

	if (old && i == 2)
		old += h->batch * h->n_heads * past * n.width;
	return sl__head_rows_concat(ev, &to, old, &rows, &n, NULL);
}

static enum sl_status
read_projected(struct sl__head_attention *h, struct sl__kernel_call *ev)
{
	const struct sl__tensor *bias = sl__ref_input_tensor(ev, 2);
	struct projection p = {.columns = sl__ref_input_dim(ev, 1, 1)};

	if (sl__head_attention_read(h, ev))
		return ev->failure;
	p.widths[0] = p.widths[1] = h->n_heads * h->width;
	p.widths[2] = h->n_heads * h->value_width;
	if (2 * p.widths[0] + p.widths[2] != p.columns ||
	    (bias && bias->n_elements != (uint64_t)p.columns))
		return sl__ref_reject(
			ev, "the weight's columns are not those of Q, K "
			    "and V");
	if (sl__ref_input(ev, 4) &&
	    (h->value_width != h->width ||
	     !sl__ref_input_has_dims(
		     ev, 4, 5,
		     (int64_t[]){2, h->batch, h->n_heads, h->past, h->width})))
		return sl__ref_reject(ev, "the past does not fit");
	if (project(&p, ev))
		return ev->failure;
	h->q = take_part(ev, &p, 0, h);
	h->k = take_part(ev, &p, 1, h);
	h->v = take_part(ev, &p, 2, h);
	return ev->failure;
}

/* Keys, then values. */
static enum sl_status
store_present(const struct sl__head_attention *h, struct sl__kernel_call *ev)
{
	const int64_t dims[5] = {2, h->batch, h->n_heads, h->total, h->width};
	size_t n = (size_t)(h->batch * h->n_heads * h->total * h->width);
	double *both;

	if (!sl__ref_output(ev, 1))
		return SL_OK;
	if (h->width != h->value_width)
		return sl__ref_reject(ev,
				      "keys and values of other widths have no "
				      "common state");
	both = sl__ref_scratch(ev, 2 * n, sizeof(*both));
	if (!both)
		return ev->failure;
	memcpy(both, h->k, n * sizeof(*both));
	memcpy(both + n, h->v, n * sizeof(*both));
	return sl__ref_output_alloc_store(ev, 1, sl__ref_input_dtype(ev, 0), 5,
					  dims, both);
}

enum sl_status
sl__ref_projected_attention(struct sl__kernel_call *ev)
{
	struct sl__head_attention h = {.is_flat = 1, .left = -1, .right = -1};
	int64_t dims[3];

	if (sl__attribute_int(ev->node, "do_rotary", 0) ||
	    sl__attribute_int(ev->node, "past_present_share_buffer", 0))
		return refuse(ev, "do_rotary or past_present_share_buffer");
	if (read_projected(&h, ev) || stand_after(&h, ev, h.past) ||
	    read_mask(&h, ev, 3) || read_bias(&h, ev, 5))
		return ev->failure;
	h.scale = scale_of(ev->node, h.width);
	if (sl__head_attention_run(ev, &h) || store_present(&h, ev))
		return ev->failure;
	dims[0] = h.batch;
	dims[1] = h.queries;
	dims[2] = h.n_heads * h.value_width;
	return sl__ref_output_alloc_store(ev, 0, sl__ref_input_dtype(ev, 0), 3,
					  dims, h.y);
}

/* The input in which operand i of a MultiHeadAttention lies: keys (1) and
 * values (2) may be packed with the queries, or with each other. */
static size_t
holder_of(const struct sl__kernel_call *ev, size_t i)
{
	return sl__ref_input(ev, i) ? i : sl__ref_input(ev, 1) ? 1 : 0;
}

static enum sl_status
find_rows(struct sl__head_rows *rows, struct sl__head_row_counts *n,
	  struct sl__kernel_call *ev, size_t i)
{
	size_t from = holder_of(ev, i);
	const struct sl__tensor *t = sl__ref_input_tensor(ev, from);
	const double *x = sl__ref_input_doubles(ev, from);

	if (!x)
		return ev->failure;
	if (t->rank == 3 && from == i && t->dims[2] % n->n_heads == 0) {
		n->n_rows = t->dims[1];
		n->width = t->dims[2] / n->n_heads;
		*rows = sl__head_rows_of_tensor(x, n, 1);
	} else if (t->rank == 4 && from == i && t->dims[1] == n->n_heads) {
		n->n_rows = t->dims[2];
		n->width = t->dims[3];
		*rows = sl__head_rows_of_tensor(x, n, 0);
	} else if (t->rank == 5 && t->dims[2] == n->n_heads &&
		   t->dims[3] == (from == 0 ? 3 : 2)) {
		n->n_rows = t->dims[1];
		n->width = t->dims[4];
		rows->at = x + (int64_t)(i - (from == 0 ? 0 : 1)) * n->width;
		rows->head = t->dims[3] * n->width;
		rows->row = n->n_heads * rows->head;
		rows->batch = n->n_rows * rows->row;
	} else {
		return sl__ref_reject(
			ev, "input %zu is no queries, keys or values", i);
	}
	return t->dims[0] == n->batch
		       ? SL_OK
		       : sl__ref_reject(ev, "batches of other sizes");
}

/* Operand i as heads, behind the rows of its past; n->n_rows becomes how many
 * rows there are. */
static const double *
take_operand(struct sl__head_row_counts *n, struct sl__kernel_call *ev,
	     size_t i, const double *bias)
{
	const struct sl__tensor *t = i ? sl__ref_input_tensor(ev, i + 5) : NULL;
	struct sl__head_row_target to = {.start = t && t->rank == 4 ? t->dims[2]
								    : 0};
	const double *old = t ? sl__ref_input_doubles(ev, i + 5) : NULL, *made;
	struct sl__head_rows rows;

	if (ev->failure || find_rows(&rows, n, ev, i))
		return NULL;
	if (t && (t->rank != 4 || t->dims[0] != n->batch ||
		  t->dims[1] != n->n_heads || t->dims[3] != n->width))
		sl__ref_reject(ev, "the past does not fit");
	to.room = to.start + n->n_rows;
	made = ev->failure ? NULL
			   : sl__head_rows_concat(ev, &to, old, &rows, n, bias);
	n->n_rows = to.room;
	return made;
}

/*
 * Operand i's share of the bias, which is as wide as the operand and begins
 * at 'first'.  Keys and values that are heads already are the end
 * of another projection and take none, as in ONNX Runtime.
 */
static const double *
share_bias(struct sl__kernel_call *ev, size_t i, int64_t n_heads, int64_t first)
{
	const struct sl__tensor *t = sl__ref_input_tensor(ev, holder_of(ev, i));
	const struct sl__tensor *b = sl__ref_input_tensor(ev, 3);
	const double *bias = sl__ref_optional_doubles(ev, 3);
	uint64_t width;

	if (!bias || !t || t->rank < 3 || t->rank == 4)
		return NULL;
	width = (uint64_t)t->dims[t->rank - 1] *
		(t->rank == 3 ? 1 : (uint64_t)n_heads);
	if (b->n_elements < (uint64_t)first ||
	    b->n_elements - (uint64_t)first < width)
		sl__ref_reject(ev, "the bias is too short");
	return bias + first;
}

static enum sl_status
read_multi_head(struct sl__head_attention *h, struct sl__kernel_call *ev)
{
	const double **parts[3] = {&h->q, &h->k, &h->v};
	struct sl__head_row_counts n[3];
	int64_t first = 0; /* of the share of the bias */

	h->batch = sl__ref_input_dim(ev, 0, 0);
	h->n_heads = h->n_kv_heads =
		sl__attribute_int(ev->node, "num_heads", 0);
	if (h->n_heads < 1 || h->n_heads > INT32_MAX)
		return sl__ref_reject(ev, "%lld heads", (long long)h->n_heads);
	for (size_t i = 0; !ev->failure && i < 3; i++) {
		const double *bias = share_bias(ev, i, h->n_heads, first);

		n[i] = (struct sl__head_row_counts){h->batch, h->n_heads, 0, 0};
		if (!ev->failure)
			*parts[i] = take_operand(&n[i], ev, i, bias);
		first += h->n_heads * n[i].width;
	}
	if (ev->failure)
		return ev->failure;
	if (n[1].width != n[0].width || n[1].n_rows != n[2].n_rows)
		return sl__ref_reject(ev,
				      "keys and values do not fit the queries");
	h->queries = n[0].n_rows;
	h->total = h->room = n[1].n_rows;
	h->width = n[0].width;
	h->value_width = n[2].width;
	return SL_OK;
}

enum sl_status
sl__ref_multi_head(struct sl__kernel_call *ev)
{
	const struct sl__tensor *old = sl__ref_input_tensor(ev, 6);
	struct sl__head_attention h = {.is_flat = 1,
				       .left = -1,
				       .right = -1,
				       .has_scores = sl__ref_output(ev, 3) !=
						     NULL};

	if (sl__ref_input(ev, 8) || sl__ref_input(ev, 9))
		return refuse(ev, "past_sequence_length");
	if (read_multi_head(&h, ev) ||
	    stand_after(&h, ev, old ? old->dims[2] : 0) ||
	    read_mask(&h, ev, 4) || read_bias(&h, ev, 5))
		return ev->failure;
	h.scale = scale_of(ev->node, h.width);
	return sl__head_attention_run(ev, &h)
		       ? ev->failure
		       : sl__head_attention_store(ev, &h);
}

enum { PAST = 3, LENGTHS = 5, TOTAL, COSINES, SINES, PLACES, BIAS, SINK };

/* Lengths of the texts: 'ends' with the new tokens, 'starts' before them. */
static enum sl_status
read_lengths(struct sl__head_attention *h, struct sl__kernel_call *ev)
{
	const struct sl__tensor *t = sl__ref_input_tensor(ev, LENGTHS);
	double given = sl__ref_input_scalar(ev, TOTAL, 0);
	int64_t total = given >= 0 && given < 0x1p62 ? (int64_t)given : -1;
	int64_t *ends = sl__ref_scratch_integers(ev, h->batch);
	int64_t *starts = sl__ref_scratch_integers(ev, h->batch);
	const int64_t *last = sl__ref_input_integers(ev, LENGTHS);

	if (ev->failure)
		return ev->failure;
	if (t->n_elements != (uint64_t)h->batch)
		return sl__ref_reject(ev, "seqlens_k is not one number "
					  "for each text");
	h->room = total > h->room ? total : h->room;
	h->total = total;
	for (int64_t b = 0; b < h->batch; b++) {
		int is_apt = last[b] >= 0 && last[b] < total;

		ends[b] = is_apt ? last[b] + 1 : 0;
		/* A text that is new starts at 0, however short it is. */
		starts[b] = h->queries == total ? 0 : ends[b] - h->queries;
		if (!is_apt || starts[b] < 0 ||
		    starts[b] + h->queries > h->room)
			return sl__ref_reject(
				ev,
				"the last of its tokens is number "
				"%lld, of %lld of which %lld are new",
				(long long)last[b], (long long)total,
				(long long)h->queries);
	}
	h->ends = ends;
	h->offsets = starts;
	return SL_OK;
}

/* Turns new rows [batch][n_heads][n_rows][width] by where they stand. */
static enum sl_status
turn_rows(double *rows, const struct sl__head_row_counts *n,
	  const struct sl__head_attention *h, struct sl__kernel_call *ev)
{
	const struct sl__tensor *t = sl__ref_input_tensor(ev, COSINES);
	const struct sl__tensor *given = sl__ref_input_tensor(ev, PLACES);
	int is_interleaved =
		sl__attribute_int(ev->node, "rotary_interleaved", 0) != 0;
	int64_t pairs = sl__ref_input_dim(ev, COSINES, -1);
	const double *cosines = sl__ref_input_doubles(ev, COSINES);
	const double *sines = sl__ref_input_doubles(ev, SINES);
	const int64_t *places = sl__ref_optional_integers(ev, PLACES);

	if (ev->failure)
		return ev->failure;
	if (t->rank != 2 || 2 * pairs > n->width ||
	    sl__ref_input_tensor(ev, SINES)->n_elements != t->n_elements ||
	    (given && given->n_elements != (uint64_t)(n->batch * n->n_rows)))
		return sl__ref_reject(ev, "the angles do not fit");
	for (int64_t i = 0; i < n->batch * n->n_heads * n->n_rows; i++) {
		int64_t b = i / n->n_rows / n->n_heads, row = i % n->n_rows;
		int64_t at = places ? places[b * n->n_rows + row]
				    : h->offsets[b] + row;

		if (at < 0 || at >= t->dims[0])
			return sl__ref_reject(ev, "no angles for %lld",
					      (long long)at);
		sl__rotary_rotate_row(rows + i * n->width, cosines + at * pairs,
				      sines + at * pairs, pairs,
				      is_interleaved);
	}
	return SL_OK;
}

/* Part i of Q, K and V, each an input or all in the first, turned if it is
 * to be. */
static double *
take_group_part(struct sl__kernel_call *ev, size_t i,
		const struct sl__head_attention *h)
{
	int is_packed = !sl__ref_input(ev, 1);
	struct sl__head_row_counts n = {
		h->batch, i ? h->n_kv_heads : h->n_heads, h->queries, h->width};
	int64_t all = (h->n_heads + 2 * h->n_kv_heads) * h->width;
	const double *x = sl__ref_input_doubles(ev, is_packed ? 0 : i);
	struct sl__head_rows rows = sl__head_rows_of_tensor(x, &n, 1);
	double *made;

	if (!x)
		return NULL;
	if (is_packed) {
		rows.row = all;
		rows.batch = h->queries * all;
		rows.at += i == 0   ? 0
			   : i == 1 ? h->n_heads * h->width
				    : (h->n_heads + h->n_kv_heads) * h->width;
	}
	made = sl__head_rows_concat(
		ev, &(struct sl__head_row_target){h->queries, NULL, 0}, NULL,
		&rows, &n, NULL);
	if (made && i < 2 && sl__attribute_int(ev->node, "do_rotary", 0))
		turn_rows(made, &n, h, ev);
	return made;
}

/* The cache with the new rows in it. */
static const double *
renew_cache(struct sl__kernel_call *ev, size_t i,
	    const struct sl__head_attention *h)
{
	const struct sl__tensor *t = sl__ref_input_tensor(ev, PAST + i - 1);
	struct sl__head_row_counts n = {h->batch, h->n_kv_heads, h->queries,
					h->width};
	struct sl__head_row_target to = {h->room, h->offsets,
					 t ? t->dims[2] : 0};
	const double *old = sl__ref_optional_doubles(ev, PAST + i - 1);
	struct sl__head_rows rows =
		sl__head_rows_of_tensor(take_group_part(ev, i, h), &n, 0);

	return ev->failure
		       ? NULL
		       : sl__head_rows_concat(ev, &to, old, &rows, &n, NULL);
}

static enum sl_status
read_group_sizes(struct sl__head_attention *h, struct sl__kernel_call *ev)
{
	if (sl__head_attention_read(h, ev))
		return ev->failure;
	h->room = h->past;
	for (size_t i = 1; i < 3; i++) {
		int64_t rows[3] = {h->batch, h->queries,
				   h->n_kv_heads * h->width};
		int64_t past[4] = {h->batch, h->n_kv_heads, h->room, h->width};

		if ((sl__ref_input(ev, 1) &&
		     !sl__ref_input_has_dims(ev, i, 3, rows)) ||
		    (!sl__ref_input(ev, 1) && sl__ref_input(ev, i)) ||
		    (sl__ref_input(ev, PAST + i - 1) &&
		     !sl__ref_input_has_dims(ev, PAST + i - 1, 4, past)))
			return sl__ref_reject(
				ev, "keys, values or their past do not "
				    "fit the queries");
	}
	return SL_OK;
}

/* One score more for each head, which takes part of the weights: given, or 0
 * with smooth_softmax. */
static enum sl_status
read_sinks(struct sl__head_attention *h, struct sl__kernel_call *ev)
{
	const struct sl__tensor *t = sl__ref_input_tensor(ev, SINK);

	if (t && t->n_elements != (uint64_t)h->n_heads)
		return sl__ref_reject(ev, "head_sink is not one number "
					  "for each head");
	if (t)
		h->sinks = sl__ref_input_doubles(ev, SINK);
	else if (sl__attribute_int(ev->node, "smooth_softmax", 0) > 0)
		h->sinks = sl__ref_scratch_doubles(ev, h->n_heads);
	return ev->failure;
}

enum sl_status
sl__ref_group_query(struct sl__kernel_call *ev)
{
	int64_t window = sl__attribute_int(ev->node, "local_window_size", -1);
	struct sl__head_attention h = {
		.is_flat = 1, .is_causal = 1, .right = -1};

	if (sl__ref_output(ev, 3) || sl__ref_input(ev, 12) ||
	    sl__ref_input(ev, 13))
		return refuse(ev, "scores to hand out, or a quantized cache");
	if (read_group_sizes(&h, ev) || read_lengths(&h, ev))
		return ev->failure;
	h.q = take_group_part(ev, 0, &h);
	h.k = renew_cache(ev, 1, &h);
	h.v = renew_cache(ev, 2, &h);
	if (ev->failure || read_bias(&h, ev, BIAS) || read_sinks(&h, ev))
		return ev->failure;
	h.left = window > 0 ? window - 1 : -1;
	h.scale = scale_of(ev->node, h.width);
	h.softcap = sl__attribute_float(ev->node, "softcap", 0);
	return sl__head_attention_run(ev, &h)
		       ? ev->failure
		       : sl__head_attention_store(ev, &h);
}
