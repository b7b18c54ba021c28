/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile_ops.c - where the time goes: by operation, type, module or part.
 *
 * A screen shows the rows that take longest and one for all others, so that
 * every table adds up.  A column of which nothing is known is not there.
 */
#include "result/groups.h"
#include "report/bar.h"
#include "report/doc_names.h"
#include "report/printable.h"
#include "report/profile_page.h"
#include "report/unit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/banned.h"

enum {
	DEFAULT_TOP = 10,
	BAR_COLUMNS = 10,
	WIDE = 100, /* columns from which on bars and further rates fit */
	MAX_TYPE = 12,
	MAX_TYPE_WIDE = 24,
	MIN_LABEL = 14,
	MAX_COLUMNS = 16,
	PARTS_SHOWN = 5
};

/* What the rows of one table have in common. */
struct look {
	const struct sl_profile *p;
	const char *unit; /* of all times */
	double longest;   /* time of an operation, in that unit */
	double most;      /* the largest share, of which a bar is drawn */
	size_t n_label;   /* columns of a name */
	size_t n_type;    /* and of a type, at most */
	int decimals;     /* of all times */
	int is_wide, has_bars, is_verbose;
	int has_roof, has_bound, has_level;
};

static void
add_bar(struct sl__doc *doc, double share, const struct look *look)
{
	struct sl__bar bar;

	if (look->has_bars)
		sl__doc_cell(
			doc, SL__STYLE_DIM, "%s",
			sl__bar_text(&bar, share / look->most, BAR_COLUMNS));
}

/* Four digits of the longest time, and as many decimals of the others. */
static int
decimals_of_column(double longest)
{
	return longest >= 1000 ? 0 : longest >= 100 ? 1 : longest >= 10 ? 2 : 3;
}

static void
add_time(struct sl__doc *doc, double ns, const struct look *look)
{
	const char *unit = look->unit;
	double value = sl__time_scaled(ns, &unit);

	if (isnan(ns))
		sl__doc_absent_cell(doc);
	else
		sl__doc_cell(doc, SL__STYLE_PLAIN, "%.*f", look->decimals,
			     value);
}

static void
add_share(struct sl__doc *doc, enum sl__style style, double share)
{
	sl__doc_cell(doc, style, "%.1f%%", 100 * share);
}

static void
add_figure(struct sl__doc *doc, double x)
{
	struct sl__text t;

	sl__doc_cell(doc, isfinite(x) ? SL__STYLE_PLAIN : SL__STYLE_DIM, "%s",
		     sl__three_digit_text(&t, x));
}

/* A rate in 10^9 a second; "-" where nothing is counted. */
static void
add_rate(struct sl__doc *doc, double per_s)
{
	add_figure(doc, per_s > 0 ? per_s / 1e9 : (double)NAN);
}

/* A name that stands by itself. */
static void
add_name(struct sl__doc *doc, const char *name, const struct look *look)
{
	sl__doc_plain_cell(doc, sl__doc_row_name(doc, name, look->n_label));
}

/* Labels of the operations that take longest, distinct from each other. */
static const char **
name_rows(struct sl__doc *doc, size_t n, const struct look *look)
{
	const struct sl_profile *p = look->p;
	const char **names =
		sl__arena_array(&doc->arena, n + 1, sizeof(*names));

	doc->failed |= !names;
	for (size_t i = 0; names && i < n; i++)
		names[i] = p->operations[p->by_time[i]].name;
	return names ? sl__doc_row_names(doc, names, n, look->n_label) : NULL;
}

static void
add_type(struct sl__doc *doc, const char *type, const struct look *look)
{
	sl__doc_plain_cell(doc, sl__doc_op_type(doc, type, look->n_type));
}

static void
add_bound(struct sl__doc *doc, enum sl_bound bound)
{
	int is_odd = bound == SL_BOUND_OVERHEAD ||
		     bound == SL_BOUND_IMBALANCE || bound == SL_BOUND_REFERENCE;

	if (bound == SL_BOUND_UNKNOWN)
		sl__doc_absent_cell(doc);
	else
		sl__doc_cell(doc, is_odd ? SL__STYLE_WARN : SL__STYLE_PLAIN,
			     "%s", sl_bound_text(bound));
}

/* Columns of a table while they are chosen. */
struct columns {
	struct sl__column list[MAX_COLUMNS];
	size_t n;
};

