/* SPDX-License-Identifier: Apache-2.0 */
/*
 * idx.c - arrays of bytes in the IDX format, that of MNIST.
 *
 * Two zeros, the type, the rank, the sizes (32 bits, big-endian), the numbers.
 */
#include "data/idx.h"
#include "base/buf.h"
#include "base/deflate.h"
#include "base/status.h"
#include "data/dataset.h"

#include <string.h>

#include "base/banned.h"

enum { TYPE_U8 = 8, RANK_MOST = 8 };

int
sl__idx_is_named(const char *path)
{
	return sl__name_ends_in(path, "-ubyte") ||
	       sl__name_ends_in(path, ".idx") ||
	       sl__name_ends_in(path, "-ubyte.gz") ||
	       sl__name_ends_in(path, ".idx.gz");
}

static enum sl_status
read_bytes(struct sl__tensor *out, const unsigned char *bytes, size_t n_bytes,
	   struct sl__arena *arena, struct sl_error *err)
{
	size_t rank = n_bytes < 4 ? 0 : bytes[3], n_header = 4 + 4 * rank;
	int64_t *dims = sl__arena_array(arena, rank, sizeof(*dims));

	memset(out, 0, sizeof(*out));
	if (!dims)
		return sl__fail_nomem(err);
	if (n_bytes < 4 || bytes[0] || bytes[1] || !rank || rank > RANK_MOST)
		return sl__fail(err, SL_E_DATA, "not an IDX file");
	if (bytes[2] != TYPE_U8)
		return sl__fail(err, SL_E_DATA,
				"holds numbers of IDX type %u; only bytes (8) "
				"are read",
				bytes[2]);
	if (n_bytes < n_header)
		return sl__fail(err, SL_E_DATA,
				"cut off: its IDX header is not complete");
	for (size_t i = 0; i < rank; i++) {
		const unsigned char *at = bytes + 4 + 4 * i;

		dims[i] = (int64_t)at[0] << 24 | (int64_t)at[1] << 16 |
			  (int64_t)at[2] << 8 | (int64_t)at[3];
	}
	out->dtype = SL_DTYPE_U8;
	out->dims = dims;
	out->rank = rank;
	if (!sl__tensor_compute_size(out))
		return sl__fail(err, SL_E_DATA,
				"its shape is beyond all sizes");
	if (out->n_bytes > n_bytes - n_header)
		return sl__fail(err, SL_E_DATA,
				"cut off: its shape takes %llu bytes, %zu are "
				"there",
				(unsigned long long)out->n_bytes,
				n_bytes - n_header);
	out->bytes = bytes + n_header;
	return SL_OK;
}

enum sl_status
sl__idx_read(struct sl__tensor *out, const struct sl__file_mapping *file,
	     struct sl__arena *arena, struct sl_error *err)
{
	struct sl_buf buf = {0};
	unsigned char *bytes = NULL;
	enum sl_status rc;

	if (file->n_bytes < 2 || file->bytes[0] != 0x1f ||
	    file->bytes[1] != 0x8b)
		return read_bytes(out, file->bytes, file->n_bytes, arena, err);
	rc = sl__inflate_all(&buf, SIZE_MAX, file->bytes, file->n_bytes,
			     SL__DEFLATE_GZIP, err);
	if (!rc) {
		bytes = sl__arena_alloc(arena, buf.n_bytes);
		if (!bytes)
			rc = sl__fail_nomem(err);
		else if (buf.n_bytes)
			memcpy(bytes, buf.data, buf.n_bytes);
	}
	if (!rc)
		rc = read_bytes(out, bytes, buf.n_bytes, arena, err);
	sl_buf_release(&buf);
	return rc;
}
