/* SPDX-License-Identifier: Apache-2.0 */
/* printable.h - names of unknown origin, made fit to print. */
#ifndef SL_PRINTABLE_H
#define SL_PRINTABLE_H

#include "base/arena.h"
#include "base/utf8.h"

/* Room for what stands for one code point in a page, and its NUL. */
enum { SL__UTF8_PRINTABLE_CHAR_BYTES = 12 };

/*
 * The columns that a terminal needs for 'text', and for the code point that it
 * begins with: 2 for those of East Asian scripts and emoji, 0 for combining
 * marks and control bytes.
 */
size_t sl__utf8_width(const char *text);
size_t sl__utf8_columns(const char *text);

/*
 * Writes the code point that begins at 'text' as sl__utf8_printable() does,
 * which is itself in most cases; returns its bytes as sl__utf8_step() does.
 */
size_t sl__utf8_printable_char(char to[SL__UTF8_PRINTABLE_CHAR_BYTES],
			       const char *text);

/*
 * Each returns a copy in the arena, or NULL when out of memory; NULL text
 * reads as "".
 *
 * printable: every malformed byte becomes U+FFFD; control characters, line
 * separators, those that turn the direction of text and those without width
 * become escapes such as \n or \u202e, so that a name cannot rewrite the
 * terminal nor pass for another.
 * ascii: the signs that reports use are spelled out (+/-, x, us, ...); any
 * other character beyond ASCII becomes "?".
 * shortened: at most 'width' columns, the middle replaced by 'mark'.
 */
char *sl__utf8_printable(struct sl__arena *arena, const char *text);
char *sl__utf8_ascii(struct sl__arena *arena, const char *text);
char *sl__utf8_shortened(struct sl__arena *arena, const char *text,
			 size_t width, const char *mark);

#endif
