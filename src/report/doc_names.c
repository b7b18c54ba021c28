/* SPDX-License-Identifier: Apache-2.0 */
/* doc_names.c - names in a page: short on a terminal, whole in a file. */
#include "report/doc_names.h"
#include "report/repeats.h"
#include "report/row_names.h"

#include "base/banned.h"

const char **
sl__doc_row_names(struct sl__doc *doc, const char *const *names, size_t n,
		  size_t n_columns)
{
	const char **labels = sl__row_names_shorten(
		&doc->arena, names, n, doc->is_file ? SIZE_MAX : n_columns);

	doc->failed |= !labels;
	return labels;
}

const char *
sl__doc_row_name(struct sl__doc *doc, const char *name, size_t n_columns)
{
	const char **label = sl__doc_row_names(doc, &name, 1, n_columns);

	return label ? *label : "";
}

const char *
sl__doc_layer_name(struct sl__doc *doc, const char *name, size_t n_columns)
{
	if (doc->is_file)
		return name;
	return sl__doc_text_or_nomem(
		doc, sl__layer_name_shorten(&doc->arena, name, n_columns));
}

const char *
sl__doc_op_type(struct sl__doc *doc, const char *type, size_t n_columns)
{
	if (doc->is_file)
		return type;
	return sl__doc_text_or_nomem(
		doc, sl__op_type_shorten(&doc->arena, type, n_columns));
}
