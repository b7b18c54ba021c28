/* SPDX-License-Identifier: Apache-2.0 */
/* stderr_lines.c - what a command said last, fit to be printed. */
#include "experiment/stderr_lines.h"

#include <string.h>

#include "base/banned.h"

/* Where the lines to be shown begin, of the first n bytes of 'tail'. */
static const char *
first_line(const char *tail, size_t n)
{
	const char *end = tail + n;
	const char *from = end;
	size_t n_lines = 0;

	while (from > tail && n_lines < SL__STDERR_LINES) {
		const char *before = from == end ? end : from - 1;

		while (before > tail && before[-1] != '\n')
			before--;
		if (before == tail && n_lines &&
		    strlen(tail) == SL__STDERR_BYTES - 1)
			break; /* a part of a line */
		from = before;
		n_lines++;
	}
	return from;
}

void
sl__stderr_last_lines(char out[SL__STDERR_BYTES],
		      const char tail[SL__STDERR_BYTES])
{
	size_t n = strlen(tail);
	char *line = out;

	while (n && strchr(" \t\r\n", tail[n - 1]))
		n--;
	for (const char *at = first_line(tail, n); at < tail + n; at++) {
		char *to = line;

		for (; at < tail + n && *at != '\n'; at++) {
			if (*at != '\r')
				*to++ = *at == '\t' ? ' ' : *at;
			else if (at[1] != '\n')
				to = line;
		}
		*to = '\0';
		sl_text_sanitize(line);
		line += strlen(line);
		if (at < tail + n)
			*line++ = '\n';
	}
	*line = '\0';
}
