/* SPDX-License-Identifier: Apache-2.0 */
/* utf8.h - code points out of bytes of unknown origin, and back. */
#ifndef SL_UTF8_H
#define SL_UTF8_H

#include "sleuth/basics.h"

enum { SL__UTF8_MOST = 4 }; /* bytes of a code point */

/*
 * The bytes of the code point that begins at 'text', which ends with a zero;
 * 0 where it is malformed (Unicode 15, table 3-7: overlong, a surrogate, above
 * U+10FFFF, cut short, stray), and 'code' is then unchanged.
 */
size_t sl__utf8_decode(const char *text, uint32_t *code);

/* Like sl__utf8_decode(), but 1 where it is malformed: a step to the next. */
size_t sl__utf8_step(const char *text);

/* Writes a code point, without a zero behind it, and returns its bytes.  What
 * is none becomes U+FFFD, the sign for that. */
size_t sl__utf8_encode(char to[SL__UTF8_MOST], uint32_t code);

/*
 * Whether a code point must not reach a terminal as it is: C0, DEL and C1,
 * line separators, marks that turn the direction of text or have no width.
 */
int sl__utf8_is_unprintable(uint32_t code);

#endif
