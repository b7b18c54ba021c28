/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inspect_layers.c - where a model's work is: layer by layer, by type, or by
 * module.
 *
 * A screen shows the rows with most work, layers that are alike in one, and
 * one row for all others, so that every table adds up.  Where all layers are
 * shown, they come in the order they run.
 */
#include "report/doc_names.h"
#include "report/repeats.h"
#include "report/inspect_page.h"
#include "report/printable.h"
#include "report/unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/banned.h"

enum {
	DEFAULT_TOP = 8,
	DEFAULT_GROUPS = 20,
	DEFAULT_COLUMNS = 80,
	/* From here on figures keep the space before their unit. */
	AIRY_COLUMNS = 100,
	/* From here on no column is left out: names give way. */
	WHOLE_COLUMNS = 76,
	MIN_LABEL = 14,
	MAX_TYPE = 13,
	TIMES_MOST = 40 /* bytes of how often a layer runs */
};

static const char OTHERS[] = "share -: no multiply-accumulates; FLOPs are then "
			     "all operations, and not "
			     "in the total";

/* How the figures of a table are shown. */
struct look {
	int is_core;  /* FLOPs are those of the core, else all operations */
	int is_exact; /* parameters in full */
	int is_tight; /* 1.16G rather than 1.16 G */
	size_t n_label_columns;
};

/* Takes the spaces out of a figure where room is short. */
static const char *
fitted(struct sl__text *t, const struct look *look)
{
	char *to = t->s;

	for (const char *at = t->s; look->is_tight && *at; at++) {
		if (*at != ' ')
			*to++ = *at;
	}
	if (look->is_tight)
		*to = '\0';
	return t->s;
}

static void
add_scaled(struct sl__doc *doc, enum sl__style style, uint64_t n,
	   const struct look *look)
{
	struct sl__text t;

	if (n >= 1000)
		sl__si_prefix_text(&t, (double)n);
	else
		snprintf(t.s, sizeof(t.s), "%u ", (unsigned)n);
	sl__doc_cell(doc, n ? style : SL__STYLE_DIM, "%s", fitted(&t, look));
}

/* Sums over several layers are scaled: nobody compares their digits. */
static void
add_parameters(struct sl__doc *doc, uint64_t n, const struct look *look)
{
	struct sl__text t;

	if (look->is_exact)
		sl__doc_cell(doc, n ? SL__STYLE_PLAIN : SL__STYLE_DIM, "%s",
			     sl__count_text(&t, n));
	else
		add_scaled(doc, SL__STYLE_PLAIN, n, look);
}

static void
add_bytes(struct sl__doc *doc, uint64_t n_bytes, const struct look *look)
{
	struct sl__text t;

	sl__bytes_text(&t, (double)n_bytes);
	fitted(&t, look);
	/* The heading has the unit. */
	if (look->is_tight)
		t.s[strcspn(t.s, "B")] = '\0';
	sl__doc_cell(doc, n_bytes ? SL__STYLE_PLAIN : SL__STYLE_DIM, "%s", t.s);
}

/*
 * The cells from parameters to share.  A row without products has no share
 * of the core; what else it computes stands in its place.
 */
static void
add_sums(struct sl__doc *doc, const struct sl__repeated_layers *s,
	 const struct look *look)
{
	double intensity = (double)s->operations / (double)s->n_bytes;
	int is_other = look->is_core && !s->macs;
	struct sl__text t;

	add_parameters(doc, s->parameters, look);
	add_scaled(doc, is_other ? SL__STYLE_DIM : SL__STYLE_PLAIN,
		   look->is_core && s->macs ? 2 * s->macs : s->operations,
		   look);
	add_bytes(doc, s->n_bytes, look);
	if (s->n_bytes && s->operations)
		sl__doc_cell(doc, SL__STYLE_PLAIN, "%.*f",
			     intensity < 10    ? 2
			     : intensity < 100 ? 1
					       : 0,
			     intensity);
	else
		sl__doc_cell(doc, SL__STYLE_DIM, s->n_bytes ? "0" : "-");
	snprintf(t.s, sizeof(t.s), "%.1f %%", 100 * s->share);
	if (is_other)
		sl__doc_absent_cell(doc);
	else
		sl__doc_plain_cell(doc, fitted(&t, look));
}

