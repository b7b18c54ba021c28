/* SPDX-License-Identifier: Apache-2.0 */
/* machine_page.h - the formats of a report on a machine. */
#ifndef SL_MACHINE_PAGE_H
#define SL_MACHINE_PAGE_H

#include "report/doc.h"
#include "sleuth/rendering.h"

/* The functions of a struct sl__renderer; 'result' is a struct sl_machine. */
void sl__machine_page(struct sl__doc *doc, const void *result,
		      const struct sl_render_options *how);

/* One line for each ceiling and each point of the curves. */
void sl__machine_csv(struct sl_buf *out, const void *result);

#endif
