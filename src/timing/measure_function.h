/* SPDX-License-Identifier: Apache-2.0 */
/* measure_function.h - one function, timed until it is known well. */
#ifndef SL_MEASURE_FUNCTION_H
#define SL_MEASURE_FUNCTION_H

#include "timing/covariates.h"

/* Like sl_measure(), with a script of what disturbs it; NULL: the kernel. */
enum sl_status sl__measure_function(struct sl_measurement **out,
				    sl_function *fn, void *ctx,
				    const struct sl_measure_options *options,
				    const struct sl__monitor_source *monitor,
				    struct sl_error *err) SL_CHECKED;

#endif
