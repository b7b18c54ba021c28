/* SPDX-License-Identifier: Apache-2.0 */
/* ref_heads.h - softmax(Q K') V over heads, which every attention ends in. */
#ifndef SL_REF_HEADS_H
#define SL_REF_HEADS_H

#include "ops/ref.h"

/*
 * Queries [batch][n_heads][queries][width], keys [batch][n_kv_heads][past +
 * fresh][width], values as keys with value_width.
 */
struct sl__head_sizes {
	int64_t batch, n_heads, n_kv_heads;
	int64_t queries, past, fresh;
	int64_t width, value_width;
	int64_t total; /* past + fresh, or as the node says */
	int is_flat;   /* Q is [batch][queries][n_heads * width] */
	int is_cache_estimated;
	enum sl_dtype dtype;
};

/* What is added to the scores, and how it is walked; NULL: nothing. */
struct sl__score_bias {
	const double *at;
	int64_t batch, head, query, key; /* steps; 0 where repeated */
};

/* Which scores are handed out. */
enum sl__score_stage {
	SL__SCORES_RAW = 0,
	SL__SCORES_CAPPED,
	SL__SCORES_BIASED,
	SL__SCORES_WEIGHTS /* after the softmax */
};

/*
 * q [batch][n_heads][queries][width], k [batch][n_kv_heads][room][width], v as
 * k with value_width, of which the first 'total' rows count.  Query i stands
 * at position offsets[batch] + i, key j at j.  A query all of whose keys are
 * hidden gives 0.
 */
struct sl__head_attention {
	int64_t batch, n_heads, n_kv_heads, queries, past, total, room;
	int64_t width, value_width;
	const double *q, *k, *v;
	double scale, softcap; /* softcap 0: none */
	struct sl__score_bias bias[2];
	int64_t bias_keys;      /* that bias[0] has; others are hidden */
	const int64_t *offsets; /* [batch]; NULL: 0 */
	const int64_t *ends;    /* [batch], keys that count; NULL: all */
	int is_causal;
	int64_t left, right; /* positions seen around; -1: all */
	const double *sinks; /* [n_heads], a score more; NULL: none */
	int is_flat;         /* y is [batch][queries][n_heads][..] */
	int has_scores;      /* they are handed out, as they are in 'stage' */
	enum sl__score_stage stage;
	double *y;      /* else [batch][n_heads][queries][..] */
	double *scores; /* [..][queries][total], or NULL */
};

/* The sizes that the operator's rules find. */
enum sl_status sl__head_attention_read(struct sl__head_attention *h,
				       struct sl__kernel_call *ev);

/* Makes y and, where they are asked for, the scores. */
enum sl_status sl__head_attention_run(struct sl__kernel_call *ev,
				      struct sl__head_attention *h);

/* Output 0 from y, 1 and 2 from all rows of k and v, 3 from the scores. */
enum sl_status sl__head_attention_store(struct sl__kernel_call *ev,
					const struct sl__head_attention *h);

/* Rows of heads wherever they lie: steps from batch to batch, head to head
 * and row to row; the elements of a row are adjacent. */
struct sl__head_rows {
	const double *at;
	int64_t batch, head, row;
};

/* How many there are. */
struct sl__head_row_counts {
	int64_t batch, n_heads, n_rows, width;
};

/* Where rows go: from row first[batch] on (NULL: 'start'), of 'room' in all. */
struct sl__head_row_target {
	int64_t room;
	const int64_t *first;
	int64_t start;
};

/*
 * New rows [batch][n_heads][room][width]: those of 'old' (NULL: none), which is
 * [batch][n_heads][start][width], and then 'fresh' in their place, with bias
 * [n_heads][width] added unless that is NULL.
 */
double *sl__head_rows_concat(struct sl__kernel_call *ev,
			     const struct sl__head_row_target *to,
			     const double *old,
			     const struct sl__head_rows *fresh,
			     const struct sl__head_row_counts *n,
			     const double *bias);

/* Rows of a tensor [batch][n_heads][n_rows][width], or where it is flat
 * [batch][n_rows][n_heads * width]. */
struct sl__head_rows
sl__head_rows_of_tensor(const double *at, const struct sl__head_row_counts *n,
			int is_flat);

/* Turns pairs of a row's first 2 * n_pairs elements by the angles: pairs are
 * neighbours, or one of each half. */
void sl__rotary_rotate_row(double *row, const double *cosines,
			   const double *sines, int64_t n_pairs,
			   int is_interleaved);

#endif
