/* SPDX-License-Identifier: Apache-2.0 */
/* dtype.h - types of number, beyond what the public header says. */
#ifndef SL_DTYPE_H
#define SL_DTYPE_H

#include "sleuth/basics.h"

enum sl__dtype_family {
	SL__DTYPE_OTHER = 0, /* strings, complex numbers, none */
	SL__DTYPE_FLOAT,
	SL__DTYPE_INTEGER /* booleans too */
};

/* The last one that ONNX 1.23 has a number for, FLOAT6E3M2. */
enum { SL__DTYPE_LAST = 28 };

enum sl__dtype_family sl__dtype_family(enum sl_dtype dtype);

/* Whether an integer may be negative. */
int sl__dtype_is_signed(enum sl_dtype dtype);

/*
 * Bytes that n elements take when packed (int4: two to a byte, rounded up).
 * Returns 0, and leaves *out alone, when that exceeds 64 bits.
 */
int sl__dtype_bytes(uint64_t *out, enum sl_dtype dtype, uint64_t n_elements);

#endif
