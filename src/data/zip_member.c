/* SPDX-License-Identifier: Apache-2.0 */
/*
 * zip_member.c - one file of a ZIP archive.
 *
 * The end of an archive says where its directory is, and the directory where
 * each member begins.  Sizes are those of the directory: what stands before a
 * member may lack them.
 */
#include "data/zip_member.h"
#include "base/deflate.h"
#include "base/status.h"

#include <string.h>

#include "base/banned.h"

enum {
	END_BYTES = 22,   /* of the record that ends an archive */
	ENTRY_BYTES = 46, /* of a member in the directory, before its name */
	LOCAL_BYTES = 30, /* of what stands before a member */
	COMMENT_MOST = 0xffff,
	RATIO_MOST = 1100 /* deflate makes nothing smaller than that */
};

static uint32_t
read_u16(const unsigned char *at)
{
	return at[0] | (uint32_t)at[1] << 8;
}

static uint32_t
read_u32(const unsigned char *at)
{
	return read_u16(at) | read_u16(at + 2) << 16;
}

static int
has_mark(const unsigned char *at, const char *mark)
{
	return !memcmp(at, mark, 4);
}

static enum sl_status
fail_damaged(struct sl_error *err)
{
	return sl__fail(err, SL_E_DATA, "is a damaged ZIP archive");
}

/* The record at the end, behind which only a comment stands; NULL: none. */
static const unsigned char *
find_end(const struct sl__file_mapping *zip)
{
	for (size_t n = END_BYTES;
	     n <= zip->n_bytes && n <= END_BYTES + COMMENT_MOST; n++) {
		const unsigned char *at = zip->bytes + zip->n_bytes - n;

		if (has_mark(at, "PK\5\6") &&
		    read_u16(at + 20) == n - END_BYTES)
			return at;
	}
	return NULL;
}

static enum sl_status
extract(unsigned char **out, size_t *n_out_bytes,
	const struct sl__file_mapping *zip, const unsigned char *entry,
	struct sl__arena *arena, struct sl_error *err)
{
	uint32_t method = read_u16(entry + 10), n_packed = read_u32(entry + 20),
		 n = read_u32(entry + 24), start = read_u32(entry + 42);
	const unsigned char *local = zip->bytes + start;
	size_t n_before;

	if (n == UINT32_MAX || n_packed == UINT32_MAX || start == UINT32_MAX)
		return sl__fail(err, SL_E_DATA,
				"is a ZIP archive of 4 GiB or more");
	if (read_u16(entry + 8) & 1 || (method != 0 && method != 8))
		return sl__fail(err, SL_E_DATA,
				"is encrypted, or not compressed by deflate");
	if (start > zip->n_bytes || zip->n_bytes - start < LOCAL_BYTES ||
	    !has_mark(local, "PK\3\4"))
		return fail_damaged(err);
	n_before = LOCAL_BYTES + read_u16(local + 26) + read_u16(local + 28);
	if (zip->n_bytes - start < n_before ||
	    zip->n_bytes - start - n_before < n_packed ||
	    n / RATIO_MOST > n_packed || (!method && n != n_packed))
		return fail_damaged(err);
	*out = sl__arena_alloc(arena, n);
	*n_out_bytes = n;
	if (!*out)
		return sl__fail_nomem(err);
	if (method)
		return sl__inflate(*out, n, local + n_before, n_packed,
				   SL__DEFLATE_RAW, err);
	memcpy(*out, local + n_before, n);
	return SL_OK;
}

enum sl_status
sl__zip_member(const unsigned char **out, size_t *n_out_bytes,
	       const struct sl__file_mapping *archive, const char *name,
	       struct sl__arena *arena, struct sl_error *err)
{
	const unsigned char *end = find_end(archive), *at;
	unsigned char *bytes = NULL;
	enum sl_status rc = SL_OK;
	size_t n_name;

	*out = NULL;
	if (!end)
		return sl__fail(err, SL_E_DATA,
				"is cut off, or no ZIP archive: its directory "
				"is missing");
	if (read_u32(end + 16) > (size_t)(end - archive->bytes))
		return fail_damaged(err);
	at = archive->bytes + read_u32(end + 16);
	for (uint32_t n = read_u16(end + 10); n && !bytes && !rc; n--) {
		if (end - at < ENTRY_BYTES || !has_mark(at, "PK\1\2"))
			return fail_damaged(err);
		n_name = read_u16(at + 28);
		if ((size_t)(end - at) - ENTRY_BYTES < n_name)
			return fail_damaged(err);
		if (n_name == strlen(name) &&
		    !memcmp(at + ENTRY_BYTES, name, n_name))
			rc = extract(&bytes, n_out_bytes, archive, at, arena,
				     err);
		n_name += ENTRY_BYTES + read_u16(at + 30) + read_u16(at + 32);
		if ((size_t)(end - at) < n_name)
			return fail_damaged(err);
		at += n_name;
	}
	*out = bytes;
	return rc;
}
