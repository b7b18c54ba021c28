/* SPDX-License-Identifier: Apache-2.0 */
/* figure_bars.c - parts of a whole as bars: below each other, or as one. */
#include "base/buf.h"
#include "report/figures.h"
#include "report/row_names.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/banned.h"

static const double ROW = 26, LEFT = 196, RIGHT = 740;
enum { NAME_LETTERS = 26 }; /* 7.2 points each in wide faces */

double
sl__figure_bars_height(size_t n)
{
	return ROW * (double)n + 8;
}

const char **
sl__figure_labels(struct sl__svg *s, struct sl__arena *arena,
		  const char *const *first, size_t n, size_t stride,
		  size_t n_letters)
{
	const char **names = sl__arena_array(arena, n + 1, sizeof(*names));
	const char **labels = NULL;

	for (size_t i = 0; names && i < n; i++) {
		memcpy(&names[i], (const char *)first + i * stride,
		       sizeof(names[i]));
	}
	if (names)
		labels = sl__row_names_shorten(arena, names, n, n_letters);
	if (!labels)
		sl__buf_mark_failed(s->out);
	return labels;
}

void
sl__figure_bars(struct sl__svg *s, const struct sl__figure_bar *bars, size_t n,
		double top)
{
	sl__figure_bars_of(s, bars, n, top, 0);
}

void
sl__figure_bars_of(struct sl__svg *s, const struct sl__figure_bar *bars,
		   size_t n, double top, double whole)
{
	double most = whole;
	struct sl__arena arena;
	const char **labels;

	sl__arena_init(&arena, NULL);
	labels = sl__figure_labels(s, &arena, &bars->name, n, sizeof(*bars),
				   NAME_LETTERS);
	for (size_t i = 0; i < n; i++)
		most = fmax(most, bars[i].value);
	for (size_t i = 0; labels && i < n; i++) {
		const struct sl__figure_bar *b = &bars[i];
		double y = top + ROW * (double)i;
		double width = most > 0 ? b->value / most * (RIGHT - LEFT) : 0;

		sl__svg_label(s, "label end", LEFT - 10, y + 15, "%s",
			      labels[i]);
		sl__svg_open(s, "rect", b->classes, "x y width height rx", LEFT,
			     y + 3, fmax(width, 0.5), ROW - 9, 2.0);
		sl__svg_close_with_tip(s, "%s: %s", b->name,
				       b->tip ? b->tip : b->text);
		sl__svg_label(s, "note", LEFT + width + 8, y + 15, "%s",
			      b->text);
	}
	sl__arena_release(&arena);
}

/* What the legend says of a part, and how wide it is about. */
static double
legend_of(char text[160], const struct sl__figure_bar *p)
{
	snprintf(text, 160, "%s %s", p->name, p->text);
	return 7.2 * (double)strlen(text) + 16;
}

double
sl__figure_stack_height(const struct sl__figure_bar *parts, size_t n)
{
	double left = 12, right = SL__FIGURE_WIDTH - 12, x = left, height = 76;
	char text[160];

	for (size_t i = 0; i < n; i++) {
		double width = legend_of(text, &parts[i]);

		if (x + width > right) {
			x = left;
			height += 20;
		}
		x += width + 16; /* as sl__svg_legend() goes on */
	}
	return height;
}

void
sl__figure_stack(struct sl__svg *s, const struct sl__figure_bar *parts,
		 size_t n, double top)
{
	double left = 12, right = SL__FIGURE_WIDTH - 12, sum = 0;
	double x = left, legend_x = left, legend_y = top + 64;

	for (size_t i = 0; i < n; i++)
		sum += fmax(parts[i].value, 0);
	for (size_t i = 0; sum > 0 && i < n; i++) {
		const struct sl__figure_bar *p = &parts[i];
		double width = fmax(p->value, 0) / sum * (right - left);
		char legend[160];

		sl__svg_open(s, "rect", p->classes, "x y width height", x, top,
			     width, 40.0);
		sl__svg_close_with_tip(s, "%s: %s", p->name,
				       p->tip ? p->tip : p->text);
		x += width;
		if (legend_x + legend_of(legend, p) > right) {
			legend_x = left;
			legend_y += 20;
		}
		legend_x = sl__svg_legend(s, p->classes, legend_x, legend_y,
					  legend);
	}
}
