/* SPDX-License-Identifier: Apache-2.0 */
/* embedded_result.h - the document of a result inside a page for browsers. */
#ifndef SL_EMBEDDED_RESULT_H
#define SL_EMBEDDED_RESULT_H

#include "sleuth/basics.h"

/*
 * Appends the element that holds the document.  One of up to
 * SL__EMBEDDED_PLAIN_BYTES is there as JSON that any program can read; a
 * larger one is deflated, in base 64, a tenth of its size.
 */
void sl__embedded_result_write(struct sl_buf *out, const struct sl_buf *json);
enum { SL__EMBEDDED_PLAIN_BYTES = 1 << 20 };

/*
 * Narrows text[0..n-1] down to the document, if it is a page; leaves it as it
 * is, if not.  What was deflated is put into 'storage', which the caller
 * releases after use.  SL_E_DATA where a page holds none or a damaged one.
 */
enum sl_status sl__embedded_result_find(const char **text, size_t *n_bytes,
					struct sl_buf *storage,
					struct sl_error *err) SL_CHECKED;

#endif
