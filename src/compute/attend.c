/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attend.c - softmax(Q K') V for the queries of one block.
 *
 * Scores are made key by key, with the queries side by side: [keys][queries].
 * So K and V are used as they lie (only the few queries are turned around),
 * the maximum and the sum of the softmax run over whole vectors, and the
 * weights are read in a row by the product with V.  Keys are taken some
 * hundred at a time, what has been summed being scaled down whenever a larger
 * score turns up (Milakov and Gimelshein 2018), so that the scores stay near.
 *
 * A few queries would leave the vectors empty.  They take dot products along
 * the width instead, and scores lie [queries][keys].
 */
#include "compute/attend.h"
#include "compute/gemm_small.h"
#include "compute/vector_math.h"
#include "compute/vector_rows.h"

#include "base/banned.h"

enum {
	QUERIES = SL__ATTEND_QUERIES,
	KEYS = 256, /* at a time */
	FEW = 6,    /* queries that are treated one by one */
	STEP = 16   /* to which their number is rounded up */
};

/* What a call works in; the first four have a number for each query. */
struct work {
	float *most, *base, *sum, *fade;
	float *turned; /* [width][QUERIES] */
	float *mixed;  /* [QUERIES][value_width] */
	float *scores; /* [KEYS][QUERIES] or [FEW][KEYS] */
	int lanes;     /* queries rounded up */
	int64_t first; /* key that scores begin with */
	int64_t n;     /* keys they hold */
};

int64_t
sl__attend_scratch_floats(int64_t width, int64_t value_width)
{
	return QUERIES * (4 + width + value_width + KEYS);
}

int64_t
sl__attend_scratch_used_floats(int64_t width, int64_t value_width, int64_t n,
			       int64_t n_keys)
{
	if (n > QUERIES)
		n = QUERIES;
	return n * (4 + width + value_width + (n_keys < KEYS ? n_keys : KEYS));
}

static int64_t
end_of_keys(const struct sl__attend *a)
{
	int64_t end = 0;

	for (int i = 0; i < a->n; i++)
		end = a->ends[i] > end ? a->ends[i] : end;
	return end;
}

static int64_t
least_end(const struct sl__attend *a)
{
	int64_t end = a->ends[0];

	for (int i = 1; i < a->n; i++)
		end = a->ends[i] < end ? a->ends[i] : end;
	return end;
}

/* Sixteen queries at a time, so that a line that is written to is full. */
SL__INLINE void
turn_body(const float *const *q, int n, int lanes, int64_t width, float *to)
{
	for (int i = 0; i < lanes; i += STEP) {
		for (int64_t d = 0; d < width; d++) {
			for (int l = i; l < i + STEP; l++)
				to[d * QUERIES + l] = l < n ? q[l][d] : 0;
		}
	}
}
SL__VECTOR_TARGETS(turn, turn_body,
		   (const float *const *q, int n, int lanes, int64_t width,
		    float *to),
		   (q, n, lanes, width, to))

/* The largest of the scores so far. */
SL__INLINE void
most_body(const float *s, int64_t n, int lanes, float *most)
{
	for (int64_t t = 0; t < n; t++) {
		for (int l = 0; l < lanes; l++) {
			float x = s[t * QUERIES + l];

			most[l] = x > most[l] ? x : most[l];
		}
	}
}
SL__VECTOR_TARGETS(find_most, most_body,
		   (const float *s, int64_t n, int lanes, float *most),
		   (s, n, lanes, most))

/* exp(s - base) in place, and the sums. */
SL__INLINE void
weigh_body(float *s, int64_t n, int lanes, const float *base, float *sum)
{
	for (int64_t t = 0; t < n; t++) {
		SL__EACH_ALONE
		for (int l = 0; l < lanes; l++) {
			float x = sl__exp(s[t * QUERIES + l] - base[l]);

			s[t * QUERIES + l] = x;
			sum[l] += x;
		}
	}
}
SL__VECTOR_TARGETS(weigh, weigh_body,
		   (float *s, int64_t n, int lanes, const float *base,
		    float *sum),
		   (s, n, lanes, base, sum))

SL__INLINE void
cap_body(float *s, int64_t n, float cap)
{
	float inverse = 1 / cap;

	for (int64_t i = 0; i < n; i++)
		s[i] = cap * sl__tanh(s[i] * inverse);
}
SL__VECTOR_TARGETS(cap_scores, cap_body, (float *s, int64_t n, float cap),
		   (s, n, cap))

/* Where a larger score has turned up, what has been summed counts less. */
static void
renew_base(struct work *w, int n)
{
	const float none = -__builtin_inff();

	for (int l = 0; l < n; l++) {
		float base = w->most[l] == none ? 0 : w->most[l];

		w->fade[l] = w->sum[l] > 0 ? sl__exp(w->base[l] - base) : 0;
		w->base[l] = base;
		w->sum[l] *= w->fade[l];
	}
}

SL__INLINE void
scale_body(const float *x, int64_t n, float factor, float *y)
{
	SL__EACH_ALONE
	for (int64_t i = 0; i < n; i++)
		y[i] = factor * x[i];
}
SL__VECTOR_TARGETS(scale_row, scale_body,
		   (const float *x, int64_t n, float factor, float *y),
		   (x, n, factor, y))

static void
fade_mixed(const struct sl__attend *a, struct work *w)
{
	for (int l = 0; l < a->n; l++) {
		float *row = w->mixed + l * a->value_width;

		if (w->fade[l] < 1)
			scale_row_for()(row, a->value_width, w->fade[l], row);
	}
}

/* Where score (key t, query l) lies. */
struct places {
	int64_t key, query;
};

SL__INLINE float
hide(float x, int is_seen)
{
	return is_seen ? x : -__builtin_inff();
}

/* Whether one number of the mask is for all queries. */
static int
is_mask_shared(const struct sl__attend *a)
{
	for (int l = 1; l < a->n; l++) {
		if (a->mask_at[l] != a->mask_at[0])
			return 0;
	}
	return 1;
}

/* A key's scores: s[l * query]. */
SL__INLINE void
add_shared(const struct sl__attend *a, int64_t key, float *s, int64_t query)
{
	const float *added = a->mask;
	const unsigned char *seen = a->mask;
	int64_t at = a->mask_at[0] + key * a->mask_key;
	float x = a->mask_kind == SL__MASK_ADDITIVE ? added[at]
						    : hide(0, seen[at]);

	for (int l = 0; l < a->n; l++)
		s[l * query] += x;
}

SL__INLINE void
add_pairs(const struct sl__attend *a, int64_t key, float *s, int64_t query)
{
	const float *added = (const float *)a->mask + key * a->mask_key;
	const unsigned char *seen =
		(const unsigned char *)a->mask + key * a->mask_key;

	if (a->mask_kind == SL__MASK_ADDITIVE) {
		SL__EACH_ALONE
		for (int l = 0; l < a->n; l++)
			s[l * query] += added[a->mask_at[l]];
	} else {
		for (int l = 0; l < a->n; l++)
			s[l * query] = hide(s[l * query], seen[a->mask_at[l]]);
	}
}

SL__INLINE void
cut_ends(const struct sl__attend *a, int64_t key, float *s, int64_t query)
{
	SL__EACH_ALONE
	for (int l = 0; l < a->n; l++)
		s[l * query] = hide(s[l * query], key < a->ends[l]);
}

SL__INLINE void
mask_all(const struct sl__attend *a, const struct work *w, int64_t key,
	 int64_t query)
{
	int64_t t = least_end(a) - w->first;

	if (a->mask_kind != SL__MASK_NONE && is_mask_shared(a)) {
		for (int64_t i = 0; i < w->n; i++)
			add_shared(a, w->first + i, w->scores + i * key, query);
	} else if (a->mask_kind != SL__MASK_NONE) {
		for (int64_t i = 0; i < w->n; i++)
			add_pairs(a, w->first + i, w->scores + i * key, query);
	}
	for (t = t < 0 ? 0 : t; t < w->n; t++)
		cut_ends(a, w->first + t, w->scores + t * key, query);
}

SL__INLINE void
mask_body(const struct sl__attend *a, const struct work *w, struct places p)
{
	if (p.query == 1)
		mask_all(a, w, p.key, 1);
	else
		mask_all(a, w, p.key, p.query);
}
SL__VECTOR_TARGETS(mask, mask_body,
		   (const struct sl__attend *a, const struct work *w,
		    struct places p),
		   (a, w, p))

/* mixed += weights' V. */
static void
mix(const struct sl__attend *a, const struct work *w, const float *v,
    int64_t v_row, struct places p)
{
	struct sl__gemm_small g = {.m = a->n,
				   .n = a->value_width,
				   .k = w->n,
				   .a = w->scores,
				   .a_row = p.query,
				   .a_column = p.key,
				   .b = v,
				   .b_row = v_row,
				   .c = w->mixed,
				   .c_row = a->value_width,
				   .alpha = 1,
				   .is_added = w->first > 0};

	sl__gemm_small(&g);
}

static void
score_many(const struct sl__attend *a, struct work *w, const float *k,
	   int64_t k_row)
{
	struct sl__gemm_small g = {.m = w->n,
				   .n = w->lanes,
				   .k = a->width,
				   .a = k,
				   .a_row = k_row,
				   .a_column = 1,
				   .b = w->turned,
				   .b_row = QUERIES,
				   .c = w->scores,
				   .c_row = QUERIES,
				   .alpha = a->scale};

	sl__gemm_small(&g);
	for (int64_t t = 0; a->softcap > 0 && t < w->n; t++)
		cap_scores_for()(w->scores + t * QUERIES, w->lanes, a->softcap);
}

static void
weigh_many(const struct sl__attend *a, struct work *w)
{
	find_most_for()(w->scores, w->n, w->lanes, w->most);
	renew_base(w, w->lanes);
	if (w->first > 0)
		fade_mixed(a, w);
	weigh_for()(w->scores, w->n, w->lanes, w->base, w->sum);
}

SL__ROW(largest, -__builtin_inff(), x, b > a ? b : a)

SL__INLINE void
dots_body(const float *q, const struct sl__attend *a, const float *k,
	  int64_t k_row, int64_t n, float *s)
{
	for (int64_t t = 0; t < n; t++)
		s[t] = a->scale * sl__dot(q, k + t * k_row, a->width);
}
SL__VECTOR_TARGETS(score_one, dots_body,
		   (const float *q, const struct sl__attend *a, const float *k,
		    int64_t k_row, int64_t n, float *s),
		   (q, a, k, k_row, n, s))

SL__INLINE void
largest_body(const float *s, int64_t n, float *most)
{
	float x = largest(s, n, 0);

	*most = x > *most ? x : *most;
}
SL__VECTOR_TARGETS(find_largest, largest_body,
		   (const float *s, int64_t n, float *most), (s, n, most))

SL__INLINE void
weigh_row_body(float *s, int64_t n, float base, float *sum)
{
	float lanes[SL__LANES] = {0};
	int64_t t = 0;

	for (; t + SL__LANES <= n; t += SL__LANES) {
		for (int l = 0; l < SL__LANES; l++) {
			s[t + l] = sl__exp(s[t + l] - base);
			lanes[l] += s[t + l];
		}
	}
	for (int l = 0; t + l < n; l++) {
		s[t + l] = sl__exp(s[t + l] - base);
		lanes[l] += s[t + l];
	}
	for (int l = 0; l < SL__LANES; l++)
		*sum += lanes[l];
}
SL__VECTOR_TARGETS(weigh_row, weigh_row_body,
		   (float *s, int64_t n, float base, float *sum),
		   (s, n, base, sum))

static void
score_few(const struct sl__attend *a, struct work *w, const float *k,
	  int64_t k_row)
{
	for (int l = 0; l < a->n; l++) {
		float *s = w->scores + l * KEYS;

		score_one_for()(a->q[l], a, k, k_row, w->n, s);
		if (a->softcap > 0)
			cap_scores_for()(s, w->n, a->softcap);
	}
}

static void
weigh_few(const struct sl__attend *a, struct work *w)
{
	for (int l = 0; l < a->n; l++)
		find_largest_for()(w->scores + l * KEYS, w->n, &w->most[l]);
	renew_base(w, a->n);
	if (w->first > 0)
		fade_mixed(a, w);
	for (int l = 0; l < a->n; l++)
		weigh_row_for()(w->scores + l * KEYS, w->n, w->base[l],
				&w->sum[l]);
}

static void
take_keys(const struct sl__attend *a, struct work *w, const float *k,
	  const float *v, const struct sl__attend_kv_segment *part)
{
	int is_few = a->n <= FEW;
	struct places p = {is_few ? 1 : QUERIES, is_few ? KEYS : 1};

	if (is_few)
		score_few(a, w, k, part->k_row);
	else
		score_many(a, w, k, part->k_row);
	mask_for()(a, w, p);
	if (is_few)
		weigh_few(a, w);
	else
		weigh_many(a, w);
	mix(a, w, v, part->v_row, p);
}

static void
begin(const struct sl__attend *a, struct work *w, float *scratch)
{
	w->most = scratch;
	w->base = w->most + QUERIES;
	w->sum = w->base + QUERIES;
	w->fade = w->sum + QUERIES;
	w->turned = w->fade + QUERIES;
	w->mixed = w->turned + QUERIES * a->width;
	w->scores = w->mixed + QUERIES * a->value_width;
	w->lanes = (a->n + STEP - 1) / STEP * STEP;
	for (int l = 0; l < w->lanes; l++) {
		w->most[l] = -__builtin_inff();
		w->base[l] = w->sum[l] = 0;
	}
	if (a->n > FEW)
		turn_for()(a->q, a->n, w->lanes, a->width, w->turned);
}

void
sl__attend(const struct sl__attend *a, float *scratch)
{
	struct work w = {.first = 0};
	int64_t end = end_of_keys(a), start = 0;

	begin(a, &w, scratch);
	for (int i = 0; i < SL__ATTEND_KV_SEGMENTS; i++) {
		const struct sl__attend_kv_segment *part = &a->parts[i];

		for (int64_t t = 0; t < part->n && start + t < end; t += w.n) {
			w.first = start + t;
			w.n = part->n - t < KEYS ? part->n - t : KEYS;
			w.n = end - w.first < w.n ? end - w.first : w.n;
			take_keys(a, &w, part->k + t * part->k_row,
				  part->v + t * part->v_row, part);
		}
		start += part->n;
	}
	for (int l = 0; l < a->n; l++) {
		float share = w.sum[l] > 0 ? 1 / w.sum[l] : 0;

		if (w.sum[l] == 0)
			memset(a->y[l], 0,
			       (size_t)a->value_width * sizeof(float));
		else
			scale_row_for()(w.mixed + l * a->value_width,
					a->value_width, share, a->y[l]);
	}
}
