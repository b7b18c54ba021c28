/* SPDX-License-Identifier: Apache-2.0 */
/* inspect_page.h - the formats of a report on models that were inspected. */
#ifndef SL_INSPECT_PAGE_H
#define SL_INSPECT_PAGE_H

#include "report/doc.h"
#include "result/tables.h"
#include "sleuth/inspecting.h"

/* What sl_inspection_render() was given. */
struct sl__inspect_page_input {
	struct sl__inspections_document
		inspections; /* first: what the table is of */
	struct sl_inspect_view view;
};

/* The functions of a struct sl__renderer; 'result' is the struct above. */
void sl__inspect_page(struct sl__doc *doc, const void *result,
		      const struct sl_render_options *how);

/* One line for each layer. */
void sl__inspect_csv(struct sl_buf *out, const void *result);

/*
 * Parts of the page of one model.  Each leaves out what there is nothing to
 * say about, its heading included.
 */
void sl__inspect_layers(struct sl__doc *doc, const struct sl_inspection *i,
			const struct sl_inspect_view *view,
			const struct sl_render_options *how);
void sl__inspect_memory(struct sl__doc *doc, const struct sl_inspection *i,
			int verbose);
void sl__inspect_training(struct sl__doc *doc, const struct sl_inspection *i);
void sl__inspect_growth(struct sl__doc *doc, const struct sl_inspection *i,
			int verbose);
void sl__inspect_explanations(struct sl__doc *doc,
			      const struct sl_inspection *i);
void sl__inspect_tensors(struct sl__doc *doc, const struct sl_inspection *i);
void sl__inspect_weights(struct sl__doc *doc, const struct sl_inspection *i,
			 size_t n_top, const struct sl_render_options *how);

/* Several models in one table, and a sentence on each. */
void sl__inspect_side_by_side(struct sl__doc *doc,
			      const struct sl_inspection *const *models,
			      size_t n);

/*
 * What a user calls the model: "mnist/model.onnx" for a file, whose own name
 * is often one that its exporter gives to all; else the model's name.  Part
 * of its source, or its name.
 */
const char *sl__model_display_name(const char *name, const char *source);

/* Where it is from, in words; "" where the name that is shown says it. */
const char *sl__model_source_text(const char *name, const char *source);

/* The growth of that figure along that axis, or NULL. */
const struct sl_growth *sl__growth_find(const struct sl_inspection *i,
					enum sl_growth_axis axis,
					enum sl_growth_figure figure);

#endif
