/* SPDX-License-Identifier: Apache-2.0 */
/* saved_result.h - a result of any kind, read back from JSON. */
#ifndef SL_SAVED_RESULT_H
#define SL_SAVED_RESULT_H

#include "base/json.h"
#include "result/field.h"
#include "sleuth/results.h"

/* Invariants: 'record' is a struct of 'table', n_bytes long.  Everything is
 * from the arena that the result is boxed with. */
/* What a document says before what was measured. */
struct sl__result_head {
	const char *command; /* that made it */
	const char *version; /* of the program that did; NULL: this library's */
	const char *command_line, *host; /* NULL: not said */
};

struct sl_result {
	const struct sl__record *table;
	void *record;
	struct sl__result_head head;
};

/* Opens the document of a result: schema, tool, command and kind.  The caller
 * writes its members and ends the object. */
void sl__result_document_begin(struct sl__json *json, struct sl_buf *out,
			       const struct sl__result_head *head,
			       const struct sl__record *table);

/* The tables of docs/schema.md, which follow from the rows of all kinds. */
void sl__schema_doc_tables_write(struct sl_buf *out);

/* All kinds of result that can be read back; ends with NULL. */
extern const struct sl__record *const sl__saved_result_kinds[];

#endif
