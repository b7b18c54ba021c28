/* SPDX-License-Identifier: Apache-2.0 */
/*
 * figure_graph.c - the operations of a model as they hang together.
 *
 * An operation stands one row below the last of those whose results it uses,
 * and as near below them as its neighbours allow.
 */
#include "base/arena.h"
#include "base/buf.h"
#include "report/figures.h"
#include "report/profile_page.h"
#include "report/unit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/banned.h"

static const double BOX = 192, HEIGHT = 26, ACROSS = 20, DOWN = 24, EDGE = 16;
enum { NAME_LETTERS = 27 }; /* 6.8 points each in wide faces */

struct place {
	double x, wanted; /* the middle */
	size_t row, operation;
};

struct drawing {
	const struct sl_profile *p;
	struct place *places; /* by row, then from left to right */
	size_t *at;           /* by operation: its place */
	double least, most;   /* x */
	size_t n_rows;
};

static int
by_row(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->row != y->row)
		return x->row < y->row ? -1 : 1;
	return x->operation < y->operation ? -1 : x->operation > y->operation;
}

static int
by_wanted(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->wanted != y->wanted)
		return x->wanted < y->wanted ? -1 : 1;
	return x->operation < y->operation ? -1 : x->operation > y->operation;
}

/* Edges lead to later operations, so one look at each is enough. */
static void
find_rows(struct drawing *d)
{
	const struct sl_profile *p = d->p;

	for (size_t i = 0; i < p->n_operations; i++)
		d->places[i].operation = i;
	for (size_t e = 0; e < p->n_edges; e++) {
		size_t above = d->places[p->edges[e].from].row;
		struct place *to = &d->places[p->edges[e].to];

		if (to->row < above + 1)
			to->row = above + 1;
	}
	qsort(d->places, p->n_operations, sizeof(*d->places), by_row);
	for (size_t i = 0; i < p->n_operations; i++)
		d->at[d->places[i].operation] = i;
	d->n_rows = d->places[p->n_operations - 1].row + 1;
}

/* Side by side where they want to be, or as near as there is room. */
static void
place_row(struct drawing *d, struct place *row, size_t n)
{
	double drift = 0;

	qsort(row, n, sizeof(*row), by_wanted);
	for (size_t i = 0; i < n; i++) {
		d->at[row[i].operation] = (size_t)(&row[i] - d->places);
		row[i].x = row[i].wanted;
		if (i && row[i].x < row[i - 1].x + BOX + ACROSS)
			row[i].x = row[i - 1].x + BOX + ACROSS;
		drift += row[i].x - row[i].wanted;
	}
	for (size_t i = 0; i < n; i++) {
		row[i].x -= drift / (double)n;
		d->least = fmin(d->least, row[i].x);
		d->most = fmax(d->most, row[i].x);
	}
}

/* Edges are ordered by where they lead to: first[i] is the first of them to
 * operation i. */
static void
place_all(struct drawing *d, const size_t *first)
{
	const struct sl_profile *p = d->p;

	for (size_t i = 0, next; i < p->n_operations; i = next) {
		for (next = i; next < p->n_operations &&
			       d->places[next].row == d->places[i].row;
		     next++) {
			struct place *to = &d->places[next];
			size_t from = first[to->operation];
			size_t n = first[to->operation + 1] - from;

			for (size_t e = from; e < from + n; e++)
				to->wanted +=
					d->places[d->at[p->edges[e].from]].x /
					(double)n;
		}
		place_row(d, &d->places[i], next - i);
	}
}

static int
lay_out(struct drawing *d, struct sl__arena *arena)
{
	const struct sl_profile *p = d->p;
	size_t n = p->n_operations;
	size_t *first = sl__arena_array(arena, n + 1, sizeof(*first));

	d->places = sl__arena_array(arena, n, sizeof(*d->places));
	d->at = sl__arena_array(arena, n, sizeof(*d->at));
	if (!first || !d->places || !d->at)
		return 0;
	for (size_t e = 0; e < p->n_edges; e++)
		first[p->edges[e].to + 1]++;
	for (size_t i = 0; i < n; i++)
		first[i + 1] += first[i];
	find_rows(d);
	place_all(d, first);
	return 1;
}

static double
x_of(const struct drawing *d, const struct place *p, double width)
{
	return width / 2 + p->x - (d->least + d->most) / 2;
}

static double
y_of(const struct place *p)
{
	return EDGE + (double)p->row * (HEIGHT + DOWN);
}

