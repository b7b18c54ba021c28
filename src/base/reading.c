/* SPDX-License-Identifier: Apache-2.0 */
/* reading.c - a figure that a machine may not have. */
#include "base/reading.h"

#include <math.h>

#include "base/banned.h"

struct sl_reading
sl__present(double value)
{
	struct sl_reading reading = {value, NULL};

	return reading;
}

struct sl_reading
sl__absent(const char *reason)
{
	struct sl_reading reading = {(double)NAN, reason};

	return reading;
}
