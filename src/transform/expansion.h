/* SPDX-License-Identifier: Apache-2.0 */
/* expansion.h - one node as several of the standard's operators. */
#ifndef SL_EXPANSION_H
#define SL_EXPANSION_H

#include "transform/rewrite.h"

/*
 * The node that is replaced.  Every new node covers it and has its name; the
 * first that is added takes it out, so that what is asked of it is asked
 * before.  Values that are made have names of no meaning.  Nothing is done
 * after a failure of the rewrite.
 */
struct sl__expansion {
	struct sl__rewrite *rw;
	uint32_t id;
};

/* A node without operands yet, and its end: 'out' becomes its last output,
 * and is returned. */
void sl__expansion_begin(struct sl__node_builder *m,
			 const struct sl__expansion *x, const char *domain,
			 const char *type, int version);
uint32_t sl__expansion_finish(struct sl__node_builder *m,
			      const struct sl__expansion *x, uint32_t out);

/* A new value of that type and these sizes, which are copied. */
uint32_t sl__expansion_value(const struct sl__expansion *x, enum sl_dtype dtype,
			     int rank, const int64_t *dims);

/* A tensor of that type of number and these sizes, which are not copied. */
struct sl__type sl__expansion_type(enum sl_dtype dtype, int rank,
				   const int64_t *dims);

/* A node of two operands of the standard's domain; its result. */
uint32_t sl__expansion_add_joined(const struct sl__expansion *x,
				  const char *type, int version,
				  const uint32_t *operands,
				  struct sl__type made);

/* 'from' with other sizes, as 'out' unless that is SL__NONE. */
uint32_t sl__expansion_add_reshape(const struct sl__expansion *x, uint32_t from,
				   int rank, const int64_t *dims, uint32_t out);

/* Dimension d is perm[d] of 'from'; as 'out' unless that is SL__NONE. */
uint32_t sl__expansion_add_transpose(const struct sl__expansion *x,
				     uint32_t from, const int64_t *perm,
				     uint32_t out);

/* n parts of a value along an axis, as large as sizes[] say. */
void sl__expansion_add_split(const struct sl__expansion *x, uint32_t from,
			     int axis, int n, const int64_t *sizes,
			     uint32_t *parts);

#endif
