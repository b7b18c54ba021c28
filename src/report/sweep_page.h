/* SPDX-License-Identifier: Apache-2.0 */
/* sweep_page.h - a sweep for programs: JSON and lines of CSV. */
#ifndef SL_SWEEP_PAGE_H
#define SL_SWEEP_PAGE_H

#include "base/json.h"

/* Members of the document; 'result' is a struct sl_sweep. */
void sl__sweep_json(struct sl__json *json, const void *result);

/* One line, as report_sweep.c heads it. */
void sl__sweep_csv_point(struct sl_buf *out, const struct sl_sweep *sweep,
			 const struct sl_sweep_series *series,
			 const struct sl_sweep_point *point);

#endif
