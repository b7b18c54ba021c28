/* SPDX-License-Identifier: Apache-2.0 */
/* compare_functions.h - functions against each other, in random-order rounds.
 */
#ifndef SL_COMPARE_FUNCTIONS_H
#define SL_COMPARE_FUNCTIONS_H

#include "timing/covariates.h"

/* Like sl_compare(), with a script of what disturbs it; NULL: the kernel. */
enum sl_status sl__compare_functions(struct sl_comparisons **out,
				     const struct sl_candidate *candidates,
				     size_t n,
				     const struct sl_compare_options *options,
				     const struct sl__monitor_source *monitor,
				     struct sl_error *err) SL_CHECKED;

#endif