/* Down to the next row; to one further down beside what lies between. */
static void
add_edges(struct sl__svg *s, const struct drawing *d, double width)
{
	for (size_t e = 0; e < d->p->n_edges; e++) {
		const struct place *from =
			&d->places[d->at[d->p->edges[e].from]];
		const struct place *to = &d->places[d->at[d->p->edges[e].to]];
		int x0 = (int)x_of(d, from, width);
		int x1 = (int)x_of(d, to, width);
		int y0 = (int)(y_of(from) + HEIGHT), y1 = (int)y_of(to);
		int side = (int)(BOX / 2), half = (int)(HEIGHT / 2);

		sl__svg_open(s, "path", "link", "");
		if (to->row > from->row + 1 && abs(x1 - x0) < (int)BOX)
			sl__svg_attribute(s, "d", "M%d %dC%d %d %d %d %d %d",
					  x0 + side, y0 - half, x0 + side + 40,
					  y0 - half, x1 + side + 40, y1 + half,
					  x1 + side, y1 + half);
		else
			sl__svg_attribute(s, "d", "M%d %dC%d %d %d %d %d %d",
					  x0, y0, x0, (y0 + y1) / 2, x1,
					  (y0 + y1) / 2, x1, y1);
		sl__svg_close(s);
	}
}

/* What stands in the boxes; one without a name has its type. */
static const char **
name_boxes(struct sl__svg *s, struct sl__arena *arena,
	   const struct sl_profile *p)
{
	const char **names =
		sl__arena_array(arena, p->n_operations, sizeof(*names));

	if (!names) {
		sl__buf_mark_failed(s->out);
		return NULL;
	}
	for (size_t i = 0; i < p->n_operations; i++)
		names[i] = *p->operations[i].name ? p->operations[i].name
						  : p->operations[i].type;
	return sl__figure_labels(s, arena, names, p->n_operations,
				 sizeof(*names), NAME_LETTERS);
}

/* Boxes let through what is below them; that shall not be an edge. */
static void
add_backs(struct sl__svg *s, const struct drawing *d, double width)
{
	sl__svg_open(s, "path", "under", "");
	sl__svg_attribute(s, "fill", "%s", "#ffffff");
	sl__buf_text(s->out, " d=\"");
	for (size_t i = 0; i < d->p->n_operations; i++)
		sl__buf_format(s->out, "M%d %dh%dv%dh-%dz",
			       (int)(x_of(d, &d->places[i], width) - BOX / 2),
			       (int)y_of(&d->places[i]), (int)BOX, (int)HEIGHT,
			       (int)BOX);
	sl__buf_text(s->out, "\"");
	sl__svg_close(s);
}

/* A square root: a single operation often takes most of the time. */
static int
strength_of(double share, double most)
{
	return most > 0 ? (int)(53 * sqrt(fmax(share, 0) / most)) : 0;
}

static void
add_boxes(struct sl__svg *s, const struct drawing *d, const char *const *names,
	  double width)
{
	double most = 0;

	for (size_t i = 0; i < d->p->n_operations; i++)
		most = fmax(most, d->p->operations[i].share);
	for (size_t i = 0; i < d->p->n_operations; i++) {
		const struct sl_operation *o = &d->p->operations[i];
		const struct place *at = &d->places[d->at[i]];
		struct sl__text a, b;

		sl__svg_open(s, "rect", "mark box s1", "x y width height rx",
			     x_of(d, at, width) - BOX / 2, y_of(at), BOX,
			     HEIGHT, 5.0);
		sl__svg_attribute(s, "fill-opacity", "0.%02d",
				  2 + strength_of(o->share, most));
		sl__svg_attribute(s, "data-op", "%zu", i);
		if (s->is_alone)
			sl__svg_close_with_tip(s, "%s (%s): %s, %s", o->name,
					       o->type,
					       sl__time_text(&a, o->self_ns),
					       sl__percent_text(&b, o->share));
		else
			sl__svg_close(s); /* the script has all of it */
		sl__svg_label(s, "count middle", x_of(d, at, width),
			      y_of(at) + HEIGHT / 2 + 4, "%s", names[i]);
	}
}

void
sl__figure_graph(struct sl__views *v, const struct sl_profile *p)
{
	struct drawing d = {.p = p};
	struct sl__arena arena;
	struct sl__svg *s;
	const char **names;
	double width;

	if (p->n_operations < 2 || !p->n_edges)
		return;
	sl__arena_init(&arena, NULL);
	if (!lay_out(&d, &arena)) {
		sl__buf_mark_failed(v->out);
	} else {
		width = fmax(SL__FIGURE_WIDTH,
			     d.most - d.least + BOX + 6 * EDGE);
		sl__views_open(v, "graph", "Graph");
		s = sl__views_figure(v, "graph", "The model, by time", width,
				     2 * EDGE + (double)d.n_rows *
							(HEIGHT + DOWN));
		add_edges(s, &d, width);
		add_backs(s, &d, width);
		names = name_boxes(s, &arena, p);
		if (names)
			add_boxes(s, &d, names, width);
		sl__views_figure_end(
			v, "Operations as the engine runs them, each below "
			   "those whose results it uses; the stronger the "
			   "colour, the more time it takes.");
	}
	sl__arena_release(&arena);
}
