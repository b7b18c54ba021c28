/* SPDX-License-Identifier: Apache-2.0 */
/* result_csv.c - fields of CSV (RFC 4180), each followed by a comma. */
#include "result_csv.h"
#include "buf.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
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
	char text[32];

	if (isnan(value)) {
		sl__buf_text(out, ",");
		return;
	}
	/* 15 digits where they suffice, 17 where they do not. */
	snprintf(text, sizeof(text), "%.15g", value);
	if (strtod(text, NULL) < value || strtod(text, NULL) > value)
		snprintf(text, sizeof(text), "%.17g", value);
	sl__buf_format(out, "%s,", text);
}

void
sl__csv_end(struct sl_buf *out)
{
	if (out->n_bytes && out->data[out->n_bytes - 1] == ',')
		out->data[out->n_bytes - 1] = '\n';
}
