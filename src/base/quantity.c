/* SPDX-License-Identifier: Apache-2.0 */
/* quantity.c - amounts as people write them: 8G, 16Gi, 8GB, 1.2M. */
#include "sleuth/basics.h"

#include <math.h>
#include <stdlib.h>

#include "base/banned.h"

int
sl_quantity_read(double *out, const char *text)
{
	static const struct {
		char letter;
		int power;
	} prefixes[] = {{'k', 1}, {'K', 1}, {'M', 2},
			{'G', 3}, {'T', 4}, {'P', 5}};
	long double value; /* so that 66.9T is the double nearest to 66.9e12 */
	char *end;

	if ((*text < '0' || *text > '9') && *text != '.')
		return 0;
	value = strtold(text, &end);
	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
		int is_binary = end[0] && end[1] == 'i';

		if (*end != prefixes[i].letter)
			continue;
		value *= powl(is_binary ? 1024 : 1000, prefixes[i].power);
		end += is_binary ? 2 : 1;
		break;
	}
	end += *end == 'B';
	*out = (double)value;
	return *end == '\0' && isfinite(*out);
}
