/* SPDX-License-Identifier: Apache-2.0 */
/* markup.h - text of unknown origin inside HTML and SVG. */
#ifndef SL_MARKUP_H
#define SL_MARKUP_H

#include "sleuth/basics.h"

#include <stdarg.h>

/*
 * Appends text as a reader sees it, between tags or in a quoted attribute: what
 * markup reserves is spelled out, and what cannot be printed is shown as
 * sl__utf8_printable() does.  NULL reads as "".
 */
void sl__markup_text(struct sl_buf *out, const char *text);

/* The same of what a format makes. */
void sl__markup_format(struct sl_buf *out, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void sl__markup_vformat(struct sl_buf *out, const char *format, va_list args)
	__attribute__((format(printf, 2, 0)));

#endif
