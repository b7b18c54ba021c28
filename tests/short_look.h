/* SPDX-License-Identifier: Apache-2.0 */
/* short_look.h - the microbench at two small sizes, which must succeed. */
#ifndef SL_TEST_SHORT_LOOK_H
#define SL_TEST_SHORT_LOOK_H

#include "harness.h"
#include "sleuth.h"

static const int64_t sizes[] = {16, 64};

static inline struct sl_microbench_options
short_look(void)
{
	return (struct sl_microbench_options){
		.struct_size = sizeof(struct sl_microbench_options),
		.values = sizes,
		.n_values = 2,
		.n_runs = 6,
	};
}

static inline struct sl_microbench *
look_at(const char *op, const struct sl_microbench_options *how)
{
	struct sl_microbench *m;
	struct sl_error err = {0};

	if (sl_microbench(&m, op, how, &err))
		fail_msg("%s: %s", op, err.text);
	return m;
}

#endif
