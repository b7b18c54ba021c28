/* SPDX-License-Identifier: Apache-2.0 */
/* ref.h - what a reference kernel sees, and how it reads and writes numbers. */
#ifndef SL_REF_H
#define SL_REF_H

#include "graph/infer.h"
#include "graph/op_rules.h"
#include "ops/datum.h"

struct sl__evaluator; /* evaluate.h */

/*
 * One call of a kernel.  inputs[i] is NULL where the node leaves it out (use
 * sl__ref_in(), which also answers beyond the last).  outputs[k] is NULL
 * where the node leaves it out; where inference could say its type and sizes
 * it is a TENSOR of them with storage, and the kernel writes outputs[k]->bytes;
 * otherwise the kernel makes it, with sl__ref_out() and its kin.  Inputs and
 * outputs do not overlap, elements are row-major, packed and aligned to 64
 * bytes unless they lie in a file.
 *
 * 'scratch' is the call's own and goes when it returns.
 */
struct sl__eval {
	const struct sl__node *node;
	const struct sl__datum *const *inputs;
	struct sl__datum *const *outputs;
	struct sl__arena *scratch;
	const struct sl_allocator *allocator; /* of what outputs own */
	struct sl__evaluator *evaluator;      /* for bodies; NULL: has none */
	enum sl_status failure; /* of the last reading that failed */
	int is_lost; /* numbers were stored into what cannot hold them */
};

/* Calls the node's kernel; SL_E_DATA also where the model has an output for
 * numbers that is of strings or complex.  One whose outputs have no elements
 * is not called. */
enum sl_status sl__ref_call(struct sl__eval *ev,
			    struct sl_error *err) SL_CHECKED;

/* Why a function below returned NULL: never SL_OK. */
static inline enum sl_status
sl__ref_failure(const struct sl__eval *ev)
{
	return ev->failure ? ev->failure : SL_E_NOMEM;
}

/* Inputs: NULL where left out.  A tensor's parts, 0 or NONE where it is no
 * tensor; dims count from the end where d is negative. */
const struct sl__datum *sl__ref_in(const struct sl__eval *ev, size_t i);
const struct sl__tensor *sl__ref_tensor(const struct sl__eval *ev, size_t i);
int sl__ref_rank(const struct sl__eval *ev, size_t i);
int64_t sl__ref_dim(const struct sl__eval *ev, size_t i, int d);
enum sl_dtype sl__ref_dtype(const struct sl__eval *ev, size_t i);

/* Output k; NULL where left out. */
struct sl__datum *sl__ref_result(const struct sl__eval *ev, size_t k);

/* Whether nothing is to be computed for output 0: it is left out or has no
 * elements, however large its other sizes are. */
int sl__ref_is_idle(const struct sl__eval *ev);

/*
 * Makes output k a tensor of this type, for kernels whose sizes depend on
 * data; where it has that type and those sizes already, nothing happens.
 * Left-out outputs are fine.
 */
enum sl_status sl__ref_out(struct sl__eval *ev, size_t k, enum sl_dtype dtype,
			   size_t rank, const int64_t *dims,
			   struct sl_error *err) SL_CHECKED;

/* Makes output k a copy of the datum. */
enum sl_status sl__ref_out_copy(struct sl__eval *ev, size_t k,
				const struct sl__datum *from,
				struct sl_error *err) SL_CHECKED;

/*
 * All elements of input i as doubles or as 64-bit integers, in the scratch
 * arena or, where they have that type and are aligned, where they are.  Of
 * uint64 the integers are the bits.  NULL: out of memory, or strings and
 * complex numbers; sl__ref_failure() and *err say which.
 */
const double *sl__ref_doubles(struct sl__eval *ev, size_t i,
			      struct sl_error *err);
const int64_t *sl__ref_integers(struct sl__eval *ev, size_t i,
				struct sl_error *err);

/* The elements of output k from n numbers, rounded to nearest (floats), cut
 * and wrapped to its width (integers), made 0 or 1 (bool). */
void sl__ref_store_doubles(struct sl__eval *ev, size_t k, const double *from);
void sl__ref_store_integers(struct sl__eval *ev, size_t k, const int64_t *from);

/* Whether a type of number is computed with in integers. */
int sl__ref_is_whole(enum sl_dtype dtype);

/* Whether one integer is below another; those of uint64 are its bits. */
static inline int
sl__ref_is_less(int64_t a, int64_t b, int is_unsigned)
{
	return is_unsigned ? (uint64_t)a < (uint64_t)b : a < b;
}

/* Storage in the scratch arena, zeroed; NULL: out of memory. */
void *sl__ref_new(struct sl__eval *ev, size_t n, size_t n_bytes);

/* Strides, in elements, of row-major dims; returns their product.  Both wrap
 * around where sizes are beyond all bounds, which they can be beside a 0. */
int64_t sl__ref_strides(int64_t *strides, size_t rank, const int64_t *dims);

/* Whether a tensor is repeated to fill dims, by numpy's rule. */
int sl__ref_fits(const struct sl__tensor *t, size_t rank, const int64_t *dims);

/*
 * Strides with which an operand of 'dims' is walked in step with a result of
 * out_rank dimensions, by numpy's rule of broadcasting: 0 where it is
 * repeated.  strides has room for out_rank.
 */
void sl__ref_broadcast(int64_t *strides, size_t out_rank, size_t rank,
		       const int64_t *dims);

/*
 * Steps through all positions of dims in row-major order: at[] (room for
 * rank, zeroed to start with) is the position, and each of n offsets follows
 * it by its strides.  Returns 0 after the last.
 */
int sl__ref_next(int64_t *at, size_t rank, const int64_t *dims,
		 int64_t *offsets, const int64_t *const *strides, size_t n);

/* The attribute where the node has it, else input i (1-D or scalar): NULL and
 * *n 0 where neither is given; SL_E_DATA where the input holds no numbers. */
enum sl_status sl__ref_list(struct sl__eval *ev, size_t i, const char *name,
			    const int64_t **values, size_t *n,
			    struct sl_error *err) SL_CHECKED;

/* One number of an input, or 'otherwise' where it is left out or empty. */
double sl__ref_number(const struct sl__eval *ev, size_t i, double otherwise);

#endif
