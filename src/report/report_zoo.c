/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_zoo.c - the built-in models with their parameters and FLOPs.
 *
 * Every model is opened and counted each time: that takes milliseconds, since
 * weights are not made, and a table kept beside the builders could be wrong.
 * One that cannot be counted is a defect and fails the whole.
 */
#include "base/buf.h"
#include "base/status.h"
#include "report/render.h"
#include "report/result_csv.h"
#include "report/unit.h"

#include <string.h>

#include "base/banned.h"

struct row {
	const struct sl_zoo_entry *entry;
	uint64_t parameters, flops;
};

struct table {
	struct row *rows;
	size_t n;
};

static enum sl_status
count(struct row *row, struct sl_error *err)
{
	struct sl_graph *graph;
	struct sl_counts counts;
	enum sl_status rc;

	rc = sl_graph_open(&graph, row->entry->example, NULL, err);
	if (rc)
		return rc;
	rc = sl_count_parameters(&row->parameters, graph, err);
	if (!rc)
		rc = sl_count_flops(&counts, graph, NULL, err);
	if (!rc)
		row->flops = counts.flops;
	sl_graph_free(graph);
	return rc;
}

static enum sl_status
count_all(struct table *table, struct sl__arena *arena, struct sl_error *err)
{
	const struct sl_zoo_entry *all = sl_zoo();
	enum sl_status rc = SL_OK;

	while (all[table->n].name)
		table->n++;
	table->rows = sl__arena_array(arena, table->n, sizeof(*table->rows));
	if (!table->rows)
		return sl__fail_nomem(err);
	for (size_t i = 0; !rc && i < table->n; i++) {
		table->rows[i].entry = &all[i];
		rc = sl__within(err, count(&table->rows[i], err),
				all[i].example);
	}
	return rc;
}

/* "mlp:A-B-..." stands for many models. */
static int
is_family(const struct row *row)
{
	return strcmp(row->entry->name, row->entry->example) != 0;
}

/* What a model is called and where it comes from: "U-Net, Ronneberger et al.
 * 2015, with padding 1; 3 channels in" up to the year. */
static int
about_length(const char *about)
{
	const char *at = about;
	int n_commas = 0;

	for (; *at; at++) {
		int ends_part = strchr(",:;", *at) && at[1] == ' ';

		if (ends_part && (*at != ',' || ++n_commas == 2))
			break;
	}
	return (int)(at - about);
}

static void
add_models(struct sl__doc *doc, const struct table *table, int verbose)
{
	static const struct sl__column columns[] = {{"model", 0, 0},
						    {"parameters", 1, 0},
						    {"FLOPs", 1, 0},
						    {"about", 0, 0}};

	sl__doc_heading(doc, "Models");
	sl__doc_table(doc, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < table->n; i++) {
		const struct row *row = &table->rows[i];
		struct sl__text text;

		if (is_family(row))
			continue;
		sl__doc_cell(doc, SL__STYLE_STRONG, "%s", row->entry->name);
		sl__doc_cell(doc, SL__STYLE_PLAIN, "%s",
			     sl__count_text(&text, row->parameters));
		sl__doc_cell(doc, SL__STYLE_PLAIN, "%s",
			     sl__scaled_text(&text, (double)row->flops));
		sl__doc_cell(doc, SL__STYLE_DIM, "%.*s",
			     verbose ? (int)strlen(row->entry->about)
				     : about_length(row->entry->about),
			     row->entry->about);
	}
}

static void
add_families(struct sl__doc *doc, const struct table *table)
{
	sl__doc_heading(doc, "Models by size");
	for (size_t i = 0; i < table->n; i++) {
		const struct row *row = &table->rows[i];
		struct sl__text parameters, flops;

		if (!is_family(row))
			continue;
		sl__doc_text(doc, SL__STYLE_STRONG, "%s", row->entry->name);
		sl__doc_more(doc, SL__STYLE_DIM, ": %s.", row->entry->about);
		sl__doc_more(doc, SL__STYLE_PLAIN,
			     " %s has %s parameters and takes %sFLOPs.",
			     row->entry->example,
			     sl__count_text(&parameters, row->parameters),
			     sl__scaled_text(&flops, (double)row->flops));
	}
}

static void
write_page(struct sl__doc *doc, const void *result,
	   const struct sl_render_options *how)
{
	add_models(doc, result,
		   how->verbose || how->format == SL_FORMAT_MARKDOWN);
	add_families(doc, result);
	sl__doc_gap(doc);
	sl__doc_text(doc, SL__STYLE_DIM,
		     "Trainable parameters; FLOPs are 2 for each multiply-add "
		     "of convolutions, matrix products and recurrent layers, "
		     "for a batch of 1, 128 tokens of text (with a cache: 1 "
		     "token after 128) and the image sizes that the models "
		     "were published with.");
}

static void
write_json(struct sl__json *json, const void *result)
{
	const struct table *table = result;

	sl__json_array(json, "zoo");
	for (size_t i = 0; i < table->n; i++) {
		const struct row *row = &table->rows[i];

		sl__json_object(json, NULL);
		sl__json_text(json, "name", row->entry->name);
		sl__json_text(json, "example", row->entry->example);
		sl__json_text(json, "about", row->entry->about);
		sl__json_integer(json, "parameters", row->parameters);
		sl__json_integer(json, "flops", row->flops);
		sl__json_end_object(json);
	}
	sl__json_end_array(json);
}

static void
write_csv(struct sl_buf *out, const void *result)
{
	static const char *const titles[] = {"name", "example", "parameters",
					     "flops", "about"};
	const struct table *table = result;

	for (size_t i = 0; i < sizeof(titles) / sizeof(titles[0]); i++)
		sl__csv_text(out, titles[i]);
	sl__csv_end(out);
	for (size_t i = 0; i < table->n; i++) {
		const struct row *row = &table->rows[i];

		sl__csv_text(out, row->entry->name);
		sl__csv_text(out, row->entry->example);
		sl__buf_format(out, "%llu,%llu,",
			       (unsigned long long)row->parameters,
			       (unsigned long long)row->flops);
		sl__csv_text(out, row->entry->about);
		sl__csv_end(out);
	}
}

enum sl_status
sl_zoo_render(const struct sl_render_options *how, struct sl_buf *out,
	      struct sl_error *err)
{
	static const struct sl__renderer renderer = {
		.kind = "the zoo",
		.command = "zoo",
		.page = write_page,
		.json = write_json,
		.csv = write_csv,
	};
	struct table table = {NULL, 0};
	struct sl__arena arena;
	enum sl_status rc;

	sl__arena_init(&arena, NULL);
	rc = count_all(&table, &arena, err);
	if (!rc)
		rc = sl__render(&renderer, &table, how, out, err);
	sl__arena_release(&arena);
	return rc;
}
