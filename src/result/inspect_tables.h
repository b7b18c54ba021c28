/* SPDX-License-Identifier: Apache-2.0 */
/* inspect_tables.h - parts of the table of a model that was inspected. */
#ifndef SL_INSPECT_TABLES_H
#define SL_INSPECT_TABLES_H

#include "result/tables.h"

/* Of struct sl_inspection: its memory, as a group. */
extern const struct sl__record sl__table_live_set;

/* Of struct sl_hardware_report. */
extern const struct sl__record sl__table_hardware;

/* Of struct sl_training, sl_growth and sl_weight_row. */
extern const struct sl__record sl__table_training, sl__table_growth,
	sl__table_weight;

#endif
