/* SPDX-License-Identifier: Apache-2.0 */
/* measured_memory.h - sl_measure_function_memory() that must succeed. */
#ifndef SL_TEST_MEASURED_MEMORY_H
#define SL_TEST_MEASURED_MEMORY_H

#include "harness.h"
#include "sleuth.h"

static inline struct sl_memory *
measure(sl_function *fn, void *ctx, enum sl_memory_method method)
{
	struct sl_memory_options how = {.struct_size = sizeof(how),
					.name = "planted",
					.method = method};
	struct sl_memory *m = NULL;
	struct sl_error err = {0};

	if (sl_measure_function_memory(&m, fn, ctx, &how, &err))
		fail_msg("%s", err.text);
	return m;
}

static inline int
nothing(void *ctx)
{
	(void)ctx;
	return 0;
}

#endif
