/* SPDX-License-Identifier: Apache-2.0 */
/* buf.h - text that grows. */
#ifndef SL_BUF_H
#define SL_BUF_H

#include "sleuth/basics.h"

/*
 * Writers do not return errors: the first failed allocation marks the buffer
 * as broken (cap_bytes == SIZE_MAX), later writes do nothing, and
 * sl__buf_status() tells at the end.  So code that writes a page reads like
 * the page.
 */
void sl__buf_add(struct sl_buf *buf, const char *bytes, size_t n_bytes);
void sl__buf_text(struct sl_buf *buf, const char *text);
/* A word as a shell takes it, in quotes where it needs them. */
void sl__buf_shell_word(struct sl_buf *buf, const char *word);
void sl__buf_repeat(struct sl_buf *buf, const char *text, size_t n_times);
void sl__buf_format(struct sl_buf *buf, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Marks the buffer as broken: what was to be written ran out of memory before
 * it came here. */
void sl__buf_mark_failed(struct sl_buf *buf);

/* SL_OK, or SL_E_NOMEM when any write so far failed. */
enum sl_status sl__buf_status(const struct sl_buf *buf, struct sl_error *err);

#endif
