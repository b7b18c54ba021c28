/* SPDX-License-Identifier: Apache-2.0 */
/*
 * npy.c - arrays in NumPy's file format.
 *
 * A file is eight bytes of magic and version, the length of a header, the
 * header, and the numbers.  The header is a Python dictionary of three
 * entries: 'descr', 'fortran_order' and 'shape'.  Only what numpy.save()
 * writes for arrays of plain numbers and texts is read.
 */
#include "model/npy.h"
#include "base/status.h"
#include "base/utf8.h"

#include <string.h>

#include "base/banned.h"

enum {
	RANK_MOST = 64,       /* NumPy itself ends there */
	TEXT_MOST = 1 << 20,  /* characters of one element */
	TEXTS_MOST = 64 << 20 /* bytes of all texts together */
};

/* What the header says, and where in it the reading is. */
struct header {
	const char *at, *end;
	char descr[16]; /* "<f4" */
	int is_fortran;
	size_t rank;
	int64_t dims[RANK_MOST];
	int n_descr, n_order, n_shape; /* times met */
};

static void
skip_blanks(struct header *h)
{
	while (h->at < h->end && strchr(" \t\n\r", *h->at) && *h->at)
		h->at++;
}

/* Moves behind 'text' where that comes next. */
static int
accept(struct header *h, const char *text)
{
	size_t n = strlen(text);

	skip_blanks(h);
	if ((size_t)(h->end - h->at) < n || memcmp(h->at, text, n) != 0)
		return 0;
	h->at += n;
	return 1;
}

/* A word in quotes of either kind; 0 for none, or one that does not fit. */
static int
read_word(struct header *h, char *word, size_t n_bytes)
{
	size_t n = 0;
	char quote;

	skip_blanks(h);
	if (h->at == h->end || (*h->at != '\'' && *h->at != '"'))
		return 0;
	quote = *h->at++;
	while (h->at < h->end && *h->at != quote && n + 1 < n_bytes)
		word[n++] = *h->at++;
	word[n] = '\0';
	return accept(h, quote == '"' ? "\"" : "'");
}

static int
read_size(struct header *h, int64_t *out)
{
	int n_digits = 0;

	skip_blanks(h);
	*out = 0;
	for (; h->at < h->end && *h->at >= '0' && *h->at <= '9'; h->at++) {
		if (*out > (INT64_MAX - 9) / 10)
			return 0;
		*out = *out * 10 + (*h->at - '0');
		n_digits++;
	}
	accept(h, "L"); /* as Python 2 wrote them */
	return n_digits > 0;
}

/* "(3, 4)", "(3,)", "()" */
static int
read_shape(struct header *h)
{
	if (!accept(h, "("))
		return 0;
	while (!accept(h, ")")) {
		if (h->rank == RANK_MOST || !read_size(h, &h->dims[h->rank++]))
			return 0;
		if (!accept(h, ",")) {
			if (!accept(h, ")"))
				return 0;
			break;
		}
	}
	return 1;
}

static enum sl_status
read_entry(struct header *h, struct sl_error *err)
{
	char key[16];
	int fine = read_word(h, key, sizeof(key)) && accept(h, ":");

	if (fine && !strcmp(key, "descr")) {
		h->n_descr++;
		if (accept(h, "["))
			return sl__fail(err, SL_E_DATA,
					"holds records; save each of their "
					"fields as an array of its own");
		fine = read_word(h, h->descr, sizeof(h->descr));
	} else if (fine && !strcmp(key, "fortran_order")) {
		h->n_order++;
		h->is_fortran = accept(h, "True");
		fine = h->is_fortran || accept(h, "False");
	} else if (fine && !strcmp(key, "shape")) {
		h->n_shape++;
		fine = read_shape(h);
	} else {
		fine = 0;
	}
	if (!fine)
		return sl__fail(err, SL_E_DATA,
				"its NumPy header is malformed");
	return SL_OK;
}

static enum sl_status
read_header(struct header *h, struct sl_error *err)
{
	int is_closed = 0;

	if (!accept(h, "{"))
		return sl__fail(err, SL_E_DATA,
				"its NumPy header is malformed");
	while (!is_closed && !accept(h, "}")) {
		enum sl_status rc = read_entry(h, err);

		if (rc)
			return rc;
		if (accept(h, ","))
			continue;
		is_closed = accept(h, "}");
		if (!is_closed)
			return sl__fail(err, SL_E_DATA,
					"its NumPy header is malformed");
	}
	if (h->n_descr != 1 || h->n_order != 1 || h->n_shape != 1)
		return sl__fail(err, SL_E_DATA,
				"its NumPy header lacks an entry or has one "
				"twice");
	return SL_OK;
}

/* Where the header lies; the numbers begin where it ends. */
static enum sl_status
find_header(struct header *h, const unsigned char *bytes, size_t n_bytes,
	    struct sl_error *err)
{
	static const unsigned char magic[] = {0x93, 'N', 'U', 'M', 'P', 'Y'};
	size_t n_header, start;

	if (n_bytes < 10 || memcmp(bytes, magic, sizeof(magic)) != 0)
		return sl__fail(err, SL_E_DATA, "not a NumPy file");
	if (bytes[6] < 1 || bytes[6] > 3)
		return sl__fail(err, SL_E_DATA,
				"version %u of NumPy's format is not known",
				bytes[6]);
	start = bytes[6] == 1 ? 10 : 12;
	n_header = (size_t)bytes[8] | (size_t)bytes[9] << 8;
	if (start == 12 && n_bytes >= start)
		n_header |= (size_t)bytes[10] << 16 | (size_t)bytes[11] << 24;
	if (n_bytes < start || n_bytes - start < n_header)
		return sl__fail(err, SL_E_DATA,
				"cut off: its NumPy header is not complete");
	h->at = (const char *)bytes + start;
	h->end = h->at + n_header;
	return SL_OK;
}

