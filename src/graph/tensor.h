/* SPDX-License-Identifier: Apache-2.0 */
/* tensor.h - numbers that a model carries: where they are, how to read them. */
#ifndef SL_TENSOR_H
#define SL_TENSOR_H

#include "sleuth/basics.h"

/*
 * How numbers are made that are stored nowhere: the weights of a built-in
 * model, of which element i depends on the seed and i alone, and weights of
 * another tensor with its output channels scaled.  Any piece can be made at
 * any time.
 *
 * A weight is [..][results][taps] elements; every 'inputs' rows of results
 * the factors go on to the next results: the groups of a transposed
 * convolution.  Element k has the factor
 * k / taps % results + k / (taps results) / inputs * results.
 */
struct sl__tensor;
struct sl__tensor_generator {
	enum sl__tensor_generator_kind {
		SL__TENSOR_GENERATOR_CONSTANT, /* every element is 'mean' */
		SL__TENSOR_GENERATOR_NORMAL, /* mean, and 'scale' as deviation */
		SL__TENSOR_GENERATOR_UNIFORM, /* mean - scale to mean + scale */
		SL__TENSOR_GENERATOR_SCALED /* 'of', times its channel's factor */
	} kind;
	uint64_t seed;
	double mean, scale;
	const struct sl__tensor *of;
	const double *factors;
	uint64_t taps, results, inputs;
};

/*
 * Invariants: n_elements is the product of dims (1 for rank 0) and n_bytes
 * what they take packed, little-endian, row-major, both checked against
 * overflow.  Exactly one of 'bytes', 'generator', 'strings' is set, unless
 * n_elements is 0 or 'absent' says why the numbers cannot be had (an external
 * file that is not there).  Read-only; any thread.
 *
 * A sparse tensor has the dims of the dense one and keeps n_stored numbers
 * in 'bytes'; n_bytes is then theirs.
 */
struct sl__tensor {
	enum sl_dtype dtype;
	size_t rank;
	const int64_t *dims; /* none negative */
	uint64_t n_elements, n_bytes;
	const unsigned char *bytes;
	const struct sl__tensor_generator *generator;
	const char *const *strings;
	const char *absent;
	uint64_t n_stored; /* n_elements unless sparse */
	int is_sparse;
	const struct sl__tensor *indices; /* of a sparse one: where its numbers
					     go, as the file has them */
	int is_mapped;                    /* 'bytes' are pages of a file */
	const char *storage; /* the external file's name; NULL: the model's */
};

/*
 * Fills n_elements and n_bytes from dtype, rank and dims; n_stored becomes
 * n_elements.  Returns 0 when they overflow 64 bits or a dim is negative.
 */
int sl__tensor_compute_size(struct sl__tensor *tensor);

/* Whether a tensor has the type of number and the very sizes of another. */
int sl__tensor_has_type_of(const struct sl__tensor *tensor,
			   const struct sl__tensor *other);

/* What a tensor takes where it is kept: its numbers and, of a sparse one,
 * their places. */
uint64_t sl__tensor_stored_bytes(const struct sl__tensor *tensor);

/*
 * A stretch of packed bytes: a pointer into the tensor where it has bytes, else
 * made in 'scratch', which holds n_bytes and is aligned to an element. The
 * stretch starts on an element and lies inside the tensor.  NULL for strings
 * and absent numbers.
 */
const void *sl__tensor_byte_range(const struct sl__tensor *tensor,
				  uint64_t offset_bytes, size_t n_bytes,
				  void *scratch);

/* Lets go of the pages under a stretch; nothing where there are none. */
void sl__tensor_release_pages(const struct sl__tensor *tensor,
			      uint64_t offset_bytes, uint64_t n_bytes);

/*
 * Elements first .. first + n - 1 converted to doubles (integers of 64 bits
 * lose what a double cannot hold) or to 64-bit integers (fractions cut,
 * beyond the range saturated, NaN gives 0; bool gives 0 or 1).  Return 0 for
 * strings, complex, sparse and absent numbers.
 */
int sl__tensor_doubles(const struct sl__tensor *tensor, uint64_t first,
		       size_t n, double *out);
int sl__tensor_integers(const struct sl__tensor *tensor, uint64_t first,
			size_t n, int64_t *out);

/* Like sl__tensor_integers(), but of uint64 the 64 bits as they are. */
int sl__tensor_integer_bits(const struct sl__tensor *tensor, uint64_t first,
			    size_t n, int64_t *out);

/*
 * Writes n numbers into packed elements first .. of a type: floats rounded to
 * nearest even, reals cut towards zero for integers (saturated at 64 bits),
 * integers wrapped to the width, booleans 0 or 1.
 */
void sl__store_doubles(unsigned char *bytes, enum sl_dtype dtype,
		       uint64_t first, size_t n, const double *from);
void sl__store_integers(unsigned char *bytes, enum sl_dtype dtype,
			uint64_t first, size_t n, const int64_t *from);

#endif
