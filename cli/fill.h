/* SPDX-License-Identifier: Apache-2.0 */
/* fill.h - paragraphs for the terminal at hand: lines as long as it has columns,
 * but never longer than a page. */
#ifndef SL_FILL_H
#define SL_FILL_H

#include <stddef.h>

/* Columns of a page of help, or those of a narrower terminal. */
size_t page_columns(void);

/*
 * The words of 'text', one space between two; each line but the first begins
 * after 'indent' spaces, and the first stands in column 'column' already.  An
 * empty line of the text stands between paragraphs, a single newline is a
 * space.  Ends the last line.  Letters are counted as bytes.
 */
void print_filled(const char *text, size_t column, size_t indent);

/* Such paragraphs, whose first line is indented too. */
void print_paragraphs(const char *text, size_t indent);

/* Likewise, of a text that printf() would print; at most 1 KiB of it. */
void say(size_t indent, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif
