/* SPDX-License-Identifier: Apache-2.0 */
/*
 * svg.c - drawing figures: marks, text and axes.
 *
 * Colours are those of Okabe and Ito (2008), which people with any kind of
 * colour vision tell apart; src/page/page.css has the same for both themes.
 */
#include "report/svg.h"
#include "base/buf.h"
#include "base/number.h"
#include "report/markup.h"
#include "report/printable.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/banned.h"

#define INK   "#1d2126"
#define PAPER "#ffffff"

enum { TICKS = 5, TITLE_HEIGHT = 30 };

/* What a class looks like in a file of its own. */
static const struct {
	const char *name, *attributes;
} looks[] = {
	{"grid", "stroke=\"#e3e6ea\""},
	{"tick", "fill=\"#5b636d\" font-size=\"11\""},
	{"axis", "fill=\"#5b636d\" font-size=\"12\""},
	{"label", "fill=\"" INK "\" font-size=\"12\""},
	{"title", "fill=\"" INK "\" font-size=\"15\" font-weight=\"600\""},
	{"count", "fill=\"" INK "\" font-size=\"11\""},
	{"note", "fill=\"#5b636d\" font-size=\"11\""},
	{"end", "text-anchor=\"end\""},
	{"middle", "text-anchor=\"middle\""},
	{"line", "fill=\"none\" stroke-width=\"1.6\""},
	{"dash", "stroke-dasharray=\"4 3\""},
	{"ring", "fill=\"none\" stroke-width=\"1.4\""},
	{"cell", "stroke=\"" PAPER "\" stroke-width=\"0.6\""},
	{"point", "stroke=\"" PAPER "\" stroke-width=\"0.6\" "
		  "fill-opacity=\"0.75\""},
	{"box", "stroke=\"#9aa2ab\""},
	{"link", "fill=\"none\" stroke=\"#9aa2ab\""},
	{"soft", "fill-opacity=\"0.16\""},
	{"on", "fill=\"#000000\" font-size=\"11\""},
	{"on-deep", "fill=\"" PAPER "\" font-size=\"11\""},
	{"s0", "fill=\"#0072b2\""},
	{"s1", "fill=\"#d55e00\""},
	{"s2", "fill=\"#009e73\""},
	{"s3", "fill=\"#cc79a7\""},
	{"s4", "fill=\"#e69f00\""},
	{"s5", "fill=\"#56b4e9\""},
	{"s6", "fill=\"#7f6aa8\""},
	{"s7", "fill=\"#9aa2ab\""},
	{"s8", "fill=\"#8c5a2b\""},
	{"s9", "fill=\"#d3d7dc\""},
	{"dark", "fill=\"#5b636d\""},
	{"hollow", "fill=\"none\" stroke=\"#5b636d\""},
	{"area", "fill-opacity=\"0.82\""},
	{"hover", "fill-opacity=\"0\""},
	{"k0", "stroke=\"#0072b2\""},
	{"k1", "stroke=\"#d55e00\""},
	{"k2", "stroke=\"#009e73\""},
	{"k3", "stroke=\"#cc79a7\""},
	{"k4", "stroke=\"#e69f00\""},
	{"k5", "stroke=\"#56b4e9\""},
	{"k6", "stroke=\"#7f6aa8\""},
	{"k7", "stroke=\"#9aa2ab\""},
	{"ink", "stroke=\"" INK "\""},
};

double
sl__axis_at(const struct sl__axis *axis, double value)
{
	double share =
		axis->is_log ? log(value / axis->lo) / log(axis->hi / axis->lo)
			     : (value - axis->lo) / (axis->hi - axis->lo);

	return axis->from + share * (axis->to - axis->from);
}

/* The step of 1, 2 or 5 times a power of ten that gives some five ticks. */
static double
tick_step(const struct sl__axis *axis)
{
	double rough = (axis->hi - axis->lo) / TICKS;
	double power = pow(10, floor(log10(rough)));
	double digit = rough / power;

	power *= digit < 1.5 ? 1 : digit < 3.5 ? 2 : digit < 7.5 ? 5 : 10;
	return axis->is_whole ? fmax(power, 1) : power;
}

/* The next of 1, 2 or 5 times a power of ten, upwards or downwards. */
static double
round_log(double value, int is_up)
{
	double power = pow(10, floor(log10(value) + 1e-9));
	double digit = value / power;

	if (is_up)
		return power * (digit <= 1 + 1e-9   ? 1
				: digit <= 2 + 1e-9 ? 2
				: digit <= 5 + 1e-9 ? 5
						    : 10);
	return power * (digit >= 5 - 1e-9 ? 5 : digit >= 2 - 1e-9 ? 2 : 1);
}

