/* SPDX-License-Identifier: Apache-2.0 */
/* dnnl_context.h - what those see of oneDNN who do not call it: its engine, and
 * values brought from one layout into another. */
#ifndef SL_DNNL_CONTEXT_H
#define SL_DNNL_CONTEXT_H

#include "base/hash.h"
#include "engine/planner.h"

/* Whether oneDNN may compute at all: not at the level scalar, at which own
 * kernels take the place of its own. */
int sl__dnnl_is_allowed(void);

/* oneDNN's engine and stream, and its descriptions of memory. */
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

/* A step that brings a value from one layout, in a buffer, into another. */
void sl__plan_dnnl_reorder(struct sl__planner *pl, uint32_t value,
			   const struct sl__value_version *from,
			   const struct sl__value_version *to);

/* Tells layouts of a value apart, also those of other plans; 0 where oneDNN does
 * not say enough. */
int sl__layout_digest(const struct sl__planner *pl, uint32_t value,
		      const struct sl__layout *layout, struct sl__digest *out);

#endif