/* Like add_sums() for a layer whose cost is not known; its bytes are. */
static void
add_unknown(struct sl__doc *doc, const struct sl__repeated_layers *b,
	    const struct look *look)
{
	add_parameters(doc, b->parameters, look);
	sl__doc_cell(doc, SL__STYLE_WARN, "?");
	add_bytes(doc, b->n_bytes, look);
	sl__doc_cell(doc, SL__STYLE_WARN, "?");
	sl__doc_cell(doc, SL__STYLE_WARN, "?");
}

static const char *
type_text(struct sl__doc *doc, const char *type, const struct look *look)
{
	return look->is_tight ? sl__doc_op_type(doc, type, MAX_TYPE) : type;
}

static size_t
larger(size_t a, size_t b)
{
	return a > b ? a : b;
}

/* " ×24": how often the layers of a row run, "" for once. */
static const char *
times_text(char times[TIMES_MOST], const struct sl__repeated_layers *b,
	   const struct look *look)
{
	uint64_t n_calls = b->rows[0]->n_calls * b->n;
	struct sl__text t;

	times[0] = '\0';
	if (n_calls != 1)
		snprintf(times, TIMES_MOST, " ×%s%.30s",
			 look->is_tight ? "" : " ",
			 sl__count_text(&t, n_calls));
	return times;
}

/* The rows' names, within what the column leaves beside how often they run. */
static const char **
label_rows(struct sl__doc *doc, const struct sl__repeated_layers *rows,
	   size_t n, const struct look *look)
{
	const char **names =
		sl__arena_array(&doc->arena, n + 1, sizeof(*names));
	size_t taken = 0, room;
	int has_ranges = 1;
	char times[TIMES_MOST];

	for (size_t k = 0; k < n; k++)
		taken = larger(taken, sl__utf8_width(times_text(times, &rows[k],
								look)));
	room = look->n_label_columns > taken ? look->n_label_columns - taken
					     : 1;
	/* Ranges in all of them, or in none. */
	for (size_t k = 0; names && k < n; k++) {
		names[k] = sl__repeated_layers_label(&doc->arena, &rows[k],
						     has_ranges);
		if (!names[k])
			return NULL;
		if (has_ranges && !doc->is_file &&
		    sl__utf8_width(names[k]) > room) {
			has_ranges = 0;
			k = SIZE_MAX; /* begins again */
		}
	}
	return names ? sl__doc_row_names(doc, names, n, room) : NULL;
}

static void
add_layer(struct sl__doc *doc, const struct sl__repeated_layers *b,
	  const char *label, const struct look *look)
{
	const struct sl_layer *l = b->rows[0];
	char times[TIMES_MOST];

	sl__doc_plain_cell(doc, *label ? label : "-");
	sl__doc_append(doc, SL__STYLE_STRONG, "%s", times_text(times, b, look));
	sl__doc_cell(doc, SL__STYLE_DIM, "%s", type_text(doc, l->type, look));
	sl__doc_plain_cell(doc, l->output_shape ? l->output_shape : "?");
	if (l->cost.basis == SL_BASIS_UNKNOWN)
		add_unknown(doc, b, look);
	else
		add_sums(doc, b, look);
	if (l->cost.basis == SL_BASIS_ESTIMATED)
		sl__doc_append(doc, SL__STYLE_WARN, "~");
}

/* A narrow page leaves columns out; a model without products has operations
 * in place of FLOPs. */
static void
open_layers(struct sl__doc *doc, const struct look *look, int is_narrow)
{
	const struct sl__column columns[] = {
		{"layer", 0, 0},
		{"type", 0, is_narrow ? 3 : 0},
		{"output", 0, is_narrow ? 2 : 0},
		{"params", 1, is_narrow ? 1 : 0},
		{look->is_core ? "FLOPs" : "operations", 1, 0},
		{"bytes", 1, is_narrow ? 4 : 0},
		{"FLOP/B", 1, is_narrow ? 5 : 0},
		{"share", 1, 0},
	};

	sl__doc_table(doc, columns, sizeof(columns) / sizeof(columns[0]));
}