static void
add_column(struct columns *c, const char *title, int right, int optional)
{
	if (c->n < MAX_COLUMNS)
		c->list[c->n++] = (struct sl__column){title, right, optional};
}

static void
choose_columns(struct columns *c, const struct look *look)
{
	add_column(c, "operation", 0, 0);
	add_column(c, "type", 0, 4);
	add_column(c, look->unit, 1, 2);
	add_column(c, "share", 1, 0);
	if (look->has_bars)
		add_column(c, "", 0, 0);
	add_column(c, "cum.", 1, 5);
	add_column(c, "GFLOP/s", 1, 3);
	if (look->is_wide) {
		add_column(c, "GB/s", 1, 6);
		add_column(c, "FLOP/B", 1, 7);
	}
	if (look->has_roof)
		add_column(c, "of roof", 1, look->has_bound ? 1 : 0);
	if (look->has_bound)
		add_column(c, "bound", 0, 0);
	if (look->is_verbose && look->is_wide) {
		add_column(c, "output", 0, 9);
		if (look->has_level)
			add_column(c, "fits", 0, 10);
		add_column(c, "kernel", 0, 8);
	}
}

/* Its name is there. */
static void
add_operation(struct sl__doc *doc, const struct sl_operation *o, double sum,
	      const struct look *look)
{
	enum sl__style style = o->share > 0.1 ? SL__STYLE_STRONG
					      : SL__STYLE_PLAIN;

	add_type(doc, o->type, look);
	add_time(doc, o->self_ns, look);
	add_share(doc, style, o->share);
	add_bar(doc, o->share, look);
	sl__doc_cell(doc, SL__STYLE_DIM, "%.0f%%", 100 * sum);
	add_rate(doc, o->flops_per_s);
	if (look->is_wide) {
		add_rate(doc, o->bytes_per_s);
		add_figure(doc, o->executed_flops ? o->intensity : (double)NAN);
	}
	if (look->has_roof && isfinite(o->ceiling_share))
		sl__doc_cell(doc,
			     o->impossible ? SL__STYLE_BAD : SL__STYLE_PLAIN,
			     "%.0f%%%s", 100 * o->ceiling_share,
			     o->impossible ? "!" : "");
	else if (look->has_roof)
		sl__doc_absent_cell(doc);
	if (look->has_bound)
		add_bound(doc, o->judgement.bound);
	if (!look->is_verbose || !look->is_wide)
		return;
	sl__doc_cell(doc, SL__STYLE_DIM, "%s", o->output_shape);
	if (look->has_level)
		sl__doc_cell(doc, SL__STYLE_DIM, "%s",
			     o->level ? sl_level_text(o->level) : "-");
	sl__doc_cell(doc,
		     o->path >= SL_PATH_REFERENCE ? SL__STYLE_WARN
						  : SL__STYLE_DIM,
		     "%s", o->kernel);
}

/* What the rows that are not shown take together. */
static void
add_others(struct sl__doc *doc, size_t n_shown, double share,
	   const struct columns *c, const struct look *look)
{
	const struct sl_profile *p = look->p;
	double ns = 0;
	size_t n_filled = 5 + (look->has_bars ? 1u : 0u);

	if (n_shown >= p->n_operations)
		return;
	for (size_t i = n_shown; i < p->n_operations; i++)
		ns += p->operations[p->by_time[i]].self_ns;
	sl__doc_cell(doc, SL__STYLE_DIM, "%zu other%s",
		     p->n_operations - n_shown,
		     p->n_operations - n_shown == 1 ? "" : "s");
	sl__doc_plain_cell(doc, "");
	add_time(doc, ns, look);
	add_share(doc, SL__STYLE_PLAIN, 1 - share);
	add_bar(doc, 0, look);
	sl__doc_cell(doc, SL__STYLE_DIM, "100%%");
	for (size_t i = n_filled; i < c->n; i++)
		sl__doc_plain_cell(doc, "");
}

/* Whether kernels execute other FLOPs than the model counts in one of the
 * rows, so that a rate and its share of the roof do not agree. */
static int
is_counted_twice(const struct sl_profile *p, size_t n_shown)
{
	for (size_t i = 0; i < n_shown; i++) {
		const struct sl_operation *o = &p->operations[p->by_time[i]];

		if (fabs(o->executed_flops_per_s - o->flops_per_s) >
		    0.01 * o->flops_per_s)
			return 1;
	}
	return 0;
}

