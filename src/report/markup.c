/* SPDX-License-Identifier: Apache-2.0 */
/* markup.c - text of unknown origin inside HTML and SVG. */
#include "report/markup.h"
#include "base/buf.h"
#include "report/printable.h"

#include <stdio.h>
#include <string.h>

#include "base/banned.h"

static const char *
spelled_out(char c)
{
	switch (c) {
	case '<':
		return "&lt;";
	case '>':
		return "&gt;";
	case '&':
		return "&amp;";
	case '"':
		return "&quot;";
	case '\'':
		return "&#39;";
	default:
		return NULL;
	}
}

void
sl__markup_text(struct sl_buf *out, const char *text)
{
	char printable[SL__UTF8_PRINTABLE_CHAR_BYTES];

	for (size_t step; text && *text; text += step) {
		const char *entity = spelled_out(*text);

		step = sl__utf8_printable_char(printable, text);
		sl__buf_text(out, entity ? entity : printable);
	}
}

void
sl__markup_vformat(struct sl_buf *out, const char *format, va_list args)
{
	struct sl_buf raw = {0};
	char text[512];
	va_list again;
	int n;

	va_copy(again, args);
	n = vsnprintf(text, sizeof(text), format, args);
	if (n >= 0 && (size_t)n < sizeof(text)) {
		sl__markup_text(out, text);
	} else if (n >= 0) {
		sl__buf_repeat(&raw, " ", (size_t)n + 1);
		if (sl__buf_status(&raw, NULL)) {
			sl__buf_mark_failed(out);
		} else {
			vsnprintf(raw.data, (size_t)n + 1, format, again);
			sl__markup_text(out, raw.data);
		}
		sl_buf_release(&raw);
	}
	va_end(again);
}

void
sl__markup_format(struct sl_buf *out, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	sl__markup_vformat(out, format, args);
	va_end(args);
}
