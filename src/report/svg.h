/* SPDX-License-Identifier: Apache-2.0 */
/* svg.h - drawing figures: marks, text and axes. */
#ifndef SL_SVG_H
#define SL_SVG_H

#include "sleuth/basics.h"

/*
 * A figure is drawn once and used twice.  Within a page its classes are styled
 * by the page's sheet (src/page/page.css), in light and in dark.  As a file of
 * its own (is_alone) each class also brings attributes, so that any program
 * that reads SVG shows it the same.  Coordinates are points, x to the right
 * and y downwards.
 */
struct sl__svg {
	struct sl_buf *out;
	const char *tag; /* of the element that is open */
	int is_alone;
	size_t n_points; /* of the path that is open */
};

/* From a value to a point. */
struct sl__axis {
	double lo, hi;   /* values at the ends; above 0 where is_log */
	double from, to; /* points there */
	int is_log;      /* logarithmic */
	int is_whole;    /* of whole numbers: none has a tick between them */
	const double *ticks; /* where to put them; NULL: at round values */
	size_t n_ticks;
	const char *unit;  /* "s", "B": with prefixes of powers of 1000; NULL: a
			      plain number */
	const char *title; /* what it shows */
};

double sl__axis_at(const struct sl__axis *axis, double value);

/* The ends moved outwards to round values. */
void sl__axis_round(struct sl__axis *axis);

/* Opens the picture; its title is for people who listen, and drawn above the
 * figure where it stands alone. */
void sl__svg_begin(struct sl__svg *s, const char *title, double width,
		   double height);
void sl__svg_end(struct sl__svg *s);

/*
 * Opens an element of one or more classes with an attribute for each name in
 * 'names' ("x y width height"), whose values follow as doubles and are written
 * to a tenth of a point.  Further attributes may be added; then it is closed,
 * with a text that shows while it is pointed at, or without.
 */
void sl__svg_open(struct sl__svg *s, const char *tag, const char *classes,
		  const char *names, ...);
void sl__svg_attribute(struct sl__svg *s, const char *name, const char *format,
		       ...) __attribute__((format(printf, 3, 4)));
void sl__svg_close(struct sl__svg *s);
void sl__svg_close_with_tip(struct sl__svg *s, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* A line of text; a class of "end" or "middle" says what x is of it. */
void sl__svg_label(struct sl__svg *s, const char *classes, double x, double y,
		   const char *format, ...)
	__attribute__((format(printf, 5, 6)));

/* A path from point to point, closed like any element; an area is filled. */
void sl__svg_path(struct sl__svg *s, const char *classes);
void sl__svg_path_to(struct sl__svg *s, double x, double y);
void sl__svg_path_done(struct sl__svg *s);

/* Elements that belong together; or whose 0, 0 is at x, y, turned. */
void sl__svg_group(struct sl__svg *s, const char *classes);
void sl__svg_turn(struct sl__svg *s, double x, double y, double degrees);
void sl__svg_group_end(struct sl__svg *s);

/* The vertical lines alone, over the height of y. */
void sl__svg_axis_x(struct sl__svg *s, const struct sl__axis *x,
		    const struct sl__axis *y);

/* Grid lines, the values beside them and the titles. */
void sl__svg_axes(struct sl__svg *s, const struct sl__axis *x,
		  const struct sl__axis *y);

/* A square of that class and its name; returns where the next one goes. */
double sl__svg_legend(struct sl__svg *s, const char *classes, double x,
		      double y, const char *name);

#endif
