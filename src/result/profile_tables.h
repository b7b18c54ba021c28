/* SPDX-License-Identifier: Apache-2.0 */
/* profile_tables.h - the tables that make up a profile. */
#ifndef SL_PROFILE_TABLES_H
#define SL_PROFILE_TABLES_H

#include "result/tables.h"

/* Reasons that several of them give. */
#define SL__NO_CEILING  "no ceiling was measured"
#define SL__NO_PRODUCTS "it makes no products"

extern const struct sl__record sl__table_memory_use, sl__table_operation,
	sl__table_operation_group, sl__table_request, sl__table_ceilings,
	sl__table_training_profile;

#endif
