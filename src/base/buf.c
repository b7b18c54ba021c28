/* SPDX-License-Identifier: Apache-2.0 */
/* buf.c - text that grows: doubling storage with a sticky failure. */
#include "base/buf.h"
#include "base/status.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const size_t BROKEN = SIZE_MAX;

void
sl_buf_release(struct sl_buf *buf)
{
	free(buf->data);
	buf->data = NULL;
	buf->n_bytes = 0;
	buf->cap_bytes = 0;
}

void
sl__buf_mark_failed(struct sl_buf *buf)
{
	sl_buf_release(buf);
	buf->cap_bytes = BROKEN;
}

static int
reserve(struct sl_buf *buf, size_t n_more)
{
	size_t cap = buf->cap_bytes ? buf->cap_bytes : 256;
	char *data;

	if (buf->cap_bytes == BROKEN)
		return 0;
	if (buf->data && buf->cap_bytes - buf->n_bytes > n_more)
		return 1;
	while (cap - buf->n_bytes <= n_more) {
		if (cap > SIZE_MAX / 4) {
			data = NULL;
			goto broken;
		}
		cap *= 2;
	}
	data = realloc(buf->data, cap);
	if (!data)
		goto broken;
	buf->data = data;
	buf->cap_bytes = cap;
	return 1;
broken:
	sl__buf_mark_failed(buf);
	return 0;
}

void
sl__buf_add(struct sl_buf *buf, const char *bytes, size_t n_bytes)
{
	if (!reserve(buf, n_bytes))
		return;
	memcpy(buf->data + buf->n_bytes, bytes, n_bytes);
	buf->n_bytes += n_bytes;
	buf->data[buf->n_bytes] = '\0';
}

void
sl__buf_text(struct sl_buf *buf, const char *text)
{
	sl__buf_add(buf, text, strlen(text));
}

/* A quotation ends to say a quote. */
void
sl__buf_shell_word(struct sl_buf *buf, const char *word)
{
	size_t n_plain = strspn(word, "abcdefghijklmnopqrstuvwxyz"
				      "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789_-+=./@:,%");

	if (*word && !word[n_plain]) {
		sl__buf_text(buf, word);
		return;
	}
	sl__buf_text(buf, "'");
	for (; *word; word++) {
		if (*word == '\'')
			sl__buf_text(buf, "'\\''");
		else
			sl__buf_add(buf, word, 1);
	}
	sl__buf_text(buf, "'");
}

enum sl_status
sl_buf_add_word(struct sl_buf *buf, const char *word, struct sl_error *err)
{
	sl__buf_text(buf, buf->n_bytes ? " " : "");
	sl__buf_shell_word(buf, word);
	return sl__buf_status(buf, err);
}

void
sl__buf_repeat(struct sl_buf *buf, const char *text, size_t n_times)
{
	while (n_times--)
		sl__buf_text(buf, text);
}

void
sl__buf_format(struct sl_buf *buf, const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(NULL, 0, format, args);
	va_end(args);
	if (n < 0 || !reserve(buf, (size_t)n))
		return;
	va_start(args, format);
	vsnprintf(buf->data + buf->n_bytes, (size_t)n + 1, format, args);
	va_end(args);
	buf->n_bytes += (size_t)n;
}

enum sl_status
sl__buf_status(const struct sl_buf *buf, struct sl_error *err)
{
	if (buf->cap_bytes == BROKEN)
		return sl__fail_nomem(err);
	return SL_OK;
}
