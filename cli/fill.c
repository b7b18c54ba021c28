/* SPDX-License-Identifier: Apache-2.0 */
/* fill.c - paragraphs for the terminal at hand. */
#include "fill.h"
#include "tty.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { PAGE_COLUMNS = 80 };

size_t
page_columns(void)
{
	size_t n = tty_columns();

	return n < PAGE_COLUMNS ? n : PAGE_COLUMNS;
}

/* Ends a line, and begins the next one. */
static size_t
break_line(size_t indent)
{
	printf("\n%*s", (int)indent, "");
	return indent;
}

void
print_filled(const char *text, size_t column, size_t indent)
{
	size_t width = page_columns() - 1; /* some terminals wrap a full line */
	int is_first = 1;                  /* on its line */

	for (const char *at = text; *at;) {
		size_t n = strcspn(at, " \n");

		if (!is_first && column + 1 + n > width) {
			column = break_line(indent);
			is_first = 1;
		}
		printf("%s%.*s", is_first ? "" : " ", (int)n, at);
		column += n + !is_first;
		is_first = 0;
		at += n;
		if (at[0] == '\n' && at[1] == '\n') {
			printf("\n");
			column = break_line(indent);
			is_first = 1;
		}
		at += strspn(at, " \n");
	}
	printf("\n");
}

void
print_paragraphs(const char *text, size_t indent)
{
	printf("%*s", (int)indent, "");
	print_filled(text, indent, indent);
}

void
say(size_t indent, const char *format, ...)
{
	char text[1024];
	va_list args;

	va_start(args, format);
	(void)vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	print_paragraphs(text, indent);
}