static void
add_operations(struct sl__doc *doc, size_t n_top, const struct look *look)
{
	const struct sl_profile *p = look->p;
	struct columns c = {.n = 0};
	const char **labels;
	double sum = 0;

	/* One row is no longer than the one that stands for it. */
	if (n_top + 1 >= p->n_operations)
		n_top = p->n_operations;
	labels = name_rows(doc, n_top, look);
	choose_columns(&c, look);
	sl__doc_table(doc, c.list, c.n);
	for (size_t i = 0; labels && i < n_top; i++) {
		const struct sl_operation *o = &p->operations[p->by_time[i]];

		sum += o->share;
		sl__doc_plain_cell(doc, labels[i]);
		add_operation(doc, o, sum, look);
	}
	add_others(doc, n_top, sum, &c, look);
	if (look->has_roof && is_counted_twice(p, n_top))
		sl__doc_text(doc, SL__STYLE_DIM,
			     "%s, share: mean time; GFLOP/s: nominal FLOPs / "
			     "median time; of roof: executed FLOPs / median "
			     "time",
			     look->unit);
}

static void
add_group(struct sl__doc *doc, const struct sl_operation_group *g,
	  const struct look *look)
{
	double intensity =
		g->n_bytes ? (double)g->executed_flops / (double)g->n_bytes
			   : (double)NAN;
	struct sl__text t;

	add_name(doc, *g->name ? g->name : "(no module)", look);
	sl__doc_cell(doc, SL__STYLE_PLAIN, "%zu", g->n_operations);
	add_time(doc, g->self_ns, look);
	add_share(doc, g->share > 0.1 ? SL__STYLE_STRONG : SL__STYLE_PLAIN,
		  g->share);
	add_bar(doc, g->share, look);
	add_rate(doc, 1e9 * (double)g->core_flops / g->self_ns);
	add_rate(doc, 1e9 * (double)g->n_bytes / g->self_ns);
	add_figure(doc, g->executed_flops ? intensity : (double)NAN);
	sl__doc_plain_cell(doc, sl__count_text(&t, g->parameters));
}

static void
add_other_groups(struct sl__doc *doc, const struct sl_operation_group *groups,
		 size_t n, size_t n_shown, const struct look *look)
{
	struct sl_operation_group rest = {0};

	if (n_shown >= n)
		return;
	for (size_t i = n_shown; i < n; i++) {
		rest.n_operations += groups[i].n_operations;
		rest.self_ns += groups[i].self_ns;
		rest.share += groups[i].share;
		rest.core_flops += groups[i].core_flops;
		rest.executed_flops += groups[i].executed_flops;
		rest.n_bytes += groups[i].n_bytes;
		rest.parameters += groups[i].parameters;
	}
	rest.name = sl__arena_format(&doc->arena, "%zu others", n - n_shown);
	doc->failed |= !rest.name;
	if (rest.name)
		add_group(doc, &rest, look);
}

static void
add_groups(struct sl__doc *doc, const char *title,
	   const struct sl_operation_group *groups, size_t n, size_t n_top,
	   const struct look *whole)
{
	struct columns c = {.n = 0};
	struct look look = *whole;

	if (!n)
		return;
	look.most = fmax(groups[0].share, 1e-9);
	if (n_top + 1 >= n)
		n_top = n;
	add_column(&c, title, 0, 0);
	add_column(&c, "ops", 1, 1);
	add_column(&c, look.unit, 1, 2);
	add_column(&c, "share", 1, 0);
	if (look.has_bars)
		add_column(&c, "", 0, 0);
	add_column(&c, "GFLOP/s", 1, 3);
	add_column(&c, "GB/s", 1, 4);
	add_column(&c, "FLOP/B", 1, 5);
	add_column(&c, "parameters", 1, 6);
	sl__doc_table(doc, c.list, c.n);
	for (size_t i = 0; i < n_top; i++)
		add_group(doc, &groups[i], &look);
	add_other_groups(doc, groups, n, n_top, &look);
}

