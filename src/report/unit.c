/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unit.c - numbers as people read them: a unit that fits, and no more digits
 * than are known.
 *
 * A bare number gets a fixed number of significant digits.  A number with an
 * interval is rounded where the interval's half-width says so: to two digits
 * of it when they begin below 355, else to one (the rounding rule of the
 * Particle Data Group, Review of Particle Physics, "Introduction", 5.3), so
 * that rounding never moves a bound by more than 14 % of the half-width.
 */
#include "report/unit.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/banned.h"

enum {
	TIME_DIGITS = 4,
	SCALED_DIGITS = 3,
	MAX_DIGITS = 7, /* a half-width of 0 must not print 17 digits */
	MAX_DECIMALS = 12
};

struct time_unit {
	const char *name;
	double ns;
};

static const struct time_unit time_units[] = {
	{"ns", 1}, {"µs", 1e3}, {"ms", 1e6}, {"s", 1e9}};

enum { N_TIME_UNITS = sizeof(time_units) / sizeof(time_units[0]) };

static const struct time_unit *
fitting_unit(double ns)
{
	size_t i = 0;

	/* 999.95 rounds to four digits in the next unit. */
	while (i + 1 < N_TIME_UNITS && fabs(ns) >= 999.95 * time_units[i].ns)
		i++;
	return &time_units[i];
}

static const struct time_unit *
find_unit(double ns, const char *name)
{
	if (!name)
		return fitting_unit(ns);
	if (strcmp(name, "us") == 0)
		name = "µs";
	for (size_t i = 0; i < N_TIME_UNITS; i++) {
		if (strcmp(time_units[i].name, name) == 0)
			return &time_units[i];
	}
	return fitting_unit(ns);
}

const char *
sl__unit_of_time(double ns)
{
	return fitting_unit(ns)->name;
}

double
sl__time_scaled(double ns, const char **unit)
{
	const struct time_unit *u = find_unit(ns, *unit);

	*unit = u->name;
	return ns / u->ns;
}

/* The exponent of the leading digit of 'value' once it is rounded. */
static int
leading_exponent(double value, int n_digits)
{
	char text[40];
	const char *mark;

	snprintf(text, sizeof(text), "%.*e", n_digits - 1, fabs(value));
	mark = strchr(text, 'e');
	return mark ? (int)strtol(mark + 1, NULL, 10) : 0;
}

static int
clamp(int value, int lo, int hi)
{
	return value < lo ? lo : value > hi ? hi : value;
}

/* Decimals that show 'value' with n_digits significant digits; at least 0. */
static int
decimals_of(double value, int n_digits)
{
	if (!(fabs(value) > 0))
		return 0;
	return clamp(n_digits - 1 - leading_exponent(value, n_digits), 0,
		     MAX_DECIMALS);
}

/*
 * Decimals that the interval warrants; negative to round to tens.  With the
 * half-width w, the last digit kept is the power of ten above w / 35.5: two
 * digits of w from .100 to .354, one from .355 to .999.  The leading digit of
 * the value stays, however wide a lopsided interval is, but not that of a value
 * that 'may_be_zero': the digits of a difference of 1e-14 ns are noise.
 */
static int
decimals_warranted(double value, double half_width, int may_be_zero)
{
	if (!(half_width > 0) || !isfinite(half_width))
		return decimals_of(value, TIME_DIGITS);
	return clamp((int)floor(-log10(half_width / 35.5)),
		     may_be_zero || !(fabs(value) > 0)
			     ? -MAX_DECIMALS
			     : -leading_exponent(value, 1),
		     decimals_of(fmax(fabs(value), half_width), MAX_DIGITS));
}

/* 'value' with 'decimals' decimals, which may be negative. */
static void
add_rounded(struct sl__text *text, double value, int decimals)
{
	size_t at = strlen(text->s);
	double step = pow(10, -decimals);

	if (decimals < 0)
		value = round(value / step) * step;
	if (fabs(value) < step / 2)
		value = 0; /* not "-0" */
	snprintf(text->s + at, sizeof(text->s) - at, "%.*f",
		 decimals < 0 ? 0 : decimals, value);
}