/*
 * What the page leaves for names beside the types, shapes and parameters of
 * these rows and five columns of figures.  Parameters are given in full where
 * that leaves enough.
 */
static void
look_fit(struct look *look, struct sl__doc *doc,
	 const struct sl__repeated_layers *rows, size_t n, size_t n_columns)
{
	size_t type = 4, shape = 6, exact = 6, taken;
	struct sl__text t;

	for (size_t k = 0; k < n; k++) {
		const struct sl_layer *l = rows[k].rows[0];
		const char *text = type_text(doc, l->type, look);

		type = larger(type, sl__utf8_width(text));
		if (l->output_shape)
			shape = larger(shape, sl__utf8_width(l->output_shape));
		sl__count_text(&t, rows[k].parameters);
		exact = larger(exact, strlen(t.s));
	}
	/* The indent, 7 gaps, FLOPs or operations, bytes, FLOP/B and share. */
	taken = 2 + 7 * 2 + (look->is_core ? 5u : 10u) + 5 + 6 + 5 + type +
		shape;
	if (!look->is_tight)
		taken += 4;
	if (look->is_exact && n_columns < taken + exact + MIN_LABEL)
		look->is_exact = 0;
	taken += look->is_exact ? exact : 6;
	look->n_label_columns =
		larger(MIN_LABEL, n_columns > taken ? n_columns - taken : 0);
}

/* Rows to show of so many: those without products come last and say little
 * beside those with. */
static size_t
with_products(const struct sl__repeated_layers *rows, size_t n, int is_core)
{
	while (is_core && n > 1 && !rows[n - 1].macs &&
	       rows[n - 1].rows[0]->cost.basis != SL_BASIS_UNKNOWN)
		n--;
	return n;
}

/* Whether a row computes, but nothing of the core. */
static int
has_others(const struct sl__repeated_layers *rows, size_t n,
	   const struct sl__repeated_layers *rest)
{
	int found = rest->operations && !rest->macs;

	for (size_t k = 0; k < n; k++)
		found |= rows[k].operations && !rows[k].macs;
	return found;
}

/* Marks, and zeros that look like mistakes. */
static void
add_legend(struct sl__doc *doc, const struct sl__repeated_layers *rows,
	   size_t n)
{
	const struct sl__repeated_layers *shared = NULL;
	int has_estimated = 0;

	for (size_t k = 0; k < n; k++) {
		const struct sl_layer *l = rows[k].rows[0];

		has_estimated |= l->cost.basis == SL_BASIS_ESTIMATED;
		if (!rows[k].parameters && l->cost.macs && l->cost.weight_bytes)
			shared = &rows[k];
	}
	if (has_estimated)
		sl__doc_text(doc, SL__STYLE_DIM, "~: the cost is estimated");
	if (shared)
		sl__doc_text(
			doc, SL__STYLE_DIM,
			"%s: no parameters of its own, its weight is shared "
			"with a layer before it or not trained",
			shared->rows[0]->name);
}

