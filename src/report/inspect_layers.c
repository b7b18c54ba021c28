/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inspect_layers.c - where a model's work is: layer by layer, by type, or by
 * module.
 *
 * A screen shows the rows with most work, layers that are alike in one, and
 * one row for all others, so that every table adds up.  Where all layers are
 * shown, they come in the order they run.
 */
#include "bunch.h"
#include "inspect_page.h"
#include "unit.h"
#include "utf8.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"

enum { DEFAULT_TOP = 8, DEFAULT_GROUPS = 20, DEFAULT_COLUMNS = 80 };

/* How the figures of a table are shown. */
struct look {
	int is_core;  /* FLOPs are those of the core, else all operations */
	int is_exact; /* parameters in full */
	size_t n_label_columns;
};

static void
add_scaled(struct sl__doc *doc, uint64_t n)
{
	struct sl__text t;

	if (n >= 1000)
		sl__doc_cell(doc, SL__STYLE_PLAIN, "%s",
			     sl__scaled_text(&t, (double)n));
	else if (n)
		sl__doc_cell(doc, SL__STYLE_PLAIN, "%u ", (unsigned)n);
	else
		sl__doc_cell(doc, SL__STYLE_DIM, "0 ");
}

/* Sums over several layers are scaled: nobody compares their digits. */
static void
add_parameters(struct sl__doc *doc, uint64_t n, int is_exact)
{
	struct sl__text t;

	if (n && is_exact)
		sl__doc_cell(doc, SL__STYLE_PLAIN, "%s", sl__count_text(&t, n));
	else if (is_exact)
		sl__doc_cell(doc, SL__STYLE_DIM, "0");
	else
		add_scaled(doc, n);
}

/* The cells from parameters to share. */
static void
add_sums(struct sl__doc *doc, const struct sl__bunch *s, struct look look)
{
	double intensity = (double)s->operations / (double)s->n_bytes;
	struct sl__text t;

	add_parameters(doc, s->parameters, look.is_exact);
	add_scaled(doc, look.is_core ? 2 * s->macs : s->operations);
	sl__doc_cell(doc, SL__STYLE_PLAIN, "%s",
		     sl__bytes_text(&t, (double)s->n_bytes));
	if (s->n_bytes && s->operations)
		sl__doc_cell(doc, SL__STYLE_PLAIN, "%.*f",
			     intensity < 10    ? 2
			     : intensity < 100 ? 1
					       : 0,
			     intensity);
	else
		sl__doc_cell(doc, SL__STYLE_DIM, s->n_bytes ? "0" : "-");
	sl__doc_cell(doc, SL__STYLE_PLAIN, "%.1f %%", 100 * s->share);
}

/* Like add_sums() for a layer whose cost is not known; its bytes are. */
static void
add_unknown(struct sl__doc *doc, const struct sl__bunch *b, struct look look)
{
	struct sl__text t;

	add_parameters(doc, b->parameters, look.is_exact);
	sl__doc_cell(doc, SL__STYLE_WARN, "?");
	sl__doc_cell(doc, SL__STYLE_PLAIN, "%s",
		     sl__bytes_text(&t, (double)b->n_bytes));
	sl__doc_cell(doc, SL__STYLE_WARN, "?");
	sl__doc_cell(doc, SL__STYLE_WARN, "?");
}

static void
add_layer(struct sl__doc *doc, const struct sl__bunch *b, struct look look)
{
	const struct sl_layer *l = b->rows[0];
	uint64_t n_calls = l->n_calls * b->n;
	char times[40] = "";
	const char *label;
	struct sl__text t;
	size_t n_taken;

	if (n_calls != 1)
		snprintf(times, sizeof(times), " × %.30s",
			 sl__count_text(&t, n_calls));
	n_taken = sl__utf8_width(times);
	label = sl__bunch_label(&doc->arena, b,
				look.n_label_columns > n_taken
					? look.n_label_columns - n_taken
					: 1);
	doc->failed |= !label;
	sl__doc_cell(doc, SL__STYLE_PLAIN, "%s", label && *label ? label : "-");
	sl__doc_more(doc, SL__STYLE_STRONG, "%s", times);
	sl__doc_cell(doc, SL__STYLE_DIM, "%s", l->type);
	sl__doc_cell(doc, SL__STYLE_PLAIN, "%s",
		     l->output_shape ? l->output_shape : "?");
	if (l->cost.basis == SL_BASIS_UNKNOWN)
		add_unknown(doc, b, look);
	else
		add_sums(doc, b, look);
	if (l->cost.basis == SL_BASIS_ESTIMATED)
		sl__doc_more(doc, SL__STYLE_WARN, " ~");
}

