/* SPDX-License-Identifier: Apache-2.0 */
/* npy.h - arrays in NumPy's file format. */
#ifndef SL_NPY_H
#define SL_NPY_H

#include "base/arena.h"
#include "graph/tensor.h"

/*
 * Reads the array that 'bytes' hold.  Versions 1 to 3 of the format, little
 * endian, rows first; numbers stay where 'bytes' are, texts go into the
 * arena.  SL_E_DATA says what is wrong, or not supported, and what to do.
 */
enum sl_status sl__npy_read(struct sl__tensor *out, struct sl__arena *arena,
			    const unsigned char *bytes, size_t n_bytes,
			    struct sl_error *err) SL_CHECKED;

/* Writes a tensor of numbers, whole or not at all.  SL_E_ABSENT for types
 * that NumPy has not. */
enum sl_status sl__npy_write(const struct sl__tensor *tensor, const char *path,
			     const struct sl_allocator *allocator,
			     struct sl_error *err) SL_CHECKED;

#endif
