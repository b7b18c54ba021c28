/* SPDX-License-Identifier: Apache-2.0 */
/*
 * figure_run.c - one iteration of a model: its time by module, and the median
 * iteration as it ran.
 *
 * What is drawn within a group "across" the page's script zooms: it moves and
 * widens marks and names.
 */
#include "base/buf.h"
#include "report/figures.h"
#include "report/profile_page.h"
#include "report/unit.h"

#include <math.h>
#include <string.h>

#include "base/banned.h"

enum { DEPTH_MOST = 5 };

static const double LEFT = 12, RIGHT = SL__FIGURE_WIDTH - 12, ROW = 30;

/* Bytes of a path up to the end of its nth part; all where it has fewer. */
static size_t
prefix_bytes(const char *path, size_t n_parts)
{
	size_t i = 0;

	for (; path[i]; i++) {
		if (path[i] == '/' && !--n_parts)
			return i;
	}
	return i;
}

static size_t
count_parts(const char *path)
{
	size_t n = *path != '\0';

	for (; *path; path++)
		n += *path == '/';
	return n;
}

/* The last part of a path of n bytes, where the cell has room for it. */
static void
add_name(struct sl__svg *s, const double at[2], double width, const char *path,
	 size_t n, const char *classes)
{
	size_t from = n;

	while (from > 0 && path[from - 1] != '/')
		from--;
	/* A character of 11 points is 6.8 wide in wide faces. */
	if (6.8 * (double)(n - from) + 8 <= width)
		sl__svg_label(s, classes, at[0] + 5, at[1] + ROW / 2 + 3,
			      "%.*s", (int)(n - from), path + from);
}

/* One row of the icicle: neighbours with the same first parts are one. */
static void
add_modules(struct sl__svg *s, const struct sl_profile *p, size_t depth,
	    double total_ns)
{
	double x = LEFT, y = 8 + ROW * (double)(depth - 1);
	struct sl__text a, b;

	for (size_t i = 0, next; i < p->n_operations; i = next) {
		const char *path = p->operations[i].module;
		size_t n = prefix_bytes(path, depth);
		double ns = 0, width;

		for (next = i; next < p->n_operations; next++) {
			const char *other = p->operations[next].module;

			if (prefix_bytes(other, depth) != n ||
			    strncmp(other, path, n) != 0)
				break;
			ns += p->operations[next].self_ns;
		}
		width = ns / total_ns * (RIGHT - LEFT);
		if (count_parts(path) >= depth && width > 0.3) {
			sl__svg_open(s, "rect", "mark cell s0",
				     "x y width height", x, y, width, ROW - 2);
			/* In hundredths: a locale may have a decimal comma. */
			sl__svg_attribute(s, "fill-opacity", "0.%02d",
					  54 - 8 * (int)depth);
			sl__svg_close_with_tip(
				s, "%.*s: %s, %s", (int)n, path,
				sl__time_text(&a, ns),
				sl__share_text(&b, ns / total_ns));
			add_name(s, (double[]){x, y}, width, path, n, "count");
		}
		x += width;
	}
}

/* The colour of a name that is read on the colour of a part. */
static const char *
name_look(enum sl_part part)
{
	const char *look = sl__profile_part_look(part);

	return strchr("068", look[strlen(look) - 1]) ? "on-deep" : "on";
}

static void
add_operations(struct sl__svg *s, const struct sl_profile *p, double y,
	       double total_ns)
{
	double x = LEFT;
	struct sl__text a, b;

	for (size_t i = 0; i < p->n_operations; i++) {
		const struct sl_operation *o = &p->operations[i];
		double width = o->self_ns / total_ns * (RIGHT - LEFT);

		if (width > 0.1) {
			sl__svg_open(s, "rect", sl__profile_part_look(o->part),
				     "x y width height", x, y, width, ROW - 2);
			sl__svg_attribute(s, "data-op", "%zu", i);
			sl__svg_close_with_tip(s, "%s (%s): %s, %s", o->name,
					       o->type,
					       sl__time_text(&a, o->self_ns),
					       sl__share_text(&b, o->share));
			add_name(s, (double[]){x, y}, width, o->name,
				 strlen(o->name), name_look(o->part));
		}
		x += width;
	}
}