static void
add_text(struct sl__text *text, const char *more)
{
	size_t at = strlen(text->s);

	snprintf(text->s + at, sizeof(text->s) - at, "%s", more);
}

static const char *
dash(struct sl__text *text)
{
	snprintf(text->s, sizeof(text->s), "-");
	return text->s;
}

const char *
sl__time_text(struct sl__text *text, double ns)
{
	return sl__time_text_in_unit(text, ns, NULL);
}

const char *
sl__time_text_in_unit(struct sl__text *text, double ns, const char *unit)
{
	double value = sl__time_scaled(ns, &unit);

	if (isnan(ns))
		return dash(text);
	snprintf(text->s, sizeof(text->s), "%.*f %s",
		 decimals_of(value, TIME_DIGITS), value, unit);
	return text->s;
}

const char *
sl__needed_samples_text(struct sl__text *text, const struct sl_estimate *e)
{
	snprintf(text->s, sizeof(text->s), "needs n >= %zu", e->needs_n);
	return text->s;
}

/* The parts of an estimate that a text shows. */
enum { VALUE = 1, INTERVAL = 2 };

/* What ratios are in. */
static const struct time_unit no_unit = {NULL, 1};

static const char *
estimate_text(struct sl__text *text, const struct sl_estimate *e,
	      const struct time_unit *unit, int parts)
{
	int has_interval = e->needs_n || (!isnan(e->lo) && !isnan(e->hi));
	double value = e->value / unit->ns;
	int decimals = decimals_warranted(value, (e->hi - e->lo) / 2 / unit->ns,
					  e->lo <= 0 && e->hi >= 0);
	struct sl__text needs;

	if (isnan(e->value) || (parts == INTERVAL && !has_interval))
		return dash(text);
	text->s[0] = '\0';
	if (parts & VALUE)
		add_rounded(text, value, decimals);
	if (parts & VALUE && unit->name) {
		add_text(text, " ");
		add_text(text, unit->name);
	}
	if (!(parts & INTERVAL) || !has_interval)
		return text->s;
	add_text(text, parts & VALUE ? " [" : "[");
	if (e->needs_n) {
		add_text(text, sl__needed_samples_text(&needs, e));
	} else {
		add_rounded(text, e->lo / unit->ns, decimals);
		add_text(text, ", ");
		add_rounded(text, e->hi / unit->ns, decimals);
	}
	add_text(text, "]");
	return text->s;
}

const char *
sl__time_value(struct sl__text *text, const struct sl_estimate *e,
	       const char *unit)
{
	return estimate_text(text, e, find_unit(e->value, unit), VALUE);
}

const char *
sl__time_bounds_text(struct sl__text *text, const struct sl_estimate *e,
		     const char *unit)
{
	return estimate_text(text, e, find_unit(e->value, unit), INTERVAL);
}

const char *
sl__time_estimate(struct sl__text *text, const struct sl_estimate *e,
		  const char *unit)
{
	return estimate_text(text, e, find_unit(e->value, unit),
			     VALUE | INTERVAL);
}

const char *
sl__time_mean_std_text(struct sl__text *text, double mean_ns, double std_ns,
		       const char *unit)
{
	const struct time_unit *u = find_unit(mean_ns, unit);
	double mean = mean_ns / u->ns, std = std_ns / u->ns;
	int decimals = decimals_warranted(mean, std, 0);

	if (isnan(mean_ns))
		return dash(text);
	text->s[0] = '\0';
	add_rounded(text, mean, decimals);
	add_text(text, " ");
	add_text(text, u->name);
	if (isnan(std_ns))
		return text->s;
	add_text(text, " ± ");
	add_rounded(text, std, decimals);
	add_text(text, " ");
	add_text(text, u->name);
	return text->s;
}

