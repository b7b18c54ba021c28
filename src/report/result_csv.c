/* SPDX-License-Identifier: Apache-2.0 */
/*
 * result_csv.c - fields of CSV (RFC 4180), each followed by a comma.
 *
 * Names come from models and command lines: what could rewrite a terminal is
 * escaped as on pages, so that a row is always one line.
 */
#include "report/result_csv.h"
#include "base/buf.h"
#include "base/number.h"
#include "report/printable.h"

#include <math.h>
#include <string.h>

#include "base/banned.h"

void
sl__csv_text(struct sl_buf *out, const char *text)
{
	const char *quote = strpbrk(text, ",\"") ? "\"" : "";
	char shown[SL__UTF8_SHOWN];

	sl__buf_text(out, quote);
	while (*text) {
		if (*text == '"')
			sl__buf_text(out, "\"");
		text += sl__utf8_show(shown, text);
		sl__buf_text(out, shown);
	}
	sl__buf_format(out, "%s,", quote);
}

void
sl__csv_number(struct sl_buf *out, double value)
{
	char text[SL__NUMBER_BYTES];

	if (!isfinite(value)) {
		sl__buf_text(out, ",");
		return;
	}
	sl__buf_format(out, "%s,", sl__number_text(text, value));
}

void
sl__csv_end(struct sl_buf *out)
{
	if (out->n_bytes && out->data[out->n_bytes - 1] == ',')
		out->data[out->n_bytes - 1] = '\n';
}
