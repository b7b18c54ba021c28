/* SPDX-License-Identifier: Apache-2.0 */
/* list_input.h - lists of integers that operators take as attribute or input.
 */
#ifndef SL_LIST_INPUT_H
#define SL_LIST_INPUT_H

#include "graph/infer.h"
#include "sleuth/models.h"

struct sl__runtime_value;

/*
 * A list of integers that some versions of an operator take as an attribute
 * and others as an input.  'values' may hold symbols and is NULL where the
 * contents are not known; n is -1 where not even their number is.
 */
struct sl__integer_list {
	int is_given;
	int64_t n;
	const int64_t *values;
};

/* From the attribute 'name' (NULL: none) where the node has it, else from
 * input i.  A list beyond 64 bits of sense is cut to what is no symbol. */
struct sl__integer_list sl__integer_list_read(struct sl__rule_context *call,
					      size_t i, const char *name);

/* Whether all of a list is known and none of it is a symbol. */
int sl__integer_list_is_known(const struct sl__integer_list *list);

/* Marks in is_axis[rank] (zeroed by the caller) the axes of a list that is
 * known; refuses those outside and those named twice. */
enum sl_status sl__integer_list_mark_axes(struct sl__rule_context *call,
					  const struct sl__integer_list *list,
					  int rank, unsigned char *is_axis);

/* Output k has this rank and sizes about which nothing is known; 'why' as for
 * sl__out_set_unknown_shape(). */
enum sl_status sl__out_set_rank_only(struct sl__rule_context *call, size_t k,
				     enum sl_dtype dtype, int64_t rank,
				     const char *why);

/* Output k holds what 'from' holds, in the same order. */
void sl__out_set_same_contents(struct sl__rule_context *call, size_t k,
			       const struct sl__known_contents *from);

/* Whether none of the contents is a symbol. */
int sl__known_has_no_symbols(const struct sl__known_contents *known);

/*
 * What the kernel of an operator that moves elements gives for the contents
 * that are known (op_fold.c), as tensors of 64-bit integers or doubles; NULL
 * where too little is known, or the kernel refuses.  is_sized: inference has
 * found the sizes of the outputs.  All is in 'scratch'.
 */
struct sl__runtime_value **
sl__fold_known_by_kernel(struct sl__rule_context *call,
			 struct sl__arena *scratch, int is_sized);

/* Dimension d of input i where that has the given rank, else 'otherwise'. */
int64_t sl__in_dim_or_default(const struct sl__rule_context *call, size_t i,
			      int rank, int d, int64_t otherwise);

/* Output 0 has the dimensions of input 0 and one more, 'last'. */
enum sl_status sl__out_set_input_dims_plus(struct sl__rule_context *call,
					   enum sl_dtype dtype, int64_t last);

/* The type of output k; NULL where the node leaves it out. */
const struct sl__type *sl__out_type_or_null(const struct sl__rule_context *call,
					    size_t k);

/* Of input i, only as many bytes are read as the first output has. */
void sl__cost_limit_bytes_read(struct sl__rule_context *call,
			       struct sl_cost *cost, size_t i);

#endif
