/* SPDX-License-Identifier: Apache-2.0 */
/* deflate.c - bytes made smaller, and back: the only user of zlib. */
#include "base/deflate.h"
#include "base/buf.h"
#include "base/status.h"

#include <limits.h>
#include <string.h>

#define ZLIB_CONST
#include <zlib.h>

#include "base/banned.h"

enum { CHUNK_BYTES = 1 << 16 };

/* What is left to give to zlib, which counts in 32 bits. */
struct input {
	const unsigned char *bytes;
	size_t n_left;
};

static void
feed(z_stream *stream, struct input *in)
{
	uInt n = in->n_left < INT_MAX ? (uInt)in->n_left : INT_MAX;

	if (stream->avail_in)
		return;
	stream->next_in = in->bytes;
	stream->avail_in = n;
	in->bytes += n;
	in->n_left -= n;
}

enum sl_status
sl__deflate(struct sl_buf *out, const void *bytes, size_t n_bytes,
	    struct sl_error *err)
{
	unsigned char chunk[CHUNK_BYTES];
	struct input in = {n_bytes ? bytes : chunk, n_bytes};
	z_stream stream = {0};
	int code = Z_OK;

	if (deflateInit(&stream, Z_DEFAULT_COMPRESSION) != Z_OK)
		return sl__fail_nomem(err);
	while (code != Z_STREAM_END) {
		feed(&stream, &in);
		stream.next_out = chunk;
		stream.avail_out = CHUNK_BYTES;
		code = deflate(&stream, in.n_left ? Z_NO_FLUSH : Z_FINISH);
		sl__buf_add(out, (char *)chunk, CHUNK_BYTES - stream.avail_out);
	}
	deflateEnd(&stream);
	return sl__buf_status(out, err);
}

/* windowBits of inflateInit2(): how zlib is told the form. */
static int
window_bits(enum sl__deflate_form form)
{
	static const int bits[] = {
		[SL__DEFLATE_ZLIB] = MAX_WBITS,
		[SL__DEFLATE_RAW] = -MAX_WBITS,
		[SL__DEFLATE_GZIP] = MAX_WBITS + 16,
	};

	return bits[form];
}

/* Where inflated bytes go: a chunk of them at a time. */
typedef enum sl_status take_fn(void *ctx, const unsigned char *bytes,
			       size_t n_bytes, struct sl_error *err);

static enum sl_status
inflate_into(z_stream *stream, struct input *in, take_fn *take, void *ctx,
	     struct sl_error *err)
{
	unsigned char chunk[CHUNK_BYTES];
	enum sl_status st = SL_OK;
	int code = Z_OK;

	while (!st && code != Z_STREAM_END) {
		feed(stream, in);
		stream->next_out = chunk;
		stream->avail_out = CHUNK_BYTES;
		code = inflate(stream, Z_NO_FLUSH);
		if (code == Z_MEM_ERROR)
			return sl__fail_nomem(err);
		if (code == Z_BUF_ERROR)
			return sl__fail(err, SL_E_DATA,
					"compressed data is cut short");
		if (code != Z_OK && code != Z_STREAM_END)
			return sl__fail(err, SL_E_DATA,
					"compressed data is damaged");
		st = take(ctx, chunk, CHUNK_BYTES - stream->avail_out, err);
	}
	return st;
}

static enum sl_status
inflate_all(take_fn *take, void *ctx, struct input in,
	    enum sl__deflate_form form, struct sl_error *err)
{
	z_stream stream = {0};
	enum sl_status st;

	if (inflateInit2(&stream, window_bits(form)) != Z_OK)
		return sl__fail_nomem(err);
	st = inflate_into(&stream, &in, take, ctx, err);
	inflateEnd(&stream);
	return st;
}

struct array {
	unsigned char *next;
	size_t n_left;
};

static enum sl_status
take_array(void *ctx, const unsigned char *bytes, size_t n_bytes,
	   struct sl_error *err)
{
	struct array *array = ctx;

	if (!n_bytes)
		return SL_OK; /* there may be no array then */
	if (n_bytes > array->n_left)
		return sl__fail(err, SL_E_DATA,
				"compressed data holds more than it says");
	memcpy(array->next, bytes, n_bytes);
	array->next += n_bytes;
	array->n_left -= n_bytes;
	return SL_OK;
}

enum sl_status
sl__inflate(void *out, size_t n_out_bytes, const void *bytes, size_t n_bytes,
	    enum sl__deflate_form form, struct sl_error *err)
{
	struct array array = {out, n_out_bytes};
	enum sl_status st = inflate_all(
		take_array, &array, (struct input){bytes, n_bytes}, form, err);

	if (!st && array.n_left)
		return sl__fail(err, SL_E_DATA,
				"compressed data holds less than it says");
	return st;
}

struct limited {
	struct sl_buf *buf;
	size_t n_left;
};

static enum sl_status
take_buf(void *ctx, const unsigned char *bytes, size_t n_bytes,
	 struct sl_error *err)
{
	struct limited *limited = ctx;

	if (n_bytes > limited->n_left)
		return sl__fail(err, SL_E_DATA,
				"compressed data holds more than is allowed");
	limited->n_left -= n_bytes;
	sl__buf_add(limited->buf, (const char *)bytes, n_bytes);
	return sl__buf_status(limited->buf, err);
}

enum sl_status
sl__inflate_all(struct sl_buf *out, size_t n_most_bytes, const void *bytes,
		size_t n_bytes, enum sl__deflate_form form,
		struct sl_error *err)
{
	struct limited limited = {out, n_most_bytes};

	return inflate_all(take_buf, &limited, (struct input){bytes, n_bytes},
			   form, err);
}
