/* SPDX-License-Identifier: Apache-2.0 */
/* unit.h - numbers as people read them. */
#ifndef SL_UNIT_H
#define SL_UNIT_H

#include "sleuth/basics.h"

/*
 * Each writes into the caller's text and returns it, so that several can
 * stand in one argument list.  NaN gives "-".  The text may hold characters
 * beyond ASCII; the page spells them in ASCII where it must.
 */
struct sl__text {
	char s[64];
};

/* The unit that fits a time: "ns", "µs", "ms" or "s". */
const char *sl__unit_of_time(double ns);

/*
 * A time in 'unit' as a plain number; *unit becomes the unit's printed name.
 * NULL or an unknown name means the unit that fits; "us" is "µs".
 */
double sl__time_scaled(double ns, const char **unit);

/* "12.34 ms": four significant digits in the unit that fits. */
const char *sl__time_text(struct sl__text *text, double ns);

/* Like sl__time_text(), but in the given unit (NULL: the one that fits). */
const char *sl__time_text_in_unit(struct sl__text *text, double ns,
				  const char *unit);

/*
 * "12.34 ms [12.30, 12.41]", one unit for all and no more digits than the
 * interval warrants; "12.34 ms [needs n >= 6]" where it was refused, and the
 * bare value where there is no interval.
 */
const char *sl__time_estimate(struct sl__text *text,
			      const struct sl_estimate *e, const char *unit);

/* The two parts of sl__time_estimate(): "12.34 ms" and "[12.30, 12.41]". */
const char *sl__time_value(struct sl__text *text, const struct sl_estimate *e,
			   const char *unit);
const char *sl__time_bounds_text(struct sl__text *text,
				 const struct sl_estimate *e, const char *unit);

/*
 * "12.3 ms ± 1.4 ms": a mean and its standard deviation, in one unit and to the
 * digits that the deviation warrants; the mean alone where that is NaN.
 */
const char *sl__time_mean_std_text(struct sl__text *text, double mean_ns,
				   double std_ns, const char *unit);

/* "needs n >= 368": what an interval that was refused would take. */
const char *sl__needed_samples_text(struct sl__text *text,
				    const struct sl_estimate *e);

/*
 * A percentile: like sl__time_value(), but where the interval was refused
 * the value is too.
 */
const char *sl__time_percentile(struct sl__text *text,
				const struct sl_estimate *e, const char *unit);

/* "2.10 MB": powers of 1000, as MB says. */
const char *sl__bytes_text(struct sl__text *text, double bytes);

/*
 * "12.3 G" with a power-of-1000 prefix, for FLOPs and rates; "12.3 " without
 * one, so that a unit may follow in either case.
 */
const char *sl__si_prefix_text(struct sl__text *text, double value);

/* "1.23", "12.3", "123": as many decimals as a column of rates needs. */
const char *sl__three_digit_text(struct sl__text *text, double x);

/* "25,557,032": exact, in groups of three digits. */
const char *sl__count_text(struct sl__text *text, uint64_t n);

/* "1.2 %" with three significant digits at most; "0 %" is exactly zero. */
const char *sl__percent_text(struct sl__text *text, double share);

/* "1.2 %" with one decimal, for columns and legends: "<0.1 %" is less, "0 %"
 * exactly zero, "0.0 %" less below it; a minus is that of mathematics. */
const char *sl__share_text(struct sl__text *text, double share);

/* "1.0213 [1.0187, 1.0240]", and its two parts. */
const char *sl__ratio_estimate(struct sl__text *text,
			       const struct sl_estimate *e);
const char *sl__ratio_value(struct sl__text *text, const struct sl_estimate *e);
const char *sl__ratio_bounds_text(struct sl__text *text,
				  const struct sl_estimate *e);

/* "2026-11-16 20:17" in UTC, so that a page is the same everywhere; "" where
 * that is no time. */
const char *sl__date_text(struct sl__text *text, double since_1970_s);

#endif
