/* SPDX-License-Identifier: Apache-2.0 */
/* number.h - numbers as programs read them. */
#ifndef SL_NUMBER_H
#define SL_NUMBER_H

enum { SL__NUMBER_BYTES = 32 }; /* sign, 17 digits, point, exponent */

/*
 * Writes 'value' into 'text' and returns it: with 15 digits where they read
 * back as the same double, else with 17, and with a point whatever the
 * program's locale says.  'value' must be finite.
 */
const char *sl__number_text(char text[SL__NUMBER_BYTES], double value);

/* The longest text that is read. */
enum { SL__DIGITS_MOST = 512 };

/* The double nearest to a number such as "-1.5e-3", whatever the program's
 * locale says; at most SL__DIGITS_MOST bytes. */
double sl__number_read(const char *text);

/* Turns whatever a locale put between the digits into one point. */
void sl__number_fix_decimal_point(char *text);

#endif
