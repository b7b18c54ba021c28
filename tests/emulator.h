/* SPDX-License-Identifier: Apache-2.0 */
/* emulator.h - cases that an emulator of another CPU cannot run. */
#ifndef SL_TEST_EMULATOR_H
#define SL_TEST_EMULATOR_H

#include "harness.h"

/* Where tests run in an emulator, reports the case as skipped, and says what
 * the emulator does differently. */
static inline void
skip_in_emulator(const char *why)
{
#ifdef SL_EMULATOR
	print_message("skipped in an emulator: %s\n", why);
	skip();
#else
	(void)why;
#endif
}

#endif