static const struct sl__column core_columns[] = {
	{"layer", 0, 0}, {"type", 0, 5},  {"output", 0, 2}, {"params", 1, 1},
	{"FLOPs", 1, 0}, {"bytes", 1, 3}, {"op/B", 1, 4},   {"share", 1, 0},
};
static const struct sl__column all_columns[] = {
	{"layer", 0, 0},  {"type", 0, 5},       {"output", 0, 2},
	{"params", 1, 1}, {"operations", 1, 0}, {"bytes", 1, 3},
	{"op/B", 1, 4},   {"share", 1, 0},
};

static void
add_layers(struct sl__doc *doc, const struct sl_inspection *i, size_t n_shown,
	   size_t n_columns)
{
	/* A row for one other layer would save none. */
	int is_whole = n_shown + 1 >= i->n_layers;
	/* With as much for the names, the columns of most models fit. */
	const struct look look = {i->cost.macs > 0, is_whole,
				  n_columns / 4 + 4};
	struct sl__bunch rest = {0};
	struct sl__bunch *rows;
	size_t n;

	if (!i->n_layers)
		return;
	rows = sl__bunches_of(&doc->arena, i, is_whole, &n);
	doc->failed |= !rows;
	if (!rows)
		return;
	if (n_shown + 1 >= n)
		n_shown = n;
	sl__doc_heading(doc, is_whole ? "Layers, in the order they run"
				      : "Layers, most work first");
	if (n < i->n_layers)
		sl__doc_more(doc, SL__STYLE_DIM, "  alike ones together");
	sl__doc_table(doc, look.is_core ? core_columns : all_columns,
		      sizeof(core_columns) / sizeof(core_columns[0]));
	for (size_t k = 0; k < n_shown; k++)
		add_layer(doc, &rows[k], look);
	if (n_shown == n)
		return;
	for (size_t k = n_shown; k < n; k++)
		sl__bunch_merge(&rest, &rows[k]);
	sl__doc_cell(doc, SL__STYLE_DIM, "%zu others", rest.n);
	sl__doc_cell(doc, SL__STYLE_DIM, "%s", "");
	sl__doc_cell(doc, SL__STYLE_DIM, "%s", "");
	add_sums(doc, &rest, look);
}

/* --------------------------------------------------------------- groups */

static const struct sl__column group_columns[] = {
	{"", 0, 0},      {"layers", 1, 4}, {"parameters", 1, 1},
	{"FLOPs", 1, 0}, {"bytes", 1, 2},  {"op/B", 1, 3},
	{"share", 1, 0},
};
static const struct sl__column group_all_columns[] = {
	{"", 0, 0},           {"layers", 1, 4}, {"parameters", 1, 1},
	{"operations", 1, 0}, {"bytes", 1, 2},  {"op/B", 1, 3},
	{"share", 1, 0},
};

static struct sl__bunch
sums_of(const struct sl_layer_group *g)
{
	struct sl__bunch sums = {.n = g->n_layers,
				 .parameters = g->parameters,
				 .macs = g->macs,
				 .operations = g->operations,
				 .n_bytes = g->n_bytes,
				 .share = isnan(g->share) ? 0 : g->share};

	return sums;
}

static void
add_group(struct sl__doc *doc, const struct sl_layer_group *g, struct look look)
{
	const struct sl__bunch sums = sums_of(g);

	sl__doc_cell(doc, SL__STYLE_PLAIN, "%s", *g->name ? g->name : "(top)");
	sl__doc_cell(doc, SL__STYLE_PLAIN, "%zu", g->n_layers);
	add_sums(doc, &sums, look);
}

static void
merge_group(struct sl_layer_group *into, const struct sl_layer_group *g)
{
	into->n_layers += g->n_layers;
	into->parameters += g->parameters;
	into->macs += g->macs;
	into->operations += g->operations;
	into->n_bytes += g->n_bytes;
	into->share += isnan(g->share) ? 0 : g->share;
}

static void
add_groups(struct sl__doc *doc, const struct sl_layer_group *groups, size_t n,
	   size_t n_shown, int is_core)
{
	const struct look look = {is_core, 1, 0};
	struct sl__bunch rest = {0};

	if (!n_shown || n_shown + 1 >= n)
		n_shown = n;
	sl__doc_table(doc, is_core ? group_columns : group_all_columns,
		      sizeof(group_columns) / sizeof(group_columns[0]));
	for (size_t k = 0; k < n_shown; k++)
		add_group(doc, &groups[k], look);
	if (n_shown == n)
		return;
	for (size_t k = n_shown; k < n; k++) {
		const struct sl__bunch sums = sums_of(&groups[k]);

		sl__bunch_merge(&rest, &sums);
	}
	sl__doc_cell(doc, SL__STYLE_DIM, "%zu others", n - n_shown);
	sl__doc_cell(doc, SL__STYLE_PLAIN, "%zu", rest.n);
	add_sums(doc, &rest, look);
}

