/* SPDX-License-Identifier: Apache-2.0 */
/*
 * number.c - numbers as programs read them.
 *
 * The C library writes and reads numbers with the decimal point of the
 * program's locale, which is a comma in half of Europe.  A report is the
 * same everywhere, and a library does not touch the locale of its program.
 */
#include "base/number.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/banned.h"

void
sl__number_fix_decimal_point(char *text)
{
	size_t n_before = strspn(text, "+-0123456789");
	char *point = text + n_before;
	size_t n_point = strcspn(point, "0123456789eE");

	if (!n_point)
		return;
	/* The point of some locales takes several bytes. */
	memmove(point + 1, point + n_point, strlen(point + n_point) + 1);
	*point = '.';
}

const char *
sl__number_text(char text[SL__NUMBER_BYTES], double value)
{
	double back;

	snprintf(text, SL__NUMBER_BYTES, "%.15g", value);
	back = strtod(text, NULL);
	if (back < value || back > value)
		snprintf(text, SL__NUMBER_BYTES, "%.17g", value);
	sl__number_fix_decimal_point(text);
	return text;
}

double
sl__number_read(const char *text)
{
	char local[2 * SL__DIGITS_MOST];
	char *end;
	double value = strtod(text, &end);

	if (*end != '.')
		return value;
	snprintf(local, sizeof(local), "%.*s%s%s", (int)(end - text), text,
		 localeconv()->decimal_point, end + 1);
	return strtod(local, NULL);
}
