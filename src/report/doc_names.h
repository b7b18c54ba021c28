/* SPDX-License-Identifier: Apache-2.0 */
/* doc_names.h - names in a page: short on a terminal, whole in a file. */
#ifndef SL_DOC_NAMES_H
#define SL_DOC_NAMES_H

#include "report/doc.h"

/* As sl__row_names_shorten() has them; NULL when out of memory, which
 * sticks. */
const char **sl__doc_row_names(struct sl__doc *doc, const char *const *names,
			       size_t n, size_t n_columns);

/* Of one row, or a name elsewhere; "" when out of memory, which sticks. */
const char *sl__doc_row_name(struct sl__doc *doc, const char *name,
			     size_t n_columns);

/* As sl__layer_name_shorten() and sl__op_type_shorten() have them; "" when out
 * of memory, which sticks. */
const char *sl__doc_layer_name(struct sl__doc *doc, const char *name,
			       size_t n_columns);
const char *sl__doc_op_type(struct sl__doc *doc, const char *type,
			    size_t n_columns);

#endif
