/* SPDX-License-Identifier: Apache-2.0 */
/* store_filter.h - options that say which results of the store are meant. */
#ifndef SL_STORE_FILTER_H
#define SL_STORE_FILTER_H

#include "options.h"
#include "sleuth.h"

struct store_filter {
	const char *db, *command, *branch, *commit, *machine;
	struct repeated_values tags;
};

/* --db, --command, --branch, --commit, --machine and --tag. */
struct option_group store_filter_option_group(struct store_filter *filter);

void store_filter_resolve(struct sl_store_query *query,
			  const struct store_filter *filter,
			  const char *command);

#endif