void
sl__figure_icicle(struct sl__views *v, const struct sl_profile *p)
{
	double total_ns = 0;
	size_t depth = 0;
	struct sl__svg *s;

	for (size_t i = 0; i < p->n_operations; i++) {
		size_t n = count_parts(p->operations[i].module);

		total_ns += p->operations[i].self_ns;
		depth = n > depth ? n : depth;
	}
	depth = depth > DEPTH_MOST ? DEPTH_MOST : depth;
	if (!(total_ns > 0))
		return;
	s = sl__views_figure(v, "icicle", "Time by module and operation",
			     SL__FIGURE_WIDTH, 16 + ROW * (double)(depth + 1));
	sl__svg_group(s, "across");
	for (size_t d = 1; d <= depth; d++)
		add_modules(s, p, d, total_ns);
	add_operations(s, p, 8 + ROW * (double)depth, total_ns);
	sl__svg_group_end(s);
	sl__views_figure_end(
		v, "Widths are mean times, in the order things run: modules "
		   "above their parts, operations in the last row, in the "
		   "colours of where the time goes.");
}

/* The iteration nearest to the median; NULL: none was kept. */
static const struct sl_trace_iteration *
median_iteration(const struct sl_profile *p)
{
	for (size_t i = 0; i < p->n_iterations; i++) {
		if (p->iterations[i].why == SL_KEPT_MEDIAN)
			return &p->iterations[i];
	}
	return p->n_iterations ? &p->iterations[0] : NULL;
}

static void
add_events(struct sl__svg *s, const struct sl_profile *p,
	   const struct sl_trace_iteration *it, const struct sl__axis *x)
{
	struct sl__text a, b;

	for (size_t i = 0; i + 1 < it->n_events; i++) {
		const struct sl_trace_event *e = &it->events[i];
		double ns = it->events[i + 1].start_ns - e->start_ns;
		double from = sl__axis_at(x, 1e-9 * e->start_ns);
		double width = sl__axis_at(x, 1e-9 * (e->start_ns + ns)) - from;
		const struct sl_operation *o;

		if (e->operation >= p->n_operations)
			continue;
		o = &p->operations[e->operation];
		sl__svg_open(s, "rect", sl__profile_part_look(o->part),
			     "x y width height", from, 12.0, fmax(width, 0.1),
			     48.0);
		sl__svg_attribute(s, "data-op", "%zu", e->operation);
		sl__svg_close_with_tip(s, "%s (%s): %s, begins at %s", o->name,
				       o->type, sl__time_text(&a, ns),
				       sl__time_text(&b, e->start_ns));
		add_name(s, (double[]){from, 22}, width, o->name,
			 strlen(o->name), name_look(o->part));
	}
}

void
sl__figure_timeline(struct sl__views *v, const struct sl_profile *p)
{
	const struct sl_trace_iteration *it = median_iteration(p);
	struct sl__axis x = {.lo = 0,
			     .from = LEFT + 6,
			     .to = RIGHT - 20,
			     .unit = "s",
			     .title = "since the iteration began"};
	struct sl__axis y = {.lo = 0, .hi = 1, .from = 64, .to = 8};
	struct sl__svg *s;
	struct sl__text t;

	if (!it || it->n_events < 2 || !(it->wall_ns > 0))
		return;
	x.hi = 1e-9 * it->wall_ns;
	sl__views_open(v, "timeline", "Timeline");
	s = sl__views_figure(v, "timeline", "One iteration as it ran",
			     SL__FIGURE_WIDTH, 116);
	sl__svg_axis_x(s, &x, &y);
	sl__svg_group(s, "across");
	add_events(s, p, it, &x);
	sl__svg_group_end(s);
	sl__views_figure_end(v,
			     "The recorded iteration nearest to the median, "
			     "%s; each operation lasts until the next begins, "
			     "on %d thread%s.",
			     sl__time_text(&t, it->wall_ns), p->n_threads,
			     p->n_threads == 1 ? "" : "s");
}