static enum sl_dtype
dtype_named(const char *code)
{
	static const struct {
		const char *code;
		enum sl_dtype dtype;
	} known[] = {
		{"f2", SL_DTYPE_F16}, {"f4", SL_DTYPE_F32},
		{"f8", SL_DTYPE_F64}, {"i1", SL_DTYPE_I8},
		{"i2", SL_DTYPE_I16}, {"i4", SL_DTYPE_I32},
		{"i8", SL_DTYPE_I64}, {"u1", SL_DTYPE_U8},
		{"u2", SL_DTYPE_U16}, {"u4", SL_DTYPE_U32},
		{"u8", SL_DTYPE_U64}, {"b1", SL_DTYPE_BOOL},
		{"c8", SL_DTYPE_C64}, {"c16", SL_DTYPE_C128},
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (!strcmp(known[i].code, code))
			return known[i].dtype;
	}
	return SL_DTYPE_NONE;
}

/* "U12" or "S12": characters per element; 0 for what is none. */
static size_t
text_width(const char *code)
{
	size_t width = 0;

	if (*code != 'U' && *code != 'S')
		return 0;
	while (*++code >= '0' && *code <= '9' && width < TEXT_MOST)
		width = width * 10 + (size_t)(*code - '0');
	return *code ? 0 : width;
}

static enum sl_status
read_descr(struct sl__tensor *out, const struct header *h, struct sl_error *err)
{
	const char *code = h->descr;
	int is_big = *code == '>';

	if (*code && strchr("<>|=", *code))
		code++;
	out->dtype = text_width(code) ? SL_DTYPE_STRING : dtype_named(code);
	if (*code == 'O')
		return sl__fail(err, SL_E_DATA,
				"holds Python objects; save it as an array of "
				"numbers or of texts (dtype=str)");
	if (out->dtype == SL_DTYPE_NONE)
		return sl__fail(err, SL_E_DATA,
				"NumPy's type '%s' has no counterpart in ONNX",
				h->descr);
	if (is_big && sl_dtype_bits(out->dtype) != 8 && *code != 'S')
		return sl__fail(err, SL_E_DATA,
				"is big-endian ('%s'); save it little-endian",
				h->descr);
	if (h->is_fortran && h->rank > 1)
		return sl__fail(err, SL_E_DATA,
				"is in Fortran order; save it with "
				"numpy.ascontiguousarray()");
	return SL_OK;
}

/* One element of 'width' characters, bytes or UCS-4, ended by zeros. */
static void
put_text(char *to, const unsigned char *from, size_t width, int is_wide)
{
	for (size_t i = 0; i < width; i++) {
		uint32_t c = from[i];

		if (is_wide)
			memcpy(&c, from + 4 * i, sizeof(c));
		if (!c)
			break;
		if (is_wide)
			to += sl__utf8_encode(to, c);
		else
			*to++ = (char)c;
	}
	*to = '\0';
}

static enum sl_status
read_texts(struct sl__tensor *out, const struct header *h,
	   struct sl__arena *arena, const unsigned char *bytes, size_t n_bytes,
	   struct sl_error *err)
{
	const char *code = h->descr + strcspn(h->descr, "US");
	size_t width = text_width(code), n = (size_t)out->n_elements;
	int is_wide = *code == 'U';
	size_t step = is_wide ? 4 * width : width;
	const char **strings;

	if (!step || out->n_elements > n_bytes / step)
		return sl__fail(err, SL_E_DATA,
				"cut off: holds fewer texts than its shape "
				"says");
	if (out->n_elements * step > TEXTS_MOST)
		return sl__fail(err, SL_E_DATA, "holds too much text");
	strings = sl__arena_array(arena, n, sizeof(*strings));
	if (!strings)
		return sl__fail_nomem(err);
	for (size_t i = 0; i < n; i++) {
		char *text = sl__arena_alloc(arena, step + 1);

		if (!text)
			return sl__fail_nomem(err);
		put_text(text, bytes + i * step, width, is_wide);
		strings[i] = text;
	}
	out->strings = strings;
	return SL_OK;
}

enum sl_status
sl__npy_read(struct sl__tensor *out, struct sl__arena *arena,
	     const unsigned char *bytes, size_t n_bytes, struct sl_error *err)
{
	struct header h = {.at = (const char *)bytes,
			   .end = (const char *)bytes};
	int64_t *dims;
	enum sl_status rc;

	memset(out, 0, sizeof(*out));
	rc = find_header(&h, bytes, n_bytes, err);
	if (!rc)
		rc = read_header(&h, err);
	if (!rc)
		rc = read_descr(out, &h, err);
	if (rc)
		return rc;
	dims = sl__arena_array(arena, h.rank, sizeof(*dims));
	if (!dims)
		return sl__fail_nomem(err);
	memcpy(dims, h.dims, h.rank * sizeof(*dims));
	out->dims = dims;
	out->rank = h.rank;
	if (!sl__tensor_compute_size(out))
		return sl__fail(err, SL_E_DATA,
				"its shape is beyond all "
				"sizes");
	n_bytes -= (size_t)(h.end - (const char *)bytes);
	bytes = (const unsigned char *)h.end;
	if (out->dtype == SL_DTYPE_STRING)
		return read_texts(out, &h, arena, bytes, n_bytes, err);
	if (out->n_bytes > n_bytes)
		return sl__fail(err, SL_E_DATA,
				"cut off: its shape takes %llu bytes, %zu are "
				"there",
				(unsigned long long)out->n_bytes, n_bytes);
	out->bytes = bytes;
	return SL_OK;
}
