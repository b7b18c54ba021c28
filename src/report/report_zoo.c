/* SPDX-License-Identifier: Apache-2.0 */
/* report_zoo.c - the built-in models with their parameters and FLOPs. */
#include "report/render.h"
#include "report/unit.h"
#include "result/tables.h"

#include <string.h>

#include "base/banned.h"

enum { NARROW_COLUMNS = 72 };

/* "mlp:A-B-..." stands for many models. */
static int
is_family(const struct sl_zoo_row *row)
{
	return strcmp(row->name, row->example) != 0;
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

/* Names are typed, so other columns give way: on a narrow terminal parameters
 * have three digits. */
static void
add_models(struct sl__doc *doc, const struct sl_zoo_list *table, int verbose,
	   int is_narrow)
{
	static const struct sl__column columns[] = {{"model", 0, 0},
						    {"parameters", 1, 0},
						    {"FLOPs", 1, 0},
						    {"about", 0, -1}};

	sl__doc_heading(doc, "Models");
	sl__doc_table(doc, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < table->n; i++) {
		const struct sl_zoo_row *row = &table->rows[i];
		struct sl__text text;

		if (is_family(row))
			continue;
		sl__doc_cell(doc, SL__STYLE_STRONG, "%s", row->name);
		sl__doc_cell(doc, SL__STYLE_PLAIN, "%s",
			     is_narrow
				     ? sl__si_prefix_text(
					       &text, (double)row->parameters)
				     : sl__count_text(&text, row->parameters));
		sl__doc_cell(doc, SL__STYLE_PLAIN, "%s",
			     sl__si_prefix_text(&text, (double)row->flops));
		sl__doc_cell(doc, SL__STYLE_DIM, "%.*s",
			     verbose ? (int)strlen(row->about)
				     : about_length(row->about),
			     row->about);
	}
}

static void
add_families(struct sl__doc *doc, const struct sl_zoo_list *table)
{
	sl__doc_heading(doc, "Models of any size");
	for (size_t i = 0; i < table->n; i++) {
		const struct sl_zoo_row *row = &table->rows[i];
		struct sl__text parameters, flops;

		if (!is_family(row))
			continue;
		sl__doc_text(doc, SL__STYLE_STRONG, "%s", row->name);
		sl__doc_append(doc, SL__STYLE_DIM, ": %s.", row->about);
		sl__doc_append(doc, SL__STYLE_PLAIN,
			       " %s has %s parameters and takes %sFLOPs.",
			       row->example,
			       sl__count_text(&parameters, row->parameters),
			       sl__si_prefix_text(&flops, (double)row->flops));
	}
}

static void
write_page(struct sl__doc *doc, const void *result,
	   const struct sl_render_options *how)
{
	int is_text = how->format == SL_FORMAT_TEXT;

	add_models(doc, result, how->verbose || !is_text,
		   is_text && how->n_columns &&
			   how->n_columns < NARROW_COLUMNS);
	add_families(doc, result);
	sl__doc_gap(doc);
	sl__doc_text(doc, SL__STYLE_DIM,
		     "Trainable parameters; FLOPs are 2 for each multiply-add "
		     "of convolutions, matmuls and recurrent layers, "
		     "for a batch of 1, 128 tokens of text (with a cache: 1 "
		     "token after 128) and the image sizes that the models "
		     "were published with.");
}

enum sl_status
sl_zoo_render(const struct sl_zoo_list *list,
	      const struct sl_render_options *how, struct sl_buf *out,
	      struct sl_error *err)
{
	static const struct sl__renderer renderer = {
		.kind = "the zoo",
		.command = "zoo",
		.page = write_page,
		.table = &sl__table_zoo,
		.csv_rows = "zoo",
		.csv_columns = "name,example,parameters,flops,about",
	};

	return sl__render(&renderer, list, how, out, err);
}
