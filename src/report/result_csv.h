/* SPDX-License-Identifier: Apache-2.0 */
/* result_csv.h - fields of CSV (RFC 4180), each followed by a comma. */
#ifndef SL_RESULT_CSV_H
#define SL_RESULT_CSV_H

#include "sleuth.h"

/* Quoted where it must be. */
void sl__csv_text(struct sl_buf *out, const char *text);

/* In full precision; what is not finite is an empty field. */
void sl__csv_number(struct sl_buf *out, double value);

/* Ends the line, in place of the last comma. */
void sl__csv_end(struct sl_buf *out);

#endif
