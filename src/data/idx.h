/* SPDX-License-Identifier: Apache-2.0 */
/* idx.h - arrays of bytes in the IDX format, that of MNIST. */
#ifndef SL_IDX_H
#define SL_IDX_H

#include "base/arena.h"
#include "base/file_mapping.h"
#include "graph/tensor.h"

/* Whether a file is called like one: "train-images-idx3-ubyte",
 * "images.idx", either with ".gz". */
int sl__idx_is_named(const char *path);

/* Reads the array that a file holds, gzip or not; its bytes are those of
 * 'file', or in the arena.  SL_E_DATA says what is wrong. */
enum sl_status sl__idx_read(struct sl__tensor *out,
			    const struct sl__file_mapping *file,
			    struct sl__arena *arena,
			    struct sl_error *err) SL_CHECKED;

#endif
