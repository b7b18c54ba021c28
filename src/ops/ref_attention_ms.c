/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ref_attention_ms.c - the attentions of com.microsoft computed: Attention,
 * MultiHeadAttention and GroupQueryAttention.
 *
 * Each finds its queries, keys and values in its own layout; ref_heads.c does
 * the rest.  What beam search and shared buffers need is refused.
 */
#include "base/status.h"
#include "graph/op_rules.h"
#include "ops/ref_heads.h"
#include "ops/ref_read.h"

#include <math.h>
#include <string.h>

#include "base/banned.h"

/* Storage for rows [batch][n_heads][room][width]. */
static double *
new_rows(struct sl__eval *ev, const struct sl__row_counts *n, int64_t room)
{
	return sl__ref_new(ev,
			   (size_t)(n->batch * n->n_heads * room * n->width),
			   sizeof(double));
}

static enum sl_status
refuse(struct sl_error *err, const char *what)
{
	return sl__fail(err, SL_E_ABSENT, "%s: not done by this build", what);
}

/* Room for the result and, where output k is asked for, the scores. */
static enum sl_status
make_results(struct sl__heads *h, struct sl__eval *ev, size_t k,
	     struct sl_error *err)
{
	int64_t n = h->batch * h->n_heads * h->queries;

	h->is_flat = 1;
	h->left = h->right = -1;
	h->y = sl__ref_new(ev, (size_t)(n * h->value_width), sizeof(*h->y));
	if (sl__ref_result(ev, k))
		h->scores = sl__ref_new(ev, (size_t)(n * h->total),
					sizeof(*h->scores));
	return h->y && (h->scores || !sl__ref_result(ev, k))
		       ? SL_OK
		       : sl__fail_nomem(err);
}

static double
scale_of(const struct sl__node *node, int64_t width)
{
	double given = sl__float(node, "scale", 0);

	return given > 0 || given < 0 ? given : 1 / sqrt((double)width);
}

/* Input i, if it is there, is added to the scores; it is broadcast from
 * batch and heads of 1. */
static enum sl_status
read_bias(struct sl__heads *h, struct sl__eval *ev, size_t i,
	  struct sl_error *err)
{
	const struct sl__tensor *t = sl__ref_tensor(ev, i);
	int64_t steps[4];
	const double *x;
	enum sl_status rc = sl__ref_read(ev, i, &x, err);

