/* SPDX-License-Identifier: Apache-2.0 */
/* topk.h - the k largest or smallest of a line, in order. */
#ifndef SL_TOPK_H
#define SL_TOPK_H

#include "sleuth/basics.h"

#include <stddef.h>
#include <stdint.h>

struct sl__topk_entry {
	uint64_t key;
	int64_t at; /* along the axis */
};

struct sl__topk;
typedef void sl__topk_scan_function(const struct sl__topk *t,
				    const unsigned char *line,
				    struct sl__topk_entry *heap);

struct sl__topk {
	int64_t outer, size, inner, k; /* around the axis */
	uint64_t flip;                 /* of keys: all bits for the smallest */
	size_t n_bytes;                /* of an element */
	sl__topk_scan_function *scan;
};

/* Where the results of all lines lie, either of which may be NULL, and k
 * entries to work in. */
struct sl__topk_target {
	unsigned char *values, *places; /* places are int64 */
	struct sl__topk_entry *heap;
};

/* How lines of that type are read; NULL: not at all. */
sl__topk_scan_function *sl__topk_scan(enum sl_dtype dtype, int64_t inner);

/* Line l of outer x inner. */
void sl__topk_line(const struct sl__topk *t, const unsigned char *x,
		   const struct sl__topk_target *to, int64_t l);

#endif