const char *
sl__time_percentile(struct sl__text *text, const struct sl_estimate *e,
		    const char *unit)
{
	if (!e->needs_n)
		return sl__time_value(text, e, unit);
	return sl__needed_samples_text(text, e);
}

/* "12.3 G" and the unit; whole where it has neither prefix nor decimals. */
static const char *
prefixed_text(struct sl__text *text, double value, const char *unit,
	      int is_whole)
{
	static const char *const prefixes[] = {"",  "k", "M", "G",
					       "T", "P", "E"};
	size_t i = 0;

	if (isnan(value))
		return dash(text);
	for (; i + 1 < sizeof(prefixes) / sizeof(*prefixes) &&
	       fabs(value) >= 999.5;
	     i++)
		value /= 1000;
	snprintf(text->s, sizeof(text->s), "%.*f %s%s",
		 is_whole && !i ? 0 : decimals_of(value, SCALED_DIGITS), value,
		 prefixes[i], unit);
	return text->s;
}

const char *
sl__bytes_text(struct sl__text *text, double bytes)
{
	return prefixed_text(text, bytes, "B", 1);
}

const char *
sl__si_prefix_text(struct sl__text *text, double value)
{
	return prefixed_text(text, value, "", 0);
}

const char *
sl__three_digit_text(struct sl__text *text, double x)
{
	int decimals = x < 10 ? 2 : x < 100 ? 1 : 0;

	if (!isfinite(x))
		return dash(text);
	snprintf(text->s, sizeof(text->s), "%.*f", decimals, x);
	return text->s;
}

const char *
sl__count_text(struct sl__text *text, uint64_t n)
{
	char digits[24]; /* 2^64 has 20 */
	int n_digits = snprintf(digits, sizeof(digits), "%" PRIu64, n);
	size_t at = 0;

	for (int i = 0; i < n_digits; i++) {
		if (i && (n_digits - i) % 3 == 0)
			text->s[at++] = ',';
		text->s[at++] = digits[i];
	}
	text->s[at] = '\0';
	return text->s;
}

const char *
sl__percent_text(struct sl__text *text, double share)
{
	double percent = 100 * share;

	if (isnan(share))
		return dash(text);
	if (fabs(percent) >= 999.5)
		snprintf(text->s, sizeof(text->s), "%.0f %%", percent);
	else if (fabs(percent) >= 1e-3 || !(fabs(percent) > 0))
		snprintf(text->s, sizeof(text->s), "%.3g %%", percent);
	else
		snprintf(text->s, sizeof(text->s), "%s0.001 %%",
			 percent < 0 ? ">-" : "<");
	return text->s;
}

const char *
sl__share_text(struct sl__text *text, double share)
{
	double percent = 100 * share;

	if (isnan(share))
		return dash(text);
	if (fabs(percent) >= 0.05)
		snprintf(text->s, sizeof(text->s), "%s%.1f %%",
			 percent < 0 ? "−" : "", fabs(percent));
	else
		snprintf(text->s, sizeof(text->s), "%s %%",
			 percent > 0   ? "<0.1"
			 : percent < 0 ? "0.0"
				       : "0");
	return text->s;
}

const char *
sl__ratio_value(struct sl__text *text, const struct sl_estimate *e)
{
	return estimate_text(text, e, &no_unit, VALUE);
}

const char *
sl__ratio_bounds_text(struct sl__text *text, const struct sl_estimate *e)
{
	return estimate_text(text, e, &no_unit, INTERVAL);
}

const char *
sl__ratio_estimate(struct sl__text *text, const struct sl_estimate *e)
{
	return estimate_text(text, e, &no_unit, VALUE | INTERVAL);
}

const char *
sl__date_text(struct sl__text *text, double since_1970_s)
{
	time_t seconds = (time_t)since_1970_s;
	struct tm utc;

	if (!gmtime_r(&seconds, &utc) ||
	    !strftime(text->s, sizeof(text->s), "%Y-%m-%d %H:%M", &utc))
		text->s[0] = '\0';
	return text->s;
}
