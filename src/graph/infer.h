/* SPDX-License-Identifier: Apache-2.0 */
/* infer.h - what an operator's rules see of a node and say about it. */
#ifndef SL_INFER_H
#define SL_INFER_H

#include "graph/shapes.h"

/*
 * One node in the light of the shapes found so far.  A function below that
 * fails leaves that in 'failure', where the first one stays: several may be
 * called before one looks.
 */
struct sl__rule_context {
	struct sl__shapes *shapes;
	const struct sl__node *node;
	struct sl_error *err;   /* NULL: nobody reads it */
	enum sl_status failure; /* SL_E_DATA or SL_E_NOMEM */

	/* By input, what a kernel was given (UNKNOWN, NULL: nothing), in place
	 * of what the shapes know; NULL where no kernel runs. */
	const struct sl__type *types;
	const struct sl__tensor *const *tensors;
};

/* The model is wrong: SL_E_DATA.  The driver puts the node's name before. */
enum sl_status sl__rule_reject(struct sl__rule_context *call,
			       const char *format, ...)
	__attribute__((format(printf, 2, 3)));
enum sl_status sl__rule_nomem(struct sl__rule_context *call);

/* What a function that wrote call->err itself returned. */
static inline enum sl_status
sl__rule_keep_status(struct sl__rule_context *call, enum sl_status status)
{
	if (!call->failure)
		call->failure = status;
	return call->failure;
}

/* Inputs.  NULL when input i is left out or beyond the last. */
const struct sl__type *sl__in_type(const struct sl__rule_context *call,
				   size_t i);
int sl__has_in(const struct sl__rule_context *call, size_t i);

/* Rank and type of number of input i: -1 and NONE where not known. */
int sl__in_rank(const struct sl__rule_context *call, size_t i);
enum sl_dtype sl__in_dtype(const struct sl__rule_context *call, size_t i);

/* "1x64x112x112", "?": what input i is, for messages. */
const char *sl__in_shape_text(const struct sl__rule_context *call, size_t i);

/* Contents of input i, NULL where they are not known. */
const struct sl__known_contents *
sl__in_known_contents(const struct sl__rule_context *call, size_t i);

/* Contents of a 1-D or scalar input of integers that holds no symbols; 0 is
 * returned where that is not so. */
int sl__in_integers(const struct sl__rule_context *call, size_t i,
		    const int64_t **values, size_t *n);

/* Attributes of a node; the default, NULL or 0 elements where it has none. */
const struct sl__attribute *sl__attribute_find(const struct sl__node *node,
					       const char *name);
int64_t sl__attribute_int(const struct sl__node *node, const char *name,
			  int64_t otherwise);
double sl__attribute_float(const struct sl__node *node, const char *name,
			   double otherwise);
const char *sl__attribute_string(const struct sl__node *node, const char *name,
				 const char *otherwise);
size_t sl__attribute_ints(const struct sl__node *node, const char *name,
			  const int64_t **values);

/* An axis from -rank to rank - 1 as 0 to rank - 1; -1 when it lies outside,
 * which the second refuses. */
int sl__axis_normalize(int64_t axis, int rank);
int sl__axis_require(struct sl__rule_context *call, int64_t axis, int rank);

/*
 * Says what output k is.  rank -1: not known.  dims are copied; one that is
 * negative and no symbol is refused as beyond all sizes.  Outputs that the
 * node leaves out may be set too, to no effect.
 */
enum sl_status sl__out_set_shape(struct sl__rule_context *call, size_t k,
				 enum sl_dtype dtype, int rank,
				 const int64_t *dims);
enum sl_status sl__out_set_type(struct sl__rule_context *call, size_t k,
				const struct sl__type *type);

/* Output k's rank is not known either: only its type of number. */
static inline enum sl_status
sl__out_set_dtype_only(struct sl__rule_context *call, size_t k,
		       enum sl_dtype dtype)
{
	return sl__out_set_shape(call, k, dtype, -1, NULL);
}

/* Output k is like input i, with another type of number unless NONE. */
enum sl_status sl__out_set_like_input(struct sl__rule_context *call, size_t k,
				      size_t i, enum sl_dtype dtype);

/* The type of number is known, the shape not: 'why' tells the user, such as
 * "depends on the contents of 'boxes'"; it must live as long as the shapes. */
enum sl_status sl__out_set_unknown_shape(struct sl__rule_context *call,
					 size_t k, enum sl_dtype dtype,
					 const char *why);

/* A fold says what output k holds.  One of the arrays is given, n elements
 * of it are copied; nothing is kept beyond SL__KNOWN_MOST. */
enum sl_status sl__out_set_known_contents(struct sl__rule_context *call,
					  size_t k, const int64_t *ints,
					  const double *floats, size_t n);

/* Storage for n sizes until the shapes are freed; or a copy of those of input
 * i, whose rank is known.  NULL: out of memory. */
int64_t *sl__sizes_alloc(struct sl__rule_context *call, size_t n);
int64_t *sl__sizes_copy_from_input(struct sl__rule_context *call, size_t i);

/*
 * Dimensions of inputs broadcast together (numpy's rule); rank and dims of
 * the result are in the arena.  *rank is -1 where an input's rank is not
 * known.
 */
enum sl_status sl__broadcast_inputs(struct sl__rule_context *call,
				    const size_t *inputs, size_t n, int *rank,
				    int64_t **dims);

/* One dimension of two, by the same rule; -1 when they do not go together. */
int64_t sl__broadcast_size(struct sl__shapes *shapes, int64_t a, int64_t b);

#endif