static int
compare_names(const void *a, const void *b)
{
	const struct sl_layer_group *x = a, *y = b;

	return strcmp(x->name, y->name);
}

/* Like strcmp(), but layer.2 comes before layer.10. */
static int
compare_counted(const char *a, const char *b)
{
	while (*a && *a == *b && (*a < '0' || *a > '9')) {
		a++;
		b++;
	}
	if (*a >= '0' && *a <= '9' && *b >= '0' && *b <= '9') {
		size_t n = strspn(a, "0123456789");
		size_t m = strspn(b, "0123456789");
		int order = n < m ? -1 : n > m ? 1 : strncmp(a, b, n);

		return order ? order : compare_counted(a + n, b + m);
	}
	return strcmp(a, b);
}

static int
compare_groups(const void *a, const void *b)
{
	const struct sl_layer_group *x = a, *y = b;

	if (x->macs != y->macs)
		return x->macs < y->macs ? 1 : -1;
	if (x->operations != y->operations)
		return x->operations < y->operations ? 1 : -1;
	if (x->n_bytes != y->n_bytes)
		return x->n_bytes < y->n_bytes ? 1 : -1;
	return compare_counted(x->name, y->name);
}

/*
 * The first 'depth' parts of a path.  Parts are separated by '/' where the
 * path has any (exporters write "/encoder/layer.0/attention"), else by '.'.
 */
static char *
cut_path(struct sl__arena *arena, const char *path, size_t depth)
{
	char separator = strchr(path, '/') ? '/' : '.';
	size_t n = *path == separator;

	while (path[n] && (path[n] != separator || --depth))
		n++;
	return sl__arena_format(arena, "%.*s", (int)n, path);
}

/* Paths cut to 'depth' parts, those that are then equal as one. */
static void
add_paths(struct sl__doc *doc, const struct sl_inspection *i, size_t depth,
	  size_t n_shown)
{
	struct sl_layer_group *groups =
		sl__arena_array(&doc->arena, i->n_paths, sizeof(*groups));
	size_t n = 0;

	for (size_t k = 0; groups && k < i->n_paths; k++) {
		groups[k] = i->by_path[k];
		groups[k].name = cut_path(&doc->arena, groups[k].name, depth);
		if (!groups[k].name)
			groups = NULL;
	}
	if (!groups) {
		doc->failed = 1;
		return;
	}
	if (!i->n_paths)
		return;
	qsort(groups, i->n_paths, sizeof(*groups), compare_names);
	for (size_t k = 1; k < i->n_paths; k++) {
		if (!strcmp(groups[n].name, groups[k].name))
			merge_group(&groups[n], &groups[k]);
		else
			groups[++n] = groups[k];
	}
	qsort(groups, ++n, sizeof(*groups), compare_groups);
	sl__doc_heading(doc, "Modules to depth %zu, most work first", depth);
	add_groups(doc, groups, n, n_shown, i->cost.macs > 0);
}

void
sl__inspect_layers(struct sl__doc *doc, const struct sl_inspection *i,
		   const struct sl_inspect_view *view,
		   const struct sl_render_options *how)
{
	size_t n_columns = how->n_columns ? how->n_columns : DEFAULT_COLUMNS;
	size_t n_groups = view->n_top    ? view->n_top
			  : how->verbose ? 0
					 : DEFAULT_GROUPS;
	size_t n_layers = view->n_top    ? view->n_top
			  : how->verbose ? i->n_layers
					 : DEFAULT_TOP;

	if (how->format == SL_FORMAT_MARKDOWN)
		n_columns = SIZE_MAX / 10; /* names in full */

	switch (view->by) {
	case SL_BY_TYPE:
		sl__doc_heading(doc, "Types of layer, most work first");
		add_groups(doc, i->by_type, i->n_types, n_groups,
			   i->cost.macs > 0);
		return;
	case SL_BY_PATH:
		add_paths(doc, i, view->depth ? view->depth : 1, n_groups);
		return;
	case SL_BY_LAYER:
		break;
	}
	add_layers(doc, i, n_layers, n_columns);
}
