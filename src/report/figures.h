/* SPDX-License-Identifier: Apache-2.0 */
/* figures.h - figures that views of several results share. */
#ifndef SL_FIGURES_H
#define SL_FIGURES_H

#include "base/arena.h"
#include "report/roofline.h"
#include "report/unit.h"
#include "report/views.h"

/* All figures are as wide. */
#define SL__FIGURE_WIDTH 860.0

/* How long it takes: the distribution with its cumulative curve, then every
 * sample in order.  'noun' is what a sample is; nothing below 3 samples. */
void sl__figures_latency(struct sl__views *v, const struct sl_latency *l,
			 const char *noun);

/*
 * Labels of at most n_letters for the names of a figure's rows, which lie
 * 'stride' bytes apart from *first on: see sl__row_names_shorten().  In 'arena';
 * NULL when out of memory, which sticks to the figure.
 */
const char **sl__figure_labels(struct sl__svg *s, struct sl__arena *arena,
			       const char *const *first, size_t n,
			       size_t stride, size_t n_letters);

/* A part of a whole, drawn as a bar. */
struct sl__figure_bar {
	const char *name;    /* in the figure */
	const char *classes; /* its colour */
	double value;        /* at least 0 */
	const char *text;    /* the value as people read it */
	const char *tip;     /* more; NULL: name and text */
};

/* Bars below each other, in the order given, their values behind them. */
void sl__figure_bars(struct sl__svg *s, const struct sl__figure_bar *bars,
		     size_t n, double top);
/* Likewise of a whole that as long a bar would be as there is room for: 1 of
 * shares, 0 the largest value. */
void sl__figure_bars_of(struct sl__svg *s, const struct sl__figure_bar *bars,
			size_t n, double top, double whole);
/* The height that they take. */
double sl__figure_bars_height(size_t n);

/* An estimate, drawn as a point with its interval. */
struct sl__figure_interval {
	const char *name;
	int colour;           /* of the series: 0 to 9 */
	double value, lo, hi; /* above 0; hi <= lo: no interval */
	const char *text;     /* as people read it */
};

/* What a figure is called and its axis shows. */
struct sl__figure {
	const char *name, *title; /* sl__views_figure() */
	const char *unit, *axis;  /* of struct sl__axis */
	double reference; /* a value that the others are read against, or 0 */
};

/* Estimates below each other over one axis, which is logarithmic where they
 * differ much.  Begins a figure that the caller ends; 0: there is nothing to
 * draw, and none was begun. */
int sl__figure_intervals(struct sl__views *v, const struct sl__figure *figure,
			 const struct sl__figure_interval *rows, size_t n);
double sl__figure_intervals_height(size_t n);

/* Whether an estimate has both ends of an interval: it may have been refused,
 * and a saved result may have none. */
int sl__figure_has_interval(const struct sl_estimate *e);
/* What a tile says of the interval whose bounds read 'bounds': "95 % [1, 2]",
 * or "no interval: 6 samples are needed", where 'nouns' is "samples". */
const char *sl__figure_interval_text(struct sl__text *text,
				     const struct sl_estimate *e,
				     const char *bounds, const char *nouns);
/* Likewise of a time, in the unit of its value: "95 % [1.0, 2.0] ms". */
const char *sl__figure_time_interval(struct sl__text *text,
				     const struct sl_estimate *time_ns,
				     const char *nouns);

/* One bar, its parts side by side and named below, in as many rows as their
 * names take. */
void sl__figure_stack(struct sl__svg *s, const struct sl__figure_bar *parts,
		      size_t n, double top);
double sl__figure_stack_height(const struct sl__figure_bar *parts, size_t n);

/* The views of a struct sl_sweep, a struct sl_train_result, a struct sl_load,
 * a struct sl_history, a struct sl_evaluation, a struct sl_suite, a struct
 * sl_optimization, of models that were inspected, and of a struct
 * sl_machine. */
void sl__sweep_views(struct sl__views *v, const void *result);
void sl__train_views(struct sl__views *v, const void *result);
void sl__load_views(struct sl__views *v, const void *result);
void sl__history_views(struct sl__views *v, const void *result);
void sl__evaluation_views(struct sl__views *v, const void *result);
void sl__suite_views(struct sl__views *v, const void *result);
void sl__optimize_views(struct sl__views *v, const void *result);
void sl__inspect_views(struct sl__views *v, const void *result);
void sl__machine_views(struct sl__views *v, const void *result);

/* A point under a roof. */
struct sl__roof_point {
	double intensity, flops_per_s; /* operations a byte, a second */
	double share; /* of the time: its area, from 1 % on; less is alike */
	const char *classes;
	size_t operation;
	const char *tip;
};

/* The roofs of a machine and what ran under them, drawn from 0, 0 in the width
 * of all figures and SL__ROOFLINE_HEIGHT. */
#define SL__ROOFLINE_HEIGHT 500.0
void sl__figure_roofline(struct sl__svg *s, const struct sl__roofline *r,
			 const struct sl__roof_point *points, size_t n);

#endif
