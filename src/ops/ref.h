/* SPDX-License-Identifier: Apache-2.0 */
/* ref.h - what a reference kernel sees, and how it reads and writes numbers. */
#ifndef SL_REF_H
#define SL_REF_H

#include "graph/infer.h"
#include "graph/op_rules.h"
#include "ops/runtime_value.h"
#include "ops/strides.h"

struct sl__evaluator; /* evaluate.h */
/*
 * One call of a kernel.  inputs[i] is NULL where the node leaves it out (use
 * sl__ref_input(), which also answers beyond the last).  outputs[k] is NULL
 * where the node leaves it out; where inference knows its type and sizes it is
 * a TENSOR with storage, and the kernel writes outputs[k]->bytes; otherwise the
 * kernel makes it, with sl__ref_output_alloc() and its kin.  Inputs and outputs
 * do not overlap; elements are row-major, packed, aligned to 64 bytes unless
 * they lie in a file.  'scratch' is the call's own and goes when it returns.
 * A function that fails keeps the first failure in 'failure'; one that gives a
 * pointer gives NULL.
 */
struct sl__kernel_call {
	const struct sl__node *node;
	const struct sl__runtime_value *const *inputs;
	struct sl__runtime_value *const *outputs;
	struct sl__arena *scratch;
	const struct sl_allocator *allocator; /* of what outputs own */
	struct sl__evaluator *evaluator;      /* for bodies; NULL: has none */
	struct sl_error *err;                 /* NULL: nobody reads it */
	enum sl_status failure;               /* the first one; it stays */
};

/* Calls the node's kernel unless its outputs have no elements; SL_E_DATA also
 * where an output for numbers is of strings or complex. */
enum sl_status sl__ref_run_kernel(struct sl__kernel_call *ev,
				  struct sl_error *err) SL_CHECKED;

/* The call fails, unless it has failed already; and what it failed with.
 * The second is SL_E_DATA, the last for what wrote ev->err itself. */
enum sl_status sl__ref_fail(struct sl__kernel_call *ev, enum sl_status status,
			    const char *format, ...)
	__attribute__((format(printf, 3, 4)));
enum sl_status sl__ref_reject(struct sl__kernel_call *ev, const char *format,
			      ...) __attribute__((format(printf, 2, 3)));
enum sl_status sl__ref_nomem(struct sl__kernel_call *ev);
enum sl_status sl__ref_keep_status(struct sl__kernel_call *ev,
				   enum sl_status status);

/* Inputs: NULL where left out.  A tensor's parts, 0 or NONE where it is none;
 * dims count from the end where d is negative. */
const struct sl__runtime_value *sl__ref_input(const struct sl__kernel_call *ev,
					      size_t i);
const struct sl__tensor *sl__ref_input_tensor(const struct sl__kernel_call *ev,
					      size_t i);
int sl__ref_input_rank(const struct sl__kernel_call *ev, size_t i);
int64_t sl__ref_input_dim(const struct sl__kernel_call *ev, size_t i, int d);
enum sl_dtype sl__ref_input_dtype(const struct sl__kernel_call *ev, size_t i);
int sl__ref_input_has_dims(const struct sl__kernel_call *ev, size_t i, int rank,
			   const int64_t *dims); /* -1: any size */

/* Output k; NULL where left out. */
struct sl__runtime_value *sl__ref_output(const struct sl__kernel_call *ev,
					 size_t k);

/* Whether nothing is to be computed for output 0: it is left out or has no
 * elements, however large its other sizes are. */
int sl__ref_output_is_empty(const struct sl__kernel_call *ev);

/* Makes output k, or a part of one, a tensor of this type, for kernels whose
 * sizes depend on data; where it has that type and those sizes already,
 * nothing happens.  Left-out outputs are fine. */
enum sl_status sl__ref_output_alloc(struct sl__kernel_call *ev, size_t k,
				    enum sl_dtype dtype, size_t rank,
				    const int64_t *dims);
enum sl_status sl__ref_value_alloc(struct sl__kernel_call *ev,
				   struct sl__runtime_value *to,
				   enum sl_dtype dtype, size_t rank,
				   const int64_t *dims);

/* Makes output k a copy of the value; and what runtime_value.h has, for data
 * that are parts of outputs. */
enum sl_status sl__ref_output_copy(struct sl__kernel_call *ev, size_t k,
				   const struct sl__runtime_value *from);
enum sl_status sl__ref_value_copy(struct sl__kernel_call *ev,
				  struct sl__runtime_value *to,
				  const struct sl__runtime_value *from);
enum sl_status sl__ref_value_set_strings(struct sl__kernel_call *ev,
					 struct sl__runtime_value *to,
					 size_t rank, const int64_t *dims,
					 const char *const *strings);
enum sl_status sl__ref_value_set_sequence(struct sl__kernel_call *ev,
					  struct sl__runtime_value *to,
					  enum sl_dtype dtype, size_t n);

/*
 * All elements of input i as doubles or as 64-bit integers, in the scratch
 * arena or, where they have that type and are aligned, where they are.  Of
 * uint64 the integers are the bits.  It fails where they are no numbers; the
 * second of each pair gives NULL without failing where the input is left out.
 */
const double *sl__ref_input_doubles(struct sl__kernel_call *ev, size_t i);
const double *sl__ref_optional_doubles(struct sl__kernel_call *ev, size_t i);
const int64_t *sl__ref_input_integers(struct sl__kernel_call *ev, size_t i);
const int64_t *sl__ref_optional_integers(struct sl__kernel_call *ev, size_t i);

/* The elements of output k from n numbers, rounded to nearest (floats), cut
 * and wrapped to its width (integers), made 0 or 1 (bool). */
enum sl_status sl__ref_output_store_doubles(struct sl__kernel_call *ev,
					    size_t k, const double *from);
enum sl_status sl__ref_output_store_integers(struct sl__kernel_call *ev,
					     size_t k, const int64_t *from);

/* Makes output k of these sizes (sl__ref_output_alloc()) and fills it. */
enum sl_status sl__ref_output_alloc_store(struct sl__kernel_call *ev, size_t k,
					  enum sl_dtype dtype, size_t rank,
					  const int64_t *dims,
					  const double *from);

/* Whether a type of number is computed with in integers. */
int sl__ref_dtype_is_integer(enum sl_dtype dtype);

/* Whether one integer is below another; those of uint64 are its bits. */
static inline int
sl__ref_integer_is_less(int64_t a, int64_t b, int is_unsigned)
{
	return is_unsigned ? (uint64_t)a < (uint64_t)b : a < b;
}

/* Storage in the scratch arena, zeroed; the last is a number for each element
 * of output k, whose sizes must be known. */
void *sl__ref_scratch(struct sl__kernel_call *ev, size_t n, size_t n_bytes);
double *sl__ref_scratch_doubles(struct sl__kernel_call *ev, int64_t n);
int64_t *sl__ref_scratch_integers(struct sl__kernel_call *ev, int64_t n);
double *sl__ref_scratch_output(struct sl__kernel_call *ev, size_t k);

/* The attribute where the node has it, else input i (1-D or scalar): NULL and
 * *n 0 where neither is given. */
const int64_t *sl__ref_integer_list(struct sl__kernel_call *ev, size_t i,
				    const char *name, size_t *n);

/* Which of the words up to NULL the attribute is, usually the first. */
int sl__ref_attribute_choice(struct sl__kernel_call *ev, const char *name,
			     const char *const *words);

/* One number of an input, or 'otherwise' where it is left out or empty. */
double sl__ref_input_scalar(const struct sl__kernel_call *ev, size_t i,
			    double otherwise);

#endif
