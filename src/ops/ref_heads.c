/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ref_heads.c - softmax(Q K') V over heads, one query at a time.
 */
#include "ops/ref_heads.h"

#include <math.h>
#include <string.h>

#include "base/banned.h"

/* One query: its batch, head and number. */
struct query {
	int64_t b, head, i;
};

static int
is_hidden(const struct sl__head_attention *h, const struct query *q,
	  int64_t key)
{
	int64_t at = q->i + (h->offsets ? h->offsets[q->b] : 0);

	if (h->ends && key >= h->ends[q->b])
		return 1;
	if (h->bias[0].at && key >= h->bias_keys)
		return 1;
	if (h->is_causal && key > at)
		return 1;
	if (h->left >= 0 && at - key > h->left)
		return 1;
	return h->right >= 0 && key - at > h->right;
}

static double
bias_at(const struct sl__head_attention *h, const struct query *q, int64_t key)
{
	double sum = 0;

	for (int i = 0; i < 2; i++) {
		const struct sl__score_bias *b = &h->bias[i];

		if (b->at)
			sum += b->at[q->b * b->batch + q->head * b->head +
				     q->i * b->query + key * b->key];
	}
	return sum;
}

static void
hand_out(const struct sl__head_attention *h, const struct query *q,
	 const double *row, enum sl__score_stage stage)
{
	int64_t at = (q->b * h->n_heads + q->head) * h->queries + q->i;

	if (h->scores && h->stage == stage)
		memcpy(h->scores + at * h->total, row,
		       (size_t)h->total * sizeof(*row));
}

/* row[key] = q k' scale, for all keys. */
static void
score(const struct sl__head_attention *h, const struct query *q, double *row)
{
	int64_t group = h->n_heads / h->n_kv_heads;
	const double *x = h->q + ((q->b * h->n_heads + q->head) * h->queries +
				  q->i) * h->width;
	const double *k = h->k + (q->b * h->n_kv_heads + q->head / group) *
					 h->room * h->width;

	for (int64_t key = 0; key < h->total; key++, k += h->width) {
		double sum = 0;

		for (int64_t i = 0; i < h->width; i++)
			sum += x[i] * k[i];
		row[key] = sum * h->scale;
	}
}

/* Adds biases and hides keys; returns whether any is left. */
static int
mask(const struct sl__head_attention *h, const struct query *q, double *row)
{
	int is_any = 0;

	for (int64_t key = 0; key < h->total; key++) {
		double bias = is_hidden(h, q, key) ? -HUGE_VAL
						   : bias_at(h, q, key);

		is_any |= bias > -HUGE_VAL || isnan(bias);
		row[key] += bias;
	}
	return is_any;
}

/* A sink takes its share of the sum and gives nothing. */
static void
weigh(const struct sl__head_attention *h, const struct query *q, double *row)
{
	double most = h->sinks ? h->sinks[q->head] : -HUGE_VAL, sum;

	for (int64_t key = 0; key < h->total; key++)
		most = row[key] > most ? row[key] : most;
	sum = h->sinks ? exp(h->sinks[q->head] - most) : 0;
	for (int64_t key = 0; key < h->total; key++) {
		row[key] = exp(row[key] - most);
		sum += row[key];
	}
	for (int64_t key = 0; key < h->total; key++)
		row[key] /= sum;
}

static void
mix(const struct sl__head_attention *h, const struct query *q,
    const double *row)
{
	int64_t group = h->n_heads / h->n_kv_heads;
	int64_t at =
		h->is_flat ? (q->b * h->queries + q->i) * h->n_heads + q->head
			   : (q->b * h->n_heads + q->head) * h->queries + q->i;
	const double *v = h->v + (q->b * h->n_kv_heads + q->head / group) *
					 h->room * h->value_width;
	double *y = h->y + at * h->value_width;

	memset(y, 0, (size_t)h->value_width * sizeof(*y));
	for (int64_t key = 0; key < h->total; key++, v += h->value_width) {
		/* What is hidden may be anything at all. */
		if (row[key] <= 0)
			continue;
		for (int64_t i = 0; i < h->value_width; i++)
			y[i] += row[key] * v[i];
	}
}

static void
attend(const struct sl__head_attention *h, const struct query *q, double *row)
{
	score(h, q, row);
	hand_out(h, q, row, SL__SCORES_RAW);
	for (int64_t key = 0; h->softcap > 0 && key < h->total; key++)
		row[key] = h->softcap * tanh(row[key] / h->softcap);
	hand_out(h, q, row, SL__SCORES_CAPPED);
	if (mask(h, q, row)) {
		hand_out(h, q, row, SL__SCORES_BIASED);
		weigh(h, q, row);
	} else {
		hand_out(h, q, row, SL__SCORES_BIASED);
		memset(row, 0, (size_t)h->total * sizeof(*row));
	}
	hand_out(h, q, row, SL__SCORES_WEIGHTS);
	mix(h, q, row);
}

enum sl_status
sl__head_attention_run(struct sl__kernel_call *ev, struct sl__head_attention *h)
{
	int64_t n = h->batch * h->n_heads * h->queries;
	double *row = sl__ref_scratch_doubles(ev, h->total);

	h->y = sl__ref_scratch_doubles(ev, n * h->value_width);
	if (h->has_scores)
		h->scores = sl__ref_scratch_doubles(ev, n * h->total);
	/* However many rows of nothing there are. */
	if (ev->failure ||
	    (h->value_width == 0 && (!h->scores || h->total == 0)))
		return ev->failure;
	for (int64_t i = 0; i < n; i++) {
		struct query q = {i / h->queries / h->n_heads,
				  i / h->queries % h->n_heads, i % h->queries};

		attend(h, &q, row);
	}
	return SL_OK;
}

enum sl_status
sl__head_attention_store(struct sl__kernel_call *ev,
			 const struct sl__head_attention *h)
{
	int64_t flat[3] = {h->batch, h->queries,
			   h->is_flat ? h->n_heads * h->value_width : 0};
	int64_t y[4] = {h->batch, h->n_heads, h->queries, h->value_width};
	int64_t k[4] = {h->batch, h->n_kv_heads, h->room, h->width};
	int64_t v[4] = {h->batch, h->n_kv_heads, h->room, h->value_width};
	int64_t scores[4] = {h->batch, h->n_heads, h->queries, h->total};
	enum sl_dtype dtype = sl__ref_input_dtype(ev, 0);

	if (sl__ref_output_alloc_store(ev, 0, dtype, h->is_flat ? 3 : 4,
				       h->is_flat ? flat : y, h->y) ||
	    sl__ref_output_alloc_store(ev, 1, dtype, 4, k, h->k) ||
	    sl__ref_output_alloc_store(ev, 2, dtype, 4, v, h->v) || !h->scores)
		return ev->failure;
	return sl__ref_output_alloc_store(ev, 3, dtype, 4, scores, h->scores);
}

struct sl__head_rows
sl__head_rows_of_tensor(const double *at, const struct sl__head_row_counts *n,
			int is_flat)
{
	const int64_t all[3] = {n->n_heads, n->n_rows, n->width};
	int64_t head = is_flat ? n->width : sl__dims_product(all, 1, 3);
	int64_t row = is_flat ? n->n_heads * n->width : n->width;

	return (struct sl__head_rows){at, sl__dims_product(all, 0, 3), head,
				      row};
}

/* Copies rows there, adding the bias. */
static void
place_rows(double *at, const struct sl__head_row_target *to,
	   const struct sl__head_rows *from,
	   const struct sl__head_row_counts *n, const double *bias)
{
	if (n->width == 0)
		return;
	for (int64_t i = 0; i < n->batch * n->n_heads * n->n_rows; i++) {
		int64_t row = i % n->n_rows, head = i / n->n_rows % n->n_heads;
		int64_t b = i / n->n_rows / n->n_heads;
		int64_t begin = to->first ? to->first[b] : to->start;
		const double *x = from->at + b * from->batch +
				  head * from->head + row * from->row;
		double *y = at + ((b * n->n_heads + head) * to->room + begin +
				  row) * n->width;

		for (int64_t k = 0; k < n->width; k++)
			y[k] = x[k] + (bias ? bias[head * n->width + k] : 0);
	}
}

double *
sl__head_rows_concat(struct sl__kernel_call *ev,
		     const struct sl__head_row_target *to, const double *old,
		     const struct sl__head_rows *fresh,
		     const struct sl__head_row_counts *n, const double *bias)
{
	double *made = sl__ref_scratch_doubles(ev, n->batch * n->n_heads *
							   to->room * n->width);
	struct sl__head_row_counts before = *n;
	struct sl__head_rows rows;

	before.n_rows = to->start;
	rows = sl__head_rows_of_tensor(old, &before, 0);
	if (ev->failure)
		return NULL;
	if (old)
		place_rows(made,
			   &(struct sl__head_row_target){to->room, NULL, 0},
			   &rows, &before, NULL);
	place_rows(made, to, fresh, n, bias);
	return made;
}

void
sl__rotary_rotate_row(double *row, const double *cosines, const double *sines,
		      int64_t n_pairs, int is_interleaved)
{
	for (int64_t i = 0; i < n_pairs; i++) {
		double *x = row + (is_interleaved ? 2 * i : i);
		double *y = is_interleaved ? x + 1 : x + n_pairs;
		double a = *x, b = *y;

		*x = a * cosines[i] - b * sines[i];
		*y = a * sines[i] + b * cosines[i];
	}
}