	if (rc || !t)
		return rc;
	if (t->rank != 4 || (t->dims[0] != 1 && t->dims[0] != h->batch) ||
	    (t->dims[1] != 1 && t->dims[1] != h->n_heads) ||
	    t->dims[2] != h->queries || t->dims[3] < h->total)
		return sl__fail(err, SL_E_DATA,
				"input %zu does not fit the scores", i);
	sl__ref_strides(steps, 4, t->dims);
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
read_form(struct mask *m, const struct sl__heads *h, struct sl__eval *ev,
	  size_t i, struct sl_error *err)
{
	const struct sl__tensor *t = sl__ref_tensor(ev, i);
	const int64_t *x, *dims = t->dims;
	int64_t past = h->offsets ? h->offsets[0] : 0;
	enum sl_status rc = sl__ref_read_whole(ev, i, &x, err);

	memset(m, 0, sizeof(*m));
	if (rc)
		return rc;
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
		return sl__fail(err, SL_E_DATA,
				"the mask does not fit the scores");
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
read_mask(struct sl__heads *h, struct sl__eval *ev, size_t i,
	  struct sl_error *err)
{
	double hidden = sl__float(ev->node, "mask_filter_value", -10000);
	int64_t n = h->batch * h->queries * h->total;
	struct mask m;
	double *made;
	enum sl_status rc;

	if (!sl__ref_tensor(ev, i))
		return SL_OK;
	rc = read_form(&m, h, ev, i, err);
	if (rc)
		return rc;
	made = sl__ref_new(ev, (size_t)n, sizeof(*made));
	if (!made)
		return sl__fail_nomem(err);
	for (int64_t k = 0; k < n; k++) {
		int64_t b = k / h->total / h->queries;

		if (!is_seen(&m, b, k / h->total % h->queries, k % h->total))
			made[k] = hidden;
	}
	h->bias[0] = (struct sl__score_bias){made, h->queries * h->total, 0,
					     h->total, 1};
	h->bias_keys = h->total;
	return SL_OK;
}

/* The first query stands after the past in every batch. */
static enum sl_status
stand_after(struct sl__heads *h, struct sl__eval *ev, int64_t past,
	    struct sl_error *err)
{
	int64_t *offsets =
		sl__ref_new(ev, (size_t)h->batch + 1, sizeof(*offsets));

	if (!offsets)
		return sl__fail_nomem(err);
	for (int64_t b = 0; b <= h->batch; b++)
		offsets[b] = past;
	h->offsets = offsets;
	h->is_causal = sl__int(ev->node, "unidirectional", 0) != 0;
	return SL_OK;
}

/* Q, K and V of one weight: [batch][length][widths[0] + [1] + [2]]. */
struct projection {
	int64_t widths[3], columns;
	double *rows;
};

static enum sl_status
read_widths(struct projection *p, struct sl__eval *ev, int64_t n_heads,
	    struct sl_error *err)
{
	const struct sl__tensor *bias = sl__ref_tensor(ev, 2);
	const int64_t *given;
	size_t n = sl__ints(ev->node, "qkv_hidden_sizes", &given);

	p->columns = sl__ref_dim(ev, 1, 1);
	for (size_t i = 0; i < 3; i++) {
		p->widths[i] = n == 3 ? given[i] : p->columns / 3;
		if (p->widths[i] < 1 || p->widths[i] > p->columns ||
		    n_heads < 1 || p->widths[i] % n_heads)
			return sl__fail(err, SL_E_DATA,
					"a width of %lld over %lld heads",
					(long long)p->widths[i],
					(long long)n_heads);
	}
	if (p->widths[0] != p->widths[1] ||
	    p->widths[0] + p->widths[1] + p->widths[2] != p->columns ||
	    (bias && bias->n_elements != (uint64_t)p->columns))
		return sl__fail(err, SL_E_DATA,
				"the weight's columns are not those of Q, K "
				"and V");
	return SL_OK;
}

static enum sl_status
project(struct projection *p, struct sl__eval *ev, struct sl_error *err)
{
	int64_t inner = sl__ref_dim(ev, 1, 0);
	int64_t n_rows = sl__ref_dim(ev, 0, 0) * sl__ref_dim(ev, 0, 1);
	const double *x, *w, *bias;
	enum sl_status rc = sl__ref_read(ev, 0, &x, err);

	if (!rc)
		rc = sl__ref_read(ev, 1, &w, err);
	if (!rc)
		rc = sl__ref_read(ev, 2, &bias, err);
	if (rc)
		return rc;
	p->rows = sl__ref_new(ev, (size_t)(n_rows * p->columns),
			      sizeof(*p->rows));
	if (!p->rows)
		return sl__fail_nomem(err);
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

/* Part i (0: Q, 1: K, 2: V) as heads, after the rows of 'past', which is
 * input 4's half for it. */
static enum sl_status
take_part(const double **out, struct sl__eval *ev, const struct projection *p,
	  int i, const struct sl__heads *h, struct sl_error *err)
{
	struct sl__row_counts n = {h->batch, h->n_heads, h->queries,
				   p->widths[i] / h->n_heads};
	int64_t past = i ? h->total - h->queries : 0;
	int64_t first = (i > 0 ? p->widths[0] : 0) + (i > 1 ? p->widths[1] : 0);
	struct sl__rows rows = {p->rows + first, h->queries * p->columns,
				n.width, p->columns};
	struct sl__row_counts before = n;
	double *made = new_rows(ev, &n, past + h->queries);
	const double *old = NULL;
	enum sl_status rc = made ? SL_OK : sl__fail_nomem(err);

	if (!rc && past)
		rc = sl__ref_read(ev, 4, &old, err);
	if (rc)
		return rc;
	sl__rows_place(
		&(struct sl__row_place){made, past + h->queries, NULL, past},
		&rows, &n, NULL);
	before.n_rows = past;
	if (old && i == 2)
		old += h->batch * h->n_heads * past * n.width;
	rows = sl__rows_of(old, &before, 0);
	if (old)
		sl__rows_place(&(struct sl__row_place){made, past + h->queries,
						       NULL, 0},
			       &rows, &before, NULL);
	*out = made;
	return SL_OK;
}

static enum sl_status
read_projected(struct sl__heads *h, struct sl__eval *ev, struct sl_error *err)
{
	const struct sl__tensor *x = sl__ref_tensor(ev, 0);
	const struct sl__tensor *old = sl__ref_tensor(ev, 4);
	struct projection p = {0};
	enum sl_status rc;

	if (!x || x->rank != 3 || sl__ref_rank(ev, 1) != 2 ||
	    sl__ref_dim(ev, 1, 0) != x->dims[2])
		return sl__fail(err, SL_E_DATA, "the weight does not fit");
	h->batch = x->dims[0];
	h->queries = x->dims[1];
	h->n_heads = h->n_kv_heads = sl__int(ev->node, "num_heads", 0);
	rc = read_widths(&p, ev, h->n_heads, err);
	if (rc)
		return rc;
	h->width = p.widths[0] / h->n_heads;
	h->value_width = p.widths[2] / h->n_heads;
	if (old && (old->rank != 5 || old->dims[0] != 2 ||
		    old->dims[1] != h->batch || old->dims[2] != h->n_heads ||
		    old->dims[4] != h->width || h->value_width != h->width))
		return sl__fail(err, SL_E_DATA, "the past does not fit");
	h->total = h->room = h->queries + (old ? old->dims[3] : 0);
	rc = project(&p, ev, err);
	if (!rc)
		rc = take_part(&h->q, ev, &p, 0, h, err);
	if (!rc)
		rc = take_part(&h->k, ev, &p, 1, h, err);
	return rc ? rc : take_part(&h->v, ev, &p, 2, h, err);
}

/* Keys, then values. */
static enum sl_status
store_present(const struct sl__heads *h, struct sl__eval *ev,
	      struct sl_error *err)
{
	const int64_t dims[5] = {2, h->batch, h->n_heads, h->total, h->width};
	size_t n = (size_t)(h->batch * h->n_heads * h->total * h->width);
	double *both;
	enum sl_status rc;

	if (!sl__ref_result(ev, 1))
		return SL_OK;
	if (h->width != h->value_width)
		return sl__fail(err, SL_E_DATA,
				"keys and values of other widths have no "
				"common state");
	both = sl__ref_new(ev, 2 * n, sizeof(*both));
	if (!both)
		return sl__fail_nomem(err);
	memcpy(both, h->k, n * sizeof(*both));
	memcpy(both + n, h->v, n * sizeof(*both));
	rc = sl__ref_out(ev, 1, sl__ref_dtype(ev, 0), 5, dims, err);
	if (!rc)
		sl__ref_store_doubles(ev, 1, both);
	return rc;
}

enum sl_status
sl__ref_projected_attention(struct sl__eval *ev, struct sl_error *err)
{
	struct sl__heads h = {0};
	int64_t dims[3];
	enum sl_status rc;

	if (sl__int(ev->node, "do_rotary", 0) ||
	    sl__int(ev->node, "past_present_share_buffer", 0))
		return refuse(err, "do_rotary or past_present_share_buffer");
	rc = read_projected(&h, ev, err);
	if (!rc)
		rc = make_results(&h, ev, SIZE_MAX, err);
	if (!rc)
		rc = stand_after(&h, ev, h.total - h.queries, err);
	if (!rc)
		rc = read_mask(&h, ev, 3, err);
	if (!rc)
		rc = read_bias(&h, ev, 5, err);
	h.scale = scale_of(ev->node, h.width);
	if (!rc)
		rc = sl__heads_run(ev, &h, err);
	if (!rc)
		rc = store_present(&h, ev, err);
	if (rc)
		return rc;
	dims[0] = h.batch;
	dims[1] = h.queries;
	dims[2] = h.n_heads * h.value_width;
	rc = sl__ref_out(ev, 0, sl__ref_dtype(ev, 0), 3, dims, err);
	if (!rc)
		sl__ref_store_doubles(ev, 0, h.y);
	return rc;
}

/* The input in which operand i of a MultiHeadAttention lies: keys (1) and
 * values (2) may be packed with the queries, or with each other. */
static size_t
holder_of(const struct sl__eval *ev, size_t i)
{
	return sl__ref_in(ev, i) ? i : sl__ref_in(ev, 1) ? 1 : 0;
}

static enum sl_status
find_rows(struct sl__rows *rows, struct sl__row_counts *n, struct sl__eval *ev,
	  size_t i, struct sl_error *err)
{
	size_t from = holder_of(ev, i);
	const struct sl__tensor *t = sl__ref_tensor(ev, from);
	int64_t n_parts;
	const double *x;
	enum sl_status rc = sl__ref_read(ev, from, &x, err);

	if (rc)
		return rc;
	if (t && t->rank == 3 && from == i && t->dims[2] % n->n_heads == 0) {
		n->n_rows = t->dims[1];
		n->width = t->dims[2] / n->n_heads;
		*rows = sl__rows_of(x, n, 1);
	} else if (t && t->rank == 4 && from == i && t->dims[1] == n->n_heads) {
		n->n_rows = t->dims[2];
		n->width = t->dims[3];
		*rows = sl__rows_of(x, n, 0);
	} else if (t && t->rank == 5 && t->dims[2] == n->n_heads &&
		   t->dims[3] == (from == 0 ? 3 : 2)) {
		n_parts = t->dims[3];
		n->n_rows = t->dims[1];
		n->width = t->dims[4];
		rows->at = x + (int64_t)(i - (from == 0 ? 0 : 1)) * n->width;
		rows->head = n_parts * n->width;
		rows->row = n->n_heads * rows->head;
		rows->batch = n->n_rows * rows->row;
	} else {
		return sl__fail(err, SL_E_DATA,
				"input %zu is no queries, keys or values", i);
	}
	return t->dims[0] == n->batch
		       ? SL_OK
		       : sl__fail(err, SL_E_DATA, "batches of other sizes");
}

/* Operand i as heads, behind the rows of input 'past'; *total is how many
 * rows there are. */
static enum sl_status
take_operand(const double **out, struct sl__row_counts *n, struct sl__eval *ev,
	     size_t i, const double *bias, struct sl_error *err)
{
	const struct sl__tensor *t = i ? sl__ref_tensor(ev, i + 5) : NULL;
	int64_t past = t && t->rank == 4 ? t->dims[2] : 0;
	struct sl__row_counts before;
	struct sl__rows rows;
	const double *old = NULL;
	double *made;
	enum sl_status rc = find_rows(&rows, n, ev, i, err);

	if (!rc && t)
		rc = sl__ref_read(ev, i + 5, &old, err);
	if (rc)
		return rc;
	if (t && (t->rank != 4 || t->dims[0] != n->batch ||
		  t->dims[1] != n->n_heads || t->dims[3] != n->width))
		return sl__fail(err, SL_E_DATA, "the past does not fit");
	made = new_rows(ev, n, past + n->n_rows);
	if (!made)
		return sl__fail_nomem(err);
	sl__rows_place(
		&(struct sl__row_place){made, past + n->n_rows, NULL, past},
		&rows, n, bias);
	before = *n;
	before.n_rows = past;
	rows = sl__rows_of(old, &before, 0);
	if (old)
		sl__rows_place(&(struct sl__row_place){made, past + n->n_rows,
						       NULL, 0},
			       &rows, &before, NULL);
	n->n_rows += past;
	*out = made;
	return SL_OK;
}

/*
 * Operand i's share of the bias, which is as wide as the operand and begins
 * at 'first'.  Keys and values that are heads already are the end
 * of another projection and take none, as in ONNX Runtime.
 */
static enum sl_status
share_bias(const double **out, struct sl__eval *ev, size_t i, int64_t n_heads,
	   int64_t first, struct sl_error *err)
{
	const struct sl__tensor *t = sl__ref_tensor(ev, holder_of(ev, i));
	const struct sl__tensor *b = sl__ref_tensor(ev, 3);
	uint64_t width;
	enum sl_status rc = sl__ref_read(ev, 3, out, err);

	if (rc || !b)
		return rc;
	if (!t || t->rank < 3 || t->rank == 4) {
		*out = NULL;
		return SL_OK;
	}
	width = (uint64_t)t->dims[t->rank - 1] *
		(t->rank == 3 ? 1 : (uint64_t)n_heads);
	if (b->n_elements < (uint64_t)first ||
	    b->n_elements - (uint64_t)first < width)
		return sl__fail(err, SL_E_DATA, "the bias is too short");
	*out += first;
	return SL_OK;
}

static enum sl_status
read_multi_head(struct sl__heads *h, struct sl__eval *ev, struct sl_error *err)
{
	const double **parts[3] = {&h->q, &h->k, &h->v};
	struct sl__row_counts n[3];
	int64_t first = 0; /* of the share of the bias */
	enum sl_status rc = SL_OK;

	h->batch = sl__ref_dim(ev, 0, 0);
	h->n_heads = h->n_kv_heads = sl__int(ev->node, "num_heads", 0);
	if (h->n_heads < 1 || h->n_heads > INT32_MAX)
		return sl__fail(err, SL_E_DATA, "%lld heads",
				(long long)h->n_heads);
	for (size_t i = 0; !rc && i < 3; i++) {
		const double *bias;

		n[i] = (struct sl__row_counts){h->batch, h->n_heads, 0, 0};
		rc = share_bias(&bias, ev, i, h->n_heads, first, err);
		if (!rc)
			rc = take_operand(parts[i], &n[i], ev, i, bias, err);
		if (!rc)
			first += h->n_heads * n[i].width;
	}
	if (rc)
		return rc;
	if (n[1].width != n[0].width || n[1].n_rows != n[2].n_rows)
		return sl__fail(err, SL_E_DATA,
				"keys and values do not fit the queries");
	h->queries = n[0].n_rows;
	h->total = h->room = n[1].n_rows;
	h->width = n[0].width;
	h->value_width = n[2].width;
	return SL_OK;
}

enum sl_status
sl__ref_multi_head(struct sl__eval *ev, struct sl_error *err)
{
	const struct sl__tensor *old = sl__ref_tensor(ev, 6);
	struct sl__heads h = {0};
	enum sl_status rc;

	if (sl__ref_in(ev, 8) || sl__ref_in(ev, 9))
		return refuse(err, "past_sequence_length");
	rc = read_multi_head(&h, ev, err);
	if (!rc)
		rc = make_results(&h, ev, 3, err);
	if (!rc)
		rc = stand_after(&h, ev, old ? old->dims[2] : 0, err);
	if (!rc)
		rc = read_mask(&h, ev, 4, err);
	if (!rc)
		rc = read_bias(&h, ev, 5, err);
	h.scale = scale_of(ev->node, h.width);
	if (!rc)
		rc = sl__heads_run(ev, &h, err);
	return rc ? rc : sl__heads_store(ev, &h, err);
}

enum { PAST = 3, LENGTHS = 5, TOTAL, COSINES, SINES, PLACES, BIAS, SINK };

/* Lengths of the texts: 'ends' with the new tokens, 'starts' before them. */
static enum sl_status
read_lengths(struct sl__heads *h, struct sl__eval *ev, struct sl_error *err)
{
	const struct sl__tensor *t = sl__ref_tensor(ev, LENGTHS);
	double given = sl__ref_number(ev, TOTAL, 0);
	int64_t total = given >= 0 && given < 0x1p62 ? (int64_t)given : -1;
	int64_t *ends = sl__ref_new(ev, (size_t)h->batch, sizeof(*ends));
	int64_t *starts = sl__ref_new(ev, (size_t)h->batch, sizeof(*starts));
	const int64_t *last;
	enum sl_status rc = sl__ref_read_whole(ev, LENGTHS, &last, err);

	if (rc || !ends || !starts)
		return rc ? rc : sl__fail_nomem(err);
	if (!t || t->n_elements != (uint64_t)h->batch)
		return sl__fail(err, SL_E_DATA,
				"seqlens_k is not one number "
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
			return sl__fail(err, SL_E_DATA,
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
turn_rows(double *rows, const struct sl__row_counts *n,
	  const struct sl__heads *h, struct sl__eval *ev, struct sl_error *err)
{
	const struct sl__tensor *t = sl__ref_tensor(ev, COSINES);
	const struct sl__tensor *given = sl__ref_tensor(ev, PLACES);
	int is_interleaved = sl__int(ev->node, "rotary_interleaved", 0) != 0;
	int64_t pairs = sl__ref_dim(ev, COSINES, -1);
	const double *cosines, *sines;
	const int64_t *places;
	enum sl_status rc = sl__ref_read(ev, COSINES, &cosines, err);

	if (!rc)
		rc = sl__ref_read(ev, SINES, &sines, err);
	if (!rc)
		rc = sl__ref_read_whole(ev, PLACES, &places, err);
	if (rc)
		return rc;
	if (!t || t->rank != 2 || !sines || 2 * pairs > n->width ||
	    sl__ref_tensor(ev, SINES)->n_elements != t->n_elements ||
	    (given && given->n_elements != (uint64_t)(n->batch * n->n_rows)))
		return sl__fail(err, SL_E_DATA, "the angles do not fit");
	for (int64_t i = 0; i < n->batch * n->n_heads * n->n_rows; i++) {
		int64_t b = i / n->n_rows / n->n_heads, row = i % n->n_rows;
		int64_t at = places ? places[b * n->n_rows + row]
				    : h->offsets[b] + row;

		if (at < 0 || at >= t->dims[0])
			return sl__fail(err, SL_E_DATA, "no angles for %lld",
					(long long)at);
		sl__rotary_turn(rows + i * n->width, cosines + at * pairs,
				sines + at * pairs, pairs, is_interleaved);
	}
	return SL_OK;
}

/* Part i of Q, K and V, each an input or all in the first, turned if it is
 * to be. */
static enum sl_status
take_group_part(double **out, struct sl__eval *ev, size_t i,
		const struct sl__heads *h, struct sl_error *err)
{
	int is_packed = !sl__ref_in(ev, 1);
	struct sl__row_counts n = {h->batch, i ? h->n_kv_heads : h->n_heads,
				   h->queries, h->width};
	int64_t all = (h->n_heads + 2 * h->n_kv_heads) * h->width;
	struct sl__rows rows;
	const double *x;
	enum sl_status rc = sl__ref_read(ev, is_packed ? 0 : i, &x, err);

	if (rc)
		return rc;
	rows = sl__rows_of(x, &n, 1);
	if (is_packed) {
		rows.row = all;
		rows.batch = h->queries * all;
		rows.at += i == 0   ? 0
			   : i == 1 ? h->n_heads * h->width
				    : (h->n_heads + h->n_kv_heads) * h->width;
	}
	*out = new_rows(ev, &n, h->queries);
	if (!*out)
		return sl__fail_nomem(err);
	sl__rows_place(&(struct sl__row_place){*out, h->queries, NULL, 0},
		       &rows, &n, NULL);
	if (i < 2 && sl__int(ev->node, "do_rotary", 0))
		rc = turn_rows(*out, &n, h, ev, err);
	return rc;
}

/* The cache with the new rows in it. */
static enum sl_status
renew_cache(const double **out, struct sl__eval *ev, size_t i,
	    const struct sl__heads *h, struct sl_error *err)
{
	const struct sl__tensor *t = sl__ref_tensor(ev, PAST + i - 1);
	struct sl__row_counts n = {h->batch, h->n_kv_heads, h->queries,
				   h->width};
	struct sl__row_counts before = n;
	struct sl__rows rows;
	const double *old;
	double *fresh, *made;
	enum sl_status rc = take_group_part(&fresh, ev, i, h, err);

	if (!rc)
		rc = sl__ref_read(ev, PAST + i - 1, &old, err);
	if (rc)
		return rc;
	made = new_rows(ev, &n, h->room);
	if (!made)
		return sl__fail_nomem(err);
	before.n_rows = t ? t->dims[2] : 0;
	rows = sl__rows_of(old, &before, 0);
	if (t)
		sl__rows_place(&(struct sl__row_place){made, h->room, NULL, 0},
			       &rows, &before, NULL);
	rows = sl__rows_of(fresh, &n, 0);
	sl__rows_place(&(struct sl__row_place){made, h->room, h->offsets, 0},
		       &rows, &n, NULL);
	*out = made;
	return SL_OK;
}

static enum sl_status
read_group_sizes(struct sl__heads *h, struct sl__eval *ev, struct sl_error *err)
{
	const struct sl__tensor *q = sl__ref_tensor(ev, 0);
	int64_t n_parts, heads = sl__int(ev->node, "num_heads", 0);
	int64_t kv_heads = sl__int(ev->node, "kv_num_heads", 0);

	if (!q || q->rank != 3 || heads < 1 || kv_heads < 1 ||
	    heads > INT32_MAX || heads % kv_heads)
		return sl__fail(err, SL_E_DATA, "%lld heads on %lld",
				(long long)heads, (long long)kv_heads);
	h->n_heads = heads;
	h->n_kv_heads = kv_heads;
	h->batch = q->dims[0];
	h->queries = q->dims[1];
	n_parts = sl__ref_in(ev, 1) ? heads : heads + 2 * kv_heads;
	h->width = h->value_width = q->dims[2] / n_parts;
	for (size_t i = 1; i < 3; i++) {
		const struct sl__tensor *t = sl__ref_tensor(ev, i);
		const struct sl__tensor *old = sl__ref_tensor(ev, PAST + i - 1);

		if ((t && (t->rank != 3 || t->dims[0] != h->batch ||
			   t->dims[1] != h->queries ||
			   t->dims[2] != kv_heads * h->width)) ||
		    (!t != !sl__ref_in(ev, 1)) ||
		    (old &&
		     (old->rank != 4 || old->dims[0] != h->batch ||
		      old->dims[1] != kv_heads || old->dims[3] != h->width)))
			return sl__fail(err, SL_E_DATA,
					"keys, values or their past do not "
					"fit the queries");
		if (old && i == 1)
			h->room = old->dims[2];
		if (old && old->dims[2] != h->room)
			return sl__fail(err, SL_E_DATA,
					"pasts of other lengths");
	}
	return SL_OK;
}

/* One score more for each head, which takes part of the weights: given, or 0
 * with smooth_softmax. */
static enum sl_status
read_sinks(struct sl__heads *h, struct sl__eval *ev, struct sl_error *err)
{
	const struct sl__tensor *t = sl__ref_tensor(ev, SINK);

	if (t && t->n_elements != (uint64_t)h->n_heads)
		return sl__fail(err, SL_E_DATA,
				"head_sink is not one number "
				"for each head");
	if (t)
		return sl__ref_read(ev, SINK, &h->sinks, err);
	if (sl__int(ev->node, "smooth_softmax", 0) <= 0)
		return SL_OK;
	h->sinks = sl__ref_new(ev, (size_t)h->n_heads, sizeof(*h->sinks));
	return h->sinks ? SL_OK : sl__fail_nomem(err);
}

enum sl_status
sl__ref_group_query(struct sl__eval *ev, struct sl_error *err)
{
	int64_t window = sl__int(ev->node, "local_window_size", -1);
	struct sl__heads h = {0};
	double *q;
	enum sl_status rc;

	if (sl__ref_result(ev, 3) || sl__ref_in(ev, 12) || sl__ref_in(ev, 13))
		return refuse(err, "scores to hand out, or a quantized cache");
	rc = read_group_sizes(&h, ev, err);
	if (!rc)
		rc = read_lengths(&h, ev, err);
	if (!rc)
		rc = take_group_part(&q, ev, 0, &h, err);
	if (!rc)
		rc = renew_cache(&h.k, ev, 1, &h, err);
	if (!rc)
		rc = renew_cache(&h.v, ev, 2, &h, err);
	if (!rc)
		rc = make_results(&h, ev, SIZE_MAX, err);
	if (!rc)
		rc = read_bias(&h, ev, BIAS, err);
	if (!rc)
		rc = read_sinks(&h, ev, err);
	if (rc)
		return rc;
	h.q = q;
	h.is_causal = 1;
	h.left = window > 0 ? window - 1 : -1;
	h.scale = scale_of(ev->node, h.width);
	h.softcap = sl__float(ev->node, "softcap", 0);
	rc = sl__heads_run(ev, &h, err);
	return rc ? rc : sl__heads_store(ev, &h, err);
}