void
sl__axis_round(struct sl__axis *axis)
{
	double step;

	if (axis->is_log) {
		axis->lo = round_log(axis->lo, 0);
		axis->hi = round_log(axis->hi, 1);
		if (!(axis->hi > axis->lo))
			axis->hi = 10 * axis->lo;
		return;
	}
	if (!(axis->hi > axis->lo))
		axis->hi = axis->lo + fmax(fabs(axis->lo) * 0.1, 1e-12);
	step = tick_step(axis);
	axis->lo = floor(axis->lo / step + 1e-9) * step;
	axis->hi = ceil(axis->hi / step - 1e-9) * step;
}

/* ' class="a b"' and what the classes look like. */
static void
add_classes(struct sl__svg *s, const char *classes)
{
	sl__buf_format(s->out, " class=\"%s\"", classes);
	while (s->is_alone && *classes) {
		size_t n = strcspn(classes, " ");

		for (size_t i = 0; i < sizeof(looks) / sizeof(*looks); i++) {
			if (strncmp(looks[i].name, classes, n) == 0 &&
			    !looks[i].name[n])
				sl__buf_format(s->out, " %s",
					       looks[i].attributes);
		}
		classes += n + (classes[n] == ' ');
	}
}

static void
add_number(struct sl__svg *s, double points)
{
	char text[SL__NUMBER_BYTES];

	points = isfinite(points) ? round(10 * points) / 10 : 0;
	sl__buf_text(s->out, sl__number_text(text, points));
}

void
sl__svg_open(struct sl__svg *s, const char *tag, const char *classes,
	     const char *names, ...)
{
	va_list values;

	s->tag = tag;
	sl__buf_format(s->out, "<%s", tag);
	add_classes(s, classes);
	va_start(values, names);
	while (*names) {
		size_t n = strcspn(names, " ");

		sl__buf_format(s->out, " %.*s=\"", (int)n, names);
		add_number(s, va_arg(values, double));
		sl__buf_text(s->out, "\"");
		names += n + (names[n] == ' ');
	}
	va_end(values);
}

void
sl__svg_attribute(struct sl__svg *s, const char *name, const char *format, ...)
{
	va_list args;

	sl__buf_format(s->out, " %s=\"", name);
	va_start(args, format);
	sl__markup_vformat(s->out, format, args);
	va_end(args);
	sl__buf_text(s->out, "\"");
}

void
sl__svg_close(struct sl__svg *s)
{
	sl__buf_text(s->out, "/>\n");
}

void
sl__svg_close_with_tip(struct sl__svg *s, const char *format, ...)
{
	va_list args;

	sl__buf_text(s->out, "><title>");
	va_start(args, format);
	sl__markup_vformat(s->out, format, args);
	va_end(args);
	sl__buf_format(s->out, "</title></%s>\n", s->tag);
}

void
sl__svg_label(struct sl__svg *s, const char *classes, double x, double y,
	      const char *format, ...)
{
	va_list args;

	sl__svg_open(s, "text", classes, "x y", x, y);
	sl__buf_text(s->out, ">");
	va_start(args, format);
	sl__markup_vformat(s->out, format, args);
	va_end(args);
	sl__buf_text(s->out, "</text>\n");
}

void
sl__svg_path(struct sl__svg *s, const char *classes)
{
	sl__svg_open(s, "path", classes, "");
	sl__buf_text(s->out, " d=\"");
	s->n_points = 0;
}

void
sl__svg_path_to(struct sl__svg *s, double x, double y)
{
	sl__buf_text(s->out, s->n_points++ ? " " : "M");
	add_number(s, x);
	sl__buf_text(s->out, " ");
	add_number(s, y);
}

void
sl__svg_path_done(struct sl__svg *s)
{
	sl__buf_text(s->out, "\"");
}

void
sl__svg_group(struct sl__svg *s, const char *classes)
{
	sl__svg_open(s, "g", classes, "");
	sl__buf_text(s->out, ">\n");
}

void
sl__svg_turn(struct sl__svg *s, double x, double y, double degrees)
{
	sl__buf_text(s->out, "<g transform=\"translate(");
	add_number(s, x);
	sl__buf_text(s->out, " ");
	add_number(s, y);
	sl__buf_text(s->out, ") rotate(");
	add_number(s, degrees);
	sl__buf_text(s->out, ")\">\n");
}

void
sl__svg_group_end(struct sl__svg *s)
{
	sl__buf_text(s->out, "</g>\n");
}

