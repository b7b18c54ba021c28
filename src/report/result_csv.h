/* SPDX-License-Identifier: Apache-2.0 */
/* result_csv.h - CSV (RFC 4180): fields, and documents as columns. */
#ifndef SL_RESULT_CSV_H
#define SL_RESULT_CSV_H

#include "sleuth/basics.h"

/* Quoted where it must be; a formula becomes text, a number stays one. */
void sl__csv_text(struct sl_buf *out, const char *text);

/* In full precision; what is not finite is an empty field. */
void sl__csv_number(struct sl_buf *out, double value);

/* Ends the line, in place of the last comma. */
void sl__csv_end_line(struct sl_buf *out);

/*
 * The lists of the JSON document 'text' to which 'rows' leads as lines, headed
 * by titles: "results/points" is all points of all results.  Names before the
 * last one that the document does not have are passed over.  A column is
 * "title", "title=path", "title=path?absent" or "title=path?no!yes": where the
 * object of the line has the value, such as "ci95_ms/lo", "../axis" in what
 * that is part of, what stands for one that is not there or false, and for one
 * that is true.  Of a list it is the length.
 */
enum sl_status sl__csv_from_json(struct sl_buf *out, const char *columns,
				 const char *rows, const struct sl_buf *text,
				 struct sl_error *err) SL_CHECKED;

#endif
