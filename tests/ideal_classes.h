/* SPDX-License-Identifier: Apache-2.0 */
/* ideal_classes.h - the classes of bounds where no machine was calibrated. */
#ifndef SL_TEST_IDEAL_CLASSES_H
#define SL_TEST_IDEAL_CLASSES_H

#include "harness.h"
#include "analysis/bottleneck.h"

static inline const struct sl__bound_classes *
ideal_classes(void)
{
	static const struct sl__calibration nothing = {.n = 0};
	static struct sl__bound_classes classes;
	struct sl__arena arena;

	sl__arena_init(&arena, NULL);
	assert_int_equal(
		sl__bound_classes_fit(&classes, &nothing, &arena, NULL), SL_OK);
	sl__arena_release(&arena);
	return &classes;
}

#endif
