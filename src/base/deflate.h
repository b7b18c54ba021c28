/* SPDX-License-Identifier: Apache-2.0 */
/* deflate.h - bytes made smaller, and back: zlib's deflate. */
#ifndef SL_DEFLATE_H
#define SL_DEFLATE_H

#include "sleuth/basics.h"

enum sl__deflate_form {
	SL__DEFLATE_ZLIB = 0, /* with a header and a checksum (RFC 1950) */
	SL__DEFLATE_RAW,      /* neither, as in ZIP archives (RFC 1951) */
	SL__DEFLATE_GZIP      /* a file of gzip (RFC 1952), the first member */
};

/* Adds the bytes to 'out' as SL__DEFLATE_ZLIB; NULL is fine for no bytes.
 * SL_E_NOMEM. */
enum sl_status sl__deflate(struct sl_buf *out, const void *bytes,
			   size_t n_bytes, struct sl_error *err) SL_CHECKED;

/*
 * Fills 'out' with exactly the n_out_bytes that were deflated.  SL_E_DATA
 * where these bytes are not that: damaged, cut short, more or fewer inside.
 * Never writes beyond 'out', whatever the bytes are.
 */
enum sl_status sl__inflate(void *out, size_t n_out_bytes, const void *bytes,
			   size_t n_bytes, enum sl__deflate_form form,
			   struct sl_error *err) SL_CHECKED;

/*
 * Adds all that was deflated to 'out', where its size is not known before.
 * SL_E_DATA as sl__inflate(), and where it would be more than n_most_bytes;
 * then 'out' holds a part.
 */
enum sl_status sl__inflate_all(struct sl_buf *out, size_t n_most_bytes,
			       const void *bytes, size_t n_bytes,
			       enum sl__deflate_form form,
			       struct sl_error *err) SL_CHECKED;

#endif
