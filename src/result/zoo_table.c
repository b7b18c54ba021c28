/* SPDX-License-Identifier: Apache-2.0 */
/* zoo_table.c - fields of the list of built-in models. */
#include "result/tables.h"

#include "base/banned.h"

static const struct sl__field row_fields[] = {
	SL__F(TEXT, sl_zoo_row, name, "name",
	      "of a model, or of many: mlp:A-B-..."),
	SL__F(TEXT, sl_zoo_row, example, "example", "a name that opens"),
	SL__F(TEXT, sl_zoo_row, about, "about", "what it is"),
	SL__F(WHOLE, sl_zoo_row, parameters, "parameters", "trainable"),
	SL__F(WHOLE, sl_zoo_row, flops, "flops",
	      "2 x core at batch 1 and the usual sizes"),
};
static SL__RECORD(row, "zoo", sl_zoo_row, row_fields, 0);

static const struct sl__field list_fields[] = {
	SL__F_LIST(LIST, sl_zoo_list, rows, n, "zoo", "the built-in models",
		   .of = &row),
};
SL__RECORD(sl__table_zoo, "zoo", sl_zoo_list, list_fields, 0);