void
sl__svg_begin(struct sl__svg *s, const char *title, double width, double height)
{
	int above = s->is_alone ? TITLE_HEIGHT : 0;

	sl__buf_text(s->out, "<svg");
	if (s->is_alone)
		sl__buf_format(s->out,
			       " xmlns=\"http://www.w3.org/2000/svg\" "
			       "width=\"%.0f\" height=\"%.0f\" "
			       "font-family=\"sans-serif\"",
			       width, height + above);
	sl__buf_format(s->out,
		       " viewBox=\"0 %d %.0f %.0f\" role=\"img\">\n<title>",
		       -above, width, height + above);
	sl__markup_text(s->out, title);
	sl__buf_text(s->out, "</title>\n");
	if (!s->is_alone)
		return;
	sl__svg_open(s, "rect", "", "y width height", (double)-above, width,
		     height + above);
	sl__svg_attribute(s, "fill", "%s", PAPER);
	sl__svg_close(s);
	sl__svg_label(s, "title", 12, -8, "%s", title);
}

void
sl__svg_end(struct sl__svg *s)
{
	sl__buf_text(s->out, "</svg>\n");
}

/* "20 ms", "1.5 GB": a value in a unit with a prefix of powers of 1000. */
static void
write_tick(char out[32], double value, const char *unit)
{
	static const char *const prefixes[] = {"n", "µ", "m", "", "k",
					       "M", "G", "T", "P"};
	char number[16];
	int power = 0;

	if (unit && fabs(value) > 0) {
		power = (int)floor(log10(fabs(value) * (1 + 1e-9)) / 3);
		power = power < -3 ? -3 : power > 5 ? 5 : power;
		value /= pow(1000, power);
	}
	snprintf(number, sizeof(number), "%.4g",
		 fabs(value) < 1e-12 ? 0 : value);
	sl__number_fix_decimal_point(number);
	snprintf(out, 32, "%s%s%s%s", number,
		 unit && (*unit || power) ? " " : "",
		 unit ? prefixes[power + 3] : "", unit ? unit : "");
}

static void
add_tick(struct sl__svg *s, const struct sl__axis *axis,
	 const struct sl__axis *other, double value, int is_x)
{
	double at = sl__axis_at(axis, value);
	char text[32];

	write_tick(text, value, axis->unit);
	if (is_x) {
		sl__svg_open(s, "line", "grid", "x1 y1 x2 y2", at, other->from,
			     at, other->to);
		sl__svg_close(s);
		sl__svg_label(s, "tick middle", at, other->from + 18, "%s",
			      text);
	} else {
		sl__svg_open(s, "line", "grid", "x1 y1 x2 y2", other->from, at,
			     other->to, at);
		sl__svg_close(s);
		sl__svg_label(s, "tick end", other->from - 8, at + 4, "%s",
			      text);
	}
}

/* Half of what a tick's text takes along its axis, and the gap to the next:
 * letters of 11 points are 6.4 wide in wide faces. */
static double
tick_half(const struct sl__axis *axis, double value, int is_x)
{
	char text[32];

	write_tick(text, value, axis->unit);
	return is_x ? 3.2 * (double)sl__utf8_width(text) + 2 : 7;
}

static int
is_within(const struct sl__axis *axis, double value)
{
	return value >= axis->lo * (1 - 1e-9) && value <= axis->hi * (1 + 1e-9);
}

/* Values on a logarithmic axis: these mantissas, up to one of 0, times every
 * so many powers of ten. */
struct log_ticks {
	const double *mantissas;
	double first, last, stride; /* exponents */
};

/* Whether the texts of these ticks have room beside each other. */
static int
have_room(const struct log_ticks *t, const struct sl__axis *axis, int is_x)
{
	double end = -(double)INFINITY, sign = axis->to < axis->from ? -1 : 1;

	for (double e = t->first; e <= t->last; e += t->stride) {
		for (const double *m = t->mantissas; *m > 0; m++) {
			double value = *m * pow(10, e);
			double half = tick_half(axis, value, is_x);
			double at = sign * sl__axis_at(axis, value);

			if (!is_within(axis, value))
				continue;
			if (at - half < end)
				return 0;
			end = at + half;
		}
	}
	return 1;
}

/* How many ticks there would be. */
static int
count_ticks(const struct log_ticks *t, const struct sl__axis *axis)
{
	int n = 0;

	for (double e = t->first; e <= t->last; e += t->stride) {
		for (const double *m = t->mantissas; *m > 0; m++)
			n += is_within(axis, *m * pow(10, e));
	}
	return n;
}

/* Powers of ten, at most eight, and as many values between them as there is
 * room for; where few of the usual ones are within, finer ones. */
