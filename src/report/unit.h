/* SPDX-License-Identifier: Apache-2.0 */
/* unit.h - numbers as people read them. */
#ifndef SL_UNIT_H
#define SL_UNIT_H

#include "sleuth.h"

/*
 * Each writes into the caller's text and returns it, so that several can
 * stand in one argument list.  NaN gives "-".
 */
struct sl__text {
	char s[64];
};

/* The unit that fits a time: "ns", "µs", "ms" or "s". */
const char *sl__unit_of_time(double ns);

/* "12.34 ms": four significant digits in the unit that fits. */
const char *sl__time_text(struct sl__text *text, double ns);

/* Like sl__time_text(), but in the given unit (NULL: the one that fits). */
const char *sl__time_in(struct sl__text *text, double ns, const char *unit);

/* "12.34 ms [12.30, 12.41]", one unit for all; says "needs n >= 368" where
 * the interval was refused. */
const char *sl__time_estimate(struct sl__text *text,
			      const struct sl_estimate *e, const char *unit);

/* "2.10 MB": powers of 1000, as MB says. */
const char *sl__bytes_text(struct sl__text *text, double bytes);

/* "12.3 G" with a power-of-1000 prefix, for FLOPs and rates. */
const char *sl__scaled_text(struct sl__text *text, double value);

/* "1.2 %" with three significant digits at most; "0 %" is exactly zero. */
const char *sl__percent_text(struct sl__text *text, double share);

/* "1.0213 [1.0187, 1.0240]". */
const char *sl__ratio_estimate(struct sl__text *text,
			       const struct sl_estimate *e);

#endif