/* n_shown rows, fewer where the user has not asked for so many. */
static void
add_layers(struct sl__doc *doc, const struct sl_inspection *i, size_t n_shown,
	   int is_asked, size_t n_columns)
{
	/* A row for one other layer would save none. */
	int is_whole = n_shown + 1 >= i->n_layers;
	struct look look = {.is_core = i->cost.macs > 0,
			    .is_exact = is_whole,
			    .is_tight = n_columns < AIRY_COLUMNS};
	struct sl__repeated_layers rest = {0};
	struct sl__repeated_layers *rows;
	const char **labels;
	size_t n;

	if (!i->n_layers)
		return;
	rows = sl__repeated_layers_group(&doc->arena, i, is_whole, &n);
	doc->failed |= !rows;
	if (!rows)
		return;
	if (n_shown + 1 >= n)
		n_shown = n;
	else if (!is_asked)
		n_shown = with_products(rows, n_shown, look.is_core);
	look_fit(&look, doc, rows, n_shown, n_columns);
	labels = label_rows(doc, rows, n_shown, &look);
	doc->failed |= !labels;
	if (!labels)
		return;
	sl__doc_heading(doc, is_whole ? "Layers, in the order they run"
				      : "Layers, most FLOPs first");
	if (n < i->n_layers)
		sl__doc_append_dim(
			doc, "  ×n: n equal layers, summed; the output of one");
	for (size_t k = n_shown; k < n; k++)
		sl__repeated_layers_merge(&rest, &rows[k]);
	open_layers(doc, &look, n_columns < WHOLE_COLUMNS);
	for (size_t k = 0; k < n_shown; k++)
		add_layer(doc, &rows[k], labels[k], &look);
	if (n_shown < n) {
		sl__doc_cell(doc, SL__STYLE_DIM, "%zu others", rest.n);
		sl__doc_cell(doc, SL__STYLE_DIM, "%s", "");
		sl__doc_cell(doc, SL__STYLE_DIM, "%s", "");
		add_sums(doc, &rest, &look);
	}
	if (look.is_core && has_others(rows, n_shown, &rest))
		sl__doc_text(doc, SL__STYLE_DIM, "%s", OTHERS);
	add_legend(doc, rows, n_shown);
}

static struct sl__repeated_layers
sums_of(const struct sl_layer_group *g)
{
	struct sl__repeated_layers sums = {.n = g->n_layers,
					   .parameters = g->parameters,
					   .macs = g->macs,
					   .operations = g->operations,
					   .n_bytes = g->n_bytes,
					   .share = isnan(g->share) ? 0
								    : g->share};

	return sums;
}

static void
add_group(struct sl__doc *doc, const struct sl_layer_group *g,
	  const struct look *look)
{
	const struct sl__repeated_layers sums = sums_of(g);

	sl__doc_plain_cell(doc, *g->name ? g->name : "(top)");
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
	const struct sl__column columns[] = {
		{"", 0, 0},           {"layers", 1, 4},
		{"parameters", 1, 1}, {is_core ? "FLOPs" : "operations", 1, 0},
		{"bytes", 1, 2},      {"FLOP/B", 1, 3},
		{"share", 1, 0},
	};
	const struct look look = {.is_core = is_core, .is_exact = 1};
	struct sl__repeated_layers rest = {0};
	size_t k = 0;
	int has_others = 0;

	if (!n_shown || n_shown + 1 >= n)
		n_shown = n;
	for (size_t j = 0; j < n; j++)
		has_others |= !groups[j].macs && groups[j].operations;
	sl__doc_table(doc, columns, sizeof(columns) / sizeof(columns[0]));
	for (k = 0; k < n_shown; k++)
		add_group(doc, &groups[k], &look);
	for (; k < n; k++) {
		const struct sl__repeated_layers sums = sums_of(&groups[k]);

		sl__repeated_layers_merge(&rest, &sums);
	}
	if (n_shown < n) {
		sl__doc_cell(doc, SL__STYLE_DIM, "%zu others", n - n_shown);
		sl__doc_cell(doc, SL__STYLE_PLAIN, "%zu", rest.n);
		add_sums(doc, &rest, &look);
	}
	if (is_core && has_others)
		sl__doc_text(doc, SL__STYLE_DIM, "%s", OTHERS);
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
	sl__doc_heading(doc, "Modules to depth %zu, most FLOPs first", depth);
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
		sl__doc_heading(doc, "Types of layer, most FLOPs first");
		add_groups(doc, i->by_type, i->n_types, n_groups,
			   i->cost.macs > 0);
		return;
	case SL_BY_PATH:
		add_paths(doc, i, view->depth ? view->depth : 1, n_groups);
		return;
	case SL_BY_LAYER:
		break;
	}
	add_layers(doc, i, n_layers, view->n_top || how->verbose, n_columns);
}
