/* SPDX-License-Identifier: Apache-2.0 */
/* duet.h - functions against each other, in random-order rounds. */
#ifndef SL_DUET_H
#define SL_DUET_H

#include "timing/covariates.h"

/* Like sl_compare(), with a script of what disturbs it; NULL: the kernel. */
enum sl_status sl__compare(struct sl_comparisons **out,
			   const struct sl_candidate *candidates, size_t n,
			   const struct sl_compare_options *options,
			   const struct sl__watch_source *watch,
			   struct sl_error *err) SL_CHECKED;

#endif
