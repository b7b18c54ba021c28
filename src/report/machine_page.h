/* SPDX-License-Identifier: Apache-2.0 */
/* machine_page.h - the formats of a report on a machine. */
#ifndef SL_MACHINE_PAGE_H
#define SL_MACHINE_PAGE_H

#include "base/json.h"
#include "report/doc.h"

/* The functions of a struct sl__renderer; 'result' is a struct sl_machine. */
void sl__machine_page(struct sl__doc *doc, const void *result,
		      const struct sl_render_options *how);
void sl__machine_json(struct sl__json *json, const void *result);

/* Its section "machine" alone. */
void sl__json_machine(struct sl__json *json, const struct sl_machine *m);

/* One line for each ceiling and each point of the curves. */
void sl__machine_csv(struct sl_buf *out, const void *result);

#endif
