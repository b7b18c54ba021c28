/* SPDX-License-Identifier: Apache-2.0 */
/* machine_page.h - the formats of a report on a machine. */
#ifndef SL_MACHINE_PAGE_H
#define SL_MACHINE_PAGE_H

#include "doc.h"

/* The page for people. */
void sl__machine_page(struct sl__doc *doc, const struct sl_machine *m,
		      const struct sl_render_options *how);

void sl__machine_json(struct sl_buf *out, const struct sl_machine *m,
		      const char *command);

/* One line for each ceiling and each point of the curves. */
void sl__machine_csv(struct sl_buf *out, const struct sl_machine *m);

#endif