/* "convolution 93.1 % (53), head 4.0 % (2)": the longest, in one line. */
static void
add_line_of(struct sl__doc *doc, const char *key,
	    const struct sl_operation_group *groups, size_t n)
{
	size_t n_shown = 0;

	for (; n_shown < n && n_shown < PARTS_SHOWN; n_shown++) {
		const struct sl_operation_group *g = &groups[n_shown];

		if (n_shown && g->share < 0.001)
			break;
		if (!n_shown)
			sl__doc_plain_pair(doc, key, "%s", "");
		sl__doc_append_plain(doc, "%s%s %.1f %%", n_shown ? ", " : "",
				     g->name, 100 * g->share);
		sl__doc_append_dim(doc, " (%zu op%s)", g->n_operations,
				   g->n_operations == 1 ? "" : "s");
	}
	if (n_shown < n && n_shown)
		sl__doc_append_dim(doc, ", %zu more", n - n_shown);
}

void
sl__profile_parts(struct sl__doc *doc, const struct sl_profile *p)
{
	if (p->n_parts)
		add_line_of(doc, "by part", p->by_part, p->n_parts);
	else
		add_line_of(doc, "by type", p->by_type, p->n_types);
}

/* Rows that take so little together tell nothing: then alike operations are
 * one row, unless a number of rows was asked for. */
static int
is_scattered(const struct sl__profile_sheet *sheet)
{
	const struct sl_profile *p = sheet->profile;
	double sum = 0;

	for (size_t i = 0; i < DEFAULT_TOP && i < p->n_operations; i++)
		sum += p->operations[p->by_time[i]].share;
	return sum < 0.2 && !sheet->view->n_top && !sheet->how->verbose;
}

static void
add_alike(struct sl__doc *doc, size_t n_top, const struct look *look)
{
	size_t n = 0;
	const struct sl_operation_group *groups =
		sl__groups_alike(look->p, &doc->arena, &n);

	doc->failed |= !groups;
	if (groups)
		add_groups(doc, "alike operations", groups, n, n_top, look);
}

/* Columns that are left for names when the others take what they need. */
static size_t
label_columns(const struct look *look, size_t n_top, size_t width)
{
	const struct sl_profile *p = look->p;
	size_t n_type = 4, n_bound = 5, taken = 2;
	struct sl__text t;

	for (size_t i = 0; i < p->n_operations && i < n_top; i++) {
		const struct sl_operation *o = &p->operations[p->by_time[i]];
		size_t type = sl__utf8_width(o->type);
		size_t bound = strlen(sl_bound_text(o->judgement.bound));

		n_type = type > n_type ? type : n_type;
		if (o->judgement.bound != SL_BOUND_UNKNOWN && bound > n_bound)
			n_bound = bound;
	}
	/* Gaps of two, then times, shares, sums and rates. */
	taken += 2 + (n_type < look->n_type ? n_type : look->n_type);
	taken += 2 + (size_t)snprintf(t.s, sizeof(t.s), "%.*f", look->decimals,
				      look->longest);
	taken += 2 + 6 + 2 + 4 + 2 + 7;
	taken += look->has_bars ? 2 + BAR_COLUMNS : 0;
	taken += look->is_wide ? 2 + 6 + 2 + 6 : 0;
	taken += look->has_roof ? 2 + 7 : 0;
	taken += look->has_bound ? 2 + n_bound : 0;
	return width > taken + MIN_LABEL ? width - taken : MIN_LABEL;
}

static void
set_look(struct look *look, const struct sl__profile_sheet *sheet, size_t n_top)
{
	const struct sl_profile *p = sheet->profile;
	int is_text = sheet->how->format == SL_FORMAT_TEXT;
	size_t width = sheet->how->n_columns ? sheet->how->n_columns
					     : SL__PROFILE_COLUMNS;

	look->p = p;
	look->is_wide = width >= WIDE;
	look->has_bars = look->is_wide && is_text;
	look->is_verbose = sheet->how->verbose;
	look->most = 1e-9;
	for (size_t i = 0; i < p->n_operations; i++) {
		const struct sl_operation *o = &p->operations[i];

		look->has_roof |= isfinite(o->ceiling_share) != 0;
		look->has_bound |= o->judgement.bound != SL_BOUND_UNKNOWN;
		look->has_level |= o->level != SL_LEVEL_NONE;
		look->most = fmax(look->most, o->share);
		look->longest = fmax(look->longest, o->self_ns);
	}
	look->unit = sheet->how->unit;
	look->longest = sl__time_scaled(look->longest, &look->unit);
	look->decimals = decimals_of_column(look->longest);
	look->n_type = look->is_wide ? MAX_TYPE_WIDE : MAX_TYPE;
	look->n_label = label_columns(look, n_top, width);
}