static void
add_log_ticks(struct sl__svg *s, const struct sl__axis *axis,
	      const struct sl__axis *other, int is_x)
{
	static const double sets[][9] = {{1, 1.2, 1.5, 2, 2.5, 3, 5, 7},
					 {1, 1.5, 2, 3, 5, 7},
					 {1, 2, 5},
					 {1, 3},
					 {1}};
	enum { FINER_SETS = 2, N_SETS = sizeof(sets) / sizeof(*sets) };
	struct log_ticks t = {.mantissas = sets[N_SETS - 1],
			      .first = floor(log10(axis->lo) - 1e-9),
			      .last = ceil(log10(axis->hi) + 1e-9)};

	t.stride = fmax(ceil((t.last - t.first - 1) / 8), 1);
	for (size_t i = N_SETS - 1; i-- > 0 && t.stride < 2;) {
		struct log_ticks more = t;

		more.mantissas = sets[i];
		if ((i >= FINER_SETS || count_ticks(&t, axis) < TICKS - 1) &&
		    have_room(&more, axis, is_x))
			t = more;
	}
	for (double e = t.first; e <= t.last; e += t.stride) {
		for (const double *m = t.mantissas; *m > 0; m++) {
			if (is_within(axis, *m * pow(10, e)))
				add_tick(s, axis, other, *m * pow(10, e), is_x);
		}
	}
}

/* Whether the texts of ticks that are 'step' apart have room beside each
 * other. */
static int
has_room(const struct sl__axis *axis, double step, int is_x)
{
	double apart = fabs(axis->to - axis->from) * step;
	double half = 0;

	for (double k = ceil(axis->lo / step - 1e-9);
	     k * step <= axis->hi + step * 1e-9; k++)
		half = fmax(half, tick_half(axis, k * step, is_x));
	return apart >= 2 * half * (axis->hi - axis->lo);
}

/* The next of 1, 2 and 5 times a power of ten, of one of these. */
static double
coarser(double step)
{
	double digit = step / pow(10, floor(log10(step) + 1e-9));

	return step * (digit > 1.5 && digit < 3.5 ? 2.5 : 2);
}

static void
add_ticks(struct sl__svg *s, const struct sl__axis *axis,
	  const struct sl__axis *other, int is_x)
{
	double step;

	/* A saved result may say anything. */
	if (!isfinite(axis->lo) || !isfinite(axis->hi) ||
	    !(axis->hi > axis->lo) || (axis->is_log && !(axis->lo > 0)))
		return;
	for (size_t i = 0; i < axis->n_ticks; i++)
		add_tick(s, axis, other, axis->ticks[i], is_x);
	if (axis->n_ticks)
		return;
	if (axis->is_log) {
		add_log_ticks(s, axis, other, is_x);
		return;
	}
	step = tick_step(axis);
	if (!isfinite(step) || !(step > 0) || axis->lo + step <= axis->lo)
		return;
	while (step < axis->hi - axis->lo && !has_room(axis, step, is_x))
		step = coarser(step);
	for (double k = ceil(axis->lo / step - 1e-9);
	     k * step <= axis->hi + step * 1e-9; k++)
		add_tick(s, axis, other, k * step, is_x);
}

void
sl__svg_axis_x(struct sl__svg *s, const struct sl__axis *x,
	       const struct sl__axis *y)
{
	sl__svg_group(s, "axes");
	add_ticks(s, x, y, 1);
	if (x->title)
		sl__svg_label(s, "axis middle", (x->from + x->to) / 2,
			      y->from + 40, "%s", x->title);
	sl__svg_group_end(s);
}

void
sl__svg_axes(struct sl__svg *s, const struct sl__axis *x,
	     const struct sl__axis *y)
{
	double middle = (y->from + y->to) / 2;

	sl__svg_axis_x(s, x, y);
	sl__svg_group(s, "axes");
	add_ticks(s, y, x, 0);
	if (y->title) {
		/* Letters of a phone are higher: they stay within. */
		sl__svg_turn(s, fmax(x->from - 66, 14), middle, -90);
		sl__svg_label(s, "axis middle", 0, 0, "%s", y->title);
		sl__svg_group_end(s);
	}
	sl__svg_group_end(s);
}

double
sl__svg_legend(struct sl__svg *s, const char *classes, double x, double y,
	       const char *name)
{
	/* A character of 12 points is 7.2 wide in the widest of usual faces. */
	double width = 7.2 * (double)strlen(name) + 32;

	sl__svg_open(s, "rect", classes, "x y width height rx", x, y - 10, 11.0,
		     11.0, 2.0);
	sl__svg_close(s);
	sl__svg_label(s, "label", x + 16, y, "%s", name);
	return x + width;
}
