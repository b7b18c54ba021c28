/* SPDX-License-Identifier: Apache-2.0 */
/* phrase.c - figures as parts of sentences. */
#include "report/phrase.h"

#include <math.h>
#include <stdio.h>

#include "base/banned.h"

const char *
sl__phrase_time(struct sl__phrase *words, double ns)
{
	static const struct {
		double ns;
		const char *unit;
	} units[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}, {1, "ns"}};
	size_t i = 0;

	while (i < 3 && fabs(ns) < 0.9995 * units[i].ns)
		i++;
	snprintf(words->s, sizeof(words->s), "%.3g %s", ns / units[i].ns,
		 units[i].unit);
	return words->s;
}

const char *
sl__phrase_bytes(struct sl__phrase *words, double n_bytes)
{
	static const char *const units[] = {"B", "kB", "MB", "GB", "TB"};
	size_t i = 0;

	while (i < 4 && n_bytes >= 999.5) {
		n_bytes /= 1000;
		i++;
	}
	snprintf(words->s, sizeof(words->s), "%.3g %s", n_bytes, units[i]);
	return words->s;
}
