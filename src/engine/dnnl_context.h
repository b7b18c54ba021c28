/* SPDX-License-Identifier: Apache-2.0 */
/* dnnl_context.h - what those see of oneDNN who do not call it; no_dnnl.c has it
 * where there is none. */
#ifndef SL_DNNL_CONTEXT_H
#define SL_DNNL_CONTEXT_H

#include "base/arena.h"

/* Whether oneDNN may compute at all: not at the level scalar, at which own
 * kernels take the place of its own, nor where it is not built in. */
int sl__dnnl_is_allowed(void);

/* Adds a line: version, threads, instruction sets and their cap; or that there
 * is none. */
void sl__dnnl_describe(struct sl_buf *out);

/* oneDNN's engine and stream, and its descriptions of memory; NULL where it is
 * not built in. */
struct sl__dnnl_context;

enum sl_status sl__dnnl_context_new(struct sl__dnnl_context **out,
				    struct sl__arena *arena,
				    struct sl_error *err) SL_CHECKED;
void sl__dnnl_context_free(struct sl__dnnl_context *dnnl); /* NULL is fine */

/* Descriptions that are made after a mark are gone after the rewind to it, which
 * is SL_E_NOMEM where there was no memory for one. */
size_t sl__dnnl_context_mark(const struct sl__dnnl_context *dnnl);
enum sl_status sl__dnnl_context_rewind(struct sl__dnnl_context *dnnl,
				       size_t mark,
				       struct sl_error *err) SL_CHECKED;

#endif
