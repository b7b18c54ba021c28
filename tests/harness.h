/* SPDX-License-Identifier: Apache-2.0 */
/* harness.h - what every test program includes first. */
#ifndef SL_TEST_HARNESS_H
#define SL_TEST_HARNESS_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Fails with both values and the line unless |a - b| <= tolerance. */
#define assert_near(a, b, tolerance) \
	check_near((a), (b), (tolerance), #a, __FILE__, __LINE__)

/* Like assert_near(), with the tolerance as a share of |expected|. */
#define assert_close(a, expected, share)                                  \
	check_near((a), (expected), (share)*fabs(expected), #a, __FILE__, \
		   __LINE__)

static inline void
check_near(double a, double b, double tolerance, const char *what,
	   const char *file, int line)
{
	if (fabs(a - b) <= tolerance)
		return;
	print_error("%s is %.17g, expected %.17g within %.3g\n", what, a, b,
		    tolerance);
	_fail(file, line);
}

#endif
