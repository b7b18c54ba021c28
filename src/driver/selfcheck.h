/* SPDX-License-Identifier: Apache-2.0 */
/* selfcheck.h - what the instrument's verdicts are worth here. */
#ifndef SL_SELFCHECK_H
#define SL_SELFCHECK_H

#include "timing/covariates.h"
#include "sleuth/machines.h"

/* Work whose length is known exactly. */
struct sl__steps_work {
	uint64_t n_steps;
	volatile uint64_t sink;
};

/* Scripted instruments, and what takes the place of the work: a function of a
 * struct sl__steps_work. */
struct sl__selfcheck_test_hooks {
	struct sl__measurement_sources with;
	sl_function *work;
};

/* Like sl_selfcheck(), by a script; NULL: for real. */
enum sl_status sl__selfcheck(struct sl_selfcheck **out,
			     const struct sl_selfcheck_options *options,
			     const struct sl__selfcheck_test_hooks *script,
			     struct sl_error *err) SL_CHECKED;

#endif
