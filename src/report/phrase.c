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
	} units[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "µs"}, {1, "ns"}};
	size_t i = 0;

	while (i < 3 && fabs(ns) < 0.9995 * units[i].ns)
		i++;
	snprintf(words->s, sizeof(words->s), "%.3g %s", ns / units[i].ns,
		 units[i].unit);
	return words->s;
}

/* In the first unit in which it is below 1000, of five. */
static const char *
scaled(struct sl__phrase *words, double value, const char *const units[5])
{
	size_t i = 0;

	while (i < 4 && value >= 999.5) {
		value /= 1000;
		i++;
	}
	snprintf(words->s, sizeof(words->s), "%.3g %s", value, units[i]);
	return words->s;
}

const char *
sl__phrase_bytes(struct sl__phrase *words, double n_bytes)
{
	static const char *const units[] = {"B", "kB", "MB", "GB", "TB"};

	return scaled(words, n_bytes, units);
}

const char *
sl__phrase_flops(struct sl__phrase *words, double flops)
{
	static const char *const units[] = {"FLOPs", "kFLOPs", "MFLOPs",
					    "GFLOPs", "TFLOPs"};

	return scaled(words, flops, units);
}
