/* SPDX-License-Identifier: Apache-2.0 */
/* hardware_page.h - where a model could run, as part of other reports. */
#ifndef SL_HARDWARE_PAGE_H
#define SL_HARDWARE_PAGE_H

#include "report/doc.h"
#include "sleuth/inspecting.h"

/* Bounds, room and, as far as asked, machines, money and training of the
 * model 'name'. */
void sl__hardware_page(struct sl__doc *doc, const char *name,
		       const struct sl_hardware_report *r, int verbose);

#endif
