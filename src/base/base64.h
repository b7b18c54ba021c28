/* SPDX-License-Identifier: Apache-2.0 */
/* base64.h - bytes as text and back (RFC 4648). */
#ifndef SL_BASE64_H
#define SL_BASE64_H

#include "sleuth/basics.h"

/* Adds the bytes to 'out' as lines of 76 characters, each with its end. */
void sl__base64_add(struct sl_buf *out, const void *bytes, size_t n_bytes);

/*
 * Adds the bytes that text[0..n-1] stands for to 'out'; white space is passed
 * over.  SL_E_DATA where it is not base 64 or ends early; SL_E_NOMEM.
 */
enum sl_status sl__base64_read(struct sl_buf *out, const char *text, size_t n,
			       struct sl_error *err) SL_CHECKED;

#endif