/* Every table, where everything is asked for. */
static void
add_all_groups(struct sl__doc *doc, const struct look *look)
{
	const struct sl_profile *p = look->p;

	add_groups(doc, "part", p->by_part, p->n_parts, SIZE_MAX / 2, look);
	if (p->n_parts)
		sl__doc_gap(doc);
	add_groups(doc, "type", p->by_type, p->n_types, SIZE_MAX / 2, look);
	if (p->n_types)
		sl__doc_gap(doc);
	add_groups(doc, "module", p->by_module, p->n_modules, SIZE_MAX / 2,
		   look);
}

static void
add_by_module(struct sl__doc *doc, const struct sl__profile_sheet *sheet,
	      size_t n_top, const struct look *look)
{
	const struct sl_profile *p = sheet->profile;
	const struct sl_operation_group *groups = p->by_module;
	size_t n = p->n_modules;

	if (sheet->view->depth || !n) {
		groups = sl__groups_by_module(
			p, sheet->view->depth ? sheet->view->depth : 1,
			&doc->arena, &n);
		doc->failed |= !groups;
	}
	if (!doc->failed)
		add_groups(doc, "module", groups, n, n_top, look);
}

static size_t
rows_shown(const struct sl__profile_sheet *sheet)
{
	size_t n_top = sheet->view->n_top ? sheet->view->n_top : DEFAULT_TOP;

	if (sheet->how->verbose && !sheet->view->n_top)
		n_top = SIZE_MAX / 2;
	return n_top;
}

const char *
sl__profile_row_name(struct sl__doc *doc, const struct sl__profile_sheet *sheet,
		     const char *name)
{
	const struct sl_profile *p = sheet->profile;
	size_t n = rows_shown(sheet);
	struct look look = {0};
	const char **labels;

	set_look(&look, sheet, n);
	n = n + 1 < p->n_operations ? n : p->n_operations;
	labels = name_rows(doc, n, &look);
	for (size_t i = 0; labels && i < n; i++) {
		if (!strcmp(p->operations[p->by_time[i]].name, name))
			return labels[i];
	}
	return sl__doc_row_name(doc, name, look.n_label);
}

void
sl__profile_operations(struct sl__doc *doc,
		       const struct sl__profile_sheet *sheet)
{
	const struct sl_profile *p = sheet->profile;
	size_t n_top = rows_shown(sheet);
	struct look look = {0};

	if (!p->n_operations)
		return;
	set_look(&look, sheet, n_top);
	sl__doc_heading(doc, "Where the time goes");
	sl__doc_append_dim(doc, "  %zu of %zu operation%s account%s for 80 %%",
			   p->n_for_80, p->n_operations,
			   p->n_operations == 1 ? "" : "s",
			   p->n_for_80 == 1 ? "s" : "");
	if (sheet->view->by == SL_PROFILE_BY_OPERATION && is_scattered(sheet))
		sl__doc_append_dim(doc,
				   "; none stands out, so that alike ones are "
				   "one row (--top N: each)");
	else if (sheet->view->by == SL_PROFILE_BY_OPERATION &&
		 n_top + 1 < p->n_operations)
		sl__doc_append_dim(doc, "; top %zu shown", n_top);
	switch (sheet->view->by) {
	case SL_PROFILE_BY_OPERATION:
		if (is_scattered(sheet))
			add_alike(doc, n_top, &look);
		else
			add_operations(doc, n_top, &look);
		break;
	case SL_PROFILE_BY_TYPE:
		add_groups(doc, "type", p->by_type, p->n_types, n_top, &look);
		break;
	case SL_PROFILE_BY_MODULE:
		add_by_module(doc, sheet, n_top, &look);
		break;
	case SL_PROFILE_BY_PART:
		add_groups(doc, "part", p->by_part, p->n_parts, n_top, &look);
		break;
	}
	if (sheet->how->verbose && sheet->view->by == SL_PROFILE_BY_OPERATION) {
		sl__doc_gap(doc);
		add_all_groups(doc, &look);
	}
}
