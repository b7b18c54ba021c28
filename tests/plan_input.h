/* SPDX-License-Identifier: Apache-2.0 */
/* plan_input.h - where an input of a plan lies, for tests to write there. */
#ifndef SL_TEST_PLAN_INPUT_H
#define SL_TEST_PLAN_INPUT_H

#include "harness.h"
#include "sleuth.h"

/* NULL where it has no place, or no elements. */
static inline void *
input_data(struct sl_plan *plan, const char *name)
{
	struct sl_array array;
	void *data;

	if (sl_plan_input(plan, name, &array, &data, NULL))
		assert_null(data);
	else
		assert_ptr_equal(array.data, data);
	return data;
}

#endif
