/* SPDX-License-Identifier: Apache-2.0 */
/*
 * embedded_result.c - the document of a result inside a page for browsers.
 *
 * As JSON it is what --json writes without the space between its tokens, and
 * '<' is spelled "\u003c" so that no name in it ends its element.
 */
#include "result/embedded_result.h"
#include "base/base64.h"
#include "base/buf.h"
#include "base/deflate.h"
#include "base/status.h"

#include <string.h>

#include "base/banned.h"

static const char plain_begin[] =
	"<script type=\"application/json\" id=\"result\">\n";
static const char deflated_begin[] =
	"<script type=\"application/zlib\" id=\"result\">\n";
static const char element_end[] = "</script>";

/* More than any result has; a page that would unfold to more is refused. */
enum { DOCUMENT_MOST_BYTES = 1 << 28 };

static void
add_compact(struct sl_buf *out, const struct sl_buf *json)
{
	const char *at = json->data, *end = at + json->n_bytes, *from = at;
	int is_text = 0;

	for (; at < end; at++) {
		int is_space = !is_text && (*at == ' ' || *at == '\n');

		if (is_space || *at == '<') {
			sl__buf_add(out, from, (size_t)(at - from));
			from = at + 1;
		}
		if (*at == '<')
			sl__buf_text(out, "\\u003c");
		if (*at == '"')
			is_text = !is_text;
		if (is_text && *at == '\\')
			at++; /* what is escaped ends no text */
	}
	sl__buf_add(out, from, (size_t)(end - from));
	sl__buf_text(out, "\n");
}

static void
add_deflated(struct sl_buf *out, const struct sl_buf *compact)
{
	struct sl_buf small = {0};

	if (sl__deflate(&small, compact->data, compact->n_bytes, NULL))
		sl__buf_mark_failed(out);
	else
		sl__base64_add(out, small.data, small.n_bytes);
	sl_buf_release(&small);
}

void
sl__embedded_result_write(struct sl_buf *out, const struct sl_buf *json)
{
	struct sl_buf compact = {0};

	add_compact(&compact, json);
	if (sl__buf_status(&compact, NULL)) {
		sl__buf_mark_failed(out);
	} else if (compact.n_bytes <= SL__EMBEDDED_PLAIN_BYTES) {
		sl__buf_text(out, plain_begin);
		sl__buf_add(out, compact.data, compact.n_bytes);
	} else {
		sl__buf_text(out, deflated_begin);
		add_deflated(out, &compact);
	}
	sl__buf_format(out, "%s\n", element_end);
	sl_buf_release(&compact);
}

/* The first place of 'word' in text[0..n-1]; NULL: none. */
static const char *
find_word(const char *text, size_t n, const char *word)
{
	size_t n_word = strlen(word);

	for (const char *at = text; n >= n_word;) {
		at = memchr(at, *word, n - n_word + 1);
		if (!at || memcmp(at, word, n_word) == 0)
			return at;
		at++;
		n = n - (size_t)(at - text);
		text = at;
	}
	return NULL;
}

static enum sl_status
inflate_document(const char **text, size_t *n_bytes, struct sl_buf *storage,
		 struct sl_error *err)
{
	struct sl_buf small = {0};
	enum sl_status rc = sl__base64_read(&small, *text, *n_bytes, err);

	if (!rc)
		rc = sl__inflate_all(storage, DOCUMENT_MOST_BYTES, small.data,
				     small.n_bytes, SL__DEFLATE_ZLIB, err);
	sl_buf_release(&small);
	*text = storage->data;
	*n_bytes = storage->n_bytes;
	return rc;
}

enum sl_status
sl__embedded_result_find(const char **text, size_t *n_bytes,
			 struct sl_buf *storage, struct sl_error *err)
{
	static const char page_begin[] = "<!doctype html>";
	const char *begin = plain_begin, *from, *to;

	if (*n_bytes < strlen(page_begin) ||
	    memcmp(*text, page_begin, strlen(page_begin)) != 0)
		return SL_OK;
	from = find_word(*text, *n_bytes, begin);
	if (!from) {
		begin = deflated_begin;
		from = find_word(*text, *n_bytes, begin);
	}
	if (!from)
		return sl__fail(err, SL_E_DATA, "this page holds no result");
	from += strlen(begin);
	*n_bytes -= (size_t)(from - *text);
	*text = from;
	to = find_word(from, *n_bytes, element_end);
	if (!to)
		return sl__fail(err, SL_E_DATA,
				"the result in this page is cut short");
	*n_bytes = (size_t)(to - from);
	if (begin == deflated_begin)
		return inflate_document(text, n_bytes, storage, err);
	return SL_OK;
}
