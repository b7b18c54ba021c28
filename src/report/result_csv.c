/* SPDX-License-Identifier: Apache-2.0 */
/* result_csv.c - fields of CSV (RFC 4180), each followed by a comma. */
#include "result_csv.h"
#include "buf.h"
#include "number.h"

#include <math.h>
#include <string.h>

#include "banned.h"

void
sl__csv_text(struct sl_buf *out, const char *text)
{
	if (!strpbrk(text, ",\"\r\n")) {
		sl__buf_format(out, "%s,", text);
		return;
	}
	sl__buf_text(out, "\"");
	for (; *text; text++)
		sl__buf_format(out, *text == '"' ? "\"%c" : "%c", *text);
	sl__buf_text(out, "\",");
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
