/* SPDX-License-Identifier: Apache-2.0 */
/* stream.h - loops that do nothing but move memory. */
#ifndef SL_STREAM_H
#define SL_STREAM_H

#include "sleuth/machines.h"

enum {
	SL__N_STREAMS = SL_ACCESS_CHASE, /* the accesses that are streams */
	SL__STREAM_STEP_BYTES = 256      /* of each array, once round a loop */
};

/*
 * The three arrays of a stream, 64-byte aligned, n_bytes each, a multiple of
 * SL__STREAM_STEP_BYTES.  load reads a; store writes a; copy reads b and
 * writes a; triad is a = b + 3 c on doubles.  Unused arrays may be NULL.
 */
struct sl__stream_arrays {
	double *a;
	const double *b, *c;
	size_t n_bytes;
};

/* Returns something that depends on what was loaded; 0 for stores. */
typedef uint64_t sl__stream_function(const struct sl__stream_arrays *arrays);

struct sl__stream_kernels {
	const char *isa;
	size_t n_bits;
	sl__stream_function *run[SL__N_STREAMS]; /* NULL: cannot be done */
};

/* The widest that this CPU can run. */
const struct sl__stream_kernels *sl__stream_kernels_widest(void);

/* NULL on other architectures. */
const struct sl__stream_kernels *sl__stream_kernels_x86(void);
const struct sl__stream_kernels *sl__stream_kernels_generic(void);

/* How many arrays an access walks: 1, 2 or 3. */
size_t sl__stream_n_arrays(enum sl_access access);

/* Bytes moved beyond the first cache per byte the program names: above 1
 * where plain stores read their line first. */
double sl__stream_traffic_ratio(enum sl_access access);

#endif
