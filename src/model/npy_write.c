/* SPDX-License-Identifier: Apache-2.0 */
/* npy_write.c - arrays into NumPy's file format, version 1. */
#include "base/atomic_file.h"
#include "base/status.h"
#include "model/npy.h"

#include <stdio.h>
#include <string.h>

#include "base/banned.h"

enum { HEADER_MOST = 2048, RANK_MOST = 32 };

/* NumPy's name of a type; NULL where it has none. */
static const char *
descr_of(enum sl_dtype dtype)
{
	static const char *const names[SL_N_DTYPES] = {
		[SL_DTYPE_F32] = "<f4", [SL_DTYPE_U8] = "|u1",
		[SL_DTYPE_I8] = "|i1",  [SL_DTYPE_U16] = "<u2",
		[SL_DTYPE_I16] = "<i2", [SL_DTYPE_I32] = "<i4",
		[SL_DTYPE_I64] = "<i8", [SL_DTYPE_BOOL] = "|b1",
		[SL_DTYPE_F16] = "<f2", [SL_DTYPE_F64] = "<f8",
		[SL_DTYPE_U32] = "<u4", [SL_DTYPE_U64] = "<u8",
		[SL_DTYPE_C64] = "<c8", [SL_DTYPE_C128] = "<c16",
	};

	return (size_t)dtype < SL_N_DTYPES ? names[dtype] : NULL;
}

/* The header, padded so that the numbers begin at a multiple of 64. */
static size_t
make_header(unsigned char *out, const struct sl__tensor *t)
{
	char *text = (char *)out + 10;
	size_t cap = HEADER_MOST - 10, n;

	n = (size_t)snprintf(text, cap,
			     "{'descr': '%s', 'fortran_order': False, "
			     "'shape': (",
			     descr_of(t->dtype));
	for (size_t i = 0; i < t->rank; i++)
		n += (size_t)snprintf(text + n, cap - n, "%lld,%s",
				      (long long)t->dims[i],
				      i + 1 < t->rank ? " " : "");
	n += (size_t)snprintf(text + n, cap - n, "), }");
	while ((n + 11) % 64)
		text[n++] = ' ';
	text[n++] = '\n';
	memcpy(out, "\x93NUMPY\x01\x00", 8);
	out[8] = (unsigned char)(n & 255);
	out[9] = (unsigned char)(n >> 8);
	return n + 10;
}

enum sl_status
sl__npy_write(const struct sl__tensor *tensor, const char *path,
	      const struct sl_allocator *allocator, struct sl_error *err)
{
	unsigned char header[HEADER_MOST];
	struct sl__atomic_file *draft;
	enum sl_status rc;

	if (!descr_of(tensor->dtype))
		return sl__fail(err, SL_E_ABSENT,
				"%.200s: NumPy's format has no %s", path,
				sl_dtype_text(tensor->dtype));
	if (tensor->rank > RANK_MOST)
		return sl__fail(err, SL_E_ABSENT,
				"%.200s: NumPy has no arrays of %zu dimensions",
				path, tensor->rank);
	rc = sl__atomic_file_open(&draft, path, allocator, err);
	if (rc)
		return rc;
	sl__atomic_file_add(draft, header, make_header(header, tensor));
	if (tensor->n_bytes)
		sl__atomic_file_add(draft, tensor->bytes,
				    (size_t)tensor->n_bytes);
	rc = sl__atomic_file_commit(draft, err);
	sl__atomic_file_free(draft);
	return rc;
}
