/* SPDX-License-Identifier: Apache-2.0 */
/* attend.h - softmax(Q K') V for the queries of one block. */
#ifndef SL_ATTEND_H
#define SL_ATTEND_H

#include <stdint.h>

enum { SL__ATTEND_QUERIES = 64, SL__ATTEND_KV_SEGMENTS = 2 };

enum sl__attend_mask_kind {
	SL__MASK_NONE = 0,
	SL__MASK_ADDITIVE, /* f32 */
	SL__MASK_BOOLEAN   /* bytes: 0 hides a key */
};

/* Keys and values of n neighbours; rows lie so many elements apart. */
struct sl__attend_kv_segment {
	const float *k, *v;
	int64_t k_row, v_row, n;
};

/*
 * Up to SL__ATTEND_QUERIES queries that see the same keys: those of all
 * parts, one part after the other.  Query i sees the first ends[i] of them,
 * and its mask begins at element mask_at[i]; from key to key it is mask_key
 * elements.  A query that sees none gives 0.
 */
struct sl__attend {
	int n;
	int64_t width, value_width;
	float scale, softcap; /* softcap 0: none */
	const float *q[SL__ATTEND_QUERIES];
	float *y[SL__ATTEND_QUERIES];
	int64_t ends[SL__ATTEND_QUERIES];
	struct sl__attend_kv_segment parts[SL__ATTEND_KV_SEGMENTS];
	enum sl__attend_mask_kind mask_kind;
	const void *mask;
	int64_t mask_at[SL__ATTEND_QUERIES];
	int64_t mask_key;
};

/* Floats of memory that a call works in, aligned to 64 bytes. */
int64_t sl__attend_scratch_floats(int64_t width, int64_t value_width);

/* And how many of them n queries of so many keys use. */
int64_t sl__attend_scratch_used_floats(int64_t width, int64_t value_width,
				       int64_t n, int64_t n_keys);
void sl__attend(const struct sl__attend *a, float *scratch);

#endif
